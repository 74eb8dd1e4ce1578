//! Reading GGUF files: the header first, then tensor by tensor; and writing small ones for tests.
//!
//! Nothing in a header is believed before it has been checked against the size of the file (P44): a file
//! of a kilobyte can't ask for a gigabyte.

mod reader;
mod split;
mod write;

pub(crate) use reader::type_name;
pub use reader::{Extent, Gguf, Rows, TensorInfo};
pub use write::GgufWriter;

/// A metadata value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Any of the unsigned integer types.
    Unsigned(u64),
    /// Any of the signed integer types.
    Signed(i64),
    /// Either of the float types.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// Text.
    Text(String),
    /// An array of texts.
    Texts(Vec<String>),
    /// An array of numbers of 32 or 64 bits.
    Numbers(Vec<f64>),
    /// An array of integers of 8 or 16 bits, or of truth values (true is 1).
    SmallNumbers(Vec<i32>),
}

impl Value {
    /// What kind of value this is, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unsigned(_) | Self::Signed(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Bool(_) => "a truth value",
            Self::Text(_) => "a text",
            Self::Texts(_) => "an array of texts",
            Self::Numbers(_) => "an array of numbers",
            Self::SmallNumbers(_) => "an array of numbers of 8 or 16 bits or of truth values",
        }
    }
}
