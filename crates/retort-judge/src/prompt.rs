//! What the model reads: the texts first, then the questions.

use retort_lm::{Branch, LanguageModel, LmError, PromptTree, Segments};
use serde::{Deserialize, Serialize};

use crate::Request;
use crate::question::Question;

/// Who the model is to be.
const SYSTEM: &str = "You are a strict and fair judge of written answers. You read an instruction and the \
                      response that somebody gave to it, and you rate the response on one criterion.";

/// Stands where a text was cut.
const CUT: &str = "\n[... the middle of this text was left out ...]\n";

/// Which of the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextRole {
    /// The instruction.
    Prompt,
    /// The response that is judged.
    Response,
    /// The reference answer.
    Reference,
}

impl TextRole {
    fn heading(self) -> &'static str {
        match self {
            Self::Prompt => "Instruction",
            Self::Response => "Response",
            Self::Reference => "Reference answer",
        }
    }
}

/// A text that was cut in its middle because all texts together exceed the model's context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truncation {
    /// Which text.
    pub text: TextRole,
    /// Characters (Unicode scalar values) that the model reads.
    pub kept_characters: usize,
    /// Characters that the text has.
    pub total_characters: usize,
}

/// One text and what is left of it.
struct Body<'a> {
    role: TextRole,
    text: &'a str,
    tokens: usize,
    /// Head and tail, where the middle was cut.
    cut: Option<(&'a str, &'a str)>,
}

/// The token that a model may put before all text, which counting a text does not count.
const BEGIN: usize = 1;

/// The prompt tree of a request with these questions, and what had to be cut for it.
pub(crate) fn plan<M: LanguageModel>(
    model: &M,
    request: &Request,
    questions: &[Question<'_>],
) -> Result<(PromptTree, Vec<Truncation>), LmError> {
    let turn = model.turn(Some(&Segments::new().template(SYSTEM)))?;
    let offer = common_offer(questions);
    let branches: Vec<Branch> =
        questions.iter().map(|question| question.branch(request.wording, &turn, offer.is_none())).collect();
    let layout = Layout {
        open: &turn.open,
        texts: vec![
            (TextRole::Prompt, Some(request.prompt.as_str())),
            (TextRole::Response, Some(request.response.as_str())),
            (TextRole::Reference, request.reference()),
        ],
        close: Segments::new()
            .template("Rate the response above on the criterion below. ")
            .user(offer.unwrap_or_default()),
    };
    let (prefix, truncations) = layout.fit(model, longest(model, &branches)?)?;
    Ok((PromptTree { prefix, branches }, truncations))
}

/// Tokens of the longest branch with the longest of its answers.
pub(crate) fn longest<M: LanguageModel>(model: &M, branches: &[Branch]) -> Result<usize, LmError> {
    let mut longest = 0;
    for branch in branches {
        let options = &branch.readout.options;
        let mut answer = 0;
        for spelling in options.iter().flat_map(|option| &option.spellings) {
            answer = answer.max(model.count_tokens(&Segments::new().user(spelling.as_str()))?);
        }
        longest = longest.max(model.count_tokens(&branch.text)? + answer);
    }
    Ok(longest)
}

/// The texts of people in a prompt: each under its heading, within a fence that none of them can close.
pub(crate) struct Layout<'a> {
    /// What stands before the first text.
    pub(crate) open: &'a Segments,
    /// The texts in their order; those that are absent are left out.
    pub(crate) texts: Vec<(TextRole, Option<&'a str>)>,
    /// What stands behind the last.
    pub(crate) close: Segments,
}

impl Layout<'_> {
    /// The prompt, such that it and `behind` further tokens fit the model's context, and what was cut for that.
    ///
    /// # Errors
    /// [`LmError::TooLong`] where too little of a text would be left.
    pub(crate) fn fit<M: LanguageModel>(
        &self,
        model: &M,
        behind: usize,
    ) -> Result<(Segments, Vec<Truncation>), LmError> {
        let mut bodies = Vec::new();
        for &(role, text) in &self.texts {
            if let Some(text) = text {
                let tokens = model.count_tokens(&Segments::new().user(text))?;
                bodies.push(Body { role, text, tokens, cut: None });
            }
        }
        let fence = fence(&bodies);
        let context = model.context_length();
        let whole = self.with(&bodies, &fence);
        let needed = BEGIN + model.count_tokens(&whole)? + behind;
        if needed <= context {
            return Ok((whole, Vec::new()));
        }
        // What stands around the texts when each of them is cut: never less than what stands there in the end. A
        // letter stands for each piece of a text, since pieces that touch would be tokenized as one.
        let short = |body: &Body<'_>| Body { role: body.role, text: "", tokens: 0, cut: Some(("x", "x")) };
        let frame = self.with(&bodies.iter().map(short).collect::<Vec<_>>(), &fence);
        let room = context.saturating_sub(BEGIN + model.count_tokens(&frame)? + behind);
        let Some(truncations) = fit(model, &mut bodies, room)? else {
            return Err(LmError::TooLong { tokens: needed, context });
        };
        Ok((self.with(&bodies, &fence), truncations))
    }

    fn with(&self, bodies: &[Body<'_>], fence: &str) -> Segments {
        let mut text = self.open.clone();
        for body in bodies {
            text = text.template(format!("{}:\n{fence}\n", body.role.heading()));
            text = match body.cut {
                None => text.user(body.text),
                Some((head, tail)) => text.user(head).template(CUT).user(tail),
            };
            text = text.template(format!("\n{fence}\n\n"));
        }
        text.then(&self.close)
    }
}

/// A fence that no text contains, so that no text can end itself: one quotation mark longer than the
/// longest run of them in any text, and at least three.
fn fence(bodies: &[Body<'_>]) -> String {
    let longest =
        bodies.iter().flat_map(|body| body.text.split(|c| c != '"').map(str::len)).max().unwrap_or(0);
    "\"".repeat(3.max(longest + 1))
}

/// The offer that all questions share, if they do: then it is read once.
fn common_offer(questions: &[Question<'_>]) -> Option<String> {
    let first = questions.first()?.offer();
    questions.iter().all(|question| question.offer() == first).then_some(first)
}

/// Cuts the longest texts until all together have at most `room` tokens.
///
/// Every text may have the same number of tokens; what a short text leaves of its share goes to the others
/// (water-filling), so that a long response never pushes the instruction out, nor the reverse. `None` where
/// too little of a text would be left.
fn fit<M: LanguageModel>(
    model: &M,
    bodies: &mut [Body<'_>],
    room: usize,
) -> Result<Option<Vec<Truncation>>, LmError> {
    let mut shares: Vec<usize> = bodies.iter().map(|body| body.tokens).collect();
    shares.sort_unstable();
    let level = water_level(&shares, room);
    if level < MIN_SHARE {
        return Ok(None);
    }
    let mut truncations = Vec::new();
    for body in bodies.iter_mut().filter(|body| body.tokens > level) {
        let (head, tail) = head_and_tail(model, body.text, level)?;
        body.cut = Some((head, tail));
        truncations.push(Truncation {
            text: body.role,
            kept_characters: head.chars().count() + tail.chars().count(),
            total_characters: body.text.chars().count(),
        });
    }
    Ok(Some(truncations))
}

/// The most tokens that each text may have so that all together have at most `room`; the largest share where
/// all fit. `shares` are in ascending order.
fn water_level(shares: &[usize], room: usize) -> usize {
    let mut left = room;
    for (index, &share) in shares.iter().enumerate() {
        let level = left / (shares.len() - index);
        if share > level {
            return level;
        }
        left -= share;
    }
    shares.last().copied().unwrap_or(0)
}

/// With less than this many tokens of a text there is nothing to judge.
const MIN_SHARE: usize = 32;

/// The longest head and tail of about equal length that together have at most `tokens` tokens.
fn head_and_tail<'a, M: LanguageModel>(
    model: &M,
    text: &'a str,
    tokens: usize,
) -> Result<(&'a str, &'a str), LmError> {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let characters = starts.len() - 1;
    let split = |kept: usize| {
        let head = kept.div_ceil(2);
        (&text[..starts[head]], &text[starts[characters - (kept - head)]..])
    };
    let (mut fits, mut exceeds) = (0, characters);
    while exceeds - fits > 1 {
        let kept = fits + (exceeds - fits) / 2;
        let (head, tail) = split(kept);
        let count = model.count_tokens(&Segments::new().user(head).user(tail))?;
        if count <= tokens { fits = kept } else { exceeds = kept }
    }
    Ok(split(fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p48_shares_by_hand() {
        // 100 / 3 = 33; 10 fits and leaves 90; 90 / 2 = 45; 50 does not fit: 10 + 45 + 45 = 100.
        assert_eq!(water_level(&[10, 50, 100], 100), 45);
        // 10 fits, 50 fits into 140 / 2 = 70 and leaves 90 for the last.
        assert_eq!(water_level(&[10, 50, 100], 150), 90);
        // 60 / 3 = 20 for each of three equals.
        assert_eq!(water_level(&[50, 50, 50], 60), 20);
        // The rest of a division is left over: 20 + 20 + 20 of 62.
        assert_eq!(water_level(&[50, 50, 50], 62), 20);
        assert_eq!(water_level(&[10, 50, 100], 160), 100);
        assert_eq!(water_level(&[100], 0), 0);
    }

    #[test]
    fn the_fence_is_longer_than_any_run_of_quotes() {
        let fence_of = |texts: &[&'static str]| {
            let body = |text: &&'static str| Body { role: TextRole::Prompt, text, tokens: 0, cut: None };
            fence(&texts.iter().map(body).collect::<Vec<_>>())
        };
        assert_eq!(fence_of(&["a", "\"b\""]), "\"\"\"");
        assert_eq!(fence_of(&["a\"\"", ""]), "\"\"\"");
        assert_eq!(fence_of(&["a\"\"\"b", "\"\"c"]), "\"\"\"\"");
        assert_eq!(fence_of(&["\"", "\"\"\"\"\""]), "\"\"\"\"\"\"");
    }
}
