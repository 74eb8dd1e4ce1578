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

/// Any part of a split model stands for the whole: same scores, and the hash of all parts one after the other.
#[test]
fn a_split_model_is_given_by_any_of_its_parts() {
    let desk = Desk::new();
    let parts = retort_lm::tiny::writer(retort_lm::tiny::Shape::default(), 7).finish_split(8);
    let name = |index: usize| format!("split-{:05}-of-{:05}.gguf", index + 1, parts.len());
    for (index, bytes) in parts.iter().enumerate() {
        desk.file(&name(index), bytes);
    }
    let args = ["--prompt", "p", "--response", "r", "--skills", "factuality", "--json"];
    let whole = record(&desk.judge(&args));
    let judge =
        |part: usize| desk.run(&[&["judge", "--backend", "cpu", "--model", &name(part)], &args[..]].concat());
    for part in [0, parts.len() - 1] {
        let record = record(&judge(part));
        assert_eq!(record["verdicts"], whole["verdicts"]);
        assert_eq!(record["model"]["name"], name(0));
        assert_eq!(record["model"]["sha256"], retort_judge::sha256_hex(&parts.concat()));
    }
    std::fs::remove_file(desk.folder.path().join(name(1))).unwrap();
    let output = judge(0);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(&format!("this one is missing: {}", name(1))), "{}", stderr(&output));
}

#[test]
fn an_adapter_is_applied_and_recorded() {
    let desk = Desk::new();
    let bytes = retort_lm::tiny::adapter_gguf(
        retort_lm::tiny::Shape::default(),
        retort_lm::tiny::AdapterShape::default(),
        3,
    );
    desk.file("lora.gguf", &bytes);
    let base = ["--prompt", "p", "--response", "r", "--skills", "factuality", "--json"];
    let judged = |more: &[&str]| record(&desk.judge(&[&base[..], more].concat()));
    let without = judged(&[]);
    assert!(without["model"]["adapter"].is_null());
    let with = judged(&["--adapter", "lora.gguf"]);
    assert_eq!(with["model"]["adapter"]["name"], "lora.gguf");
    assert_eq!(with["model"]["adapter"]["sha256"], retort_judge::sha256_hex(&bytes));
    assert_eq!(with["model"]["adapter"]["strength"], 1.0);
    assert_ne!(with["verdicts"], without["verdicts"]);
    // With no strength it is the base alone; with less it is something between.
    let none = judged(&["--adapter", "lora.gguf", "--adapter-strength", "0"]);
    assert_eq!(none["verdicts"], without["verdicts"]);
    let half = judged(&["--adapter", "lora.gguf", "--adapter-strength", "0.5"]);
    assert_eq!(half["model"]["adapter"]["strength"], 0.5);
    assert_ne!(half["verdicts"], with["verdicts"]);
    // And a person reads it too.
    let read = |more: &[&str]| stdout(&desk.judge(&[&base[..6], more].concat()));
    assert!(!read(&[]).contains("adapter"));
    let half = read(&["--adapter", "lora.gguf", "--adapter-strength", "0.5"]);
    assert!(half.contains("with the adapter lora.gguf (strength 0.5) on "), "{half}");
}

/// The whole way: an adapter's file says how to set its probabilities right, and the command does it and says so.
#[test]
fn an_adapters_calibration_is_applied_said_and_left_off_at_will() {
    use retort_lm::gguf::Value;
    let desk = Desk::new();
    let write = |name: &str, text: &str| {
        // A weak one: with a strong random one almost nothing is left for the options, and there is no score.
        let weak = retort_lm::tiny::AdapterShape { alpha: 0.01, ..Default::default() };
        let mut file = retort_lm::tiny::adapter_writer(retort_lm::tiny::Shape::default(), weak, 3);
        file.set("retort.calibration", Value::Text(text.into()));
        desk.file(name, file.finish());
    };
    // Everything that may be answered becomes equally probable, but for what is almost nothing.
    let form = r#"{"form": 1, "rows": 30, "mixture_sha256": "", "scales": [],
        "other": {"temperature": 1000000, "rows": 30, "ece_before": 0.1, "ece_after": 0.01}}"#;
    write("known.gguf", form);
    write("none.gguf", "{}");
    write("broken.gguf", r#"{"form": 2}"#);
    let base = ["--prompt", "p", "--response", "r", "--skills", "overall", "--json"];
    let judged = |more: &[&str]| record(&desk.judge(&[&base[..], more].concat()));
    let plain = judged(&["--adapter", "none.gguf"]);
    assert!(plain.get("calibration").is_none());
    let applied = judged(&["--adapter", "known.gguf"]);
    assert_eq!(applied["calibration"], "applied");
    let [verdict, raw] = [&applied, &plain].map(|record| record["verdicts"][0]["verdict"].clone());
    assert_eq!(verdict["method"], "calibrated_option_probabilities", "{verdict}");
    for option in verdict["distribution"].as_array().unwrap() {
        assert!((option["probability"].as_f64().unwrap() - 0.2).abs() < 1e-4, "{verdict}");
    }
    assert_eq!(verdict["mass"], raw["mass"]);
    assert_ne!(verdict["distribution"], raw["distribution"]);
    let off = judged(&["--adapter", "known.gguf", "--no-calibration"]);
    assert_eq!((&off["calibration"], &off["verdicts"]), (&"off".into(), &plain["verdicts"]));
    // It was fitted at the strength that the adapter was trained at.
    assert!(judged(&["--adapter", "known.gguf", "--adapter-strength", "0.5"]).get("calibration").is_none());
    // And a person reads it too.
    let read = |more: &[&str]| stdout(&desk.judge(&[&base[..6], more].concat()));
    assert!(read(&["--adapter", "known.gguf"]).contains("Calibrated: "));
    assert!(read(&["--adapter", "known.gguf", "--no-calibration"]).contains("Not calibrated: "));
    assert!(!read(&["--adapter", "none.gguf"]).contains("alibrated"));
    let broken = desk.judge(&[&base[..], &["--adapter", "broken.gguf"]].concat());
    assert_eq!(broken.status.code(), Some(1));
    let said = stderr(&broken);
    assert!(said.contains("the adapter broken.gguf cannot be applied: its calibration"), "{said}");
    assert!(said.contains("its form is 2, and 1 is read here"), "{said}");
}

#[test]
fn a_wrong_adapter_is_refused_with_the_reason() {
    use retort_lm::tiny::{AdapterShape, Shape, adapter_gguf};
    let desk = Desk::new();
    let adapter = |shape| adapter_gguf(shape, AdapterShape::default(), 3);
    desk.file("qwen.gguf", adapter(Shape { architecture: "qwen2", ..Shape::default() }));
    desk.file("wide.gguf", adapter(Shape { width: 96, ..Shape::default() }));
    desk.file("deep.gguf", adapter(Shape { layers: 3, ..Shape::default() }));
    desk.file("text.gguf", "not an adapter");
    for (args, says) in [
        (
            &["--adapter", "qwen.gguf"][..],
            "the adapter qwen.gguf cannot be applied: it belongs to a base of architecture \"qwen2\"",
        ),
        (&["--adapter", "wide.gguf"], "it belongs to another base"),
        (&["--adapter", "deep.gguf"], "it changes block 2, and the loaded model has 2 blocks"),
        (&["--adapter", "tiny.gguf"], "load it as a model instead"),
        (&["--adapter", "text.gguf"], "text.gguf is not a GGUF file"),
        (&["--adapter", "gone.gguf"], "no adapter is called \"gone.gguf\", and there is no such file"),
    ] {
        let output = desk.judge(&[&["--prompt", "p", "--response", "r"], args].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).contains(says), "{args:?}: {}", stderr(&output));
        assert!(stdout(&output).is_empty());
    }
    let output = desk.judge(&["--prompt", "p", "--response", "r", "--adapter-strength", "2"]);
    assert_eq!(output.status.code(), Some(2), "a strength without an adapter");
    let output = desk.judge(&[
        "--prompt",
        "p",
        "--response",
        "r",
        "--adapter",
        "deep.gguf",
        "--adapter-strength",
        "x",
    ]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn rewards_come_from_the_models_own_head() {
    use retort_lm::tiny::{Shape, gguf};
    let desk = Desk::new();
    desk.file("reward.gguf", gguf(Shape { head_outputs: 1, ..Shape::default() }, 7));
    let reward =
        |args: &[&str]| desk.run(&[&["reward", "--backend", "cpu", "--prompt", "abc"], args].concat());
    let both = ["--model", "reward.gguf", "--response", "abc", "--response", "It is four."];
    let record = record(&reward(&[&both[..], &["--json"]].concat()));
    assert_eq!(record["format"], "retort.reward/1");
    // FIPS 180-2, appendix B.1: the hash of "abc".
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(record["input"]["prompt_sha256"], abc);
    assert_eq!(record["input"]["responses_sha256"][0], abc);
    let outputs: Vec<f64> =
        (0..2).map(|index| record["rewards"][index]["outputs"][0].as_f64().unwrap()).collect();
    assert!((outputs[0] - outputs[1]).abs() > 1e-3, "{outputs:?}");
    // Each alone is the same as both together, but for the order in which sums are made.
    let alone = reward(&["--model", "reward.gguf", "--response", "It is four.", "--json"]);
    let alone = serde_json::from_str::<serde_json::Value>(&stdout(&alone)).unwrap();
    let alone = alone["rewards"][0]["outputs"][0].as_f64().unwrap();
    assert!((alone - outputs[1]).abs() < 1e-3, "{alone} and {}", outputs[1]);

    let text = stdout(&reward(&both));
    assert!(text.starts_with(&format!("Response 1  {:.4}\nResponse 2  ", outputs[0])), "{text}");
    let output = reward(&["--model", "tiny.gguf", "--response", "abc"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("this model has no head of its own"), "{}", stderr(&output));
    let long = "word ".repeat(9000);
    desk.file("long.txt", &long);
    let output = reward(&["--model", "reward.gguf", "--response", "abc", "--response", "@long.txt"]);
    assert_eq!(output.status.code(), Some(1), "not all were scored");
    assert!(stdout(&output).contains("Response 2  not scored: the text is"), "{}", stdout(&output));
}

#[test]
fn p18_responses_are_compared_in_both_orders() {
    let desk = Desk::new();
    let compare = |args: &[&str]| {
        let first = ["compare", "--backend", "cpu", "--model", "tiny.gguf", "--prompt", "abc"];
        desk.run(&[&first[..], args].concat())
    };
    let both = ["--response", "abc", "--response", "It is four."];
    let output = compare(&[&both[..], &["--json"]].concat());
    let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&record["format"], &record["task"]), (&"retort.comparison/1".into(), &"pairwise".into()));
    let pair = &record["pairs"][0];
    assert_eq!((&pair["first"], &pair["second"]), (&0.into(), &1.into()));
    assert_eq!(record["input"]["responses_words"], serde_json::json!([1, 3]));
    // A model of noise may put too little on what is offered; then the pair is undecided, and the command says so.
    let decided = pair["verdict"]["kind"] == "scored";
    assert_eq!(output.status.success(), decided, "{record}");
    let shown = pair["shown"].as_array().unwrap();
    for one in shown {
        let sum = one["first"].as_f64().unwrap() + one["second"].as_f64().unwrap();
        assert!((sum - 1.0).abs() < 1e-12, "{one}");
    }
    if decided {
        assert_eq!((&shown[0]["shown_first"], &shown[1]["shown_first"]), (&0.into(), &1.into()));
        let mean = (shown[0]["first"].as_f64().unwrap() + shown[1]["first"].as_f64().unwrap()) / 2.0;
        assert!((pair["verdict"]["probability_first"].as_f64().unwrap() - mean).abs() < 1e-12);
    }
    let text = stdout(&compare(&both));
    assert!(text.starts_with("| Pair    | Better"), "{text}");
    let output = compare(&["--response", "abc"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("two to four at a time, and there are 1"), "{}", stderr(&output));
}
