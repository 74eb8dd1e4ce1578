//! Whether probabilities mean what they say.

use serde::Serialize;

use crate::numeric::{check_lengths, check_probability, mean};
use crate::{InputError, Place, Statistic, Undefined};

/// How far from 1 the probabilities of one case may sum: the rounding that a softmax in f32 leaves.
pub const PROBABILITY_SUM_TOLERANCE: f64 = 1e-3;

/// The Brier score of probabilities of a yes-or-no event, 0 (best) to 1: the mean of (pᵢ − oᵢ)², with oᵢ 1 where the
/// event happened and 0 where not. Half of what [`brier_multiclass`] gives for the same two classes.
///
/// Undefined without cases. Columns of different lengths and probabilities outside 0 to 1 are refused.
pub fn brier(happened: &[bool], probability: &[f64]) -> Result<Statistic, InputError> {
    check_forecast(happened, probability)?;
    let squares: Vec<f64> =
        happened.iter().zip(probability).map(|(&o, &p)| square(p - indicator(o))).collect();
    Ok(mean_or_undefined(&squares))
}

/// The Brier score of probabilities over classes, 0 (best) to 2: the mean over cases of Σ_k (p_k − o_k)², with o_k 1
/// for the class that is right and 0 for the others. Source: Brier, "Verification of forecasts expressed in terms of
/// probability" (1950).
///
/// `class` is the place of the right class within the row of probabilities, from 0. Undefined without cases. Refused:
/// different numbers of classes and rows, rows of different lengths, classes that have no place in the row,
/// probabilities outside 0 to 1, rows that do not sum to 1 within [`PROBABILITY_SUM_TOLERANCE`].
pub fn brier_multiclass<R: AsRef<[f64]>>(
    class: &[usize],
    probabilities: &[R],
) -> Result<Statistic, InputError> {
    check_lengths(("the truth", class.len()), ("the probabilities", probabilities.len()))?;
    let classes = probabilities.first().map_or(0, |row| row.as_ref().len());
    let mut of_cases = Vec::with_capacity(class.len());
    for (index, (&class, row)) in class.iter().zip(probabilities).enumerate() {
        let row = row.as_ref();
        if row.len() != classes {
            let (input, found) = ("the probabilities", row.len());
            return Err(InputError::RowLength { input, row: index, found, expected: classes });
        }
        if class >= classes {
            return Err(InputError::NoSuchClass { index, class, classes });
        }
        for (column, &p) in row.iter().enumerate() {
            check_probability("a probability", Place::Cell { row: index, column }, p)?;
        }
        let sum: f64 = row.iter().sum();
        if (sum - 1.0).abs() > PROBABILITY_SUM_TOLERANCE {
            return Err(InputError::BadSum { row: index, sum });
        }
        of_cases.push(row.iter().enumerate().map(|(k, p)| square(p - indicator(k == class))).sum());
    }
    Ok(mean_or_undefined(&of_cases))
}

/// [`expected_calibration_error`] and the bins that it was computed with.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Calibration {
    /// The expected calibration error, 0 (best) to 1.
    pub expected_error: Statistic,
    /// The largest difference of a bin, 0 (best) to 1.
    pub maximum_error: Statistic,
    /// All bins, from low to high; a reliability diagram.
    pub bins: Vec<CalibrationBin>,
}

/// The cases whose confidence is above `low` and at most `high`; the first bin has its lower end too.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CalibrationBin {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Number of cases.
    pub cases: usize,
    /// Mean of their confidence; undefined in an empty bin.
    pub confidence: Statistic,
    /// Share of them that are correct; undefined in an empty bin.
    pub accuracy: Statistic,
}

/// The expected calibration error of confidences, 0 (best) to 1: Σ_b |b|/n · |accuracy(b) − confidence(b)| over
/// `bins` bins b of equal width from 0 to 1, each with its upper end (and the first with 0). Source: Guo et al., "On
/// calibration of modern neural networks" (2017).
///
/// The figure depends on the number of bins, which is why they are part of the result. Undefined without cases.
/// Columns of different lengths, probabilities outside 0 to 1, and a number of bins other than 1 to 10,000 are refused.
pub fn expected_calibration_error(
    correct: &[bool],
    confidence: &[f64],
    bins: usize,
) -> Result<Calibration, InputError> {
    check_forecast(correct, confidence)?;
    if !(1..=10_000).contains(&bins) {
        let (setting, must_be) = ("the number of bins", "from 1 to 10000");
        return Err(InputError::Setting { setting, value: bins as f64, must_be });
    }
    let ends: Vec<f64> = (0..=bins).map(|end| end as f64 / bins as f64).collect();
    let mut members = vec![(Vec::new(), 0_usize); bins];
    for (&correct, &confidence) in correct.iter().zip(confidence) {
        // The first end that is not below it closes its bin.
        let bin = ends.partition_point(|&end| end < confidence).saturating_sub(1).min(bins - 1);
        members[bin].0.push(confidence);
        members[bin].1 += usize::from(correct);
    }
    let (mut expected, mut maximum) = (0.0, 0.0_f64);
    let bins = members
        .iter()
        .zip(ends.windows(2))
        .map(|((confidences, right), ends)| {
            let cases = confidences.len();
            let confidence = mean_or_undefined(confidences);
            let accuracy = confidence.clone().map(|_| *right as f64 / cases as f64);
            if let (Statistic::Value(confidence), Statistic::Value(accuracy)) = (&confidence, &accuracy) {
                let gap = (accuracy - confidence).abs();
                expected += cases as f64 / correct.len() as f64 * gap;
                maximum = maximum.max(gap);
            }
            CalibrationBin { low: ends[0], high: ends[1], cases, confidence, accuracy }
        })
        .collect();
    let over_cases = |error| match correct.len() {
        0 => Statistic::Undefined(Undefined::TooFew { needed: 1, found: 0 }),
        _ => Statistic::Value(error),
    };
    Ok(Calibration {
        expected_error: over_cases(expected.min(1.0)),
        maximum_error: over_cases(maximum),
        bins,
    })
}

fn check_forecast(happened: &[bool], probability: &[f64]) -> Result<(), InputError> {
    check_lengths(("the truth", happened.len()), ("the probability", probability.len()))?;
    probability
        .iter()
        .enumerate()
        .try_for_each(|(index, &p)| check_probability("a probability", Place::Index(index), p))
}

fn mean_or_undefined(values: &[f64]) -> Statistic {
    if values.is_empty() {
        Statistic::Undefined(Undefined::TooFew { needed: 1, found: 0 })
    } else {
        Statistic::Value(mean(values))
    }
}

fn indicator(happened: bool) -> f64 {
    f64::from(u8::from(happened))
}

fn square(value: f64) -> f64 {
    value * value
}
