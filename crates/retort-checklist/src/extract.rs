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

use crate::instruction::{Instruction, Sentence, is_in};
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
    let read: Vec<Vec<Token>> =
        instruction.sentences.iter().map(|sentence| token::tokens(&instruction, sentence)).collect();
    memory.survey = survey(&read, &mut memory.made);
    let mut found: Vec<Extracted> = Vec::new();
    for (index, tokens) in read.into_iter().enumerate() {
        let Some(sentence) = instruction.sentences.get(index) else { break };
        if memory.collect(&instruction, sentence) {
            continue;
        }
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
        memory.holds |= found.iter().any(|one| {
            matches!(
                one.constraint,
                Constraint::Code { .. }
                    | Constraint::Choice { .. }
                    | Constraint::Csv { .. }
                    | Constraint::Json { .. }
            )
        });
        memory.tail = tokens;
        memory.tail.truncate(LONGEST);
        memory.begin_to_collect(&instruction, index);
    }
    memory.collected(&mut found);
    finish(&instruction, found, &memory)
}

/// What an instruction as a whole is about, read before its sentences.
#[derive(Debug, Default, Clone, Copy)]
struct Survey {
    /// Whether somebody hands on a task that is set to them: "can you write it for me".
    delegates: bool,
    /// Whether a text is asked for: then what a teacher or a client demands of it is asked, too.
    makes: bool,
}

/// Reads the beginning of an instruction; what is longer than a letter is not looked through.
fn survey(sentences: &[Vec<Token>], made: &mut Vec<String>) -> Survey {
    let mut survey = Survey::default();
    for tokens in sentences.iter().take(60) {
        let words = Words { tokens: tokens.get(..LONGEST.min(tokens.len())).unwrap_or_default() };
        for at in 0..words.len() {
            let is_polite =
                words.is(at, "can could would") && words.is(at + 1, "you u") || words.is(at, "please pls");
            let verb = if words.is(at, "please pls") { at + 1 } else { at + 2 };
            let is_request = is_polite
                && (words.is(verb, "write draft make do help create come give")
                    || words.is(verb, "please") && words.is(verb + 1, "write draft make do help create"));
            survey.delegates |= is_request || words.is(at, "help") && words.low(at + 1) == "me";
            let begins = at == 0 || words.is(at - 1, "please , pls and you me : so kindly");
            if !(begins
                && words
                    .is(at, "write draft compose create make prepare produce invent craft give provide need"))
            {
                continue;
            }
            survey.makes = true;
            let mut noun = at + 1;
            while words.is(noun, "me us") {
                noun += 1;
            }
            if !words.is(noun, "a an the my our") {
                continue;
            }
            for ahead in 1..4 {
                let low = words.low(noun + ahead);
                if is_in(low, "of for with in on to about from and or") {
                    break;
                }
                if count::is_other_part(low) && made.len() < 8 {
                    made.push(low.to_owned());
                    break;
                }
            }
        }
        survey.makes |= survey.delegates;
    }
    survey
}

/// Names in the items of a list: of sections, headings, keys or columns.
#[derive(Debug)]
struct Collected {
    what: Names,
    ordered: bool,
    names: Vec<String>,
    passage: Range<usize>,
}

impl Memory {
    /// Begins a list of names behind "… the following sections:".
    fn begin_to_collect(&mut self, instruction: &Instruction<'_>, index: usize) {
        let words = Words { tokens: &self.tail };
        let Some(next) = instruction.sentences.get(index + 1) else { return };
        let Some(colon) = words.len().checked_sub(1).filter(|at| words.low(*at) == ":") else { return };
        if !next.is_item || self.collects.is_some() || words.len() >= LONGEST {
            return;
        }
        let Some(noun) = (colon.saturating_sub(7)..colon).rev().find(|at| {
            words.is(*at, "sections headings headers keys fields columns properties parts")
                && !words.is(at + 1, "of on about that")
        }) else {
            return;
        };
        let what = match words.low(noun) {
            "sections" | "parts" => Names::Sections,
            "headings" | "headers" => Names::Headings,
            "columns" => Names::Columns,
            _ => Names::Keys,
        };
        let moods = mood::moods(words, self.is_question, self.survey);
        if moods.get(noun) != Some(&mood::Mood::Asked) {
            return;
        }
        let ordered = (0..colon).any(|at| words.low(at) == "order");
        let passage = words.get(noun).map_or(0..0, |token| token.range.clone());
        self.collects = Some(Collected { what, ordered, names: Vec::new(), passage });
    }

    /// Takes an item of such a list. What is no item, or no name, ends it.
    fn collect(&mut self, instruction: &Instruction<'_>, sentence: &Sentence) -> bool {
        let Some(collects) = &mut self.collects else { return false };
        let text = instruction.slice(&sentence.range);
        if !sentence.is_item || collects.names.len() >= 40 {
            return false;
        }
        let first = text.split([':', '(', '—', '–', '\n']).next().unwrap_or_default();
        let first = first.split(" - ").next().unwrap_or_default();
        let name = first.trim().trim_matches(['"', '“', '”', '*', '`', '\'', '_', '.', ',', ';']).trim();
        let count = name.split_whitespace().count();
        if count == 0 || count > 6 {
            return false;
        }
        collects.names.push(name.to_owned());
        collects.passage.end = sentence.range.end;
        true
    }

    /// What the names make: sections, headings; keys and columns go to the JSON or the table.
    fn collected(&mut self, found: &mut Vec<Extracted>) {
        let Some(Collected { what, ordered, names, passage }) = self.collects.take() else { return };
        if names.is_empty() {
            return;
        }
        let mut push = |constraint| found.push(Extracted { constraint, passage: passage.clone() });
        match what {
            Names::Sections => push(Constraint::Sections { titles: names, ordered }),
            Names::Headings => {
                for text in names {
                    push(Constraint::Heading { level: None, text: Some(text), limit: Limit::SOME });
                }
            }
            Names::Keys => self.keys = names,
            Names::Columns => self.header = names,
        }
    }
}

/// What a list of names is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    Sections,
    Headings,
    Keys,
    Columns,
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
    survey: Survey,
    /// What the instruction asks for by a noun that may also name a part: a description, an introduction.
    made: Vec<String>,
    /// Whether code, data or a choice was asked for: a length in a later sentence may be of what explains it.
    holds: bool,
    /// Whether what the items below a label name is forbidden ("Avoid:") or asked for ("Must have:").
    label: Option<bool>,
    /// The columns' names that a sentence of their own gives.
    header: Vec<String>,
    /// A list of names that the items below a colon give, and the names so far.
    collects: Option<Collected>,
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
        let moods = mood::moods(words, memory.is_question, memory.survey);
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
        if let Some(found) = self.either_or() {
            return found;
        }
        self.listed();
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
            // "2) finish with …" begins anew, and so does "…, always end with".
            let is_mark = low == ")" && words.number(index.wrapping_sub(1)).is_some();
            if is_mark
                || low == "always" && !words.is(back(index), "not don't")
                || is_in(low, "just simply only") && index > 0 && words.low(index - 1) == ","
            {
                return false;
            }
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
        // "…; otherwise …" is of the other case.
        let otherwise = (at + 1..words.len()).find(|at| words.is(*at, "otherwise else"));
        let then_ranges: Vec<Range<usize>> = then_ranges
            .into_iter()
            .map(|range| range.start..otherwise.filter(|at| range.contains(at)).unwrap_or(range.end))
            .collect();
        let is_about_response = (condition_range.start..condition_range.end)
            .take(8)
            .any(|at| words.is(at, "you your it answer response reply output u this there"));
        let condition = if is_about_response { self.condition(condition_range.clone()) } else { None };
        if let Some(Constraint::Count {
            what: what @ (Unit::Bullet | Unit::NumberedItem | Unit::Item), ..
        }) = condition
        {
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
            words.is(*at, "use include show add give write provide contain contains includes has have need make uses exceeds answer respond reply insert choose mention is there's")
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

    /// "The product name Kettlebrook at least 3 times"
    fn name_in_list(&self, at: usize, bans: bool) -> Option<(String, Limit, usize)> {
        let words = self.words;
        let mut start = at;
        while words.is(start, "product brand company name word phrase keyword our") && start < at + 4 {
            start += 1;
        }
        if start == at || bans {
            return None;
        }
        let mut end = start;
        if words.is_what(start, What::Quoted) {
            end += 1;
        } else {
            while end < start + 3
                && words.is_word(end)
                && self.text(end).starts_with(char::is_uppercase)
                && words.number(end).is_none()
            {
                end += 1;
            }
        }
        let (limit, next) = self.times(end).filter(|_| end > start)?;
        Some((self.text_of(start..end).trim_matches(['"', '“', '”', '\'']).to_owned(), limit, next))
    }

    /// Two things with an "or" between them, before "but not both".
    fn not_both(&self, end: usize) -> Option<Vec<Found>> {
        let words = self.words;
        let or = (0..end).rev().take(REACH).find(|at| words.low(*at) == "or")?;
        let read = |range: Range<usize>| {
            range.into_iter().find_map(|at| {
                if words.is_what(at, What::Quoted) {
                    return Some((Constraint::required(self.text(at)), at));
                }
                if words.is(at, "table tables") {
                    return Some((Constraint::Table { header: Vec::new(), columns: None, rows: None }, at));
                }
                let (thing, _) = count::thing(words, at)?;
                thing.is_named().then(|| (thing.constraint(Limit::SOME), at))
            })
        };
        let (one, from) = read(or.saturating_sub(6)..or)?;
        let (other, _) = read(or + 1..end)?;
        let constraint = Constraint::Not { constraint: Box::new(Constraint::All { of: vec![one, other] }) };
        Some(vec![Found { constraint, from, to: (end + 3).min(words.len()) }])
    }

    /// "Either write two paragraphs and use no digits, or write a list of six items": one group or the other.
    fn either_or(&mut self) -> Option<Vec<Found>> {
        let words = self.words;
        let at =
            (0..words.len().min(6)).find(|at| words.low(*at) == "either" && words.is(at + 1, REQUESTS))?;
        let or = (at + 2..words.len()).find(|at| {
            words.low(*at) == "or" && words.is(at.saturating_sub(1), ", ;") && words.is(at + 1, REQUESTS)
        })?;
        let one = self.part(at + 1..or);
        let other = self.part(or + 1..words.len());
        if one.is_empty() || other.is_empty() {
            return Some(Vec::new());
        }
        let group = |found: Vec<Found>| {
            let mut of: Vec<Constraint> = found.into_iter().map(|one| one.constraint).collect();
            if of.len() == 1 { of.pop() } else { Some(Constraint::All { of }) }
        };
        let to = other.iter().map(|one| one.to).max().unwrap_or(or);
        let constraint = Constraint::Any { of: vec![group(one)?, group(other)?] };
        Some(vec![Found { constraint, from: at, to }])
    }

    /// "MUST HAVE: exactly one question; five bullet points", "Avoid: emojis, the word "cheap"": a label, and what is
    /// listed behind it or in the items below.
    fn listed(&mut self) {
        let words = self.words;
        let sentence = self.instruction.sentences.get(self.memory.sentence);
        let colon = (1..words.len().min(6)).find(|at| words.low(*at) == ":");
        let label = colon.and_then(|colon| {
            let wants = words.any(0, "must have|must include|must haves|must contain|include|required|do include|please include|requirements|needs|to include|dos|do");
            let bans = words.any(0, "must not have|must not include|must not contain|avoid|do not use|don't use|do not include|don't include|forbidden|banned|not allowed|no|never use|don'ts|please avoid|exclude|don'ts|don't|do not|must not use|never");
            match (wants, bans) {
                (_, Some(end)) if end == colon => Some(true),
                (Some(end), _) if end == colon => Some(false),
                _ => None,
            }
        });
        let is_item = sentence.is_some_and(|sentence| sentence.is_item);
        let (bans, start) = match (label, colon) {
            (Some(bans), Some(colon)) => {
                self.memory.label = Some(bans);
                (bans, colon + 1)
            }
            _ if is_item => match self.memory.label {
                Some(bans) => (bans, 0),
                None => return,
            },
            _ => {
                self.memory.label = None;
                return;
            }
        };
        let mut at = start;
        while at < words.len() {
            let is_start = at == start || words.is(at - 1, ", ; and or");
            if !is_start || self.is_used(at) {
                at += 1;
                continue;
            }
            let mut next = at;
            while words.is(next, "any the a an no") && next < at + 3 {
                next += 1;
            }
            let ends =
                |end: usize| end >= words.len() || words.is_what(end, What::Sign) || words.is(end, "and or");
            if let Some((thing, end)) = count::thing(words, next)
                && thing.is_named()
                && ends(end)
            {
                let limit = if bans || words.low(at) == "no" { Limit::NONE } else { Limit::SOME };
                self.push(thing.constraint(limit), at, end);
                at = end;
            } else if let Some(amount) = count::limit(words, at)
                && let Some((thing, end)) = count::counted(words, amount.next)
                && !bans
                && ends(end)
                && thing.is_named()
            {
                self.push(thing.constraint(amount.limit), at, end);
                at = end;
            } else if words.is(next, "word words phrase phrases term terms hashtag name")
                && words.is_what(next + 1, What::Quoted)
                && (ends(next + 2) || self.times(next + 2).is_some())
            {
                let limit = if bans { Limit::NONE } else { Limit::SOME };
                let (limit, mut end) = self.times(next + 2).filter(|_| !bans).unwrap_or((limit, next + 2));
                let mut text = next + 1;
                loop {
                    let constraint = Constraint::Phrase {
                        text: self.text(text).trim().to_owned(),
                        limit,
                        inside_words: false,
                        case_sensitive: false,
                    };
                    self.push(constraint, at, text + 1);
                    end = end.max(text + 1);
                    text = (text + 1..text + 4).find(|at| !words.is(*at, ", and or")).unwrap_or(text + 1);
                    if !words.is_what(text, What::Quoted) {
                        break;
                    }
                }
                at = end;
            } else if let Some((name, limit, end)) = self.name_in_list(next, bans) {
                self.push(
                    Constraint::Phrase { text: name, limit, inside_words: false, case_sensitive: false },
                    at,
                    end,
                );
                at = end;
            } else if words.is_what(next, What::Quoted) && ends(next + 1) && bans {
                let text = self.text(next).trim().to_owned();
                self.push(Constraint::forbidden(text), at, next + 1);
                at = next + 1;
            } else {
                at += 1;
            }
        }
    }

    /// "Don't use both X and Y".
    fn both(&mut self) -> Option<Vec<Found>> {
        let words = self.words;
        // "You may use emojis or exclamation marks, but not both."
        if let Some(end) =
            (2..words.len()).find(|at| words.any(*at, "but not both|not both|never both").is_some())
            && let Some(found) = self.not_both(end)
        {
            return Some(found);
        }
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
        "not" => {
            !words.is(back(at), "whether why if or") && !words.is(at + 1, "forget fail neglect hesitate")
        }
        "don't" | "dont" | "never" if words.is(at + 1, "forget fail neglect hesitate") => false,
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
fn alternatives(words: Words<'_>, mut found: Vec<Found>) -> Vec<Found> {
    // "Three sentences or 50 words, whichever is shorter" is neither one nor the other.
    if let Some(at) = (0..words.len()).find(|at| words.low(*at) == "whichever") {
        found.retain(|one| one.to > at || one.to + 16 < at);
    }
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
            // "In bullet points, no more than five" sets the most, and no least.
            let is_list = matches!(what, Unit::Bullet | Unit::NumberedItem | Unit::Item);
            what == other && (limit.bounds().0 >= 1 || is_list && matches!(limit, Limit::AtMost(1..)))
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
        (Constraint::Csv { header: first, .. }, Constraint::Csv { header, columns, rows, .. }) => {
            (header.is_empty() || header == first) && columns.is_none() && rows.is_none()
        }
        (Constraint::Count { what: Unit::Table, limit }, Constraint::Table { header, columns, rows }) => {
            limit.bounds().0 >= 1 && header.is_empty() && columns.is_none() && rows.is_none()
        }
        (
            Constraint::Heading { limit, .. },
            Constraint::Count { what: Unit::Heading, limit: Limit::AtLeast(1) },
        ) => limit.bounds().0 >= 1,
        (
            Constraint::Code { .. },
            Constraint::Count { what: Unit::CodeBlock, limit: Limit::AtLeast(1) | Limit::Exactly(1) },
        ) => true,
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
        // "True or false: … Answer only with "True" or "False"."
        (
            Constraint::Choice { options, place: Place::Whole },
            Constraint::Choice { options: other, place: Place::Whole },
        ) => {
            options.len() == other.len()
                && options.iter().zip(other).all(|(one, other)| one.eq_ignore_ascii_case(other))
                && options.iter().filter(|one| one.starts_with(char::is_uppercase)).count()
                    >= other.iter().filter(|one| one.starts_with(char::is_uppercase)).count()
        }
        _ => false,
    }
}
