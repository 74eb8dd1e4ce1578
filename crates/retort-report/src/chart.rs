//! Charts as inline SVG. Each has a title and a description, a table beside it (in the HTML), and tells models apart
//! by letter, marker and dashes before it does so by colour (P51).

use std::fmt::Write as _;

use crate::html::escaped;
use crate::notes::FEW_PROMPTS;
use crate::{ByDifficulty, Figure, Level, Measure, Profile, Unit, show};

/// The most models in one radar; more outlines cannot be told apart.
pub(crate) const MOST_IN_RADAR: usize = 4;

/// Colours and markers, used again from the start when there are more models.
const STYLES: usize = 6;

const DASHES: [&str; STYLES] = ["none", "7 4", "2 3", "10 3 2 3", "14 4", "4 2 1 2"];

/// A model's colour class.
fn style(index: usize) -> usize {
    index % STYLES
}

/// A model's marker at a place.
fn marker(out: &mut String, index: usize, x: f64, y: f64, size: f64) {
    let class = style(index);
    let s = size;
    // Writing to a String cannot fail, here and below.
    let _ = match class {
        0 => write!(out, "<circle class=\"m m{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{s:.1}\"/>"),
        1 => write!(
            out,
            "<rect class=\"m m{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            x - s * 0.9,
            y - s * 0.9,
            s * 1.8,
            s * 1.8
        ),
        _ => {
            let corners: &[(f64, f64)] = match class {
                2 => &[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)],
                3 => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
                4 => &[(0.0, 1.2), (1.1, -0.9), (-1.1, -0.9)],
                _ => &[
                    (-1.2, -0.4),
                    (-0.4, -0.4),
                    (-0.4, -1.2),
                    (0.4, -1.2),
                    (0.4, -0.4),
                    (1.2, -0.4),
                    (1.2, 0.4),
                    (0.4, 0.4),
                    (0.4, 1.2),
                    (-0.4, 1.2),
                    (-0.4, 0.4),
                    (-1.2, 0.4),
                ],
            };
            let points: Vec<String> =
                corners.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx * s, y + dy * s)).collect();
            write!(out, "<polygon class=\"m m{class}\" points=\"{}\"/>", points.join(" "))
        }
    };
}

/// The sign of a model in legends: its line and its marker.
pub(crate) fn sign(index: usize) -> String {
    let class = style(index);
    let mut out = format!(
        "<svg class=\"sign\" viewBox=\"0 0 40 14\" width=\"40\" height=\"14\" aria-hidden=\"true\" focusable=\"false\">\
         <line class=\"s{class}\" x1=\"1\" y1=\"7\" x2=\"39\" y2=\"7\" stroke-dasharray=\"{}\"/>",
        DASHES[class]
    );
    marker(&mut out, index, 20.0, 7.0, 4.0);
    out.push_str("</svg>");
    out
}

fn open(
    out: &mut String,
    id: &str,
    class: &str,
    (width, height): (f64, f64),
    title: &str,
    description: &str,
) {
    let _ = write!(
        out,
        "<svg class=\"{class}\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" \
         aria-labelledby=\"{id}-title {id}-text\"><title id=\"{id}-title\">{}</title><desc id=\"{id}-text\">{}</desc>",
        escaped(title),
        escaped(description)
    );
}

fn text(out: &mut String, class: &str, x: f64, y: f64, anchor: &str, content: &str) {
    let _ = write!(
        out,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
        escaped(content)
    );
}

/// "A 3.40, B 2.10" for each measure.
fn in_words(profile: &Profile, measures: &[Measure]) -> String {
    let several = profile.models.len() > 1;
    let figure = |(index, figure): (usize, &Figure)| {
        let value = figure.mean.map_or_else(|| "none".to_owned(), show::number);
        if several { format!("{} {value}", show::letter(index)) } else { value }
    };
    let sentences: Vec<String> = measures
        .iter()
        .map(|measure| {
            let figures: Vec<String> = measure.figures.iter().enumerate().map(figure).collect();
            format!("{}: {}.", measure.name, figures.join(", "))
        })
        .collect();
    sentences.join(" ")
}

/// Where lines go across a scale.
fn ticks(unit: Unit) -> Vec<f64> {
    let (min, max) = unit.ends();
    let steps = max - min;
    let whole = min.fract() == 0.0 && steps.fract() == 0.0 && (2.0..=10.0).contains(&steps);
    let steps = if whole { steps as usize } else { 4 };
    (0..=steps).map(|step| min + (max - min) * step as f64 / steps as f64).collect()
}

/// The skills of up to [`MOST_IN_RADAR`] models as outlines. Nothing for fewer than three skills.
pub(crate) fn radar(profile: &Profile, id: &str) -> Option<String> {
    let skills = &profile.skills;
    let models = profile.models.len().min(MOST_IN_RADAR);
    let drawn = |model: usize| {
        skills.iter().filter(|skill| skill.figures.get(model).is_some_and(|f| f.mean.is_some())).count()
    };
    if skills.len() < 3 || (0..models).all(|model| drawn(model) < 3) {
        return None;
    }
    let (width, height, x0, y0, radius) = (740.0, 430.0, 370.0, 219.0, 168.0);
    let at = |axis: usize, place: f64| {
        let angle = axis as f64 / skills.len() as f64 * std::f64::consts::TAU;
        (x0 + angle.sin() * radius * place, y0 - angle.cos() * radius * place)
    };
    let mut out = String::new();
    let description = format!(
        "A radar chart: each skill is an axis, from the scale's lowest value in the middle to its highest at the rim. {}",
        in_words(profile, skills)
    );
    open(&mut out, id, "radar", (width, height), "Skills at a glance", &description);
    let unit = show::common_unit(skills.iter().map(|skill| skill.unit));
    let rings: Vec<(f64, Option<f64>)> = match unit {
        Some(unit) => ticks(unit).into_iter().map(|tick| (unit.place(tick), Some(tick))).collect(),
        None => [0.25, 0.5, 0.75, 1.0].map(|place| (place, None)).to_vec(),
    };
    let outline = |place: f64| {
        let corners: Vec<String> = (0..skills.len())
            .map(|axis| {
                let (x, y) = at(axis, place);
                format!("{x:.1},{y:.1}")
            })
            .collect();
        corners.join(" ")
    };
    for (place, _) in rings.iter().filter(|(place, _)| *place > 0.0) {
        let _ = write!(out, "<polygon class=\"ring\" points=\"{}\"/>", outline(*place));
    }
    for (axis, skill) in skills.iter().enumerate() {
        let (x, y) = at(axis, 1.0);
        let _ =
            write!(out, "<line class=\"grid\" x1=\"{x0:.1}\" y1=\"{y0:.1}\" x2=\"{x:.1}\" y2=\"{y:.1}\"/>");
        let (x, y) = at(axis, 1.0 + 15.0 / radius);
        let anchor = match x - x0 {
            dx if dx > 20.0 => "start",
            dx if dx < -20.0 => "end",
            _ => "middle",
        };
        // Text stands on its base line: above the chart it may, below it has to come down.
        let down = 3.0 + 8.0 * (y - y0) / radius;
        text(&mut out, "label", x, y + down, anchor, &show::shortened(&skill.name, 26));
    }
    for model in 0..models {
        let class = style(model);
        let place = |axis: usize| {
            let skill = skills.get(axis)?;
            Some(skill.unit.place(skill.figures.get(model)?.mean?))
        };
        let places: Vec<Option<f64>> = (0..skills.len()).map(place).collect();
        if places.iter().all(Option::is_some) {
            let corners: Vec<String> = places
                .iter()
                .enumerate()
                .filter_map(|(axis, place)| place.map(|place| at(axis, place)))
                .map(|(x, y)| format!("{x:.1},{y:.1}"))
                .collect();
            let _ = write!(out, "<polygon class=\"area f{class}\" points=\"{}\"/>", corners.join(" "));
        }
        // Line by line, so that a skill without a figure leaves a gap and no invented value.
        for axis in 0..skills.len() {
            let next = (axis + 1) % skills.len();
            if let (Some(from), Some(to)) = (places[axis], places[next]) {
                let ((x1, y1), (x2, y2)) = (at(axis, from), at(next, to));
                let _ = write!(
                    out,
                    "<line class=\"s{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke-dasharray=\"{}\"/>",
                    DASHES[class]
                );
            }
        }
        for (axis, place) in places.iter().enumerate() {
            if let Some(place) = place {
                let (x, y) = at(axis, *place);
                marker(&mut out, model, x, y, 4.0);
            }
        }
    }
    // Above the outlines, on a halo of the paper's colour.
    for (place, tick) in rings.into_iter().filter(|(place, _)| *place > 0.0) {
        if let Some(tick) = tick {
            text(&mut out, "tick halo", x0 + 5.0, y0 - radius * place + 13.0, "start", &show::end(tick));
        }
    }
    out.push_str("</svg>");
    Some(out)
}

/// Bars with their intervals: one group for each measure, one bar for each model.
pub(crate) fn bars(profile: &Profile, measures: &[Measure], title: &str, id: &str) -> String {
    let several = profile.models.len() > 1;
    let unit = show::common_unit(measures.iter().map(|measure| measure.unit));
    let (width, left, right) = (760.0, if several { 232.0 } else { 212.0 }, 640.0);
    let (step, gap) = if several { (17.0, 11.0) } else { (20.0, 7.0) };
    let top = 26.0;
    // First where everything goes, since the lines go behind all of it.
    let mut y = top;
    let mut headings: Vec<(f64, &str)> = Vec::new();
    let mut groups: Vec<(f64, &Measure)> = Vec::new();
    let mut before = None;
    for measure in measures {
        if let Some(ability) = measure.ability
            && before != Some(ability)
        {
            before = Some(ability);
            headings.push((y + 16.0, ability.name()));
            y += 26.0;
        } else if before.is_some() && measure.ability.is_none() {
            before = None;
            headings.push((y + 16.0, "Other rubrics"));
            y += 26.0;
        }
        groups.push((y, measure));
        y += step * measure.figures.len() as f64 + gap;
    }
    let bottom = y;
    let x_of = |place: f64| left + (right - left) * place;
    let mut out = String::new();
    let description = format!(
        "Bars from the scale's lowest value to the mean, with a line over each for its interval. {}",
        in_words(profile, measures)
    );
    open(&mut out, id, "bars", (width, bottom + 6.0), title, &description);
    let lines: Vec<(f64, String)> = match unit {
        Some(unit) => ticks(unit).into_iter().map(|tick| (unit.place(tick), show::end(tick))).collect(),
        None => vec![(0.0, "lowest".to_owned()), (0.5, String::new()), (1.0, "highest".to_owned())],
    };
    for (place, name) in &lines {
        let x = x_of(*place);
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>"
        );
        text(&mut out, "tick", x, 16.0, "middle", name);
    }
    for (y, name) in headings {
        text(&mut out, "heading", 0.0, y, "start", name);
    }
    for (top, measure) in groups {
        let middle = top + step * measure.figures.len() as f64 / 2.0;
        text(&mut out, "label", 0.0, middle + 4.5, "start", &show::shortened(&measure.name, 28));
        for (index, figure) in measure.figures.iter().enumerate() {
            let y = top + step * (index as f64 + 0.5);
            let class = style(index);
            if several {
                text(&mut out, "letter", left - 8.0, y + 4.0, "end", &show::letter(index));
            }
            let Some(mean) = figure.mean else {
                let why = figure.why_none.as_deref().unwrap_or_default();
                text(&mut out, "none", left + 6.0, y + 4.0, "start", &format!("none: {why}"));
                continue;
            };
            let x = x_of(measure.unit.place(mean));
            let half = if several { 4.5 } else { 6.0 };
            let _ = write!(
                out,
                "<rect class=\"bar f{class}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                y - half,
                x - left,
                half * 2.0
            );
            if let Some(interval) = figure.interval {
                let (low, high) =
                    (x_of(measure.unit.place(interval.low)), x_of(measure.unit.place(interval.high)));
                let _ = write!(
                    out,
                    "<path class=\"whisker s{class}\" d=\"M{low:.1} {:.1}v8M{low:.1} {y:.1}H{high:.1}M{high:.1} {:.1}v8\"/>",
                    y - 4.0,
                    y - 4.0
                );
            }
            marker(&mut out, index, x, y, 3.6);
            let mut value = show::number(mean);
            if unit.is_none() {
                let (min, max) = measure.unit.ends();
                value.push_str(&format!(" of {}–{}", show::end(min), show::end(max)));
            }
            text(&mut out, "value", right + 16.0, y + 4.5, "start", &value);
            if unit.is_some() {
                text(
                    &mut out,
                    "n",
                    width,
                    y + 4.5,
                    "end",
                    &format!("n {}", crate::notes::grouped(figure.count)),
                );
            }
        }
    }
    out.push_str("</svg>");
    out
}

/// Difficulty by skill of one model: a number in every cell, on a ground that is the stronger the higher it is.
pub(crate) fn heat_map<'a>(
    rows: &'a [ByDifficulty],
    of: impl Fn(&'a Level) -> Option<&'a Figure>,
    title: &str,
    id: &str,
) -> String {
    let (left, cell, row_height, top) = (200.0, 112.0, 31.0, 40.0);
    let levels: Vec<_> =
        rows.first().map(|row| row.levels.iter().map(|level| level.difficulty).collect()).unwrap_or_default();
    let width = left + cell * levels.len() as f64;
    // What all take together stands a little apart.
    let apart = if rows.len() > 1 { 9.0 } else { 0.0 };
    let height = top + row_height * rows.len() as f64 + apart + 2.0;
    let mut out = String::new();
    let words: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells: Vec<String> = row
                .levels
                .iter()
                .filter_map(|level| {
                    Some(format!("{} {}", level.difficulty.name(), show::number(of(level)?.mean?)))
                })
                .collect();
            format!("{}: {}.", row.name, if cells.is_empty() { "none".to_owned() } else { cells.join(", ") })
        })
        .collect();
    open(&mut out, id, "heat", (width, height), title, &words.join(" "));
    for (index, level) in levels.iter().enumerate() {
        let x = left + cell * (index as f64 + 0.5);
        text(&mut out, "level", x, 14.0, "middle", &level.level().to_string());
        text(&mut out, "tick", x, 30.0, "middle", level.name());
    }
    for (index, row) in rows.iter().enumerate() {
        let apart = if row.id.is_none() { apart } else { 0.0 };
        let y = top + row_height * index as f64 + apart;
        text(&mut out, "label", 0.0, y + 20.0, "start", &show::shortened(&row.name, 28));
        for (column, level) in row.levels.iter().enumerate() {
            let x = left + cell * column as f64;
            let figure = of(level);
            let mean = figure.and_then(|figure| figure.mean);
            let few = figure.is_some_and(|figure| figure.prompts < FEW_PROMPTS);
            let middle = x + cell / 2.0;
            match mean {
                Some(mean) => {
                    let strength = 0.06 + 0.39 * row.unit.place(mean);
                    let _ = write!(
                        out,
                        "<rect class=\"heat\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\" fill-opacity=\"{strength:.2}\"/>",
                        x + 1.0,
                        y + 1.0,
                        cell - 2.0,
                        row_height - 2.0
                    );
                    let mut shown = show::number(mean);
                    if few {
                        shown.push('*');
                    }
                    text(&mut out, "cell", middle, y + 20.0, "middle", &shown);
                }
                None => {
                    let shown = match figure {
                        Some(figure) if figure.not_applicable > 0 && figure.unscored == 0 => "N/A",
                        Some(figure) if figure.unscored > 0 => "unscored",
                        _ => "–",
                    };
                    text(&mut out, "n", middle, y + 20.0, "middle", shown);
                }
            }
        }
    }
    out.push_str("</svg>");
    out
}
