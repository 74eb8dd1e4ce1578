//! JSON and JSON Lines, taken apart row by row.

use std::collections::HashMap;

use retort_rubric::tree::{Pairs, offset_in, syntax_error};
use serde_json::value::RawValue;

use super::{Container, Fault, Lines, MAX_COLUMNS, Table, TableError, TableRow, csv, shape};

/// How deep objects within a row are columns of their own: a row's field is at depth 0, `a.b` at 1. What is deeper is
/// kept as JSON. Each level reads once more what stands within it.
pub(super) const MAX_DEPTH: usize = 4;

/// How many cells a file may have beyond its bytes. Cells of rows that lack a column take room too, so that a small file
/// of rows with nothing in common could otherwise fill the memory.
const SPARE_CELLS: usize = 2_000_000;

/// Lines that are looked at to tell JSON Lines with a bad beginning from broken JSON.
const TRIED_LINES: usize = 50;

/// Lists within an object that are its rows where it has several lists of objects.
const ROW_LISTS: [&str; 10] = [
    "examples",
    "data",
    "rows",
    "items",
    "results",
    "instances",
    "records",
    "questions",
    "test_cases",
    "goldens",
];

/// Lists of objects that are part of one row.
const PARTS_OF_A_ROW: [&str; 12] = [
    "messages",
    "conversation",
    "conversations",
    "conversation_input",
    "conversation_a",
    "conversation_b",
    "prompt",
    "choices",
    "rubrics",
    "verdicts",
    "assert",
    "chosen",
];

/// Whether the file is JSON of any kind: it begins with a bracket, or one of its first lines is an object.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => false,
        Some(b'{') => true,
        // A column of a CSV may be called "[id]"; a list goes on otherwise.
        Some(b'[') => {
            let mut rest = bytes.iter().skip_while(|byte| **byte != b'[').skip(1);
            rest.find(|byte| !byte.is_ascii_whitespace())
                .is_none_or(|byte| b"{[]\"-0123456789".contains(byte))
        }
        Some(_) => objects_in_lines(bytes),
    }
}

fn filled_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace))
}

/// Whether most of the first lines are objects with at least two fields: those are no cells of a CSV.
fn objects_in_lines(bytes: &[u8]) -> bool {
    let (mut lines, mut objects) = (0, 0);
    for line in filled_lines(bytes).take(TRIED_LINES) {
        lines += 1;
        objects += usize::from(is_object(line));
    }
    objects > 0 && 2 * objects >= lines
}

fn is_object(line: &[u8]) -> bool {
    line.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
        && serde_json::from_slice::<Pairs<'_>>(line).is_ok_and(|pairs| pairs.0.len() > 1)
}

/// A row before it is taken apart, or what is wrong with it.
struct RawRow<'a> {
    line: usize,
    /// In an object of rows by id, the row's key.
    key: Option<String>,
    text: Result<&'a str, String>,
}

pub(super) fn read(bytes: &[u8], name: &str) -> Result<Table, TableError> {
    let (container, rows) = rows(bytes, name)?;
    let limit = SPARE_CELLS.saturating_add(bytes.len());
    // Where objects within rows have ever other keys, as those by id, they are kept as they are.
    let table = match Builder::new(container, MAX_DEPTH, limit).table(&rows) {
        Some(table) => Some(table),
        None => Builder::new(container, 0, limit).table(&rows),
    };
    table.ok_or_else(|| TableError::Refused {
        file: name.to_owned(),
        line: 1,
        what: format!(
            "its rows have next to no keys in common, more than {MAX_COLUMNS} in all; give each row the same keys, such as \
             prompt and response"
        ),
    })
}

fn rows<'a>(bytes: &'a [u8], name: &str) -> Result<(Container, Vec<RawRow<'a>>), TableError> {
    match bytes.iter().position(|byte| !byte.is_ascii_whitespace()) {
        // "JSONL" that is one list (P26). Its elements are told apart first, so that a bad one costs only itself.
        Some(start) if bytes.get(start) == Some(&b'[') => Ok((Container::Json, elements(bytes, start))),
        Some(start) if bytes.get(start) == Some(&b'{') => {
            let Ok(text) = std::str::from_utf8(bytes) else { return Ok((Container::Jsonl, lines(bytes))) };
            let whole = match serde_json::from_str::<&RawValue>(text) {
                Ok(raw) => return Ok(of_object(text, raw, start, name)),
                Err(error) => syntax_error(text, text, &error),
            };
            if filled_lines(bytes)
                .take(TRIED_LINES)
                .any(|line| serde_json::from_slice::<Pairs<'_>>(line).is_ok())
            {
                return Ok((Container::Jsonl, lines(bytes)));
            }
            Err(TableError::Refused {
                file: name.to_owned(),
                line: Lines::new(bytes).of(whole.offset),
                what: format!("{}; save the file as JSON again", whole.message),
            })
        }
        _ => Ok((Container::Jsonl, lines(bytes))),
    }
}

fn lines(bytes: &[u8]) -> Vec<RawRow<'_>> {
    bytes
        .split(|&byte| byte == b'\n')
        .zip(1..)
        .filter(|(line, _)| !line.iter().all(u8::is_ascii_whitespace))
        .map(|(text, line)| RawRow { line, key: None, text: utf8(text) })
        .collect()
}

fn utf8(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes)
        .map_err(|_| "the row is not UTF-8; it is left out; save the file as UTF-8".to_owned())
}

/// The elements of the list that begins at `start`, by counting brackets outside strings.
fn elements(bytes: &[u8], start: usize) -> Vec<RawRow<'_>> {
    let mut found = Vec::new();
    let mut counter = Lines::new(bytes);
    let mut add = |from: usize, to: usize, last: bool| {
        let part = bytes.get(from..to).unwrap_or_default();
        let blank = part.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let line = counter.of(from + blank);
        match part.get(blank..) {
            Some([]) | None if last => {}
            Some([]) | None => found.push(RawRow {
                line,
                key: None,
                text: Err("there is nothing between two commas; remove one of them".to_owned()),
            }),
            Some(part) => found.push(RawRow { line, key: None, text: utf8(part) }),
        }
    };
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    let mut from = start + 1;
    let mut end = None;
    for (at, &byte) in bytes.iter().enumerate().skip(start) {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    end = Some(at);
                    break;
                }
            }
            b',' if depth == 1 => {
                add(from, at, false);
                from = at + 1;
            }
            _ => {}
        }
    }
    add(from, end.unwrap_or(bytes.len()), true);
    let after = end.map_or(bytes.len(), |end| end + 1);
    let rest = bytes.get(after..).unwrap_or_default();
    // A file that was cut off still yields what it has, and says so.
    let problem = match end {
        None => Some("the list does not end; the file may have been cut off"),
        Some(_) if !rest.iter().all(u8::is_ascii_whitespace) => {
            Some("there is more behind the end of the list, which is left out; put all rows into the list")
        }
        Some(_) => None,
    };
    if let Some(problem) = problem {
        found.push(RawRow { line: counter.of(after), key: None, text: Err(problem.to_owned()) });
    }
    found
}

/// The rows of one valid object: those of the list that it holds, those that it holds by id, or itself.
fn of_object<'a>(text: &'a str, raw: &'a RawValue, start: usize, name: &str) -> (Container, Vec<RawRow<'a>>) {
    let mut counter = Lines::new(text.as_bytes());
    let pairs = serde_json::from_str::<Pairs<'a>>(raw.get()).map_or_else(|_| Vec::new(), |pairs| pairs.0);
    let mut row = |raw: &'a RawValue, key| RawRow {
        line: counter.of(offset_in(text, raw.get())),
        key,
        text: Ok(raw.get()),
    };
    let lists: Vec<&(String, &RawValue)> = pairs
        .iter()
        .filter(|(key, value)| !PARTS_OF_A_ROW.contains(&key.as_str()) && is_list_of_objects(value.get()))
        .collect();
    let keys: Vec<&str> = pairs.iter().map(|(key, _)| key.as_str()).collect();
    // One object on one line may be all that a file of JSON Lines has.
    let is_line = csv::has_extension(name, &["jsonl", "ndjson"]) && !raw.get().contains('\n');
    if !is_line && !shape::are_of_a_row(&keys) {
        let list = match lists.as_slice() {
            [one] => Some(*one),
            several => ROW_LISTS.iter().find_map(|name| several.iter().copied().find(|(key, _)| key == name)),
        };
        if let Some((_, list)) = list {
            let items: Vec<&RawValue> = serde_json::from_str(list.get()).unwrap_or_default();
            return (Container::Json, items.into_iter().map(|item| row(item, None)).collect());
        }
        let by_id = !pairs.is_empty() && pairs.iter().all(|(_, value)| value.get().starts_with('{'));
        if by_id {
            return (Container::Json, pairs.into_iter().map(|(key, value)| row(value, Some(key))).collect());
        }
    }
    let container = if is_line { Container::Jsonl } else { Container::Json };
    let line = Lines::new(text.as_bytes()).of(start);
    (container, vec![RawRow { line, key: None, text: Ok(raw.get()) }])
}

fn is_list_of_objects(raw: &str) -> bool {
    let mut bytes = raw.bytes().filter(|byte| !byte.is_ascii_whitespace());
    (bytes.next(), bytes.next()) == (Some(b'['), Some(b'{'))
}

struct Builder {
    table: Table,
    places: HashMap<String, usize>,
    /// The name of the column at hand.
    path: String,
    deepest: usize,
    cells: usize,
    limit: usize,
}

/// Why a row gives no cells.
enum Refusal {
    /// It is wrong.
    Fault(String),
    /// There would be too many columns.
    TooMany,
}

impl Builder {
    fn new(container: Container, deepest: usize, limit: usize) -> Self {
        Self {
            table: Table::new(container, Vec::new()),
            places: HashMap::new(),
            path: String::new(),
            deepest,
            cells: 0,
            limit,
        }
    }

    /// `None` where there would be too many columns or cells.
    fn table(mut self, rows: &[RawRow<'_>]) -> Option<Table> {
        let keyed = rows.iter().any(|row| row.key.is_some());
        let id = if keyed { Some(self.name_of_keys(rows)) } else { None };
        for RawRow { line, key, text } in rows {
            let columns = self.table.columns.len();
            let mut values = Vec::with_capacity(columns);
            if let Some((id, key)) = id.zip(key.as_deref()) {
                self.path.replace_range(.., id);
                self.put(&mut values, Some(key.to_owned())).ok()?;
            }
            let found = text.clone().map_err(Refusal::Fault).and_then(|text| self.row(text, &mut values));
            match found {
                Ok(()) => {
                    self.cells += self.table.columns.len();
                    self.table.rows.push(TableRow { line: *line, values });
                }
                Err(Refusal::TooMany) => return None,
                Err(Refusal::Fault(message)) => {
                    for column in self.table.columns.drain(columns..) {
                        self.places.remove(&column);
                    }
                    self.table.faults.push(Fault { line: *line, message });
                }
            }
            if self.cells > self.limit {
                return None;
            }
        }
        let columns = self.table.columns.len();
        if columns.saturating_mul(self.table.rows.len()) > self.limit {
            return None;
        }
        for row in &mut self.table.rows {
            row.values.resize(columns, None);
        }
        Some(self.table)
    }

    /// What the keys of an object of rows are called: `id`, where no row has a field of that name.
    fn name_of_keys(&self, rows: &[RawRow<'_>]) -> &'static str {
        let has_id = |row: &RawRow<'_>| {
            let pairs = row.text.as_ref().ok().and_then(|text| serde_json::from_str::<Pairs<'_>>(text).ok());
            pairs.is_some_and(|pairs| pairs.0.iter().any(|(key, _)| key == "id"))
        };
        if rows.iter().any(has_id) { "key" } else { "id" }
    }

    fn row(&mut self, text: &str, values: &mut Vec<Option<String>>) -> Result<(), Refusal> {
        let what = match text.trim_start().as_bytes().first() {
            Some(b'[') => "a list",
            Some(b'"') => "a text",
            Some(b'n') => "null",
            Some(b't' | b'f') => "true or false",
            Some(b'-' | b'0'..=b'9') => "a number",
            _ => "",
        };
        if !what.is_empty() && serde_json::from_str::<&RawValue>(text).is_ok() {
            let message =
                format!("a row must be an object, and this is {what}; it is left out; give its fields names");
            return Err(Refusal::Fault(message));
        }
        let pairs = serde_json::from_str::<Pairs<'_>>(text).map_err(|error| {
            let wrong = syntax_error(text, text, &error);
            let before = text.get(..wrong.offset).unwrap_or(text);
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            Refusal::Fault(format!(
                "{} (at character {column}); the row is left out; save it as JSON again",
                wrong.message
            ))
        })?;
        self.fields(pairs, 0, 0, values)
    }

    /// Puts the fields of an object, whose columns' names begin with the first `prefix` bytes of the path.
    fn fields(
        &mut self,
        pairs: Pairs<'_>,
        prefix: usize,
        depth: usize,
        values: &mut Vec<Option<String>>,
    ) -> Result<(), Refusal> {
        for (key, value) in pairs.0 {
            self.path.truncate(prefix);
            self.path.push_str(&key);
            let raw = value.get();
            let value = match raw.as_bytes().first() {
                Some(b'{') => {
                    let pairs = serde_json::from_str::<Pairs<'_>>(raw).map_err(|error| unreadable(&error))?;
                    if depth < self.deepest && !are_kept(&pairs) {
                        self.path.push('.');
                        self.fields(pairs, self.path.len(), depth + 1, values)?;
                        continue;
                    }
                    Some(canonical(raw))
                }
                Some(b'[') => Some(canonical(raw)),
                Some(b'"') => Some(serde_json::from_str(raw).map_err(|error| unreadable(&error))?),
                Some(b'n') => None,
                _ => Some(raw.to_owned()),
            };
            self.put(values, value)?;
        }
        Ok(())
    }

    /// Puts a value into the column that the path names. Of a key that stands twice the last counts, as elsewhere.
    fn put(&mut self, values: &mut Vec<Option<String>>, value: Option<String>) -> Result<(), Refusal> {
        let place = match self.places.get(self.path.as_str()) {
            Some(place) => *place,
            None if self.table.columns.len() == MAX_COLUMNS => return Err(Refusal::TooMany),
            None => {
                let place = self.table.columns.len();
                self.places.insert(self.path.clone(), place);
                self.table.columns.push(self.path.clone());
                place
            }
        };
        if values.len() <= place {
            values.resize(place + 1, None);
        }
        if let Some(cell) = values.get_mut(place) {
            *cell = value;
        }
        Ok(())
    }
}

fn unreadable(error: &serde_json::Error) -> Refusal {
    let full = error.to_string();
    let message = full.rfind(" at line ").and_then(|end| full.get(..end)).unwrap_or(&full);
    Refusal::Fault(format!("this cannot be read as text: {message}; the row is left out"))
}

/// Whether an object is kept as JSON wherever it stands: one without fields, and one whose keys could not be told from
/// a path of keys.
fn are_kept(pairs: &Pairs<'_>) -> bool {
    pairs.0.is_empty() || pairs.0.iter().any(|(key, _)| key.is_empty() || key.contains('.'))
}

/// The same of an object's text.
pub(super) fn is_kept(raw: &str) -> bool {
    serde_json::from_str::<Pairs<'_>>(raw).is_ok_and(|pairs| are_kept(&pairs))
}

/// Valid JSON without white space between its parts, and with no more escapes than it needs; numbers and the order of
/// keys as they are.
pub(super) fn canonical(raw: &str) -> String {
    let bytes = raw.as_bytes();
    let mut out = String::with_capacity(raw.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = match byte {
            b'"' => string_length(rest),
            b' ' | b'\t' | b'\n' | b'\r' => 0,
            _ => rest.iter().take_while(|byte| !b"\" \t\n\r".contains(byte)).count(),
        };
        let token = raw.get(at..at + length).unwrap_or_default();
        match (byte, token.contains('\\')) {
            (b'"', true) => {
                let text =
                    serde_json::from_str::<String>(token).and_then(|text| serde_json::to_string(&text));
                out.push_str(text.as_deref().unwrap_or(token));
            }
            _ => out.push_str(token),
        }
        at += length.max(1);
    }
    out
}

/// Length in bytes of the string that these bytes begin with, with its quotes.
fn string_length(bytes: &[u8]) -> usize {
    let mut escaped = false;
    for (at, &byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    bytes.len()
}
