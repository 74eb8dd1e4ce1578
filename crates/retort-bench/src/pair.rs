//! Two responses to one prompt: how a judge is asked about them, and what its answers come to.

use std::collections::BTreeSet;

use retort_judge::{Aim, Field, Inquiry, Question, Wording};
use retort_rubric::{Rubric, builtin};
use retort_stats::{rouge_l, words};

use crate::draw::drawn;
use crate::{Answers, Ask, Example, Task};

/// How a judge is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ways {
    /// Both responses shown together, in both orders.
    pub together: bool,
    /// Each response alone by the task's question.
    pub alone: bool,
    /// Each response alone by the twelve skills; the mean decides.
    pub skills: bool,
    /// Each response alone by one question of overall quality: FLASK's skill-agnostic baseline.
    pub agnostic: bool,
    /// How much of each question the model reads.
    pub wording: Wording,
}

impl Default for Ways {
    fn default() -> Self {
        Self { together: true, alone: true, skills: false, agnostic: true, wording: Wording::Full }
    }
}

/// A way in which a judge was asked, whose answers decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// See [`Ways::together`].
    Together,
    /// See [`Ways::alone`].
    Alone,
    /// See [`Ways::skills`].
    Skills,
    /// See [`Ways::agnostic`].
    Agnostic,
}

impl Way {
    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Together => "together",
            Self::Alone => "alone",
            Self::Skills => "skills",
            Self::Agnostic => "agnostic",
        }
    }
}

impl Ways {
    /// The ways that are asked.
    pub fn all(&self) -> impl Iterator<Item = Way> {
        [
            (self.together, Way::Together),
            (self.alone, Way::Alone),
            (self.skills, Way::Skills),
            (self.agnostic, Way::Agnostic),
        ]
        .into_iter()
        .filter_map(|(asked, way)| asked.then_some(way))
    }
}

/// The rubrics that pairs of a task are judged by, made once.
#[derive(Debug, Clone)]
pub struct PairRubrics {
    /// Which of two.
    pub together: Rubric,
    /// Each alone.
    pub alone: Rubric,
    /// Overall quality, 1 to 5.
    pub agnostic: Rubric,
}

impl PairRubrics {
    /// Those of a pairwise task; `None` for another.
    #[must_use]
    pub fn new(task: &Task) -> Option<Self> {
        Some(Self { together: task.rubric()?, alone: task.alone_rubric()?, agnostic: agnostic() })
    }
}

/// One question of overall quality, 1 to 5: what FLASK calls skill-agnostic.
#[must_use]
pub fn agnostic() -> Rubric {
    retort_rubric::overall().clone()
}

/// Two responses to one prompt.
#[derive(Debug, Clone)]
pub struct Pair<'a> {
    /// Unique within the exam.
    pub id: &'a str,
    /// What is read before the responses.
    pub fields: Vec<Field<'a>>,
    /// The responses.
    pub responses: [&'a str; 2],
}

impl<'a> Pair<'a> {
    /// The pair of an example; `None` where it has no two responses.
    #[must_use]
    pub fn of(task: &Task, example: &'a Example) -> Option<Self> {
        let [first, second] = example.responses.as_ref()?;
        Some(Self { id: &example.id, fields: fields(task, example), responses: [first, second] })
    }

    /// What is asked about it: `ID/ab` and `ID/ba` together, `ID/first` and `ID/second` alone.
    #[must_use]
    pub fn asks(&self, rubrics: &'a PairRubrics, ways: &Ways) -> Vec<Ask<'a>> {
        let mut asks = Vec::new();
        if ways.together {
            for (order, [a, b]) in [("ab", self.responses), ("ba", [self.responses[1], self.responses[0]])] {
                let mut fields = self.fields.clone();
                fields.push(Field::named("response_a", "Response A", a));
                fields.push(Field::named("response_b", "Response B", b));
                asks.push(Ask {
                    id: format!("{}/{order}", self.id),
                    keys: vec!["better"],
                    inquiry: Inquiry {
                        aim: Aim::Compare,
                        fields,
                        questions: vec![Question::of_task(&rubrics.together)],
                        wording: ways.wording,
                    },
                });
            }
        }
        for (place, response) in ["first", "second"].into_iter().zip(self.responses) {
            let (keys, questions) = alone_questions(rubrics, ways);
            if questions.is_empty() {
                break;
            }
            let mut fields = self.fields.clone();
            fields.push(Field::response(response));
            asks.push(Ask {
                id: format!("{}/{place}", self.id),
                keys,
                inquiry: Inquiry { aim: Aim::Rate, fields, questions, wording: ways.wording },
            });
        }
        asks
    }
}

/// What is asked of one response alone.
#[must_use]
pub fn alone_questions<'a>(rubrics: &'a PairRubrics, ways: &Ways) -> (Vec<&'static str>, Vec<Question<'a>>) {
    let (mut keys, mut questions) = (Vec::new(), Vec::new());
    if ways.alone {
        keys.push("good");
        questions.push(Question::of_task(&rubrics.alone));
    }
    if ways.agnostic {
        keys.push("overall");
        questions.push(Question::of_rubric(&rubrics.agnostic));
    }
    if ways.skills {
        for skill in builtin() {
            keys.push(skill.id.as_str());
            questions.push(Question::of_rubric(skill));
        }
    }
    (keys, questions)
}

/// The fields of an example, in the task's order; those that it lacks are left out.
#[must_use]
pub fn fields<'a>(task: &Task, example: &'a Example) -> Vec<Field<'a>> {
    task.context
        .iter()
        .filter_map(|field| {
            let text = example.fields.get(&field.name)?.as_str();
            Some(Field::named(field.name.clone(), Task::heading(field), text))
        })
        .collect()
}

/// Questions about the texts of an example that is no pair: the same in training and in every exam.
#[must_use]
pub fn inquiry<'a>(
    task: &Task,
    example: &'a Example,
    questions: Vec<Question<'a>>,
    wording: Wording,
) -> Inquiry<'a> {
    Inquiry { aim: Aim::Answer, fields: fields(task, example), questions, wording }
}

/// What a judge's answers say of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preference {
    /// How much the first is preferred: above 0.5 the first wins, below it the second, 0.5 is a tie. Of `together` the
    /// mean over both orders of the probability that it is better; else the logistic of the difference of both scores.
    pub first: f64,
    /// Whether the two orders gave different winners; `None` where responses were judged alone, and order cannot matter.
    pub flipped: Option<bool>,
    /// Probability of the first from the order in which it stood first, and from that in which it stood second; `None`
    /// where responses were judged alone.
    pub by_order: Option<[f64; 2]>,
}

impl Preference {
    /// 1 for the first, 0 for the second, 0.5 for a tie.
    #[must_use]
    pub fn win(&self) -> f64 {
        win(self.first)
    }
}

fn win(first: f64) -> f64 {
    if first > 0.5 {
        1.0
    } else if first < 0.5 {
        0.0
    } else {
        0.5
    }
}

/// Reads a pair's preference from the answers; `None` where one that is needed is absent or has no score.
#[must_use]
pub fn preference(id: &str, way: Way, answers: &Answers) -> Option<Preference> {
    let alone = |key: &str, place: &str| answers.expected(&format!("{id}/{place}"), key);
    let difference = |score: &dyn Fn(&str) -> Option<f64>| {
        let first = 1.0 / (1.0 + libm::exp(score("second")? - score("first")?));
        Some(Preference { first, flipped: None, by_order: None })
    };
    match way {
        Way::Together => {
            let ab = answers.probability(&format!("{id}/ab"), "better", "A")?;
            let ba = answers.probability(&format!("{id}/ba"), "better", "B")?;
            Some(Preference {
                first: f64::midpoint(ab, ba),
                flipped: Some(win(ab) != win(ba)),
                by_order: Some([ab, ba]),
            })
        }
        Way::Alone => difference(&|place| answers.log_odds(&format!("{id}/{place}"), "good")),
        Way::Agnostic => difference(&|place| alone("overall", place)),
        Way::Skills => difference(&|place| {
            // Skills without a score (not applicable) are left out of the mean.
            let scores: Vec<f64> = builtin().iter().filter_map(|skill| alone(&skill.id, place)).collect();
            #[expect(clippy::cast_precision_loss, reason = "there are twelve")]
            (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
        }),
    }
}

/// A rule that judges without reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// A coin, thrown once per pair.
    Random {
        /// Its seed.
        seed: u64,
    },
    /// The response with more characters wins.
    Longer,
    /// The response with fewer characters wins.
    Shorter,
    /// The response that shares more of its words with what it answers wins: ROUGE-L's F1 with the reference where there
    /// is one, else the share of its different words that occur in the other texts.
    Overlap,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Random { seed: 0 }, Self::Longer, Self::Shorter, Self::Overlap];

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Random { .. } => "random",
            Self::Longer => "longer",
            Self::Shorter => "shorter",
            Self::Overlap => "overlap",
        }
    }

    /// 1 where it says the first, 0 the second, 0.5 a tie.
    #[must_use]
    pub fn win(self, pair: &Pair<'_>) -> f64 {
        let [first, second] = pair.responses;
        let more = |a: f64, b: f64| {
            win(if a > b {
                1.0
            } else if a < b {
                0.0
            } else {
                0.5
            })
        };
        #[expect(clippy::cast_precision_loss, reason = "texts are far shorter than 2^52")]
        let length = |text: &str| text.chars().count() as f64;
        match self {
            Self::Random { seed } => {
                if drawn(seed, pair.id) & 1 == 0 {
                    1.0
                } else {
                    0.0
                }
            }
            Self::Longer => more(length(first), length(second)),
            Self::Shorter => more(length(second), length(first)),
            Self::Overlap => more(overlap(first, &pair.fields), overlap(second, &pair.fields)),
        }
    }
}

/// How much a text repeats of others; see [`Baseline::Overlap`].
#[must_use]
pub fn overlap(text: &str, fields: &[Field<'_>]) -> f64 {
    let reference = fields.iter().find(|field| field.role == retort_judge::TextRole::Reference);
    if let Some(reference) = reference {
        let value = rouge_l(text, &reference.text, 1.0).ok().and_then(|rouge| rouge.f.value());
        return value.unwrap_or(0.0);
    }
    let others: BTreeSet<String> = fields.iter().flat_map(|field| words(&field.text)).collect();
    let own: BTreeSet<String> = words(text).into_iter().collect();
    if own.is_empty() {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "texts have far fewer words than 2^52")]
    let share = own.iter().filter(|word| others.contains(*word)).count() as f64 / own.len() as f64;
    share
}
