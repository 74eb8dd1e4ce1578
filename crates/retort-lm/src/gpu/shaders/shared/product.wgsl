// What both shapes of the product share: its bindings, and what becomes of a finished sum.
#import weights

struct Params {
    // Rows of the input that are computed.
    rows: u32,
    // Columns of the output that this matrix gives; for SwiGLU half as many as the matrix has rows.
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
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read> input: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;
#if NORM
@group(0) @binding(5) var<storage, read> norm_weights: array<vec4f>;
#end
#if GATHER
// Which row of the input each row of the output is made from.
@group(0) @binding(6) var<storage, read> picks: array<u32>;
#end

fn input_row(row: u32) -> u32 {
    // Rows beyond the last are computed from the last and never stored.
    let within = min(row, params.rows - 1u);
#if GATHER
    return picks[within];
#else
    return within;
#end
}

#if SWIGLU
// Gate and up rows alternate in blocks of eight.
fn finish(row: u32, column: u32, gate: f32, up: f32) {
    if row < params.rows && column < params.columns {
        output[row * params.stride + params.first_column + column] = gate / (1.0 + exp(-gate)) * up;
    }
}
#else
fn finish(row: u32, column: u32, sum: f32) {
    if row < params.rows && column < params.columns {
        let at = row * params.stride + params.first_column + column;
#if RESIDUAL
        output[at] += sum;
#else
        output[at] = sum;
#end
    }
}
#end
