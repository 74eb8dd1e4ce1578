//! The items of a checklist and how each was decided: by code where code can, else by the model.

use retort_checklist::{
    AnswerForm, Checklist, ChecklistScore, Decided, Finding, Item, Origin, ScoreError, verify_items,
};
use retort_rubric::Skill;
use serde::{Deserialize, Serialize};

use crate::{Unscored, Verdict, sha256_hex};

/// An item and what came out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemVerdict {
    /// The item's id.
    pub item_id: String,
    /// What was asked. Mind that it may quote the instruction.
    pub question: String,
    /// Where the item comes from.
    pub origin: Origin,
    /// The skill that it shows.
    #[serde(default)]
    pub skill: Option<Skill>,
    /// How much it counts.
    pub weight: f64,
    /// What could be answered.
    pub answer: AnswerForm,
    /// What came out, and who decided.
    #[serde(flatten)]
    pub decision: Decision,
}

/// Who decided an item, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Decision {
    /// Code verified it: exact, with its evidence. The model was not asked.
    Code {
        /// What was found.
        finding: Finding,
    },
    /// The model was asked. Of yes or no, the expectation is the probability of yes.
    Model {
        /// The outcome.
        verdict: Verdict,
    },
}

impl ItemVerdict {
    pub(crate) fn new(item: &Item, decision: Decision) -> Self {
        Self {
            item_id: item.id.clone(),
            question: item.question.clone(),
            origin: item.origin,
            skill: item.skill,
            weight: item.weight,
            answer: item.answer,
            decision,
        }
    }

    pub(crate) fn judged(item: &Item, verdict: Verdict) -> Self {
        Self::new(item, Decision::Model { verdict })
    }

    pub(crate) fn unscored(item: &Item, reason: Unscored) -> Self {
        Self::judged(item, Verdict::Unscored(reason))
    }
}

/// What code decides of the checklist, with the place of each item.
pub(crate) fn verified(checklist: &Checklist, response: &str) -> Vec<(usize, ItemVerdict)> {
    let findings = verify_items(checklist, response);
    let items = checklist.items.iter().zip(findings).enumerate();
    items
        .filter_map(|(index, (item, finding))| {
            Some((index, ItemVerdict::new(item, Decision::Code { finding: finding? })))
        })
        .collect()
}

/// What a checklist's items come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChecklistSums {
    /// All items together, answers of 1 to 5 taken as 0 to 1.
    pub score: ChecklistScore,
    /// Those answered yes or no apart from those answered 1 to 5, which are FLASK-Hard's; empty where all are answered
    /// alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_form: Vec<(AnswerForm, ChecklistScore)>,
}

/// Adds the items up. The verdicts are in the order of the items.
///
/// # Errors
/// Another number of verdicts than items; weights that [`Checklist::check`] refuses.
pub(crate) fn sums(checklist: &Checklist, verdicts: &[ItemVerdict]) -> Result<ChecklistSums, ScoreError> {
    let decided: Vec<Decided> = verdicts.iter().map(decided).collect();
    let score = retort_checklist::score(&checklist.items, &decided)?;
    let mut by_form = Vec::new();
    for form in [AnswerForm::YesNo, AnswerForm::OneToFive] {
        let of_form = checklist.items.iter().zip(&decided).filter(|(item, _)| item.answer == form);
        let (items, decided): (Vec<Item>, Vec<Decided>) =
            of_form.map(|(item, decided)| (item.clone(), decided.clone())).unzip();
        if !items.is_empty() && items.len() < checklist.items.len() {
            by_form.push((form, retort_checklist::score(&items, &decided)?));
        }
    }
    Ok(ChecklistSums { score, by_form })
}

fn decided(item: &ItemVerdict) -> Decided {
    match &item.decision {
        Decision::Code { finding } => finding.clone().into(),
        // P14: 1 to 5 become 0 to 1, as no and yes are.
        Decision::Model { verdict: Verdict::Scored { expected, min, max, .. } } => {
            Decided::Judged { value: ((expected - min) / (max - min)).clamp(0.0, 1.0) }
        }
        Decision::Model { verdict: Verdict::Unscored(reason) } => match reason {
            Unscored::NotApplicable { .. } => Decided::NotApplicable { reason: reason.to_string() },
            _ => Decided::Unscored { reason: reason.to_string() },
        },
    }
}

/// SHA-256 of the checklist as JSON, whose fields stand in a fixed order.
pub(crate) fn checklist_sha256(checklist: &Checklist) -> String {
    // A checklist is plain data, which always has a JSON form; were there none, no two lists would share a hash.
    serde_json::to_vec(checklist).map_or_else(|error| error.to_string(), |json| sha256_hex(&json))
}
