//! Reward models and classifiers: what a file's own head says of whole responses.
//!
//! Public reward models (Skywork-Reward and its kind) are trained on a conversation in the model's own chat template,
//! a person's message and the answer to it, and read at its last token. So is it here; no rubric and no question of
//! ours plays a part.

use retort_lm::{
    Answer, BackendKind, Branch, Flow, LanguageModel, LmError, PromptTree, Readout, Segments, Usage, Watch,
};
use serde::{Deserialize, Serialize};

use crate::record::{ModelIdentity, RunContext, Timings, sha256_hex};
use crate::{JudgeError, Unscored};

/// The name and version of the record's shape.
const FORMAT: &str = "retort.reward/1";

/// The token that a model may put before all text, which counting a text does not count.
const BEGIN: usize = 1;

/// Responses to one prompt, to be scored by the model's own head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewardRequest {
    /// The instruction that the responses answer.
    pub prompt: String,
    /// The responses; at least one.
    pub responses: Vec<String>,
}

/// What the head said of one response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reward {
    /// The head was read.
    Scored {
        /// What the head gives, one number per output, on a scale of its training's own: compare it with that of
        /// another response to the same prompt.
        outputs: Vec<f32>,
    },
    /// It was not, for this reason.
    #[serde(untagged)]
    Unscored(Unscored),
}

/// What came out.
#[derive(Debug, Clone)]
pub struct Rewards {
    /// One per response, in the order asked.
    pub rewards: Vec<Reward>,
    /// What the head's outputs are called, where the file says it.
    pub labels: Vec<String>,
    /// Tokens computed and reused.
    pub usage: Usage,
    /// Whether somebody cancelled; rewards that were ready stand.
    pub cancelled: bool,
    /// What stopped it before its end, if anything did; rewards that were ready stand.
    pub failure: Option<LmError>,
}

/// Reads the model's own head at the end of each response; the prompt is computed once. `progress` is told tokens done
/// and tokens in all.
///
/// A response that does not fit into the model's context has no reward: a reward for a part of it would be
/// taken for one of the whole.
///
/// # Errors
/// [`JudgeError::NoHead`] for a model without one; [`JudgeError::Empty`]; [`JudgeError::Model`] where nothing
/// was scored at all.
pub async fn reward<M: LanguageModel>(
    model: &mut M,
    request: &RewardRequest,
    progress: &mut dyn FnMut(usize, usize) -> Flow,
) -> Result<Rewards, JudgeError> {
    let labels = model.own_head().ok_or(JudgeError::NoHead)?.labels.clone();
    let empty = |text: &String| text.trim().is_empty();
    if empty(&request.prompt) {
        return Err(JudgeError::Empty { what: "prompt" });
    }
    if request.responses.is_empty() || request.responses.iter().any(empty) {
        return Err(JudgeError::Empty { what: "response" });
    }
    let around = model.exchange()?;
    let prefix = around.open.user(request.prompt.as_str()).then(&around.between);
    let before = BEGIN + model.count_tokens(&prefix)?;
    let context = model.context_length();
    // Which response a branch belongs to, since those that are too long have none.
    let mut places = Vec::new();
    let mut branches = Vec::new();
    let mut rewards: Vec<Option<Reward>> = Vec::new();
    let mut too_long = None;
    for (place, response) in request.responses.iter().enumerate() {
        let text = Segments::new().user(response.as_str()).then(&around.close);
        let tokens = before + model.count_tokens(&text)?;
        if tokens > context {
            let failure = LmError::TooLong { tokens, context };
            rewards.push(Some(Reward::Unscored(unscored(&failure))));
            too_long = Some(failure);
            continue;
        }
        rewards.push(None);
        places.push(place);
        branches.push(Branch { text, readout: Readout::head() });
    }
    if branches.is_empty()
        && let Some(failure) = too_long
    {
        return Err(failure.into());
    }
    let mut reading = Reading { places: &places, rewards, progress };
    let outcome = model.answer(&PromptTree { prefix, branches }, &mut reading).await;
    let rewards = reading.rewards;
    let nothing_is_ready = !rewards.iter().flatten().any(|reward| matches!(reward, Reward::Scored { .. }));
    let (cancelled, failure) = match outcome {
        Ok(_) => (false, None),
        Err(LmError::Cancelled) => (true, None),
        Err(failure) if nothing_is_ready => return Err(failure.into()),
        Err(failure) => (false, Some(failure)),
    };
    let absent = || Reward::Unscored(failure.as_ref().map_or(Unscored::Cancelled, unscored));
    let rewards = rewards.into_iter().map(|reward| reward.unwrap_or_else(absent)).collect();
    Ok(Rewards { rewards, labels, usage: model.usage(), cancelled, failure })
}

fn unscored(failure: &LmError) -> Unscored {
    Unscored::Failed { code: failure.code().to_owned(), message: failure.to_string() }
}

/// Puts answers at their places as they come.
struct Reading<'a> {
    places: &'a [usize],
    rewards: Vec<Option<Reward>>,
    progress: &'a mut dyn FnMut(usize, usize) -> Flow,
}

impl Watch for Reading<'_> {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        (self.progress)(done, total)
    }

    fn answered(&mut self, branch: usize, answer: &Answer) {
        let place = self.places.get(branch).and_then(|&place| self.rewards.get_mut(place));
        if let Some(place) = place {
            *place = Some(Reward::Scored { outputs: answer.head.clone() });
        }
    }
}

/// Rewards as data. Serialised, it is one JSON object on one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RewardRecord {
    /// Name and version of this shape.
    pub format: String,
    /// Version of Retort.
    pub version: String,
    /// What was asked.
    pub task: String,
    /// Hashes of the texts; the texts themselves are not kept.
    pub input: RewardInputHashes,
    /// The model.
    pub model: ModelIdentity,
    /// Where it ran at the end.
    pub backend: BackendKind,
    /// The GPU or CPU.
    pub device: String,
    /// What the head's outputs are called; empty where the file does not say it.
    pub labels: Vec<String>,
    /// One per response, in the order asked.
    pub rewards: Vec<Reward>,
    /// What happened on the way that a person should know.
    pub notices: Vec<String>,
    /// How long it took.
    pub timings: Timings,
    /// Whether somebody cancelled it.
    pub cancelled: bool,
}

/// SHA-256 of the texts, in UTF-8, lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewardInputHashes {
    /// Of the instruction.
    pub prompt_sha256: String,
    /// Of each response.
    pub responses_sha256: Vec<String>,
}

impl RewardRecord {
    /// The record of rewards.
    #[must_use]
    pub fn new(request: &RewardRequest, found: &Rewards, run: RunContext) -> Self {
        let hash = |text: &String| sha256_hex(text.as_bytes());
        Self {
            format: FORMAT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            task: "reward".to_owned(),
            input: RewardInputHashes {
                prompt_sha256: hash(&request.prompt),
                responses_sha256: request.responses.iter().map(hash).collect(),
            },
            model: run.model,
            backend: run.backend,
            device: run.device,
            labels: found.labels.clone(),
            rewards: found.rewards.clone(),
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
