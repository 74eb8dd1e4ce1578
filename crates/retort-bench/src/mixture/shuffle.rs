//! Rows in a seeded order, with the memory of a few thousand of them.
//!
//! Each row has a hash as its key and goes to the bucket (a file) of its key's first bits; then bucket after bucket is
//! sorted and appended. So the order is that of all keys, whatever the number of buckets. Reading texts a second time in
//! shuffled order would need no buckets, but packed and nested files can't be entered in their middle.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use retort_lm::Flow;
use sha2::{Digest, Sha256};

use super::MixtureError;

/// Rows per bucket, about, while there are fewer than [`MOST_BUCKETS`].
const BUCKET_ROWS: usize = 4_096;
/// Systems allow some hundreds of open files.
const MOST_BUCKETS: usize = 256;

/// Rows on their way.
pub(super) struct Buckets {
    paths: Vec<PathBuf>,
    files: Vec<BufWriter<File>>,
    bits: u32,
    rows: usize,
}

/// What was written.
#[derive(Debug)]
pub(super) struct Written {
    /// Rows.
    pub(super) rows: usize,
    /// Of the file, in hexadecimal digits.
    pub(super) sha256: String,
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> MixtureError {
    let path = path.display().to_string();
    move |problem| MixtureError::Write { path: path.clone(), problem: problem.to_string() }
}

impl Buckets {
    /// Buckets for about so many rows in this folder.
    pub(super) fn new(folder: &Path, rows: usize) -> Result<Self, MixtureError> {
        let count = rows.div_ceil(BUCKET_ROWS).max(1).next_power_of_two().min(MOST_BUCKETS);
        let (mut paths, mut files) = (Vec::new(), Vec::new());
        for number in 0..count {
            let path = folder.join(format!("bucket-{number}"));
            files.push(BufWriter::new(File::create(&path).map_err(failed(&path))?));
            paths.push(path);
        }
        Ok(Self { paths, files, bits: count.trailing_zeros(), rows: 0 })
    }

    /// Adds a row: one line without its end.
    pub(super) fn add(&mut self, key: u64, line: &str) -> Result<(), MixtureError> {
        // A shift by all 64 bits is not defined.
        let bucket = key.checked_shr(64 - self.bits).unwrap_or(0) as usize;
        self.rows += 1;
        writeln!(self.files[bucket], "{key:016x}{line}").map_err(failed(&self.paths[bucket]))
    }

    /// Writes all rows to a file, in the order of their keys.
    pub(super) fn write(
        self,
        path: &Path,
        progress: &mut dyn FnMut(usize, usize) -> Flow,
    ) -> Result<Written, MixtureError> {
        for (file, path) in self.files.into_iter().zip(&self.paths) {
            // Into_inner flushes; a full disk is noticed here and not by a file that lacks its end.
            file.into_inner().map_err(|error| failed(path)(error.into_error()))?;
        }
        let mut out = BufWriter::new(File::create(path).map_err(failed(path))?);
        let mut hash = Sha256::new();
        let mut done = 0;
        for bucket in &self.paths {
            let file = BufReader::new(File::open(bucket).map_err(failed(bucket))?);
            let mut lines = Vec::new();
            for line in file.lines() {
                lines.push(line.map_err(failed(bucket))?);
            }
            // The key comes first and has a fixed width.
            lines.sort_unstable();
            for line in &lines {
                let row = line.get(16..).unwrap_or_default();
                hash.update(row.as_bytes());
                hash.update(b"\n");
                writeln!(out, "{row}").map_err(failed(path))?;
            }
            std::fs::remove_file(bucket).map_err(failed(bucket))?;
            done += lines.len();
            if progress(done, self.rows) == Flow::Stop {
                return Err(MixtureError::Stopped);
            }
        }
        let file = out.into_inner().map_err(|error| failed(path)(error.into_error()))?;
        file.sync_all().map_err(failed(path))?;
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Written { rows: done, sha256 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shuffled(rows: usize, expected: usize) -> (Vec<String>, String) {
        let folder = tempfile::tempdir().unwrap();
        let mut buckets = Buckets::new(folder.path(), expected).unwrap();
        for row in 0..rows {
            buckets.add(super::super::text::mix(row as u64), &format!("{{\"row\":{row}}}")).unwrap();
        }
        let path = folder.path().join("rows");
        let written = buckets.write(&path, &mut |_, _| Flow::Continue).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written.sha256, retort_judge::sha256_hex(text.as_bytes()));
        assert_eq!(written.rows, rows);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the buckets are gone");
        (text.lines().map(str::to_owned).collect(), written.sha256)
    }

    #[test]
    fn the_order_is_that_of_the_keys_whatever_the_buckets() {
        let (one, hash) = shuffled(500, 0);
        let (many, same) = shuffled(500, 1_000_000);
        assert_eq!((&one, hash), (&many, same));
        let mut expected: Vec<u64> = (0..500).collect();
        expected.sort_by_key(|row| super::super::text::mix(*row));
        let expected: Vec<String> = expected.iter().map(|row| format!("{{\"row\":{row}}}")).collect();
        assert_eq!(one, expected);
    }
}
