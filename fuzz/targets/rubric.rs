//! A file of rubrics, in TOML or JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use retort_rubric::{Format, read, to_json, to_toml};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    retort_fuzz::bounded(text.len(), || {
        let Ok(reading) = read(&text, "fuzz", Format::Auto) else { return };
        for rubric in &reading.rubrics {
            rubric.validate().expect("what was read is valid");
        }
        // What was read can be written, and reads back as the same.
        for (written, format) in
            [(to_json(&reading.rubrics), Format::Json), (to_toml(&reading.rubrics), Format::Toml)]
        {
            let written = written.expect("what was read can be written");
            let again = read(&written, "again", format).unwrap_or_else(|error| panic!("{error}\n{written}"));
            assert_eq!(again.rubrics, reading.rubrics);
        }
    });
});
