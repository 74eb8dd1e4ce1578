//! Files that a command writes.

use std::fs::File;

use crate::error::CliError;

/// A new file. One that exists is never overwritten.
pub(crate) fn create(option: &'static str, path: &str) -> Result<File, CliError> {
    File::create_new(path).map_err(|error| {
        let exists = error.kind() == std::io::ErrorKind::AlreadyExists;
        let problem = if exists {
            "there is such a file already; name another, or move it away".to_owned()
        } else {
            format!("it cannot be written: {error}")
        };
        CliError::File { option, path: path.to_owned(), problem }
    })
}
