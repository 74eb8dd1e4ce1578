//! A split model: a part begins wherever the input says "GGUF".
#![no_main]

use libfuzzer_sys::fuzz_target;
use retort_lm::gguf::Gguf;
use retort_lm::{ByteSource, JoinedSource, MemorySource};

fuzz_target!(|data: &[u8]| {
    let mut starts: Vec<usize> =
        data.windows(4).enumerate().filter(|(_, four)| four == b"GGUF").map(|(at, _)| at).collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().copied().skip(1).chain([data.len()]);
    let mut parts = starts.iter().zip(ends).enumerate().map(|(index, (&start, end))| {
        let name = format!("m-{:05}-of-{:05}.gguf", index + 1, starts.len());
        MemorySource::new(name, data[start..end].to_vec())
    });
    let Some(first) = parts.next() else { return };
    let mut source = JoinedSource::new(first, parts);
    assert_eq!(source.parts(), starts.iter().map(|&start| start as u64).collect::<Vec<_>>());
    retort_fuzz::bounded(data.len(), || {
        if let Ok(gguf) = Gguf::read(&mut source) {
            retort_fuzz::read_tensors(&gguf, &mut source, data.len() as u64);
        }
    });
});
