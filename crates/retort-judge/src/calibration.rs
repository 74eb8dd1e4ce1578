//! What an adapter knows of its own probabilities: how far they say what they mean, and how to set them right.
//!
//! A trained model may be right in 70% of the cases in which it says 90%. On held-out rows one finds by which temperature
//! and by which correction of each option its probabilities become what they claim to be (Guo et al., "On calibration of
//! modern neural networks", 2017, sections 4.1 and 4.2: temperature and vector scaling). `training/` writes what it found
//! into the adapter, under [`Calibration::KEY`], as JSON:
//!
//! ```json
//! {"form": 1, "rows": 4000, "mixture_sha256": "…",
//!  "scales": [{"labels": ["no", "yes"], "temperature": 1.4, "bias": [0.1, -0.1], "rows": 900,
//!              "ece_before": 0.12, "ece_after": 0.03}],
//!  "other": {"temperature": 1.3, "rows": 3000, "ece_before": 0.1, "ece_after": 0.04},
//!  "difference": {"temperature": 2.0, "rows": 1000, "ece_before": 0.2, "ece_after": 0.02}}
//! ```
//!
//! - A kind of question is known by what may be answered, in order: its *scale*. The new probability of option k is
//!   proportional to exp(ln p_k / T + bias_k), over all that was offered, "NA" included where it was.
//! - `other` is a temperature alone, for scales that were not seen; without it they stay as they are.
//! - `difference` is the temperature of the difference of two responses' log-odds, each judged alone: the first is
//!   preferred with a probability of 1 / (1 + exp(-d / T)), d by the probabilities as the model gave them.
//!
//! With a bias of 0 the order of the options stays; the order of two responses always does.

use std::collections::HashSet;

use retort_lm::{Adapter, LanguageModel, LmError};
use serde::{Deserialize, Serialize};

/// The form that is read.
const FORM: u64 = 1;

/// What training wrote before anything was fitted. It changes nothing.
const PLACEHOLDER: &str = r#"{"options": {"temperature": 1.0}, "pair": {"temperature": 1.0}}"#;

/// How to set an adapter's probabilities right; see the module's text for the form and its meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Held-out rows that it was fitted to.
    pub rows: u64,
    /// SHA-256 of their file, in hex; of several files separated by commas.
    pub mixture_sha256: String,
    /// Of every kind of question that had enough rows.
    pub scales: Vec<ScaleFit>,
    /// For all other kinds.
    pub other: Option<TemperatureFit>,
    /// For the difference of the log-odds of two responses judged alone.
    pub difference: Option<TemperatureFit>,
}

/// What was found of one kind of question.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScaleFit {
    /// What may be answered, in the order in which it is offered; two or more, all different.
    pub labels: Vec<String>,
    /// What log-probabilities are divided by; above 0.
    pub temperature: f64,
    /// What is then added to each, in nats; only their differences count.
    pub bias: Vec<f64>,
    /// Rows that it was fitted to.
    pub rows: u64,
    /// Expected calibration error as the model gave them, 0 (best) to 1, where it was measured.
    pub ece_before: Option<f64>,
    /// The same of probabilities set right, each by what was fitted to other rows.
    pub ece_after: Option<f64>,
}

/// A temperature alone.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemperatureFit {
    /// What is divided by it: log-probabilities, or a difference of log-odds; above 0.
    pub temperature: f64,
    /// Rows that it was fitted to.
    pub rows: u64,
    /// See [`ScaleFit::ece_before`].
    pub ece_before: Option<f64>,
    /// See [`ScaleFit::ece_after`].
    pub ece_after: Option<f64>,
}

/// The JSON form, without its number.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(rename = "form")]
    _form: u64,
    rows: u64,
    mixture_sha256: String,
    scales: Vec<ScaleFit>,
    #[serde(default)]
    other: Option<TemperatureFit>,
    #[serde(default)]
    difference: Option<TemperatureFit>,
}

/// Whether probabilities were set right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationUse {
    /// There is nothing to do it by.
    #[default]
    None,
    /// They were, wherever the adapter knows the scale; each verdict's method says whether it was.
    Applied,
    /// The adapter could have, and the caller did not want it.
    Off,
}

impl CalibrationUse {
    /// Whether it is what records leave unsaid.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// Why an adapter's calibration is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "its calibration (\"{}\" in its metadata) cannot be used: {problem}; write it anew with \"train.py calibrate\", or \
     take another adapter",
    Calibration::KEY
)]
pub struct CalibrationError {
    /// What is wrong, and where.
    pub problem: String,
}

fn wrong(problem: String) -> CalibrationError {
    CalibrationError { problem }
}

impl Calibration {
    /// Where an adapter's metadata keep it.
    pub const KEY: &str = "retort.calibration";

    /// Reads the JSON form. `None` where it says that nothing was fitted: an empty text, or `{}`.
    ///
    /// # Errors
    /// What is wrong: no JSON, another form, unknown or absent fields, numbers that are not finite, temperatures that are
    /// not above 0, biases of another number than labels, a scale twice.
    pub fn read(text: &str) -> Result<Option<Self>, CalibrationError> {
        let text = text.trim();
        if text.is_empty() || text == PLACEHOLDER {
            return Ok(None);
        }
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| wrong(format!("it is no JSON: {error}")))?;
        let Some(fields) = value.as_object() else {
            return Err(wrong("it is no JSON object".to_owned()));
        };
        if fields.is_empty() {
            return Ok(None);
        }
        match fields.get("form") {
            Some(form) if form.as_u64() == Some(FORM) => {}
            Some(form) => return Err(wrong(format!("its form is {form}, and {FORM} is read here"))),
            None => return Err(wrong(format!("it names no form, and \"form\": {FORM} is read here"))),
        }
        // From the text once more: of a value, messages could not say the place.
        let Form { rows, mixture_sha256, scales, other, difference, .. } =
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let found = Self { rows, mixture_sha256, scales, other, difference };
        found.check()?;
        Ok(Some(found))
    }

    fn check(&self) -> Result<(), CalibrationError> {
        let mut known = HashSet::new();
        for (number, scale) in (1..).zip(&self.scales) {
            let at = format!("scale {number} ({})", scale.labels.join(", "));
            temperature(&at, scale.temperature)?;
            let (labels, biases) = (scale.labels.len(), scale.bias.len());
            if labels < 2 {
                return Err(wrong(format!("{at} has {labels} labels, and a choice has two or more")));
            }
            if biases != labels {
                return Err(wrong(format!(
                    "{at} has {labels} labels and {biases} biases, one for each is needed"
                )));
            }
            if let Some(bias) = scale.bias.iter().find(|bias| !bias.is_finite()) {
                return Err(wrong(format!("{at} has a bias of {bias}, which is no finite number")));
            }
            if let Some(twice) =
                scale.labels.iter().enumerate().find(|(n, label)| scale.labels[..*n].contains(label))
            {
                return Err(wrong(format!("{at} has the label \"{}\" twice", twice.1)));
            }
            if !known.insert(&scale.labels) {
                return Err(wrong(format!("{at} stands there twice")));
            }
        }
        for (name, fit) in [("other", &self.other), ("difference", &self.difference)] {
            if let Some(fit) = fit {
                temperature(&format!("\"{name}\""), fit.temperature)?;
            }
        }
        let scales = self.scales.iter().flat_map(|scale| [scale.ece_before, scale.ece_after]);
        let others = [&self.other, &self.difference].into_iter().flatten();
        let mut errors = scales.chain(others.flat_map(|fit| [fit.ece_before, fit.ece_after])).flatten();
        match errors.find(|error| !(0.0..=1.0).contains(error)) {
            Some(error) => {
                Err(wrong(format!("an expected calibration error is {error}, and none is outside 0 to 1")))
            }
            None => Ok(()),
        }
    }

    /// That of an adapter, whatever its strength; `None` where it has none.
    ///
    /// # Errors
    /// [`LmError::Adapter`], in the words of [`read`](Self::read).
    pub fn of_adapter(adapter: &Adapter) -> Result<Option<Self>, LmError> {
        let text = adapter.text(Self::KEY).unwrap_or_default();
        Self::read(text)
            .map_err(|error| LmError::Adapter { name: adapter.name.clone(), problem: error.to_string() })
    }

    /// That of a model with the adapter that it has now; `None` where there is none, and where the adapter is applied at
    /// another strength than the one that it was fitted at.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn of_model<M: LanguageModel>(model: &M) -> Result<Option<Self>, CalibrationError> {
        Self::read(model.adapter_text(Self::KEY).unwrap_or_default())
    }

    /// What is known of a scale: its temperature and biases, those of `other`, or nothing.
    fn fit(&self, labels: &[&str]) -> Option<(f64, &[f64])> {
        match self.scales.iter().find(|scale| scale.labels == labels) {
            Some(scale) => Some((scale.temperature, scale.bias.as_slice())),
            None => self.other.as_ref().map(|other| (other.temperature, <&[f64]>::default())),
        }
    }

    /// The options' shares of what they have together, set right; they sum to 1. `log_probabilities` in the order of the
    /// labels; any base, since only differences count, and minus infinity is possible.
    ///
    /// `None` where nothing is known of this scale, where another number of log-probabilities is given than of labels, and
    /// where these are no distribution.
    #[must_use]
    pub fn shares(&self, labels: &[&str], log_probabilities: &[f64]) -> Option<Vec<f64>> {
        let (temperature, bias) = self.fit(labels)?;
        let most = log_probabilities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !most.is_finite()
            || log_probabilities.len() != labels.len()
            || log_probabilities.iter().any(|log| log.is_nan())
        {
            return None;
        }
        // The largest first taken from all: however low the temperature, one of them then stays finite.
        let biases = bias.iter().copied().chain(std::iter::repeat(0.0));
        let logits: Vec<f64> = log_probabilities
            .iter()
            .zip(biases)
            .map(|(log, bias)| (log - most) / temperature + bias)
            .collect();
        let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logits.iter().map(|logit| libm::exp(logit - most)).collect();
        let sum: f64 = weights.iter().sum();
        Some(weights.iter().map(|weight| weight / sum).collect())
    }

    /// What the log-odds of two options of a scale, as [`shares`](Self::shares) gives them, are multiplied by, so that the
    /// difference of two such is the log-odds of a preference: the scale's own temperature is taken back, and that of the
    /// difference comes in its place (1 where none was fitted). Biases vanish in the difference. Above 0.
    #[must_use]
    pub fn difference_factor(&self, labels: &[&str]) -> f64 {
        let own = self.fit(labels).map_or(1.0, |(temperature, _)| temperature);
        own / self.difference.as_ref().map_or(1.0, |difference| difference.temperature)
    }
}

fn temperature(at: &str, value: f64) -> Result<(), CalibrationError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(wrong(format!("{at} has a temperature of {value}, and one is a finite number above 0")))
}
