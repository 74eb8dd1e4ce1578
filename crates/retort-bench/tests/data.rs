//! Every task on the real files, which are not in the project: whether the reading is whole.
//!
//! `RETORT_DATA=FOLDER cargo test -p retort-bench --test data -- --ignored --nocapture`, and `RETORT_TASK=PART` for the
//! tasks whose names have that part.

use std::collections::{BTreeMap, BTreeSet};

use retort_bench::{DataDir, Kind, Problem, Target, Task, read, tasks};

/// Shares of all labels over all examples.
fn balance(task: &Task, sums: &[f64], examples: usize) -> String {
    let labels: Vec<&str> = match task.kind {
        Kind::Pairwise => vec!["first", "second", "tie"],
        Kind::Generation => return "text".into(),
        Kind::Pointwise | Kind::Classification => {
            task.options.iter().map(|option| option.label.as_str()).collect()
        }
    };
    #[expect(clippy::cast_precision_loss, reason = "counts of examples are far below 2^52")]
    let percent = |sum: &f64| 100.0 * sum / examples.max(1) as f64;
    let shares = labels.iter().zip(sums).map(|(label, sum)| format!("{label} {:.1}%", percent(sum)));
    shares.collect::<Vec<_>>().join(", ")
}

#[test]
#[ignore = "needs the public data; set RETORT_DATA"]
fn every_task_reads_its_whole_data() {
    let folder = std::env::var("RETORT_DATA").expect("RETORT_DATA names the folder of the public data");
    let only = std::env::var("RETORT_TASK").unwrap_or_default();
    let data = DataDir::new(folder);
    let mut wrong: Vec<String> = Vec::new();
    println!("{:<40} {:>8} {:>8} {:>8} {:>8}  labels", "task", "rows", "examples", "problems", "groups");
    for task in tasks().unwrap().values().filter(|task| task.name.contains(&only)) {
        let mut sums = vec![0.0; task.options.len().max(3)];
        let (mut ids, mut groups) = (BTreeSet::new(), BTreeSet::new());
        let mut problems: BTreeMap<String, (usize, Problem)> = BTreeMap::new();
        let mut uneven = 0;
        let counts = read(task, &data, &mut |item| match item {
            Ok(example) => {
                let shares = match example.target {
                    Target::Options(shares) => shares,
                    Target::Preference { first, second, tie } => vec![first, second, tie],
                    Target::Unknown | Target::Text(_) => Vec::new(),
                };
                if !shares.is_empty() && (shares.iter().sum::<f64>() - 1.0).abs() > 1e-9 {
                    uneven += 1;
                }
                sums.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
                if !ids.insert(example.id.clone()) {
                    wrong.push(format!("{}: two examples have the id {}", task.name, example.id));
                }
                groups.insert(example.group);
            }
            Err(problem) => {
                // Of each kind of problem one is shown: digits do not make another kind.
                let kind = problem.message.chars().filter(|c| !c.is_ascii_digit()).take(60).collect();
                problems.entry(kind).or_insert((0, problem)).0 += 1;
            }
        });
        let counts = match counts {
            Ok(counts) => counts,
            Err(error) => {
                wrong.push(format!("{}: {error}", task.name));
                continue;
            }
        };
        println!(
            "{:<40} {:>8} {:>8} {:>8} {:>8}  {}",
            task.name,
            counts.rows,
            counts.examples,
            counts.problems,
            groups.len(),
            balance(task, &sums, counts.examples)
        );
        for (count, problem) in problems.values() {
            println!("    {count} × {problem}");
        }
        if uneven > 0 {
            wrong.push(format!("{}: the shares of {uneven} examples do not sum to 1", task.name));
        }
        match task.reader.examples {
            Some(examples) if examples == counts.examples => {}
            Some(examples) => wrong.push(format!(
                "{}: reader.examples says {examples}, and {} were read",
                task.name, counts.examples
            )),
            None => wrong
                .push(format!("{}: reader.examples is not given; {} were read", task.name, counts.examples)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
