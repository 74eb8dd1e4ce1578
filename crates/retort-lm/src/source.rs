//! Where the bytes of a model file come from.

use crate::LmError;

/// A file that can be read at any place, synchronously.
///
/// Natively that is a file on disk; in a browser's worker an OPFS access handle or a `Blob`. Weights are
/// read tensor by tensor, so that no second copy of the model is ever held.
pub trait ByteSource {
    /// What to call the file in messages.
    fn name(&self) -> &str;
    /// Size in bytes.
    fn size(&self) -> u64;
    /// Fills `into` from `offset`.
    ///
    /// # Errors
    /// [`LmError::Read`] or [`LmError::Truncated`] if not every byte could be had.
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> Result<(), LmError>;

    /// Where each part of a split model begins in the joined bytes, ascending from 0; one part at 0 for a model in
    /// one file.
    fn parts(&self) -> Vec<u64> {
        vec![0]
    }

    /// What to call the file of this part (counted from 0) in messages.
    fn part_name(&self, part: usize) -> &str {
        let _ = part;
        self.name()
    }
}

impl<S: ByteSource + ?Sized> ByteSource for Box<S> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn size(&self) -> u64 {
        (**self).size()
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> Result<(), LmError> {
        (**self).read_at(offset, into)
    }

    fn parts(&self) -> Vec<u64> {
        (**self).parts()
    }

    fn part_name(&self, part: usize) -> &str {
        (**self).part_name(part)
    }
}

/// The parts of a split model, one after the other, as one file.
///
/// Whether they are the parts of one model, all of them and in order, is checked where their headers are read
/// ([`Gguf::read`](crate::gguf::Gguf::read)).
#[derive(Debug, Clone)]
pub struct JoinedSource<S> {
    /// Each with where it begins; never empty.
    parts: Vec<(u64, S)>,
    size: u64,
}

impl<S: ByteSource> JoinedSource<S> {
    /// Joins these, in this order. What they are called together is the name of the first.
    #[must_use]
    pub fn new(first: S, others: impl IntoIterator<Item = S>) -> Self {
        let mut size = 0u64;
        let parts = std::iter::once(first)
            .chain(others)
            .map(|part| {
                let start = size;
                size = size.saturating_add(part.size());
                (start, part)
            })
            .collect();
        Self { parts, size }
    }
}

impl<S: ByteSource> ByteSource for JoinedSource<S> {
    fn name(&self) -> &str {
        self.parts[0].1.name()
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> Result<(), LmError> {
        if offset.checked_add(into.len() as u64).is_none_or(|end| end > self.size) {
            return Err(LmError::Truncated {
                name: self.name().to_owned(),
                what: "a read".into(),
                needed: offset.saturating_add(into.len() as u64),
                size: self.size,
            });
        }
        let mut at = offset;
        let mut rest = into;
        for (start, part) in &mut self.parts {
            let end = *start + part.size();
            if rest.is_empty() || at >= end || at < *start {
                continue;
            }
            // At most what is asked for, which is in memory already.
            let len = usize::try_from(end - at).unwrap_or(usize::MAX).min(rest.len());
            let (now, later) = rest.split_at_mut(len);
            part.read_at(at - *start, now)?;
            at += len as u64;
            rest = later;
        }
        Ok(())
    }

    fn parts(&self) -> Vec<u64> {
        self.parts.iter().map(|(start, _)| *start).collect()
    }

    fn part_name(&self, part: usize) -> &str {
        self.parts.get(part).map_or_else(|| self.name(), |(_, source)| source.name())
    }
}

/// What a file's name says of the split model that it is part of: `model-00001-of-00003.gguf`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartName<'a> {
    stem: &'a str,
    /// Counted from 1, at most `count`.
    pub(crate) number: usize,
    pub(crate) count: usize,
}

impl<'a> PartName<'a> {
    /// `None` for a name that is not of this form.
    pub(crate) fn of(name: &'a str) -> Option<Self> {
        let (rest, count) = name.strip_suffix(".gguf")?.rsplit_once("-of-")?;
        let (stem, number) = rest.rsplit_once('-')?;
        let five_digits = |digits: &str| {
            let right = digits.len() == 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
            right.then(|| digits.parse::<usize>().ok()).flatten()
        };
        let (number, count) = (five_digits(number)?, five_digits(count)?);
        (1..=count).contains(&number).then_some(Self { stem, number, count })
    }

    /// The name of another part of the same model, counted from 1.
    pub(crate) fn sibling(&self, number: usize) -> String {
        format!("{}-{number:05}-of-{:05}.gguf", self.stem, self.count)
    }
}

/// A model file held in memory.
#[derive(Debug, Clone)]
pub struct MemorySource {
    name: String,
    bytes: Vec<u8>,
}

impl MemorySource {
    /// A file of these bytes under this name.
    #[must_use]
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { name: name.into(), bytes }
    }
}

impl ByteSource for MemorySource {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> Result<(), LmError> {
        let range = usize::try_from(offset)
            .ok()
            .and_then(|start| start.checked_add(into.len()).map(|end| start..end))
            .and_then(|range| self.bytes.get(range));
        match range {
            Some(bytes) => {
                into.copy_from_slice(bytes);
                Ok(())
            }
            None => Err(LmError::Truncated {
                name: self.name.clone(),
                what: "a read".into(),
                needed: offset.saturating_add(into.len() as u64),
                size: self.size(),
            }),
        }
    }
}

/// A model on disk: one file, or all parts of a split one.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug)]
pub struct FileSource {
    joined: JoinedSource<OneFile>,
}

#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug)]
struct OneFile {
    name: String,
    path: std::path::PathBuf,
    file: std::fs::File,
    size: u64,
}

#[cfg(not(target_arch = "wasm32"))]
impl FileSource {
    /// Opens the file. The name of a part of a split model (`model-00001-of-00003.gguf`) opens all parts, which must
    /// lie in the same folder.
    ///
    /// # Errors
    /// [`LmError::Read`] if there is no such file, it is a folder, or it may not be read; [`LmError::Split`], which
    /// names the parts that are missing.
    pub fn open(path: &std::path::Path) -> Result<Self, LmError> {
        let chosen = OneFile::open(path)?;
        let name = chosen.name.clone();
        let Some(part) = PartName::of(&name).filter(|part| part.count > 1) else {
            return Ok(Self { joined: JoinedSource::new(chosen, []) });
        };
        let paths: Vec<_> =
            (1..=part.count).map(|number| path.with_file_name(part.sibling(number))).collect();
        let absent: Vec<String> = paths
            .iter()
            .filter(|path| !path.is_file())
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .collect();
        if !absent.is_empty() {
            return Err(LmError::Split {
                problem: format!(
                    "it is part {} of {}, and beside it {} missing: {}; put all parts into one folder",
                    part.number,
                    part.count,
                    if absent.len() == 1 { "this one is" } else { "these are" },
                    some_of(&absent)
                ),
                name,
            });
        }
        let mut parts =
            paths.iter().map(|path| OneFile::open(path)).collect::<Result<Vec<_>, _>>()?.into_iter();
        let first = parts.next().unwrap_or(chosen);
        Ok(Self { joined: JoinedSource::new(first, parts) })
    }

    /// The files, part after part.
    pub fn paths(&self) -> impl Iterator<Item = &std::path::Path> {
        self.joined.parts.iter().map(|(_, part)| part.path.as_path())
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl OneFile {
    fn open(path: &std::path::Path) -> Result<Self, LmError> {
        let name =
            path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
        let failed = |problem: String| LmError::Read { name: path.display().to_string(), offset: 0, problem };
        let file = std::fs::File::open(path).map_err(|error| failed(error.to_string()))?;
        let metadata = file.metadata().map_err(|error| failed(error.to_string()))?;
        if metadata.is_dir() {
            return Err(failed("it is a folder; name the .gguf file inside it".into()));
        }
        Ok(Self { name, path: path.to_owned(), file, size: metadata.len() })
    }
}

/// Names for a message: the first few, and how many more.
pub(crate) fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

#[cfg(not(target_arch = "wasm32"))]
impl ByteSource for FileSource {
    fn name(&self) -> &str {
        self.joined.name()
    }

    fn size(&self) -> u64 {
        self.joined.size()
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> Result<(), LmError> {
        self.joined.read_at(offset, into)
    }

    fn parts(&self) -> Vec<u64> {
        self.joined.parts()
    }

    fn part_name(&self, part: usize) -> &str {
        self.joined.part_name(part)
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl ByteSource for OneFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> Result<(), LmError> {
        use std::io::{Read, Seek, SeekFrom};
        self.file
            .seek(SeekFrom::Start(offset))
            .and_then(|_| self.file.read_exact(into))
            .map_err(|error| LmError::Read { name: self.name.clone(), offset, problem: error.to_string() })
    }
}
