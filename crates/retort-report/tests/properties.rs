//! What holds for any rows and any names.

#![expect(clippy::unwrap_used, reason = "what a test needs and cannot have fails the test")]

mod common;

use proptest::prelude::*;
use retort_report::{
    Reading, Row, Score, Settings, SkillScore, Source, aggregate, profile, read, to_html, to_markdown,
};
use retort_rubric::{Annotation, Annotator, Difficulty, Domain};
use retort_stats::Scale;

const SETTINGS: Settings = Settings { seed: 3, resamples: 20, level: 0.95, labelled_skills_only: false };

fn config() -> ProptestConfig {
    ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() }
}

fn score() -> impl Strategy<Value = Score> {
    prop_oneof![
        6 => (1.0..=5.0).prop_map(|value| Score::Value { value, scale: Scale::new(1.0, 5.0).unwrap() }),
        1 => Just(Score::NotApplicable),
        1 => Just(Score::Unscored { why: "cancelled".to_owned() }),
    ]
}

fn row() -> impl Strategy<Value = Row> {
    let scores = prop::collection::vec((0..4_usize, score()), 0..5);
    let labels = prop::option::of((prop::option::of(0..10_usize), prop::option::of(0..5_usize)));
    (0..8_u8, 0..3_usize, scores, labels, prop::option::of(0..50_usize)).prop_map(
        |(id, model, scores, labels, words)| {
            let scores = scores
                .into_iter()
                .map(|(rubric, score)| SkillScore {
                    rubric_id: ["readability", "factuality", "conciseness", "own"][rubric].to_owned(),
                    rubric_name: None,
                    rubric_sha256: None,
                    score,
                })
                .collect();
            let mut row =
                Row::new(id.to_string(), [None, Some("a"), Some("b")][model].map(str::to_owned), scores);
            row.annotation = labels.map(|(domain, difficulty)| Annotation {
                skills: Vec::new(),
                domains: domain.map(|index| Domain::ALL[index].into()).into_iter().collect(),
                difficulty: difficulty.map(|index| Difficulty::ALL[index]),
                by: Annotator::File,
            });
            row.words = words;
            row
        },
    )
}

/// The tags of an HTML text with their attributes' names, and nothing of what people read.
fn skeleton(html: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let mut tag = String::new();
        let mut quoted = false;
        let mut end = rest.len();
        for (at, c) in rest[start..].char_indices() {
            match c {
                '"' => quoted = !quoted,
                '>' if !quoted => {
                    end = start + at + 1;
                    break;
                }
                c if !quoted => tag.push(c),
                _ => {}
            }
        }
        tags.push(tag);
        rest = &rest[end..];
    }
    tags
}

/// Lines as the elements of an array.
fn with_commas(lines: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(lines);
    let rows: Vec<&str> =
        text.trim_start_matches('\u{feff}').lines().filter(|line| !line.is_empty()).collect();
    rows.join(",\n").into_bytes()
}

/// Cell borders of each line.
fn borders(markdown: &str) -> Vec<usize> {
    markdown.lines().map(|line| line.replace("\\\\", "").replace("\\|", "").matches('|').count()).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_order_of_rows_never_matters(
        (rows, shuffled) in prop::collection::vec(row(), 0..30)
            .prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle()))
    ) {
        prop_assert_eq!(aggregate(&rows, &SETTINGS).unwrap(), aggregate(&shuffled, &SETTINGS).unwrap());
    }

    #[test]
    fn p15_no_verdict_without_a_score_ever_changes_a_mean(
        rows in prop::collection::vec(row(), 0..30),
        extra in prop::collection::vec((0..8_u8, 0..2_usize, any::<bool>()), 1..10),
    ) {
        let before = aggregate(&rows, &SETTINGS).unwrap();
        let mut more = rows.clone();
        for (id, rubric, applies) in extra {
            let score = if applies { Score::Unscored { why: "x".to_owned() } } else { Score::NotApplicable };
            let rubric_id = ["readability", "own"][rubric].to_owned();
            let score = SkillScore { rubric_id, rubric_name: None, rubric_sha256: None, score };
            // Of a model that is there, so that the columns stay.
            let Some(like) = rows.first() else { continue };
            let mut row = Row::new(id.to_string(), like.model.clone(), vec![score]);
            row.annotation.clone_from(&like.annotation);
            more.push(row);
        }
        let after = aggregate(&more, &SETTINGS).unwrap();
        for measure in before.skills.iter().chain(&before.domains) {
            let same = after.skills.iter().chain(&after.domains).find(|other| other.id == measure.id).unwrap();
            for (one, other) in measure.figures.iter().zip(&same.figures) {
                prop_assert_eq!((one.mean, one.interval, one.count), (other.mean, other.interval, other.count));
            }
        }
    }

    #[test]
    fn a_mean_lies_between_its_scores_and_within_its_interval_s_reach(rows in prop::collection::vec(row(), 0..30)) {
        let profile = aggregate(&rows, &SETTINGS).unwrap();
        for figure in profile.skills.iter().chain(&profile.domains).flat_map(|measure| &measure.figures) {
            prop_assert_eq!(figure.mean.is_none(), figure.count == 0);
            prop_assert_eq!(figure.mean.is_none(), figure.why_none.is_some());
            prop_assert_eq!(figure.interval.is_some(), figure.prompts > 1);
            prop_assert!(figure.mean.is_none_or(|mean| (1.0 - 1e-9..=5.0 + 1e-9).contains(&mean)));
            prop_assert!(figure.interval.is_none_or(|ends| ends.low <= ends.high));
        }
    }

    #[test]
    fn no_file_is_ever_too_broken(
        which in 0..3_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
        as_array in any::<bool>(),
    ) {
        let mut bytes = [common::HARBOUR, common::RECORDS, common::LABELS][which].bytes.to_vec();
        if as_array {
            bytes = [b"[", with_commas(&bytes).as_slice(), b"]"].concat();
        }
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        let source = Source { name: "x.jsonl", bytes: &bytes };
        let reading = read(&[source, common::BROOK], &[source, common::LABELS]);
        // The good file beside it loses nothing.
        let brook = |reading: &Reading| reading.rows.iter().filter(|row| row.model.as_deref() == Some("brook")).count();
        prop_assert_eq!(brook(&reading), brook(&common::reviews()));
        prop_assert!(reading.problems.iter().all(|problem| problem.line >= 1 && problem.column != Some(0)));
        let profile = profile(&reading, &SETTINGS).unwrap();
        prop_assert!(!to_html(&profile).contains("NaN") && !to_markdown(&profile).contains("NaN"));
        let json = retort_report::to_json(&profile).unwrap();
        prop_assert_eq!(serde_json::from_str::<retort_report::Profile>(&json).unwrap(), profile);
    }

    #[test]
    fn no_name_is_ever_markup(name in "[<>&\"'|`*_a-z \n\\\\/=!-]{1,40}", id in "[<>&\"'|a-z\n]{1,20}") {
        let page = |name: &str, id: &str| {
            let scale = Scale::new(0.0, 10.0).unwrap();
            let scores = ["readability", "factuality", "completeness", id].map(|rubric| SkillScore {
                rubric_id: rubric.to_owned(),
                rubric_name: Some(name.to_owned()),
                rubric_sha256: None,
                score: Score::Value { value: 5.0, scale },
            });
            let mut row = Row::new(id, Some(name.to_owned()), scores.to_vec());
            row.judge = Some(name.to_owned());
            row.scores.push(SkillScore {
                rubric_id: id.to_owned(),
                rubric_name: Some(name.to_owned()),
                rubric_sha256: None,
                score: Score::Unscored { why: name.to_owned() },
            });
            let other = Row::new("z", Some("zz".to_owned()), row.scores.clone());
            let mut profile = aggregate(&[row, other], &SETTINGS).unwrap();
            profile.without_labels = vec![id.to_owned(), name.to_owned()];
            // Sorted by name, which is not what is compared here.
            profile.models.sort_by_key(|model| model.name.as_deref() == Some("zz"));
            profile
        };
        let (plain, nasty) = (page("plain", "plain"), page(&name, &id));
        // A name that is another column's would make one column of two.
        prop_assume!(nasty.models.len() == 2 && nasty.skills.len() == plain.skills.len());
        prop_assert_eq!(skeleton(&to_html(&nasty)), skeleton(&to_html(&plain)));
        prop_assert_eq!(borders(&to_markdown(&nasty)), borders(&to_markdown(&plain)));
        prop_assert!(!to_markdown(&nasty).contains('<'));
    }
}
