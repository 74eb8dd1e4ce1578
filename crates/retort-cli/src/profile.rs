//! `retort report`: judgements, aggregated.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use retort_report::{Settings, Source, to_html, to_json, to_markdown};

use crate::error::CliError;

/// The most problems that are printed; the report lists them, too.
const MOST_PRINTED: usize = 20;

/// What the options do not say.
const HELP: &str = "\
FILES hold judgements, one JSON object a line (or one array of them): the records that \"retort judge --json\" prints, \
or reviews as FLASK's scripts write them (question_id, target_txt, review, score). What they are is told by their \
keys. Each file is one model's responses, named after the file, unless its rows name their model (response_model or \
model_id).

The report gives the mean of each skill, domain and level of difficulty with a bootstrap interval of 95% and the number \
of scores in it. \"N/A\" and scores that could not be had are left out of every mean and counted, each apart. Rows that \
cannot be read are reported and skipped.";

/// What to report on and how.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP)]
pub(crate) struct Args {
    /// Files with judgements.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// A file that says which skills, domains and difficulty the instructions have, such as FLASK's evaluation set. It
    /// is joined by idx or question_id, or by the instruction's text. May be given several times.
    #[arg(long, value_name = "FILE")]
    annotations: Vec<String>,
    /// The report's form. By default that of OUT's extension, or else Markdown.
    #[arg(long, value_enum)]
    format: Option<Form>,
    /// A new file to write it to. By default standard output.
    #[arg(short, long, value_name = "OUT")]
    out: Option<String>,
    /// Seed of the bootstrap. The same seed gives the same intervals.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Resamples for each interval.
    #[arg(long, default_value_t = 2000)]
    resamples: usize,
    /// Count a skill only for instructions whose annotation names it, as FLASK does.
    #[arg(long)]
    annotated_skills: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// Tables for a text.
    Markdown,
    /// One file with charts that needs nothing else.
    Html,
    /// All figures, for programs.
    Json,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProfileError {
    /// A file cannot be opened.
    #[error("{path} could not be read: {problem}; check the name")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        problem: std::io::Error,
    },
    /// No row is a judgement.
    #[error(
        "there is no judgement in {0}; give files with records of \"retort judge --json\" or FLASK reviews"
    )]
    Nothing(String),
    /// The settings are out of range.
    #[error("{0}")]
    Report(#[from] retort_report::ReportError),
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let form = args.format.unwrap_or_else(|| {
        let extension =
            args.out.as_ref().and_then(|path| Path::new(path).extension()).and_then(|e| e.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("html" | "htm") => Form::Html,
            Some("json") => Form::Json,
            _ => Form::Markdown,
        }
    });
    let files = read_all(&args.files)?;
    let annotations = read_all(&args.annotations)?;
    let reading = retort_report::read(&sources(&files), &sources(&annotations));
    for problem in reading.problems.iter().take(MOST_PRINTED) {
        eprintln!("retort: {problem}");
    }
    if reading.problems.len() > MOST_PRINTED {
        eprintln!(
            "retort: and {} more problems, which the JSON form lists",
            reading.problems.len() - MOST_PRINTED
        );
    }
    if reading.rows.is_empty() {
        return Err(ProfileError::Nothing(args.files.join(", ")).into());
    }
    let settings = Settings {
        seed: args.seed,
        resamples: args.resamples,
        labelled_skills_only: args.annotated_skills,
        ..Settings::default()
    };
    let profile = retort_report::profile(&reading, &settings).map_err(ProfileError::from)?;
    let text = match form {
        Form::Markdown => to_markdown(&profile),
        Form::Html => to_html(&profile),
        Form::Json => to_json(&profile)?,
    };
    match &args.out {
        Some(path) => crate::out::create("out", path)?.write_all(text.as_bytes())?,
        None => {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes())?;
            out.flush()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read_all(paths: &[String]) -> Result<Vec<(&str, Vec<u8>)>, ProfileError> {
    paths
        .iter()
        .map(|path| {
            let bytes =
                std::fs::read(path).map_err(|problem| ProfileError::Read { path: path.clone(), problem })?;
            Ok((path.as_str(), bytes))
        })
        .collect()
}

fn sources<'a>(files: &'a [(&'a str, Vec<u8>)]) -> Vec<Source<'a>> {
    files.iter().map(|(name, bytes)| Source { name, bytes }).collect()
}
