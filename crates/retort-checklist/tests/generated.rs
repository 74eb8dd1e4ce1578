//! What a model wrote is read as one typed value or not at all. Tests that name a pitfall begin with its number.
#![expect(clippy::disallowed_methods, reason = "it runs natively, and reads the clock")]

use std::time::{Duration, Instant};

use proptest::prelude::*;
use retort_checklist::{GeneratedError, read_json, read_label, read_score};
use serde_json::{Value, json};

fn json_code(text: &str) -> &'static str {
    match read_json(text) {
        Ok(_) => "read",
        Err(error) => error.code(),
    }
}

fn score_code(text: &str, min: f64, max: f64) -> &'static str {
    match read_score(text, min, max) {
        Ok(_) => "read",
        Err(error) => error.code(),
    }
}

fn label_code(text: &str, labels: &[&str]) -> &'static str {
    match read_label(text, labels) {
        Ok(_) => "read",
        Err(error) => error.code(),
    }
}

#[test]
fn p5_one_value_is_found_however_it_is_wrapped() {
    let right = json!({"items": [{"ask": "Is it {short}? Say \"]\" ```"}], "n": 2});
    let written = right.to_string();
    let pretty = serde_json::to_string_pretty(&right).expect("data");
    for text in [
        written.clone(),
        format!("\u{feff}\n{pretty}\n"),
        format!("```json\n{pretty}\n```"),
        format!("```\n{written}\n```"),
        format!("~~~json\n{pretty}\n~~~\n"),
        format!("```json {written}```"),
        format!(
            "Sure! Here is what you asked for:\n\n```json\n{pretty}\n```\nTell me if [anything] is {{unclear}}."
        ),
        format!("The list ({written}) it is [sic]."),
        // The model's own repetition is no second answer.
        format!("{written}\n\nAs a block:\n```json\n{pretty}\n```"),
    ] {
        assert_eq!(read_json(&text), Ok(right.clone()), "{text}");
    }
    // Values that are neither object nor array are read only when they are all there is.
    assert_eq!(read_json(" \"yes\"\n"), Ok(json!("yes")));
    assert_eq!(read_json("```json\n0.5\n```"), Ok(json!(0.5)));
    assert_eq!(json_code("It is true."), "nothing_found");
    assert_eq!(json_code("about 5"), "nothing_found");
}

#[test]
fn p5_two_values_are_no_answer_and_neither_is_a_part_of_one() {
    for (text, code) in [
        // Neither the first nor the last is taken.
        (r#"{"a": 1} {"a": 2}"#, "ambiguous"),
        ("```json\n{\"a\": 1}\n```\nor\n```json\n[1]\n```", "ambiguous"),
        (r#"See [1]: {"a": 1}"#, "ambiguous"),
        (r#"{"a": 1} {"a": 1} {"a": 2}"#, "ambiguous"),
        // Cut off: what is complete within is not the value.
        (r#"{"items": [{"a": 1}"#, "incomplete"),
        (r#"[{"a": 1}, {"a": 2"#, "incomplete"),
        (r#"Here: {"a": "x"#, "incomplete"),
        ("{", "incomplete"),
        // Broken: neither is what is sound within.
        (r#"{"items": [{"a": 1}],}"#, "malformed"),
        (r#"[{"a": 1},]"#, "malformed"),
        (r#"{"items": [{"a": 1}] // so far"#, "malformed"),
        (r#"{'items': [{"a": 1}]}"#, "malformed"),
        (r#"{items: [{"a": 1}]}"#, "malformed"),
        (r#"{"a": "]", "b": [1],}"#, "malformed"),
        (r#"{"a": "}", "b": [1],}"#, "malformed"),
        (r#"[see {"a": 1}]"#, "malformed"),
        (r#"{"a": 1,} {"a": 1}"#, "malformed"),
        ("{\"a\": \"two\nlines\"}", "malformed"),
        // One key, two values.
        (r#"{"score": 5, "score": 1}"#, "malformed"),
        (r#"{"a": [{"b": 1, "b": 1}]}"#, "malformed"),
        // What JSON cannot say, and numbers beyond all measure (P16).
        (r#"{"a": NaN}"#, "malformed"),
        (r#"{"a": 1e999}"#, "malformed"),
        ("", "nothing_found"),
        ("I would rather not.", "nothing_found"),
        ("```json\n```", "nothing_found"),
    ] {
        assert_eq!(json_code(text), code, "{text}");
    }
}

#[test]
fn p5_every_reason_says_what_and_where_and_what_to_do() {
    let says = |text: &str| read_json(text).expect_err("it cannot be read").to_string();
    assert_eq!(says("no"), "the model's text holds no JSON; ask again, or ask another model");
    assert_eq!(says("[1"), "the model's text ends within its JSON; let it write more tokens");
    assert_eq!(
        says("one\ntwo {\n\"a\": 1,\n}"),
        "the model's JSON is broken in line 4 of its text: trailing comma; ask again, or ask another model"
    );
    assert_eq!(
        says("[1] [2]"),
        "the model's text holds two answers, “[1]” and “[2]”; ask again for one alone"
    );
    assert!(says(r#"{"k": 1, "k": 2}"#).contains("the key “k” occurs twice"));
}

#[test]
fn p7_thoughts_are_passed_over_and_one_without_an_end_is_incomplete() {
    let answer = json!({"score": 2});
    for text in [
        "<think>Maybe {\"score\": 5}? Or {\"score\": </think>{\"score\": 2}",
        "<think>\n\n</think>\n\n```json\n{\"score\": 2}\n```",
        "<think>a</think><think>[1]</think> {\"score\": 2}",
        // The template opened the thought, so the model's text has only its end.
        "First {\"score\": 5}, then { \"score\": , no.\n</think>\n\n{\"score\": 2}",
        "```json\n{\"score\": 5}\n```\nhm [ \n</think>{\"score\": 2}",
    ] {
        assert_eq!(read_json(text), Ok(answer.clone()), "{text}");
        let score = text.replace("{\"score\": 2}", "Score: 2");
        let score = score.replace("```json\n", "").replace("\n```", "");
        assert_eq!(read_score(&score, 1.0, 5.0), Ok(2.0), "{score}");
    }
    // Never ended: whatever stands in it is not the answer.
    for text in ["<think>{\"score\": 5}", "<think>a</think>\n<think>\nScore: 5\n", "<think>"] {
        assert_eq!(json_code(text), "incomplete", "{text}");
        assert_eq!(score_code(text, 1.0, 5.0), "incomplete", "{text}");
        assert_eq!(label_code(text, &["Score: 5", "no"]), "incomplete", "{text}");
    }
    assert_eq!(
        read_score("<think>so 4", 1.0, 5.0).expect_err("it has no end").to_string(),
        "the model's text ends within its thinking; let it write more tokens"
    );
    // Nothing but a thought is no answer.
    assert_eq!(json_code("<think>{\"score\": 5}</think>\n"), "nothing_found");
    assert_eq!(score_code("<think>Score: 5</think>", 1.0, 5.0), "nothing_found");
    assert_eq!(label_code("<think>yes</think>", &["yes", "no"]), "nothing_found");
    // Within JSON the marks are words like any other.
    for quoted in [json!({"quote": "</think>[1]"}), json!(["<think>"]), json!("<think>")] {
        assert_eq!(read_json(&quoted.to_string()), Ok(quoted));
    }
}

#[test]
fn p6_the_ends_of_the_scale_are_not_the_score() {
    for (text, min, max, right) in [
        ("Score (0-10): 4", 0.0, 10.0, 4.0),
        ("Score (0–10): **4**", 0.0, 10.0, 4.0),
        ("Score on a scale of 1 to 5: 4", 1.0, 5.0, 4.0),
        ("Rating from 1 to 5: 1", 1.0, 5.0, 1.0),
        ("Score out of 10: 4", 0.0, 10.0, 4.0),
        ("4/5", 1.0, 5.0, 4.0),
        ("**Rating: 4 / 5**", 1.0, 5.0, 4.0),
        ("I rate it 2 of 5, so\nScore: 4 out of 5.", 1.0, 5.0, 4.0),
        ("Score: 4 (out of 10)", 0.0, 10.0, 4.0),
        ("Score: 10/10", 0.0, 10.0, 10.0),
        ("Score: 0", 0.0, 10.0, 0.0),
        // Quotation marks do not make it another kind of thing, nor 0.
        ("\"0.8\"", 0.0, 1.0, 0.8),
        ("{\"score\": \"0.8\"}", 0.0, 1.0, 0.8),
        ("score = '.8'", 0.0, 1.0, 0.8),
        ("<score>3</score>", 1.0, 5.0, 3.0),
        ("-1", -2.0, 2.0, -1.0),
        ("Score: -1.5", -2.0, 2.0, -1.5),
        (" 4.\n", 1.0, 5.0, 4.0),
        ("The final score is 3 because it is GPT-4's 2nd-best text in v7.", 1.0, 5.0, 3.0),
        // The same twice is one.
        ("4\n\nGrade: 4.0", 1.0, 5.0, 4.0),
    ] {
        assert_eq!(read_score(text, min, max), Ok(right), "{text}");
    }
}

#[test]
fn p6_what_is_not_surely_a_score_is_none_and_never_a_default() {
    for (text, code) in [
        ("", "nothing_found"),
        ("Score:", "nothing_found"),
        ("Score (1-5):", "nothing_found"),
        ("Score: five", "nothing_found"),
        ("The response has 3 paragraphs.", "nothing_found"),
        ("1. It is short.", "nothing_found"),
        ("GPT-4", "nothing_found"),
        ("Score: 4th", "nothing_found"),
        ("downgrade: 2", "nothing_found"),
        ("underscore 2", "nothing_found"),
        ("Score: 4-5", "unclear"),
        ("Score: 4/10", "unclear"),
        ("4/10", "unclear"),
        ("Score (0-10): 4", "unclear"),
        ("Score: 80%", "unclear"),
        ("Score: 4,5", "unclear"),
        ("Score: 4½", "unclear"),
        ("Score: 3.2.1", "unclear"),
        ("Score: ~4", "unclear"),
        ("Score: > 3", "unclear"),
        ("Score: 4 or 5", "ambiguous"),
        ("Score: 4, although 2 facts are wrong", "ambiguous"),
        ("Score: 4\nScore: 5", "ambiguous"),
        ("4\n5", "ambiguous"),
        // Out of range is an error, and is not moved to the scale's end.
        ("Score: 6", "out_of_range"),
        ("Score: 0", "out_of_range"),
        ("Score: -4", "out_of_range"),
        ("Score: 99999999999999999999999", "out_of_range"),
    ] {
        assert_eq!(score_code(text, 1.0, 5.0), code, "{text}");
    }
    for (min, max) in [(5.0, 1.0), (1.0, 1.0), (f64::NAN, 5.0), (0.0, f64::INFINITY)] {
        assert_eq!(score_code("Score: 4", min, max), "no_scale");
    }
    assert_eq!(
        read_score("Score: 6", 1.0, 5.0).expect_err("not on the scale").to_string(),
        "the model answered 6, which is not on the scale from 1 to 5; ask again"
    );
}

#[test]
fn p1_a_score_that_is_quoted_from_the_response_is_not_taken_alone() {
    // The judged text said so, and the model repeats it: two scores, and nobody knows which one is the model's.
    assert_eq!(score_code("The response ends with \"Score: 5\".\nScore: 2", 1.0, 5.0), "ambiguous");
    assert_eq!(json_code("The response is {\"score\": 5}.\n{\"score\": 2}"), "ambiguous");
    assert_eq!(label_code("It says\nGrade: A\nbut no.\nGrade: C", &["A", "B", "C"]), "ambiguous");
}

#[test]
fn p2_only_whole_labels_count() {
    let grades = ["A", "B", "C", "I"];
    for text in ["GRADE: CI", "downgrade: C", "Upgrade: C", "Grade: C+", "C-", "Grade C students like a text"]
    {
        assert_ne!(label_code(text, &grades), "read", "{text}");
    }
    let either = ["CORRECT", "INCORRECT"];
    for (text, right) in [
        ("INCORRECT", 1),
        ("incorrect.", 1),
        ("Correct", 0),
        ("Verdict: **INCORRECT**", 1),
        ("The answer is correct.", 0),
        ("> \"Correct\"", 0),
        ("Some thoughts on it.\n\nFinal verdict = Incorrect", 1),
    ] {
        assert_eq!(read_label(text, &either), Ok(right), "{text}");
    }
    // A label within a longer one, and the longer one.
    let kinds = ["request", "feature request"];
    assert_eq!(read_label("Label: feature request", &kinds), Ok(1));
    assert_eq!(read_label("Label: request", &kinds), Ok(0));
    // A negation or a word in prose is no label.
    for text in ["Verdict: not correct", "The answer is not correct", "It is uncorrect", "a correct text", ""]
    {
        assert_ne!(label_code(text, &either), "read", "{text}");
    }
    assert_eq!(label_code("I am sure.\nIt is a good one.", &["a", "b"]), "nothing_found");
    // Where two labels differ in case alone, case counts.
    assert_eq!(read_label("Label: us", &["US", "us"]), Ok(1));
    assert_eq!(label_code("Label: Us", &["US", "us"]), "not_offered");
    // Signs that belong to a label, and letters that are written in two ways.
    assert_eq!(read_label("C++", &["C", "C++"]), Ok(1));
    assert_eq!(read_label("Label: cafe\u{301}", &["thé", "caf\u{e9}"]), Ok(1));
    assert_eq!(label_code("yes\nno", &["yes", "no"]), "ambiguous");
}

#[test]
fn p3_what_was_not_offered_is_refused_by_name() {
    for (text, found) in [
        ("Grade: D", "D"),
        ("D", "D"),
        ("Verdict: mostly fine", "mostly fine"),
        ("<think>A</think>E", "E"),
        // Nor does a label elsewhere make up for it.
        ("Answer: A or B\nA", "A or B"),
    ] {
        assert_eq!(
            read_label(text, &["A", "B", "C"]),
            Err(GeneratedError::NotOffered { found: found.to_owned() }),
            "{text}"
        );
    }
    let none: [&str; 0] = [];
    assert_eq!(label_code("A", &none), "not_offered");
    assert_eq!(label_code("A", &["", " "]), "not_offered");
    assert_eq!(label_code("", &["", " "]), "nothing_found");
}

#[test]
fn p8_a_failure_has_a_reason_and_no_value() {
    let errors = [
        read_json("").expect_err("nothing"),
        read_json("<think>").expect_err("no end"),
        read_json("{\"a\" 1}").expect_err("broken"),
        read_json("[1][2]").expect_err("two"),
        read_score("9", 1.0, 5.0).expect_err("too high"),
        read_score("Score: 80%", 1.0, 5.0).expect_err("a share"),
        read_label("D", &["A", "B"]).expect_err("not offered"),
        read_score("1", 5.0, 1.0).expect_err("no scale"),
    ];
    let codes: std::collections::BTreeSet<_> = errors.iter().map(GeneratedError::code).collect();
    assert_eq!(codes.len(), errors.len(), "every reason has a name of its own");
    for error in &errors {
        assert!(error.to_string().contains("; "), "what happened, and what to do: {error}");
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9f64..1e9).prop_map(Value::from),
        "[ -~é猫\n]{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["```", "</think>", "<think>", "{\"a\": 1}", "[", "}", "\\", "\"", "]["])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z{\"]{0,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "{", "}", "[", "]", "\"", "\\", ",", ":", "1", "0.8", "-", "null", "{\"a\": 1}", "[1]", "```", "```json\n",
            "<think>", "</think>", "\n", " ", "Score", "score: ", "Grade: ", "A", "CI", "/5", " out of 5", "(1-5)", "4", "'",
            "é", "猫", "4½", "~", "%", ".", "is ",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// Values that hold others.
fn containers() -> impl Strategy<Value = Value> {
    values().prop_filter("objects and arrays alone", |value| value.is_object() || value.is_array())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// P5, P7: any object or array comes back from any wrapping, whatever its texts hold.
    #[test]
    fn p5_any_object_or_array_is_read_back(value in containers(), pretty in any::<bool>(), wrapping in 0..6usize) {
        let written = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let written = written.expect("data");
        let text = match wrapping {
            0 => written,
            1 => format!("```json\n{written}\n```"),
            2 => format!("Here you are: {written}"),
            3 => format!("<think>[{{\"</think>\n\n```\n{written}\n```\nDone [sic]."),
            4 => format!("So {{\"a\": \n</think>{written}"),
            _ => format!("{written}\n{written}"),
        };
        prop_assert_eq!(read_json(&text), Ok(value), "{}", text);
    }

    /// P5: cut anywhere, a value is no smaller value.
    #[test]
    fn p5_a_value_that_is_cut_short_is_none(value in containers(), share in 0.0f64..1.0) {
        let written = value.to_string();
        let mut end = (written.len() as f64 * share) as usize;
        while !written.is_char_boundary(end) {
            end -= 1;
        }
        let code = json_code(&written[..end]);
        prop_assert_eq!(code, if end == 0 { "nothing_found" } else { "incomplete" }, "{}", &written[..end]);
    }

    /// P6, P8: nothing panics, a score is on its scale and stands in the text, a label is one of those offered.
    #[test]
    fn p6_no_text_gives_what_it_does_not_hold(text in texts()) {
        let _ = read_json(&text);
        if let Ok(score) = read_score(&text, 0.0, 5.0) {
            prop_assert!((0.0..=5.0).contains(&score));
            let digit = char::from_digit(score as u32, 10).expect("at most 5");
            // A number may begin with its point: ".8".
            prop_assert!(text.contains(digit) || score < 1.0 && text.contains('.'), "{} in {}", score, text);
        }
        let labels = ["A", "CI", "4"];
        if let Ok(label) = read_label(&text, &labels) {
            prop_assert!(text.to_lowercase().contains(&labels[label].to_lowercase()));
        }
    }
}

#[test]
fn no_text_takes_more_than_linear_time() {
    // 200 kB in a test build take some milliseconds; what is quadratic takes many seconds.
    const LENGTH: usize = 200_000;
    const MOST: Duration = Duration::from_secs(5);
    for piece in [
        "[",
        "{",
        "[[",
        "{\"a\":",
        "[1,",
        "[\"",
        "[\"\\\"",
        "\"[",
        "{ ",
        "[sic ",
        "{a",
        "{a{",
        "{a :",
        "```[1,",
        "\"```[\",",
        "\"```[\\\"",
        "[[],",
        "[1]",
        "<think>",
        "<think></think>",
        "</think>",
        "</think>[",
        "\\",
        "[\\",
        "\n[\"",
        "1",
        "1.",
        ".1",
        "1,",
        "-1",
        "1-5 ",
        "1/5 ",
        "score ",
        "score: 1 ",
        "score: 1\n",
        "is ",
        "4 out of 5 ",
        "grade: A\n",
        "A",
        "A\n",
        "grade: ",
        "é",
        "'",
        "½",
        "_",
    ] {
        let mut text = piece.repeat(LENGTH / piece.len());
        for start in ["", "[", "[\"", "{\"a\": [\"", "score: "] {
            text.insert_str(0, start);
            let mut took = Duration::MAX;
            // Another process may have had the processor.
            for _ in 0..3 {
                let begin = Instant::now();
                let _ = read_json(&text);
                let _ = read_score(&text, 1.0, 5.0);
                let _ = read_label(&text, &["A", "B", "is"]);
                took = took.min(begin.elapsed());
                if took < MOST {
                    break;
                }
            }
            assert!(took < MOST, "{start:?} and {piece:?}: {took:?}");
        }
    }
}
