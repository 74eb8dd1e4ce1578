// Norms what a block gave and adds it to the residual stream: one workgroup per row.

struct Params {
    // Padded components / 4.
    width4: u32,
    // Components that count for the norm: without the padding.
    width: f32,
    // Added to the mean square.
    epsilon: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<vec4f>;
@group(0) @binding(2) var<storage, read> norm_weights: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> stream: array<vec4f>;

#import norm_factor

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let start = group.x * params.width4;
    let scale = norm_factor(start, params.width4, thread);
    for (var i = thread; i < params.width4; i += 64u) {
        stream[start + i] += input[start + i] * scale * norm_weights[i];
    }
}
