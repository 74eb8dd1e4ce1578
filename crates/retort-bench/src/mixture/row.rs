//! From an example to rows of the training file, by the formatter that judging uses.

use retort_judge::{Aim, Field, Inquiry, InquiryPlan, Question, TextRole, Wording};
use retort_lm::{Exchange, LmError, Segment, Segments, TextModel, Turn};
use retort_rubric::Rubric;
use serde::Serialize;

use super::variant::{Asked, Varied};
use super::{Pairs, TaskReport};
use crate::pair::{Pair, PairRubrics, Ways, fields, inquiry};
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
    /// The rubric, where it asks by another than the task's.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<String>,
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
    /// Of pairs that are judged by a scale: what each option is worth, and nothing for "does not apply".
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Option<f64>>>,
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
    /// What is asked in place of the task's question.
    pub(super) instead: Option<Instead>,
}

/// A question about the response in place of the task's.
#[derive(Debug, Clone, Copy)]
pub(super) enum Instead {
    /// A rubric that the task's label says something about.
    Rubric(&'static Rubric),
    /// A rubric that does not apply.
    NotApplicable(&'static Rubric),
}

/// The rows of an example.
pub(super) struct Rows {
    /// Each with what tells it from the example's others.
    pub(super) rows: Vec<(&'static str, Row)>,
    /// Whether a text was cut.
    pub(super) truncated: bool,
    /// What kind of variant they are of.
    pub(super) variant: Option<&'static str>,
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
        let mut out = Rows { rows: Vec::new(), truncated: false, variant: None };
        match (&self.ask, &example.target) {
            (FormOf::Options(rubric), Target::Options(shares)) => {
                let (inquiry, target) = match setting.instead {
                    None => {
                        let question = Question::of_task(rubric);
                        (inquiry(self.task, example, vec![question], setting.wording), shares.clone())
                    }
                    Some(instead) => {
                        let (rubric, target) = match instead {
                            Instead::Rubric(other) => (other, levels(rubric, shares, other)),
                            Instead::NotApplicable(other) => (other, not_applicable(other)),
                        };
                        let fields = fields(self.task, example);
                        let questions = vec![Question::of_rubric(rubric)];
                        (Inquiry { aim: Aim::Rate, fields, questions, wording: setting.wording }, target)
                    }
                };
                let plan = out.plan(&inquiry, model)?;
                let (text, options) = prompt(&plan);
                let row = Row {
                    segments: Some(pieces(&text)),
                    asked: setting.instead.map(|instead| instead.rubric().id.clone()),
                    tokens: model.count_tokens(&text)?,
                    ..row(example, setting, RowKind::Options, options, target)
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
                    let question = match setting.instead {
                        Some(Instead::Rubric(rubric)) => Question::of_rubric(rubric),
                        _ => Question::of_task(&rubrics.alone),
                    };
                    let sides = pair.responses.map(|response| (response, [].as_slice()));
                    let row = alone(
                        &mut out,
                        &pair.fields,
                        sides,
                        &question,
                        [first, second],
                        setting,
                        example,
                        model,
                    )?;
                    let asked = setting.instead.map(|instead| instead.rubric().id.clone());
                    out.rows.push(("alone", Row { asked, ..row }));
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

impl Row {
    /// Counts what it asks and what it was made of.
    pub(super) fn count(&self, variant: Option<&'static str>, report: &mut TaskReport) {
        if let Some(asked) = &self.asked {
            *report.asked.entry(asked.clone()).or_default() += 1;
        }
        if let Some(variant) = variant {
            *report.variants.entry(variant).or_default() += 1;
        }
    }
}

impl Rows {
    fn plan<M: TextModel>(&mut self, inquiry: &Inquiry<'_>, model: &M) -> Result<InquiryPlan, LmError> {
        let plan = inquiry.plan(model)?;
        self.truncated |= !plan.truncations.is_empty();
        Ok(plan)
    }
}

impl Instead {
    fn rubric(self) -> &'static Rubric {
        match self {
            Self::Rubric(rubric) | Self::NotApplicable(rubric) => rubric,
        }
    }
}

impl Form<'_> {
    /// The row of a variant of an example: each response judged alone.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub(super) fn varied<M: TextModel>(
        &self,
        example: &Example,
        varied: &Varied,
        setting: &Setting<'_>,
        model: &M,
    ) -> Result<Option<Rows>, LmError> {
        let mut out = Rows { rows: Vec::new(), truncated: false, variant: Some(varied.variant.name()) };
        let question = match (&varied.asked, &self.ask) {
            (Asked::Scale(rubric), _) => Question::of_rubric(rubric),
            (Asked::YesNo(rubric), _) => Question::of_task(rubric),
            (Asked::Task, FormOf::Pair(rubrics)) => Question::of_task(&rubrics.alone),
            (Asked::Task, _) => return Ok(None),
        };
        let mut shared = fields(self.task, example);
        shared.retain(|field| field.role != TextRole::Response);
        let sides = [0, 1].map(|place| (varied.responses[place].as_str(), varied.beside[place].as_slice()));
        let row = alone(&mut out, &shared, sides, &question, varied.target, setting, example, model)?;
        let asked = match &varied.asked {
            Asked::Task => None,
            Asked::Scale(rubric) => Some(rubric.id.clone()),
            Asked::YesNo(rubric) => Some(rubric.id.clone()),
        };
        out.rows.push((varied.variant.name(), Row { asked, ..row }));
        Ok(Some(out))
    }
}

/// What shares of one scale's options are on another scale: each option stands where its value stands between its own
/// scale's ends, between the two nearest levels in proportion. Yes and no say on which side of the middle a response
/// is and not how far, so each goes to the two outer levels of its side, six to four.
fn levels(from: &Rubric, shares: &[f64], to: &Rubric) -> Vec<f64> {
    let mut target = vec![0.0; to.options.len() + usize::from(to.not_applicable.is_some())];
    let span = |rubric: &Rubric| {
        let values = rubric.options.iter().map(|option| option.value);
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max))
    };
    let ((low, high), (bottom, top)) = (span(from), span(to));
    let two = from.options.len() == 2 && to.options.len() >= 4;
    for (option, share) in from.options.iter().zip(shares) {
        let place = if high > low { (option.value - low) / (high - low) } else { 0.5 };
        // 0.4 of a step from the end: six parts of ten on the end, four on its neighbour.
        #[expect(clippy::cast_precision_loss, reason = "a scale has few levels")]
        let step = 1.0 / (to.options.len().max(2) - 1) as f64;
        let place = if two { place.clamp(0.4 * step, 1.0 - 0.4 * step) } else { place };
        let value = bottom + place * (top - bottom);
        let above =
            to.options.iter().position(|level| level.value >= value - 1e-9).unwrap_or(to.options.len() - 1);
        let below = above.saturating_sub(1);
        let gap = to.options[above].value - to.options[below].value;
        let upper = if gap > 0.0 { ((value - to.options[below].value) / gap).clamp(0.0, 1.0) } else { 1.0 };
        target[above] += share * upper;
        target[below] += share * (1.0 - upper);
    }
    target
}

/// The target of a rubric that does not apply.
fn not_applicable(rubric: &Rubric) -> Vec<f64> {
    let mut target = vec![0.0; rubric.options.len()];
    target.push(1.0);
    target
}

fn ways(wording: Wording) -> Ways {
    Ways { together: true, alone: false, skills: false, agnostic: false, wording }
}

/// A pair whose responses are judged apart by one question, each with what is shown behind it alone.
#[expect(clippy::too_many_arguments, reason = "the two texts, what is asked, and where it is written")]
fn alone<M: TextModel>(
    out: &mut Rows,
    shared: &[Field<'_>],
    sides: [(&str, &[Field<'static>]); 2],
    question: &Question<'_>,
    target: [f64; 2],
    setting: &Setting<'_>,
    example: &Example,
    model: &M,
) -> Result<Row, LmError> {
    let mut prompts = Vec::with_capacity(2);
    let (mut options, mut tokens) = (Vec::new(), 0);
    for (response, beside) in sides {
        let mut fields = shared.to_vec();
        fields.push(Field::response(response));
        fields.extend(beside.iter().cloned());
        let inquiry =
            Inquiry { aim: Aim::Rate, fields, questions: vec![question.clone()], wording: setting.wording };
        let (text, offered) = prompt(&out.plan(&inquiry, model)?);
        tokens += model.count_tokens(&text)?;
        prompts.push(pieces(&text));
        options = offered;
    }
    let (mut target, mut order) = (target.to_vec(), "ab");
    if setting.swapped {
        prompts.reverse();
        target.reverse();
        order = "ba";
    }
    let scale = &question.rubric().options;
    let values = (options.len() > 2).then(|| {
        let mut values: Vec<Option<f64>> = scale.iter().map(|option| Some(option.value)).collect();
        values.resize(options.len(), None);
        values
    });
    let mut prompts = prompts.into_iter();
    Ok(Row {
        order: Some(order),
        first: prompts.next(),
        second: prompts.next(),
        values,
        tokens,
        ..row(example, setting, RowKind::Pair, options, target)
    })
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
    let asks: Vec<Ask<'_>> = pair.asks(rubrics, &ways(setting.wording));
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
        asked: None,
        order: None,
        segments: None,
        first: None,
        second: None,
        answer: None,
        options,
        values: None,
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

#[cfg(test)]
mod tests {
    use retort_rubric::{RubricOption, overall};

    use super::*;

    fn scale(values: &[f64]) -> Rubric {
        let options = values.iter().map(|value| RubricOption::new(value.to_string(), *value)).collect();
        Rubric::new("scale", "Scale", "A scale.", options)
    }

    fn near(found: &[f64], wanted: &[f64]) {
        assert_eq!(found.len(), wanted.len());
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}, wanted {wanted:?}");
    }

    #[test]
    fn labels_become_levels() {
        let five = overall();
        // The same scale stays as it is.
        near(&levels(&scale(&[1., 2., 3., 4., 5.]), &[0., 0.5, 0., 0.5, 0.], five), &[0., 0.5, 0., 0.5, 0.]);
        // Unsupported, generic, supported: the ends and the middle.
        near(&levels(&scale(&[0., 1., 2.]), &[0.2, 0.3, 0.5], five), &[0.2, 0., 0.3, 0., 0.5]);
        // By hand: 2 of 1 to 6 stands at 1 + 4/5 = 1.8.
        near(
            &levels(&scale(&[1., 2., 3., 4., 5., 6.]), &[0., 1., 0., 0., 0., 0.], five),
            &[0.2, 0.8, 0., 0., 0.],
        );
        // Yes: four tenths on 4 and six on 5.
        near(&levels(&scale(&[0., 1.]), &[0., 1.], five), &[0., 0., 0., 0.4, 0.6]);
        near(&levels(&scale(&[0., 1.]), &[0.5, 0.5], five), &[0.3, 0.2, 0., 0.2, 0.3]);
    }
}
