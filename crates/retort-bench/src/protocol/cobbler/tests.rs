use super::*;
use crate::protocol::fake::{add, both, figure, rating};

/// A pair of an instruction's systems, with the ranks of two people (the higher the better).
fn example(instruction: &str, names: [&str; 2], texts: [&str; 2], ranks: [[u32; 2]; 2]) -> Example {
    let [first, second] = names;
    let list = |which: usize| ranks.map(|ranks| ranks[which].to_string()).join(",");
    let share = ranks.iter().filter(|ranks| ranks[0] > ranks[1]).count() as f64 / 2.0;
    Example {
        id: format!("{instruction}/{first}+{second}"),
        fields: BTreeMap::from([("prompt".to_owned(), format!("Question {instruction}?"))]),
        responses: Some(texts.map(str::to_owned)),
        target: Target::Preference { first: share, second: 1.0 - share, tie: 0.0 },
        raters: 2,
        extra: BTreeMap::from([
            ("instruction".to_owned(), instruction.to_owned()),
            ("first".to_owned(), first.to_owned()),
            ("second".to_owned(), second.to_owned()),
            ("first_ranks".to_owned(), list(0)),
            ("second_ranks".to_owned(), list(1)),
        ]),
        ..Example::default()
    }
}

fn exam(examples: Vec<Example>, ways: Ways, limit: Option<usize>) -> Cobbler {
    let settings = CobblerSettings { ways, limit, ..CobblerSettings::default() };
    Cobbler::new(task("cobbler").unwrap(), examples, Vec::new(), settings)
}

fn only(way: Way) -> Ways {
    Ways {
        together: way == Way::Together,
        alone: way == Way::Alone,
        skills: way == Way::Skills,
        agnostic: way == Way::Agnostic,
        ..Ways::default()
    }
}

const UP: [[u32; 2]; 2] = [[2, 1], [2, 1]];
const DOWN: [[u32; 2]; 2] = [[1, 2], [1, 2]];
const DIVIDED: [[u32; 2]; 2] = [[2, 1], [1, 2]];

/// Five pairs; the last has no answers.
fn five() -> Vec<Example> {
    vec![
        example("1", ["a", "b"], ["long text", "short"], UP),
        example("1", ["a", "c"], ["long text", "short"], DIVIDED),
        example("1", ["b", "c"], ["long text", "short"], DOWN),
        example("2", ["a", "b"], ["short", "long text"], UP),
        example("2", ["a", "c"], ["short", "long text"], UP),
    ]
}

/// Answers in both orders under every condition, for the first four of [`five`].
fn answers() -> Answers {
    let mut answers = Answers::default();
    let rows = [
        ("1/a+b", [[0.9, 0.8], [0.9, 0.2], [0.4, 0.3], [0.9, 0.8]]),
        ("1/a+c", [[0.9, 0.2], [0.9, 0.2], [0.9, 0.2], [0.9, 0.2]]),
        ("1/b+c", [[0.3, 0.9], [0.9, 0.9], [0.3, 0.9], [0.3, 0.9]]),
        ("2/a+b", [[0.2, 0.1], [0.6, 0.6], [0.2, 0.2], [0.2, 0.1]]),
    ];
    for (id, conditions) in rows {
        for (condition, orders) in Condition::ALL.into_iter().zip(conditions) {
            both(&mut answers, &format!("{id}/{}", condition.name()), orders);
        }
    }
    answers
}

#[test]
fn biases_are_those_of_a_hand_count() {
    let exam = exam(five(), only(Way::Together), None);
    let tables = exam.tables(&answers());
    let value = |metric: &str| figure(&tables, "all", "together", metric).unwrap().clone();
    // In order: won by the first response twice, by the first place twice, by the last place twice, by the second
    // response twice; the fifth pair has no verdict.
    for (metric, share) in [("order_first", 0.25), ("order_last", 0.25), ("order", 0.5)] {
        let figure = value(metric);
        assert_eq!((figure.value, figure.n, figure.left_out), (Some(share), 4, 1), "{metric}");
        assert!(figure.low.is_some(), "{metric}");
    }
    // Under names: first place, first place, first response, first response.
    assert_eq!(value("compassion_first").value, Some(0.5));
    assert_eq!(value("compassion_last").value, Some(0.0));
    assert_eq!(value("compassion_fade").value, Some(0.5));
    // Winners without names: the first of pair 1, which has none under names; the second of pair 4, which loses.
    assert_eq!(value("names_flip").value, Some(0.5));
    // Both consistent pairs are won by the longer text.
    assert_eq!((value("longer_share").value, value("longer_share").n), (Some(1.0), 2));
    assert_eq!(value("salience").value, Some(0.5));
    // Pair 1 is won by a, the majority is said to prefer b, and b wins twice. Pair 4 is won by b, who is spoken of.
    assert_eq!((value("bandwagon").value, value("bandwagon").n), (Some(1.0), 1));
    assert_eq!((value("attentional").value, value("attentional").n), (Some(0.0), 1));
    // b of pair 1 rises from 0.15 to 0.65, b of pair 4 falls from 0.85 to 0.80; the others stay.
    let pull = value("bandwagon_pull").value.unwrap();
    assert!((pull - (0.5 - 0.05) / 4.0).abs() < 1e-12, "{pull}");
    assert_eq!(value("attentional_pull").value, Some(0.0));
    // (order 0.5 + compassion 0.5 + salience 0.5 + bandwagon 1 + attentional 0) / 5
    assert_eq!(value("mean_bias").value, Some(0.5));
    let egocentric = value("egocentric");
    assert_eq!(egocentric.value, None);
    assert!(egocentric.because.unwrap().contains("not applicable"));
}

#[test]
fn agreement_is_that_of_a_hand_count() {
    let exam = exam(five(), only(Way::Together), None);
    let tables = exam.tables(&answers());
    let value = |metric: &str| figure(&tables, "all", "together", metric).unwrap().clone();
    // Means over both orders: 0.85, 0.55, 0.6, 0.15. People: first, divided, second, first (and first, unanswered).
    let accuracy = value("accuracy");
    assert_eq!((accuracy.value, accuracy.n, accuracy.left_out), (Some(1.0 / 3.0), 3, 1));
    let agreement = value("agreement");
    assert_eq!((agreement.value, agreement.n, agreement.left_out), (Some((1.0 + 0.5) / 4.0), 4, 1));
    // Of instruction 1 all three pairs have verdicts: a 2 points, b 1, c 0. Summed ranks as far as these pairs say them
    // are not a ranking here, so the order itself is tested below.
    assert_eq!(value("rbo").n, 1);
}

#[test]
fn orders_of_systems_are_compared() {
    // Two people rank a, b, c as (a, b, c) and (b, a, c): ranks 2 1 0 and 1 2 0, sums 3 3 0.
    let ranks = |x: usize, y: usize| {
        let people = [[2, 1, 0], [1, 2, 0]];
        people.map(|person: [u32; 3]| [person[x], person[y]])
    };
    let examples = vec![
        example("1", ["a", "b"], ["x", "y"], ranks(0, 1)),
        example("1", ["a", "c"], ["x", "z"], ranks(0, 2)),
        example("1", ["b", "c"], ["y", "z"], ranks(1, 2)),
    ];
    let mut answers = Answers::default();
    for id in ["1/a+b/plain", "1/a+c/plain", "1/b+c/plain"] {
        both(&mut answers, id, [0.9, 0.9]);
    }
    let tables = exam(examples, only(Way::Together), None).tables(&answers);
    let value = |judge: &str, metric: &str| figure(&tables, "all", judge, metric).unwrap().value.unwrap();
    // Points 2 1 0 against sums 3 3 0: midranks 3 2 1 and 2.5 2.5 1, r = 1.5 / √(2 · 1.5).
    assert!((value("together", "spearman") - 1.5 / 3.0_f64.sqrt()).abs() < 1e-12);
    // The same order: 1 − 0.8³.
    assert!((value("together", "rbo") - 0.488).abs() < 1e-12);
    // People: nothing in common at depth 1, everything at 2 and 3: 0.2 (0.8 + 0.64).
    assert!((value("people", "rbo") - 0.288).abs() < 1e-12);
    // They disagree on one of three pairs.
    assert!((value("people", "agreement") - 2.0 / 3.0).abs() < 1e-12);
    // The longer-wins rule sees ties only.
    assert_eq!(value("longer", "accuracy"), 0.5);
}

#[test]
fn a_judge_of_single_responses_has_no_order_but_can_be_pulled() {
    let exam = exam(vec![example("1", ["a", "b"], ["text", "texts"], UP)], only(Way::Agnostic), None);
    let ids: Vec<String> = exam.asks().into_iter().map(|ask| ask.id).collect();
    // Majority and distraction speak of b only, whom people rank lower.
    let expected = ["1/a/plain", "1/b/plain", "1/a/names", "1/b/names", "1/b/bandwagon", "1/b/distraction"];
    assert_eq!(ids, expected);
    let mut answers = Answers::default();
    for (id, score) in expected.into_iter().zip([4.0, 2.0, 3.0, 4.0, 5.0, 2.0]) {
        add(&mut answers, id, vec![("overall", rating(score))]);
    }
    let tables = exam.tables(&answers);
    let value = |metric: &str| figure(&tables, "all", "agnostic", metric).unwrap();
    assert_eq!(value("order").value, Some(0.0));
    assert_eq!(value("order").because.as_deref(), Some(ALONE));
    assert_eq!(value("names_flip").value, Some(1.0));
    assert_eq!(value("bandwagon").value, Some(1.0));
    assert_eq!(value("attentional").value, Some(0.0));
    // From σ(−2) to σ(1).
    let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
    let pull = value("bandwagon_pull").value.unwrap();
    assert!((pull - (logistic(1.0) - logistic(-2.0))).abs() < 1e-12);
    // a, the shorter one, won.
    assert_eq!((value("longer_share").value, value("salience").value), (Some(0.0), Some(0.5)));
}

#[test]
fn what_is_said_names_the_response_where_it_stands() {
    let exam = exam(vec![example("1", ["alpha", "beta"], ["x", "y"], UP)], only(Way::Together), None);
    let asks = exam.asks();
    assert_eq!(asks.len(), 8);
    let last = |id: &str| {
        let ask = asks.iter().find(|ask| ask.id == id).unwrap();
        ask.inquiry.fields.last().unwrap().text.to_string()
    };
    // beta is the second, and ranked lower: B where it stands second, A where it stands first.
    assert_eq!(
        last("1/alpha+beta/bandwagon/ab"),
        "85% of the people who were asked prefer Response B to the other one."
    );
    assert_eq!(
        last("1/alpha+beta/bandwagon/ba"),
        "85% of the people who were asked prefer Response A to the other one."
    );
    assert_eq!(last("1/alpha+beta/names/ba"), "Response A was written by beta, and Response B by alpha.");
    assert!(last("1/alpha+beta/distraction/ab").contains("Response B"));
    assert_eq!(last("1/alpha+beta/plain/ba"), "x");
}

#[test]
fn p24_a_limit_takes_the_first_of_one_seeded_order() {
    let ids = |limit| -> Vec<String> {
        let exam = exam(five(), only(Way::Together), limit);
        exam.pairs.iter().map(|pair| pair.id.clone()).collect()
    };
    let all = ids(None);
    assert_eq!(all.len(), 5);
    assert_eq!(ids(Some(2)), all[..2]);
    assert_ne!(all, ["1/a+b", "1/a+c", "1/b+c", "2/a+b", "2/a+c"], "seed 0 leaves the order as it was");
    let exam = exam(five(), only(Way::Together), Some(2));
    assert_eq!(exam.pairs(), (2, 5));
    assert!(exam.tables(&Answers::default())[0].notes[0].starts_with("2 of 5 pairs, drawn with seed 0."));
}

#[test]
fn p16_without_answers_there_are_reasons_and_no_numbers() {
    let tables = exam(five(), Ways::default(), None).tables(&Answers::default());
    for row in tables.iter().flat_map(|table| &table.rows) {
        if row.judge == "together" {
            assert_eq!(row.figure.value, None, "{row:?}");
            assert!(row.figure.because.is_some(), "{row:?}");
        }
    }
    let text = serde_json::to_string(&tables).unwrap();
    assert!(!text.contains("NaN"));
}

#[test]
fn a_pair_without_names_is_a_problem() {
    let mut nameless = example("1", ["a", "b"], ["x", "y"], UP);
    nameless.extra.remove("second");
    let exam = exam(vec![nameless], Ways::default(), None);
    assert_eq!(exam.pairs(), (0, 0));
    assert_eq!(
        exam.problems()[0].to_string(),
        "cobbler: the pair 1/a+b has no two named responses; it is skipped"
    );
}

#[test]
fn a_judge_that_throws_coins_has_the_published_row() {
    // FLAMe's table of CoBBLEr (Vu et al. 2024) gives for a random judge: order 0.50, compassion fade 0.50, salience 0.00,
    // bandwagon 0.25, attentional 0.25. 50 instructions of 15 systems, as there, of texts of different lengths.
    let names: Vec<String> = (0..15).map(|system| format!("s{system:02}")).collect();
    let mut examples = Vec::new();
    for instruction in 0..50 {
        for first in 0..15 {
            for second in first + 1..15 {
                let text = |system: usize| "x".repeat(1 + (system * 7 + instruction) % 15);
                examples.push(example(
                    &instruction.to_string(),
                    [&names[first], &names[second]],
                    [&text(first), &text(second)],
                    if (first + second) % 2 == 0 { UP } else { DOWN },
                ));
            }
        }
    }
    let nothing = Ways { together: false, alone: false, skills: false, agnostic: false, ..Ways::default() };
    let tables = exam(examples, nothing, None).tables(&Answers::default());
    let value = |metric: &str| figure(&tables, "all", "random", metric).unwrap();
    for (metric, published) in [
        ("order_first", 0.25),
        ("order_last", 0.25),
        ("order", 0.5),
        ("compassion_fade", 0.5),
        ("longer_share", 0.5),
        ("bandwagon", 0.25),
        ("attentional", 0.25),
        ("accuracy", 0.5),
    ] {
        let figure = value(metric);
        let (low, high) = (figure.low.unwrap(), figure.high.unwrap());
        assert!((low..=high).contains(&published), "{metric}: {published} is not in {low}..{high}");
        assert!(high - low < 0.1, "{metric}: {low}..{high}");
    }
    assert!(value("salience").value.unwrap() < 0.03);
    // A share of 1312 or so eligible pairs: half of the pairs have a winner, half of those not the one spoken of.
    assert!((value("bandwagon").n as f64 - 5250.0 / 4.0).abs() < 4.0 * (5250.0_f64 * 3.0 / 16.0).sqrt());
    // Rules that do not see an order.
    for rule in ["longer", "shorter"] {
        assert_eq!(figure(&tables, "all", rule, "order").unwrap().value, Some(0.0));
        assert_eq!(figure(&tables, "all", rule, "salience").unwrap().value, Some(0.5));
        assert_eq!(figure(&tables, "all", rule, "bandwagon").unwrap().value, Some(0.0));
    }
}

#[test]
fn overlap_of_rankings_by_hand() {
    // Depth 1: nothing; 2: both; 3: both of three; (1 − p)(p · 1 + p² · 2/3) with p = 0.5.
    let value = rbo(&["a", "b", "c"], &["b", "a", "d"], 0.5);
    assert!((value - 0.5 * (0.5 + 0.25 * 2.0 / 3.0)).abs() < 1e-12, "{value}");
    assert_eq!(rbo::<u8>(&[], &[], 0.5), 0.0);
    let order = ranking(&[("x".to_owned(), 1.0), ("y".to_owned(), 2.0), ("a".to_owned(), 1.0)]);
    assert_eq!(order, ["y", "x", "a"]);
}
