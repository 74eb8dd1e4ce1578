//! A table from a file: CSV, TSV, JSON or JSON Lines, with the physical line of every cell.

use std::collections::BTreeMap;

use retort_report::{JsonRow, json_rows};
use serde_json::Value;

use super::AgreeError;

/// A table of texts.
#[derive(Debug)]
pub(super) struct Table {
    /// The columns' names, in the order of the file.
    pub(super) columns: Vec<String>,
    /// The rows.
    pub(super) rows: Vec<Row>,
    /// What could not be read.
    pub(super) problems: Vec<Problem>,
}

/// A row.
#[derive(Debug)]
pub(super) struct Row {
    /// One for each column.
    pub(super) cells: Vec<Cell>,
}

/// A cell and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    /// Physical line, from 1.
    pub(super) line: usize,
    /// What is in it.
    pub(super) content: Content,
}

/// What is in a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// Nothing: empty, "N/A" or null.
    Missing,
    /// A text, or a number as it is written.
    Text(String),
    /// Something that cannot be a label.
    Other(&'static str),
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(super) struct Problem {
    /// Physical line, from 1.
    pub(super) line: usize,
    /// The column's name, where it is about one.
    pub(super) column: Option<String>,
    /// What is wrong and what was done.
    pub(super) message: String,
}

impl Problem {
    /// The problem for people.
    pub(super) fn print(&self, file: &str) -> String {
        let column = self.column.as_ref().map_or_else(String::new, |column| format!(" column {column:?}:"));
        format!("{file}:{}:{column} {}", self.line, self.message)
    }
}

impl Content {
    /// What a text in a file means.
    fn of(text: &str) -> Self {
        let trimmed = text.trim();
        if ["", "n/a", "na", "nan", "null"].contains(&trimmed.to_lowercase().as_str()) {
            Self::Missing
        } else {
            Self::Text(text.to_owned())
        }
    }
}

impl Table {
    /// Reads a file. What it is, is told by its first character: `[` or `{` begin JSON.
    pub(super) fn read(bytes: &[u8], file: &str) -> Result<Self, AgreeError> {
        // A byte order mark is no part of the first column's name (P26).
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let table = match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None => return Err(AgreeError::Empty(file.to_owned())),
            Some(b'[' | b'{') => of_json(bytes),
            Some(_) => of_csv(bytes, file)?,
        };
        if table.rows.is_empty() {
            return Err(AgreeError::Empty(file.to_owned()));
        }
        Ok(table)
    }
}

/// The byte between cells: whichever of tab, comma and semicolon is most often in the first line, outside quotes.
fn delimiter(bytes: &[u8]) -> u8 {
    let mut counts = [(b',', 0), (b'\t', 0), (b';', 0)];
    let mut quoted = false;
    for &byte in bytes {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => break,
            _ if quoted => {}
            _ => {
                for (delimiter, count) in &mut counts {
                    *count += usize::from(byte == *delimiter);
                }
            }
        }
    }
    // The first of equals: a comma.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(delimiter, _)| delimiter)
}

fn of_csv(bytes: &[u8], file: &str) -> Result<Table, AgreeError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter(bytes))
        .from_reader(bytes);
    let bad = |line: usize, what: String| AgreeError::Table { file: file.to_owned(), line, what };
    let mut columns: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    let mut problems = Vec::new();
    let mut lines = LineCounter { bytes, at: 0, line: 1 };
    let mut record = csv::ByteRecord::new();
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(bad(lines.line, error.to_string())),
        }
        let start = record.position().map_or(0, csv::Position::byte);
        let line = lines.of_record(usize::try_from(start).unwrap_or(usize::MAX));
        if columns.is_empty() {
            for field in &record {
                let name = std::str::from_utf8(field).map_err(|_| {
                    bad(line, "the columns' names are not UTF-8; save the file as UTF-8".into())
                })?;
                columns.push(name.trim().to_owned());
            }
            continue;
        }
        if record.len() > columns.len() {
            let message = format!(
                "the row has {} cells and there are {} columns; those beyond are left out",
                record.len(),
                columns.len()
            );
            problems.push(Problem { line, column: None, message });
        }
        // Line ends within cells move what comes after them down (P32).
        let mut below = 0;
        let mut cells = Vec::with_capacity(columns.len());
        for index in 0..columns.len() {
            let field = record.get(index).unwrap_or_default();
            let content = std::str::from_utf8(field).map_or(Content::Other("not UTF-8"), Content::of);
            cells.push(Cell { line: line + below, content });
            below += field.iter().filter(|&&byte| byte == b'\n').count();
        }
        rows.push(Row { cells });
    }
    Ok(Table { columns, rows, problems })
}

/// Physical lines of rising places in a file.
struct LineCounter<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// The line on which the record from `start` has its first character; empty lines before it do not count as part
    /// of it.
    fn of_record(&mut self, start: usize) -> usize {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let blank = rest.iter().take_while(|&&byte| byte == b'\n' || byte == b'\r').count();
        let start = (start + blank).min(self.bytes.len());
        let between = self.bytes.get(self.at..start).unwrap_or_default();
        self.line += between.iter().filter(|&&byte| byte == b'\n').count();
        self.at = start;
        self.line
    }
}

fn of_json(bytes: &[u8]) -> Table {
    let mut columns: Vec<String> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut rows: Vec<(usize, Vec<(usize, Content)>)> = Vec::new();
    let mut problems = Vec::new();
    for JsonRow { line, value } in json_rows(bytes) {
        let object = match value {
            Ok(Value::Object(object)) => object,
            Ok(_) => {
                let message = "a row must be a JSON object; skipped".to_owned();
                problems.push(Problem { line, column: None, message });
                continue;
            }
            Err((_, message)) => {
                problems.push(Problem { line, column: None, message: format!("{message}; skipped") });
                continue;
            }
        };
        let mut cells = Vec::new();
        for (key, value) in object {
            flatten(key, value, 0, &mut |name, content| {
                let place = *places.entry(name.clone()).or_insert_with(|| {
                    columns.push(name);
                    columns.len() - 1
                });
                cells.push((place, content));
            });
        }
        rows.push((line, cells));
    }
    let rows = rows
        .into_iter()
        .map(|(line, found)| {
            let mut cells = vec![Cell { line, content: Content::Missing }; columns.len()];
            for (place, content) in found {
                if let Some(cell) = cells.get_mut(place) {
                    cell.content = content;
                }
            }
            Row { cells }
        })
        .collect();
    Table { columns, rows, problems }
}

/// How deep objects within a row are columns of their own, such as `score.readability`.
const DEEPEST: usize = 4;

fn flatten(name: String, value: Value, depth: usize, add: &mut dyn FnMut(String, Content)) {
    match value {
        Value::Object(object) if depth < DEEPEST => {
            for (key, value) in object {
                flatten(format!("{name}.{key}"), value, depth + 1, add);
            }
        }
        Value::Null => add(name, Content::Missing),
        Value::String(text) => add(name, Content::of(&text)),
        Value::Number(number) => add(name, Content::Text(number.to_string())),
        Value::Bool(truth) => add(name, Content::Text(truth.to_string())),
        Value::Array(_) => add(name, Content::Other("a list")),
        Value::Object(_) => add(name, Content::Other("an object")),
    }
}
