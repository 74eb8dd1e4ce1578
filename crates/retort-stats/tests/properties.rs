//! What holds for every input: bounds, symmetries and invariances.

#![expect(clippy::unwrap_used, reason = "a test stops at input that is refused")]

use proptest::prelude::*;
use retort_stats::{
    Bootstrap, BootstrapMethod, Level, Statistic, Winner, auc, balanced_accuracy, brier, cohen_kappa,
    expected_calibration_error, kendall_tau_b, krippendorff_alpha, mean, pearson, quadratic_kappa, resample,
    rouge_l, spearman, win_rate,
};

const CLOSE: f64 = 1e-9;

/// Two columns of scores, full of ties, or of any numbers.
fn columns() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let scores = (1_u8..=5, 1_u8..=5).prop_map(|(x, y)| (f64::from(x), f64::from(y)));
    prop_oneof![prop::collection::vec(scores, 0..40), prop::collection::vec((-1e3..1e3, -1e3..1e3), 0..40),]
}

/// Finite numbers of every size.
fn any_columns() -> impl Strategy<Value = Vec<(f64, f64)>> {
    use prop::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    let finite = || NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE;
    let finite = move || finite().prop_filter("finite", |value| value.is_finite());
    prop::collection::vec((finite(), finite()), 0..20)
}

fn split(rows: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
    rows.iter().copied().unzip()
}

fn same(a: &Statistic, b: &Statistic) -> bool {
    match (a, b) {
        (Statistic::Value(a), Statistic::Value(b)) => (a - b).abs() <= CLOSE,
        _ => a.undefined().is_some() && b.undefined().is_some(),
    }
}

fn map(values: &[f64], f: impl Fn(f64) -> f64) -> Vec<f64> {
    values.iter().map(|&value| f(value)).collect()
}

fn ratings() -> impl Strategy<Value = Vec<Vec<Option<f64>>>> {
    (1_usize..5, 0_usize..12).prop_flat_map(|(raters, units)| {
        let rating = prop::option::weighted(0.8, (1_u8..=5).prop_map(f64::from));
        prop::collection::vec(prop::collection::vec(rating, units), raters)
    })
}

const LEVELS: [Level; 3] = [Level::Nominal, Level::Ordinal, Level::Interval];

fn alpha(ratings: &[Vec<Option<f64>>], level: Level) -> Statistic {
    krippendorff_alpha(ratings, level).unwrap().alpha
}

proptest! {
    #[test]
    fn correlations_are_bounded_symmetric_and_one_with_themselves(rows in columns()) {
        let (x, y) = split(&rows);
        for figure in [pearson, spearman, kendall_tau_b] {
            let found = figure(&x, &y).unwrap();
            prop_assert!(same(&found, &figure(&y, &x).unwrap()));
            prop_assert!(same(&found.clone().map(|r| -r), &figure(&map(&x, |x| -x), &y).unwrap()));
            if let Some(r) = found.value() {
                prop_assert!((-1.0..=1.0).contains(&r));
                prop_assert_eq!(figure(&x, &x).unwrap(), Statistic::Value(1.0));
                prop_assert_eq!(figure(&x, &map(&x, |x| -x)).unwrap(), Statistic::Value(-1.0));
            }
        }
    }

    #[test]
    fn correlations_do_not_see_shift_and_scale(rows in columns(), shift in -100_i32..100, power in 0_u32..10) {
        let (x, y) = split(&rows);
        // Whole steps, so that no two values become one or are torn apart by rounding.
        let (shift, scale) = (f64::from(shift), f64::from(1_u32 << power));
        let x = map(&x, |x| (x * 1024.0).round() / 1024.0);
        let moved = map(&x, |x| x * scale + shift);
        for figure in [pearson, spearman, kendall_tau_b] {
            prop_assert!(same(&figure(&x, &y).unwrap(), &figure(&moved, &y).unwrap()));
        }
    }

    #[test]
    fn rank_figures_see_order_only(rows in columns()) {
        let (x, y) = split(&rows);
        let x = map(&x, f64::round);
        let bent = map(&x, |x| x * x * x);
        prop_assert_eq!(spearman(&x, &y).unwrap(), spearman(&bent, &y).unwrap());
        prop_assert_eq!(kendall_tau_b(&x, &y).unwrap(), kendall_tau_b(&bent, &y).unwrap());
        let positive: Vec<bool> = y.iter().map(|y| *y > 2.0).collect();
        prop_assert_eq!(auc(&positive, &x).unwrap(), auc(&positive, &bent).unwrap());
    }

    /// By its definition, pair by pair.
    #[test]
    fn kendall_counts_pairs(rows in columns()) {
        let (x, y) = split(&rows);
        let sign = |d: f64| if d > 0.0 { 1.0 } else if d < 0.0 { -1.0 } else { 0.0 };
        let (mut difference, mut untied_x, mut untied_y) = (0.0, 0.0, 0.0);
        for i in 0..x.len() {
            for j in 0..i {
                let (a, b) = (sign(x[i] - x[j]), sign(y[i] - y[j]));
                difference += a * b;
                untied_x += a * a;
                untied_y += b * b;
            }
        }
        if let Some(tau) = kendall_tau_b(&x, &y).unwrap().value() {
            prop_assert!((tau - difference / f64::sqrt(untied_x * untied_y)).abs() <= CLOSE);
        }
    }

    #[test]
    fn no_finite_input_gives_nan(rows in any_columns()) {
        let (x, y) = split(&rows);
        for figure in [pearson, spearman, kendall_tau_b, cohen_kappa, quadratic_kappa] {
            if let Some(value) = figure(&x, &y).unwrap().value() {
                prop_assert!((-1.0..=1.0).contains(&value), "{value}");
            }
        }
        let table = [map(&x, |x| x).into_iter().map(Some).collect::<Vec<_>>(), y.iter().copied().map(Some).collect()];
        for level in LEVELS {
            if let Some(value) = alpha(&table, level).value() {
                prop_assert!(value.is_finite() && value <= 1.0, "{value}");
            }
        }
        if let Some(value) = mean(&table[0]).unwrap().mean.value() {
            prop_assert!(x.iter().any(|x| *x <= value) && x.iter().any(|x| *x >= value));
        }
        prop_assert!(balanced_accuracy(&x, &y).unwrap().value().is_none_or(f64::is_finite));
    }

    #[test]
    fn kappa_is_bounded_symmetric_and_blind_to_names(rows in columns()) {
        let (a, b) = split(&rows);
        let found = cohen_kappa(&a, &b).unwrap();
        prop_assert!(same(&found, &cohen_kappa(&b, &a).unwrap()));
        // One name for another: a map that no two labels share, in no order.
        let renamed = |values: &[f64]| map(values, |value| if value == 2.0 { -7777.5 } else { value });
        prop_assert_eq!(&found, &cohen_kappa(&renamed(&a), &renamed(&b)).unwrap());
        let weighted = quadratic_kappa(&a, &b).unwrap();
        prop_assert!(same(&weighted, &quadratic_kappa(&b, &a).unwrap()));
        let moved = |values: &[f64]| map(values, |value| 4.0 * value - 8.0);
        prop_assert!(same(&weighted, &quadratic_kappa(&moved(&a), &moved(&b)).unwrap()));
        for found in [found, weighted] {
            prop_assert!(found.value().is_none_or(|kappa| (-1.0..=1.0).contains(&kappa)));
        }
        if let Some(kappa) = cohen_kappa(&a, &a).unwrap().value() {
            prop_assert_eq!(kappa, 1.0);
            prop_assert_eq!(quadratic_kappa(&a, &a).unwrap(), Statistic::Value(1.0));
        }
        // On two labels all weights are one.
        let two = |values: &[f64]| map(values, |value| f64::from(u8::from(value > 2.0)));
        prop_assert!(same(
            &cohen_kappa(&two(&a), &two(&b)).unwrap(),
            &quadratic_kappa(&two(&a), &two(&b)).unwrap()
        ));
    }

    #[test]
    fn alpha_is_blind_to_the_order_of_raters_and_units(ratings in ratings()) {
        let mut turned = ratings.clone();
        turned.reverse();
        turned.iter_mut().for_each(|of_rater| of_rater.reverse());
        for level in LEVELS {
            let found = alpha(&ratings, level);
            prop_assert!(same(&found, &alpha(&turned, level)));
            // A rater who rated nothing changes nothing.
            let mut more = ratings.clone();
            more.push(vec![None; ratings[0].len()]);
            prop_assert!(same(&found, &alpha(&more, level)));
            // Interval: shift and scale. Ordinal: any rising map. Nominal: any map that keeps labels apart.
            let mapped: Vec<Vec<_>> = ratings
                .iter()
                .map(|of_rater| {
                    of_rater
                        .iter()
                        .map(|rating| {
                            rating.map(|rating| match level {
                                Level::Nominal => (rating - 2.6) * (rating - 2.6),
                                Level::Ordinal => rating * rating * rating,
                                Level::Interval => 10.0 - 3.0 * rating,
                            })
                        })
                        .collect()
                })
                .collect();
            prop_assert!(same(&found, &alpha(&mapped, level)));
            prop_assert!(found.value().is_none_or(|alpha| alpha <= 1.0));
        }
    }

    #[test]
    fn perfect_agreement_is_one(row in prop::collection::vec(prop::option::of(1_u8..=5), 0..12)) {
        let row: Vec<Option<f64>> = row.into_iter().map(|rating| rating.map(f64::from)).collect();
        for level in LEVELS {
            let found = alpha(&[row.clone(), row.clone(), row.clone()], level);
            prop_assert!(found.value().is_none_or(|alpha| alpha == 1.0));
        }
    }

    #[test]
    fn areas_of_the_two_classes_sum_to_one(rows in columns()) {
        let (x, y) = split(&rows);
        let positive: Vec<bool> = y.iter().map(|y| *y > 2.0).collect();
        let negative: Vec<bool> = positive.iter().map(|positive| !positive).collect();
        if let Some(area) = auc(&positive, &x).unwrap().value() {
            prop_assert!((0.0..=1.0).contains(&area));
            prop_assert!((auc(&negative, &x).unwrap().value().unwrap() + area - 1.0).abs() <= CLOSE);
        }
    }

    #[test]
    fn calibration_is_bounded_and_counts_every_case(
        cases in prop::collection::vec((any::<bool>(), 0.0..=1.0), 1..60),
        bins in 1_usize..30,
    ) {
        let (correct, confidence): (Vec<bool>, Vec<f64>) = cases.into_iter().unzip();
        let found = expected_calibration_error(&correct, &confidence, bins).unwrap();
        let (expected, maximum) = (found.expected_error.value().unwrap(), found.maximum_error.value().unwrap());
        prop_assert!(0.0 <= expected && expected <= maximum + CLOSE && maximum <= 1.0);
        prop_assert_eq!(found.bins.iter().map(|bin| bin.cases).sum::<usize>(), correct.len());
        for bin in &found.bins {
            prop_assert!(bin.confidence.clone().value().is_none_or(|c| bin.low <= c && c <= bin.high));
        }
        // What all forecasts miss on average, no binning hides; and the Brier score is at least its square.
        let gap = (confidence.iter().sum::<f64>() - correct.iter().filter(|c| **c).count() as f64).abs()
            / correct.len() as f64;
        prop_assert!(gap <= expected + CLOSE);
        let brier = brier(&correct, &confidence).unwrap().value().unwrap();
        prop_assert!(gap * gap <= brier + CLOSE && brier <= 1.0);
    }

    #[test]
    fn win_rates_of_both_sides_sum_to_one(verdicts in prop::collection::vec(0_u8..4, 0..30)) {
        let of = |a, b| -> Vec<Option<Winner>> {
            verdicts
                .iter()
                .map(|verdict| match verdict { 0 => Some(a), 1 => Some(b), 2 => Some(Winner::Tie), _ => None })
                .collect()
        };
        let (a, b) = (win_rate(&of(Winner::A, Winner::B)), win_rate(&of(Winner::B, Winner::A)));
        if let Some(rate) = a.rate.value() {
            prop_assert!((rate + b.rate.value().unwrap() - 1.0).abs() <= CLOSE);
        }
        prop_assert_eq!(a.wins + a.ties + a.losses + a.failed, verdicts.len());
    }

    #[test]
    fn rouge_is_bounded_and_symmetric_for_beta_one(a in "[abc ]{0,60}", b in "[abc ]{0,60}", beta in 0.1..10.0) {
        let found = rouge_l(&a, &b, beta).unwrap();
        prop_assert!(found.common <= found.candidate_words.min(found.reference_words));
        for share in [&found.f, &found.precision, &found.recall] {
            prop_assert!(share.clone().value().is_none_or(|share| (0.0..=1.0).contains(&share)));
        }
        let (forth, back) = (rouge_l(&a, &b, 1.0).unwrap(), rouge_l(&b, &a, 1.0).unwrap());
        if let (Some(forth), Some(back)) = (forth.f.value(), back.f.value()) {
            prop_assert!((forth - back).abs() <= CLOSE);
        }
        if let Some(whole) = rouge_l(&a, &a, beta).unwrap().f.value() {
            // One rounding away at most.
            prop_assert!((whole - 1.0).abs() <= CLOSE);
        }
        // The text-book form, where it has a value.
        if let (Some(p), Some(r), Some(f)) = (found.precision.value(), found.recall.value(), found.f.value())
            && found.common > 0
        {
            prop_assert!((f - (1.0 + beta * beta) * p * r / (r + beta * beta * p)).abs() <= CLOSE);
        }
    }

    #[test]
    fn rouge_takes_any_text(a in any::<String>(), b in any::<String>()) {
        prop_assert!(rouge_l(&a, &b, 1.0).is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn intervals_are_in_order_and_move_with_the_data(
        values in prop::collection::vec(-100_i32..100, 2..20),
        seed in any::<u64>(),
        bca in any::<bool>(),
    ) {
        let method = if bca { BootstrapMethod::Bca } else { BootstrapMethod::Percentile };
        let bootstrap = Bootstrap { seed, resamples: 60, level: 0.9, method };
        let interval = |values: &[Option<f64>]| {
            bootstrap
                .by_row(values.len(), |rows| Ok(mean(&resample(values, rows)?)?.mean))
                .unwrap()
                .value()
        };
        let values: Vec<Option<f64>> = values.iter().map(|value| Some(f64::from(*value))).collect();
        let moved: Vec<Option<f64>> = values.iter().map(|value| value.map(|value| value + 1000.0)).collect();
        if let Some(found) = interval(&values) {
            prop_assert!(found.low <= found.high);
            let (low, high) = values.iter().flatten().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
            prop_assert!(low <= found.low && found.high <= high);
            // Percentiles move exactly; BCa counts ties of the estimate, which rounding may break.
            if let (false, Some(moved)) = (bca, interval(&moved)) {
                prop_assert!((moved.low - found.low - 1000.0).abs() <= CLOSE);
                prop_assert!((moved.high - found.high - 1000.0).abs() <= CLOSE);
            }
        }
    }
}
