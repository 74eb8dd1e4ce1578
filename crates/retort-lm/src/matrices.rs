//! The weight matrices of a block, and the tensors of a file that they lie in.

use crate::config::Config;
use crate::gguf::Rows;

/// A weight matrix of a block, which an adapter can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// From the stream to queries.
    Query,
    /// From the stream to keys.
    Key,
    /// From the stream to values.
    Value,
    /// From what attention gives back to the stream.
    AttentionOutput,
    /// From the stream to what the activation is applied to.
    Gate,
    /// From the stream to what the gate is multiplied with.
    Up,
    /// From the product back to the stream.
    Down,
}

/// A tensor of a block, and the matrices whose rows it has, one below the other.
///
/// This is all that backends and other readers need to know of files that keep several matrices in one tensor
/// ([`Config::fused`]): rows are whole blocks in every format, so each matrix is read by itself as it stands, and
/// no such file takes more memory than one that keeps them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stack {
    /// Its name within the block, without `.weight`.
    pub tensor: &'static str,
    /// What it holds, from its first row on.
    pub holds: &'static [Target],
}

impl Target {
    /// All of them, in the order of a block's computation.
    pub const ALL: [Self; 7] =
        [Self::Query, Self::Key, Self::Value, Self::AttentionOutput, Self::Gate, Self::Up, Self::Down];

    /// Inputs and outputs of the matrix.
    #[must_use]
    pub fn shape(self, config: &Config) -> (usize, usize) {
        match self {
            Self::Query => (config.width, config.query_width()),
            Self::Key | Self::Value => (config.width, config.kv_width()),
            Self::AttentionOutput => (config.query_width(), config.width),
            Self::Gate | Self::Up => (config.width, config.feed_forward),
            Self::Down => (config.feed_forward, config.width),
        }
    }

    /// The tensor that it lies in.
    #[must_use]
    pub const fn stack(self, config: &Config) -> Stack {
        use Target::{AttentionOutput, Down, Gate, Key, Query, Up, Value};
        let (tensor, holds): (_, &'static [Self]) = match (config.fused, self) {
            (true, Query | Key | Value) => ("attn_qkv", &[Query, Key, Value]),
            (true, Gate | Up) => ("ffn_up", &[Gate, Up]),
            (false, Query) => ("attn_q", &[Query]),
            (false, Key) => ("attn_k", &[Key]),
            (false, Value) => ("attn_v", &[Value]),
            (false, Gate) => ("ffn_gate", &[Gate]),
            (false, Up) => ("ffn_up", &[Up]),
            (_, AttentionOutput) => ("attn_output", &[AttentionOutput]),
            (_, Down) => ("ffn_down", &[Down]),
        };
        Stack { tensor, holds }
    }

    /// The tensor with its bias, in models that have one. None of those keep their matrices fused.
    #[must_use]
    pub fn bias(self, config: &Config, layer: usize) -> Option<String> {
        let has_bias = match self {
            Self::Query | Self::Key | Self::Value => config.biases.projections,
            Self::AttentionOutput => config.biases.attention_output,
            Self::Gate | Self::Up | Self::Down => false,
        };
        has_bias.then(|| format!("blk.{layer}.{}.bias", self.stack(config).tensor))
    }

    /// Where the file has its rows.
    #[must_use]
    pub fn rows(self, config: &Config, layer: usize) -> Rows {
        let stack = self.stack(config);
        let before = stack.holds.iter().take_while(|other| **other != self);
        let first: usize = before.map(|other| other.shape(config).1).sum();
        Rows {
            tensor: format!("blk.{layer}.{}.weight", stack.tensor),
            shape: stack.shape(config),
            rows: first..first + self.shape(config).1,
        }
    }
}

impl Stack {
    /// Inputs and outputs of the whole tensor.
    #[must_use]
    pub fn shape(&self, config: &Config) -> [usize; 2] {
        let shapes = self.holds.iter().map(|target| target.shape(config));
        shapes.fold([0, 0], |[_, rows], (inputs, outputs)| [inputs, rows + outputs])
    }
}
