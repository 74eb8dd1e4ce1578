//! Downloads over HTTP that resume where they stopped.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use crate::error::SourceError;
use crate::registry::is_loopback;
use crate::store::{FetchOptions, Progress};

/// A download counts as failed after this many attempts in a row that brought no new byte.
const FRUITLESS_ATTEMPTS: u32 = 3;

/// Brings `part` to exactly `expected` bytes from `url`, going on from what `part` already holds.
///
/// Answers whether any byte was there before or was fetched in a second request: then a wrong hash may be the fault of
/// the seam, and a fresh download is worth a try.
pub(crate) fn download(
    url: &str,
    part: &Path,
    expected: u64,
    options: &FetchOptions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<bool, SourceError> {
    let config = ureq::Agent::config_builder()
        .https_only(!is_loopback(url))
        .http_status_as_error(false)
        .user_agent(concat!("retort/", env!("CARGO_PKG_VERSION")))
        .timeout_resolve(Some(options.stall))
        .timeout_connect(Some(options.stall))
        .timeout_recv_response(Some(options.stall))
        .timeout_per_read(Some(options.stall))
        .build();
    let agent = config.new_agent();

    let mut resumed = false;
    let mut fruitless = 0;
    loop {
        let have = match std::fs::metadata(part) {
            Ok(meta) => meta.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(io_error("look at", part, error)),
        };
        if have == expected {
            return Ok(true);
        }
        if have > expected {
            remove(part)?;
            continue;
        }
        resumed |= have > 0;
        let error = match attempt(&agent, url, part, have, expected, options, progress) {
            Ok(()) => return Ok(resumed),
            Err(error) => error,
        };
        let now = std::fs::metadata(part).map_or(0, |meta| meta.len());
        fruitless = if now > have { 0 } else { fruitless + 1 };
        let worth_another = match &error {
            SourceError::Network { .. } | SourceError::Stalled { .. } | SourceError::Truncated { .. } => true,
            SourceError::Status { status } => matches!(status, 408 | 416 | 429 | 500..),
            _ => false,
        };
        if !worth_another || fruitless >= FRUITLESS_ATTEMPTS {
            return Err(error);
        }
        std::thread::sleep(options.retry_pause * (fruitless + 1));
    }
}

/// One request; what arrives is appended to `part`.
fn attempt(
    agent: &ureq::Agent,
    url: &str,
    part: &Path,
    have: u64,
    expected: u64,
    options: &FetchOptions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), SourceError> {
    let mut request = agent.get(url).header("accept-encoding", "identity");
    if have > 0 {
        request = request.header("range", format!("bytes={have}-"));
    }
    let response = request.call().map_err(|error| SourceError::Network { reason: describe(&error) })?;

    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    let start = match response.status().as_u16() {
        200 => 0,
        206 => {
            let (start, total) = header("content-range").and_then(content_range).unwrap_or((have, None));
            if let Some(total) = total.filter(|&total| total != expected) {
                return Err(SourceError::WrongSize { expected, found: total });
            }
            if start != have {
                remove(part)?;
                return Err(SourceError::Network {
                    reason: format!(
                        "the server was asked for bytes from {have} on and sent bytes from {start} on"
                    ),
                });
            }
            start
        }
        416 => {
            // Whatever lies here does not fit what the server has: begin anew.
            remove(part)?;
            return Err(SourceError::Status { status: 416 });
        }
        status => return Err(SourceError::Status { status }),
    };
    if let Some(length) = header("content-length").and_then(|value| value.parse::<u64>().ok())
        && start.saturating_add(length) != expected
    {
        return Err(SourceError::WrongSize { expected, found: start.saturating_add(length) });
    }

    let mut file = if start == 0 { File::create(part) } else { OpenOptions::new().append(true).open(part) }
        .map_err(|error| io_error("write", part, error))?;
    let mut body = response.into_body().into_reader();
    let mut buffer = vec![0_u8; 1 << 16];
    let mut received = start;
    progress(Progress::Fetching { done: received, total: expected });
    loop {
        let read = match body.read(&mut buffer) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if is_timeout(&error) => {
                return Err(SourceError::Stalled { seconds: options.stall.as_secs(), received, expected });
            }
            Err(error) => {
                return Err(SourceError::Truncated { received, expected, reason: error.to_string() });
            }
        };
        let Some(chunk) = buffer.get(..read).filter(|chunk| !chunk.is_empty()) else { break };
        received += chunk.len() as u64;
        if received > expected {
            drop(file);
            remove(part)?;
            return Err(SourceError::WrongSize { expected, found: received });
        }
        file.write_all(chunk).map_err(|error| io_error("write", part, error))?;
        progress(Progress::Fetching { done: received, total: expected });
    }
    if received < expected {
        let reason = "the server closed the connection".to_owned();
        return Err(SourceError::Truncated { received, expected, reason });
    }
    Ok(())
}

/// `bytes 5-9/10` is (5, Some(10)).
fn content_range(value: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = value.strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    Some((start.trim().parse().ok()?, total.trim().parse().ok()))
}

/// The HTTP client wraps its own timeouts in an I/O error of kind `Other`.
fn is_timeout(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
        || error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<ureq::Error>())
            .is_some_and(|inner| matches!(inner, ureq::Error::Timeout(_)))
}

fn describe(error: &ureq::Error) -> String {
    match error {
        ureq::Error::HostNotFound => "the server's name could not be looked up".to_owned(),
        other => other.to_string(),
    }
}

fn remove(path: &Path) -> Result<(), SourceError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error("delete", path, error)),
        _ => Ok(()),
    }
}

fn io_error(action: &'static str, path: &Path, error: io::Error) -> SourceError {
    SourceError::Io { action, path: path.to_owned(), error }
}

/// How long a connection may stay silent.
pub(crate) const DEFAULT_STALL: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::content_range;

    #[test]
    fn content_range_reads_both_forms() {
        // RFC 9110, section 14.4.
        assert_eq!(content_range("bytes 5-9/10"), Some((5, Some(10))));
        assert_eq!(content_range("bytes 5-9/*"), Some((5, None)));
        assert_eq!(content_range("bytes */10"), None);
        assert_eq!(content_range("lines 1-2/3"), None);
    }
}
