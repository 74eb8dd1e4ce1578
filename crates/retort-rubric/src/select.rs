//! The built-in rubrics, and some of them by name.

use std::sync::LazyLock;

use crate::wording::{nearest, plain};
use crate::{Format, Rubric, Skill, read};

static FLASK: LazyLock<Vec<Rubric>> = LazyLock::new(|| {
    // Part of the binary, and a test reads it: there is no failure to handle.
    read(include_str!("../rubrics/flask.toml"), "flask.toml", Format::Toml)
        .map_or_else(|_| Vec::new(), |reading| reading.rubrics)
});

/// The rubrics of the twelve skills in the order of [`Skill::ALL`], each with the skill's id and name and five
/// options, `1` the worst to `5` the best.
#[must_use]
pub fn builtin() -> &'static [Rubric] {
    &FLASK
}

/// Why a choice of skills was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// No skill was named.
    #[error("no skill is named; write “all” or some of: {}", known())]
    Empty,
    /// A name is that of no skill.
    #[error("there is no skill {name:?}; {}write “all” or some of: {}", did_you_mean(.nearest), known())]
    Unknown {
        /// The name as it was given.
        name: String,
        /// The skill that was probably meant.
        nearest: Option<Skill>,
    },
}

fn known() -> String {
    Skill::ALL.map(Skill::id).join(", ")
}

fn did_you_mean(nearest: &Option<Skill>) -> String {
    nearest.map_or_else(String::new, |skill| format!("did you mean {}? Otherwise ", skill.id()))
}

/// The built-in rubrics of the named skills: `all`, or ids or names with commas between them, such as
/// `readability, Logical Robustness`. Letter case, spaces and punctuation do not matter. In the order given,
/// each once.
///
/// # Errors
/// No name at all, or a name that is no skill's.
pub fn select(names: &str) -> Result<Vec<Rubric>, SelectError> {
    let mut chosen: Vec<Skill> = Vec::new();
    for name in names.split(',').map(str::trim).filter(|name| !plain(name).is_empty()) {
        let wanted = plain(name);
        let matching = |skill: &Skill| wanted == "all" || wanted == plain(skill.id());
        let before = chosen.len();
        let mut known = false;
        for skill in Skill::ALL.into_iter().filter(matching) {
            known = true;
            if !chosen[..before].contains(&skill) {
                chosen.push(skill);
            }
        }
        if !known {
            let nearest = nearest(name, Skill::ALL.map(Skill::id)).and_then(Skill::from_id);
            return Err(SelectError::Unknown { name: name.to_owned(), nearest });
        }
    }
    if chosen.is_empty() {
        return Err(SelectError::Empty);
    }
    Ok(chosen
        .into_iter()
        .filter_map(|skill| builtin().iter().find(|rubric| rubric.id == skill.id()).cloned())
        .collect())
}
