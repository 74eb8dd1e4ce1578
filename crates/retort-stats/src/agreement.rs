//! Whether raters give the same labels, beyond what chance would give.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::numeric::{
    centred, check_finite, check_lengths, finite, is_constant, midranks, order, sum_of_squares,
};
use crate::{InputError, Place, Statistic, Undefined};

/// What the differences between labels mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Labels are equal or not.
    Nominal,
    /// Labels have an order, and how far apart they are depends on how many ratings lie between.
    Ordinal,
    /// Differences count as they are, squared.
    Interval,
}

/// [`krippendorff_alpha`] and what it was computed from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Alpha {
    /// α, at most 1: 1 is perfect agreement, 0 what chance gives, below 0 systematic disagreement.
    pub alpha: Statistic,
    /// The level of measurement.
    pub level: Level,
    /// Units with at least two ratings.
    pub units: usize,
    /// The ratings in them.
    pub ratings: usize,
    /// Units with one rating or none, which say nothing about agreement and are left out; counted from 0.
    pub left_out: Vec<usize>,
}

/// Krippendorff's α of any number of raters, with ratings missing anywhere: 1 − D_o/D_e. One row per rater, one
/// column per unit.
///
/// With m_u ratings of unit u, n = Σ m_u over units with m_u ≥ 2, and δ² the squared difference:
///
/// D_o = 1/n Σ_u 1/(m_u−1) Σ_{i≠j in u} δ²(i, j), and D_e = 1/(n(n−1)) Σ_{i≠j} δ²(i, j) over all these ratings.
///
/// δ² is 0 or 1 ([`Level::Nominal`]), (a−b)² ([`Level::Interval`]), or the square of the number of ratings from a to b,
/// with half of those at either end ([`Level::Ordinal`]). That number is the difference of the midranks of a and b
/// among all ratings, and that is how it is computed here. Source: Krippendorff, "Computing Krippendorff's
/// alpha-reliability" (2011).
///
/// Undefined when no unit has two ratings, or all such ratings are the same. Rows of different lengths and ratings
/// that are not finite are refused. Labels that are no numbers become some by [`Categories`].
pub fn krippendorff_alpha<R: AsRef<[Option<f64>]>>(ratings: &[R], level: Level) -> Result<Alpha, InputError> {
    let units = ratings.first().map_or(0, |row| row.as_ref().len());
    for (row, of_rater) in ratings.iter().enumerate() {
        let of_rater = of_rater.as_ref();
        if of_rater.len() != units {
            let (input, found) = ("the ratings", of_rater.len());
            return Err(InputError::RowLength { input, row, found, expected: units });
        }
        for (column, rating) in of_rater.iter().enumerate() {
            if let Some(rating) = *rating {
                finite("a rating", Place::Cell { row, column }, rating)?;
            }
        }
    }
    let mut left_out = Vec::new();
    let mut values = Vec::new();
    let mut unit_sizes = Vec::new();
    for unit in 0..units {
        let before = values.len();
        values.extend(ratings.iter().filter_map(|of_rater| of_rater.as_ref()[unit]));
        if values.len() - before < 2 {
            values.truncate(before);
            left_out.push(unit);
        } else {
            unit_sizes.push(values.len() - before);
        }
    }
    Ok(Alpha {
        alpha: alpha_of(&values, &unit_sizes, level).into(),
        level,
        units: unit_sizes.len(),
        ratings: values.len(),
        left_out,
    })
}

/// α of the ratings, unit after unit; each unit has at least two.
fn alpha_of(values: &[f64], unit_sizes: &[usize], level: Level) -> Result<f64, Undefined> {
    if values.is_empty() {
        return Err(Undefined::NothingInCommon);
    }
    if is_constant(values) {
        return Err(Undefined::NoDisagreementByChance);
    }
    // Sums of δ² over ordered pairs; for squared differences that is 2 m Σ(x − mean)², and the factor 2 cancels.
    let (values, difference): (Vec<f64>, fn(&[f64]) -> f64) = match level {
        Level::Nominal => (values.to_vec(), unequal_pairs),
        Level::Ordinal => (centred(&midranks(values)), squared_differences),
        Level::Interval => (centred(values), squared_differences),
    };
    let mut rest = values.as_slice();
    let mut observed = 0.0;
    for &size in unit_sizes {
        let (unit, others) = rest.split_at(size);
        observed += difference(unit) / (size - 1) as f64;
        rest = others;
    }
    let expected = difference(&values) / (values.len() - 1) as f64;
    Ok(1.0 - observed / expected)
}

/// Half the sum of (a − b)² over ordered pairs of values below 2 in size.
fn squared_differences(values: &[f64]) -> f64 {
    values.len() as f64 * sum_of_squares(&centred_in_place(values))
}

/// As [`centred`], without its scaling: values of different units must stay comparable.
fn centred_in_place(values: &[f64]) -> Vec<f64> {
    let mean = crate::numeric::mean(values);
    values.iter().map(|value| value - mean).collect()
}

/// The number of ordered pairs of different values, halved.
fn unequal_pairs(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| order(*a, *b));
    let squares: f64 =
        sorted.chunk_by(|a, b| a == b).map(|group| (group.len() as f64) * (group.len() as f64)).sum();
    let n = values.len() as f64;
    (n * n - squares) / 2.0
}

/// Cohen's κ of two raters' labels, −1 to 1: (p_o − p_e)/(1 − p_e), with p_o the share of equal labels and p_e the
/// share that raters would have by chance with the labels that each of them used. Source: Cohen, "A coefficient of
/// agreement for nominal scales" (1960).
///
/// Undefined without labels, or when both raters gave one and the same label throughout. Columns of different
/// lengths and labels that are not finite are refused. Labels that are no numbers become some by [`Categories`].
pub fn cohen_kappa(first: &[f64], second: &[f64]) -> Result<Statistic, InputError> {
    check_raters(first, second)?;
    Ok(kappa_of(first, second).into())
}

/// Cohen's κ with quadratic weights, −1 to 1: 1 − n Σᵢ(aᵢ−bᵢ)² / Σᵢⱼ(aᵢ−bⱼ)². Source: Cohen, "Weighted kappa" (1968).
///
/// The weights come from the values themselves, not from their places in the list of labels that occur: where nobody
/// gave a 3, a 2 and a 4 are still two apart. (scikit-learn's `cohen_kappa_score` does so only when it is given the
/// whole scale as `labels`.) Undefined and refused as [`cohen_kappa`].
pub fn quadratic_kappa(first: &[f64], second: &[f64]) -> Result<Statistic, InputError> {
    check_raters(first, second)?;
    Ok(quadratic_kappa_of(first, second).into())
}

fn check_raters(first: &[f64], second: &[f64]) -> Result<(), InputError> {
    check_lengths(("the first rater", first.len()), ("the second rater", second.len()))?;
    check_finite("a label of the first rater", first)?;
    check_finite("a label of the second rater", second)
}

fn check_labels(first: &[f64], second: &[f64]) -> Result<(), Undefined> {
    match (first, second) {
        ([a, ..], [b, ..]) if a == b && is_constant(first) && is_constant(second) => {
            Err(Undefined::NoDisagreementByChance)
        }
        ([_, ..], [_, ..]) => Ok(()),
        _ => Err(Undefined::TooFew { needed: 1, found: 0 }),
    }
}

fn kappa_of(first: &[f64], second: &[f64]) -> Result<f64, Undefined> {
    check_labels(first, second)?;
    let n = first.len() as f64;
    let unequal = first.iter().zip(second).filter(|(a, b)| a != b).count() as f64;
    // n² times the share that would be equal by chance: for every label of one rater, the other's labels like it.
    let mut sorted = second.to_vec();
    sorted.sort_by(|a, b| order(*a, *b));
    let alike = |label: f64| {
        sorted.partition_point(|&other| other <= label) - sorted.partition_point(|&other| other < label)
    };
    let equal_by_chance: f64 = first.iter().map(|&label| alike(label) as f64).sum();
    Ok(1.0 - n * unequal / (n * n - equal_by_chance))
}

fn quadratic_kappa_of(first: &[f64], second: &[f64]) -> Result<f64, Undefined> {
    check_labels(first, second)?;
    let n = first.len() as f64;
    let both = centred(&[first, second].concat());
    let (a, b) = both.split_at(first.len());
    let observed: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    // Σᵢⱼ(aᵢ−bⱼ)² = n Σaᵢ² + n Σbⱼ² − 2 Σaᵢ Σbⱼ; about their common mean nothing cancels, since Σa = −Σb.
    let expected = n * sum_of_squares(&both) - 2.0 * a.iter().sum::<f64>() * b.iter().sum::<f64>();
    Ok((1.0 - n * observed / expected).max(-1.0))
}

/// Numbers for labels that are none: 0 for the first label met, 1 for the second, and so on.
///
/// For [`Level::Nominal`], [`cohen_kappa`] and [`balanced_accuracy`](crate::balanced_accuracy), to which only
/// equality matters. Use one for all columns that are compared.
#[derive(Debug, Clone, Default)]
pub struct Categories<T> {
    codes: BTreeMap<T, usize>,
}

impl<T: Ord> Categories<T> {
    /// None so far.
    pub fn new() -> Self {
        Self { codes: BTreeMap::new() }
    }

    /// The label's number; a new one when the label is new.
    pub fn code(&mut self, label: T) -> f64 {
        let next = self.codes.len();
        *self.codes.entry(label).or_insert(next) as f64
    }

    /// The labels met, in the order of their numbers.
    pub fn labels(&self) -> Vec<&T> {
        let mut labels: Vec<_> = self.codes.iter().collect();
        labels.sort_by_key(|(_, code)| **code);
        labels.into_iter().map(|(label, _)| label).collect()
    }
}
