//! The built-in rubrics, and some of them by name.

use std::sync::LazyLock;

use crate::wording::{nearest, plain};
use crate::{Format, Rubric, Skill, read};

static FLASK: LazyLock<Vec<Rubric>> = LazyLock::new(|| {
    // Part of the binary, and a test reads it: there is no failure to handle.
    read(include_str!("../rubrics/flask.toml"), "flask.toml", Format::Toml)
        .map_or_else(|_| Vec::new(), |reading| reading.rubrics)
});

static OVERALL: LazyLock<Rubric> = LazyLock::new(|| {
    // As above; what stands for the failure that cannot be is a rubric that no check passes.
    let reading = read(include_str!("../rubrics/overall.toml"), "overall.toml", Format::Toml);
    let first = reading.ok().and_then(|reading| reading.rubrics.into_iter().next());
    first.unwrap_or_else(|| Rubric::new("overall", "Overall quality", "", Vec::new()))
});

/// One rating of a response as a whole, from `1` to `5`: FLASK's skill-agnostic baseline (Ye et al. 2024, section 4),
/// with which the twelve skills are compared. It is none of [`builtin`].
#[must_use]
pub fn overall() -> &'static Rubric {
    &OVERALL
}

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
        /// The id that was probably meant.
        nearest: Option<&'static str>,
    },
}

/// The ids that can be chosen.
pub(crate) fn ids() -> impl Iterator<Item = &'static str> {
    Skill::ALL.into_iter().map(Skill::id).chain(["overall"])
}

fn known() -> String {
    ids().collect::<Vec<_>>().join(", ")
}

fn did_you_mean(nearest: &Option<&str>) -> String {
    nearest.map_or_else(String::new, |id| format!("did you mean {id}? Otherwise "))
}

/// The built-in rubric with this id, `overall` included; letter case, spaces and punctuation do not matter.
pub(crate) fn named(name: &str) -> Option<&'static Rubric> {
    let wanted = plain(name);
    builtin().iter().chain([overall()]).find(|rubric| plain(&rubric.id) == wanted)
}

/// The built-in rubrics of the named skills: `all`, or ids or names with commas between them, such as
/// `readability, Logical Robustness`; `overall` for [`overall`], which `all` leaves out. Letter case, spaces and
/// punctuation do not matter. In the order given, each once.
///
/// # Errors
/// No name at all, or a name that is no skill's.
pub fn select(names: &str) -> Result<Vec<Rubric>, SelectError> {
    let mut chosen: Vec<Rubric> = Vec::new();
    let mut choose = |rubric: &Rubric| {
        if chosen.iter().all(|other| other.id != rubric.id) {
            chosen.push(rubric.clone());
        }
    };
    for name in names.split(',').map(str::trim).filter(|name| !plain(name).is_empty()) {
        if plain(name) == "all" {
            builtin().iter().for_each(&mut choose);
        } else if let Some(rubric) = named(name) {
            choose(rubric);
        } else {
            return Err(SelectError::Unknown { name: name.to_owned(), nearest: nearest(name, ids()) });
        }
    }
    if chosen.is_empty() { Err(SelectError::Empty) } else { Ok(chosen) }
}
