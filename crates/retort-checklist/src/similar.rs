//! Whether two questions ask the same.

use unicode_segmentation::UnicodeSegmentation;

/// Words that say nothing about what is asked.
const FORM: &str = " a an and any are as at be by do does for from has have in is it its of on or response that the there this \
                    to which with ";

/// Words that turn a question round: with and without one, two questions are not the same.
const TURNS: &str = " no not never without neither nor avoid avoids avoiding free instead rather least most only more less fewer ";

/// Whether two questions about a response ask the same in nearly the same words: of all words that say what is asked,
/// at least four fifths are in both, and the same words turn them round. The order of words and letter case do not
/// matter. Questions without such words are the same only when they are equal.
///
/// ```
/// use retort_checklist::similar_questions;
///
/// assert!(similar_questions("Does the response name two causes?", "Does the response name the two causes?"));
/// assert!(!similar_questions("Does the response name causes?", "Does the response not name causes?"));
/// ```
#[must_use]
pub fn similar_questions(first: &str, second: &str) -> bool {
    let (first_words, second_words) = (words(first), words(second));
    if first_words.is_empty() || second_words.is_empty() {
        return first.trim() == second.trim();
    }
    similar_words(&first_words, &second_words)
}

/// The same for the [`words`] of two questions, each of which has some.
pub(crate) fn similar_words(first: &[String], second: &[String]) -> bool {
    let turns = |words: &[String]| -> Vec<String> {
        words
            .iter()
            .filter(|word| is_in(word, TURNS) || word.bytes().all(|b| b.is_ascii_digit()))
            .cloned()
            .collect()
    };
    let both = first.iter().filter(|word| second.binary_search(word).is_ok()).count();
    let either = first.len() + second.len() - both;
    both * 5 >= either * 4 && turns(first) == turns(second)
}

/// The words that say what is asked, sorted, each once.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> =
        text.unicode_words().map(str::to_lowercase).filter(|word| !is_in(word, FORM)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn is_in(word: &str, list: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_the_same_is_found_and_what_differs_is_not() {
        // Five words in both of five and six: 5/6 is more than 4/5.
        assert!(similar_questions(
            "Does the response explain how rainbows form in sunlight?",
            "Does the response explain clearly how rainbows form in sunlight?"
        ));
        // Two of four.
        assert!(!similar_questions(
            "Does the response name a river?",
            "Does the response name a lake and its depth?"
        ));
        for (first, second) in [
            ("Is the response at most 100 words long?", "Is the response at most 200 words long?"),
            ("Is the response at most 100 words long?", "Is the response at least 100 words long?"),
            ("Does the response mention price?", "Does the response avoid mention of price?"),
            ("", "Does it?"),
        ] {
            assert!(!similar_questions(first, second), "{first} / {second}");
        }
        assert!(similar_questions("", " "));
    }
}
