//! What an exam is: inquiries, and figures from their answers. The model stands between the two and knows neither.

use std::collections::HashMap;

use retort_judge::{Calibration, Inquiry, NOT_APPLICABLE, Verdict};
use serde::{Deserialize, Serialize};

use crate::{Measure, Table};

/// A benchmark with its data.
///
/// It makes inquiries, and later figures from whatever answers there are; it never asks the model itself. So an exam
/// can be taken up where it stopped, and published verdicts can be put in place of a model's.
pub trait Exam {
    /// Its name on the command line.
    fn name(&self) -> &str;

    /// Everything that is to be asked, in a fixed order, each with an id of its own.
    fn asks(&self) -> Vec<Ask<'_>>;

    /// What is measured, from the answers. Items whose answers are absent or without a score are left out and counted.
    /// Tables, rows, and each measure's items are the same and in the same order whatever was answered, so that two
    /// judges' answers can be compared item by item.
    fn measures<'a>(&'a self, answers: &Answers) -> Vec<Table<Measure<'a>>>;

    /// Figures from the answers.
    fn tables(&self, answers: &Answers) -> Vec<Table> {
        self.measures(answers).into_iter().map(Table::figures).collect()
    }
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
pub struct Answers {
    records: HashMap<String, AnswerRecord>,
    calibration: Option<Calibration>,
}

impl Answers {
    /// No answers yet, and all that will be are read by this calibration, if there is one.
    #[must_use]
    pub fn read_by(calibration: Option<Calibration>) -> Self {
        Self { records: HashMap::new(), calibration }
    }

    /// By what the answers' probabilities are set right.
    #[must_use]
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// Adds an answer; a later one for the same ask stands.
    pub fn insert(&mut self, record: AnswerRecord) {
        self.records.insert(record.id.clone(), record);
    }

    /// Whether the ask has been answered.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.records.contains_key(id)
    }

    /// How many asks have been answered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether none has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The verdict on a question; `None` where it was not asked.
    #[must_use]
    pub fn verdict(&self, id: &str, key: &str) -> Option<&Verdict> {
        let record = self.records.get(id)?;
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

    /// The log-odds of "yes" over "no" on a question, if there is a score, on the scale on which a difference of two is the
    /// log-odds of a preference: see [`Calibration::difference_factor`]. Log-odds, so that two certain answers can still be
    /// told apart.
    #[must_use]
    pub fn log_odds(&self, id: &str, key: &str) -> Option<f64> {
        let [yes, no] = ["yes", "no"].map(|label| self.probability(id, key, label));
        let [yes, no] = [yes?, no?].map(|share| libm::log(share.max(f64::MIN_POSITIVE)));
        Some((yes - no) * self.difference_factor(id, key))
    }

    fn difference_factor(&self, id: &str, key: &str) -> f64 {
        match (&self.calibration, self.verdict(id, key)) {
            (Some(calibration), Some(Verdict::Scored { distribution, not_applicable, .. })) => {
                let options = distribution.iter().map(|option| option.label.as_str());
                let labels: Vec<&str> = options.chain(not_applicable.map(|_| NOT_APPLICABLE)).collect();
                calibration.difference_factor(&labels)
            }
            _ => 1.0,
        }
    }
}
