//! What is read, and what is said of the rest.

mod common;

use common::{BROOK, HARBOUR, LABELS, RECORDS, reviews};
use retort_report::{Reading, Score, Source, read};
use retort_rubric::{Difficulty, Skill};

fn problems(reading: &Reading) -> Vec<String> {
    reading.problems.iter().map(ToString::to_string).collect()
}

fn of(bytes: &[u8]) -> Reading {
    read(&[Source { name: "x.jsonl", bytes }], &[])
}

#[test]
fn p32_a_bad_row_is_reported_with_its_line_and_skipped() {
    let reading = reviews();
    // Line 4 of harbour is empty, line 5 breaks off, line 6 has an unknown skill and a score off the scale.
    assert_eq!(
        problems(&reading),
        [
            "reviews/harbour.jsonl:5:104: the row is no JSON: EOF while parsing an object; skipped",
            "reviews/harbour.jsonl:6: score.charm: there is no skill \"charm\"; its score is left out",
            "reviews/harbour.jsonl:6: score.comprehension: 9 is neither a score from 1 to 5 nor \"N/A\"; counted as unscored",
        ]
    );
    let counts: Vec<_> = reading.files.iter().map(|file| (file.reviews, file.labels, file.skipped)).collect();
    assert_eq!(counts, [(6, 0, 0), (4, 0, 1), (0, 6, 0)]);
    assert_eq!(reading.rows.len(), 10);
}

#[test]
fn p22_what_matches_nothing_is_listed() {
    let reading = reviews();
    assert_eq!(reading.without_labels, ["6"]);
    assert_eq!(reading.without_judgement, ["7"]);
    // Without any labels nobody asked for them.
    assert!(read(&[BROOK], &[]).without_labels.is_empty());
}

#[test]
fn p25_files_are_recognised_by_their_keys() {
    // Labels among the judgements, under any name.
    let labels = Source { name: "reviews.txt", ..LABELS };
    let together = read(&[labels, BROOK], &[]);
    assert_eq!(together.rows, read(&[BROOK], &[LABELS]).rows);
    assert_eq!(together.without_labels, ["6"]);
    let unknown = of(b"{\"prompt\": \"a\", \"chosen\": \"b\"}\n");
    assert_eq!(unknown.files[0].skipped, 1);
    assert!(problems(&unknown)[0].contains("its keys are chosen, prompt"), "{:?}", unknown.problems);
    let reward = of(b"{\"format\": \"retort.reward/1\", \"rewards\": []}\n");
    assert!(problems(&reward)[0].contains("rewards have no scale"), "{:?}", reward.problems);
    let newer = of(b"{\"format\": \"retort.judgement/2\", \"verdicts\": []}\n");
    assert!(problems(&newer)[0].contains("this version reads retort.judgement/1"), "{:?}", newer.problems);
}

#[test]
fn p26_byte_order_mark_line_ends_and_one_array() {
    let row = br#"{"question_id": 1, "score": {"readability": 4}}"#;
    let with = |before: &[u8], after: &[u8]| of(&[before, row, after].concat());
    let plain = with(b"", b"\n");
    assert_eq!(plain.rows.len(), 1);
    for reading in [
        with(b"", b""),
        with(b"\xef\xbb\xbf", b"\r\n"),
        with(b"[", b"]"),
        with(b"\xef\xbb\xbf\n[\n  ", b"\n]\n"),
        with(b"\r\n\r\n", b"\r\n"),
    ] {
        assert_eq!(reading.rows, plain.rows);
        assert_eq!(reading.problems, []);
    }
    // One object over several lines, too.
    let spread = of(b"{\n \"question_id\": 1,\n \"score\": {\"readability\": 4}\n}");
    assert_eq!(spread.rows, plain.rows);
    // In an array a bad element costs only itself, and lines are physical ones.
    let array = of(b"[{\"question_id\": 1, \"score\": {}},\n\n {\"question_id\": 2, \"score\": oops},\n{\"question_id\": 3, \"score\": {\"a\\\"],{\": 1}}]");
    assert_eq!(array.rows.len(), 2);
    assert!(problems(&array)[0].starts_with("x.jsonl:3:30: the row is no JSON"), "{:?}", array.problems);
    let cut = of(b"[{\"question_id\": 1, \"score\": {}},\n{\"question_id\"");
    assert_eq!((cut.rows.len(), cut.problems.len()), (1, 2));
    assert!(problems(&cut)[1].contains("does not end"));
}

#[test]
fn p27_only_lf_ends_a_line() {
    let text = "{\"question_id\": 1, \"target_txt\": \"a\u{2028}b\u{85}c\", \"score\": {\"readability\": 4}}\n{\"question_id\": 2, \"score\": 3}\n";
    let reading = of(text.as_bytes());
    assert_eq!(reading.rows.len(), 1);
    assert_eq!(reading.problems[0].line, 2);
}

#[test]
fn p6_a_score_is_read_by_type_and_nothing_is_guessed() {
    let reading = of(br#"{"question_id": 1, "score": {"readability": "4.5", "factuality": "4/5", "harmlessness": null, "comprehension": true, "insightfulness": "not applicable", "completeness": "NA", "conciseness": 0, "metacognition": 3.25}}"#);
    let of = |id: &str| &reading.rows[0].scores.iter().find(|score| score.rubric_id == id).unwrap().score;
    let value = |score: &Score| match score {
        Score::Value { value, .. } => Some(*value),
        _ => None,
    };
    assert_eq!(value(of("readability")), Some(4.5));
    assert_eq!(value(of("metacognition")), Some(3.25));
    for id in ["factuality", "harmlessness", "comprehension", "conciseness"] {
        assert!(matches!(of(id), Score::Unscored { .. }), "{id}");
    }
    for id in ["insightfulness", "completeness"] {
        assert_eq!(*of(id), Score::NotApplicable, "{id}");
    }
    assert_eq!(reading.problems.len(), 4);
}

#[test]
fn p16_a_number_that_json_cannot_say_is_a_bad_row() {
    let reading = of(b"{\"question_id\": 1, \"score\": {\"readability\": NaN}}\n{\"question_id\": 2, \"score\": {\"readability\": 1e999}}\n");
    assert_eq!((reading.rows.len(), reading.problems.len()), (0, 2));
}

#[test]
fn labels_of_flask_with_their_oddities() {
    let reading = read(&[BROOK], &[LABELS]);
    let labels = |id: &str| reading.rows.iter().find(|row| row.id == id).unwrap().annotation.clone().unwrap();
    assert_eq!(labels("1").skills, [Skill::Readability, Skill::Factuality, Skill::Completeness]);
    assert_eq!(labels("2").difficulty, Some(Difficulty::FormalEducation));
    // Two skills, the domain "-1", the difficulty −1: no mistake, just no label.
    assert_eq!(labels("5").skills.len(), 2);
    assert!(labels("5").domains.is_empty() && labels("5").difficulty.is_none());
    assert_eq!(reading.problems, []);
    let odd = of(br#"{"idx": 1, "skill": ["Charm", "Readability", "readability"], "domain": ["Math", "Law", "Coding", "Health"], "difficulty": "hard"}"#);
    let said: Vec<&str> = odd.problems.iter().map(|problem| problem.field.as_str()).collect();
    assert_eq!(said, ["skill", "domain", "domain", "difficulty"]);
    let twice = of(b"{\"idx\": 1, \"skill\": []}\n{\"idx\": \"1\", \"skill\": []}\n");
    assert!(problems(&twice)[0].contains("already read"), "{:?}", twice.problems);
}

#[test]
fn labels_in_a_review_itself() {
    // As FLASK's own script writes them: the question's row with the review in it.
    let reading = of(br#"{"question_id": 9, "text": "t", "metrics": ["Factuality"], "difficulty_labeled": "major level knowledge", "domain_labeled": ["Natural Science"], "target_txt": "one two three", "review": "", "score": {"factuality": 2}}"#);
    let row = &reading.rows[0];
    assert_eq!(row.annotation.as_ref().unwrap().difficulty, Some(Difficulty::MajorLevel));
    assert_eq!(row.words, Some(3));
}

#[test]
fn annotations_of_retort_are_labels() {
    // The hash is that of "Say hello.", the third record's prompt, as Python's hashlib gives it.
    let record = br#"{"format": "retort.annotation/1", "instruction_sha256": "c8e2c1437abb87b67330d0dddbd1de9a179ca6be207497f14873894c26e7d742", "annotation": {"skills": ["conciseness"], "domains": [], "difficulty": "simple_lifestyle", "by": "model"}}
{"instruction": "What is the sum of the first ten odd numbers? Be brief.", "annotation": {"skills": [], "domains": [{"domain": "math"}], "difficulty": null, "by": "code"}}"#;
    let reading = read(&[RECORDS], &[Source { name: "said.jsonl", bytes: record }]);
    assert_eq!(reading.problems, []);
    assert!(reading.without_judgement.is_empty());
    assert_eq!(reading.without_labels.len(), 1);
    let labels = |row: usize| reading.rows[row].annotation.clone();
    assert_eq!(labels(0), None);
    assert_eq!(labels(1).unwrap().domains.len(), 1);
    // What a record has itself is kept.
    assert_eq!(labels(2).unwrap().skills, [Skill::Readability]);
}

#[test]
fn a_model_has_its_own_name_or_its_files() {
    let one = br#"{"question_id": 1, "model_id": "own", "score": {}}
{"question_id": 2, "score": {}}"#;
    let reading = read(
        &[
            Source { name: "a/same.jsonl", bytes: one },
            Source { name: "b/same.jsonl", bytes: one },
            Source { name: "c\\gpt.3.jsonl", bytes: one },
        ],
        &[],
    );
    let names: Vec<&str> = reading.rows.iter().map(|row| row.model.as_deref().unwrap()).collect();
    assert_eq!(names, ["own", "a/same.jsonl", "own", "b/same.jsonl", "own", "gpt.3"]);
}

#[test]
fn a_record_with_faults_loses_only_those() {
    let text = std::str::from_utf8(RECORDS.bytes).unwrap();
    let first = text.lines().next().unwrap();
    let changed = |what: &str, instead: &str| {
        assert!(first.contains(what), "{what}");
        of(first.replacen(what, instead, 1).as_bytes())
    };
    let off = changed("\"expected\": 3.5", "\"expected\": 5.5");
    assert_eq!(
        problems(&off),
        [
            "x.jsonl:1: verdicts[0].verdict.expected: 5.5 lies outside the scale of 1 to 5; counted as unscored"
        ]
    );
    assert!(matches!(off.rows[0].scores[0].score, Score::Unscored { .. }));
    assert!(matches!(off.rows[0].scores[1].score, Score::Value { .. }));
    let backwards = changed("\"min\": 1.0", "\"min\": 9.0");
    assert!(problems(&backwards)[0].contains("verdicts[0].verdict.min"), "{:?}", backwards.problems);
    let kind = changed("\"kind\": \"scored\"", "\"kind\": \"won\"");
    assert!(problems(&kind)[0].contains("no kind of verdict \"won\""), "{:?}", kind.problems);
    let list = changed("\"score\": 0.75", "\"score\": 7.5");
    assert!(problems(&list)[0].contains("checklist.score.score: 7.5"), "{:?}", list.problems);
    assert_eq!(list.rows[0].checklist.unwrap().score, None);
    let nobody = changed("prompt_sha256", "other");
    assert_eq!((nobody.rows.len(), nobody.files[0].skipped), (0, 1));
    let labels = changed(
        "\"cancelled\"",
        "\"annotation\": {\"skills\": [\"charm\"], \"by\": \"model\"}, \"cancelled\"",
    );
    assert!(problems(&labels)[0].contains("annotation: unknown variant `charm`"), "{:?}", labels.problems);
    assert_eq!(labels.rows.len(), 1);
}

#[test]
fn bytes_that_are_no_text_cost_their_line() {
    let reading = of(b"{\"question_id\": 1, \"score\": {}}\n\xff\xfe\n[1]\n7\n");
    assert_eq!(reading.rows.len(), 1);
    assert_eq!(reading.files[0].skipped, 3);
    assert!(problems(&reading)[0].contains("not UTF-8"));
    assert_eq!(read(&[HARBOUR], &[]).rows.len(), 4);
}
