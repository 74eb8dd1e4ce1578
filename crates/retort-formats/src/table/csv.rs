//! Comma-, semicolon- and tab-separated values.

use std::collections::HashSet;

use super::{Container, Fault, Lines, Table, TableError, TableRow, write};

/// The bytes that may stand between cells.
const DELIMITERS: [u8; 3] = [b',', b'\t', b';'];

pub(super) fn read(bytes: &[u8], name: &str) -> Result<Table, TableError> {
    let delimiter = delimiter(bytes, name);
    let quotes = Quotes::of(bytes, delimiter);
    // Much that is written with tabs knows no quoting, and a quotation mark is a character like any other.
    let is_plain = delimiter == b'\t' && (quotes.unclosed || !quotes.behind.is_empty());
    read_with(bytes, name, delimiter, (!is_plain).then_some(&quotes))
}

/// What is wrong with the quotation marks of a file. The crate that reads it takes whatever it is given, and what it
/// makes of such cells is not what their writer meant.
struct Quotes {
    /// Where text stands behind a mark that closes a cell, in rising order.
    behind: Vec<usize>,
    /// Whether the last mark that opens a cell is never closed.
    unclosed: bool,
}

impl Quotes {
    fn of(bytes: &[u8], delimiter: u8) -> Self {
        let ends = |byte: u8| byte == delimiter || byte == b'\n' || byte == b'\r';
        let mut behind = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            if bytes.get(at) == Some(&b'"') {
                loop {
                    let rest = bytes.get(at + 1..).unwrap_or_default();
                    let Some(length) = rest.iter().position(|&byte| byte == b'"') else {
                        return Self { behind, unclosed: true };
                    };
                    at += length + 2;
                    if bytes.get(at) != Some(&b'"') {
                        break;
                    }
                }
            }
            let start = at;
            let rest = bytes.get(at..).unwrap_or_default();
            at += rest.iter().position(|&byte| ends(byte)).unwrap_or(rest.len());
            let is_behind = start > 0 && bytes.get(start - 1) == Some(&b'"');
            if is_behind && bytes.get(start..at).is_some_and(|text| text.iter().any(|&byte| byte != b' ')) {
                behind.push(start);
            }
            at += 1;
        }
        Self { behind, unclosed: false }
    }
}

/// Whichever delimiter is most often in the first line, outside quotes.
fn delimiter(bytes: &[u8], name: &str) -> u8 {
    let mut counts = DELIMITERS.map(|delimiter| (delimiter, 0_usize));
    let mut quoted = false;
    for &byte in bytes {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => break,
            _ if quoted => {}
            _ => counts.iter_mut().for_each(|(delimiter, count)| *count += usize::from(byte == *delimiter)),
        }
    }
    let by_name = if has_extension(name, &["tsv", "tab"]) { b'\t' } else { b',' };
    // Of equals the first: a comma.
    let most = counts.into_iter().rev().max_by_key(|(_, count)| *count);
    most.filter(|(_, count)| *count > 0).map_or(by_name, |(delimiter, _)| delimiter)
}

pub(super) fn has_extension(name: &str, extensions: &[&str]) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    extensions.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Reads with these findings about quotation marks, or without quoting.
fn read_with(bytes: &[u8], name: &str, delimiter: u8, quotes: Option<&Quotes>) -> Result<Table, TableError> {
    let refuse = |line: usize, what: String| TableError::Refused { file: name.to_owned(), line, what };
    let container = if delimiter == b'\t' { Container::Tsv } else { Container::Csv };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .quoting(quotes.is_some())
        .from_reader(bytes);
    let mut behind = quotes.map_or(&[][..], |quotes| quotes.behind.as_slice());
    let mut lines = Lines::new(bytes);
    let mut record = csv::ByteRecord::new();
    let mut table: Option<Table> = None;
    let mut last = 1;
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(refuse(lines.line, error.to_string())),
        }
        let start = record.position().map_or(0, csv::Position::byte);
        let start = usize::try_from(start).unwrap_or(usize::MAX).min(bytes.len());
        // Empty lines before a record are no part of it.
        let rest = bytes.get(start..).unwrap_or_default();
        let start = start + rest.iter().take_while(|&&byte| matches!(byte, b'\n' | b'\r')).count();
        let line = lines.of(start);
        last = line;
        let end = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
        let (within, rest) = behind.split_at(behind.partition_point(|&place| place < end));
        behind = rest;
        match &mut table {
            None => {
                let columns = header(&record).ok_or_else(|| {
                    refuse(line, "the columns' names are not UTF-8; save the file as UTF-8".to_owned())
                })?;
                table = Some(Table::new(container, columns));
            }
            Some(table) if !within.is_empty() => table.faults.push(Fault {
                line,
                message: "there is text behind the quotation mark that closes a cell; the row is left out; write a \
                          quotation mark within a cell twice"
                    .to_owned(),
            }),
            Some(table) => match cells(&record, table.columns.len()) {
                Ok(values) => table.rows.push(TableRow { line, values }),
                Err(message) => table.faults.push(Fault { line, message }),
            },
        }
    }
    let Some(mut table) = table else {
        return Err(TableError::Empty { file: name.to_owned() });
    };
    if quotes.is_some_and(|quotes| quotes.unclosed) {
        let line = last;
        table.rows.retain(|row| row.line != line);
        table.faults.retain(|fault| fault.line != line);
        table.faults.push(Fault {
            line,
            message: "a quotation mark that opens in this row is never closed, so that the rest of the file would be one \
                      cell; everything from this row on is left out; close it, or write it twice"
                .to_owned(),
        });
    }
    unguard(&mut table);
    // What a delimiter at the end of every line makes.
    while table.columns.len() > 1
        && table.columns.last().is_some_and(|column| *column == unnamed(table.columns.len() - 1))
        && table.rows.iter().all(|row| row.values.last().is_none_or(Option::is_none))
    {
        table.columns.pop();
        table.rows.iter_mut().for_each(|row| {
            row.values.pop();
        });
    }
    Ok(table)
}

fn unnamed(index: usize) -> String {
    format!("column {}", index + 1)
}

/// The columns' names, each once; `None` where they are no text.
fn header(record: &csv::ByteRecord) -> Option<Vec<String>> {
    let mut taken = HashSet::new();
    let mut columns = Vec::with_capacity(record.len());
    for (index, field) in record.iter().enumerate() {
        let name = std::str::from_utf8(field).ok()?.trim();
        let name = if name.is_empty() { unnamed(index) } else { name.to_owned() };
        let mut unique = name.clone();
        let mut number = 1;
        while !taken.insert(unique.clone()) {
            // Names that stand very often get the number of their place, so that this stays linear.
            number = if number < 16 { number + 1 } else { number.max(index) + 1 };
            unique = format!("{name} ({number})");
        }
        columns.push(unique);
    }
    Some(columns)
}

fn cells(record: &csv::ByteRecord, columns: usize) -> Result<Vec<Option<String>>, String> {
    let beyond = record.iter().skip(columns).any(|field| !field.is_empty());
    if record.len() < columns || beyond {
        return Err(format!(
            "the row has {} cells and there are {columns} columns; it is left out; put a text with line breaks, \
             quotation marks or the separator into quotation marks, and write those within it twice",
            record.len()
        ));
    }
    record
        .iter()
        .take(columns)
        .map(|field| match std::str::from_utf8(field) {
            Ok("") => Ok(None),
            Ok(text) => Ok(Some(text.to_owned())),
            Err(_) => Err("the row is not UTF-8; it is left out; save the file as UTF-8".to_owned()),
        })
        .collect()
}

/// Takes away what [`write()`](super::write()) puts before cells that a spreadsheet would compute. A file in which any
/// cell stands that would have been guarded was not written so, and nothing is taken from it.
fn unguard(table: &mut Table) {
    let cells = || table.rows.iter().flat_map(|row| row.values.iter().flatten());
    if cells().chain(&table.columns).any(|cell| !cell.starts_with('\'') && write::needs_guard(cell)) {
        return;
    }
    for cell in table.rows.iter_mut().flat_map(|row| row.values.iter_mut().flatten()) {
        if cell.starts_with('\'') && write::needs_guard(cell) {
            cell.remove(0);
        }
    }
    let taken: HashSet<String> = table.columns.iter().cloned().collect();
    for column in &mut table.columns {
        if column.starts_with('\'') && write::needs_guard(column) && !taken.contains(&column[1..]) {
            column.remove(0);
        }
    }
}
