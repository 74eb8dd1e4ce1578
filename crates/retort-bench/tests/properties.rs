//! Whatever bytes a file has, the declarative reader ends with examples, problems or an error.

#![expect(clippy::unwrap_used, reason = "a task that cannot be read ends the test")]

use std::cell::Cell;
use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use retort_bench::{DataDir, Target, Task, read};

/// A task that uses most of the grammar, for a form of file.
fn task(form: &str, labels: &str) -> Task {
    // More of the reader, the column of the text, and those of the raters.
    let (more, text, raters) = match form {
        "json" => ("rows = \"a\"\neach = \"b\"\n", ".a", "\".b\""),
        "jsonl" => ("merge = true\n", "a", "\"b\", \"c.*.b\""),
        "tsv" => ("merge = true\n", "a", "\"b\""),
        _ => ("", "a", "\"b\""),
    };
    let text = format!(
        "name = \"t\"\ntitle = \"T\"\nfamily = \"f\"\ncapability = \"safety\"\nkind = \"pointwise\"\n\
         metric = \"accuracy\"\ninstructions = \"What is asked.\"\nquestion = \"What is asked?\"\n\
         [[context]]\nname = \"prompt\"\n[[context]]\nname = \"reference\"\noptional = true\n\
         [[options]]\nlabel = \"1\"\nvalue = 1.0\n[[options]]\nlabel = \"2\"\nvalue = 2.0\n\
         [[options]]\nlabel = \"3\"\nvalue = 5.0\n\
         [source]\nrepository = \"o/n\"\npaper = \"p\"\nlicence = \"MIT\"\nlabels = \"human\"\npurpose = \"training\"\n\
         [reader]\nfiles = [\"f\"]\nformat = \"{form}\"\n{more}fields = {{ prompt = \"{text}\", reference = \"d\" }}\n\
         subset = \"$file\"\nextra = {{ n = \"$row\" }}\nlabel = {{ columns = [{raters}], {labels} }}\n\
         only = [{{ column = \"{text}\", not = [\"x\"] }}]\n"
    );
    Task::read("t.toml", &text).unwrap()
}

/// A file of a form from its rows (a text and a label each, and whether they are quoted), then damaged in places.
fn file(form: &str, rows: &[(String, String, bool)], damage: &[(usize, Vec<u8>, bool)]) -> Vec<u8> {
    let line = |comma: &str, end: &str| {
        let quoted = |text: &str, quotes: bool| {
            if quotes { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
        };
        let rows = rows
            .iter()
            .map(|(a, b, quotes)| format!("{}{comma}{}{end}", quoted(a, *quotes), quoted(b, *quotes)));
        format!("a{comma}b{end}{}", rows.collect::<String>())
    };
    let json = |(a, b, quotes): &(String, String, bool)| {
        let b = if *quotes || b.parse::<f64>().is_err() { format!("{b:?}") } else { b.clone() };
        let a = serde_json::Value::from(a.as_str());
        format!("{{\"a\": {a}, \"b\": {b}, \"c\": [{{\"b\": {b}}}, {{\"b\": null}}]}}")
    };
    let mut bytes = match form {
        "csv" => line(",", "\r\n"),
        "tsv" | "rawtsv" => line("\t", "\n"),
        "jsonl" => rows.iter().map(|row| json(row) + "\n").collect(),
        "json" => {
            let rows = rows.chunks(2).enumerate().map(|(key, rows)| {
                let elements = rows.iter().map(json).collect::<Vec<_>>().join(", ");
                format!("\"k{key}\": {{\"b\": [{elements}], \"d\": [1, null, true]}}")
            });
            format!("{{\"a\": {{{}}}}}", rows.collect::<Vec<_>>().join(",\n"))
        }
        _ => String::new(),
    }
    .into_bytes();
    for (at, other, insert) in damage {
        let at = at % (bytes.len() + 1);
        let end = if *insert { at } else { (at + other.len()).min(bytes.len()) };
        bytes.splice(at..end, other.iter().copied());
    }
    bytes
}

#[test]
fn any_bytes_give_examples_or_problems() {
    let forms = prop::sample::select(vec!["csv", "tsv", "rawtsv", "json", "jsonl", "xlsx"]);
    let labels = prop::sample::select(vec![
        "skip = [\"x\"]",
        "range = [0.0, 3.0]",
        "range = [3.0, 0.0], skip = [\"\"]",
        "map = { \"\" = \"1\", \"1\" = \"2\", \"x\" = \"3\" }",
        "after = \"x\"",
        "after = \"before:x\"",
    ]);
    let pieces = prop::sample::select(vec![
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
        "PK\u{3}\u{4}",
    ]);
    let texts = vec(pieces.clone(), 0..4).prop_map(|pieces| pieces.concat());
    let said = prop::sample::select(vec!["1", "2", "3", "1.0", "0.7", "x1", "1x", "2", "", "x", "9", "so"]);
    let rows = vec((texts, said.prop_map(str::to_owned), any::<bool>()), 0..8);
    let other = prop_oneof![pieces.prop_map(|piece| piece.as_bytes().to_vec()), vec(any::<u8>(), 0..4)];
    // Half of the files are whole, so that examples come of them.
    let damage = prop_oneof![Just(Vec::new()), vec((any::<usize>(), other, any::<bool>()), 1..5)];

    let (examples, problems, errors) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let config = Config { cases: 600, failure_persistence: None, ..Config::default() };
    let result =
        TestRunner::new(config).run(&(forms, labels, rows, damage), |(form, labels, rows, damage)| {
            let task = task(form, labels);
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("o+n")).unwrap();
            std::fs::write(folder.path().join("o+n/f"), file(form, &rows, &damage)).unwrap();
            let mut items = Vec::new();
            let counts = read(&task, &DataDir::new(folder.path()), &mut |item| items.push(item));
            let mut ids = BTreeSet::new();
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
            let read = items.iter().filter(|item| item.is_ok()).count();
            examples.set(examples.get() + read);
            problems.set(problems.get() + items.len() - read);
            match counts {
                Ok(counts) => prop_assert_eq!((counts.examples, counts.problems), (read, items.len() - read)),
                Err(_) => errors.set(errors.get() + 1),
            }
            Ok(())
        });
    assert_eq!(result, Ok(()));
    // Of the 600 files about 240 examples, 1,200 problems and 200 errors. Far less, and nothing has been tested.
    let seen = [examples.get(), problems.get(), errors.get()];
    assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
    println!("examples, problems, errors: {seen:?}");
}
