//! The narrow product: 8-bit weights as the file has them, with activations of two 7-bit digits.
//!
//! WebAssembly's relaxed SIMD multiplies sixteen pairs of an 8-bit and a 7-bit number in one instruction, which
//! processors with dot products (Arm, newer x86-64) have as one too. So an activation is written as
//! `scale × (128 h + l − 8192)` with h and l from 0 to 127, and a group of 16 or 32 weights as `d q + m`:
//!
//! Σ w x = scale × (d × (128 Σ q h + Σ q l − 8192 Σ q) + m × (Σ (128 h + l) − 8192 n))
//!
//! where all sums are whole numbers that fit 32 bits. The instruction's result is left to the engine only for
//! operands beyond these ranges, so every engine computes the same. Whether this or the product of 16-bit operands
//! is faster is measured on the spot.

use std::sync::OnceLock;

use super::kernel::COLUMNS;
use crate::quant::TensorType;

/// Inputs of an activation's scale.
const BLOCK: usize = 64;
/// The smallest group of weights; sums of activations are kept for each.
const SIXTEEN: usize = 16;
/// What is added to a signed digit pair to make it positive.
const OFFSET: i32 = 8192;
/// Largest magnitude of an activation's quant.
const MOST: f32 = 8191.0;
/// Rows that are computed together.
const TILE: usize = 4;

/// Four neighbouring quants in a word, the first in the lowest byte.
type Quad = i32;

/// Rows of numbers as pairs of digits.
#[derive(Debug, Default)]
pub(super) struct NarrowRows {
    high: Vec<[Quad; BLOCK / 4]>,
    low: Vec<[Quad; BLOCK / 4]>,
    /// Sums of the signed quants of each sixteen.
    sums: Vec<[i32; BLOCK / SIXTEEN]>,
    scales: Vec<f32>,
    blocks: usize,
}

impl NarrowRows {
    /// Quantizes rows of `width` numbers; the last block is filled up with zeros. A number that is not finite makes
    /// its block's scale NaN.
    pub(super) fn quantize(&mut self, x: &[f32], width: usize) {
        self.blocks = width.div_ceil(BLOCK);
        let count = x.len() / width * self.blocks;
        self.high.resize(count, [0; BLOCK / 4]);
        self.low.resize(count, [0; BLOCK / 4]);
        self.sums.resize(count, [0; BLOCK / SIXTEEN]);
        self.scales.resize(count, 0.0);
        let mut quants = [0i16; BLOCK];
        let parts = x.chunks_exact(width).flat_map(|row| row.chunks(BLOCK));
        for (index, part) in parts.enumerate() {
            self.scales[index] = super::kernel::quantize(part, MOST, &mut quants);
            for (at, quad) in quants.as_chunks::<4>().0.iter().enumerate() {
                let word = |digits: [i32; 4]| digits.iter().rev().fold(0, |word, digit| word << 8 | digit);
                let numbers = quad.map(|q| i32::from(q) + OFFSET);
                self.high[index][at] = word(numbers.map(|n| n >> 7));
                self.low[index][at] = word(numbers.map(|n| n & 127));
            }
            for (sum, part) in self.sums[index].iter_mut().zip(quants.chunks_exact(SIXTEEN)) {
                *sum = part.iter().map(|q| i32::from(*q)).sum();
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.scales.len().checked_div(self.blocks).unwrap_or(0)
    }
}

/// Sixteen columns of a quantized matrix: quads of quants side by side, group by group.
#[derive(Debug, Default)]
pub(super) struct NarrowPanel {
    quads: Vec<[Quad; COLUMNS]>,
    groups: Vec<Group>,
    /// Weights of a group.
    group: usize,
}

/// Scales, minima and sums of quants of sixteen columns.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    scales: [f32; COLUMNS],
    minima: [f32; COLUMNS],
    sums: [i32; COLUMNS],
}

impl NarrowPanel {
    pub(super) fn resize(&mut self, kind: TensorType, inputs: usize) {
        self.group = kind.group_weights();
        self.quads.resize(inputs / 4, [0; COLUMNS]);
        self.groups.resize(inputs / self.group, Group::default());
    }

    /// Puts a column into its place, from the row of blocks that it is in the file; `None` makes it zeros.
    pub(super) fn put(&mut self, kind: TensorType, column: usize, row: Option<&[u8]>) {
        let Some(row) = row else {
            self.quads.iter_mut().for_each(|quads| quads[column] = 0);
            for group in &mut self.groups {
                (group.scales[column], group.minima[column], group.sums[column]) = (0.0, 0.0, 0);
            }
            return;
        };
        let (weights, bytes, size) = (kind.block_weights(), kind.block_bytes(), kind.group_weights());
        let mut quants = [0u8; 256];
        let mut scales = [(0.0f32, 0.0f32); 256 / SIXTEEN];
        let quads =
            self.quads.chunks_exact_mut(weights / 4).zip(self.groups.chunks_exact_mut(weights / size));
        for (block, (quads, groups)) in row.chunks_exact(bytes).zip(quads) {
            kind.unpack(block, &mut quants[..weights], &mut scales);
            for (quads, quad) in quads.iter_mut().zip(quants.as_chunks::<4>().0) {
                quads[column] = i32::from_le_bytes(*quad);
            }
            for ((group, part), (d, m)) in groups.iter_mut().zip(quants.chunks_exact(size)).zip(scales) {
                (group.scales[column], group.minima[column]) = (d, m);
                group.sums[column] = part.iter().map(|q| i32::from(q.cast_signed())).sum();
            }
        }
    }
}

/// How quads are multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Narrow {
    /// In plain Rust: what the other is tested against.
    #[cfg_attr(
        all(target_arch = "wasm32", target_feature = "relaxed-simd"),
        expect(dead_code, reason = "where the instruction is, its twin is not used")
    )]
    Portable,
    /// With the instruction of relaxed SIMD.
    #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
    Relaxed,
}

impl Narrow {
    /// Whether the narrow product is used for quantized weights, and how: in WebAssembly with relaxed SIMD if it is
    /// the faster one here; natively only if `RETORT_KERNEL` says `narrow`, for tests.
    pub(super) fn chosen() -> Option<Self> {
        static CHOSEN: OnceLock<Option<Narrow>> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
            {
                measure::is_faster().then_some(Self::Relaxed)
            }
            #[cfg(not(all(target_arch = "wasm32", target_feature = "relaxed-simd")))]
            {
                (std::env::var("RETORT_KERNEL").as_deref() == Ok("narrow")).then_some(Self::Portable)
            }
        })
    }

    /// For each row, the products with the panel's columns, told to `out` with the row's number.
    pub(super) fn multiply(
        self,
        rows: &NarrowRows,
        panel: &NarrowPanel,
        mut out: impl FnMut(usize, &[f32; COLUMNS]),
    ) {
        let mut row = 0;
        while row + TILE <= rows.len() {
            self.tile::<TILE>(rows, row, panel, &mut out);
            row += TILE;
        }
        while row < rows.len() {
            self.tile::<1>(rows, row, panel, &mut out);
            row += 1;
        }
    }

    #[inline]
    fn tile<const R: usize>(
        self,
        rows: &NarrowRows,
        first: usize,
        panel: &NarrowPanel,
        out: &mut impl FnMut(usize, &[f32; COLUMNS]),
    ) {
        let mut sums = [[0.0f32; COLUMNS]; R];
        let quads = panel.group / 4;
        for (index, (group, weights)) in panel.groups.iter().zip(panel.quads.chunks_exact(quads)).enumerate()
        {
            let (block, start) = (index * panel.group / BLOCK, index * quads % (BLOCK / 4));
            let place = |r: usize| (first + r) * rows.blocks + block;
            let digits: [[&[Quad]; 2]; R] = std::array::from_fn(|r| {
                [&rows.high[place(r)][start..start + quads], &rows.low[place(r)][start..start + quads]]
            });
            let mut whole = [[0i32; COLUMNS]; R];
            match self {
                Self::Portable => portable(&digits, weights, &mut whole),
                #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
                Self::Relaxed => relaxed(&digits, weights, &mut whole),
            }
            for r in 0..R {
                let scale = rows.scales[place(r)];
                let from = index * panel.group % BLOCK / SIXTEEN;
                let total: i32 = rows.sums[place(r)][from..from + panel.group / SIXTEEN].iter().sum();
                #[expect(clippy::cast_precision_loss, reason = "rounded once, the same everywhere")]
                let total = total as f32;
                for column in 0..COLUMNS {
                    let exact = whole[r][column] - OFFSET * group.sums[column];
                    #[expect(clippy::cast_precision_loss, reason = "rounded once, the same everywhere")]
                    let product = exact as f32 * group.scales[column] + total * group.minima[column];
                    sums[r][column] += product * scale;
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            out(first + r, sums);
        }
    }
}

/// `128 Σ q h + Σ q l` for every row and column.
fn portable<const R: usize>(
    digits: &[[&[Quad]; 2]; R],
    weights: &[[Quad; COLUMNS]],
    whole: &mut [[i32; COLUMNS]; R],
) {
    for ([high, low], whole) in digits.iter().zip(whole) {
        for ((high, low), weights) in high.iter().zip(*low).zip(weights) {
            for (sum, quad) in whole.iter_mut().zip(weights) {
                let bytes = quad.to_le_bytes().map(u8::cast_signed);
                for (q, (h, l)) in
                    bytes.into_iter().zip(high.to_le_bytes().into_iter().zip(low.to_le_bytes()))
                {
                    *sum += i32::from(q) * (128 * i32::from(h) + i32::from(l));
                }
            }
        }
    }
}

/// The same with one instruction for sixteen products.
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
fn relaxed<const R: usize>(
    digits: &[[&[Quad]; 2]; R],
    weights: &[[Quad; COLUMNS]],
    whole: &mut [[i32; COLUMNS]; R],
) {
    use std::arch::wasm32::{i32x4_add, i32x4_relaxed_dot_i8x16_i7x16_add, i32x4_shl, i32x4_splat, v128};
    for half in [0, 2] {
        let mut high = [[i32x4_splat(0); 2]; R];
        let mut low = [[i32x4_splat(0); 2]; R];
        for (step, weights) in weights.iter().enumerate() {
            let (columns, _) = weights.as_chunks::<4>();
            let columns: [v128; 2] = [bytemuck::cast(columns[half]), bytemuck::cast(columns[half + 1])];
            for r in 0..R {
                let (h, l) = (i32x4_splat(digits[r][0][step]), i32x4_splat(digits[r][1][step]));
                for side in 0..2 {
                    high[r][side] = i32x4_relaxed_dot_i8x16_i7x16_add(columns[side], h, high[r][side]);
                    low[r][side] = i32x4_relaxed_dot_i8x16_i7x16_add(columns[side], l, low[r][side]);
                }
            }
        }
        for r in 0..R {
            let (whole, _) = whole[r].as_chunks_mut::<4>();
            for side in 0..2 {
                whole[half + side] = bytemuck::cast(i32x4_add(i32x4_shl(high[r][side], 7), low[r][side]));
            }
        }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
mod measure {
    use super::super::kernel::{BLOCK as WIDE_BLOCK, Kernel, Panel, Rows};
    use super::{COLUMNS, Narrow, NarrowPanel, NarrowRows};
    use crate::quant::TensorType;

    const WIDTH: usize = 576;
    const ROWS: usize = 64;
    /// How long each is run, in milliseconds: browsers round clocks to a tenth of one, or to a whole one.
    const LONG: f64 = 8.0;

    /// Runs both products over the same sizes for a few milliseconds.
    pub(super) fn is_faster() -> bool {
        let x: Vec<f32> = (0..ROWS * WIDTH).map(|i| (i % 37) as f32 - 18.0).collect();
        let (mut rows, mut narrow_rows) = (Rows::default(), NarrowRows::default());
        rows.quantize(&x, WIDTH);
        narrow_rows.quantize(&x, WIDTH);
        let (mut panel, mut narrow_panel) = (Panel::default(), NarrowPanel::default());
        panel.resize(WIDTH / WIDE_BLOCK);
        narrow_panel.resize(TensorType::Q4_1, WIDTH);
        let row: Vec<u8> = (0..WIDTH / 32 * 20).map(|i| (i % 61) as u8).collect();
        for column in 0..COLUMNS {
            narrow_panel.put(TensorType::Q4_1, column, Some(&row));
        }
        let mut seen = 0.0;
        let wide = rate(|| Kernel::best().multiply(&rows, &panel, |_, sums| seen += sums[0]));
        let narrow =
            rate(|| Narrow::Relaxed.multiply(&narrow_rows, &narrow_panel, |_, sums| seen += sums[0]));
        std::hint::black_box(seen);
        narrow > wide
    }

    /// Runs per millisecond.
    fn rate(mut work: impl FnMut()) -> f64 {
        work();
        let start = js_sys::Date::now();
        let mut runs = 0.0;
        loop {
            work();
            runs += 1.0;
            let passed = js_sys::Date::now() - start;
            if passed >= LONG {
                return runs / passed;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::quant::SUPPORTED;

    proptest! {
        /// Against f64 and the formats' meaning, for random blocks of every quantized format.
        #[test]
        fn products_agree_with_f64(
            kind in prop::sample::select(SUPPORTED.into_iter().filter(|k| k.is_quantized()).collect::<Vec<_>>()),
            blocks in 1usize..4,
            rows in 1usize..7,
            columns in 1usize..17,
            seed in any::<u64>(),
        ) {
            let width = blocks * kind.block_weights();
            let mut state = seed;
            let mut byte = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            };
            // Scales of f16 around 1: the top bytes of both possible places are made harmless.
            let mut bytes: Vec<u8> = (0..columns * blocks * kind.block_bytes()).map(|_| byte()).collect();
            for block in bytes.chunks_exact_mut(kind.block_bytes()) {
                for at in scale_places(kind) {
                    block[at + 1] = 0x2c | block[at + 1] & 0x83;
                }
            }
            let x: Vec<f32> = (0..rows * width).map(|_| f32::from(byte()) / 64.0 - 2.0).collect();
            let mut narrow = NarrowRows::default();
            narrow.quantize(&x, width);
            let mut panel = NarrowPanel::default();
            panel.resize(kind, width);
            let row_bytes = blocks * kind.block_bytes();
            for column in 0..COLUMNS {
                panel.put(kind, column, bytes.chunks_exact(row_bytes).nth(column));
            }
            let mut found = vec![[f32::NAN; COLUMNS]; rows];
            Narrow::Portable.multiply(&narrow, &panel, |row, sums| found[row] = *sums);
            let mut weights = vec![0.0; columns * width];
            kind.dequantize(&bytes, &mut weights);
            for (x, found) in x.chunks_exact(width).zip(&found) {
                for (column, found) in found.iter().enumerate() {
                    let w = weights.get(column * width..(column + 1) * width).unwrap_or(&[]);
                    let exact: f64 = x.iter().zip(w).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum();
                    // Activations are off by half a step of at most 2 / 8191; f32 sums add a little.
                    let size: f64 = w.iter().map(|w| f64::from(w.abs())).sum();
                    let bound = size * (2.0 / 8191.0 / 2.0) * 1.01 + 2e-6 * size + 1e-9;
                    prop_assert!((f64::from(*found) - exact).abs() <= bound, "{kind:?}: {found} for {exact}");
                }
            }
        }
    }

    /// Where a block's f16 numbers are.
    fn scale_places(kind: TensorType) -> Vec<usize> {
        match kind {
            TensorType::Q4_1 | TensorType::Q5_1 | TensorType::Q4K | TensorType::Q5K => vec![0, 2],
            TensorType::Q2K => vec![80, 82],
            TensorType::Q3K => vec![108],
            TensorType::Q6K => vec![208],
            _ => vec![0],
        }
    }
}
