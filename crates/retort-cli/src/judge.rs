//! `retort judge`: one response, scored.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::ValueEnum;
use indicatif::ProgressBar;
use retort_judge::{ModelIdentity, Observer, Record, Request, RubricVerdict, RunContext, Wording, judge};
use retort_lm::{BackendChoice, FileSource, Flow, LmError};
use retort_models::{Store, sha256_file};
use retort_rubric::{Format, Rubric};

use crate::error::CliError;
use crate::{progress, report, text};

/// The exit status of a command that Ctrl-C ended, as shells report it.
const INTERRUPTED: u8 = 130;

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
    /// Skills by name, separated by commas, or "all". Without this and without --rubric: all.
    #[arg(long, value_name = "all|a,b")]
    skills: Option<String>,
    /// A TOML or JSON file with rubrics of your own. May be given several times.
    #[arg(long, value_name = "FILE")]
    rubric: Vec<String>,
    /// A model by name (see "retort models list") or the path of a GGUF file.
    #[arg(long, value_name = "NAME|PATH")]
    model: Option<String>,
    /// Where the model runs.
    #[arg(long, value_enum, default_value_t = BackendArg::Auto)]
    backend: BackendArg,
    /// Print the record as one line of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum BackendArg {
    /// The GPU where there is a real one, else the CPU.
    Auto,
    /// The GPU, even one emulated in software.
    Gpu,
    /// The CPU.
    Cpu,
}

impl From<BackendArg> for BackendChoice {
    fn from(arg: BackendArg) -> Self {
        match arg {
            BackendArg::Auto => Self::Auto,
            BackendArg::Gpu => Self::Gpu,
            BackendArg::Cpu => Self::Cpu,
        }
    }
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

    let store = Store::open()?;
    let name = args.model.as_deref().unwrap_or(&store.registry().default_model().name);
    let resolved = store.resolve(name)?;
    let path = resolved.path.clone();
    let identity = match resolved.model {
        Some(model) => {
            ModelIdentity { name: model.name.clone(), sha256: Some(model.sha256.clone()), adapter: None }
        }
        None => ModelIdentity {
            name: path
                .file_name()
                .map_or_else(|| name.to_owned(), |file| file.to_string_lossy().into_owned()),
            sha256: Some(
                sha256_file(&path, &mut |_| {})
                    .map_err(|problem| CliError::Hash { path: path.display().to_string(), problem })?,
            ),
            adapter: None,
        },
    };

    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    // Without a handler Ctrl-C still ends the command, only without what was ready; so a failure to set one
    // is no reason to stop.
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    });
    let go_on = || if interrupted.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue };

    let source = FileSource::open(&path)?;
    let loading = progress::bytes("Loading", 0);
    let model = pollster::block_on(retort_lm::load(Box::new(source), args.backend.into(), &mut |step| {
        loading.set_length(step.total_bytes);
        loading.set_position(step.loaded_bytes);
        go_on()
    }));
    loading.finish_and_clear();
    let mut model = match model {
        Err(LmError::Cancelled) => return Ok(ExitCode::from(INTERRUPTED)),
        other => other?,
    };

    let mut watching = Watching { bar: progress::tokens("Judging", 0), go_on: &go_on };
    let start = Instant::now();
    let judgement = pollster::block_on(judge(&mut model, &request, &mut watching))?;
    let total_ms = start.elapsed().as_secs_f64() * 1000.0;
    watching.bar.finish_and_clear();

    let notices = model.take_notices();
    let placement = model.backend().placement();
    let run = RunContext {
        model: identity,
        backend: placement.backend,
        device: placement.device.clone(),
        notices,
        total_ms,
    };
    let record = Record::new(&request, &judgement, run);
    let mut out = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &record)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", report::plain(&record, &placement.reason))?;
    }
    out.flush()?;
    match judgement.failure {
        Some(failure) => Err(CliError::Partial(failure)),
        None if judgement.cancelled => Ok(ExitCode::from(INTERRUPTED)),
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
        let problem = |problem| CliError::RubricFile { path: path.clone(), problem };
        let text = std::fs::read_to_string(path).map_err(problem)?;
        let reading = retort_rubric::read(&text, path, Format::Auto)?;
        for warning in &reading.warnings {
            eprintln!("retort: {warning}");
        }
        rubrics.extend(reading.rubrics);
    }
    Ok(rubrics)
}

struct Watching<'a> {
    bar: ProgressBar,
    go_on: &'a dyn Fn() -> Flow,
}

impl Observer for Watching<'_> {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        (self.go_on)()
    }

    fn verdict(&mut self, _index: usize, verdict: &RubricVerdict) {
        self.bar.set_message(format!("Judged {}", verdict.rubric_name));
    }
}
