//! `retort compare`: responses shown together, in both orders.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use retort_judge::{CompareRecord, CompareRequest, Preference, compare};

use crate::error::CliError;
use crate::load::{Interrupt, ModelArgs};
use crate::{progress, report, text};

/// What to compare.
///
/// Every pair of responses is shown to the model twice, each response first once, and it is asked which is better. The mean of
/// both orders decides; where each response won once, the pair is marked as flipped, since then the order decided and not the
/// text. How long the responses are stands beside it, since judges tend to prefer the longer one.
///
/// Texts are given as they are, as @FILE, or as - for standard input.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The instruction that the responses answer.
    #[arg(long, value_name = "TEXT|@FILE|-")]
    prompt: String,
    /// A response to compare; give two to four.
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true, required = true)]
    response: Vec<String>,
    /// A good answer to compare with.
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    reference: Option<String>,
    /// Take the probabilities as the model gives them, even where the adapter says how to set them right.
    #[arg(long)]
    no_calibration: bool,
    #[command(flatten)]
    model: ModelArgs,
    /// Print the record as one line of JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let given: Vec<_> = [("prompt", Some(args.prompt.as_str())), ("reference", args.reference.as_deref())]
        .into_iter()
        .chain(args.response.iter().map(|response| ("response", Some(response.as_str()))))
        .collect();
    let mut texts = text::read_all(&given)?.into_iter();
    let request = CompareRequest {
        prompt: texts.next().flatten().unwrap_or_default(),
        reference: texts.next().flatten(),
        responses: texts.map(Option::unwrap_or_default).collect(),
        uncalibrated: args.no_calibration,
    };

    let interrupt = Interrupt::listen();
    let Some(mut loaded) = args.model.load(&interrupt)? else { return Ok(Interrupt::status()) };
    let mut watching = progress::Watching { bar: progress::tokens("Comparing", 0), interrupt: &interrupt };
    let start = Instant::now();
    let found = pollster::block_on(compare(&mut loaded.model, &request, &mut watching))?;
    let total_ms = start.elapsed().as_secs_f64() * 1000.0;
    watching.bar.finish_and_clear();

    let record = CompareRecord::new(&request, &found, loaded.context(total_ms));
    let mut out = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &record)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", report::comparison(&record, loaded.reason()))?;
    }
    out.flush()?;
    // A pair without a verdict must not look like success to a script that asked for it.
    let all = record.pairs.iter().all(|pair| matches!(pair.verdict, Preference::Scored { .. }));
    match found.failure {
        Some(failure) => Err(CliError::Partial(failure)),
        None if found.cancelled => Ok(Interrupt::status()),
        None if all => Ok(ExitCode::SUCCESS),
        None => Ok(ExitCode::FAILURE),
    }
}
