//! The JSON values of a file, each with the line on which it begins.

use serde_json::Value;

/// One value of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonRow {
    /// Physical line, from 1, on which it begins, or on which it is wrong.
    pub line: usize,
    /// The value; or the column in characters, from 1, where it is known, and what is wrong.
    pub value: Result<Value, (Option<usize>, String)>,
}

/// What is wrong with a value, and where in it.
struct Wrong {
    /// How many lines below its first one.
    lines_below: usize,
    /// Column in characters, from 1; on the first line, counted from where the value begins.
    column: usize,
    message: String,
}

/// The values of a file of JSON Lines, or of one JSON array, or its one object over several lines.
///
/// A byte order mark, CR LF and a missing last newline are accepted, and only LF ends a line (P26, P27). A value that
/// cannot be read costs only itself.
#[must_use]
pub fn json_rows(bytes: &[u8]) -> Vec<JsonRow> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
    match first.map(|at| bytes[at]) {
        None => Vec::new(),
        // "JSONL" that is one array (P26). Its elements are read one by one, so that a bad one costs only itself.
        Some(b'[') => elements(bytes, first.unwrap_or(0)),
        Some(_) => match serde_json::from_slice::<Value>(bytes) {
            Ok(value) => vec![JsonRow { line: 1 + newlines(&bytes[..first.unwrap_or(0)]), value: Ok(value) }],
            Err(_) => lines(bytes),
        },
    }
}

fn lines(bytes: &[u8]) -> Vec<JsonRow> {
    bytes
        .split(|&byte| byte == b'\n')
        .zip(1..)
        .filter(|(line, _)| !line.iter().all(u8::is_ascii_whitespace))
        .map(|(line, number)| JsonRow {
            line: number,
            value: parse(line).map_err(|wrong| (Some(wrong.column), wrong.message)),
        })
        .collect()
}

fn parse(bytes: &[u8]) -> Result<Value, Wrong> {
    let place = |before: &[u8]| {
        let last = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        (newlines(before), String::from_utf8_lossy(last).chars().count() + 1)
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let (lines_below, column) = place(bytes.get(..error.valid_up_to()).unwrap_or_default());
        Wrong { lines_below, column, message: "the row is not UTF-8; save the file as UTF-8".to_owned() }
    })?;
    serde_json::from_str(text).map_err(|error| {
        // serde_json counts bytes from 1, and its message repeats the place.
        let lines_below = error.line().saturating_sub(1);
        let line = bytes.split(|&byte| byte == b'\n').nth(lines_below).unwrap_or_default();
        let (_, column) = place(line.get(..error.column().saturating_sub(1)).unwrap_or(line));
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        Wrong { lines_below, column, message: format!("the row is no JSON: {message}") }
    })
}

/// The elements of the array that begins at `start`, by counting brackets outside strings.
fn elements(bytes: &[u8], start: usize) -> Vec<JsonRow> {
    let mut found = Vec::new();
    let mut add = |from: usize, to: usize| {
        let part = &bytes[from..to];
        let Some(skip) = part.iter().position(|byte| !byte.is_ascii_whitespace()) else { return };
        found.push((from + skip, parse(&part[skip..])));
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
                add(from, at);
                from = at + 1;
            }
            _ => {}
        }
    }
    add(from, end.unwrap_or(bytes.len()));
    let after = end.map_or(bytes.len(), |end| end + 1);
    let mut number = 1;
    let (mut counted, mut line_start) = (0, 0);
    let mut out: Vec<JsonRow> = Vec::with_capacity(found.len());
    for (at, value) in found {
        let between = &bytes[counted..at];
        number += newlines(between);
        line_start =
            between.iter().rposition(|&byte| byte == b'\n').map_or(line_start, |place| counted + place + 1);
        counted = at;
        let mut number = number;
        let value = value.map_err(|wrong| {
            number += wrong.lines_below;
            let indent = String::from_utf8_lossy(&bytes[line_start..at]).chars().count();
            (Some(wrong.column + if wrong.lines_below == 0 { indent } else { 0 }), wrong.message)
        });
        out.push(JsonRow { line: number, value });
    }
    // A file that was cut off still yields what it has, and says so.
    let rest = &bytes[after..];
    let problem = match end {
        None => Some("the array does not end; the file may have been cut off"),
        Some(_) if !rest.iter().all(u8::is_ascii_whitespace) => Some(
            "there is more after the end of the array; put each row on its own line, or all into the array",
        ),
        Some(_) => None,
    };
    if let Some(problem) = problem {
        out.push(JsonRow {
            line: number + newlines(&bytes[counted..after]),
            value: Err((None, problem.to_owned())),
        });
    }
    out
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}
