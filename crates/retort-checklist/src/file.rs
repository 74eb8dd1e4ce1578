//! Checklist files: reading them with every mistake and its place, and writing what reads back as the same.

use std::fmt::Write as _;

use retort_rubric::tree::{self, Kind, Node, nearest, toml_string};
use retort_rubric::{Diagnostic, Format, ReadError, Severity, Skill};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde_json::{Map, Number, Value};

use crate::{AnswerForm, Checklist, ChecklistProblem, Constraint, Item, Origin};

const LIST_FIELDS: [&str; 5] = ["name", "instruction_sha256", "items", "item", "checklist"];
const ITEM_FIELDS: [&str; 9] =
    ["id", "question", "origin", "skill", "weight", "answer", "constraint", "condition", "passage"];

/// Most findings that are listed.
const MAX_FINDINGS: usize = 100;
/// Deepest nesting: constraints within constraints, and a schema within those.
const DEEPEST: usize = tree::MAX_DEPTH;

/// What a checklist file holds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChecklistReading {
    /// The checklist; [`Checklist::check`] finds no error in it.
    pub checklist: Checklist,
    /// What is doubtful about it, in the file's order.
    pub warnings: Vec<Diagnostic>,
}

/// Why a checklist cannot be written to a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChecklistWriteError {
    /// It would be refused when read.
    #[error("the checklist cannot be used: {}", joined(.0))]
    Invalid(Vec<ChecklistProblem>),
    /// TOML has no null and no integers beyond 64 bits with a sign, and a schema has one.
    #[error("items[{item}].constraint: TOML has no way to write {what}; write the checklist as JSON")]
    NotToml {
        /// The item's index.
        item: usize,
        /// What cannot be written.
        what: String,
    },
    /// The JSON writer failed.
    #[error("the checklist cannot be written as JSON: {0}")]
    Json(String),
}

fn joined(problems: &[ChecklistProblem]) -> String {
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    texts.join(". ")
}

/// Reads a checklist file's text. `name` is the file's name and serves messages only; TOML and JSON are told apart by
/// the text.
///
/// ```toml
/// name = "Refunds"                 # may be left out
/// [[item]]
/// question = "Does the response offer a voucher?"
/// condition = "the customer asks for a refund"
/// weight = 2                       # may be left out: 1
/// [[item]]
/// id = "short"                     # may be left out: item-2
/// constraint = { kind = "count", what = "word", limit = { at_most = 80 } }   # its question is made from it
/// ```
///
/// JSON takes the same fields, the items in a list under `items`; what serde writes for a [`Checklist`] is read too. An
/// item may be its question alone, and the whole file a list of items: so RocketEval's and WildBench's lists of questions
/// are read as they are, also under `checklist`.
///
/// # Errors
/// Every mistake in the file with its line and column, of which the first hundred are listed: where it is not valid TOML
/// or JSON, those; otherwise every unknown, missing, doubled or mistyped field, and all that [`Checklist::check`] finds.
pub fn read_checklist(text: &str, name: &str) -> Result<ChecklistReading, ReadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { text, file: name, found: Vec::new() };
    let checklist = reader.file();
    let mut found = reader.found;
    found.sort_by_key(|(offset, _)| *offset);
    let failed = found.iter().any(|(_, finding)| finding.severity == Severity::Error);
    let more = found.len().saturating_sub(MAX_FINDINGS);
    // Errors first, so that no warning hides one.
    if more > 0 {
        found.sort_by_key(|(offset, finding)| (finding.severity == Severity::Warning, *offset));
        found.truncate(MAX_FINDINGS);
        found.sort_by_key(|(offset, _)| *offset);
    }
    let mut diagnostics = Vec::new();
    for (offset, finding) in found {
        let Finding { severity, path, message, hint } = finding;
        diagnostics.push(Diagnostic::at(severity, (name, text, offset), path, message, hint));
    }
    if more > 0 {
        let severity = if failed { Severity::Error } else { Severity::Warning };
        let message = format!("{more} more findings are not listed");
        diagnostics.push(Diagnostic::at(
            severity,
            (name, text, text.len()),
            "",
            message,
            "put these right first",
        ));
    }
    match checklist {
        Some(checklist) if !failed => Ok(ChecklistReading { checklist, warnings: diagnostics }),
        _ => Err(ReadError { diagnostics }),
    }
}

struct Finding {
    severity: Severity,
    path: String,
    message: String,
    hint: String,
}

struct Reader<'t> {
    text: &'t str,
    file: &'t str,
    found: Vec<(usize, Finding)>,
}

/// Where the parts of an item stand, for what is found wrong with it as a whole.
struct Places {
    item: usize,
    path: String,
    fields: Vec<(&'static str, usize)>,
    /// Fields about which enough has been said.
    faulty: Vec<&'static str>,
}

impl Reader<'_> {
    fn error(
        &mut self,
        offset: usize,
        path: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let (path, message, hint) = (path.into(), message.into(), hint.into());
        self.found.push((offset, Finding { severity: Severity::Error, path, message, hint }));
    }

    fn file(&mut self) -> Option<Checklist> {
        let text = self.text;
        let content = text.trim();
        if content.is_empty() {
            self.error(0, "", "the text is empty", "give a checklist as TOML or JSON");
            return None;
        }
        if tree::looks_like_path(content.trim_matches(['"', '\''])) {
            let message = format!("the text of {} is a file's path, not a checklist", self.file);
            self.error(0, "", message, "give what the file holds");
            return None;
        }
        let parsed = match Format::of(text) {
            Format::Json => tree::json(text, DEEPEST).map_err(|error| vec![error]),
            Format::Toml | Format::Auto => tree::toml(text),
        };
        let node = match parsed {
            Ok(node) => node,
            Err(errors) => {
                for error in errors {
                    let hint =
                        "write it as: [[item]], and below it: question = \"…\"; or as JSON: [\"…?\", \"…?\"]";
                    self.error(error.offset, "", error.message, hint);
                }
                return None;
            }
        };
        let mut checklist = Checklist::default();
        let mut places: Vec<Places> = Vec::new();
        let mut name_offsets: Vec<(&'static str, usize)> = Vec::new();
        match &node.kind {
            Kind::List(items) => self.items(items, "", &mut checklist, &mut places),
            Kind::Table(entries) => {
                let mut holders = 0;
                for (index, entry) in entries.iter().enumerate() {
                    let key = entry.key.as_str();
                    if entries.iter().take(index).any(|earlier| earlier.key == entry.key) {
                        let message = format!("the field {key:?} is given twice");
                        self.error(entry.key_offset, key, message, "keep one of them");
                        continue;
                    }
                    match key {
                        "name" => checklist.name = self.text(&entry.value, "name"),
                        "instruction_sha256" => {
                            name_offsets.push(("instruction_sha256", entry.value.offset));
                            checklist.instruction_sha256 = self.text(&entry.value, "instruction_sha256");
                        }
                        "items" | "item" | "checklist" => {
                            holders += 1;
                            if holders > 1 {
                                let message = format!("the items are given a second time, as {key:?}");
                                self.error(entry.key_offset, key, message, "put all items into one list");
                            }
                            match &entry.value.kind {
                                Kind::List(items) => self.items(items, key, &mut checklist, &mut places),
                                Kind::Table(_) => {
                                    self.items(
                                        std::slice::from_ref(&entry.value),
                                        key,
                                        &mut checklist,
                                        &mut places,
                                    );
                                }
                                other => {
                                    let message =
                                        format!("expected a list of items, found {}", other.describe());
                                    self.error(entry.value.offset, key, message, "give a list of questions");
                                }
                            }
                        }
                        _ => {
                            let message = format!("unknown field {key:?}");
                            self.error(entry.key_offset, key, message, suggestion(key, &LIST_FIELDS));
                        }
                    }
                }
                if holders == 0 {
                    self.error(
                        node.offset,
                        "",
                        "there are no items",
                        "add a list of questions under \"items\"",
                    );
                    return None;
                }
            }
            other => {
                let message = format!("expected a checklist, found {}", other.describe());
                self.error(node.offset, "", message, "give a list of questions, or a table with \"items\"");
                return None;
            }
        }
        if checklist.items.is_empty() && !self.found.is_empty() {
            return None;
        }
        give_ids(&mut checklist.items);
        for problem in checklist.check() {
            let place = problem.item.and_then(|index| places.get(index));
            if place.is_some_and(|place| place.faulty.contains(&problem.field)) {
                continue;
            }
            let (offset, path) = match place {
                Some(place) => {
                    let of =
                        |field: &str| place.fields.iter().find(|(name, _)| *name == field).map(|(_, at)| *at);
                    (of(problem.field).unwrap_or(place.item), format!("{}.{}", place.path, problem.field))
                }
                None => {
                    let at = name_offsets.iter().find(|(name, _)| *name == problem.field);
                    (at.map_or(node.offset, |(_, at)| *at), problem.field.to_owned())
                }
            };
            let ChecklistProblem { severity, message, hint, .. } = problem;
            self.found.push((offset, Finding { severity, path, message, hint }));
        }
        Some(checklist)
    }

    fn items(&mut self, nodes: &[Node], holder: &str, checklist: &mut Checklist, places: &mut Vec<Places>) {
        for (index, node) in nodes.iter().enumerate() {
            let path = format!("{holder}[{index}]");
            let mut place = Places { item: node.offset, path, fields: Vec::new(), faulty: Vec::new() };
            let item = self.item(node, &mut place);
            checklist.items.push(item);
            places.push(place);
        }
    }

    /// An item, also where it is faulty, so that the others keep their numbers.
    fn item(&mut self, node: &Node, place: &mut Places) -> Item {
        let mut item = Item::asking("", "");
        let entries = match &node.kind {
            Kind::Text(question) => {
                item.question.clone_from(question);
                return item;
            }
            Kind::Table(entries) => entries,
            other => {
                let message = format!("expected an item, found {}", other.describe());
                self.error(node.offset, &place.path, message, "give a question, or a table with one");
                place.faulty.extend(["id", "question"]);
                return item;
            }
        };
        for (index, entry) in entries.iter().enumerate() {
            let path = format!("{}.{}", place.path, entry.key);
            let Some(field) = ITEM_FIELDS.iter().find(|field| **field == entry.key) else {
                let message = format!("unknown field {:?}", entry.key);
                self.error(entry.key_offset, path, message, suggestion(&entry.key, &ITEM_FIELDS));
                continue;
            };
            if entries.iter().take(index).any(|earlier| earlier.key == entry.key) {
                let message = format!("the field {field:?} is given twice");
                self.error(entry.key_offset, path, message, "keep one of them");
                continue;
            }
            place.fields.push((field, entry.value.offset));
            let before = self.found.len();
            self.field(&mut item, field, &entry.value, &path);
            if self.found.len() > before {
                place.faulty.push(field);
            }
        }
        let has = |field: &str| place.fields.iter().any(|(name, _)| *name == field);
        if !has("question") {
            match &item.constraint {
                Some(constraint) => item.question = constraint.question(),
                None if place.faulty.contains(&"constraint") => place.faulty.push("question"),
                None => {
                    let hint = "ask one thing, such as: question = \"Does the response name a source?\"";
                    self.error(node.offset, &place.path, "the field \"question\" is missing", hint);
                    place.faulty.push("question");
                }
            }
        }
        item
    }

    fn field(&mut self, item: &mut Item, field: &str, node: &Node, path: &str) {
        if matches!(node.kind, Kind::Null) && !matches!(field, "question" | "id") {
            return;
        }
        match field {
            "id" => item.id = self.text(node, path).unwrap_or_default(),
            "question" => item.question = self.text(node, path).unwrap_or_default(),
            "condition" => item.condition = self.text(node, path),
            "passage" => item.passage = self.text(node, path),
            "skill" => {
                if let Some(id) = self.text(node, path) {
                    item.skill = Skill::from_id(&id);
                    if item.skill.is_none() {
                        let known: Vec<&str> = Skill::ALL.iter().map(|skill| skill.id()).collect();
                        let message = format!("there is no skill {id:?}");
                        self.error(node.offset, path, message, suggestion(&id, &known));
                    }
                }
            }
            "origin" => {
                const KNOWN: [&str; 6] = ["constraint", "request", "reference", "skill", "model", "person"];
                if let Some(origin) = self.choice::<Origin>(node, path, &KNOWN) {
                    item.origin = origin;
                }
            }
            "answer" => {
                if let Some(answer) = self.choice::<AnswerForm>(node, path, &["yes_no", "one_to_five"]) {
                    item.answer = answer;
                }
            }
            "weight" => match &node.kind {
                Kind::Number(weight, _) => item.weight = *weight,
                other => {
                    let message = format!("expected a number, found {}", other.describe());
                    self.error(
                        node.offset,
                        path,
                        message,
                        "write how much the item counts, such as 2, without quotes",
                    );
                }
            },
            _ => match value(node).and_then(|value| {
                serde_json::from_value::<Constraint>(value).map_err(|error| (node.offset, error.to_string()))
            }) {
                Ok(constraint) => item.constraint = Some(constraint),
                Err((offset, message)) => {
                    let hint = "write a constraint such as { kind = \"count\", what = \"word\", limit = { at_most = 80 } }";
                    self.error(offset, path, message, hint);
                }
            },
        }
    }

    fn text(&mut self, node: &Node, path: &str) -> Option<String> {
        match &node.kind {
            Kind::Text(text) => Some(text.clone()),
            Kind::Null => None,
            other => {
                let message = format!("expected a text, found {}", other.describe());
                self.error(node.offset, path, message, "put it in quotes");
                None
            }
        }
    }

    /// One of the names that serde knows a variant by.
    fn choice<'n, T: Deserialize<'n>>(&mut self, node: &'n Node, path: &str, known: &[&str]) -> Option<T> {
        let Kind::Text(name) = &node.kind else {
            self.text(node, path);
            return None;
        };
        let deserializer: StrDeserializer<'n, ValueError> = name.as_str().into_deserializer();
        let read = T::deserialize(deserializer).ok();
        if read.is_none() {
            self.error(node.offset, path, format!("{name:?} is not known here"), suggestion(name, known));
        }
        read
    }
}

/// Names for items that have none: by their place, and none that is taken.
fn give_ids(items: &mut [Item]) {
    let taken: Vec<String> = items.iter().map(|item| item.id.clone()).collect();
    for (index, item) in items.iter_mut().enumerate().filter(|(_, item)| item.id.is_empty()) {
        let mut id = format!("item-{}", index + 1);
        while taken.contains(&id) {
            id.push('-');
        }
        item.id = id;
    }
}

fn suggestion(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("the known ones are {}", known.join(", ")),
    }
}

/// The value as JSON; or what stands in the way, and where.
fn value(node: &Node) -> Result<Value, (usize, String)> {
    Ok(match &node.kind {
        Kind::Null => Value::Null,
        Kind::Text(text) => Value::String(text.clone()),
        Kind::Flag(flag) => Value::Bool(*flag),
        Kind::Number(number, written) => {
            let whole = written
                .parse::<i64>()
                .map(Number::from)
                .or_else(|_| written.parse::<u64>().map(Number::from));
            // Another notation of TOML's for a whole number, such as 0xff.
            let is_whole = number.fract() == 0.0 && number.abs() < 9e15 && !written.contains(['.', 'e', 'E']);
            match whole {
                Ok(whole) => Value::Number(whole),
                Err(_) if is_whole => Value::Number(Number::from(*number as i64)),
                Err(_) => match Number::from_f64(*number) {
                    Some(number) => Value::Number(number),
                    None => return Err((node.offset, format!("{written} is not a finite number"))),
                },
            }
        }
        Kind::List(items) => Value::Array(items.iter().map(value).collect::<Result<_, _>>()?),
        Kind::Table(entries) => {
            let mut map = Map::new();
            for entry in entries {
                if map.insert(entry.key.clone(), value(&entry.value)?).is_some() {
                    return Err((entry.key_offset, format!("the field {:?} is given twice", entry.key)));
                }
            }
            Value::Object(map)
        }
        Kind::Other(what) => return Err((node.offset, format!("{what} cannot stand in a constraint"))),
    })
}

fn written(checklist: &Checklist) -> Result<(), ChecklistWriteError> {
    let errors: Vec<ChecklistProblem> =
        checklist.check().into_iter().filter(|problem| problem.severity == Severity::Error).collect();
    if errors.is_empty() { Ok(()) } else { Err(ChecklistWriteError::Invalid(errors)) }
}

impl Checklist {
    /// The checklist as JSON, indented, with a newline at the end; [`read_checklist`] reads it back as the equal one.
    ///
    /// # Errors
    /// A checklist in which [`check`](Self::check) finds an error.
    pub fn to_json(&self) -> Result<String, ChecklistWriteError> {
        written(self)?;
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|error| ChecklistWriteError::Json(error.to_string()))?;
        text.push('\n');
        Ok(text)
    }

    /// The checklist as TOML, one `[[item]]` after the other; [`read_checklist`] reads it back as the equal one.
    ///
    /// # Errors
    /// A checklist in which [`check`](Self::check) finds an error, or a constraint whose schema TOML cannot hold.
    pub fn to_toml(&self) -> Result<String, ChecklistWriteError> {
        written(self)?;
        let mut out = String::new();
        let mut line = |key: &str, value: &str| {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{key} = {value}");
        };
        if let Some(name) = &self.name {
            line("name", &toml_string(name));
        }
        if let Some(hash) = &self.instruction_sha256 {
            line("instruction_sha256", &toml_string(hash));
        }
        for (index, item) in self.items.iter().enumerate() {
            out.push_str(if out.is_empty() { "[[item]]\n" } else { "\n[[item]]\n" });
            let mut line = |key: &str, value: &str| {
                let _ = writeln!(out, "{key} = {value}");
            };
            line("id", &toml_string(&item.id));
            line("question", &toml_string(&item.question));
            if item.origin != Origin::Person {
                line("origin", &toml_string(item.origin.id()));
            }
            if let Some(skill) = item.skill {
                line("skill", &toml_string(skill.id()));
            }
            if item.weight.to_bits() != 1.0_f64.to_bits() {
                line("weight", &item.weight.to_string());
            }
            if item.answer == AnswerForm::OneToFive {
                line("answer", "\"one_to_five\"");
            }
            if let Some(condition) = &item.condition {
                line("condition", &toml_string(condition));
            }
            if let Some(constraint) = &item.constraint {
                let value = serde_json::to_value(constraint)
                    .map_err(|error| ChecklistWriteError::Json(error.to_string()))?;
                let mut inline = String::new();
                inline_value(&value, &mut inline)
                    .map_err(|what| ChecklistWriteError::NotToml { item: index, what })?;
                line("constraint", &inline);
            }
            if let Some(passage) = &item.passage {
                line("passage", &toml_string(passage));
            }
        }
        Ok(out)
    }
}

/// A value on one line of TOML; or what it cannot hold.
fn inline_value(value: &Value, out: &mut String) -> Result<(), String> {
    match value {
        Value::Null => return Err("null".to_owned()),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::String(text) => out.push_str(&toml_string(text)),
        Value::Number(number) => {
            if number.as_u64().is_some_and(|whole| i64::try_from(whole).is_err()) {
                return Err(format!("the integer {number}"));
            }
            out.push_str(&number.to_string());
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                inline_value(item, out)?;
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                out.push_str(if index == 0 { " " } else { ", " });
                let is_bare = !key.is_empty()
                    && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
                out.push_str(&if is_bare { key.clone() } else { toml_string(key) });
                out.push_str(" = ");
                inline_value(value, out)?;
            }
            out.push_str(if map.is_empty() { "}" } else { " }" });
        }
    }
    Ok(())
}
