//! Sets for examination.

use super::Reader;

pub(super) const READERS: &[(&str, Reader)] = &[];
