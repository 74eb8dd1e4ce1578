//! `retort judge`: one response, scored.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use retort_checklist::{Checklist, Item};
use retort_judge::{Record, Request, Wording, WrittenForm, judge};
use retort_rubric::Rubric;

use crate::error::CliError;
use crate::load::{Interrupt, ModelArgs, WordingArg};
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
    /// Which model, or who, wrote the response: for the record and for reports; the judge is not told.
    #[arg(long, value_name = "NAME")]
    response_model: Option<String>,
    /// A good answer to compare with.
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    reference: Option<String>,
    /// Skills by name, separated by commas; "all"; "auto" for the three that the prompt's words call for; "none"; "overall"
    /// for one rating of the whole. Without this, and without --rubric or --checklist: all.
    #[arg(long, value_name = "auto|all|none|overall|a,b")]
    skills: Option<String>,
    /// A file with rubrics of your own: TOML, JSON, or another tool's, as `retort rubric` reads them. May be given
    /// several times.
    #[arg(long, value_name = "FILE")]
    rubric: Vec<String>,
    /// Look for the items of a checklist too: of a file, or "auto" for one made from the prompt and the reference.
    #[arg(long, value_name = "auto|FILE")]
    checklist: Option<String>,
    /// Ask up to five questions in the manner of FLASK-Hard too, each answered 1 to 5 against the reference.
    #[arg(long, requires = "reference")]
    hard: bool,
    /// Say in the record what the prompt needs, by its words, so that reports can group by it: see "retort annotate".
    /// "--skills auto" implies it.
    #[arg(long)]
    annotate: bool,
    /// Take the probabilities as the model gives them, even where the adapter says how to set them right.
    #[arg(long)]
    no_calibration: bool,
    /// How much of each rubric and item the model reads. Without this: all of it, but of the twelve skills only their short
    /// questions where the adapter was trained on these.
    #[arg(long, value_enum)]
    wording: Option<WordingArg>,
    /// Let the model write each verdict with its reasons, in the form that it was trained on, and read the score from that.
    /// For judges that have such a form; it takes as long as writing takes.
    #[arg(long, value_enum, conflicts_with_all = ["wording", "no_calibration"])]
    form: Option<FormArg>,
    #[command(flatten)]
    model: ModelArgs,
    /// Print the record as one line of JSON.
    #[arg(long)]
    json: bool,
}

/// The forms of judges that write.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum FormArg {
    /// Prometheus 2: feedback, then [RESULT] and the score.
    Prometheus,
    /// Flow Judge: feedback and score in tags.
    FlowJudge,
    /// Selene 1 Mini: reasoning, then the result.
    Selene,
    /// GLIDER: reasoning, highlighted words and score in tags.
    Glider,
}

impl From<FormArg> for WrittenForm {
    fn from(arg: FormArg) -> Self {
        match arg {
            FormArg::Prometheus => Self::Prometheus,
            FormArg::FlowJudge => Self::FlowJudge,
            FormArg::Selene => Self::Selene,
            FormArg::Glider => Self::Glider,
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
    let prompt = texts.next().flatten().unwrap_or_default();
    let response = texts.next().flatten().unwrap_or_default();
    let reference = texts.next().flatten();
    let auto = args.skills.as_deref().is_some_and(|names| names.split(',').any(|name| name.trim() == "auto"));
    let mut request = Request {
        rubrics: rubrics(args, &prompt)?,
        checklist: checklist(args, &prompt, reference.as_deref())?,
        annotation: (auto || args.annotate).then(|| retort_annotate::annotate(&prompt)),
        // Which depends on the adapter.
        wording: Wording::default(),
        uncalibrated: args.no_calibration,
        form: args.form.map(WrittenForm::from),
        response_model: args.response_model.clone(),
        prompt,
        response,
        reference,
    };

    let interrupt = Interrupt::listen();
    let Some(mut loaded) = args.model.load(&interrupt)? else { return Ok(Interrupt::status()) };
    request.wording = loaded.wording(args.wording);
    let mut watching = progress::Watching { bar: progress::tokens("Judging", 0), interrupt: &interrupt };
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

/// The checklist that was asked for, the questions of FLASK-Hard behind its items.
fn checklist(args: &Args, prompt: &str, reference: Option<&str>) -> Result<Option<Checklist>, CliError> {
    let skills = || {
        let chosen = crate::checklist::skills(args.skills.as_deref().unwrap_or("auto"), prompt)?;
        // Items are of skills even where no skill is to be scored.
        if chosen.is_empty() { crate::checklist::skills("auto", prompt) } else { Ok(chosen) }
    };
    let mut checklist = match args.checklist.as_deref() {
        Some("auto") => Some(crate::checklist::make(prompt, reference, &skills()?, false)),
        Some(path) => Some(crate::checklist::read(path)?),
        None => None,
    };
    if args.hard {
        let hard = crate::checklist::make(prompt, reference, &skills()?, true);
        let items = (1..).zip(hard.items).map(|(number, item)| Item { id: format!("hard-{number}"), ..item });
        checklist.get_or_insert_default().items.extend(items);
    }
    Ok(checklist)
}

fn rubrics(args: &Args, prompt: &str) -> Result<Vec<Rubric>, CliError> {
    let asked_otherwise = !args.rubric.is_empty() || args.checklist.is_some() || args.hard;
    let mut rubrics = match &args.skills {
        Some(names) => crate::checklist::rubrics(names, prompt)?,
        None if asked_otherwise => Vec::new(),
        None => retort_rubric::builtin().to_vec(),
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
