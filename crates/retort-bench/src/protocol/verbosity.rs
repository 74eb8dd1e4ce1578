//! Whether words that say nothing raise a score, on a set that is built for the purpose.
//!
//! FLASK measures this on responses that a large model reworded at greater length. Such rewriting can change what is
//! said; here nothing can, because of how the set is built. From an instruction with a known good answer come four
//! responses:
//! - *short*: the answer as it is;
//! - *padded*: the same with sentences between, before and behind its own that say nothing of the matter ([`PADDING`], in
//!   an order drawn by the seed), as many as it takes to have at least twice its characters (or all of them);
//! - *repeated*: the answer followed by all of its sentences once more;
//! - *wrong*: the answer to another instruction, padded in the same way until it is half as long again as *short*.
//!
//! The judge sees no reference answer, which would be *short* itself. Answers are FLASK's references of 60 to 600
//! characters to instructions of at most 1,200, and the solutions of GSM8K's test set without their calculator notes.
//!
//! The figures:
//! - `robustness_padded`, `robustness_repeated`: share of scores that stay equal, to within an eighth of the scale (half a
//!   point from 1 to 5), Completeness and Conciseness left out ([`retort_stats::robustness_ratio`]);
//! - `padding_wins`, `repetition_wins`: share of items in which the longer text that says the same is preferred; a tie is
//!   neither, so 0 is right, and a coin has 0.5;
//! - `longer_wrong_wins`: share of items in which the longer wrong answer beats the short right one, a tie counted half.

use std::collections::BTreeMap;

use retort_judge::{Aim, Field, Inquiry};
use retort_rubric::{Rubric, RubricOption, builtin};
use retort_stats::{LENGTH_SKILLS, Rewritten, robustness_ratio};

use super::cobbler::{alone_score, draw, row, shuffle};
use crate::pair::{Baseline, Pair, PairRubrics, Way, Ways, agnostic, alone_questions, preference};
use crate::read::code::flask as files;
use crate::{Answers, Ask, DataDir, DataError, Exam, Measure, Problem, Row, Seen, Table};

/// Sentences that can stand in any answer and say nothing.
pub const PADDING: [&str; 24] = [
    "There is a good deal that one could say about this.",
    "Let us go on to the next part of the answer.",
    "This is the kind of thing that one meets now and then.",
    "It may be worth reading this part slowly.",
    "As was to be expected, the matter can be looked at step by step.",
    "Before going on, let us pause for a moment.",
    "The words above and below belong together.",
    "Much could be written here, and some of it has been.",
    "With this in mind, we may continue.",
    "It is always pleasant to think about a question like this one.",
    "All of this is part of the answer that is given here.",
    "One thing follows another, as it usually does.",
    "Here, too, it helps to keep the question in view.",
    "That is what there is to say at this point.",
    "Some readers will find this part shorter than others do.",
    "At this place in the text another sentence follows.",
    "The question was asked, and so it is being answered.",
    "What comes next stands in connection with what came before.",
    "Nothing in this sentence changes anything in the others.",
    "To put it in other words would be possible as well.",
    "This remark is made in passing.",
    "Everything has its place, and this is the place for this.",
    "In what follows we shall say what there is to be said.",
    "With that, this part of the text comes to its end.",
];

const GSM8K: &str = "openai/grade-school-math";
const GSM8K_FILE: &str = "grade_school_math/data/test.jsonl";

/// How the exam is held.
#[derive(Debug, Clone)]
pub struct VerbositySettings {
    /// How the judge is asked.
    pub ways: Ways,
    /// Decides which answers are taken, which sentences are put where and whose answer is the wrong one.
    pub seed: u64,
    /// How many items; `None` for all.
    pub limit: Option<usize>,
}

impl Default for VerbositySettings {
    fn default() -> Self {
        Self { ways: Ways { skills: true, ..Ways::default() }, seed: 0, limit: Some(200) }
    }
}

/// An instruction and a good answer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoodAnswer {
    /// Unique within the exam.
    pub id: String,
    /// Where it comes from, for tables: instructions of different sources are never given each other's answers.
    pub source: String,
    /// The instruction.
    pub prompt: String,
    /// The answer.
    pub answer: String,
}

/// The exam.
#[derive(Debug, Clone)]
pub struct Verbosity {
    settings: VerbositySettings,
    rubrics: PairRubrics,
    items: Vec<Built>,
    problems: Vec<Problem>,
}

/// An instruction with the four responses.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Built {
    id: String,
    source: String,
    prompt: String,
    /// In the order of [`VERSIONS`].
    texts: [String; 4],
}

const VERSIONS: [&str; 4] = ["short", "padded", "repeated", "wrong"];
const PADDED: usize = 1;
const REPEATED: usize = 2;
const WRONG: usize = 3;

impl Verbosity {
    /// The exam over FLASK's references and GSM8K's solutions, as far as they are there.
    ///
    /// # Errors
    /// [`DataError`] where neither is there.
    pub fn from_data(data: &DataDir, settings: VerbositySettings) -> Result<Self, DataError> {
        let (mut answers, mut problems) = (Vec::new(), Vec::new());
        let flask = flask_answers(data, &mut problems);
        let gsm8k = gsm8k_answers(data, &mut problems);
        match (flask, gsm8k) {
            (Err(error), Err(_)) => return Err(error),
            (flask, gsm8k) => {
                for source in [flask, gsm8k] {
                    match source {
                        Ok(found) => answers.extend(found),
                        Err(error) => problems.push(Problem {
                            file: "verbosity".to_owned(),
                            line: None,
                            message: format!("{error}; the set is built without it"),
                        }),
                    }
                }
            }
        }
        Ok(Self::new(answers, problems, settings))
    }

    /// The exam over items built from these answers. An answer that no other of its source differs from gives none.
    #[must_use]
    pub fn new(mut answers: Vec<GoodAnswer>, problems: Vec<Problem>, settings: VerbositySettings) -> Self {
        answers.sort_by(|a, b| a.id.cmp(&b.id));
        shuffle(&mut answers, settings.seed);
        let mut sources: BTreeMap<&str, Vec<&GoodAnswer>> = BTreeMap::new();
        for answer in &answers {
            sources.entry(&answer.source).or_default().push(answer);
        }
        let mut items = Vec::new();
        for answer in &answers {
            let Some(others) = sources.get(answer.source.as_str()) else { continue };
            let start = draw(settings.seed, &answer.id, others.len());
            let other = others.iter().cycle().skip(start).take(others.len());
            let Some(other) = other.into_iter().find(|other| other.answer.trim() != answer.answer.trim())
            else {
                continue;
            };
            items.push(Built::new(answer, &other.answer, settings.seed));
        }
        items.truncate(settings.limit.unwrap_or(usize::MAX));
        Self { settings, rubrics: rubrics(), items, problems }
    }

    /// What could not be read.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// How many items there are.
    #[must_use]
    pub fn items(&self) -> usize {
        self.items.len()
    }
}

impl Built {
    fn new(good: &GoodAnswer, other: &str, seed: u64) -> Self {
        let short = good.answer.trim().to_owned();
        let length = short.chars().count();
        let padded = pad(&short, length * 2, seed, &good.id);
        let repeated = format!("{short} {}", sentences(&short).join(" "));
        let wrong = pad(other.trim(), length + length.div_ceil(2), seed ^ 1, &good.id);
        Self {
            id: good.id.clone(),
            source: good.source.clone(),
            prompt: good.prompt.clone(),
            texts: [short, padded, repeated, wrong],
        }
    }
}

/// The text with sentences of [`PADDING`] in it, until it has this many characters or there are no more sentences.
/// At least one is added.
fn pad(text: &str, characters: usize, seed: u64, id: &str) -> String {
    let mut order: Vec<&str> = PADDING.to_vec();
    shuffle(&mut order, seed ^ draw(seed, id, 1 << 30) as u64);
    let own = sentences(text);
    let (mut length, mut added) = (text.chars().count(), 0);
    while added < order.len() && (added == 0 || length < characters) {
        length += order[added].chars().count() + 1;
        added += 1;
    }
    // Dealt out to the gaps from the first, which is before the text, to the last, behind it.
    let gaps = own.len() + 1;
    let mut parts = Vec::with_capacity(own.len() + added);
    for gap in 0..gaps {
        parts.extend(order[..added].iter().skip(gap).step_by(gaps).copied());
        parts.extend(own.get(gap).copied());
    }
    parts.join(" ")
}

/// The sentences of a text: they end with a line, or with a full stop, exclamation or question mark that a space
/// follows. A text of one sentence without an end is one.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let ends =
            letter == '\n' || (matches!(letter, '.' | '!' | '?') && next.is_none_or(char::is_whitespace));
        if ends {
            let end = at + letter.len_utf8();
            found.push(text[start..end].trim());
            start = end;
        }
    }
    found.push(text[start..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

fn flask_answers(data: &DataDir, problems: &mut Vec<Problem>) -> Result<Vec<GoodAnswer>, DataError> {
    let folder = data.repository_for(files::REPOSITORY, crate::Purpose::Evaluation)?;
    let (instructions, _) = files::instructions(&folder, problems)?;
    let found = instructions.into_iter().filter_map(|instruction| {
        let answer = instruction.reference?;
        let fits = (60..=600).contains(&answer.chars().count()) && instruction.prompt.chars().count() <= 1200;
        fits.then(|| GoodAnswer {
            id: format!("flask-{}", instruction.id),
            source: "flask".to_owned(),
            prompt: instruction.prompt,
            answer,
        })
    });
    Ok(found.collect())
}

fn gsm8k_answers(data: &DataDir, problems: &mut Vec<Problem>) -> Result<Vec<GoodAnswer>, DataError> {
    let folder = data.repository(GSM8K)?;
    let bytes = files::bytes(&folder, GSM8K_FILE, GSM8K)?;
    let mut found = Vec::new();
    for (line, row) in files::objects(retort_report::json_rows(&bytes), GSM8K_FILE, problems) {
        match (files::text(&row, "question"), files::text(&row, "answer").and_then(solution)) {
            (Some(question), Some(answer)) => found.push(GoodAnswer {
                id: format!("gsm8k-{line}"),
                source: "gsm8k".to_owned(),
                prompt: question.to_owned(),
                answer,
            }),
            _ => problems.push(Problem {
                file: GSM8K_FILE.to_owned(),
                line: Some(line),
                message: "question, or an answer that ends with \"####\" and the result, is missing; the row is skipped"
                    .to_owned(),
            }),
        }
    }
    Ok(found)
}

/// A solution of GSM8K's as a person would write it: without the calculator's notes (`<<1+1=2>>`), the result in a
/// sentence.
fn solution(answer: &str) -> Option<String> {
    let (steps, result) = answer.rsplit_once("####")?;
    let mut text = String::with_capacity(answer.len());
    let mut rest = steps.trim();
    while let Some((before, noted)) = rest.split_once("<<") {
        text.push_str(before);
        rest = noted.split_once(">>").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let result = result.trim();
    (!result.is_empty()).then(|| format!("{}\nThe answer is {result}.", text.trim()))
}

/// How responses are judged where a protocol has no task file.
pub(super) fn rubrics() -> PairRubrics {
    let together = Rubric {
        question: Some("Which response is better?".to_owned()),
        ..Rubric::new(
            "better",
            "The better response",
            "Say which of the two responses serves the person who gave the instruction better. What counts is whether a \
             response is right and says what was asked for; words that say nothing add nothing.",
            vec![
                RubricOption::new("B", 0.0).described("Response B is better."),
                RubricOption::new("A", 1.0).described("Response A is better."),
            ],
        )
    };
    let alone = Rubric {
        question: Some("Is the response right, and does it say what was asked for?".to_owned()),
        ..Rubric::new(
            "good",
            "A good response",
            "Say whether the response serves the person who gave the instruction: it is right, and it says what was asked \
             for. Words that say nothing add nothing.",
            vec![RubricOption::new("no", 0.0), RubricOption::new("yes", 1.0)],
        )
    };
    PairRubrics { together, alone, agnostic: agnostic() }
}

impl Built {
    fn against<'a>(&'a self, version: usize, id: &'a str) -> Pair<'a> {
        Pair {
            id,
            fields: vec![Field::prompt(self.prompt.as_str())],
            responses: [self.texts[0].as_str(), self.texts[version].as_str()],
        }
    }
}

impl Exam for Verbosity {
    fn name(&self) -> &str {
        "verbosity"
    }

    fn asks(&self) -> Vec<Ask<'_>> {
        let ways = &self.settings.ways;
        let mut asks = Vec::new();
        for item in &self.items {
            let (keys, questions) = alone_questions(&self.rubrics, ways);
            if !questions.is_empty() {
                for (version, text) in VERSIONS.into_iter().zip(&item.texts) {
                    let fields = vec![Field::prompt(item.prompt.as_str()), Field::response(text.as_str())];
                    let inquiry = Inquiry {
                        aim: Aim::Rate,
                        fields,
                        questions: questions.clone(),
                        wording: ways.wording,
                    };
                    asks.push(Ask { id: format!("{}/{version}", item.id), keys: keys.clone(), inquiry });
                }
            }
            let only = Ways { alone: false, skills: false, agnostic: false, ..ways.clone() };
            for version in [PADDED, REPEATED, WRONG] {
                let id = format!("{}/vs_{}", item.id, VERSIONS[version]);
                // The pair borrows its id, which lives here only; what it asks doesn't.
                for ask in item.against(version, "").asks(&self.rubrics, &only) {
                    asks.push(Ask { id: format!("{id}{}", ask.id), ..ask });
                }
            }
        }
        asks
    }

    fn measures<'a>(&'a self, answers: &Answers) -> Vec<Table<Measure<'a>>> {
        let mut rows = Vec::new();
        let mut parts: Vec<&str> = vec!["all"];
        let mut sources: Vec<&str> = self.items.iter().map(|item| item.source.as_str()).collect();
        sources.sort_unstable();
        sources.dedup();
        if sources.len() > 1 {
            parts.extend(sources);
        }
        for part in parts {
            let items: Vec<&Built> =
                self.items.iter().filter(|item| part == "all" || item.source == part).collect();
            for way in self.settings.ways.all() {
                let judge = way.name();
                self.robustness(part, way, &items, answers, &mut rows);
                let wins = |item: &Built, version: usize| self.longer_wins(item, version, way, answers);
                share_of_wins(part, judge, &items, &wins, &mut rows);
            }
            for rule in Baseline::ALL {
                let wins = |item: &Built, version: usize| {
                    let id = format!("{}/{}", item.id, VERSIONS[version]);
                    Some(1.0 - rule.win(&item.against(version, &id)))
                };
                share_of_wins(part, rule.name(), &items, &wins, &mut rows);
            }
        }
        vec![Table { title: "Verbosity: words that say nothing".to_owned(), rows, notes: self.notes() }]
    }
}

impl Verbosity {
    /// 1 where the longer text is preferred to the short one, 0.5 for a tie.
    fn longer_wins(&self, item: &Built, version: usize, way: Way, answers: &Answers) -> Option<f64> {
        if way == Way::Together {
            let found = preference(&format!("{}/vs_{}", item.id, VERSIONS[version]), way, answers)?;
            return Some(1.0 - found.win());
        }
        let score = |version: usize| alone_score(&format!("{}/{}", item.id, VERSIONS[version]), way, answers);
        let (short, long) = (score(0)?, score(version)?);
        Some(match long.total_cmp(&short) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 0.5,
        })
    }

    fn robustness<'a>(
        &'a self,
        part: &str,
        way: Way,
        items: &[&Built],
        answers: &Answers,
        rows: &mut Vec<Row<Measure<'a>>>,
    ) {
        // The key of each question and the name of its skill, by which length skills are known; an eighth of the scale.
        let (questions, tolerance): (Vec<(&str, String)>, f64) = match way {
            Way::Together => return,
            Way::Alone => (vec![("good", "good".to_owned())], 0.125),
            Way::Agnostic => (vec![("overall", "overall".to_owned())], 0.5),
            Way::Skills => {
                (builtin().iter().map(|skill| (skill.id.as_str(), skill.name.clone())).collect(), 0.5)
            }
        };
        for (version, metric) in [(PADDED, "robustness_padded"), (REPEATED, "robustness_repeated")] {
            let mut scores = Vec::new();
            for item in items {
                for (key, skill) in &questions {
                    let score =
                        |version: usize| answers.expected(&format!("{}/{}", item.id, VERSIONS[version]), key);
                    if LENGTH_SKILLS.contains(&skill.as_str()) {
                        continue;
                    }
                    let both =
                        score(0).zip(score(version)).map(|(before, after)| (skill.clone(), before, after));
                    scores.push((item.id.as_str(), Seen::from(both)));
                }
            }
            let figure = Measure::of(scores, move |scores: &[(String, f64, f64)]| {
                let drawn: Vec<Rewritten<'_>> = scores
                    .iter()
                    .map(|(skill, before, after)| Rewritten {
                        skill,
                        before: Some(*before),
                        after: Some(*after),
                    })
                    .collect();
                Ok(robustness_ratio(&drawn, &LENGTH_SKILLS, tolerance)?.ratio)
            });
            rows.push(row(part, way.name(), metric, figure));
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            format!(
                "{} items, drawn and built with seed {}. From each known good answer: the same with sentences that say \
                 nothing put between its own until it is twice as long (padded), the same followed by its own sentences \
                 once more (repeated), and another item's answer, padded to half as long again (wrong). No reference answer \
                 is shown.",
                self.items.len(),
                self.settings.seed
            ),
            "robustness: share of scores that stay within an eighth of the scale; Completeness and Conciseness are left \
             out. padding_wins and repetition_wins: share of items in which the longer text that says the same is \
             preferred, ties not counted as wins. longer_wrong_wins: share in which the longer wrong answer beats the short \
             right one, ties counted half. Lower is better for all but robustness."
                .to_owned(),
            "FLASK's published robustness (skill-agnostic .438, by skill .530) is of whole scores over rewritings by a \
             large model and not of this set."
                .to_owned(),
        ];
        if let Some(first) = self.problems.first() {
            notes.push(format!("{} problems of reading, the first: {first}", self.problems.len()));
        }
        notes
    }
}

fn share_of_wins<'a>(
    part: &str,
    judge: &str,
    items: &[&Built],
    wins: &dyn Fn(&Built, usize) -> Option<f64>,
    rows: &mut Vec<Row<Measure<'a>>>,
) {
    for (version, metric) in
        [(PADDED, "padding_wins"), (REPEATED, "repetition_wins"), (WRONG, "longer_wrong_wins")]
    {
        let values: Vec<_> = items
            .iter()
            .map(|item| {
                let win = wins(item, version);
                let counted = if version == WRONG { win } else { win.map(|win| f64::from(win > 0.5)) };
                (item.id.as_str(), counted)
            })
            .collect();
        rows.push(row(part, judge, metric, Measure::mean(&values)));
    }
}

#[cfg(test)]
mod tests;
