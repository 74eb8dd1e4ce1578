// Attention under the tree mask, with an online softmax: no score leaves the workgroup.
//
// A line is one query head of one row; the lines of a workgroup share a key/value head and follow each
// other row by row, so that 32 lines share every load of a tile of 32 keys or values. Which tiles a block of
// lines needs was worked out beforehand; the mask decides key by key.

struct Params {
    // Rows × query heads per key/value head.
    lines: u32,
    // Query heads per key/value head.
    group_size: u32,
    heads: u32,
    kv_heads: u32,
    head_size: u32,
    // Slots of the cache, so that no read goes beyond.
    slots: u32,
    // Distance between rows of the output.
    stride: u32,
    // Usually 1 / √head size.
    scale: f32,
    // Scaled scores become `cap × tanh(score / cap)`; 0 for no cap.
    cap: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> queries: array<vec4f>;
@group(0) @binding(2) var<storage, read> keys: array<vec4f>;
@group(0) @binding(3) var<storage, read> values: array<vec4f>;
// What each row sees: start and end of three ranges of slots, then two unused words.
@group(0) @binding(4) var<storage, read> views: array<vec4u>;
// First entry in `tiles` and number of entries of each block of 32 lines.
@group(0) @binding(5) var<storage, read> blocks: array<vec2u>;
@group(0) @binding(6) var<storage, read> tiles: array<u32>;
@group(0) @binding(7) var<storage, read_write> output: array<f32>;

// Padded components of a head / 4, in chunks of 16.
const HEAD4 = $HEAD4u;
const PITCH = 17u;
const SCORE_PITCH = 33u;
// Stands for minus infinity, which WGSL need not honour.
const NOTHING = -1.0e30;

// 32 keys or values, up to 64 components of each.
var<workgroup> stage: array<vec4f, 544>;
// 32 lines × 32 keys: scores, then probabilities not yet divided by their sum.
var<workgroup> scores: array<f32, 1056>;
// What each line's sums so far are to be multiplied by; in the end, by what they are to be divided.
var<workgroup> factors: array<f32, 32>;
var<workgroup> block: vec2u;

fn is_visible(far: vec4u, own: vec2u, key: u32) -> bool {
    return (key >= far.x && key < far.y) || (key >= far.z && key < far.w) || (key >= own.x && key < own.y);
}

fn capped(score: f32) -> f32 {
    if params.cap <= 0.0 {
        return score;
    }
    // The hyperbolic tangent by way of an exponential that cannot overflow: WGSL's own may.
    let falling = exp(-2.0 * abs(score) / params.cap);
    return sign(score) * params.cap * (1.0 - falling) / (1.0 + falling);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    if thread == 0u {
        block = blocks[group.x];
    }
    let range = workgroupUniformLoad(&block);
    let first_line = group.x * 32u;
    let kv_head = group.y;

    // For scores a thread has four lines, eight apart, and four keys, eight apart.
    let score_line = thread / 8u;
    let score_key = thread % 8u;
#repeat i 4
    // Lines beyond the last are computed from the last and never stored.
    let line_$i = min(first_line + score_line + 8u * $iu, params.lines - 1u);
    let row_$i = line_$i / params.group_size;
    let query_$i = (row_$i * params.heads + kv_head * params.group_size + line_$i % params.group_size) * HEAD4;
    let far_$i = views[2u * row_$i];
    let own_$i = views[2u * row_$i + 1u].xy;
#end
    // For the sums a thread has eight lines, four apart, and one vector of each chunk.
    let sum_line = thread / 16u;
    let sum_column = thread % 16u;
#repeat c CHUNKS
#repeat i 8
    var sums_$i_$c = vec4f();
#end
#end
    // Each of the first 32 threads follows one line's softmax.
    var greatest = NOTHING;
    var total = 0.0;

    for (var entry = 0u; entry < range.y; entry++) {
        let first_key = tiles[range.x + entry] * 32u;
#repeat i 4
        var products_$i = vec4f();
#end
#repeat c CHUNKS
        workgroupBarrier();
        if 16u * $cu + sum_column < HEAD4 {
#repeat i 8
            stage[(sum_line + 4u * $iu) * PITCH + sum_column] = keys[(min(first_key + sum_line + 4u * $iu, params.slots - 1u) * params.kv_heads + kv_head) * HEAD4 + 16u * $cu + sum_column];
#end
        }
        workgroupBarrier();
        for (var k = 0u; k < min(16u, HEAD4 - 16u * $cu); k++) {
            let key_0 = stage[score_key * PITCH + k];
            let key_1 = stage[(score_key + 8u) * PITCH + k];
            let key_2 = stage[(score_key + 16u) * PITCH + k];
            let key_3 = stage[(score_key + 24u) * PITCH + k];
#repeat i 4
            let q_$i = queries[query_$i + 16u * $cu + k];
            products_$i += vec4f(dot(q_$i, key_0), dot(q_$i, key_1), dot(q_$i, key_2), dot(q_$i, key_3));
#end
        }
#end
#repeat i 4
#repeat j 4
        scores[(score_line + 8u * $iu) * SCORE_PITCH + score_key + 8u * $ju] =
            select(NOTHING, capped(products_$i[$j] * params.scale), is_visible(far_$i, own_$i, first_key + score_key + 8u * $ju));
#end
#end
        workgroupBarrier();
        if thread < 32u {
            var peak = greatest;
            for (var k = 0u; k < 32u; k++) {
                peak = max(peak, scores[thread * SCORE_PITCH + k]);
            }
            let factor = exp(greatest - peak);
            total *= factor;
            for (var k = 0u; k < 32u; k++) {
                let score = scores[thread * SCORE_PITCH + k];
                let probability = select(0.0, exp(score - peak), score > 0.5 * NOTHING);
                total += probability;
                scores[thread * SCORE_PITCH + k] = probability;
            }
            greatest = peak;
            factors[thread] = factor;
        }
#repeat c CHUNKS
#if c
        workgroupBarrier();
#end
        if 16u * $cu + sum_column < HEAD4 {
#repeat i 8
            stage[(sum_line + 4u * $iu) * PITCH + sum_column] = values[(min(first_key + sum_line + 4u * $iu, params.slots - 1u) * params.kv_heads + kv_head) * HEAD4 + 16u * $cu + sum_column];
#end
        }
        workgroupBarrier();
#repeat i 8
        sums_$i_$c *= factors[sum_line + 4u * $iu];
#end
        for (var k = 0u; k < 32u; k++) {
            let value = stage[k * PITCH + sum_column];
#repeat i 8
            sums_$i_$c += scores[(sum_line + 4u * $iu) * SCORE_PITCH + k] * value;
#end
        }
#end
    }

    workgroupBarrier();
    if thread < 32u {
        factors[thread] = total;
    }
    workgroupBarrier();
#repeat i 8
    {
        let line = first_line + sum_line + 4u * $iu;
        if line < params.lines {
            let divisor = 1.0 / factors[sum_line + 4u * $iu];
            let head = kv_head * params.group_size + line % params.group_size;
            let to = line / params.group_size * params.stride + head * params.head_size;
#repeat c CHUNKS
#repeat j 4
            if (16u * $cu + sum_column) * 4u + $ju < params.head_size {
                output[to + (16u * $cu + sum_column) * 4u + $ju] = sums_$i_$c[$j] * divisor;
            }
#end
#end
        }
    }
#end
}
