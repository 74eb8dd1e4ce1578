//! Figures with their intervals.

use retort_stats::{Bootstrap, InputError, Statistic};
use serde::{Deserialize, Serialize};

/// The figures of one exam, or of one aspect of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// What stands above it.
    pub title: String,
    /// The figures.
    pub rows: Vec<Row>,
    /// What a reader must know: what was left out and why, what the figures may not be taken for.
    pub notes: Vec<String>,
}

/// One figure of one judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which part of the data; `all` for all of it.
    pub part: String,
    /// Whose: `together`, `alone`, `skills`, `agnostic`, `random`, `longer`, `shorter`, `overlap`, `majority`, or the name
    /// of published verdicts.
    pub judge: String,
    /// What: `accuracy`, `balanced_accuracy`, `auc`, `flip_rate`, …
    pub metric: String,
    /// How much.
    pub figure: Figure,
}

/// A figure with its interval, or the reason why there is none. Never NaN.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Figure {
    /// The figure.
    pub value: Option<f64>,
    /// Lower end of the 95% bootstrap interval.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Items that it rests on.
    pub n: usize,
    /// Items left out because there is no score for them.
    pub left_out: usize,
    /// Why there is no value or no interval.
    pub because: Option<String>,
}

/// The bootstrap of all figures: 2,000 resamples, 95%, seed 0.
#[must_use]
pub fn bootstrap() -> Bootstrap {
    Bootstrap::default()
}

impl Figure {
    /// The mean of the values of all items that have one, with an interval in which items of one cluster (a prompt, a
    /// document) are drawn together.
    #[must_use]
    pub fn mean<K: Ord + Clone>(items: &[(K, Option<f64>)]) -> Self {
        let (clusters, values): (Vec<K>, Vec<f64>) =
            items.iter().filter_map(|(key, value)| Some((key.clone(), (*value)?))).unzip();
        let left_out = items.len() - values.len();
        Self::of(&clusters, left_out, &mut |rows| {
            if rows.is_empty() {
                return Ok(Statistic::Undefined(retort_stats::Undefined::TooFew { needed: 1, found: 0 }));
            }
            #[expect(clippy::cast_precision_loss, reason = "counts of items are far below 2^52")]
            let count = rows.len() as f64;
            Ok(Statistic::Value(rows.iter().map(|&row| values[row]).sum::<f64>() / count))
        })
    }

    /// Any figure of the items, which are given by their clusters in order; `figure` is called with the items of a
    /// resample.
    #[must_use]
    pub fn of<K: Ord + Clone>(
        clusters: &[K],
        left_out: usize,
        figure: &mut dyn FnMut(&[usize]) -> Result<Statistic, InputError>,
    ) -> Self {
        let n = clusters.len();
        let all: Vec<usize> = (0..n).collect();
        let mut found = Self { n, left_out, ..Self::default() };
        match figure(&all) {
            Ok(Statistic::Value(value)) => found.value = Some(value),
            Ok(Statistic::Undefined(reason)) => {
                found.because = Some(reason.to_string());
                return found;
            }
            Err(error) => {
                found.because = Some(error.to_string());
                return found;
            }
        }
        match bootstrap().by_cluster(clusters, figure) {
            Ok(Statistic::Value(interval)) => {
                (found.low, found.high) = (Some(interval.low), Some(interval.high))
            }
            Ok(Statistic::Undefined(reason)) => found.because = Some(reason.to_string()),
            Err(error) => found.because = Some(error.to_string()),
        }
        found
    }

    /// A count or other figure without an interval.
    #[must_use]
    pub fn exact(value: f64, n: usize) -> Self {
        Self { value: value.is_finite().then_some(value), n, ..Self::default() }
    }
}
