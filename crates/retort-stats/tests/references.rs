//! Every figure against scipy, scikit-learn, krippendorff, numpy or rouge_score, to 1e-9, through the files that
//! `fixtures/make_fixtures.py` made; and wrong figures, of the kinds that are in use, to see that they are caught.

#![expect(clippy::expect_used, clippy::panic, reason = "a test stops at a broken fixture")]

use retort_stats::{
    Bootstrap, BootstrapMethod, InputError, Level, Statistic, auc, balanced_accuracy, brier,
    brier_multiclass, cohen_kappa, expected_calibration_error, kendall_tau_b, krippendorff_alpha, midranks,
    pearson, quadratic_kappa, resample, rouge_l, spearman,
};
use serde_json::Value;

const TOLERANCE: f64 = 1e-9;

const CORRELATION: &str = include_str!("fixtures/correlation.json");
const AGREEMENT: &str = include_str!("fixtures/agreement.json");
const CLASSIFICATION: &str = include_str!("fixtures/classification.json");
const CALIBRATION: &str = include_str!("fixtures/calibration.json");
const BOOTSTRAP: &str = include_str!("fixtures/bootstrap.json");
const ROUGE: &str = include_str!("fixtures/rouge.json");

type Figure = Result<Statistic, InputError>;

/// The cases of a file that have a field.
fn cases(text: &str, field: &str) -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(text).expect("a fixture is a JSON array");
    let with: Vec<Value> = all.into_iter().filter(|case| case.get(field).is_some()).collect();
    assert!(!with.is_empty(), "no case has {field}");
    with
}

fn get<T: serde::de::DeserializeOwned>(case: &Value, field: &str) -> T {
    serde_json::from_value(case[field].clone()).unwrap_or_else(|error| panic!("{field}: {error}"))
}

/// Whether the figure is the number, or is undefined where there is none.
fn agrees(found: &Statistic, expected: &Value) -> bool {
    match (found, expected.as_f64()) {
        (Statistic::Value(found), Some(expected)) => (found - expected).abs() <= TOLERANCE,
        (Statistic::Undefined(_), None) => expected.is_null(),
        _ => false,
    }
}

/// The cases in which a figure is not what the fixture says.
fn differences(text: &str, field: &str, figure: impl Fn(&Value) -> Figure) -> Vec<String> {
    cases(text, field)
        .iter()
        .filter_map(|case| {
            let found = figure(case).expect("fixtures hold good input");
            let expected = &case[field];
            (!agrees(&found, expected)).then(|| format!("{}: {found:?}, not {expected}", case["name"]))
        })
        .collect()
}

#[track_caller]
fn holds(text: &str, field: &str, figure: impl Fn(&Value) -> Figure) {
    assert_eq!(differences(text, field, figure), Vec::<String>::new(), "{field}");
}

#[track_caller]
fn is_caught(text: &str, field: &str, faulty: impl Fn(&Value) -> Figure) {
    assert_ne!(differences(text, field, faulty), Vec::<String>::new(), "{field}: the fault passes");
}

fn of_columns(a: &str, b: &str, figure: impl Fn(&[f64], &[f64]) -> Figure) -> impl Fn(&Value) -> Figure {
    let (a, b) = (a.to_owned(), b.to_owned());
    move |case| figure(&get::<Vec<f64>>(case, &a), &get::<Vec<f64>>(case, &b))
}

fn of_events(a: &str, b: &str, figure: impl Fn(&[bool], &[f64]) -> Figure) -> impl Fn(&Value) -> Figure {
    let (a, b) = (a.to_owned(), b.to_owned());
    move |case| figure(&get::<Vec<bool>>(case, &a), &get::<Vec<f64>>(case, &b))
}

#[test]
fn correlations() {
    holds(CORRELATION, "pearson", of_columns("x", "y", pearson));
    holds(CORRELATION, "spearman", of_columns("x", "y", spearman));
    holds(CORRELATION, "kendall", of_columns("x", "y", kendall_tau_b));
    for case in cases(CORRELATION, "ranks") {
        assert_eq!(midranks(&get::<Vec<f64>>(&case, "x")).unwrap(), get::<Vec<f64>>(&case, "ranks"));
    }
}

#[test]
fn faulty_correlations_are_caught() {
    // P23: the formula for ranks without ties, given midranks all the same.
    is_caught(
        CORRELATION,
        "spearman",
        of_columns("x", "y", |x, y| {
            let n = x.len() as f64;
            let (x, y) = (midranks(x)?, midranks(y)?);
            let squares: f64 = x.iter().zip(&y).map(|(x, y)| (x - y) * (x - y)).sum();
            Ok(Statistic::Value(1.0 - 6.0 * squares / (n * (n * n - 1.0))))
        }),
    );
    // P23: ranks by place, ties in the order in which they stand.
    let by_place = |values: &[f64]| {
        let mut rows: Vec<usize> = (0..values.len()).collect();
        rows.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![0.0; rows.len()];
        rows.iter().enumerate().for_each(|(rank, &row)| ranks[row] = rank as f64);
        ranks
    };
    is_caught(CORRELATION, "spearman", of_columns("x", "y", |x, y| pearson(&by_place(x), &by_place(y))));
    // P23: 1 for a constant column.
    is_caught(
        CORRELATION,
        "pearson",
        of_columns("x", "y", |x, y| Ok(Statistic::Value(pearson(x, y)?.value().unwrap_or(1.0)))),
    );
    // τ-a, which divides by all pairs.
    is_caught(
        CORRELATION,
        "kendall",
        of_columns("x", "y", |x, y| {
            let sign = |d: f64| if d == 0.0 { 0.0 } else { d.signum() };
            let mut sum = 0.0;
            for i in 0..x.len() {
                sum += (0..i).map(|j| sign(x[i] - x[j]) * sign(y[i] - y[j])).sum::<f64>();
            }
            Ok(Statistic::Value(sum / (x.len() * (x.len() - 1) / 2) as f64))
        }),
    );
}

type Ratings = Vec<Vec<Option<f64>>>;
const LEVELS: [(&str, Level); 3] =
    [("nominal", Level::Nominal), ("ordinal", Level::Ordinal), ("interval", Level::Interval)];

#[test]
fn alphas() {
    for case in cases(AGREEMENT, "alpha") {
        for (name, level) in LEVELS {
            let found = krippendorff_alpha(&get::<Ratings>(&case, "ratings"), level).unwrap().alpha;
            let expected = &case["alpha"][name];
            assert!(agrees(&found, expected), "{} {name}: {found:?}, not {expected}", case["name"]);
        }
    }
}

/// Ratings taken at another level, missing ones taken as 0, and units with a missing rating dropped: each must differ
/// somewhere.
#[test]
fn faulty_alphas_are_caught() {
    let caught = |faulty: &dyn Fn(Ratings, Level) -> Statistic| {
        cases(AGREEMENT, "alpha").iter().any(|case| {
            LEVELS
                .iter()
                .any(|(name, level)| !agrees(&faulty(get(case, "ratings"), *level), &case["alpha"][name]))
        })
    };
    let alpha = |ratings: &Ratings, level| krippendorff_alpha(ratings, level).unwrap().alpha;
    assert!(!caught(&|ratings, level| alpha(&ratings, level)));
    for (_, always) in LEVELS {
        assert!(caught(&|ratings, _| alpha(&ratings, always)), "{always:?}");
    }
    assert!(caught(&|mut ratings, level| {
        ratings.iter_mut().flatten().for_each(|rating| *rating = rating.or(Some(0.0)));
        alpha(&ratings, level)
    }));
    assert!(caught(&|ratings, level| {
        let whole = |unit: &usize| ratings.iter().all(|of_rater| of_rater[*unit].is_some());
        let units: Vec<usize> = (0..ratings[0].len()).filter(whole).collect();
        alpha(&ratings.iter().map(|of_rater| resample(of_rater, &units).unwrap()).collect(), level)
    }));
}

#[test]
fn kappas() {
    holds(AGREEMENT, "kappa", of_columns("a", "b", cohen_kappa));
    holds(AGREEMENT, "quadratic", of_columns("a", "b", quadratic_kappa));
    // Weights by places among the labels that occur, where some level does not.
    is_caught(
        AGREEMENT,
        "quadratic",
        of_columns("a", "b", |a, b| {
            let mut labels = [a, b].concat();
            labels.sort_by(f64::total_cmp);
            labels.dedup();
            let place = |value: &f64| labels.partition_point(|label| label < value) as f64;
            quadratic_kappa(
                &a.iter().map(place).collect::<Vec<_>>(),
                &b.iter().map(place).collect::<Vec<_>>(),
            )
        }),
    );
    // Chance agreement as if all labels were equally likely.
    is_caught(
        AGREEMENT,
        "kappa",
        of_columns("a", "b", |a, b| {
            let observed = a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64;
            Ok(Statistic::Value((observed - 0.2) / 0.8))
        }),
    );
}

#[test]
fn classifications() {
    holds(CLASSIFICATION, "balanced_accuracy", of_columns("truth", "predicted", balanced_accuracy));
    holds(CLASSIFICATION, "auc", of_events("positive", "score", auc));
    // Plain accuracy.
    is_caught(
        CLASSIFICATION,
        "balanced_accuracy",
        of_columns("truth", "predicted", |t, p| {
            let right = t.iter().zip(p).filter(|(t, p)| t == p).count();
            Ok(Statistic::Value(right as f64 / t.len() as f64))
        }),
    );
    // Ties lost.
    is_caught(
        CLASSIFICATION,
        "auc",
        of_events("positive", "score", |positive, score| {
            let of = |class| score.iter().zip(positive).filter(move |(_, p)| **p == class).map(|(s, _)| *s);
            let wins: usize = of(true).map(|s| of(false).filter(|other| *other < s).count()).sum();
            let pairs = of(true).count() * of(false).count();
            if pairs == 0 { auc(positive, score) } else { Ok(Statistic::Value(wins as f64 / pairs as f64)) }
        }),
    );
}

#[test]
fn calibrations() {
    holds(CALIBRATION, "brier", |case| match case.get("class") {
        None => brier(&get::<Vec<bool>>(case, "happened"), &get::<Vec<f64>>(case, "probability")),
        Some(_) => {
            brier_multiclass(&get::<Vec<usize>>(case, "class"), &get::<Vec<Vec<f64>>>(case, "probabilities"))
        }
    });
    for case in cases(CALIBRATION, "bins") {
        let (happened, probability): (Vec<bool>, Vec<f64>) =
            (get(&case, "happened"), get(&case, "probability"));
        let found = expected_calibration_error(&happened, &probability, get(&case, "bins")).unwrap();
        let counts: Vec<usize> = found.bins.iter().map(|bin| bin.cases).collect();
        assert_eq!(counts, get::<Vec<usize>>(&case, "counts"), "{}", case["name"]);
        assert!(agrees(&found.expected_error, &case["expected_error"]), "{}: {found:?}", case["name"]);
        assert!(agrees(&found.maximum_error, &case["maximum_error"]), "{}: {found:?}", case["name"]);
    }
    // Bins that hold their lower ends.
    is_caught(CALIBRATION, "expected_error", |case| {
        let (happened, probability): (Vec<bool>, Vec<f64>) =
            (get(case, "happened"), get(case, "probability"));
        let mirrored: Vec<f64> = probability.iter().map(|p| 1.0 - p).collect();
        let not: Vec<bool> = happened.iter().map(|happened| !happened).collect();
        Ok(expected_calibration_error(&not, &mirrored, get(case, "bins"))?.expected_error)
    });
}

/// The resamples are the script's own (the same generator in Python); the intervals from them are scipy's, and with
/// clusters numpy's quantiles.
#[test]
fn bootstraps() {
    for case in cases(BOOTSTRAP, "percentile") {
        let columns: Vec<Vec<f64>> = get(&case, "columns");
        let cluster: Option<Vec<String>> = get(&case, "cluster");
        let mut seen = Vec::new();
        for (name, method) in [("percentile", BootstrapMethod::Percentile), ("bca", BootstrapMethod::Bca)] {
            if case[name].is_null() {
                continue;
            }
            seen.clear();
            let bootstrap = Bootstrap {
                seed: get::<String>(&case, "seed").parse().unwrap(),
                resamples: get(&case, "resamples"),
                level: get(&case, "level"),
                method,
            };
            let figure = |rows: &[usize]| {
                let first = resample(&columns[0], rows)?;
                let value = match columns.get(1) {
                    None => Statistic::Value(first.iter().sum::<f64>() / first.len() as f64),
                    Some(second) => spearman(&first, &resample(second, rows)?)?,
                };
                seen.push(value.clone().value().unwrap());
                Ok(value)
            };
            let interval = match &cluster {
                None => bootstrap.by_row(columns[0].len(), figure),
                Some(cluster) => bootstrap.by_cluster(cluster, figure),
            };
            let interval = interval.unwrap().value().unwrap();
            let close = |found: f64, expected: f64| (found - expected).abs() <= TOLERANCE;
            for (found, expected) in seen[1..].iter().zip(get::<Vec<f64>>(&case, "first_resamples")) {
                assert!(close(*found, expected), "a resample's figure is {found}, not {expected}");
            }
            let [low, high]: [f64; 2] = get(&case, name);
            assert!(close(interval.estimate, get(&case, "estimate")), "{interval:?}");
            assert!(
                close(interval.low, low) && close(interval.high, high),
                "{interval:?}, not {low} to {high}"
            );
            assert_eq!(interval.seed, bootstrap.seed);
        }
    }
    // A fault: percentiles taken for BCa differ by more than the tolerance, so the two are told apart.
    let case = &cases(BOOTSTRAP, "bca")[0];
    let (percentile, bca): ([f64; 2], [f64; 2]) = (get(case, "percentile"), get(case, "bca"));
    assert!((percentile[0] - bca[0]).abs() > 1e-3);
}

#[test]
fn rouge() {
    for case in cases(ROUGE, "f") {
        let found =
            rouge_l(&get::<String>(&case, "candidate"), &get::<String>(&case, "reference"), 1.0).unwrap();
        assert!(agrees(&found.f, &case["f"]), "{case}: {found:?}");
        assert!(agrees(&found.precision, &case["precision"]), "{case}: {found:?}");
        assert!(agrees(&found.recall, &case["recall"]), "{case}: {found:?}");
        // A fault: recall favoured is another number wherever the texts differ in length.
        let favoured =
            rouge_l(&get::<String>(&case, "candidate"), &get::<String>(&case, "reference"), 8.0).unwrap();
        if found.candidate_words != found.reference_words && found.common > 0 {
            assert!(!agrees(&favoured.f, &case["f"]));
        }
    }
}
