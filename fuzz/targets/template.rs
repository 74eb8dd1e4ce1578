//! Any chat template, as a stranger's model file may hold it.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use retort_lm::gguf::{Gguf, GgufWriter, Value};
use retort_lm::template::ChatTemplate;
use retort_lm::tokenizer::Tokenizer;
use retort_lm::{MemorySource, Segments, tiny};

static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(|| {
    let mut source = MemorySource::new("tiny.gguf", tiny::gguf(retort_fuzz::shape(), 1));
    let gguf = Gguf::read(&mut source).expect("a model of our own");
    Tokenizer::read(&gguf, 267).expect("a model of our own")
});

fuzz_target!(|data: &[u8]| {
    let template = String::from_utf8_lossy(data).into_owned();
    // Known: one that is put into itself and printed exhausts the stack inside the template engine (README.md).
    if template.contains("namespace") {
        return;
    }
    let mut writer = GgufWriter::new();
    writer.entry("tokenizer.chat_template", Value::Text(template));
    let mut source = MemorySource::new("fuzz.gguf", writer.finish());
    let tokenizer = &*TOKENIZER;
    retort_fuzz::bounded(data.len(), || {
        let gguf = Gguf::read(&mut source).expect("a file of our own");
        let Ok(template) = ChatTemplate::read(&gguf, tokenizer) else { return };
        let _ = template.turn(Some(&Segments::new().template("Be brief.")));
        let _ = template.exchange();
    });
});
