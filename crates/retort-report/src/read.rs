//! Files with judgements, and what in them could not be read.
//!
//! A file is recognised by the keys of its rows, not by its name (P25). Three kinds of row are known: Retort's own
//! record of a judgement, a FLASK review, and an instruction's labels (FLASK's evaluation set). One file may hold
//! several kinds.

mod labels;
mod lines;
mod score;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Row;
use labels::{Labels, Waiting};
pub use lines::{JsonRow, json_rows};
pub(crate) use score::skill;

/// A file's content and name.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its name, for messages. Without folders and extension it names the model whose responses were judged, where
    /// the rows don't.
    pub name: &'a str,
    /// Its bytes: JSON Lines, or one JSON array.
    pub bytes: &'a [u8],
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Reading {
    /// The judgements.
    pub rows: Vec<Row>,
    /// The files and what was in them, in the order given.
    pub files: Vec<FileSummary>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Judged prompts that no labels matched, though labels were given: each once, sorted.
    pub without_labels: Vec<String>,
    /// Labels that no judgement matched: each once, sorted.
    pub without_judgement: Vec<String>,
}

/// A file and what was in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSummary {
    /// Its name.
    pub name: String,
    /// Judgements by Retort.
    pub judgements: usize,
    /// FLASK reviews.
    pub reviews: usize,
    /// Instructions with labels.
    pub labels: usize,
    /// Rows that could not be read and were skipped.
    pub skipped: usize,
}

/// Something that could not be read, and where. It prints as `file:line:column: field: what is wrong`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The file's name.
    pub file: String,
    /// Physical line, from 1; lines end at LF only.
    pub line: usize,
    /// Column in characters, from 1, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The field; empty for the row as a whole.
    pub field: String,
    /// What is wrong and what was done.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Where a row stands, and where what is wrong with it is put down.
struct Here<'a> {
    file: &'a str,
    line: usize,
    problems: &'a mut Vec<Problem>,
}

impl Here<'_> {
    fn problem(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem {
            file: self.file.to_owned(),
            line: self.line,
            column: None,
            field: field.into(),
            message: message.into(),
        });
    }
}

/// Reads judgements from `sources` and labels from both `sources` and `labels`, and joins them: a review with the
/// labels of the same number (`question_id` or `idx`), a record of Retort with those of the instruction that has its
/// prompt's hash. Labels that a row has itself are kept.
///
/// Nothing is refused: what cannot be read is a [`Problem`] and skipped. A byte order mark, CR LF, a missing last
/// newline and one JSON array instead of lines are accepted; U+2028 and NEL do not end a line (P26, P27).
#[must_use]
pub fn read(sources: &[Source<'_>], labels: &[Source<'_>]) -> Reading {
    let mut reading = Reading::default();
    let mut known = Labels::default();
    let mut waiting: Vec<Waiting> = Vec::new();
    let names = model_names(sources);
    let all = sources.iter().zip(names.iter().map(Some)).chain(labels.iter().map(|source| (source, None)));
    for (source, model) in all {
        let mut summary =
            FileSummary { name: source.name.to_owned(), judgements: 0, reviews: 0, labels: 0, skipped: 0 };
        for line in json_rows(source.bytes) {
            let mut here = Here { file: source.name, line: line.line, problems: &mut reading.problems };
            let object = match line.value {
                Ok(Value::Object(object)) => object,
                Ok(other) => {
                    here.problem(
                        "",
                        format!("a row must be a JSON object and this is {}; skipped", kind(&other)),
                    );
                    summary.skipped += 1;
                    continue;
                }
                Err((column, message)) => {
                    here.problem("", format!("{message}; skipped"));
                    if let Some(last) = reading.problems.last_mut() {
                        last.column = column;
                    }
                    summary.skipped += 1;
                    continue;
                }
            };
            let row = match recognise(&object) {
                Some(Known::Judgement) if model.is_some() => {
                    score::judgement(&object, model, &mut here).inspect(|_| summary.judgements += 1)
                }
                Some(Known::Review) if model.is_some() => {
                    score::review(&object, model, &mut here).inspect(|_| summary.reviews += 1)
                }
                Some(Known::Judgement | Known::Labels) => {
                    if known.add(&object, &mut here) {
                        summary.labels += 1;
                    } else {
                        summary.skipped += 1;
                    }
                    continue;
                }
                Some(Known::Review) => {
                    here.problem("", "this file was given for its labels, and the row is a review; skipped");
                    None
                }
                None => {
                    let keys: Vec<&str> = object.keys().map(String::as_str).take(8).collect();
                    here.problem(
                        "",
                        format!(
                            "neither a record of Retort (verdicts), a FLASK review (question_id, score) nor labels \
                             (idx, skill, domain, difficulty); its keys are {}; skipped",
                            if keys.is_empty() { "none".to_owned() } else { keys.join(", ") }
                        ),
                    );
                    None
                }
            };
            match row {
                Some(row) => waiting.push(row),
                None => summary.skipped += 1,
            }
        }
        reading.files.push(summary);
    }
    let any_labels = !known.is_empty();
    let mut unmatched = BTreeSet::new();
    for row in waiting {
        let (row, matched) = known.join(row);
        if any_labels && !matched {
            unmatched.insert(row.id.clone());
        }
        reading.rows.push(row);
    }
    reading.without_labels = unmatched.into_iter().collect();
    reading.without_judgement = known.unused();
    reading
}

enum Known {
    Judgement,
    Review,
    Labels,
}

fn recognise(object: &Map<String, Value>) -> Option<Known> {
    let has = |key: &str| object.contains_key(key);
    let format = object.get("format").and_then(Value::as_str).unwrap_or_default();
    if format.starts_with("retort.annotation/") {
        Some(Known::Labels)
    } else if format.starts_with("retort.") || has("verdicts") {
        Some(Known::Judgement)
    } else if has("score") && (has("question_id") || has("idx")) {
        Some(Known::Review)
    } else if has("annotation") || has("difficulty") || has("domain") || has("skill") {
        Some(Known::Labels)
    } else {
        None
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Each file's name without folders and extension, or the whole of it where two files would share that.
fn model_names(sources: &[Source<'_>]) -> Vec<String> {
    let stem = |name: &str| {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        match file.rsplit_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
            _ => file.to_owned(),
        }
    };
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources {
        *uses.entry(stem(source.name)).or_default() += 1;
    }
    sources
        .iter()
        .map(|source| {
            let short = stem(source.name);
            if uses.get(&short).is_some_and(|&count| count > 1) { source.name.to_owned() } else { short }
        })
        .collect()
}

/// An id as text: 12 and "12" are the same.
fn id_of(object: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| match object.get(*key)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

/// Letters and digits only, in lower case: "Logical Robustness", "logical_robustness" and "LogicalRobustness" are one.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
