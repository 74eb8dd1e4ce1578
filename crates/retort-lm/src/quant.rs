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
    /// 8 bits, one f16 scale per 32 weights: `d × q`.
    Q8_0,
}

/// Every format that this engine reads, in the order shown to people.
pub const SUPPORTED: [TensorType; 6] = [
    TensorType::F32,
    TensorType::F16,
    TensorType::Bf16,
    TensorType::Q4_0,
    TensorType::Q4_1,
    TensorType::Q8_0,
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
            Self::Q8_0 => 8,
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
            Self::Q8_0 => "Q8_0",
        }
    }

    /// Weights per block; rows are whole blocks.
    #[must_use]
    pub const fn block_weights(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => 1,
            Self::Q4_0 | Self::Q4_1 | Self::Q8_0 => 32,
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
            Self::Q8_0 => 34,
        }
    }

    /// Turns whole blocks into f32. The shorter of the two slices decides how many blocks are read.
    pub fn dequantize(self, blocks: &[u8], out: &mut [f32]) {
        let pairs = blocks.chunks_exact(self.block_bytes()).zip(out.chunks_exact_mut(self.block_weights()));
        match self {
            Self::F32 => pairs.for_each(|(b, o)| o[0] = f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            Self::F16 => pairs.for_each(|(b, o)| o[0] = f16_at(b, 0)),
            Self::Bf16 => pairs.for_each(|(b, o)| o[0] = bf16::from_le_bytes([b[0], b[1]]).to_f32()),
            Self::Q4_0 => pairs.for_each(|(b, o)| {
                let d = f16_at(b, 0);
                nibbles(&b[2..18], o, |q| d * (f32::from(q) - 8.0));
            }),
            Self::Q4_1 => pairs.for_each(|(b, o)| {
                let (d, m) = (f16_at(b, 0), f16_at(b, 2));
                nibbles(&b[4..20], o, |q| d * f32::from(q) + m);
            }),
            Self::Q8_0 => pairs.for_each(|(b, o)| {
                let d = f16_at(b, 0);
                for (o, q) in o.iter_mut().zip(&b[2..34]) {
                    *o = d * f32::from(q.cast_signed());
                }
            }),
        }
    }
}

fn f16_at(bytes: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([bytes[at], bytes[at + 1]]).to_f32()
}

/// GGUF keeps weight `i` of a block in the low half of byte `i`, and weight `i + 16` in its high half.
fn nibbles(packed: &[u8], out: &mut [f32], value: impl Fn(u8) -> f32) {
    let (low, high) = out.split_at_mut(16);
    for ((byte, low), high) in packed.iter().zip(low).zip(high) {
        *low = value(byte & 15);
        *high = value(byte >> 4);
    }
}
