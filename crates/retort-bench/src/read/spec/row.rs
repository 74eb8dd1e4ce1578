//! From a row to an example.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};

use super::files::Found;
use super::json::Json;
use super::label::{Labels, same};
use super::{Item, ReaderSpec};
use crate::{Example, Problem, Target, Task};

/// What a row holds.
#[derive(Clone, Copy)]
pub(super) enum Cells<'a> {
    /// Texts by the name of their column.
    Named(&'a [(&'a str, String)]),
    /// A value, and its key where rows are a table.
    Json(&'a Json, Option<&'a str>),
}

/// A row, or an element of one.
pub(super) struct At<'a> {
    file: &'a Found,
    number: String,
    line: usize,
    cells: Cells<'a>,
    element: Option<&'a Json>,
}

/// What is in a column.
enum Cell<'a> {
    Text(&'a str),
    /// Values in JSON; none where the path leads nowhere.
    Json(Vec<&'a Json>),
}

impl<'a> At<'a> {
    /// The row of this number in the file, from 1, and its physical line.
    pub(super) fn new(file: &'a Found, number: usize, line: usize, cells: Cells<'a>) -> Self {
        Self { file, number: number.to_string(), line, cells, element: None }
    }

    fn look(&self, column: &str) -> Cell<'_> {
        match (column, self.cells) {
            ("$file", _) => Cell::Text(self.file.stem()),
            ("$row", _) => Cell::Text(&self.number),
            ("$key", Cells::Json(_, Some(key))) => Cell::Text(key),
            (_, Cells::Named(cells)) => cells
                .iter()
                .find(|(name, _)| *name == column)
                .map_or_else(|| Cell::Json(Vec::new()), |(_, text)| Cell::Text(text)),
            (_, Cells::Json(row, _)) => Cell::Json(match (column.strip_prefix('.'), self.element) {
                (Some(path), Some(element)) => element.find(path),
                _ => row.find(column),
            }),
        }
    }

    /// The values of a column, a list's elements one by one; `None` for null.
    fn values(&self, column: &str) -> Result<Vec<Option<String>>, String> {
        let found = match self.look(column) {
            Cell::Text(text) => return Ok(vec![Some(text.to_owned())]),
            Cell::Json(found) => found,
        };
        let one = |value: &Json| match value {
            Json::Null => Ok(None),
            Json::List(_) | Json::Table(_) => {
                Err(format!("column {column:?} holds {} where a text should be", value.what()))
            }
            other => Ok(other.scalar()),
        };
        let mut values = Vec::new();
        for value in found {
            match value {
                Json::List(list) => {
                    for element in list {
                        values.push(one(element)?);
                    }
                }
                other => values.push(one(other)?),
            }
        }
        Ok(values)
    }

    /// The text of a column; `None` where there is none at all.
    fn text(&self, column: &str) -> Result<Option<String>, String> {
        let lines: Vec<String> = self.values(column)?.into_iter().flatten().collect();
        Ok(if lines.is_empty() { None } else { Some(lines.join("\n")) })
    }

    /// The text of a column that must have one.
    fn required(&self, column: &str) -> Result<String, String> {
        match self.text(column)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(format!("column {column:?} is empty")),
            None => Err(format!("there is nothing in column {column:?}")),
        }
    }
}

/// Makes examples of rows and hands them on.
pub(super) struct Maker<'t, 'e> {
    task: &'t Task,
    labels: Labels<'t>,
    each: &'e mut dyn FnMut(Item),
    rows: usize,
    merged: Merged,
}

impl<'t, 'e> Maker<'t, 'e> {
    pub(super) fn new(task: &'t Task, each: &'e mut dyn FnMut(Item)) -> Self {
        Self { task, labels: Labels::new(task), each, rows: 0, merged: Merged::default() }
    }

    pub(super) fn spec(&self) -> &'t ReaderSpec {
        &self.task.reader
    }

    /// All columns that a file must have or, where the value is true, may lack. Those with `$` are in every file.
    pub(super) fn columns(&self) -> BTreeMap<&'t str, bool> {
        let spec = self.spec();
        let is_optional =
            |name: &str| self.task.context.iter().any(|field| field.optional && field.name == name);
        let optional =
            spec.fields.iter().filter(|(name, _)| is_optional(name)).map(|(_, column)| (column, true));
        let label = spec.label.iter().flat_map(|label| label.columns.iter().chain(&label.text));
        let required = (spec.fields.iter().filter(|(name, _)| !is_optional(name)).map(|(_, column)| column))
            .chain(&spec.responses)
            .chain(&spec.group)
            .chain(&spec.subset)
            .chain(spec.extra.values())
            .chain(spec.only.iter().map(|filter| &filter.column))
            .chain(label)
            .map(|column| (column, false));
        // Required ones come last, so that a column which is both is required.
        optional
            .chain(required)
            .filter(|(column, _)| !column.starts_with('$'))
            .map(|(column, optional)| (column.as_str(), optional))
            .collect()
    }

    /// Counts a row.
    pub(super) fn row(&mut self) {
        self.rows += 1;
    }

    /// Reports a row that was skipped.
    pub(super) fn problem(&mut self, file: &str, line: usize, what: &str) {
        let message = format!("{what}; the row was skipped");
        (self.each)(Err(Problem { file: file.to_owned(), line: Some(line), message }));
    }

    /// Makes the examples of a row.
    pub(super) fn make(&mut self, at: &At<'_>) {
        let Some(each) = &self.spec().each else {
            match self.example(at, format!("{}#{}", at.file.name, at.number)) {
                Ok(example) => self.take(example),
                Err(problem) => self.problem(&at.file.name, at.line, &problem),
            }
            return;
        };
        let Cell::Json(found) = at.look(each) else { return };
        let unfit = found.iter().find(|value| !matches!(value, Json::List(_)));
        if let Some(what) = unfit.map_or(found.is_empty().then_some("nothing"), |value| Some(value.what())) {
            let problem = format!("column {each:?} holds {what} where a list should be");
            self.problem(&at.file.name, at.line, &problem);
            return;
        }
        let elements = found.into_iter().flat_map(|value| match value {
            Json::List(list) => list.as_slice(),
            _ => &[],
        });
        for (number, element) in (1..).zip(elements) {
            let part = At { element: Some(element), number: at.number.clone(), ..*at };
            match self.example(&part, format!("{}#{}.{number}", at.file.name, at.number)) {
                Ok(example) => self.take(example),
                Err(problem) => {
                    let problem = format!("element {number} of {each:?}: {problem}");
                    self.problem(&at.file.name, at.line, &problem);
                }
            }
        }
    }

    fn take(&mut self, example: Option<Example>) {
        match example {
            Some(example) if self.spec().merge => self.merged.add(example),
            Some(example) => (self.each)(Ok(example)),
            None => {}
        }
    }

    /// Hands on what was kept back, and gives the number of rows.
    pub(super) fn finish(self) -> usize {
        for example in self.merged.finish() {
            (self.each)(Ok(example));
        }
        self.rows
    }

    /// The example of a row; `None` where the row is not meant to be one.
    fn example(&self, at: &At<'_>, id: String) -> Result<Option<Example>, String> {
        let spec = self.spec();
        for filter in &spec.only {
            let text = at.text(&filter.column)?.unwrap_or_default();
            let text = text.trim();
            let among = |texts: &[String]| texts.iter().any(|other| same(text, other));
            if (!filter.is.is_empty() && !among(&filter.is)) || among(&filter.not) {
                return Ok(None);
            }
        }
        let (target, raters) = match self.labels.target(|column| at.values(column))? {
            Some(found) => found,
            None => return Ok(None),
        };
        let mut example = Example { target, raters, ..Example::default() };
        for field in &self.task.context {
            let Some(column) = spec.fields.get(&field.name) else { continue };
            let text = if field.optional {
                at.text(column)?.filter(|text| !text.trim().is_empty())
            } else {
                Some(at.required(column)?)
            };
            example.fields.extend(text.map(|text| (field.name.clone(), text)));
        }
        if let [first, second] = &spec.responses[..] {
            example.responses = Some([at.required(first)?, at.required(second)?]);
        }
        example.group = match &spec.group {
            Some(column) => at.required(column)?,
            None => {
                let fields = std::iter::once("prompt")
                    .chain(self.task.context.iter().map(|field| field.name.as_str()))
                    .find_map(|name| example.fields.get(name));
                fields.unwrap_or(&id).clone()
            }
        };
        if let Some(column) = &spec.subset {
            example.subset = at.text(column)?.filter(|text| !text.trim().is_empty());
        }
        for (name, column) in &spec.extra {
            example.extra.extend(at.text(column)?.map(|text| (name.clone(), text)));
        }
        example.id = id;
        Ok(Some(example))
    }
}

/// Examples with the same texts as one. Targets are kept as sums over raters until the end.
#[derive(Default)]
struct Merged {
    examples: Vec<Example>,
    by_texts: HashMap<u64, Vec<usize>>,
}

impl Merged {
    fn add(&mut self, mut example: Example) {
        scale(&mut example.target, f64::from(example.raters));
        let mut hasher = DefaultHasher::new();
        (&example.fields, &example.responses).hash(&mut hasher);
        let candidates = self.by_texts.entry(hasher.finish()).or_default();
        let known = candidates.iter().copied().find(|&index| {
            let known = &self.examples[index];
            known.fields == example.fields && known.responses == example.responses
        });
        let Some(known) = known else {
            candidates.push(self.examples.len());
            self.examples.push(example);
            return;
        };
        let known = &mut self.examples[known];
        known.raters = known.raters.saturating_add(example.raters);
        match (&mut known.target, &example.target) {
            (Target::Options(sums), Target::Options(shares)) => {
                sums.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
            }
            (
                Target::Preference { first, second, tie },
                Target::Preference { first: other_first, second: other_second, tie: other_tie },
            ) => {
                *first += other_first;
                *second += other_second;
                *tie += other_tie;
            }
            // Texts have no mean: the task's check refuses to merge them.
            _ => {}
        }
    }

    fn finish(self) -> impl Iterator<Item = Example> {
        self.examples.into_iter().map(|mut example| {
            scale(&mut example.target, 1.0 / f64::from(example.raters));
            example
        })
    }
}

fn scale(target: &mut Target, by: f64) {
    match target {
        Target::Options(shares) => shares.iter_mut().for_each(|share| *share *= by),
        Target::Preference { first, second, tie } => {
            *first *= by;
            *second *= by;
            *tie *= by;
        }
        Target::Unknown | Target::Text(_) => {}
    }
}
