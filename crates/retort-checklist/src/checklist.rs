//! A checklist as data: what is to be looked for in a response, and how each item is decided.

use std::collections::HashMap;
use std::fmt;

use retort_rubric::{MIN_WEIGHT, Severity, Skill};
use serde::{Deserialize, Serialize};

use crate::Constraint;

/// The most items of a checklist: more than a person reads, or a model answers in a minute.
pub const MAX_ITEMS: usize = 500;

/// The most characters of an item's question.
pub const MAX_QUESTION_CHARACTERS: usize = 1000;

/// The most characters of an item's id.
pub const MAX_ID_CHARACTERS: usize = 64;

/// The largest size of a weight, so that sums stay exact enough and finite.
pub const MAX_WEIGHT: f64 = 1e6;

/// What is to be looked for in the responses to one instruction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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

impl Item {
    /// An item that a person wrote: a question that is answered yes or no, of weight 1, without a skill.
    #[must_use]
    pub fn asking(id: impl Into<String>, question: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            question: question.into(),
            origin: Origin::Person,
            skill: None,
            weight: 1.0,
            answer: AnswerForm::YesNo,
            constraint: None,
            condition: None,
            passage: None,
        }
    }

    /// Whether code decides it. What applies only under a condition is judged, since code cannot tell whether it holds.
    #[must_use]
    pub const fn is_verified(&self) -> bool {
        self.constraint.is_some() && self.condition.is_none()
    }

    /// The question with its condition: "If the customer asks for a refund, does the response offer a voucher?".
    #[must_use]
    pub fn full_question(&self) -> String {
        let Some(condition) = &self.condition else { return self.question.clone() };
        let mut letters = self.question.chars();
        let first = letters.next().map(char::to_lowercase);
        let rest: String = first.into_iter().flatten().chain(letters).collect();
        format!("If {condition}, {rest}")
    }
}

impl Origin {
    /// The name used in files and at the beginning of ids, such as `request`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Constraint => "constraint",
            Self::Request => "request",
            Self::Reference => "reference",
            Self::Skill => "skill",
            Self::Model => "model",
            Self::Person => "person",
        }
    }
}

/// One finding about a checklist. It prints as `items[2].weight: message; hint`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChecklistProblem {
    /// Whether the checklist cannot be used with it.
    pub severity: Severity,
    /// The item's index; `None` for the checklist as a whole.
    pub item: Option<usize>,
    /// The field, as files name it; empty for the item as a whole.
    pub field: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl fmt::Display for ChecklistProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.item, self.field) {
            (Some(index), "") => write!(f, "items[{index}]")?,
            (Some(index), field) => write!(f, "items[{index}].{field}")?,
            (None, field) => f.write_str(field)?,
        }
        write!(f, ": {}; {}", self.message, self.hint)
    }
}

impl Checklist {
    /// Everything that is wrong or doubtful, in the order of the items.
    ///
    /// Errors: no item, or more than [`MAX_ITEMS`]; an id that is empty, longer than [`MAX_ID_CHARACTERS`], given twice,
    /// or of other characters than letters, digits, `_`, `-` and `.`; a question that is empty, of several lines, or
    /// longer than [`MAX_QUESTION_CHARACTERS`]; a weight that is 0, not finite, or beyond [`MAX_WEIGHT`]; a constraint
    /// that [`Constraint::check`] refuses, or on an item that is not answered yes or no; an empty condition or one of
    /// several lines; a hash that is none. Warnings: a question without a question mark, one that is asked twice, no
    /// positive weight at all.
    #[must_use]
    pub fn check(&self) -> Vec<ChecklistProblem> {
        let mut found = Vec::new();
        let mut whole = |severity, field, message: String, hint: &str| {
            found.push(ChecklistProblem { severity, item: None, field, message, hint: hint.to_owned() });
        };
        if self.instruction_sha256.as_ref().is_some_and(|hash| {
            hash.len() != 64 || !hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        }) {
            whole(
                Severity::Error,
                "instruction_sha256",
                "this is no SHA-256".to_owned(),
                "give 64 digits 0 to 9 and a to f, or leave it out",
            );
        }
        if self.items.is_empty() {
            whole(Severity::Error, "items", "there is no item".to_owned(), "give at least one question");
        } else if self.items.len() > MAX_ITEMS {
            let message = format!("there are {} items", self.items.len());
            whole(Severity::Error, "items", message, "keep at most 500");
        } else if self.items.iter().all(|item| item.weight < 0.0) {
            let message = "every item has a negative weight, so that there is never a score".to_owned();
            whole(Severity::Warning, "items", message, "add an item for what a good response has");
        }
        let mut ids: HashMap<&str, usize> = HashMap::new();
        let mut questions: HashMap<String, usize> = HashMap::new();
        for (index, item) in self.items.iter().enumerate() {
            item.check_into(index, &mut found);
            let mut doubled = |severity, field, message, hint: &str| {
                let hint = hint.to_owned();
                found.push(ChecklistProblem { severity, item: Some(index), field, message, hint });
            };
            if let Some(first) = ids.get(item.id.as_str()) {
                let message = format!("the id {:?} is that of items[{first}] too", item.id);
                doubled(Severity::Error, "id", message, "give one of them another id");
            } else {
                ids.insert(&item.id, index);
            }
            if let Some(first) = questions.insert(item.full_question().to_lowercase(), index) {
                let message = format!("the same is asked in items[{first}]");
                doubled(
                    Severity::Warning,
                    "question",
                    message,
                    "keep one of them, with a larger weight if it counts more",
                );
            }
        }
        found
    }
}

impl Item {
    fn check_into(&self, index: usize, found: &mut Vec<ChecklistProblem>) {
        let mut wrong = |severity, field, message: String, hint: &str| {
            found.push(ChecklistProblem {
                severity,
                item: Some(index),
                field,
                message,
                hint: hint.to_owned(),
            });
        };
        if !is_id(&self.id) {
            wrong(
                Severity::Error,
                "id",
                format!("the id {:?} cannot be used", shortened(&self.id)),
                "use 1 to 64 letters, digits, `_`, `-` and `.`",
            );
        }
        let question = self.question.trim();
        if question.is_empty() {
            let hint = "ask one thing about the response, such as: Does the response name a source?";
            wrong(Severity::Error, "question", "the question is empty".to_owned(), hint);
        } else if !is_one_line(question) {
            wrong(
                Severity::Error,
                "question",
                "the question has several lines".to_owned(),
                "put it on one line",
            );
        } else if question.chars().count() > MAX_QUESTION_CHARACTERS {
            let message = format!("the question is longer than {MAX_QUESTION_CHARACTERS} characters");
            wrong(Severity::Error, "question", message, "ask one thing, and split the rest into items");
        } else if !question.ends_with(['?', '？', '؟']) {
            let message = "this is no question".to_owned();
            wrong(
                Severity::Warning,
                "question",
                message,
                "ask what can be answered with yes, and end it with a question mark",
            );
        }
        if !is_weight(self.weight) {
            wrong(
                Severity::Error,
                "weight",
                format!("the weight {} cannot be used", self.weight),
                "give a finite number other than 0, at most 1000000 in size; negative for what should not be there",
            );
        }
        if let Some(constraint) = &self.constraint {
            if self.answer != AnswerForm::YesNo {
                let message = "what code verifies is met or not, and this item is answered 1 to 5".to_owned();
                wrong(
                    Severity::Error,
                    "constraint",
                    message,
                    "remove the constraint, or answer = \"one_to_five\"",
                );
            }
            if let Err(invalid) = constraint.check() {
                let message = format!("{}: {}", invalid.path, invalid.message);
                wrong(Severity::Error, "constraint", message, &invalid.hint);
            }
        }
        if let Some(condition) = &self.condition
            && (condition.trim().is_empty() || !is_one_line(condition.trim()))
        {
            let message = "the condition is empty or has several lines".to_owned();
            wrong(
                Severity::Error,
                "condition",
                message,
                "write what stands behind “if”, on one line, or leave it out",
            );
        }
    }
}

pub(crate) fn is_id(id: &str) -> bool {
    !id.is_empty()
        && id.chars().count() <= MAX_ID_CHARACTERS
        && id.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

pub(crate) fn is_weight(weight: f64) -> bool {
    (MIN_WEIGHT..=MAX_WEIGHT).contains(&weight.abs())
}

/// No line break of any kind, nor another control character.
pub(crate) fn is_one_line(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
}

fn shortened(text: &str) -> String {
    crate::text::excerpt(text)
}

fn one() -> f64 {
    1.0
}

fn is_one(weight: &f64) -> bool {
    *weight == 1.0
}
