//! A checklist file, and any instruction, reference and response.
#![no_main]

use libfuzzer_sys::fuzz_target;
use retort_checklist::{Wanted, extract, generate, hard, read_checklist, verify_items};
use retort_rubric::{Severity, Skill};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    retort_fuzz::bounded(text.len(), || {
        if let Ok(reading) = read_checklist(&text, "fuzz.toml") {
            let json = reading.checklist.to_json().expect("what was read can be written");
            let again = read_checklist(&json, "fuzz.json").expect("and reads back").checklist;
            assert_eq!(again, reading.checklist);
        }
        for found in extract(&text) {
            assert!(text.get(found.passage.clone()).is_some(), "{:?}", found.passage);
            assert!(found.constraint.check().is_ok(), "{:?}", found.constraint);
        }
        let middle = (0..=text.len() / 2).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let (instruction, rest) = text.split_at(middle);
        let wanted = Wanted { reference: Some(rest), skills: &Skill::ALL[..3], ..Wanted::of(instruction) };
        for checklist in [generate(&wanted), hard(&wanted)] {
            let is_error = |problem: &retort_checklist::ChecklistProblem| problem.severity == Severity::Error;
            let wrong: Vec<_> = checklist.check().into_iter().filter(is_error).collect();
            assert!(wrong.is_empty() || checklist.items.is_empty(), "{wrong:?}");
            for finding in verify_items(&checklist, rest).into_iter().flatten() {
                for span in &finding.evidence {
                    assert!(rest.get(span.clone()).is_some(), "{span:?}");
                }
            }
        }
    });
});
