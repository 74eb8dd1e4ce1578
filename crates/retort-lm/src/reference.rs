//! What both backends are held against in tests: small random models, and the transformer in plain f64 loops.

use half::{bf16, f16};

use crate::MemorySource;
use crate::backend::Batch;
use crate::config::{Config, RotaryPairing};
use crate::gguf::{Gguf, GgufWriter, Value};
use crate::quant::TensorType;

/// A random model's shape and formats.
#[derive(Debug, Clone)]
pub(crate) struct TinyModel {
    pub(crate) seed: u64,
    pub(crate) layers: usize,
    pub(crate) width: usize,
    pub(crate) feed_forward: usize,
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) vocabulary: usize,
    /// Whether the output layer is the embedding table.
    pub(crate) tied: bool,
    /// Formats that the weight matrices take in turn; one that does not fit a matrix's rows becomes F16.
    pub(crate) kinds: Vec<TensorType>,
}

impl Default for TinyModel {
    fn default() -> Self {
        Self {
            seed: 1,
            layers: 3,
            width: 64,
            feed_forward: 96,
            heads: 4,
            kv_heads: 2,
            vocabulary: 301,
            tied: false,
            kinds: crate::quant::SUPPORTED.to_vec(),
        }
    }
}

impl TinyModel {
    /// The model as a GGUF file without a tokenizer.
    pub(crate) fn gguf(&self) -> Vec<u8> {
        let mut writer = GgufWriter::new();
        let unsigned = |n: usize| Value::Unsigned(n as u64);
        writer
            .entry("general.architecture", Value::Text("llama".into()))
            .entry("general.name", Value::Text("tiny".into()))
            .entry("llama.block_count", unsigned(self.layers))
            .entry("llama.embedding_length", unsigned(self.width))
            .entry("llama.feed_forward_length", unsigned(self.feed_forward))
            .entry("llama.attention.head_count", unsigned(self.heads))
            .entry("llama.attention.head_count_kv", unsigned(self.kv_heads))
            .entry("llama.context_length", unsigned(512))
            .entry("llama.rope.freq_base", Value::Float(10_000.0))
            .entry("llama.attention.layer_norm_rms_epsilon", Value::Float(1e-5));
        let mut noise = Noise(self.seed);
        let kv_width = self.width / self.heads * self.kv_heads;
        let mut index = 0;
        let mut matrix = |writer: &mut GgufWriter, name: &str, inputs: usize, outputs: usize| {
            let kind = self.kinds[index % self.kinds.len()];
            let fits = inputs.is_multiple_of(kind.block_weights());
            let kind = if fits { kind } else { TensorType::F16 };
            index += 1;
            writer.tensor(name, &[inputs, outputs], kind, noise.blocks(kind, inputs, outputs));
        };
        matrix(&mut writer, "token_embd.weight", self.width, self.vocabulary);
        for layer in 0..self.layers {
            let mut block = |suffix: &str, inputs: usize, outputs: usize| {
                matrix(&mut writer, &format!("blk.{layer}.{suffix}.weight"), inputs, outputs);
            };
            block("attn_q", self.width, self.width);
            block("attn_k", self.width, kv_width);
            block("attn_v", self.width, kv_width);
            block("attn_output", self.width, self.width);
            block("ffn_gate", self.width, self.feed_forward);
            block("ffn_up", self.width, self.feed_forward);
            block("ffn_down", self.feed_forward, self.width);
        }
        if !self.tied {
            matrix(&mut writer, "output.weight", self.width, self.vocabulary);
        }
        let mut norm = |name: &str| {
            let weights = (0..self.width).flat_map(|_| (1.0 + 0.3 * noise.float()).to_le_bytes()).collect();
            writer.tensor(name, &[self.width], TensorType::F32, weights);
        };
        for layer in 0..self.layers {
            norm(&format!("blk.{layer}.attn_norm.weight"));
            norm(&format!("blk.{layer}.ffn_norm.weight"));
        }
        norm("output_norm.weight");
        writer.finish()
    }
}

/// The splitmix64 generator.
struct Noise(u64);

impl Noise {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From −1 to 1.
    fn float(&mut self) -> f32 {
        (self.word() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// Blocks of a format: random weights of a size that keeps the products of their rows near 1.
    fn blocks(&mut self, kind: TensorType, inputs: usize, outputs: usize) -> Vec<u8> {
        let size = 1.7 / (inputs as f32).sqrt();
        let mut bytes = Vec::new();
        for _ in 0..inputs * outputs / kind.block_weights() {
            let half = |x: f32| f16::from_f32(x).to_le_bytes();
            let block_size = size * (0.75 + 0.25 * self.float());
            match kind {
                TensorType::F32 => bytes.extend((size * self.float()).to_le_bytes()),
                TensorType::F16 => bytes.extend(half(size * self.float())),
                TensorType::Bf16 => bytes.extend(bf16::from_f32(size * self.float()).to_le_bytes()),
                TensorType::Q4_0 => bytes.extend(half(block_size / 8.0)),
                TensorType::Q4_1 => {
                    bytes.extend(half(block_size / 7.5));
                    bytes.extend(half(-block_size));
                }
                TensorType::Q8_0 => bytes.extend(half(block_size / 127.0)),
            }
            let quants = match kind {
                TensorType::F32 | TensorType::F16 | TensorType::Bf16 => 0,
                TensorType::Q4_0 | TensorType::Q4_1 => 16,
                TensorType::Q8_0 => 32,
            };
            bytes.extend((0..quants).map(|_| (self.word() >> 32) as u8));
        }
        bytes
    }
}

/// The logits of every batch's outputs, batches being computed one after the other over one cache.
///
/// The equations of the Llama architecture (Touvron et al. 2023; Su et al. for the rotary embedding), written
/// as loops. Nothing of the backends is used but the reader of the file and the formats' meaning.
pub(crate) fn logits(bytes: &[u8], batches: &[Batch]) -> Vec<Vec<f64>> {
    let mut source = MemorySource::new("tiny.gguf", bytes.to_vec());
    let gguf = Gguf::read(&mut source).unwrap();
    let config = Config::read(&gguf).unwrap();
    let mut tensor = |name: String, shape: &[usize]| -> Vec<f64> {
        let mut blocks = Vec::new();
        let kind = gguf.read_tensor(&mut source, &name, shape, &mut blocks).unwrap();
        let mut values = vec![0f32; shape.iter().product()];
        kind.dequantize(&blocks, &mut values);
        values.into_iter().map(f64::from).collect()
    };
    let (width, size) = (config.width, config.head_size);
    let group = config.heads / config.kv_heads;
    let embedding = tensor("token_embd.weight".into(), &[width, config.vocabulary]);
    let output_norm = tensor("output_norm.weight".into(), &[width]);
    let output = if config.tied_output {
        embedding.clone()
    } else {
        tensor("output.weight".into(), &[width, config.vocabulary])
    };
    let layers: Vec<_> = (0..config.layers)
        .map(|layer| {
            let mut get =
                |suffix: &str, shape: &[usize]| tensor(format!("blk.{layer}.{suffix}.weight"), shape);
            (
                get("attn_norm", &[width]),
                get("attn_q", &[width, config.query_width()]),
                get("attn_k", &[width, config.kv_width()]),
                get("attn_v", &[width, config.kv_width()]),
                get("attn_output", &[config.query_width(), width]),
                get("ffn_norm", &[width]),
                get("ffn_gate", &[width, config.feed_forward]),
                get("ffn_up", &[width, config.feed_forward]),
                get("ffn_down", &[config.feed_forward, width]),
            )
        })
        .collect();

    // keys[layer][slot], values[layer][slot]
    let slots = batches.iter().map(Batch::end_slot).max().unwrap_or(0);
    let mut keys = vec![vec![Vec::new(); slots]; config.layers];
    let mut values = keys.clone();
    let mut all = Vec::new();
    for batch in batches {
        let mut stream: Vec<Vec<f64>> = batch
            .tokens
            .iter()
            .map(|&token| embedding[token as usize * width..(token as usize + 1) * width].to_vec())
            .collect();
        for (layer, weights) in layers.iter().enumerate() {
            let (norm, q, k, v, after, feed_norm, gate, up, down) = weights;
            let mut queries = Vec::new();
            for (row, x) in stream.iter().enumerate() {
                let slot = batch.first_slot as usize + row;
                let x = normed(x, norm, &config);
                let position = batch.positions[row];
                queries.push(turned(product(q, &x), position, &config));
                keys[layer][slot] = turned(product(k, &x), position, &config);
                values[layer][slot] = product(v, &x);
            }
            for (row, x) in stream.iter_mut().enumerate() {
                let slot = batch.first_slot + row as u32;
                let seen: Vec<usize> = batch.views[row].ranges(slot).into_iter().flatten().collect();
                let mut attended = Vec::new();
                for head in 0..config.heads {
                    let query = &queries[row][head * size..(head + 1) * size];
                    let own = head / group * size..(head / group + 1) * size;
                    let shares: Vec<f64> = seen
                        .iter()
                        .map(|&slot| {
                            (dot(query, &keys[layer][slot][own.clone()]) / (size as f64).sqrt()).exp()
                        })
                        .collect();
                    let total: f64 = shares.iter().sum();
                    attended.extend(own.map(|i| {
                        seen.iter()
                            .zip(&shares)
                            .map(|(&slot, share)| share * values[layer][slot][i])
                            .sum::<f64>()
                            / total
                    }));
                }
                add(x, &product(after, &attended));
                let y = normed(x, feed_norm, &config);
                let hidden: Vec<f64> = product(gate, &y)
                    .iter()
                    .zip(product(up, &y))
                    .map(|(gate, up)| gate / (1.0 + (-gate).exp()) * up)
                    .collect();
                add(x, &product(down, &hidden));
            }
        }
        let picked = batch.outputs.iter();
        all.push(
            picked
                .flat_map(|&row| product(&output, &normed(&stream[row as usize], &output_norm, &config)))
                .collect(),
        );
    }
    all
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

fn turned(mut x: Vec<f64>, position: u32, config: &Config) -> Vec<f64> {
    let pairs = config.rotary_size / 2;
    for head in x.chunks_exact_mut(config.head_size) {
        for pair in 0..pairs {
            let (a, b) = match config.pairing {
                RotaryPairing::Neighbours => (2 * pair, 2 * pair + 1),
                RotaryPairing::Halves => (pair, pair + pairs),
            };
            let exponent = -(pair as f64) / pairs as f64;
            let angle = f64::from(position) * f64::from(config.rotary_base).powf(exponent);
            (head[a], head[b]) = (
                head[a] * angle.cos() - head[b] * angle.sin(),
                head[a] * angle.sin() + head[b] * angle.cos(),
            );
        }
    }
    x
}
