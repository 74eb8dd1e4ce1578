//! What a comparison found: cases, ratios, and how they are printed and kept.

use std::fmt;

use serde_json::{Value, json};

use crate::bench::contender::Contender;
use crate::bench::machine::Machine;
use crate::error::Error;

/// What a comparison found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// What is compared, for people.
    pub(crate) title: String,
    /// How, and what else should be known.
    pub(crate) notes: Vec<String>,
    pub(crate) cases: Vec<Case>,
    pub(crate) ratios: Vec<Ratio>,
}

/// One way to do something, measured in every round.
#[derive(Debug, Default)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// What the contender answered, round by round.
    pub(crate) answers: Vec<Value>,
}

/// Two cases against each other.
#[derive(Debug)]
pub(crate) struct Ratio {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) wanted: Wanted,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Wanted {
    AtLeast(f64),
    AtMost(f64),
    /// It is only shown.
    Nothing,
}

/// A case and who is asked for it.
pub(crate) struct Turn {
    name: String,
    who: usize,
    question: Value,
}

impl Turn {
    /// `who` is an index into the contenders.
    pub(crate) fn new(name: impl Into<String>, who: usize, question: Value) -> Self {
        Self { name: name.into(), who, question }
    }
}

/// Lets the cases take turns, round after round, so that a machine whose speed drifts favours none of them.
pub(crate) fn take_turns(
    rounds: u32,
    contenders: &mut [&mut Contender],
    turns: &[Turn],
) -> Result<Vec<Case>, Error> {
    let mut cases: Vec<Case> =
        turns.iter().map(|turn| Case { name: turn.name.clone(), answers: Vec::new() }).collect();
    for round in 1..=rounds {
        for (turn, case) in turns.iter().zip(&mut cases) {
            let Some(contender) = contenders.get_mut(turn.who) else {
                return Err(Error::Message(format!("nobody is there for the case {}", turn.name)));
            };
            let answer = contender.ask(&turn.question)?;
            let Some(seconds) =
                answer.get("seconds").and_then(Value::as_f64).filter(|&seconds| seconds > 0.0)
            else {
                return Err(Error::Message(format!(
                    "the case {} was answered without its seconds",
                    turn.name
                )));
            };
            eprintln!("round {round} of {rounds}: {}: {seconds:.3} s", turn.name);
            case.answers.push(answer);
        }
    }
    Ok(cases)
}

impl Case {
    /// The median over the rounds of a number in the answers; a list counts as its sum.
    pub(crate) fn median(&self, field: &str) -> Option<f64> {
        let number = |answer: &Value| match answer.get(field)? {
            Value::Array(parts) => parts.iter().map(Value::as_f64).sum(),
            value => value.as_f64(),
        };
        median(self.answers.iter().filter_map(number).collect())
    }

    /// Never absent, since [`take_turns`] has seen it.
    pub(crate) fn seconds(&self) -> f64 {
        self.median("seconds").unwrap_or(f64::NAN)
    }

    /// Tokens computed.
    pub(crate) fn tokens(&self) -> Option<f64> {
        self.median("tokens").or_else(|| self.median("computed"))
    }

    /// Tokens computed per second.
    pub(crate) fn rate(&self) -> Option<f64> {
        Some(self.tokens()? / self.seconds())
    }
}

/// The middle one; the mean of the two middle ones of an even number.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (high, low) = (values.get(values.len() / 2)?, values.get((values.len() - 1) / 2)?);
    Some((low + high) / 2.0)
}

impl Wanted {
    /// `None` where nothing is wanted.
    pub(crate) fn is_met(self, value: f64) -> Option<bool> {
        match self {
            Self::AtLeast(least) => Some(value >= least),
            Self::AtMost(most) => Some(value <= most),
            Self::Nothing => None,
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, "at least {least}"),
            Self::AtMost(most) => write!(f, "at most {most}"),
            Self::Nothing => Ok(()),
        }
    }
}

impl Report {
    pub(crate) fn json(&self, name: &str, rounds: u32, machine: &Machine) -> Value {
        let cases = self.cases.iter().map(|case| {
            json!({
                "name": case.name,
                "median_seconds": case.seconds(),
                "tokens": case.tokens(),
                "tokens_per_second": case.rate(),
                "rounds": case.answers,
            })
        });
        let ratios = self.ratios.iter().map(|ratio| {
            let (least, most) = match ratio.wanted {
                Wanted::AtLeast(least) => (Some(least), None),
                Wanted::AtMost(most) => (None, Some(most)),
                Wanted::Nothing => (None, None),
            };
            json!({
                "name": ratio.name,
                "value": ratio.value,
                "at_least": least,
                "at_most": most,
                "met": ratio.wanted.is_met(ratio.value),
            })
        });
        json!({
            "format": "retort.bench/1",
            "name": name,
            "title": self.title,
            "command": format!("cargo xtask bench --only {name} --rounds {rounds}"),
            "machine": machine.json(),
            "notes": self.notes,
            "cases": cases.collect::<Value>(),
            "ratios": ratios.collect::<Value>(),
        })
    }
}

/// Markdown, so that it can be pasted into BENCHMARKS.md.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title)?;
        for note in &self.notes {
            writeln!(f, "- {note}")?;
        }
        writeln!(f, "\n| case | seconds | tokens | tokens/s | processors at work |\n|---|---|---|---|---|")?;
        for case in &self.cases {
            let number =
                |value: Option<f64>, digits| value.map_or(String::new(), |value| format!("{value:.digits$}"));
            writeln!(
                f,
                "| {} | {:.3} | {} | {} | {} |",
                case.name,
                case.seconds(),
                number(case.tokens(), 0),
                number(case.rate(), 1),
                number(case.median("busy"), 1)
            )?;
        }
        if !self.ratios.is_empty() {
            writeln!(f, "\n| ratio | measured | wanted | |\n|---|---|---|---|")?;
        }
        for ratio in &self.ratios {
            let met = match ratio.wanted.is_met(ratio.value) {
                Some(true) => "met",
                Some(false) => "missed",
                None => "",
            };
            writeln!(f, "| {} | **{}** | {} | {met} |", ratio.name, three_digits(ratio.value), ratio.wanted)?;
        }
        Ok(())
    }
}

/// Three digits that count, at least.
fn three_digits(value: f64) -> String {
    let digits = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        0.1.. => 3,
        _ => 4,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_by_hand() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 8.0]), Some(3.0));
        assert_eq!(median(vec![5.0]), Some(5.0));
        assert_eq!(median(vec![]), None);
        let answers =
            vec![json!({ "computed": [1, 2] }), json!({ "computed": [4, 5] }), json!({ "computed": [3] })];
        // Sums 3, 9 and 3.
        assert_eq!(Case { name: String::new(), answers }.tokens(), Some(3.0));
    }

    #[test]
    fn a_report_says_which_targets_are_met() {
        let case = |name: &str, seconds: f64| Case {
            name: name.to_owned(),
            answers: vec![json!({ "seconds": seconds, "tokens": 10 })],
        };
        let ratio = |value, wanted| Ratio { name: "r".to_owned(), value, wanted };
        let report = Report {
            title: "T".to_owned(),
            notes: vec!["n".to_owned()],
            cases: vec![case("a", 0.5), case("b", 2.0)],
            ratios: vec![
                ratio(4.0, Wanted::AtLeast(5.0)),
                ratio(0.25, Wanted::AtMost(0.25)),
                ratio(123.4, Wanted::Nothing),
            ],
        };
        let text = report.to_string();
        for line in [
            "| a | 0.500 | 10 | 20.0 |  |",
            "| r | **4.00** | at least 5 | missed |",
            "| r | **0.250** | at most 0.25 | met |",
            "| r | **123** |  |  |",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
    }
}
