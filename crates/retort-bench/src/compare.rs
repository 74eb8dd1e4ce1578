//! Two runs of one exam, item by item: by how much one judge is better than another, chance, or a rule.
//!
//! Both judges' figures are made from the same items. An item that either has not answered is left out of both. Each of the
//! 2,000 resamples draws the same prompts or documents for both, and the difference is taken within the resample, so what makes
//! an item hard for both cancels (Efron and Tibshirani, "An introduction to the bootstrap", 1993, on paired data).

mod show;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use retort_judge::Wording;
use retort_stats::{InputError, Statistic, Undefined};
use serde::Serialize;

pub use self::show::{html, markdown};

use crate::exams::{Entry, Headline, exam};
use crate::pair::Ways;
use crate::report::{ASKED, run_name};
use crate::store::{RunIdentity, RunReport, StoreError, read_answers, read_report};
use crate::{Answers, Chance, DataDir, Exam, ExamOptions, Figure, Measure, OpenError, Table, bootstrap};

/// The rules that every judge is held against.
pub const RULES: [&str; 3] = ["longer", "shorter", "overlap"];

/// A finished run with its answers.
#[derive(Debug, Clone)]
pub struct Stored {
    /// What it came to.
    pub report: RunReport,
    /// Every answer.
    pub answers: Answers,
}

impl Stored {
    /// Reads one exam's run from its folder.
    ///
    /// # Errors
    /// Where there is none, or its files are in another form.
    pub fn read(folder: &Path) -> Result<Self, StoreError> {
        Ok(Self { report: read_report(folder)?, answers: read_answers(folder)? })
    }
}

/// A way of the judge's set against a way of the base's, as in `alone:together`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WayPair {
    /// The judge's.
    pub judge: String,
    /// The base's.
    pub base: String,
}

impl std::str::FromStr for WayPair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = |name: &str| {
            let name = name.trim();
            ASKED.contains(&name).then(|| name.to_owned())
        };
        match text.split_once(':').map(|(judge, base)| (known(judge), known(base))) {
            Some((Some(judge), Some(base))) => Ok(Self { judge, base }),
            _ => Err(format!(
                "\"{text}\" is no pair of ways; write JUDGE:BASE, as in alone:together, with {}",
                ASKED.join(", ")
            )),
        }
    }
}

/// What is compared, and from which data.
#[derive(Debug, Clone, Default)]
pub struct CompareOptions {
    /// Pairs of ways, besides the same way of both.
    pub ways: Vec<WayPair>,
    /// As in [`ExamOptions::file`].
    pub file: Option<PathBuf>,
    /// As in [`ExamOptions::outputs`].
    pub outputs: Vec<String>,
}

/// Which way a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better: differences are turned.
    Lower,
    /// Neither: differences are as they are, and say nothing of merit.
    Neither,
}

/// Whom a judge is held against.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "name")]
pub enum Opponent {
    /// The base, asked in this way.
    Base(String),
    /// The base in that of its ways which has the best figure, chosen after the fact.
    BasesBest(String),
    /// What guessing comes to.
    Chance,
    /// A rule, over the same items.
    Rule(String),
}

/// A difference whose interval does not hold zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Clear {
    /// The judge is the better one.
    Above,
    /// It is the worse one.
    Below,
    /// It differs, where neither is better.
    Differs,
}

/// One figure of a judge against one opponent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The part of the data.
    pub part: String,
    /// The metric.
    pub metric: String,
    /// How the judge was asked.
    pub way: String,
    /// Whom it is held against.
    pub against: Opponent,
    /// Which way the metric is better.
    pub better: Better,
    /// The judge's figure over the items of both, as it is.
    pub judge: Option<f64>,
    /// The opponent's.
    pub other: Option<f64>,
    /// By how much the judge is better, with its interval; where neither is better, judge less opponent.
    pub difference: Figure,
    /// Whether the interval is clear of zero.
    pub clear: Option<Clear>,
}

/// The differences of one of an exam's tables.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Section {
    /// The exam and the table.
    pub title: String,
    /// Its differences.
    pub rows: Vec<Difference>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// One benchmark's line in a summary.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// The benchmark.
    pub benchmark: String,
    /// The figure that stands for it, `1 − …` where less is better.
    pub metric: String,
    /// Whether it is counted and averaged.
    pub counts: bool,
    /// The judge's way.
    pub way: String,
    /// The base's.
    pub base_way: String,
    /// The judge's figure, over the items that both answered; turned where less is better, as all figures here.
    pub judge: Option<f64>,
    /// The base's, over the same.
    pub base: Option<f64>,
    /// What guessing comes to.
    pub chance: Option<f64>,
    /// Rules that have this figure, by name, over the items that the judge answered.
    pub rules: Vec<(String, f64)>,
    /// Judge less base.
    pub over_base: Figure,
    /// Whether that is clear of zero.
    pub clear_of_base: Option<Clear>,
    /// Judge less chance.
    pub over_chance: Figure,
    /// Whether that is clear of zero.
    pub clear_of_chance: Option<Clear>,
    /// How many tasks a mean over tasks rests on.
    pub tasks: Option<usize>,
}

/// The plain means over those benchmarks that both the judge and the opponent have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Means {
    /// `base`, `chance` or a rule.
    pub against: String,
    /// The benchmarks.
    pub benchmarks: Vec<String>,
    /// The judge's mean.
    pub judge: f64,
    /// The opponent's.
    pub other: f64,
}

/// All benchmarks of one pair of ways.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The judge's way.
    pub way: String,
    /// The base's way; `None` for its best on each benchmark.
    pub base_way: Option<String>,
    /// The benchmarks.
    pub lines: Vec<Line>,
    /// On how many counted benchmarks the judge is above base and above chance, both clear of zero.
    pub above: usize,
    /// Of how many.
    pub of: usize,
    /// Means.
    pub means: Vec<Means>,
}

/// A judge against a base, over all exams that both have taken.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The judge's name.
    pub judge: String,
    /// The base's.
    pub base: String,
    /// A summary for each pair of ways.
    pub summaries: Vec<Summary>,
    /// Everything.
    pub sections: Vec<Section>,
    /// What could not be compared, and what a reader must know of the runs.
    pub notes: Vec<String>,
}

/// The direction of a metric and what guessing comes to; `None` for what compares a judge with itself or does not arise.
fn sense(metric: &str) -> Option<(Better, Option<f64>)> {
    use Better::{Higher, Lower, Neither};
    Some(match metric {
        "accuracy" | "balanced_accuracy" | "auc" | "agreement" => (Higher, Some(0.5)),
        "spearman" | "kendall_tau_b" | "pearson" => (Higher, Some(0.0)),
        "pass@1" | "rbo" | "macro_precision" | "macro_recall" | "macro_f1" => (Higher, None),
        "robustness_padded" | "robustness_repeated" => (Higher, None),
        // A coin's biases, as CoBBLEr's own table has them; of salience it is 0, which nobody can be better than.
        "order" | "compassion_fade" => (Lower, Some(0.5)),
        "bandwagon" | "attentional" => (Lower, Some(0.25)),
        "mean_bias" => (Lower, Some(0.3)),
        "padding_wins" | "repetition_wins" | "longer_wrong_wins" => (Lower, Some(0.5)),
        "salience" | "flip_rate" | "names_flip" => (Lower, None),
        "spearman_with_skills" | "change_of_score" | "egocentric" => return None,
        _ if metric.starts_with("agreement_") => (Higher, None),
        _ if metric.starts_with("kappa_") => (Higher, Some(0.0)),
        _ => (Neither, None),
    })
}

/// One measure against another, or against a number.
struct Leaf<'m, 'a> {
    family: usize,
    judge: &'m Measure<'a>,
    other: Other<'m, 'a>,
}

#[derive(Clone, Copy)]
enum Other<'m, 'a> {
    Measure(&'m Measure<'a>),
    Number(f64),
}

/// A leaf with the places that are compared.
struct Ready<'l, 'm, 'a> {
    leaf: &'l Leaf<'m, 'a>,
    places: Vec<usize>,
}

impl Leaf<'_, '_> {
    /// The places that both answered and that count for one of them, and how many are left out.
    fn ready(&self) -> Result<(Ready<'_, '_, '_>, usize), String> {
        if let Some(because) = self.judge.why_withheld() {
            return Err(because.to_owned());
        }
        let items = self.judge.clusters().len();
        let both: Vec<usize> = match self.other {
            Other::Number(_) => (0..items).filter(|&place| self.judge.answered(place)).collect(),
            Other::Measure(other) => {
                if let Some(because) = other.why_withheld() {
                    return Err(because.to_owned());
                }
                if other.clusters() != self.judge.clusters() {
                    return Err("the two figures do not rest on the same items".to_owned());
                }
                (0..items).filter(|&place| self.judge.answered(place) && other.answered(place)).collect()
            }
        };
        let left_out = items - both.len();
        let counts = |place: usize| match self.other {
            Other::Number(_) => self.judge.counts(place),
            Other::Measure(other) => self.judge.counts(place) || other.counts(place),
        };
        let places = both.into_iter().filter(|&place| counts(place)).collect();
        Ok((Ready { leaf: self, places }, left_out))
    }

    /// Both values of these places.
    fn values(&self, places: &[usize]) -> Result<Statistic<(f64, f64)>, InputError> {
        let judge = match self.judge.value(places)? {
            Statistic::Value(value) => value,
            Statistic::Undefined(why) => return Ok(Statistic::Undefined(why)),
        };
        let other = match self.other {
            Other::Number(value) => Statistic::Value(value),
            Other::Measure(other) => other.value(places)?,
        };
        Ok(other.map(|other| (judge, other)))
    }
}

/// A judge's figure, its opponent's, and their difference.
#[derive(Debug, Clone, Default, PartialEq)]
struct Paired {
    judge: Option<f64>,
    other: Option<f64>,
    difference: Figure,
    tasks: usize,
}

/// The plain mean over families of the plain mean over their leaves, which for one leaf is that leaf's value; `drawn` has the
/// places of each leaf.
fn both_values(
    ready: &[Ready<'_, '_, '_>],
    drawn: &[Vec<usize>],
) -> Result<Statistic<(f64, f64)>, InputError> {
    let mut families: Vec<(usize, f64, f64, f64)> = Vec::new();
    let mut why = Undefined::TooFew { needed: 1, found: 0 };
    for (one, places) in ready.iter().zip(drawn) {
        match one.leaf.values(places)? {
            Statistic::Value((judge, other)) => {
                match families.iter_mut().find(|family| family.0 == one.leaf.family) {
                    Some(family) => {
                        family.1 += judge;
                        family.2 += other;
                        family.3 += 1.0;
                    }
                    None => families.push((one.leaf.family, judge, other, 1.0)),
                }
            }
            // Of several tasks, one that a resample leaves without a value is left out of both judges' means.
            Statistic::Undefined(reason) => why = reason,
        }
    }
    if families.is_empty() {
        return Ok(Statistic::Undefined(why));
    }
    #[expect(clippy::cast_precision_loss, reason = "there are some dozens of families")]
    let count = families.len() as f64;
    let mean = |of: fn(&(usize, f64, f64, f64)) -> f64| families.iter().map(of).sum::<f64>() / count;
    Ok(Statistic::Value((mean(|family| family.1 / family.3), mean(|family| family.2 / family.3))))
}

/// Sorts the leaves into those that have a value, and gives the values over all their items.
fn estimate<'l, 'm, 'a>(leaves: &'l [Leaf<'m, 'a>]) -> (Paired, Vec<Ready<'l, 'm, 'a>>) {
    let mut found = Paired::default();
    let mut ready = Vec::new();
    for leaf in leaves {
        let tried = leaf.ready().and_then(|(one, left_out)| match leaf.values(&one.places) {
            Ok(Statistic::Value(_)) => Ok((one.places, left_out)),
            Ok(Statistic::Undefined(why)) => Err(why.to_string()),
            Err(error) => Err(error.to_string()),
        });
        match tried {
            Ok((places, left_out)) => {
                found.difference.left_out += left_out;
                found.difference.n += places.len();
                ready.push(Ready { leaf, places });
            }
            Err(because) => found.difference.because = Some(because),
        }
    }
    found.tasks = ready.len();
    if ready.is_empty() {
        return (found, ready);
    }
    let all: Vec<Vec<usize>> = ready.iter().map(|one| one.places.clone()).collect();
    if let Ok(Statistic::Value((judge, other))) = both_values(&ready, &all) {
        found.difference.because = None;
        (found.judge, found.other) = (Some(judge), Some(other));
    }
    (found, ready)
}

/// The difference with its interval; `turn` is −1 where less is better.
fn paired(leaves: &[Leaf<'_, '_>], turn: f64) -> Paired {
    let (mut found, ready) = estimate(leaves);
    let Some((judge, other)) = found.judge.zip(found.other) else { return found };
    // −0 would be shown as such.
    found.difference.value = Some(turn * (judge - other) + 0.0);
    let rows: Vec<(usize, usize)> = ready
        .iter()
        .enumerate()
        .flat_map(|(number, one)| one.places.iter().map(move |&place| (number, place)))
        .collect();
    let clusters: Vec<u64> =
        rows.iter().map(|&(number, place)| ready[number].leaf.judge.clusters()[place]).collect();
    let mut drawn: Vec<Vec<usize>> = vec![Vec::new(); ready.len()];
    let interval = bootstrap().by_cluster(&clusters, |draw| {
        for places in &mut drawn {
            places.clear();
        }
        for &row in draw {
            let (number, place) = rows[row];
            drawn[number].push(place);
        }
        Ok(both_values(&ready, &drawn)?.map(|(judge, other)| turn * (judge - other) + 0.0))
    });
    match interval {
        Ok(Statistic::Value(interval)) => {
            (found.difference.low, found.difference.high) = (Some(interval.low), Some(interval.high));
        }
        Ok(Statistic::Undefined(reason)) => found.difference.because = Some(reason.to_string()),
        Err(error) => found.difference.because = Some(error.to_string()),
    }
    found
}

fn clear(figure: &Figure, better: Better) -> Option<Clear> {
    match (figure.low?, figure.high?) {
        (low, _) if low > 0.0 && better != Better::Neither => Some(Clear::Above),
        (_, high) if high < 0.0 && better != Better::Neither => Some(Clear::Below),
        (low, high) if low > 0.0 || high < 0.0 => Some(Clear::Differs),
        _ => None,
    }
}

/// Places of figures that are compared as one: one figure, or the figures of many tasks.
struct Site {
    better: Better,
    of: Vec<(usize, usize, String, String)>,
}

/// Both judges' measures of one exam.
struct Both<'e> {
    judge: Vec<Table<Measure<'e>>>,
    base: Vec<Table<Measure<'e>>>,
}

fn find<'m, 'e>(
    table: Option<&'m Table<Measure<'e>>>,
    part: &str,
    judge: &str,
    metric: &str,
) -> Option<&'m Measure<'e>> {
    let mut rows = table?.rows.iter();
    let row = rows.find(|row| row.part == part && row.judge == judge && row.metric == metric)?;
    Some(&row.figure)
}

impl<'e> Both<'e> {
    fn new(exam: &'e dyn Exam, judge: &Answers, base: &Answers) -> Self {
        Self { judge: exam.measures(judge), base: exam.measures(base) }
    }

    fn base_table(&self, table: usize) -> Option<&Table<Measure<'e>>> {
        let title = &self.judge.get(table)?.title;
        self.base.iter().find(|other| other.title == *title)
    }

    /// Everything that is measured.
    fn sites(&self, table: usize) -> Vec<Site> {
        let mut sites: Vec<Site> = Vec::new();
        for row in &self.judge[table].rows {
            let Some((better, _)) = sense(&row.metric) else { continue };
            let place = (0, table, row.part.clone(), row.metric.clone());
            if !sites.iter().any(|site| site.of[0] == place) {
                sites.push(Site { better, of: vec![place] });
            }
        }
        sites
    }

    fn headline_site(&self, headline: &Headline) -> Option<Site> {
        let Some(part) = headline.part else {
            let mut of = Vec::new();
            for table in 0..self.judge.len() {
                let sites = self.sites(table).into_iter().filter(|site| site.better == Better::Higher);
                let places = sites.flat_map(|site| site.of);
                of.extend(places.map(|(_, table, part, metric)| (table, table, part, metric)));
            }
            return Some(Site { better: Better::Higher, of });
        };
        let table = self.judge.iter().position(|table| {
            table.rows.iter().any(|row| row.part == part && row.metric == headline.metric)
        })?;
        let (better, _) = sense(headline.metric)?;
        Some(Site { better, of: vec![(0, table, part.to_owned(), headline.metric.to_owned())] })
    }

    /// The ways in which anything was answered, in the order of [`ASKED`].
    fn ways(&self, site: &Site, of_base: bool) -> Vec<&'static str> {
        let answered = |way: &str| {
            site.of.iter().any(|(_, table, part, metric)| {
                let table = if of_base { self.base_table(*table) } else { self.judge.get(*table) };
                find(table, part, way, metric).is_some_and(Measure::has_any)
            })
        };
        ASKED.into_iter().filter(|way| answered(way)).collect()
    }

    fn leaves(&self, site: &Site, way: &str, against: &Opponent) -> Vec<Leaf<'_, 'e>> {
        let leaf = |(family, table, part, metric): &(usize, usize, String, String)| {
            let own = self.judge.get(*table);
            let judge = find(own, part, way, metric).filter(|measure| measure.has_any())?;
            let other = match against {
                Opponent::Base(way) | Opponent::BasesBest(way) => Other::Measure(
                    find(self.base_table(*table), part, way, metric).filter(|measure| measure.has_any())?,
                ),
                Opponent::Rule(rule) => Other::Measure(find(own, part, rule, metric)?),
                Opponent::Chance => match judge.chance() {
                    Some(Chance::Value(value)) => Other::Number(value),
                    Some(Chance::Judge(name)) => Other::Measure(find(own, part, name, metric)?),
                    None => Other::Number(sense(metric)?.1?),
                },
            };
            Some(Leaf { family: *family, judge, other })
        };
        site.of.iter().filter_map(leaf).collect()
    }

    /// The way in which the base has its best figure, over the items that it shares with the judge.
    fn bases_best(&self, site: &Site, way: &str) -> Option<String> {
        let turn = turn(site.better);
        let mut best: Option<(usize, f64, &str)> = None;
        for other in self.ways(site, true) {
            let leaves = self.leaves(site, way, &Opponent::Base(other.to_owned()));
            let found = estimate(&leaves).0;
            let Some(value) = found.other.map(|value| turn * value) else { continue };
            // A way that covers more of the tasks goes before one that covers fewer.
            if best.is_none_or(|(tasks, most, _)| (found.tasks, value) > (tasks, most)) {
                best = Some((found.tasks, value, other));
            }
        }
        best.map(|(.., way)| way.to_owned())
    }

    fn opponents(&self, site: &Site, way: &str, pairs: &[WayPair]) -> Vec<Opponent> {
        let of_base = self.ways(site, true);
        let named = pairs.iter().filter(|pair| pair.judge == way).map(|pair| pair.base.as_str());
        let mut all: Vec<Opponent> = Vec::new();
        for base in std::iter::once(way).chain(named).filter(|base| of_base.contains(base)) {
            let opponent = Opponent::Base(base.to_owned());
            if !all.contains(&opponent) {
                all.push(opponent);
            }
        }
        if site.better != Better::Neither {
            all.extend(self.bases_best(site, way).map(Opponent::BasesBest));
            all.push(Opponent::Chance);
            all.extend(RULES.map(|rule| Opponent::Rule(rule.to_owned())));
        }
        all
    }

    fn section(&self, exam: &str, table: usize, pairs: &[WayPair]) -> Section {
        let mut rows = Vec::new();
        let mut turned: Vec<String> = Vec::new();
        for site in self.sites(table) {
            let (_, _, part, metric) = &site.of[0];
            for way in self.ways(&site, false) {
                for against in self.opponents(&site, way, pairs) {
                    let leaves = self.leaves(&site, way, &against);
                    if leaves.is_empty() {
                        continue;
                    }
                    let found = paired(&leaves, turn(site.better));
                    if site.better == Better::Lower && !turned.contains(metric) {
                        turned.push(metric.clone());
                    }
                    rows.push(Difference {
                        part: part.clone(),
                        metric: metric.clone(),
                        way: way.to_owned(),
                        against,
                        better: site.better,
                        judge: found.judge,
                        other: found.other,
                        clear: clear(&found.difference, site.better),
                        difference: found.difference,
                    });
                }
            }
        }
        let mut notes = Vec::new();
        if !turned.is_empty() {
            notes.push(format!(
                "Less is better of {}; their differences are turned, so that above zero the judge is the better one.",
                turned.join(", ")
            ));
        }
        let neither: BTreeSet<&str> =
            rows.iter().filter(|row| row.better == Better::Neither).map(|row| row.metric.as_str()).collect();
        if !neither.is_empty() {
            notes.push(format!(
                "Neither more nor less is better of {}; their differences are judge less base.",
                neither.into_iter().collect::<Vec<_>>().join(", ")
            ));
        }
        Section { title: format!("{exam}: {}", self.judge[table].title), rows, notes }
    }

    fn line(&self, headline: &Headline, site: &Site, way: &str, against: &Opponent) -> Option<Line> {
        let leaves = self.leaves(site, way, against);
        if leaves.is_empty() {
            return None;
        }
        let found = paired(&leaves, turn(site.better));
        let over_chance = paired(&self.leaves(site, way, &Opponent::Chance), turn(site.better));
        let lower = site.better == Better::Lower;
        let shown = |value: f64| if lower { 1.0 - value } else { value };
        let rule = |rule: &str| {
            let leaves = self.leaves(site, way, &Opponent::Rule(rule.to_owned()));
            // Over as many tasks as the judge's own figure, or it would be another mean.
            let (other, _) = estimate(&leaves);
            let value = other.other.filter(|_| other.tasks == found.tasks)?;
            Some((rule.to_owned(), shown(value)))
        };
        Some(Line {
            benchmark: headline.benchmark.to_owned(),
            metric: if lower { format!("1 − {}", headline.metric) } else { headline.metric.to_owned() },
            counts: headline.counts,
            way: way.to_owned(),
            base_way: match against {
                Opponent::Base(way) | Opponent::BasesBest(way) | Opponent::Rule(way) => way.clone(),
                Opponent::Chance => "chance".to_owned(),
            },
            judge: found.judge.map(shown),
            base: found.other.map(shown),
            chance: over_chance.other.map(shown),
            rules: RULES.into_iter().filter_map(rule).collect(),
            clear_of_base: clear(&found.difference, site.better),
            over_base: found.difference,
            clear_of_chance: clear(&over_chance.difference, site.better),
            over_chance: over_chance.difference,
            tasks: headline.part.is_none().then_some(found.tasks),
        })
    }

    /// The lines of all pairs of ways: the judge's way, the base's (`None` for its best), and the line.
    fn lines(&self, headlines: &[Headline], pairs: &[WayPair]) -> Vec<(Pairing, Line)> {
        let mut all = Vec::new();
        for headline in headlines {
            let Some(site) = self.headline_site(headline) else { continue };
            for way in self.ways(&site, false) {
                if headline.way.is_some_and(|only| only != way) {
                    continue;
                }
                for against in self.opponents(&site, way, pairs) {
                    let pairing = match &against {
                        Opponent::Base(base) => (way.to_owned(), Some(base.clone())),
                        Opponent::BasesBest(_) => (way.to_owned(), None),
                        Opponent::Chance | Opponent::Rule(_) => continue,
                    };
                    all.extend(self.line(headline, &site, way, &against).map(|line| (pairing, line)));
                }
            }
        }
        all
    }
}

/// The judge's way and the base's; `None` for its best.
type Pairing = (String, Option<String>);

fn turn(better: Better) -> f64 {
    if better == Better::Lower { -1.0 } else { 1.0 }
}

/// What one exam gives to a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Its tables' differences.
    pub sections: Vec<Section>,
    /// Its lines in summaries, by pair of ways.
    lines: Vec<(Pairing, Line)>,
}

/// Two judges' answers to one exam.
#[must_use]
pub fn compare(
    exam: &dyn Exam,
    headlines: &[Headline],
    judge: &Answers,
    base: &Answers,
    ways: &[WayPair],
) -> Compared {
    let both = Both::new(exam, judge, base);
    let sections = (0..both.judge.len())
        .map(|table| both.section(exam.name(), table, ways))
        .filter(|section| !section.rows.is_empty());
    Compared { sections: sections.collect(), lines: both.lines(headlines, ways) }
}

/// The summaries of what the exams give.
#[must_use]
pub fn summaries(exams: &[Compared], fixed: &[&str]) -> Vec<Summary> {
    let mut pairings: Vec<&Pairing> = Vec::new();
    let lines = || exams.iter().flat_map(|exam| &exam.lines);
    for (pairing, line) in lines() {
        // A benchmark with a way of its own joins the others' summaries, and makes one only where there are no others.
        if !pairings.contains(&pairing) && !fixed.contains(&line.benchmark.as_str()) {
            pairings.push(pairing);
        }
    }
    if pairings.is_empty() {
        pairings.extend(lines().map(|(pairing, _)| pairing).collect::<BTreeSet<_>>());
    }
    pairings.sort_by(|a, b| rank(a).cmp(&rank(b)));
    pairings.into_iter().map(|pairing| summary(pairing, lines(), fixed)).collect()
}

/// By the judge's way; the same way of the base first, then others, its best last.
fn rank((way, base): &Pairing) -> (Option<usize>, bool, bool, Option<&String>) {
    let place = ASKED.iter().position(|known| known == way);
    (place, base.is_none(), base.as_ref() != Some(way), base.as_ref())
}

fn summary<'l>(
    pairing: &Pairing,
    lines: impl Iterator<Item = &'l (Pairing, Line)>,
    fixed: &[&str],
) -> Summary {
    let belongs = |(own, line): &&(Pairing, Line)| {
        own == pairing
            || (fixed.contains(&line.benchmark.as_str())
                && pairing.0 != "together"
                && own.1.is_none() == pairing.1.is_none())
    };
    let lines: Vec<Line> = lines.filter(belongs).map(|(_, line)| line.clone()).collect();
    let counted: Vec<&Line> = lines.iter().filter(|line| line.counts).collect();
    let above = |line: &&&Line| {
        line.clear_of_base == Some(Clear::Above) && line.clear_of_chance == Some(Clear::Above)
    };
    let mut means = Vec::new();
    for against in ["base", "chance"].into_iter().chain(RULES) {
        let both: Vec<(&str, f64, f64)> = counted
            .iter()
            .filter_map(|line| {
                let other = match against {
                    "base" => line.base,
                    "chance" => line.chance,
                    rule => line.rules.iter().find(|(name, _)| name == rule).map(|(_, value)| *value),
                };
                Some((line.benchmark.as_str(), line.judge?, other?))
            })
            .collect();
        if both.is_empty() {
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "there are a dozen benchmarks")]
        let mean = |of: fn(&(&str, f64, f64)) -> f64| both.iter().map(of).sum::<f64>() / both.len() as f64;
        means.push(Means {
            against: against.to_owned(),
            judge: mean(|both| both.1),
            other: mean(|both| both.2),
            benchmarks: both.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        });
    }
    Summary {
        way: pairing.0.clone(),
        base_way: pairing.1.clone(),
        above: counted.iter().filter(above).count(),
        of: counted.len(),
        lines,
        means,
    }
}

/// Compares every exam that a judge and a base have both taken. Runs of the same model and adapter are one judge.
///
/// The exams are made anew from the data; what stands in the way for one of them is said in the notes and costs only that one.
#[must_use]
pub fn compare_runs(
    runs: &[Stored],
    base: &[Stored],
    data: &DataDir,
    options: &CompareOptions,
) -> Vec<Comparison> {
    let mut judges: Vec<Vec<&Stored>> = Vec::new();
    for run in runs {
        let same = |judge: &&mut Vec<&Stored>| {
            judge[0].report.run.model == run.report.run.model
                && judge.iter().all(|other| other.report.run.exam != run.report.run.exam)
        };
        match judges.iter_mut().find(same) {
            Some(judge) => judge.push(run),
            None => judges.push(vec![run]),
        }
    }
    judges.iter().map(|judge| comparison(judge, base, data, options)).collect()
}

fn comparison(judge: &[&Stored], base: &[Stored], data: &DataDir, options: &CompareOptions) -> Comparison {
    let (mut exams, mut notes, mut fixed) = (Vec::new(), Vec::new(), Vec::new());
    let mut bases: Vec<String> = Vec::new();
    for run in judge {
        let name = run.report.run.exam.as_str();
        let Some(other) = base.iter().find(|other| other.report.run.exam == name) else {
            notes.push(format!("{name}: the base has not taken it."));
            continue;
        };
        let known = run_name(&other.report);
        if !bases.contains(&known) {
            bases.push(known);
        }
        match one(run, other, data, options, &mut notes) {
            Ok((entry, compared)) => {
                let of_own_way = entry.headlines.iter().filter(|headline| headline.way.is_some());
                fixed.extend(of_own_way.map(|headline| headline.benchmark));
                exams.push(compared);
            }
            Err(problem) => notes.push(format!("{name} is not compared: {problem}")),
        }
    }
    Comparison {
        judge: judge.first().map(|run| run_name(&run.report)).unwrap_or_default(),
        base: bases.join(", "),
        summaries: summaries(&exams, &fixed),
        sections: exams.into_iter().flat_map(|exam| exam.sections).collect(),
        notes,
    }
}

/// Why two runs of an exam cannot be compared.
#[derive(Debug, thiserror::Error)]
enum CompareError {
    #[error(
        "its items were drawn with seed {judge} and the base's with seed {base}; run one of them again with --seed"
    )]
    Seeds { judge: u64, base: u64 },
    #[error(transparent)]
    Open(#[from] OpenError),
}

fn one(
    judge: &Stored,
    base: &Stored,
    data: &DataDir,
    options: &CompareOptions,
    notes: &mut Vec<String>,
) -> Result<(&'static Entry, Compared), CompareError> {
    let (own, other) = (&judge.report.run, &base.report.run);
    if own.seed != other.seed {
        return Err(CompareError::Seeds { judge: own.seed, base: other.seed });
    }
    let entry = exam(&own.exam)?;
    let with = |ways: Ways, limit: Option<usize>| ExamOptions {
        ways,
        limit,
        seed: own.seed,
        file: options.file.clone(),
        outputs: options.outputs.clone(),
    };
    for (run, whose) in [(own, "judge"), (other, "base")] {
        let Some(ways) = ways_of(&run.asked) else { continue };
        let opened = entry.open(data, &with(ways, run.limit))?;
        let asks = opened.exam.asks();
        let today = RunIdentity::new(&run.exam, None, run.asked.clone(), run.limit, run.seed, &asks);
        if today.asks_sha256 != run.asks_sha256 {
            notes.push(format!(
                "{}: texts or questions are no longer those that the {whose} was asked (other data, --file or --outputs, or \
                 another version of Retort); its answers are taken by their ids.",
                run.exam
            ));
        }
    }
    // A smaller limit takes some of the items of a larger one.
    let limit = match (own.limit, other.limit) {
        (Some(own), Some(other)) => Some(own.min(other)),
        (own, other) => own.or(other),
    };
    let every = Ways { together: true, alone: true, skills: true, agnostic: true, wording: Wording::Full };
    let opened = entry.open(data, &with(every, limit))?;
    let compared =
        compare(opened.exam.as_ref(), entry.headlines, &judge.answers, &base.answers, &options.ways);
    Ok((entry, compared))
}

/// The ways of asking from their words in a run's identity: `together, alone in short wording`.
fn ways_of(asked: &str) -> Option<Ways> {
    let (names, wording) = asked.split_once(" in ")?;
    let wording = match wording {
        "full wording" => Wording::Full,
        "short wording" => Wording::Short,
        _ => return None,
    };
    let mut ways = Ways { together: false, alone: false, skills: false, agnostic: false, wording };
    for name in names.split(", ") {
        match name {
            "together" => ways.together = true,
            "alone" => ways.alone = true,
            "skills" => ways.skills = true,
            "agnostic" => ways.agnostic = true,
            _ => return None,
        }
    }
    Some(ways)
}

#[cfg(test)]
mod tests;
