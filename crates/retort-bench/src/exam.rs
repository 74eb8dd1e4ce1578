//! What an exam is: inquiries, and figures from their answers. The model stands between the two and knows neither.

use std::collections::HashMap;

use retort_judge::{Inquiry, Verdict};
use serde::{Deserialize, Serialize};

use crate::Table;

/// A benchmark with its data.
///
/// It makes inquiries, and later figures from whatever answers there are; it never asks the model itself. So an exam
/// can be taken up where it stopped, and published verdicts can be put in place of a model's.
pub trait Exam {
    /// Its name on the command line.
    fn name(&self) -> &str;

    /// Everything that is to be asked, in a fixed order, each with an id of its own.
    fn asks(&self) -> Vec<Ask<'_>>;

    /// Figures from the answers. Items whose answers are absent or without a score are left out and counted.
    fn tables(&self, answers: &Answers) -> Vec<Table>;
}

/// One inquiry of an exam.
#[derive(Debug, Clone)]
pub struct Ask<'a> {
    /// Unique within the exam, and the same on every run.
    pub id: String,
    /// Name of each question, in the inquiry's order; unique within the ask.
    pub keys: Vec<&'static str>,
    /// The texts and questions.
    pub inquiry: Inquiry<'a>,
}

/// One line of an exam's file of answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// The ask.
    pub id: String,
    /// Its questions and what came out.
    pub verdicts: Vec<(String, Verdict)>,
    /// Tokens of the inquiry, the questions included, as far as the model counted them.
    pub tokens: usize,
}

/// All answers that there are.
#[derive(Debug, Clone, Default)]
pub struct Answers(HashMap<String, AnswerRecord>);

impl Answers {
    /// Adds an answer; a later one for the same ask stands.
    pub fn insert(&mut self, record: AnswerRecord) {
        self.0.insert(record.id.clone(), record);
    }

    /// Whether the ask has been answered.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// How many asks have been answered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The verdict on a question; `None` where it was not asked.
    #[must_use]
    pub fn verdict(&self, id: &str, key: &str) -> Option<&Verdict> {
        let record = self.0.get(id)?;
        record.verdicts.iter().find(|(known, _)| known == key).map(|(_, verdict)| verdict)
    }

    /// The expected value, if there is a score.
    #[must_use]
    pub fn expected(&self, id: &str, key: &str) -> Option<f64> {
        match self.verdict(id, key)? {
            Verdict::Scored { expected, .. } => Some(*expected),
            Verdict::Unscored(_) => None,
        }
    }

    /// The probability of an option by its label, among the options, if there is a score.
    #[must_use]
    pub fn probability(&self, id: &str, key: &str, label: &str) -> Option<f64> {
        match self.verdict(id, key)? {
            Verdict::Scored { distribution, .. } => {
                distribution.iter().find(|option| option.label == label).map(|option| option.probability)
            }
            Verdict::Unscored(_) => None,
        }
    }
}
