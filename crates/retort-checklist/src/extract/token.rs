//! The voice of an instruction as tokens, and the numbers in it.

use std::ops::Range;

use super::count::{self, Amount, Sort, Thing};
use crate::instruction::{Instruction, Kind, Sentence, is_in};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// A word, in [`Token::low`].
    Word,
    /// A number in digits.
    Number(u64),
    /// Something in quotation marks.
    Quoted,
    /// Something in braces.
    Braced,
    /// A text to be worked on, a code block among them.
    Material,
    /// Any other sign, or a run of the same sign.
    Sign,
}

/// A token of the voice.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) what: What,
    /// A word in lower case with straight apostrophes; a sign as it is; empty for anything in marks.
    pub(super) low: String,
    pub(super) range: Range<usize>,
    /// What stands within the marks, or the token.
    pub(super) inner: Range<usize>,
    /// Whether a hyphen, or nothing at all, stands between it and the token before it.
    pub(super) is_glued: bool,
    /// What begins here, read once: many matchers ask for it.
    pub(super) known: Known,
}

/// What begins at a token, each with the number of its tokens.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    /// A thing that can be counted.
    pub(super) thing: Option<(Thing, usize)>,
    /// Words before a number.
    pub(super) sort: Option<(Sort, usize)>,
    /// A number with the words that make it a limit; `next` is a number of tokens.
    pub(super) amount: Option<Amount>,
}

fn sign(range: Range<usize>, text: &str, is_glued: bool) -> Token {
    Token {
        what: What::Sign,
        low: text.to_owned(),
        inner: range.clone(),
        range,
        is_glued,
        known: Known::default(),
    }
}

/// The tokens of one sentence.
pub(super) fn tokens(instruction: &Instruction<'_>, sentence: &Sentence) -> Vec<Token> {
    let text = instruction.text;
    let mut found: Vec<Token> = Vec::new();
    let first = instruction.spans.partition_point(|span| span.range.end <= sentence.range.start);
    let mut spans = instruction.spans.iter().skip(first).peekable();
    let mut at = sentence.range.start;
    let mut hyphen = false;
    while at < sentence.range.end {
        if let Some(span) = spans.next_if(|span| span.range.start <= at) {
            let what = match span.kind {
                Kind::Quoted => What::Quoted,
                Kind::Braced => What::Braced,
                Kind::Fenced | Kind::Passage => What::Material,
            };
            let is_glued = false;
            found.push(Token {
                what,
                low: String::new(),
                range: span.range.clone(),
                inner: span.inner.clone(),
                is_glued,
                known: Known::default(),
            });
            at = span.range.end.max(at + 1);
            continue;
        }
        let stop = spans.peek().map_or(sentence.range.end, |span| span.range.start.min(sentence.range.end));
        let rest = text.get(at..stop).unwrap_or_default();
        let Some(character) = rest.chars().next() else { break };
        let touches = found.last().is_some_and(|last| last.range.end == at) || hyphen;
        if character.is_alphanumeric() {
            let length = word_length(rest);
            let word = rest.get(..length).unwrap_or_default();
            let range = at..at + length;
            match number(word) {
                Some((value, digits)) => {
                    // "10k" and "5x" are one token, "200ish" is two.
                    found.push(Token {
                        what: What::Number(value),
                        low: word.to_lowercase(),
                        inner: range.clone(),
                        range: at..at + digits,
                        is_glued: touches,
                        known: Known::default(),
                    });
                    at += digits;
                }
                None => {
                    found.push(Token {
                        what: What::Word,
                        low: word.to_lowercase().replace('’', "'"),
                        inner: range.clone(),
                        range,
                        is_glued: touches,
                        known: Known::default(),
                    });
                    at += length;
                }
            }
            hyphen = false;
        } else if character.is_whitespace() {
            at += character.len_utf8();
            hyphen = false;
        } else {
            let length: usize = rest.chars().take_while(|c| *c == character).map(char::len_utf8).sum();
            let run = rest.get(..length).unwrap_or_default();
            let next = rest.get(length..).and_then(|rest| rest.chars().next());
            let before = found.last().filter(|last| last.range.end == at);
            // A hyphen within a compound is no token; one between digits is.
            let joins = matches!(run, "-" | "‑" | "‐")
                && next.is_some_and(char::is_alphanumeric)
                && before.is_some_and(|last| {
                    last.what == What::Word
                        || matches!(last.what, What::Number(_)) && next.is_some_and(char::is_alphabetic)
                });
            if joins {
                hyphen = true;
            } else {
                let run = match run {
                    "–" | "—" | "−" | "‑" if before.is_some() && next.is_some_and(char::is_numeric) => {
                        "-"
                    }
                    "–" | "—" | "--" => "—",
                    other => other,
                };
                found.push(sign(at..at + length, run, touches));
                hyphen = false;
            }
            at += length;
        }
    }
    mend(&mut found);
    know(&mut found);
    found
}

/// Words for units that are often mistyped; no other word is one letter away from them.
const LONG_UNITS: [&str; 8] =
    ["sentence", "sentences", "paragraph", "paragraphs", "character", "characters", "bullets", "numbered"];

/// Mends slips of the keyboard in the words that limits are made of: "wrods", "sentances", "less then 60".
fn mend(tokens: &mut [Token]) {
    let mut before = String::new();
    for at in 0..tokens.len() {
        let is_number = |token: &Token| {
            matches!(token.what, What::Number(_))
                || place(&token.low, SMALL).is_some()
                || place(&token.low, TENS).is_some()
        };
        let behind = tokens.get(at + 1).is_some_and(is_number);
        let Some(token) = tokens.get_mut(at).filter(|token| token.what == What::Word) else {
            before.clear();
            continue;
        };
        if token.low == "then" && behind && is_in(&before, "less more fewer longer shorter") {
            token.low.replace_range(.., "than");
        } else if is_in(&token.low, "wrods wodrs owrds wrds wordz") {
            token.low.replace_range(.., "words");
        } else if matches!(token.low.len(), 6..=11)
            && token.low.is_ascii()
            && is_in(token.low.get(..1).unwrap_or_default(), "s p c b n")
            && !is_in(&token.low, "sentenced bullet ballets numbers")
            && !LONG_UNITS.contains(&token.low.as_str())
            && let Some(unit) =
                LONG_UNITS.iter().find(|unit| is_one_slip(token.low.as_bytes(), unit.as_bytes()))
        {
            token.low.replace_range(.., unit);
        }
        before.clone_from(&token.low);
    }
}

/// Whether a word becomes another by one letter more, less, or other, or by two that change places.
fn is_one_slip(word: &[u8], other: &[u8]) -> bool {
    let front = word.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (word, other) = (word.get(front..).unwrap_or_default(), other.get(front..).unwrap_or_default());
    let back = word.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let word = word.get(..word.len() - back).unwrap_or_default();
    let other = other.get(..other.len() - back).unwrap_or_default();
    match (word, other) {
        ([], [_]) | ([_], [] | [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

/// Reads what begins at each token: things first, since amounts look for them.
fn know(tokens: &mut [Token]) {
    for at in 0..tokens.len() {
        let words = Words { tokens };
        let thing = count::read_thing(words, at).map(|(thing, next)| (thing, next - at));
        if let Some(token) = tokens.get_mut(at) {
            token.known.thing = thing;
        }
    }
    // A qualifier may stand before another one.
    for at in (0..tokens.len()).rev() {
        let sort = count::read_qualifier(Words { tokens }, at).map(|(sort, next)| (sort, next - at));
        if let Some(token) = tokens.get_mut(at) {
            token.known.sort = sort;
        }
    }
    for at in 0..tokens.len() {
        let amount =
            count::read_limit(Words { tokens }, at).map(|amount| Amount { next: amount.next - at, ..amount });
        if let Some(token) = tokens.get_mut(at) {
            token.known.amount = amount;
        }
    }
}

/// The length of the word that a text begins with: letters, digits, apostrophes between them, the full stops of "P.S.",
/// and the signs within numbers and names such as `diameter_km`, `C++` and `C#`.
fn word_length(text: &str) -> usize {
    let mut length = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, c)| *c);
        let is_next = |wanted: fn(char) -> bool| next.is_some_and(wanted);
        let goes_on = match character {
            c if c.is_alphanumeric() || c == '_' => true,
            '\'' | '’' => at > 0 && is_next(char::is_alphabetic),
            '.' | ',' => {
                let before = text.get(..at).unwrap_or_default();
                let digits = before.ends_with(|c: char| c.is_ascii_digit());
                if digits && is_next(|c| c.is_ascii_digit()) {
                    // "1,000" and "2.5", but "1,2" is a list.
                    character == '.'
                        || text
                            .get(at + 1..at + 4)
                            .is_some_and(|three| three.bytes().all(|b| b.is_ascii_digit()))
                            && !text
                                .get(at + 4..)
                                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
                } else {
                    // "P.S.", "e.g.": single letters with full stops.
                    let single = before.chars().rev().take_while(|c| *c != '.').count() == 1
                        && before.ends_with(char::is_alphabetic);
                    character == '.'
                        && single
                        && (is_next(char::is_alphabetic)
                            && text
                                .get(at + 1..)
                                .is_some_and(|rest| rest.chars().nth(1).is_some_and(|c| c == '.'))
                            || before.contains('.'))
                }
            }
            '+' | '#' => {
                (at > 0 && text.get(..1).is_some_and(|c| matches!(c, "C" | "c" | "F" | "J")) && at <= 2)
                    && !is_next(char::is_alphanumeric)
            }
            _ => false,
        };
        if !goes_on {
            break;
        }
        length = at + character.len_utf8();
    }
    length.max(text.chars().next().map_or(0, char::len_utf8))
}

/// A number in digits at the start of a word, and its length: `1,000`, `1k`, `2.5k`, `200` of `200ish`.
fn number(word: &str) -> Option<(u64, usize)> {
    let digits = word.bytes().take_while(|b| b.is_ascii_digit() || *b == b',').count();
    let value: u64 = word.get(..digits)?.replace(',', "").parse().ok()?;
    match word.get(digits..)? {
        "" => Some((value, digits)),
        "k" | "K" => Some((value.checked_mul(1000)?, digits + 1)),
        "ish" => Some((value, digits)),
        rest => {
            let fraction = rest.strip_prefix('.')?.strip_suffix(['k', 'K'])?;
            if fraction.len() == 1 {
                let tenth: u64 = fraction.parse().ok()?;
                return Some((value.checked_mul(1000)?.checked_add(tenth * 100)?, word.len()));
            }
            None
        }
    }
}

const SMALL: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
    seventeen eighteen nineteen";
const TENS: &str = "twenty thirty forty fifty sixty seventy eighty ninety";
const ORDINALS: &str = "first second third fourth fifth sixth seventh eighth ninth tenth";

/// The place of a word within a list.
fn place(word: &str, list: &str) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    list.split_ascii_whitespace().zip(0..).find(|(one, _)| *one == word).map(|(_, place)| place)
}

/// An ordinal from `first` or `1st` on.
pub(super) fn ordinal(word: &str) -> Option<u64> {
    if let Some(place) = place(word, ORDINALS) {
        return Some(place + 1);
    }
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let value = word.get(..digits)?.parse().ok()?;
    matches!(word.get(digits..), Some("st" | "nd" | "rd" | "th")).then_some(value)
}

/// One sentence's tokens, read by position. What lies outside is empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'s> {
    pub(super) tokens: &'s [Token],
}

impl<'s> Words<'s> {
    pub(super) const fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&'s Token> {
        self.tokens.get(at)
    }

    /// The word or sign at a place.
    pub(super) fn low(&self, at: usize) -> &'s str {
        self.tokens.get(at).map_or("", |token| token.low.as_str())
    }

    /// The word or sign so many places before another.
    pub(super) fn back(&self, at: usize, by: usize) -> &'s str {
        at.checked_sub(by).map_or("", |at| self.low(at))
    }

    pub(super) fn is(&self, at: usize, list: &str) -> bool {
        is_in(self.low(at), list)
    }

    pub(super) fn is_what(&self, at: usize, what: What) -> bool {
        self.tokens.get(at).is_some_and(|token| token.what == what)
    }

    pub(super) fn is_word(&self, at: usize) -> bool {
        self.is_what(at, What::Word)
    }

    pub(super) fn is_glued(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_glued)
    }

    /// How many tokens from a place on are this sequence of words: its length, or none.
    pub(super) fn seq(&self, at: usize, words: &str) -> Option<usize> {
        let mut next = at;
        for word in words.split_ascii_whitespace() {
            if self.low(next) != word {
                return None;
            }
            next += 1;
        }
        Some(next)
    }

    /// The first of several sequences, with `|` between them, that stands at a place: where it ends.
    pub(super) fn any(&self, at: usize, sequences: &str) -> Option<usize> {
        let first = self.low(at).as_bytes().first()?;
        let bytes = sequences.as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            let rest = bytes.get(start..).unwrap_or_default();
            let length = rest.iter().position(|byte| *byte == b'|').unwrap_or(rest.len());
            if rest.first() == Some(first)
                && let Some(next) = self.seq(at, sequences.get(start..start + length).unwrap_or_default())
            {
                return Some(next);
            }
            start += length + 1;
        }
        None
    }

    /// Whether one of several sequences ends just before a place.
    pub(super) fn ends_before(&self, at: usize, sequences: &str) -> Option<usize> {
        sequences.split('|').find_map(|words| {
            let start = at.checked_sub(words.split_ascii_whitespace().count())?;
            self.seq(start, words).map(|_| start)
        })
    }

    /// A number below 100 in words.
    fn tens(&self, at: usize) -> Option<(u64, usize)> {
        let word = self.low(at);
        if let Some(value) = place(word, SMALL) {
            return Some((value, at + 1));
        }
        let tens = (place(word, TENS)? + 2) * 10;
        match place(self.low(at + 1), SMALL) {
            Some(ones @ 1..=9) => Some((tens + ones, at + 2)),
            _ => Some((tens, at + 1)),
        }
    }

    /// A number in digits or words, and where it ends.
    pub(super) fn number(&self, at: usize) -> Option<(u64, usize)> {
        if let Some(What::Number(value)) = self.tokens.get(at).map(|token| token.what) {
            return match self.low(at + 1) {
                "hundred" => Some((value.checked_mul(100)?, at + 2)),
                "thousand" => Some((value.checked_mul(1000)?, at + 2)),
                "dozen" => Some((value.checked_mul(12)?, at + 2)),
                _ => Some((value, at + 1)),
            };
        }
        if !self.is_word(at) {
            return None;
        }
        if let Some(next) = self.seq(at, "half a dozen") {
            return Some((6, next));
        }
        let (mut value, mut next) = match self.low(at) {
            "a" | "one" if matches!(self.low(at + 1), "dozen" | "hundred" | "thousand") => (1, at + 1),
            "dozen" if self.back(at, 1) != "a" && !self.is_glued(at) => return Some((12, at + 1)),
            "single" => return Some((1, at + 1)),
            _ => self.tens(at)?,
        };
        let mut total = 0;
        for _ in 0..4 {
            match self.low(next) {
                "dozen" => return Some((value * 12, next + 1)),
                "hundred" => value *= 100,
                "thousand" => {
                    total += value * 1000;
                    value = 0;
                }
                _ => break,
            }
            next += 1;
            // "one hundred and fifty" is one number, "one hundred and one hundred fifty" are two.
            let behind = next + usize::from(self.low(next) == "and");
            if let Some((small, end)) = self.tens(behind) {
                let is_next_number = behind > next && matches!(self.low(end), "hundred" | "thousand");
                if !is_next_number {
                    value += small;
                    next = end;
                }
            }
        }
        Some((total + value, next))
    }

    /// "once", "twice", "three times": a number of times, and where it ends.
    pub(super) fn times(&self, at: usize) -> Option<(u64, usize)> {
        match self.low(at) {
            "once" => return Some((1, at + 1)),
            "twice" => return Some((2, at + 1)),
            "thrice" => return Some((3, at + 1)),
            "x" => {}
            _ => {}
        }
        let (value, next) = self.number(at)?;
        self.is(next, "time times x").then_some((value, next + 1)).or_else(|| {
            (self.is(next, "separate different") && self.low(next + 1) == "times")
                .then_some((value, next + 2))
        })
    }
}
