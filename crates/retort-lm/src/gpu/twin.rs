//! Each kernel's twin: the same computation over the same bindings, in plain loops and f64.
//!
//! A twin reads the parameters and the words of every binding exactly as the shader does, so that the
//! comparison covers the layouts and not only the arithmetic.

use std::collections::BTreeMap;

use half::f16;

use super::layout::{GROUP, Layout};
use super::run::Parameters;
use super::shader::{Kernel, Product, QUANTIZED_WORDS, Role, Shape};

/// The words behind every binding number.
pub(super) type Bindings = BTreeMap<u32, Vec<u32>>;

/// What every written binding holds when the kernel is done. Parts that it leaves alone keep their values.
pub(super) fn run(kernel: Kernel, parameters: &Parameters, bindings: &Bindings) -> BTreeMap<u32, Vec<f32>> {
    let inputs = Inputs { parameters, bindings };
    match kernel {
        Kernel::Embed(layout) => embed(layout, &inputs),
        Kernel::Product(kernel) => product(kernel, &inputs),
        Kernel::Rotary { neighbours, norms } => rotary(neighbours, norms, &inputs),
        Kernel::Attention { head4 } => attention(head4, &inputs),
        Kernel::Quantize { norm, picked } => quantize(norm, picked, &inputs),
        Kernel::AddNormed => add_normed(&inputs),
        Kernel::Sum => sum(&inputs),
    }
}

struct Inputs<'a> {
    parameters: &'a Parameters,
    bindings: &'a Bindings,
}

impl Inputs<'_> {
    fn parameter(&self, index: usize) -> usize {
        self.parameters[index] as usize
    }

    fn real(&self, index: usize) -> f64 {
        f32::from_bits(self.parameters[index]).into()
    }

    fn words(&self, binding: u32) -> &[u32] {
        self.bindings.get(&binding).map_or(&[], Vec::as_slice)
    }

    fn float(&self, binding: u32, index: usize) -> f64 {
        f32::from_bits(self.words(binding)[index]).into()
    }

    fn floats(&self, binding: u32) -> Vec<f32> {
        self.words(binding).iter().copied().map(f32::from_bits).collect()
    }

    /// A number that is written as a whole one of two digits.
    fn whole(&self, binding: u32, at: usize) -> f64 {
        let group = &self.words(binding)[at / GROUP * QUANTIZED_WORDS..][..QUANTIZED_WORDS];
        let (word, byte) = (at % GROUP / 4, at % 4);
        let [high, low] = [word, 8 + word].map(|word| f64::from(group[word].to_le_bytes()[byte]));
        f64::from(f32::from_bits(group[16])) * (128.0 * high + low - 8192.0)
    }

    /// A weight; `inputs` counts the padding.
    fn weight(&self, layout: Layout, inputs: usize, row: usize, input: usize) -> f64 {
        let at = row * inputs + input;
        let weights = self.words(1);
        let half = |bits: u32| f64::from(f16::from_bits(bits as u16).to_f32());
        let affine = |q: f64| {
            let scale = self.words(2)[at / (GROUP / layout.group_scales())];
            half(scale & 0xffff) * q + half(scale >> 16)
        };
        match layout {
            Layout::FourBits => {
                let nibble = 2 * (at % 4) + at % 8 / 4;
                affine((weights[at / 8] >> (4 * nibble) & 15).into())
            }
            Layout::EightBits | Layout::EightBitsBy16 => {
                affine(weights[at / 4].to_le_bytes()[at % 4].cast_signed().into())
            }
            Layout::Halves => half(weights[at / 2] >> (16 * (at % 2)) & 0xffff),
            Layout::Singles => f32::from_bits(weights[at]).into(),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the kernels give f32")]
fn single(x: f64) -> f32 {
    x as f32
}

fn embed(layout: Layout, inputs: &Inputs<'_>) -> BTreeMap<u32, Vec<f32>> {
    let [rows, width, first, count] = [0, 1, 2, 3].map(|i| inputs.parameter(i));
    let width = 8 * width;
    let scale = inputs.real(4);
    let mut output = inputs.floats(4);
    for row in 0..rows {
        let token = inputs.words(3)[row] as usize;
        if (first..first + count).contains(&token) {
            for i in 0..width {
                output[row * width + i] = single(scale * inputs.weight(layout, width, token - first, i));
            }
        }
    }
    BTreeMap::from([(4, output)])
}

fn product(kernel: Product, inputs: &Inputs<'_>) -> BTreeMap<u32, Vec<f32>> {
    let Product { role, layout, shape, bias, adapter } = kernel;
    let is_dots = matches!(shape, Shape::Dots(_));
    let [rows, columns, _, inputs4, stride, first_column] = [0, 1, 2, 3, 4, 5].map(|i| inputs.parameter(i));
    let [width, epsilon, cap] = [6, 7, 8].map(|i| inputs.real(i));
    let (narrow, first_row) = (4 * inputs.parameter(9), inputs.parameter(10));
    let padded = 4 * inputs4;
    let mut output = inputs.floats(4);
    for row in 0..rows {
        let from = if role == Role::Output && !is_dots { inputs.words(6)[row] as usize } else { row };
        let number = |at: usize| if is_dots { inputs.whole(3, at) } else { inputs.float(3, at) };
        let mut x: Vec<f64> = (0..padded).map(|k| number(from * padded + k)).collect();
        if role.has_norm() && !is_dots {
            let scale = 1.0 / (x.iter().map(|x| x * x).sum::<f64>() / width + epsilon).sqrt();
            for (k, x) in x.iter_mut().enumerate() {
                *x *= scale * inputs.float(5, k);
            }
        }
        let sum = |weight_row: usize| -> f64 {
            let own: f64 =
                x.iter().enumerate().map(|(k, x)| x * inputs.weight(layout, padded, weight_row, k)).sum();
            let added: f64 = match adapter {
                true => (0..narrow)
                    .map(|k| {
                        inputs.float(8, row * narrow + k)
                            * inputs.float(9, (first_row + weight_row) * narrow + k)
                    })
                    .sum(),
                false => 0.0,
            };
            own + added
        };
        for column in 0..columns {
            let to = row * stride + first_column + column;
            let bias = if bias { inputs.float(7, first_column + column) } else { 0.0 };
            let result = match role {
                Role::Project | Role::Plain => sum(column) + bias,
                Role::Residual => f64::from(output[to]) + sum(column) + bias,
                Role::SwiGlu | Role::GeGlu => {
                    let gate_row = column / 8 * 16 + column % 8;
                    let (gate, up) = (sum(gate_row), sum(gate_row + 8));
                    up * match role {
                        Role::GeGlu => {
                            let inner =
                                (2.0 / std::f64::consts::PI).sqrt() * (gate + 0.044_715 * gate.powi(3));
                            0.5 * gate * (1.0 + inner.tanh())
                        }
                        _ => gate / (1.0 + (-gate).exp()),
                    }
                }
                Role::Output => capped(sum(column), cap),
            };
            output[to] = single(result);
        }
    }
    BTreeMap::from([(4, output)])
}

fn capped(x: f64, cap: f64) -> f64 {
    if cap > 0.0 { cap * (x / cap).tanh() } else { x }
}

fn rotary(neighbours: bool, norms: bool, inputs: &Inputs<'_>) -> BTreeMap<u32, Vec<f32>> {
    let [rows, heads, kv_heads, size, turned, stride, first_slot] =
        [0, 1, 2, 3, 4, 5, 6].map(|i| inputs.parameter(i));
    let epsilon = inputs.real(7);
    let (mut queries, mut keys, mut values) = (inputs.floats(3), inputs.floats(4), inputs.floats(5));
    for row in 0..rows {
        for head in 0..heads + 2 * kv_heads {
            let start = (row * (heads + 2 * kv_heads) + head) * size;
            let mut turned_head: Vec<f64> = (0..size).map(|i| inputs.float(1, start + i)).collect();
            if head < heads + kv_heads {
                if norms {
                    let squares: f64 = turned_head.iter().map(|x| x * x).sum();
                    let scale = 1.0 / (squares / size as f64 + epsilon).sqrt();
                    let weights = if head < heads { 0 } else { size };
                    for (i, x) in turned_head.iter_mut().enumerate() {
                        *x *= scale * inputs.float(6, weights + i);
                    }
                }
                for pair in 0..turned / 2 {
                    let (a, b) =
                        if neighbours { (2 * pair, 2 * pair + 1) } else { (pair, pair + turned / 2) };
                    let angle = 2 * (row * turned / 2 + pair);
                    let (cosine, sine) = (inputs.float(2, angle), inputs.float(2, angle + 1));
                    let (x, y) = (turned_head[a], turned_head[b]);
                    turned_head[a] = x * cosine - y * sine;
                    turned_head[b] = x * sine + y * cosine;
                }
            }
            let slot = first_slot + row;
            let (into, to) = if head < heads {
                (&mut queries, row * heads + head)
            } else if head < heads + kv_heads {
                (&mut keys, slot * kv_heads + head - heads)
            } else {
                (&mut values, slot * kv_heads + head - heads - kv_heads)
            };
            for (i, x) in turned_head.into_iter().enumerate() {
                into[to * stride + i] = single(x);
            }
        }
    }
    BTreeMap::from([(3, queries), (4, keys), (5, values)])
}

/// The numbers themselves, normed or not: what the whole ones stand for. Behind each 32 two zeros, since no sum
/// differs from that of its digits.
fn quantize(norm: bool, picked: bool, inputs: &Inputs<'_>) -> BTreeMap<u32, Vec<f32>> {
    let [rows, inputs4] = [0, 1].map(|i| inputs.parameter(i));
    let [width, epsilon] = [2, 3].map(|i| inputs.real(i));
    let padded = 4 * inputs4;
    let mut output = Vec::new();
    for row in 0..rows {
        let from = if picked { inputs.words(6)[row] as usize } else { row };
        let x = |i: usize| inputs.float(3, from * padded + i);
        let squares: f64 = (0..padded).map(|i| x(i) * x(i)).sum();
        let scale = 1.0 / (squares / width + epsilon).sqrt();
        for i in 0..padded {
            output.push(single(if norm { x(i) * scale * inputs.float(5, i) } else { x(i) }));
            if i % GROUP == GROUP - 1 {
                output.extend([0.0; 2]);
            }
        }
    }
    BTreeMap::from([(4, output)])
}

fn add_normed(inputs: &Inputs<'_>) -> BTreeMap<u32, Vec<f32>> {
    let padded = 4 * inputs.parameter(0);
    let [width, epsilon] = [1, 2].map(|i| inputs.real(i));
    let mut stream = inputs.floats(3);
    for (row, stream) in stream.chunks_exact_mut(padded).enumerate() {
        let x = |i: usize| inputs.float(1, row * padded + i);
        let squares: f64 = (0..padded).map(|i| x(i) * x(i)).sum();
        let scale = 1.0 / (squares / width + epsilon).sqrt();
        for (i, into) in stream.iter_mut().enumerate() {
            *into = single(f64::from(*into) + x(i) * scale * inputs.float(2, i));
        }
    }
    BTreeMap::from([(3, stream)])
}

fn sum(inputs: &Inputs<'_>) -> BTreeMap<u32, Vec<f32>> {
    let [first, width, stride] = [0, 1, 2].map(|i| inputs.parameter(i));
    let mut output = inputs.floats(3);
    for wanted in inputs.words(2).chunks_exact(4).skip(first) {
        let [row, rows, to] = [0, 1, 2].map(|i| wanted[i] as usize);
        for i in 0..width {
            let total: f64 = (row..row + rows).map(|row| inputs.float(1, row * stride + i)).sum();
            output[to * width + i] = single(total);
        }
    }
    BTreeMap::from([(3, output)])
}

/// Reads the mask only: the lists of blocks and tiles merely say where it is worth looking.
fn attention(head4: usize, inputs: &Inputs<'_>) -> BTreeMap<u32, Vec<f32>> {
    let [lines, group, heads, kv_heads, size, _, stride] = [0, 1, 2, 3, 4, 5, 6].map(|i| inputs.parameter(i));
    let [scale, cap] = [7, 8].map(|i| inputs.real(i));
    let padded = 4 * head4;
    let mut output = inputs.floats(7);
    for row in 0..lines / group {
        let ranges = inputs.words(4)[8 * row..8 * row + 6].chunks_exact(2);
        let seen: Vec<usize> = ranges.flat_map(|range| range[0] as usize..range[1] as usize).collect();
        for head in 0..heads {
            let at = |slot: usize| (slot * kv_heads + head / group) * padded;
            let scores: Vec<f64> = seen
                .iter()
                .map(|&slot| {
                    let query = (row * heads + head) * padded;
                    let product: f64 =
                        (0..size).map(|i| inputs.float(1, query + i) * inputs.float(2, at(slot) + i)).sum();
                    capped(product * scale, cap)
                })
                .collect();
            let peak = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let shares: Vec<f64> = scores.iter().map(|score| (score - peak).exp()).collect();
            let total: f64 = shares.iter().sum();
            for i in 0..size {
                let sum: f64 = seen
                    .iter()
                    .zip(&shares)
                    .map(|(&slot, share)| share * inputs.float(3, at(slot) + i))
                    .sum();
                output[row * stride + head * size + i] = single(sum / total);
            }
        }
    }
    BTreeMap::from([(7, output)])
}
