//! Any text of a person: no special token comes of it, and its tokens spell it again.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use retort_lm::gguf::{Gguf, GgufWriter, Value};
use retort_lm::tokenizer::Tokenizer;
use retort_lm::{MemorySource, Segments, tiny};

/// A tokenizer, its special tokens, and whether its tokens spell exactly the text that they were made from.
type Case = (Tokenizer, std::ops::Range<u32>, bool);

/// The tiny model's tokenizer with every way of splitting text into words that is known, and SentencePiece.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let mut source = MemorySource::new("tiny.gguf", tiny::gguf(retort_fuzz::shape(), 1));
    let tiny = Gguf::read(&mut source).expect("a model of our own");
    let vocabulary = tiny.texts("tokenizer.ggml.tokens").ok().flatten().map_or(0, <[String]>::len);
    let of = |pre: &str| {
        let mut writer = GgufWriter::new();
        for (key, value) in tiny.entries().filter(|(key, _)| key.starts_with("tokenizer.")) {
            let value = if key == "tokenizer.ggml.pre" { Value::Text(pre.into()) } else { value.clone() };
            writer.entry(key, value);
        }
        let gguf = Gguf::read(&mut MemorySource::new(pre, writer.finish())).expect("a file of our own");
        // Qwen's composes characters first.
        (Tokenizer::read(&gguf, vocabulary).expect(pre), 264..267, pre != "qwen2")
    };
    let mut cases: Vec<Case> = ["gpt-2", "smollm", "qwen2", "llama-bpe", "tekken"].map(of).into();
    let mut writer = GgufWriter::new();
    for (key, value) in retort_fuzz::sentence_piece() {
        writer.entry(key, value);
    }
    let gguf = Gguf::read(&mut MemorySource::new("llama", writer.finish())).expect("a file of our own");
    // It puts a space before all text.
    cases.push((Tokenizer::read(&gguf, vocabulary).expect("llama"), 0..3, false));
    cases
});

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    for (tokenizer, special, is_exact) in &*CASES {
        assert!(tokenizer.spelling(special.end - 1).starts_with('<'));
        retort_fuzz::bounded(text.len(), || {
            let ids = tokenizer.encode_user(&text).expect("any text has tokens");
            assert!(!ids.iter().any(|id| special.contains(id)), "a special token of a person's text");
            let bytes: Vec<u8> = ids.iter().flat_map(|&id| tokenizer.bytes(id)).copied().collect();
            assert!(!is_exact || bytes == text.as_bytes(), "{bytes:?}");
            // Nor where the text stands between pieces of ours.
            let [first, last] = [special.start + 1, special.end - 1].map(|id| tokenizer.spelling(id));
            let around = Segments::new().template(first).user(text.clone()).template(last);
            let all = tokenizer.encode(&around).expect("any text has tokens");
            assert_eq!(all.iter().filter(|id| special.contains(id)).count(), 2);
            let _ = tokenizer.encode_template(&text);
        });
    }
});
