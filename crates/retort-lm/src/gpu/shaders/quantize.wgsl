// Turns rows of numbers into whole ones of two 7-bit digits, for products by packed dot products: one workgroup a row.
//
// A number is `scale × (128 high + low − 8192)`, with a scale for each 32. Eight threads make a group of 32; each
// takes four numbers. With a norm, the norm's weights are applied first, and the root mean square goes into the scale.

struct Params {
    // Rows that are made.
    rows: u32,
    // Padded numbers / 4, a multiple of 8.
    inputs4: u32,
    // Numbers that count for the norm: without the padding.
    width: f32,
    // Added to the mean square.
    epsilon: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read> input: array<vec4f>;
// For each group of 32: eight words of high digits, eight of low ones, the scale, two sums of sixteen whole numbers,
// and an unused word.
@group(0) @binding(4) var<storage, read_write> output: array<u32>;
#if NORM
@group(0) @binding(5) var<storage, read> norm_weights: array<vec4f>;
#end
#if PICKED
// Which row of the input each row is made from.
@group(0) @binding(6) var<storage, read> picks: array<u32>;
#end

#if NORM
#import norm_factor
#end
var<workgroup> magnitudes: array<u32, 64>;
var<workgroup> totals: array<i32, 64>;

// Four digits in a word, the first in the lowest byte.
fn word_of(digits: vec4u) -> u32 {
    return digits.x | (digits.y << 8u) | (digits.z << 16u) | (digits.w << 24u);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let row = group.x + group.y * groups.x;
    if row >= params.rows {
        return;
    }
#if PICKED
    let input_from = picks[row] * params.inputs4;
#else
    let input_from = row * params.inputs4;
#end
#if NORM
    let norm_scale = norm_factor(input_from, params.inputs4, thread);
#else
    let norm_scale = 1.0;
#end
    for (var first = 0u; first < params.inputs4; first += 64u) {
        let at = first + thread;
        var x = vec4f();
        if at < params.inputs4 {
            x = input[input_from + at];
#if NORM
            x *= norm_weights[at];
#end
        }
        // As bits, magnitudes compare as whole numbers, and what is no number is above infinity.
        let bits = bitcast<vec4u>(x) & vec4u(0x7fffffffu);
        magnitudes[thread] = max(max(bits.x, bits.y), max(bits.z, bits.w));
        workgroupBarrier();
        let group_start = thread / 8u * 8u;
        var largest = 0u;
        for (var other = 0u; other < 8u; other++) {
            largest = max(largest, magnitudes[group_start + other]);
        }
        let is_finite = largest < 0x7f800000u;
        let magnitude = bitcast<f32>(largest);
        // Below this the inverse would leave f32; such numbers are zeros.
        let has_scale = is_finite && magnitude >= 1e-30;
        var whole = vec4i();
        if has_scale {
            whole = clamp(vec4i(round(x * (8191.0 / magnitude))), vec4i(-8191), vec4i(8191));
        }
        totals[thread] = whole.x + whole.y + whole.z + whole.w;
        workgroupBarrier();
        if at < params.inputs4 {
            let digits = vec4u(whole + vec4i(8192));
            let to = (row * params.inputs4 + at) / 8u * 20u;
            output[to + at % 8u] = word_of(digits >> vec4u(7u));
            output[to + 8u + at % 8u] = word_of(digits & vec4u(127u));
            if at % 8u == 0u {
                // What is not finite makes its whole group so, as a word: WGSL need not keep it as a float.
                var scale = 0u;
                if has_scale {
                    scale = bitcast<u32>(magnitude / 8191.0 * norm_scale);
                } else if !is_finite {
                    scale = 0x7fc00000u;
                }
                output[to + 16u] = scale;
                output[to + 17u] = bitcast<u32>(
                    totals[thread] + totals[thread + 1u] + totals[thread + 2u] + totals[thread + 3u]);
                output[to + 18u] = bitcast<u32>(
                    totals[thread + 4u] + totals[thread + 5u] + totals[thread + 6u] + totals[thread + 7u]);
                output[to + 19u] = 0u;
            }
        }
    }
}
