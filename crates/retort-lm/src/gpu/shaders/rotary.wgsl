// Turns queries and keys by their positions, and puts keys and values into the cache: one thread per
// component of a row of queries, keys and values. With head norms, which need the sum of a head's squares,
// one workgroup per head instead.

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
    // Added to the mean square in head norms.
    epsilon: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
// Rows of all queries, then all keys, then all values.
@group(0) @binding(1) var<storage, read> projected: array<f32>;
// Cosine and sine of each pair's angle, row by row.
@group(0) @binding(2) var<storage, read> angles: array<vec2f>;
@group(0) @binding(3) var<storage, read_write> queries: array<f32>;
@group(0) @binding(4) var<storage, read_write> keys: array<f32>;
@group(0) @binding(5) var<storage, read_write> values: array<f32>;
#if NORMS
// The norm's weights for queries, then those for keys.
@group(0) @binding(6) var<storage, read> norm_weights: array<f32>;

var<workgroup> squares: array<f32, 64>;
#end

// A component of a head that begins at `start`, normed if that is wanted.
fn component_at(start: u32, component: u32, scale: f32, norm_start: u32) -> f32 {
#if NORMS
    return projected[start + component] * scale * norm_weights[norm_start + component];
#else
    return projected[start + component];
#end
}

// Turns one component, if it is one that is turned, and puts it where it belongs.
fn finish(row: u32, head: u32, component: u32, scale: f32) {
    let start = (row * (params.heads + 2u * params.kv_heads) + head) * params.head_size;
    let slot = params.first_slot + row;
    if head >= params.heads + params.kv_heads {
        let kv_head = head - params.heads - params.kv_heads;
        values[(slot * params.kv_heads + kv_head) * params.head_stride + component] = projected[start + component];
        return;
    }
    let norm_start = select(0u, params.head_size, head >= params.heads);
    var value = component_at(start, component, scale, norm_start);
    if component < params.rotary_size {
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
            value = value * angle.x - component_at(start, component + distance, scale, norm_start) * angle.y;
        } else {
            value = value * angle.x + component_at(start, component - distance, scale, norm_start) * angle.y;
        }
    }
    if head < params.heads {
        queries[(row * params.heads + head) * params.head_stride + component] = value;
    } else {
        keys[(slot * params.kv_heads + head - params.heads) * params.head_stride + component] = value;
    }
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let all_heads = params.heads + 2u * params.kv_heads;
    let workgroup = group.x + group.y * groups.x;
#if NORMS
    // A workgroup beyond the last head computes the last one again: none leaves before the barriers.
    let place = min(workgroup, params.rows * all_heads - 1u);
    let row = place / all_heads;
    let head = place % all_heads;
    var own = 0.0;
    for (var i = thread; i < params.head_size; i += 64u) {
        let x = projected[place * params.head_size + i];
        own += x * x;
    }
    squares[thread] = own;
    for (var distance = 32u; distance > 0u; distance /= 2u) {
        workgroupBarrier();
        if thread < distance {
            squares[thread] += squares[thread + distance];
        }
    }
    workgroupBarrier();
    let scale = inverseSqrt(squares[0] / f32(params.head_size) + params.epsilon);
    for (var component = thread; component < params.head_size; component += 64u) {
        finish(row, head, component, scale);
    }
#else
    let row_size = all_heads * params.head_size;
    let index = workgroup * 64u + thread;
    if index / row_size >= params.rows {
        return;
    }
    finish(index / row_size, index % row_size / params.head_size, index % params.head_size, 1.0);
#end
}
