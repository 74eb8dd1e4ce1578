//! Every task, its files in the small: what is read from its fixture stands in a snapshot of the task's name.
//!
//! After a change: `INSTA_UPDATE=always cargo test -p retort-bench --test fixtures`, then read the snapshots against the
//! fixtures.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use retort_bench::{Counts, DataDir, Example, Item, Target, Task, read, tasks};

/// What the fixtures of a task give.
fn items(task: &Task) -> Result<(Vec<Item>, Counts), String> {
    let mut items = Vec::new();
    match read(task, &DataDir::new("tests/fixtures"), &mut |item| items.push(item)) {
        Ok(counts) => Ok((items, counts)),
        Err(error) => Err(format!(
            "{}: {error}\n  add two to five invented rows in the form of its files ({}) in tests/fixtures/{}",
            task.name,
            task.reader.files.join(", "),
            task.source.repository.replace('/', "+"),
        )),
    }
}

fn shares(labels: &[&str], shares: &[f64]) -> String {
    let said = labels.iter().zip(shares).filter(|(_, share)| **share != 0.0);
    said.map(|(label, share)| format!("{label} {share:.3}")).collect::<Vec<_>>().join(", ")
}

fn show(task: &Task, example: &Example) -> String {
    let mut text = format!("{}\n", example.id);
    let mut line = |name: &str, value: &str| {
        let value = value.replace('\n', "\n      ");
        let _ = writeln!(text, "  {name}: {value}");
    };
    for field in &task.context {
        if let Some(value) = example.fields.get(&field.name) {
            line(&field.name, value);
        }
    }
    for (name, response) in ["first", "second"].iter().zip(example.responses.iter().flatten()) {
        line(name, response);
    }
    let labels: Vec<&str> = task.options.iter().map(|option| option.label.as_str()).collect();
    let said = match &example.target {
        Target::Unknown => "nothing".to_owned(),
        Target::Options(of) => shares(&labels, of),
        Target::Preference { first, second, tie } => {
            shares(&["first", "second", "tie"], &[*first, *second, *tie])
        }
        Target::Text(text) => format!("{text:?}"),
    };
    line("people said", &format!("{said} (raters: {})", example.raters));
    line("group", &example.group);
    if let Some(subset) = &example.subset {
        line("subset", subset);
    }
    for (name, value) in &example.extra {
        line(&format!("extra {name}"), value);
    }
    text
}

/// What is wrong with an example, whatever its task.
fn faults(task: &Task, example: &Example) -> Vec<&'static str> {
    let sum = match &example.target {
        Target::Options(shares) if shares.len() == task.options.len() => shares.iter().sum(),
        Target::Options(_) => 0.0,
        Target::Preference { first, second, tie } => first + second + tie,
        Target::Unknown | Target::Text(_) => 1.0,
    };
    let named = |name: &String| task.context.iter().any(|field| field.name == *name);
    let lacks = |field: &retort_bench::ContextField| {
        !field.optional && example.fields.get(&field.name).is_none_or(|text| text.trim().is_empty())
    };
    let is_pair = task.kind == retort_bench::Kind::Pairwise;
    [
        ((sum - 1.0).abs() > 1e-9, "its shares do not sum to 1, one for each option"),
        (example.raters == 0 && example.target != Target::Unknown, "nobody rated it"),
        (example.group.is_empty(), "it has no group"),
        (!example.fields.keys().all(named), "it has a text that is no context field"),
        (task.context.iter().any(lacks), "it lacks a text that is not optional"),
        (example.responses.is_some() != is_pair, "only pairs have two responses, and all have"),
        (
            is_pair != matches!(example.target, Target::Preference { .. } | Target::Unknown),
            "its target is not of the task's kind",
        ),
    ]
    .into_iter()
    .filter_map(|(wrong, what)| wrong.then_some(what))
    .collect()
}

#[test]
fn every_task_reads_its_fixture() {
    let mut wrong: Vec<String> = Vec::new();
    for task in tasks().unwrap().values() {
        let (items, counts) = match items(task) {
            Ok(found) => found,
            Err(problem) => {
                wrong.push(problem);
                continue;
            }
        };
        let mut ids = BTreeSet::new();
        let (rows, examples, problems) = (counts.rows, counts.examples, counts.problems);
        let mut text = format!("rows: {rows}, examples: {examples}, problems: {problems}\n");
        for item in &items {
            text.push('\n');
            match item {
                Ok(example) => {
                    text += &show(task, example);
                    for fault in faults(task, example) {
                        wrong.push(format!("{} {}: {fault}", task.name, example.id));
                    }
                    if !ids.insert(&example.id) {
                        wrong.push(format!("{} {}: two examples have this id", task.name, example.id));
                    }
                }
                Err(problem) => {
                    let _ = writeln!(text, "problem: {problem}");
                }
            }
        }
        if examples == 0 {
            wrong.push(format!("{}: its fixture gives no example", task.name));
        }
        match self::items(task) {
            Ok((again, _)) if again == items => {}
            _ => wrong.push(format!("{}: a second reading gives something else", task.name)),
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(task.name.as_str(), text);
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn task_files_say_what_is_asked_and_nothing_twice() {
    let mut wrong: Vec<String> = Vec::new();
    let mut instructions = BTreeMap::new();
    for task in tasks().unwrap().values() {
        let name = &task.name;
        let alone = task.alone.iter().map(|alone| (&alone.instructions, &alone.question));
        for (said, question) in std::iter::once((&task.instructions, &task.question)).chain(alone) {
            let words = |text: &str| text.split_whitespace().count();
            if words(question) > 30 {
                wrong.push(format!("{name}: a question has {} words, more than 30", words(question)));
            }
            if words(said) < 15 {
                wrong.push(format!(
                    "{name}: {:?} is too vague; say what counts and what does not",
                    said.trim()
                ));
            }
        }
        let said = task.instructions.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        if let Some(other) = instructions.insert(said, name) {
            wrong.push(format!("{name}: its instructions are word for word those of {other}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn task_files_have_the_names_of_their_tasks() {
    // `tasks` keeps one task per name, so a name given twice would hide a file.
    let files = std::fs::read_dir("tasks").unwrap().count();
    assert_eq!(tasks().unwrap().len(), files);
}
