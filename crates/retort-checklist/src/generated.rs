//! Typed reading of what a model wrote: one JSON value, a score, or a label; otherwise the reason why there is none.
//!
//! A reader here never guesses. Text that can be read in two ways, ends in its middle, or holds something that was not
//! offered, is an error, and an error is never a score, a label or a tie.
//!
//! What a model thought aloud is not what it answered: `<think>…</think>` is passed over, and so is what stands before a
//! `</think>` that the chat template opened. A thought without an end means that the answer never came.
//!
//! Every reader takes time linear in the text and panics on nothing.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use unicode_normalization::UnicodeNormalization;

use crate::text::excerpt;

const THOUGHT: &str = "<think>";
const THOUGHT_END: &str = "</think>";
const FENCE: &str = "```";

/// Words that announce an answer when they are the last before it, as in "Final score: 4".
const KEYS: &[&str] = &[
    "answer",
    "category",
    "choice",
    "class",
    "grade",
    "judgement",
    "judgment",
    "label",
    "mark",
    "rating",
    "result",
    "scale",
    "score",
    "value",
    "verdict",
];
/// Words that may stand between such a word and the answer.
const FILLERS: &[&str] = &["is", "of", "out", "from", "between", "on", "a", "the", "in"];

/// Why a text that a model wrote cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GeneratedError {
    /// What was asked for is not there.
    #[error("the model's text holds no {wanted}; ask again, or ask another model")]
    Nothing {
        /// "JSON", "score" or "label".
        wanted: &'static str,
    },
    /// The text ends before the answer does.
    #[error("the model's text ends within {within}; let it write more tokens")]
    Incomplete {
        /// "its thinking" or "its JSON".
        within: &'static str,
    },
    /// There is something that begins like JSON and is none.
    #[error(
        "the model's JSON is broken in line {line} of its text: {message}; ask again, or ask another model"
    )]
    Malformed {
        /// From 1, in the whole text.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// There are two answers that differ.
    #[error("the model's text holds two answers, “{first}” and “{second}”; ask again for one alone")]
    Ambiguous {
        /// The first of them.
        first: String,
        /// One that differs from it.
        second: String,
    },
    /// A number that is not on the scale.
    #[error("the model answered {found}, which is not on the scale from {min} to {max}; ask again")]
    OutOfRange {
        /// The number.
        found: f64,
        /// The scale's lowest value.
        min: f64,
        /// The scale's highest value.
        max: f64,
    },
    /// A range, a share or a spelling of a number that does not say which value of the scale is meant.
    #[error(
        "the model answered “{found}”, which is no single value on the scale from {min} to {max}; ask again"
    )]
    Unclear {
        /// The passage.
        found: String,
        /// The scale's lowest value.
        min: f64,
        /// The scale's highest value.
        max: f64,
    },
    /// An answer that was not offered.
    #[error("the model answered “{found}”, which was not offered; ask again, or ask another model")]
    NotOffered {
        /// The answer.
        found: String,
    },
    /// The caller's scale is none: its ends are no finite numbers, or the wrong way round.
    #[error("{min} to {max} is no scale; give two finite numbers, the smaller first")]
    NoScale {
        /// Given as the lowest value.
        min: f64,
        /// Given as the highest value.
        max: f64,
    },
}

impl GeneratedError {
    /// A stable name for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Nothing { .. } => "nothing_found",
            Self::Incomplete { .. } => "incomplete",
            Self::Malformed { .. } => "malformed",
            Self::Ambiguous { .. } => "ambiguous",
            Self::OutOfRange { .. } => "out_of_range",
            Self::Unclear { .. } => "unclear",
            Self::NotOffered { .. } => "not_offered",
            Self::NoScale { .. } => "no_scale",
        }
    }
}

/// The one JSON value that a model wrote, in a code block, within prose or alone.
///
/// Objects and arrays are found anywhere; a text, number, boolean or null only where it is the whole answer. The same
/// value twice is one value. JSON is what RFC 8259 says, without a key that occurs twice in an object.
///
/// ```
/// use retort_checklist::read_json;
///
/// let value = read_json("<think>{\"a\": 0}?</think>Here it is:\n```json\n{\"a\": 1}\n```")?;
/// assert_eq!(value["a"], 1);
/// assert!(read_json("{\"a\": 1} or rather {\"a\": 2}").is_err());
/// # Ok::<(), retort_checklist::GeneratedError>(())
/// ```
///
/// # Errors
/// [`Nothing`](GeneratedError::Nothing), [`Incomplete`](GeneratedError::Incomplete) where the text ends in the middle of
/// the value or a thought, [`Malformed`](GeneratedError::Malformed) where brackets hold what was meant to be JSON, and
/// [`Ambiguous`](GeneratedError::Ambiguous) where two values differ. One value beside a broken one is an error too: it may
/// be a part of it.
pub fn read_json(text: &str) -> Result<Value, GeneratedError> {
    // Alone, it may hold anything within its texts, such as the marks of a thought.
    if let Ok(Strict(value)) = serde_json::from_str(text.trim()) {
        return Ok(value);
    }
    let mut scan = Scan::default();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        at += scan.step(rest, at)?;
    }
    if let Some((at, problem)) = scan.problem {
        return Err(problem.placed(text, at));
    }
    if let Some(value) = scan.found {
        return Ok(value);
    }
    let answer = text.get(scan.from..).unwrap_or_default().trim();
    let inner =
        answer.strip_prefix(FENCE).and_then(|rest| rest.strip_suffix(FENCE)).map_or(answer, |inner| {
            // Behind the fence, the language may be named.
            inner.split_once('\n').map_or(inner, |(_, lines)| lines)
        });
    match serde_json::from_str(inner) {
        Ok(Strict(value)) => Ok(value),
        Err(_) => Err(GeneratedError::Nothing { wanted: "JSON" }),
    }
}

/// What was found so far, on the way through a text.
///
/// JSON is parsed only where no bracket is open. Brackets that hold no JSON are followed to their end, so that no part of
/// them is taken for a value, and no passage is parsed twice.
#[derive(Default)]
struct Scan {
    /// Where the answer begins: behind the last thought.
    from: usize,
    found: Option<Value>,
    /// The first thing that is wrong, and its place.
    problem: Option<(usize, Problem)>,
    /// Brackets open that hold no JSON.
    depth: usize,
    /// Within such brackets: whether a text is open, as far as can be told.
    in_string: bool,
}

enum Problem {
    Broken(serde_json::Error),
    Nested,
    Two(Value, Value),
}

impl Problem {
    fn placed(self, text: &str, at: usize) -> GeneratedError {
        let lines = |end: usize| text.as_bytes().iter().take(end).filter(|byte| **byte == b'\n').count();
        match self {
            Self::Two(first, second) => GeneratedError::Ambiguous {
                first: excerpt(&first.to_string()),
                second: excerpt(&second.to_string()),
            },
            Self::Broken(error) if error.is_eof() => GeneratedError::Incomplete { within: "its JSON" },
            Self::Broken(error) => {
                let message = error.to_string();
                let message =
                    message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
                GeneratedError::Malformed {
                    line: lines(at) + error.line().max(1),
                    message: message.to_owned(),
                }
            }
            Self::Nested => GeneratedError::Malformed {
                line: lines(at) + 1,
                message: "it stands within brackets that hold no JSON".to_owned(),
            },
        }
    }
}

impl Scan {
    fn forget(&mut self, from: usize) {
        *self = Self { from, ..Self::default() };
    }

    fn blame(&mut self, at: usize, problem: Problem) {
        self.problem.get_or_insert((at, problem));
    }

    /// Looks at the beginning of what is left, and says how many bytes are done.
    fn step(&mut self, rest: &str, at: usize) -> Result<usize, GeneratedError> {
        let first = rest.chars().next().map_or(1, char::len_utf8);
        match rest.as_bytes().first() {
            Some(b'<') if !self.in_string => {
                if rest.starts_with(THOUGHT_END) {
                    self.forget(at + THOUGHT_END.len());
                    return Ok(THOUGHT_END.len());
                }
                if rest.starts_with(THOUGHT) {
                    let end = rest
                        .find(THOUGHT_END)
                        .ok_or(GeneratedError::Incomplete { within: "its thinking" })?;
                    // What was said before a thought still counts.
                    return Ok(end + THOUGHT_END.len());
                }
            }
            Some(b'`') if rest.starts_with(FENCE) => (self.depth, self.in_string) = (0, false),
            // No text of JSON goes over the end of a line.
            Some(b'\n') => self.in_string = false,
            Some(b'"') if self.depth > 0 => self.in_string = !self.in_string,
            Some(b'\\') if self.in_string => {
                let escaped = rest.chars().nth(1).filter(|c| *c != '\n').map_or(0, char::len_utf8);
                return Ok(first + escaped);
            }
            Some(b'{' | b'[') if !self.in_string => {
                if self.depth == 0 {
                    let mut values = serde_json::Deserializer::from_str(rest).into_iter();
                    match values.next() {
                        Some(Ok(Strict(value))) => {
                            match self.found.take() {
                                Some(other) if other != value => self.blame(at, Problem::Two(other, value)),
                                _ => self.found = Some(value),
                            }
                            return Ok(values.byte_offset().max(first));
                        }
                        Some(Err(error)) if error.is_eof() || is_meant_as_json(rest) => {
                            self.blame(at, Problem::Broken(error))
                        }
                        _ => {}
                    }
                } else if is_meant_as_json(rest) {
                    self.blame(at, Problem::Nested);
                }
                self.depth += 1;
            }
            Some(b'}' | b']') if !self.in_string => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        Ok(first)
    }
}

/// Whether what begins with a bracket goes on as JSON does, or as what people write for it (`{'a': 1}`, `{a: 1}`), and not
/// as prose (`[sic]`, `{name}`).
fn is_meant_as_json(text: &str) -> bool {
    let mut chars = text.chars();
    let is_object = chars.next() == Some('{');
    let inner = chars.as_str().trim_start();
    match inner.chars().next() {
        None | Some('"' | '\'') => true,
        Some(c) if is_object => {
            let after = inner.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
            (c.is_alphanumeric() || c == '_') && after.trim_start().starts_with(':')
        }
        Some(c) => matches!(c, '{' | '[' | '-') || c.is_ascii_digit(),
    }
}

/// A JSON value in which no object has a key twice: the first and the last would be two answers.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Strict, E> {
        Ok(Strict(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Strict, E> {
        Ok(Strict(Value::Bool(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Strict, E> {
        Ok(Strict(Value::from(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Strict, E> {
        Ok(Strict(Value::from(value)))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Strict, E> {
        // Never null for a number that is too large.
        Number::from_f64(value)
            .map(|number| Strict(Value::Number(number)))
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Strict, E> {
        Ok(Strict(Value::from(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Strict, A::Error> {
        let mut items = Vec::new();
        while let Some(Strict(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Strict(Value::Array(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Strict, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = map.next_entry::<String, Strict>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key “{}” occurs twice", excerpt(&key))));
            }
            object.insert(key, value);
        }
        Ok(Strict(Value::Object(object)))
    }
}

/// What a model said behind its thoughts.
fn spoken(text: &str) -> Result<&str, GeneratedError> {
    let answer = text.rfind(THOUGHT_END).and_then(|at| text.get(at + THOUGHT_END.len()..)).unwrap_or(text);
    if answer.contains(THOUGHT) {
        return Err(GeneratedError::Incomplete { within: "its thinking" });
    }
    Ok(answer)
}

/// Marks that may stand round an answer.
fn is_mark(c: char) -> bool {
    c.is_whitespace()
        || (c.is_ascii_punctuation() && !matches!(c, '-' | '+' | '%' | '$'))
        || "“”„‘’«»…。—–".contains(c)
}

/// Whether a text in small letters ends by announcing an answer: "final score (of 10):", "the grade is".
fn announces(before: &str) -> bool {
    let mut words = before.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).rev();
    words.find(|word| !FILLERS.contains(word)).is_some_and(|word| KEYS.contains(&word))
}

/// The score that a model wrote: a number that stands on a line alone, or behind a word such as "score" or "rating".
///
/// The scale's own ends beside it do not count: "Score (0-10): 4", "4/10" and "4 out of 10" are 4 on a scale from 0 to 10.
/// Numbers elsewhere in prose are no score. The same number twice is one.
///
/// ```
/// use retort_checklist::read_score;
///
/// assert_eq!(read_score("Score (0-10): 4", 0.0, 10.0), Ok(4.0));
/// assert_eq!(read_score("{\"score\": \"0.8\"}", 0.0, 1.0), Ok(0.8));
/// assert!(read_score("It has 3 parts.", 0.0, 10.0).is_err());
/// ```
///
/// # Errors
/// [`Nothing`](GeneratedError::Nothing), [`Incomplete`](GeneratedError::Incomplete),
/// [`Ambiguous`](GeneratedError::Ambiguous) for two scores that differ, [`Unclear`](GeneratedError::Unclear) for a range, a
/// share of another whole ("4/10" where the scale ends at 5, "80%") or a spelling such as "4,5",
/// [`OutOfRange`](GeneratedError::OutOfRange), and [`NoScale`](GeneratedError::NoScale).
pub fn read_score(text: &str, min: f64, max: f64) -> Result<f64, GeneratedError> {
    if !(min.is_finite() && max.is_finite() && min < max) {
        return Err(GeneratedError::NoScale { min, max });
    }
    let mut found: Option<f64> = None;
    for line in spoken(text)?.lines() {
        let Some(value) = score_in_line(&line.to_lowercase(), min, max)? else { continue };
        match found {
            Some(other) if other.total_cmp(&value).is_ne() => {
                return Err(GeneratedError::Ambiguous {
                    first: other.to_string(),
                    second: value.to_string(),
                });
            }
            _ => found = Some(value),
        }
    }
    let value = found.ok_or(GeneratedError::Nothing { wanted: "score" })?;
    if (min..=max).contains(&value) {
        Ok(value)
    } else {
        Err(GeneratedError::OutOfRange { found: value, min, max })
    }
}

/// A number in a line, and where it stands.
struct Found {
    start: usize,
    end: usize,
    /// `None` where the digits are no number that could be read with certainty.
    value: Option<f64>,
}

fn score_in_line(line: &str, min: f64, max: f64) -> Result<Option<f64>, GeneratedError> {
    let numbers = numbers(line);
    let between = |from: usize, to: usize| line.get(from..to).unwrap_or_default();
    let is = |number: &Found, end: f64| number.value.is_some_and(|value| value.total_cmp(&end).is_eq());
    let mut kept: Vec<&Found> = Vec::new();
    let mut unclear: Option<&str> = None;
    // The line up to the first number that counts, without what only names the scale.
    let mut before = String::new();
    let mut from = 0;
    let mut index = 0;
    while let Some(number) = numbers.get(index) {
        if kept.is_empty() {
            before.push_str(between(from, number.start));
        }
        let names_the_end = between(from, number.start).trim_end().ends_with("out of") && is(number, max);
        index += 1;
        from = number.end;
        if names_the_end {
            continue;
        }
        let Some(next) = numbers.get(index) else {
            kept.push(number);
            continue;
        };
        let passage = between(number.start, next.end);
        match between(number.end, next.start).trim() {
            "-" | "–" | "—" | "to" | ".." | "..." | "…" | "through" => {
                if !(is(number, min) && is(next, max)) {
                    unclear.get_or_insert(passage);
                    kept.push(number);
                }
            }
            "/" | "out of" | "of" => {
                if !is(next, max) {
                    unclear.get_or_insert(passage);
                }
                kept.push(number);
            }
            _ => {
                kept.push(number);
                continue;
            }
        }
        index += 1;
        from = next.end;
    }
    let Some(number) = kept.first() else { return Ok(None) };
    let is_alone = before.chars().all(is_mark);
    // Behind a number that stands alone there is nothing but marks, or the rest of its scale.
    let rest = between(kept.last().map_or(0, |last| last.end).max(from), line.len());
    let is_answer = if is_alone { kept.len() == 1 && rest.chars().all(is_mark) } else { announces(&before) };
    if !is_answer {
        return Ok(None);
    }
    let unclear_at = |passage: &str| GeneratedError::Unclear { found: excerpt(passage.trim()), min, max };
    // "~4", "<4", "> 4"; but not the end of a tag, as in "<score>4", nor a quotation's mark.
    let is_bound = match before.trim_end().chars().last() {
        Some('~' | '≈' | '≤' | '≥' | '<') => true,
        Some('>') => !is_alone && !before.contains('<'),
        _ => false,
    };
    if is_bound {
        unclear.get_or_insert(line);
    }
    if let Some(passage) = unclear {
        return Err(unclear_at(passage));
    }
    if let Some(other) = kept.iter().find(|other| other.value != number.value) {
        return Err(GeneratedError::Ambiguous {
            first: between(number.start, number.end).to_owned(),
            second: between(other.start, other.end).to_owned(),
        });
    }
    match number.value {
        Some(value) if !rest.trim_start().starts_with(['%', '‰']) => Ok(Some(value)),
        _ => Err(unclear_at(between(number.start, line.len()))),
    }
}

/// The numbers of a line that are words of their own: not the 4 of "GPT-4", "v4", "4th" or "4-star".
fn numbers(line: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut before: [Option<char>; 2] = [None; 2];
    let mut at = 0;
    while let Some(c) = line.get(at..).and_then(|rest| rest.chars().next()) {
        if !c.is_alphanumeric() {
            before = [before[1], Some(c)];
            at += c.len_utf8();
            continue;
        }
        // A run of letters and digits, with full stops and commas that have a digit on either side.
        let start = at;
        let mut end = at;
        let mut previous = None;
        let mut rest = line.get(at..).unwrap_or_default().chars();
        while let Some(c) = rest.next() {
            let joins = matches!(c, '.' | ',')
                && previous.is_some_and(char::is_numeric)
                && rest.as_str().starts_with(char::is_numeric);
            if !(c.is_alphanumeric() || c == '_' || joins) {
                break;
            }
            previous = Some(c);
            end += c.len_utf8();
        }
        let token = line.get(start..end).unwrap_or_default();
        let after = line.get(end..).unwrap_or_default();
        let mut next = after.chars();
        let is_hyphenated = next.next() == Some('-') && next.next().is_some_and(char::is_alphabetic);
        let [earlier, last] = before;
        let is_signed =
            matches!(last, Some('-' | '−')) && !earlier.is_some_and(|c| c.is_alphanumeric() || c == ')');
        let is_glued = matches!(last, Some('-' | '_')) && earlier.is_some_and(char::is_alphabetic);
        if token.chars().all(|c| c.is_numeric() || matches!(c, '.' | ',')) && !is_hyphenated && !is_glued {
            // ".8" is 0.8, unless the full stop belongs to what is before.
            let is_fraction = last == Some('.') && !earlier.is_some_and(|c| c.is_alphanumeric() || c == '.');
            let (sign, digits) = match (is_signed, is_fraction) {
                (true, _) => (-1.0, token.to_owned()),
                (false, true) => (1.0, format!("0.{token}")),
                (false, false) => (1.0, token.to_owned()),
            };
            let is_tail = last == Some('.') && !is_fraction;
            let is_plain = !is_tail && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
            let value = digits.parse::<f64>().ok().filter(|value| is_plain && value.is_finite());
            // No zero with a sign, which would differ from the scale's.
            let value = value.map(|value| if value.total_cmp(&0.0).is_eq() { 0.0 } else { sign * value });
            let lead = if is_signed || is_fraction { last.map_or(0, char::len_utf8) } else { 0 };
            found.push(Found { start: start - lead, end, value });
        }
        before = [None, token.chars().last()];
        at = end;
    }
    found
}

/// Which of the labels a model answered with: one that stands on a line alone, or behind a word such as "label" or
/// "grade". The answer is the label's place in `labels`.
///
/// Only whole labels count ("incorrect" does not hold "correct"), without regard to case unless two labels differ in case
/// alone. Labels elsewhere in prose are no answer. The same label twice is one.
///
/// ```
/// use retort_checklist::read_label;
///
/// assert_eq!(read_label("Grade: **B**", &["A", "B", "C"]), Ok(1));
/// assert!(read_label("Grade: CI", &["A", "B", "C"]).is_err());
/// ```
///
/// # Errors
/// [`Nothing`](GeneratedError::Nothing), [`Incomplete`](GeneratedError::Incomplete),
/// [`Ambiguous`](GeneratedError::Ambiguous) for two labels, and [`NotOffered`](GeneratedError::NotOffered) for an answer
/// that is no label.
pub fn read_label<L: AsRef<str>>(text: &str, labels: &[L]) -> Result<usize, GeneratedError> {
    let exact: Vec<String> = labels.iter().map(|label| label.as_ref().trim().nfc().collect()).collect();
    let lowered: Vec<String> = exact.iter().map(|label| label.to_lowercase()).collect();
    let differ_in_case = lowered
        .iter()
        .enumerate()
        .any(|(index, label)| lowered.iter().take(index).any(|other| other == label));
    let labels = if differ_in_case { &exact } else { &lowered };
    let is_offered = |answer: &str| labels.iter().position(|label| !label.is_empty() && label == answer);

    let answer: String = spoken(text)?.nfc().collect();
    let mut found: Option<usize> = None;
    let mut other: Option<&str> = None;
    let mut filled_lines = 0;
    let lines = answer.lines().map(str::trim).filter(|line| !line.is_empty());
    for line in lines {
        filled_lines += 1;
        let folded = if differ_in_case { line.to_owned() } else { line.to_lowercase() };
        let bare = folded.trim_matches(is_mark);
        // A label may hold or end in a mark itself.
        let alone = is_offered(&folded).or_else(|| is_offered(bare));
        let announced = || {
            [folded.as_str(), folded.trim_end_matches(is_mark)].into_iter().find_map(|line| {
                labels.iter().position(|label| {
                    let before = line.strip_suffix(label.as_str()).filter(|_| !label.is_empty());
                    before.is_some_and(|before| {
                        before.ends_with(|c: char| !c.is_alphanumeric()) && announces(&before.to_lowercase())
                    })
                })
            })
        };
        match (alone.or_else(announced), found) {
            (Some(label), Some(earlier)) if label != earlier => {
                let name = |index: usize| exact.get(index).cloned().unwrap_or_default();
                return Err(GeneratedError::Ambiguous { first: name(earlier), second: name(label) });
            }
            (Some(label), _) => found = Some(label),
            (None, _) => {
                let announced = line.split_once([':', '=']).filter(|(key, _)| announces(&key.to_lowercase()));
                other = other.or(announced.map(|(_, answer)| answer.trim_matches(is_mark)));
                other = other.filter(|answer| !answer.is_empty());
            }
        }
    }
    match (found, other) {
        (_, Some(other)) => Err(GeneratedError::NotOffered { found: excerpt(other) }),
        (Some(label), None) => Ok(label),
        (None, None) if filled_lines == 1 => {
            Err(GeneratedError::NotOffered { found: excerpt(answer.trim()) })
        }
        (None, None) => Err(GeneratedError::Nothing { wanted: "label" }),
    }
}
