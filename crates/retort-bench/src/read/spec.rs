//! The declarative reader: which files, which columns, which labels.

mod check;
pub(in crate::read) mod files;
pub(in crate::read) mod json;
mod label;
mod row;
pub(in crate::read) mod table;

use std::collections::BTreeMap;
use std::io::BufRead;

use calamine::{Data, Reader as _, Xlsx};
use serde::Deserialize;

use super::{Item, Reading};
use crate::DataError;
use files::Found;
use json::Json;
use row::{At, Cells, Maker};
use table::Records;

/// The `[reader]` of a task file.
///
/// A *column* is a column's name in CSV, TSV and XLSX files and a path in JSON: keys and list positions joined by dots
/// (`choices.0.text`), `*` for every element of a list or table (`raters.*.label`). Two columns exist everywhere:
/// `$file`, the file's name without folders and extension, and `$row`, the row's number from 1.
///
/// Numbers, `true` and `false` in JSON are the texts that JSON writes for them; where a text is compared with one in the
/// task file (labels, conditions), `1.0` is also `1`. Texts are taken as they are; one that is required must have more
/// than white space. Ids are the file's name and the row's number (and the element's): `data/a.csv#12`,
/// `data/b.json#3.1`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReaderSpec {
    /// The files, relative to the repository; `*` stands for any characters within one name (a file whose name begins
    /// with a dot is not meant). Those of one pattern are read in sorted order.
    pub files: Vec<String>,
    /// Their form; where nothing is given, by their extension (`.gz` is unpacked first).
    pub format: Option<Format>,
    /// Where the list of rows is in a JSON document: a path; nothing for the document itself. A table in place of a list
    /// gives its values, in the file's order, with the key as the column `$key`.
    pub rows: Option<String>,
    /// A list inside each row that makes one example per element; the element's columns are written `.column`, and `.` is
    /// the element itself.
    pub each: Option<String>,
    /// Column by the context field's name. Required for all fields that are not optional. A list of texts in JSON
    /// becomes lines.
    pub fields: BTreeMap<String, String>,
    /// The columns of the two responses of a pair.
    pub responses: Vec<String>,
    /// The column whose text rows are split by (prompt, question or document). Nothing: the text of the field `prompt`,
    /// or where there is none that of the first context field.
    pub group: Option<String>,
    /// The column of the part of the data that a row belongs to.
    pub subset: Option<String>,
    /// Column by the name of an extra value.
    pub extra: BTreeMap<String, String>,
    /// Where the label is.
    pub label: Option<LabelSpec>,
    /// Rows that are taken; all conditions must hold.
    pub only: Vec<Filter>,
    /// Rows with the same texts become one example, its target the mean of theirs, in which each rater counts the same;
    /// everything else is that of the first of them. They are handed on when all files have been read.
    pub merge: bool,
    /// The name of a reader in code, in place of everything above but `files`.
    pub code: Option<String>,
    /// How many examples the public files give: a check that a reading is whole.
    pub examples: Option<usize>,
}

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Comma-separated, with a line of names.
    Csv,
    /// Tab-separated with quotes, with a line of names.
    Tsv,
    /// Tab-separated without any quoting, with a line of names.
    RawTsv,
    /// One document.
    Json,
    /// One object per line.
    Jsonl,
    /// The first sheet of a workbook, with a line of names.
    Xlsx,
}

/// What people said, in one or several columns.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LabelSpec {
    /// The columns, one rater's label in each; empty cells are raters who said nothing. A column that is a list in JSON
    /// has one rater's label in each element.
    pub columns: Vec<String>,
    /// The option's label (of a pair: `first`, `second` or `tie`) by the cell's text, after trimming. A text that is
    /// not here is a problem of its row, but for those in `skip`. Nothing: the text is the option's label itself.
    pub map: BTreeMap<String, String>,
    /// Texts whose rater is taken for one who said nothing. A row of which no rater said anything is left out without a
    /// problem where one of its cells is such a text, and is a problem where all are empty; `""` here leaves those out too.
    pub skip: Vec<String>,
    /// The cell is a number on a scale: `[lowest, highest]` of the file's scale, laid onto the lowest and highest value
    /// of the task's options; between two options it is shared between them in proportion. A scale whose highest number is
    /// the worst is written with the highest first.
    pub range: Option<[f64; 2]>,
    /// The text after the last such mark is what counts, or with `before:` that before the first.
    pub after: Option<String>,
    /// For generation: the column of the right text.
    pub text: Option<String>,
}

/// A condition on a row.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// The column.
    pub column: String,
    /// It is one of these.
    #[serde(default)]
    pub is: Vec<String>,
    /// It is none of these.
    #[serde(default)]
    pub not: Vec<String>,
}

impl ReaderSpec {
    /// The form of a file, or of the files of a pattern.
    fn format_of(&self, name: &str) -> Option<Format> {
        if self.format.is_some() {
            return self.format;
        }
        let (_, extension) = name.strip_suffix(".gz").unwrap_or(name).rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "csv" => Some(Format::Csv),
            "tsv" => Some(Format::Tsv),
            "json" => Some(Format::Json),
            "jsonl" => Some(Format::Jsonl),
            "xlsx" => Some(Format::Xlsx),
            _ => None,
        }
    }
}

/// Reads the task's files. Gives the number of rows.
pub(super) fn read(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let spec = &reading.task.reader;
    let files = files::find(&reading.folder, &reading.task.source.repository, &spec.files)?;
    let mut maker = Maker::new(reading.task, each);
    for file in &files {
        match spec.format_of(&file.name) {
            Some(Format::Csv) => records(file, Records::quoted(file.open()?, b','), &mut maker)?,
            Some(Format::Tsv) => records(file, Records::quoted(file.open()?, b'\t'), &mut maker)?,
            Some(Format::RawTsv) => records(file, Records::raw(file.open()?, b'\t'), &mut maker)?,
            Some(Format::Xlsx) => workbook(file, &mut maker)?,
            Some(Format::Jsonl) => lines(file, &mut maker)?,
            Some(Format::Json) => document(file, &mut maker)?,
            None => return Err(form(file, "its extension does not tell its form; give reader.format")),
        }
    }
    Ok(maker.finish())
}

fn form(file: &Found, problem: impl Into<String>) -> DataError {
    DataError::Form { file: file.name.clone(), problem: problem.into() }
}

/// Where the columns that are looked up stand in a line of names; `None` for those that may be absent and are.
fn places<'a>(
    file: &Found,
    names: &[String],
    maker: &Maker<'a, '_>,
) -> Result<Vec<(&'a str, usize)>, DataError> {
    let mut places = Vec::new();
    for (column, optional) in maker.columns() {
        let mut at = names.iter().enumerate().filter(|(_, name)| *name == column).map(|(at, _)| at);
        match (at.next(), at.next()) {
            (Some(place), None) => places.push((column, place)),
            (None, _) if optional => {}
            (None, _) => {
                let names = names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
                return Err(form(file, format!("it has no column {column:?}; there are {names}")));
            }
            (Some(_), Some(_)) => {
                return Err(form(
                    file,
                    format!("it has the column {column:?} twice; which is meant is not known"),
                ));
            }
        }
    }
    Ok(places)
}

/// A table in text.
fn records<R: BufRead>(
    file: &Found,
    mut records: Records<R>,
    maker: &mut Maker<'_, '_>,
) -> Result<(), DataError> {
    let mut next = || records.next().map_err(|error| file.unreadable(&error));
    let Some(first) = next()? else {
        return Err(form(file, "it is empty; its first line must name the columns"));
    };
    let names: Vec<String> =
        first.cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
    let places = places(file, &names, maker)?;
    let mut number = 0;
    while let Some(record) = next()? {
        number += 1;
        maker.row();
        let problem = if record.unclosed {
            Some("a quote is opened and never closed, so the row runs to the end of the file".to_owned())
        } else if record.cells.len() != names.len() {
            Some(format!("it has {} columns where the line of names has {}", record.cells.len(), names.len()))
        } else {
            None
        };
        let cells = problem.map_or_else(
            || {
                let mut cells = Vec::with_capacity(places.len());
                for &(column, place) in &places {
                    let text = std::str::from_utf8(&record.cells[place])
                        .map_err(|_| format!("column {column:?} is not UTF-8"))?;
                    cells.push((column, text.to_owned()));
                }
                Ok(cells)
            },
            Err,
        );
        match cells {
            Ok(cells) => maker.make(&At::new(file, number, record.line, Cells::Named(&cells))),
            Err(problem) => maker.problem(&file.name, record.line, &problem),
        }
    }
    Ok(())
}

/// The rows of a workbook's first sheet that are not empty.
pub(in crate::read) fn sheet_rows(file: &Found) -> Result<Vec<SheetRow>, DataError> {
    let bytes = file.bytes()?;
    // calamine adds up the digits of a cell's place unchecked, which in a build with checks panics on a hostile place.
    std::panic::catch_unwind(|| sheet(bytes))
        .unwrap_or_else(|_| Err("its cells are at impossible places".to_owned()))
        .map_err(|problem| form(file, format!("it cannot be read as a workbook: {problem}")))
}

/// The first sheet of a workbook.
fn workbook(file: &Found, maker: &mut Maker<'_, '_>) -> Result<(), DataError> {
    let rows = sheet_rows(file)?;
    let mut rows = rows.iter();
    let Some((_, first)) = rows.next() else {
        return Err(form(file, "its first sheet is empty; the first row must name the columns"));
    };
    let names: Vec<String> = first.values().map(|cell| cell_text(cell).unwrap_or_default()).collect();
    let columns: Vec<u32> = first.keys().copied().collect();
    let places = places(file, &names, maker)?;
    for (number, (line, row)) in (1..).zip(rows) {
        maker.row();
        let cells: Result<Vec<_>, String> = places
            .iter()
            .map(|&(column, place)| {
                let text = row.get(&columns[place]).map_or_else(|| Ok(String::new()), cell_text);
                Ok((column, text.map_err(|error| format!("column {column:?} holds the error {error}"))?))
            })
            .collect();
        match cells {
            Ok(cells) => maker.make(&At::new(file, number, *line, Cells::Named(&cells))),
            Err(problem) => maker.problem(&file.name, *line, &problem),
        }
    }
    Ok(())
}

/// A row of a sheet: its number from 1, and the cells that are not empty by their column.
pub(in crate::read) type SheetRow = (usize, BTreeMap<u32, Data>);

/// The rows of a workbook's first sheet that are not empty. Cell by cell: calamine's own table of a sheet has every
/// place between its first and its last cell, which two cells far apart make larger than any memory.
fn sheet(bytes: Vec<u8>) -> Result<Vec<SheetRow>, String> {
    let wrong = |error: calamine::XlsxError| error.to_string();
    let mut book = Xlsx::new(std::io::Cursor::new(bytes)).map_err(wrong)?;
    let name = book.sheet_names().into_iter().next().ok_or("it has no sheet")?;
    let mut cells = book.worksheet_cells_reader(&name).map_err(wrong)?;
    let mut rows: Vec<SheetRow> = Vec::new();
    while let Some(cell) = cells.next_cell().map_err(wrong)? {
        let (row, column) = cell.get_position();
        let value = Data::from(cell.get_value().clone());
        if matches!(value, Data::Empty) {
            continue;
        }
        let line = (row as usize).saturating_add(1);
        match rows.last_mut().filter(|(known, _)| *known == line) {
            Some((_, cells)) => _ = cells.insert(column, value),
            None => rows.push((line, BTreeMap::from([(column, value)]))),
        }
    }
    Ok(rows)
}

/// A cell as text; every number of a workbook is floating, so a whole one is written without a point.
pub(in crate::read) fn cell_text(cell: &Data) -> Result<String, String> {
    match cell {
        Data::Empty => Ok(String::new()),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => Ok(text.clone()),
        Data::Int(value) => Ok(value.to_string()),
        Data::Float(value) => Ok(value.to_string()),
        Data::Bool(value) => Ok(value.to_string()),
        Data::DateTime(value) => Ok(value.as_f64().to_string()),
        Data::Error(error) => Err(error.to_string()),
    }
}

/// One JSON value per line.
fn lines(file: &Found, maker: &mut Maker<'_, '_>) -> Result<(), DataError> {
    let mut input = file.open()?;
    let (mut line, mut number, mut text) = (0, 0, Vec::new());
    loop {
        text.clear();
        if input.read_until(b'\n', &mut text).map_err(|error| file.unreadable(&error))? == 0 {
            return Ok(());
        }
        line += 1;
        if text.trim_ascii().is_empty() {
            continue;
        }
        number += 1;
        maker.row();
        match serde_json::from_slice::<Json>(text.trim_ascii_end()) {
            Ok(value) => maker.make(&At::new(file, number, line, Cells::Json(&value, None))),
            Err(error) => {
                let column = error.column();
                let message = error.to_string();
                let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
                maker.problem(&file.name, line, &format!("it is not JSON at byte {column}: {message}"));
            }
        }
    }
}

/// One JSON document with a list or table of rows.
fn document(file: &Found, maker: &mut Maker<'_, '_>) -> Result<(), DataError> {
    let json: Json = serde_json::from_slice(&file.bytes()?)
        .map_err(|error| form(file, format!("it is not a JSON document: {error}")))?;
    let path = maker.spec().rows.clone().unwrap_or_default();
    let found = json.find(&path);
    if found.is_empty() {
        return Err(form(file, format!("there is nothing at {path:?}, where its rows should be")));
    }
    let mut number = 0;
    let mut make = |value: &Json, key: Option<&str>| {
        number += 1;
        maker.row();
        maker.make(&At::new(file, number, number, Cells::Json(value, key)));
    };
    for rows in found {
        match rows {
            Json::List(list) => list.iter().for_each(|value| make(value, None)),
            Json::Table(table) => table.iter().for_each(|(key, value)| make(value, Some(key))),
            other => {
                let what = other.what();
                return Err(form(file, format!("its rows at {path:?} are {what}, not a list or a table")));
            }
        }
    }
    Ok(())
}
