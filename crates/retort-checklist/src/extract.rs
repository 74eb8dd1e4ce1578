//! From an English instruction to the constraints that it sets and that code can verify.
//!
//! The instruction is split into voice and material ([`crate::instruction`]); each sentence of the voice becomes tokens;
//! a mood is put on each token (does the sentence ask here, or does it tell, quote, wonder?); then small matchers read
//! limits, operands and formats. Every matcher looks a bounded way ahead and back, so that the whole is linear.
//!
//! Where a sentence can be read in two ways nothing is taken from it: a constraint that was not set does more harm than
//! one that was not seen.

#[expect(
    clippy::nonminimal_bool,
    clippy::collapsible_match,
    reason = "a rule stands as it is said, one case a line"
)]
mod count;
#[expect(clippy::nonminimal_bool, reason = "a rule stands as it is said")]
mod form;
#[expect(clippy::nonminimal_bool, reason = "a rule stands as it is said")]
mod mood;
#[expect(clippy::nonminimal_bool, reason = "a rule stands as it is said")]
mod phrase;
mod token;

use std::ops::Range;

use crate::instruction::{Instruction, is_in};
use crate::{Constraint, Limit, Place, Unit};
use token::{Token, What, Words};

/// How far a matcher looks back or ahead, in tokens.
const REACH: usize = 24;

/// The most tokens that are read as one sentence. What is longer is read in pieces.
const LONGEST: usize = 256;

/// A constraint that an instruction sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// In canonical form; [`Constraint::check`] accepts it.
    pub constraint: Constraint,
    /// The words that say it, as bytes of the instruction; what stands in several places, from the first to the last.
    pub passage: Range<usize>,
}

/// The constraints that an instruction in English sets on its response and that code can verify, in the order in which
/// the instruction says them, each once.
///
/// Texts to be worked on, reported speech, and what is only talked about set none. Takes time linear in the instruction
/// and panics on nothing.
///
/// ```
/// use retort_checklist::{Constraint, Limit, Unit, extract};
///
/// let found = extract("Describe the sea in at most 50 words.");
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].constraint, Constraint::Count { what: Unit::Word, limit: Limit::AtMost(50) });
/// assert_eq!(found[0].passage, 20..36);
/// ```
#[must_use]
pub fn extract(instruction: &str) -> Vec<Extracted> {
    let instruction = Instruction::new(instruction);
    let mut memory = Memory::default();
    let mut found: Vec<Extracted> = Vec::new();
    for index in 0..instruction.sentences.len() {
        let Some(sentence) = instruction.sentences.get(index) else { break };
        let tokens = token::tokens(&instruction, sentence);
        memory.sentence = index;
        memory.is_question = tokens.last().is_some_and(|token| token.low.starts_with('?'));
        // Within a sentence words are looked for from its beginning to its end; its length is bounded for that.
        for tokens in tokens.chunks(LONGEST) {
            let parts = Reader::new(&instruction, Words { tokens }, &mut memory).sentence();
            for part in parts {
                let start = tokens.get(part.from).map(|token| token.range.start);
                let end =
                    part.to.checked_sub(1).and_then(|last| tokens.get(last)).map(|token| token.range.end);
                if let (Some(start), Some(end)) = (start, end) {
                    found.push(Extracted { constraint: part.constraint, passage: start..end.max(start) });
                }
            }
        }
        memory.tail = tokens;
        memory.tail.truncate(LONGEST);
    }
    finish(&instruction, found, &memory)
}

/// A constraint and the tokens that say it.
#[derive(Debug, Clone)]
struct Found {
    constraint: Constraint,
    from: usize,
    to: usize,
}

/// What later sentences refer to.
#[derive(Debug, Default)]
struct Memory {
    /// The number of the sentence that is read.
    sentence: usize,
    is_question: bool,
    /// What was counted last: "each" refers to it.
    unit: Option<Unit>,
    /// The kind of list that was asked for.
    list: Option<Unit>,
    /// Options that were named before it was said how to choose.
    options: Vec<String>,
    /// The sentence that named them, and whether it asked for nothing else.
    options_place: Option<(usize, bool)>,
    /// Whether it was said that the request is to be repeated: texts as long as the instruction are made of that.
    has_repeat: bool,
    /// Letters before options, "A)", "B)", …
    letters: Vec<String>,
    /// That nothing but a label was asked for, whether it is a letter, and where.
    label_request: Option<(bool, Range<usize>)>,
    /// The names of keys or columns that a later sentence gives.
    keys: Vec<String>,
    /// Columns and rows that a sentence of their own gives.
    columns: Option<Limit>,
    rows: Option<Limit>,
    /// A number of sections that was asked for.
    sections: Option<Limit>,
    /// A number of things that were asked for, where a table or CSV makes them rows.
    things: Option<(u64, usize)>,
    /// A language of code that was named, and that a code block was.
    code_language: Option<String>,
    has_code_block: Option<(Place, Range<usize>)>,
    /// The tokens of the sentence before.
    tail: Vec<Token>,
}

/// One sentence, or a part of one.
struct Reader<'s, 't, 'm> {
    instruction: &'s Instruction<'t>,
    words: Words<'s>,
    moods: Vec<mood::Mood>,
    /// Tokens that a constraint was read from.
    used: Vec<bool>,
    memory: &'m mut Memory,
    found: Vec<Found>,
}

impl<'s, 't, 'm> Reader<'s, 't, 'm> {
    fn new(instruction: &'s Instruction<'t>, words: Words<'s>, memory: &'m mut Memory) -> Self {
        let moods = mood::moods(words, memory.is_question);
        let used = vec![false; words.len()];
        Self { instruction, words, moods, used, memory, found: Vec::new() }
    }

    /// The constraints of a sentence, conditions and alternatives among them.
    fn sentence(mut self) -> Vec<Found> {
        if let Some(found) = self.conditional() {
            return found;
        }
        if let Some(found) = self.both() {
            return found;
        }
        self.plain();
        let words = self.words;
        let mut found = self.found;
        found.sort_by_key(|one| (one.from, one.to));
        let found = alternatives(words, found);
        merge_limits(found)
    }

    /// Every matcher in its turn.
    fn plain(&mut self) {
        self.divided();
        self.numbered_sections();
        self.phrases();
        self.forms();
        self.counts();
        self.things();
    }

    /// Reads a part of the sentence by itself.
    fn part(&mut self, range: Range<usize>) -> Vec<Found> {
        let tokens = self.words.tokens.get(range.clone()).unwrap_or_default();
        let mut reader = Reader::new(self.instruction, Words { tokens }, self.memory);
        reader.plain();
        let words = reader.words;
        let mut found = reader.found;
        found.sort_by_key(|one| (one.from, one.to));
        let mut found = merge_limits(alternatives(words, found));
        for one in &mut found {
            one.from += range.start;
            one.to += range.start;
        }
        found
    }

    fn push(&mut self, constraint: Constraint, from: usize, to: usize) {
        for used in self.used.iter_mut().take(to).skip(from) {
            *used = true;
        }
        self.found.push(Found { constraint, from, to });
    }

    /// Marks tokens as read though they say nothing that is verified.
    fn pass(&mut self, from: usize, to: usize) {
        for used in self.used.iter_mut().take(to).skip(from) {
            *used = true;
        }
    }

    fn is_used(&self, at: usize) -> bool {
        self.used.get(at).copied().unwrap_or(true)
    }

    fn mood(&self, at: usize) -> mood::Mood {
        self.moods.get(at).copied().unwrap_or(mood::Mood::Told)
    }

    fn asks(&self, at: usize) -> bool {
        self.mood(at) == mood::Mood::Asked
    }

    /// The text of a token, without its marks.
    fn text(&self, at: usize) -> &'t str {
        self.words.get(at).map_or("", |token| self.instruction.slice(&token.inner))
    }

    /// The text from one token to another, as it is written.
    fn text_of(&self, range: Range<usize>) -> &'t str {
        let (Some(first), Some(last)) =
            (self.words.get(range.start), range.end.checked_sub(1).and_then(|last| self.words.get(last)))
        else {
            return "";
        };
        self.instruction.slice(&(first.range.start..last.range.end.max(first.range.start)))
    }

    /// Whether something named at a place is forbidden: a negation stands before it, without a new request in between.
    fn is_negated(&self, at: usize) -> bool {
        let words = self.words;
        let mut seen = 0;
        let mut index = at;
        while index > 0 && seen < REACH {
            index -= 1;
            seen += 1;
            let low = words.low(index);
            if is_in(low, "but ; : — - so however instead ( then")
                && !(low == "instead" && words.low(index + 1) == "of")
            {
                return false;
            }
            if is_negator(words, index) {
                // "not only", "no more than" and the like are no negations of what follows.
                return !(is_in(low, "no not")
                    && is_in(words.low(index + 1), "only just more fewer less later longer"));
            }
            let is_joined = index > 0 && words.is(index - 1, "and , also please or so");
            if is_joined && is_in(low, REQUESTS) && !is_negator(words, index) {
                return false;
            }
        }
        false
    }

    /// "If you use a list, …": a condition that code can decide, and what then holds.
    fn conditional(&mut self) -> Option<Vec<Found>> {
        let words = self.words;
        let at = (0..words.len()).find(|at| {
            words.is(*at, "if unless whenever")
                || words.is(*at, "when should") && *at == 0 && words.is(1, "you the it your")
        })?;
        // "See if …", "whether": no condition.
        if at > 0
            && words
                .is(at - 1, "see check know tell ask wonder determine decide as find test what even only and")
        {
            return None;
        }
        // "It would be great if you kept it under 100 words."
        if at > 0 && words.is(at - 1, "great nice good lovely helpful appreciated appreciate it best perfect grateful ideal better happy") && words.is(0, "it it'd i i'd would that we") {
            return Some(self.part(at + 1..words.len()));
        }
        let is_unless = words.low(at) == "unless";
        let behind = (at + 1..words.len().min(at + 1 + REACH))
            .find(|end| words.is(*end, ", : ; — then"))
            .unwrap_or_else(|| words.len().min(at + 1 + REACH));
        let behind = if behind == words.len() && words.is(behind.saturating_sub(1), ". !") {
            behind - 1
        } else {
            behind
        };
        let (condition_range, then_ranges) = if at == 0 || words.is(at - 1, ", ; : —") && behind < words.len()
        {
            (at + 1..behind, vec![behind + 1..words.len(), 0..at])
        } else {
            (at + 1..behind, vec![0..at, behind..words.len()])
        };
        let is_about_response = (condition_range.start..condition_range.end)
            .take(8)
            .any(|at| words.is(at, "you your it answer response reply output u this there"));
        let condition = if is_about_response { self.condition(condition_range.clone()) } else { None };
        if let Some(Constraint::Count { what: what @ (Unit::Bullet | Unit::NumberedItem), .. }) = condition {
            self.memory.list = Some(what);
        }
        let mut all = Vec::new();
        for (index, range) in then_ranges.into_iter().enumerate() {
            if range.start >= range.end {
                continue;
            }
            let mut parts = self.part(range.clone());
            if parts.is_empty() && index == 0 {
                parts.extend(self.same_thing(range, condition.as_ref()));
            }
            // What stands on the other side of the condition is asked for in any case.
            if index == 1 {
                all.extend(parts);
                continue;
            }
            let Some(condition) = &condition else { continue };
            for part in parts {
                let condition = if is_unless {
                    Constraint::Not { constraint: Box::new(condition.clone()) }
                } else {
                    condition.clone()
                };
                let constraint =
                    Constraint::If { condition: Box::new(condition), then: Box::new(part.constraint) };
                all.push(Found { constraint, from: part.from.min(at), to: part.to.max(condition_range.end) });
            }
        }
        Some(all)
    }

    /// "If you use bullets, use at most five."
    fn same_thing(&self, range: Range<usize>, condition: Option<&Constraint>) -> Option<Found> {
        let (what, limit) = match condition? {
            Constraint::Count { what, limit } => (what, limit),
            Constraint::Table { .. } => return self.shape_of_table(range),
            _ => return None,
        };
        if limit.bounds().0 != 1 {
            return None;
        }
        let words = self.words;
        let at = range.clone().find(|at| count::limit(words, *at).is_some())?;
        let amount = count::limit(words, at)?;
        let ends =
            amount.next >= range.end || words.is_what(amount.next, What::Sign) || words.is(amount.next, "of");
        if !ends || amount.sort == count::Sort::Bare {
            return None;
        }
        let limit = match amount.limit {
            Limit::AtLeast(least) if self.is_negated(at) => Limit::AtMost(least.saturating_sub(1)),
            limit => limit,
        };
        Some(Found { constraint: Constraint::Count { what: *what, limit }, from: at, to: amount.next })
    }

    /// "If you use a table, give it at most four columns."
    fn shape_of_table(&self, range: Range<usize>) -> Option<Found> {
        let words = self.words;
        range.into_iter().find_map(|at| {
            let amount = count::limit(words, at)?;
            let limit = match amount.limit {
                Limit::AtLeast(least) if self.is_negated(at) => Limit::AtMost(least.saturating_sub(1)),
                limit => limit,
            };
            let (columns, rows) = match words.low(amount.next) {
                "columns" | "column" => (Some(limit), None),
                "rows" | "row" => (None, Some(limit)),
                _ => return None,
            };
            let constraint = Constraint::Table { header: Vec::new(), columns, rows };
            Some(Found { constraint, from: at, to: amount.next + 1 })
        })
    }

    /// What "if you …" says about the response.
    fn condition(&mut self, range: Range<usize>) -> Option<Constraint> {
        let mut parts = self.part(range.clone());
        if parts.len() == 1 {
            return parts.pop().map(|part| part.constraint);
        }
        if !parts.is_empty() {
            return None;
        }
        let tokens = self.words.tokens.get(range).unwrap_or_default();
        let words = Words { tokens };
        let verb = (0..words.len()).find(|at| {
            words.is(*at, "use include show add give write provide contain contains includes has have need make uses exceeds answer respond reply insert choose mention is")
        })?;
        let negated = (0..words.len()).any(|at| is_negator(words, at));
        let constraint = (verb + 1..words.len()).find_map(|at| {
            if words.is(at, "code") && !words.is(at + 1, "of") {
                return Some(Constraint::Count { what: Unit::CodeBlock, limit: Limit::SOME });
            }
            if words.is(at, "lists list") && !words.is(at.saturating_sub(1), "bulleted numbered") {
                return Some(Constraint::Count { what: Unit::Item, limit: Limit::SOME });
            }
            if words.is(at, "table tables") {
                return Some(Constraint::Table { header: Vec::new(), columns: None, rows: None });
            }
            let (thing, _) = count::thing(words, at)?;
            thing.is_named().then(|| thing.constraint(Limit::SOME))
        })?;
        Some(if negated { Constraint::Not { constraint: Box::new(constraint) } } else { constraint })
    }

    /// "Don't use both X and Y".
    fn both(&mut self) -> Option<Vec<Found>> {
        let words = self.words;
        let at = (1..words.len()).find(|at| words.low(*at) == "both")?;
        if !self.is_negated(at) || !self.asks(at) {
            return None;
        }
        let mut of = Vec::new();
        let mut index = at + 1;
        let mut end = at + 1;
        while index < words.len().min(at + REACH) && of.len() < 4 {
            if words.is(index, ". ; but") {
                break;
            }
            if let Some((thing, next)) = count::thing(words, index) {
                of.push(thing.constraint(Limit::SOME));
                end = next;
                index = next;
            } else if words.is_what(index, What::Quoted) {
                of.push(Constraint::required(self.text(index)));
                index += 1;
                end = index;
            } else if words.is(index, "table tables") {
                of.push(Constraint::Table { header: Vec::new(), columns: None, rows: None });
                index += 1;
                end = index;
            } else {
                index += 1;
            }
        }
        if of.len() < 2 {
            return None;
        }
        let constraint = Constraint::Not { constraint: Box::new(Constraint::All { of }) };
        let mut found = vec![Found { constraint, from: at, to: end }];
        found.extend(self.part(end..words.len()));
        Some(found)
    }
}

/// Words with which something is asked for.
const REQUESTS: &str = "use keep write include add start begin end finish answer respond reply return output produce \
    make give put format structure present ensure wrap mention say tell translate list explain describe close open \
    sign conclude insert provide show create state repeat limit stick aim summarise summarize compare";

/// Whether a word forbids what follows.
fn is_negator(words: Words<'_>, at: usize) -> bool {
    match words.low(at) {
        "no" => !words.is(at + 1, "matter problem longer"),
        "not" => !words.is(back(at), "whether why if or"),
        "don't" | "dont" | "never" | "without" | "avoid" | "avoiding" | "avoids" | "omit" | "omitting"
        | "exclude" | "excluding" | "skip" | "nor" | "neither" | "cannot" | "can't" | "mustn't"
        | "shouldn't" | "won't" | "doesn't" | "doesnt" | "isn't" | "aren't" | "zero" | "ditch" | "minus"
        | "nothing" | "none" | "shan't" | "cant" | "drop" | "w/o" | "forbid" | "refrain" | "forgo" => {
            !(words.low(at) == "nothing" && words.is(at + 1, "but except other else more"))
        }
        "leave" => (1..4).any(|ahead| words.low(at + ahead) == "out") || words.is(at + 1, "no"),
        "stay" | "steer" => words.is(at + 1, "away clear"),
        "free" => words.low(at + 1) == "of",
        "instead" => words.low(at + 1) == "of",
        "rather" => words.low(at + 1) == "than",
        _ => false,
    }
}

const fn back(at: usize) -> usize {
    at.saturating_sub(1)
}

/// Puts together what an "or" stands between: "in fewer than 50 words or in three bullet points".
fn alternatives(words: Words<'_>, found: Vec<Found>) -> Vec<Found> {
    let mut joined: Vec<Found> = Vec::with_capacity(found.len());
    for next in found {
        let is_either = joined.last().is_some_and(|last| {
            let gap = last.to..next.from.max(last.to);
            let has_or = gap.clone().take(4).any(|at| words.low(at) == "or");
            // Only small words stand between two alternatives, or the verb again.
            has_or
                && gap.len() <= 6
                && gap.clone().all(|at| {
                    words.is(at, "or , in as with a an the else using by of only exactly at to simply just alternatively its into use write give make provide present list answer respond reply")
                })
        });
        if !is_either {
            joined.push(next);
            continue;
        }
        let Some(last) = joined.last_mut() else { continue };
        // "No bullets or headings": each of them is forbidden.
        let forbids = |constraint: &Constraint| {
            matches!(
                constraint,
                Constraint::Count { limit: Limit::AtMost(0), .. }
                    | Constraint::Phrase { limit: Limit::AtMost(0), .. }
                    | Constraint::Not { .. }
            )
        };
        if forbids(&last.constraint) || forbids(&next.constraint) {
            joined.push(next);
            continue;
        }
        let first = std::mem::replace(&mut last.constraint, Constraint::Quoted {});
        let mut of = match first {
            Constraint::Any { of } => of,
            other => vec![other],
        };
        of.push(next.constraint);
        last.constraint = Constraint::Any { of };
        last.to = next.to;
    }
    joined
}

/// "At least 100 words and at most 150" is one range.
fn merge_limits(found: Vec<Found>) -> Vec<Found> {
    let mut merged: Vec<Found> = Vec::with_capacity(found.len());
    for next in found {
        let partner =
            merged.iter_mut().rev().take(4).find(|one| same_but_limit(&one.constraint, &next.constraint));
        if let Some(one) = partner
            && join(&mut one.constraint, &next.constraint)
        {
            one.from = one.from.min(next.from);
            one.to = one.to.max(next.to);
            continue;
        }
        merged.push(next);
    }
    merged
}

fn limits<'c>(a: &'c mut Constraint, b: &Constraint) -> Option<(&'c mut Limit, Limit)> {
    match (a, b) {
        (Constraint::Count { what, limit }, Constraint::Count { what: other, limit: second })
            if what == other =>
        {
            Some((limit, *second))
        }
        (
            Constraint::Phrase { text, limit, inside_words, case_sensitive },
            Constraint::Phrase { text: other, limit: second, inside_words: inside, case_sensitive: case },
        ) if text == other && inside_words == inside && case_sensitive == case => Some((limit, *second)),
        (
            Constraint::Within { which, unit, constraint },
            Constraint::Within { which: other, unit: second, constraint: inner },
        ) if which == other && unit == second => limits(constraint, inner),
        _ => None,
    }
}

fn same_but_limit(a: &Constraint, b: &Constraint) -> bool {
    limits(&mut a.clone(), b).is_some()
}

/// Joins a least and a most of the same thing.
fn join(a: &mut Constraint, b: &Constraint) -> bool {
    let Some((limit, second)) = limits(a, b) else { return false };
    let range = match (*limit, second) {
        (Limit::AtLeast(least), Limit::AtMost(most)) | (Limit::AtMost(most), Limit::AtLeast(least)) => {
            (least, most)
        }
        _ => return false,
    };
    if range.0 > range.1 || range.1 == 0 {
        return false;
    }
    *limit = Limit::Between(range.0, range.1);
    true
}

/// What holds over the whole instruction: code blocks get their language, things their rows, and nothing is said twice.
fn finish(instruction: &Instruction<'_>, mut found: Vec<Extracted>, memory: &Memory) -> Vec<Extracted> {
    form::across(instruction, &mut found, memory);
    for one in &mut found {
        let constraint = std::mem::replace(&mut one.constraint, Constraint::Quoted {});
        one.constraint = constraint.canonical();
    }
    found.retain(|one| one.constraint.check().is_ok() && instruction.text.get(one.passage.clone()).is_some());
    let mut kept: Vec<Extracted> = Vec::with_capacity(found.len().min(MOST));
    for one in found {
        if kept.len() >= MOST {
            break;
        }
        if !kept.iter().any(|other| says_as_much(&other.constraint, &one.constraint)) {
            kept.retain(|other| !says_as_much(&one.constraint, &other.constraint));
            kept.push(one);
        }
    }
    kept.sort_by_key(|one| (one.passage.start, one.passage.end));
    kept
}

/// How many constraints are taken from one instruction: each is compared with those before it.
const MOST: usize = 200;

/// Whether the first constraint makes the second superfluous.
fn says_as_much(first: &Constraint, second: &Constraint) -> bool {
    if first == second {
        return true;
    }
    match (first, second) {
        // "Exactly four bullets" and "as bullets".
        (Constraint::Count { what, limit }, Constraint::Count { what: other, limit: Limit::AtLeast(1) }) => {
            what == other && limit.bounds().0 >= 1
        }
        // "Respond with nothing but a bulleted list".
        (Constraint::Only { what }, Constraint::Count { what: other, limit: Limit::AtLeast(1) }) => {
            what == other
        }
        (
            Constraint::Json { place: Place::Whole, keys, schema },
            Constraint::Json { keys: other, schema: second, .. },
        ) => (other.is_empty() || keys == other) && (second.is_none() || schema == second),
        (Constraint::Table { .. }, Constraint::Table { header, columns, rows }) => {
            header.is_empty() && columns.is_none() && rows.is_none()
        }
        (Constraint::Csv { .. }, Constraint::Csv { header, columns, rows, .. }) => {
            header.is_empty() && columns.is_none() && rows.is_none()
        }
        (Constraint::Count { what: Unit::Table, limit }, Constraint::Table { header, columns, rows }) => {
            limit.bounds().0 >= 1 && header.is_empty() && columns.is_none() && rows.is_none()
        }
        (
            Constraint::Heading { limit, .. },
            Constraint::Count { what: Unit::Heading, limit: Limit::AtLeast(1) },
        ) => limit.bounds().0 >= 1,
        (Constraint::Code { .. }, Constraint::Count { what: Unit::CodeBlock, limit: Limit::AtLeast(1) }) => {
            true
        }
        (Constraint::Code { language, place: Place::Whole }, Constraint::Code { language: other, .. }) => {
            language == other
        }
        (
            Constraint::Phrase { text, limit, .. },
            Constraint::Phrase { text: other, limit: Limit::AtLeast(1), .. },
        ) => text == other && limit.bounds().0 >= 1,
        (
            Constraint::Choice { options, .. },
            Constraint::Choice { options: other, place: Place::Somewhere },
        ) => options == other,
        _ => false,
    }
}
