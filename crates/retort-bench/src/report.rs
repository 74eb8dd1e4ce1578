//! Runs side by side, with published figures marked as such: Markdown and HTML.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::store::RunReport;
use crate::{Figure, Table};

/// A published figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// The exam that measures the same.
    pub exam: String,
    /// The part of the data.
    pub part: String,
    /// The metric.
    pub metric: String,
    /// Whose figure.
    pub judge: String,
    /// The figure, in our unit (shares, not percent).
    pub value: f64,
    /// Where it was published.
    pub source: String,
    /// How its protocol differs from ours, if it does.
    #[serde(default)]
    pub mind: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Anchors {
    anchor: Vec<Anchor>,
}

/// All published figures that we know.
///
/// # Errors
/// Where the project's file of them is wrong, which a test excludes.
pub fn anchors() -> Result<&'static [Anchor], String> {
    static ANCHORS: LazyLock<Result<Vec<Anchor>, String>> = LazyLock::new(|| {
        let text = include_str!("../anchors.toml");
        toml::from_str::<Anchors>(text).map(|anchors| anchors.anchor).map_err(|error| error.to_string())
    });
    match &*ANCHORS {
        Ok(anchors) => Ok(anchors),
        Err(problem) => Err(problem.clone()),
    }
}

/// What a cell shows.
enum Cell {
    Own(Figure),
    Published(f64),
    None,
}

/// A column: a judge of one run, or a published one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Column {
    /// Run and judge.
    Own(usize, String),
    Published(String),
}

/// Rules that judge without a model: the same in every run, so shown once.
const RULES: [&str; 5] = ["random", "longer", "shorter", "overlap", "majority"];

struct Merged {
    title: String,
    /// Part and metric, in the order of the first run.
    rows: Vec<(String, String)>,
    columns: Vec<Column>,
    cells: BTreeMap<(usize, Column), Cell>,
    notes: Vec<String>,
    sources: Vec<String>,
}

/// The name that a run has in tables: its model, and its adapter if there is one.
#[must_use]
pub fn run_name(report: &RunReport) -> String {
    match &report.run.model {
        None => "no model".to_owned(),
        Some(model) => {
            let base = model.name.trim_end_matches(".gguf");
            match &model.adapter {
                None => base.to_owned(),
                Some(adapter) => format!("{base} + {}", adapter.name.trim_end_matches(".gguf")),
            }
        }
    }
}

fn merge(exam: &str, title: &str, runs: &[(usize, &Table)]) -> Merged {
    let mut merged = Merged {
        title: title.to_owned(),
        rows: Vec::new(),
        columns: Vec::new(),
        cells: BTreeMap::new(),
        notes: Vec::new(),
        sources: Vec::new(),
    };
    for &(run, table) in runs {
        for row in &table.rows {
            let key = (row.part.clone(), row.metric.clone());
            let place = match merged.rows.iter().position(|known| *known == key) {
                Some(place) => place,
                None => {
                    merged.rows.push(key);
                    merged.rows.len() - 1
                }
            };
            // A rule's figure is every run's; that of the first run stands for all.
            let owner = if RULES.contains(&row.judge.as_str()) { usize::MAX } else { run };
            let column = Column::Own(owner, row.judge.clone());
            if !merged.columns.contains(&column) {
                merged.columns.push(column.clone());
            }
            merged.cells.entry((place, column)).or_insert_with(|| Cell::Own(row.figure.clone()));
        }
        for note in &table.notes {
            if !merged.notes.contains(note) {
                merged.notes.push(note.clone());
            }
        }
    }
    merged.columns.sort();
    for anchor in anchors().unwrap_or_default().iter().filter(|anchor| anchor.exam == exam) {
        let key = (anchor.part.clone(), anchor.metric.clone());
        let Some(place) = merged.rows.iter().position(|known| *known == key) else { continue };
        let column = Column::Published(anchor.judge.clone());
        if !merged.columns.contains(&column) {
            merged.columns.push(column.clone());
        }
        merged.cells.insert((place, column), Cell::Published(anchor.value));
        let mind = anchor.mind.as_ref().map(|mind| format!(" {mind}")).unwrap_or_default();
        let source = format!("{}: {}.{mind}", anchor.judge, anchor.source.trim_end_matches('.'));
        if !merged.sources.contains(&source) {
            merged.sources.push(source);
        }
    }
    merged
}

/// All tables of one title, merged over the runs; by exam and in the order of the first run.
fn all(reports: &[RunReport]) -> Vec<Merged> {
    let mut order: Vec<(String, String)> = Vec::new();
    let mut by_table: BTreeMap<(String, String), Vec<(usize, &Table)>> = BTreeMap::new();
    for (run, report) in reports.iter().enumerate() {
        for table in &report.tables {
            let key = (report.run.exam.clone(), table.title.clone());
            if !order.contains(&key) {
                order.push(key.clone());
            }
            by_table.entry(key).or_default().push((run, table));
        }
    }
    order.sort_by(|a, b| a.0.cmp(&b.0));
    order.iter().filter_map(|key| Some(merge(&key.0, &key.1, by_table.get(key)?))).collect()
}

fn number(figure: &Figure) -> String {
    match (figure.value, figure.low, figure.high) {
        (Some(value), Some(low), Some(high)) => format!("{value:.3} ({low:.3} to {high:.3})"),
        (Some(value), ..) => format!("{value:.3}"),
        (None, ..) => figure.because.clone().unwrap_or_else(|| "no value".to_owned()),
    }
}

fn head(column: &Column, reports: &[RunReport]) -> String {
    match column {
        Column::Own(usize::MAX, judge) => judge.clone(),
        Column::Own(run, judge) => {
            let name = reports.get(*run).map(run_name).unwrap_or_default();
            format!("{name}: {judge}")
        }
        Column::Published(judge) => format!("{judge} (published)"),
    }
}

/// The number of items of a row: of all columns where they agree, else their range.
fn items(merged: &Merged, row: usize) -> String {
    let counts: Vec<usize> = merged
        .cells
        .iter()
        .filter_map(|((place, _), cell)| match cell {
            Cell::Own(figure) if *place == row => Some(figure.n),
            _ => None,
        })
        .collect();
    match (counts.iter().min(), counts.iter().max()) {
        (Some(least), Some(most)) if least == most => most.to_string(),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => String::new(),
    }
}

/// What every report says below its tables.
const CLOSING: &str = "Intervals are 95% bootstrap intervals (2,000 resamples, drawn by prompt or document). \"Published\" \
                       figures are others' and were taken from their papers; they were not measured here. No figure \
                       here is a benchmark's official total.";

fn about(report: &RunReport) -> String {
    let limit = report.run.limit.map_or_else(String::new, |limit| format!(", at most {limit} items"));
    format!(
        "{}: {}, asked {}{limit}, seed {}; {} of {} inquiries answered in {:.0} s ({} tokens) on {}; {} rows of the data \
         could not be read.",
        report.run.exam,
        run_name(report),
        report.run.asked,
        report.run.seed,
        report.answered,
        report.asks,
        report.seconds,
        report.tokens,
        report.device,
        report.problems
    )
}

/// The runs as Markdown.
#[must_use]
pub fn markdown(reports: &[RunReport]) -> String {
    let mut out = String::new();
    for merged in all(reports) {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(out, "## {}\n", cell(&merged.title));
        let _ = write!(out, "| part | figure | n |");
        for column in &merged.columns {
            let _ = write!(out, " {} |", cell(&head(column, reports)));
        }
        let _ = write!(out, "\n|---|---|---:|{}\n", "---|".repeat(merged.columns.len()));
        for (place, (part, metric)) in merged.rows.iter().enumerate() {
            let _ = write!(out, "| {} | {} | {} |", cell(part), cell(metric), items(&merged, place));
            for column in &merged.columns {
                let text = match merged.cells.get(&(place, column.clone())).unwrap_or(&Cell::None) {
                    Cell::Own(figure) => number(figure),
                    Cell::Published(value) => format!("*{value:.3}*"),
                    Cell::None => String::new(),
                };
                let _ = write!(out, " {} |", cell(&text));
            }
            out.push('\n');
        }
        out.push('\n');
        for note in merged.notes.iter().chain(&merged.sources) {
            let _ = writeln!(out, "- {}", cell(note));
        }
        out.push('\n');
    }
    out.push_str("## Runs\n\n");
    for report in reports {
        let _ = writeln!(out, "- {}", cell(&about(report)));
    }
    let _ = writeln!(out, "\n{CLOSING}");
    out
}

/// Text that can stand in a table's cell.
fn cell(text: &str) -> String {
    text.replace(['\n', '\r'], " ").replace('|', "\\|").replace('<', "&lt;")
}

/// The runs as one HTML file that fetches nothing.
#[must_use]
pub fn html(reports: &[RunReport]) -> String {
    let mut out = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Retort: the judges' exam</title>\n",
    );
    let _ = write!(out, "<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>The judges' exam</h1>\n");
    for merged in all(reports) {
        let _ = write!(
            out,
            "<section>\n<h2>{}</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n<thead><tr>\
             <th scope=\"col\">Part</th><th scope=\"col\">Figure</th><th scope=\"col\">n</th>",
            escaped(&merged.title),
            escaped(&merged.title)
        );
        for column in &merged.columns {
            let class = if matches!(column, Column::Published(_)) { " class=\"published\"" } else { "" };
            let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", escaped(&head(column, reports)));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for (place, (part, metric)) in merged.rows.iter().enumerate() {
            let _ = write!(
                out,
                "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"n\">{}</td>",
                escaped(part),
                escaped(&metric.replace('_', " ")),
                items(&merged, place)
            );
            for column in &merged.columns {
                match merged.cells.get(&(place, column.clone())).unwrap_or(&Cell::None) {
                    Cell::Own(Figure { value: Some(value), low, high, left_out, .. }) => {
                        let _ = write!(out, "<td><b>{value:.3}</b>");
                        if let (Some(low), Some(high)) = (low, high) {
                            let _ = write!(out, " <small>{low:.3} to {high:.3}</small>");
                        }
                        if *left_out > 0 {
                            let _ = write!(out, " <small>{left_out} left out</small>");
                        }
                        out.push_str("</td>");
                    }
                    Cell::Own(figure) => {
                        let reason = figure.because.as_deref().unwrap_or("no value");
                        let _ = write!(out, "<td><small>{}</small></td>", escaped(reason));
                    }
                    Cell::Published(value) => {
                        let _ = write!(out, "<td class=\"published\"><i>{value:.3}</i></td>");
                    }
                    Cell::None => out.push_str("<td></td>"),
                }
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n<ul>\n");
        for note in merged.notes.iter().chain(&merged.sources) {
            let _ = writeln!(out, "<li>{}</li>", escaped(note));
        }
        out.push_str("</ul>\n</section>\n");
    }
    out.push_str("<section>\n<h2>Runs</h2>\n<ul>\n");
    for report in reports {
        let _ = writeln!(out, "<li>{}</li>", escaped(&about(report)));
    }
    let _ = write!(out, "</ul>\n<p>{}</p>\n</section>\n</main>\n</body>\n</html>\n", escaped(CLOSING));
    out
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

const STYLE: &str = "\
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 90rem; margin: 0 auto; padding: 1.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; white-space: nowrap; }
thead th { white-space: normal; min-width: 7rem; }
.published { font-style: italic; opacity: .8; }
.n { text-align: right; }
small { opacity: .75; }
";
