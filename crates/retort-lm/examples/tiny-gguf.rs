//! Writes a tiny model with random weights:
//! `cargo run -p retort-lm --example tiny-gguf -- tiny.gguf [seed] [--option=value …]`.
//!
//! The options are those of [`Shape::with`], for example `--architecture=gemma3 --layers=7 --window=12`; and
//! `--adapter=FILE`, which writes a low-rank adapter for that model too (`--rank=4 --alpha=8`).

use std::process::ExitCode;

use retort_lm::quant::TensorType;
use retort_lm::tiny::{AdapterShape, Shape, adapter_gguf, gguf};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    // One format, so that a browser whose GPU is emulated has few shaders to compile, and a context that a
    // test fills in seconds.
    let mut shape = Shape { kind: Some(TensorType::Q4_1), context: 2048, ..Shape::default() };
    let (mut adapter, mut adapter_path) = (AdapterShape::default(), None);
    let mut places = Vec::new();
    for arg in std::env::args().skip(1) {
        let Some(option) = arg.strip_prefix("--") else {
            places.push(arg);
            continue;
        };
        let (name, value) = option.split_once('=').unwrap_or((option, "true"));
        let wrong = || format!("\"{value}\" is no value of --{name}");
        match name {
            "adapter" => adapter_path = Some(value.to_owned()),
            "rank" => adapter.rank = value.parse().map_err(|_| wrong())?,
            "alpha" => adapter.alpha = value.parse().map_err(|_| wrong())?,
            _ => shape = shape.with(name, value).map_err(|error| error.to_string())?,
        }
    }
    let (path, seed) = match &places[..] {
        [path] => (path, 1),
        [path, seed] => (path, seed.parse().map_err(|_| format!("\"{seed}\" is no seed"))?),
        _ => return Err("usage: tiny-gguf FILE [SEED] [--option=value …]".into()),
    };
    let write = |path: &str, bytes: Vec<u8>| {
        std::fs::write(path, bytes).map_err(|error| format!("{path} could not be written: {error}"))
    };
    write(path, gguf(shape, seed))?;
    match adapter_path {
        Some(path) => write(&path, adapter_gguf(shape, adapter, seed)),
        None => Ok(()),
    }
}
