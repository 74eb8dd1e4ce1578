//! FLASK's instructions and outputs.

use super::Reader;

pub(super) const READERS: &[(&str, Reader)] = &[];
