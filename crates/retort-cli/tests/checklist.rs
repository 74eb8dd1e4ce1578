//! `retort checklist`, and `retort judge` with a checklist, as a stranger uses them.

#![expect(clippy::unwrap_used, reason = "what a test needs and cannot have fails the test")]

use std::process::{Command, Output};

use serde_json::Value;

struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bytes = retort_lm::tiny::gguf(retort_lm::tiny::Shape::default(), 7);
        std::fs::write(folder.path().join("tiny.gguf"), bytes).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retort"));
        command.args(args).current_dir(self.0.path()).env("RETORT_CACHE", self.0.path().join("cache"));
        command.output().unwrap()
    }

    fn said(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    fn judged(&self, args: &[&str]) -> Value {
        let model = ["judge", "--model", "tiny.gguf", "--backend", "cpu", "--json"];
        serde_json::from_str(&self.said(&[&model, args].concat())).unwrap()
    }
}

const PROMPT: &str = "Name the capital of France in at most 12 words, and say why it is famous.";

#[test]
fn a_checklist_is_shown_verified_and_saved() {
    let desk = Desk::new();
    let shown = desk.said(&["checklist", "--prompt", PROMPT]);
    assert!(
        shown.contains("Demanded, and verified by code:\n  Is the response at most 12 words long?"),
        "{shown}"
    );
    assert!(shown.contains("Does the response say why it is famous?"), "{shown}");

    // Fourteen words, counted by hand.
    let long = "Paris is the capital of France, and it is famous for its old tower.";
    let found = desk.said(&["checklist", "--prompt", PROMPT, "--response", long]);
    assert!(found.contains("NOT MET  Is the response at most 12 words long?\n         14 words"), "{found}");
    assert!(found.contains("that code cannot decide"), "{found}");

    desk.said(&["checklist", "--prompt", PROMPT, "--out", "list.toml"]);
    let saved = desk.text("list.toml");
    assert!(saved.contains("[[item]]"), "{saved}");
    // What a person changed in the file is what counts.
    desk.file("mine.toml", &saved.replace("at_most = 12", "at_most = 20"));
    let found = desk.said(&["checklist", "--file", "mine.toml", "--response", long]);
    assert!(found.contains("met      "), "{found}");
    let again = desk.refused(&["checklist", "--prompt", PROMPT, "--out", "list.toml"]);
    assert!(again.contains("there is such a file already"), "{again}");
    assert_eq!(desk.text("list.toml"), saved);
}

#[test]
fn mistakes_in_a_file_are_named_with_their_lines() {
    let desk = Desk::new();
    desk.file("bad.toml", "[[item]]\nquestion = \"Is it kind?\"\nweight = 0\n\n[[item]]\nkind = \"count\"\n");
    let said = desk.refused(&["checklist", "--file", "bad.toml"]);
    assert!(said.contains("bad.toml:3:") && said.contains("bad.toml:6:"), "{said}");
    let said = desk.refused(&["checklist", "--prompt", " \n"]);
    assert!(said.contains("--prompt: the text is empty"), "{said}");
    let said = desk.refused(&["checklist", "--prompt", PROMPT, "--skills", "kindness"]);
    assert!(said.contains("there is no skill"), "{said}");
}

#[test]
fn a_judgement_with_a_checklist_says_who_decided_what() {
    let desk = Desk::new();
    let texts = [
        "--prompt",
        PROMPT,
        "--response",
        "Paris. It has a tower.",
        "--reference",
        "Paris, for its tower and museums.",
    ];
    let record =
        desk.judged(&[&texts[..], &["--checklist", "auto", "--hard", "--skills", "auto,overall"]].concat());
    let items = record["checklist"]["items"].as_array().unwrap();
    let by = |who: &str| items.iter().filter(|item| item["by"] == who).count();
    assert_eq!(by("code"), 1);
    assert_eq!(by("code") + by("model"), items.len());
    // "Paris", "It", "has", "a", "tower".
    let words = items.iter().find(|item| item["by"] == "code").unwrap();
    assert_eq!(words["finding"]["count"], 5);
    assert_eq!(words["finding"]["verdict"], "met");
    let hard = items.iter().filter(|item| item["answer"] == "one_to_five").count();
    assert!((1..=5).contains(&hard), "{hard}");
    let score = &record["checklist"]["score"];
    assert_eq!((&score["verified"], &score["verified_met"]), (&1.into(), &1.into()));
    assert_eq!(record["checklist"]["by_form"].as_array().unwrap().len(), 2);
    // Three skills that the prompt needs, and the one overall rating.
    assert_eq!(record["annotation"]["skills"].as_array().unwrap().len(), 3);
    assert_eq!(record["verdicts"].as_array().unwrap().len(), 4);
    assert_eq!(record["verdicts"][3]["rubric_id"], "overall");
}

#[test]
fn what_code_decides_alone_stands_without_a_question_to_the_model() {
    let desk = Desk::new();
    desk.file("one.json", r#"{"items": [{"constraint": {"kind": "phrase", "text": "tower"}}]}"#);
    let record = desk.judged(&["--prompt", PROMPT, "--response", "No.", "--checklist", "one.json"]);
    assert_eq!(record["checklist"]["items"][0]["finding"]["verdict"], "not_met");
    assert_eq!(record["checklist"]["score"]["score"], 0.0);
    assert_eq!(record["timings"]["tokens"], 0);
    assert_eq!(record["verdicts"].as_array().unwrap().len(), 0);
}

#[test]
fn the_model_writes_within_its_form() {
    let desk = Desk::new();
    // The tiny model's words are random: whatever it writes, nothing that is no question gets into the list.
    let args =
        ["checklist", "--prompt", PROMPT, "--skills", "factuality", "--write", "2", "--format", "json"];
    let said = desk.said(&[&args[..], &["--model", "tiny.gguf", "--backend", "cpu"]].concat());
    let list: Value = serde_json::from_str(&said).unwrap();
    for item in list["items"].as_array().unwrap() {
        if item["origin"] == "model" {
            let question = item["question"].as_str().unwrap();
            assert!(question.starts_with("Does the response ") && question.ends_with('?'), "{question}");
            assert_eq!(item["skill"], "factuality");
        }
    }
}

#[test]
fn hard_questions_need_a_reference() {
    let desk = Desk::new();
    let said = desk.refused(&["judge", "--model", "tiny.gguf", "--prompt", "p", "--response", "r", "--hard"]);
    assert!(said.contains("--reference"), "{said}");
}
