//! FLASK's words with their names for people, so that the page need not know them.

use retort_rubric::{Difficulty, DifficultyVariant, Domain, Skill};
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct Vocabulary {
    skills: Vec<SkillWords>,
    domains: Vec<DomainWords>,
    difficulties: Vec<DifficultyWords>,
}

#[derive(Serialize)]
struct SkillWords {
    id: &'static str,
    name: &'static str,
    ability: &'static str,
}

#[derive(Serialize)]
struct DomainWords {
    id: &'static str,
    name: &'static str,
    subdomains: &'static [&'static str],
    variant: DifficultyVariant,
}

#[derive(Serialize)]
struct DifficultyWords {
    id: &'static str,
    level: u8,
    name: &'static str,
    definitions: Definitions,
}

#[derive(Serialize)]
struct Definitions {
    general: &'static str,
    maths: &'static str,
    coding: &'static str,
}

pub(crate) fn all() -> Vocabulary {
    let skill =
        |skill: Skill| SkillWords { id: skill.id(), name: skill.name(), ability: skill.ability().name() };
    let domain = |domain: Domain| DomainWords {
        id: domain.id(),
        name: domain.name(),
        subdomains: domain.subdomains(),
        variant: DifficultyVariant::of(domain),
    };
    let difficulty = |difficulty: Difficulty| DifficultyWords {
        id: difficulty.id(),
        level: difficulty.level(),
        name: difficulty.name(),
        definitions: Definitions {
            general: difficulty.definition(DifficultyVariant::General),
            maths: difficulty.definition(DifficultyVariant::Maths),
            coding: difficulty.definition(DifficultyVariant::Coding),
        },
    };
    Vocabulary {
        skills: Skill::ALL.map(skill).into(),
        domains: Domain::ALL.map(domain).into(),
        difficulties: Difficulty::ALL.map(difficulty).into(),
    }
}
