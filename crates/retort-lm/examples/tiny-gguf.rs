//! Writes a tiny model with random weights: `cargo run -p retort-lm --example tiny-gguf -- tiny.gguf [seed]`.
//!
//! Beside it, for tests: the same model in parts (`tiny-00001-of-00003.gguf` and so on), an adapter for it
//! (`tiny-adapter.gguf`), one for another base (`tiny-foreign.gguf`), and a reward model (`tiny-reward.gguf`).

use std::path::Path;
use std::process::ExitCode;

use retort_lm::quant::TensorType;
use retort_lm::tiny::{self, AdapterShape, Shape};

/// Parts of the split model.
const PARTS: usize = 3;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else {
        eprintln!("usage: tiny-gguf FILE.gguf [SEED]");
        return ExitCode::from(2);
    };
    let seed = args.next().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    match write(Path::new(&path), seed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{path}, or a file beside it, could not be written: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(path: &Path, seed: u64) -> std::io::Result<()> {
    // One format, so that a browser whose GPU is emulated has few shaders to compile, and a context that a
    // test fills in seconds.
    let shape = Shape { kind: Some(TensorType::Q4_1), context: 2048, ..Shape::default() };
    let writer = tiny::writer(shape, seed);
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = |end: &str, bytes: Vec<u8>| std::fs::write(path.with_file_name(format!("{stem}-{end}.gguf")), bytes);
    std::fs::write(path, writer.finish())?;
    let parts = writer.finish_split(writer.tensors().div_ceil(PARTS));
    for (number, bytes) in (1..).zip(parts) {
        beside(&format!("{number:05}-of-{PARTS:05}"), bytes)?;
    }
    beside("adapter", tiny::adapter_gguf(shape, AdapterShape::default(), seed))?;
    let foreign = Shape { architecture: "qwen2", ..shape };
    beside("foreign", tiny::adapter_gguf(foreign, AdapterShape::default(), seed))?;
    beside("reward", tiny::gguf(Shape { head_outputs: 1, ..shape }, seed))
}
