//! One judgement: a response, scored by every rubric and looked through for every item of a checklist.

use retort_checklist::{Checklist, ChecklistProblem, Item, ScoreError};
use retort_lm::{Adapter, Answer, Flow, LanguageModel, LmError, PromptTree, Usage, Watch};
use retort_rubric::{Annotation, InvalidRubric, Rubric, Severity, builtin};
use serde::{Deserialize, Serialize};

use crate::calibration::{Calibration, CalibrationError, CalibrationUse};
use crate::inquiry::{Aim, Inquiry};
use crate::item::{self, ChecklistSums, ItemVerdict};
use crate::prompt::{Field, Truncation};
use crate::question::Question;
use crate::verdict::{RubricVerdict, Unscored, Verdict};
use crate::writing::{self, Reader, WrittenPlan};
use crate::written::WrittenForm;

/// What is to be judged, and by what.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// The instruction that the response answers.
    pub prompt: String,
    /// The response.
    pub response: String,
    /// Which model, or who, wrote the response: kept in the record, so that reports can tell them apart. The judge does
    /// not read it.
    pub response_model: Option<String>,
    /// A good answer to compare with.
    pub reference: Option<String>,
    /// What to rate; at least one where there is no checklist.
    pub rubrics: Vec<Rubric>,
    /// What to look for besides.
    pub checklist: Option<Checklist>,
    /// What the instruction asks for, where somebody said so: kept in the record, so that reports can group by it.
    pub annotation: Option<Annotation>,
    /// How much of each rubric the model reads.
    pub wording: Wording,
    /// Whether the probabilities are to be as the model gave them, even where its adapter says how to set them right.
    pub uncalibrated: bool,
    /// Lets the model write each verdict with its reasons in this form, for a judge that was trained to; without it, the
    /// probabilities of the options are read. Such a judge reads every rubric in full.
    pub form: Option<WrittenForm>,
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
    /// Short for the twelve skills as they are built in, full for everything else: for a model with an adapter that was
    /// trained on the skills' short questions and knows nothing of anybody's own rubrics.
    ShortSkills,
}

impl Wording {
    /// How a model with this adapter is asked where nobody says otherwise. What tells an adapter that knows the short
    /// questions is that it was trained on a mixture of Retort's, which has rows in both wordings: the recipe writes the
    /// mixture's hash into the file. So it is the same adapter wherever its file comes from.
    #[must_use]
    pub fn suiting(adapter: Option<&Adapter>) -> Self {
        match adapter.and_then(|adapter| adapter.text("retort.mixture.sha256")) {
            Some(_) => Self::ShortSkills,
            None => Self::Full,
        }
    }

    /// Whether a rubric is read in full.
    pub(crate) fn is_full_for(self, rubric: &Rubric) -> bool {
        match self {
            Self::Full => true,
            Self::Short => false,
            // Whoever weighs a skill means the same skill; whoever changes its words or its scale does not.
            Self::ShortSkills => !builtin().iter().any(|skill| {
                skill.id == rubric.id
                    && skill.criterion == rubric.criterion
                    && skill.question == rubric.question
                    && skill.not_applicable == rubric.not_applicable
                    && skill.options == rubric.options
            }),
        }
    }

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
    /// One per item of the checklist, in its order; empty where there was none.
    pub items: Vec<ItemVerdict>,
    /// What the items come to; `None` where there was no checklist.
    pub sums: Option<ChecklistSums>,
    /// Texts that were cut.
    pub truncations: Vec<Truncation>,
    /// Whether probabilities were set right by what the adapter knows of itself.
    pub calibration: CalibrationUse,
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
    /// No rubric was given and no checklist.
    #[error("no rubric was given; choose at least one skill, or give a rubric of your own or a checklist")]
    NoRubrics,
    /// Too few responses to compare, or too many.
    #[error(
        "responses are compared two to four at a time, and there are {found}; give at least two, or compare them in parts"
    )]
    Responses {
        /// How many were given.
        found: usize,
    },
    /// The model has no head of its own, which a reward is read from.
    #[error(
        "this model has no head of its own that scores; choose a reward model or a classifier as a GGUF file with a \
         rank head, or let this one judge by rubrics"
    )]
    NoHead,
    /// A rubric is not valid.
    #[error(transparent)]
    Rubric(#[from] InvalidRubric),
    /// The checklist is not valid.
    #[error("the checklist cannot be used: {}", joined(.0))]
    Checklist(Vec<ChecklistProblem>),
    /// The checklist's verdicts have no sum.
    #[error(transparent)]
    Score(#[from] ScoreError),
    /// What the adapter knows of its own probabilities cannot be used.
    #[error("the adapter cannot be used: {0}")]
    Calibration(#[from] CalibrationError),
    /// The model could not be asked.
    #[error(transparent)]
    Model(#[from] LmError),
}

fn joined(problems: &[ChecklistProblem]) -> String {
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    texts.join(". ")
}

impl JudgeError {
    /// A stable name for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty { .. } => "empty",
            Self::NoRubrics => "no_rubrics",
            Self::Responses { .. } => "responses",
            Self::NoHead => "no_head",
            Self::Rubric(_) => "invalid_rubric",
            Self::Checklist(_) | Self::Score(_) => "invalid_checklist",
            Self::Calibration(_) => "wrong_adapter",
            Self::Model(error) => error.code(),
        }
    }
}

/// What is about to be computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Questions to the model: one per rubric, and one per item that code does not decide.
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

    /// A judge that writes has written a piece of its answer. Questions are counted over the rubrics and then the items
    /// that the model is asked.
    fn writing(&mut self, question: usize, piece: &str) {
        let _ = (question, piece);
    }

    /// A verdict is ready. Verdicts come in the order of the rubrics.
    fn verdict(&mut self, index: usize, verdict: &RubricVerdict) {
        let _ = (index, verdict);
    }

    /// An item of the checklist is decided: what code decides first, then the others in their order.
    fn item(&mut self, index: usize, verdict: &ItemVerdict) {
        let _ = (index, verdict);
    }
}

/// Lets everything run to its end.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}

/// Rates the response by every rubric and decides every item of the checklist, all questions in one prompt tree.
///
/// What code can verify is verified first and not asked. Where nothing is left to ask, the model is not run.
///
/// # Errors
/// [`JudgeError`] where nothing was judged at all. A failure or a cancellation in mid-run is no error here:
/// the verdicts that were ready stand, the others say why they are absent.
pub async fn judge<M: LanguageModel>(
    model: &mut M,
    request: &Request,
    observer: &mut dyn Observer,
) -> Result<Judgement, JudgeError> {
    check(request)?;
    let items = items(request);
    let known = Calibration::of_model(model)?;
    // What is written has no probabilities to set right.
    let known = known.filter(|_| request.form.is_none());
    let calibration = known.as_ref().filter(|_| !request.uncalibrated);
    let asked: Vec<usize> = (0..items.len()).filter(|&index| !items[index].is_verified()).collect();
    let questions = questions(request);

    let mut scoring = Scoring {
        request,
        items,
        questions: &questions,
        asked: &asked,
        calibration,
        truncated: false,
        verdicts: Vec::new(),
        decided: vec![None; items.len()],
        observer,
    };
    let (mut truncations, mut outcome) = (Vec::new(), Ok(()));
    let mut usage = Usage::default();
    if questions.is_empty() {
        scoring.observer.planned(&Planned { questions: 0, truncations: Vec::new() });
        scoring.verify();
    } else if let Some(form) = request.form {
        let texts = texts(request);
        let plans: Vec<WrittenPlan> =
            questions.iter().map(|question| form.plan(model, &texts, question)).collect::<Result<_, _>>()?;
        truncations = writing::cut(&plans);
        let planned = Planned { questions: questions.len(), truncations: truncations.clone() };
        scoring.observer.planned(&planned);
        scoring.verify();
        outcome = writing::ask(model, form, &questions, &plans, &mut scoring, &mut usage).await;
    } else {
        let plan = inquiry(request, &questions).plan(model)?;
        let tree = plan.tree();
        truncations = plan.truncations;
        scoring.truncated = !truncations.is_empty();
        let planned = Planned { questions: questions.len(), truncations: truncations.clone() };
        scoring.observer.planned(&planned);
        scoring.verify();
        outcome = model.answer(&tree, &mut scoring).await.map(|_| ());
        usage = model.usage();
    }
    let (cancelled, failure) = match outcome {
        Ok(()) => (false, None),
        Err(LmError::Cancelled) => (true, None),
        // Nothing to keep: the caller gets the plain error.
        Err(failure) if !scoring.has_anything() => return Err(failure.into()),
        Err(failure) => (false, Some(failure)),
    };
    scoring.close(|| match &failure {
        Some(failure) => Unscored::Failed { code: failure.code().to_owned(), message: failure.to_string() },
        None => Unscored::Cancelled,
    });
    let Scoring { verdicts, decided, .. } = scoring;
    let items: Vec<ItemVerdict> = decided.into_iter().flatten().collect();
    let sums = request.checklist.as_ref().map(|checklist| item::sums(checklist, &items)).transpose()?;
    let calibration = match (&known, calibration) {
        (None, _) => CalibrationUse::None,
        (Some(_), _) if questions.is_empty() => CalibrationUse::None,
        (Some(_), None) => CalibrationUse::Off,
        (Some(_), Some(_)) => CalibrationUse::Applied,
    };
    Ok(Judgement { verdicts, items, sums, truncations, calibration, usage, cancelled, failure })
}

/// Reads what a judgement of this request reads before its questions, and leaves it in the model, so that the judgement begins
/// with the questions: for whoever knows the texts before somebody asks. It changes no verdict. Judges that write, and requests
/// of which the model is asked nothing, read nothing. `progress` is told tokens done and tokens in all, and can stop it; what was
/// read until then stays.
///
/// # Errors
/// As for [`judge`]; [`LmError::Cancelled`] where it was stopped.
pub async fn read_ahead<M: LanguageModel>(
    model: &mut M,
    request: &Request,
    progress: &mut dyn FnMut(usize, usize) -> Flow,
) -> Result<Usage, JudgeError> {
    check(request)?;
    let questions = questions(request);
    if questions.is_empty() || request.form.is_some() {
        return Ok(Usage::default());
    }
    let tree = inquiry(request, &questions).plan(model)?.tree();
    let prefix = PromptTree { branches: Vec::new(), ..tree };
    model.answer(&prefix, &mut Progress(progress)).await?;
    Ok(model.usage())
}

/// Tells whoever gave a function how far it is, and nothing else.
pub(crate) struct Progress<'a>(pub(crate) &'a mut dyn FnMut(usize, usize) -> Flow);

impl Watch for Progress<'_> {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        (self.0)(done, total)
    }
}

fn check(request: &Request) -> Result<(), JudgeError> {
    for (what, text) in [("prompt", &request.prompt), ("response", &request.response)] {
        if text.trim().is_empty() {
            return Err(JudgeError::Empty { what });
        }
    }
    if request.rubrics.is_empty() && items(request).is_empty() {
        return Err(JudgeError::NoRubrics);
    }
    for rubric in &request.rubrics {
        rubric.validate()?;
    }
    if let Some(checklist) = &request.checklist {
        let mut problems = checklist.check();
        problems.retain(|problem| problem.severity == Severity::Error);
        if !problems.is_empty() {
            return Err(JudgeError::Checklist(problems));
        }
    }
    Ok(())
}

fn items(request: &Request) -> &[Item] {
    request.checklist.as_ref().map_or(&[], |checklist| &checklist.items)
}

/// What the model is asked: every rubric, and every item that code does not decide.
fn questions(request: &Request) -> Vec<Question<'_>> {
    let rubrics = request.rubrics.iter().map(Question::of_rubric);
    rubrics.chain(items(request).iter().filter(|item| !item.is_verified()).map(Question::of_item)).collect()
}

/// The questions about the texts of a request.
fn inquiry<'a>(request: &'a Request, questions: &[Question<'a>]) -> Inquiry<'a> {
    Inquiry {
        aim: Aim::Rate,
        fields: texts(request),
        questions: questions.to_vec(),
        wording: request.wording,
    }
}

fn texts(request: &Request) -> Vec<Field<'_>> {
    let texts = [Field::prompt(request.prompt.as_str()), Field::response(request.response.as_str())];
    texts.into_iter().chain(request.reference().map(Field::reference)).collect()
}

/// Turns answers into verdicts as they come.
struct Scoring<'a> {
    request: &'a Request,
    items: &'a [Item],
    /// One per rubric, then one per asked item.
    questions: &'a [Question<'a>],
    /// Which items are asked of the model.
    asked: &'a [usize],
    calibration: Option<&'a Calibration>,
    truncated: bool,
    verdicts: Vec<RubricVerdict>,
    /// By item.
    decided: Vec<Option<ItemVerdict>>,
    observer: &'a mut dyn Observer,
}

impl Scoring<'_> {
    fn verify(&mut self) {
        let Some(checklist) = &self.request.checklist else { return };
        for (index, verdict) in item::verified(checklist, &self.request.response) {
            self.decide(index, verdict);
        }
    }

    fn decide(&mut self, index: usize, verdict: ItemVerdict) {
        self.observer.item(index, &verdict);
        if let Some(place) = self.decided.get_mut(index) {
            *place = Some(verdict);
        }
    }

    /// The verdict on a question, counted over the rubrics and then the asked items.
    fn ready(&mut self, question: usize, verdict: Verdict, written: Option<String>) {
        if let Some(rubric) = self.request.rubrics.get(question) {
            let verdict = RubricVerdict { written, ..RubricVerdict::new(rubric, verdict) };
            self.observer.verdict(question, &verdict);
            self.verdicts.push(verdict);
            return;
        }
        let items = self.items;
        if let Some(&index) = self.asked.get(question - self.request.rubrics.len())
            && let Some(item) = items.get(index)
        {
            self.decide(index, ItemVerdict::judged(item, verdict));
        }
    }

    fn has_anything(&self) -> bool {
        !self.verdicts.is_empty() || self.decided.iter().any(Option::is_some)
    }

    /// Whatever has no verdict yet gets this reason.
    fn close(&mut self, reason: impl Fn() -> Unscored) {
        for rubric in &self.request.rubrics[self.verdicts.len()..] {
            let verdict = RubricVerdict::new(rubric, Verdict::Unscored(reason()));
            self.observer.verdict(self.verdicts.len(), &verdict);
            self.verdicts.push(verdict);
        }
        let items = self.items;
        for (index, item) in items.iter().enumerate() {
            if self.decided[index].is_none() {
                self.decide(index, ItemVerdict::unscored(item, reason()));
            }
        }
    }
}

impl Watch for Scoring<'_> {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        self.observer.progress(done, total)
    }

    fn answered(&mut self, branch: usize, answer: &Answer) {
        let Some(question) = self.questions.get(branch) else { return };
        let verdict = question.verdict_by(self.calibration, answer, self.truncated);
        self.ready(branch, verdict, None);
    }
}

impl Reader for Scoring<'_> {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        self.observer.progress(done, total)
    }

    fn piece(&mut self, question: usize, piece: &str) {
        self.observer.writing(question, piece);
    }

    fn verdict(&mut self, question: usize, verdict: Verdict, written: String) {
        self.ready(question, verdict, Some(written));
    }
}
