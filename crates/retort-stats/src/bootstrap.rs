//! How sure a figure is.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::numeric::{
    centred, check_finite, finite, is_constant, normal_cdf, normal_quantile, order, quantile,
};
use crate::{InputError, Place, SplitMix64, Statistic, Undefined};

/// The least share of resamples that must have a value for there to be an interval. A few resamples without one (a
/// rare label that was not drawn) do little harm and are counted; many would make the interval one of other data.
pub const MIN_DEFINED_SHARE: f64 = 0.9;

/// A bootstrap interval of any figure: the figure of many resamples of the data, drawn with replacement (Efron and
/// Tibshirani, "An introduction to the bootstrap", 1993).
///
/// Rows that share a prompt are no independent evidence; draw them together with [`Bootstrap::by_cluster`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bootstrap {
    /// The seed of [`SplitMix64`]; recorded in the [`Interval`].
    pub seed: u64,
    /// How many resamples, 2 to 1,000,000.
    pub resamples: usize,
    /// The share of intervals that should hold the true figure, between 0 and 1.
    pub level: f64,
    /// How the interval is read from the resamples.
    pub method: BootstrapMethod,
}

/// How an interval is read from the resamples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BootstrapMethod {
    /// From the (1−level)/2 quantile of the resamples to the 1−(1−level)/2 quantile.
    Percentile,
    /// Bias-corrected and accelerated: quantiles moved by the share of resamples below the estimate (ties counted
    /// half) and by the skewness of the figure when one row or cluster is left out. Source: Efron, "Better bootstrap
    /// confidence intervals" (1987).
    Bca,
}

/// An interval, with all that is needed to repeat it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Interval {
    /// The figure of the data itself.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The rows or clusters that were drawn from.
    pub units: usize,
    /// Resamples without a value, which are left out.
    pub undefined_resamples: usize,
    /// The seed.
    pub seed: u64,
    /// How many resamples were drawn.
    pub resamples: usize,
    /// The level asked for.
    pub level: f64,
    /// The method.
    pub method: BootstrapMethod,
}

impl Default for Bootstrap {
    /// 95%, 2,000 resamples, percentiles, seed 0.
    fn default() -> Self {
        Self { seed: 0, resamples: 2000, level: 0.95, method: BootstrapMethod::Percentile }
    }
}

impl Bootstrap {
    /// The interval of a figure of `rows` rows. `figure` is given the rows of a resample, counted from 0, some of them
    /// several times ([`resample`] picks them from a column), and first all rows once, for the estimate.
    ///
    /// Every resample takes `rows` draws of [`SplitMix64::below`] in order. Undefined when the estimate is, with fewer
    /// than two rows, with too many resamples undefined, or where BCa has no correction. Settings out of range and
    /// whatever `figure` refuses are errors.
    pub fn by_row(
        &self,
        rows: usize,
        figure: impl FnMut(&[usize]) -> Result<Statistic, InputError>,
    ) -> Result<Statistic<Interval>, InputError> {
        let units: Vec<Vec<usize>> = (0..rows).map(|row| vec![row]).collect();
        self.by_units(&units, figure)
    }

    /// As [`Bootstrap::by_row`], but rows with the same cluster (the prompt that they are about) are drawn together:
    /// as many clusters as there are, each with all of its rows. `cluster` has one entry per row; clusters are
    /// numbered by their first rows.
    pub fn by_cluster<K: Ord>(
        &self,
        cluster: &[K],
        figure: impl FnMut(&[usize]) -> Result<Statistic, InputError>,
    ) -> Result<Statistic<Interval>, InputError> {
        let mut numbers = BTreeMap::new();
        let mut units: Vec<Vec<usize>> = Vec::new();
        for (row, cluster) in cluster.iter().enumerate() {
            let number = *numbers.entry(cluster).or_insert(units.len());
            match units.get_mut(number) {
                Some(unit) => unit.push(row),
                None => units.push(vec![row]),
            }
        }
        self.by_units(&units, figure)
    }

    fn by_units(
        &self,
        units: &[Vec<usize>],
        mut figure: impl FnMut(&[usize]) -> Result<Statistic, InputError>,
    ) -> Result<Statistic<Interval>, InputError> {
        self.check()?;
        let rows: usize = units.iter().map(Vec::len).sum();
        let all: Vec<usize> = (0..rows).collect();
        let estimate = match figure(&all)? {
            Statistic::Value(estimate) => estimate,
            Statistic::Undefined(why) => return Ok(Statistic::Undefined(why)),
        };
        finite("the estimate", Place::Index(0), estimate)?;
        if units.len() < 2 {
            return Ok(Statistic::Undefined(Undefined::TooFew { needed: 2, found: units.len() }));
        }
        let mut random = SplitMix64::new(self.seed);
        let mut values = Vec::with_capacity(self.resamples);
        let mut drawn = Vec::with_capacity(rows);
        for _ in 0..self.resamples {
            drawn.clear();
            for _ in 0..units.len() {
                drawn.extend_from_slice(&units[random.below(units.len())]);
            }
            values.extend(figure(&drawn)?.value());
        }
        check_finite("the figure of a resample", &values)?;
        let undefined = self.resamples - values.len();
        if (values.len() as f64) < MIN_DEFINED_SHARE * self.resamples as f64 {
            let why = Undefined::ResamplesUndefined { undefined, resamples: self.resamples };
            return Ok(Statistic::Undefined(why));
        }
        values.sort_by(|a, b| order(*a, *b));
        let tail = (1.0 - self.level) / 2.0;
        let tails = match self.method {
            BootstrapMethod::Percentile => Some((tail, 1.0 - tail)),
            BootstrapMethod::Bca => corrected_tails(&values, estimate, &jackknife(units, figure)?, tail),
        };
        let Some((low, high)) = tails else {
            return Ok(Statistic::Undefined(Undefined::NoCorrection));
        };
        Ok(Statistic::Value(Interval {
            estimate,
            low: quantile(&values, low),
            high: quantile(&values, high),
            units: units.len(),
            undefined_resamples: undefined,
            seed: self.seed,
            resamples: self.resamples,
            level: self.level,
            method: self.method,
        }))
    }

    fn check(&self) -> Result<(), InputError> {
        if !(2..=1_000_000).contains(&self.resamples) {
            return Err(InputError::Setting {
                setting: "the number of resamples",
                value: self.resamples as f64,
                must_be: "from 2 to 1000000",
            });
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return Err(InputError::Setting {
                setting: "the level of the interval",
                value: self.level,
                must_be: "above 0 and below 1, such as 0.95",
            });
        }
        Ok(())
    }
}

/// The rows of a column that a resample has drawn. Rows that the column does not have are refused.
pub fn resample<T: Clone>(column: &[T], rows: &[usize]) -> Result<Vec<T>, InputError> {
    rows.iter()
        .map(|&row| column.get(row).cloned().ok_or(InputError::NoSuchRow { row, rows: column.len() }))
        .collect()
}

/// The figure with each unit left out; empty when one has no value.
fn jackknife(
    units: &[Vec<usize>],
    mut figure: impl FnMut(&[usize]) -> Result<Statistic, InputError>,
) -> Result<Vec<f64>, InputError> {
    let mut values = Vec::with_capacity(units.len());
    for left_out in 0..units.len() {
        let rows: Vec<usize> = units
            .iter()
            .enumerate()
            .filter(|(unit, _)| *unit != left_out)
            .flat_map(|(_, rows)| rows)
            .copied()
            .collect();
        match figure(&rows)? {
            Statistic::Value(value) => values.push(value),
            Statistic::Undefined(_) => return Ok(Vec::new()),
        }
    }
    check_finite("the figure without a unit", &values)?;
    Ok(values)
}

/// The BCa quantiles: Φ(z₀ + (z₀+z)/(1 − a(z₀+z))) for z at both tails, with z₀ the normal quantile of the share of
/// resamples below the estimate, and a = Σd³/(6(Σd²)^1.5), d being mean − jackknife value.
fn corrected_tails(sorted: &[f64], estimate: f64, jackknife: &[f64], tail: f64) -> Option<(f64, f64)> {
    let below = sorted.partition_point(|&value| value < estimate);
    let not_above = sorted.partition_point(|&value| value <= estimate);
    let share = (below + not_above) as f64 / (2.0 * sorted.len() as f64);
    if share <= 0.0 || share >= 1.0 || is_constant(jackknife) {
        return None;
    }
    let bias = normal_quantile(share);
    let (cubes, squares) = centred(jackknife)
        .iter()
        .fold((0.0, 0.0), |(cubes, squares), d| (cubes - d * d * d, squares + d * d));
    let acceleration = cubes / (6.0 * squares * squares.sqrt());
    let corrected = |z: f64| {
        let moved = bias + z;
        let divisor = 1.0 - acceleration * moved;
        // Beyond the pole the map turns round, and what it gives is no quantile.
        (divisor > 0.0).then(|| normal_cdf(bias + moved / divisor))
    };
    let z = normal_quantile(tail);
    Some((corrected(z)?, corrected(-z)?))
}
