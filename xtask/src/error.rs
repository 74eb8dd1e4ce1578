//! What ends a command.

use std::io;
use std::path::{Path, PathBuf};

/// Why a command could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Something that this tool checks itself.
    #[error("{0}")]
    Message(String),
    /// A program that is not installed or too old.
    #[error("{problem}\nwhat to do: {hint}")]
    Prerequisite {
        /// What is missing.
        problem: String,
        /// The command that brings it.
        hint: String,
    },
    /// A program that ran and failed; it has said why itself.
    #[error("this command ended with {status}:\n  {command}")]
    Failed {
        /// The command line, ready to be pasted into a shell.
        command: String,
        /// Its exit status.
        status: String,
    },
    /// A file of ours.
    #[error("cannot {action} {path}: {error}", path = path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        error: io::Error,
    },
    /// A model or the registry.
    #[error(transparent)]
    Model(#[from] retort_models::ModelError),
}

/// Names the file and the attempt in an I/O error.
pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |error| Error::Io { action, path, error }
}
