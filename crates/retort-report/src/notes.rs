//! What a reader should know of a profile, in whole sentences.

use std::collections::{BTreeMap, BTreeSet};

use crate::aggregate::BASELINE;
use crate::profile::Unit;
use crate::{Profile, Reading, Row};

/// Below this many prompts a mean and its interval are rough.
pub(crate) const FEW_PROMPTS: usize = 10;

/// "1 row", "2 rows".
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// 12345 as "12,345".
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Notes on the figures.
pub(crate) fn of_rows(
    rows: &[Row],
    profile: &Profile,
    reasons: &BTreeMap<&str, usize>,
    not_labelled: usize,
) -> Vec<String> {
    let mut notes = Vec::new();
    let method = &profile.method;
    notes.push(format!(
        "An interval is a {}% bootstrap interval by percentiles of {} resamples with seed {}. Prompts are drawn, each \
         with all of its scores, because scores of one prompt are no independent evidence.",
        method.level * 100.0,
        grouped(method.resamples),
        method.seed
    ));
    let total = |of: fn(&crate::Model) -> usize| profile.models.iter().map(of).sum::<usize>();
    let not_applicable = total(|model| model.not_applicable);
    if not_applicable > 0 {
        notes.push(format!(
            "{} “not applicable” (N/A): left out of every mean, and counted beside it.",
            count(not_applicable, "verdict is", "verdicts are")
        ));
    }
    let unscored = total(|model| model.unscored);
    if unscored > 0 {
        let reasons: Vec<String> = reasons.iter().map(|(why, times)| format!("{why} ({times})")).collect();
        notes.push(format!(
            "{} be had and {} left out of every mean, counted apart from N/A. Why: {}.",
            count(unscored, "score could not", "scores could not"),
            if unscored == 1 { "is" } else { "are" },
            reasons.join("; ")
        ));
    }
    if not_labelled > 0 {
        notes.push(format!(
            "{} left out, because the labels of the prompt do not name the skill.",
            count(not_labelled, "score is", "scores are")
        ));
    }
    let places: Vec<&str> = profile
        .skills
        .iter()
        .filter(|skill| skill.unit == Unit::Place && skill.figures.iter().any(|figure| figure.count > 0))
        .map(|skill| skill.name.as_str())
        .collect();
    if !places.is_empty() {
        notes.push(format!(
            "Scores on different scales were given for {}. They are averaged by their places between the ends of \
             their scales, from 0 to 1.",
            places.join(", ")
        ));
    }
    if profile.across == Unit::Place
        && profile.skills.iter().any(|skill| skill.figures.iter().any(|f| f.count > 0))
    {
        notes.push(
            "The rubrics have different scales. Where several are taken together, scores are averaged by their places \
             between the ends of their scales, from 0 to 1."
                .to_owned(),
        );
    }
    if profile.skills.len() > 1
        && let Some(baseline) = profile.skills.iter().find(|skill| skill.id == BASELINE)
    {
        notes.push(format!(
            "“{}” rates the response as a whole. It is in no figure that takes several rubrics together.",
            baseline.name
        ));
    }
    let mut wordings: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for score in rows.iter().flat_map(|row| &row.scores) {
        if let Some(hash) = &score.rubric_sha256 {
            wordings.entry(&score.rubric_id).or_default().insert(hash);
        }
    }
    let several: Vec<&str> =
        wordings.iter().filter(|(_, hashes)| hashes.len() > 1).map(|(id, _)| *id).collect();
    if !several.is_empty() {
        notes.push(format!(
            "Scores under different wordings of the same rubric are averaged here ({}); they do not measure quite the \
             same.",
            several.join(", ")
        ));
    }
    let read: BTreeSet<&str> = rows.iter().filter_map(|row| row.wording.as_deref()).collect();
    let full = rows.iter().any(|row| row.judge.is_some() && row.wording.is_none());
    if read.len() + usize::from(full) > 1 {
        notes.push(
            "The judge did not read the same amount of each rubric for all rows; scores may differ for that."
                .to_owned(),
        );
    }
    if profile.judges.len() > 1 {
        notes.push(format!(
            "{} different judges gave these scores ({}); a difference between models may be one between judges.",
            profile.judges.len(),
            profile.judges.join("; ")
        ));
    }
    let cut = rows.iter().filter(|row| row.truncated).count();
    if cut > 0 {
        notes.push(format!(
            "{} judged with a text that was cut to fit the judge's context.",
            count(cut, "row was", "rows were")
        ));
    }
    let without_domain = total(|model| model.without_domain);
    if without_domain > 0 && !profile.domains.is_empty() {
        notes.push(format!(
            "{} no domain and so a place in none.",
            count(without_domain, "row has", "rows have")
        ));
    }
    let without_difficulty = total(|model| model.without_difficulty);
    if without_difficulty > 0 && !profile.difficulty.is_empty() {
        notes.push(format!(
            "{} no level of difficulty and so a place in none.",
            count(without_difficulty, "row has", "rows have")
        ));
    }
    let few = |figure: &crate::Figure| figure.count > 0 && figure.prompts < FEW_PROMPTS;
    let figures = profile.skills.iter().chain(&profile.domains).flat_map(|measure| &measure.figures);
    let levels = profile.difficulty.iter().flat_map(|row| &row.levels).flat_map(|level| &level.at);
    let rough = figures.chain(levels).filter(|figure| few(figure)).count();
    if rough > 0 {
        notes.push(format!(
            "{} on fewer than {FEW_PROMPTS} prompts. So few make a rough mean, and an interval that is often too narrow.",
            count(rough, "figure rests", "figures rest")
        ));
    }
    if profile.models.len() > 1 {
        notes.push(
            "Intervals are of each model by itself. Two that overlap do not show that the models are equal, and of \
             many figures some differ by chance."
                .to_owned(),
        );
    }
    notes
}

/// Notes on what was read.
pub(crate) fn of_reading(reading: &Reading) -> Vec<String> {
    let mut notes = Vec::new();
    let skipped: usize = reading.files.iter().map(|file| file.skipped).sum();
    if skipped > 0 {
        notes.push(format!("{} not be read.", count(skipped, "row could", "rows could")));
    }
    if !reading.without_labels.is_empty() {
        notes.push(format!(
            "{} no labels, though labels were given.",
            count(reading.without_labels.len(), "judged prompt has", "judged prompts have")
        ));
    }
    if !reading.without_judgement.is_empty() {
        notes.push(format!(
            "{} no judgement.",
            count(reading.without_judgement.len(), "labelled prompt has", "labelled prompts have")
        ));
    }
    notes
}
