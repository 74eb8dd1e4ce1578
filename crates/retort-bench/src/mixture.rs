//! The mixture: public data of many tasks as one training file.
//!
//! The files are read twice. The first reading leaves out what evaluation sets know ([`Evaluation`]), splits by group
//! ([`Split`]) and picks a sample; the second formats what was picked, by the very code that asks a model at run time
//! ([`retort_judge::Inquiry`]), so that training sees what use will show. In between nothing of the texts is kept.
//!
//! `mixture.jsonl` has one row per line in a seeded order. `segments` (or, of two responses judged alone, `first` and
//! `second`) are pieces of the prompt, each to be tokenized on its own: `["t", …]` is text of ours, in which special
//! tokens are special, `["u", …]` text of people. `options` are the spellings of each answer, `target` what people
//! said: the share of each option, or of each response. `mixture.json` is the [`Manifest`].

mod evaluation;
mod licence;
mod overlap;
mod row;
mod sample;
mod shuffle;
mod summary;
pub(crate) mod text;
mod variant;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use retort_judge::Wording;
use retort_lm::{Flow, LmError, TextModel};
use serde::Serialize;

pub use evaluation::{EachText, EvaluationSource, SOURCES};
pub use licence::unfit;
pub use overlap::{BEGINNING_WORDS, Evaluation, GRAM_WORDS, Reason, Role, WHOLE_RESPONSE_WORDS, WHOLE_WORDS};

use crate::split::group_hash;
use crate::{Counts, DataDir, DataError, Example, Item, Labels, Part, Purpose, Split, Target, Task, read};
use row::{Form, Instead, Setting, Shortened};
use sample::{Pick, Sampler, quotas};
use shuffle::Buckets;
use variant::Varier;

/// The form of the two files; a reader of them must know it.
pub const FORM: u32 = 1;

/// The rows.
pub const ROWS_FILE: &str = "mixture.jsonl";
/// The manifest. It is written last: where it is, the rows are whole.
pub const MANIFEST_FILE: &str = "mixture.json";

/// How many ids or messages of one kind are shown.
const SHOWN: usize = 3;

/// How a mixture is made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    /// The seed of sampling, order and wordings.
    pub seed: u64,
    /// At most so many rows per task; FLAMe has 2^16 (Vu et al. 2024, section 4).
    pub cap: usize,
    /// At most so many rows in all, from each task in proportion to what it has under the cap.
    pub rows: Option<usize>,
    /// Each task's share of `rows`, in place of that proportion. Tasks that are not named give nothing.
    pub weights: Option<BTreeMap<String, f64>>,
    /// How pairs are shown.
    pub pairs: Pairs,
    /// Which side of the split.
    pub part: Part,
    /// How groups are split.
    pub split: Split,
    /// The share of examples that are asked about by the short question, 0 to 1; the others read the whole
    /// instructions.
    pub short_share: f64,
    /// The share of examples, of tasks whose labels say something about a skill or the quality as a whole, that are asked
    /// about by that rubric in place of the task's question; for every four of them one is asked by a skill that does
    /// not apply, where the task names some.
    pub skill_share: f64,
    /// For which share of examples, of tasks that name [`Variant`](crate::Variant)s, one more row is made of a variant.
    pub variant_share: f64,
    /// Texts are cut so that a prompt has at most so many tokens; the model's context, where nothing is given.
    pub max_tokens: Option<usize>,
    /// Whether classes weigh the same within a task.
    pub balance: bool,
    /// Whether, within a pairwise task, pairs whose longer response is the better one weigh as much as the others.
    pub balance_length: bool,
    /// Whether tasks that may not be trained on are left out, rather than refused.
    pub skip_unfit: bool,
    /// Whether the mixture is made although evaluation sets are absent, and may be trained on unnoticed.
    pub allow_missing: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 0,
            cap: 1 << 16,
            rows: None,
            weights: None,
            pairs: Pairs::Alone,
            part: Part::Train,
            split: Split::default(),
            short_share: 0.5,
            skill_share: 0.0,
            variant_share: 0.0,
            max_tokens: None,
            balance: true,
            balance_length: false,
            skip_unfit: false,
            allow_missing: false,
        }
    }
}

/// How pairs are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pairs {
    /// Each response alone: one row with two prompts.
    Alone,
    /// Both together, in both orders: two rows.
    Together,
    /// Both ways: three rows.
    Both,
}

/// The model whose template and tokenizer the rows are made for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BaseModel {
    /// Its name or file name.
    pub name: String,
    /// Of its file.
    pub sha256: String,
}

/// What was made of what.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Manifest {
    /// [`FORM`].
    pub form: u32,
    /// What wrote it.
    pub generator: String,
    /// For which model.
    pub model: BaseModel,
    /// How.
    pub settings: Settings,
    /// Rows written.
    pub rows: usize,
    /// Tokens of their prompts.
    pub tokens: usize,
    /// Of [`ROWS_FILE`].
    pub sha256: String,
    /// By task.
    pub tasks: BTreeMap<String, TaskReport>,
    /// Tasks that were left out, and why.
    pub skipped: BTreeMap<String, String>,
    /// What was kept clear of, in the order of reading: a text that several sets share is counted for the first.
    pub evaluation: Vec<EvaluationReport>,
    /// How long a shared text must be to count.
    pub overlap: OverlapRules,
    /// Examples dropped because an evaluation set has a text of theirs: by task, set and reason.
    pub dropped: BTreeMap<String, BTreeMap<String, BTreeMap<Reason, Dropped>>>,
}

/// How many words make an overlap; see [`Evaluation`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OverlapRules {
    /// [`WHOLE_WORDS`].
    pub whole_words: usize,
    /// [`WHOLE_RESPONSE_WORDS`].
    pub whole_response_words: usize,
    /// [`BEGINNING_WORDS`].
    pub beginning_words: usize,
    /// [`GRAM_WORDS`].
    pub gram_words: usize,
}

/// Examples that were dropped.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Dropped {
    /// How many.
    pub examples: usize,
    /// The first of them.
    pub ids: Vec<String>,
}

/// An evaluation set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvaluationReport {
    /// Its name.
    pub name: String,
    /// Texts that were read.
    pub texts: usize,
    /// Rows that could not be read: their texts are not known.
    pub problems: usize,
    /// Why it could not be read at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// What became of a task. Numbers are of examples where nothing else is said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskReport {
    /// Where it comes from.
    pub repository: String,
    /// Its licence.
    pub licence: String,
    /// Who labelled.
    pub labels: Labels,
    /// Read.
    pub read: usize,
    /// Rows that could not be read.
    pub problems: usize,
    /// The first of them.
    pub first_problems: Vec<String>,
    /// Without a label that can be trained on.
    pub unlabelled: usize,
    /// Left out because of an evaluation set.
    pub dropped: usize,
    /// On each side of the split.
    pub split: BTreeMap<Part, usize>,
    /// Picked.
    pub picked: usize,
    /// Of those, so long that too little of them would be left.
    pub too_long: usize,
    /// Of those, with a text that was cut.
    pub truncated: usize,
    /// Rows written.
    pub rows: usize,
    /// Tokens of their prompts.
    pub tokens: usize,
    /// By class.
    pub classes: Vec<ClassReport>,
    /// Of pairs: how often the longer response is the better one, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longer: Option<Longer>,
    /// Rows that ask by a rubric in place of the task's question, by its id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub asked: BTreeMap<String, usize>,
    /// Rows made of variants, by kind; they are among `rows`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variants: BTreeMap<&'static str, usize>,
}

/// A class: an option, or the direction of length.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassReport {
    /// Its name; `none` for examples without one.
    pub name: String,
    /// Examples on this side of the split.
    pub available: usize,
    /// Picked.
    pub picked: usize,
    /// The weight of each one's rows.
    pub weight: f64,
}

/// How often the longer response is the better one, among pairs with a better and a longer one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Longer {
    /// Among those on this side of the split.
    pub before: Option<f64>,
    /// Among those picked, by weight.
    pub after: Option<f64>,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// With what.
    pub phase: Phase,
    /// The task or set.
    pub name: &'a str,
    /// Examples or rows so far.
    pub done: usize,
    /// Of so many, about.
    pub total: usize,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Evaluation sets are read.
    Evaluation,
    /// Training examples are counted and picked.
    Reading,
    /// Rows are made.
    Writing,
    /// Rows are put in order.
    Ordering,
}

/// Why there is no mixture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MixtureError {
    /// A task may not be trained on.
    #[error("{task} cannot be in a mixture: {reason}; leave it out (--skip-unfit leaves out all such tasks)")]
    Unfit {
        /// The task.
        task: String,
        /// Why.
        reason: String,
    },
    /// A setting cannot be.
    #[error("{setting}: {problem}")]
    Setting {
        /// Which, as on the command line.
        setting: &'static str,
        /// What is wrong and what to do.
        problem: String,
    },
    /// Nothing would be written.
    #[error("there is nothing to write: {0}")]
    Nothing(String),
    /// A task's data cannot be read.
    #[error("{task}: {problem}")]
    Data {
        /// The task.
        task: String,
        /// What is wrong.
        problem: DataError,
    },
    /// An evaluation set cannot be read, so nothing can be kept clear of it.
    #[error(
        "the evaluation set {set} cannot be read, so its texts could be trained on unnoticed: {problem}. Give its \
         data, or say --allow-missing-evaluation"
    )]
    Evaluation {
        /// The set.
        set: String,
        /// What is wrong.
        problem: DataError,
    },
    /// The files changed between the two readings.
    #[error("the data of {task} changed while they were read; start again when nothing writes to them")]
    Changed {
        /// The task.
        task: String,
    },
    /// The model's template or tokenizer refused a text.
    #[error("{task}, example {id}: {problem}")]
    Model {
        /// The task.
        task: String,
        /// The example.
        id: String,
        /// What it said.
        problem: Box<LmError>,
    },
    /// There is a mixture already.
    #[error("{path} exists already; name another folder, or move it away")]
    Exists {
        /// The file or folder.
        path: String,
    },
    /// A file could not be written.
    #[error("{path} could not be written: {problem}")]
    Write {
        /// The file.
        path: String,
        /// What the system said.
        problem: String,
    },
    /// The caller said stop. Nothing was left behind.
    #[error("it was stopped; nothing was written")]
    Stopped,
}

/// What a mixture is made from.
pub struct Sources<'a, M> {
    /// The tasks that are wanted.
    pub tasks: Vec<&'a Task>,
    /// The tasks whose texts must not occur; those for evaluation.
    pub evaluation: Vec<&'a Task>,
    /// Further sets whose texts must not occur: [`SOURCES`].
    pub further: &'a [EvaluationSource],
    /// Where the public data are.
    pub data: &'a DataDir,
    /// Template, tokenizer and context.
    pub model: &'a M,
    /// What the model is called.
    pub base: BaseModel,
}

type Watcher<'a> = dyn FnMut(Progress<'_>) -> Flow + 'a;

/// Makes a mixture: [`ROWS_FILE`] and [`MANIFEST_FILE`] in `folder`, which is created if need be. The same sources and
/// settings give the same bytes.
///
/// # Errors
/// [`MixtureError`]; then neither file is there.
pub fn build<M: TextModel>(
    sources: &Sources<'_, M>,
    settings: &Settings,
    folder: &Path,
    watch: &mut dyn FnMut(Progress<'_>) -> Flow,
) -> Result<Manifest, MixtureError> {
    check(settings)?;
    let (mut entries, skipped) = entries(&sources.tasks, settings)?;
    let desk = Desk::new(folder)?;
    let (evaluation, evaluation_reports) = evaluation_texts(sources, settings, watch)?;

    let mut dropped = BTreeMap::new();
    let total = entries.iter().map(|entry| entry.task.reader.examples.unwrap_or(0)).sum();
    let mut done = 0;
    for entry in &mut entries {
        let by_set = entry.survey(sources.data, &evaluation, settings, &mut |in_task| {
            watch(Progress { phase: Phase::Reading, name: &entry.task.name, done: done + in_task, total })
        })?;
        done += entry.report.read;
        if !by_set.is_empty() {
            dropped.insert(entry.task.name.clone(), by_set);
        }
    }
    drop(evaluation);
    pick(&mut entries, settings)?;

    let picked: usize = entries.iter().map(|entry| entry.picks.len()).sum();
    let expected = entries.iter().map(|entry| entry.picks.len() * entry.rows_per_example).sum();
    let mut buckets = Buckets::new(&desk.work, expected)?;
    let context = settings.max_tokens.unwrap_or(usize::MAX);
    let model = Shortened { model: sources.model, context };
    let mut done = 0;
    for entry in &mut entries {
        let name = entry.task.name.as_str();
        entry.write(sources.data, &model, settings, &mut buckets, &mut |in_task| {
            watch(Progress { phase: Phase::Writing, name, done: done + in_task, total: picked })
        })?;
        done += entry.picks.len();
    }
    let written = buckets.write(&desk.work.join(ROWS_FILE), &mut |done, total| {
        watch(Progress { phase: Phase::Ordering, name: "rows", done, total })
    })?;
    if written.rows == 0 {
        return Err(MixtureError::Nothing("no example was short enough for --max-tokens".into()));
    }

    let manifest = Manifest {
        form: FORM,
        generator: format!("retort {}", env!("CARGO_PKG_VERSION")),
        model: sources.base.clone(),
        settings: settings.clone(),
        rows: written.rows,
        tokens: entries.iter().map(|entry| entry.report.tokens).sum(),
        sha256: written.sha256,
        tasks: entries.into_iter().map(|entry| (entry.task.name.clone(), entry.report)).collect(),
        skipped,
        evaluation: evaluation_reports,
        overlap: OverlapRules {
            whole_words: WHOLE_WORDS,
            whole_response_words: WHOLE_RESPONSE_WORDS,
            beginning_words: BEGINNING_WORDS,
            gram_words: GRAM_WORDS,
        },
        dropped,
    };
    desk.finish(&manifest)?;
    Ok(manifest)
}

fn check(settings: &Settings) -> Result<(), MixtureError> {
    let wrong = |setting, problem: &str| Err(MixtureError::Setting { setting, problem: problem.to_owned() });
    let share = |share: f64| (0.0..=1.0).contains(&share);
    if !share(settings.short_share) {
        return wrong("--short-share", "give a share from 0 to 1");
    }
    if !share(settings.skill_share) {
        return wrong("--skill-share", "give a share from 0 to 1");
    }
    if !share(settings.variant_share) {
        return wrong("--variants", "give a share from 0 to 1");
    }
    let Split { validation, test, .. } = settings.split;
    if !share(validation) || !share(test) || validation + test > 1.0 {
        return wrong("split", "give shares from 0 to 1 that sum to 1 at most");
    }
    if settings.cap == 0 || settings.rows == Some(0) {
        return wrong("--cap and --rows", "give 1 or more");
    }
    if let Some(weights) = &settings.weights {
        if settings.rows.is_none() {
            return wrong("--weights", "weights are shares of a size; give --rows too");
        }
        if !weights.values().all(|weight| weight.is_finite() && *weight >= 0.0) {
            return wrong("--weights", "give finite weights of 0 or more");
        }
    }
    Ok(())
}

/// A task on its way.
struct Entry<'a> {
    task: &'a Task,
    form: Form<'a>,
    rows_per_example: usize,
    sampler: Option<Sampler>,
    picks: Vec<Pick>,
    report: TaskReport,
}

fn entries<'a>(
    tasks: &[&'a Task],
    settings: &Settings,
) -> Result<(Vec<Entry<'a>>, BTreeMap<String, String>), MixtureError> {
    let mut by_name: BTreeMap<&str, &'a Task> =
        tasks.iter().map(|task| (task.name.as_str(), *task)).collect();
    if let Some(weights) = &settings.weights {
        if let Some(unknown) = weights.keys().find(|name| !by_name.contains_key(name.as_str())) {
            let problem = format!("{unknown} is none of the tasks of this mixture; check its name");
            return Err(MixtureError::Setting { setting: "--weights", problem });
        }
        by_name.retain(|name, _| weights.get(*name).is_some_and(|weight| *weight > 0.0));
    }
    let (mut entries, mut skipped) = (Vec::new(), BTreeMap::new());
    for task in by_name.into_values() {
        let refused = unfit(task);
        if let Some(reason) = refused.clone().filter(|_| !settings.skip_unfit) {
            return Err(MixtureError::Unfit { task: task.name.clone(), reason });
        }
        // That there is no row for a task is a limit of this form and nothing to refuse a mixture for.
        match refused.map_or_else(|| Form::new(task), Err) {
            Ok(form) => entries.push(Entry::new(task, form, settings)),
            Err(reason) => {
                skipped.insert(task.name.clone(), reason);
            }
        }
    }
    if entries.is_empty() {
        return Err(MixtureError::Nothing("there is no task that may be trained on".into()));
    }
    Ok((entries, skipped))
}

impl<'a> Entry<'a> {
    fn new(task: &'a Task, form: Form<'a>, settings: &Settings) -> Self {
        let rows_per_example = form.rows_per_example(settings.pairs);
        // No more examples than this are ever asked for.
        let limit = settings.rows.unwrap_or(usize::MAX).min(settings.cap).div_ceil(rows_per_example);
        Self {
            task,
            rows_per_example,
            sampler: Some(Sampler::new(form.classes().len(), limit)),
            picks: Vec::new(),
            report: TaskReport {
                repository: task.source.repository.clone(),
                licence: task.source.licence.clone(),
                labels: task.source.labels,
                read: 0,
                problems: 0,
                first_problems: Vec::new(),
                unlabelled: 0,
                dropped: 0,
                split: Part::ALL.into_iter().map(|part| (part, 0)).collect(),
                picked: 0,
                too_long: 0,
                truncated: 0,
                rows: 0,
                tokens: 0,
                classes: Vec::new(),
                longer: None,
                asked: BTreeMap::new(),
                variants: BTreeMap::new(),
            },
            form,
        }
    }

    /// The first reading.
    fn survey(
        &mut self,
        data: &DataDir,
        evaluation: &Evaluation,
        settings: &Settings,
        progress: &mut dyn FnMut(usize) -> Flow,
    ) -> Result<BTreeMap<String, BTreeMap<Reason, Dropped>>, MixtureError> {
        let mut by_set: BTreeMap<String, BTreeMap<Reason, Dropped>> = BTreeMap::new();
        let (form, report, sampler) = (&self.form, &mut self.report, &mut self.sampler);
        let problem = |report: &mut TaskReport, message: String| {
            report.problems += 1;
            if report.first_problems.len() < SHOWN {
                report.first_problems.push(message);
            }
        };
        each_item(self.task, data, progress, &mut |index, item| {
            let example = match item {
                Ok(example) => example,
                Err(wrong) => {
                    problem(report, wrong.to_string());
                    return Ok(());
                }
            };
            report.read += 1;
            if matches!(example.target, Target::Unknown) {
                report.unlabelled += 1;
                return Ok(());
            }
            let class = match form.class(example) {
                Ok(class) => class,
                Err(reason) => {
                    problem(report, format!("example {}: {reason}", example.id));
                    return Ok(());
                }
            };
            let shared = texts(example).into_iter().find_map(|(role, text)| evaluation.find(role, text));
            if let Some((set, reason)) = shared {
                report.dropped += 1;
                let set = by_set.entry(evaluation.name(set).to_owned()).or_default();
                let dropped = set.entry(reason).or_default();
                dropped.examples += 1;
                if dropped.ids.len() < SHOWN {
                    dropped.ids.push(example.id.clone());
                }
                return Ok(());
            }
            let part = settings.split.part(&example.group);
            *report.split.entry(part).or_default() += 1;
            if part == settings.part
                && let Some(sampler) = sampler
            {
                sampler.offer(class, priority(settings, &self.task.name, &example.id), index);
            }
            Ok(())
        })?;
        Ok(by_set)
    }

    /// The second reading.
    fn write<M: TextModel>(
        &mut self,
        data: &DataDir,
        model: &M,
        settings: &Settings,
        buckets: &mut Buckets,
        progress: &mut dyn FnMut(usize) -> Flow,
    ) -> Result<(), MixtureError> {
        if self.picks.is_empty() {
            return Ok(());
        }
        let (form, report, name) = (&self.form, &mut self.report, &self.task.name);
        let mut picks = self.picks.iter().peekable();
        let changed = || MixtureError::Changed { task: name.clone() };
        let picked = self.picks.len();
        let mut done = 0;
        let mut varier = Varier::new(self.task, settings.seed);
        let mut always = |_| Flow::Continue;
        each_item(self.task, data, &mut always, &mut |index, item| {
            let Ok(example) = item else { return Ok(()) };
            let Some(pick) = picks.next_if(|pick| pick.index == index) else { return Ok(()) };
            if priority(settings, name, &example.id) != pick.priority {
                return Err(changed());
            }
            done += 1;
            if done % 64 == 0 && progress(done.min(picked)) == Flow::Stop {
                return Err(MixtureError::Stopped);
            }
            let chance = |what: &str| text::key(settings.seed, &[what, name, &example.id]);
            let setting = Setting {
                pairs: settings.pairs,
                wording: if share_of(chance("wording")) < settings.short_share {
                    Wording::Short
                } else {
                    Wording::Full
                },
                swapped: chance("order") & 1 == 1,
                group: group_hash(&example.group),
                part: settings.part,
                weight: pick.weight,
                task: name,
                instead: instead(self.task, settings.skill_share, &chance),
            };
            let mut made = vec![form.rows(example, &setting, model)];
            let varied = varier.vary(example);
            if let Some(varied) = varied.filter(|_| share_of(chance("variant")) < settings.variant_share) {
                // Both have the same weight in every class: the right answer is known by construction.
                let task = format!("variant_{}", varied.variant.name());
                let setting = Setting { task: &task, weight: 1.0, instead: None, ..setting };
                made.extend(form.varied(example, &varied, &setting, model).transpose());
            }
            for rows in made {
                let rows = match rows {
                    Ok(rows) => rows,
                    Err(LmError::TooLong { .. }) => {
                        report.too_long += 1;
                        continue;
                    }
                    Err(problem) => {
                        return Err(MixtureError::Model {
                            task: name.clone(),
                            id: example.id.clone(),
                            problem: Box::new(problem),
                        });
                    }
                };
                report.truncated += usize::from(rows.truncated);
                for (which, row) in rows.rows {
                    let line = serde_json::to_string(&row).map_err(|error| MixtureError::Write {
                        path: ROWS_FILE.into(),
                        problem: error.to_string(),
                    })?;
                    buckets.add(text::key(settings.seed, &["row", name, &example.id, which]), &line)?;
                    report.rows += 1;
                    report.tokens += row.tokens;
                    row.count(rows.variant, report);
                }
            }
            Ok(())
        })?;
        if picks.peek().is_some() { Err(changed()) } else { Ok(()) }
    }
}

/// What an example is asked in place of its task's question, if anything.
fn instead(task: &Task, skill_share: f64, chance: &dyn Fn(&str) -> u64) -> Option<Instead> {
    let pick = |rubrics: Vec<&'static retort_rubric::Rubric>, what| {
        let place = chance(what).checked_rem(rubrics.len() as u64)?;
        rubrics.get(usize::try_from(place).ok()?).copied()
    };
    if task.kind != crate::Kind::Pairwise && share_of(chance("beside")) < skill_share / 5.0 {
        let beside = pick(task.rubrics_beside(), "which beside").map(Instead::NotApplicable);
        if beside.is_some() {
            return beside;
        }
    }
    let asked = share_of(chance("skill")) < skill_share;
    pick(task.rubrics(), "which skill").filter(|_| asked).map(Instead::Rubric)
}

/// By what examples are picked: a hash, so that a sample does not depend on the order or number of the others.
fn priority(settings: &Settings, task: &str, id: &str) -> u64 {
    text::key(settings.seed, &["pick", task, id])
}

/// A hash as a number from 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
fn share_of(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

/// Reads a task's examples with their places among the examples. Stops working, though not reading, at an error.
fn each_item(
    task: &Task,
    data: &DataDir,
    progress: &mut dyn FnMut(usize) -> Flow,
    each: &mut dyn FnMut(u32, &Item) -> Result<(), MixtureError>,
) -> Result<Counts, MixtureError> {
    let mut outcome = Ok(());
    let mut index = 0_u32;
    let counts = read(task, data, &mut |item| {
        if outcome.is_err() {
            return;
        }
        if index.is_multiple_of(256) && progress(index as usize) == Flow::Stop {
            outcome = Err(MixtureError::Stopped);
            return;
        }
        outcome = each(index, &item);
        index = index.saturating_add(u32::from(item.is_ok()));
    });
    outcome?;
    counts.map_err(|problem| MixtureError::Data { task: task.name.clone(), problem })
}

/// All texts of an example.
fn texts(example: &Example) -> Vec<(Role, &str)> {
    let role = |name: &str| match name {
        "response" => Role::Response,
        name if name.starts_with("response_") => Role::Response,
        _ => Role::Given,
    };
    let mut texts: Vec<(Role, &str)> =
        example.fields.iter().map(|(name, text)| (role(name), text.as_str())).collect();
    texts.extend(example.responses.iter().flatten().map(|text| (Role::Response, text.as_str())));
    if let Target::Text(text) = &example.target {
        texts.push((Role::Response, text));
    }
    if texts.iter().all(|(_, text)| *text != example.group) {
        texts.push((Role::Given, &example.group));
    }
    texts
}

fn evaluation_texts<M>(
    sources: &Sources<'_, M>,
    settings: &Settings,
    watch: &mut Watcher<'_>,
) -> Result<(Evaluation, Vec<EvaluationReport>), MixtureError> {
    let (mut evaluation, mut reports) = (Evaluation::default(), Vec::new());
    let total = sources.evaluation.len() + sources.further.len();
    let mut finish = |mut report: EvaluationReport, problem: Option<DataError>| {
        match problem {
            Some(problem) if settings.allow_missing => report.missing = Some(problem.to_string()),
            Some(problem) => return Err(MixtureError::Evaluation { set: report.name, problem }),
            None => {}
        }
        reports.push(report);
        Ok(())
    };
    let report =
        |name: &str| EvaluationReport { name: name.to_owned(), texts: 0, problems: 0, missing: None };
    for (done, task) in sources.evaluation.iter().enumerate() {
        let set = evaluation.set(&task.name);
        let mut report = report(&task.name);
        let mut progress = |_| watch(Progress { phase: Phase::Evaluation, name: &task.name, done, total });
        let outcome = each_item(task, sources.data, &mut progress, &mut |_, item| {
            match item {
                Ok(example) => {
                    for (role, text) in texts(example) {
                        report.texts += 1;
                        evaluation.add(set, role, text);
                    }
                }
                Err(_) => report.problems += 1,
            }
            Ok(())
        });
        let problem = match outcome {
            Ok(_) => None,
            Err(MixtureError::Data { problem, .. }) => Some(problem),
            Err(error) => return Err(error),
        };
        finish(report, problem)?;
    }
    for (done, source) in (sources.evaluation.len()..).zip(sources.further) {
        let set = evaluation.set(source.name);
        let mut report = report(source.name);
        if watch(Progress { phase: Phase::Evaluation, name: source.name, done, total }) == Flow::Stop {
            return Err(MixtureError::Stopped);
        }
        let outcome = (source.read)(sources.data, &mut |role, text| {
            report.texts += 1;
            evaluation.add(set, role, text);
        });
        finish(report, outcome.err())?;
    }
    Ok((evaluation, reports))
}

/// Decides how many examples of each task, and which.
#[expect(clippy::cast_precision_loss, reason = "numbers of rows are far below 2^52")]
fn pick(entries: &mut [Entry<'_>], settings: &Settings) -> Result<(), MixtureError> {
    let available: Vec<Vec<usize>> =
        entries.iter().map(|entry| entry.sampler.as_ref().map_or_else(Vec::new, Sampler::seen)).collect();
    let sizes: Vec<usize> = entries
        .iter()
        .zip(&available)
        .map(|(entry, seen)| (seen.iter().sum::<usize>() * entry.rows_per_example).min(settings.cap))
        .collect();
    if sizes.iter().all(|size| *size == 0) {
        return Err(MixtureError::Nothing(format!(
            "no example of the tasks is on the {} side of the split",
            settings.part.name()
        )));
    }
    let weights: Vec<f64> = match &settings.weights {
        Some(weights) => {
            entries.iter().map(|entry| weights.get(&entry.task.name).copied().unwrap_or(0.0)).collect()
        }
        None => sizes.iter().map(|size| *size as f64).collect(),
    };
    let quotas = quotas(&sizes, &weights, settings.rows);
    for ((entry, quota), seen) in entries.iter_mut().zip(quotas).zip(available) {
        let is_pair = entry.form.is_pair();
        let balanced = if is_pair { settings.balance_length } else { settings.balance };
        if let Some(sampler) = entry.sampler.take() {
            entry.picks = sampler.pick(quota / entry.rows_per_example, balanced);
        }
        let names = entry.form.classes().into_iter().chain(["none".to_owned()]);
        let report = &mut entry.report;
        report.picked = entry.picks.len();
        report.classes = names
            .zip(seen)
            .enumerate()
            .map(|(class, (name, available))| {
                let mut of_class = entry.picks.iter().filter(|pick| pick.class == class);
                let weight = of_class.clone().next().map_or(0.0, |pick| pick.weight);
                ClassReport { name, available, picked: of_class.by_ref().count(), weight }
            })
            .collect();
        if is_pair && let [longer, shorter, _] = report.classes.as_slice() {
            let share =
                |longer: f64, shorter: f64| (longer + shorter > 0.0).then(|| longer / (longer + shorter));
            let weight = |class: &ClassReport| class.picked as f64 * class.weight;
            report.longer = Some(Longer {
                before: share(longer.available as f64, shorter.available as f64),
                after: share(weight(longer), weight(shorter)),
            });
        }
    }
    Ok(())
}

/// A folder in the making: what is not finished is taken away again.
struct Desk {
    folder: PathBuf,
    work: PathBuf,
}

impl Desk {
    fn new(folder: &Path) -> Result<Self, MixtureError> {
        let failed = |path: &Path, problem: std::io::Error| MixtureError::Write {
            path: path.display().to_string(),
            problem: problem.to_string(),
        };
        std::fs::create_dir_all(folder).map_err(|problem| failed(folder, problem))?;
        for name in [ROWS_FILE, MANIFEST_FILE] {
            let path = folder.join(name);
            if path.exists() {
                return Err(MixtureError::Exists { path: path.display().to_string() });
            }
        }
        let work = folder.join("mixture.partial");
        match std::fs::create_dir(&work) {
            Ok(()) => Ok(Self { folder: folder.to_owned(), work }),
            // Of another run that is still going on, or of one that was killed: only a person can tell.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(MixtureError::Exists { path: work.display().to_string() })
            }
            Err(problem) => Err(failed(&work, problem)),
        }
    }

    fn finish(self, manifest: &Manifest) -> Result<(), MixtureError> {
        let failed =
            |path: &Path, problem: String| MixtureError::Write { path: path.display().to_string(), problem };
        let path = self.work.join(MANIFEST_FILE);
        let mut json =
            serde_json::to_string_pretty(manifest).map_err(|problem| failed(&path, problem.to_string()))?;
        json.push('\n');
        std::fs::write(&path, json).map_err(|problem| failed(&path, problem.to_string()))?;
        for name in [ROWS_FILE, MANIFEST_FILE] {
            let to = self.folder.join(name);
            std::fs::rename(self.work.join(name), &to).map_err(|problem| failed(&to, problem.to_string()))?;
        }
        Ok(())
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // Nothing can be done about a failure here; the next run names the folder.
        let _ = std::fs::remove_dir_all(&self.work);
    }
}

/// The tasks of the project that a mixture may be made of, by name: those named, those of the families named, or all
/// for training.
///
/// # Errors
/// A name that no task or family has.
pub fn select<'a>(
    tasks: &'a BTreeMap<String, Task>,
    names: &[String],
    families: &[String],
) -> Result<Vec<&'a Task>, MixtureError> {
    let unknown = |setting, name: &String| MixtureError::Setting {
        setting,
        problem: format!("there is no \"{name}\" among the tasks; \"retort bench --list\" shows them"),
    };
    if names.is_empty() && families.is_empty() {
        return Ok(tasks.values().filter(|task| task.source.purpose == Purpose::Training).collect());
    }
    let mut chosen: BTreeMap<&str, &Task> = BTreeMap::new();
    for name in names {
        let task = tasks.get(name).ok_or_else(|| unknown("--task", name))?;
        chosen.insert(&task.name, task);
    }
    for family in families {
        let before = chosen.len();
        let of_family = |task: &&Task| task.family == *family && task.source.purpose == Purpose::Training;
        chosen.extend(tasks.values().filter(of_family).map(|task| (task.name.as_str(), task)));
        if chosen.len() == before && !tasks.values().any(|task| task.family == *family) {
            return Err(unknown("--family", family));
        }
    }
    Ok(chosen.into_values().collect())
}
