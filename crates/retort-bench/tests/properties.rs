//! Whatever bytes a file has, the declarative reader ends with examples, problems or an error.

#![expect(clippy::unwrap_used, reason = "a task that cannot be read ends the test")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;
use retort_bench::{DataDir, Target, Task, read};

/// A task that uses most of the grammar, for a form of file.
fn task(form: &str, labels: &str) -> Task {
    let more = match form {
        "json" => "rows = \"a\"\neach = \"b\"\n",
        "jsonl" => "merge = true\n",
        _ => "",
    };
    let (prompt, star) = match form {
        "json" => (".a", "a.*.b"),
        "jsonl" => ("a.0", "a.*.b"),
        _ => ("a", "b"),
    };
    let text = format!(
        "name = \"t\"\ntitle = \"T\"\nfamily = \"f\"\ncapability = \"safety\"\nkind = \"pointwise\"\n\
         metric = \"accuracy\"\ninstructions = \"What is asked.\"\nquestion = \"What is asked?\"\n\
         [[context]]\nname = \"prompt\"\n[[context]]\nname = \"reference\"\noptional = true\n\
         [[options]]\nlabel = \"1\"\nvalue = 1.0\n[[options]]\nlabel = \"2\"\nvalue = 2.0\n\
         [[options]]\nlabel = \"3\"\nvalue = 5.0\n\
         [source]\nrepository = \"o/n\"\npaper = \"p\"\nlicence = \"MIT\"\nlabels = \"human\"\npurpose = \"training\"\n\
         [reader]\nfiles = [\"f\"]\nformat = \"{form}\"\n{more}fields = {{ prompt = \"{prompt}\", reference = \"b\" }}\n\
         group = \"b\"\nsubset = \"$file\"\nextra = {{ a = \"{star}\", n = \"$row\" }}\n\
         label = {{ columns = [\"b\", \"{star}\"], {labels} }}\nonly = [{{ column = \"b\", not = [\"x\"] }}]\n"
    );
    Task::read("t.toml", &text).unwrap()
}

/// Bytes of which much is read: pieces of the forms, and any others.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "a",
        "b",
        "c",
        ",",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "\"",
        "\"\"",
        "1",
        "2",
        "1.0",
        "2.5",
        "x",
        "nan",
        " ",
        ":",
        "{",
        "}",
        "[",
        "]",
        "null",
        "true",
        "\\ud800",
        "\u{feff}",
        "é",
        "{\"a\":",
        "\"b\":",
        "a,b\n",
        "a\tb\n",
        "{\"a\":[\"q\",{\"b\":2}],\"b\":1}\n",
        "{\"a\":[{\"b\":[{\"a\":\"q\"}]}]}",
    ];
    let piece = prop_oneof![
        8 => prop::sample::select(pieces.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..4),
    ];
    let start =
        prop_oneof![Just(""), Just("a,b\n"), Just("a\tb\n"), Just("{\"a\":[{\"b\":["), Just("\u{feff}a,b\n")];
    (start, vec(piece, 0..40))
        .prop_map(|(start, pieces)| [start.as_bytes().to_vec(), pieces.concat()].concat())
}

proptest! {
    #![proptest_config(Config { cases: 400, failure_persistence: None, ..Config::default() })]

    #[test]
    fn any_bytes_give_examples_or_problems(
        form in prop::sample::select(vec!["csv", "tsv", "rawtsv", "json", "jsonl", "xlsx"]),
        labels in prop::sample::select(vec![
            "skip = [\"x\"]", "range = [0.0, 3.0]", "range = [3.0, 0.0], skip = [\"\"]",
            "map = { \"\" = \"1\", \"1\" = \"2\", \"x\" = \"3\" }", "after = \"x\"", "after = \"before:x\"",
        ]),
        bytes in bytes(),
    ) {
        let task = task(form, labels);
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("o+n")).unwrap();
        std::fs::write(folder.path().join("o+n/f"), &bytes).unwrap();
        let mut items = Vec::new();
        let counts = read(&task, &DataDir::new(folder.path()), &mut |item| items.push(item));
        let mut ids = std::collections::BTreeSet::new();
        for example in items.iter().flatten() {
            let Target::Options(shares) = &example.target else { panic!("{example:?}") };
            prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{example:?}");
            prop_assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{example:?}");
            prop_assert!(example.raters > 0 && !example.group.is_empty());
            prop_assert!(!example.fields["prompt"].trim().is_empty());
            prop_assert!(ids.insert(&example.id), "{} twice", example.id);
        }
        for problem in items.iter().filter_map(|item| item.as_ref().err()) {
            prop_assert!(problem.line.is_some_and(|line| line > 0), "{problem}");
        }
        if let Ok(counts) = counts {
            let read = items.iter().filter(|item| item.is_ok()).count();
            prop_assert_eq!((counts.examples, counts.problems), (read, items.len() - read));
        }
    }
}
