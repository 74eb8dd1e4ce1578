use retort_report::{Row as ScoreRow, SkillScore};
use retort_rubric::{Difficulty, Domain};
use retort_stats::Scale;

use super::*;
use crate::protocol::fake::{add, figure, not_applicable, rating};

fn instruction(id: &str, skills: &[Skill], domains: &[Domain]) -> Instruction {
    Instruction {
        id: id.to_owned(),
        prompt: format!("Do {id}."),
        reference: Some("red green blue".to_owned()),
        skills: skills.to_vec(),
        domains: domains.to_vec(),
        difficulty: Some(Difficulty::MajorLevel),
    }
}

fn output(id: &str, text: &str) -> Output {
    Output { id: id.to_owned(), text: text.to_owned() }
}

fn instructions() -> Vec<Instruction> {
    vec![
        instruction("1", &[Skill::Readability, Skill::Factuality], &[Domain::Health]),
        instruction("2", &[Skill::Readability], &[Domain::Health, Domain::History]),
        instruction("3", &[Skill::Readability], &[]),
    ]
}

fn outputs() -> Vec<(String, Vec<Output>)> {
    vec![
        ("m".to_owned(), vec![output("1", "one"), output("2", "one two"), output("3", "one two three")]),
        ("m_big".to_owned(), vec![output("1", "red green blue"), output("9", "to nothing")]),
    ]
}

fn exam(given: Vec<GivenScores>, settings: FlaskSettings) -> Flask {
    Flask::new(instructions(), outputs(), given, Vec::new(), settings)
}

fn answers() -> Answers {
    let mut answers = Answers::default();
    add(&mut answers, "1/m/skills", vec![("readability", rating(4.0)), ("factuality", not_applicable())]);
    add(&mut answers, "2/m/skills", vec![("readability", rating(2.0))]);
    add(&mut answers, "3/m/skills", vec![("readability", rating(1.0))]);
    add(&mut answers, "1/m_big/skills", vec![("readability", rating(5.0)), ("factuality", rating(3.0))]);
    for (id, score) in [("1/m", 2.0), ("2/m", 3.0), ("3/m", 5.0), ("1/m_big", 1.0)] {
        add(&mut answers, &format!("{id}/agnostic"), vec![("overall", rating(score))]);
    }
    for (id, score) in [("1/m", 4.5), ("2/m", 3.0)] {
        add(&mut answers, &format!("{id}/no_reference"), vec![("readability", rating(score))]);
    }
    answers
}

fn given(name: &str, scores: &[(&str, &str, Skill, f64)]) -> GivenScores {
    let row = |&(id, model, skill, value): &(&str, &str, Skill, f64)| {
        let score = Scale::new(1.0, 5.0).map_or(Score::NotApplicable, |scale| Score::Value { value, scale });
        let score =
            SkillScore { rubric_id: skill.id().to_owned(), rubric_name: None, rubric_sha256: None, score };
        ScoreRow::new(id, Some(model.to_owned()), vec![score])
    };
    GivenScores { name: name.to_owned(), rows: scores.iter().map(row).collect() }
}

#[test]
fn p15_profiles_leave_out_what_does_not_apply() {
    let exam = exam(Vec::new(), FlaskSettings::default());
    let tables = exam.tables(&answers());
    assert_eq!(tables[0].title, "FLASK: profile of m");
    let of = |part: &str, judge: &str| figure(&tables[..1], part, judge, "mean_score").unwrap();
    assert_eq!((of("readability", "skills").value, of("readability", "skills").n), (Some(7.0 / 3.0), 3));
    // The one score of factuality is N/A: there is no such row, and the note counts it.
    assert!(figure(&tables[..1], "factuality", "skills", "mean_score").is_none());
    assert!(tables[0].notes[0].contains("1 judgements were \"not applicable\""), "{}", tables[0].notes[0]);
    // Health: 4 and 2. History: 2. Major level: all three.
    assert_eq!(of("domain health", "skills").value, Some(3.0));
    assert_eq!(of("domain history", "skills").value, Some(2.0));
    assert_eq!(of("difficulty 4 major_level", "skills").value, Some(7.0 / 3.0));
    assert_eq!(of("all", "agnostic").value, Some(10.0 / 3.0));
    // Two of three answered; factuality of instruction 1 was not.
    let without = of("readability", "no_reference");
    assert_eq!((without.value, without.n, without.left_out), (Some(3.75), 2, 1));
    assert_eq!(figure(&tables[1..2], "factuality", "skills", "mean_score").unwrap().value, Some(3.0));
    assert!(exam.problems()[0].to_string().contains("1 responses are to instructions"));
}

#[test]
fn agreement_with_given_scores_by_hand() {
    let scores = given(
        "people",
        &[
            ("1", "m", Skill::Readability, 5.0),
            ("2", "m_review", Skill::Readability, 3.0),
            ("3", "m", Skill::Readability, 4.0),
            ("1", "m_big", Skill::Readability, 5.0),
            ("1", "other", Skill::Readability, 1.0),
        ],
    );
    let tables = exam(vec![scores], FlaskSettings::default()).tables(&answers());
    let tables: Vec<Table> = tables.into_iter().filter(|table| table.title.contains("with people")).collect();
    assert!(tables[0].notes[0].starts_with("4 scores of responses that are examined; 1 rows"));
    let of = |judge: &str, metric: &str| figure(&tables, "all", judge, metric).unwrap();
    // Judge 4, 2, 1, 5 (1/m, 2/m, 3/m, 1/m_big), people 5, 3, 4, 5. Pearson: deviations 1 −1 −2 2 and 0.75 −1.25 −0.25
    // 0.75: (0.75 + 1.25 + 0.5 + 1.5) / √(10 · 2.75).
    let pearson = of("skills", "pearson").value.unwrap();
    assert!((pearson - 4.0 / 27.5_f64.sqrt()).abs() < 1e-12, "{pearson}");
    // Midranks 3 2 1 4 and 3.5 1 2 3.5: deviations 0.5 −0.5 −1.5 1.5 and 1 −1.5 −0.5 1: 3.5 / √(5 · 4.5).
    let spearman = of("skills", "spearman").value.unwrap();
    assert!((spearman - 3.5 / 22.5_f64.sqrt()).abs() < 1e-12, "{spearman}");
    // Six pairs: concordant 1m-2m, 1m-3m, 2m-big, 3m-big; discordant 2m-3m; tied in people 1m-big. 3 / √(6 · 5).
    let kendall = of("skills", "kendall_tau_b").value.unwrap();
    assert!((kendall - 3.0 / 30.0_f64.sqrt()).abs() < 1e-12, "{kendall}");
    assert_eq!(of("no_reference", "pearson").left_out, 2);
    // Words 1 2 3 3 against 5 3 4 5: deviations −1.25 −0.25 0.75 0.75 and 0.75 −1.25 −0.25 0.75.
    let longer = of("longer", "pearson").value.unwrap();
    let expected = (-0.9375 + 0.3125 - 0.1875 + 0.5625) / (2.75_f64 * 2.75).sqrt();
    assert!((longer - expected).abs() < 1e-12, "{longer}");
    assert!((of("shorter", "pearson").value.unwrap() + expected).abs() < 1e-12);
    // ROUGE-L of the three texts of m with "red green blue" is 0, that of m_big's 1: 0 0 0 1 against 5 3 4 5.
    let overlap = of("overlap", "pearson").value.unwrap();
    assert!((overlap - 0.75 / (0.75_f64 * 2.75).sqrt()).abs() < 1e-12, "{overlap}");
    assert!(figure(&tables, "readability", "skills", "spearman").unwrap().value.is_some());
}

#[test]
fn retort_records_are_found_by_the_prompt() {
    let scores = given("records", &[(&sha256_hex(b"Do 2."), "m", Skill::Readability, 3.0)]);
    let exam = exam(vec![scores], FlaskSettings::default());
    assert_eq!((exam.given[0].scores.len(), exam.given[0].unmatched), (1, 0));
}

#[test]
fn length_goes_against_score_here() {
    let tables = exam(Vec::new(), FlaskSettings::default()).tables(&answers());
    let of = |metric: &str| figure(&tables, "readability", "skills", metric).unwrap();
    // Words 1 2 3 3 against 4 2 1 5: deviations −1.25 −0.25 0.75 0.75 and 1 −1 −2 2.
    let expected = (-1.25 + 0.25 - 1.5 + 1.5) / (2.75_f64 * 10.0).sqrt();
    assert!((of("length_pearson").value.unwrap() - expected).abs() < 1e-12);
    assert_eq!(of("length_pearson").n, 4);
    // Two models are too few for a correlation of models.
    assert!(figure(&tables, "readability", "skills", "length_pearson_of_models").is_none());
    // Two models of words 2 and 6 (means of 1, 3 and 6) and scores 3 and 1: on a falling line.
    let scored = [(4.0, 1.0, 0), (2.0, 3.0, 0), (1.0, 6.0, 1)];
    assert_eq!(by_model(&scored).unwrap(), Statistic::Value(-1.0));
}

#[test]
fn ablations_stand_beside_the_full_form() {
    let tables = exam(Vec::new(), FlaskSettings::default()).tables(&answers());
    let of = |judge: &str, metric: &str| figure(&tables, "all", judge, metric).unwrap();
    // Readability of 1/m from 4 to 4.5 and of 2/m from 2 to 3; the other three scores of the full form are unanswered.
    let change = of("no_reference", "change_of_score");
    assert_eq!((change.n, change.left_out), (2, 3));
    assert!((change.value.unwrap() - 0.75).abs() < 1e-12);
    assert_eq!(of("no_reference", "spearman_with_skills").value, Some(1.0));
}

#[test]
fn asks_are_those_of_the_conditions() {
    let exam = exam(Vec::new(), FlaskSettings { limit: Some(3), ..FlaskSettings::default() });
    let asks = exam.asks();
    // Four responses, four conditions.
    assert_eq!(asks.len(), 16);
    let ask = |id: &str| asks.iter().find(|ask| ask.id == id).unwrap();
    let fields = |id: &str| -> Vec<String> {
        ask(id).inquiry.fields.iter().map(|field| String::from(field.role.clone())).collect()
    };
    assert_eq!(fields("1/m/skills"), ["prompt", "response", "reference"]);
    assert_eq!(fields("1/m/no_reference"), ["prompt", "response"]);
    assert_eq!(ask("1/m/skills").keys, ["readability", "factuality"]);
    assert_eq!(ask("1/m/agnostic").keys, ["overall"]);
    let without = ask("1/m/no_rubric").inquiry.questions[0].rubric();
    assert_eq!((without.name.as_str(), without.options.len()), ("Readability", 5));
    assert!(without.options.iter().all(|option| option.description.is_none()));
    // What may be answered is the same, "NA" included.
    let full = ask("1/m/skills").inquiry.questions[0].rubric();
    assert_eq!(without.not_applicable, full.not_applicable);
    assert!(full.not_applicable.is_some());
}

#[test]
fn p24_a_limit_takes_the_first_instructions_of_one_seeded_order() {
    let ids = |limit| -> Vec<String> {
        let exam = exam(Vec::new(), FlaskSettings { limit, ..FlaskSettings::default() });
        exam.instructions.iter().map(|instruction| instruction.id.clone()).collect()
    };
    let all = ids(None);
    assert_eq!(all.len(), 3);
    assert_eq!(ids(Some(2)), all[..2]);
}

#[test]
fn all_twelve_skills_can_be_asked() {
    let settings = FlaskSettings { all_skills: true, ..FlaskSettings::default() };
    let exam = exam(Vec::new(), settings);
    assert_eq!(exam.asks()[0].keys.len(), 12);
    let tables = exam.tables(&answers());
    let of = |part: &str| figure(&tables[..1], part, "skills", "mean_score").unwrap();
    // The mean over needed skills and the mean over all responses are different rows.
    assert_eq!(of("readability").n, 3);
    assert_eq!(of("readability (all responses)").n, 3);
    assert_eq!(of("conciseness (all responses)").n, 0);
    assert!(figure(&tables[..1], "conciseness", "skills", "mean_score").is_none());
}

#[test]
fn a_longer_name_of_a_model_is_not_its_beginning() {
    let models = ["chat".to_owned(), "chat_big".to_owned()];
    assert_eq!(model_of("chat", &models), Some(0));
    assert_eq!(model_of("chat_big", &models), Some(1));
    assert_eq!(model_of("chat_big_review", &models), Some(1));
    assert_eq!(model_of("chat_review", &models), Some(0));
    assert_eq!(model_of("chatter", &models), None);
}
