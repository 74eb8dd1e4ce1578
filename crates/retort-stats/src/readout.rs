//! A readout on a person's own labels: from a model's hidden states, and its own score, to what that person would say.
//!
//! 1. States are standardized, and labels regressed on them by ridge regression ([`ridge`]).
//! 2. The model's own score is fitted to the labels by a straight line.
//! 3. The prediction is a blend of both, set right in its spread and clipped to the range of the labels.
//! 4. Penalty and blend are chosen by cross-validation over groups, and what all of this is worth by another one around it:
//!    no figure of [`Readout::before`] and [`Readout::after`] is of an example that its fit, its penalty or its blend had
//!    seen.
//!
//! A dozen labels and two thousand numbers per state are enough to find a pattern in anything. So the readout says whether
//! it [helps](Readout::helps), and is modest: of equals it takes the larger penalty and the smaller blend, and where nothing
//! can be checked the model's own score alone; and with fewer than [`FEW_EXAMPLES`] it never says that it helps.

mod ridge;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::numeric::{finite, is_constant, mean, order};
use crate::{
    AGREEMENT_RESAMPLES, Agreement, Bootstrap, Estimate, InputError, Interval, Place, SplitMix64, Statistic,
    agreement_of, pearson, resample, spearman,
};
use ridge::{Kernel, Standard};

/// The name and version of the shape.
const FORMAT: &str = "retort.readout/1";

/// The least number of examples: with fewer, a fold would be fitted to two.
pub const MIN_EXAMPLES: usize = 4;

/// With fewer examples a readout warns that it is hardly more than a guess.
pub const FEW_EXAMPLES: usize = 12;

/// With fewer groups a readout warns that it was hardly checked.
pub const FEW_GROUPS: usize = 3;

/// Folds of cross-validation where nobody says otherwise.
pub const DEFAULT_FOLDS: usize = 5;

/// The penalties that are tried, per number of a state. Standardized rows have a squared length of about as many as they
/// have numbers, so that these reach from almost no penalty to one that leaves almost nothing.
const PENALTIES: [f64; 11] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

/// The place in [`PENALTIES`] of what is taken where none can be chosen.
const UNCHOSEN: usize = 6;

/// Steps of the blend: 0, 0.1, …, 1.
const BLENDS: usize = 10;

/// A misfit this many times the least is as good: of these the smallest blend is taken.
const NO_WORSE: f64 = 1.02;

/// How far a blend may be stretched. Two predictions that each know a part of the truth, and err towards the mean for what
/// they do not know, have a mean that errs twice as far where what they know is independent, and never further.
const MOST_STRETCH: f64 = 2.0;

/// The largest number in size that a label or score may be: its square must stay a number.
const LARGEST: f64 = 1e15;

/// One response that a person labelled.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadoutExample {
    /// The model's states of it, one after the other; as many numbers for every example, an even number: two states.
    pub state: Vec<f32>,
    /// The model's own score of it, in whatever unit; `None` where it has none.
    pub own: Option<f64>,
    /// What the person said.
    pub label: f64,
    /// Examples of one group are never on both sides of a fold: the prompt.
    pub group: String,
}

/// How a readout is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadoutSettings {
    /// The layer that the states come from: only recorded, and compared when the readout is applied.
    pub layer: usize,
    /// The least that a label may be.
    pub min: f64,
    /// The most that a label may be.
    pub max: f64,
    /// Chooses folds and resamples; below 2^53 where JavaScript reads the result.
    pub seed: u64,
    /// Folds of cross-validation, 2 or more; fewer where there are fewer groups.
    pub folds: usize,
}

/// Why there is no readout, or no prediction of it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadoutError {
    /// Too few examples.
    #[error(
        "{found} examples have labels, and a readout needs at least {MIN_EXAMPLES}; label more responses"
    )]
    TooFew {
        /// How many there are.
        found: usize,
    },
    /// A state has another length than the readout's, or than the first example's.
    #[error(
        "{which} has {found} numbers and {expected} are needed; take the states of one model, read from one layer"
    )]
    Width {
        /// Which state.
        which: String,
        /// Its length.
        found: usize,
        /// What is needed.
        expected: usize,
    },
    /// A state comes from another layer than the readout's.
    #[error("the state is of layer {found} and the readout was fitted to layer {expected}; read that one")]
    Layer {
        /// The state's.
        found: usize,
        /// The readout's.
        expected: usize,
    },
    /// A label is outside its range.
    #[error(
        "the label at index {index} is {label}, outside of {min} to {max}; correct it, or give a wider range"
    )]
    Label {
        /// Which example.
        index: usize,
        /// Its label.
        label: f64,
        /// The least that is allowed.
        min: f64,
        /// The most that is allowed.
        max: f64,
    },
    /// A readout from elsewhere does not hold together.
    #[error("the readout cannot be used: {problem}; fit it anew, or take another copy of it")]
    Damaged {
        /// What is wrong.
        problem: String,
    },
    /// The arithmetic found no solution.
    #[error("no penalty gives a solution; the states are too large or too small to compute with")]
    NoSolution,
    /// A number is not finite, or a setting out of its range.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl ReadoutError {
    /// A stable name for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooFew { .. } => "too_few_examples",
            Self::Width { .. } | Self::Layer { .. } => "wrong_state",
            Self::Label { .. } => "label",
            Self::Damaged { .. } => "wrong_readout",
            Self::NoSolution => "no_solution",
            Self::Input(_) => "data",
        }
    }
}

/// A straight line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// How much it rises.
    pub slope: f64,
    /// Where it is at 0.
    pub intercept: f64,
}

/// A fitted readout: plain data, so that it can be saved and carried elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Readout {
    /// Name and version of this shape.
    pub format: String,
    /// Version of Retort.
    pub version: String,
    /// The layer that its states come from.
    pub layer: usize,
    /// Numbers of one of the two states.
    pub width: usize,
    /// The least that it says.
    pub min: f64,
    /// The most that it says.
    pub max: f64,
    /// Of the standardized states, behind the intercept: 1 + 2 × `width` numbers.
    pub weights: Vec<f64>,
    /// What is taken from each number of the states: 2 × `width` numbers.
    pub mean: Vec<f64>,
    /// What it is then divided by, above 0: 2 × `width` numbers.
    pub deviation: Vec<f64>,
    /// The penalty λ on the sum of squared weights, beside the sum of squared errors.
    pub lambda: f64,
    /// The share of the regression in the blend, 0 to 1; the rest is [`own`](Self::own).
    pub blend: f64,
    /// The model's own score as a label; `None` where no example had one.
    pub own: Option<Line>,
    /// What the blend is put through: a mean of two cautious predictions is too cautious, so that it is moved away from the
    /// mean, up to twice as far. It changes nothing where one of the two stands alone.
    pub stretch: Line,
    /// The seed of folds and resamples.
    pub seed: u64,
    /// Examples that it was fitted to.
    pub n: usize,
    /// Their groups.
    pub groups: usize,
    /// How the model's own score agrees with the labels, fitted to them by a straight line on other groups; `None` where
    /// no example had one.
    pub before: Option<Agreement>,
    /// How the readout agrees with them, fitted in all its parts on other groups.
    pub after: Agreement,
    /// Whether the model's own score is clearly exceeded: the interval of [`gain`](Self::gain) is above 0. Where the model
    /// has no score of its own, whether the interval of the readout's rank correlation is. Never with fewer than
    /// [`FEW_EXAMPLES`] examples or [`FEW_GROUPS`] groups.
    pub helps: bool,
    /// Spearman's ρ of `after` less that of `before`, over examples with both. A ρ of `before` that is undefined or below 0
    /// counts as 0: what is worse than nothing makes nothing else good.
    pub gain: Option<Estimate>,
    /// Sentences for people.
    pub warnings: Vec<String>,
}

/// Fits a readout; see the module's text for how.
///
/// The sums of squared errors that choose penalty and blend are of examples that the inner fit had not seen; the deviations
/// by which states are standardized there are those of all rows of the outer fit, which knows none of what it is measured on.
///
/// # Errors
/// [`ReadoutError`] for fewer than [`MIN_EXAMPLES`] examples, states of different lengths or an odd one, labels outside of
/// their range, numbers that are not finite or beyond ±10^15, and settings out of range.
pub fn fit_readout(examples: &[ReadoutExample], settings: &ReadoutSettings) -> Result<Readout, ReadoutError> {
    let width = check(examples, settings)?;
    let data = Data::of(examples, settings);
    let (before, after) = cross_validated(&data)?;

    let all: Vec<usize> = (0..examples.len()).collect();
    let standard = Standard::of(&data.states, &all);
    let rows: Vec<Vec<f64>> = data.states.iter().map(|state| standard.apply(state)).collect();
    let kernel = Kernel::of(&rows);
    let choice = data.choose(&kernel, &all, settings.seed);
    let lambda = data.penalties[choice.penalty];
    let fit = kernel.fit(&all, &data.labels, &[lambda]).pop().flatten().ok_or(ReadoutError::NoSolution)?;

    let has_own = data.own.iter().any(Option::is_some);
    let labels: Vec<Option<f64>> = data.labels.iter().copied().map(Some).collect();
    let agreement = |said: &[Option<f64>]| agreement_of(said, &labels, Some(&data.groups), settings.seed);
    let (before_agreement, after_agreement) =
        (has_own.then(|| agreement(&before)).transpose()?, agreement(&after)?);
    let gain = if has_own { gain(&data, &before, &after, settings.seed)? } else { None };
    let decides = if has_own { gain } else { after_agreement.spearman };
    // Of a handful of resampled examples an interval says nothing.
    let enough = examples.len() >= FEW_EXAMPLES && data.group_count() >= FEW_GROUPS;
    let helps = enough && decides.is_some_and(|estimate| estimate.low > 0.0);
    Ok(Readout {
        format: FORMAT.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        layer: settings.layer,
        width,
        min: settings.min,
        max: settings.max,
        weights: fit.primal(&rows),
        mean: standard.mean,
        deviation: standard.deviation,
        lambda,
        blend: choice.blend,
        own: data.own_fit(&all),
        stretch: choice.stretch,
        seed: settings.seed,
        n: examples.len(),
        groups: data.group_count(),
        before: before_agreement,
        after: after_agreement,
        helps,
        gain,
        warnings: warnings(&data, has_own, helps),
    })
}

impl Readout {
    /// What the person would say of a response, by its states and the model's own score of it: from `min` to `max`.
    ///
    /// `None` where the readout needs the model's own score and there is none.
    ///
    /// # Errors
    /// [`ReadoutError`] for a state of another length, a number that is not finite, and a readout that does not hold
    /// together, such as one from a file that was changed.
    pub fn apply(&self, state: &[f32], own: Option<f64>) -> Result<Option<f64>, ReadoutError> {
        self.check()?;
        if state.len() != self.mean.len() {
            let which = "the state".to_owned();
            return Err(ReadoutError::Width { which, found: state.len(), expected: self.mean.len() });
        }
        check_state(state)?;
        if let Some(own) = own {
            check_number("the model's own score", Place::Index(0), own)?;
        }
        let standard = self.mean.iter().zip(&self.deviation);
        let numbers =
            state.iter().zip(standard).map(|(&x, (mean, deviation))| (f64::from(x) - mean) / deviation);
        let weighted: f64 = numbers.zip(&self.weights[1..]).map(|(x, weight)| x * weight).sum();
        let own = own.zip(self.own).map(|(own, fit)| fit.of(own));
        let said = blended(self.weights[0] + weighted, own, self.blend)
            .map(|said| self.stretch.of(said).clamp(self.min, self.max));
        match said {
            Some(said) if !said.is_finite() => Err(ReadoutError::Damaged {
                problem: "what it says of this state is beyond all numbers".to_owned(),
            }),
            said => Ok(said),
        }
    }

    /// Whether it was fitted to states of this layer.
    ///
    /// # Errors
    /// [`ReadoutError::Layer`] where not.
    pub fn check_layer(&self, layer: usize) -> Result<(), ReadoutError> {
        if layer == self.layer {
            return Ok(());
        }
        Err(ReadoutError::Layer { found: layer, expected: self.layer })
    }

    /// Whether it holds together.
    fn check(&self) -> Result<(), ReadoutError> {
        let damaged = |problem: String| Err(ReadoutError::Damaged { problem });
        if self.format != FORMAT {
            return damaged(format!("its format is \"{}\", and \"{FORMAT}\" is read here", self.format));
        }
        let numbers = self.mean.len();
        let lengths = [self.width * 2, self.deviation.len(), self.weights.len().wrapping_sub(1)];
        if numbers == 0 || lengths.iter().any(|&length| length != numbers) {
            return damaged("its weights, means, deviations and width do not belong together".to_owned());
        }
        let own = self.own.unwrap_or(Line::NONE);
        let lines = [own.slope, own.intercept, self.stretch.slope, self.stretch.intercept];
        let all = [&self.weights[..], &self.mean, &self.deviation, &lines, &[self.min, self.max]];
        if all.iter().any(|numbers| numbers.iter().any(|number| !number.is_finite())) {
            return damaged("it has numbers that are not finite".to_owned());
        }
        if self.deviation.iter().any(|&deviation| deviation <= 0.0) {
            return damaged("a deviation is not above 0".to_owned());
        }
        if !(0.0..=1.0).contains(&self.blend) || self.min >= self.max {
            return damaged("its blend is outside 0 to 1, or its range is empty".to_owned());
        }
        Ok(())
    }
}

impl Line {
    /// What leaves everything as it is.
    const NONE: Self = Self { slope: 1.0, intercept: 0.0 };

    fn of(self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }

    /// The line through points by least squares, level where all `x` are the same; `None` where there are none.
    fn through(x: &[f64], y: &[f64]) -> Option<Self> {
        if x.is_empty() {
            return None;
        }
        let (mean_x, mean_y) = (mean(x), mean(y));
        let (mut product, mut square) = (0.0, 0.0);
        for (x, y) in x.iter().zip(y) {
            product += (x - mean_x) * (y - mean_y);
            square += (x - mean_x) * (x - mean_x);
        }
        let slope = if is_constant(x) || square == 0.0 { 0.0 } else { product / square };
        Some(Self { slope, intercept: mean_y - slope * mean_x })
    }
}

/// The blend of regression and own score, within the range; `None` where the own score is needed and missing.
fn blended(regression: f64, own: Option<f64>, blend: f64) -> Option<f64> {
    Some(if blend >= 1.0 { regression } else { blend * regression + (1.0 - blend) * own? })
}

fn check_number(input: &'static str, place: Place, value: f64) -> Result<(), InputError> {
    finite(input, place, value)?;
    if value.abs() <= LARGEST {
        return Ok(());
    }
    Err(InputError::OutOfRange { input, place, value, min: -LARGEST, max: LARGEST })
}

fn check_state(state: &[f32]) -> Result<(), InputError> {
    for (index, &x) in state.iter().enumerate() {
        finite("a number of the state", Place::Index(index), f64::from(x))?;
    }
    Ok(())
}

/// Numbers of one of the two states, if all is in order.
fn check(examples: &[ReadoutExample], settings: &ReadoutSettings) -> Result<usize, ReadoutError> {
    let ReadoutSettings { min, max, folds, .. } = *settings;
    if examples.len() < MIN_EXAMPLES {
        return Err(ReadoutError::TooFew { found: examples.len() });
    }
    if !(min.abs() <= LARGEST && max.abs() <= LARGEST && min < max) {
        return Err(InputError::BadScale { min, max }.into());
    }
    if folds < 2 {
        let (setting, must_be) = ("the number of folds", "2 or more");
        return Err(InputError::Setting { setting, value: folds as f64, must_be }.into());
    }
    let expected = examples.first().map_or(0, |example| example.state.len());
    if expected == 0 || !expected.is_multiple_of(2) {
        let which = "the state of the example at index 0".to_owned();
        return Err(ReadoutError::Width { which, found: expected, expected: (expected + 1).max(2) });
    }
    for (index, example) in examples.iter().enumerate() {
        if example.state.len() != expected {
            let which = format!("the state of the example at index {index}");
            return Err(ReadoutError::Width { which, found: example.state.len(), expected });
        }
        for (column, &x) in example.state.iter().enumerate() {
            finite("a number of a state", Place::Cell { row: index, column }, f64::from(x))?;
        }
        if let Some(own) = example.own {
            check_number("the model's own score", Place::Index(index), own)?;
        }
        finite("a label", Place::Index(index), example.label)?;
        if !(min..=max).contains(&example.label) {
            return Err(ReadoutError::Label { index, label: example.label, min, max });
        }
    }
    Ok(expected / 2)
}

/// The examples by columns.
struct Data<'a> {
    states: Vec<&'a [f32]>,
    own: Vec<Option<f64>>,
    labels: Vec<f64>,
    /// Groups by number, in the order of their first examples.
    groups: Vec<usize>,
    /// [`PENALTIES`] times the numbers of a state.
    penalties: Vec<f64>,
    min: f64,
    max: f64,
    folds: usize,
    seed: u64,
}

/// What cross-validation chose.
struct Choice {
    /// The place of the penalty.
    penalty: usize,
    blend: f64,
    stretch: Line,
}

impl<'a> Data<'a> {
    fn of(examples: &'a [ReadoutExample], settings: &ReadoutSettings) -> Self {
        let mut numbers = BTreeMap::new();
        let groups = examples.iter().map(|example| {
            let next = numbers.len();
            *numbers.entry(example.group.as_str()).or_insert(next)
        });
        let groups = groups.collect();
        let width = examples.first().map_or(0, |example| example.state.len()) as f64;
        Self {
            states: examples.iter().map(|example| example.state.as_slice()).collect(),
            own: examples.iter().map(|example| example.own).collect(),
            labels: examples.iter().map(|example| example.label).collect(),
            groups,
            penalties: PENALTIES.iter().map(|penalty| penalty * width).collect(),
            min: settings.min,
            max: settings.max,
            folds: settings.folds,
            seed: settings.seed,
        }
    }

    fn group_count(&self) -> usize {
        self.groups.iter().max().map_or(0, |last| last + 1)
    }

    /// The straight line through own scores and labels of these rows, by least squares; level where the scores are all the
    /// same. `None` where there are none.
    fn own_fit(&self, rows: &[usize]) -> Option<Line> {
        let pairs = rows.iter().filter_map(|&row| Some((self.own[row]?, self.labels[row])));
        let (own, labels): (Vec<f64>, Vec<f64>) = pairs.unzip();
        Line::through(&own, &labels)
    }

    /// A fold for each of these rows, all rows of a group in one. Groups are dealt out by rising mean label, so that what
    /// is fitted to the other folds has about the same mean in each: else a prediction that knows nothing but the mean of
    /// the other folds would run against the labels of its own. `None` where there is one group only.
    fn deal(&self, rows: &[usize], seed: u64) -> Option<Vec<usize>> {
        let mut members: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for &row in rows {
            members.entry(self.groups[row]).or_default().push(self.labels[row]);
        }
        let folds = self.folds.min(members.len());
        if folds < 2 {
            return None;
        }
        let mut random = SplitMix64::new(seed);
        let mut groups: Vec<(f64, usize)> =
            members.iter().map(|(&group, labels)| (mean(labels), group)).collect();
        shuffle(&mut groups, &mut random);
        groups.sort_by(|a, b| order(a.0, b.0));
        let mut fold_of = BTreeMap::new();
        for block in groups.chunks(folds) {
            let mut numbers: Vec<usize> = (0..folds).collect();
            shuffle(&mut numbers, &mut random);
            fold_of.extend(block.iter().zip(numbers).map(|(&(_, group), fold)| (group, fold)));
        }
        Some(rows.iter().map(|row| fold_of.get(&self.groups[*row]).copied().unwrap_or_default()).collect())
    }

    /// Penalty and blend by cross-validation within these rows.
    fn choose(&self, kernel: &Kernel, rows: &[usize], seed: u64) -> Choice {
        let has_own = rows.iter().any(|&row| self.own[row].is_some());
        let alone = if has_own { 0.0 } else { 1.0 };
        let unchosen = Choice { penalty: UNCHOSEN, blend: alone, stretch: Line::NONE };
        let Some(folds) = self.deal(rows, seed) else { return unchosen };
        let count = folds.iter().max().map_or(0, |last| last + 1);
        // By penalty and row: what a fit without the row's fold says of it.
        let mut said = vec![vec![0.0; rows.len()]; self.penalties.len()];
        let mut solved = vec![true; self.penalties.len()];
        let mut own_said = vec![None; rows.len()];
        for fold in 0..count {
            let (inside, outside) = split(rows, &folds, fold);
            let line = self.own_fit(&inside);
            for (penalty, fit) in kernel.fit(&inside, &self.labels, &self.penalties).iter().enumerate() {
                match fit {
                    Some(fit) => {
                        for &at in &outside {
                            said[penalty][at] = kernel.predict(fit, rows[at]);
                        }
                    }
                    None => solved[penalty] = false,
                }
            }
            for &at in &outside {
                own_said[at] = line.zip(self.own[rows[at]]).map(|(line, own)| line.of(own));
            }
        }
        let error = |at: usize, said: f64| {
            let difference = said - self.labels[rows[at]];
            difference * difference
        };
        let regression = |penalty: usize| {
            let errors = (0..rows.len()).map(|at| error(at, said[penalty][at].clamp(self.min, self.max)));
            errors.sum::<f64>()
        };
        // From the largest penalty down, and from no blend up: only what is better replaces.
        let tried = (0..self.penalties.len()).rev().filter(|&penalty| solved[penalty]);
        let Some(penalty) = first_least(tried, regression) else { return unchosen };
        if !has_own {
            return Choice { penalty, blend: 1.0, stretch: Line::NONE };
        }
        let with: Vec<usize> = (0..rows.len()).filter(|&at| own_said[at].is_some()).collect();
        let labels: Vec<f64> = with.iter().map(|&at| self.labels[rows[at]]).collect();
        let blend_of = |step: usize| step as f64 / BLENDS as f64;
        let mixed = |step: usize| -> Vec<f64> {
            with.iter().filter_map(|&at| blended(said[penalty][at], own_said[at], blend_of(step))).collect()
        };
        // By how well a straight line through them fits: a blend is nearer to the mean than it ought to be, and that is set
        // right below. What rises against the labels is worth as much as nothing.
        let misfit = |step: usize| match pearson(&mixed(step), &labels) {
            Ok(Statistic::Value(r)) if r > 0.0 => 1.0 - r * r,
            _ => 1.0,
        };
        let misfits: Vec<f64> = (0..=BLENDS).map(misfit).collect();
        let least = misfits.iter().copied().fold(f64::INFINITY, f64::min);
        let step = misfits.iter().position(|&one| one <= least * NO_WORSE).unwrap_or_default();
        // Each part alone has its scale from a fit of its own.
        let whole = (1..BLENDS).contains(&step).then(|| Line::through(&mixed(step), &labels)).flatten();
        let stretch = whole.map_or(Line::NONE, |line| {
            let slope = line.slope.clamp(1.0, MOST_STRETCH);
            Line { slope, intercept: mean(&labels) - slope * mean(&mixed(step)) }
        });
        Choice { penalty, blend: blend_of(step), stretch }
    }
}

/// The first of those for which the figure is least.
fn first_least(tried: impl Iterator<Item = usize>, figure: impl Fn(usize) -> f64) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for one in tried {
        let value = figure(one);
        if best.is_none_or(|(_, least)| value < least) {
            best = Some((one, value));
        }
    }
    best.map(|(one, _)| one)
}

/// The rows outside of a fold, and the places in `rows` of those inside it.
fn split(rows: &[usize], folds: &[usize], fold: usize) -> (Vec<usize>, Vec<usize>) {
    let others = rows.iter().zip(folds).filter(|&(_, &of)| of != fold).map(|(&row, _)| row);
    (others.collect(), (0..rows.len()).filter(|&at| folds[at] == fold).collect())
}

/// Fisher and Yates, from the end.
fn shuffle<T>(values: &mut [T], random: &mut SplitMix64) {
    for last in (1..values.len()).rev() {
        values.swap(last, random.below(last + 1));
    }
}

/// What is said of each example; `None` where there is nothing to say it by.
type Predictions = Vec<Option<f64>>;

/// What the own score alone and the whole readout say of each example when they are fitted to other groups.
fn cross_validated(data: &Data<'_>) -> Result<(Predictions, Predictions), ReadoutError> {
    let all: Vec<usize> = (0..data.labels.len()).collect();
    let (mut before, mut after) = (vec![None; all.len()], vec![None; all.len()]);
    let Some(folds) = data.deal(&all, data.seed) else { return Ok((before, after)) };
    for fold in 0..=folds.iter().max().copied().unwrap_or_default() {
        let (inside, outside) = split(&all, &folds, fold);
        let standard = Standard::of(&data.states, &inside);
        let rows: Vec<Vec<f64>> = data.states.iter().map(|state| standard.apply(state)).collect();
        let kernel = Kernel::of(&rows);
        let choice = data.choose(&kernel, &inside, data.seed.wrapping_add(1 + fold as u64));
        let penalty = data.penalties[choice.penalty];
        let fit = kernel.fit(&inside, &data.labels, &[penalty]).pop().flatten();
        let fit = fit.ok_or(ReadoutError::NoSolution)?;
        let line = data.own_fit(&inside);
        for row in outside {
            let own = line.zip(data.own[row]).map(|(line, own)| line.of(own));
            before[row] = own.map(|own| own.clamp(data.min, data.max));
            after[row] = blended(kernel.predict(&fit, row), own, choice.blend)
                .map(|said| choice.stretch.of(said).clamp(data.min, data.max));
        }
    }
    Ok((before, after))
}

/// See [`Readout::gain`].
fn gain(
    data: &Data<'_>,
    before: &[Option<f64>],
    after: &[Option<f64>],
    seed: u64,
) -> Result<Option<Estimate>, InputError> {
    let both: Vec<(f64, f64, usize)> =
        (0..after.len()).filter_map(|row| Some((before[row]?, after[row]?, row))).collect();
    let rows: Vec<usize> = both.iter().map(|&(_, _, row)| row).collect();
    let (labels, groups) = (resample(&data.labels, &rows)?, resample(&data.groups, &rows)?);
    let (before, after): (Vec<f64>, Vec<f64>) =
        both.iter().map(|&(before, after, _)| (before, after)).unzip();
    let bootstrap = Bootstrap { seed, resamples: AGREEMENT_RESAMPLES, ..Bootstrap::default() };
    let interval = bootstrap.by_cluster(&groups, |rows| {
        let labels = resample(&labels, rows)?;
        let old = spearman(&resample(&before, rows)?, &labels)?.value().unwrap_or(0.0).max(0.0);
        Ok(spearman(&resample(&after, rows)?, &labels)?.map(|new| new - old))
    })?;
    let estimate = |found: Interval| Estimate { value: found.estimate, low: found.low, high: found.high };
    Ok(interval.value().map(estimate))
}

fn warnings(data: &Data<'_>, has_own: bool, helps: bool) -> Vec<String> {
    let (n, groups) = (data.labels.len(), data.group_count());
    let mut warnings = Vec::new();
    if n < FEW_EXAMPLES {
        warnings.push(format!(
            "There are only {n} examples. With fewer than {FEW_EXAMPLES} nothing that is measured here is more than a hint."
        ));
    }
    match groups {
        1 => warnings.push(
            "All examples answer the same prompt, so nothing could be checked on a prompt that the fit had not seen. \
             Label responses to other prompts too."
                .to_owned(),
        ),
        _ if groups < FEW_GROUPS => warnings.push(format!(
            "The examples answer only {groups} different prompts, so how well this carries over to another prompt is \
             hardly known. Label responses to at least {FEW_GROUPS} prompts."
        )),
        _ => {}
    }
    if is_constant(&data.labels) {
        let label = data.labels.first().copied().unwrap_or_default();
        warnings.push(format!(
            "All labels are {label}, so there is nothing to learn from them. Label good and poor responses."
        ));
    }
    let without = data.own.iter().filter(|own| own.is_none()).count();
    if has_own && without > 0 {
        warnings.push(format!(
            "The model gave {without} of the {n} examples no score of its own; they are left out where its score is \
             compared."
        ));
    }
    if !helps {
        warnings.push(if has_own {
            "No gain is certain: on prompts that it had not seen, the readout does not clearly agree better with the \
             labels than the model's own score. Keep to the model's score, or label more examples."
                .to_owned()
        } else {
            "On prompts that it had not seen, the readout does not clearly agree with the labels. Label more examples \
             before you rely on it."
                .to_owned()
        });
    }
    warnings
}
