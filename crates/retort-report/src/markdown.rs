//! The profile as Markdown (GitHub's flavour: its tables).

use std::fmt::Write as _;

use crate::notes::{count, grouped};
use crate::{Figure, Measure, Profile, show};

/// The most problems and prompts that are listed; JSON has all.
const MOST_LISTED: usize = 20;

/// The profile as Markdown. Names from the files are data: whatever Markdown or HTML they hold is shown and does
/// nothing.
#[must_use]
pub fn to_markdown(profile: &Profile) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail, here and below.
    let names: Vec<String> = profile.models.iter().map(|model| escaped(model.label())).collect();
    let _ = writeln!(
        out,
        "# Profile of {}\n",
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    );
    let _ = writeln!(out, "{}.", show::extent(profile));
    if !profile.judges.is_empty() {
        let judges: Vec<String> = profile.judges.iter().map(|judge| escaped(judge)).collect();
        let _ = writeln!(out, "Judged by {}.", judges.join("; "));
    }
    let level = profile.method.level * 100.0;
    let _ =
        writeln!(out, "\nEach cell is a mean, its {level}% interval, and the number of scores in it (n).\n");
    let glance: Vec<String> = names
        .iter()
        .enumerate()
        .filter_map(|(index, name)| {
            let [(high, most), (low, least)] = show::extremes(profile, index)?;
            let (high, low) = (escaped(high), escaped(low));
            let (most, least) = (show::number(most), show::number(least));
            Some(format!("- {name}: highest in {high} ({most}), lowest in {low} ({least})\n"))
        })
        .collect();
    if !glance.is_empty() {
        let _ = writeln!(out, "{}", glance.concat());
    }
    if !profile.skills.is_empty() {
        measures(&mut out, "Skills", "Skill", &profile.skills, &names);
    }
    if !profile.domains.is_empty() {
        measures(&mut out, "Domains", "Domain", &profile.domains, &names);
        let _ = writeln!(
            out,
            "A domain's figure is the mean of all scores of the rows that carry it. A row with two domains counts in both.\n"
        );
    }
    if !profile.difficulty.is_empty() {
        let _ = writeln!(out, "## Difficulty\n");
        for (index, name) in names.iter().enumerate() {
            let at = difficulty(profile, |level| level.at.get(index));
            let up_to = difficulty(profile, |level| level.up_to.get(index));
            let _ = writeln!(out, "### {name}: at each level\n\n{at}");
            let _ = writeln!(out, "### {name}: at each level and all easier ones\n\n{up_to}");
        }
    }
    checklists(&mut out, profile, &names);
    lengths(&mut out, profile, &names);
    let _ = writeln!(out, "## Counts\n");
    header(&mut out, &["Model", "Responses", "Prompts", "Scores", "N/A", "Unscored"]);
    for (model, name) in profile.models.iter().zip(&names) {
        let counts =
            [model.rows, model.prompts, model.scores, model.not_applicable, model.unscored].map(grouped);
        let _ = writeln!(out, "| {name} | {} |", counts.join(" | "));
    }
    let _ = writeln!(out, "\n## Notes\n");
    for note in &profile.notes {
        let _ = writeln!(out, "- {}", escaped(note));
    }
    listed(&mut out, "Judged prompts without labels", profile.without_labels.iter());
    listed(&mut out, "Labelled prompts without a judgement", profile.without_judgement.iter());
    listed(&mut out, "Not read", profile.problems.iter().map(ToString::to_string));
    if !profile.files.is_empty() {
        let _ = writeln!(out, "\n## Files\n");
        header(&mut out, &["File", "Records", "Reviews", "Labels", "Skipped"]);
        for file in &profile.files {
            let counts = [file.judgements, file.reviews, file.labels, file.skipped].map(grouped);
            let _ = writeln!(out, "| {} | {} |", escaped(&file.name), counts.join(" | "));
        }
    }
    out
}

fn header(out: &mut String, columns: &[&str]) {
    let rule: Vec<&str> =
        columns.iter().enumerate().map(|(index, _)| if index == 0 { "---" } else { "---:" }).collect();
    let _ = writeln!(out, "| {} |\n| {} |", columns.join(" | "), rule.join(" | "));
}

fn measures(out: &mut String, title: &str, column: &str, measures: &[Measure], names: &[String]) {
    let unit = show::common_unit(measures.iter().map(|measure| measure.unit));
    let _ = writeln!(out, "## {title}\n");
    if let Some(unit) = unit {
        let _ = writeln!(out, "Scale: {}.\n", show::unit(unit));
    }
    let mut columns = vec![column];
    if unit.is_none() {
        columns.push("Scale");
    }
    columns.extend(names.iter().map(String::as_str));
    header(out, &columns);
    for measure in measures {
        let scale = if unit.is_none() { format!(" {} |", show::unit(measure.unit)) } else { String::new() };
        let cells: Vec<String> = measure.figures.iter().map(cell).collect();
        let _ = writeln!(out, "| {} |{scale} {} |", escaped(&measure.name), cells.join(" | "));
    }
    out.push('\n');
}

fn cell(figure: &Figure) -> String {
    let behind = show::behind(figure);
    match figure.mean {
        Some(mean) => {
            let interval =
                show::interval(figure).map_or_else(|| "(no interval)".to_owned(), |text| format!("({text})"));
            format!("**{}** {interval}; {behind}", show::number(mean))
        }
        None => format!("none: {}; {behind}", escaped(figure.why_none.as_deref().unwrap_or_default())),
    }
}

fn difficulty<'a>(profile: &'a Profile, of: impl Fn(&'a crate::Level) -> Option<&'a Figure>) -> String {
    let mut out = String::new();
    let mut columns = vec!["Skill".to_owned()];
    if let Some(first) = profile.difficulty.first() {
        columns.extend(
            first.levels.iter().map(|level| {
                format!("{} {}", level.difficulty.level(), level.difficulty.name().to_lowercase())
            }),
        );
    }
    header(&mut out, &columns.iter().map(String::as_str).collect::<Vec<_>>());
    for row in &profile.difficulty {
        let cells: Vec<String> = row
            .levels
            .iter()
            .map(|level| match of(level) {
                Some(figure) if figure.count + figure.not_applicable + figure.unscored > 0 => cell(figure),
                _ => "–".to_owned(),
            })
            .collect();
        let _ = writeln!(out, "| {} | {} |", escaped(&row.name), cells.join(" | "));
    }
    out
}

fn checklists(out: &mut String, profile: &Profile, names: &[String]) {
    if profile.models.iter().all(|model| model.checklist.is_none()) {
        return;
    }
    let _ = writeln!(out, "## Checklists\n\nScale: 0 to 1.\n");
    header(out, &["Model", "Score", "Items met", "Verified by code", "Judged", "N/A", "Unscored"]);
    for (model, name) in profile.models.iter().zip(names) {
        let Some(lists) = &model.checklist else { continue };
        let counts =
            [lists.met, lists.verified, lists.judged, lists.not_applicable, lists.unscored].map(grouped);
        let _ = writeln!(out, "| {name} | {} | {} |", cell(&lists.score), counts.join(" | "));
    }
    out.push('\n');
}

fn lengths(out: &mut String, profile: &Profile, names: &[String]) {
    if profile.models.iter().all(|model| model.length.is_none()) {
        return;
    }
    let _ = writeln!(
        out,
        "## Length\n\nHow a response's mean score goes with its length in words. A judge that favours length shows here.\n"
    );
    header(out, &["Model", "Mean words", "Pearson", "Spearman", "Responses"]);
    for (model, name) in profile.models.iter().zip(names) {
        let Some(length) = &model.length else { continue };
        let why = length.why_none.as_ref().map_or_else(String::new, |why| format!(": {}", escaped(why)));
        let _ = writeln!(
            out,
            "| {name} | {:.0} | {}{why} | {} | {} |",
            length.mean_words,
            show::correlation(length.pearson),
            show::correlation(length.spearman),
            grouped(length.rows)
        );
    }
    out.push('\n');
}

fn listed(out: &mut String, title: &str, items: impl ExactSizeIterator<Item = impl AsRef<str>>) {
    let total = items.len();
    if total == 0 {
        return;
    }
    let _ = writeln!(out, "\n## {title}\n");
    for item in items.take(MOST_LISTED) {
        let _ = writeln!(out, "- {}", escaped(item.as_ref()));
    }
    if total > MOST_LISTED {
        let _ =
            writeln!(out, "- and {}; the JSON form lists all", count(total - MOST_LISTED, "more", "more"));
    }
}

/// Text that Markdown shows as it is, on one line and within a table's cell.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        // GitHub makes links of bare addresses; a backslash in them prevents it.
        let is_address =
            rest.starts_with("://") || rest.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www."));
        rest = &rest[c.len_utf8()..];
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '!' | '|' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            ':' if is_address => out.push_str("\\:"),
            'w' | 'W' if is_address => {
                out.push(c);
                out.push_str(&rest[..2]);
                out.push('\\');
                rest = &rest[2..];
            }
            // Line ends and other control characters would end the row.
            c if c.is_control() || c == '\u{2028}' || c == '\u{2029}' => out.push(' '),
            c if show::turns_text(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.trim().to_owned()
}
