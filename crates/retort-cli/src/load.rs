//! A model and an adapter from the command line, loaded and named for the record.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use retort_judge::{AdapterIdentity, Calibration, ModelIdentity, RunContext, Wording};
use retort_lm::{
    Adapter, AnyBackend, BackendChoice, ByteSource, FileSource, Flow, LmError, MemorySource, Model, TextParts,
};
use retort_models::{AdapterChoice, Store, sha256_files};

use crate::error::CliError;
use crate::progress;

/// The exit status of a command that Ctrl-C ended, as shells report it.
const INTERRUPTED: u8 = 130;

/// Which model, and where it runs.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelArgs {
    /// A model by name (see "retort models list") or the path of a GGUF file; of a split model, of any of its parts.
    #[arg(long, value_name = "NAME|PATH")]
    model: Option<String>,
    /// A low-rank adapter for this model, by name (see "retort models list") or as a GGUF file, or "none". Without this a
    /// model by name gets the adapter that the list gives it, and any other model none.
    #[arg(long, value_name = "NAME|PATH|none")]
    adapter: Option<String>,
    /// How strongly the adapter is applied: 0 is not at all, 1 as it was trained.
    #[arg(
        long,
        value_name = "X",
        requires = "adapter",
        default_value_t = 1.0,
        allow_negative_numbers = true
    )]
    adapter_strength: f32,
    /// Where the model runs.
    #[arg(long, value_enum, default_value_t = BackendArg::Auto)]
    backend: BackendArg,
}

/// How much of each question the model reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WordingArg {
    /// The whole text of rubric or task, with what each answer means.
    Full,
    /// The short question alone.
    Short,
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

/// A model that is ready, and what the record says of it.
pub(crate) struct Loaded {
    pub(crate) model: Model<AnyBackend>,
    identity: ModelIdentity,
}

/// Says whether Ctrl-C was pressed; pressed twice, it ends the command at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Begins to listen.
    pub(crate) fn listen() -> Self {
        let interrupt = Self::default();
        let flag = Arc::clone(&interrupt.0);
        // Without a handler Ctrl-C still ends the command, only without what was ready; so a failure to set one
        // is no reason to stop.
        let _ = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(INTERRUPTED.into());
            }
        });
        interrupt
    }

    pub(crate) fn flow(&self) -> Flow {
        if self.0.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
    }

    /// What the command ends with after it.
    pub(crate) fn status() -> ExitCode {
        ExitCode::from(INTERRUPTED)
    }
}

/// How the named model (the default one, where none is named) reads text, with its name and SHA-256; its weights stay
/// where they are.
pub(crate) fn text_parts(name: Option<&str>) -> Result<(TextParts, String, String), CliError> {
    let store = Store::open()?;
    let resolved = store.resolve(name.unwrap_or(&store.registry().default_model().name))?;
    let mut source = FileSource::open(&resolved.path)?;
    let parts = TextParts::read(&mut source)?;
    let (name, sha256) = match resolved.model {
        Some(model) => (model.name.clone(), model.sha256.clone()),
        None => {
            let paths: Vec<PathBuf> = source.paths().map(Path::to_owned).collect();
            (file_name(&resolved.path), hash(&paths)?)
        }
    };
    Ok((parts, name, sha256))
}

impl ModelArgs {
    /// Finds the model, loads it and applies the adapter. `None` if Ctrl-C was pressed.
    pub(crate) fn load(&self, interrupt: &Interrupt) -> Result<Option<Loaded>, CliError> {
        let store = Store::open()?;
        let name = self.model.as_deref().unwrap_or(&store.registry().default_model().name);
        let resolved = store.resolve(name)?;
        // Before anything is loaded, so that a name that is wrong is heard of at once.
        let adapter = self.adapter(&store, resolved.model)?;
        let source = FileSource::open(&resolved.path)?;
        let identity = match resolved.model {
            Some(model) => {
                ModelIdentity { name: model.name.clone(), sha256: Some(model.sha256.clone()), adapter: None }
            }
            None => {
                let paths: Vec<PathBuf> = source.paths().map(Path::to_owned).collect();
                ModelIdentity { name: file_name(&paths[0]), sha256: Some(hash(&paths)?), adapter: None }
            }
        };

        let loading = progress::bytes("Loading", 0);
        let model = pollster::block_on(retort_lm::load(
            Box::new(source),
            retort_lm::BackendChoice::from(self.backend),
            &mut |step| {
                loading.set_length(step.total_bytes);
                loading.set_position(step.loaded_bytes);
                interrupt.flow()
            },
        ));
        loading.finish_and_clear();
        let mut loaded = match model {
            Err(LmError::Cancelled) => return Ok(None),
            other => Loaded { model: other?, identity },
        };
        if let Some((mut source, name, sha256)) = adapter {
            let adapter = Adapter::read(&mut *source, loaded.model.config())?;
            Calibration::of_adapter(&adapter)?;
            let adapter = adapter.with_strength(self.adapter_strength)?;
            loaded.identity.adapter =
                Some(AdapterIdentity { name, sha256: Some(sha256), strength: adapter.strength() });
            pollster::block_on(loaded.model.set_adapter(Some(adapter)))?;
        }
        Ok(Some(loaded))
    }

    /// Whether somebody named an adapter, rather than taking the model's own.
    pub(crate) fn names_adapter(&self) -> bool {
        self.adapter.is_some()
    }

    /// The adapter that was chosen, by name or by default.
    fn adapter(
        &self,
        store: &Store,
        model: Option<&retort_models::Model>,
    ) -> Result<Option<Found>, CliError> {
        match store.choose_adapter(self.adapter.as_deref(), model)? {
            AdapterChoice::None => Ok(None),
            AdapterChoice::Known(adapter) => {
                let bytes = store.adapter(adapter)?;
                let source: Box<dyn ByteSource> = Box::new(MemorySource::new(adapter.file.as_str(), bytes));
                Ok(Some((source, adapter.name.clone(), adapter.sha256.clone())))
            }
            AdapterChoice::File(path) => {
                let source: Box<dyn ByteSource> = Box::new(FileSource::open(&path)?);
                Ok(Some((source, file_name(&path), hash(std::slice::from_ref(&path))?)))
            }
        }
    }
}

/// An adapter's bytes, its name for the record and its SHA-256.
type Found = (Box<dyn ByteSource>, String, String);

impl Loaded {
    /// What the record says of a run that took so long.
    pub(crate) fn context(&mut self, total_ms: f64) -> RunContext {
        let notices = self.model.take_notices();
        let placement = self.model.backend().placement();
        RunContext {
            model: self.identity.clone(),
            backend: placement.backend,
            device: placement.device.clone(),
            notices,
            total_ms,
        }
    }

    /// How its questions are put: as somebody said, else as suits its adapter.
    pub(crate) fn wording(&self, said: Option<WordingArg>) -> Wording {
        match said {
            Some(WordingArg::Full) => Wording::Full,
            Some(WordingArg::Short) => Wording::Short,
            None => Wording::suiting(self.model.adapter()),
        }
    }

    /// What the model is.
    pub(crate) fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    /// The GPU or CPU that it runs on.
    pub(crate) fn device(&self) -> &str {
        &self.model.backend().placement().device
    }

    /// Why it runs where it runs.
    pub(crate) fn reason(&self) -> &str {
        &self.model.backend().placement().reason
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn hash(paths: &[PathBuf]) -> Result<String, CliError> {
    sha256_files(paths, &mut |_| {}).map_err(|problem| {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        CliError::Hash { path: names.join(", "), problem }
    })
}
