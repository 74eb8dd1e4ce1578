//! How much work is handed to the device at a time, so that whoever wants to stop it is heard soon.
//!
//! Work is counted in products of one weight with one row. What such a product costs is measured with every
//! submission; a step is then made as large as fits [`TARGET`], within what the device and its memory allow, and a
//! step that takes longer even so (a large model on a slow device) is submitted a few layers at a time.

/// Seconds that a step should take at most.
const TARGET: f64 = 0.2;
/// Seconds from which on a step is cut into several submissions.
const LIMIT: f64 = 0.25;
/// Rows that a step has at least.
pub(super) const LEAST_ROWS: usize = 8;

/// Measures submissions and sizes those to come.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    /// Seconds per weight and row with the tiled product; absent until it was measured.
    many: Option<f64>,
    /// Seconds per weight with the matrix-vector product, which takes a few rows at the price of one.
    few: Option<f64>,
    layers: usize,
    /// Weights of a layer, and of the output layer.
    layer_weights: f64,
    output_weights: f64,
    tile_rows: usize,
    /// Rows up to which the matrix-vector product is used.
    vector_rows: usize,
    most_rows: usize,
}

impl Pace {
    pub(super) fn new(layers: usize, weights: [usize; 2], most_rows: usize, vector_rows: usize) -> Self {
        let [layer_weights, output_weights] = weights.map(|weights| weights as f64);
        let tile_rows = LEAST_ROWS;
        Self {
            many: None,
            few: None,
            layers: layers.max(1),
            layer_weights,
            output_weights,
            tile_rows,
            vector_rows,
            most_rows,
        }
    }

    /// The tiled product computes whole tiles of so many rows.
    pub(super) fn set_tile(&mut self, rows: usize) {
        if self.tile_rows != rows {
            self.tile_rows = rows;
            self.many = None;
        }
    }

    /// From now on at most so many rows, because memory for more was refused.
    pub(super) fn limit(&mut self, rows: usize) {
        self.most_rows = rows.min(self.most_rows).max(LEAST_ROWS);
    }

    fn whole_tiles(&self, rows: usize) -> f64 {
        rows.next_multiple_of(self.tile_rows) as f64
    }

    /// Rows whose `weights` products each take no longer than wanted, in whole tiles.
    fn rows_for(&self, weights: f64) -> usize {
        let rows = match self.many {
            // A device that nothing is known of starts with one tile.
            None => 1,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a positive number that is bounded next"
            )]
            Some(cost) => (TARGET / (cost * weights).max(1e-12)).min(1e9) as usize,
        };
        (rows / self.tile_rows * self.tile_rows).max(self.tile_rows)
    }

    /// The rows that the next step should have.
    pub(super) fn chunk(&self) -> usize {
        self.rows_for(self.layers as f64 * self.layer_weights).min(self.most_rows).max(LEAST_ROWS)
    }

    /// The rows that the output layer should be computed for at a time.
    pub(super) fn picks(&self) -> usize {
        self.rows_for(self.output_weights)
    }

    /// How many layers of a step of so many rows should be submitted at a time.
    pub(super) fn layers_at_once(&self, rows: usize) -> usize {
        let layer = match rows <= self.vector_rows {
            true => self.few.map(|cost| cost * self.layer_weights),
            false => self.many.map(|cost| cost * self.layer_weights * self.whole_tiles(rows)),
        };
        match layer {
            None => 1,
            Some(layer) if layer * self.layers as f64 <= LIMIT => self.layers,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "positive, and less than the layers"
            )]
            Some(layer) => ((TARGET / layer) as usize).clamp(1, self.layers),
        }
    }

    /// Learns from a submission of so many layers for `rows` rows, and the output layer for `picks` rows.
    pub(super) fn learn(&mut self, layers: usize, rows: usize, picks: usize, seconds: f64) {
        let is_few = |rows: usize| rows <= self.vector_rows;
        let layers = if rows == 0 { 0 } else { layers };
        let (layer_weights, output_weights) = (layers as f64 * self.layer_weights, self.output_weights);
        let (slot, work) = if (layers == 0 || is_few(rows)) && is_few(picks) {
            let output_weights = if picks > 0 { output_weights } else { 0.0 };
            (&mut self.few, layer_weights + output_weights)
        } else if (layers == 0 || !is_few(rows)) && (picks == 0 || !is_few(picks)) {
            let work = layer_weights * self.whole_tiles(rows) + output_weights * self.whole_tiles(picks);
            (&mut self.many, work)
        } else {
            // Both kinds of product at once: it can't be told which took how long.
            return;
        };
        if work > 0.0 && seconds > 0.0 {
            let cost = seconds / work;
            // Half of what was known: the first measurement holds warming up, and devices slow down.
            *slot = Some(slot.map_or(cost, |known| 0.5 * (known + cost)));
        }
    }
}

/// Measures time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopwatch {
    #[cfg(target_arch = "wasm32")]
    start: f64,
    #[cfg(not(target_arch = "wasm32"))]
    start: std::time::Instant,
}

impl Stopwatch {
    #[cfg(target_arch = "wasm32")]
    pub(super) fn start() -> Self {
        Self { start: js_sys::Date::now() }
    }

    /// Seconds since the start; to a millisecond.
    #[cfg(target_arch = "wasm32")]
    pub(super) fn seconds(self) -> f64 {
        // A clock that was set back in between has measured nothing.
        ((js_sys::Date::now() - self.start) / 1000.0).max(0.0)
    }

    #[cfg(not(target_arch = "wasm32"))]
    #[expect(clippy::disallowed_methods, reason = "not compiled for wasm")]
    pub(super) fn start() -> Self {
        Self { start: std::time::Instant::now() }
    }

    /// Seconds since the start.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn seconds(self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 30 layers of a million weights, an output layer of ten million, tiles of 32 rows, at most 512.
    fn pace() -> Pace {
        let mut pace = Pace::new(30, [1_000_000, 10_000_000], 512, 4);
        pace.set_tile(32);
        pace
    }

    #[test]
    fn an_unmeasured_device_gets_one_tile_and_one_layer() {
        assert_eq!(pace().chunk(), 32);
        assert_eq!(pace().layers_at_once(32), 1);
        assert_eq!(pace().layers_at_once(1), 1);
        assert_eq!(pace().picks(), 32);
    }

    #[test]
    fn steps_grow_to_what_fits_a_fifth_of_a_second() {
        let mut pace = pace();
        // A layer of 32 rows in 2 ms: 60 ms for all, so that 106 rows fit into 200 ms: three tiles.
        pace.learn(1, 32, 0, 0.002);
        assert_eq!(pace.chunk(), 96);
        assert_eq!(pace.layers_at_once(96), 30);
        // The output layer is a third of a step: 320 rows.
        assert_eq!(pace.picks(), 320);
        // Ten times as fast as all that was known: the mean of 2 and 0.2 ms counts, 193 rows.
        pace.learn(30, 32, 0, 0.006);
        assert_eq!(pace.chunk(), 192);
        for _ in 0..20 {
            pace.learn(30, 192, 0, 0.006);
        }
        assert_eq!(pace.chunk(), 512);
        pace.limit(100);
        assert_eq!(pace.chunk(), 100);
        pace.limit(1);
        assert_eq!(pace.chunk(), LEAST_ROWS);
    }

    #[test]
    fn a_slow_device_gets_a_few_layers_at_a_time() {
        let mut pace = pace();
        // 50 ms for a layer of one tile: four layers in 200 ms; two tiles take twice as long.
        pace.learn(1, 20, 0, 0.05);
        assert_eq!(pace.chunk(), 32);
        assert_eq!(pace.layers_at_once(32), 4);
        assert_eq!(pace.layers_at_once(33), 2);
        pace.learn(1, 32, 0, 5.0);
        assert_eq!(pace.layers_at_once(32), 1);
        // Single rows are measured by themselves, and with the output layer: 40 million weights in 0.4 s.
        pace.learn(30, 1, 1, 0.4);
        assert_eq!(pace.layers_at_once(1), 20);
        assert_eq!(pace.layers_at_once(4), 20);
    }
}
