//! What a judge that writes has written, in every form: a verdict of the rubric's own scale, or a reason why there is none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use retort_judge::{Verdict, WrittenForm};
use retort_lm::{Generated, StopReason};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    retort_fuzz::bounded(data.len(), || {
        let rubric = &retort_rubric::builtin()[0];
        for stop in [StopReason::EndOfText, StopReason::MaxTokens] {
            let written = Generated { text: text.into(), tokens: Vec::new(), stop };
            for form in WrittenForm::ALL {
                if let Verdict::Scored { expected, min, max, .. } = form.read(&written, rubric, false) {
                    assert!((min..=max).contains(&expected));
                }
            }
        }
    });
});
