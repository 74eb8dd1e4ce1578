//! Summaries, attribution and factuality.
//!
//! In these files a row holds a document with many summaries, lists that run side by side, or spans of characters. Several
//! of them draw on the same news articles and encyclopedia sentences, cut into tokens differently and ended at different
//! places; [`beginning`] makes one group of them.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::Reader;
use crate::read::spec::files::{self, Found};
use crate::read::spec::table::Records;
use crate::read::{Item, Reading};
use crate::{DataError, Example, Problem, Target, Task};

pub(super) const READERS: &[(&str, Reader)] = &[
    ("summeval_coherence", |reading, each| graded(reading, "coherence", [1.0, 5.0], each)),
    ("summeval_consistency", |reading, each| graded(reading, "consistency", [1.0, 5.0], each)),
    ("summeval_fluency", |reading, each| graded(reading, "fluency", [1.0, 5.0], each)),
    ("summeval_relevance", |reading, each| graded(reading, "relevance", [1.0, 5.0], each)),
    ("newsroom_coherence", |reading, each| graded(reading, "coherence", [1.0, 5.0], each)),
    ("newsroom_fluency", |reading, each| graded(reading, "fluency", [1.0, 5.0], each)),
    ("newsroom_informativeness", |reading, each| graded(reading, "informativeness", [1.0, 5.0], each)),
    ("newsroom_relevance", |reading, each| graded(reading, "relevance", [1.0, 5.0], each)),
    ("realsumm_recall", |reading, each| graded(reading, "litepyramid_recall", [0.0, 1.0], each)),
    ("qags", qags),
    ("rank19", rank19),
    ("summac_label", |reading, each| summac(reading, "label", each)),
    ("summac_raters", |reading, each| summac(reading, "annotations", each)),
    ("polytope_accuracy", |reading, each| summac(reading, "inaccuracy_label", each)),
    ("polytope_addition", |reading, each| summac(reading, "addition_label", each)),
    ("polytope_omission", |reading, each| summac(reading, "omission_label", each)),
    ("polytope_duplication", |reading, each| summac(reading, "duplication_label", each)),
    ("opinions_fluency", |reading, each| opinions(reading, "fl", each)),
    ("opinions_coherence", |reading, each| opinions(reading, "co", each)),
    ("opinions_relevance", |reading, each| opinions(reading, "re", each)),
    ("opinions_faithfulness", |reading, each| opinions(reading, "fa", each)),
    ("opinions_aspects", |reading, each| opinions(reading, "ac", each)),
    ("opinions_sentiment", |reading, each| opinions(reading, "sc", each)),
    ("opinions_specificity", |reading, each| opinions(reading, "sp", each)),
    ("begin", begin),
    ("q_squared", q_squared),
    ("audit_begin", |reading, each| audit(reading, Audit::Support, each)),
    ("audit_cooperation", |reading, each| audit(reading, Audit::Cooperation, each)),
    ("audit_disclosure", |reading, each| audit(reading, Audit::Disclosure, each)),
    ("factscore_supported", |reading, each| factscore(reading, Facts::Supported, each)),
    ("factscore_relevant", |reading, each| factscore(reading, Facts::Relevant, each)),
    ("factscore_claims", |reading, each| factscore(reading, Facts::Claims, each)),
    ("factool_claims", factool),
    ("feedback_facts", |reading, each| feedback(reading, Feedback::Facts, each)),
    ("feedback_relevance", |reading, each| feedback(reading, Feedback::Relevance, each)),
    ("feedback_completeness", |reading, each| feedback(reading, Feedback::Completeness, each)),
    ("feedback_quote_error", |reading, each| feedback(reading, Feedback::QuoteError, each)),
    ("feedback_quote_irrelevant", |reading, each| feedback(reading, Feedback::QuoteIrrelevant, each)),
    ("feedback_correction", |reading, each| feedback(reading, Feedback::Correction, each)),
    ("feedback_pairs", |reading, each| feedback(reading, Feedback::Pairs, each)),
];

type Each<'a> = &'a mut dyn FnMut(Item);
type Rows = Result<usize, DataError>;

/// How much of a document's beginning tells it from others: well more than a common opening, and well less than the
/// shortest cut of an article in these files.
const BEGINNING: usize = 200;

/// The letters and digits with which a text begins, in lower case. Copies of one article agree in them however it was cut
/// into tokens ("team 's", "team's") and wherever it was cut off.
fn beginning(text: &str) -> String {
    letters(text.chars()).take(BEGINNING).collect()
}

/// The same of a text's end. XSum's articles come with and without their first sentence, and always with their last.
fn end(text: &str) -> String {
    let last: Vec<char> = letters(text.chars().rev()).take(BEGINNING).collect();
    last.into_iter().rev().collect()
}

fn letters(chars: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    chars.flat_map(char::to_lowercase).filter(|c| c.is_alphanumeric())
}

/// The examples of a task's files in order; those with the same texts are one, its target the mean over all their raters.
#[derive(Default)]
struct Merged {
    examples: Vec<Example>,
    places: HashMap<Vec<String>, usize>,
}

impl Merged {
    fn add(&mut self, example: Example) {
        let mut texts: Vec<String> =
            example.fields.iter().flat_map(|(k, v)| [k.clone(), v.clone()]).collect();
        texts.extend(example.responses.iter().flatten().cloned());
        if let Some(&place) = self.places.get(&texts) {
            let known = &mut self.examples[place];
            let (old, new) = (f64::from(known.raters), f64::from(example.raters));
            let mean = |a: f64, b: f64| (a * old + b * new) / (old + new);
            known.target = match (&known.target, example.target) {
                (Target::Options(a), Target::Options(b)) => {
                    Target::Options(a.iter().zip(b).map(|(&a, b)| mean(a, b)).collect())
                }
                (
                    Target::Preference { first, second, tie },
                    Target::Preference { first: other_first, second: other_second, tie: other_tie },
                ) => Target::Preference {
                    first: mean(*first, other_first),
                    second: mean(*second, other_second),
                    tie: mean(*tie, other_tie),
                },
                // Of two right texts the first stands.
                (target, _) => target.clone(),
            };
            known.raters = known.raters.saturating_add(example.raters);
            return;
        }
        self.places.insert(texts, self.examples.len());
        self.examples.push(example);
    }

    fn give(self, each: Each<'_>) {
        self.examples.into_iter().for_each(|example| each(Ok(example)));
    }
}

/// A file of the task.
struct File {
    /// Relative to the repository.
    name: String,
    /// Its name without folders and extension.
    stem: String,
    /// What is no UTF-8 in it is replaced.
    text: String,
    /// The lines where something was.
    broken: Vec<usize>,
}

impl File {
    /// All files that the task names, one after the other.
    fn all(reading: &Reading<'_>) -> Result<Vec<Self>, DataError> {
        let task = reading.task;
        let found = files::find(&reading.folder, &task.source.repository, &task.reader.files)?;
        found.iter().map(Self::open).collect()
    }

    fn open(found: &Found) -> Result<Self, DataError> {
        let bytes = found.bytes()?;
        let mut broken = Vec::new();
        if std::str::from_utf8(&bytes).is_err() {
            let lines = (1_usize..).zip(bytes.split(|&byte| byte == b'\n'));
            broken.extend(lines.filter(|(_, line)| std::str::from_utf8(line).is_err()).map(|(at, _)| at));
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Self { name: found.name.clone(), stem: found.stem().to_owned(), text, broken })
    }

    fn json<T: serde::de::DeserializeOwned>(&self, expected: &str) -> Result<T, DataError> {
        let form = |problem: String| DataError::Form {
            file: self.name.clone(),
            problem: format!("it should be {expected}: {problem}; fetch the file again"),
        };
        if let Some(line) = self.broken.first() {
            return Err(form(format!("line {line} is not UTF-8")));
        }
        serde_json::from_str(&self.text).map_err(|error| form(error.to_string()))
    }

    /// Whether a row that begins on a line and goes on for some more is what the file says.
    fn whole(&self, line: usize, more: usize) -> Result<(), String> {
        match self.broken.iter().find(|&&broken| (line..=line + more).contains(&broken)) {
            Some(broken) => Err(format!("line {broken} is not UTF-8")),
            None => Ok(()),
        }
    }

    /// A row of a file with one object per line.
    fn object(&self, line: usize, row: &str) -> Result<Value, String> {
        self.whole(line, 0)?;
        serde_json::from_str(row).map_err(|error| error.to_string())
    }

    fn problem(&self, line: usize, message: impl fmt::Display) -> Item {
        Err(Problem {
            file: self.name.clone(),
            line: Some(line),
            message: format!("{message}; the row was skipped"),
        })
    }

    /// The rows of a table with a line of names, each with the line that it begins on.
    fn table(&self, delimiter: u8, quoting: bool) -> Result<(Names, Vec<TableRow>), DataError> {
        let text = self.text.as_bytes();
        let mut records =
            if quoting { Records::quoted(text, delimiter) } else { Records::raw(text, delimiter) };
        let mut rows = Vec::new();
        let unreadable = |error: std::io::Error| DataError::Unreadable {
            file: self.name.clone(),
            problem: error.to_string(),
        };
        while let Some(record) = records.next().map_err(unreadable)? {
            let cells = record.cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned());
            let cells: Vec<String> = cells.collect();
            let more = cells.iter().map(|cell| cell.matches('\n').count()).sum();
            let mut whole = self.whole(record.line, more);
            if record.unclosed {
                whole = Err("a quote is opened and never closed, so all that follows is one cell".into());
            }
            rows.push(TableRow { line: record.line, whole, cells });
        }
        if rows.is_empty() {
            let problem = "it is empty; fetch the file again".to_owned();
            return Err(DataError::Form { file: self.name.clone(), problem });
        }
        let names = rows.remove(0).cells.iter().map(|name| name.trim().to_owned()).collect();
        Ok((Names { names }, rows))
    }
}

struct Names {
    names: Vec<String>,
}

struct TableRow {
    line: usize,
    whole: Result<(), String>,
    cells: Vec<String>,
}

impl Names {
    /// A cell by its column's name.
    fn cell<'a>(&self, row: &'a TableRow, name: &str) -> Result<&'a str, String> {
        row.whole.clone()?;
        if row.cells.len() != self.names.len() {
            return Err(format!(
                "it has {} cells where the first line names {}",
                row.cells.len(),
                self.names.len()
            ));
        }
        let place = self.names.iter().position(|known| known == name);
        let cell = place.and_then(|place| row.cells.get(place));
        cell.map(String::as_str).ok_or_else(|| format!("there is no column \"{name}\""))
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }
}

/// A JSON object in the file's order, which `serde_json`'s own does not keep.
struct Entries(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// A text of a JSON object; blank is as good as absent.
fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str, String> {
    match value.get(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
        Some(Value::String(_)) => Err(format!("\"{key}\" is empty")),
        Some(other) => Err(format!("\"{key}\" should be a text and is {}", kind(other))),
        None => Err(format!("\"{key}\" is not there")),
    }
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], String> {
    match value.get(key) {
        Some(Value::Array(list)) => Ok(list),
        Some(other) => Err(format!("\"{key}\" should be a list and is {}", kind(other))),
        None => Err(format!("\"{key}\" is not there")),
    }
}

fn number(value: &Value, key: &str) -> Result<f64, String> {
    let found = value.get(key).ok_or_else(|| format!("\"{key}\" is not there"))?;
    found.as_f64().ok_or_else(|| format!("\"{key}\" should be a number and is {}", kind(found)))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn fields<const N: usize>(texts: [(&str, &str); N]) -> BTreeMap<String, String> {
    texts.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

/// A grade on the file's scale as shares of the task's options: between two it is shared in proportion, so that the mean
/// over the options is the grade.
fn grade(task: &Task, value: f64, [low, high]: [f64; 2]) -> Result<Target, String> {
    if !(low..=high).contains(&value) {
        return Err(format!("the grade {value} is not between {low} and {high}"));
    }
    let (Some(first), Some(last)) = (task.options.first(), task.options.last()) else {
        return Err("the task has no options".into());
    };
    let place = first.value + (value - low) / (high - low) * (last.value - first.value);
    let mut shares = vec![0.0; task.options.len()];
    let above = task.options.iter().position(|option| option.value >= place - 1e-9);
    let above = above.unwrap_or(task.options.len() - 1);
    let upper = task.options[above].value;
    if above == 0 || (upper - place).abs() < 1e-9 {
        shares[above] = 1.0;
    } else {
        let lower = task.options[above - 1].value;
        let share = (place - lower) / (upper - lower);
        (shares[above - 1], shares[above]) = (1.0 - share, share);
    }
    Ok(Target::Options(shares))
}

/// One vote per rater.
fn votes<'a>(task: &Task, labels: impl IntoIterator<Item = &'a str>) -> Result<(Target, u32), String> {
    let mut shares = vec![0.0; task.options.len()];
    let mut raters = 0_u32;
    for label in labels {
        let place = task.options.iter().position(|option| option.label == label);
        shares[place.ok_or_else(|| format!("\"{label}\" is none of the options"))?] += 1.0;
        raters += 1;
    }
    if raters == 0 {
        return Err("nobody gave a label".into());
    }
    shares.iter_mut().for_each(|share| *share /= f64::from(raters));
    Ok((Target::Options(shares), raters))
}

fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

/// All summaries of `BARTScore`'s form: `{document: {src, ref_summ, sys_summs: {system: {sys_summ, scores}}}}`.
fn summaries(
    reading: &Reading<'_>,
    each: Each<'_>,
    make: &mut dyn FnMut(&Value, &Value) -> Result<Example, String>,
) -> Rows {
    let (mut rows, mut merged) = (0, Merged::default());
    for file in File::all(reading)? {
        let documents: Entries = file.json("an object with one document per key")?;
        for (line, (key, document)) in (1_usize..).zip(&documents.0) {
            let Some(Value::Object(summaries)) = document.get("sys_summs") else {
                rows += 1;
                each(file.problem(line, format_args!("document {key}: there is no object \"sys_summs\"")));
                continue;
            };
            for (system, summary) in summaries {
                rows += 1;
                match make(document, summary) {
                    Ok(example) => merged.add(Example { id: format!("{key}/{system}"), ..example }),
                    Err(message) => {
                        each(file.problem(line, format_args!("document {key}, system {system}: {message}")));
                    }
                }
            }
        }
    }
    merged.give(each);
    Ok(rows)
}

/// Summaries with a grade. A task about the reference summary has it as `reference`, any other the article as `document`.
fn graded(reading: &Reading<'_>, dimension: &str, range: [f64; 2], each: Each<'_>) -> Rows {
    let task = reading.task;
    let by_reference = task.context.iter().any(|field| field.name == "reference");
    summaries(reading, each, &mut |document, summary| {
        let source = text(document, "src")?;
        let scores = summary.get("scores").ok_or("\"scores\" is not there")?;
        let first =
            if by_reference { ("reference", text(document, "ref_summ")?) } else { ("document", source) };
        Ok(Example {
            group: beginning(source),
            fields: fields([first, ("response", text(summary, "sys_summ")?)]),
            target: grade(task, number(scores, dimension)?, range)?,
            raters: 1,
            ..Example::default()
        })
    })
}

/// QAGS: the share of a summary's sentences that most of three raters found supported; all of them, or not.
fn qags(reading: &Reading<'_>, each: Each<'_>) -> Rows {
    let xsum = reading.task.reader.files.iter().any(|file| file.contains("XSUM"));
    summaries(reading, each, &mut |document, summary| {
        let source = text(document, "src")?;
        let share = number(summary.get("scores").ok_or("\"scores\" is not there")?, "fact")?;
        if !(0.0..=1.0).contains(&share) {
            return Err(format!("the share {share} is not between 0 and 1"));
        }
        let (target, raters) = votes(reading.task, [yes_no(share > 1.0 - 1e-9)])?;
        Ok(Example {
            group: if xsum { end(source) } else { beginning(source) },
            fields: fields([("document", source), ("response", text(summary, "sys_summ")?)]),
            target,
            raters,
            ..Example::default()
        })
    })
}

/// Falke et al.'s pairs: of each source sentence a right and a wrong summary, in this order.
fn rank19(reading: &Reading<'_>, each: Each<'_>) -> Rows {
    let (mut rows, mut merged) = (0, Merged::default());
    for file in File::all(reading)? {
        let documents: Entries = file.json("an object with one document per key")?;
        for (line, (key, document)) in (1_usize..).zip(&documents.0) {
            rows += 1;
            let pair = || {
                let source = text(document, "src")?;
                let of = |system: &str| {
                    let summary = document.get("sys_summs").and_then(|all| all.get(system));
                    text(summary.ok_or_else(|| format!("there is no summary \"{system}\""))?, "sys_summ")
                };
                let responses = [of("correct")?.to_owned(), of("incorrect")?.to_owned()];
                // Where both are the same words neither is better.
                Ok::<_, String>((responses[0].trim() != responses[1].trim()).then(|| Example {
                    id: key.clone(),
                    group: beginning(source),
                    fields: fields([("document", source)]),
                    responses: Some(responses),
                    target: Target::Preference { first: 1.0, second: 0.0, tie: 0.0 },
                    raters: 1,
                    ..Example::default()
                }))
            };
            match pair() {
                Ok(example) => example.into_iter().for_each(|example| merged.add(example)),
                Err(message) => each(file.problem(line, format_args!("document {key}: {message}"))),
            }
        }
    }
    merged.give(each);
    Ok(rows)
}

/// `SummaC`'s documents with claims. Labels are 1 where the summary is free of the fault.
fn summac(reading: &Reading<'_>, column: &str, each: Each<'_>) -> Rows {
    let (mut rows, mut merged) = (0, Merged::default());
    for file in File::all(reading)? {
        let claims: Entries = file.json("an object with one claim per key")?;
        for (line, (key, row)) in (1_usize..).zip(&claims.0) {
            rows += 1;
            let example = || {
                let document = text(row, "document")?;
                let raters = match (column, row.get("origin").and_then(Value::as_str)) {
                    ("annotations", Some("xsum")) => spans_of_three(list(row, column)?)?,
                    ("annotations", _) => fives(list(row, column)?)?,
                    _ => vec![zero_or_one(row.get(column), column)?],
                };
                let (target, raters) = votes(reading.task, raters.into_iter().map(yes_no))?;
                let xsum = row.get("origin").and_then(Value::as_str) == Some("xsum");
                Ok::<_, String>(Example {
                    id: key.clone(),
                    group: if xsum { end(document) } else { beginning(document) },
                    fields: fields([("document", document), ("response", text(row, "claim")?)]),
                    target,
                    raters,
                    ..Example::default()
                })
            };
            match example() {
                Ok(example) => merged.add(example),
                Err(message) => each(file.problem(line, format_args!("claim {key}: {message}"))),
            }
        }
    }
    merged.give(each);
    Ok(rows)
}

fn zero_or_one(value: Option<&Value>, name: &str) -> Result<bool, String> {
    match value.and_then(Value::as_i64) {
        Some(0) => Ok(false),
        Some(1) => Ok(true),
        _ => Err(format!("\"{name}\" is neither 0 nor 1")),
    }
}

/// SummEval's three experts gave 1 to 5, of which 5 alone means that nothing is wrong.
fn fives(list: &[Value]) -> Result<Vec<bool>, String> {
    list.iter()
        .map(|value| match value.as_i64() {
            Some(grade @ 1..=5) => Ok(grade == 5),
            _ => Err(format!("{value} is no grade from 1 to 5")),
        })
        .collect()
}

/// Three people marked what the article does not hold: the list has a 1 for each who found nothing, and a 0 for every
/// span that any of the others marked.
fn spans_of_three(list: &[Value]) -> Result<Vec<bool>, String> {
    let marks: Vec<bool> =
        list.iter().map(|value| zero_or_one(Some(value), "annotations")).collect::<Result<_, _>>()?;
    let content = marks.iter().filter(|&&mark| mark).count();
    if marks.len() < 3 || content > 3 || (content == 3 && marks.len() > 3) {
        return Err(format!("{} marks, {content} of them 1, are not those of three people", marks.len()));
    }
    Ok((0..3).map(|rater| rater < content).collect())
}

/// SummEval-OP: lists of summaries, and of three grades for each, beside the reviews.
fn opinions(reading: &Reading<'_>, dimension: &str, each: Each<'_>) -> Rows {
    let (mut rows, mut merged) = (0, Merged::default());
    for file in File::all(reading)? {
        for (line, product) in (1_usize..).zip(file.text.lines()) {
            if product.trim().is_empty() {
                continue;
            }
            let lists = || {
                let product = file.object(line, product)?;
                let reviews: Vec<&str> =
                    list(&product, "reviews")?.iter().filter_map(Value::as_str).collect();
                if reviews.is_empty() {
                    return Err("there are no reviews".to_owned());
                }
                let summaries = list(&product, "summaries")?.to_vec();
                let grades = list(&product, dimension)?.to_vec();
                if summaries.len() != grades.len() {
                    return Err(format!(
                        "{} summaries have {} lists of grades",
                        summaries.len(),
                        grades.len()
                    ));
                }
                let reviews: Vec<String> =
                    (1_usize..).zip(&reviews).map(|(number, review)| format!("{number}. {review}")).collect();
                Ok((reviews.join("\n"), summaries, grades))
            };
            let (reviews, summaries, grades) = match lists() {
                Ok(lists) => lists,
                Err(message) => {
                    rows += 1;
                    each(file.problem(line, message));
                    continue;
                }
            };
            for (number, (summary, grades)) in (1_usize..).zip(summaries.iter().zip(&grades)) {
                rows += 1;
                let example = || {
                    let summary = summary.as_str().filter(|text| !text.trim().is_empty());
                    let summary = summary.ok_or("it is no text")?;
                    let grades = grades.as_array().ok_or("its grades are no list")?;
                    let labels: Vec<String> = grades.iter().map(Value::to_string).collect();
                    let (target, raters) = votes(reading.task, labels.iter().map(String::as_str))?;
                    Ok::<_, String>(Example {
                        id: format!("{line}/{number}"),
                        group: beginning(&reviews),
                        fields: fields([("reviews", &reviews), ("response", summary)]),
                        target,
                        raters,
                        ..Example::default()
                    })
                };
                match example() {
                    Ok(example) => merged.add(example),
                    Err(message) => each(file.problem(line, format_args!("summary {number}: {message}"))),
                }
            }
        }
    }
    merged.give(each);
    Ok(rows)
}

/// A turn of a dialogue with what is known: the knowledge, what was said before (if anything), and the response.
fn turn(knowledge: &str, message: &str, response: &str) -> Result<Example, String> {
    for (name, text) in [("the knowledge", knowledge), ("the response", response)] {
        if text.trim().is_empty() {
            return Err(format!("{name} is empty"));
        }
    }
    let mut fields = fields([("knowledge", knowledge.trim()), ("response", response.trim())]);
    if !message.trim().is_empty() {
        fields.insert("message".to_owned(), message.trim().to_owned());
    }
    Ok(Example { group: beginning(knowledge), fields, raters: 1, ..Example::default() })
}

/// BEGIN: one response per line, without any quoting.
fn begin(reading: &Reading<'_>, each: Each<'_>) -> Rows {
    let (mut rows, mut merged) = (0, Merged::default());
    for file in File::all(reading)? {
        let (names, table) = file.table(b'\t', false)?;
        for (number, row) in (1_usize..).zip(&table) {
            rows += 1;
            let example = || {
                let cell = |name: &str| names.cell(row, name);
                let label = match cell("begin_label")?.trim() {
                    "Fully attributable" => "supported",
                    "Generic" => "generic",
                    "Not fully attributable" => "unsupported",
                    other => return Err(format!("the label \"{other}\" is not known")),
                };
                let (target, raters) = votes(reading.task, [label])?;
                Ok(Example {
                    id: format!("{}/{number}", file.stem),
                    target,
                    raters,
                    subset: Some(cell("data_source")?.to_owned()),
                    ..turn(cell("knowledge")?, cell("message")?, cell("response")?)?
                })
            };
            match example() {
                Ok(example) => merged.add(example),
                Err(message) => each(file.problem(row.line, message)),
            }
        }
    }
    merged.give(each);
    Ok(rows)
}

/// Q²: each row has the responses of two systems. Their labels are 1 where the response is *in*consistent.
fn q_squared(reading: &Reading<'_>, each: Each<'_>) -> Rows {
    let (mut rows, mut merged) = (0, Merged::default());
    for file in File::all(reading)? {
        let (names, table) = file.table(b',', true)?;
        for (number, row) in (1_usize..).zip(&table) {
            for system in ["dodeca", "memnet"] {
                rows += 1;
                let example = || {
                    let cell = |name: &str| names.cell(row, name);
                    let label = match cell(&format!("{system}_label"))?.trim() {
                        "1" => "no",
                        "0" => "yes",
                        other => return Err(format!("{system}: the label \"{other}\" is neither 0 nor 1")),
                    };
                    let (target, raters) = votes(reading.task, [label])?;
                    let response = cell(&format!("{system}_response"))?;
                    Ok(Example {
                        id: format!("{}/{number}/{system}", file.stem),
                        target,
                        raters,
                        subset: Some(system.to_owned()),
                        ..turn(cell("knowledge")?, cell("message")?, response)?
                    })
                };
                match example() {
                    Ok(example) => merged.add(example),
                    Err(message) => each(file.problem(row.line, message)),
                }
            }
        }
    }
    merged.give(each);
    Ok(rows)
}

/// What is asked of the audit's rows.
#[derive(Clone, Copy, PartialEq)]
enum Audit {
    /// How far the knowledge carries the response.
    Support,
    /// Whether a response that it carries is also of use in the dialogue.
    Cooperation,
    /// Whether the speaker discloses something of their own.
    Disclosure,
}

/// The audit of dialogues by `FaithDial`'s authors: gold responses and those of three systems, whose files name their columns
/// differently.
fn audit(reading: &Reading<'_>, asked: Audit, each: Each<'_>) -> Rows {
    let (mut rows, mut merged) = (0, Merged::default());
    for file in File::all(reading)? {
        let (names, table) = file.table(b',', true)?;
        let pick = |options: &[&'static str]| {
            options.iter().copied().find(|name| names.has(name)).ok_or_else(|| DataError::Form {
                file: file.name.clone(),
                problem: format!("it has none of the columns {}", options.join(", ")),
            })
        };
        let knowledge = pick(&["knowledge", "evidence"])?;
        let response = pick(&["response", "ctrl", "doha", "gpt2"])?;
        let support = pick(&["begin_label", "BEGIN"])?;
        let acts = pick(&["vrm_label", "VRM"])?;
        // `gold/cmu.csv` and `GPT2/gpt2_processed_cmu.csv` are of one set of dialogues.
        let set = ["cmu", "topical", "wow"].into_iter().find(|set| file.stem.contains(set));
        for (number, row) in (1_usize..).zip(&table) {
            rows += 1;
            let example = || {
                let cell = |name: &str| names.cell(row, name);
                let label = match asked {
                    Audit::Disclosure => disclosure(cell(acts)?),
                    Audit::Support => supported(cell(support)?)?.map(|(label, _)| label),
                    Audit::Cooperation => {
                        let found = supported(cell(support)?)?;
                        found.and_then(|(label, useful)| (label == "supported").then(|| yes_no(useful)))
                    }
                };
                let Some(label) = label else { return Ok(None) };
                let (target, raters) = votes(reading.task, [label])?;
                Ok::<_, String>(Some(Example {
                    id: format!("{}/{number}", file.name),
                    target,
                    raters,
                    subset: set.map(str::to_owned),
                    ..turn(cell(knowledge)?, cell("history")?, cell(response)?)?
                }))
            };
            match example() {
                Ok(example) => example.into_iter().for_each(|example| merged.add(example)),
                Err(message) => each(file.problem(row.line, message)),
            }
        }
    }
    merged.give(each);
    Ok(rows)
}

/// How far the knowledge carries a response, and whether it is of use in the dialogue; `None` where nobody labelled it.
/// The labels were typed by hand: "entailmentt,uncooperative", "entailment. uncooperative", "hallucinated".
fn supported(cell: &str) -> Result<Option<(&'static str, bool)>, String> {
    let cell = cell.trim().to_lowercase();
    let (mut carried, mut made_up, mut generic, mut useful) = (false, false, false, true);
    for label in cell.split([',', '.', ' ']).filter(|label| !label.is_empty()) {
        match label {
            _ if label.starts_with("entail") => carried = true,
            _ if label.starts_with("halluc") => made_up = true,
            "partial" => carried = true,
            "generic" => generic = true,
            // Alone, in the files of gold responses, it means one that is carried and of no use.
            "uncooperative" => (carried, useful) = (true, false),
            _ => return Err(format!("the label \"{cell}\" is not known")),
        }
    }
    Ok(match (carried, made_up, generic) {
        (true, true, false) => Some(("partial", useful)),
        (true, false, false) => Some(("supported", useful)),
        (false, true, false) => Some(("unsupported", useful)),
        (false, false, true) => Some(("generic", useful)),
        (false, false, false) => None,
        _ => return Err(format!("the label \"{cell}\" contradicts itself")),
    })
}

/// Whether disclosure is among a response's speech acts; `None` where nobody labelled them. Of the misspellings
/// ("disclsoure", "dislcosure", "dicslosure") none begins otherwise, and no other act begins so.
fn disclosure(cell: &str) -> Option<&'static str> {
    let cell = cell.to_lowercase();
    let mut acts = cell.split([',', '.', ' ', '\n', '\r']).filter(|act| !act.is_empty()).peekable();
    acts.peek()?;
    Some(yes_no(acts.any(|act| act.starts_with("dis") || act.starts_with("dic"))))
}

/// What is asked of `FActScore`'s facts.
#[derive(Clone, Copy, PartialEq)]
enum Facts {
    /// Whether Wikipedia supports one.
    Supported,
    /// Whether it bears on the prompt.
    Relevant,
    /// Which facts a sentence states.
    Claims,
}

/// `FActScore`: biographies, cut into sentences, cut into facts.
fn factscore(reading: &Reading<'_>, asked: Facts, each: Each<'_>) -> Rows {
    let (mut rows, mut merged) = (0, Merged::default());
    for file in File::all(reading)? {
        for (line, biography) in (1_usize..).zip(file.text.lines()) {
            if biography.trim().is_empty() {
                continue;
            }
            let parts = || {
                let biography = file.object(line, biography)?;
                let prompt = text(&biography, "input")?.trim();
                let prompt = prompt.strip_prefix("Question:").unwrap_or(prompt).trim().to_owned();
                let topic = beginning(text(&biography, "topic")?);
                // Nothing was labelled, for the most part because the system had declined to write.
                if biography.get("annotations") == Some(&Value::Null) {
                    return Ok(None);
                }
                Ok::<_, String>(Some((prompt, topic, list(&biography, "annotations")?.to_vec())))
            };
            let (prompt, topic, sentences) = match parts() {
                Ok(Some(parts)) => parts,
                Ok(None) => continue,
                Err(message) => {
                    rows += 1;
                    each(file.problem(line, message));
                    continue;
                }
            };
            for (at, sentence) in (1_usize..).zip(&sentences) {
                // Nothing was labelled in a sentence that does not bear on the prompt.
                let facts = match sentence.get("human-atomic-facts") {
                    None | Some(Value::Null) => continue,
                    Some(Value::Array(facts)) => facts.as_slice(),
                    Some(other) => {
                        rows += 1;
                        let what = kind(other);
                        each(file.problem(
                            line,
                            format_args!("sentence {at}: \"human-atomic-facts\" is {what}, not a list"),
                        ));
                        continue;
                    }
                };
                let example = |fields, id, target| Example {
                    id: format!("{}/{line}/{at}{id}", file.stem),
                    group: topic.clone(),
                    fields,
                    target,
                    raters: 1,
                    ..Example::default()
                };
                if asked == Facts::Claims {
                    rows += 1;
                    let claims = facts.iter().map(|fact| text(fact, "text").map(str::trim));
                    let made = claims.collect::<Result<Vec<_>, _>>().and_then(|claims| {
                        let fields =
                            fields([("prompt", &*prompt), ("sentence", text(sentence, "text")?.trim())]);
                        Ok((!claims.is_empty())
                            .then(|| example(fields, String::new(), Target::Text(claims.join("\n")))))
                    });
                    match made {
                        Ok(example) => example.into_iter().for_each(|example| merged.add(example)),
                        Err(message) => each(file.problem(line, format_args!("sentence {at}: {message}"))),
                    }
                    continue;
                }
                for (place, fact) in (1_usize..).zip(facts) {
                    rows += 1;
                    let made = || {
                        let label = match (text(fact, "label")?, asked) {
                            ("S", Facts::Supported) | ("S" | "NS", Facts::Relevant) => "yes",
                            ("NS", Facts::Supported) | ("IR", Facts::Relevant) => "no",
                            // Whether it is true was not asked of a fact that is beside the point.
                            ("IR", Facts::Supported) => return Ok(None),
                            (other, _) => return Err(format!("the label \"{other}\" is not S, NS or IR")),
                        };
                        let (target, _) = votes(reading.task, [label])?;
                        let fields = fields([
                            ("prompt", &*prompt),
                            ("sentence", text(sentence, "text")?.trim()),
                            ("claim", text(fact, "text")?.trim()),
                        ]);
                        Ok(Some(example(fields, format!("/{place}"), target)))
                    };
                    match made() {
                        Ok(example) => example.into_iter().for_each(|example| merged.add(example)),
                        Err(message) => {
                            each(file.problem(line, format_args!("sentence {at}, fact {place}: {message}")));
                        }
                    }
                }
            }
        }
    }
    merged.give(each);
    Ok(rows)
}

/// `FacTool`'s questions in Factbench: claims and their labels side by side. Rows of other sources are not looked into.
fn factool(reading: &Reading<'_>, each: Each<'_>) -> Rows {
    let (mut rows, mut merged) = (0, Merged::default());
    for file in File::all(reading)? {
        for (line, row) in (1_usize..).zip(file.text.lines()) {
            if row.trim().is_empty() {
                continue;
            }
            let parts = || {
                let row = file.object(line, row)?;
                if text(&row, "source")? != "factool-qa" {
                    return Ok(None);
                }
                let claims = list(&row, "claims")?.to_vec();
                let labels = list(&row, "claim_labels")?.to_vec();
                if claims.len() != labels.len() {
                    return Err(format!("{} claims have {} labels", claims.len(), labels.len()));
                }
                let (prompt, response) =
                    (text(&row, "prompt")?.to_owned(), text(&row, "response")?.to_owned());
                Ok(Some((prompt, response, claims, labels)))
            };
            let (prompt, response, claims, labels) = match parts() {
                Ok(Some(parts)) => parts,
                Ok(None) => continue,
                Err(message) => {
                    rows += 1;
                    each(file.problem(line, message));
                    continue;
                }
            };
            for (place, (claim, label)) in (1_usize..).zip(claims.iter().zip(&labels)) {
                rows += 1;
                let example = || {
                    let claim =
                        claim.as_str().filter(|text| !text.trim().is_empty()).ok_or("it is no text")?;
                    let label = label.as_bool().ok_or("its label is neither true nor false")?;
                    let (target, raters) = votes(reading.task, [yes_no(label)])?;
                    Ok::<_, String>(Example {
                        id: format!("{line}/{place}"),
                        group: beginning(&prompt),
                        fields: fields([("prompt", &*prompt), ("response", &*response), ("claim", claim)]),
                        target,
                        raters,
                        ..Example::default()
                    })
                };
                match example() {
                    Ok(example) => merged.add(example),
                    Err(message) => each(file.problem(line, format_args!("claim {place}: {message}"))),
                }
            }
        }
    }
    merged.give(each);
    Ok(rows)
}

/// What is made of feedback on answers.
#[derive(Clone, Copy, PartialEq)]
enum Feedback {
    /// Whether a sentence is carried by the passages.
    Facts,
    /// Whether a sentence belongs into the answer.
    Relevance,
    /// What the answer lacks.
    Completeness,
    /// The first sentence with an error of fact.
    QuoteError,
    /// The first part that does not belong there.
    QuoteIrrelevant,
    /// The answer put right.
    Correction,
    /// Which of two answers is better.
    Pairs,
}

/// A span of characters that a rater marked.
struct Span {
    start: usize,
    end: usize,
    fact: bool,
}

/// Fine-grained feedback: four answers to a question from passages; spans of error in the first, and preferences between
/// all.
fn feedback(reading: &Reading<'_>, asked: Feedback, each: Each<'_>) -> Rows {
    let (mut rows, mut merged) = (0, Merged::default());
    for file in File::all(reading)? {
        let questions: Vec<Value> = file.json("a list of questions")?;
        for (line, row) in (1_usize..).zip(&questions) {
            rows += 1;
            match answers(reading.task, row, asked) {
                Ok(examples) => {
                    for (part, example) in examples {
                        merged.add(Example { id: format!("{line}{part}"), ..example });
                    }
                }
                Err(message) => each(file.problem(line, message)),
            }
        }
    }
    merged.give(each);
    Ok(rows)
}

/// The examples of a question, each with what tells it from the others.
fn answers(task: &Task, row: &Value, asked: Feedback) -> Result<Vec<(String, Example)>, String> {
    let prompt = text(row, "question")?;
    let passages = passages(row)?;
    // Without passages there is nothing that an answer could be held against.
    let Some(passages) = passages else { return Ok(Vec::new()) };
    let example = |more: &[(&str, &str)], target, raters| {
        let mut all = fields([("prompt", prompt), ("passages", &passages)]);
        all.extend(more.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())));
        Example { group: beginning(prompt), fields: all, target, raters, ..Example::default() }
    };
    if asked == Feedback::Pairs {
        return pairs(row, &|responses, target| Example {
            responses: Some(responses),
            ..example(&[], target, 1)
        });
    }
    let response = text(row, "prediction 1")?;
    let feedback = row.get("feedback").ok_or("\"feedback\" is not there")?;
    let chars: Vec<char> = response.chars().collect();
    let spans = spans(feedback, chars.len())?;
    let part = |start: usize, end: usize| chars[start..end].iter().collect::<String>();
    let one = |target, raters| vec![(String::new(), example(&[("response", response)], target, raters))];
    Ok(match asked {
        Feedback::Facts | Feedback::Relevance => {
            let mut examples = Vec::new();
            for (number, (start, end)) in (1_usize..).zip(sentences(&chars)) {
                let fault = spans
                    .iter()
                    .filter(|span| span.fact == (asked == Feedback::Facts))
                    .any(|span| overlap(&chars, span, start, end));
                let (target, raters) = votes(task, [yes_no(!fault)])?;
                let sentence = part(start, end);
                let fields = [("response", response), ("sentence", sentence.as_str())];
                examples.push((format!("/{number}"), example(&fields, target, raters)));
            }
            examples
        }
        Feedback::Completeness => {
            let missing = list(feedback, "missing-info")?;
            let mut worst = "4";
            for info in missing {
                let label = match text(info, "error type")? {
                    "Missing-Answer" => "1",
                    "Missing-Major-Auxiliary" => "2",
                    "Missing-Minor-Auxiliary" => "3",
                    other => return Err(format!("the kind of missing information \"{other}\" is not known")),
                };
                worst = worst.min(label);
            }
            let (target, raters) = votes(task, [worst])?;
            one(target, raters)
        }
        Feedback::QuoteError => {
            let first = spans.iter().filter(|span| span.fact).min_by_key(|span| span.start);
            let quoted = first.and_then(|span| {
                sentences(&chars).into_iter().find(|&(start, end)| overlap(&chars, span, start, end))
            });
            quoted.map_or_else(Vec::new, |(start, end)| one(Target::Text(part(start, end)), 1))
        }
        Feedback::QuoteIrrelevant => {
            let first = spans.iter().filter(|span| !span.fact).min_by_key(|span| span.start);
            let quoted = first.map(|span| part(span.start, span.end).trim().to_owned());
            let quoted = quoted.filter(|text| !text.is_empty());
            quoted.map_or_else(Vec::new, |quoted| one(Target::Text(quoted), 1))
        }
        Feedback::Correction => {
            let right = feedback.get("corrected-prediction").and_then(Value::as_str);
            let right = right.ok_or("\"corrected-prediction\" is no text")?.trim();
            if right.is_empty() { Vec::new() } else { one(Target::Text(right.to_owned()), 1) }
        }
        Feedback::Pairs => Vec::new(),
    })
}

/// The six preferences between four answers: 1 against 2, 1 against 3, 1 against 4, 2 against 3, 2 against 4, 3 against 4.
fn pairs(
    row: &Value,
    example: &dyn Fn([String; 2], Target) -> Example,
) -> Result<Vec<(String, Example)>, String> {
    const ORDER: [[usize; 2]; 6] = [[1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]];
    let preferences = list(row, "preference")?;
    if preferences.len() != ORDER.len() {
        return Err(format!("there are {} preferences and not {}", preferences.len(), ORDER.len()));
    }
    let mut examples = Vec::new();
    for ([a, b], preference) in ORDER.into_iter().zip(preferences) {
        let answer = |number: usize| text(row, &format!("prediction {number}")).map(str::to_owned);
        let [first, second, tie] = match preference.as_i64() {
            Some(1) => [1.0, 0.0, 0.0],
            Some(2) => [0.0, 1.0, 0.0],
            Some(0) => [0.0, 0.0, 1.0],
            _ => return Err(format!("the preference {preference} is not 0, 1 or 2")),
        };
        let target = Target::Preference { first, second, tie };
        examples.push((format!("/{a}-{b}"), example([answer(a)?, answer(b)?], target)));
    }
    Ok(examples)
}

/// The passages as a reader sees them: number, title, text. `None` where there are none.
fn passages(row: &Value) -> Result<Option<String>, String> {
    let mut lines = Vec::new();
    for (number, passage) in (1_usize..).zip(list(row, "passages")?) {
        let parts = passage.as_array().ok_or_else(|| format!("passage {number} is no list"))?;
        let mut parts = parts.iter().filter_map(Value::as_str).map(str::trim);
        let title = parts.next().ok_or_else(|| format!("passage {number} has no title"))?;
        lines.push(format!("[{number}] {title}: {}", parts.collect::<Vec<_>>().join(" ")));
    }
    Ok((!lines.is_empty()).then(|| lines.join("\n")))
}

fn spans(feedback: &Value, length: usize) -> Result<Vec<Span>, String> {
    let mut spans = Vec::new();
    for error in list(feedback, "errors")? {
        let place = |key: &str| {
            let place = error.get(key).and_then(Value::as_u64).and_then(|place| usize::try_from(place).ok());
            place.ok_or_else(|| format!("\"{key}\" of an error is no place"))
        };
        let (start, end) = (place("start")?, place("end")?);
        if start >= end || end > length {
            return Err(format!(
                "an error from {start} to {end} is not within the answer's {length} characters"
            ));
        }
        let fact = match text(error, "error type")? {
            "Wrong-Grounding" | "Unverifiable" => true,
            "Irrelevant" | "Redundant" | "Incoherent" => false,
            other => return Err(format!("the kind of error \"{other}\" is not known")),
        };
        spans.push(Span { start, end, fact });
    }
    Ok(spans)
}

/// Whether a span marks more of a sentence than blanks and stops.
fn overlap(chars: &[char], span: &Span, start: usize, end: usize) -> bool {
    let (from, to) = (span.start.max(start), span.end.min(end));
    from < to && chars[from..to].iter().any(|c| c.is_alphanumeric())
}

/// The places of the sentences: each ends with a stop before a blank and what can begin a sentence, or with a line.
/// Short forms with a stop ("Dr. Claw") do not end one.
fn sentences(chars: &[char]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    for at in 0..chars.len() {
        if chars[at] == '\n' || ends(chars, at) {
            found.push((start, at + 1));
            start = at + 1;
        }
    }
    found.push((start, chars.len()));
    found
        .into_iter()
        .filter_map(|(start, end)| {
            let from = (start..end).find(|&at| !chars[at].is_whitespace())?;
            let to = (from..end).rev().find(|&at| !chars[at].is_whitespace())? + 1;
            chars[from..to].iter().any(|c| c.is_alphanumeric()).then_some((from, to))
        })
        .collect()
}

fn ends(chars: &[char], at: usize) -> bool {
    const SHORT: [&str; 13] =
        ["Mr", "Mrs", "Ms", "Dr", "St", "Jr", "Sr", "vs", "No", "Gov", "Sen", "Lt", "Col"];
    let closes = |c: char| matches!(c, '"' | '\'' | '”' | '’' | ')' | ']');
    // The stop itself, or what closes after it.
    let stop = (0..=at).rev().find(|&place| !closes(chars[place]));
    let Some(stop) = stop.filter(|&place| matches!(chars[place], '.' | '!' | '?')) else { return false };
    if chars.get(at + 1) != Some(&' ') {
        return false;
    }
    let next = chars[at + 1..].iter().copied().find(|c| *c != ' ');
    let begins =
        next.is_some_and(|c| c.is_uppercase() || c.is_numeric() || matches!(c, '"' | '\'' | '“' | '('));
    if !begins {
        return false;
    }
    if chars[stop] != '.' {
        return true;
    }
    let word: String = chars[..stop].iter().rev().take_while(|c| c.is_alphanumeric()).collect();
    let word: String = word.chars().rev().collect();
    // A single capital letter is an initial.
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    !initial && !SHORT.contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        sentences(&chars).into_iter().map(|(start, end)| chars[start..end].iter().collect()).collect()
    }

    #[test]
    fn copies_of_one_article_have_one_beginning_and_one_end() {
        // The two ways in which SummEval's articles are written in two repositories, in invented words.
        let (a, b) = ("( CNN ) The team 's 0 - 0 draw , \u{a3}200m", "(CNN)The team's 0-0 draw, \u{a3}200m");
        assert_eq!(beginning(a), "cnntheteams00draw200m");
        assert_eq!(beginning(a), beginning(b));
        let long = "word ".repeat(100);
        assert_eq!(beginning(&format!("{long} one end")), beginning(&format!("{long} and another")));
        assert_eq!(end(&format!("First sentence. {long}")), end(&long));
        assert_ne!(end(&long), end(&format!("{long} more")));
        assert_eq!(beginning(&long).chars().count(), BEGINNING);
    }

    #[test]
    fn sentences_end_at_stops_that_are_not_of_short_forms() {
        assert_eq!(
            cut(
                "Dr. Meyer of St. Ives came. \"Did he?\" He did!  J. K. Rowe's is 3.5 m tall. and so on.\nNext"
            ),
            [
                "Dr. Meyer of St. Ives came.",
                "\"Did he?\"",
                "He did!",
                "J. K. Rowe's is 3.5 m tall. and so on.",
                "Next"
            ]
        );
        assert_eq!(cut(" . "), Vec::<String>::new());
        assert_eq!(cut(""), Vec::<String>::new());
    }

    #[test]
    fn marks_are_those_of_three_people() {
        let of = |marks: &[u8]| spans_of_three(&marks.iter().map(|&mark| mark.into()).collect::<Vec<_>>());
        // One of three found nothing; the other two marked two spans each.
        assert_eq!(of(&[0, 0, 0, 0, 1]), Ok(vec![true, false, false]));
        assert_eq!(of(&[1, 1, 1]), Ok(vec![true; 3]));
        assert_eq!(of(&[0, 0, 0]), Ok(vec![false; 3]));
        for impossible in [&[1, 1][..], &[1, 1, 1, 0], &[1, 1, 1, 1], &[0, 0, 2], &[]] {
            assert!(of(impossible).is_err(), "{impossible:?}");
        }
    }

    #[test]
    fn labels_typed_by_hand_are_read_as_what_they_mean() {
        for (cell, label) in [
            ("entailmentt,uncooperative", Some(("supported", false))),
            ("entailment. uncooperative", Some(("supported", false))),
            ("Uncooperative", Some(("supported", false))),
            ("Entailment", Some(("supported", true))),
            ("hallucinated", Some(("unsupported", true))),
            ("Partial Hallucination", Some(("partial", true))),
            ("entailment,hallucination", Some(("partial", true))),
            (" generic ", Some(("generic", true))),
            ("", None),
        ] {
            assert_eq!(supported(cell), Ok(label), "{cell}");
        }
        assert!(supported("maybe").is_err());
        assert!(supported("generic,hallucination").is_err());
        for (cell, label) in [
            ("confirmation,\nacknowledgment,\ndisclosure", Some("yes")),
            ("dicslosure", Some("yes")),
            ("disclosure edification", Some("yes")),
            ("e,d,i,f,i,c,a,t,i,o,n", Some("no")),
            (",ack.", Some("no")),
            (" ", None),
        ] {
            assert_eq!(disclosure(cell), label, "{cell:?}");
        }
    }

    #[test]
    fn a_grade_is_the_mean_of_its_shares() {
        let task = crate::tasks().unwrap().get("realsumm_recall").unwrap();
        // 0.625 of the way from 1 to 5 is 3.5.
        let shares = |value, range| grade(task, value, range);
        assert_eq!(shares(0.625, [0.0, 1.0]), Ok(Target::Options(vec![0.0, 0.0, 0.5, 0.5, 0.0])));
        assert_eq!(shares(0.0, [0.0, 1.0]), Ok(Target::Options(vec![1.0, 0.0, 0.0, 0.0, 0.0])));
        assert_eq!(shares(5.0, [1.0, 5.0]), Ok(Target::Options(vec![0.0, 0.0, 0.0, 0.0, 1.0])));
        assert!(shares(1.1, [0.0, 1.0]).is_err());
        assert!(shares(f64::NAN, [0.0, 1.0]).is_err());
    }

    #[test]
    fn a_span_must_mark_letters_of_a_sentence() {
        let chars: Vec<char> = "One. Two.".chars().collect();
        let span = |start, end| Span { start, end, fact: true };
        assert!(!overlap(&chars, &span(3, 5), 5, 9), "the stop and the blank before it");
        assert!(overlap(&chars, &span(3, 6), 5, 9));
        assert!(!overlap(&chars, &span(8, 9), 5, 9), "its own stop");
    }

    #[test]
    fn rows_with_the_same_texts_are_one_by_the_number_of_their_raters() {
        let of = |id: &str, yes: f64, raters| Example {
            id: id.into(),
            fields: fields([("response", "same")]),
            target: Target::Options(vec![1.0 - yes, yes]),
            raters,
            ..Example::default()
        };
        let mut merged = Merged::default();
        [of("a", 1.0, 3), of("b", 0.0, 1)].into_iter().for_each(|example| merged.add(example));
        let mut found = Vec::new();
        merged.give(&mut |item| found.extend(item));
        assert_eq!(found, [of("a", 0.75, 4)]);
    }

    fn copy(from: &std::path::Path, to: &std::path::Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            if entry.path().is_dir() {
                copy(&entry.path(), &to.join(entry.file_name()));
            } else {
                std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
            }
        }
    }

    #[test]
    fn damaged_files_give_sound_examples_or_say_what_is_wrong() {
        let config = proptest::test_runner::Config {
            cases: 150,
            failure_persistence: None,
            ..proptest::test_runner::Config::default()
        };
        let tasks: Vec<&Task> = crate::tasks()
            .unwrap()
            .values()
            .filter(|task| READERS.iter().any(|(name, _)| task.reader.code.as_deref() == Some(*name)))
            .collect();
        // Digits, quotes and brackets make other values more often than other files.
        let bytes = || proptest::sample::select(b"0123456789-.\"[]{},:\n\tntfaS\xff\x00".to_vec());
        let damage = || proptest::collection::vec((0.0..1.0_f64, bytes()), 1..4);
        let damages = (0..tasks.len(), damage());
        let mut seen = [0, 0, 0];
        let seen = std::cell::RefCell::new(&mut seen);
        let rng =
            proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha);
        let mut runner = proptest::test_runner::TestRunner::new_with_rng(config, rng);
        let ran = runner.run(&damages, |(task, damage)| {
            let task = tasks[task];
            let folder = tempfile::tempdir().unwrap();
            let repository = task.source.repository.replace('/', "+");
            let place = folder.path().join(&repository);
            copy(&std::path::Path::new("tests/fixtures").join(&repository), &place);
            let files = files::find(&place, &repository, &task.reader.files).unwrap();
            for (number, (at, byte)) in damage.into_iter().enumerate() {
                let file = &files[number % files.len()].path;
                let mut text = std::fs::read(file).unwrap();
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    clippy::cast_precision_loss,
                    reason = "a place within a short file"
                )]
                let place = (at * text.len() as f64) as usize;
                text[place] = byte;
                std::fs::write(file, text).unwrap();
            }
            let mut wrong = Vec::new();
            let counts = crate::read(task, &crate::DataDir::new(folder.path()), &mut |item| match item {
                Ok(example) => {
                    let sum = match &example.target {
                        Target::Options(shares) if shares.len() == task.options.len() => shares.iter().sum(),
                        Target::Preference { first, second, tie } => first + second + tie,
                        Target::Text(text) if !text.is_empty() => 1.0,
                        _ => 0.0,
                    };
                    let whole = task.context.iter().all(|field| {
                        field.optional
                            || example.fields.get(&field.name).is_some_and(|text| !text.trim().is_empty())
                    });
                    if (sum - 1.0_f64).abs() > 1e-9 || !whole || example.raters == 0 {
                        wrong.push(format!("{}: {example:?}", task.name));
                    }
                }
                Err(problem) if problem.line.is_none_or(|line| line == 0) => wrong.push(problem.to_string()),
                Err(_) => {}
            });
            let mut seen = seen.borrow_mut();
            match counts {
                Ok(counts) => {
                    seen[0] += counts.examples;
                    seen[1] += counts.problems;
                }
                Err(_) => seen[2] += 1,
            }
            proptest::prop_assert!(wrong.is_empty(), "{}", wrong.join("\n"));
            Ok(())
        });
        ran.unwrap();
        let seen = seen.into_inner();
        assert!(seen.iter().all(|&count| count > 20), "examples, problems and files without form: {seen:?}");
    }
}
