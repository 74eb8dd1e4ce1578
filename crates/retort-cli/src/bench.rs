//! `retort bench`: exams for judges, and runs side by side.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Subcommand, ValueEnum};
use indicatif::ProgressBar;
use retort_bench::compare::{self, CompareOptions, Stored, WayPair, compare_runs};
use retort_bench::pair::Ways;
use retort_bench::run::{Follow, Outcome, Stop};
use retort_bench::store::{RunIdentity, RunReport, Store, StoreError, read_report};
use retort_bench::{AnswerRecord, Answers, Ask, DataDir, EXAMS, ExamOptions, OpenError, exam};
use retort_judge::{Calibration, JudgeError, Wording};
use retort_lm::{Answer, Flow, LmError, NoWatch};

use crate::error::CliError;
use crate::load::{Interrupt, Loaded, ModelArgs, WordingArg};
use crate::progress;

/// The most problems that are printed; `problems.jsonl` has all.
const MOST_PRINTED: usize = 10;

/// What the options do not say.
const HELP: &str = "\
Exams are made from public data that you fetch yourself: --data is a folder with one folder per repository, named \
OWNER+NAME (directly in it, or in its train or eval). \"retort bench list\" says what there is.

A pair of responses can be judged together (both shown, in both orders) or alone (each by the task's question, by one \
question of overall quality (agnostic), or by the twelve skills). All rules that need no model (random, longer, shorter, \
overlap) stand in every table.

Every answer is written to OUT/EXAM/answers.jsonl as it comes; the same command goes on where it stopped.";

/// Which exams, and of which judge.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// The exams; "all" for all of them.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The folder of the public data. By default what the variable RETORT_DATA says.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A file in place of an exam's own data, where the exam takes one (rewardbench, flask).
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The models whose outputs are judged, by the names of their files (flask). All by default.
    #[arg(long, value_name = "MODEL", value_delimiter = ',')]
    outputs: Vec<String>,
    /// Folder for answers and tables.
    #[arg(long, value_name = "DIR", default_value = "retort-bench")]
    out: PathBuf,
    /// At most so many items of each exam, in an order drawn by the seed.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Seed of all choices.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How the judge is asked.
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["together", "alone", "agnostic"])]
    ask: Vec<WayArg>,
    /// How much of each question the model reads. Without this: all of it, but of the twelve skills only their short
    /// questions where the adapter was trained on these.
    #[arg(long, value_enum)]
    wording: Option<WordingArg>,
    /// No model: only the rules that need none.
    #[arg(long)]
    rules_only: bool,
    /// Ask so many inquiries again, each prompt on its own with nothing shared, and say how much faster sharing is.
    #[arg(long, value_name = "N", default_value_t = 0)]
    measure_sharing: usize,
    /// Take the probabilities as the model gives them, even where the adapter says how to set them right.
    #[arg(long)]
    no_calibration: bool,
    #[command(flatten)]
    model: ModelArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Say which exams there are.
    List,
    /// Put runs side by side, with published figures marked as such.
    Report(ReportArgs),
}

/// Which runs, and what is said of them.
#[derive(Debug, clap::Args)]
struct ReportArgs {
    /// Folders of runs: what --out named, or one exam's folder in it.
    #[arg(value_name = "DIR", required = true)]
    runs: Vec<PathBuf>,
    /// Compare every run with this one, item by item: by how much better it is than the base, than chance and than the
    /// rules. The data are read again.
    #[arg(long, value_name = "DIR")]
    against: Vec<PathBuf>,
    /// Ways of asking that are compared besides the same way of both, such as alone:together for the judge's alone
    /// against the base's together.
    #[arg(long, value_name = "JUDGE:BASE", value_delimiter = ',', requires = "against")]
    ways: Vec<WayPair>,
    /// The folder of the public data. By default what the variable RETORT_DATA says.
    #[arg(long, value_name = "DIR", requires = "against")]
    data: Option<PathBuf>,
    /// The file that the runs were given (rewardbench, flask).
    #[arg(long, value_name = "FILE", requires = "against")]
    file: Option<PathBuf>,
    /// The models whose outputs the runs judged (flask). All by default.
    #[arg(long, value_name = "MODEL", value_delimiter = ',', requires = "against")]
    outputs: Vec<String>,
    /// The report's form. By default that of OUT's extension, or else Markdown.
    #[arg(long, value_enum)]
    format: Option<Form>,
    /// A new file to write it to. By default standard output.
    #[arg(short, long, value_name = "OUT")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Tables for a text.
    Markdown,
    /// One file that needs nothing else.
    Html,
    /// All figures, for programs.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WayArg {
    /// Both responses shown, in both orders.
    Together,
    /// Each response alone, by the task's question.
    Alone,
    /// Each response alone, by the twelve skills.
    Skills,
    /// Each response alone, by one question of overall quality.
    Agnostic,
}

/// Why there is no exam.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// Nobody said where the data are.
    #[error("say where the public data are: --data DIR, or the variable RETORT_DATA")]
    NoData,
    /// Nobody said which exam.
    #[error("name at least one exam, or \"all\"; \"retort bench list\" shows them")]
    NoName,
    /// The exam cannot be held.
    #[error("{0}")]
    Open(#[from] OpenError),
    /// The run cannot be kept.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The run ended early.
    #[error(
        "{exam} stopped before its end: {stop}. What was answered is kept; the same command goes on from there"
    )]
    Stopped {
        /// The exam.
        exam: String,
        /// Why.
        stop: Stop,
    },
    /// There is nothing to report on.
    #[error("there is no finished run in {0}; give the folder that --out named")]
    NoRun(String),
    /// The report cannot be written.
    #[error("{path} could not be written: {problem}; choose another file with --out")]
    Write {
        /// The file.
        path: String,
        /// What the system said.
        problem: std::io::Error,
    },
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    match &args.action {
        Some(Action::List) => {
            let mut out = std::io::stdout().lock();
            for entry in EXAMS {
                writeln!(out, "{:<16} {}", entry.name, entry.about)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(Action::Report(args)) => report(args),
        None => hold(args),
    }
}

/// The folder of the public data.
pub(crate) fn data_dir(given: Option<&Path>) -> Result<DataDir, BenchError> {
    match given.map(Path::to_owned).or_else(|| std::env::var_os("RETORT_DATA").map(PathBuf::from)) {
        Some(folder) => Ok(DataDir::new(folder)),
        None => Err(BenchError::NoData),
    }
}

fn hold(args: &Args) -> Result<ExitCode, CliError> {
    if args.names.is_empty() {
        return Err(BenchError::NoName.into());
    }
    let names: Vec<&str> = match args.names.iter().any(|name| name == "all") {
        true => EXAMS.iter().map(|entry| entry.name).collect(),
        false => args.names.iter().map(String::as_str).collect(),
    };
    let entries = names.iter().map(|name| exam(name)).collect::<Result<Vec<_>, _>>();
    let entries = entries.map_err(BenchError::from)?;
    let data = data_dir(args.data.as_deref())?;
    let interrupt = Interrupt::listen();
    let mut loaded = match args.rules_only {
        true => None,
        false => match args.model.load(&interrupt)? {
            Some(loaded) => Some(loaded),
            None => return Ok(Interrupt::status()),
        },
    };
    let has = |way| args.ask.contains(&way) && !args.rules_only;
    let ways = Ways {
        together: has(WayArg::Together),
        alone: has(WayArg::Alone),
        skills: has(WayArg::Skills),
        agnostic: has(WayArg::Agnostic),
        wording: loaded.as_ref().map_or_else(Wording::default, |loaded| loaded.wording(args.wording)),
    };
    let options = ExamOptions {
        ways,
        limit: args.limit,
        seed: args.seed,
        file: args.file.clone(),
        outputs: args.outputs.clone(),
    };
    let known = match loaded.as_ref().filter(|_| !args.no_calibration) {
        Some(loaded) => Calibration::of_model(&loaded.model).map_err(JudgeError::from)?,
        None => None,
    };
    let calibration = known.as_ref();
    if calibration.is_some() {
        eprintln!("probabilities are set right as the adapter says; --no-calibration takes them as they are");
    }
    let mut reports = Vec::new();
    for entry in entries {
        let opened = match entry.open(&data, &options) {
            Ok(opened) => opened,
            // One exam whose data are not there must not keep the others from being held.
            Err(error) if args.names.iter().any(|name| name == "all") => {
                eprintln!("retort: {}: {error}", entry.name);
                continue;
            }
            Err(error) => return Err(BenchError::from(error).into()),
        };
        for problem in opened.problems.iter().take(MOST_PRINTED) {
            eprintln!("retort: {}: {problem}", entry.name);
        }
        if opened.problems.len() > MOST_PRINTED {
            eprintln!(
                "retort: {}: and {} more, which problems.jsonl lists",
                entry.name,
                opened.problems.len() - MOST_PRINTED
            );
        }
        let asks = opened.exam.asks();
        let identity = RunIdentity::new(
            entry.name,
            loaded.as_ref().map(|loaded| loaded.identity().clone()),
            asked(&options.ways),
            args.limit,
            args.seed,
            &asks,
        );
        let folder = args.out.join(entry.name);
        let mut store = Store::open_read_by(calibration, &folder, identity).map_err(BenchError::from)?;
        if !store.answers().is_empty() {
            eprintln!(
                "{}: {} of {} inquiries were answered before",
                entry.name,
                store.answers().len(),
                asks.len()
            );
        }
        let start = Instant::now();
        let outcome = match &mut loaded {
            Some(loaded) => ask(entry.name, loaded, &asks, &mut store, &interrupt),
            None => Outcome::default(),
        };
        let seconds = start.elapsed().as_secs_f64();
        let device =
            loaded.as_ref().map_or_else(|| "no model".to_owned(), |loaded| loaded.device().to_owned());
        let tables = opened.exam.tables(store.answers());
        let report = store
            .finish(tables, &opened.problems, device, asks.len(), seconds, outcome.usage.computed)
            .map_err(BenchError::from)?;
        if let Some(loaded) = &mut loaded {
            for notice in loaded.model.take_notices() {
                eprintln!("retort: {notice}");
            }
            if args.measure_sharing > 0 && !outcome.cancelled && outcome.stopped.is_none() {
                sharing(loaded, &asks, args.measure_sharing, calibration, &interrupt)?;
            }
        }
        reports.push(report);
        if let Some(stop) = outcome.stopped {
            return Err(BenchError::Stopped { exam: entry.name.to_owned(), stop }.into());
        }
        if outcome.cancelled {
            eprintln!("{}: stopped; the same command goes on from here", entry.name);
            return Ok(Interrupt::status());
        }
    }
    let mut out = std::io::stdout().lock();
    write!(out, "{}", retort_bench::report::markdown(&reports))?;
    Ok(ExitCode::SUCCESS)
}

/// The ways of asking, in words.
fn asked(ways: &Ways) -> String {
    let names: Vec<&str> = ways.all().map(|way| way.name()).collect();
    if names.is_empty() {
        return "nothing".to_owned();
    }
    let wording = match ways.wording {
        Wording::Full => "full",
        Wording::Short => "short",
        Wording::ShortSkills => "full (of skills: short)",
    };
    format!("{} in {wording} wording", names.join(", "))
}

/// Keeps answers, shows progress, hears Ctrl-C.
struct Following<'a> {
    store: &'a mut Store,
    bar: ProgressBar,
    interrupt: &'a Interrupt,
}

impl Follow for Following<'_> {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        self.bar.set_position((1000 * done / total.max(1)) as u64);
        self.interrupt.flow()
    }

    fn answered(&mut self, record: AnswerRecord) -> Result<(), String> {
        self.store.keep(record).map_err(|error| error.to_string())
    }
}

fn ask(
    name: &str,
    loaded: &mut Loaded,
    asks: &[Ask<'_>],
    store: &mut Store,
    interrupt: &Interrupt,
) -> Outcome {
    let known: Answers = store.answers().clone();
    let bar = progress::share(name);
    bar.enable_steady_tick(Duration::from_secs(1));
    let mut following = Following { store, bar, interrupt };
    let outcome = pollster::block_on(retort_bench::run::run(&mut loaded.model, asks, &known, &mut following));
    following.bar.finish_and_clear();
    outcome
}

/// Nothing is kept: only the time counts.
struct Forgetting<'a> {
    interrupt: &'a Interrupt,
    answers: Answers,
}

impl Follow for Forgetting<'_> {
    fn progress(&mut self, _done: usize, _total: usize) -> Flow {
        self.interrupt.flow()
    }

    fn answered(&mut self, record: AnswerRecord) -> Result<(), String> {
        self.answers.insert(record);
        Ok(())
    }
}

/// Rounds of the measurement; the median of their ratios counts.
const ROUNDS: usize = 3;

/// Asks a stretch of the exam shared and one by one, in turns, and prints the median ratio of their times.
fn sharing(
    loaded: &mut Loaded,
    asks: &[Ask<'_>],
    count: usize,
    calibration: Option<&Calibration>,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    // Stretches from all over the exam, each of neighbours: neighbours are what shares texts.
    let mut ratios = Vec::new();
    let (mut apart_most, mut prompts) = (0.0f64, 0);
    let per_round = count.div_ceil(ROUNDS).min(asks.len());
    for round in 0..ROUNDS {
        let start = (asks.len() - per_round) * round / (ROUNDS - 1).max(1);
        let stretch = &asks[start..start + per_round];
        loaded.model.forget();
        let none = Answers::read_by(calibration.cloned());
        let mut follow = Forgetting { interrupt, answers: none.clone() };
        let begun = Instant::now();
        let outcome =
            pollster::block_on(retort_bench::run::run(&mut loaded.model, stretch, &none, &mut follow));
        let shared = begun.elapsed().as_secs_f64();
        if outcome.cancelled {
            return Ok(());
        }
        let begun = Instant::now();
        for ask in stretch {
            let forget = &mut |model: &mut retort_lm::Model<retort_lm::AnyBackend>| model.forget();
            let found: Result<Vec<Answer>, LmError> = pollster::block_on(retort_bench::run::one_by_one(
                &mut loaded.model,
                &ask.inquiry,
                forget,
                &mut NoWatch,
            ));
            if interrupt.flow() == Flow::Stop {
                return Ok(());
            }
            // What does not fit alone does not fit shared either; it costs nothing in both.
            let Ok(found) = found else { continue };
            prompts += found.len();
            for ((question, key), answer) in ask.inquiry.questions.iter().zip(&ask.keys).zip(&found) {
                let alone = question.verdict_by(calibration, answer, false);
                if let (Some(shared), retort_judge::Verdict::Scored { expected, .. }) =
                    (follow.answers.expected(&ask.id, key), alone)
                {
                    apart_most = apart_most.max((shared - expected).abs());
                }
            }
        }
        ratios.push(begun.elapsed().as_secs_f64() / shared);
    }
    ratios.sort_by(f64::total_cmp);
    let show: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
    eprintln!(
        "sharing: {:.2} times as fast as every prompt on its own (median of {}; {prompts} prompts of {} inquiries; \
         largest difference of a score {apart_most:.5})",
        ratios[ROUNDS / 2],
        show.join(", "),
        per_round * ROUNDS,
    );
    Ok(())
}

/// The folders of finished runs that these hold.
fn finished(folders: &[PathBuf]) -> Result<Vec<PathBuf>, BenchError> {
    let mut found = Vec::new();
    for folder in folders {
        let before = found.len();
        let inner = EXAMS.iter().map(|entry| folder.join(entry.name));
        found.extend(
            std::iter::once(folder.clone()).chain(inner).filter(|one| one.join("table.json").exists()),
        );
        if found.len() == before {
            return Err(BenchError::NoRun(folder.display().to_string()));
        }
    }
    Ok(found)
}

fn report(args: &ReportArgs) -> Result<ExitCode, CliError> {
    let ReportArgs { runs, against, format, out, .. } = args;
    let out = out.as_deref();
    let runs = finished(runs)?;
    let reports = runs.iter().map(|folder| read_report(folder)).collect::<Result<Vec<RunReport>, _>>();
    let mut reports = reports.map_err(BenchError::from)?;
    let comparisons = if against.is_empty() {
        None
    } else {
        let data = data_dir(args.data.as_deref())?;
        let read = |folders: &[PathBuf]| -> Result<Vec<Stored>, BenchError> {
            Ok(folders.iter().map(|folder| Stored::read(folder)).collect::<Result<_, _>>()?)
        };
        let (judges, base) = (read(&runs)?, read(&finished(against)?)?);
        for stored in &base {
            if !reports.contains(&stored.report) {
                reports.push(stored.report.clone());
            }
        }
        let options = CompareOptions {
            ways: args.ways.clone(),
            file: args.file.clone(),
            outputs: args.outputs.clone(),
        };
        Some(compare_runs(&judges, &base, &data, &options))
    };
    let form = format.unwrap_or_else(|| {
        match out.and_then(Path::extension).and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("html" | "htm") => Form::Html,
            Some("json") => Form::Json,
            _ => Form::Markdown,
        }
    });
    let text = match (form, &comparisons) {
        (Form::Markdown, None) => retort_bench::report::markdown(&reports),
        (Form::Html, None) => retort_bench::report::html(&reports),
        (Form::Json, None) => serde_json::to_string_pretty(&reports)?,
        (Form::Markdown, Some(compared)) => compare::markdown(compared, &reports),
        (Form::Html, Some(compared)) => compare::html(compared, &reports),
        (Form::Json, Some(compared)) => {
            serde_json::to_string_pretty(&serde_json::json!({ "comparisons": compared, "runs": reports }))?
        }
    };
    match out {
        Some(path) => std::fs::write(path, text)
            .map_err(|problem| BenchError::Write { path: path.display().to_string(), problem })?,
        None => write!(std::io::stdout().lock(), "{text}")?,
    }
    Ok(ExitCode::SUCCESS)
}
