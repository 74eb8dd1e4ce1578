//! What a model's metadata says about its shape: architectures as data.

use crate::gguf::{Gguf, type_name};
use crate::{ByteSource, LmError};

/// Factors of the rotary frequencies, one per pair.
const ROTARY_FACTORS: &str = "rope_freqs.weight";
/// The same, for texts no longer than the context that the model had before it was extended (LongRoPE, Ding et al. 2024).
const SHORT_FACTORS: &str = "rope_factors_short.weight";
/// And for longer ones; these are not read, see [`Config::context`].
const LONG_FACTORS: &str = "rope_factors_long.weight";

/// Which two components of a head the rotary embedding turns together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RotaryPairing {
    /// `(2i, 2i + 1)`: Llama files, whose query and key rows the GGUF converter has permuted.
    Neighbours,
    /// `(i, i + d/2)`: Qwen2 and most others.
    Halves,
}

/// What the feed-forward block does between its two halves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// `silu(gate) × up` (Shazeer 2020).
    SwiGlu,
    /// `gelu(gate) × up`, with the tangent approximation of GELU (Hendrycks and Gimpel 2016).
    GeGlu,
}

/// An architecture that this engine runs, as data.
struct Architecture {
    name: &'static str,
    pairing: RotaryPairing,
    activation: Activation,
    /// Queries and keys are normed head by head before they are turned.
    head_norms: bool,
    /// What attention and feed-forward give is normed once more before it is added.
    post_norms: bool,
    /// Embeddings are multiplied by the square root of the width.
    scaled_embedding: bool,
    /// Whether the file keeps queries, keys and values in one tensor, and gate and up in another.
    fused: bool,
    /// Which layers have a sliding window if the file gives its size.
    windows: Windows,
    /// The number of layers of the one size whose scores are divided by `√(width / heads)`.
    odd_scale_layers: usize,
}

/// Which layers of an architecture see only a sliding window.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Windows {
    Never,
    /// Each.
    Always,
    /// Each but one in so many, which sees everything; those with a window have a rotary embedding of their own.
    ExceptOneIn(usize),
}

const PLAIN: Architecture = Architecture {
    name: "llama",
    pairing: RotaryPairing::Neighbours,
    activation: Activation::SwiGlu,
    head_norms: false,
    post_norms: false,
    scaled_embedding: false,
    fused: false,
    windows: Windows::Never,
    odd_scale_layers: 0,
};

/// Mistral and SmolLM2 files call themselves `llama`; Qwen2.5 files `qwen2`. Biases are wherever a file has them.
const ARCHITECTURES: [Architecture; 6] = [
    PLAIN,
    Architecture { name: "qwen2", pairing: RotaryPairing::Halves, ..PLAIN },
    Architecture { name: "qwen3", pairing: RotaryPairing::Halves, head_norms: true, ..PLAIN },
    Architecture {
        name: "gemma2",
        pairing: RotaryPairing::Halves,
        activation: Activation::GeGlu,
        head_norms: false,
        post_norms: true,
        scaled_embedding: true,
        windows: Windows::ExceptOneIn(2),
        odd_scale_layers: 46,
        ..PLAIN
    },
    Architecture {
        name: "gemma3",
        pairing: RotaryPairing::Halves,
        activation: Activation::GeGlu,
        head_norms: true,
        post_norms: true,
        scaled_embedding: true,
        windows: Windows::ExceptOneIn(6),
        odd_scale_layers: 62,
        ..PLAIN
    },
    Architecture {
        name: "phi3",
        pairing: RotaryPairing::Halves,
        fused: true,
        // As the models were trained. llama.cpp reads none, since files of other models carry sizes that are none.
        windows: Windows::Always,
        ..PLAIN
    },
];

/// The frequencies of a rotary embedding.
#[derive(Debug, Clone, PartialEq)]
pub struct Rotary {
    /// Base of the frequencies.
    pub base: f32,
    /// Every angle is divided by this (linear scaling, Chen et al. 2023); 1 without scaling.
    pub divisor: f32,
    /// Each frequency is divided by its own factor besides (Llama 3.1 and later, Phi-3); one per pair, or none.
    pub factors: Vec<f32>,
    /// Cosines and sines are multiplied by this, so that scores keep their spread over an extended context (LongRoPE's
    /// attention factor); 1 in most models.
    pub scale: f32,
}

/// Layers that see only a sliding window of tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// A token sees itself and the `size - 1` tokens before it on its path.
    pub size: usize,
    /// Layer `i` sees everything if `(i + 1)` is a multiple of this, and its window otherwise; 0 where no layer does.
    pub period: usize,
    /// The rotary embedding of layers with a window.
    pub rotary: Rotary,
}

/// A model's dimensions and constants.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// As the file names it, for example `llama`.
    pub architecture: String,
    /// The model's own name, or the file's.
    pub model_name: String,
    /// Transformer blocks.
    pub layers: usize,
    /// Components of the residual stream.
    pub width: usize,
    /// Components inside the feed-forward blocks.
    pub feed_forward: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads; divides `heads`.
    pub kv_heads: usize,
    /// Components of a head.
    pub head_size: usize,
    /// Components of a head that the rotary embedding turns; even.
    pub rotary_size: usize,
    /// The rotary embedding of layers that see everything.
    pub rotary: Rotary,
    /// Layers with a sliding window, in architectures that have them. None where each layer's window is as long as the
    /// context.
    pub window: Option<Window>,
    /// Which components are turned together.
    pub pairing: RotaryPairing,
    /// Whether the file keeps queries, keys and values in one tensor (`attn_qkv`), and gate and up in another (`ffn_up`);
    /// see [`Stack`](crate::matrices::Stack).
    pub fused: bool,
    /// Added to the mean square in RMS norms.
    pub norm_epsilon: f32,
    /// Between the halves of the feed-forward block.
    pub activation: Activation,
    /// Whether queries and keys are normed head by head (`attn_q_norm`, `attn_k_norm`) before they are turned.
    pub head_norms: bool,
    /// Whether `post_attention_norm` and `post_ffw_norm` stand before the two additions to the residual stream.
    pub post_norms: bool,
    /// Embeddings are multiplied by this; 1 in most architectures.
    pub embedding_scale: f32,
    /// Attention scores are multiplied by this; usually `1 / √head size`.
    pub attention_scale: f32,
    /// Attention scores become `cap × tanh(score / cap)` after scaling, where there is a cap.
    pub attention_cap: Option<f32>,
    /// Logits become `cap × tanh(logit / cap)`, where there is a cap.
    pub logit_cap: Option<f32>,
    /// Which projections have a bias: queries, keys, values, attention output (`attn_q.bias` and so on).
    pub biases: Biases,
    /// What the file's own head answers, if it is a reward model, classifier or reranker.
    pub head: Option<Head>,
    /// Tokens that the model can hold: those that it was trained to hold, but of a model that was extended by LongRoPE
    /// (Phi-3 with 128k and Phi-3.5: 4096) those that it held before.
    ///
    /// Such a model has two sets of rotary factors, one for texts up to that length and one for longer ones. A text that
    /// grows past it would have to be computed anew from its first token, and one short text in a long context would get
    /// other numbers than in a short one. So the short factors are used, and nothing is longer than they are meant for.
    pub context: usize,
    /// Size of the vocabulary.
    pub vocabulary: usize,
    /// Whether the output layer is the embedding table.
    pub tied_output: bool,
    /// Parameters in all.
    pub parameters: u64,
    /// The format that most weights have, for example `Q4_1`.
    pub quantization: String,
}

/// Which projections add a bias, the same in every layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Biases {
    /// `attn_q.bias`, `attn_k.bias` and `attn_v.bias`, which occur together.
    pub projections: bool,
    /// `attn_output.bias`.
    pub attention_output: bool,
}

/// A classification or rank head, as llama.cpp converts it from `…ForSequenceClassification` (pooling type
/// *rank*): it reads the normed state of the last token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Numbers that the head gives.
    pub outputs: usize,
    /// Components of the layer between (`cls.weight`, with tanh), where there is one.
    pub inner: Option<usize>,
    /// Name of the tensor that gives the numbers: `cls.output.weight`, or `cls.weight` where it stands alone.
    pub tensor: &'static str,
    /// What the outputs are called (`classifier.output_labels`), or nothing.
    pub labels: Vec<String>,
}

impl Config {
    /// Reads it from a file's header, and from the one small tensor that belongs to it: the factors of the rotary
    /// frequencies.
    ///
    /// # Errors
    /// [`LmError::MissingKey`], [`LmError::Damaged`] for numbers that don't fit together, or
    /// [`LmError::Unsupported`] with what would work; a failure to read.
    pub fn read(gguf: &Gguf, source: &mut dyn ByteSource) -> Result<Self, LmError> {
        let mut config = Self::of_header(gguf)?;
        config.read_tables(gguf, source)?;
        Ok(config)
    }

    fn of_header(gguf: &Gguf) -> Result<Self, LmError> {
        let conversion = "convert the model anew with llama.cpp's converter";
        let architecture =
            gguf.required("general.architecture", gguf.text("general.architecture")?, conversion)?.to_owned();
        let unsupported =
            |what: String, instead: String| LmError::Unsupported { name: gguf.name.clone(), what, instead };
        let Some(known) = ARCHITECTURES.iter().find(|known| known.name == architecture) else {
            let names: Vec<&str> = ARCHITECTURES.iter().map(|known| known.name).collect();
            return Err(unsupported(
                format!("the architecture \"{architecture}\""),
                format!("choose a model whose GGUF file says one of: {}", names.join(", ")),
            ));
        };
        let key = |suffix: &str| format!("{}.{suffix}", known.name);
        let optional_count = |suffix: &str| gguf.count(&key(suffix));
        let count = |suffix: &str, most: usize| {
            let value = gguf.required(&key(suffix), optional_count(suffix)?, conversion)?;
            if (1..=most).contains(&value) {
                return Ok(value);
            }
            Err(gguf.damaged(&key(suffix), format!("{value} does not lie between 1 and {most}")))
        };
        let layers = count("block_count", 1024)?;
        let width = count("embedding_length", 1 << 16)?;
        let feed_forward = count("feed_forward_length", 1 << 20)?;
        let heads = count("attention.head_count", 1024)?;
        let trained_context = count("context_length", 1 << 24)?;
        let kv_heads = optional_count("attention.head_count_kv")?.unwrap_or(heads);
        if kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
            return Err(gguf.damaged(
                &key("attention.head_count_kv"),
                format!("{kv_heads} key/value heads cannot serve {heads} query heads evenly"),
            ));
        }
        let head_size = match optional_count("attention.key_length")? {
            Some(size) => size,
            None if width.is_multiple_of(heads) => width / heads,
            None => {
                return Err(gguf.damaged(
                    &key("embedding_length"),
                    format!("{width} does not divide into {heads} heads"),
                ));
            }
        };
        if let Some(value_size) = optional_count("attention.value_length")?
            && value_size != head_size
        {
            return Err(unsupported(
                format!("value heads of {value_size} beside key heads of {head_size}"),
                "choose a model whose heads have one size".into(),
            ));
        }
        let rotary_size = optional_count("rope.dimension_count")?.unwrap_or(head_size);
        if head_size == 0 || head_size > 512 || rotary_size > head_size || !rotary_size.is_multiple_of(2) {
            return Err(gguf.damaged(
                &key("rope.dimension_count"),
                format!("{rotary_size} rotary components do not fit a head of {head_size}"),
            ));
        }
        if optional_count("expert_count")?.unwrap_or(0) > 0 {
            return Err(unsupported("a mixture of experts".into(), "choose a dense model".into()));
        }
        let positive = |suffix: &str, value: Option<f64>| match value {
            #[expect(clippy::cast_possible_truncation, reason = "the engine computes in f32")]
            Some(x) if x > 0.0 && (x as f32).is_finite() => Ok(x as f32),
            Some(x) => Err(gguf.damaged(&key(suffix), format!("{x} is not above 0"))),
            None => gguf.required(&key(suffix), None, conversion),
        };
        let optional = |suffix: &str| match gguf.number(&key(suffix))? {
            Some(x) => positive(suffix, Some(x)).map(Some),
            None => Ok(None),
        };
        let norm_epsilon = positive(
            "attention.layer_norm_rms_epsilon",
            gguf.number(&key("attention.layer_norm_rms_epsilon"))?,
        )?;
        let table = FactorTable::find(gguf, &architecture, rotary_size / 2)?;
        let divisor = match gguf.text(&key("rope.scaling.type"))? {
            None | Some("none") => optional("rope.scale_linear")?.unwrap_or(1.0),
            Some("linear") => optional("rope.scaling.factor")?.unwrap_or(1.0),
            // The tables are all that there is to it.
            Some("longrope") if table == Some(FactorTable::Short) => 1.0,
            Some(scaling) => {
                return Err(unsupported(
                    format!("rotary scaling \"{scaling}\""),
                    format!(
                        "choose a model whose file says \"linear\" or \"none\", or carries {ROTARY_FACTORS} or \
                         {SHORT_FACTORS}"
                    ),
                ));
            }
        };
        let context = match optional_count("rope.scaling.original_context_length")? {
            Some(0) => {
                let key = key("rope.scaling.original_context_length");
                return Err(gguf.damaged(&key, "a context of 0 tokens"));
            }
            Some(original) if table == Some(FactorTable::Short) => trained_context.min(original),
            _ => trained_context,
        };
        let rotary = Rotary {
            base: optional("rope.freq_base")?.unwrap_or(10_000.0),
            divisor,
            factors: Vec::new(),
            scale: optional("rope.scaling.attn_factor")?.unwrap_or(1.0),
        };
        let window = match (known.windows, optional_count("attention.sliding_window")?) {
            (Windows::Never, _) | (_, None | Some(0)) => None,
            (Windows::Always, Some(size)) => {
                (size < context).then(|| Window { size, period: 0, rotary: rotary.clone() })
            }
            (Windows::ExceptOneIn(period), Some(size)) => Some(Window {
                size,
                period,
                rotary: Rotary {
                    base: optional("rope.freq_base_swa")?.unwrap_or(10_000.0),
                    divisor: 1.0,
                    factors: Vec::new(),
                    scale: 1.0,
                },
            }),
        };
        #[expect(clippy::cast_precision_loss, reason = "the engine computes in f32")]
        let root = |n: usize| (n as f32).sqrt();
        let scaled_by = if layers == known.odd_scale_layers { width / heads } else { head_size };
        let embedding = gguf.tensor("token_embd.weight").ok_or_else(|| LmError::Tensor {
            name: gguf.name.clone(),
            tensor: "token_embd.weight".into(),
            problem: "it is absent".into(),
            architecture: architecture.clone(),
        })?;
        let vocabulary = embedding.shape.get(1).copied().unwrap_or(0);
        let head = Head::read(gguf, &key("classifier.output_labels"))?;
        let biases = Biases {
            projections: gguf.tensor("blk.0.attn_q.bias").is_some(),
            attention_output: gguf.tensor("blk.0.attn_output.bias").is_some(),
        };
        // A bias that is not read would be a wrong answer without an error.
        let read: &[&str] = match known.fused {
            true => &["attn_output"],
            false => &["attn_q", "attn_k", "attn_v", "attn_output"],
        };
        let unread = |name: &str| {
            let bias = name.strip_prefix("blk.").and_then(|rest| rest.strip_suffix(".bias"));
            let part = bias.map(|rest| rest.split_once('.').map_or(rest, |(_, part)| part));
            part.is_some_and(|part| !read.contains(&part))
        };
        if let Some(tensor) = gguf.tensors().find(|tensor| unread(&tensor.name)) {
            return Err(unsupported(
                format!("the bias \"{}\"", tensor.name),
                format!("choose a model without biases in its blocks but for: {}", read.join(", ")),
            ));
        }

        let mut parameters = 0u64;
        let mut weights_by_type = std::collections::BTreeMap::<u32, u64>::new();
        for tensor in gguf.tensors() {
            let weights = tensor.shape.iter().fold(1u64, |n, &size| n.saturating_mul(size as u64));
            parameters = parameters.saturating_add(weights);
            if tensor.name.starts_with("blk.") {
                let sum = weights_by_type.entry(tensor.type_id).or_default();
                *sum = sum.saturating_add(weights);
            }
        }
        let quantization = weights_by_type
            .iter()
            .max_by_key(|(_, weights)| **weights)
            .map_or_else(|| "unknown".to_owned(), |(id, _)| type_name(*id));

        Ok(Self {
            model_name: gguf.text("general.name")?.unwrap_or(&gguf.name).to_owned(),
            tied_output: gguf.tensor("output.weight").is_none(),
            pairing: known.pairing,
            fused: known.fused,
            architecture,
            layers,
            width,
            feed_forward,
            heads,
            kv_heads,
            head_size,
            rotary_size,
            rotary,
            window,
            norm_epsilon,
            activation: known.activation,
            head_norms: known.head_norms,
            post_norms: known.post_norms,
            embedding_scale: if known.scaled_embedding { root(width) } else { 1.0 },
            attention_scale: 1.0 / root(scaled_by),
            attention_cap: optional("attn_logit_softcapping")?,
            logit_cap: optional("final_logit_softcapping")?,
            biases,
            head,
            context,
            vocabulary,
            parameters,
            quantization,
        })
    }

    /// Components of all query heads together.
    #[must_use]
    pub fn query_width(&self) -> usize {
        self.heads * self.head_size
    }

    /// Components of all key (or value) heads together.
    #[must_use]
    pub fn kv_width(&self) -> usize {
        self.kv_heads * self.head_size
    }

    fn read_tables(&mut self, gguf: &Gguf, source: &mut dyn ByteSource) -> Result<(), LmError> {
        let pairs = self.rotary_size / 2;
        let Some(table) = FactorTable::find(gguf, &self.architecture, pairs)? else { return Ok(()) };
        let mut bytes = Vec::new();
        let kind = gguf.read_tensor(source, table.tensor(), &[pairs], &mut bytes)?;
        let mut factors = vec![0.0; pairs];
        kind.dequantize(&bytes, &mut factors);
        if let Some(factor) = factors.iter().find(|factor| !(factor.is_finite() && **factor > 0.0)) {
            return Err(gguf.damaged(table.tensor(), format!("a factor of {factor}")));
        }
        // Where every layer has a window, there is one rotary embedding for all.
        if let Some(window) = self.window.as_mut().filter(|window| window.period == 0) {
            window.rotary.factors.clone_from(&factors);
        }
        self.rotary.factors = factors;
        Ok(())
    }

    /// Whether this layer sees a sliding window only.
    #[must_use]
    pub fn is_local(&self, layer: usize) -> bool {
        self.window.as_ref().is_some_and(|window| !(layer + 1).is_multiple_of(window.period))
    }

    /// How many tokens back a layer's tokens see, themselves included: the window, or everything.
    #[must_use]
    pub fn reach(&self, layer: usize) -> usize {
        match &self.window {
            Some(window) if self.is_local(layer) => window.size,
            _ => usize::MAX,
        }
    }

    /// Cosine and sine of every rotary angle at one position: `rotary_size / 2` of each; for layers with a
    /// window if `local`, else for the others.
    ///
    /// The angle of pair `i` is `position × base^(−2i / rotary_size)` (Su et al., RoFormer, section 3.2.2),
    /// divided by the divisor and the pair's factor, computed in f64 with the same libm on every platform. Both are
    /// multiplied by the embedding's scale.
    pub fn angles(&self, position: u32, local: bool) -> impl Iterator<Item = (f32, f32)> + '_ {
        let rotary = match &self.window {
            Some(window) if local => &window.rotary,
            _ => &self.rotary,
        };
        let size = self.rotary_size as f64;
        let position = f64::from(position) / f64::from(rotary.divisor);
        (0..self.rotary_size / 2).map(move |i| {
            let frequency = libm::pow(f64::from(rotary.base), -2.0 * i as f64 / size);
            let factor = rotary.factors.get(i).copied().unwrap_or(1.0);
            let angle = position * frequency / f64::from(factor);
            let scale = f64::from(rotary.scale);
            #[expect(clippy::cast_possible_truncation, reason = "the engine computes in f32")]
            ((scale * libm::cos(angle)) as f32, (scale * libm::sin(angle)) as f32)
        })
    }
}

/// Which table of rotary factors a file carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FactorTable {
    /// One for every length.
    Always,
    /// Two, by length, of which the one for short texts is read.
    Short,
}

impl FactorTable {
    fn find(gguf: &Gguf, architecture: &str, pairs: usize) -> Result<Option<Self>, LmError> {
        let has = |name: &str| gguf.tensor(name).is_some();
        let found = match has(ROTARY_FACTORS) {
            true => Self::Always,
            false if has(SHORT_FACTORS) || has(LONG_FACTORS) => Self::Short,
            false => return Ok(None),
        };
        let wrong = |problem: String| LmError::Tensor {
            name: gguf.name.clone(),
            tensor: found.tensor().into(),
            problem,
            architecture: architecture.into(),
        };
        match gguf.tensor(found.tensor()) {
            None => Err(wrong(format!("it is absent beside {LONG_FACTORS}"))),
            Some(table) if table.shape != [pairs] => {
                Err(wrong(format!("its shape is {:?} where [{pairs}] is needed", table.shape)))
            }
            Some(_) => Ok(Some(found)),
        }
    }

    fn tensor(self) -> &'static str {
        match self {
            Self::Always => ROTARY_FACTORS,
            Self::Short => SHORT_FACTORS,
        }
    }
}

impl Head {
    /// The head that the file's tensors make, if there is one.
    fn read(gguf: &Gguf, labels_key: &str) -> Result<Option<Self>, LmError> {
        let rows = |name: &str| gguf.tensor(name).and_then(|tensor| tensor.shape.get(1).copied());
        let (tensor, outputs, inner) = match (rows("cls.output.weight"), rows("cls.weight")) {
            (Some(outputs), inner) => ("cls.output.weight", outputs, inner),
            (None, Some(outputs)) => ("cls.weight", outputs, None),
            (None, None) => return Ok(None),
        };
        let labels = gguf.texts(labels_key)?.unwrap_or_default().to_vec();
        if !labels.is_empty() && labels.len() != outputs {
            let problem = format!("{} labels for a head of {outputs} outputs", labels.len());
            return Err(gguf.damaged(labels_key, problem));
        }
        Ok(Some(Self { outputs, inner, tensor, labels }))
    }
}
