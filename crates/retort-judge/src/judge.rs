//! One judgement: a response, scored by every rubric.

use retort_lm::{Answer, Flow, LanguageModel, LmError, Usage, Watch};
use retort_rubric::{InvalidRubric, Rubric};
use serde::{Deserialize, Serialize};

use crate::prompt::{self, Truncation};
use crate::verdict::{RubricVerdict, Unscored, Verdict, from_answer};

/// What is to be judged, and by what.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The instruction that the response answers.
    pub prompt: String,
    /// The response.
    pub response: String,
    /// A good answer to compare with.
    pub reference: Option<String>,
    /// What to rate; at least one.
    pub rubrics: Vec<Rubric>,
    /// How much of each rubric the model reads.
    pub wording: Wording,
}

/// How much of a rubric the model reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wording {
    /// Name, criterion and the description of every level: for a model that knows nothing of the rubric.
    #[default]
    Full,
    /// The rubric's short question, or its criterion where it has none: for a model that was trained on the
    /// rubric and needs only to be told which one is meant.
    Short,
}

impl Wording {
    /// Whether it is what records leave unsaid.
    pub(crate) fn is_full(&self) -> bool {
        *self == Self::Full
    }
}

impl Request {
    /// The reference; an empty one is none.
    pub(crate) fn reference(&self) -> Option<&str> {
        self.reference.as_deref().filter(|text| !text.trim().is_empty())
    }
}

/// What came out.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// One verdict per rubric, in the order asked.
    pub verdicts: Vec<RubricVerdict>,
    /// Texts that were cut.
    pub truncations: Vec<Truncation>,
    /// Tokens computed and reused.
    pub usage: Usage,
    /// Whether somebody cancelled; verdicts that were ready stand.
    pub cancelled: bool,
    /// What stopped it before its end, if anything did; verdicts that were ready stand.
    pub failure: Option<LmError>,
}

/// Why nothing was judged at all.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// A text that must not be empty is.
    #[error("the {what} is empty; there is nothing to judge")]
    Empty {
        /// Which text.
        what: &'static str,
    },
    /// No rubric was given.
    #[error("no rubric was given; choose at least one skill or give a rubric of your own")]
    NoRubrics,
    /// The model has no head of its own, which a reward is read from.
    #[error(
        "this model has no head of its own that scores; choose a reward model or a classifier as a GGUF file with a \
         rank head, or let this one judge by rubrics"
    )]
    NoHead,
    /// A rubric is not valid.
    #[error(transparent)]
    Rubric(#[from] InvalidRubric),
    /// The model could not be asked.
    #[error(transparent)]
    Model(#[from] LmError),
}

impl JudgeError {
    /// A stable name for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty { .. } => "empty",
            Self::NoRubrics => "no_rubrics",
            Self::NoHead => "no_head",
            Self::Rubric(_) => "invalid_rubric",
            Self::Model(error) => error.code(),
        }
    }
}

/// What is about to be computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Questions, one per rubric.
    pub questions: usize,
    /// Texts that were cut.
    pub truncations: Vec<Truncation>,
}

/// Follows a judgement, and can stop it.
pub trait Observer {
    /// The questions are planned.
    fn planned(&mut self, plan: &Planned) {
        let _ = plan;
    }

    /// So many tokens of all are done.
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        let _ = (done, total);
        Flow::Continue
    }

    /// A verdict is ready. Verdicts come in the order of the rubrics.
    fn verdict(&mut self, index: usize, verdict: &RubricVerdict) {
        let _ = (index, verdict);
    }
}

/// Lets everything run to its end.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}

/// Rates the response by every rubric, all in one prompt tree.
///
/// # Errors
/// [`JudgeError`] where nothing was judged at all. A failure or a cancellation in mid-run is no error here:
/// the verdicts that were ready stand, the others say why they are absent.
pub async fn judge<M: LanguageModel>(
    model: &mut M,
    request: &Request,
    observer: &mut dyn Observer,
) -> Result<Judgement, JudgeError> {
    for (what, text) in [("prompt", &request.prompt), ("response", &request.response)] {
        if text.trim().is_empty() {
            return Err(JudgeError::Empty { what });
        }
    }
    if request.rubrics.is_empty() {
        return Err(JudgeError::NoRubrics);
    }
    for rubric in &request.rubrics {
        rubric.validate()?;
    }
    let (tree, truncations) = prompt::plan(model, request)?;
    observer.planned(&Planned { questions: request.rubrics.len(), truncations: truncations.clone() });

    let mut scoring = Scoring {
        rubrics: &request.rubrics,
        truncated: !truncations.is_empty(),
        verdicts: Vec::new(),
        observer,
    };
    let outcome = model.answer(&tree, &mut scoring).await;
    let mut verdicts = scoring.verdicts;
    let (cancelled, failure) = match outcome {
        Ok(_) => (false, None),
        Err(LmError::Cancelled) => (true, None),
        // Nothing to keep: the caller gets the plain error.
        Err(failure) if verdicts.is_empty() => return Err(failure.into()),
        Err(failure) => (false, Some(failure)),
    };
    for rubric in &request.rubrics[verdicts.len()..] {
        let reason = match &failure {
            Some(failure) => {
                Unscored::Failed { code: failure.code().to_owned(), message: failure.to_string() }
            }
            None => Unscored::Cancelled,
        };
        let verdict = RubricVerdict::new(rubric, Verdict::Unscored(reason));
        observer.verdict(verdicts.len(), &verdict);
        verdicts.push(verdict);
    }
    Ok(Judgement { verdicts, truncations, usage: model.usage(), cancelled, failure })
}

/// Turns answers into verdicts as they come.
struct Scoring<'a> {
    rubrics: &'a [Rubric],
    truncated: bool,
    verdicts: Vec<RubricVerdict>,
    observer: &'a mut dyn Observer,
}

impl Watch for Scoring<'_> {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        self.observer.progress(done, total)
    }

    fn answered(&mut self, branch: usize, answer: &Answer) {
        if let Some(rubric) = self.rubrics.get(branch) {
            let verdict = RubricVerdict::new(rubric, from_answer(rubric, answer, self.truncated));
            self.observer.verdict(branch, &verdict);
            self.verdicts.push(verdict);
        }
    }
}
