//! Aggregates judgements per skill, domain and difficulty, with intervals, and writes the profile as Markdown, HTML or JSON.
//!
//! 1. [`read`] takes files of Retort's own records, FLASK reviews and labels of instructions, recognised by their
//!    keys, and yields [`Row`]s and what could not be read ([`Problem`]).
//! 2. [`profile`] (or [`aggregate`], for rows from anywhere) turns them into a [`Profile`]: means with their bootstrap
//!    intervals and counts.
//! 3. [`to_markdown`], [`to_html`] and [`to_json`] write it.
//!
//! Three rules hold throughout: what has no score is in no mean and is counted; "not applicable" and "could not be
//! scored" are different things; scores of different scales are never averaged as they are.
//!
//! ```
//! use retort_report::{Settings, Source, profile, read, to_markdown};
//!
//! let reviews = br#"{"question_id": 1, "target_txt": "Yes.", "review": "", "score": {"readability": 4, "factuality": "N/A"}}
//! {"question_id": 2, "target_txt": "No.", "review": "", "score": {"readability": 5}}"#;
//! let reading = read(&[Source { name: "small-model.jsonl", bytes: reviews }], &[]);
//! let profile = profile(&reading, &Settings::default())?;
//! assert_eq!(profile.skills[1].name, "Readability");
//! assert_eq!(profile.skills[1].figures[0].mean, Some(4.5));
//! assert!(to_markdown(&profile).contains("small-model"));
//! # Ok::<(), retort_report::ReportError>(())
//! ```
#![deny(missing_docs)]

mod aggregate;
mod chart;
mod error;
mod html;
mod markdown;
mod notes;
mod profile;
mod read;
mod row;
mod show;

pub use aggregate::{Settings, aggregate, profile};
pub use error::ReportError;
pub use html::to_html;
pub use markdown::to_markdown;
pub use profile::{
    ByDifficulty, Checklists, FORMAT, Figure, Interval, Length, Level, Measure, Method, Model, Profile, Unit,
};
pub use read::{FileSummary, JsonRow, Problem, Reading, Source, json_rows, read};
pub use row::{ChecklistCounts, Row, Score, SkillScore};

/// The profile as JSON over several lines, with a last newline.
///
/// # Errors
/// Only what serde_json may find; a profile holds nothing that JSON cannot say.
pub fn to_json(profile: &Profile) -> serde_json::Result<String> {
    serde_json::to_string_pretty(profile).map(|json| json + "\n")
}
