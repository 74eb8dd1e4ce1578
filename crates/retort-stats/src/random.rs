//! The one source of chance.

/// SplitMix64, a generator of 64-bit numbers with 64 bits of state: a counter that grows by an odd constant, and a
/// mixing of its bits. From Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014),
/// with the constants of the version that is used to seed the xoshiro generators.
///
/// It is here because its dozen lines give the same numbers on every machine and in every version, so that a seed in
/// a result is enough to repeat it. It is not for secrets.
///
/// ```
/// let mut random = retort_stats::SplitMix64::new(1234567);
/// assert_eq!(random.next_u64(), 6457827717110365317); // the published first number for this seed
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// The generator for a seed; every seed will do.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `n` − 1, and 0 for an `n` of 0: the upper 64 bits of the 128 of the next number times `n`.
    /// Without a second draw some numbers are likelier than others by a share of at most `n`/2^64, which no
    /// experiment can see.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }
}
