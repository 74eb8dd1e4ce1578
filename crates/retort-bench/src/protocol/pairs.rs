//! Any pairwise task as an exam: which of two responses people call better.
//!
//! *Accuracy* is over pairs that people decided: the share in which the judge prefers the same response, its ties one
//! half. Where people may say that neither is better, *agreement* of three classes (first, second, tie) is given besides.

use retort_stats::{Statistic, cohen_kappa};

use super::shared::{ProtocolError, characters, gather, in_order, mean, needs_pairs, none, row, unread};
use crate::pair::{Baseline, Pair, PairRubrics, Way, Ways, preference};
use crate::{Answers, Ask, DataDir, Exam, Example, Measure, Problem, Row, Seen, Table, Target, Task};

/// A pairwise task as an exam.
#[derive(Debug, Clone)]
pub struct Pairs {
    task: Task,
    rubrics: PairRubrics,
    examples: Vec<Example>,
    ways: Ways,
    problems: Vec<Problem>,
}

impl Pairs {
    /// An exam of these examples. Those without two responses are left out.
    ///
    /// # Errors
    /// The task is not pairwise.
    pub fn new(task: Task, mut examples: Vec<Example>, ways: Ways) -> Result<Self, ProtocolError> {
        let rubrics = PairRubrics::new(&task).ok_or_else(|| needs_pairs(&task))?;
        examples.retain(|example| example.responses.is_some());
        Ok(Self { task, rubrics, examples, ways, problems: Vec::new() })
    }

    /// An exam of all examples of a task.
    ///
    /// # Errors
    /// There is no such task, it is not pairwise, or its data cannot be read at all.
    pub fn read(name: &str, data: &DataDir, ways: Ways) -> Result<Self, ProtocolError> {
        let gathered = gather(name, data)?;
        let exam = Self::new(gathered.task, gathered.examples, ways)?;
        Ok(Self { problems: gathered.problems, ..exam })
    }

    /// Rows that could not be read.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    fn pairs(&self) -> impl Iterator<Item = Pair<'_>> {
        self.examples.iter().filter_map(|example| Pair::of(&self.task, example))
    }

    fn judged(&self, answers: &Answers) -> Vec<Judged> {
        let pairs: Vec<Pair<'_>> = self.pairs().collect();
        judged(&pairs, &self.ways, answers)
    }

    /// Accuracy, flips, and what length does to them.
    fn two_way<'a>(&'a self, judged: &[Judged], answers: &Answers) -> Table<Measure<'a>> {
        let mut rows = Vec::new();
        let subsets = in_order(self.examples.iter().filter_map(|example| example.subset.as_deref()));
        let parts: Vec<Option<&str>> = if subsets.len() > 1 {
            subsets.into_iter().map(Some).chain([None]).collect()
        } else {
            vec![None]
        };
        for part in parts {
            let chosen: Vec<usize> = (0..self.examples.len())
                .filter(|&index| part.is_none() || self.examples[index].subset.as_deref() == part)
                .collect();
            self.part_rows(part.unwrap_or("all"), &chosen, judged, answers, &mut rows);
        }
        let undecided = self.examples.iter().filter(|example| truth(&example.target).is_none()).count();
        let mut notes = vec![
            "Accuracy: the share of pairs in which the judge prefers the response that people prefer; its ties count one \
             half."
                .to_owned(),
            "longer_preferred: the share of pairs whose preferred response has more characters. length_gap: accuracy \
             where the longer response is right, less accuracy where the shorter one is; 0 for a judge that length does \
             not sway, 1 for the rule that the longer wins."
                .to_owned(),
        ];
        if self.ways.together {
            notes.push(
                "together: the mean of both orders decides. flip_rate: the share of pairs in which the two orders have \
                 different winners."
                    .to_owned(),
            );
        }
        if undecided > 0 {
            notes.push(format!(
                "People call neither response better in {undecided} of {} pairs; accuracy is over the others.",
                self.examples.len()
            ));
        }
        notes.extend(unread(&self.problems));
        Table { title: self.task.title.clone(), rows, notes }
    }

    fn part_rows<'a>(
        &'a self,
        part: &str,
        chosen: &[usize],
        judged: &[Judged],
        answers: &Answers,
        rows: &mut Vec<Row<Measure<'a>>>,
    ) {
        let decided: Vec<(usize, f64)> =
            chosen.iter().filter_map(|&index| Some((index, truth(&self.examples[index].target)?))).collect();
        let group = |index: usize| self.examples[index].group.as_str();
        for judge in judged {
            let items: Vec<(&str, Option<f64>)> = decided
                .iter()
                .map(|&(index, truth)| (group(index), judge.wins[index].map(|win| right(win, truth))))
                .collect();
            rows.push(row(part, &judge.name, "accuracy", Measure::mean(&items)));
        }
        if self.ways.together {
            let items: Vec<(&str, Option<f64>)> = chosen
                .iter()
                .map(|&index| {
                    let found = preference(&self.examples[index].id, Way::Together, answers);
                    let flipped = found.and_then(|preference| preference.flipped);
                    (group(index), flipped.map(|flipped| if flipped { 1.0 } else { 0.0 }))
                })
                .collect();
            rows.push(row(part, Way::Together.name(), "flip_rate", Measure::mean(&items)));
        }
        let people: Vec<(&str, Option<f64>)> = decided
            .iter()
            .map(|&(index, truth)| (group(index), Some(self.longer_preferred(index, truth))))
            .collect();
        rows.push(row(part, "people", "longer_preferred", Measure::mean(&people)));
        for judge in judged.iter().filter(|judge| judge.is_model) {
            let items: Vec<(&str, Option<f64>)> = chosen
                .iter()
                .map(|&index| (group(index), judge.wins[index].map(|win| self.longer_preferred(index, win))))
                .collect();
            rows.push(row(part, &judge.name, "longer_preferred", Measure::mean(&items)));
            rows.push(row(part, &judge.name, "length_gap", self.length_gap(&decided, judge)));
        }
    }

    /// First response's characters less the second's.
    fn longer_by(&self, index: usize) -> f64 {
        self.examples[index]
            .responses
            .as_ref()
            .map_or(0.0, |[first, second]| characters(first) - characters(second))
    }

    /// 1 where the winner is longer, else 0.
    fn longer_preferred(&self, index: usize, win: f64) -> f64 {
        if (win - 0.5) * self.longer_by(index) > 0.0 { 1.0 } else { 0.0 }
    }

    fn length_gap<'a>(&'a self, decided: &[(usize, f64)], judge: &Judged) -> Measure<'a> {
        // Whether the right one is longer, and whether the judge was right.
        let items = decided.iter().filter_map(|&(index, truth)| {
            let longer = self.longer_by(index) * (truth - 0.5);
            let said = judge.wins[index].map(|win| (longer > 0.0, right(win, truth)));
            (longer != 0.0).then(|| (self.examples[index].group.as_str(), Seen::from(said)))
        });
        Measure::of(items, |items| {
            let share = |wanted: bool| {
                let of = items.iter().filter(|(longer, _)| *longer == wanted);
                mean(of.map(|(_, right)| *right)).value()
            };
            Ok(match (share(true), share(false)) {
                (Some(longer), Some(shorter)) => Statistic::Value(longer - shorter),
                _ => none(),
            })
        })
    }

    /// Agreement of three classes, where the people's own labels are known.
    fn three_way<'a>(&'a self, judged: &[Judged], answers: &Answers) -> Option<Table<Measure<'a>>> {
        let named = |prefix: &str| -> Vec<&str> {
            let names = self.examples.iter().flat_map(|example| example.extra.keys());
            let mut names: Vec<&str> =
                names.map(String::as_str).filter(|name| name.starts_with(prefix)).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        let humans = named("human_");
        if humans.is_empty() {
            return None;
        }
        let groups: Vec<&str> = self.examples.iter().map(|example| example.group.as_str()).collect();
        let of_extra = |name: &str| -> Vec<Option<Class>> {
            self.examples.iter().map(|example| Class::named(example.extra.get(name)?)).collect()
        };
        let mut judges: Vec<(String, Vec<Option<Class>>)> =
            judged.iter().map(|judge| (judge.name.clone(), judge.classes(&self.examples, answers))).collect();
        for name in named("judge_") {
            judges.push((name.trim_start_matches("judge_").to_owned(), of_extra(name)));
        }
        let majority: Vec<Option<Class>> =
            self.examples.iter().map(|example| Class::majority(&example.target)).collect();
        let truths: Vec<(&str, Vec<Option<Class>>)> =
            humans.iter().map(|name| (*name, of_extra(name))).chain([("majority", majority)]).collect();

        let mut rows = Vec::new();
        for (judge, said) in &judges {
            for (name, truth) in &truths {
                rows.push(row("all", judge, &format!("agreement_{name}"), agreement(&groups, truth, said)));
            }
            if let Some((_, majority)) = truths.last() {
                for (metric, which) in [("macro_precision", 0), ("macro_recall", 1), ("macro_f1", 2)] {
                    let figure = of_both(&groups, majority, said, move |truth, said| {
                        Statistic::Value(macro_scores(truth, said)[which])
                    });
                    rows.push(row("all", judge, metric, figure));
                }
            }
        }
        for (index, (first, labels)) in truths.iter().enumerate() {
            for (second, others) in truths.iter().skip(index + 1).filter(|(name, _)| *name != "majority") {
                let figure = of_both(&groups, labels, others, |a, b| {
                    let numbers = |classes: &[Class]| -> Vec<f64> {
                        classes.iter().map(|class| f64::from(class.index())).collect()
                    };
                    cohen_kappa(&numbers(a), &numbers(b)).unwrap_or_else(|_| none())
                });
                rows.push(row("all", first, &format!("kappa_{second}"), figure));
            }
        }
        let undecided = truths
            .last()
            .map_or(0, |(_, majority)| majority.iter().filter(|majority| majority.is_none()).count());
        let mut notes = vec![
            "Three classes: the first is better, the second, or neither. A judge that sees both responses says that \
             neither is better where its two orders disagree; one that sees each alone, where both scores are equal."
                .to_owned(),
            "macro_precision, macro_recall, macro_f1: against the majority of the people, the plain mean over the three \
             classes, 0 for a class that was never said or never true."
                .to_owned(),
        ];
        if undecided > 0 {
            notes.push(format!(
                "{undecided} pairs have no majority and are left out of what is measured against it."
            ));
        }
        notes.extend(unread(&self.problems));
        Some(Table { title: format!("{}: three classes", self.task.title), rows, notes })
    }
}

impl Exam for Pairs {
    fn name(&self) -> &str {
        &self.task.name
    }

    fn asks(&self) -> Vec<Ask<'_>> {
        self.pairs().flat_map(|pair| pair.asks(&self.rubrics, &self.ways)).collect()
    }

    fn measures<'a>(&'a self, answers: &Answers) -> Vec<Table<Measure<'a>>> {
        let judged = self.judged(answers);
        let mut tables = vec![self.two_way(&judged, answers)];
        tables.extend(self.three_way(&judged, answers));
        tables
    }
}

/// What one judge says of all pairs.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    /// Its name in tables.
    pub(super) name: String,
    /// 1 for the first response, 0 for the second, 0.5 for a tie; `None` without an answer.
    pub(super) wins: Vec<Option<f64>>,
    /// Whether a model was asked.
    pub(super) is_model: bool,
    way: Option<Way>,
}

/// All ways that were asked, and the rules that read nothing.
pub(super) fn judged(pairs: &[Pair<'_>], ways: &Ways, answers: &Answers) -> Vec<Judged> {
    let asked = ways.all().map(|way| Judged {
        name: way.name().to_owned(),
        wins: pairs.iter().map(|pair| Some(preference(pair.id, way, answers)?.win())).collect(),
        is_model: true,
        way: Some(way),
    });
    let rules = Baseline::ALL.into_iter().map(|rule| Judged {
        name: rule.name().to_owned(),
        wins: pairs.iter().map(|pair| Some(rule.win(pair))).collect(),
        is_model: false,
        way: None,
    });
    asked.chain(rules).collect()
}

impl Judged {
    fn classes(&self, examples: &[Example], answers: &Answers) -> Vec<Option<Class>> {
        let class = |(example, win): (&Example, &Option<f64>)| {
            if self.way != Some(Way::Together) {
                return Some(Class::of_win((*win)?));
            }
            let [ab, ba] = preference(&example.id, Way::Together, answers)?.by_order?;
            Some(match (Class::of_probability(ab), Class::of_probability(ba)) {
                (first, second) if first == second => first,
                _ => Class::Tie,
            })
        };
        examples.iter().zip(&self.wins).map(class).collect()
    }
}

/// 1 where people prefer the first, 0 the second; `None` where they prefer neither.
pub(super) fn truth(target: &Target) -> Option<f64> {
    match target {
        Target::Preference { .. } => Some(if target.majority()? == 0 { 1.0 } else { 0.0 }),
        _ => None,
    }
}

/// 1 where a judge is right, 0 where it is wrong, 0.5 where it says neither.
pub(super) fn right(win: f64, truth: f64) -> f64 {
    1.0 - (win - truth).abs()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Tie,
    First,
    Second,
}

impl Class {
    const ALL: [Self; 3] = [Self::Tie, Self::First, Self::Second];

    fn index(self) -> u8 {
        match self {
            Self::Tie => 0,
            Self::First => 1,
            Self::Second => 2,
        }
    }

    fn named(name: &str) -> Option<Self> {
        match name {
            "first" => Some(Self::First),
            "second" => Some(Self::Second),
            "tie" => Some(Self::Tie),
            _ => None,
        }
    }

    fn of_probability(first: f64) -> Self {
        if first > 0.5 {
            Self::First
        } else if first < 0.5 {
            Self::Second
        } else {
            Self::Tie
        }
    }

    fn of_win(win: f64) -> Self {
        Self::of_probability(win)
    }

    /// What most people said, if one class leads alone.
    fn majority(target: &Target) -> Option<Self> {
        let Target::Preference { first, second, tie } = target else { return None };
        let shares = [(*tie, Self::Tie), (*first, Self::First), (*second, Self::Second)];
        let most = shares.iter().map(|(share, _)| *share).fold(f64::NEG_INFINITY, f64::max);
        let mut leaders = shares.iter().filter(|(share, _)| *share >= most - 1e-12);
        let leader = leaders.next()?.1;
        leaders.next().is_none().then_some(leader)
    }
}

/// A figure of those items that have both labels.
fn of_both<'a>(
    groups: &[&str],
    truth: &[Option<Class>],
    said: &[Option<Class>],
    figure: impl Fn(&[Class], &[Class]) -> Statistic + 'a,
) -> Measure<'a> {
    let items = groups.iter().zip(truth).zip(said).filter_map(|((group, truth), said)| {
        let truth = (*truth)?;
        Some((*group, Seen::from(said.map(|said| (truth, said)))))
    });
    Measure::of(items, move |both: &[(Class, Class)]| {
        if both.is_empty() {
            return Ok(none());
        }
        let (truth, said): (Vec<Class>, Vec<Class>) = both.iter().copied().unzip();
        Ok(figure(&truth, &said))
    })
}

fn agreement<'a>(groups: &[&str], truth: &[Option<Class>], said: &[Option<Class>]) -> Measure<'a> {
    of_both(groups, truth, said, |truth, said| {
        mean(truth.iter().zip(said).map(|(truth, said)| if truth == said { 1.0 } else { 0.0 }))
    })
}

/// Precision, recall and F1, each the plain mean over the three classes.
fn macro_scores(truth: &[Class], said: &[Class]) -> [f64; 3] {
    let share = |of: f64, all: f64| if all > 0.0 { of / all } else { 0.0 };
    let mut sums = [0.0; 3];
    for class in Class::ALL {
        let count = |test: &dyn Fn(Class, Class) -> bool| {
            truth.iter().zip(said).filter(|(truth, said)| test(**truth, **said)).count() as f64
        };
        let both = count(&|truth, said| truth == class && said == class);
        let precision = share(both, count(&|_, said| said == class));
        let recall = share(both, count(&|truth, _| truth == class));
        sums[0] += precision / 3.0;
        sums[1] += recall / 3.0;
        sums[2] += share(2.0 * precision * recall, precision + recall) / 3.0;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::shared::testing::{a, answers, close, figure, unscored, value, yes};
    use super::*;
    use crate::{DataDir, tasks};

    /// Shares of first, second and tie.
    fn pair(id: &str, subset: &str, responses: [&str; 2], [first, second, tie]: [f64; 3]) -> Example {
        Example {
            id: id.to_owned(),
            group: format!("prompt {id}"),
            fields: [("prompt".to_owned(), "Why do cats purr?".to_owned())].into(),
            responses: Some(responses.map(str::to_owned)),
            target: Target::Preference { first, second, tie },
            raters: 1,
            subset: Some(subset.to_owned()),
            ..Example::default()
        }
    }

    fn exam(examples: Vec<Example>, ways: Ways) -> Pairs {
        Pairs::new(tasks().unwrap()["hhh"].clone(), examples, ways).unwrap()
    }

    fn five() -> Vec<Example> {
        vec![
            pair("1", "x", ["cats purr", "no"], [1.0, 0.0, 0.0]),
            pair("2", "x", ["because", "so"], [0.0, 1.0, 0.0]),
            pair("3", "y", ["same", "size"], [1.0, 0.0, 0.0]),
            pair("4", "y", ["one", "three"], [0.0, 1.0, 0.0]),
            // People are divided, so this one has no right answer.
            pair("5", "y", ["one", "three"], [0.5, 0.5, 0.0]),
        ]
    }

    #[test]
    fn accuracy_flips_and_length_by_hand() {
        let given = answers(&[
            // 1: (0.9 + 0.7)/2 for the first: right. 2: (0.8 + 0.4)/2 for the first: wrong, and the orders differ.
            ("1/ab", "better", a(0.9)),
            ("1/ba", "better", a(0.3)),
            ("2/ab", "better", a(0.8)),
            ("2/ba", "better", a(0.6)),
            // 3: always the one that is shown first: a tie, and the orders differ. 4: one order has no score.
            ("3/ab", "better", a(0.75)),
            ("3/ba", "better", a(0.75)),
            ("4/ab", "better", a(0.1)),
            ("4/ba", "better", unscored()),
            // 5: for the second.
            ("5/ab", "better", a(0.2)),
            ("5/ba", "better", a(0.7)),
        ]);
        let ways = Ways { alone: false, agnostic: false, ..Ways::default() };
        let tables = exam(five(), ways).tables(&given);
        assert_eq!(tables.len(), 1);
        let found = figure(&tables, "all", "together", "accuracy");
        close(found.value.unwrap(), (1.0 + 0.0 + 0.5) / 3.0);
        assert_eq!((found.n, found.left_out), (3, 1));
        assert!(found.low.unwrap() <= 0.5 && found.high.unwrap() >= 0.5, "{found:?}");
        close(value(&tables, "x", "together", "accuracy"), 0.5);
        close(value(&tables, "y", "together", "accuracy"), 0.5);
        // Of four pairs with both orders (the undecided one too) two are flipped.
        let flips = figure(&tables, "all", "together", "flip_rate");
        close(flips.value.unwrap(), 0.5);
        assert_eq!((flips.n, flips.left_out), (4, 1));
        // Longer: right, wrong, a tie, right.
        close(value(&tables, "all", "longer", "accuracy"), 0.625);
        close(value(&tables, "all", "shorter", "accuracy"), 0.375);
        // Share of words in the prompt: 2/2 against 0; 0 against 0; 0, 0; 0, 0.
        close(value(&tables, "all", "overlap", "accuracy"), 2.5 / 4.0);
        // People prefer the longer in 1 and 4 of four; the judge in 1, 2 and 5 of the four that it decided.
        close(value(&tables, "all", "people", "longer_preferred"), 0.5);
        close(value(&tables, "all", "together", "longer_preferred"), 0.75);
        // The longer is right in 1 (found) and 4 (no answer); the shorter in 2 (not found): 1 − 0.
        let gap = figure(&tables, "all", "together", "length_gap");
        assert_eq!((gap.value, gap.n, gap.left_out), (Some(1.0), 2, 1));
        let note = "People call neither response better in 1 of 5 pairs; accuracy is over the others.";
        assert!(tables[0].notes.iter().any(|text| text == note), "{:?}", tables[0].notes);
    }

    #[test]
    fn a_judge_that_always_says_the_opposite_is_always_wrong() {
        // The same answers for the first response, once as they are and once reversed: accuracies must add up to 1. A
        // comparison that takes the orders for one another, or truth for its opposite, fails here.
        let right: [f64; 4] = [0.9, 0.2, 0.7, 0.4];
        for reversed in [false, true] {
            let first = |p: f64| if reversed { 1.0 - p } else { p };
            let mut given = Answers::default();
            for (id, p) in ["1", "2", "3", "4"].iter().zip(right) {
                for (order, verdict) in [("ab", a(first(p))), ("ba", a(1.0 - first(p)))] {
                    given.insert(crate::AnswerRecord {
                        id: format!("{id}/{order}"),
                        verdicts: vec![("better".into(), verdict)],
                        tokens: 0,
                    });
                }
            }
            let ways = Ways { alone: false, agnostic: false, ..Ways::default() };
            let tables = exam(five(), ways).tables(&given);
            close(value(&tables, "all", "together", "accuracy"), if reversed { 0.0 } else { 1.0 });
            close(value(&tables, "all", "together", "flip_rate"), 0.0);
        }
    }

    #[test]
    fn responses_judged_alone_are_compared_by_their_scores() {
        let ways = Ways { together: false, agnostic: false, ..Ways::default() };
        let exam = exam(five()[..2].to_vec(), ways);
        let ids: Vec<String> = exam.asks().into_iter().map(|ask| ask.id).collect();
        assert_eq!(ids, ["1/first", "1/second", "2/first", "2/second"]);
        let given = answers(&[
            ("1/first", "good", yes(0.8)),
            ("1/second", "good", yes(0.6)),
            ("2/first", "good", yes(0.5)),
            ("2/second", "good", yes(0.5)),
        ]);
        let tables = exam.tables(&given);
        close(value(&tables, "all", "alone", "accuracy"), 0.75);
        assert!(tables[0].rows.iter().all(|row| row.metric != "flip_rate"));
    }

    #[test]
    fn three_classes_by_hand() {
        let people = |mut example: Example, said: [&str; 3], judge: &str| {
            for (number, said) in (1..).zip(said) {
                example.extra.insert(format!("human_{number}"), said.to_owned());
            }
            example.extra.insert("judge_other".into(), judge.to_owned());
            example
        };
        let third = 1.0 / 3.0;
        let examples = vec![
            people(pair("1", "x", ["aa", "b"], [1.0, 0.0, 0.0]), ["first"; 3], "first"),
            people(
                pair("2", "x", ["aa", "b"], [0.0, 2.0 * third, third]),
                ["second", "tie", "second"],
                "first",
            ),
            people(pair("3", "x", ["aa", "b"], [0.0, third, 2.0 * third]), ["tie", "tie", "second"], "tie"),
            people(pair("4", "x", ["aa", "b"], [third; 3]), ["first", "second", "tie"], "second"),
        ];
        let given = answers(&[
            ("1/ab", "better", a(0.9)),
            ("1/ba", "better", a(0.2)),
            ("2/ab", "better", a(0.2)),
            ("2/ba", "better", a(0.6)),
            // The mean is for the first, but the orders disagree: neither.
            ("3/ab", "better", a(0.9)),
            ("3/ba", "better", a(0.6)),
            ("4/ab", "better", a(0.9)),
            ("4/ba", "better", a(0.1)),
        ]);
        let ways = Ways { alone: false, agnostic: false, ..Ways::default() };
        let tables = exam(examples, ways).tables(&given);
        assert_eq!(tables.len(), 2);
        // The judge: first, second, tie, first.
        close(value(&tables, "all", "together", "agreement_human_1"), 1.0);
        close(value(&tables, "all", "together", "agreement_human_2"), 0.5);
        close(value(&tables, "all", "together", "agreement_human_3"), 0.5);
        // The majority: first, second, tie, none.
        let found = figure(&tables, "all", "together", "agreement_majority");
        assert_eq!((found.value, found.n, found.left_out), (Some(1.0), 3, 0));
        // Published: first, first, tie of first, second, tie. Precision of first 1/2, of tie 1, of second never said: 0.
        // Recall of first 1, of tie 1, of second 0. F1 2/3, 1, 0.
        close(value(&tables, "all", "other", "agreement_majority"), 2.0 / 3.0);
        close(value(&tables, "all", "other", "macro_precision"), 0.5);
        close(value(&tables, "all", "other", "macro_recall"), 2.0 / 3.0);
        close(value(&tables, "all", "other", "macro_f1"), 5.0 / 9.0);
        // One and two agree in 1 and 3: 1/2. By chance: ties 1/4·2/4, firsts 2/4·1/4, seconds 1/4·1/4: 5/16. (8 − 5)/11.
        close(value(&tables, "all", "human_1", "kappa_human_2"), 3.0 / 11.0);
        assert!(tables[1].notes.iter().any(|note| note.starts_with("1 pairs have no majority")));
        assert!(tables[1].rows.iter().all(|row| row.metric != "kappa_majority"));
    }

    #[test]
    fn the_fixture_of_each_pairwise_set_is_an_exam() {
        let data = DataDir::new("tests/fixtures");
        for name in ["llmbar", "humanevalpack", "hhh", "pandalm"] {
            let exam = Pairs::read(name, &data, Ways::default()).unwrap();
            assert_eq!(exam.name(), name);
            assert!(!exam.problems().is_empty(), "{name}");
            let asks = exam.asks();
            // Both orders, and each response alone.
            assert_eq!(asks.len(), 4 * exam.examples.len(), "{name}");
            let mut ids: Vec<&str> = asks.iter().map(|ask| ask.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), asks.len(), "{name}");
            let tables = exam.tables(&Answers::default());
            let notes: Vec<&String> =
                tables[0].notes.iter().filter(|note| note.contains("could not be read")).collect();
            assert_eq!(notes.len(), 1, "{name}");
        }
        let refused = Pairs::read("wice_claims", &data, Ways::default()).unwrap_err().to_string();
        assert_eq!(refused, "task \"wice_claims\" is no task for this exam, which needs a pairwise task");
        let refused = Pairs::read("nothing", &data, Ways::default()).unwrap_err().to_string();
        assert!(refused.starts_with("there is no task \"nothing\""), "{refused}");
    }
}
