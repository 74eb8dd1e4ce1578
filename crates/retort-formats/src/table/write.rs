//! A table as a file.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::value::RawValue;

use super::{Container, Role, Table, TableRow, chat, json};

/// Most digits of a number that is written as one in JSON: more of them do not survive being read as `f64`, and are
/// those of an id.
const MAX_DIGITS: usize = 15;

/// Parts whose values are texts whatever they look like.
const TEXTS: [Role; 5] = [Role::Prompt, Role::System, Role::Response, Role::ResponseB, Role::Reference];

/// Writes all columns and rows of a table: UTF-8 without a byte-order mark, lines ending in LF.
///
/// - **CSV, TSV**: a first line with the columns' names. A cell that a spreadsheet would take for a formula (it begins
///   with `=`, `+`, `-`, `@`, their full-width forms, a tab or a line end, and is no number) gets an apostrophe before
///   it, which [`read`](super::read()) takes away again.
/// - **JSON, JSON Lines**: one row a line. What was read from JSON gets its nested fields back: `score.readability` is
///   written as `{"score": {"readability": …}}`. A column of numbers, of true and false, or of lists is written as such,
///   everything else as text, and so are prompts, responses and references ([`Table::roles`]). What a row does not have is not written, and neither is text that was derived from a
///   conversation in the same table. U+2028, U+2029 and U+0085 are escaped, for readers that split lines there.
#[must_use]
pub fn write(table: &Table, container: Container) -> String {
    match container {
        Container::Csv => separated(table, b','),
        Container::Tsv => separated(table, b'\t'),
        Container::Json if table.rows.is_empty() => "[]\n".to_owned(),
        Container::Json => format!("[\n{}\n]\n", objects(table).join(",\n")),
        Container::Jsonl => {
            let mut out = objects(table).join("\n");
            if !out.is_empty() {
                out.push('\n');
            }
            out
        }
    }
}

fn separated(table: &Table, delimiter: u8) -> String {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    let mut record = |cells: &mut dyn Iterator<Item = &str>| {
        // Writing to memory does not fail, and all records have the same length.
        let _ = writer.write_record(cells.map(|cell| guarded(cell).into_owned()));
    };
    record(&mut table.columns.iter().map(String::as_str));
    for row in &table.rows {
        record(&mut (0..table.columns.len()).map(|column| row.get(column).unwrap_or_default()));
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

fn guarded(cell: &str) -> Cow<'_, str> {
    if needs_guard(cell) { Cow::Owned(format!("'{cell}")) } else { Cow::Borrowed(cell) }
}

/// Whether a spreadsheet would take the cell for a formula, or for one that is guarded already: so that taking away one
/// apostrophe is the exact way back.
pub(super) fn needs_guard(cell: &str) -> bool {
    let rest = cell.trim_start_matches('\'');
    rest.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
        && !(rest.len() == cell.len() && is_number(rest.strip_prefix('+').unwrap_or(rest)))
}

/// Whether a text is a number as JSON writes it.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

/// How the values of a column are written in JSON.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    /// Numbers, true and false; what says that there is none ("N/A") as text.
    Bare,
    /// Lists, and objects where they are not taken apart.
    Json,
}

/// The columns as a tree of their paths.
#[derive(Default)]
struct Field {
    key: String,
    column: Option<usize>,
    fields: Vec<Field>,
}

impl Field {
    /// The field for the rest of a path.
    fn at<'a>(&mut self, mut path: impl Iterator<Item = &'a str>) -> &mut Self {
        let Some(key) = path.next() else { return self };
        let place = self.fields.iter().position(|field| field.key == key).unwrap_or_else(|| {
            self.fields.push(Self { key: key.to_owned(), ..Self::default() });
            self.fields.len() - 1
        });
        self.fields[place].at(path)
    }
}

struct Objects<'a> {
    table: &'a Table,
    kinds: Vec<Kind>,
    root: Field,
}

fn objects(table: &Table) -> Vec<String> {
    let derived = chat::derive(table);
    let is_derived = |place: usize, name: &str| {
        derived.iter().any(|column| {
            let same = |(row, value): (&TableRow, &Option<String>)| row.get(place) == value.as_deref();
            column.name == name && table.rows.iter().zip(&column.values).all(same)
        })
    };
    let nests = matches!(table.container, Container::Json | Container::Jsonl);
    let mut root = Field::default();
    let mut kinds = Vec::with_capacity(table.columns.len());
    // Columns without a value in any row, by name.
    let mut empty = Vec::new();
    for (place, name) in table.columns.iter().enumerate() {
        if is_derived(place, name) {
            kinds.push(Kind::Text);
            continue;
        }
        let path: Vec<&str> = name.split('.').collect();
        let is_path = nests && path.len() <= json::MAX_DEPTH + 1 && path.iter().all(|key| !key.is_empty());
        let depth = if is_path { path.len() - 1 } else { 0 };
        // An answer of "42" or "[]" is a text among texts.
        let is_text = TEXTS.iter().any(|role| table.roles.get(role) == Some(name));
        let Some(kind) = kind(table, place, depth).map(|kind| if is_text { Kind::Text } else { kind }) else {
            kinds.push(Kind::Text);
            empty.push(name);
            continue;
        };
        kinds.push(kind);
        if is_path {
            root.at(path.into_iter()).column = Some(place);
        } else {
            // No other column has this name, and no path leads to it.
            root.fields.push(Field { key: name.clone(), column: Some(place), fields: Vec::new() });
        }
    }
    let objects = Objects { table, kinds, root };
    let mut out: Vec<String> = table.rows.iter().map(|row| objects.row(row)).collect();
    // A column that no row has a value for would be lost.
    if let Some(first) = out.first_mut() {
        for name in empty {
            first.pop();
            if first.len() > 1 {
                first.push(',');
            }
            string(first, name);
            first.push_str(":null}");
        }
    }
    out
}

/// How a column is written; `None` where it has no values.
fn kind(table: &Table, place: usize, depth: usize) -> Option<Kind> {
    let (mut bare, mut json, mut values) = (true, true, 0_usize);
    let mut bare_ones = 0_usize;
    for value in table.rows.iter().filter_map(|row| row.get(place)) {
        values += 1;
        let is_bare = is_bare(value);
        bare_ones += usize::from(is_bare);
        bare = bare && (is_bare || says_none(value));
        json = json && (is_json(value, depth) || says_none(value));
        if !bare && !json {
            return Some(Kind::Text);
        }
    }
    match values {
        0 => None,
        _ if bare && bare_ones > 0 => Some(Kind::Bare),
        _ if json && bare_ones == 0 => Some(Kind::Json),
        _ => Some(Kind::Text),
    }
}

fn says_none(value: &str) -> bool {
    matches!(value.trim(), "" | "N/A" | "n/a" | "NA" | "None" | "none" | "null" | "nan" | "NaN")
}

fn is_bare(value: &str) -> bool {
    let digits = || value.bytes().filter(u8::is_ascii_digit).count();
    matches!(value, "true" | "false") || (is_number(value) && digits() <= MAX_DIGITS)
}

/// Whether a value is JSON as the reader would leave it, standing at this depth.
fn is_json(value: &str, depth: usize) -> bool {
    let left = match value.as_bytes().first() {
        Some(b'[') => true,
        Some(b'{') => depth >= json::MAX_DEPTH || json::is_kept(value),
        _ => false,
    };
    left && serde_json::from_str::<&RawValue>(value).is_ok() && json::canonical(value) == value
}

impl Objects<'_> {
    fn row(&self, row: &TableRow) -> String {
        let mut out = String::from("{");
        // Fields below one that has a value itself, as only a flat file can have: they keep their whole names.
        let mut flat = Vec::new();
        self.fields(row, &self.root, &mut out, &mut flat);
        for place in flat {
            let name = self.table.columns.get(place).map_or("", String::as_str);
            // An object that is kept for its depth would be taken apart here.
            if row.get(place).is_some_and(|value| value.starts_with('{') && !is_json(value, 0)) {
                self.text(row, place, name, &mut out);
            } else {
                self.field(row, place, name, &mut out);
            }
        }
        out.push('}');
        out
    }

    fn fields(&self, row: &TableRow, of: &Field, out: &mut String, flat: &mut Vec<usize>) {
        for field in &of.fields {
            let own = field.column.filter(|place| row.get(*place).is_some());
            if let Some(place) = own {
                self.field(row, place, &field.key, out);
                filled(row, field, flat);
            } else if is_filled(row, field) {
                comma(out);
                string(out, &field.key);
                out.push_str(":{");
                self.fields(row, field, out, flat);
                out.push('}');
            }
        }
    }

    fn text(&self, row: &TableRow, place: usize, key: &str, out: &mut String) {
        comma(out);
        string(out, key);
        out.push(':');
        string(out, row.get(place).unwrap_or_default());
    }

    fn field(&self, row: &TableRow, place: usize, key: &str, out: &mut String) {
        let Some(value) = row.get(place) else { return };
        comma(out);
        string(out, key);
        out.push(':');
        match self.kinds.get(place) {
            Some(Kind::Bare) if is_bare(value) => out.push_str(value),
            Some(Kind::Json) if !says_none(value) => escape_line_ends(out, value),
            _ => string(out, value),
        }
    }
}

/// The columns below a field that have a value.
fn filled(row: &TableRow, field: &Field, into: &mut Vec<usize>) {
    for below in &field.fields {
        into.extend(below.column.filter(|place| row.get(*place).is_some()));
        filled(row, below, into);
    }
}

fn is_filled(row: &TableRow, field: &Field) -> bool {
    field
        .fields
        .iter()
        .any(|below| below.column.is_some_and(|place| row.get(place).is_some()) || is_filled(row, below))
}

fn comma(out: &mut String) {
    if !out.ends_with('{') {
        out.push(',');
    }
}

/// A JSON string.
pub(super) fn string(out: &mut String, text: &str) {
    // A text always is a JSON string.
    let quoted = serde_json::to_string(text).unwrap_or_default();
    escape_line_ends(out, &quoted);
}

/// JSON, in which these characters stand within strings only.
fn escape_line_ends(out: &mut String, json: &str) {
    let mut rest = json;
    while let Some(at) = rest.find(['\u{2028}', '\u{2029}', '\u{85}']) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let mut characters = after.chars();
        if let Some(character) = characters.next() {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(character));
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p29_numbers_are_those_of_json() {
        for number in ["0", "-1.5", "12", "1e5", "-0.25E-3", "0.0"] {
            assert!(is_number(number), "{number}");
        }
        for other in ["", "-", "01", "1.", ".5", "1e", "+1", "1_0", "-1+1", "0x1", "1 ", "NaN"] {
            assert!(!is_number(other), "{other}");
        }
    }
}
