//! What an instruction asks of whoever answers it: FLASK's metadata.

use serde::{Deserialize, Serialize};

use crate::{Difficulty, Domain, Skill};

/// Most domains that an annotation may have: FLASK gives one, and two where the instruction is ambiguous.
pub const MAX_DOMAINS: usize = 2;

/// How many skills FLASK chooses for an instruction.
pub const SKILLS_PER_INSTRUCTION: usize = 3;

/// The skills, domains and difficulty of one instruction (Ye et al. 2024, section 3.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Annotation {
    /// The skills that the instruction particularly needs, the most important first, each once. FLASK chooses
    /// [`SKILLS_PER_INSTRUCTION`]; a person may choose more or fewer, none included.
    pub skills: Vec<Skill>,
    /// What it is about: none, one, or [`MAX_DOMAINS`] where it is ambiguous; the first decides which wording of the
    /// difficulty levels applies.
    pub domains: Vec<DomainLabel>,
    /// How much it demands; `None` where nobody said.
    pub difficulty: Option<Difficulty>,
    /// Who said so.
    pub by: Annotator,
}

/// A domain, and its part where that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DomainLabel {
    /// The domain.
    pub domain: Domain,
    /// One of [`Domain::subdomains`].
    #[serde(default)]
    pub subdomain: Option<String>,
}

impl From<Domain> for DomainLabel {
    fn from(domain: Domain) -> Self {
        Self { domain, subdomain: None }
    }
}

/// Where an annotation comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Annotator {
    /// The words of the instruction, by rules.
    Code,
    /// A language model.
    Model,
    /// A person.
    Person,
    /// A file of somebody's, who may have been either.
    File,
}

/// Why an annotation is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidAnnotation {
    /// A skill stands twice.
    #[error("the skill {} is given twice; keep one of them", .0.id())]
    DoubledSkill(Skill),
    /// A domain stands twice.
    #[error("the domain {} is given twice; keep one of them", .0.id())]
    DoubledDomain(Domain),
    /// More domains than an instruction may have.
    #[error("there are {0} domains; keep the one or two that fit best")]
    TooManyDomains(usize),
    /// A sub-domain of another domain, or of none.
    #[error("{subdomain:?} is no part of the domain {}; its parts are {}", .domain.id(), .domain.subdomains().join(", "))]
    Subdomain {
        /// The domain.
        domain: Domain,
        /// What was given for its part.
        subdomain: String,
    },
}

#[derive(Deserialize)]
#[serde(rename = "Annotation", deny_unknown_fields)]
struct Unchecked {
    #[serde(default)]
    skills: Vec<Skill>,
    #[serde(default)]
    domains: Vec<DomainLabel>,
    #[serde(default)]
    difficulty: Option<Difficulty>,
    by: Annotator,
}

impl TryFrom<Unchecked> for Annotation {
    type Error = InvalidAnnotation;

    fn try_from(raw: Unchecked) -> Result<Self, InvalidAnnotation> {
        let annotation =
            Self { skills: raw.skills, domains: raw.domains, difficulty: raw.difficulty, by: raw.by };
        annotation.validate()?;
        Ok(annotation)
    }
}

impl Annotation {
    /// Whether it says nothing twice and nothing that does not exist.
    ///
    /// # Errors
    /// [`InvalidAnnotation`], which says what.
    pub fn validate(&self) -> Result<(), InvalidAnnotation> {
        for (index, skill) in self.skills.iter().enumerate() {
            if self.skills[..index].contains(skill) {
                return Err(InvalidAnnotation::DoubledSkill(*skill));
            }
        }
        if self.domains.len() > MAX_DOMAINS {
            return Err(InvalidAnnotation::TooManyDomains(self.domains.len()));
        }
        for (index, DomainLabel { domain, subdomain }) in self.domains.iter().enumerate() {
            if self.domains[..index].iter().any(|before| before.domain == *domain) {
                return Err(InvalidAnnotation::DoubledDomain(*domain));
            }
            if let Some(subdomain) = subdomain
                && !domain.subdomains().contains(&subdomain.as_str())
            {
                return Err(InvalidAnnotation::Subdomain { domain: *domain, subdomain: subdomain.clone() });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Annotation, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_said_twice_or_does_not_exist_is_refused() {
        let good = r#"{"skills":["readability","factuality"],"domains":[{"domain":"health","subdomain":"medicine"}],"difficulty":"major_level","by":"person"}"#;
        let annotation = read(good).unwrap();
        assert_eq!(annotation.skills, [Skill::Readability, Skill::Factuality]);
        assert_eq!(read(&serde_json::to_string(&annotation).unwrap()).unwrap(), annotation);
        for (what, instead, named) in [
            ("factuality", "readability", "readability is given twice"),
            ("medicine", "music", "healthcare, medicine"),
            (
                "\"subdomain\":\"medicine\"}",
                "\"subdomain\":null},{\"domain\":\"health\"}",
                "health is given twice",
            ),
            (
                "{\"domain\":\"health\",",
                "{\"domain\":\"math\"},{\"domain\":\"history\"},{\"domain\":\"health\",",
                "3 domains",
            ),
        ] {
            let error = read(&good.replace(what, instead)).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
    }
}
