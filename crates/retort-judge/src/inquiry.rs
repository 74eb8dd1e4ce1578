//! Texts and the questions about them: the one form behind a judgement, an item of a benchmark and a row of training.

use retort_lm::{Branch, LmError, PromptTree, Segments, TextModel};

use crate::Wording;
use crate::prompt::{Field, Laid, Layout, TextRole, Truncation, longest};
use crate::question::Question;

/// Texts that are read once, and questions about them that do not see each other.
///
/// The prompt has three parts. *Context*: the texts, each under its heading within a fence. *Instructions*: what is
/// asked. *Evaluation*: what the answer begins with. The context comes first, so that all questions share it.
#[derive(Debug, Clone)]
pub struct Inquiry<'a> {
    /// What is to be done with the texts.
    pub aim: Aim,
    /// The texts, in their order.
    pub fields: Vec<Field<'a>>,
    /// The questions; at least one.
    pub questions: Vec<Question<'a>>,
    /// How much of each question the model reads.
    pub wording: Wording,
}

/// What is to be done with the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// One response is rated by a criterion.
    Rate,
    /// Two responses are compared.
    Compare,
    /// A question about the texts is answered.
    Answer,
}

impl Aim {
    /// Who the model is to be.
    fn system(self) -> &'static str {
        match self {
            Self::Rate => {
                "You are a strict and fair judge of written answers. You read an instruction and the response that \
                 somebody gave to it, and you rate the response on one criterion."
            }
            Self::Compare => {
                "You are a strict and fair judge of written answers. You read an instruction and two responses that \
                 were given to it, and you say which of them is the better one."
            }
            Self::Answer => {
                "You are a strict and fair judge of written texts. You read what you are given, and you answer one \
                 question about it."
            }
        }
    }

    /// What stands between the texts and the question.
    fn lead(self) -> &'static str {
        match self {
            Self::Rate => "Rate the response above on the criterion below. ",
            Self::Compare => "Compare the two responses above. ",
            Self::Answer => "Answer the question below about the texts above. ",
        }
    }
}

/// An inquiry as a model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InquiryPlan {
    /// What stands before the first text, the same for every inquiry of one aim.
    pub open: Segments,
    /// The texts and what follows them up to the questions.
    pub context: Segments,
    /// The questions.
    pub branches: Vec<Branch>,
    /// Texts that were cut so that everything fits the model's context.
    pub truncations: Vec<Truncation>,
    /// Which pieces of the context are of which text.
    pieces: Vec<(TextRole, usize)>,
}

impl Inquiry<'_> {
    /// The inquiry as this model reads it.
    ///
    /// # Errors
    /// [`LmError::TooLong`] where too little of a text would be left; what the model's template or tokenizer refuses.
    pub fn plan<M: TextModel>(&self, model: &M) -> Result<InquiryPlan, LmError> {
        let turn = model.turn(Some(&Segments::new().template(self.aim.system())))?;
        let offer = common_offer(&self.questions);
        let branches: Vec<Branch> = self
            .questions
            .iter()
            .map(|question| question.branch(self.wording, &turn, offer.is_none()))
            .collect();
        let close = Segments::new().template(self.aim.lead()).user(offer.unwrap_or_default());
        let layout = Layout { open: &turn.open, texts: &self.fields, close };
        let Laid { text: context, pieces, truncations } = layout.fit(model, longest(model, &branches)?)?;
        Ok(InquiryPlan { open: turn.open, context, branches, truncations, pieces })
    }
}

impl InquiryPlan {
    /// The inquiry as one prompt tree.
    #[must_use]
    pub fn tree(&self) -> PromptTree {
        PromptTree { prefix: self.open.clone().then(&self.context), branches: self.branches.clone() }
    }

    /// The pieces of the tree's prefix, counted from 0, that are the words of this text: one, or head and tail where its
    /// middle was cut; none where there is no such text.
    #[must_use]
    pub fn pieces_of(&self, role: &TextRole) -> Vec<usize> {
        // Where what opens it ends with text of ours, that and the first heading are one piece.
        let before = self.tree().prefix.pieces().len() - self.context.pieces().len();
        let of_role = self.pieces.iter().filter(|(of, _)| of == role);
        of_role.map(|(_, piece)| before + piece).collect()
    }

    /// The whole prompt of one question, counted from 0; `None` where there is no such question.
    #[must_use]
    pub fn prompt(&self, question: usize) -> Option<Segments> {
        let branch = self.branches.get(question)?;
        Some(self.open.clone().then(&self.context).then(&branch.text))
    }
}

/// The offer that all questions share, if they do: then it is read once.
fn common_offer(questions: &[Question<'_>]) -> Option<String> {
    let first = questions.first()?.offer();
    questions.iter().all(|question| question.offer() == first).then_some(first)
}
