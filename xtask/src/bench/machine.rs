//! What the figures were measured on.

use std::fmt;
use std::path::Path;

use serde_json::{Value, json};

use crate::process::ask;

/// A machine, in words. What cannot be found out is "unknown".
pub(crate) struct Machine {
    processor: String,
    /// What this process may use.
    processors: usize,
    memory: String,
    system: String,
    rust: String,
    commit: String,
    date: String,
    model: String,
    /// How many programs wanted to run during the last minute.
    load: Option<f64>,
}

impl Machine {
    pub(crate) fn describe(model: &Path) -> Self {
        let unknown = || "unknown".to_owned();
        let processor = if cfg!(target_os = "macos") {
            ask("sysctl", &["-n", "machdep.cpu.brand_string"])
        } else {
            value_in("/proc/cpuinfo", "model name", ':')
        };
        let system =
            value_in("/etc/os-release", "PRETTY_NAME", '=').map(|name| name.trim_matches('"').to_owned());
        let gigabytes = |text: String| {
            let kibibytes: f64 = text.split_whitespace().next()?.parse().ok()?;
            Some(format!("{:.0} GiB", kibibytes / f64::from(1 << 20)))
        };
        let commit = ask("git", &["rev-parse", "--short", "HEAD"]).map(|commit| {
            let is_clean = ask("git", &["status", "--porcelain"]).is_some_and(|changes| changes.is_empty());
            if is_clean { commit } else { format!("{commit} with changes") }
        });
        let load = std::fs::read_to_string("/proc/loadavg").ok();
        Self {
            processor: processor.unwrap_or_else(unknown),
            processors: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory: value_in("/proc/meminfo", "MemTotal", ':').and_then(gigabytes).unwrap_or_else(unknown),
            system: system.unwrap_or_else(|| std::env::consts::OS.to_owned()),
            rust: ask("rustc", &["--version"]).unwrap_or_else(unknown),
            commit: commit.unwrap_or_else(unknown),
            date: ask("date", &["-u", "+%Y-%m-%d"]).unwrap_or_else(unknown),
            model: model.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            load: load.and_then(|text| text.split_whitespace().next()?.parse().ok()),
        }
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "processor": self.processor,
            "processors": self.processors,
            "memory": self.memory,
            "system": self.system,
            "rust": self.rust,
            "commit": self.commit,
            "date": self.date,
            "model": self.model,
            "load": self.load,
        })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { processor, processors, memory, system, rust, commit, date, model, load } = self;
        writeln!(f, "{model} on {processor}, {processors} processors, {memory}, {system}")?;
        write!(f, "{rust}; commit {commit}; {date}")?;
        match load {
            Some(load) if *load > 0.5 => write!(
                f,
                "\nOther programs were running (load {load}): the figures are rough. Measure on a quiet machine."
            ),
            _ => Ok(()),
        }
    }
}

/// The value after the first line that begins with this name.
fn value_in(file: &str, name: &str, separator: char) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(separator)?.1.trim().to_owned())
}
