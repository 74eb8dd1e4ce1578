//! FLASK's instructions and outputs (Ye et al. 2023).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use retort_report::{JsonRow, json_rows};
use retort_rubric::{Difficulty, Domain, Skill};
use serde_json::{Map, Value};

use super::Reader;
use crate::read::{Item, Reading};
use crate::{DataError, Example, Problem, Target};

pub(super) const READERS: &[(&str, Reader)] = &[("flask", examples)];

pub(crate) const REPOSITORY: &str = "FLASK";
const INSTRUCTIONS: &str = "evaluation_set/flask_evaluation.jsonl";
const OUTPUTS: &str = "model_output/outputs";

/// An instruction with what FLASK says that it needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// Its number in FLASK, as text.
    pub id: String,
    /// The instruction.
    pub prompt: String,
    /// The reference answer.
    pub reference: Option<String>,
    /// The skills that it needs, the most important first.
    pub skills: Vec<Skill>,
    /// Its domains: none, one or two.
    pub domains: Vec<Domain>,
    /// Its difficulty, where there is one.
    pub difficulty: Option<Difficulty>,
}

/// A model's response to an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The instruction's number.
    pub id: String,
    /// The response; never empty.
    pub text: String,
}

/// The instructions as examples whose target is the reference answer.
fn examples(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let mut problems = Vec::new();
    let (instructions, rows) = instructions(&reading.folder, &mut problems)?;
    for problem in problems {
        each(Err(problem));
    }
    for instruction in instructions {
        let Some(reference) = instruction.reference else {
            each(Err(Problem {
                file: INSTRUCTIONS.to_owned(),
                line: None,
                message: format!("instruction {} has no answer; it is no example", instruction.id),
            }));
            continue;
        };
        each(Ok(Example {
            id: instruction.id,
            group: instruction.prompt.clone(),
            fields: BTreeMap::from([("prompt".to_owned(), instruction.prompt)]),
            target: Target::Text(reference),
            raters: 1,
            subset: instruction.domains.first().map(|domain| domain.id().to_owned()),
            ..Example::default()
        }));
    }
    Ok(rows)
}

/// FLASK's evaluation set; gives the number of rows, too.
///
/// A row without a number or an instruction is skipped. Unknown skills, domains and difficulties are left out of the
/// row: the public file has a domain `-1` eleven times and a difficulty −1 twice, which say that there is none.
pub(crate) fn instructions(
    folder: &Path,
    problems: &mut Vec<Problem>,
) -> Result<(Vec<Instruction>, usize), DataError> {
    let bytes = bytes(folder, INSTRUCTIONS, REPOSITORY)?;
    let rows = json_rows(&bytes);
    let mut found: Vec<Instruction> = Vec::with_capacity(rows.len());
    let mut known = BTreeSet::new();
    let count = rows.len();
    for (line, row) in objects(rows, INSTRUCTIONS, problems) {
        let mut wrong = |message: String| {
            problems.push(Problem { file: INSTRUCTIONS.to_owned(), line: Some(line), message });
        };
        let (Some(id), Some(prompt)) = (number(&row, &["idx", "question_id"]), text(&row, "instruction"))
        else {
            wrong("idx or instruction is missing or empty; the row is skipped".to_owned());
            continue;
        };
        if !known.insert(id.clone()) {
            wrong(format!("there is an instruction {id} already; this one is skipped"));
            continue;
        }
        let mut skills = Vec::new();
        for name in names(&row, "skill") {
            match Skill::ALL.into_iter().find(|skill| plain(skill.id()) == plain(&name)) {
                Some(skill) if !skills.contains(&skill) => skills.push(skill),
                Some(_) => {}
                None => wrong(format!("there is no skill {name:?}; it is left out of the row")),
            }
        }
        let mut domains = Vec::new();
        for name in names(&row, "domain").iter().filter(|name| *name != "-1") {
            match Domain::ALL.into_iter().find(|domain| plain(domain.id()) == plain(name)) {
                Some(domain) if !domains.contains(&domain) => domains.push(domain),
                Some(_) => {}
                None => wrong(format!("there is no domain {name:?}; it is left out of the row")),
            }
        }
        let difficulty = text(&row, "difficulty").and_then(|name| {
            let name = plain(name);
            Difficulty::ALL.into_iter().find(|level| name.starts_with(&plain(level.id())))
        });
        found.push(Instruction {
            id,
            prompt: prompt.to_owned(),
            reference: text(&row, "answer").map(str::to_owned),
            skills,
            domains,
            difficulty,
        });
    }
    Ok((found, count))
}

/// A model's outputs; rows without text are problems.
pub(crate) fn outputs(
    folder: &Path,
    model: &str,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Output>, DataError> {
    let file = format!("{OUTPUTS}/{model}.jsonl");
    let bytes = bytes(folder, &file, REPOSITORY)?;
    let mut found: Vec<Output> = Vec::new();
    let mut known = BTreeSet::new();
    for (line, row) in objects(json_rows(&bytes), &file, problems) {
        let mut wrong = |message: &str| {
            problems.push(Problem { file: file.clone(), line: Some(line), message: message.to_owned() });
        };
        let Some(id) = number(&row, &["question_id", "idx"]) else {
            wrong("question_id is missing; the row is skipped");
            continue;
        };
        let Some(response) = text(&row, "text") else {
            wrong("the response is missing or empty and cannot be judged; the row is skipped");
            continue;
        };
        if !known.insert(id.clone()) {
            wrong("there is a response with this question_id already; this one is skipped");
            continue;
        }
        found.push(Output { id, text: response.to_owned() });
    }
    Ok(found)
}

/// Names of the models whose outputs are there, sorted.
pub(crate) fn models(folder: &Path) -> Result<Vec<String>, DataError> {
    let unreadable = |error: std::io::Error| DataError::Unreadable {
        file: OUTPUTS.to_owned(),
        problem: format!("{error}; fetch the whole repository"),
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder.join(OUTPUTS)).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl")
            && let Some(stem) = path.file_stem().and_then(|stem| stem.to_str())
        {
            found.push(stem.to_owned());
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// A file's bytes.
pub(crate) fn bytes(folder: &Path, file: &str, repository: &str) -> Result<Vec<u8>, DataError> {
    std::fs::read(folder.join(file)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            DataError::NoFile { repository: repository.to_owned(), file: file.to_owned() }
        }
        _ => DataError::Unreadable { file: file.to_owned(), problem: error.to_string() },
    })
}

/// The rows that are objects; the others are problems.
pub(crate) fn objects(
    rows: Vec<JsonRow>,
    file: &str,
    problems: &mut Vec<Problem>,
) -> Vec<(usize, Map<String, Value>)> {
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let message = match row.value {
            Ok(Value::Object(object)) => {
                found.push((row.line, object));
                continue;
            }
            Ok(_) => "a row must be a JSON object; it is skipped".to_owned(),
            Err((_, message)) => format!("{message}; it is skipped"),
        };
        problems.push(Problem { file: file.to_owned(), line: Some(row.line), message });
    }
    found
}

pub(crate) fn text<'a>(row: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    row.get(key)?.as_str().filter(|text| !text.trim().is_empty())
}

fn number(row: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| match row.get(*key)? {
        Value::Number(number) => Some(number.to_string()),
        Value::String(name) if !name.trim().is_empty() => Some(name.trim().to_owned()),
        _ => None,
    })
}

fn names(row: &Map<String, Value>, key: &str) -> Vec<String> {
    match row.get(key) {
        Some(Value::Array(names)) => {
            names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
        }
        Some(Value::String(name)) => vec![name.clone()],
        _ => Vec::new(),
    }
}

/// A name without what spellings differ in.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
