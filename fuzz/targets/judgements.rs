//! Files of other tools' rubrics, and of judgements to be reported on.
#![no_main]

use libfuzzer_sys::fuzz_target;
use retort_report::{Settings, Source, profile, read, to_html, to_markdown};

fuzz_target!(|data: &[u8]| {
    retort_fuzz::bounded(data.len(), || {
        if let Ok(text) = std::str::from_utf8(data)
            && let Ok(imported) = retort_formats::rubrics::import(text, "fuzz.json")
        {
            for rubric in &imported.rubrics {
                assert!(rubric.validate().is_ok(), "{rubric:?}");
            }
        }
        let source = Source { name: "fuzz.jsonl", bytes: data };
        let reading = read(&[source], &[]);
        let settings = Settings { resamples: 20, ..Settings::default() };
        if let Ok(profile) = profile(&reading, &settings) {
            let _ = to_markdown(&profile);
            let _ = to_html(&profile);
        }
    });
});
