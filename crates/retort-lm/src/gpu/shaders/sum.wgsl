// Sums the residual stream over neighbouring rows: one thread per component of each sum.

struct Params {
    // The first of the sums that are wanted now.
    first_sum: u32,
    // Components of a sum.
    width: u32,
    // Distance between rows of the stream.
    stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> stream: array<f32>;
// First row, number of rows, and where among all sums this one goes.
@group(0) @binding(2) var<storage, read> sums: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let component = group.x * 64u + thread;
    if component >= params.width {
        return;
    }
    let wanted = sums[params.first_sum + group.y];
    var total = 0.0;
    for (var row = 0u; row < wanted.y; row++) {
        total += stream[(wanted.x + row) * params.stride + component];
    }
    output[wanted.z * params.width + component] = total;
}
