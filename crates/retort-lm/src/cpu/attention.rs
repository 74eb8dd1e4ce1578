//! Attention over the key/value cache under the tree mask, with the integer product.
//!
//! Keys and values are kept as 16-bit quants, 64 components to a scale, half of what f32 takes. Scores are products
//! of quantized queries with sixteen keys at a time; the values' scales are folded into the weights before these
//! are quantized in turn, so that values of different slots can share a block.

use std::ops::Range;

use super::kernel::{BLOCK, COLUMN_MAX, COLUMNS, Kernel, Panel, Rows, pair, quantize};
use super::math;
use super::threads::{self, Shared};
use crate::LmError;
use crate::backend::Batch;
use crate::config::Config;

/// The most rows of a tile: more would multiply too many keys that its first rows must not see, fewer would gather
/// the same keys too often.
const TILE_ROWS: usize = 64;
/// Attention scores of one head in a tile, about; bounds that matrix to a few megabytes.
const SCORES: usize = 512 * 1024;

/// Keys and values of one layer.
#[derive(Debug, Default)]
pub(super) struct LayerCache {
    keys: Stored,
    values: Stored,
}

/// `[kv head][slot][component, padded to whole blocks]`, and a scale per block.
#[derive(Debug, Default)]
struct Stored {
    quants: Vec<[i16; BLOCK]>,
    scales: Vec<f32>,
}

impl LayerCache {
    /// Makes room for so many slots; what the first `keep` hold stays.
    ///
    /// # Errors
    /// [`LmError::OutOfMemory`]; nothing has then changed.
    pub(super) fn grow(
        &mut self,
        config: &Config,
        (old, new): (usize, usize),
        keep: usize,
    ) -> Result<(), LmError> {
        let keys = self.keys.grown(config, (old, new), keep)?;
        let values = self.values.grown(config, (old, new), keep)?;
        *self = Self { keys, values };
        Ok(())
    }

    /// Puts rows of keys and values (`kv heads × head size`) into the slots from `first` on.
    pub(super) fn store(
        &mut self,
        config: &Config,
        capacity: usize,
        first: usize,
        keys: &[f32],
        values: &[f32],
    ) {
        self.keys.store(config, capacity, first, keys);
        self.values.store(config, capacity, first, values);
    }
}

fn head_blocks(config: &Config) -> usize {
    config.head_size.div_ceil(BLOCK)
}

impl Stored {
    fn grown(&self, config: &Config, (old, new): (usize, usize), keep: usize) -> Result<Self, LmError> {
        let too_much = || LmError::OutOfMemory { what: format!("a key/value cache for {new} tokens") };
        let per_slot = head_blocks(config);
        let len =
            config.kv_heads.checked_mul(per_slot).and_then(|n| n.checked_mul(new)).ok_or_else(too_much)?;
        let mut grown = Self::default();
        grown.quants.try_reserve_exact(len).map_err(|_| too_much())?;
        grown.scales.try_reserve_exact(len).map_err(|_| too_much())?;
        grown.quants.resize(len, [0; BLOCK]);
        grown.scales.resize(len, 0.0);
        for head in 0..config.kv_heads {
            let from = head * old * per_slot..head * old * per_slot + keep.min(old) * per_slot;
            let to = head * new * per_slot..head * new * per_slot + from.len();
            grown.quants[to.clone()].copy_from_slice(&self.quants[from.clone()]);
            grown.scales[to].copy_from_slice(&self.scales[from]);
        }
        Ok(grown)
    }

    fn store(&mut self, config: &Config, capacity: usize, first: usize, rows: &[f32]) {
        let blocks = head_blocks(config);
        for (row, heads) in rows.chunks_exact(config.kv_width()).enumerate() {
            for (head, components) in heads.chunks_exact(config.head_size).enumerate() {
                let at = (head * capacity + first + row) * blocks;
                for (block, part) in components.chunks(BLOCK).enumerate() {
                    self.scales[at + block] = quantize(part, COLUMN_MAX, &mut self.quants[at + block]);
                }
            }
        }
    }
}

/// Attention of all rows (Vaswani et al. 2017, equation 1): `queries` and `out` are rows of
/// [`Config::query_width`] numbers. Each row sees the last `reach` slots of what its view allows.
pub(super) fn attend(
    config: &Config,
    reach: usize,
    batch: &Batch,
    cache: &LayerCache,
    capacity: usize,
    queries: &[f32],
    out: &mut [f32],
) {
    let tiles = tiles(batch, reach);
    let size = out.len();
    let shared = Shared::new(out);
    let tasks: Vec<(&Tile, usize)> =
        tiles.iter().flat_map(|tile| (0..config.kv_heads).map(move |head| (tile, head))).collect();
    let work = |(tile, kv_head): (&Tile, usize)| {
        let mut task = Task { config, reach, cache, capacity, kv_head, tile, slots: Vec::new() };
        task.slots.extend(tile.slots.iter().cloned().flatten());
        task.run(queries, &shared);
    };
    threads::each(size, tasks.into_iter(), work);
}

/// The query heads of one key/value head, for one tile.
struct Task<'a> {
    config: &'a Config,
    reach: usize,
    cache: &'a LayerCache,
    capacity: usize,
    kv_head: usize,
    tile: &'a Tile,
    slots: Vec<usize>,
}

impl Task<'_> {
    fn run(&self, queries: &[f32], out: &Shared<'_>) {
        let (config, kernel) = (self.config, Kernel::best());
        let (size, group) = (config.head_size, config.heads / config.kv_heads);
        let (blocks, width) = (head_blocks(config), config.query_width());
        let seen = self.slots.len();
        let lines = self.tile.rows.len() * group;
        // A line is one query head of one row.
        let place = |line: usize| {
            (self.tile.rows.start + line / group) * width + (self.kv_head * group + line % group) * size
        };
        let mut rows = Rows::default();
        rows.quantize_here((0..lines).map(|line| &queries[place(line)..][..size]), size);

        // Scores, in lines padded to whole blocks, as the second product wants them.
        let padded = seen.next_multiple_of(BLOCK);
        let mut scores = vec![0.0; lines * padded];
        let mut panel = Panel::default();
        panel.resize(blocks);
        for (at, slots) in self.slots.chunks(COLUMNS).enumerate() {
            for column in 0..COLUMNS {
                for block in 0..blocks {
                    match slots.get(column) {
                        Some(slot) => {
                            let from = self.stored(*slot, block);
                            let (quants, scale) =
                                (&self.cache.keys.quants[from], self.cache.keys.scales[from]);
                            panel.put(block, column, quants, scale);
                        }
                        None => panel.put(block, column, &[0; BLOCK], 0.0),
                    }
                }
            }
            kernel.multiply(&rows, &panel, |line, sums| {
                // Beyond the last slot these are scores of zeros, which nobody sees.
                if let Some(scores) = scores[line * padded + at * COLUMNS..].first_chunk_mut::<COLUMNS>() {
                    *scores = *sums;
                }
            });
        }
        // Line by line, while a line lies in the nearest cache: the softmax's numerators, then these times the values'
        // scales as quants. What they must be divided by waits for the very end.
        let value_scales: Vec<f32> = (0..blocks)
            .flat_map(|block| self.slots.iter().map(move |slot| (block, *slot)))
            .map(|(block, slot)| self.cache.values.scales[self.stored(slot, block)])
            .collect();
        let mut weights: Vec<Rows> = Vec::new();
        weights.resize_with(blocks, Rows::default);
        weights.iter_mut().for_each(|rows| {
            rows.resize(lines, padded);
        });
        let mut inverses = Vec::with_capacity(lines);
        let mut weighted = vec![0.0; padded];
        for (line, scores) in scores.chunks_exact_mut(padded).enumerate() {
            let visible = self.tile.visible(line / group, self.reach);
            inverses.push(
                1.0 / math::exponentials(scores, config.attention_scale, config.attention_cap, visible),
            );
            for (rows, value_scales) in weights.iter_mut().zip(value_scales.chunks_exact(seen)) {
                for ((weighted, score), scale) in weighted.iter_mut().zip(&*scores).zip(value_scales) {
                    *weighted = score * scale;
                }
                rows.set(line, &weighted);
            }
        }

        panel.resize(padded / BLOCK);
        panel.scales.fill([1.0; COLUMNS]);
        for (block, rows) in weights.iter().enumerate() {
            for first in (block * BLOCK..size.min((block + 1) * BLOCK)).step_by(COLUMNS) {
                self.gather_values(&mut panel, block, first % BLOCK);
                let count = COLUMNS.min(size - first);
                kernel.multiply(rows, &panel, |line, sums| {
                    let sums = sums.map(|sum| sum * inverses[line]);
                    // SAFETY: these components of these heads of these rows are this task's.
                    unsafe { out.write(place(line) + first, &sums[..count]) };
                });
            }
        }
    }

    fn stored(&self, slot: usize, block: usize) -> usize {
        (self.kv_head * self.capacity + slot) * head_blocks(self.config) + block
    }

    /// Sixteen components of the values, slots being the inputs.
    fn gather_values(&self, panel: &mut Panel, block: usize, first: usize) {
        let component = |slot: Option<&usize>| -> [i16; COLUMNS] {
            let stored = slot.map(|slot| &self.cache.values.quants[self.stored(*slot, block)]);
            stored.and_then(|quants| quants[first..first + COLUMNS].try_into().ok()).unwrap_or_default()
        };
        for (pairs, slots) in panel.quants.iter_mut().zip(self.slots.chunks(BLOCK)) {
            for (at, columns) in pairs.iter_mut().enumerate() {
                let (even, odd) = (component(slots.get(2 * at)), component(slots.get(2 * at + 1)));
                for ((word, even), odd) in columns.iter_mut().zip(even).zip(odd) {
                    *word = pair(even, odd);
                }
            }
        }
    }
}

/// Rows of a batch whose attention is computed together: they see the same slots, but that each also sees
/// itself and the rows of the tile before it, and that a window slides with the row.
#[derive(Debug)]
struct Tile {
    rows: Range<usize>,
    /// What any of the rows sees, in the order of the path; the tile's own rows are the end of the last range.
    slots: Vec<Range<usize>>,
}

impl Tile {
    /// Which of the tile's slots its row `row` sees.
    fn visible(&self, row: usize, reach: usize) -> Range<usize> {
        let seen: usize = self.slots.iter().map(Range::len).sum();
        let end = seen - (self.rows.len() - 1 - row);
        end.saturating_sub(reach)..end
    }
}

/// Cuts a batch into tiles. No key that a row must not see is multiplied, but for those of the rows after it
/// in its tile, and those that left its window within the tile.
fn tiles(batch: &Batch, reach: usize) -> Vec<Tile> {
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
        let seen: usize = run.slots.iter().map(Range::len).sum();
        let most = (SCORES / seen).clamp(16, TILE_ROWS);
        let parts = run.rows.len().div_ceil(most);
        let rows = run.rows.len().div_ceil(parts);
        for start in run.rows.clone().step_by(rows) {
            let end = (start + rows).min(run.rows.end);
            let mut slots = run.slots.clone();
            if let Some(last) = slots.last_mut() {
                last.end -= run.rows.end - end;
            }
            let first_sees: usize = slots.iter().map(Range::len).sum::<usize>() - (end - start - 1);
            // What not even the first row sees any more.
            let mut dropped = first_sees.saturating_sub(reach);
            for range in &mut slots {
                let here = dropped.min(range.len());
                range.start += here;
                dropped -= here;
            }
            slots.retain(|range| !range.is_empty());
            tiles.push(Tile { rows: start..end, slots });
        }
    }
    tiles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::View;

    /// Every row's visible slots, by the tiles, are those of its view, in order.
    #[test]
    fn tiles_see_what_views_see() {
        let mut batch = Batch { first_slot: 100, ..Batch::default() };
        let mut push = |rows: u32, trunk: (u32, u32)| {
            let own = 100 + batch.views.len() as u32;
            for _ in 0..rows {
                batch.views.push(View { prefix: 90, trunk_start: trunk.0, trunk_end: trunk.1, own });
                batch.tokens.push(0);
            }
        };
        push(150, (90, 90));
        push(7, (100, 250));
        push(1, (100, 130));
        push(90, (90, 90));
        for reach in [usize::MAX, 1000, 100, 64, 20, 2, 1] {
            let mut rows = 0;
            for tile in tiles(&batch, reach) {
                assert!(tile.rows.len() <= TILE_ROWS);
                let slots: Vec<usize> = tile.slots.iter().cloned().flatten().collect();
                for row in tile.rows.clone() {
                    assert_eq!(row, rows);
                    rows += 1;
                    let right: Vec<usize> =
                        batch.views[row].near(100 + row as u32, reach).into_iter().flatten().collect();
                    assert_eq!(
                        slots[tile.visible(row - tile.rows.start, reach)],
                        right,
                        "row {row}, {reach}"
                    );
                }
            }
            assert_eq!(rows, batch.views.len());
        }
    }
}
