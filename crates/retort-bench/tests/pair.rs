//! What answers about pairs come to, by hand.
#![expect(clippy::unwrap_used, reason = "test code")]

use retort_bench::pair::{Baseline, Pair, Way, overlap, preference};
use retort_bench::{AnswerRecord, Answers, Example, Figure, Target};
use retort_judge::{Calibration, Field, Method, OptionProbability, Unscored, Verdict};

fn scored(options: &[(&str, f64, f64)]) -> Verdict {
    let distribution: Vec<OptionProbability> = options
        .iter()
        .map(|&(label, value, probability)| OptionProbability { label: label.into(), value, probability })
        .collect();
    Verdict::Scored {
        expected: options.iter().map(|(_, value, probability)| value * probability).sum(),
        min: options.first().unwrap().1,
        max: options.last().unwrap().1,
        distribution,
        mass: 1.0,
        method: Method::OptionProbabilities,
        truncated: false,
        not_applicable: None,
    }
}

fn answers(given: &[(&str, &str, Verdict)]) -> Answers {
    let mut answers = Answers::default();
    let mut ids: Vec<&str> = given.iter().map(|(id, ..)| *id).collect();
    ids.dedup();
    for id in ids {
        let verdicts = given
            .iter()
            .filter(|(known, ..)| *known == id)
            .map(|(_, key, verdict)| ((*key).to_owned(), verdict.clone()))
            .collect();
        answers.insert(AnswerRecord { id: id.to_owned(), verdicts, tokens: 0 });
    }
    answers
}

fn a_or_b(a: f64) -> Verdict {
    scored(&[("B", 0.0, 1.0 - a), ("A", 1.0, a)])
}

fn yes(p: f64) -> Verdict {
    scored(&[("no", 0.0, 1.0 - p), ("yes", 1.0, p)])
}

#[test]
fn p18_both_orders_are_averaged_and_flips_are_told() {
    // First in the first place: 0.75. First in the second place: B has 1 − 0.375 = 0.625. Mean 0.6875; both say the first.
    let found = answers(&[("x/ab", "better", a_or_b(0.75)), ("x/ba", "better", a_or_b(0.375))]);
    let found = preference("x", Way::Together, &found).unwrap();
    assert_eq!((found.first, found.flipped, found.win()), (0.6875, Some(false), 1.0));
    assert_eq!(found.by_order, Some([0.75, 0.625]));

    // A judge that always says A with 0.75: 0.75 and 0.25, mean 0.5: a tie, and a flip.
    let found = answers(&[("x/ab", "better", a_or_b(0.75)), ("x/ba", "better", a_or_b(0.75))]);
    let found = preference("x", Way::Together, &found).unwrap();
    assert_eq!((found.first, found.flipped, found.win()), (0.5, Some(true), 0.5));
}

#[test]
fn alone_the_difference_of_log_odds_decides() {
    // Odds 3 and 1/3: log-odds differ by 2 ln 3, whose logistic is 9/10.
    let found = answers(&[("x/first", "good", yes(0.75)), ("x/second", "good", yes(0.25))]);
    let found = preference("x", Way::Alone, &found).unwrap();
    assert!((found.first - 0.9).abs() < 1e-12, "{}", found.first);
    assert_eq!((found.flipped, found.by_order), (None, None));
    // Certain on both: a tie, not NaN.
    let found = answers(&[("x/first", "good", yes(1.0)), ("x/second", "good", yes(1.0))]);
    assert_eq!(preference("x", Way::Alone, &found).unwrap().win(), 0.5);
}

#[test]
fn a_calibrated_difference_has_its_own_temperature_and_the_same_winner() {
    let form = r#"{"form": 1, "rows": 60, "mixture_sha256": "", "difference": {"temperature": 2, "rows": 30},
        "scales": [{"labels": ["no", "yes"], "temperature": 0.5, "bias": [-1, 1], "rows": 30}]}"#;
    let calibration = Calibration::read(form).unwrap().unwrap();
    // Odds of the model of 3 and 1/3, set right as a run does it.
    let set_right = |p: f64| {
        let shares = calibration.shares(&["no", "yes"], &[(1.0 - p).ln(), p.ln()]).unwrap();
        yes(shares[1])
    };
    let plain = answers(&[("x/first", "good", set_right(0.75)), ("x/second", "good", set_right(0.25))]);
    let mut found = Answers::read_by(Some(calibration.clone()));
    for id in ["x/first", "x/second"] {
        let verdicts = vec![("good".to_owned(), plain.verdict(id, "good").unwrap().clone())];
        found.insert(AnswerRecord { id: id.into(), verdicts, tokens: 0 });
    }
    // The model's own log-odds differ by 2 ln 3; half of that is ln 3, whose logistic is 3/4.
    let preference = preference("x", Way::Alone, &found).unwrap();
    assert!((preference.first - 0.75).abs() < 1e-9, "{}", preference.first);
    assert_eq!(preference.win(), 1.0);
    // Of shares by T = 1/2 the difference would be 4 ln 3, and 81/82 the probability: so it matters.
    assert!(
        (retort_bench::pair::preference("x", Way::Alone, &plain).unwrap().first - 81.0 / 82.0).abs() < 1e-9
    );
}

#[test]
fn skills_without_a_score_are_left_out_of_the_mean() {
    let level = |value: f64| scored(&[("1", 1.0, 0.0), ("5", value, 1.0)]);
    let none = Verdict::Unscored(Unscored::NotApplicable { probability: 0.9 });
    let found = answers(&[
        ("x/first", "readability", level(4.0)),
        ("x/first", "factuality", none.clone()),
        ("x/first", "conciseness", level(2.0)),
        ("x/second", "readability", level(3.0)),
        ("x/second", "factuality", level(3.0)),
        ("x/second", "conciseness", none),
    ]);
    // Means 3 and 3: a tie.
    assert_eq!(preference("x", Way::Skills, &found).unwrap().first, 0.5);
}

#[test]
fn what_was_not_asked_or_has_no_score_has_no_preference() {
    let none = Verdict::Unscored(Unscored::Cancelled);
    let found = answers(&[("x/ab", "better", a_or_b(0.75)), ("x/ba", "better", none)]);
    assert_eq!(preference("x", Way::Together, &found), None);
    assert_eq!(preference("x", Way::Alone, &found), None);
    assert_eq!(preference("y", Way::Together, &found), None);
}

#[test]
fn rules_by_hand() {
    let fields = vec![Field::prompt("Name the largest planet of the solar system.")];
    // Six characters against nine, though the first has more bytes.
    let pair = Pair { id: "x", fields, responses: ["ÄÖÜäöü", "planetary"] };
    assert_eq!((Baseline::Longer.win(&pair), Baseline::Shorter.win(&pair)), (0.0, 1.0));
    // No word of either is in the prompt: a tie.
    assert_eq!(Baseline::Overlap.win(&pair), 0.5);
    let same = Pair { responses: ["Jupiter", "Neptune"], ..pair.clone() };
    assert_eq!((Baseline::Longer.win(&same), Baseline::Shorter.win(&same)), (0.5, 0.5));
    let throw = |id: &'static str| Baseline::Random { seed: 3 }.win(&Pair { id, ..pair.clone() });
    assert_eq!(throw("x"), throw("x"));
    let ids: Vec<String> = (0..400).map(|n| n.to_string()).collect();
    let heads: f64 =
        ids.iter().map(|id| Baseline::Random { seed: 3 }.win(&Pair { id, ..pair.clone() })).sum();
    // 400 fair throws: 200 with a standard deviation of 10; five of them on either side.
    assert!((150.0..=250.0).contains(&heads), "{heads}");
}

#[test]
fn overlap_by_hand() {
    let prompt = [Field::prompt("red blue green")];
    // Words red, dog: one of two is in the prompt.
    assert_eq!(overlap("Red red dog", &prompt), 0.5);
    assert_eq!(overlap("", &prompt), 0.0);
    // With a reference: common subsequence "a c" of 2 words, of 2 and 3 words: F1 = 2·2/(2+3) = 0.8.
    let with_reference = [Field::prompt("x"), Field::reference("a b c")];
    assert!((overlap("a c", &with_reference) - 0.8).abs() < 1e-12);
}

#[test]
fn majorities() {
    let preference = |first, second, tie| Target::Preference { first, second, tie }.majority();
    assert_eq!(preference(0.6, 0.4, 0.0), Some(0));
    assert_eq!(preference(0.5, 0.5, 0.0), None);
    assert_eq!(preference(0.3, 0.2, 0.5), None);
    assert_eq!(Target::Options(vec![0.2, 0.5, 0.3]).majority(), Some(1));
    assert_eq!(Target::Unknown.majority(), None);
    assert_eq!(Example::default().target.majority(), None);
}

#[test]
fn a_figure_of_nothing_says_so() {
    let none: Figure = Figure::mean::<u8>(&[(1, None), (2, None)]);
    assert_eq!((none.value, none.n, none.left_out), (None, 0, 2));
    assert!(none.because.unwrap().contains("at least 1"));
    let one = Figure::mean(&[(1, Some(0.25)), (1, Some(0.75)), (2, None)]);
    // One cluster: a mean, and no interval.
    assert_eq!((one.value, one.low, one.n, one.left_out), (Some(0.5), None, 2, 1));
    let two = Figure::mean(&[(1, Some(0.0)), (2, Some(1.0))]);
    // Two clusters of one: every resample is 0, 0.5 or 1, each often enough to be the ends.
    assert_eq!((two.value, two.low, two.high), (Some(0.5), Some(0.0), Some(1.0)));
}
