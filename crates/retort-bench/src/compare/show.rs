//! Comparisons for readers: Markdown and HTML, before the runs side by side.

use std::fmt::Write as _;

use super::{Better, Clear, Comparison, Difference, Line, Opponent, RULES, Section, Summary};
use crate::Figure;
use crate::report::{cell, escaped, html_after, markdown as runs_markdown};
use crate::store::RunReport;

/// A table of texts, with what is marked in them.
struct Sheet {
    title: String,
    head: Vec<String>,
    rows: Vec<Vec<Entry>>,
    notes: Vec<String>,
}

#[derive(Default)]
struct Entry {
    text: String,
    mark: Option<Clear>,
}

impl From<String> for Entry {
    fn from(text: String) -> Self {
        Self { text, mark: None }
    }
}

fn word(mark: Clear) -> &'static str {
    match mark {
        Clear::Above => "better",
        Clear::Below => "worse",
        Clear::Differs => "differs",
    }
}

/// What every comparison says.
const ABOUT: &str = "Differences are by how much the judge is better, over the items that both answered, with 95% intervals of a \
                     paired bootstrap: each of 2,000 resamples draws the same prompts or documents for both. better and worse \
                     mark an interval that is clear of zero. Intervals are of one figure each; among many, some are clear of zero \
                     by chance. The base's best way is chosen by its figures here and is so a harder opponent than any way \
                     chosen before.";

fn difference(figure: &Figure, mark: Option<Clear>) -> Entry {
    let text = match (figure.value, figure.low, figure.high) {
        (Some(value), Some(low), Some(high)) => format!("{value:+.3} ({low:+.3} to {high:+.3})"),
        (Some(value), ..) => format!("{value:+.3}"),
        (None, ..) => figure.because.clone().unwrap_or_default(),
    };
    Entry { text, mark }
}

fn number(value: Option<f64>) -> Entry {
    value.map(|value| format!("{value:.3}")).unwrap_or_default().into()
}

fn overview(comparison: &Comparison, summary: &Summary) -> Sheet {
    let base_way = summary.base_way.clone();
    let against =
        base_way.map_or_else(|| "the base's best way".to_owned(), |way| format!("the base's {way}"));
    let mut head: Vec<String> =
        ["Benchmark", "Figure", "Ways", "n", "Judge", "Base", "Chance"].map(str::to_owned).into();
    head.extend(RULES.map(str::to_owned));
    head.extend(["Over base", "Over chance"].map(str::to_owned));
    let row = |line: &Line| {
        let name =
            if line.counts { line.benchmark.clone() } else { format!("{} (not counted)", line.benchmark) };
        let metric = line
            .tasks
            .map_or_else(|| line.metric.clone(), |tasks| format!("{} of {tasks} tasks", line.metric));
        let left_out = line.over_base.left_out;
        let n = if left_out > 0 {
            format!("{}, {left_out} left out", line.over_base.n)
        } else {
            line.over_base.n.to_string()
        };
        let mut cells: Vec<Entry> = vec![
            name.into(),
            metric.into(),
            format!("{}:{}", line.way, line.base_way).into(),
            n.into(),
            number(line.judge),
            number(line.base),
            number(line.chance),
        ];
        cells.extend(
            RULES.map(|rule| {
                number(line.rules.iter().find(|(name, _)| name == rule).map(|(_, value)| *value))
            }),
        );
        cells.push(difference(&line.over_base, line.clear_of_base));
        cells.push(difference(&line.over_chance, line.clear_of_chance));
        cells
    };
    let mut notes = vec![format!(
        "On {} of {} benchmarks above base and above chance, both intervals clear of zero.",
        summary.above, summary.of
    )];
    for means in &summary.means {
        notes.push(format!(
            "Mean over {} benchmarks: judge {:.3}, {} {:.3} ({:+.3}). They are {}.",
            means.benchmarks.len(),
            means.judge,
            means.against,
            means.other,
            means.judge - means.other,
            means.benchmarks.join(", ")
        ));
    }
    Sheet {
        title: format!("{}: {} against {} of {}", comparison.judge, summary.way, against, comparison.base),
        head,
        rows: summary.lines.iter().map(row).collect(),
        notes,
    }
}

fn name(opponent: &Opponent) -> String {
    match opponent {
        Opponent::Base(way) => format!("base: {way}"),
        Opponent::BasesBest(_) => "base's best way".to_owned(),
        Opponent::Chance => "chance".to_owned(),
        Opponent::Rule(rule) => rule.clone(),
    }
}

fn details(section: &Section) -> Sheet {
    let mut columns: Vec<String> = Vec::new();
    let mut order: Vec<(&Opponent, String)> =
        section.rows.iter().map(|row| (&row.against, name(&row.against))).collect();
    order.sort_by(|a, b| {
        let rank = |opponent: &Opponent| match opponent {
            Opponent::Base(_) => 0,
            Opponent::BasesBest(_) => 1,
            Opponent::Chance => 2,
            Opponent::Rule(rule) => 3 + RULES.iter().position(|known| known == rule).unwrap_or(RULES.len()),
        };
        rank(a.0).cmp(&rank(b.0))
    });
    for (_, name) in order {
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    let mut lines: Vec<(&Difference, Vec<&Difference>)> = Vec::new();
    for row in &section.rows {
        let same = |(first, _): &&mut (&Difference, Vec<&Difference>)| {
            (&first.part, &first.metric, &first.way) == (&row.part, &row.metric, &row.way)
        };
        match lines.iter_mut().find(same) {
            Some((_, all)) => all.push(row),
            None => lines.push((row, vec![row])),
        }
    }
    let row = |(first, all): &(&Difference, Vec<&Difference>)| {
        let metric = first.metric.replace('_', " ");
        let metric =
            if first.better == Better::Lower { format!("{metric} (less is better)") } else { metric };
        let mut cells: Vec<Entry> = vec![
            first.part.replace('_', " ").into(),
            metric.into(),
            first.way.clone().into(),
            first.difference.n.to_string().into(),
            number(first.judge),
        ];
        cells.extend(columns.iter().map(|column| {
            let Some(found) = all.iter().find(|row| name(&row.against) == *column) else {
                return Entry::default();
            };
            let mut entry = difference(&found.difference, found.clear);
            if let Opponent::BasesBest(way) = &found.against {
                let _ = write!(entry.text, ", {way}");
            }
            if found.difference.n != first.difference.n {
                let _ = write!(entry.text, ", n {}", found.difference.n);
            }
            if found.difference.left_out > 0 {
                let _ = write!(entry.text, ", {} left out", found.difference.left_out);
            }
            entry
        }));
        cells
    };
    let mut head: Vec<String> = ["Part", "Figure", "Way", "n", "Judge"].map(str::to_owned).into();
    let rows = lines.iter().map(row).collect();
    head.extend(columns);
    Sheet { title: section.title.clone(), head, rows, notes: section.notes.clone() }
}

fn sheets(comparison: &Comparison) -> Vec<Sheet> {
    let mut sheets: Vec<Sheet> =
        comparison.summaries.iter().map(|summary| overview(comparison, summary)).collect();
    sheets.extend(comparison.sections.iter().map(details));
    sheets
}

fn heading(comparison: &Comparison) -> String {
    format!("{} against {}", comparison.judge, comparison.base)
}

/// Comparisons, and the runs side by side, as Markdown.
#[must_use]
pub fn markdown(comparisons: &[Comparison], reports: &[RunReport]) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail, here and below.
    for comparison in comparisons {
        let _ = write!(out, "# {}\n\n{ABOUT}\n\n", cell(&heading(comparison)));
        for note in &comparison.notes {
            let _ = writeln!(out, "- {}", cell(note));
        }
        if !comparison.notes.is_empty() {
            out.push('\n');
        }
        for sheet in sheets(comparison) {
            let _ = write!(out, "## {}\n\n|", cell(&sheet.title));
            for head in &sheet.head {
                let _ = write!(out, " {} |", cell(head));
            }
            let _ = write!(out, "\n|{}\n", "---|".repeat(sheet.head.len()));
            for row in &sheet.rows {
                out.push('|');
                for entry in row {
                    let mark = entry.mark.map(|mark| format!(" **{}**", word(mark))).unwrap_or_default();
                    let _ = write!(out, " {}{mark} |", cell(&entry.text));
                }
                out.push('\n');
            }
            out.push('\n');
            for note in &sheet.notes {
                let _ = writeln!(out, "- {}", cell(note));
            }
            if !sheet.notes.is_empty() {
                out.push('\n');
            }
        }
    }
    out.push_str("# Runs side by side\n\n");
    out.push_str(&runs_markdown(reports));
    out
}

/// Comparisons, and the runs side by side, as one HTML file that fetches nothing.
#[must_use]
pub fn html(comparisons: &[Comparison], reports: &[RunReport]) -> String {
    let mut out = String::new();
    for comparison in comparisons {
        let heading = escaped(&heading(comparison));
        let _ = write!(out, "<section>\n<h2>{heading}</h2>\n<p>{}</p>\n", escaped(ABOUT));
        list(&mut out, &comparison.notes);
        for sheet in sheets(comparison) {
            let title = escaped(&sheet.title);
            let _ = write!(
                out,
                "<h3>{title}</h3>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\"><table>\n<thead><tr>"
            );
            for head in &sheet.head {
                let _ = write!(out, "<th scope=\"col\">{}</th>", escaped(head));
            }
            out.push_str("</tr></thead>\n<tbody>\n");
            for row in &sheet.rows {
                out.push_str("<tr>");
                for (place, entry) in row.iter().enumerate() {
                    let (open, close) =
                        if place == 0 { ("<th scope=\"row\">", "</th>") } else { ("<td>", "</td>") };
                    let mark = entry.mark.map(|mark| format!(" <b>{}</b>", word(mark))).unwrap_or_default();
                    let _ = write!(out, "{open}{}{mark}{close}", escaped(&entry.text));
                }
                out.push_str("</tr>\n");
            }
            out.push_str("</tbody></table></div>\n");
            list(&mut out, &sheet.notes);
        }
        out.push_str("</section>\n");
    }
    html_after(reports, &out)
}

fn list(out: &mut String, notes: &[String]) {
    if notes.is_empty() {
        return;
    }
    out.push_str("<ul>\n");
    for note in notes {
        let _ = writeln!(out, "<li>{}</li>", escaped(note));
    }
    out.push_str("</ul>\n");
}
