//! What the protocols have in common.

use retort_stats::{Statistic, Undefined};

use crate::draw::drawn;
use crate::{DataDir, DataError, Example, Kind, Measure, Problem, Row, Task, TaskError, read, tasks};

/// Why an exam cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A task file is wrong.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// The data cannot be read at all.
    #[error(transparent)]
    Data(#[from] DataError),
    /// There is no such task.
    #[error("there is no task \"{name}\"; the files in the folder tasks name those that there are")]
    NoTask {
        /// Its name.
        name: String,
    },
    /// The exam is not for tasks of this kind.
    #[error("task \"{name}\" is no task for this exam, which needs {needed}")]
    Unsuitable {
        /// The task's name.
        name: String,
        /// What the exam needs.
        needed: &'static str,
    },
}

/// All examples of a task, and what could not be read.
#[derive(Debug, Clone)]
pub struct Gathered {
    /// The task.
    pub task: Task,
    /// Its examples, in the order of its files.
    pub examples: Vec<Example>,
    /// Rows that were skipped, and why.
    pub problems: Vec<Problem>,
}

/// Reads a task's examples into memory.
///
/// # Errors
/// No such task, or its files are absent or not in the form expected at all.
pub fn gather(name: &str, data: &DataDir) -> Result<Gathered, ProtocolError> {
    let task = tasks()?.get(name).ok_or_else(|| ProtocolError::NoTask { name: name.to_owned() })?.clone();
    let (mut examples, mut problems) = (Vec::new(), Vec::new());
    read(&task, data, &mut |item| match item {
        Ok(example) => examples.push(example),
        Err(problem) => problems.push(problem),
    })?;
    Ok(Gathered { task, examples, problems })
}

pub(super) fn needs_pairs(task: &Task) -> ProtocolError {
    let needed = match task.kind {
        Kind::Pairwise => "[alone] in its file",
        _ => "a pairwise task",
    };
    ProtocolError::Unsuitable { name: task.name.clone(), needed }
}

pub(super) fn row<'a>(part: &str, judge: &str, metric: &str, figure: Measure<'a>) -> Row<Measure<'a>> {
    Row { part: part.to_owned(), judge: judge.to_owned(), metric: metric.to_owned(), figure }
}

/// What a table says of rows that could not be read; nothing where all could.
pub(super) fn unread(problems: &[Problem]) -> Option<String> {
    let first = problems.first()?;
    Some(format!(
        "{} rows of the data could not be read and are left out; the first: {first}",
        problems.len()
    ))
}

/// A number from 0 (inclusive) to 1 (exclusive) that depends on nothing but seed and id.
pub(super) fn uniform(seed: u64, id: &str) -> f64 {
    // The upper 53 bits are as many as a number has.
    (drawn(seed, id) >> 11) as f64 / (1u64 << 53) as f64
}

/// Characters of a text.
pub(super) fn characters(text: &str) -> f64 {
    text.chars().count() as f64
}

/// A figure of no items.
pub(super) fn none<T>() -> Statistic<T> {
    Statistic::Undefined(Undefined::TooFew { needed: 1, found: 0 })
}

/// The mean of some of the values; undefined where there are none.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Statistic {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { Statistic::Value(sum / count) } else { none() }
}

/// The different values in the order of their first appearance.
pub(super) fn in_order<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known = Vec::new();
    for value in values {
        if !known.contains(&value) {
            known.push(value);
        }
    }
    known
}

#[cfg(test)]
pub(super) mod testing {
    use retort_judge::{Method, OptionProbability, Unscored, Verdict};

    use crate::{AnswerRecord, Answers, Figure, Table};

    /// A verdict over options with these values and probabilities.
    pub(in crate::protocol) fn scored(options: &[(&str, f64, f64)]) -> Verdict {
        let distribution = options.iter().map(|&(label, value, probability)| OptionProbability {
            label: label.to_owned(),
            value,
            probability,
        });
        Verdict::Scored {
            expected: options.iter().map(|(_, value, probability)| value * probability).sum(),
            min: options.first().unwrap().1,
            max: options.last().unwrap().1,
            distribution: distribution.collect(),
            mass: 1.0,
            method: Method::OptionProbabilities,
            truncated: false,
            not_applicable: None,
        }
    }

    /// No and yes, with the probability of yes.
    pub(in crate::protocol) fn yes(probability: f64) -> Verdict {
        scored(&[("no", 0.0, 1.0 - probability), ("yes", 1.0, probability)])
    }

    /// B and A, with the probability of A.
    pub(in crate::protocol) fn a(probability: f64) -> Verdict {
        scored(&[("B", 0.0, 1.0 - probability), ("A", 1.0, probability)])
    }

    pub(in crate::protocol) fn unscored() -> Verdict {
        Verdict::Unscored(Unscored::Cancelled)
    }

    pub(in crate::protocol) fn answers(given: &[(&str, &str, Verdict)]) -> Answers {
        let mut answers = Answers::default();
        for (id, key, verdict) in given {
            answers.insert(AnswerRecord {
                id: (*id).to_owned(),
                verdicts: vec![((*key).to_owned(), verdict.clone())],
                tokens: 0,
            });
        }
        answers
    }

    /// The figure at this place, which must be there once.
    pub(in crate::protocol) fn figure<'a>(
        tables: &'a [Table],
        part: &str,
        judge: &str,
        metric: &str,
    ) -> &'a Figure {
        let rows: Vec<_> = tables
            .iter()
            .flat_map(|table| &table.rows)
            .filter(|row| row.part == part && row.judge == judge && row.metric == metric)
            .collect();
        assert_eq!(rows.len(), 1, "{part} {judge} {metric} in {tables:#?}");
        &rows[0].figure
    }

    pub(in crate::protocol) fn value(tables: &[Table], part: &str, judge: &str, metric: &str) -> f64 {
        figure(tables, part, judge, metric).value.unwrap()
    }

    #[track_caller]
    pub(in crate::protocol) fn close(found: f64, right: f64) {
        assert!((found - right).abs() < 1e-12, "{found} instead of {right}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_numbers_lie_in_their_range_and_depend_on_seed_and_id_only() {
        let numbers: Vec<f64> = (0..1000).map(|n| uniform(0, &format!("id {n}"))).collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / 1000.0;
        // The mean of 1,000 uniform numbers has a standard deviation of 0.0091.
        assert!((mean - 0.5).abs() < 0.04, "{mean}");
        assert_eq!(uniform(0, "id 7").to_bits(), numbers[7].to_bits());
        assert_ne!(uniform(1, "id 7").to_bits(), numbers[7].to_bits());
    }
}
