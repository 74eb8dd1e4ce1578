//! A model of a few hundred kilobytes with random weights: nonsense as a judge, but a whole model file, with
//! tokenizer and chat template, that tests can write for themselves.

use half::f16;

use crate::LmError;
use crate::gguf::{GgufWriter, Value};
use crate::quant::TensorType;
use crate::tokenizer::byte_alphabet;

/// What the tiny model looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// As the file names it: one of [`ARCHITECTURES`]. Norms that the architecture has are written, and tensors are fused
    /// where its are; biases, factors, windows and caps only where asked for below.
    pub architecture: &'static str,
    /// Components of the residual stream; a multiple of 32.
    pub width: usize,
    /// Components inside the feed-forward blocks; a multiple of 32.
    pub feed_forward: usize,
    /// Query heads.
    pub heads: usize,
    /// Key/value heads.
    pub kv_heads: usize,
    /// Components of a head where they are not `width / heads`; even.
    pub head_size: Option<usize>,
    /// Transformer blocks.
    pub layers: usize,
    /// Whether the output layer is a matrix of its own.
    pub untied: bool,
    /// Format of every matrix; `None` takes all formats in turn. Where rows are not whole blocks it is Q8_0 or F16.
    pub kind: Option<TensorType>,
    /// With which of all formats the turn begins.
    pub first_kind: usize,
    /// Tokens that the model claims to hold.
    pub context: usize,
    /// Whether queries, keys and values have biases.
    pub biases: bool,
    /// Base of the rotary frequencies, outside of windows.
    pub rotary_base: f64,
    /// Whether there is a table of rotary factors, as Llama 3.1 has; of a `phi3` model two tables, by the text's length.
    pub rotary_factors: bool,
    /// Cosines and sines are multiplied by this; 1 leaves it out.
    pub rotary_scale: f64,
    /// Tokens that the model held before it was extended; 0 leaves it out.
    pub original_context: usize,
    /// Linear rotary scaling by this factor; 1 leaves it out.
    pub rotary_divisor: f64,
    /// Tokens of the sliding window; 0 leaves it out.
    pub window: usize,
    /// Caps of attention scores and logits; 0 leaves them out.
    pub caps: (f64, f64),
    /// Outputs of a rank or classification head; 0 leaves it out.
    pub head_outputs: usize,
    /// Whether the head has a layer of its own between.
    pub head_inner: bool,
    /// Which tokenizer the file carries.
    pub vocabulary: Vocabulary,
}

/// The architectures of which there are tiny models: all that the engine runs.
pub const ARCHITECTURES: [&str; 6] = ["llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi3"];

/// A tiny model's tokenizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vocabulary {
    /// A token of each byte, eight merges, ChatML.
    ByteLevel,
    /// Pieces with scores, a token of each byte, turns as Gemma writes them.
    SentencePiece,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            architecture: "llama",
            width: 64,
            feed_forward: 96,
            heads: 4,
            kv_heads: 2,
            head_size: None,
            layers: 2,
            untied: false,
            kind: None,
            first_kind: 0,
            context: 8192,
            biases: false,
            rotary_base: 10_000.0,
            rotary_factors: false,
            rotary_scale: 1.0,
            original_context: 0,
            rotary_divisor: 1.0,
            window: 0,
            caps: (0.0, 0.0),
            head_outputs: 0,
            head_inner: false,
            vocabulary: Vocabulary::ByteLevel,
        }
    }
}

impl Shape {
    /// The shape with one option of the example `tiny-gguf` set, such as `layers` and `7`.
    ///
    /// # Errors
    /// [`LmError::Question`] for an option that there is not, or a value that does not fit it.
    pub fn with(mut self, option: &str, value: &str) -> Result<Self, LmError> {
        fn parsed<T: std::str::FromStr>(option: &str, value: &str) -> Result<T, LmError> {
            let problem = || format!("\"{value}\" is no value of the tiny model's option \"{option}\"");
            value.parse().map_err(|_| LmError::Question { problem: problem() })
        }
        let count = || parsed::<usize>(option, value);
        let flag = || parsed::<bool>(option, value);
        let unknown = || LmError::Question {
            problem: format!("the tiny model has no option \"{option}\" with the value \"{value}\""),
        };
        match option {
            "architecture" => {
                let known = ARCHITECTURES.into_iter().find(|name| *name == value);
                self.architecture = known.ok_or_else(unknown)?;
            }
            "width" => self.width = count()?,
            "feed-forward" => self.feed_forward = count()?,
            "heads" => self.heads = count()?,
            "kv-heads" => self.kv_heads = count()?,
            "head-size" => self.head_size = Some(count()?),
            "layers" => self.layers = count()?,
            "untied" => self.untied = flag()?,
            "kind" => {
                let kind = crate::quant::SUPPORTED.into_iter().find(|kind| kind.name() == value);
                self.kind = Some(kind.ok_or_else(unknown)?);
            }
            // Every format in turn, beginning with this one.
            "kinds-from" => (self.kind, self.first_kind) = (None, count()?),
            "context" => self.context = count()?,
            "biases" => self.biases = flag()?,
            "base" => self.rotary_base = parsed(option, value)?,
            "factors" => self.rotary_factors = flag()?,
            "scale" => self.rotary_scale = parsed(option, value)?,
            "original-context" => self.original_context = count()?,
            "divisor" => self.rotary_divisor = parsed(option, value)?,
            "window" => self.window = count()?,
            "caps" => {
                let (scores, logits) = value.split_once(',').ok_or_else(unknown)?;
                self.caps = (parsed(option, scores)?, parsed(option, logits)?);
            }
            "head-outputs" => self.head_outputs = count()?,
            "head-inner" => self.head_inner = flag()?,
            "vocabulary" => {
                self.vocabulary = match value {
                    "byte-level" => Vocabulary::ByteLevel,
                    "sentence-piece" => Vocabulary::SentencePiece,
                    _ => return Err(unknown()),
                }
            }
            _ => return Err(unknown()),
        }
        Ok(self)
    }

    /// Components of a head.
    #[must_use]
    pub fn head(&self) -> usize {
        self.head_size.unwrap_or(self.width / self.heads)
    }
}

/// What the low-rank adapter for a tiny model looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdapterShape {
    /// Rows of A.
    pub rank: usize,
    /// Divided by the rank, the scale.
    pub alpha: f64,
    /// The matrices that it changes, by their names within a block, in every block; where they are fused, all that
    /// share a tensor with one of these.
    pub targets: &'static [&'static str],
}

impl Default for AdapterShape {
    fn default() -> Self {
        let targets = &["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"];
        Self { rank: 4, alpha: 8.0, targets }
    }
}

/// The template of the tiny model: ChatML.
const TEMPLATE: &str = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] \
     + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/// The template of the tiny model with the other tokenizer: turns without a system role.
const TURNS: &str = "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}\
     {{ raise_exception('there is no system role') }}{% endif %}{{ '<start_of_turn>' + message['role'] + '\n' \
     + message['content'] + '<end_of_turn>\n' }}{% endfor %}{% if add_generation_prompt %}\
     {{ '<start_of_turn>model\n' }}{% endif %}";

/// The bytes of a GGUF file with random weights from `seed`.
#[must_use]
pub fn gguf(shape: Shape, seed: u64) -> Vec<u8> {
    writer(shape, seed).finish()
}

/// The same, not yet written: whole or split.
#[must_use]
pub fn writer(shape: Shape, seed: u64) -> GgufWriter {
    let mut file = GgufWriter::new();
    let count = |n: usize| Value::Unsigned(n as u64);
    let architecture = shape.architecture;
    let key = |suffix: &str| format!("{architecture}.{suffix}");
    file.entry("general.architecture", Value::Text(architecture.into()))
        .entry("general.name", Value::Text("Tiny random model".into()))
        .entry(&key("block_count"), count(shape.layers))
        .entry(&key("embedding_length"), count(shape.width))
        .entry(&key("feed_forward_length"), count(shape.feed_forward))
        .entry(&key("attention.head_count"), count(shape.heads))
        .entry(&key("attention.head_count_kv"), count(shape.kv_heads))
        .entry(&key("context_length"), count(shape.context))
        .entry(&key("rope.freq_base"), Value::Float(shape.rotary_base))
        .entry(&key("attention.layer_norm_rms_epsilon"), Value::Float(1e-5));
    let vocabulary = match shape.vocabulary {
        Vocabulary::ByteLevel => byte_level(&mut file),
        Vocabulary::SentencePiece => sentence_piece(&mut file),
    };
    if let Some(size) = shape.head_size {
        file.entry(&key("attention.key_length"), count(size));
        file.entry(&key("attention.value_length"), count(size));
    }
    #[expect(clippy::float_cmp, reason = "1 stands for no scaling")]
    if shape.rotary_divisor != 1.0 {
        file.entry(&key("rope.scaling.type"), Value::Text("linear".into()));
        file.entry(&key("rope.scaling.factor"), Value::Float(shape.rotary_divisor));
    }
    #[expect(clippy::float_cmp, reason = "1 stands for no scaling")]
    if shape.rotary_scale != 1.0 {
        file.entry(&key("rope.scaling.attn_factor"), Value::Float(shape.rotary_scale));
    }
    if shape.original_context > 0 {
        file.entry(&key("rope.scaling.original_context_length"), count(shape.original_context));
    }
    if shape.window > 0 {
        file.entry(&key("attention.sliding_window"), count(shape.window));
    }
    if shape.caps.0 > 0.0 {
        file.entry(&key("attn_logit_softcapping"), Value::Float(shape.caps.0));
    }
    if shape.caps.1 > 0.0 {
        file.entry(&key("final_logit_softcapping"), Value::Float(shape.caps.1));
    }
    if shape.head_outputs > 0 {
        file.entry(&key("pooling_type"), count(4));
    }

    let mut weights = Weights { kind: shape.kind, state: seed, made: shape.first_kind };
    let (width, ff) = (shape.width, shape.feed_forward);
    let (q, kv) = (shape.heads * shape.head(), shape.kv_heads * shape.head());
    let head_norms = matches!(architecture, "qwen3" | "gemma3");
    let post_norms = matches!(architecture, "gemma2" | "gemma3");
    let fused = architecture == "phi3";
    weights.matrix(&mut file, "token_embd.weight", width, vocabulary);
    if shape.rotary_factors {
        // From 1 for the fastest pair to 8 for the slowest, as in Llama 3.1.
        let pairs = shape.head() / 2;
        let factors = |most: f32| {
            let factor = |i| 1.0 + (most - 1.0) * i as f32 / pairs as f32;
            (0..pairs).flat_map(|i| factor(i).to_le_bytes()).collect()
        };
        let tables: &[(&str, f32)] = match fused {
            true => &[("rope_factors_long.weight", 32.0), ("rope_factors_short.weight", 8.0)],
            false => &[("rope_freqs.weight", 8.0)],
        };
        for (name, most) in tables {
            file.tensor(name, &[pairs], TensorType::F32, factors(*most));
        }
    }
    for layer in 0..shape.layers {
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        weights.norm(&mut file, &name("attn_norm"), width);
        if fused {
            weights.matrix(&mut file, &name("attn_qkv"), width, q + 2 * kv);
        } else {
            weights.matrix(&mut file, &name("attn_q"), width, q);
            weights.matrix(&mut file, &name("attn_k"), width, kv);
            weights.matrix(&mut file, &name("attn_v"), width, kv);
        }
        if shape.biases {
            for (part, len) in [("attn_q", q), ("attn_k", kv), ("attn_v", kv)] {
                weights.vector(&mut file, &format!("blk.{layer}.{part}.bias"), len, 0.0, 0.3);
            }
        }
        if head_norms {
            weights.norm(&mut file, &name("attn_q_norm"), shape.head());
            weights.norm(&mut file, &name("attn_k_norm"), shape.head());
        }
        weights.matrix(&mut file, &name("attn_output"), q, width);
        if post_norms {
            weights.norm(&mut file, &name("post_attention_norm"), width);
        }
        weights.norm(&mut file, &name("ffn_norm"), width);
        if fused {
            weights.matrix(&mut file, &name("ffn_up"), width, 2 * ff);
        } else {
            weights.matrix(&mut file, &name("ffn_gate"), width, ff);
            weights.matrix(&mut file, &name("ffn_up"), width, ff);
        }
        weights.matrix(&mut file, &name("ffn_down"), ff, width);
        if post_norms {
            weights.norm(&mut file, &name("post_ffw_norm"), width);
        }
    }
    weights.norm(&mut file, "output_norm.weight", width);
    if shape.untied {
        weights.matrix(&mut file, "output.weight", width, vocabulary);
    }
    if shape.head_outputs > 0 {
        if shape.head_inner {
            weights.matrix(&mut file, "cls.weight", width, width);
            weights.vector(&mut file, "cls.bias", width, 0.0, 0.3);
        }
        weights.matrix(&mut file, "cls.output.weight", width, shape.head_outputs);
        weights.vector(&mut file, "cls.output.bias", shape.head_outputs, 0.0, 0.3);
    }
    file
}

/// Writes the byte-level tokenizer; gives the number of its tokens.
fn byte_level(file: &mut GgufWriter) -> usize {
    let mut tokens: Vec<String> = byte_alphabet().iter().map(char::to_string).collect();
    let merges = ["t h", "th e", "i n", "Ġ a", "Ġ th", "e r", "o n", "Ġ Ġ"];
    tokens.extend(merges.iter().map(|merge| merge.replace(' ', "")));
    let special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
    let first_special = tokens.len();
    tokens.extend(special.iter().map(ToString::to_string));
    let vocabulary = tokens.len();
    let types = (0..vocabulary).map(|id| if id >= first_special { 3.0 } else { 1.0 }).collect();
    file.entry("tokenizer.ggml.model", Value::Text("gpt2".into()))
        .entry("tokenizer.ggml.pre", Value::Text("smollm".into()))
        .entry("tokenizer.ggml.tokens", Value::Texts(tokens))
        .entry("tokenizer.ggml.merges", Value::Texts(merges.map(String::from).to_vec()))
        .entry("tokenizer.ggml.token_type", Value::Numbers(types))
        .entry("tokenizer.ggml.bos_token_id", Value::Unsigned(first_special as u64 + 1))
        .entry("tokenizer.ggml.eos_token_id", Value::Unsigned(first_special as u64 + 2))
        .entry("tokenizer.chat_template", Value::Text(TEMPLATE.into()));
    vocabulary
}

/// Writes the SentencePiece tokenizer; gives the number of its tokens.
fn sentence_piece(file: &mut GgufWriter) -> usize {
    let mut tokens: Vec<(String, f64, f64)> = Vec::new();
    for (text, kind) in [("<unk>", 2.0), ("<s>", 3.0), ("</s>", 3.0), ("<end_of_turn>", 3.0)] {
        tokens.push((text.into(), -1000.0, kind));
    }
    // Added tokens: pieces of text, and one that steers the model though its type does not say so.
    for text in ["\n", "\n\n", "  ", "   ", "    ", "<b>", "</b>", "<start_of_turn>"] {
        tokens.push((text.into(), -1000.0, 4.0));
    }
    tokens.extend((0..=255).map(|byte| (format!("<0x{byte:02X}>"), 0.0, 6.0)));
    // Two of them have one score, so that their places decide.
    let longer = [
        ("▁t", -0.0),
        ("he", -1.0),
        ("▁a", -2.0),
        ("▁the", -3.0),
        ("in", -4.0),
        ("th", -5.0),
        ("er", -6.0),
        ("on", -7.0),
        ("ng", -8.0),
        ("ing", -9.0),
        ("aa", -10.0),
        ("aaa", -11.0),
        ("aaaa", -11.0),
        ("▁1", -12.0),
        ("</", -13.0),
        ("s>", -14.0),
        ("</s", -15.0),
    ];
    tokens.extend(longer.map(|(text, score)| (text.to_owned(), score, 1.0)));
    let letters = ('a'..='z').chain('A'..='Z').chain('0'..='9').chain("▁.,:!?<>/'\"-é—日".chars());
    tokens.extend(
        letters.zip(0u32..).map(|(letter, index)| (letter.to_string(), -100.0 - f64::from(index), 1.0)),
    );
    let vocabulary = tokens.len();
    let of = |part: fn(&(String, f64, f64)) -> f64| Value::Numbers(tokens.iter().map(part).collect());
    let (scores, types) = (of(|token| token.1), of(|token| token.2));
    file.entry("tokenizer.ggml.model", Value::Text("llama".into()))
        .entry("tokenizer.ggml.pre", Value::Text("default".into()))
        .entry("tokenizer.ggml.scores", scores)
        .entry("tokenizer.ggml.token_type", types)
        .entry("tokenizer.ggml.tokens", Value::Texts(tokens.into_iter().map(|token| token.0).collect()))
        .entry("tokenizer.ggml.bos_token_id", Value::Unsigned(1))
        .entry("tokenizer.ggml.eos_token_id", Value::Unsigned(2))
        .entry("tokenizer.ggml.unknown_token_id", Value::Unsigned(0))
        .entry("tokenizer.chat_template", Value::Text(TURNS.into()));
    vocabulary
}

/// The bytes of an adapter for such a model, with random weights from `seed`.
#[must_use]
pub fn adapter_gguf(shape: Shape, adapter: AdapterShape, seed: u64) -> Vec<u8> {
    adapter_writer(shape, adapter, seed).finish()
}

/// The same adapter before it is written, for tests that change its metadata.
#[must_use]
pub fn adapter_writer(shape: Shape, adapter: AdapterShape, seed: u64) -> GgufWriter {
    let mut file = GgufWriter::new();
    file.entry("general.type", Value::Text("adapter".into()))
        .entry("general.architecture", Value::Text(shape.architecture.into()))
        .entry("general.name", Value::Text("Tiny random adapter".into()))
        .entry("adapter.type", Value::Text("lora".into()))
        .entry("adapter.lora.alpha", Value::Float(adapter.alpha));
    let mut weights = Weights { kind: Some(TensorType::F32), state: seed, made: 0 };
    let (q, kv) = (shape.heads * shape.head(), shape.kv_heads * shape.head());
    for layer in 0..shape.layers {
        let mut written = Vec::new();
        for target in adapter.targets {
            let (tensor, inputs, outputs) = match (shape.architecture, *target) {
                ("phi3", "attn_q" | "attn_k" | "attn_v") => ("attn_qkv", shape.width, q + 2 * kv),
                ("phi3", "ffn_gate" | "ffn_up") => ("ffn_up", shape.width, 2 * shape.feed_forward),
                (_, "attn_q") => ("attn_q", shape.width, q),
                (_, "attn_k" | "attn_v") => (*target, shape.width, kv),
                (_, "attn_output") => ("attn_output", q, shape.width),
                (_, "ffn_down") => ("ffn_down", shape.feed_forward, shape.width),
                _ => (*target, shape.width, shape.feed_forward),
            };
            if written.contains(&tensor) {
                continue;
            }
            written.push(tensor);
            let stem = format!("blk.{layer}.{tensor}.weight");
            weights.matrix(&mut file, &format!("{stem}.lora_a"), inputs, adapter.rank);
            weights.matrix(&mut file, &format!("{stem}.lora_b"), adapter.rank, outputs);
        }
    }
    file
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
        self.vector(file, name, len, 1.0, 0.1);
    }

    /// Numbers around `middle`, at most `spread` away.
    fn vector(&mut self, file: &mut GgufWriter, name: &str, len: usize, middle: f32, spread: f32) {
        let bytes = (0..len).flat_map(|_| (middle + spread * self.unit()).to_le_bytes()).collect();
        file.tensor(name, &[len], TensorType::F32, bytes);
    }

    fn matrix(&mut self, file: &mut GgufWriter, name: &str, inputs: usize, outputs: usize) {
        let kinds = crate::quant::SUPPORTED;
        let wanted = self.kind.unwrap_or(kinds[self.made % kinds.len()]);
        let fits = |kind: &TensorType| inputs.is_multiple_of(kind.block_weights());
        let kind = [wanted, TensorType::Q8_0].into_iter().find(fits).unwrap_or(TensorType::F16);
        self.made += 1;
        let blocks = self.blocks(kind, inputs, outputs);
        file.tensor(name, &[inputs, outputs], kind, blocks);
    }

    /// Blocks of a format: weights of about ±1/√inputs, which keep activations near 1.
    fn blocks(&mut self, kind: TensorType, inputs: usize, outputs: usize) -> Vec<u8> {
        let size = 1.7 / (inputs as f32).sqrt();
        let half = |x: f32| f16::from_f32(x).to_le_bytes();
        let mut bytes = Vec::new();
        for _ in 0..inputs * outputs / kind.block_weights() {
            let scale = size * (1.0 + 0.3 * self.unit());
            // Everything random first; then the scales, at their places, so that weights have the size wanted.
            let start = bytes.len();
            bytes.extend((0..kind.block_bytes()).map(|_| self.byte()));
            let block = &mut bytes[start..];
            let mut put = |at: usize, value: [u8; 2]| block[at..at + 2].copy_from_slice(&value);
            match kind {
                TensorType::F32 => block.copy_from_slice(&(size * self.unit()).to_le_bytes()),
                TensorType::F16 => put(0, half(size * self.unit())),
                TensorType::Bf16 => put(0, half::bf16::from_f32(size * self.unit()).to_le_bytes()),
                TensorType::Q4_0 => put(0, half(scale / 8.0)),
                TensorType::Q4_1 => {
                    put(0, half(scale / 7.5));
                    put(2, half(-scale));
                }
                TensorType::Q5_0 => put(0, half(scale / 16.0)),
                TensorType::Q5_1 => {
                    put(0, half(scale / 15.5));
                    put(2, half(-scale));
                }
                TensorType::Q8_0 => put(0, half(scale / 128.0)),
                // Scales and minima of groups are 0 to 15 and weights 0 to 3.
                TensorType::Q2K => {
                    put(80, half(scale / 22.0));
                    put(82, half(scale / 15.0));
                }
                // Scales of groups are -32 to 31 and weights -4 to 3.
                TensorType::Q3K => put(108, half(scale / 64.0)),
                // Scales and minima of groups are 0 to 63 and weights 0 to 15.
                TensorType::Q4K => {
                    put(0, half(scale / 480.0));
                    put(2, half(scale / 63.0));
                }
                TensorType::Q5K => {
                    put(0, half(scale / 960.0));
                    put(2, half(scale / 63.0));
                }
                // Scales of groups are -128 to 127 and weights -32 to 31.
                TensorType::Q6K => put(208, half(scale / 2048.0)),
            }
        }
        bytes
    }
}
