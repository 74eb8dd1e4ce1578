//! `retort reward`: responses, scored by a reward model's own head.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use retort_judge::{Reward, RewardRecord, RewardRequest, reward};

use crate::error::CliError;
use crate::load::{Interrupt, ModelArgs};
use crate::{progress, report, text};

/// What to score.
///
/// A reward model is a language model that was trained on which of two responses people prefer, and ends in a head
/// that gives a number instead of a vocabulary. The prompt and each response are put into the model's own chat
/// template, as a person's message and the answer to it, and the head is read at the end of the answer. No rubric
/// plays a part. The number has no fixed scale: a higher one is better, among responses to the same prompt. Heads with
/// several outputs (classifiers) give them all.
///
/// The model must be a GGUF file with such a head: llama.cpp's converter makes one from a model whose type ends in
/// "ForSequenceClassification".
///
/// Texts are given as they are, as @FILE, or as - for standard input.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The instruction that the responses answer.
    #[arg(long, value_name = "TEXT|@FILE|-")]
    prompt: String,
    /// A response to score. May be given several times; the prompt is then read once.
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true, required = true)]
    response: Vec<String>,
    #[command(flatten)]
    model: ModelArgs,
    /// Print the record as one line of JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let given: Vec<_> = std::iter::once(("prompt", Some(args.prompt.as_str())))
        .chain(args.response.iter().map(|response| ("response", Some(response.as_str()))))
        .collect();
    let mut texts = text::read_all(&given)?.into_iter().map(Option::unwrap_or_default);
    let request = RewardRequest { prompt: texts.next().unwrap_or_default(), responses: texts.collect() };

    let interrupt = Interrupt::listen();
    let Some(mut loaded) = args.model.load(&interrupt)? else { return Ok(Interrupt::status()) };
    let bar = progress::tokens("Scoring", 0);
    let start = Instant::now();
    let mut follow = |done: usize, total: usize| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        interrupt.flow()
    };
    let found = pollster::block_on(reward(&mut loaded.model, &request, &mut follow))?;
    bar.finish_and_clear();

    let context = loaded.context(start.elapsed().as_secs_f64() * 1000.0);
    let record = RewardRecord::new(&request, &found, context);
    let mut out = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &record)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", report::rewards(&record, loaded.reason()))?;
    }
    out.flush()?;
    // A response without a reward must not look like success to a script that asked for it.
    let all = record.rewards.iter().all(|reward| matches!(reward, Reward::Scored { .. }));
    match found.failure {
        Some(failure) => Err(CliError::Partial(failure)),
        None if found.cancelled => Ok(Interrupt::status()),
        None if all => Ok(ExitCode::SUCCESS),
        None => Ok(ExitCode::FAILURE),
    }
}
