//! `retort agree` as a stranger uses it.

#![expect(clippy::unwrap_used, reason = "what a test needs and cannot have fails the test")]

use std::process::{Command, Output};

use serde_json::Value;

struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn with(name: &str, text: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
        Self { folder }
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retort"));
        command.arg("agree").args(args).current_dir(self.folder.path());
        if !args.contains(&"--resamples") {
            command.args(["--resamples", "50"]);
        }
        command.output().unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--json"]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A figure of a list of figures.
fn figure<'a>(figures: &'a Value, name: &str) -> &'a Value {
    figures.as_array().unwrap().iter().find(|figure| figure["name"] == name).unwrap()
}

fn value(figures: &Value, name: &str) -> f64 {
    figure(figures, name)["value"].as_f64().unwrap()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

const FOUR: &str = "item,people,judge\na,1,1\nb,2,3\nc,3,2\nd,4,4\n";

#[test]
fn two_columns_of_numbers() {
    let desk = Desk::with("four.csv", FOUR);
    let found = desk.json(&["four.csv"]);
    assert_eq!(found["format"], "retort.agreement/1");
    assert_eq!((&found["labels"], &found["level"]), (&"numbers".into(), &"interval".into()));
    let pair = &found["groups"][0]["pairs"][0];
    assert_eq!((&pair["first"], &pair["second"], &pair["n"]), (&"people".into(), &"judge".into(), &4.into()));
    let figures = &pair["figures"];
    // d² sums to 2: 1 − 6·2/(4·15). Of 6 pairs of rows one is in the wrong order: (5 − 1)/6.
    close(value(figures, "spearman"), 0.8);
    close(value(figures, "kendall_tau_b"), 4.0 / 6.0);
    close(value(figures, "pearson"), 0.8);
    // 2 of 4 are equal; by chance 4·(1/4)² = ¼.
    close(value(figures, "exact_agreement"), 0.5);
    close(value(figures, "cohen_kappa"), 1.0 / 3.0);
    // 1 − 4·2/40, where Σᵢⱼ(aᵢ−bⱼ)² of 1 to 4 with themselves is 40.
    close(value(figures, "quadratic_kappa"), 0.8);
    // D_o = (2·1 + 2·1)/8, D_e = 4·40/(8·7).
    close(value(figures, "krippendorff_alpha"), 1.0 - 0.5 * 56.0 / 160.0);
    let accuracy = figure(figures, "balanced_accuracy");
    assert!(accuracy["value"].is_null());
    assert!(accuracy["why_none"].as_str().unwrap().contains("two labels"));
    // P24.
    assert_eq!((&found["method"]["seed"], &found["method"]["resamples"]), (&0.into(), &50.into()));
}

#[test]
fn the_plain_form_says_it_all() {
    let desk = Desk::with("four.csv", FOUR);
    let output = desk.run(&["four.csv", "--seed", "3"]);
    let text = stdout(&output);
    assert!(
        text.starts_with("four.csv: 4 rows. The labels are numbers and compared at the interval level."),
        "{text}"
    );
    assert!(text.contains("Spearman’s ρ") && text.contains(" 0.800  ("), "{text}");
    assert!(text.contains("Balanced accuracy") && text.contains("none: it needs two labels"), "{text}");
    assert!(text.contains("50 resamples of rows, seed 3"), "{text}");
    assert_eq!(stdout(&desk.run(&["four.csv", "--seed", "3"])), text);
}

#[test]
fn p22_missing_is_missing_and_no_label_is_reported() {
    let text = "a,b\n1,1\n,2\nN/A,3\n2,null\n4,4\n5,5\n3,x\n3,inf\n2,2\n1,2\n4,4\n5,5\n3,3\n";
    let desk = Desk::with("t.csv", text);
    let output = desk.run(&["t.csv", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["columns"][0]["missing"], 2);
    assert_eq!((&found["columns"][1]["missing"], &found["columns"][1]["not_labels"]), (&1.into(), &2.into()));
    assert_eq!(found["groups"][0]["pairs"][0]["n"], 8);
    assert_eq!(found["groups"][0]["pairs"][0]["only_one"], 5);
    let said = stderr(&output);
    assert!(said.contains("t.csv:8: column \"b\": \"x\" is no label"), "{said}");
    assert!(said.contains("t.csv:9: column \"b\": \"inf\" is no label"), "{said}");
    assert!(!stdout(&output).contains("NaN"));
}

#[test]
fn p32_lines_are_physical_after_line_ends_in_quotes() {
    let text = "\u{feff}note,a,b\r\n\"one\ntwo\r\nthree\",1,oops\r\n\r\n\"x\",2,2\r\nx,3,3\r\nx,3,3\r\nx,3,3\r\nx,3,3\r\ny,\"\n\nbad\",4";
    let desk = Desk::with("t.csv", text);
    let output = desk.run(&["t.csv", "--columns", "a,b", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    // The first record begins on line 2 and its note takes three lines, so the label stands on line 4.
    assert_eq!((&found["problems"][0]["line"], &found["problems"][0]["column"]), (&4.into(), &"b".into()));
    // 5 is empty, 6 to 10 are records, and the last record begins on line 11; its cell begins there too.
    assert_eq!((&found["problems"][1]["line"], &found["problems"][1]["column"]), (&11.into(), &"a".into()));
    assert_eq!(found["rows"], 7);
}

#[test]
fn p28_long_fields_and_cr_in_quotes() {
    let long = "word ".repeat(40_000);
    let text = format!("response,a,b\n\"{long}\",1,2\n\"one\rtwo\rthree\",2,1\nfour,3,3\n");
    let desk = Desk::with("t.csv", text);
    let found = desk.json(&["t.csv", "--text", "response"]);
    assert_eq!(found["rows"], 3);
    // 40,000, 3 and 1 words.
    assert_eq!(found["groups"][0]["bias"][0]["n"], 3);
    // Ranks 3, 2, 1 against 1, 2, 3.
    close(value(&found["groups"][0]["bias"][0]["figures"], "length_spearman"), -1.0);
}

#[test]
fn p26_json_in_every_shape() {
    let rows =
        [r#"{"id": 1, "a": 1, "b": 1}"#, r#"{"id": 2, "a": 2, "b": 3}"#, r#"{"id": 3, "a": 3, "b": 2}"#];
    let lines = format!("\u{feff}{}\r\n", rows.join("\r\n"));
    let array = format!("[\n{}\n]", rows.join(",\n"));
    let tsv = "id\ta\tb\n1\t1\t1\n2\t2\t3\n3\t3\t2".to_owned();
    let semicolons = "id;a;b\n1;1;1\n2;2;3\n3;3;2".to_owned();
    for (name, text) in [("t.jsonl", lines), ("t.jsonl", array), ("t.tsv", tsv), ("t.csv", semicolons)] {
        let found = Desk::with(name, text).json(&[name]);
        assert_eq!(found["rows"], 3);
        // The id is a number too, and no label. d² sums to 2: 1 − 6·2/(3·8).
        assert_eq!(found["groups"][0]["pairs"].as_array().unwrap().len(), 1);
        close(value(&found["groups"][0]["pairs"][0]["figures"], "spearman"), 0.5);
    }
    let nested = r#"{"score": {"x": 1, "y": 2}}
{"score": {"x": 2, "y": null}}
not json
{"score": {"x": [1], "y": 3}}
{"score": {"x": 4, "y": 3}}"#;
    let desk = Desk::with("t.jsonl", nested);
    let found = desk.json(&["t.jsonl", "--columns", "score.x,score.y"]);
    assert_eq!(found["groups"][0]["pairs"][0]["n"], 2);
    let lines: Vec<u64> = found["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [3, 4]);
}

#[test]
fn names_and_two_labels() {
    let text = "gold,judge\nyes,yes\nyes,no\nyes,yes\nno,no\nno,no\nyes,yes\n";
    let desk = Desk::with("t.csv", text);
    let found = desk.json(&["t.csv"]);
    assert_eq!((&found["labels"], &found["level"]), (&"names".into(), &"nominal".into()));
    let figures = &found["groups"][0]["pairs"][0]["figures"];
    // 5 of 6; by chance (4·3 + 2·3)/36 = ½; (5/6 − 1/2)/(1/2).
    close(value(figures, "exact_agreement"), 5.0 / 6.0);
    close(value(figures, "cohen_kappa"), 2.0 / 3.0);
    // 3 of 4 yes and 2 of 2 no were found.
    close(value(figures, "balanced_accuracy"), 0.875);
    assert!(figures.as_array().unwrap().iter().all(|figure| figure["name"] != "spearman"));
    let constant = Desk::with("t.csv", "a,b\nyes,yes\nyes,yes\n").json(&["t.csv", "--columns", "a,b"]);
    let kappa = figure(&constant["groups"][0]["pairs"][0]["figures"], "cohen_kappa").clone();
    assert!(kappa["value"].is_null());
    assert!(kappa["why_none"].as_str().unwrap().contains("all ratings are the same"));
}

#[test]
fn a_score_against_two_labels_has_an_area() {
    let text = "human,score\n0,0.2\n0,0.6\n1,0.5\n1,0.9\n";
    let found = Desk::with("t.csv", text).json(&["t.csv"]);
    // Of 4 pairs of a positive and a negative case one is the wrong way round.
    close(value(&found["groups"][0]["pairs"][0]["figures"], "auc"), 0.75);
}

#[test]
fn a_model_against_people() {
    let text = "p1,p2,p3,bot\n1,2,3,2\n4,4,4,5\n3,2,,1\n5,5,5,5\n";
    let desk = Desk::with("t.csv", text);
    let found = desk.json(&["t.csv", "--model", "bot", "--people", "p1,p2,p3"]);
    let group = &found["groups"][0];
    let names: Vec<&str> =
        group["pairs"].as_array().unwrap().iter().map(|pair| pair["first"].as_str().unwrap()).collect();
    assert_eq!(names, ["p1", "p2", "p3", "(mean of people)"]);
    assert!(group["pairs"].as_array().unwrap().iter().all(|pair| pair["second"] == "bot"));
    assert_eq!(group["pairs"][2]["n"], 3);
    // Means 2, 4, 2.5, 5 against 2, 5, 1, 5. Ranks 1, 3, 2, 4 and 2, 3.5, 1, 3.5: deviations from 2.5 give
    // (−1.5)(−.5) + (.5)(1) + (−.5)(−1.5) + (1.5)(1) = 3.5; squares sum to 5 and 4.5.
    close(value(&group["pairs"][3]["figures"], "spearman"), 3.5 / (5.0_f64 * 4.5).sqrt());
    assert_eq!(group["all"]["columns"], serde_json::json!(["p1", "p2", "p3"]));
    assert_eq!(found["columns"][3]["role"], "model");
    // Names: the majority, and none where there is a draw.
    let votes = "p1,p2,bot\nx,x,x\nx,y,y\ny,y,y\n";
    let found = Desk::with("t.csv", votes).json(&["t.csv", "--model", "bot", "--people", "p1,p2"]);
    assert_eq!(found["groups"][0]["pairs"][2]["first"], "(majority of people)");
    assert_eq!(found["groups"][0]["pairs"][2]["n"], 2);
    assert!(found["notes"][0].as_str().unwrap().contains("1 rows have no majority"));
}

#[test]
fn groups_and_clusters() {
    let text = "task,prompt,a,b\nx,1,1,1\nx,1,2,2\ny,2,1,2\ny,3,2,1\n,4,3,3\n";
    let desk = Desk::with("t.csv", text);
    let found = desk.json(&["t.csv", "--by", "task", "--cluster", "prompt"]);
    let by: Vec<&Value> = found["groups"].as_array().unwrap().iter().map(|group| &group["by"]).collect();
    assert_eq!(
        by,
        [
            &Value::Null,
            &serde_json::json!(["task", "(none)"]),
            &serde_json::json!(["task", "x"]),
            &serde_json::json!(["task", "y"])
        ]
    );
    close(value(&found["groups"][2]["pairs"][0]["figures"], "spearman"), 1.0);
    close(value(&found["groups"][3]["pairs"][0]["figures"], "spearman"), -1.0);
    // Both rows of x are about one prompt: there is nothing to draw.
    let spearman = figure(&found["groups"][2]["pairs"][0]["figures"], "spearman");
    assert!(spearman["interval"].is_null() && spearman["why_no_interval"].is_string());
    // Two of three labels in a group do not make it a matter of two labels.
    assert!(figure(&found["groups"][2]["pairs"][0]["figures"], "balanced_accuracy")["value"].is_null());
    // One row: undefined, with the reason.
    let one = figure(&found["groups"][1]["pairs"][0]["figures"], "spearman");
    assert!(one["value"].is_null() && one["why_none"].is_string());
}

#[test]
fn p20_length_and_place_of_the_preferred() {
    let text = "one,two,ann,bob,ann_swapped\n\
        a b c,a,A,A,A\n\
        a,a b,B,A,A\n\
        a b c d,a,B,B,tie\n\
        a,a b c,tie,B,B\n";
    let desk = Desk::with("t.csv", text);
    let found =
        desk.json(&["t.csv", "--columns", "ann,bob", "--text", "one,two", "--swapped", "ann_swapped"]);
    let ann = &found["groups"][0]["bias"][0]["figures"];
    // A, B, B, tie: (1 + ½)/4. The longer: won, won, lost, tie: 2.5/4. Gaps +2, +1, −3: mean 0.
    close(value(ann, "first_wins"), 0.375);
    close(value(ann, "longer_wins"), 0.625);
    close(value(ann, "winner_longer_by_words"), 0.0);
    let order = &found["groups"][0]["order"]["effects"];
    // A/A same, B/A reversed, B/tie half, tie/B half: (1 + 1)/4.
    assert_eq!((&order["same"], &order["reversed"], &order["half"]), (&1.into(), &1.into(), &2.into()));
    close(order["flip_rate"]["value"].as_f64().unwrap(), 0.5);
    // P2, P3: a label that merely holds an A is no vote for A.
    let odd = Desk::with("t.csv", "one,two,x,y\na,b,A maybe,B\na,b,B,B\n");
    let found = odd.json(&["t.csv", "--columns", "x,y", "--text", "one,two"]);
    let first = figure(&found["groups"][0]["bias"][0]["figures"], "first_wins");
    assert!(first["why_none"].as_str().unwrap().contains("A maybe"));
}

#[test]
fn labels_by_length() {
    let text =
        "response,a,b\none,no,no\none two,no,yes\none two three,yes,yes\none two three four five,yes,yes\n";
    let found = Desk::with("t.csv", text).json(&["t.csv", "--text", "response"]);
    let figures = &found["groups"][0]["bias"][0]["figures"];
    // Yes has 3 and 5 words, no 1 and 2.
    close(value(figures, "length_gap_words"), 2.5);
}

#[test]
fn what_cannot_be_compared_is_said_with_a_way_out() {
    let desk = Desk::with("t.csv", "id,text,a\n1,some words,1\n2,other words,2\n");
    let output = desk.run(&["t.csv"]);
    assert!(!output.status.success());
    assert!(
        stderr(&output).contains("name the columns with --columns. It has: id, text, a"),
        "{}",
        stderr(&output)
    );
    let output = desk.run(&["t.csv", "--columns", "a,a"]);
    assert!(stderr(&output).contains("there is only \"a\""), "{}", stderr(&output));
    let output = desk.run(&["t.csv", "--columns", "a,c"]);
    assert!(stderr(&output).contains("has no column \"c\"; it has: id, text, a"), "{}", stderr(&output));
    let output = desk.run(&["nothing.csv"]);
    assert!(stderr(&output).contains("nothing.csv could not be read"), "{}", stderr(&output));
    let output = Desk::with("t.csv", "a,a\n1,2\n").run(&["t.csv", "--columns", "a,a"]);
    assert!(stderr(&output).contains("several columns \"a\""), "{}", stderr(&output));
    let output = Desk::with("t.csv", "\n\n").run(&["t.csv"]);
    assert!(stderr(&output).contains("has no rows"), "{}", stderr(&output));
    let output = Desk::with("t.csv", FOUR).run(&["t.csv", "--resamples", "1"]);
    assert!(!output.status.success());
}
