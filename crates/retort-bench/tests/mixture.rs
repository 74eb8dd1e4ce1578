//! The mixture on small files of the tests' own: what goes in, what stays out, and that it is the same every time.

#![expect(clippy::unwrap_used, reason = "what a test needs and cannot have fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use retort_bench::mixture::{
    BaseModel, MANIFEST_FILE, Manifest, MixtureError, Pairs, ROWS_FILE, Settings, Sources, build,
};
use retort_bench::{DataDir, Split, Task, split};
use retort_lm::{Exchange, Flow, LmError, Segment, Segments, TextModel, Turn};
use serde_json::Value;

/// Reads as a model does whose tokens are words and whose template is a word.
struct Words;

impl TextModel for Words {
    fn count_tokens(&self, text: &Segments) -> Result<usize, LmError> {
        let words = |piece: &Segment| {
            let (Segment::Template(text) | Segment::User(text)) = piece;
            text.split_whitespace().count()
        };
        Ok(text.pieces().iter().map(words).sum())
    }

    fn context_length(&self) -> usize {
        2_000
    }

    fn turn(&self, system: Option<&Segments>) -> Result<Turn, LmError> {
        let open = Segments::new().template("<s> ");
        let open = system.into_iter().fold(open, |open, system| open.then(system)).template("\n");
        Ok(Turn { open, close: Segments::new().template(" </s>\n") })
    }

    fn exchange(&self) -> Result<Exchange, LmError> {
        Ok(Exchange { open: Segments::new(), between: Segments::new(), close: Segments::new() })
    }
}

const POLITE: &str = r#"
name = "polite"
title = "Whether a reply is polite"
family = "manners"
capability = "general_quality"
kind = "classification"
metric = "balanced_accuracy"
instructions = "A reply is polite if nobody would take offence at it."
question = "Is the reply polite?"
[[context]]
name = "prompt"
[[context]]
name = "response"
[[options]]
label = "no"
value = 0.0
[[options]]
label = "yes"
value = 1.0
[source]
repository = "someone/polite"
paper = "Nobody, Manners (2020)"
licence = "MIT"
labels = "human"
purpose = "training"
[reader]
files = ["rows.jsonl"]
group = "q"
fields = { prompt = "q", response = "a" }
label = { columns = ["l"], map = { "0" = "no", "1" = "yes" } }
"#;

const BETTER: &str = r#"
name = "better"
title = "Which reply is better"
family = "preference"
capability = "general_quality"
kind = "pairwise"
metric = "accuracy"
instructions = "The better reply answers what was asked."
question = "Which reply answers better?"
[[context]]
name = "prompt"
[alone]
instructions = "A good reply answers what was asked."
question = "Does the reply answer?"
[source]
repository = "someone/better"
paper = "Nobody, Betters (2020)"
licence = "Apache-2.0"
labels = "human"
purpose = "training"
[reader]
files = ["pairs.jsonl"]
group = "q"
fields = { prompt = "q" }
responses = ["x", "y"]
label = { columns = ["l"], map = { "x" = "first", "y" = "second", "=" = "tie" } }
"#;

const EXAM: &str = r#"
name = "exam"
title = "An exam"
family = "exam"
capability = "general_quality"
kind = "classification"
metric = "accuracy"
instructions = "Whether it is right."
question = "Is it right?"
[[context]]
name = "prompt"
[[context]]
name = "response"
[[options]]
label = "no"
value = 0.0
[[options]]
label = "yes"
value = 1.0
[source]
repository = "someone/exam"
paper = "Nobody, Exams (2020)"
licence = "none"
labels = "human"
purpose = "evaluation"
[reader]
files = ["exam.jsonl"]
group = "q"
fields = { prompt = "q", response = "a" }
label = { columns = ["l"], map = { "0" = "no", "1" = "yes" } }
"#;

struct Desk {
    folder: tempfile::TempDir,
    tasks: Vec<Task>,
    evaluation: Vec<Task>,
}

impl Desk {
    fn new(tasks: &[&str]) -> Self {
        let tasks = tasks.iter().map(|text| Task::read("test", text).unwrap()).collect();
        let desk = Self { folder: tempfile::tempdir().unwrap(), tasks, evaluation: Vec::new() };
        // 300 questions: a third polite; some of them twice.
        let polite = (0..400).fold(String::new(), |mut rows, n| {
            let q = n % 300;
            let _ = writeln!(
                rows,
                r#"{{"q":"What do you say of {q}?","a":"Answer <|im_end|> number {n}","l":"{}"}}"#,
                usize::from(n % 3 == 0)
            );
            rows
        });
        desk.file("data/someone+polite/rows.jsonl", &polite);
        // 200 pairs; the first is better in half, and longer in all but each fourth; each tenth is a tie.
        let better = (0..200).fold(String::new(), |mut rows, n| {
            let (long, short) = (format!("A long reply, number {n}"), format!("Short {n}"));
            let longer_wins = n % 4 != 0;
            let label = match (n % 10, n % 2 == 0) {
                (9, _) => "=",
                (_, true) => "x",
                (_, false) => "y",
            };
            let (x, y) = if (label == "x") == longer_wins { (long, short) } else { (short, long) };
            let _ = writeln!(rows, r#"{{"q":"Which is it, {n}?","x":"{x}","y":"{y}","l":"{label}"}}"#);
            rows
        });
        desk.file("data/someone+better/pairs.jsonl", &better);
        desk
    }

    fn with_exam(mut self, rows: &str) -> Self {
        self.evaluation = vec![Task::read("test", EXAM).unwrap()];
        self.file("data/someone+exam/exam.jsonl", rows);
        self
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn build(&self, out: &str, settings: &Settings) -> Result<Manifest, MixtureError> {
        self.watched(out, settings, &mut |_| Flow::Continue)
    }

    fn watched(
        &self,
        out: &str,
        settings: &Settings,
        watch: &mut dyn FnMut(retort_bench::mixture::Progress<'_>) -> Flow,
    ) -> Result<Manifest, MixtureError> {
        let sources = Sources {
            tasks: self.tasks.iter().collect(),
            evaluation: self.evaluation.iter().collect(),
            further: &[],
            data: &DataDir::new(self.out("data")),
            model: &Words,
            base: BaseModel { name: "words".into(), sha256: "0".into() },
        };
        build(&sources, settings, &self.out(out), watch)
    }

    fn rows(&self, out: &str, settings: &Settings) -> (Manifest, Vec<Value>) {
        let manifest = self.build(out, settings).unwrap();
        (manifest, rows(&self.out(out)))
    }
}

fn rows(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join(ROWS_FILE)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap()
}

fn text(segments: &Value) -> String {
    segments.as_array().unwrap().iter().map(|piece| piece[1].as_str().unwrap()).collect()
}

#[test]
fn two_runs_give_the_same_bytes_and_another_seed_does_not() {
    let desk = Desk::new(&[POLITE, BETTER]);
    let settings = Settings { rows: Some(150), pairs: Pairs::Both, ..Settings::default() };
    let (one, two) = (desk.build("one", &settings).unwrap(), desk.build("two", &settings).unwrap());
    assert_eq!(one, two);
    for name in [ROWS_FILE, MANIFEST_FILE] {
        let bytes = |out: &str| std::fs::read(desk.out(out).join(name)).unwrap();
        assert_eq!(bytes("one"), bytes("two"), "{name}");
    }
    let bytes = std::fs::read(desk.out("one").join(ROWS_FILE)).unwrap();
    assert_eq!(one.sha256, retort_judge::sha256_hex(&bytes));
    let other = desk.build("three", &Settings { seed: 1, ..settings }).unwrap();
    assert_ne!(one.sha256, other.sha256);
    assert_eq!(std::fs::read_dir(desk.out("one")).unwrap().count(), 2, "two files and nothing else");
}

#[test]
fn a_row_of_options_is_what_judging_asks() {
    let desk = Desk::new(&[POLITE]);
    let (_, rows) = desk.rows("out", &Settings { short_share: 0.0, ..Settings::default() });
    let row = rows.iter().find(|row| row["id"] == "rows.jsonl#1").unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(row).unwrap());
    // What people wrote is never text of ours.
    for row in &rows {
        for piece in row["segments"].as_array().unwrap() {
            let foreign = piece[1].as_str().unwrap().contains("<|im_end|>");
            assert!(!foreign || piece[0] == "u", "{row}");
        }
    }
}

const QUOTE: &str = r#"
name = "quote"
title = "The wrong sentence"
family = "faults"
capability = "factuality"
kind = "generation"
metric = "rouge_l"
instructions = "One sentence of the text is wrong; quote it."
question = "Which sentence is wrong?"
[[context]]
name = "prompt"
[source]
repository = "someone/quote"
paper = "Nobody, Quotes (2020)"
licence = "MIT"
labels = "human"
purpose = "training"
[reader]
files = ["rows.jsonl"]
fields = { prompt = "q" }
label = { text = "a" }
"#;

#[test]
fn labels_answer_for_the_skills_that_their_task_names() {
    let asked = POLITE.replace(
        "metric =",
        "skills = [\"harmlessness\"]\nnot_applicable = [\"logical_efficiency\"]\nmetric =",
    );
    let desk = Desk::new(&[&asked]);
    let (manifest, rows) =
        desk.rows("out", &Settings { skill_share: 1.0, short_share: 1.0, ..Settings::default() });
    let of = |rubric: &str| rows.iter().filter(|row| row["asked"] == *rubric).collect::<Vec<_>>();
    let (harmless, beside) = (of("harmlessness"), of("logical_efficiency"));
    assert_eq!(harmless.len() + beside.len(), rows.len());
    // One in five, give or take what chance does to so many rows.
    assert!(
        (rows.len() / 10..rows.len() * 3 / 10).contains(&beside.len()),
        "{} of {}",
        beside.len(),
        rows.len()
    );
    assert_eq!(manifest.tasks["polite"].asked["harmlessness"], harmless.len());
    for row in &beside {
        assert_eq!(row["target"], serde_json::json!([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), "does not apply");
    }
    for row in &harmless {
        // Yes is on the upper side of the middle, no on the lower, and neither says how far.
        let target: Vec<f64> =
            row["target"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        let is = |wanted: [f64; 6]| target.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9);
        let (yes, no) = ([0.0, 0.0, 0.0, 0.4, 0.6, 0.0], [0.6, 0.4, 0.0, 0.0, 0.0, 0.0]);
        assert!(is(yes) || is(no), "{target:?}");
        assert_eq!(row["task"], "polite");
        let text = text(&row["segments"]);
        assert!(text.contains("Answer only with one of: 1, 2, 3, 4, 5, NA."), "{text}");
    }
}

#[test]
fn variants_are_pairs_whose_right_answer_is_known() {
    let asked = POLITE.replace("metric =", "variants = [\"mismatched\"]\nmetric =");
    let pairs = BETTER.replace(
        "metric =",
        "overall = true\nvariants = [\"longer_worse\", \"majority\", \"beside\"]\nmetric =",
    );
    let desk = Desk::new(&[&asked, &pairs]);
    let settings = Settings { variant_share: 1.0, short_share: 1.0, ..Settings::default() };
    let (manifest, rows) = desk.rows("out", &settings);
    let varied: Vec<&Value> =
        rows.iter().filter(|row| row["task"].as_str().unwrap().starts_with("variant_")).collect();
    let counted: usize = manifest.tasks.values().flat_map(|task| task.variants.values()).sum();
    assert_eq!(counted, varied.len());
    assert_eq!(manifest.rows, rows.len());
    for row in &varied {
        let target = row["target"].as_array().unwrap();
        assert!(target.contains(&serde_json::json!(1.0)), "known: {row}");
        let better = usize::from(target[1] == 1.0);
        let sides = ["first", "second"].map(|side| text(&row[side]));
        match row["task"].as_str().unwrap() {
            "variant_longer_worse" => assert!(sides[better].len() < sides[1 - better].len(), "{row}"),
            // The majority is on one side, and by what is said nobody can tell which.
            "variant_majority" => {
                assert_eq!(sides.iter().filter(|side| side.contains("What other people say:")).count(), 1);
            }
            "variant_mismatched" => assert_ne!(sides[0], sides[1]),
            "variant_beside" => {}
            other => panic!("{other}"),
        }
        let options = row["options"].as_array().unwrap().len();
        assert_eq!(row["values"].is_array(), options > 2, "{row}");
    }
    let with_the_majority = varied.iter().filter(|row| {
        let better = usize::from(row["target"][1] == 1.0);
        row["task"] == "variant_majority"
            && text(&row[["first", "second"][better]]).contains("What other people say:")
    });
    let of_the_kind = varied.iter().filter(|row| row["task"] == "variant_majority").count();
    let share = with_the_majority.count() * 100 / of_the_kind;
    // A coin, thrown some 60 times.
    assert!((25..=75).contains(&share), "{share}% of majorities are with the better one");
}

#[test]
fn free_text_is_a_prompt_without_options_and_its_answer() {
    let desk = Desk::new(&[QUOTE]);
    desk.file(
        "data/someone+quote/rows.jsonl",
        "{\"q\":\"Ice is hot. Snow is white.\",\"a\":\"Ice is hot.\"}\n",
    );
    let settings =
        Settings { short_share: 0.0, part: split("Ice is hot. Snow is white."), ..Settings::default() };
    let (_, rows) = desk.rows("out", &settings);
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((&row["kind"], &row["answer"]), (&"text".into(), &"Ice is hot.".into()));
    assert_eq!((row["options"].as_array().unwrap().len(), row["target"].as_array().unwrap().len()), (0, 0));
    let prompt = text(&row["segments"]);
    // Context, instructions, evaluation, in this order, and no offer of answers.
    let places: Vec<usize> =
        ["Snow is white.", "One sentence of the text is wrong; quote it.", "Write the answer.", "Answer:"]
            .iter()
            .map(|part| prompt.find(part).unwrap())
            .collect();
    assert!(places.is_sorted(), "{prompt}");
    assert!(!prompt.contains("Answer only with one of"), "{prompt}");
}

#[test]
fn a_pair_alone_is_two_prompts_and_its_target_follows_them() {
    let desk = Desk::new(&[BETTER]);
    let (manifest, rows) = desk.rows("out", &Settings { short_share: 1.0, ..Settings::default() });
    assert_eq!(rows.len(), manifest.tasks["better"].picked);
    let mut first_wins = 0;
    for row in &rows {
        assert_eq!(row["kind"], "pair");
        let id = row["id"].as_str().unwrap();
        let n: usize = id.split('#').next_back().unwrap().parse::<usize>().unwrap() - 1;
        // As the file was made: which of the two is the better one.
        let expected = match (n % 10, !n.is_multiple_of(4)) {
            (9, _) => None,
            (_, true) => Some("A long"),
            (_, false) => Some("Short"),
        };
        let (first, second) = (text(&row["first"]), text(&row["second"]));
        assert!(first.contains("Does the reply answer?") && first.contains(&format!("Which is it, {n}?")));
        let target: Vec<f64> =
            row["target"].as_array().unwrap().iter().map(|t| t.as_f64().unwrap()).collect();
        match expected {
            None => assert_eq!(target, [0.5, 0.5]),
            Some(better) => {
                let winner = if target == [1.0, 0.0] { &first } else { &second };
                assert!(winner.contains(better), "{row}");
                first_wins += usize::from(target == [1.0, 0.0]);
            }
        }
    }
    // A coin for each of some 160: five standard deviations are 32.
    assert!(first_wins.abs_diff(rows.len() * 9 / 20) < 32, "{first_wins} of {}", rows.len());
}

#[test]
fn p2_pairs_together_come_in_both_orders() {
    let desk = Desk::new(&[BETTER]);
    let settings = Settings { pairs: Pairs::Together, rows: Some(101), ..Settings::default() };
    let (manifest, rows) = desk.rows("out", &settings);
    // An odd number of rows is no number of pairs.
    assert_eq!((manifest.rows, rows.len()), (100, 100));
    let mut by_id: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for row in &rows {
        assert_eq!(row["options"], serde_json::json!([["B", " B"], ["A", " A"]]));
        by_id.entry(row["id"].as_str().unwrap()).or_default().push(row);
    }
    for both in by_id.values() {
        let [one, other] = both.as_slice() else { unreachable!("each pair has two rows") };
        let orders: BTreeSet<&str> = [one, other].map(|row| row["order"].as_str().unwrap()).into();
        assert_eq!(orders, BTreeSet::from(["ab", "ba"]));
        let target = |row: &Value| row["target"].as_array().unwrap().clone();
        let mut turned = target(other);
        turned.reverse();
        assert_eq!(target(one), turned);
        // The response that wins stands where the target says: of [B, A] the second number is A's.
        let a_wins = target(one)[1].as_f64().unwrap();
        let prompt = text(&one["segments"]);
        let a = prompt.split("Response A").nth(1).unwrap().split("Response B").next().unwrap();
        let id = one["id"].as_str().unwrap();
        let n: usize = id.split('#').next_back().unwrap().parse::<usize>().unwrap() - 1;
        if n % 10 != 9 {
            assert_eq!(a.contains("A long") != n.is_multiple_of(4), a_wins > 0.5, "{one}");
        }
    }
}

#[test]
fn a_document_is_on_one_side_in_every_task() {
    let desk = Desk::new(&[POLITE]);
    let mut groups: Vec<BTreeSet<String>> = Vec::new();
    for part in retort_bench::Part::ALL {
        let (manifest, rows) = desk.rows(part.name(), &Settings { part, ..Settings::default() });
        assert_eq!(manifest.tasks["polite"].split.values().sum::<usize>(), 400);
        assert_eq!(rows.len(), manifest.tasks["polite"].split[&part]);
        for row in &rows {
            assert_eq!(row["part"], part.name());
            let prompt = text(&row["segments"]);
            let q = prompt.split("What do you say of ").nth(1).unwrap().split('?').next().unwrap();
            assert_eq!(split(&format!("what do you say of {q}")), part);
        }
        groups.push(rows.iter().map(|row| row["group"].as_str().unwrap().to_owned()).collect());
    }
    assert!(groups[0].is_disjoint(&groups[1]) && groups[0].is_disjoint(&groups[2]));
    assert_eq!(groups.iter().map(BTreeSet::len).sum::<usize>(), 300);
}

#[test]
fn classes_weigh_the_same() {
    let desk = Desk::new(&[POLITE]);
    let all = Settings { split: Split { test: 0.0, validation: 0.0, seed: 0 }, ..Settings::default() };
    let yes = |row: &Value| row["target"][1].as_f64().unwrap();
    let shares = |rows: &[Value]| {
        let weight: f64 = rows.iter().map(|row| number(row, "weight")).sum();
        let of_yes: f64 = rows.iter().map(|row| yes(row) * number(row, "weight")).sum();
        (weight / rows.len() as f64, of_yes / weight)
    };
    // All 400, 134 of them "yes" (0, 3, …, 399): by weight.
    let (_, rows) = desk.rows("all", &all);
    assert_eq!(rows.iter().filter(|row| yes(row) > 0.5).count(), 134);
    let (mean, share) = shares(&rows);
    assert!((mean - 1.0).abs() < 1e-5 && (share - 0.5).abs() < 1e-5, "{mean} {share}");
    // 200 of them: by choice, and all weigh 1.
    let (_, rows) = desk.rows("some", &Settings { rows: Some(200), ..all.clone() });
    assert_eq!(rows.iter().filter(|row| yes(row) > 0.5).count(), 100);
    assert!(rows.iter().all(|row| (number(row, "weight") - 1.0).abs() < 1e-9));
    // Unbalanced: as they come.
    let (_, rows) = desk.rows("plain", &Settings { balance: false, ..all });
    assert!((shares(&rows).1 - 134.0 / 400.0).abs() < 1e-9);
}

#[test]
fn length_is_reported_and_can_be_balanced() {
    let desk = Desk::new(&[BETTER]);
    let all = Settings { split: Split { test: 0.0, validation: 0.0, seed: 0 }, ..Settings::default() };
    // 20 of 200 are ties, all at n % 4 in {1, 3}: of the other 180, 50 have n % 4 = 0, so the longer wins 130.
    let manifest = desk.build("plain", &all).unwrap();
    let longer = manifest.tasks["better"].longer.unwrap();
    assert!((longer.before.unwrap() - 130.0 / 180.0).abs() < 1e-12);
    assert_eq!(longer.before, longer.after);
    let manifest = desk.build("level", &Settings { balance_length: true, ..all.clone() }).unwrap();
    let longer = manifest.tasks["better"].longer.unwrap();
    assert!((longer.before.unwrap() - 130.0 / 180.0).abs() < 1e-12);
    assert!((longer.after.unwrap() - 0.5).abs() < 1e-9);
    let settings = Settings { balance_length: true, rows: Some(80), ..all };
    let (manifest, rows) = desk.rows("few", &settings);
    assert!((manifest.tasks["better"].longer.unwrap().after.unwrap() - 0.5).abs() < 1e-9);
    // 80 × 20/200 = 8 ties, and 36 and 36.
    assert_eq!(rows.iter().filter(|row| row["target"][0] == 0.5).count(), 8);
    assert_eq!(manifest.tasks["better"].classes.iter().map(|c| c.picked).collect::<Vec<_>>(), [36, 36, 8]);
}

#[test]
fn what_an_evaluation_set_knows_stays_out_and_is_reported() {
    let exam = concat!(
        r#"{"q":"What do you SAY of 7","a":"Answer  im_end  number 9","l":"0"}"#,
        "\n",
        r#"{"q":"Yes.","a":"An answer of some length that has thirteen words in it, as one counts them: number twelve","l":"0"}"#,
        "\n",
        "{}\n",
    );
    let desk = Desk::new(&[POLITE]).with_exam(exam);
    let (manifest, rows) = desk.rows("out", &Settings::default());
    // Question 7 occurs twice (7 and 307). The exam's short response is no reason, though it recurs.
    assert_eq!(manifest.tasks["polite"].dropped, 2);
    let dropped = serde_json::to_value(&manifest.dropped).unwrap();
    let expected = serde_json::json!({"polite": {"exam": {"whole": {
        "examples": 2, "ids": ["rows.jsonl#8", "rows.jsonl#308"]
    }}}});
    assert_eq!(dropped, expected);
    assert!(rows.iter().all(|row| !text(&row["segments"]).contains("say of 7?")));
    assert_eq!(manifest.evaluation[0].problems, 1);
    assert!(
        manifest
            .summary()
            .contains("polite / exam: 2 by the same text (such as rows.jsonl#8, rows.jsonl#308)")
    );
}

#[test]
fn an_absent_evaluation_set_is_an_error_unless_allowed() {
    let mut desk = Desk::new(&[POLITE]);
    desk.evaluation = vec![Task::read("test", EXAM).unwrap()];
    let error = desk.build("out", &Settings::default()).unwrap_err();
    assert!(matches!(&error, MixtureError::Evaluation { set, .. } if set == "exam"), "{error}");
    assert!(!desk.out("out").join(ROWS_FILE).exists());
    assert_eq!(std::fs::read_dir(desk.out("out")).unwrap().count(), 0);
    let settings = Settings { allow_missing: true, ..Settings::default() };
    let manifest = desk.build("out", &settings).unwrap();
    assert!(manifest.evaluation[0].missing.is_some());
    assert!(manifest.summary().contains("exam is absent"));
}

#[test]
fn tasks_that_may_not_be_trained_on_are_refused_by_name() {
    let refused = POLITE.replace("\"MIT\"", "\"CC-BY-NC-4.0\"").replace("\"polite\"", "\"rude\"");
    let desk = Desk::new(&[POLITE, &refused]);
    let error = desk.build("out", &Settings::default()).unwrap_err().to_string();
    assert!(error.contains("rude") && error.contains("CC-BY-NC-4.0"), "{error}");
    let manifest = desk.build("out", &Settings { skip_unfit: true, ..Settings::default() }).unwrap();
    assert!(manifest.skipped["rude"].contains("CC-BY-NC-4.0"));
    assert_eq!(manifest.tasks.keys().collect::<Vec<_>>(), ["polite"]);

    let model_made = POLITE.replace("labels = \"human\"", "labels = \"model\"");
    let error = Desk::new(&[&model_made]).build("out", &Settings::default()).unwrap_err().to_string();
    assert!(error.contains("polite") && error.contains("made by a model"), "{error}");
    let exam = Desk::new(&[EXAM]).build("out", &Settings::default()).unwrap_err().to_string();
    assert!(exam.contains("evaluation only"), "{exam}");
}

#[test]
fn caps_sizes_and_weights() {
    let desk = Desk::new(&[POLITE, BETTER]);
    let all = Settings { split: Split { test: 0.0, validation: 0.0, seed: 0 }, ..Settings::default() };
    let counts = |manifest: &Manifest| (manifest.tasks["polite"].rows, manifest.tasks["better"].rows);
    // 400 and 200 examples.
    assert_eq!(counts(&desk.build("a", &all).unwrap()), (400, 200));
    assert_eq!(counts(&desk.build("b", &Settings { cap: 100, ..all.clone() }).unwrap()), (100, 100));
    assert_eq!(counts(&desk.build("c", &Settings { rows: Some(60), ..all.clone() }).unwrap()), (40, 20));
    let weights = |pairs: &[(&str, f64)]| {
        Some(pairs.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect::<BTreeMap<_, _>>())
    };
    let weighted =
        Settings { rows: Some(80), weights: weights(&[("polite", 1.0), ("better", 3.0)]), ..all.clone() };
    assert_eq!(counts(&desk.build("d", &weighted).unwrap()), (20, 60));
    let only = Settings { weights: weights(&[("better", 1.0)]), ..weighted.clone() };
    let manifest = desk.build("e", &only).unwrap();
    assert_eq!(manifest.tasks.keys().collect::<Vec<_>>(), ["better"]);
    let unknown = Settings { weights: weights(&[("beter", 1.0)]), ..weighted };
    assert!(desk.build("f", &unknown).unwrap_err().to_string().contains("beter"));
}

#[test]
fn what_is_too_long_is_cut_or_left_out_and_counted() {
    let desk = Desk::new(&[POLITE]);
    let long = "word ".repeat(3_000);
    let row = |a: &str| format!(r#"{{"q":"Another question?","a":"{a}","l":"1"}}"#);
    desk.file("data/someone+polite/rows.jsonl", &format!("{}\n{}\n", row("Short."), row(&long)));
    let (manifest, rows) = desk.rows("out", &Settings::default());
    let report = &manifest.tasks["polite"];
    assert_eq!((report.truncated, report.too_long, rows.len()), (1, 0, 2));
    assert!(rows.iter().all(|row| number(row, "tokens") <= 2_000.0));
    let short = Settings { max_tokens: Some(160), ..Settings::default() };
    let (manifest, rows) = desk.rows("short", &short);
    assert_eq!(manifest.tasks["polite"].truncated, 1);
    assert!(rows.iter().all(|row| number(row, "tokens") <= 160.0));
    // So short that nothing of the long text would be left: it goes, the other stays or there is nothing at all.
    let shortest = Settings { max_tokens: Some(20), ..Settings::default() };
    let error = desk.build("shortest", &shortest).unwrap_err();
    assert!(matches!(error, MixtureError::Nothing(_)), "{error}");
    assert_eq!(std::fs::read_dir(desk.out("shortest")).unwrap().count(), 0);
}

#[test]
fn wordings_are_mixed_in_the_share_asked_for() {
    let desk = Desk::new(&[POLITE]);
    let (_, rows) = desk.rows("out", &Settings { short_share: 0.25, ..Settings::default() });
    let short = rows.iter().filter(|row| row["wording"] == "short").count();
    // Some 360 rows: 90 with a standard deviation of 8.
    assert!(short.abs_diff(rows.len() / 4) < 41, "{short} of {}", rows.len());
    for row in &rows {
        let text = text(&row["segments"]);
        assert_eq!(row["wording"] == "short", text.contains("Is the reply polite?"));
        assert_eq!(row["wording"] == "full", text.contains("take offence"));
    }
}

#[test]
fn stopping_leaves_nothing_and_nothing_is_overwritten() {
    let desk = Desk::new(&[POLITE]);
    for phase in [
        retort_bench::mixture::Phase::Reading,
        retort_bench::mixture::Phase::Writing,
        retort_bench::mixture::Phase::Ordering,
    ] {
        let outcome = desk.watched("out", &Settings::default(), &mut |step| {
            if step.phase == phase { Flow::Stop } else { Flow::Continue }
        });
        assert!(matches!(outcome, Err(MixtureError::Stopped)), "{phase:?}");
        assert_eq!(std::fs::read_dir(desk.out("out")).unwrap().count(), 0, "{phase:?}");
    }
    desk.build("out", &Settings::default()).unwrap();
    let error = desk.build("out", &Settings::default()).unwrap_err();
    assert!(matches!(error, MixtureError::Exists { .. }), "{error}");
}

#[test]
fn a_bad_row_is_reported_and_costs_nothing_else() {
    let desk = Desk::new(&[POLITE]);
    let rows = "{\"q\":\"A question?\",\"a\":\"An answer\",\"l\":\"1\"}\nnonsense\n\
                {\"q\":\"A question?\",\"a\":\"Another\",\"l\":\"7\"}\n";
    desk.file("data/someone+polite/rows.jsonl", rows);
    let manifest = desk.build("out", &Settings::default()).unwrap();
    let report = &manifest.tasks["polite"];
    assert_eq!((report.read, report.problems, report.rows), (1, 2, 1));
    assert!(report.first_problems[0].starts_with("rows.jsonl:2:"), "{:?}", report.first_problems);
    assert!(manifest.summary().contains("polite: 2 rows could not be used"));
}

/// Many rows pass through a sample of few: what is held is the sample and not the rows. The peak of a million rows is in
/// the command's own measurement; here it is the sample's limit that is checked, in `sample.rs`, and that a big file
/// gives exactly what it should.
#[test]
fn a_big_file_gives_a_small_mixture() {
    let desk = Desk::new(&[POLITE]);
    let rows = (0..30_000).fold(String::new(), |mut rows, n| {
        let _ =
            writeln!(rows, r#"{{"q":"Number {n}?","a":"Answer {n}","l":"{}"}}"#, usize::from(n % 50 == 0));
        rows
    });
    desk.file("data/someone+polite/rows.jsonl", &rows);
    let (manifest, rows) = desk.rows("out", &Settings { rows: Some(600), ..Settings::default() });
    assert_eq!((manifest.tasks["polite"].read, rows.len()), (30_000, 600));
    let yes = rows.iter().filter(|row| row["target"][1] == 1.0).count();
    assert_eq!(yes, 300, "of some 540 there are, as many as of the others");
}
