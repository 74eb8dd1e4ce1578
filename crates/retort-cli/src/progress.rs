//! Progress bars on standard error; silent where it is not a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use retort_judge::{ItemVerdict, Observer, RubricVerdict, WriteObserver};
use retort_lm::Flow;

use crate::load::Interrupt;

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

/// Counts whatever the message says.
pub(crate) fn items(what: &str, total: u64) -> ProgressBar {
    let bar = styled(total, "{msg} [{bar:30}] {pos} of {len}, {eta} left");
    bar.set_message(what.to_owned());
    bar
}

/// Counts questions.
pub(crate) fn questions(what: &str, total: u64) -> ProgressBar {
    let bar = styled(total, "{msg} [{bar:30}] {pos} of {len} questions, {eta} left");
    bar.set_message(what.to_owned());
    bar
}

/// Counts in thousandths of a whole whose unit would say nothing.
pub(crate) fn share(what: &str) -> ProgressBar {
    let bar = styled(1000, "{msg} [{bar:30}] {percent}%, {eta} left");
    bar.set_message(what.to_owned());
    bar
}

/// A bar that follows a model's work, and Ctrl-C that stops it.
pub(crate) struct Watching<'a> {
    pub(crate) bar: ProgressBar,
    pub(crate) interrupt: &'a Interrupt,
}

impl Watching<'_> {
    fn step(&self, done: usize, total: usize) -> Flow {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        self.interrupt.flow()
    }
}

impl Observer for Watching<'_> {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        self.step(done, total)
    }

    fn verdict(&mut self, _index: usize, verdict: &RubricVerdict) {
        self.bar.set_message(format!("Judged {}", verdict.rubric_name));
    }

    fn item(&mut self, _index: usize, verdict: &ItemVerdict) {
        self.bar.set_message(format!("Decided {}", verdict.item_id));
    }
}

impl WriteObserver for Watching<'_> {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        self.step(done, total)
    }
}
