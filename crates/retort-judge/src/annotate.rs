//! What an instruction needs, by a model: domain, skills and difficulty, each read as probabilities of offered answers.
//!
//! The order is FLASK's (Ye et al. 2024, appendix on metadata): the domains first, since they choose the wording of the
//! difficulty levels. Small models favour the first and the last of a list, so every list is offered in several
//! orders and the probabilities are averaged (P13).

use retort_annotate::Annotated;
use retort_lm::{
    Answer, AnswerOption, BackendKind, Branch, Flow, LanguageModel, LmError, PromptTree, Readout, Segments,
    Turn, Usage, Watch,
};
use retort_rubric::{
    Annotation, Annotator, Difficulty, DifficultyVariant, Domain, DomainLabel, MAX_DOMAINS,
    SKILLS_PER_INSTRUCTION, Skill, builtin,
};
use retort_stats::SplitMix64;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::prompt::{Field, Laid, Layout, Truncation, longest};
use crate::verdict::{MIN_MASS, Unscored};
use crate::{JudgeError, ModelIdentity, Observer, Planned, RunContext, Timings, sha256_hex};

/// Who the model is to be.
const SYSTEM: &str = "You sort instructions that people give to an assistant. You never carry them out. You say what \
                      an instruction is about and what a good answer to it takes.";

/// A second domain is named where it is at least this share as probable as the first: then the instruction is ambiguous.
pub const SECOND_DOMAIN_SHARE: f64 = 0.6;

/// Most orders: with so many every skill stands at every place once.
pub const MAX_ORDERS: usize = 12;

/// Most points of the words' evidence for a domain that are weighed against a model.
const MOST_BY_WORDS: f64 = 6.0;

/// Orders, where nobody says otherwise.
pub const DEFAULT_ORDERS: usize = 4;

/// What is to be annotated, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotationRequest {
    /// The instruction.
    pub instruction: String,
    /// Chooses the orders, together with the instruction, so that each instruction has its own. Below 2^53 where
    /// JavaScript reads the result.
    pub seed: u64,
    /// In how many orders each list is offered, 1 to [`MAX_ORDERS`]; more than that count as that many.
    pub orders: usize,
    /// What the words of the instruction say, to be weighed together with the model's probabilities: `None` for the
    /// model alone. The probabilities in the result are the model's either way.
    pub words: Option<Annotated>,
}

impl AnnotationRequest {
    /// The instruction with [`DEFAULT_ORDERS`] orders, seed 0, by the model alone.
    #[must_use]
    pub fn new(instruction: impl Into<String>) -> Self {
        Self { instruction: instruction.into(), seed: 0, orders: DEFAULT_ORDERS, words: None }
    }
}

/// An answer and how probable it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Chance<T> {
    /// The answer.
    pub answer: T,
    /// Among the answers that were offered, 0 to 1; the mean over the orders.
    pub probability: f64,
}

/// What a question gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Distribution<T> {
    /// The probability of every answer, the most probable first; they sum to 1.
    Found {
        /// All answers that were offered.
        chances: Vec<Chance<T>>,
        /// Probability that the model gave to any offered answer, 0 to 1: the mean over the orders.
        mass: f64,
        /// Orders left out because the model gave the offered answers too little probability there.
        left_out: usize,
    },
    /// There is none.
    #[serde(untagged)]
    Unscored(Unscored),
}

impl<T: Copy + PartialEq> Distribution<T> {
    /// The probability of an answer; `None` where nothing was found.
    pub fn probability(&self, answer: T) -> Option<f64> {
        match self {
            Self::Found { chances, .. } => {
                chances.iter().find(|chance| chance.answer == answer).map(|chance| chance.probability)
            }
            Self::Unscored(_) => None,
        }
    }

    fn pairs(&self) -> Option<Vec<(T, f64)>> {
        match self {
            Self::Found { chances, .. } => {
                Some(chances.iter().map(|chance| (chance.answer, chance.probability)).collect())
            }
            Self::Unscored(_) => None,
        }
    }
}

/// A model's annotation, with what it was read from.
#[derive(Debug, Clone)]
pub struct ModelAnnotation {
    /// The outcome, by the model ([`Annotator::Model`]). A part without a distribution is absent: no skills, no
    /// domains, no difficulty.
    pub annotation: Annotation,
    /// How probable each skill is as the answer to "which does a good answer need most?"; the first three are the
    /// annotation's, unless words were weighed too.
    pub skill_probabilities: Distribution<Skill>,
    /// How probable each domain is; `None` is the answer that it is of no field.
    pub domain_probabilities: Distribution<Option<Domain>>,
    /// How probable each level is. The annotation has the level nearest to the expectation.
    pub difficulty_distribution: Distribution<Difficulty>,
    /// Which wording of the levels the model read: that of the first domain.
    pub variant: DifficultyVariant,
    /// The seed of the request.
    pub seed: u64,
    /// The orders in which the skills were offered.
    pub orders: Vec<Vec<Skill>>,
    /// The instruction, if it was cut to fit the model's context.
    pub truncations: Vec<Truncation>,
    /// Tokens computed and reused, of both rounds together.
    pub usage: Usage,
    /// Whether somebody cancelled; what was ready stands.
    pub cancelled: bool,
    /// What stopped it before its end, if anything did; what was ready stands.
    pub failure: Option<LmError>,
}

/// Annotates an instruction in two rounds over one beginning: domains and skills, then the parts of the chosen domains
/// and the difficulty in the first one's wording. [`Observer::planned`] is called once, [`Observer::progress`] for
/// both rounds, whose total grows when the second begins.
///
/// # Errors
/// [`JudgeError`] where nothing was found at all: an empty instruction, one too long for the model, a model that fails
/// at once. A failure or a cancellation later is no error: what was ready stands, the rest says why it is absent.
pub async fn annotate<M: LanguageModel>(
    model: &mut M,
    request: &AnnotationRequest,
    observer: &mut dyn Observer,
) -> Result<ModelAnnotation, JudgeError> {
    if request.instruction.trim().is_empty() {
        return Err(JudgeError::Empty { what: "instruction" });
    }
    let count = request.orders.clamp(1, MAX_ORDERS);
    let mut random = SplitMix64::new(request.seed ^ digest(&request.instruction));
    let domain_orders = orders(shuffled(Domain::ALL, &mut random), count);
    let skill_orders = orders(shuffled(Skill::ALL, &mut random), count);
    let turn = model.turn(Some(&Segments::new().template(SYSTEM)))?;

    let first: Vec<Branch> = domain_orders
        .iter()
        .map(|order| domain_question(order, &turn))
        .chain(skill_orders.iter().map(|order| skill_question(order, &turn)))
        .collect();
    // The second round's questions are not known yet; room is left for the longest.
    let mut any = first.clone();
    any.extend(Domain::ALL.into_iter().map(|domain| part_question(domain, &turn)));
    for variant in [DifficultyVariant::General, DifficultyVariant::Maths, DifficultyVariant::Coding] {
        any.extend(difficulty_questions(variant, &turn));
    }
    let texts = [Field::prompt(request.instruction.as_str())];
    let layout = Layout { open: &turn.open, texts: &texts, close: Segments::new() };
    let Laid { text: context, truncations, .. } = layout.fit(model, longest(model, &any)?)?;
    let prefix = turn.open.clone().then(&context);
    let questions = first.len() + 2 + MAX_DOMAINS;
    observer.planned(&Planned { questions, truncations: truncations.clone() });

    let tree = PromptTree { prefix, branches: first };
    let mut round = Round { observer, before: 0, total: 0, answers: Vec::new() };
    let outcome = model.answer(&tree, &mut round).await;
    let (done, answers) = (round.total, round.answers);
    let mut usage = model.usage();
    let mut stop = Stop::of(outcome);
    if let Some(Stop::Failed(failure)) = &stop
        && answers.is_empty()
    {
        return Err(failure.clone().into());
    }
    let (of_domains, of_skills) = answers.split_at(count.min(answers.len()));
    let domain_probabilities = mean(
        of_domains,
        |order| domain_orders.get(order).map_or_else(Vec::new, |order| offered_domains(order)),
        stop.as_ref(),
    );
    let skill_probabilities =
        mean(of_skills, |order| skill_orders.get(order).cloned().unwrap_or_default(), stop.as_ref());
    let words = request.words.as_ref();
    let domains = choose_domains(&domain_probabilities, words);
    let variant = domains.first().map_or(DifficultyVariant::General, |&domain| DifficultyVariant::of(domain));

    let mut labels: Vec<DomainLabel> = domains.iter().map(|&domain| of_words(domain, words)).collect();
    let mut difficulty_distribution = Distribution::Unscored(Unscored::Cancelled);
    if stop.is_none() {
        let asked: Vec<usize> =
            (0..labels.len()).filter(|&at| labels[at].domain.subdomains().len() > 1).collect();
        let mut branches = difficulty_questions(variant, &turn);
        let levels = branches.len();
        branches.extend(asked.iter().map(|&at| part_question(labels[at].domain, &turn)));
        let tree = PromptTree { branches, ..tree };
        let mut round = Round { observer, before: done, total: done, answers: Vec::new() };
        let outcome = model.answer(&tree, &mut round).await;
        let answers = round.answers;
        let second = model.usage();
        usage = Usage { computed: usage.computed + second.computed, reused: usage.reused + second.reused };
        stop = Stop::of(outcome);
        let (of_levels, of_parts) = answers.split_at(levels.min(answers.len()));
        difficulty_distribution = mean(of_levels, |_| Difficulty::ALL.to_vec(), stop.as_ref());
        for (&at, answer) in asked.iter().zip(of_parts) {
            let parts = labels[at].domain.subdomains();
            if let Distribution::Found { chances, .. } =
                mean(std::slice::from_ref(answer), |_| parts.to_vec(), None)
            {
                labels[at].subdomain = chances.first().map(|chance| chance.answer.to_owned());
            }
        }
    } else if let Some(Stop::Failed(failure)) = &stop {
        difficulty_distribution = Distribution::Unscored(failed(failure));
    }

    let annotation = Annotation {
        skills: choose_skills(&skill_probabilities, words),
        domains: labels,
        difficulty: choose_level(&difficulty_distribution, words),
        by: Annotator::Model,
    };
    let (cancelled, failure) = match stop {
        None => (false, None),
        Some(Stop::Cancelled) => (true, None),
        Some(Stop::Failed(failure)) => (false, Some(failure)),
    };
    Ok(ModelAnnotation {
        annotation,
        skill_probabilities,
        domain_probabilities,
        difficulty_distribution,
        variant,
        seed: request.seed,
        orders: skill_orders,
        truncations,
        usage,
        cancelled,
        failure,
    })
}

/// An annotation by the words or by a model as data. Serialised, it is one JSON object on one line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnnotationRecord {
    /// Name and version of this shape.
    pub format: &'static str,
    /// Version of Retort.
    pub version: &'static str,
    /// What was asked.
    pub task: &'static str,
    /// SHA-256 of the instruction, in UTF-8, lower-case hex. The evidence quotes the instruction, too.
    pub instruction_sha256: String,
    /// The outcome.
    pub annotation: Annotation,
    /// What the words say, where they were asked.
    pub words: Option<Annotated>,
    /// What the model says, where it was asked.
    pub by_model: Option<ModelPart>,
}

/// What a model said, and what is needed to repeat it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelPart {
    /// The model.
    pub model: ModelIdentity,
    /// Where it ran at the end.
    pub backend: BackendKind,
    /// The GPU or CPU.
    pub device: String,
    /// The seed of the orders.
    pub seed: u64,
    /// The orders in which the skills were offered.
    pub orders: Vec<Vec<Skill>>,
    /// See [`ModelAnnotation::skill_probabilities`].
    pub skills: Distribution<Skill>,
    /// See [`ModelAnnotation::domain_probabilities`].
    pub domains: Distribution<Option<Domain>>,
    /// See [`ModelAnnotation::difficulty_distribution`].
    pub difficulty: Distribution<Difficulty>,
    /// Which wording of the levels the model read.
    pub variant: DifficultyVariant,
    /// The instruction, if it was cut.
    pub truncations: Vec<Truncation>,
    /// What happened on the way that a person should know.
    pub notices: Vec<String>,
    /// How long it took.
    pub timings: Timings,
    /// Whether somebody cancelled it.
    pub cancelled: bool,
}

impl AnnotationRecord {
    /// The record of what the words say, and of what a model said in that run.
    #[must_use]
    pub fn new(
        instruction: &str,
        words: Option<Annotated>,
        model: Option<(&ModelAnnotation, RunContext)>,
    ) -> Self {
        let nothing =
            Annotation { skills: Vec::new(), domains: Vec::new(), difficulty: None, by: Annotator::Code };
        let annotation = match (&model, &words) {
            (Some((found, _)), _) => found.annotation.clone(),
            (None, Some(words)) => words.annotation.clone(),
            (None, None) => nothing,
        };
        let by_model = model.map(|(found, run)| ModelPart {
            model: run.model,
            backend: run.backend,
            device: run.device,
            seed: found.seed,
            orders: found.orders.clone(),
            skills: found.skill_probabilities.clone(),
            domains: found.domain_probabilities.clone(),
            difficulty: found.difficulty_distribution.clone(),
            variant: found.variant,
            truncations: found.truncations.clone(),
            notices: run.notices,
            timings: Timings {
                total_ms: run.total_ms,
                tokens: found.usage.computed,
                tokens_reused: found.usage.reused,
            },
            cancelled: found.cancelled,
        });
        Self {
            format: "retort.annotation/1",
            version: env!("CARGO_PKG_VERSION"),
            task: "annotation",
            instruction_sha256: sha256_hex(instruction.as_bytes()),
            annotation,
            words,
            by_model,
        }
    }
}

/// The first bytes of the instruction's SHA-256 as a number, so that every instruction has its own orders.
fn digest(text: &str) -> u64 {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().take(8).fold(0, |number, &byte| (number << 8) | u64::from(byte))
}

/// Fisher and Yates' shuffle.
fn shuffled<T, const N: usize>(mut items: [T; N], random: &mut SplitMix64) -> Vec<T> {
    for last in (1..N).rev() {
        items.swap(last, random.below(last + 1));
    }
    items.into()
}

/// One order, and others made by turning it on by equal steps, so that every item stands at as many places.
fn orders<T: Clone>(base: Vec<T>, count: usize) -> Vec<Vec<T>> {
    let step = |turn: usize| (turn * base.len()) / count;
    (0..count)
        .map(|turn| {
            let mut order = base.clone();
            order.rotate_left(step(turn) % base.len().max(1));
            order
        })
        .collect()
}

/// The domains, and behind them that it is none of them.
fn offered_domains(order: &[Domain]) -> Vec<Option<Domain>> {
    order.iter().copied().map(Some).chain([None]).collect()
}

const NO_DOMAIN: &str = "None";

fn question(text: String, labels: &[&str], cue: &str, turn: &Turn) -> Branch {
    let offer = format!("{text}Answer only with one of: {}.", labels.join(", "));
    Branch {
        text: Segments::new().user(offer).then(&turn.close).template(cue),
        readout: Readout::options(labels.iter().map(|label| AnswerOption::new(label)).collect()),
    }
}

fn domain_question(order: &[Domain], turn: &Turn) -> Branch {
    let mut text = "Which field is the instruction above about?\n".to_owned();
    for domain in order {
        text.push_str(&format!("- {}: {}\n", domain.name(), domain.subdomains().join(", ")));
    }
    text.push_str(&format!("- {NO_DOMAIN}: no field at all\n"));
    let labels: Vec<&str> = order.iter().map(|domain| domain.name()).chain([NO_DOMAIN]).collect();
    question(text, &labels, "Field:", turn)
}

fn part_question(domain: Domain, turn: &Turn) -> Branch {
    let text = format!("The instruction above is about {}. Which part of it?\n", domain.name());
    question(text, domain.subdomains(), "Part:", turn)
}

/// One letter each: of numbers, `1` would also begin `10`, `11` and `12`.
const LETTERS: [&str; 12] = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L"];

fn skill_question(order: &[Skill], turn: &Turn) -> Branch {
    let mut text =
        "Which of these skills does a good answer to the instruction above need most?\n".to_owned();
    for (letter, skill) in LETTERS.iter().zip(order) {
        let rubric = builtin().iter().find(|rubric| rubric.id == skill.id());
        let asks = rubric.map_or("", |rubric| rubric.question.as_deref().unwrap_or(&rubric.criterion));
        text.push_str(&format!("{letter}: {}. {asks}\n", skill.name()));
    }
    question(text, &LETTERS, "Skill:", turn)
}

/// The levels upwards, and downwards: the answers are the same.
fn difficulty_questions(variant: DifficultyVariant, turn: &Turn) -> Vec<Branch> {
    let levels = Difficulty::ALL.map(|level| format!("{}: {}\n", level.level(), level.definition(variant)));
    let up = levels.concat();
    let down: String = levels.iter().rev().map(String::as_str).collect();
    let labels = ["1", "2", "3", "4", "5"];
    let ask = |list: String| {
        let text = format!("How much does the instruction above demand of whoever answers it?\n{list}");
        question(text, &labels, "Level:", turn)
    };
    vec![ask(up), ask(down)]
}

/// Why a round ended before its end.
enum Stop {
    Cancelled,
    Failed(LmError),
}

impl Stop {
    fn of(outcome: Result<Vec<Answer>, LmError>) -> Option<Self> {
        match outcome {
            Ok(_) => None,
            Err(LmError::Cancelled) => Some(Self::Cancelled),
            Err(failure) => Some(Self::Failed(failure)),
        }
    }
}

fn failed(failure: &LmError) -> Unscored {
    Unscored::Failed { code: failure.code().to_owned(), message: failure.to_string() }
}

/// Gathers the answers of a round.
struct Round<'a> {
    observer: &'a mut dyn Observer,
    /// Tokens of the round before.
    before: usize,
    total: usize,
    answers: Vec<Answer>,
}

impl Watch for Round<'_> {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        self.total = self.before + total;
        self.observer.progress(self.before + done, self.total)
    }

    fn answered(&mut self, _branch: usize, answer: &Answer) {
        self.answers.push(answer.clone());
    }
}

/// The mean over the answers of each answer's share of the mass of all offered ones. Answers whose mass is too small
/// say nothing, and are left out. `offered` gives what the options of each answer meant.
fn mean<T: Copy + PartialEq>(
    answers: &[Answer],
    offered: impl Fn(usize) -> Vec<T>,
    stop: Option<&Stop>,
) -> Distribution<T> {
    let mut chances: Vec<Chance<T>> = Vec::new();
    let (mut masses, mut kept) = (0.0, 0usize);
    for (order, answer) in answers.iter().enumerate() {
        let meant = offered(order);
        let probabilities: Vec<f64> = answer.log_probabilities.iter().map(|&log| libm::exp(log)).collect();
        let mass: f64 = probabilities.iter().sum();
        // Rounding may bring the sum a little above 1; more, or no number at all, is no distribution.
        if !(0.0..=1.0 + 1e-6).contains(&mass) || probabilities.len() != meant.len() {
            let message =
                "The model's answer is no distribution over the offered answers; please report this";
            return Distribution::Unscored(Unscored::Failed {
                code: "scale".into(),
                message: message.into(),
            });
        }
        masses += mass.min(1.0);
        if mass < MIN_MASS {
            continue;
        }
        kept += 1;
        for (answer, probability) in meant.into_iter().zip(probabilities) {
            let share = probability / mass;
            match chances.iter_mut().find(|chance| chance.answer == answer) {
                Some(chance) => chance.probability += share,
                None => chances.push(Chance { answer, probability: share }),
            }
        }
    }
    if kept == 0 {
        return Distribution::Unscored(match (stop, answers.len()) {
            (Some(Stop::Failed(failure)), 0) => failed(failure),
            (_, 0) => Unscored::Cancelled,
            (_, count) => Unscored::OutsideOptions { mass: masses / count as f64 },
        });
    }
    for chance in &mut chances {
        chance.probability /= kept as f64;
    }
    chances.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    Distribution::Found { chances, mass: masses / answers.len() as f64, left_out: answers.len() - kept }
}

/// The model's probabilities times what the words say of each answer, the most probable first.
fn weighed<T: Copy + PartialEq>(
    model: Option<Vec<(T, f64)>>,
    words: Option<&dyn Fn(T) -> f64>,
) -> Option<Vec<(T, f64)>> {
    let mut pairs = model?;
    if let Some(words) = words {
        for (answer, probability) in &mut pairs {
            *probability *= words(*answer);
        }
        let sum: f64 = pairs.iter().map(|(_, probability)| probability).sum();
        if sum > 0.0 {
            pairs.iter_mut().for_each(|(_, probability)| *probability /= sum);
        }
        pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
    }
    Some(pairs)
}

fn place<T: PartialEq>(all: &[T], item: &T) -> Option<usize> {
    all.iter().position(|other| other == item)
}

fn choose_domains(model: &Distribution<Option<Domain>>, words: Option<&Annotated>) -> Vec<Domain> {
    // As in naive Bayes: each telling word (3 points) makes its field e³ = 20 times as probable, and two say all that
    // words can say.
    let by_words = words.map(|words| {
        move |domain: Option<Domain>| {
            let score =
                domain.and_then(|domain| place(&Domain::ALL, &domain)).map(|at| words.domain_scores[at]);
            libm::exp(score.unwrap_or(0.0).min(MOST_BY_WORDS))
        }
    });
    let by_words = by_words.as_ref().map(|by_words| by_words as &dyn Fn(Option<Domain>) -> f64);
    let Some(pairs) = weighed(model.pairs(), by_words) else { return Vec::new() };
    let top = pairs.first().map_or(0.0, |pair| pair.1);
    let mut chosen = Vec::new();
    for (domain, probability) in pairs.into_iter().take(MAX_DOMAINS) {
        match domain {
            Some(domain) if probability >= SECOND_DOMAIN_SHARE * top => chosen.push(domain),
            // Where no field is the likeliest, there is none; where it comes second, the first stands alone.
            _ => break,
        }
    }
    chosen
}

/// The part that the words saw, until the model is asked.
fn of_words(domain: Domain, words: Option<&Annotated>) -> DomainLabel {
    let seen = words.and_then(|words| words.annotation.domains.iter().find(|label| label.domain == domain));
    let only = match domain.subdomains() {
        [only] => Some((*only).to_owned()),
        _ => None,
    };
    seen.cloned().unwrap_or(DomainLabel { domain, subdomain: only })
}

fn choose_skills(model: &Distribution<Skill>, words: Option<&Annotated>) -> Vec<Skill> {
    // A fifth of a point, about what separates the third skill from the fourth, is a factor of two.
    let by_words = words.map(|words| {
        move |skill: Skill| {
            place(&Skill::ALL, &skill).map_or(1.0, |at| libm::exp(3.5 * words.skill_scores[at]))
        }
    });
    let by_words = by_words.as_ref().map(|by_words| by_words as &dyn Fn(Skill) -> f64);
    let pairs = weighed(model.pairs(), by_words).unwrap_or_default();
    pairs.into_iter().take(SKILLS_PER_INSTRUCTION).map(|(skill, _)| skill).collect()
}

fn choose_level(model: &Distribution<Difficulty>, words: Option<&Annotated>) -> Option<Difficulty> {
    // A normal distribution around the words' estimate, one level wide.
    let estimate = words.and_then(|words| words.difficulty_estimate);
    let by_words = estimate.map(|estimate| {
        move |level: Difficulty| {
            let distance = f64::from(level.level()) - estimate;
            libm::exp(-0.5 * distance * distance)
        }
    });
    let by_words = by_words.as_ref().map(|by_words| by_words as &dyn Fn(Difficulty) -> f64);
    let pairs = weighed(model.pairs(), by_words)?;
    let expected: f64 = pairs.iter().map(|(level, probability)| f64::from(level.level()) * probability).sum();
    Difficulty::ALL.into_iter().min_by(|a, b| {
        let distance = |level: &Difficulty| (f64::from(level.level()) - expected).abs();
        distance(a).total_cmp(&distance(b))
    })
}
