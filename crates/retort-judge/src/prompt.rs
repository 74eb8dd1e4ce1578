//! The texts of people in a prompt: fenced, and cut where they are too long for the model.

use std::borrow::Cow;

use retort_lm::{Branch, LmError, Segments, TextModel};
use serde::{Deserialize, Serialize};

/// Stands where a text was cut.
const CUT: &str = "\n[... the middle of this text was left out ...]\n";

/// Which of the texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum TextRole {
    /// The instruction.
    Prompt,
    /// The response that is judged.
    Response,
    /// The reference answer.
    Reference,
    /// Another text, by the name of its field in a task.
    Named(String),
}

impl From<String> for TextRole {
    fn from(name: String) -> Self {
        match name.as_str() {
            "prompt" => Self::Prompt,
            "response" => Self::Response,
            "reference" => Self::Reference,
            _ => Self::Named(name),
        }
    }
}

impl From<TextRole> for String {
    fn from(role: TextRole) -> Self {
        match role {
            TextRole::Prompt => "prompt".into(),
            TextRole::Response => "response".into(),
            TextRole::Reference => "reference".into(),
            TextRole::Named(name) => name,
        }
    }
}

/// A text of people's, and what stands above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field<'a> {
    /// Which text it is, for [`Truncation`].
    pub role: TextRole,
    /// What stands above it: text of ours, never of people's.
    pub heading: Cow<'a, str>,
    /// The text.
    pub text: Cow<'a, str>,
}

impl<'a> Field<'a> {
    /// The instruction.
    #[must_use]
    pub fn prompt(text: impl Into<Cow<'a, str>>) -> Self {
        Self { role: TextRole::Prompt, heading: "Instruction".into(), text: text.into() }
    }

    /// The response that is judged.
    #[must_use]
    pub fn response(text: impl Into<Cow<'a, str>>) -> Self {
        Self { role: TextRole::Response, heading: "Response".into(), text: text.into() }
    }

    /// The reference answer.
    #[must_use]
    pub fn reference(text: impl Into<Cow<'a, str>>) -> Self {
        Self { role: TextRole::Reference, heading: "Reference answer".into(), text: text.into() }
    }

    /// A text of a task's own.
    #[must_use]
    pub fn named(
        name: impl Into<String>,
        heading: impl Into<Cow<'a, str>>,
        text: impl Into<Cow<'a, str>>,
    ) -> Self {
        Self { role: TextRole::from(name.into()), heading: heading.into(), text: text.into() }
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
    field: &'a Field<'a>,
    text: &'a str,
    tokens: usize,
    /// Head and tail, where the middle was cut.
    cut: Option<(&'a str, &'a str)>,
}

/// The token that a model may put before all text, which counting a text does not count.
const BEGIN: usize = 1;

/// Tokens of the longest branch with the longest of its answers.
pub(crate) fn longest<M: TextModel>(model: &M, branches: &[Branch]) -> Result<usize, LmError> {
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

/// Texts as they stand in a prompt.
pub(crate) struct Laid {
    /// From the heading of the first text on.
    pub(crate) text: Segments,
    /// Which pieces of it, counted from 0, are of which text, in their order; one that was cut has two.
    pub(crate) pieces: Vec<(TextRole, usize)>,
    /// What was cut.
    pub(crate) truncations: Vec<Truncation>,
}

/// The texts of people in a prompt: each under its heading, within a fence that none of them can close.
pub(crate) struct Layout<'a> {
    /// What stands before the first text.
    pub(crate) open: &'a Segments,
    /// The texts in their order.
    pub(crate) texts: &'a [Field<'a>],
    /// What stands behind the last.
    pub(crate) close: Segments,
}

impl<'a> Layout<'a> {
    /// The prompt from the first text on, such that it fits the model's context with what opens it and `behind` further
    /// tokens.
    ///
    /// # Errors
    /// [`LmError::TooLong`] where too little of a text would be left.
    pub(crate) fn fit<M: TextModel>(&self, model: &M, behind: usize) -> Result<Laid, LmError> {
        let mut bodies = Vec::new();
        for field in self.texts {
            let text = field.text.as_ref();
            let tokens = model.count_tokens(&Segments::new().user(text))?;
            bodies.push(Body { field, text, tokens, cut: None });
        }
        let fence = fence(self.texts);
        let context = model.context_length();
        let count = |text: &Segments| model.count_tokens(&self.open.clone().then(text));
        let whole = self.with(&bodies, &fence);
        let needed = BEGIN + count(&whole)? + behind;
        if needed <= context {
            return Ok(Laid { pieces: self.pieces(&bodies), text: whole, truncations: Vec::new() });
        }
        // What stands around the texts when each of them is cut: never less than what stands there in the end. A
        // letter stands for each piece of a text, since pieces that touch would be tokenized as one.
        let short = |body: &Body<'a>| Body { field: body.field, text: "", tokens: 0, cut: Some(("x", "x")) };
        let frame = self.with(&bodies.iter().map(short).collect::<Vec<_>>(), &fence);
        let room = context.saturating_sub(BEGIN + count(&frame)? + behind);
        let Some(truncations) = fit(model, &mut bodies, room)? else {
            return Err(LmError::TooLong { tokens: needed, context });
        };
        Ok(Laid { text: self.with(&bodies, &fence), pieces: self.pieces(&bodies), truncations })
    }

    /// Which pieces of [`with`](Self::with) are of which text. Between two pieces of people's stands one of ours, and one
    /// before the first; neighbours of ours are one, and an empty text is no piece.
    fn pieces(&self, bodies: &[Body<'_>]) -> Vec<(TextRole, usize)> {
        let mut pieces = Vec::new();
        for body in bodies {
            let (head, tail) = body.cut.unwrap_or((body.text, ""));
            for part in [head, tail] {
                if !part.is_empty() {
                    pieces.push((body.field.role.clone(), 2 * pieces.len() + 1));
                }
            }
        }
        pieces
    }

    fn with(&self, bodies: &[Body<'_>], fence: &str) -> Segments {
        let mut text = Segments::new();
        for body in bodies {
            text = text.template(format!("{}:\n{fence}\n", body.field.heading));
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
fn fence(texts: &[Field<'_>]) -> String {
    let longest =
        texts.iter().flat_map(|field| field.text.split(|c| c != '"').map(str::len)).max().unwrap_or(0);
    "\"".repeat(3.max(longest + 1))
}

/// Cuts the longest texts until all together have at most `room` tokens.
///
/// Every text may have the same number of tokens; what a short text leaves of its share goes to the others
/// (water-filling), so that a long response never pushes the instruction out, nor the reverse. `None` where
/// too little of a text would be left.
fn fit<M: TextModel>(
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
            text: body.field.role.clone(),
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
fn head_and_tail<'a, M: TextModel>(
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
            fence(&texts.iter().map(|&text| Field::prompt(text)).collect::<Vec<_>>())
        };
        assert_eq!(fence_of(&["a", "\"b\""]), "\"\"\"");
        assert_eq!(fence_of(&["a\"\"", ""]), "\"\"\"");
        assert_eq!(fence_of(&["a\"\"\"b", "\"\"c"]), "\"\"\"\"");
        assert_eq!(fence_of(&["\"", "\"\"\"\"\""]), "\"\"\"\"\"\"");
    }
}
