//! Low-rank adapters beside the weight matrices.
//!
//! An adapter adds `scale × B (A x)` to what a matrix makes of `x`. The parts for matrices that share their input
//! (queries, keys and values; gate and up) lie together: the rows of all A one below the other, so that one small
//! product gives all `A x`; and B as one row for each row of the matrix, with zeros where a row has no part in an A.
//! The matrix's own kernel adds the second product to its sums before it finishes them.

use super::device::{Buffer, Gpu};
use super::layout::{GROUP, Layout, Packed};
use super::shader::{ALTERNATION, Role};
use super::weights::{Arrangement, Matrix};
use crate::config::Config;
use crate::matrices::Target;
use crate::{Adapter, LmError};

/// The change to one matrix, which may be made of several.
#[derive(Debug)]
pub(super) struct Side {
    /// A: as many rows as there are components between the halves.
    pub(super) first: Matrix,
    /// Components between the halves, padded to a multiple of 4.
    pub(super) columns: usize,
    /// B times the scale: `columns` numbers for each row of the matrix.
    pub(super) second: Buffer,
}

impl Side {
    /// What computes the first half for a product of this role.
    pub(super) fn role(&self, role: Role) -> Role {
        if role.has_norm() { Role::Project } else { Role::Plain }
    }
}

/// The changes to one layer.
#[derive(Debug, Default)]
pub(super) struct LayerSides {
    pub(super) project: Option<Side>,
    pub(super) attention_output: Option<Side>,
    pub(super) gate_up: Option<Side>,
    pub(super) down: Option<Side>,
}

impl LayerSides {
    /// All that there are.
    pub(super) fn all(&self) -> impl Iterator<Item = &Side> {
        [&self.project, &self.attention_output, &self.gate_up, &self.down].into_iter().flatten()
    }

    /// The most components between two halves.
    pub(super) fn width(&self) -> usize {
        self.all().map(|side| side.columns).max().unwrap_or(0)
    }
}

/// Puts an adapter on the GPU, layer by layer.
///
/// # Errors
/// [`LmError::OutOfMemory`] or [`LmError::Gpu`].
pub(super) async fn adapter_sides(
    gpu: &Gpu,
    config: &Config,
    adapter: &Adapter,
) -> Result<Vec<LayerSides>, LmError> {
    use Arrangement::{Alternating, Stacked};
    use Target::{AttentionOutput, Down, Gate, Key, Query, Up, Value};
    let mut layers = Vec::new();
    for layer in 0..config.layers {
        layers.push(LayerSides {
            project: side(gpu, config, adapter, layer, &[Query, Key, Value], Stacked).await?,
            attention_output: side(gpu, config, adapter, layer, &[AttentionOutput], Stacked).await?,
            gate_up: side(gpu, config, adapter, layer, &[Gate, Up], Alternating).await?,
            down: side(gpu, config, adapter, layer, &[Down], Stacked).await?,
        });
    }
    gpu.settle().await?;
    Ok(layers)
}

async fn side(
    gpu: &Gpu,
    config: &Config,
    adapter: &Adapter,
    layer: usize,
    targets: &[Target],
    arrangement: Arrangement,
) -> Result<Option<Side>, LmError> {
    let rank_of = |target: &Target| adapter.part(layer, *target).map_or(0, |part| part.rank);
    let rank: usize = targets.iter().map(rank_of).sum();
    let Some(width) = targets.first().map(|target| target.shape(config).0).filter(|_| rank > 0) else {
        return Ok(None);
    };
    let columns = rank.next_multiple_of(4);
    let padded = width.next_multiple_of(GROUP);
    let mut first = Packed::default();
    let rows: usize = match arrangement {
        Arrangement::Stacked => targets.iter().map(|target| target.shape(config).1).sum(),
        Arrangement::Alternating => 2 * config.feed_forward.next_multiple_of(ALTERNATION),
    };
    let mut second = vec![0f32; rows * columns];
    let (mut first_row, mut first_column) = (0, 0);
    for (turn, target) in targets.iter().enumerate() {
        let outputs = target.shape(config).1;
        if let Some(part) = adapter.part(layer, *target) {
            for row in part.a.chunks_exact(width) {
                let end = first.weights.len() + padded;
                first.weights.extend(row.iter().map(|value| value.to_bits()));
                first.weights.resize(end, 0);
            }
            for (row, values) in part.b.chunks_exact(part.rank).enumerate() {
                let to = match arrangement {
                    Arrangement::Stacked => first_row + row,
                    Arrangement::Alternating => {
                        (row / ALTERNATION * 2 + turn) * ALTERNATION + row % ALTERNATION
                    }
                };
                let to = to * columns + first_column;
                for (to, value) in second[to..to + part.rank].iter_mut().zip(values) {
                    *to = part.scale * value;
                }
            }
            first_column += part.rank;
        }
        first_row += outputs;
    }
    first.weights.resize(columns * padded, 0);

    let what = format!("memory for the adapter's change to block {layer}");
    let most_bytes = gpu.limits.max_storage_buffer_binding_size.min(gpu.limits.max_buffer_size);
    let second_bytes = 4 * second.len() as u64;
    let make = || {
        if second_bytes > most_bytes {
            return None;
        }
        let matrix = Matrix::new(gpu, Layout::Singles, width, columns, most_bytes)?;
        matrix.write(gpu, 0, &first);
        let buffer = gpu.storage("adapter", second_bytes);
        gpu.queue.write_buffer(&buffer.0, 0, bytemuck::cast_slice(&second));
        Some(Side { first: matrix, columns, second: buffer })
    };
    match gpu.scoped(&what, make).await? {
        Some(side) => Ok(Some(side)),
        None => Err(LmError::OutOfMemory { what }),
    }
}
