//! FLASK's four abilities and the twelve skills that they divide into.

use serde::{Deserialize, Serialize};

/// One of FLASK's four abilities, each a group of skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ability {
    /// Reasoning: robust, correct, efficient.
    LogicalThinking,
    /// Knowing: facts and common sense.
    BackgroundKnowledge,
    /// Dealing with the instruction: understood, answered with insight, in full, within what can be known.
    ProblemHandling,
    /// Serving the reader: readable, concise, harmless.
    UserAlignment,
}

impl Ability {
    /// All abilities in FLASK's order.
    pub const ALL: [Self; 4] =
        [Self::LogicalThinking, Self::BackgroundKnowledge, Self::ProblemHandling, Self::UserAlignment];

    /// The name used in files, such as `logical_thinking`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::LogicalThinking => "logical_thinking",
            Self::BackgroundKnowledge => "background_knowledge",
            Self::ProblemHandling => "problem_handling",
            Self::UserAlignment => "user_alignment",
        }
    }

    /// The name shown to people, such as `Logical thinking`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LogicalThinking => "Logical thinking",
            Self::BackgroundKnowledge => "Background knowledge",
            Self::ProblemHandling => "Problem handling",
            Self::UserAlignment => "User alignment",
        }
    }

    /// The ability with this [`id`](Self::id), if there is one.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ability| ability.id() == id)
    }

    /// The skills of this ability, in FLASK's order.
    pub fn skills(self) -> impl Iterator<Item = Skill> {
        Skill::ALL.into_iter().filter(move |skill| skill.ability() == self)
    }
}

/// One of FLASK's twelve skills. The set is closed: other criteria are rubrics without a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skill {
    /// Do the steps hold in general?
    LogicalRobustness,
    /// Is the final answer right?
    LogicalCorrectness,
    /// Is the reasoning or code free of redundant steps?
    LogicalEfficiency,
    /// Are the facts accurate and, where it matters, supported?
    Factuality,
    /// Does it fit the everyday and physical world?
    CommonsenseUnderstanding,
    /// Does it meet every requirement of the instruction?
    Comprehension,
    /// Is it original?
    Insightfulness,
    /// Is the explanation broad and deep enough?
    Completeness,
    /// Does it know and say what it cannot know?
    Metacognition,
    /// Can a reader follow it easily?
    Readability,
    /// Is it free of what the reader does not need?
    Conciseness,
    /// Is it free of bias and danger, and does it name risks?
    Harmlessness,
}

impl Skill {
    /// All skills in FLASK's order, which is also the order of [`builtin`](crate::builtin).
    pub const ALL: [Self; 12] = [
        Self::LogicalRobustness,
        Self::LogicalCorrectness,
        Self::LogicalEfficiency,
        Self::Factuality,
        Self::CommonsenseUnderstanding,
        Self::Comprehension,
        Self::Insightfulness,
        Self::Completeness,
        Self::Metacognition,
        Self::Readability,
        Self::Conciseness,
        Self::Harmlessness,
    ];

    /// The name used in files and on the command line, such as `logical_robustness`; the id of the skill's
    /// built-in rubric.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::LogicalRobustness => "logical_robustness",
            Self::LogicalCorrectness => "logical_correctness",
            Self::LogicalEfficiency => "logical_efficiency",
            Self::Factuality => "factuality",
            Self::CommonsenseUnderstanding => "commonsense_understanding",
            Self::Comprehension => "comprehension",
            Self::Insightfulness => "insightfulness",
            Self::Completeness => "completeness",
            Self::Metacognition => "metacognition",
            Self::Readability => "readability",
            Self::Conciseness => "conciseness",
            Self::Harmlessness => "harmlessness",
        }
    }

    /// The name shown to people, such as `Logical robustness`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LogicalRobustness => "Logical robustness",
            Self::LogicalCorrectness => "Logical correctness",
            Self::LogicalEfficiency => "Logical efficiency",
            Self::Factuality => "Factuality",
            Self::CommonsenseUnderstanding => "Commonsense understanding",
            Self::Comprehension => "Comprehension",
            Self::Insightfulness => "Insightfulness",
            Self::Completeness => "Completeness",
            Self::Metacognition => "Metacognition",
            Self::Readability => "Readability",
            Self::Conciseness => "Conciseness",
            Self::Harmlessness => "Harmlessness",
        }
    }

    /// The ability that the skill belongs to.
    #[must_use]
    pub const fn ability(self) -> Ability {
        match self {
            Self::LogicalRobustness | Self::LogicalCorrectness | Self::LogicalEfficiency => {
                Ability::LogicalThinking
            }
            Self::Factuality | Self::CommonsenseUnderstanding => Ability::BackgroundKnowledge,
            Self::Comprehension | Self::Insightfulness | Self::Completeness | Self::Metacognition => {
                Ability::ProblemHandling
            }
            Self::Readability | Self::Conciseness | Self::Harmlessness => Ability::UserAlignment,
        }
    }

    /// The skill with this [`id`](Self::id), if there is one.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|skill| skill.id() == id)
    }
}
