//! The exams by name.

use crate::pair::Ways;
use crate::{DataDir, DataError, Exam, Problem, TaskError};

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
    /// Its data are not there, or not in the form expected.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A task file of ours is wrong.
    #[error(transparent)]
    Task(#[from] TaskError),
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
pub const EXAMS: &[Entry] = &[];

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
