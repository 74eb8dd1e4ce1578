// A matrix product for several rows: one workgroup computes a tile of rows by 64 weight rows.
//
// Both operands pass through workgroup memory, a step of inputs at a time; weights are unpacked there once
// for all rows of the tile. A thread keeps its sums, $THREAD_ROWS rows of 8 columns, in named vectors.
// With a norm, the norm's weights are applied while loading, and the root mean square at the very end.
#if HALF
enable f16;
#end
#import product

#if HALF
alias Operand = vec4<f16>;
#else
alias Operand = vec4f;
#end

// Inputs per step / 4, and the distance between rows of a tile: one more, against bank conflicts.
const STEP4 = $STEP4u;
const PITCH = $PITCHu;
const THREADS = $THREADSu;

var<workgroup> input_tile: array<Operand, $INPUT_TILE>;
var<workgroup> weight_tile: array<Operand, $WEIGHT_TILE>;
#if HALF
// Sums of squares, which need all of f32. Otherwise they take the place of the inputs.
var<workgroup> squares_tile: array<f32, $INPUT_TILE>;
#end

@compute @workgroup_size(8, $GRID_ROWS)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let first_weight_row = group.x * 64u;
    let first_row = group.y * $TILE_ROWSu;
    let eighths = params.inputs4 / 2u;

    // Where this thread's share of each tile comes from and goes to.
    let input_column = thread % STEP4;
#repeat i INPUT_LOADS
    let input_row_$i = thread / STEP4 + $iu * (THREADS / STEP4);
    let input_from_$i = input_row(first_row + input_row_$i) * params.inputs4 + input_column;
    let input_to_$i = input_row_$i * PITCH + input_column;
#if NORM
    var squares_$i = 0.0;
#end
#end
    let weight_column = thread % (STEP4 / 2u);
#repeat i WEIGHT_LOADS
    let weight_row_$i = thread / (STEP4 / 2u) + $iu * (THREADS / (STEP4 / 2u));
    let weight_from_$i = min(first_weight_row + weight_row_$i, params.weight_rows - 1u);
    let weight_to_$i = weight_row_$i * PITCH + 2u * weight_column;
#end

#repeat r THREAD_ROWS
    var sums_$r_0 = vec4f();
    var sums_$r_1 = vec4f();
#end
    for (var step = 0u; step < params.inputs4; step += STEP4) {
#if NORM
        let norm = norm_weights[step + input_column];
#end
#repeat i INPUT_LOADS
        let x_$i = input[input_from_$i + step];
#if NORM
        squares_$i += dot(x_$i, x_$i);
        input_tile[input_to_$i] = Operand(x_$i * norm);
#else
        input_tile[input_to_$i] = Operand(x_$i);
#end
#end
#repeat i WEIGHT_LOADS
        let w_$i = eight_weights(weight_from_$i, step / 2u + weight_column, eighths);
        weight_tile[weight_to_$i] = Operand(w_$i.low);
        weight_tile[weight_to_$i + 1u] = Operand(w_$i.high);
#end
        workgroupBarrier();
        for (var k = 0u; k < STEP4; k++) {
#repeat c 8
            let b_$c = vec4f(weight_tile[(local.x + 8u * $cu) * PITCH + k]);
#end
#repeat r THREAD_ROWS
            let a_$r = vec4f(input_tile[(local.y + $ru * $GRID_ROWSu) * PITCH + k]);
            sums_$r_0 += vec4f(dot(a_$r, b_0), dot(a_$r, b_1), dot(a_$r, b_2), dot(a_$r, b_3));
            sums_$r_1 += vec4f(dot(a_$r, b_4), dot(a_$r, b_5), dot(a_$r, b_6), dot(a_$r, b_7));
#end
        }
        workgroupBarrier();
    }

#if NORM
#repeat i INPUT_LOADS
#if HALF
    squares_tile[input_to_$i] = squares_$i;
#else
    input_tile[input_to_$i].x = squares_$i;
#end
#end
    workgroupBarrier();
#repeat r THREAD_ROWS
    {
        let tile_row = local.y + $ru * $GRID_ROWSu;
        var squares = 0.0;
        for (var k = 0u; k < STEP4; k++) {
#if HALF
            squares += squares_tile[tile_row * PITCH + k];
#else
            squares += input_tile[tile_row * PITCH + k].x;
#end
        }
        let scale = inverseSqrt(squares / params.width + params.epsilon);
        sums_$r_0 *= scale;
        sums_$r_1 *= scale;
    }
#end
#end
#if ADAPTER
    // Few inputs: not worth the way through workgroup memory.
#repeat c 8
    let widening_from_$c = (params.first_row + min(first_weight_row + local.x + 8u * $cu, params.weight_rows - 1u)) * params.narrow4;
#end
#repeat r THREAD_ROWS
    let narrow_from_$r = input_row(first_row + local.y + $ru * $GRID_ROWSu) * params.narrow4;
#end
    for (var k = 0u; k < params.narrow4; k++) {
#repeat c 8
        let b_$c = widening[widening_from_$c + k];
#end
#repeat r THREAD_ROWS
        let a_$r = narrow[narrow_from_$r + k];
        sums_$r_0 += vec4f(dot(a_$r, b_0), dot(a_$r, b_1), dot(a_$r, b_2), dot(a_$r, b_3));
        sums_$r_1 += vec4f(dot(a_$r, b_4), dot(a_$r, b_5), dot(a_$r, b_6), dot(a_$r, b_7));
#end
    }
#end
#import finish_tile
}
