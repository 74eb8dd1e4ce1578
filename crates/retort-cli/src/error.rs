//! Everything that can end the command.

/// Why the command ended without what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// A text argument could not be read.
    #[error("--{option}: {problem}")]
    Text {
        /// The option's name.
        option: &'static str,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A file of an option cannot be used.
    #[error("--{option} {path}: {problem}")]
    File {
        /// The option's name.
        option: &'static str,
        /// The file.
        path: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A rubric file could not be opened.
    #[error("{path}: {problem}; give a file of rubrics")]
    RubricFile {
        /// The file.
        path: String,
        /// What the system said.
        problem: std::io::Error,
    },
    /// A rubric file has mistakes.
    #[error("{0}")]
    Rubric(#[from] retort_rubric::ReadError),
    /// A checklist cannot be used.
    #[error("{0}")]
    Checklist(String),
    /// A file of another tool's rubrics cannot be used.
    #[error("{0}")]
    RubricImport(#[from] retort_formats::rubrics::ImportError),
    /// Rubrics cannot be written in another tool's format.
    #[error("{0}")]
    RubricExport(#[from] retort_formats::rubrics::ExportError),
    /// Rubrics cannot be written in our own format.
    #[error("{0}")]
    RubricWrite(#[from] retort_rubric::WriteError),
    /// Neither a file nor a built-in rubric.
    #[error("there is no file \"{what}\", and {problem}")]
    RubricName {
        /// What was asked for.
        what: String,
        /// Why it is no built-in rubric.
        problem: retort_rubric::SelectError,
    },
    /// A file of rubrics could not be written.
    #[error("{path} could not be written: {problem}; choose another file with --output")]
    RubricOutput {
        /// The file.
        path: String,
        /// What the system said.
        problem: std::io::Error,
    },
    /// A skill is not known.
    #[error("--skills: {0}")]
    Skills(#[from] retort_rubric::SelectError),
    /// The model cannot be had.
    #[error("{0}")]
    Model(#[from] retort_models::ModelError),
    /// The model's file could not be hashed.
    #[error("{path} could not be read: {problem}")]
    Hash {
        /// The file.
        path: String,
        /// What the system said.
        problem: std::io::Error,
    },
    /// The model cannot run.
    #[error("{0}")]
    Lm(#[from] retort_lm::LmError),
    /// Nothing was judged.
    #[error("{0}")]
    Judge(#[from] retort_judge::JudgeError),
    /// The judgement stopped before its end; what was ready has been printed.
    #[error("it stopped before its end: {0}. The scores above were ready")]
    Partial(retort_lm::LmError),
    /// There is no report.
    #[error("{0}")]
    Profile(#[from] crate::profile::ProfileError),
    /// An exam cannot be held, or its run not be kept.
    #[error("{0}")]
    Bench(#[from] crate::bench::BenchError),
    /// Nothing could be compared.
    #[error("{0}")]
    Agree(#[from] crate::agree::AgreeError),
    /// A task file of this program is wrong.
    #[error("{0}")]
    Task(#[from] retort_bench::TaskError),
    /// There is no mixture.
    #[error("{0}")]
    Mixture(#[from] retort_bench::mixture::MixtureError),
    /// The result could not be written as JSON.
    #[error("the result could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Standard output is closed or full.
    #[error("standard output: {0}")]
    Output(#[from] std::io::Error),
}
