//! `retort agree`: how well raters agree, or a model with people.

mod figures;
mod labels;
mod table;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use retort_stats::{Bootstrap, BothOrders, Level, Winner, order_effects, words};
use serde::Serialize;

use crate::error::CliError;
use figures::{Draw, Figure, PairFigures, level_name};
use labels::{Column, Kind};
use table::{Content, Problem, Table};

/// The name and version of the JSON's shape.
const FORMAT: &str = "retort.agreement/1";

/// The most problems that are printed; the JSON form has all.
const MOST_PRINTED: usize = 20;

/// What the options do not say.
const HELP: &str = "\
FILE is a table with one row for each thing that was rated: CSV (also with tabs or semicolons), one JSON array of \
objects, or JSON Lines. Keys of objects within a row are columns of their own, such as score.readability. Two or more \
columns hold labels: numbers, or names such as \"yes\" and \"no\". An empty cell, \"N/A\", \"NaN\" and null are \
missing. A cell that is no label is reported with its line and column, counted and left out.

Each figure comes with a bootstrap interval of 95%, or with the reason why there is none. Where a figure needs a truth, \
it is the first of the two columns.";

/// A table and what to compare in it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP)]
pub(crate) struct Args {
    /// The table.
    #[arg(value_name = "FILE")]
    file: String,
    /// The columns with labels, two or more. By default those that look like labels.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', conflicts_with_all = ["model", "people"])]
    columns: Vec<String>,
    /// The column of a model that is compared with people.
    #[arg(long, value_name = "COLUMN", requires = "people")]
    model: Option<String>,
    /// The columns of the people. Each is the truth that the model is compared with, and so is their mean (of numbers)
    /// or majority (of names).
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', requires = "model")]
    people: Vec<String>,
    /// What differences between labels mean. By default interval for numbers and nominal for names.
    #[arg(long, value_enum)]
    level: Option<LevelArg>,
    /// The column with the response's text, to see whether labels go with its length. For labels that say which of two
    /// responses is better (A or B, 1 or 2, tie): the two columns with the responses.
    #[arg(long, value_name = "COLUMN[,COLUMN]", value_delimiter = ',')]
    text: Vec<String>,
    /// The column with the first label column's verdicts when the second response was shown first. They name the same
    /// responses as the other column: A stays A.
    #[arg(long, value_name = "COLUMN")]
    swapped: Option<String>,
    /// A column to group by: all figures for each of its values, too.
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// A column with what rows have in common, such as the prompt. Rows that share it are no independent evidence, and
    /// intervals draw them together.
    #[arg(long, value_name = "COLUMN")]
    cluster: Option<String>,
    /// Seed of the bootstrap. The same seed gives the same intervals.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Resamples for each interval.
    #[arg(long, default_value_t = 2000)]
    resamples: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum LevelArg {
    /// Labels are equal or not.
    Nominal,
    /// Labels have an order.
    Ordinal,
    /// Labels are numbers whose differences count.
    Interval,
}

impl From<LevelArg> for Level {
    fn from(level: LevelArg) -> Self {
        match level {
            LevelArg::Nominal => Self::Nominal,
            LevelArg::Ordinal => Self::Ordinal,
            LevelArg::Interval => Self::Interval,
        }
    }
}

/// Why nothing could be compared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AgreeError {
    /// The file cannot be opened.
    #[error("{path} could not be read: {problem}; check the name")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        problem: std::io::Error,
    },
    /// There are no rows.
    #[error("{0} has no rows; give a table with a line of column names and one row for each thing rated")]
    Empty(String),
    /// The table cannot be read.
    #[error("{file}:{line}: {what}")]
    Table {
        /// The file.
        file: String,
        /// Physical line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// There is no such column.
    #[error("{file} has no column {name:?}; it has: {known}")]
    NoColumn {
        /// The file.
        file: String,
        /// The name asked for.
        name: String,
        /// The columns there are.
        known: String,
    },
    /// Two columns have the name.
    #[error("{file} has several columns {name:?}; rename them, so that one can be chosen")]
    DoubledColumn {
        /// The file.
        file: String,
        /// The name.
        name: String,
    },
    /// Fewer than two columns are labels.
    #[error("{file}: {found}; name the columns with --columns. It has: {known}")]
    TooFew {
        /// The file.
        file: String,
        /// What was found.
        found: String,
        /// The columns there are.
        known: String,
    },
    /// `--text` names more than two columns.
    #[error("--text takes one column, or the two of a comparison, and there are {0}")]
    Texts(usize),
    /// A figure refused its input.
    #[error("{0}")]
    Figure(#[from] retort_stats::InputError),
}

/// All that is found.
#[derive(Debug, Serialize)]
struct Agreement {
    format: &'static str,
    version: &'static str,
    file: String,
    rows: usize,
    columns: Vec<ColumnCounts>,
    labels: &'static str,
    level: Level,
    method: Bootstrap,
    cluster: Option<String>,
    groups: Vec<Group>,
    notes: Vec<String>,
    problems: Vec<Problem>,
}

/// A column and what there is of it.
#[derive(Debug, Serialize)]
struct ColumnCounts {
    name: String,
    role: &'static str,
    labels: usize,
    missing: usize,
    not_labels: usize,
}

/// The figures of all rows, or of those with one value of `--by`.
#[derive(Debug, Serialize)]
struct Group {
    /// The column that is grouped by and its value; `None` for all rows.
    by: Option<[String; 2]>,
    rows: usize,
    pairs: Vec<PairFigures>,
    /// All raters together, where there are more than two.
    all: Option<AllFigures>,
    /// One for each column, with `--text`.
    bias: Vec<Bias>,
    /// With `--swapped`.
    order: Option<Order>,
}

#[derive(Debug, Serialize)]
struct AllFigures {
    columns: Vec<String>,
    figure: Figure,
}

#[derive(Debug, Serialize)]
struct Bias {
    column: String,
    n: usize,
    figures: Vec<Figure>,
}

#[derive(Debug, Serialize)]
struct Order {
    columns: [String; 2],
    effects: retort_stats::OrderEffects,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let found = agreement(args)?;
    for problem in found.problems.iter().take(MOST_PRINTED) {
        eprintln!("retort: {}", problem.print(&found.file));
    }
    if found.problems.len() > MOST_PRINTED {
        eprintln!("retort: and {} more problems, which --json lists", found.problems.len() - MOST_PRINTED);
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &found)?;
        writeln!(out)?;
    } else {
        out.write_all(plain(&found).as_bytes())?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn agreement(args: &Args) -> Result<Agreement, AgreeError> {
    let file = args.file.as_str();
    let bytes =
        std::fs::read(file).map_err(|problem| AgreeError::Read { path: args.file.clone(), problem })?;
    let mut table = Table::read(&bytes, file)?;
    drop(bytes);
    if args.text.len() > 2 {
        return Err(AgreeError::Texts(args.text.len()));
    }
    let place = |name: &String| labels::place(&table, name, file);
    let texts: Vec<usize> = args.text.iter().map(place).collect::<Result<_, _>>()?;
    let by = args.by.as_ref().map(place).transpose()?;
    let cluster = args.cluster.as_ref().map(place).transpose()?;
    let swapped = args.swapped.as_ref().map(place).transpose()?;
    let model = args.model.as_ref().map(place).transpose()?;
    let named: Vec<usize> = args.columns.iter().chain(&args.people).map(place).collect::<Result<_, _>>()?;
    let mut places = if named.is_empty() {
        let taken: Vec<usize> = texts.iter().copied().chain(by).chain(cluster).chain(swapped).collect();
        labels::recognised(&table, &taken)
    } else {
        named
    };
    if let Some(model) = model {
        places.retain(|place| *place != model);
    }
    // A column is not compared with itself.
    let mut seen = std::collections::BTreeSet::new();
    places.retain(|place| seen.insert(*place));
    let people = places.clone();
    places.extend(model);
    if places.len() < 2 {
        let names: Vec<&str> =
            places.iter().filter_map(|&place| table.columns.get(place)).map(String::as_str).collect();
        let found = match names.as_slice() {
            [] => "no column looks like labels".to_owned(),
            [one] => format!("it takes two columns with labels, and there is only {one:?}"),
            _ => "it takes two columns with labels".to_owned(),
        };
        let known = table.columns.join(", ");
        return Err(AgreeError::TooFew { file: args.file.clone(), found, known });
    }
    let mut problems = std::mem::take(&mut table.problems);
    // Which of two responses is better is a name, also where it is written as a number.
    let compares_two = texts.len() == 2 || swapped.is_some();
    let level = args.level.map(Level::from).or(compares_two.then_some(Level::Nominal));
    let (mut columns, kind) = labels::read(&table, &places, level, &mut problems);
    let level = level.unwrap_or(if kind == Kind::Numbers { Level::Interval } else { Level::Nominal });
    let mut swapped_column = None;
    if let Some(swapped) = swapped {
        let as_names = Some(Level::Nominal);
        swapped_column = labels::read(&table, &[swapped], as_names, &mut problems).0.pop();
    }
    problems.sort_by_key(|problem| problem.line);
    let counts = columns
        .iter()
        .enumerate()
        .map(|(index, column)| ColumnCounts {
            name: column.name.clone(),
            role: match model {
                Some(_) if index + 1 == columns.len() => "model",
                Some(_) => "person",
                None => "rater",
            },
            labels: column.labels.iter().flatten().count(),
            missing: column.missing,
            not_labels: column.not_labels,
        })
        .collect();
    let mut notes = Vec::new();
    for spellings in labels::only_by_case(&columns) {
        notes.push(format!("{spellings} differ only in their letters' case and count as different labels."));
    }
    // What people say together stands beside what each of them says.
    if model.is_some() && people.len() > 1 {
        let model = columns.pop();
        let together = together(&columns, kind);
        if kind == Kind::Names {
            let undecided = together.labels.iter().filter(|label| label.is_none()).count();
            if undecided > 0 {
                notes
                    .push(format!("{undecided} rows have no majority of people and are left out beside it."));
            }
        }
        columns.push(together);
        columns.extend(model);
    }
    let rows = table.rows.len();
    let bootstrap = Bootstrap { seed: args.seed, resamples: args.resamples, ..Bootstrap::default() };
    let clusters: Vec<usize> = match cluster {
        Some(place) => numbered(&table, place),
        None => (0..rows).collect(),
    };
    let draw = Draw { bootstrap, clusters: &clusters };
    let lengths: Vec<Vec<Option<f64>>> = texts.iter().map(|&place| lengths(&table, place)).collect();
    let everything = Compared {
        columns: &columns,
        people: if model.is_some() { people.len() } else { 0 },
        kind,
        level,
        lengths: &lengths,
        swapped: swapped_column.as_ref(),
        draw: &draw,
    };
    let all: Vec<usize> = (0..rows).collect();
    let mut groups = vec![everything.group(None, &all)?];
    if let Some(place) = by {
        let column = table.columns.get(place).cloned().unwrap_or_default();
        let mut values: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (row, cells) in table.rows.iter().enumerate() {
            let value = match cells.cells.get(place).map(|cell| &cell.content) {
                Some(Content::Text(text)) => text.trim().to_owned(),
                Some(Content::Other(what)) => format!("({what})"),
                Some(Content::Missing) | None => "(none)".to_owned(),
            };
            values.entry(value).or_default().push(row);
        }
        for (value, rows) in values {
            groups.push(everything.group(Some([column.clone(), value]), &rows)?);
        }
    }
    Ok(Agreement {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION"),
        file: args.file.clone(),
        rows,
        columns: counts,
        labels: if kind == Kind::Numbers { "numbers" } else { "names" },
        level,
        method: bootstrap,
        cluster: args.cluster.clone(),
        groups,
        notes,
        problems,
    })
}

/// What is compared, for any of the rows.
struct Compared<'a> {
    columns: &'a [Column],
    /// How many of the columns are people's, from the first; 0 where no model is compared with people.
    people: usize,
    kind: Kind,
    level: Level,
    lengths: &'a [Vec<Option<f64>>],
    swapped: Option<&'a Column>,
    draw: &'a Draw<'a>,
}

impl Compared<'_> {
    fn group(&self, by: Option<[String; 2]>, rows: &[usize]) -> Result<Group, AgreeError> {
        let (columns, kind, level, draw) = (self.columns, self.kind, self.level, self.draw);
        let mut pairs = Vec::new();
        let raters: Vec<&Column> = match (self.people, columns.split_last()) {
            (0, _) | (_, None) => {
                for (index, first) in columns.iter().enumerate() {
                    for second in columns.iter().skip(index + 1) {
                        pairs.push(figures::pair(first, second, rows, kind, level, draw)?);
                    }
                }
                columns.iter().collect()
            }
            (people, Some((model, others))) => {
                for truth in others {
                    pairs.push(figures::pair(truth, model, rows, kind, level, draw)?);
                }
                // Among people, as the mark that a model can be held against.
                columns.iter().take(people).collect()
            }
        };
        let together = raters.len() > 2 || (self.people > 1);
        let all = if together {
            let figure = figures::alpha_of_all(&raters, rows, kind, level, draw)?;
            Some(AllFigures { columns: raters.iter().map(|column| column.name.clone()).collect(), figure })
        } else {
            None
        };
        let mut bias = Vec::new();
        if !self.lengths.is_empty() {
            for column in columns {
                let (n, figures) = match self.lengths {
                    [one, other] => figures::preference(column, [one, other], rows, draw)?,
                    [one, ..] => figures::length(column, one, rows, draw)?,
                    [] => continue,
                };
                bias.push(Bias { column: column.name.clone(), n, figures });
            }
        }
        let order = self.swapped.zip(columns.first()).map(|(swapped, first)| {
            let winner = |column: &Column, row: usize| -> Option<Winner> {
                column.labels.get(row).and_then(Option::as_ref).and_then(labels::Label::winner)
            };
            let verdicts: Vec<BothOrders> = rows
                .iter()
                .map(|&row| BothOrders { a_first: winner(first, row), b_first: winner(swapped, row) })
                .collect();
            let columns = [first.name.clone(), swapped.name.clone()];
            Order { columns, effects: order_effects(&verdicts) }
        });
        Ok(Group { by, rows: rows.len(), pairs, all, bias, order })
    }
}

/// What people say together: the mean of their numbers, or the name that most of them give.
fn together(people: &[Column], kind: Kind) -> Column {
    let rows = people.first().map_or(0, |column| column.labels.len());
    let labels = (0..rows)
        .map(|row| {
            let given: Vec<&labels::Label> =
                people.iter().filter_map(|column| column.labels.get(row)?.as_ref()).collect();
            if kind == Kind::Numbers {
                let numbers: Vec<f64> = given.iter().filter_map(|label| label.number()).collect();
                let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
                (!numbers.is_empty()).then_some(labels::Label::Number(mean))
            } else {
                let votes = |label: &labels::Label| given.iter().filter(|other| **other == label).count();
                let most = given.iter().map(|label| votes(label)).max()?;
                let mut winners = given.iter().filter(|label| votes(label) == most);
                let first = winners.next()?;
                winners.all(|label| label == first).then(|| (*first).clone())
            }
        })
        .collect();
    let name = if kind == Kind::Numbers { "(mean of people)" } else { "(majority of people)" };
    Column { name: name.to_owned(), labels, missing: 0, not_labels: 0 }
}

/// The same number for rows with the same value; rows without one stand alone.
fn numbered(table: &Table, place: usize) -> Vec<usize> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    table
        .rows
        .iter()
        .enumerate()
        .map(|(row, cells)| match cells.cells.get(place).map(|cell| &cell.content) {
            Some(Content::Text(text)) => *numbers.entry(text).or_insert(row),
            _ => row,
        })
        .collect()
}

/// Words of each row's text.
fn lengths(table: &Table, place: usize) -> Vec<Option<f64>> {
    table
        .rows
        .iter()
        .map(|row| match row.cells.get(place).map(|cell| &cell.content) {
            Some(Content::Text(text)) => Some(words(text).len() as f64),
            _ => None,
        })
        .collect()
}

/// The figures for people who read a terminal.
fn plain(found: &Agreement) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(
        out,
        "{}: {} rows. The labels are {} and compared at the {} level.",
        found.file,
        found.rows,
        found.labels,
        level_name(found.level)
    );
    let widest = found.columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
    for column in &found.columns {
        let pad = " ".repeat(widest - column.name.chars().count());
        let _ = writeln!(
            out,
            "  {}{pad}  {}: {} labels, {} missing, {} that are none",
            column.name, column.role, column.labels, column.missing, column.not_labels
        );
    }
    for group in &found.groups {
        if let Some([column, value]) = &group.by {
            let _ = writeln!(out, "\n== {column} = {value} ({} rows)", group.rows);
        }
        for pair in &group.pairs {
            let _ = writeln!(
                out,
                "\n{} and {} (n {}, {} rows with but one of them)",
                pair.first, pair.second, pair.n, pair.only_one
            );
            table_of(&mut out, &pair.figures);
        }
        if let Some(all) = &group.all {
            let _ = writeln!(out, "\nAll of {}", all.columns.join(", "));
            table_of(&mut out, std::slice::from_ref(&all.figure));
        }
        for bias in &group.bias {
            let _ = writeln!(out, "\n{} and the length (n {})", bias.column, bias.n);
            table_of(&mut out, &bias.figures);
        }
        if let Some(Order { columns: [first, swapped], effects }) = &group.order {
            let _ = writeln!(
                out,
                "\n{first} and {swapped}: both orders ({} compared, {} without a verdict in one)",
                effects.compared, effects.failed
            );
            for (name, figure) in
                [("Flips", &effects.flip_rate), ("Shown first wins", &effects.first_shown_rate)]
            {
                let value = match figure.clone().into_result() {
                    Ok(value) => number(value),
                    Err(why) => format!("none: {why}"),
                };
                let _ = writeln!(out, "  {name:<18}{value}");
            }
            let _ = writeln!(
                out,
                "  {} the same, {} won by each once, {} won against a tie",
                effects.same, effects.reversed, effects.half
            );
        }
    }
    let _ = writeln!(
        out,
        "\nIntervals: {}%, bootstrap by percentiles, {} resamples of {}, seed {}.",
        found.method.level * 100.0,
        found.method.resamples,
        found.cluster.as_ref().map_or_else(|| "rows".to_owned(), |column| format!("what shares {column}")),
        found.method.seed
    );
    for note in &found.notes {
        let _ = writeln!(out, "{note}");
    }
    out
}

fn table_of(out: &mut String, figures: &[Figure]) {
    let widest = figures.iter().map(|figure| figure.shown.chars().count()).max().unwrap_or(0);
    for figure in figures {
        let pad = " ".repeat(widest - figure.shown.chars().count());
        let value = match (figure.value, figure.interval) {
            (Some(value), Some([low, high])) => {
                format!("{:>6}  ({} to {})", number(value), number(low), number(high))
            }
            (Some(value), None) => {
                let why = figure.why_no_interval.as_deref().unwrap_or_default();
                format!("{:>6}  (no interval: {why})", number(value))
            }
            (None, _) => format!("none: {}", figure.why_none.as_deref().unwrap_or_default()),
        };
        let _ = writeln!(out, "  {}{pad}  {value}", figure.shown);
    }
}

/// Three decimals, and never "-0.000".
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() { "0.000".to_owned() } else { text }
}
