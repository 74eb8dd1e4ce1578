//! The layouts that weights have on the GPU, and the way from a GGUF tensor's blocks into them.
//!
//! Every layout is planar (quants and scales apart), row-major, and pads rows with zeros to whole groups of
//! 32 inputs. Scales and minima are f16. For formats whose files hold f16 scales, and for floats, repacking loses
//! nothing: what the GPU unpacks equals what [`TensorType::dequantize`] gives. The scales of K-quants are products
//! of two numbers; these are rounded to f16, which changes a weight by at most 2⁻¹¹ of its scaled quant and
//! 2⁻¹¹ of its minimum: some hundred times less than the step of the quants themselves.

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
    /// The same with scale and minimum per 16.
    EightBitsBy16,
    /// Two f16 a word.
    Halves,
    /// One f32 a word.
    Singles,
}

impl Layout {
    /// All of them.
    pub(super) const ALL: [Self; 5] =
        [Self::FourBits, Self::EightBits, Self::EightBitsBy16, Self::Halves, Self::Singles];

    /// The narrowest layout that holds a format.
    pub(super) fn of(kind: TensorType) -> Self {
        match kind {
            TensorType::Q4_0 | TensorType::Q4_1 | TensorType::Q4K => Self::FourBits,
            TensorType::F16 => Self::Halves,
            // bf16 has more range than f16 and less precision: only f32 holds it.
            _ if !kind.is_quantized() => Self::Singles,
            _ if kind.group_weights() == 16 => Self::EightBitsBy16,
            _ => Self::EightBits,
        }
    }

    /// The narrowest layout that holds what either of the two holds.
    pub(super) fn common(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            _ if !self.has_scales() || !other.has_scales() => Self::Singles,
            (Self::EightBitsBy16, _) | (_, Self::EightBitsBy16) => Self::EightBitsBy16,
            _ => Self::EightBits,
        }
    }

    /// For messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::FourBits => "4 bits",
            Self::EightBits => "8 bits",
            Self::EightBitsBy16 => "8 bits by 16",
            Self::Halves => "f16",
            Self::Singles => "f32",
        }
    }

    /// Whether there is a second stream, of scales.
    pub(super) const fn has_scales(self) -> bool {
        matches!(self, Self::FourBits | Self::EightBits | Self::EightBitsBy16)
    }

    /// Words of weights per group of 32.
    pub(super) const fn group_words(self) -> usize {
        match self {
            Self::FourBits => 4,
            Self::EightBits | Self::EightBitsBy16 => 8,
            Self::Halves => 16,
            Self::Singles => 32,
        }
    }

    /// Words of scales per group of 32.
    pub(super) const fn group_scales(self) -> usize {
        match self {
            Self::FourBits | Self::EightBits => 1,
            Self::EightBitsBy16 => 2,
            Self::Halves | Self::Singles => 0,
        }
    }
}

/// Rows of weights in a layout.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Packed {
    /// [`Layout::group_words`] words per group.
    pub(super) weights: Vec<u32>,
    /// [`Layout::group_scales`] words per group: scale in the low half, minimum in the high half.
    pub(super) scales: Vec<u32>,
}

/// Appends rows of a tensor, given as whole rows of blocks, to `out`.
///
/// `layout` must hold the format: [`Layout::of`] it, or what [`Layout::common`] made of that.
///
/// # Errors
/// The reason, for scales that no f16 holds; no converter makes such a file.
pub(super) fn repack(
    kind: TensorType,
    layout: Layout,
    row_weights: usize,
    blocks: &[u8],
    out: &mut Packed,
) -> Result<(), String> {
    let row_bytes = row_weights / kind.block_weights() * kind.block_bytes();
    match layout {
        Layout::FourBits | Layout::EightBits | Layout::EightBitsBy16 => {
            // Rows of quantized formats are whole groups, so that nothing is padded.
            let per_scale = GROUP / layout.group_scales();
            let mut quants = [0; 256];
            let mut scales = [(0.0, 0.0); 16];
            for block in blocks.chunks_exact(kind.block_bytes()) {
                let group = kind.group_weights();
                kind.unpack(block, &mut quants[..kind.block_weights()], &mut scales);
                let quants = &mut quants[..kind.block_weights()];
                for (scale, minimum) in &mut scales[..quants.len() / group] {
                    if layout == Layout::FourBits && kind.is_symmetric() {
                        *minimum = -8.0 * *scale;
                    }
                    let word = scale_word(kind, *scale, *minimum)?;
                    out.scales.extend(std::iter::repeat_n(word, group / per_scale));
                }
                if layout == Layout::FourBits {
                    let shift = if kind.is_symmetric() { 8 } else { 0 };
                    for q in quants.chunks_exact(8) {
                        let nibble = |i: usize| q[i].wrapping_add(shift) & 15;
                        let bytes = std::array::from_fn(|i| nibble(i) | nibble(i + 4) << 4);
                        out.weights.push(u32::from_le_bytes(bytes));
                    }
                } else {
                    let words = quants.chunks_exact(4).map(|q| u32::from_le_bytes([q[0], q[1], q[2], q[3]]));
                    out.weights.extend(words);
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

/// Scale and minimum as a pair of f16: rounded for K-quants, exact for all others.
fn scale_word(kind: TensorType, scale: f32, minimum: f32) -> Result<u32, String> {
    let may_round = kind.block_weights() == 256;
    let half = |value: f32| {
        let half = f16::from_f32(value);
        match half.is_finite() && (may_round || half.to_f32() == value) {
            true => Ok(u32::from(half.to_bits())),
            false => Err(format!("a scale of {scale} in a {} block", kind.name())),
        }
    };
    Ok(half(scale)? | half(minimum)? << 16)
}
