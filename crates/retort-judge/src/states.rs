//! What a model has of one response inside it: hidden states, for a readout on a person's own labels.
//!
//! The texts are read exactly as a judgement by the overall rubric reads them ([`retort_rubric::overall`]), so that a state
//! is that of a model which is about to say what the response is worth.

use std::ops::Range;

use retort_lm::{
    Answer, Flow, LanguageModel, LmError, Pool, Readout, Segment, Segments, StateRequest, Usage,
};

use crate::inquiry::{Aim, Inquiry};
use crate::judge::Progress;
use crate::prompt::{Field, TextRole, Truncation};
use crate::question::Question;
use crate::{JudgeError, Wording};

/// The layer that states are read from, of a model with so many: half of them, rounded up. What separates good responses
/// from bad ones is clearest in the middle of a model, before the last layers turn to choosing the next word; of the
/// default model's 30 layers, layer 15 was the best in our own trial.
#[must_use]
pub const fn middle_layer(layers: usize) -> usize {
    layers.div_ceil(2)
}

/// A response whose states are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatesRequest {
    /// The instruction that the response answers.
    pub prompt: String,
    /// The response.
    pub response: String,
    /// A good answer to compare with.
    pub reference: Option<String>,
    /// What leaves this layer is read, counted from 1: [`middle_layer`] of the model's layers.
    pub layer: usize,
}

/// Hidden states of one response.
#[derive(Debug, Clone, PartialEq)]
pub struct States {
    /// The layer that they left.
    pub layer: usize,
    /// The mean over the response's tokens; of a response that was cut, over what is left of it.
    pub mean: Vec<f32>,
    /// That of the last token of the whole prompt, behind which the model would answer.
    pub last: Vec<f32>,
    /// Texts that were cut.
    pub truncations: Vec<Truncation>,
    /// Tokens computed and reused.
    pub usage: Usage,
}

/// Reads the hidden states of one response. `progress` is told tokens done and tokens in all, and can stop it.
///
/// # Errors
/// [`JudgeError::Empty`]; [`JudgeError::Model`] with whatever the model refuses, a cancellation ([`LmError::Cancelled`])
/// and a layer that it does not have among it: a part of a state is of no use.
pub async fn states<M: LanguageModel>(
    model: &mut M,
    request: &StatesRequest,
    progress: &mut dyn FnMut(usize, usize) -> Flow,
) -> Result<States, JudgeError> {
    for (what, text) in [("prompt", &request.prompt), ("response", &request.response)] {
        if text.trim().is_empty() {
            return Err(JudgeError::Empty { what });
        }
    }
    let reference = request.reference.as_deref().filter(|text| !text.trim().is_empty());
    let texts = [Field::prompt(request.prompt.as_str()), Field::response(request.response.as_str())];
    let inquiry = Inquiry {
        aim: Aim::Rate,
        fields: texts.into_iter().chain(reference.map(Field::reference)).collect(),
        questions: vec![Question::of_rubric(retort_rubric::overall())],
        // The overall rubric is none of the twelve skills, so that a judgement reads it in full whatever the adapter.
        wording: Wording::Full,
    };
    let plan = inquiry.plan(model)?;
    // One piece, or head and tail where the middle was cut: the note between them is no part of the response.
    let pieces = plan.pieces_of(&TextRole::Response);
    let weights = pieces.iter().map(|&piece| count(model, &plan.tree().prefix, piece));
    let weights = weights.collect::<Result<Vec<usize>, LmError>>()?;
    let whole = |piece: usize| Range { start: piece, end: piece + 1 };
    let pools = pieces.iter().map(|&piece| Pool::Prefix(whole(piece))).chain([Pool::Last]);
    let mut tree = plan.tree();
    for branch in &mut tree.branches {
        let wanted = pools.clone().map(|pool| StateRequest { layer: request.layer, pool });
        branch.readout = Readout::states(wanted.collect());
    }
    let answers = model.answer(&tree, &mut Progress(progress)).await?;
    let usage = model.usage();
    let states = answers.into_iter().next().map(|Answer { states, .. }| states).unwrap_or_default();
    let problem = || LmError::Question {
        problem: format!("{} states came back where {} were asked for", states.len(), pieces.len() + 1),
    };
    let (last, parts) = states.split_last().ok_or_else(problem)?;
    if parts.len() != pieces.len() || parts.is_empty() {
        return Err(problem().into());
    }
    let mean = weighted(parts, &weights);
    Ok(States { layer: request.layer, mean, last: last.clone(), truncations: plan.truncations, usage })
}

/// Tokens of one piece, which is tokenized on its own.
fn count<M: LanguageModel>(model: &M, text: &Segments, piece: usize) -> Result<usize, LmError> {
    match text.pieces().get(piece) {
        Some(Segment::User(text)) => model.count_tokens(&Segments::new().user(text.as_str())),
        _ => Ok(0),
    }
}

/// The mean of means over so many tokens each.
fn weighted(parts: &[Vec<f32>], weights: &[usize]) -> Vec<f32> {
    let [one] = parts else {
        let total = weights.iter().sum::<usize>().max(1);
        let width = parts.iter().map(Vec::len).min().unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "tokens are far fewer than 2^52")]
        let share = |weight: usize| weight as f64 / total as f64;
        #[expect(clippy::cast_possible_truncation, reason = "a state is in f32 as the model gives it")]
        let at = |place: usize| {
            let terms =
                parts.iter().zip(weights).map(|(part, &weight)| f64::from(part[place]) * share(weight));
            terms.sum::<f64>() as f32
        };
        return (0..width).map(at).collect();
    };
    one.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_model() {
        assert_eq!([1, 2, 3, 24, 30].map(middle_layer), [1, 1, 2, 12, 15]);
    }

    #[test]
    fn parts_count_by_their_tokens() {
        // (1 × 2 + 3 × 6) / 4 = 5 and (1 × 0 + 3 × 4) / 4 = 3.
        assert_eq!(weighted(&[vec![2.0, 0.0], vec![6.0, 4.0]], &[1, 3]), [5.0, 3.0]);
        assert_eq!(weighted(&[vec![2.5]], &[7]), [2.5]);
    }
}
