//! The declarative reader, feature by feature, on files whose right reading was written down by hand.

#![expect(clippy::unwrap_used, reason = "a test file that cannot be written ends the test")]

use std::path::Path;

use retort_bench::{DataDir, DataError, Example, Item, Target, Task, read};

/// A task over the files of a folder: `options` (or pairwise, or generation) and the lines of its `[reader]`.
fn task(options: &str, reader: &str) -> Result<Task, String> {
    let (kind, rest) = match options {
        "pair" => {
            let alone = "[alone]\ninstructions = \"Is it good?\"\nquestion = \"Is it good?\"\n";
            ("pairwise", alone.to_owned())
        }
        "text" => ("generation", String::new()),
        labels => {
            let options: Vec<String> = labels
                .split(' ')
                .enumerate()
                .map(|(at, label)| {
                    let value = label.parse::<usize>().unwrap_or(at);
                    format!("[[options]]\nlabel = \"{label}\"\nvalue = {value}.0\n")
                })
                .collect();
            ("pointwise", options.concat())
        }
    };
    let text = format!(
        "name = \"t\"\ntitle = \"T\"\nfamily = \"f\"\ncapability = \"safety\"\nkind = \"{kind}\"\nmetric = \"accuracy\"\n\
         instructions = \"What is asked.\"\nquestion = \"What is asked?\"\n[[context]]\nname = \"prompt\"\n\
         [[context]]\nname = \"reference\"\noptional = true\n{rest}[source]\nrepository = \"o/n\"\npaper = \"p\"\n\
         licence = \"MIT\"\nlabels = \"human\"\npurpose = \"training\"\n[reader]\n{reader}\n"
    );
    Task::read("t.toml", &text).map_err(|error| error.problem)
}

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = folder.join("o+n").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Reads files (name and text) with the task; gives the items and the number of rows.
fn try_reading(task: &Task, files: &[(&str, &[u8])]) -> Result<(Vec<Item>, usize), DataError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("o+n")).unwrap();
    for (name, text) in files {
        write(folder.path(), name, text);
    }
    let mut items = Vec::new();
    let counts = read(task, &DataDir::new(folder.path()), &mut |item| items.push(item))?;
    assert_eq!(counts.examples, items.iter().filter(|item| item.is_ok()).count());
    assert_eq!(counts.problems, items.iter().filter(|item| item.is_err()).count());
    Ok((items, counts.rows))
}

fn reading(options: &str, reader: &str, files: &[(&str, &[u8])]) -> (Vec<Example>, Vec<String>, usize) {
    let task = task(options, reader).unwrap();
    let (items, rows) = try_reading(&task, files).unwrap();
    let (mut examples, mut problems) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Ok(example) => examples.push(example),
            Err(problem) => problems.push(problem.to_string()),
        }
    }
    (examples, problems, rows)
}

const PLAIN: &str = r#"
files = ["a.csv"]
fields = { prompt = "q" }
label = { columns = ["l"], map = { "1" = "yes", "0" = "no" } }
"#;

#[test]
fn a_table_becomes_examples_and_bad_rows_problems() {
    let text =
        b"\xef\xbb\xbfq,l\r\n\"two\r\nlines\",1\r\n\r\nplain,0\r\nx,2\r\n,1\r\nonly\r\n\xff,1\r\nlast,1.0";
    let (examples, problems, rows) = reading("no yes", PLAIN, &[("a.csv", text)]);
    let seen: Vec<_> = examples
        .iter()
        .map(|example| (example.id.as_str(), example.fields["prompt"].as_str(), &example.target))
        .collect();
    assert_eq!(
        seen,
        [
            ("a.csv#1", "two\r\nlines", &Target::Options(vec![0.0, 1.0])),
            ("a.csv#2", "plain", &Target::Options(vec![1.0, 0.0])),
            ("a.csv#7", "last", &Target::Options(vec![0.0, 1.0])),
        ]
    );
    assert_eq!(
        problems,
        [
            "a.csv:6: column \"l\" holds the label \"2\", which is none of \"0\", \"1\"; the row was skipped",
            "a.csv:7: column \"q\" is empty; the row was skipped",
            "a.csv:8: it has 1 columns where the line of names has 2; the row was skipped",
            "a.csv:9: column \"q\" is not UTF-8; the row was skipped",
        ]
    );
    assert_eq!(rows, 7);
}
