//! Readouts on a person's own labels: right where something is there to be read, and not fooled where nothing is.

#![expect(clippy::unwrap_used, reason = "a test stops at a broken fixture")]

use proptest::prelude::*;
use retort_stats::{
    DEFAULT_FOLDS, Readout, ReadoutError, ReadoutExample, ReadoutSettings, SplitMix64, fit_readout,
};
use serde_json::Value;

const SETTINGS: ReadoutSettings =
    ReadoutSettings { layer: 15, min: 1.0, max: 5.0, seed: 3, folds: DEFAULT_FOLDS };

/// Numbers about 0 with a variance of 1: the sum of twelve even ones less six.
struct Noise(SplitMix64);

impl Noise {
    fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    fn next(&mut self) -> f64 {
        (0..12).map(|_| self.0.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
    }

    fn state(&mut self, numbers: usize) -> Vec<f32> {
        (0..numbers).map(|_| self.next() as f32).collect()
    }

    /// 1 to 5.
    fn label(&mut self) -> f64 {
        1.0 + self.0.below(5) as f64
    }
}

/// So many examples, each of a group of its own; the label is in the state as far as `signal` says, and in the own score as
/// far as `own` does.
fn examples(seed: u64, n: usize, numbers: usize, signal: f64, own: f64) -> Vec<ReadoutExample> {
    let mut noise = Noise::new(seed);
    let example = |at: usize| {
        let label = noise.label();
        let mut state = noise.state(numbers);
        for x in state.iter_mut().take(numbers / 4) {
            *x += (signal * (label - 3.0)) as f32;
        }
        let own = Some(own * label + noise.next());
        ReadoutExample { state, own, label, group: format!("prompt {at}") }
    };
    (0..n).map(example).collect()
}

fn fit(examples: &[ReadoutExample]) -> Readout {
    fit_readout(examples, &SETTINGS).unwrap()
}

#[track_caller]
fn close(found: f64, right: f64) {
    assert!((found - right).abs() <= 1e-9 * right.abs().max(1.0), "{found} instead of {right}");
}

#[test]
fn weights_are_those_of_an_independent_solution() {
    let case: Value = serde_json::from_str(include_str!("fixtures/readout.json")).unwrap();
    let numbers = |field: &str| -> Vec<f64> { serde_json::from_value(case[field].clone()).unwrap() };
    let states: Vec<Vec<f32>> = serde_json::from_value(case["states"].clone()).unwrap();
    let (labels, own) = (numbers("labels"), numbers("own"));
    let examples: Vec<ReadoutExample> = (0..labels.len())
        .map(|at| ReadoutExample {
            state: states[at].clone(),
            own: Some(own[at]),
            label: labels[at],
            group: at.to_string(),
        })
        .collect();
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let readout = fit_readout(&examples, &ReadoutSettings { seed, ..SETTINGS }).unwrap();
        let fits = case["fits"].as_array().unwrap();
        let right =
            fits.iter().find(|fit| (fit["lambda"].as_f64().unwrap() - readout.lambda).abs() < 1e-9).unwrap();
        let weights: Vec<f64> = serde_json::from_value(right["weights"].clone()).unwrap();
        assert_eq!(readout.weights.len(), weights.len());
        for (found, right) in [
            (&readout.weights, &weights),
            (&readout.mean, &numbers("mean")),
            (&readout.deviation, &numbers("deviation")),
        ] {
            found.iter().zip(right).for_each(|(&found, &right)| close(found, right));
        }
        let line = readout.own.unwrap();
        close(line.slope, case["slope"].as_f64().unwrap());
        close(line.intercept, case["intercept"].as_f64().unwrap());
        seen.insert(right["lambda"].to_string());
    }
    assert!(!seen.is_empty());
}

#[test]
fn a_label_in_the_states_is_read() {
    // The own score is noise, and a quarter of the numbers hold the label.
    let examples = examples(1, 60, 64, 0.5, 0.0);
    let readout = fit(&examples);
    assert!(readout.helps, "{readout:?}");
    assert!(readout.warnings.is_empty(), "{:?}", readout.warnings);
    let rho = readout.after.spearman.unwrap();
    assert!(rho.value > 0.8 && rho.low <= rho.value && rho.value <= rho.high, "{rho:?}");
    assert!(readout.gain.unwrap().low > 0.3, "{:?}", readout.gain);
    assert!(readout.blend >= 0.7, "{}", readout.blend);
    assert_eq!((readout.n, readout.groups, readout.width, readout.layer), (60, 60, 32, 15));
    assert_eq!((readout.after.n, readout.after.left_out), (60, 0));
    // What it says of an example that nobody showed it.
    let mut noise = Noise::new(99);
    for label in [1.0, 5.0] {
        let mut state = noise.state(64);
        for x in state.iter_mut().take(16) {
            *x += (0.5 * (label - 3.0)) as f32;
        }
        let said = readout.apply(&state, Some(0.0)).unwrap().unwrap();
        assert!((said - label).abs() < 1.2, "{said} instead of {label}");
    }
}

#[test]
fn where_there_is_nothing_it_says_so() {
    // 40 draws in which neither states nor own scores know anything of the labels. An interval of 95% is above 0 in one of
    // 40 by chance; three are allowed.
    let helped = (0..40).filter(|&seed| fit(&examples(seed, 24, 64, 0.0, 0.0)).helps).count();
    assert!(helped <= 3, "{helped} of 40");
    let readout = fit(&examples(5, 24, 64, 0.0, 0.0));
    assert!(!readout.helps);
    assert!(readout.warnings.iter().any(|warning| warning.starts_with("No gain is certain")), "{readout:?}");
}

#[test]
fn noise_beside_a_good_own_score_does_not_help() {
    let helped = (0..20).filter(|&seed| fit(&examples(seed, 24, 64, 0.0, 1.0)).helps).count();
    assert!(helped <= 2, "{helped} of 20");
    // And what is blended in costs little: the agreement stays near that of the score alone.
    let readout = fit(&examples(3, 40, 64, 0.0, 1.0));
    let (before, after) = (readout.before.unwrap().spearman.unwrap(), readout.after.spearman.unwrap());
    assert!(before.value > 0.6 && after.value > before.value - 0.1, "{before:?}, {after:?}");
    assert!(readout.blend <= 0.4, "{}", readout.blend);
}

#[test]
fn a_group_is_never_on_both_sides() {
    // Every prompt has a state of its own and one random label for its five responses: whoever has seen the prompt knows the
    // label, and whoever has not knows nothing.
    let mut noise = Noise::new(11);
    let mut examples = Vec::new();
    for group in 0..16 {
        let (label, own_state) = (noise.label(), noise.state(64));
        for _ in 0..5 {
            let state = own_state.iter().map(|x| x + (noise.next() / 10.0) as f32).collect();
            examples.push(ReadoutExample { state, own: None, label, group: format!("prompt {group}") });
        }
    }
    let readout = fit(&examples);
    assert!(!readout.helps, "{:?}", readout.after);
    assert!(readout.after.spearman.is_none_or(|rho| rho.value < 0.5), "{:?}", readout.after);
    assert_eq!((readout.groups, readout.before, readout.gain), (16, None, None));
    // The fault, planted: were each response a group of its own, it would look splendid.
    for (at, example) in examples.iter_mut().enumerate() {
        example.group = at.to_string();
    }
    let leaking = fit(&examples);
    assert!(leaking.after.spearman.unwrap().value > 0.9 && leaking.helps, "{:?}", leaking.after);
}

#[test]
fn what_is_doubtful_is_said() {
    let warnings = |examples: &[ReadoutExample]| fit(examples).warnings;
    let starts = |warnings: &[String], with: &str| warnings.iter().any(|warning| warning.starts_with(with));
    let few = warnings(&examples(1, 6, 8, 0.0, 0.0));
    assert!(starts(&few, "There are only 6 examples."), "{few:?}");
    let mut alike = examples(1, 14, 8, 0.0, 0.0);
    alike.iter_mut().for_each(|example| example.label = 4.0);
    let readout = fit(&alike);
    assert!(starts(&readout.warnings, "All labels are 4, so"), "{:?}", readout.warnings);
    assert!(!readout.helps && readout.after.spearman.is_none() && readout.gain.is_none());
    // What it says is then the one label.
    close(readout.apply(&alike[0].state, Some(1.0)).unwrap().unwrap(), 4.0);
    let mut one_prompt = examples(1, 14, 8, 3.0, 0.0);
    one_prompt.iter_mut().for_each(|example| example.group = "the same".into());
    let readout = fit(&one_prompt);
    assert!(starts(&readout.warnings, "All examples answer the same prompt"), "{:?}", readout.warnings);
    // Nothing could be checked, so nothing is claimed and the model's own score stands.
    assert_eq!((readout.after.n, readout.after.left_out, readout.helps, readout.blend), (0, 14, false, 0.0));
    for (at, example) in one_prompt.iter_mut().enumerate() {
        example.group = (at % 2).to_string();
    }
    let two = warnings(&one_prompt);
    assert!(starts(&two, "The examples answer only 2 different prompts"), "{two:?}");
    let mut gaps = examples(1, 14, 8, 0.0, 1.0);
    gaps[3].own = None;
    let readout = fit(&gaps);
    assert!(
        starts(&readout.warnings, "The model gave 1 of the 14 examples no score"),
        "{:?}",
        readout.warnings
    );
    let before = readout.before.unwrap();
    assert_eq!((before.n, before.left_out), (13, 1));
}

#[test]
fn without_own_scores_the_states_stand_alone() {
    let mut examples = examples(1, 40, 32, 0.8, 0.0);
    examples.iter_mut().for_each(|example| example.own = None);
    let readout = fit(&examples);
    assert_eq!((readout.own, readout.blend, readout.gain), (None, 1.0, None));
    assert!(readout.helps && readout.before.is_none());
    assert!(readout.apply(&examples[0].state, None).unwrap().is_some());
}

#[test]
fn both_together_are_better_than_either() {
    // State and own score each know a part of the label. The share lies between, and the blend is stretched, since a mean of
    // two cautious predictions is too cautious: their spread is nearer to that of the labels.
    let examples = examples(2, 120, 64, 0.2, 0.5);
    let readout = fit(&examples);
    assert!(readout.helps && readout.blend > 0.0 && readout.blend < 1.0, "{readout:?}");
    assert!((1.0..=2.0).contains(&readout.stretch.slope), "{:?}", readout.stretch);
    let alone =
        fit(&examples.iter().map(|one| ReadoutExample { own: None, ..one.clone() }).collect::<Vec<_>>());
    let rho = |agreement: &retort_stats::Agreement| agreement.spearman.unwrap().value;
    assert!(rho(&readout.after) > rho(&alone.after) + 0.02, "{:?}, {:?}", readout.after, alone.after);
    assert!(rho(&readout.after) > rho(readout.before.as_ref().unwrap()) + 0.02);
}

#[test]
fn a_needed_own_score_that_is_missing_leaves_nothing_to_say() {
    let examples = examples(3, 40, 64, 0.0, 1.0);
    let readout = fit(&examples);
    assert!(readout.blend < 1.0);
    assert_eq!(readout.apply(&examples[0].state, None).unwrap(), None);
    // Whatever is said stays within the range.
    assert_eq!(readout.apply(&examples[0].state, Some(1e9)).unwrap(), Some(5.0));
    assert_eq!(readout.apply(&examples[0].state, Some(-1e9)).unwrap(), Some(1.0));
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let good = examples(1, 12, 8, 1.0, 0.5);
    let refused = |examples: &[ReadoutExample]| fit_readout(examples, &SETTINGS).unwrap_err();
    assert_eq!(refused(&good[..3]), ReadoutError::TooFew { found: 3 });
    let with = |change: &dyn Fn(&mut ReadoutExample)| {
        let mut examples = good.clone();
        change(&mut examples[5]);
        refused(&examples)
    };
    let short = with(&|example| example.state.truncate(6));
    assert_eq!(
        (short.code(), short.to_string().contains("example at index 5 has 6 numbers and 8")),
        ("wrong_state", true)
    );
    assert_eq!(with(&|example| example.label = 5.5).code(), "label");
    // P16: what is no number is refused where it stands.
    for change in [
        &(|example: &mut ReadoutExample| example.label = f64::NAN) as &dyn Fn(&mut ReadoutExample),
        &|example| example.own = Some(f64::INFINITY),
        &|example| example.own = Some(1e300),
        &|example| example.state[2] = f32::NAN,
    ] {
        let error = with(change);
        assert_eq!(error.code(), "data");
        assert!(
            error.to_string().contains("index 5") || error.to_string().contains("row 5, column 2"),
            "{error}"
        );
    }
    for settings in [
        ReadoutSettings { folds: 1, ..SETTINGS },
        ReadoutSettings { min: 5.0, ..SETTINGS },
        ReadoutSettings { max: f64::NAN, ..SETTINGS },
    ] {
        assert_eq!(fit_readout(&good, &settings).unwrap_err().code(), "data");
    }
    let odd: Vec<_> = good
        .iter()
        .map(|example| ReadoutExample { state: example.state[..7].to_vec(), ..example.clone() })
        .collect();
    assert_eq!(refused(&odd).code(), "wrong_state");

    let readout = fit(&good);
    assert_eq!(readout.apply(&good[0].state[..4], None).unwrap_err().code(), "wrong_state");
    assert_eq!(readout.check_layer(14), Err(ReadoutError::Layer { found: 14, expected: 15 }));
    assert_eq!(readout.check_layer(15), Ok(()));
    assert_eq!(readout.apply(&good[0].state, Some(f64::NAN)).unwrap_err().code(), "data");
    let damaged = |change: &dyn Fn(&mut Readout)| {
        let mut readout = readout.clone();
        change(&mut readout);
        readout.apply(&good[0].state, Some(1.0)).unwrap_err().code()
    };
    assert_eq!(damaged(&|readout| readout.weights.truncate(3)), "wrong_readout");
    assert_eq!(damaged(&|readout| readout.weights.clear()), "wrong_readout");
    assert_eq!(damaged(&|readout| readout.deviation[1] = 0.0), "wrong_readout");
    assert_eq!(damaged(&|readout| readout.min = 9.0), "wrong_readout");
    assert_eq!(damaged(&|readout| readout.blend = f64::NAN), "wrong_readout");
    assert_eq!(damaged(&|readout| readout.format = "other/1".into()), "wrong_readout");
}

#[test]
fn p24_one_seed_one_readout_and_p30_it_survives_its_file() {
    let examples = examples(4, 20, 16, 0.3, 0.5);
    let readout = fit(&examples);
    assert_eq!(fit(&examples), readout);
    let text = serde_json::to_string(&readout).unwrap();
    assert!(text.starts_with(r#"{"format":"retort.readout/1","version":""#), "{text}");
    let read: Readout = serde_json::from_str(&text).unwrap();
    assert_eq!(read, readout);
    let own = examples[0].own;
    assert_eq!(read.apply(&examples[0].state, own), readout.apply(&examples[0].state, own));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 40, ..ProptestConfig::default() })]

    /// Whatever the numbers, there is a readout within its range or an error, and never NaN.
    #[test]
    fn p16_a_readout_says_numbers_or_nothing(
        states in prop::collection::vec(prop::collection::vec(
            prop_oneof![-2.0f32..2.0, Just(0.0), Just(3e38), Just(-3e38), Just(1e-40)], 4), 4..9),
        own in prop::collection::vec(prop::option::of(prop_oneof![-3.0..3.0, Just(1e15), Just(1e-300)]), 9),
        labels in prop::collection::vec(1u8..=5, 9),
        groups in prop::collection::vec(0u8..4, 9),
        seed in any::<u64>(),
    ) {
        let examples: Vec<ReadoutExample> = states.iter().enumerate().map(|(at, state)| ReadoutExample {
            state: state.clone(),
            own: own[at],
            label: f64::from(labels[at]),
            group: groups[at].to_string(),
        }).collect();
        if let Ok(readout) = fit_readout(&examples, &ReadoutSettings { seed, ..SETTINGS }) {
            let numbers = [&readout.weights, &readout.mean, &readout.deviation];
            prop_assert!(numbers.iter().all(|all| all.iter().all(|x| x.is_finite())), "{:?}", readout);
            for example in &examples {
                if let Ok(Some(said)) = readout.apply(&example.state, example.own) {
                    prop_assert!((1.0..=5.0).contains(&said));
                }
            }
        }
    }
}
