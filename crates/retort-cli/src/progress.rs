//! Progress bars on standard error; silent where it is not a terminal.

use indicatif::{ProgressBar, ProgressStyle};

fn styled(total: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::new(total);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

/// Counts bytes.
pub(crate) fn bytes(what: &str, total: u64) -> ProgressBar {
    let bar = styled(total, "{msg} [{bar:30}] {decimal_bytes} of {decimal_total_bytes}, {eta} left");
    bar.set_message(what.to_owned());
    bar
}

/// Counts tokens.
pub(crate) fn tokens(what: &str, total: u64) -> ProgressBar {
    let bar = styled(total, "{msg} [{bar:30}] {pos} of {len} tokens, {eta} left");
    bar.set_message(what.to_owned());
    bar
}

/// Counts rows of a file.
pub(crate) fn rows(what: &str, total: u64) -> ProgressBar {
    let bar = styled(total, "{msg} [{bar:30}] {pos} of {len} rows, {eta} left");
    bar.set_message(what.to_owned());
    bar
}

/// Counts questions.
pub(crate) fn questions(what: &str, total: u64) -> ProgressBar {
    let bar = styled(total, "{msg} [{bar:30}] {pos} of {len} questions, {eta} left");
    bar.set_message(what.to_owned());
    bar
}
