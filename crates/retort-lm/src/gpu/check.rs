//! Known answers: small problems for every kernel, run on the device and compared with the kernel's twin.

use std::collections::BTreeMap;

use half::f16;

use super::device::{Gpu, PARAMETER_STRIDE};
use super::layout::{GROUP, Layout};
use super::run::{
    Parameters, Sight, Sizes, embed_parameters, parameters, product_parameters, product_workgroups,
    quantize_parameters, rotary_workgroups, spread,
};
use super::shader::{ATTENTION_TILE, Access, Kernel, Product, QUANTIZED_WORDS, Role, Shape, THREADS};
use super::twin::{self, Bindings};
use crate::LmError;
use crate::backend::{Batch, View};

/// How far a kernel's numbers may be from its twin's, relative to the greatest of them (and at least to 1).
///
/// Sums of a few hundred f32 products differ from their f64 twins by some 1e-6; the `exp` that WGSL
/// promises may be off by some 1e-6 more. A wrong scale, nibble or mask shows at 1e-2 and above, and
/// arithmetic in f16 at 1e-3.
pub(super) const TOLERANCE: f32 = 5e-5;

/// The same for products of operands in f16: each is off by up to 2⁻¹² of itself, so that sums of a hundred
/// products, which mostly cancel, are off by about 1e-3 of the greatest. A wrong nibble is seen all the same.
pub(super) const HALF_TOLERANCE: f32 = 3e-3;

/// The same for numbers made whole: half a step of 1/8191 of the group's greatest, and as much of rounding in f32.
/// Products of whole numbers are held to [`TOLERANCE`]: their twin takes the same ones.
pub(super) const WHOLE_TOLERANCE: f32 = 1.2e-4;

/// How far a kernel's numbers may be from its twin's.
pub(super) fn tolerance(kernel: Kernel) -> f32 {
    match kernel {
        Kernel::Quantize { .. } => WHOLE_TOLERANCE,
        _ if kernel.needs_half() => HALF_TOLERANCE,
        _ => TOLERANCE,
    }
}

/// A problem for one kernel.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) kernel: Kernel,
    pub(super) parameters: Parameters,
    pub(super) workgroups: [u32; 3],
    /// The words behind every storage binding before the kernel runs.
    pub(super) bindings: Bindings,
}

/// Numbers that look random and are the same everywhere.
#[derive(Debug, Clone)]
pub(super) struct Noise(u64);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The splitmix64 generator.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn word(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    /// Below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.word() as usize) % end.max(1)
    }

    /// From −1 to 1.
    pub(super) fn float(&mut self) -> f32 {
        (self.word() >> 8) as f32 / (1 << 23) as f32 - 1.0
    }

    fn floats(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.float().to_bits()).collect()
    }

    /// Rows of `width` floats, padded with zeros to `padded`.
    fn rows(&mut self, rows: usize, width: usize, padded: usize) -> Vec<u32> {
        let mut words = Vec::new();
        for row in 0..rows {
            words.extend(self.floats(width));
            words.resize((row + 1) * padded, 0);
        }
        words
    }

    /// Groups of whole numbers of two digits, as [`Kernel::Quantize`] makes them, that stand for numbers up to 1.
    fn whole_numbers(&mut self, groups: usize) -> Vec<u32> {
        let mut words = Vec::new();
        for _ in 0..groups {
            let numbers: Vec<u32> = (0..GROUP).map(|_| 1 + self.below(2 * 8191 + 1) as u32).collect();
            let pack = |digit: fn(u32) -> u32| {
                let quads = numbers.chunks_exact(4);
                quads.map(move |quad| quad.iter().rev().fold(0, |word, number| word << 8 | digit(*number)))
            };
            words.extend(pack(|number| number >> 7));
            words.extend(pack(|number| number & 127));
            words.push((self.float() / 8191.0).to_bits());
            words.extend(
                numbers.chunks_exact(16).map(|part| part.iter().sum::<u32>().wrapping_sub(16 * 8192)),
            );
            words.push(0);
        }
        words
    }

    /// Weights of a few tenths, and their scales.
    fn weights(&mut self, layout: Layout, rows: usize, width: usize) -> (Vec<u32>, Vec<u32>) {
        let padded = width.next_multiple_of(GROUP);
        let groups = rows * padded / GROUP;
        let half = |x: f32| u32::from(f16::from_f32(x).to_bits());
        let scales = |noise: &mut Self, size: f32| -> Vec<u32> {
            (0..groups * layout.group_scales())
                .map(|_| half(size * noise.float()) | half(0.3 * noise.float()) << 16)
                .collect()
        };
        match layout {
            Layout::FourBits => {
                let scales = scales(self, 0.04);
                ((0..groups * 4).map(|_| self.word()).collect(), scales)
            }
            Layout::EightBits | Layout::EightBitsBy16 => {
                let scales = scales(self, 0.004);
                ((0..groups * 8).map(|_| self.word()).collect(), scales)
            }
            Layout::Halves => {
                let singles = self.rows(rows, width, padded);
                let pack = |pair: &[u32]| half(f32::from_bits(pair[0])) | half(f32::from_bits(pair[1])) << 16;
                (singles.chunks_exact(2).map(pack).collect(), Vec::new())
            }
            Layout::Singles => (self.rows(rows, width, padded), Vec::new()),
        }
    }
}

/// The nearest width at or above `width` that rows of this layout can have.
fn whole_width(layout: Layout, width: usize) -> usize {
    if layout.has_scales() { width.next_multiple_of(GROUP) } else { width }
}

fn with_weights(layout: Layout, rows: usize, width: usize, noise: &mut Noise) -> Bindings {
    let (weights, scales) = noise.weights(layout, rows, width);
    let mut bindings = BTreeMap::from([(1, weights)]);
    if layout.has_scales() {
        bindings.insert(2, scales);
    }
    bindings
}

/// A lookup of `rows` tokens in a part of a table that some of them are outside of.
pub(super) fn embed_case(layout: Layout, rows: usize, width: usize, noise: &mut Noise) -> Case {
    let width = whole_width(layout, width);
    let padded = width.next_multiple_of(GROUP);
    let (first, count) = (3, 11);
    let mut bindings = with_weights(layout, count, width, noise);
    bindings.insert(3, (0..rows).map(|row| (row % (first + count + 3)) as u32).collect());
    bindings.insert(4, noise.floats(rows * padded));
    Case {
        kernel: Kernel::Embed(layout),
        parameters: embed_parameters(rows, padded, first, count, 1.5),
        workgroups: spread((rows * padded / 8).div_ceil(THREADS)),
        bindings,
    }
}

/// Components between the halves of an adapter in known problems: not a power of two, more than one vector.
const NARROW: usize = 12;

/// A product of `rows` rows of `width` inputs into `columns` columns of a wider output.
pub(super) fn product_case(product: Product, [rows, columns, width]: [usize; 3], noise: &mut Noise) -> Case {
    let Product { role, layout, shape, bias, adapter } = product;
    let width = whole_width(layout, width);
    let padded = width.next_multiple_of(GROUP);
    let weight_rows = if role.is_gated() { 2 * columns.next_multiple_of(8) } else { columns };
    let (first_column, stride, first_row) = (2, columns + 5, 3);
    let mut bindings = with_weights(layout, weight_rows, width, noise);
    let input_rows = if role == Role::Output { rows + 7 } else { rows };
    let is_float = !matches!(shape, Shape::Dots(_));
    bindings.insert(
        3,
        match is_float {
            true => noise.rows(input_rows, width, padded),
            false => noise.whole_numbers(rows * padded / GROUP),
        },
    );
    bindings.insert(4, noise.floats(rows * stride));
    if role.has_norm() && is_float {
        bindings.insert(5, noise.rows(1, width, padded));
    }
    if role == Role::Output && is_float {
        bindings.insert(6, (0..rows).map(|_| noise.below(input_rows) as u32).collect());
    }
    if bias {
        bindings.insert(7, noise.floats(first_column + columns));
    }
    let narrow = if adapter { NARROW } else { 0 };
    if adapter {
        bindings.insert(8, noise.floats(rows * narrow));
        bindings.insert(9, noise.floats((first_row + weight_rows) * narrow));
    }
    let sizes =
        Sizes { columns, weight_rows, inputs: padded, width, stride, first_column, narrow, first_row };
    // Logits of known problems are a few units large: this cap bends them.
    let cap = if role == Role::Output && rows.is_multiple_of(2) { 4.0 } else { 0.0 };
    Case {
        kernel: Kernel::Product(product),
        parameters: product_parameters(rows, sizes, 1e-5, cap),
        workgroups: product_workgroups(shape, rows, columns, weight_rows),
        bindings,
    }
}

/// A rotation of `rows` rows that go into the cache from slot 2 on.
pub(super) fn rotary_case(
    [neighbours, norms]: [bool; 2],
    [rows, heads, kv_heads, head_size, rotary_size]: [usize; 5],
    noise: &mut Noise,
) -> Case {
    let (first_slot, stride) = (2, head_size.next_multiple_of(4));
    let total = rows * (heads + 2 * kv_heads) * head_size;
    let slots = rows + first_slot + 1;
    let mut bindings = BTreeMap::from([
        (1, noise.floats(total)),
        (2, noise.floats((rows * rotary_size).max(2))),
        (3, noise.floats(rows * heads * stride)),
        (4, noise.floats(slots * kv_heads * stride)),
        (5, noise.floats(slots * kv_heads * stride)),
    ]);
    if norms {
        bindings.insert(6, noise.floats(2 * head_size));
    }
    let mut parameters = parameters([rows, heads, kv_heads, head_size, rotary_size, stride, first_slot]);
    parameters[7] = 1e-5f32.to_bits();
    Case {
        kernel: Kernel::Rotary { neighbours, norms },
        parameters,
        workgroups: rotary_workgroups(norms, rows, heads + 2 * kv_heads, head_size),
        bindings,
    }
}

/// Whole numbers made of `rows` rows, of which some groups are zeros.
pub(super) fn quantize_case([norm, picked]: [bool; 2], rows: usize, width: usize, noise: &mut Noise) -> Case {
    let padded = width.next_multiple_of(GROUP);
    let input_rows = if picked { rows + 7 } else { rows };
    let mut input = noise.rows(input_rows, width, padded);
    for group in input.chunks_exact_mut(GROUP).skip(5).step_by(11) {
        group.fill(0);
    }
    let mut bindings =
        BTreeMap::from([(3, input), (4, noise.floats(rows * padded / GROUP * QUANTIZED_WORDS))]);
    if norm {
        bindings.insert(5, noise.rows(1, width, padded));
    }
    if picked {
        bindings.insert(6, (0..rows).map(|_| noise.below(input_rows) as u32).collect());
    }
    Case {
        kernel: Kernel::Quantize { norm, picked },
        parameters: quantize_parameters(rows, padded, width, 1e-5),
        workgroups: spread(rows),
        bindings,
    }
}

/// What [`Kernel::Quantize`] wrote, as numbers that compare: for each group the 32 numbers that the digits stand for,
/// and by how much each of the two sums misses that of its digits.
fn meant(words: &[f32]) -> Vec<f32> {
    let mut all = Vec::new();
    for group in words.chunks_exact(QUANTIZED_WORDS) {
        let word = |at: usize| group[at].to_bits();
        let quants = (0..GROUP).map(|i| {
            let digit = |first: usize| i32::from(word(first + i / 4).to_le_bytes()[i % 4].cast_signed());
            128 * digit(0) + digit(8) - 8192
        });
        let quants: Vec<i32> = quants.collect();
        all.extend(quants.iter().map(|q| *q as f32 * group[16]));
        for (at, part) in quants.chunks_exact(16).enumerate() {
            all.push(word(17 + at).cast_signed().wrapping_sub(part.iter().sum()) as f32);
        }
    }
    all
}

/// A norm of `rows` rows, added to as many.
pub(super) fn add_normed_case(rows: usize, width: usize, noise: &mut Noise) -> Case {
    let padded = width.next_multiple_of(GROUP);
    let mut parameters = parameters([padded / 4]);
    parameters[1] = (width as f32).to_bits();
    parameters[2] = 1e-5f32.to_bits();
    Case {
        kernel: Kernel::AddNormed,
        parameters,
        workgroups: [rows as u32, 1, 1],
        bindings: BTreeMap::from([
            (1, noise.rows(rows, width, padded)),
            (2, noise.rows(1, width, padded)),
            (3, noise.rows(rows, width, padded)),
        ]),
    }
}

/// `count` sums over parts of `rows` rows, some of them empty; the first wanted one is not the first of all.
pub(super) fn sum_case(rows: usize, width: usize, count: usize, noise: &mut Noise) -> Case {
    let padded = width.next_multiple_of(GROUP);
    let first_sum = 2;
    let mut sums = Vec::new();
    for at in 0..first_sum + count {
        let start = noise.below(rows);
        // Sums go to their places in any order.
        sums.extend([
            start as u32,
            noise.below(rows - start + 1) as u32,
            (first_sum + count - 1 - at) as u32,
            0,
        ]);
    }
    Case {
        kernel: Kernel::Sum,
        parameters: parameters([first_sum, width, padded]),
        workgroups: [width.div_ceil(THREADS) as u32, count as u32, 1],
        bindings: BTreeMap::from([
            (1, noise.rows(rows, width, padded)),
            (2, sums),
            (3, noise.floats((first_sum + count) * width)),
        ]),
    }
}

/// A batch of `rows` rows in branches of `branch` rows behind a prefix and a trunk of these lengths.
pub(super) fn tree(prefix: usize, trunk: usize, rows: usize, branch: usize) -> Batch {
    // A gap that nobody sees lies between the trunk and the batch.
    let first_slot = (prefix + trunk + 3) as u32;
    let mut batch = Batch { first_slot, tokens: vec![0; rows], positions: vec![0; rows], ..Batch::default() };
    for row in 0..rows {
        batch.views.push(View {
            prefix: prefix as u32,
            trunk_start: prefix as u32,
            // Every other branch hangs on the trunk.
            trunk_end: if (row / branch).is_multiple_of(2) { prefix + trunk } else { prefix } as u32,
            own: first_slot + (row - row % branch) as u32,
        });
    }
    batch
}

/// Attention of a batch's rows, which see so many tokens back; cache slots beyond what the batch needs exist too.
pub(super) fn attention_case(
    [kv_heads, group, head_size]: [usize; 3],
    batch: &Batch,
    reach: usize,
    cap: f32,
    noise: &mut Noise,
) -> Case {
    let (rows, heads, padded) = (batch.views.len(), kv_heads * group, head_size.next_multiple_of(4));
    let slots = batch.end_slot() + 1;
    let stride = heads * head_size + 1;
    let Sight { views, blocks, tiles } = Sight::new(batch, group, reach);
    let lines = rows * group;
    // Queries that make some probabilities much greater than others.
    let queries = noise.rows(rows * heads, head_size, padded);
    let queries = queries.into_iter().map(|word| (4.0 * f32::from_bits(word)).to_bits()).collect();
    let bindings = BTreeMap::from([
        (1, queries),
        (2, noise.rows(slots * kv_heads, head_size, padded)),
        (3, noise.rows(slots * kv_heads, head_size, padded)),
        (4, views.concat()),
        (5, blocks.concat()),
        (6, tiles),
        (7, noise.floats(rows * stride)),
    ]);
    let mut parameters = parameters([lines, group, heads, kv_heads, head_size, slots, stride]);
    parameters[7] = (1.0 / (head_size as f32).sqrt()).to_bits();
    parameters[8] = cap.to_bits();
    Case {
        kernel: Kernel::Attention { head4: padded / 4 },
        parameters,
        workgroups: [lines.div_ceil(ATTENTION_TILE) as u32, kv_heads as u32, 1],
        bindings,
    }
}

/// Products of every role, in these shapes: bare and with whatever may be added.
pub(super) fn all_products(shapes: &[Shape]) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for layout in Layout::ALL {
        for role in Role::ALL {
            for &shape in shapes {
                let is_dots = matches!(shape, Shape::Dots(_));
                if is_dots && !layout.has_scales() {
                    continue;
                }
                let most = (role.may_have_bias(), role != Role::Output && !is_dots);
                let bare = (false, false);
                for (bias, adapter) in std::iter::once(bare).chain((most != bare).then_some(most)) {
                    kernels.push(Kernel::Product(Product { role, layout, shape, bias, adapter }));
                }
            }
        }
    }
    kernels
}

/// Every kernel but products and attention.
pub(super) fn other_kernels() -> Vec<Kernel> {
    let mut kernels = vec![Kernel::AddNormed, Kernel::Sum];
    for neighbours in [true, false] {
        kernels.extend([true, false].map(|norms| Kernel::Rotary { neighbours, norms }));
    }
    for (norm, picked) in [(false, false), (true, false), (true, true)] {
        kernels.push(Kernel::Quantize { norm, picked });
    }
    kernels.extend(Layout::ALL.map(Kernel::Embed));
    kernels
}

/// Every kernel in the variants chosen for this device, with attention for the usual head sizes and an odd one.
pub(super) fn all_kernels(gpu: &Gpu) -> Vec<Kernel> {
    let tuning = gpu.tuning.get();
    let vector = |rows| Shape::Vector { rows, subgroups: tuning.subgroups };
    let mut kernels = other_kernels();
    kernels.extend([5, 16, 32].map(|head4| Kernel::Attention { head4 }));
    kernels.extend(all_products(&[Shape::Tile(tuning.tile), vector(1), vector(4)]));
    if tuning.dots {
        kernels.extend(all_products(&[Shape::Dots(tuning.tile.with_half(false))]));
    }
    kernels
}

/// The problem that the self-check gives to a kernel: small, of odd sizes, more than one workgroup.
pub(super) fn standard_case(kernel: Kernel) -> Case {
    let mut noise = Noise::new(0x5e1f);
    match kernel {
        Kernel::Embed(layout) => embed_case(layout, 23, 72, &mut noise),
        Kernel::Product(product) => {
            let rows = match product.shape {
                Shape::Tile(tile) | Shape::Dots(tile) => tile.rows() + 5,
                // A count of rows that leaves one idle, where there is more than one.
                Shape::Vector { rows, .. } => rows.max(2) - 1,
            };
            product_case(product, [rows, 70, 72], &mut noise)
        }
        Kernel::Rotary { neighbours, norms } => {
            rotary_case([neighbours, norms], [5, 4, 2, 18, 12], &mut noise)
        }
        Kernel::Attention { head4 } => {
            let batch = tree(37, 6, 17, 5);
            // A head whose last vector is not full, where it can be; a window that begins within the prefix for
            // some rows, and a cap that bends scores.
            attention_case([2, 3, 4 * head4 - usize::from(head4 % 2 == 1)], &batch, 30, 5.0, &mut noise)
        }
        // More than one turn of a workgroup.
        Kernel::Quantize { norm, picked } => quantize_case([norm, picked], 7, 300, &mut noise),
        Kernel::AddNormed => add_normed_case(7, 300, &mut noise),
        Kernel::Sum => sum_case(50, 70, 5, &mut noise),
    }
}

/// Runs a problem on the device; gives what the written bindings then hold.
pub(super) async fn run(gpu: &Gpu, case: &Case) -> Result<BTreeMap<u32, Vec<f32>>, LmError> {
    use wgpu::BufferUsages as Usage;
    gpu.prepare(case.kernel).await?;
    let pipeline = gpu.pipeline(case.kernel)?;
    let written = || case.kernel.bindings().into_iter().filter(|(_, access)| *access == Access::Write);
    let name = format!("checking \"{}\"", case.kernel.name());
    let (_buffers, results) = gpu
        .scoped(&name, || {
            let parameters =
                gpu.buffer("parameters", PARAMETER_STRIDE as u64, Usage::UNIFORM | Usage::COPY_DST);
            gpu.queue.write_buffer(&parameters.0, 0, bytemuck::cast_slice(&case.parameters));
            let mut buffers = BTreeMap::new();
            for (&binding, words) in &case.bindings {
                let buffer = gpu.storage("checked", 4 * words.len() as u64);
                gpu.queue.write_buffer(&buffer.0, 0, bytemuck::cast_slice(words));
                buffers.insert(binding, buffer);
            }
            let bound: Vec<_> = buffers.iter().map(|(&binding, buffer)| (binding, buffer)).collect();
            let bind_group = gpu.bind(case.kernel, &parameters, &bound);
            let mut encoder = gpu.handle.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, &bind_group, &[0]);
                let [x, y, z] = case.workgroups;
                pass.dispatch_workgroups(x, y, z);
            }
            let mut results = Vec::new();
            for (binding, _) in written() {
                let bytes = 4 * case.bindings.get(&binding).map_or(0, Vec::len) as u64;
                let readback = gpu.buffer("readback", bytes, Usage::MAP_READ | Usage::COPY_DST);
                if let Some(buffer) = buffers.get(&binding) {
                    encoder.copy_buffer_to_buffer(&buffer.0, 0, &readback.0, 0, bytes);
                }
                results.push((binding, readback, bytes));
            }
            gpu.queue.submit([encoder.finish()]);
            // Kept until the results have been read.
            ((parameters, buffers), results)
        })
        .await?;
    let mut all = BTreeMap::new();
    for (binding, readback, bytes) in results {
        let values: Vec<f32> = gpu.read(&readback, bytes, bytemuck::pod_collect_to_vec).await?;
        let is_whole = matches!(case.kernel, Kernel::Quantize { .. });
        all.insert(binding, if is_whole { meant(&values) } else { values });
    }
    Ok(all)
}

/// Compares what a kernel wrote with what its twin wrote.
///
/// # Errors
/// The first place where they differ by more than `tolerance`, relative to the greatest number wanted.
pub(super) fn compare(
    got: &BTreeMap<u32, Vec<f32>>,
    wanted: &BTreeMap<u32, Vec<f32>>,
    tolerance: f32,
) -> Result<(), String> {
    for (binding, wanted) in wanted {
        let got = got.get(binding).map_or(&[][..], Vec::as_slice);
        if got.len() != wanted.len() {
            return Err(format!("binding {binding}: {} values where {} are wanted", got.len(), wanted.len()));
        }
        let greatest = wanted.iter().fold(1f32, |greatest, x| greatest.max(x.abs()));
        for (at, (got, wanted)) in got.iter().zip(wanted).enumerate() {
            // Written so that NaN fails.
            let is_close = (got - wanted).abs() <= tolerance * greatest;
            if !is_close {
                return Err(format!("binding {binding}, value {at}: {got} where {wanted} is right"));
            }
        }
    }
    Ok(())
}

/// Gives every one of these kernels its standard problem.
///
/// # Errors
/// [`LmError::Gpu`] that names the first kernel whose numbers are wrong.
pub(super) async fn self_check(gpu: &Gpu, kernels: &[Kernel]) -> Result<(), LmError> {
    for &kernel in kernels {
        let case = standard_case(kernel);
        let got = run(gpu, &case).await?;
        let wanted = twin::run(kernel, &case.parameters, &case.bindings);
        compare(&got, &wanted, tolerance(kernel)).map_err(|problem| LmError::Gpu {
            problem: format!("the kernel \"{}\" computes wrong numbers: {problem}", kernel.name()),
        })?;
    }
    Ok(())
}
