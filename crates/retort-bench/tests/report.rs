//! Runs side by side, as a reader sees them.

use retort_bench::report::{anchors, html, markdown};
use retort_bench::store::{RunIdentity, RunReport};
use retort_bench::{EXAMS, Figure, Row, Table};
use retort_judge::{AdapterIdentity, ModelIdentity};

fn row(part: &str, judge: &str, value: Option<f64>) -> Row {
    let figure = Figure {
        value,
        low: value.map(|value| value - 0.05),
        high: value.map(|value| value + 0.05),
        n: 100,
        left_out: usize::from(value.is_none()) * 3,
        because: value.is_none().then(|| "all cases are <one> class".to_owned()),
    };
    Row { part: part.into(), judge: judge.into(), metric: "accuracy".into(), figure }
}

fn report(name: &str, adapter: Option<&str>, alone: Option<f64>) -> RunReport {
    let adapter = adapter.map(|name| AdapterIdentity { name: name.into(), sha256: None, strength: 1.0 });
    let model = ModelIdentity { name: name.into(), sha256: None, adapter };
    RunReport {
        run: RunIdentity {
            limit: Some(100),
            ..RunIdentity::new("llmbar", Some(model), "alone in full wording".into(), None, 7, &[])
        },
        version: "0.0.0".into(),
        device: "a processor".into(),
        answered: 200,
        asks: 200,
        problems: 1,
        seconds: 12.4,
        tokens: 40_000,
        tables: vec![Table {
            title: "LLMBar".into(),
            rows: vec![
                row("all", "alone", alone),
                row("all", "longer", Some(0.25)),
                row("Natural", "alone", Some(0.5)),
                row("Natural", "longer", Some(0.625)),
            ],
            notes: vec!["A tie counts one half | of a win.".into()],
        }],
    }
}

#[test]
fn runs_side_by_side() {
    let reports = [report("base.gguf", None, Some(0.5)), report("base.gguf", Some("tuned.gguf"), None)];
    insta::assert_snapshot!("markdown", markdown(&reports));
}

#[test]
fn p51_names_and_reasons_are_no_markup() {
    let hostile = report("<script>alert(1)</script>", Some("\"><img src=x>"), None);
    let page = html(&[hostile]);
    assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    // Nothing is fetched.
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("<link"));
    let text = markdown(&[report("a|b<c", None, Some(0.5))]);
    assert!(text.contains("a\\|b&lt;c"));
}

#[test]
fn published_figures_are_marked_and_belong_to_an_exam() {
    let anchors = anchors().unwrap();
    for anchor in anchors {
        assert!((0.0..=1.0).contains(&anchor.value), "{anchor:?}");
        assert!(anchor.source.contains("20"), "a year is missing: {anchor:?}");
        assert!(EXAMS.iter().any(|exam| exam.name == anchor.exam), "{anchor:?}");
    }
    let text = markdown(&[report("base.gguf", None, Some(0.5))]);
    assert!(text.contains("(published)") && text.contains("*0.775*"), "{text}");
}
