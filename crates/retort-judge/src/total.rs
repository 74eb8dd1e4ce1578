//! One number from several rubrics, where their weights say how.

use retort_rubric::{Rubric, aggregate, overall};
use serde::{Deserialize, Serialize};

use crate::{RubricVerdict, Unscored, Verdict};

/// What weighed rubrics come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Total {
    /// All that apply have a score.
    Scored {
        /// 0 to 1: `Σ w·v / Σ max(w, 0)` with `v` the place of a score on its scale, cut to 0 to 1; see
        /// [`retort_rubric::aggregate()`].
        score: f64,
        /// The same before it is cut: below 0 where points against outweigh. A mean over responses is taken of these.
        unclipped: f64,
        /// Rubrics that count.
        counted: usize,
        /// Rubrics that do not apply.
        not_applicable: usize,
    },
    /// There is none.
    Unscored {
        /// Why, as a sentence.
        message: String,
    },
}

/// The total of the verdicts, which are in the order of the rubrics; `None` where no rubric is weighed, since a mean of
/// unrelated criteria says nothing that anybody asked for. The one overall rating stands beside the others and is no
/// part of a total.
pub(crate) fn total(rubrics: &[Rubric], verdicts: &[RubricVerdict]) -> Option<Total> {
    let pairs: Vec<(&Rubric, &RubricVerdict)> =
        rubrics.iter().zip(verdicts).filter(|(rubric, _)| rubric.id != overall().id).collect();
    if pairs.iter().all(|(rubric, _)| (rubric.weight - 1.0).abs() < f64::EPSILON) {
        return None;
    }
    let mut parts = Vec::new();
    let mut missing = 0;
    for &(rubric, verdict) in &pairs {
        match &verdict.verdict {
            Verdict::Scored { expected, min, max, .. } => {
                parts.push((rubric.weight, Some(((expected - min) / (max - min)).clamp(0.0, 1.0))));
            }
            Verdict::Unscored(Unscored::NotApplicable { .. }) => parts.push((rubric.weight, None)),
            Verdict::Unscored(_) => missing += 1,
        }
    }
    // P8: what is missing is no part of a sum, and a sum without it would be taken for the whole.
    if missing > 0 {
        let message = format!("{missing} of {} rubrics have no score, so there is no total", pairs.len());
        return Some(Total::Unscored { message });
    }
    Some(match aggregate(&parts) {
        Ok(sum) => Total::Scored {
            score: sum.score,
            unclipped: sum.unclipped,
            counted: sum.counted,
            not_applicable: sum.left_out,
        },
        Err(error) => Total::Unscored { message: error.to_string() },
    })
}

#[cfg(test)]
mod tests {
    use retort_rubric::RubricOption;

    use super::*;

    fn verdict(rubric: &Rubric, expected: Option<f64>) -> RubricVerdict {
        let verdict = match expected {
            Some(expected) => Verdict::Scored {
                expected,
                min: 0.0,
                max: 4.0,
                distribution: Vec::new(),
                mass: 1.0,
                method: crate::Method::OptionProbabilities,
                truncated: false,
                not_applicable: None,
            },
            None => Verdict::Unscored(Unscored::NotApplicable { probability: 0.75 }),
        };
        RubricVerdict::new(rubric, verdict)
    }

    fn weighed(weight: f64) -> Rubric {
        let options = vec![RubricOption::new("0", 0.0), RubricOption::new("4", 4.0)];
        Rubric { weight, ..Rubric::new("r", "R", "Whether it is so.", options) }
    }

    #[test]
    fn p15_weights_count_and_what_does_not_apply_is_left_out() {
        let rubrics = [weighed(3.0), weighed(1.0), weighed(-1.0), weighed(9.0)];
        let verdicts = [
            verdict(&rubrics[0], Some(4.0)),
            verdict(&rubrics[1], Some(2.0)),
            verdict(&rubrics[2], Some(1.0)),
            verdict(&rubrics[3], None),
        ];
        // (3 · 1 + 1 · 0.5 − 1 · 0.25) / (3 + 1), by hand.
        let right = Total::Scored { score: 0.8125, unclipped: 0.8125, counted: 3, not_applicable: 1 };
        assert_eq!(total(&rubrics, &verdicts), Some(right));
        // Rubrics that nobody weighed have no total.
        let plain = [weighed(1.0), weighed(1.0)];
        assert_eq!(total(&plain, &verdicts[..2]), None);
    }

    #[test]
    fn p8_a_rubric_without_a_score_leaves_no_total() {
        let rubrics = [weighed(2.0), weighed(1.0)];
        let cancelled = RubricVerdict::new(&rubrics[1], Verdict::Unscored(Unscored::Cancelled));
        let Some(Total::Unscored { message }) =
            total(&rubrics, &[verdict(&rubrics[0], Some(4.0)), cancelled])
        else {
            panic!("there is a total");
        };
        assert_eq!(message, "1 of 2 rubrics have no score, so there is no total");
    }
}
