//! `retort rubric`: check rubrics, show them, and turn one format into another.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::{Subcommand, ValueEnum};
use retort_formats::rubrics::{self, Imported, Target};
use retort_rubric::{Diagnostic, Format, Rubric, Severity};

use crate::error::CliError;

/// What to do with rubrics. A file is Retort's own TOML or JSON, or one of Prometheus, BiGGen, EvalAssist, Kiln,
/// deepeval, HealthBench or ragas, told from what it holds.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Say what is wrong or doubtful in files of rubrics, with line, field and remedy.
    Check {
        /// The files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
    },
    /// Show rubrics as a person reads them, with the hash that records name them by.
    Show {
        /// A file, or built-in rubrics by name, separated by commas: a skill, "all" or "overall".
        #[arg(value_name = "FILE|NAME")]
        what: String,
    },
    /// Write rubrics in another format; what that format cannot say is refused, with the reason.
    Convert {
        /// A file, or built-in rubrics by name, separated by commas: a skill, "all" or "overall".
        #[arg(value_name = "FILE|NAME")]
        what: String,
        /// The format.
        #[arg(long, value_name = "FORMAT")]
        to: To,
        /// Leave these fields out, where the format cannot say them.
        #[arg(long, value_name = "FIELD", value_delimiter = ',')]
        without: Vec<Without>,
        /// Write to this file instead of standard output.
        #[arg(short, long, value_name = "OUT")]
        output: Option<String>,
    },
}

/// A format to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum To {
    /// Retort's own, as a person writes it.
    Toml,
    /// Retort's own, as the page has it.
    Json,
    /// Prometheus and BiGGen, as JSON.
    Prometheus,
    /// Prometheus, as it stands in a prompt.
    PrometheusText,
    /// EvalAssist's criteria.
    Evalassist,
    /// Kiln's output scores.
    Kiln,
    /// deepeval's G-Eval.
    Deepeval,
    /// HealthBench's rubric items, on one line.
    Healthbench,
    /// ragas' rubrics.
    Ragas,
}

impl To {
    fn target(self) -> Option<Target> {
        match self {
            Self::Toml | Self::Json => None,
            Self::Prometheus => Some(Target::Prometheus),
            Self::PrometheusText => Some(Target::PrometheusText),
            Self::Evalassist => Some(Target::EvalAssist),
            Self::Kiln => Some(Target::Kiln),
            Self::Deepeval => Some(Target::DeepEval),
            Self::Healthbench => Some(Target::HealthBench),
            Self::Ragas => Some(Target::Ragas),
        }
    }
}

/// A field that may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Without {
    /// How much the rubric counts.
    Weight,
    /// When it does not apply.
    NotApplicable,
    /// The examples of its levels.
    Examples,
}

/// Rubrics from a file, and what was found in it.
pub(crate) struct Read {
    pub(crate) rubrics: Vec<Rubric>,
    pub(crate) warnings: Vec<Diagnostic>,
    imported: Option<Imported>,
}

/// Reads rubrics of any known format from a file.
pub(crate) fn file(path: &str) -> Result<Read, CliError> {
    let problem = |problem| CliError::RubricFile { path: path.to_owned(), problem };
    let text = std::fs::read_to_string(path).map_err(problem)?;
    if rubrics::recognise(&text).is_some() {
        let imported = rubrics::import(&text, path)?;
        Ok(Read {
            rubrics: imported.rubrics.clone(),
            warnings: imported.warnings.clone(),
            imported: Some(imported),
        })
    } else {
        let reading = retort_rubric::read(&text, path, Format::Auto)?;
        Ok(Read { rubrics: reading.rubrics, warnings: reading.warnings, imported: None })
    }
}

/// Reads a file, or takes built-in rubrics where no file has that name.
fn file_or_name(what: &str) -> Result<Read, CliError> {
    if Path::new(what).exists() {
        return file(what);
    }
    match retort_rubric::select(what) {
        Ok(rubrics) => Ok(Read { rubrics, warnings: Vec::new(), imported: None }),
        // A path is meant to be a file.
        Err(_) if what.contains(['/', '\\', '.']) => file(what),
        Err(problem) => Err(CliError::RubricName { what: what.to_owned(), problem }),
    }
}

pub(crate) fn run(action: &Action) -> Result<ExitCode, CliError> {
    match action {
        Action::Check { files } => check(files),
        Action::Show { what } => {
            let read = file_or_name(what)?;
            tell(&read.warnings);
            let shown: Vec<String> = read.rubrics.iter().map(shown).collect();
            let mut out = std::io::stdout().lock();
            out.write_all(shown.join("\n").as_bytes())?;
            out.flush()?;
            Ok(ExitCode::SUCCESS)
        }
        Action::Convert { what, to, without, output } => {
            let mut read = file_or_name(what)?;
            tell(&read.warnings);
            for rubric in &mut read.rubrics {
                leave_out(rubric, without);
            }
            let text = converted(&read, *to)?;
            match output {
                Some(path) => std::fs::write(path, text)
                    .map_err(|problem| CliError::RubricOutput { path: path.clone(), problem })?,
                None => {
                    let mut out = std::io::stdout().lock();
                    out.write_all(text.as_bytes())?;
                    out.flush()?;
                }
            }
            let skipped = read.warnings.iter().any(|finding| finding.severity == Severity::Error);
            Ok(if skipped { ExitCode::FAILURE } else { ExitCode::SUCCESS })
        }
    }
}

fn tell(warnings: &[Diagnostic]) {
    for warning in warnings {
        eprintln!("retort: {warning}");
    }
}

/// Every file is looked at, whatever is wrong with another.
fn check(files: &[String]) -> Result<ExitCode, CliError> {
    let mut out = std::io::stdout().lock();
    let mut sound = true;
    for path in files {
        match file(path) {
            Ok(read) => {
                for finding in &read.warnings {
                    writeln!(out, "{finding}")?;
                    sound &= finding.severity == Severity::Warning;
                }
                let source =
                    read.imported.as_ref().map_or_else(String::new, |it| format!(" of {}", it.source));
                let rubrics = match read.rubrics.len() {
                    1 => "1 rubric".to_owned(),
                    count => format!("{count} rubrics"),
                };
                let findings = match read.warnings.len() {
                    0 => "nothing found".to_owned(),
                    1 => "1 finding".to_owned(),
                    count => format!("{count} findings"),
                };
                writeln!(out, "{path}: {rubrics}{source}, {findings}")?;
            }
            Err(error) => {
                writeln!(out, "{error}")?;
                sound = false;
            }
        }
    }
    out.flush()?;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn leave_out(rubric: &mut Rubric, fields: &[Without]) {
    for field in fields {
        match field {
            Without::Weight => rubric.weight = 1.0,
            Without::NotApplicable => rubric.not_applicable = None,
            Without::Examples => rubric.options.iter_mut().for_each(|option| option.examples.clear()),
        }
    }
}

fn converted(read: &Read, to: To) -> Result<String, CliError> {
    let kept = read.imported.as_ref().map_or(&[][..], |imported| &imported.kept);
    let target = to.target();
    let mut lost: Vec<&str> = kept
        .iter()
        .filter(|kept| Some(kept.source) != target)
        .flat_map(|kept| kept.fields.keys().map(String::as_str))
        .collect();
    lost.extend(read.imported.iter().flat_map(|imported| imported.beside.iter().map(String::as_str)));
    lost.sort_unstable();
    lost.dedup();
    let text = match target {
        Some(target) => rubrics::export_keeping(&read.rubrics, kept, target)?,
        None if to == To::Json => retort_rubric::to_json(&read.rubrics)?,
        None => retort_rubric::to_toml(&read.rubrics)?,
    };
    if !lost.is_empty() {
        eprintln!("retort: these fields are no part of a rubric and are not written: {}", lost.join(", "));
    }
    Ok(text)
}

/// A rubric for people who read a terminal.
fn shown(rubric: &Rubric) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write!(out, "{} ({})", crate::text::printable(&rubric.name), rubric.id);
    if let Some(ability) = rubric.ability {
        let _ = write!(out, ", {}", ability.name());
    }
    let _ = writeln!(out, "\n  {}", indented(&rubric.criterion, 2));
    if let Some(question) = &rubric.question {
        let _ = writeln!(out, "  As a question: {}", indented(question, 2));
    }
    if rubric.weight != 1.0 {
        let how = if rubric.weight < 0.0 { ", points against" } else { "" };
        let _ = writeln!(out, "  Weight: {}{how}", rubric.weight);
    }
    if let Some(condition) = &rubric.not_applicable {
        let _ = writeln!(out, "  Does not apply when: {}", indented(condition, 2));
    }
    let heads: Vec<String> = rubric
        .options
        .iter()
        .map(|option| {
            let label = crate::text::printable(&option.label);
            let own = option.label.parse::<f64>() == Ok(option.value);
            if own { label } else { format!("{label} ({})", option.value) }
        })
        .collect();
    let widest = heads.iter().map(|head| head.chars().count()).max().unwrap_or(0);
    for (option, head) in rubric.options.iter().zip(&heads) {
        let pad = " ".repeat(widest - head.chars().count());
        let description = option.description.as_deref().unwrap_or_default();
        let line = format!("    {head}{pad}  {}", indented(description, widest + 6));
        let _ = writeln!(out, "{}", line.trim_end());
        for example in &option.examples {
            let _ = writeln!(out, "    {}  e.g. {}", " ".repeat(widest), indented(example, widest + 11));
        }
    }
    let _ = writeln!(out, "  SHA-256 {}", rubric.sha256());
    out
}

/// The same, later lines indented.
fn indented(text: &str, by: usize) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| crate::text::printable(line.strip_suffix('\r').unwrap_or(line)))
        .collect();
    lines.join(&format!("\n{}", " ".repeat(by)))
}

#[cfg(test)]
mod tests {
    use retort_rubric::RubricOption;

    use super::*;

    #[test]
    fn a_rubric_is_shown_with_all_its_parts() {
        let mut rubric = Rubric::new(
            "tone",
            "Tone\u{1b}[2J",
            "It is kind.\nAlways.",
            vec![RubricOption::new("fail", 0.0).described("Harsh."), RubricOption::new("1", 1.0)],
        );
        rubric.weight = -2.0;
        rubric.not_applicable = Some("There are no words.".to_owned());
        rubric.options[0].examples = vec!["Go\naway!".to_owned()];
        let expected = "\
Tone\u{fffd}[2J (tone)
  It is kind.
  Always.
  Weight: -2, points against
  Does not apply when: There are no words.
    fail (0)  Harsh.
              e.g. Go
                   away!
    1
  SHA-256 ";
        assert_eq!(shown(&rubric), format!("{expected}{}\n", rubric.sha256()));
    }
}
