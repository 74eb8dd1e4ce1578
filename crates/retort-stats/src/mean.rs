//! Means, and the scales that they are over.

use serde::Serialize;

use crate::numeric::finite;
use crate::{InputError, Place, Statistic, Undefined, numeric};

/// The ends of a scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scale {
    min: f64,
    max: f64,
}

impl Scale {
    /// The scale from `min` to `max`: finite, `min` below `max`, and no further apart than the largest number.
    pub fn new(min: f64, max: f64) -> Result<Self, InputError> {
        // Also false when an end is NaN, or the difference overflows.
        if min < max && (max - min).is_finite() {
            Ok(Self { min, max })
        } else {
            Err(InputError::BadScale { min, max })
        }
    }

    /// The lower end.
    pub fn min(self) -> f64 {
        self.min
    }

    /// The upper end.
    pub fn max(self) -> f64 {
        self.max
    }

    /// Where a score lies between the ends: (s − min)/(max − min), from 0 to 1. Nothing for one outside.
    pub fn normalise(self, score: f64) -> Option<f64> {
        (self.min..=self.max).contains(&score).then(|| (score - self.min) / (self.max - self.min))
    }
}

impl std::fmt::Display for Scale {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} to {}", self.min, self.max)
    }
}

/// A score and the scale that it is on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The score; `None` when there is none or the criterion does not apply.
    pub score: Option<f64>,
    /// The scale.
    pub scale: Scale,
}

/// What to do with scores of different scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Across {
    /// Refuse them: the mean is in the units of the one scale.
    Refuse,
    /// Average their places between the ends of their scales: the mean is from 0 to 1, also for one scale.
    Normalise,
}

/// A mean and what is in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Mean {
    /// The mean; undefined when all is missing.
    pub mean: Statistic,
    /// The values in it.
    pub count: usize,
    /// The values that are missing, which are in neither the sum nor the divisor.
    pub missing: usize,
}

/// The mean of the values that are there. Values that are not finite are refused.
pub fn mean(values: &[Option<f64>]) -> Result<Mean, InputError> {
    let mut there = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        if let Some(value) = *value {
            finite("a value", Place::Index(index), value)?;
            there.push(value);
        }
    }
    let mean = match there.len() {
        0 => Statistic::Undefined(Undefined::TooFew { needed: 1, found: 0 }),
        _ => Statistic::Value(numeric::mean(&there)),
    };
    Ok(Mean { mean, count: there.len(), missing: values.len() - there.len() })
}

/// The mean of scores, each on a scale. Scores outside their scale are refused, and so are different scales unless
/// [`Across::Normalise`] is asked for; a missing score's scale counts too, so that the units of a mean do not depend
/// on what happened to be scored.
pub fn mean_of_scores(scores: &[Scored], across: Across) -> Result<Mean, InputError> {
    let mut values = Vec::with_capacity(scores.len());
    for (index, &Scored { score, scale }) in scores.iter().enumerate() {
        let expected = scores[0].scale;
        if across == Across::Refuse && scale != expected {
            return Err(InputError::MixedScales { index, found: scale, expected });
        }
        let Some(score) = score else {
            values.push(None);
            continue;
        };
        let (input, place) = ("a score", Place::Index(index));
        finite(input, place, score)?;
        let (min, max) = (scale.min, scale.max);
        let placed =
            scale.normalise(score).ok_or(InputError::OutOfRange { input, place, value: score, min, max })?;
        values.push(Some(if across == Across::Normalise { placed } else { score }));
    }
    mean(&values)
}
