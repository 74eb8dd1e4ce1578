//! Elementwise arithmetic on f32 slices, written so that the compiler turns it into SIMD on every target
//! and so that every target computes the same values.

use super::threads;
use crate::config::Activation;

/// Calls a function, compiled for wider vectors where the processor has them. The numbers are the same to the last
/// bit: no instruction but the width changes, and products are never fused with sums.
macro_rules! wide {
    ($name:ident($($argument:ident: $type:ty),*) -> $result:ty) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2")]
            fn vectors256($($argument: $type),*) -> $result {
                $name($($argument),*)
            }
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
            fn vectors512($($argument: $type),*) -> $result {
                $name($($argument),*)
            }
            match super::kernel::Kernel::best() {
                // SAFETY: chosen only where the processor has these instructions.
                super::kernel::Kernel::Vectors512 => unsafe { vectors512($($argument),*) },
                // SAFETY: as above.
                super::kernel::Kernel::Vectors256 => unsafe { vectors256($($argument),*) },
                _ => $name($($argument),*),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            $name($($argument),*)
        }
    }};
}
pub(super) use wide;

/// `e^x` with a relative error below 2e-7 for x in [-87, 88]; 0 below, the largest finite value's
/// neighbourhood above.
///
/// `x = n ln 2 + r` with `|r| ≤ ln 2 / 2` (Cody–Waite), a Taylor polynomial of degree 7 in `r`, and `2^n`
/// written into the exponent. No table, no branch: the loop around it vectorises.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    // Adding and taking away 1.5 × 2^23 rounds to the nearest integer.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = x - n * LN2_HIGH - n * LN2_LOW;
    let p = 1.0 / 5040.0;
    let p = p * r + 1.0 / 720.0;
    let p = p * r + 1.0 / 120.0;
    let p = p * r + 1.0 / 24.0;
    let p = p * r + 1.0 / 6.0;
    let p = p * r + 0.5;
    let p = p * r + 1.0;
    let p = p * r + 1.0;
    // The low bits of `rounded` are n; a conversion to a whole number would keep the loop from vectorising.
    let scale = f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
    p * scale
}

/// Sum of the products of two slices, in eight lanes.
#[inline]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 8];
    let (a8, a_rest) = a.as_chunks::<8>();
    let (b8, b_rest) = b.as_chunks::<8>();
    for (a, b) in a8.iter().zip(b8) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f32>() + rest
}

/// Root-mean-square norm of every row: `x / sqrt(mean(x²) + epsilon) × weight`
/// (Zhang and Sennrich 2019, equation 4).
pub(crate) fn rms_norm(x: &[f32], weight: &[f32], epsilon: f32, out: &mut Vec<f32>) {
    let width = weight.len();
    out.resize(x.len(), 0.0);
    threads::each(x.len(), x.chunks_exact(width).zip(out.chunks_exact_mut(width)), |(row, out)| {
        let scale = 1.0 / (dot(row, row) / width as f32 + epsilon).sqrt();
        for ((out, x), w) in out.iter_mut().zip(row).zip(weight) {
            *out = x * scale * w;
        }
    });
}

/// The same, in place.
pub(super) fn rms_norm_in_place(x: &mut [f32], weight: &[f32], epsilon: f32) {
    let width = weight.len();
    threads::each(x.len(), x.chunks_exact_mut(width), |row| {
        let scale = 1.0 / (dot(row, row) / width as f32 + epsilon).sqrt();
        for (x, w) in row.iter_mut().zip(weight) {
            *x = *x * scale * w;
        }
    });
}

/// `x ← x + y`.
pub(super) fn add(x: &mut [f32], y: &[f32]) {
    const PART: usize = 4096;
    threads::each(x.len(), x.chunks_mut(PART).zip(y.chunks(PART)), |(x, y)| {
        x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
    });
}

/// `gate ← activation(gate) × up` (Shazeer 2020), for rows of `width` numbers.
pub(super) fn gated(activation: Activation, gate: &mut [f32], up: &[f32], width: usize) {
    threads::each(gate.len(), gate.chunks_exact_mut(width).zip(up.chunks_exact(width)), |(gate, up)| {
        wide!(gated_row(activation: Activation, gate: &mut [f32], up: &[f32]) -> ());
    });
}

#[inline(always)]
fn gated_row(activation: Activation, gate: &mut [f32], up: &[f32]) {
    match activation {
        Activation::SwiGlu => {
            for (g, u) in gate.iter_mut().zip(up) {
                *g = *g / (1.0 + exp(-*g)) * u;
            }
        }
        Activation::GeGlu => {
            // x (1 + tanh y) / 2 = x / (1 + e^(−2y)), with y = √(2/π) (x + 0.044715 x³).
            const TWICE_ROOT: f32 = 1.595_769;
            for (g, u) in gate.iter_mut().zip(up) {
                let x = *g;
                let y = TWICE_ROOT * (x + 0.044_715 * x * x * x);
                *g = x / (1.0 + exp(-y)) * u;
            }
        }
    }
}

/// `cap × tanh(x / cap)` for every number.
#[inline(always)]
pub(super) fn cap_all(x: &mut [f32], cap: f32) {
    for x in x {
        // tanh y = 1 − 2 / (e^(2y) + 1).
        *x = cap * (1.0 - 2.0 / (exp(2.0 * (*x / cap)) + 1.0));
    }
}

/// Turns the scores of the visible range (at least one) into the numerators of their softmax, `e^(s − max)`, and the
/// others into 0; gives the sum of the numerators.
pub(super) fn exponentials(
    scores: &mut [f32],
    scale: f32,
    cap: Option<f32>,
    visible: std::ops::Range<usize>,
) -> f32 {
    let (before, rest) = scores.split_at_mut(visible.start);
    let (seen, after) = rest.split_at_mut(visible.len());
    before.fill(0.0);
    after.fill(0.0);
    wide!(exponentials_of(seen: &mut [f32], scale: f32, cap: Option<f32>) -> f32)
}

#[inline(always)]
fn exponentials_of(seen: &mut [f32], scale: f32, cap: Option<f32>) -> f32 {
    if let Some(cap) = cap {
        seen.iter_mut().for_each(|score| *score *= scale);
        cap_all(seen, cap);
        let most = greatest(seen);
        seen.iter_mut().for_each(|score| *score = exp(*score - most));
    } else {
        let most = greatest(seen);
        // A score that is no number stays none, and with it the sum.
        seen.iter_mut().for_each(|score| *score = exp((*score - most) * scale));
    }
    lanes_sum(seen)
}

#[inline(always)]
fn greatest(x: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; 8];
    let (chunks, rest) = x.as_chunks::<8>();
    for chunk in chunks {
        for lane in 0..8 {
            lanes[lane] = if chunk[lane] > lanes[lane] { chunk[lane] } else { lanes[lane] };
        }
    }
    rest.iter().chain(&lanes).copied().fold(f32::NEG_INFINITY, f32::max)
}

#[inline(always)]
fn lanes_sum(x: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 8];
    let (chunks, rest) = x.as_chunks::<8>();
    for chunk in chunks {
        for lane in 0..8 {
            lanes[lane] += chunk[lane];
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_f64() {
        let mut worst = 0.0f64;
        for i in -870_000..=880_000 {
            let x = i as f32 * 1e-4;
            let exact = f64::from(x).exp();
            worst = worst.max(((f64::from(exp(x)) - exact) / exact).abs());
        }
        assert!(worst < 2e-7, "relative error {worst}");
        // Below the range nothing becomes NaN or negative.
        assert!(exp(f32::NEG_INFINITY) >= 0.0 && exp(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn hidden_slots_weigh_nothing() {
        // By hand: over scores ln 1, ln 2, ln 5 the weights are 1/8, 2/8, 5/8.
        let mut scores = [7.0, 0.0, 2.0f32.ln(), 5.0f32.ln(), 9.0];
        let sum = exponentials(&mut scores, 1.0, None, 1..4);
        for (found, right) in scores.iter().zip([0.0, 0.125, 0.25, 0.625, 0.0]) {
            let found = found / sum;
            assert!((found - right).abs() < 1e-6, "{scores:?}");
        }
    }

    #[test]
    fn caps_and_activations_by_hand() {
        // 2 tanh(3 / 2) = 1.810297; gelu(1) = 0.841192 and gelu(−2) = −0.045402 by the tangent approximation;
        // silu(1) = 0.731059.
        let mut x = [3.0];
        cap_all(&mut x, 2.0);
        assert!((x[0] - 1.810_297).abs() < 1e-5, "{x:?}");
        let mut gate = [1.0, -2.0];
        gated(Activation::GeGlu, &mut gate, &[1.0, 2.0], 2);
        assert!((gate[0] - 0.841_192).abs() < 1e-5 && (gate[1] + 0.090_805).abs() < 1e-5, "{gate:?}");
        let mut gate = [1.0];
        gated(Activation::SwiGlu, &mut gate, &[3.0], 1);
        assert!((gate[0] - 2.193_176).abs() < 1e-5, "{gate:?}");
    }

    #[test]
    fn rms_norm_by_hand() {
        // mean(9 + 16) = 12.5, root 3.5355; 3 / 3.5355 × 2 = 1.69706, 4 / 3.5355 = 1.13137.
        let mut out = Vec::new();
        rms_norm(&[3.0, 4.0], &[2.0, 1.0], 0.0, &mut out);
        assert!((out[0] - 1.697_06).abs() < 1e-5 && (out[1] - 1.131_37).abs() < 1e-5, "{out:?}");
    }
}
