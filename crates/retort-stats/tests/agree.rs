//! The agreement of two columns, against figures computed by hand.

use retort_stats::{
    AGREEMENT_RESAMPLES, Agreement, Bootstrap, Estimate, InputError, agreement_of, pearson, resample,
};

const NO_GROUPS: Option<&[usize]> = None;

fn value(estimate: Option<Estimate>) -> f64 {
    estimate.map_or(f64::NAN, |estimate| estimate.value)
}

#[track_caller]
fn is(found: Option<Estimate>, expected: f64) {
    assert!((value(found) - expected).abs() < 1e-12, "{found:?}, not {expected}");
}

#[test]
fn figures_are_those_computed_by_hand() {
    // The pairs (1, 2), (2, 1), (3, 4), (4, 3), (5, 5), and three rows without a pair.
    let first = [Some(1.0), Some(2.0), None, Some(3.0), Some(4.0), Some(5.0), Some(9.0), None];
    let second = [Some(2.0), Some(1.0), Some(9.0), Some(4.0), Some(3.0), Some(5.0), None, None];
    let found = agreement_of(&first, &second, NO_GROUPS, 3).unwrap();
    assert_eq!((found.n, found.left_out), (5, 3));
    // Both have mean 3 and Σ(x − 3)² = 10; Σ(x − 3)(y − 3) = (−2)(−1) + (−1)(−2) + 0·1 + 1·0 + 2·2 = 8: r = 8/10, and
    // so is ρ, since the values are their own ranks.
    is(found.pearson, 0.8);
    is(found.spearman, 0.8);
    // Of 10 pairs of rows, (1, 2) with (2, 1) and (3, 4) with (4, 3) are in opposite order: τ = (8 − 2)/10.
    is(found.kendall, 0.6);
    // |1 − 2| + |2 − 1| + |3 − 4| + |4 − 3| + 0 = 4, over 5.
    is(found.mean_error, 0.8);
    // Krippendorff: D_o = Σ of 2·(a − b)² over 10 ratings = 8/10. D_e = 2·n·Σ(x − 3)²/(n(n − 1)) with n = 10 and the sum
    // 20: 400/90. α = 1 − 0.8·90/400 = 0.82.
    is(found.alpha, 0.82);
    for estimate in
        [found.pearson, found.spearman, found.kendall, found.mean_error, found.alpha].into_iter().flatten()
    {
        assert!(estimate.low <= estimate.value && estimate.value <= estimate.high, "{estimate:?}");
        assert!(estimate.low < estimate.high, "{estimate:?}");
    }
}

#[test]
fn p23_what_is_undefined_is_none() {
    let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
    let none = agreement_of::<usize>(&[], &[], None, 0).unwrap();
    assert_eq!((none.n, none.left_out, none.pearson, none.mean_error, none.alpha), (0, 0, None, None, None));
    let constant =
        agreement_of(&some(&[2.0; 6]), &some(&[1.0, 2.0, 3.0, 1.0, 2.0, 3.0]), NO_GROUPS, 0).unwrap();
    assert_eq!((constant.pearson, constant.spearman, constant.kendall), (None, None, None));
    // How far apart they are is known all the same: (1 + 0 + 1)/3.
    is(constant.mean_error, 2.0 / 3.0);
    let one = agreement_of(&some(&[1.0]), &some(&[2.0]), NO_GROUPS, 0).unwrap();
    assert_eq!((one.n, one.mean_error), (1, None));
    // One group is one observation, however many rows it has.
    let (first, second) = (some(&[1.0, 2.0, 3.0]), some(&[1.0, 2.0, 4.0]));
    let group = agreement_of(&first, &second, Some(&["p", "p", "p"]), 0).unwrap();
    assert_eq!((group.n, group.pearson, group.mean_error), (3, None, None));
    let data = serde_json::to_value(constant).unwrap();
    assert_eq!((data["pearson"].is_null(), data["n"].as_u64()), (true, Some(6)));
    assert!(data["mean_error"]["low"].is_f64());
}

#[test]
fn p24_intervals_come_from_the_seed_and_draw_groups_together() {
    let first: Vec<Option<f64>> = (0..40).map(|n| Some(f64::from(n * 7 % 11))).collect();
    let second: Vec<Option<f64>> = (0..40).map(|n| Some(f64::from(n * 5 % 13))).collect();
    let groups: Vec<usize> = (0..40).map(|n| n / 4).collect();
    let of = |groups: Option<&[usize]>, seed| -> Agreement {
        agreement_of(&first, &second, groups, seed).unwrap()
    };
    assert_eq!(of(NO_GROUPS, 1), of(NO_GROUPS, 1));
    assert_ne!(of(NO_GROUPS, 1), of(NO_GROUPS, 2));
    assert_ne!(of(NO_GROUPS, 1), of(Some(&groups), 1));
    // As the bootstrap of the same figure by cluster says.
    let x: Vec<f64> = first.iter().flatten().copied().collect();
    let y: Vec<f64> = second.iter().flatten().copied().collect();
    let bootstrap = Bootstrap { seed: 1, resamples: AGREEMENT_RESAMPLES, ..Bootstrap::default() };
    let expected = bootstrap
        .by_cluster(&groups, |rows| pearson(&resample(&x, rows)?, &resample(&y, rows)?))
        .unwrap()
        .value()
        .unwrap();
    let found = of(Some(&groups), 1).pearson.unwrap();
    assert_eq!((found.value, found.low, found.high), (expected.estimate, expected.low, expected.high));
    // A row that is left out takes its group with it, and the others keep theirs.
    let mut gap = first.clone();
    gap[0] = None;
    assert_eq!(agreement_of(&gap, &second, Some(&groups), 1).unwrap().n, 39);
}

#[test]
fn bad_input_is_refused() {
    let some = [Some(1.0), Some(2.0)];
    let error = agreement_of(&some, &[Some(1.0)], NO_GROUPS, 0).unwrap_err();
    assert!(matches!(error, InputError::Lengths { .. }), "{error}");
    let error = agreement_of(&some, &some, Some(&[0, 1, 2]), 0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the first column has 2 values and the list of groups has 3; give one for each"
    );
    let error = agreement_of(&some, &[Some(1.0), Some(f64::NAN)], NO_GROUPS, 0).unwrap_err();
    assert!(error.to_string().contains("NaN at index 1"), "{error}");
    // Differences of the largest numbers are no numbers; they are refused, not made up.
    let huge = [Some(f64::MAX), Some(-f64::MAX)];
    let error = agreement_of(&huge, &[Some(-f64::MAX), Some(f64::MAX)], NO_GROUPS, 0).unwrap_err();
    assert!(error.to_string().contains("the estimate is inf"), "{error}");
}
