//! The profile as data.

use retort_rubric::{Ability, Difficulty};
use serde::{Deserialize, Serialize};

use crate::{FileSummary, Problem};

/// The name and version of the profile's shape.
pub const FORMAT: &str = "retort.profile/1";

/// Judgements of one or several models, aggregated. Serialised, it is one JSON object that deserialises to the same.
///
/// Wherever a list is "one for each model", it is in the order of [`Profile::models`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Profile {
    /// [`FORMAT`].
    pub format: String,
    /// Version of Retort.
    pub version: String,
    /// How the figures came about.
    pub method: Method,
    /// The models whose responses were judged, by name.
    pub models: Vec<Model>,
    /// Who judged, as far as the files say; sorted.
    pub judges: Vec<String>,
    /// Mean per rubric: FLASK's skills in their order, then other rubrics by id. Rubrics that no row holds are not
    /// here.
    pub skills: Vec<Measure>,
    /// The unit of every figure that takes several rubrics together.
    pub across: Unit,
    /// Mean per domain: that of all scores of the rows that carry it. A row with two domains counts in both.
    pub domains: Vec<Measure>,
    /// Difficulty by rubric; the last one takes all rubrics together. Empty where no row has a difficulty.
    pub difficulty: Vec<ByDifficulty>,
    /// What a reader should know of these figures: whole sentences.
    pub notes: Vec<String>,
    /// The files and what was in them.
    pub files: Vec<FileSummary>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Judged prompts that no labels matched, though labels were given.
    pub without_labels: Vec<String>,
    /// Labels that no judgement matched.
    pub without_judgement: Vec<String>,
}

/// How the figures came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// The seed of the resamples.
    pub seed: u64,
    /// Resamples for each interval.
    pub resamples: usize,
    /// The share of intervals that should hold the true figure.
    pub level: f64,
    /// How an interval is read from the resamples; always `percentile`.
    pub interval: String,
    /// What is drawn together; always `prompt`: rows with the same prompt are no independent evidence.
    pub drawn: String,
    /// Whether a skill of FLASK's counts only for prompts whose labels name it.
    pub labelled_skills_only: bool,
}

/// One model and what there is of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Its name; `None` for rows that do not say whose responses they judge.
    pub name: Option<String>,
    /// Rows.
    pub rows: usize,
    /// Different prompts in them.
    pub prompts: usize,
    /// Scores that count.
    pub scores: usize,
    /// "N/A": in no mean.
    pub not_applicable: usize,
    /// Scores that could not be had: in no mean.
    pub unscored: usize,
    /// Rows without a domain.
    pub without_domain: usize,
    /// Rows without a difficulty.
    pub without_difficulty: usize,
    /// Checklists, where there are any.
    pub checklist: Option<Checklists>,
    /// How scores go with the length of the responses, where the lengths are known.
    pub length: Option<Length>,
}

impl Model {
    /// The name, or what stands for one.
    #[must_use]
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or("(no name)")
    }
}

/// The checklists of one model's rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checklists {
    /// The mean of their scores, 0 to 1.
    pub score: Figure,
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

/// The correlation of a row's mean score with its response's length in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Length {
    /// Rows with a length and a score.
    pub rows: usize,
    /// The mean length in words.
    pub mean_words: f64,
    /// Pearson's r, −1 to 1.
    pub pearson: Option<f64>,
    /// Spearman's ρ, −1 to 1.
    pub spearman: Option<f64>,
    /// Why there is no correlation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_none: Option<String>,
}

/// What a figure is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Unit {
    /// The scale's own points.
    Points {
        /// The scale's lower end.
        min: f64,
        /// The scale's upper end.
        max: f64,
    },
    /// The place between the ends of a scale, 0 to 1: (s − min)/(max − min). Scores of different scales can only be
    /// averaged so (P14, P17).
    Place,
}

impl Unit {
    /// Lower and upper end.
    #[must_use]
    pub const fn ends(self) -> (f64, f64) {
        match self {
            Self::Points { min, max } => (min, max),
            Self::Place => (0.0, 1.0),
        }
    }

    /// Where a figure lies between the ends, 0 to 1.
    #[must_use]
    pub fn place(self, figure: f64) -> f64 {
        let (min, max) = self.ends();
        ((figure - min) / (max - min)).clamp(0.0, 1.0)
    }
}

/// One thing that is measured, for each model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The rubric's or domain's id.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// FLASK's ability that a skill belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ability: Option<Ability>,
    /// What the figures are measured in.
    pub unit: Unit,
    /// One for each model.
    pub figures: Vec<Figure>,
}

/// One rubric by difficulty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ByDifficulty {
    /// The rubric's id; `None` for all rubrics together.
    pub id: Option<String>,
    /// Its name for people.
    pub name: String,
    /// What the figures are measured in.
    pub unit: Unit,
    /// All five levels, easiest first.
    pub levels: Vec<Level>,
}

/// One rubric at one level of difficulty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The level.
    pub difficulty: Difficulty,
    /// Prompts of this level; one for each model.
    pub at: Vec<Figure>,
    /// Prompts of this level and all easier ones; one for each model.
    pub up_to: Vec<Figure>,
}

/// A mean with all that is needed to weigh it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The mean of the scores that there are.
    pub mean: Option<f64>,
    /// Why there is no mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_none: Option<String>,
    /// Its interval at [`Method::level`].
    pub interval: Option<Interval>,
    /// Why there is a mean and no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_no_interval: Option<String>,
    /// Scores in the mean (n).
    pub count: usize,
    /// Different prompts that they are about.
    pub prompts: usize,
    /// "N/A", in neither sum nor divisor (P15).
    pub not_applicable: usize,
    /// Scores that could not be had, in neither sum nor divisor.
    pub unscored: usize,
}

/// The ends of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}
