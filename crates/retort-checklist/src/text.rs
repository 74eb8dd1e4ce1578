//! The response as verifiers see it: normalised, with the way back to the bytes that were given; and texts folded for
//! comparison.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// A response in normalisation form C.
///
/// Verifiers see nothing but the normalised text, so no verdict can depend on the form in which it came.
#[derive(Debug)]
pub(crate) struct Normalised<'r> {
    original: &'r str,
    text: Cow<'r, str>,
    /// Of every stretch that normalising changed: where it stands in `text`, and in the original. In order.
    changed: Vec<(Range<usize>, Range<usize>)>,
}

impl<'r> Normalised<'r> {
    /// In time linear in the text, but for the sorting of combining marks within one stretch of them.
    pub(crate) fn new(original: &'r str) -> Self {
        if original.is_ascii() || is_nfc_quick(original.chars()) == IsNormalized::Yes {
            return Self { original, text: Cow::Borrowed(original), changed: Vec::new() };
        }
        let mut text = String::with_capacity(original.len());
        let mut changed = Vec::new();
        let mut start = 0;
        let mut take = |stretch: Range<usize>| {
            let given = original.get(stretch.clone()).unwrap_or_default();
            let before = text.len();
            if given.is_ascii() {
                text.push_str(given);
            } else {
                text.extend(given.nfc());
                if text.get(before..) != Some(given) {
                    changed.push((before..text.len(), stretch));
                }
            }
        };
        for (at, character) in original.char_indices() {
            // Such a character can join nothing that stands before it, so what stands before is normalised alone.
            let is_boundary = character.is_ascii()
                || (canonical_combining_class(character) == 0
                    && is_nfc_quick(std::iter::once(character)) == IsNormalized::Yes);
            if is_boundary && at > start {
                take(start..at);
                start = at;
            }
        }
        take(start..original.len());
        Self { original, text: Cow::Owned(text), changed }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the original for a range of the normalised text, widened to whole characters.
    pub(crate) fn original_range(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.original_offset(range.start, false);
        let end = self.original_offset(range.end, true).max(start);
        let mut start = start.min(self.original.len());
        let mut end = end.min(self.original.len());
        while !self.original.is_char_boundary(start) {
            start -= 1;
        }
        while !self.original.is_char_boundary(end) {
            end += 1;
        }
        start..end
    }

    fn original_offset(&self, offset: usize, is_end: bool) -> usize {
        let behind = self
            .changed
            .partition_point(|(here, _)| here.start < offset || (here.is_empty() && here.start <= offset));
        let Some((here, there)) = behind.checked_sub(1).and_then(|last| self.changed.get(last)) else {
            return offset;
        };
        if offset < here.end {
            if is_end { there.end } else { there.start }
        } else {
            there.end + (offset - here.end)
        }
    }
}

/// The text without white space at either end and without a byte order mark, as a range.
pub(crate) fn trimmed(text: &str) -> Range<usize> {
    let without_mark = text.strip_prefix('\u{feff}').unwrap_or(text);
    let inner = without_mark.trim();
    if inner.is_empty() {
        return 0..0;
    }
    let start = text.len() - without_mark.trim_start().len();
    start..start + inner.len()
}

/// A text folded for comparison, as [`Constraint::Phrase`](crate::Constraint::Phrase) says, with the way back.
pub(crate) struct Folded {
    pub(crate) text: String,
    /// For each byte of `text` the offset of the character that it came from; one more for the end.
    from: Vec<usize>,
}

impl Folded {
    /// `text` has to be normalised.
    pub(crate) fn new(text: &str, case_sensitive: bool) -> Self {
        let mut folded =
            Self { text: String::with_capacity(text.len()), from: Vec::with_capacity(text.len() + 1) };
        let mut was_space = false;
        for (at, character) in text.char_indices() {
            let is_space = character.is_whitespace();
            if is_space {
                if !was_space {
                    folded.push(' ', at);
                }
            } else {
                match character {
                    '\u{ad}' | '\u{200b}' | '\u{feff}' => continue,
                    '‘' | '’' | '‚' | '‛' => folded.push('\'', at),
                    '“' | '”' | '„' | '‟' => folded.push('"', at),
                    '\u{2010}' | '\u{2011}' => folded.push('-', at),
                    _ if case_sensitive => folded.push(character, at),
                    // The two small sigmas and the two sharp s are one letter each.
                    'ς' => folded.push('σ', at),
                    'ẞ' => folded.push('ß', at),
                    _ if character.is_ascii() => folded.push(character.to_ascii_lowercase(), at),
                    _ => {
                        for lower in character.to_lowercase() {
                            folded.push(lower, at);
                        }
                    }
                }
            }
            was_space = is_space;
        }
        folded.from.push(text.len());
        folded
    }

    fn push(&mut self, character: char, at: usize) {
        self.text.push(character);
        self.from.extend(std::iter::repeat_n(at, character.len_utf8()));
    }

    /// Where a range of the folded text came from: to the start of what follows it, so that it ends on a character.
    pub(crate) fn source(&self, range: &Range<usize>) -> Range<usize> {
        let end_of_all = self.from.last().copied().unwrap_or(0);
        let at = |offset: usize| self.from.get(offset).copied().unwrap_or(end_of_all);
        at(range.start)..at(range.end).max(at(range.start))
    }
}

/// A text to look for, folded once.
pub(crate) struct Needle {
    text: String,
    inside_words: bool,
    /// Knuth, Morris and Pratt: of each beginning of the text, the length of its longest border.
    borders: Vec<usize>,
}

impl Needle {
    pub(crate) fn new(text: &str, inside_words: bool, case_sensitive: bool) -> Self {
        let normal: String = text.trim().nfc().collect();
        let text = Folded::new(&normal, case_sensitive).text;
        let bytes = text.as_bytes();
        let mut borders = vec![0; bytes.len()];
        let mut length = 0;
        for at in 1..bytes.len() {
            while length > 0 && bytes.get(at) != bytes.get(length) {
                length = borders.get(length - 1).copied().unwrap_or(0);
            }
            if bytes.get(at) == bytes.get(length) {
                length += 1;
            }
            if let Some(border) = borders.get_mut(at) {
                *border = length;
            }
        }
        Self { text, inside_words, borders }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// All occurrences that do not overlap, from the left, as ranges of the folded text. In linear time.
    pub(crate) fn find_all(&self, folded: &str) -> Vec<Range<usize>> {
        let needle = self.text.as_bytes();
        let mut found: Vec<Range<usize>> = Vec::new();
        if needle.is_empty() {
            return found;
        }
        let mut length = 0;
        for (at, byte) in folded.bytes().enumerate() {
            while length > 0 && (length == needle.len() || needle.get(length) != Some(&byte)) {
                length = self.borders.get(length - 1).copied().unwrap_or(0);
            }
            if needle.get(length) == Some(&byte) {
                length += 1;
            }
            if length == needle.len() {
                let range = at + 1 - length..at + 1;
                let overlaps = found.last().is_some_and(|last| last.end > range.start);
                if !overlaps && self.fits(folded, &range) {
                    found.push(range);
                }
            }
        }
        found
    }

    /// Whether words begin and end where they must.
    pub(crate) fn fits(&self, folded: &str, range: &Range<usize>) -> bool {
        let before = folded.get(..range.start).unwrap_or_default();
        let after = folded.get(range.end..).unwrap_or_default();
        // In any case a letter is not found within itself and its accent.
        if after.chars().next().is_some_and(is_combining_mark) {
            return false;
        }
        self.inside_words || (is_word_start(before, &self.text) && is_word_end(&self.text, after))
    }
}

fn holds_words(character: char) -> bool {
    (character.is_alphanumeric() && !is_unspaced(character)) || character == '_'
}

/// Whether a word may end between the two texts, where the first one ends what was looked for.
pub(crate) fn is_word_end(found: &str, after: &str) -> bool {
    if !found.chars().next_back().is_some_and(holds_words) {
        return true;
    }
    let mut next = after.chars();
    match next.next() {
        Some('\'') => match next.next() {
            // Ann's is Ann; can't is not can.
            Some('s' | 'S') => !next.next().is_some_and(holds_words),
            Some(letter) => !letter.is_alphabetic(),
            None => true,
        },
        Some(character) => !holds_words(character) && !is_combining_mark(character),
        None => true,
    }
}

/// Whether a word may begin between the two texts.
fn is_word_start(before: &str, found: &str) -> bool {
    if !found.chars().next().is_some_and(holds_words) {
        return true;
    }
    let mut previous = before.chars().rev();
    match previous.next() {
        Some('\'') => !previous.next().is_some_and(char::is_alphabetic),
        Some(character) => !holds_words(character) && !is_combining_mark(character),
        None => true,
    }
}

/// Letters of scripts that are written without spaces between words.
pub(crate) fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{0e00}'..='\u{0eff}'      // Thai, Lao
        | '\u{1000}'..='\u{109f}'    // Burmese
        | '\u{1780}'..='\u{17ff}'    // Khmer
        | '\u{3040}'..='\u{30ff}'    // kana
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'    // Han
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3134f}')
}

/// The beginning of a text for people, cut at a length that a sentence can carry.
pub(crate) fn excerpt(text: &str) -> String {
    const CHARACTERS: usize = 40;
    let mut words = String::new();
    let mut count = 0;
    let mut was_space = true;
    for character in text.trim().chars() {
        let is_space = character.is_whitespace();
        if is_space && was_space {
            continue;
        }
        if count == CHARACTERS {
            words.push('…');
            break;
        }
        words.push(if is_space { ' ' } else { character });
        was_space = is_space;
        count += 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_find_their_way_back_through_normalisation() {
        // "é" as two characters is three bytes, composed two: the word behind it moves by one.
        let given = "cafe\u{301} noir";
        let normal = Normalised::new(given);
        assert_eq!(normal.text(), "café noir");
        assert_eq!(given.get(normal.original_range(&(0..5))), Some("cafe\u{301}"));
        assert_eq!(given.get(normal.original_range(&(6..10))), Some("noir"));
        assert_eq!(given.get(normal.original_range(&(3..5))), Some("e\u{301}"));
        assert_eq!(normal.original_range(&(10..10)), 11..11);
        // Two in a row.
        let given = "e\u{301}e\u{301}x";
        let normal = Normalised::new(given);
        assert_eq!(given.get(normal.original_range(&(2..4))), Some("e\u{301}"));
        assert_eq!(given.get(normal.original_range(&(2..5))), Some("e\u{301}x"));
    }

    #[test]
    fn needles_are_found_without_overlap_and_at_words() {
        let all = |needle: &str, text: &str, inside| {
            Needle::new(needle, inside, false).find_all(&Folded::new(text, false).text).len()
        };
        assert_eq!(all("aa", "aaaa", true), 2);
        assert_eq!(all("aa", "aaaa", false), 0);
        assert_eq!(all("aba", "ababa", true), 1);
        assert_eq!(all("art", "Art, party; art", false), 2);
        assert_eq!(all("Ann", "Ann's and Ann’s", false), 2);
        assert_eq!(all("can", "can't", false), 0);
        assert_eq!(all("e", "e\u{301}".nfc().collect::<String>().as_str(), true), 0);
        assert_eq!(all("x", "x\u{302}", true), 0);
        assert_eq!(all("猫", "黒猫が", false), 1);
        assert_eq!(all("to be", "To\n  be", false), 1);
    }

    #[test]
    fn folded_ranges_find_their_way_back() {
        let text = "A  B’s\u{ad} İx";
        let folded = Folded::new(text, false);
        assert_eq!(folded.text, "a b's i\u{307}x");
        let found = folded.text.find("b's").expect("it is there");
        assert_eq!(
            text.get(folded.source(&(found..found + 3))).map(|s| s.trim_end_matches('\u{ad}')),
            Some("B’s")
        );
        assert_eq!(folded.source(&(0..folded.text.len())), 0..text.len());
    }

    #[test]
    fn the_trimmed_range_has_no_white_space_and_no_mark() {
        assert_eq!(trimmed("\u{feff} a b \r\n"), 4..7);
        assert_eq!(trimmed(" \n"), 0..0);
        assert_eq!(trimmed(""), 0..0);
    }
}
