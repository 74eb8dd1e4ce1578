//! Readers in code, for files whose rows are not examples.

mod cobbler;
mod dialogue;
mod exam;
pub(crate) mod flask;
mod preference;
mod reasoning;
mod summary;

use super::{Item, Reading};
use crate::DataError;

/// Reads all examples; gives the number of rows looked at.
pub(crate) type Reader = fn(&Reading<'_>, &mut dyn FnMut(Item)) -> Result<usize, DataError>;

/// All readers by the name that task files call them by.
fn readers() -> impl Iterator<Item = &'static (&'static str, Reader)> {
    [
        cobbler::READERS,
        dialogue::READERS,
        exam::READERS,
        flask::READERS,
        preference::READERS,
        reasoning::READERS,
        summary::READERS,
    ]
    .into_iter()
    .flatten()
}

/// Whether there is a reader of this name.
#[must_use]
pub fn exists(name: &str) -> bool {
    readers().any(|(known, _)| *known == name)
}

pub(super) fn read(
    name: &str,
    reading: &Reading<'_>,
    each: &mut dyn FnMut(Item),
) -> Result<usize, DataError> {
    match readers().find(|(known, _)| *known == name) {
        Some((_, reader)) => reader(reading, each),
        None => Err(DataError::Form {
            file: format!("{}.toml", reading.task.name),
            problem: format!("there is no reader \"{name}\""),
        }),
    }
}
