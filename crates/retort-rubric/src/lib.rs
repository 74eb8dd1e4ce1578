//! The vocabulary of judging as data: skills, abilities, rubrics, scales; reading, validating and writing them.
//!
//! A [`Rubric`] is one criterion and the scale on which a response is rated by it. The rest of this crate says
//! where rubrics come from and what may be done with them:
//!
//! 1. **Built in**: the twelve [`Skill`]s of FLASK in our own words, as [`builtin`] rubrics of which
//!    [`select`] picks some by name; and one [`overall`] rating without skills, to compare with.
//! 2. **From a file**: [`read`] takes TOML or JSON and yields checked rubrics, or every mistake in the file
//!    with its line, column, field and remedy ([`Diagnostic`]).
//! 3. **Checked**: [`Rubric::check`] lists what is wrong with a rubric from anywhere. [`read`] and the serde
//!    `Deserialize` of [`Rubric`] yield only rubrics that pass.
//! 4. **As a scale**: [`Rubric::scale`] turns probabilities over options into an expected score, and a score
//!    into its place between 0 and 1 ([`Scale`]); [`aggregate`] makes one number of several such places by the
//!    rubrics' weights, those left out that do not apply.
//! 5. **Written**: [`to_toml`] and [`to_json`] write what [`read`] reads back as the equal rubrics;
//!    [`Rubric::sha256`] names a rubric by its content.
//!
//! Beside them stand FLASK's [`Domain`]s and [`Difficulty`] levels, and the [`Annotation`] of an instruction with them.
//!
//! ```
//! use retort_rubric::{Format, read};
//!
//! let text = r#"
//!     name = "Kindness"
//!     criterion = "The response is kind to the person who asked."
//!     [[option]]
//!     label = "no"
//!     value = 0
//!     [[option]]
//!     label = "yes"
//!     value = 1
//! "#;
//! let reading = read(text, "kind.toml", Format::Auto)?;
//! let scale = reading.rubrics[0].scale()?;
//! assert_eq!(scale.expectation(&[0.25, 0.75])?, 0.75);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod aggregate;
mod annotation;
mod check;
mod diagnostic;
mod difficulty;
mod domain;
mod level;
mod read;
mod rubric;
mod scale;
mod select;
mod skill;
pub mod tree;
mod wording;
mod write;

pub use aggregate::{Aggregate, NoAggregate, aggregate};
pub use annotation::{
    Annotation, Annotator, DomainLabel, InvalidAnnotation, MAX_DOMAINS, SKILLS_PER_INSTRUCTION,
};
pub use check::{
    Field, InvalidRubric, MAX_LABEL_CHARACTERS, MAX_OPTIONS, MAX_VALUE, MIN_WEIGHT, Problem, Severity,
};
pub use diagnostic::{Diagnostic, ReadError};
pub use difficulty::{Difficulty, DifficultyVariant};
pub use domain::Domain;
pub use read::{Format, Reading, read};
pub use rubric::{Rubric, RubricOption};
pub use scale::{Scale, ScaleError};
pub use select::{SelectError, builtin, overall, select};
pub use skill::{Ability, Skill};
pub use wording::slug;
pub use write::{WriteError, to_json, to_toml};
