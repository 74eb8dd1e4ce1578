//! Writes a tiny model with random weights:
//! `cargo run -p retort-lm --example tiny-gguf -- tiny.gguf [seed] [--option=value …]`.
//!
//! The options are those of [`Shape::with`], for example `--architecture=gemma3 --layers=7 --window=12`; and
//! `--adapter=FILE`, which writes a low-rank adapter for that model too (`--rank=4 --alpha=8`).
//!
//! With `--family` it also writes, beside the file, what tests need: the same model in parts
//! (`tiny-00001-of-00003.gguf` and so on), two adapters for it (`tiny-adapter.gguf`, `tiny-adapter-2.gguf`), one that says
//! how to set its probabilities right (`tiny-calibrated.gguf`), one for another base (`tiny-foreign.gguf`), and a reward
//! model (`tiny-reward.gguf`).

use std::process::ExitCode;

use retort_lm::gguf::Value;
use retort_lm::quant::TensorType;
use retort_lm::tiny::{AdapterShape, Shape, adapter_gguf, adapter_writer, gguf, writer};

/// Parts of the split model.
const PARTS: usize = 3;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Of everything the same temperature; the crate retort-judge reads it.
const CALIBRATION: &str = r#"{"form": 1, "rows": 30, "mixture_sha256": "", "scales": [],
    "other": {"temperature": 3, "rows": 30, "ece_before": 0.2, "ece_after": 0.1}}"#;

fn run() -> Result<(), String> {
    // One format, so that a browser whose GPU is emulated has few shaders to compile, and a context that a
    // test fills in seconds.
    let mut shape = Shape { kind: Some(TensorType::Q4_1), context: 2048, ..Shape::default() };
    let (mut adapter, mut adapter_path, mut family) = (AdapterShape::default(), None, false);
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
            "family" => family = true,
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
    if let Some(path) = adapter_path {
        write(&path, adapter_gguf(shape, adapter, seed))?;
    }
    if !family {
        return Ok(());
    }
    let stem = path.strip_suffix(".gguf").unwrap_or(path);
    let beside = |end: &str, bytes: Vec<u8>| write(&format!("{stem}-{end}.gguf"), bytes);
    let whole = writer(shape, seed);
    for (number, bytes) in (1..).zip(whole.finish_split(whole.tensors().div_ceil(PARTS))) {
        beside(&format!("{number:05}-of-{PARTS:05}"), bytes)?;
    }
    beside("adapter", adapter_gguf(shape, AdapterShape::default(), seed))?;
    // A weak one, which leaves something for the options, and says how to set their probabilities right.
    let weak = AdapterShape { alpha: 0.01, ..AdapterShape::default() };
    let mut calibrated = adapter_writer(shape, weak, seed);
    calibrated.set("retort.calibration", Value::Text(CALIBRATION.into()));
    beside("calibrated", calibrated.finish())?;
    beside("adapter-2", adapter_gguf(shape, AdapterShape::default(), seed + 1))?;
    let foreign = Shape { architecture: "qwen2", ..shape };
    beside("foreign", adapter_gguf(foreign, AdapterShape::default(), seed))?;
    beside("reward", gguf(Shape { head_outputs: 1, ..shape }, seed))
}
