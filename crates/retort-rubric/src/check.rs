//! What makes a rubric valid, whichever way it came.

use std::collections::HashMap;
use std::fmt;

use crate::Rubric;
use crate::wording::{looks_like_path, placeholder, plain};

/// Most options that a rubric may have: 0 to 20 in steps of one.
pub const MAX_OPTIONS: usize = 21;

/// Most characters in an option's label.
pub const MAX_LABEL_CHARACTERS: usize = 40;

/// Largest size of an option's value, so that sums and differences of values stay exact enough and finite.
pub const MAX_VALUE: f64 = 1e9;

const MAX_ID_CHARACTERS: usize = 64;

/// Whether a finding makes a rubric unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The rubric cannot be used.
    Error,
    /// The rubric can be used, but probably does not say what was meant.
    Warning,
}

/// The part of a rubric that a finding is about. It prints as a field path, such as `options[2].label`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Field {
    /// [`Rubric::id`].
    Id,
    /// [`Rubric::name`].
    Name,
    /// [`Rubric::ability`].
    Ability,
    /// [`Rubric::criterion`].
    Criterion,
    /// [`Rubric::question`].
    Question,
    /// [`Rubric::options`] as a whole.
    Options,
    /// The label of the option with this index.
    Label(usize),
    /// The value of the option with this index.
    Value(usize),
    /// The description of the option with this index.
    Description(usize),
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id => write!(f, "id"),
            Self::Name => write!(f, "name"),
            Self::Ability => write!(f, "ability"),
            Self::Criterion => write!(f, "criterion"),
            Self::Question => write!(f, "question"),
            Self::Options => write!(f, "options"),
            Self::Label(index) => write!(f, "options[{index}].label"),
            Self::Value(index) => write!(f, "options[{index}].value"),
            Self::Description(index) => write!(f, "options[{index}].description"),
        }
    }
}

/// One finding about a rubric. It prints as `field: message; hint`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Whether the rubric is refused for it.
    pub severity: Severity,
    /// Where.
    pub field: Field,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.field, self.message, self.hint)
    }
}

/// A rubric that was refused, with all errors found in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the rubric “{name}” cannot be used: {}", joined(.problems))]
pub struct InvalidRubric {
    /// The rubric's name, or its id where it has no name.
    pub name: String,
    /// The errors; at least one.
    pub problems: Vec<Problem>,
}

fn joined(problems: &[Problem]) -> String {
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    texts.join(". ")
}

impl Rubric {
    /// Everything that is wrong or doubtful about the rubric, errors and warnings.
    ///
    /// Errors: an empty text, one with white space around it, a path or an unfilled placeholder instead of a
    /// text; a name or label of several lines; an id with other characters than letters, digits, `_`, `-`,
    /// `.`; fewer than two or more than [`MAX_OPTIONS`] options; a label longer than [`MAX_LABEL_CHARACTERS`]
    /// or given twice (letter case aside); a value that is not finite, beyond [`MAX_VALUE`], or not more than
    /// the one before it. Warnings: levels of which only some are described, and levels that read alike.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut checks = Checks(Vec::new());
        checks.id(&self.id);
        checks.text(Field::Name, &self.name);
        checks.one_line(Field::Name, &self.name);
        checks.text(Field::Criterion, &self.criterion);
        if let Some(question) = &self.question {
            checks.text(Field::Question, question);
        }
        checks.options(self);
        checks.0
    }

    /// Whether the rubric can be used.
    ///
    /// # Errors
    /// The errors that [`check`](Self::check) finds.
    pub fn validate(&self) -> Result<(), InvalidRubric> {
        let mut problems = self.check();
        problems.retain(|problem| problem.severity == Severity::Error);
        if problems.is_empty() {
            return Ok(());
        }
        let name = if self.name.trim().is_empty() { &self.id } else { &self.name };
        Err(InvalidRubric { name: name.clone(), problems })
    }
}

struct Checks(Vec<Problem>);

impl Checks {
    fn error(&mut self, field: Field, message: impl Into<String>, hint: impl Into<String>) {
        self.0.push(Problem { severity: Severity::Error, field, message: message.into(), hint: hint.into() });
    }

    fn warning(&mut self, field: Field, message: impl Into<String>, hint: impl Into<String>) {
        self.0.push(Problem {
            severity: Severity::Warning,
            field,
            message: message.into(),
            hint: hint.into(),
        });
    }

    fn id(&mut self, id: &str) {
        if id.is_empty() {
            self.error(Field::Id, "the id is empty", "give the rubric an id of letters and digits");
        } else if !id.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            self.error(
                Field::Id,
                format!("the id {id:?} holds other characters than letters, digits, “_”, “-” and “.”"),
                "write it without them",
            );
        } else if id.chars().count() > MAX_ID_CHARACTERS {
            self.error(
                Field::Id,
                format!("the id has {} characters", id.chars().count()),
                format!("shorten it to {MAX_ID_CHARACTERS}"),
            );
        }
    }

    /// A text that a person or the model reads.
    fn text(&mut self, field: Field, text: &str) {
        if text.trim().is_empty() {
            match field {
                Field::Question => {
                    self.error(field, "the question is empty", "write the question or leave the field out");
                }
                Field::Description(_) => {
                    self.error(field, "the description is empty", "describe the level or leave it out");
                }
                _ => self.error(field, format!("the {} is empty", noun(field)), "write it"),
            }
            return;
        }
        if text.trim() != text {
            self.error(field, "the text begins or ends with white space", "remove it");
        }
        if let Some(slot) = placeholder(text) {
            self.error(
                field,
                format!("the placeholder {slot} was left in the text"),
                "put the real text in its place",
            );
        }
        if !matches!(field, Field::Label(_)) && looks_like_path(text) {
            self.error(
                field,
                format!("{text:?} is a file's path where the {} itself is expected", noun(field)),
                "put the file's text here",
            );
        }
    }

    fn one_line(&mut self, field: Field, text: &str) {
        if text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
            self.error(
                field,
                format!("the {} holds a line break or another control character", noun(field)),
                "write it on one line",
            );
        }
    }

    fn options(&mut self, rubric: &Rubric) {
        let options = &rubric.options;
        if options.len() < 2 {
            self.error(
                Field::Options,
                format!("a scale needs at least two options, but there {}", are(options.len())),
                "add options",
            );
        }
        if options.len() > MAX_OPTIONS {
            self.error(
                Field::Options,
                format!("there are {} options", options.len()),
                format!("a scale may have at most {MAX_OPTIONS}: take larger steps"),
            );
        }
        let mut labels: HashMap<String, (usize, &str)> = HashMap::new();
        let mut texts: HashMap<String, usize> = HashMap::new();
        let mut before: Option<f64> = None;
        for (index, option) in options.iter().enumerate() {
            let field = Field::Label(index);
            self.text(field, &option.label);
            self.one_line(field, &option.label);
            let length = option.label.chars().count();
            if length > MAX_LABEL_CHARACTERS {
                self.error(
                    field,
                    format!("the label has {length} characters"),
                    format!("shorten it to {MAX_LABEL_CHARACTERS} and say the rest in the description"),
                );
            }
            if let Some((first, label)) = labels.get(&option.label.to_lowercase()) {
                let how = if *label == option.label { "is" } else { "is, but for letter case," };
                self.error(
                    field,
                    format!("the label {:?} {how} that of option {first} too", option.label),
                    "give every option a label of its own",
                );
            } else {
                labels.insert(option.label.to_lowercase(), (index, &option.label));
            }

            let (field, value) = (Field::Value(index), option.value);
            if !value.is_finite() {
                self.error(field, format!("the value is {value}"), "give a finite number");
            } else if value.abs() > MAX_VALUE {
                self.error(
                    field,
                    format!("the value {value:e} is too large"),
                    format!("values may be at most {MAX_VALUE} in size"),
                );
            } else {
                if let Some(before) = before.filter(|before| value <= *before) {
                    self.error(
                        field,
                        format!("the value {value} is not more than {before}, that of the option before it"),
                        "order the options by value, lowest first",
                    );
                }
                before = Some(value);
            }

            if let Some(description) = &option.description {
                let field = Field::Description(index);
                self.text(field, description);
                let words = plain(description);
                if let Some(first) = texts.get(&words) {
                    self.warning(
                        field,
                        format!("this level reads like that of option {first}"),
                        "say how they differ",
                    );
                } else if !words.is_empty() {
                    texts.insert(words, index);
                }
            }
        }
        let missing: Vec<&str> = options
            .iter()
            .filter(|option| option.description.is_none())
            .map(|option| option.label.as_str())
            .collect();
        if !missing.is_empty() && missing.len() < options.len() && options.len() <= MAX_OPTIONS {
            self.warning(
                Field::Options,
                format!(
                    "{} of {} levels are not described: {}",
                    missing.len(),
                    options.len(),
                    missing.join(", ")
                ),
                "describe all levels or none",
            );
        }
    }
}

fn noun(field: Field) -> &'static str {
    match field {
        Field::Id => "id",
        Field::Name => "name",
        Field::Ability => "ability",
        Field::Criterion => "criterion",
        Field::Question => "question",
        Field::Options => "scale",
        Field::Label(_) => "label",
        Field::Value(_) => "value",
        Field::Description(_) => "description",
    }
}

fn are(count: usize) -> String {
    match count {
        0 => "are none".to_owned(),
        1 => "is one".to_owned(),
        _ => format!("are {count}"),
    }
}
