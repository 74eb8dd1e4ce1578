//! One process at a time fetches a file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// Held while a file is being fetched; the operating system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct FetchLock {
    _file: File,
}

/// Takes the lock, after calling `waiting` once if another process has it.
pub(crate) fn take(path: &Path, waiting: &mut dyn FnMut()) -> io::Result<FetchLock> {
    // The lock file stays behind on purpose: deleting it would let two processes lock two different files.
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            waiting();
            file.lock()?;
        }
        // Some network file systems have no locks. The final rename is atomic, so the worst that two fetches can
        // do to each other there is a failed check.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(error),
    }
    Ok(FetchLock { _file: file })
}
