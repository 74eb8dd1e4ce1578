//! The smallest model, for targets that need one.

use retort_lm::config::Config;
use retort_lm::gguf::{Gguf, Value};
use retort_lm::quant::TensorType;
use retort_lm::tiny::{self, Shape};
use retort_lm::{ByteSource, MemorySource};

/// The smallest model there is.
#[must_use]
pub fn shape() -> Shape {
    Shape {
        width: 32,
        feed_forward: 32,
        layers: 1,
        heads: 2,
        kv_heads: 1,
        kind: Some(TensorType::Q4_0),
        ..Shape::default()
    }
}

/// A SentencePiece vocabulary of the tiny model's size, as metadata: three control tokens, all bytes, eight pieces.
#[must_use]
pub fn sentence_piece() -> Vec<(&'static str, Value)> {
    let pieces = ["\u{2581}", "t", "h", "e", "th", "the", "\u{2581}the", "\u{2581}\u{2581}"];
    let mut tokens = ["<unk>", "<s>", "</s>"].map(String::from).to_vec();
    tokens.extend((0..=255).map(|byte| format!("<0x{byte:02X}>")));
    tokens.extend(pieces.map(String::from));
    let mut types = vec![2.0, 3.0, 3.0];
    types.extend([6.0; 256]);
    types.extend([1.0; 8]);
    let scores = (0..tokens.len()).map(|id| -(id as f64)).collect();
    vec![
        ("tokenizer.ggml.model", Value::Text("llama".into())),
        ("tokenizer.ggml.tokens", Value::Texts(tokens)),
        ("tokenizer.ggml.scores", Value::Numbers(scores)),
        ("tokenizer.ggml.token_type", Value::Numbers(types)),
        ("tokenizer.ggml.bos_token_id", Value::Unsigned(1)),
        ("tokenizer.ggml.eos_token_id", Value::Unsigned(2)),
        ("tokenizer.ggml.unknown_token_id", Value::Unsigned(0)),
    ]
}

/// Its configuration.
///
/// # Panics
/// Never: it is a model of our own.
#[must_use]
pub fn config() -> Config {
    let mut source = MemorySource::new("tiny.gguf", tiny::gguf(shape(), 1));
    let gguf = Gguf::read(&mut source).expect("a model of our own");
    Config::read(&gguf, &mut source).expect("a model of our own")
}

/// Reads every tensor of at most `most_bytes` as a backend would, one after the other, and turns it into numbers.
pub fn read_tensors(gguf: &Gguf, source: &mut dyn ByteSource, most_bytes: u64) {
    for info in gguf.tensors() {
        let kind = TensorType::from_id(info.type_id);
        let fits = kind.and_then(|kind| info.byte_len(kind)).is_some_and(|len| len <= most_bytes);
        let mut bytes = Vec::new();
        if fits && let Ok(kind) = gguf.read_tensor(source, &info.name, &info.shape, &mut bytes) {
            let mut values = vec![0.0; info.shape.iter().product()];
            kind.dequantize(&bytes, &mut values);
        }
    }
}
