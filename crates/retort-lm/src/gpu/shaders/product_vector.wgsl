// A matrix product for up to $ROWS rows: one workgroup computes $COLUMNS columns of the output, several threads a
// column, which share its groups of eight inputs: sixteen threads, or a subgroup, however large it is.
#import product

#if SUBGROUPS
fn total(thread: u32, value: vec4f) -> vec4f {
    return subgroupAdd(value);
}
#else
var<workgroup> shares: array<vec4f, 64>;

// The sum over the sixteen threads of a column, in the first of them. Has barriers: call it from all.
fn total(thread: u32, value: vec4f) -> vec4f {
    workgroupBarrier();
    shares[thread] = value;
    for (var distance = 8u; distance > 0u; distance /= 2u) {
        workgroupBarrier();
        if thread % 16u < distance {
            shares[thread] += shares[thread + distance];
        }
    }
    return shares[thread];
}
#end

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
#if SUBGROUPS
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) lanes: u32,
#end
) {
    let first_column = (group.x + group.y * groups.x) * $COLUMNSu;
#if SUBGROUPS
    for (var turn = subgroup; turn < $COLUMNSu; turn += subgroups) {
        compute(first_column + turn, thread, lane, lanes);
    }
#else
    compute(first_column + thread / 16u, thread, thread % 16u, 16u);
#end
}

// One column, by as many threads as there are lanes.
fn compute(column: u32, thread: u32, lane: u32, lanes: u32) {
    let eighths = params.inputs4 / 2u;
#if GATED
    let weight_row = min(column / 8u * 16u + column % 8u, params.weight_rows - 9u);
#else
    let weight_row = min(column, params.weight_rows - 1u);
#end
#repeat r ROWS
    let from_$r = input_row($ru) * params.inputs4;
#end
    var sums = vec4f();
#if GATED
    var up_sums = vec4f();
#end
#if NORM
    var squares = vec4f();
#end
    for (var eighth = lane; eighth < eighths; eighth += lanes) {
        let w = eight_weights(weight_row, eighth, eighths);
#if GATED
        let up = eight_weights(weight_row + 8u, eighth, eighths);
#end
#if NORM
        let norm_low = norm_weights[2u * eighth];
        let norm_high = norm_weights[2u * eighth + 1u];
#end
#repeat r ROWS
        {
            var low = input[from_$r + 2u * eighth];
            var high = input[from_$r + 2u * eighth + 1u];
#if NORM
            squares[$r] += dot(low, low) + dot(high, high);
            low *= norm_low;
            high *= norm_high;
#end
            sums[$r] += dot(low, w.low) + dot(high, w.high);
#if GATED
            up_sums[$r] += dot(low, up.low) + dot(high, up.high);
#end
        }
#end
    }
    var result = total(thread, sums);
#if GATED
    var up_result = total(thread, up_sums);
#end
#if NORM
    let scale = inverseSqrt(total(thread, squares) / params.width + params.epsilon);
    result *= scale;
#if GATED
    up_result *= scale;
#end
#end
#if ADAPTER
    let widening_from = (params.first_row + weight_row) * params.narrow4;
    var added = vec4f();
#if GATED
    var up_added = vec4f();
#end
    for (var k = lane; k < params.narrow4; k += lanes) {
        let b = widening[widening_from + k];
#if GATED
        let up_b = widening[widening_from + 8u * params.narrow4 + k];
#end
#repeat r ROWS
        {
            let a = narrow[input_row($ru) * params.narrow4 + k];
            added[$r] += dot(a, b);
#if GATED
            up_added[$r] += dot(a, up_b);
#end
        }
#end
    }
    result += total(thread, added);
#if GATED
    up_result += total(thread, up_added);
#end
#end
    if lane == 0u {
#repeat r ROWS
#if GATED
        finish($ru, column, result[$r], up_result[$r]);
#else
        finish($ru, column, result[$r]);
#end
#end
    }
}
