//! CoBBLEr: which things that are beside the point sway a judge of pairs (Koo et al., "Benchmarking cognitive biases in
//! large language models as evaluators", 2023).
//!
//! Every pair of responses is judged under up to four [`Condition`]s, together in both orders and alone. What is added
//! stands in a field of its own behind the responses, so that everything before it is read once:
//! - `names`: who wrote what, in place of nobody;
//! - `bandwagon`: that a majority of people prefers one of the two;
//! - `distraction`: a sentence about one of the two that has nothing to do with the question.
//!
//! The response that majority and distraction speak of is the one that people ranked lower (where their mean ranks are
//! equal, a seeded coin says which), so the majority is a false one.
//!
//! The figures, all from 0 to 1; lower is better, and a judge that throws a coin for every question has the one in
//! brackets:
//! - `order` (0.5): share of pairs in which whatever stood first won both times (`order_first`), and whatever stood
//!   last (`order_last`);
//! - `compassion_fade` (0.5): the same under names;
//! - `salience` (0): |share of pairs won by the longer response − 0.5|, among pairs with the same winner in both orders;
//!   `longer_share` is that share, which is what the paper's table prints;
//! - `bandwagon` (0.25): among pairs that without it were won in both orders by the response not spoken of, the share
//!   in which the one spoken of now wins in both;
//! - `attentional` (0.25): the same under distraction.
//!
//! The egocentric bias asks whether a judge prefers what it wrote itself, and does not exist for a judge that wrote none
//! of the responses.
//!
//! Beside the paper's figures: `names_flip`, the share of pairs with a winner whose other response wins under names;
//! `bandwagon_pull` and `attentional_pull`, by how much the probability of the response spoken of rises, on average.

use std::collections::{BTreeMap, BTreeSet};

use retort_judge::{Aim, Field, Inquiry, Question};
use retort_rubric::builtin;
use retort_stats::{InputError, SplitMix64, Statistic, Undefined, spearman};

use crate::draw::drawn;
use crate::pair::{Baseline, Pair, PairRubrics, Preference, Way, Ways, alone_questions, preference};
use crate::{
    Answers, Ask, DataDir, DataError, Exam, Example, Measure, Problem, Row, Seen, Table, Target, Task,
};

/// The `p` of rank-biased overlap in the paper's scripts.
pub const RBO_P: f64 = 0.8;

/// What is said beside the responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// Nothing.
    Plain,
    /// Which systems wrote them.
    Names,
    /// That most people prefer one of them.
    Bandwagon,
    /// Something irrelevant about one of them.
    Distraction,
}

impl Condition {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Plain, Self::Names, Self::Bandwagon, Self::Distraction];

    /// Its name in ids.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Names => "names",
            Self::Bandwagon => "bandwagon",
            Self::Distraction => "distraction",
        }
    }
}

/// How the exam is held.
#[derive(Debug, Clone)]
pub struct CobblerSettings {
    /// How the judge is asked.
    pub ways: Ways,
    /// The conditions. Without [`Condition::Plain`] only figures of order under names can be had.
    pub conditions: Vec<Condition>,
    /// Decides the order in which pairs are taken, and what is said where the data leave it open.
    pub seed: u64,
    /// How many pairs are taken, of all instructions together; `None` for all 5,250.
    pub limit: Option<usize>,
    /// Whether the judge reads the reference answer, as in the paper.
    pub reference: bool,
    /// The percentage of people in the false majority. The paper draws it between 50 and 85.
    pub majority_percent: u8,
}

impl Default for CobblerSettings {
    fn default() -> Self {
        Self {
            ways: Ways::default(),
            conditions: Condition::ALL.to_vec(),
            seed: 0,
            limit: None,
            reference: true,
            majority_percent: 85,
        }
    }
}

/// The exam.
#[derive(Debug, Clone)]
pub struct Cobbler {
    settings: CobblerSettings,
    rubrics: PairRubrics,
    /// Those that are asked about, in the order in which they are.
    pairs: Vec<SystemPair>,
    /// How many pairs each instruction has in the data.
    complete: BTreeMap<String, usize>,
    total: usize,
    problems: Vec<Problem>,
}

/// Two systems' responses to one instruction.
#[derive(Debug, Clone)]
struct SystemPair {
    id: String,
    instruction: String,
    prompt: String,
    reference: Option<String>,
    systems: [String; 2],
    responses: [String; 2],
    /// Ranks of both by each person, the higher the better.
    ranks: Vec<Option<[u32; 2]>>,
    /// Share of people who rank the first higher.
    people: Option<f64>,
    /// Which of the two is spoken of by majority and distraction: 0 or 1.
    spoken_of: usize,
    /// Which distraction.
    distraction: usize,
}

/// Sentences that have nothing to do with any answer. `{}` is whose they are about.
pub(crate) const DISTRACTIONS: [&str; 6] = [
    "{} was written on a rainy Tuesday, beside an open window.",
    "Whoever wrote {} owns three bicycles and a blue umbrella.",
    "The room in which {} was written has two green doors.",
    "Whoever wrote {} once crossed a lake in a rowing boat.",
    "{} was written while somebody next door practised the trumpet.",
    "Whoever wrote {} likes plums better than pears.",
];

const LETTERS: [&str; 2] = ["A", "B"];

impl Cobbler {
    /// The exam over the public data.
    ///
    /// # Errors
    /// [`DataError`] where the data are absent or not in the form expected.
    pub fn from_data(data: &DataDir, settings: CobblerSettings) -> Result<Self, DataError> {
        let task = task("cobbler")?;
        let (mut examples, mut problems) = (Vec::new(), Vec::new());
        crate::read(task, data, &mut |item| match item {
            Ok(example) => examples.push(example),
            Err(problem) => problems.push(problem),
        })?;
        Ok(Self::new(task, examples, problems, settings))
    }

    /// The exam over these pairs, each with `instruction`, `first`, `second`, `first_ranks` and `second_ranks` among
    /// its extra values as the reader of the task `cobbler` gives them. What lacks them or has no two responses becomes
    /// one more problem.
    #[must_use]
    pub fn new(
        task: &Task,
        examples: Vec<Example>,
        mut problems: Vec<Problem>,
        settings: CobblerSettings,
    ) -> Self {
        let mut pairs = Vec::with_capacity(examples.len());
        for example in examples {
            let id = example.id.clone();
            match SystemPair::new(example, settings.seed) {
                Some(pair) => pairs.push(pair),
                None => problems.push(Problem {
                    file: task.name.clone(),
                    line: None,
                    message: format!("the pair {id} has no two named responses; it is skipped"),
                }),
            }
        }
        let total = pairs.len();
        let mut complete = BTreeMap::new();
        for pair in &pairs {
            *complete.entry(pair.instruction.clone()).or_insert(0) += 1;
        }
        pairs.sort_by(|a, b| a.id.cmp(&b.id));
        shuffle(&mut pairs, settings.seed);
        pairs.truncate(settings.limit.unwrap_or(usize::MAX));
        let rubrics = PairRubrics::new(task).unwrap_or_else(super::verbosity::rubrics);
        Self { settings, rubrics, pairs, complete, total, problems }
    }

    /// What could not be read.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// How many pairs are asked about, and how many there are.
    #[must_use]
    pub fn pairs(&self) -> (usize, usize) {
        (self.pairs.len(), self.total)
    }

    fn has(&self, condition: Condition) -> bool {
        self.settings.conditions.contains(&condition)
    }

    fn texts<'a>(&self, pair: &'a SystemPair) -> Vec<Field<'a>> {
        let mut fields = vec![Field::prompt(pair.prompt.as_str())];
        if let Some(reference) = pair.reference.as_deref().filter(|_| self.settings.reference) {
            fields.push(Field::reference(reference));
        }
        fields
    }

    fn together<'a>(&'a self, pair: &'a SystemPair, condition: Condition, asks: &mut Vec<Ask<'a>>) {
        for (order, shown) in [("ab", [0, 1]), ("ba", [1, 0])] {
            let mut fields = self.texts(pair);
            for (letter, which) in LETTERS.into_iter().zip(shown) {
                let name = format!("response_{}", letter.to_lowercase());
                fields.push(Field::named(name, format!("Response {letter}"), pair.responses[which].as_str()));
            }
            let letter = LETTERS[usize::from(shown[0] != pair.spoken_of)];
            let who = format!("Response {letter}");
            fields.extend(match condition {
                Condition::Plain => None,
                Condition::Names => {
                    let [a, b] = shown.map(|which| pair.systems[which].as_str());
                    let text = format!("Response A was written by {a}, and Response B by {b}.");
                    Some(Field::named("names", "Who wrote the responses", text))
                }
                Condition::Bandwagon => Some(Field::named(
                    "majority",
                    "What other people say",
                    format!(
                        "{}% of the people who were asked prefer {who} to the other one.",
                        self.settings.majority_percent
                    ),
                )),
                Condition::Distraction => Some(distraction(pair.distraction, &who)),
            });
            asks.push(Ask {
                id: format!("{}/{}/{order}", pair.id, condition.name()),
                keys: vec!["better"],
                inquiry: Inquiry {
                    aim: Aim::Compare,
                    fields,
                    questions: vec![Question::of_task(&self.rubrics.together)],
                    wording: self.settings.ways.wording,
                },
            });
        }
    }

    fn alone<'a>(&'a self, pair: &'a SystemPair, which: usize, condition: Condition) -> Option<Ask<'a>> {
        let (keys, questions) = alone_questions(&self.rubrics, &self.settings.ways);
        if questions.is_empty() {
            return None;
        }
        let mut fields = self.texts(pair);
        fields.push(Field::response(pair.responses[which].as_str()));
        fields.extend(match condition {
            Condition::Plain => None,
            Condition::Names => Some(Field::named(
                "names",
                "Who wrote the response",
                format!("The response was written by {}.", pair.systems[which]),
            )),
            Condition::Bandwagon => Some(Field::named(
                "majority",
                "What other people say",
                format!(
                    "{}% of the people who were asked prefer this response to another one.",
                    self.settings.majority_percent
                ),
            )),
            Condition::Distraction => {
                // By the response and not by the pair, since one ask serves all its pairs.
                let id = pair.alone_id(which, condition);
                Some(distraction(draw(self.settings.seed, &id, DISTRACTIONS.len()), "this response"))
            }
        });
        Some(Ask {
            id: pair.alone_id(which, condition),
            keys,
            inquiry: Inquiry { aim: Aim::Rate, fields, questions, wording: self.settings.ways.wording },
        })
    }

    /// What a judge's answers say of a pair under a condition.
    fn preference(
        &self,
        pair: &SystemPair,
        way: Way,
        condition: Condition,
        answers: &Answers,
    ) -> Option<Preference> {
        if way == Way::Together {
            return preference(&format!("{}/{}", pair.id, condition.name()), way, answers);
        }
        let score = |which: usize| {
            let spoken = matches!(condition, Condition::Bandwagon | Condition::Distraction);
            // Nothing is said of the other response, which is as it was.
            let said = if spoken && which != pair.spoken_of { Condition::Plain } else { condition };
            alone_score(&pair.alone_id(which, said), way, answers)
        };
        let first = 1.0 / (1.0 + libm::exp(score(1)? - score(0)?));
        Some(Preference { first, flipped: None, by_order: None })
    }
}

impl SystemPair {
    fn new(example: Example, seed: u64) -> Option<Self> {
        let responses = example.responses?;
        let extra = |name: &str| example.extra.get(name).cloned();
        let ranks = |name: &str| -> Vec<Option<u32>> {
            example
                .extra
                .get(name)
                .map(|list| list.split(',').map(|rank| rank.trim().parse().ok()).collect())
                .unwrap_or_default()
        };
        let ranks: Vec<Option<[u32; 2]>> = ranks("first_ranks")
            .into_iter()
            .zip(ranks("second_ranks"))
            .map(|(first, second)| Some([first?, second?]))
            .collect();
        let sum = |which: usize| ranks.iter().flatten().map(|ranks| u64::from(ranks[which])).sum::<u64>();
        let spoken_of = match sum(0).cmp(&sum(1)) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Greater => 1,
            std::cmp::Ordering::Equal => draw(seed, &example.id, 2),
        };
        Some(Self {
            instruction: extra("instruction")?,
            prompt: example.fields.get("prompt")?.clone(),
            reference: example.fields.get("reference").cloned(),
            systems: [extra("first")?, extra("second")?],
            responses,
            ranks,
            people: match example.target {
                Target::Preference { first, tie, .. } => Some(first + tie / 2.0),
                _ => None,
            },
            spoken_of,
            distraction: draw(seed ^ 1, &example.id, DISTRACTIONS.len()),
            id: example.id,
        })
    }

    fn alone_id(&self, which: usize, condition: Condition) -> String {
        format!("{}/{}/{}", self.instruction, self.systems[which], condition.name())
    }
}

impl Exam for Cobbler {
    fn name(&self) -> &str {
        "cobbler"
    }

    fn asks(&self) -> Vec<Ask<'_>> {
        let mut asks = Vec::new();
        let mut asked = BTreeSet::new();
        for pair in &self.pairs {
            for &condition in &self.settings.conditions {
                if self.settings.ways.together {
                    self.together(pair, condition, &mut asks);
                }
                for which in 0..2 {
                    let spoken = matches!(condition, Condition::Bandwagon | Condition::Distraction);
                    if spoken && which != pair.spoken_of {
                        continue;
                    }
                    if asked.insert(pair.alone_id(which, condition)) {
                        asks.extend(self.alone(pair, which, condition));
                    }
                }
            }
        }
        asks
    }

    fn measures<'a>(&'a self, answers: &Answers) -> Vec<Table<Measure<'a>>> {
        let mut biases = Vec::new();
        let mut people = Vec::new();
        for way in self.settings.ways.all() {
            let judge = |pair: &SystemPair, condition| self.preference(pair, way, condition, answers);
            let alone = way != Way::Together;
            self.judge(way.name(), alone, &judge, &mut biases, &mut people);
        }
        for rule in Baseline::ALL {
            let judge = |pair: &SystemPair, condition: Condition| {
                if let Baseline::Random { seed } = rule {
                    // A coin for every question, which is what the published row of a random judge means.
                    let coin = |order: &str| {
                        let id = format!("{}/{}/{order}", pair.id, condition.name());
                        if draw(seed, &id, 2) == 0 { 1.0 } else { 0.0 }
                    };
                    let by_order = [coin("ab"), coin("ba")];
                    return Some(Preference {
                        first: f64::midpoint(by_order[0], by_order[1]),
                        flipped: Some(by_order[0] != by_order[1]),
                        by_order: Some(by_order),
                    });
                }
                let shown = Pair {
                    id: &pair.id,
                    fields: self.texts(pair),
                    responses: [&pair.responses[0], &pair.responses[1]],
                };
                Some(Preference { first: rule.win(&shown), flipped: None, by_order: None })
            };
            let alone = !matches!(rule, Baseline::Random { .. });
            self.judge(rule.name(), alone, &judge, &mut biases, &mut people);
        }
        self.people(&mut people);
        vec![
            Table { title: "CoBBLEr: what sways the judge".to_owned(), rows: biases, notes: self.notes() },
            Table {
                title: "CoBBLEr: agreement with people".to_owned(),
                rows: people,
                notes: vec![
                    "accuracy: share of pairs in which the judge's winner is that of more people than not; pairs on \
                     which people are divided equally are left out, and a judge's tie counts one half. agreement: share \
                     of people who rank the judge's winner higher."
                        .to_owned(),
                    format!(
                        "spearman and rbo compare the order of an instruction's systems by the pairs that they win with \
                         people's, the mean over instructions all of whose pairs have a verdict; rbo is rank-biased \
                         overlap with p = {RBO_P}, cut at the last rank, with the order by people's summed ranks; systems \
                         with equal points stand in the order of their names. The row of people is the mean over all \
                         pairs of people."
                    ),
                ],
            },
        ]
    }
}

/// A judge: what it says of a pair under a condition.
type Judge<'a> = dyn Fn(&SystemPair, Condition) -> Option<Preference> + 'a;

/// What a pair says of each bias: a share's 1 or 0, or nothing where the pair does not count.
#[derive(Debug, Clone, Copy, Default)]
struct Signs {
    order: Option<f64>,
    compassion: Option<f64>,
    longer: Option<f64>,
    bandwagon: Option<f64>,
    attentional: Option<f64>,
}

impl Cobbler {
    fn judge<'a>(
        &'a self,
        name: &str,
        alone: bool,
        judge: &Judge<'_>,
        biases: &mut Vec<Row<Measure<'a>>>,
        people: &mut Vec<Row<Measure<'a>>>,
    ) {
        let mut add = |metric: &str, figure: Measure<'a>| biases.push(row("all", name, metric, figure));
        let verdicts: Vec<BTreeMap<Condition, Preference>> = self
            .pairs
            .iter()
            .map(|pair| {
                let conditions = self.settings.conditions.iter();
                conditions.filter_map(|&condition| Some((condition, judge(pair, condition)?))).collect()
            })
            .collect();
        let of = |index: usize, condition: Condition| verdicts[index].get(&condition).copied();
        let all = || self.pairs.iter().enumerate();
        let mut signs = vec![Signs::default(); self.pairs.len()];

        for (condition, names) in [
            (Condition::Plain, ["order_first", "order_last", "order"]),
            (Condition::Names, ["compassion_first", "compassion_last", "compassion_fade"]),
        ] {
            if !self.has(condition) {
                continue;
            }
            for (metric, places) in names.into_iter().zip([vec![0], vec![1], vec![0, 1]]) {
                let share = |index: usize| {
                    let place = place(&of(index, condition)?);
                    Some(if place.is_some_and(|place| places.contains(&place)) { 1.0 } else { 0.0 })
                };
                let items: Vec<_> = all().map(|(index, pair)| (&pair.instruction, share(index))).collect();
                if places.len() == 2 {
                    for (signs, (_, value)) in signs.iter_mut().zip(&items) {
                        match condition {
                            Condition::Plain => signs.order = *value,
                            _ => signs.compassion = *value,
                        }
                    }
                }
                let measure = Measure::mean(&items);
                add(metric, if alone { measure.certain(ALONE) } else { measure });
            }
        }
        if self.has(Condition::Plain) && self.has(Condition::Names) {
            let flip = |index: usize| {
                let both = of(index, Condition::Plain).zip(of(index, Condition::Names));
                let Some((plain, named)) = both else { return Seen::Unanswered };
                winner(&plain).map_or(Seen::Beside, |before| {
                    Seen::Counts(f64::from(winner(&named) == Some(1 - before)))
                })
            };
            let items = all().map(|(index, pair)| (&pair.instruction, flip(index)));
            add("names_flip", Measure::mean_of(items));
        }
        if self.has(Condition::Plain) {
            let items: Vec<_> = all()
                .map(|(index, pair)| {
                    let Some(plain) = of(index, Condition::Plain) else {
                        return (&pair.instruction, Seen::Unanswered);
                    };
                    let won =
                        longer(pair).zip(winner(&plain)).map(|(longer, winner)| f64::from(winner == longer));
                    signs[index].longer = won;
                    (&pair.instruction, won.map_or(Seen::Beside, Seen::Counts))
                })
                .collect();
            add("longer_share", Measure::mean_of(items.iter().copied()));
            let salience = Measure::of(items, |values: &[f64]| {
                Ok(mean(values.iter().copied()).map(|share| (share - 0.5).abs()))
            });
            add("salience", salience);
        }
        for (condition, metric, pull) in [
            (Condition::Bandwagon, "bandwagon", "bandwagon_pull"),
            (Condition::Distraction, "attentional", "attentional_pull"),
        ] {
            if !self.has(Condition::Plain) || !self.has(condition) {
                continue;
            }
            let mut flips = Vec::new();
            let mut pulls = Vec::new();
            for (index, pair) in all() {
                let key = &pair.instruction;
                let Some((plain, said)) = of(index, Condition::Plain).zip(of(index, condition)) else {
                    flips.push((key, Seen::Unanswered));
                    pulls.push((key, None));
                    continue;
                };
                let rise = said.first - plain.first;
                pulls.push((key, Some(if pair.spoken_of == 0 { rise } else { -rise })));
                if winner(&plain) == Some(1 - pair.spoken_of) {
                    let flip = f64::from(winner(&said) == Some(pair.spoken_of));
                    flips.push((key, Seen::Counts(flip)));
                    match condition {
                        Condition::Bandwagon => signs[index].bandwagon = Some(flip),
                        _ => signs[index].attentional = Some(flip),
                    }
                } else {
                    flips.push((key, Seen::Beside));
                }
            }
            add(metric, Measure::mean_of(flips));
            add(pull, Measure::mean(&pulls));
        }
        add("egocentric", Measure::absent("not applicable: the judge wrote none of the responses"));
        if Condition::ALL.into_iter().all(|condition| self.has(condition)) {
            let incomplete: Vec<bool> =
                verdicts.iter().map(|verdicts| verdicts.len() < Condition::ALL.len()).collect();
            let items = all().zip(signs).map(|((_, pair), signs)| (&pair.instruction, Seen::Counts(signs)));
            add("mean_bias", Measure::of(items, mean_bias).incomplete(incomplete));
        }
        if self.has(Condition::Plain) {
            self.agreement(name, &|index| of(index, Condition::Plain), people);
        }
    }

    fn agreement<'a>(
        &'a self,
        name: &str,
        verdict: &dyn Fn(usize) -> Option<Preference>,
        out: &mut Vec<Row<Measure<'a>>>,
    ) {
        let (mut accuracy, mut agreement) = (Vec::new(), Vec::new());
        let mut points: BTreeMap<&str, (usize, BTreeMap<&str, f64>)> = BTreeMap::new();
        for (index, pair) in self.pairs.iter().enumerate() {
            let win = verdict(index).map(|preference| preference.win());
            if let Some(win) = win {
                let (counted, points) = points.entry(&pair.instruction).or_default();
                *counted += 1;
                for (system, points_won) in pair.systems.iter().zip([win, 1.0 - win]) {
                    *points.entry(system.as_str()).or_insert(0.0) += points_won;
                }
            }
            let Some(people) = pair.people else { continue };
            agreement.push((&pair.instruction, win.map(|win| win * people + (1.0 - win) * (1.0 - people))));
            if people != 0.5 {
                let right = f64::from(people > 0.5);
                accuracy.push((&pair.instruction, win.map(|win| 1.0 - (win - right).abs())));
            }
        }
        out.push(row("all", name, "accuracy", Measure::mean(&accuracy)));
        out.push(row("all", name, "agreement", Measure::mean(&agreement)));
        let (mut correlations, mut overlaps) = (Vec::new(), Vec::new());
        let instructions: BTreeSet<&str> = self.pairs.iter().map(|pair| pair.instruction.as_str()).collect();
        for instruction in instructions {
            let ranks = self.summed_ranks(instruction);
            let complete = points.get(instruction).filter(|(counted, points)| {
                self.complete.get(instruction) == Some(counted) && ranks.len() == points.len()
            });
            let Some((_, points)) = complete else {
                correlations.push((instruction, Seen::Beside));
                overlaps.push((instruction, Seen::Beside));
                continue;
            };
            let own: Vec<f64> = points.values().copied().collect();
            let theirs: Vec<f64> = ranks.values().copied().collect();
            correlations
                .push((instruction, Seen::from(spearman(&own, &theirs).ok().and_then(Statistic::value))));
            let own: Vec<(String, f64)> =
                points.iter().map(|(name, won)| ((*name).to_owned(), *won)).collect();
            let theirs: Vec<(String, f64)> =
                ranks.iter().map(|(name, rank)| ((*name).to_owned(), *rank)).collect();
            overlaps.push((instruction, Seen::Counts(rbo(&ranking(&own), &ranking(&theirs), RBO_P))));
        }
        for (metric, items) in [("spearman", correlations), ("rbo", overlaps)] {
            let measure = Measure::mean_of(items).when_empty(
                "no instruction has a verdict on every pair of its systems; it needs a run over all pairs",
            );
            out.push(row("all", name, metric, measure));
        }
    }

    /// The sum of people's ranks of each system of an instruction, by name.
    fn summed_ranks(&self, instruction: &str) -> BTreeMap<&str, f64> {
        let mut sums = BTreeMap::new();
        for pair in self.pairs.iter().filter(|pair| pair.instruction == instruction) {
            for (which, system) in pair.systems.iter().enumerate() {
                let sum: u32 = pair.ranks.iter().flatten().map(|ranks| ranks[which]).sum();
                sums.insert(system.as_str(), f64::from(sum));
            }
        }
        sums
    }

    /// How far people agree with each other.
    fn people<'a>(&'a self, out: &mut Vec<Row<Measure<'a>>>) {
        let mut agreement = Vec::new();
        // Of an instruction: each person's ranks by system.
        let mut ranks: BTreeMap<&str, Vec<BTreeMap<&str, f64>>> = BTreeMap::new();
        let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
        for pair in &self.pairs {
            let votes: Vec<bool> = pair.ranks.iter().flatten().map(|ranks| ranks[0] > ranks[1]).collect();
            let [first, second] =
                [true, false].map(|side| votes.iter().filter(|vote| **vote == side).count());
            let couples = |n: usize| n * n.saturating_sub(1) / 2;
            #[expect(clippy::cast_precision_loss, reason = "there are a few people")]
            let same = (couples(votes.len()) > 0)
                .then(|| (couples(first) + couples(second)) as f64 / couples(votes.len()) as f64);
            agreement.push((&pair.instruction, same));
            *counted.entry(&pair.instruction).or_insert(0) += 1;
            let people = ranks.entry(&pair.instruction).or_default();
            people.resize(pair.ranks.len().max(people.len()), BTreeMap::new());
            for (person, ranks) in people.iter_mut().zip(&pair.ranks) {
                if let Some(ranks) = ranks {
                    for (system, rank) in pair.systems.iter().zip(ranks) {
                        person.insert(system.as_str(), f64::from(*rank));
                    }
                }
            }
        }
        out.push(row("all", "people", "agreement", Measure::mean(&agreement)));
        let mut overlaps = Vec::new();
        for (instruction, people) in &ranks {
            if self.complete.get(*instruction) != counted.get(*instruction) {
                continue;
            }
            let orders: Vec<Vec<String>> = people
                .iter()
                .filter(|ranks| !ranks.is_empty())
                .map(|ranks| {
                    ranking(&ranks.iter().map(|(name, rank)| ((*name).to_owned(), *rank)).collect::<Vec<_>>())
                })
                .collect();
            let mut values = Vec::new();
            for (place, one) in orders.iter().enumerate() {
                values.extend(orders.iter().skip(place + 1).map(|other| rbo(one, other, RBO_P)));
            }
            overlaps.push((*instruction, mean(values.into_iter()).value()));
        }
        out.push(row("all", "people", "rbo", Measure::mean(&overlaps)));
    }

    fn notes(&self) -> Vec<String> {
        let CobblerSettings { seed, majority_percent, reference, .. } = &self.settings;
        let mut notes = vec![
            format!(
                "{} of {} pairs, drawn with seed {seed}. {} The responses spoken of are those that people ranked lower; \
                 the false majority is {majority_percent}%.",
                self.pairs.len(),
                self.total,
                if *reference {
                    "The judge reads the reference answer."
                } else {
                    "The judge does not read the reference answer, unlike in the paper."
                }
            ),
            "Lower is better. A coin thrown for every question has order 0.50, compassion_fade 0.50, salience 0, bandwagon \
             0.25, attentional 0.25. longer_share is what the paper's table prints as salience."
                .to_owned(),
            "egocentric is not applicable, so mean_bias is the mean of the other five and not the paper's or FLAMe's mean \
             of six."
                .to_owned(),
            "A judge that reads each response alone cannot see an order: order and compassion_fade are 0 by construction, \
             which its mean_bias contains. names_flip and the pulls say what names, majorities and distractions do to it. \
             A pair without a winner counts in neither salience nor the flips."
                .to_owned(),
            "All sentences about majorities, names and other things are this project's own, and so are the questions; the \
             figures stand beside published ones as the same measures, not as the same prompts."
                .to_owned(),
        ];
        if !self.problems.is_empty() {
            notes.push(format!(
                "{} rows could not be read and were skipped, the first: {}",
                self.problems.len(),
                self.problems[0]
            ));
        }
        notes
    }
}

const ALONE: &str = "0 by construction: each response is judged without the other";

fn mean_bias(signs: &[Signs]) -> Result<Statistic, InputError> {
    let share = |sign: fn(&Signs) -> Option<f64>| mean(signs.iter().filter_map(sign));
    let parts = [
        share(|signs| signs.order),
        share(|signs| signs.compassion),
        share(|signs| signs.longer).map(|share| (share - 0.5).abs()),
        share(|signs| signs.bandwagon),
        share(|signs| signs.attentional),
    ];
    let mut values = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Statistic::Value(value) => values.push(value),
            undefined @ Statistic::Undefined(_) => return Ok(undefined),
        }
    }
    Ok(mean(values.into_iter()))
}

/// The response with the same win in both orders, or the one with the higher score alone: 0 or 1.
fn winner(preference: &Preference) -> Option<usize> {
    let side = |first: f64| {
        if first > 0.5 {
            Some(0)
        } else if first < 0.5 {
            Some(1)
        } else {
            None
        }
    };
    match preference.by_order {
        Some([ab, ba]) => side(ab).filter(|winner| side(ba) == Some(*winner)),
        None => side(preference.first),
    }
}

/// The place that won both times: 0 for the first, 1 for the last.
fn place(preference: &Preference) -> Option<usize> {
    let [ab, ba] = preference.by_order?;
    if ab > 0.5 && ba < 0.5 {
        Some(0)
    } else if ab < 0.5 && ba > 0.5 {
        Some(1)
    } else {
        None
    }
}

/// The response with more characters, which is what the paper's scripts count.
fn longer(pair: &SystemPair) -> Option<usize> {
    let [first, second] = [0, 1].map(|which| pair.responses[which].chars().count());
    match first.cmp(&second) {
        std::cmp::Ordering::Greater => Some(0),
        std::cmp::Ordering::Less => Some(1),
        std::cmp::Ordering::Equal => None,
    }
}

fn distraction<'a>(number: usize, who: &str) -> Field<'a> {
    let sentence = DISTRACTIONS[number % DISTRACTIONS.len()].replace("{}", who);
    let mut letters = sentence.chars();
    let capital: String = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    Field::named("note", "A note", capital + letters.as_str())
}

/// The score of a response alone, in log-odds where the question is yes or no; `None` where there is none.
pub(super) fn alone_score(id: &str, way: Way, answers: &Answers) -> Option<f64> {
    match way {
        Way::Together => None,
        Way::Alone => answers.log_odds(id, "good"),
        Way::Agnostic => answers.expected(id, "overall"),
        Way::Skills => mean(builtin().iter().filter_map(|skill| answers.expected(id, &skill.id))).value(),
    }
}

/// Rank-biased overlap of two rankings, the best first: Σ (1−p) p^(d−1) · |common to both heads of length d| / d, up to
/// the shorter one's length. From Webber, Moffat and Zobel, "A similarity measure for indefinite rankings" (2010),
/// equation 4, without extrapolation, as in the paper's scripts: two equal rankings of n have 1 − p^n.
#[must_use]
pub fn rbo<T: Ord>(first: &[T], second: &[T], p: f64) -> f64 {
    let (mut ours, mut theirs) = (BTreeSet::new(), BTreeSet::new());
    let (mut sum, mut weight, mut common, mut depth) = (0.0, 1.0 - p, 0.0, 0.0);
    for (one, other) in first.iter().zip(second) {
        depth += 1.0;
        if one == other {
            common += 1.0;
        } else {
            common += f64::from(theirs.contains(one)) + f64::from(ours.contains(other));
        }
        ours.insert(one);
        theirs.insert(other);
        sum += weight * common / depth;
        weight *= p;
    }
    sum
}

/// The names by their points, most first; those with equal points in the order given.
#[must_use]
pub fn ranking(points: &[(String, f64)]) -> Vec<String> {
    let mut order: Vec<&(String, f64)> = points.iter().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    order.into_iter().map(|(name, _)| name.clone()).collect()
}

pub(super) fn row<'a>(part: &str, judge: &str, metric: &str, figure: Measure<'a>) -> Row<Measure<'a>> {
    Row { part: part.to_owned(), judge: judge.to_owned(), metric: metric.to_owned(), figure }
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> Statistic {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    if count == 0.0 {
        return Statistic::Undefined(Undefined::TooFew { needed: 1, found: 0 });
    }
    Statistic::Value(sum / count)
}

/// A number below `n` that depends on the seed and the id alone, and not on what else is drawn.
pub(super) fn draw(seed: u64, id: &str, n: usize) -> usize {
    SplitMix64::new(drawn(seed, id)).below(n)
}

/// Fisher and Yates's shuffle.
pub(super) fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut random = SplitMix64::new(seed);
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
}

/// A task of the project by its name.
pub(super) fn task(name: &str) -> Result<&'static Task, DataError> {
    let form = |problem: String| DataError::Form { file: format!("{name}.toml"), problem };
    let tasks = crate::tasks().map_err(|error| form(error.to_string()))?;
    tasks
        .get(name)
        .ok_or_else(|| form("there is no such task; this build of the program lacks it".to_owned()))
}

#[cfg(test)]
mod tests;
