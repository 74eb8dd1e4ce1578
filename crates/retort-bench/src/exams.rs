//! The exams by name.

use std::collections::BTreeSet;

use retort_stats::SplitMix64;

use crate::pair::Ways;
use crate::protocol::pairs::Pairs;
use crate::protocol::{Gathered, ProtocolError, gather};
use crate::{DataDir, Exam, Example, Problem};

/// How an exam is put together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExamOptions {
    /// How a judge is asked.
    pub ways: Ways,
    /// At most so many items, in an order drawn by the seed.
    pub limit: Option<usize>,
    /// The seed.
    pub seed: u64,
    /// A file in place of the exam's own data, where the exam takes one.
    pub file: Option<std::path::PathBuf>,
}

/// An exam that can be held.
pub struct Opened {
    /// The exam.
    pub exam: Box<dyn Exam>,
    /// Rows of its data that could not be read.
    pub problems: Vec<Problem>,
}

/// An exam's entry.
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it measures, in a sentence.
    pub about: &'static str,
    open: fn(&DataDir, &ExamOptions) -> Result<Opened, OpenError>,
}

/// Why an exam cannot be held.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is none of this name.
    #[error("there is no exam \"{name}\"; there are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// All names.
        known: String,
    },
    /// It cannot be made from the data.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The exam cannot be held as asked.
    #[error("{name}: {problem}")]
    Cannot {
        /// The exam.
        name: String,
        /// What stands in the way and what to do.
        problem: String,
    },
}

impl Entry {
    /// Reads the exam's data.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(&self, data: &DataDir, options: &ExamOptions) -> Result<Opened, OpenError> {
        (self.open)(data, options)
    }
}

/// All exams.
pub const EXAMS: &[Entry] = &[
    Entry {
        name: "llmbar",
        about: "LLMBar: which of two responses does what the instruction says (419 pairs, by subset)",
        open: |data, options| pairs("llmbar", data, options),
    },
    Entry {
        name: "humanevalpack",
        about: "HumanEvalPack: the right program against one with a bug (984 pairs, by language)",
        open: |data, options| pairs("humanevalpack", data, options),
    },
    Entry {
        name: "hhh",
        about: "HHH: helpful, honest and harmless answers (221 pairs, by category)",
        open: |data, options| pairs("hhh", data, options),
    },
    Entry {
        name: "pandalm",
        about: "PandaLM: three people's preferences (999 pairs, two-way and three-way)",
        open: |data, options| pairs("pandalm", data, options),
    },
];

/// A pairwise task as an exam.
fn pairs(name: &str, data: &DataDir, options: &ExamOptions) -> Result<Opened, OpenError> {
    let Gathered { task, examples, problems } = gather(name, data)?;
    let exam = Pairs::new(task, limited(examples, options), options.ways.clone())?;
    Ok(Opened { exam: Box::new(exam), problems })
}

/// So many examples as are wanted, drawn by the seed, in the order of the files.
fn limited(examples: Vec<Example>, options: &ExamOptions) -> Vec<Example> {
    let Some(limit) = options.limit.filter(|&limit| limit < examples.len()) else { return examples };
    let mut drawn: Vec<(u64, usize)> = examples
        .iter()
        .enumerate()
        .map(|(index, example)| (priority(options.seed, &example.id), index))
        .collect();
    drawn.sort_unstable();
    drawn.truncate(limit);
    let chosen: BTreeSet<usize> = drawn.into_iter().map(|(_, index)| index).collect();
    examples
        .into_iter()
        .enumerate()
        .filter(|(index, _)| chosen.contains(index))
        .map(|(_, example)| example)
        .collect()
}

/// A number that depends on nothing but seed and id, so that a larger limit takes the same examples and more.
fn priority(seed: u64, id: &str) -> u64 {
    id.bytes().fold(SplitMix64::new(seed).next_u64(), |hash, byte| {
        SplitMix64::new(hash ^ u64::from(byte)).next_u64()
    })
}

/// The exam of this name.
///
/// # Errors
/// [`OpenError::Unknown`].
pub fn exam(name: &str) -> Result<&'static Entry, OpenError> {
    EXAMS.iter().find(|entry| entry.name == name).ok_or_else(|| OpenError::Unknown {
        name: name.to_owned(),
        known: EXAMS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
    })
}
