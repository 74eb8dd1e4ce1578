//! From an instruction, and what else is known of it, to its checklist.

use std::fmt::Write as _;
use std::ops::Range;

use retort_rubric::Skill;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::checklist::is_one_line;
use crate::instruction::Instruction;
use crate::reference::points;
use crate::requests::requests;
use crate::similar::{similar_words, words};
use crate::skills::Instance;
use crate::{AnswerForm, Checklist, Constraint, Extracted, Item, Limit, Origin, Unit, Which, extract};

/// The most items that are made for one skill; FLASK-Hard has at most five subquestions.
pub const MAX_PER_SKILL: usize = 5;

/// The most items of a checklist in the form of FLASK-Hard (Ye et al. 2024, section 3.4).
pub const MAX_HARD: usize = 5;

/// Which parts a checklist is made of; by default all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parts {
    /// What code verifies.
    pub constraints: bool,
    /// The instruction's asks, sub-questions and conditions.
    pub requests: bool,
    /// The claims of the reference answer.
    pub reference: bool,
    /// What the chosen skills ask.
    pub skills: bool,
}

impl Default for Parts {
    fn default() -> Self {
        Self { constraints: true, requests: true, reference: true, skills: true }
    }
}

/// What a checklist is to be made from.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// What the responses answer.
    pub instruction: &'a str,
    /// A good answer, where there is one.
    pub reference: Option<&'a str>,
    /// The skills that the instruction needs, the most important first; may be empty.
    pub skills: &'a [Skill],
    /// Which parts to make.
    pub parts: Parts,
}

impl<'a> Wanted<'a> {
    /// Everything that an instruction alone gives.
    #[must_use]
    pub fn of(instruction: &'a str) -> Self {
        Self { instruction, reference: None, skills: &[], parts: Parts::default() }
    }
}

/// Makes a checklist without a model, in time linear in the texts but for the comparison of its few items.
///
/// First what code verifies, then what the instruction asks for, then the reference's claims, then the skills' questions;
/// what is verified is not asked again, and of items that ask the same the first stays. Ids are `constraint-1`,
/// `request-1`, and so on: the same texts always give the same checklist. It may be empty, for an empty instruction.
///
/// ```
/// use retort_checklist::{Wanted, generate};
///
/// let checklist = generate(&Wanted::of("Explain how a bicycle stays upright and name its inventor."));
/// let questions: Vec<&str> = checklist.items.iter().map(|item| item.question.as_str()).collect();
/// assert_eq!(
///     questions,
///     ["Does the response explain how a bicycle stays upright?", "Does the response name its inventor?"]
/// );
/// ```
#[must_use]
pub fn generate(wanted: &Wanted<'_>) -> Checklist {
    let drafts = Drafts::new(wanted);
    let mut items = drafts.constraints;
    items.extend(drafts.requests);
    items.extend(drafts.reference);
    items.extend(drafts.skills.into_iter().flat_map(|(_, items)| items));
    finished(wanted, items)
}

/// Makes a checklist in the form of FLASK-Hard: at most [`MAX_HARD`] questions, each tied to one of the chosen skills and
/// answered 1 to 5 by how far the response meets it compared with the reference. The skills take turns; where none is
/// chosen, all questions are of Comprehension.
#[must_use]
pub fn hard(wanted: &Wanted<'_>) -> Checklist {
    let chosen = if wanted.skills.is_empty() { &[Skill::Comprehension] } else { wanted.skills };
    let drafts = Drafts::new(&Wanted { skills: chosen, ..*wanted });
    let mut pools: Vec<(Skill, Vec<Item>)> = Vec::new();
    for skill in distinct(chosen) {
        let of_skill = |items: &[Item]| {
            items.iter().filter(|item| item.skill == Some(skill)).cloned().collect::<Vec<_>>()
        };
        // What the instance itself says comes before what the skill asks everywhere.
        let mut pool = of_skill(&drafts.requests);
        pool.extend(of_skill(&drafts.reference));
        pool.extend(of_skill(&drafts.constraints));
        pool.extend(drafts.skills.iter().filter(|(of, _)| *of == skill).flat_map(|(_, items)| items.clone()));
        pool.reverse();
        pools.push((skill, pool));
    }
    let mut items: Vec<Item> = Vec::new();
    let mut known: Vec<Asked> = Vec::new();
    while items.len() < MAX_HARD && pools.iter().any(|(_, pool)| !pool.is_empty()) {
        for (skill, pool) in &mut pools {
            while items.len() < MAX_HARD
                && let Some(mut item) = pool.pop()
            {
                item.skill = Some(*skill);
                item.answer = AnswerForm::OneToFive;
                item.constraint = None;
                let asked = Asked::new(&item);
                if !known.iter().any(|known| known.is_same(&asked)) {
                    known.push(asked);
                    items.push(item);
                    break;
                }
            }
        }
    }
    finished(wanted, items)
}

struct Drafts {
    constraints: Vec<Item>,
    requests: Vec<Item>,
    reference: Vec<Item>,
    skills: Vec<(Skill, Vec<Item>)>,
}

impl Drafts {
    fn new(wanted: &Wanted<'_>) -> Self {
        let instruction = Instruction::new(wanted.instruction);
        let skills: Vec<Skill> = distinct(wanted.skills).collect();
        let link = |natural: &[Skill]| {
            if skills.is_empty() {
                natural.first().copied()
            } else {
                natural.iter().copied().find(|skill| skills.contains(skill))
            }
        };
        let passage = |text: &str, range: &Range<usize>| {
            text.get(range.clone()).map(|passage| passage.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        let extracted = extract(wanted.instruction);
        let draft = |origin, question: String, skill, passage| Item {
            origin,
            skill,
            passage,
            ..Item::asking("", question)
        };
        let constraints: Vec<Item> = extracted
            .iter()
            .filter(|found| found.constraint.check().is_ok())
            .map(|Extracted { constraint, passage: range }| Item {
                constraint: Some(constraint.clone()),
                ..draft(
                    Origin::Constraint,
                    constraint.question(),
                    link(skills_of(constraint)),
                    passage(wanted.instruction, range),
                )
            })
            .collect();
        // What is not made an item has to be asked.
        let covered: Vec<Range<usize>> = if wanted.parts.constraints {
            extracted.iter().map(|found| found.passage.clone()).collect()
        } else {
            Vec::new()
        };
        let asks = requests(&instruction, &covered);
        let count = asks.len();
        let requests: Vec<Item> = asks
            .into_iter()
            .map(|ask| Item {
                condition: ask.condition,
                ..draft(
                    Origin::Request,
                    ask.question,
                    link(&[Skill::Comprehension, Skill::Completeness]),
                    passage(wanted.instruction, &ask.range),
                )
            })
            .collect();
        let reference: Vec<Item> = wanted
            .reference
            .filter(|_| wanted.parts.reference)
            .into_iter()
            .flat_map(|text| points(text).into_iter().map(move |point| (passage(text, &point.range), point)))
            .map(|(passage, point)| {
                let natural: &[Skill] = if point.is_answer {
                    &[Skill::LogicalCorrectness, Skill::Factuality, Skill::Completeness]
                } else {
                    &[Skill::Completeness, Skill::Factuality, Skill::LogicalCorrectness]
                };
                draft(Origin::Reference, point.question, link(natural), passage)
            })
            .collect();
        let by_skill = if wanted.parts.skills {
            let is_length =
                |constraint: &&Constraint| skills_of(constraint).first() == Some(&Skill::Conciseness);
            let length = constraints.iter().filter_map(|item| item.constraint.as_ref()).find(is_length);
            let instance =
                Instance::new(&instruction, wanted.reference, count, length.map(Constraint::question));
            let items = |skill: Skill| {
                let questions = instance.questions(skill);
                questions
                    .into_iter()
                    .map(|question| draft(Origin::Skill, question, Some(skill), None))
                    .collect()
            };
            skills.iter().map(|skill| (*skill, items(*skill))).collect()
        } else {
            Vec::new()
        };
        Self {
            constraints: if wanted.parts.constraints { constraints } else { Vec::new() },
            requests: if wanted.parts.requests { requests } else { Vec::new() },
            reference,
            skills: by_skill,
        }
    }
}

fn distinct(skills: &[Skill]) -> impl Iterator<Item = Skill> {
    skills
        .iter()
        .enumerate()
        .filter(|(at, skill)| !skills.iter().take(*at).any(|known| known == *skill))
        .map(|(_, skill)| *skill)
}

/// The skills that a constraint shows, the closest first.
fn skills_of(constraint: &Constraint) -> &'static [Skill] {
    const LENGTH: &[Skill] = &[Skill::Conciseness, Skill::Comprehension];
    const FORM: &[Skill] = &[Skill::Readability, Skill::Comprehension];
    const WISH: &[Skill] = &[Skill::Comprehension];
    match constraint {
        Constraint::Count { what, limit } => match (what, limit.canonical()) {
            (
                Unit::Word
                | Unit::Sentence
                | Unit::Paragraph
                | Unit::Line
                | Unit::Character
                | Unit::NonSpaceCharacter,
                Limit::AtMost(_),
            ) => LENGTH,
            (Unit::Heading | Unit::Table | Unit::Bullet | Unit::NumberedItem | Unit::Item, _) => FORM,
            _ => WISH,
        },
        Constraint::Within { which: Which::Each, constraint, .. } => skills_of(constraint),
        Constraint::Table { .. }
        | Constraint::Heading { .. }
        | Constraint::Sections { .. }
        | Constraint::NumberedSections { .. }
        | Constraint::Divided { .. } => FORM,
        _ => WISH,
    }
}

/// Without what is asked twice, with ids, and with the instruction's hash.
fn finished(wanted: &Wanted<'_>, drafts: Vec<Item>) -> Checklist {
    let mut items = without_doubles(drafts);
    // Control characters of the texts would make questions that no checklist may have.
    for text in
        items.iter_mut().flat_map(|item| [Some(&mut item.question), item.condition.as_mut()]).flatten()
    {
        if !is_one_line(text) {
            let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
            *text = text.split(is_break).collect::<Vec<_>>().join(" ").trim().to_owned();
        }
        shorten(text);
    }
    items.retain(|item| item.condition.as_ref().is_none_or(|condition| !condition.is_empty()));
    number(&mut items);
    let mut hash = String::with_capacity(64);
    for byte in Sha256::digest(wanted.instruction.as_bytes()) {
        // Writing to a String cannot fail.
        let _ = write!(hash, "{byte:02x}");
    }
    Checklist { name: None, instruction_sha256: Some(hash), items }
}

/// A question that repeats a very long sentence ends early; its passage holds the whole.
fn shorten(text: &mut String) {
    const MOST: usize = 500;
    let Some((end, _)) = text.char_indices().nth(MOST) else { return };
    let is_question = text.ends_with('?');
    // At a word where there is one near, within one where there is none.
    let end = text[..end].rfind(' ').filter(|&space| space > end / 2).unwrap_or(end);
    text.truncate(end);
    text.push_str(if is_question { "…?" } else { "…" });
}

/// Gives the items ids of their origin and a number of its own.
fn number(items: &mut [Item]) {
    let mut counts: Vec<(Origin, usize)> = Vec::new();
    for item in items {
        let at = match counts.iter().position(|(origin, _)| *origin == item.origin) {
            Some(at) => at,
            None => {
                counts.push((item.origin, 0));
                counts.len() - 1
            }
        };
        if let Some((_, count)) = counts.get_mut(at) {
            *count += 1;
            item.id = format!("{}-{count}", item.origin.id());
        }
    }
}

/// The items of which no earlier one asks the same.
fn without_doubles(items: Vec<Item>) -> Vec<Item> {
    let mut known: Vec<Asked> = Vec::new();
    items
        .into_iter()
        .filter(|item| {
            let asked = Asked::new(item);
            let is_new = !known.iter().any(|known| known.is_same(&asked));
            if is_new {
                known.push(asked);
            }
            is_new
        })
        .collect()
}

/// What an item asks, ready to be compared.
struct Asked {
    origin: Origin,
    words: Vec<String>,
}

impl Asked {
    fn new(item: &Item) -> Self {
        Self { origin: item.origin, words: words(&item.full_question()) }
    }

    /// Of one origin, questions that are alike come from passages that are, and differ in what the passages do: only the
    /// same words are the same question.
    fn is_same(&self, other: &Self) -> bool {
        !self.words.is_empty()
            && (self.words == other.words
                || self.origin != other.origin && similar_words(&self.words, &other.words))
    }
}
