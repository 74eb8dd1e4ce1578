//! How well the annotator without a model agrees with FLASK's own annotations, beside two baselines.
//!
//! ```text
//! cargo run --release -p retort-annotate --example measure -- flask_evaluation.jsonl
//! ```
//!
//! And how well a model does, on a sample of the rows, beside the same:
//!
//! ```text
//! cargo run --release -p retort-annotate --example measure -- flask_evaluation.jsonl --sample 200 > sample.jsonl
//! retort annotate --rows sample.jsonl --by both --json --model NAME -o said.jsonl
//! cargo run --release -p retort-annotate --example measure -- flask_evaluation.jsonl said.jsonl
//! ```
//!
//! Baselines: the majority (the three commonest skills, the commonest domain, the median level of the other folds), and
//! a naive learner on the words (multinomial logistic regression over TF-IDF, one for each question), each trained on
//! four fifths of the prompts and measured on the fifth. They are instruments of measurement: nothing of them is
//! shipped, and the annotator itself is not trained.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use retort_annotate::{Annotated, explain, flask};
use retort_rubric::{Annotation, Difficulty, Domain, Skill};
use retort_stats::{Bootstrap, SplitMix64, Statistic, resample, spearman};

const SEED: u64 = 20_240_501;
const FOLDS: usize = 5;

/// What somebody says of one instruction.
#[derive(Clone, Default)]
struct Said {
    skills: BTreeSet<Skill>,
    domain: Option<Domain>,
    domains: BTreeSet<Domain>,
    level: Option<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let path = args.first().ok_or("give the path of flask_evaluation.jsonl")?;
    let reading = flask::read(&std::fs::read_to_string(path)?, path);
    for problem in &reading.problems {
        eprintln!("{problem}");
    }
    let rows = reading.rows;
    if let [_, option, count] = args.as_slice()
        && option == "--sample"
    {
        return sample(&rows, count.parse()?);
    }
    let truth: Vec<Said> = rows.iter().map(|row| Said::of(&row.annotation)).collect();
    let prompts: Vec<&str> = rows.iter().map(|row| row.instruction.as_str()).collect();

    let annotated: Vec<Annotated> = prompts.iter().map(|prompt| explain(prompt)).collect();
    let code: Vec<Said> = annotated.iter().map(|annotated| Said::of(&annotated.annotation)).collect();

    let folds = folds(&prompts);
    let majority = by_fold(&folds, |train| {
        let said = majority(train.iter().map(|&row| &truth[row]));
        Box::new(move |_| said.clone())
    });
    let vectors = tf_idf(&prompts);
    let learned = by_fold(&folds, |train| learn(train, &vectors, &truth));
    let mut all = vec![
        ("majority of the other folds".to_owned(), majority),
        ("TF-IDF and logistic regression, five folds".to_owned(), learned.clone()),
        ("words (`--by code`)".to_owned(), code.clone()),
    ];
    let Some(said) = args.get(1) else {
        table(&truth, &prompts, &all)?;
        return details(&truth, &code, &learned);
    };

    // What a model said of some of the rows; the others are measured on the same.
    let given = said_by_model(&std::fs::read_to_string(said)?)?;
    let asked: Vec<usize> =
        (0..rows.len()).filter(|&row| rows[row].idx.is_some_and(|idx| given.contains_key(&idx))).collect();
    let pick = |column: &[Said]| asked.iter().map(|&row| column[row].clone()).collect::<Vec<Said>>();
    let of_model = |which: fn(&(Said, Option<Said>)) -> Option<&Said>| -> Vec<Said> {
        asked.iter().filter_map(|&row| which(given.get(&rows[row].idx?)?).cloned()).collect()
    };
    let (outcome, alone) = (of_model(|pair| Some(&pair.0)), of_model(|pair| pair.1.as_ref()));
    for (_, column) in &mut all {
        *column = pick(column);
    }
    all.push((format!("the annotations of {said}"), outcome));
    if alone.len() == asked.len() {
        all.push(("the model's probabilities alone".to_owned(), alone));
    }
    let prompts: Vec<&str> = asked.iter().map(|&row| prompts[row]).collect();
    table(&pick(&truth), &prompts, &all)
}

impl Said {
    fn of(annotation: &Annotation) -> Self {
        Self {
            skills: annotation.skills.iter().copied().collect(),
            domain: annotation.domains.first().map(|label| label.domain),
            domains: annotation.domains.iter().map(|label| label.domain).collect(),
            level: annotation.difficulty.map(|difficulty| f64::from(difficulty.level())),
        }
    }
}

/// Prints so many rows, drawn without replacement, without their annotations: to be annotated by a model.
fn sample(rows: &[flask::Row], count: usize) -> Result<(), Box<dyn Error>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut random = SplitMix64::new(SEED);
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last + 1));
    }
    for &row in order.iter().take(count) {
        let row = &rows[row];
        println!("{}", serde_json::json!({ "idx": row.idx, "instruction": row.instruction }));
    }
    Ok(())
}

/// By idx.
type Given = BTreeMap<i64, (Said, Option<Said>)>;

/// By idx: the annotation, and what the model's probabilities alone would have made of it, where they are there.
fn said_by_model(text: &str) -> Result<Given, Box<dyn Error>> {
    let mut said = BTreeMap::new();
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line)?;
        let idx = row["idx"].as_i64().ok_or("a row has no idx")?;
        let annotation: Annotation = serde_json::from_value(row["annotation"].clone())?;
        let by_model = &row["annotation_record"]["by_model"];
        let chances = |part: &str| by_model[part]["chances"].as_array().cloned().unwrap_or_default();
        let alone = (!by_model.is_null()).then(|| {
            let skills = chances("skills");
            let skills =
                skills.iter().filter_map(|chance| Skill::from_id(chance["answer"].as_str()?)).take(3);
            let domains = chances("domains");
            let top = domains.first().and_then(|chance| chance["probability"].as_f64()).unwrap_or(1.0);
            let domains: Vec<Domain> = domains
                .iter()
                .take(2)
                .take_while(|chance| chance["probability"].as_f64().is_some_and(|p| p >= 0.6 * top))
                .map_while(|chance| Domain::from_id(chance["answer"].as_str()?))
                .collect();
            let levels = chances("difficulty");
            let expected: Option<f64> = levels
                .iter()
                .map(|chance| {
                    let level = Difficulty::from_id(chance["answer"].as_str()?)?;
                    Some(f64::from(level.level()) * chance["probability"].as_f64()?)
                })
                .sum();
            Said {
                skills: skills.collect(),
                domain: domains.first().copied(),
                domains: domains.iter().copied().collect(),
                level: expected.filter(|_| !levels.is_empty()).map(f64::round),
            }
        });
        said.insert(idx, (Said::of(&annotation), alone));
    }
    Ok(said)
}

fn table(truth: &[Said], prompts: &[&str], all: &[(String, Vec<Said>)]) -> Result<(), Box<dyn Error>> {
    println!(
        "| annotator | skill-set F1 | first domain is one of the row's | its macro recall | domain-set F1 | difficulty, Spearman | n |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, said) in all {
        println!("| {name} | {} |", figures(truth, said, prompts)?.join(" | "));
    }
    Ok(())
}

fn details(truth: &[Said], code: &[Said], learned: &[Said]) -> Result<(), Box<dyn Error>> {
    println!();
    println!("| skill | rows | precision | recall | learner's precision | learner's recall |");
    println!("|---|---|---|---|---|---|");
    for skill in Skill::ALL {
        let (p, r) = precision_recall(truth, code, |said| said.skills.contains(&skill));
        let (lp, lr) = precision_recall(truth, learned, |said| said.skills.contains(&skill));
        let rows = truth.iter().filter(|said| said.skills.contains(&skill)).count();
        println!("| {} | {rows} | {p:.2} | {r:.2} | {lp:.2} | {lr:.2} |", skill.name());
    }
    println!();
    println!("| domain | rows | precision | recall | learner's precision | learner's recall |");
    println!("|---|---|---|---|---|---|");
    for domain in Domain::ALL {
        let (p, r) = precision_recall(truth, code, |said| said.domains.contains(&domain));
        let (lp, lr) = precision_recall(truth, learned, |said| said.domain == Some(domain));
        let rows = truth.iter().filter(|said| said.domains.contains(&domain)).count();
        println!("| {} | {rows} | {p:.2} | {r:.2} | {lp:.2} | {lr:.2} |", domain.name());
    }
    println!();
    println!("| first domain of the row | skill-set F1 | learner's | difficulty, Spearman |");
    println!("|---|---|---|---|");
    for domain in Domain::ALL {
        let of = |said: &[Said]| -> Vec<Said> {
            truth.iter().zip(said).filter(|(t, _)| t.domain == Some(domain)).map(|(_, s)| s.clone()).collect()
        };
        let (t, c, l) = (of(truth), of(code), of(learned));
        let f1 = |said: &[Said]| {
            let each: Vec<f64> =
                t.iter().zip(said).filter_map(|(t, s)| set_f1(&t.skills, &s.skills)).collect();
            each.iter().sum::<f64>() / each.len().max(1) as f64
        };
        let levels: Vec<(f64, f64)> =
            t.iter().zip(&c).filter_map(|(t, c)| Some((t.level?, c.level?))).collect();
        let (x, y): (Vec<f64>, Vec<f64>) = levels.into_iter().unzip();
        let rho = spearman(&x, &y)?.value().map_or("none".to_owned(), |rho| format!("{rho:.2}"));
        println!("| {} | {:.2} | {:.2} | {rho} |", domain.name(), f1(&c), f1(&l));
    }
    println!();
    println!("Levels, FLASK's down and the annotator's across:");
    for level in 1..=5u8 {
        let counts: Vec<String> = (1..=5u8)
            .map(|said| {
                let both = truth.iter().zip(code).filter(|(truth, code)| {
                    truth.level == Some(f64::from(level)) && code.level == Some(f64::from(said))
                });
                format!("{:4}", both.count())
            })
            .collect();
        println!("{level}: {}", counts.join(" "));
    }
    Ok(())
}

/// Each figure with its interval.
fn figures(truth: &[Said], said: &[Said], prompts: &[&str]) -> Result<Vec<String>, Box<dyn Error>> {
    let bootstrap = Bootstrap { seed: SEED, resamples: 1000, ..Bootstrap::default() };
    let mean = |values: &[Option<f64>]| -> Result<String, Box<dyn Error>> {
        let kept: Vec<(f64, &str)> =
            values.iter().zip(prompts).filter_map(|(v, p)| Some(((*v)?, *p))).collect();
        let column: Vec<f64> = kept.iter().map(|(value, _)| *value).collect();
        let clusters: Vec<&str> = kept.iter().map(|(_, prompt)| *prompt).collect();
        let interval = bootstrap.by_cluster(&clusters, |rows| {
            let drawn = resample(&column, rows)?;
            Ok(Statistic::Value(drawn.iter().sum::<f64>() / drawn.len().max(1) as f64))
        })?;
        Ok(show(&interval))
    };
    // Per instruction, F1 of the two sets of skills: 2 |A ∩ B| / (|A| + |B|).
    let f1: Vec<Option<f64>> = truth.iter().zip(said).map(|(t, s)| set_f1(&t.skills, &s.skills)).collect();
    // 1 where the first domain said is one of the row's; rows of the file without a domain are left out.
    let hit: Vec<Option<f64>> = truth
        .iter()
        .zip(said)
        .map(|(t, s)| {
            (!t.domains.is_empty()).then(|| f64::from(s.domain.is_some_and(|d| t.domains.contains(&d))))
        })
        .collect();
    let sets: Vec<Option<f64>> =
        truth
            .iter()
            .zip(said)
            .map(|(t, s)| {
                if t.domains.is_empty() { None } else { Some(set_f1(&t.domains, &s.domains).unwrap_or(0.0)) }
            })
            .collect();
    // Mean over the ten domains of the share of the rows with this first domain where it is the first said.
    let macro_recall: Vec<f64> = Domain::ALL
        .iter()
        .map(|domain| {
            let rows: Vec<bool> = truth
                .iter()
                .zip(said)
                .filter(|(t, _)| t.domain == Some(*domain))
                .map(|(_, s)| s.domain == Some(*domain))
                .collect();
            rows.iter().filter(|hit| **hit).count() as f64 / rows.len().max(1) as f64
        })
        .collect();
    let macro_recall = macro_recall.iter().sum::<f64>() / macro_recall.len() as f64;
    let levels: Vec<(f64, f64, &str)> = truth
        .iter()
        .zip(said)
        .zip(prompts)
        .filter_map(|((t, s), p)| Some((t.level?, s.level?, *p)))
        .collect();
    let (x, y): (Vec<f64>, Vec<f64>) = levels.iter().map(|(x, y, _)| (*x, *y)).unzip();
    let clusters: Vec<&str> = levels.iter().map(|(.., prompt)| *prompt).collect();
    let rho = bootstrap.by_cluster(&clusters, |rows| spearman(&resample(&x, rows)?, &resample(&y, rows)?))?;
    Ok(vec![
        mean(&f1)?,
        mean(&hit)?,
        format!("{macro_recall:.3}"),
        mean(&sets)?,
        show(&rho),
        truth.len().to_string(),
    ])
}

fn show(interval: &Statistic<retort_stats::Interval>) -> String {
    match interval {
        Statistic::Value(i) => format!("{:.3} ({:.3} to {:.3})", i.estimate, i.low, i.high),
        Statistic::Undefined(why) => format!("none: {why}"),
    }
}

fn set_f1<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> Option<f64> {
    let size = a.len() + b.len();
    (size > 0).then(|| 2.0 * a.intersection(b).count() as f64 / size as f64)
}

fn precision_recall(truth: &[Said], said: &[Said], has: impl Fn(&Said) -> bool) -> (f64, f64) {
    let both = truth.iter().zip(said).filter(|(t, s)| has(t) && has(s)).count() as f64;
    let of = |rows: &[Said]| rows.iter().filter(|said| has(said)).count().max(1) as f64;
    (both / of(said), both / of(truth))
}

/// Rows by fold: rows with the same prompt are in the same one.
fn folds(prompts: &[&str]) -> Vec<usize> {
    let distinct: BTreeSet<&str> = prompts.iter().copied().collect();
    let mut distinct: Vec<&str> = distinct.into_iter().collect();
    let mut random = SplitMix64::new(SEED);
    for last in (1..distinct.len()).rev() {
        distinct.swap(last, random.below(last + 1));
    }
    let place: BTreeMap<&str, usize> =
        distinct.into_iter().enumerate().map(|(at, p)| (p, at % FOLDS)).collect();
    prompts.iter().map(|prompt| place[prompt]).collect()
}

type Predictor = Box<dyn Fn(usize) -> Said>;

/// Trains on the other folds and asks for the rows of this one.
fn by_fold(folds: &[usize], mut train: impl FnMut(&[usize]) -> Predictor) -> Vec<Said> {
    let mut said = vec![Said::default(); folds.len()];
    for fold in 0..FOLDS {
        let others: Vec<usize> = (0..folds.len()).filter(|&row| folds[row] != fold).collect();
        let predict = train(&others);
        for row in (0..folds.len()).filter(|&row| folds[row] == fold) {
            said[row] = predict(row);
        }
    }
    said
}

fn majority<'a>(rows: impl Iterator<Item = &'a Said> + Clone) -> Said {
    let mut skills = Skill::ALL;
    let count = |skill: Skill| rows.clone().filter(|said| said.skills.contains(&skill)).count();
    skills.sort_by_key(|&skill| std::cmp::Reverse(count(skill)));
    let domain = Domain::ALL
        .into_iter()
        .max_by_key(|domain| rows.clone().filter(|said| said.domains.contains(domain)).count());
    let mut levels: Vec<f64> = rows.filter_map(|said| said.level).collect();
    levels.sort_by(f64::total_cmp);
    Said {
        skills: skills[..3].iter().copied().collect(),
        domain,
        domains: domain.into_iter().collect(),
        level: levels.get(levels.len() / 2).copied(),
    }
}

type Vector = Vec<(usize, f64)>;

/// Words and pairs of words that stand in at least two prompts: (1 + ln count) ln(n / rows with it), of length 1.
fn tf_idf(prompts: &[&str]) -> Vec<Vector> {
    let terms = |prompt: &str| {
        let words: Vec<String> = prompt
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let pairs: Vec<String> = words.windows(2).map(|pair| pair.join(" ")).collect();
        words.into_iter().chain(pairs).collect::<Vec<String>>()
    };
    let all: Vec<Vec<String>> = prompts.iter().map(|prompt| terms(prompt)).collect();
    let mut rows_with: BTreeMap<&str, usize> = BTreeMap::new();
    for terms in &all {
        for term in terms.iter().map(String::as_str).collect::<BTreeSet<_>>() {
            *rows_with.entry(term).or_default() += 1;
        }
    }
    let numbers: BTreeMap<&str, usize> = rows_with
        .iter()
        .filter(|(_, rows)| **rows >= 2)
        .enumerate()
        .map(|(n, (term, _))| (*term, n))
        .collect();
    all.iter()
        .map(|terms| {
            let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
            for term in terms.iter().filter(|term| numbers.contains_key(term.as_str())) {
                *counts.entry(term).or_default() += 1.0;
            }
            let weigh = |(term, count): (&&str, &f64)| {
                let idf = (prompts.len() as f64 / rows_with[term] as f64).ln();
                (numbers[term], (1.0 + count.ln()) * idf)
            };
            let vector: Vector = counts.iter().map(weigh).collect();
            let length = vector.iter().map(|(_, x)| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            vector.into_iter().map(|(n, x)| (n, x / length)).collect()
        })
        .collect()
}

/// Logistic regression by stochastic gradient descent: one model for each skill, one over the domains (of a row with two,
/// each counts half) and one over the levels, of which the expectation is rounded.
fn learn(train: &[usize], vectors: &[Vector], truth: &[Said]) -> Predictor {
    let size = vectors.iter().flatten().map(|(n, _)| n + 1).max().unwrap_or(0);
    let skills =
        softmax(train, vectors, size, 12, |row| {
            Skill::ALL
                .map(|skill| {
                    if truth[row].skills.contains(&skill) {
                        1.0 / truth[row].skills.len() as f64
                    } else {
                        0.0
                    }
                })
                .to_vec()
        });
    let domains = softmax(train, vectors, size, 10, |row| {
        let share = 1.0 / truth[row].domains.len().max(1) as f64;
        Domain::ALL.map(|domain| if truth[row].domains.contains(&domain) { share } else { 0.0 }).to_vec()
    });
    let levels = softmax(train, vectors, size, 5, |row| {
        Difficulty::ALL.map(|level| f64::from(truth[row].level == Some(f64::from(level.level())))).to_vec()
    });
    let vectors = vectors.to_vec();
    Box::new(move |row| {
        let skill = skills.probabilities(&vectors[row]);
        let mut order = Skill::ALL;
        order.sort_by(|a, b| skill[*b as usize].total_cmp(&skill[*a as usize]));
        let domain = domains.probabilities(&vectors[row]);
        let mut by_domain = Domain::ALL;
        by_domain.sort_by(|a, b| domain[*b as usize].total_cmp(&domain[*a as usize]));
        let second = domain[by_domain[1] as usize] >= 0.6 * domain[by_domain[0] as usize];
        let level: f64 =
            levels.probabilities(&vectors[row]).iter().zip(1..).map(|(p, level)| p * f64::from(level)).sum();
        Said {
            skills: order[..3].iter().copied().collect(),
            domain: Some(by_domain[0]),
            domains: by_domain[..if second { 2 } else { 1 }].iter().copied().collect(),
            level: Some(level.round()),
        }
    })
}

fn softmax(
    train: &[usize],
    vectors: &[Vector],
    size: usize,
    classes: usize,
    target: impl Fn(usize) -> Vec<f64>,
) -> Linear {
    let mut linear = Linear { weights: vec![vec![0.0; size]; classes], bias: vec![0.0; classes] };
    let mut order = train.to_vec();
    let mut random = SplitMix64::new(SEED);
    for epoch in 0..EPOCHS {
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last + 1));
        }
        let rate = 4.0 / (1.0 + epoch as f64 * 0.2);
        for &row in &order {
            let wanted = target(row);
            if wanted.iter().sum::<f64>() == 0.0 {
                continue;
            }
            let got = linear.probabilities(&vectors[row]);
            for class in 0..classes {
                let step = rate * (wanted[class] - got[class]);
                linear.bias[class] += 0.02 * step;
                for &(n, x) in &vectors[row] {
                    linear.weights[class][n] += step * x;
                }
            }
        }
    }
    linear
}

/// Passes over the rows; enough that more change no figure by a hundredth.
const EPOCHS: usize = 12;

struct Linear {
    weights: Vec<Vec<f64>>,
    bias: Vec<f64>,
}

impl Linear {
    fn probabilities(&self, vector: &Vector) -> Vec<f64> {
        let logits = self.weights.iter().zip(&self.bias);
        let logits: Vec<f64> = logits
            .map(|(weights, bias)| bias + vector.iter().map(|&(n, x)| weights[n] * x).sum::<f64>())
            .collect();
        let top = logits.iter().copied().fold(f64::MIN, f64::max);
        let powers: Vec<f64> = logits.iter().map(|logit| (logit - top).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.iter().map(|power| power / sum).collect()
    }
}
