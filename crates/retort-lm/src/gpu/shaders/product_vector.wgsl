// A matrix product for up to $ROWS rows: one workgroup computes four columns of the output, sixteen
// threads a column, each over every sixteenth group of eight inputs.
#import product

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

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let column = (group.x + group.y * groups.x) * 4u + thread / 16u;
    let eighths = params.inputs4 / 2u;
#if SWIGLU
    let weight_row = min(column / 8u * 16u + column % 8u, params.weight_rows - 9u);
#else
    let weight_row = min(column, params.weight_rows - 1u);
#end
#repeat r ROWS
    let from_$r = input_row($ru) * params.inputs4;
#end
    var sums = vec4f();
#if SWIGLU
    var up_sums = vec4f();
#end
#if NORM
    var squares = vec4f();
#end
    for (var eighth = thread % 16u; eighth < eighths; eighth += 16u) {
        let w = eight_weights(weight_row, eighth, eighths);
#if SWIGLU
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
#if SWIGLU
            up_sums[$r] += dot(low, up.low) + dot(high, up.high);
#end
        }
#end
    }
    var result = total(thread, sums);
#if SWIGLU
    var up_result = total(thread, up_sums);
#end
#if NORM
    let scale = inverseSqrt(total(thread, squares) / params.width + params.epsilon);
    result *= scale;
#if SWIGLU
    up_result *= scale;
#end
#end
    if thread % 16u == 0u {
#repeat r ROWS
#if SWIGLU
        finish($ru, column, result[$r], up_result[$r]);
#else
        finish($ru, column, result[$r]);
#end
#end
    }
}
