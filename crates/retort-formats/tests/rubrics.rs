//! Rubrics of other tools: recognised by their keys, read, and written back.
//!
//! The files under `files` are written for this project in the shapes that the tools' own sources give.

#![expect(clippy::panic, reason = "a test fails by it")]

use proptest::prelude::*;
use retort_formats::rubrics::{
    ExportError, ImportError, Imported, Source, Target, export, export_keeping, import, recognise,
};
use retort_rubric::{Rubric, RubricOption, Severity, builtin, overall, slug};

const FILES: [(&str, Source, &str); 8] = [
    ("prometheus.json", Source::Prometheus, include_str!("files/prometheus.json")),
    ("prometheus.txt", Source::PrometheusText, include_str!("files/prometheus.txt")),
    ("biggen.json", Source::Prometheus, include_str!("files/biggen.json")),
    ("evalassist.json", Source::EvalAssist, include_str!("files/evalassist.json")),
    ("kiln.json", Source::Kiln, include_str!("files/kiln.json")),
    ("deepeval.json", Source::DeepEval, include_str!("files/deepeval.json")),
    ("healthbench.jsonl", Source::HealthBench, include_str!("files/healthbench.jsonl")),
    ("ragas.jsonl", Source::Ragas, include_str!("files/ragas.jsonl")),
];

fn file(name: &str) -> &'static str {
    FILES.iter().find(|(file, ..)| *file == name).map_or("", |(.., text)| text)
}

fn read(text: &str) -> Imported {
    match import(text, "test") {
        Ok(imported) => imported,
        Err(error) => panic!("{error}"),
    }
}

fn refused(text: &str) -> String {
    match import(text, "test") {
        Ok(imported) => panic!("read without an error: {imported:?}"),
        Err(error) => error.to_string(),
    }
}

fn scale(rubric: &Rubric) -> Vec<(&str, f64, Option<&str>)> {
    rubric.options.iter().map(|o| (o.label.as_str(), o.value, o.description.as_deref())).collect()
}

#[test]
fn p25_a_format_is_told_from_its_keys() {
    for (name, source, text) in FILES {
        assert_eq!(recognise(text), Some(source), "{name}");
        assert_eq!(read(text).source, source, "{name}");
        assert_eq!(Source::from_id(source.id()), Some(source));
    }
    assert_eq!(recognise(include_str!("files/evalassist_pairwise.json")), Some(Source::EvalAssist));
    for text in [
        "",
        "Is it kind?",
        "[]",
        "{}",
        "3",
        "{\"name\": \"x\", \"criterion\": \"y\", \"scale\": {\"min\": 1, \"max\": 5}}",
        "name = \"x\"\n[[rubric]]\n",
        "{\"instruction\": \"x\", \"response\": \"y\"}",
        "{\"name\": \"x\", \"type\": \"bar\"}",
    ] {
        assert_eq!(recognise(text), None, "{text}");
        assert!(import(text, "x").is_err(), "{text}");
    }
    let own = retort_rubric::to_json(builtin()).unwrap();
    assert_eq!(recognise(&own), None);
    assert_eq!(recognise(&retort_rubric::to_toml(builtin()).unwrap()), None);
}

#[test]
fn prometheus_in_all_its_shapes_is_one_rubric() {
    let expected = read(file("prometheus.json"));
    let rubric = &expected.rubrics[0];
    assert_eq!(rubric.criterion, "Does the reply keep calm with an angry customer?");
    assert_eq!(rubric.name, "Does the reply keep calm with an angry customer");
    assert_eq!(rubric.id, "does_the_reply_keep_calm_with_an_angry_customer");
    assert_eq!(scale(rubric)[0], ("1", 1.0, Some("It answers anger with anger.")));
    assert_eq!(scale(rubric).len(), 5);
    assert_eq!(expected.warnings, []);
    let inner = file("prometheus.json");
    let block = serde_json::to_string(file("prometheus.txt")).unwrap();
    let original = inner.replace("\"criteria\"", "\"orig_criteria\"").replace("\"score", "\"orig_score");
    for text in [
        file("prometheus.txt").to_owned(),
        format!("{{\"score_rubric\": {inner}, \"response\": \"x\"}}"),
        format!("[{{\"score_rubric\": {inner}}}, {{\"score_rubric\": {inner}}}]"),
        format!("{{\"rubric\": {block}, \"instruction\": \"x\"}}"),
        format!("{{\"rubrics\": {inner}}}"),
        inner.replacen('{', "{\"rubric\": \"see below\", \"response\": \"x\",", 1),
        original,
    ] {
        assert_eq!(read(&text).rubrics, expected.rubrics, "{text}");
    }
    // By id: then it has a name.
    let by_id =
        read(&format!("{{\"keeps_calm\": {inner}, \"Keeps calm, too\": {{\"score_rubric\": {inner}}}}}"));
    let names: Vec<(&str, &str)> = by_id.rubrics.iter().map(|r| (r.id.as_str(), r.name.as_str())).collect();
    assert_eq!(names, [("keeps_calm", "Keeps calm"), ("keeps_calm_too", "Keeps calm, too")]);
}

#[test]
fn a_rubric_that_many_rows_share_is_read_once_and_what_stands_beside_it_is_named() {
    let imported = read(file("biggen.json"));
    assert_eq!(imported.rubrics.len(), 1);
    let beside: Vec<&str> = imported.beside.iter().map(String::as_str).collect();
    assert_eq!(
        beside,
        ["capability", "id", "input", "instance_idx", "reference_answer", "system_prompt", "task"]
    );
}

#[test]
fn evalassist_puts_the_options_in_the_order_of_their_scores() {
    let imported = read(file("evalassist.json"));
    assert_eq!(
        scale(&imported.rubrics[0]),
        [
            ("Not named", 0.0, None),
            ("In part", 0.5, Some("One figure at least has a source.")),
            ("Named", 1.0, Some("Each figure has its source beside it."))
        ]
    );
    assert_eq!(imported.rubrics[0].id, "source_named");
    assert_eq!(imported.kept[0].fields["context_fields"], serde_json::json!(["question"]));
    // unitxt's map of options, the earlier name of the description, and options called by their number.
    let map = read(
        r#"{"name": "a", "criteria": "Is it x?", "options": [{"option": "u"}, {"option": "v"}], "option_map": {"u": 2, "v": -1}}"#,
    );
    assert_eq!(scale(&map.rubrics[0]), [("v", -1.0, None), ("u", 2.0, None)]);
    let numbers =
        read(r#"{"name": "a", "description": "Is it x?", "options": [{"name": 5}, {"name": "1"}]}"#);
    assert_eq!(scale(&numbers.rubrics[0]), [("1", 1.0, None), ("5", 5.0, None)]);
    // Several with weights.
    let one = file("evalassist.json");
    let several = read(&format!("{{\"items\": [{{\"criterion\": {one}, \"weight\": 0.25}}]}}"));
    assert_eq!(several.rubrics[0].weight, 0.25);
    assert_eq!(read(&format!("{{\"criteria\": [{one}], \"type\": \"direct\"}}")).rubrics, imported.rubrics);
}

/// P8: what an option is worth is never made up.
#[test]
fn p8_options_without_scores_are_worth_what_their_names_say_or_are_refused() {
    let of = |names: &[&str]| {
        let options: Vec<_> = names.iter().map(|name| serde_json::json!({"name": name})).collect();
        serde_json::json!({"name": "a", "description": "Is it x?", "options": options}).to_string()
    };
    let imported = read(&of(&["Excellent", "Good", "Could be improved", "Bad"]));
    let labels: Vec<(&str, f64)> =
        imported.rubrics[0].options.iter().map(|option| (option.label.as_str(), option.value)).collect();
    assert_eq!(labels, [("Bad", 0.0), ("Could be improved", 1.0), ("Good", 2.0), ("Excellent", 3.0)]);
    assert!(
        imported.warnings[0].message.contains("lowest to highest as Bad, Could be improved, Good, Excellent")
    );
    assert_eq!(scale(&read(&of(&["Yes", "No"])).rubrics[0]), [("No", 0.0, None), ("Yes", 1.0, None)]);
    let error = refused(&of(&["Formal", "Casual"]));
    assert!(error.contains("nothing says what the options Formal, Casual are worth"), "{error}");
    // Two names of one rank.
    assert!(import(&of(&["ok", "average"]), "x").is_err());
}

#[test]
fn a_criterion_that_compares_responses_is_refused_with_the_reason() {
    let error = refused(include_str!("files/evalassist_pairwise.json"));
    assert!(error.contains("\"Shorter\" has no options: it compares responses with each other"), "{error}");
}

#[test]
fn kiln_has_three_scales_and_levels_within_the_instruction() {
    let imported = read(file("kiln.json"));
    let [five, pass, critical] = &imported.rubrics[..] else { panic!("{:?}", imported.rubrics) };
    assert_eq!(five.scale().unwrap().values(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(scale(pass), [("fail", 0.0, None), ("pass", 1.0, None)]);
    // Kiln's −1 to 1: critical, fail, pass.
    assert_eq!(
        scale(critical),
        [
            ("critical", -1.0, Some("A whole card number stands in it.")),
            ("fail", 0.0, Some("A part of one does.")),
            ("pass", 1.0, Some("None does."))
        ]
    );
    assert_eq!(critical.criterion, "The reply repeats no card number.");
    assert!(imported.beside.contains("template"));
    let requirements = read(
        r#"{"name": "t", "requirements": [{"id": "1", "name": "a", "instruction": "Be x.", "priority": 0}]}"#,
    );
    assert_eq!(requirements.rubrics[0].options.len(), 5);
    assert_eq!(requirements.kept[0].fields["priority"], 0);
}

#[test]
fn deepevals_ranges_are_options_worth_their_middle() {
    let imported = read(file("deepeval.json"));
    // (0 + 2) / 2, (3 + 6) / 2, (7 + 9) / 2, 10.
    let values: Vec<(&str, f64)> =
        imported.rubrics[0].options.iter().map(|option| (option.label.as_str(), option.value)).collect();
    assert_eq!(values, [("0-2", 1.0), ("3-6", 4.5), ("7-9", 8.0), ("10", 10.0)]);
    assert_eq!(imported.kept[0].fields["threshold"], 0.6);
    let steps = read(r#"{"name": "Steps", "evaluation_steps": ["Find the dose.", "Compare it."]}"#);
    assert_eq!(steps.rubrics[0].options.len(), 11);
    assert!(steps.rubrics[0].criterion.ends_with("\n1. Find the dose.\n2. Compare it."));
    let back = export_keeping(&steps.rubrics, &steps.kept, Target::DeepEval).unwrap();
    let back: serde_json::Value = serde_json::from_str(&back).unwrap();
    assert_eq!(
        back,
        serde_json::json!({"name": "Steps", "evaluation_steps": ["Find the dose.", "Compare it."]})
    );
}

#[test]
fn healthbenchs_points_are_weights() {
    let imported = read(file("healthbench.jsonl"));
    let weights: Vec<f64> = imported.rubrics.iter().map(|rubric| rubric.weight).collect();
    assert_eq!(weights, [8.0, 5.5, -9.0]);
    assert_eq!(scale(&imported.rubrics[2]), [("no", 0.0, None), ("yes", 1.0, None)]);
    assert_eq!(imported.kept.len(), 2);
    // By hand: the first and the last are met, (8 − 9) / (8 + 5.5), clipped.
    let parts: Vec<(f64, Option<f64>)> = weights.into_iter().zip([Some(1.0), Some(0.0), Some(1.0)]).collect();
    let score = retort_rubric::aggregate(&parts).unwrap();
    assert_eq!((score.score, score.unclipped), (0.0, -1.0 / 13.5));
    // A criterion of which no name can be made has one all the same.
    assert_eq!(read(r#"{"criterion": "config.toml.", "points": 1}"#).rubrics[0].name, "Rubric");
    // Rubrics of two prompts are not one.
    let two = format!("{0}{0}", file("healthbench.jsonl"));
    assert!(read(&two).warnings[0].message.contains("several prompts"));
    assert_eq!(read(&two).rubrics, imported.rubrics);
}

#[test]
fn ragas_has_no_criterion_and_says_so() {
    let imported = read(file("ragas.jsonl"));
    assert_eq!(imported.rubrics[0].options.len(), 3);
    assert!(imported.warnings[0].message.contains("no criterion"));
    let error = export(&[overall().clone()], Target::Ragas).unwrap_err().to_string();
    assert_eq!(error, "ragas cannot say “overall”: it has a criterion, for which there is no field");
}

/// P26, P27: a byte-order mark, CRLF, one list instead of lines and the reverse, no newline at the end, and separators
/// that are no newlines.
#[test]
fn p26_p27_containers_of_every_kind_hold_the_same() {
    for (name, _, text) in FILES {
        let expected = read(text).rubrics;
        assert_eq!(read(&format!("\u{feff}{text}")).rubrics, expected, "{name}");
        assert_eq!(read(&text.replace('\n', "\r\n")).rubrics, expected, "{name}");
        assert_eq!(read(text.trim_end()).rubrics, expected, "{name}");
        let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else { continue };
        let rows = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        let lines: Vec<String> = rows.iter().map(serde_json::Value::to_string).collect();
        assert_eq!(read(&lines.join("\n")).rubrics, expected, "{name}");
        assert_eq!(read(&format!("{}\n\r\n{0}\n", lines.join("\r\n"))).rubrics, expected, "{name}");
        assert_eq!(read(&format!("[{}]", lines.join(","))).rubrics, expected, "{name}");
    }
    let line = |text: &str| serde_json::json!({"criterion": text, "points": 1}).to_string();
    let odd = format!("{}\n{}", line("one\u{2028}two\u{85}three"), line("four"));
    assert_eq!(read(&odd).rubrics.len(), 2);
    assert_eq!(read(&odd).rubrics[0].criterion, "one\u{2028}two\u{85}three");
}

/// The places by hand, in physical lines, after a quoted newline and a blank line.
#[test]
fn p32_what_is_wrong_is_named_with_its_line_and_skipped() {
    let text = "{\"criterion\": \"a\\nb\", \"points\": 1}\n\n{\"criterion\": \"c\", \"points\": 0}\n{\"criterion\": }\n{\"points\": 2, \"criterion\": \"\"}\n7\n{\"criterion\": \"d\", \"points\": \"3\"}\n{\"criterion\": \"e\", \"points\": 2}";
    let imported = read(text);
    assert_eq!(imported.rubrics.len(), 2);
    let found: Vec<String> = imported.warnings.iter().map(ToString::to_string).collect();
    assert!(imported.warnings.iter().all(|finding| finding.severity == Severity::Error));
    insta::assert_snapshot!(found.join("\n"));
}

#[test]
fn every_refusal_says_where_and_what_to_do() {
    let texts = [
        "Is it kind?",
        "{\"instruction\": \"x\", \"response\": \"y\"}",
        "{\"criteria\": \"x\", \"score1_description\": \n",
        "[]",
        "{\"criteria\": \"Is it x?\", \"score1_description\": \"a\", \"score2_description\": null}",
        "{\"criteria\": 5, \"score1_description\": \"a\"}",
        "[Is it x?]\nScore 1: a\nScore 2: b",
        "{\"name\": \"a\", \"description\": \"Is it x?\",\n \"options\": [{\"name\": \"u\", \"score\": 1}, {\"name\": \"v\"}]}",
        "{\"name\": \"a\", \"description\": \"Is it x?\",\n \"options\": [{\"name\": \"u\", \"score\": 1}, {\"name\": \"v\", \"score\": 1}]}",
        "{\"name\": \"a\", \"description\": \"Is it x?\",\n \"options\": [{\"name\": \"u\", \"score\": \"1\"}]}",
        "{\"name\": \"a\", \"instruction\": null, \"type\": \"pass_fail\"}",
        "{\"name\": \"a\", \"instruction\": \"x\",\n \"type\": \"custom\"}",
        "{\"name\": \"a\", \"rubric\": [{\"score_range\": [0, 2], \"expected_outcome\": \"x\"}]}",
        "{\"criteria\": \"Is it x?\",\n \"rubric\": [{\"score_range\": [3, 2], \"expected_outcome\": \"x\"}]}",
        "{\"criteria\": \"Is it x?\", \"rubric\": [{\"score_range\": [0, 5], \"expected_outcome\": \"x\"},\n {\"score_range\": [5, 9], \"expected_outcome\": \"y\"}]}",
        "{\"criterion\": \"{{criterion}}\", \"points\": 1}",
        "{\"rubrics\": {\"score1_description\": \"x\"}}",
    ];
    let all: Vec<String> = texts.iter().map(|text| format!("{text}\n=> {}\n", refused(text))).collect();
    insta::assert_snapshot!(all.join("\n"));
}

/// P30: what a file says of its rubrics comes back from it. The options' order may be another, and a default may be
/// written out.
#[test]
fn p30_every_file_comes_back_with_what_was_kept() {
    for (name, source, text) in FILES {
        let imported = read(text);
        let written = export_keeping(&imported.rubrics, &imported.kept, source).unwrap();
        let again = read(&written);
        assert_eq!(again.rubrics, imported.rubrics, "{name}\n{written}");
        assert_eq!(again.kept, imported.kept, "{name}\n{written}");
        assert_eq!(again.source, source);
        assert!(written.ends_with('\n'));
    }
    assert_eq!(
        export(&read(file("prometheus.json")).rubrics, Target::PrometheusText).unwrap(),
        file("prometheus.txt")
    );
    assert_eq!(
        export(&read(file("prometheus.txt")).rubrics, Target::Prometheus).unwrap(),
        file("prometheus.json")
    );
}

#[test]
fn files_are_written_in_the_tools_own_shape() {
    let mut all = String::new();
    for (name, source, text) in FILES {
        let imported = read(text);
        let written = export_keeping(&imported.rubrics, &imported.kept, source).unwrap();
        all.push_str(&format!("== {name}\n{written}"));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn what_a_format_cannot_say_is_refused_with_the_reason() {
    let mut odd = Rubric::new(
        "odd",
        "An odd rubric, with a name that is long",
        "It is x.",
        vec![RubricOption::new("a", 0.0).described("No."), RubricOption::new("b", 7.5)],
    );
    odd.weight = 2.0;
    odd.not_applicable = Some("There is no x.".to_owned());
    odd.options[0].examples = vec!["y".to_owned()];
    let all: Vec<String> = Source::ALL
        .into_iter()
        .map(|target| {
            let error = export(std::slice::from_ref(&odd), target).unwrap_err();
            assert!(matches!(error, ExportError::Refused { target: refused, .. } if refused == target));
            error.to_string()
        })
        .collect();
    insta::assert_snapshot!(all.join("\n\n"));
    assert_eq!(export(&[], Target::Kiln), Err(ExportError::Empty));
    odd.options.clear();
    assert!(matches!(export(&[odd], Target::Kiln), Err(ExportError::Invalid(_))));
}

/// What would be read back as something else is found by reading it.
#[test]
fn a_text_that_would_break_its_container_is_refused() {
    let five = |criterion: &str, first: &str| {
        let mut rubric = Rubric { criterion: criterion.to_owned(), ..overall().clone() };
        rubric.options[0].description = Some(first.to_owned());
        rubric
    };
    let text = |rubric| export(&[rubric], Target::PrometheusText);
    assert!(text(five("Is it x?", "No.")).is_ok());
    for (criterion, first) in [
        ("Is it x?]\nScore 1: Ha", "No."),
        ("Is it x?", "No.\nScore 2: Ha"),
        ("Is it x?", "No.\n[New one]\nScore 1: Ha"),
        ("Is it x?\r", "No.\r\nReally."),
    ] {
        let error = text(five(criterion.trim(), first));
        assert!(error.is_err(), "{criterion:?} {first:?} {error:?}");
        // JSON has no such trouble.
        assert!(export(&[five(criterion.trim(), first)], Target::Prometheus).is_ok());
    }
    // Kiln's levels stand in the instruction.
    assert!(export(&[five("Is it x?", "No.\nNo!")], Target::Kiln).is_err());
    let mut bare = Rubric { criterion: "Is it x?\n\nfail: No.\npass: Yes.".to_owned(), ..overall().clone() };
    bare.options = vec![RubricOption::new("fail", 0.0), RubricOption::new("pass", 1.0)];
    assert!(export(&[bare], Target::Kiln).is_err());
}

#[test]
fn the_skills_without_a_condition_go_out_and_come_back() {
    // The other tools have no field for when a rubric does not apply.
    let skills: Vec<Rubric> =
        builtin().iter().map(|rubric| Rubric { not_applicable: None, ..rubric.clone() }).collect();
    assert_eq!(skills.len(), 12);
    for target in [Target::Prometheus, Target::EvalAssist, Target::Kiln, Target::DeepEval] {
        let back = read(&export(&skills, target).unwrap()).rubrics;
        for (back, skill) in back.iter().zip(&skills) {
            // A name leads back to the id.
            let expected = Rubric { ability: None, question: None, ..skill.clone() };
            assert_eq!(*back, expected, "{target}");
        }
        assert_eq!(back.len(), skills.len());
    }
}

#[test]
fn a_file_full_of_mistakes_is_refused_quickly_and_briefly() {
    let lines = "{\"criterion\": \"c\", \"points\": 0}\n".repeat(20_000);
    assert!(import(&lines, "x").is_err());
    let lines: String =
        (0..20_000).map(|index| format!("{{\"criterion\": \"c{index}\", \"points\": \"x\"}}\n")).collect();
    let Err(ImportError::Refused(error)) = import(&lines, "x") else { panic!("refused") };
    assert_eq!(error.diagnostics.len(), 101);
    // Names of one slug get ids of their own.
    let many: String =
        (0..2000).map(|index| format!("{{\"criterion\": \"c!\", \"points\": {}}}\n", index + 1)).collect();
    assert_eq!(read(&many).rubrics.len(), 2000);
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Zäé—“”可 .,:?!\\]\\[-]{1,30}",
        1 => "[ -~\n\r\t]{1,30}",
        1 => "\\PC{1,20}",
    ]
    .prop_map(|text| text.trim().to_owned())
}

fn rubric() -> impl Strategy<Value = Rubric> {
    let described = |count: usize| prop::collection::vec(text(), count);
    let options = prop_oneof![
        described(5).prop_map(|texts| {
            let of =
                |(text, n): (String, u32)| RubricOption::new(n.to_string(), f64::from(n)).described(text);
            texts.into_iter().zip(1..).map(of).collect::<Vec<_>>()
        }),
        Just(vec![RubricOption::new("no", 0.0), RubricOption::new("yes", 1.0)]),
        Just(vec![RubricOption::new("fail", 0.0), RubricOption::new("pass", 1.0)]),
        described(3).prop_map(|texts| {
            let of = |(text, (label, value)): (String, (&str, f64))| {
                RubricOption::new(label, value).described(text)
            };
            texts.into_iter().zip([("0", 0.0), ("1-4", 2.5), ("7-10", 8.5)]).map(of).collect()
        }),
        prop::collection::vec(("[a-z]{1,6}", -9.0_f64..9.0), 2..5).prop_map(|mut options| {
            options.sort_by(|a, b| a.1.total_cmp(&b.1));
            options.into_iter().map(|(label, value)| RubricOption::new(label, value)).collect()
        }),
    ];
    (text(), text(), options, prop_oneof![3 => Just(1.0), 1 => (-9_i32..9).prop_map(f64::from)])
        .prop_map(|(name, criterion, options, weight)| {
            let name = name.replace(char::is_control, " ").split_whitespace().collect::<Vec<_>>().join(" ");
            Rubric { weight, ..Rubric::new(slug(&name), name, criterion, options) }
        })
        .prop_filter("valid", |rubric| rubric.validate().is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// P30: whatever is written is read back as what it was; else it is refused.
    #[test]
    fn p30_whatever_is_written_is_read_back(all in prop::collection::vec(rubric(), 1..4), bom in any::<bool>()) {
        for target in Source::ALL {
            let Ok(written) = export(&all, target) else { continue };
            prop_assert_eq!(recognise(&written), Some(target));
            let written = if bom { format!("\u{feff}{written}") } else { written };
            let back = import(&written, "x").map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(back.rubrics.len(), all.len());
            for (back, rubric) in back.rubrics.iter().zip(&all) {
                prop_assert_eq!(&back.criterion, &rubric.criterion);
                prop_assert_eq!(&back.options, &rubric.options);
                prop_assert_eq!(back.weight, rubric.weight);
            }
        }
    }

    #[test]
    fn any_text_gets_an_answer_with_a_place(
        (_, _, text) in prop::sample::select(FILES.to_vec()),
        cut in any::<prop::sample::Index>(),
        insert in "[\"'{}\\[\\]=,:#\n\\\\0-9a-z.é-]{0,4}",
        drop in 0_usize..6,
    ) {
        let characters: Vec<char> = text.chars().collect();
        let at = cut.index(characters.len());
        let damaged: String = characters[..at].iter().copied()
            .chain(insert.chars())
            .chain(characters[at..].iter().copied().skip(drop))
            .collect();
        let findings = match import(&damaged, "x") {
            Ok(imported) => {
                prop_assert!(imported.rubrics.iter().all(|rubric| rubric.validate().is_ok()));
                imported.warnings
            }
            Err(ImportError::Refused(error)) => {
                prop_assert!(!error.diagnostics.is_empty());
                error.diagnostics
            }
            Err(_) => Vec::new(),
        };
        let lines = damaged.matches('\n').count() + 1;
        prop_assert!(findings.iter().all(|finding| (1..=lines).contains(&finding.line) && finding.column >= 1));
    }

    #[test]
    fn no_text_is_too_strange(text in "\\PC{0,60}", start in prop::sample::select(vec!["", "[", "{", "[x]\nScore 1:"])) {
        let text = format!("{start}{text}");
        let _ = (recognise(&text), import(&text, "x").is_ok());
    }
}
