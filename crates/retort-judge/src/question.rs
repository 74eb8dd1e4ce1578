//! A question about a response: a rubric, or an item of a checklist that code does not decide.

use std::borrow::Cow;

use retort_checklist::{AnswerForm, Item};
use retort_lm::{Answer, AnswerOption, Branch, Readout, Segments, Turn};
use retort_rubric::{Rubric, RubricOption};

use crate::verdict::from_answer;
use crate::{Calibration, Verdict, Wording};

/// What is answered where the question does not arise. One token in the vocabularies of the models that we know, where
/// "N/A" has three, each of which would cost every question a row.
pub const NOT_APPLICABLE: &str = "NA";

/// What the model is asked, and what it may answer. The offer that it reads and the options whose probabilities are
/// read come from the one list [`labels`](Self::labels) (P11).
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// The criterion and its scale.
    pub(crate) rubric: Cow<'a, Rubric>,
    /// When the question does not arise, as a sentence; `None` where it always does.
    not_applicable: Option<String>,
    form: Form,
}

/// How a question is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// What does the response deserve?
    Rating,
    /// Is it so?
    Item { yes_no: bool },
    /// Whatever a task asks, in its own words.
    Task,
    /// The same, answered by free text.
    Text,
}

impl Form {
    /// What the model's answer begins with.
    fn cue(self) -> &'static str {
        match self {
            Self::Rating | Self::Item { yes_no: false } => "Score:",
            Self::Item { yes_no: true } | Self::Task | Self::Text => "Answer:",
        }
    }

    /// The last line of the question.
    fn last(self) -> &'static str {
        match self {
            Self::Item { yes_no: true } | Self::Task => "What is the answer?",
            Self::Text => "Write the answer.",
            Self::Rating | Self::Item { yes_no: false } => "What does the response deserve?",
        }
    }
}

impl<'a> Question<'a> {
    /// What the response deserves by a rubric.
    #[must_use]
    pub fn of_rubric(rubric: &'a Rubric) -> Self {
        let not_applicable = rubric.not_applicable.clone();
        Self { rubric: Cow::Borrowed(rubric), not_applicable, form: Form::Rating }
    }

    /// What a task asks: the rubric's criterion is the task's instructions, its options are what may be answered.
    #[must_use]
    pub fn of_task(rubric: &'a Rubric) -> Self {
        let not_applicable = rubric.not_applicable.clone();
        Self { rubric: Cow::Borrowed(rubric), not_applicable, form: Form::Task }
    }

    /// What a task asks whose answer is free text: nothing is offered, and the rubric's options are not looked at. Such a
    /// question can be planned, and its answer generated or trained on; it has no verdict.
    #[must_use]
    pub fn of_text(rubric: &'a Rubric) -> Self {
        Self { rubric: Cow::Borrowed(rubric), not_applicable: None, form: Form::Text }
    }

    /// The rubric that it asks by.
    #[must_use]
    pub fn rubric(&self) -> &Rubric {
        &self.rubric
    }

    /// The verdict that the model's answer to this question comes to; `truncated` says whether a text was cut.
    #[must_use]
    pub fn verdict(&self, answer: &Answer, truncated: bool) -> Verdict {
        self.verdict_by(None, answer, truncated)
    }

    /// The same, the probabilities set right by a calibration where there is one that knows the scale.
    #[must_use]
    pub fn verdict_by(&self, calibration: Option<&Calibration>, answer: &Answer, truncated: bool) -> Verdict {
        from_answer(&self.rubric, self.may_not_apply(), answer, truncated, calibration)
    }

    /// Yes and no are worth 1 and 0; 1 to 5 themselves.
    pub(crate) fn of_item(item: &Item) -> Self {
        let option = |label: &str, value, description: Option<&str>| RubricOption {
            label: label.to_owned(),
            value,
            description: description.map(str::to_owned),
            examples: Vec::new(),
        };
        let options = match item.answer {
            AnswerForm::YesNo => vec![option("no", 0.0, None), option("yes", 1.0, None)],
            AnswerForm::OneToFive => vec![
                option("1", 1.0, Some("Not at all.")),
                option("2", 2.0, Some("Hardly; much less than the reference answer does.")),
                option("3", 3.0, Some("In part.")),
                option("4", 4.0, Some("For the most part; nearly as well as the reference answer.")),
                option("5", 5.0, Some("Fully; as well as the reference answer, or better.")),
            ],
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
        let form = Form::Item { yes_no: item.answer == AnswerForm::YesNo };
        Self { rubric: Cow::Owned(rubric), not_applicable, form }
    }

    /// Whether [`NOT_APPLICABLE`] is offered, behind the options of the scale.
    pub(crate) fn may_not_apply(&self) -> bool {
        self.not_applicable.is_some()
    }

    fn labels(&self) -> impl Iterator<Item = &str> {
        let offered = if self.form == Form::Text { &[] } else { self.rubric.options.as_slice() };
        let options = offered.iter().map(|option| option.label.as_str());
        options.chain(self.may_not_apply().then_some(NOT_APPLICABLE))
    }

    /// What may be answered. A piece of its own, so that its tokens are the same whether it stands at the end of the
    /// prefix, where all questions have the same answers, or at the beginning of each branch.
    pub(crate) fn offer(&self) -> String {
        let labels: Vec<&str> = self.labels().collect();
        if labels.is_empty() {
            return String::new();
        }
        format!("Answer only with one of: {}.\n\n", labels.join(", "))
    }

    /// What is asked behind the texts. A rubric may come from a stranger, so its words are ordinary text.
    pub(crate) fn branch(&self, wording: Wording, turn: &Turn, with_offer: bool) -> Branch {
        let mut text = Segments::new();
        if with_offer {
            text = text.user(self.offer());
        }
        text = text.user(self.text(wording)).then(&turn.close).template(self.form.cue());
        Branch { text, readout: Readout::options(self.labels().map(AnswerOption::new).collect()) }
    }

    fn text(&self, wording: Wording) -> String {
        let rubric = &self.rubric;
        let full = wording.is_full_for(rubric);
        let mut text = match (full, self.form) {
            (true, Form::Rating) => {
                format!("Criterion: {}. {}\n", rubric.name.trim_end_matches('.'), rubric.criterion)
            }
            (true, Form::Item { .. }) => format!("Criterion: {}\n", rubric.criterion),
            (true, Form::Task | Form::Text) => format!("{}\n", rubric.criterion),
            (false, _) => {
                format!("{} ", rubric.question.as_deref().unwrap_or(&rubric.criterion))
            }
        };
        if full {
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
        let says_when = full || matches!(self.form, Form::Item { .. });
        if let Some(when) = self.not_applicable.as_ref().filter(|_| says_when) {
            text.push_str(&format!("{NOT_APPLICABLE}: {when}"));
            text.push(if full { '\n' } else { ' ' });
        }
        text.push_str(self.form.last());
        text
    }
}
