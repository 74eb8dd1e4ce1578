// A matrix product for several rows by packed dot products: one workgroup computes a tile of rows by 64 weight rows.
//
// The rows are whole numbers of two digits, as `quantize` makes them, and a weight is `d × q + m`:
//
// Σ w x = scale × (d × (128 Σ q high + Σ q low − 8192 Σ q) + m × Σ whole numbers)
//
// for each 32 inputs, or each 16 where these share a d. All sums of whole numbers are exact and fit 32 bits.
#import product

const THREADS = $THREADSu;
// Vectors of a row's group of 32: two of high digits, two of low ones; then the scale and the two sums.
const ROW_VECTORS = 5u;
// Distance between weight rows: one more than the vectors of a group, against bank conflicts.
const PITCH = 3u;

var<workgroup> input_tile: array<vec4u, $INPUT_TILE>;
var<workgroup> weight_tile: array<vec4u, $WEIGHT_TILE>;
// For sixteen weights: d, m, 8192 Σ q.
var<workgroup> facts: array<vec4u, 128>;

fn sixteen(a: vec4u, b: vec4u) -> i32 {
    return dot4I8Packed(a.x, b.x) + dot4I8Packed(a.y, b.y) + dot4I8Packed(a.z, b.z) + dot4I8Packed(a.w, b.w);
}

fn both(weights: vec4u, high: vec4u, low: vec4u) -> i32 {
    return 128 * sixteen(weights, high) + sixteen(weights, low);
}

// Sixteen weights, one a byte; `at` counts sixteens.
fn sixteen_weights(at: u32) -> vec4u {
#if FOUR_BITS
    let a = weights[2u * at];
    let b = weights[2u * at + 1u];
    return vec4u(a, a >> 4u, b, b >> 4u) & vec4u(0x0f0f0f0fu);
#else
    let a = weights[2u * at];
    let b = weights[2u * at + 1u];
    return vec4u(a, b);
#end
}

@compute @workgroup_size(8, $GRID_ROWS)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let first_weight_row = group.x * 64u;
    let first_row = group.y * $TILE_ROWSu;
    let inputs32 = params.inputs4 / 8u;
#repeat r THREAD_ROWS
    var sums_$r_0 = vec4f();
    var sums_$r_1 = vec4f();
#end
    for (var step = 0u; step < inputs32; step++) {
        for (var at = thread; at < $TILE_ROWSu * ROW_VECTORS; at += THREADS) {
            let block = input_row(first_row + at / ROW_VECTORS) * inputs32 + step;
            input_tile[at] = input[block * ROW_VECTORS + at % ROW_VECTORS];
        }
        for (var at = thread; at < 128u; at += THREADS) {
            let weight_row = min(first_weight_row + at / 2u, params.weight_rows - 1u);
            let place = 2u * (weight_row * inputs32 + step) + at % 2u;
            let quants = sixteen_weights(place);
            weight_tile[at / 2u * PITCH + at % 2u] = quants;
            let scale = unpack2x16float(scales[(2u * place) >> $SCALE_SHIFTu]);
            let sum = sixteen(quants, vec4u(0x01010101u));
            facts[at] = vec4u(bitcast<vec2u>(scale), bitcast<u32>(8192 * sum), 0u);
        }
        workgroupBarrier();
#repeat p PARTS
        {
            // Without this part's 8192 Σ q.
#repeat r THREAD_ROWS
            var whole_$r_0 = vec4i();
            var whole_$r_1 = vec4i();
#end
#repeat h SIXTEENS
            {
                const index = $pu + $hu;
#repeat c 8
                let b_$c = weight_tile[(local.x + 8u * $cu) * PITCH + index];
#end
#repeat r THREAD_ROWS
                {
                    let place = (local.y + $ru * $GRID_ROWSu) * ROW_VECTORS + index;
                    let high = input_tile[place];
                    let low = input_tile[place + 2u];
                    whole_$r_0 += vec4i(
                        both(b_0, high, low), both(b_1, high, low), both(b_2, high, low), both(b_3, high, low));
                    whole_$r_1 += vec4i(
                        both(b_4, high, low), both(b_5, high, low), both(b_6, high, low), both(b_7, high, low));
                }
#end
            }
#end
#repeat c 8
            let facts_$c = facts[2u * (local.x + 8u * $cu) + $pu];
#if BY_SIXTEEN
            let offset_$c = bitcast<i32>(facts_$c.z);
#else
            let offset_$c = bitcast<i32>(facts_$c.z) + bitcast<i32>(facts[2u * (local.x + 8u * $cu) + 1u].z);
#end
#end
            let d_0 = bitcast<vec4f>(vec4u(facts_0.x, facts_1.x, facts_2.x, facts_3.x));
            let d_1 = bitcast<vec4f>(vec4u(facts_4.x, facts_5.x, facts_6.x, facts_7.x));
            let m_0 = bitcast<vec4f>(vec4u(facts_0.y, facts_1.y, facts_2.y, facts_3.y));
            let m_1 = bitcast<vec4f>(vec4u(facts_4.y, facts_5.y, facts_6.y, facts_7.y));
            let offsets_0 = vec4i(offset_0, offset_1, offset_2, offset_3);
            let offsets_1 = vec4i(offset_4, offset_5, offset_6, offset_7);
#repeat r THREAD_ROWS
            {
                let row_facts = input_tile[(local.y + $ru * $GRID_ROWSu) * ROW_VECTORS + 4u];
                let scale = bitcast<f32>(row_facts.x);
#if BY_SIXTEEN
                let total = f32(bitcast<i32>(row_facts[1u + $pu]));
#else
                let total = f32(bitcast<i32>(row_facts.y) + bitcast<i32>(row_facts.z));
#end
                sums_$r_0 += scale * (vec4f(whole_$r_0 - offsets_0) * d_0 + total * m_0);
                sums_$r_1 += scale * (vec4f(whole_$r_1 - offsets_1) * d_1 + total * m_1);
            }
#end
        }
#end
        workgroupBarrier();
    }
#import finish_tile
}
