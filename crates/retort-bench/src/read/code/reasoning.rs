//! Answers, code, mathematics and safety.

use super::Reader;

pub(super) const READERS: &[(&str, Reader)] = &[];
