//! What a task is: one small file each, the same shape for training and for examination.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use include_dir::{Dir, include_dir};
use retort_rubric::{Rubric, RubricOption, Skill, builtin, overall};
use serde::{Deserialize, Serialize};

use crate::read::ReaderSpec;

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/tasks");

/// A task: what a model reads, what it is asked, what it may answer, and where the examples come from.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Its name, which is its file's name too: lower-case letters, digits and `_`.
    pub name: String,
    /// What is judged, in a few words, for tables.
    pub title: String,
    /// Which tasks are reported together, such as `summary_consistency`; several tasks share one.
    pub family: String,
    /// The capability of FLAMe's that it belongs to.
    pub capability: Capability,
    /// What kind of judgement it is.
    pub kind: Kind,
    /// The FLASK skills that its labels say something about; may be empty.
    #[serde(default)]
    pub skills: Vec<Skill>,
    /// Whether its labels say how good the response is as a whole, so that training may ask for that too.
    #[serde(default)]
    pub overall: bool,
    /// Skills that do not apply to any of its responses, by what kind of text they are.
    #[serde(default)]
    pub not_applicable: Vec<Skill>,
    /// What may be made of its examples in training, where the right answer stays known.
    #[serde(default)]
    pub variants: Vec<Variant>,
    /// By what agreement with people is measured.
    pub metric: Metric,
    /// What is judged and how, in full: several sentences of our own.
    pub instructions: String,
    /// The same as a short question of at most 30 tokens, for models that were trained on the task. Of a pairwise task,
    /// it compares.
    pub question: String,
    /// What the model reads, in this order. Of a pairwise task the two responses follow them and are not listed.
    #[serde(default)]
    pub context: Vec<ContextField>,
    /// What may be answered, lowest value first. Empty for pairwise tasks, whose answers are `A` and `B`, and for
    /// generation.
    #[serde(default)]
    pub options: Vec<TaskOption>,
    /// How each response of a pairwise task is judged alone; required there and nowhere else.
    #[serde(default)]
    pub alone: Option<Alone>,
    /// Where the examples come from.
    pub source: Source,
    /// How they are read.
    pub reader: ReaderSpec,
}

/// A text that the model reads.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextField {
    /// The field's name: a key of [`Example::fields`](crate::Example::fields). `prompt`, `response` and `reference` are
    /// called by these names everywhere.
    pub name: String,
    /// What stands above it, without a colon. Where nothing is given: "Instruction", "Response", "Reference answer" for
    /// these three, else the name with a capital letter.
    #[serde(default)]
    pub heading: Option<String>,
    /// Whether an example may lack it.
    #[serde(default)]
    pub optional: bool,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskOption {
    /// What the model answers.
    pub label: String,
    /// What it is worth; options are ordered by it.
    pub value: f64,
    /// When to give it.
    #[serde(default)]
    pub description: Option<String>,
}

/// How a response of a pair is judged without the other: by `no` and `yes`, yes meaning good.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alone {
    /// What makes a response good here, in full.
    pub instructions: String,
    /// The same as a question of at most 30 tokens that yes answers well.
    pub question: String,
}

/// What may be made of an example whose right answer is known, so that training sees what must not sway a judge, and
/// faults that the data lack. The first five set a good response against a worse text made from it; the last three add
/// to a pair what is beside the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// Sentences that say nothing are put between its own.
    Padded,
    /// Some of its sentences come twice.
    Repeated,
    /// It breaks off.
    Truncated,
    /// A good response to another prompt, a similar one where there is one.
    Mismatched,
    /// Program text with one mistake.
    Bug,
    /// The worse response of a pair is padded until it is the longer one.
    LongerWorse,
    /// A majority is said to prefer one of the two: as often the worse as the better.
    Majority,
    /// A sentence that has nothing to do with the matter, and the name of whoever is said to have written it.
    Beside,
}

impl Variant {
    /// Its name in rows.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Padded => "padded",
            Self::Repeated => "repeated",
            Self::Truncated => "truncated",
            Self::Mismatched => "mismatched",
            Self::Bug => "bug",
            Self::LongerWorse => "longer_worse",
            Self::Majority => "majority",
            Self::Beside => "beside",
        }
    }

    /// Whether it needs the two responses of a pair, rather than one good response.
    #[must_use]
    pub fn of_pair(self) -> bool {
        matches!(self, Self::LongerWorse | Self::Majority | Self::Beside)
    }
}

/// FLAMe's capabilities (Vu et al. 2024, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// General response quality.
    GeneralQuality,
    /// Factuality and attribution.
    Factuality,
    /// Mathematical reasoning.
    Mathematics,
    /// Coding.
    Coding,
    /// Safety.
    Safety,
    /// Instruction following.
    InstructionFollowing,
}

/// FLAMe's kinds of task (Vu et al. 2024, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Which of two responses is better.
    Pairwise,
    /// How good one is, on a scale.
    Pointwise,
    /// Which of several classes.
    Classification,
    /// Text of the judge's own.
    Generation,
}

/// By what agreement is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Share of right answers; of pairs, a tie counts one half.
    Accuracy,
    /// Mean of the shares of right answers per class, at a threshold of 0.5 where there are two.
    BalancedAccuracy,
    /// Spearman's rank correlation of expected values.
    Spearman,
    /// ROUGE-L of the text with the right one.
    RougeL,
}

/// Where the examples come from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// `owner/name` of the repository, or a package's name.
    pub repository: String,
    /// Who made it: authors, title, year.
    pub paper: String,
    /// The licence of the labels, as an SPDX identifier, or `none`.
    pub licence: String,
    /// Who labelled.
    pub labels: Labels,
    /// What it may be used for.
    pub purpose: Purpose,
}

/// Who labelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Labels {
    /// People.
    Human,
    /// A program was run, or an answer compared with a known one.
    Executed,
    /// A model: never trained on.
    Model,
}

/// What a task may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Training, and a held-out part of it for examination.
    Training,
    /// Examination only.
    Evaluation,
}

/// Why a task file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct TaskError {
    /// The file.
    pub file: String,
    /// What is wrong and what to do.
    pub problem: String,
}

impl Task {
    /// Reads and checks a task file.
    ///
    /// # Errors
    /// [`TaskError`] says what is wrong and where.
    pub fn read(file: &str, text: &str) -> Result<Self, TaskError> {
        let wrong = |problem: String| TaskError { file: file.to_owned(), problem };
        let task: Self = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        task.check().map_err(wrong)?;
        Ok(task)
    }

    fn check(&self) -> Result<(), String> {
        let is_name = |text: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        if !is_name(&self.name) || !is_name(&self.family) {
            return Err("name and family must be of lower-case letters, digits and \"_\"".into());
        }
        let pairwise = self.kind == Kind::Pairwise;
        if pairwise != self.alone.is_some() {
            return Err("[alone] must be given for pairwise tasks and for no others".into());
        }
        let has_options = matches!(self.kind, Kind::Pointwise | Kind::Classification);
        if has_options == self.options.is_empty() {
            return Err(
                "options must be given for pointwise tasks and classification and for no others".into()
            );
        }
        let mut names: Vec<&str> = self.context.iter().map(|field| field.name.as_str()).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("a context field is given twice".into());
        }
        if self.context.is_empty() && !pairwise {
            return Err("there are no context fields; name at least one text that is read".into());
        }
        if self.variants.iter().any(|variant| variant.of_pair()) && !pairwise {
            return Err(
                "variants \"longer_worse\", \"majority\" and \"beside\" are for pairwise tasks".into()
            );
        }
        let response = pairwise || self.context.iter().any(|field| field.name == "response");
        if (self.overall || !self.variants.is_empty()) && !response {
            return Err("\"overall\" and \"variants\" speak of a response, and there is none".into());
        }
        for rubric in [self.rubric(), self.alone_rubric()].into_iter().flatten() {
            rubric.validate().map_err(|error| error.to_string())?;
        }
        self.reader.check(self)
    }

    /// The task's question as a rubric, its options the scale; of a pairwise task, `A` (worth 1) and `B` (worth 0).
    /// `None` for generation.
    #[must_use]
    pub fn rubric(&self) -> Option<Rubric> {
        let options = match self.kind {
            Kind::Generation => return None,
            Kind::Pairwise => vec![
                RubricOption::new("B", 0.0).described("Response B is better."),
                RubricOption::new("A", 1.0).described("Response A is better."),
            ],
            Kind::Pointwise | Kind::Classification => self
                .options
                .iter()
                .map(|option| RubricOption {
                    description: option.description.clone(),
                    ..RubricOption::new(&option.label, option.value)
                })
                .collect(),
        };
        Some(self.with(&self.instructions, &self.question, options))
    }

    /// How a response of a pair is judged alone; `None` for other tasks.
    #[must_use]
    pub fn alone_rubric(&self) -> Option<Rubric> {
        let alone = self.alone.as_ref()?;
        let options = vec![RubricOption::new("no", 0.0), RubricOption::new("yes", 1.0)];
        Some(self.with(&alone.instructions, &alone.question, options))
    }

    /// The question of a task of generation, without options; `None` for other tasks.
    #[must_use]
    pub fn text_rubric(&self) -> Option<Rubric> {
        (self.kind == Kind::Generation).then(|| self.with(&self.instructions, &self.question, Vec::new()))
    }

    /// By which rubrics training may ask about a response besides by the task's own question: the skills that its labels
    /// say something about, and the quality as a whole. None where the label is of a claim or a sentence and not of the
    /// response.
    #[must_use]
    pub fn rubrics(&self) -> Vec<&'static Rubric> {
        let names = |name: &str| self.context.iter().any(|field| field.name == name);
        let of_a_part = ["claim", "sentence", "step", "answer", "summary"].iter().any(|name| names(name));
        let response = self.kind == Kind::Pairwise || names("response");
        if of_a_part || !response || self.kind == Kind::Generation {
            return Vec::new();
        }
        skill_rubrics(&self.skills).chain(self.overall.then(overall)).collect()
    }

    /// The rubrics that do not apply to its responses; see [`not_applicable`](Self::not_applicable).
    #[must_use]
    pub fn rubrics_beside(&self) -> Vec<&'static Rubric> {
        skill_rubrics(&self.not_applicable).filter(|rubric| rubric.not_applicable.is_some()).collect()
    }

    fn with(&self, instructions: &str, question: &str, options: Vec<RubricOption>) -> Rubric {
        let tidy = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        Rubric {
            question: Some(tidy(question)),
            ..Rubric::new(&self.name, &self.title, tidy(instructions), options)
        }
    }

    /// The heading of a field.
    #[must_use]
    pub fn heading(field: &ContextField) -> String {
        if let Some(heading) = &field.heading {
            return heading.clone();
        }
        match field.name.as_str() {
            "prompt" => "Instruction".into(),
            "response" => "Response".into(),
            "reference" => "Reference answer".into(),
            name => {
                let mut letters = name.replace('_', " ").chars().collect::<Vec<_>>();
                if let Some(first) = letters.first_mut() {
                    *first = first.to_ascii_uppercase();
                }
                letters.into_iter().collect()
            }
        }
    }
}

fn skill_rubrics(skills: &[Skill]) -> impl Iterator<Item = &'static Rubric> {
    builtin().iter().filter(|rubric| skills.iter().any(|skill| skill.id() == rubric.id))
}

/// All tasks of the project, by name.
///
/// # Errors
/// The first file that is wrong; a test reads them all, so a release has none.
pub fn tasks() -> Result<&'static BTreeMap<String, Task>, TaskError> {
    static TASKS: LazyLock<Result<BTreeMap<String, Task>, TaskError>> = LazyLock::new(|| {
        let mut tasks = BTreeMap::new();
        for file in FILES.files() {
            let name = file.path().display().to_string();
            let wrong = |problem: &str| TaskError { file: name.clone(), problem: problem.to_owned() };
            let text = file.contents_utf8().ok_or_else(|| wrong("it is not UTF-8"))?;
            let task = Task::read(&name, text)?;
            if file.path().file_stem().and_then(|stem| stem.to_str()) != Some(task.name.as_str()) {
                return Err(wrong("its name must be the task's name"));
            }
            tasks.insert(task.name.clone(), task);
        }
        Ok(tasks)
    });
    TASKS.as_ref().map_err(Clone::clone)
}
