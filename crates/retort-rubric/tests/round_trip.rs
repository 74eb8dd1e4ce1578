//! Whatever rubric is written reads back as the equal one; whatever text is read, the reader answers.

use proptest::prelude::*;
use retort_rubric::{Ability, Format, Rubric, RubricOption, read, to_json, to_toml};

/// Any characters at all; proptest's `any::<String>()` leaves out control characters.
fn characters(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(any::<char>(), count).prop_map(|all| all.into_iter().collect())
}

fn text() -> impl Strategy<Value = String> {
    // All of Unicode, with what files and templates treat specially made frequent.
    prop_oneof![
        3 => "[ -~äé—“”可\n\t]{1,40}",
        1 => "[\"'\\\\{}<>=#\\[\\]\n ]{1,20}",
        1 => "\\PC{1,30}",
        1 => characters(1..20),
        1 => "[a\u{0}\u{1}\u{b}\r\u{7f}\u{85}\u{2028}\u{feff}]{3,9}",
    ]
    .prop_map(|text| text.trim().to_owned())
}

fn options() -> impl Strategy<Value = Vec<RubricOption>> {
    let even = (-5_i32..5, 2_i32..12, prop::sample::select(vec![0.1, 0.25, 0.5, 1.0, 2.0, 10.0])).prop_map(
        |(first, count, step)| {
            (0..count)
                .map(|index| f64::from(first + index) * step)
                .map(|value| (value.to_string(), value))
                .collect::<Vec<_>>()
        },
    );
    let free = prop::collection::vec(("[a-zA-Z0-9 .\"-]{1,12}", -1e9..1e9), 2..8);
    (
        prop_oneof![even, free],
        prop::collection::vec((prop::option::of(text()), prop::collection::vec(text(), 0..3)), 12),
    )
        .prop_map(|(mut scale, descriptions)| {
            scale.sort_by(|a, b| a.1.total_cmp(&b.1));
            scale
                .into_iter()
                .zip(descriptions)
                .map(|((label, value), (description, examples))| RubricOption {
                    description,
                    examples,
                    ..RubricOption::new(label.trim(), value)
                })
                .collect()
        })
}

fn rubric() -> impl Strategy<Value = Rubric> {
    (
        "[a-z0-9_.-]{1,12}",
        text(),
        prop::option::of(prop::sample::select(Ability::ALL.to_vec())),
        text(),
        prop::option::of(text()),
        prop_oneof![Just(1.0), (-10_i32..10).prop_map(f64::from), -1e9..1e9],
        prop::option::of(text()),
        options(),
    )
        .prop_map(|(id, name, ability, criterion, question, weight, not_applicable, options)| Rubric {
            id,
            name: name.replace(char::is_control, " ").trim().to_owned(),
            ability,
            criterion,
            question,
            weight,
            not_applicable,
            options,
        })
        .prop_filter("valid", |rubric| rubric.validate().is_ok())
}

fn distinct(mut rubrics: Vec<Rubric>) -> Vec<Rubric> {
    let mut seen = std::collections::HashSet::new();
    rubrics.retain(|rubric| seen.insert(rubric.id.clone()));
    rubrics
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rubrics_survive_toml_json_and_serde(all in prop::collection::vec(rubric(), 1..4).prop_map(distinct)) {
        let toml = to_toml(&all).unwrap();
        prop_assert_eq!(&read(&toml, "x", Format::Toml).map_err(|e| TestCaseError::fail(format!("{e}\n{toml}")))?.rubrics, &all);
        prop_assert_eq!(&read(&toml, "x", Format::Auto).unwrap().rubrics, &all);
        let json = to_json(&all).unwrap();
        prop_assert_eq!(&read(&json, "x", Format::Auto).map_err(|e| TestCaseError::fail(format!("{e}\n{json}")))?.rubrics, &all);
        prop_assert_eq!(&serde_json::from_str::<Vec<Rubric>>(&json).unwrap(), &all);
        // One rubric alone, as the page sends it.
        let one = serde_json::to_string(&all[0]).unwrap();
        prop_assert_eq!(&read(&one, "x", Format::Auto).unwrap().rubrics, &all[..1]);
        prop_assert_eq!(all[0].sha256(), read(&one, "x", Format::Auto).unwrap().rubrics[0].sha256());
    }

    #[test]
    fn the_canonical_form_is_the_rubric_as_sorted_json_without_white_space(rubric in rubric()) {
        let canonical: serde_json::Value = serde_json::from_str(&rubric.canonical_json()).unwrap();
        // serde_json's map sorts its keys. It spells numbers as ECMAScript does between these sizes.
        if rubric.options.iter().all(|option| option.value == 0.0 || option.value.abs() > 1e-4) {
            prop_assert_eq!(canonical.to_string(), rubric.canonical_json());
        }
        prop_assert_eq!(serde_json::from_value::<Rubric>(canonical).unwrap(), rubric);
    }

    #[test]
    fn any_text_gets_an_answer(text in prop_oneof![characters(0..60), text()]) {
        for format in [Format::Auto, Format::Toml, Format::Json] {
            let _ = read(&text, "x", format);
        }
    }

    #[test]
    fn a_damaged_file_gets_an_answer_with_places(
        all in prop::collection::vec(rubric(), 1..3).prop_map(distinct),
        cut in any::<prop::sample::Index>(),
        insert in "[\"'{}\\[\\]=,:#\n\\\\0-9a-z.é-]{0,4}",
        json in any::<bool>(),
        drop in 0_usize..6,
    ) {
        let text = if json { to_json(&all) } else { to_toml(&all) }.unwrap();
        let characters: Vec<char> = text.chars().collect();
        let at = cut.index(characters.len());
        let damaged: String = characters[..at]
            .iter()
            .copied()
            .chain(insert.chars())
            .chain(characters[at..].iter().copied().skip(drop))
            .collect();
        if let Err(error) = read(&damaged, "x", Format::Auto) {
            prop_assert!(!error.diagnostics.is_empty());
            let lines = damaged.matches('\n').count() + 1;
            for diagnostic in &error.diagnostics {
                prop_assert!((1..=lines).contains(&diagnostic.line), "{}", diagnostic);
                prop_assert!(diagnostic.column >= 1);
                prop_assert!(!diagnostic.message.is_empty());
            }
        }
    }
}
