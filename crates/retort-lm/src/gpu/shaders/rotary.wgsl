// Turns queries and keys by their positions, and puts keys and values into the cache: one thread per
// component of a row of queries, keys and values.

struct Params {
    rows: u32,
    heads: u32,
    kv_heads: u32,
    head_size: u32,
    // Components of a head that are turned; even.
    rotary_size: u32,
    // Distance between heads in the outputs: the head size, padded to a multiple of 4.
    head_stride: u32,
    // Slot of the cache that the first row takes.
    first_slot: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
// Rows of all queries, then all keys, then all values.
@group(0) @binding(1) var<storage, read> projected: array<f32>;
// Cosine and sine of each pair's angle, row by row.
@group(0) @binding(2) var<storage, read> angles: array<vec2f>;
@group(0) @binding(3) var<storage, read_write> queries: array<f32>;
@group(0) @binding(4) var<storage, read_write> keys: array<f32>;
@group(0) @binding(5) var<storage, read_write> values: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let all_heads = params.heads + 2u * params.kv_heads;
    let row_size = all_heads * params.head_size;
    let index = (group.x + group.y * groups.x) * 64u + thread;
    let row = index / row_size;
    if row >= params.rows {
        return;
    }
    let head = index % row_size / params.head_size;
    let component = index % params.head_size;

    var value = projected[index];
    if head < params.heads + params.kv_heads && component < params.rotary_size {
        let pairs = params.rotary_size / 2u;
#if NEIGHBOURS
        let pair = component / 2u;
        let is_first = component % 2u == 0u;
        let distance = 1u;
#else
        let pair = component % pairs;
        let is_first = component < pairs;
        let distance = pairs;
#end
        let angle = angles[row * pairs + pair];
        if is_first {
            value = value * angle.x - projected[index + distance] * angle.y;
        } else {
            value = value * angle.x + projected[index - distance] * angle.y;
        }
    }

    let slot = params.first_slot + row;
    if head < params.heads {
        queries[(row * params.heads + head) * params.head_stride + component] = value;
    } else if head < params.heads + params.kv_heads {
        let kv_head = head - params.heads;
        keys[(slot * params.kv_heads + kv_head) * params.head_stride + component] = value;
    } else {
        let kv_head = head - params.heads - params.kv_heads;
        values[(slot * params.kv_heads + kv_head) * params.head_stride + component] = value;
    }
}
