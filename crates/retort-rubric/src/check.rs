//! What makes a rubric valid, whichever way it came.

use std::collections::HashMap;
use std::fmt;

use crate::level::{Gist, Likeness, reversed, vague};
use crate::wording::{looks_like_path, placeholder, plain};
use crate::{Rubric, RubricOption};

/// Most options that a rubric may have: 0 to 20 in steps of one.
pub const MAX_OPTIONS: usize = 21;

/// Most characters in an option's label.
pub const MAX_LABEL_CHARACTERS: usize = 40;

/// Largest size of an option's value and of a weight, so that sums and differences stay exact enough and finite.
pub const MAX_VALUE: f64 = 1e9;

/// Smallest size of a weight, so that a quotient of weights stays finite.
pub const MIN_WEIGHT: f64 = 1e-9;

/// Most characters of an example, or of a condition, that pass without a warning: the model reads them every time.
const MAX_READABLE_CHARACTERS: usize = 400;

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
    /// [`Rubric::weight`].
    Weight,
    /// [`Rubric::not_applicable`].
    NotApplicable,
    /// [`Rubric::options`] as a whole.
    Options,
    /// The label of the option with this index.
    Label(usize),
    /// The value of the option with this index.
    Value(usize),
    /// The description of the option with this index.
    Description(usize),
    /// Of the option with the first index, the example with the second.
    Example(usize, usize),
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id => write!(f, "id"),
            Self::Name => write!(f, "name"),
            Self::Ability => write!(f, "ability"),
            Self::Criterion => write!(f, "criterion"),
            Self::Question => write!(f, "question"),
            Self::Weight => write!(f, "weight"),
            Self::NotApplicable => write!(f, "not_applicable"),
            Self::Options => write!(f, "options"),
            Self::Label(index) => write!(f, "options[{index}].label"),
            Self::Value(index) => write!(f, "options[{index}].value"),
            Self::Description(index) => write!(f, "options[{index}].description"),
            Self::Example(index, example) => write!(f, "options[{index}].examples[{example}]"),
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
    /// the one before it; a weight that is 0, not finite, or not [`MIN_WEIGHT`] to [`MAX_VALUE`] in size; the label
    /// `N/A` beside a condition under which the rubric does not apply.
    ///
    /// Warnings: levels of which only some are described, that grade without saying what for (“Good.”), or that read
    /// alike, a negation, degree or number aside; a criterion that grades only; a gap in a scale of numbers; a scale
    /// that seems to run from best to worst; an option `N/A` that counts; a long example or condition, an example
    /// that stands twice or looks like a file's path.
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
        if vague(&self.criterion) && self.criterion.chars().any(char::is_alphanumeric) {
            checks.warning(
                Field::Criterion,
                format!("{:?} grades, but does not say what for", self.criterion),
                "say what a good response has and a bad one lacks",
            );
        }
        checks.weight(self.weight);
        checks.condition(self);
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

    fn weight(&mut self, weight: f64) {
        if !weight.is_finite() {
            self.error(Field::Weight, format!("the weight is {weight}"), "give a finite number");
        } else if weight == 0.0 {
            self.error(
                Field::Weight,
                "the weight is 0, so that the rubric would never count",
                "give another weight, or leave the rubric out",
            );
        } else if !(MIN_WEIGHT..=MAX_VALUE).contains(&weight.abs()) {
            self.error(
                Field::Weight,
                format!(
                    "the weight {weight:e} is too {}",
                    if weight.abs() < 1.0 { "small" } else { "large" }
                ),
                format!("weights may be {MIN_WEIGHT:e} to {MAX_VALUE:e} in size"),
            );
        }
    }

    fn condition(&mut self, rubric: &Rubric) {
        let aside = rubric.options.iter().position(|option| {
            matches!(option.label.to_lowercase().as_str(), "n/a" | "na" | "not applicable")
        });
        match (&rubric.not_applicable, aside) {
            (Some(_), Some(index)) => self.error(
                Field::Label(index),
                "the answer that the rubric does not apply is offered already, because of “not_applicable”",
                "remove this option",
            ),
            (None, Some(index)) => self.warning(
                Field::Label(index),
                "this answer counts with its value like any other",
                "if it means that the rubric does not apply, remove it and say when under “not_applicable”",
            ),
            _ => {}
        }
        if let Some(condition) = &rubric.not_applicable {
            self.text(Field::NotApplicable, condition);
            let length = condition.chars().count();
            if length > MAX_READABLE_CHARACTERS {
                self.warning(
                    Field::NotApplicable,
                    format!("the condition has {length} characters, which are read for every response"),
                    format!("shorten it to {MAX_READABLE_CHARACTERS}"),
                );
            }
        }
    }

    /// One warning a rubric for long examples: what is to be done is the same for all.
    fn examples(&mut self, options: &[RubricOption]) {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut long: Option<(Field, usize)> = None;
        for (index, option) in options.iter().enumerate() {
            for (number, example) in option.examples.iter().enumerate() {
                let field = Field::Example(index, number);
                if example.trim().is_empty() {
                    self.error(field, "the example is empty", "write one or leave it out");
                    continue;
                }
                if example.trim() != example {
                    self.error(field, "the text begins or ends with white space", "remove it");
                }
                if looks_like_path(example) {
                    self.warning(
                        field,
                        format!("the example {example:?} looks like a file's path"),
                        "if it is one, put the file's text here",
                    );
                }
                if let Some(first) = seen.insert(example.as_str(), index) {
                    let (message, hint) = if first == index {
                        ("this example stands twice".to_owned(), "keep one of them")
                    } else {
                        (format!("this example stands under option {first} too"), "keep it where it belongs")
                    };
                    self.warning(field, message, hint);
                }
                let length = example.chars().count();
                if length > MAX_READABLE_CHARACTERS && long.is_none() {
                    long = Some((field, length));
                }
            }
        }
        if let Some((field, length)) = long {
            self.warning(
                field,
                format!("the example has {length} characters, which are read for every response"),
                format!("shorten examples to {MAX_READABLE_CHARACTERS}: the part that shows the level"),
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
        let mut gists: Vec<(usize, Gist)> = Vec::new();
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
                if vague(description) && !description.trim().is_empty() && placeholder(description).is_none()
                {
                    self.warning(
                        field,
                        format!("{description:?} grades, but does not say what for"),
                        "say what such a response has or lacks, so that two people would choose the same level",
                    );
                }
                if let Some(first) = texts.get(&words) {
                    self.warning(
                        field,
                        format!("this level reads like that of option {first}"),
                        "say how they differ",
                    );
                } else if !words.is_empty() {
                    texts.insert(words, index);
                    if let Some(gist) = Gist::of(description).filter(|_| index < MAX_OPTIONS) {
                        self.nearly_alike(index, &gist, &gists);
                        gists.push((index, gist));
                    }
                }
            }
        }
        self.examples(options);
        self.gap(options);
        self.direction(options);
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

impl Checks {
    fn nearly_alike(&mut self, index: usize, gist: &Gist, others: &[(usize, Gist)]) {
        let near = others.iter().find_map(|(other, before)| Some((other, before.likeness(gist)?)));
        let Some((other, likeness)) = near else { return };
        let (how, hint) = match likeness {
            Likeness::Same => (String::new(), "say how they differ".to_owned()),
            Likeness::Near(apart) => {
                let quoted: Vec<String> = apart.iter().map(|word| format!("“{word}”")).collect();
                (
                    format!(", apart from {}", quoted.join(", ")),
                    "say in plain words how they differ".to_owned(),
                )
            }
        };
        self.warning(
            Field::Description(index),
            format!("this level says nearly the same as that of option {other}{how}"),
            hint,
        );
    }

    /// A scale of numbers in even steps from which a number is missing.
    fn gap(&mut self, options: &[RubricOption]) {
        if options.len() > MAX_OPTIONS
            || options.iter().any(|option| option.label.parse() != Ok(option.value))
        {
            return;
        }
        let gaps: Vec<(f64, &RubricOption, &RubricOption)> = options
            .iter()
            .zip(options.iter().skip(1))
            .map(|(low, high)| (high.value - low.value, low, high))
            .collect();
        let Some(step) = gaps.iter().map(|(gap, ..)| *gap).reduce(f64::min).filter(|step| *step > 0.0) else {
            return;
        };
        let is_step = |gap: f64| (gap / step - 1.0).abs() < 1e-6;
        let even = gaps.iter().filter(|(gap, ..)| is_step(*gap)).count();
        // A scale such as 1, 2, 4, 8 is meant; one with a single gap among even steps is probably not.
        let mut wide = gaps.iter().filter(|(gap, ..)| !is_step(*gap));
        if let (Some((_, low, high)), None, true) = (wide.next(), wide.next(), even >= 2) {
            self.warning(
                Field::Options,
                format!(
                    "there is no level between {} and {}, where the others are {step} apart",
                    low.label, high.label
                ),
                "add the missing level, or leave it so if it is meant",
            );
        }
    }

    fn direction(&mut self, options: &[RubricOption]) {
        let (Some(first), Some(last)) = (options.first(), options.last()) else { return };
        let says = |option: &RubricOption| option.description.clone().unwrap_or_else(|| option.label.clone());
        if options.len() >= 2 && reversed(&says(first), &says(last)) {
            self.warning(
                Field::Options,
                format!(
                    "the lowest option, {:?}, sounds better than the highest, {:?}",
                    first.label, last.label
                ),
                "if so, exchange the descriptions or the values: the highest value is the best",
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
        Field::Weight => "weight",
        Field::NotApplicable => "condition",
        Field::Options => "scale",
        Field::Label(_) => "label",
        Field::Value(_) => "value",
        Field::Description(_) => "description",
        Field::Example(..) => "example",
    }
}

fn are(count: usize) -> String {
    match count {
        0 => "are none".to_owned(),
        1 => "is one".to_owned(),
        _ => format!("are {count}"),
    }
}
