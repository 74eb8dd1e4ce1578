//! `cargo xtask bench`: how fast judging is, side by side with what people would compare it with.
//!
//! Machines differ and are noisy. So every figure that matters is a ratio of two cases that took turns in one run,
//! and the machine is described beside it.

mod comparisons;
mod contender;
mod machine;
mod plot;
mod report;

use std::path::PathBuf;
use std::process::Command;

use clap::ValueEnum;
use retort_models::Store;

use crate::bench::contender::Contender;
use crate::bench::machine::Machine;
use crate::bench::report::Report;
use crate::error::{Error, io};
use crate::prerequisites::{self, Wanted};
use crate::workspace::Workspace;
use crate::{model, package, page, process, suite};

#[derive(Debug, clap::Args)]
pub(crate) struct BenchOptions {
    /// Run this comparison alone; can be given several times.
    #[arg(long, value_enum)]
    only: Vec<Comparison>,
    /// How often each case is measured. The medians are printed, so that fewer than three say little.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Measure with this GGUF file in place of the default model.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Comparison {
    /// Against wllama in the same browser, one thread each: a prompt of 512 tokens, and twelve questions.
    Wllama,
    /// Against llama.cpp on this machine, two threads each: a prompt of 512 tokens.
    LlamaCpp,
    /// Twelve skills against one: in full, by short questions, and without sharing the prompt.
    Skills,
    /// The WebAssembly kernels against the same kernels built natively with vectors of 128 bits, one thread each.
    WasmNative,
    /// Cost against the length of the prompt, to 4,096 tokens.
    Length,
    /// Cost against the number of questions, to 32.
    Branches,
    /// A checklist made without a model for an instruction of 2,000 characters, natively and in WebAssembly.
    Checklist,
    /// The GPU backend against the device's own rate at a plain matrix product.
    Gpu,
}

impl Comparison {
    /// As it is given on the command line, and the name of its file.
    fn name(self) -> &'static str {
        match self {
            Self::Wllama => "wllama",
            Self::LlamaCpp => "llama-cpp",
            Self::Skills => "skills",
            Self::WasmNative => "wasm-native",
            Self::Length => "length",
            Self::Branches => "branches",
            Self::Checklist => "checklist",
            Self::Gpu => "gpu",
        }
    }

    fn run(self, bench: &Bench<'_>) -> Result<Report, Error> {
        match self {
            Self::Wllama => comparisons::wllama(bench),
            Self::LlamaCpp => comparisons::llama_cpp(bench),
            Self::Skills => comparisons::skills(bench),
            Self::WasmNative => comparisons::wasm_native(bench),
            Self::Length => comparisons::length(bench),
            Self::Branches => comparisons::branches(bench),
            Self::Checklist => comparisons::checklist(bench),
            Self::Gpu => comparisons::gpu(bench),
        }
    }

    fn needs_browser(self) -> bool {
        matches!(self, Self::Wllama | Self::WasmNative | Self::Checklist)
    }
}

/// What comparisons share.
struct Bench<'a> {
    workspace: &'a Workspace,
    rounds: u32,
    model: PathBuf,
    /// The program that measures this code natively.
    native: PathBuf,
    runtime_dir: Option<PathBuf>,
}

impl Bench<'_> {
    /// This code, natively; `threads` where their number matters.
    fn native(&self, threads: Option<u32>, variables: &[(&str, &str)]) -> Result<Contender, Error> {
        let mut command = Command::new(&self.native);
        command.arg(&self.model).envs(variables.iter().copied());
        if let Some(threads) = threads {
            command.env("RETORT_THREADS", threads.to_string());
        }
        if let Some(folder) = &self.runtime_dir {
            command.env("XDG_RUNTIME_DIR", folder);
        }
        Contender::start(command)
    }

    /// The engines that run in a browser.
    fn browser(&self) -> Result<Contender, Error> {
        let chromium =
            prerequisites::chromium().ok_or_else(|| Error::Message("Chromium is gone".to_owned()))?;
        let mut command = Command::new("node");
        command.arg(self.workspace.bench().join("browser.mjs")).arg(&self.model).env("CHROMIUM", chromium);
        Contender::start(command)
    }

    /// llama.cpp, natively.
    fn llama_cpp(&self, threads: u32) -> Result<Contender, Error> {
        let mut command = Command::new("node");
        command.arg(self.workspace.bench().join("llama-cpp/contender.mjs")).arg(&self.model);
        command.env("LLAMA_THREADS", threads.to_string());
        Contender::start(command)
    }
}

/// Runs the comparisons, one after the other; one that fails does not keep the others from running.
pub(crate) fn bench(workspace: &Workspace, options: &BenchOptions) -> Result<(), Error> {
    let chosen: &[Comparison] =
        if options.only.is_empty() { Comparison::value_variants() } else { &options.only };
    let needs = |wanted: &dyn Fn(Comparison) -> bool| chosen.iter().any(|&comparison| wanted(comparison));
    let needs_browser = needs(&Comparison::needs_browser);
    let needs_llama_cpp = needs(&|comparison| comparison == Comparison::LlamaCpp);

    // What is missing is said before anything is built.
    if needs_browser || needs_llama_cpp {
        prerequisites::node()?;
    }
    if needs_browser {
        prerequisites::wasm_target(workspace)?;
    }
    let needs_gpu = needs(&|comparison| comparison == Comparison::Gpu);
    prerequisites::install(Wanted { chromium: needs_browser, vulkan: needs_gpu })?;
    let model = match &options.model {
        Some(path) => std::path::absolute(path).map_err(io("find", path))?,
        None => {
            let store = Store::open()?;
            model::pull(&store, &store.registry().default_model().name)?
        }
    };
    if !model.is_file() {
        return Err(Error::Message(format!("there is no model file {}", model.display())));
    }
    if needs_browser {
        package::build(workspace, false)?;
        page::install(&workspace.bench())?;
    }
    if needs_llama_cpp {
        install_llama_cpp(workspace)?;
    }
    let native = contender::build(workspace)?;
    let runtime_dir = suite::runtime_dir(workspace)?;
    let bench = Bench { workspace, rounds: options.rounds, model, native, runtime_dir };

    let machine = Machine::describe(&bench.model);
    println!("{machine}");
    let folder = workspace.root.join("target").join("bench");
    std::fs::create_dir_all(&folder).map_err(io("create the folder", &folder))?;
    let mut failed = Vec::new();
    for &comparison in chosen {
        let name = comparison.name();
        eprintln!("\n=== {name} ===");
        match comparison.run(&bench) {
            Ok(report) => {
                println!("\n{report}");
                let file = folder.join(format!("{name}.json"));
                let text = format!("{:#}\n", report.json(name, options.rounds, &machine));
                std::fs::write(&file, text).map_err(io("write", &file))?;
            }
            Err(error) => {
                eprintln!("{name} failed: {error}");
                failed.push(name);
            }
        }
    }
    eprintln!("\nThe figures are in {} too, as JSON.", folder.display());
    if failed.is_empty() {
        Ok(())
    } else {
        let again: Vec<String> = failed.iter().map(|name| format!("--only {name}")).collect();
        Err(Error::Message(format!(
            "{} failed; to repeat: cargo xtask bench {}",
            failed.join(", "),
            again.join(" ")
        )))
    }
}

/// Installs llama.cpp's ready-made libraries. Not by `npm ci`, which wants the libraries of every system in the
/// lock file, and those for other systems cannot be locked everywhere.
fn install_llama_cpp(workspace: &Workspace) -> Result<(), Error> {
    let folder = workspace.bench().join("llama-cpp");
    let manifest = folder.join("package.json");
    let wanted = std::fs::read_to_string(&manifest).map_err(io("read", &manifest))?;
    let mark = folder.join("node_modules").join(".retort-installed");
    if std::fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    process::run(
        Command::new(process::npm_program("npm"))
            .args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(&folder),
    )?;
    std::fs::write(&mark, wanted).map_err(io("write", &mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_comparison_is_called_what_the_command_line_calls_it() {
        for &comparison in Comparison::value_variants() {
            let value = comparison.to_possible_value().unwrap();
            assert_eq!(value.get_name(), comparison.name());
            assert!(value.get_help().is_some());
        }
    }
}
