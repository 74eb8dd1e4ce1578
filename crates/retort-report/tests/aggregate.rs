//! Figures against sums done by hand.

#![expect(clippy::unwrap_used, reason = "what a test needs and cannot have fails the test")]

mod common;

use common::{BROOK, LABELS, RECORDS, reviews};
use retort_report::{
    Figure, Measure, Profile, ReportError, Row, Score, Settings, SkillScore, Unit, aggregate, profile, read,
};
use retort_rubric::Difficulty;
use retort_stats::Scale;

fn settings() -> Settings {
    Settings { resamples: 200, ..Settings::default() }
}

fn measure<'a>(measures: &'a [Measure], id: &str) -> &'a Measure {
    measures.iter().find(|measure| measure.id == id).unwrap()
}

fn close(found: &Figure, expected: f64, count: usize) {
    assert!((found.mean.unwrap() - expected).abs() < 1e-12, "{found:?}, not {expected}");
    assert_eq!(found.count, count, "{found:?}");
}

fn of_reviews() -> Profile {
    profile(&reviews(), &settings()).unwrap()
}

fn value(value: f64) -> Score {
    Score::Value { value, scale: Scale::new(1.0, 5.0).unwrap() }
}

fn row(id: &str, rubric: &str, score: Score) -> Row {
    let score = SkillScore { rubric_id: rubric.to_owned(), rubric_name: None, rubric_sha256: None, score };
    Row::new(id, None, vec![score])
}

#[test]
fn means_per_skill() {
    let profile = of_reviews();
    let names: Vec<&str> = profile.models.iter().map(|model| model.label()).collect();
    assert_eq!(names, ["brook", "harbour"]);
    let brook = |id: &str| measure(&profile.skills, id).figures[0].clone();
    // Reviews 1, 2, 4 and 6: (4 + 2 + 3 + 5) / 4. The sixth has no labels and counts all the same.
    close(&brook("readability"), 3.5, 4);
    // Reviews 1 and 3: (3 + 5) / 2.
    close(&brook("factuality"), 4.0, 2);
    // Reviews 2 and 4: (5 + 1) / 2.
    close(&brook("logical_correctness"), 3.0, 2);
    // "4" in quotes is a score (P6).
    close(&brook("conciseness"), 4.0, 1);
    // FLASK's order, and only skills that occur.
    let ids: Vec<&str> = profile.skills.iter().map(|skill| skill.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "logical_robustness",
            "logical_correctness",
            "factuality",
            "comprehension",
            "insightfulness",
            "completeness",
            "readability",
            "conciseness",
            "harmlessness"
        ]
    );
}

#[test]
fn p15_not_applicable_is_in_neither_sum_nor_divisor_and_alone_has_no_mean() {
    let profile = of_reviews();
    let completeness = &measure(&profile.skills, "completeness").figures[0];
    assert_eq!((completeness.mean, completeness.not_applicable, completeness.unscored), (None, 1, 0));
    assert_eq!(completeness.why_none.as_deref(), Some("not applicable to any response"));
    assert_eq!(completeness.interval, None);
    let harmlessness = &measure(&profile.skills, "harmlessness").figures[1];
    assert_eq!((harmlessness.mean, harmlessness.not_applicable), (None, 1));
}

#[test]
fn p8_what_could_not_be_scored_is_counted_apart() {
    let profile = of_reviews();
    // Review 2 of harbour has no scores; its labels name three skills, each of which is a gap.
    for id in ["readability", "logical_correctness", "conciseness"] {
        assert_eq!(measure(&profile.skills, id).figures[1].unscored, 1, "{id}");
    }
    // Readability of harbour: only review 1, since 4 is no JSON.
    close(&measure(&profile.skills, "readability").figures[1], 5.0, 1);
    let conciseness = &measure(&profile.skills, "conciseness").figures[1];
    assert_eq!(conciseness.why_none.as_deref(), Some("no response could be scored"));
    // A 9 is no score from 1 to 5. Comprehension: review 3 gives 5, review 5 the 9.
    let comprehension = &measure(&profile.skills, "comprehension").figures[1];
    close(comprehension, 5.0, 1);
    assert_eq!(comprehension.unscored, 1);
    assert_eq!(profile.models[1].unscored, 4);
    assert_eq!(profile.models[1].not_applicable, 1);
}

#[test]
fn a_row_counts_in_both_of_its_domains() {
    let profile = of_reviews();
    let brook = |id: &str| measure(&profile.domains, id).figures[0].clone();
    // Rows 1 and 3: 4, 3, N/A; 5, 4, 3 = 19 / 5.
    close(&brook("health"), 19.0 / 5.0, 5);
    // Row 1 alone: (4 + 3) / 2.
    close(&brook("culture"), 3.5, 2);
    // Rows 2 and 4: 2, 5, 4; 1, 2, 3 = 17 / 6.
    close(&brook("math"), 17.0 / 6.0, 6);
    // Row 4 alone: (1 + 2 + 3) / 3.
    close(&brook("coding"), 2.0, 3);
    assert_eq!(profile.domains.len(), 4);
    // Row 5 has the domain "-1" and row 6 no labels.
    assert_eq!(profile.models[0].without_domain, 2);
    assert_eq!(brook("health").prompts, 2);
}

#[test]
fn difficulty_by_skill_and_cumulative() {
    let profile = of_reviews();
    let readability = profile.difficulty.iter().find(|row| row.id.as_deref() == Some("readability")).unwrap();
    let means = |of: fn(&retort_report::Level) -> &Vec<Figure>| -> Vec<Option<f64>> {
        readability.levels.iter().map(|level| of(level)[0].mean).collect()
    };
    // Row 1 (simple) 4, row 2 (formal) 2, row 4 (expert) 3; row 6 has no level.
    assert_eq!(means(|level| &level.at), [Some(4.0), None, Some(2.0), None, Some(3.0)]);
    // Up to formal: (4 + 2) / 2; up to expert: (4 + 2 + 3) / 3.
    assert_eq!(means(|level| &level.up_to), [Some(4.0), Some(4.0), Some(3.0), Some(3.0), Some(3.0)]);
    let together = profile.difficulty.last().unwrap();
    assert_eq!(together.id, None);
    // Simple: rows 1 and 3, 19 / 5. Up to formal: also row 2, (19 + 11) / 8. Up to expert: also row 4, 36 / 11.
    close(&together.levels[0].at[0], 19.0 / 5.0, 5);
    close(&together.levels[2].up_to[0], 30.0 / 8.0, 8);
    close(&together.levels[4].up_to[0], 36.0 / 11.0, 11);
    assert_eq!(together.levels[4].difficulty, Difficulty::ExpertLevel);
}

#[test]
fn an_interval_draws_prompts_and_not_rows() {
    // Prompt a has 1, 1, 1 and prompt b has 5. Two draws of two prompts: aa (¼) has mean 1, bb (¼) 5, ab (½) 2. The
    // 2.5% and 97.5% quantiles are 1 and 5. Were rows drawn, four fives would come in 0.4% of all resamples, at least
    // three in 5.1%, and the upper end would be 4.
    let rows: Vec<Row> = [("a", 1.0), ("a", 1.0), ("a", 1.0), ("b", 5.0)]
        .map(|(id, v)| row(id, "readability", value(v)))
        .into();
    let profile = aggregate(&rows, &Settings::default()).unwrap();
    let figure = &profile.skills[0].figures[0];
    close(figure, 2.0, 4);
    assert_eq!(figure.prompts, 2);
    let interval = figure.interval.unwrap();
    assert_eq!((interval.low, interval.high), (1.0, 5.0));
    // One prompt says nothing about others.
    let alone = aggregate(&rows[..3], &Settings::default()).unwrap();
    assert_eq!(alone.skills[0].figures[0].interval, None);
    assert!(alone.skills[0].figures[0].why_no_interval.is_some());
}

#[test]
fn p24_the_seed_is_recorded_and_moves_the_interval() {
    let rows: Vec<Row> =
        (0..12).map(|i| row(&i.to_string(), "readability", value(1.0 + f64::from(i % 5)))).collect();
    let at = |seed| aggregate(&rows, &Settings { seed, resamples: 50, ..Settings::default() }).unwrap();
    assert_eq!(at(7).method.seed, 7);
    assert_eq!(at(7), at(7));
    assert_ne!(at(7).skills[0].figures[0].interval, at(8).skills[0].figures[0].interval);
}

#[test]
fn p17_scores_of_different_scales_are_averaged_by_their_places() {
    let reading = read(&[RECORDS], &[LABELS]);
    let profile = profile(&reading, &settings()).unwrap();
    // Each rubric has one scale and keeps it: (3.5 + 4.5) / 2 of 1 to 5, (7.5 + 2.5) / 2 of 0 to 10.
    let readability = measure(&profile.skills, "readability");
    assert_eq!(readability.unit, Unit::Points { min: 1.0, max: 5.0 });
    close(&readability.figures[0], 4.0, 2);
    let kindness = measure(&profile.skills, "kindness");
    assert_eq!(kindness.unit, Unit::Points { min: 0.0, max: 10.0 });
    close(&kindness.figures[0], 5.0, 2);
    assert_eq!((kindness.figures[0].unscored, readability.figures[0].not_applicable), (1, 1));
    // Together by place: Health is the first record, found by its prompt's hash: ((3.5 − 1)/4 + 7.5/10) / 2.
    assert_eq!(profile.across, Unit::Place);
    close(&measure(&profile.domains, "health").figures[0], (0.625 + 0.75) / 2.0, 2);
    // One rubric on two scales: (4 − 1)/4 and 5/10, so 0.625 and not 4.5.
    let other = Score::Value { value: 5.0, scale: Scale::new(0.0, 10.0).unwrap() };
    let mixed = [row("a", "tone", value(4.0)), row("b", "tone", other)];
    let mixed = aggregate(&mixed, &settings()).unwrap();
    assert_eq!(mixed.skills[0].unit, Unit::Place);
    close(&mixed.skills[0].figures[0], 0.625, 2);
    assert!(mixed.notes.iter().any(|note| note.contains("different scales were given for tone")));
}

#[test]
fn records_carry_judge_checklist_and_what_should_be_known() {
    let reading = read(&[RECORDS], &[]);
    assert_eq!(reading.problems, []);
    let profile = profile(&reading, &settings()).unwrap();
    assert_eq!(profile.models[0].name.as_deref(), Some("records"));
    assert_eq!(profile.judges, ["little-judge (SHA-256 abababababab…)"]);
    let lists = profile.models[0].checklist.as_ref().unwrap();
    // (0.75 + 0.25) / 2; items 2 + 4 verified, 2 judged, 1 N/A, 3 + 1 met.
    close(&lists.score, 0.5, 2);
    assert_eq!((lists.verified, lists.judged, lists.not_applicable, lists.met), (6, 2, 1, 4));
    let notes = profile.notes.join("\n");
    assert!(notes.contains("outside_options (1)"), "{notes}");
    assert!(notes.contains("1 row was judged with a text that was cut"), "{notes}");
    // P31: the third record has another hash for the same rubric.
    assert!(
        notes.contains("different wordings of the same rubric are averaged here (readability)"),
        "{notes}"
    );
    // The third record has its own labels.
    close(&measure(&profile.domains, "language").figures[0], 0.25, 1);
}

#[test]
fn only_the_skills_that_the_labels_name_where_asked_for() {
    let rows = read(&[BROOK], &[LABELS]).rows;
    let mut rows: Vec<Row> = rows.into_iter().filter(|row| row.id == "1").collect();
    rows[0].scores.push(SkillScore {
        rubric_id: "harmlessness".into(),
        rubric_name: None,
        rubric_sha256: None,
        score: value(1.0),
    });
    let all = aggregate(&rows, &settings()).unwrap();
    // (4 + 3 + 1) / 3, and without Harmlessness (4 + 3) / 2.
    close(&measure(&all.domains, "health").figures[0], 8.0 / 3.0, 3);
    let named = aggregate(&rows, &Settings { labelled_skills_only: true, ..settings() }).unwrap();
    close(&measure(&named.domains, "health").figures[0], 3.5, 2);
    assert!(named.notes.iter().any(|note| note.starts_with("1 score is left out, because the labels")));
}

#[test]
fn the_skill_agnostic_rating_stands_beside_the_skills() {
    let mut rows = read(&[BROOK], &[LABELS]).rows;
    rows.retain(|row| row.id == "2");
    let overall = || row("2", "overall", value(1.0)).scores.remove(0);
    rows[0].scores.push(overall());
    let profile = aggregate(&rows, &settings()).unwrap();
    close(&measure(&profile.skills, "overall").figures[0], 1.0, 1);
    // (2 + 5 + 4) / 3, and not (2 + 5 + 4 + 1) / 4.
    close(&measure(&profile.domains, "math").figures[0], 11.0 / 3.0, 3);
    close(&profile.difficulty.last().unwrap().levels[2].at[0], 11.0 / 3.0, 3);
    // Alone it is what there is.
    rows[0].scores = vec![overall()];
    let alone = aggregate(&rows, &settings()).unwrap();
    close(&measure(&alone.domains, "math").figures[0], 1.0, 1);
}

#[test]
fn p20_length_against_score() {
    let mut rows: Vec<Row> =
        [("a", 2.0), ("b", 3.0), ("c", 5.0)].map(|(id, v)| row(id, "readability", value(v))).into();
    for (row, words) in rows.iter_mut().zip([10, 20, 40]) {
        row.words = Some(words);
    }
    let profile = aggregate(&rows, &settings()).unwrap();
    let length = profile.models[0].length.as_ref().unwrap();
    // Places ¼, ½, 1 rise in proportion to the words: both correlations are 1.
    assert!((length.pearson.unwrap() - 1.0).abs() < 1e-12 && (length.spearman.unwrap() - 1.0).abs() < 1e-12);
    assert!((length.mean_words - 70.0 / 3.0).abs() < 1e-12);
    // P23: where nothing varies there is no correlation, and a reason.
    for row in &mut rows {
        row.words = Some(10);
    }
    let constant = aggregate(&rows, &settings()).unwrap();
    let length = constant.models[0].length.as_ref().unwrap();
    assert_eq!(length.pearson, None);
    assert!(length.why_none.is_some());
}

#[test]
fn p16_no_score_that_is_no_number_or_off_its_scale_gets_in() {
    for bad in [f64::NAN, f64::INFINITY, 5.5, 0.0] {
        let error = aggregate(&[row("x", "readability", value(bad))], &settings()).unwrap_err();
        assert!(matches!(error, ReportError::Score { .. }), "{error}");
    }
    let error = aggregate(&[], &Settings { resamples: 1, ..settings() }).unwrap_err();
    assert!(error.to_string().contains("from 2 to 1000000"), "{error}");
}

#[test]
fn a_profile_of_nothing_is_empty() {
    let profile = aggregate(&[], &settings()).unwrap();
    assert!(profile.skills.is_empty() && profile.models.is_empty());
    assert!(retort_report::to_markdown(&profile).starts_with("# Profile of nothing"));
    assert!(retort_report::to_html(&profile).contains("Nothing was judged"));
}

#[test]
fn p30_a_profile_comes_back_from_its_json() {
    let profile = of_reviews();
    let json = retort_report::to_json(&profile).unwrap();
    assert_eq!(serde_json::from_str::<Profile>(&json).unwrap(), profile);
    assert!(json.starts_with("{\n  \"format\": \"retort.profile/1\""));
    assert!(!json.contains("NaN"));
}
