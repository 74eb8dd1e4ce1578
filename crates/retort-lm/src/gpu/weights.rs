//! Weight matrices on the GPU, and their way there from the file.

use super::device::{Buffer, Gpu};
use super::layout::{GROUP, Layout, Packed, repack};
use super::shader::{ALTERNATION, TILE_COLUMNS};
use crate::gguf::{Extent, Gguf, Rows};
use crate::{ByteSource, Flow, LmError};

/// Bytes of a tensor that are read and repacked at a time.
const SLICE_BYTES: usize = 4 << 20;
/// Bytes after which the writes so far are waited for, so that copies on their way don't pile up.
const SETTLE_BYTES: u64 = 32 << 20;

/// How the rows of several matrices make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrangement {
    /// One after the other.
    Stacked,
    /// Two matrices of equally many rows, taking turns in blocks of [`ALTERNATION`], padded to whole blocks.
    Alternating,
}

/// A weight matrix, in as many parts as the adapter's largest binding asks for.
#[derive(Debug)]
pub(super) struct Matrix {
    pub(super) layout: Layout,
    /// Inputs, with the padding.
    pub(super) inputs: usize,
    /// Inputs that count.
    pub(super) width: usize,
    pub(super) parts: Vec<Part>,
}

/// Some rows of a matrix.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) first_row: usize,
    pub(super) rows: usize,
    pub(super) weights: Buffer,
    pub(super) scales: Option<Buffer>,
}

impl Part {
    /// The weights' bindings.
    pub(super) fn bindings(&self) -> impl Iterator<Item = (u32, &Buffer)> {
        std::iter::once((1, &self.weights)).chain(self.scales.as_ref().map(|scales| (2, scales)))
    }
}

impl Matrix {
    /// How many weights there are, with the padding.
    pub(super) fn weights(&self) -> usize {
        self.parts.iter().map(|part| part.rows).sum::<usize>() * self.inputs
    }

    fn words_per_row(&self) -> usize {
        self.inputs / GROUP * self.layout.group_words()
    }

    fn scales_per_row(&self) -> usize {
        self.inputs / GROUP * self.layout.group_scales()
    }

    /// A matrix of zeros. `most_bytes` is the largest binding.
    ///
    /// To be called within [`Gpu::scoped`]. `None` if not even a tile of rows fits a binding.
    pub(super) fn new(gpu: &Gpu, layout: Layout, width: usize, rows: usize, most_bytes: u64) -> Option<Self> {
        let inputs = width.next_multiple_of(GROUP);
        let mut matrix = Self { layout, inputs, width, parts: Vec::new() };
        let row_bytes = 4 * matrix.words_per_row() as u64;
        let most_rows = usize::try_from(most_bytes / row_bytes).ok()? / TILE_COLUMNS * TILE_COLUMNS;
        if most_rows == 0 {
            return None;
        }
        for first_row in (0..rows).step_by(most_rows) {
            let rows = most_rows.min(rows - first_row);
            let scales = (rows * inputs / GROUP * layout.group_scales()) as u64;
            matrix.parts.push(Part {
                first_row,
                rows,
                weights: gpu.storage("weights", rows as u64 * row_bytes),
                scales: layout.has_scales().then(|| gpu.storage("scales", 4 * scales)),
            });
        }
        Some(matrix)
    }

    /// Writes packed rows from this row on, over as many parts as they touch.
    pub(super) fn write(&self, gpu: &Gpu, first_row: usize, packed: &Packed) {
        let row_words = self.words_per_row();
        let row_scales = self.scales_per_row();
        let end_row = first_row + packed.weights.len() / row_words;
        for part in &self.parts {
            let from = first_row.max(part.first_row);
            let to = end_row.min(part.first_row + part.rows);
            if from >= to {
                continue;
            }
            let write = |buffer: &Buffer, words: &[u32], per_row: usize| {
                let words = &words[(from - first_row) * per_row..(to - first_row) * per_row];
                let offset = 4 * ((from - part.first_row) * per_row) as u64;
                gpu.queue.write_buffer(&buffer.0, offset, bytemuck::cast_slice(words));
            };
            write(&part.weights, &packed.weights, row_words);
            if let Some(scales) = &part.scales {
                write(scales, &packed.scales, row_scales);
            }
        }
    }
}

/// Reads tensors of a file onto the GPU and keeps count.
pub(super) struct Loader<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) gguf: &'a Gguf,
    pub(super) source: &'a mut dyn ByteSource,
    pub(super) on_progress: &'a mut dyn FnMut(u64) -> Flow,
    /// Bytes of tensors handled.
    pub(super) handled: u64,
    /// Of these, bytes whose writes have arrived.
    pub(super) settled: u64,
    /// A slice of a tensor, kept to be used again.
    pub(super) bytes: Vec<u8>,
}

impl Loader<'_> {
    /// Reports progress, and now and then waits for the GPU and, on the web, for the event loop.
    async fn advance(&mut self, bytes: u64) -> Result<(), LmError> {
        self.handled += bytes;
        if (self.on_progress)(self.handled.min(self.gguf.size)) == Flow::Stop {
            return Err(LmError::Cancelled);
        }
        if self.handled - self.settled >= SETTLE_BYTES {
            self.gpu.settle().await?;
            self.settled = self.handled;
        }
        Ok(())
    }

    /// Reads rows of equally many inputs, one or more matrices of the file, into one matrix.
    pub(super) async fn matrix(
        &mut self,
        matrices: &[Rows],
        arrangement: Arrangement,
    ) -> Result<Matrix, LmError> {
        let located: Vec<(&Rows, Extent)> = matrices
            .iter()
            .map(|rows| Ok((rows, self.gguf.extent(rows)?)))
            .collect::<Result<_, LmError>>()?;
        let layouts = located.iter().map(|(_, extent)| Layout::of(extent.kind));
        let layout = layouts.reduce(Layout::common).unwrap_or(Layout::Singles);
        // Matrices that alternate are read together, those that are stacked each on its own.
        let bundles: Vec<&[(&Rows, Extent)]> = match arrangement {
            Arrangement::Stacked => located.chunks(1).collect(),
            Arrangement::Alternating => vec![&located],
        };
        let block = match arrangement {
            Arrangement::Stacked => 1,
            Arrangement::Alternating => ALTERNATION,
        };
        let bundle_rows = |bundle: &[(&Rows, Extent)]| {
            bundle.len() * bundle.first().map_or(0, |(rows, _)| rows.rows.len()).next_multiple_of(block)
        };
        let rows = bundles.iter().map(|bundle| bundle_rows(bundle)).sum();
        let (first, width) = matrices.first().map_or(("", 0), |rows| (&rows.tensor, rows.shape[0]));
        let most_bytes = self.gpu.limits.max_storage_buffer_binding_size.min(self.gpu.limits.max_buffer_size);
        let gpu = self.gpu;
        let what = format!("memory for the weights of \"{first}\"");
        let matrix = gpu.scoped(&what, || Matrix::new(gpu, layout, width, rows, most_bytes)).await?;
        let matrix = matrix.ok_or_else(|| LmError::OutOfMemory { what: what.clone() })?;

        let mut packed = Packed::default();
        let mut bundle_start = 0;
        for bundle in bundles {
            let rows = bundle.first().map_or(0, |(rows, _)| rows.rows.len());
            let row_bytes: usize = bundle.iter().map(|(_, extent)| extent.row_bytes).sum();
            let slice_rows = (SLICE_BYTES / row_bytes.max(1)).max(1).next_multiple_of(ALTERNATION);
            for first_row in (0..rows).step_by(slice_rows) {
                let slice_rows = slice_rows.min(rows - first_row);
                packed.weights.clear();
                packed.scales.clear();
                self.read_slice(bundle, first_row, slice_rows)?;
                self.pack_slice(bundle, slice_rows, block, &matrix, &mut packed)?;
                let to = bundle_start + bundle.len() * first_row;
                gpu.scoped(&what, || matrix.write(gpu, to, &packed)).await?;
                self.advance((slice_rows * row_bytes) as u64).await?;
            }
            bundle_start += bundle_rows(bundle);
        }
        Ok(matrix)
    }

    /// Reads the same rows of every matrix of a bundle, matrix after matrix.
    fn read_slice(
        &mut self,
        bundle: &[(&Rows, Extent)],
        first_row: usize,
        rows: usize,
    ) -> Result<(), LmError> {
        let row_bytes: usize = bundle.iter().map(|(_, extent)| extent.row_bytes).sum();
        self.bytes.resize(rows * row_bytes, 0);
        let mut at = 0;
        for (_, extent) in bundle {
            let len = rows * extent.row_bytes;
            let offset = extent.offset + (first_row * extent.row_bytes) as u64;
            self.source.read_at(offset, &mut self.bytes[at..at + len])?;
            at += len;
        }
        Ok(())
    }

    fn pack_slice(
        &self,
        bundle: &[(&Rows, Extent)],
        rows: usize,
        block: usize,
        matrix: &Matrix,
        packed: &mut Packed,
    ) -> Result<(), LmError> {
        // A lone matrix needs no turns.
        let block = if bundle.len() == 1 { rows } else { block };
        for first in (0..rows).step_by(block.max(1)) {
            let mut start = 0;
            for (file, Extent { kind, row_bytes, .. }) in bundle {
                let taken = block.min(rows - first);
                let from = start + first * row_bytes;
                let bytes = &self.bytes[from..from + taken * row_bytes];
                repack(*kind, matrix.layout, matrix.width, bytes, packed)
                    .map_err(|problem| self.gguf.damaged(&format!("tensor \"{}\"", file.tensor), problem))?;
                let missing = block - taken;
                packed.weights.resize(packed.weights.len() + missing * matrix.words_per_row(), 0);
                packed.scales.resize(packed.scales.len() + missing * matrix.scales_per_row(), 0);
                start += rows * row_bytes;
            }
        }
        Ok(())
    }

    /// Reads a vector as f32, padded with zeros to whole groups.
    pub(super) async fn vector(&mut self, name: &str, len: usize) -> Result<Buffer, LmError> {
        self.vectors(&[(name, len)]).await
    }

    /// Reads vectors one behind the other, as f32, padded in the end with zeros to whole groups.
    pub(super) async fn vectors(&mut self, parts: &[(&str, usize)]) -> Result<Buffer, LmError> {
        let mut values = Vec::new();
        let mut handled = 0;
        for &(name, len) in parts {
            let kind = self.gguf.read_tensor(self.source, name, &[len], &mut self.bytes)?;
            let start = values.len();
            values.resize(start + len, 0f32);
            kind.dequantize(&self.bytes, &mut values[start..]);
            handled += self.bytes.len() as u64;
        }
        values.resize(values.len().next_multiple_of(GROUP), 0.0);
        let gpu = self.gpu;
        let first = parts.first().map_or("", |part| part.0);
        let buffer = gpu
            .scoped(&format!("memory for \"{first}\""), || {
                let buffer = gpu.storage("vector", 4 * values.len() as u64);
                gpu.queue.write_buffer(&buffer.0, 0, bytemuck::cast_slice(&values));
                buffer
            })
            .await?;
        self.advance(handled).await?;
        Ok(buffer)
    }
}
