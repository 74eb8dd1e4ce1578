//! What verifying found.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The most spans of evidence that a finding carries; more would show a person nothing.
pub const MAX_EVIDENCE: usize = 100;

/// Whether a response does what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It does.
    Met,
    /// It does not.
    NotMet,
    /// The question does not arise, or code cannot decide it for this response; the finding's sentence says which.
    /// Such items are left out of every score.
    NotApplicable,
}

impl Verdict {
    /// Met where true.
    #[must_use]
    pub const fn of(met: bool) -> Self {
        if met { Self::Met } else { Self::NotMet }
    }
}

/// A verdict with what it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The verdict.
    pub verdict: Verdict,
    /// How many were counted, where something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// A sentence for people: "143 words; at most 100 were asked for".
    pub sentence: String,
    /// Byte ranges of the response that show it, in their order, on character boundaries; at most [`MAX_EVIDENCE`].
    /// What was counted, or where a limit on a length was passed, what stands beyond it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Range<usize>>,
}

impl Finding {
    pub(crate) fn new(verdict: Verdict, sentence: impl Into<String>) -> Self {
        Self { verdict, count: None, sentence: sentence.into(), evidence: Vec::new() }
    }

    pub(crate) fn met(sentence: impl Into<String>) -> Self {
        Self::new(Verdict::Met, sentence)
    }

    pub(crate) fn not_met(sentence: impl Into<String>) -> Self {
        Self::new(Verdict::NotMet, sentence)
    }

    pub(crate) fn not_applicable(sentence: impl Into<String>) -> Self {
        Self::new(Verdict::NotApplicable, sentence)
    }

    pub(crate) fn counted(mut self, count: u64) -> Self {
        self.count = Some(count);
        self
    }

    pub(crate) fn showing(mut self, evidence: impl IntoIterator<Item = Range<usize>>) -> Self {
        self.evidence.extend(evidence.into_iter().take(MAX_EVIDENCE.saturating_sub(self.evidence.len())));
        self
    }

    pub(crate) fn at(self, span: Range<usize>) -> Self {
        self.showing(std::iter::once(span))
    }

    /// The passages of the response that the evidence points at.
    pub fn passages<'r>(&self, response: &'r str) -> impl Iterator<Item = &'r str> {
        self.evidence.iter().filter_map(|span| response.get(span.clone()))
    }
}
