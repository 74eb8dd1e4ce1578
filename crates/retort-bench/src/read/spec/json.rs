//! JSON whose tables keep the order of the file, and paths into it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// A JSON value. Tables keep the file's order, which `serde_json`'s own do not.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::read) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Json>),
    Table(Vec<(String, Json)>),
}

impl Json {
    /// What is at a path of keys and list positions joined by dots; `*` stands for every element of a list or table.
    ///
    /// A key may itself have dots (`gpt-3.5.text`): of the keys that fit, the longest that leads somewhere is taken. Of a
    /// key that a table has twice, the later value counts, as in most readers of JSON.
    pub(in crate::read) fn find(&self, path: &str) -> Vec<&Self> {
        let mut found = Vec::new();
        self.collect(path, &mut found);
        found
    }

    fn collect<'a>(&'a self, path: &str, found: &mut Vec<&'a Self>) -> bool {
        if path.is_empty() {
            found.push(self);
            return true;
        }
        let (head, rest) = path.split_once('.').unwrap_or((path, ""));
        match self {
            Self::List(list) if head == "*" => {
                let before = found.len();
                list.iter().for_each(|value| _ = value.collect(rest, found));
                found.len() > before
            }
            Self::Table(table) if head == "*" => {
                let before = found.len();
                table.iter().for_each(|(_, value)| _ = value.collect(rest, found));
                found.len() > before
            }
            Self::List(list) => match head.parse::<usize>().ok().and_then(|at| list.get(at)) {
                Some(value) => value.collect(rest, found),
                None => false,
            },
            Self::Table(table) => {
                let ends = std::iter::once(path.len()).chain(path.rmatch_indices('.').map(|(at, _)| at));
                ends.into_iter().any(|end| {
                    let rest = path.get(end + 1..).unwrap_or_default();
                    let value = table.iter().rev().find(|(key, _)| *key == path[..end]);
                    value.is_some_and(|(_, value)| value.collect(rest, found))
                })
            }
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => false,
        }
    }

    /// A scalar as JSON writes it, text without its quotes; `None` for null, lists and tables.
    pub(in crate::read) fn scalar(&self) -> Option<String> {
        match self {
            Self::Bool(value) => Some(value.to_string()),
            Self::Number(value) => Some(value.to_string()),
            Self::Text(text) => Some(text.clone()),
            Self::Null | Self::List(_) | Self::Table(_) => None,
        }
    }

    /// What it is, for messages.
    pub(in crate::read) fn what(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyJson)
    }
}

struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = access.next_element()? {
            list.push(value);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut table = Vec::new();
        while let Some(entry) = access.next_entry()? {
            table.push(entry);
        }
        Ok(Json::Table(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, path: &str) -> Vec<String> {
        let json: Json = match serde_json::from_str(text) {
            Ok(json) => json,
            Err(error) => return vec![error.to_string()],
        };
        json.find(path).into_iter().filter_map(Json::scalar).collect()
    }

    #[test]
    fn paths_lead_through_tables_lists_and_keys_with_dots() {
        let text = r#"{"a": [{"b": 1}, {"b": 2.0}, {"c": true}], "v1.5": {"t": "x"}, "v1": {"5": {"u": "y"}}, "a.0": 7}"#;
        for (path, right) in [
            ("a.0.b", &["1"][..]),
            ("a.1.b", &["2.0"]),
            ("a.*.b", &["1", "2.0"]),
            ("a.2.c", &["true"]),
            ("a.3.b", &[]),
            ("v1.5.t", &["x"]),
            ("v1.5.u", &["y"]),
            ("a.0", &["7"]),
            ("v1.*.u", &["y"]),
            ("a.b", &[]),
        ] {
            assert_eq!(found(text, path), right, "{path}");
        }
    }

    #[test]
    fn of_a_key_given_twice_the_later_counts() {
        assert_eq!(found(r#"{"a": 1, "a": 2}"#, "a"), ["2"]);
    }
}
