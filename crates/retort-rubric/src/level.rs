//! Whether the text of a level says something, and something else than the other levels do.
//!
//! The lists are English: texts in other languages pass unless they are the same.

use std::collections::BTreeSet;

/// Words that grade without saying what was found.
const GRADES: &str = "acceptable adequate amazing average awful bad best better decent excellent exceptional fair \
    fantastic fine good great high horrible inadequate low mediocre medium mid middling mixed moderate \
    nice ok okay outstanding passable perfect poor satisfactory so-so solid strong subpar superb \
    terrible top unacceptable unsatisfactory weak worse worst";

/// Words that add nothing to a grade.
const FILLERS: &str = "a about above all an and answer are at be below but by could extremely fairly for grade has in is \
    it its job just less level mark more most neither nor not of on or out output overall performance \
    pretty quality quite rather rating really response result score scores should slightly so somewhat \
    than that the this to truly very was way with work would";

/// Words that turn the meaning of those around them.
const NEGATIONS: &str =
    "cannot free hardly lack lacking lacks missing neither never no none nor not nothing rarely without";

/// Words by which levels may rightly differ alone: how much, how many, how often.
const DEGREES: &str = "all almost always any at below both briefly completely each entire entirely every exactly few fewer \
    first five four full fully half largely least less little main major majority many minor more most \
    mostly much nearly occasional occasionally often once one only part partial partially partly seldom \
    several severe single slight slightly some sometimes somewhat three twice two usually wholly";

/// Texts of more words are not compared: levels are sentences, and this bounds the work.
const MAX_WORDS: usize = 300;

/// Whether a list of words with spaces between them holds this one.
fn listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’' | '-')))
        .map(|word| word.trim_matches(['\'', '’', '-']).to_lowercase())
        .filter(|word| !word.is_empty())
}

/// Whether a text grades without saying what for: “Good.”, “A very poor response”, “Score 5”.
pub(crate) fn vague(text: &str) -> bool {
    words(text).all(|word| {
        listed(GRADES, &word) || listed(FILLERS, &word) || word.chars().all(|c| c.is_ascii_digit())
    })
}

/// What a level says, for comparison with other levels.
pub(crate) struct Gist {
    content: BTreeSet<String>,
    negations: usize,
}

/// How near two levels are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// They use the same words but for such as “the” and “is”.
    Same,
    /// They share nearly all words; these are the others.
    Near(Vec<String>),
}

impl Gist {
    /// `None` for a text that says nothing or is too long.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let mut content = BTreeSet::new();
        let (mut negations, mut count) = (0, 0);
        for word in words(text) {
            count += 1;
            if count > MAX_WORDS {
                return None;
            }
            if listed(NEGATIONS, &word) || word.ends_with("n't") || word.ends_with("n’t") {
                negations += 1;
            } else if listed(DEGREES, &word) || !listed(FILLERS, &word) {
                content.insert(stem(word));
            }
        }
        (!content.is_empty()).then_some(Self { content, negations })
    }

    /// Whether this level and the other can hardly be told apart. A negation more, or another degree or number, is a
    /// difference.
    pub(crate) fn likeness(&self, other: &Self) -> Option<Likeness> {
        if self.negations != other.negations {
            return None;
        }
        let apart: Vec<&String> = self.content.symmetric_difference(&other.content).collect();
        if apart.is_empty() {
            return Some(Likeness::Same);
        }
        let distinct = |word: &&String| {
            DEGREES.split(' ').any(|degree| stem(degree.to_owned()) == **word)
                || word.chars().any(|c| c.is_ascii_digit())
        };
        if apart.iter().any(distinct) || opposed(&apart) {
            return None;
        }
        let shared = self.content.intersection(&other.content).count();
        let one_sided = self.content.len() == shared || other.content.len() == shared;
        // A word put in the place of another is a difference more often than a word added.
        let (numerator, denominator) = if one_sided { (4, 5) } else { (6, 7) };
        let near = shared * denominator >= (shared + apart.len()) * numerator;
        near.then(|| Likeness::Near(apart.into_iter().cloned().collect()))
    }
}

/// The word without an ending that only inflects it.
fn stem(word: String) -> String {
    match word.strip_suffix('s') {
        Some(rest) if word.len() > 4 && !rest.ends_with(['s', 'u', 'i']) => rest.to_owned(),
        _ => word,
    }
}

/// Whether one of the words is another with “un-”, “in-”, “im-”, “ir-”, “dis-” or “non-”.
fn opposed(apart: &[&String]) -> bool {
    apart.iter().any(|word| {
        ["un", "in", "im", "ir", "il", "dis", "non", "non-"].iter().any(|prefix| {
            word.strip_prefix(prefix).is_some_and(|rest| apart.iter().any(|other| other.as_str() == rest))
        })
    })
}

/// Whether the lowest level praises and the highest blames.
pub(crate) fn reversed(lowest: &str, highest: &str) -> bool {
    praise(lowest) == Some(true) && praise(highest) == Some(false)
}

/// Whether a text praises or blames, if it plainly does one of them.
fn praise(text: &str) -> Option<bool> {
    const GOOD: &str = "best completely excellent exceptional flawless flawlessly fully good great outstanding pass perfect \
    perfectly";
    const BAD: &str = "absurd awful bad dangerous fail fails false harmful incoherent incorrect misleading poor terrible \
    unreadable unusable useless worst wrong";
    let (mut good, mut bad) = (false, false);
    for word in words(text).take(MAX_WORDS) {
        if listed(NEGATIONS, &word) || word.ends_with("n't") || word.ends_with("n’t") {
            return None;
        }
        good |= listed(GOOD, &word);
        bad |= listed(BAD, &word);
    }
    (good != bad).then_some(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grade_alone_is_vague() {
        for text in [
            "Good.",
            "ok",
            "Average",
            "A very good response.",
            "The response is of poor quality",
            "Score 5",
            "4/5",
            "—",
            "Neither good nor bad.",
            "so-so",
            "Below average",
            "Excellent!",
        ] {
            assert!(vague(text), "{text}");
        }
        for text in [
            "Good: every step follows.",
            "Harsh.",
            "Poor spelling",
            "No errors",
            "Half right.",
            "Cites a source",
            "Gut",
            "可以",
            "Completely right",
        ] {
            assert!(!vague(text), "{text}");
        }
    }

    fn likeness(a: &str, b: &str) -> Option<Likeness> {
        Gist::of(a).unwrap().likeness(&Gist::of(b).unwrap())
    }

    #[test]
    fn levels_of_the_same_words_read_alike() {
        assert_eq!(likeness("The response is polite.", "Is polite"), Some(Likeness::Same));
        assert_eq!(
            likeness("Answers each question clearly", "Clearly answers each question."),
            Some(Likeness::Same)
        );
        assert_eq!(likeness("Names the sources.", "Names sources"), Some(Likeness::Same));
        let long = "Answers each question clearly and names every source used";
        assert_eq!(
            likeness(long, &format!("{long} nicely")),
            Some(Likeness::Near(vec!["nicely".to_owned()]))
        );
    }

    #[test]
    fn a_negation_a_degree_or_another_word_makes_a_difference() {
        for (a, b) in [
            ("The response is polite.", "The response is not polite."),
            ("It cites its sources", "It doesn't cite its sources"),
            ("Contains one factual error", "Contains two factual errors"),
            ("Meets all requirements of the task", "Meets some requirements of the task"),
            ("Answers the question in 3 sentences or fewer", "Answers the question in 5 sentences or fewer"),
            (
                "The wording is clear and the order is logical",
                "The wording is unclear and the order is logical",
            ),
            ("The wording is clear and the order is logical", "The wording is clear and the order is random"),
            ("Every fact is right and every claim is supported", "Every fact is right"),
        ] {
            assert_eq!(likeness(a, b), None, "{a} / {b}");
        }
        // One word of many is replaced.
        let a =
            "Explains cause, course, treatment, risk, prognosis, prevention and follow-up visits by example";
        assert!(likeness(a, &a.replace("prevention", "hygiene")).is_none());
    }

    #[test]
    fn a_scale_upside_down_is_suspected() {
        assert!(reversed("Excellent in every way", "Terrible"));
        assert!(reversed("pass", "fail"));
        for (low, high) in [("fail", "pass"), ("Not good", "Bad"), ("Harsh", "Warm"), ("Good", "Not bad")] {
            assert!(!reversed(low, high), "{low} / {high}");
        }
    }

    #[test]
    fn the_lists_have_no_word_twice() {
        for list in [GRADES, FILLERS, NEGATIONS, DEGREES] {
            let words: BTreeSet<&str> = list.split(' ').collect();
            assert_eq!(words.len(), list.split(' ').count(), "{list}");
        }
    }
}
