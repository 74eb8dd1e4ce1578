//! Dialogues, stories and explanations.

use super::Reader;

pub(super) const READERS: &[(&str, Reader)] = &[];
