// Looks up the embedding of each token: one thread per eight components.
#import weights

struct Params {
    // Tokens.
    rows: u32,
    // Padded components / 8.
    eighths: u32,
    // The token of the first row that this part of the table holds, and how many it holds.
    first_token: u32,
    part_tokens: u32,
    // What every component is multiplied by.
    scale: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read> tokens: array<u32>;
@group(0) @binding(4) var<storage, read_write> output: array<vec4f>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = (group.x + group.y * groups.x) * 64u + thread;
    let row = index / params.eighths;
    if row >= params.rows {
        return;
    }
    let token = tokens[row] - params.first_token;
    if token >= params.part_tokens {
        return;
    }
    let w = eight_weights(token, index % params.eighths, params.eighths);
    output[2u * index] = params.scale * w.low;
    output[2u * index + 1u] = params.scale * w.high;
}
