//! What a backend does: one step of the transformer over a batch of tokens.

use crate::config::Config;
use crate::{Adapter, Flow, LmError};

/// Which earlier tokens one token of a batch sees, as cache slots.
///
/// It sees `[0, prefix)`, `[trunk.0, trunk.1)` and `[own, its slot]`, and nothing else. That is the tree
/// mask: the prefix is shared, `trunk` is the branch that a continuation of an option hangs on (empty
/// otherwise), and `own` is where the token's own branch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct View {
    /// End of the shared prefix.
    pub prefix: u32,
    /// First slot of the trunk.
    pub trunk_start: u32,
    /// End of the trunk; equal to `trunk_start` where there is none.
    pub trunk_end: u32,
    /// First slot of the token's own branch.
    pub own: u32,
}

impl View {
    /// The ranges of slots that the token in `slot` sees. They do not overlap.
    #[must_use]
    pub fn ranges(&self, slot: u32) -> [std::ops::Range<usize>; 3] {
        [
            0..self.prefix as usize,
            self.trunk_start as usize..self.trunk_end as usize,
            self.own as usize..slot as usize + 1,
        ]
    }

    /// As [`ranges`](Self::ranges), but of those slots only the last `reach` on the token's path: what a layer
    /// with a sliding window sees.
    #[must_use]
    pub fn near(&self, slot: u32, reach: usize) -> [std::ops::Range<usize>; 3] {
        let mut ranges = self.ranges(slot);
        let seen: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        let mut far = seen.saturating_sub(reach);
        for range in &mut ranges {
            let dropped = far.min(range.len());
            range.start += dropped;
            far -= dropped;
        }
        ranges
    }
}

/// Tokens to be computed together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// Cache slot of the first token; token `i` takes slot `first_slot + i`.
    pub first_slot: u32,
    /// Token ids, each below the vocabulary's size.
    pub tokens: Vec<u32>,
    /// Position of each token on its own path from the root, for the rotary embedding.
    pub positions: Vec<u32>,
    /// What each token sees.
    pub views: Vec<View>,
    /// Rows (indices into `tokens`, ascending) whose logits are wanted.
    pub outputs: Vec<u32>,
    /// Sums of hidden states that are wanted.
    pub states: Vec<StateSum>,
}

/// The sum, over neighbouring rows of a batch, of the residual stream after a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateSum {
    /// 0 for what enters the first block, `i` for what leaves block `i` (counted from 1), before any norm.
    pub layer: usize,
    /// The first row.
    pub first_row: u32,
    /// How many rows; a sum of none is all zeros.
    pub rows: u32,
}

/// What a step of the transformer found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// Logits of [`Batch::outputs`], row after row (`outputs.len() × vocabulary`), after the cap if there is one.
    pub logits: Vec<f32>,
    /// [`Batch::states`], one after the other (`states.len() × width`).
    pub states: Vec<f32>,
}

impl Batch {
    /// Slots that must exist in the cache.
    #[must_use]
    pub fn end_slot(&self) -> usize {
        self.first_slot as usize + self.tokens.len()
    }
}

/// Runs the transformer on some hardware.
///
/// A backend holds the weights and the key/value cache. It knows nothing of text, trees or questions.
#[expect(async_fn_in_trait, reason = "used through generics on one thread; no Send bound is wanted")]
pub trait Backend {
    /// Computes the batch: embeds, runs every block, writes keys and values into the cache slots, and
    /// returns what the batch asks for.
    ///
    /// Slots that views name must hold what earlier batches wrote there.
    ///
    /// # Errors
    /// [`LmError::OutOfMemory`], [`LmError::Gpu`] or [`LmError::Compute`]; [`LmError::Cancelled`] when
    /// `tick`, which is told now and then what share of the batch (0 to 1) is done, says [`Flow::Stop`].
    /// The cache slots of the batch then hold nothing of use.
    async fn forward(&mut self, batch: &Batch, tick: &mut dyn FnMut(f32) -> Flow) -> Result<Step, LmError>;

    /// Applies this adapter from now on, beside the base's weights, in place of the one before; `None` takes it
    /// away. What the cache holds was computed without it and is of no more use.
    ///
    /// # Errors
    /// [`LmError::OutOfMemory`] or [`LmError::Gpu`]; no adapter is then applied.
    async fn set_adapter(&mut self, adapter: Option<&Adapter>) -> Result<(), LmError>;

    /// Makes room for this many cache slots. What the first `keep` slots hold stays.
    ///
    /// # Errors
    /// [`LmError::OutOfMemory`]. What the cache held may then be lost.
    async fn reserve(&mut self, slots: usize, keep: usize) -> Result<(), LmError>;

    /// The most tokens that one batch should have.
    fn chunk(&self) -> usize;

    /// What it runs on, for people.
    fn device(&self) -> String;

    /// After a failure: goes on in another way, if there is one, with an empty cache. Returns why and how,
    /// for people; `None` if the failure stands.
    async fn recover(&mut self, failure: &LmError) -> Option<String> {
        let _ = failure;
        None
    }
}

/// Checks what every backend relies on, so that a wrong plan is an error and not a wild read.
///
/// # Errors
/// [`LmError::Compute`] that says which row is wrong.
pub fn check(batch: &Batch, config: &Config, capacity: usize) -> Result<(), LmError> {
    let n = batch.tokens.len();
    let wrong = |problem: String| Err(LmError::Compute { problem });
    if n == 0 || batch.positions.len() != n || batch.views.len() != n {
        return wrong(format!(
            "a batch of {n} tokens with {} positions and {} views",
            batch.positions.len(),
            batch.views.len()
        ));
    }
    if batch.end_slot() > capacity {
        return wrong(format!("a batch up to slot {} in a cache of {capacity}", batch.end_slot()));
    }
    for (row, (&token, view)) in batch.tokens.iter().zip(&batch.views).enumerate() {
        let slot = batch.first_slot + row as u32;
        if token as usize >= config.vocabulary {
            return wrong(format!("token {token} in row {row} of a vocabulary of {}", config.vocabulary));
        }
        if view.prefix > view.own
            || view.own > slot
            || view.trunk_start > view.trunk_end
            || view.trunk_end > view.own
            || (view.trunk_start < view.trunk_end && view.trunk_start < view.prefix)
        {
            return wrong(format!("row {row} in slot {slot} with the view {view:?}"));
        }
    }
    if batch.outputs.iter().any(|&row| row as usize >= n) {
        return wrong("an output row outside the batch".into());
    }
    let is_inside = |sum: &StateSum| {
        sum.layer <= config.layers && (sum.first_row as usize).saturating_add(sum.rows as usize) <= n
    };
    if let Some(sum) = batch.states.iter().find(|sum| !is_inside(sum)) {
        return wrong(format!("{sum:?} of a batch of {n} rows and a model of {} layers", config.layers));
    }
    Ok(())
}
