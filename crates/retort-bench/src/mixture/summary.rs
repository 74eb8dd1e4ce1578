//! A manifest in words.

use std::fmt::Write as _;

use super::{BEGINNING_WORDS, GRAM_WORDS, Manifest, WHOLE_RESPONSE_WORDS, WHOLE_WORDS};
use crate::Part;

impl Manifest {
    /// What was made of what, as text for a terminal.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = self.write_summary(&mut out);
        out
    }

    fn write_summary(&self, out: &mut String) -> std::fmt::Result {
        let part = self.settings.part;
        writeln!(
            out,
            "{} rows, {} tokens, from {} tasks ({}). SHA-256 {}",
            self.rows,
            self.tokens,
            self.tasks.len(),
            part.name(),
            self.sha256
        )?;
        let width = self.tasks.keys().map(String::len).max().unwrap_or(0).max(4);
        writeln!(
            out,
            "\n{:width$}  {:>8} {:>7} {:>8} {:>8} {:>8} {:>8} {:>7}  longer wins",
            "task", "read", "dropped", "here", "picked", "rows", "tokens", "cut"
        )?;
        for (name, task) in &self.tasks {
            write!(
                out,
                "{name:width$}  {:>8} {:>7} {:>8} {:>8} {:>8} {:>8} {:>7}",
                task.read,
                task.dropped,
                task.split.get(&part).copied().unwrap_or(0),
                task.picked,
                task.rows,
                task.tokens,
                task.truncated
            )?;
            if let Some(longer) = &task.longer {
                let percent =
                    |share: Option<f64>| share.map_or("-".into(), |share| format!("{:.1}%", share * 100.0));
                write!(out, "  {} -> {}", percent(longer.before), percent(longer.after))?;
            }
            writeln!(out)?;
        }
        writeln!(
            out,
            "\"here\" counts the {} side of the split: {}.",
            part.name(),
            Part::ALL.map(Part::name).join(", ")
        )?;
        self.write_losses(out)?;
        self.write_dropped(out)
    }

    fn write_losses(&self, out: &mut String) -> std::fmt::Result {
        for (name, task) in &self.tasks {
            if task.problems > 0 {
                writeln!(out, "{name}: {} rows could not be used, such as", task.problems)?;
                for problem in &task.first_problems {
                    writeln!(out, "  {problem}")?;
                }
            }
            if task.unlabelled > 0 {
                writeln!(out, "{name}: {} examples have no label", task.unlabelled)?;
            }
            if task.too_long > 0 {
                writeln!(out, "{name}: {} examples are too long even when cut", task.too_long)?;
            }
        }
        for (name, reason) in &self.skipped {
            writeln!(out, "{name} was left out: {reason}")?;
        }
        Ok(())
    }

    fn write_dropped(&self, out: &mut String) -> std::fmt::Result {
        let total: usize = self.tasks.values().map(|task| task.dropped).sum();
        writeln!(
            out,
            "\n{total} examples were dropped because a text of theirs stands in an evaluation set: a whole text of \
             {WHOLE_WORDS} words or more ({WHOLE_RESPONSE_WORDS} for responses; shorter ones recur by chance), the \
             first {BEGINNING_WORDS} words of a prompt or document, or any {GRAM_WORDS} words of one in a row."
        )?;
        for (task, sets) in &self.dropped {
            for (set, reasons) in sets {
                for (reason, dropped) in reasons {
                    writeln!(
                        out,
                        "  {task} / {set}: {} by {} (such as {})",
                        dropped.examples,
                        reason.describe(),
                        dropped.ids.join(", ")
                    )?;
                }
            }
        }
        for (name, task) in self.tasks.iter().filter(|(_, task)| 5 * task.dropped > task.read) {
            writeln!(
                out,
                "  {name} lost {} of {}: either it has the source of an evaluation set, or set phrases in its texts",
                task.dropped, task.read
            )?;
        }
        for set in &self.evaluation {
            if let Some(missing) = &set.missing {
                writeln!(out, "  {} is absent, so nothing was kept clear of it: {missing}", set.name)?;
            } else if set.problems > 0 {
                writeln!(out, "  {}: {} rows could not be read and are not known", set.name, set.problems)?;
            }
        }
        Ok(())
    }
}
