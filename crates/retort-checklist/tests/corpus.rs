//! The corpora: instructions with the constraints that they set, and responses with the verdicts that they must get.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by it")]

use std::collections::BTreeSet;
use std::path::Path;

use retort_checklist::{Constraint, Unit, Verdict, verify};
use serde::Deserialize;

fn rows<T: for<'de> Deserialize<'de>>(name: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let text = std::fs::read_to_string(&path).expect("the corpus is there");
    text.split('\n')
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
        .map(|(index, line)| match serde_json::from_str(line) {
            Ok(row) => row,
            Err(error) => panic!("{name}:{}: {error}", index + 1),
        })
        .collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    constraint: Constraint,
    response: String,
    verdict: Verdict,
    count: Option<u64>,
    note: Option<String>,
}

#[test]
fn verifiers_are_exact_on_every_case() {
    let cases: Vec<Case> = rows("verify.jsonl");
    assert!(cases.len() >= 600, "{} cases; at least 600 are to be held", cases.len());
    let mut wrong = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let finding = verify(&case.constraint, &case.response);
        let counted = case.count.is_none() || case.count == finding.count;
        if finding.verdict != case.verdict || !counted {
            wrong.push(format!(
                "line {}: {:?} on {:?}: {:?} {:?} expected ({:?}), found {:?} {:?}: {}",
                index + 1,
                case.constraint,
                case.response,
                case.verdict,
                case.count,
                case.note,
                finding.verdict,
                finding.count,
                finding.sentence
            ));
        }
        assert!(!finding.sentence.is_empty());
        for span in &finding.evidence {
            assert!(case.response.get(span.clone()).is_some(), "line {}: {span:?}", index + 1);
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Instruction {
    id: String,
    instruction: String,
    constraints: Vec<Constraint>,
    /// Why it is a trap, or what else is to be said.
    #[serde(default)]
    note: Option<String>,
}

fn kinds(constraint: &Constraint, found: &mut BTreeSet<String>) {
    let value = serde_json::to_value(constraint).expect("data");
    found.insert(
        value.get("kind").and_then(|kind| kind.as_str()).expect("every constraint has a kind").to_owned(),
    );
    match constraint {
        Constraint::All { of } | Constraint::Any { of } => of.iter().for_each(|one| kinds(one, found)),
        Constraint::Not { constraint } | Constraint::Within { constraint, .. } => kinds(constraint, found),
        Constraint::If { condition, then } => {
            kinds(condition, found);
            kinds(then, found);
        }
        _ => {}
    }
}

/// Every kind of the vocabulary, as it is called in files.
const KINDS: [&str; 24] = [
    "count",
    "phrase",
    "starts",
    "ends",
    "json",
    "csv",
    "table",
    "code",
    "heading",
    "sections",
    "numbered_sections",
    "divided",
    "only",
    "case",
    "language",
    "quoted",
    "postscript",
    "repeats",
    "choice",
    "within",
    "all",
    "any",
    "not",
    "if",
];

/// The kinds of constraint, and the units that are counted or asked of, in what is in a constraint.
fn units(constraint: &Constraint, found: &mut BTreeSet<String>) {
    let value = serde_json::to_value(constraint).expect("data");
    if let Some(what) = value.get("what").and_then(|what| what.as_str()) {
        found.insert(what.to_owned());
    }
    match constraint {
        Constraint::All { of } | Constraint::Any { of } => of.iter().for_each(|one| units(one, found)),
        Constraint::Not { constraint } | Constraint::Within { constraint, .. } => units(constraint, found),
        Constraint::If { condition, then } => {
            units(condition, found);
            units(then, found);
        }
        _ => {}
    }
}

#[test]
fn instructions_are_sound_and_the_unseen_are_a_third_of_all() {
    let first: Vec<Instruction> = rows("first.jsonl");
    let second: Vec<Instruction> = rows("second.jsonl");
    let unseen: Vec<Instruction> = rows("unseen.jsonl");
    assert!(first.len() >= 100, "{} instructions; at least 100 are to be held", first.len());
    assert!(unseen.len() >= 110, "{} unseen instructions; at least 110 are to be held", unseen.len());
    assert!(
        3 * unseen.len() >= first.len() + second.len() + unseen.len(),
        "{} of {} instructions are unseen; a third is to be",
        unseen.len(),
        first.len() + second.len() + unseen.len()
    );
    let mut ids = BTreeSet::new();
    let mut texts = BTreeSet::new();
    for (name, instructions) in
        [("first.jsonl", &first), ("second.jsonl", &second), ("unseen.jsonl", &unseen)]
    {
        let mut found = BTreeSet::new();
        let mut counted = BTreeSet::new();
        for row in instructions {
            assert!(ids.insert(&row.id), "{}: the id occurs twice", row.id);
            assert!(texts.insert(row.instruction.to_lowercase()), "{}: the instruction occurs twice", row.id);
            assert!(!row.instruction.trim().is_empty(), "{}: no text", row.id);
            assert!(
                !row.constraints.is_empty() || row.note.is_some(),
                "{}: say why nothing is asked for",
                row.id
            );
            for (index, constraint) in row.constraints.iter().enumerate() {
                if let Err(invalid) = constraint.check() {
                    panic!("{}: {invalid}", row.id);
                }
                assert_eq!(constraint.clone().canonical(), *constraint, "{}: not in canonical form", row.id);
                assert!(
                    row.constraints.iter().take(index).all(|other| other != constraint),
                    "{}: the same twice",
                    row.id
                );
                let text = serde_json::to_string(constraint).expect("data");
                let again: Constraint = serde_json::from_str(&text).expect("what was written is read");
                assert_eq!(again, *constraint, "{}", row.id);
                kinds(constraint, &mut found);
                units(constraint, &mut counted);
            }
        }
        let missing: Vec<&str> = KINDS.into_iter().filter(|kind| !found.contains(*kind)).collect();
        assert!(missing.is_empty(), "{name}: no instruction sets {missing:?}");
        assert!(
            found.iter().all(|kind| KINDS.contains(&kind.as_str())),
            "a kind is missing in the list above: {found:?}"
        );
        if name == "unseen.jsonl" {
            let missing: Vec<Unit> = Unit::ALL
                .into_iter()
                .filter(|unit| {
                    let called = serde_json::to_value(unit).expect("data");
                    !called.as_str().is_some_and(|unit| counted.contains(unit))
                })
                .collect();
            assert!(missing.is_empty(), "no unseen instruction counts {missing:?}");
        }
    }
}
