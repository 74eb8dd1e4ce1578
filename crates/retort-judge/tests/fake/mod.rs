//! A model whose answers are written down beforehand.
#![allow(dead_code, reason = "no test needs all of it")]
#![expect(unreachable_pub, reason = "every test is a crate of its own")]

use std::collections::VecDeque;

use retort_lm::{
    Answer, Exchange, Flow, Generated, LanguageModel, Limits, LmError, PromptTree, Segment, Segments,
    StopReason, TextModel, Turn, Usage, Watch,
};

/// How many tokens a piece of text is.
pub type Count = fn(&str) -> usize;

/// One token for every character.
pub fn characters(text: &str) -> usize {
    text.chars().count()
}

/// One token for three bytes, and for what is left.
pub fn thirds(text: &str) -> usize {
    text.len().div_ceil(3)
}

/// One token for every run of equal characters: pieces that touch may have fewer tokens than apart.
pub fn runs(text: &str) -> usize {
    let mut before = None;
    text.chars().filter(|&c| before.replace(c) != Some(c)).count()
}

/// Answers as it was told, and refuses what a model with such a context would refuse.
pub struct Fake {
    pub context: usize,
    pub count: Count,
    /// What each branch gets; where the list ends, all options are equally probable.
    pub answers: VecDeque<Result<Answer, LmError>>,
    pub asked: Vec<PromptTree>,
    /// What each call of `generate` writes, piece by piece; where the list ends, nothing.
    pub writes: VecDeque<Result<Vec<&'static str>, LmError>>,
    /// What each call of `generate` read.
    pub prompts: Vec<Segments>,
    /// Tokens of the longest path of the last tree, with a begin token.
    pub longest: usize,
    /// What its adapter says of its probabilities.
    pub adapter_text: Option<String>,
}

impl Fake {
    pub fn new() -> Self {
        Self {
            context: 100_000,
            count: characters,
            answers: VecDeque::new(),
            asked: Vec::new(),
            writes: VecDeque::new(),
            prompts: Vec::new(),
            longest: 0,
            adapter_text: None,
        }
    }

    pub fn answering(answers: impl IntoIterator<Item = Result<Answer, LmError>>) -> Self {
        Self { answers: answers.into_iter().collect(), ..Self::new() }
    }

    pub fn of(context: usize, count: Count) -> Self {
        Self { context, count, ..Self::new() }
    }
}

impl TextModel for Fake {
    fn count_tokens(&self, text: &Segments) -> Result<usize, LmError> {
        let counts =
            text.pieces().iter().map(|(Segment::Template(text) | Segment::User(text))| (self.count)(text));
        Ok(counts.sum())
    }

    fn context_length(&self) -> usize {
        self.context
    }

    fn turn(&self, system: Option<&Segments>) -> Result<Turn, LmError> {
        let mut open = Segments::new();
        if let Some(system) = system {
            open = open.template("<|im_start|>system\n").then(system).template("<|im_end|>\n");
        }
        let open = open.template("<|im_start|>user\n");
        Ok(Turn { open, close: Segments::new().template("<|im_end|>\n<|im_start|>assistant\n") })
    }

    fn exchange(&self) -> Result<Exchange, LmError> {
        Err(LmError::Template { problem: "no exchange is expected".into() })
    }
}

impl LanguageModel for Fake {
    async fn answer(&mut self, tree: &PromptTree, watch: &mut dyn Watch) -> Result<Vec<Answer>, LmError> {
        self.asked.push(tree.clone());
        let prefix = 1 + self.count_tokens(&tree.prefix)?;
        let mut longest = 0;
        for branch in &tree.branches {
            let options = &branch.readout.options;
            let option = options.iter().flat_map(|option| &option.spellings).map(|s| (self.count)(s)).max();
            longest = longest.max(prefix + self.count_tokens(&branch.text)? + option.unwrap());
        }
        self.longest = longest;
        if longest > self.context {
            return Err(LmError::TooLong { tokens: longest, context: self.context });
        }
        let mut answers = Vec::new();
        for (index, branch) in tree.branches.iter().enumerate() {
            if watch.progress(index, tree.branches.len()) == Flow::Stop {
                return Err(LmError::Cancelled);
            }
            let options = &branch.readout.options;
            let count = options.len();
            let even = || Answer {
                log_probabilities: vec![(0.9 / count as f64).ln(); count],
                outside: 0.1,
                ..Answer::default()
            };
            let answer = self.answers.pop_front().unwrap_or_else(|| Ok(even()))?;
            watch.answered(index, &answer);
            answers.push(answer);
        }
        Ok(answers)
    }

    async fn generate(
        &mut self,
        prompt: &Segments,
        _: &Limits,
        watch: &mut dyn Watch,
    ) -> Result<Generated, LmError> {
        self.prompts.push(prompt.clone());
        let mut text = String::new();
        let mut stop = StopReason::EndOfText;
        for piece in self.writes.pop_front().unwrap_or_else(|| Ok(Vec::new()))? {
            if watch.progress(0, 1) == Flow::Stop {
                return Err(LmError::Cancelled);
            }
            text.push_str(piece);
            if watch.text(piece) == Flow::Stop {
                stop = StopReason::Stopped;
                break;
            }
        }
        Ok(Generated { text, tokens: Vec::new(), stop })
    }

    fn adapter_text(&self, key: &str) -> Option<&str> {
        self.adapter_text.as_deref().filter(|_| key == retort_judge::Calibration::KEY)
    }

    fn usage(&self) -> Usage {
        Usage { computed: 40, reused: 2 }
    }
}

/// An answer with these probabilities.
pub fn answer(probabilities: &[f64]) -> Result<Answer, LmError> {
    let outside = 1.0 - probabilities.iter().sum::<f64>();
    Ok(Answer {
        log_probabilities: probabilities.iter().map(|p| p.ln()).collect(),
        outside,
        ..Answer::default()
    })
}

pub fn failure() -> LmError {
    LmError::Gpu { problem: "the device was lost".into() }
}
