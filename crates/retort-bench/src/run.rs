//! Asks a model everything that an exam wants to know, with as few computed tokens as possible.

use retort_judge::{Calibration, Inquiry, InquiryPlan, Unscored, Verdict};
use retort_lm::{
    Answer, Branch, Flow, LanguageModel, LmError, PromptTree, Segments, TextModel, Usage, Watch,
};

use crate::{AnswerRecord, Answers, Ask};

/// How many asks are planned at a time, and sorted by length among themselves.
const WINDOW: usize = 256;

/// The most inquiries that share one tree. Answers are kept tree by tree, so this bounds what a cancel loses.
const POOL: usize = 16;

/// After so many failures in a row the model is taken to be unusable.
const PATIENCE: usize = 4;

/// Follows a run, and can stop it.
pub trait Follow {
    /// How far it is, in characters of the inquiries.
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        let _ = (done, total);
        Flow::Continue
    }

    /// An ask has its answer.
    ///
    /// # Errors
    /// What stands in the way of keeping it; the run then stops.
    fn answered(&mut self, record: AnswerRecord) -> Result<(), String>;
}

/// What a run came to.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Asks answered in this run.
    pub answered: usize,
    /// Tokens computed and reused in this run.
    pub usage: Usage,
    /// Whether somebody cancelled it.
    pub cancelled: bool,
    /// Inquiries that the model failed at; they are in the answers as unscored, with the reason.
    pub failed: usize,
    /// What stopped it before its end.
    pub stopped: Option<Stop>,
}

/// What stopped a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// The model failed several times in a row.
    #[error("the model failed {PATIENCE} times in a row: {0}")]
    Model(LmError),
    /// Answers could not be kept.
    #[error("{0}")]
    Keeping(String),
}

/// Characters of an ask: the unit of progress, which needs no tokenizer.
fn size(ask: &Ask<'_>) -> usize {
    // A question with its options is some hundred characters beside the texts.
    const QUESTION: usize = 400;
    let texts: usize = ask.inquiry.fields.iter().map(|field| field.text.len()).sum();
    texts + QUESTION * ask.inquiry.questions.len()
}

/// A planned ask.
struct Planned<'p, 'a> {
    ask: &'p Ask<'a>,
    plan: InquiryPlan,
    tokens: usize,
}

impl Planned<'_, '_> {
    fn record(&self, answers: &[Answer], calibration: Option<&Calibration>) -> AnswerRecord {
        let truncated = !self.plan.truncations.is_empty();
        let verdicts = self.ask.inquiry.questions.iter().zip(answers);
        AnswerRecord {
            id: self.ask.id.clone(),
            verdicts: keyed(
                self.ask,
                verdicts.map(|(question, answer)| question.verdict_by(calibration, answer, truncated)),
            ),
            tokens: self.tokens,
        }
    }
}

fn keyed(ask: &Ask<'_>, verdicts: impl Iterator<Item = Verdict>) -> Vec<(String, Verdict)> {
    ask.keys.iter().map(|&key| key.to_owned()).zip(verdicts).collect()
}

/// An ask that the model failed at.
fn failed(ask: &Ask<'_>, failure: &LmError) -> AnswerRecord {
    let reason = Unscored::Failed { code: failure.code().to_owned(), message: failure.to_string() };
    let verdicts = ask.keys.iter().map(|_| Verdict::Unscored(reason.clone()));
    AnswerRecord { id: ask.id.clone(), verdicts: keyed(ask, verdicts), tokens: 0 }
}

/// Asks everything that has no answer yet.
///
/// An inquiry with several questions is one tree, its texts computed once; what it has in common with the inquiry
/// before it (the prompt, of two responses) is still in the model's cache. Inquiries with one question share trees
/// whose prefix is what opens them all, sorted by length so that batches are full.
///
/// An inquiry that fails, or doesn't fit, is recorded without a score and the run goes on. Probabilities are set right by
/// the calibration of what is known ([`Answers::read_by`]).
pub async fn run<M: LanguageModel>(
    model: &mut M,
    asks: &[Ask<'_>],
    known: &Answers,
    follow: &mut dyn Follow,
) -> Outcome {
    let total: usize = asks.iter().map(size).sum();
    let todo: Vec<&Ask<'_>> = asks.iter().filter(|ask| !known.has(&ask.id)).collect();
    let done = total - todo.iter().map(|ask| size(ask)).sum::<usize>();
    let calibration = known.calibration();
    let mut run = Run { model, follow, calibration, done, total, outcome: Outcome::default(), in_a_row: 0 };
    for window in todo.chunks(WINDOW) {
        if run.window(window).await.is_none() {
            break;
        }
    }
    run.outcome
}

struct Run<'r, M> {
    model: &'r mut M,
    follow: &'r mut dyn Follow,
    calibration: Option<&'r Calibration>,
    done: usize,
    total: usize,
    outcome: Outcome,
    in_a_row: usize,
}

impl<M: LanguageModel> Run<'_, M> {
    /// `None` where the run is to end.
    async fn window(&mut self, asks: &[&Ask<'_>]) -> Option<()> {
        let (mut single, mut several) = (Vec::new(), Vec::new());
        for &ask in asks {
            match self.plan(ask) {
                Ok(planned) if planned.plan.branches.len() == 1 => single.push(planned),
                Ok(planned) => several.push(planned),
                Err(failure) => self.keep(ask, failed(ask, &failure))?,
            }
        }
        for planned in &several {
            self.tree(planned.plan.tree(), &[planned]).await?;
        }
        // Longest first: if memory is short it shows at once.
        single.sort_by_key(|planned| std::cmp::Reverse(planned.tokens));
        let opens = single.iter().fold(Vec::<&Segments>::new(), |mut opens, planned| {
            if !opens.contains(&&planned.plan.open) {
                opens.push(&planned.plan.open);
            }
            opens
        });
        for open in opens {
            let alike: Vec<&Planned<'_, '_>> =
                single.iter().filter(|planned| planned.plan.open == *open).collect();
            for pool in alike.chunks(POOL) {
                let branches = pool.iter().flat_map(|planned| {
                    planned.plan.branches.iter().map(|branch| Branch {
                        text: planned.plan.context.clone().then(&branch.text),
                        readout: branch.readout.clone(),
                    })
                });
                self.tree(PromptTree { prefix: open.clone(), branches: branches.collect() }, pool).await?;
            }
        }
        Some(())
    }

    fn plan<'p, 'a>(&self, ask: &'p Ask<'a>) -> Result<Planned<'p, 'a>, LmError> {
        let plan = ask.inquiry.plan(self.model)?;
        let mut tokens = self.model.count_tokens(&plan.open)? + self.model.count_tokens(&plan.context)?;
        for branch in &plan.branches {
            tokens += self.model.count_tokens(&branch.text)?;
        }
        Ok(Planned { ask, plan, tokens })
    }

    /// Answers one tree, whose branches are those of `planned` one after the other.
    async fn tree(&mut self, tree: PromptTree, planned: &[&Planned<'_, '_>]) -> Option<()> {
        let size: usize = planned.iter().map(|planned| size(planned.ask)).sum();
        let mut watch = Watching { follow: self.follow, done: self.done, size, total: self.total };
        let outcome = self.model.answer(&tree, &mut watch).await;
        let usage = self.model.usage();
        self.outcome.usage.computed += usage.computed;
        self.outcome.usage.reused += usage.reused;
        match outcome {
            Ok(answers) => {
                self.in_a_row = 0;
                let mut rest = answers.as_slice();
                for planned in planned {
                    let (own, others) = rest.split_at(planned.plan.branches.len().min(rest.len()));
                    rest = others;
                    self.keep(planned.ask, planned.record(own, self.calibration))?;
                }
            }
            Err(LmError::Cancelled) => {
                self.outcome.cancelled = true;
                return None;
            }
            Err(failure) => {
                self.in_a_row += 1;
                if self.in_a_row == PATIENCE {
                    self.outcome.stopped = Some(Stop::Model(failure));
                    return None;
                }
                for planned in planned {
                    self.outcome.failed += 1;
                    self.keep(planned.ask, failed(planned.ask, &failure))?;
                }
            }
        }
        Some(())
    }

    fn keep(&mut self, ask: &Ask<'_>, record: AnswerRecord) -> Option<()> {
        self.done += size(ask);
        if let Err(problem) = self.follow.answered(record) {
            self.outcome.stopped = Some(Stop::Keeping(problem));
            return None;
        }
        self.outcome.answered += 1;
        if self.follow.progress(self.done, self.total) == Flow::Stop {
            self.outcome.cancelled = true;
            return None;
        }
        Some(())
    }
}

/// Passes a tree's progress on as a share of its size.
struct Watching<'a> {
    follow: &'a mut dyn Follow,
    done: usize,
    size: usize,
    total: usize,
}

impl Watch for Watching<'_> {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a count of characters, for a progress bar"
        )]
        let part = (self.size as f64 * done as f64 / total.max(1) as f64) as usize;
        self.follow.progress(self.done + part.min(self.size), self.total)
    }
}

/// One prompt per question, nothing shared: what [`run`] is measured against.
///
/// # Errors
/// As for [`LanguageModel::answer`].
pub async fn one_by_one<M: LanguageModel>(
    model: &mut M,
    inquiry: &Inquiry<'_>,
    forget: &mut dyn FnMut(&mut M),
    watch: &mut dyn Watch,
) -> Result<Vec<Answer>, LmError> {
    let mut answers = Vec::new();
    for question in &inquiry.questions {
        let alone = Inquiry { questions: vec![question.clone()], ..inquiry.clone() };
        forget(model);
        answers.extend(model.answer(&alone.plan(model)?.tree(), watch).await?);
    }
    Ok(answers)
}

/// Tokens of all prompts of an inquiry, each counted whole.
///
/// # Errors
/// As for [`Inquiry::plan`].
pub fn whole_prompts<M: TextModel>(model: &M, inquiry: &Inquiry<'_>) -> Result<usize, LmError> {
    let plan = inquiry.plan(model)?;
    (0..plan.branches.len())
        .filter_map(|question| plan.prompt(question))
        .map(|prompt| model.count_tokens(&prompt))
        .sum()
}
