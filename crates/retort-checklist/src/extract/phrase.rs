//! Texts that are asked for or forbidden: words, beginnings and ends, postscripts, repetitions, choices.

use std::ops::Range;

use super::mood::Mood;
use super::token::{What, Words};
use super::{REACH, Reader, count};
use crate::instruction::is_in;
use crate::{Constraint, Limit, Place, Unit, Which};

/// Texts that a request names.
struct Operands {
    texts: Vec<String>,
    /// Whether one of them is enough.
    is_either: bool,
    from: usize,
    next: usize,
}

/// Nouns behind which a text is named.
const KINDS: &str = "word words phrase phrases term terms expression expressions keyword keywords string letter letters \
    sentence line brand name hashtag adjective adverb verb noun pronoun names text character closing greeting signoff \
    salutation statement quote message question wording";

/// Words that may stand between a verb and what it names.
const FILLERS: &str = "neither the this these that following exact exactly single all both any each specific key literal precise \
    either of our my your an a one two three four five six seven eight ten other very same words forbidden banned company brand product search : simple also italicised latin english magic";

const USES: &str = "include includes including contain contains containing use uses using used mention mentions mentioning say says saying \
    feature features featuring incorporate incorporates incorporating add insert weave work avoid avoids avoiding omit omitting \
    exclude excluding skip employ utilise utilize utter without write have has having name with drop repeat contained nor or reference referencing no bring adding utter";

impl<'t> Reader<'_, 't, '_> {
    /// Texts in quotation marks or emphasis from a place on, and, where a noun says that words follow, bare words.
    fn operands(&self, at: usize, bare: Option<&str>) -> Option<Operands> {
        let words = self.words;
        let mut texts = Vec::new();
        let mut next = at;
        let mut is_either = words.is(at.wrapping_sub(1), "either");
        let mut first = true;
        let mut is_quoted = false;
        while texts.len() < 40 {
            let mut item = next;
            if !first {
                let mut has_separator = false;
                while words.is(item, ", / & ; and or nor as well") {
                    has_separator = true;
                    is_either |= words.is(item, "or /");
                    item += 1;
                }
                if !has_separator {
                    // Quotations side by side.
                    if !words.is_what(item, What::Quoted) || bare.is_some_and(|kind| !kind.ends_with('s')) {
                        break;
                    }
                }
                while words.is(item, "the also")
                    && (words.is_what(item + 1, What::Quoted) || words.is(item + 1, KINDS))
                {
                    item += 1;
                }
                while words.is(item, "word words phrase letter term") && words.is_what(item + 1, What::Quoted)
                {
                    item += 1;
                }
            }
            if words.is_what(item, What::Quoted) {
                texts.push(self.text(item).trim().to_owned());
                next = item + 1;
            } else if words.is(item, "* ** _ __") && (bare.is_some() || !first) {
                let close = (item + 1..item + 7).find(|at| words.low(*at) == words.low(item))?;
                texts.push(self.text_of(item + 1..close).to_owned());
                next = close + 1;
            } else if words.low(item) == "#" && words.is_word(item + 1) && words.is_glued(item + 1) {
                texts.push(self.text_of(item..item + 2).to_owned());
                next = item + 2;
            } else if let Some(kind) = bare.filter(|_| !is_quoted) {
                let Some(end) = self.bare_item(item, kind, first) else { break };
                texts.push(self.text_of(item..end).to_owned());
                next = end;
                let is_plural = kind.ends_with('s');
                if !is_plural && !words.is(next, "or / nor") {
                    break;
                }
            } else {
                break;
            }
            // Behind a quotation no bare word is one of the texts.
            is_quoted |= words.is_what(next - 1, What::Quoted);
            first = false;
        }
        if texts.is_empty() || texts.iter().any(String::is_empty) {
            return None;
        }
        Some(Operands { texts, is_either, from: at, next })
    }

    /// A word, or a few where several are listed, without quotation marks.
    fn bare_item(&self, at: usize, kind: &str, is_first: bool) -> Option<usize> {
        let words = self.words;
        let low = words.low(at);
        let is_wordlike =
            words.is_word(at) || matches!(words.get(at).map(|token| token.what), Some(What::Number(_)));
        if !is_wordlike {
            return None;
        }
        if matches!(kind, "letter" | "letters") {
            return (low.chars().count() == 1).then_some(at + 1);
        }
        let not_named = "and or but nor if so that which you i of in to for with from is are was were not must should appears used it we they count limit by at on \
            themselves meaning associated related below above only should appear choice listed provided given per long like can may";
        if is_in(low, not_named) {
            return None;
        }
        if !matches!(kind, "words" | "terms" | "keywords" | "phrases" | "names" | "expressions") {
            return Some(at + 1);
        }
        // In a list every item ends at a comma, an "and", or the end.
        let mut end = at + 1;
        while end < at + 4 && words.is_word(end) && !words.is(end, "into within and or nor in at as anywhere somewhere must should but exactly twice once to throughout for appear when while is are on so no more each") {
            end += 1;
        }
        let ends = end >= words.len() || words.is_what(end, What::Sign) || words.is(end, "and or nor in at as anywhere somewhere must should but exactly twice once throughout appear each into within");
        if !ends {
            return is_first.then_some(at + 1).filter(|_| words.is(at + 1, "at exactly no"));
        }
        Some(end)
    }

    /// How often, from a place on: "at least twice", "exactly three times".
    pub(super) fn times(&self, at: usize) -> Option<(Limit, usize)> {
        if let Some((limit, next)) = self.times_here(at) {
            // "At least twice but no more than four times"
            if self.words.is(next, "but and")
                && let Some((other, end)) = self.times_here(next + 1)
                && let (Limit::AtLeast(low), Limit::AtMost(high)) = (limit, other)
                && low <= high
            {
                return Some((Limit::Between(low, high), end));
            }
            return Some((limit, next));
        }
        // "… into your story at least four times"
        if self.words.is(at, "in into throughout within across") {
            return (2..=4).find_map(|ahead| self.times_here(at + ahead));
        }
        None
    }

    fn times_here(&self, at: usize) -> Option<(Limit, usize)> {
        let words = self.words;
        let at = words
            .any(at, "in your answer|in your response|in it|in the text|, and|,|in the story")
            .unwrap_or(at);
        // "Not more than twice", "fewer than 5 times"
        if let Some((value, next)) = words.times(at) {
            if let Some(next) = words.any(next, "or more|at least|at minimum|minimum|or more often") {
                return Some((Limit::AtLeast(value), next));
            }
            if let Some(next) = words.any(next, "or fewer|or less|at most|maximum|max") {
                return Some((Limit::AtMost(value), next));
            }
            if words.is(next, "or")
                && let Some((high, next)) = words.times(next + 1)
            {
                return Some((Limit::Between(value.min(high), value.max(high)), next));
            }
            return Some((Limit::Exactly(value), next));
        }
        let skip = count::limit(words, at);
        if let Some(amount) = skip
            && words.is(amount.next, "time times x")
        {
            return Some((amount.limit, amount.next + 1));
        }
        // "no more than once"
        for ahead in 1..6 {
            let Some((value, next)) = words.times(at + ahead) else { continue };
            if value > 2 {
                continue;
            }
            let lead: Vec<&str> = (at..at + ahead).map(|at| words.low(at)).collect();
            let lead = lead.join(" ");
            let limit = match lead.as_str() {
                "at least" | "no less than" | "no fewer than" | "not less than" | "a minimum of"
                | "minimum" => Limit::AtLeast(value),
                "at most" | "no more than" | "not more than" | "a maximum of" | "maximum" | "up to"
                | "max" | "never more than" | "no more often than" => Limit::AtMost(value),
                "more than" | "more often than" => Limit::AtLeast(value + 1),
                "less than" | "fewer than" => Limit::AtMost(value.saturating_sub(1)),
                "exactly"
                | "only"
                | "just"
                | "precisely"
                | "not more and not less than"
                | "exactly and only" => Limit::Exactly(value),
                _ => return None,
            };
            return Some((limit, next));
        }
        None
    }

    /// Every matcher for texts.
    pub(super) fn phrases(&mut self) {
        self.letters_of_options();
        self.repeats();
        self.postscripts();
        self.edges();
        self.first_and_last_words();
        self.at_the_end();
        self.choices();
        self.named_texts();
        self.texts_first();
    }

    /// A constraint on a part of the response, where the words before or behind name one.
    fn in_part(&mut self, constraint: Constraint, from: usize, to: usize) {
        let behind = self.part_behind(to);
        let part = match behind {
            Some(part) => Some(Some(part)),
            None => self.part_before(from, to),
        };
        match part {
            None => self.push(constraint, from, to),
            Some(Some((which, unit))) => {
                let constraint = Constraint::Within { which, unit, constraint: Box::new(constraint) };
                self.push(constraint, from, to);
            }
            Some(None) => self.pass(from, to),
        }
    }

    /// "… in the first sentence", "… in every paragraph", "… in the title".
    fn part_behind(&self, to: usize) -> Option<(Which, Unit)> {
        let words = self.words;
        if !words.is(to, "in to on of within") {
            return None;
        }
        let next = if words.is(to + 1, "the your its") { to + 2 } else { to + 1 };
        self.named_part(next).map(|(which, unit, _)| (which, unit))
    }

    /// "Include the word X", "avoid 'Y'", "mention Z at least twice".
    fn named_texts(&mut self) {
        let words = self.words;
        let mut at = 0;
        while at < words.len() {
            let mood = self.mood(at);
            let is_label =
                at == 0 && words.is(0, "keywords forbidden banned required words mandatory taboo phrases");
            // "Why you should avoid the word …" is a topic.
            if mood == Mood::Topic
                && is_in(
                    words.back(at, 1),
                    "should must to can you we they people i would could may not never",
                )
                && !is_label
            {
                at += 1;
                continue;
            }
            // "Stay away from the word …", "steer clear of …"
            let is_away = words.is(at, "from") && words.is(at.saturating_sub(1), "away")
                || words.is(at, "of") && words.is(at.saturating_sub(1), "clear free instead")
                || words.is(at, "never not")
                    && words.low(at + 1) == "the"
                    && words.is(at + 2, "word words phrase phrases term letter name")
                || words.is(at, "out") && words.is(at.saturating_sub(1), "leave leaving")
                || words.is(at, "in into")
                    && words.is(at.saturating_sub(1), "slip sneak squeeze fit throw toss work put get")
                    && words.low(at + 1) == "the"
                    && words.is(at + 2, "word words phrase phrases term terms letter")
                || words.is(at, "and , or")
                    && words.low(at + 1) == "the"
                    && words.is(at + 2, "word words phrase phrases term terms letter")
                    && (at.saturating_sub(8)..at).any(|at| {
                        words.is(
                            at,
                            "avoid avoiding avoids include including use using mention without skip omit",
                        )
                    });
            if self.is_used(at) || mood == Mood::Told || !(words.is(at, USES) || is_label || is_away) {
                at += 1;
                continue;
            }
            match self.named_text(at, is_label) {
                Some(next) => at = next.max(at + 1),
                None => at += 1,
            }
        }
    }

    fn named_text(&mut self, at: usize, is_label: bool) -> Option<usize> {
        let words = self.words;
        let verb = words.low(at);
        // "Use at least three times the word …"
        let (early, mut next) = match self.times(at + 1) {
            Some((limit, next)) if words.is(next, "the a") => (Some(limit), next),
            _ => (None, at + 1),
        };
        if is_label {
            next = at;
        }
        let mut kind = None;
        let mut one_of = false;
        let mut article = false;
        let mut steps = 0;
        if let Some(end) =
            words.any(next, "at least one of|one of|any of|at least one of the|either of|one or more of")
        {
            one_of = true;
            next = end;
        }
        // "Mention the flight number "BA217""
        if words.low(next) == "the"
            && is_in(verb, "mention include includes including mentioning state cite contain")
            && let Some(quoted) = (next + 2..next + 4).find(|at| words.is_what(*at, What::Quoted))
            && (next + 1..quoted).all(|at| {
                words.is_word(at) && !words.is(at, KINDS) && !words.is(at, FILLERS) && !words.is(at, "heading headings section sections column columns key keys field fields header headers title subheading chapter label button tag function variable option row class file table and or to in of from")
            })
        {
            next = quoted;
            kind = Some("string");
        }
        while steps < 9 && next < words.len() {
            if words.is_what(next, What::Quoted) || words.is(next, "* ** _ __") && words.is_word(next + 1) {
                break;
            }
            if words.is(next, KINDS) && (kind.is_none() || !words.is(next, "name brand text")) {
                kind = Some(words.low(next));
                next += 1;
                if words.is(next, ": —") {
                    next += 1;
                } else if words.is(next, "to")
                    && words.is(next + 1, "include avoid use")
                    && words.low(next + 2) == ":"
                {
                    next += 3;
                }
                if words.is_what(next, What::Quoted)
                    || !words.is(next, KINDS)
                    || words.is(next, "word words") && kind == Some("word")
                {
                    break;
                }
            } else if words.is(next, "a an") {
                article = true;
                next += 1;
            } else if words.is(next, FILLERS)
                || words.is(next, "forbidden banned required mandatory taboo prohibited in any") && is_label
                || words.low(next) == "in" && verb == "work"
                || words.low(next) == "to" && verb == "nor"
            {
                one_of |= words.is(next, "either");
                next += 1;
            } else {
                break;
            }
            steps += 1;
        }
        if is_label && kind.is_none() {
            return None;
        }
        let quoted = words.is_what(next, What::Quoted) || words.is(next, "* ** _ __");
        // "With a word of thanks" names no word.
        if article && !quoted {
            return None;
        }
        // "Write", "have" and "with" name a text only together with a noun.
        if kind.is_none()
            && is_in(verb, "write have has having with name repeat or nor no")
            && !(is_in(verb, "no write")
                && words.is_what(at + 1, What::Quoted)
                && (self.is_negated(at + 1) || self.times(at + 2).is_some()))
        {
            return None;
        }
        if is_in(verb, "or nor") && !self.is_negated(at) && !is_in(verb, "nor") {
            return None;
        }
        if matches!(
            kind,
            Some(
                "text"
                    | "message"
                    | "character"
                    | "quote"
                    | "question"
                    | "closing"
                    | "greeting"
                    | "statement"
                    | "wording"
                    | "name"
                    | "names"
            )
        ) && !quoted
        {
            return self.proper_name(at, next);
        }
        let kind_text = kind.map(str::to_owned);
        let operands = match self.operands(
            next,
            kind_text.as_deref().filter(|kind| {
                !matches!(*kind, "sentence" | "line" | "text" | "phrase" | "expression" | "string")
            }),
        ) {
            Some(operands) => operands,
            None if matches!(kind, Some("phrase" | "expression"))
                && !is_in(verb, "no with have has having write name or nor") =>
            {
                self.unquoted_phrase(next)?
            }
            None => return self.proper_name(at, next),
        };
        // "Use "X" as the title", "instead of": no text to be found.
        if words.is(operands.next, "as instead") && !words.is(operands.next + 1, "well often a many") {
            return None;
        }
        if words.is(operands.next, "with") && words.back(at, 1) == "replace" {
            return None;
        }
        let negated = self.is_negated(at + 1)
            || self.is_negated(operands.from)
            || is_in(verb, "avoid avoids avoiding omit omitting exclude excluding skip without drop no nor")
            || is_label && words.is(at, "forbidden banned taboo")
            || is_label && (at..operands.from).any(|at| words.is(at, "avoid"));
        let (limit, end) = match self.times(operands.next) {
            Some((limit, end)) => (Some(limit), if words.is(end, "each apiece") { end + 1 } else { end }),
            None => (early, operands.next),
        };
        let limit = match (limit, negated) {
            (Some(Limit::AtLeast(least)), true) if least > 1 => Limit::AtMost(least - 1),
            (Some(Limit::AtMost(most)), true) if !is_in(words.low(operands.next), "no not at") => {
                Limit::AtLeast(most + 1)
            }
            (Some(limit), _) => limit,
            (None, true) => Limit::NONE,
            (None, false) => Limit::SOME,
        };
        let is_banned = limit == Limit::NONE;
        let inside = matches!(kind, Some("letter" | "letters"));
        let texts = tidy(operands.texts, kind);
        let of: Vec<Constraint> = texts
            .into_iter()
            .map(|text| Constraint::Phrase { text, limit, inside_words: inside, case_sensitive: false })
            .collect();
        let (from, to) = (at, end.max(operands.next));
        if (operands.is_either || one_of) && of.len() > 1 && !is_banned && !negated {
            self.in_part(Constraint::Any { of }, from, to);
        } else {
            for constraint in of {
                self.in_part(constraint, from, to);
            }
        }
        Some(to)
    }

    /// A name without quotation marks, where a number of times shows that it is meant as a text.
    fn proper_name(&mut self, at: usize, start: usize) -> Option<usize> {
        let words = self.words;
        if !is_in(words.low(at), "mention mentions mentioning use include name feature say reference") {
            return None;
        }
        // "Don't mention Paris."
        let plain =
            is_in(words.low(at), "mention mentions mentioning reference say name") && self.is_negated(at + 1);
        // A bare word behind "our brand" or the like, in capitals as names are.
        let mut name = start;
        while name < start + 3
            && words.is(name, "brand company product name client's our the firm app shop café")
        {
            name += 1;
        }
        let is_name = |at: usize| words.is_word(at) && self.text(at).starts_with(char::is_uppercase);
        if !is_name(name) {
            return None;
        }
        let mut end = name + 1;
        while end < name + 4 && is_name(end) {
            end += 1;
        }
        if plain
            && self.times(end).is_none()
            && (end >= words.len() || words.is_what(end, What::Sign))
            && !words.is(end, "-")
        {
            let text = self.text_of(name..end).to_owned();
            self.in_part(Constraint::forbidden(text), at, end);
            return Some(end);
        }
        let (limit, next) = self.times(end)?;
        let limit = match (limit, self.is_negated(at + 1)) {
            (Limit::AtLeast(least), true) if least > 1 => Limit::AtMost(least - 1),
            (limit, false) => limit,
            _ => return None,
        };
        let text = self.text_of(name..end).to_owned();
        self.in_part(
            Constraint::Phrase { text, limit, inside_words: false, case_sensitive: false },
            at,
            next,
        );
        Some(next)
    }

    /// A phrase without quotation marks: up to a number of times, or to the end of the clause.
    fn unquoted_phrase(&self, at: usize) -> Option<Operands> {
        let words = self.words;
        let mut end = at;
        while end < words.len() && end < at + 9 && !(words.is_what(end, What::Sign) && !words.is(end, "'")) {
            if end > at
                && (self.times(end).is_some() || words.is(end, "anywhere somewhere in") && end > at + 1)
            {
                break;
            }
            end += 1;
        }
        if end == at || end == at + 9 || words.is(at, "that which you of to for in is") {
            return None;
        }
        Some(Operands {
            texts: vec![self.text_of(at..end).to_owned()],
            is_either: false,
            from: at,
            next: end,
        })
    }

    /// "The word X must appear twice", "… in which the word X appears", "the word X is banned".
    fn texts_first(&mut self) {
        let words = self.words;
        for at in 0..words.len() {
            if self.is_used(at) || self.mood(at) == Mood::Told {
                continue;
            }
            let is_quoted = words.is_what(at, What::Quoted);
            let kind = words.low(at).to_owned();
            let is_kind =
                is_in(&kind, "word words phrase phrases letter term terms keyword keywords expression name");
            if !is_kind && !is_quoted {
                continue;
            }
            let start = if is_quoted { at } else { at + 1 };
            let Some(operands) = self.operands(
                start,
                Some(kind.as_str()).filter(|kind| {
                    is_kind
                        && *kind != "phrase"
                        && (*kind != "name"
                            || self.text(at + 1).starts_with(char::is_uppercase)
                                && words.is(at + 2, "must should has have needs may shall can"))
                }),
            ) else {
                continue;
            };
            let mut verb = operands.next;
            let mut negated =
                at > 0 && words.is(at - 1, "neither no") || at > 1 && words.is(at - 2, "neither no nor");
            negated |= (at.saturating_sub(4)..at).any(|at| words.is(at, "let")) && self.is_negated(at);
            let mut modal = false;
            for _ in 0..5 {
                if words.is(verb, "must should has have to needs shall ought can may cannot is are can't shouldn't mustn't need do does doesn't don't") {
                    negated |= words.is(verb, "cannot can't shouldn't mustn't doesn't don't");
                    modal = true;
                    verb += 1;
                } else if words.is(verb, "not never") {
                    negated = true;
                    verb += 1;
                } else if words.is(verb, "also only all be both each itself themselves") {
                    verb += 1;
                } else {
                    break;
                }
            }
            let limit_end;
            let mut limit = None;
            if words.is(verb, "appear appears occur occurs used mentioned included feature features found present repeated figure figures come comes contained show shows")
                && (modal || words.is(verb, "appears occurs appear occur features feature comes is shows show"))
            {
                let mut behind = verb + 1;
                if words.is(behind, "up") {
                    behind += 1;
                }
                match self.times(behind) {
                    Some((found, end)) => {
                        limit = Some(found);
                        limit_end = end;
                    }
                    None => limit_end = behind,
                }
            } else if modal && words.is(verb, "banned forbidden prohibited taboo avoided off excluded omitted disallowed out") {
                negated = !negated;
                limit_end = verb + 1;
            } else if modal
                && (negated && words.is(verb, "allowed permitted welcome")
                    || words.is(verb, "required mandatory obligatory compulsory"))
            {
                limit_end = verb + 1;
            } else {
                continue;
            }
            if words.low(limit_end.wrapping_sub(1)) == "appears" && !modal && self.memory.is_question {
                continue;
            }
            let limit = match (limit, negated) {
                (Some(Limit::AtLeast(least)), true) if least > 1 => Limit::AtMost(least - 1),
                (Some(limit), _) => limit,
                (None, true) => Limit::NONE,
                (None, false) => Limit::SOME,
            };
            let inside = is_in(&kind, "letter letters");
            let texts = tidy(operands.texts, Some(&kind));
            let of: Vec<Constraint> = texts
                .into_iter()
                .map(|text| Constraint::Phrase { text, limit, inside_words: inside, case_sensitive: false })
                .collect();
            if operands.is_either && limit != Limit::NONE && of.len() > 1 {
                self.in_part(Constraint::Any { of }, at, limit_end);
            } else {
                for constraint in of {
                    self.in_part(constraint, at, limit_end);
                }
            }
        }
    }

    /// "Start with …", "end each sentence with …".
    fn edges(&mut self) {
        let words = self.words;
        let mut at = 0;
        while at < words.len() {
            let starts = words.is(at, "start starts starting begin begins beginning open opens opening commence commences commencing lead leads preface kick begun opened");
            let ends = words.is(at, "end ends ending finish finishes finishing close closes closing conclude concludes concluding sign wrap ended finished finish's closed concluded");
            if !(starts || ends) || self.is_used(at) || self.mood(at) == Mood::Told {
                at += 1;
                continue;
            }
            match self.edge(at, starts) {
                Some(next) => at = next.max(at + 1),
                None => at += 1,
            }
        }
    }

    fn edge(&mut self, at: usize, starts: bool) -> Option<usize> {
        let words = self.words;
        // "Start and end with …"
        let mut both = false;
        let mut next = at + 1;
        if words.is(next, "and") && words.is(next + 1, "end ends finish close finishes ending") {
            both = true;
            next += 2;
        }
        let mut part = None;
        let mut steps = 0;
        while steps < 9
            && !words.is(next, "with by on in")
            && !(next == at + 1 && words.is_what(next, What::Quoted))
        {
            let any = words.is(next, "a any") && self.is_negated(at + 1);
            let named = if any {
                self.unit_named(next + 1).map(|(unit, end)| (Which::Each, unit, end))
            } else {
                self.named_part(next)
            };
            if let Some((which, unit, end)) = named {
                part = Some((which, unit));
                next = end;
                steps += 1;
                continue;
            }
            if !words.is_word(next) || words.is(next, "and or but then where when after before at") {
                return None;
            }
            if words.is(next, "paragraph section list line sentence introduction title") {
                return None;
            }
            next += 1;
            steps += 1;
        }
        // "A letter that begins "My dearest Anna,"": no preposition.
        let is_direct = next == at + 1 && words.is_what(next, What::Quoted);
        if !is_direct && (!words.is(next, "with by on in") || words.is(at + 1, "of to")) {
            return None;
        }
        if !is_direct {
            next += 1;
        }
        let mut kind: Option<&str> = None;
        let mut exact = false;
        let mut article = false;
        let mut steps = 0;
        while steps < 8 {
            if words.is_what(next, What::Quoted) {
                break;
            }
            if words.is(next, "the this these exact exactly following single either simply words' precise saying writing stating capital own only very simple same your short one-word opening closing final just literally always line's literal : two three four one-line") {
                exact |= words.is(next, "exact exactly following :");
                next += 1;
            } else if words.is(next, "a an") {
                article = true;
                next += 1;
            } else if words.is(next, KINDS) || words.is(next, "heading title mark salutation subject") {
                kind = Some(words.low(next));
                next += 1;
                if kind == Some("question") && words.low(next) == "mark" {
                    kind = Some("mark");
                    next += 1;
                }
                if words.is(next, "word words") {
                    next += 1;
                }
            } else if words.is(next, "that") && words.is(next + 1, "reads says") {
                next += 2;
            } else if words.is(next, "reading") {
                next += 1;
            } else {
                break;
            }
            steps += 1;
        }
        let negated = self.is_negated(at + 1);
        let edge = |text: String, inside: bool, is_start: bool| {
            if is_start {
                Constraint::Starts { text, inside_words: inside, case_sensitive: false }
            } else {
                Constraint::Ends { text, inside_words: inside, case_sensitive: false }
            }
        };
        let mut of: Vec<Constraint> = Vec::new();
        let end;
        let sign = count::thing(words, next).and_then(|(thing, end)| match thing {
            count::Thing::Sign(text) => Some((text, end)),
            count::Thing::Unit(Unit::Comma) => Some((",", end)),
            count::Thing::Unit(_) => None,
        });
        if kind == Some("mark") || sign.is_some() || words.any(next, "full stop|period").is_some() {
            let (text, after) = match sign {
                Some((text, end)) => (text, end),
                None if kind == Some("mark") => ("?", next),
                None => (".", words.any(next, "full stop|period")?),
            };
            of.push(edge(text.to_owned(), false, starts));
            end = after;
        } else if article && kind == Some("question") && !starts && !words.is_what(next, What::Quoted) {
            let question = Constraint::Count { what: Unit::Question, limit: Limit::SOME };
            let question = if part.is_some_and(|(_, unit)| unit == Unit::Sentence) || self.sentence_before(at)
            {
                question
            } else {
                Constraint::Within {
                    which: Which::Last,
                    unit: Unit::Sentence,
                    constraint: Box::new(question),
                }
            };
            if part.is_some() || self.part_before(at, at + 1).is_some() {
                // "End every paragraph with a question."
                if part.is_none_or(|(_, unit)| unit == Unit::Sentence) {
                    return None;
                }
                of.push(edge("?".to_owned(), false, false));
            } else {
                of.push(question);
            }
            end = next;
        } else if words.is_what(next, What::Quoted) || words.is(next, "* ** _ __") {
            if article && kind.is_none() {
                return None;
            }
            let operands = self.operands(next, None)?;
            end = operands.next;
            if operands.texts.len() > 1 && !operands.is_either {
                // "Start with 'A' and 'B'": not clear what is meant; the first.
                return None;
            }
            let inside = kind == Some("letter");
            if operands.texts.len() > 1
                && starts
                && !negated
                && part.is_none()
                && self.part_before(at, at + 1).is_none()
            {
                self.push(Constraint::Choice { options: operands.texts, place: Place::Start }, at, end);
                return Some(end);
            }
            of.extend(operands.texts.into_iter().map(|text| edge(text, inside, starts)));
            if both {
                let other: Vec<Constraint> = self
                    .operands(next, None)?
                    .texts
                    .into_iter()
                    .map(|text| edge(text, inside, false))
                    .collect();
                for constraint in other {
                    self.in_part(constraint, at, end);
                }
            }
        } else if words.is(next, "yes no true false")
            && words.is(next + 1, "or /")
            && words.is(next + 2, "yes no true false")
        {
            let options = vec![self.text(next).to_owned(), self.text(next + 2).to_owned()];
            self.push(Constraint::Choice { options, place: Place::Start }, at, next + 3);
            return Some(next + 3);
        } else if let Some(kind) = kind {
            if article {
                return None;
            }
            match kind {
                "letter" if words.low(next).chars().count() == 1 => {
                    of.push(edge(self.text(next).to_owned(), true, starts));
                    end = next + 1;
                    if both {
                        let constraint = edge(self.text(next).to_owned(), true, false);
                        self.in_part(constraint, at, end);
                    }
                }
                "word" if words.is_word(next) && !words.is(next, "that which of in") => {
                    of.push(edge(self.text(next).to_owned(), false, starts));
                    end = next + 1;
                    if both {
                        let constraint = edge(self.text(next).to_owned(), false, false);
                        self.in_part(constraint, at, end);
                    }
                }
                "phrase" | "words" | "sentence" | "line" | "text" | "statement" | "question"
                | "expression" | "message" | "greeting" | "salutation" | "closing"
                    if exact
                        || self.text(next).starts_with(char::is_uppercase)
                        || kind == "words"
                        || kind == "phrase" =>
                {
                    let mut stop = next;
                    while stop < words.len()
                        && !words.is(stop, "; —")
                        && !(words.is(stop, "and but") && words.is(stop + 1, super::REQUESTS))
                        && !(words.low(stop) == "," && words.is(stop + 1, "and then but"))
                        && stop < next + REACH
                    {
                        stop += 1;
                    }
                    let keeps = words.is(stop.saturating_sub(1), "? !");
                    let last =
                        if keeps || !words.is(stop.saturating_sub(1), ". ,") { stop } else { stop - 1 };
                    let text = self.text_of(next..last);
                    if last <= next || words.is(next, "that which of") {
                        return None;
                    }
                    of.push(edge(text.to_owned(), false, starts));
                    end = stop;
                }
                _ => return None,
            }
        } else {
            return None;
        }
        let mut constraint = if of.len() > 1 { Constraint::Any { of } } else { of.pop()? };
        if negated {
            constraint = Constraint::Not { constraint: Box::new(constraint) };
        }
        match part.or_else(|| self.part_behind(end)) {
            Some((which, unit)) => {
                let constraint = Constraint::Within { which, unit, constraint: Box::new(constraint) };
                self.push(constraint, at, end);
            }
            None => self.in_part(constraint, at, end),
        }
        Some(end)
    }

    /// "Put "DONE" at the end", "at the very end, write "END"".
    fn at_the_end(&mut self) {
        let words = self.words;
        for at in 0..words.len() {
            if !words.is_what(at, What::Quoted) || !self.asks(at) || self.is_used(at) {
                continue;
            }
            let verb = (1..=4).find(|back| {
                *back <= at && words.is(at - back, "write put add place include say append insert print")
            });
            let Some(verb) = verb.map(|back| at - back) else { continue };
            if !(verb + 1..at)
                .all(|at| words.is(at, "the word words phrase text line sentence marker exactly string"))
                || self.is_negated(verb + 1)
            {
                continue;
            }
            let end = "at the end|at the very end|as the last line|as the last word|at the bottom|as the final line|as your last line|as the last sentence";
            let start = "at the beginning|at the very beginning|at the start|at the very start|at the top|as the first line|as the first word|at the very top|as the first sentence";
            let edge = |list: &str| {
                let behind = words.any(at + 1, list).filter(|next| {
                    !words.is(*next, "of")
                        || words.is(*next + 1, "your the it")
                            && !words.is(*next + 2, "first second last title third")
                });
                behind.or_else(|| {
                    let before = if words.low(verb.wrapping_sub(1)) == "," { verb - 1 } else { verb };
                    words.ends_before(before, list).map(|_| at + 1)
                })
            };
            let text = self.text(at).to_owned();
            if let Some(to) = edge(end) {
                self.push(Constraint::Ends { text, inside_words: false, case_sensitive: false }, verb, to);
            } else if let Some(to) = edge(start) {
                self.push(Constraint::Starts { text, inside_words: false, case_sensitive: false }, verb, to);
            }
        }
    }

    fn sentence_before(&self, at: usize) -> bool {
        matches!(self.part_before(at, at + 1), Some(Some((_, Unit::Sentence))))
    }

    /// "The first word must be X", "the last line should read 'Y'".
    fn first_and_last_words(&mut self) {
        let words = self.words;
        for at in 0..words.len() {
            let starts = words.is(at, "first opening very");
            let ends = words.is(at, "last final closing concluding");
            if !(starts || ends) || self.is_used(at) || self.mood(at) == Mood::Told {
                continue;
            }
            let noun = if words.low(at) == "very" { at + 2 } else { at + 1 };
            let ends = ends || words.low(at) == "very" && words.is(at + 1, "last final");
            let noun = if words.number(noun).is_some() { noun + 1 } else { noun };
            if !words.is(noun, "word words sentence line phrase") {
                continue;
            }
            let mut next = noun + 1;
            let mut each = None;
            let mut is_said = false;
            let is_made =
                words.is(at.saturating_sub(2), "make") && words.is(at.saturating_sub(1), "the your its");
            for _ in 0..8 {
                if is_made && words.is_what(next, What::Quoted) {
                    is_said = true;
                    break;
                }
                if words.is(next, "each every") {
                    each = self.named_part(next);
                    next = each.map_or(next + 1, |(_, _, end)| end);
                    continue;
                }
                if words.is(next, "be is read say reads says") {
                    is_said = true;
                    next += 1;
                    break;
                }
                if words.is(next, "of in your the response answer reply output text story poem email letter must should has have to needs shall message whole it essay ought") {
                    next += 1;
                } else {
                    break;
                }
            }
            if !is_said {
                continue;
            }
            while words.is(next, "the word words phrase exactly : simply sentence") {
                next += 1;
            }
            let negated = words.is(next, "not") || (noun..next).any(|at| words.is(at, "not never"));
            let bare = words.is(next - 1, "word words")
                || words.is(noun, "word") && self.text(next).starts_with(char::is_uppercase);
            let is_bare = bare && words.is_word(next) && !negated && !words.is(next + 1, "of");
            let text = if words.is_what(next, What::Quoted) || is_bare {
                self.text(next).to_owned()
            } else {
                continue;
            };
            let mut constraint = if ends {
                Constraint::Ends { text, inside_words: false, case_sensitive: false }
            } else {
                Constraint::Starts { text, inside_words: false, case_sensitive: false }
            };
            if negated {
                constraint = Constraint::Not { constraint: Box::new(constraint) };
            }
            if let Some((which, unit, _)) = each {
                constraint = Constraint::Within { which, unit, constraint: Box::new(constraint) };
            }
            self.push(constraint, at, next + 1);
        }
        // "whose last line is a question"
        for at in 0..words.len() {
            if self.is_used(at) || self.mood(at) == Mood::Told {
                continue;
            }
            let Some((which, unit, next)) = self.named_part(at) else { continue };
            let mut verb = next;
            while words.is(verb, "must should has to have needs shall also") {
                verb += 1;
            }
            let asks = words.any(verb, "is a question|be a question|be phrased as a question|be a rhetorical question|is a rhetorical question|be questions|ask a question|asks a question|be framed as a question|be in the form of a question");
            if let Some(end) = asks
                && !self.memory.is_question
            {
                let constraint = Constraint::Within {
                    which,
                    unit,
                    constraint: Box::new(Constraint::Count { what: Unit::Question, limit: Limit::SOME }),
                };
                self.push(constraint, at, end);
            }
        }
    }

    fn postscripts(&mut self) {
        let words = self.words;
        let is_double = |at: usize| words.is(at, "p.p.s. p.p.s pps p.p.s.:");
        let is_mark = |at: usize| {
            words.is(at, "p.s. p.s ps postscript postscripts")
                || is_double(at)
                || words.low(at) == "post" && words.low(at + 1) == "script"
                || words.is_what(at, What::Quoted)
                    && is_in(
                        &self.text(at).trim().trim_end_matches(':').to_lowercase(),
                        "p.s. p.s ps p.p.s. p.p.s pps",
                    )
        };
        let Some(at) = (0..words.len()).find(|at| {
            is_mark(*at) && (self.mood(*at) != Mood::Told || *at == 0 && words.is(1, "required needed"))
        }) else {
            return;
        };
        let wants = (at.saturating_sub(8)..at).any(|at| words.is(at, "add forget pop slip end include end finish append close put attach contain with conclude need have needs want has adding insert including no without omit skip write ends ending containing tack and"))
            || words.any(at + 1, "at the end|is required|is needed|starting with|beginning with").is_some() && at > 0;
        let is_required = words.any(at + 1, "required|needed|please|mandatory|compulsory|obligatory|at the end|at the bottom|is required|is mandatory|is a must").is_some();
        if at == 0 && !is_required || at > 0 && !wants {
            return;
        }
        let marks: Vec<usize> = (at..words.len()).filter(|at| is_mark(*at)).collect();
        let quoted_double = marks.iter().any(|at| {
            is_double(*at)
                || words.is_what(*at, What::Quoted)
                    && self.text(*at).to_lowercase().replace('.', "").starts_with("pps")
        });
        let marker = if quoted_double { "P.P.S." } else { "P.S." };
        let mut constraint = Constraint::Postscript { marker: marker.to_owned() };
        if self.is_negated(at) {
            constraint = Constraint::Not { constraint: Box::new(constraint) };
        }
        let last = marks.last().copied().unwrap_or(at);
        let end = if last > at
            && (at..last).any(|at| {
                words.is(
                    at,
                    "starting start starts begin begins beginning with as marked labelled labeled introduced",
                )
            }) {
            last + 1
        } else {
            at + 1
        };
        self.push(constraint, at, end);
    }

    /// "First repeat the request word for word, then answer it: …".
    fn repeats(&mut self) {
        let words = self.words;
        let Some(at) = (0..words.len()).find(|at| {
            (words.is(*at, "repeat restate repeating restating copy echo reproduce")
                || words.is(*at, "say read") && (at + 1..at + 8).any(|at| words.low(at) == "back"))
                && self.mood(*at) == Mood::Asked
        }) else {
            return;
        };
        if self.is_negated(at) || self.memory.has_repeat {
            return;
        }
        let noun = (at + 1..at + 9).find(|at| words.is(*at, "request question prompt instruction instructions query task assignment sentence wording line message"));
        let Some(noun) = noun else { return };
        if !(at + 1..noun).all(|at| words.is(at, "the my this your back entire full exact whole above original following user's user exactly verbatim out to me below given complete same of text wording first")) {
            return;
        }
        let is_verbatim = (0..words.len()).any(|at| {
            words.any(at, "word for word|verbatim|exactly|first|before|unchanged|as is|without changing|without change|without any change|without changes|then|as it is|letter for letter|in full|as written|no changes").is_some()
        });
        if !is_verbatim {
            return;
        }
        let then_answer = !(0..words.len()).any(|at| {
            words.any(at, "do not answer|don't answer|without answering|nothing else|only repeat|just repeat|do not respond|instead of answering|nothing more|do not do anything else").is_some()
        });
        let sentences = &self.instruction.sentences;
        let index = self.memory.sentence;
        let colon = (noun..words.len()).find(|at| words.low(*at) == ":");
        let quoted = (noun..words.len()).find(|at| words.is_what(*at, What::Quoted));
        let text = if let Some(quoted) = quoted {
            self.text(quoted).trim()
        } else if let Some(colon) = colon.filter(|colon| colon + 1 < words.len()) {
            // What follows the colon, and what follows that in its paragraph.
            let paragraph = sentences.get(index).map_or(0, |sentence| sentence.paragraph);
            let start = words.get(colon + 1).map_or(0, |token| token.range.start);
            let end = sentences
                .iter()
                .skip(index)
                .take_while(|one| one.paragraph == paragraph)
                .last()
                .map_or(start, |one| one.range.end);
            self.instruction.slice(&(start..end.max(start)))
        } else if colon.is_some() || index == 0 {
            let start = sentences.get(index + 1).map(|one| one.range.start);
            let end = sentences.last().map_or(0, |one| one.range.end);
            let labelled = sentences
                .get(index + 1)
                .map(|one| self.instruction.slice(&one.range).trim())
                .is_some_and(|text| text.ends_with(':') && text.split_whitespace().count() <= 2);
            let start = start.filter(|_| !labelled);
            match (start, self.material_behind(index)) {
                (Some(start), _) => self.instruction.slice(&(start..end.max(start))),
                (None, Some(range)) => self.instruction.slice(&range),
                (None, None) => return,
            }
        } else {
            let (Some(first), Some(last)) = (sentences.first(), sentences.get(index - 1)) else { return };
            self.instruction.slice(&(first.range.start..last.range.end))
        };
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let end = quoted.map_or(noun + 1, |quoted| quoted + 1);
        self.memory.has_repeat = true;
        self.push(Constraint::Repeats { text: text.to_owned(), then_answer }, at, end);
    }

    fn material_behind(&self, sentence: usize) -> Option<Range<usize>> {
        let from = self.instruction.sentences.get(sentence)?.range.end;
        self.instruction.material().find(|span| span.range.start >= from).map(|span| span.inner.clone())
    }

    /// "A) 21 B) 23 C) 27": letters that may be chosen.
    fn letters_of_options(&mut self) {
        let words = self.words;
        for at in 0..words.len() {
            let is_option = words.is_word(at)
                && words.low(at).len() == 1
                && words.is(at + 1, ") . :")
                && at + 2 <= words.len()
                && words.get(at + 1).is_some_and(|sign| sign.is_glued);
            if !is_option {
                continue;
            }
            let text = self.text(at);
            let expected = u32::try_from(self.memory.letters.len())
                .ok()
                .and_then(|place| char::from_u32(u32::from('a') + place));
            if text.to_lowercase().chars().next() == expected && self.memory.letters.len() < 12 {
                self.memory.letters.push(text.to_owned());
            }
        }
    }

    /// Options with commas and "or" between them: quotations, or up to three words each.
    fn options(&self, at: usize) -> Option<(Vec<String>, usize)> {
        let words = self.words;
        let mut options = Vec::new();
        let mut next = at;
        let mut has_or = false;
        let mut quoted = false;
        loop {
            let mut end = next;
            while words.is(end, "a an either the")
                && end < next + 2
                && !(self.text(end) == "A" && words.is(end + 1, ", / or"))
            {
                end += 1;
            }
            let start = end;
            let glued = words.is_what(end, What::Quoted);
            // Behind quotations no bare word is an option.
            if !glued && quoted {
                break;
            }
            quoted |= glued;
            if glued {
                end += 1;
            } else {
                while end < start + 4 && (words.is_word(end) || matches!(words.get(end).map(|t| t.what), Some(What::Number(_)))) && !words.is(end, "followed along plus or and with depending based for in on by then based because if to only but please nothing according using") {
                    end += 1;
                }
            }
            if end == start {
                break;
            }
            options.push(if glued {
                self.text(start).trim().to_owned()
            } else {
                self.text_of(start..end).to_owned()
            });
            next = end;
            let mut separator = next;
            while words.is(separator, ", or / and |") {
                has_or |= words.is(separator, "or / |") || words.is(separator, "and");
                separator += 1;
            }
            if separator == next || options.len() >= 20 || words.is(separator, super::REQUESTS) {
                break;
            }
            next = separator;
        }
        (options.len() >= 2 && (has_or || words.low(at.wrapping_sub(1)) == ":")).then_some((options, next))
    }

    fn choices(&mut self) {
        let words = self.words;
        let only = || {
            (0..words.len()).any(|at| {
            words.any(at, "only|just|nothing else|nothing but|no explanation|simply|single word|one word|without explanation|no other text|solely|nothing more|without any explanation|no justification").is_some()
        })
        };
        let goes_on = || {
            (0..words.len()).any(|at| {
            words.any(at, "then explain|then justify|then give|and explain|and say why|followed by|and justify|and give|then say|and why|with a reason|and then|and tell|then add|then elaborate|with an explanation|with a short explanation|before explaining|then describe").is_some()
        })
        };
        // "Is water wet? Yes or no."
        let lead = (0..4).take_while(|at| words.is(*at, "just simply only a plain simple please")).count();
        if words.len() >= lead + 3
            && self.asks(lead)
            && words.is(lead, "yes true")
            && words.is(lead + 1, "or /")
            && words.is(lead + 2, "no false")
            && ((lead + 3..words.len())
                .take(3)
                .any(|at| words.is(at, ". ? ! , : —") || at + 1 == words.len())
                || lead + 3 == words.len())
            && (lead + 3..words.len())
                .take_while(|at| !words.is(*at, ". ? ! , : —"))
                .all(|at| words.is(at, "only please"))
        {
            let options = vec![self.text(lead).to_owned(), self.text(lead + 2).to_owned()];
            self.push(Constraint::Choice { options, place: Place::Whole }, lead, lead + 3);
        }
        self.options_of_a_question();
        let mut at = 0;
        while at < words.len() {
            if self.is_used(at) || !self.asks(at) {
                at += 1;
                continue;
            }
            if !words.is(at, "answer respond reply output return say answers state print write response should be start begin classify label rate categorise categorize mark tag judge sort assign decide determine grade identify assess evaluate pick choose select recommend options labels categories choices classes") {
                at += 1;
                continue;
            }
            if let Some(next) = self.choice(at, only(), goes_on()) {
                at = next.max(at + 1);
            } else {
                at += 1;
            }
        }
    }

    /// "Which should I learn first: guitar, cello or oboe?", "Guitar, cello or oboe?": options for a later request.
    fn options_of_a_question(&mut self) {
        let words = self.words;
        if !self.memory.is_question || !self.memory.options.is_empty() || words.len() > 60 {
            return;
        }
        let Some(last) = words.len().checked_sub(1) else { return };
        if !(last.saturating_sub(6)..last).any(|at| words.low(at) == "or") {
            return;
        }
        let is_list = words.is(0, "a an the") || words.is(1, ", or") || words.low(2) == ",";
        let colon = (0..last).rev().find(|at| words.is(*at, ": —")).map(|at| at + 1);
        let commas = (0..last).filter(|at| words.low(*at) == ",").map(|at| at + 1).take(6);
        let start = if is_list { Some(0) } else { None };
        for start in colon.into_iter().chain(start).chain(commas) {
            let Some((options, end)) = self.options(start) else { continue };
            if end == last && options.iter().all(|option| option.split(' ').count() <= 3) {
                self.memory.options = options;
                self.memory.options_place = Some((self.memory.sentence, false));
                return;
            }
        }
    }

    fn choice(&mut self, at: usize, only: bool, goes_on: bool) -> Option<usize> {
        let words = self.words;
        let answers = words.is(
            at,
            "answer respond reply output return say answers state print write response should be start begin",
        );
        if answers {
            let yes_no = |options: &[String]| {
                matches!(options, [one, other, ..] if is_in(&one.to_lowercase(), "yes true") && is_in(&other.to_lowercase(), "no false"))
                    && options.len() <= 4
                    && options.iter().all(|option| option.split(' ').count() <= 2)
            };
            let mut next = at + 1;
            while next < at + 9 && self.text(next) != "A" && words.is(next, "exactly precisely only just simply with either by using the word words a single one , be must should to is your it exclusively saying me in response answer question this each question : strictly nothing but solely") {
                next += 1;
            }
            if words.is(at, "response should be start begin write") && next == at + 1 && !words.is(at, "be") {
                return None;
            }
            // "Answer with one of: A, B, C"
            if let Some(list) = words.any(next, "of :|of the following :|of these :|of|of the following|of these|of the words|from :|of these words :|of the following words :|of these options :|of the following options :|of the options|of the labels|of these labels :|of the following labels :|of the words :")
                && let Some((options, end)) = self.options(list).filter(|(options, _)| words.low(list - 1) == ":" || options.len() > 1 && (words.is_what(list, What::Quoted) || options.iter().all(|option| option.len() > 1 && option.chars().all(|c| c.is_uppercase() || !c.is_alphabetic())))) {
                    let place = if goes_on { Place::Start } else { Place::Whole };
                    self.push(Constraint::Choice { options, place }, at, end);
                    return Some(end);
                }
            let (options, mut end) = self.options(next)?;
            let quoted = words.is_what(next, What::Quoted);
            let pair = options.iter().all(|option| is_in(&option.to_lowercase(), "yes no true false maybe agree disagree unsure unknown pass fail correct incorrect right wrong valid invalid spam ham guilty positive negative neutral approve reject accept approved rejected male female real fake up down left right buy sell hold odd even safe unsafe for against both neither depends heads tails high medium low"))
                || yes_no(&options)
                || (options.iter().all(|option| option.chars().count() == 1) && options.len() > 1);
            // "Don't reply with only yes or no."
            if (quoted || pair)
                && self.is_negated(at)
                && (at..next).any(|at| words.is(at, "only just simply merely"))
                && (end >= words.len() || words.is_what(end, What::Sign))
            {
                let constraint = Constraint::Choice { options, place: Place::Whole };
                self.push(Constraint::Not { constraint: Box::new(constraint) }, at, end);
                return Some(end);
            }
            if !(quoted || pair) || self.is_negated(at + 1) || options.len() == 2 && words.is(next, "and") {
                return None;
            }
            if words.is(at, "be say state write")
                && !quoted
                && !only
                && !words.is(at.saturating_sub(1), "must should to")
            {
                return None;
            }
            let place = if goes_on || words.is(at, "start begin") { Place::Start } else { Place::Whole };
            if words.is(end, "only") {
                end += 1;
            }
            self.push(Constraint::Choice { options, place }, at, end);
            return Some(end);
        }
        // "Classify … as positive, negative or neutral."
        if words.is(at, "classify label rate categorise categorize mark tag judge sort assign decide determine grade identify assess evaluate") {
            let lead = (at + 1..words.len().min(at + REACH)).find(|at| {
                words.is(*at, "as into") || words.is(*at, "whether") || words.low(*at) == ":" && words.is(at - 1, "categories labels classes options following")
            })?;
            if words.is(lead, "whether") {
                // "Assess whether the claim is TRUE, FALSE or UNPROVEN.": options for a later request.
                let verb = (lead + 1..words.len().min(lead + REACH)).find(|at| words.is(*at, "is are"))?;
                let (options, end) = self.options(verb + 1)?;
                if self.memory.options.is_empty() && options.iter().all(|option| option.split(' ').count() <= 2) {
                    self.memory.options = options;
                    self.memory.options_place = Some((self.memory.sentence, false));
                }
                return Some(end);
            }
            let start = words.any(lead, "as either|as one of :|as one of the following :|as one of|into one of these categories :|into one of the following categories :|into one of the categories|into one of|as one of the labels|as|into one of these classes :|into one of the following :|into|:")?;
            let (options, end) = self.options(start)?;
            if options.iter().any(|option| option.split(' ').count() > 3) {
                return None;
            }
            self.memory.options = options.clone();
            self.memory.options_place = Some((self.memory.sentence, only));
            let place = if only { Place::Whole } else { Place::Somewhere };
            self.push(Constraint::Choice { options, place }, at, end);
            return Some(end);
        }
        // "Pick exactly one of these cities … : Porto, Ghent, Turku."
        if words.is(at, "pick choose select recommend") {
            let next = words.any(at + 1, "exactly one|only one|just one|one|a single one|either|between|from|a single|precisely one|your favourite of|the best of|the best|one single|out of|the one")?;
            if words.low(next - 1) == "either" || words.low(next - 1) == "between" {
                let is_between = words.low(next - 1) == "between";
                let (options, end) = self.options(next)?;
                let proper = options.iter().all(|option| option.starts_with(|c: char| c.is_uppercase()))
                    || words.is_what(next, What::Quoted);
                if !proper && is_between {
                    return None;
                }
                if options.len() < 2 || options.iter().any(|option| option.split(' ').count() > 3) {
                    return None;
                }
                let place = if only && self.only_the_answer() { Place::Whole } else { Place::Somewhere };
                self.push(Constraint::Choice { options, place }, at, end);
                return Some(end);
            }
            let is_one = words.is(next.saturating_sub(1), "one single");
            let colon = (next..words.len().min(next + REACH)).find(|at| words.is(*at, ": ("));
            // The options stand in the question before.
            if colon.is_none()
                && is_one
                && self.memory.options.len() >= 2
                && (next >= words.len()
                    || words.is_what(next, What::Sign)
                    || words.is(next, "of and option only"))
            {
                let options = self.memory.options.clone();
                let end = words
                    .any(next, "of them|of these|of the two|of the three|option|of those")
                    .unwrap_or(next);
                let place =
                    if self.only_the_answer() || only && !goes_on { Place::Whole } else { Place::Somewhere };
                self.push(Constraint::Choice { options, place }, at, end);
                return Some(end);
            }
            let colon = colon?;
            let (options, end) = self.options(colon + 1).or_else(|| {
                // Commas alone.
                let mut options = Vec::new();
                let mut from = colon + 1;
                let mut end = from;
                while end <= words.len() && options.len() < 20 {
                    if end == words.len() || words.is(end, ", or and . ) ;") {
                        if end > from {
                            options.push(self.text_of(from..end).to_owned());
                        }
                        from = end + 1;
                        if words.is(end, ". ) ;") || end == words.len() {
                            break;
                        }
                    }
                    end += 1;
                }
                (options.len() >= 2).then_some((options, end))
            })?;
            if options.iter().any(|option| option.split(' ').count() > 5) {
                return None;
            }
            self.memory.options = options.clone();
            self.memory.options_place = Some((self.memory.sentence, false));
            let place = if self.only_the_answer() { Place::Whole } else { Place::Somewhere };
            self.push(Constraint::Choice { options, place }, at, end);
            return Some(end);
        }
        // "Options: A, B, C"
        if words.is(at, "options labels categories choices classes") && words.low(at + 1) == ":" {
            let (options, end) = self.options(at + 2)?;
            self.memory.options = options;
            return Some(end);
        }
        None
    }

    /// "Reply with the label and nothing else": the answer alone.
    fn only_the_answer(&self) -> bool {
        let words = self.words;
        (0..words.len()).any(|at| {
            words.is(at, "label letter option category name choice sentiment class word answer number title colour color city country animal team verdict")
                && (words.is(at + 1, "only alone") || words.any(at + 1, "and nothing else|, nothing else|without explanation|and no explanation|, no explanation").is_some()
                    || words.ends_before(at, "only the|only with the|just the|just with the|nothing but the|only one|only its|simply the|only that|with only the|just one|only a single|a single|only your|just its").is_some())
        })
    }

    /// Requests for nothing but a label or letter; the options may stand elsewhere.
    pub(super) fn label_requests(&mut self) {
        let words = self.words;
        let Some(verb) = (0..words.len()).find(|at| {
            words.is(*at, "answer respond reply output return give state print write provide only just name")
                && self.mood(*at) != Mood::Told
        }) else {
            return;
        };
        // Once options were named, "just the colour" is one of them.
        let short = !self.memory.options.is_empty()
            && words.len() <= 9
            && (phrase_only(words) || words.ends_before(words.len().saturating_sub(1), "only").is_some());
        if short && let (Some(first), Some(last)) = (words.get(verb), words.get(words.len() - 1)) {
            self.memory.label_request = Some((false, first.range.start..last.range.end));
            return;
        }
        if !self.only_the_answer() || self.is_negated(verb + 1) {
            return;
        }
        let Some(noun) = (verb + 1..words.len())
            .find(|at| words.is(*at, "label letter option category name choice sentiment class word answer"))
        else {
            return;
        };
        let (Some(first), Some(last)) = (words.get(verb), words.get(noun)) else { return };
        self.memory.label_request = Some((words.low(noun) == "letter", first.range.start..last.range.end));
    }
}

/// Commas and full stops that a writer put before a closing quotation mark.
fn tidy(texts: Vec<String>, kind: Option<&str>) -> Vec<String> {
    let is_sentence = matches!(kind, Some("sentence" | "line" | "statement" | "quote" | "text"));
    texts
        .into_iter()
        .map(|text| {
            let few = text.split_whitespace().count() <= 3;
            if few && !is_sentence && text.chars().count() > 1 {
                text.trim_end_matches([',', ';']).trim_end_matches('.').to_owned()
            } else {
                text
            }
        })
        .filter(|text| !text.is_empty())
        .collect()
}

fn phrase_only(words: Words<'_>) -> bool {
    somewhere(
        words,
        "just give me the|only the|just the|nothing else|only give me the|nothing but the|no explanation|only with the|with only the",
    )
}

/// Whether one of several sequences stands anywhere in a sentence.
pub(super) fn somewhere(words: Words<'_>, sequences: &str) -> bool {
    (0..words.len()).any(|at| words.any(at, sequences).is_some())
}
