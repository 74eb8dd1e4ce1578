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

/// A model file on disk.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug)]
pub struct FileSource {
    name: String,
    file: std::fs::File,
    size: u64,
}

#[cfg(not(target_arch = "wasm32"))]
impl FileSource {
    /// Opens the file.
    ///
    /// # Errors
    /// [`LmError::Read`] if there is no such file, it is a folder, or it may not be read.
    pub fn open(path: &std::path::Path) -> Result<Self, LmError> {
        let name =
            path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
        let failed = |problem: String| LmError::Read { name: path.display().to_string(), offset: 0, problem };
        let file = std::fs::File::open(path).map_err(|error| failed(error.to_string()))?;
        let metadata = file.metadata().map_err(|error| failed(error.to_string()))?;
        if metadata.is_dir() {
            return Err(failed("it is a folder; name the .gguf file inside it".into()));
        }
        Ok(Self { name, file, size: metadata.len() })
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl ByteSource for FileSource {
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
