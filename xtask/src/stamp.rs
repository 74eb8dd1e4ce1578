//! Skipping work whose inputs and outputs are as they were after the last run.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

use crate::error::{Error, io};

/// A file that remembers the state of inputs and outputs.
#[derive(Debug)]
pub(crate) struct Stamp {
    path: PathBuf,
}

impl Stamp {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn holds(&self, state: &str) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|old| old == state)
    }

    pub(crate) fn clear(&self) -> Result<(), Error> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(io("delete", &self.path)(error))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn write(&self, state: &str) -> Result<(), Error> {
        fs::write(&self.path, state).map_err(io("write", &self.path))
    }
}

/// A short text that changes when a file under `paths` is added, removed, renamed, resized or written.
/// A path that does not exist counts as empty; folders for which `skip` says so are left out.
pub(crate) fn state_of(paths: &[impl AsRef<Path>], skip: &dyn Fn(&str) -> bool) -> Result<String, Error> {
    let mut lines = Vec::new();
    for path in paths {
        visit(path.as_ref(), skip, &mut lines)?;
    }
    // The operating system lists folders in any order.
    lines.sort();
    let mut hasher = Sha256::new();
    for line in lines {
        hasher.update(line.as_bytes());
    }
    let mut hex = String::new();
    for byte in hasher.finalize() {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    Ok(hex)
}

fn visit(path: &Path, skip: &dyn Fn(&str) -> bool, lines: &mut Vec<String>) -> Result<(), Error> {
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io("look at", path)(error)),
    };
    if !meta.is_dir() {
        let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        lines.push(format!("{}\0{}\0{:?}\n", path.display(), meta.len(), modified));
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(io("read the folder", path))? {
        let entry = entry.map_err(io("read the folder", path))?;
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !(is_folder && skip(&entry.file_name().to_string_lossy())) {
            visit(&entry.path(), skip, lines)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_follows_names_sizes_and_times_but_not_skipped_folders() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("node_modules")).unwrap();
        fs::write(root.join("a"), "1").unwrap();
        let state = || state_of(&[root], &|name| name == "node_modules").unwrap();
        let first = state();
        fs::write(root.join("node_modules/x"), "1").unwrap();
        assert_eq!(state(), first);

        fs::rename(root.join("a"), root.join("b")).unwrap();
        let renamed = state();
        assert_ne!(renamed, first);
        fs::write(root.join("b"), "22").unwrap();
        let resized = state();
        assert_ne!(resized, renamed);
        fs::File::options().write(true).open(root.join("b")).unwrap().set_modified(UNIX_EPOCH).unwrap();
        assert_ne!(state(), resized);
        assert_eq!(state_of(&[&root.join("absent")], &|_| false).unwrap().len(), 64);
    }

    #[test]
    fn a_stamp_holds_only_the_state_it_was_given() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = Stamp::new(folder.path().join("stamp"));
        assert!(!stamp.holds("a"));
        stamp.write("a").unwrap();
        assert!(stamp.holds("a") && !stamp.holds("b"));
        stamp.clear().unwrap();
        stamp.clear().unwrap();
        assert!(!stamp.holds("a"));
    }
}
