//! What the figures share: checks, and sums that neither overflow nor lose digits.

use std::cmp::Ordering;

use crate::{InputError, Place};

/// The order of two finite numbers; 0 and −0 are equal.
pub(crate) fn order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

pub(crate) fn check_finite(input: &'static str, values: &[f64]) -> Result<(), InputError> {
    values.iter().enumerate().try_for_each(|(index, &value)| finite(input, Place::Index(index), value))
}

pub(crate) fn finite(input: &'static str, place: Place, value: f64) -> Result<(), InputError> {
    if value.is_finite() { Ok(()) } else { Err(InputError::NotFinite { input, place, value }) }
}

/// Refuses what is NaN, infinite or outside 0 to 1.
pub(crate) fn check_probability(input: &'static str, place: Place, value: f64) -> Result<(), InputError> {
    finite(input, place, value)?;
    if (0.0..=1.0).contains(&value) {
        Ok(())
    } else {
        Err(InputError::OutOfRange { input, place, value, min: 0.0, max: 1.0 })
    }
}

pub(crate) fn check_lengths(
    (first, first_len): (&'static str, usize),
    (second, second_len): (&'static str, usize),
) -> Result<(), InputError> {
    if first_len == second_len {
        Ok(())
    } else {
        Err(InputError::Lengths { first, first_len, second, second_len })
    }
}

/// Whether all values are equal; true of none.
pub(crate) fn is_constant(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}

/// The exponent e for which all values times 2^−e are below 1 in size and one at least ½. Such a scaling changes no
/// digit, and no sum of squares overflows after it.
fn exponent(values: &[f64]) -> i32 {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    libm::frexp(largest).1
}

/// The mean of finite values, between the least and the largest of them, and 0 of none.
pub(crate) fn mean(values: &[f64]) -> f64 {
    let e = exponent(values);
    let scaled: Vec<f64> = values.iter().map(|&value| libm::ldexp(value, -e)).collect();
    libm::ldexp(mean_of_scaled(&scaled), e)
}

/// The mean of values below 1 in size.
fn mean_of_scaled(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let n = values.len() as f64;
    let rough = values.iter().sum::<f64>() / n;
    // What rounding left in the first sum.
    let mean = rough + values.iter().map(|value| value - rough).sum::<f64>() / n;
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)));
    mean.clamp(low, high)
}

/// The values, divided by a power of two that makes them smaller than 1 in size, less their mean.
pub(crate) fn centred(values: &[f64]) -> Vec<f64> {
    let e = exponent(values);
    let mut scaled: Vec<f64> = values.iter().map(|&value| libm::ldexp(value, -e)).collect();
    let mean = mean_of_scaled(&scaled);
    for value in &mut scaled {
        *value -= mean;
    }
    scaled
}

pub(crate) fn sum_of_squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

/// The ranks of finite values from 1; equal values share the mean of the ranks that they take.
pub(crate) fn midranks(values: &[f64]) -> Vec<f64> {
    let mut by_value: Vec<usize> = (0..values.len()).collect();
    by_value.sort_by(|&a, &b| order(values[a], values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tied in by_value.chunk_by(|&a, &b| values[a] == values[b]) {
        // The ranks before+1 … before+len have this mean, a multiple of ½.
        let rank = before as f64 + (tied.len() + 1) as f64 / 2.0;
        for &row in tied {
            ranks[row] = rank;
        }
        before += tied.len();
    }
    ranks
}

/// The quantile of sorted values, by straight lines between order statistics (type 7 of Hyndman and Fan, "Sample
/// quantiles in statistical packages", 1996). `p` is from 0 to 1, and there is at least one value.
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let at = p * last as f64;
    let below = (at.floor() as usize).min(last);
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    let share = at - below as f64;
    (low * (1.0 - share) + high * share).clamp(low, high)
}

/// The probability that a standard normal variable is at most `z`.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// The `z` of which [`normal_cdf`] is `p`, for `p` strictly between 0 and 1. By halving, since it is asked for a few
/// times per interval only: nothing to tabulate, and as exact as the function that it inverts.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    if p == 0.5 {
        return 0.0;
    }
    // Below −39 the probability is no longer a number above 0.
    let (mut low, mut high) = (-39.0, 0.0);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if normal_cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tables of the normal distribution: Φ(1.959963984540054) = 0.975, Φ(−1) = 0.158655253931457.
    #[test]
    fn the_normal_distribution_is_that_of_the_tables() {
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        assert!((normal_quantile(0.025) + 1.959_963_984_540_054).abs() < 1e-14);
        assert!((normal_cdf(-1.0) - 0.158_655_253_931_457_05).abs() < 1e-15);
        assert_eq!(normal_quantile(0.5), 0.0);
        assert!((normal_cdf(normal_quantile(1e-300)) / 1e-300 - 1.0).abs() < 1e-11);
    }

    /// Type 7 by hand: between 1, 2, 4, 8 the place of ½ is 1.5, halfway from 2 to 4.
    #[test]
    fn quantiles_lie_on_straight_lines() {
        let values = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(quantile(&values, 0.5), 3.0);
        assert_eq!(quantile(&values, 1.0), 8.0);
        assert_eq!(quantile(&[5.0], 0.3), 5.0);
    }

    /// A plain sum would be infinite, or not 0.1.
    #[test]
    fn means_neither_overflow_nor_leave_their_values() {
        assert_eq!(mean(&[f64::MAX, f64::MAX]), f64::MAX);
        assert_eq!(mean(&[0.1; 10]), 0.1);
        assert_eq!(mean(&[-5e-324, -5e-324]), -5e-324);
        assert_eq!(mean(&[]), 0.0);
    }
}
