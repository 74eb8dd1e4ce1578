//! Answers made up for tests.

use retort_judge::{Method, OptionProbability, Unscored, Verdict};

use crate::{AnswerRecord, Answers, Figure, Table};

/// A score by these options: label, value, probability.
pub(super) fn scored(options: &[(&str, f64, f64)]) -> Verdict {
    let expected = options.iter().map(|(_, value, probability)| value * probability).sum();
    Verdict::Scored {
        expected,
        min: options.first().map_or(0.0, |option| option.1),
        max: options.last().map_or(1.0, |option| option.1),
        distribution: options
            .iter()
            .map(|(label, value, probability)| OptionProbability {
                label: (*label).to_owned(),
                value: *value,
                probability: *probability,
            })
            .collect(),
        mass: 1.0,
        method: Method::OptionProbabilities,
        truncated: false,
        not_applicable: None,
    }
}

/// A score from 1 to 5 that is certain of one number, or lies between two of them.
pub(super) fn rating(score: f64) -> Verdict {
    let share = (score - 1.0) / 4.0;
    scored(&[("1", 1.0, 1.0 - share), ("5", 5.0, share)])
}

/// The question does not arise.
pub(super) fn not_applicable() -> Verdict {
    Verdict::Unscored(Unscored::NotApplicable { probability: 0.9 })
}

pub(super) fn add(answers: &mut Answers, id: &str, verdicts: Vec<(&str, Verdict)>) {
    let verdicts = verdicts.into_iter().map(|(key, verdict)| (key.to_owned(), verdict)).collect();
    answers.insert(AnswerRecord { id: id.to_owned(), verdicts, tokens: 0 });
}

/// Both orders of a pair: the probability of its first where it stood first, and where it stood second.
pub(super) fn both(answers: &mut Answers, id: &str, [ab, ba]: [f64; 2]) {
    let options = |a: f64| scored(&[("B", 0.0, 1.0 - a), ("A", 1.0, a)]);
    add(answers, &format!("{id}/ab"), vec![("better", options(ab))]);
    add(answers, &format!("{id}/ba"), vec![("better", options(1.0 - ba))]);
}

/// The figure of a table.
pub(super) fn figure<'a>(tables: &'a [Table], part: &str, judge: &str, metric: &str) -> Option<&'a Figure> {
    let mut rows = tables.iter().flat_map(|table| &table.rows);
    rows.find(|row| row.part == part && row.judge == judge && row.metric == metric).map(|row| &row.figure)
}
