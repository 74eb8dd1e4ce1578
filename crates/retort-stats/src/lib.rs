//! Agreement and bias arithmetic: how well two judges agree, how sure that is, and what sways them.
//!
//! | question | functions |
//! |---|---|
//! | Do two columns of scores rise together? | [`pearson`], [`spearman`], [`kendall_tau_b`] |
//! | How do two columns agree, all in all? | [`agreement_of`] |
//! | Do raters give the same labels, beyond chance? | [`krippendorff_alpha`], [`cohen_kappa`], [`quadratic_kappa`] |
//! | Does a classifier find what it should? | [`balanced_accuracy`], [`auc`] |
//! | Do probabilities mean what they say? | [`brier`], [`brier_multiclass`], [`expected_calibration_error`] |
//! | How much of a reference does a text repeat? | [`rouge_l`] |
//! | Do length, rewording or order sway the judge? | [`length_score_correlation`], [`robustness_ratio`], [`win_rate`], [`order_effects`] |
//! | What is the mean, over which scale? | [`mean`], [`mean_of_scores`] |
//! | How sure is any of these? | [`Bootstrap`], by row or by cluster |
//! | What would a person say, by a model's hidden states? | [`fit_readout`], [`Readout::apply`] |
//! | Which rows belong together? | [`Pairs`], [`Categories`] |
//!
//! Three rules hold throughout.
//!
//! 1. **No number is made up.** A figure is a [`Statistic`]: a finite value, or the reason why there is none
//!    ([`Undefined`]), which is `null` in files. It is never NaN, and never a 0 or 1 that stands for "don't know".
//! 2. **Bad input is an error.** NaN and infinity are refused with the place where they stand
//!    ([`InputError`]). A missing value is `None`, and what was left out for it is counted or listed.
//! 3. **The same everywhere.** Nothing but `libm`, square roots and the four operations in a fixed order, and a
//!    generator with an explicit seed ([`SplitMix64`]): native and WebAssembly give the same bits.
//!
//! ```
//! use retort_stats::{Bootstrap, Pairs, resample, spearman};
//!
//! let people = [Some(1.0), Some(2.0), Some(2.0), Some(4.0), None, Some(5.0)];
//! let judge = [Some(1.5), Some(2.5), Some(2.0), Some(3.0), Some(4.0), Some(4.8)];
//! let pairs = Pairs::by_position(&people, &judge)?;
//! assert_eq!(pairs.left_out.len(), 1); // the fifth row, which people did not rate
//!
//! let rho = spearman(&pairs.first, &pairs.second)?;
//! assert!(rho.value().is_some_and(|rho| rho > 0.9));
//!
//! let bootstrap = Bootstrap { seed: 7, resamples: 200, ..Bootstrap::default() };
//! let interval = bootstrap.by_row(pairs.len(), |rows| {
//!     spearman(&resample(&pairs.first, rows)?, &resample(&pairs.second, rows)?)
//! })?;
//! assert!(interval.value().is_some_and(|interval| interval.seed == 7));
//! # Ok::<(), retort_stats::InputError>(())
//! ```
#![deny(missing_docs)]

mod agree;
mod agreement;
mod bias;
mod bootstrap;
mod calibration;
mod classification;
mod correlation;
mod error;
mod mean;
mod numeric;
mod pairs;
mod random;
mod readout;
mod rouge;
mod statistic;

pub use agree::{AGREEMENT_RESAMPLES, Agreement, Estimate, agreement_of};
pub use agreement::{Alpha, Categories, Level, cohen_kappa, krippendorff_alpha, quadratic_kappa};
pub use bias::{
    BothOrders, LENGTH_SKILLS, LengthCorrelation, OrderEffects, Rewritten, Robustness, WinRate, Winner,
    length_score_correlation, order_effects, robustness_ratio, win_rate,
};
pub use bootstrap::{Bootstrap, BootstrapMethod, Interval, MIN_DEFINED_SHARE, resample};
pub use calibration::{
    Calibration, CalibrationBin, PROBABILITY_SUM_TOLERANCE, brier, brier_multiclass,
    expected_calibration_error,
};
pub use classification::{auc, balanced_accuracy};
pub use correlation::{kendall_tau_b, midranks, pearson, spearman};
pub use error::{InputError, Place};
pub use mean::{Across, Mean, Scale, Scored, mean, mean_of_scores};
pub use pairs::{LeftOut, Pairs, Why};
pub use random::SplitMix64;
pub use readout::{
    DEFAULT_FOLDS, FEW_EXAMPLES, FEW_GROUPS, Line, MIN_EXAMPLES, Readout, ReadoutError, ReadoutExample,
    ReadoutSettings, fit_readout,
};
pub use rouge::{RougeL, rouge_l, words};
pub use statistic::{Side, Statistic, Undefined};
