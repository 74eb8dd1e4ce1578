//! The evaluation sets that are no tasks: their texts, so that training can stay clear of them.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

use super::overlap::Role;
use crate::{DataDir, DataError, Purpose};

/// Takes the texts of a set, one by one.
pub type EachText<'a> = dyn FnMut(Role, &str) + 'a;

/// An evaluation set that has no task file.
#[derive(Debug, Clone, Copy)]
pub struct EvaluationSource {
    /// Its name in reports.
    pub name: &'static str,
    /// Reads its texts.
    pub read: fn(&DataDir, &mut EachText<'_>) -> Result<(), DataError>,
}

/// All of them. A new evaluation set without a task file is one more line here.
pub const SOURCES: &[EvaluationSource] = &[EvaluationSource { name: "human_eval", read: human_eval }];

fn human_eval(data: &DataDir, each: &mut EachText<'_>) -> Result<(), DataError> {
    let repository = "openai/human-eval";
    let folder = data.repository_for(repository, Purpose::Evaluation)?;
    lines(&folder, repository, "data/HumanEval.jsonl.gz", &mut |row| {
        each(Role::Given, text(row, "prompt")?);
        each(Role::Response, text(row, "canonical_solution")?);
        Ok(())
    })
}

fn text<'a>(row: &'a Value, column: &str) -> Result<&'a str, String> {
    row.get(column).and_then(Value::as_str).ok_or_else(|| format!("there is no text \"{column}\""))
}

fn open(folder: &Path, repository: &str, name: &str) -> Result<Box<dyn BufRead>, DataError> {
    let file = File::open(folder.join(name))
        .map_err(|_| DataError::NoFile { repository: repository.to_owned(), file: name.to_owned() })?;
    let reader: Box<dyn Read> =
        if name.ends_with(".gz") { Box::new(GzDecoder::new(file)) } else { Box::new(file) };
    Ok(Box::new(BufReader::new(reader)))
}

/// One object per line. A line that cannot be read is an error: a text that is left out could be trained on.
fn lines(
    folder: &Path,
    repository: &str,
    name: &str,
    each: &mut dyn FnMut(&Value) -> Result<(), String>,
) -> Result<(), DataError> {
    for (number, line) in (1..).zip(open(folder, repository, name)?.lines()) {
        let line = line
            .map_err(|error| DataError::Unreadable { file: name.to_owned(), problem: error.to_string() })?;
        if line.trim().is_empty() {
            continue;
        }
        let outcome = serde_json::from_str(&line).map_err(|error| error.to_string());
        outcome.and_then(|row: Value| each(&row)).map_err(|problem| DataError::Form {
            file: format!("{name}:{number}"),
            problem: format!("{problem}; every text of an evaluation set must be known before training"),
        })?;
    }
    Ok(())
}
