//! JSON: found in a response, parsed, and held against keys and a schema.

use std::ops::Range;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::constraint::{MAX_DEPTH, Place};
use crate::finding::{Finding, Verdict};
use crate::outline::Kind;
use crate::segment::Segmented;
use crate::text::{excerpt, trimmed};

/// The keywords of JSON Schema that are checked. Those that only describe (`title`, `description`, `$schema`, `$id`,
/// `$comment`, `default`, `examples`) are passed over; any other makes the constraint invalid.
pub const SCHEMA_KEYWORDS: &[&str] = &[
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minProperties",
    "maxProperties",
    "anyOf",
    "allOf",
    "oneOf",
    "not",
];

const DESCRIPTIONS: &[&str] = &["title", "description", "$schema", "$id", "$comment", "default", "examples"];
const TYPES: &[&str] = &["object", "array", "string", "number", "integer", "boolean", "null"];

/// What is the only block of a response, without its fences, when that is a code block.
pub(crate) fn sole_code(text: &Segmented<'_>) -> Option<Range<usize>> {
    match text.blocks.as_ref() {
        [block] if matches!(block.kind, Kind::Code { .. }) => Some(block.content.clone()),
        _ => None,
    }
}

pub(crate) fn verify(text: &Segmented<'_>, place: Place, keys: &[String], schema: Option<&Value>) -> Finding {
    if place == Place::Whole {
        let range = sole_code(text).unwrap_or_else(|| trimmed(text.text));
        return verify_candidate(text, &range, keys, schema);
    }
    let mut first: Option<Finding> = None;
    for range in candidates(text) {
        let finding = verify_candidate(text, &range, keys, schema);
        if finding.verdict == Verdict::Met {
            return finding;
        }
        first.get_or_insert(finding);
    }
    first.unwrap_or_else(|| Finding::not_met("there is no JSON object or array in the response"))
}

/// Where JSON may stand: in code blocks, else from the first opening bracket to the last closing one of its kind.
fn candidates(text: &Segmented<'_>) -> Vec<Range<usize>> {
    let code: Vec<Range<usize>> = text
        .blocks
        .iter()
        .filter(|block| matches!(block.kind, Kind::Code { .. }))
        .map(|block| block.content.clone())
        .filter(|range| text.slice(range).trim_start().starts_with(['{', '[']))
        .collect();
    let between = |open: char, close: char| {
        let start = text.text.find(open)?;
        let end = text.text.rfind(close)? + 1;
        (start < end).then_some(start..end)
    };
    let mut bare: Vec<Range<usize>> = [between('{', '}'), between('[', ']')].into_iter().flatten().collect();
    bare.sort_by_key(|range| range.start);
    code.into_iter().chain(bare).collect()
}

fn verify_candidate(
    text: &Segmented<'_>,
    range: &Range<usize>,
    keys: &[String],
    schema: Option<&Value>,
) -> Finding {
    let inner = text.slice(range);
    if inner.trim().is_empty() {
        return Finding::not_met("there is nothing that could be JSON");
    }
    if let Err(error) = serde_json::from_str::<IgnoredAny>(inner) {
        let at = range.start + offset_of(inner, error.line(), error.column());
        let end = text.text.get(at..).and_then(|rest| rest.chars().next()).map_or(at, |c| at + c.len_utf8());
        return Finding::not_met(format!("not JSON: {}", without_position(&error))).at(at..end);
    }
    if keys.is_empty() && schema.is_none() {
        return Finding::met("the text is JSON").at(range.clone());
    }
    let value: Value = match serde_json::from_str(inner) {
        Ok(value) => value,
        Err(error) => {
            return Finding::not_applicable(format!(
                "JSON, but it goes beyond what this program can hold: {}",
                without_position(&error)
            ))
            .at(range.clone());
        }
    };
    if let Err(problem) = has_keys(&value, keys) {
        return Finding::not_met(problem).at(range.clone());
    }
    if let Some(schema) = schema
        && let Err(problem) = conforms(&value, schema, "")
    {
        return Finding::not_met(format!("JSON, but not as the schema says: {problem}")).at(range.clone());
    }
    let sentence = match (keys.is_empty(), schema.is_some()) {
        (false, false) => format!("the text is JSON with {}", list(keys)),
        (false, true) => format!("the text is JSON with {}, as the schema says", list(keys)),
        _ => "the text is JSON as the schema says".to_owned(),
    };
    Finding::met(sentence).at(range.clone())
}

fn list(keys: &[String]) -> String {
    let quoted: Vec<String> = keys.iter().map(|key| format!("\"{key}\"")).collect();
    format!("the {} {}", if keys.len() == 1 { "key" } else { "keys" }, quoted.join(", "))
}

/// serde_json's message with the place in words of its own.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((message, _)) => format!("{message}, in line {}", error.line()),
        None => text,
    }
}

/// The byte that a line (from 1) and a column (in bytes, from 1) point at, on a character's boundary.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let start = match line.checked_sub(2) {
        None => 0,
        Some(skip) => text.match_indices('\n').nth(skip).map_or(0, |(at, _)| at + 1),
    };
    let mut at = (start + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn has_keys(value: &Value, keys: &[String]) -> Result<(), String> {
    if keys.is_empty() {
        return Ok(());
    }
    let check = |object: &Map<String, Value>, which: &str| {
        let missing: Vec<String> = keys.iter().filter(|key| !object.contains_key(*key)).cloned().collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("JSON, but {which} lacks {}", list(&missing))) }
    };
    match value {
        Value::Object(object) => check(object, "its object"),
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().try_for_each(|(index, item)| match item {
                Value::Object(object) => check(object, &format!("element {}", index + 1)),
                _ => Err(format!("JSON, but element {} is not an object with {}", index + 1, list(keys))),
            })
        }
        _ => Err(format!("JSON, but not an object with {}", list(keys))),
    }
}

/// Whether a schema holds nothing but what [`conforms`] checks.
pub(crate) fn check_schema(schema: &Value, depth: usize) -> Result<(), (String, String)> {
    if depth > MAX_DEPTH {
        return Err((String::new(), format!("schemas stand more than {MAX_DEPTH} deep within each other")));
    }
    let object = match schema {
        Value::Bool(_) => return Ok(()),
        Value::Object(object) => object,
        _ => return Err((String::new(), "a schema is an object or a boolean".to_owned())),
    };
    for (key, value) in object {
        let at = || format!(".{key}");
        let wrong = |message: &str| Err((at(), message.to_owned()));
        let inside = |inner: &Value, more: String| {
            check_schema(inner, depth + 1).map_err(|(path, message)| (format!(".{key}{more}{path}"), message))
        };
        match key.as_str() {
            "type" => {
                let names: Vec<&Value> =
                    value.as_array().map_or_else(|| vec![value], |all| all.iter().collect());
                if names.is_empty() || !names.iter().all(|n| n.as_str().is_some_and(|n| TYPES.contains(&n))) {
                    return wrong("not a type of JSON");
                }
            }
            "properties" => match value {
                Value::Object(all) => {
                    for (name, inner) in all {
                        inside(inner, format!(".{name}"))?;
                    }
                }
                _ => return wrong("not an object of schemas"),
            },
            "required" => {
                if !value.as_array().is_some_and(|all| all.iter().all(Value::is_string)) {
                    return wrong("not a list of keys");
                }
            }
            "items" | "additionalProperties" | "not" => inside(value, String::new())?,
            "anyOf" | "allOf" | "oneOf" => match value.as_array().filter(|all| !all.is_empty()) {
                Some(all) => {
                    for (index, inner) in all.iter().enumerate() {
                        inside(inner, format!("[{index}]"))?;
                    }
                }
                None => return wrong("not a list of schemas"),
            },
            "enum" => {
                if !value.is_array() {
                    return wrong("not a list of values");
                }
            }
            "const" => {}
            "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties" => {
                if value.as_u64().is_none() {
                    return wrong("not a count");
                }
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                if !value.is_number() {
                    return wrong("not a number");
                }
            }
            other if DESCRIPTIONS.contains(&other) => {}
            _ => return wrong("this keyword of JSON Schema is not supported"),
        }
    }
    Ok(())
}

/// Whether a value is what a checked schema says.
fn conforms(value: &Value, schema: &Value, path: &str) -> Result<(), String> {
    let object = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Object(object) => object,
        _ => return Err(format!("{} is not allowed", named(path))),
    };
    for (key, rule) in object {
        match key.as_str() {
            "type" => {
                let fits = |name: &str| match name {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "number" => value.is_number(),
                    "integer" => is_integer(value),
                    "boolean" => value.is_boolean(),
                    _ => value.is_null(),
                };
                let names: Vec<&str> = match rule {
                    Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
                    one => one.as_str().into_iter().collect(),
                };
                if !names.iter().any(|name| fits(name)) {
                    return Err(format!("{} is not of type {}", named(path), names.join(" or ")));
                }
            }
            "properties" => {
                if let (Value::Object(members), Value::Object(rules)) = (value, rule) {
                    for (name, inner) in rules {
                        if let Some(member) = members.get(name) {
                            conforms(member, inner, &format!("{path}.{name}"))?;
                        }
                    }
                }
            }
            "required" => {
                if let (Value::Object(members), Value::Array(names)) = (value, rule) {
                    let missing =
                        names.iter().filter_map(Value::as_str).find(|name| !members.contains_key(*name));
                    if let Some(name) = missing {
                        return Err(format!("{} lacks the key \"{name}\"", named(path)));
                    }
                }
            }
            "additionalProperties" => {
                if let Value::Object(members) = value {
                    let known = object.get("properties").and_then(Value::as_object);
                    for (name, member) in members {
                        if !known.is_some_and(|known| known.contains_key(name)) {
                            conforms(member, rule, &format!("{path}.{name}"))?;
                        }
                    }
                }
            }
            "items" => {
                if let Value::Array(items) = value {
                    for (index, item) in items.iter().enumerate() {
                        conforms(item, rule, &format!("{path}[{index}]"))?;
                    }
                }
            }
            "enum" => {
                if !rule.as_array().is_some_and(|all| all.iter().any(|one| same(one, value))) {
                    return Err(format!("{} is none of the values allowed", named(path)));
                }
            }
            "const" => {
                if !same(rule, value) {
                    return Err(format!("{} is not {}", named(path), excerpt(&rule.to_string())));
                }
            }
            "anyOf" => {
                if !rule
                    .as_array()
                    .is_some_and(|all| all.iter().any(|one| conforms(value, one, path).is_ok()))
                {
                    return Err(format!("{} fits none of the schemas allowed", named(path)));
                }
            }
            "allOf" => {
                if let Value::Array(all) = rule {
                    all.iter().try_for_each(|one| conforms(value, one, path))?;
                }
            }
            "oneOf" => {
                let count = rule
                    .as_array()
                    .map_or(0, |all| all.iter().filter(|one| conforms(value, one, path).is_ok()).count());
                if count != 1 {
                    return Err(format!("{} fits {count} of the schemas, not one", named(path)));
                }
            }
            "not" => {
                if conforms(value, rule, path).is_ok() {
                    return Err(format!("{} is what it must not be", named(path)));
                }
            }
            bound => within_bound(value, bound, rule, path)?,
        }
    }
    Ok(())
}

fn within_bound(value: &Value, bound: &str, rule: &Value, path: &str) -> Result<(), String> {
    let size = match (bound, value) {
        ("minItems" | "maxItems", Value::Array(items)) => items.len(),
        ("minLength" | "maxLength", Value::String(text)) => text.chars().count(),
        ("minProperties" | "maxProperties", Value::Object(members)) => members.len(),
        (_, Value::Number(number)) => {
            let (Some(number), Some(rule)) = (number.as_f64(), rule.as_f64()) else { return Ok(()) };
            let (fits, words) = match bound {
                "minimum" => (number >= rule, "at least"),
                "maximum" => (number <= rule, "at most"),
                "exclusiveMinimum" => (number > rule, "more than"),
                "exclusiveMaximum" => (number < rule, "less than"),
                _ => return Ok(()),
            };
            return if fits {
                Ok(())
            } else {
                Err(format!("{} is {number}, not {words} {rule}", named(path)))
            };
        }
        _ => return Ok(()),
    };
    let size = u64::try_from(size).unwrap_or(u64::MAX);
    let asked = rule.as_u64().unwrap_or(0);
    let (fits, words) =
        if bound.starts_with("min") { (size >= asked, "at least") } else { (size <= asked, "at most") };
    if fits { Ok(()) } else { Err(format!("{} has a length of {size}, not {words} {asked}", named(path))) }
}

fn named(path: &str) -> String {
    if path.is_empty() { "the value".to_owned() } else { path.trim_start_matches('.').to_owned() }
}

/// JSON Schema counts 1.0 as an integer.
fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number % 1.0 == 0.0)
}

/// Equality as JSON Schema has it: 1 equals 1.0.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64().is_some_and(|x| Some(x) == y.as_f64()),
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y)),
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, x)| y.get(key).is_some_and(|y| same(x, y)))
        }
        _ => a == b,
    }
}
