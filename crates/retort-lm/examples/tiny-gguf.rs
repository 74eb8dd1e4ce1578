//! Writes a tiny model with random weights: `cargo run -p retort-lm --example tiny-gguf -- tiny.gguf [seed]`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else {
        eprintln!("usage: tiny-gguf FILE [SEED]");
        return ExitCode::from(2);
    };
    let seed = args.next().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let bytes = retort_lm::tiny::gguf(retort_lm::tiny::Shape::default(), seed);
    match std::fs::write(&path, bytes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{path} could not be written: {error}");
            ExitCode::FAILURE
        }
    }
}
