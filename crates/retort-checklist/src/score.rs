//! From decided items to a score.

use retort_rubric::{Skill, aggregate};
use serde::{Deserialize, Serialize};

use crate::{Checklist, Finding, Item, Response, Verdict};

/// How one item was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub enum Decided {
    /// Code verified its constraint.
    Verified {
        /// Whether the response meets it.
        met: bool,
    },
    /// A model, or a person, judged it.
    Judged {
        /// 0 to 1: the probability of "yes", or (expected answer − 1) / 4 where the answer is 1 to 5.
        value: f64,
    },
    /// The question does not arise for this response.
    NotApplicable {
        /// Why, as a sentence for people.
        reason: String,
    },
    /// There is no verdict, which says nothing about the response.
    Unscored {
        /// What went wrong, as a sentence for people.
        reason: String,
    },
}

impl From<Finding> for Decided {
    fn from(finding: Finding) -> Self {
        match finding.verdict {
            Verdict::Met => Self::Verified { met: true },
            Verdict::NotMet => Self::Verified { met: false },
            Verdict::NotApplicable => Self::NotApplicable { reason: finding.sentence },
        }
    }
}

impl Decided {
    /// 0 to 1; `None` where the item is left out.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Verified { met } => Some(if *met { 1.0 } else { 0.0 }),
            Self::Judged { value } => Some(*value),
            Self::NotApplicable { .. } | Self::Unscored { .. } => None,
        }
    }
}

/// What a checklist says about a response, and how many items that rests on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChecklistScore {
    /// 0 to 1: the sum of weight × value over the decided items, divided by the sum of their positive weights, and cut
    /// to 0 to 1 (which only negative weights make necessary; so does HealthBench, Arora et al. 2025). `None` where
    /// `why_none` says why. Of items that are answered 1 to 5, the mean answer is 1 + 4 × score.
    pub score: Option<f64>,
    /// Why there is no score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_none: Option<WhyNone>,
    /// How many items code verified.
    pub verified: usize,
    /// How many a model or a person judged.
    pub judged: usize,
    /// How many did not apply; they are in no sum.
    pub not_applicable: usize,
    /// How many have no verdict; they are in no sum.
    pub unscored: usize,
    /// How many of the verified items are met, whatever their weight.
    pub verified_met: usize,
    /// How many of the judged items have a value above one half, whatever their weight.
    pub judged_met: usize,
    /// The same for the items of each skill, in FLASK's order; skills without an item are left out, and within it this
    /// list is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_skill: Vec<(Skill, ChecklistScore)>,
}

/// Why a checklist has no score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyNone {
    /// It has no items.
    Empty,
    /// No item applies to the response.
    NothingApplies,
    /// Items apply, and none of them has a verdict.
    NothingScored,
    /// All items that have a verdict have negative weights: there is nothing that could be reached.
    NoPositiveWeight,
}

/// What cannot be scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// The lists differ in length.
    #[error("{decided} verdicts for {items} items; give one for each item, in the items' order")]
    Lengths {
        /// How many items there are.
        items: usize,
        /// How many verdicts were given.
        decided: usize,
    },
    /// A value outside 0 to 1, or not a number.
    #[error("item {id:?}: the value {value} does not lie in 0 to 1; give a probability, or (answer - 1) / 4")]
    Value {
        /// The item's id.
        id: String,
        /// What was given.
        value: f64,
    },
    /// A weight that [`Checklist::check`] refuses.
    #[error(
        "item {id:?}: the weight {weight} cannot be used; give a finite number other than 0, at most 1e6 in size"
    )]
    Weight {
        /// The item's id.
        id: String,
        /// What was given.
        weight: f64,
    },
    /// Code cannot have verified an item that has no constraint.
    #[error("item {id:?} is given as verified but has no constraint to verify; give it as judged")]
    NothingToVerify {
        /// The item's id.
        id: String,
    },
}

/// Scores a response by its decided items, `decided` in the order of `items`.
///
/// ```
/// use retort_checklist::{Checklist, Decided, Item, score};
///
/// let items = [Item::asking("names", "Does the response name two causes?"), Item::asking("dates", "Does it date them?")];
/// let decided = [Decided::Judged { value: 0.75 }, Decided::NotApplicable { reason: "no dates were asked for".into() }];
/// let score = score(&items, &decided)?;
/// assert_eq!(score.score, Some(0.75));
/// assert_eq!((score.judged, score.not_applicable), (1, 1));
/// # Ok::<(), retort_checklist::ScoreError>(())
/// ```
///
/// # Errors
/// Lists of different lengths, a value outside 0 to 1 or not finite, a weight that is 0 or not finite or too large, a
/// verified item without a constraint.
pub fn score(items: &[Item], decided: &[Decided]) -> Result<ChecklistScore, ScoreError> {
    if items.len() != decided.len() {
        return Err(ScoreError::Lengths { items: items.len(), decided: decided.len() });
    }
    for (item, decided) in items.iter().zip(decided) {
        if !crate::checklist::is_weight(item.weight) {
            return Err(ScoreError::Weight { id: item.id.clone(), weight: item.weight });
        }
        match *decided {
            Decided::Judged { value } if !(0.0..=1.0).contains(&value) => {
                return Err(ScoreError::Value { id: item.id.clone(), value });
            }
            Decided::Verified { .. } if item.constraint.is_none() => {
                return Err(ScoreError::NothingToVerify { id: item.id.clone() });
            }
            _ => {}
        }
    }
    let mut total = sum(items.iter().zip(decided));
    total.by_skill = Skill::ALL
        .into_iter()
        .filter(|skill| items.iter().any(|item| item.skill == Some(*skill)))
        .map(|skill| (skill, sum(items.iter().zip(decided).filter(|(item, _)| item.skill == Some(skill)))))
        .collect();
    Ok(total)
}

fn sum<'i>(pairs: impl Iterator<Item = (&'i Item, &'i Decided)>) -> ChecklistScore {
    let mut total = ChecklistScore::default();
    let mut parts = Vec::new();
    for (item, decided) in pairs {
        match *decided {
            Decided::Verified { met } => {
                total.verified += 1;
                total.verified_met += usize::from(met);
            }
            Decided::Judged { value } => {
                total.judged += 1;
                total.judged_met += usize::from(value > 0.5);
            }
            Decided::NotApplicable { .. } => total.not_applicable += 1,
            Decided::Unscored { .. } => total.unscored += 1,
        }
        parts.push((item.weight, decided.value()));
    }
    // Weights and values were checked, so that what is left to go wrong is that there is nothing to reach.
    match aggregate(&parts) {
        Ok(found) => total.score = Some(found.score),
        Err(_) if total.verified + total.judged > 0 => total.why_none = Some(WhyNone::NoPositiveWeight),
        Err(_) if total.unscored > 0 => total.why_none = Some(WhyNone::NothingScored),
        Err(_) if total.not_applicable > 0 => total.why_none = Some(WhyNone::NothingApplies),
        Err(_) => total.why_none = Some(WhyNone::Empty),
    }
    total
}

/// What code finds about each item that it decides ([`Item::is_verified`]); `None` for those that a model or a person has
/// to judge.
#[must_use]
pub fn verify_items(checklist: &Checklist, response: &str) -> Vec<Option<Finding>> {
    let response = Response::new(response);
    let verify = |item: &Item| {
        let constraint = item.constraint.as_ref().filter(|_| item.is_verified())?;
        Some(response.verify(constraint))
    };
    checklist.items.iter().map(verify).collect()
}
