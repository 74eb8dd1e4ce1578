//! The `retort` command: judge a response on this machine, and manage the models that do it.

mod agree;
mod annotate;
mod bench;
mod checklist;
mod compare;
mod error;
mod judge;
mod load;
mod mixture;
mod models;
mod out;
mod profile;
mod progress;
mod report;
mod reward;
mod rubric;
mod text;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Judge a language model's response by fine-grained rubrics, on this machine alone.
#[derive(Debug, Parser)]
#[command(name = "retort", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Score a response by FLASK's twelve skills or by rubrics of your own.
    Judge(judge::Args),
    /// Compare two to four responses, shown together in both orders.
    Compare(compare::Args),
    /// Say what an instruction needs: its most important skills, its field and its difficulty.
    Annotate(annotate::Args),
    /// Make a checklist for an instruction, and verify what code can verify of a response.
    Checklist(checklist::Args),
    /// Score responses by the head of a reward model: a number, higher is better, no rubrics.
    Reward(reward::Args),
    /// Profile judgements by skill, domain and difficulty, with intervals: Markdown, HTML or JSON.
    Report(profile::Args),
    /// Measure how well raters agree, or a model with people.
    Agree(agree::Args),
    /// Examine a judge by public benchmarks of human judgements, and compare runs.
    Bench(bench::Args),
    /// Make a training file of public data, for a model that learns to judge.
    Mixture(mixture::Args),
    /// Check, show and convert rubrics.
    #[command(subcommand)]
    Rubric(rubric::Action),
    /// List, fetch and check the models that Retort knows.
    #[command(subcommand)]
    Models(models::Action),
}

/// The only place that prints an error.
fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Judge(args) => judge::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Annotate(args) => annotate::run(&args),
        Command::Checklist(args) => checklist::run(&args),
        Command::Reward(args) => reward::run(&args),
        Command::Report(args) => profile::run(&args),
        Command::Agree(args) => agree::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Mixture(args) => mixture::run(&args),
        Command::Rubric(action) => rubric::run(&action),
        Command::Models(action) => models::run(&action),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("retort: {error}");
            ExitCode::FAILURE
        }
    }
}
