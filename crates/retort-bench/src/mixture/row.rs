//! From an example to rows of the training file, by the formatter that judging uses.

use retort_judge::{Inquiry, InquiryPlan, Question, Wording};
use retort_lm::{Exchange, LmError, Segment, Segments, TextModel, Turn};
use retort_rubric::Rubric;
use serde::Serialize;

use super::Pairs;
use crate::pair::{Pair, PairRubrics, Ways, inquiry};
use crate::{Ask, Example, Kind, Part, Target, Task};

/// A piece of text as it is written: `["t", …]` of ours, with special tokens, or `["u", …]` of people, without.
type Piece = (&'static str, String);

/// One line of the training file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Row {
    task: String,
    id: String,
    /// A hash of what is kept together in splits.
    group: String,
    part: Part,
    kind: RowKind,
    wording: Wording,
    /// Of pairs: whether the response that the file has first comes first (`ab`) or second (`ba`).
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    segments: Option<Vec<Piece>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<Vec<Piece>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    second: Option<Vec<Piece>>,
    /// Of text: the right answer, which follows the prompt after a space.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    options: Vec<Vec<String>>,
    target: Vec<f64>,
    weight: f64,
    /// Tokens of the prompt, or of both prompts together.
    pub(super) tokens: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum RowKind {
    /// One prompt; the target is the distribution over the options.
    Options,
    /// Two prompts; the target is how often the first and the second was preferred.
    Pair,
    /// One prompt, and the text that answers it.
    Text,
}

/// A task with what is made of it once.
pub(super) struct Form<'a> {
    task: &'a Task,
    ask: FormOf,
}

enum FormOf {
    Options(Box<Rubric>),
    Pair(Box<PairRubrics>),
    Text(Box<Rubric>),
}

/// What a row says beside its example.
pub(super) struct Setting<'a> {
    pub(super) pairs: Pairs,
    pub(super) wording: Wording,
    /// Whether the pair's second response comes first where each is judged alone.
    pub(super) swapped: bool,
    pub(super) group: u64,
    pub(super) part: Part,
    pub(super) weight: f64,
    pub(super) task: &'a str,
}

/// The rows of an example.
pub(super) struct Rows {
    /// Each with what tells it from the example's others.
    pub(super) rows: Vec<(&'static str, Row)>,
    /// Whether a text was cut.
    pub(super) truncated: bool,
}

impl<'a> Form<'a> {
    /// Of a task.
    ///
    /// # Errors
    /// Why there can be no rows of it.
    pub(super) fn new(task: &'a Task) -> Result<Self, String> {
        let ask = match task.kind {
            Kind::Generation => task.text_rubric().map(|rubric| FormOf::Text(Box::new(rubric))),
            Kind::Pairwise => PairRubrics::new(task).map(|rubrics| FormOf::Pair(Box::new(rubrics))),
            Kind::Pointwise | Kind::Classification => {
                task.rubric().map(|rubric| FormOf::Options(Box::new(rubric)))
            }
        };
        Ok(Self { task, ask: ask.ok_or("it has no question")? })
    }

    /// How many rows an example gives.
    pub(super) fn rows_per_example(&self, pairs: Pairs) -> usize {
        match (&self.ask, pairs) {
            (FormOf::Options(_) | FormOf::Text(_), _) | (FormOf::Pair(_), Pairs::Alone) => 1,
            (FormOf::Pair(_), Pairs::Together) => 2,
            (FormOf::Pair(_), Pairs::Both) => 3,
        }
    }

    /// The classes that examples are balanced by: options, or whether the longer response is the better one.
    pub(super) fn classes(&self) -> Vec<String> {
        match &self.ask {
            FormOf::Options(rubric) => rubric.options.iter().map(|option| option.label.clone()).collect(),
            FormOf::Pair(_) => vec!["longer".into(), "shorter".into()],
            FormOf::Text(_) => vec!["text".into()],
        }
    }

    pub(super) fn is_pair(&self) -> bool {
        matches!(self.ask, FormOf::Pair(_))
    }

    /// An example's class, as an index into [`classes`](Self::classes); `None` where it has none: the raters were
    /// undecided, or both responses have the same length.
    ///
    /// # Errors
    /// What is wrong with the example's target.
    pub(super) fn class(&self, example: &Example) -> Result<Option<usize>, String> {
        let shares: Vec<f64> = match (&self.ask, &example.target) {
            (FormOf::Options(rubric), Target::Options(shares)) if shares.len() == rubric.options.len() => {
                shares.clone()
            }
            (FormOf::Pair(_), Target::Preference { first, second, tie }) => vec![*first, *second, *tie],
            (FormOf::Text(_), Target::Text(text)) if !text.trim().is_empty() => return Ok(Some(0)),
            _ => return Err("its label is not of the task's kind".into()),
        };
        let sum: f64 = shares.iter().sum();
        if shares.iter().any(|share| !(0.0..=1.0 + 1e-9).contains(share)) || (sum - 1.0).abs() > 1e-6 {
            return Err("the shares of its labels do not sum to 1".into());
        }
        let majority = example.target.majority();
        if !self.is_pair() {
            return Ok(majority);
        }
        let Some([first, second]) = &example.responses else {
            return Err("it has no two responses".into());
        };
        let (first, second) = (first.chars().count(), second.chars().count());
        Ok(match majority {
            Some(winner) if first != second => Some(usize::from((winner == 0) != (first > second))),
            _ => None,
        })
    }

    /// The rows of an example whose target [`class`](Self::class) found right.
    ///
    /// # Errors
    /// [`LmError::TooLong`] where it does not fit; what the model's template or tokenizer refuses.
    pub(super) fn rows<M: TextModel>(
        &self,
        example: &Example,
        setting: &Setting<'_>,
        model: &M,
    ) -> Result<Rows, LmError> {
        let mut out = Rows { rows: Vec::new(), truncated: false };
        match (&self.ask, &example.target) {
            (FormOf::Options(rubric), Target::Options(shares)) => {
                let question = Question::of_task(rubric);
                let inquiry = inquiry(self.task, example, vec![question], setting.wording);
                let plan = out.plan(&inquiry, model)?;
                let (text, options) = prompt(&plan);
                let row = Row {
                    segments: Some(pieces(&text)),
                    tokens: model.count_tokens(&text)?,
                    ..row(example, setting, RowKind::Options, options, shares.clone())
                };
                out.rows.push(("options", row));
            }
            (FormOf::Text(rubric), Target::Text(answer)) => {
                let question = Question::of_text(rubric);
                let inquiry = inquiry(self.task, example, vec![question], setting.wording);
                let plan = out.plan(&inquiry, model)?;
                let (text, options) = prompt(&plan);
                let row = Row {
                    segments: Some(pieces(&text)),
                    answer: Some(answer.clone()),
                    tokens: model.count_tokens(&text)?,
                    ..row(example, setting, RowKind::Text, options, Vec::new())
                };
                out.rows.push(("text", row));
            }
            (FormOf::Pair(rubrics), Target::Preference { first, second, tie }) => {
                let Some(pair) = Pair::of(self.task, example) else { return Ok(out) };
                let [first, second] = [first + tie / 2.0, second + tie / 2.0];
                if setting.pairs != Pairs::Together {
                    let row = alone(&mut out, &pair, rubrics, [first, second], setting, example, model)?;
                    out.rows.extend(row.map(|row| ("alone", row)));
                }
                if setting.pairs != Pairs::Alone {
                    together(&mut out, &pair, rubrics, [first, second], setting, example, model)?;
                }
            }
            _ => {}
        }
        Ok(out)
    }
}

impl Rows {
    fn plan<M: TextModel>(&mut self, inquiry: &Inquiry<'_>, model: &M) -> Result<InquiryPlan, LmError> {
        let plan = inquiry.plan(model)?;
        self.truncated |= !plan.truncations.is_empty();
        Ok(plan)
    }
}

fn ways(together: bool, wording: Wording) -> Ways {
    Ways { together, alone: !together, skills: false, agnostic: false, wording }
}

fn alone<M: TextModel>(
    out: &mut Rows,
    pair: &Pair<'_>,
    rubrics: &PairRubrics,
    target: [f64; 2],
    setting: &Setting<'_>,
    example: &Example,
    model: &M,
) -> Result<Option<Row>, LmError> {
    let asks = pair.asks(rubrics, &ways(false, setting.wording));
    let [first, second] = asks.as_slice() else { return Ok(None) };
    let (first, options) = prompt(&out.plan(&first.inquiry, model)?);
    let (second, _) = prompt(&out.plan(&second.inquiry, model)?);
    let tokens = model.count_tokens(&first)? + model.count_tokens(&second)?;
    let (texts, target, order) = if setting.swapped {
        ([second, first], [target[1], target[0]], "ba")
    } else {
        ([first, second], target, "ab")
    };
    Ok(Some(Row {
        order: Some(order),
        first: Some(pieces(&texts[0])),
        second: Some(pieces(&texts[1])),
        tokens,
        ..row(example, setting, RowKind::Pair, options, target.to_vec())
    }))
}

fn together<M: TextModel>(
    out: &mut Rows,
    pair: &Pair<'_>,
    rubrics: &PairRubrics,
    target: [f64; 2],
    setting: &Setting<'_>,
    example: &Example,
    model: &M,
) -> Result<(), LmError> {
    let asks: Vec<Ask<'_>> = pair.asks(rubrics, &ways(true, setting.wording));
    for (ask, (order, [a, b])) in asks.iter().zip([("ab", target), ("ba", [target[1], target[0]])]) {
        let (text, options) = prompt(&out.plan(&ask.inquiry, model)?);
        // By name, not by place: the scale has the worse answer first.
        let shares = rubrics
            .together
            .options
            .iter()
            .map(|option| match option.label.as_str() {
                "A" => a,
                _ => b,
            })
            .collect();
        let row = Row {
            order: Some(order),
            segments: Some(pieces(&text)),
            tokens: model.count_tokens(&text)?,
            ..row(example, setting, RowKind::Options, options, shares)
        };
        out.rows.push((order, row));
    }
    Ok(())
}

fn row(
    example: &Example,
    setting: &Setting<'_>,
    kind: RowKind,
    options: Vec<Vec<String>>,
    target: Vec<f64>,
) -> Row {
    Row {
        task: setting.task.to_owned(),
        id: example.id.clone(),
        group: format!("{:016x}", setting.group),
        part: setting.part,
        kind,
        wording: setting.wording,
        order: None,
        segments: None,
        first: None,
        second: None,
        answer: None,
        options,
        target,
        // Digits that nobody needs would make the file longer.
        weight: (setting.weight * 1e6).round() / 1e6,
        tokens: 0,
    }
}

/// The prompt of a plan's only question, and the spellings of its options.
fn prompt(plan: &InquiryPlan) -> (Segments, Vec<Vec<String>>) {
    let options = plan.branches.first().map(|branch| &branch.readout.options);
    let options = options.into_iter().flatten().map(|option| option.spellings.clone()).collect();
    (plan.prompt(0).unwrap_or_default(), options)
}

fn pieces(text: &Segments) -> Vec<Piece> {
    text.pieces()
        .iter()
        .map(|piece| match piece {
            Segment::Template(text) => ("t", text.clone()),
            Segment::User(text) => ("u", text.clone()),
        })
        .collect()
}

/// A model with a shorter context, so that the formatter cuts texts to what training can hold.
pub(super) struct Shortened<'a, M> {
    pub(super) model: &'a M,
    pub(super) context: usize,
}

impl<M: TextModel> TextModel for Shortened<'_, M> {
    fn count_tokens(&self, text: &Segments) -> Result<usize, LmError> {
        self.model.count_tokens(text)
    }

    fn context_length(&self) -> usize {
        self.context.min(self.model.context_length())
    }

    fn turn(&self, system: Option<&Segments>) -> Result<Turn, LmError> {
        self.model.turn(system)
    }

    fn exchange(&self) -> Result<Exchange, LmError> {
        self.model.exchange()
    }
}
