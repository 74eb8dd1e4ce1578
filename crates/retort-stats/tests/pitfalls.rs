//! What such tools get wrong, and the right values; each test names the pitfall's number. All values by hand.

use retort_stats::{
    Across, Bootstrap, BootstrapMethod, BothOrders, Categories, InputError, LENGTH_SKILLS, LeftOut, Level,
    Pairs, Place, Rewritten, Scale, Scored, Side, Statistic, Undefined, Why, Winner, auc, balanced_accuracy,
    brier, brier_multiclass, cohen_kappa, expected_calibration_error, kendall_tau_b, krippendorff_alpha,
    length_score_correlation, mean, mean_of_scores, midranks, order_effects, pearson, quadratic_kappa,
    resample, robustness_ratio, rouge_l, spearman, win_rate, words,
};

use Statistic::{Undefined as None_, Value};

#[test]
fn p14_p17_scales_of_different_ranges_are_refused_or_normalised() {
    let (five, ten) = (Scale::new(1.0, 5.0).unwrap(), Scale::new(0.0, 10.0).unwrap());
    let scores = [Scored { score: Some(5.0), scale: five }, Scored { score: Some(5.0), scale: ten }];
    // As they are, 5 and 5 would have the mean 5; but one is the best and the other is the middle.
    assert_eq!(
        mean_of_scores(&scores, Across::Refuse),
        Err(InputError::MixedScales { index: 1, found: ten, expected: five })
    );
    assert_eq!(mean_of_scores(&scores, Across::Normalise).unwrap().mean, Value(0.75));
    // One scale needs no normalising, and has the mean in its own units.
    assert_eq!(mean_of_scores(&[scores[0], scores[0]], Across::Refuse).unwrap().mean, Value(5.0));
    // P14: 2 on a scale of 2 to 4 is the bottom.
    assert_eq!(Scale::new(2.0, 4.0).unwrap().normalise(2.0), Some(0.0));
    assert_eq!(five.normalise(6.0), None);
    let outside = [Scored { score: Some(0.0), scale: five }];
    assert!(matches!(
        mean_of_scores(&outside, Across::Normalise),
        Err(InputError::OutOfRange { place: Place::Index(0), min: 1.0, max: 5.0, .. })
    ));
    // A scale that was asked about but not scored still is another scale.
    let unscored = [scores[0], Scored { score: None, scale: ten }];
    assert!(mean_of_scores(&unscored, Across::Refuse).is_err());
    assert!(Scale::new(5.0, 5.0).is_err() && Scale::new(-f64::MAX, f64::MAX).is_err());
    assert!(Scale::new(f64::NAN, 5.0).is_err() && Scale::new(0.0, f64::INFINITY).is_err());
}

#[test]
fn p15_missing_values_are_in_neither_sum_nor_divisor() {
    let found = mean(&[Some(2.0), None, Some(4.0)]).unwrap();
    assert_eq!((found.mean, found.count, found.missing), (Value(3.0), 2, 1));
    assert_eq!(mean(&[None, None]).unwrap().mean, None_(Undefined::TooFew { needed: 1, found: 0 }));
}

#[test]
fn p16_what_is_not_finite_is_refused_with_its_place() {
    let bad = [1.0, f64::NAN, 2.0];
    let good = [1.0, 2.0, 3.0];
    let at = |error: InputError| match error {
        InputError::NotFinite { place: Place::Index(index), .. } => index,
        other => panic!("{other}"),
    };
    for figure in [pearson, spearman, kendall_tau_b, cohen_kappa, quadratic_kappa, balanced_accuracy] {
        assert_eq!(at(figure(&bad, &good).unwrap_err()), 1);
        assert_eq!(at(figure(&good, &bad).unwrap_err()), 1);
        assert_eq!(at(figure(&good, &[1.0, 2.0, f64::INFINITY]).unwrap_err()), 2);
        assert!(matches!(
            figure(&good, &[1.0]),
            Err(InputError::Lengths { first_len: 3, second_len: 1, .. })
        ));
    }
    let events = [true, false, true];
    assert_eq!(at(auc(&events, &bad).unwrap_err()), 1);
    assert_eq!(at(brier(&events, &bad).unwrap_err()), 1);
    assert_eq!(at(expected_calibration_error(&events, &bad, 10).unwrap_err()), 1);
    assert_eq!(at(midranks(&bad).unwrap_err()), 1);
    assert_eq!(at(length_score_correlation(&good, &bad).unwrap_err()), 1);
    assert_eq!(at(mean(&bad.map(Some)).unwrap_err()), 1);
    assert_eq!(at(Pairs::by_position(&good.map(Some), &bad.map(Some)).unwrap_err()), 1);
    let cell = krippendorff_alpha(&[good.map(Some), bad.map(Some)], Level::Interval).unwrap_err();
    assert!(matches!(cell, InputError::NotFinite { place: Place::Cell { row: 1, column: 1 }, .. }));
    assert_eq!(
        cell.to_string(),
        "a rating is NaN in row 1, column 1; give a finite number, or leave it out as missing"
    );
    let rewritten = [Rewritten { skill: "Readability", before: Some(3.0), after: Some(f64::NAN) }];
    assert_eq!(at(robustness_ratio(&rewritten, &[], 0.0).unwrap_err()), 0);
    // A figure of the caller's own is held to the same.
    assert!(Bootstrap::default().by_row(3, |_| Ok(Value(f64::NAN))).is_err());
    // Probabilities have a range, and rows of them a sum.
    assert!(matches!(brier(&[true], &[1.5]), Err(InputError::OutOfRange { place: Place::Index(0), .. })));
    assert!(matches!(brier_multiclass(&[0], &[[0.5, 0.2]]), Err(InputError::BadSum { row: 0, .. })));
    assert!(matches!(brier_multiclass(&[2], &[[0.5, 0.5]]), Err(InputError::NoSuchClass { class: 2, .. })));
    assert!(expected_calibration_error(&[true], &[0.5], 0).is_err());
    assert!(length_score_correlation(&[-1.0, 2.0], &[1.0, 2.0]).is_err());
    // Nor does a file get a NaN: what is undefined is null there.
    let constant = pearson(&[1.0, 1.0], &[1.0, 2.0]).unwrap();
    assert_eq!(
        serde_json::to_string(&constant).unwrap(),
        r#"{"value":null,"undefined":{"reason":"constant","side":"first"}}"#
    );
    assert_eq!(serde_json::to_string(&Value(0.5)).unwrap(), r#"{"value":0.5,"undefined":null}"#);
}

/// Four prompts, each judged in both orders by a judge that likes what it reads first, whatever it is.
fn likes_the_first() -> [BothOrders; 4] {
    [BothOrders { a_first: Some(Winner::A), b_first: Some(Winner::B) }; 4]
}

#[test]
fn p17_a_mean_over_other_scales_goes_by_their_ends_and_not_by_their_values() {
    let on = |score, min, max| Scored { score: Some(score), scale: Scale::new(min, max).unwrap() };
    // (4−1)/4 = 0.75 of 1 to 5, 0.25 of 0 to 100, 0.5 of −1 to 1: their mean is 0.5. As they are it would be 9⅔.
    let scores = [on(4.0, 1.0, 5.0), on(25.0, 0.0, 100.0), on(0.0, -1.0, 1.0)];
    assert_eq!(mean_of_scores(&scores, Across::Normalise).unwrap().mean, Value(0.5));
    assert!(matches!(mean_of_scores(&scores, Across::Refuse), Err(InputError::MixedScales { index: 1, .. })));
    // One end that differs makes another scale, wherever in the column it stands.
    let mixed = [on(4.0, 1.0, 5.0), on(4.0, 1.0, 5.0), on(4.0, 0.0, 5.0)];
    assert!(matches!(mean_of_scores(&mixed, Across::Refuse), Err(InputError::MixedScales { index: 2, .. })));
    // A missing score has no part in the mean, of whichever scale: (0.75 + 0.5)/2.
    let missing = Scored { score: None, ..scores[1] };
    let found = mean_of_scores(&[scores[0], missing, scores[2]], Across::Normalise).unwrap();
    assert_eq!((found.mean, found.count, found.missing), (Value(0.625), 2, 1));
}

#[test]
fn p18_one_order_alone_is_no_comparison_and_disagreement_is_reported() {
    let pairs = likes_the_first();
    // In one order alone, A wins all; and in the other alone, B does. Neither rate knows of the other.
    assert_eq!(win_rate(&pairs.map(|pair| pair.a_first)).rate, Value(1.0));
    assert_eq!(win_rate(&pairs.map(|pair| pair.b_first)).rate, Value(0.0));
    let found = order_effects(&pairs);
    assert_eq!((found.flip_rate, found.first_shown_rate), (Value(1.0), Value(1.0)));
    assert_eq!((found.compared, found.same, found.reversed), (4, 0, 4));
    // Over both orders, such a judge has no preference for a response.
    let both: Vec<_> = pairs.iter().flat_map(|pair| [pair.a_first, pair.b_first]).collect();
    assert_eq!(win_rate(&both).rate, Value(0.5));
    // What was judged in one order only counts as failed, not as agreement.
    let once = [BothOrders { a_first: Some(Winner::A), b_first: None }; 3];
    let found = order_effects(&once);
    assert_eq!((found.compared, found.failed), (0, 3));
    assert_eq!(found.flip_rate, None_(Undefined::TooFew { needed: 1, found: 0 }));
    // And the disagreement is in the file.
    let written = serde_json::to_value(order_effects(&pairs)).unwrap();
    assert_eq!((written["flip_rate"]["value"].as_f64(), written["reversed"].as_u64()), (Some(1.0), Some(4)));
}

#[test]
fn p19_rows_and_winners_go_by_id_and_not_by_place_or_name() {
    // Ids that splitting on "_" would confuse: model, prompt and version run together.
    let names = ["a", "a_b", "a_b_1", "b_1", "b", "_", "model_a", "model_b"];
    let people: Vec<_> = names.iter().zip(1..).map(|(id, score)| (*id, Some(f64::from(score)))).collect();
    // The judge's rows come the other way round, ten times as high, with one more at the front.
    let mut judge: Vec<_> = people.iter().rev().map(|(id, score)| (*id, score.map(|s| 10.0 * s))).collect();
    judge.insert(0, ("a_", Some(0.0)));
    let pairs = Pairs::by_id(&people, &judge).unwrap();
    assert_eq!(pairs.ids, names);
    assert!(pairs.first.iter().zip(&pairs.second).all(|(one, ten)| 10.0 * one == *ten));
    assert_eq!(pearson(&pairs.first, &pairs.second).unwrap(), Value(1.0));
    assert_eq!(pairs.left_out, [LeftOut { id: "a_", why: Why::OnlyInSecond }]);
    // By place the same rows would say the opposite.
    let reversed: Vec<_> = judge[1..].iter().map(|row| row.1).collect();
    let placed = Pairs::by_position(&people.iter().map(|row| row.1).collect::<Vec<_>>(), &reversed).unwrap();
    assert_eq!(pearson(&placed.first, &placed.second).unwrap(), Value(-1.0));
    // A winner is a response, wherever it was shown: the same one twice is no flip, and no preference for a place.
    let b_twice = order_effects(&[BothOrders { a_first: Some(Winner::B), b_first: Some(Winner::B) }]);
    assert_eq!((b_twice.flip_rate, b_twice.first_shown_rate), (Value(0.0), Value(0.5)));
    assert_eq!(serde_json::to_string(&[Winner::A, Winner::B, Winner::Tie]).unwrap(), r#"["a","b","tie"]"#);
}

#[test]
fn p20_length_and_order_show_in_numbers() {
    // As was reported of one judge: of 1000 pairs, A always the longer one, 129 flip, and A wins 680 of the first
    // order. 616 + 64 are A there; 616 and 255 stay as they are, 64 and 65 flip.
    let pair = |a_first, b_first| BothOrders { a_first: Some(a_first), b_first: Some(b_first) };
    let mut pairs = vec![pair(Winner::A, Winner::A); 616];
    pairs.extend(vec![pair(Winner::B, Winner::B); 255]);
    pairs.extend(vec![pair(Winner::A, Winner::B); 64]);
    pairs.extend(vec![pair(Winner::B, Winner::A); 65]);
    let first: Vec<_> = pairs.iter().map(|pair| pair.a_first).collect();
    assert_eq!(win_rate(&first).rate, Value(0.68));
    let found = order_effects(&pairs);
    assert_eq!((found.flip_rate, found.compared, found.reversed), (Value(0.129), 1000, 129));
    // 616 + 255 once each, 64 twice, 65 never: 999 of 2000 went to the one shown first.
    assert_eq!(found.first_shown_rate, Value(0.4995));
    // Scores that rise by ½ with every 100 words, and scores that length does not sway.
    let lengths = [100.0, 200.0, 300.0, 400.0];
    let sways = length_score_correlation(&lengths, &[2.0, 2.5, 3.0, 3.5]).unwrap();
    assert_eq!((sways.spearman, sways.count), (Value(1.0), 4));
    // Deviations −3, −1, 1, 3 and 0.5, −0.5, −0.5, 0.5: products −1.5 + 0.5 − 0.5 + 1.5 = 0.
    let even = length_score_correlation(&lengths, &[3.0, 2.0, 2.0, 3.0]).unwrap();
    assert_eq!((even.pearson, even.spearman), (Value(0.0), Value(0.0)));
}

#[test]
fn p21_ties_count_half_and_failures_apart() {
    use Winner::{A, B, Tie};
    let found = win_rate(&[Some(A), Some(Tie), Some(Tie), Some(B), None, None]);
    // (1 + 2·½) / 4. Ties in the divisor alone would give 0.25; failures as ties, 0.5 of six.
    assert_eq!(found.rate, Value(0.5));
    assert_eq!((found.wins, found.ties, found.losses, found.failed), (1, 2, 1, 2));
    let found = win_rate(&[Some(A), Some(Tie), None]);
    assert_eq!((found.rate, found.failed), (Value(0.75), 1));
    assert_eq!(win_rate(&[None]).rate, None_(Undefined::TooFew { needed: 1, found: 0 }));

    let both = |a_first, b_first| BothOrders { a_first, b_first };
    let found = order_effects(&[
        both(Some(A), Some(A)),     // A wherever it stands
        both(Some(A), Some(B)),     // the one shown first, twice: a flip
        both(Some(Tie), Some(B)),   // half a flip; B won where it was shown first
        both(Some(Tie), Some(Tie)), // the same
        both(Some(A), None),        // failed
    ]);
    assert_eq!(found.flip_rate, Value(1.5 / 4.0));
    // First shown wins: 1 of 2, 2 of 2, 1½ of 2, 1 of 2.
    assert_eq!(found.first_shown_rate, Value(5.5 / 8.0));
    assert_eq!((found.compared, found.same, found.half, found.reversed, found.failed), (4, 2, 1, 1, 1));
    assert!(order_effects(&[both(None, Some(A))]).flip_rate.undefined().is_some());
}

#[test]
fn p21_ties_of_scores_count_half_in_the_area() {
    // Pairs (positive, negative): 2>1, 2=2 → (1 + ½)/2.
    assert_eq!(auc(&[true, false, false], &[2.0, 1.0, 2.0]).unwrap(), Value(0.75));
    assert_eq!(auc(&[true, true], &[1.0, 2.0]).unwrap(), None_(Undefined::OneClass { positive: true }));
}

#[test]
fn p22_rows_that_match_nothing_are_listed() {
    let people = [("a", Some(1.0)), ("b", Some(2.0)), ("c", None), ("d", Some(4.0)), ("f", None)];
    let judge = [("d", Some(40.0)), ("x", Some(9.0)), ("a", Some(10.0)), ("c", Some(3.0)), ("f", None)];
    let pairs = Pairs::by_id(&people, &judge).unwrap();
    assert_eq!(pairs.ids, ["a", "d"]);
    assert_eq!((pairs.first, pairs.second), (vec![1.0, 4.0], vec![10.0, 40.0]));
    assert_eq!(
        pairs.left_out,
        [
            LeftOut { id: "b", why: Why::OnlyInFirst },
            LeftOut { id: "c", why: Why::MissingInFirst },
            LeftOut { id: "f", why: Why::MissingInBoth },
            LeftOut { id: "x", why: Why::OnlyInSecond },
        ]
    );
    let twice = [("a", Some(1.0)), ("b", None), ("a", Some(2.0))];
    assert!(matches!(
        Pairs::by_id(&twice, &judge),
        Err(InputError::DuplicateId { earlier: 0, later: 2, input: "the first column" })
    ));
    // Nothing matches: no correlation, and no NaN.
    let none = Pairs::by_id(&[("q", Some(1.0))], &judge).unwrap();
    assert!(none.is_empty());
    assert_eq!(
        spearman(&none.first, &none.second).unwrap(),
        None_(Undefined::TooFew { needed: 2, found: 0 })
    );
    // Units with one rating are listed, not counted as agreement.
    let ratings = [[Some(1.0), Some(2.0), None, None], [Some(1.0), Some(1.0), Some(5.0), None]];
    let found = krippendorff_alpha(&ratings, Level::Nominal).unwrap();
    assert_eq!((found.units, found.ratings, found.left_out), (2, 4, vec![2, 3]));
}

#[test]
fn p23_ties_get_midranks_and_a_constant_has_no_correlation() {
    assert_eq!(midranks(&[3.0, 1.0, 3.0, 2.0]).unwrap(), [3.5, 1.0, 3.5, 2.0]);
    // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: Σ of products 4.5, of squares 4.5 and 5, so 4.5/√22.5 = √0.9. The
    // shortcut gives 1 − 6·0.5/60 = 0.95.
    let rho = spearman(&[1.0, 2.0, 2.0, 5.0], &[1.0, 2.0, 3.0, 4.0]).unwrap().value().unwrap();
    assert!((rho - 0.9_f64.sqrt()).abs() < 1e-15);
    for figure in [pearson, spearman, kendall_tau_b] {
        let of = |x: &[f64], y: &[f64]| figure(x, y).unwrap();
        let constant = |side| None_(Undefined::Constant { side });
        assert_eq!(of(&[0.1; 3], &[1.0, 2.0, 3.0]), constant(Side::First));
        assert_eq!(of(&[1.0, 2.0, 3.0], &[0.1; 3]), constant(Side::Second));
        assert_eq!(of(&[4.0; 3], &[4.0; 3]), constant(Side::Both));
        assert_eq!(of(&[1.0], &[1.0]), None_(Undefined::TooFew { needed: 2, found: 1 }));
    }
    assert_eq!(cohen_kappa(&[3.0; 4], &[3.0; 4]).unwrap(), None_(Undefined::NoDisagreementByChance));
    assert_eq!(quadratic_kappa(&[0.1; 3], &[0.1; 3]).unwrap(), None_(Undefined::NoDisagreementByChance));
    let alone = [[Some(1.0), None], [None, Some(2.0)]];
    assert_eq!(krippendorff_alpha(&alone, Level::Ordinal).unwrap().alpha, None_(Undefined::NothingInCommon));
}

#[test]
fn p24_seeds_are_in_the_result_and_repeat_it() {
    let scores = [1.0, 2.0, 2.0, 3.0, 5.0, 4.0, 3.0, 1.0];
    let run = |seed| {
        let bootstrap = Bootstrap { seed, resamples: 300, level: 0.9, method: BootstrapMethod::Bca };
        let values = scores.map(Some);
        bootstrap
            .by_row(scores.len(), |rows| Ok(mean(&resample(&values, rows)?)?.mean))
            .unwrap()
            .value()
            .unwrap()
    };
    let interval = run(42);
    assert_eq!((interval.seed, interval.resamples, interval.level, interval.units), (42, 300, 0.9, 8));
    assert_eq!(interval.method, BootstrapMethod::Bca);
    assert_eq!(run(42), interval);
    assert_ne!((run(43).low, run(43).high), (interval.low, interval.high));
    let written = serde_json::to_value(interval).unwrap();
    assert_eq!((written["seed"].as_u64(), written["method"].as_str()), (Some(42), Some("bca")));
}

#[test]
fn rows_of_a_prompt_are_drawn_together() {
    // Two prompts, one with three rows: a resample has 2, 4 or 6 of them, and never half a prompt.
    let prompts = ["p", "q", "p", "p"];
    let mut sizes = std::collections::BTreeSet::new();
    let bootstrap = Bootstrap { resamples: 100, ..Bootstrap::default() };
    let interval = bootstrap
        .by_cluster(&prompts, |rows| {
            let of_p = rows.iter().filter(|row| **row != 1).count();
            assert_eq!(of_p % 3, 0);
            sizes.insert(rows.len());
            Ok(Value(rows.len() as f64))
        })
        .unwrap()
        .value()
        .unwrap();
    assert_eq!(sizes, [2, 4, 6].into());
    assert_eq!((interval.estimate, interval.units), (4.0, 2));
    // One prompt is one observation, however many rows it has.
    let one = bootstrap.by_cluster(&["p"; 9], |_| Ok(Value(1.0))).unwrap();
    assert_eq!(one, None_(Undefined::TooFew { needed: 2, found: 1 }));
}

#[test]
fn intervals_say_what_they_could_not_use() {
    // A rare label: about (7/8)^8 = 34% of the resamples lack it, and have no correlation.
    let (x, y) = ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let figure = |rows: &[usize]| pearson(&resample(&x, rows)?, &resample(&y, rows)?);
    let bootstrap = Bootstrap { resamples: 200, ..Bootstrap::default() };
    let found = bootstrap.by_row(8, figure).unwrap();
    let Some(Undefined::ResamplesUndefined { undefined, resamples: 200 }) = found.undefined() else {
        panic!("{found:?}")
    };
    assert!((40..100).contains(undefined));
    // BCa of what does not vary has no correction; percentiles have an interval of no width.
    let bca = Bootstrap { method: BootstrapMethod::Bca, ..bootstrap };
    assert_eq!(bca.by_row(5, |_| Ok(Value(4.0))).unwrap(), None_(Undefined::NoCorrection));
    let flat = bootstrap.by_row(5, |_| Ok(Value(4.0))).unwrap().value().unwrap();
    assert_eq!((flat.low, flat.high), (4.0, 4.0));
    for wrong in [Bootstrap { level: 95.0, ..bootstrap }, Bootstrap { resamples: 1, ..bootstrap }] {
        assert!(matches!(wrong.by_row(5, |_| Ok(Value(4.0))), Err(InputError::Setting { .. })));
    }
    assert_eq!(resample(&x, &[8]), Err(InputError::NoSuchRow { row: 8, rows: 8 }));
}

#[test]
fn robustness_leaves_length_skills_and_failures_out() {
    let score = |skill, before, after| Rewritten { skill, before, after };
    let scores = [
        score("Readability", Some(4.0), Some(4.0)),
        score("Factuality", Some(3.0), Some(4.0)),
        score("Completeness", Some(3.0), Some(5.0)),
        score("Conciseness", Some(5.0), Some(1.0)),
        score("Comprehension", Some(3.0), Some(3.4)),
        score("Harmlessness", Some(3.0), None),
    ];
    let found = robustness_ratio(&scores, &LENGTH_SKILLS, 0.0).unwrap();
    assert_eq!(found.ratio, Value(1.0 / 3.0));
    assert_eq!((found.equal, found.compared, found.left_out, found.unscored), (1, 3, 2, 1));
    // Expected scores are equal within a stated distance.
    assert_eq!(robustness_ratio(&scores, &LENGTH_SKILLS, 0.5).unwrap().ratio, Value(2.0 / 3.0));
    assert!(robustness_ratio(&scores, &[], f64::NAN).is_err());
    assert!(robustness_ratio(&scores[2..4], &LENGTH_SKILLS, 0.0).unwrap().ratio.undefined().is_some());
}

#[test]
fn length_and_score_are_correlated_as_pairs() {
    let found = length_score_correlation(&[10.0, 20.0, 400.0], &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!((found.spearman, found.count), (Value(1.0), 3));
    // Deviations −400/3, −370/3, 770/3 and −1, 0, 1: Σ of products 390, of squares 889 800/9 and 2.
    let r = found.pearson.value().unwrap();
    assert!((r - 390.0 / (2.0 * 889_800.0 / 9.0_f64).sqrt()).abs() < 1e-15);
}

#[test]
fn rouge_knows_words_of_every_script_and_says_what_is_missing() {
    assert_eq!(words("Don't STOP, it's 3.5 km!"), ["don't", "stop", "it's", "3.5", "km"]);
    assert_eq!(words("茶碗 und Straße"), ["茶", "碗", "und", "straße"]);
    // A letter and its accent apart or in one: the same word.
    let found = rouge_l("CAFE\u{301} noir", "caf\u{e9} au lait", 1.0).unwrap();
    assert_eq!((found.common, found.precision, found.recall), (1, Value(0.5), Value(1.0 / 3.0)));
    assert_eq!(found.f, Value(0.4));
    // β = 2, by hand: 5·P·R/(R + 4P) = 5/6 / (1/3 + 2) = 5/14.
    let favoured = rouge_l("cafe\u{301} noir", "caf\u{e9} au lait", 2.0).unwrap().f.value().unwrap();
    assert!((favoured - 5.0 / 14.0).abs() < 1e-15);
    // An empty response earns 0; an empty reference measures nothing.
    let empty = rouge_l("…", "a b", 1.0).unwrap();
    assert_eq!((empty.f, empty.precision), (Value(0.0), None_(Undefined::NoWords { side: Side::First })));
    assert_eq!(rouge_l("a", "", 1.0).unwrap().f, None_(Undefined::NoWords { side: Side::Second }));
    for beta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(rouge_l("a", "a", beta), Err(InputError::Setting { .. })));
    }
}

#[test]
fn labels_become_numbers_in_the_order_in_which_they_come() {
    let mut categories = Categories::new();
    let mut code = |labels: [&'static str; 4]| labels.map(|label| categories.code(label));
    let (first, second) = (code(["yes", "no", "no", "yes"]), code(["yes", "no", "maybe", "no"]));
    assert_eq!(categories.labels(), [&"yes", &"no", &"maybe"]);
    // 2 of 4 equal; by chance (2·1 + 2·2 + 0·1)/16 = 3/8: (1/2 − 3/8)/(5/8) = 0.2.
    let kappa = cohen_kappa(&first, &second).unwrap().value().unwrap();
    assert!((kappa - 0.2).abs() < 1e-15);
}
