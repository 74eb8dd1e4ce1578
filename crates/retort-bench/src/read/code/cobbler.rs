//! CoBBLEr's responses and rankings.

use super::Reader;

pub(super) const READERS: &[(&str, Reader)] = &[];
