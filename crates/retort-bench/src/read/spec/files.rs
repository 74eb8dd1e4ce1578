//! Which files a task names, and how they are opened.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::DataError;

/// A file of a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::read) struct Found {
    /// Relative to the repository, with `/` on every system: it is part of ids.
    pub(in crate::read) name: String,
    /// Where it is.
    pub(in crate::read) path: PathBuf,
}

impl Found {
    /// Its name without folders and extension, and without `.gz`.
    pub(in crate::read) fn stem(&self) -> &str {
        let name = self.name.rsplit('/').next().unwrap_or_default();
        let name = name.strip_suffix(".gz").unwrap_or(name);
        match name.rsplit_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem,
            _ => name,
        }
    }

    /// An error of the system as one of ours.
    pub(in crate::read) fn unreadable(&self, error: &std::io::Error) -> DataError {
        DataError::Unreadable { file: self.name.clone(), problem: error.to_string() }
    }

    /// Opens it: `.gz` is unpacked, and a byte order mark is left out.
    pub(in crate::read) fn open(&self) -> Result<Box<dyn BufRead>, DataError> {
        self.opened().map_err(|error| self.unreadable(&error))
    }

    fn opened(&self) -> std::io::Result<Box<dyn BufRead>> {
        let file = File::open(&self.path)?;
        let mut input: Box<dyn Read> =
            if self.name.ends_with(".gz") { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
        let mut start = Vec::new();
        input.by_ref().take(3).read_to_end(&mut start)?;
        if start == b"\xef\xbb\xbf" {
            start.clear();
        }
        Ok(Box::new(BufReader::with_capacity(1 << 16, std::io::Cursor::new(start).chain(input))))
    }

    /// All of it; see [`Self::open`].
    pub(in crate::read) fn bytes(&self) -> Result<Vec<u8>, DataError> {
        let mut bytes = Vec::new();
        self.open()?.read_to_end(&mut bytes).map_err(|error| self.unreadable(&error))?;
        Ok(bytes)
    }
}

/// The files of all patterns: those of a pattern in sorted order, no file twice.
///
/// # Errors
/// [`DataError::NoFile`] where a pattern has none, [`DataError::Unreadable`] where a folder cannot be listed.
pub(in crate::read) fn find(
    folder: &Path,
    repository: &str,
    patterns: &[String],
) -> Result<Vec<Found>, DataError> {
    let mut all: Vec<Found> = Vec::new();
    for pattern in patterns {
        let mut found = vec![Found { name: String::new(), path: folder.to_owned() }];
        for part in pattern.split('/') {
            let mut next = Vec::new();
            for place in &found {
                next.extend(inside(place, part)?);
            }
            found = next;
        }
        found.retain(|file| file.path.is_file());
        if found.is_empty() {
            return Err(DataError::NoFile { repository: repository.to_owned(), file: pattern.clone() });
        }
        found.sort();
        for file in found {
            if !all.contains(&file) {
                all.push(file);
            }
        }
    }
    Ok(all)
}

/// What lies in a folder under a name that may have `*`.
fn inside(place: &Found, part: &str) -> Result<Vec<Found>, DataError> {
    let at = |name: &str| Found {
        name: if place.name.is_empty() { name.to_owned() } else { format!("{}/{name}", place.name) },
        path: place.path.join(name),
    };
    if !part.contains('*') {
        let found = at(part);
        return Ok(if found.path.exists() { vec![found] } else { Vec::new() });
    }
    if !place.path.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&place.path).map_err(|error| place.unreadable(&error))? {
        let name = entry.map_err(|error| place.unreadable(&error))?.file_name();
        // A name that is no Unicode cannot be meant by a task file.
        if let Some(name) = name.to_str()
            && (part.starts_with('.') || !name.starts_with('.'))
            && matches(part, name)
        {
            found.push(at(name));
        }
    }
    Ok(found)
}

/// Whether a name is of a pattern in which `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        // The first place suffices: what comes later can only have more room.
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, name, right) in [
            ("*.csv", "a.csv", true),
            ("*.csv", "a.csv.gz", false),
            ("a*b*c", "abc", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "ac", false),
            ("a*a", "a", false),
            ("*", "anything", true),
            ("plain", "plain", true),
            ("plain", "plainer", false),
        ] {
            assert_eq!(matches(pattern, name), right, "{pattern} {name}");
        }
    }

    #[test]
    fn a_stem_has_no_folder_and_no_extension() {
        for (name, stem) in
            [("a/b.c.json", "b.c"), ("x.jsonl.gz", "x"), (".hidden", ".hidden"), ("plain", "plain")]
        {
            assert_eq!(Found { name: name.into(), path: PathBuf::new() }.stem(), stem);
        }
    }
}
