//! Any text of a person: no special token comes of it, and its tokens spell it again.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use retort_lm::gguf::{Gguf, GgufWriter, Value};
use retort_lm::tokenizer::Tokenizer;
use retort_lm::{MemorySource, Segments, tiny};

/// The tiny model's tokenizer, with every way of splitting text into words that is known.
static TOKENIZERS: LazyLock<Vec<Tokenizer>> = LazyLock::new(|| {
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
        Tokenizer::read(&gguf, vocabulary).expect(pre)
    };
    ["gpt-2", "smollm", "llama-bpe"].map(of).into()
});
/// The tiny model's last three tokens.
const SPECIAL: std::ops::Range<u32> = 264..267;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let tokenizers = &*TOKENIZERS;
    for tokenizer in tokenizers {
        assert!(tokenizer.spelling(SPECIAL.start).starts_with("<|"));
        retort_fuzz::bounded(text.len(), || {
            let ids = tokenizer.encode_user(&text).expect("any text has tokens");
            assert!(!ids.iter().any(|id| SPECIAL.contains(id)), "a special token of a person's text");
            let bytes: Vec<u8> = ids.iter().flat_map(|&id| tokenizer.bytes(id)).copied().collect();
            assert_eq!(bytes, text.as_bytes());
            // Nor where the text stands between pieces of ours.
            let around = Segments::new().template("<|im_start|>").user(text.clone()).template("<|im_end|>");
            let all = tokenizer.encode(&around).expect("any text has tokens");
            assert_eq!(all.iter().filter(|id| SPECIAL.contains(id)).count(), 2);
            let _ = tokenizer.encode_template(&text);
        });
    }
});
