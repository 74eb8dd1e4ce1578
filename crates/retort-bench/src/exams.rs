//! The exams by name.

use std::collections::BTreeSet;
use std::path::PathBuf;

use retort_stats::SplitMix64;

use crate::draw::drawn;
use crate::pair::Ways;
use crate::protocol::aggrefact::{self, AggreFact};
use crate::protocol::cobbler::{Cobbler, CobblerSettings};
use crate::protocol::flask::{Flask, FlaskCondition, FlaskSettings};
use crate::protocol::held_out::HeldOut;
use crate::protocol::pairs::Pairs;
use crate::protocol::rerank::Rerank;
use crate::protocol::rewardbench::RewardBench;
use crate::protocol::verbosity::{Verbosity, VerbositySettings};
use crate::protocol::{Gathered, ProtocolError, gather};
use crate::split::{Part, split};
use crate::{DataDir, Exam, Item, Kind, Problem, Purpose, read, tasks};

/// How an exam is put together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExamOptions {
    /// How a judge is asked.
    pub ways: Ways,
    /// At most so many items, in an order drawn by the seed.
    pub limit: Option<usize>,
    /// The seed.
    pub seed: u64,
    /// A file in place of the exam's own data, where the exam takes one.
    pub file: Option<PathBuf>,
    /// The models whose outputs are judged, where the exam has several; none for all.
    pub outputs: Vec<String>,
}

/// An exam that can be held.
pub struct Opened {
    /// The exam.
    pub exam: Box<dyn Exam>,
    /// Rows of its data that could not be read.
    pub problems: Vec<Problem>,
}

/// The one figure that stands for a benchmark where judges are compared over all of them. It is chosen here and not after
/// the fact.
#[derive(Debug, Clone, Copy)]
pub struct Headline {
    /// The benchmark's name in summaries.
    pub benchmark: &'static str,
    /// The part of the data; `None` for the plain mean over families of the plain mean over their tasks, each by its own
    /// metric.
    pub part: Option<&'static str>,
    /// The metric; of no meaning where `part` is `None`.
    pub metric: &'static str,
    /// The only way in which the exam is asked, where it knows none of the others.
    pub way: Option<&'static str>,
    /// Whether it is among the benchmarks that are counted and averaged. What is not is shown beside them.
    pub counts: bool,
    /// Why this one.
    pub why: &'static str,
}

/// Most headlines: a figure of all the data.
const fn headline(benchmark: &'static str, metric: &'static str, why: &'static str) -> Headline {
    Headline { benchmark, part: Some("all"), metric, way: None, counts: true, why }
}

/// An exam's entry.
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it measures, in a sentence.
    pub about: &'static str,
    /// What stands for it where judges are compared.
    pub headlines: &'static [Headline],
    open: fn(&DataDir, &ExamOptions) -> Result<Opened, OpenError>,
}

/// Why an exam cannot be held.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is none of this name.
    #[error("there is no exam \"{name}\"; there are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// All names.
        known: String,
    },
    /// It cannot be made from the data.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The exam cannot be held as asked.
    #[error("{name}: {problem}")]
    Cannot {
        /// The exam.
        name: String,
        /// What stands in the way and what to do.
        problem: String,
    },
}

impl Entry {
    /// Reads the exam's data.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(&self, data: &DataDir, options: &ExamOptions) -> Result<Opened, OpenError> {
        (self.open)(data, options)
    }
}

const BALANCED: &str = "the published protocol: a threshold of one half for every set";
const AREA: &str = "beside it, since it needs no threshold and every rule has it";

/// All exams.
pub const EXAMS: &[Entry] = &[
    Entry {
        name: "llmbar",
        about: "LLMBar: which of two responses does what the instruction says (419 pairs, by subset)",
        headlines: &[headline("LLMBar", "accuracy", "accuracy over all 419 pairs, Natural and adversarial")],
        open: |data, options| pairs("llmbar", data, options),
    },
    Entry {
        name: "humanevalpack",
        about: "HumanEvalPack: the right program against one with a bug (984 pairs, by language)",
        headlines: &[headline("HumanEvalPack", "accuracy", "accuracy over all languages")],
        open: |data, options| pairs("humanevalpack", data, options),
    },
    Entry {
        name: "hhh",
        about: "HHH: helpful, honest and harmless answers (221 pairs, by category)",
        headlines: &[headline("HHH", "accuracy", "accuracy over all categories")],
        open: |data, options| pairs("hhh", data, options),
    },
    Entry {
        name: "pandalm",
        about: "PandaLM: three people's preferences (999 pairs, two-way and three-way)",
        headlines: &[headline("PandaLM", "accuracy", "accuracy over the pairs that people decided, two-way")],
        open: |data, options| pairs("pandalm", data, options),
    },
    Entry {
        name: "rewardbench",
        about: "RewardBench's protocol over any file of its shape (--file), or over the parts in LLMBar and HumanEvalPack",
        headlines: &[Headline {
            part: Some("total"),
            ..headline(
                "RewardBench",
                "accuracy",
                "the official total; its parts alone are LLMBar and HumanEvalPack again",
            )
        }],
        open: |data, options| {
            let ways = || options.ways.clone();
            let whole = match &options.file {
                Some(path) => RewardBench::file(path, ways())?,
                None => RewardBench::parts(data, ways())?,
            };
            let problems = whole.problems().to_vec();
            let entries = limited(whole.entries().to_vec(), |entry| &entry.id, options);
            Ok(Opened { exam: Box::new(RewardBench::new(entries, ways())), problems })
        },
    },
    Entry {
        name: "aggrefact",
        about: "LLM-AggreFact's protocol over WiCE and FactCheck-GPT: is a claim supported by its evidence",
        headlines: &[
            Headline { part: Some("wice_claims"), ..headline("WiCE", "balanced_accuracy", BALANCED) },
            Headline { part: Some("wice_claims"), counts: false, ..headline("WiCE (AUC)", "auc", AREA) },
            Headline {
                part: Some("factcheck_gpt"),
                ..headline("FactCheck-GPT", "balanced_accuracy", BALANCED)
            },
            Headline {
                part: Some("factcheck_gpt"),
                counts: false,
                ..headline("FactCheck-GPT (AUC)", "auc", AREA)
            },
        ],
        open: |data, options| {
            let (mut sets, mut problems) = (Vec::new(), Vec::new());
            for name in aggrefact::SETS {
                let Gathered { task, examples, problems: more } = gather(name, data)?;
                sets.push((task, limited(examples, |example| &example.id, options)));
                problems.extend(more);
            }
            Ok(Opened { exam: Box::new(AggreFact::new(sets, options.ways.clone())?), problems })
        },
    },
    Entry {
        name: "held-out",
        about: "The held-out part of every training task (--limit: of each task), by family: in-domain figures",
        headlines: &[Headline {
            part: None,
            counts: false,
            ..headline(
                "Held out",
                "mean",
                "the plain mean over families of their tasks' figures; in-domain, so beside the benchmarks and not counted",
            )
        }],
        open: |data, options| {
            let (mut parts, mut problems) = (Vec::new(), Vec::new());
            let tasks = tasks().map_err(ProtocolError::from)?;
            for task in tasks.values() {
                if task.source.purpose != Purpose::Training || task.kind == Kind::Generation {
                    continue;
                }
                let mut examples = Vec::new();
                let mut each = |item: Item| match item {
                    Ok(example) if split(&example.group) == Part::Test => examples.push(example),
                    Ok(_) => {}
                    Err(problem) => problems.push(problem),
                };
                read(task, data, &mut each).map_err(ProtocolError::from)?;
                parts.push((task.clone(), limited(examples, |example| &example.id, options)));
            }
            Ok(Opened { exam: Box::new(HeldOut::new(parts, options.ways.clone())?), problems })
        },
    },
    Entry {
        name: "cobbler",
        about: "CoBBLEr: what sways a judge: order, names, length, a majority, an irrelevant sentence (5,250 pairs)",
        headlines: &[
            headline(
                "CoBBLEr",
                "accuracy",
                "agreement with more people than not; what sways a judge stands below",
            ),
            Headline {
                counts: false,
                ..headline("CoBBLEr (bias)", "mean_bias", "the mean of five biases, turned")
            },
        ],
        open: |data, options| {
            let settings = CobblerSettings {
                ways: options.ways.clone(),
                seed: options.seed,
                limit: options.limit,
                ..CobblerSettings::default()
            };
            let exam = Cobbler::from_data(data, settings).map_err(ProtocolError::from)?;
            let problems = exam.problems().to_vec();
            Ok(Opened { exam: Box::new(exam), problems })
        },
    },
    Entry {
        name: "rerank",
        about: "HumanEval re-ranking: which of CodeGen-16B's first ten samples is taken (164 problems)",
        headlines: &[headline(
            "HumanEval re-ranking",
            "pass@1",
            "the share of problems whose chosen sample passes",
        )],
        open: |data, options| {
            let exam = Rerank::read(data, options.ways.clone())?;
            let problems = exam.problems().to_vec();
            let exam = exam.of(|sampled| limited(sampled, |one| &one.id, options));
            Ok(Opened { exam: Box::new(exam), problems })
        },
    },
    Entry {
        name: "flask",
        about: "FLASK: models' responses by skill (--outputs), with ablations, and agreement with scores (--file)",
        headlines: &[Headline {
            way: Some("skills"),
            ..headline(
                "FLASK",
                "spearman",
                "rank correlation with given scores; there is none without --file",
            )
        }],
        open: |data, options| {
            let settings = FlaskSettings {
                conditions: if options.ways.all().next().is_none() {
                    Vec::new()
                } else {
                    FlaskCondition::ALL.to_vec()
                },
                wording: options.ways.wording,
                seed: options.seed,
                limit: options.limit,
                ..FlaskSettings::default()
            };
            let scores: Vec<PathBuf> = options.file.iter().cloned().collect();
            let exam =
                Flask::from_data(data, &options.outputs, &scores, settings).map_err(ProtocolError::from)?;
            let problems = exam.problems().to_vec();
            Ok(Opened { exam: Box::new(exam), problems })
        },
    },
    Entry {
        name: "verbosity",
        about: "Padding: a good answer, the same answer padded, and a longer wrong one (made from references)",
        headlines: &[headline(
            "Verbosity",
            "padding_wins",
            "the share of padded answers that do not win, turned",
        )],
        open: |data, options| {
            let settings = VerbositySettings {
                ways: options.ways.clone(),
                seed: options.seed,
                limit: options.limit.or(VerbositySettings::default().limit),
            };
            let exam = Verbosity::from_data(data, settings).map_err(ProtocolError::from)?;
            let problems = exam.problems().to_vec();
            Ok(Opened { exam: Box::new(exam), problems })
        },
    },
];

/// A pairwise task as an exam.
fn pairs(name: &str, data: &DataDir, options: &ExamOptions) -> Result<Opened, OpenError> {
    let Gathered { task, examples, problems } = gather(name, data)?;
    let exam = Pairs::new(task, limited(examples, |example| &example.id, options), options.ways.clone())?;
    Ok(Opened { exam: Box::new(exam), problems })
}

/// So many items as are wanted, drawn by the seed, in their order.
fn limited<T>(items: Vec<T>, id: fn(&T) -> &str, options: &ExamOptions) -> Vec<T> {
    let Some(limit) = options.limit.filter(|&limit| limit < items.len()) else { return items };
    let priorities = items.iter().map(|item| priority(options.seed, id(item)));
    let mut drawn: Vec<(u64, usize)> = priorities.zip(0..).collect();
    drawn.sort_unstable();
    drawn.truncate(limit);
    let chosen: BTreeSet<usize> = drawn.into_iter().map(|(_, index)| index).collect();
    items.into_iter().zip(0..).filter(|(_, index)| chosen.contains(index)).map(|(item, _)| item).collect()
}

/// A number that depends on nothing but seed and id, so that a larger limit takes the same examples and more.
fn priority(seed: u64, id: &str) -> u64 {
    drawn(SplitMix64::new(seed).next_u64(), id)
}

/// The exam of this name.
///
/// # Errors
/// [`OpenError::Unknown`].
pub fn exam(name: &str) -> Result<&'static Entry, OpenError> {
    EXAMS.iter().find(|entry| entry.name == name).ok_or_else(|| OpenError::Unknown {
        name: name.to_owned(),
        known: EXAMS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
    })
}
