//! TOML and JSON as one tree of values that know where in the text they stand: what [`read`](crate::read) reads rubrics
//! from, and readers of other files of judging may read theirs from.

use std::fmt::{self, Write as _};

pub use crate::wording::{looks_like_path, nearest};

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Deepest nesting of lists and tables that [`json`] should be asked for: each level reads what stands within it again.
pub const MAX_DEPTH: usize = 64;

/// A value and the byte offset at which it begins.
#[derive(Debug)]
pub struct Node {
    /// Bytes from the start of the text.
    pub offset: usize,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug)]
pub enum Kind {
    /// JSON's `null`.
    Null,
    /// A text.
    Text(String),
    /// A number and how it was written.
    Number(f64, String),
    /// True or false.
    Flag(bool),
    /// A list.
    List(Vec<Node>),
    /// In the order of the file for JSON, by key for TOML. JSON may give a key twice.
    Table(Vec<Entry>),
    /// A value of a kind that no field takes: its name with an article.
    Other(&'static str),
}

/// A key with its value.
#[derive(Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands, in bytes.
    pub key_offset: usize,
    /// The value.
    pub value: Node,
}

/// Why a text is no tree.
#[derive(Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where, in bytes.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
}

impl Kind {
    /// What the value is, with an article, for messages.
    #[must_use]
    pub const fn describe(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Text(_) => "a text",
            Self::Number(..) => "a number",
            Self::Flag(_) => "true or false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(what) => what,
        }
    }
}

/// Reads TOML.
///
/// # Errors
/// All syntax errors in their order, at most one a line.
pub fn toml(text: &str) -> Result<Node, Vec<SyntaxError>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(Node { offset: 0, kind: Kind::Table(toml_entries(table.into_inner())) });
    }
    let mut found: Vec<SyntaxError> = errors
        .iter()
        .map(|error| SyntaxError {
            offset: error.span().map_or(0, |span| span.start),
            message: format!("this is not valid TOML: {}", error.message().replace('\n', ", ")),
        })
        .collect();
    found.sort_by_key(|error| error.offset);
    // The parser recovers within a line, and what it then says about the same line is mostly a consequence.
    found.dedup_by(|later, earlier| {
        text.get(earlier.offset..later.offset).is_some_and(|between| !between.contains('\n'))
    });
    Err(found)
}

fn toml_entries(table: DeTable<'_>) -> Vec<Entry> {
    table
        .into_iter()
        .map(|(key, value)| Entry {
            key_offset: key.span().start,
            key: key.into_inner().into_owned(),
            value: toml_node(value),
        })
        .collect()
}

/// The parser bounds the depth, so recursion is safe here.
fn toml_node(value: Spanned<DeValue<'_>>) -> Node {
    let offset = value.span().start;
    let kind = match value.into_inner() {
        DeValue::String(text) => Kind::Text(text.into_owned()),
        DeValue::Integer(integer) => {
            let written = integer.to_string();
            i64::from_str_radix(integer.as_str(), integer.radix())
                .map_or(Kind::Other("a number that is too large"), |number| {
                    Kind::Number(number as f64, written)
                })
        }
        DeValue::Float(float) => {
            float.as_str().parse().map_or(Kind::Other("a number that cannot be read"), |number| {
                Kind::Number(number, float.as_str().to_owned())
            })
        }
        DeValue::Boolean(flag) => Kind::Flag(flag),
        DeValue::Datetime(_) => Kind::Other("a date or time"),
        DeValue::Array(items) => Kind::List(items.into_iter().map(toml_node).collect()),
        DeValue::Table(table) => Kind::Table(toml_entries(table)),
    };
    Node { offset, kind }
}

/// Reads JSON of at most this many lists and tables within each other, which should not be more than [`MAX_DEPTH`].
///
/// # Errors
/// The first syntax error, or where the nesting is deeper.
pub fn json(text: &str, deepest: usize) -> Result<Node, SyntaxError> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| syntax_error(text, text, &error))?;
    json_node(text, raw, deepest.min(MAX_DEPTH))
}

/// serde_json lends every value as a slice of the text; where the slice begins is where the value stands.
fn json_node(text: &str, raw: &RawValue, deeper: usize) -> Result<Node, SyntaxError> {
    let slice = raw.get();
    let offset = offset_in(text, slice);
    let fail = |error: serde_json::Error| syntax_error(text, slice, &error);
    let kind = match slice.as_bytes().first() {
        Some(b'{' | b'[') if deeper == 0 => {
            let message = "lists and tables are nested deeper than anything that is read here".to_owned();
            return Err(SyntaxError { offset, message });
        }
        Some(b'{') => {
            let pairs: Pairs<'_> = serde_json::from_str(slice).map_err(fail)?;
            let mut entries = Vec::with_capacity(pairs.0.len());
            // Between one value and the next stand white space, a comma, and the key: its quote is the first.
            let mut after = offset + 1;
            for (key, raw) in pairs.0 {
                let key_offset =
                    text.get(after..).and_then(|rest| rest.find('"')).map_or(after, |quote| after + quote);
                let value = json_node(text, raw, deeper - 1)?;
                after = value.offset + raw.get().len();
                entries.push(Entry { key, key_offset, value });
            }
            Kind::Table(entries)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(slice).map_err(fail)?;
            Kind::List(
                items.into_iter().map(|raw| json_node(text, raw, deeper - 1)).collect::<Result<_, _>>()?,
            )
        }
        Some(b'"') => Kind::Text(serde_json::from_str(slice).map_err(fail)?),
        Some(b'n') => Kind::Null,
        Some(first @ (b't' | b'f')) => Kind::Flag(*first == b't'),
        // The grammar of JSON's numbers, which has been checked, lies within that of Rust's, which is read exactly.
        _ => slice.parse().map_or(Kind::Other("a number that cannot be read"), |number| {
            Kind::Number(number, slice.to_owned())
        }),
    };
    Ok(Node { offset, kind })
}

/// Where a slice of the text begins in it, in bytes.
#[must_use]
pub fn offset_in(text: &str, slice: &str) -> usize {
    (slice.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len())
}

/// What serde_json says of `slice`, placed in `text`, of which it is a slice: serde_json counts lines, and bytes within
/// the line, from the beginning of what it reads.
#[must_use]
pub fn syntax_error(text: &str, slice: &str, error: &serde_json::Error) -> SyntaxError {
    let line_start = error.line().checked_sub(2).map_or(0, |newlines| {
        slice.match_indices('\n').nth(newlines).map_or(slice.len(), |(newline, _)| newline + 1)
    });
    let offset = offset_in(text, slice) + line_start + error.column().saturating_sub(1);
    let full = error.to_string();
    let message = full.rfind(" at line ").and_then(|end| full.get(..end)).unwrap_or(&full);
    SyntaxError { offset: offset.min(text.len()), message: format!("this is not valid JSON: {message}") }
}

/// The entries of a JSON object in their order, doubles kept; each value as it stands in the text.
#[derive(Debug)]
pub struct Pairs<'a>(pub Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;
        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(PairsVisitor)
    }
}

/// A text as a TOML basic string, in its quotation marks.
#[must_use]
pub fn toml_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            control if control.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
