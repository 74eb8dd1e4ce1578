//! `retort annotate` as a stranger uses it.

#![expect(clippy::unwrap_used, reason = "what a test needs and cannot have fails the test")]

use std::path::PathBuf;
use std::process::{Command, Output};

struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        // An empty cache, so that nothing of this machine's plays a part.
        Command::new(env!("CARGO_BIN_EXE_retort"))
            .arg("annotate")
            .args(args)
            .current_dir(self.folder.path())
            .env("RETORT_CACHE", self.folder.path().join("cache"))
            .output()
            .unwrap()
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_prompt_is_annotated_by_its_words_without_a_model() {
    let desk = Desk::new();
    let prompt = "Prove that the square root of 2 is irrational.";
    let output = desk.run(&["--prompt", prompt]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for said in [
        "1. Logical correctness: ",
        "\"Prove\" asks for a proof",
        "Math, mathematics",
        "\"square root\" belongs to this field",
        " of 5, ",
        "no model was asked",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    // The wording of the levels is that of mathematics.
    assert!(text.contains("mathematics: algebra") || text.contains("University mathematics"), "{text}");

    let output = desk.run(&["--prompt", prompt, "--json"]);
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1);
    let record = json(&text);
    assert_eq!(record["format"], "retort.annotation/1");
    assert_eq!(record["annotation"]["by"], "code");
    assert_eq!(record["annotation"]["domains"][0]["domain"], "math");
    assert!(record["by_model"].is_null());
    assert_eq!(record["words"]["annotation"], record["annotation"]);
}

#[test]
fn a_model_is_asked_with_a_seed_that_is_recorded() {
    let desk = Desk::new();
    desk.file("tiny.gguf", retort_lm::tiny::gguf(retort_lm::tiny::Shape::default(), 7));
    let model = ["--model", "tiny.gguf", "--backend", "cpu", "--prompt", "abc", "--json"];
    let run = |more: &[&str]| {
        let output = desk.run(&[&model, more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        json(&stdout(&output))
    };
    let record = run(&["--by", "model", "--seed", "3", "--orders", "2"]);
    assert_eq!(record["annotation"]["by"], "model");
    assert!(record["words"].is_null());
    let by_model = &record["by_model"];
    assert_eq!(by_model["seed"], 3);
    assert_eq!(by_model["orders"].as_array().unwrap().len(), 2);
    assert_eq!(by_model["model"]["name"], "tiny.gguf");
    let again = run(&["--by", "model", "--seed", "3", "--orders", "2"]);
    for part in ["skills", "domains", "difficulty", "orders"] {
        assert_eq!(again["by_model"][part], by_model[part], "{part}");
        // A random model may answer with nothing that was offered; then there is a reason.
        let part = &by_model[part];
        assert!(part.is_array() || part["kind"] == "found" || part["code"] == "outside_options", "{part}");
    }
    let both = run(&["--by", "both"]);
    assert!(both["words"].is_object() && both["by_model"].is_object());
}

#[test]
fn what_cannot_be_annotated_is_refused_with_the_reason() {
    let desk = Desk::new();
    desk.file("there.jsonl", "{}\n");
    for (args, said) in [
        (&["--prompt", " \n"][..], "--prompt: the text is empty"),
        (&[], "required"),
        (&["--prompt", "a", "--orders", "0", "--by", "model"], "give a number from 1 to 12"),
        (&["--prompt", "a", "--rows", "there.jsonl"], "cannot be used with"),
        (&["--rows", "no.jsonl"], "--rows no.jsonl: it cannot be read"),
        (&["--from", "there.jsonl"], "--from there.jsonl: it has no row that can be read"),
        (
            &["--rows", "there.jsonl", "--out", "there.jsonl"],
            "--out there.jsonl: there is such a file already",
        ),
    ] {
        let output = desk.run(args);
        assert!(!output.status.success(), "{args:?}");
        assert!(stderr(&output).contains(said), "{args:?}: {}", stderr(&output));
    }
    assert_eq!(desk.read("there.jsonl"), "{}\n");
}

#[test]
fn rows_come_out_annotated_and_bad_ones_are_reported_and_left_out() {
    let desk = Desk::new();
    let mut rows =
        "\u{feff}{\"id\": \"a\", \"prompt\": \"Write a haiku about rain.\"}\r\n\n".as_bytes().to_vec();
    rows.extend_from_slice(b"{\"instruction\": 3}\n");
    rows.extend_from_slice(b"{\"instruction\": \"\xff\"}\n");
    rows.extend_from_slice(b"not json\n{\"instruction\": \"\"}\n");
    rows.extend_from_slice(
        b"{\"prompt\": \"Kept.\", \"annotation\": {\"skills\": [], \"domains\": [], \"difficulty\": null, \"by\": \"person\"}}\n",
    );
    rows.extend_from_slice("{\"instruction\": \"What is\u{2028}inflation?\", \"more\": [1]}".as_bytes());
    desk.file("rows.jsonl", rows);
    let output = desk.run(&["--rows", "rows.jsonl", "-o", "out.jsonl"]);
    // Rows that were left out must not look like success.
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    for problem in [
        "rows.jsonl:3: the instruction is no text",
        "rows.jsonl:4: the line is not UTF-8",
        "rows.jsonl:5: the line is no JSON object",
        "rows.jsonl:6: the instruction is empty",
        "2 rows annotated, 4 left out, 1 with a person's annotation kept",
    ] {
        assert!(said.contains(problem), "{problem}: {said}");
    }
    let out = desk.read("out.jsonl");
    let rows: Vec<serde_json::Value> = out.split_terminator('\n').map(json).collect();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0]["id"], "a");
    assert_eq!(rows[0]["annotation"]["domains"][0]["subdomain"], "poetry");
    assert_eq!(rows[1]["annotation"]["by"], "person");
    assert_eq!(rows[2]["more"], serde_json::json!([1]));
    assert_eq!(rows[2]["annotation"]["by"], "code");
    assert!(rows[2]["annotation_record"].is_null());

    let output = desk.run(&["--rows", "out.jsonl", "--json"]);
    assert!(output.status.success());
    let first = json(stdout(&output).split('\n').next().unwrap());
    assert_eq!(first["annotation_record"]["annotation"], first["annotation"]);
}

#[test]
fn rows_of_flask_are_converted_with_their_oddities_reported() {
    let desk = Desk::new();
    let row = |idx: u32, skills: &str, domain: &str, difficulty: &str| {
        format!(
            "{{\"idx\": {idx}, \"instruction\": \"Add 2 and 2.\", \"answer\": \"4\", \"task\": \"sums\", \"skill\": [{skills}], \
             \"domain\": [\"{domain}\"], \"difficulty\": {difficulty}}}\n"
        )
    };
    let three = "\"Logical Correctness\", \"Comprehension\", \"Conciseness\"";
    let text = [
        row(1, three, "Math", "\"simple lifestyle knowledge\""),
        row(2, "\"Comprehension\", \"Conciseness\"", "-1", "-1"),
        row(3, three, "Maths", "\"simple lifestyle knowledge\""),
    ];
    desk.file("flask.jsonl", text.concat());
    let output = desk.run(&["--from", "flask.jsonl"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    for problem in [
        "flask.jsonl:2: warning: skill: 2 skills where FLASK chooses 3",
        "flask.jsonl:2: warning: domain: -1, which means that none was found",
        "flask.jsonl:2: warning: difficulty: -1, which means that none was found",
        "flask.jsonl:3: domain: \"Maths\" is no domain",
        "2 rows converted, 1 left out",
    ] {
        assert!(said.contains(problem), "{problem}: {said}");
    }
    let rows: Vec<serde_json::Value> = stdout(&output).lines().map(json).collect();
    assert_eq!(rows[0]["annotation"]["difficulty"], "simple_lifestyle");
    assert_eq!(rows[0]["annotation"]["by"], "file");
    assert_eq!(rows[1]["annotation"]["domains"], serde_json::json!([]));
    assert!(rows[1]["annotation"]["difficulty"].is_null());
}
