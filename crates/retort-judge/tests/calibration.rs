//! What an adapter knows of its own probabilities: read, refused, applied, reported.

#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod fake;

use fake::{Fake, answer};
use proptest::prelude::*;
use retort_judge::{
    Calibration, CalibrationUse, JudgeError, Method, ModelIdentity, NoObserver, Question, Record, Request,
    RunContext, Unscored, Verdict, judge,
};
use retort_lm::gguf::Value;
use retort_lm::tiny::{AdapterShape, Shape, adapter_writer, gguf};
use retort_lm::{
    Adapter, AnyBackend, BackendChoice, BackendKind, LanguageModel, LmError, MemorySource, Model,
};
use retort_rubric::{Rubric, RubricOption};
use serde_json::json;

/// Two scales and the rest: temperatures of 2 and 1 with biases, 4, and 0.5 of differences.
fn form() -> serde_json::Value {
    json!({
        "form": 1,
        "rows": 1000,
        "mixture_sha256": "00ff",
        "scales": [
            { "labels": ["no", "yes"], "temperature": 2.0, "bias": [0.5, -0.5], "rows": 600,
              "ece_before": 0.2, "ece_after": 0.05 },
            { "labels": ["1", "2", "NA"], "temperature": 1.0, "bias": [0.0, 0.0, 3.0f64.ln()], "rows": 100,
              "ece_before": 0.1 },
        ],
        "other": { "temperature": 4.0, "rows": 700, "ece_before": 0.1, "ece_after": 0.06 },
        "difference": { "temperature": 0.5, "rows": 300, "ece_before": 0.1, "ece_after": 0.02 },
    })
}

fn calibration() -> Calibration {
    Calibration::read(&form().to_string()).unwrap().unwrap()
}

fn rubric(labels: &[&str], not_applicable: bool) -> Rubric {
    let options = (0u8..).zip(labels).map(|(value, &label)| RubricOption::new(label, f64::from(value)));
    Rubric {
        not_applicable: not_applicable.then(|| "The question does not arise.".to_owned()),
        ..Rubric::new("test", "Test", "Whether it is so.", options.collect())
    }
}

fn shares(verdict: &Verdict) -> (Vec<f64>, f64, Method, Option<f64>) {
    match verdict {
        Verdict::Scored { distribution, mass, method, not_applicable, .. } => {
            (distribution.iter().map(|option| option.probability).collect(), *mass, *method, *not_applicable)
        }
        Verdict::Unscored(reason) => panic!("{reason}"),
    }
}

#[track_caller]
fn close(found: &[f64], right: &[f64]) {
    assert_eq!(found.len(), right.len(), "{found:?} instead of {right:?}");
    for (one, other) in found.iter().zip(right) {
        assert!((one - other).abs() < 1e-12, "{found:?} instead of {right:?}");
    }
}

#[test]
fn a_calibration_is_read_as_it_stands() {
    let found = calibration();
    assert_eq!((found.rows, found.mixture_sha256.as_str(), found.scales.len()), (1000, "00ff", 2));
    assert_eq!(found.scales[0].labels, ["no", "yes"]);
    assert_eq!((found.scales[0].temperature, &found.scales[0].bias[..]), (2.0, &[0.5, -0.5][..]));
    assert_eq!((found.scales[0].rows, found.scales[0].ece_after), (600, Some(0.05)));
    assert_eq!(found.scales[1].ece_after, None);
    assert_eq!(found.other.unwrap().temperature, 4.0);
    assert_eq!(found.difference.unwrap().temperature, 0.5);
    // Scales alone will do.
    let bare = json!({ "form": 1, "rows": 0, "mixture_sha256": "", "scales": [] });
    let bare = Calibration::read(&bare.to_string()).unwrap().unwrap();
    assert_eq!((bare.other, bare.difference), (None, None));
}

#[test]
fn what_says_nothing_is_no_calibration() {
    // The last is what training wrote before anything was fitted.
    let before = r#"{"options": {"temperature": 1.0}, "pair": {"temperature": 1.0}}"#;
    for text in ["", "  ", "{}", " { } ", before] {
        assert_eq!(Calibration::read(text).unwrap(), None, "{text:?}");
    }
}

#[test]
fn p31_what_cannot_be_meant_is_refused_with_the_reason() {
    let changed = |path: &str, value: serde_json::Value| {
        let mut form = form();
        *form.pointer_mut(path).unwrap() = value;
        form.to_string()
    };
    let mut unknown = form();
    unknown["sclaes"] = json!([]);
    let mut twice = form();
    twice["scales"][1] = twice["scales"][0].clone();
    let mut absent = form();
    absent["scales"][0].as_object_mut().unwrap().remove("temperature");
    let cases = [
        ("not json".to_owned(), "it is no JSON: "),
        ("[1]".to_owned(), "it is no JSON object"),
        (json!({ "scales": [] }).to_string(), "it names no form, and \"form\": 1 is read here"),
        (changed("/form", json!(2)), "its form is 2, and 1 is read here"),
        (changed("/form", json!("1")), "its form is \"1\", and 1 is read here"),
        (unknown.to_string(), "unknown field `sclaes`"),
        (absent.to_string(), "missing field `temperature`"),
        (changed("/rows", json!(-1)), "invalid value: integer `-1`"),
        (changed("/scales/0/temperature", json!(0)), "scale 1 (no, yes) has a temperature of 0"),
        (changed("/scales/0/temperature", json!(-2.5)), "scale 1 (no, yes) has a temperature of -2.5"),
        (changed("/other/temperature", json!(0.0)), "\"other\" has a temperature of 0"),
        (changed("/difference/temperature", json!(-1)), "\"difference\" has a temperature of -1"),
        (changed("/scales/0/bias", json!([0.5])), "scale 1 (no, yes) has 2 labels and 1 biases"),
        (changed("/scales/0/bias", json!([0.5, null])), "invalid type: null"),
        (changed("/scales/1/labels", json!(["1"])), "scale 2 (1) has 1 labels"),
        (changed("/scales/0/labels", json!(["no", "no"])), "has the label \"no\" twice"),
        (twice.to_string(), "scale 2 (no, yes) stands there twice"),
        (changed("/scales/0/ece_after", json!(1.5)), "an expected calibration error is 1.5"),
        // JSON has no such numbers; Python writes the first two.
        (form().to_string().replace("4.0", "NaN"), "it is no JSON: "),
        (form().to_string().replace("4.0", "Infinity"), "it is no JSON: "),
        (form().to_string().replace("4.0", "1e999"), "number out of range"),
    ];
    for (text, says) in cases {
        let problem = Calibration::read(&text).unwrap_err().to_string();
        assert!(problem.contains(says), "{text} gave: {problem}");
        assert!(problem.contains("write it anew with \"train.py calibrate\""), "{problem}");
    }
}

#[test]
fn shares_by_hand() {
    let known = calibration();
    // Of 0.1 and 0.9, T = 2: square roots 0.316228 and 0.948683, so 1 : 3; times e^0.5 and e^-0.5: e : 3.
    let e = std::f64::consts::E;
    let found = known.shares(&["no", "yes"], &[0.1f64.ln(), 0.9f64.ln()]).unwrap();
    close(&found, &[e / (e + 3.0), 3.0 / (e + 3.0)]);
    // Only shares count: half of the mass gives the same.
    close(&known.shares(&["no", "yes"], &[0.05f64.ln(), 0.45f64.ln()]).unwrap(), &found);
    // Other labels, or the same in another order, are another scale: T = 4, of 16 : 81 the fourth roots 2 : 3.
    for labels in [["yes", "no"], ["No", "Yes"]] {
        close(&known.shares(&labels, &[16f64.ln(), 81f64.ln()]).unwrap(), &[0.4, 0.6]);
    }
    // What is impossible stays so.
    close(&known.shares(&["no", "yes"], &[f64::NEG_INFINITY, -1.0]).unwrap(), &[0.0, 1.0]);
    // Nothing is known of other scales where "other" is not there; and no distribution, no shares.
    let bare = Calibration { other: None, ..known.clone() };
    assert_eq!(bare.shares(&["a", "b"], &[-1.0, -2.0]), None);
    assert_eq!(known.shares(&["no", "yes"], &[f64::NEG_INFINITY; 2]), None);
    assert_eq!(known.shares(&["no", "yes"], &[f64::NAN, -1.0]), None);
    assert_eq!(known.shares(&["no", "yes"], &[-1.0]), None);
}

#[test]
fn a_difference_takes_its_own_temperature_in_place_of_the_scales() {
    let known = calibration();
    // Log-odds by T = 2 are half of the model's; by T = 0.5 a preference's are twice: four times.
    assert_eq!(known.difference_factor(&["no", "yes"]), 4.0);
    assert_eq!(known.difference_factor(&["bad", "good"]), 8.0);
    let bare = Calibration { other: None, difference: None, ..known };
    assert_eq!(
        (bare.difference_factor(&["no", "yes"]), bare.difference_factor(&["bad", "good"])),
        (2.0, 1.0)
    );
}

#[test]
fn p8_the_mass_stays_the_models_own() {
    let known = calibration();
    let rubric = rubric(&["no", "yes"], false);
    let question = Question::of_task(&rubric);
    let verdict = question.verdict_by(Some(&known), &answer(&[0.05, 0.45]).unwrap(), false);
    let (found, mass, method, _) = shares(&verdict);
    let e = std::f64::consts::E;
    close(&found, &[e / (e + 3.0), 3.0 / (e + 3.0)]);
    close(&[mass], &[0.5]);
    assert_eq!(method, Method::CalibratedOptionProbabilities);
    // Too little is too little, whatever the shares.
    let verdict = question.verdict_by(Some(&known), &answer(&[0.001, 0.001]).unwrap(), false);
    assert!(
        matches!(verdict, Verdict::Unscored(Unscored::OutsideOptions { mass }) if (mass - 0.002).abs() < 1e-12)
    );
    // Without a calibration, and by one that does not know the scale, the model's shares stand.
    let bare = Calibration { scales: Vec::new(), other: None, ..known };
    for verdict in [
        question.verdict(&answer(&[0.05, 0.45]).unwrap(), false),
        question.verdict_by(Some(&bare), &answer(&[0.05, 0.45]).unwrap(), false),
    ] {
        let (found, _, method, _) = shares(&verdict);
        close(&found, &[0.1, 0.9]);
        assert_eq!(method, Method::OptionProbabilities);
    }
}

#[test]
fn p15_what_does_not_apply_is_set_right_too() {
    let known = calibration();
    let rubric = rubric(&["1", "2"], true);
    let question = Question::of_task(&rubric);
    // 0.4, 0.4 and 0.1 with "NA" threefold: 4 : 4 : 3.
    let verdict = question.verdict_by(Some(&known), &answer(&[0.4, 0.4, 0.1]).unwrap(), false);
    let (found, _, method, not_applicable) = shares(&verdict);
    close(&found, &[0.5, 0.5]);
    close(&[not_applicable.unwrap()], &[3.0 / 11.0]);
    assert_eq!(method, Method::CalibratedOptionProbabilities);
    // 0.3, 0.2 and 0.3: by the model's own share of 3/8 it applies; threefold, 9/14, it does not.
    let close_call = answer(&[0.3, 0.2, 0.3]).unwrap();
    close(&[shares(&question.verdict(&close_call, false)).3.unwrap()], &[3.0 / 8.0]);
    match question.verdict_by(Some(&known), &close_call, false) {
        Verdict::Unscored(Unscored::NotApplicable { probability }) => close(&[probability], &[9.0 / 14.0]),
        other => panic!("{other:?}"),
    }
}

fn request(uncalibrated: bool) -> Request {
    Request {
        prompt: "p".into(),
        response: "r".into(),
        rubrics: vec![rubric(&["no", "yes"], false), rubric(&["a", "b"], false)],
        uncalibrated,
        ..Request::default()
    }
}

/// The model's record of two questions, as JSON.
fn judged<M: LanguageModel>(model: &mut M, uncalibrated: bool) -> serde_json::Value {
    let request = request(uncalibrated);
    let judgement = pollster::block_on(judge(model, &request, &mut NoObserver)).unwrap();
    let run = RunContext {
        model: ModelIdentity { name: "m".into(), sha256: None, adapter: None },
        backend: BackendKind::Cpu,
        device: "d".into(),
        notices: Vec::new(),
        total_ms: 0.0,
    };
    serde_json::to_value(Record::new(&request, &judgement, run)).unwrap()
}

#[test]
fn a_judgement_is_set_right_and_says_so() {
    let answers = || [answer(&[0.1, 0.9]), answer(&[0.016, 0.081])];
    let form = form().to_string();
    let model =
        |text: Option<&str>| Fake { adapter_text: text.map(Into::into), ..Fake::answering(answers()) };
    let record = judged(&mut model(Some(&form)), false);
    let e = std::f64::consts::E;
    let yes = |record: &serde_json::Value, rubric: usize| {
        record["verdicts"][rubric]["verdict"]["distribution"][1]["probability"].as_f64().unwrap()
    };
    close(&[yes(&record, 0), yes(&record, 1)], &[3.0 / (e + 3.0), 0.6]);
    assert_eq!(record["verdicts"][0]["verdict"]["method"], "calibrated_option_probabilities");
    assert_eq!(record["calibration"], "applied");
    let read: Record = serde_json::from_value(record).unwrap();
    assert_eq!(read.calibration, CalibrationUse::Applied);

    let record = judged(&mut model(Some(&form)), true);
    close(&[yes(&record, 0), yes(&record, 1)], &[0.9, 0.081 / 0.097]);
    assert_eq!(record["verdicts"][0]["verdict"]["method"], "option_probabilities");
    assert_eq!(record["calibration"], "off");

    // Where there is none nothing is said, as in records of before.
    let record = judged(&mut model(None), false);
    close(&[yes(&record, 0)], &[0.9]);
    assert!(record.get("calibration").is_none());
    let read: Record = serde_json::from_value(record).unwrap();
    assert_eq!(read.calibration, CalibrationUse::None);

    // One that cannot be used is refused before anything is asked.
    let mut broken = model(Some("{\"form\": 2}"));
    let refused = pollster::block_on(judge(&mut broken, &request(false), &mut NoObserver)).unwrap_err();
    assert!(matches!(&refused, JudgeError::Calibration(_)), "{refused}");
    assert_eq!(refused.code(), "wrong_adapter");
    assert!(broken.asked.is_empty());
}

fn adapter(model: &Model<AnyBackend>, text: Option<&str>) -> Adapter {
    let mut file = adapter_writer(Shape::default(), AdapterShape::default(), 3);
    if let Some(text) = text {
        file.set(Calibration::KEY, Value::Text(text.into()));
    }
    Adapter::read(&mut MemorySource::new("lora.gguf", file.finish()), model.config()).unwrap()
}

/// The whole way, from a file's metadata to the verdict.
#[test]
fn an_adapters_calibration_is_applied_at_the_strength_that_it_was_fitted_at() {
    let source = MemorySource::new("tiny.gguf", gguf(Shape::default(), 7));
    let mut go_on = |_| retort_lm::Flow::Continue;
    let loaded = retort_lm::load(Box::new(source), BackendChoice::Cpu, &mut go_on);
    let mut model = pollster::block_on(loaded).unwrap();
    let mut with = |text: Option<&str>, strength: f32| {
        let adapter = adapter(&model, text).with_strength(strength).unwrap();
        pollster::block_on(model.set_adapter(Some(adapter))).unwrap();
        let found = Calibration::of_model(&model).unwrap();
        let rubric = rubric(&["no", "yes"], false);
        let tree = retort_judge::Inquiry {
            aim: retort_judge::Aim::Rate,
            fields: vec![retort_judge::Field::prompt("p"), retort_judge::Field::response("r")],
            questions: vec![Question::of_task(&rubric)],
            wording: retort_judge::Wording::Full,
        };
        let tree = tree.plan(&model).unwrap().tree();
        let answers = pollster::block_on(model.answer(&tree, &mut retort_lm::NoWatch)).unwrap();
        (found, answers)
    };
    let form = form().to_string();
    let (found, calibrated) = with(Some(&form), 1.0);
    assert_eq!(found, Some(calibration()));
    let (none, plain) = with(None, 1.0);
    assert_eq!((none, &plain), (None, &calibrated));
    assert_eq!(with(Some(&form), 0.5).0, None);
    assert_eq!(with(Some("{}"), 1.0).0, None);
}

#[test]
fn an_adapter_with_a_broken_calibration_is_refused_at_any_strength() {
    let source = MemorySource::new("tiny.gguf", gguf(Shape::default(), 7));
    let mut go_on = |_| retort_lm::Flow::Continue;
    let loaded = retort_lm::load(Box::new(source), BackendChoice::Cpu, &mut go_on);
    let model = pollster::block_on(loaded).unwrap();
    let refused =
        Calibration::of_adapter(&adapter(&model, Some("{\"form\": 7}")).with_strength(0.5).unwrap());
    let LmError::Adapter { name, problem } = refused.unwrap_err() else { panic!("another error") };
    assert_eq!(name, "lora.gguf");
    assert!(problem.contains("its form is 7, and 1 is read here"), "{problem}");
    assert_eq!(Calibration::of_adapter(&adapter(&model, None)).unwrap(), None);
    assert_eq!(
        Calibration::of_adapter(&adapter(&model, Some(&form().to_string()))).unwrap(),
        Some(calibration())
    );
}

/// A calibration of the scale a, b, c.
fn abc(temperature: f64, bias: &[f64]) -> Calibration {
    let form = json!({
        "form": 1, "rows": 1, "mixture_sha256": "",
        "scales": [{ "labels": ["a", "b", "c"], "temperature": temperature, "bias": bias, "rows": 1 }],
    });
    Calibration::read(&form.to_string()).unwrap().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn without_a_bias_the_order_of_the_options_stays(
        logs in prop::collection::vec(-30.0..0.0, 3),
        temperature in 0.05..20.0,
    ) {
        let found = abc(temperature, &[0.0; 3]).shares(&["a", "b", "c"], &logs).unwrap();
        for one in 0..3 {
            for other in 0..3 {
                // Equal where both have become 0 or are nearly equal, and never the other way round.
                prop_assert!(logs[one] <= logs[other] || found[one] >= found[other], "{logs:?} {found:?}");
            }
        }
    }

    #[test]
    fn p16_shares_are_a_distribution(
        logs in prop::collection::vec(prop_oneof![-700.0..0.0, Just(f64::NEG_INFINITY)], 3),
        temperature in prop_oneof![0.05..20.0, Just(f64::MIN_POSITIVE), Just(f64::MAX)],
        bias in prop::collection::vec(prop_oneof![-5.0..5.0, Just(-1e308), Just(1e308)], 3),
    ) {
        let found = abc(temperature, &bias).shares(&["a", "b", "c"], &logs);
        prop_assert_eq!(found.is_none(), logs.iter().all(|log| log.is_infinite()));
        if let Some(found) = found {
            prop_assert!(found.iter().all(|share| (0.0..=1.0).contains(share)), "{found:?}");
            prop_assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn a_temperature_of_1_without_a_bias_changes_nothing(logs in prop::collection::vec(-20.0..0.0, 3)) {
        let found = abc(1.0, &[0.0; 3]).shares(&["a", "b", "c"], &logs).unwrap();
        let sum: f64 = logs.iter().map(|log: &f64| log.exp()).sum();
        for (found, log) in found.iter().zip(&logs) {
            prop_assert!((found - log.exp() / sum).abs() < 1e-12);
        }
    }

    /// Whatever the temperatures, the same response wins.
    #[test]
    fn p18_a_difference_keeps_its_sign(
        first in 0.01..0.99f64,
        second in 0.01..0.99f64,
        (scale, difference) in (0.1..10.0f64, 0.1..10.0f64),
    ) {
        let form = json!({
            "form": 1, "rows": 1, "mixture_sha256": "",
            "scales": [{ "labels": ["no", "yes"], "temperature": scale, "bias": [0.3, -0.3], "rows": 1 }],
            "difference": { "temperature": difference, "rows": 1 },
        });
        let known = Calibration::read(&form.to_string()).unwrap().unwrap();
        let odds = |yes: f64| {
            let shares = known.shares(&["no", "yes"], &[(1.0 - yes).ln(), yes.ln()]).unwrap();
            (shares[1] / shares[0]).ln() * known.difference_factor(&["no", "yes"])
        };
        let plain = |yes: f64| (yes / (1.0 - yes)).ln();
        let right = (plain(first) - plain(second)) / difference;
        prop_assert!((odds(first) - odds(second) - right).abs() < 1e-6 * (1.0 + right.abs()));
    }
}
