use proptest::prelude::*;
use retort_judge::{Method, OptionProbability, Verdict};
use retort_stats::auc;

use super::*;
use crate::{AnswerRecord, Ask, Row, Seen};

fn of<'m, 'a>(judge: &'m Measure<'a>, other: &'m Measure<'a>) -> [Leaf<'m, 'a>; 1] {
    [Leaf { family: 0, judge, other: Other::Measure(other) }]
}

fn close(found: Option<f64>, right: f64) {
    assert!(found.is_some_and(|found| (found - right).abs() < 1e-12), "{found:?} instead of {right}");
}

#[test]
fn a_difference_is_over_the_items_of_both() {
    let judge =
        Measure::mean(&[("a", Some(1.0)), ("b", Some(1.0)), ("c", Some(0.0)), ("d", Some(1.0)), ("e", None)]);
    let base =
        Measure::mean(&[("a", Some(0.0)), ("b", Some(1.0)), ("c", Some(0.0)), ("d", None), ("e", Some(0.0))]);
    let found = paired(&of(&judge, &base), 1.0);
    // Over a, b and c: 2/3 − 1/3.
    close(found.judge, 2.0 / 3.0);
    close(found.other, 1.0 / 3.0);
    close(found.difference.value, 1.0 / 3.0);
    assert_eq!((found.difference.n, found.difference.left_out), (3, 2));
    let turned = paired(&of(&judge, &base), -1.0);
    close(turned.difference.value, -1.0 / 3.0);
    close(turned.difference.high, -found.difference.low.unwrap());
}

/// What is beside the point for one judge still counts for the other.
#[test]
fn items_beside_the_point_are_drawn_all_the_same() {
    let judge = Measure::mean_of([("a", Seen::Counts(1.0)), ("b", Seen::Beside), ("c", Seen::Beside)]);
    let base = Measure::mean_of([("a", Seen::Counts(0.0)), ("b", Seen::Counts(1.0)), ("c", Seen::Beside)]);
    let found = paired(&of(&judge, &base), 1.0);
    close(found.difference.value, 0.5);
    assert_eq!((found.difference.n, found.difference.left_out), (2, 0));
}

#[test]
fn what_is_hard_for_both_cancels() {
    // Prompts are easy or hard; the judge is better by a tenth on each.
    let items = |more: f64| -> Vec<(usize, Option<f64>)> {
        (0..40).map(|item| (item, Some(f64::from(u8::from(item % 2 == 0)) + more))).collect()
    };
    let (judge, base) = (Measure::mean(&items(0.1)), Measure::mean(&items(0.0)));
    let found = paired(&of(&judge, &base), 1.0).difference;
    close(found.value, 0.1);
    assert!(found.high.unwrap() - found.low.unwrap() < 1e-12, "{found:?}");
    assert_eq!(clear(&found, Better::Higher), Some(Clear::Above));
    for figure in [judge.figure(), base.figure()] {
        assert!(figure.high.unwrap() - figure.low.unwrap() > 0.25, "{figure:?}");
    }
}

/// The numbers are those of a numpy script of its own: SplitMix64 from seed 0, draws of 20 clusters (the item's number times
/// 7, modulo 20), both areas by comparing all couples, `numpy.quantile` of the 2,000 differences.
#[test]
fn areas_under_curves_as_numpy_has_them() {
    let measure = |more: f64, missing: fn(usize) -> bool| {
        let items = (0..60).map(move |item: usize| {
            let positive = item.is_multiple_of(3);
            #[expect(clippy::cast_precision_loss, reason = "below 61")]
            let score = (item * 37 % 61) as f64 / 61.0 + if positive { more } else { 0.0 };
            let seen = if missing(item) { Seen::Unanswered } else { Seen::Counts((positive, score)) };
            (item * 7 % 20, seen)
        });
        Measure::of(items, |items: &[(bool, f64)]| {
            let (truth, scores): (Vec<bool>, Vec<f64>) = items.iter().copied().unzip();
            auc(&truth, &scores)
        })
    };
    let (judge, base) = (measure(0.35, |item| item % 11 == 5), measure(0.1, |item| item % 13 == 7));
    let found = paired(&of(&judge, &base), 1.0);
    close(found.judge, 0.815_972_222_222_222_2);
    close(found.other, 0.609_375);
    close(found.difference.value, 0.206_597_222_222_222_2);
    close(found.difference.low, 0.158_083_397_832_817_33);
    close(found.difference.high, 0.280_304_383_116_883_2);
    assert_eq!((found.difference.n, found.difference.left_out), (50, 10));
    // The script's intervals of each over the same items are 0.213 and 0.288 wide, this one 0.122.
}

#[test]
fn means_over_tasks_are_over_families_first() {
    let constant = |value: f64| Measure::mean(&[(0, Some(value)), (1, Some(value))]);
    let (judge, base) = ([constant(1.0), constant(0.5), constant(0.25)], constant(0.0));
    let leaf = |family, judge| Leaf { family, judge, other: Other::Measure(&base) };
    let leaves = [leaf(0, &judge[0]), leaf(0, &judge[1]), leaf(1, &judge[2])];
    let found = paired(&leaves, 1.0);
    // (1 + 0.5)/2 of the first family, 0.25 of the second.
    close(found.judge, 0.5);
    assert_eq!(found.tasks, 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_judge_against_itself_differs_by_nothing(
        items in prop::collection::vec((0u8..9, prop::option::of(-5.0f64..5.0)), 2..40),
    ) {
        let (judge, base) = (Measure::mean(&items), Measure::mean(&items));
        let found = paired(&of(&judge, &base), 1.0).difference;
        if items.iter().any(|(_, value)| value.is_some()) {
            prop_assert_eq!(found.value, Some(0.0));
        }
        if found.low.is_some() {
            prop_assert_eq!((found.low, found.high), (Some(0.0), Some(0.0)));
        }
        prop_assert_eq!(clear(&found, Better::Higher), None);
    }
}

/// Twenty pairs, all won by the first; a yes/no answer for each, by way.
struct Small;

impl Exam for Small {
    fn name(&self) -> &str {
        "small"
    }

    fn asks(&self) -> Vec<Ask<'_>> {
        Vec::new()
    }

    fn measures<'a>(&'a self, answers: &Answers) -> Vec<Table<Measure<'a>>> {
        let mut rows = Vec::new();
        for metric in ["accuracy", "padding_wins"] {
            for judge in ["alone", "together", "longer"] {
                let value = |item: usize| match judge {
                    "longer" => Some(f64::from(u8::from(item.is_multiple_of(4)))),
                    way => answers.expected(&item.to_string(), way),
                };
                let items: Vec<_> = (0..20).map(|item| (item, value(item))).collect();
                let figure = Measure::mean(&items);
                rows.push(Row { part: "all".into(), judge: judge.into(), metric: metric.into(), figure });
            }
        }
        vec![Table { title: "Small".into(), rows, notes: Vec::new() }]
    }
}

fn given(way: &str, right: impl Fn(usize) -> bool) -> Answers {
    let mut answers = Answers::default();
    for item in 0..20 {
        let p = f64::from(u8::from(right(item)));
        let option =
            |label: &str, value, probability| OptionProbability { label: label.into(), value, probability };
        let verdict = Verdict::Scored {
            expected: p,
            min: 0.0,
            max: 1.0,
            distribution: vec![option("no", 0.0, 1.0 - p), option("yes", 1.0, p)],
            mass: 1.0,
            method: Method::OptionProbabilities,
            truncated: false,
            not_applicable: None,
        };
        answers.insert(AnswerRecord {
            id: item.to_string(),
            verdicts: vec![(way.into(), verdict)],
            tokens: 0,
        });
    }
    answers
}

const HEADLINES: [Headline; 2] = [
    Headline { benchmark: "One", part: Some("all"), metric: "accuracy", way: None, counts: true, why: "" },
    Headline {
        benchmark: "Two",
        part: Some("all"),
        metric: "padding_wins",
        way: None,
        counts: true,
        why: "",
    },
];

#[test]
fn ways_are_paired_and_less_is_turned() {
    // The judge alone is right on all but two, the base together on a half.
    let judge = given("alone", |item| item > 1);
    let base = given("together", |item| item % 2 == 0);
    let ways = ["alone:together".parse().unwrap()];
    let found = compare(&Small, &HEADLINES, &judge, &base, &ways);
    let of = |metric: &str, against: &Opponent| {
        let mut rows = found.sections[0].rows.iter();
        rows.find(|row| row.metric == metric && row.against == *against).unwrap()
    };
    let together = Opponent::Base("together".into());
    close(of("accuracy", &together).difference.value, 0.4);
    assert_eq!(of("accuracy", &together).clear, Some(Clear::Above));
    // The same answers read as wins of padding: more of them is worse.
    close(of("padding_wins", &together).difference.value, -0.4);
    assert_eq!(of("padding_wins", &together).clear, Some(Clear::Below));
    close(of("accuracy", &Opponent::Chance).difference.value, 0.4);
    close(of("accuracy", &Opponent::Rule("longer".into())).difference.value, 0.65);
    close(of("accuracy", &Opponent::BasesBest("together".into())).difference.value, 0.4);
    let all = summaries(&[found], &[]);
    assert_eq!(all.len(), 2);
    assert_eq!((all[0].way.as_str(), all[0].base_way.as_deref()), ("alone", Some("together")));
    assert_eq!((all[0].above, all[0].of), (1, 2));
    close(all[0].lines[1].judge, 0.1);
    // (0.9 + 0.1)/2 against (0.25 + 0.75)/2 of the longer.
    let longer = all[0].means.iter().find(|means| means.against == "longer").unwrap();
    close(Some(longer.judge), 0.5);
    close(Some(longer.other), 0.5);
    assert!("alone-together".parse::<WayPair>().is_err());
}

#[test]
fn p51_names_in_comparisons_are_no_markup() {
    let found = compare(&Small, &HEADLINES, &given("alone", |_| true), &given("alone", |item| item > 4), &[]);
    let comparison = Comparison {
        judge: "<script>alert(1)</script>".into(),
        base: "\"><img src=x>".into(),
        summaries: summaries(std::slice::from_ref(&found), &[]),
        sections: found.sections,
        notes: vec!["a | b <i>".into()],
    };
    let page = html(std::slice::from_ref(&comparison), &[]);
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("<i>"), "{page}");
    assert!(page.contains("+0.250") && page.contains("<b>better</b>"), "{page}");
    let text = markdown(&[comparison], &[]);
    assert!(text.contains("a \\| b &lt;i>") && text.contains("**better**"), "{text}");
}
