//! The arithmetic of one scale: its ends, the expected score, and a score's place between the ends.

use crate::Rubric;
use crate::check::MAX_VALUE;

/// How far from 1 the probabilities of a distribution may sum: the rounding that a softmax in f32 leaves.
const SUM_TOLERANCE: f64 = 1e-3;

/// The values of a rubric's options: at least two, finite, rising, none beyond [`MAX_VALUE`] in size.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    values: Vec<f64>,
    min: f64,
    max: f64,
}

/// Why a scale or a number on it was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScaleError {
    /// Fewer than two options.
    #[error("a scale needs at least two options, but there are {0}; add options to the rubric")]
    TooFew(usize),
    /// A value is not a number, infinite, or too large in size.
    #[error("option {index} is worth {value}; give it a finite value of at most {MAX_VALUE} in size")]
    BadValue {
        /// Which option, counted from 0.
        index: usize,
        /// What it is worth.
        value: f64,
    },
    /// A value does not rise above the one before it.
    #[error(
        "option {index} is worth {value}, which is not more than the option before it; \
         order the options by value, lowest first"
    )]
    NotRising {
        /// Which option, counted from 0.
        index: usize,
        /// What it is worth.
        value: f64,
    },
    /// A distribution has another length than the scale.
    #[error(
        "the scale has {options} options, but {probabilities} probabilities were given; give one for each"
    )]
    Length {
        /// Options on the scale.
        options: usize,
        /// Probabilities given.
        probabilities: usize,
    },
    /// A probability is not a number, or outside 0 to 1.
    #[error("the probability of option {index} is {value}; it must lie between 0 and 1")]
    BadProbability {
        /// Which option, counted from 0.
        index: usize,
        /// What was given.
        value: f64,
    },
    /// The probabilities do not sum to 1.
    #[error("the probabilities sum to {0}, not to 1; normalise them over the options first")]
    BadSum(f64),
    /// A score is not a number or infinite.
    #[error("the score is {0}; only a finite score has a place on the scale")]
    NotFinite(f64),
    /// A score lies outside the scale.
    #[error("the score {score} lies outside the scale {min} to {max}; it belongs to another scale")]
    Outside {
        /// The score.
        score: f64,
        /// The lowest value.
        min: f64,
        /// The highest value.
        max: f64,
    },
}

impl Scale {
    /// A scale with these values, lowest first.
    ///
    /// # Errors
    /// Fewer than two values, a value that is not finite or larger than [`MAX_VALUE`] in size, or one that
    /// does not rise above its predecessor.
    pub fn new(values: Vec<f64>) -> Result<Self, ScaleError> {
        let (Some(&min), Some(&max), true) = (values.first(), values.last(), values.len() >= 2) else {
            return Err(ScaleError::TooFew(values.len()));
        };
        let mut before = f64::NEG_INFINITY;
        for (index, &value) in values.iter().enumerate() {
            if !value.is_finite() || value.abs() > MAX_VALUE {
                return Err(ScaleError::BadValue { index, value });
            }
            if value <= before {
                return Err(ScaleError::NotRising { index, value });
            }
            before = value;
        }
        Ok(Self { values, min, max })
    }

    /// The values, lowest first.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The lowest value.
    #[must_use]
    pub const fn min(&self) -> f64 {
        self.min
    }

    /// The highest value; always more than [`min`](Self::min).
    #[must_use]
    pub const fn max(&self) -> f64 {
        self.max
    }

    /// The expected value under these probabilities, one for each option, in the scale's own unit and never
    /// outside it. Rounding in the probabilities' sum is divided out.
    ///
    /// # Errors
    /// Another number of probabilities than options, one that is not finite or outside 0 to 1, or a sum that
    /// differs from 1 by more than 0.001.
    pub fn expectation(&self, probabilities: &[f64]) -> Result<f64, ScaleError> {
        if probabilities.len() != self.values.len() {
            return Err(ScaleError::Length {
                options: self.values.len(),
                probabilities: probabilities.len(),
            });
        }
        let (mut sum, mut weighted) = (0.0, 0.0);
        for (index, (&value, &probability)) in self.values.iter().zip(probabilities).enumerate() {
            if !(0.0..=1.0 + SUM_TOLERANCE).contains(&probability) {
                return Err(ScaleError::BadProbability { index, value: probability });
            }
            sum += probability;
            weighted += probability * value;
        }
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            return Err(ScaleError::BadSum(sum));
        }
        Ok((weighted / sum).clamp(self.min, self.max))
    }

    /// The place of a score between the scale's ends, 0 at the lowest and 1 at the highest value:
    /// `(score − min) / (max − min)`.
    ///
    /// # Errors
    /// A score that is not finite or lies outside the scale.
    pub fn normalise(&self, score: f64) -> Result<f64, ScaleError> {
        if !score.is_finite() {
            return Err(ScaleError::NotFinite(score));
        }
        if score < self.min || score > self.max {
            return Err(ScaleError::Outside { score, min: self.min, max: self.max });
        }
        Ok((score - self.min) / (self.max - self.min))
    }
}

impl Rubric {
    /// The rubric's scale, for arithmetic.
    ///
    /// # Errors
    /// As [`Scale::new`]; never for a rubric that passes [`Rubric::check`].
    pub fn scale(&self) -> Result<Scale, ScaleError> {
        Scale::new(self.options.iter().map(|option| option.value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(values: &[f64]) -> Scale {
        Scale::new(values.to_vec()).unwrap()
    }

    #[test]
    fn p14_a_scale_is_normalised_from_its_own_minimum() {
        // (3 − 1) / (5 − 1), (5 − 0) / (10 − 0), (4 − 2) / (6 − 2), by hand.
        assert_eq!(scale(&[1.0, 2.0, 3.0, 4.0, 5.0]).normalise(3.0), Ok(0.5));
        assert_eq!(scale(&[0.0, 10.0]).normalise(5.0), Ok(0.5));
        assert_eq!(scale(&[2.0, 4.0, 6.0]).normalise(4.0), Ok(0.5));
        assert_eq!(scale(&[2.0, 4.0, 6.0]).normalise(2.0), Ok(0.0));
        assert_eq!(scale(&[-3.0, 1.0]).normalise(0.0), Ok(0.75));
    }

    #[test]
    fn p16_no_number_that_is_not_finite_gets_through() {
        let scale = scale(&[1.0, 5.0]);
        assert!(matches!(scale.normalise(f64::NAN), Err(ScaleError::NotFinite(_))));
        assert!(matches!(scale.normalise(f64::INFINITY), Err(ScaleError::NotFinite(_))));
        assert!(matches!(
            scale.expectation(&[f64::NAN, 1.0]),
            Err(ScaleError::BadProbability { index: 0, .. })
        ));
        assert!(matches!(Scale::new(vec![1.0, f64::NAN]), Err(ScaleError::BadValue { index: 1, .. })));
        assert!(matches!(Scale::new(vec![-f64::MAX, f64::MAX]), Err(ScaleError::BadValue { .. })));
    }

    #[test]
    fn the_expectation_weighs_values_by_probability() {
        // 0.1·1 + 0.2·2 + 0.3·3 + 0.25·4 + 0.15·5 = 3.15, by hand.
        let expected = scale(&[1.0, 2.0, 3.0, 4.0, 5.0]).expectation(&[0.1, 0.2, 0.3, 0.25, 0.15]).unwrap();
        assert!((expected - 3.15).abs() < 1e-12);
        // Uneven values: 0.5·0 + 0.5·7.
        assert_eq!(scale(&[0.0, 7.0]).expectation(&[0.5, 0.5]), Ok(3.5));
        // A sum of 0.9995 is rounding and divided out: all mass on 5 is exactly 5.
        assert_eq!(scale(&[1.0, 5.0]).expectation(&[0.0, 0.9995]), Ok(5.0));
    }

    #[test]
    fn a_distribution_of_the_wrong_shape_is_refused() {
        let scale = scale(&[1.0, 2.0]);
        assert_eq!(scale.expectation(&[1.0]), Err(ScaleError::Length { options: 2, probabilities: 1 }));
        assert_eq!(scale.expectation(&[0.5, 0.25]), Err(ScaleError::BadSum(0.75)));
        assert_eq!(
            scale.expectation(&[-0.5, 1.0]),
            Err(ScaleError::BadProbability { index: 0, value: -0.5 })
        );
        assert_eq!(scale.normalise(2.5), Err(ScaleError::Outside { score: 2.5, min: 1.0, max: 2.0 }));
        assert_eq!(Scale::new(vec![1.0]), Err(ScaleError::TooFew(1)));
        assert_eq!(Scale::new(vec![1.0, 1.0]), Err(ScaleError::NotRising { index: 1, value: 1.0 }));
    }
}
