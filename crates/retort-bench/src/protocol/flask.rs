//! FLASK: profiles by skill, and how far they agree with given scores (Ye et al., "FLASK: Fine-grained language model
//! evaluation based on alignment skill sets", ICLR 2024).
//!
//! Each response of each model is judged by the criteria of the skills that its instruction needs. The paper's ablations
//! are [`FlaskCondition`]s: without the reference answer, without the rubric (a skill's name is all that is read), and by one
//! question of overall quality in place of skills.
//!
//! Tables: the profile of every model (mean score per skill, domain and difficulty; what does not apply and what has no
//! score is in no mean); agreement with scores from files; agreement of the ablations with the full form; length against
//! score.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use retort_judge::{Aim, Field, Inquiry, Question, Wording, sha256_hex};
use retort_report::{Score, Source};
use retort_rubric::{Rubric, RubricOption, Skill, builtin};
use retort_stats::{
    InputError, Statistic, kendall_tau_b, length_score_correlation, pearson, rouge_l, spearman, words,
};

use super::cobbler::{draw, mean, row, shuffle};
use crate::pair::agnostic;
use crate::read::code::flask as files;
use crate::{Answers, Ask, DataDir, DataError, Exam, Measure, Problem, Seen, Table};

pub use crate::read::code::flask::{Instruction, Output};

/// Pearson's correlation of length with score over models, as published (Ye et al. 2024), by skill.
pub const PUBLISHED_LENGTH: [(Skill, f64); 12] = [
    (Skill::LogicalRobustness, 0.239),
    (Skill::LogicalCorrectness, 0.147),
    (Skill::LogicalEfficiency, 0.148),
    (Skill::Factuality, 0.395),
    (Skill::CommonsenseUnderstanding, 0.380),
    (Skill::Comprehension, 0.478),
    (Skill::Insightfulness, 0.763),
    (Skill::Completeness, 0.737),
    (Skill::Metacognition, 0.412),
    (Skill::Readability, 0.468),
    (Skill::Conciseness, -0.725),
    (Skill::Harmlessness, 0.540),
];

/// How a response is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlaskCondition {
    /// By skill, with the reference answer and the whole rubric.
    Full,
    /// Without the reference answer.
    NoReference,
    /// With the skill's name in place of criterion and levels.
    NoRubric,
    /// By one question of overall quality, with the reference answer.
    Agnostic,
}

impl FlaskCondition {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Full, Self::NoReference, Self::NoRubric, Self::Agnostic];

    /// Its name in ids and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "skills",
            Self::NoReference => "no_reference",
            Self::NoRubric => "no_rubric",
            Self::Agnostic => "agnostic",
        }
    }
}

/// How the exam is held.
#[derive(Debug, Clone)]
pub struct FlaskSettings {
    /// The conditions.
    pub conditions: Vec<FlaskCondition>,
    /// All twelve skills are asked and reported, not only those that an instruction needs.
    pub all_skills: bool,
    /// How much of each question the model reads.
    pub wording: Wording,
    /// Decides the order in which instructions are taken.
    pub seed: u64,
    /// How many instructions are taken; `None` for all. Every model's response to them is judged.
    pub limit: Option<usize>,
}

impl Default for FlaskSettings {
    fn default() -> Self {
        Self {
            conditions: FlaskCondition::ALL.to_vec(),
            all_skills: false,
            wording: Wording::Full,
            seed: 0,
            limit: None,
        }
    }
}

/// Somebody's scores of responses, from 1 to 5.
#[derive(Debug, Clone)]
pub struct GivenScores {
    /// Who scored, for tables: the file's name without its extension.
    pub name: String,
    /// The scores: the row's `id` is the instruction's number, its `model` whose response it is.
    pub rows: Vec<retort_report::Row>,
}

/// The exam.
#[derive(Debug, Clone)]
pub struct Flask {
    settings: FlaskSettings,
    instructions: Vec<Instruction>,
    models: Vec<String>,
    responses: Vec<Response>,
    given: Vec<Given>,
    total: usize,
    problems: Vec<Problem>,
    without_rubric: Vec<Rubric>,
    agnostic: Rubric,
}

#[derive(Debug, Clone)]
struct Response {
    instruction: usize,
    model: usize,
    text: String,
    words: f64,
    /// ROUGE-L with the reference answer.
    overlap: Option<f64>,
}

/// Scores by response and skill.
#[derive(Debug, Clone)]
struct Given {
    name: String,
    scores: BTreeMap<(usize, Skill), f64>,
    /// Rows about responses that are not examined.
    unmatched: usize,
}

impl Flask {
    /// The exam over the public data: the outputs of these models (names of files without extension; none means all
    /// that are there), with scores from these files in FLASK's form for reviews or as records of Retort's.
    ///
    /// # Errors
    /// [`DataError`] where a file is absent or not in the form expected.
    pub fn from_data(
        data: &DataDir,
        models: &[String],
        scores: &[PathBuf],
        settings: FlaskSettings,
    ) -> Result<Self, DataError> {
        let folder = data.repository_for(files::REPOSITORY, crate::Purpose::Evaluation)?;
        let mut problems = Vec::new();
        let (instructions, _) = files::instructions(&folder, &mut problems)?;
        let all = if models.is_empty() { files::models(&folder)? } else { models.to_vec() };
        let mut outputs = Vec::with_capacity(all.len());
        for model in all {
            let read = files::outputs(&folder, &model, &mut problems)?;
            outputs.push((model, read));
        }
        let mut given = Vec::with_capacity(scores.len());
        for path in scores {
            given.push(read_scores(path, &mut problems)?);
        }
        Ok(Self::new(instructions, outputs, given, problems, settings))
    }

    /// The exam over these instructions, outputs by model and given scores. Outputs to unknown instructions, and given
    /// scores of responses that are not examined, are counted.
    #[must_use]
    pub fn new(
        mut instructions: Vec<Instruction>,
        outputs: Vec<(String, Vec<Output>)>,
        given: Vec<GivenScores>,
        mut problems: Vec<Problem>,
        settings: FlaskSettings,
    ) -> Self {
        let total = instructions.len();
        shuffle(&mut instructions, settings.seed);
        let answered: std::collections::BTreeSet<&str> =
            outputs.iter().flat_map(|(_, outputs)| outputs.iter().map(|output| output.id.as_str())).collect();
        let known: std::collections::BTreeSet<String> =
            instructions.iter().map(|instruction| instruction.id.clone()).collect();
        for (model, outputs) in &outputs {
            let strange = outputs.iter().filter(|output| !known.contains(&output.id)).count();
            if strange > 0 {
                problems.push(Problem {
                    file: format!("{model}.jsonl"),
                    line: None,
                    message: format!(
                        "{strange} responses are to instructions that are not in the evaluation set; skipped"
                    ),
                });
            }
        }
        // Only instructions that somebody responded to: the limit counts work, not gaps.
        instructions.retain(|instruction| answered.contains(instruction.id.as_str()));
        instructions.truncate(settings.limit.unwrap_or(usize::MAX));
        let place: BTreeMap<&str, usize> = instructions
            .iter()
            .enumerate()
            .map(|(place, instruction)| (instruction.id.as_str(), place))
            .collect();
        let mut responses = Vec::new();
        for (model, (_, outputs)) in outputs.iter().enumerate() {
            for output in outputs {
                let Some(&instruction) = place.get(output.id.as_str()) else { continue };
                let reference = instructions[instruction].reference.as_deref();
                responses.push(Response {
                    instruction,
                    model,
                    text: output.text.clone(),
                    words: count(words(&output.text).len()),
                    overlap: reference
                        .and_then(|reference| rouge_l(&output.text, reference, 1.0).ok())
                        .and_then(|rouge| rouge.f.value()),
                });
            }
        }
        responses.sort_by_key(|response| (response.instruction, response.model));
        let models: Vec<String> = outputs.into_iter().map(|(model, _)| model).collect();
        let given =
            given.into_iter().map(|given| Given::new(given, &instructions, &models, &responses)).collect();
        let without_rubric = Skill::ALL
            .into_iter()
            .map(|skill| {
                let known = builtin().iter().find(|rubric| rubric.id == skill.id());
                let options = (1..=5_u8).map(|value| RubricOption::new(value.to_string(), f64::from(value)));
                Rubric {
                    not_applicable: known.and_then(|rubric| rubric.not_applicable.clone()),
                    question: Some(format!("{}?", skill.name())),
                    ..Rubric::new(skill.id(), skill.name(), "Nothing else is judged.", options.collect())
                }
            })
            .collect();
        Self {
            settings,
            instructions,
            models,
            responses,
            given,
            total,
            problems,
            without_rubric,
            agnostic: agnostic(),
        }
    }

    /// What could not be read.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    fn skills(&self, response: &Response) -> Vec<Skill> {
        if self.settings.all_skills {
            Skill::ALL.to_vec()
        } else {
            self.instructions[response.instruction].skills.clone()
        }
    }

    fn id(&self, response: &Response, condition: FlaskCondition) -> String {
        let id = &self.instructions[response.instruction].id;
        format!("{id}/{}/{}", self.models[response.model], condition.name())
    }

    fn ask<'a>(&'a self, response: &'a Response, condition: FlaskCondition) -> Option<Ask<'a>> {
        let (keys, questions): (Vec<&'static str>, Vec<Question<'a>>) = match condition {
            FlaskCondition::Agnostic => (vec!["overall"], vec![Question::of_rubric(&self.agnostic)]),
            _ => {
                let rubrics = match condition {
                    FlaskCondition::NoRubric => self.without_rubric.as_slice(),
                    _ => builtin(),
                };
                let skills = self.skills(response);
                let found = skills.into_iter().filter_map(|skill| {
                    let rubric = rubrics.iter().find(|rubric| rubric.id == skill.id())?;
                    Some((skill.id(), Question::of_rubric(rubric)))
                });
                found.unzip()
            }
        };
        if questions.is_empty() {
            return None;
        }
        let instruction = &self.instructions[response.instruction];
        let reference = instruction.reference.as_deref().filter(|_| condition != FlaskCondition::NoReference);
        // The order of a judgement in the page and on the command line.
        let mut fields =
            vec![Field::prompt(instruction.prompt.as_str()), Field::response(response.text.as_str())];
        fields.extend(reference.map(Field::reference));
        // The short question of a skill says what the skill is, which is what this condition leaves out.
        let wording =
            if condition == FlaskCondition::NoRubric { Wording::Full } else { self.settings.wording };
        let inquiry = Inquiry { aim: Aim::Rate, fields, questions, wording };
        Some(Ask { id: self.id(response, condition), keys, inquiry })
    }

    /// The score of a response under a skill; of the agnostic question, the same for every skill.
    fn score(
        &self,
        response: &Response,
        condition: FlaskCondition,
        skill: Skill,
        answers: &Answers,
    ) -> Option<f64> {
        let key = if condition == FlaskCondition::Agnostic { "overall" } else { skill.id() };
        answers.expected(&self.id(response, condition), key)
    }

    fn skill_conditions(&self) -> impl Iterator<Item = FlaskCondition> {
        self.settings.conditions.iter().copied().filter(|condition| *condition != FlaskCondition::Agnostic)
    }
}

impl Given {
    fn new(
        given: GivenScores,
        instructions: &[Instruction],
        models: &[String],
        responses: &[Response],
    ) -> Self {
        // FLASK's reviews name an instruction by its number, Retort's records by the hash of its text.
        let hashes: Vec<String> =
            instructions.iter().map(|instruction| sha256_hex(instruction.prompt.as_bytes())).collect();
        let mut ids: BTreeMap<(&str, usize), usize> = BTreeMap::new();
        for (index, response) in responses.iter().enumerate() {
            ids.insert((instructions[response.instruction].id.as_str(), response.model), index);
            ids.insert((hashes[response.instruction].as_str(), response.model), index);
        }
        let (mut scores, mut unmatched) = (BTreeMap::new(), 0);
        for row in given.rows {
            let model = row.model.as_deref().and_then(|name| model_of(name, models));
            let index = model.and_then(|model| ids.get(&(row.id.as_str(), model)).copied());
            let Some(index) = index else {
                unmatched += 1;
                continue;
            };
            for score in &row.scores {
                let skill = Skill::from_id(&score.rubric_id);
                if let (Some(skill), Score::Value { value, .. }) = (skill, &score.score) {
                    scores.entry((index, skill)).or_insert(*value);
                }
            }
        }
        Self { name: given.name, scores, unmatched }
    }
}

/// Which model a name means: its own, or one that it begins with (`chatgpt_review` means `chatgpt`); the longest of
/// several.
fn model_of(name: &str, models: &[String]) -> Option<usize> {
    let fits = |model: &str| {
        let rest = name.strip_prefix(model)?;
        rest.chars().next().is_none_or(|next| !next.is_alphanumeric()).then_some(model.len())
    };
    let all = models.iter().enumerate().filter_map(|(index, model)| Some((fits(model)?, index)));
    all.max().map(|(_, index)| index)
}

fn read_scores(path: &Path, problems: &mut Vec<Problem>) -> Result<GivenScores, DataError> {
    let file = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| DataError::Unreadable {
        file: file.clone(),
        problem: format!("{error}; give a file of FLASK reviews or of records of Retort's"),
    })?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(&file);
    let reading = retort_report::read(&[Source { name, bytes: &bytes }], &[]);
    problems.extend(reading.problems.iter().map(|problem| Problem {
        file: problem.file.clone(),
        line: Some(problem.line),
        message: if problem.field.is_empty() {
            problem.message.clone()
        } else {
            format!("{}: {}", problem.field, problem.message)
        },
    }));
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or(name);
    Ok(GivenScores { name: stem.to_owned(), rows: reading.rows })
}

impl Exam for Flask {
    fn name(&self) -> &str {
        "flask"
    }

    fn asks(&self) -> Vec<Ask<'_>> {
        let each = self.responses.iter().flat_map(|response| {
            self.settings.conditions.iter().filter_map(move |&condition| self.ask(response, condition))
        });
        each.collect()
    }

    fn measures<'a>(&'a self, answers: &Answers) -> Vec<Table<Measure<'a>>> {
        let mut tables: Vec<Table<Measure<'a>>> =
            (0..self.models.len()).map(|model| self.profile(model, answers)).collect();
        tables.extend(self.given.iter().map(|given| self.agreement(given, answers)));
        tables.extend(self.ablations(answers));
        tables.extend(self.lengths(answers));
        if let Some(first) = tables.first_mut() {
            first.notes.extend(self.notes());
        }
        tables
    }
}

/// Scores with their clusters.
type Items<'a> = Vec<(&'a str, Seen<f64>)>;

/// A score with its cluster, another's score of the same thing beside it.
type Beside<'a> = (&'a str, Option<f64>, f64);

impl Flask {
    fn profile<'a>(&'a self, model: usize, answers: &Answers) -> Table<Measure<'a>> {
        let mut rows = Vec::new();
        let mut not_applicable = 0;
        let responses = || self.responses.iter().filter(move |response| response.model == model);
        for &condition in &self.settings.conditions {
            let judge = condition.name();
            if condition == FlaskCondition::Agnostic {
                let items: Vec<_> = responses()
                    .map(|response| {
                        let id = self.instructions[response.instruction].id.as_str();
                        (id, answers.expected(&self.id(response, condition), "overall"))
                    })
                    .collect();
                rows.push(row("all", judge, "mean_score", Measure::mean(&items)));
                continue;
            }
            // By skill, by domain and by difficulty: what each score counts towards.
            let mut parts: BTreeMap<(u8, String), Items<'_>> = BTreeMap::new();
            for response in responses() {
                let instruction = &self.instructions[response.instruction];
                for skill in self.skills(response) {
                    let mut beside = false;
                    let verdict = answers.verdict(&self.id(response, condition), skill.id());
                    if let Some(retort_judge::Verdict::Unscored(why)) = verdict
                        && why.code() == "not_applicable"
                    {
                        not_applicable += 1;
                        beside = true;
                    }
                    let score = self.score(response, condition, skill, answers);
                    let item =
                        (instruction.id.as_str(), if beside { Seen::Beside } else { Seen::from(score) });
                    let needed = instruction.skills.contains(&skill);
                    if needed {
                        parts.entry((0, skill.id().to_owned())).or_default().push(item);
                    }
                    if self.settings.all_skills {
                        parts.entry((1, format!("{} (all responses)", skill.id()))).or_default().push(item);
                    }
                    if condition == FlaskCondition::Full && needed {
                        for domain in &instruction.domains {
                            parts.entry((2, format!("domain {}", domain.id()))).or_default().push(item);
                        }
                        if let Some(level) = instruction.difficulty {
                            let part = format!("difficulty {} {}", level.level(), level.id());
                            parts.entry((3, part)).or_default().push(item);
                        }
                    }
                }
            }
            for ((_, part), items) in parts {
                // A part to which nothing applies says nothing.
                if items.iter().all(|(_, score)| *score == Seen::Beside) {
                    continue;
                }
                rows.push(row(&part, judge, "mean_score", Measure::mean_of(items)));
            }
        }
        let notes = vec![format!(
            "{} responses, each judged by the skills that its instruction needs; scores are expectations from 1 to 5. {} \
             judgements were \"not applicable\" and are in no mean. The agnostic question is one for all responses. \
             Domains and difficulties take together all scores of the instructions that carry them.",
            responses().count(),
            not_applicable
        )];
        Table { title: format!("FLASK: profile of {}", self.models[model]), rows, notes }
    }

    /// What every response and skill that is examined has by a judge, beside another's scores.
    fn beside(
        &self,
        skill: Option<Skill>,
        score: &dyn Fn(usize, &Response, Skill) -> Option<f64>,
        other: &dyn Fn(usize, &Response, Skill) -> Option<f64>,
    ) -> Vec<Beside<'_>> {
        let mut items = Vec::new();
        for (index, response) in self.responses.iter().enumerate() {
            for known in self.skills(response) {
                if skill.is_none_or(|skill| skill == known)
                    && let Some(given) = other(index, response, known)
                {
                    let id = self.instructions[response.instruction].id.as_str();
                    items.push((id, score(index, response, known), given));
                }
            }
        }
        items
    }

    fn agreement<'a>(&'a self, given: &Given, answers: &Answers) -> Table<Measure<'a>> {
        let mut rows = Vec::new();
        let other = |index: usize, _: &Response, skill| given.scores.get(&(index, skill)).copied();
        let mut add = |judge: &str, score: &dyn Fn(usize, &Response, Skill) -> Option<f64>| {
            let all = self.beside(None, score, &other);
            for (metric, figure) in [
                ("spearman", spearman as Correlation),
                ("kendall_tau_b", kendall_tau_b as Correlation),
                ("pearson", pearson as Correlation),
            ] {
                rows.push(row("all", judge, metric, correlation(&all, figure)));
            }
            for skill in Skill::ALL {
                let items = self.beside(Some(skill), score, &other);
                if !items.is_empty() {
                    rows.push(row(skill.id(), judge, "spearman", correlation(&items, spearman)));
                }
            }
        };
        for &condition in &self.settings.conditions {
            add(condition.name(), &|_, response, skill| self.score(response, condition, skill, answers));
        }
        add("random", &|_, response, skill| {
            let id = format!("{}/{}", self.id(response, FlaskCondition::Full), skill.id());
            Some(count(draw(0, &id, 1 << 20)))
        });
        add("longer", &|_, response, _| Some(response.words));
        add("shorter", &|_, response, _| Some(-response.words));
        add("overlap", &|_, response, _| response.overlap);
        let notes = vec![
            format!(
                "{} scores of responses that are examined; {} rows of the file are about others. Rows are one response \
                 under one skill; the agnostic question's score stands beside every skill of its response, as in the paper. \
                 Intervals draw instructions.",
                given.scores.len(),
                given.unmatched
            ),
            "Published, over 200 instances and three people each (Spearman): ROUGE-L .333, GPT-4 agnostic .641, GPT-4 by \
             skill .680, without reference .516, without rubric .646. Those people's scores are not public."
                .to_owned(),
        ];
        Table { title: format!("FLASK: agreement with {}", given.name), rows, notes }
    }

    fn ablations<'a>(&'a self, answers: &Answers) -> Option<Table<Measure<'a>>> {
        let has = |condition| self.settings.conditions.contains(&condition);
        if !has(FlaskCondition::Full) || self.settings.conditions.len() < 2 {
            return None;
        }
        let full =
            |_: usize, response: &Response, skill| self.score(response, FlaskCondition::Full, skill, answers);
        let mut rows = Vec::new();
        for &condition in
            self.settings.conditions.iter().filter(|condition| **condition != FlaskCondition::Full)
        {
            let score =
                |_: usize, response: &Response, skill| self.score(response, condition, skill, answers);
            let items = self.beside(None, &score, &full);
            rows.push(row("all", condition.name(), "spearman_with_skills", correlation(&items, spearman)));
            let change: Vec<_> =
                items.iter().map(|(id, score, full)| (*id, score.map(|score| score - full))).collect();
            rows.push(row("all", condition.name(), "change_of_score", Measure::mean(&change)));
        }
        let notes = vec![
            "Each ablation beside the full form, over responses and skills that the full form gives a score: rank \
             correlation, and by how much the score rises. This says what a part of the prompt does, not that it does good."
                .to_owned(),
        ];
        Some(Table { title: "FLASK: ablations beside the full form".to_owned(), rows, notes })
    }

    fn lengths<'a>(&'a self, answers: &Answers) -> Option<Table<Measure<'a>>> {
        let mut rows = Vec::new();
        for condition in self.skill_conditions() {
            for skill in Skill::ALL {
                let items: Vec<(&str, Option<f64>, f64, usize)> = self
                    .responses
                    .iter()
                    .filter(|response| self.skills(response).contains(&skill))
                    .map(|response| {
                        let id = self.instructions[response.instruction].id.as_str();
                        (id, self.score(response, condition, skill, answers), response.words, response.model)
                    })
                    .collect();
                if items.is_empty() {
                    continue;
                }
                let items: Vec<(&str, Seen<Scored>)> = items
                    .into_iter()
                    .map(|(id, score, words, model)| {
                        (id, Seen::from(score.map(|score| (score, words, model))))
                    })
                    .collect();
                for (metric, pearsons) in [("length_pearson", true), ("length_spearman", false)] {
                    let figure = Measure::of(items.iter().copied(), move |scored| {
                        let (scores, lengths): (Vec<f64>, Vec<f64>) =
                            scored.iter().map(|(score, words, _)| (*score, *words)).unzip();
                        let found = length_score_correlation(&lengths, &scores)?;
                        Ok(if pearsons { found.pearson } else { found.spearman })
                    });
                    rows.push(row(skill.id(), condition.name(), metric, figure));
                }
                if self.models.len() > 2 {
                    let figure = Measure::of(items, by_model);
                    rows.push(row(skill.id(), condition.name(), "length_pearson_of_models", figure));
                }
            }
        }
        let published: Vec<String> =
            PUBLISHED_LENGTH.iter().map(|(skill, r)| format!("{} {r}", skill.id())).collect();
        let notes = vec![format!(
            "Length in words against score: over responses, and (with three models or more) over models by their means, \
             which is what the paper gives for GPT-4's scores: {}.",
            published.join(", ")
        )];
        (!rows.is_empty()).then(|| Table { title: "FLASK: length against score".to_owned(), rows, notes })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!(
            "{} of {} instructions, drawn with seed {}; {} models. Criteria and levels are this project's own wording of \
             FLASK's skills.",
            self.instructions.len(),
            self.total,
            self.settings.seed,
            self.models.len()
        )];
        if let Some(first) = self.problems.first() {
            notes.push(format!(
                "{} problems of reading (rows or labels that were skipped), the first: {first}",
                self.problems.len()
            ));
        }
        notes
    }
}

type Correlation = fn(&[f64], &[f64]) -> Result<Statistic, InputError>;

fn correlation<'a>(items: &[Beside<'_>], figure: Correlation) -> Measure<'a> {
    let items = items.iter().map(|(id, score, other)| (*id, Seen::from(score.map(|score| (score, *other)))));
    Measure::of(items, move |both: &[(f64, f64)]| {
        let (own, other): (Vec<f64>, Vec<f64>) = both.iter().copied().unzip();
        figure(&own, &other)
    })
}

/// A response's score, its words and its model.
type Scored = (f64, f64, usize);

/// Pearson's correlation of models' mean lengths with their mean scores.
fn by_model(scored: &[Scored]) -> Result<Statistic, InputError> {
    let mut models: BTreeMap<usize, Vec<Scored>> = BTreeMap::new();
    for &one in scored {
        models.entry(one.2).or_default().push(one);
    }
    let (mut lengths, mut scores) = (Vec::new(), Vec::new());
    for scored in models.values() {
        let length = mean(scored.iter().map(|one| one.1)).value();
        let score = mean(scored.iter().map(|one| one.0)).value();
        if let Some((length, score)) = length.zip(score) {
            lengths.push(length);
            scores.push(score);
        }
    }
    pearson(&lengths, &scores)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests;
