//! What is refused.

/// Why there is no profile.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A score that is no number, or lies outside its scale.
    #[error(
        "the score {value} of prompt {id:?} by {rubric_id:?} does not lie on its scale of {min} to {max}; \
         correct it, or give it as unscored"
    )]
    Score {
        /// The row's id.
        id: String,
        /// The rubric.
        rubric_id: String,
        /// The score.
        value: f64,
        /// The scale's lower end.
        min: f64,
        /// The scale's upper end.
        max: f64,
    },
    /// A checklist's score that is no number from 0 to 1.
    #[error(
        "the checklist's score {value} of prompt {id:?} does not lie between 0 and 1; correct it, or leave it out"
    )]
    Checklist {
        /// The row's id.
        id: String,
        /// The score.
        value: f64,
    },
    /// A setting of the intervals is out of range.
    #[error("{0}")]
    Setting(#[from] retort_stats::InputError),
}
