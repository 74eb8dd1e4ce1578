//! `retort report` as a stranger uses it.

#![expect(clippy::unwrap_used, reason = "what a test needs and cannot have fails the test")]

use std::process::{Command, Output};

const SMALL: &str = r#"{"question_id": 1, "target_txt": "Short.", "review": "", "score": {"readability": 4, "factuality": "N/A"}}
{"question_id": 2, "target_txt": "A little longer.", "review": "", "score": {"readability": 2, "factuality": 3}}
{"question_id": 3, "score": {"readability"
"#;
const LARGE: &str = r#"{"question_id": 1, "target_txt": "Short.", "review": "", "score": {"readability": 5, "factuality": 4}}
"#;
const LABELS: &str = r#"{"idx": 1, "instruction": "Name a herb.", "skill": ["Readability", "Factuality"], "domain": ["Culture"], "difficulty": "simple lifestyle knowledge"}
{"idx": 2, "instruction": "Name a nerve.", "skill": ["Factuality"], "domain": ["Health"], "difficulty": "major level knowledge"}
"#;

struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("small.jsonl", SMALL), ("large.jsonl", LARGE), ("labels.jsonl", LABELS)] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Self { folder }
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retort"));
        command.arg("report").args(args).current_dir(self.folder.path()).output().unwrap()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn markdown_on_standard_output() {
    let desk = Desk::new();
    let output = desk.run(&[
        "small.jsonl",
        "large.jsonl",
        "--annotations",
        "labels.jsonl",
        "--seed",
        "5",
        "--resamples",
        "100",
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("# Profile of large, small\n"), "{text}");
    // (4 + 2) / 2, from 2 to 4; Factuality without the N/A.
    assert!(
        text.contains("| Readability | **5.00** (no interval); n 1 | **3.00** (2.00 to 4.00); n 2 |"),
        "{text}"
    );
    assert!(
        text.contains("| Factuality | **4.00** (no interval); n 1 | **3.00** (no interval); n 1, 1 N/A |"),
        "{text}"
    );
    assert!(text.contains("100 resamples with seed 5"), "{text}");
    // The bad row is reported and skipped, and the report says so as well.
    assert!(stderr(&output).contains("small.jsonl:3:"), "{}", stderr(&output));
    assert!(text.contains("1 row could not be read"), "{text}");
}

#[test]
fn html_and_json_by_the_names_ending() {
    let desk = Desk::new();
    let output = desk.run(&["large.jsonl", "-o", "out.html"]);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    assert!(desk.read("out.html").starts_with("<!doctype html>"));
    desk.run(&["large.jsonl", "--out", "out.json"]);
    let profile: serde_json::Value = serde_json::from_str(&desk.read("out.json")).unwrap();
    assert_eq!(profile["format"], "retort.profile/1");
    assert_eq!(profile["skills"][0]["figures"][0]["mean"], 4.0);
    desk.run(&["large.jsonl", "--out", "second.html", "--format", "markdown"]);
    assert!(desk.read("second.html").starts_with("# Profile of large"));
}

#[test]
fn only_annotated_skills() {
    let desk = Desk::new();
    let output =
        desk.run(&["small.jsonl", "--annotations", "labels.jsonl", "--annotated-skills", "--format", "json"]);
    let profile: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let readability =
        profile["skills"].as_array().unwrap().iter().find(|skill| skill["id"] == "readability").unwrap();
    // Only the first instruction's labels name it.
    assert_eq!(
        (&readability["figures"][0]["mean"], &readability["figures"][0]["count"]),
        (&4.0.into(), &1.into())
    );
}

#[test]
fn what_cannot_be_reported_is_said_with_a_way_out() {
    let desk = Desk::new();
    let output = desk.run(&["labels.jsonl"]);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("there is no judgement in labels.jsonl"), "{}", stderr(&output));
    let output = desk.run(&["nothing.jsonl"]);
    assert!(stderr(&output).contains("nothing.jsonl could not be read"), "{}", stderr(&output));
    // What is there is never written over.
    let output = desk.run(&["large.jsonl", "-o", "./large.jsonl"]);
    assert!(!output.status.success());
    assert_eq!(desk.read("large.jsonl"), LARGE);
    let output = desk.run(&["large.jsonl", "--resamples", "0"]);
    assert!(stderr(&output).contains("from 2 to 1000000"), "{}", stderr(&output));
}
