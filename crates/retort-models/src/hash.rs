//! SHA-256 of files, with progress.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// The SHA-256 of a file in lower-case hex. `progress` is called with the bytes hashed so far.
///
/// # Errors
/// Whatever opening or reading the file gives.
pub fn sha256_file(path: &Path, progress: &mut dyn FnMut(u64)) -> io::Result<String> {
    sha256_files(&[path], progress)
}

/// The SHA-256 of the bytes of several files, one after the other: what names a split model.
///
/// # Errors
/// As for [`sha256_file`].
pub fn sha256_files(paths: &[impl AsRef<Path>], progress: &mut dyn FnMut(u64)) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0_u8; 1 << 20];
    let mut done = 0_u64;
    for path in paths {
        let mut file = File::open(path)?;
        loop {
            let read = match file.read(&mut buffer) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let Some(chunk) = buffer.get(..read).filter(|chunk| !chunk.is_empty()) else { break };
            hasher.update(chunk);
            done += chunk.len() as u64;
            progress(done);
        }
    }
    Ok(hex(&hasher.finalize()))
}

/// The SHA-256 of bytes in lower-case hex.
#[must_use]
pub fn sha256_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        let mut seen = Vec::new();
        // FIPS 180-4's own example for "abc".
        assert_eq!(
            sha256_file(&path, &mut |done| seen.push(done)).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(seen, [3]);
        let (a, bc) = (folder.path().join("a"), folder.path().join("bc"));
        std::fs::write(&a, "a").unwrap();
        std::fs::write(&bc, "bc").unwrap();
        assert_eq!(
            sha256_files(&[a, bc], &mut |_| {}).unwrap(),
            sha256_file(&path, &mut |_| {}).unwrap(),
            "files one after the other are one"
        );
    }
}
