//! Typed verdicts: a score with all that stands behind it, or the reason why there is none.

use retort_lm::Answer;
use retort_rubric::Rubric;
use serde::{Deserialize, Serialize};

use crate::Calibration;
use crate::question::NOT_APPLICABLE;

/// Below this share of the probability on any option, what the options have among themselves says nothing
/// about the response: the model was about to write something else.
pub(crate) const MIN_MASS: f64 = 0.01;

/// The outcome of one rubric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    /// The model rated the response.
    Scored {
        /// Expectation over the distribution, in the scale's own unit.
        expected: f64,
        /// The scale's lowest value.
        min: f64,
        /// The scale's highest value.
        max: f64,
        /// Probability of every option, lowest value first; sums to 1.
        distribution: Vec<OptionProbability>,
        /// Probability that the model gave to any of the options, 0 to 1, before normalising.
        mass: f64,
        /// How the score was read (P13).
        method: Method,
        /// Whether any of the texts was cut to fit the model's context.
        truncated: bool,
        /// Of the mass on everything offered, what "N/A" had, 0 to 0.5; `None` where it was not offered. The
        /// distribution and the expectation leave it out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_applicable: Option<f64>,
    },
    /// There is no score.
    #[serde(untagged)]
    Unscored(Unscored),
}

/// One option and its probability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OptionProbability {
    /// What the model would answer.
    pub label: String,
    /// What the answer is worth.
    pub value: f64,
    /// Among the options, 0 to 1.
    pub probability: f64,
}

/// How a score was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// The expectation over the probabilities of the options' first tokens (and later ones where an option
    /// has several).
    OptionProbabilities,
    /// The same, of probabilities that were set right by what is known of the adapter ([`Calibration`]).
    CalibratedOptionProbabilities,
    /// A judge with a form of its own wrote it ([`WrittenForm`](crate::WrittenForm)). Of what else it might have written
    /// nothing is known, so that the distribution is all on what it wrote, and the mass is 1.
    Written,
}

/// Why there is no score.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unscored {
    /// The model put almost all probability on something that was not offered.
    #[error(
        "The model did not answer with any of the offered scores (they had {:.2}% of the probability); another \
         model may know this form of question",
        mass * 100.0
    )]
    OutsideOptions {
        /// Probability of all options together.
        mass: f64,
    },
    /// The question does not arise for this response: more than half of the probability on everything offered was on
    /// "N/A". Left out of every mean (P15).
    #[error("Not applicable here, by a probability of {:.0}%", probability * 100.0)]
    NotApplicable {
        /// Its share of the probability on everything offered, 0.5 to 1.
        probability: f64,
    },
    /// A judge that writes its verdict was stopped before it had.
    #[error("The judge was stopped before it had written a score; give it more room, or a shorter text")]
    Incomplete,
    /// A judge that writes its verdict wrote none where its form puts it.
    #[error("The judge wrote no score in the form that it was trained to use; another model may")]
    NoVerdict,
    /// A judge that writes its verdict wrote several.
    #[error("The judge wrote more than one score, and which is meant cannot be told")]
    Ambiguous,
    /// A judge wrote an answer that the rubric does not offer.
    #[error("The judge answered \"{said}\", which the rubric does not offer")]
    NotOffered {
        /// What it wrote, shortened.
        said: String,
    },
    /// Somebody cancelled before this rubric's turn.
    #[error("Cancelled before this score was computed")]
    Cancelled,
    /// The computation failed before this rubric's turn.
    #[error("{message}")]
    Failed {
        /// The failure's stable name.
        code: String,
        /// What happened and what to do.
        message: String,
    },
}

impl Unscored {
    /// A stable name for programs.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::OutsideOptions { .. } => "outside_options",
            Self::NotApplicable { .. } => "not_applicable",
            Self::Incomplete => "incomplete",
            Self::NoVerdict => "no_verdict",
            Self::Ambiguous => "ambiguous",
            Self::NotOffered { .. } => "not_offered",
            Self::Cancelled => "cancelled",
            Self::Failed { code, .. } => code,
        }
    }
}

/// How an absent score looks in files and on the page.
#[derive(Serialize, Deserialize)]
struct UnscoredData {
    kind: UnscoredKind,
    code: String,
    message: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UnscoredKind {
    Unscored,
}

impl Serialize for Unscored {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        UnscoredData { kind: UnscoredKind::Unscored, code: self.code().to_owned(), message: self.to_string() }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Unscored {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let UnscoredData { kind: UnscoredKind::Unscored, code, message } =
            UnscoredData::deserialize(deserializer)?;
        Ok(match code.as_str() {
            "cancelled" => Self::Cancelled,
            _ => Self::Failed { code, message },
        })
    }
}

/// A rubric's name and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RubricVerdict {
    /// The rubric's id.
    pub rubric_id: String,
    /// The rubric's name.
    pub rubric_name: String,
    /// The rubric's hash, so that scores under different wordings are never compared unawares (P31).
    pub rubric_sha256: String,
    /// The outcome.
    pub verdict: Verdict,
    /// What a judge that writes wrote, reasons and all, as it wrote it: it may quote the texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
}

impl RubricVerdict {
    pub(crate) fn new(rubric: &Rubric, verdict: Verdict) -> Self {
        Self {
            rubric_id: rubric.id.clone(),
            rubric_name: rubric.name.clone(),
            rubric_sha256: rubric.sha256(),
            verdict,
            written: None,
        }
    }
}

/// From the model's answer to the verdict: each option's share of the options' mass, and the expectation. Where "N/A"
/// was offered, its probability is the last of the answer's.
///
/// The one place in which a calibration is applied. The mass, and whether it is enough, are the model's own.
pub(crate) fn from_answer(
    rubric: &Rubric,
    may_not_apply: bool,
    answer: &Answer,
    truncated: bool,
    calibration: Option<&Calibration>,
) -> Verdict {
    let failed = |message: String| Verdict::Unscored(Unscored::Failed { code: "scale".into(), message });
    let probabilities: Vec<f64> = answer.log_probabilities.iter().map(|&log| libm::exp(log)).collect();
    let mass: f64 = probabilities.iter().sum();
    // Rounding may bring the sum a little above 1; more, or no number at all, is no distribution.
    let offered = rubric.options.len() + usize::from(may_not_apply);
    if !(0.0..=1.0 + 1e-6).contains(&mass) || probabilities.len() != offered {
        return failed("The model's answer is no distribution over the scale; please report this".into());
    }
    if mass < MIN_MASS {
        return Verdict::Unscored(Unscored::OutsideOptions { mass });
    }
    let labels: Vec<&str> = rubric
        .options
        .iter()
        .map(|option| option.label.as_str())
        .chain(may_not_apply.then_some(NOT_APPLICABLE))
        .collect();
    let set_right = calibration.and_then(|known| known.shares(&labels, &answer.log_probabilities));
    let (method, whole, mut shares) = match set_right {
        Some(shares) => (Method::CalibratedOptionProbabilities, 1.0, shares),
        None => (Method::OptionProbabilities, mass, probabilities),
    };
    let not_applicable = if may_not_apply { shares.pop().map(|share| share / whole) } else { None };
    if let Some(probability) = not_applicable.filter(|&probability| probability > 0.5) {
        return Verdict::Unscored(Unscored::NotApplicable { probability: probability.min(1.0) });
    }
    let on_scale: f64 = shares.iter().sum();
    let distribution: Vec<OptionProbability> = rubric
        .options
        .iter()
        .zip(&shares)
        .map(|(option, share)| OptionProbability {
            label: option.label.clone(),
            value: option.value,
            probability: share / on_scale,
        })
        .collect();
    let shares: Vec<f64> = distribution.iter().map(|option| option.probability).collect();
    match rubric.scale().and_then(|scale| Ok((scale.expectation(&shares)?, scale.min(), scale.max()))) {
        Ok((expected, min, max)) => Verdict::Scored {
            expected,
            min,
            max,
            distribution,
            mass: mass.min(1.0),
            method,
            truncated,
            not_applicable,
        },
        Err(error) => failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use retort_rubric::RubricOption;

    use super::*;

    fn rubric(options: &[(&str, f64)]) -> Rubric {
        let options = options.iter().map(|&(label, value)| RubricOption::new(label, value)).collect();
        Rubric::new("test", "Test", "Whether it is so.", options)
    }

    fn one_to_five() -> Rubric {
        rubric(&[("1", 1.0), ("2", 2.0), ("3", 3.0), ("4", 4.0), ("5", 5.0)])
    }

    fn verdict(rubric: &Rubric, probabilities: &[f64]) -> Verdict {
        let outside = 1.0 - probabilities.iter().sum::<f64>();
        let log_probabilities = probabilities.iter().map(|p| p.ln()).collect();
        from_answer(rubric, false, &Answer { log_probabilities, outside, ..Answer::default() }, false, None)
    }

    /// Expected score, lowest and highest value, and mass.
    fn scored(verdict: &Verdict) -> (f64, f64, f64, f64) {
        match verdict {
            Verdict::Scored { expected, min, max, mass, distribution, method, truncated, not_applicable } => {
                assert_eq!(*not_applicable, None);
                let sum: f64 = distribution.iter().map(|option| option.probability).sum();
                assert!((sum - 1.0).abs() < 1e-12, "{sum}");
                assert_eq!((*method, *truncated), (Method::OptionProbabilities, false));
                (*expected, *min, *max, *mass)
            }
            Verdict::Unscored(reason) => panic!("{reason}"),
        }
    }

    fn close(found: f64, right: f64) {
        assert!((found - right).abs() < 1e-12, "{found} instead of {right}");
    }

    #[test]
    fn p14_expectations_by_hand() {
        // Of a mass of 0.8: 0.1, 0.2, 0.3, 0.25 and 0.15, so 0.1 + 0.4 + 0.9 + 1.0 + 0.75 = 3.15.
        let (expected, min, max, mass) = scored(&verdict(&one_to_five(), &[0.08, 0.16, 0.24, 0.2, 0.12]));
        close(expected, 3.15);
        close(mass, 0.8);
        assert_eq!((min, max), (1.0, 5.0));

        let labels: Vec<String> = (0..=10).map(|n| n.to_string()).collect();
        let options: Vec<(&str, f64)> =
            labels.iter().enumerate().map(|(n, label)| (label.as_str(), n as f64)).collect();
        let mut probabilities = [0.0; 11];
        // Half on 0, a quarter each on 7 and 10: 0 + 1.75 + 2.5 = 4.25 on a scale that starts at 0.
        (probabilities[0], probabilities[7], probabilities[10]) = (0.5, 0.25, 0.25);
        let (expected, min, max, mass) = scored(&verdict(&rubric(&options), &probabilities));
        close(expected, 4.25);
        close(mass, 1.0);
        assert_eq!((min, max), (0.0, 10.0));

        // A mass of 0.4, of which 0.3 is on pass: 0.75.
        let (expected, min, max, mass) =
            scored(&verdict(&rubric(&[("fail", 0.0), ("pass", 1.0)]), &[0.1, 0.3]));
        close(expected, 0.75);
        close(mass, 0.4);
        assert_eq!((min, max), (0.0, 1.0));
    }

    #[test]
    fn options_keep_their_labels_values_and_order() {
        let Verdict::Scored { distribution, .. } =
            verdict(&rubric(&[("fail", -1.0), ("pass", 2.0)]), &[0.125, 0.375])
        else {
            panic!("unscored");
        };
        let option =
            |label: &str, value, probability| OptionProbability { label: label.into(), value, probability };
        // 0.125 / 0.5 and 0.375 / 0.5.
        assert_eq!(distribution.len(), 2);
        for (found, right) in distribution.iter().zip([option("fail", -1.0, 0.25), option("pass", 2.0, 0.75)])
        {
            assert_eq!((&found.label, found.value), (&right.label, right.value));
            close(found.probability, right.probability);
        }
    }

    #[test]
    fn p8_an_answer_outside_the_options_has_no_score() {
        let unscored = |probabilities: &[f64]| match verdict(&one_to_five(), probabilities) {
            Verdict::Unscored(reason) => reason,
            scored => panic!("{scored:?}"),
        };
        let reason = unscored(&[0.001, 0.001, 0.001, 0.001, 0.001]);
        assert_eq!(reason.code(), "outside_options");
        assert_eq!(
            reason.to_string(),
            "The model did not answer with any of the offered scores (they had 0.50% of the probability); another \
             model may know this form of question"
        );
        assert_eq!(unscored(&[0.0; 5]), Unscored::OutsideOptions { mass: 0.0 });
        // Just above the threshold there is a score, whose mass says how little it is worth.
        let (_, _, _, mass) = scored(&verdict(&one_to_five(), &[0.0, 0.0, 0.0, 0.0, 0.0101]));
        close(mass, 0.0101);
    }

    #[test]
    fn p16_what_is_no_distribution_has_no_score() {
        let ln = f64::ln;
        for log_probabilities in [
            vec![f64::NAN, ln(0.5)],
            vec![f64::INFINITY, ln(0.5)],
            vec![f64::NEG_INFINITY, f64::NAN],
            vec![1000.0, 1000.0],
            // 0.7 + 0.7 is more than 1.
            vec![ln(0.7), ln(0.7)],
            vec![ln(0.5)],
            vec![ln(0.3), ln(0.3), ln(0.3)],
            vec![],
        ] {
            let answer = Answer { log_probabilities, outside: 0.0, ..Answer::default() };
            let verdict = from_answer(&rubric(&[("no", 0.0), ("yes", 1.0)]), false, &answer, false, None);
            let Verdict::Unscored(reason) = &verdict else { panic!("{answer:?} gave {verdict:?}") };
            assert_eq!(reason.code(), "scale", "{answer:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// P16: whatever the model answers, a score is a number on the scale.
        #[test]
        fn p16_a_score_is_never_nan(
            answer in prop::collection::vec(
                prop_oneof![-20.0..0.0, any::<f64>(), Just(f64::NEG_INFINITY)],
                5,
            ),
        ) {
            let answer = Answer { log_probabilities: answer, outside: f64::NAN, ..Answer::default() };
            if let Verdict::Scored { expected, mass, distribution, .. } =
                from_answer(&one_to_five(), false, &answer, false, None)
            {
                prop_assert!((1.0..=5.0).contains(&expected));
                prop_assert!((MIN_MASS..=1.0).contains(&mass));
                let sum: f64 = distribution.iter().map(|option| option.probability).sum();
                prop_assert!((sum - 1.0).abs() < 1e-9);
            }
        }

        /// A verdict reads back from its JSON exactly as it was, to the last bit of its numbers.
        #[test]
        fn p30_a_score_survives_its_file(probabilities in prop::collection::vec(0.001f64..0.2, 5)) {
            let verdict = verdict(&one_to_five(), &probabilities);
            let json = serde_json::to_string(&verdict).unwrap();
            prop_assert_eq!(serde_json::from_str::<Verdict>(&json).unwrap(), verdict);
        }
    }
}
