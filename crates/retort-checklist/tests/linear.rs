//! No response takes more than linear time: what is hostile to one verifier is given to all of them.
#![expect(clippy::expect_used, reason = "a test fails by it")]
#![expect(clippy::disallowed_methods, reason = "it runs natively, and reads the clock")]
#![expect(clippy::print_stdout, reason = "figures for whoever measures")]

use std::time::{Duration, Instant};

use retort_checklist::{Constraint, Limit, Response, Unit, Wanted, Which, generate};

fn constraints() -> Vec<Constraint> {
    let json = r####"[
        {"kind": "phrase", "text": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"},
        {"kind": "phrase", "text": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
        {"kind": "starts", "text": "x"}, {"kind": "ends", "text": "x"}, {"kind": "json"}, {"kind": "json", "place": "somewhere"},
        {"kind": "json", "keys": ["a"]}, {"kind": "csv"}, {"kind": "table", "header": ["a"]},
        {"kind": "code", "language": "python", "place": "whole"}, {"kind": "code", "language": "javascript", "place": "whole"},
        {"kind": "code", "language": "rust", "place": "whole"}, {"kind": "code", "language": "html", "place": "whole"},
        {"kind": "code", "language": "xml", "place": "whole"}, {"kind": "code", "language": "toml", "place": "whole"},
        {"kind": "code", "language": "lua", "place": "whole"}, {"kind": "code", "language": "kotlin"},
        {"kind": "heading", "text": "a"}, {"kind": "sections", "titles": ["a", "b"]},
        {"kind": "numbered_sections", "marker": "a", "limit": {"at_least": 1}},
        {"kind": "divided", "by": "***", "parts": {"exactly": 2}}, {"kind": "only", "what": "bullet"},
        {"kind": "case", "case": "title"}, {"kind": "case", "case": "lower"}, {"kind": "language", "code": "fr"},
        {"kind": "quoted"}, {"kind": "postscript"}, {"kind": "repeats", "text": "a"},
        {"kind": "choice", "options": ["a", "aa", "aaa"], "place": "somewhere"}
    ]"####;
    let mut all: Vec<Constraint> = serde_json::from_str(json).expect("sound");
    all.extend(Unit::ALL.map(|what| Constraint::Count { what, limit: Limit::AtMost(1) }));
    for unit in Unit::ALL.into_iter().filter(|unit| unit.is_part()) {
        let constraint = Box::new(Constraint::Count { what: Unit::Word, limit: Limit::AtMost(4) });
        all.push(Constraint::Within { which: Which::Each, unit, constraint });
    }
    all
}

/// Built to make a reader that looks back, or ahead, do so at every character.
const HOSTILE: &[&str] = &[
    "a",
    "aaaa ",
    "[",
    "{",
    "(",
    "<",
    "\"",
    "'",
    "`",
    "``` ",
    "`a``b",
    "*",
    "*a **b ",
    "_a",
    "$a",
    "\\[",
    "\\begin{a}",
    "\\begin{a",
    "<a",
    "<a>",
    "</a>",
    "<!--",
    "<a '",
    "- ",
    "- a\n",
    " - a\n",
    "1. a\n",
    "|",
    "|a|b|\n|-|-|\n",
    "# ",
    "#\n",
    "```\n",
    "> ",
    "J. ",
    "U.S. ",
    "Dr. ",
    "! ",
    "!) a ",
    "a.",
    ". ",
    "?!",
    "http://",
    "www.",
    "e\u{301}",
    "\u{301}",
    "\u{1100}",
    "\u{200d}",
    "\u{fe0f}",
    "😀",
    "\u{200d}😀",
    "🇫",
    "が",
    "。",
    "\n",
    "\r",
    " ",
    "\t",
    "\u{feff}",
    "a,",
    "\"a\",",
    "a.a",
    "[a.",
    "[[a.",
    "a={",
    "a.a={",
    "/*",
    "//",
    "\"\"\"",
    "/[",
    "return/",
    "\\",
    "1,",
    "1.",
    "P.",
    "***",
    "***\n",
    "=\n",
    "a\n-\n",
    "{\"a\":",
    "[{\"a\":1},",
    "The lazy dog sleeps. ",
];

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
fn no_response_takes_more_than_linear_time() {
    // In a debug build on a busy machine the slowest takes some 200 ms; one that was made to compare every run of
    // backticks with every later one took 900 ms, and most of what is quadratic takes minutes.
    const LENGTH: usize = 100_000;
    const MOST: Duration = Duration::from_millis(500);
    let constraints = constraints();
    for piece in HOSTILE {
        let text = piece.repeat(LENGTH / piece.len());
        let prepared = best(MOST, || drop(Response::new(&text)));
        assert!(prepared < MOST, "{piece:?} prepared in {prepared:?}");
        let response = Response::new(&text);
        for constraint in &constraints {
            let took = best(MOST, || drop(response.verify(constraint)));
            assert!(took < MOST, "{piece:?}: {constraint:?} took {took:?}");
        }
    }
}

/// Run with `--ignored --nocapture` in a release build to see the times.
#[test]
#[ignore = "prints times; nothing is asserted"]
fn times() {
    let text =
        "The quick brown fox — aged 3 — jumps over the lazy dog. It doesn't care.\n\n- one, two\n- three\n\n"
            .repeat(1_000);
    let start = Instant::now();
    let response = Response::new(&text);
    println!("{} bytes; prepared in {:?}", text.len(), start.elapsed());
    for constraint in constraints() {
        let took = best(Duration::ZERO, || drop(response.verify(&constraint)));
        println!("{took:>12?}  {}", serde_json::to_string(&constraint).expect("data"));
    }
}

const INSTRUCTIONS: &[&str] = &[
    "a ",
    "and ",
    "explain ",
    "explain a, ",
    "explain a and ",
    "explain how to cook and bake a and ",
    "to list a and list a, ",
    "if a, ",
    "if ",
    "what is a, and why ",
    "what ",
    "? ",
    "- a\n",
    "1. explain a\n",
    "\"a\" ",
    "\"a ",
    "I need ",
    "the essay should ",
    "the ",
    "you ",
    "in a, ",
    ": ",
    "otherwise ",
    "; ",
    "Paris ",
    "It is a. ",
    "A is b, and C is d. ",
    "The answer is a. ",
    "\\boxed{",
    "#### 7\n",
    ", and ",
    "(",
    "must ",
    "A: ",
    "don't ",
    "“",
    "> a\n",
    "```\n",
];

#[test]
fn checklists_take_linear_time() {
    for piece in INSTRUCTIONS {
        let time = |length: usize| {
            let text = piece.repeat(length / piece.len());
            let wanted =
                Wanted { reference: Some(&text), skills: &retort_rubric::Skill::ALL, ..Wanted::of(&text) };
            let start = Instant::now();
            let _ = generate(&wanted);
            start.elapsed()
        };
        // Four times the text: about four times the time, where quadratic is sixteen times; short times are noise. The best of up to
        // ten times each: another process may have had the processor, during one of the two as well as during the other.
        let (mut short, mut long) = (Duration::MAX, Duration::MAX);
        let linear = (0..10).any(|_| {
            (short, long) = (short.min(time(4_000)), long.min(time(16_000)));
            long < short * 9 + Duration::from_millis(40)
        });
        assert!(linear, "{piece:?}: {short:?}, then {long:?}");
    }
}

#[test]
fn a_checklist_of_2000_characters_is_made_in_milliseconds() {
    let sentence = "Explain how the Treaty of Rome changed trade, compare it with the plan of 1950 and say what I should read. \
        If you name a book, give its year; use at most 200 words and do not mention \"customs\". ";
    let text = sentence.repeat(2_000 / sentence.len() + 1);
    let wanted = Wanted { reference: Some(&text), skills: &retort_rubric::Skill::ALL, ..Wanted::of(&text) };
    let best = |work: &dyn Fn() -> usize| {
        let mut times: Vec<Duration> = (0..20)
            .map(|_| {
                let start = Instant::now();
                assert!(work() > 0);
                start.elapsed()
            })
            .collect();
        times.sort();
        times.first().copied().unwrap_or_default()
    };
    let extracting = best(&|| 1 + retort_checklist::extract(&text).len());
    let best = best(&|| generate(&wanted).items.len());
    println!("{best:?} for {} characters, of which {extracting:?} for constraints", text.len());
    // 5 ms is what is promised of an optimised build; this one may be neither optimised nor alone.
    assert!(best < Duration::from_millis(50), "{best:?}");
}
