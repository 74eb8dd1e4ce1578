//! The CPU backend: quantized weights and matrix products by candle-core, the rest in plain Rust.
//!
//! Activations stay in f32. A weight matrix is kept quantized, in blocks of rows; a block is turned into
//! f32 just before its product, so that beyond the model itself only one block is ever held.

mod math;

pub(crate) use math::{dot, rms_norm};

use std::ops::Range;

use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use candle_core::{Device, Tensor};

use crate::backend::{Backend, Batch, Step, check};
use crate::breath::Breath;
use crate::config::{Config, RotaryPairing};
use crate::gguf::Gguf;
use crate::quant::TensorType;
use crate::{Adapter, ByteSource, Flow, LmError};

/// Weights per block of rows: 2 MiB as f32, so that a block stays in the cache between dequantizing and
/// multiplying.
const BLOCK_WEIGHTS: usize = 512 * 1024;
/// The most rows of a tile of attention: more would multiply too many keys that its first rows must not see.
const QUERY_ROWS: usize = 192;
/// Attention scores of one head in a tile, about; bounds that matrix to a few megabytes.
const SCORES: usize = 512 * 1024;

/// The model on the CPU.
pub struct CpuBackend {
    config: Config,
    embedding: Matrix,
    layers: Vec<Layer>,
    output_norm: Vec<f32>,
    /// Absent where the output layer is the embedding.
    output: Option<Matrix>,
    cache: Vec<LayerCache>,
    capacity: usize,
}

struct Layer {
    attention_norm: Vec<f32>,
    query: Matrix,
    key: Matrix,
    value: Matrix,
    attention_output: Matrix,
    feed_forward_norm: Vec<f32>,
    gate: Matrix,
    up: Matrix,
    down: Matrix,
}

/// Keys and values of one layer, `[kv head][slot][component]`.
#[derive(Default)]
struct LayerCache {
    keys: Vec<f32>,
    values: Vec<f32>,
}

/// A weight matrix `[outputs, inputs]`, quantized, in blocks of whole rows.
struct Matrix {
    blocks: Vec<QTensor>,
    block_rows: usize,
    inputs: usize,
    outputs: usize,
}

impl Matrix {
    fn read(
        gguf: &Gguf,
        source: &mut dyn ByteSource,
        name: &str,
        inputs: usize,
        outputs: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<Self, LmError> {
        let kind = gguf.read_tensor(source, name, &[inputs, outputs], bytes)?;
        let dtype = match kind {
            TensorType::F32 => GgmlDType::F32,
            TensorType::F16 => GgmlDType::F16,
            TensorType::Bf16 => GgmlDType::BF16,
            TensorType::Q4_0 => GgmlDType::Q4_0,
            TensorType::Q4_1 => GgmlDType::Q4_1,
            TensorType::Q5_0 => GgmlDType::Q5_0,
            TensorType::Q5_1 => GgmlDType::Q5_1,
            TensorType::Q8_0 => GgmlDType::Q8_0,
            TensorType::Q2K => GgmlDType::Q2K,
            TensorType::Q3K => GgmlDType::Q3K,
            TensorType::Q4K => GgmlDType::Q4K,
            TensorType::Q5K => GgmlDType::Q5K,
            TensorType::Q6K => GgmlDType::Q6K,
        };
        let block_rows = (BLOCK_WEIGHTS / inputs).clamp(1, outputs);
        let row_bytes = inputs / kind.block_weights() * kind.block_bytes();
        let blocks = bytes
            .chunks(block_rows * row_bytes)
            .map(|rows| {
                let storage = QStorage::from_data(rows.into(), &Device::Cpu, dtype)?;
                QTensor::new(storage, (rows.len() / row_bytes, inputs))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { blocks, block_rows, inputs, outputs })
    }

    /// `x × selfᵀ`: rows of `inputs` components to rows of `outputs` components.
    fn apply(&self, x: &[f32], out: &mut Vec<f32>) -> Result<(), LmError> {
        let rows = x.len() / self.inputs;
        let x = Tensor::from_slice(x, (rows, self.inputs), &Device::Cpu)?;
        out.clear();
        out.resize(rows * self.outputs, 0.0);
        for (index, block) in self.blocks.iter().enumerate() {
            let weights = block.dequantize(&Device::Cpu)?;
            let product = x.matmul(&weights.t()?)?;
            let width = product.dim(1)?;
            let (storage, layout) = product.storage_and_layout();
            let candle_core::Storage::Cpu(storage) = &*storage else {
                return Err(LmError::Compute { problem: "a CPU product is not on the CPU".into() });
            };
            let product = &storage.as_slice::<f32>()?[layout.start_offset()..];
            let first = index * self.block_rows;
            for (row, out) in product.chunks_exact(width).zip(out.chunks_exact_mut(self.outputs)) {
                out[first..first + width].copy_from_slice(row);
            }
        }
        Ok(())
    }

    /// Appends one row of the table, as f32.
    fn row(&self, index: usize, out: &mut Vec<f32>) -> Result<(), LmError> {
        let block = &self.blocks[index / self.block_rows];
        let kind = match block.dtype() {
            GgmlDType::F32 => TensorType::F32,
            GgmlDType::F16 => TensorType::F16,
            GgmlDType::BF16 => TensorType::Bf16,
            GgmlDType::Q4_0 => TensorType::Q4_0,
            GgmlDType::Q4_1 => TensorType::Q4_1,
            GgmlDType::Q8_0 => TensorType::Q8_0,
            other => return Err(LmError::Compute { problem: format!("a table in format {other:?}") }),
        };
        let row_bytes = self.inputs / kind.block_weights() * kind.block_bytes();
        let data = block.data()?;
        let start = out.len();
        out.resize(start + self.inputs, 0.0);
        kind.dequantize(&data[index % self.block_rows * row_bytes..][..row_bytes], &mut out[start..]);
        Ok(())
    }
}

impl CpuBackend {
    /// Reads the weights, tensor by tensor. `on_progress` is told how many bytes of tensors have been read.
    ///
    /// # Errors
    /// A tensor that is absent, misshapen or in an unknown format; a failure to read; or
    /// [`LmError::Cancelled`].
    pub async fn load(
        gguf: &Gguf,
        config: &Config,
        source: &mut dyn ByteSource,
        on_progress: &mut dyn FnMut(u64) -> Flow,
    ) -> Result<Self, LmError> {
        let mut loader =
            Loader { gguf, source, bytes: Vec::new(), done: 0, on_progress, breath: Breath::new() };
        let (width, ff) = (config.width, config.feed_forward);
        let (q, kv) = (config.query_width(), config.kv_width());
        let embedding = loader.matrix("token_embd.weight", width, config.vocabulary).await?;
        let mut layers = Vec::with_capacity(config.layers);
        for index in 0..config.layers {
            let name = |part: &str| format!("blk.{index}.{part}.weight");
            layers.push(Layer {
                attention_norm: loader.vector(&name("attn_norm"), width).await?,
                query: loader.matrix(&name("attn_q"), width, q).await?,
                key: loader.matrix(&name("attn_k"), width, kv).await?,
                value: loader.matrix(&name("attn_v"), width, kv).await?,
                attention_output: loader.matrix(&name("attn_output"), q, width).await?,
                feed_forward_norm: loader.vector(&name("ffn_norm"), width).await?,
                gate: loader.matrix(&name("ffn_gate"), width, ff).await?,
                up: loader.matrix(&name("ffn_up"), width, ff).await?,
                down: loader.matrix(&name("ffn_down"), ff, width).await?,
            });
        }
        let output_norm = loader.vector("output_norm.weight", width).await?;
        let output = match config.tied_output {
            true => None,
            false => Some(loader.matrix("output.weight", width, config.vocabulary).await?),
        };
        let mut cache = Vec::new();
        cache.resize_with(config.layers, LayerCache::default);
        Ok(Self { config: config.clone(), embedding, layers, output_norm, output, cache, capacity: 0 })
    }

    /// Turns the components of every head of every row by the row's rotary angles.
    fn rotate(&self, rows: &mut [f32], heads: usize, angles: &[Vec<(f32, f32)>]) {
        let head_size = self.config.head_size;
        let half = self.config.rotary_size / 2;
        for (row, angles) in rows.chunks_exact_mut(heads * head_size).zip(angles) {
            for head in row.chunks_exact_mut(head_size) {
                for (i, (cos, sin)) in angles.iter().enumerate() {
                    let (a, b) = match self.config.pairing {
                        RotaryPairing::Neighbours => (2 * i, 2 * i + 1),
                        RotaryPairing::Halves => (i, i + half),
                    };
                    let (x, y) = (head[a], head[b]);
                    head[a] = x * cos - y * sin;
                    head[b] = x * sin + y * cos;
                }
            }
        }
    }

    /// Attention of all rows over the cache (Vaswani et al. 2017, equation 1) under the tree mask.
    fn attend(&self, layer: usize, batch: &Batch, queries: &[f32], out: &mut [f32]) -> Result<(), LmError> {
        let config = &self.config;
        let (size, group) = (config.head_size, config.heads / config.kv_heads);
        let query_width = config.query_width();
        let scale = 1.0 / (size as f32).sqrt();
        let cache = &self.cache[layer];
        for tile in tiles(batch) {
            let (first, rows) = (tile.rows.start, tile.rows.len());
            let seen = tile.seen();
            for kv_head in 0..config.kv_heads {
                let head = kv_head * self.capacity * size;
                let gather = |cached: &[f32]| {
                    let mut gathered = Vec::with_capacity(seen * size);
                    for slots in &tile.slots {
                        gathered
                            .extend_from_slice(&cached[head + slots.start * size..head + slots.end * size]);
                    }
                    Tensor::from_vec(gathered, (seen, size), &Device::Cpu)
                };
                let (keys, values) = (gather(&cache.keys)?, gather(&cache.values)?);
                // The query heads that share this key head become rows of one product.
                let mut q = Vec::with_capacity(rows * group * size);
                for row in tile.rows.clone() {
                    let at = row * query_width + kv_head * group * size;
                    q.extend_from_slice(&queries[at..at + group * size]);
                }
                let q = Tensor::from_vec(q, (rows * group, size), &Device::Cpu)?;
                let mut scores = q.matmul(&keys.t()?)?.flatten_all()?.to_vec1::<f32>()?;
                for (index, scores) in scores.chunks_exact_mut(seen).enumerate() {
                    // The last row sees every slot of the tile, each row before it one slot less.
                    math::causal_softmax(scores, scale, seen - (rows - 1 - index / group));
                }
                let scores = Tensor::from_vec(scores, (rows * group, seen), &Device::Cpu)?;
                let mixed = scores.matmul(&values)?.flatten_all()?.to_vec1::<f32>()?;
                for (row, mixed) in (first..first + rows).zip(mixed.chunks_exact(group * size)) {
                    let at = row * query_width + kv_head * group * size;
                    out[at..at + group * size].copy_from_slice(mixed);
                }
            }
        }
        Ok(())
    }

    fn store(&mut self, layer: usize, first_slot: usize, keys: &[f32], values: &[f32]) {
        let (size, heads, capacity) = (self.config.head_size, self.config.kv_heads, self.capacity);
        let cache = &mut self.cache[layer];
        for (cached, rows) in [(&mut cache.keys, keys), (&mut cache.values, values)] {
            for (row, components) in rows.chunks_exact(heads * size).enumerate() {
                for (head, components) in components.chunks_exact(size).enumerate() {
                    let at = (head * capacity + first_slot + row) * size;
                    cached[at..at + size].copy_from_slice(components);
                }
            }
        }
    }
}

impl Backend for CpuBackend {
    async fn forward(&mut self, batch: &Batch, tick: &mut dyn FnMut(f32) -> Flow) -> Result<Step, LmError> {
        check(batch, &self.config, self.capacity)?;
        let mut breath = Breath::new();
        let width = self.config.width;
        let epsilon = self.config.norm_epsilon;
        let angles: Vec<Vec<(f32, f32)>> =
            batch.positions.iter().map(|&position| self.config.angles(position, false).collect()).collect();
        let mut x = Vec::with_capacity(batch.tokens.len() * width);
        for &token in &batch.tokens {
            self.embedding.row(token as usize, &mut x)?;
        }
        let [mut normed, mut q, mut k, mut v, mut out, mut up] = [const { Vec::new() }; 6];
        let mut mixed = vec![0.0; batch.tokens.len() * self.config.query_width()];
        for index in 0..self.layers.len() {
            let layer = &self.layers[index];
            math::rms_norm(&x, &layer.attention_norm, epsilon, &mut normed);
            layer.query.apply(&normed, &mut q)?;
            layer.key.apply(&normed, &mut k)?;
            layer.value.apply(&normed, &mut v)?;
            self.rotate(&mut q, self.config.heads, &angles);
            self.rotate(&mut k, self.config.kv_heads, &angles);
            self.store(index, batch.first_slot as usize, &k, &v);
            self.attend(index, batch, &q, &mut mixed)?;
            let layer = &self.layers[index];
            layer.attention_output.apply(&mixed, &mut out)?;
            add(&mut x, &out);

            math::rms_norm(&x, &layer.feed_forward_norm, epsilon, &mut normed);
            layer.gate.apply(&normed, &mut q)?;
            layer.up.apply(&normed, &mut up)?;
            math::swiglu(&mut q, &up);
            layer.down.apply(&q, &mut out)?;
            add(&mut x, &out);

            breath.take().await;
            if tick((index + 1) as f32 / self.layers.len() as f32) == Flow::Stop {
                return Err(LmError::Cancelled);
            }
        }
        if batch.outputs.is_empty() {
            return Ok(Step::default());
        }
        let ends: Vec<f32> =
            batch.outputs.iter().flat_map(|&row| &x[row as usize * width..][..width]).copied().collect();
        math::rms_norm(&ends, &self.output_norm, epsilon, &mut normed);
        self.output.as_ref().unwrap_or(&self.embedding).apply(&normed, &mut out)?;
        if out.iter().any(|logit| !logit.is_finite()) {
            return Err(LmError::NotFinite { at: "the logits".into() });
        }
        Ok(Step { logits: out, states: vec![0.0; batch.states.len() * width] })
    }

    async fn set_adapter(&mut self, _adapter: Option<&Adapter>) -> Result<(), LmError> {
        Ok(())
    }

    async fn reserve(&mut self, slots: usize, keep: usize) -> Result<(), LmError> {
        if slots <= self.capacity {
            return Ok(());
        }
        let (size, heads) = (self.config.head_size, self.config.kv_heads);
        let keep = keep.min(self.capacity);
        let too_much = || LmError::OutOfMemory { what: format!("a key/value cache for {slots} tokens") };
        let len = heads.checked_mul(size).and_then(|n| n.checked_mul(slots)).ok_or_else(too_much)?;
        let room = |old: &Vec<f32>, capacity: usize| {
            let mut new = Vec::new();
            new.try_reserve_exact(len).map_err(|_| too_much())?;
            new.resize(len, 0.0);
            for head in 0..heads {
                let kept = &old[head * capacity * size..][..keep * size];
                new[head * slots * size..][..keep * size].copy_from_slice(kept);
            }
            Ok::<_, LmError>(new)
        };
        let capacity = std::mem::take(&mut self.capacity);
        for index in 0..self.cache.len() {
            let old = &self.cache[index];
            let new = room(&old.keys, capacity)
                .and_then(|keys| Ok(LayerCache { keys, values: room(&old.values, capacity)? }));
            match new {
                Ok(new) => self.cache[index] = new,
                Err(error) => {
                    // The layers now differ in capacity: none is better than a mixed cache. The capacity is 0.
                    self.cache.fill_with(LayerCache::default);
                    return Err(error);
                }
            }
        }
        self.capacity = slots;
        Ok(())
    }

    fn chunk(&self) -> usize {
        if cfg!(target_arch = "wasm32") { 256 } else { 512 }
    }

    fn device(&self) -> String {
        if cfg!(target_arch = "wasm32") {
            "WebAssembly with 128-bit SIMD, one thread".to_owned()
        } else {
            let threads = candle_core::utils::get_num_threads();
            format!("{} CPU, {threads} threads", std::env::consts::ARCH)
        }
    }
}

/// Rows of a batch whose attention is computed together: they see the same slots, but that each also sees
/// itself and the rows of the tile before it.
struct Tile {
    rows: Range<usize>,
    /// What the last row sees, in order; the tile's own rows are the end of the last range.
    slots: Vec<Range<usize>>,
}

impl Tile {
    fn seen(&self) -> usize {
        self.slots.iter().map(Range::len).sum()
    }
}

/// Cuts a batch into tiles. No key that a row must not see is multiplied, but for those of the rows after it
/// in its tile.
fn tiles(batch: &Batch) -> Vec<Tile> {
    let mut runs: Vec<Tile> = Vec::new();
    for (row, view) in batch.views.iter().enumerate() {
        let mut slots: Vec<Range<usize>> = Vec::with_capacity(3);
        for range in view.ranges(batch.first_slot + row as u32) {
            match slots.last_mut() {
                _ if range.is_empty() => {}
                // Ranges that touch are one: a first continuation is seen as more of its trunk.
                Some(last) if last.end == range.start => last.end = range.end,
                _ => slots.push(range),
            }
        }
        let follows = |run: &Tile| {
            run.slots.len() == slots.len()
                && run.slots.iter().zip(&slots).enumerate().all(|(index, (before, now))| {
                    let grows = usize::from(index + 1 == slots.len());
                    before.start == now.start && before.end + grows == now.end
                })
        };
        match runs.last_mut() {
            Some(run) if follows(run) => {
                run.rows.end = row + 1;
                run.slots = slots;
            }
            _ => runs.push(Tile { rows: row..row + 1, slots }),
        }
    }
    let mut tiles = Vec::with_capacity(runs.len());
    for run in runs {
        let most = (SCORES / run.seen()).clamp(16, QUERY_ROWS);
        let parts = run.rows.len().div_ceil(most);
        let rows = run.rows.len().div_ceil(parts);
        for start in run.rows.clone().step_by(rows) {
            let end = (start + rows).min(run.rows.end);
            let mut slots = run.slots.clone();
            if let Some(last) = slots.last_mut() {
                last.end -= run.rows.end - end;
            }
            tiles.push(Tile { rows: start..end, slots });
        }
    }
    tiles
}

fn add(x: &mut [f32], y: &[f32]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += y;
    }
}

struct Loader<'a> {
    gguf: &'a Gguf,
    source: &'a mut dyn ByteSource,
    bytes: Vec<u8>,
    done: u64,
    on_progress: &'a mut dyn FnMut(u64) -> Flow,
    breath: Breath,
}

impl Loader<'_> {
    async fn matrix(&mut self, name: &str, inputs: usize, outputs: usize) -> Result<Matrix, LmError> {
        let matrix = Matrix::read(self.gguf, self.source, name, inputs, outputs, &mut self.bytes)?;
        self.advance().await?;
        Ok(matrix)
    }

    async fn vector(&mut self, name: &str, len: usize) -> Result<Vec<f32>, LmError> {
        let kind = self.gguf.read_tensor(self.source, name, &[len], &mut self.bytes)?;
        let mut vector = vec![0.0; len];
        kind.dequantize(&self.bytes, &mut vector);
        self.advance().await?;
        Ok(vector)
    }

    async fn advance(&mut self) -> Result<(), LmError> {
        self.done += self.bytes.len() as u64;
        self.breath.take().await;
        match (self.on_progress)(self.done) {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(LmError::Cancelled),
        }
    }
}
