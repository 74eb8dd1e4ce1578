//! FLASK's five levels of difficulty, defined in our own words.

use serde::{Deserialize, Serialize};

use crate::Domain;

/// How much an instruction demands of whoever answers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Difficulty {
    /// Level 1.
    SimpleLifestyle,
    /// Level 2.
    AdvancedLifestyle,
    /// Level 3.
    FormalEducation,
    /// Level 4.
    MajorLevel,
    /// Level 5.
    ExpertLevel,
}

/// Which wording of the difficulty levels applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifficultyVariant {
    /// For every domain but the two below.
    General,
    /// For [`Domain::Math`].
    Maths,
    /// For [`Domain::Coding`].
    Coding,
}

impl DifficultyVariant {
    /// The wording for an instruction whose first domain is this one.
    #[must_use]
    pub const fn of(domain: Domain) -> Self {
        match domain {
            Domain::Math => Self::Maths,
            Domain::Coding => Self::Coding,
            _ => Self::General,
        }
    }
}

impl Difficulty {
    /// All levels, easiest first.
    pub const ALL: [Self; 5] = [
        Self::SimpleLifestyle,
        Self::AdvancedLifestyle,
        Self::FormalEducation,
        Self::MajorLevel,
        Self::ExpertLevel,
    ];

    /// The level as a number, from 1 (simple lifestyle) to 5 (expert level).
    #[must_use]
    pub const fn level(self) -> u8 {
        match self {
            Self::SimpleLifestyle => 1,
            Self::AdvancedLifestyle => 2,
            Self::FormalEducation => 3,
            Self::MajorLevel => 4,
            Self::ExpertLevel => 5,
        }
    }

    /// The difficulty with this [`level`](Self::level), if it is 1 to 5.
    #[must_use]
    pub fn from_level(level: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|difficulty| difficulty.level() == level)
    }

    /// The name used in files, such as `formal_education`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::SimpleLifestyle => "simple_lifestyle",
            Self::AdvancedLifestyle => "advanced_lifestyle",
            Self::FormalEducation => "formal_education",
            Self::MajorLevel => "major_level",
            Self::ExpertLevel => "expert_level",
        }
    }

    /// The name shown to people, such as `Formal education`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SimpleLifestyle => "Simple lifestyle",
            Self::AdvancedLifestyle => "Advanced lifestyle",
            Self::FormalEducation => "Formal education",
            Self::MajorLevel => "Major level",
            Self::ExpertLevel => "Expert level",
        }
    }

    /// The difficulty with this [`id`](Self::id), if there is one.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|difficulty| difficulty.id() == id)
    }

    /// What the level means: one sentence.
    #[must_use]
    pub const fn definition(self, variant: DifficultyVariant) -> &'static str {
        use DifficultyVariant::{Coding, General, Maths};
        match (self, variant) {
            (Self::SimpleLifestyle, General) => {
                "Anyone can answer it from everyday life, without schooling or looking anything up."
            }
            (Self::AdvancedLifestyle, General) => {
                "An everyday matter that needs experience, judgement or some reading up."
            }
            (Self::FormalEducation, General) => {
                "Needs what school teaches, up to the end of secondary education."
            }
            (Self::MajorLevel, General) => "Needs what a student of the subject learns at university.",
            (Self::ExpertLevel, General) => {
                "Needs the knowledge of a practitioner or researcher, beyond a degree course."
            }
            (Self::SimpleLifestyle, Maths) => "Counting or simple sums, as in shopping or sharing.",
            (Self::AdvancedLifestyle, Maths) => {
                "Percentages, units, rates or small puzzles from daily life, in a few steps."
            }
            (Self::FormalEducation, Maths) => {
                "School mathematics: algebra, geometry, functions, elementary probability."
            }
            (Self::MajorLevel, Maths) => {
                "University mathematics: analysis, linear algebra, abstract structures, inference."
            }
            (Self::ExpertLevel, Maths) => {
                "Olympiad or research mathematics, where the approach itself has to be found."
            }
            (Self::SimpleLifestyle, Coding) => {
                "Reading or changing a line or two, without any knowledge of algorithms."
            }
            (Self::AdvancedLifestyle, Coding) => {
                "A short script with loops and conditions, or the use of a common tool."
            }
            (Self::FormalEducation, Coding) => {
                "A first programming course: functions, basic data structures, standard algorithms."
            }
            (Self::MajorLevel, Coding) => {
                "Computer science study: algorithm design, concurrency, databases, larger programs."
            }
            (Self::ExpertLevel, Coding) => {
                "Professional depth: system internals, hard optimisation, security, new algorithms."
            }
        }
    }
}
