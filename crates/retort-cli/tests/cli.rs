//! The command as a stranger uses it, on a tiny model that the test writes.

#![expect(clippy::unwrap_used, reason = "what a test needs and cannot have fails the test")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bytes = retort_lm::tiny::gguf(retort_lm::tiny::Shape::default(), 7);
        std::fs::write(folder.path().join("tiny.gguf"), bytes).unwrap();
        Self { folder }
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retort"));
        // An empty cache, so that nothing of this machine's plays a part.
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("RETORT_CACHE", self.folder.path().join("cache"));
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Judges with the tiny model on the CPU.
    fn judge(&self, args: &[&str]) -> Output {
        self.run(&[&["judge", "--model", "tiny.gguf", "--backend", "cpu"], args].concat())
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn record(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", stderr(output));
    let text = stdout(output);
    assert_eq!(text.lines().count(), 1, "the record is one line");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn the_record_says_all_that_is_needed() {
    let desk = Desk::new();
    let record = record(&desk.judge(&["--prompt", "abc", "--response", "abc", "--json"]));
    assert_eq!(record["format"], "retort.judgement/1");
    assert_eq!(record["verdicts"].as_array().unwrap().len(), 12);
    assert_eq!(record["backend"], "cpu");
    // FIPS 180-2, appendix B.1: the hash of "abc".
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(record["input"]["prompt_sha256"], abc);
    assert_eq!(record["input"]["response_sha256"], abc);
    assert!(record["input"]["reference_sha256"].is_null());
    let bytes = std::fs::read(desk.folder.path().join("tiny.gguf")).unwrap();
    assert_eq!(record["model"]["sha256"], retort_judge::sha256_hex(&bytes));
    for verdict in record["verdicts"].as_array().unwrap() {
        assert_eq!(verdict["rubric_sha256"].as_str().unwrap().len(), 64);
    }
}

#[test]
fn texts_come_from_files_and_standard_input() {
    let desk = Desk::new();
    desk.file("prompt.txt", "\u{feff}abc");
    let mut child = desk
        .command(&[
            "judge",
            "--model",
            "tiny.gguf",
            "--backend",
            "cpu",
            "--prompt",
            "@prompt.txt",
            "--response",
            "-",
            "--reference",
            "@@home",
            "--skills",
            "Readability, conciseness",
            "--json",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"abc").unwrap();
    let record = record(&child.wait_with_output().unwrap());
    assert_eq!(record["input"]["prompt_sha256"], record["input"]["response_sha256"]);
    assert_eq!(record["input"]["reference_sha256"], retort_judge::sha256_hex(b"@home"));
    let ids: Vec<&str> =
        record["verdicts"].as_array().unwrap().iter().map(|v| v["rubric_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["readability", "conciseness"]);
}

#[test]
fn custom_rubrics_are_scored_on_their_own_scale() {
    let desk = Desk::new();
    desk.file(
        "mine.toml",
        "name = \"Tone\"\ncriterion = \"The tone fits.\"\nscale = { min = 0, max = 10 }\n",
    );
    desk.file(
        "pass.json",
        r#"{"name": "Done", "criterion": "It is done.", "options": [{"label": "fail", "value": 0}, {"label": "pass", "value": 1}]}"#,
    );
    let args =
        ["--prompt", "p", "--response", "r", "--rubric", "mine.toml", "--rubric", "pass.json", "--json"];
    let output = desk.judge(&args);
    if !output.status.success() {
        panic!("{}", stderr(&output));
    }
    let record = record(&output);
    let verdicts = record["verdicts"].as_array().unwrap();
    assert_eq!(verdicts.len(), 2, "without --skills only the given rubrics are asked");
    for verdict in verdicts {
        let verdict = &verdict["verdict"];
        // A random model may answer with nothing that was offered; then there is no score, and a reason.
        if verdict["kind"] == "scored" {
            let expected = verdict["expected"].as_f64().unwrap();
            assert!(
                (verdict["min"].as_f64().unwrap()..=verdict["max"].as_f64().unwrap()).contains(&expected)
            );
        } else {
            assert_eq!(verdict["code"], "outside_options");
        }
    }
}

/// Whatever is given as a model, the command says what is wrong with it and does not panic.
#[test]
fn files_that_are_no_models_are_refused() {
    let desk = Desk::new();
    let tiny = std::fs::read(desk.folder.path().join("tiny.gguf")).unwrap();
    for (name, bytes, says) in [
        ("empty.gguf", &b""[..], "is not a GGUF file"),
        ("picture.gguf", b"\x89PNG\r\n\x1a\n", "is not a GGUF file"),
        ("head.gguf", &tiny[..600], "is cut short"),
        ("half.gguf", &tiny[..tiny.len() / 2], "is cut short"),
    ] {
        desk.file(name, bytes);
        let output = desk.run(&["judge", "--model", name, "--prompt", "p", "--response", "r"]);
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        assert!(said.starts_with(&format!("retort: {name} {says}")), "{said}");
        assert!(stdout(&output).is_empty());
    }
}

#[test]
fn mistakes_are_named_with_their_remedy() {
    let desk = Desk::new();
    desk.file("bad.toml", "name = \"X\"\ncriterion = \"\"\nscale = { min = 1, max = 5 }\n");
    let missing = Path::new("no").join("such.toml");
    for (args, says) in [
        (vec!["--prompt", " ", "--response", "r"], "the prompt is empty"),
        (vec!["--prompt", "p", "--response", ""], "the response is empty"),
        (vec!["--prompt", "-", "--response", "-"], "standard input is already read for --prompt"),
        (vec!["--prompt", "p", "--response", "@gone.txt"], "\"gone.txt\" could not be read"),
        (vec!["--prompt", "p", "--response", "r", "--skills", "readabilty"], "eadability"),
        (vec!["--prompt", "p", "--response", "r", "--rubric", "bad.toml"], "bad.toml:2"),
        (vec!["--prompt", "p", "--response", "r", "--rubric", missing.to_str().unwrap()], "such.toml"),
    ] {
        let output = desk.judge(&args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let said = stderr(&output);
        assert!(said.contains(says), "{args:?}: {said}");
    }
    let output = desk.run(&["judge", "--prompt", "p", "--response", "r"]);
    assert!(stderr(&output).contains("retort models pull smollm2-135m"), "{}", stderr(&output));
}

#[test]
fn the_report_is_for_people() {
    let desk = Desk::new();
    let output = desk.judge(&["--prompt", "p", "--response", "r", "--skills", "factuality"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("Factuality  "), "{text}");
    assert!(text.contains("You chose the CPU."), "{text}");
}
