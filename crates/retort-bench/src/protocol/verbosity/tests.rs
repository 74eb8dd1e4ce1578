use super::*;
use crate::protocol::fake::{add, both, figure, rating, scored};

fn good(id: &str, answer: &str) -> GoodAnswer {
    GoodAnswer {
        id: id.to_owned(),
        source: "own".to_owned(),
        prompt: format!("Question {id}?"),
        answer: answer.to_owned(),
    }
}

fn exam(ways: Ways) -> Verbosity {
    let answers = vec![good("1", "It is two. One and one make it."), good("2", "Blue. The sky is that.")];
    Verbosity::new(answers, Vec::new(), VerbositySettings { ways, seed: 0, limit: None })
}

fn nothing() -> Ways {
    Ways { together: false, alone: false, skills: false, agnostic: false, ..Ways::default() }
}

#[test]
fn the_four_responses_are_what_the_page_says() {
    let exam = exam(nothing());
    assert_eq!(exam.items(), 2);
    for item in &exam.items {
        let [short, padded, repeated, wrong] = &item.texts;
        let other = exam.items.iter().find(|other| other.id != item.id).unwrap();
        assert!(padded.chars().count() >= 2 * short.chars().count());
        assert_eq!(*repeated, format!("{short} {short}"));
        assert!(wrong.chars().count() * 2 >= 3 * short.chars().count());
        // What is left without the padding is the answer, sentence by sentence.
        let without = |text: &str| -> String {
            let own: Vec<&str> =
                sentences(text).into_iter().filter(|sentence| !PADDING.contains(sentence)).collect();
            own.join(" ")
        };
        assert_eq!(without(padded), *short);
        assert_eq!(without(wrong), other.texts[0]);
        assert_ne!(padded, short);
    }
    let again = super::Verbosity::new(
        vec![good("2", "Blue. The sky is that."), good("1", "It is two. One and one make it.")],
        Vec::new(),
        VerbositySettings { ways: nothing(), seed: 0, limit: None },
    );
    assert_eq!(again.items, exam.items, "the same whatever the order of the file");
}

#[test]
fn padding_sentences_are_whole_and_different() {
    for sentence in PADDING {
        assert_eq!(sentences(sentence), [sentence]);
        assert_eq!(PADDING.iter().filter(|other| **other == sentence).count(), 1);
        assert!(!sentence.chars().any(|c| c.is_ascii_digit()), "{sentence}");
    }
}

#[test]
fn an_answer_without_another_gives_no_item() {
    let answers = vec![good("1", "Same."), good("2", "Same.")];
    let exam = Verbosity::new(answers, Vec::new(), VerbositySettings::default());
    assert_eq!(exam.items(), 0);
    let tables = exam.tables(&Answers::default());
    let figure = figure(&tables, "all", "longer", "padding_wins").unwrap();
    assert_eq!((figure.value, figure.n), (None, 0));
}

#[test]
fn figures_of_scores_by_hand() {
    let exam = exam(Ways { agnostic: true, ..nothing() });
    assert_eq!(exam.asks().len(), 8);
    let mut answers = Answers::default();
    // short, padded, repeated, wrong: padding raises 1 by 0.4 (as good as equal) and lowers 2 by 1; repeating leaves 1 as
    // it is and raises 2 by 1.
    for (id, scores) in [("1", [3.0, 3.4, 3.0, 5.0]), ("2", [3.0, 2.0, 4.0, 3.0])] {
        for (version, score) in VERSIONS.into_iter().zip(scores) {
            add(&mut answers, &format!("{id}/{version}"), vec![("overall", rating(score))]);
        }
    }
    let tables = exam.tables(&answers);
    let of = |metric: &str| figure(&tables, "all", "agnostic", metric).unwrap().value;
    assert_eq!(of("robustness_padded"), Some(0.5));
    assert_eq!(of("robustness_repeated"), Some(0.5));
    assert_eq!(of("padding_wins"), Some(0.5));
    // A tie is no win of repetition's.
    assert_eq!(of("repetition_wins"), Some(0.5));
    // The wrong one wins once and ties once.
    assert_eq!(of("longer_wrong_wins"), Some(0.75));
    let rule = |judge: &str, metric: &str| figure(&tables, "all", judge, metric).unwrap().value;
    for metric in ["padding_wins", "repetition_wins", "longer_wrong_wins"] {
        assert_eq!(rule("longer", metric), Some(1.0));
        assert_eq!(rule("shorter", metric), Some(0.0));
        assert!(rule("random", metric).is_some() && rule("overlap", metric).is_some());
    }
}

#[test]
fn completeness_and_conciseness_may_change() {
    let exam = exam(Ways { skills: true, ..nothing() });
    let mut answers = Answers::default();
    for version in VERSIONS {
        let moved = if version == "padded" { 5.0 } else { 2.0 };
        let verdicts = builtin().iter().map(|skill| {
            let score = match skill.id.as_str() {
                "completeness" | "conciseness" | "factuality" => moved,
                _ => 2.0,
            };
            (skill.id.as_str(), rating(score))
        });
        add(&mut answers, &format!("1/{version}"), verdicts.collect());
    }
    let tables = exam.tables(&answers);
    // Of ten skills only factuality moved. Item 2 has no answers: ten scores are left out.
    let padded = figure(&tables, "all", "skills", "robustness_padded").unwrap();
    assert_eq!((padded.value, padded.n, padded.left_out), (Some(0.9), 10, 10));
    assert_eq!(figure(&tables, "all", "skills", "robustness_repeated").unwrap().value, Some(1.0));
    assert_eq!(figure(&tables, "all", "skills", "padding_wins").unwrap().value, Some(1.0));
}

#[test]
fn figures_of_pairs_by_hand() {
    let exam = exam(Ways { together: true, ..nothing() });
    let ids: Vec<String> = exam.asks().into_iter().map(|ask| ask.id).collect();
    assert_eq!(ids.len(), 12);
    assert!(ids.contains(&"1/vs_wrong/ba".to_owned()), "{ids:?}");
    let mut answers = Answers::default();
    // The first is the short one: 0.4 on the mean, so the padded one wins; then 0.6, so it does not.
    both(&mut answers, "1/vs_padded", [0.7, 0.1]);
    both(&mut answers, "2/vs_padded", [0.7, 0.5]);
    both(&mut answers, "1/vs_wrong", [0.1, 0.1]);
    let tables = exam.tables(&answers);
    let of = |metric: &str| figure(&tables, "all", "together", metric).unwrap();
    assert_eq!(of("padding_wins").value, Some(0.5));
    assert_eq!((of("longer_wrong_wins").value, of("longer_wrong_wins").left_out), (Some(1.0), 1));
    assert_eq!(of("repetition_wins").value, None);
    assert!(figure(&tables, "all", "together", "robustness_padded").is_none());
}

#[test]
fn yes_or_no_is_a_scale_too() {
    let exam = exam(Ways { alone: true, ..nothing() });
    let mut answers = Answers::default();
    for (version, yes) in VERSIONS.into_iter().zip([0.5, 0.6, 0.7, 0.4]) {
        let verdict = scored(&[("no", 0.0, 1.0 - yes), ("yes", 1.0, yes)]);
        add(&mut answers, &format!("1/{version}"), vec![("good", verdict)]);
    }
    let tables = exam.tables(&answers);
    let of = |metric: &str| figure(&tables, "all", "alone", metric).unwrap().value;
    assert_eq!(of("robustness_padded"), Some(1.0));
    assert_eq!(of("robustness_repeated"), Some(0.0));
    assert_eq!((of("padding_wins"), of("longer_wrong_wins")), (Some(1.0), Some(0.0)));
}

#[test]
fn solutions_lose_their_notes() {
    let text = "He has 2+3=<<2+3=5>>5 pears.\nHe eats one: 5-1=<<5-1=4>>4.\n#### 4";
    let expected = "He has 2+3=5 pears.\nHe eats one: 5-1=4.\nThe answer is 4.";
    assert_eq!(solution(text).unwrap(), expected);
    assert_eq!(solution("no result"), None);
    assert_eq!(solution("open <<1+1\n#### 2").unwrap(), "open\nThe answer is 2.");
    assert_eq!(sentences("About 3.5 of it. Yes!\nNo"), ["About 3.5 of it.", "Yes!", "No"]);
}

#[test]
fn one_source_is_enough_and_the_other_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("openai+grade-school-math").join(GSM8K_FILE);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let rows = "{\"question\": \"1+1?\", \"answer\": \"It is <<1+1=2>>2.\\n#### 2\"}\n{\"question\": \"?\"}\n\
                {\"question\": \"2+2?\", \"answer\": \"It is 4.\\n#### 4\"}\n";
    std::fs::write(&file, rows).unwrap();
    let exam = Verbosity::from_data(&DataDir::new(folder.path()), VerbositySettings::default()).unwrap();
    assert_eq!(exam.items(), 2);
    let problems: Vec<String> = exam.problems().iter().map(ToString::to_string).collect();
    assert!(
        problems[0].starts_with("grade_school_math/data/test.jsonl:2: question, or an answer"),
        "{problems:?}"
    );
    assert!(problems[1].contains("there is no folder of FLASK"), "{problems:?}");
    let empty = tempfile::tempdir().unwrap();
    assert!(Verbosity::from_data(&DataDir::new(empty.path()), VerbositySettings::default()).is_err());
}
