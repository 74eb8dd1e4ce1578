//! Checklists: what they ask, how they are made, read, written and scored.
#![expect(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test fails by it")]

use std::fmt::Write as _;

use retort_checklist::{
    AnswerForm, Checklist, Constraint, Decided, Item, Origin, ScoreError, Verdict, WhyNone, score,
    verify_items,
};
use retort_rubric::{Severity, Skill};

fn constraint(json: &str) -> Constraint {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

#[test]
fn every_kind_of_constraint_has_its_question() {
    let kinds = include_str!("corpus/questions.jsonl");
    let mut out = String::new();
    for line in kinds.lines().filter(|line| !line.is_empty()) {
        let constraint = constraint(line);
        constraint.check().unwrap_or_else(|invalid| panic!("{line}: {invalid}"));
        let question = constraint.question();
        assert!(question.ends_with('?') && !question.contains('\n'), "{question}");
        writeln!(out, "{question}").unwrap();
    }
    insta::assert_snapshot!(out);
}
