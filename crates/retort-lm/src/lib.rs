//! A quantized language model from a GGUF file that answers a *prompt tree* with the probabilities of the
//! options asked for, or generates text.
//!
//! The steps, from a file to an answer:
//! 1. [`ByteSource`]: where the bytes come from.
//! 2. [`gguf::Gguf`]: the header, checked against the size of the file.
//! 3. [`config::Config`]: what the model's dimensions are.
//! 4. [`backend::Backend`]: the weights on some hardware, and one step of the transformer.

#![deny(missing_docs)]

pub mod backend;
pub mod config;
mod error;
pub mod gguf;
pub mod gpu;
pub mod quant;
#[cfg(test)]
mod reference;
mod source;
mod text;
mod tree;

pub use error::LmError;
#[cfg(not(target_arch = "wasm32"))]
pub use source::FileSource;
pub use source::{ByteSource, MemorySource};
pub use text::{Segment, Segments};
pub use tree::*;
