// What all shapes of the product share: its bindings, and what becomes of a finished sum.
#import weights

struct Params {
    // Rows of the input that are computed.
    rows: u32,
    // Columns of the output that this matrix gives; of gate and up half as many as the matrix has rows.
    columns: u32,
    // Rows that the matrix has.
    weight_rows: u32,
    // Padded inputs / 4.
    inputs4: u32,
    // Distance between rows of the output.
    stride: u32,
    // Where in a row of the output the first column goes.
    first_column: u32,
    // Inputs that count for the norm: without the padding.
    width: f32,
    // Added to the mean square.
    epsilon: f32,
    // The output layer's sums become `cap × tanh(sum / cap)`; 0 for no cap.
    cap: f32,
    // Components between the two halves of an adapter / 4.
    narrow4: u32,
    // Which row of the adapter's second half belongs to the first weight row.
    first_row: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
#if DOTS
// Whole numbers of two digits, as `quantize` makes them.
@group(0) @binding(3) var<storage, read> input: array<vec4u>;
#else
@group(0) @binding(3) var<storage, read> input: array<vec4f>;
#end
@group(0) @binding(4) var<storage, read_write> output: array<f32>;
#if NORM
@group(0) @binding(5) var<storage, read> norm_weights: array<vec4f>;
#end
#if PICKED
// Which row of the input each row of the output is made from.
@group(0) @binding(6) var<storage, read> picks: array<u32>;
#end
#if BIAS
@group(0) @binding(7) var<storage, read> bias: array<f32>;
#end
#if ADAPTER
// What the adapter's first half made of each row of the input.
@group(0) @binding(8) var<storage, read> narrow: array<vec4f>;
// Its second half, with its scale: `narrow4` vectors per weight row.
@group(0) @binding(9) var<storage, read> widening: array<vec4f>;
#end

fn input_row(row: u32) -> u32 {
    // Rows beyond the last are computed from the last and never stored.
    let within = min(row, params.rows - 1u);
#if PICKED
    return picks[within];
#else
    return within;
#end
}

#if GATED
// Gate and up rows alternate in blocks of eight.
fn finish(row: u32, column: u32, gate: f32, up: f32) {
    if row < params.rows && column < params.columns {
#if GEGLU
        // GELU(x) is about x × sigmoid(2 √(2/π) (x + 0.044715 x³)): the tangent form, written without a tangent.
        let inner = 1.5957691216 * (gate + 0.044715 * gate * gate * gate);
#else
        let inner = gate;
#end
        // Beyond 80 the exponential would leave f32, and the result is 0 long before.
        output[row * params.stride + params.first_column + column] = gate / (1.0 + exp(min(-inner, 80.0))) * up;
    }
}
#else
fn finish(row: u32, column: u32, sum: f32) {
    if row < params.rows && column < params.columns {
        let at = row * params.stride + params.first_column + column;
#if BIAS
        let result = sum + bias[params.first_column + column];
#else
        let result = sum;
#end
#if RESIDUAL
        output[at] += result;
#else
#if OUTPUT
        if params.cap > 0.0 {
            // As in the attention: no tangent that may overflow.
            let falling = exp(-2.0 * abs(result) / params.cap);
            output[at] = sign(result) * params.cap * (1.0 - falling) / (1.0 + falling);
            return;
        }
#end
        output[at] = result;
#end
    }
}
#end
