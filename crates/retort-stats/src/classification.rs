//! Whether a classifier finds what it should.

use crate::numeric::{check_finite, check_lengths, midranks, order};
use crate::{InputError, Statistic, Undefined};

/// The mean, over the classes that occur in `truth`, of the share of their cases that were predicted as such; 0 to 1.
/// Chance gives 1/classes however uneven the classes are.
///
/// A class that occurs only among the predictions has no share of its own; predicting it still costs the class that
/// was meant. Undefined without cases. Columns of different lengths and labels that are not finite are refused;
/// labels that are no numbers become some by [`Categories`](crate::Categories).
pub fn balanced_accuracy(truth: &[f64], predicted: &[f64]) -> Result<Statistic, InputError> {
    check_lengths(("the truth", truth.len()), ("the prediction", predicted.len()))?;
    check_finite("a true label", truth)?;
    check_finite("a predicted label", predicted)?;
    let mut cases: Vec<(f64, bool)> = truth.iter().zip(predicted).map(|(&t, &p)| (t, t == p)).collect();
    cases.sort_by(|a, b| order(a.0, b.0));
    let recalls: Vec<f64> = cases
        .chunk_by(|a, b| a.0 == b.0)
        .map(|class| class.iter().filter(|case| case.1).count() as f64 / class.len() as f64)
        .collect();
    Ok(if recalls.is_empty() {
        Statistic::Undefined(Undefined::TooFew { needed: 1, found: 0 })
    } else {
        Statistic::Value(crate::numeric::mean(&recalls))
    })
}

/// The area under the receiver operating characteristic, 0 to 1: the probability that a positive case scores higher
/// than a negative one, a tie counted half. From the midranks of the n₊ positive cases, whose sum is R:
/// (R − n₊(n₊+1)/2)/(n₊n₋) (Hanley and McNeil, "The meaning and use of the area under a ROC curve", 1982).
///
/// Undefined without cases of both classes. Columns of different lengths and scores that are not finite are refused.
pub fn auc(positive: &[bool], score: &[f64]) -> Result<Statistic, InputError> {
    check_lengths(("the truth", positive.len()), ("the score", score.len()))?;
    check_finite("a score", score)?;
    let positives = positive.iter().filter(|positive| **positive).count();
    let negatives = positive.len() - positives;
    if positive.is_empty() {
        return Ok(Statistic::Undefined(Undefined::TooFew { needed: 2, found: 0 }));
    }
    if positives == 0 || negatives == 0 {
        return Ok(Statistic::Undefined(Undefined::OneClass { positive: negatives == 0 }));
    }
    let ranks: f64 = midranks(score).iter().zip(positive).filter(|(_, p)| **p).map(|(rank, _)| rank).sum();
    let (positives, negatives) = (positives as f64, negatives as f64);
    Ok(Statistic::Value((ranks - positives * (positives + 1.0) / 2.0) / (positives * negatives)))
}
