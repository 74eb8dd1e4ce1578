//! Weight matrices: the file's own blocks, turned into panels just before they are multiplied.
//!
//! Keeping the blocks means that a model takes no more memory than its file, whatever its format, and that loading
//! is reading. Turning sixteen columns into a panel costs a few operations per weight, once per batch, against one
//! multiplication per weight and row.

use super::kernel::{BLOCK, COLUMN_MAX, COLUMNS, Kernel, PAIRS, Panel, Rows, nearest, quantize, scale_of};
use super::math::wide;
use super::narrow::{Narrow, NarrowPanel, NarrowRows};
use super::threads::{self, Shared};
use crate::gguf::{Gguf, Rows as FileRows};
use crate::quant::TensorType;
use crate::{ByteSource, LmError};

/// The most weights of a block of any format.
const MOST: usize = 256;

/// A weight matrix `[outputs, inputs]` as the file has it, and a bias where the layer has one.
#[derive(Debug)]
pub(super) struct Matrix {
    kind: TensorType,
    bytes: Vec<u8>,
    inputs: usize,
    outputs: usize,
    row_bytes: usize,
    pub(super) bias: Option<Vec<f32>>,
}

/// Rows of activations, as the products want them.
#[derive(Debug, Default)]
pub(super) struct Operand {
    wide: Rows,
    narrow: NarrowRows,
}

impl Operand {
    /// Quantizes rows of `width` numbers.
    pub(super) fn quantize(&mut self, x: &[f32], width: usize) {
        self.wide.quantize(x, width);
        if Narrow::chosen().is_some() {
            self.narrow.quantize(x, width);
        }
    }
}

impl Matrix {
    pub(super) fn read(gguf: &Gguf, source: &mut dyn ByteSource, rows: &FileRows) -> Result<Self, LmError> {
        let mut bytes = Vec::new();
        let kind = gguf.read_rows(source, rows, &mut bytes)?;
        Ok(Self::of(kind, bytes, rows.shape[0], rows.rows.len()))
    }

    /// A matrix of f32, row after row.
    pub(super) fn of_floats(values: &[f32], inputs: usize) -> Self {
        let bytes = bytemuck::cast_slice(values).to_vec();
        Self::of(TensorType::F32, bytes, inputs, values.len() / inputs)
    }

    pub(super) fn of(kind: TensorType, bytes: Vec<u8>, inputs: usize, outputs: usize) -> Self {
        let row_bytes = inputs / kind.block_weights() * kind.block_bytes();
        Self { kind, bytes, inputs, outputs, row_bytes, bias: None }
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Bytes held.
    pub(super) fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Appends one row of the table, as f32.
    pub(super) fn row(&self, index: usize, out: &mut Vec<f32>) {
        let start = out.len();
        out.resize(start + self.inputs, 0.0);
        self.kind.dequantize(self.row_bytes(index), &mut out[start..]);
    }

    fn row_bytes(&self, index: usize) -> &[u8] {
        &self.bytes[index * self.row_bytes..][..self.row_bytes]
    }

    /// `rows × selfᵀ + bias`, into rows of [`outputs`](Self::outputs) numbers.
    pub(super) fn apply(&self, rows: &Operand, out: &mut Vec<f32>) {
        out.resize(rows.wide.len() * self.outputs, 0.0);
        self.apply_columns(rows, 0..self.outputs, out);
    }

    /// The same for some of the columns, which begin at a whole panel; the others are left as they are. `out` has
    /// rows of [`outputs`](Self::outputs) numbers.
    pub(super) fn apply_columns(&self, rows: &Operand, columns: std::ops::Range<usize>, out: &mut [f32]) {
        let kernel = Kernel::best();
        let shared = Shared::new(out);
        let panels = columns.step_by(COLUMNS);
        // Each thread takes several panels one after the other, and makes them in the same place.
        let panels: Vec<usize> = panels.collect();
        let share = panels.len().div_ceil(4 * threads::count()).max(1);
        let finish = |first: usize, row: usize, sums: &[f32; COLUMNS]| {
            let count = COLUMNS.min(self.outputs - first);
            let mut sums = *sums;
            if let Some(bias) = &self.bias {
                sums.iter_mut().zip(&bias[first..first + count]).for_each(|(sum, bias)| *sum += bias);
            }
            // SAFETY: these columns are this panel's, and each panel is one thread's.
            unsafe { shared.write(row * self.outputs + first, &sums[..count]) };
        };
        let narrow = Narrow::chosen().filter(|_| self.kind.is_quantized());
        let work = |panels: &[usize]| {
            if let Some(narrow) = narrow {
                let mut panel = NarrowPanel::default();
                panel.resize(self.kind, self.inputs);
                for &first in panels {
                    for column in 0..COLUMNS {
                        let row = (first + column < self.outputs).then(|| self.row_bytes(first + column));
                        panel.put(self.kind, column, row);
                    }
                    narrow.multiply(&rows.narrow, &panel, |row, sums| finish(first, row, sums));
                }
                return;
            }
            let mut panel = Panel::default();
            panel.resize(self.inputs.div_ceil(BLOCK));
            for &first in panels {
                self.fill(&mut panel, first);
                kernel.multiply(&rows.wide, &panel, |row, sums| finish(first, row, sums));
            }
        };
        threads::each(self.inputs * self.outputs, panels.chunks(share), work);
    }

    /// Turns up to sixteen rows of the matrix, from `first` on, into a panel. Missing rows become zeros.
    pub(super) fn fill(&self, panel: &mut Panel, first: usize) {
        for column in 0..COLUMNS {
            if first + column >= self.outputs {
                for block in 0..self.inputs.div_ceil(BLOCK) {
                    panel.put(block, column, &[0; BLOCK], 0.0);
                }
            } else if self.kind.is_quantized() {
                self.fill_quantized(panel, column, self.row_bytes(first + column));
            } else {
                self.fill_floats(panel, column, self.row_bytes(first + column));
            }
        }
    }

    fn fill_floats(&self, panel: &mut Panel, column: usize, row: &[u8]) {
        let mut values = [0.0; BLOCK];
        let mut quants = [0; BLOCK];
        for (block, bytes) in row.chunks(BLOCK * self.kind.block_bytes()).enumerate() {
            let count = bytes.len() / self.kind.block_bytes();
            self.kind.dequantize(bytes, &mut values[..count]);
            let scale = quantize(&values[..count], COLUMN_MAX, &mut quants);
            panel.put(block, column, &quants, scale);
        }
    }

    /// From quants with a scale and a minimum per group to quants with a scale per block of 64, without f32 weights
    /// in between: `round((d q + m) / scale)`.
    fn fill_quantized(&self, panel: &mut Panel, column: usize, row: &[u8]) {
        let kind = self.kind;
        wide!(fill_column(kind: TensorType, panel: &mut Panel, column: usize, row: &[u8]) -> ());
    }
}

/// One column of [`Matrix::fill`], from a row of quantized blocks.
#[inline(always)]
fn fill_column(kind: TensorType, panel: &mut Panel, column: usize, row: &[u8]) {
    let (weights, bytes, group) = (kind.block_weights(), kind.block_bytes(), kind.group_weights());
    let (least, greatest) = kind.quant_range();
    #[expect(clippy::cast_precision_loss, reason = "quants are bytes")]
    let (least, greatest) = (least as f32, greatest as f32);
    let mut quants = [0u8; MOST];
    let mut scales = [(0.0f32, 0.0f32); MOST / 16];
    let mut out = [0i16; BLOCK];
    let mut block = 0;
    for part in row.chunks(MOST / weights * bytes) {
        let count = part.len() / bytes * weights;
        let places = quants.chunks_exact_mut(weights).zip(scales.chunks_exact_mut(weights / group));
        for (raw, (quants, scales)) in part.chunks_exact(bytes).zip(places) {
            kind.unpack(raw, quants, scales);
        }
        let groups = scales[..count / group].chunks(BLOCK / group);
        for (quants, scales) in quants[..count].chunks(BLOCK).zip(groups) {
            let largest = scales.iter().fold(0.0f32, |largest, (d, m)| {
                let (a, b) = ((d * least + m).abs(), (d * greatest + m).abs());
                // A scale that is no number must not be lost in a comparison.
                if (a + b + largest).is_nan() { f32::NAN } else { largest.max(a).max(b) }
            });
            let (scale, inverse) = scale_of(largest, COLUMN_MAX);
            if quants.len() < BLOCK {
                out = [0; BLOCK];
            }
            let parts = out.chunks_exact_mut(group).zip(quants.chunks_exact(group));
            for ((out, quants), (d, m)) in parts.zip(scales) {
                let (d, m) = (d * inverse, m * inverse);
                if kind.is_symmetric() {
                    for (out, q) in out.iter_mut().zip(quants) {
                        *out = nearest(d * f32::from(q.cast_signed()));
                    }
                } else {
                    for (out, q) in out.iter_mut().zip(quants) {
                        *out = nearest(d * f32::from(*q) + m);
                    }
                }
            }
            panel.put(block, column, &out, scale);
            block += 1;
        }
    }
}

const _: () = assert!(PAIRS * 2 == BLOCK && MOST.is_multiple_of(BLOCK));
