//! A judgement for people who read a terminal.

use std::fmt::Write;

use retort_judge::{ModelIdentity, Record, Reward, RewardRecord, TextRole, Timings, Verdict};

/// The report as plain text: one line per rubric, then what one should know about it.
pub(crate) fn plain(record: &Record, reason: &str) -> String {
    let mut out = String::new();
    let widest = record.verdicts.iter().map(|v| v.rubric_name.chars().count()).max().unwrap_or(0);
    for verdict in &record.verdicts {
        let name = &verdict.rubric_name;
        let pad = " ".repeat(widest - name.chars().count());
        // Writing to a String cannot fail.
        let _ = match &verdict.verdict {
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
    }
    let _ = writeln!(out);
    for cut in &record.truncations {
        let text = match cut.text {
            TextRole::Prompt => "prompt",
            TextRole::Response => "response",
            TextRole::Reference => "reference",
        };
        let _ = writeln!(
            out,
            "The {text} is too long for this model: its head and tail were read, {} of {} characters.",
            cut.kept_characters, cut.total_characters
        );
    }
    run(&mut out, &record.model, &record.device, &record.notices, &record.timings, reason);
    let _ = writeln!(
        out,
        "A score is the expectation over the model's probabilities; a model this small gives a first reading, not a verdict."
    );
    out
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
