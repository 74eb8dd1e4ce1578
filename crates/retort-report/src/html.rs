//! The profile as one HTML file that needs nothing else: no script, no font, no picture from anywhere (P52).

use std::fmt::Write as _;

use crate::notes::{FEW_PROMPTS, count, grouped};
use crate::{Figure, Measure, Profile, chart, show};

/// The most problems and prompts that are listed; JSON has all.
const MOST_LISTED: usize = 50;

/// The profile as HTML. Names from the files are data: every text is escaped, and nothing in it is markup or script.
#[must_use]
pub fn to_html(profile: &Profile) -> String {
    let names: Vec<&str> = profile.models.iter().map(|model| model.label()).collect();
    let title = match names.as_slice() {
        [] => "Nothing was judged".to_owned(),
        [one] => (*one).to_owned(),
        [before @ .., last] if names.len() <= 4 => format!("{} and {last}", before.join(", ")),
        [first, ..] => format!("{first} and {} others", names.len() - 1),
    };
    let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    // Nothing is fetched, whatever a name may hold: the browser is told so, too.
    out.push_str(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n",
    );
    // Writing to a String cannot fail, here and below.
    let _ = write!(
        out,
        "<title>{} – Retort profile</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        escaped(&title)
    );
    head(&mut out, profile, &title);
    skills(&mut out, profile);
    domains(&mut out, profile);
    difficulty(&mut out, profile);
    checklists(&mut out, profile);
    lengths(&mut out, profile);
    about(&mut out, profile);
    let _ = write!(
        out,
        "</main>\n<footer>Made by Retort {}. A score says what one judge made of a response; it is a reading, not a verdict.</footer>\n</body>\n</html>\n",
        escaped(&profile.version)
    );
    out
}

fn head(out: &mut String, profile: &Profile, title: &str) {
    let _ = write!(
        out,
        "<header>\n<p class=\"kicker\">Profile</p>\n<h1>{}</h1>\n<p class=\"lede\">{}.</p>\n",
        escaped(title),
        escaped(&show::extent(profile))
    );
    let total = |of: fn(&crate::Model) -> usize| profile.models.iter().map(of).sum::<usize>();
    let skipped: usize = profile.files.iter().map(|file| file.skipped).sum();
    out.push_str("<dl class=\"counts\">\n");
    for (number, name) in [
        (total(|model| model.rows), "responses"),
        (total(|model| model.scores), "scores"),
        (total(|model| model.not_applicable), "not applicable"),
        (total(|model| model.unscored), "unscored"),
        (skipped, "rows skipped"),
    ] {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", grouped(number));
    }
    out.push_str("</dl>\n");
    if !profile.judges.is_empty() {
        let judges: Vec<String> = profile.judges.iter().map(|judge| bdi(judge)).collect();
        let _ = writeln!(out, "<p class=\"judge\">Judged by {}.</p>", judges.join("; "));
    }
    let glance: Vec<String> = (0..profile.models.len())
        .filter_map(|index| {
            let [(high, most), (low, least)] = show::extremes(profile, index)?;
            Some(format!(
                "<li>{}{} in <strong>{}</strong> ({}), lowest in <strong>{}</strong> ({})</li>",
                named(profile, index),
                if profile.models.len() > 1 { "highest" } else { "Highest" },
                bdi(high),
                show::number(most),
                bdi(low),
                show::number(least)
            ))
        })
        .collect();
    if !glance.is_empty() {
        let _ = writeln!(out, "<ul class=\"glance\">\n{}\n</ul>", glance.join("\n"));
    } else if profile.models.len() > 1 {
        legend(out, profile, profile.models.len());
    }
    out.push_str("</header>\n");
}

/// A model's sign, letter and name; nothing where there is but one.
fn named(profile: &Profile, index: usize) -> String {
    match profile.models.get(index) {
        Some(model) if profile.models.len() > 1 => format!(
            "{}<b class=\"letter\">{}</b> <span class=\"name\">{}</span>: ",
            chart::sign(index),
            show::letter(index),
            bdi(model.label())
        ),
        _ => String::new(),
    }
}

fn legend(out: &mut String, profile: &Profile, models: usize) {
    if profile.models.len() < 2 {
        return;
    }
    out.push_str("<ul class=\"legend\">\n");
    for (index, model) in profile.models.iter().enumerate().take(models) {
        let _ = writeln!(
            out,
            "<li>{}<b class=\"letter\">{}</b> {}</li>",
            chart::sign(index),
            show::letter(index),
            bdi(model.label())
        );
    }
    out.push_str("</ul>\n");
}

fn skills(out: &mut String, profile: &Profile) {
    if profile.skills.is_empty() {
        return;
    }
    out.push_str("<section>\n<h2>Skills</h2>\n");
    let _ = writeln!(out, "<p class=\"hint\">{}</p>", scale_hint(&profile.skills, profile));
    if let Some(radar) = chart::radar(profile, "radar") {
        out.push_str("<figure>\n");
        let _ = writeln!(out, "<div class=\"scroll\">{radar}</div>");
        legend(out, profile, chart::MOST_IN_RADAR);
        if profile.models.len() > chart::MOST_IN_RADAR {
            let _ = writeln!(
                out,
                "<figcaption>The first {} models; the bars and the table have all {}.</figcaption>",
                chart::MOST_IN_RADAR,
                profile.models.len()
            );
        }
        out.push_str("</figure>\n");
    }
    out.push_str("<figure>\n");
    let bars = chart::bars(profile, &profile.skills, "Skills: means with their intervals", "skill-bars");
    let _ = writeln!(out, "<div class=\"scroll\">{bars}</div>");
    legend(out, profile, profile.models.len());
    out.push_str("</figure>\n");
    table(out, profile, "Skills", "Skill", &profile.skills);
    out.push_str("</section>\n");
}

fn domains(out: &mut String, profile: &Profile) {
    if profile.domains.is_empty() {
        return;
    }
    out.push_str("<section>\n<h2>Domains</h2>\n");
    let _ = writeln!(
        out,
        "<p class=\"hint\">The mean of all scores of the rows that carry a domain. A row with two domains counts in both. {}</p>",
        scale_hint(&profile.domains, profile)
    );
    out.push_str("<figure>\n");
    let bars = chart::bars(profile, &profile.domains, "Domains: means with their intervals", "domain-bars");
    let _ = writeln!(out, "<div class=\"scroll\">{bars}</div>");
    legend(out, profile, profile.models.len());
    out.push_str("</figure>\n");
    table(out, profile, "Domains", "Domain", &profile.domains);
    out.push_str("</section>\n");
}

fn scale_hint(measures: &[Measure], profile: &Profile) -> String {
    let level = profile.method.level * 100.0;
    match show::common_unit(measures.iter().map(|measure| measure.unit)) {
        Some(unit) => {
            format!("Scale: {}. Lines across the bars are {level}% intervals.", escaped(&show::unit(unit)))
        }
        None => format!("Each rubric on its own scale. Lines across the bars are {level}% intervals."),
    }
}

fn table(out: &mut String, profile: &Profile, caption: &str, first: &str, measures: &[Measure]) {
    let unit = show::common_unit(measures.iter().map(|measure| measure.unit));
    let level = profile.method.level * 100.0;
    let _ = write!(
        out,
        "<div class=\"scroll\"><table>\n<caption>{caption}: mean, {level}% interval, number of scores</caption>\n<thead><tr><th scope=\"col\">{first}</th>"
    );
    if unit.is_none() {
        out.push_str("<th scope=\"col\">Scale</th>");
    }
    model_columns(out, profile);
    out.push_str("</tr></thead>\n<tbody>\n");
    for measure in measures {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", bdi(&measure.name));
        if unit.is_none() {
            let _ = write!(out, "<td>{}</td>", escaped(&show::unit(measure.unit)));
        }
        for figure in &measure.figures {
            cell(out, figure);
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

fn model_columns(out: &mut String, profile: &Profile) {
    for (index, model) in profile.models.iter().enumerate() {
        let letter = if profile.models.len() > 1 {
            format!("<b class=\"letter\">{}</b> ", show::letter(index))
        } else {
            String::new()
        };
        let _ = write!(out, "<th scope=\"col\">{letter}{}</th>", bdi(model.label()));
    }
}

fn cell(out: &mut String, figure: &Figure) {
    let behind = escaped(&show::behind(figure));
    let _ = match figure.mean {
        Some(mean) => {
            let interval = show::interval(figure).unwrap_or_else(|| "no interval".to_owned());
            write!(
                out,
                "<td><span class=\"mean\">{}</span> <span class=\"interval\">{}</span> <span class=\"behind\">{behind}</span></td>",
                show::number(mean),
                escaped(&interval)
            )
        }
        None => write!(
            out,
            "<td><span class=\"none\">none: {}</span> <span class=\"behind\">{behind}</span></td>",
            escaped(figure.why_none.as_deref().unwrap_or_default())
        ),
    };
}

fn difficulty(out: &mut String, profile: &Profile) {
    if profile.difficulty.is_empty() {
        return;
    }
    out.push_str("<section>\n<h2>Difficulty</h2>\n");
    let _ = writeln!(
        out,
        "<p class=\"hint\">Each skill at each level of difficulty; the stronger the ground, the higher the mean on its scale. \
         An asterisk marks means of fewer than {FEW_PROMPTS} prompts.</p>"
    );
    for (index, model) in profile.models.iter().enumerate() {
        if profile.models.len() > 1 {
            let _ = writeln!(
                out,
                "<h3>{}<b class=\"letter\">{}</b> {}</h3>",
                chart::sign(index),
                show::letter(index),
                bdi(model.label())
            );
        }
        let title = format!("Skills by difficulty: {}", model.label());
        let at = |level| figure_at(level, index);
        let map = chart::heat_map(&profile.difficulty, at, &title, &format!("heat-{index}"));
        let _ = writeln!(out, "<figure>\n<div class=\"scroll\">{map}</div>\n</figure>");
        difficulty_table(out, profile, "At each level", at);
        difficulty_table(out, profile, "At each level and all easier ones", |level| level.up_to.get(index));
    }
    out.push_str("</section>\n");
}

fn figure_at(level: &crate::Level, model: usize) -> Option<&Figure> {
    level.at.get(model)
}

fn difficulty_table<'a>(
    out: &mut String,
    profile: &'a Profile,
    caption: &str,
    of: impl Fn(&'a crate::Level) -> Option<&'a Figure>,
) {
    let _ = write!(
        out,
        "<div class=\"scroll\"><table class=\"dense\">\n<caption>{caption}: mean, {}% interval, number of scores</caption>\n<thead><tr><th scope=\"col\">Skill</th>",
        profile.method.level * 100.0
    );
    for level in profile.difficulty.iter().take(1).flat_map(|row| &row.levels) {
        let _ =
            write!(out, "<th scope=\"col\">{}. {}</th>", level.difficulty.level(), level.difficulty.name());
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &profile.difficulty {
        let class = if row.id.is_none() { " class=\"together\"" } else { "" };
        let _ = write!(out, "<tr{class}><th scope=\"row\">{}</th>", bdi(&row.name));
        for level in &row.levels {
            match of(level) {
                Some(figure) if figure.count + figure.not_applicable + figure.unscored > 0 => {
                    cell(out, figure)
                }
                _ => out.push_str("<td><span class=\"none\">–</span></td>"),
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

fn checklists(out: &mut String, profile: &Profile) {
    if profile.models.iter().all(|model| model.checklist.is_none()) {
        return;
    }
    out.push_str(
        "<section>\n<h2>Checklists</h2>\n<p class=\"hint\">The share of a checklist that a response meets, 0 to 1. Verified items were decided by code and are exact.</p>\n\
         <div class=\"scroll\"><table>\n<caption>Checklists: mean score, and items by how they were decided</caption>\n<thead><tr>\
         <th scope=\"col\">Model</th><th scope=\"col\">Score</th><th scope=\"col\">Met</th><th scope=\"col\">Verified</th>\
         <th scope=\"col\">Judged</th><th scope=\"col\">N/A</th><th scope=\"col\">Unscored</th></tr></thead>\n<tbody>\n",
    );
    for model in &profile.models {
        let Some(lists) = &model.checklist else { continue };
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", bdi(model.label()));
        cell(out, &lists.score);
        for number in [lists.met, lists.verified, lists.judged, lists.not_applicable, lists.unscored] {
            let _ = write!(out, "<td>{}</td>", grouped(number));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n</section>\n");
}

fn lengths(out: &mut String, profile: &Profile) {
    if profile.models.iter().all(|model| model.length.is_none()) {
        return;
    }
    out.push_str(
        "<section>\n<h2>Length</h2>\n<p class=\"hint\">How a response’s mean score goes with its length in words, from −1 to +1. A judge that favours long responses shows here.</p>\n\
         <div class=\"scroll\"><table>\n<caption>Correlation of length and score</caption>\n<thead><tr><th scope=\"col\">Model</th>\
         <th scope=\"col\">Mean words</th><th scope=\"col\">Pearson</th><th scope=\"col\">Spearman</th><th scope=\"col\">Responses</th></tr></thead>\n<tbody>\n",
    );
    for model in &profile.models {
        let Some(length) = &model.length else { continue };
        let why = length
            .why_none
            .as_ref()
            .map_or_else(String::new, |why| format!(" <span class=\"behind\">{}</span>", escaped(why)));
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{:.0}</td><td>{}{why}</td><td>{}</td><td>{}</td></tr>",
            bdi(model.label()),
            length.mean_words,
            show::correlation(length.pearson),
            show::correlation(length.spearman),
            grouped(length.rows)
        );
    }
    out.push_str("</tbody>\n</table></div>\n</section>\n");
}

fn about(out: &mut String, profile: &Profile) {
    out.push_str("<section class=\"about\">\n<h2>How to read this</h2>\n<ul>\n");
    for note in &profile.notes {
        let _ = writeln!(out, "<li>{}</li>", bdi(note));
    }
    out.push_str("</ul>\n<div class=\"scroll\"><table>\n<caption>Counts</caption>\n<thead><tr><th scope=\"col\">Model</th>\
         <th scope=\"col\">Responses</th><th scope=\"col\">Prompts</th><th scope=\"col\">Scores</th><th scope=\"col\">N/A</th>\
         <th scope=\"col\">Unscored</th></tr></thead>\n<tbody>\n");
    for (index, model) in profile.models.iter().enumerate() {
        let letter = if profile.models.len() > 1 {
            format!("<b class=\"letter\">{}</b> ", show::letter(index))
        } else {
            String::new()
        };
        let _ = write!(out, "<tr><th scope=\"row\">{letter}{}</th>", bdi(model.label()));
        for number in [model.rows, model.prompts, model.scores, model.not_applicable, model.unscored] {
            let _ = write!(out, "<td>{}</td>", grouped(number));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    listed(out, "Judged prompts without labels", profile.without_labels.iter());
    listed(out, "Labelled prompts without a judgement", profile.without_judgement.iter());
    listed(out, "Not read", profile.problems.iter().map(ToString::to_string));
    if !profile.files.is_empty() {
        out.push_str("<div class=\"scroll\"><table>\n<caption>Files</caption>\n<thead><tr><th scope=\"col\">File</th><th scope=\"col\">Records</th>\
             <th scope=\"col\">Reviews</th><th scope=\"col\">Labels</th><th scope=\"col\">Skipped</th></tr></thead>\n<tbody>\n");
        for file in &profile.files {
            let _ = write!(out, "<tr><th scope=\"row\">{}</th>", bdi(&file.name));
            for number in [file.judgements, file.reviews, file.labels, file.skipped] {
                let _ = write!(out, "<td>{}</td>", grouped(number));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table></div>\n");
    }
    out.push_str("</section>\n");
}

fn listed(out: &mut String, title: &str, items: impl ExactSizeIterator<Item = impl AsRef<str>>) {
    let total = items.len();
    if total == 0 {
        return;
    }
    let _ = writeln!(out, "<h3>{title}</h3>\n<ul class=\"listed\">");
    for item in items.take(MOST_LISTED) {
        let _ = writeln!(out, "<li>{}</li>", bdi(item.as_ref()));
    }
    if total > MOST_LISTED {
        let _ = writeln!(
            out,
            "<li>and {}; the JSON form lists all</li>",
            count(total - MOST_LISTED, "more", "more")
        );
    }
    out.push_str("</ul>\n");
}

/// A text from the files, whose direction of writing does not leak into what stands beside it.
fn bdi(text: &str) -> String {
    format!("<bdi>{}</bdi>", escaped(text))
}

/// Text for HTML and SVG, between tags and in quoted attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            // HTML forbids the other control characters, and those of direction could turn what stands beside them round.
            c if c.is_control() || show::turns_text(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

const STYLE: &str = include_str!("style.css");
