//! The layouts that weights have on the GPU, and the way from a GGUF tensor's blocks into them.
//!
//! Every layout is planar (quants and scales apart), row-major, and pads rows with zeros to whole groups of
//! 32 inputs. Repacking loses nothing: what the GPU unpacks equals what
//! [`TensorType::dequantize`] gives.

use half::f16;

use crate::quant::TensorType;

/// Inputs per group; rows are whole groups.
pub(super) const GROUP: usize = 32;

/// How weights lie on the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layout {
    /// Eight 4-bit weights a word, `scale × q + minimum` with f16 scale and minimum per 32.
    FourBits,
    /// Four signed 8-bit weights a word, scales as for 4 bits.
    EightBits,
    /// Two f16 a word.
    Halves,
    /// One f32 a word.
    Singles,
}

impl Layout {
    /// All of them.
    pub(super) const ALL: [Self; 4] = [Self::FourBits, Self::EightBits, Self::Halves, Self::Singles];

    /// The narrowest layout that holds a format without loss.
    pub(super) fn of(kind: TensorType) -> Self {
        match kind {
            TensorType::Q4_0 | TensorType::Q4_1 => Self::FourBits,
            TensorType::Q8_0 => Self::EightBits,
            TensorType::F16 => Self::Halves,
            _ => Self::Singles,
        }
    }

    /// The narrowest layout that holds both without loss.
    pub(super) fn common(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::FourBits | Self::EightBits, Self::FourBits | Self::EightBits) => Self::EightBits,
            _ => Self::Singles,
        }
    }

    /// For messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::FourBits => "4 bits",
            Self::EightBits => "8 bits",
            Self::Halves => "f16",
            Self::Singles => "f32",
        }
    }

    /// Whether there is a second stream, of scales.
    pub(super) const fn has_scales(self) -> bool {
        matches!(self, Self::FourBits | Self::EightBits)
    }

    /// Words of weights per group.
    pub(super) const fn group_words(self) -> usize {
        match self {
            Self::FourBits => 4,
            Self::EightBits => 8,
            Self::Halves => 16,
            Self::Singles => 32,
        }
    }
}

/// Rows of weights in a layout.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Packed {
    /// [`Layout::group_words`] words per group.
    pub(super) weights: Vec<u32>,
    /// One word per group: scale in the low half, minimum in the high half. Empty without scales.
    pub(super) scales: Vec<u32>,
}

/// Appends rows of a tensor, given as whole rows of blocks, to `out`.
///
/// `layout` must hold the format: [`Layout::of`] it, or what [`Layout::common`] made of that.
///
/// # Errors
/// The reason, for a 4-bit scale whose minimum is no f16; no converter makes such a file.
pub(super) fn repack(
    kind: TensorType,
    layout: Layout,
    row_weights: usize,
    blocks: &[u8],
    out: &mut Packed,
) -> Result<(), String> {
    let row_bytes = row_weights / kind.block_weights() * kind.block_bytes();
    match layout {
        Layout::FourBits | Layout::EightBits => {
            for block in blocks.chunks_exact(kind.block_bytes()) {
                let scale = u16::from_le_bytes([block[0], block[1]]);
                let (minimum, quants) = match kind {
                    TensorType::Q4_1 => (u16::from_le_bytes([block[2], block[3]]), &block[4..]),
                    TensorType::Q4_0 => (minimum_of_q4_0(scale)?, &block[2..]),
                    _ => (0, &block[2..]),
                };
                out.scales.push(u32::from(scale) | u32::from(minimum) << 16);
                let mut q = [0u8; GROUP];
                if kind == TensorType::Q8_0 {
                    q.copy_from_slice(&quants[..GROUP]);
                } else {
                    // GGUF keeps weight i in the low half of byte i, and weight i + 16 in its high half.
                    for (i, byte) in quants[..GROUP / 2].iter().enumerate() {
                        q[i] = byte & 15;
                        q[i + GROUP / 2] = byte >> 4;
                    }
                }
                if layout == Layout::FourBits {
                    for q in q.chunks_exact(8) {
                        let bytes = std::array::from_fn(|i| q[i] | q[i + 4] << 4);
                        out.weights.push(u32::from_le_bytes(bytes));
                    }
                } else {
                    out.weights
                        .extend(q.chunks_exact(4).map(|q| u32::from_le_bytes([q[0], q[1], q[2], q[3]])));
                }
            }
        }
        Layout::Halves => {
            for row in blocks.chunks_exact(row_bytes) {
                let start = out.weights.len();
                out.weights.extend(row.chunks(4).map(|pair| {
                    let mut bytes = [0; 4];
                    bytes[..pair.len()].copy_from_slice(pair);
                    u32::from_le_bytes(bytes)
                }));
                out.weights.resize(start + row_weights.next_multiple_of(GROUP) / 2, 0);
            }
        }
        Layout::Singles => {
            let mut values = vec![0f32; row_weights];
            for row in blocks.chunks_exact(row_bytes) {
                let start = out.weights.len();
                kind.dequantize(row, &mut values);
                out.weights.extend(values.iter().map(|value| value.to_bits()));
                out.weights.resize(start + row_weights.next_multiple_of(GROUP), 0);
            }
        }
    }
    Ok(())
}

/// `−8 × scale`, which an f16 holds exactly unless it overflows.
fn minimum_of_q4_0(scale: u16) -> Result<u16, String> {
    let scale = f16::from_bits(scale).to_f32();
    let minimum = f16::from_f32(-8.0 * scale);
    if minimum.to_f32() == -8.0 * scale {
        return Ok(minimum.to_bits());
    }
    Err(format!("a scale of {scale} in a Q4_0 block"))
}
