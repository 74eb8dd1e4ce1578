//! An adapter for the smallest model.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use retort_lm::config::Config;
use retort_lm::{Adapter, MemorySource};

static CONFIG: LazyLock<Config> = LazyLock::new(retort_fuzz::config);

fuzz_target!(|data: &[u8]| {
    let config = &*CONFIG;
    let mut source = MemorySource::new("fuzz.gguf", data.to_vec());
    retort_fuzz::bounded(data.len(), || {
        if let Ok(adapter) = Adapter::read(&mut source, config) {
            let _ = adapter.with_strength(0.5);
        }
    });
});
