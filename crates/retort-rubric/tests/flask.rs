//! The built-in skills: complete, graded, and short enough for a small model's prompt.

use std::collections::BTreeSet;

use retort_rubric::{
    Ability, Difficulty, DifficultyVariant, Domain, Format, SelectError, Skill, builtin, overall, read,
    select,
};

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

#[test]
fn the_file_reads_without_a_finding_and_matches_the_skills() {
    let reading = read(include_str!("../rubrics/flask.toml"), "flask.toml", Format::Auto).unwrap();
    assert_eq!(reading.warnings, []);
    assert_eq!(reading.rubrics, builtin());
    assert_eq!(builtin().len(), 12);
    for (rubric, skill) in builtin().iter().zip(Skill::ALL) {
        assert_eq!(rubric.id, skill.id());
        assert_eq!(rubric.name, skill.name());
        assert_eq!(rubric.ability, Some(skill.ability()));
        let labels: Vec<(&str, f64)> = rubric.options.iter().map(|o| (o.label.as_str(), o.value)).collect();
        assert_eq!(labels, [("1", 1.0), ("2", 2.0), ("3", 3.0), ("4", 4.0), ("5", 5.0)]);
        assert!(rubric.options.iter().all(|option| option.description.is_some()), "{}", rubric.id);
        assert!(rubric.question.as_deref().is_some_and(|question| question.ends_with('?')), "{}", rubric.id);
    }
}

/// The whole rubric is in the prompt of a 135M model twelve times per judgement.
#[test]
fn every_text_keeps_to_its_budget_of_words() {
    for rubric in builtin().iter().chain([overall()]) {
        let id = &rubric.id;
        let levels: Vec<usize> = rubric
            .options
            .iter()
            .map(|option| words(option.description.as_deref().unwrap_or_default()))
            .collect();
        assert!(words(&rubric.criterion) <= 22, "{id}: criterion of {}", words(&rubric.criterion));
        assert!(levels.iter().all(|count| (3..=13).contains(count)), "{id}: levels of {levels:?}");
        let total = words(&rubric.criterion) + levels.iter().sum::<usize>();
        assert!(total <= 85, "{id}: {total} words in all");
        assert!(rubric.question.as_deref().is_some_and(|q| words(q) <= 20), "{id}: question");
        let condition = rubric.not_applicable.as_deref().unwrap_or_default();
        assert!(words(condition) <= 15, "{id}: condition of {}", words(condition));
    }
}

#[test]
fn no_two_texts_are_the_same() {
    let mut seen = BTreeSet::new();
    for rubric in builtin().iter().chain([overall()]) {
        assert!(seen.insert(&rubric.criterion), "{}", rubric.criterion);
        for option in &rubric.options {
            assert!(seen.insert(option.description.as_ref().unwrap()), "{:?}", option.description);
        }
        assert!(rubric.not_applicable.iter().all(|condition| seen.insert(condition)), "{}", rubric.id);
    }
}

/// The level shapes that FLASK names: Metacognition 3 declines without a reason, 4 attempts and states its
/// uncertainty, 5 declines and states it; Harmlessness 4 is silent on a risk, 5 names it.
#[test]
fn the_levels_keep_the_shapes_that_flask_names() {
    let level = |skill: Skill, level: usize| {
        let rubric = &select(skill.id()).unwrap()[0];
        rubric.options[level - 1].description.clone().unwrap().to_lowercase()
    };
    let has = |text: &str, parts: &[&str]| parts.iter().all(|part| text.contains(part));
    assert!(has(&level(Skill::Metacognition, 3), &["declines", "not say why"]));
    assert!(has(&level(Skill::Metacognition, 4), &["attempts", "states", "uncertain"]));
    assert!(has(&level(Skill::Metacognition, 5), &["declines", "states"]));
    assert!(has(&level(Skill::Harmlessness, 4), &["free of bias and harm", "silent", "risk"]));
    assert!(has(&level(Skill::Harmlessness, 5), &["free of bias and harm", "names", "risk"]));
}

/// Counts from FLASK's taxonomy: 4 abilities, 12 skills as 3 + 2 + 4 + 3, 10 domains, 38 sub-domains, 5 levels.
#[test]
fn the_taxonomy_has_flasks_counts() {
    assert_eq!(Ability::ALL.map(|ability| ability.skills().count()), [3, 2, 4, 3]);
    assert_eq!(Domain::ALL.len(), 10);
    let subdomains: BTreeSet<&str> =
        Domain::ALL.iter().flat_map(|domain| domain.subdomains()).copied().collect();
    assert_eq!(subdomains.len(), 38);
    assert_eq!(Difficulty::ALL.map(Difficulty::level), [1, 2, 3, 4, 5]);
    assert_eq!(DifficultyVariant::of(Domain::Math), DifficultyVariant::Maths);
    assert_eq!(DifficultyVariant::of(Domain::Coding), DifficultyVariant::Coding);
    assert_eq!(DifficultyVariant::of(Domain::Health), DifficultyVariant::General);
    let variants = [DifficultyVariant::General, DifficultyVariant::Maths, DifficultyVariant::Coding];
    let definitions: BTreeSet<&str> = Difficulty::ALL
        .iter()
        .flat_map(|difficulty| variants.map(|variant| difficulty.definition(variant)))
        .collect();
    assert_eq!(definitions.len(), 15);
}

#[test]
fn ids_lead_back_and_are_those_of_serde() {
    for ability in Ability::ALL {
        assert_eq!(Ability::from_id(ability.id()), Some(ability));
        assert_eq!(serde_json::to_value(ability).unwrap(), ability.id());
    }
    for skill in Skill::ALL {
        assert_eq!(Skill::from_id(skill.id()), Some(skill));
        assert_eq!(serde_json::to_value(skill).unwrap(), skill.id());
    }
    for domain in Domain::ALL {
        assert_eq!(Domain::from_id(domain.id()), Some(domain));
        assert_eq!(serde_json::to_value(domain).unwrap(), domain.id());
    }
    for difficulty in Difficulty::ALL {
        assert_eq!(Difficulty::from_id(difficulty.id()), Some(difficulty));
        assert_eq!(Difficulty::from_level(difficulty.level()), Some(difficulty));
        assert_eq!(serde_json::to_value(difficulty).unwrap(), difficulty.id());
    }
    assert_eq!(Skill::from_id("Readability"), None);
    assert_eq!(Difficulty::from_level(0), None);
}

#[test]
fn skills_are_selected_by_id_or_name() {
    let ids = |names: &str| -> Vec<String> { select(names).unwrap().into_iter().map(|r| r.id).collect() };
    assert_eq!(select(" ALL ").unwrap(), builtin());
    assert_eq!(
        ids("readability, Logical Robustness,logical-correctness ,READABILITY,"),
        ["readability", "logical_robustness", "logical_correctness"]
    );
    assert_eq!(ids("factuality,all")[0], "factuality");
    assert_eq!(ids("factuality,all").len(), 12);
}

#[test]
fn a_wrong_skill_is_answered_with_the_list_and_the_nearest() {
    const LIST: &str = "logical_robustness, logical_correctness, logical_efficiency, factuality, commonsense_understanding, comprehension, insightfulness, completeness, metacognition, readability, conciseness, harmlessness, overall";
    let error = |names: &str| select(names).unwrap_err().to_string();
    assert_eq!(
        error("readability,harmlesness"),
        format!(
            "there is no skill \"harmlesness\"; did you mean harmlessness? Otherwise write “all” or some of: {LIST}"
        )
    );
    // A single word of a name is nearest to the name that it is part of.
    assert_eq!(
        error("robustness"),
        format!(
            "there is no skill \"robustness\"; did you mean logical_robustness? Otherwise write “all” or some of: {LIST}"
        )
    );
    assert_eq!(error("spelling"), format!("there is no skill \"spelling\"; write “all” or some of: {LIST}"));
    assert_eq!(select(" , "), Err(SelectError::Empty));
    assert_eq!(error(""), format!("no skill is named; write “all” or some of: {LIST}"));
}

/// Taken from this program: records name rubrics by these hashes, so that a change of wording or of the canonical form
/// has to be meant. Those of the five skills without a condition are those of its first version.
#[test]
fn the_hashes_of_the_built_in_rubrics_change_on_purpose_only() {
    let hashes: Vec<String> = builtin()
        .iter()
        .chain([overall()])
        .map(|rubric| format!("{} {}", rubric.sha256(), rubric.id))
        .collect();
    insta::assert_snapshot!(hashes.join("\n"));
}

#[test]
fn the_built_in_rubrics_pass_their_own_check() {
    for rubric in builtin().iter().chain([overall()]) {
        assert_eq!(rubric.check(), [], "{}", rubric.id);
    }
}

/// FLASK lets a rater answer “N/A” for any skill (Ye et al. 2024, appendix). So all twelve say when, which also lets
/// them share one offer of answers, read once.
#[test]
fn every_skill_says_when_it_does_not_apply() {
    assert!(builtin().iter().all(|rubric| rubric.not_applicable.is_some()));
    assert_eq!(overall().not_applicable, None);
}

#[test]
fn the_overall_rating_stands_apart_from_the_skills() {
    let rubric = overall();
    assert_eq!((rubric.id.as_str(), rubric.ability, rubric.weight), ("overall", None, 1.0));
    assert_eq!(
        rubric.options.iter().map(|option| option.value).collect::<Vec<_>>(),
        [1.0, 2.0, 3.0, 4.0, 5.0]
    );
    assert_eq!(select("Overall").unwrap(), std::slice::from_ref(rubric));
    assert_eq!(select("all,overall").unwrap().len(), 13);
    assert!(select("all").unwrap().iter().all(|rubric| rubric.id != "overall"));
}
