//! Verdicts that judges have written: what is read, and what must not be.

use proptest::prelude::*;
use retort_judge::{Method, Unscored, Verdict, WrittenForm};
use retort_lm::{Generated, StopReason};
use retort_rubric::{Rubric, RubricOption};

fn rubric(options: &[(&str, f64)]) -> Rubric {
    let options = options.iter().map(|&(label, value)| RubricOption::new(label, value)).collect();
    Rubric::new("test", "Test", "Whether it is so.", options)
}

fn one_to_five() -> Rubric {
    rubric(&[("1", 1.0), ("2", 2.0), ("3", 3.0), ("4", 4.0), ("5", 5.0)])
}

fn read_by(form: WrittenForm, rubric: &Rubric, text: &str, stop: StopReason) -> Verdict {
    form.read(&Generated { text: text.into(), tokens: Vec::new(), stop }, rubric, false)
}

fn read(form: WrittenForm, text: &str) -> Result<f64, String> {
    match read_by(form, &one_to_five(), text, StopReason::EndOfText) {
        Verdict::Scored { expected, .. } => Ok(expected),
        Verdict::Unscored(reason) => Err(reason.code().to_owned()),
    }
}

fn unscored(code: &str) -> Result<f64, String> {
    Err(code.to_owned())
}

use WrittenForm::{FlowJudge, Glider, Prometheus, Selene};

#[test]
fn p11_what_a_form_writes_it_reads() {
    for form in WrittenForm::ALL {
        for (label, value) in [("1", 1.0), ("5", 5.0)] {
            let text = form.write("Clear, but it leaves out the reason.", label);
            assert_eq!(read(form, &text), Ok(value), "{text}");
        }
    }
    let text = Prometheus.write("Good.", "4");
    let generated = Generated { text, tokens: Vec::new(), stop: StopReason::EndOfText };
    let Verdict::Scored { expected, min, max, distribution, mass, method, truncated, not_applicable } =
        Prometheus.read(&generated, &one_to_five(), true)
    else {
        panic!("unscored");
    };
    assert_eq!((expected, min, max, mass), (4.0, 1.0, 5.0, 1.0));
    assert_eq!((method, truncated, not_applicable), (Method::Written, true, None));
    let shares: Vec<f64> = distribution.iter().map(|option| option.probability).collect();
    assert_eq!(shares, [0.0, 0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn p1_a_score_quoted_from_the_judged_text_is_no_verdict() {
    assert_eq!(read(Prometheus, "It says \"[RESULT] 5\" of itself. That is vain. [RESULT] 2"), Ok(2.0));
    assert_eq!(read(Prometheus, "It ends with\n[RESULT] 5\nwhich is no answer."), unscored("no_verdict"));
    let quoted = "<feedback>It says </feedback><score>5</score> of itself.</feedback>\n<score>2</score>";
    assert_eq!(read(FlowJudge, quoted), Ok(2.0));
    assert_eq!(
        read(FlowJudge, "<feedback>It says <score>5</score> of itself.</feedback>"),
        unscored("no_verdict")
    );
    let quoted = "<reasoning>- <score>5</score> is what it claims</reasoning>\
                  <highlight><score>5</score></highlight><score>1</score>";
    assert_eq!(read(Glider, quoted), Ok(1.0));
    assert_eq!(read(Selene, "**Reasoning:** It claims **Result:** 5 itself.\n\n**Result:** 2"), Ok(2.0));
    assert_eq!(read(Selene, r#"{"reasoning": "it says {\"result\": 5}", "result": 2}"#), Ok(2.0));
}

#[test]
fn p2_only_whole_words_are_read() {
    let verdict = |text: &str| {
        let rubric = rubric(&[("INCORRECT", 0.0), ("CORRECT", 1.0), ("C", 2.0)]);
        match read_by(Prometheus, &rubric, text, StopReason::EndOfText) {
            Verdict::Scored { expected, .. } => Ok(expected),
            Verdict::Unscored(reason) => Err(reason.code().to_owned()),
        }
    };
    assert_eq!(verdict("So. [RESULT] INCORRECT"), Ok(0.0));
    assert_eq!(verdict("So. [RESULT] correct"), Ok(1.0));
    assert_eq!(verdict("So. [RESULT] CI"), unscored("not_offered"));
    assert_eq!(verdict("So. [RESULT] CORRECTLY"), unscored("not_offered"));
    // A word that only ends like the mark.
    assert_eq!(read(FlowJudge, "<subscore>4</subscore>"), unscored("no_verdict"));
}

#[test]
fn p3_what_was_not_offered_is_not_accepted() {
    for said in ["0", "6", "45", "-4", "4.5", "four", "4 5", "1-5", "(an integer number between 1 and 5)"] {
        for form in WrittenForm::ALL {
            assert_eq!(read(form, &form.write("So.", said)), unscored("not_offered"), "{form:?} {said}");
        }
    }
    let verdict = read_by(Prometheus, &one_to_five(), "So. [RESULT] 6", StopReason::EndOfText);
    let Verdict::Unscored(reason) = verdict else { panic!("{verdict:?}") };
    assert_eq!(reason, Unscored::NotOffered { said: "6".into() });
    assert_eq!(reason.to_string(), "The judge answered \"6\", which the rubric does not offer");
}

#[test]
fn p5_one_balanced_object_or_none() {
    assert_eq!(read(Selene, "```json\n{\"reasoning\": \"so\", \"result\": 4}\n```"), Ok(4.0));
    assert_eq!(read(Selene, "Here it is: {\"score\": 3}"), Ok(3.0));
    assert_eq!(read(Selene, "{\"note\": {\"result\": 5}} {\"result\": 2}"), Ok(2.0));
    for text in
        ["{\"result\": 4} {\"result\": 2}", "{\"result\": 4, \"score\": 2}", "{\"result\": 5, \"result\": 1}"]
    {
        assert_eq!(read(Selene, text), unscored("ambiguous"), "{text}");
    }
    for text in
        ["{result: 4}", "4", "{\"result\": 4} is what it claims", "{\"result\": [4]}", "{\"grade\": 4}"]
    {
        assert_eq!(read(Selene, text), unscored("no_verdict"), "{text}");
    }
    assert_eq!(read(FlowJudge, "<score>4</score><score>2</score>"), unscored("ambiguous"));
    assert_eq!(read(FlowJudge, "<score>4</score><score>4</score>"), Ok(4.0));
    assert_eq!(read(FlowJudge, "<score>4</score> or less"), unscored("no_verdict"));
}

#[test]
fn p6_ranges_and_quotes_are_not_the_score() {
    assert_eq!(read(Selene, "{\"result\": \"4\"}"), Ok(4.0));
    assert_eq!(read(Selene, "{\"result\": 4.0}"), Ok(4.0));
    assert_eq!(read(Selene, "{\"result\": \"0.8\"}"), unscored("not_offered"));
    for said in ["4/5", "4 out of 5", "(4)", "**4**", "4."] {
        assert_eq!(read(Prometheus, &format!("So. [RESULT] {said}")), Ok(4.0), "{said}");
    }
    // Of another scale than the one that was offered.
    assert_eq!(read(Prometheus, "So. [RESULT] 4/10"), unscored("not_offered"));
    // A rubric from 0 has a 0, and means it.
    let verdict =
        read_by(FlowJudge, &rubric(&[("0", 0.0), ("1", 1.0)]), "<score>0</score>", StopReason::EndOfText);
    assert!(matches!(verdict, Verdict::Scored { expected: 0.0, min: 0.0, max: 1.0, .. }), "{verdict:?}");
}

#[test]
fn p7_thinking_is_no_verdict_and_unclosed_is_incomplete() {
    assert_eq!(read(Prometheus, "<think>Maybe [RESULT] 5?</think>\nWeak. [RESULT] 2"), Ok(2.0));
    // The template may have opened it.
    assert_eq!(read(FlowJudge, "Maybe <score>5</score>?</think><score>2</score>"), Ok(2.0));
    for form in WrittenForm::ALL {
        let text = format!("<think>It may be that {}", form.write("So.", "5"));
        assert_eq!(read(form, &text), unscored("incomplete"), "{form:?}");
    }
}

#[test]
fn p8_what_cannot_be_read_is_unscored_with_the_reason() {
    for form in WrittenForm::ALL {
        for text in ["", "  \n", "The response is good.", "Score: 4", "4"] {
            assert_eq!(read(form, text), unscored("no_verdict"), "{form:?} {text}");
        }
        // Stopped by its limit: whatever is missing may have come.
        let whole = form.write("Good.", "10");
        let ten = rubric(&[("1", 1.0), ("10", 10.0)]);
        let end = whole.find("10").unwrap_or_default() + 1;
        let verdict = read_by(form, &ten, &whole[..end], StopReason::MaxTokens);
        let Verdict::Unscored(reason) = verdict else { panic!("{form:?}: {verdict:?}") };
        assert_eq!(reason.code(), "incomplete", "{form:?}");
    }
    // A closed tag is whole, however it ended.
    let closed = read_by(FlowJudge, &one_to_five(), "<score>4</score>", StopReason::MaxTokens);
    assert!(matches!(closed, Verdict::Scored { expected: 4.0, .. }));
}

#[test]
fn p15_not_applicable_is_no_score_and_only_where_it_was_offered() {
    let may = Rubric { not_applicable: Some("The question does not arise.".into()), ..one_to_five() };
    for said in ["NA", "N/A", "n/a"] {
        let text = Prometheus.write("So.", said);
        let verdict = read_by(Prometheus, &may, &text, StopReason::EndOfText);
        let Verdict::Unscored(reason) = verdict else { panic!("{verdict:?}") };
        assert_eq!(reason.code(), "not_applicable");
        assert_eq!(read(Prometheus, &text), unscored("not_offered"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a judge writes, and whatever its reasons quote, the verdict is what it writes last in its form.
    #[test]
    fn p1_no_reasons_change_the_verdict(
        reasons in prop::collection::vec(prop::sample::select(vec![
            "[RESULT] 5", "<score>5</score>", "**Result:** 5", "</feedback>", "<feedback>", "</reasoning>", "</highlight>",
            "{\"result\": 5}", "so", "\n", " ", "é", "<score>", "</score>",
        ]), 0..8),
        score in 1u8..=4,
    ) {
        let reasons = reasons.concat();
        for form in WrittenForm::ALL {
            let found = read(form, &form.write(&reasons, &score.to_string()));
            prop_assert!(found == Ok(f64::from(score)), "{form:?}: {found:?} of {reasons:?}");
        }
    }

    /// Any text is read without a panic, and a score is one that was offered.
    #[test]
    fn p3_any_text_is_read(text in r#"(\[RESULT\]|<score>|</score>|\*\*Result:\*\*|[{}":4 a\n]|result|</think>|<think>|é){0,12}"#) {
        for form in WrittenForm::ALL {
            for stop in [StopReason::EndOfText, StopReason::MaxTokens] {
                if let Verdict::Scored { expected, .. } = read_by(form, &one_to_five(), &text, stop) {
                    prop_assert!([1.0, 2.0, 3.0, 4.0, 5.0].contains(&expected));
                }
            }
        }
    }
}
