//! FLASK's ten domains and their 38 sub-domains.

use serde::{Deserialize, Serialize};

/// What an instruction is about. An instruction has one domain, or two when it is ambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// Poetry and literature.
    Language,
    /// Art, sports, mass media, music and food.
    Culture,
    /// Body, medicine and nutrition.
    Health,
    /// The past.
    History,
    /// The natural sciences.
    NaturalScience,
    /// Mathematics, logic and statistics.
    Math,
    /// Economy, law and politics.
    SocialScience,
    /// Making and managing things.
    Technology,
    /// Programming.
    Coding,
    /// Mind, belief, teaching and conduct.
    Humanities,
}

impl Domain {
    /// All domains in FLASK's order.
    pub const ALL: [Self; 10] = [
        Self::Language,
        Self::Culture,
        Self::Health,
        Self::History,
        Self::NaturalScience,
        Self::Math,
        Self::SocialScience,
        Self::Technology,
        Self::Coding,
        Self::Humanities,
    ];

    /// The name used in files, such as `natural_science`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Language => "language",
            Self::Culture => "culture",
            Self::Health => "health",
            Self::History => "history",
            Self::NaturalScience => "natural_science",
            Self::Math => "math",
            Self::SocialScience => "social_science",
            Self::Technology => "technology",
            Self::Coding => "coding",
            Self::Humanities => "humanities",
        }
    }

    /// The name shown to people, such as `Natural science`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Language => "Language",
            Self::Culture => "Culture",
            Self::Health => "Health",
            Self::History => "History",
            Self::NaturalScience => "Natural science",
            Self::Math => "Math",
            Self::SocialScience => "Social science",
            Self::Technology => "Technology",
            Self::Coding => "Coding",
            Self::Humanities => "Humanities",
        }
    }

    /// The sub-domains in FLASK's order. History and Coding are not divided and count as their own only one,
    /// which makes 38 in all.
    #[must_use]
    pub const fn subdomains(self) -> &'static [&'static str] {
        match self {
            Self::Language => &["poetry", "literature"],
            Self::Culture => &["art", "sports", "mass media", "music", "food"],
            Self::Health => &["healthcare", "medicine", "exercise", "nutrition"],
            Self::History => &["history"],
            Self::NaturalScience => {
                &["biology", "earth science", "nature", "astronomy", "chemistry", "physics"]
            }
            Self::Math => &["mathematics", "logic", "statistics"],
            Self::SocialScience => &["business", "finance", "economics", "law", "politics"],
            Self::Technology => &["agriculture", "marketing", "management", "electronics", "engineering"],
            Self::Coding => &["coding"],
            Self::Humanities => {
                &["communication", "education", "religion", "psychology", "philosophy", "ethics"]
            }
        }
    }

    /// The domain with this [`id`](Self::id), if there is one.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|domain| domain.id() == id)
    }
}
