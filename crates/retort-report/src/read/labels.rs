//! What instructions ask for, and which judgement is about which instruction.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use retort_rubric::{Annotation, Annotator, Difficulty, Domain, DomainLabel, MAX_DOMAINS, Skill};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{Here, id_of, kind, plain, skill};
use crate::{Row, Score, SkillScore};

/// A row that may still get its labels.
pub(super) struct Waiting {
    pub(super) row: Row,
    /// The number or name by which labels may be found.
    pub(super) number: Option<String>,
    /// SHA-256 of the prompt.
    pub(super) prompt_sha256: Option<String>,
    /// Whether every skill that the labels name should have a score.
    pub(super) all_skills: bool,
}

/// The labels of instructions.
#[derive(Default)]
pub(super) struct Labels {
    by_number: BTreeMap<String, (usize, String)>,
    by_prompt: BTreeMap<String, usize>,
    all: Vec<(String, Annotation)>,
    used: BTreeSet<usize>,
}

impl Labels {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds the labels of a row. False when there is nothing to join them by, or they are there already.
    pub(super) fn add(&mut self, object: &Map<String, Value>, here: &mut Here<'_>) -> bool {
        let number = id_of(object, &["idx", "question_id", "id"]);
        let text = ["instruction", "text", "prompt"].iter().find_map(|key| object.get(*key)?.as_str());
        let in_record = object.get("input").and_then(|input| input.get("prompt_sha256"));
        let prompt = in_record
            .or_else(|| object.get("prompt_sha256"))
            .or_else(|| object.get("instruction_sha256"))
            .and_then(Value::as_str)
            .map(str::to_ascii_lowercase)
            .or_else(|| text.map(sha256_hex));
        if number.is_none() && prompt.is_none() {
            here.problem(
                "idx",
                "the labels have neither a number nor their instruction's text to find it by; skipped",
            );
            return false;
        }
        if let Some((_, file)) = number.as_ref().and_then(|number| self.by_number.get(number)) {
            let number = number.unwrap_or_default();
            here.problem(
                "idx",
                format!("labels for {number} were already read from {file}; the first are kept"),
            );
            return false;
        }
        let Some(annotation) = annotation(object, here) else {
            here.problem("", "the row has no labels; skipped");
            return false;
        };
        let index = self.all.len();
        let name = number.clone().or_else(|| prompt.clone()).unwrap_or_default();
        self.all.push((name, annotation));
        if let Some(number) = number {
            self.by_number.insert(number, (index, here.file.to_owned()));
        }
        if let Some(prompt) = prompt {
            self.by_prompt.entry(prompt).or_insert(index);
        }
        true
    }

    /// The row with its labels, and whether it has any.
    pub(super) fn join(&mut self, waiting: Waiting) -> (Row, bool) {
        let Waiting { mut row, number, prompt_sha256, all_skills } = waiting;
        // A hash says more than a number: numbers start again in every file.
        let index = prompt_sha256
            .and_then(|prompt| self.by_prompt.get(&prompt).copied())
            .or_else(|| number.and_then(|number| self.by_number.get(&number).map(|(index, _)| *index)));
        if let Some(index) = index {
            self.used.insert(index);
            if row.annotation.is_none() {
                row.annotation = self.all.get(index).map(|(_, annotation)| annotation.clone());
            }
        }
        if let (true, Some(annotation)) = (all_skills, &row.annotation) {
            for skill in &annotation.skills {
                if !row.scores.iter().any(|score| score.rubric_id == skill.id()) {
                    row.scores.push(SkillScore {
                        rubric_id: skill.id().to_owned(),
                        rubric_name: Some(skill.name().to_owned()),
                        rubric_sha256: None,
                        score: Score::Unscored { why: "the review has no score for this skill".to_owned() },
                    });
                }
            }
        }
        let matched = row.annotation.is_some();
        (row, matched)
    }

    /// The names of labels that nothing matched, sorted.
    pub(super) fn unused(&self) -> Vec<String> {
        let unused = self.all.iter().enumerate().filter(|(index, _)| !self.used.contains(index));
        let names: BTreeSet<String> = unused.map(|(_, (name, _))| name.clone()).collect();
        names.into_iter().collect()
    }
}

/// The labels in a row: an `annotation` object of Retort's, or FLASK's keys. `None` where there are none.
pub(super) fn annotation(object: &Map<String, Value>, here: &mut Here<'_>) -> Option<Annotation> {
    if let Some(value) = object.get("annotation").filter(|value| !value.is_null()) {
        return match serde_json::from_value(value.clone()) {
            Ok(annotation) => Some(annotation),
            Err(error) => {
                here.problem("annotation", format!("{error}; the labels are left out"));
                None
            }
        };
    }
    let get =
        |keys: [&'static str; 2]| keys.into_iter().find_map(|key| object.get(key).map(|value| (key, value)));
    let skills = get(["skill", "metrics"]);
    let domains = get(["domain", "domain_labeled"]);
    let level = get(["difficulty", "difficulty_labeled"]);
    if skills.is_none() && domains.is_none() && level.is_none() {
        return None;
    }
    let mut annotation =
        Annotation { skills: Vec::new(), domains: Vec::new(), difficulty: None, by: Annotator::File };
    for (key, name) in texts(skills, here) {
        match skill(&name) {
            Some(skill) if !annotation.skills.contains(&skill) => annotation.skills.push(skill),
            Some(_) => {}
            None => here.problem(key, format!("there is no skill {name:?}; this label is left out")),
        }
    }
    for (key, name) in texts(domains, here) {
        match Domain::ALL.into_iter().find(|domain| plain(domain.id()) == plain(&name)) {
            Some(domain) if annotation.domains.iter().any(|label| label.domain == domain) => {}
            Some(_) if annotation.domains.len() == MAX_DOMAINS => {
                here.problem(key, format!("{name:?} is a third domain; the first two are kept"));
            }
            Some(domain) => annotation.domains.push(DomainLabel::from(domain)),
            None => here.problem(key, format!("there is no domain {name:?}; this label is left out")),
        }
    }
    if let Some((key, value)) = level {
        annotation.difficulty = difficulty(value);
        if annotation.difficulty.is_none() && !is_absent(value) {
            here.problem(key, format!("{value} is no level of difficulty; this label is left out"));
        }
    }
    Some(annotation)
}

/// −1, "", "N/A" and null stand for "no label".
fn is_absent(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => matches!(plain(text).as_str(), "" | "na" | "none") || text.trim() == "-1",
        Value::Number(number) => number.as_f64() == Some(-1.0),
        _ => false,
    }
}

/// The texts of a list, or the one text.
fn texts(found: Option<(&'static str, &Value)>, here: &mut Here<'_>) -> Vec<(&'static str, String)> {
    let Some((key, value)) = found else { return Vec::new() };
    let one = std::slice::from_ref(value);
    let mut texts = Vec::new();
    for value in value.as_array().map_or(one, Vec::as_slice) {
        match value {
            _ if is_absent(value) => {}
            Value::String(text) => texts.push((key, text.clone())),
            other => here
                .problem(key, format!("a label must be a text and this is {}; it is left out", kind(other))),
        }
    }
    texts
}

/// A level by its number, id, name, or FLASK's words for it ("simple lifestyle knowledge").
fn difficulty(value: &Value) -> Option<Difficulty> {
    let by_level = |level: f64| Difficulty::ALL.into_iter().find(|known| f64::from(known.level()) == level);
    match value {
        Value::Number(number) => by_level(number.as_f64()?),
        Value::String(text) => {
            let name = plain(text);
            let name = name.strip_suffix("knowledge").unwrap_or(&name);
            Difficulty::ALL
                .into_iter()
                .find(|known| plain(known.id()) == name)
                .or_else(|| by_level(text.trim().parse().ok()?))
        }
        _ => None,
    }
}

fn sha256_hex(text: &str) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// The skill's id and name, or the key itself where it is no skill of FLASK's.
pub(super) fn names(skill: Skill) -> (String, Option<String>) {
    (skill.id().to_owned(), Some(skill.name().to_owned()))
}
