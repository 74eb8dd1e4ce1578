// The factor of the RMS norm of a row: what its numbers are multiplied by beside the norm's weights.

var<workgroup> squares: array<f32, 64>;

// For the row of `input` that begins at `start` and has `count` vectors. Has barriers: call it from all 64 threads.
fn norm_factor(start: u32, count: u32, thread: u32) -> f32 {
    var own = 0.0;
    for (var i = thread; i < count; i += 64u) {
        let x = input[start + i];
        own += dot(x, x);
    }
    squares[thread] = own;
    for (var distance = 32u; distance > 0u; distance /= 2u) {
        workgroupBarrier();
        if thread < distance {
            squares[thread] += squares[thread + distance];
        }
    }
    workgroupBarrier();
    return inverseSqrt(squares[0] / params.width + params.epsilon);
}
