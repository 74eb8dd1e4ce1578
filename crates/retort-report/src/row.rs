//! What a profile is made of: one row for each judged response.

use retort_rubric::Annotation;
use retort_stats::Scale;

/// The judgement of one response.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What names the prompt: a number, a name, or the hash of its text. Rows with the same id are about the same
    /// prompt; as evidence they are one, and an interval draws them together.
    pub id: String,
    /// Whose responses these are. Rows of different models are profiled side by side.
    pub model: Option<String>,
    /// What was found, rubric by rubric.
    pub scores: Vec<SkillScore>,
    /// What the prompt asks for, where somebody said so.
    pub annotation: Option<Annotation>,
    /// What became of the checklist, where there was one.
    pub checklist: Option<ChecklistCounts>,
    /// The length of the response in words, where its text is known.
    pub words: Option<usize>,
    /// Who judged, where the file says so.
    pub judge: Option<String>,
    /// How much of each rubric the judge read, where the file says so.
    pub wording: Option<String>,
    /// Whether a text was cut to fit the judge's context.
    pub truncated: bool,
}

impl Row {
    /// A row with these scores and nothing else.
    #[must_use]
    pub fn new(id: impl Into<String>, model: Option<String>, scores: Vec<SkillScore>) -> Self {
        Self {
            id: id.into(),
            model,
            scores,
            annotation: None,
            checklist: None,
            words: None,
            judge: None,
            wording: None,
            truncated: false,
        }
    }
}

/// What one rubric said of one response.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillScore {
    /// The rubric's id; for FLASK's skills that of the skill.
    pub rubric_id: String,
    /// The rubric's name for people.
    pub rubric_name: Option<String>,
    /// The hash of the rubric, where the file has it. Scores under different wordings are not the same measure (P31).
    pub rubric_sha256: Option<String>,
    /// The score, or why there is none.
    pub score: Score,
}

/// A score, or why there is none. The two reasons are different things: a rubric that does not apply is an answer,
/// and a score that could not be had is a gap.
#[derive(Debug, Clone, PartialEq)]
pub enum Score {
    /// The score: finite, and within its scale.
    Value {
        /// In the scale's own unit.
        value: f64,
        /// The ends of the scale.
        scale: Scale,
    },
    /// The rubric does not apply to this response ("N/A").
    NotApplicable,
    /// There is no score.
    Unscored {
        /// Why: one sentence or a short name.
        why: String,
    },
}

/// What became of a checklist's items.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChecklistCounts {
    /// The checklist's score, 0 to 1; `None` where no item could be decided.
    pub score: Option<f64>,
    /// Items that code decided.
    pub verified: usize,
    /// Items that a model or a person decided.
    pub judged: usize,
    /// Items that do not apply.
    pub not_applicable: usize,
    /// Items without an answer.
    pub unscored: usize,
    /// Items that are met.
    pub met: usize,
}
