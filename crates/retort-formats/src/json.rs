//! JSON and JSON Lines as values that know where in the text they stand.

use retort_rubric::tree::{Pairs, SyntaxError, offset_in, syntax_error};
use serde_json::value::RawValue;

/// Values nested deeper than this are kept as they are, unread: each level is one more pass over what it holds, and
/// no known format says anything so deep.
const MAX_DEPTH: usize = 8;

/// A value, the byte offset at which it begins, and its text.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub(crate) offset: usize,
    pub(crate) raw: &'a str,
    pub(crate) kind: Kind<'a>,
}

#[derive(Debug)]
pub(crate) enum Kind<'a> {
    Null,
    Bool,
    Text(String),
    /// Finite, or infinite where the text's number is beyond `f64`.
    Number(f64),
    List(Vec<Node<'a>>),
    /// In the order of the file; a key may stand twice.
    Table(Vec<(String, Node<'a>)>),
    /// Nested too deep to be read.
    Deep,
}

/// A file of JSON.
#[derive(Debug)]
pub(crate) enum Document<'a> {
    /// One value.
    One(Node<'a>),
    /// A value on each line that is not blank, or what is wrong with it.
    Lines(Vec<Result<Node<'a>, SyntaxError>>),
}

impl Document<'_> {
    /// Reads a text as one JSON value, or as JSON Lines where its first line that is not blank is a value and more
    /// follows.
    pub(crate) fn parse(text: &str) -> Result<Document<'_>, SyntaxError> {
        let whole = match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) => return Node::of(text, raw, 0).map(Document::One),
            Err(error) => syntax_error(text, text, &error),
        };
        let mut lines = text.split('\n').filter(|line| !line.trim().is_empty()).peekable();
        let first = lines.peek().is_some_and(|line| serde_json::from_str::<&RawValue>(line).is_ok());
        if !first {
            return Err(whole);
        }
        let read = |line| {
            let raw =
                serde_json::from_str::<&RawValue>(line).map_err(|error| syntax_error(text, line, &error))?;
            Node::of(text, raw, 0)
        };
        Ok(Document::Lines(lines.map(read).collect()))
    }
}

impl<'a> Node<'a> {
    /// serde_json lends every value as a slice of the text; where the slice begins is where the value stands.
    fn of(text: &'a str, value: &'a RawValue, depth: usize) -> Result<Self, SyntaxError> {
        let raw = value.get();
        let fail = |error: serde_json::Error| syntax_error(text, raw, &error);
        let kind = match raw.as_bytes().first() {
            Some(b'{' | b'[') if depth == MAX_DEPTH => Kind::Deep,
            Some(b'{') => {
                let pairs: Pairs<'a> = serde_json::from_str(raw).map_err(fail)?;
                let entries =
                    pairs.0.into_iter().map(|(key, value)| Ok((key, Self::of(text, value, depth + 1)?)));
                Kind::Table(entries.collect::<Result<_, SyntaxError>>()?)
            }
            Some(b'[') => {
                let items: Vec<&'a RawValue> = serde_json::from_str(raw).map_err(fail)?;
                let items = items.into_iter().map(|value| Self::of(text, value, depth + 1));
                Kind::List(items.collect::<Result<_, _>>()?)
            }
            Some(b'"') => Kind::Text(serde_json::from_str(raw).map_err(fail)?),
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') | None => Kind::Null,
            // The grammar of JSON's numbers, which has been checked, lies within that of Rust's.
            Some(_) => raw.parse().map_or(Kind::Deep, Kind::Number),
        };
        Ok(Self { offset: offset_in(text, raw), raw, kind })
    }

    /// The value of a table's key; the last one where it stands twice, as other readers have it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The same, `null` being as good as absent.
    pub(crate) fn given(&self, key: &str) -> Option<&Self> {
        self.get(key).filter(|node| !matches!(node.kind, Kind::Null))
    }

    pub(crate) fn entries(&self) -> &[(String, Self)] {
        if let Kind::Table(entries) = &self.kind { entries } else { &[] }
    }

    pub(crate) fn items(&self) -> &[Self] {
        if let Kind::List(items) = &self.kind { items } else { &[] }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Kind::Text(text) = &self.kind { Some(text) } else { None }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        if let Kind::Number(number) = self.kind { Some(number) } else { None }
    }

    pub(crate) fn is_table(&self) -> bool {
        matches!(self.kind, Kind::Table(_))
    }

    /// What the value is, with an article, for messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool => "true or false",
            Kind::Text(_) => "a text",
            Kind::Number(_) => "a number",
            Kind::List(_) => "a list",
            Kind::Table(_) => "an object",
            Kind::Deep => "something nested too deep",
        }
    }

    /// The value as it is, to be written back.
    pub(crate) fn value(&self) -> serde_json::Value {
        serde_json::from_str(self.raw).unwrap_or(serde_json::Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_where_they_stand() {
        let text = "{\"é\": [1, {\"b\": null}],\n \"é\": \"x\"}";
        let Document::One(node) = Document::parse(text).unwrap() else { panic!("one value") };
        let first = &node.entries()[0].1;
        // Byte offsets, counted by hand: é has two bytes.
        assert_eq!((first.offset, first.items()[0].offset, first.items()[1].offset), (7, 8, 11));
        assert_eq!(node.get("é").and_then(Node::text), Some("x"));
        assert_eq!(first.value(), serde_json::json!([1, {"b": null}]));
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        assert!(matches!(Document::parse(&deep), Ok(Document::One(_))));
        assert!(Document::parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn p26_p27_lines_end_at_lf_alone_and_the_last_needs_none() {
        let text = "{\"a\": \"x\u{2028}y\u{85}z\"}\r\n\n{\"a\": \r1}\n{\"a\": }\n{\"a\": 2}";
        let Document::Lines(lines) = Document::parse(text).unwrap() else { panic!("lines") };
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0].as_ref().unwrap().get("a").unwrap().text(), Some("x\u{2028}y\u{85}z"));
        assert_eq!(lines[1].as_ref().unwrap().get("a").unwrap().number(), Some(1.0));
        assert_eq!(lines[3].as_ref().unwrap().get("a").unwrap().number(), Some(2.0));
        // The brace that should be a value.
        assert_eq!(lines[2].as_ref().unwrap_err().offset, text.find("}\n{\"a\": 2").unwrap());
        assert!(Document::parse("x\n{}").is_err());
    }
}
