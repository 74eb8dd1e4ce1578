//! Whether two columns rise together.

use crate::numeric::{centred, check_finite, check_lengths, is_constant, order, sum_of_squares};
use crate::{InputError, Side, Statistic, Undefined, numeric};

/// Pearson's product-moment correlation, −1 to 1:
/// r = Σ(xᵢ−x̄)(yᵢ−ȳ) / √(Σ(xᵢ−x̄)² Σ(yᵢ−ȳ)²).
///
/// Undefined with fewer than two pairs, or when a column is constant. Columns of different lengths and values that
/// are not finite are refused.
pub fn pearson(x: &[f64], y: &[f64]) -> Result<Statistic, InputError> {
    check_columns(x, y)?;
    Ok(pearson_of(x, y).into())
}

/// Spearman's rank correlation, −1 to 1: [`pearson`] of the [`midranks`].
///
/// The formula 1 − 6Σd²/(n(n²−1)) holds without ties only, and scores of judges are full of ties; it is not used.
/// Undefined and refused as [`pearson`].
pub fn spearman(x: &[f64], y: &[f64]) -> Result<Statistic, InputError> {
    check_columns(x, y)?;
    Ok(pearson_of(&numeric::midranks(x), &numeric::midranks(y)).into())
}

/// Kendall's rank correlation τ-b, −1 to 1: (C − D) / √((n₀ − n₁)(n₀ − n₂)), with C pairs of rows in the same order
/// in both columns, D in opposite order, n₀ = n(n−1)/2 pairs in all, n₁ of them tied in `x` and n₂ in `y`.
///
/// Counted in O(n log n) by the exchanges of a merge sort (Knight, "A computer method for calculating Kendall's tau
/// with ungrouped data", 1966). Undefined and refused as [`pearson`].
pub fn kendall_tau_b(x: &[f64], y: &[f64]) -> Result<Statistic, InputError> {
    check_columns(x, y)?;
    Ok(kendall_of(x, y).into())
}

/// The rank of each value, from 1; equal values share the mean of the ranks that they take together. Values that
/// are not finite are refused.
///
/// ```
/// assert_eq!(retort_stats::midranks(&[2.0, 1.0, 2.0])?, [2.5, 1.0, 2.5]);
/// # Ok::<(), retort_stats::InputError>(())
/// ```
pub fn midranks(values: &[f64]) -> Result<Vec<f64>, InputError> {
    check_finite("a value", values)?;
    Ok(numeric::midranks(values))
}

fn check_columns(x: &[f64], y: &[f64]) -> Result<(), InputError> {
    check_lengths(("the first column", x.len()), ("the second column", y.len()))?;
    check_finite("a value of the first column", x)?;
    check_finite("a value of the second column", y)
}

/// Whether two columns of one length vary enough to be correlated.
pub(crate) fn check_variation(x: &[f64], y: &[f64]) -> Result<(), Undefined> {
    if x.len() < 2 {
        return Err(Undefined::TooFew { needed: 2, found: x.len() });
    }
    let side = match (is_constant(x), is_constant(y)) {
        (false, false) => return Ok(()),
        (true, false) => Side::First,
        (false, true) => Side::Second,
        (true, true) => Side::Both,
    };
    Err(Undefined::Constant { side })
}

fn pearson_of(x: &[f64], y: &[f64]) -> Result<f64, Undefined> {
    check_variation(x, y)?;
    let (x, y) = (centred(x), centred(y));
    let product: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
    // Neither sum is 0, since two values differ, nor does the product of the sums leave the range of numbers.
    let r = product / (sum_of_squares(&x) * sum_of_squares(&y)).sqrt();
    Ok(r.clamp(-1.0, 1.0))
}

fn kendall_of(x: &[f64], y: &[f64]) -> Result<f64, Undefined> {
    check_variation(x, y)?;
    let mut rows: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    rows.sort_by(|a, b| order(a.0, b.0).then(order(a.1, b.1)));
    let tied_x = pairs_in(rows.chunk_by(|a, b| a.0 == b.0));
    let tied_both = pairs_in(rows.chunk_by(|a, b| a == b));
    let mut y: Vec<f64> = rows.iter().map(|row| row.1).collect();
    // Rows tied in x are sorted by y, so that they exchange nothing: every exchange is a discordant pair.
    let discordant = sort_counting_exchanges(&mut y);
    let tied_y = pairs_in(y.chunk_by(|a, b| a == b));
    Ok(tau_b(&PairCounts { all: pairs_of(rows.len()), tied_x, tied_y, tied_both, discordant }))
}

/// How pairs of rows lie to each other.
pub(crate) struct PairCounts {
    pub(crate) all: i128,
    pub(crate) tied_x: i128,
    pub(crate) tied_y: i128,
    pub(crate) tied_both: i128,
    pub(crate) discordant: i128,
}

/// τ-b of columns of which neither is constant.
pub(crate) fn tau_b(pairs: &PairCounts) -> f64 {
    let PairCounts { all, tied_x, tied_y, tied_both, discordant } = *pairs;
    let difference = all - tied_x - tied_y + tied_both - 2 * discordant;
    let tau = difference as f64 / ((all - tied_x) as f64 * (all - tied_y) as f64).sqrt();
    tau.clamp(-1.0, 1.0)
}

pub(crate) fn pairs_of(n: usize) -> i128 {
    let n = n as i128;
    n * (n - 1) / 2
}

fn pairs_in<'a, T: 'a>(groups: impl Iterator<Item = &'a [T]>) -> i128 {
    groups.map(|group| pairs_of(group.len())).sum()
}

/// Sorts, and counts the pairs that stood in falling order.
fn sort_counting_exchanges(values: &mut [f64]) -> i128 {
    if values.len() < 2 {
        return 0;
    }
    let (left, right) = values.split_at_mut(values.len() / 2);
    let mut exchanges = sort_counting_exchanges(left) + sort_counting_exchanges(right);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        if right[j] < left[i] {
            exchanges += (left.len() - i) as i128;
            merged.push(right[j]);
            j += 1;
        } else {
            merged.push(left[i]);
            i += 1;
        }
    }
    merged.extend_from_slice(&left[i..]);
    merged.extend_from_slice(&right[j..]);
    values.copy_from_slice(&merged);
    exchanges
}
