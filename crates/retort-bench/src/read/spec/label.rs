//! From cells to what people said.

use super::LabelSpec;
use crate::{Kind, Target, Task};

/// What may be said of a pair.
pub(super) const OF_PAIRS: [&str; 3] = ["first", "second", "tie"];

/// The labels that a task's options or its pair may get.
pub(super) fn classes(task: &Task) -> Vec<&str> {
    if task.kind == Kind::Pairwise {
        OF_PAIRS.to_vec()
    } else {
        task.options.iter().map(|option| option.label.as_str()).collect()
    }
}

/// How a task's cells are understood.
pub(super) struct Labels<'t> {
    spec: Option<&'t LabelSpec>,
    classes: Vec<&'t str>,
    values: Vec<f64>,
    is_pair: bool,
}

/// What one cell says.
enum Vote {
    /// How much of the vote each class has.
    Shares(Vec<f64>),
    /// The rater said nothing, or something that the task leaves out.
    Nothing { left_out: bool },
}

impl<'t> Labels<'t> {
    pub(super) fn new(task: &'t Task) -> Self {
        Self {
            spec: task.reader.label.as_ref(),
            classes: classes(task),
            values: task.options.iter().map(|option| option.value).collect(),
            is_pair: task.kind == Kind::Pairwise,
        }
    }

    /// The target of a row and its raters, from the values of its columns; `None` where the row is left out.
    pub(super) fn target(
        &self,
        values: impl Fn(&str) -> Result<Vec<Option<String>>, String>,
    ) -> Result<Option<(Target, u32)>, String> {
        let Some(spec) = self.spec else { return Ok(Some((Target::Unknown, 1))) };
        if let Some(column) = &spec.text {
            let lines: Vec<String> = values(column)?.into_iter().flatten().collect();
            let text = spec.marked(&lines.join("\n"), column)?;
            if spec.leaves_out(&text) {
                return Ok(None);
            }
            if text.is_empty() {
                return Err(format!("there is no text in column {column:?}"));
            }
            return Ok(Some((Target::Text(text), 1)));
        }
        let mut sums = vec![0.0; self.classes.len()];
        let (mut raters, mut left_out) = (0_u32, false);
        for column in &spec.columns {
            let mut cells = values(column)?;
            if cells.is_empty() {
                cells.push(None);
            }
            for cell in cells {
                match self.vote(spec, cell.unwrap_or_default().trim(), column)? {
                    Vote::Shares(shares) => {
                        sums.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
                        raters = raters.saturating_add(1);
                    }
                    Vote::Nothing { left_out: one } => left_out |= one,
                }
            }
        }
        if raters == 0 {
            if left_out {
                return Ok(None);
            }
            let columns: Vec<String> = spec.columns.iter().map(|column| format!("{column:?}")).collect();
            return Err(format!("there is no label in column {}", columns.join(", ")));
        }
        sums.iter_mut().for_each(|sum| *sum /= f64::from(raters));
        let target = match sums[..] {
            [first, second, tie] if self.is_pair => Target::Preference { first, second, tie },
            _ => Target::Options(sums),
        };
        Ok(Some((target, raters)))
    }

    fn vote(&self, spec: &LabelSpec, cell: &str, column: &str) -> Result<Vote, String> {
        if spec.leaves_out(cell) {
            return Ok(Vote::Nothing { left_out: true });
        }
        if cell.is_empty() && !spec.map.contains_key("") {
            return Ok(Vote::Nothing { left_out: false });
        }
        let text = if cell.is_empty() { String::new() } else { spec.marked(cell, column)? };
        if spec.leaves_out(&text) {
            return Ok(Vote::Nothing { left_out: true });
        }
        if let Some(range) = spec.range {
            return self.on_scale(range, &text, column).map(Vote::Shares);
        }
        let label_of = |key: &str| match spec.map.is_empty() {
            true => self.classes.iter().copied().find(|class| *class == key),
            false => spec.map.get(key).map(String::as_str),
        };
        let label = label_of(&text).or_else(|| label_of(whole(&text)?));
        let class = label.and_then(|label| self.classes.iter().position(|class| *class == label));
        let Some(class) = class else {
            let known: Vec<String> = match spec.map.is_empty() {
                true => self.classes.iter().map(|class| format!("{class:?}")).collect(),
                false => spec.map.keys().map(|key| format!("{key:?}")).collect(),
            };
            let (text, known) = (short(&text), known.join(", "));
            return Err(format!("column {column:?} holds the label {text:?}, which is none of {known}"));
        };
        Ok(Vote::Shares(self.one(class)))
    }

    fn one(&self, class: usize) -> Vec<f64> {
        (0..self.classes.len()).map(|index| if index == class { 1.0 } else { 0.0 }).collect()
    }

    /// A number of the file's scale as shares of the two options that it lies between.
    fn on_scale(&self, [lowest, highest]: [f64; 2], text: &str, column: &str) -> Result<Vec<f64>, String> {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        let Some(number) = number else {
            return Err(format!("column {column:?} holds {:?}, which is not a number", short(text)));
        };
        if number < lowest.min(highest) || number > lowest.max(highest) {
            return Err(format!("column {column:?} holds {number}, which is not from {lowest} to {highest}"));
        }
        let (Some(&bottom), Some(&top)) = (self.values.first(), self.values.last()) else {
            return Err("the task has no options".into());
        };
        let place = (number - lowest) / (highest - lowest);
        let value = bottom + place * (top - bottom);
        // What a rounding error parts from an option is that option.
        let near = 1e-9 * (top - bottom).abs();
        if let Some(class) = self.values.iter().position(|option| (option - value).abs() <= near) {
            return Ok(self.one(class));
        }
        let above = self.values.iter().position(|&option| option > value).filter(|&above| above > 0);
        let Some(above) = above else {
            return Err("the task's options are not in the order of their values".into());
        };
        let (below, next) = (self.values[above - 1], self.values[above]);
        let share = (value - below) / (next - below);
        let mut shares = vec![0.0; self.values.len()];
        shares[above - 1] = 1.0 - share;
        shares[above] = share;
        Ok(shares)
    }
}

impl LabelSpec {
    fn leaves_out(&self, text: &str) -> bool {
        self.skip.iter().any(|skipped| same(text.trim(), skipped))
    }

    /// What counts of a cell's text, trimmed.
    fn marked(&self, text: &str, column: &str) -> Result<String, String> {
        let Some(mark) = &self.after else { return Ok(text.trim().to_owned()) };
        let part = match mark.strip_prefix("before:") {
            Some(mark) => text.split_once(mark).map(|(before, _)| before),
            None => text.rsplit_once(mark.as_str()).map(|(_, after)| after),
        };
        let part = part.ok_or_else(|| format!("the mark {mark:?} is not in column {column:?}"))?;
        Ok(part.trim().to_owned())
    }
}

/// A whole number without its decimals, where all of them are zeros.
fn whole(text: &str) -> Option<&str> {
    let (number, decimals) = text.split_once('.')?;
    let digits = number.strip_prefix('-').unwrap_or(number);
    let is_whole = !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !decimals.is_empty()
        && decimals.bytes().all(|byte| byte == b'0');
    is_whole.then_some(number)
}

/// Whether a cell's text is that of the task file: `1.0` is also `1`.
pub(super) fn same(text: &str, other: &str) -> bool {
    text == other || whole(text) == Some(other)
}

/// The beginning of a text, for messages.
fn short(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
