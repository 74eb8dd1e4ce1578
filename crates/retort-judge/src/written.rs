//! Verdicts that a judge with a format of its own has written: read strictly, or not at all.
//!
//! Some public models were trained to write their reasons first and then a score in a fixed form. What they write may quote
//! the response, and a response may hold anything, a score in that very form among it. So the reader takes only what stands
//! where the form puts the verdict, at the end (P1); only whole words (P2); only what the rubric offers (P3); and where that
//! is not one answer, there is no score but a reason (P5, P8). The form is said once, in [`WrittenForm`]: [`WrittenForm::write`]
//! and [`WrittenForm::read`] belong together (P11).

use retort_lm::{Generated, StopReason};
use retort_rubric::Rubric;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::question::NOT_APPLICABLE;
use crate::verdict::{Method, OptionProbability, Unscored, Verdict};

/// What begins and ends a model's thinking before it answers.
const THINKING: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// The form in which a judge writes its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WrittenForm {
    /// Prometheus 2 (Kim et al., 2024): the feedback, then `[RESULT] 4`.
    Prometheus,
    /// Flow Judge: `<feedback>…</feedback>`, then `<score>4</score>`.
    FlowJudge,
    /// Selene 1 Mini (Alexandru et al., 2025): `**Reasoning:** …`, then `**Result:** 4`; or one JSON object with `result`
    /// or `score`.
    Selene,
    /// GLIDER (Deshpande et al., 2024): `<reasoning>…</reasoning>`, `<highlight>…</highlight>`, then `<score>4</score>`.
    Glider,
}

impl WrittenForm {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Prometheus, Self::FlowJudge, Self::Selene, Self::Glider];

    /// A verdict as such a judge writes it.
    #[must_use]
    pub fn write(self, reasons: &str, label: &str) -> String {
        match self {
            Self::Prometheus => format!("{reasons} [RESULT] {label}"),
            Self::FlowJudge => format!("<feedback>\n{reasons}\n</feedback>\n<score>\n{label}\n</score>"),
            Self::Selene => format!("**Reasoning:** {reasons}\n\n**Result:** {label}"),
            Self::Glider => format!(
                "<reasoning>\n{reasons}\n</reasoning>\n<highlight>\n[]\n</highlight>\n<score>\n{label}\n</score>"
            ),
        }
    }

    /// The verdict that a judge has written by this rubric; `truncated` says whether a text that it read was cut.
    #[must_use]
    pub fn read(self, written: &Generated, rubric: &Rubric, truncated: bool) -> Verdict {
        // Where it stopped on its own, its last word is whole.
        let ended = matches!(written.stop, StopReason::EndOfText | StopReason::Stopped);
        let found = answer(&written.text, ended).and_then(|text| match self {
            Self::Prometheus => last_line(text, &["[RESULT]"], ended),
            Self::Selene if text.contains(RESULTS[0]) || text.contains(RESULTS[1]) => {
                last_line(text, &RESULTS, ended)
            }
            Self::Selene => json(text, ended),
            Self::FlowJudge => tagged(text, &["feedback"], ended),
            Self::Glider => tagged(text, &["reasoning", "highlight"], ended),
        });
        match found.and_then(|found| verdict(&found, rubric, truncated)) {
            Ok(verdict) => verdict,
            Err(reason) => Verdict::Unscored(reason),
        }
    }
}

/// How Selene's last line begins.
const RESULTS: [&str; 2] = ["**Result:**", "**Result**:"];

/// What was written behind the thinking (P7).
fn answer(text: &str, ended: bool) -> Result<&str, Unscored> {
    let mut rest = text;
    for (open, close) in THINKING {
        // A template may have opened it in the prompt, so that only its end was written.
        if let Some(at) = rest.rfind(close) {
            rest = &rest[at + close.len()..];
        }
        // Thinking comes first. What opens it later is a quotation.
        if rest.trim_start().starts_with(open) {
            return Err(Unscored::Incomplete);
        }
    }
    if rest.trim().is_empty() {
        return Err(if ended { Unscored::NoVerdict } else { Unscored::Incomplete });
    }
    Ok(rest)
}

/// What stands behind the last of these marks, to the end of the text.
fn last_line(text: &str, marks: &[&str], ended: bool) -> Result<String, Unscored> {
    let behind = marks.iter().filter_map(|mark| text.rfind(mark).map(|at| at + mark.len())).max();
    let behind = behind.ok_or_else(|| absent(ended))?;
    let said = &text[behind..];
    let trimmed = said.trim();
    if trimmed.is_empty() {
        return Err(absent(ended));
    }
    // More than one line, and the mark was no last one but part of a quotation.
    if trimmed.contains('\n') {
        return Err(absent(ended));
    }
    // Where it was stopped, "1" may be what was written of "10".
    if !ended && said.trim_start() == trimmed {
        return Err(Unscored::Incomplete);
    }
    Ok(trimmed.to_owned())
}

/// The one score behind the closing of these sections, which may quote anything.
fn tagged(text: &str, sections: &[&str], ended: bool) -> Result<String, Unscored> {
    let mut rest = text;
    for section in sections {
        let close = format!("</{section}>");
        match rest.rfind(&close) {
            Some(at) => rest = &rest[at + close.len()..],
            None if rest.trim_start().starts_with(&format!("<{section}>")) => return Err(absent(ended)),
            None => {}
        }
    }
    let (open, close) = ("<score>", "</score>");
    let mut scores = rest.split(open).skip(1).map(|part| part.split_once(close));
    let Some(first) = scores.next() else { return Err(absent(ended)) };
    let Some((said, behind)) = first else { return Err(absent(ended)) };
    let said = said.trim();
    for other in scores {
        match other {
            Some((other, _)) if other.trim() == said => {}
            _ => return Err(Unscored::Ambiguous),
        }
    }
    // Behind the last score there is nothing; before it nothing but the sections.
    let last = rest.rsplit_once(close).map_or(behind, |(_, behind)| behind);
    let before = rest.split_once(open).map_or("", |(before, _)| before);
    if !last.trim().is_empty() || !before.trim().is_empty() {
        return Err(Unscored::NoVerdict);
    }
    Ok(said.to_owned())
}

/// What is read of a JSON verdict. A key that stands there twice is refused by serde.
#[derive(Deserialize)]
struct JsonVerdict {
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    score: Option<Value>,
}

/// The verdict of the one JSON object that has one, bare, in a fence or behind words (P5).
fn json(text: &str, ended: bool) -> Result<String, Unscored> {
    let mut found = None;
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let from = &rest[at..];
        let mut objects = serde_json::Deserializer::from_str(from).into_iter::<Value>();
        match objects.next() {
            // What stands within an object is part of it, whatever it looks like.
            Some(Ok(_)) => {
                let (object, behind) = from.split_at(objects.byte_offset());
                rest = behind;
                let read: Result<JsonVerdict, _> = serde_json::from_str(object);
                let said = match read {
                    Ok(JsonVerdict { result: None, score: None }) => continue,
                    Ok(
                        JsonVerdict { result: Some(one), score: None }
                        | JsonVerdict { result: None, score: Some(one) },
                    ) => number(&one),
                    Ok(_) | Err(_) => return Err(Unscored::Ambiguous),
                };
                if found.replace(said.ok_or(Unscored::NoVerdict)?).is_some() {
                    return Err(Unscored::Ambiguous);
                }
            }
            Some(Err(error)) if error.is_eof() => return Err(absent(ended)),
            Some(Err(_)) | None => rest = &from[1..],
        }
    }
    let said = found.ok_or_else(|| absent(ended))?;
    // Behind the object there is nothing but what closes its fence.
    if !rest.trim().trim_matches('`').trim().is_empty() {
        return Err(Unscored::NoVerdict);
    }
    Ok(said)
}

/// A JSON value as the text of a label (P6).
fn number(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => {
            // 4.0 is the label 4.
            let text = number.to_string();
            Some(text.strip_suffix(".0").map(str::to_owned).unwrap_or(text))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn absent(ended: bool) -> Unscored {
    if ended { Unscored::NoVerdict } else { Unscored::Incomplete }
}

/// The verdict of a label that was written, if it was offered.
fn verdict(said: &str, rubric: &Rubric, truncated: bool) -> Result<Verdict, Unscored> {
    // What people put around a number that is meant for people: emphasis, a bracket, a full stop.
    let bare = said.trim_matches('*').trim();
    let bare = bare.strip_suffix('.').unwrap_or(bare).trim_end();
    let bare = bare.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(bare).trim();
    let label = of_the_highest(bare, rubric).unwrap_or(bare);
    if rubric.not_applicable.is_some()
        && [NOT_APPLICABLE, "N/A"].iter().any(|na| label.eq_ignore_ascii_case(na))
    {
        return Err(Unscored::NotApplicable { probability: 1.0 });
    }
    let exact = rubric.options.iter().position(|option| option.label == label);
    let mut alike = (0..rubric.options.len())
        .filter(|&at| rubric.options.get(at).is_some_and(|option| option.label.eq_ignore_ascii_case(label)));
    let chosen = match (exact, alike.next(), alike.next()) {
        (Some(at), ..) | (None, Some(at), None) => at,
        _ => return Err(Unscored::NotOffered { said: shortened(said) }),
    };
    let failed = |message: String| Unscored::Failed { code: "scale".into(), message };
    let scale = rubric.scale().map_err(|error| failed(error.to_string()))?;
    let distribution: Vec<OptionProbability> = rubric
        .options
        .iter()
        .enumerate()
        .map(|(at, option)| OptionProbability {
            label: option.label.clone(),
            value: option.value,
            probability: if at == chosen { 1.0 } else { 0.0 },
        })
        .collect();
    let expected = rubric.options.get(chosen).map(|option| option.value);
    Ok(Verdict::Scored {
        expected: expected.ok_or_else(|| failed("the option is not there".into()))?,
        min: scale.min(),
        max: scale.max(),
        distribution,
        mass: 1.0,
        method: Method::Written,
        truncated,
        not_applicable: None,
    })
}

/// The 4 of "4/5" and of "4 out of 5", where 5 is the rubric's highest label (P6).
fn of_the_highest<'a>(said: &'a str, rubric: &Rubric) -> Option<&'a str> {
    let highest = rubric.options.last()?.label.as_str();
    let (label, of) = said.split_once('/').or_else(|| said.split_once(" out of "))?;
    (of.trim() == highest).then_some(label.trim())
}

/// So much of what was written that a person can see what it was.
fn shortened(said: &str) -> String {
    const MOST: usize = 40;
    if said.chars().count() <= MOST {
        return said.to_owned();
    }
    said.chars().take(MOST).chain(['…']).collect()
}
