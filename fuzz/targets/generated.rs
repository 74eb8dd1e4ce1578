//! Any text that a model may write, where JSON, a score or a label was asked for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use retort_checklist::{read_json, read_label, read_score};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    retort_fuzz::bounded(text.len(), || {
        if let Ok(value) = read_json(&text) {
            let written = value.to_string();
            assert_eq!(read_json(&written).as_ref(), Ok(&value), "what was read reads back as the same");
        }
        if let Ok(score) = read_score(&text, -1.0, 10.0) {
            assert!((-1.0..=10.0).contains(&score));
        }
        let labels = ["A", "CI", "not correct", "correct"];
        if let Ok(label) = read_label(&text, &labels) {
            assert!(label < labels.len());
        }
    });
});
