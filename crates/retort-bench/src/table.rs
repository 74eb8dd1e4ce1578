//! Figures with their intervals.

use retort_stats::Bootstrap;
use serde::{Deserialize, Serialize};

use crate::Measure;

/// The figures of one exam, or of one aspect of it; or, before they are worked out, their [`Measure`]s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table<F = Figure> {
    /// What stands above it.
    pub title: String,
    /// The figures.
    pub rows: Vec<Row<F>>,
    /// What a reader must know: what was left out and why, what the figures may not be taken for.
    pub notes: Vec<String>,
}

/// One figure of one judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row<F = Figure> {
    /// Which part of the data; `all` for all of it.
    pub part: String,
    /// Whose: `together`, `alone`, `skills`, `agnostic`, `random`, `longer`, `shorter`, `overlap`, `majority`, or the name
    /// of published verdicts.
    pub judge: String,
    /// What: `accuracy`, `balanced_accuracy`, `auc`, `flip_rate`, …
    pub metric: String,
    /// How much.
    pub figure: F,
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

impl Table<Measure<'_>> {
    /// The table with every figure worked out.
    #[must_use]
    pub fn figures(self) -> Table {
        let rows = self.rows.into_iter().map(|row| Row {
            part: row.part,
            judge: row.judge,
            metric: row.metric,
            figure: row.figure.figure(),
        });
        Table { title: self.title, rows: rows.collect(), notes: self.notes }
    }
}

impl Figure {
    /// The mean of the values of all items that have one, with an interval in which items of one cluster (a prompt, a
    /// document) are drawn together.
    #[must_use]
    pub fn mean<K: std::hash::Hash>(items: &[(K, Option<f64>)]) -> Self {
        Measure::mean(items).figure()
    }

    /// A count or other figure without an interval.
    #[must_use]
    pub fn exact(value: f64, n: usize) -> Self {
        Self { value: value.is_finite().then_some(value), n, ..Self::default() }
    }
}
