//! A quantized language model from a GGUF file that answers a *prompt tree* with the probabilities of the
//! options asked for, or generates text.
//!
//! The steps, from a file to an answer:
//! 1. [`ByteSource`]: where the bytes come from.
//! 2. [`gguf::Gguf`]: the header, checked against the size of the file.
//! 3. [`config::Config`]: what the model's dimensions are.
//! 4. [`backend::Backend`]: the weights on some hardware, and one step of the transformer.
//! 5. [`tokenizer::Tokenizer`] and [`template::ChatTemplate`]: text to tokens, from the file's own metadata.
//! 6. [`Model`]: all of these behind [`LanguageModel`], the narrow waist; [`load`] makes one.

#![deny(missing_docs)]

pub mod adapter;
pub mod backend;
mod breath;
pub mod config;
pub mod cpu;
mod error;
pub mod gguf;
pub mod gpu;
mod head;
mod load;
pub mod matrices;
mod model;
mod plan;
pub mod quant;
pub mod reference;
mod source;
pub mod template;
mod text;
pub mod tiny;
pub mod tokenizer;
mod tree;

pub use adapter::Adapter;
pub use error::LmError;
pub use load::{
    AnyBackend, BackendChoice, BackendKind, LoadOptions, LoadProgress, LoadStage, Placement, load,
};
pub use model::{Model, TextParts};
#[cfg(not(target_arch = "wasm32"))]
pub use source::FileSource;
pub use source::{ByteSource, JoinedSource, MemorySource};
pub use text::{Segment, Segments};
pub use tree::*;
