//! Re-ranking of programs: ten samples per problem of HumanEval, of which a judge picks one; pass@1 of what it picked.
//!
//! The samples are CodeGen-16B's first ten, as published with CodeT (Chen et al., "CodeT: Code generation with generated
//! tests", 2023), and whether each passes was found by running the tests. Vu et al., "Foundational autoraters" (2024),
//! table 5, rank them by a round of comparisons: 21.2 without a judge (the mean pass rate), 46.9 with an oracle.
//!
//! *Together*: every two samples are compared in both orders; each earns 1, 0 or one half per comparison, and the most
//! points win. *Alone*: the highest score wins. Where several samples lead, the problem counts the mean of their passing,
//! which is what drawing one of them by lot would give.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use retort_judge::{Aim, Field, Inquiry};
use retort_rubric::builtin;
use serde::Deserialize;

use super::shared::{ProtocolError, characters, needs_pairs, row, uniform, unread};
use crate::pair::{Pair, PairRubrics, Way, Ways, alone_questions, overlap, preference};
use crate::{Answers, Ask, Chance, DataDir, DataError, Exam, Measure, Problem, Purpose, Table, Task, tasks};

const REPOSITORY: &str = "microsoft/CodeT";
const SAMPLES: &str = "HumanEval_codegen16B_execlabels.jsonl";
const PROMPTS: &str = "CodeT/data/dataset/HumanEval_for_code_generation.jsonl";

/// How many samples of each problem take part.
pub const TAKEN: usize = 10;

/// A programming problem and what a model wrote for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampled {
    /// Unique.
    pub id: String,
    /// The beginning of the program, with its description.
    pub prompt: String,
    /// How it was continued, and whether that passes the tests.
    pub samples: Vec<(String, bool)>,
}

/// The re-ranking exam.
#[derive(Debug, Clone)]
pub struct Rerank {
    items: Vec<Item>,
    rubrics: PairRubrics,
    ways: Ways,
    problems: Vec<Problem>,
}

#[derive(Debug, Clone)]
struct Item {
    sampled: Sampled,
    /// For each sample the first one with the same text, which is judged in its place.
    same_as: Vec<usize>,
    /// The comparisons between different texts: id, first, second.
    pairs: Vec<(String, usize, usize)>,
}

impl Item {
    fn new(sampled: Sampled) -> Self {
        let texts: Vec<&str> = sampled.samples.iter().map(|(text, _)| text.as_str()).collect();
        let same_as: Vec<usize> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| texts.iter().position(|other| other == text).unwrap_or(index))
            .collect();
        let different: Vec<usize> = (0..texts.len()).filter(|&index| same_as[index] == index).collect();
        let mut pairs = Vec::new();
        for (place, &first) in different.iter().enumerate() {
            for &second in &different[place + 1..] {
                pairs.push((format!("{}/{first}-{second}", sampled.id), first, second));
            }
        }
        Self { sampled, same_as, pairs }
    }

    fn alone_id(&self, sample: usize) -> String {
        format!("{}/{sample}", self.sampled.id)
    }

    /// How many samples there are, the same texts counted each.
    fn len(&self) -> usize {
        self.same_as.len()
    }

    /// The mean passing of the samples with the highest score.
    fn best(&self, scores: &[f64]) -> f64 {
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let leaders: Vec<usize> = (0..scores.len()).filter(|&index| scores[index] >= most).collect();
        let passed = leaders.iter().filter(|&&index| self.sampled.samples[index].1).count();
        passed as f64 / leaders.len() as f64
    }

    /// Points of each sample; `None` where a comparison has no answer.
    fn points(&self, answers: &Answers) -> Option<Vec<f64>> {
        let mut wins: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for (id, first, second) in &self.pairs {
            let win = preference(id, Way::Together, answers)?.win();
            wins.insert((*first, *second), win);
            wins.insert((*second, *first), 1.0 - win);
        }
        let points = |sample: usize| {
            let others = (0..self.len()).filter(|other| *other != sample);
            // The same text twice is a tie with itself.
            others
                .map(|other| wins.get(&(self.same_as[sample], self.same_as[other])).copied().unwrap_or(0.5))
                .sum()
        };
        Some((0..self.len()).map(points).collect())
    }

    /// The score of each sample by a question about it alone; `None` where one has no answer.
    fn scores(&self, way: Way, answers: &Answers) -> Option<Vec<f64>> {
        self.same_as.iter().map(|&sample| score(&self.alone_id(sample), way, answers)).collect()
    }

    fn picked(&self, way: Way, answers: &Answers) -> Option<f64> {
        let scores = match way {
            Way::Together => self.points(answers),
            Way::Alone | Way::Agnostic | Way::Skills => self.scores(way, answers),
        }?;
        Some(self.best(&scores))
    }

    fn by_rule(&self, rule: Rule) -> f64 {
        let samples = &self.sampled.samples;
        let passed = |pass: bool| if pass { 1.0 } else { 0.0 };
        let of = |score: &dyn Fn(&str) -> f64| {
            self.best(&samples.iter().map(|(text, _)| score(text)).collect::<Vec<_>>())
        };
        match rule {
            Rule::None => samples.iter().map(|(_, pass)| passed(*pass)).sum::<f64>() / samples.len() as f64,
            Rule::Oracle => passed(samples.iter().any(|(_, pass)| *pass)),
            Rule::Random => {
                let place = uniform(0, &self.sampled.id) * samples.len() as f64;
                samples.get(place as usize).map_or(0.0, |(_, pass)| passed(*pass))
            }
            Rule::Longer => of(&characters),
            Rule::Shorter => of(&|text| -characters(text)),
            Rule::Overlap => of(&|text| overlap(text, &[Field::prompt(self.sampled.prompt.as_str())])),
        }
    }
}

/// What picks without reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    None,
    Oracle,
    Random,
    Longer,
    Shorter,
    Overlap,
}

impl Rule {
    const ALL: [(Self, &'static str); 6] = [
        (Self::None, "none"),
        (Self::Oracle, "oracle"),
        (Self::Random, "random"),
        (Self::Longer, "longer"),
        (Self::Shorter, "shorter"),
        (Self::Overlap, "overlap"),
    ];
}

fn score(id: &str, way: Way, answers: &Answers) -> Option<f64> {
    match way {
        // Compared with one another, never scored.
        Way::Together => None,
        Way::Alone => answers.log_odds(id, "good"),
        Way::Agnostic => answers.expected(id, "overall"),
        Way::Skills => {
            let scores: Vec<f64> =
                builtin().iter().filter_map(|skill| answers.expected(id, &skill.id)).collect();
            (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
        }
    }
}

impl Rerank {
    /// An exam of these problems, by the questions of a pairwise task about programs. A problem without samples is left
    /// out and reported.
    ///
    /// # Errors
    /// The task is not pairwise.
    pub fn new(task: &Task, sampled: Vec<Sampled>, ways: Ways) -> Result<Self, ProtocolError> {
        let rubrics = PairRubrics::new(task).ok_or_else(|| needs_pairs(task))?;
        let (with, without): (Vec<Sampled>, Vec<Sampled>) =
            sampled.into_iter().partition(|sampled| !sampled.samples.is_empty());
        let problems = without.iter().map(|sampled| Problem {
            file: SAMPLES.to_owned(),
            line: None,
            message: format!("{} has no samples; the problem was skipped", sampled.id),
        });
        Ok(Self {
            problems: problems.collect(),
            items: with.into_iter().map(Item::new).collect(),
            rubrics,
            ways,
        })
    }

    /// An exam of CodeGen-16B's first ten samples for each of HumanEval's problems, by the questions of `humanevalpack`.
    ///
    /// # Errors
    /// The data cannot be read at all.
    pub fn read(data: &DataDir, ways: Ways) -> Result<Self, ProtocolError> {
        let name = "humanevalpack";
        let task = tasks()?.get(name).ok_or_else(|| ProtocolError::NoTask { name: name.to_owned() })?;
        let folder = data.repository_for(REPOSITORY, Purpose::Evaluation)?;
        let file = |file: &str| {
            let path = folder.join(file);
            std::fs::read_to_string(&path).map_err(|error| {
                if path.is_file() {
                    DataError::Unreadable { file: path.display().to_string(), problem: error.to_string() }
                } else {
                    DataError::NoFile { repository: REPOSITORY.to_owned(), file: file.to_owned() }
                }
            })
        };
        let (sampled, mut problems) = parse(&file(PROMPTS)?, &file(SAMPLES)?);
        let exam = Self::new(task, sampled, ways)?;
        problems.extend(exam.problems.iter().cloned());
        Ok(Self { problems, ..exam })
    }

    /// The same exam of some of its problems.
    #[must_use]
    pub fn of(self, chosen: impl FnOnce(Vec<Sampled>) -> Vec<Sampled>) -> Self {
        let all = self.items.into_iter().map(|item| item.sampled).collect();
        Self { items: chosen(all).into_iter().map(Item::new).collect(), ..self }
    }

    /// Rows that could not be read.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl Exam for Rerank {
    fn name(&self) -> &str {
        "rerank"
    }

    fn asks(&self) -> Vec<Ask<'_>> {
        let compare = Ways { alone: false, agnostic: false, skills: false, ..self.ways.clone() };
        let mut asks = Vec::new();
        for item in &self.items {
            let prompt = || Field::prompt(item.sampled.prompt.as_str());
            let text = |sample: usize| item.sampled.samples[sample].0.as_str();
            for (id, first, second) in &item.pairs {
                let pair = Pair { id, fields: vec![prompt()], responses: [text(*first), text(*second)] };
                asks.extend(pair.asks(&self.rubrics, &compare));
            }
            for sample in (0..item.len()).filter(|&sample| item.same_as[sample] == sample) {
                let (keys, questions) = alone_questions(&self.rubrics, &self.ways);
                if questions.is_empty() {
                    break;
                }
                asks.push(Ask {
                    id: item.alone_id(sample),
                    keys,
                    inquiry: Inquiry {
                        aim: Aim::Rate,
                        fields: vec![prompt(), Field::response(text(sample))],
                        questions,
                        wording: self.ways.wording,
                    },
                });
            }
        }
        asks
    }

    fn measures<'a>(&'a self, answers: &Answers) -> Vec<Table<Measure<'a>>> {
        let mut rows = Vec::new();
        let mut add = |judge: &str, picked: &dyn Fn(&Item) -> Option<f64>| {
            let items: Vec<(&str, Option<f64>)> =
                self.items.iter().map(|item| (item.sampled.id.as_str(), picked(item))).collect();
            // By lot a sample passes as often as the samples do on average.
            let measure = Measure::mean(&items).with_chance(Chance::Judge("none"));
            rows.push(row("all", judge, "pass@1", measure));
        };
        for (rule, name) in Rule::ALL {
            add(name, &|item| Some(item.by_rule(rule)));
        }
        for way in self.ways.all() {
            add(way.name(), &|item| item.picked(way, answers));
        }
        let mut notes = vec![
            "none: the mean pass rate of the samples; oracle: whether any of them passes; random: one sample by lot. longer \
             and shorter count characters, overlap the share of a sample's different words that the problem has."
                .to_owned(),
            "together: a round of all comparisons, each in both orders; a win earns 1 point, a tie one half, and most \
             points win. Where several samples lead, the mean of their passing counts. Samples with the same text are \
             judged once, and tie."
                .to_owned(),
        ];
        notes.extend(unread(&self.problems));
        vec![Table { title: "Re-ranking CodeGen-16B's samples for HumanEval".into(), rows, notes }]
    }
}

#[derive(Deserialize)]
struct PromptRow {
    task_id: String,
    prompt: String,
}

#[derive(Deserialize)]
struct SampleRow {
    task_id: String,
    sample: usize,
    completion: String,
    passed: bool,
}

/// The problems in the order of the file of prompts, with their first ten samples.
fn parse(prompts: &str, samples: &str) -> (Vec<Sampled>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut wrong = |file: &str, line: usize, message: String| {
        problems.push(Problem {
            file: file.to_owned(),
            line: Some(line),
            message: format!("{message}; the row was skipped"),
        });
    };
    let mut known: Vec<(usize, PromptRow)> = Vec::new();
    for (line, text) in (1..).zip(prompts.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        match serde_json::from_str::<PromptRow>(text) {
            Ok(row) if known.iter().any(|(_, other)| other.task_id == row.task_id) => {
                wrong(PROMPTS, line, format!("{} stands here for the second time", row.task_id));
            }
            Ok(row) => known.push((line, row)),
            Err(error) => wrong(PROMPTS, line, error.to_string()),
        }
    }
    let mut found: BTreeMap<String, BTreeMap<usize, (String, bool)>> = BTreeMap::new();
    for (line, text) in (1..).zip(samples.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        match serde_json::from_str::<SampleRow>(text) {
            Ok(row) if row.sample >= TAKEN => {}
            Ok(row) if !known.iter().any(|(_, prompt)| prompt.task_id == row.task_id) => {
                wrong(SAMPLES, line, format!("there is no problem {}", row.task_id));
            }
            Ok(row) => match found.entry(row.task_id.clone()).or_default().entry(row.sample) {
                Entry::Vacant(place) => {
                    place.insert((row.completion, row.passed));
                }
                Entry::Occupied(_) => {
                    let again = format!("sample {} of {} is here twice", row.sample, row.task_id);
                    wrong(SAMPLES, line, again);
                }
            },
            Err(error) => wrong(SAMPLES, line, error.to_string()),
        }
    }
    let mut all = Vec::new();
    for (line, PromptRow { task_id, prompt }) in known {
        let samples: Vec<(String, bool)> = found.remove(&task_id).unwrap_or_default().into_values().collect();
        if samples.len() == TAKEN {
            all.push(Sampled { id: task_id, prompt, samples });
        } else {
            wrong(PROMPTS, line, format!("{task_id} has {} of the first {TAKEN} samples", samples.len()));
        }
    }
    (all, problems)
}

#[cfg(test)]
mod tests {
    use super::super::shared::testing::{a, answers, close, figure, value, yes};
    use super::*;

    fn sampled(id: &str, samples: &[(&str, bool)]) -> Sampled {
        Sampled {
            id: id.to_owned(),
            prompt: "def add(a, b):".to_owned(),
            samples: samples.iter().map(|(text, pass)| ((*text).to_owned(), *pass)).collect(),
        }
    }

    fn exam(sampled: Vec<Sampled>) -> Rerank {
        let ways = Ways { agnostic: false, ..Ways::default() };
        Rerank::new(&tasks().unwrap()["humanevalpack"], sampled, ways).unwrap()
    }

    #[test]
    fn rules_by_hand() {
        let tables = exam(vec![
            // One of four passes; the longest and the shortest do not; two share the greatest length.
            sampled("p/1", &[("return a + b", true), ("return a - b", false), ("pass", false), ("x", false)]),
            sampled("p/2", &[("no", false), ("nay", false)]),
            sampled("p/3", &[("ok", true), ("ok", true)]),
        ])
        .tables(&Answers::default());
        // (1/4 + 0 + 1)/3 and (1 + 0 + 1)/3.
        close(value(&tables, "all", "none", "pass@1"), 1.25 / 3.0);
        close(value(&tables, "all", "oracle", "pass@1"), 2.0 / 3.0);
        // Longest: two of 12 characters, one of which passes, 1/2; then 0; then 1. Shortest: 0, 0, 1.
        close(value(&tables, "all", "longer", "pass@1"), 0.5);
        close(value(&tables, "all", "shorter", "pass@1"), 1.0 / 3.0);
        // Words in the problem: 2 of 3 (return, a, b) of both; 0; 0. So the first two tie: (1/2 + 0 + 1)/3.
        close(value(&tables, "all", "overlap", "pass@1"), 0.5);
        // In the third problem there is nothing to compare; in the others no comparison has an answer.
        let together = figure(&tables, "all", "together", "pass@1");
        assert_eq!((together.value, together.n, together.left_out), (Some(1.0), 1, 2));
    }

    #[test]
    fn the_round_is_won_by_points_and_ties_count_the_mean() {
        let exam = exam(vec![
            sampled("p", &[("one", false), ("two", true), ("three", true), ("two", true)]),
            sampled("q", &[("one", false), ("two", true)]),
        ]);
        let ids: Vec<String> = exam.asks().into_iter().map(|ask| ask.id).collect();
        assert_eq!(
            ids,
            [
                "p/0-1/ab", "p/0-1/ba", "p/0-2/ab", "p/0-2/ba", "p/1-2/ab", "p/1-2/ba", "p/0", "p/1", "p/2",
                "q/0-1/ab", "q/0-1/ba", "q/0", "q/1"
            ]
        );
        // p: one beats two (twice, since the text is there twice), three beats one, two beats three (twice).
        // one: 1 + 0 + 1 = 2; two: 0 + 1 + 0.5 = 1.5, both times; three: 1 + 0 + 0 = 1. One wins, and fails.
        // q: the orders cancel out: a tie of one that fails and one that passes: 0.5.
        let mut given = vec![
            ("p/0-1/ab", "better", a(0.8)),
            ("p/0-1/ba", "better", a(0.4)),
            ("p/0-2/ab", "better", a(0.1)),
            ("p/0-2/ba", "better", a(0.9)),
            ("p/1-2/ab", "better", a(0.7)),
            ("p/1-2/ba", "better", a(0.4)),
            ("q/0-1/ab", "better", a(0.75)),
            ("q/0-1/ba", "better", a(0.75)),
            // Alone: two passes with the highest score in p, and in q nothing is known of the second.
            ("p/0", "good", yes(0.3)),
            ("p/1", "good", yes(0.9)),
            ("p/2", "good", yes(0.8)),
            ("q/0", "good", yes(0.9)),
        ];
        let tables = exam.tables(&answers(&given));
        close(value(&tables, "all", "together", "pass@1"), 0.25);
        let alone = figure(&tables, "all", "alone", "pass@1");
        assert_eq!((alone.value, alone.n, alone.left_out), (Some(1.0), 1, 1));

        // One comparison less: the problem is left out.
        given.remove(2);
        let tables = exam.tables(&answers(&given));
        let together = figure(&tables, "all", "together", "pass@1");
        assert_eq!((together.value, together.n, together.left_out), (Some(0.5), 1, 1));
    }

    #[test]
    fn rows_that_do_not_fit_are_reported() {
        let prompt = |id: &str| format!("{{\"task_id\": \"{id}\", \"prompt\": \"def f():\"}}\n");
        let sample = |id: &str, sample: usize| {
            format!(
                "{{\"task_id\": \"{id}\", \"sample\": {sample}, \"completion\": \"{sample}\", \"passed\": false}}\n"
            )
        };
        let mut samples: String = (0..12).rev().map(|number| sample("a", number)).collect();
        samples.push_str(&sample("a", 3));
        samples.push_str(&sample("c", 0));
        samples.push_str("{}\n");
        let (all, problems) = parse(&(prompt("a") + &prompt("b") + &prompt("a")), &samples);
        assert_eq!(all.len(), 1);
        let texts: Vec<&str> = all[0].samples.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(texts, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
        let printed: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(printed.len(), 5, "{printed:#?}");
        assert!(printed[0].ends_with("jsonl:3: a stands here for the second time; the row was skipped"));
        assert!(printed[1].ends_with("jsonl:13: sample 3 of a is here twice; the row was skipped"));
        assert!(printed[2].ends_with("jsonl:14: there is no problem c; the row was skipped"));
        assert!(printed[3].contains("jsonl:15: missing field `task_id`"));
        assert!(printed[4].ends_with("jsonl:2: b has 0 of the first 10 samples; the row was skipped"));
    }
}
