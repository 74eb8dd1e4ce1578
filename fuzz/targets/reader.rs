//! A public data file in every form that the declarative reader knows: the first byte chooses the form, the second how
//! labels are written, the rest is the file.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use retort_bench::{DataDir, Target, Task, read};

const LABELS: [&str; 5] = [
    "skip = [\"x\"]",
    "range = [0.0, 3.0]",
    "map = { \"\" = \"1\", \"1\" = \"2\", \"x\" = \"3\" }",
    "after = \"x\"",
    "after = \"before:x\", skip = [\"\"]",
];

/// For each form: its name, what else is said of it, and the columns of the text and of the raters.
const FORMS: [(&str, &str, &str, &str); 7] = [
    ("csv", "", "a", "\"b\""),
    ("tsv", "merge = true\n", "a", "\"b\""),
    ("rawtsv", "", "a", "\"b\""),
    ("jsonl", "merge = true\n", "a", "\"b\", \"c.*.b\""),
    ("json", "rows = \"a\"\neach = \"b\"\n", ".a", "\".b\""),
    ("json", "", "a.0", "\"b\""),
    ("xlsx", "", "a", "\"b\""),
];

/// A task for every form and way of writing labels.
static TASKS: LazyLock<Vec<Task>> = LazyLock::new(|| {
    let of = |(form, more, text, raters): (&str, &str, &str, &str), labels: &str| {
        let task = format!(
            r#"
name = "t"
title = "T"
family = "f"
capability = "safety"
kind = "pointwise"
metric = "accuracy"
instructions = "What is asked."
question = "What is asked?"
[[context]]
name = "prompt"
[[context]]
name = "reference"
optional = true
[[options]]
label = "1"
value = 1.0
[[options]]
label = "2"
value = 2.0
[[options]]
label = "3"
value = 5.0
[source]
repository = "r"
paper = "p"
licence = "MIT"
labels = "human"
purpose = "training"
[reader]
files = ["f"]
format = "{form}"
{more}fields = {{ prompt = "{text}", reference = "d" }}
subset = "$file"
extra = {{ n = "$row" }}
label = {{ columns = [{raters}], {labels} }}
only = [{{ column = "{text}", not = ["x"] }}]
"#
        );
        Task::read("t.toml", &task).expect("the task is right")
    };
    FORMS.iter().flat_map(|form| LABELS.iter().map(move |labels| of(*form, labels))).collect()
});

/// A folder of this process, with one file in the folder of one repository.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("retort-fuzz-reader-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("r")).expect("a folder for the file");
    folder
});

fuzz_target!(|data: &[u8]| {
    let [form, labels, file @ ..] = data else { return };
    let (form, labels) = (usize::from(*form) % FORMS.len(), usize::from(*labels) % LABELS.len());
    let task = &TASKS[form * LABELS.len() + labels];
    std::fs::write(FOLDER.join("r/f"), file).expect("the file is written");
    retort_fuzz::bounded(file.len(), || {
        let _ = read(task, &DataDir::new(FOLDER.as_path()), &mut |item| match item {
            Ok(example) => {
                let Target::Options(shares) = &example.target else { panic!("{example:?}") };
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{example:?}");
                assert!(example.raters > 0 && !example.fields["prompt"].trim().is_empty(), "{example:?}");
            }
            Err(problem) => assert!(problem.line.is_some_and(|line| line > 0), "{problem}"),
        });
    });
});
