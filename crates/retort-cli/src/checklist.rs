//! `retort checklist`: what is to be looked for in a response, and what code finds of it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use clap::ValueEnum;
use retort_annotate::annotate;
use retort_checklist::{
    AnswerForm, Checklist, Finding, Item, MAX_PER_SKILL, Origin, Verdict, Wanted, generate, hard,
    read_checklist, verify_items,
};
use retort_judge::{WriteRequest, write_items};
use retort_rubric::{Rubric, Skill};

use crate::error::CliError;
use crate::load::{Interrupt, ModelArgs};
use crate::{out, progress, text};

/// Makes a checklist for an instruction, or reads one, and shows, verifies or writes it.
///
/// Without a model: what the instruction demands and code can verify (lengths, words, formats, languages and so on), what
/// it asks for, the claims of a reference answer, and questions of the skills that it needs. "retort judge --checklist"
/// has the model decide what code cannot.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["prompt", "file"])))]
pub(crate) struct Args {
    /// The instruction to make a checklist for.
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// A checklist file to check and show: TOML or JSON.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["reference", "skills", "hard", "write"])]
    file: Option<String>,
    /// A good answer, whose claims become items.
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    reference: Option<String>,
    /// The skills that get items: by name with commas between them, "all", "none", or "auto" for the three that the
    /// instruction's words call for.
    #[arg(long, value_name = "auto|all|none|a,b", default_value = "auto")]
    skills: String,
    /// In the form of FLASK-Hard: at most five questions, each answered 1 to 5 against the reference.
    #[arg(long)]
    hard: bool,
    /// Let the model write so many more items for each skill, 1 to 5.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    write: Option<u8>,
    /// Seed of what the model writes, which is the most probable text unless --temperature is given.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "write")]
    seed: u64,
    /// How freely the model draws its words: 0 takes the most probable ones.
    #[arg(long, value_name = "X", default_value_t = 0.0, requires = "write", value_parser = temperature)]
    temperature: f32,
    /// A response to verify: what code can decide is decided, with the passages that show it.
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    response: Option<String>,
    /// How it is printed.
    #[arg(long, value_enum, default_value_t = Shape::Text)]
    format: Shape,
    /// Write the checklist to this file, as TOML or, where its name ends in .json, as JSON. A file that exists is not
    /// overwritten.
    #[arg(long, short, value_name = "FILE")]
    out: Option<String>,
    #[command(flatten)]
    model: ModelArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// For people.
    Text,
    /// The checklist as a TOML file.
    Toml,
    /// The checklist as a JSON file; with --response, findings as JSON.
    Json,
}

fn temperature(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if (0.0..=5.0).contains(&value) => Ok(value),
        _ => Err("give a number from 0 to 5".to_owned()),
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let mut texts = text::read_all(&[
        ("prompt", args.prompt.as_deref()),
        ("reference", args.reference.as_deref()),
        ("response", args.response.as_deref()),
    ])?
    .into_iter();
    let (prompt, reference, response) =
        (texts.next().flatten(), texts.next().flatten(), texts.next().flatten());
    let mut status = ExitCode::SUCCESS;
    let checklist = match (&args.file, &prompt) {
        (Some(path), _) => read(path)?,
        (None, prompt) => {
            let prompt = prompt.as_deref().unwrap_or_default();
            if prompt.trim().is_empty() {
                let problem = "the text is empty; there is nothing to make a checklist for".to_owned();
                return Err(CliError::Text { option: "prompt", problem });
            }
            let skills = skills(&args.skills, prompt)?;
            let mut checklist = make(prompt, reference.as_deref(), &skills, args.hard);
            if let Some(per_skill) = args.write {
                status = write(args, prompt, reference.as_deref(), &skills, per_skill, &mut checklist)?;
            }
            checklist
        }
    };
    if let Some(path) = &args.out {
        let json = std::path::Path::new(path).extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
        let text = if json { checklist.to_json() } else { checklist.to_toml() };
        out::create("out", path)?.write_all(written(text)?.as_bytes())?;
    }
    let findings = response.as_ref().map(|response| verify_items(&checklist, response));
    let shown = match (args.format, findings) {
        (Shape::Text, Some(findings)) => {
            plain_findings(&checklist, &findings, response.as_deref().unwrap_or_default())
        }
        (Shape::Text, None) if args.out.is_some() => String::new(),
        (Shape::Text, None) => plain(&checklist),
        (Shape::Json, Some(findings)) => format!("{}\n", serde_json::to_string(&findings)?),
        (Shape::Toml, _) => written(checklist.to_toml())?,
        (Shape::Json, None) => written(checklist.to_json())?,
    };
    let mut out = std::io::stdout().lock();
    out.write_all(shown.as_bytes())?;
    out.flush()?;
    Ok(status)
}

fn written(text: Result<String, retort_checklist::ChecklistWriteError>) -> Result<String, CliError> {
    text.map_err(|error| CliError::Checklist(error.to_string()))
}

/// Reads a checklist file; what is doubtful about it is said.
pub(crate) fn read(path: &str) -> Result<Checklist, CliError> {
    let text = std::fs::read_to_string(path).map_err(|error| CliError::File {
        option: "checklist",
        path: path.to_owned(),
        problem: format!("{error}; give a TOML or JSON file"),
    })?;
    let reading = read_checklist(&text, path).map_err(|error| CliError::Checklist(error.to_string()))?;
    for warning in &reading.warnings {
        eprintln!("retort: {warning}");
    }
    Ok(reading.checklist)
}

/// The rubrics that the names mean, each once: names of the built-in ones, `auto` for the skills that the prompt's words
/// call for, `none` for nothing.
pub(crate) fn rubrics(names: &str, prompt: &str) -> Result<Vec<Rubric>, CliError> {
    let mut named: Vec<String> = Vec::new();
    let mut nothing = false;
    for name in names.split(',').map(str::trim) {
        match name {
            "auto" => named.extend(annotate(prompt).skills.iter().map(|skill| skill.id().to_owned())),
            "none" => nothing = true,
            name => named.push(name.to_owned()),
        }
    }
    if nothing && named.is_empty() {
        return Ok(Vec::new());
    }
    Ok(retort_rubric::select(&named.join(","))?)
}

/// The skills among those rubrics.
pub(crate) fn skills(names: &str, prompt: &str) -> Result<Vec<Skill>, CliError> {
    Ok(rubrics(names, prompt)?.iter().filter_map(|rubric| Skill::from_id(&rubric.id)).collect())
}

/// A checklist without a model.
pub(crate) fn make(prompt: &str, reference: Option<&str>, skills: &[Skill], in_hard_form: bool) -> Checklist {
    let reference = reference.filter(|text| !text.trim().is_empty());
    let wanted = Wanted { reference, skills, ..Wanted::of(prompt) };
    if in_hard_form { hard(&wanted) } else { generate(&wanted) }
}

fn write(
    args: &Args,
    prompt: &str,
    reference: Option<&str>,
    skills: &[Skill],
    per_skill: u8,
    checklist: &mut Checklist,
) -> Result<ExitCode, CliError> {
    let interrupt = Interrupt::listen();
    let Some(mut loaded) = args.model.load(&interrupt)? else { return Ok(Interrupt::status()) };
    if !args.model.names_adapter() {
        // The base writes: an adapter that was trained to judge was not trained to write.
        pollster::block_on(loaded.model.take_adapter())?;
    }
    let mut watching = progress::Watching { bar: progress::questions("Writing", 0), interrupt: &interrupt };
    let request = WriteRequest {
        prompt: prompt.to_owned(),
        reference: reference.map(str::to_owned),
        skills: skills.to_vec(),
        per_skill: usize::from(per_skill).min(MAX_PER_SKILL),
        existing: checklist.items.clone(),
        temperature: args.temperature,
        seed: args.seed,
    };
    let written = pollster::block_on(write_items(&mut loaded.model, &request, &mut watching))?;
    watching.bar.finish_and_clear();
    for dropped in &written.dropped {
        eprintln!("retort: the model's {:?} is left out: {}", dropped.text, dropped.reason);
    }
    for cut in &written.truncations {
        eprintln!(
            "retort: a text is too long for this model: {} of {} characters were read",
            cut.kept_characters, cut.total_characters
        );
    }
    let answer = if args.hard { AnswerForm::OneToFive } else { AnswerForm::YesNo };
    checklist.items.extend(written.items.into_iter().map(|item| Item { answer, ..item }));
    match written.failure {
        Some(failure) => {
            eprintln!(
                "retort: the model stopped before its end: {failure}; the items that were ready are kept"
            );
            Ok(ExitCode::FAILURE)
        }
        None if written.cancelled => Ok(Interrupt::status()),
        None => Ok(ExitCode::SUCCESS),
    }
}

const GROUPS: [(Origin, &str); 6] = [
    (Origin::Constraint, "Demanded, and verified by code"),
    (Origin::Request, "Asked for"),
    (Origin::Reference, "Said by the reference answer"),
    (Origin::Skill, "Of the skills that it needs"),
    (Origin::Model, "Written by the model"),
    (Origin::Person, "Written by a person"),
];

/// The checklist for people, grouped by where its items come from.
fn plain(checklist: &Checklist) -> String {
    let mut out = String::new();
    for (origin, heading) in GROUPS {
        let mut items = checklist.items.iter().filter(|item| item.origin == origin).peekable();
        if items.peek().is_none() {
            continue;
        }
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{heading}:");
        for item in items {
            let _ = writeln!(out, "  {}{}", item.full_question(), aside(item));
        }
        out.push('\n');
    }
    if out.is_empty() {
        return "Nothing in the text can be looked for.\n".to_owned();
    }
    let code = checklist.items.iter().filter(|item| item.is_verified()).count();
    let _ = writeln!(
        out,
        "{} in all, {code} of them verified by code. Save with --out FILE, judge with \"retort judge --checklist FILE\".",
        count(checklist.items.len(), "item")
    );
    out
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// What is unusual about an item.
fn aside(item: &Item) -> String {
    let mut notes = Vec::new();
    if let Some(skill) = item.skill {
        notes.push(skill.name().to_owned());
    }
    if item.answer == AnswerForm::OneToFive {
        notes.push("1 to 5".to_owned());
    }
    if item.weight != 1.0 {
        notes.push(format!("weight {}", item.weight));
    }
    if notes.is_empty() { String::new() } else { format!("  [{}]", notes.join(", ")) }
}

fn plain_findings(checklist: &Checklist, findings: &[Option<Finding>], response: &str) -> String {
    let mut out = String::new();
    let mut open = 0;
    for (item, finding) in checklist.items.iter().zip(findings) {
        let Some(finding) = finding else {
            open += 1;
            continue;
        };
        let _ = writeln!(out, "{}  {}", verdict_word(finding.verdict), item.full_question());
        let _ = writeln!(out, "         {}", finding.sentence);
        if finding.verdict == Verdict::NotMet {
            for passage in finding.passages(response).take(3) {
                let _ = writeln!(out, "         > {}", excerpt(passage));
            }
        }
    }
    if open > 0 {
        let _ = writeln!(
            out,
            "{} that code cannot decide: see \"retort judge --checklist\".",
            count(open, "item")
        );
    }
    if out.is_empty() { "The checklist has no items.\n".to_owned() } else { out }
}

pub(crate) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "met    ",
        Verdict::NotMet => "NOT MET",
        Verdict::NotApplicable => "n/a    ",
    }
}

/// A passage on one line, shortened.
pub(crate) fn excerpt(text: &str) -> String {
    const MOST: usize = 70;
    let line: Vec<&str> = text.split_whitespace().collect();
    let line = line.join(" ");
    if line.chars().count() <= MOST {
        return line;
    }
    let short: String = line.chars().take(MOST - 1).collect();
    format!("{short}…")
}
