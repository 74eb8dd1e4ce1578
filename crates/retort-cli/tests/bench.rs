//! Exams and mixtures as a stranger runs them: a tiny model, and made-up copies of the public files.

#![expect(clippy::unwrap_used, reason = "what a test needs and cannot have fails the test")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Desk {
    folder: tempfile::TempDir,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../retort-bench/tests/fixtures")
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bytes = retort_lm::tiny::gguf(retort_lm::tiny::Shape::default(), 7);
        std::fs::write(folder.path().join("tiny.gguf"), bytes).unwrap();
        Self { folder }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retort"));
        // An empty cache, so that nothing of this machine's plays a part.
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("RETORT_CACHE", self.folder.path().join("cache"))
            .env_remove("RETORT_DATA");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Holds exams of the tiny model over the fixtures.
    fn bench(&self, args: &[&str]) -> Output {
        self.command(&[&["bench", "--model", "tiny.gguf", "--backend", "cpu"], args].concat())
            .env("RETORT_DATA", fixtures())
            .output()
            .unwrap()
    }

    fn text(&self, name: &str) -> String {
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
fn what_is_missing_is_said() {
    let desk = Desk::new();
    let list = stdout(&desk.run(&["bench", "list"]));
    for name in ["llmbar", "pandalm", "aggrefact", "cobbler", "rerank", "flask", "held-out"] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{name} is not in\n{list}");
    }
    let no_data = desk.run(&["bench", "llmbar", "--rules-only"]);
    assert!(!no_data.status.success());
    assert!(stderr(&no_data).contains("--data DIR, or the variable RETORT_DATA"), "{}", stderr(&no_data));
    let no_name = desk.run(&["bench"]);
    assert!(stderr(&no_name).contains("name at least one exam"), "{}", stderr(&no_name));
    let unknown = desk.run(&["bench", "llmbaar", "--rules-only", "--data", "."]);
    assert!(
        stderr(&unknown).contains("there is no exam \"llmbaar\"; there are llmbar, "),
        "{}",
        stderr(&unknown)
    );
    let absent = desk.run(&["bench", "llmbar", "--rules-only", "--data", "."]);
    assert!(
        stderr(&absent).contains("there is no folder of princeton-nlp/LLMBar in ."),
        "{}",
        stderr(&absent)
    );
    let no_run = desk.run(&["bench", "report", "."]);
    assert!(stderr(&no_run).contains("there is no finished run in ."), "{}", stderr(&no_run));
}

#[test]
fn an_exam_is_held_taken_up_and_reported() {
    let desk = Desk::new();
    let first = desk.bench(&["llmbar", "--out", "runs", "--limit", "3"]);
    assert!(first.status.success(), "{}", stderr(&first));
    let table = stdout(&first);
    for judge in ["tiny: together", "tiny: alone", "tiny: agnostic", "longer", "shorter", "overlap", "random"]
    {
        assert!(table.contains(judge), "{judge} is not in\n{table}");
    }
    assert!(!table.contains("NaN"), "{table}");
    let answers = desk.text("runs/llmbar/answers.jsonl");
    // Three pairs: two orders, and each response alone.
    assert_eq!(answers.lines().count(), 12);

    // Half of them are lost: they are asked again and nothing else, and the table is the same.
    let kept: String = answers.lines().take(6).map(|line| format!("{line}\n")).collect();
    std::fs::write(desk.folder.path().join("runs/llmbar/answers.jsonl"), kept).unwrap();
    let second = desk.bench(&["llmbar", "--out", "runs", "--limit", "3"]);
    assert!(stderr(&second).contains("6 of 12 inquiries were answered before"), "{}", stderr(&second));
    let figures =
        |table: &str| table.lines().filter(|line| line.starts_with("| ")).collect::<Vec<_>>().join("\n");
    assert_eq!(figures(&stdout(&second)), figures(&table));
    assert_eq!(desk.text("runs/llmbar/answers.jsonl").lines().count(), 12);

    let other = desk.bench(&["llmbar", "--out", "runs", "--limit", "2"]);
    assert!(!other.status.success());
    assert!(stderr(&other).contains("a limit of 3 in place of a limit of 2"), "{}", stderr(&other));

    let rules = desk.bench(&["llmbar", "hhh", "--rules-only", "--out", "rules"]);
    assert!(rules.status.success(), "{}", stderr(&rules));
    let page = desk.run(&["bench", "report", "runs", "rules", "-o", "exam.html"]);
    assert!(page.status.success(), "{}", stderr(&page));
    let page = desk.text("exam.html");
    assert!(page.contains("tiny: together") && page.contains("hhh"), "{page}");
}

#[test]
fn calibrated_answers_are_a_run_of_their_own() {
    use retort_lm::tiny::{AdapterShape, Shape, adapter_writer};
    let desk = Desk::new();
    let mut file =
        adapter_writer(Shape::default(), AdapterShape { alpha: 0.01, ..AdapterShape::default() }, 3);
    let form = r#"{"form": 1, "rows": 30, "mixture_sha256": "", "scales": [],
        "other": {"temperature": 2, "rows": 30}, "difference": {"temperature": 3, "rows": 30}}"#;
    file.set("retort.calibration", retort_lm::gguf::Value::Text(form.into()));
    std::fs::write(desk.folder.path().join("lora.gguf"), file.finish()).unwrap();
    let args = ["llmbar", "--out", "runs", "--limit", "2", "--adapter", "lora.gguf"];
    let first = desk.bench(&args);
    assert!(first.status.success(), "{}", stderr(&first));
    assert!(stderr(&first).contains("--no-calibration takes them as they are"), "{}", stderr(&first));
    let table: serde_json::Value = serde_json::from_str(&desk.text("runs/llmbar/table.json")).unwrap();
    assert_eq!(table["run"]["calibrated"], true);
    let plain = desk.bench(&[&args[..], &["--no-calibration"]].concat());
    assert!(!plain.status.success());
    assert!(stderr(&plain).contains("calibrated probabilities in place of"), "{}", stderr(&plain));
    let apart = ["llmbar", "--out", "apart", "--limit", "2", "--adapter", "lora.gguf", "--no-calibration"];
    let apart = desk.bench(&apart);
    assert!(apart.status.success(), "{}", stderr(&apart));
    let table: serde_json::Value = serde_json::from_str(&desk.text("apart/llmbar/table.json")).unwrap();
    assert!(table["run"].get("calibrated").is_none(), "{table}");
    // Only what could be scored says how it was read; some of it could.
    let calibrated =
        desk.text("runs/llmbar/answers.jsonl").matches("\"calibrated_option_probabilities\"").count();
    let plain = desk.text("apart/llmbar/answers.jsonl").matches("\"option_probabilities\"").count();
    assert!(calibrated > 0 && calibrated == plain, "{calibrated} and {plain}");
    assert!(!desk.text("runs/llmbar/answers.jsonl").contains("\"option_probabilities\""));
}

#[test]
fn every_exam_can_be_held_of_a_model() {
    let desk = Desk::new();
    let all = desk.bench(&["all", "--out", "runs", "--limit", "1", "--wording", "short"]);
    assert!(all.status.success(), "{}", stderr(&all));
    for line in stdout(&desk.run(&["bench", "list"])).lines() {
        let name = line.split(' ').next().unwrap();
        let table = desk.text(&format!("runs/{name}/table.json"));
        let report: serde_json::Value = serde_json::from_str(&table).unwrap();
        assert_eq!(report["answered"], report["asks"], "{name}");
        assert!(!report["tables"].as_array().unwrap().is_empty(), "{name}");
        assert!(!table.contains("NaN"), "{name}");
    }
}

#[test]
fn a_mixture_is_written_whole_and_the_same_each_time() {
    let desk = Desk::new();
    let fixtures = fixtures();
    let mixture = |out: &str, seed: &str| {
        let data = fixtures.to_str().unwrap();
        let args = ["mixture", "--model", "tiny.gguf", "--data", data, "--seed", seed, "--out", out];
        desk.run(&[&args[..], &["--allow-missing-evaluation"]].concat())
    };
    let one = mixture("one", "0");
    assert!(one.status.success(), "{}", stderr(&one));
    mixture("two", "0");
    mixture("three", "1");
    let rows = desk.text("one/mixture.jsonl");
    assert!(rows.lines().count() > 50, "{} rows", rows.lines().count());
    for line in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(row["kind"] == "text" || !row["options"].as_array().unwrap().is_empty(), "{row}");
    }
    assert_eq!(desk.text("two/mixture.jsonl"), rows);
    assert_ne!(desk.text("three/mixture.jsonl"), rows);
    let manifest: serde_json::Value = serde_json::from_str(&desk.text("one/mixture.json")).unwrap();
    assert_eq!(manifest["seed"].as_u64().or(manifest["settings"]["seed"].as_u64()), Some(0));
    // What is there is never written over.
    let again = mixture("one", "0");
    assert!(!again.status.success());
    assert_eq!(desk.text("one/mixture.jsonl"), rows);
}
