//! The exams of CoBBLEr and FLASK from files in their original shape, with rows that are wrong.

use std::path::PathBuf;

use retort_bench::protocol::cobbler::{Cobbler, CobblerSettings};
use retort_bench::protocol::flask::{Flask, FlaskSettings};
use retort_bench::protocol::verbosity::{Verbosity, VerbositySettings};
use retort_bench::{Answers, DataDir, Exam, Example, Target};

fn fixtures() -> DataDir {
    DataDir::new(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"))
}

#[expect(clippy::unwrap_used, reason = "a test's own files")]
fn examples(task: &str) -> (Vec<Example>, Vec<String>) {
    let (mut examples, mut problems) = (Vec::new(), Vec::new());
    let task = &retort_bench::tasks().unwrap()[task];
    let counts = retort_bench::read(task, &fixtures(), &mut |item| match item {
        Ok(example) => examples.push(example),
        Err(problem) => problems.push(problem.to_string()),
    })
    .unwrap();
    assert_eq!((counts.examples, counts.problems), (examples.len(), problems.len()));
    (examples, problems)
}

#[test]
fn cobbler_reads_pairs_and_reports_what_is_wrong() {
    let (examples, problems) = examples("cobbler");
    let ids: Vec<&str> = examples.iter().map(|example| example.id.as_str()).collect();
    // Of the second instruction one response is no text, the third has no instruction.
    assert_eq!(ids, ["1/auk+gull", "1/auk+tern", "1/gull+tern", "2/auk+tern"]);
    assert_eq!(
        problems,
        [
            "competitive-llms/human/batches/human_annotations/annot_3.json:1: two systems have the same rank; this \
             person's ranking is left out",
            "competitive-llms/human/batches/normalized_human_ranking.json:2: the response of gull is no text; its pairs \
             are skipped",
            "competitive-llms/human/batches/normalized_human_ranking.json:3: the instruction is missing or is no text; \
             its pairs are skipped",
        ]
    );
    // Five people are left for the first instruction: one ranks tern above gull. Six for the second: one ranks auk above
    // tern.
    let gull = &examples[2];
    assert_eq!(gull.raters, 5);
    assert_eq!(gull.target, Target::Preference { first: 0.8, second: 1.0 - 0.8, tie: 0.0 });
    assert_eq!(gull.extra["first_ranks"], "2,1,,2,2,2");
    let Target::Preference { first, .. } = examples[3].target else { panic!("{:?}", examples[3]) };
    assert!((first - 1.0 / 6.0).abs() < 1e-12);

    let exam = Cobbler::from_data(&fixtures(), CobblerSettings::default()).unwrap();
    assert_eq!((exam.pairs(), exam.problems().len()), ((4, 4), 3));
    let asks = exam.asks();
    let mut ids: Vec<&str> = asks.iter().map(|ask| ask.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), asks.len(), "every ask has an id of its own");
    for ask in &asks {
        assert_eq!(ask.keys.len(), ask.inquiry.questions.len());
    }
    assert!(
        exam.tables(&Answers::default())[0]
            .notes
            .iter()
            .any(|note| note.starts_with("3 rows could not be read"))
    );
}

#[test]
fn flask_reads_instructions_outputs_and_scores() {
    let (examples, problems) = examples("flask");
    assert_eq!(examples.len(), 3);
    assert_eq!(examples[1].target, Target::Text("pass".to_owned()));
    assert_eq!(examples[0].subset.as_deref(), Some("natural_science"));
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(
        problems[0].starts_with("evaluation_set/flask_evaluation.jsonl:4: the row is no JSON"),
        "{problems:?}"
    );
    assert!(problems[1].contains("flask_evaluation.jsonl:3: there is no skill \"Bravery\""), "{problems:?}");
    assert!(
        problems[2].contains("flask_evaluation.jsonl:5: there is an instruction 1 already"),
        "{problems:?}"
    );

    let scores = fixtures().path().join("FLASK/brook_review.jsonl");
    let exam = Flask::from_data(&fixtures(), &[], &[scores], FlaskSettings::default()).unwrap();
    let problems: Vec<String> = exam.problems().iter().map(ToString::to_string).collect();
    assert!(
        problems[3].starts_with("model_output/outputs/brook.jsonl:2: the response is missing or empty"),
        "{problems:?}"
    );
    // Five responses, four conditions.
    assert_eq!(exam.asks().len(), 20);
    let tables = exam.tables(&Answers::default());
    let titles: Vec<&str> = tables.iter().map(|table| table.title.as_str()).collect();
    assert_eq!(
        titles[..3],
        ["FLASK: profile of brook", "FLASK: profile of river", "FLASK: agreement with brook_review"]
    );
    assert!(
        tables[2].notes[0].starts_with("3 scores of responses that are examined; 0 rows"),
        "{}",
        tables[2].notes[0]
    );
    let none =
        Flask::from_data(&fixtures(), &["lake".to_owned()], &[], FlaskSettings::default()).unwrap_err();
    assert!(none.to_string().contains("model_output/outputs/lake.jsonl"), "{none}");
}

#[test]
fn verbosity_is_built_from_reference_answers() {
    // None of the fixtures' references has 60 characters; what GSM8K gives depends on other tasks' fixtures.
    let exam = Verbosity::from_data(&fixtures(), VerbositySettings::default()).unwrap();
    assert!(exam.asks().len().is_multiple_of(10));
}

/// 1,740 instructions, 15 models of 1,700 outputs, 22 of them (davinci_003's) empty.
#[test]
#[ignore = "needs the public data; set RETORT_DATA"]
fn flask_and_verbosity_have_the_public_counts() {
    let data = DataDir::new(std::env::var("RETORT_DATA").unwrap());
    let mut examples = 0;
    retort_bench::read(&retort_bench::tasks().unwrap()["flask"], &data, &mut |item| {
        item.unwrap();
        examples += 1;
    })
    .unwrap();
    assert_eq!(examples, 1740);
    let models = ["alpaca_13b".to_owned(), "davinci_003".to_owned()];
    let exam = Flask::from_data(&data, &models, &[], FlaskSettings::default()).unwrap();
    assert_eq!(exam.problems().len(), 22);
    assert_eq!(exam.asks().len(), 4 * (2 * 1700 - 22));
    let all = VerbositySettings { limit: None, ..VerbositySettings::default() };
    let items = Verbosity::from_data(&data, all).unwrap().items();
    assert_eq!(items, 494 + 1319);
}
