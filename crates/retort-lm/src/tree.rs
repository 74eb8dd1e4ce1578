//! The narrow waist: what may be asked of a language model, and what it answers.

use crate::LmError;
use crate::config::Head;
use crate::text::Segments;

/// A shared beginning, and the questions that each continue it on their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTree {
    /// Text that every branch sees. Computed once.
    pub prefix: Segments,
    /// The questions. No branch sees another.
    pub branches: Vec<Branch>,
}

/// One question: its text, and what is wanted at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Continues the prefix.
    pub text: Segments,
    /// What is read where the text ends.
    pub readout: Readout,
}

/// What is read of a branch: any of these, or several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readout {
    /// The probabilities that the model goes on with each of these options; none if empty.
    pub options: Vec<AnswerOption>,
    /// Hidden states.
    pub states: Vec<StateRequest>,
    /// What the file's own classification or rank head says of the branch's last token.
    pub head: bool,
}

impl Readout {
    /// Option probabilities alone.
    #[must_use]
    pub fn options(options: Vec<AnswerOption>) -> Self {
        Self { options, ..Self::default() }
    }

    /// Hidden states alone.
    #[must_use]
    pub fn states(states: Vec<StateRequest>) -> Self {
        Self { states, ..Self::default() }
    }

    /// The answer of the file's own head alone.
    #[must_use]
    pub fn head() -> Self {
        Self { head: true, ..Self::default() }
    }

    /// These states besides.
    #[must_use]
    pub fn and_states(mut self, states: Vec<StateRequest>) -> Self {
        self.states.extend(states);
        self
    }
}

/// A hidden state: a vector as wide as the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateRequest {
    /// 0 for what enters the first block, `i` for what leaves block `i` (counted from 1); before any norm.
    pub layer: usize,
    /// Of which tokens.
    pub pool: Pool,
}

/// Which tokens' states are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pool {
    /// The branch's last token.
    Last,
    /// The mean over the branch's own tokens.
    Branch,
    /// The mean over the tokens of these pieces of the prefix, for example the response's.
    Prefix(std::ops::Range<usize>),
}

/// One option, in every spelling that counts as this option.
///
/// `"4"` and `" 4"` may be different tokens; the option's probability is the sum over its spellings (P12).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerOption {
    /// Spellings, each one or more tokens long. Spellings with the same tokens count once.
    pub spellings: Vec<String>,
}

impl AnswerOption {
    /// An option spelled this way, with or without a space before it.
    #[must_use]
    pub fn new(label: &str) -> Self {
        Self { spellings: vec![label.to_owned(), format!(" {label}")] }
    }
}

/// What a branch's readout found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Natural log-probability of each option, in the order asked; `-inf` is possible, NaN is not.
    pub log_probabilities: Vec<f64>,
    /// Probability of everything else, 0 to 1; 0 where no options were asked for.
    pub outside: f64,
    /// The states asked for, in the order asked, each as wide as the model.
    pub states: Vec<Vec<f32>>,
    /// What the file's head gave, one number per output; empty if it was not asked.
    pub head: Vec<f32>,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop as soon as possible.
    Stop,
}

/// Follows a long computation, and can stop it between two steps.
pub trait Watch {
    /// So many of the tokens have been computed.
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        let _ = (done, total);
        Flow::Continue
    }

    /// A branch has its answer. Answers come in the order of the branches.
    fn answered(&mut self, branch: usize, answer: &Answer) {
        let _ = (branch, answer);
    }

    /// A piece of generated text. Stopping here ends the text, which stands.
    fn text(&mut self, piece: &str) -> Flow {
        let _ = piece;
        Flow::Continue
    }
}

/// Lets everything run to its end.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWatch;

impl Watch for NoWatch {}

/// When generation ends, and how tokens are chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// At most so many new tokens.
    pub max_tokens: usize,
    /// 0 takes the most probable token; above 0 draws from the distribution at this temperature.
    pub temperature: f32,
    /// Seed of the draw.
    pub seed: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_tokens: 256, temperature: 0.0, seed: 0 }
    }
}

/// Why generation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The model said that it is done.
    EndOfText,
    /// [`Limits::max_tokens`] was reached.
    MaxTokens,
    /// The context is full.
    ContextFull,
    /// The caller said so.
    Stopped,
}

/// Generated text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The text, without the stop token.
    pub text: String,
    /// Its tokens, without the stop token.
    pub tokens: Vec<u32>,
    /// Why it ended.
    pub stop: StopReason,
}

/// How many tokens a call computed, and how many it found already computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens computed.
    pub computed: usize,
    /// Tokens of the prefix that were still in the key/value cache.
    pub reused: usize,
}

/// How a model reads text: what its prompts look like and how long they are. No weights are needed for it
/// ([`TextParts`](crate::TextParts)), so prompts can be made, counted and written to files without loading a model.
pub trait TextModel {
    /// How many tokens this text is.
    ///
    /// # Errors
    /// [`LmError::Compute`] if the tokenizer refuses the text.
    fn count_tokens(&self, text: &Segments) -> Result<usize, LmError>;

    /// How many tokens the longest path from the prefix to the end of a branch may have.
    fn context_length(&self) -> usize;

    /// The text around one turn of a conversation with this model.
    ///
    /// # Errors
    /// [`LmError::Template`] if the model's own template fails.
    fn turn(&self, system: Option<&Segments>) -> Result<Turn, LmError>;

    /// The text around a finished exchange: a person's message and the answer to it.
    ///
    /// # Errors
    /// [`LmError::Template`] if the model's own template fails.
    fn exchange(&self) -> Result<Exchange, LmError>;
}

/// A language model as the crates above see it: text in, probabilities out.
///
/// Futures need not be `Send`: in a browser nothing is.
#[expect(async_fn_in_trait, reason = "used through generics on one thread; no Send bound is wanted")]
pub trait LanguageModel: TextModel {
    /// For each branch what its readout asks for.
    ///
    /// # Errors
    /// [`LmError::TooLong`] before anything is computed; [`LmError::Cancelled`] when `watch` stops it
    /// (answers already reported through `watch` stand); otherwise whatever stopped the computation.
    async fn answer(&mut self, tree: &PromptTree, watch: &mut dyn Watch) -> Result<Vec<Answer>, LmError>;

    /// Text, piece by piece to [`Watch::text`], until the model's own stop token, a limit, or that says stop.
    ///
    /// # Errors
    /// As for [`answer`](Self::answer); where [`Watch::progress`] stops it, the pieces already given stand.
    async fn generate(
        &mut self,
        prompt: &Segments,
        limits: &Limits,
        watch: &mut dyn Watch,
    ) -> Result<Generated, LmError>;

    /// The file's own classification or rank head, if it has one ([`Readout::head`]).
    fn own_head(&self) -> Option<&Head> {
        None
    }

    /// A text of the metadata of the adapter that is applied, as far as it was measured on what now answers: `None` where
    /// there is no adapter, where it says nothing under this key, or where it is applied more or less strongly than it
    /// was trained.
    fn adapter_text(&self, key: &str) -> Option<&str> {
        let _ = key;
        None
    }

    /// What the last call computed and reused.
    fn usage(&self) -> Usage;
}

/// What the model's chat template puts around a person's message and the answer to it, where nothing follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Up to where the message begins.
    pub open: Segments,
    /// From where the message ends to where the answer begins.
    pub between: Segments,
    /// From where the answer ends to the end of the text; may be empty.
    pub close: Segments,
}

/// What the model's chat template puts before and after a person's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Up to where the message begins.
    pub open: Segments,
    /// From where the message ends to where the model's answer begins.
    pub close: Segments,
}
