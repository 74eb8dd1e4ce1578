//! The transformer in plain f64 loops: slow, short, and what both backends are held against in tests.
//!
//! Equations: RMS norm (Zhang and Sennrich 2019), rotary embedding (Su et al. 2021), attention with shared key
//! heads (Ainslie et al. 2023), SwiGLU and GeGLU (Shazeer 2020), in the order of the Llama paper (Touvron et al.
//! 2023) with the additions of the Gemma 3 report (2025); low-rank adapters (Hu et al. 2021). Of the engine only
//! the reader of files, the configuration and the formats' meaning are used.

use crate::adapter::Adapter;
use crate::backend::Batch;
use crate::config::{Activation, Config, RotaryPairing};
use crate::gguf::Gguf;
use crate::matrices::Target;
use crate::{LmError, MemorySource};

/// What a batch gives, in f64: as [`Step`](crate::backend::Step).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReferenceStep {
    /// Logits of the batch's outputs, row after row.
    pub logits: Vec<f64>,
    /// The batch's sums of states, one after the other.
    pub states: Vec<f64>,
}

struct Matrix {
    weights: Vec<f64>,
    bias: Option<Vec<f64>>,
    /// A, B and scale.
    adapter: Option<(Vec<f64>, Vec<f64>, f64)>,
}

struct Layer {
    attention_norm: Vec<f64>,
    /// In the order of [`Target::ALL`].
    matrices: Vec<Matrix>,
    head_norms: Option<(Vec<f64>, Vec<f64>)>,
    post_norms: Option<(Vec<f64>, Vec<f64>)>,
    feed_forward_norm: Vec<f64>,
}

/// Computes batches one after the other over one cache, from a model file's bytes.
///
/// # Errors
/// Whatever is wrong with the file.
pub fn run(
    bytes: &[u8],
    adapter: Option<&Adapter>,
    batches: &[Batch],
) -> Result<Vec<ReferenceStep>, LmError> {
    let mut source = MemorySource::new("tiny.gguf", bytes.to_vec());
    let gguf = Gguf::read(&mut source)?;
    let config = &Config::read(&gguf, &mut source)?;
    let mut tensor = |name: &str, shape: &[usize]| -> Result<Vec<f64>, LmError> {
        let mut blocks = Vec::new();
        let kind = gguf.read_tensor(&mut source, name, shape, &mut blocks)?;
        let mut values = vec![0f32; shape.iter().product()];
        kind.dequantize(&blocks, &mut values);
        Ok(values.into_iter().map(f64::from).collect())
    };
    let (width, size) = (config.width, config.head_size);
    let group = config.heads / config.kv_heads;
    let embedding = tensor("token_embd.weight", &[width, config.vocabulary])?;
    let output_norm = tensor("output_norm.weight", &[width])?;
    let output = match config.tied_output {
        true => embedding.clone(),
        false => tensor("output.weight", &[width, config.vocabulary])?,
    };
    let mut layers = Vec::new();
    for index in 0..config.layers {
        let mut matrices = Vec::new();
        for target in Target::ALL {
            let rows = target.rows(config, index);
            // The whole tensor, of which only these rows are kept.
            let weights = tensor(&rows.tensor, &rows.shape)?;
            let own = rows.rows.start * rows.shape[0]..rows.rows.end * rows.shape[0];
            matrices.push(Matrix {
                weights: weights[own].to_vec(),
                bias: match target.bias(config, index) {
                    Some(bias) => Some(tensor(&bias, &[rows.rows.len()])?),
                    None => None,
                },
                adapter: adapter.and_then(|adapter| adapter.part(index, target)).map(|low| {
                    let wide = |values: &[f32]| values.iter().copied().map(f64::from).collect();
                    (wide(&low.a), wide(&low.b), f64::from(low.scale))
                }),
            });
        }
        let mut part = |name: &str, shape: &[usize]| tensor(&format!("blk.{index}.{name}"), shape);
        layers.push(Layer {
            attention_norm: part("attn_norm.weight", &[width])?,
            matrices,
            head_norms: match config.head_norms {
                true => Some((part("attn_q_norm.weight", &[size])?, part("attn_k_norm.weight", &[size])?)),
                false => None,
            },
            post_norms: match config.post_norms {
                true => Some((
                    part("post_attention_norm.weight", &[width])?,
                    part("post_ffw_norm.weight", &[width])?,
                )),
                false => None,
            },
            feed_forward_norm: part("ffn_norm.weight", &[width])?,
        });
    }

    // keys[layer][slot], values[layer][slot]
    let slots = batches.iter().map(Batch::end_slot).max().unwrap_or(0);
    let mut keys = vec![vec![Vec::new(); slots]; config.layers];
    let mut values = keys.clone();
    let mut steps = Vec::new();
    for batch in batches {
        let scale = f64::from(config.embedding_scale);
        let mut stream: Vec<Vec<f64>> = batch
            .tokens
            .iter()
            .map(|&token| embedding[token as usize * width..][..width].iter().map(|x| x * scale).collect())
            .collect();
        let mut states = vec![0.0; batch.states.len() * width];
        let mut keep = |layer: usize, stream: &[Vec<f64>]| {
            for (sum, into) in batch.states.iter().zip(states.chunks_exact_mut(width)) {
                if sum.layer == layer {
                    for row in sum.first_row..sum.first_row + sum.rows {
                        add(into, &stream[row as usize]);
                    }
                }
            }
        };
        keep(0, &stream);
        for (index, layer) in layers.iter().enumerate() {
            let [query, key, value, after, gate, up, down] = &layer.matrices[..] else { continue };
            let local = config.is_local(index);
            let mut queries = Vec::new();
            for (row, x) in stream.iter().enumerate() {
                let slot = batch.first_slot as usize + row;
                let x = normed(x, &layer.attention_norm, config);
                let (mut q, mut k) = (query.apply(&x), key.apply(&x));
                if let Some((q_norm, k_norm)) = &layer.head_norms {
                    q = q.chunks_exact(size).flat_map(|head| normed(head, q_norm, config)).collect();
                    k = k.chunks_exact(size).flat_map(|head| normed(head, k_norm, config)).collect();
                }
                let position = batch.positions[row];
                queries.push(turned(q, position, local, config));
                keys[index][slot] = turned(k, position, local, config);
                values[index][slot] = value.apply(&x);
            }
            for (row, x) in stream.iter_mut().enumerate() {
                let slot = batch.first_slot + row as u32;
                let seen: Vec<usize> =
                    batch.views[row].near(slot, config.reach(index)).into_iter().flatten().collect();
                let mut attended = Vec::new();
                for head in 0..config.heads {
                    let query = &queries[row][head * size..(head + 1) * size];
                    let own = head / group * size..(head / group + 1) * size;
                    let shares: Vec<f64> = seen
                        .iter()
                        .map(|&slot| {
                            let score = dot(query, &keys[index][slot][own.clone()])
                                * f64::from(config.attention_scale);
                            capped(score, config.attention_cap).exp()
                        })
                        .collect();
                    let total: f64 = shares.iter().sum();
                    attended.extend(own.map(|i| {
                        seen.iter()
                            .zip(&shares)
                            .map(|(&slot, share)| share * values[index][slot][i])
                            .sum::<f64>()
                            / total
                    }));
                }
                let mut attended = after.apply(&attended);
                if let Some((norm, _)) = &layer.post_norms {
                    attended = normed(&attended, norm, config);
                }
                add(x, &attended);
                let y = normed(x, &layer.feed_forward_norm, config);
                let hidden: Vec<f64> = gate
                    .apply(&y)
                    .into_iter()
                    .zip(up.apply(&y))
                    .map(|(gate, up)| activated(gate, config.activation) * up)
                    .collect();
                let mut hidden = down.apply(&hidden);
                if let Some((_, norm)) = &layer.post_norms {
                    hidden = normed(&hidden, norm, config);
                }
                add(x, &hidden);
            }
            keep(index + 1, &stream);
        }
        let logits = batch.outputs.iter().flat_map(|&row| {
            let x = normed(&stream[row as usize], &output_norm, config);
            product(&output, &x).into_iter().map(|logit| capped(logit, config.logit_cap)).collect::<Vec<_>>()
        });
        steps.push(ReferenceStep { logits: logits.collect(), states });
    }
    Ok(steps)
}

impl Matrix {
    fn apply(&self, x: &[f64]) -> Vec<f64> {
        let mut y = product(&self.weights, x);
        if let Some(bias) = &self.bias {
            add(&mut y, bias);
        }
        if let Some((a, b, scale)) = &self.adapter {
            let low: Vec<f64> = product(a, x).into_iter().map(|x| x * scale).collect();
            add(&mut y, &product(b, &low));
        }
        y
    }
}

fn activated(x: f64, activation: Activation) -> f64 {
    match activation {
        Activation::SwiGlu => x / (1.0 + (-x).exp()),
        Activation::GeGlu => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            0.5 * x * (1.0 + inner.tanh())
        }
    }
}

fn capped(x: f64, cap: Option<f32>) -> f64 {
    match cap {
        Some(cap) => f64::from(cap) * (x / f64::from(cap)).tanh(),
        None => x,
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn product(weights: &[f64], x: &[f64]) -> Vec<f64> {
    weights.chunks_exact(x.len()).map(|row| dot(row, x)).collect()
}

fn add(x: &mut [f64], y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}

fn normed(x: &[f64], weights: &[f64], config: &Config) -> Vec<f64> {
    let scale = 1.0 / (dot(x, x) / x.len() as f64 + f64::from(config.norm_epsilon)).sqrt();
    x.iter().zip(weights).map(|(x, weight)| x * scale * weight).collect()
}

fn turned(mut x: Vec<f64>, position: u32, local: bool, config: &Config) -> Vec<f64> {
    let rotary = match &config.window {
        Some(window) if local => &window.rotary,
        _ => &config.rotary,
    };
    let pairs = config.rotary_size / 2;
    for head in x.chunks_exact_mut(config.head_size) {
        for pair in 0..pairs {
            let (a, b) = match config.pairing {
                RotaryPairing::Neighbours => (2 * pair, 2 * pair + 1),
                RotaryPairing::Halves => (pair, pair + pairs),
            };
            let exponent = -(pair as f64) / pairs as f64;
            let factor = f64::from(rotary.factors.get(pair).copied().unwrap_or(1.0));
            let angle = f64::from(position) / f64::from(rotary.divisor)
                * f64::from(rotary.base).powf(exponent)
                / factor;
            let scale = f64::from(rotary.scale);
            let (cos, sin) = (scale * angle.cos(), scale * angle.sin());
            (head[a], head[b]) = (head[a] * cos - head[b] * sin, head[a] * sin + head[b] * cos);
        }
    }
    x
}
