//! What a model's metadata says about its shape: architectures as data.

use crate::LmError;
use crate::gguf::{Gguf, type_name};

/// Which two components of a head the rotary embedding turns together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RotaryPairing {
    /// `(2i, 2i + 1)`: Llama files, whose query and key rows the GGUF converter has permuted.
    Neighbours,
    /// `(i, i + d/2)`: Qwen2 and most others.
    Halves,
}

/// An architecture that this engine runs.
struct Architecture {
    name: &'static str,
    pairing: RotaryPairing,
}

const ARCHITECTURES: [Architecture; 1] = [Architecture { name: "llama", pairing: RotaryPairing::Neighbours }];

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
    /// Base of the rotary frequencies.
    pub rotary_base: f32,
    /// Which components are turned together.
    pub pairing: RotaryPairing,
    /// Added to the mean square in RMS norms.
    pub norm_epsilon: f32,
    /// Tokens that the model was trained to hold.
    pub context: usize,
    /// Size of the vocabulary.
    pub vocabulary: usize,
    /// Whether the output layer is the embedding table.
    pub tied_output: bool,
    /// Weights in all.
    pub parameters: u64,
    /// The format that most weights have, for example `Q4_1`.
    pub quantization: String,
}

impl Config {
    /// Reads it from a file's header.
    ///
    /// # Errors
    /// [`LmError::MissingKey`], [`LmError::Damaged`] for numbers that don't fit together, or
    /// [`LmError::Unsupported`] with what would work.
    pub fn read(gguf: &Gguf) -> Result<Self, LmError> {
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
        let key = |suffix: &str| format!("{architecture}.{suffix}");
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
        let context = count("context_length", 1 << 24)?;
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
        if let Some(scaling) = gguf.text(&key("rope.scaling.type"))?
            && scaling != "none"
        {
            return Err(unsupported(
                format!("rotary scaling \"{scaling}\""),
                "choose a model without it, for example SmolLM2".into(),
            ));
        }
        if gguf.tensor("rope_freqs.weight").is_some() {
            return Err(unsupported(
                "a table of rotary frequencies".into(),
                "choose a model without it, for example SmolLM2".into(),
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
        let rotary_base =
            positive("rope.freq_base", gguf.number(&key("rope.freq_base"))?.or(Some(10_000.0)))?;
        let norm_epsilon = positive(
            "attention.layer_norm_rms_epsilon",
            gguf.number(&key("attention.layer_norm_rms_epsilon"))?,
        )?;
        let embedding = gguf.tensor("token_embd.weight").ok_or_else(|| LmError::Tensor {
            name: gguf.name.clone(),
            tensor: "token_embd.weight".into(),
            problem: "it is absent".into(),
            architecture: architecture.clone(),
        })?;
        let vocabulary = embedding.shape.get(1).copied().unwrap_or(0);

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
            architecture,
            layers,
            width,
            feed_forward,
            heads,
            kv_heads,
            head_size,
            rotary_size,
            rotary_base,
            norm_epsilon,
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

    /// Cosine and sine of every rotary angle at one position: `rotary_size / 2` of each.
    ///
    /// The angle of pair `i` is `position × base^(−2i / rotary_size)` (Su et al., RoFormer, section 3.2.2),
    /// computed in f64 with the same libm on every platform.
    pub fn rotary(&self, position: u32) -> impl Iterator<Item = (f32, f32)> + '_ {
        let size = self.rotary_size as f64;
        (0..self.rotary_size / 2).map(move |i| {
            let frequency = libm::pow(f64::from(self.rotary_base), -2.0 * i as f64 / size);
            let angle = f64::from(position) * frequency;
            #[expect(clippy::cast_possible_truncation, reason = "the engine computes in f32")]
            (libm::cos(angle) as f32, libm::sin(angle) as f32)
        })
    }
}
