//! A judgement for people who read a terminal.

use std::fmt::Write;

use retort_checklist::AnswerForm;
use retort_judge::{
    CalibrationUse, ChecklistRecord, CompareRecord, Decision, ItemVerdict, Method, ModelIdentity,
    PairVerdict, Preference, Record, Reward, RewardRecord, RubricVerdict, TextRole, Timings, Total, Unscored,
    Verdict, compared_number,
};
use retort_rubric::Skill;

use crate::checklist::verdict_word;

/// The report as plain text: one line per rubric, then what one should know about it.
pub(crate) fn plain(record: &Record, reason: &str) -> String {
    let mut out = String::new();
    let widest = record.verdicts.iter().map(|v| v.rubric_name.chars().count()).max().unwrap_or(0);
    for verdict in &record.verdicts {
        let name = &verdict.rubric_name;
        let pad = " ".repeat(widest - name.chars().count());
        // Writing to a String cannot fail.
        let _ = match &verdict.verdict {
            Verdict::Scored { expected, min, max, method: Method::Written, .. } => {
                writeln!(out, "{name}{pad}  {expected:5.2}  ({min} to {max})  written")
            }
            Verdict::Scored { expected, min, max, distribution, mass, not_applicable, .. } => {
                let shares: Vec<String> = distribution
                    .iter()
                    .map(|option| format!("{} {:.0}%", option.label, option.probability * 100.0))
                    .collect();
                let aside = not_applicable
                    .map_or_else(String::new, |share| format!(", N/A {:.0}% of it", share * 100.0));
                writeln!(
                    out,
                    "{name}{pad}  {expected:5.2}  ({min} to {max})  {}  [options had {:.0}%{aside}]",
                    shares.join("  "),
                    mass * 100.0
                )
            }
            Verdict::Unscored(reason) => writeln!(out, "{name}{pad}  not scored: {reason}"),
        };
        if let Some(written) = &verdict.written {
            for line in written.trim().lines() {
                let _ = writeln!(out, "    {}", crate::text::printable(line));
            }
        }
    }
    match &record.total {
        Some(Total::Scored { score, unclipped, counted, not_applicable }) => {
            let clipped = if unclipped < score {
                format!(" ({unclipped:.2} before it was cut at 0)")
            } else {
                String::new()
            };
            let _ = writeln!(
                out,
                "Weighed together: {score:.2} of 1{clipped}, by {counted} rubrics; {not_applicable} not applicable"
            );
        }
        Some(Total::Unscored { message }) => {
            let _ = writeln!(out, "No total: {message}");
        }
        None => {}
    }
    if let Some(checklist) = &record.checklist {
        if !record.verdicts.is_empty() {
            let _ = writeln!(out);
        }
        items(&mut out, checklist);
    }
    let _ = writeln!(out);
    alternatives(&mut out, record);
    for cut in &record.truncations {
        let text = match &cut.text {
            TextRole::Prompt => "prompt",
            TextRole::Response => "response",
            TextRole::Reference => "reference",
            TextRole::Named(name) => name,
        };
        let _ = writeln!(
            out,
            "The {text} is too long for this model: its head and tail were read, {} of {} characters.",
            cut.kept_characters, cut.total_characters
        );
    }
    run(&mut out, &record.model, &record.device, &record.notices, &record.timings, reason);
    match record.calibration {
        CalibrationUse::None => {}
        CalibrationUse::Applied => {
            out.push_str("Calibrated: probabilities are set right as the adapter says.\n")
        }
        CalibrationUse::Off => out.push_str("Not calibrated: probabilities are as the model gives them.\n"),
    }
    out.push_str(match record.form {
        None => "A score is the expectation over the model's probabilities; a model this small gives a first reading, not a verdict.\n",
        Some(_) => "The judge wrote its scores: of how sure it was, nothing is known.\n",
    });
    out
}

/// The checklist: every item with who decided it, and what they come to.
fn items(out: &mut String, checklist: &ChecklistRecord) {
    for form in [AnswerForm::YesNo, AnswerForm::OneToFive] {
        let of_form: Vec<&ItemVerdict> = checklist.items.iter().filter(|item| item.answer == form).collect();
        if of_form.is_empty() {
            continue;
        }
        let _ = writeln!(
            out,
            "{}",
            match form {
                AnswerForm::YesNo => "Checklist",
                AnswerForm::OneToFive =>
                    "Questions in the manner of FLASK-Hard, 1 to 5 against the reference",
            }
        );
        for item in of_form {
            let _ = match &item.decision {
                Decision::Code { finding } => writeln!(
                    out,
                    "  {}  {}  [verified: {}]",
                    verdict_word(finding.verdict),
                    item.question,
                    finding.sentence
                ),
                Decision::Model { verdict: Verdict::Scored { expected, .. } }
                    if form == AnswerForm::YesNo =>
                {
                    writeln!(out, "  {:5.0}%   {}  [judged]", expected * 100.0, item.question)
                }
                Decision::Model { verdict: Verdict::Scored { expected, .. } } => {
                    writeln!(out, "  {expected:7.2}  {}  [judged]", item.question)
                }
                Decision::Model { verdict: Verdict::Unscored(Unscored::NotApplicable { probability }) } => {
                    writeln!(out, "  n/a      {}  [judged: {:.0}%]", item.question, probability * 100.0)
                }
                Decision::Model { verdict: Verdict::Unscored(reason) } => {
                    writeln!(out, "  -        {}  [not scored: {reason}]", item.question)
                }
            };
        }
        let apart = checklist.sums.by_form.iter().find(|(of, _)| *of == form).map(|(_, score)| score);
        let score = apart.unwrap_or(&checklist.sums.score);
        let reached = match (score.score, form) {
            (Some(score), AnswerForm::YesNo) => format!("{:.0}% of it found", score * 100.0),
            (Some(score), AnswerForm::OneToFive) => format!("{:.2} of 5", 1.0 + 4.0 * score),
            (None, _) => "no score".to_owned(),
        };
        let _ = writeln!(
            out,
            "  {reached}: {} verified by code ({} met), {} judged, {} not applicable, {} not scored",
            score.verified, score.verified_met, score.judged, score.not_applicable, score.unscored
        );
    }
}

/// The ways of scoring beside each other, where there are several (Ye et al. 2024: skill-specific, instance-specific,
/// skill-agnostic).
fn alternatives(out: &mut String, record: &Record) {
    let mean =
        |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let place = |verdict: &RubricVerdict| match verdict.verdict {
        Verdict::Scored { expected, min, max, .. } => Some(1.0 + 4.0 * (expected - min) / (max - min)),
        Verdict::Unscored(_) => None,
    };
    let is_skill = |verdict: &&RubricVerdict| Skill::from_id(&verdict.rubric_id).is_some();
    let skills = mean(record.verdicts.iter().filter(is_skill).filter_map(place).collect());
    let overall = record.verdicts.iter().find(|verdict| verdict.rubric_id == retort_rubric::overall().id);
    let hard = record.checklist.as_ref().and_then(|checklist| {
        let all = checklist.items.iter().all(|item| item.answer == AnswerForm::OneToFive);
        let apart = checklist.sums.by_form.iter().find(|(form, _)| *form == AnswerForm::OneToFive);
        let score = apart.map(|(_, score)| score).or(all.then_some(&checklist.sums.score))?;
        score.score.map(|score| 1.0 + 4.0 * score)
    });
    let ways: Vec<String> = [
        ("skill by skill", skills),
        ("its own questions", hard),
        ("one overall score", overall.and_then(place)),
    ]
    .into_iter()
    .filter_map(|(name, value)| value.map(|value| format!("{name} {value:.2}")))
    .collect();
    if ways.len() > 1 {
        let _ = writeln!(
            out,
            "Side by side, 1 to 5: {}. They are alternatives: their mean means nothing.",
            ways.join(", ")
        );
    }
}

/// Rewards as plain text: one line per response, then what one should know about them.
pub(crate) fn rewards(record: &RewardRecord, reason: &str) -> String {
    let mut out = String::new();
    for (number, reward) in (1..).zip(&record.rewards) {
        // Writing to a String cannot fail.
        let _ = match reward {
            Reward::Scored { outputs } => {
                let shown = outputs.iter().enumerate().map(|(index, value)| match record.labels.get(index) {
                    Some(label) => format!("{label} {value:.4}"),
                    None => format!("{value:.4}"),
                });
                writeln!(out, "Response {number}  {}", shown.collect::<Vec<_>>().join("  "))
            }
            Reward::Unscored(reason) => writeln!(out, "Response {number}  not scored: {reason}"),
        };
    }
    let _ = writeln!(out);
    run(&mut out, &record.model, &record.device, &record.notices, &record.timings, reason);
    let _ = writeln!(
        out,
        "These numbers are the model's own: compare them among responses to one prompt, and with no other model's."
    );
    out
}

/// A comparison as a table with one row per pair, then what one should know about it.
pub(crate) fn comparison(record: &CompareRecord, reason: &str) -> String {
    let mut out = String::new();
    let heads = ["Pair", "Better", "Mean", "First shown first", "First shown second", "Order", "Words"];
    let rows: Vec<[String; 7]> = record.pairs.iter().map(|pair| pair_row(record, pair)).collect();
    let widths: Vec<usize> = (0..heads.len())
        .map(|at| rows.iter().map(|row| row[at].chars().count()).chain([heads[at].len()]).max().unwrap_or(0))
        .collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells = cells.zip(&widths).map(|(cell, &width)| format!(" {cell:width$} |"));
        format!("|{}", cells.collect::<String>())
    };
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}", line(&mut heads.into_iter()));
    let rules: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    let _ = writeln!(out, "{}", line(&mut rules.iter().map(String::as_str)));
    for row in &rows {
        let _ = writeln!(out, "{}", line(&mut row.iter().map(String::as_str)));
    }
    let _ = writeln!(
        out,
        "\nIn the three middle columns: the probability that the pair's first response is the better one."
    );
    for pair in &record.pairs {
        if let Preference::Unscored(reason) = &pair.verdict {
            let _ = writeln!(out, "{} and {} are not decided: {reason}", pair.first + 1, pair.second + 1);
        }
    }
    let words = &record.input.responses_words;
    let gaps: Vec<bool> = record
        .pairs
        .iter()
        .filter_map(|pair| {
            let Preference::Scored { preferred: Some(winner), .. } = pair.verdict else { return None };
            let loser = if winner == pair.first { pair.second } else { pair.first };
            let (winner, loser) = (words.get(winner)?, words.get(loser)?);
            (winner != loser).then_some(winner > loser)
        })
        .collect();
    if !gaps.is_empty() {
        let longer = gaps.iter().filter(|&&longer| longer).count();
        let _ = writeln!(out, "The longer response won {longer} of {} decided pairs.", gaps.len());
    }
    for cut in &record.truncations {
        let text = match (&cut.text, compared_number(&cut.text)) {
            (_, Some(number)) => format!("Response {number}"),
            (TextRole::Prompt, _) => "The prompt".to_owned(),
            (TextRole::Response, _) => "The response".to_owned(),
            (TextRole::Reference, _) => "The reference".to_owned(),
            (TextRole::Named(name), _) => name.clone(),
        };
        let _ = writeln!(
            out,
            "{text} is too long for this model: its head and tail were read, {} of {} characters.",
            cut.kept_characters, cut.total_characters
        );
    }
    run(&mut out, &record.model, &record.device, &record.notices, &record.timings, reason);
    out
}

fn pair_row(record: &CompareRecord, pair: &PairVerdict) -> [String; 7] {
    let number = |place: usize| (place + 1).to_string();
    let shown = |place: usize| {
        let one = pair.shown.iter().find(|shown| shown.shown_first == place);
        one.map_or_else(|| "none".to_owned(), |shown| format!("{:.2}", shown.first))
    };
    let (better, mean, order) = match &pair.verdict {
        Preference::Scored { preferred, probability_first, flipped } => (
            preferred.map_or_else(|| "tie".to_owned(), number),
            format!("{probability_first:.2}"),
            if *flipped { "flipped" } else { "no flip" },
        ),
        Preference::Unscored(_) => ("not decided".to_owned(), "none".to_owned(), "not known"),
    };
    let words = |place: usize| record.input.responses_words.get(place).copied().unwrap_or_default();
    [
        format!("{} and {}", number(pair.first), number(pair.second)),
        better,
        mean,
        shown(pair.first),
        shown(pair.second),
        order.to_owned(),
        format!("{} and {}", words(pair.first), words(pair.second)),
    ]
}

/// What happened, where it ran and how long it took.
fn run(
    out: &mut String,
    model: &ModelIdentity,
    device: &str,
    notices: &[String],
    timings: &Timings,
    reason: &str,
) {
    for notice in notices {
        let _ = writeln!(out, "{notice}");
    }
    let seconds = timings.total_ms / 1000.0;
    // Scores by an adapter must not be taken for the base's.
    let adapter = model.adapter.as_ref().map_or_else(String::new, |adapter| {
        format!(" with the adapter {} (strength {})", adapter.name, adapter.strength)
    });
    let name = &model.name;
    let _ =
        writeln!(out, "{name}{adapter} on {device}, {} tokens in {seconds:.1} s. {reason}", timings.tokens);
}

#[cfg(test)]
mod tests {
    use retort_judge::{CompareInputs, Shown, Truncation};
    use retort_lm::BackendKind;

    use super::*;

    #[test]
    fn p18_p20_a_comparison_shows_both_orders_flips_and_lengths() {
        let shown = |shown_first, first| Shown { shown_first, first, second: 1.0 - first, mass: 0.9 };
        let scored = |preferred, probability_first, flipped| Preference::Scored {
            preferred,
            probability_first,
            flipped,
        };
        let pair = |first, second, shown, verdict| PairVerdict { first, second, shown, verdict };
        let failed = Unscored::Failed { code: "outside_options".into(), message: "No answer".into() };
        let record = CompareRecord {
            format: "retort.comparison/1".into(),
            version: "0".into(),
            task: "pairwise".into(),
            input: CompareInputs {
                prompt_sha256: String::new(),
                responses_sha256: Vec::new(),
                reference_sha256: None,
                responses_words: vec![12, 30, 7],
            },
            model: ModelIdentity { name: "tiny.gguf".into(), sha256: None, adapter: None },
            backend: BackendKind::Cpu,
            device: "a processor".into(),
            calibration: CalibrationUse::None,
            pairs: vec![
                pair(0, 1, vec![shown(0, 0.9), shown(1, 0.7)], scored(Some(0), 0.8, false)),
                pair(0, 2, vec![shown(0, 0.9), shown(2, 0.1)], scored(None, 0.5, true)),
                pair(1, 2, vec![shown(1, 0.25)], Preference::Unscored(failed)),
            ],
            truncations: vec![Truncation {
                text: TextRole::Named("response_2".into()),
                kept_characters: 10,
                total_characters: 99,
            }],
            notices: Vec::new(),
            timings: Timings { total_ms: 1500.0, tokens: 70, tokens_reused: 0 },
            cancelled: false,
        };
        assert_eq!(
            comparison(&record, "The CPU was asked for."),
            "\
| Pair    | Better      | Mean | First shown first | First shown second | Order     | Words     |
| ------- | ----------- | ---- | ----------------- | ------------------ | --------- | --------- |
| 1 and 2 | 1           | 0.80 | 0.90              | 0.70               | no flip   | 12 and 30 |
| 1 and 3 | tie         | 0.50 | 0.90              | 0.10               | flipped   | 12 and 7  |
| 2 and 3 | not decided | none | 0.25              | none               | not known | 30 and 7  |

In the three middle columns: the probability that the pair's first response is the better one.
2 and 3 are not decided: No answer
The longer response won 0 of 1 decided pairs.
Response 2 is too long for this model: its head and tail were read, 10 of 99 characters.
tiny.gguf on a processor, 70 tokens in 1.5 s. The CPU was asked for.
"
        );
    }
}
