//! From a file to a model on the backend that suits it, and from a backend that fails to one that does not.

use serde::{Deserialize, Serialize};

use crate::backend::{Backend, Batch, Step};
use crate::config::Config;
use crate::cpu::CpuBackend;
use crate::gguf::Gguf;
use crate::gpu::{Gpu, GpuBackend};
use crate::model::Parts;
use crate::{Adapter, ByteSource, Flow, LmError, Model};

/// Which backend somebody wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackendChoice {
    /// The GPU where there is a real one that passes its self-check, else the CPU.
    #[default]
    Auto,
    /// The GPU, even one that is emulated in software; an error where there is none.
    Gpu,
    /// The CPU.
    Cpu,
}

/// How a model is to be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadOptions {
    /// Which backend is wanted.
    pub backend: BackendChoice,
    /// What [`Placement::tuning`] said on this machine before, so that the GPU need not be measured again.
    pub tuning: Option<String>,
}

impl From<BackendChoice> for LoadOptions {
    fn from(backend: BackendChoice) -> Self {
        Self { backend, tuning: None }
    }
}

/// Which backend runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackendKind {
    /// WGSL through wgpu.
    Gpu,
    /// Integer kernels on the processor.
    Cpu,
}

/// What loading is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadStage {
    /// Reading metadata, building the tokenizer.
    Header,
    /// Reading weights.
    Weights,
    /// Checking the GPU's arithmetic.
    Check,
}

/// How far loading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LoadProgress {
    /// What is being done.
    pub stage: LoadStage,
    /// Bytes of weights handled.
    pub loaded_bytes: u64,
    /// Bytes of weights in all, or the file's size while that is not known.
    pub total_bytes: u64,
}

/// Where a model runs, and why there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The backend.
    pub backend: BackendKind,
    /// A sentence for people.
    pub reason: String,
    /// The GPU or CPU, as far as it is known.
    pub device: String,
    /// What was measured on a GPU, to be kept and given to the next load ([`LoadOptions::tuning`]).
    pub tuning: Option<String>,
}

/// Either backend, with what is needed to change over to the CPU in mid-run.
pub struct AnyBackend {
    running: Running,
    placement: Placement,
    gguf: Gguf,
    config: Config,
    source: Box<dyn ByteSource>,
    /// What is applied, so that another backend can go on with it.
    adapter: Option<Adapter>,
}

enum Running {
    Cpu(Box<CpuBackend>),
    Gpu(Box<GpuBackend>),
}

impl AnyBackend {
    /// Where the model runs now.
    #[must_use]
    pub fn placement(&self) -> &Placement {
        &self.placement
    }
}

/// Reads a model and puts it on a backend.
///
/// # Errors
/// Whatever is wrong with the file; [`LmError::NoGpu`] or [`LmError::Gpu`] where the GPU was demanded and
/// cannot be used; [`LmError::Cancelled`] when `on_progress` says [`Flow::Stop`].
pub async fn load(
    mut source: Box<dyn ByteSource>,
    options: impl Into<LoadOptions>,
    on_progress: &mut dyn FnMut(LoadProgress) -> Flow,
) -> Result<Model<AnyBackend>, LmError> {
    let LoadOptions { backend: choice, tuning } = options.into();
    let total_bytes = source.size();
    let mut report = |stage, loaded_bytes| on_progress(LoadProgress { stage, loaded_bytes, total_bytes });
    if report(LoadStage::Header, 0) == Flow::Stop {
        return Err(LmError::Cancelled);
    }
    let mut gguf = Gguf::read(&mut *source)?;
    if gguf.text("general.type")? == Some("adapter") {
        return Err(LmError::Unsupported {
            name: gguf.name.clone(),
            what: "an adapter in place of a model".into(),
            instead: "load the model that it was made for, and then apply this file as its adapter".into(),
        });
    }
    let config = Config::read(&gguf, &mut *source)?;
    // The tokenizer and the template are checked before a hundred megabytes are read.
    let parts = Parts::read(&gguf, &config, &mut *source)?;
    // Before the weights, which then take its place in memory.
    gguf.forget_vocabulary();

    let (gpu, reason) = match choice {
        BackendChoice::Cpu => (None, "You chose the CPU.".to_owned()),
        BackendChoice::Gpu => (Some(GpuBackend::open().await?), "You chose the GPU.".to_owned()),
        BackendChoice::Auto => match GpuBackend::open().await {
            Ok(gpu) if gpu.is_software() => {
                let device = gpu.device.clone();
                (None, format!("The only GPU is emulated in software ({device}); the CPU is faster."))
            }
            Ok(gpu) => (Some(gpu), "This machine has a GPU that can be used.".to_owned()),
            Err(error) => (None, format!("The CPU runs the model because there is {error}.")),
        },
    };
    let (running, reason) = match gpu {
        None => (None, reason),
        Some(gpu) => match on_gpu(gpu, tuning, &gguf, &config, &parts, &mut *source, &mut report).await {
            Ok(backend) => (Some(Running::Gpu(Box::new(backend))), reason),
            Err(error) if choice == BackendChoice::Auto && is_the_gpus(&error) => {
                (None, format!("The GPU cannot be used, so the CPU runs the model: {error}."))
            }
            Err(error) => return Err(error),
        },
    };
    let running = match running {
        Some(running) => running,
        None => {
            let mut on_bytes = |bytes| report(LoadStage::Weights, bytes);
            Running::Cpu(Box::new(CpuBackend::load(&gguf, &config, &mut *source, &mut on_bytes).await?))
        }
    };
    let placement = running.placement(reason);
    let backend = AnyBackend { running, placement, gguf, config: config.clone(), source, adapter: None };
    Ok(Model::assemble(parts, config, backend))
}

/// What the logits of a GPU are checked on: words, digits and a line break.
const PROBE: &str = "The score of the answer, from 1 to 5, is\n";

/// Puts the model on the GPU, and believes the GPU only when every kernel that the model needs has given the
/// known answer on it, and the whole model the logits that the processor computes from the same file (P39).
async fn on_gpu(
    mut gpu: Gpu,
    tuning: Option<String>,
    gguf: &Gguf,
    config: &Config,
    parts: &Parts,
    source: &mut dyn ByteSource,
    report: &mut dyn FnMut(LoadStage, u64) -> Flow,
) -> Result<GpuBackend, LmError> {
    if let Some(tuning) = tuning {
        gpu.remember(&tuning);
    }
    let mut on_bytes = |bytes| report(LoadStage::Weights, bytes);
    let mut backend = GpuBackend::load(gpu, gguf, config, source, &mut on_bytes).await?;
    if report(LoadStage::Check, 0) == Flow::Stop {
        return Err(LmError::Cancelled);
    }
    backend.self_check_for().await?;
    let tokens = parts.encode(PROBE)?;
    let mut on_bytes = |bytes| report(LoadStage::Check, bytes);
    let right = CpuBackend::probe(gguf, config, source, &tokens, &mut on_bytes).await?;
    backend.logit_check(&right, &tokens).await?;
    Ok(backend)
}

/// Failures after which another backend may do better.
fn is_the_gpus(error: &LmError) -> bool {
    matches!(
        error,
        LmError::NoGpu { .. } | LmError::Gpu { .. } | LmError::OutOfMemory { .. } | LmError::NotFinite { .. }
    )
}

impl Running {
    fn placement(&self, reason: String) -> Placement {
        match self {
            Self::Cpu(backend) => {
                Placement { backend: BackendKind::Cpu, reason, device: backend.device(), tuning: None }
            }
            Self::Gpu(backend) => Placement {
                backend: BackendKind::Gpu,
                reason,
                device: backend.device(),
                tuning: backend.tuning(),
            },
        }
    }
}

impl Backend for AnyBackend {
    async fn forward(&mut self, batch: &Batch, tick: &mut dyn FnMut(f32) -> Flow) -> Result<Step, LmError> {
        match &mut self.running {
            Running::Cpu(backend) => backend.forward(batch, tick).await,
            Running::Gpu(backend) => backend.forward(batch, tick).await,
        }
    }

    async fn set_adapter(&mut self, adapter: Option<&Adapter>) -> Result<(), LmError> {
        self.adapter = None;
        match &mut self.running {
            Running::Cpu(backend) => backend.set_adapter(adapter).await,
            Running::Gpu(backend) => backend.set_adapter(adapter).await,
        }?;
        self.adapter = adapter.cloned();
        Ok(())
    }

    async fn reserve(&mut self, slots: usize, keep: usize) -> Result<(), LmError> {
        match &mut self.running {
            Running::Cpu(backend) => backend.reserve(slots, keep).await,
            Running::Gpu(backend) => backend.reserve(slots, keep).await,
        }
    }

    fn chunk(&self) -> usize {
        match &self.running {
            Running::Cpu(backend) => backend.chunk(),
            Running::Gpu(backend) => backend.chunk(),
        }
    }

    fn device(&self) -> String {
        self.placement.device.clone()
    }

    async fn recover(&mut self, failure: &LmError) -> Option<String> {
        if matches!(self.running, Running::Cpu(_)) || !is_the_gpus(failure) {
            return None;
        }
        let mut go_on = |_| Flow::Continue;
        let mut cpu = CpuBackend::load(&self.gguf, &self.config, &mut *self.source, &mut go_on).await.ok()?;
        cpu.set_adapter(self.adapter.as_ref()).await.ok()?;
        self.running = Running::Cpu(Box::new(cpu));
        let reason = format!("The GPU stopped in mid-run, so the CPU went on: {failure}.");
        self.placement = self.running.placement(reason.clone());
        Some(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Answer, AnswerOption, Branch, LanguageModel, MemorySource, PromptTree, Readout, Segments, Watch, tiny,
    };

    /// Takes the GPU away as soon as a branch has its answer.
    struct LoseAfter<'a> {
        lose: &'a dyn Fn(),
        answered: Vec<usize>,
    }

    impl Watch for LoseAfter<'_> {
        fn answered(&mut self, branch: usize, _answer: &Answer) {
            if self.answered.is_empty() {
                (self.lose)();
            }
            self.answered.push(branch);
        }
    }

    fn model(choice: BackendChoice) -> Model<AnyBackend> {
        let shape =
            tiny::Shape { layers: 1, kind: Some(crate::quant::TensorType::Q4_1), ..Default::default() };
        let source = MemorySource::new("tiny.gguf", tiny::gguf(shape, 3));
        pollster::block_on(load(Box::new(source), choice, &mut |_| Flow::Continue)).unwrap()
    }

    /// P38: a device lost between two branches; what was answered stands, the CPU answers the rest, and both
    /// agree with a run on the CPU alone.
    #[test]
    fn p38_the_cpu_goes_on_where_the_gpu_was_lost() {
        let branches: Vec<Branch> = (0..4)
            .map(|index| Branch {
                // Longer than half a batch, so that every branch is a step of its own.
                text: Segments::new().user(format!("{index}? {}", "is it so ".repeat(12))),
                readout: Readout::options(vec![AnswerOption::new("1"), AnswerOption::new("2")]),
            })
            .collect();
        let tree = PromptTree { prefix: Segments::new().user("A response."), branches };
        let mut cpu = model(BackendChoice::Cpu);
        let right = pollster::block_on(cpu.answer(&tree, &mut crate::NoWatch)).unwrap();

        let mut gpu = model(BackendChoice::Gpu);
        let Running::Gpu(running) = &gpu.backend().running else { panic!("it runs on the CPU") };
        let lose = running.device_loser();
        let mut watch = LoseAfter { lose: &lose, answered: Vec::new() };
        let answers = pollster::block_on(gpu.answer(&tree, &mut watch)).unwrap();

        assert_eq!(watch.answered, [0, 1, 2, 3], "every branch is answered once, in order");
        for (answer, right) in answers.iter().zip(&right) {
            for (found, right) in answer.log_probabilities.iter().zip(&right.log_probabilities) {
                assert!((found.exp() - right.exp()).abs() < 1e-3, "{found} and {right}");
            }
        }
        assert_eq!(gpu.backend().placement().backend, BackendKind::Cpu);
        let notices = gpu.take_notices();
        assert_eq!(notices.len(), 1);
        assert!(notices[0].starts_with("The GPU stopped in mid-run, so the CPU went on"), "{notices:?}");
    }
}
