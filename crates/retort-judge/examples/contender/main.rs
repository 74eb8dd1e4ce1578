//! One side of `cargo xtask bench`: measures what it is asked to, on a model that stays loaded.
//!
//! `contender MODEL.gguf` reads one JSON object a line from standard input ([`Ask`]) and answers each with one line:
//! what was measured, or `{"error": …}`. Who asks can so let several programs take turns, and none of them pays for
//! loading while another one is measured.

#![expect(clippy::disallowed_methods, reason = "it runs natively, and reads the clock")]

mod gpu_rate;
mod prefill;
mod texts;

use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use retort_checklist::Wanted;
use retort_judge::{NoObserver, Request, Wording, judge};
use retort_lm::cpu::CpuBackend;
use retort_lm::gpu::GpuBackend;
use retort_lm::{AnyBackend, BackendChoice, FileSource, Flow, Model};
use retort_rubric::Rubric;
use serde::Deserialize;
use serde_json::{Value, json};

/// What can be asked for.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum Ask {
    /// What judging runs on: `{device, architecture, parameters, quantization}`.
    Describe,
    /// What the GPU is: `{device, emulated}`.
    DescribeGpu,
    /// A request whose response, or whose whole prompt, has about so many tokens, and the same prompts as plain
    /// text: `{prompt, response, paths, tokens, response_tokens}`.
    Texts {
        response_tokens: Option<usize>,
        path_tokens: Option<usize>,
        rubrics: usize,
        #[serde(default)]
        wording: Wording,
    },
    /// A judgement with nothing in the cache: `{seconds, tokens, busy}`; `apart` asks one prompt per rubric.
    Judge {
        prompt: String,
        response: String,
        /// The first so many of the built-in rubrics, which are gone through again where they do not suffice.
        rubrics: usize,
        #[serde(default)]
        wording: Wording,
        #[serde(default)]
        apart: bool,
    },
    /// The tokens of a prompt, with the output layer at the last one only: `{seconds, tokens, busy, flops}`.
    Prefill {
        tokens: Vec<u32>,
        #[serde(default)]
        gpu: bool,
    },
    /// A checklist made for an instruction without a model, once: `{seconds, items}`.
    Checklist { instruction: String },
    /// The GPU's rate at a plain matrix product in f32: `{seconds, flops_per_second, kernel, size}`.
    GpuRate,
}

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: contender MODEL.gguf; then one JSON object a line on standard input");
        return ExitCode::from(2);
    };
    let mut contender = Contender { path: PathBuf::from(path), model: None, cpu: None, gpu: None };
    for line in std::io::stdin().lines() {
        let Ok(line) = line else { return ExitCode::FAILURE };
        let answer = serde_json::from_str(&line)
            .map_err(Into::into)
            .and_then(|ask| contender.answer(ask))
            .unwrap_or_else(|error: Box<dyn Error>| json!({ "error": error.to_string() }));
        let mut out = std::io::stdout().lock();
        // Nobody who listens any more needs an answer.
        if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}

/// What has been loaded so far; each at the first question that needs it.
struct Contender {
    path: PathBuf,
    model: Option<Model<AnyBackend>>,
    cpu: Option<prefill::Loaded<CpuBackend>>,
    gpu: Option<prefill::Loaded<GpuBackend>>,
}

impl Contender {
    fn answer(&mut self, ask: Ask) -> Result<Value, Box<dyn Error>> {
        match ask {
            Ask::Describe => {
                let model = self.model()?;
                let config = model.config();
                Ok(json!({
                    "device": model.backend().placement().device,
                    "architecture": config.architecture,
                    "parameters": config.parameters,
                    "quantization": config.quantization,
                }))
            }
            Ask::DescribeGpu => {
                let gpu = pollster::block_on(GpuBackend::open())?;
                Ok(json!({ "device": gpu.device, "emulated": gpu.is_software() }))
            }
            Ask::Texts { response_tokens, path_tokens, rubrics, wording } => {
                texts::texts(self.model()?, response_tokens, path_tokens, &first(rubrics), wording)
            }
            Ask::Judge { prompt, response, rubrics, wording, apart } => {
                let request =
                    Request { prompt, response, rubrics: first(rubrics), wording, ..Request::default() };
                judged(self.model()?, &request, apart)
            }
            Ask::Prefill { tokens, gpu: false } => {
                let loaded = match &mut self.cpu {
                    Some(loaded) => loaded,
                    none => none.insert(prefill::cpu(&self.path)?),
                };
                loaded.measure(&tokens)
            }
            Ask::Prefill { tokens, gpu: true } => {
                let loaded = match &mut self.gpu {
                    Some(loaded) => loaded,
                    none => none.insert(prefill::gpu(&self.path)?),
                };
                loaded.measure(&tokens)
            }
            Ask::Checklist { instruction } => Ok(checklist(&instruction)),
            Ask::GpuRate => gpu_rate::measure(),
        }
    }

    fn model(&mut self) -> Result<&mut Model<AnyBackend>, Box<dyn Error>> {
        match &mut self.model {
            Some(model) => Ok(model),
            none => {
                let source = FileSource::open(&self.path)?;
                let mut go_on = |_| Flow::Continue;
                let loading = retort_lm::load(Box::new(source), BackendChoice::Cpu, &mut go_on);
                Ok(none.insert(pollster::block_on(loading)?))
            }
        }
    }
}

fn checklist(instruction: &str) -> Value {
    let start = Instant::now();
    // As the page does: what the instruction needs chooses the skills that get items.
    let skills = retort_annotate::annotate(instruction).skills;
    let checklist = retort_checklist::generate(&Wanted { skills: &skills, ..Wanted::of(instruction) });
    json!({ "seconds": start.elapsed().as_secs_f64(), "items": checklist.items.len() })
}

fn first(rubrics: usize) -> Vec<Rubric> {
    retort_rubric::builtin().iter().cycle().take(rubrics).cloned().collect()
}

fn judged(model: &mut Model<AnyBackend>, request: &Request, apart: bool) -> Result<Value, Box<dyn Error>> {
    let requests: Vec<Request> = if apart {
        let single = |rubric: &Rubric| Request { rubrics: vec![rubric.clone()], ..request.clone() };
        request.rubrics.iter().map(single).collect()
    } else {
        vec![request.clone()]
    };
    let stopwatch = Stopwatch::start();
    let mut tokens = 0;
    for request in &requests {
        // As a caller who knows nothing of a shared beginning.
        model.forget();
        let judgement = pollster::block_on(judge(model, request, &mut NoObserver))?;
        if let Some(failure) = judgement.failure {
            return Err(failure.into());
        }
        if !judgement.truncations.is_empty() {
            return Err("the texts do not fit into the model's context".into());
        }
        tokens += judgement.usage.computed;
    }
    let mut answer = stopwatch.stop();
    answer["tokens"] = json!(tokens);
    Ok(answer)
}

/// Wall clock, and how many processors were at work meanwhile.
pub(crate) struct Stopwatch {
    start: Instant,
    processor: Option<f64>,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { processor: processor_seconds(), start: Instant::now() }
    }

    /// `{seconds, busy}`; `busy` is null where the system does not tell.
    pub(crate) fn stop(self) -> Value {
        let seconds = self.start.elapsed().as_secs_f64();
        let busy = self.processor.zip(processor_seconds()).map(|(before, after)| (after - before) / seconds);
        json!({ "seconds": seconds, "busy": busy })
    }
}

/// The processor time of this process in all its threads, where Linux tells it: fields 14 and 15 of proc(5)'s
/// `stat`, in hundredths of a second. The name in field 2 may hold spaces, and ends with the last parenthesis.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}
