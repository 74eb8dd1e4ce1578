//! Why a model could not be read or run, in words that say what to do about it.

/// What can go wrong below the waist.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LmError {
    /// The file does not begin as a GGUF file does.
    #[error("{name} is not a GGUF file: it begins with {found}; choose a file whose name ends in .gguf")]
    NotGguf {
        /// The file's name.
        name: String,
        /// The first bytes, readable.
        found: String,
    },
    /// The file ends before what its header promises.
    #[error(
        "{name} is cut short: {what} needs bytes up to {needed}, and the file has {size}; download it again"
    )]
    Truncated {
        /// The file's name.
        name: String,
        /// What was being read.
        what: String,
        /// Where the file would have to reach, in bytes.
        needed: u64,
        /// The file's size in bytes.
        size: u64,
    },
    /// A split model of which parts are missing, doubled, out of order or of another model.
    #[error("{name} belongs to a split model that is not whole: {problem}")]
    Split {
        /// The name of the part's file.
        name: String,
        /// What is wrong, and what would do.
        problem: String,
    },
    /// The header says something impossible.
    #[error("{name} is damaged: {field}: {problem}; download it again or convert the model anew")]
    Damaged {
        /// The file's name.
        name: String,
        /// The header field, metadata key or tensor.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A metadata key that this model needs is absent.
    #[error("{name} has no \"{key}\" in its metadata; {supplied_by}")]
    MissingKey {
        /// The file's name.
        name: String,
        /// The metadata key.
        key: String,
        /// What would bring it.
        supplied_by: String,
    },
    /// A tensor that the architecture needs is absent or has another shape.
    #[error("{name}: tensor \"{tensor}\": {problem}; the file does not hold a whole {architecture} model")]
    Tensor {
        /// The file's name.
        name: String,
        /// The tensor's name.
        tensor: String,
        /// What is wrong with it.
        problem: String,
        /// The model's architecture.
        architecture: String,
    },
    /// A format, architecture or feature that this engine does not run.
    #[error("{name}: {what} is not supported; {instead}")]
    Unsupported {
        /// The file's name.
        name: String,
        /// What is not supported.
        what: String,
        /// What would work.
        instead: String,
    },
    /// An adapter that cannot be applied to the loaded model.
    #[error("the adapter {name} cannot be applied: {problem}")]
    Adapter {
        /// The adapter's file name.
        name: String,
        /// What is wrong with it, and what would do.
        problem: String,
    },
    /// The bytes could not be read at all.
    #[error("{name} could not be read at byte {offset}: {problem}")]
    Read {
        /// The file's name.
        name: String,
        /// Where in the file.
        offset: u64,
        /// What the system said.
        problem: String,
    },
    /// The model's chat template cannot express this conversation.
    #[error("the model's chat template failed: {problem}")]
    Template {
        /// What the template engine or the check said.
        problem: String,
    },
    /// The texts do not fit into the model's context.
    #[error("the text is {tokens} tokens long and the model holds {context}; shorten it")]
    TooLong {
        /// Tokens needed.
        tokens: usize,
        /// Tokens that the model's context holds.
        context: usize,
    },
    /// A question that cannot be asked.
    #[error("the question cannot be asked: {problem}")]
    Question {
        /// What is wrong with it.
        problem: String,
    },
    /// There is no GPU, or none that can be used.
    #[error("no usable GPU: {problem}")]
    NoGpu {
        /// Why.
        problem: String,
    },
    /// The GPU stopped working or computed something wrong.
    #[error("the GPU failed: {problem}; run on the CPU instead")]
    Gpu {
        /// What happened.
        problem: String,
    },
    /// There is not enough memory.
    #[error("out of memory: {what}; close other pages or choose a smaller model")]
    OutOfMemory {
        /// What was being allocated.
        what: String,
    },
    /// The numbers that came out are not numbers.
    #[error("the model computed a value that is not a number ({at}); its file may be damaged")]
    NotFinite {
        /// Where.
        at: String,
    },
    /// The tensor library reported an error.
    #[error("computing failed: {problem}")]
    Compute {
        /// What it said.
        problem: String,
    },
    /// Somebody cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl LmError {
    /// A stable name for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotGguf { .. } => "not_gguf",
            Self::Truncated { .. } => "truncated_file",
            Self::Split { .. } => "split_model",
            Self::Damaged { .. } => "damaged_file",
            Self::MissingKey { .. } => "missing_key",
            Self::Tensor { .. } => "wrong_tensor",
            Self::Unsupported { .. } => "unsupported",
            Self::Adapter { .. } => "wrong_adapter",
            Self::Read { .. } => "unreadable",
            Self::Template { .. } => "template",
            Self::TooLong { .. } => "too_long",
            Self::Question { .. } => "question",
            Self::NoGpu { .. } => "no_gpu",
            Self::Gpu { .. } => "gpu_failed",
            Self::OutOfMemory { .. } => "out_of_memory",
            Self::NotFinite { .. } => "not_finite",
            Self::Compute { .. } => "compute",
            Self::Cancelled => "cancelled",
        }
    }
}
