//! How figures look, in Markdown and in HTML alike.

use crate::notes::{count, grouped};
use crate::{Figure, Profile, Unit};

/// A figure in its unit: two decimals, and never "-0.00".
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() {
        "0.00".to_owned()
    } else {
        text.replace('-', "−")
    }
}

/// The ends of a scale: as short as they can be.
pub(crate) fn end(value: f64) -> String {
    format!("{value}").replace('-', "−")
}

/// "3.10 to 3.70".
pub(crate) fn interval(figure: &Figure) -> Option<String> {
    figure.interval.map(|interval| format!("{} to {}", number(interval.low), number(interval.high)))
}

/// What stands behind a figure: "n 12, 2 N/A, 1 unscored".
pub(crate) fn behind(figure: &Figure) -> String {
    let mut out = format!("n {}", grouped(figure.count));
    if figure.not_applicable > 0 {
        out.push_str(&format!(", {} N/A", grouped(figure.not_applicable)));
    }
    if figure.unscored > 0 {
        out.push_str(&format!(", {} unscored", grouped(figure.unscored)));
    }
    out
}

/// The unit in words.
pub(crate) fn unit(unit: Unit) -> String {
    match unit {
        Unit::Points { min, max } => format!("{} to {}", end(min), end(max)),
        Unit::Place => "0 to 1, place on the scale".to_owned(),
    }
}

/// The unit that all have, if they have one.
pub(crate) fn common_unit(units: impl Iterator<Item = Unit>) -> Option<Unit> {
    let mut units = units;
    let first = units.next()?;
    units.all(|unit| unit == first).then_some(first)
}

/// "24 prompts, 48 judged responses, 130 scores".
pub(crate) fn extent(profile: &Profile) -> String {
    let rows: usize = profile.models.iter().map(|model| model.rows).sum();
    let scores: usize = profile.models.iter().map(|model| model.scores).sum();
    format!(
        "{} of {}, with {} by {}",
        count(rows, "judged response", "judged responses"),
        count(profile.models.len(), "model", "models"),
        count(scores, "score", "scores"),
        count(profile.skills.len(), "rubric", "rubrics"),
    )
}

/// The highest and the lowest of a model's skills, where there are two with a figure on the same scale.
pub(crate) fn extremes(profile: &Profile, model: usize) -> Option<[(&str, f64); 2]> {
    common_unit(profile.skills.iter().map(|skill| skill.unit))?;
    let mut means: Vec<(&str, f64)> = profile
        .skills
        .iter()
        .filter_map(|skill| Some((skill.name.as_str(), skill.figures.get(model)?.mean?)))
        .collect();
    means.sort_by(|a, b| b.1.total_cmp(&a.1));
    match (means.first(), means.last()) {
        (Some(&high), Some(&low)) if high.1 > low.1 => Some([high, low]),
        _ => None,
    }
}

/// A correlation with its sign.
pub(crate) fn correlation(value: Option<f64>) -> String {
    match value {
        Some(value) if number(value).starts_with('−') => number(value),
        Some(value) => format!("+{}", number(value)),
        None => "none".to_owned(),
    }
}

/// The letter by which a model is known in the charts: A to Z, then AA.
pub(crate) fn letter(index: usize) -> String {
    let last = char::from(b'A' + (index % 26) as u8);
    if index < 26 { last.to_string() } else { format!("{}{last}", letter(index / 26 - 1)) }
}

/// At most this many characters, with an ellipsis where there were more.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(most.saturating_sub(1)).collect();
    out.push('…');
    out
}

/// Whether a character changes the direction of the text after it without being seen itself.
pub(crate) const fn turns_text(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
