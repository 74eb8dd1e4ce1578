//! Summaries, attribution and factuality.

use super::Reader;

pub(super) const READERS: &[(&str, Reader)] = &[];
