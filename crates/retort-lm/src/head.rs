//! Reward models, classifiers and rerankers: a small head on the last token's state.

use crate::config::Config;
use crate::cpu::rms_norm;
use crate::gguf::Gguf;
use crate::{ByteSource, LmError};

/// The weights of a file's own head. They are small and stay in f32 on the processor, whichever backend runs.
pub(crate) struct HeadWeights {
    norm: Vec<f32>,
    epsilon: f32,
    /// A layer with tanh between the state and the outputs.
    inner: Option<Linear>,
    outputs: Linear,
}

struct Linear {
    /// Row after row.
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl HeadWeights {
    pub(crate) fn read(
        gguf: &Gguf,
        config: &Config,
        source: &mut dyn ByteSource,
    ) -> Result<Option<Self>, LmError> {
        let Some(head) = &config.head else { return Ok(None) };
        let mut bytes = Vec::new();
        let mut read = |name: &str, shape: &[usize]| -> Result<Vec<f32>, LmError> {
            let kind = gguf.read_tensor(source, name, shape, &mut bytes)?;
            let mut values = vec![0.0; shape.iter().product()];
            kind.dequantize(&bytes, &mut values);
            Ok(values)
        };
        let mut linear = |name: &str, inputs: usize, outputs: usize| -> Result<Linear, LmError> {
            let bias = format!("{}bias", name.trim_end_matches("weight"));
            Ok(Linear {
                weights: read(name, &[inputs, outputs])?,
                bias: match gguf.tensor(&bias) {
                    Some(_) => read(&bias, &[outputs])?,
                    None => vec![0.0; outputs],
                },
            })
        };
        let inner = match head.inner {
            Some(inner) => Some(linear("cls.weight", config.width, inner)?),
            None => None,
        };
        let outputs = linear(head.tensor, head.inner.unwrap_or(config.width), head.outputs)?;
        let norm = read("output_norm.weight", &[config.width])?;
        Ok(Some(Self { norm, epsilon: config.norm_epsilon, inner, outputs }))
    }

    /// What the head gives for the state that leaves the last block.
    pub(crate) fn apply(&self, state: &[f32]) -> Vec<f32> {
        let mut x = Vec::new();
        rms_norm(state, &self.norm, self.epsilon, &mut x);
        if let Some(inner) = &self.inner {
            x = inner.apply(&x).into_iter().map(libm::tanhf).collect();
        }
        self.outputs.apply(&x)
    }
}

impl Linear {
    fn apply(&self, x: &[f32]) -> Vec<f32> {
        let rows = self.weights.chunks_exact(x.len());
        rows.zip(&self.bias).map(|(row, bias)| crate::cpu::dot(row, x) + bias).collect()
    }
}
