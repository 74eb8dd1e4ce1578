//! The written profiles, whole.

#![expect(clippy::unwrap_used, reason = "what a test needs and cannot have fails the test")]

mod common;

use common::{LABELS, RECORDS, reviews};
use retort_report::{Profile, Row, Settings, Source, aggregate, profile, read, to_html, to_markdown};

fn of_reviews() -> Profile {
    profile(&reviews(), &Settings { resamples: 200, ..Settings::default() }).unwrap()
}

fn of_records() -> Profile {
    let reading = read(&[RECORDS], &[LABELS]);
    profile(&reading, &Settings { resamples: 200, ..Settings::default() }).unwrap()
}

#[test]
fn markdown_of_two_models() {
    insta::assert_snapshot!(to_markdown(&of_reviews()));
}

#[test]
fn markdown_of_records_on_several_scales() {
    insta::assert_snapshot!(to_markdown(&of_records()));
}

#[test]
fn html_of_two_models() {
    insta::assert_snapshot!(to_html(&of_reviews()));
}

#[test]
fn p51_every_chart_has_words_and_a_table() {
    let html = to_html(&of_reviews());
    let charts = html.matches("role=\"img\"").count();
    // A radar, two of bars, a heat map for each of two models.
    assert_eq!(charts, 5);
    assert_eq!(html.matches("<desc id=").count(), charts);
    assert!(html.contains("Readability: A 3.50, B 5.00."));
    assert!(html.matches("<table").count() >= charts);
    // Models are told apart by letter and marker too.
    assert!(html.contains("<b class=\"letter\">B</b> <bdi>harbour</bdi>"));
}

#[test]
fn p52_the_page_needs_nothing_else() {
    let html = to_html(&of_reviews());
    for outside in [
        "<script", "<link", "<img", "<iframe", "src=", "href=", "url(", "@import", "http:", "https:",
        "onload",
    ] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(!html.contains("user-scalable") && !html.contains("maximum-scale"));
}

#[test]
fn names_are_data() {
    let bytes = br#"{"question_id": 1, "model_id": "<script>alert(1)</script> & \"x\" 'y'", "score": {"readability": 4}}
{"question_id": 1, "model_id": "a|b *c* [d](https://e.f) www.g.h \n# i", "score": {"readability": 4}}"#;
    let reading = read(&[Source { name: "=x.jsonl", bytes }], &[]);
    let profile = profile(&reading, &Settings { resamples: 10, ..Settings::default() }).unwrap();
    let html = to_html(&profile);
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;x&quot; &#39;y&#39;"));
    assert!(!html.contains("<script"));
    let markdown = to_markdown(&profile);
    assert!(markdown.contains("| &lt;script&gt;alert(1)&lt;/script&gt; &amp; \"x\" 'y' |"), "{markdown}");
    assert!(markdown.contains("| a\\|b \\*c\\* \\[d\\](https\\://e.f) www\\.g.h  \\# i |"), "{markdown}");
}

#[test]
fn no_name_turns_the_text_round() {
    let row = Row { model: Some("a\u{202e}b\u{2066}c\u{0}d".to_owned()), ..reviews().rows.remove(0) };
    let profile = aggregate(&[row], &Settings { resamples: 10, ..Settings::default() }).unwrap();
    assert!(to_html(&profile).contains("<h1>a\u{fffd}b\u{fffd}c\u{fffd}d</h1>"));
    assert!(to_markdown(&profile).starts_with("# Profile of a\u{fffd}b\u{fffd}c d\n"));
}

#[test]
fn many_models_have_letters_and_the_radar_says_what_it_leaves_out() {
    let row = reviews().rows.first().unwrap().clone();
    let rows: Vec<Row> =
        (0..30).map(|i| Row { model: Some(format!("model {i:02}")), ..row.clone() }).collect();
    let html = to_html(&aggregate(&rows, &Settings { resamples: 10, ..Settings::default() }).unwrap());
    assert!(html.contains("<b class=\"letter\">AD</b> <bdi>model 29</bdi>"));
}
