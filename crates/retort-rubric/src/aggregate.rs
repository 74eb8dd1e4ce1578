//! One number from the verdicts of several rubrics.

use crate::check::{MAX_VALUE, MIN_WEIGHT};

/// What several rubrics say together.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Aggregate {
    /// `sum(w · v) / sum(w over w > 0)`, clipped to 0 to 1, over the rubrics that apply.
    pub score: f64,
    /// The same before it is clipped: below 0 where points against outweigh the others. A mean over many responses
    /// is taken of these and clipped afterwards, as HealthBench does.
    pub unclipped: f64,
    /// Rubrics that count.
    pub counted: usize,
    /// Rubrics left out because they do not apply.
    pub left_out: usize,
}

/// Why there is no score.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoAggregate {
    /// Nothing was given.
    #[error("there is no rubric to aggregate; give at least one")]
    Empty,
    /// No rubric applies.
    #[error("none of the {0} rubrics applies, so there is no score")]
    NoneApplies(usize),
    /// What applies can only take points away, so that there is no best score to compare with.
    #[error(
        "all {0} rubrics that apply have negative weights, so there are no points to reach; \
         add a rubric with a positive weight"
    )]
    NothingToReach(usize),
    /// A weight is 0, not finite, too small or too large in size.
    #[error("the weight of rubric {index} is {weight}; give one of {MIN_WEIGHT:e} to {MAX_VALUE:e} in size")]
    BadWeight {
        /// Which rubric, counted from 0.
        index: usize,
        /// Its weight.
        weight: f64,
    },
    /// A value is not a number, or outside 0 to 1.
    #[error("the value of rubric {index} is {value}; normalise its score by its own scale to 0 to 1 first")]
    BadValue {
        /// Which rubric, counted from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
}

/// The weighted sum of rubrics' values as a share of what can be reached: `sum(w · v) / sum(w over w > 0)`.
///
/// Each part is a rubric's [`weight`](crate::Rubric::weight) and the place of its score on its own scale,
/// `(s − min) / (max − min)`, as [`Scale::normalise`](crate::Scale::normalise) gives it, so that scales of different
/// ranges can be put together. `None` stands for a rubric that does not apply: it is left out of both sums. With
/// positive weights alone this is the weighted mean. With negative ones it is HealthBench's score (Arora et al. 2025,
/// “HealthBench”, scoring: points of the criteria met over the sum of positive points), there with a value of 0 or 1.
///
/// # Errors
/// No part, none that applies, none with a positive weight among those that apply, a weight that is
/// not finite or whose size is not [`MIN_WEIGHT`](crate::MIN_WEIGHT) to [`MAX_VALUE`](crate::MAX_VALUE), and a value that is not finite or outside 0 to 1.
pub fn aggregate(parts: &[(f64, Option<f64>)]) -> Result<Aggregate, NoAggregate> {
    if parts.is_empty() {
        return Err(NoAggregate::Empty);
    }
    let (mut sum, mut reachable, mut counted) = (0.0, 0.0, 0);
    for (index, &(weight, value)) in parts.iter().enumerate() {
        if !(MIN_WEIGHT..=MAX_VALUE).contains(&weight.abs()) {
            return Err(NoAggregate::BadWeight { index, weight });
        }
        let Some(value) = value else { continue };
        if !(0.0..=1.0).contains(&value) {
            return Err(NoAggregate::BadValue { index, value });
        }
        counted += 1;
        sum += weight * value;
        reachable += weight.max(0.0);
    }
    if counted == 0 {
        return Err(NoAggregate::NoneApplies(parts.len()));
    }
    if reachable == 0.0 {
        return Err(NoAggregate::NothingToReach(counted));
    }
    let unclipped = sum / reachable;
    Ok(Aggregate { score: unclipped.clamp(0.0, 1.0), unclipped, counted, left_out: parts.len() - counted })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(parts: &[(f64, Option<f64>)]) -> f64 {
        aggregate(parts).unwrap().score
    }

    #[test]
    fn p15_what_does_not_apply_is_in_neither_sum() {
        // (1 · 0.5 + 3 · 1) / (1 + 3) = 0.875, by hand, whatever else does not apply.
        let parts = [(1.0, Some(0.5)), (3.0, Some(1.0)), (7.0, None), (-2.0, None)];
        let found = aggregate(&parts).unwrap();
        assert_eq!(found, Aggregate { score: 0.875, unclipped: 0.875, counted: 2, left_out: 2 });
        assert_eq!(score(&parts[..2]), 0.875);
        assert_eq!(aggregate(&[(1.0, None), (-5.0, None)]), Err(NoAggregate::NoneApplies(2)));
        assert_eq!(aggregate(&[]), Err(NoAggregate::Empty));
    }

    /// By hand: criteria worth 5, 3 and −4 points, of which the first and the last are met: (5 − 4) / (5 + 3).
    #[test]
    fn points_against_are_taken_off_what_is_reached() {
        assert_eq!(score(&[(5.0, Some(1.0)), (3.0, Some(0.0)), (-4.0, Some(1.0))]), 0.125);
        // Half met: (5 − 0.5 · 4) / 8.
        assert_eq!(score(&[(5.0, Some(1.0)), (3.0, Some(0.0)), (-4.0, Some(0.5))]), 0.375);
        // (0 − 4) / 8 is below 0 and clipped, but not hidden.
        let worst = aggregate(&[(8.0, Some(0.0)), (-4.0, Some(1.0))]).unwrap();
        assert_eq!((worst.score, worst.unclipped), (0.0, -0.5));
        assert_eq!(aggregate(&[(-4.0, Some(1.0)), (2.0, None)]), Err(NoAggregate::NothingToReach(1)));
    }

    /// 3 on 1 to 5 and 5 on 0 to 10 are both half way up; 7 of 10 and 1 of 1: (0.7 + 1) / 2.
    #[test]
    fn p14_p17_scales_of_different_ranges_are_normalised_each_by_its_own() {
        let place =
            |values: Vec<f64>, score: f64| crate::Scale::new(values).unwrap().normalise(score).unwrap();
        let five = place(vec![1.0, 2.0, 3.0, 4.0, 5.0], 3.0);
        let ten = place(vec![0.0, 10.0], 5.0);
        assert_eq!(score(&[(1.0, Some(five)), (1.0, Some(ten))]), 0.5);
        assert_eq!(score(&[(1.0, Some(place(vec![0.0, 10.0], 7.0))), (1.0, Some(1.0))]), 0.85);
        // A score that was not normalised is refused, not averaged.
        assert_eq!(aggregate(&[(1.0, Some(3.0))]), Err(NoAggregate::BadValue { index: 0, value: 3.0 }));
    }

    #[test]
    fn p16_what_is_not_finite_is_an_error_at_its_place() {
        for value in [f64::NAN, f64::INFINITY, -0.1] {
            let error = aggregate(&[(1.0, Some(1.0)), (1.0, Some(value))]);
            assert!(matches!(error, Err(NoAggregate::BadValue { index: 1, .. })), "{value}");
        }
        for weight in [f64::NAN, f64::NEG_INFINITY, 0.0, -0.0, 1e-300, 1e10] {
            let error = aggregate(&[(1.0, Some(1.0)), (weight, None)]);
            assert!(matches!(error, Err(NoAggregate::BadWeight { index: 1, .. })), "{weight}");
        }
        let extremes =
            aggregate(&[(MIN_WEIGHT, Some(0.0)), (-MAX_VALUE, Some(1.0)), (-MAX_VALUE, Some(1.0))]);
        assert!(extremes.unwrap().unclipped.is_finite());
    }
}
