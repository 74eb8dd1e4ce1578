//! TOML and JSON as one tree of values that know where in the text they stand.

use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Deepest nesting that is read. Rubrics need five levels.
const MAX_DEPTH: usize = 16;

/// A value and the byte offset at which it begins.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) offset: usize,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    /// JSON's `null`.
    Null,
    Text(String),
    /// A number and how it was written.
    Number(f64, String),
    List(Vec<Node>),
    /// In the order of the file for JSON, by key for TOML. JSON may give a key twice.
    Table(Vec<Entry>),
    /// A value of a kind that no field takes: its name with an article.
    Other(&'static str),
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_offset: usize,
    pub(crate) value: Node,
}

/// Why a text is no tree: byte offset and message.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    pub(crate) offset: usize,
    pub(crate) message: String,
}

impl Kind {
    /// What the value is, with an article, for messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Text(_) => "a text",
            Self::Number(..) => "a number",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(what) => what,
        }
    }
}

/// Reads TOML; on failure all syntax errors, at most one a line.
pub(crate) fn toml(text: &str) -> Result<Node, Vec<SyntaxError>> {
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
        DeValue::Boolean(_) => Kind::Other("true or false"),
        DeValue::Datetime(_) => Kind::Other("a date or time"),
        DeValue::Array(items) => Kind::List(items.into_iter().map(toml_node).collect()),
        DeValue::Table(table) => Kind::Table(toml_entries(table)),
    };
    Node { offset, kind }
}

/// Reads JSON.
pub(crate) fn json(text: &str) -> Result<Node, SyntaxError> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| syntax_error(text, text, &error))?;
    json_node(text, raw, 0)
}

/// serde_json lends every value as a slice of the text; where the slice begins is where the value stands.
fn json_node(text: &str, raw: &RawValue, depth: usize) -> Result<Node, SyntaxError> {
    let slice = raw.get();
    let offset = offset_in(text, slice);
    let fail = |error: serde_json::Error| syntax_error(text, slice, &error);
    let kind = match slice.as_bytes().first() {
        Some(b'{' | b'[') if depth == MAX_DEPTH => {
            let message =
                format!("lists and tables are nested deeper than {MAX_DEPTH}; rubrics need five levels");
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
                let value = json_node(text, raw, depth + 1)?;
                after = value.offset + raw.get().len();
                entries.push(Entry { key, key_offset, value });
            }
            Kind::Table(entries)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(slice).map_err(fail)?;
            Kind::List(
                items.into_iter().map(|raw| json_node(text, raw, depth + 1)).collect::<Result<_, _>>()?,
            )
        }
        Some(b'"') => Kind::Text(serde_json::from_str(slice).map_err(fail)?),
        Some(b'n') => Kind::Null,
        Some(b't' | b'f') => Kind::Other("true or false"),
        // The grammar of JSON's numbers, which has been checked, lies within that of Rust's, which is read exactly.
        _ => slice.parse().map_or(Kind::Other("a number that cannot be read"), |number| {
            Kind::Number(number, slice.to_owned())
        }),
    };
    Ok(Node { offset, kind })
}

fn offset_in(text: &str, slice: &str) -> usize {
    (slice.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len())
}

/// serde_json counts lines, and bytes within the line, from the beginning of `slice`.
fn syntax_error(text: &str, slice: &str, error: &serde_json::Error) -> SyntaxError {
    let line_start = error.line().checked_sub(2).map_or(0, |newlines| {
        slice.match_indices('\n').nth(newlines).map_or(slice.len(), |(newline, _)| newline + 1)
    });
    let offset = offset_in(text, slice) + line_start + error.column().saturating_sub(1);
    let full = error.to_string();
    let message = full.rfind(" at line ").and_then(|end| full.get(..end)).unwrap_or(&full);
    SyntaxError { offset, message: format!("this is not valid JSON: {message}") }
}

/// The entries of a JSON object in their order, doubles kept.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

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
