//! Preferences between responses.

use super::Reader;

pub(super) const READERS: &[(&str, Reader)] = &[];
