//! Comma-separated values, read strictly.
//!
//! The reader is our own because the verdict is what RFC 4180 allows: the well-kept crate reads, by design, whatever it
//! is given, and so cannot say what is wrong.

use std::ops::Range;

use crate::constraint::Place;
use crate::finding::{Finding, Verdict};
use crate::json::sole_code;
use crate::outline::Kind;
use crate::segment::Segmented;
use crate::text::{Folded, Needle, trimmed};
use crate::{Limit, code};

/// What a CSV has to be.
pub(crate) struct Wanted<'c> {
    pub(crate) separator: char,
    pub(crate) header: &'c [String],
    pub(crate) columns: Option<Limit>,
    pub(crate) rows: Option<Limit>,
}

/// What was read: the first record's fields and how many records follow.
pub(crate) struct Sheet {
    pub(crate) header: Vec<String>,
    pub(crate) rows: u64,
}

/// What is wrong, and at which byte.
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) at: usize,
}

/// Reads a sheet. Blank lines at the end are passed over.
pub(crate) fn read(text: &str, separator: char) -> Result<Sheet, Fault> {
    let text = text.trim_end_matches(['\n', '\r']);
    let fault = |message: String, at| Err(Fault { message, at });
    if text.trim().is_empty() {
        return fault("there is nothing".to_owned(), 0);
    }
    let mut header: Vec<String> = Vec::new();
    let (mut records, mut fields, mut record_start) = (0_u64, 0_usize, 0_usize);
    let mut characters = text.char_indices().peekable();
    loop {
        // One field.
        let mut field = String::new();
        let start = characters.peek().map_or(text.len(), |(at, _)| *at);
        let is_quoted = characters.next_if(|(_, c)| *c == '"').is_some();
        if is_quoted {
            loop {
                match characters.next() {
                    Some((_, '"')) => {
                        if characters.next_if(|(_, c)| *c == '"').is_none() {
                            break;
                        }
                        field.push('"');
                    }
                    Some((_, other)) => field.push(other),
                    None => return fault("a quotation mark is never closed".to_owned(), start),
                }
            }
        }
        let mut ends_record = true;
        while let Some((at, character)) = characters.next() {
            if character == separator {
                ends_record = false;
                break;
            }
            if character == '\n' {
                break;
            }
            if character == '\r' {
                characters.next_if(|(_, c)| *c == '\n');
                break;
            }
            if is_quoted {
                return fault(format!("record {} has text behind a closing quotation mark", records + 1), at);
            }
            if character == '"' {
                return fault(
                    format!(
                        "record {} has a quotation mark within a field that does not begin with one",
                        records + 1
                    ),
                    at,
                );
            }
            field.push(character);
        }
        fields += 1;
        if records == 0 {
            header.push(field);
        }
        if !ends_record {
            continue;
        }
        if fields != header.len() {
            let message =
                format!("record {} has {fields} fields, the first one has {}", records + 1, header.len());
            return fault(message, record_start);
        }
        records += 1;
        fields = 0;
        match characters.peek() {
            Some((at, _)) => record_start = *at,
            None => break,
        }
    }
    Ok(Sheet { header, rows: records - 1 })
}

pub(crate) fn verify(text: &Segmented<'_>, place: Place, wanted: &Wanted<'_>) -> Finding {
    if place == Place::Whole {
        let range = sole_code(text).unwrap_or_else(|| trimmed(text.text));
        return verify_candidate(text, &range, wanted);
    }
    let mut first = None;
    for block in text.blocks.iter() {
        let Kind::Code { info, .. } = &block.kind else { continue };
        let tag = code::tag(text.slice(info));
        if !tag.is_empty() && !matches!(code::canonical_name(tag), Some("csv" | "text")) {
            continue;
        }
        let finding = verify_candidate(text, &block.content, wanted);
        if finding.verdict == Verdict::Met {
            return finding;
        }
        first.get_or_insert(finding);
    }
    first.unwrap_or_else(|| Finding::not_met("there is no code block with CSV in the response"))
}

fn verify_candidate(text: &Segmented<'_>, range: &Range<usize>, wanted: &Wanted<'_>) -> Finding {
    let sheet = match read(text.slice(range), wanted.separator) {
        Ok(sheet) => sheet,
        Err(fault) => {
            let at = range.start + fault.at;
            let end =
                text.text.get(at..).and_then(|rest| rest.chars().next()).map_or(at, |c| at + c.len_utf8());
            return Finding::not_met(format!("not CSV: {}", fault.message)).at(at..end);
        }
    };
    let found = format!("CSV with {} columns and {} rows below the header", sheet.header.len(), sheet.rows);
    let columns = u64::try_from(sheet.header.len()).unwrap_or(u64::MAX);
    let not_met = |reason: String| Finding::not_met(format!("{found}; {reason}")).at(range.clone());
    // A sentence with a comma in it is one record; nobody means that by CSV.
    if columns < 2 && wanted.columns.is_none() && wanted.header.len() != 1 {
        return not_met("at least 2 columns make it CSV".to_owned());
    }
    if sheet.rows == 0 && !wanted.rows.is_some_and(|rows| rows.accepts(0)) {
        return not_met("at least one row below the header makes it CSV".to_owned());
    }
    if let Some(limit) = wanted.columns.filter(|limit| !limit.accepts(columns)) {
        return not_met(format!("{limit} columns were asked for"));
    }
    if let Some(limit) = wanted.rows.filter(|limit| !limit.accepts(sheet.rows)) {
        return not_met(format!("{limit} rows were asked for"));
    }
    if !wanted.header.is_empty() && !same_names(sheet.header.iter().map(String::as_str), wanted.header) {
        return not_met(format!(
            "its columns are {}, not {}",
            sheet.header.join(", "),
            wanted.header.join(", ")
        ));
    }
    Finding::met(found).at(range.clone())
}

/// Whether names are equal when folded, in order.
pub(crate) fn same_names<'n>(found: impl ExactSizeIterator<Item = &'n str>, wanted: &[String]) -> bool {
    found.len() == wanted.len()
        && found.zip(wanted).all(|(found, wanted)| {
            let found = found.trim().trim_matches(['*', '_', '`']);
            Folded::new(found, false).text == Needle::new(wanted, true, false).text()
        })
}
