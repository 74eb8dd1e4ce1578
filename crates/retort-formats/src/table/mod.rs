//! Files of examples as one [`Table`]: CSV, TSV, JSON and JSON Lines, read and written.
//!
//! 1. [`read`] takes bytes apart into rows. UTF-8 is read, and UTF-16 where it has a byte-order mark. JSON may be a list
//!    of objects, an object of them by id, or an object that holds one list of them. Fields of objects within a row
//!    become columns of their own, with dots: `score.readability`. A row that cannot be read is a [`Fault`], and only
//!    that row is left out.
//! 2. Keys that a known tool writes give the table its [`Shape`].
//! 3. Conversations (lists of messages, of turns, of choices) get a column beside them in which they are readable text.
//! 4. [`Table::roles`] says which column most likely is the prompt, the response and so on: a suggestion.
//!
//! [`write()`] is the way back: what it writes, [`read`] reads with the same values in every column.
//!
//! In CSV and TSV nothing tells an empty text from no text: both are read as none.

mod bytes;
mod chat;
mod comparator;
mod csv;
mod json;
mod shape;
mod write;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

pub use comparator::{ComparatorError, llm_comparator};
pub use shape::Shape;
pub use write::write;

/// A file of examples. As data it has the shape that the page and other programs read: `{container, shape, columns,
/// rows: [{line, values}], faults: [{line, message}], roles: {prompt: "column", …}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// What the file is.
    pub container: Container,
    /// The kind of file that its keys show; `None` where they are those of none that is known.
    pub shape: Option<Shape>,
    /// The columns' names, each once, in the order of their first appearance. Columns that were derived from a
    /// conversation come last.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<TableRow>,
    /// Rows that could not be read, in the order of the file.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// Which column most likely is what; no column twice.
    #[serde(default, deserialize_with = "given")]
    pub roles: BTreeMap<Role, String>,
}

/// A row of a [`Table`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRow {
    /// The physical line that it begins on, from 1.
    pub line: usize,
    /// One per column. Numbers as they are written in the file; lists and objects as JSON without white space.
    pub values: Vec<Option<String>>,
}

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The physical line, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

/// What a file of examples is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Container {
    /// Comma-separated values; semicolons are read too.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// One JSON value.
    Json,
    /// One JSON object on each line.
    Jsonl,
}

impl Container {
    /// The name used in data and as a file's extension.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
        }
    }

    /// The container with this [`id`](Self::id), if there is one.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        [Self::Csv, Self::Tsv, Self::Json, Self::Jsonl].into_iter().find(|container| container.id() == id)
    }
}

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// What tells examples apart.
    Id,
    /// What was asked.
    Prompt,
    /// The system prompt.
    System,
    /// What was answered.
    Response,
    /// A second response to the same prompt.
    ResponseB,
    /// A reference answer.
    Reference,
    /// What a person said of the response: a score, or which of two is better.
    Human,
    /// Whose response it is.
    Model,
    /// The subject.
    Domain,
    /// How difficult it is.
    Difficulty,
    /// The skills that it takes.
    Skills,
}

/// Why nothing was read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// There are no rows.
    #[error(
        "{file} has no rows; give CSV or TSV with a line of column names and a line for each example, a JSON list of \
         objects, or JSON Lines"
    )]
    Empty {
        /// The file's name.
        file: String,
    },
    /// It is something else than a text with rows.
    #[error("{file}:{line}: {what}")]
    Refused {
        /// The file's name.
        file: String,
        /// Physical line, from 1.
        line: usize,
        /// What is wrong, and what to do.
        what: String,
    },
}

/// Most columns that objects are taken apart into, and most that a file of JSON may have.
const MAX_COLUMNS: usize = 1000;

/// Reads a file of examples. `name` is the file's name: it serves messages, and its extension decides only what
/// nothing else does (whether a single column is CSV or TSV, and a single object JSON or JSON Lines).
///
/// # Errors
/// A file without rows, one that is no text, a JSON value that holds no rows, or rows whose keys have next to nothing
/// in common.
pub fn read(bytes: &[u8], name: &str) -> Result<Table, TableError> {
    let text = bytes::decode(bytes, name)?;
    let mut table = if json::is_json(&text) { json::read(&text, name)? } else { csv::read(&text, name)? };
    if table.rows.is_empty() && table.faults.is_empty() {
        return Err(TableError::Empty { file: name.to_owned() });
    }
    table.faults.sort_by_key(|fault| fault.line);
    table.shape = shape::recognise(&table);
    let derived = chat::derive(&table);
    table.roles = shape::roles(&table, &derived);
    for column in derived {
        if table.columns.contains(&column.name) {
            continue;
        }
        table.columns.push(column.name);
        for (row, value) in table.rows.iter_mut().zip(column.values) {
            row.values.push(value);
        }
    }
    Ok(table)
}

impl Table {
    /// A table with columns and without rows.
    fn new(container: Container, columns: Vec<String>) -> Self {
        Self { container, shape: None, columns, rows: Vec::new(), faults: Vec::new(), roles: BTreeMap::new() }
    }

    /// The place of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The place of the column that has this part.
    #[must_use]
    pub fn place(&self, role: Role) -> Option<usize> {
        self.column(self.roles.get(&role)?)
    }
}

impl TableRow {
    /// The value in a column.
    #[must_use]
    pub fn get(&self, column: usize) -> Option<&str> {
        self.values.get(column)?.as_deref()
    }
}

/// JavaScript may say `undefined` or `null` for a part that no column has.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Role, String>, D::Error> {
    let roles = BTreeMap::<Role, Option<String>>::deserialize(deserializer)?;
    Ok(roles.into_iter().filter_map(|(role, column)| Some((role, column?))).collect())
}

/// Physical lines of rising places in a file.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    end: u8,
}

impl<'a> Lines<'a> {
    /// Lines end at LF. Only a file without a single LF has its lines end at CR.
    fn new(bytes: &'a [u8]) -> Self {
        let end = if bytes.contains(&b'\n') { b'\n' } else { b'\r' };
        Self { bytes, at: 0, line: 1, end }
    }

    /// The line of a place that is not before the last one asked for.
    fn of(&mut self, place: usize) -> usize {
        let place = place.clamp(self.at, self.bytes.len());
        let between = self.bytes.get(self.at..place).unwrap_or_default();
        self.line += between.iter().filter(|&&byte| byte == self.end).count();
        self.at = place;
        self.line
    }
}
