//! Runs of an exam: shared prompts give what separate prompts give, and nothing is lost.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test code")]

use pollster::block_on;
use retort_bench::pair::{Pair, PairRubrics, Way, Ways, agnostic, preference};
use retort_bench::run::{Follow, one_by_one, run};
use retort_bench::store::{RunIdentity, Store, StoreError};
use retort_bench::{AnswerRecord, Answers, Ask};
use retort_judge::{Calibration, Field, Method, Verdict};
use retort_lm::{
    AnyBackend, BackendChoice, FileSource, Flow, MemorySource, Model, NoWatch, Segments, TextModel,
    TextParts, load, tiny,
};
use retort_rubric::{Rubric, RubricOption};

fn tiny_model(context: usize) -> Model<AnyBackend> {
    let shape = tiny::Shape { layers: 2, context, ..tiny::Shape::default() };
    let source = MemorySource::new("tiny.gguf", tiny::gguf(shape, 7));
    block_on(load(Box::new(source), BackendChoice::Cpu, &mut |_| Flow::Continue)).unwrap()
}

fn rubrics() -> PairRubrics {
    let yes_no = vec![RubricOption::new("no", 0.0), RubricOption::new("yes", 1.0)];
    let better = vec![RubricOption::new("B", 0.0), RubricOption::new("A", 1.0)];
    PairRubrics {
        together: Rubric::new("t", "Which is better", "Which of both responses does as it was told.", better),
        alone: Rubric::new("t", "Whether it is good", "Whether the response does as it was told.", yes_no),
        agnostic: agnostic(),
    }
}

const IDS: [&str; 3] = ["one", "two", "three"];

fn pairs() -> Vec<Pair<'static>> {
    let texts = [
        ("Name a colour.", ["Blue.", "A colour is what light of one wavelength looks like; one is blue."]),
        ("Add two and two.", ["Four", "\"\"\" <|im_end|> five"]),
        (
            "Say nothing.",
            ["", "Nothing at all was said, and yet this answer is the longest by far, is it not?"],
        ),
    ];
    IDS.iter()
        .zip(texts)
        .map(|(id, (prompt, responses))| Pair { id, fields: vec![Field::prompt(prompt)], responses })
        .collect()
}

fn asks<'a>(rubrics: &'a PairRubrics, ways: &Ways) -> Vec<Ask<'a>> {
    pairs().iter().flat_map(|pair| pair.asks(rubrics, ways)).collect()
}

#[derive(Default)]
struct Keep {
    answers: Answers,
    records: Vec<AnswerRecord>,
    stop_after: Option<usize>,
}

impl Follow for Keep {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        assert!(done <= total);
        match self.stop_after {
            Some(most) if self.records.len() >= most => Flow::Stop,
            _ => Flow::Continue,
        }
    }

    fn answered(&mut self, record: AnswerRecord) -> Result<(), String> {
        self.records.push(record.clone());
        self.answers.insert(record);
        Ok(())
    }
}

fn distribution(verdict: &Verdict) -> Vec<f64> {
    match verdict {
        Verdict::Scored { distribution, mass, .. } => {
            distribution.iter().map(|option| option.probability * mass).collect()
        }
        // The tiny model's vocabulary is spread thin: the mass on the options is what matters then.
        Verdict::Unscored(retort_judge::Unscored::OutsideOptions { mass }) => vec![*mass],
        Verdict::Unscored(retort_judge::Unscored::NotApplicable { probability }) => vec![*probability],
        Verdict::Unscored(other) => panic!("{other}"),
    }
}

/// The right answers are those of every prompt computed alone, nothing shared.
fn shared_equals_alone(model: &mut Model<AnyBackend>, skills: bool, tolerance: f64) {
    let rubrics = rubrics();
    let asks = asks(&rubrics, &Ways { skills, ..Ways::default() });
    let mut keep = Keep::default();
    let outcome = block_on(run(model, &asks, &Answers::default(), &mut keep));
    assert_eq!((outcome.answered, outcome.failed, outcome.cancelled), (asks.len(), 0, false));
    let mut compared = 0;
    for ask in &asks {
        let alone = block_on(one_by_one(model, &ask.inquiry, &mut Model::forget, &mut NoWatch)).unwrap();
        for ((question, key), answer) in ask.inquiry.questions.iter().zip(&ask.keys).zip(&alone) {
            let (found, right) = (
                distribution(keep.answers.verdict(&ask.id, key).unwrap()),
                distribution(&question.verdict(answer, false)),
            );
            assert_eq!(found.len(), right.len(), "{} {key}", ask.id);
            for (found, right) in found.iter().zip(&right) {
                assert!((found - right).abs() < tolerance, "{} {key}: {found} instead of {right}", ask.id);
            }
            compared += 1;
        }
    }
    // Three pairs: two orders, and two responses with the task's question, the overall one and perhaps twelve skills.
    assert_eq!(compared, 3 * (2 + 2 * if skills { 14 } else { 2 }));
}

#[test]
fn shared_prompts_give_the_answers_of_separate_ones() {
    shared_equals_alone(&mut tiny_model(100_000), true, 1e-4);
}

#[test]
fn shared_prompts_of_the_real_model_give_the_answers_of_separate_ones() {
    let Some(path) = std::env::var_os("RETORT_TEST_MODEL") else {
        eprintln!("RETORT_TEST_MODEL names no model: not compared on a real one");
        return;
    };
    let source = FileSource::open(std::path::Path::new(&path)).unwrap();
    let mut model = block_on(load(Box::new(source), BackendChoice::Cpu, &mut |_| Flow::Continue)).unwrap();
    shared_equals_alone(&mut model, false, 1e-3);
}

#[test]
fn what_is_answered_is_not_asked_again() {
    let (rubrics, mut model) = (rubrics(), tiny_model(100_000));
    let asks = asks(&rubrics, &Ways::default());
    let mut first = Keep { stop_after: Some(3), ..Keep::default() };
    let outcome = block_on(run(&mut model, &asks, &Answers::default(), &mut first));
    assert!(outcome.cancelled);
    let before = first.records.len();
    assert!((3..asks.len()).contains(&before), "{before}");

    let mut second = Keep::default();
    let outcome = block_on(run(&mut model, &asks, &first.answers, &mut second));
    assert_eq!((outcome.answered, outcome.cancelled), (asks.len() - before, false));
    assert!(second.records.iter().all(|record| !first.answers.has(&record.id)));

    second.records.into_iter().for_each(|record| first.answers.insert(record));
    let outcome = block_on(run(&mut model, &asks, &first.answers, &mut Keep::default()));
    assert_eq!((outcome.answered, outcome.usage.computed), (0, 0));
}

#[test]
fn what_does_not_fit_has_no_score_and_the_run_goes_on() {
    let rubrics = rubrics();
    // Long enough for the short questions, too short for the skills' levels.
    let mut model = tiny_model(900);
    let asks = asks(&rubrics, &Ways { skills: true, agnostic: false, ..Ways::default() });
    let mut keep = Keep::default();
    let outcome = block_on(run(&mut model, &asks, &Answers::default(), &mut keep));
    assert_eq!(outcome.answered, asks.len());
    assert!(outcome.stopped.is_none());
    let mut too_long = 0;
    for (ask, place) in asks.iter().zip(0..) {
        let fits = ask.inquiry.plan(&model).is_ok();
        let record = keep.records.iter().find(|record| record.id == ask.id).unwrap();
        let codes = record.verdicts.iter().map(|(_, verdict)| match verdict {
            Verdict::Unscored(reason) => reason.code() == "too_long",
            Verdict::Scored { .. } => false,
        });
        assert_eq!(record.verdicts.len(), ask.inquiry.questions.len());
        assert!(codes.into_iter().all(|refused| refused != fits), "ask {place}");
        too_long += usize::from(!fits);
        if !fits {
            let pair = ask.id.split('/').next().unwrap();
            assert_eq!(preference(pair, Way::Skills, &keep.answers), None);
        }
    }
    assert!((1..asks.len()).contains(&too_long), "{too_long} of {} do not fit", asks.len());
}

fn identity(asks: &[Ask<'_>]) -> RunIdentity {
    RunIdentity::new("test", None, "alone in full wording".into(), None, 0, asks)
}

#[test]
fn a_run_is_taken_up_from_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (rubrics, mut model) = (rubrics(), tiny_model(100_000));
    let asks = asks(&rubrics, &Ways::default());
    let mut keep = Keep::default();
    block_on(run(&mut model, &asks, &Answers::default(), &mut keep));
    let mut store = Store::open(folder.path(), identity(&asks)).unwrap();
    for record in &keep.records[..4] {
        store.keep(record.clone()).unwrap();
    }
    drop(store);
    // A crash in the middle of a line.
    let path = folder.path().join("answers.jsonl");
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"id\":\"three/ab\",\"verd");
    std::fs::write(&path, &text).unwrap();

    let mut store = Store::open(folder.path(), identity(&asks)).unwrap();
    assert_eq!(store.answers().len(), 4);
    store.keep(keep.records[4].clone()).unwrap();
    drop(store);
    let store = Store::open(folder.path(), identity(&asks)).unwrap();
    assert_eq!(store.answers().len(), 5);
    // To the last bit: the file keeps what was kept.
    for record in &keep.records[..5] {
        for (key, verdict) in &record.verdicts {
            let found = store.answers().verdict(&record.id, key).unwrap();
            match (found, verdict) {
                (Verdict::Scored { .. }, Verdict::Scored { .. }) => assert_eq!(found, verdict),
                (Verdict::Unscored(found), Verdict::Unscored(right)) => {
                    assert_eq!(found.code(), right.code())
                }
                _ => panic!("{found:?} instead of {verdict:?}"),
            }
        }
    }
}

#[test]
fn another_run_in_the_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rubrics = rubrics();
    let asks = asks(&rubrics, &Ways::default());
    Store::open(folder.path(), identity(&asks)).unwrap();
    let refused = |other: RunIdentity| match Store::open(folder.path(), other) {
        Err(error @ StoreError::Other { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let limited = RunIdentity { limit: Some(5), ..identity(&asks) };
    assert!(refused(limited).contains("no limit in place of a limit of 5"));
    let other_data = identity(&asks[1..]);
    assert!(refused(other_data).contains("the data or the questions have changed"));
    Store::open(folder.path(), identity(&asks)).unwrap();
    // Answers by a calibration are no answers of a run without one, nor the other way round.
    let calibration = calibration();
    let refused = |by: Option<&Calibration>, folder| match Store::open_read_by(by, folder, identity(&asks)) {
        Err(error @ StoreError::Other { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let plain = "probabilities as the model gives them";
    let difference = refused(Some(&calibration), folder.path());
    assert!(difference.contains(&format!("{plain} in place of calibrated probabilities")), "{difference}");
    let other = tempfile::tempdir().unwrap();
    Store::open_read_by(Some(&calibration), other.path(), identity(&asks)).unwrap();
    let difference = refused(None, other.path());
    assert!(difference.contains(&format!("calibrated probabilities in place of {plain}")), "{difference}");
    let store = Store::open_read_by(Some(&calibration), other.path(), identity(&asks)).unwrap();
    assert_eq!(store.answers().calibration(), Some(&calibration));
}

/// Of everything one temperature, which makes it less certain.
fn calibration() -> Calibration {
    let form = r#"{"form": 1, "rows": 30, "mixture_sha256": "", "scales": [], "other": {"temperature": 3, "rows": 30}}"#;
    Calibration::read(form).unwrap().unwrap()
}

#[test]
fn a_runs_answers_are_read_by_its_calibration() {
    let (rubrics, mut model) = (rubrics(), tiny_model(100_000));
    let asks = asks(&rubrics, &Ways::default());
    let calibration = calibration();
    let mut plain = Keep::default();
    block_on(run(&mut model, &asks, &Answers::default(), &mut plain));
    let mut read = Keep { answers: Answers::read_by(Some(calibration.clone())), ..Keep::default() };
    block_on(run(&mut model, &asks, &Answers::read_by(Some(calibration.clone())), &mut read));
    let mut compared = 0;
    for ask in &asks {
        for key in &ask.keys {
            let verdicts = [&plain, &read].map(|keep| keep.answers.verdict(&ask.id, key).unwrap());
            let [
                Verdict::Scored { distribution, mass, .. },
                Verdict::Scored { distribution: found, mass: found_mass, method, .. },
            ] = verdicts
            else {
                continue;
            };
            assert_eq!(*method, Method::CalibratedOptionProbabilities);
            assert!((mass - found_mass).abs() < 1e-9, "{mass} {found_mass}");
            let labels: Vec<&str> = distribution.iter().map(|option| option.label.as_str()).collect();
            let logs: Vec<f64> = distribution.iter().map(|option| option.probability.ln()).collect();
            let right = calibration.shares(&labels, &logs).unwrap();
            for (found, right) in found.iter().zip(right) {
                assert!((found.probability - right).abs() < 1e-9);
            }
            compared += 1;
        }
    }
    assert!(compared > 0, "nothing was scored, so nothing was compared");
}

#[test]
fn a_spoilt_file_of_answers_says_where() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("answers.jsonl"), "not JSON\n").unwrap();
    let error = Store::open(folder.path(), identity(&[])).unwrap_err();
    assert!(error.to_string().contains("answers.jsonl:1"), "{error}");
}

/// What makes a profile cost little more than one score: a question that a trained model knows is short.
#[test]
fn short_questions_have_at_most_thirty_tokens() {
    let Some(path) = std::env::var_os("RETORT_TEST_MODEL") else {
        eprintln!("RETORT_TEST_MODEL names no model: questions were not counted");
        return;
    };
    let mut source = FileSource::open(std::path::Path::new(&path)).unwrap();
    let model = TextParts::read(&mut source).unwrap();
    let mut longest = (0, String::new());
    for task in retort_bench::tasks().unwrap().values() {
        for rubric in [task.rubric(), task.alone_rubric(), task.text_rubric()].into_iter().flatten() {
            let question = rubric.question.unwrap();
            let tokens = model.count_tokens(&Segments::new().user(question.as_str())).unwrap();
            assert!(tokens <= 30, "{}: {tokens} tokens in {question:?}", task.name);
            longest = longest.max((tokens, question));
        }
    }
    eprintln!("the longest has {} tokens: {}", longest.0, longest.1);
}
