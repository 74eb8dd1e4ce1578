//! Rubrics of other tools, read into [`Rubric`]s and written back.
//!
//! | [`Source`] | what it looks like | as a rubric |
//! |---|---|---|
//! | Prometheus, BiGGen | `score_rubric` {`criteria`, `score1_description` … `score5_description`}, the same keys with `orig_` before them, or a text: `[criteria]`, then lines `Score 1: …` | 1 to 5 |
//! | EvalAssist | `name`, `description` (once `criteria`), `options` [{`name`, `description`, `score`}]; alone, under `criteria`, or as `items` [{`criterion`, `weight`}] | an option each, lowest score first |
//! | Kiln | `name`, `instruction`, `type`: `five_star`, `pass_fail`, `pass_fail_critical`; alone, or under `output_scores` or `requirements` | 1 to 5; fail 0, pass 1; critical −1, fail 0, pass 1 |
//! | deepeval | G-Eval's `name`, `criteria` or `evaluation_steps`, `rubric` [{`score_range`, `expected_outcome`}] | an option for each range, worth its middle; 0 to 10 without ranges |
//! | HealthBench | `rubrics` [{`criterion`, `points`, `tags`}] | no 0, yes 1, with the points as weight |
//! | ragas | `rubrics` {`score1_description`, …}, without a criterion | the numbers given |
//!
//! Where these facts come from: prometheus-eval's `prompts.py` (SCORE_RUBRIC_TEMPLATE) and the Feedback Collection's
//! columns; EvalAssist's `judges/types.py` (Criteria, CriteriaOption, MultiCriteria) and unitxt's `option_map`; Kiln's
//! `datamodel/eval.py` (EvalOutputScore) and `datamodel/task.py` (TaskRequirement); deepeval's
//! `metrics/g_eval/utils.py` (Rubric); simple-evals' `healthbench_eval.py` (RubricItem); ragas' documentation of
//! rubric-based metrics.
//!
//! These formats know nothing of a rubric's `id`, `ability` and `question`, which [`export`] leaves out; what else one
//! of them cannot say, it refuses, with the reason. What a file says of a rubric beyond what a [`Rubric`] holds is
//! [`Imported::kept`], and [`export_keeping`] writes it back.

mod block;
mod read;
mod write;

use std::collections::BTreeSet;
use std::fmt;

use retort_rubric::{Diagnostic, ReadError, Rubric};

pub use read::{import, recognise};
pub use write::{ExportError, Refusal, export, export_keeping};

/// The format of a file of rubrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// Prometheus and BiGGen, as JSON.
    Prometheus,
    /// Prometheus' rubric as it stands in a prompt.
    PrometheusText,
    /// EvalAssist's criteria.
    EvalAssist,
    /// Kiln's output scores and requirements.
    Kiln,
    /// deepeval's G-Eval.
    DeepEval,
    /// HealthBench's rubric items.
    HealthBench,
    /// ragas' rubrics.
    Ragas,
}

/// What rubrics can be written as: each format that can be read.
pub type Target = Source;

impl Source {
    /// All formats.
    pub const ALL: [Self; 7] = [
        Self::Prometheus,
        Self::PrometheusText,
        Self::EvalAssist,
        Self::Kiln,
        Self::DeepEval,
        Self::HealthBench,
        Self::Ragas,
    ];

    /// The name used on the command line, such as `prometheus`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Prometheus => "prometheus",
            Self::PrometheusText => "prometheus-text",
            Self::EvalAssist => "evalassist",
            Self::Kiln => "kiln",
            Self::DeepEval => "deepeval",
            Self::HealthBench => "healthbench",
            Self::Ragas => "ragas",
        }
    }

    /// The format with this [`id`](Self::id), if there is one.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.id() == id)
    }
}

impl fmt::Display for Source {
    /// The name shown to people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Prometheus => "Prometheus",
            Self::PrometheusText => "Prometheus (text)",
            Self::EvalAssist => "EvalAssist",
            Self::Kiln => "Kiln",
            Self::DeepEval => "deepeval",
            Self::HealthBench => "HealthBench",
            Self::Ragas => "ragas",
        })
    }
}

/// What a file of another tool holds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Imported {
    /// Its format.
    pub source: Source,
    /// The rubrics in the file's order, at least one; each passes [`Rubric::check`], no id stands twice. Rubrics that
    /// say the same, as in a file with one row for each response, are read once.
    pub rubrics: Vec<Rubric>,
    /// What is doubtful, in the file's order. One of severity error says why an entry was skipped.
    pub warnings: Vec<Diagnostic>,
    /// What the file says of a rubric that a [`Rubric`] does not hold.
    pub kept: Vec<Kept>,
    /// Fields that stand beside the rubrics and are no part of them, such as `instruction` or `prompt`.
    pub beside: BTreeSet<String>,
}

/// Fields of one rubric that a [`Rubric`] has no place for, such as HealthBench's `tags`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Kept {
    /// The format that they belong to.
    pub source: Source,
    /// The rubric's id.
    pub rubric: String,
    /// The fields as they were.
    pub fields: serde_json::Map<String, serde_json::Value>,
}

/// Why nothing was read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The keys are those of no known format.
    #[error(
        "{file}: this is no file of rubrics that is known{}; known are Prometheus and BiGGen, EvalAssist, Kiln, \
         deepeval, HealthBench and ragas, and this program's own TOML and JSON", found(.keys)
    )]
    Unknown {
        /// The file's name.
        file: String,
        /// The keys of its first entry, at most ten.
        keys: Vec<String>,
    },
    /// It is no valid JSON, or none of its rubrics can be used.
    #[error(transparent)]
    Refused(#[from] ReadError),
}

fn found(keys: &[String]) -> String {
    if keys.is_empty() { String::new() } else { format!(" (its keys are {})", keys.join(", ")) }
}
