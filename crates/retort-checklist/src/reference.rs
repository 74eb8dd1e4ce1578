//! What a reference answer says, claim by claim.

use std::collections::HashSet;
use std::ops::Range;

use crate::constraint::Unit;
use crate::instruction::{Instruction, is_in};
use crate::outline::Kind;
use crate::question::{quoted, quoted_up_to};
use crate::requests::advice;
use crate::segment::Segmented;
use crate::text::trimmed;

/// The most points that are kept of one reference.
pub(crate) const MAX_POINTS: usize = 20;
/// Up to how many words a reference is an answer rather than a text.
const SHORT_WORDS: usize = 6;
/// The most characters of a claim that a question repeats.
const CLAIM_CHARACTERS: usize = 300;

/// One claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) question: String,
    /// The passage of the reference.
    pub(crate) range: Range<usize>,
    /// Whether it is the final answer itself.
    pub(crate) is_answer: bool,
}

const PRONOUNS: &str =
    "it he she they this that these those we i you its their his her our such here there one both";

/// Words that begin a sentence in the middle of a text with a capital that is not theirs.
const COMMON: &str = "the a an in on at by for from to of with within under over about as if when while where because since although \
    though after before during between some many most all each every both several few no other another more less much \
    two three four five six seven eight nine ten one people there using according due despite instead among through \
    what who how why which whether and but or so not only its their his her our your my any once until unless these";

/// Words that show that a stretch is a clause.
const FINITE: &str = "is are was were has have had can could will would should must may might does do did became becomes makes made \
    gives gave takes took causes caused means meant began begins led leads contains contained needs helps allows lets \
    uses used provides occurs happens remains serves shows showed says said became won lost wrote founded died lived \
    came comes went goes lies stands consists depends increases decreases rises falls fell grew grows keeps kept runs";

/// What is said to the person who asked rather than about the matter.
const FILLER: &[&str] = &[
    "sure",
    "of course",
    "certainly",
    "absolutely",
    "great question",
    "good question",
    "hello",
    "hi ",
    "hey",
    "dear ",
    "thank",
    "thanks",
    "you're welcome",
    "i hope",
    "hope this",
    "hope that",
    "let me know",
    "feel free",
    "please let",
    "here is",
    "here are",
    "here's",
    "below is",
    "below are",
    "the following",
    "as an ai",
    "i'm sorry",
    "i am sorry",
    "sorry",
    "best regards",
    "kind regards",
    "sincerely",
    "yours",
    "good luck",
    "happy to",
    "i'd be happy",
    "let's",
];

/// What joins a sentence to the one before and says nothing itself.
const CONNECTIVES: &[&str] = &[
    "however",
    "therefore",
    "thus",
    "hence",
    "moreover",
    "furthermore",
    "additionally",
    "in addition",
    "also",
    "finally",
    "first",
    "firstly",
    "second",
    "secondly",
    "third",
    "thirdly",
    "lastly",
    "then",
    "next",
    "so",
    "for example",
    "for instance",
    "in conclusion",
    "in summary",
    "overall",
    "to summarise",
    "to summarize",
    "in short",
    "as a result",
    "consequently",
    "on the other hand",
    "in contrast",
    "similarly",
    "likewise",
    "meanwhile",
    "of course",
    "yes",
    "no",
    "note that",
    "remember that",
    "keep in mind that",
    "it is important to note that",
    "it's important to note that",
    "importantly",
    "indeed",
    "in fact",
    "and",
    "but",
    "to begin with",
    "nevertheless",
    "nonetheless",
    "instead",
    "still",
    "rather",
];

/// What stands before a final answer.
const ANSWER_LEADS: &[&str] = &[
    "the final answer is",
    "the correct answer is",
    "the answer is",
    "the correct option is",
    "the right answer is",
    "final answer",
    "answer",
    "correct answer",
    "so the answer is",
    "therefore, the answer is",
    "thus, the answer is",
];

/// The reference's points in its order: at most [`MAX_POINTS`], those with names and numbers before others.
pub(crate) fn points(reference: &str) -> Vec<Point> {
    let whole = trimmed(reference);
    let text = reference.get(whole.clone()).unwrap_or_default();
    if text.is_empty() {
        return Vec::new();
    }
    if let Some(answer) = short_answer(text) {
        let question = format!("Does the response give the answer {}?", quoted(answer));
        return vec![Point { question, range: whole, is_answer: true }];
    }
    let segmented = Segmented::new(reference);
    let mut found: Vec<Point> = Vec::new();
    for block in segmented.blocks.iter() {
        let question = match &block.kind {
            Kind::Code { .. } => {
                "Does the response give code that does what the code of the reference answer does?"
            }
            Kind::Table(_) => "Does the response give what the table of the reference answer gives?",
            _ => continue,
        };
        found.push(Point { question: question.to_owned(), range: block.range.clone(), is_answer: false });
    }
    let items = segmented.parts(Unit::Item);
    let small: HashSet<&str> = reference
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| word.starts_with(char::is_lowercase))
        .collect();
    for sentence in segmented.find(Unit::Sentence) {
        let item = items
            .partition_point(|item| item.start <= sentence.start)
            .checked_sub(1)
            .and_then(|at| items.get(at));
        let is_item = item.is_some_and(|item| sentence.end <= item.end);
        claims(reference, sentence, is_item, &small, &mut found);
    }
    // "#### 42" and "\boxed{42}" are how data sets of mathematics mark the answer.
    if let Some(range) = marked_answer(reference) {
        let answer = reference.get(range.clone()).unwrap_or_default();
        found.retain(|point| {
            point.range.end <= range.start || point.range.start >= range.end || !point.is_answer
        });
        let question = format!("Does the response give the answer {}?", quoted(answer));
        found.push(Point { question, range, is_answer: true });
    }
    found.sort_by_key(|point| point.range.start);
    if found.len() > MAX_POINTS {
        let is_plain = |point: &Point| {
            !point.is_answer && !is_specific(reference.get(point.range.clone()).unwrap_or_default())
        };
        found.sort_by_key(|point| (!point.is_answer, is_plain(point), point.range.start));
        found.truncate(MAX_POINTS);
        found.sort_by_key(|point| point.range.start);
    }
    found
}

/// The final answer that a reference states, where it does.
pub(crate) fn final_answer(reference: &str) -> Option<&str> {
    let text = reference.get(trimmed(reference))?;
    if let Some(answer) = short_answer(text) {
        return Some(answer);
    }
    if let Some(range) = marked_answer(reference) {
        return reference.get(range);
    }
    let segmented = Segmented::new(reference);
    segmented.find(Unit::Sentence).iter().rev().find_map(|range| stated_answer(reference.get(range.clone())?))
}

/// Where a number or a capital within the text makes a claim one that can be checked.
fn is_specific(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
        || text.split_whitespace().skip(1).any(|word| word.starts_with(char::is_uppercase))
}

fn short_answer(text: &str) -> Option<&str> {
    if text.contains('\n') || text.split_whitespace().count() > SHORT_WORDS {
        return None;
    }
    if let Some(answer) = stated_answer(text) {
        return Some(answer);
    }
    let answer = text.trim_end_matches(['.', '!', ' ']);
    let is_clause = answer.split_whitespace().any(|word| is_in(&word.to_lowercase(), FINITE));
    (!is_clause && !answer.is_empty() && !answer.ends_with(['?', ':'])).then_some(answer)
}

/// "The answer is 42." gives 42.
fn stated_answer(sentence: &str) -> Option<&str> {
    let sentence = sentence.trim().trim_start_matches(['*', '_', '#', ' ']);
    let lead = ANSWER_LEADS.iter().find_map(|lead| {
        let rest = strip_prefix(sentence, lead)?;
        let rest = rest.strip_prefix("**").unwrap_or(rest);
        let is_open = lead.ends_with(" is") && rest.starts_with([' ', ':']) || rest.starts_with(':');
        is_open.then_some(rest)
    })?;
    let answer =
        lead.trim_start_matches([':', ' ', '*', '_', '$']).trim_end_matches(['.', '!', ' ', '*', '_', '$']);
    (!answer.is_empty() && answer.split_whitespace().count() <= 12).then_some(answer)
}

fn strip_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let start = text.get(..prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then(|| text.get(prefix.len()..))?
}

fn marked_answer(reference: &str) -> Option<Range<usize>> {
    if let Some(at) = reference.rfind("\n#### ") {
        let start = at + 6;
        let line = reference.get(start..)?.lines().next()?;
        let end = start + line.trim_end().len();
        if !line.trim().is_empty() && line.split_whitespace().count() <= SHORT_WORDS {
            return Some(start..end);
        }
    }
    let start = reference.rfind("\\boxed{")? + 7;
    let mut depth = 1_usize;
    for (at, character) in reference.get(start..)?.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then_some(start..start + at);
        }
    }
    None
}

fn claims(
    reference: &str,
    range: Range<usize>,
    is_item: bool,
    small: &HashSet<&str>,
    found: &mut Vec<Point>,
) {
    let sentence = reference.get(range.clone()).unwrap_or_default();
    let trimmed = sentence.trim();
    let lower = trimmed.to_lowercase();
    let is_filler = FILLER.iter().any(|filler| lower.starts_with(filler))
        && (lower.split_whitespace().count() <= 15 || trimmed.ends_with(':'));
    if trimmed.ends_with(['?', ':']) || is_filler || trimmed.split_whitespace().count() < 2 && !is_item {
        return;
    }
    if let Some(answer) = stated_answer(trimmed) {
        let question = format!("Does the response give the answer {}?", quoted(answer));
        found.push(Point { question, range, is_answer: true });
        return;
    }
    let mut start = range.start;
    for part in coordinated(sentence) {
        let end = start + part.len();
        let text = part.trim().trim_start_matches([',', ';', ' ']);
        let text = ["and ", "but ", "while ", "whereas "]
            .iter()
            .find_map(|word| text.strip_prefix(word))
            .unwrap_or(text);
        let from = start + part.find(text).unwrap_or(0);
        if let Some(question) = claim(text, is_item, small) {
            found.push(Point { question, range: from..from + text.trim_end().len(), is_answer: false });
        }
        start = end;
    }
}

/// The clauses of a sentence that can each stand alone.
fn coordinated(sentence: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut depth = 0_usize;
    for (at, character) in sentence.char_indices() {
        match character {
            '(' | '[' | '“' => depth += 1,
            ')' | ']' | '”' => depth = depth.saturating_sub(1),
            ';' | ',' if depth == 0 => {
                let (left, right) =
                    (sentence.get(start..at).unwrap_or_default(), sentence.get(at + 1..).unwrap_or_default());
                let right = right.trim_start();
                let joined =
                    ["and ", "but ", "while ", "whereas "].iter().find_map(|word| right.strip_prefix(word));
                let clause = match joined {
                    Some(clause) => clause,
                    None if character == ';' => right,
                    None => continue,
                };
                if stands_alone(left, 12) && stands_alone(clause, 6) {
                    parts.push(sentence.get(start..at).unwrap_or_default());
                    start = at;
                }
            }
            _ => {}
        }
    }
    parts.push(sentence.get(start..).unwrap_or_default());
    parts
}

/// Whether a stretch has a subject of its own and soon a verb.
fn stands_alone(text: &str, within: usize) -> bool {
    let words =
        || text.split_whitespace().map(|w| w.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    let Some(first) = words().next() else { return false };
    let is_dependent = is_in(
        &first,
        "if when because although though since while as unless whether by to for with in on after before",
    );
    let verb = words().take(within).position(|word| is_in(&word, FINITE));
    !is_in(&first, PRONOUNS) && !is_dependent && verb.is_some_and(|at| at > 0) && words().nth(2).is_some()
}

fn claim(text: &str, is_item: bool, small: &HashSet<&str>) -> Option<String> {
    let mut text =
        text.trim().trim_start_matches(['*', '_', ' ']).trim_end_matches(['.', '!', ' ', ',', ';', '*', '_']);
    // Of several connectives all go.
    for _ in 0..3 {
        let stripped = CONNECTIVES.iter().find_map(|word| {
            let rest = strip_prefix(text, word)?;
            let rest =
                if word.ends_with("that") { rest.strip_prefix(' ')? } else { rest.strip_prefix(", ")? };
            Some(rest.trim_start())
        });
        match stripped {
            Some(rest) => text = rest,
            None => break,
        }
    }
    let words: Vec<String> = text
        .split_whitespace()
        .map(|w| w.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .collect();
    let first = words.first()?;
    if !text.contains(char::is_alphanumeric) {
        return None;
    }
    let has_verb = words.iter().any(|word| is_in(word, FINITE))
        || words
            .iter()
            .skip(1)
            .any(|word| word.len() > 3 && word.is_ascii() && (word.ends_with("ed") || word.ends_with("es")));
    let is_english = words
        .iter()
        .any(|w| is_in(w, "the a an of to in and is are was were has have by with for from on as at it or"));
    let advice = advice(&Instruction { text, spans: Vec::new(), sentences: Vec::new() }, &(0..text.len()));
    Some(if let Some(advice) = advice {
        format!("Does the response say to {}?", shortened(&advice))
    } else if is_in(first, PRONOUNS) || text.contains(['“', '"', '\n', ':', ';']) || text.contains("**") {
        format!("Does the response make this point: {}?", quoted_up_to(text, CLAIM_CHARACTERS))
    } else if is_item && !has_verb {
        format!("Does the response mention {}?", quoted_up_to(text, CLAIM_CHARACTERS))
    } else if !is_english {
        format!("Does the response say this: {}?", quoted_up_to(text, CLAIM_CHARACTERS))
    } else {
        format!("Does the response say that {}?", shortened(&with_small_start(text, first, small)))
    })
}

fn shortened(text: &str) -> String {
    let quoted = quoted_up_to(text, CLAIM_CHARACTERS);
    quoted.trim_start_matches('“').strip_suffix('”').unwrap_or_default().to_owned()
}

/// With a small first letter where the word is no name: it is a word of grammar, or stands in small letters elsewhere.
fn with_small_start(text: &str, first: &str, small: &HashSet<&str>) -> String {
    let is_common = is_in(first, COMMON) || (text.starts_with(char::is_uppercase) && small.contains(first));
    if !is_common {
        return text.to_owned();
    }
    let mut letters = text.chars();
    let small = letters.next().map(char::to_lowercase);
    small.into_iter().flatten().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(reference: &str) -> Vec<String> {
        points(reference).into_iter().map(|point| point.question).collect()
    }

    #[test]
    fn short_references_are_answers() {
        for (reference, answer) in
            [("42", "42"), ("Paris.", "Paris"), ("The answer is 3 apples.", "3 apples"), ("Answer: B", "B")]
        {
            assert_eq!(ask(reference), [format!("Does the response give the answer “{answer}”?")]);
            assert_eq!(final_answer(reference), Some(answer));
        }
        assert_eq!(ask("  \n"), Vec::<String>::new());
    }

    #[test]
    fn claims_are_split_where_both_halves_stand_alone() {
        let reference = "Sure! The Eiffel Tower is in Paris, and Gustave Eiffel had it built. However, it was \
            disliked at first. Did you know? Its height is 330 metres; the summit can be visited.\n\n```\nx\n```\n\
            I hope this helps!";
        assert_eq!(
            ask(reference),
            [
                "Does the response say that the Eiffel Tower is in Paris?",
                "Does the response say that Gustave Eiffel had it built?",
                "Does the response make this point: “it was disliked at first”?",
                "Does the response make this point: “Its height is 330 metres; the summit can be visited”?",
                "Does the response give code that does what the code of the reference answer does?",
            ]
        );
    }

    #[test]
    fn what_does_not_stand_alone_is_quoted_whole() {
        assert_eq!(
            ask("Paris; it is famous for the Eiffel Tower and its museums."),
            [
                "Does the response make this point: “Paris; it is famous for the Eiffel Tower and its museums”?"
            ]
        );
    }

    #[test]
    fn advice_items_and_marked_answers() {
        let reference = "Preheat the oven to 180 degrees.\n- fresh basil\n- Add the flour slowly.\n\nHe eats 3 + 4 = 7.\n#### 7";
        assert_eq!(
            ask(reference),
            [
                "Does the response say to preheat the oven to 180 degrees?",
                "Does the response mention “fresh basil”?",
                "Does the response say to add the flour slowly?",
                "Does the response make this point: “He eats 3 + 4 = 7”?",
                "Does the response give the answer “7”?",
            ]
        );
        assert_eq!(final_answer("So x is \\boxed{\\frac{1}{2}}."), Some("\\frac{1}{2}"));
        assert_eq!(final_answer("We add the two. The answer is 12."), Some("12"));
        assert_eq!(final_answer("A long text that states no answer at all here."), None);
    }

    #[test]
    fn at_most_twenty_and_the_specific_ones() {
        let mut reference = String::new();
        for index in 0..30 {
            reference.push_str(&format!("The plant has roots of kind {}. ", ["many", "one"][index % 2]));
        }
        reference.push_str("The plant was described by Linnaeus in 1753.");
        let points = ask(&reference);
        assert_eq!(points.len(), MAX_POINTS);
        assert_eq!(
            points.last().map(String::as_str),
            Some("Does the response say that the plant was described by Linnaeus in 1753?")
        );
    }
}
