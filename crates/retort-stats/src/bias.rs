//! Whether length, rewording or order sway a judge.

use serde::Serialize;

use crate::numeric::{check_finite, check_lengths, finite};
use crate::{InputError, Place, Statistic, Undefined, pearson, spearman};

/// How a judge's scores go with the lengths of what was judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LengthCorrelation {
    /// Pearson's r of length and score, which FLASK reports.
    pub pearson: Statistic,
    /// Spearman's ρ, which a few very long responses do not pull.
    pub spearman: Statistic,
    /// The number of responses.
    pub count: usize,
}

/// The correlation of lengths (in words, characters or tokens, but all in the same) with scores. FLASK takes it over
/// models, with a model's mean length and mean score as one pair; over responses it is the same arithmetic.
///
/// Undefined where the correlations are. Columns of different lengths, values that are not finite, and negative
/// lengths are refused.
pub fn length_score_correlation(lengths: &[f64], scores: &[f64]) -> Result<LengthCorrelation, InputError> {
    check_lengths(("the lengths", lengths.len()), ("the scores", scores.len()))?;
    check_finite("a length", lengths)?;
    check_finite("a score", scores)?;
    if let Some(index) = lengths.iter().position(|&length| length < 0.0) {
        let (input, place, value) = ("a length", Place::Index(index), lengths[index]);
        return Err(InputError::OutOfRange { input, place, value, min: 0.0, max: f64::MAX });
    }
    Ok(LengthCorrelation {
        pearson: pearson(lengths, scores)?,
        spearman: spearman(lengths, scores)?,
        count: lengths.len(),
    })
}

/// FLASK's two skills that a longer wording may rightly change, and that [`robustness_ratio`] leaves out there.
pub const LENGTH_SKILLS: [&str; 2] = ["Completeness", "Conciseness"];

/// The score of one instance under one skill, before and after the response was rewritten to say the same otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rewritten<'a> {
    /// The skill.
    pub skill: &'a str,
    /// The score of the response as it was; `None` when there is none.
    pub before: Option<f64>,
    /// The score of the rewritten one; `None` when there is none.
    pub after: Option<f64>,
}

/// [`robustness_ratio`] and what it was computed from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Robustness {
    /// The share of compared scores that stayed equal, 0 to 1. Undefined when none could be compared.
    pub ratio: Statistic,
    /// Scores that stayed equal.
    pub equal: usize,
    /// Scores that are there before and after.
    pub compared: usize,
    /// Scores of skills that were to be left out.
    pub left_out: usize,
    /// Scores that are missing before or after, neither equal nor changed.
    pub unscored: usize,
}

/// The share of scores that stay equal when responses are reworded without changing what they say (FLASK's
/// robustness to verbosity). `leave_out` names skills that the rewriting may rightly change: [`LENGTH_SKILLS`] when it
/// lengthens. `tolerance` is how far apart two equal scores may be: 0 for whole numbers, and a stated distance such
/// as ½ for expected scores, which are never quite equal.
///
/// Scores that are not finite and a tolerance that is negative or not finite are refused.
pub fn robustness_ratio(
    scores: &[Rewritten<'_>],
    leave_out: &[&str],
    tolerance: f64,
) -> Result<Robustness, InputError> {
    if !(tolerance >= 0.0 && tolerance.is_finite()) {
        let (setting, must_be) = ("the tolerance", "0 or a finite number above it");
        return Err(InputError::Setting { setting, value: tolerance, must_be });
    }
    let (mut equal, mut compared, mut left_out, mut unscored) = (0, 0, 0, 0);
    for (index, score) in scores.iter().enumerate() {
        for (input, value) in
            [("a score before rewriting", score.before), ("a score after rewriting", score.after)]
        {
            if let Some(value) = value {
                finite(input, Place::Index(index), value)?;
            }
        }
        if leave_out.contains(&score.skill) {
            left_out += 1;
            continue;
        }
        let (Some(before), Some(after)) = (score.before, score.after) else {
            unscored += 1;
            continue;
        };
        compared += 1;
        equal += usize::from((before - after).abs() <= tolerance);
    }
    Ok(Robustness { ratio: share(equal as f64, compared), equal, compared, left_out, unscored })
}

/// Which of two responses a comparison prefers. A and B are the responses themselves, wherever they were shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Winner {
    /// Response A.
    A,
    /// Response B.
    B,
    /// Neither.
    Tie,
}

impl Winner {
    /// What A earns: 1, ½ or 0.
    fn points_of_a(self) -> f64 {
        match self {
            Self::A => 1.0,
            Self::Tie => 0.5,
            Self::B => 0.0,
        }
    }
}

/// [`win_rate`] and what it was computed from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WinRate {
    /// A's rate, 0 to 1: (wins + ties/2) / comparisons that were decided one way or the other or tied.
    pub rate: Statistic,
    /// Comparisons that A won.
    pub wins: usize,
    /// Comparisons that ended in a tie.
    pub ties: usize,
    /// Comparisons that A lost.
    pub losses: usize,
    /// Comparisons without a verdict, which are in neither part of the rate.
    pub failed: usize,
}

/// A's win rate, with ties counted half and failed comparisons (`None`) apart. Undefined when all failed. B's rate is
/// 1 less A's.
pub fn win_rate(comparisons: &[Option<Winner>]) -> WinRate {
    let count = |what: Option<Winner>| comparisons.iter().filter(|winner| **winner == what).count();
    let (wins, ties, losses) = (count(Some(Winner::A)), count(Some(Winner::Tie)), count(Some(Winner::B)));
    let rate = share(wins as f64 + ties as f64 / 2.0, wins + ties + losses);
    WinRate { rate, wins, ties, losses, failed: count(None) }
}

/// The verdicts on two responses shown in both orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BothOrders {
    /// The verdict when A was shown first; `None` when the judgement failed.
    pub a_first: Option<Winner>,
    /// The verdict when B was shown first; `None` when the judgement failed.
    pub b_first: Option<Winner>,
}

/// [`order_effects`]: what the order of presentation does to verdicts. All rates are from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OrderEffects {
    /// (reversed + half/2) / compared. Undefined when nothing was judged in both orders.
    pub flip_rate: Statistic,
    /// How often the response shown first won, over both orders of the compared pairs, ties counted half: ½ is a
    /// judge without a preference for a place.
    pub first_shown_rate: Statistic,
    /// Pairs with a verdict in both orders.
    pub compared: usize,
    /// Compared pairs with the same verdict in both orders.
    pub same: usize,
    /// Compared pairs with a winner in one order and a tie in the other: half a flip.
    pub half: usize,
    /// Compared pairs that each response won once: a flip.
    pub reversed: usize,
    /// Pairs without a verdict in at least one order, which are in none of the rates.
    pub failed: usize,
}

/// The flip rate of verdicts between the two orders of presentation, a winner against a tie counted half; and how
/// often the response shown first won. Pairs that failed in an order are counted apart.
pub fn order_effects(pairs: &[BothOrders]) -> OrderEffects {
    let (mut same, mut half, mut reversed, mut failed, mut first_shown) = (0, 0, 0, 0, 0.0);
    for pair in pairs {
        let (Some(a_first), Some(b_first)) = (pair.a_first, pair.b_first) else {
            failed += 1;
            continue;
        };
        if a_first == b_first {
            same += 1;
        } else if a_first == Winner::Tie || b_first == Winner::Tie {
            half += 1;
        } else {
            reversed += 1;
        }
        first_shown += a_first.points_of_a() + (1.0 - b_first.points_of_a());
    }
    let compared = same + half + reversed;
    OrderEffects {
        flip_rate: share(reversed as f64 + half as f64 / 2.0, compared),
        first_shown_rate: share(first_shown, 2 * compared),
        compared,
        same,
        half,
        reversed,
        failed,
    }
}

fn share(part: f64, of: usize) -> Statistic {
    match of {
        0 => Statistic::Undefined(Undefined::TooFew { needed: 1, found: 0 }),
        _ => Statistic::Value(part / of as f64),
    }
}
