//! Low-rank adapters (Hu et al. 2021) in llama.cpp's GGUF form.
//!
//! An adapter adds `scale × B (A x)` to what a weight matrix makes of `x`. It is applied beside the matrix, which
//! stays as it is: several adapters share one base, and none is ever merged and quantized again.

use std::collections::BTreeMap;

use crate::config::Config;
use crate::gguf::{Gguf, Value};
use crate::matrices::{Stack, Target};
use crate::{ByteSource, LmError};

/// Far above any rank in use; a rank near a matrix's own width would be a whole matrix.
const MAX_RANK: usize = 1024;

/// The change to one matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct LowRank {
    /// Rows of A; components between the two products.
    pub rank: usize,
    /// `rank × inputs`, row after row.
    pub a: Vec<f32>,
    /// `outputs × rank`, row after row.
    pub b: Vec<f32>,
    /// What the product is multiplied by: `strength × alpha / rank`.
    pub scale: f32,
}

/// An adapter for one base model.
#[derive(Debug, Clone, PartialEq)]
pub struct Adapter {
    /// The file's name.
    pub name: String,
    /// What the adapter calls itself, or the file's name.
    pub title: String,
    /// The largest rank in it.
    pub rank: usize,
    /// Its alpha; 0 where the file means that no scaling by rank takes place.
    pub alpha: f32,
    strength: f32,
    parts: BTreeMap<(usize, Target), LowRank>,
    metadata: BTreeMap<String, String>,
}

impl Adapter {
    /// Reads an adapter for the model of this configuration.
    ///
    /// # Errors
    /// [`LmError::Adapter`] for a file that is no adapter, belongs to another base, or whose parts do not fit
    /// each other; what [`Gguf::read`] refuses; a failure to read.
    pub fn read(source: &mut dyn ByteSource, config: &Config) -> Result<Self, LmError> {
        let gguf = Gguf::read(source)?;
        let wrong = |problem: String| LmError::Adapter { name: gguf.name.clone(), problem };
        let kind = gguf.text("general.type")?;
        if kind != Some("adapter") {
            return Err(wrong(format!(
                "it calls itself a {} and not an adapter; load it as a model instead",
                kind.unwrap_or("model")
            )));
        }
        let form = gguf.text("adapter.type")?.unwrap_or("of no kind");
        if form != "lora" {
            return Err(wrong(format!("it is {form}, and only \"lora\" adapters are applied")));
        }
        let architecture = gguf.text("general.architecture")?.unwrap_or("no architecture");
        if architecture != config.architecture {
            return Err(wrong(format!(
                "it belongs to a base of architecture \"{architecture}\", and the loaded model is \"{}\"",
                config.architecture
            )));
        }
        let alpha = gguf.required("adapter.lora.alpha", gguf.number("adapter.lora.alpha")?, CONVERSION)?;
        #[expect(clippy::cast_possible_truncation, reason = "the engine computes in f32")]
        let alpha = alpha as f32;
        if !alpha.is_finite() || alpha < 0.0 {
            return Err(wrong(format!("its alpha is {alpha}")));
        }
        let mut parts = BTreeMap::new();
        for tensor in gguf.tensors() {
            let Some(stem) = tensor.name.strip_suffix(".lora_a") else {
                if let Some(stem) = tensor.name.strip_suffix(".lora_b") {
                    if gguf.tensor(&format!("{stem}.lora_a")).is_none() {
                        return Err(wrong(format!("\"{}\" has no \"{stem}.lora_a\" beside it", tensor.name)));
                    }
                    continue;
                }
                return Err(wrong(format!(
                    "the tensor \"{}\" is no part of a low-rank adapter",
                    tensor.name
                )));
            };
            let (layer, stack) = place(stem, config).ok_or_else(|| {
                let mut names = Target::ALL.map(|target| target.stack(config).tensor).to_vec();
                names.dedup();
                wrong(format!(
                    "it changes \"{stem}\", and only these matrices of a block can be changed: {}",
                    names.join(", ")
                ))
            })?;
            if layer >= config.layers {
                return Err(wrong(format!(
                    "it changes block {layer}, and the loaded model has {} blocks: it belongs to another base",
                    config.layers
                )));
            }
            let [inputs, outputs] = stack.shape(config);
            let second = format!("{stem}.lora_b");
            let b = gguf
                .tensor(&second)
                .ok_or_else(|| wrong(format!("\"{}\" has no \"{second}\" beside it", tensor.name)))?;
            let [a_inputs, rank] = tensor.shape[..] else {
                return Err(wrong(format!("\"{}\" is no matrix", tensor.name)));
            };
            let [b_rank, b_outputs] = b.shape[..] else {
                return Err(wrong(format!("\"{second}\" is no matrix")));
            };
            if rank != b_rank {
                return Err(wrong(format!(
                    "\"{}\" has rank {rank} and \"{second}\" rank {b_rank}; both must have the same",
                    tensor.name
                )));
            }
            if (a_inputs, b_outputs) != (inputs, outputs) {
                return Err(wrong(format!(
                    "\"{stem}\" is {inputs} by {outputs} in the loaded model, and the adapter was made for \
                     {a_inputs} by {b_outputs}: it belongs to another base"
                )));
            }
            if rank > MAX_RANK {
                return Err(wrong(format!(
                    "\"{}\" has rank {rank}; at most {MAX_RANK} is read",
                    tensor.name
                )));
            }
            let mut values = |name: &str, shape: [usize; 2]| -> Result<Vec<f32>, LmError> {
                let mut bytes = Vec::new();
                let kind = gguf.read_tensor(source, name, &shape, &mut bytes)?;
                let mut values = vec![0.0; shape[0] * shape[1]];
                kind.dequantize(&bytes, &mut values);
                match values.iter().all(|value| value.is_finite()) {
                    true => Ok(values),
                    false => Err(wrong(format!("\"{name}\" holds values that are not numbers"))),
                }
            };
            let a = values(&tensor.name, [inputs, rank])?;
            let b = values(&second, [rank, outputs])?;
            // Each matrix of the tensor has its own rows of B behind the same A.
            let mut rest = &b[..];
            for target in stack.holds {
                let own;
                (own, rest) = rest.split_at(rank * target.shape(config).1);
                let (a, b) = (a.clone(), own.to_vec());
                parts.insert((layer, *target), LowRank { rank, a, b, scale: scale(alpha, rank, 1.0) });
            }
        }
        if parts.is_empty() {
            return Err(wrong("it changes nothing".into()));
        }
        let metadata = gguf
            .entries()
            .filter_map(|(key, value)| match value {
                Value::Text(text) => Some((key.to_owned(), text.clone())),
                _ => None,
            })
            .collect();
        Ok(Self {
            title: gguf.text("general.name")?.unwrap_or(&gguf.name).to_owned(),
            rank: parts.values().map(|part: &LowRank| part.rank).max().unwrap_or(0),
            name: gguf.name,
            alpha,
            strength: 1.0,
            parts,
            metadata,
        })
    }

    /// How strongly it is applied: 0 not at all, 1 as it was trained.
    #[must_use]
    pub fn strength(&self) -> f32 {
        self.strength
    }

    /// Whether its strength is exactly 1: what was measured of it was measured at that.
    #[must_use]
    pub fn is_as_trained(&self) -> bool {
        self.strength.to_bits() == 1.0f32.to_bits()
    }

    /// The same adapter, applied so strongly.
    ///
    /// # Errors
    /// [`LmError::Adapter`] for a strength that is no finite number.
    pub fn with_strength(mut self, strength: f32) -> Result<Self, LmError> {
        if !strength.is_finite() {
            let problem = format!("it cannot be applied with a strength of {strength}");
            return Err(LmError::Adapter { name: self.name, problem });
        }
        self.strength = strength;
        for part in self.parts.values_mut() {
            part.scale = scale(self.alpha, part.rank, strength);
        }
        Ok(self)
    }

    /// The change to one matrix of one block, if there is one.
    #[must_use]
    pub fn part(&self, layer: usize, target: Target) -> Option<&LowRank> {
        self.parts.get(&(layer, target))
    }

    /// A text of the file's metadata.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }
}

const CONVERSION: &str = "convert the adapter anew with llama.cpp's converter for adapters";

fn scale(alpha: f32, rank: usize, strength: f32) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "ranks are small")]
    let ratio = if alpha == 0.0 { 1.0 } else { alpha / rank as f32 };
    strength * ratio
}

/// `blk.3.attn_q.weight` is the query matrix of block 3, or what the model has under that name.
fn place(stem: &str, config: &Config) -> Option<(usize, Stack)> {
    let (layer, name) = stem.strip_prefix("blk.")?.strip_suffix(".weight")?.split_once('.')?;
    let mut stacks = Target::ALL.into_iter().map(|target| target.stack(config));
    Some((layer.parse().ok()?, stacks.find(|stack| stack.tensor == name)?))
}
