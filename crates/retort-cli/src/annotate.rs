//! `retort annotate`: what an instruction needs.

use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::process::ExitCode;
use std::time::Instant;

use clap::ValueEnum;
use retort_annotate::{Annotated, Evidence, ForWhat, explain, flask};
use retort_judge::{
    AnnotationRecord, AnnotationRequest, DEFAULT_ORDERS, Distribution, MAX_ORDERS, ModelAnnotation, Observer,
    Unscored, annotate,
};
use retort_lm::Flow;
use retort_rubric::{Difficulty, DifficultyVariant, Severity, builtin};
use serde_json::{Map, Value};

use crate::error::CliError;
use crate::load::{Interrupt, Loaded, ModelArgs};
use crate::{out, progress, text};

/// What to annotate, and by what.
///
/// An annotation says which three of FLASK's skills a good answer needs most, what the instruction is about, and how
/// much it demands. By code, the words of the instruction decide, by rules for English, at once. By model, a language
/// model is asked. By both, the words' evidence and the model's probabilities are multiplied.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["prompt", "rows", "from"])))]
pub(crate) struct Args {
    /// The instruction: as it is, from a file, or from standard input.
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// Annotate many: a file with one JSON object a line, each with the instruction as "instruction" or "prompt". The
    /// lines come out with an "annotation"; those that have one by a person keep it.
    #[arg(long, value_name = "FILE.jsonl")]
    rows: Option<String>,
    /// Convert the rows of FLASK's evaluation set, with their annotations, to this project's form.
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["by", "seed", "orders", "json"])]
    from: Option<String>,
    /// Who says it.
    #[arg(long, value_enum, default_value_t = By::Code)]
    by: By,
    /// Chooses the orders in which the model is offered the skills and the domains.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// In how many orders.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_ORDERS, value_parser = orders)]
    orders: usize,
    #[command(flatten)]
    model: ModelArgs,
    /// Print the record of a prompt as one line of JSON, with all evidence and probabilities; of rows, put it into each
    /// as "annotation_record".
    #[arg(long)]
    json: bool,
    /// Where rows go; without it, to standard output. A file that exists is not overwritten.
    #[arg(long, short, value_name = "FILE", conflicts_with = "prompt")]
    out: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// The words of the instruction, without a model.
    Code,
    /// A model alone.
    Model,
    /// A model, and the words.
    Both,
}

fn orders(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if (1..=MAX_ORDERS).contains(&count) => Ok(count),
        _ => Err(format!("give a number from 1 to {MAX_ORDERS}")),
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    match (&args.from, &args.rows) {
        (Some(path), _) => convert(args, path),
        (None, Some(path)) => many(args, path),
        (None, None) => one(args),
    }
}

fn request(args: &Args, instruction: &str) -> AnnotationRequest {
    AnnotationRequest {
        instruction: instruction.to_owned(),
        seed: args.seed,
        orders: args.orders,
        words: (args.by == By::Both).then(|| explain(instruction)),
    }
}

fn one(args: &Args) -> Result<ExitCode, CliError> {
    let texts = text::read_all(&[("prompt", args.prompt.as_deref())])?;
    let instruction = texts.into_iter().flatten().next().unwrap_or_default();
    if instruction.trim().is_empty() {
        let problem = "the text is empty; there is nothing to annotate".to_owned();
        return Err(CliError::Text { option: "prompt", problem });
    }
    let (record, variant, reason, found) = if args.by == By::Code {
        let words = explain(&instruction);
        let variant = words.annotation.domains.first().map(|label| DifficultyVariant::of(label.domain));
        (AnnotationRecord::new(&instruction, Some(words), None), variant, String::new(), None)
    } else {
        let interrupt = Interrupt::listen();
        let Some(mut loaded) = args.model.load(&interrupt)? else { return Ok(Interrupt::status()) };
        let mut watching =
            progress::Watching { bar: progress::tokens("Annotating", 0), interrupt: &interrupt };
        let request = request(args, &instruction);
        let start = Instant::now();
        let found = pollster::block_on(annotate(&mut loaded.model, &request, &mut watching))?;
        let total_ms = start.elapsed().as_secs_f64() * 1000.0;
        watching.bar.finish_and_clear();
        let run = loaded.context(total_ms);
        let record = AnnotationRecord::new(&instruction, request.words, Some((&found, run)));
        (record, Some(found.variant), loaded.reason().to_owned(), Some(found))
    };
    let mut out = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &record)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", plain(&record, variant.unwrap_or(DifficultyVariant::General), &reason))?;
    }
    out.flush()?;
    match found {
        Some(ModelAnnotation { failure: Some(failure), .. }) => Err(CliError::Partial(failure)),
        Some(ModelAnnotation { cancelled: true, .. }) => Ok(Interrupt::status()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Stops between two steps, and shows nothing: the bar counts rows.
struct Quiet<'a>(&'a Interrupt);

impl Observer for Quiet<'_> {
    fn progress(&mut self, _done: usize, _total: usize) -> Flow {
        self.0.flow()
    }
}

/// Where rows go: each is written out at once, so that what is finished stays.
struct Sink(Box<dyn Write>);

impl Sink {
    fn open(path: Option<&str>) -> Result<Self, CliError> {
        let Some(path) = path else { return Ok(Self(Box::new(std::io::stdout().lock()))) };
        Ok(Self(Box::new(BufWriter::new(out::create("out", path)?))))
    }

    fn row(&mut self, row: &impl serde::Serialize) -> Result<(), CliError> {
        let mut line = serde_json::to_vec(row)?;
        line.push(b'\n');
        self.0.write_all(&line)?;
        Ok(self.0.flush()?)
    }
}

fn read(option: &'static str, path: &str) -> Result<Vec<u8>, CliError> {
    std::fs::read(path).map_err(|error| CliError::File {
        option,
        path: path.to_owned(),
        problem: format!("it cannot be read: {error}"),
    })
}

fn convert(args: &Args, path: &str) -> Result<ExitCode, CliError> {
    let text = String::from_utf8(read("from", path)?).map_err(|error| CliError::File {
        option: "from",
        path: path.to_owned(),
        problem: format!("it is not UTF-8 (byte {}); save it as UTF-8", error.utf8_error().valid_up_to()),
    })?;
    let reading = flask::read(&text, path);
    for problem in &reading.problems {
        eprintln!("retort: {problem}");
    }
    let left_out = reading.problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    if reading.rows.is_empty() {
        let problem =
            "it has no row that can be read; give a file of FLASK's evaluation set, one JSON object a line";
        return Err(CliError::File { option: "from", path: path.to_owned(), problem: problem.to_owned() });
    }
    let mut sink = Sink::open(args.out.as_deref())?;
    for row in &reading.rows {
        sink.row(row)?;
    }
    eprintln!("retort: {} rows converted, {left_out} left out", reading.rows.len());
    Ok(ended(left_out))
}

/// A row that was left out must not look like success to a script.
fn ended(left_out: usize) -> ExitCode {
    if left_out == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What became of a row.
enum Done {
    Annotated(Map<String, Value>),
    Kept(Map<String, Value>),
    Cancelled,
}

fn many(args: &Args, path: &str) -> Result<ExitCode, CliError> {
    let bytes = read("rows", path)?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let lines: Vec<(usize, &[u8])> = (1..)
        .zip(bytes.split(|&byte| byte == b'\n'))
        .filter(|(_, line)| !line.trim_ascii().is_empty())
        .collect();
    let interrupt = Interrupt::listen();
    let mut sink = Sink::open(args.out.as_deref())?;
    let mut loaded = match args.by {
        By::Code => None,
        By::Model | By::Both => match args.model.load(&interrupt)? {
            None => return Ok(Interrupt::status()),
            loaded => loaded,
        },
    };
    let bar = progress::rows("Annotating", lines.len() as u64);
    let (mut annotated, mut kept, mut left_out) = (0usize, 0usize, 0usize);
    let mut cancelled = false;
    for (number, line) in lines {
        if interrupt.flow() == Flow::Stop {
            cancelled = true;
            break;
        }
        match row(args, line, loaded.as_mut(), &interrupt) {
            Ok(Done::Annotated(row)) => {
                sink.row(&row)?;
                annotated += 1;
            }
            Ok(Done::Kept(row)) => {
                sink.row(&row)?;
                kept += 1;
            }
            Ok(Done::Cancelled) => {
                cancelled = true;
                break;
            }
            Err(problem) => {
                bar.suspend(|| eprintln!("retort: {path}:{number}: {problem}; the row is left out"));
                left_out += 1;
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut said = format!("{annotated} rows annotated, {left_out} left out");
    if kept > 0 {
        let _ = write!(said, ", {kept} with a person's annotation kept as they are");
    }
    if cancelled {
        said.push_str("; stopped by Ctrl-C, the rows after these are not annotated");
    }
    eprintln!("retort: {said}");
    Ok(if cancelled { Interrupt::status() } else { ended(left_out) })
}

fn row(args: &Args, line: &[u8], loaded: Option<&mut Loaded>, interrupt: &Interrupt) -> Result<Done, String> {
    let line = std::str::from_utf8(line).map_err(|error| format!("the line is not UTF-8 ({error})"))?;
    let mut row: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| format!("the line is no JSON object ({error})"))?;
    if row.get("annotation").and_then(|annotation| annotation.get("by")).is_some_and(|by| by == "person") {
        return Ok(Done::Kept(row));
    }
    let instruction = match (row.get("instruction"), row.get("prompt")) {
        (Some(Value::String(text)), None) | (None, Some(Value::String(text))) => text,
        (Some(_), Some(_)) => return Err("there is an \"instruction\" and a \"prompt\"; give one".to_owned()),
        (None, None) => {
            return Err("there is no \"instruction\" and no \"prompt\"; give one, as text".to_owned());
        }
        _ => return Err("the instruction is no text; put it between quotation marks".to_owned()),
    };
    if instruction.trim().is_empty() {
        return Err("the instruction is empty".to_owned());
    }
    let record = match loaded {
        None => AnnotationRecord::new(instruction, Some(explain(instruction)), None),
        Some(loaded) => {
            let request = request(args, instruction);
            let start = Instant::now();
            let found = pollster::block_on(annotate(&mut loaded.model, &request, &mut Quiet(interrupt)))
                .map_err(|error| error.to_string());
            if interrupt.flow() == Flow::Stop {
                return Ok(Done::Cancelled);
            }
            let found = found?;
            let run = loaded.context(start.elapsed().as_secs_f64() * 1000.0);
            let record = AnnotationRecord::new(instruction, request.words, Some((&found, run)));
            if let Some(failure) = found.failure {
                return Err(failure.to_string());
            }
            record
        }
    };
    let json = |value: &dyn Fn() -> serde_json::Result<Value>| value().map_err(|error| error.to_string());
    let annotation = json(&|| serde_json::to_value(&record.annotation))?;
    let record = args.json.then(|| json(&|| serde_json::to_value(&record))).transpose()?;
    row.insert("annotation".to_owned(), annotation);
    if let Some(record) = record {
        row.insert("annotation_record".to_owned(), record);
    }
    Ok(Done::Annotated(row))
}

/// Most pieces of evidence that a part of the annotation shows; the record has them all.
const SHOWN: usize = 3;

/// An annotation for people who read a terminal.
fn plain(record: &AnnotationRecord, variant: DifficultyVariant, reason: &str) -> String {
    let mut out = String::new();
    let annotation = &record.annotation;
    let words = record.words.as_ref();
    let model = record.by_model.as_ref();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "What a good answer needs most:");
    for (number, skill) in (1..).zip(&annotation.skills) {
        let rubric = builtin().iter().find(|rubric| rubric.id == skill.id());
        let asks = rubric.and_then(|rubric| rubric.question.as_deref()).unwrap_or_default();
        let _ = writeln!(out, "  {number}. {}: {asks}", skill.name());
        because(&mut out, words, chance(model.map(|model| &model.skills), *skill), |what| {
            *what == ForWhat::Skill(*skill)
        });
    }
    if let Some(Distribution::Unscored(why)) = model.map(|model| &model.skills) {
        absent(&mut out, why);
    }

    let _ = writeln!(out, "\nWhat it is about:");
    for label in &annotation.domains {
        let part = label.subdomain.as_deref().filter(|_| label.domain.subdomains().len() > 1);
        let part = part.map_or_else(String::new, |part| format!(", {part}"));
        let _ = writeln!(out, "  {}{part}", label.domain.name());
        because(
            &mut out,
            words,
            chance(model.map(|model| &model.domains), Some(label.domain)),
            |what| matches!(what, ForWhat::Domain(seen) if seen.domain == label.domain),
        );
    }
    match model.map(|model| &model.domains) {
        Some(Distribution::Unscored(why)) => absent(&mut out, why),
        _ if annotation.domains.is_empty() => {
            let _ = writeln!(out, "  No field in particular");
        }
        _ => {}
    }

    let _ = writeln!(out, "\nHow difficult it is:");
    if let Some(level) = annotation.difficulty {
        let _ = writeln!(out, "  {} of 5, {}: {}", level.level(), level.name(), level.definition(variant));
        let shares = model.map(|model| &model.difficulty).and_then(levels);
        because(&mut out, words, shares, |what| *what == ForWhat::Difficulty);
    }
    if let Some(Distribution::Unscored(why)) = model.map(|model| &model.difficulty) {
        absent(&mut out, why);
    }

    let _ = writeln!(out);
    match model {
        None => {
            let _ = writeln!(
                out,
                "By the words of the instruction, with rules for English; no model was asked (--by model asks one)."
            );
        }
        Some(model) => {
            for cut in &model.truncations {
                let _ = writeln!(
                    out,
                    "The instruction is too long for this model: its head and tail were read, {} of {} characters.",
                    cut.kept_characters, cut.total_characters
                );
            }
            for notice in &model.notices {
                let _ = writeln!(out, "{notice}");
            }
            if model.cancelled {
                let _ = writeln!(out, "Cancelled before its end.");
            }
            let and = if words.is_some() { " and the words of the instruction" } else { "" };
            let _ = writeln!(
                out,
                "By {}{and}; {} orders, seed {}. Ran on {} ({reason}), {} tokens in {:.1} s.",
                model.model.name,
                model.orders.len(),
                model.seed,
                model.device,
                model.timings.tokens,
                model.timings.total_ms / 1000.0
            );
        }
    }
    out
}

fn chance<T: Copy + PartialEq>(of: Option<&Distribution<T>>, answer: T) -> Option<String> {
    let probability = of?.probability(answer)?;
    Some(format!("the model gives it {:.0}%", probability * 100.0))
}

fn levels(of: &Distribution<Difficulty>) -> Option<String> {
    let share = |level: Difficulty| Some(format!("{} {:.0}%", level.level(), of.probability(level)? * 100.0));
    let shares: Option<Vec<String>> = Difficulty::ALL.into_iter().map(share).collect();
    Some(format!("the model gives {}", shares?.join(", ")))
}

/// What speaks for it, on one line.
fn because(
    out: &mut String,
    words: Option<&Annotated>,
    model: Option<String>,
    is_for: impl Fn(&ForWhat) -> bool,
) {
    let pieces = words.map_or(&[][..], |words| words.evidence.as_slice());
    let short = |piece: &Evidence| {
        let words: Vec<&str> = piece.words.split_whitespace().collect();
        let words = words.join(" ");
        let direction = match (&piece.for_what, piece.weight < 0.0) {
            (ForWhat::Skill(_), true) => " (against it)",
            (ForWhat::Difficulty, true) => " (easier)",
            (ForWhat::Difficulty, false) => " (harder)",
            _ => "",
        };
        match piece.range.is_empty() {
            true => format!("{words} {}{direction}", piece.reason),
            false => format!("\"{words}\" {}{direction}", piece.reason),
        }
    };
    let seen: Vec<&Evidence> = pieces.iter().filter(|piece| is_for(&piece.for_what)).collect();
    let more = seen.len().saturating_sub(SHOWN);
    let mut said: Vec<String> =
        model.into_iter().chain(seen.iter().take(SHOWN).map(|piece| short(piece))).collect();
    if more > 0 {
        said.push(format!("and {more} more"));
    }
    if said.is_empty() && words.is_some() {
        said.push("every instruction calls for it; nothing in particular was seen".to_owned());
    }
    if !said.is_empty() {
        let _ = writeln!(out, "     {}", said.join("; "));
    }
}

fn absent(out: &mut String, why: &Unscored) {
    let _ = writeln!(out, "  Not found: {why}");
}
