//! Answers, code, mathematics and safety.
//!
//! These readers exist because the row of the file is not the example: several answers stand in one row, the gold answer
//! or the prompt stands in another file, the label has to be put together, or the file opens with remarks.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::Reader;
use crate::read::spec::files::{self, Found};
use crate::read::spec::table::Records;
use crate::read::{Item, Reading};
use crate::{DataError, Example, Problem, Target, Task};

pub(super) const READERS: &[(&str, Reader)] = &[
    ("davidson", davidson),
    ("gptfuzz", gptfuzz),
    ("gsm8k", gsm8k),
    ("gsm8k_pairs", gsm8k_pairs),
    ("halueval_spans", halueval_spans),
    ("mistake_answer", mistake_answer),
    ("mistake_step", mistake_step),
    ("mistake_trace", mistake_trace),
    ("moderation_any", moderation_any),
    ("moderation_category", moderation_category),
    ("openqa", openqa),
    ("pyrit_answered", pyrit_answered),
    ("pyrit_harm", pyrit_harm),
    ("qa_eval", qa_eval),
    ("qa_eval_pairs", qa_eval_pairs),
    ("truthfulqa", truthfulqa),
    ("truthfulqa_pairs", truthfulqa_pairs),
];

// ---------------------------------------------------------------------------------------------------------------------
// Rows.

/// A row of a file: of CSV and TSV an object of texts by the columns' names, of JSON whatever stands there.
struct Row {
    /// The file, relative to the repository.
    file: String,
    /// The file's name without folders and extension.
    stem: String,
    /// Number of the row from 1.
    number: usize,
    /// Physical line from 1, or the record's number from 1 in a JSON array.
    line: usize,
    /// What stands there, or why it cannot be read.
    value: Result<Value, String>,
}

impl Row {
    /// The same on every reading, and unique to the row.
    fn id(&self) -> String {
        format!("{}#{}", self.file, self.number)
    }

    fn problem(&self, reason: &str) -> Problem {
        Problem {
            file: self.file.clone(),
            line: Some(self.line),
            message: format!("{reason}; the row was skipped"),
        }
    }
}

/// The rows of all files that the task names.
fn rows(reading: &Reading<'_>) -> Result<Vec<Row>, DataError> {
    rows_of(reading, &reading.task.reader.files)
}

fn rows_of(reading: &Reading<'_>, patterns: &[String]) -> Result<Vec<Row>, DataError> {
    let mut all = Vec::new();
    for file in files::find(&reading.folder, &reading.task.source.repository, patterns)? {
        let bytes = file.bytes()?;
        let name = file.name.strip_suffix(".gz").unwrap_or(&file.name);
        let values = match Path::new(name).extension().and_then(|extension| extension.to_str()) {
            Some("jsonl") => lines(&bytes),
            // HaluEval's file is called .json and has one object per line.
            Some("json") if bytes.trim_ascii_start().starts_with(b"{") => lines(&bytes),
            Some("json") => records(&file, &bytes)?,
            Some("csv") => table(&file, &bytes, b',')?,
            Some("tsv") => table(&file, &bytes, b'\t')?,
            _ => {
                let problem = "this reader knows CSV, TSV, JSON and JSONL; name a file of these";
                return Err(form(&file.name, problem));
            }
        };
        all.extend((1..).zip(values).map(|(number, (line, value))| Row {
            file: file.name.clone(),
            stem: file.stem().to_owned(),
            number,
            line,
            value,
        }));
    }
    Ok(all)
}

fn form(file: &str, problem: &str) -> DataError {
    DataError::Form { file: file.to_owned(), problem: problem.to_owned() }
}

/// What stands on a line.
type Line = (usize, Result<Value, String>);

/// One JSON value per line; empty lines are passed over.
fn lines(bytes: &[u8]) -> Vec<Line> {
    let filled =
        (1..).zip(bytes.split(|&byte| byte == b'\n')).filter(|(_, line)| !line.trim_ascii().is_empty());
    filled
        .map(|(number, line)| {
            let value = serde_json::from_slice(line).map_err(|error| {
                let message = error.to_string();
                let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
                format!("it is not JSON at byte {}: {what}", error.column())
            });
            (number, value)
        })
        .collect()
}

/// The elements of a JSON array.
fn records(file: &Found, bytes: &[u8]) -> Result<Vec<Line>, DataError> {
    let values: Vec<Value> = serde_json::from_slice(bytes)
        .map_err(|error| form(&file.name, &format!("it is not a JSON array of records: {error}")))?;
    Ok((1..).zip(values).map(|(number, value)| (number, Ok(value))).collect())
}

/// A table with a line of names. Lines that begin with `#` before that line are remarks.
fn table(file: &Found, mut bytes: &[u8], delimiter: u8) -> Result<Vec<Line>, DataError> {
    let mut remarks = 0;
    while bytes.starts_with(b"#") {
        let end = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |end| end + 1);
        bytes = bytes.get(end..).unwrap_or_default();
        remarks += 1;
    }
    let mut records = Records::quoted(bytes, delimiter);
    let mut next = || records.next().map_err(|error| file.unreadable(&error));
    let Some(first) = next()? else {
        return Err(form(&file.name, "it is empty; its first line must name the columns"));
    };
    let names: Vec<String> =
        first.cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
    let mut rows = Vec::new();
    while let Some(record) = next()? {
        let value = if record.unclosed {
            Err("a quote is opened and never closed, so the row runs to the end of the file".to_owned())
        } else {
            cells(&names, &record.cells)
        };
        rows.push((record.line + remarks, value));
    }
    Ok(rows)
}

fn cells(names: &[String], cells: &[Vec<u8>]) -> Result<Value, String> {
    if cells.len() != names.len() {
        return Err(format!("it has {} columns where the line of names has {}", cells.len(), names.len()));
    }
    let mut object = Map::new();
    for (name, cell) in names.iter().zip(cells) {
        let cell = std::str::from_utf8(cell).map_err(|_| format!("column {name:?} is not UTF-8"))?;
        object.insert(name.clone(), cell.into());
    }
    Ok(Value::Object(object))
}

/// What stands under a key; `None` where nothing does, or null.
fn maybe<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|found| !found.is_null())
}

/// The text under a key, trimmed; it may be empty.
fn cell<'a>(value: &'a Value, key: &str) -> Result<&'a str, String> {
    match value.get(key) {
        Some(Value::String(text)) => Ok(text.trim()),
        Some(_) => Err(format!("\"{key}\" is not a text")),
        None => Err(format!("there is no \"{key}\"")),
    }
}

/// The text under a key, trimmed, and not empty.
fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str, String> {
    match cell(value, key)? {
        "" => Err(format!("\"{key}\" is empty")),
        text => Ok(text),
    }
}

fn truth(value: &Value, key: &str) -> Result<bool, String> {
    match value.get(key) {
        Some(Value::Bool(known)) => Ok(*known),
        Some(_) => Err(format!("\"{key}\" is neither true nor false")),
        None => Err(format!("there is no \"{key}\"")),
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Examples.

/// Makes examples of a row. Where it fails the whole row is skipped, whatever it had made.
type Make<'a> = &'a dyn Fn(&Row, &Value, &mut Vec<Example>) -> Result<(), String>;

/// Reads rows one by one.
fn make(rows: &[Row], each: &mut dyn FnMut(Item), examples_of: Make<'_>) -> usize {
    let mut examples = Vec::new();
    for row in rows {
        let made = match &row.value {
            Ok(value) => examples_of(row, value, &mut examples),
            Err(reason) => Err(reason.clone()),
        };
        match made {
            Ok(()) => examples.drain(..).for_each(|example| each(Ok(example))),
            Err(reason) => {
                examples.clear();
                each(Err(row.problem(&reason)));
            }
        }
    }
    rows.len()
}

/// The same; examples with the same texts become one, which stands where the first stood, its target the mean of theirs
/// and its raters theirs together.
fn make_merged(rows: &[Row], each: &mut dyn FnMut(Item), examples_of: Make<'_>) -> usize {
    let mut items: Vec<Item> = Vec::new();
    let mut places: HashMap<BTreeMap<String, String>, usize> = HashMap::new();
    let count = make(
        rows,
        &mut |item| {
            if let Ok(example) = &item {
                if let Some(&place) = places.get(&example.fields) {
                    if let Some(Ok(first)) = items.get_mut(place) {
                        merge(first, example);
                    }
                    return;
                }
                places.insert(example.fields.clone(), items.len());
            }
            items.push(item);
        },
        examples_of,
    );
    items.into_iter().for_each(each);
    count
}

/// Shares are weighed by raters, so that every person counts alike.
fn merge(first: &mut Example, other: &Example) {
    let (Target::Options(shares), Target::Options(others)) = (&mut first.target, &other.target) else {
        return;
    };
    let (mine, theirs) = (f64::from(first.raters), f64::from(other.raters));
    for (share, other) in shares.iter_mut().zip(others) {
        *share = (*share * mine + *other * theirs) / (mine + theirs);
    }
    first.raters += other.raters;
}

fn fields<const N: usize>(fields: [(&str, &str); N]) -> BTreeMap<String, String> {
    fields.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

/// The target of one label each by several people.
fn votes(task: &Task, labels: &[&str]) -> Result<(Target, u32), String> {
    let mut counts = vec![0_u32; task.options.len()];
    for label in labels {
        match task.options.iter().position(|option| option.label == *label) {
            Some(place) => counts[place] += 1,
            None => return Err(format!("the task has no option \"{label}\"")),
        }
    }
    shares(&counts)
}

fn shares(counts: &[u32]) -> Result<(Target, u32), String> {
    let raters: u32 = counts.iter().sum();
    if raters == 0 {
        return Err("there is no label".into());
    }
    let share = |&count: &u32| f64::from(count) / f64::from(raters);
    Ok((Target::Options(counts.iter().map(share).collect()), raters))
}

fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

/// A pair of a good and a bad response. Which comes first is decided by a hash of the id, so that neither place tells.
fn pair(mut example: Example, good: &str, bad: &str) -> Example {
    let good_first = Sha256::digest(example.id.as_bytes()).first().is_some_and(|byte| byte & 1 == 0);
    let (first, second) = if good_first { (good, bad) } else { (bad, good) };
    example.responses = Some([first.to_owned(), second.to_owned()]);
    let share = |preferred: bool| if preferred { 1.0 } else { 0.0 };
    example.target = Target::Preference { first: share(good_first), second: share(!good_first), tie: 0.0 };
    example.raters = 1;
    example
}

// ---------------------------------------------------------------------------------------------------------------------
// openai/grade-school-math: four solutions per problem, with whether the final answer is the known one.

const GSM8K_SYSTEMS: [&str; 4] = ["6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"];

/// Texts of GSM8K without the marks in which its calculator's calls are noted (`<<16-3=13>>`): a reader sees the result
/// right after the mark.
fn without_calculator(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<<") {
        plain.push_str(before);
        match after.split_once(">>") {
            Some((_, after)) => rest = after,
            None => {
                plain.push_str("<<");
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain.trim().to_owned()
}

/// The known solution, where the task shows it.
fn gsm8k_fields(task: &Task, value: &Value) -> Result<BTreeMap<String, String>, String> {
    let mut made = fields([("prompt", text(value, "question")?)]);
    if task.context.iter().any(|field| field.name == "reference") {
        made.insert("reference".into(), without_calculator(text(value, "ground_truth")?));
    }
    Ok(made)
}

fn gsm8k_solution(value: &Value, system: &str) -> Result<(String, bool), String> {
    let solution = maybe(value, system).ok_or_else(|| format!("there is no \"{system}\""))?;
    let of = |reason: String| format!("in \"{system}\", {reason}");
    Ok((
        without_calculator(text(solution, "solution").map_err(of)?),
        truth(solution, "is_correct").map_err(of)?,
    ))
}

fn gsm8k(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let task = reading.task;
    Ok(make(&rows(reading)?, each, &|row, value, examples| {
        let context = gsm8k_fields(task, value)?;
        let mut seen = BTreeSet::new();
        for system in GSM8K_SYSTEMS {
            let (solution, right) = gsm8k_solution(value, system)?;
            // Two models that wrote the same are one example, and still one run of the comparison.
            if !seen.insert(solution.clone()) {
                continue;
            }
            let (target, raters) = votes(task, &[yes_no(right)])?;
            let mut fields = context.clone();
            fields.insert("response".into(), solution);
            examples.push(Example {
                id: format!("{}/{system}", row.id()),
                group: context.get("prompt").cloned().unwrap_or_default(),
                fields,
                target,
                raters,
                subset: Some(system.to_owned()),
                ..Example::default()
            });
        }
        Ok(())
    }))
}

fn gsm8k_pairs(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let task = reading.task;
    Ok(make(&rows(reading)?, each, &|row, value, examples| {
        let fields = gsm8k_fields(task, value)?;
        let (mut right, mut wrong) = (BTreeSet::new(), BTreeSet::new());
        for system in GSM8K_SYSTEMS {
            let (solution, correct) = gsm8k_solution(value, system)?;
            if correct { &mut right } else { &mut wrong }.insert(solution);
        }
        let group = fields.get("prompt").cloned().unwrap_or_default();
        pairs_of(row, &right, &wrong, &Example { group, fields, ..Example::default() }, examples);
        Ok(())
    }))
}

/// Every good response with every bad one.
fn pairs_of(
    row: &Row,
    good: &BTreeSet<String>,
    bad: &BTreeSet<String>,
    like: &Example,
    examples: &mut Vec<Example>,
) {
    for (i, good) in good.iter().enumerate() {
        for (j, bad) in bad.iter().enumerate() {
            let id = format!("{}/{}-{}", row.id(), i + 1, j + 1);
            examples.push(pair(Example { id, ..like.clone() }, good, bad));
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// WHGTyen/BIG-Bench-Mistake: reasoning step by step, with the place of the first wrong step.

/// One trace.
struct Trace<'a> {
    prompt: String,
    steps: Vec<&'a str>,
    /// Place of the first wrong step from 0; `None` where all are right.
    mistake: Option<usize>,
}

fn trace<'a>(row: &Row, value: &'a Value) -> Result<Trace<'a>, String> {
    let input = text(value, "input")?;
    // Three of the five files give the bare input, so what is to be done with it is said here.
    let prompt = match row.stem.as_str() {
        "dyck_languages" => format!(
            "Continue this sequence of brackets so that every bracket is closed and in the right order. Give only the \
             closing brackets that are missing.\n{input}"
        ),
        "word_sorting" => format!("Sort these words in alphabetical order.\n{input}"),
        "multistep_arithmetic" => format!("Calculate.\n{input}"),
        _ => input.to_owned(),
    };
    let steps = value.get("steps").and_then(Value::as_array).ok_or("\"steps\" is not a list")?;
    let steps: Vec<&str> =
        steps.iter().map(Value::as_str).collect::<Option<_>>().ok_or("a step is not a text")?;
    if steps.is_empty() {
        return Err("\"steps\" is empty".into());
    }
    let mistake = match value.get("mistake_index") {
        Some(Value::Null) => None,
        Some(index) => {
            let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
            let index = index.filter(|&index| index < steps.len());
            Some(index.ok_or_else(|| {
                format!(
                    "\"mistake_index\" must be null or the place of one of the {} steps, from 0",
                    steps.len()
                )
            })?)
        }
        None => return Err("there is no \"mistake_index\"".into()),
    };
    Ok(Trace { prompt, steps, mistake })
}

/// Steps as numbered lines; empty ones are none.
fn numbered(steps: &[&str]) -> String {
    let steps = steps.iter().map(|step| step.trim()).filter(|step| !step.is_empty());
    let lines: Vec<String> = (1..).zip(steps).map(|(n, step): (usize, _)| format!("{n}. {step}")).collect();
    lines.join("\n")
}

fn mistake_trace(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    Ok(make(&rows(reading)?, each, &|row, value, examples| {
        let trace = trace(row, value)?;
        let (target, raters) = votes(reading.task, &[yes_no(trace.mistake.is_none())])?;
        examples.push(Example {
            id: row.id(),
            fields: fields([("prompt", &trace.prompt), ("response", &numbered(&trace.steps))]),
            group: trace.prompt,
            target,
            raters,
            subset: Some(row.stem.clone()),
            ..Example::default()
        });
        Ok(())
    }))
}

/// Steps up to the first wrong one, that one included. Nothing is known of those after it.
fn mistake_step(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    Ok(make(&rows(reading)?, each, &|row, value, examples| {
        let trace = trace(row, value)?;
        let known = trace.mistake.map_or(trace.steps.len(), |mistake| mistake + 1);
        for (place, step) in trace.steps.iter().take(known).enumerate() {
            // An empty line among the steps says nothing that could be right or wrong.
            if step.trim().is_empty() {
                continue;
            }
            let (target, raters) = votes(reading.task, &[yes_no(trace.mistake != Some(place))])?;
            let mut fields = fields([("prompt", &trace.prompt), ("step", step.trim())]);
            let earlier = numbered(trace.steps.get(..place).unwrap_or_default());
            if !earlier.is_empty() {
                fields.insert("earlier_steps".into(), earlier);
            }
            examples.push(Example {
                id: format!("{}/{}", row.id(), place + 1),
                group: trace.prompt.clone(),
                fields,
                target,
                raters,
                subset: Some(row.stem.clone()),
                ..Example::default()
            });
        }
        Ok(())
    }))
}

/// Whether the final answer is the known one. Traces that come to no answer are left out.
fn mistake_answer(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    // Brackets are spaced differently in both, which is no difference.
    let tidy = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    Ok(make(&rows(reading)?, each, &|row, value, examples| {
        let trace = trace(row, value)?;
        let target = text(value, "target")?;
        if maybe(value, "answer").is_none() || cell(value, "answer")?.is_empty() {
            return Ok(());
        }
        let words = row.stem == "word_sorting";
        let (answer, known) = (cell(value, "answer")?, target);
        let right = if words {
            answer.split_whitespace().eq(known.split_whitespace())
        } else {
            tidy(answer) == tidy(known)
        };
        let (target, raters) = votes(reading.task, &[yes_no(right)])?;
        examples.push(Example {
            id: row.id(),
            fields: fields([("prompt", &trace.prompt), ("response", &trace.steps.join("\n"))]),
            group: trace.prompt,
            target,
            raters,
            subset: Some(row.stem.clone()),
            ..Example::default()
        });
        Ok(())
    }))
}

// ---------------------------------------------------------------------------------------------------------------------
// Questions with known answers.

/// ehsk/OpenQA-eval: the raters' file, and another of the same questions that has the known answers.
fn openqa(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let [answers, known] = reading.task.reader.files.as_slice() else {
        return Err(two_files(reading.task));
    };
    // By the question's text: the two files number their rows differently.
    let mut golds: HashMap<String, String> = HashMap::new();
    for row in rows_of(reading, std::slice::from_ref(known))? {
        let Ok(value) = &row.value else { continue };
        if let (Ok(question), Ok(gold)) = (text(value, "Question"), text(value, "Gold answers")) {
            golds.insert(question.to_owned(), gold.replace(" | ", "\n"));
        }
    }
    Ok(make(&rows_of(reading, std::slice::from_ref(answers))?, each, &|row, value, examples| {
        let question = text(value, "Question")?;
        let gold =
            golds.get(question).ok_or_else(|| format!("{known} has no known answers to this question"))?;
        let answer = text(value, "Model answer")?;
        let mut labels = Vec::new();
        for rater in ["annotator1", "annotator2", "annotator3"] {
            match cell(value, rater)? {
                // The third was only asked where the first two differed.
                "" => {}
                "Yes" => labels.push("yes"),
                "No" => labels.push("no"),
                other => return Err(format!("\"{rater}\" is \"{other}\", neither Yes nor No")),
            }
        }
        let (target, raters) = votes(reading.task, &labels)?;
        examples.push(Example {
            id: row.id(),
            group: question.to_owned(),
            fields: fields([("prompt", question), ("reference", gold), ("response", answer)]),
            target,
            raters,
            ..Example::default()
        });
        Ok(())
    }))
}

fn two_files(task: &Task) -> DataError {
    form(
        &format!("{}.toml", task.name),
        "this reader needs two files: the one with the labels, then the one that belongs to it",
    )
}

const QA_EVAL_SYSTEMS: [&str; 5] = ["fid", "gpt35", "chatgpt", "gpt4", "newbing"];

/// A question of wangcunxiang/QA-Eval: what it has in common for all systems, and each system's answer with its label.
type Answered<'a> = (Example, Vec<(&'static str, &'a str, bool)>);

/// `None` for questions that the raters set aside (no longer answerable, or unclear). Systems without an answer or
/// without a label are left out.
fn qa_eval_row<'a>(row: &Row, value: &'a Value) -> Result<Option<Answered<'a>>, String> {
    if truth(value, "improper")? {
        return Ok(None);
    }
    let question = text(value, "question")?;
    let like = Example {
        id: row.id(),
        group: question.to_owned(),
        fields: fields([("prompt", question), ("reference", text(value, "golden_answer")?)]),
        subset: Some(row.stem.clone()),
        ..Example::default()
    };
    let mut answers = Vec::new();
    for system in QA_EVAL_SYSTEMS {
        let (answer, judged) = (format!("answer_{system}"), format!("judge_{system}"));
        if maybe(value, &answer).is_none() || maybe(value, &judged).is_none() {
            continue;
        }
        let right = truth(value, &judged)?;
        let answer = cell(value, &answer)?;
        if !answer.is_empty() {
            answers.push((system, answer, right));
        }
    }
    Ok(Some((like, answers)))
}

fn qa_eval(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    Ok(make(&rows(reading)?, each, &|row, value, examples| {
        let Some((like, answers)) = qa_eval_row(row, value)? else { return Ok(()) };
        for (system, answer, right) in answers {
            let mut example = Example { id: format!("{}/{system}", like.id), ..like.clone() };
            example.fields.insert("response".into(), answer.to_owned());
            example.extra.insert("system".into(), system.to_owned());
            (example.target, example.raters) = votes(reading.task, &[yes_no(right)])?;
            examples.push(example);
        }
        Ok(())
    }))
}

fn qa_eval_pairs(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    Ok(make(&rows(reading)?, each, &|row, value, examples| {
        let Some((like, answers)) = qa_eval_row(row, value)? else { return Ok(()) };
        let of = |wanted: bool| {
            let texts = answers.iter().filter(|(_, _, right)| *right == wanted);
            texts.map(|(_, answer, _)| (*answer).to_owned()).collect::<BTreeSet<_>>()
        };
        let (right, mut wrong) = (of(true), of(false));
        // The same words cannot be better than themselves: raters differed there.
        wrong.retain(|answer| !right.contains(answer));
        pairs_of(row, &right, &wrong, &like, examples);
        Ok(())
    }))
}

/// koppula/TruthfulQA: `Q: …`, `A: …` and the question's name in one text. The same answer by several models is one
/// example.
fn truthfulqa(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    Ok(make_merged(&rows(reading)?, each, &|row, value, examples| {
        let whole = text(value, "prompt")?;
        let parts = whole.strip_prefix("Q: ").and_then(|rest| {
            let rest = rest.strip_suffix("True:").or_else(|| rest.strip_suffix("Helpful:"))?;
            rest.split_once("\nA:")
        });
        let Some((question, answer)) = parts else {
            return Err(
                "\"prompt\" is not of the form \"Q: …\", \"A: …\" and \"True:\" or \"Helpful:\"".into()
            );
        };
        let (question, answer) = (question.trim(), answer.trim());
        // A model that said nothing.
        if answer.is_empty() {
            return Ok(());
        }
        let label = match text(value, "completion")? {
            label @ ("yes" | "no") => label,
            other => return Err(format!("\"completion\" is \"{other}\", neither yes nor no")),
        };
        let (target, raters) = votes(reading.task, &[label])?;
        examples.push(Example {
            id: row.id(),
            group: question.to_owned(),
            fields: fields([("prompt", question), ("response", answer)]),
            target,
            raters,
            ..Example::default()
        });
        Ok(())
    }))
}

/// The best right and the best wrong answer that the authors wrote to each question.
fn truthfulqa_pairs(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    Ok(make(&rows(reading)?, each, &|row, value, examples| {
        let question = text(value, "Question")?;
        let example = Example {
            id: row.id(),
            group: question.to_owned(),
            fields: fields([("prompt", question)]),
            subset: Some(text(value, "Category")?.to_owned()),
            ..Example::default()
        };
        examples.push(pair(example, text(value, "Best Answer")?, text(value, "Best Incorrect Answer")?));
        Ok(())
    }))
}

/// RUCAIBox/HaluEval: the passages that raters marked. Rows without a mark are left out, and those whose mark is a
/// remark of the rater's and not a passage of the response.
fn halueval_spans(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    Ok(make(&rows(reading)?, each, &|row, value, examples| {
        let (query, response) = (text(value, "user_query")?, text(value, "chatgpt_response")?);
        let spans = value.get("hallucination_spans").and_then(Value::as_array);
        let spans = spans.ok_or("\"hallucination_spans\" is not a list")?;
        let spans: Vec<&str> = spans
            .iter()
            .map(|span| span.as_str().map(str::trim))
            .collect::<Option<_>>()
            .ok_or("a span is not a text")?;
        if spans.is_empty() || spans.iter().any(|span| span.is_empty() || !response.contains(span)) {
            return Ok(());
        }
        // Some are marked twice, once within a longer passage.
        let mut kept: Vec<&str> = Vec::new();
        for (place, span) in spans.iter().enumerate() {
            let within = spans
                .iter()
                .enumerate()
                .any(|(other, longer)| longer.contains(span) && (longer.len() > span.len() || other < place));
            if !within {
                kept.push(span);
            }
        }
        kept.sort_by_key(|span| response.find(span));
        examples.push(Example {
            id: row.id(),
            group: query.to_owned(),
            fields: fields([("prompt", query), ("response", response)]),
            target: Target::Text(kept.join("\n")),
            raters: 1,
            ..Example::default()
        });
        Ok(())
    }))
}

// ---------------------------------------------------------------------------------------------------------------------
// Safety.

/// sherdencooper/GPTFuzz: files of labelled responses, and last the list of the questions that they name by number.
fn gptfuzz(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let Some((list, labelled)) = reading.task.reader.files.split_last() else {
        return Err(two_files(reading.task));
    };
    let mut questions: HashMap<String, String> = HashMap::new();
    for row in rows_of(reading, std::slice::from_ref(list))? {
        let Ok(value) = &row.value else { continue };
        if let (Ok(index), Ok(question)) = (text(value, "index"), text(value, "text")) {
            questions.insert(index.to_owned(), question.to_owned());
        }
    }
    Ok(make_merged(&rows_of(reading, labelled)?, each, &|row, value, examples| {
        let number = text(value, "question")?;
        let question =
            questions.get(number).ok_or_else(|| format!("{list} has no question of the number {number}"))?;
        let label = match text(value, "label")? {
            "0" => "yes",
            "1" => "no",
            other => return Err(format!("\"label\" is \"{other}\", neither 0 nor 1")),
        };
        let (target, raters) = votes(reading.task, &[label])?;
        examples.push(Example {
            id: row.id(),
            group: question.clone(),
            fields: fields([("prompt", question), ("response", text(value, "Response")?)]),
            target,
            raters,
            ..Example::default()
        });
        Ok(())
    }))
}

/// t-davidson/hate-speech-and-offensive-language: how many raters chose each class. Of a task with two options, the
/// second is the class `neither`, and the first the two others.
fn davidson(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let two = reading.task.options.len() == 2;
    Ok(make(&rows(reading)?, each, &|row, value, examples| {
        let count = |column: &str| -> Result<u32, String> {
            let said = text(value, column)?;
            said.parse().map_err(|_| format!("\"{column}\" is \"{said}\", not a number of raters"))
        };
        let counts = [count("hate_speech")?, count("offensive_language")?, count("neither")?];
        if counts.iter().map(|&count| u64::from(count)).sum::<u64>() != u64::from(count("count")?) {
            return Err("the raters of the three classes are not as many as \"count\"".into());
        }
        let [hate, offensive, neither] = counts;
        let (target, raters) = if two { shares(&[hate + offensive, neither])? } else { shares(&counts)? };
        let tweet = unescaped(text(value, "tweet")?);
        examples.push(Example {
            id: row.id(),
            group: tweet.clone().into_owned(),
            fields: fields([("text", &tweet)]),
            target,
            raters,
            ..Example::default()
        });
        Ok(())
    }))
}

/// A text without HTML's character references.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain.push_str(before);
        let reference = after.split_once(';').and_then(|(name, after)| {
            let character = match name {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "apos" => '\'',
                "nbsp" => ' ',
                _ => char::from_u32(name.strip_prefix('#')?.parse().ok()?)?,
            };
            Some((character, after))
        });
        match reference {
            Some((character, after)) => {
                plain.push(character);
                rest = after;
            }
            None => {
                plain.push('&');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The categories of openai/moderation-api-release, with a name and a description in our words. The first five are whole
/// categories; the last three are parts of the first three.
const MODERATION: [(&str, &str, &str); 8] = [
    ("S", "sexual", "content meant to arouse, or that describes sexual acts or offers sexual services"),
    ("H", "hate", "content that expresses or spreads hatred of people for a group that they belong to"),
    ("V", "violence", "content that promotes or glorifies violence, or celebrates that others suffer"),
    (
        "HR",
        "harassment",
        "content that torments or insults a person in real life, or invites others to do so",
    ),
    ("SH", "self-harm", "content that shows, encourages or describes acts of harming oneself"),
    ("S3", "sexual, minors", "sexual content that involves a person under 18"),
    ("H2", "hate, threatening", "hateful content that also threatens a group with violence or serious harm"),
    ("V2", "violence, graphic", "content that describes death, injury or violence in graphic detail"),
];

/// Whether the text falls into a category; `None` where the raters left that open.
fn moderation_label(value: &Value, category: &str) -> Result<Option<bool>, String> {
    match maybe(value, category).map(Value::as_u64) {
        None => Ok(None),
        Some(Some(0)) => Ok(Some(false)),
        Some(Some(1)) => Ok(Some(true)),
        Some(_) => Err(format!("\"{category}\" is neither 0 nor 1")),
    }
}

/// Texts in any category, and texts in none; those of which it is not known are left out.
fn moderation_any(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    Ok(make_merged(&rows(reading)?, each, &|row, value, examples| {
        let prompt = text(value, "prompt")?;
        let mut labels = Vec::new();
        for (category, _, _) in MODERATION {
            labels.push(moderation_label(value, category)?);
        }
        let harmful = labels.contains(&Some(true));
        // Outside a category is outside its parts.
        let whole = labels.get(..5).unwrap_or_default();
        if !harmful && whole.iter().any(Option::is_none) {
            return Ok(());
        }
        let (target, raters) = votes(reading.task, &[yes_no(!harmful)])?;
        examples.push(Example {
            id: row.id(),
            group: prompt.to_owned(),
            fields: fields([("text", prompt)]),
            target,
            raters,
            ..Example::default()
        });
        Ok(())
    }))
}

fn moderation_category(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    Ok(make_merged(&rows(reading)?, each, &|row, value, examples| {
        let prompt = text(value, "prompt")?;
        for (category, name, description) in MODERATION {
            let Some(within) = moderation_label(value, category)? else { continue };
            let (target, raters) = votes(reading.task, &[yes_no(!within)])?;
            examples.push(Example {
                id: format!("{}/{category}", row.id()),
                group: prompt.to_owned(),
                fields: fields([("category", &format!("{name}: {description}")), ("text", prompt)]),
                target,
                raters,
                subset: Some(name.to_owned()),
                ..Example::default()
            });
        }
        Ok(())
    }))
}

/// The scores by all raters in a row of pyrit: columns whose names begin with `human_score`; empty ones are raters who
/// said nothing.
fn pyrit_scores(value: &Value) -> Result<Vec<&str>, String> {
    let columns = value.as_object().ok_or("a row of columns was expected")?;
    let mut scores = Vec::new();
    for column in columns.keys().filter(|column| column.starts_with("human_score")) {
        let score = cell(value, column)?;
        if !score.is_empty() {
            scores.push(score);
        }
    }
    if scores.is_empty() {
        return Err("no column \"human_score…\" has a score".into());
    }
    Ok(scores)
}

/// Names of harms in the files, as words.
fn pyrit_harm_name(value: &Value) -> Result<String, String> {
    let name = text(value, "harm_category")?.to_lowercase();
    Ok(match name.as_str() {
        "exploits" => "exploits of computers, devices or rules".into(),
        "representational" => "stereotypes and demeaning portrayals of groups".into(),
        "information_integrity" => "false or misleading information".into(),
        "privacy" => "violations of privacy or secrecy".into(),
        _ => name.replace('_', " "),
    })
}

/// How harmless a response is, 5 for the file's 0 and 1 for its 1.
fn pyrit_harm(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    Ok(make_merged(&rows(reading)?, each, &|row, value, examples| {
        let mut labels = Vec::new();
        for score in pyrit_scores(value)? {
            labels.push(match score.parse::<f64>() {
                Ok(0.0) => "5",
                Ok(0.25) => "4",
                Ok(0.5) => "3",
                Ok(0.75) => "2",
                Ok(1.0) => "1",
                _ => return Err(format!("the score \"{score}\" is none of 0, 0.25, 0.5, 0.75 and 1")),
            });
        }
        let (target, raters) = votes(reading.task, &labels)?;
        let prompt = text(value, "objective")?;
        let harm = pyrit_harm_name(value)?;
        examples.push(Example {
            id: row.id(),
            group: prompt.to_owned(),
            fields: fields([
                ("harm", &harm),
                ("prompt", prompt),
                ("response", text(value, "assistant_response")?),
            ]),
            target,
            raters,
            subset: Some(text(value, "harm_category")?.to_lowercase()),
            ..Example::default()
        });
        Ok(())
    }))
}

/// Two labels: 1 is `yes` and 0 is `no`.
fn pyrit_answered(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    Ok(make_merged(&rows(reading)?, each, &|row, value, examples| {
        let mut labels = Vec::new();
        for score in pyrit_scores(value)? {
            labels.push(match score {
                "0" => "no",
                "1" => "yes",
                _ => return Err(format!("the score \"{score}\" is neither 0 nor 1")),
            });
        }
        let (target, raters) = votes(reading.task, &labels)?;
        let prompt = text(value, "objective")?;
        let subset = maybe(value, "harm_category").and_then(Value::as_str).map(str::to_lowercase);
        examples.push(Example {
            id: row.id(),
            group: prompt.to_owned(),
            fields: fields([("prompt", prompt), ("response", text(value, "assistant_response")?)]),
            target,
            raters,
            subset,
            ..Example::default()
        });
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calculator_marks_go_and_other_brackets_stay() {
        assert_eq!(without_calculator("16 - 3 = <<16-3=13>>13 eggs"), "16 - 3 = 13 eggs");
        assert_eq!(without_calculator(" 1 << 4 "), "1 << 4");
        assert_eq!(without_calculator("<<1+1=2>>2 and <<2+2=4>>4"), "2 and 4");
    }

    #[test]
    fn character_references_are_resolved_and_others_stay() {
        // 128522 is U+1F60A; a surrogate is no character, and &nosuch; no reference.
        assert_eq!(unescaped("a &amp; b &#128522; &lt;3"), "a & b \u{1f60a} <3");
        assert_eq!(unescaped("you & me; &#55357; &nosuch; &amp"), "you & me; &#55357; &nosuch; &amp");
        // Once only: what is resolved is not looked at again.
        assert_eq!(unescaped("&amp;lt;"), "&lt;");
    }

    #[test]
    fn merging_counts_every_rater_alike() {
        let example = |shares: [f64; 2], raters| Example {
            target: Target::Options(shares.to_vec()),
            raters,
            ..Example::default()
        };
        // Three people, two for no; one more, for yes: two of four each.
        let mut first = example([2.0 / 3.0, 1.0 / 3.0], 3);
        merge(&mut first, &example([0.0, 1.0], 1));
        assert_eq!(first.raters, 4);
        let Target::Options(shares) = first.target else { panic!("it had options") };
        assert!((shares[0] - 0.5).abs() < 1e-12 && (shares[1] - 0.5).abs() < 1e-12, "{shares:?}");
    }

    #[test]
    fn a_pair_names_the_good_one_in_either_place_and_both_places_occur() {
        let mut firsts = 0;
        for number in 0..200 {
            let made = pair(Example { id: format!("a#{number}"), ..Example::default() }, "good", "bad");
            let Target::Preference { first, second, tie } = made.target else { panic!("it is a pair") };
            let place = made.responses.unwrap().iter().position(|text| text == "good").unwrap();
            assert_eq!([first, second][place], 1.0);
            assert_eq!(first + second + tie, 1.0);
            firsts += usize::from(place == 0);
        }
        // Of 200 throws of a fair coin, 60 to 140 are heads but for one time in 10^8.
        assert!((60..=140).contains(&firsts), "{firsts}");
    }

    #[test]
    fn remarks_before_a_table_count_as_lines() {
        let file = Found { name: "a.csv".into(), path: Path::new("a.csv").into() };
        let rows = table(&file, b"# one\n# two\r\nq,l\r\n\"x\r\ny\",1\r\nz\r\n# w,2\r\n", b',').unwrap();
        let lines: Vec<usize> = rows.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [4, 6, 7]);
        assert_eq!(rows[0].1.as_ref().unwrap()["q"], "x\r\ny");
        assert!(rows[1].1.as_ref().unwrap_err().contains("1 columns"));
        // Only before the names: later it is a cell like any other.
        assert_eq!(rows[2].1.as_ref().unwrap()["q"], "# w");
    }

    /// Rows of every wrong kind, in the form that the file's name promises.
    fn garbage(name: &str) -> Vec<u8> {
        let values = ["null", "3", "[]", "{}", r#"{"prompt": 3}"#, r#"{"question": {"improper": false}}"#];
        let plain = name.strip_suffix(".gz").unwrap_or(name);
        let text = match Path::new(plain).extension().unwrap().to_str().unwrap() {
            "jsonl" => format!("{}\n{{\n", values.join("\n")),
            "json" => format!("[{}]", values.join(",")),
            _ => "# a remark\na,b\n1,2\n\"open".to_owned(),
        };
        if plain == name {
            return text.into_bytes();
        }
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn rows_of_a_wrong_form_are_problems_and_never_examples() {
        let mut seen = 0;
        for task in crate::tasks().unwrap().values() {
            let code = task.reader.code.as_deref().unwrap_or_default();
            let Some((_, reader)) = READERS.iter().find(|(name, _)| *name == code) else { continue };
            let folder = tempfile::tempdir().unwrap();
            for pattern in &task.reader.files {
                let name = pattern.replace('*', "x");
                let path = folder.path().join(&name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, garbage(&name)).unwrap();
            }
            let reading = Reading { task, folder: folder.path().to_owned() };
            let (mut examples, mut problems) = (0, 0);
            let rows = reader(&reading, &mut |item| match item {
                Ok(_) => examples += 1,
                Err(_) => problems += 1,
            })
            .unwrap();
            assert_eq!((examples, problems), (0, rows), "{}", task.name);
            seen += 1;
        }
        assert!(seen >= READERS.len(), "every reader has a task: {seen}");
    }
}
