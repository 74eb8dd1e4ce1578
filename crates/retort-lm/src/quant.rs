//! The number formats of GGUF tensors, and their exact meaning as f32.

use half::{bf16, f16};

/// A tensor's number format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TensorType {
    /// 32-bit floats.
    F32,
    /// 16-bit IEEE floats.
    F16,
    /// 16-bit brain floats.
    Bf16,
    /// 4 bits, one f16 scale per 32 weights: `d × (q − 8)`.
    Q4_0,
    /// 4 bits, f16 scale and minimum per 32 weights: `d × q + m`.
    Q4_1,
    /// 5 bits, one f16 scale per 32 weights: `d × (q − 16)`.
    Q5_0,
    /// 5 bits, f16 scale and minimum per 32 weights: `d × q + m`.
    Q5_1,
    /// 8 bits, one f16 scale per 32 weights: `d × q`.
    Q8_0,
    /// 2 bits; 4-bit scales and minima per 16 weights, over f16 ones per 256.
    Q2K,
    /// 3 bits; 6-bit scales per 16 weights, over an f16 one per 256.
    Q3K,
    /// 4 bits; 6-bit scales and minima per 32 weights, over f16 ones per 256.
    Q4K,
    /// 5 bits; 6-bit scales and minima per 32 weights, over f16 ones per 256.
    Q5K,
    /// 6 bits; 8-bit scales per 16 weights, over an f16 one per 256.
    Q6K,
}

/// Every format that this engine reads, in the order shown to people.
pub const SUPPORTED: [TensorType; 13] = [
    TensorType::F32,
    TensorType::F16,
    TensorType::Bf16,
    TensorType::Q4_0,
    TensorType::Q4_1,
    TensorType::Q5_0,
    TensorType::Q5_1,
    TensorType::Q8_0,
    TensorType::Q2K,
    TensorType::Q3K,
    TensorType::Q4K,
    TensorType::Q5K,
    TensorType::Q6K,
];

impl TensorType {
    /// The format with this number in a GGUF file, if this engine reads it.
    #[must_use]
    pub fn from_id(id: u32) -> Option<Self> {
        SUPPORTED.into_iter().find(|kind| kind.id() == id)
    }

    /// The format's number in a GGUF file.
    #[must_use]
    pub const fn id(self) -> u32 {
        match self {
            Self::F32 => 0,
            Self::F16 => 1,
            Self::Q4_0 => 2,
            Self::Q4_1 => 3,
            Self::Q5_0 => 6,
            Self::Q5_1 => 7,
            Self::Q8_0 => 8,
            Self::Q2K => 10,
            Self::Q3K => 11,
            Self::Q4K => 12,
            Self::Q5K => 13,
            Self::Q6K => 14,
            Self::Bf16 => 30,
        }
    }

    /// The format's usual name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Bf16 => "BF16",
            Self::Q4_0 => "Q4_0",
            Self::Q4_1 => "Q4_1",
            Self::Q5_0 => "Q5_0",
            Self::Q5_1 => "Q5_1",
            Self::Q8_0 => "Q8_0",
            Self::Q2K => "Q2_K",
            Self::Q3K => "Q3_K",
            Self::Q4K => "Q4_K",
            Self::Q5K => "Q5_K",
            Self::Q6K => "Q6_K",
        }
    }

    /// Weights per block; rows are whole blocks.
    #[must_use]
    pub const fn block_weights(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => 1,
            Self::Q4_0 | Self::Q4_1 | Self::Q5_0 | Self::Q5_1 | Self::Q8_0 => 32,
            Self::Q2K | Self::Q3K | Self::Q4K | Self::Q5K | Self::Q6K => 256,
        }
    }

    /// Bytes per block.
    #[must_use]
    pub const fn block_bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::Q4_0 => 18,
            Self::Q4_1 => 20,
            Self::Q5_0 => 22,
            Self::Q5_1 => 24,
            Self::Q8_0 => 34,
            Self::Q2K => 84,
            Self::Q3K => 110,
            Self::Q4K => 144,
            Self::Q5K => 176,
            Self::Q6K => 210,
        }
    }

    /// Turns whole blocks into f32. The shorter of the two slices decides how many blocks are read.
    ///
    /// The block layouts are llama.cpp's; every one is held against the Python package `gguf` by a test.
    pub fn dequantize(self, blocks: &[u8], out: &mut [f32]) {
        let pairs = blocks.chunks_exact(self.block_bytes()).zip(out.chunks_exact_mut(self.block_weights()));
        match self {
            Self::F32 => pairs.for_each(|(b, o)| o[0] = f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            Self::F16 => pairs.for_each(|(b, o)| o[0] = f16_at(b, 0)),
            Self::Bf16 => pairs.for_each(|(b, o)| o[0] = bf16::from_le_bytes([b[0], b[1]]).to_f32()),
            _ => pairs.for_each(|(b, o)| {
                let mut quants = [0u8; 256];
                let mut scales = [(0.0, 0.0); 16];
                let group = self.group_weights();
                self.unpack(b, &mut quants[..self.block_weights()], &mut scales);
                for ((o, q), (d, m)) in o.chunks_exact_mut(group).zip(quants.chunks_exact(group)).zip(scales)
                {
                    for (o, q) in o.iter_mut().zip(q) {
                        *o = self.affine(*q, d, m);
                    }
                }
            }),
        }
    }

    /// What a quant means: `d × q + m`, where `q` is signed in the formats without a minimum.
    #[inline]
    fn affine(self, q: u8, d: f32, m: f32) -> f32 {
        match self {
            // These subtract in whole numbers; the result is exact where `d × q − d × 8` would be rounded twice.
            Self::Q4_0 | Self::Q5_0 | Self::Q8_0 | Self::Q3K | Self::Q6K => d * f32::from(q.cast_signed()),
            _ => d * f32::from(q) + m,
        }
    }

    /// Whether quants are signed and no group has a minimum. `false` for formats that are not quantized.
    #[must_use]
    pub const fn is_symmetric(self) -> bool {
        matches!(self, Self::Q4_0 | Self::Q5_0 | Self::Q8_0 | Self::Q3K | Self::Q6K)
    }

    /// Whether weights are whole numbers with a scale, and not floats.
    #[must_use]
    pub const fn is_quantized(self) -> bool {
        !matches!(self, Self::F32 | Self::F16 | Self::Bf16)
    }

    /// Weights that share a scale: 16 or 32, and 1 for floats.
    #[must_use]
    pub const fn group_weights(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => 1,
            Self::Q2K | Self::Q3K | Self::Q6K => 16,
            _ => 32,
        }
    }

    /// Takes one block of a quantized format apart: a byte per weight (two's complement where
    /// [`is_symmetric`](Self::is_symmetric)), and scale and minimum per group.
    ///
    /// Weight `i` is `scale × q[i] + minimum`, to the last bit of what llama.cpp's reference gives. `quants` has
    /// [`block_weights`](Self::block_weights) bytes, `scales` as many entries as a block has groups, or more.
    #[inline]
    pub fn unpack(self, block: &[u8], quants: &mut [u8], scales: &mut [(f32, f32)]) {
        match self {
            Self::Q4_0 => {
                scales[0] = (f16_at(block, 0), 0.0);
                nibbles(&block[2..18], quants, |q| q.wrapping_sub(8));
            }
            Self::Q4_1 => {
                scales[0] = (f16_at(block, 0), f16_at(block, 2));
                nibbles(&block[4..20], quants, |q| q);
            }
            Self::Q5_0 => {
                scales[0] = (f16_at(block, 0), 0.0);
                nibbles(&block[6..22], quants, |q| q);
                fifth_bits(&block[2..6], quants);
                quants[..32].iter_mut().for_each(|q| *q = q.wrapping_sub(16));
            }
            Self::Q5_1 => {
                scales[0] = (f16_at(block, 0), f16_at(block, 2));
                nibbles(&block[8..24], quants, |q| q);
                fifth_bits(&block[4..8], quants);
            }
            Self::Q8_0 => {
                scales[0] = (f16_at(block, 0), 0.0);
                quants[..32].copy_from_slice(&block[2..34]);
            }
            Self::Q2K => {
                let (d, m) = (f16_at(block, 80), f16_at(block, 82));
                for (scale, packed) in scales.iter_mut().zip(&block[..16]) {
                    *scale = (d * f32::from(packed & 15), -(m * f32::from(packed >> 4)));
                }
                // 128 weights lie in 32 bytes, each holding bits of four weights that are 32 apart.
                for (half, packed) in quants.chunks_exact_mut(128).zip(block[16..80].chunks_exact(32)) {
                    for (shift, part) in half.chunks_exact_mut(32).enumerate() {
                        for (q, byte) in part.iter_mut().zip(packed) {
                            *q = byte >> (2 * shift) & 3;
                        }
                    }
                }
            }
            Self::Q3K => {
                let d = f16_at(block, 108);
                let packed = &block[96..108];
                for (index, scale) in scales.iter_mut().enumerate() {
                    let low = packed[index % 8] >> (4 * (index / 8)) & 15;
                    let high = packed[8 + index % 4] >> (2 * (index / 4)) & 3;
                    *scale = (d * (f32::from(low | high << 4) - 32.0), 0.0);
                }
                let (masks, low) = (&block[..32], &block[32..96]);
                for (h, (half, packed)) in quants.chunks_exact_mut(128).zip(low.chunks_exact(32)).enumerate()
                {
                    for (shift, part) in half.chunks_exact_mut(32).enumerate() {
                        for ((q, byte), mask) in part.iter_mut().zip(packed).zip(masks) {
                            // A third bit that is not set takes 4 away.
                            let third = mask >> (4 * h + shift) & 1;
                            *q = (byte >> (2 * shift) & 3).wrapping_sub(4 * (1 - third));
                        }
                    }
                }
            }
            Self::Q4K => {
                six_bit_scales(block, scales);
                pairs_of_nibbles(&block[16..144], quants);
            }
            Self::Q5K => {
                six_bit_scales(block, scales);
                pairs_of_nibbles(&block[48..176], quants);
                let fifths = &block[16..48];
                for (bit, part) in quants.chunks_exact_mut(32).enumerate() {
                    for (q, byte) in part.iter_mut().zip(fifths) {
                        *q |= (byte >> bit & 1) << 4;
                    }
                }
            }
            Self::Q6K => {
                let d = f16_at(block, 208);
                for (scale, s) in scales.iter_mut().zip(&block[192..208]) {
                    *scale = (d * f32::from(s.cast_signed()), 0.0);
                }
                let halves = quants.chunks_exact_mut(128);
                let parts = block[..128].chunks_exact(64).zip(block[128..192].chunks_exact(32));
                for (half, (low, high)) in halves.zip(parts) {
                    for (quarter, part) in half.chunks_exact_mut(32).enumerate() {
                        let low = &low[quarter % 2 * 32..][..32];
                        for ((q, low), high) in part.iter_mut().zip(low).zip(high) {
                            let low = low >> (4 * (quarter / 2)) & 15;
                            *q = (low | (high >> (2 * quarter) & 3) << 4).wrapping_sub(32);
                        }
                    }
                }
            }
            Self::F32 | Self::F16 | Self::Bf16 => {}
        }
    }

    /// The least and the greatest quant that the format can hold.
    #[must_use]
    pub const fn quant_range(self) -> (i32, i32) {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => (0, 0),
            Self::Q4_0 => (-8, 7),
            Self::Q5_0 => (-16, 15),
            Self::Q8_0 => (-128, 127),
            Self::Q3K => (-4, 3),
            Self::Q6K => (-32, 31),
            Self::Q2K => (0, 3),
            Self::Q4_1 | Self::Q4K => (0, 15),
            Self::Q5_1 | Self::Q5K => (0, 31),
        }
    }
}

fn f16_at(bytes: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([bytes[at], bytes[at + 1]]).to_f32()
}

/// In blocks of 32, weight `i` lies in the low half of byte `i`, and weight `i + 16` in its high half.
fn nibbles(packed: &[u8], out: &mut [u8], value: impl Fn(u8) -> u8) {
    let (low, high) = out[..32].split_at_mut(16);
    for ((byte, low), high) in packed.iter().zip(low).zip(high) {
        *low = value(byte & 15);
        *high = value(byte >> 4);
    }
}

/// In blocks of 256, 64 weights lie in 32 bytes: the first 32 in the low halves.
fn pairs_of_nibbles(packed: &[u8], out: &mut [u8]) {
    for (part, packed) in out.chunks_exact_mut(64).zip(packed.chunks_exact(32)) {
        let (low, high) = part.split_at_mut(32);
        for ((byte, low), high) in packed.iter().zip(low).zip(high) {
            *low = byte & 15;
            *high = byte >> 4;
        }
    }
}

/// The fifth bit of weight `i` is bit `i` of a little-endian word.
fn fifth_bits(word: &[u8], out: &mut [u8]) {
    let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
    for (bit, q) in out[..32].iter_mut().enumerate() {
        *q |= ((word >> bit & 1) as u8) << 4;
    }
}

/// Scales and minima of Q4_K and Q5_K: two f16, then eight pairs of 6-bit numbers in twelve bytes.
fn six_bit_scales(block: &[u8], scales: &mut [(f32, f32)]) {
    let (d, m) = (f16_at(block, 0), f16_at(block, 2));
    let packed = &block[4..16];
    for (index, scale) in scales.iter_mut().take(8).enumerate() {
        let (s, min) = if index < 4 {
            (packed[index] & 63, packed[index + 4] & 63)
        } else {
            let rest = packed[index + 4];
            ((rest & 15) | (packed[index - 4] >> 6) << 4, (rest >> 4) | (packed[index] >> 6) << 4)
        };
        *scale = (d * f32::from(s), -(m * f32::from(min)));
    }
}
