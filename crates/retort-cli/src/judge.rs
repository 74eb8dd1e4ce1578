//! `retort judge`: one response, scored.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use indicatif::ProgressBar;
use retort_judge::{Observer, Record, Request, RubricVerdict, Wording, judge};
use retort_lm::Flow;
use retort_rubric::Rubric;

use crate::error::CliError;
use crate::load::{Interrupt, ModelArgs};
use crate::{progress, report, text};

/// What to judge and by what. Texts are given as they are, as @FILE, or as - for standard input.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The instruction that the response answers.
    #[arg(long, value_name = "TEXT|@FILE|-")]
    prompt: String,
    /// The response to judge.
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    response: String,
    /// A good answer to compare with.
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    reference: Option<String>,
    /// Skills by name, separated by commas, or "all"; "overall" for one rating of the whole. Without this and without --rubric: all.
    #[arg(long, value_name = "all|a,b")]
    skills: Option<String>,
    /// A file with rubrics of your own: TOML, JSON, or another tool's, as `retort rubric` reads them. May be given
    /// several times.
    #[arg(long, value_name = "FILE")]
    rubric: Vec<String>,
    #[command(flatten)]
    model: ModelArgs,
    /// Print the record as one line of JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let mut texts = text::read_all(&[
        ("prompt", Some(&args.prompt)),
        ("response", Some(&args.response)),
        ("reference", args.reference.as_deref()),
    ])?
    .into_iter();
    let request = Request {
        prompt: texts.next().flatten().unwrap_or_default(),
        response: texts.next().flatten().unwrap_or_default(),
        reference: texts.next().flatten(),
        rubrics: rubrics(args)?,
        wording: Wording::Full,
    };

    let interrupt = Interrupt::listen();
    let Some(mut loaded) = args.model.load(&interrupt)? else { return Ok(Interrupt::status()) };
    let mut watching = Watching { bar: progress::tokens("Judging", 0), interrupt: &interrupt };
    let start = Instant::now();
    let judgement = pollster::block_on(judge(&mut loaded.model, &request, &mut watching))?;
    let total_ms = start.elapsed().as_secs_f64() * 1000.0;
    watching.bar.finish_and_clear();

    let record = Record::new(&request, &judgement, loaded.context(total_ms));
    let mut out = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &record)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", report::plain(&record, loaded.reason()))?;
    }
    out.flush()?;
    match judgement.failure {
        Some(failure) => Err(CliError::Partial(failure)),
        None if judgement.cancelled => Ok(Interrupt::status()),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn rubrics(args: &Args) -> Result<Vec<Rubric>, CliError> {
    let mut rubrics = match &args.skills {
        Some(names) => retort_rubric::select(names)?,
        None if args.rubric.is_empty() => retort_rubric::builtin().to_vec(),
        None => Vec::new(),
    };
    for path in &args.rubric {
        let read = crate::rubric::file(path)?;
        for warning in &read.warnings {
            eprintln!("retort: {warning}");
        }
        rubrics.extend(read.rubrics);
    }
    Ok(rubrics)
}

struct Watching<'a> {
    bar: ProgressBar,
    interrupt: &'a Interrupt,
}

impl Observer for Watching<'_> {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        self.interrupt.flow()
    }

    fn verdict(&mut self, _index: usize, verdict: &RubricVerdict) {
        self.bar.set_message(format!("Judged {}", verdict.rubric_name));
    }
}
