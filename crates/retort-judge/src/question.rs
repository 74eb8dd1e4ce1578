//! A question about a response: a rubric, or an item of a checklist that code does not decide.

use std::borrow::Cow;

use retort_checklist::{AnswerForm, Item};
use retort_lm::{AnswerOption, Branch, Readout, Segments, Turn};
use retort_rubric::{Rubric, RubricOption};

use crate::Wording;

/// What is answered where the question does not arise. One token in the vocabularies of the models that we know, where
/// "N/A" has three, each of which would cost every question a row.
pub(crate) const NOT_APPLICABLE: &str = "NA";

/// What the model is asked, and what it may answer. The offer that it reads and the options whose probabilities are
/// read come from the one list [`labels`](Self::labels) (P11).
#[derive(Debug, Clone)]
pub(crate) struct Question<'a> {
    /// The criterion and its scale.
    pub(crate) rubric: Cow<'a, Rubric>,
    /// When the question does not arise, as a sentence; `None` where it always does.
    not_applicable: Option<String>,
    cue: &'static str,
    is_item: bool,
}

impl<'a> Question<'a> {
    pub(crate) fn of_rubric(rubric: &'a Rubric) -> Self {
        let not_applicable = rubric.not_applicable.clone();
        Self { rubric: Cow::Borrowed(rubric), not_applicable, cue: "Score:", is_item: false }
    }

    /// Yes and no are worth 1 and 0; 1 to 5 themselves.
    pub(crate) fn of_item(item: &Item) -> Self {
        let option = |label: &str, value, description: Option<&str>| RubricOption {
            label: label.to_owned(),
            value,
            description: description.map(str::to_owned),
            examples: Vec::new(),
        };
        let (options, cue) = match item.answer {
            AnswerForm::YesNo => (vec![option("no", 0.0, None), option("yes", 1.0, None)], "Answer:"),
            AnswerForm::OneToFive => (
                vec![
                    option("1", 1.0, Some("Not at all.")),
                    option("2", 2.0, Some("Hardly; much less than the reference answer does.")),
                    option("3", 3.0, Some("In part.")),
                    option("4", 4.0, Some("For the most part; nearly as well as the reference answer.")),
                    option("5", 5.0, Some("Fully; as well as the reference answer, or better.")),
                ],
                "Score:",
            ),
        };
        let rubric = Rubric {
            id: item.id.clone(),
            name: item.question.clone(),
            ability: None,
            criterion: item.question.clone(),
            question: Some(item.question.clone()),
            weight: item.weight,
            not_applicable: None,
            options,
        };
        let not_applicable =
            item.condition.as_ref().map(|condition| format!("It does not hold that {condition}."));
        Self { rubric: Cow::Owned(rubric), not_applicable, cue, is_item: true }
    }

    /// Whether [`NOT_APPLICABLE`] is offered, behind the options of the scale.
    pub(crate) fn may_not_apply(&self) -> bool {
        self.not_applicable.is_some()
    }

    fn labels(&self) -> impl Iterator<Item = &str> {
        let options = self.rubric.options.iter().map(|option| option.label.as_str());
        options.chain(self.may_not_apply().then_some(NOT_APPLICABLE))
    }

    /// What may be answered. A piece of its own, so that its tokens are the same whether it stands at the end of the
    /// prefix, where all questions have the same answers, or at the beginning of each branch.
    pub(crate) fn offer(&self) -> String {
        let labels: Vec<&str> = self.labels().collect();
        format!("Answer only with one of: {}.\n\n", labels.join(", "))
    }

    /// What is asked behind the texts. A rubric may come from a stranger, so its words are ordinary text.
    pub(crate) fn branch(&self, wording: Wording, turn: &Turn, with_offer: bool) -> Branch {
        let mut text = Segments::new();
        if with_offer {
            text = text.user(self.offer());
        }
        text = text.user(self.text(wording)).then(&turn.close).template(self.cue);
        Branch { text, readout: Readout::options(self.labels().map(AnswerOption::new).collect()) }
    }

    fn text(&self, wording: Wording) -> String {
        let rubric = &self.rubric;
        let mut text = match (wording, self.is_item) {
            (Wording::Full, false) => {
                format!("Criterion: {}. {}\n", rubric.name.trim_end_matches('.'), rubric.criterion)
            }
            (Wording::Full, true) => format!("Criterion: {}\n", rubric.criterion),
            (Wording::Short, _) => {
                format!("{} ", rubric.question.as_deref().unwrap_or(&rubric.criterion))
            }
        };
        if wording == Wording::Full {
            for option in &rubric.options {
                if let Some(description) = &option.description {
                    text.push_str(&format!("{}: {description}\n", option.label));
                }
                for example in &option.examples {
                    text.push_str(&format!("An example of {}: {example}\n", option.label));
                }
            }
        }
        // A model that reads the short question was trained on the rubric and knows when it does not apply; of an item's
        // condition it knows nothing.
        if let Some(when) = self.not_applicable.as_ref().filter(|_| wording == Wording::Full || self.is_item)
        {
            text.push_str(&format!("{NOT_APPLICABLE}: {when}"));
            text.push(if wording == Wording::Full { '\n' } else { ' ' });
        }
        text.push_str(match (self.cue, self.is_item) {
            ("Answer:", true) => "What is the answer?",
            _ => "What does the response deserve?",
        });
        text
    }
}
