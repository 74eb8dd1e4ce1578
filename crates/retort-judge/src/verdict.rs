//! Typed verdicts: a score with all that stands behind it, or the reason why there is none.

use retort_lm::Answer;
use retort_rubric::Rubric;
use serde::{Deserialize, Serialize};

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
}

impl RubricVerdict {
    pub(crate) fn new(rubric: &Rubric, verdict: Verdict) -> Self {
        Self {
            rubric_id: rubric.id.clone(),
            rubric_name: rubric.name.clone(),
            rubric_sha256: rubric.sha256(),
            verdict,
        }
    }
}

/// From the model's answer to the verdict: each option's share of the options' mass, and the expectation.
pub(crate) fn from_answer(rubric: &Rubric, answer: &Answer, truncated: bool) -> Verdict {
    let failed = |message: String| Verdict::Unscored(Unscored::Failed { code: "scale".into(), message });
    let probabilities: Vec<f64> = answer.log_probabilities.iter().map(|&log| libm::exp(log)).collect();
    let mass: f64 = probabilities.iter().sum();
    if !mass.is_finite() || probabilities.len() != rubric.options.len() {
        return failed("The model's answer does not fit the scale; please report this".into());
    }
    if mass < MIN_MASS {
        return Verdict::Unscored(Unscored::OutsideOptions { mass });
    }
    let distribution: Vec<OptionProbability> = rubric
        .options
        .iter()
        .zip(&probabilities)
        .map(|(option, p)| OptionProbability {
            label: option.label.clone(),
            value: option.value,
            probability: p / mass,
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
            method: Method::OptionProbabilities,
            truncated,
        },
        Err(error) => failed(error.to_string()),
    }
}
