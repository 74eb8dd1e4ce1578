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

/// Stands for the run of a column that is the same in every run.
const EVERY_RUN: usize = usize::MAX;

/// What the model of a run says, by the way it was asked. Everything else (rules, people, published verdicts) is the same in
/// every run, so it is shown once and under its own name.
pub(crate) const ASKED: [&str; 6] = ["together", "alone", "skills", "agnostic", "no_reference", "no_rubric"];

/// The tables of one title, over all runs.
struct Merged {
    title: String,
    /// One for each metric, in the order of the first run.
    grids: Vec<Grid>,
    notes: Vec<String>,
    sources: Vec<String>,
}

/// One metric: a row for each part of the data, a column for each judge.
struct Grid {
    metric: String,
    parts: Vec<String>,
    columns: Vec<Column>,
    cells: BTreeMap<(usize, Column), Cell>,
}

impl Grid {
    fn set(&mut self, part: &str, column: Column, cell: Cell) {
        let place = match self.parts.iter().position(|known| known == part) {
            Some(place) => place,
            None => {
                self.parts.push(part.to_owned());
                self.parts.len() - 1
            }
        };
        if !self.columns.contains(&column) {
            self.columns.push(column.clone());
        }
        // A rule's figure is every run's; that of the first run stands for all.
        self.cells.entry((place, column)).or_insert(cell);
    }

    /// The number of items of a row: of all columns where they agree, else their range.
    fn items(&self, row: usize) -> String {
        let counts = self.cells.iter().filter_map(|((place, _), cell)| match cell {
            Cell::Own(figure) if *place == row => Some(figure.n),
            _ => None,
        });
        match (counts.clone().min(), counts.max()) {
            (Some(least), Some(most)) if least == most => most.to_string(),
            (Some(least), Some(most)) => format!("{least} to {most}"),
            _ => String::new(),
        }
    }

    fn cell(&self, row: usize, column: &Column) -> &Cell {
        self.cells.get(&(row, column.clone())).unwrap_or(&Cell::None)
    }
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
        title: format!("{exam}: {title}"),
        grids: Vec::new(),
        notes: Vec::new(),
        sources: Vec::new(),
    };
    for &(run, table) in runs {
        for row in &table.rows {
            let owner = if ASKED.contains(&row.judge.as_str()) { run } else { EVERY_RUN };
            let place = match merged.grids.iter().position(|grid| grid.metric == row.metric) {
                Some(place) => place,
                None => {
                    merged.grids.push(Grid {
                        metric: row.metric.clone(),
                        parts: Vec::new(),
                        columns: Vec::new(),
                        cells: BTreeMap::new(),
                    });
                    merged.grids.len() - 1
                }
            };
            let column = Column::Own(owner, row.judge.clone());
            merged.grids[place].set(&row.part, column, Cell::Own(row.figure.clone()));
        }
        for note in &table.notes {
            if !merged.notes.contains(note) {
                merged.notes.push(note.clone());
            }
        }
    }
    for grid in &mut merged.grids {
        grid.columns.sort();
    }
    for anchor in anchors().unwrap_or_default().iter().filter(|anchor| anchor.exam == exam) {
        // Only beside what was measured: a part or metric that no run has is not shown.
        let Some(grid) = merged.grids.iter_mut().find(|grid| grid.metric == anchor.metric) else { continue };
        if !grid.parts.contains(&anchor.part) {
            continue;
        }
        grid.set(&anchor.part, Column::Published(anchor.judge.clone()), Cell::Published(anchor.value));
        let mind = anchor.mind.as_ref().map(|mind| format!(" {mind}")).unwrap_or_default();
        let source = format!("{}: {}.{mind}", anchor.judge, anchor.source.trim_end_matches('.'));
        if !merged.sources.contains(&source) {
            merged.sources.push(source);
        }
    }
    if merged.grids.len() > 1 && merged.grids.iter().all(|grid| grid.parts.len() == 1) {
        merged.grids = vec![turned(std::mem::take(&mut merged.grids))];
    }
    merged
}

/// Metrics that have one row each, as the rows of one grid.
fn turned(grids: Vec<Grid>) -> Grid {
    let mut all =
        Grid { metric: "figure".into(), parts: Vec::new(), columns: Vec::new(), cells: BTreeMap::new() };
    for grid in grids {
        let part = grid.parts.first().filter(|part| *part != "all");
        let name = part.map_or_else(|| grid.metric.clone(), |part| format!("{} ({part})", grid.metric));
        for ((_, column), cell) in grid.cells {
            all.set(&name, column, cell);
        }
    }
    all.columns.sort();
    all
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
        Column::Own(EVERY_RUN, judge) => judge.clone(),
        Column::Own(run, judge) => {
            let name = reports.get(*run).map(run_name).unwrap_or_default();
            format!("{name}: {judge}")
        }
        Column::Published(judge) => format!("{judge} (published)"),
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
        for grid in &merged.grids {
            let _ = write!(out, "| {} | n |", cell(&grid.metric));
            for column in &grid.columns {
                let _ = write!(out, " {} |", cell(&head(column, reports)));
            }
            let _ = write!(out, "\n|---|---:|{}\n", "---|".repeat(grid.columns.len()));
            for (row, part) in grid.parts.iter().enumerate() {
                let _ = write!(out, "| {} | {} |", cell(part), grid.items(row));
                for column in &grid.columns {
                    let text = match grid.cell(row, column) {
                        Cell::Own(figure) => number(figure),
                        Cell::Published(value) => format!("*{value:.3}*"),
                        Cell::None => String::new(),
                    };
                    let _ = write!(out, " {} |", cell(&text));
                }
                out.push('\n');
            }
            out.push('\n');
        }
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
pub(crate) fn cell(text: &str) -> String {
    text.replace(['\n', '\r'], " ").replace('|', "\\|").replace('<', "&lt;")
}

/// The runs as one HTML file that fetches nothing.
#[must_use]
pub fn html(reports: &[RunReport]) -> String {
    html_after(reports, "")
}

/// The runs as one HTML file, with sections before theirs that are HTML already.
pub(crate) fn html_after(reports: &[RunReport], before: &str) -> String {
    let mut out = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Retort: the judges' exam</title>\n",
    );
    let _ =
        write!(out, "<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>The judges' exam</h1>\n{before}");
    for merged in all(reports) {
        let _ = writeln!(out, "<section>\n<h2>{}</h2>", escaped(&merged.title));
        for grid in &merged.grids {
            let metric = escaped(&grid.metric.replace('_', " "));
            let _ = write!(
                out,
                "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}: {metric}\"><table>\n\
                 <caption>{metric}</caption>\n<thead><tr><th scope=\"col\">Part</th><th scope=\"col\" class=\"n\">n</th>",
                escaped(&merged.title)
            );
            for column in &grid.columns {
                let class = if matches!(column, Column::Published(_)) { " class=\"published\"" } else { "" };
                let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", escaped(&head(column, reports)));
            }
            out.push_str("</tr></thead>\n<tbody>\n");
            for (row, part) in grid.parts.iter().enumerate() {
                let _ = write!(
                    out,
                    "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td>",
                    escaped(&part.replace('_', " ")),
                    grid.items(row)
                );
                for column in &grid.columns {
                    html_cell(&mut out, grid.cell(row, column));
                }
                out.push_str("</tr>\n");
            }
            out.push_str("</tbody></table></div>\n");
        }
        out.push_str("<ul>\n");
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

fn html_cell(out: &mut String, cell: &Cell) {
    // Writing to a String cannot fail.
    match cell {
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

pub(crate) fn escaped(text: &str) -> String {
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
caption { text-align: left; font-weight: 600; padding: .8rem 0 .2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; white-space: nowrap; }
thead th { white-space: normal; min-width: 7rem; }
.published { font-style: italic; opacity: .8; }
.n { text-align: right; }
small { opacity: .75; }
";
