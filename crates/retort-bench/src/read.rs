//! From public files to [`Example`]s: declaratively where a file allows it, by code where not.

pub mod code;
mod spec;

use std::path::PathBuf;

pub use spec::{Filter, Format, LabelSpec, ReaderSpec};

use crate::{DataDir, DataError, Example, Problem, Task};

/// An example, or what is wrong with a row.
pub type Item = Result<Example, Problem>;

/// What a reading came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Rows of the files that were looked at.
    pub rows: usize,
    /// Examples made of them.
    pub examples: usize,
    /// Rows that could not be read.
    pub problems: usize,
}

/// What is needed to read a task's files.
#[derive(Debug)]
pub struct Reading<'a> {
    /// The task.
    pub task: &'a Task,
    /// The folder of its repository.
    pub folder: PathBuf,
}

/// Reads a task's examples one by one, in the order of its files.
///
/// Rows that cannot be read are handed on as problems and skipped. Which rows are one example, and in what order they
/// come, never changes between readings of the same files.
///
/// # Errors
/// [`DataError`] where a file is absent or is not in the form expected at all.
pub fn read(task: &Task, data: &DataDir, each: &mut dyn FnMut(Item)) -> Result<Counts, DataError> {
    let folder = data.repository_for(&task.source.repository, task.source.purpose)?;
    let reading = Reading { task, folder };
    let mut counts = Counts::default();
    let mut counted = |item: Item| {
        match &item {
            Ok(_) => counts.examples += 1,
            Err(_) => counts.problems += 1,
        }
        each(item);
    };
    let rows = match &task.reader.code {
        Some(name) => code::read(name, &reading, &mut counted)?,
        None => spec::read(&reading, &mut counted)?,
    };
    counts.rows = rows;
    Ok(counts)
}
