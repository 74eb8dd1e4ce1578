//! Figures that others published, found again from the same public files.
//!
//! `RETORT_DATA=FOLDER cargo test -p retort-bench --test published -- --ignored`

#![expect(clippy::expect_used, clippy::panic, reason = "what a test needs and cannot have fails the test")]

use retort_bench::pair::Ways;
use retort_bench::protocol::aggrefact::AggreFact;
use retort_bench::protocol::pairs::Pairs;
use retort_bench::protocol::rerank::Rerank;
use retort_bench::protocol::rewardbench::RewardBench;
use retort_bench::{Answers, DataDir, Exam, Figure, Table};

fn data() -> DataDir {
    DataDir::new(std::env::var("RETORT_DATA").expect("RETORT_DATA names the folder of the public data"))
}

/// No model: only what needs no answers.
fn nobody() -> Ways {
    Ways { together: false, alone: false, skills: false, agnostic: false, ..Ways::default() }
}

#[track_caller]
fn figure<'a>(tables: &'a [Table], part: &str, judge: &str, metric: &str) -> &'a Figure {
    let rows = tables.iter().flat_map(|table| &table.rows);
    let mut found = rows.filter(|row| row.part == part && row.judge == judge && row.metric == metric);
    let row = found.next().unwrap_or_else(|| panic!("no {part} {judge} {metric}"));
    assert!(found.next().is_none(), "{part} {judge} {metric} is there twice");
    &row.figure
}

#[test]
#[ignore = "needs the public data; set RETORT_DATA"]
fn pandalms_judges_agree_with_people_as_published() {
    let exam = Pairs::read("pandalm", &data(), nobody()).unwrap();
    assert!(exam.problems().is_empty(), "{:?}", exam.problems());
    let tables = exam.tables(&Answers::default());
    let rounded = |judge: &str, metric: &str| {
        let found = figure(&tables, "all", judge, metric);
        assert_eq!((found.n, found.left_out), (999, 0));
        format!("{:.4}", found.value.unwrap())
    };
    // WeOpenML/PandaLM, data/compute_metrics.py, and Wang et al. (2024), table 3: against the majority of the three
    // people, answers beyond all forms taken for ties, plain means over the three classes.
    for (judge, published) in [
        ("gpt-3.5-turbo", ["0.7107", "0.5879", "0.5736", "0.5755"]),
        ("pandalm-7b", ["0.6677", "0.5738", "0.5750", "0.5743"]),
    ] {
        let found = ["agreement_majority", "macro_precision", "macro_recall", "macro_f1"]
            .map(|metric| rounded(judge, metric));
        assert_eq!(found, published, "{judge}");
    }
    // The README of WeOpenML/PandaLM: Cohen's κ of the three people.
    for (first, second, published) in
        [("human_1", "2", "0.85"), ("human_1", "3", "0.88"), ("human_2", "3", "0.86")]
    {
        let kappa = figure(&tables, "all", first, &format!("kappa_human_{second}")).value.unwrap();
        assert_eq!(format!("{kappa:.2}"), published, "{first} and human_{second}");
    }
}

#[test]
#[ignore = "needs the public data; set RETORT_DATA"]
fn pandalms_labels_are_distributed_as_published() {
    // The README of WeOpenML/PandaLM: 105 ties, 422 for the first, 472 for the second, by the majority. A two-way figure
    // is over the pairs that are decided.
    let exam = Pairs::read("pandalm", &data(), nobody()).unwrap();
    let tables = exam.tables(&Answers::default());
    let found = figure(&tables, "all", "random", "accuracy");
    assert_eq!(found.n, 422 + 472);
    let note = "People call neither response better in 105 of 999 pairs; accuracy is over the others.";
    assert!(tables[0].notes.iter().any(|text| text == note), "{:?}", tables[0].notes);
}

#[test]
#[ignore = "needs the public data; set RETORT_DATA"]
fn codegens_samples_pass_as_published() {
    let exam = Rerank::read(&data(), nobody()).unwrap();
    assert!(exam.problems().is_empty(), "{:?}", exam.problems());
    let tables = exam.tables(&Answers::default());
    // Vu et al. (2024), table 5, CodeGen-16B: 21.2 without a ranking, 46.9 with an oracle.
    for (judge, published) in [("none", "21.2"), ("oracle", "46.9")] {
        let found = figure(&tables, "all", judge, "pass@1");
        assert_eq!(found.n, 164);
        // 46.95 is cut there and not rounded.
        let percent = (found.value.unwrap() * 1000.0).floor() / 10.0;
        assert_eq!(format!("{percent:.1}"), published, "{judge}");
    }
    // 348 of 1,640 samples pass; 77 of 164 problems have one that does.
    assert!((figure(&tables, "all", "none", "pass@1").value.unwrap() - 348.0 / 1640.0).abs() < 1e-12);
    assert!((figure(&tables, "all", "oracle", "pass@1").value.unwrap() - 77.0 / 164.0).abs() < 1e-12);
}

#[test]
#[ignore = "needs the public data; set RETORT_DATA"]
fn rewardbenchs_longer_programs_are_chosen_as_often_as_published() {
    let exam = RewardBench::parts(&data(), nobody()).unwrap();
    assert!(exam.problems().is_empty(), "{:?}", exam.problems());
    assert_eq!(exam.entries().len(), 1403);
    let tables = exam.tables(&Answers::default());
    // The longer answer is the chosen one in 35.7% of the 984 pairs of code.
    let found = figure(&tables, "Coding", "people", "longer_preferred");
    assert_eq!((found.n, format!("{:.1}", 100.0 * found.value.unwrap())), (984, "35.7".to_owned()));
    let parts: Vec<&str> = tables[0].rows.iter().map(|row| row.part.as_str()).collect();
    assert!(parts.contains(&"Chat Hard (5 of 6 subsets)") && parts.contains(&"Reasoning (6 of 7 subsets)"));
    assert!(!parts.contains(&"total"));
    // The coin that decides which response stands first has nothing to do with the one that the rule throws: with 984
    // pairs, the share of a fair coin has a standard deviation of 0.016.
    let random = figure(&tables, "Reasoning (6 of 7 subsets)", "random", "accuracy").value.unwrap();
    assert!((random - 0.5).abs() < 0.06, "{random}");
}

#[test]
#[ignore = "needs the public data; set RETORT_DATA"]
fn aggrefacts_claims_are_supported_as_often_as_published() {
    let exam = AggreFact::read(&data(), nobody()).unwrap();
    assert!(exam.problems().is_empty(), "{:?}", exam.problems());
    // Kamoi et al. (2023): 111 of the 358 claims of the test part are supported, 215 partially and 32 not. LLM-AggreFact
    // has 358 with 31.0% supported, which is 111: partial support is none there. Of Factcheck-GPT it has 1,566 pairs with
    // 24.0% supported; which of the 3,098 different pairs those are is not known, and these are counts of all.
    assert_eq!(exam.classes(), [("wice_claims", 111, 247), ("factcheck_gpt", 637, 2456)]);
}
