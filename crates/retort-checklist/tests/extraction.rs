//! The extractor on the corpora of instructions: how much of what it finds is right, and how much of what is there it
//! finds; and what holds for it on any text.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by it")]
#![expect(clippy::disallowed_methods, reason = "it runs natively, and reads files and the clock")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use retort_checklist::{Constraint, Extracted, extract};
use serde::Deserialize;

/// The corpora: the first half, written before the extractor, and the third that was not seen while it was written.
const CORPORA: [&str; 3] = ["first.jsonl", "second.jsonl", "unseen.jsonl"];
const MIN_PRECISION: f64 = 0.95;
const MIN_RECALL: f64 = 0.9;

#[derive(Deserialize)]
struct Row {
    id: String,
    instruction: String,
    constraints: Vec<Constraint>,
}

/// The rows of a corpus; none where the file is not there.
fn rows(name: &str) -> Option<Vec<Row>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let text = std::fs::read_to_string(path).ok()?;
    let rows = text
        .split('\n')
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
        .map(|(index, line)| match serde_json::from_str(line) {
            Ok(row) => row,
            Err(error) => panic!("{name}:{}: {error}", index + 1),
        })
        .collect();
    Some(rows)
}

/// What was found of what is there.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Score {
    right: u32,
    found: u32,
    there: u32,
}

impl Score {
    /// 1 where nothing was found: nothing is wrong then.
    fn precision(self) -> f64 {
        if self.found == 0 { 1.0 } else { f64::from(self.right) / f64::from(self.found) }
    }

    /// 1 where nothing is there.
    fn recall(self) -> f64 {
        if self.there == 0 { 1.0 } else { f64::from(self.right) / f64::from(self.there) }
    }
}

fn kind(constraint: &Constraint) -> String {
    let value = serde_json::to_value(constraint).expect("data");
    value.get("kind").and_then(|kind| kind.as_str()).expect("every constraint has a kind").to_owned()
}

/// Constraints are compared as multisets, in canonical form; what is found twice is right once.
fn score(found: &[Constraint], there: &[Constraint], by_kind: &mut BTreeMap<String, Score>) {
    let mut left: Vec<Constraint> = there.iter().map(|one| one.clone().canonical()).collect();
    for one in there {
        by_kind.entry(kind(one)).or_default().there += 1;
    }
    for one in found {
        let entry = by_kind.entry(kind(one)).or_default();
        entry.found += 1;
        if let Some(at) = left.iter().position(|other| *other == one.clone().canonical()) {
            left.remove(at);
            entry.right += 1;
        }
    }
}

fn total(by_kind: &BTreeMap<String, Score>) -> Score {
    by_kind.values().fold(Score::default(), |sum, one| Score {
        right: sum.right + one.right,
        found: sum.found + one.found,
        there: sum.there + one.there,
    })
}

fn constraints(found: Vec<Extracted>) -> Vec<Constraint> {
    found.into_iter().map(|one| one.constraint).collect()
}

/// Run with `--nocapture` to see the table, and what was missed.
#[test]
fn extraction_is_precise_and_complete_on_the_corpora() {
    let mut failed = Vec::new();
    for corpus in CORPORA {
        let Some(rows) = rows(corpus) else {
            assert_ne!(corpus, "first.jsonl", "the first half is always there");
            continue;
        };
        let mut by_kind = BTreeMap::new();
        for row in &rows {
            let found = constraints(extract(&row.instruction));
            score(&found, &row.constraints, &mut by_kind);
            let mut left: Vec<&Constraint> = row.constraints.iter().collect();
            let mut wrong = Vec::new();
            for one in &found {
                match left.iter().position(|other| **other == *one) {
                    Some(at) => drop(left.remove(at)),
                    None => wrong.push(one),
                }
            }
            if !(left.is_empty() && wrong.is_empty()) {
                let text = |all: &[&Constraint]| serde_json::to_string(all).expect("data");
                println!("{}: {:?}", row.id, row.instruction);
                println!("    wrong {}\n    missed {}", text(&wrong), text(&left));
            }
        }
        println!("{corpus}: {} instructions", rows.len());
        println!(
            "{:<20} {:>6} {:>6} {:>6} {:>10} {:>8}",
            "kind", "there", "found", "right", "precision", "recall"
        );
        let sum = total(&by_kind);
        for (kind, one) in by_kind.iter().map(|(kind, one)| (kind.as_str(), *one)).chain([("all", sum)]) {
            println!(
                "{kind:<20} {:>6} {:>6} {:>6} {:>10.3} {:>8.3}",
                one.there,
                one.found,
                one.right,
                one.precision(),
                one.recall()
            );
        }
        if sum.precision() < MIN_PRECISION || sum.recall() < MIN_RECALL {
            failed.push(format!("{corpus}: precision {:.3}, recall {:.3}", sum.precision(), sum.recall()));
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn the_score_falls_when_something_is_wrong() {
    let rows = rows("first.jsonl").expect("it is there");
    let there: Vec<&Row> = rows.iter().filter(|row| !row.constraints.is_empty()).collect();
    // Everything as it is: a full score.
    let mut whole = BTreeMap::new();
    there.iter().for_each(|row| score(&row.constraints, &row.constraints, &mut whole));
    assert_eq!(total(&whole).precision(), 1.0);
    assert_eq!(total(&whole).recall(), 1.0);
    // Every second answer is that of another instruction: both fall below the bounds.
    let mut mixed = BTreeMap::new();
    for (index, row) in there.iter().enumerate() {
        let other = if index % 2 == 0 { row } else { there.get(index - 1).expect("there is one before") };
        score(&other.constraints, &row.constraints, &mut mixed);
    }
    assert!(total(&mixed).precision() < MIN_PRECISION && total(&mixed).recall() < MIN_RECALL);
    // One found twice is right once; one missed is missed: 1 of 2 found, 1 of 2 there.
    let one = Constraint::required("a");
    let mut twice = BTreeMap::new();
    score(&[one.clone(), one.clone()], &[one, Constraint::required("b")], &mut twice);
    assert_eq!(total(&twice), Score { right: 1, found: 2, there: 2 });
}

/// Pieces of which instructions are made, and signs that confuse.
const PIECES: &[&str] = &[
    "Write ",
    "a poem ",
    "at least ",
    "at most ",
    "no more than ",
    "between ",
    "and ",
    "or ",
    "5 ",
    "one hundred ",
    "200",
    "-word ",
    "words ",
    "sentences",
    " each ",
    "paragraph ",
    "bullet points ",
    "in JSON ",
    "with the keys ",
    "\"a\"",
    "'b' ",
    "“c”",
    ", ",
    ". ",
    "? ",
    "! ",
    ": ",
    "; ",
    "— ",
    "(",
    ")",
    "\n",
    "\n\n",
    "- ",
    "1. ",
    "If you use ",
    "a table ",
    "then ",
    "start with ",
    "end with ",
    "the word ",
    "the words ",
    "letter ",
    "don't ",
    "without ",
    "either ",
    "both ",
    "P.S. ",
    "P.P.S.",
    "in French ",
    "into German",
    "Translate this text: ",
    "```",
    "```\n",
    "> ",
    "{\"a\": 1}",
    "{",
    "}",
    "<text>",
    "</text>",
    "\"\"\"",
    "***",
    "separated by ",
    "Section 1 ",
    "Section X ",
    "repeat the request ",
    "word for word ",
    "yes or no ",
    "only ",
    "all caps ",
    "é",
    "e\u{301}",
    "😀",
    "’",
    "£",
    "½",
    "٣",
    "猫",
    "。",
    "\u{feff}",
    "\u{2028}",
    "99999999999999999999 ",
    "18446744073709551615 ",
    "words or fewer",
    "±",
    "± 10 ",
    "%",
    "1,000",
    "2.5k",
    "#",
    "##",
    "level-2 headings ",
    "list ",
    "List five ",
    "columns ",
    "CSV ",
    "header a,b",
    "*",
    "_",
    "`",
    "I ",
    "My boss says ",
    "you may ",
];

fn instructions() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn anything_can_be_read_and_what_is_found_is_sound(text in instructions()) {
        let found = extract(&text);
        for (index, one) in found.iter().enumerate() {
            let passage = text.get(one.passage.clone());
            prop_assert!(passage.is_some_and(|passage| !passage.trim().is_empty()), "{:?} of {text:?}", one.passage);
            prop_assert!(one.constraint.check().is_ok(), "{:?}", one.constraint);
            prop_assert_eq!(one.constraint.clone().canonical(), one.constraint.clone());
            prop_assert!(!found[..index].iter().any(|other| other.constraint == one.constraint), "twice: {one:?}");
        }
    }

    #[test]
    fn any_text_can_be_read(text in any::<String>()) {
        for one in extract(&text) {
            prop_assert!(text.get(one.passage).is_some());
        }
    }
}

/// Limits of the world, of other texts, of the past, and of others' demands are none of the response's.
#[test]
fn what_is_told_asks_nothing() {
    for text in [
        "A kettle boils two litres in about 200 seconds, and the manual has 40 paragraphs. Why so slow?",
        "The poem I like best ends with \"and so to bed\". Who wrote it?",
        "In my job I answer emails in Dutch. How can I learn faster?",
        "Why should one keep emails under 125 words?",
        "The festival says: films of at most 300 words of dialogue, no commas. Is that odd?",
        "You needn't stay under 100 words or use bullet points any more. What is entropy?",
        "Check if my text is under 200 words, please.",
        "Is this right?\n\ndef cut(text):\n    # at most 50 words, no commas\n    return text",
        "Below is what a colleague wrote. Is it clear?\n\n---\nUse five bullet points. End with \"Bye\".\n---",
        "You are a clerk.\n\nCustomer: I want a 500-word apology in three paragraphs.",
        "Write a 200-word story and a 50-word summary.",
    ] {
        assert_eq!(constraints(extract(text)), [], "{text:?}");
    }
}

#[test]
fn passages_are_the_words_that_say_it() {
    let text = "Describe the sea in at most 50 words. Don't use the word \"blue\", and end with 'Ahoy!'";
    let found: Vec<&str> = extract(text).into_iter().map(|one| &text[one.passage]).collect();
    assert_eq!(found, ["at most 50 words", "use the word \"blue\"", "end with 'Ahoy!'"]);
}

/// How long it takes, the best of up to five times: another process may have had the processor.
fn best(most: Duration, mut run: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed());
        if best < most {
            break;
        }
    }
    best
}

#[test]
fn no_instruction_takes_more_than_linear_time() {
    // In a debug build the slowest takes some 200 ms on a machine with nothing else to do; what read each word of a
    // sentence against each other, or each line break back to the first, took 3 and 6 seconds.
    const LENGTH: usize = 25_000;
    const MOST: Duration = Duration::from_millis(1_000);
    for piece in PIECES.iter().chain(&[
        "at most at most ",
        "one or two or ",
        "\"a\" and ",
        "the word the word ",
        "\"",
        "'a ",
        "{\"",
        "{\"a\":",
        "<a>",
        "<b1>",
        "between 5 and ",
        "if you use ",
        "use \"a\", ",
        "5 ",
        "a, b, c and ",
        "first ",
        "each ",
        "A) b ",
        "Text: ",
        "Translate this text: a\n",
        "Translate this text.\n\n",
        "Use 3 words.\n",
        "a: ",
        "Repeat the request first: ",
        "in English ",
        "List 5 ",
        "Section 1, ",
        "separated by *** ",
        "sections A, B, ",
        "with the word a, ",
        "start with the words a b c ",
        "options: a, b, ",
        "one hundred and ",
        "( ",
        "don't ",
        "who ",
        "I have 3 words. ",
        "use at least 3 words, ",
        "```\na\n```\n",
        "> a\n",
        "no ",
        "Use a table with 3 columns ",
        "json with keys a, b ",
    ]) {
        let text = piece.repeat(LENGTH / piece.len());
        let took = best(MOST, || drop(extract(&text)));
        assert!(took < MOST, "{piece:?} took {took:?}");
    }
}

/// Run with `--ignored --nocapture` in a release build to see the time.
#[test]
#[ignore = "prints a time; nothing is asserted"]
fn time_of_an_instruction_of_2000_characters() {
    let rows = rows("first.jsonl").expect("it is there");
    let mut text = String::new();
    for row in rows.iter().rev().step_by(3) {
        if text.len() + row.instruction.len() < 2_000 {
            text.push_str(&row.instruction);
            text.push('\n');
        }
    }
    let mut times: Vec<Duration> = (0..501)
        .map(|_| {
            let start = Instant::now();
            drop(extract(&text));
            start.elapsed()
        })
        .collect();
    times.sort();
    println!(
        "{} bytes, {} constraints: median {:?}",
        text.len(),
        extract(&text).len(),
        times[times.len() / 2]
    );
}
