//! The CPU backend: integer kernels for 128-, 256- and 512-bit vectors, natively and in WebAssembly.
//!
//! 1. `kernel`: the product of 16-bit operands, exact within blocks of 64, the same to the last bit everywhere.
//! 2. `matrix`: weight matrices as the file has them, turned into panels of that product.
//! 3. `narrow`: another product, of 8-bit weights, where WebAssembly's relaxed SIMD makes it the faster one.
//! 4. `attention`: the key/value cache, and attention by the same product.
//! 5. `math`: norms, activations and softmax in f32, written to vectorise.
//! 6. `threads`: sharing out work natively.
//! 7. Here: the transformer, layer by layer.

mod attention;
mod kernel;
mod math;
mod matrix;
mod narrow;
mod threads;

use attention::LayerCache;
use kernel::{COLUMNS, Kernel};
pub(crate) use math::{dot, rms_norm};
use matrix::{Matrix, Operand};
use narrow::Narrow;

use crate::backend::{Backend, Batch, StateSum, Step, check};
use crate::breath::Breath;
use crate::config::{Config, RotaryPairing};
use crate::gguf::{Gguf, Rows};
use crate::matrices::Target;
use crate::{Adapter, ByteSource, Flow, LmError};

/// Products (rows × weights) after which a cancel message must be let in, in a browser: at most a tenth of a second.
const HOLD: usize = 1_000_000_000;

/// The model on the CPU.
pub struct CpuBackend {
    config: Config,
    embedding: Matrix,
    layers: Vec<Layer>,
    output_norm: Vec<f32>,
    /// Absent where the output layer is the embedding.
    output: Option<Matrix>,
    /// For each layer the changes to its matrices, in the order of [`Target::ALL`]. Empty without an adapter.
    adapter: Vec<[Option<Low>; 7]>,
    cache: Vec<LayerCache>,
    capacity: usize,
}

struct Layer {
    attention_norm: Vec<f32>,
    /// In the order of [`Target::ALL`].
    matrices: [Matrix; 7],
    /// Norms of queries and keys, head by head.
    head_norms: Option<[Vec<f32>; 2]>,
    feed_forward_norm: Vec<f32>,
    /// Norms of what attention and feed-forward give.
    post_norms: Option<[Vec<f32>; 2]>,
}

/// A low-rank change to a matrix.
struct Low {
    a: Matrix,
    b: Matrix,
    scale: f32,
}

/// What a layer computes in: kept from layer to layer.
#[derive(Default)]
struct Scratch {
    normed: Vec<f32>,
    rows: Operand,
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    mixed: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
    out: Vec<f32>,
    low: LowScratch,
}

#[derive(Default)]
struct LowScratch {
    inner: Vec<f32>,
    rows: Operand,
    out: Vec<f32>,
}

/// Cosine and sine of each pair, row by row, for layers that see everything and for those with a window.
struct Angles {
    far: Vec<Vec<(f32, f32)>>,
    near: Vec<Vec<(f32, f32)>>,
}

impl Angles {
    fn new(config: &Config, positions: &[u32]) -> Self {
        let of = |local| positions.iter().map(|&position| config.angles(position, local).collect()).collect();
        Self { far: of(false), near: if config.window.is_some() { of(true) } else { Vec::new() } }
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
        let mut loader = Loader { gguf, config, source, done: 0, on_progress, breath: Breath::new() };
        let embedding = loader.table("token_embd.weight").await?;
        let mut layers = Vec::with_capacity(config.layers);
        for index in 0..config.layers {
            layers.push(loader.layer(index).await?);
        }
        let output_norm = loader.vector("output_norm.weight", config.width).await?;
        let output = match config.tied_output {
            true => None,
            false => Some(loader.table("output.weight").await?),
        };
        let mut cache = Vec::new();
        cache.resize_with(config.layers, LayerCache::default);
        Ok(Self {
            config: config.clone(),
            embedding,
            layers,
            output_norm,
            output,
            adapter: Vec::new(),
            cache,
            capacity: 0,
        })
    }

    /// Logits behind the last of some tokens, without ever holding more than one layer of the model: what another
    /// backend's numbers are checked against.
    ///
    /// # Errors
    /// As for [`load`](Self::load), and [`LmError::NotFinite`].
    pub async fn probe(
        gguf: &Gguf,
        config: &Config,
        source: &mut dyn ByteSource,
        tokens: &[u32],
        on_progress: &mut dyn FnMut(u64) -> Flow,
    ) -> Result<Vec<f32>, LmError> {
        let mut loader = Loader { gguf, config, source, done: 0, on_progress, breath: Breath::new() };
        let mut batch = Batch::linear(tokens, 0);
        batch.outputs = vec![tokens.len().saturating_sub(1) as u32];
        check(&batch, config, tokens.len())?;
        let angles = Angles::new(config, &batch.positions);
        let embedding = loader.table("token_embd.weight").await?;
        let mut stream = embed(&embedding, config, tokens);
        let mut table = config.tied_output.then_some(embedding);
        let mut scratch = Scratch::default();
        for index in 0..config.layers {
            let layer = loader.layer(index).await?;
            let mut cache = LayerCache::default();
            cache.grow(config, (0, tokens.len()), 0)?;
            layer.run(
                config,
                index,
                None,
                &batch,
                &angles,
                (&mut cache, tokens.len()),
                &mut stream,
                &mut scratch,
            );
        }
        let norm = loader.vector("output_norm.weight", config.width).await?;
        if table.is_none() {
            table = Some(loader.table("output.weight").await?);
        }
        let Some(table) = table else { return Ok(Vec::new()) };
        logits(config, &table, &norm, &stream, &batch.outputs, &mut loader.breath).await
    }
}

impl Layer {
    /// One block: attention and feed-forward, each added to the stream.
    #[expect(clippy::too_many_arguments, reason = "the parts of a step, used twice above and below")]
    fn run(
        &self,
        config: &Config,
        index: usize,
        adapter: Option<&[Option<Low>; 7]>,
        batch: &Batch,
        angles: &Angles,
        (cache, capacity): (&mut LayerCache, usize),
        stream: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let (width, epsilon) = (config.width, config.norm_epsilon);
        let Scratch { normed, rows, queries, keys, values, mixed, gate, up, out, low } = scratch;
        let [query, key, value, attention_output, gate_matrix, up_matrix, down] = &self.matrices;
        let mut project = |target: usize, matrix: &Matrix, rows: &Operand, out: &mut Vec<f32>| {
            matrix.apply(rows, out);
            if let Some(change) = adapter.and_then(|adapter| adapter[target].as_ref()) {
                change.add(rows, out, low);
            }
        };
        let local = config.is_local(index);
        math::rms_norm(stream, &self.attention_norm, epsilon, normed);
        rows.quantize(normed, width);
        project(0, query, rows, queries);
        project(1, key, rows, keys);
        project(2, value, rows, values);
        if let Some([query_norm, key_norm]) = &self.head_norms {
            math::rms_norm_in_place(queries, query_norm, epsilon);
            math::rms_norm_in_place(keys, key_norm, epsilon);
        }
        let angles = if local { &angles.near } else { &angles.far };
        rotate(config, queries, config.heads, angles);
        rotate(config, keys, config.kv_heads, angles);
        cache.store(config, capacity, batch.first_slot as usize, keys, values);
        mixed.resize(queries.len(), 0.0);
        attention::attend(config, config.reach(index), batch, cache, capacity, queries, mixed);
        rows.quantize(mixed, config.query_width());
        project(3, attention_output, rows, out);
        if let Some([norm, _]) = &self.post_norms {
            math::rms_norm_in_place(out, norm, epsilon);
        }
        math::add(stream, out);

        math::rms_norm(stream, &self.feed_forward_norm, epsilon, normed);
        rows.quantize(normed, width);
        project(4, gate_matrix, rows, gate);
        project(5, up_matrix, rows, up);
        math::gated(config.activation, gate, up, config.feed_forward);
        rows.quantize(gate, config.feed_forward);
        project(6, down, rows, out);
        if let Some([_, norm]) = &self.post_norms {
            math::rms_norm_in_place(out, norm, epsilon);
        }
        math::add(stream, out);
    }
}

impl Low {
    /// `out ← out + scale × B (A rows)`.
    fn add(&self, rows: &Operand, out: &mut [f32], scratch: &mut LowScratch) {
        let LowScratch { inner, rows: inner_rows, out: change } = scratch;
        self.a.apply(rows, inner);
        inner.iter_mut().for_each(|x| *x *= self.scale);
        inner_rows.quantize(inner, self.a.outputs());
        self.b.apply(inner_rows, change);
        math::add(out, change);
    }
}

/// Turns the components of every head of every row by the row's rotary angles.
fn rotate(config: &Config, rows: &mut [f32], heads: usize, angles: &[Vec<(f32, f32)>]) {
    let size = config.head_size;
    let half = config.rotary_size / 2;
    let numbers = rows.len();
    threads::each(numbers, rows.chunks_exact_mut(heads * size).zip(angles), |(row, angles)| {
        for head in row.chunks_exact_mut(size) {
            match config.pairing {
                RotaryPairing::Neighbours => {
                    let (pairs, _) = head.as_chunks_mut::<2>();
                    for ([x, y], (cos, sin)) in pairs.iter_mut().zip(angles) {
                        (*x, *y) = (*x * cos - *y * sin, *x * sin + *y * cos);
                    }
                }
                RotaryPairing::Halves => {
                    let (first, rest) = head.split_at_mut(half);
                    for ((x, y), (cos, sin)) in first.iter_mut().zip(rest).zip(angles) {
                        (*x, *y) = (*x * cos - *y * sin, *x * sin + *y * cos);
                    }
                }
            }
        }
    });
}

fn embed(table: &Matrix, config: &Config, tokens: &[u32]) -> Vec<f32> {
    let mut stream = Vec::with_capacity(tokens.len() * config.width);
    for &token in tokens {
        table.row(token as usize, &mut stream);
    }
    #[expect(clippy::float_cmp, reason = "1 stands for no scaling")]
    if config.embedding_scale != 1.0 {
        stream.iter_mut().for_each(|x| *x *= config.embedding_scale);
    }
    stream
}

/// The output layer for some rows of the stream.
async fn logits(
    config: &Config,
    table: &Matrix,
    norm: &[f32],
    stream: &[f32],
    rows: &[u32],
    breath: &mut Breath,
) -> Result<Vec<f32>, LmError> {
    let width = config.width;
    let ends: Vec<f32> =
        rows.iter().flat_map(|&row| &stream[row as usize * width..][..width]).copied().collect();
    let mut normed = Vec::new();
    math::rms_norm(&ends, norm, config.norm_epsilon, &mut normed);
    let mut quantized = Operand::default();
    quantized.quantize(&normed, width);
    let vocabulary = config.vocabulary;
    let mut out = Vec::new();
    let len = rows.len() * vocabulary;
    out.try_reserve_exact(len)
        .map_err(|_| LmError::OutOfMemory { what: format!("logits of {} rows", rows.len()) })?;
    out.resize(len, 0.0);
    // The output layer is the largest matrix: in a browser it is cut up, so that a cancel message is heard.
    let step = match cfg!(target_arch = "wasm32") {
        true => (HOLD / 4 / (width * rows.len().max(16))).next_multiple_of(COLUMNS).max(COLUMNS),
        false => vocabulary,
    };
    for first in (0..vocabulary).step_by(step) {
        table.apply_columns(&quantized, first..(first + step).min(vocabulary), &mut out);
        breath.take().await;
    }
    if let Some(cap) = config.logit_cap {
        math::cap_all(&mut out, cap);
    }
    if out.iter().any(|logit| !logit.is_finite()) {
        return Err(LmError::NotFinite { at: "the logits".into() });
    }
    Ok(out)
}

fn sum_states(batch: &Batch, layer: usize, width: usize, stream: &[f32], states: &mut [f32]) {
    for (sum, into) in batch.states.iter().zip(states.chunks_exact_mut(width)) {
        let StateSum { layer: wanted, first_row, rows } = *sum;
        if wanted == layer {
            for row in stream[first_row as usize * width..].chunks_exact(width).take(rows as usize) {
                into.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
        }
    }
}

impl Backend for CpuBackend {
    async fn forward(&mut self, batch: &Batch, tick: &mut dyn FnMut(f32) -> Flow) -> Result<Step, LmError> {
        let config = &self.config;
        check(batch, config, self.capacity)?;
        let mut breath = Breath::new();
        let width = config.width;
        let angles = Angles::new(config, &batch.positions);
        let mut stream = embed(&self.embedding, config, &batch.tokens);
        let mut states = vec![0.0; batch.states.len() * width];
        sum_states(batch, 0, width, &stream, &mut states);
        let mut scratch = Scratch::default();
        for (index, (layer, cache)) in self.layers.iter().zip(&mut self.cache).enumerate() {
            let adapter = self.adapter.get(index);
            let cache = (cache, self.capacity);
            layer.run(config, index, adapter, batch, &angles, cache, &mut stream, &mut scratch);
            sum_states(batch, index + 1, width, &stream, &mut states);
            breath.take().await;
            if tick((index + 1) as f32 / self.layers.len() as f32) == Flow::Stop {
                return Err(LmError::Cancelled);
            }
        }
        if batch.outputs.is_empty() {
            return Ok(Step { logits: Vec::new(), states });
        }
        let table = self.output.as_ref().unwrap_or(&self.embedding);
        let logits = logits(config, table, &self.output_norm, &stream, &batch.outputs, &mut breath).await?;
        Ok(Step { logits, states })
    }

    async fn set_adapter(&mut self, adapter: Option<&Adapter>) -> Result<(), LmError> {
        self.adapter.clear();
        let Some(adapter) = adapter else { return Ok(()) };
        for layer in 0..self.config.layers {
            self.adapter.push(Target::ALL.map(|target| {
                adapter.part(layer, target).map(|low| Low {
                    a: Matrix::of_floats(&low.a, target.shape(&self.config).0),
                    b: Matrix::of_floats(&low.b, low.rank),
                    scale: low.scale,
                })
            }));
        }
        Ok(())
    }

    async fn reserve(&mut self, slots: usize, keep: usize) -> Result<(), LmError> {
        if slots <= self.capacity {
            return Ok(());
        }
        let old = std::mem::take(&mut self.capacity);
        for index in 0..self.cache.len() {
            if let Err(error) = self.cache[index].grow(&self.config, (old, slots), keep) {
                // The layers now differ in capacity: none is better than a mixed cache. The capacity is 0.
                self.cache.fill_with(LayerCache::default);
                return Err(error);
            }
        }
        self.capacity = slots;
        Ok(())
    }

    fn chunk(&self) -> usize {
        if !cfg!(target_arch = "wasm32") {
            return 512;
        }
        // Between two layers control goes back to the browser.
        let weights: usize = Target::ALL
            .iter()
            .map(|target| target.shape(&self.config))
            .map(|(inputs, outputs)| inputs * outputs)
            .sum();
        (HOLD / weights.max(1)).clamp(32, 256)
    }

    fn device(&self) -> String {
        if cfg!(target_arch = "wasm32") {
            let product = if Narrow::chosen().is_some() { "relaxed" } else { "128-bit" };
            format!("WebAssembly with {product} SIMD, one thread")
        } else {
            let (threads, bits) = (threads::count(), Kernel::best().name());
            let vectors =
                if bits == "portable" { String::new() } else { format!(" with {bits}-bit vectors") };
            format!("{} CPU{vectors}, {threads} threads", std::env::consts::ARCH)
        }
    }
}

struct Loader<'a> {
    gguf: &'a Gguf,
    config: &'a Config,
    source: &'a mut dyn ByteSource,
    done: u64,
    on_progress: &'a mut dyn FnMut(u64) -> Flow,
    breath: Breath,
}

impl Loader<'_> {
    async fn matrix(&mut self, rows: &Rows) -> Result<Matrix, LmError> {
        let matrix = Matrix::read(self.gguf, self.source, rows)?;
        self.advance(matrix.len_bytes()).await?;
        Ok(matrix)
    }

    /// A matrix with a row for each token.
    async fn table(&mut self, name: &str) -> Result<Matrix, LmError> {
        self.matrix(&Rows::all(name, [self.config.width, self.config.vocabulary])).await
    }

    async fn vector(&mut self, name: &str, len: usize) -> Result<Vec<f32>, LmError> {
        let mut bytes = Vec::new();
        let kind = self.gguf.read_tensor(self.source, name, &[len], &mut bytes)?;
        let mut vector = vec![0.0; len];
        kind.dequantize(&bytes, &mut vector);
        self.advance(bytes.len()).await?;
        Ok(vector)
    }

    async fn layer(&mut self, index: usize) -> Result<Layer, LmError> {
        let config = self.config;
        let name = |part: &str| format!("blk.{index}.{part}.weight");
        let mut matrices = Vec::with_capacity(Target::ALL.len());
        for target in Target::ALL {
            let mut matrix = self.matrix(&target.rows(config, index)).await?;
            if let Some(bias) = target.bias(config, index) {
                matrix.bias = Some(self.vector(&bias, matrix.outputs()).await?);
            }
            matrices.push(matrix);
        }
        let Ok(matrices) = <[Matrix; 7]>::try_from(matrices) else {
            return Err(LmError::Compute { problem: "a block without its seven matrices".into() });
        };
        let (width, size) = (config.width, config.head_size);
        Ok(Layer {
            attention_norm: self.vector(&name("attn_norm"), width).await?,
            head_norms: match config.head_norms {
                true => Some([
                    self.vector(&name("attn_q_norm"), size).await?,
                    self.vector(&name("attn_k_norm"), size).await?,
                ]),
                false => None,
            },
            feed_forward_norm: self.vector(&name("ffn_norm"), width).await?,
            post_norms: match config.post_norms {
                true => Some([
                    self.vector(&name("post_attention_norm"), width).await?,
                    self.vector(&name("post_ffw_norm"), width).await?,
                ]),
                false => None,
            },
            matrices,
        })
    }

    async fn advance(&mut self, bytes: usize) -> Result<(), LmError> {
        self.done += bytes as u64;
        self.breath.take().await;
        match (self.on_progress)(self.done) {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(LmError::Cancelled),
        }
    }
}
