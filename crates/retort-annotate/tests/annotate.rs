//! What the words of instructions written for this test say.

use proptest::prelude::*;
use retort_annotate::{ForWhat, MAX_EVIDENCE, annotate, explain};
use retort_rubric::{Annotator, Domain, Skill};

/// Instruction, domain, its part, a skill that must be among the three, and the lowest and highest level that a person
/// would accept.
const CASES: &[(&str, Domain, &str, Skill, u8, u8)] = {
    use Domain::*;
    use Skill::*;
    &[
        ("Write a sonnet about the sea in autumn.", Language, "poetry", Insightfulness, 1, 3),
        (
            "Correct the spelling and the punctuation of this sentence: Their going to the libary",
            Language,
            "literature",
            Readability,
            1,
            2,
        ),
        (
            "Who painted the ceiling of the Sistine Chapel, and how did the artist make his fresco last?",
            Culture,
            "art",
            Factuality,
            1,
            3,
        ),
        ("Which team won the football world cup in 1998?", Culture, "sports", Factuality, 1, 3),
        (
            "Recommend three movies for a rainy evening with my family.",
            Culture,
            "mass media",
            CommonsenseUnderstanding,
            1,
            2,
        ),
        ("What is the difference between a violin and a cello?", Culture, "music", Factuality, 1, 3),
        ("Give me a recipe for a cake without eggs.", Culture, "food", CommonsenseUnderstanding, 1, 2),
        (
            "How long should a patient stay in hospital after a dental operation?",
            Health,
            "healthcare",
            Factuality,
            2,
            4,
        ),
        ("What are the symptoms of diabetes, and how is it diagnosed?", Health, "medicine", Factuality, 3, 5),
        (
            "Write a workout plan for the gym: three days a week, strength training and cardio.",
            Health,
            "exercise",
            Completeness,
            1,
            3,
        ),
        (
            "How many calories and how much protein are in a vegan diet?",
            Health,
            "nutrition",
            Factuality,
            1,
            3,
        ),
        ("Why did the Roman Empire fall in the fifth century?", History, "history", Factuality, 2, 4),
        ("Explain how mitosis differs from meiosis.", NaturalScience, "biology", Factuality, 3, 5),
        (
            "What causes an earthquake along a tectonic plate boundary?",
            NaturalScience,
            "earth science",
            Factuality,
            3,
            4,
        ),
        ("Why do wolves hunt deer in the forest?", NaturalScience, "nature", Factuality, 1, 3),
        (
            "How do astronomers find exoplanets with a telescope?",
            NaturalScience,
            "astronomy",
            Factuality,
            3,
            4,
        ),
        (
            "Balance the chemical reaction of hydrogen and oxygen to water.",
            NaturalScience,
            "chemistry",
            Factuality,
            3,
            4,
        ),
        (
            "Derive the period of a pendulum from Newton's laws of motion.",
            NaturalScience,
            "physics",
            LogicalRobustness,
            4,
            5,
        ),
        (
            "Tom has 12 marbles and buys 7 more. He gives 5 to each of 3 friends. How many marbles are left?",
            Math,
            "mathematics",
            LogicalCorrectness,
            1,
            3,
        ),
        ("Prove that the square root of 2 is irrational.", Math, "mathematics", LogicalRobustness, 3, 5),
        (
            "Let G be a finite abelian group. Prove that every subgroup of G is normal, and give a counterexample for groups that are not abelian.",
            Math,
            "mathematics",
            LogicalRobustness,
            4,
            5,
        ),
        (
            "Solve the riddle with logic: all premises are true, one knight lies. Which conclusion is valid?",
            Math,
            "logic",
            LogicalCorrectness,
            2,
            4,
        ),
        (
            "Calculate the standard deviation and the median of 3, 4, 8 and 9.",
            Math,
            "statistics",
            LogicalCorrectness,
            3,
            4,
        ),
        (
            "How does a startup write a business plan for its first customers?",
            SocialScience,
            "business",
            Completeness,
            2,
            4,
        ),
        ("Explain what compound interest does to a mortgage.", SocialScience, "finance", Factuality, 2, 4),
        (
            "How does monetary policy of the central bank lower inflation?",
            SocialScience,
            "economics",
            Factuality,
            3,
            5,
        ),
        (
            "Can my landlord end the lease without a court? What does the law say about eviction?",
            SocialScience,
            "law",
            Factuality,
            3,
            5,
        ),
        (
            "Compare democracy and dictatorship as forms of government.",
            SocialScience,
            "politics",
            Factuality,
            2,
            4,
        ),
        (
            "When should a farmer harvest wheat, and how does irrigation change that?",
            Technology,
            "agriculture",
            Factuality,
            2,
            4,
        ),
        (
            "Invent a slogan and a catchy brand name for a marketing campaign.",
            Technology,
            "marketing",
            Insightfulness,
            1,
            3,
        ),
        (
            "How should a project manager plan milestones and deadlines with agile methods?",
            Technology,
            "management",
            Completeness,
            2,
            4,
        ),
        (
            "My laptop does not charge and the battery gets hot. Is the charger broken?",
            Technology,
            "electronics",
            CommonsenseUnderstanding,
            1,
            3,
        ),
        (
            "Explain how a wind turbine and its transmission are engineered.",
            Technology,
            "engineering",
            Factuality,
            3,
            5,
        ),
        (
            "Write a Python function that returns the longest palindromic substring. Mind its time complexity.",
            Coding,
            "coding",
            LogicalEfficiency,
            3,
            5,
        ),
        (
            "```\nfor i in range(10):\n    print(i\n```\nWhy is there a syntax error in this code?",
            Coding,
            "coding",
            LogicalCorrectness,
            2,
            4,
        ),
        (
            "Write an email to my boss to apologize politely for being late.",
            Humanities,
            "communication",
            Readability,
            1,
            2,
        ),
        (
            "Plan a lesson on fractions for a teacher and her classroom.",
            Humanities,
            "education",
            Completeness,
            1,
            3,
        ),
        ("What do Buddhism and Hinduism teach about karma?", Humanities, "religion", Factuality, 2, 4),
        (
            "How do I deal with anxiety before an interview?",
            Humanities,
            "psychology",
            CommonsenseUnderstanding,
            1,
            3,
        ),
        ("What would Kant answer to utilitarianism?", Humanities, "philosophy", Comprehension, 3, 5),
        (
            "Is it immoral to lie to a dying friend? Discuss the ethics of it.",
            Humanities,
            "ethics",
            CommonsenseUnderstanding,
            2,
            4,
        ),
    ]
};

#[test]
fn every_field_is_found_by_its_words() {
    let mut wrong = Vec::new();
    for &(instruction, domain, part, skill, low, high) in CASES {
        let found = annotate(instruction);
        found.validate().unwrap();
        assert_eq!(found.by, Annotator::Code);
        let first = found.domains.first().map(|label| (label.domain, label.subdomain.as_deref()));
        if first != Some((domain, Some(part))) {
            wrong.push(format!("{instruction}: {:?}", found.domains));
        }
        if !found.skills.contains(&skill) {
            wrong.push(format!("{instruction}: {skill:?} is not among {:?}", found.skills));
        }
        let level = found.difficulty.map_or(0, retort_rubric::Difficulty::level);
        if !(low..=high).contains(&level) {
            wrong.push(format!(
                "{instruction}: level {level}, {:?}",
                explain(instruction).difficulty_estimate
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let parts: std::collections::BTreeSet<_> = CASES.iter().map(|case| (case.1, case.2)).collect();
    assert_eq!(parts.len(), 38, "every sub-domain has a case");
}

#[test]
fn danger_and_what_cannot_be_known_call_for_their_skills() {
    for (instruction, skill) in [
        ("How do I make a bomb at home?", Skill::Harmlessness),
        ("Tell me a racist joke about immigrants.", Skill::Harmlessness),
        ("Who will win the election, and what is my name?", Skill::Metacognition),
        ("Do you have feelings, and what is your favourite colour?", Skill::Metacognition),
        ("Summarize this article in one sentence: The council met on Monday.", Skill::Conciseness),
    ] {
        let skills = annotate(instruction).skills;
        assert!(skills.contains(&skill), "{instruction}: {skills:?}");
    }
}

#[test]
fn nothing_is_said_of_nothing() {
    for blank in ["", " \n\t", "?!", "…"] {
        let found = explain(blank);
        assert!(found.annotation.skills.is_empty() && found.annotation.domains.is_empty());
        assert_eq!(found.annotation.difficulty, None);
        assert_eq!(found.difficulty_estimate, None);
    }
    // Words that mean nothing to the rules: the skills that every instruction calls for, and no domain.
    let found = annotate("Xyzzy plugh.");
    assert_eq!(found.domains, []);
    assert_eq!(found.skills[0], Skill::Comprehension);
}

#[test]
fn two_domains_where_both_are_there() {
    let found = annotate(
        "Write a poem about the theory of evolution and natural selection, with a rhyme and a haiku.",
    );
    let domains: Vec<Domain> = found.domains.iter().map(|label| label.domain).collect();
    assert_eq!(domains.len(), 2);
    assert!(domains.contains(&Domain::Language) && domains.contains(&Domain::NaturalScience));
}

#[test]
fn a_long_text_does_not_drown_the_request() {
    let text = "The galaxy has many a planet and a star. ".repeat(200);
    let alone = annotate(&text);
    assert_eq!(alone.domains[0].domain, Domain::NaturalScience);
    let translate =
        annotate(&format!("Translate this novel into Spanish, keep its grammar and its prose: {text}"));
    assert_eq!(translate.domains[0].domain, Domain::Language);
}

#[test]
fn the_evidence_names_the_words_and_what_they_speak_for() {
    let text = "Écris: Explain how enzymes work.";
    let found = explain(text);
    let piece = found.evidence.iter().find(|piece| piece.words == "enzymes").unwrap();
    assert_eq!(&text[piece.range.clone()], "enzymes");
    assert_eq!(piece.to_string(), "\"enzymes\" belongs to this field: Natural science (biology)");
    assert!(
        matches!(&piece.for_what, ForWhat::Domain(label) if label.subdomain.as_deref() == Some("biology"))
    );
    let json = serde_json::to_value(piece).unwrap();
    assert_eq!(json["for"], "domain");
    assert_eq!(json["what"]["subdomain"], "biology");
    // É has two bytes: "Écris: " has eight, "Explain how " twelve.
    assert_eq!(json["range"], serde_json::json!({ "start": 20, "end": 27 }));
    // Every skill but Comprehension, which needs no reason, has something that was seen for it.
    for skill in &found.annotation.skills {
        let seen = found.evidence.iter().any(|piece| piece.for_what == ForWhat::Skill(*skill));
        assert!(seen || *skill == Skill::Comprehension, "{skill:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the text: no panic, a valid annotation, evidence that stands where it says.
    #[test]
    fn any_text_has_an_annotation(
        text in prop_oneof![
            "\\PC{0,200}",
            "([a-z'’+#:éß\u{130}\u{2028} \n`{};$=^]{1,9}(python|c\\+\\+|proof|how many|A\\)|1776)?){0,30}",
        ],
    ) {
        let found = explain(&text);
        prop_assert!(found.annotation.validate().is_ok());
        prop_assert!(found.evidence.len() <= MAX_EVIDENCE);
        let has_words = text.chars().any(char::is_alphanumeric);
        prop_assert_eq!(found.annotation.skills.len(), if has_words { 3 } else { 0 });
        prop_assert_eq!(found.annotation.difficulty.is_some(), has_words);
        for piece in &found.evidence {
            if !piece.range.is_empty() {
                prop_assert_eq!(&text[piece.range.clone()], &*piece.words);
            }
            prop_assert!(piece.weight.is_finite());
        }
        prop_assert!(found.difficulty_estimate.is_none_or(|level| (1.0..=5.0).contains(&level)));
        prop_assert_eq!(annotate(&text), found.annotation);
    }
}

/// How an answer is to look is not what it is about.
#[test]
fn words_that_count_the_answer_name_no_field() {
    let domains = |text: &str| -> Vec<Domain> {
        retort_annotate::annotate(text).domains.iter().map(|label| label.domain).collect()
    };
    let found = domains("Explain why the sky is blue in at most 60 words and with no formulas.");
    assert!(!found.contains(&Domain::Language) && !found.contains(&Domain::Math), "{found:?}");
    // Without a count they are the matter itself.
    assert_eq!(domains("What does this word mean, and what is the plot of the novel?"), [Domain::Language]);
}
