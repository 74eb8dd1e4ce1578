//! Writes a tiny model with random weights: `cargo run -p retort-lm --example tiny-gguf -- tiny.gguf [seed]`.

use std::process::ExitCode;

use retort_lm::quant::TensorType;
use retort_lm::tiny::Shape;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else {
        eprintln!("usage: tiny-gguf FILE [SEED]");
        return ExitCode::from(2);
    };
    let seed = args.next().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    // One format, so that a browser whose GPU is emulated has few shaders to compile, and a context that a
    // test fills in seconds.
    let shape = Shape { kind: Some(TensorType::Q4_1), context: 2048, ..Shape::default() };
    let bytes = retort_lm::tiny::gguf(shape, seed);
    match std::fs::write(&path, bytes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{path} could not be written: {error}");
            ExitCode::FAILURE
        }
    }
}
