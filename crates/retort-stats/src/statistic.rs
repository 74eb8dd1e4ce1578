//! A figure, or the reason why there is none.

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

/// A figure, or the reason why there is none.
///
/// An `f64` in it is always finite. It serialises as `{"value": 0.5, "undefined": null}` or
/// `{"value": null, "undefined": {"reason": "constant", "side": "first"}}`.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Statistic<T = f64> {
    /// The figure.
    Value(T),
    /// There is none, and why.
    Undefined(Undefined),
}

/// Why a figure has no value for an input that is otherwise in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Undefined {
    /// There are fewer observations than the figure needs.
    #[error("it needs at least {needed} observations and has {found}")]
    TooFew {
        /// The least number with which there is a value.
        needed: usize,
        /// The number there is, missing ones not counted.
        found: usize,
    },
    /// A correlation with a column in which all values are the same.
    #[error("all values are the same in {side}, so nothing can vary with it")]
    Constant {
        /// Which column.
        side: Side,
    },
    /// Chance alone would make the raters agree always, since all used one label: nothing is beyond chance.
    #[error("all ratings are the same, so agreement beyond chance has no meaning")]
    NoDisagreementByChance,
    /// No unit was rated by two raters.
    #[error("no unit has ratings of two raters")]
    NothingInCommon,
    /// All cases are of one class, and the figure compares two.
    #[error("all cases are {}", if *.positive { "positive" } else { "negative" })]
    OneClass {
        /// Whether that class is the positive one.
        positive: bool,
    },
    /// A text has no words.
    #[error("there are no words in {side}")]
    NoWords {
        /// Which text; the candidate is the first.
        side: Side,
    },
    /// Too many resamples gave no value (see [`MIN_DEFINED_SHARE`](crate::MIN_DEFINED_SHARE)).
    #[error("{undefined} of {resamples} resamples have no value")]
    ResamplesUndefined {
        /// Resamples without a value.
        undefined: usize,
        /// All resamples.
        resamples: usize,
    },
    /// BCa cannot correct: all resamples lie on one side of the estimate, all jackknife values are the same or some
    /// are undefined, or the correction has a pole. The percentile method still gives an interval.
    #[error("the BCa correction does not exist for these resamples; use the percentile method")]
    NoCorrection,
}

/// One of two columns or texts, in the order of the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The first.
    First,
    /// The second.
    Second,
    /// Both.
    Both,
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::First => "the first",
            Self::Second => "the second",
            Self::Both => "both",
        })
    }
}

impl<T> Statistic<T> {
    /// The value, if there is one.
    pub fn value(self) -> Option<T> {
        self.into_result().ok()
    }

    /// The value, or why there is none.
    pub fn into_result(self) -> Result<T, Undefined> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Undefined(why) => Err(why),
        }
    }

    /// Why there is no value, if there is none.
    pub fn undefined(&self) -> Option<&Undefined> {
        match self {
            Self::Value(_) => None,
            Self::Undefined(why) => Some(why),
        }
    }

    /// The same with `f` of the value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Statistic<U> {
        self.into_result().map(f).into()
    }
}

impl<T> From<Result<T, Undefined>> for Statistic<T> {
    fn from(result: Result<T, Undefined>) -> Self {
        match result {
            Ok(value) => Self::Value(value),
            Err(why) => Self::Undefined(why),
        }
    }
}

impl<T: Serialize> Serialize for Statistic<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (value, undefined) = match self {
            Self::Value(value) => (Some(value), None),
            Self::Undefined(why) => (None, Some(why)),
        };
        let mut out = serializer.serialize_struct("Statistic", 2)?;
        out.serialize_field("value", &value)?;
        out.serialize_field("undefined", &undefined)?;
        out.end()
    }
}
