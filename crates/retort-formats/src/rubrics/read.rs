//! From another tool's file to rubrics.

use std::collections::{BTreeSet, HashMap, HashSet};

use retort_rubric::{Diagnostic, Field, ReadError, Rubric, RubricOption, Severity, slug};

use super::{ImportError, Imported, Kept, Source, block};
use crate::json::{Document, Node};

/// Most findings that are listed.
const MAX_FINDINGS: usize = 100;

/// Most characters of a name that is made from a criterion.
const MAX_NAME_CHARACTERS: usize = 60;

/// What a rubric of ragas, which has levels only, is taken to rate.
pub(super) const RAGAS_CRITERION: &str = "Which of the following descriptions fits the response as a whole, the highest that is wholly true of it?";

/// What stands before the steps where G-Eval is given steps instead of a criterion.
const STEPS_INTRODUCTION: &str = "The response stands up to each of these steps:";

pub(super) const KILN_TYPES: [&str; 4] = ["five_star", "pass_fail", "pass_fail_critical", "custom"];

/// The format of a text, told from its keys; `None` where it is not known, this program's own formats included.
#[must_use]
pub fn recognise(text: &str) -> Option<Source> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match Document::parse(text) {
        Ok(document) => entries(&document).iter().find_map(|entry| source_of(entry.node)),
        Err(_) => (!block::blocks(text).0.is_empty()).then_some(Source::PrometheusText),
    }
}

/// Reads the rubrics of another tool's file. `name` is the file's name and serves messages only.
///
/// A file is JSON, one object, a list of them or an object of them by id; JSON Lines; or Prometheus' text. An entry
/// that cannot be used is skipped and reported.
///
/// # Errors
/// A text that is no known file of rubrics, is not valid JSON, or holds no rubric that can be used; at most the first
/// hundred findings are listed.
pub fn import(text: &str, name: &str) -> Result<Imported, ImportError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::new(text, name);
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let (blocks, before) = block::blocks(text);
            if blocks.is_empty() {
                // Prose is no broken JSON.
                if !text.trim_start().starts_with(['{', '[']) {
                    return Err(ImportError::Unknown { file: name.to_owned(), keys: Vec::new() });
                }
                reader.error(&Place::new(error.offset, ""), error.message, "save it as JSON again");
                return Err(reader.refused());
            }
            if let Some(offset) = before {
                reader.warning(
                    &Place::new(offset, ""),
                    "the text before the first rubric is not read",
                    "remove it if it is no part of a rubric",
                );
            }
            for (index, block) in blocks.into_iter().enumerate() {
                reader.block(block, &Place::new(0, format!("rubric[{index}]")), 0, None);
            }
            return reader.finish(Source::PrometheusText);
        }
    };
    let found = entries(&document);
    let Some(source) = found.iter().find_map(|entry| source_of(entry.node)) else {
        let keys = found.iter().find(|entry| entry.node.is_table());
        let keys =
            keys.map(|entry| entry.node.entries().iter().take(10).map(|(key, _)| key.clone()).collect());
        return Err(ImportError::Unknown { file: name.to_owned(), keys: keys.unwrap_or_default() });
    };
    if let Document::Lines(lines) = &document {
        for error in lines.iter().filter_map(|line| line.as_ref().err()) {
            reader.error(
                &Place::new(error.offset, ""),
                error.message.clone(),
                "the line is skipped; save it as JSON again",
            );
        }
    }
    if source == Source::HealthBench
        && found.iter().filter(|entry| entry.node.get("rubrics").is_some()).count() > 1
    {
        reader.warning(
            &Place::new(0, ""),
            "the rubrics of several prompts are put together",
            "keep the line of one prompt, for its rubrics fit no other",
        );
    }
    for entry in &found {
        match source_of(entry.node) {
            Some(own) if own == source => reader.entry(source, entry),
            Some(other) => reader.error(
                &entry.place,
                format!("this entry is one of {other}, in a file of {source}"),
                "put it into a file of its own",
            ),
            None => reader.error(
                &entry.place,
                format!("this is {}, not a rubric of {source}", entry.node.describe()),
                "it is skipped; put it right or remove it",
            ),
        }
    }
    reader.finish(source)
}

/// Where something stands, and what it is called.
#[derive(Debug, Clone)]
struct Place {
    offset: usize,
    path: String,
}

impl Place {
    fn new(offset: usize, path: impl Into<String>) -> Self {
        Self { offset, path: path.into() }
    }

    fn field(&self, name: &str, offset: usize) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        Self { offset, path: format!("{}{dot}{name}", self.path) }
    }

    fn item(&self, index: usize, offset: usize) -> Self {
        Self { offset, path: format!("{}[{index}]", self.path) }
    }
}

/// One value of the file that is, or holds, rubrics.
struct Entry<'d> {
    node: &'d Node<'d>,
    place: Place,
    /// The key under which it stands in a table by id.
    label: Option<&'d str>,
}

fn entries<'d>(document: &'d Document<'d>) -> Vec<Entry<'d>> {
    let of = |(index, node): (usize, &'d Node<'d>)| Entry {
        node,
        place: Place::new(node.offset, format!("[{index}]")),
        label: None,
    };
    match document {
        Document::Lines(lines) => {
            lines.iter().enumerate().filter_map(|(i, line)| Some(of((i, line.as_ref().ok()?)))).collect()
        }
        Document::One(node) if node.is_table() => {
            let by_id = source_of(node).is_none()
                && !node.entries().is_empty()
                && node.entries().iter().all(|(_, value)| value.is_table());
            if by_id {
                let labelled = |(key, value): &'d (String, Node<'d>)| Entry {
                    node: value,
                    place: Place::new(value.offset, key.as_str()),
                    label: Some(key.as_str()),
                };
                node.entries().iter().map(labelled).collect()
            } else {
                vec![Entry { node, place: Place::new(node.offset, ""), label: None }]
            }
        }
        Document::One(node) => node.items().iter().enumerate().map(of).collect(),
    }
}

/// The number in `score3_description`, after `orig_` or not.
fn level_number(key: &str) -> Option<u32> {
    let number =
        key.strip_prefix("orig_").unwrap_or(key).strip_prefix("score")?.strip_suffix("_description")?;
    if number.len() > 3 { None } else { number.parse().ok() }
}

fn has_levels(node: &Node<'_>) -> bool {
    node.entries().iter().any(|(key, _)| level_number(key).is_some())
}

fn is_block(node: &Node<'_>) -> bool {
    node.text().is_some_and(|text| !block::blocks(text).0.is_empty())
}

/// The format that a value's keys are those of.
fn source_of(node: &Node<'_>) -> Option<Source> {
    if !node.is_table() {
        return None;
    }
    let given = |key: &str| node.given(key);
    let text = |key: &str| node.given(key).and_then(Node::text);
    let first = |key: &str| node.given(key).and_then(|list| list.items().first());
    let first_has = |key: &str, inner: &[&str]| {
        first(key).is_some_and(|item| inner.iter().any(|inner| item.get(inner).is_some()))
    };
    let criterion = given("criteria").or(given("orig_criteria")).is_some();
    if given("score_rubric").is_some_and(|rubric| has_levels(rubric) || is_block(rubric))
        || (has_levels(node) && criterion)
        || given("rubric").is_some_and(is_block)
    {
        return Some(Source::Prometheus);
    }
    if let Some(rubrics) = given("rubrics")
        && has_levels(rubrics)
    {
        return Some(if rubrics.given("criteria").is_some() { Source::Prometheus } else { Source::Ragas });
    }
    if has_levels(node) {
        return Some(Source::Ragas);
    }
    let point = |item: &Node<'_>| item.get("criterion").is_some() && item.get("points").is_some();
    if point(node) || first("rubrics").is_some_and(point) {
        return Some(Source::HealthBench);
    }
    if first_has("output_scores", &["type"])
        || first_has("requirements", &["instruction"])
        || (given("name").is_some() && text("type").is_some_and(|kind| KILN_TYPES.contains(&kind)))
    {
        return Some(Source::Kiln);
    }
    if first_has("rubric", &["score_range", "expected_outcome"]) || given("evaluation_steps").is_some() {
        return Some(Source::DeepEval);
    }
    if first("options").is_some_and(|item| {
        item.get("label").is_none() && (item.get("name").is_some() || item.get("option").is_some())
    }) || first("items").and_then(|item| item.get("criterion")).is_some_and(Node::is_table)
        || given("criteria")
            .and_then(|criteria| criteria.items().first().or(Some(criteria)))
            .is_some_and(|criteria| source_of(criteria) == Some(Source::EvalAssist))
    {
        return Some(Source::EvalAssist);
    }
    if given("name").is_some() && text("criteria").is_some() && given("options").is_none() {
        return Some(Source::DeepEval);
    }
    let pairwise = |key: &str| {
        matches!(
            key,
            "name"
                | "description"
                | "prediction_field"
                | "to_evaluate_field"
                | "context_fields"
                | "options"
                | "examples"
                | "__type__"
        )
    };
    let all = node.entries().iter().all(|(key, _)| pairwise(key));
    (all && text("name").is_some() && text("description").is_some()).then_some(Source::EvalAssist)
}

/// A rubric in the making, and where its parts stand.
struct Draft {
    rubric: Rubric,
    place: Place,
    places: Vec<(Field, Place)>,
    kept: serde_json::Map<String, serde_json::Value>,
}

struct Reader<'a> {
    text: &'a str,
    file: &'a str,
    findings: Vec<Diagnostic>,
    /// Findings beyond [`MAX_FINDINGS`], and whether one of them says that an entry was skipped.
    more: usize,
    more_skipped: bool,
    rubrics: Vec<Rubric>,
    ids: HashSet<String>,
    /// The last number that was put behind an id to make another of it.
    numbers: HashMap<String, usize>,
    /// What rubrics say, so that none is read twice.
    said: HashSet<String>,
    kept: Vec<(String, serde_json::Map<String, serde_json::Value>)>,
    beside: BTreeSet<String>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, file: &'a str) -> Self {
        Self {
            text,
            file,
            findings: Vec::new(),
            more: 0,
            more_skipped: false,
            rubrics: Vec::new(),
            ids: HashSet::new(),
            numbers: HashMap::new(),
            said: HashSet::new(),
            kept: Vec::new(),
            beside: BTreeSet::new(),
        }
    }

    fn report(&mut self, severity: Severity, place: &Place, message: String, hint: String) {
        if self.findings.len() == MAX_FINDINGS {
            self.more += 1;
            self.more_skipped |= severity == Severity::Error;
            return;
        }
        let at = (self.file, self.text, place.offset);
        self.findings.push(Diagnostic::at(severity, at, place.path.as_str(), message, hint));
    }

    fn error(&mut self, place: &Place, message: impl Into<String>, hint: impl Into<String>) {
        self.report(Severity::Error, place, message.into(), hint.into());
    }

    fn warning(&mut self, place: &Place, message: impl Into<String>, hint: impl Into<String>) {
        self.report(Severity::Warning, place, message.into(), hint.into());
    }

    fn sorted(&mut self) -> Vec<Diagnostic> {
        let mut findings = std::mem::take(&mut self.findings);
        findings.sort_by_key(|finding| (finding.line, finding.column));
        if self.more > 0 {
            let message = format!("{} more findings are not listed", self.more);
            let at = (self.file, self.text, self.text.len());
            let severity = if self.more_skipped { Severity::Error } else { Severity::Warning };
            findings.push(Diagnostic::at(severity, at, "", message, "put these right first"));
        }
        findings
    }

    fn refused(mut self) -> ImportError {
        ImportError::Refused(ReadError { diagnostics: self.sorted() })
    }

    fn finish(mut self, source: Source) -> Result<Imported, ImportError> {
        if self.rubrics.is_empty() {
            if self.findings.is_empty() {
                self.error(&Place::new(0, ""), "there is no rubric in it", "give at least one");
            }
            return Err(self.refused());
        }
        let warnings = self.sorted();
        let kept = self.kept.into_iter().map(|(rubric, fields)| Kept { source, rubric, fields }).collect();
        Ok(Imported { source, rubrics: self.rubrics, warnings, kept, beside: self.beside })
    }

    fn entry(&mut self, source: Source, entry: &Entry<'_>) {
        let (node, place) = (entry.node, &entry.place);
        match source {
            Source::Prometheus | Source::PrometheusText => self.prometheus(node, place, entry.label),
            Source::EvalAssist => self.evalassist(node, place, entry.label),
            Source::Kiln => self.kiln(node, place),
            Source::DeepEval => self.deepeval(node, place, entry.label),
            Source::HealthBench => self.healthbench(node, place),
            Source::Ragas => self.ragas(node, place, entry.label),
        }
    }

    /// Notes the keys of a row that stand beside its rubric.
    fn note_beside(&mut self, node: &Node<'_>, known: &[&str]) {
        for (key, _) in node.entries() {
            if !known.contains(&key.as_str()) && !self.beside.contains(key) {
                self.beside.insert(key.clone());
            }
        }
    }

    /// The fields of a rubric that are not known, as they are.
    fn rest(
        &mut self,
        node: &Node<'_>,
        place: &Place,
        known: &[&str],
    ) -> serde_json::Map<String, serde_json::Value> {
        let mut rest = serde_json::Map::new();
        let mut seen: HashSet<&str> = HashSet::new();
        for (key, value) in node.entries() {
            if !seen.insert(key) {
                self.warning(
                    &place.field(key, value.offset),
                    format!("the field {key:?} is given twice, of which the last counts"),
                    "keep one of them",
                );
            }
            if !known.contains(&key.as_str()) {
                rest.insert(key.clone(), value.value());
            }
        }
        rest
    }

    /// A text that must be there.
    fn required<'n>(&mut self, node: &'n Node<'_>, keys: &[&str], place: &Place) -> Option<(&'n str, Place)> {
        let found = keys.iter().find_map(|key| Some((*key, node.given(key)?)));
        let Some((key, value)) = found else {
            let name = keys.first().copied().unwrap_or_default();
            self.error(place, format!("the field {name:?} is missing"), "add it; the entry is skipped");
            return None;
        };
        let at = place.field(key, value.offset);
        match value.text() {
            Some(text) => Some((text.trim(), at)),
            None => {
                let message = format!("expected a text, found {}", value.describe());
                self.error(&at, message, "put it in quotes; the entry is skipped");
                None
            }
        }
    }

    /// A text that may be absent or null; `Err`, reported, if it is something else.
    fn optional<'n>(&mut self, node: &'n Node<'_>, key: &str, place: &Place) -> Result<Option<&'n str>, ()> {
        match node.given(key) {
            None => Ok(None),
            Some(value) => match value.text() {
                Some(text) => Ok(Some(text.trim())),
                None => {
                    let message = format!("expected a text, found {}", value.describe());
                    let at = place.field(key, value.offset);
                    self.error(&at, message, "put it in quotes; the entry is skipped");
                    Err(())
                }
            },
        }
    }

    /// Checks a rubric, gives it an id of its own and takes it in, unless another said the same.
    fn take(&mut self, draft: Draft, named: bool) {
        let Draft { mut rubric, place, places, kept } = draft;
        let said = format!(
            "{:?}",
            (named.then_some(&rubric.name), &rubric.criterion, &rubric.options, rubric.weight, &kept)
        );
        if !self.said.insert(said) {
            return;
        }
        let nameless = |rubric: &Rubric| rubric.check().iter().any(|problem| problem.field == Field::Name);
        // A name that was made of the criterion is nobody's mistake.
        if !named && nameless(&rubric) {
            "Rubric".clone_into(&mut rubric.name);
        }
        rubric.id = self.unused(&rubric.name);
        let mut refused = false;
        for problem in rubric.check() {
            refused |= problem.severity == Severity::Error;
            let known = places.iter().find(|(field, _)| *field == problem.field);
            let at = match known {
                Some((_, place)) => place.clone(),
                None => Place::new(place.offset, place.field(&problem.field.to_string(), 0).path),
            };
            self.report(problem.severity, &at, problem.message, problem.hint);
        }
        if refused {
            return;
        }
        self.ids.insert(rubric.id.clone());
        if !kept.is_empty() {
            self.kept.push((rubric.id.clone(), kept));
        }
        self.rubrics.push(rubric);
    }

    /// An id made from a name that no other rubric has.
    fn unused(&mut self, name: &str) -> String {
        let slug = slug(name);
        let base = if slug.is_empty() { "rubric".to_owned() } else { slug };
        if !self.ids.contains(&base) {
            return base;
        }
        let short: String = base.chars().take(56).collect();
        let short = short.trim_end_matches('_');
        // Where the last one left off, for many rubrics may have one name.
        let number = self.numbers.entry(short.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let id = format!("{short}_{number}");
            if !self.ids.contains(&id) {
                return id;
            }
        }
    }

    fn prometheus(&mut self, node: &Node<'_>, place: &Place, label: Option<&str>) {
        let inner = ["score_rubric", "rubrics", "rubric"].into_iter().find_map(|key| {
            let inner = node.given(key).filter(|inner| has_levels(inner) || is_block(inner))?;
            Some((key, inner))
        });
        let (node, place) = match inner {
            Some((key, inner)) => {
                self.note_beside(node, &[key]);
                let place = place.field(key, inner.offset);
                if let Some(text) = inner.text() {
                    for block in block::blocks(text).0 {
                        self.block(block, &place, inner.offset, label);
                    }
                    return;
                }
                (inner, place)
            }
            None => (node, place.clone()),
        };
        let prefix = if node.given("criteria").is_some() { "" } else { "orig_" };
        let key = format!("{prefix}criteria");
        let Some((criterion, at)) = self.required(node, &[&key], &place) else { return };
        let mut places = vec![(Field::Criterion, at)];
        let mut options = Vec::new();
        for number in 1..=5_u32 {
            let key = format!("{prefix}score{number}_description");
            let Some((text, at)) = self.required(node, &[&key], &place) else { return };
            places.push((Field::Description(options.len()), at));
            options.push(RubricOption::new(number.to_string(), f64::from(number)).described(text));
        }
        let outside =
            node.entries().iter().find(|(key, _)| level_number(key).is_some_and(|n| !(1..=5).contains(&n)));
        if let Some((key, value)) = outside {
            self.error(
                &place.field(key, value.offset),
                "Prometheus' scale runs from 1 to 5",
                "remove this level, or write the rubric in this program's own format; the entry is skipped",
            );
            return;
        }
        let mut kept = self.rest(node, &place, &[]);
        kept.retain(|key, _| key != "criteria" && level_number(key).is_none());
        // In a row of data what else it holds is no part of the rubric.
        let row = ["instruction", "input", "prompt", "response", "orig_criteria"];
        if row.iter().any(|key| node.get(key).is_some()) {
            self.beside.extend(std::mem::take(&mut kept).into_iter().map(|(key, _)| key));
            self.beside.remove("orig_criteria");
        }
        let rubric = Rubric::new("", name_of(label, criterion), criterion, options);
        self.take(Draft { rubric, place, places, kept }, label.is_some());
    }

    /// One rubric of Prometheus' text, which begins at `base` of the file.
    fn block(&mut self, block: block::Block, place: &Place, base: usize, label: Option<&str>) {
        // Within a JSON string offsets are of the text behind the escapes: then the string's own place must do.
        let at = |offset: usize| if base == 0 { offset } else { base };
        let place = Place::new(at(block.offset), place.path.as_str());
        let numbers: Vec<u32> = block.levels.iter().map(|(number, ..)| *number).collect();
        if numbers != [1, 2, 3, 4, 5] {
            let list: Vec<String> = numbers.iter().map(u32::to_string).collect();
            self.error(
                &place,
                format!(
                    "Prometheus' scale runs from 1 to 5, but this rubric has the scores {}",
                    list.join(", ")
                ),
                "describe each score once, lowest first; the entry is skipped",
            );
            return;
        }
        let mut places = vec![(Field::Criterion, place.clone())];
        let mut options = Vec::new();
        for (number, text, offset) in block.levels {
            places.push((
                Field::Description(options.len()),
                place.field(&format!("Score {number}"), at(offset)),
            ));
            options.push(RubricOption::new(number.to_string(), f64::from(number)).described(text));
        }
        let rubric = Rubric::new("", name_of(label, &block.criterion), block.criterion, options);
        self.take(Draft { rubric, place, places, kept: serde_json::Map::new() }, label.is_some());
    }

    fn evalassist(&mut self, node: &Node<'_>, place: &Place, label: Option<&str>) {
        if let Some(items) = node.given("items").filter(|items| !items.items().is_empty()) {
            self.note_beside(node, &["items"]);
            for (index, item) in items.items().iter().enumerate() {
                let place = place.field("items", 0).item(index, item.offset);
                let Some(criterion) = item.given("criterion") else {
                    self.error(&place, "the field \"criterion\" is missing", "add it; the entry is skipped");
                    continue;
                };
                self.note_beside(item, &["criterion", "weight"]);
                let at = place.field("criterion", criterion.offset);
                self.criterion(criterion, &at, None, item.given("weight").map(|node| (node, &place)));
            }
            return;
        }
        if let Some(criteria) = node.given("criteria").filter(|criteria| criteria.text().is_none()) {
            self.note_beside(node, &["criteria"]);
            let place = place.field("criteria", criteria.offset);
            if criteria.is_table() {
                self.criterion(criteria, &place, label, None);
            }
            for (index, item) in criteria.items().iter().enumerate() {
                self.criterion(item, &place.item(index, item.offset), None, None);
            }
            return;
        }
        self.criterion(node, place, label, None);
    }

    fn criterion(
        &mut self,
        node: &Node<'_>,
        place: &Place,
        label: Option<&str>,
        weight: Option<(&Node<'_>, &Place)>,
    ) {
        let name = match (node.given("name"), label) {
            (None, Some(label)) => label.to_owned(),
            _ => match self.required(node, &["name"], place) {
                Some((name, _)) => one_line(name),
                None => return,
            },
        };
        let Some((criterion, at)) = self.required(node, &["description", "criteria"], place) else { return };
        let list = node.given("options");
        let Some(list) = list.filter(|list| !list.items().is_empty()) else {
            self.error(
                place,
                format!("the criterion {name:?} has no options: it compares responses with each other"),
                "a rubric rates one response, so give options with a score each; the entry is skipped",
            );
            return;
        };
        let mut places = vec![(Field::Criterion, at)];
        let list_place = place.field("options", list.offset);
        let map = node.given("option_map");
        let mut options: Vec<(RubricOption, Option<f64>, Place)> = Vec::new();
        for (index, item) in list.items().iter().enumerate() {
            let at = list_place.item(index, item.offset);
            let key = if item.given("name").is_some() { "name" } else { "option" };
            let label = match item.given(key) {
                Some(node) if node.number().is_some() => node.raw.to_owned(),
                _ => match self.required(item, &[key], &at) {
                    Some((label, _)) => label.to_owned(),
                    None => return,
                },
            };
            let Ok(description) = self.optional(item, "description", &at) else { return };
            let score = match item.given("score").or_else(|| map.and_then(|map| map.given(&label))) {
                None => None,
                Some(node) => match node.number() {
                    Some(score) => Some(score),
                    None => {
                        let message = format!("expected a number, found {}", node.describe());
                        let at = at.field("score", node.offset);
                        self.error(&at, message, "give the option's score; the entry is skipped");
                        return;
                    }
                },
            };
            self.note_beside(item, &["name", "option", "description", "score"]);
            let mut option = RubricOption::new(label, 0.0);
            option.description = description.filter(|text| !text.is_empty()).map(str::to_owned);
            options.push((option, score, at));
        }
        let labels: Vec<&str> = options.iter().map(|(option, ..)| option.label.as_str()).collect();
        let scores: Vec<Option<f64>> = options.iter().map(|(_, score, _)| *score).collect();
        let values = match values(&labels, &scores) {
            Ok((values, guessed)) => {
                if let Some(how) = guessed {
                    self.warning(
                        &list_place,
                        format!("the options have no scores; {how}"),
                        "give each option a score if it is otherwise",
                    );
                }
                values
            }
            Err(message) => {
                self.error(
                    &list_place,
                    message,
                    "give each option a score, such as \"score\": 0; the entry is skipped",
                );
                return;
            }
        };
        for ((option, ..), value) in options.iter_mut().zip(values) {
            option.value = value;
        }
        // As rubrics have them: lowest first. What is no number stays last and is refused by the check.
        options.sort_by(|a, b| a.0.value.total_cmp(&b.0.value));
        for (index, (_, _, at)) in options.iter().enumerate() {
            for field in [Field::Label(index), Field::Value(index), Field::Description(index)] {
                places.push((field, at.clone()));
            }
        }
        let options = options.into_iter().map(|(option, ..)| option).collect();
        let mut rubric = Rubric::new("", name, criterion, options);
        if let Some((node, place)) = weight {
            let at = place.field("weight", node.offset);
            let Some(weight) = node.number() else {
                let message = format!("expected a number, found {}", node.describe());
                self.error(&at, message, "give the criterion's weight; the entry is skipped");
                return;
            };
            rubric.weight = weight;
            places.push((Field::Weight, at));
        }
        let kept = self.rest(node, place, &["name", "description", "criteria", "options", "option_map"]);
        self.take(Draft { rubric, place: place.clone(), places, kept }, true);
    }

    fn kiln(&mut self, node: &Node<'_>, place: &Place) {
        for key in ["output_scores", "requirements"] {
            if let Some(list) = node.given(key).filter(|list| !list.items().is_empty()) {
                self.note_beside(node, &[key]);
                for (index, item) in list.items().iter().enumerate() {
                    self.score(item, &place.field(key, 0).item(index, item.offset));
                }
                return;
            }
        }
        self.score(node, place);
    }

    /// One of Kiln's output scores or requirements.
    fn score(&mut self, node: &Node<'_>, place: &Place) {
        let Some((name, _)) = self.required(node, &["name"], place) else { return };
        if node.given("instruction").is_none() {
            self.error(
                place,
                format!("the score {name:?} has no instruction, so there is nothing to judge by"),
                "say in “instruction” what is rated; the entry is skipped",
            );
            return;
        }
        let Some((instruction, at)) = self.required(node, &["instruction"], place) else { return };
        let Ok(kind) = self.optional(node, "type", place) else { return };
        // Kiln's own default.
        let Some(mut options) = kiln_options(kind.unwrap_or("five_star")) else {
            let offset = node.get("type").map_or(place.offset, |node| node.offset);
            self.error(
                &place.field("type", offset),
                format!("the type {:?} says nothing of its scale", kind.unwrap_or_default()),
                "choose five_star, pass_fail or pass_fail_critical; the entry is skipped",
            );
            return;
        };
        let criterion = take_levels(instruction, &mut options);
        let mut places = vec![(Field::Criterion, at.clone())];
        places.extend((0..options.len()).map(|index| (Field::Description(index), at.clone())));
        let kept = self.rest(node, place, &["name", "instruction", "type"]);
        let rubric = Rubric::new("", one_line(name), criterion, options);
        self.take(Draft { rubric, place: place.clone(), places, kept }, true);
    }

    fn deepeval(&mut self, node: &Node<'_>, place: &Place, label: Option<&str>) {
        let Ok(criteria) = self.optional(node, "criteria", place) else { return };
        let steps = node.given("evaluation_steps");
        let steps: Vec<&str> =
            steps.map(Node::items).unwrap_or_default().iter().filter_map(Node::text).collect();
        let made = steps_criterion(&steps);
        let criterion = match criteria.filter(|text| !text.is_empty()) {
            Some(criteria) => criteria.to_owned(),
            None if steps.is_empty() => {
                self.error(
                    place,
                    "neither “criteria” nor “evaluation_steps” says what is rated",
                    "add criteria; the entry is skipped",
                );
                return;
            }
            None => made.clone(),
        };
        let mut places = Vec::new();
        for key in ["criteria", "evaluation_steps"] {
            if let Some(node) = node.given(key) {
                places.push((Field::Criterion, place.field(key, node.offset)));
            }
        }
        if criterion != made && !steps.is_empty() {
            self.warning(
                &place.field("evaluation_steps", 0),
                "the steps are kept, but responses are judged by the criteria",
                "remove the criteria to judge by the steps",
            );
        }
        let Ok(name) = self.optional(node, "name", place) else { return };
        let name = name.filter(|name| !name.is_empty()).map_or_else(|| name_of(label, &criterion), one_line);
        let options = match node.given("rubric") {
            Some(list) => match self.ranges(list, &place.field("rubric", list.offset), &mut places) {
                Some(options) => options,
                None => return,
            },
            None => (0..=10_u32).map(|n| RubricOption::new(n.to_string(), f64::from(n))).collect(),
        };
        let kept = self.rest(node, place, &["name", "criteria", "rubric"]);
        self.take(
            Draft { rubric: Rubric::new("", name, criterion, options), place: place.clone(), places, kept },
            true,
        );
    }

    /// G-Eval's ranges of scores, lowest first, each an option worth the middle of its range.
    fn ranges(
        &mut self,
        list: &Node<'_>,
        place: &Place,
        places: &mut Vec<(Field, Place)>,
    ) -> Option<Vec<RubricOption>> {
        let mut ranges: Vec<(f64, f64, &str, Place)> = Vec::new();
        for (index, item) in list.items().iter().enumerate() {
            let at = place.item(index, item.offset);
            let (outcome, _) = self.required(item, &["expected_outcome"], &at)?;
            let range = item.given("score_range");
            let ends: Vec<f64> =
                range.map(Node::items).unwrap_or_default().iter().filter_map(Node::number).collect();
            let whole = |end: f64| (0.0..=10.0).contains(&end) && end.fract() == 0.0;
            match ends[..] {
                [start, end] if whole(start) && whole(end) && start <= end => {
                    ranges.push((start, end, outcome, at));
                }
                _ => {
                    let at = at.field("score_range", range.map_or(item.offset, |node| node.offset));
                    self.error(
                        &at,
                        "a range is two whole numbers of 0 to 10, the lower first",
                        "write it as [0, 3]; the entry is skipped",
                    );
                    return None;
                }
            }
            self.note_beside(item, &["score_range", "expected_outcome"]);
        }
        ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut options: Vec<RubricOption> = Vec::new();
        let mut before: Option<f64> = None;
        for (start, end, outcome, at) in ranges {
            match before {
                Some(last) if start <= last => {
                    self.error(
                        &at,
                        format!("the score {start} lies in two ranges"),
                        "part them; the entry is skipped",
                    );
                    return None;
                }
                Some(last) if start > last + 1.0 => self.warning(
                    &at,
                    format!("no range holds the scores between {last} and {start}"),
                    "widen a range, or leave it so if it is meant",
                ),
                _ => {}
            }
            before = Some(end);
            let label = if start == end { start.to_string() } else { format!("{start}-{end}") };
            places.push((Field::Description(options.len()), at));
            options.push(RubricOption::new(label, f64::midpoint(start, end)).described(outcome));
        }
        Some(options)
    }

    fn healthbench(&mut self, node: &Node<'_>, place: &Place) {
        let Some(list) = node.given("rubrics") else {
            self.point(node, place);
            return;
        };
        self.note_beside(node, &["rubrics"]);
        for (index, item) in list.items().iter().enumerate() {
            self.point(item, &place.field("rubrics", 0).item(index, item.offset));
        }
    }

    /// One of HealthBench's rubric items.
    fn point(&mut self, node: &Node<'_>, place: &Place) {
        let Some((criterion, at)) = self.required(node, &["criterion"], place) else { return };
        let Some(points) = node.given("points").and_then(Node::number) else {
            self.error(place, "the field \"points\" is no number", "give the points; the entry is skipped");
            return;
        };
        let points_at = place.field("points", node.get("points").map_or(place.offset, |node| node.offset));
        let mut rubric = Rubric::new(
            "",
            name_of(None, criterion),
            criterion,
            vec![RubricOption::new("no", 0.0), RubricOption::new("yes", 1.0)],
        );
        rubric.weight = points;
        let mut kept = self.rest(node, place, &["criterion", "points"]);
        // No tags is what is written where nothing is said.
        kept.retain(|key, value| key != "tags" || value.as_array().is_none_or(|tags| !tags.is_empty()));
        let places = vec![(Field::Criterion, at), (Field::Weight, points_at)];
        self.take(Draft { rubric, place: place.clone(), places, kept }, false);
    }

    fn ragas(&mut self, node: &Node<'_>, place: &Place, label: Option<&str>) {
        let (node, place) = match node.given("rubrics") {
            Some(rubrics) => {
                self.note_beside(node, &["rubrics"]);
                (rubrics, place.field("rubrics", rubrics.offset))
            }
            None => (node, place.clone()),
        };
        let mut levels: Vec<(u32, &str, Place)> = Vec::new();
        for (key, _) in node.entries() {
            let Some(number) = level_number(key) else { continue };
            let Some((text, at)) = self.required(node, &[key], &place) else { return };
            levels.push((number, text, at));
        }
        levels.sort_by_key(|(number, ..)| *number);
        levels.dedup_by_key(|(number, ..)| *number);
        let mut places = Vec::new();
        let mut options = Vec::new();
        for (number, text, at) in levels {
            places.push((Field::Description(options.len()), at));
            options.push(RubricOption::new(number.to_string(), f64::from(number)).described(text));
        }
        self.warning(
            &place,
            "ragas' rubrics have levels but no criterion",
            "the levels are judged as they stand; add a criterion in this program's own format",
        );
        let name = label.map_or_else(|| "Rubric".to_owned(), |label| name_of(Some(label), ""));
        let mut kept = self.rest(node, &place, &[]);
        kept.retain(|key, _| level_number(key).is_none());
        let rubric = Rubric::new("", name, RAGAS_CRITERION, options);
        self.take(Draft { rubric, place, places, kept }, label.is_some());
    }
}

/// Kiln's scales by type.
pub(super) fn kiln_options(kind: &str) -> Option<Vec<RubricOption>> {
    let of = |options: &[(&str, f64)]| {
        options.iter().map(|(label, value)| RubricOption::new(*label, *value)).collect()
    };
    match kind {
        "five_star" => Some((1..=5_u32).map(|n| RubricOption::new(n.to_string(), f64::from(n))).collect()),
        "pass_fail" => Some(of(&[("fail", 0.0), ("pass", 1.0)])),
        "pass_fail_critical" => Some(of(&[("critical", -1.0), ("fail", 0.0), ("pass", 1.0)])),
        _ => None,
    }
}

/// Kiln has no field for levels. Where an instruction ends with a blank line and a line `label: …` for every option in
/// their order, these describe them; what stands before is the criterion.
fn take_levels(instruction: &str, options: &mut [RubricOption]) -> String {
    let lines: Vec<&str> = instruction.split('\n').collect();
    let Some(start) = lines.len().checked_sub(options.len() + 1) else { return instruction.to_owned() };
    let (before, levels) = lines.split_at(start);
    let Some((blank, levels)) = levels.split_first() else { return instruction.to_owned() };
    let described: Option<Vec<String>> = levels
        .iter()
        .zip(options.iter())
        .map(|(line, option)| {
            let description = line.strip_prefix(option.label.as_str())?.strip_prefix(':')?.trim();
            (!description.is_empty()).then(|| description.to_owned())
        })
        .collect();
    let criterion = before.join("\n").trim().to_owned();
    let (Some(described), true, false) = (described, blank.trim().is_empty(), criterion.is_empty()) else {
        return instruction.to_owned();
    };
    for (option, description) in options.iter_mut().zip(described) {
        option.description = Some(description);
    }
    criterion
}

/// The criterion that is made of G-Eval's steps.
pub(super) fn steps_criterion(steps: &[&str]) -> String {
    let mut text = STEPS_INTRODUCTION.to_owned();
    for (index, step) in steps.iter().enumerate() {
        text.push_str(&format!("\n{}. {}", index + 1, step.trim()));
    }
    text
}

/// What options are worth: their scores, the numbers that they are called, or the order of words that everybody
/// orders alike; then also how that was told. An error says why nothing can be told.
fn values(labels: &[&str], scores: &[Option<f64>]) -> Result<(Vec<f64>, Option<String>), String> {
    if let Some(values) = scores.iter().copied().collect::<Option<Vec<f64>>>() {
        return Ok((values, None));
    }
    if let Some((label, _)) = labels.iter().zip(scores).find(|(_, score)| score.is_none())
        && scores.iter().any(Option::is_some)
    {
        return Err(format!("the option {label:?} has no score, while others have"));
    }
    let numbers = labels.iter().map(|label| label.trim().parse::<f64>().ok().filter(|n| n.is_finite()));
    if let Some(values) = numbers.collect::<Option<Vec<f64>>>() {
        return Ok((values, None));
    }
    let ranks: Option<Vec<usize>> = labels.iter().map(|label| rank(label)).collect();
    if let Some(ranks) = ranks {
        let sorted: BTreeSet<usize> = ranks.iter().copied().collect();
        if sorted.len() == ranks.len() {
            let place = |rank: &usize| sorted.iter().position(|other| other == rank).unwrap_or(0) as f64;
            let order: Vec<&str> = sorted
                .iter()
                .filter_map(|rank| labels.get(ranks.iter().position(|other| other == rank)?))
                .copied()
                .collect();
            let how = format!(
                "they are taken from lowest to highest as {}, worth 0 and one more each",
                order.join(", ")
            );
            return Ok((ranks.iter().map(place).collect(), Some(how)));
        }
    }
    Err(format!("nothing says what the options {} are worth", labels.join(", ")))
}

/// Where a usual name of an option stands among the others.
fn rank(label: &str) -> Option<usize> {
    const ORDER: [&[&str]; 12] = [
        &["no", "false", "fail", "failed", "incorrect", "wrong"],
        &["terrible", "awful", "very bad", "very poor", "worst", "strongly disagree"],
        &["bad", "poor", "disagree"],
        &["below average", "could be improved", "needs improvement"],
        &["partial", "partially", "partly", "somewhat", "mixed", "neutral"],
        &["fair", "average", "acceptable", "ok", "okay", "satisfactory", "medium", "moderate"],
        &["above average"],
        &["good", "agree"],
        &["very good", "great"],
        &["excellent", "strongly agree", "outstanding"],
        &["perfect"],
        &["yes", "true", "pass", "passed", "correct", "right"],
    ];
    let label = label.trim().to_lowercase();
    ORDER.iter().position(|names| names.contains(&label.as_str()))
}

/// The name that stands over a rubric in its file, or the beginning of its criterion.
fn name_of(label: Option<&str>, criterion: &str) -> String {
    match label {
        // An id is written for people.
        Some(label) if slug(label) == label => {
            let words = label.replace('_', " ");
            let mut characters = words.chars();
            characters
                .next()
                .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
        }
        Some(label) => one_line(label),
        None => shortened(criterion),
    }
}

/// The text on one line, without control characters.
fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a text on one line, cut after a word.
fn shortened(text: &str) -> String {
    let line = one_line(text);
    if line.chars().count() <= MAX_NAME_CHARACTERS {
        return line.trim_end_matches(['.', '?', ':']).to_owned();
    }
    let cut: String = line.chars().take(MAX_NAME_CHARACTERS).collect();
    let words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{}…", words.trim_end_matches([',', '.', ';', ':']))
}
