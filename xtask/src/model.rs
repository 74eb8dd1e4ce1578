//! Fetching a model with a progress bar.

use std::io::IsTerminal;
use std::path::PathBuf;

use indicatif::{DecimalBytes, ProgressBar, ProgressStyle};
use retort_models::{Progress, Store};

use crate::error::Error;

/// Makes sure that a model is in the cache, and shows how that goes.
pub(crate) fn pull(store: &Store, name: &str) -> Result<PathBuf, Error> {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template(
        "  {msg:<10} {wide_bar} {decimal_bytes} of {decimal_total_bytes}, {eta} left",
    ) {
        bar.set_style(style);
    }
    let mut plain = Plain { on: !std::io::stderr().is_terminal(), tenth: 0 };
    let say = |line: &str| bar.suspend(|| eprintln!("  {line}"));
    let result = store.pull(name, &mut |progress| match progress {
        Progress::Waiting => say("another process is fetching this model; waiting for it"),
        Progress::Trying { source } => say(&format!("fetching {name} from {source}")),
        Progress::Failed { source, error } => say(&format!("{source}: {error}")),
        Progress::Fetching { done, total } => {
            show(&bar, "fetching", done, total);
            plain.show(done, total);
        }
        Progress::Unpacking { done, total } => show(&bar, "unpacking", done, total),
        Progress::Checking { done, total } => show(&bar, "checking", done, total),
        _ => {}
    });
    bar.finish_and_clear();
    Ok(result?)
}

fn show(bar: &ProgressBar, what: &'static str, done: u64, total: u64) {
    if bar.message() != what {
        bar.set_message(what);
        bar.reset_eta();
    }
    bar.set_length(total);
    bar.set_position(done);
}

/// Where there is no terminal to draw a bar in, a line for each tenth.
struct Plain {
    on: bool,
    tenth: u64,
}

impl Plain {
    fn show(&mut self, done: u64, total: u64) {
        let tenth = done.saturating_mul(10) / total.max(1);
        if self.on && tenth > self.tenth {
            eprintln!("  {} of {}", DecimalBytes(done), DecimalBytes(total));
        }
        self.tenth = tenth;
    }
}
