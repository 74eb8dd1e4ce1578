//! `retort models`: what there is, fetching it, checking it.

use std::process::ExitCode;

use clap::Subcommand;
use indicatif::ProgressBar;
use retort_models::{Presence, Progress, Store, Verification};

use crate::error::CliError;
use crate::progress;

/// What to do with models.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Show every known model, whether it is on this machine, and the adapters made for it.
    List,
    /// Fetch a model and verify it; the default one if none is named.
    Pull {
        /// The model's name.
        name: Option<String>,
    },
    /// Compare a model's file with the size and SHA-256 it must have; every model that is here if none is named.
    Verify {
        /// The model's name.
        name: Option<String>,
    },
}

pub(crate) fn run(action: &Action) -> Result<ExitCode, CliError> {
    let store = Store::open()?;
    match action {
        Action::List => list(&store),
        Action::Pull { name } => {
            let name = name.as_deref().unwrap_or(&store.registry().default_model().name);
            let mut bar = Bar::default();
            let path = store.pull(name, &mut |step| bar.show(&step))?;
            bar.clear();
            println!("{name}: {}", path.display());
            Ok(ExitCode::SUCCESS)
        }
        Action::Verify { name } => verify(&store, name.as_deref()),
    }
}

fn list(store: &Store) -> Result<ExitCode, CliError> {
    for listed in store.list() {
        let model = listed.model;
        let default = if listed.is_default { " (default)" } else { "" };
        println!("{}{default}  {}", model.name, model.title);
        println!("    {}", model.description);
        let here = match listed.presence {
            Presence::Missing => format!("not here; fetch it with: retort models pull {}", model.name),
            Presence::Present => format!("here: {}", listed.path.display()),
            _ => {
                format!("here, but of the wrong size; fetch it again with: retort models pull {}", model.name)
            }
        };
        println!("    {} bytes, {}, {here}", model.bytes, model.licence);
        for adapter in store.registry().adapters_for(model) {
            let default = if model.adapter.as_ref() == Some(&adapter.name) { " (default)" } else { "" };
            println!("    --adapter {}{default}  {}", adapter.name, adapter.title);
            println!("        {}", adapter.description);
            let here = match store.adapter(adapter) {
                Ok(_) => "here".to_owned(),
                Err(error) => format!("not usable: {error}"),
            };
            println!("        {} bytes, {}, {here}", adapter.bytes, adapter.licence);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn verify(store: &Store, name: Option<&str>) -> Result<ExitCode, CliError> {
    let names: Vec<String> = match name {
        Some(name) => vec![name.to_owned()],
        None => store.registry().models().iter().map(|model| model.name.clone()).collect(),
    };
    let mut good = true;
    for name in &names {
        let mut bar = Bar::default();
        let found = store.verify(name, &mut |step| bar.show(&step))?;
        bar.clear();
        good &= found == Verification::Good;
        let line = match found {
            Verification::Good => "good".to_owned(),
            Verification::Missing => format!("not here; fetch it with: retort models pull {name}"),
            Verification::WrongSize { found } => {
                format!("damaged: {found} bytes; fetch it again with: retort models pull {name}")
            }
            Verification::WrongHash { found } => {
                format!("damaged: its SHA-256 is {found}; fetch it again with: retort models pull {name}")
            }
        };
        println!("{name}: {line}");
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One bar that follows whatever the store is doing.
#[derive(Default)]
struct Bar(Option<ProgressBar>);

impl Bar {
    fn show(&mut self, step: &Progress<'_>) {
        match step {
            Progress::Waiting => eprintln!("Another process is fetching this model; waiting for it."),
            Progress::Trying { source } => eprintln!("Asking {source}."),
            Progress::Fetching { done, total } => self.bytes("Fetching", *done, *total),
            Progress::Unpacking { done, total } => self.bytes("Unpacking", *done, *total),
            Progress::Checking { done, total } => self.bytes("Verifying", *done, *total),
            Progress::Failed { source, error } => {
                self.clear();
                eprintln!("{source}: {error}");
            }
            _ => {}
        }
    }

    fn bytes(&mut self, what: &str, done: u64, total: u64) {
        let bar = self.0.get_or_insert_with(|| progress::bytes(what, total));
        if bar.message() != what {
            bar.set_message(what.to_owned());
        }
        bar.set_length(total);
        bar.set_position(done);
    }

    fn clear(&mut self) {
        if let Some(bar) = self.0.take() {
            bar.finish_and_clear();
        }
    }
}
