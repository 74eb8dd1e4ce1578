//! Chance that depends on a seed and an id alone, so that no item's draw depends on which others are looked at.

use retort_stats::SplitMix64;

/// A number drawn for an id: SplitMix64, fed with the id's bytes one after the other.
pub(crate) fn drawn(seed: u64, id: &str) -> u64 {
    id.bytes().fold(seed, |state, byte| SplitMix64::new(state ^ u64::from(byte)).next_u64())
}
