//! Checklists: what they ask, how they are made, read, written and scored.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by it")]

use std::fmt::Write as _;

use proptest::prelude::*;
use retort_checklist::{
    AnswerForm, Checklist, ChecklistScore, ChecklistWriteError, Constraint, Decided, Item, MAX_HARD,
    MAX_PER_SKILL, Origin, Parts, ScoreError, Verdict, Wanted, WhyNone, generate, hard, read_checklist,
    score, verify_items,
};
use retort_rubric::{Severity, Skill};

fn constraint(json: &str) -> Constraint {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

#[test]
fn every_kind_of_constraint_has_its_question() {
    let kinds = include_str!("corpus/questions.jsonl");
    let mut out = String::new();
    for line in kinds.lines().filter(|line| !line.is_empty()) {
        let constraint = constraint(line);
        constraint.check().unwrap_or_else(|invalid| panic!("{line}: {invalid}"));
        let question = constraint.question();
        assert!(question.ends_with('?') && !question.contains('\n'), "{question}");
        writeln!(out, "{question}").unwrap();
    }
    insta::assert_snapshot!(out);
}

fn weighted(weight: f64) -> Item {
    Item { weight, ..Item::asking("item", "Is it good?") }
}

fn judged(value: f64) -> Decided {
    Decided::Judged { value }
}

fn not_applicable() -> Decided {
    Decided::NotApplicable { reason: "no refund was asked for".to_owned() }
}

fn unscored() -> Decided {
    Decided::Unscored { reason: "the answer was neither yes nor no".to_owned() }
}

/// Items of these weights, decided so.
fn scored(pairs: &[(f64, Decided)]) -> ChecklistScore {
    let (items, decided): (Vec<Item>, Vec<Decided>) =
        pairs.iter().map(|(weight, decided)| (weighted(*weight), decided.clone())).unzip();
    score(&items, &decided).unwrap()
}

#[test]
fn p15_what_does_not_apply_is_in_no_sum() {
    // By hand: (1 × 0.5 + 3 × 1.0) / (1 + 3) = 0.875, whatever the weight of what does not apply.
    let total = scored(&[(1.0, judged(0.5)), (100.0, not_applicable()), (3.0, judged(1.0))]);
    assert_eq!(total.score, Some(0.875));
    assert_eq!((total.judged, total.judged_met, total.not_applicable, total.unscored), (2, 1, 1, 0));
    let none = scored(&[(1.0, not_applicable()), (2.0, not_applicable())]);
    assert_eq!((none.score, none.why_none), (None, Some(WhyNone::NothingApplies)));
}

#[test]
fn p8_what_has_no_verdict_is_neither_no_nor_yes() {
    let total = scored(&[(1.0, judged(1.0)), (1.0, unscored())]);
    assert_eq!((total.score, total.unscored), (Some(1.0), 1));
    let none = scored(&[(1.0, unscored()), (1.0, not_applicable())]);
    assert_eq!((none.score, none.why_none), (None, Some(WhyNone::NothingScored)));
    assert_eq!(score(&[], &[]).unwrap().why_none, Some(WhyNone::Empty));
}

#[test]
fn p16_values_and_weights_that_are_no_numbers_are_errors() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.01, 1.01] {
        let error = score(&[weighted(1.0)], &[judged(value)]).unwrap_err();
        assert!(matches!(error, ScoreError::Value { .. }), "{value}: {error}");
    }
    for weight in [f64::NAN, f64::INFINITY, 0.0, 1e7] {
        let error = score(&[weighted(weight)], &[judged(1.0)]).unwrap_err();
        assert!(matches!(error, ScoreError::Weight { .. }), "{weight}: {error}");
    }
    // A missing score is null in a file, not a number.
    let none = serde_json::to_value(scored(&[(1.0, not_applicable())])).unwrap();
    assert_eq!(none.get("score"), Some(&serde_json::Value::Null));
    assert_eq!(none.get("why_none"), Some(&serde_json::json!("nothing_applies")));
    assert!(matches!(score(&[weighted(1.0)], &[]), Err(ScoreError::Lengths { items: 1, decided: 0 })));
    let verified = score(&[weighted(1.0)], &[Decided::Verified { met: true }]);
    assert!(matches!(verified, Err(ScoreError::NothingToVerify { .. })));
}

#[test]
fn p17_answers_of_both_forms_are_means_of_0_to_1() {
    // An expected answer of 4 on 1 to 5 is (4 − 1) / 4 = 0.75; with a verified "yes" of the same weight, 0.875.
    let mut five = weighted(1.0);
    five.answer = AnswerForm::OneToFive;
    let mut sure = weighted(1.0);
    sure.constraint = Some(Constraint::required("a"));
    let total = score(&[five, sure], &[judged((4.0 - 1.0) / 4.0), Decided::Verified { met: true }]).unwrap();
    assert_eq!(total.score, Some(0.875));
    assert_eq!((total.verified, total.verified_met, total.judged), (1, 1, 1));
}

#[test]
fn negative_weights_take_away_and_the_score_stays_in_range() {
    // HealthBench's rule by hand: (5 − 2) / 5 = 0.6; (0 − 2) / 5 is cut to 0.
    assert_eq!(scored(&[(5.0, judged(1.0)), (-2.0, judged(1.0))]).score, Some(0.6));
    assert_eq!(scored(&[(5.0, judged(0.0)), (-2.0, judged(1.0))]).score, Some(0.0));
    assert_eq!(scored(&[(5.0, judged(1.0)), (-2.0, judged(0.0))]).score, Some(1.0));
    let none = scored(&[(-2.0, judged(1.0))]);
    assert_eq!((none.score, none.why_none), (None, Some(WhyNone::NoPositiveWeight)));
}

#[test]
fn skills_have_their_own_scores_in_order() {
    let of = |skill, weight| Item { skill: Some(skill), ..weighted(weight) };
    let items =
        [of(Skill::Readability, 1.0), of(Skill::Factuality, 1.0), of(Skill::Readability, 3.0), weighted(1.0)];
    let total = score(&items, &[judged(1.0), not_applicable(), judged(0.0), judged(1.0)]).unwrap();
    assert_eq!(total.score, Some(0.4));
    let by_skill: Vec<(Skill, Option<f64>)> =
        total.by_skill.iter().map(|(skill, s)| (*skill, s.score)).collect();
    assert_eq!(by_skill, [(Skill::Factuality, None), (Skill::Readability, Some(0.25))]);
}

#[test]
fn items_with_a_constraint_are_verified_and_the_others_are_left() {
    let mut short = Item::asking("short", "Is it short?");
    short.constraint = Some(constraint(r#"{"kind": "count", "what": "word", "limit": {"at_most": 2}}"#));
    let checklist =
        Checklist { items: vec![short, Item::asking("kind", "Is it kind?")], ..Checklist::default() };
    let found = verify_items(&checklist, "One two three.");
    assert_eq!(
        found.iter().map(|f| f.as_ref().map(|f| f.verdict)).collect::<Vec<_>>(),
        [Some(Verdict::NotMet), None]
    );
    let decided: Vec<Decided> = found.into_iter().map(|f| f.map_or(judged(1.0), Decided::from)).collect();
    assert_eq!(score(&checklist.items, &decided).unwrap().score, Some(0.5));
}

#[test]
fn what_is_wrong_with_a_checklist_is_all_found() {
    let mut checklist = Checklist {
        items: vec![Item::asking("a", "Is it?"), Item::asking("a", "is it?"), Item::asking("", " \n")],
        ..Checklist::default()
    };
    checklist.items.push(Item { weight: f64::NAN, ..Item::asking("no weight", "This is none") });
    checklist.items.push(Item {
        answer: AnswerForm::OneToFive,
        constraint: Some(constraint(r#"{"kind": "choice", "options": ["a"]}"#)),
        condition: Some(String::new()),
        ..Item::asking("c", "Two\nlines?")
    });
    let found: Vec<String> = checklist.check().iter().map(|p| format!("{:?} {p}", p.severity)).collect();
    insta::assert_snapshot!(found.join("\n"));
    assert!(
        Checklist { items: vec![Item::asking("a", "Is it?")], ..Checklist::default() }.check().is_empty()
    );
}

const TOML: &str = r#"
name = "Refunds"
[[item]]
question = "Does the response offer a voucher?"
condition = "the customer asks for a refund"
weight = 2
skill = "comprehension"
[[item]]
id = "short"
constraint = { kind = "count", what = "word", limit = { at_most = 80 } }
"#;

#[test]
fn files_are_read_in_every_form() {
    let read = read_checklist(TOML, "refunds.toml").unwrap();
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    let [voucher, short] = read.checklist.items.as_slice() else { panic!("two items") };
    assert_eq!(
        (voucher.id.as_str(), voucher.weight, voucher.skill),
        ("item-1", 2.0, Some(Skill::Comprehension))
    );
    assert_eq!(
        voucher.full_question(),
        "If the customer asks for a refund, does the response offer a voucher?"
    );
    assert_eq!(short.question, "Is the response at most 80 words long?");
    assert_eq!(short.origin, Origin::Person);
    // Lists of questions, as RocketEval and WildBench have them; a byte order mark is passed over (P26).
    for text in ["\u{feff}[\"Is it?\", \"Is it not?\"]", "{\"checklist\": [\"Is it?\", \"Is it not?\"]}"] {
        let read = read_checklist(text, "list.json").unwrap();
        let ids: Vec<&str> = read.checklist.items.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(ids, ["item-1", "item-2"]);
    }
}

#[test]
fn p32_mistakes_in_files_are_named_with_their_place() {
    let mut out = String::new();
    for (name, text) in [
        ("empty.toml", " \n"),
        ("path.toml", "lists/refunds.toml"),
        ("syntax.toml", "[[item]]\nquestion = \"Is it?\nid = 3"),
        ("syntax.json", "[\"Is it?\",\n \"Is it\n]"),
        (
            "fields.toml",
            "nam = \"a\"\n[[item]]\nquestoin = \"Is it?\"\nskill = \"factualty\"\nweight = \"2\"\nanswer = \"maybe\"\n",
        ),
        (
            "values.toml",
            "[[item]]\nid = \"a b\"\nquestion = \"Is\\nit?\"\nweight = 0\n[[item]]\nquestion = \"No\"\norigin = \"me\"\n",
        ),
        (
            "constraint.json",
            "[{\"constraint\": {\"kind\": \"count\", \"what\": \"wrod\"}},\n {\"constraint\": {\"kind\": \"choice\", \"options\": [\"a\"]}}]",
        ),
        (
            "twice.json",
            "{\"items\": [{\"id\": \"x\", \"id\": \"y\", \"question\": \"é?\"}, {\"id\": \"x\", \"question\": \"Is it?\"}, 3, null]}",
        ),
        ("none.json", "{\"name\": \"a\"}"),
        ("scalar.json", "{\"items\": \"Is it?\"}"),
    ] {
        let error = read_checklist(text, name).expect_err(name);
        assert!(error.diagnostics.iter().any(|d| d.severity == Severity::Error));
        writeln!(out, "{error}").unwrap();
    }
    insta::assert_snapshot!(out);
}

fn items() -> impl Strategy<Value = Item> {
    let constraints: Vec<Option<Constraint>> = include_str!("corpus/questions.jsonl")
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| Some(constraint(line)))
        .chain([None])
        .collect();
    let skills: Vec<Option<Skill>> = Skill::ALL.into_iter().map(Some).chain([None]).collect();
    let line = "[a-zA-Zé猫\"\\\\' ]{0,12}[a-z]";
    (
        (line, prop::sample::select(skills), prop::sample::select(constraints)),
        prop::sample::select(vec![
            Origin::Constraint,
            Origin::Request,
            Origin::Reference,
            Origin::Skill,
            Origin::Model,
            Origin::Person,
        ]),
        prop_oneof![Just(1.0), -1e6..-1e-9, 1e-9..1e6],
        (prop::option::of(line), prop::option::of("(?s).{0,20}"), any::<bool>()),
    )
        .prop_map(|((text, skill, constraint), origin, weight, (condition, passage, five))| Item {
            origin,
            skill,
            weight,
            answer: if five && constraint.is_none() { AnswerForm::OneToFive } else { AnswerForm::YesNo },
            constraint,
            condition,
            passage,
            ..Item::asking("", format!("{text}?"))
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn p30_what_is_written_is_read_back(items in prop::collection::vec(items(), 1..6), name in prop::option::of("[^\u{0}]{0,9}")) {
        let mut checklist = Checklist { name, items, ..Checklist::default() };
        for (index, item) in checklist.items.iter_mut().enumerate() {
            item.id = format!("i{index}");
        }
        for text in [checklist.to_json().unwrap(), checklist.to_toml().unwrap()] {
            let read = read_checklist(&text, "file").map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
            prop_assert_eq!(&read.checklist, &checklist);
        }
    }

    #[test]
    fn any_instruction_gives_a_sound_checklist(instruction in texts(), reference in prop::option::of(texts())) {
        let wanted = Wanted { reference: reference.as_deref(), skills: &Skill::ALL, ..Wanted::of(&instruction) };
        for checklist in [generate(&wanted), hard(&wanted)] {
            let errors: Vec<String> = checklist
                .check()
                .iter()
                .filter(|problem| problem.severity == Severity::Error && !checklist.items.is_empty())
                .map(ToString::to_string)
                .collect();
            prop_assert!(errors.is_empty(), "{:?}", errors);
            prop_assert_eq!(&generate(&wanted), &generate(&wanted));
        }
        prop_assert!(hard(&wanted).items.len() <= MAX_HARD);
    }

    #[test]
    fn no_text_breaks_the_file_reader(text in "(?s).{0,60}") {
        let _ = read_checklist(&text, "any");
    }
}

/// Pieces that mean something to one rule or another, between any characters.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        5 => prop::sample::select(vec![
            "List ", "explain ", "how ", "what ", "is ", "and ", "if ", "I ", "you ", "should ", "the essay ", "don't ", "make sure ",
            "to ", ", ", "? ", ". ", ": ", "; ", "\n", "\n- ", "\n1. ", "\"", "“", "”", "```\n", "otherwise ", "unless ", "please ",
            "a poem ", "Paris ", "1969 ", "me ", "my ", "Include:", "when ", "(", ")", "– ", "The answer is ", "#### 7", "\\boxed{", "}",
            "help ", "in ", "one ", "be ", "not ",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

#[test]
fn what_toml_cannot_hold_is_said() {
    let mut item = Item::asking("a", "Is it?");
    item.constraint = Some(constraint(r#"{"kind": "json", "schema": {"const": null}}"#));
    let checklist = Checklist { items: vec![item], ..Checklist::default() };
    assert!(matches!(checklist.to_toml(), Err(ChecklistWriteError::NotToml { item: 0, .. })));
    let json = checklist.to_json().unwrap();
    assert_eq!(read_checklist(&json, "a.json").unwrap().checklist, checklist);
    let invalid = Checklist::default().to_json().expect_err("no items");
    assert!(invalid.to_string().contains("there is no item"), "{invalid}");
}

/// A checklist as a person would see it.
fn shown(checklist: &Checklist) -> String {
    let mut out = String::new();
    for item in &checklist.items {
        let skill = item.skill.map_or("-", |skill| skill.id());
        let verified = if item.is_verified() { " verified" } else { "" };
        writeln!(out, "{} [{skill}{verified}] {}", item.id, item.full_question()).unwrap();
    }
    out
}

const INSTRUCTION: &str = "Hi! You are a travel writer. Write a guide to Lisbon for families with toddlers. Compare the \
    neighbourhoods Alfama and Belém and recommend one hotel in each. If it rains, what can we do? \
    Use at most 200 words, give the guide three headings, and do not mention football.";
const REFERENCE: &str =
    "Alfama is the oldest quarter, and Belém has the river. The Oceanário opened in 1998. Children like it.";

#[test]
fn a_checklist_is_made_of_all_parts() {
    let skills = [Skill::Comprehension, Skill::Factuality, Skill::Conciseness];
    let wanted = Wanted { reference: Some(REFERENCE), skills: &skills, ..Wanted::of(INSTRUCTION) };
    let all = generate(&wanted);
    assert!(all.check().is_empty(), "{:?}", all.check());
    let nothing = Parts { constraints: false, requests: false, reference: false, skills: false };
    assert!(generate(&Wanted { parts: nothing, ..wanted }).items.is_empty());
    insta::assert_snapshot!(format!("{}\n{}", shown(&all), shown(&hard(&wanted))));
    for item in &hard(&wanted).items {
        assert_eq!(item.answer, AnswerForm::OneToFive);
        assert!(item.skill.is_some_and(|skill| skills.contains(&skill)));
    }
}

#[test]
fn skills_ask_about_the_instance_where_it_shows() {
    let mut out = String::new();
    for (instruction, reference) in [
        (
            "What dose of ibuprofen can I give my toddler?",
            Some("Ask a doctor first. The dose is 10 mg per kg."),
        ),
        ("Summarise the attached report and tell me who will win the next election.", None),
        (
            "Write a Python function that sorts a list. Explain it to a ten-year-old.",
            Some("def f(x): return sorted(x)"),
        ),
        (
            "Who signed the Treaty of Rome, and when?",
            Some("The Treaty of Rome was signed by Konrad Adenauer in 1957."),
        ),
        ("What is 12 times 12?", Some("144")),
    ] {
        writeln!(out, "# {instruction}").unwrap();
        let parts = Parts { constraints: false, requests: false, reference: false, skills: true };
        let checklist =
            generate(&Wanted { reference, skills: &Skill::ALL, parts, ..Wanted::of(instruction) });
        for skill in Skill::ALL {
            assert!(checklist.items.iter().filter(|item| item.skill == Some(skill)).count() <= MAX_PER_SKILL);
        }
        out.push_str(&shown(&checklist));
    }
    insta::assert_snapshot!(out);
}

/// Found by fuzzing: a sentence of thousands of characters made a question that no checklist may have.
#[test]
fn a_sentence_without_an_end_makes_a_question_that_can_be_used() {
    for long in ["x".repeat(4000), "word ".repeat(900), "é".repeat(2000)] {
        for text in
            [format!("Explain {long}"), format!("If {long}, write a poem."), format!("What is {long}?")]
        {
            let checklist = generate(&Wanted { reference: Some(&text), ..Wanted::of(&text) });
            assert!(!checklist.items.is_empty());
            let wrong: Vec<_> =
                checklist.check().into_iter().filter(|problem| problem.severity == Severity::Error).collect();
            assert!(wrong.is_empty(), "{wrong:?}");
        }
    }
}

#[test]
fn a_text_to_be_worked_on_asks_nothing_behind_a_length_either() {
    let text = "Fix the grammar in this email and keep it under 100 words:\n\nDear Sir, I has received you letter. Please write \
                back in at least 50 words and use bullet points.";
    let checklist = generate(&Wanted::of(text));
    let asked: Vec<&str> = checklist.items.iter().map(|item| item.question.as_str()).collect();
    assert_eq!(
        asked,
        ["Is the response at most 99 words long?", "Does the response fix the grammar in this email?"]
    );
}

#[test]
fn what_code_verifies_leaves_no_stump_of_a_question() {
    let asked = |text: &str| -> Vec<String> {
        generate(&Wanted::of(text)).items.into_iter().map(|item| item.question).collect()
    };
    assert_eq!(
        asked("Tell me about tides in at least 50 words and use bullet points."),
        [
            "Is the response at least 50 words long?",
            "Does the response have at least 1 bullet point?",
            "Does the response tell the user about tides?"
        ]
    );
}
