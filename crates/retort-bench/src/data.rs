//! Where the public data lie.

use std::path::{Path, PathBuf};

/// A folder with one folder per repository: `owner+name` or `owner/name`, directly in it or in its `train` or `eval`.
#[derive(Debug, Clone)]
pub struct DataDir(PathBuf);

/// Something that could not be read: a row, or a whole file. It was skipped. Prints as `file:line: what is wrong`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, thiserror::Error)]
#[error("{file}{}: {message}", .line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct Problem {
    /// The file, relative to its repository.
    pub file: String,
    /// Physical line from 1 for text; the number of the record from 1 in a JSON array; `None` for the whole file.
    pub line: Option<usize>,
    /// What is wrong and what was done.
    pub message: String,
}

/// Why nothing could be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A repository's folder is not there.
    #[error(
        "there is no folder of {repository} in {data}; fetch that repository into {data}/{folder}, or give another \
         folder with --data"
    )]
    NoRepository {
        /// The repository.
        repository: String,
        /// The folder of all data.
        data: String,
        /// Where it should be.
        folder: String,
    },
    /// A file is not there.
    #[error(
        "{repository} has no file {file}; fetch the whole repository, at the version its task file was written for"
    )]
    NoFile {
        /// The repository.
        repository: String,
        /// The file or pattern.
        file: String,
    },
    /// A file could not be read.
    #[error("{file}: {problem}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system said.
        problem: String,
    },
    /// The file is not in the form that its reader knows.
    #[error("{file}: {problem}")]
    Form {
        /// The file.
        file: String,
        /// What was expected and found.
        problem: String,
    },
}

impl DataDir {
    /// The data in this folder.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The folder of a repository.
    ///
    /// # Errors
    /// [`DataError::NoRepository`].
    pub fn repository(&self, repository: &str) -> Result<PathBuf, DataError> {
        let folder = repository.replace('/', "+");
        for parent in ["", "train", "eval"] {
            for name in [folder.as_str(), repository] {
                let path = self.0.join(parent).join(name);
                if path.is_dir() {
                    return Ok(path);
                }
            }
        }
        Err(DataError::NoRepository {
            repository: repository.to_owned(),
            data: self.0.display().to_string(),
            folder,
        })
    }

    /// The folder of a repository, of the data for training or for evaluation: some repositories have a part in both.
    ///
    /// # Errors
    /// [`DataError::NoRepository`].
    pub fn repository_for(&self, repository: &str, purpose: crate::Purpose) -> Result<PathBuf, DataError> {
        let parent = match purpose {
            crate::Purpose::Training => "train",
            crate::Purpose::Evaluation => "eval",
        };
        let path = self.0.join(parent).join(repository.replace('/', "+"));
        if path.is_dir() { Ok(path) } else { self.repository(repository) }
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}
