//! What holds for every constraint and every response.
#![expect(clippy::expect_used, reason = "a test fails by it")]

use proptest::prelude::*;
use retort_checklist::{
    Case, Constraint, Limit, MAX_EVIDENCE, Place, Response, Unit, Verdict, Which, languages, verify,
};
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// One or more of every kind.
fn all_constraints() -> Vec<Constraint> {
    let json = r####"[
        {"kind": "phrase", "text": "a"}, {"kind": "phrase", "text": "é", "inside_words": true, "limit": {"at_most": 2}},
        {"kind": "phrase", "text": "ab", "case_sensitive": true}, {"kind": "phrase", "text": "aaaa", "inside_words": true},
        {"kind": "starts", "text": "a"}, {"kind": "starts", "text": "é", "inside_words": true},
        {"kind": "ends", "text": "a"}, {"kind": "ends", "text": ".", "case_sensitive": true},
        {"kind": "json"}, {"kind": "json", "place": "somewhere"}, {"kind": "json", "keys": ["a"]},
        {"kind": "json", "schema": {"type": "object", "properties": {"a": {"type": "string", "minLength": 2}}}},
        {"kind": "csv"}, {"kind": "csv", "place": "somewhere", "header": ["a", "b"]}, {"kind": "csv", "separator": ";"},
        {"kind": "table"}, {"kind": "table", "columns": {"exactly": 2}, "header": ["a", "b"]},
        {"kind": "code", "language": "python"}, {"kind": "code", "language": "html"}, {"kind": "code", "language": "json"},
        {"kind": "code", "language": "javascript", "place": "whole"}, {"kind": "code", "language": "toml", "place": "whole"},
        {"kind": "code", "language": "rust"}, {"kind": "code", "language": "css", "place": "whole"},
        {"kind": "code", "language": "xml", "place": "whole"}, {"kind": "code", "language": "lua", "place": "whole"},
        {"kind": "heading", "level": 1}, {"kind": "heading", "text": "a"},
        {"kind": "sections", "titles": ["a", "é"]}, {"kind": "sections", "titles": ["a", "b"], "ordered": true},
        {"kind": "numbered_sections", "marker": "a", "limit": {"at_least": 1}},
        {"kind": "divided", "by": "***", "parts": {"exactly": 2}},
        {"kind": "only", "what": "bullet"}, {"kind": "only", "what": "table"}, {"kind": "only", "what": "code_block"},
        {"kind": "quoted"}, {"kind": "postscript"}, {"kind": "repeats", "text": "a"},
        {"kind": "choice", "options": ["a", "b"]}, {"kind": "choice", "options": ["a", "ab"], "place": "somewhere"},
        {"kind": "choice", "options": ["a", "é"], "place": "start"}
    ]"####;
    let mut all: Vec<Constraint> = serde_json::from_str(json).expect("sound");
    all.extend(Unit::ALL.map(|what| Constraint::Count { what, limit: Limit::AtMost(1) }));
    all.extend([Case::Lower, Case::Upper, Case::Title].map(|case| Constraint::Case { case }));
    all.extend(["fr", "ja", "ru"].map(|code| Constraint::Language { code: code.to_owned() }));
    for unit in Unit::ALL.into_iter().filter(|unit| unit.is_part()) {
        for which in [Which::Each, Which::First, Which::Last, Which::Nth(2)] {
            let constraint = Box::new(Constraint::Count { what: Unit::Character, limit: Limit::AtMost(4) });
            all.push(Constraint::Within { which, unit, constraint });
        }
    }
    let pair = || vec![Constraint::required("a"), Constraint::Quoted {}];
    all.push(Constraint::All { of: pair() });
    all.push(Constraint::Any { of: pair() });
    all.push(Constraint::Not {
        constraint: Box::new(Constraint::Json { place: Place::Whole, keys: vec![], schema: None }),
    });
    all.push(Constraint::If {
        condition: Box::new(Constraint::required("a")),
        then: Box::new(Constraint::Quoted {}),
    });
    all
}

/// Pieces that mean something to one verifier or another, between any characters.
fn responses() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => prop::sample::select(vec![
            "a", "b", " ", "\n", "\r\n", "\n\n", "é", "e\u{301}", "- ", "1. ", "# ", "```\n", "```json\n", "|", "|---|---|\n",
            "***", "**", "_", "`", "$", "\\[", "\\]", "\\begin{x}", "\\end{x}", "{", "}", "[", "]", "<", ">", "<a>", "</a>",
            "\"", "“", "”", "'", "’", ".", "!", "?", ",", "P.S. ", "Dr. ", "U.S. ", "https://x.y", "猫", "か\u{3099}", "😀",
            "\u{200d}", "\u{fe0f}", "\u{feff}", "\u{1100}\u{1161}\u{11a8}", "각", "Å", "\u{212b}", "\u{1fef}", "\u{37e}", "≠",
            "\u{2028}", "\u{85}", "\u{ad}", "İ", "ß", "\\", ":", "//", "/*", "*/", "\"\"\"", "{\"a\": 1}", "a,b\n", "> ", "~~~\n",
            "\u{344}", "\u{f73}", "q\u{307}\u{323}", "---\n", "=", "\t", "0",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Found by the property below: a block that nobody closed took the white space for code.
#[test]
fn white_space_behind_an_open_code_block_is_no_code() {
    let toml = Constraint::Code { language: "toml".into(), place: Place::Whole };
    for end in ["", " ", "\n\u{a0}", "\u{3000}"] {
        assert_eq!(verify(&toml, &format!("```\n# a comment{end}")).verdict, Verdict::Met, "{end:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn evidence_is_sliceable_and_nothing_panics(response in responses()) {
        let prepared = Response::new(&response);
        for constraint in all_constraints() {
            let finding = prepared.verify(&constraint);
            prop_assert!(!finding.sentence.is_empty());
            prop_assert!(finding.evidence.len() <= MAX_EVIDENCE);
            for span in &finding.evidence {
                prop_assert!(response.get(span.clone()).is_some(), "{:?} of {:?}", span, constraint);
            }
        }
    }

    #[test]
    fn white_space_at_the_end_changes_nothing(response in responses(), space in "[ \t\n\r\u{a0}\u{3000}]{1,6}") {
        let more = format!("{response}{space}");
        for constraint in all_constraints() {
            let (with, without) = (verify(&constraint, &more), verify(&constraint, &response));
            prop_assert_eq!((with.verdict, with.count), (without.verdict, without.count), "{:?} on {:?}", constraint, more);
        }
    }

    #[test]
    fn the_normalisation_form_changes_nothing(response in responses()) {
        let composed: String = response.nfc().collect();
        let decomposed: String = response.nfd().collect();
        for constraint in all_constraints() {
            let found = verify(&constraint, &response);
            for form in [&composed, &decomposed] {
                let other = verify(&constraint, form);
                prop_assert_eq!((found.verdict, found.count), (other.verdict, other.count), "{:?} on {:?}", constraint, form);
                prop_assert_eq!(&found.sentence, &other.sentence);
            }
        }
    }

    #[test]
    fn words_and_characters_are_counted_as_unicode_says(response in responses()) {
        let normal: String = response.nfc().collect();
        let count = |what| verify(&Constraint::Count { what, limit: Limit::AtLeast(0) }, &response).count;
        let trimmed = normal.trim_start_matches('\u{feff}').trim();
        if !normal.trim_start().starts_with("\u{feff}\u{feff}") && !normal.starts_with(char::is_whitespace) {
            let graphemes = if normal.starts_with("\u{feff}\u{feff}") { None } else { Some(trimmed.graphemes(true).count() as u64) };
            if let Some(graphemes) = graphemes {
                prop_assert_eq!(count(Unit::Character), Some(graphemes));
            }
        }
        prop_assert_eq!(count(Unit::Word), Some(normal.unicode_words().count() as u64));
    }

    #[test]
    fn the_canonical_form_means_the_same(response in responses(), most in 0_u64..4) {
        let phrase = Constraint::Phrase {
            text: "a".to_owned(), limit: Limit::Between(0, most), inside_words: false, case_sensitive: false,
        };
        for inner in [phrase.clone(), Constraint::Not { constraint: Box::new(phrase) }] {
            let constraint = Constraint::Not { constraint: Box::new(Constraint::All { of: vec![inner] }) };
            prop_assert_eq!(
                verify(&constraint, &response).verdict,
                verify(&constraint.clone().canonical(), &response).verdict
            );
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_a_way_out() {
    let refused = |json: &str| {
        let constraint: Constraint = serde_json::from_str(json).expect("it is data");
        assert_eq!(verify(&constraint, "text").verdict, Verdict::NotApplicable);
        constraint.check().expect_err("it makes no sense").to_string()
    };
    assert_eq!(
        refused(
            r#"{"kind": "all", "of": [{"kind": "quoted"}, {"kind": "count", "what": "word", "limit": {"between": [5, 3]}}]}"#
        ),
        "of[1].limit: a range from 5 to 3 holds nothing; write the smaller number first"
    );
    assert_eq!(
        refused(r#"{"kind": "json", "schema": {"properties": {"a": {"pattern": "^b"}}}}"#),
        "schema.properties.a.pattern: this keyword of JSON Schema is not supported; use the supported keywords only, \
         and use them as JSON Schema defines them"
    );
    assert_eq!(
        refused(r#"{"kind": "language", "code": "xx"}"#),
        "code: the language \"xx\" is not known; use one of the ISO 639-1 codes that languages() lists"
    );
    // Unknown fields and kinds are no data at all.
    for json in [
        r#"{"kind": "quoted", "by": 3}"#,
        r#"{"kind": "rhyme"}"#,
        r#"{"kind": "count", "what": "word"}"#,
        r#"{"kind": "quoted", "text": "x"}"#,
    ] {
        assert!(serde_json::from_str::<Constraint>(json).is_err(), "{json}");
    }
}

#[test]
fn constraints_too_deep_are_refused() {
    let mut constraint = Constraint::Quoted {};
    for _ in 0..retort_checklist::MAX_DEPTH {
        constraint = Constraint::Not { constraint: Box::new(constraint) };
    }
    assert!(constraint.check().is_err());
    if let Constraint::Not { constraint } = constraint {
        assert_eq!(constraint.check(), Ok(()));
    }
}

#[test]
fn every_language_can_be_asked_for() {
    for (code, name) in languages() {
        assert_eq!(Constraint::Language { code: code.to_owned() }.check(), Ok(()), "{name}");
    }
}

#[test]
fn evidence_points_at_what_was_found() {
    let passages = |json: &str, response: &str| {
        let constraint: Constraint = serde_json::from_str(json).expect("it is data");
        let finding = verify(&constraint, response);
        finding.passages(response).map(str::to_owned).collect::<Vec<_>>()
    };
    let most = r#"{"kind": "count", "what": "word", "limit": {"at_most": 2}}"#;
    assert_eq!(passages(most, "One two three four. "), ["three four."]);
    // In the response's own bytes, which are not those of the normalised text.
    let word = r#"{"kind": "phrase", "text": "noir"}"#;
    assert_eq!(passages(word, "cafe\u{301} noir, cafe\u{301} Noir"), ["noir", "Noir"]);
    let bullets = r#"{"kind": "count", "what": "bullet", "limit": {"exactly": 2}}"#;
    assert_eq!(passages(bullets, "x\n- a\n- b\n"), ["- a", "- b"]);
    let each = r#"{"kind": "within", "which": "each", "unit": "bullet", "constraint": {"kind": "phrase", "text": "no", "limit": {"at_most": 0}}}"#;
    assert_eq!(passages(each, "- yes\n- no, no\n"), ["no", "no"]);
    assert_eq!(passages(r#"{"kind": "json"}"#, "{\"a\": 1,}"), ["}"]);
}
