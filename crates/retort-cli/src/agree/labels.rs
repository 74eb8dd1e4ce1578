//! Columns of labels: which columns have them, and what they mean.

use std::collections::{BTreeMap, BTreeSet};

use retort_stats::{Level, Winner};

use super::AgreeError;
use super::table::{Content, Problem, Table};

/// A column of labels.
#[derive(Debug)]
pub(super) struct Column {
    /// Its name.
    pub(super) name: String,
    /// One for each row of the table; `None` where there is no label.
    pub(super) labels: Vec<Option<Label>>,
    /// Empty cells and "N/A".
    pub(super) missing: usize,
    /// Cells that are no labels.
    pub(super) not_labels: usize,
}

impl Column {
    /// The labels of all rows.
    pub(super) fn all(&self) -> impl Iterator<Item = &Label> {
        self.labels.iter().flatten()
    }
}

/// A label.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Label {
    /// A number.
    Number(f64),
    /// Anything else.
    Name(String),
}

/// What the labels of all columns are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Numbers, with an order and distances.
    Numbers,
    /// Names, which are equal or not.
    Names,
}

/// More different labels than this make a column of something else: texts, or numbers of rows.
const MOST_LABELS: usize = 30;

/// Longer texts are no labels.
const LONGEST_LABEL: usize = 60;

/// The share of a column's cells that must be numbers for the others to be mistakes.
const MOSTLY: f64 = 0.8;

/// A number, if the text is one; also "inf", which is refused later, since it means no label (P16).
fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// The place of a column by its name, or its number from 1.
pub(super) fn place(table: &Table, name: &str, file: &str) -> Result<usize, AgreeError> {
    let name = name.trim();
    let found: Vec<usize> = table
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| *column == name)
        .map(|(place, _)| place)
        .collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(AgreeError::NoColumn {
            file: file.to_owned(),
            name: name.to_owned(),
            known: table.columns.join(", "),
        }),
        _ => Err(AgreeError::DoubledColumn { file: file.to_owned(), name: name.to_owned() }),
    }
}

/// The columns that hold labels, as far as that can be told: those whose cells are few different short labels or
/// numbers, and which are not called like an id. Numbers are preferred, since names may be anything.
pub(super) fn recognised(table: &Table, taken: &[usize]) -> Vec<usize> {
    let mut numbers = Vec::new();
    let mut names: Vec<(usize, BTreeSet<String>)> = Vec::new();
    for (place, column) in table.columns.iter().enumerate() {
        let doubled = table.columns.iter().filter(|other| *other == column).count() > 1;
        if taken.contains(&place) || doubled || is_id(column) {
            continue;
        }
        let mut all = 0;
        let mut numeric = 0;
        let mut whole = true;
        let mut different = BTreeSet::new();
        let mut short = true;
        for cell in table.rows.iter().filter_map(|row| row.cells.get(place)) {
            match &cell.content {
                Content::Missing => {}
                Content::Other(_) => short = false,
                Content::Text(text) => {
                    all += 1;
                    if let Some(number) = number(text) {
                        numeric += 1;
                        whole &= number.fract() == 0.0;
                    }
                    short &= text.trim().chars().count() <= LONGEST_LABEL;
                    // Enough to know that there are too many.
                    if different.len() <= MOST_LABELS {
                        different.insert(text.trim().to_owned());
                    }
                }
            }
        }
        if all == 0 {
            continue;
        }
        let few = different.len() <= MOST_LABELS;
        if f64::from(numeric) >= MOSTLY * f64::from(all) {
            // Many different whole numbers count something; many different fractions are scores.
            if few || !whole {
                numbers.push(place);
            }
        } else if few && short && different.len() > 1 {
            names.push((place, different));
        }
    }
    if numbers.len() >= 2 {
        return numbers;
    }
    // Names belong together where they are the same names.
    let mut best: Vec<usize> = Vec::new();
    for (_, vocabulary) in &names {
        let alike: Vec<usize> = names
            .iter()
            .filter(|(_, other)| {
                let shared = other.intersection(vocabulary).count();
                2 * shared >= other.len().max(vocabulary.len())
            })
            .map(|(place, _)| *place)
            .collect();
        if alike.len() > best.len() {
            best = alike;
        }
    }
    best
}

/// Whether a column is called like something that names or counts rows.
fn is_id(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    let parts: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).collect();
    [
        "id",
        "idx",
        "index",
        "row",
        "line",
        "number",
        "no",
        "seed",
        "tokens",
        "words",
        "length",
        "turn",
        "difficulty",
    ]
    .iter()
    .any(|word| parts.contains(word))
        || name.is_empty()
}

/// Reads the labels of these columns. Without a level it is told from the cells: numbers where nearly all are numbers,
/// and names otherwise. Cells that are no labels are put down as problems.
pub(super) fn read(
    table: &Table,
    places: &[usize],
    level: Option<Level>,
    problems: &mut Vec<Problem>,
) -> (Vec<Column>, Kind) {
    let texts = || {
        places
            .iter()
            .flat_map(|&place| table.rows.iter().filter_map(move |row| row.cells.get(place)))
            .filter_map(|cell| match &cell.content {
                Content::Text(text) => Some(text),
                Content::Missing | Content::Other(_) => None,
            })
    };
    let kind = match level {
        Some(Level::Nominal) => Kind::Names,
        Some(Level::Ordinal | Level::Interval) => Kind::Numbers,
        None => {
            let (all, numbers) = (texts().count(), texts().filter(|text| number(text).is_some()).count());
            if numbers as f64 >= MOSTLY * all as f64 { Kind::Numbers } else { Kind::Names }
        }
    };
    let columns = places
        .iter()
        .map(|&place| {
            let name = table.columns.get(place).cloned().unwrap_or_default();
            let mut column = Column { name, labels: Vec::new(), missing: 0, not_labels: 0 };
            for row in &table.rows {
                let Some(cell) = row.cells.get(place) else {
                    column.labels.push(None);
                    continue;
                };
                let read = match (&cell.content, kind) {
                    (Content::Missing, _) => {
                        column.missing += 1;
                        column.labels.push(None);
                        continue;
                    }
                    (Content::Other(what), _) => Err((*what).to_owned()),
                    (Content::Text(text), Kind::Names) => Ok(match number(text).filter(|n| n.is_finite()) {
                        // 4 and 4.0 are one label.
                        Some(number) => Label::Number(number + 0.0),
                        None => Label::Name(text.trim().to_owned()),
                    }),
                    (Content::Text(text), Kind::Numbers) => match number(text) {
                        Some(number) if number.is_finite() => Ok(Label::Number(number + 0.0)),
                        _ => Err(format!("{:?}", shortened(text))),
                    },
                };
                column.labels.push(match read {
                    Ok(label) => Some(label),
                    Err(what) => {
                        column.not_labels += 1;
                        let must_be =
                            if kind == Kind::Numbers { "a finite number" } else { "a text or a number" };
                        problems.push(Problem {
                            line: cell.line,
                            column: Some(column.name.clone()),
                            message: format!("{what} is no label ({must_be}); left out and counted"),
                        });
                        None
                    }
                });
            }
            column
        })
        .collect();
    (columns, kind)
}

fn shortened(text: &str) -> String {
    let mut out: String = text.trim().chars().take(40).collect();
    if text.trim().chars().count() > 40 {
        out.push('…');
    }
    out
}

/// Names that mean the better of two labels.
const POSITIVE: [&str; 10] =
    ["yes", "true", "1", "pass", "passed", "good", "correct", "positive", "met", "win"];

/// The two labels of columns that have but two, the positive one last: the higher number, or a name that says yes, or
/// the last in the alphabet.
pub(super) fn two_labels<'a>(labels: impl Iterator<Item = &'a Label>) -> Option<[Label; 2]> {
    let mut different: Vec<&Label> = Vec::new();
    for label in labels {
        if !different.contains(&label) {
            different.push(label);
            if different.len() > 2 {
                return None;
            }
        }
    }
    let [one, other] = different.as_slice() else { return None };
    let says_yes = |label: &Label| matches!(label, Label::Name(name) if POSITIVE.contains(&name.to_lowercase().as_str()));
    let swap = match (one, other) {
        (Label::Number(one), Label::Number(other)) => one > other,
        _ if says_yes(one) != says_yes(other) => says_yes(one),
        _ => one.text() > other.text(),
    };
    Some(if swap { [(*other).clone(), (*one).clone()] } else { [(*one).clone(), (*other).clone()] })
}

impl Label {
    /// The label as it is shown.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Name(name) => name.clone(),
        }
    }

    /// The number, if it is one.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Name(_) => None,
        }
    }

    /// Which of two responses the label prefers, if it is one of the usual ways to say so. Whole labels only (P2): a
    /// label that holds an A says nothing.
    pub(super) fn winner(&self) -> Option<Winner> {
        let text = self.text().to_lowercase();
        let text = text.trim_matches(|c| c == '[' || c == ']').trim();
        match text {
            "a" | "1" | "first" | "a>b" | "model_a" | "response_a" | "output_1" => Some(Winner::A),
            "b" | "2" | "second" | "b>a" | "model_b" | "response_b" | "output_2" => Some(Winner::B),
            "0" | "1.5" | "tie" | "draw" | "equal" | "both" | "neither" | "c" | "a=b" => Some(Winner::Tie),
            _ => None,
        }
    }
}

/// Names that differ only in their letters' case, which count as different labels.
pub(super) fn only_by_case(columns: &[Column]) -> Vec<String> {
    let mut spellings: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for label in columns.iter().flat_map(|column| column.labels.iter().flatten()) {
        if let Label::Name(name) = label {
            spellings.entry(name.to_lowercase()).or_default().insert(name);
        }
    }
    spellings
        .into_values()
        .filter(|spellings| spellings.len() > 1)
        .map(|spellings| spellings.into_iter().collect::<Vec<_>>().join(" / "))
        .collect()
}
