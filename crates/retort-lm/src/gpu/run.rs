//! The backend itself: a model's weights and cache on the GPU, and one step of the transformer.

use super::device::{Buffer, Gpu, PARAMETER_BYTES, PARAMETER_STRIDE};
use super::layout::{GROUP, Layout};
use super::shader::{ATTENTION_TILE, Kernel, Role, Shape, THREADS, TILE_COLUMNS, VECTOR_COLUMNS};
use super::weights::{Arrangement, Loader, Matrix, Part};
use crate::backend::{Backend, Batch, Step as Found, check};
use crate::config::{Config, RotaryPairing};
use crate::gguf::Gguf;
use crate::{Adapter, ByteSource, Flow, LmError};

/// Slots by which the cache grows at least.
const SLOT_STEP: usize = 256;
/// Rows up to which the matrix-vector product is used.
const VECTOR_ROWS: usize = 4;

/// A model on a GPU.
#[derive(Debug)]
pub struct GpuBackend {
    // Fields are dropped in this order: what lies on the device before the device.
    workspace: Option<Workspace>,
    cache: Vec<Cache>,
    model: Model,
    slots: usize,
    config: Config,
    gpu: Gpu,
}

/// The weights.
#[derive(Debug)]
struct Model {
    embedding: Matrix,
    layers: Vec<Layer>,
    output_norm: Buffer,
    /// The output layer, unless it is the embedding table.
    output: Option<Matrix>,
}

impl Model {
    fn output(&self) -> &Matrix {
        self.output.as_ref().unwrap_or(&self.embedding)
    }
}

#[derive(Debug)]
struct Layer {
    attention_norm: Buffer,
    /// Query rows, key rows, value rows.
    project: Matrix,
    attention_output: Matrix,
    feed_norm: Buffer,
    /// Gate and up rows, alternating.
    gate_up: Matrix,
    down: Matrix,
}

/// Keys and values of one layer: `slots × kv_heads × padded head size`.
#[derive(Debug)]
struct Cache {
    keys: Buffer,
    values: Buffer,
}

/// Buffers for a batch, and everything bound to them. Made anew when one of them has to grow.
#[derive(Debug)]
struct Workspace {
    /// Rows, picked rows, entries of the list of tiles that fit.
    rows: usize,
    picks: usize,
    tiles: usize,
    buffers: Buffers,
    body: Vec<Step>,
    output: Vec<Step>,
}

#[derive(Debug)]
struct Buffers {
    parameters: Buffer,
    tokens: Buffer,
    angles: Buffer,
    views: Buffer,
    blocks: Buffer,
    tiles: Buffer,
    picks: Buffer,
    /// The residual stream.
    stream: Buffer,
    projected: Buffer,
    queries: Buffer,
    attended: Buffer,
    hidden: Buffer,
    logits: Buffer,
    readback: Buffer,
}

/// One dispatch.
#[derive(Debug)]
struct Step {
    action: Action,
    bind_group: wgpu::BindGroup,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Embed { layout: Layout, inputs: usize, first_token: usize, tokens: usize },
    Product { role: Role, layout: Layout, product: Product },
    Rotary,
    Attention,
}

/// The sizes of a product, as its shader wants them.
#[derive(Debug, Clone, Copy)]
struct Product {
    columns: usize,
    weight_rows: usize,
    inputs: usize,
    width: usize,
    stride: usize,
    first_column: usize,
}

/// One set of parameters, as the shaders' `Params` begin with.
pub(super) type Parameters = [u32; PARAMETER_BYTES as usize / 4];

/// Parameters that begin with these words.
pub(super) fn parameters<const N: usize>(words: [usize; N]) -> Parameters {
    let mut all = Parameters::default();
    for (to, from) in all.iter_mut().zip(words) {
        *to = from as u32;
    }
    all
}

/// The parameters of a product.
pub(super) fn product_parameters(rows: usize, sizes: [usize; 5], width: usize, epsilon: f32) -> Parameters {
    let [columns, weight_rows, inputs, stride, first_column] = sizes;
    let mut all = parameters([rows, columns, weight_rows, inputs / 4, stride, first_column]);
    all[6] = (width as f32).to_bits();
    all[7] = epsilon.to_bits();
    all
}

/// Workgroups for so many, over two dimensions where one does not suffice.
pub(super) fn spread(workgroups: usize) -> [u32; 3] {
    const MOST: usize = 65_535;
    let y = workgroups.div_ceil(MOST).max(1);
    [workgroups.div_ceil(y) as u32, y as u32, 1]
}

/// Workgroups for a product.
pub(super) fn product_workgroups(shape: Shape, rows: usize, columns: usize, weight_rows: usize) -> [u32; 3] {
    match shape {
        Shape::Tile(tile) => {
            [weight_rows.div_ceil(TILE_COLUMNS) as u32, rows.div_ceil(tile.rows()) as u32, 1]
        }
        Shape::Vector(_) => spread(columns.div_ceil(VECTOR_COLUMNS)),
    }
}

/// Components of a head, padded to whole vectors.
fn head_stride(config: &Config) -> usize {
    config.head_size.next_multiple_of(4)
}

/// For each block of lines of the attention, where its entries in the list of tiles begin and how many there
/// are; and that list: which tiles of keys at least one line of the block sees.
pub(super) fn attention_tiles(batch: &Batch, group_size: usize) -> (Vec<[u32; 2]>, Vec<u32>) {
    let lines = batch.views.len() * group_size;
    let mut is_seen = vec![false; batch.end_slot().div_ceil(ATTENTION_TILE)];
    let (mut blocks, mut tiles) = (Vec::new(), Vec::<u32>::new());
    for first_line in (0..lines).step_by(ATTENTION_TILE) {
        let last_line = (first_line + ATTENTION_TILE).min(lines) - 1;
        for row in first_line / group_size..=last_line / group_size {
            for range in batch.views[row].ranges(batch.first_slot + row as u32) {
                if !range.is_empty() {
                    is_seen[range.start / ATTENTION_TILE..=(range.end - 1) / ATTENTION_TILE].fill(true);
                }
            }
        }
        let first = tiles.len() as u32;
        for (tile, is_seen) in is_seen.iter_mut().enumerate() {
            if std::mem::take(is_seen) {
                tiles.push(tile as u32);
            }
        }
        blocks.push([first, tiles.len() as u32 - first]);
    }
    (blocks, tiles)
}

impl GpuBackend {
    /// Finds an adapter, a fast one if there are several, and opens a device with the adapter's own limits.
    ///
    /// # Errors
    /// [`LmError::NoGpu`] with the reason.
    pub async fn open() -> Result<Gpu, LmError> {
        Gpu::open().await
    }

    /// Checks every kernel on the device against its twin on the processor (P39).
    ///
    /// # Errors
    /// [`LmError::Gpu`] that names the first kernel whose numbers are wrong.
    pub async fn self_check(gpu: &Gpu) -> Result<(), LmError> {
        super::check::self_check(gpu, &super::check::all_kernels(gpu)).await
    }

    /// Checks the kernels that this model needs, as [`self_check`](Self::self_check) does.
    ///
    /// # Errors
    /// As for [`self_check`](Self::self_check).
    pub async fn self_check_for(&self) -> Result<(), LmError> {
        super::check::self_check(&self.gpu, &self.kernels()).await
    }

    /// Loads a model's weights, slice by slice, so that never more than a few megabytes of them are held
    /// outside the GPU. `on_progress` hears how many bytes of the file have been handled.
    ///
    /// # Errors
    /// [`LmError::Tensor`], [`LmError::Unsupported`] or [`LmError::Damaged`] for what the file holds; a
    /// failure to read; [`LmError::OutOfMemory`]; [`LmError::Gpu`]; [`LmError::Cancelled`].
    pub async fn load(
        gpu: Gpu,
        gguf: &Gguf,
        config: &Config,
        source: &mut dyn ByteSource,
        on_progress: &mut dyn FnMut(u64) -> Flow,
    ) -> Result<Self, LmError> {
        let mut loader =
            Loader { gpu: &gpu, gguf, source, on_progress, handled: 0, settled: 0, bytes: Vec::new() };
        let model = load_model(&mut loader, config).await?;
        gpu.settle().await?;
        if on_progress(gguf.size) == Flow::Stop {
            return Err(LmError::Cancelled);
        }
        let backend =
            Self { workspace: None, cache: Vec::new(), model, slots: 0, config: config.clone(), gpu };
        for kernel in backend.kernels() {
            backend.gpu.prepare(kernel).await?;
        }
        Ok(backend)
    }

    /// Does what a browser or driver does when it takes the device away, also while the backend is in use.
    #[cfg(test)]
    pub(crate) fn device_loser(&self) -> impl Fn() + use<> {
        let handle = self.gpu.handle.clone();
        move || handle.destroy()
    }

    /// Every kernel that this model needs.
    fn kernels(&self) -> Vec<Kernel> {
        let shapes = [Shape::Tile(self.gpu.tile), Shape::Vector(1), Shape::Vector(VECTOR_ROWS)];
        let mut products = vec![(Role::Output, self.model.output().layout)];
        for layer in &self.model.layers {
            products.push((Role::Project, layer.project.layout));
            products.push((Role::Residual, layer.attention_output.layout));
            products.push((Role::GateUp, layer.gate_up.layout));
            products.push((Role::Residual, layer.down.layout));
        }
        products.sort_unstable();
        products.dedup();
        let mut kernels = vec![
            Kernel::Embed(self.model.embedding.layout),
            Kernel::Rotary(self.config.pairing == RotaryPairing::Neighbours),
            Kernel::Attention { head4: head_stride(&self.config) / 4 },
        ];
        for (role, layout) in products {
            kernels.extend(shapes.map(|shape| Kernel::Product(role, layout, shape)));
        }
        kernels
    }

    /// The workspace, made or made anew so that this many rows, picked rows and tiles fit.
    async fn fit(&mut self, rows: usize, picks: usize, tiles: usize) -> Result<(), LmError> {
        let (mut most_rows, mut most_picks, mut most_tiles) = (0, 0, 0);
        if let Some(old) = &self.workspace {
            if rows <= old.rows && picks <= old.picks && tiles <= old.tiles {
                return Ok(());
            }
            (most_rows, most_picks, most_tiles) = (old.rows, old.picks, old.tiles);
        }
        // The old one's memory is free before the new one is made.
        self.workspace = None;
        most_rows = most_rows.max(rows).max(self.chunk());
        most_picks = most_picks.max(picks.next_power_of_two());
        most_tiles = most_tiles.max(tiles.next_power_of_two());
        let make = || {
            let buffers = self.buffers(most_rows, most_picks, most_tiles);
            let (body, output) = self.steps(&buffers);
            Workspace { rows: most_rows, picks: most_picks, tiles: most_tiles, buffers, body, output }
        };
        self.workspace = Some(self.gpu.scoped("memory for a batch", make).await?);
        Ok(())
    }

    fn buffers(&self, rows: usize, picks: usize, tiles: usize) -> Buffers {
        use wgpu::BufferUsages as Usage;
        let (gpu, config) = (&self.gpu, &self.config);
        let words = |label: &str, words: usize| gpu.storage(label, 4 * words as u64);
        let padded = |width: usize| rows * width.next_multiple_of(GROUP);
        let steps = self.model.embedding.parts.len()
            + self.model.output().parts.len()
            + self
                .model
                .layers
                .iter()
                .map(|layer| {
                    let matrices = [&layer.project, &layer.attention_output, &layer.gate_up, &layer.down];
                    2 + matrices.iter().map(|matrix| matrix.parts.len()).sum::<usize>()
                })
                .sum::<usize>();
        let parameter_bytes = (steps * PARAMETER_STRIDE) as u64;
        let logits_bytes = 4 * (picks * config.vocabulary) as u64;
        Buffers {
            parameters: gpu.buffer("parameters", parameter_bytes, Usage::UNIFORM | Usage::COPY_DST),
            tokens: words("tokens", rows),
            angles: words("angles", rows * config.rotary_size),
            views: words("views", 4 * rows),
            blocks: words("blocks", 2 * (rows * config.heads / config.kv_heads).div_ceil(ATTENTION_TILE)),
            tiles: words("tiles", tiles),
            picks: words("picks", picks),
            stream: words("stream", padded(config.width)),
            projected: words("projected", rows * (config.query_width() + 2 * config.kv_width())),
            queries: words("queries", rows * config.heads * head_stride(config)),
            attended: words("attended", padded(config.query_width())),
            hidden: words("hidden", padded(config.feed_forward)),
            logits: gpu.storage("logits", logits_bytes),
            readback: gpu.buffer("readback", logits_bytes, Usage::MAP_READ | Usage::COPY_DST),
        }
    }

    /// Every dispatch of a batch, bound to its buffers: the body, and the output layer.
    fn steps(&self, buffers: &Buffers) -> (Vec<Step>, Vec<Step>) {
        let config = &self.config;
        let width = config.width.next_multiple_of(GROUP);
        let hidden = config.feed_forward.next_multiple_of(GROUP);
        let attended = config.query_width().next_multiple_of(GROUP);
        let projected = config.query_width() + 2 * config.kv_width();

        let mut body = Vec::new();
        for part in &self.model.embedding.parts {
            let (layout, inputs) = (self.model.embedding.layout, self.model.embedding.inputs);
            let action = Action::Embed { layout, inputs, first_token: part.first_row, tokens: part.rows };
            let bindings = part.bindings().chain([(3, &buffers.tokens), (4, &buffers.stream)]).collect();
            body.push(self.step(action, buffers, bindings));
        }
        for (layer, cache) in self.model.layers.iter().zip(&self.cache) {
            let stream = &buffers.stream;
            let project = [(3, stream), (4, &buffers.projected), (5, &layer.attention_norm)];
            self.products(Role::Project, &layer.project, projected, projected, &project, buffers, &mut body);
            let rotary = vec![
                (1, &buffers.projected),
                (2, &buffers.angles),
                (3, &buffers.queries),
                (4, &cache.keys),
                (5, &cache.values),
            ];
            body.push(self.step(Action::Rotary, buffers, rotary));
            let attention = vec![
                (1, &buffers.queries),
                (2, &cache.keys),
                (3, &cache.values),
                (4, &buffers.views),
                (5, &buffers.blocks),
                (6, &buffers.tiles),
                (7, &buffers.attended),
            ];
            body.push(self.step(Action::Attention, buffers, attention));
            let after = [(3, &buffers.attended), (4, stream)];
            debug_assert_eq!(layer.attention_output.inputs, attended);
            self.products(
                Role::Residual,
                &layer.attention_output,
                config.width,
                width,
                &after,
                buffers,
                &mut body,
            );
            let gate_up = [(3, stream), (4, &buffers.hidden), (5, &layer.feed_norm)];
            self.products(
                Role::GateUp,
                &layer.gate_up,
                config.feed_forward,
                hidden,
                &gate_up,
                buffers,
                &mut body,
            );
            let down = [(3, &buffers.hidden), (4, stream)];
            self.products(Role::Residual, &layer.down, config.width, width, &down, buffers, &mut body);
        }
        let mut output = Vec::new();
        let last =
            [(3, &buffers.stream), (4, &buffers.logits), (5, &self.model.output_norm), (6, &buffers.picks)];
        let vocabulary = config.vocabulary;
        self.products(Role::Output, self.model.output(), vocabulary, vocabulary, &last, buffers, &mut output);
        (body, output)
    }

    /// The dispatches of one product: one for each part of the matrix.
    #[expect(clippy::too_many_arguments, reason = "a list of what is bound together, used above only")]
    fn products(
        &self,
        role: Role,
        matrix: &Matrix,
        all_columns: usize,
        stride: usize,
        bindings: &[(u32, &Buffer)],
        buffers: &Buffers,
        steps: &mut Vec<Step>,
    ) {
        // An output of SwiGLU comes from two rows.
        let rows_per_column = if role == Role::GateUp { 2 } else { 1 };
        for part in &matrix.parts {
            let Part { first_row, rows, .. } = part;
            let first_column = first_row / rows_per_column;
            let product = Product {
                columns: (rows / rows_per_column).min(all_columns - first_column),
                weight_rows: *rows,
                inputs: matrix.inputs,
                width: matrix.width,
                stride,
                first_column,
            };
            let action = Action::Product { role, layout: matrix.layout, product };
            let bindings = part.bindings().chain(bindings.iter().copied()).collect();
            steps.push(self.step(action, buffers, bindings));
        }
    }

    fn step(&self, action: Action, buffers: &Buffers, bindings: Vec<(u32, &Buffer)>) -> Step {
        // Which shape of the kernel it is for does not matter to the bindings.
        let bind_group = self.gpu.bind(self.kernel(action, 1), &buffers.parameters, &bindings);
        Step { action, bind_group }
    }

    fn kernel(&self, action: Action, rows: usize) -> Kernel {
        let shape = match rows {
            1 => Shape::Vector(1),
            2..=VECTOR_ROWS => Shape::Vector(VECTOR_ROWS),
            _ => Shape::Tile(self.gpu.tile),
        };
        match action {
            Action::Embed { layout, .. } => Kernel::Embed(layout),
            Action::Product { role, layout, .. } => Kernel::Product(role, layout, shape),
            Action::Rotary => Kernel::Rotary(self.config.pairing == RotaryPairing::Neighbours),
            Action::Attention => Kernel::Attention { head4: head_stride(&self.config) / 4 },
        }
    }

    /// A step's parameters and workgroups.
    fn dispatch(&self, action: Action, rows: usize, first_slot: usize) -> (Parameters, [u32; 3]) {
        let config = &self.config;
        match action {
            Action::Embed { inputs, first_token, tokens, .. } => (
                parameters([rows, inputs / 8, first_token, tokens]),
                spread((rows * inputs / 8).div_ceil(THREADS)),
            ),
            Action::Product { product, .. } => {
                let Product { columns, weight_rows, inputs, width, stride, first_column } = product;
                let sizes = [columns, weight_rows, inputs, stride, first_column];
                let parameters = product_parameters(rows, sizes, width, config.norm_epsilon);
                let Kernel::Product(_, _, shape) = self.kernel(action, rows) else {
                    return (parameters, [0; 3]);
                };
                (parameters, product_workgroups(shape, rows, columns, weight_rows))
            }
            Action::Rotary => {
                let (heads, kv_heads, size) = (config.heads, config.kv_heads, config.head_size);
                let words =
                    [rows, heads, kv_heads, size, config.rotary_size, head_stride(config), first_slot];
                (parameters(words), spread((rows * (heads + 2 * kv_heads) * size).div_ceil(THREADS)))
            }
            Action::Attention => {
                let group = config.heads / config.kv_heads;
                let (lines, stride) = (rows * group, config.query_width().next_multiple_of(GROUP));
                let (heads, kv_heads, size) = (config.heads, config.kv_heads, config.head_size);
                let mut all =
                    parameters([lines, group, heads, kv_heads, size, first_slot, self.slots, stride]);
                all[8] = (1.0 / (size as f32).sqrt()).to_bits();
                (all, [lines.div_ceil(ATTENTION_TILE) as u32, kv_heads as u32, 1])
            }
        }
    }

    /// Puts steps into a pass. Equal parameters are kept once.
    fn record(
        &self,
        steps: &[Step],
        rows: usize,
        first_slot: usize,
        pass: &mut wgpu::ComputePass<'_>,
        parameters: &mut Vec<Parameters>,
    ) -> Result<(), LmError> {
        for step in steps {
            let (words, [x, y, z]) = self.dispatch(step.action, rows, first_slot);
            let index = parameters.iter().position(|known| *known == words).unwrap_or_else(|| {
                parameters.push(words);
                parameters.len() - 1
            });
            let pipeline = self.gpu.pipeline(self.kernel(step.action, rows))?;
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &step.bind_group, &[(index * PARAMETER_STRIDE) as u32]);
            pass.dispatch_workgroups(x, y, z);
        }
        Ok(())
    }

    /// Writes what a batch consists of into its buffers.
    fn write(&self, buffers: &Buffers, batch: &Batch, blocks: &[[u32; 2]], tiles: &[u32]) {
        let write = |buffer: &Buffer, bytes: &[u8]| self.gpu.queue.write_buffer(&buffer.0, 0, bytes);
        write(&buffers.tokens, bytemuck::cast_slice(&batch.tokens));
        write(&buffers.views, bytemuck::cast_slice(&batch.views));
        write(&buffers.blocks, bytemuck::cast_slice(blocks));
        write(&buffers.tiles, bytemuck::cast_slice(tiles));
        let mut angles = Vec::with_capacity(batch.positions.len() * self.config.rotary_size);
        for &position in &batch.positions {
            angles.extend(self.config.angles(position, false).flat_map(|(cosine, sine)| [cosine, sine]));
        }
        write(&buffers.angles, bytemuck::cast_slice(&angles));
    }

    /// Runs the body if `with_body`, then the output layer for `picks`, in one pass; appends the logits.
    async fn submit(
        &self,
        workspace: &Workspace,
        batch: &Batch,
        with_body: bool,
        picks: &[u32],
        logits: &mut Vec<f32>,
    ) -> Result<(), LmError> {
        let buffers = &workspace.buffers;
        let queue = &self.gpu.queue;
        let mut encoder = self.gpu.handle.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut parameters = Vec::new();
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            if with_body {
                let (rows, slot) = (batch.tokens.len(), batch.first_slot as usize);
                self.record(&workspace.body, rows, slot, &mut pass, &mut parameters)?;
            }
            if !picks.is_empty() {
                self.record(&workspace.output, picks.len(), 0, &mut pass, &mut parameters)?;
            }
        }
        let bytes = 4 * (picks.len() * self.config.vocabulary) as u64;
        if bytes > 0 {
            encoder.copy_buffer_to_buffer(&buffers.logits.0, 0, &buffers.readback.0, 0, bytes);
        }
        let mut parameter_words = vec![0u32; parameters.len() * PARAMETER_STRIDE / 4];
        for (to, from) in parameter_words.chunks_exact_mut(PARAMETER_STRIDE / 4).zip(&parameters) {
            to[..from.len()].copy_from_slice(from);
        }
        self.gpu
            .scoped("running the model", || {
                queue.write_buffer(&buffers.parameters.0, 0, bytemuck::cast_slice(&parameter_words));
                if !picks.is_empty() {
                    queue.write_buffer(&buffers.picks.0, 0, bytemuck::cast_slice(picks));
                }
                queue.submit([encoder.finish()]);
            })
            .await?;
        if bytes == 0 {
            return self.gpu.settle().await;
        }
        let new = self.gpu.read(&buffers.readback, bytes, bytemuck::pod_collect_to_vec::<u8, f32>).await?;
        if let Some(at) = new.iter().position(|logit| !logit.is_finite()) {
            let row = picks.get(at / self.config.vocabulary).copied().unwrap_or_default();
            return Err(LmError::NotFinite { at: format!("the logits of row {row}, computed on the GPU") });
        }
        logits.extend(new);
        Ok(())
    }
}

async fn load_model(loader: &mut Loader<'_>, config: &Config) -> Result<Model, LmError> {
    use Arrangement::{Alternating, Stacked};
    let (width, query, kv) = (config.width, config.query_width(), config.kv_width());
    let feed = config.feed_forward;
    let embedding = loader.matrix(&[("token_embd.weight", config.vocabulary)], width, Stacked).await?;
    let mut layers = Vec::new();
    for layer in 0..config.layers {
        let name = |suffix: &str| format!("blk.{layer}.{suffix}.weight");
        let (q, k, v) = (name("attn_q"), name("attn_k"), name("attn_v"));
        let (gate, up) = (name("ffn_gate"), name("ffn_up"));
        layers.push(Layer {
            attention_norm: loader.vector(&name("attn_norm"), width).await?,
            project: loader.matrix(&[(&q, query), (&k, kv), (&v, kv)], width, Stacked).await?,
            attention_output: loader.matrix(&[(&name("attn_output"), width)], query, Stacked).await?,
            feed_norm: loader.vector(&name("ffn_norm"), width).await?,
            gate_up: loader.matrix(&[(&gate, feed), (&up, feed)], width, Alternating).await?,
            down: loader.matrix(&[(&name("ffn_down"), width)], feed, Stacked).await?,
        });
    }
    let output_norm = loader.vector("output_norm.weight", width).await?;
    let output = if config.tied_output {
        None
    } else {
        Some(loader.matrix(&[("output.weight", config.vocabulary)], width, Stacked).await?)
    };
    Ok(Model { embedding, layers, output_norm, output })
}

impl Backend for GpuBackend {
    async fn forward(&mut self, batch: &Batch, _tick: &mut dyn FnMut(f32) -> Flow) -> Result<Found, LmError> {
        self.gpu.alive()?;
        check(batch, &self.config, self.slots)?;
        let (blocks, tiles) = attention_tiles(batch, self.config.heads / self.config.kv_heads);
        // As many picked rows at a time as one binding holds logits of.
        let limits = &self.gpu.limits;
        let most_bytes = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(64 << 20);
        let most_picks =
            usize::try_from(most_bytes / (4 * self.config.vocabulary as u64)).unwrap_or(1).max(1);
        // Rounded down, since room is made for powers of two.
        let most_picks = 1 << most_picks.ilog2();
        self.fit(batch.tokens.len(), batch.outputs.len().min(most_picks).max(1), tiles.len()).await?;
        let Some(workspace) = &self.workspace else {
            return Err(LmError::Gpu { problem: "its workspace vanished".into() });
        };
        self.gpu.scoped("writing a batch", || self.write(&workspace.buffers, batch, &blocks, &tiles)).await?;
        let mut logits = Vec::new();
        let (first, rest) = batch.outputs.split_at(batch.outputs.len().min(most_picks));
        self.submit(workspace, batch, true, first, &mut logits).await?;
        for picks in rest.chunks(most_picks) {
            self.submit(workspace, batch, false, picks, &mut logits).await?;
        }
        Ok(Found { logits, states: vec![0.0; batch.states.len() * self.config.width] })
    }

    async fn set_adapter(&mut self, _adapter: Option<&Adapter>) -> Result<(), LmError> {
        Ok(())
    }

    async fn reserve(&mut self, slots: usize, keep: usize) -> Result<(), LmError> {
        self.gpu.alive()?;
        if slots <= self.slots {
            return Ok(());
        }
        let slots = slots.next_multiple_of(SLOT_STEP);
        let what = format!("keys and values of {slots} tokens");
        let slot_bytes = 4 * (self.config.kv_heads * head_stride(&self.config)) as u64;
        let limits = &self.gpu.limits;
        if slots as u64 * slot_bytes > limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) {
            return Err(LmError::OutOfMemory { what });
        }
        let gpu = &self.gpu;
        let kept_bytes = keep.min(self.slots) as u64 * slot_bytes;
        let old = &self.cache;
        let cache = gpu
            .scoped(&what, || {
                let new = |label: &str| gpu.storage(label, slots as u64 * slot_bytes);
                let cache: Vec<Cache> = (0..self.config.layers)
                    .map(|_| Cache { keys: new("keys"), values: new("values") })
                    .collect();
                if kept_bytes > 0 {
                    let mut encoder =
                        gpu.handle.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
                    for (old, new) in old.iter().zip(&cache) {
                        for (old, new) in [(&old.keys, &new.keys), (&old.values, &new.values)] {
                            encoder.copy_buffer_to_buffer(&old.0, 0, &new.0, 0, kept_bytes);
                        }
                    }
                    gpu.queue.submit([encoder.finish()]);
                }
                cache
            })
            .await?;
        // What the old buffers hold must have been copied before they go.
        self.gpu.settle().await?;
        // Its bind groups name the old buffers.
        self.workspace = None;
        self.cache = cache;
        self.slots = slots;
        Ok(())
    }

    fn chunk(&self) -> usize {
        // A step of at most about a second on a slow device: drivers reset devices that stay silent for two.
        match (self.gpu.is_software(), self.config.parameters) {
            (true, _) => 128,
            (false, ..400_000_000) => 512,
            (false, ..2_000_000_000) => 256,
            (false, _) => 128,
        }
    }

    fn device(&self) -> String {
        self.gpu.device.clone()
    }
}
