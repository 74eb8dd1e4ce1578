//! Two to four responses to one prompt, shown to the model in pairs, each pair in both orders.
//!
//! A judge may favour whichever response it reads first, or last. So no pair is asked in one order alone: the mean of both
//! decides, and whether each response won once is said beside it (P18). Pairs and winners are named by the places of the
//! responses in the request, never by where they were shown (P19).

use std::sync::LazyLock;

use retort_lm::{Answer, BackendKind, Flow, LanguageModel, LmError, PromptTree, Usage, Watch};
use retort_rubric::{Rubric, RubricOption};
use serde::{Deserialize, Serialize};

use crate::calibration::{Calibration, CalibrationUse};
use crate::inquiry::{Aim, Inquiry};
use crate::prompt::{Field, TextRole, Truncation};
use crate::question::Question;
use crate::record::{ModelIdentity, RunContext, Timings, sha256_hex};
use crate::{JudgeError, Observer, Planned, Unscored, Verdict, Wording};

/// The name and version of the record's shape.
const FORMAT: &str = "retort.comparison/1";

/// A probability this near to a half prefers neither response: what is less is within the rounding of quantized weights
/// and differs between devices.
pub const TIE_MARGIN: f64 = 0.01;

/// The most responses that are compared at once: four make six pairs, which are twelve prompts.
pub const MAX_COMPARED: usize = 4;

/// What the texts are called in errors; their number is the limit.
const NAMES: [&str; MAX_COMPARED] =
    ["first response", "second response", "third response", "fourth response"];

/// Responses to one prompt, to be compared with each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompareRequest {
    /// The instruction that the responses answer.
    pub prompt: String,
    /// A good answer to compare with.
    pub reference: Option<String>,
    /// The responses, 2 to [`MAX_COMPARED`]. Verdicts name them by their places here, counted from 0.
    pub responses: Vec<String>,
    /// Whether the probabilities are to be as the model gave them, even where its adapter says how to set them right.
    pub uncalibrated: bool,
}

impl CompareRequest {
    /// The reference; an empty one is none.
    fn reference(&self) -> Option<&str> {
        self.reference.as_deref().filter(|text| !text.trim().is_empty())
    }
}

/// The question that every pair is asked: which of the two is better, A or B.
#[must_use]
pub fn which_is_better() -> &'static Rubric {
    static RUBRIC: LazyLock<Rubric> = LazyLock::new(|| Rubric {
        question: Some("Which response answers the instruction better, Response A or Response B?".into()),
        ..Rubric::new(
            "which_is_better",
            "Which of two responses is better",
            "Two responses answer the same instruction. The better one does what the instruction asks, within every \
             limit that it sets; what it says is right; it leaves out nothing that matters; and it is clear. A reference \
             answer, where there is one, shows what a good answer holds. Length, a confident tone and the order in which \
             the two are shown do not matter.",
            vec![
                RubricOption::new("B", 0.0).described("Response B is better."),
                RubricOption::new("A", 1.0).described("Response A is better."),
            ],
        )
    });
    &RUBRIC
}

/// One pair of responses, shown together in both orders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairVerdict {
    /// The place of one response in the request.
    pub first: usize,
    /// The place of the other, a later one.
    pub second: usize,
    /// What the model said in each order; an order without an answer is left out, and the verdict says why.
    pub shown: Vec<Shown>,
    /// What both orders come to.
    pub verdict: Preference,
}

/// What the model said of a pair in one order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// The place in the request of the response that was shown first.
    pub shown_first: usize,
    /// Probability that the pair's first response is the better one, wherever it was shown.
    pub first: f64,
    /// Probability that its second is; both sum to 1.
    pub second: f64,
    /// Probability that the model gave to either answer before normalising, 0 to 1.
    pub mass: f64,
}

/// What both orders come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Preference {
    /// Both orders were answered.
    Scored {
        /// The place in the request of the response that the mean of both orders prefers; `None` for a tie, where the mean
        /// is within [`TIE_MARGIN`] of a half.
        preferred: Option<usize>,
        /// The mean over both orders of the probability that the pair's first response is better.
        probability_first: f64,
        /// Whether each of the two won in one of the orders, so that the order decided. A winner in one order and a tie in
        /// the other is no flip.
        flipped: bool,
    },
    /// At least one order has no answer, so that nothing is decided (P8).
    #[serde(untagged)]
    Unscored(Unscored),
}

/// What came out.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// One per pair: 0 with 1, 0 with 2, …, 1 with 2, ….
    pub pairs: Vec<PairVerdict>,
    /// Texts that were cut, each at its shortest; the responses are called `response_1` to `response_4`.
    pub truncations: Vec<Truncation>,
    /// Whether probabilities were set right by what the adapter knows of itself.
    pub calibration: CalibrationUse,
    /// Tokens computed and reused, over all prompts.
    pub usage: Usage,
    /// Whether somebody cancelled; pairs that were ready stand.
    pub cancelled: bool,
    /// What stopped it before its end, if anything did; pairs that were ready stand.
    pub failure: Option<LmError>,
}

/// One pair in one order.
struct Ask {
    pair: [usize; 2],
    /// The places of the responses in the order in which they are shown.
    shown: [usize; 2],
    tree: PromptTree,
    tokens: usize,
    truncated: bool,
}

/// Asks of every pair of responses which is better, in both orders. Progress is told to the observer over all of them
/// together.
///
/// # Errors
/// [`JudgeError`] where nothing was compared at all. A failure or a cancellation in mid-run is no error here: the pairs that
/// were ready stand, the others say why they have no verdict.
pub async fn compare<M: LanguageModel>(
    model: &mut M,
    request: &CompareRequest,
    observer: &mut dyn Observer,
) -> Result<Comparison, JudgeError> {
    check(request)?;
    let known = Calibration::of_model(model)?;
    let calibration = known.as_ref().filter(|_| !request.uncalibrated);
    let question = Question::of_task(which_is_better());
    let mut truncations = Vec::new();
    let mut asks = Vec::new();
    for pair in pairs(request.responses.len()) {
        for shown in [pair, [pair[1], pair[0]]] {
            asks.push(ask(model, request, &question, pair, shown, &mut truncations)?);
        }
    }
    observer.planned(&Planned { questions: asks.len(), truncations: truncations.clone() });

    let total = asks.iter().map(|ask| ask.tokens).sum();
    let mut done = 0;
    let mut usage = Usage::default();
    // One per ask that the model was asked.
    let mut readings: Vec<Result<Shown, Unscored>> = Vec::new();
    let mut stopped = None;
    for ask in &asks {
        let mut follow = Following { observer: &mut *observer, done, tokens: ask.tokens, total };
        match model.answer(&ask.tree, &mut follow).await {
            Ok(answers) => readings.push(read(&question, ask, answers.first(), calibration)),
            Err(failure) => stopped = Some(failure),
        }
        let used = model.usage();
        usage.computed += used.computed;
        usage.reused += used.reused;
        done += ask.tokens;
        if stopped.is_some() {
            break;
        }
    }
    let (cancelled, failure) = match stopped {
        None => (false, None),
        Some(LmError::Cancelled) => (true, None),
        // Nothing to keep: the caller gets the plain error.
        Some(failure) if readings.is_empty() => return Err(failure.into()),
        Some(failure) => (false, Some(failure)),
    };
    let absent = match &failure {
        Some(failure) => Unscored::Failed { code: failure.code().to_owned(), message: failure.to_string() },
        None => Unscored::Cancelled,
    };
    readings.resize(asks.len(), Err(absent));
    let pairs = asks.chunks_exact(2).zip(readings.chunks_exact(2));
    let pairs = pairs.filter_map(|(asks, readings)| Some(verdict(asks.first()?.pair, readings))).collect();
    let calibration = match (&known, calibration) {
        (None, _) => CalibrationUse::None,
        (Some(_), None) => CalibrationUse::Off,
        (Some(_), Some(_)) => CalibrationUse::Applied,
    };
    Ok(Comparison { pairs, truncations, calibration, usage, cancelled, failure })
}

fn check(request: &CompareRequest) -> Result<(), JudgeError> {
    let found = request.responses.len();
    if !(2..=MAX_COMPARED).contains(&found) {
        return Err(JudgeError::Responses { found });
    }
    let texts = NAMES.into_iter().zip(&request.responses);
    for (what, text) in std::iter::once(("prompt", &request.prompt)).chain(texts) {
        if text.trim().is_empty() {
            return Err(JudgeError::Empty { what });
        }
    }
    Ok(())
}

/// All pairs of so many responses, the earlier one first.
fn pairs(responses: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..responses).flat_map(move |first| (first + 1..responses).map(move |second| [first, second]))
}

fn ask<M: LanguageModel>(
    model: &M,
    request: &CompareRequest,
    question: &Question<'_>,
    pair: [usize; 2],
    shown: [usize; 2],
    truncations: &mut Vec<Truncation>,
) -> Result<Ask, JudgeError> {
    let mut fields = vec![Field::prompt(request.prompt.as_str())];
    fields.extend(request.reference().map(Field::reference));
    for (heading, place) in ["Response A", "Response B"].into_iter().zip(shown) {
        let text = request.responses.get(place).map_or("", String::as_str);
        // By the response's own number, so that what was cut is not called by where it was shown.
        fields.push(Field::named(format!("response_{}", place + 1), heading, text));
    }
    // No adapter was trained on this question's short form, so it is always read in full.
    let inquiry =
        Inquiry { aim: Aim::Compare, fields, questions: vec![question.clone()], wording: Wording::Full };
    let plan = inquiry.plan(model)?;
    let prompt = plan.prompt(0).unwrap_or_default();
    for cut in &plan.truncations {
        match truncations.iter_mut().find(|earlier| earlier.text == cut.text) {
            Some(earlier) => earlier.kept_characters = earlier.kept_characters.min(cut.kept_characters),
            None => truncations.push(cut.clone()),
        }
    }
    let tokens = 1 + model.count_tokens(&prompt)?;
    Ok(Ask { pair, shown, tree: plan.tree(), tokens, truncated: !plan.truncations.is_empty() })
}

/// One order's answer: the probability of A, which is whichever response was shown first, given to that response.
fn read(
    question: &Question<'_>,
    ask: &Ask,
    answer: Option<&Answer>,
    calibration: Option<&Calibration>,
) -> Result<Shown, Unscored> {
    let nothing = || Unscored::Failed {
        code: "scale".into(),
        message: "The model gave no answer to this question; please report this".into(),
    };
    let shown_first = ask.shown[0];
    match question.verdict_by(calibration, answer.ok_or_else(nothing)?, ask.truncated) {
        // A is worth 1 and B 0, so the expectation is the probability of A.
        Verdict::Scored { expected, mass, .. } => {
            let first = if shown_first == ask.pair[0] { expected } else { 1.0 - expected };
            Ok(Shown { shown_first, first, second: 1.0 - first, mass })
        }
        Verdict::Unscored(reason) => Err(Unscored::Failed {
            code: reason.code().to_owned(),
            message: format!("{reason} (asked with response {} shown first)", shown_first + 1),
        }),
    }
}

/// 1 where the first response is preferred, −1 where the second is, 0 for a tie.
fn sign(probability_first: f64) -> i8 {
    if (probability_first - 0.5).abs() <= TIE_MARGIN {
        0
    } else if probability_first > 0.5 {
        1
    } else {
        -1
    }
}

/// What the readings of both orders come to.
fn verdict([first, second]: [usize; 2], readings: &[Result<Shown, Unscored>]) -> PairVerdict {
    let shown: Vec<Shown> = readings.iter().filter_map(|reading| reading.as_ref().ok()).copied().collect();
    let verdict = match readings {
        [Ok(one), Ok(other)] => {
            let probability_first = f64::midpoint(one.first, other.first);
            let preferred = match sign(probability_first) {
                1 => Some(first),
                -1 => Some(second),
                _ => None,
            };
            let flipped = sign(one.first) * sign(other.first) < 0;
            Preference::Scored { preferred, probability_first, flipped }
        }
        _ => {
            let reason = readings.iter().find_map(|reading| reading.as_ref().err());
            Preference::Unscored(reason.cloned().unwrap_or(Unscored::Cancelled))
        }
    };
    PairVerdict { first, second, shown, verdict }
}

/// Tells the progress of one prompt as a part of all.
struct Following<'a> {
    observer: &'a mut dyn Observer,
    done: usize,
    tokens: usize,
    total: usize,
}

impl Watch for Following<'_> {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        let part = (self.tokens * done).checked_div(total).unwrap_or_default();
        self.observer.progress(self.done + part.min(self.tokens), self.total)
    }
}

/// A comparison as data. Serialised, it is one JSON object on one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareRecord {
    /// Name and version of this shape.
    pub format: String,
    /// Version of Retort.
    pub version: String,
    /// What was asked.
    pub task: String,
    /// Hashes of the texts, and how long the responses are; the texts themselves are not kept.
    pub input: CompareInputs,
    /// The model that judged.
    pub model: ModelIdentity,
    /// Where it ran at the end.
    pub backend: BackendKind,
    /// The GPU or CPU.
    pub device: String,
    /// Whether probabilities were set right by what the adapter knows of itself; not written where there was nothing to do
    /// it by.
    #[serde(default, skip_serializing_if = "CalibrationUse::is_none")]
    pub calibration: CalibrationUse,
    /// One verdict per pair.
    pub pairs: Vec<PairVerdict>,
    /// Texts that were cut.
    pub truncations: Vec<Truncation>,
    /// What happened on the way that a person should know.
    pub notices: Vec<String>,
    /// How long it took.
    pub timings: Timings,
    /// Whether somebody cancelled it.
    pub cancelled: bool,
}

/// SHA-256 of the texts, in UTF-8, lower-case hex; and lengths, since longer responses win more often than they should
/// (P20).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompareInputs {
    /// Of the instruction.
    pub prompt_sha256: String,
    /// Of each response.
    pub responses_sha256: Vec<String>,
    /// Of the reference, where there was one.
    pub reference_sha256: Option<String>,
    /// Words of each response.
    pub responses_words: Vec<usize>,
}

impl CompareRecord {
    /// The record of a comparison.
    #[must_use]
    pub fn new(request: &CompareRequest, found: &Comparison, run: RunContext) -> Self {
        let hash = |text: &str| sha256_hex(text.as_bytes());
        Self {
            format: FORMAT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            task: "pairwise".to_owned(),
            input: CompareInputs {
                prompt_sha256: hash(&request.prompt),
                responses_sha256: request.responses.iter().map(|text| hash(text)).collect(),
                reference_sha256: request.reference().map(hash),
                responses_words: request
                    .responses
                    .iter()
                    .map(|text| retort_stats::words(text).len())
                    .collect(),
            },
            model: run.model,
            backend: run.backend,
            device: run.device,
            calibration: found.calibration,
            pairs: found.pairs.clone(),
            truncations: found.truncations.clone(),
            notices: run.notices,
            timings: Timings {
                total_ms: run.total_ms,
                tokens: found.usage.computed,
                tokens_reused: found.usage.reused,
            },
            cancelled: found.cancelled,
        }
    }
}

/// The number, counted from 1, of the response that a text's role names; `None` for other texts.
#[must_use]
pub fn compared_number(role: &TextRole) -> Option<usize> {
    match role {
        TextRole::Named(name) => name.strip_prefix("response_")?.parse().ok(),
        TextRole::Prompt | TextRole::Response | TextRole::Reference => None,
    }
}
