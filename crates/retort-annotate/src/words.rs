//! An instruction as words, and the lexicon as an index: both made so that one pass suffices.

use std::ops::Range;
use std::sync::OnceLock;

use crate::lexicon::{CUES, FIELDS};

/// A word longer than this many bytes is in no lexicon.
const MAX_WORD: usize = 40;

/// The most words of a term.
pub(crate) const MAX_PHRASE: usize = 4;

/// The words of a text in lower case.
pub(crate) struct Words {
    /// All words, each followed by `_`, so that a phrase is a slice, written as the lexicon writes it.
    arena: String,
    words: Vec<Word>,
}

struct Word {
    /// In the arena.
    lower: Range<usize>,
    /// In the text, in bytes.
    place: Range<usize>,
    /// Whether a colon follows it at once.
    colon: bool,
}

impl Words {
    /// Letters and digits are words, with apostrophes inside them; `c++` and `c#` keep their signs.
    pub(crate) fn new(text: &str) -> Self {
        let mut arena = String::with_capacity(text.len());
        let mut words = Vec::new();
        let mut begin: Option<(usize, usize)> = None;
        let mut rest = text.char_indices().peekable();
        while let Some((at, c)) = rest.next() {
            let inside = begin.is_some();
            let next = rest.peek().map(|&(_, next)| next);
            let apostrophe = inside && matches!(c, '\'' | '’') && next.is_some_and(char::is_alphanumeric);
            let sign = inside
                && match c {
                    '+' => arena.ends_with("_c") || arena == "c" || arena.ends_with("c+"),
                    '#' => arena.ends_with("_c") || arena == "c",
                    _ => false,
                };
            if c.is_alphanumeric() || apostrophe || sign {
                if begin.is_none() {
                    begin = Some((at, arena.len()));
                }
                if apostrophe { arena.push('\'') } else { arena.extend(c.to_lowercase()) }
            } else if let Some((place, lower)) = begin.take() {
                words.push(Word { lower: lower..arena.len(), place: place..at, colon: c == ':' });
                arena.push('_');
            }
        }
        if let Some((place, lower)) = begin {
            words.push(Word { lower: lower..arena.len(), place: place..text.len(), colon: false });
        }
        Self { arena, words }
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// The phrase of `count` words from this one on, if there are so many.
    pub(crate) fn phrase(&self, first: usize, count: usize) -> Option<&str> {
        let words = self.words.get(first..first + count)?;
        if words.iter().any(|word| word.lower.len() > MAX_WORD) {
            return None;
        }
        self.arena.get(words.first()?.lower.start..words.last()?.lower.end)
    }

    /// Whether a colon follows this word.
    pub(crate) fn colon_after(&self, word: usize) -> bool {
        self.words.get(word).is_some_and(|word| word.colon)
    }

    /// Where `count` words from this one on stand in the text, in bytes.
    pub(crate) fn place(&self, first: usize, count: usize) -> Range<usize> {
        let last = (first + count).saturating_sub(1);
        match (self.words.get(first), self.words.get(last)) {
            (Some(first), Some(last)) => first.place.start..last.place.end,
            _ => 0..0,
        }
    }

    /// All words.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter_map(|word| self.arena.get(word.lower.clone()))
    }
}

/// A term of the lexicon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Term {
    /// Without the mark of an open ending.
    pub(crate) text: &'static str,
    /// Number of the field or cue.
    pub(crate) group: u8,
    /// Whether it hardly occurs elsewhere.
    pub(crate) strong: bool,
}

/// The terms in order, so that a binary search finds all of one text.
pub(crate) struct Index {
    /// Terms that must match to their end.
    whole: Vec<Term>,
    /// Terms with any ending: beginnings of single words.
    open: Vec<Term>,
    /// Bytes of the shortest open term.
    shortest: usize,
}

impl Index {
    fn new(terms: impl Iterator<Item = (u8, bool, &'static str)>) -> Self {
        let (mut whole, mut open) = (Vec::new(), Vec::new());
        for (group, strong, list) in terms {
            for text in list.split_ascii_whitespace() {
                match text.strip_suffix('*') {
                    Some(text) => open.push(Term { text, group, strong }),
                    None => whole.push(Term { text, group, strong }),
                }
            }
        }
        whole.sort_unstable();
        open.sort_unstable();
        let shortest = open.iter().map(|term| term.text.len()).min().unwrap_or(usize::MAX);
        Self { whole, open, shortest }
    }

    /// The terms of the fields.
    pub(crate) fn fields() -> &'static Self {
        static INDEX: OnceLock<Index> = OnceLock::new();
        INDEX.get_or_init(|| {
            Self::new(
                (0u8..)
                    .zip(&FIELDS)
                    .flat_map(|(group, field)| [(group, true, field.strong), (group, false, field.weak)]),
            )
        })
    }

    /// The terms of the cues.
    pub(crate) fn cues() -> &'static Self {
        static INDEX: OnceLock<Index> = OnceLock::new();
        INDEX.get_or_init(|| Self::new((0u8..).zip(&CUES).map(|(group, cue)| (group, true, cue.2))))
    }

    fn of<'a>(terms: &'a [Term], text: &str) -> &'a [Term] {
        let from = terms.partition_point(|term| term.text < text);
        let to = from + terms[from..].partition_point(|term| term.text == text);
        &terms[from..to]
    }

    /// All terms that this phrase is, in one of its forms.
    pub(crate) fn find(&self, phrase: &str, single: bool, colon: bool, mut found: impl FnMut(Term)) {
        if colon {
            let marked = format!("{phrase}:");
            Self::of(&self.whole, &marked).iter().copied().for_each(&mut found);
        }
        for form in forms(phrase) {
            let terms = Self::of(&self.whole, form);
            if !terms.is_empty() {
                terms.iter().copied().for_each(&mut found);
                break;
            }
        }
        if let Some(stem) = phrase.strip_suffix("ies") {
            Self::of(&self.whole, &format!("{stem}y")).iter().copied().for_each(&mut found);
        }
        if single && phrase.len() >= self.shortest {
            let ends = phrase.char_indices().map(|(at, c)| at + c.len_utf8());
            for end in ends.filter(|&end| end >= self.shortest) {
                Self::of(&self.open, &phrase[..end]).iter().copied().for_each(&mut found);
            }
        }
    }
}

/// A word as it stands, and what it may be a plural, a genitive or a past of.
fn forms(word: &str) -> impl Iterator<Item = &str> {
    let cut = ["'s", "s", "es", "d", "ed", "ing"].into_iter();
    let stems = cut.filter_map(|ending| word.strip_suffix(ending).filter(|stem| stem.len() >= 3));
    std::iter::once(word).chain(stems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lower_case_and_know_their_place() {
        let text = "What's new in C++, C# and État-major: 3?";
        let words = Words::new(text);
        let all: Vec<&str> = words.iter().collect();
        assert_eq!(all, ["what's", "new", "in", "c++", "c#", "and", "état", "major", "3"]);
        assert_eq!(&text[words.place(6, 2)], "État-major");
        assert_eq!(words.phrase(6, 2), Some("état_major"));
        assert_eq!(words.phrase(8, 2), None);
        assert!(words.colon_after(7) && !words.colon_after(6));
    }

    #[test]
    fn a_term_is_found_in_its_forms() {
        let find = |phrase: &str, single: bool| {
            let mut groups = Vec::new();
            Index::fields()
                .find(phrase, single, false, |term| groups.push(FIELDS[usize::from(term.group)].domain));
            groups
        };
        use retort_rubric::Domain::{Coding, Language, NaturalScience};
        for (word, domain) in [
            ("algorithms", Coding),
            ("galaxies", NaturalScience),
            ("black_holes", NaturalScience),
            ("photosynthesis", NaturalScience),
            ("sonnet's", Language),
        ] {
            assert!(find(word, true).contains(&domain), "{word}");
        }
        assert!(find("zzz", true).is_empty());
        // An open ending is for single words.
        assert!(find("photosynthesis_now", false).is_empty());
    }

    #[test]
    fn the_lexicon_is_written_as_words_are() {
        let lists =
            FIELDS.iter().flat_map(|field| [field.strong, field.weak]).chain(CUES.iter().map(|cue| cue.2));
        for list in lists {
            let mut seen = std::collections::BTreeSet::new();
            for term in list.split_ascii_whitespace() {
                assert!(seen.insert(term), "{term} stands twice");
                let plain = term.trim_end_matches(['*', ':']);
                let words = Words::new(&plain.replace('_', " "));
                let count = words.len();
                assert!((1..=MAX_PHRASE).contains(&count), "{term}");
                assert_eq!(words.phrase(0, count), Some(plain), "{term}");
                assert!(!term.ends_with('*') || (count == 1 && plain.len() >= 3), "{term}");
            }
        }
        for (number, (cue, ..)) in CUES.iter().enumerate() {
            assert_eq!(*cue as usize, number);
        }
        let mut subdomains = FIELDS.iter().map(|field| (field.domain, usize::from(field.subdomain)));
        for domain in retort_rubric::Domain::ALL {
            for part in 0..domain.subdomains().len() {
                assert_eq!(subdomains.next(), Some((domain, part)));
            }
        }
    }
}
