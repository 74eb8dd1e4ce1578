//! The integer matrix product: 16-bit operands with a scale per 64 inputs, exact 32-bit sums.
//!
//! [`Rows`] are activations, row after row; a [`Panel`] is sixteen columns (outputs) of a weight matrix, pairs of
//! neighbouring inputs side by side, so that one instruction multiplies a pair of a row with the pairs of 4, 8 or
//! 16 columns and adds both products to the columns' sums. Per block of 64 inputs the sums are whole numbers below
//! 2^31 whatever the operands, hence exact, and are then scaled into f32 sums by two products and one addition
//! in a fixed order: every instruction set, native or wasm, computes the same bits.
//!
//! The widths of the operands follow from that: 64 × [`ROW_MAX`] × [`COLUMN_MAX`] < 2^31. Thirteen bits and a sign
//! leave a rounding error of 6e-5 of the largest number among 64, near that of f16.

use std::sync::OnceLock;

/// Inputs that share a scale.
pub(super) const BLOCK: usize = 64;
/// Pairs of inputs in a block.
pub(super) const PAIRS: usize = BLOCK / 2;
/// Columns of a panel.
pub(super) const COLUMNS: usize = 16;
/// Largest magnitude of a row's quants.
pub(super) const ROW_MAX: f32 = 8191.0;
/// Largest magnitude of a column's quants.
pub(super) const COLUMN_MAX: f32 = 4095.0;
/// Rows that are computed together.
const TILE: usize = 4;
/// The same where there are twice as many registers.
#[cfg(target_arch = "x86_64")]
const WIDE_TILE: usize = 8;

/// A block of a row: pairs of quants, the first in the low half.
type RowBlock = [i32; PAIRS];
/// A block of a panel: pairs of quants of each column.
type PanelBlock = [[i32; COLUMNS]; PAIRS];

/// Rows of numbers, quantized to 16 bits.
#[derive(Debug, Default)]
pub(super) struct Rows {
    quants: Vec<RowBlock>,
    scales: Vec<f32>,
    blocks: usize,
}

impl Rows {
    /// Quantizes rows of `width` numbers; the last block is filled up with zeros.
    ///
    /// A number that is not finite makes its block's scale NaN, so that it is not lost.
    pub(super) fn quantize(&mut self, x: &[f32], width: usize) {
        let blocks = self.resize(x.len() / width, width);
        let rows = self.quants.chunks_exact_mut(blocks).zip(self.scales.chunks_exact_mut(blocks));
        super::threads::each(x.len(), x.chunks_exact(width).zip(rows), |(x, (quants, scales))| {
            quantize_row(x, quants, scales);
        });
    }

    /// The same on the thread that calls.
    pub(super) fn quantize_here<'a>(&mut self, rows: impl ExactSizeIterator<Item = &'a [f32]>, width: usize) {
        let blocks = self.resize(rows.len(), width);
        let into = self.quants.chunks_exact_mut(blocks).zip(self.scales.chunks_exact_mut(blocks));
        for (x, (quants, scales)) in rows.zip(into) {
            quantize_row(x, quants, scales);
        }
    }

    /// Quantizes one row into its place. There must be room for it.
    pub(super) fn set(&mut self, row: usize, x: &[f32]) {
        let range = row * self.blocks..(row + 1) * self.blocks;
        quantize_row(x, &mut self.quants[range.clone()], &mut self.scales[range]);
    }

    /// Makes room for rows of `width` numbers; says how many blocks each has.
    pub(super) fn resize(&mut self, rows: usize, width: usize) -> usize {
        self.blocks = width.div_ceil(BLOCK);
        self.quants.resize(rows * self.blocks, [0; PAIRS]);
        self.scales.resize(rows * self.blocks, 0.0);
        self.blocks
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.quants.len().checked_div(self.blocks).unwrap_or(0)
    }

    fn row(&self, row: usize) -> (&[RowBlock], &[f32]) {
        let range = row * self.blocks..(row + 1) * self.blocks;
        (&self.quants[range.clone()], &self.scales[range])
    }
}

fn quantize_row(x: &[f32], quants: &mut [RowBlock], scales: &mut [f32]) {
    super::math::wide!(quantize_parts(x: &[f32], quants: &mut [RowBlock], scales: &mut [f32]) -> ());
}

#[inline(always)]
fn quantize_parts(x: &[f32], quants: &mut [RowBlock], scales: &mut [f32]) {
    for ((part, quants), scale) in x.chunks(BLOCK).zip(quants).zip(scales) {
        *scale = quantize(part, ROW_MAX, bytemuck::cast_slice_mut(quants));
    }
}

/// Quantizes up to [`BLOCK`] numbers to whole numbers of at most this magnitude; fills up with zeros. Returns the
/// scale.
#[inline(always)]
pub(super) fn quantize(x: &[f32], most: f32, quants: &mut [i16]) -> f32 {
    // As bits, magnitudes compare as whole numbers, and NaN is above infinity.
    let bits = x.iter().fold(0i32, |bits, x| bits.max((x.to_bits() & 0x7fff_ffff).cast_signed()));
    let largest = f32::from_bits(bits.cast_unsigned());
    let (scale, inverse) = scale_of(largest, most);
    let (filled, rest) = quants.split_at_mut(x.len().min(quants.len()));
    for (quant, x) in filled.iter_mut().zip(x) {
        *quant = nearest(x * inverse);
    }
    rest.fill(0);
    scale
}

/// The scale and its inverse for numbers up to `largest`. Numbers too small to have an inverse count as zeros.
#[inline(always)]
pub(super) fn scale_of(largest: f32, most: f32) -> (f32, f32) {
    if largest < 1e-30 {
        return (0.0, 0.0);
    }
    if !largest.is_finite() {
        return (f32::NAN, 0.0);
    }
    (largest / most, most / largest)
}

/// The nearest whole number (the even one of two) to `x`, |x| < 2^15: adding 1.5 × 2^23 leaves it in the low bits.
#[inline(always)]
pub(super) fn nearest(x: f32) -> i16 {
    #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
    {
        (x + 12_582_912.0).to_bits() as i16
    }
}

/// Sixteen columns of a matrix.
#[derive(Debug, Default)]
pub(super) struct Panel {
    pub(super) quants: Vec<PanelBlock>,
    pub(super) scales: Vec<[f32; COLUMNS]>,
}

impl Panel {
    /// Makes room for so many blocks; what they hold is to be overwritten.
    pub(super) fn resize(&mut self, blocks: usize) {
        self.quants.resize(blocks, [[0; COLUMNS]; PAIRS]);
        self.scales.resize(blocks, [0.0; COLUMNS]);
    }

    /// Puts the quants of one block of one column, 64 of them, into their places.
    #[inline]
    pub(super) fn put(&mut self, block: usize, column: usize, quants: &[i16; BLOCK], scale: f32) {
        self.scales[block][column] = scale;
        let (pairs, _) = quants.as_chunks::<2>();
        for (into, [first, second]) in self.quants[block].iter_mut().zip(pairs) {
            into[column] = pair(*first, *second);
        }
    }
}

/// Two quants in a word.
#[inline]
pub(super) fn pair(first: i16, second: i16) -> i32 {
    i32::from(first) & 0xffff | i32::from(second) << 16
}

/// An instruction set to multiply with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kernel {
    /// Plain Rust, for processors that have nothing below.
    Portable,
    /// 128-bit vectors: SSE2, NEON, and WebAssembly's SIMD.
    #[cfg(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_feature = "neon"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ))]
    Vectors128,
    /// 256-bit vectors: AVX2.
    #[cfg(target_arch = "x86_64")]
    Vectors256,
    /// 512-bit vectors with fused pairs: AVX-512 with VNNI.
    #[cfg(target_arch = "x86_64")]
    Vectors512,
}

impl Kernel {
    /// All that this machine runs, slowest first.
    pub(super) fn available() -> Vec<Self> {
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "more is known of x86-64"))]
        let mut kernels = vec![
            Self::Portable,
            #[cfg(any(
                target_arch = "x86_64",
                all(target_arch = "aarch64", target_feature = "neon"),
                all(target_arch = "wasm32", target_feature = "simd128")
            ))]
            Self::Vectors128,
        ];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                kernels.push(Self::Vectors256);
            }
            // Beyond the product's own needs, what elementwise loops are compiled for.
            if is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vnni")
            {
                kernels.push(Self::Vectors512);
            }
        }
        kernels
    }

    /// The fastest that this machine runs, or what `RETORT_KERNEL` asks for (`portable`, `128`, `256`, `512`).
    pub(super) fn best() -> Self {
        static BEST: OnceLock<Kernel> = OnceLock::new();
        *BEST.get_or_init(|| {
            let available = Self::available();
            let fastest = available.last().copied().unwrap_or(Self::Portable);
            let wanted = std::env::var("RETORT_KERNEL").unwrap_or_default();
            available.into_iter().find(|kernel| kernel.name() == wanted).unwrap_or(fastest)
        })
    }

    /// How `RETORT_KERNEL` and messages call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            #[cfg(any(
                target_arch = "x86_64",
                all(target_arch = "aarch64", target_feature = "neon"),
                all(target_arch = "wasm32", target_feature = "simd128")
            ))]
            Self::Vectors128 => "128",
            #[cfg(target_arch = "x86_64")]
            Self::Vectors256 => "256",
            #[cfg(target_arch = "x86_64")]
            Self::Vectors512 => "512",
        }
    }

    /// For each row, the products with the panel's columns, told to `out` with the row's number.
    pub(super) fn multiply(self, rows: &Rows, panel: &Panel, mut out: impl FnMut(usize, &[f32; COLUMNS])) {
        let (mut row, end) = (0, rows.len());
        #[cfg(target_arch = "x86_64")]
        if self == Self::Vectors512 {
            while row + WIDE_TILE <= end {
                self.tile::<WIDE_TILE>(rows, row, panel, &mut out);
                row += WIDE_TILE;
            }
        }
        while row + TILE <= end {
            self.tile::<TILE>(rows, row, panel, &mut out);
            row += TILE;
        }
        while row < end {
            self.tile::<1>(rows, row, panel, &mut out);
            row += 1;
        }
    }

    #[inline]
    fn tile<const R: usize>(
        self,
        rows: &Rows,
        first: usize,
        panel: &Panel,
        out: &mut impl FnMut(usize, &[f32; COLUMNS]),
    ) {
        let operands: [(&[RowBlock], &[f32]); R] = std::array::from_fn(|r| rows.row(first + r));
        let mut sums = [[0.0; COLUMNS]; R];
        match self {
            Self::Portable => portable(&operands, panel, &mut sums),
            // SAFETY: SSE2 is part of x86-64.
            #[cfg(target_arch = "x86_64")]
            Self::Vectors128 => unsafe { x86::vectors128(&operands, panel, &mut sums) },
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            Self::Vectors128 => neon::vectors128(&operands, panel, &mut sums),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Vectors128 => wasm::vectors128(&operands, panel, &mut sums),
            // SAFETY: these are only ever chosen where `available` has found their instructions.
            #[cfg(target_arch = "x86_64")]
            Self::Vectors256 => unsafe { x86::vectors256(&operands, panel, &mut sums) },
            // SAFETY: as for 256 bits.
            #[cfg(target_arch = "x86_64")]
            Self::Vectors512 => unsafe { x86::vectors512(&operands, panel, &mut sums) },
        }
        for (r, sums) in sums.iter().enumerate() {
            out(first + r, sums);
        }
    }
}

fn portable<const R: usize>(
    rows: &[(&[RowBlock], &[f32]); R],
    panel: &Panel,
    sums: &mut [[f32; COLUMNS]; R],
) {
    for (block, (pairs, scales)) in panel.quants.iter().zip(&panel.scales).enumerate() {
        for ((quants, row_scales), sums) in rows.iter().zip(sums.iter_mut()) {
            let mut whole = [0i32; COLUMNS];
            for (row, columns) in quants[block].iter().zip(pairs) {
                let (a, b) = halves(*row);
                for (sum, column) in whole.iter_mut().zip(columns) {
                    let (x, y) = halves(*column);
                    *sum += a * x + b * y;
                }
            }
            for ((sum, whole), scale) in sums.iter_mut().zip(whole).zip(scales) {
                #[expect(clippy::cast_precision_loss, reason = "rounded as the vector kernels round it")]
                {
                    *sum += whole as f32 * (row_scales[block] * scale);
                }
            }
        }
    }
}

/// The two quants of a word.
#[inline]
fn halves(word: i32) -> (i32, i32) {
    (word << 16 >> 16, word >> 16)
}

/// The product with vectors that have a product of pairs (`$dot`): two vectors of columns at a time, since there are
/// sixteen registers.
#[cfg(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128")))]
macro_rules! by_pairs {
    (
        $(#[$attribute:meta])* $name:ident: $lanes:literal lanes of $whole:ty,
        $splat:path, $add:path, $dot:path, $splat_float:path, $add_float:path, $multiply_float:path, $to_float:path
    ) => {
        $(#[$attribute])*
        pub(super) fn $name<const R: usize>(
            rows: &[(&[RowBlock], &[f32]); R],
            panel: &Panel,
            sums: &mut [[f32; COLUMNS]; R],
        ) {
            for (block, (pairs, scales)) in panel.quants.iter().zip(&panel.scales).enumerate() {
                let quants: [&RowBlock; R] = std::array::from_fn(|r| &rows[r].0[block]);
                let (scales, _) = scales.as_chunks::<$lanes>();
                for first in (0..COLUMNS / $lanes).step_by(2) {
                    let mut whole = [[$splat(0); 2]; R];
                    for p in 0..PAIRS {
                        let (columns, _) = pairs[p].as_chunks::<$lanes>();
                        let low: $whole = bytemuck::cast(columns[first]);
                        let high: $whole = bytemuck::cast(columns[first + 1]);
                        for r in 0..R {
                            let row = $splat(quants[r][p]);
                            whole[r][0] = $add(whole[r][0], $dot(row, low));
                            whole[r][1] = $add(whole[r][1], $dot(row, high));
                        }
                    }
                    for r in 0..R {
                        let (sums, _) = sums[r].as_chunks_mut::<$lanes>();
                        for side in 0..2 {
                            let scale = bytemuck::cast(scales[first + side]);
                            let scale = $multiply_float($splat_float(rows[r].1[block]), scale);
                            let scaled = $multiply_float($to_float(whole[r][side]), scale);
                            let sum = $add_float(bytemuck::cast(sums[first + side]), scaled);
                            sums[first + side] = bytemuck::cast(sum);
                        }
                    }
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{COLUMNS, PAIRS, Panel, RowBlock};

    by_pairs!(
        /// SSE2, which every x86-64 processor has.
        #[target_feature(enable = "sse2")]
        vectors128: 4 lanes of __m128i,
        _mm_set1_epi32, _mm_add_epi32, _mm_madd_epi16, _mm_set1_ps, _mm_add_ps, _mm_mul_ps, _mm_cvtepi32_ps
    );

    by_pairs!(
        #[target_feature(enable = "avx2")]
        vectors256: 8 lanes of __m256i,
        _mm256_set1_epi32, _mm256_add_epi32, _mm256_madd_epi16,
        _mm256_set1_ps, _mm256_add_ps, _mm256_mul_ps, _mm256_cvtepi32_ps
    );

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn vectors512<const R: usize>(
        rows: &[(&[RowBlock], &[f32]); R],
        panel: &Panel,
        sums: &mut [[f32; COLUMNS]; R],
    ) {
        let mut all = [_mm512_setzero_ps(); R];
        for (block, (pairs, scales)) in panel.quants.iter().zip(&panel.scales).enumerate() {
            let quants: [&RowBlock; R] = std::array::from_fn(|r| &rows[r].0[block]);
            let mut whole = [_mm512_setzero_si512(); R];
            for p in 0..PAIRS {
                let columns: __m512i = bytemuck::cast(pairs[p]);
                for r in 0..R {
                    whole[r] = _mm512_dpwssd_epi32(whole[r], _mm512_set1_epi32(quants[r][p]), columns);
                }
            }
            let scales: __m512 = bytemuck::cast(*scales);
            for r in 0..R {
                let scale = _mm512_mul_ps(_mm512_set1_ps(rows[r].1[block]), scales);
                let scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(whole[r]), scale);
                all[r] = _mm512_add_ps(all[r], scaled);
            }
        }
        for r in 0..R {
            sums[r] = bytemuck::cast(all[r]);
        }
    }
}

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod neon {
    use std::arch::aarch64::*;

    use super::{COLUMNS, PAIRS, Panel, RowBlock};

    /// NEON has no product of pairs: the panel's words are taken apart once, into first and second inputs, and each
    /// is multiplied with one number of the row. All sixteen columns at a time, since there are 32 registers.
    pub(super) fn vectors128<const R: usize>(
        rows: &[(&[RowBlock], &[f32]); R],
        panel: &Panel,
        sums: &mut [[f32; COLUMNS]; R],
    ) {
        // SAFETY: NEON is enabled for the whole program (see the module's condition).
        unsafe { tile(rows, panel, sums) }
    }

    #[target_feature(enable = "neon")]
    fn tile<const R: usize>(
        rows: &[(&[RowBlock], &[f32]); R],
        panel: &Panel,
        sums: &mut [[f32; COLUMNS]; R],
    ) {
        for (block, (pairs, scales)) in panel.quants.iter().zip(&panel.scales).enumerate() {
            let quants: [&RowBlock; R] = std::array::from_fn(|r| &rows[r].0[block]);
            let (scales, _) = scales.as_chunks::<4>();
            let mut whole = [[vdupq_n_s32(0); 4]; R];
            for p in 0..PAIRS {
                let (columns, _) = pairs[p].as_chunks::<4>();
                for half in 0..2 {
                    let low: int16x8_t = bytemuck::cast(columns[2 * half]);
                    let high: int16x8_t = bytemuck::cast(columns[2 * half + 1]);
                    let (first, second) = (vuzp1q_s16(low, high), vuzp2q_s16(low, high));
                    for r in 0..R {
                        let word = quants[r][p];
                        #[expect(
                            clippy::cast_possible_truncation,
                            reason = "a word is two numbers of 16 bits"
                        )]
                        let (a, b) = (word as i16, (word >> 16) as i16);
                        let [left, right] = [2 * half, 2 * half + 1];
                        whole[r][left] = vmlal_n_s16(whole[r][left], vget_low_s16(first), a);
                        whole[r][right] = vmlal_high_n_s16(whole[r][right], first, a);
                        whole[r][left] = vmlal_n_s16(whole[r][left], vget_low_s16(second), b);
                        whole[r][right] = vmlal_high_n_s16(whole[r][right], second, b);
                    }
                }
            }
            for r in 0..R {
                let (sums, _) = sums[r].as_chunks_mut::<4>();
                for part in 0..4 {
                    let scale = vmulq_n_f32(bytemuck::cast(scales[part]), rows[r].1[block]);
                    let scaled = vmulq_f32(vcvtq_f32_s32(whole[r][part]), scale);
                    sums[part] = bytemuck::cast(vaddq_f32(bytemuck::cast(sums[part]), scaled));
                }
            }
        }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm {
    use std::arch::wasm32::*;

    use super::{COLUMNS, PAIRS, Panel, RowBlock};

    by_pairs!(
        /// WebAssembly's vectors; engines have sixteen registers on x86-64.
        vectors128: 4 lanes of v128,
        i32x4_splat, i32x4_add, i32x4_dot_i16x8, f32x4_splat, f32x4_add, f32x4_mul, f32x4_convert_i32x4
    );
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of very different sizes, and zeros.
    fn numbers(count: usize) -> impl Strategy<Value = Vec<f32>> {
        let number = prop_oneof![
            8 => -2.0f32..2.0,
            1 => -2000.0f32..2000.0,
            1 => -1e-3f32..1e-3,
            1 => Just(0.0f32),
        ];
        proptest::collection::vec(number, count)
    }

    fn panel_of(columns: &[f32], width: usize) -> Panel {
        let mut panel = Panel::default();
        panel.resize(width.div_ceil(BLOCK));
        for block in 0..width.div_ceil(BLOCK) {
            for column in 0..COLUMNS {
                let mut quants = [0; BLOCK];
                let part = columns.get(column * width..(column + 1) * width).unwrap_or(&[]);
                let part = part.get(block * BLOCK..((block + 1) * BLOCK).min(width)).unwrap_or(&[]);
                let scale = quantize(part, COLUMN_MAX, &mut quants);
                panel.put(block, column, &quants, scale);
            }
        }
        panel
    }

    fn product(kernel: Kernel, rows: &Rows, panel: &Panel) -> Vec<[f32; COLUMNS]> {
        let mut all = vec![[f32::NAN; COLUMNS]; rows.len()];
        kernel.multiply(rows, panel, |row, sums| all[row] = *sums);
        all
    }

    proptest! {
        /// Against f64: the error is that of the rounding, and every instruction set gives the same bits.
        #[test]
        fn products_agree_with_f64_and_with_each_other(
            (width, rows, x, w) in (1usize..300, 1usize..20).prop_flat_map(|(width, rows)| {
                (Just(width), Just(rows), numbers(rows * width), numbers(COLUMNS * width))
            })
        ) {
            let mut quantized = Rows::default();
            quantized.quantize(&x, width);
            let panel = panel_of(&w, width);
            let first = product(Kernel::Portable, &quantized, &panel);
            for kernel in Kernel::available() {
                prop_assert_eq!(&product(kernel, &quantized, &panel), &first, "{}", kernel.name());
            }
            for row in 0..rows {
                for column in 0..COLUMNS {
                    let (x, w) = (&x[row * width..][..width], &w[column * width..][..width]);
                    let (mut exact, mut bound) = (0.0f64, 1e-30f64);
                    for (x, w) in x.chunks(BLOCK).zip(w.chunks(BLOCK)) {
                        let most = |v: &[f32]| v.iter().fold(0.0f64, |m, v| m.max(f64::from(v.abs())));
                        exact += x.iter().zip(w).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum::<f64>();
                        // Each operand is off by at most half a step of its block.
                        let (dx, dw) = (most(x) / 8191.0 / 2.0, most(w) / 4095.0 / 2.0);
                        bound += x.iter().zip(w)
                            .map(|(x, w)| f64::from(x.abs()) * dw + f64::from(w.abs()) * dx + dx * dw)
                            .sum::<f64>();
                    }
                    let found = f64::from(first[row][column]);
                    // And the f32 sums by a little of their own.
                    let slack = 1e-6 * x.iter().zip(w).map(|(x, w)| f64::from((x * w).abs())).sum::<f64>();
                    prop_assert!((found - exact).abs() <= bound * 1.001 + slack, "{found} for {exact}, {bound}");
                }
            }
        }
    }

    /// The largest operands that there can be do not overflow the sums.
    #[test]
    fn full_blocks_do_not_overflow() {
        let width = 128;
        let mut rows = Rows::default();
        rows.quantize(&vec![-3.0; 9 * width], width);
        let panel = panel_of(&vec![5.0; COLUMNS * width], width);
        for kernel in Kernel::available() {
            for sums in product(kernel, &rows, &panel) {
                for sum in sums {
                    // 128 × −3 × 5.
                    assert!((sum + 1920.0).abs() < 1e-3, "{}: {sum}", kernel.name());
                }
            }
        }
    }

    /// A comparison that cannot fail proves nothing: one wrong quant, one wrong scale.
    #[test]
    fn planted_faults_change_the_product() {
        let width = 70;
        let x: Vec<f32> = (0..6 * width).map(|i| (i % 13) as f32 - 6.0).collect();
        let w: Vec<f32> = (0..COLUMNS * width).map(|i| (i % 7) as f32 - 2.5).collect();
        let mut rows = Rows::default();
        rows.quantize(&x, width);
        for kernel in Kernel::available() {
            let right = product(kernel, &rows, &panel_of(&w, width));
            let mut wrong = panel_of(&w, width);
            wrong.quants[1][2][15] ^= 1 << 16;
            assert_ne!(product(kernel, &rows, &wrong), right, "{}", kernel.name());
            let mut wrong = panel_of(&w, width);
            wrong.scales[0][3] *= -1.0;
            assert_ne!(product(kernel, &rows, &wrong), right, "{}", kernel.name());
        }
    }

    #[test]
    fn p16_what_is_no_number_stays_none() {
        let mut rows = Rows::default();
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut x = vec![1.0; 128];
            x[70] = bad;
            rows.quantize(&x, 128);
            let panel = panel_of(&vec![1.0; COLUMNS * 128], 128);
            for kernel in Kernel::available() {
                assert!(product(kernel, &rows, &panel)[0][0].is_nan(), "{bad} with {}", kernel.name());
            }
        }
    }
}
