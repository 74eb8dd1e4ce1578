//! Builds, serves and tests everything with one command each.
//!
//! `cargo xtask serve` is for people who want to use Retort from a checkout, `cargo xtask test` for whoever changes
//! it. Nothing needs to be installed beside Rust, Node and Python: the JS glue is made by a library, and what is
//! missing is named with the command that brings it.

mod bench;
mod error;
mod guard;
mod model;
mod package;
mod page;
mod prerequisites;
mod process;
mod serve;
mod server;
mod stamp;
mod suite;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;
use crate::workspace::Workspace;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build the wasm package into pkg/ and the page into www/dist/.
    Build(page::BuildOptions),
    /// Build, fetch the default model, and serve the page on this machine.
    Serve(serve::ServeOptions),
    /// Run every test: lints, native, wasm, and the page in a real browser.
    Test(suite::TestOptions),
    /// Measure how fast judging is on this machine, side by side with other engines.
    Bench(bench::BenchOptions),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        // The one place where errors are printed.
        Err(error) => {
            eprintln!("\nerror: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> Result<(), Error> {
    let workspace = Workspace::find()?;
    match command {
        Command::Build(options) => page::build(&workspace, options),
        Command::Serve(options) => serve::serve(&workspace, options),
        Command::Test(options) => suite::test(&workspace, options),
        Command::Bench(options) => bench::bench(&workspace, options),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Arguments::command().debug_assert();
    }
}
