//! The backend itself: a model's weights and cache on the GPU, and one step of the transformer.

use std::ops::Range;

use super::adapter::{LayerSides, Side, adapter_sides};
use super::device::{Buffer, Gpu, PARAMETER_BYTES, PARAMETER_STRIDE};
use super::layout::{GROUP, Layout};
use super::pace::{LEAST_ROWS, Pace, Stopwatch};
use super::shader::{ATTENTION_TILE, Kernel, Product, QUANTIZED_WORDS, Role, Shape, THREADS, TILE_COLUMNS};
use super::weights::{Arrangement, Loader, Matrix, Part};
use crate::backend::{Backend, Batch, Step, check};
use crate::breath::Breath;
use crate::config::{Activation, Config, RotaryPairing};
use crate::gguf::{Gguf, Rows};
use crate::matrices::Target;
use crate::plan::log_sum_exp;
use crate::{Adapter, ByteSource, Flow, LmError};

/// Slots by which the cache grows, where there is memory for it.
const SLOT_STEP: usize = 256;
/// Slots that it grows by at least.
const LEAST_SLOT_STEP: usize = 16;
/// Rows up to which the matrix-vector product is used.
const VECTOR_ROWS: usize = 4;
/// Of how many of the most probable tokens the model's check compares the probabilities.
const CHECKED_TOKENS: usize = 20;
/// How far their log-probabilities may be from the right ones.
const CHECKED_DIFFERENCE: f64 = 0.05;

/// A model on a GPU.
#[derive(Debug)]
pub struct GpuBackend {
    // Fields are dropped in this order: what lies on the device before the device.
    workspace: Option<Workspace>,
    cache: Vec<Cache>,
    /// One for each layer, or none.
    adapter: Vec<LayerSides>,
    model: Model,
    slots: usize,
    pace: Pace,
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
    project_bias: Option<Buffer>,
    /// For queries, then for keys.
    head_norms: Option<Buffer>,
    attention_output: Matrix,
    attention_output_bias: Option<Buffer>,
    post_attention_norm: Option<Buffer>,
    feed_norm: Buffer,
    /// Gate and up rows, alternating.
    gate_up: Matrix,
    down: Matrix,
    post_feed_norm: Option<Buffer>,
}

impl Layer {
    fn matrices(&self) -> [&Matrix; 4] {
        [&self.project, &self.attention_output, &self.gate_up, &self.down]
    }
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
    room: Room,
    buffers: Buffers,
    /// The embedding, then layer after layer.
    stages: Vec<Vec<Dispatch>>,
    output: Vec<Dispatch>,
    sum: Dispatch,
}

/// What fits into a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Room {
    rows: usize,
    /// Rows that the output layer is computed for at a time.
    picks: usize,
    /// Entries of a list of tiles.
    tiles: usize,
    /// Sums of states.
    sums: usize,
}

impl Room {
    fn holds(self, other: Self) -> bool {
        self.rows >= other.rows
            && self.picks >= other.picks
            && self.tiles >= other.tiles
            && self.sums >= other.sums
    }

    fn or(self, other: Self) -> Self {
        Self {
            rows: self.rows.max(other.rows),
            picks: self.picks.max(other.picks),
            tiles: self.tiles.max(other.tiles),
            sums: self.sums.max(other.sums),
        }
    }
}

#[derive(Debug)]
struct Buffers {
    parameters: Buffer,
    tokens: Buffer,
    /// For layers that see everything, and for those with a window if there are any.
    sights: Vec<SightBuffers>,
    picks: Buffer,
    /// The residual stream.
    stream: Buffer,
    projected: Buffer,
    queries: Buffer,
    attended: Buffer,
    hidden: Buffer,
    /// What a block gave, where a norm stands before the residual stream.
    given: Option<Buffer>,
    /// Between the two halves of an adapter.
    narrow: Option<Buffer>,
    /// Rows as whole numbers, where products go by packed dot products.
    whole: Option<Buffer>,
    logits: Buffer,
    sums: Buffer,
    states: Buffer,
    readback: Buffer,
}

/// What rows see in one kind of layer, and where they stand.
#[derive(Debug)]
struct SightBuffers {
    angles: Buffer,
    views: Buffer,
    blocks: Buffer,
    tiles: Buffer,
}

/// One dispatch.
#[derive(Debug)]
struct Dispatch {
    action: Action,
    bind_group: wgpu::BindGroup,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Embed {
        layout: Layout,
        inputs: usize,
        first_token: usize,
        tokens: usize,
    },
    /// Rows as whole numbers, for the packed dot products that follow.
    Quantize {
        norm: bool,
        picked: bool,
        inputs: usize,
        width: usize,
    },
    Product {
        role: Role,
        layout: Layout,
        bias: bool,
        adapter: bool,
        dots: bool,
        sizes: Sizes,
    },
    Rotary,
    Attention,
    AddNormed,
    Sum,
}

/// The sizes of a product, as its shader wants them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sizes {
    /// Columns of the output that the matrix gives.
    pub(super) columns: usize,
    pub(super) weight_rows: usize,
    /// Inputs, with the padding.
    pub(super) inputs: usize,
    /// Inputs that count.
    pub(super) width: usize,
    /// Distance between rows of the output.
    pub(super) stride: usize,
    pub(super) first_column: usize,
    /// Components between the halves of an adapter, a multiple of 4.
    pub(super) narrow: usize,
    /// Row of the adapter's second half that belongs to the first weight row.
    pub(super) first_row: usize,
}

/// A product to be put among the dispatches.
struct Wanted<'a> {
    role: Role,
    matrix: &'a Matrix,
    /// Columns of the output in all, and the distance between its rows.
    columns: usize,
    stride: usize,
    input: &'a Buffer,
    output: &'a Buffer,
    norm: Option<&'a Buffer>,
    bias: Option<&'a Buffer>,
    side: Option<&'a Side>,
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

/// The parameters of a product: `cap` is that of the logits, 0 for none.
pub(super) fn product_parameters(rows: usize, sizes: Sizes, epsilon: f32, cap: f32) -> Parameters {
    let Sizes { columns, weight_rows, inputs, width, stride, first_column, narrow, first_row } = sizes;
    let mut all = parameters([rows, columns, weight_rows, inputs / 4, stride, first_column]);
    all[6] = (width as f32).to_bits();
    all[7] = epsilon.to_bits();
    all[8] = cap.to_bits();
    all[9] = (narrow / 4) as u32;
    all[10] = first_row as u32;
    all
}

/// The parameters of an embedding.
pub(super) fn embed_parameters(
    rows: usize,
    inputs: usize,
    first_token: usize,
    tokens: usize,
    scale: f32,
) -> Parameters {
    let mut all = parameters([rows, inputs / 8, first_token, tokens]);
    all[4] = scale.to_bits();
    all
}

/// The parameters of a making of whole numbers; `inputs` counts the padding.
pub(super) fn quantize_parameters(rows: usize, inputs: usize, width: usize, epsilon: f32) -> Parameters {
    let mut all = parameters([rows, inputs / 4]);
    all[2] = (width as f32).to_bits();
    all[3] = epsilon.to_bits();
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
        Shape::Tile(tile) | Shape::Dots(tile) => {
            [weight_rows.div_ceil(TILE_COLUMNS) as u32, rows.div_ceil(tile.rows()) as u32, 1]
        }
        Shape::Vector { subgroups, .. } => spread(columns.div_ceil(Shape::vector_columns(subgroups))),
    }
}

/// Workgroups for the rotary embedding: one per head where heads are normed, one thread per component elsewhere.
pub(super) fn rotary_workgroups(norms: bool, rows: usize, all_heads: usize, head_size: usize) -> [u32; 3] {
    match norms {
        true => spread(rows * all_heads),
        false => spread((rows * all_heads * head_size).div_ceil(THREADS)),
    }
}

/// Components of a head, padded to whole vectors.
fn head_stride(config: &Config) -> usize {
    config.head_size.next_multiple_of(4)
}

/// What the rows of a batch see in layers of one reach, as the attention's kernel wants it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sight {
    /// Start and end of three ranges of slots of each row, and two unused words.
    pub(super) views: Vec<[u32; 8]>,
    /// For each block of lines, where its entries in the list of tiles begin and how many there are.
    pub(super) blocks: Vec<[u32; 2]>,
    /// Which tiles of keys at least one line of the block sees.
    pub(super) tiles: Vec<u32>,
}

impl Sight {
    pub(super) fn new(batch: &Batch, group_size: usize, reach: usize) -> Self {
        let mut sight = Self::default();
        let near: Vec<[Range<usize>; 3]> =
            batch.views.iter().zip(batch.first_slot..).map(|(view, slot)| view.near(slot, reach)).collect();
        for [a, b, c] in &near {
            let words = [a.start, a.end, b.start, b.end, c.start, c.end, 0, 0];
            sight.views.push(words.map(|word| word as u32));
        }
        let lines = near.len() * group_size;
        let mut is_seen = vec![false; batch.end_slot().div_ceil(ATTENTION_TILE)];
        for first_line in (0..lines).step_by(ATTENTION_TILE) {
            let last_line = (first_line + ATTENTION_TILE).min(lines) - 1;
            for ranges in &near[first_line / group_size..=last_line / group_size] {
                for range in ranges.iter().filter(|range| !range.is_empty()) {
                    is_seen[range.start / ATTENTION_TILE..=(range.end - 1) / ATTENTION_TILE].fill(true);
                }
            }
            let first = sight.tiles.len() as u32;
            for (tile, is_seen) in is_seen.iter_mut().enumerate() {
                if std::mem::take(is_seen) {
                    sight.tiles.push(tile as u32);
                }
            }
            sight.blocks.push([first, sight.tiles.len() as u32 - first]);
        }
        sight
    }
}

/// The wanted sums of states, layer by layer.
struct Sums {
    /// First row, rows, and where among all sums it goes.
    words: Vec<[u32; 4]>,
    /// Which of them belong to each layer.
    of_layer: Vec<Range<usize>>,
}

impl Sums {
    fn new(batch: &Batch, layers: usize) -> Self {
        let mut sums = Self { words: Vec::new(), of_layer: Vec::new() };
        for layer in 0..=layers {
            let first = sums.words.len();
            for (at, sum) in batch.states.iter().enumerate().filter(|(_, sum)| sum.layer == layer) {
                sums.words.push([sum.first_row, sum.rows, at as u32, 0]);
            }
            sums.of_layer.push(first..sums.words.len());
        }
        sums
    }
}

/// What one submission computes.
struct Submission<'a> {
    batch: &'a Batch,
    sums: &'a Sums,
    /// The embedding is stage 0, layer `i` (counted from 1) stage `i`.
    stages: Range<usize>,
    /// Rows that the output layer is computed for.
    picks: &'a [u32],
    /// Whether the sums of states are read.
    with_states: bool,
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

    /// Checks the kernels that this model needs, as [`self_check`](Self::self_check) does. Where variants with
    /// 16-bit floats or subgroups are wrong, the ones without take their place, if they are right.
    ///
    /// # Errors
    /// As for [`self_check`](Self::self_check).
    pub async fn self_check_for(&self) -> Result<(), LmError> {
        let result = super::check::self_check(&self.gpu, &self.kernels()).await;
        let tuning = self.gpu.tuning.get();
        if result.is_ok() || tuning == tuning.plain() {
            return result;
        }
        self.gpu.alive()?;
        self.gpu.tuning.set(tuning.plain());
        self.prepare().await?;
        super::check::self_check(&self.gpu, &self.kernels()).await
    }

    /// Computes a short prompt and holds the logits of its last token against the right ones (P39): those of the
    /// same file on the processor.
    ///
    /// The most probable token must be the same, or as probable within 0.05 in the logarithm; and so must be the
    /// log-probabilities of the 20 most probable tokens. `tokens` are 1 or more; `right` has one logit for each
    /// token of the vocabulary. What the cache held is lost.
    ///
    /// # Errors
    /// [`LmError::Gpu`] that names the difference; whatever stopped the computation.
    pub async fn logit_check(&mut self, right: &[f32], tokens: &[u32]) -> Result<(), LmError> {
        let mut result = self.try_logit_check(right, tokens).await;
        let tuning = self.gpu.tuning.get();
        if result.is_err() && tuning != tuning.plain() {
            self.gpu.alive()?;
            self.gpu.tuning.set(tuning.plain());
            self.prepare().await?;
            result = self.try_logit_check(right, tokens).await;
        }
        result
    }

    async fn try_logit_check(&mut self, right: &[f32], tokens: &[u32]) -> Result<(), LmError> {
        self.reserve(tokens.len(), 0).await?;
        let mut first = 0;
        let mut got = Vec::new();
        while first < tokens.len() {
            let end = (first + self.chunk()).min(tokens.len());
            let mut batch = Batch::linear(&tokens[first..end], first);
            if end == tokens.len() {
                batch.outputs = vec![(end - first - 1) as u32];
            }
            got = self.forward(&batch, &mut |_| Flow::Continue).await?.logits;
            first = end;
        }
        compare_logits(&got, right).map_err(|problem| LmError::Gpu { problem })
    }

    /// What was measured on this adapter, as a text; see [`Gpu::tuning`].
    #[must_use]
    pub fn tuning(&self) -> Option<String> {
        self.gpu.tuning()
    }

    /// Loads a model's weights, slice by slice, so that never more than a few megabytes of them are held
    /// outside the GPU. `on_progress` hears how many bytes of the file have been handled.
    ///
    /// On a real GPU the variants of the kernels are measured before, unless [`Gpu::remember`] knew them.
    ///
    /// # Errors
    /// [`LmError::Tensor`], [`LmError::Unsupported`] or [`LmError::Damaged`] for what the file holds; a
    /// failure to read; [`LmError::OutOfMemory`]; [`LmError::Gpu`]; [`LmError::Cancelled`].
    pub async fn load(
        mut gpu: Gpu,
        gguf: &Gguf,
        config: &Config,
        source: &mut dyn ByteSource,
        on_progress: &mut dyn FnMut(u64) -> Flow,
    ) -> Result<Self, LmError> {
        if !gpu.is_software() {
            gpu.tune().await?;
        }
        let mut loader =
            Loader { gpu: &gpu, gguf, source, on_progress, handled: 0, settled: 0, bytes: Vec::new() };
        let model = load_model(&mut loader, config).await?;
        gpu.settle().await?;
        if on_progress(gguf.size) == Flow::Stop {
            return Err(LmError::Cancelled);
        }
        let layer_weights = model.layers.iter().flat_map(Layer::matrices).map(Matrix::weights).sum::<usize>();
        let weights = [layer_weights / model.layers.len().max(1), model.output().weights()];
        let most_rows = most_rows(&gpu, config);
        let pace = Pace::new(config.layers, weights, most_rows, VECTOR_ROWS);
        let (workspace, cache, adapter) = (None, Vec::new(), Vec::new());
        let mut backend =
            Self { workspace, cache, adapter, model, slots: 0, pace, config: config.clone(), gpu };
        backend.pace.set_tile(backend.gpu.tuning.get().tile.rows());
        backend.prepare().await?;
        // A device that was lost while kernels were compiled says so only now.
        backend.gpu.settle().await?;
        Ok(backend)
    }

    /// Does what a browser or driver does when it takes the device away, also while the backend is in use.
    #[cfg(test)]
    pub(crate) fn device_loser(&self) -> impl Fn() + use<> {
        let handle = self.gpu.handle.clone();
        move || handle.destroy()
    }

    /// The device, for tests that plant faults in it.
    #[cfg(test)]
    pub(super) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Compiles every kernel that is needed and not compiled yet.
    async fn prepare(&self) -> Result<(), LmError> {
        for kernel in self.kernels() {
            self.gpu.prepare(kernel).await?;
        }
        Ok(())
    }

    fn gated(&self) -> Role {
        match self.config.activation {
            Activation::SwiGlu => Role::SwiGlu,
            Activation::GeGlu => Role::GeGlu,
        }
    }

    /// What becomes of a block's last product.
    fn ending(&self) -> Role {
        if self.config.post_norms { Role::Plain } else { Role::Residual }
    }

    /// Every kernel that this model needs, with its adapter if there is one.
    fn kernels(&self) -> Vec<Kernel> {
        let config = &self.config;
        let mut products = vec![(Role::Output, self.model.output().layout, false, false)];
        let none = LayerSides::default();
        let sides = self.adapter.iter().chain(std::iter::repeat(&none));
        for (layer, sides) in self.model.layers.iter().zip(sides) {
            let biases = config.biases;
            let all = [
                (Role::Project, &layer.project, biases.projections, &sides.project),
                (self.ending(), &layer.attention_output, biases.attention_output, &sides.attention_output),
                (self.gated(), &layer.gate_up, false, &sides.gate_up),
                (self.ending(), &layer.down, false, &sides.down),
            ];
            for (role, matrix, bias, side) in all {
                products.push((role, matrix.layout, bias, side.is_some()));
                if let Some(side) = side {
                    products.push((side.role(role), side.first.layout, false, false));
                }
            }
        }
        products.sort_unstable();
        products.dedup();
        let mut kernels = vec![Kernel::Embed(self.model.embedding.layout), Kernel::Sum];
        if config.post_norms {
            kernels.push(Kernel::AddNormed);
        }
        kernels.extend([Action::Rotary, Action::Attention].map(|action| self.kernel(action, 1)));
        for (role, layout, bias, adapter) in products {
            for dots in [false, true] {
                let action = Action::Product { role, layout, bias, adapter, dots, sizes: Sizes::default() };
                let rows = [1, VECTOR_ROWS, VECTOR_ROWS + 1].into_iter();
                let used = rows.filter(|rows| self.is_used(action, *rows));
                kernels.extend(used.map(|rows| self.kernel(action, rows)));
            }
            if self.has_dots(layout, adapter) {
                kernels.push(Kernel::Quantize { norm: role.has_norm(), picked: role == Role::Output });
            }
        }
        kernels.sort_unstable();
        kernels.dedup();
        kernels
    }

    /// Logits that one readback holds, as rows.
    fn most_picks(&self) -> usize {
        let limits = &self.gpu.limits;
        let most_bytes = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(64 << 20);
        let most = usize::try_from(most_bytes / (4 * self.config.vocabulary as u64)).unwrap_or(1).max(1);
        // Rounded down, since room is made for powers of two.
        1 << most.min(self.pace.picks()).max(1).ilog2()
    }

    /// The workspace, made or made anew so that all this fits.
    async fn fit(&mut self, wanted: Room) -> Result<(), LmError> {
        let mut room = Room {
            rows: wanted.rows.max(self.chunk()),
            picks: wanted.picks.next_power_of_two(),
            tiles: wanted.tiles.next_power_of_two(),
            sums: wanted.sums.next_power_of_two(),
        };
        if let Some(old) = &self.workspace {
            if old.room.holds(wanted) {
                return Ok(());
            }
            room = room.or(old.room);
        }
        // The old one's memory is free before the new one is made.
        self.workspace = None;
        if self.make_workspace(room).await.is_ok() {
            return Ok(());
        }
        // Perhaps there is room for just what is needed.
        self.make_workspace(wanted).await
    }

    async fn make_workspace(&mut self, room: Room) -> Result<(), LmError> {
        let make = || {
            let buffers = self.buffers(room);
            let (stages, output) = self.dispatches(&buffers);
            let bound = vec![(1, &buffers.stream), (2, &buffers.sums), (3, &buffers.states)];
            let sum = self.bound(Action::Sum, &buffers, bound);
            Workspace { room, buffers, stages, output, sum }
        };
        self.workspace = Some(self.gpu.scoped("memory for a batch", make).await?);
        Ok(())
    }

    fn buffers(&self, room: Room) -> Buffers {
        use wgpu::BufferUsages as Usage;
        let (gpu, config) = (&self.gpu, &self.config);
        let Room { rows, picks, tiles, sums } = room;
        let words = |label: &str, words: usize| gpu.storage(label, 4 * words as u64);
        let padded = |width: usize| rows * width.next_multiple_of(GROUP);
        let parts = |matrix: &Matrix| matrix.parts.len();
        let layers: usize = self.model.layers.iter().flat_map(Layer::matrices).map(parts).sum();
        let sides: usize = self.adapter.iter().flat_map(LayerSides::all).map(|side| parts(&side.first)).sum();
        // Each layer has at most four dispatches besides, four makings of whole numbers and a sum; the embedding has
        // a sum and the output layer a making too.
        let dispatches = layers
            + sides
            + parts(&self.model.embedding)
            + parts(self.model.output())
            + 9 * config.layers
            + 2;
        let parameter_bytes = (dispatches * PARAMETER_STRIDE) as u64;
        let blocks = (rows * config.heads / config.kv_heads).div_ceil(ATTENTION_TILE);
        let sight = || SightBuffers {
            angles: words("angles", rows * config.rotary_size),
            views: words("views", 8 * rows),
            blocks: words("blocks", 2 * blocks),
            tiles: words("tiles", tiles),
        };
        let narrow = self.adapter.iter().map(LayerSides::width).max().unwrap_or(0);
        let inputs = self.model.layers.iter().flat_map(Layer::matrices).chain([self.model.output()]);
        let most_inputs = inputs.map(|matrix| matrix.inputs).max().unwrap_or(0);
        let whole = rows.max(picks) * most_inputs / GROUP * QUANTIZED_WORDS;
        let (logits, states) = (picks * config.vocabulary, sums * config.width);
        Buffers {
            parameters: gpu.buffer("parameters", parameter_bytes, Usage::UNIFORM | Usage::COPY_DST),
            tokens: words("tokens", rows),
            sights: (0..self.reaches().len()).map(|_| sight()).collect(),
            picks: words("picks", picks),
            stream: words("stream", padded(config.width)),
            projected: words("projected", rows * (config.query_width() + 2 * config.kv_width())),
            queries: words("queries", rows * config.heads * head_stride(config)),
            attended: words("attended", padded(config.query_width())),
            hidden: words("hidden", padded(config.feed_forward)),
            given: config.post_norms.then(|| words("given", padded(config.width))),
            narrow: (narrow > 0).then(|| words("narrow", rows * narrow)),
            whole: gpu.tuning.get().dots.then(|| words("whole numbers", whole)),
            logits: words("logits", logits),
            sums: words("sums", 4 * sums),
            states: words("states", states),
            readback: gpu.buffer("readback", 4 * (logits + states) as u64, Usage::MAP_READ | Usage::COPY_DST),
        }
    }

    /// How far rows see in each kind of layer: all of them first.
    fn reaches(&self) -> Vec<usize> {
        match &self.config.window {
            None => vec![usize::MAX],
            Some(window) => vec![usize::MAX, window.size],
        }
    }

    /// Every dispatch of a batch, bound to its buffers: the stages of the body, and the output layer.
    fn dispatches(&self, buffers: &Buffers) -> (Vec<Vec<Dispatch>>, Vec<Dispatch>) {
        let config = &self.config;
        let width = config.width.next_multiple_of(GROUP);
        let hidden = config.feed_forward.next_multiple_of(GROUP);
        let projected = config.query_width() + 2 * config.kv_width();
        let stream = &buffers.stream;

        let mut embed = Vec::new();
        for part in &self.model.embedding.parts {
            let (layout, inputs) = (self.model.embedding.layout, self.model.embedding.inputs);
            let action = Action::Embed { layout, inputs, first_token: part.first_row, tokens: part.rows };
            let bindings = part.bindings().chain([(3, &buffers.tokens), (4, stream)]).collect();
            embed.push(self.bound(action, buffers, bindings));
        }
        let mut stages = vec![embed];
        let none = LayerSides::default();
        let sides = self.adapter.iter().chain(std::iter::repeat(&none));
        for (index, ((layer, cache), sides)) in
            self.model.layers.iter().zip(&self.cache).zip(sides).enumerate()
        {
            let mut stage = Vec::new();
            let Some(sight) = buffers.sights.get(usize::from(config.is_local(index))) else { continue };
            let project = Wanted {
                role: Role::Project,
                matrix: &layer.project,
                columns: projected,
                stride: projected,
                input: stream,
                output: &buffers.projected,
                norm: Some(&layer.attention_norm),
                bias: layer.project_bias.as_ref(),
                side: sides.project.as_ref(),
            };
            self.product(&project, buffers, &mut stage);
            let mut rotary = vec![
                (1, &buffers.projected),
                (2, &sight.angles),
                (3, &buffers.queries),
                (4, &cache.keys),
                (5, &cache.values),
            ];
            rotary.extend(layer.head_norms.as_ref().map(|norms| (6, norms)));
            stage.push(self.bound(Action::Rotary, buffers, rotary));
            let attention = vec![
                (1, &buffers.queries),
                (2, &cache.keys),
                (3, &cache.values),
                (4, &sight.views),
                (5, &sight.blocks),
                (6, &sight.tiles),
                (7, &buffers.attended),
            ];
            stage.push(self.bound(Action::Attention, buffers, attention));
            let after = Wanted {
                role: self.ending(),
                matrix: &layer.attention_output,
                columns: config.width,
                stride: width,
                input: &buffers.attended,
                output: buffers.given.as_ref().unwrap_or(stream),
                norm: None,
                bias: layer.attention_output_bias.as_ref(),
                side: sides.attention_output.as_ref(),
            };
            self.product(&after, buffers, &mut stage);
            self.add_normed(layer.post_attention_norm.as_ref(), buffers, &mut stage);
            let gate_up = Wanted {
                role: self.gated(),
                matrix: &layer.gate_up,
                columns: config.feed_forward,
                stride: hidden,
                input: stream,
                output: &buffers.hidden,
                norm: Some(&layer.feed_norm),
                bias: None,
                side: sides.gate_up.as_ref(),
            };
            self.product(&gate_up, buffers, &mut stage);
            let down = Wanted {
                matrix: &layer.down,
                input: &buffers.hidden,
                bias: None,
                side: sides.down.as_ref(),
                ..after
            };
            self.product(&down, buffers, &mut stage);
            self.add_normed(layer.post_feed_norm.as_ref(), buffers, &mut stage);
            stages.push(stage);
        }
        let mut output = Vec::new();
        let last = Wanted {
            role: Role::Output,
            matrix: self.model.output(),
            columns: config.vocabulary,
            stride: config.vocabulary,
            input: stream,
            output: &buffers.logits,
            norm: Some(&self.model.output_norm),
            bias: None,
            side: None,
        };
        self.product(&last, buffers, &mut output);
        (stages, output)
    }

    /// The dispatches of one product: one for each part of the matrix, after those of the adapter's first half.
    fn product<'a>(&'a self, wanted: &Wanted<'a>, buffers: &'a Buffers, dispatches: &mut Vec<Dispatch>) {
        let Wanted { role, matrix, columns: all_columns, stride, input, output, norm, bias, side } = *wanted;
        let side = side.and_then(|side| Some((side, buffers.narrow.as_ref()?)));
        if let Some((side, narrow)) = side {
            let first = Wanted {
                role: side.role(role),
                matrix: &side.first,
                columns: side.columns,
                stride: side.columns,
                output: narrow,
                bias: None,
                side: None,
                ..*wanted
            };
            self.product(&first, buffers, dispatches);
        }
        // By packed dot products too, if they may be used: which of the two it is depends on how many rows there are.
        let whole = buffers.whole.as_ref().filter(|_| self.has_dots(matrix.layout, side.is_some()));
        if let Some(whole) = whole {
            let picked = role == Role::Output;
            let (inputs, width) = (matrix.inputs, matrix.width);
            let action = Action::Quantize { norm: norm.is_some(), picked, inputs, width };
            let mut bindings = vec![(3, input), (4, whole)];
            bindings.extend(norm.map(|norm| (5, norm)));
            bindings.extend(picked.then_some((6, &buffers.picks)));
            dispatches.push(self.bound(action, buffers, bindings));
        }
        // A gated output comes from two rows.
        let rows_per_column = if role.is_gated() { 2 } else { 1 };
        for part in &matrix.parts {
            let Part { first_row, rows, .. } = part;
            let first_column = first_row / rows_per_column;
            let sizes = Sizes {
                columns: (rows / rows_per_column).min(all_columns - first_column),
                weight_rows: *rows,
                inputs: matrix.inputs,
                width: matrix.width,
                stride,
                first_column,
                narrow: side.map_or(0, |(side, _)| side.columns),
                first_row: *first_row,
            };
            let (has_bias, adapter) = (bias.is_some(), side.is_some());
            let action =
                Action::Product { role, layout: matrix.layout, bias: has_bias, adapter, dots: false, sizes };
            if let Some(whole) = whole {
                let action = Action::Product {
                    role,
                    layout: matrix.layout,
                    bias: has_bias,
                    adapter,
                    dots: true,
                    sizes,
                };
                let mut bindings: Vec<(u32, &Buffer)> = part.bindings().collect();
                bindings.extend([(3, whole), (4, output)]);
                bindings.extend(bias.map(|bias| (7, bias)));
                dispatches.push(self.bound(action, buffers, bindings));
            }
            let mut bindings: Vec<(u32, &Buffer)> = part.bindings().collect();
            bindings.extend([(3, input), (4, output)]);
            bindings.extend(norm.map(|norm| (5, norm)));
            if role == Role::Output {
                bindings.push((6, &buffers.picks));
            }
            bindings.extend(bias.map(|bias| (7, bias)));
            if let Some((side, narrow)) = side {
                bindings.extend([(8, narrow), (9, &side.second)]);
            }
            dispatches.push(self.bound(action, buffers, bindings));
        }
    }

    /// The norm between a block and the residual stream, where there is one.
    fn add_normed(&self, norm: Option<&Buffer>, buffers: &Buffers, dispatches: &mut Vec<Dispatch>) {
        if let (Some(norm), Some(given)) = (norm, &buffers.given) {
            let bindings = vec![(1, given), (2, norm), (3, &buffers.stream)];
            dispatches.push(self.bound(Action::AddNormed, buffers, bindings));
        }
    }

    fn bound(&self, action: Action, buffers: &Buffers, bindings: Vec<(u32, &Buffer)>) -> Dispatch {
        // Which shape of the kernel it is for does not matter to the bindings.
        let bind_group = self.gpu.bind(self.kernel(action, 1), &buffers.parameters, &bindings);
        Dispatch { action, bind_group }
    }

    /// Whether products of many rows with such weights go by packed dot products.
    fn has_dots(&self, layout: Layout, adapter: bool) -> bool {
        self.gpu.tuning.get().dots && layout.has_scales() && !adapter
    }

    /// Whether this is dispatched for so many rows, or left to the other way of computing the same product.
    fn is_used(&self, action: Action, rows: usize) -> bool {
        match action {
            Action::Quantize { .. } => self.gpu.tuning.get().dots && rows > VECTOR_ROWS,
            Action::Product { layout, adapter, dots, .. } => {
                dots == (rows > VECTOR_ROWS && self.has_dots(layout, adapter))
            }
            _ => true,
        }
    }

    fn kernel(&self, action: Action, rows: usize) -> Kernel {
        let tuning = self.gpu.tuning.get();
        let subgroups = tuning.subgroups;
        let shape = match rows {
            1 => Shape::Vector { rows: 1, subgroups },
            2..=VECTOR_ROWS => Shape::Vector { rows: VECTOR_ROWS, subgroups },
            _ => Shape::Tile(tuning.tile),
        };
        match action {
            Action::Embed { layout, .. } => Kernel::Embed(layout),
            Action::Quantize { norm, picked, .. } => Kernel::Quantize { norm, picked },
            Action::Product { role, layout, bias, adapter, dots, .. } => {
                let shape = if dots { Shape::Dots(tuning.tile.with_half(false)) } else { shape };
                Kernel::Product(Product { role, layout, shape, bias, adapter })
            }
            Action::Rotary => Kernel::Rotary {
                neighbours: self.config.pairing == RotaryPairing::Neighbours,
                norms: self.config.head_norms,
            },
            Action::Attention => Kernel::Attention { head4: head_stride(&self.config) / 4 },
            Action::AddNormed => Kernel::AddNormed,
            Action::Sum => Kernel::Sum,
        }
    }

    /// A dispatch's parameters and workgroups. `sums` are those that a sum is for.
    fn sizes(
        &self,
        action: Action,
        rows: usize,
        first_slot: usize,
        sums: &Range<usize>,
    ) -> (Parameters, [u32; 3]) {
        let config = &self.config;
        let width = config.width.next_multiple_of(GROUP);
        match action {
            Action::Embed { inputs, first_token, tokens, .. } => (
                embed_parameters(rows, inputs, first_token, tokens, config.embedding_scale),
                spread((rows * inputs / 8).div_ceil(THREADS)),
            ),
            Action::Quantize { inputs, width, .. } => {
                (quantize_parameters(rows, inputs, width, config.norm_epsilon), spread(rows))
            }
            Action::Product { role, sizes, .. } => {
                let cap = config.logit_cap.filter(|_| role == Role::Output).unwrap_or(0.0);
                let parameters = product_parameters(rows, sizes, config.norm_epsilon, cap);
                let Kernel::Product(product) = self.kernel(action, rows) else {
                    return (parameters, [0; 3]);
                };
                (parameters, product_workgroups(product.shape, rows, sizes.columns, sizes.weight_rows))
            }
            Action::Rotary => {
                let (heads, kv_heads, size) = (config.heads, config.kv_heads, config.head_size);
                let words =
                    [rows, heads, kv_heads, size, config.rotary_size, head_stride(config), first_slot];
                let mut all = parameters(words);
                all[7] = config.norm_epsilon.to_bits();
                (all, rotary_workgroups(config.head_norms, rows, heads + 2 * kv_heads, size))
            }
            Action::Attention => {
                let group = config.heads / config.kv_heads;
                let (lines, stride) = (rows * group, config.query_width().next_multiple_of(GROUP));
                let (heads, kv_heads, size) = (config.heads, config.kv_heads, config.head_size);
                let mut all = parameters([lines, group, heads, kv_heads, size, self.slots, stride]);
                all[7] = config.attention_scale.to_bits();
                all[8] = config.attention_cap.unwrap_or(0.0).to_bits();
                (all, [lines.div_ceil(ATTENTION_TILE) as u32, kv_heads as u32, 1])
            }
            Action::AddNormed => {
                let mut all = parameters([width / 4]);
                all[1] = (config.width as f32).to_bits();
                all[2] = config.norm_epsilon.to_bits();
                (all, [rows as u32, 1, 1])
            }
            Action::Sum => {
                let all = parameters([sums.start, config.width, width]);
                (all, [config.width.div_ceil(THREADS) as u32, sums.len() as u32, 1])
            }
        }
    }

    /// Puts dispatches into a pass. Equal parameters are kept once.
    fn record<'a>(
        &self,
        dispatches: impl Iterator<Item = (&'a Dispatch, Range<usize>)>,
        rows: usize,
        first_slot: usize,
        pass: &mut wgpu::ComputePass<'_>,
        parameters: &mut Vec<Parameters>,
    ) -> Result<(), LmError> {
        for (dispatch, sums) in dispatches {
            if !self.is_used(dispatch.action, rows) {
                continue;
            }
            let (words, [x, y, z]) = self.sizes(dispatch.action, rows, first_slot, &sums);
            let index = parameters.iter().position(|known| *known == words).unwrap_or_else(|| {
                parameters.push(words);
                parameters.len() - 1
            });
            let pipeline = self.gpu.pipeline(self.kernel(dispatch.action, rows))?;
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &dispatch.bind_group, &[(index * PARAMETER_STRIDE) as u32]);
            pass.dispatch_workgroups(x, y, z);
        }
        Ok(())
    }

    /// Writes what a batch consists of into its buffers.
    fn write(&self, buffers: &Buffers, batch: &Batch, sights: &[Sight], sums: &Sums) {
        let write = |buffer: &Buffer, bytes: &[u8]| {
            if !bytes.is_empty() {
                self.gpu.queue.write_buffer(&buffer.0, 0, bytes);
            }
        };
        write(&buffers.tokens, bytemuck::cast_slice(&batch.tokens));
        write(&buffers.sums, bytemuck::cast_slice(&sums.words));
        for (local, (to, sight)) in buffers.sights.iter().zip(sights).enumerate() {
            write(&to.views, bytemuck::cast_slice(&sight.views));
            write(&to.blocks, bytemuck::cast_slice(&sight.blocks));
            write(&to.tiles, bytemuck::cast_slice(&sight.tiles));
            let mut angles = Vec::with_capacity(batch.positions.len() * self.config.rotary_size);
            for &position in &batch.positions {
                angles.extend(self.config.angles(position, local == 1).flat_map(<[f32; 2]>::from));
            }
            write(&to.angles, bytemuck::cast_slice(&angles));
        }
    }

    /// Runs some stages of the body, then the output layer for the picks, in one pass, and waits for it; appends
    /// to `found` what is read.
    async fn submit(
        &self,
        workspace: &Workspace,
        submission: &Submission<'_>,
        found: &mut Step,
    ) -> Result<(), LmError> {
        let Submission { batch, sums, stages, picks, with_states } = submission;
        let buffers = &workspace.buffers;
        let queue = &self.gpu.queue;
        let mut encoder = self.gpu.handle.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut parameters = Vec::new();
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            let (rows, slot) = (batch.tokens.len(), batch.first_slot as usize);
            let body = workspace.stages.iter().zip(&sums.of_layer).take(stages.end).skip(stages.start);
            for (stage, wanted) in body {
                let sum = (!wanted.is_empty()).then_some((&workspace.sum, wanted.clone()));
                let all = stage.iter().map(|dispatch| (dispatch, 0..0)).chain(sum);
                self.record(all, rows, slot, &mut pass, &mut parameters)?;
            }
            if !picks.is_empty() {
                let all = workspace.output.iter().map(|dispatch| (dispatch, 0..0));
                self.record(all, picks.len(), 0, &mut pass, &mut parameters)?;
            }
        }
        let logits = picks.len() * self.config.vocabulary;
        let states = if *with_states { sums.words.len() * self.config.width } else { 0 };
        let (logit_bytes, state_bytes) = (4 * logits as u64, 4 * states as u64);
        for (from, at, bytes) in
            [(&buffers.logits, 0, logit_bytes), (&buffers.states, logit_bytes, state_bytes)]
        {
            if bytes > 0 {
                encoder.copy_buffer_to_buffer(&from.0, 0, &buffers.readback.0, at, bytes);
            }
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
        let bytes = logit_bytes + state_bytes;
        if bytes == 0 {
            return self.gpu.settle().await;
        }
        let new = self.gpu.read(&buffers.readback, bytes, bytemuck::pod_collect_to_vec::<u8, f32>).await?;
        if let Some(at) = new.iter().position(|number| !number.is_finite()) {
            let at = match picks.get(at / self.config.vocabulary) {
                Some(row) => format!("the logits of row {row}, computed on the GPU"),
                None => "the hidden states, computed on the GPU".to_owned(),
            };
            return Err(LmError::NotFinite { at });
        }
        let (new_logits, new_states) = new.split_at(logits);
        found.logits.extend_from_slice(new_logits);
        found.states.extend_from_slice(new_states);
        Ok(())
    }

    /// Computes a batch, in parts if there is no memory for all its rows at once.
    async fn run(&mut self, batch: &Batch, tick: &mut dyn FnMut(f32) -> Flow) -> Result<Step, LmError> {
        let (all, width) = (batch.tokens.len(), self.config.width);
        let mut found = Step { logits: Vec::new(), states: vec![0.0; batch.states.len() * width] };
        let mut rows = all;
        let mut first = 0;
        while first < all {
            rows = rows.min(all - first);
            let part = batch.part(first..first + rows);
            let group = self.config.heads / self.config.kv_heads;
            let sights: Vec<Sight> =
                self.reaches().into_iter().map(|reach| Sight::new(&part, group, reach)).collect();
            let wanted = Room {
                rows,
                picks: part.outputs.len().min(self.most_picks()).max(1),
                tiles: sights.iter().map(|sight| sight.tiles.len()).max().unwrap_or(1),
                sums: part.states.len().max(1),
            };
            match self.fit(wanted).await {
                Err(LmError::OutOfMemory { .. }) if rows > LEAST_ROWS => {
                    rows = (rows / 2).max(LEAST_ROWS);
                    self.pace.limit(rows);
                    continue;
                }
                result => result?,
            }
            let mut part_tick = |share: f32| tick((first as f32 + share * rows as f32) / all as f32);
            let step = self.run_part(&part, &sights, &mut part_tick).await?;
            found.logits.extend(step.logits);
            found.states.iter_mut().zip(&step.states).for_each(|(sum, more)| *sum += more);
            first += rows;
        }
        Ok(found)
    }

    /// Computes a batch that the workspace holds: in one submission, or where that would take too long in several,
    /// between which control is given back.
    async fn run_part(
        &mut self,
        batch: &Batch,
        sights: &[Sight],
        tick: &mut dyn FnMut(f32) -> Flow,
    ) -> Result<Step, LmError> {
        let sums = Sums::new(batch, self.config.layers);
        let most_picks = self.most_picks();
        // Taken out, so that the pace can be kept meanwhile; whatever fails, it is made anew if it is gone.
        let Some(workspace) = self.workspace.take() else {
            return Err(LmError::Gpu { problem: "its workspace vanished".into() });
        };
        let write = || self.write(&workspace.buffers, batch, sights, &sums);
        self.gpu.scoped("writing a batch", write).await?;
        let mut found = Step::default();
        let mut breath = Breath::new();
        let (rows, all) = (batch.tokens.len(), self.config.layers + 1);
        let mut picks = &batch.outputs[..];
        let mut next = 0;
        // At least the body; then the output layer, for some rows at a time.
        while next < all || !picks.is_empty() {
            let first = next;
            if next < all {
                // The embedding costs nothing beside a layer.
                let at_once = self.pace.layers_at_once(rows) + usize::from(next == 0);
                next = (next + at_once).min(all);
            }
            // A step that is submitted whole has its output layer with it; one that is not, by itself.
            let is_whole = first == 0 && next == all;
            let now = if is_whole || first == all { picks.len().min(most_picks) } else { 0 };
            let (these, rest) = picks.split_at(now);
            picks = rest;
            let submission = Submission {
                batch,
                sums: &sums,
                stages: first..next,
                picks: these,
                with_states: first < all && next == all,
            };
            let watch = Stopwatch::start();
            self.submit(&workspace, &submission, &mut found).await?;
            let layers = next.saturating_sub(first.max(1));
            self.pace.learn(layers, if layers == 0 { 0 } else { rows }, now, watch.seconds());
            breath.take().await;
            if tick(next as f32 / all as f32) == Flow::Stop && (next < all || !picks.is_empty()) {
                self.workspace = Some(workspace);
                return Err(LmError::Cancelled);
            }
        }
        self.workspace = Some(workspace);
        Ok(found)
    }

    /// Allocates keys and values for so many slots, with what the first `keep` slots hold.
    async fn make_cache(&self, slots: usize, keep: usize) -> Result<Vec<Cache>, LmError> {
        let what = format!("keys and values of {slots} tokens");
        let slot_bytes = 4 * (self.config.kv_heads * head_stride(&self.config)) as u64;
        let limits = &self.gpu.limits;
        if slots as u64 * slot_bytes > limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) {
            return Err(LmError::OutOfMemory { what });
        }
        let gpu = &self.gpu;
        let kept_bytes = keep.min(self.slots) as u64 * slot_bytes;
        let old = &self.cache;
        let make = || {
            let new = |label: &str| gpu.storage(label, slots as u64 * slot_bytes);
            let cache: Vec<Cache> =
                (0..self.config.layers).map(|_| Cache { keys: new("keys"), values: new("values") }).collect();
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
        };
        let cache = gpu.scoped(&what, make).await?;
        // What the old buffers hold must have been copied before they go.
        gpu.settle().await?;
        Ok(cache)
    }
}

/// A step of at most about a second on a slow device: drivers reset devices that stay silent for two.
fn most_rows(gpu: &Gpu, config: &Config) -> usize {
    match (gpu.is_software(), config.parameters) {
        (true, _) => 128,
        (false, ..400_000_000) => 512,
        (false, ..2_000_000_000) => 256,
        (false, _) => 128,
    }
}

/// What [`GpuBackend::logit_check`] compares.
pub(super) fn compare_logits(got: &[f32], right: &[f32]) -> Result<(), String> {
    if got.len() != right.len() || right.is_empty() {
        return Err(format!("{} logits where there are {} right ones", got.len(), right.len()));
    }
    let shown = |token: usize| format!("token {token}");
    let (got_normaliser, right_normaliser) = (log_sum_exp(got), log_sum_exp(right));
    let got_at = |token: usize| f64::from(got[token]) - got_normaliser;
    let right_at = |token: usize| f64::from(right[token]) - right_normaliser;
    let mut order: Vec<usize> = (0..right.len()).collect();
    order.sort_by(|&a, &b| right[b].total_cmp(&right[a]));
    let best = (0..got.len()).max_by(|&a, &b| got[a].total_cmp(&got[b])).unwrap_or(0);
    // Written so that NaN fails.
    let is_tied = right_at(order[0]) - right_at(best) <= CHECKED_DIFFERENCE;
    if !is_tied {
        return Err(format!(
            "its most probable token for a known prompt is {}, and {} is right",
            shown(best),
            shown(order[0])
        ));
    }
    for &token in order.iter().take(CHECKED_TOKENS) {
        let (got, right) = (got_at(token), right_at(token));
        let is_close = (got - right).abs() <= CHECKED_DIFFERENCE;
        if !is_close {
            return Err(format!(
                "its log-probability of {} after a known prompt is {got:.3}, and {right:.3} is right",
                shown(token)
            ));
        }
    }
    Ok(())
}

async fn load_model(loader: &mut Loader<'_>, config: &Config) -> Result<Model, LmError> {
    use Arrangement::{Alternating, Stacked};
    use Target::{AttentionOutput, Down, Gate, Key, Query, Up, Value};
    let (width, size) = (config.width, config.head_size);
    let table = |name: &str| [Rows::all(name, [width, config.vocabulary])];
    let embedding = loader.matrix(&table("token_embd.weight"), Stacked).await?;
    let mut layers = Vec::new();
    for layer in 0..config.layers {
        let name = |suffix: &str| format!("blk.{layer}.{suffix}.weight");
        let rows = |target: Target| target.rows(config, layer);
        layers.push(Layer {
            attention_norm: loader.vector(&name("attn_norm"), width).await?,
            project: loader.matrix(&[Query, Key, Value].map(rows), Stacked).await?,
            project_bias: load_bias(loader, config, layer, &[Query, Key, Value]).await?,
            head_norms: match config.head_norms {
                true => {
                    let [q, k] = ["attn_q_norm", "attn_k_norm"].map(name);
                    Some(loader.vectors(&[(&q, size), (&k, size)]).await?)
                }
                false => None,
            },
            attention_output: loader.matrix(&[rows(AttentionOutput)], Stacked).await?,
            attention_output_bias: load_bias(loader, config, layer, &[AttentionOutput]).await?,
            post_attention_norm: match config.post_norms {
                true => Some(loader.vector(&name("post_attention_norm"), width).await?),
                false => None,
            },
            feed_norm: loader.vector(&name("ffn_norm"), width).await?,
            gate_up: loader.matrix(&[Gate, Up].map(rows), Alternating).await?,
            down: loader.matrix(&[rows(Down)], Stacked).await?,
            post_feed_norm: match config.post_norms {
                true => Some(loader.vector(&name("post_ffw_norm"), width).await?),
                false => None,
            },
        });
    }
    let output_norm = loader.vector("output_norm.weight", width).await?;
    let output = match config.tied_output {
        true => None,
        false => Some(loader.matrix(&table("output.weight"), Stacked).await?),
    };
    Ok(Model { embedding, layers, output_norm, output })
}

/// The biases of some matrices one behind the other, where the model has them.
async fn load_bias(
    loader: &mut Loader<'_>,
    config: &Config,
    layer: usize,
    targets: &[Target],
) -> Result<Option<Buffer>, LmError> {
    let names =
        targets.iter().filter_map(|target| Some((target.bias(config, layer)?, target.shape(config).1)));
    let names: Vec<(String, usize)> = names.collect();
    if names.is_empty() {
        return Ok(None);
    }
    let parts: Vec<(&str, usize)> = names.iter().map(|(name, len)| (name.as_str(), *len)).collect();
    loader.vectors(&parts).await.map(Some)
}

impl Backend for GpuBackend {
    async fn forward(&mut self, batch: &Batch, tick: &mut dyn FnMut(f32) -> Flow) -> Result<Step, LmError> {
        self.gpu.alive()?;
        check(batch, &self.config, self.slots)?;
        match self.run(batch, tick).await {
            // Activations may have left the range of 16-bit floats.
            Err(LmError::NotFinite { .. }) if self.gpu.tuning.get().tile.half => {
                let tuning = self.gpu.tuning.get();
                self.gpu.tuning.set(tuning.plain());
                self.prepare().await?;
                self.run(batch, tick).await
            }
            result => result,
        }
    }

    async fn set_adapter(&mut self, adapter: Option<&Adapter>) -> Result<(), LmError> {
        self.gpu.alive()?;
        // Its bind groups name the old adapter.
        self.workspace = None;
        self.adapter.clear();
        if let Some(adapter) = adapter {
            self.adapter = adapter_sides(&self.gpu, &self.config, adapter).await?;
            if let Err(error) = self.prepare().await {
                self.adapter.clear();
                return Err(error);
            }
        }
        Ok(())
    }

    async fn reserve(&mut self, slots: usize, keep: usize) -> Result<(), LmError> {
        self.gpu.alive()?;
        if slots <= self.slots {
            return Ok(());
        }
        if keep == 0 {
            // Nothing is kept: two caches never lie side by side.
            self.workspace = None;
            self.cache.clear();
            self.slots = 0;
        }
        let mut plan = slots.next_multiple_of(SLOT_STEP);
        let mut result = self.make_cache(plan, keep).await;
        if matches!(result, Err(LmError::OutOfMemory { .. })) {
            // A smaller plan: nothing beyond what is asked for, and steps of half as many rows.
            self.workspace = None;
            self.pace.limit(self.chunk() / 2);
            plan = slots.next_multiple_of(LEAST_SLOT_STEP);
            result = self.make_cache(plan, keep).await;
        }
        let cache = result?;
        // Its bind groups name the old buffers.
        self.workspace = None;
        self.cache = cache;
        self.slots = plan;
        Ok(())
    }

    fn chunk(&self) -> usize {
        self.pace.chunk()
    }

    fn device(&self) -> String {
        self.gpu.device.clone()
    }
}
