//! What training texts may not repeat: the texts of all evaluation sets, as hashes.

use std::collections::HashMap;

use serde::Serialize;

use super::text::{grams, sequence, words};

/// A whole text of at least so many words may not recur. "Yes." and "Paris" recur everywhere and mean nothing.
pub const WHOLE_WORDS: usize = 4;
/// The same for responses: "I'm sorry, but I can't help with that." is no sign of a shared source.
pub const WHOLE_RESPONSE_WORDS: usize = 12;
/// The first so many words of a prompt or document may not recur as another's first words.
pub const BEGINNING_WORDS: usize = 12;
/// So many words in a row of an evaluation set's prompt or document may not recur anywhere.
pub const GRAM_WORDS: usize = 13;
/// Such a row of words counts only with so many different words: "0 0 0 0 …" recurs by itself.
const DIFFERENT_WORDS: usize = 5;

/// What a text is to an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// What is answered or read: prompt, question, document, reference.
    Given,
    /// An answer to it.
    Response,
}

/// Why a text is taken for one of an evaluation set's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Word for word the same.
    Whole,
    /// It begins with the same words.
    Beginning,
    /// It contains a row of its words.
    Gram,
}

impl Reason {
    /// In words.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Whole => "the same text",
            Self::Beginning => "the same beginning",
            Self::Gram => "a shared passage",
        }
    }
}

/// The texts of all evaluation sets: 64-bit hashes and nothing readable.
///
/// Of a million different texts a new one has the hash of a known one once in 18 trillion; a row is then dropped for
/// nothing.
#[derive(Debug, Default)]
pub struct Evaluation {
    sets: Vec<String>,
    whole: HashMap<u64, u16>,
    beginnings: HashMap<u64, u16>,
    grams: HashMap<u64, u16>,
}

impl Evaluation {
    /// Announces a set; its number is for [`add`](Self::add).
    pub fn set(&mut self, name: &str) -> u16 {
        self.sets.push(name.to_owned());
        u16::try_from(self.sets.len() - 1).unwrap_or(u16::MAX)
    }

    /// The name of a set.
    #[must_use]
    pub fn name(&self, set: u16) -> &str {
        self.sets.get(usize::from(set)).map_or("", String::as_str)
    }

    /// How many hashes are kept.
    #[must_use]
    pub fn size(&self) -> usize {
        self.whole.len() + self.beginnings.len() + self.grams.len()
    }

    /// Adds a text. One that several sets share stays with the first.
    pub fn add(&mut self, set: u16, role: Role, text: &str) {
        let words = words(text);
        if words.len() >= whole_words(role) {
            self.whole.entry(sequence(&words)).or_insert(set);
        }
        if role == Role::Response {
            return;
        }
        if let Some(beginning) = words.get(..BEGINNING_WORDS) {
            self.beginnings.entry(sequence(beginning)).or_insert(set);
        }
        let known = &mut self.grams;
        grams(&words, GRAM_WORDS, |hash, at| {
            let mut different = words[at..at + GRAM_WORDS].to_vec();
            different.sort_unstable();
            different.dedup();
            if different.len() >= DIFFERENT_WORDS {
                known.entry(hash).or_insert(set);
            }
        });
    }

    /// Whether a text repeats one of a set's: which set's, and in what.
    #[must_use]
    pub fn find(&self, role: Role, text: &str) -> Option<(u16, Reason)> {
        let words = words(text);
        if words.len() >= whole_words(role)
            && let Some(&set) = self.whole.get(&sequence(&words))
        {
            return Some((set, Reason::Whole));
        }
        if role == Role::Given
            && let Some(beginning) = words.get(..BEGINNING_WORDS)
            && let Some(&set) = self.beginnings.get(&sequence(beginning))
        {
            return Some((set, Reason::Beginning));
        }
        let mut found = None;
        grams(&words, GRAM_WORDS, |hash, _| {
            found = found.or_else(|| self.grams.get(&hash).copied());
        });
        found.map(|set| (set, Reason::Gram))
    }
}

fn whole_words(role: Role) -> usize {
    match role {
        Role::Given => WHOLE_WORDS,
        Role::Response => WHOLE_RESPONSE_WORDS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluation(role: Role, text: &str) -> Evaluation {
        let mut evaluation = Evaluation::default();
        let set = evaluation.set("exam");
        evaluation.add(set, role, text);
        evaluation
    }

    #[test]
    fn whole_texts_of_four_words_and_more() {
        let exam = evaluation(Role::Given, "Name a green fruit.");
        assert_eq!(exam.find(Role::Given, "  name a GREEN fruit "), Some((0, Reason::Whole)));
        assert_eq!(exam.name(0), "exam");
        assert_eq!(exam.find(Role::Given, "Name a green fruit, please."), None);
        // Three words: too common to say anything.
        assert_eq!(evaluation(Role::Given, "Name a fruit.").find(Role::Given, "Name a fruit."), None);
        // Of a response, twelve: "i m sorry but i can t help you with that today" has twelve, without "today" eleven.
        let sorry = "I'm sorry, but I can't help you with that";
        assert_eq!(evaluation(Role::Response, sorry).find(Role::Response, sorry), None);
        let sorry = "I'm sorry, but I can't help you with that today";
        assert_eq!(evaluation(Role::Response, sorry).find(Role::Response, sorry), Some((0, Reason::Whole)));
    }

    const LONG: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";

    #[test]
    fn twelve_words_at_the_beginning_and_thirteen_anywhere() {
        let exam = evaluation(Role::Given, LONG);
        let twelve = "One two three four five six seven eight nine ten eleven TWELVE";
        assert_eq!(exam.find(Role::Given, &format!("{twelve} and so on")), Some((0, Reason::Beginning)));
        assert_eq!(exam.find(Role::Given, &format!("so: {twelve} and so on")), None);
        assert_eq!(exam.find(Role::Given, &format!("so: {twelve} thirteen, on")), Some((0, Reason::Gram)));
        // A response has no beginning to share, but may quote.
        assert_eq!(exam.find(Role::Response, &format!("{twelve} and so on")), None);
        assert_eq!(
            exam.find(Role::Response, &format!("{twelve} thirteen and so on")),
            Some((0, Reason::Gram))
        );
        // What an evaluation set's responses say is no passage of its documents.
        assert_eq!(evaluation(Role::Response, LONG).find(Role::Given, &format!("so {LONG} on")), None);
    }

    #[test]
    fn a_row_of_the_same_words_says_nothing() {
        let zeros = "0 ".repeat(40);
        let exam = evaluation(Role::Given, &format!("A table follows. {zeros}"));
        assert_eq!(exam.find(Role::Given, &format!("Other numbers: {zeros}")), None);
    }
}
