//! How long the tokens of a prompt take on a backend.

use std::error::Error;
use std::path::Path;

use retort_lm::backend::{Backend, Batch, View};
use retort_lm::config::Config;
use retort_lm::cpu::CpuBackend;
use retort_lm::gguf::Gguf;
use retort_lm::gpu::GpuBackend;
use retort_lm::{FileSource, Flow, LmError};
use serde_json::{Value, json};

use crate::Stopwatch;

/// A backend that holds a model.
pub(crate) struct Loaded<B> {
    backend: B,
    config: Config,
}

pub(crate) fn cpu(path: &Path) -> Result<Loaded<CpuBackend>, LmError> {
    let mut source = FileSource::open(path)?;
    let gguf = Gguf::read(&mut source)?;
    let config = Config::read(&gguf, &mut source)?;
    let backend = pollster::block_on(CpuBackend::load(&gguf, &config, &mut source, &mut |_| Flow::Continue))?;
    Ok(Loaded { backend, config })
}

/// Loads, and computes a little, so that whatever is compiled or allocated at first use is there.
pub(crate) fn gpu(path: &Path) -> Result<Loaded<GpuBackend>, Box<dyn Error>> {
    let mut source = FileSource::open(path)?;
    let gguf = Gguf::read(&mut source)?;
    let config = Config::read(&gguf, &mut source)?;
    let gpu = pollster::block_on(GpuBackend::open())?;
    let mut go_on = |_| Flow::Continue;
    let backend = pollster::block_on(GpuBackend::load(gpu, &gguf, &config, &mut source, &mut go_on))?;
    let mut loaded = Loaded { backend, config };
    loaded.measure(&[1; 64])?;
    Ok(loaded)
}

impl<B: Backend> Loaded<B> {
    /// Computes the tokens one after the other, chunk by chunk, with logits at the last one.
    pub(crate) fn measure(&mut self, tokens: &[u32]) -> Result<Value, Box<dyn Error>> {
        pollster::block_on(self.backend.reserve(tokens.len(), 0))?;
        let stopwatch = Stopwatch::start();
        let mut done = 0;
        while done < tokens.len() {
            let end = (done + self.backend.chunk().max(1)).min(tokens.len());
            let first = u32::try_from(done)?;
            let rows = u32::try_from(end - done)?;
            let batch = Batch {
                first_slot: first,
                tokens: tokens[done..end].to_vec(),
                positions: (first..first + rows).collect(),
                views: vec![
                    View { prefix: first, trunk_start: first, trunk_end: first, own: first };
                    end - done
                ],
                outputs: if end == tokens.len() { vec![rows - 1] } else { Vec::new() },
                ..Batch::default()
            };
            let step = pollster::block_on(self.backend.forward(&batch, &mut |_| Flow::Continue))?;
            if step.logits.iter().any(|logit| !logit.is_finite()) {
                return Err("the logits are not finite".into());
            }
            done = end;
        }
        let mut answer = stopwatch.stop();
        answer["tokens"] = json!(tokens.len());
        answer["flops"] = json!(flops(&self.config, tokens.len()));
        Ok(answer)
    }
}

/// Multiplications and additions of a prompt of `tokens` tokens: every weight but the embedding once per token;
/// in each layer a score and a share for every pair of a token and one that it sees; the output layer once.
fn flops(config: &Config, tokens: usize) -> f64 {
    let tokens = tokens as f64;
    let table = (config.vocabulary * config.width) as f64;
    let tables = if config.tied_output { table } else { 2.0 * table };
    let weights = 2.0 * (config.parameters as f64 - tables) * tokens;
    let pairs = tokens * (tokens + 1.0) / 2.0;
    let attention = 4.0 * (config.layers * config.heads * config.head_size) as f64 * pairs;
    weights + attention + 2.0 * table
}
