//! `retort rubric` as a stranger uses it.

#![expect(clippy::unwrap_used, reason = "what a test needs and cannot have fails the test")]

use std::process::{Command, Output};

struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_retort"))
            .args(args)
            .current_dir(self.folder.path())
            .env("RETORT_CACHE", self.folder.path().join("cache"))
            .output()
            .unwrap()
    }

    /// Standard output of a run that succeeds.
    fn out(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

const CHILDREN: &str = "name = \"Readability for children\"\nextends = \"readability\"\ncriterion_also = \"The reader is a child of eight.\"\nlevels.5 = \"A child reads it alone.\"\n";

const POINTS: &str = "{\"rubrics\": [{\"criterion\": \"Names a dose.\", \"points\": 5, \"tags\": [\"axis:x\"]}, {\"criterion\": \"Shames the reader.\", \"points\": -3, \"tags\": []}, {\"criterion\": \"Is there.\", \"points\": 0}], \"prompt\": []}\n";

#[test]
fn check_names_every_finding_and_looks_at_every_file() {
    let desk = Desk::new();
    desk.file("children.toml", CHILDREN);
    desk.file(
        "vague.toml",
        "name='V'\ncriterion='It is x.'\nscale={min=0,max=1}\nlevels={0='Bad',1='Names x.'}\n",
    );
    desk.file("wrong.toml", "name='W'\nscale={min=0,max=1}\n");
    desk.file("points.jsonl", POINTS);
    assert_eq!(desk.out(&["rubric", "check", "children.toml"]), "children.toml: 1 rubric, nothing found\n");
    let doubtful = desk.out(&["rubric", "check", "vague.toml"]);
    assert!(doubtful.starts_with("vague.toml:4:11: warning: levels.0: \"Bad\" grades"), "{doubtful}");
    assert!(doubtful.ends_with("vague.toml: 1 rubric, 1 finding\n"), "{doubtful}");
    let all = desk.run(&["rubric", "check", "none.toml", "wrong.toml", "points.jsonl", "children.toml"]);
    assert!(!all.status.success());
    let text = stdout(&all);
    assert!(text.contains("none.toml: "), "{text}");
    assert!(text.contains("wrong.toml:1:1: the field \"criterion\" is missing"), "{text}");
    assert!(text.contains("points.jsonl:1:179: rubrics[2].points: the weight is 0"), "{text}");
    assert!(text.contains("points.jsonl: 2 rubrics of HealthBench, 1 finding"), "{text}");
    assert!(text.ends_with("children.toml: 1 rubric, nothing found\n"), "{text}");
}

#[test]
fn show_prints_a_file_or_a_built_in_rubric_with_its_hash() {
    let desk = Desk::new();
    desk.file("children.toml", CHILDREN);
    let text = desk.out(&["rubric", "show", "children.toml"]);
    assert!(
        text.starts_with("Readability for children (readability_for_children), User alignment\n"),
        "{text}"
    );
    assert!(text.contains("    5  A child reads it alone.\n"), "{text}");
    let built_in = desk.out(&["rubric", "show", "Metacognition,overall"]);
    for rubric in retort_rubric::select("metacognition,overall").unwrap() {
        assert!(built_in.contains(&format!("SHA-256 {}", rubric.sha256())), "{built_in}");
    }
    assert!(built_in.contains("  Does not apply when: "), "{built_in}");
    let unknown = desk.run(&["rubric", "show", "readibility"]);
    assert!(!unknown.status.success());
    assert!(stderr(&unknown).contains("did you mean readability?"), "{}", stderr(&unknown));
    let missing = desk.run(&["rubric", "show", "no/such.toml"]);
    assert!(stderr(&missing).contains("no/such.toml"), "{}", stderr(&missing));
}

/// P30: there and back through every format that can say it.
#[test]
fn p30_convert_goes_there_and_back() {
    let desk = Desk::new();
    desk.file("children.toml", CHILDREN);
    let own = desk.out(&["rubric", "convert", "children.toml", "--to", "toml"]);
    assert!(own.contains("A child reads it alone.") && !own.contains("extends"), "{own}");
    for format in ["json", "prometheus", "prometheus-text", "evalassist", "kiln", "deepeval"] {
        // Other tools have no field for when a rubric does not apply, which Readability says.
        desk.out(&[
            "rubric",
            "convert",
            "children.toml",
            "--to",
            format,
            "--without",
            "not_applicable",
            "-o",
            "there",
        ]);
        let back = desk.out(&["rubric", "convert", "there", "--to", "toml"]);
        let criterion =
            |text: &str| text.lines().find(|line| line.starts_with("criterion")).map(str::to_owned);
        assert_eq!(criterion(&back), criterion(&own), "{format}");
        assert_eq!(back.split("[rubric.levels]").nth(1), own.split("[rubric.levels]").nth(1), "{format}");
    }
    desk.file("points.jsonl", POINTS);
    // One item is skipped: the rest is written, but the command says so.
    let output =
        desk.run(&["rubric", "convert", "points.jsonl", "--to", "healthbench", "-o", "points2.jsonl"]);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("rubrics[2].points"), "{}", stderr(&output));
    assert!(stderr(&output).contains("not written: prompt"), "{}", stderr(&output));
    assert_eq!(
        desk.read("points2.jsonl"),
        "{\"rubrics\":[{\"criterion\":\"Names a dose.\",\"points\":5,\"tags\":[\"axis:x\"]},{\"criterion\":\"Shames the reader.\",\"points\":-3,\"tags\":[]}]}\n"
    );
}

#[test]
fn convert_refuses_what_cannot_be_said_or_leaves_it_out() {
    let desk = Desk::new();
    let refused = desk.run(&["rubric", "convert", "metacognition", "--to", "prometheus"]);
    assert!(!refused.status.success() && refused.stdout.is_empty());
    assert!(stderr(&refused).contains("it says when it does not apply"), "{}", stderr(&refused));
    let text = desk.out(&[
        "rubric",
        "convert",
        "metacognition",
        "--to",
        "prometheus",
        "--without",
        "not_applicable,weight",
    ]);
    assert!(text.contains("\"score5_description\""), "{text}");
}

#[test]
fn rubrics_of_another_tool_are_judged_by() {
    let desk = Desk::new();
    desk.file("tiny.gguf", retort_lm::tiny::gguf(retort_lm::tiny::Shape::default(), 7));
    desk.file(
        "criteria.json",
        "{\"name\": \"Kind\", \"description\": \"Is it kind?\", \"options\": [{\"name\": \"Yes\"}, {\"name\": \"No\"}]}",
    );
    let args = ["--prompt", "p", "--response", "r", "--rubric", "criteria.json", "--json"];
    let line = desk.out(&[&["judge", "--model", "tiny.gguf", "--backend", "cpu"], &args[..]].concat());
    let record: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(record["verdicts"][0]["rubric_id"], "kind");
    assert_eq!(record["verdicts"].as_array().unwrap().len(), 1);
}
