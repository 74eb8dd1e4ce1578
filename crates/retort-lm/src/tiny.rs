//! A model of a few hundred kilobytes with random weights: nonsense as a judge, but a whole model file, with
//! tokenizer and chat template, that tests can write for themselves.

use half::f16;

use crate::gguf::{GgufWriter, Value};
use crate::quant::TensorType;
use crate::tokenizer::byte_alphabet;

/// What the tiny model looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Components of the residual stream; a multiple of 32.
    pub width: usize,
    /// Components inside the feed-forward blocks; a multiple of 32.
    pub feed_forward: usize,
    /// Query heads.
    pub heads: usize,
    /// Key/value heads.
    pub kv_heads: usize,
    /// Transformer blocks.
    pub layers: usize,
    /// Whether the output layer is a matrix of its own.
    pub untied: bool,
    /// Format of every matrix; `None` takes all formats in turn.
    pub kind: Option<TensorType>,
    /// Tokens that the model claims to hold.
    pub context: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            width: 64,
            feed_forward: 96,
            heads: 4,
            kv_heads: 2,
            layers: 2,
            untied: false,
            kind: None,
            context: 8192,
        }
    }
}

/// The template of the tiny model: ChatML.
const TEMPLATE: &str = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] \
     + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/// The bytes of a GGUF file with random weights from `seed`.
#[must_use]
pub fn gguf(shape: Shape, seed: u64) -> Vec<u8> {
    let mut tokens: Vec<String> = byte_alphabet().iter().map(char::to_string).collect();
    let merges = ["t h", "th e", "i n", "Ġ a", "Ġ th", "e r", "o n", "Ġ Ġ"];
    tokens.extend(merges.iter().map(|merge| merge.replace(' ', "")));
    let special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
    let first_special = tokens.len();
    tokens.extend(special.iter().map(ToString::to_string));
    let vocabulary = tokens.len();
    let types = (0..vocabulary).map(|id| if id >= first_special { 3.0 } else { 1.0 }).collect();

    let mut file = GgufWriter::new();
    let count = |n: usize| Value::Unsigned(n as u64);
    file.entry("general.architecture", Value::Text("llama".into()))
        .entry("general.name", Value::Text("Tiny random model".into()))
        .entry("llama.block_count", count(shape.layers))
        .entry("llama.embedding_length", count(shape.width))
        .entry("llama.feed_forward_length", count(shape.feed_forward))
        .entry("llama.attention.head_count", count(shape.heads))
        .entry("llama.attention.head_count_kv", count(shape.kv_heads))
        .entry("llama.context_length", count(shape.context))
        .entry("llama.rope.freq_base", Value::Float(10_000.0))
        .entry("llama.attention.layer_norm_rms_epsilon", Value::Float(1e-5))
        .entry("tokenizer.ggml.model", Value::Text("gpt2".into()))
        .entry("tokenizer.ggml.pre", Value::Text("smollm".into()))
        .entry("tokenizer.ggml.tokens", Value::Texts(tokens))
        .entry("tokenizer.ggml.merges", Value::Texts(merges.map(String::from).to_vec()))
        .entry("tokenizer.ggml.token_type", Value::Numbers(types))
        .entry("tokenizer.ggml.bos_token_id", count(first_special + 1))
        .entry("tokenizer.ggml.eos_token_id", count(first_special + 2))
        .entry("tokenizer.chat_template", Value::Text(TEMPLATE.into()));

    let mut weights = Weights { kind: shape.kind, state: seed, made: 0 };
    let (width, ff) = (shape.width, shape.feed_forward);
    let kv = width / shape.heads * shape.kv_heads;
    weights.matrix(&mut file, "token_embd.weight", width, vocabulary);
    for layer in 0..shape.layers {
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        weights.norm(&mut file, &name("attn_norm"), width);
        weights.matrix(&mut file, &name("attn_q"), width, width);
        weights.matrix(&mut file, &name("attn_k"), width, kv);
        weights.matrix(&mut file, &name("attn_v"), width, kv);
        weights.matrix(&mut file, &name("attn_output"), width, width);
        weights.norm(&mut file, &name("ffn_norm"), width);
        weights.matrix(&mut file, &name("ffn_gate"), width, ff);
        weights.matrix(&mut file, &name("ffn_up"), width, ff);
        weights.matrix(&mut file, &name("ffn_down"), ff, width);
    }
    weights.norm(&mut file, "output_norm.weight", width);
    if shape.untied {
        weights.matrix(&mut file, "output.weight", width, vocabulary);
    }
    file.finish()
}

struct Weights {
    kind: Option<TensorType>,
    state: u64,
    made: usize,
}

impl Weights {
    /// A byte from a linear congruential generator (Knuth's constants).
    fn byte(&mut self) -> u8 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 56) as u8
    }

    /// About uniform in [-1, 1).
    fn unit(&mut self) -> f32 {
        f32::from(self.byte()) / 128.0 - 1.0
    }

    fn norm(&mut self, file: &mut GgufWriter, name: &str, len: usize) {
        let bytes = (0..len).flat_map(|_| (1.0 + 0.1 * self.unit()).to_le_bytes()).collect();
        file.tensor(name, &[len], TensorType::F32, bytes);
    }

    fn matrix(&mut self, file: &mut GgufWriter, name: &str, inputs: usize, outputs: usize) {
        let kinds = crate::quant::SUPPORTED;
        let kind = self.kind.unwrap_or(kinds[self.made % kinds.len()]);
        self.made += 1;
        // Weights of about ±1/sqrt(inputs) keep activations near 1.
        let size = 1.7 / (inputs as f32).sqrt();
        let mut bytes = Vec::new();
        for _ in 0..inputs * outputs / kind.block_weights() {
            let scale = size * (1.0 + 0.3 * self.unit());
            match kind {
                TensorType::F32 => bytes.extend((size * self.unit()).to_le_bytes()),
                TensorType::F16 => bytes.extend(f16::from_f32(size * self.unit()).to_le_bytes()),
                TensorType::Bf16 => bytes.extend(half::bf16::from_f32(size * self.unit()).to_le_bytes()),
                TensorType::Q4_0 => bytes.extend(f16::from_f32(scale / 8.0).to_le_bytes()),
                TensorType::Q4_1 => {
                    bytes.extend(f16::from_f32(scale / 7.5).to_le_bytes());
                    bytes.extend(f16::from_f32(-scale).to_le_bytes());
                }
                TensorType::Q8_0 => bytes.extend(f16::from_f32(scale / 128.0).to_le_bytes()),
            }
            let packed = match kind {
                TensorType::Q4_0 | TensorType::Q4_1 => 16,
                TensorType::Q8_0 => 32,
                _ => 0,
            };
            bytes.extend((0..packed).map(|_| self.byte()));
        }
        file.tensor(name, &[inputs, outputs], kind, bytes);
    }
}
