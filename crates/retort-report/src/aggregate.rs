//! From rows to figures (Ye et al. 2024, "FLASK", sections 3.3 and 4).

use std::collections::{BTreeMap, BTreeSet};

use retort_rubric::{Difficulty, Domain, Skill};
use retort_stats::{Bootstrap, BootstrapMethod, Scale, Statistic, Undefined, length_score_correlation};

use crate::profile::{
    ByDifficulty, Checklists, Figure, Interval, Length, Level, Measure, Method, Model, Unit,
};
use crate::{ChecklistCounts, FORMAT, Profile, Reading, ReportError, Row, Score, notes};

/// The id of FLASK's skill-agnostic baseline, one rating of the whole response. It stands beside the skills, and is in
/// no figure that takes several of them together.
pub(crate) const BASELINE: &str = "overall";

/// What may be chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The seed of the resamples. Below 2^53, so that JavaScript reads it unrounded.
    pub seed: u64,
    /// Resamples for each interval, 2 to 1,000,000.
    pub resamples: usize,
    /// The share of intervals that should hold the true figure, above 0 and below 1.
    pub level: f64,
    /// Whether a skill of FLASK's counts only for prompts whose labels name it, as in FLASK, where each instruction is
    /// judged by three skills. Other rubrics, and rows without labels, count in full.
    pub labelled_skills_only: bool,
}

impl Default for Settings {
    /// Seed 0, 2,000 resamples, 95%, all scores.
    fn default() -> Self {
        Self { seed: 0, resamples: 2000, level: 0.95, labelled_skills_only: false }
    }
}

/// The profile of what was read, with what could not be.
///
/// # Errors
/// As [`aggregate`].
pub fn profile(reading: &Reading, settings: &Settings) -> Result<Profile, ReportError> {
    let mut profile = aggregate(&reading.rows, settings)?;
    profile.files.clone_from(&reading.files);
    profile.problems.clone_from(&reading.problems);
    profile.without_labels.clone_from(&reading.without_labels);
    profile.without_judgement.clone_from(&reading.without_judgement);
    profile.notes.extend(notes::of_reading(reading));
    Ok(profile)
}

/// The profile of these rows. Their order does not matter, to the last bit.
///
/// A mean takes the scores that there are; "N/A" and scores that could not be had are in neither sum nor divisor, and
/// are counted each apart. Intervals draw prompts, each with all of its scores in the figure.
///
/// # Errors
/// A score outside its scale, or settings out of range.
pub fn aggregate(rows: &[Row], settings: &Settings) -> Result<Profile, ReportError> {
    let bootstrap = Bootstrap {
        seed: settings.seed,
        resamples: settings.resamples,
        level: settings.level,
        method: BootstrapMethod::Percentile,
    };
    // Settings are checked where there is nothing to draw from, too.
    let _ = bootstrap.by_row(0, |_| Ok(Statistic::Value(0.0)))?;
    let cells = cells(rows, settings)?;
    let names: BTreeSet<Option<&str>> = rows.iter().map(|row| row.model.as_deref()).collect();
    let names: Vec<Option<&str>> = names.into_iter().collect();
    let rubrics = Rubrics::of(&cells.kept);
    // Where there is nothing else, it is what there is.
    let in_all = |id: &str| id != BASELINE || rubrics.0.len() == 1;
    let across = unit_of(rubrics.scales(in_all));
    let by_model = names
        .iter()
        .map(|name| cells.kept.iter().filter(|cell| cell.row.model.as_deref() == *name).copied().collect())
        .collect();
    let table = Table { by_model, bootstrap };

    let mut skills = Vec::new();
    let mut difficulty = Vec::new();
    for (id, rubric) in rubrics.in_order() {
        let of_rubric = |cell: &Cell<'_>| cell.rubric == id;
        let skill = Skill::from_id(id);
        skills.push(Measure {
            id: id.to_owned(),
            name: rubric.name.to_owned(),
            ability: skill.map(Skill::ability),
            unit: rubric.unit,
            figures: table.figures(rubric.unit, of_rubric)?,
        });
        let levels = table.levels(rubric.unit, of_rubric)?;
        if levels.iter().any(|level| level.at.iter().any(has_anything)) {
            let (id, name) = (Some(id.to_owned()), rubric.name.to_owned());
            difficulty.push(ByDifficulty { id, name, unit: rubric.unit, levels });
        }
    }
    if !difficulty.is_empty() {
        let name = "All together".to_owned();
        difficulty.push(ByDifficulty {
            id: None,
            name,
            unit: across,
            levels: table.levels(across, |cell| in_all(cell.rubric))?,
        });
    }
    let mut domains = Vec::new();
    for domain in Domain::ALL {
        let figures = table.figures(across, |cell| in_all(cell.rubric) && has_domain(cell.row, domain))?;
        if figures.iter().any(has_anything) {
            let (id, name) = (domain.id().to_owned(), domain.name().to_owned());
            domains.push(Measure { id, name, ability: None, unit: across, figures });
        }
    }
    let models = names
        .iter()
        .zip(&table.by_model)
        .map(|(name, cells)| {
            let rows: Vec<&Row> = rows.iter().filter(|row| row.model.as_deref() == *name).collect();
            model(*name, &rows, cells, &table)
        })
        .collect::<Result<_, _>>()?;
    let judges: BTreeSet<&str> = rows.iter().filter_map(|row| row.judge.as_deref()).collect();
    let mut profile = Profile {
        format: FORMAT.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        method: Method {
            seed: settings.seed,
            resamples: settings.resamples,
            level: settings.level,
            interval: "percentile".to_owned(),
            drawn: "prompt".to_owned(),
            labelled_skills_only: settings.labelled_skills_only,
        },
        models,
        judges: judges.into_iter().map(str::to_owned).collect(),
        skills,
        across,
        domains,
        difficulty,
        notes: Vec::new(),
        files: Vec::new(),
        problems: Vec::new(),
        without_labels: Vec::new(),
        without_judgement: Vec::new(),
    };
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in &cells.kept {
        if let Score::Unscored { why } = cell.score {
            *reasons.entry(why).or_default() += 1;
        }
    }
    profile.notes = notes::of_rows(rows, &profile, &reasons, cells.not_labelled);
    Ok(profile)
}

fn has_anything(figure: &Figure) -> bool {
    figure.count + figure.not_applicable + figure.unscored > 0
}

fn has_domain(row: &Row, domain: Domain) -> bool {
    row.annotation.as_ref().is_some_and(|labels| labels.domains.iter().any(|label| label.domain == domain))
}

fn level_of(row: &Row) -> Option<Difficulty> {
    row.annotation.as_ref().and_then(|labels| labels.difficulty)
}

/// One score of one row.
#[derive(Clone, Copy)]
struct Cell<'a> {
    row: &'a Row,
    rubric: &'a str,
    name: Option<&'a str>,
    score: &'a Score,
}

struct Cells<'a> {
    kept: Vec<Cell<'a>>,
    /// Scores of skills that the labels do not name, left out where that was asked for.
    not_labelled: usize,
}

/// The scores that count, checked.
fn cells<'a>(rows: &'a [Row], settings: &Settings) -> Result<Cells<'a>, ReportError> {
    let mut cells = Cells { kept: Vec::new(), not_labelled: 0 };
    for row in rows {
        if let Some(value) = row.checklist.and_then(|checklist| checklist.score)
            && !(0.0..=1.0).contains(&value)
        {
            return Err(ReportError::Checklist { id: row.id.clone(), value });
        }
        for score in &row.scores {
            if let Score::Value { value, scale } = score.score
                && scale.normalise(value).is_none()
            {
                let (id, rubric_id) = (row.id.clone(), score.rubric_id.clone());
                return Err(ReportError::Score { id, rubric_id, value, min: scale.min(), max: scale.max() });
            }
            let unnamed = || {
                let labels = row.annotation.as_ref().filter(|labels| !labels.skills.is_empty());
                let skill = Skill::from_id(&score.rubric_id);
                skill.zip(labels).is_some_and(|(skill, labels)| !labels.skills.contains(&skill))
            };
            if settings.labelled_skills_only && unnamed() {
                cells.not_labelled += 1;
                continue;
            }
            cells.kept.push(Cell {
                row,
                rubric: &score.rubric_id,
                name: score.rubric_name.as_deref(),
                score: &score.score,
            });
        }
    }
    Ok(cells)
}

struct RubricInfo<'a> {
    name: &'a str,
    scales: Vec<Scale>,
    unit: Unit,
}

struct Rubrics<'a>(BTreeMap<&'a str, RubricInfo<'a>>);

impl<'a> Rubrics<'a> {
    fn of(cells: &[Cell<'a>]) -> Self {
        let mut rubrics: BTreeMap<&str, RubricInfo<'_>> = BTreeMap::new();
        for cell in cells {
            let rubric = rubrics.entry(cell.rubric).or_insert(RubricInfo {
                name: "",
                scales: Vec::new(),
                unit: Unit::Place,
            });
            // Of several names the first in the alphabet, so that the order of rows does not matter.
            if let Some(name) = cell.name
                && (rubric.name.is_empty() || name < rubric.name)
            {
                rubric.name = name;
            }
            if let Score::Value { scale, .. } = cell.score
                && !rubric.scales.contains(scale)
            {
                rubric.scales.push(*scale);
            }
        }
        for (id, rubric) in &mut rubrics {
            if let Some(skill) = Skill::from_id(id) {
                rubric.name = skill.name();
            } else if rubric.name.is_empty() {
                rubric.name = id;
            }
            rubric.unit = unit_of(rubric.scales.iter().copied());
        }
        Self(rubrics)
    }

    fn scales(&self, of: impl Fn(&str) -> bool) -> impl Iterator<Item = Scale> {
        self.0.iter().filter(move |(id, _)| of(id)).flat_map(|(_, rubric)| rubric.scales.iter().copied())
    }

    /// FLASK's skills in their order, then the others by id.
    fn in_order(&self) -> Vec<(&'a str, &RubricInfo<'a>)> {
        let mut all: Vec<(&str, &RubricInfo<'_>)> = self.0.iter().map(|(id, rubric)| (*id, rubric)).collect();
        let place = |id: &str| {
            let skill = Skill::from_id(id);
            Skill::ALL.iter().position(|known| Some(*known) == skill).unwrap_or(Skill::ALL.len())
        };
        // Stable: the others stay sorted.
        all.sort_by_key(|(id, _)| place(id));
        all
    }
}

/// Points where all scores are on one scale; places between the ends otherwise (P17).
fn unit_of(scales: impl Iterator<Item = Scale>) -> Unit {
    let mut scales = scales;
    match scales.next() {
        Some(first) if scales.all(|scale| scale == first) => {
            Unit::Points { min: first.min(), max: first.max() }
        }
        _ => Unit::Place,
    }
}

struct Table<'a> {
    /// The scores of each model; those of one row stand together.
    by_model: Vec<Vec<Cell<'a>>>,
    bootstrap: Bootstrap,
}

impl Table<'_> {
    /// One figure for each model, of the scores that belong in it.
    fn figures(&self, unit: Unit, belongs: impl Fn(&Cell<'_>) -> bool) -> Result<Vec<Figure>, ReportError> {
        let of_model = |cells: &Vec<Cell<'_>>| {
            let cells = cells.iter().filter(|cell| belongs(cell));
            self.figure(cells.map(|cell| (cell.row.id.as_str(), placed(cell.score, unit))))
        };
        self.by_model.iter().map(of_model).collect()
    }

    fn levels(&self, unit: Unit, belongs: impl Fn(&Cell<'_>) -> bool) -> Result<Vec<Level>, ReportError> {
        let figures = |keep: &dyn Fn(Difficulty) -> bool| {
            self.figures(unit, |cell| belongs(cell) && level_of(cell.row).is_some_and(keep))
        };
        Difficulty::ALL
            .into_iter()
            .map(|difficulty| {
                let at = figures(&|level| level == difficulty)?;
                let up_to = figures(&|level| level <= difficulty)?;
                Ok(Level { difficulty, at, up_to })
            })
            .collect()
    }

    /// The mean of these outcomes, each of the prompt beside it.
    fn figure<'b>(&self, outcomes: impl Iterator<Item = (&'b str, Outcome)>) -> Result<Figure, ReportError> {
        let (mut values, mut not_applicable, mut unscored) = (Vec::new(), 0, 0);
        for (prompt, outcome) in outcomes {
            match outcome {
                Outcome::Value(value) => values.push((prompt, value)),
                Outcome::NotApplicable => not_applicable += 1,
                Outcome::Unscored => unscored += 1,
            }
        }
        // One order for one set of scores: sums and draws depend on it.
        values.sort_by(|a, b| a.0.cmp(b.0).then(a.1.total_cmp(&b.1)));
        let prompts: Vec<&str> = values.iter().map(|(prompt, _)| *prompt).collect();
        let values: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        let different: BTreeSet<&str> = prompts.iter().copied().collect();
        let mut figure = Figure {
            mean: None,
            why_none: None,
            interval: None,
            why_no_interval: None,
            count: values.len(),
            prompts: different.len(),
            not_applicable,
            unscored,
        };
        if values.is_empty() {
            figure.why_none = Some(why_none(not_applicable, unscored));
            return Ok(figure);
        }
        let mean = |rows: &[usize]| {
            let sum: f64 = rows.iter().map(|&row| values[row]).sum();
            Ok(Statistic::Value(sum / rows.len() as f64))
        };
        let all: Vec<usize> = (0..values.len()).collect();
        figure.mean = mean(&all)?.value();
        match self.bootstrap.by_cluster(&prompts, mean)? {
            Statistic::Value(interval) => {
                figure.interval = Some(Interval { low: interval.low, high: interval.high });
            }
            Statistic::Undefined(Undefined::TooFew { .. }) => {
                figure.why_no_interval = Some("one prompt alone says nothing about others".to_owned());
            }
            Statistic::Undefined(why) => figure.why_no_interval = Some(why.to_string()),
        }
        Ok(figure)
    }
}

fn why_none(not_applicable: usize, unscored: usize) -> String {
    match (not_applicable, unscored) {
        (0, 0) => "no scores".to_owned(),
        (_, 0) => "not applicable to any response".to_owned(),
        (0, _) => "no response could be scored".to_owned(),
        _ => "not applicable, or not scored".to_owned(),
    }
}

enum Outcome {
    Value(f64),
    NotApplicable,
    Unscored,
}

/// A score in the unit. Scores were checked to lie on their scales.
fn placed(score: &Score, unit: Unit) -> Outcome {
    match (score, unit) {
        (Score::Value { value, .. }, Unit::Points { .. }) => Outcome::Value(*value),
        (Score::Value { value, scale }, Unit::Place) => {
            scale.normalise(*value).map_or(Outcome::Unscored, Outcome::Value)
        }
        (Score::NotApplicable, _) => Outcome::NotApplicable,
        (Score::Unscored { .. }, _) => Outcome::Unscored,
    }
}

fn model(
    name: Option<&str>,
    rows: &[&Row],
    cells: &[Cell<'_>],
    table: &Table<'_>,
) -> Result<Model, ReportError> {
    let count = |what: fn(&Score) -> bool| cells.iter().filter(|cell| what(cell.score)).count();
    let prompts: BTreeSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let without_domain = |row: &&&Row| row.annotation.as_ref().is_none_or(|labels| labels.domains.is_empty());
    Ok(Model {
        name: name.map(str::to_owned),
        rows: rows.len(),
        prompts: prompts.len(),
        scores: count(|score| matches!(score, Score::Value { .. })),
        not_applicable: count(|score| matches!(score, Score::NotApplicable)),
        unscored: count(|score| matches!(score, Score::Unscored { .. })),
        without_domain: rows.iter().filter(without_domain).count(),
        without_difficulty: rows.iter().filter(|row| level_of(row).is_none()).count(),
        checklist: checklists(rows, table)?,
        length: length(cells)?,
    })
}

fn checklists(rows: &[&Row], table: &Table<'_>) -> Result<Option<Checklists>, ReportError> {
    let all: Vec<_> =
        rows.iter().filter_map(|row| Some((row.id.as_str(), row.checklist.as_ref()?))).collect();
    if all.is_empty() {
        return Ok(None);
    }
    let outcome = |list: &ChecklistCounts| match list.score {
        Some(score) => Outcome::Value(score),
        None if list.unscored > 0 => Outcome::Unscored,
        None => Outcome::NotApplicable,
    };
    let score = table.figure(all.iter().map(|(id, list)| (*id, outcome(list))))?;
    let sum = |of: fn(&ChecklistCounts) -> usize| all.iter().map(|(_, list)| of(list)).sum();
    Ok(Some(Checklists {
        score,
        verified: sum(|list| list.verified),
        judged: sum(|list| list.judged),
        not_applicable: sum(|list| list.not_applicable),
        unscored: sum(|list| list.unscored),
        met: sum(|list| list.met),
    }))
}

/// Length against the mean of a row's scores, each by its place on its scale.
fn length(cells: &[Cell<'_>]) -> Result<Option<Length>, ReportError> {
    let mut pairs = Vec::new();
    for of_row in cells.chunk_by(|a, b| std::ptr::eq(a.row, b.row)) {
        let Some(words) = of_row.first().and_then(|cell| cell.row.words) else { continue };
        let mut places: Vec<f64> = of_row
            .iter()
            .filter_map(|cell| match placed(cell.score, Unit::Place) {
                Outcome::Value(value) => Some(value),
                Outcome::NotApplicable | Outcome::Unscored => None,
            })
            .collect();
        if !places.is_empty() {
            places.sort_by(f64::total_cmp);
            pairs.push((words as f64, places.iter().sum::<f64>() / places.len() as f64));
        }
    }
    if pairs.is_empty() {
        return Ok(None);
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (lengths, scores): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let found = length_score_correlation(&lengths, &scores)?;
    let why = found.pearson.undefined().or(found.spearman.undefined()).map(ToString::to_string);
    Ok(Some(Length {
        rows: pairs.len(),
        mean_words: lengths.iter().sum::<f64>() / lengths.len() as f64,
        pearson: found.pearson.value(),
        spearman: found.spearman.value(),
        why_none: why,
    }))
}
