// A weight matrix in one of five layouts, read eight weights at a time.
//
// Rows are outputs. Every row is padded with zeros to a multiple of 32 inputs, so that a row is whole
// groups of eight and, where there are scales, whole groups of 32 or 16.

struct Eight {
    low: vec4f,
    high: vec4f,
}

#if FOUR_BITS
// Eight nibbles a word: weights 0 to 3 in its even nibbles, 4 to 7 in its odd ones.
@group(0) @binding(1) var<storage, read> weights: array<u32>;
// Scale (low half) and minimum (high half) of each 32 weights: `scale * q + minimum`.
@group(0) @binding(2) var<storage, read> scales: array<u32>;

fn eight_weights(row: u32, eighth: u32, eighths: u32) -> Eight {
    let at = row * eighths + eighth;
    let word = weights[at];
    let scale = unpack2x16float(scales[at >> 2u]);
    let low = (vec4u(word) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(15u);
    let high = (vec4u(word) >> vec4u(4u, 12u, 20u, 28u)) & vec4u(15u);
    return Eight(scale.x * vec4f(low) + scale.y, scale.x * vec4f(high) + scale.y);
}
#end
#if EIGHT_BITS
// Four signed bytes a word.
@group(0) @binding(1) var<storage, read> weights: array<vec2u>;
// As for four bits, or of each 16 weights.
@group(0) @binding(2) var<storage, read> scales: array<u32>;

fn four_bytes(word: u32) -> vec4f {
    return vec4f((vec4i(i32(word)) << vec4u(24u, 16u, 8u, 0u)) >> vec4u(24u));
}

fn eight_weights(row: u32, eighth: u32, eighths: u32) -> Eight {
    let at = row * eighths + eighth;
    let words = weights[at];
    let scale = unpack2x16float(scales[at >> $SCALE_SHIFTu]);
    return Eight(scale.x * four_bytes(words.x) + scale.y, scale.x * four_bytes(words.y) + scale.y);
}
#end
#if HALVES
// Two f16 a word.
@group(0) @binding(1) var<storage, read> weights: array<vec4u>;

fn eight_weights(row: u32, eighth: u32, eighths: u32) -> Eight {
    let words = weights[row * eighths + eighth];
    return Eight(
        vec4f(unpack2x16float(words.x), unpack2x16float(words.y)),
        vec4f(unpack2x16float(words.z), unpack2x16float(words.w)),
    );
}
#end
#if SINGLES
@group(0) @binding(1) var<storage, read> weights: array<vec4f>;

fn eight_weights(row: u32, eighth: u32, eighths: u32) -> Eight {
    let at = 2u * (row * eighths + eighth);
    return Eight(weights[at], weights[at + 1u]);
}
#end
