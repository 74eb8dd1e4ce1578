//! Annotations from files of FLASK's evaluation set: one JSON object a line, of which these fields are read:
//! `idx`, `instruction`, `answer`, `task`, `skill` (names), `domain` (names) and `difficulty` (a name).
//!
//! The published file has oddities: a row with two skills, rows whose difficulty or domain is −1, which there means
//! that none was found. They are kept as what they are, an absence, and reported; nothing is filled in.

use std::fmt;

use retort_rubric::{Annotation, Annotator, Difficulty, Domain, SKILLS_PER_INSTRUCTION, Severity, Skill};
use serde::Serialize;
use serde_json::{Map, Value};

/// An annotated instruction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Its number in the file that it comes from, if it has one.
    pub idx: Option<i64>,
    /// The instruction.
    pub instruction: String,
    /// The reference answer, if there is one.
    pub answer: Option<String>,
    /// The data set that it was taken from, if that is said.
    pub task: Option<String>,
    /// What it asks.
    pub annotation: Annotation,
    /// The physical line, from 1.
    #[serde(skip)]
    pub line: usize,
}

/// What was found wrong in a line. It prints as
/// `flask.jsonl:1418: warning: skill: 2 skills where FLASK chooses 3; the row is kept with them`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// [`Severity::Error`] where the row was left out, [`Severity::Warning`] where it was kept.
    pub severity: Severity,
    /// The file's name as given.
    pub file: String,
    /// The physical line, from 1.
    pub line: usize,
    /// The field; empty for the line as a whole.
    pub field: &'static str,
    /// What is wrong, and what was done or is to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if self.severity == Severity::Warning {
            write!(f, "warning: ")?;
        }
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        write!(f, "{}", self.message)
    }
}

/// What a file held.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// The rows that could be read, in the order of the file.
    pub rows: Vec<Row>,
    /// What was wrong, in the order of the file.
    pub problems: Vec<Problem>,
}

/// Reads a file. Lines end at LF only; a byte order mark and blank lines are passed over. A line that cannot be read is
/// reported and left out, and the others stand.
#[must_use]
pub fn read(text: &str, file: &str) -> Reading {
    let mut reading = Reading::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut numbers = std::collections::BTreeMap::new();
    for (line, content) in (1..).zip(text.split('\n')) {
        if content.trim().is_empty() {
            continue;
        }
        let mut notes = Vec::new();
        let row = row(content, line, &mut notes);
        let problem = |severity, (field, message): (&'static str, String)| Problem {
            severity,
            file: file.to_owned(),
            line,
            field,
            message,
        };
        reading.problems.extend(notes.into_iter().map(|note| problem(Severity::Warning, note)));
        match row {
            Ok(row) => {
                if let Some(idx) = row.idx
                    && let Some(before) = numbers.insert(idx, line)
                {
                    let message = format!("{idx} stands in line {before} too; both rows are kept");
                    reading.problems.push(problem(Severity::Warning, ("idx", message)));
                }
                reading.rows.push(row);
            }
            Err(error) => reading.problems.push(problem(Severity::Error, error)),
        }
    }
    reading
}

type Note = (&'static str, String);

fn row(content: &str, line: usize, notes: &mut Vec<Note>) -> Result<Row, Note> {
    let mut fields: Map<String, Value> = serde_json::from_str(content).map_err(|error| {
        let column = error.column();
        ("", format!("this is no JSON object ({error}); each line must be one, see column {column}"))
    })?;
    let mut text = |field: &'static str| match fields.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err((field, format!("{} is no text; put it between quotation marks", short(&other)))),
    };
    let instruction = text("instruction")?.filter(|text| !text.trim().is_empty());
    let Some(instruction) = instruction else {
        return Err(("instruction", "there is none; give the text that is to be answered".to_owned()));
    };
    let answer = text("answer")?.filter(|text| !text.trim().is_empty());
    let task = text("task")?;

    let mut skills = Vec::new();
    for name in names(fields.get("skill"), "skill")? {
        let Some(skill) = Skill::ALL.into_iter().find(|skill| plain(skill.id()) == plain(&name)) else {
            return Err((
                "skill",
                format!("{name:?} is no skill; the names are {}", list(Skill::ALL.map(Skill::name))),
            ));
        };
        skills.push(skill);
    }
    if skills.len() != SKILLS_PER_INSTRUCTION {
        let count = skills.len();
        notes.push((
            "skill",
            format!("{count} skills where FLASK chooses {SKILLS_PER_INSTRUCTION}; the row is kept with them"),
        ));
    }
    let mut domains = Vec::new();
    for name in names(fields.get("domain"), "domain")? {
        if name.trim() == ABSENT {
            notes.push(("domain", format!("{ABSENT}, which means that none was found; it is left out")));
            continue;
        }
        let Some(domain) = Domain::ALL.into_iter().find(|domain| plain(domain.id()) == plain(&name)) else {
            return Err((
                "domain",
                format!("{name:?} is no domain; the names are {}", list(Domain::ALL.map(Domain::name))),
            ));
        };
        domains.push(domain.into());
    }
    let difficulty = match fields.get("difficulty") {
        None | Some(Value::Null) => {
            notes.push(("difficulty", "there is none; the row is kept without".to_owned()));
            None
        }
        Some(Value::String(name)) if name.trim() != ABSENT => Some(level(name)?),
        Some(absent) if absent.as_str().is_some() || absent.as_i64() == Some(-1) => {
            notes.push((
                "difficulty",
                format!("{ABSENT}, which means that none was found; the row is kept without"),
            ));
            None
        }
        Some(other) => {
            return Err(("difficulty", format!("{} is no level; the names are {}", short(other), levels())));
        }
    };
    let annotation = Annotation { skills, domains, difficulty, by: Annotator::File };
    annotation.validate().map_err(|error| {
        let domain =
            annotation.domains.len() > retort_rubric::MAX_DOMAINS || error.to_string().contains("domain");
        (if domain { "domain" } else { "skill" }, error.to_string())
    })?;
    let idx = match fields.get("idx") {
        None => None,
        Some(idx) => {
            let number = idx.as_i64();
            if number.is_none() {
                notes.push(("idx", format!("{} is no whole number; the row is kept without", short(idx))));
            }
            number
        }
    };
    Ok(Row { idx, instruction, answer, task, annotation, line })
}

/// How FLASK's files write that an annotation is missing.
const ABSENT: &str = "-1";

/// One name, or a list of them.
fn names(value: Option<&Value>, field: &'static str) -> Result<Vec<String>, Note> {
    let name = |value: &Value| match value {
        Value::String(name) => Ok(name.clone()),
        other => Err((field, format!("{} is no name", short(other)))),
    };
    match value {
        None | Some(Value::Null) => {
            Err((field, format!("there is no {field}; give a list of names, which may be empty")))
        }
        Some(Value::Array(values)) => values.iter().map(name).collect(),
        Some(value) => Ok(vec![name(value)?]),
    }
}

/// FLASK's names of the levels end in "knowledge".
fn level(name: &str) -> Result<Difficulty, Note> {
    let plain_name = plain(name);
    let bare = plain_name.strip_suffix("knowledge").unwrap_or(&plain_name);
    let found = Difficulty::ALL.into_iter().find(|level| plain(level.id()) == bare);
    found.ok_or_else(|| ("difficulty", format!("{name:?} is no level; the names are {}", levels())))
}

fn levels() -> String {
    list(Difficulty::ALL.map(Difficulty::name))
}

fn list<const N: usize>(names: [&str; N]) -> String {
    names.join(", ")
}

/// Letters and digits in lower case, so that spaces, hyphens and capitals make no difference.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A value for a message: not too much of it.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"idx": 7, "instruction": "Add 2 and 2.", "answer": "4", "task": "sums", "skill": ["Logical Correctness", "Comprehension", "Conciseness"], "domain": ["Math"], "difficulty": "simple lifestyle knowledge"}"#;

    #[test]
    fn a_row_becomes_an_annotation() {
        let reading = read(&format!("\u{feff}{GOOD}\r\n\n"), "f");
        assert_eq!(reading.problems, []);
        let row = &reading.rows[0];
        assert_eq!((row.idx, row.line, row.answer.as_deref()), (Some(7), 1, Some("4")));
        assert_eq!(
            row.annotation.skills,
            [Skill::LogicalCorrectness, Skill::Comprehension, Skill::Conciseness]
        );
        assert_eq!(row.annotation.domains, [Domain::Math.into()]);
        assert_eq!(row.annotation.difficulty, Some(Difficulty::SimpleLifestyle));
        assert_eq!(row.annotation.by, Annotator::File);
    }

    /// Each line of a file with what may stand in it: kept or left out, and what is said.
    #[test]
    fn oddities_are_reported_and_never_guessed() {
        for (instead_of, this, kept, said) in [
            (r#", "Conciseness"]"#, "]", true, "f:2: warning: skill: 2 skills where FLASK chooses 3"),
            (r#""simple lifestyle knowledge""#, "-1", true, "f:2: warning: difficulty: -1, which means"),
            (r#""simple lifestyle knowledge""#, "\"-1\"", true, "f:2: warning: difficulty: -1, which means"),
            (r#"["Math"]"#, r#"["-1"]"#, true, "f:2: warning: domain: -1, which means"),
            ("\"idx\": 7", "\"idx\": \"x\"", true, "f:2: warning: idx: \"x\" is no whole number"),
            (
                "simple lifestyle",
                "hard",
                false,
                "f:2: difficulty: \"hard knowledge\" is no level; the names are Simple lifestyle",
            ),
            (r#""simple lifestyle knowledge""#, "3", false, "f:2: difficulty: 3 is no level"),
            (r#"["Math"]"#, r#"["Maths"]"#, false, "f:2: domain: \"Maths\" is no domain"),
            (r#"["Math"]"#, r#"["Math", "math"]"#, false, "f:2: domain: the domain math is given twice"),
            ("Conciseness", "Comprehension", false, "f:2: skill: the skill comprehension is given twice"),
            ("Conciseness", "Wit", false, "f:2: skill: \"Wit\" is no skill"),
            (r#""Add 2 and 2.""#, "\" \"", false, "f:2: instruction: there is none"),
            (r#""Add 2 and 2.""#, "2", false, "f:2: instruction: 2 is no text"),
            ("{", "", false, "f:2: this is no JSON object"),
        ] {
            let odd = GOOD.replacen(instead_of, this, 1).replace("\"idx\": 7", "\"idx\": 8");
            let reading = read(&format!("{GOOD}\n{odd}\n"), "f");
            assert_eq!(reading.rows.len(), if kept { 2 } else { 1 }, "{odd}");
            assert_eq!(reading.problems.len(), 1, "{:?}", reading.problems);
            let problem = reading.problems[0].to_string();
            assert!(problem.starts_with(said), "{problem}");
        }
        let absent = read(&GOOD.replace(r#"["Math"]"#, r#"["-1"]"#), "f");
        assert_eq!(absent.rows[0].annotation.domains, []);
        let twice = read(&format!("{GOOD}\n{GOOD}"), "f");
        assert_eq!(twice.rows.len(), 2);
        assert_eq!(
            twice.problems[0].to_string(),
            "f:2: warning: idx: 7 stands in line 1 too; both rows are kept"
        );
    }

    #[test]
    fn lines_end_at_lf_only() {
        // A paragraph separator inside a text is part of it.
        let reading = read(&GOOD.replace("Add", "Add\u{2028}\u{2029}\u{85}"), "f");
        assert_eq!(reading.rows[0].instruction, "Add\u{2028}\u{2029}\u{85} 2 and 2.");
    }
}
