//! A checklist as data: what is to be looked for in a response, and how each item is decided.

use retort_rubric::Skill;
use serde::{Deserialize, Serialize};

use crate::Constraint;

/// What is to be looked for in the responses to one instruction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checklist {
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// SHA-256 of the instruction that it was made for, where it was made for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction_sha256: Option<String>,
    /// The items, in the order in which they are shown.
    pub items: Vec<Item>,
}

/// One thing to look for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// A short name within its checklist: letters, digits, `_`, `-` and `.`.
    pub id: String,
    /// What is asked about the response, as one question on one line whose answer "yes" is good (for a positive
    /// weight): "Is the response at most 100 words long?", "Does the response name two causes?".
    pub question: String,
    /// Where the item comes from.
    pub origin: Origin,
    /// The skill that it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<Skill>,
    /// How much it counts: finite and not 0; below 0 for what should not be there.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: f64,
    /// What may be answered.
    #[serde(default, skip_serializing_if = "AnswerForm::is_yes_no")]
    pub answer: AnswerForm,
    /// What code verifies; the model is asked where there is none. Only for [`AnswerForm::YesNo`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<Constraint>,
    /// When the item applies, as a clause behind "if": "the customer asks for a refund". `None` is always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The passage of the instruction or reference that it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage: Option<String>,
}

/// Where an item comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A constraint in the instruction that code can verify.
    Constraint,
    /// A request, sub-question or condition in the instruction.
    Request,
    /// A claim of the reference answer.
    Reference,
    /// A skill that the instruction needs.
    Skill,
    /// A language model wrote it.
    Model,
    /// A person wrote it.
    Person,
}

/// What may be answered about an item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// Yes or no, each with a probability where a model decides.
    #[default]
    YesNo,
    /// 1 to 5: how far the response meets it compared with the reference (FLASK-Hard, Ye et al. 2024, section 3.4).
    OneToFive,
}

impl AnswerForm {
    fn is_yes_no(&self) -> bool {
        *self == Self::YesNo
    }
}

fn one() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
#[expect(clippy::float_cmp, reason = "exactly the default is left unsaid")]
fn is_one(weight: &f64) -> bool {
    *weight == 1.0
}
