//! The texts that are judged, and the same prompts as plain text for engines without a tree.

use std::error::Error;

use retort_judge::{NoObserver, Request, Wording, judge};
use retort_lm::{
    Answer, Exchange, Generated, LanguageModel, Limits, LmError, PromptTree, Segment, Segments, TextModel,
    Turn, Usage, Watch,
};
use retort_rubric::Rubric;
use serde_json::{Value, json};

const PROMPT: &str =
    "Explain to a new cook how to keep bread fresh for a week, and why each of your tips works.";
/// Gone through again and again until there are enough tokens.
const SENTENCES: &str = "Let the loaf cool completely before you wrap it, since trapped steam makes the crust soft and \
     invites mould. Keep it cut side down on a board for the first day, which slows the drying of the crumb. After \
     that, a cotton bag inside a wooden box balances moisture: enough to stay soft, too little for mould. Do not put \
     it in the refrigerator, because starch turns back into crystals fastest just above freezing. Freeze what you \
     will not eat within three days, sliced, so that you can toast it straight from the ice. A stale loaf comes back \
     for an hour if you wet its crust and bake it for ten minutes at 180 degrees. ";

/// See [`Ask::Texts`](crate::Ask::Texts).
pub(crate) fn texts<M: LanguageModel>(
    model: &M,
    response_tokens: Option<usize>,
    path_tokens: Option<usize>,
    rubrics: &[Rubric],
    wording: Wording,
) -> Result<Value, Box<dyn Error>> {
    let mut response = String::new();
    let mut words = SENTENCES.split_inclusive(' ').cycle();
    let mut found = Prompts::of(model, "-", rubrics, wording)?;
    loop {
        let longer = format!("{response}{}", words.next().unwrap_or_default());
        let prompts = Prompts::of(model, &longer, rubrics, wording)?;
        let is_too_long = response_tokens.is_some_and(|most| prompts.response > most)
            || path_tokens.is_some_and(|most| prompts.tokens.iter().any(|&tokens| tokens > most))
            || (response_tokens.is_none() && path_tokens.is_none());
        if is_too_long {
            break;
        }
        (response, found) = (longer, prompts);
    }
    if response.is_empty() {
        return Err("not even one word fits into so few tokens".into());
    }
    Ok(json!({
        "prompt": PROMPT,
        "response": response,
        "response_tokens": found.response,
        "paths": found.paths,
        "tokens": found.tokens,
        "branch_tokens": found.branches,
    }))
}

/// What a request becomes.
struct Prompts {
    /// Every path from the root to the end of a branch, as text.
    paths: Vec<String>,
    /// Tokens of each path.
    tokens: Vec<usize>,
    /// Tokens of each branch alone.
    branches: Vec<usize>,
    /// Tokens of the response.
    response: usize,
}

impl Prompts {
    fn of<M: LanguageModel>(
        model: &M,
        response: &str,
        rubrics: &[Rubric],
        wording: Wording,
    ) -> Result<Self, Box<dyn Error>> {
        let (prompt, rubrics) = (PROMPT.to_owned(), rubrics.to_vec());
        let request =
            Request { prompt, response: response.to_owned(), rubrics, wording, ..Request::default() };
        let mut listener = Listener { model, tree: None };
        pollster::block_on(judge(&mut listener, &request, &mut NoObserver))?;
        let tree = listener.tree.ok_or("the model was not asked")?;
        let prefix = model.count_tokens(&tree.prefix)?;
        let branches = tree
            .branches
            .iter()
            .map(|branch| model.count_tokens(&branch.text))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            paths: tree.branches.iter().map(|branch| plain(&tree.prefix) + &plain(&branch.text)).collect(),
            tokens: branches.iter().map(|tokens| prefix + tokens).collect(),
            branches,
            response: model.count_tokens(&Segments::new().user(response))?,
        })
    }
}

fn plain(text: &Segments) -> String {
    let pieces = text.pieces().iter().map(|piece| match piece {
        Segment::Template(text) | Segment::User(text) => text.as_str(),
    });
    pieces.collect()
}

/// Hears what a model is asked, and computes nothing.
struct Listener<'a, M> {
    model: &'a M,
    tree: Option<PromptTree>,
}

impl<M: LanguageModel> TextModel for Listener<'_, M> {
    fn count_tokens(&self, text: &Segments) -> Result<usize, LmError> {
        self.model.count_tokens(text)
    }

    fn context_length(&self) -> usize {
        self.model.context_length()
    }

    fn turn(&self, system: Option<&Segments>) -> Result<Turn, LmError> {
        self.model.turn(system)
    }

    fn exchange(&self) -> Result<Exchange, LmError> {
        self.model.exchange()
    }
}

impl<M: LanguageModel> LanguageModel for Listener<'_, M> {
    async fn answer(&mut self, tree: &PromptTree, _: &mut dyn Watch) -> Result<Vec<Answer>, LmError> {
        self.tree = Some(tree.clone());
        Err(LmError::Cancelled)
    }

    async fn generate(&mut self, _: &Segments, _: &Limits, _: &mut dyn Watch) -> Result<Generated, LmError> {
        Err(LmError::Cancelled)
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }
}
