//! A model: tokenizer, template and backend behind the narrow waist.

use std::ops::Range;

use crate::adapter::Adapter;
use crate::backend::{Backend, Batch, StateSum, Step};
use crate::config::{Config, Head};
use crate::gguf::Gguf;
use crate::head::HeadWeights;
use crate::plan::{Found, Plan, log_sum_exp, mean};
use crate::template::ChatTemplate;
use crate::tokenizer::Tokenizer;
use crate::{
    Answer, ByteSource, Exchange, Flow, Generated, LanguageModel, Limits, LmError, PromptTree, Segments,
    StopReason, TextModel, Turn, Usage, Watch,
};

/// A language model that runs on a backend.
pub struct Model<B> {
    config: Config,
    tokenizer: Tokenizer,
    template: ChatTemplate,
    head: Option<HeadWeights>,
    adapter: Option<Adapter>,
    backend: B,
    /// Tokens whose keys and values lie in the cache's first slots, each seeing all before it.
    cached: Vec<u32>,
    usage: Usage,
    notices: Vec<String>,
}

/// What a model needs to turn text into tokens: read before its weights, so that a file that can't be used
/// is refused early.
pub(crate) struct Parts {
    tokenizer: Tokenizer,
    template: ChatTemplate,
    head: Option<HeadWeights>,
}

/// How a file's model reads text, without its weights: tokenizer, chat template and context.
pub struct TextParts {
    tokenizer: Tokenizer,
    template: ChatTemplate,
    context: usize,
}

impl TextParts {
    /// Reads the header of a model's file.
    ///
    /// # Errors
    /// Whatever is wrong with the header, the tokenizer or the template.
    pub fn read(source: &mut dyn ByteSource) -> Result<Self, LmError> {
        let gguf = Gguf::read(source)?;
        let config = Config::read(&gguf, source)?;
        let tokenizer = Tokenizer::read(&gguf, config.vocabulary)?;
        let template = ChatTemplate::read(&gguf, &tokenizer)?;
        Ok(Self { tokenizer, template, context: config.context })
    }

    /// Its tokenizer.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }
}

impl TextModel for TextParts {
    fn count_tokens(&self, text: &Segments) -> Result<usize, LmError> {
        Ok(self.tokenizer.encode(text)?.len())
    }

    fn context_length(&self) -> usize {
        self.context
    }

    fn turn(&self, system: Option<&Segments>) -> Result<Turn, LmError> {
        self.template.turn(system)
    }

    fn exchange(&self) -> Result<Exchange, LmError> {
        self.template.exchange()
    }
}

impl Parts {
    pub(crate) fn read(gguf: &Gguf, config: &Config, source: &mut dyn ByteSource) -> Result<Self, LmError> {
        let tokenizer = Tokenizer::read(gguf, config.vocabulary)?;
        let template = ChatTemplate::read(gguf, &tokenizer)?;
        let head = HeadWeights::read(gguf, config, source)?;
        Ok(Self { tokenizer, template, head })
    }

    /// Tokens of a short text, for a check: at least one.
    pub(crate) fn encode(&self, text: &str) -> Result<Vec<u32>, LmError> {
        let (mut tokens, _) = self.tokenizer.encode_start(&Segments::new().user(text))?;
        if tokens.is_empty() {
            tokens.push(0);
        }
        Ok(tokens)
    }
}

impl<B: Backend> Model<B> {
    /// Puts the parts of a file together with a backend that has read its weights.
    ///
    /// # Errors
    /// What [`Tokenizer::read`] and [`ChatTemplate::read`] refuse; a failure to read.
    pub fn new(
        gguf: &Gguf,
        config: Config,
        source: &mut dyn ByteSource,
        backend: B,
    ) -> Result<Self, LmError> {
        let parts = Parts::read(gguf, &config, source)?;
        Ok(Self::assemble(parts, config, backend))
    }

    pub(crate) fn assemble(parts: Parts, config: Config, backend: B) -> Self {
        let Parts { tokenizer, template, head } = parts;
        let (cached, usage, notices) = (Vec::new(), Usage::default(), Vec::new());
        Self { config, tokenizer, template, head, adapter: None, backend, cached, usage, notices }
    }

    /// The adapter that is applied, if there is one.
    #[must_use]
    pub fn adapter(&self) -> Option<&Adapter> {
        self.adapter.as_ref()
    }

    /// Applies an adapter from now on, in place of the one before, or takes it away. The base stays loaded.
    ///
    /// # Errors
    /// [`LmError::OutOfMemory`] or [`LmError::Gpu`]; no adapter is then applied.
    pub async fn set_adapter(&mut self, adapter: Option<Adapter>) -> Result<(), LmError> {
        self.cached.clear();
        self.adapter = None;
        self.backend.set_adapter(adapter.as_ref()).await?;
        self.adapter = adapter;
        Ok(())
    }

    /// Takes the adapter away and gives it, so that the base alone can be asked for once and the adapter be
    /// [set](Self::set_adapter) again. One that was trained to judge was not trained to write.
    ///
    /// # Errors
    /// As for [`set_adapter`](Self::set_adapter); the adapter is then gone.
    pub async fn take_adapter(&mut self) -> Result<Option<Adapter>, LmError> {
        let adapter = self.adapter.take();
        if adapter.is_some() {
            self.set_adapter(None).await?;
        }
        Ok(adapter)
    }

    /// The model's dimensions.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The model's tokenizer.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The model's chat template.
    #[must_use]
    pub fn template(&self) -> &ChatTemplate {
        &self.template
    }

    /// What it runs on.
    #[must_use]
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// Forgets what is in the key/value cache, so that the next call computes everything anew.
    pub fn forget(&mut self) {
        self.cached.clear();
    }

    /// What happened on the way that a person should know, such as a GPU that failed in mid-run.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Logits at every position of `tokens`, row after row: for checks against other engines.
    ///
    /// # Errors
    /// As for [`LanguageModel::answer`].
    pub async fn logits(&mut self, tokens: &[u32]) -> Result<Vec<f32>, LmError> {
        self.cached.clear();
        self.fits(tokens.len())?;
        self.backend.reserve(tokens.len(), 0).await?;
        let mut logits = Vec::new();
        for (index, chunk) in tokens.chunks(self.backend.chunk().max(1)).enumerate() {
            let mut batch = Batch::linear(chunk, index * self.backend.chunk().max(1));
            batch.outputs = (0..chunk.len() as u32).collect();
            logits.extend(self.backend.forward(&batch, &mut |_| Flow::Continue).await?.logits);
        }
        Ok(logits)
    }

    fn fits(&self, tokens: usize) -> Result<(), LmError> {
        if tokens <= self.config.context {
            return Ok(());
        }
        Err(LmError::TooLong { tokens, context: self.config.context })
    }

    /// Brings the prefix into the cache's first slots, computing only what is not there yet; and gives the means
    /// of states over parts of it.
    async fn prefill(
        &mut self,
        prefix: &[u32],
        states: &[(usize, Range<usize>)],
        slots: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Vec<Vec<f32>>, LmError> {
        let common = self.cached.iter().zip(prefix).take_while(|(a, b)| a == b).count();
        // States are not kept: where some are wanted, their tokens are computed again.
        let common = states.iter().map(|(_, tokens)| tokens.start).min().unwrap_or(common).min(common);
        self.cached.truncate(common);
        self.usage.reused = common;
        meter.advance(common)?;
        if let Err(error) = self.backend.reserve(slots, common).await {
            self.cached.clear();
            return Err(error);
        }
        let width = self.config.width;
        let mut sums = vec![0.0; states.len() * width];
        while let Some(rest) = prefix.get(self.cached.len()..).filter(|rest| !rest.is_empty()) {
            // Asked anew each time: a backend learns how much it can do at once.
            let chunk = &rest[..rest.len().min(self.backend.chunk().max(1))];
            let first = self.cached.len();
            let mut batch = Batch::linear(chunk, first);
            batch.states = states
                .iter()
                .map(|(layer, tokens)| {
                    let (first_row, rows) = (tokens.start as u32, tokens.len() as u32);
                    StateSum { layer: *layer, first_row, rows }.within(&(first..first + chunk.len()))
                })
                .collect();
            let step = self.run(&batch, meter).await?;
            add(&mut sums, &step.states);
            self.cached.extend_from_slice(chunk);
        }
        let sums = sums.chunks_exact(width).zip(states);
        Ok(sums.map(|(sum, (_, tokens))| mean(sum, tokens.len())).collect())
    }

    async fn run(&mut self, batch: &Batch, meter: &mut Meter<'_>) -> Result<Step, LmError> {
        let tokens = batch.tokens.len();
        let step = self.backend.forward(batch, &mut |share| meter.tick(tokens, share)).await?;
        self.usage.computed += tokens;
        meter.advance(tokens)?;
        Ok(step)
    }

    /// Runs a batch of any size, part by part.
    async fn run_parts(&mut self, batch: &Batch, meter: &mut Meter<'_>) -> Result<Step, LmError> {
        let mut all = Step { logits: Vec::new(), states: vec![0.0; batch.states.len() * self.config.width] };
        let mut first = 0;
        while first < batch.tokens.len() {
            let end = (first + self.backend.chunk().max(1)).min(batch.tokens.len());
            let step = self.run(&batch.part(first..end), meter).await?;
            all.logits.extend(step.logits);
            add(&mut all.states, &step.states);
            first = end;
        }
        Ok(all)
    }

    /// Answers the branches from `answers.len()` on.
    async fn go_on(
        &mut self,
        plan: &Plan,
        answers: &mut Vec<Answer>,
        meter: &mut Meter<'_>,
    ) -> Result<(), LmError> {
        let groups = plan.groups(answers.len(), self.backend.chunk().max(1));
        let slots = plan.prefix.len() + plan.group_slots(&groups);
        let means = self.prefill(&plan.prefix, &plan.prefix_states, slots, meter).await?;
        for group in groups {
            let batch = plan.batch(group.clone(), self.config.layers);
            let step = self.run_parts(&batch, meter).await?;
            let mut found = Found {
                logits: step.logits.chunks_exact(self.config.vocabulary),
                states: step.states.chunks_exact(self.config.width),
            };
            for branch in group {
                let (mut answer, head_state) = plan.read(branch, &mut found, &means);
                if let (Some(state), Some(head)) = (head_state, &self.head) {
                    answer.head = head.apply(state);
                }
                let has_nan = answer.log_probabilities.iter().any(|p| p.is_nan())
                    || answer.outside.is_nan()
                    || answer.states.iter().chain([&answer.head]).flatten().any(|x| !x.is_finite());
                if has_nan {
                    return Err(LmError::NotFinite { at: format!("the answer to branch {}", branch + 1) });
                }
                meter.watch.answered(branch, &answer);
                answers.push(answer);
            }
        }
        Ok(())
    }
}

fn add(sums: &mut [f32], more: &[f32]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

impl<B: Backend> TextModel for Model<B> {
    fn count_tokens(&self, text: &Segments) -> Result<usize, LmError> {
        Ok(self.tokenizer.encode(text)?.len())
    }

    fn context_length(&self) -> usize {
        self.config.context
    }

    fn turn(&self, system: Option<&Segments>) -> Result<Turn, LmError> {
        self.template.turn(system)
    }

    fn exchange(&self) -> Result<Exchange, LmError> {
        self.template.exchange()
    }
}

impl<B: Backend> LanguageModel for Model<B> {
    async fn answer(&mut self, tree: &PromptTree, watch: &mut dyn Watch) -> Result<Vec<Answer>, LmError> {
        self.usage = Usage::default();
        let plan = Plan::new(tree, &self.tokenizer, &self.config)?;
        self.fits(plan.depth())?;
        let total = plan.prefix.len() + plan.branch_rows();
        let mut answers = Vec::with_capacity(plan.branches.len());
        loop {
            let mut meter = Meter { watch: &mut *watch, done: plan.done(answers.len()), total };
            match self.go_on(&plan, &mut answers, &mut meter).await {
                Ok(()) => return Ok(answers),
                Err(LmError::Cancelled) => return Err(LmError::Cancelled),
                Err(failure) => match self.backend.recover(&failure).await {
                    Some(notice) => {
                        self.cached.clear();
                        self.notices.push(notice);
                    }
                    None => return Err(failure),
                },
            }
        }
    }

    async fn generate(
        &mut self,
        prompt: &Segments,
        limits: &Limits,
        watch: &mut dyn Watch,
    ) -> Result<Generated, LmError> {
        self.usage = Usage::default();
        let (prompt, _) = self.tokenizer.encode_start(prompt)?;
        let Some((&last, head)) = prompt.split_last() else {
            return Err(LmError::Question { problem: "the prompt is empty".into() });
        };
        self.fits(prompt.len() + 1)?;
        let room = self.config.context - prompt.len();
        let most = limits.max_tokens.min(room);
        let mut meter = Meter { watch, done: 0, total: prompt.len() + most };
        self.prefill(head, &[], prompt.len() + most, &mut meter).await?;

        let mut random = SplitMix(limits.seed);
        let mut generated =
            Generated { text: String::new(), tokens: Vec::new(), stop: StopReason::MaxTokens };
        let mut pending = Vec::new();
        let mut next = last;
        while generated.tokens.len() < most {
            let mut batch = Batch::linear(&[next], self.cached.len());
            batch.outputs = vec![0];
            let logits = self.run(&batch, &mut meter).await?.logits;
            self.cached.push(next);
            next = choose(&logits, limits.temperature, &mut random);
            if self.tokenizer.is_end(next) {
                generated.stop = StopReason::EndOfText;
                break;
            }
            generated.tokens.push(next);
            pending.extend_from_slice(self.tokenizer.bytes(next));
            let piece = take_text(&mut pending, false);
            generated.text.push_str(&piece);
            if !piece.is_empty() && meter.watch.text(&piece) == Flow::Stop {
                generated.stop = StopReason::Stopped;
                break;
            }
        }
        if generated.stop == StopReason::MaxTokens && most < limits.max_tokens {
            generated.stop = StopReason::ContextFull;
        }
        // Whoever said stop gets nothing more; the text is then what was streamed.
        let piece = match generated.stop {
            StopReason::Stopped => String::new(),
            _ => take_text(&mut pending, true),
        };
        if !piece.is_empty() {
            generated.text.push_str(&piece);
            meter.watch.text(&piece);
        }
        Ok(generated)
    }

    fn own_head(&self) -> Option<&Head> {
        self.config.head.as_ref()
    }

    fn adapter_text(&self, key: &str) -> Option<&str> {
        self.adapter.as_ref().filter(|adapter| adapter.is_as_trained())?.text(key)
    }

    fn usage(&self) -> Usage {
        self.usage
    }
}

/// Counts tokens for whoever watches.
struct Meter<'a> {
    watch: &'a mut dyn Watch,
    done: usize,
    total: usize,
}

impl Meter<'_> {
    fn tick(&mut self, batch: usize, share: f32) -> Flow {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a small count"
        )]
        let part = (batch as f32 * share.clamp(0.0, 1.0)) as usize;
        self.watch.progress((self.done + part).min(self.total), self.total)
    }

    fn advance(&mut self, tokens: usize) -> Result<(), LmError> {
        self.done = (self.done + tokens).min(self.total);
        match self.watch.progress(self.done, self.total) {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(LmError::Cancelled),
        }
    }
}

/// Takes the whole characters off the front of `bytes`; at the `end` everything, with broken ones replaced.
fn take_text(bytes: &mut Vec<u8>, end: bool) -> String {
    let mut whole = 0;
    while let Some(rest) = bytes.get(whole..).filter(|rest| !rest.is_empty()) {
        match std::str::from_utf8(rest) {
            Ok(_) => whole = bytes.len(),
            Err(_) if end => whole = bytes.len(),
            Err(error) => {
                whole += error.valid_up_to();
                // A broken character is given up; one that only lacks its last bytes waits for them.
                match error.error_len() {
                    Some(broken) => whole += broken,
                    None => break,
                }
            }
        }
    }
    let text = String::from_utf8_lossy(&bytes[..whole]).into_owned();
    bytes.drain(..whole);
    text
}

/// The most probable token, or a draw at this temperature.
fn choose(logits: &[f32], temperature: f32, random: &mut SplitMix) -> u32 {
    let most = (0u32..).zip(logits).max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(token, _)| token);
    if temperature <= 0.0 {
        return most;
    }
    let scaled: Vec<f32> = logits.iter().map(|logit| logit / temperature).collect();
    let normaliser = log_sum_exp(&scaled);
    let mut left = random.unit();
    for (token, &logit) in (0u32..).zip(&scaled) {
        left -= libm::exp(f64::from(logit) - normaliser);
        if left <= 0.0 {
            return token;
        }
    }
    most
}

/// SplitMix64 (Steele, Lea and Flood 2014): small, seeded, the same everywhere.
struct SplitMix(u64);

impl SplitMix {
    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 / (1u64 << 53) as f64
    }
}
