//! An example of a task: texts, and what people said of them.

use std::collections::BTreeMap;

/// One item, read from public data.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Example {
    /// Unique within the task and the same on every reading.
    pub id: String,
    /// What must stay together when the data are split: the prompt, question or document. Any text; it is only hashed.
    pub group: String,
    /// Texts by the name of the task's context field.
    pub fields: BTreeMap<String, String>,
    /// The two responses of a pairwise task, in the file's order.
    pub responses: Option<[String; 2]>,
    /// What people said.
    pub target: Target,
    /// How many people the target is the distribution of; 1 where the file has one label.
    pub raters: u32,
    /// Which part of the task's data it belongs to (a domain, a language, a category), for tables.
    pub subset: Option<String>,
    /// Further values by name that a protocol needs and no model reads (names of systems, other judges' verdicts).
    pub extra: BTreeMap<String, String>,
}

/// What people said: a distribution, not a majority.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Target {
    /// Nothing is known.
    #[default]
    Unknown,
    /// The share of each option, in the task's order; sums to 1.
    Options(Vec<f64>),
    /// Which response is better: shares that sum to 1.
    Preference {
        /// For the first.
        first: f64,
        /// For the second.
        second: f64,
        /// For neither.
        tie: f64,
    },
    /// The right text.
    Text(String),
}

impl Target {
    /// The option (or response, 0 or 1) with the largest share; `None` where it is not one alone, or a tie leads.
    #[must_use]
    pub fn majority(&self) -> Option<usize> {
        let (shares, tie) = match self {
            Self::Options(shares) => (shares.clone(), 0.0),
            Self::Preference { first, second, tie } => (vec![*first, *second], *tie),
            Self::Unknown | Self::Text(_) => return None,
        };
        let most = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut leaders = (0..shares.len()).filter(|&index| shares[index] >= most - 1e-12);
        let first = leaders.next()?;
        (leaders.next().is_none() && most > tie).then_some(first)
    }
}
