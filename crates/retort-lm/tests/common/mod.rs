//! The tiny model taken apart, so that a test can change one thing and put it together again.

use retort_lm::MemorySource;
use retort_lm::gguf::{Gguf, GgufWriter, Value};
use retort_lm::quant::TensorType;
use retort_lm::tiny::{Shape, gguf};

/// Every metadata key that the tiny model has.
pub(crate) const KEYS: [&str; 18] = [
    "general.architecture",
    "general.name",
    "llama.block_count",
    "llama.embedding_length",
    "llama.feed_forward_length",
    "llama.attention.head_count",
    "llama.attention.head_count_kv",
    "llama.context_length",
    "llama.rope.freq_base",
    "llama.attention.layer_norm_rms_epsilon",
    "tokenizer.ggml.model",
    "tokenizer.ggml.pre",
    "tokenizer.ggml.tokens",
    "tokenizer.ggml.merges",
    "tokenizer.ggml.token_type",
    "tokenizer.ggml.bos_token_id",
    "tokenizer.ggml.eos_token_id",
    "tokenizer.chat_template",
];

pub(crate) struct Parts {
    pub(crate) entries: Vec<(String, Value)>,
    pub(crate) tensors: Vec<(String, Vec<usize>, TensorType, Vec<u8>)>,
}

impl Parts {
    /// The smallest tiny model.
    pub(crate) fn tiny() -> Self {
        let shape =
            Shape { width: 32, feed_forward: 32, layers: 1, heads: 2, kv_heads: 1, ..Shape::default() };
        Self::of(shape)
    }

    /// The tiny model of this shape.
    pub(crate) fn of(shape: Shape) -> Self {
        let mut source = MemorySource::new("tiny.gguf", gguf(shape, 1));
        let gguf = Gguf::read(&mut source).unwrap();
        let entries = gguf.entries().map(|(key, value)| (key.to_owned(), value.clone())).collect();
        let tensors = gguf
            .tensors()
            .map(|info| {
                let mut bytes = Vec::new();
                let kind = gguf.read_tensor(&mut source, &info.name, &info.shape, &mut bytes).unwrap();
                (info.name.clone(), info.shape.clone(), kind, bytes)
            })
            .collect();
        Self { entries, tensors }
    }

    /// Sets or adds a metadata entry.
    pub(crate) fn with(mut self, key: &str, value: Value) -> Self {
        self = self.without(key);
        self.entries.push((key.to_owned(), value));
        self
    }

    pub(crate) fn without(mut self, key: &str) -> Self {
        self.entries.retain(|(other, _)| other != key);
        self
    }

    pub(crate) fn source(&self) -> MemorySource {
        let mut writer = GgufWriter::new();
        for (key, value) in &self.entries {
            writer.entry(key, value.clone());
        }
        for (name, shape, kind, bytes) in &self.tensors {
            writer.tensor(name, shape, *kind, bytes.clone());
        }
        MemorySource::new("tiny.gguf", writer.finish())
    }
}
