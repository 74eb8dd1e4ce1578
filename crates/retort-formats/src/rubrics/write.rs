//! From rubrics to another tool's file.

use std::collections::HashSet;

use retort_rubric::{InvalidRubric, Rubric, RubricOption, slug};
use serde::Serialize;
use serde_json::{Map, Value};

use super::read::{KILN_TYPES, RAGAS_CRITERION, kiln_options, steps_criterion};
use super::{Kept, Target, import};

/// Why rubrics cannot be written in a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// There is no rubric to write.
    #[error("there is no rubric to write; give at least one")]
    Empty,
    /// A rubric would be refused when read.
    #[error(transparent)]
    Invalid(#[from] InvalidRubric),
    /// The format cannot say what the rubrics say.
    #[error("{}", lines(*.target, .refusals))]
    Refused {
        /// The format.
        target: Target,
        /// What it cannot say, rubric by rubric; at least one.
        refusals: Vec<Refusal>,
    },
    /// The JSON writer failed.
    #[error("the rubrics cannot be written as JSON: {0}")]
    Json(String),
}

/// What of one rubric a format cannot say.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The rubric's id.
    pub rubric: String,
    /// What cannot be said, and why.
    pub reason: String,
}

fn lines(target: Target, refusals: &[Refusal]) -> String {
    let lines: Vec<String> = refusals
        .iter()
        .map(|refusal| format!("{target} cannot say “{}”: {}", refusal.rubric, refusal.reason))
        .collect();
    lines.join("\n")
}

/// The rubrics as a file of another tool, with a newline at the end.
///
/// One rubric is one object (for HealthBench and Kiln a list within one), several are a list, or an object by name for
/// Prometheus. What is written reads back as rubrics that say the same; names come back where the format has any.
///
/// # Errors
/// No rubric, one that does not pass [`Rubric::check`], and everything that the format cannot say: a weight (but for
/// HealthBench), a condition, examples; for Prometheus another scale than 1 to 5 or a level without a description; for
/// Kiln another scale than its three types or a name that it does not take; for deepeval options that are no whole
/// numbers or ranges of 0 to 10; for HealthBench options other than no 0 and yes 1, or levels; for ragas a criterion.
pub fn export(rubrics: &[Rubric], target: Target) -> Result<String, ExportError> {
    export_keeping(rubrics, &[], target)
}

/// The same, with what [`import`](super::import) kept of the rubrics, where it is of the same format.
///
/// # Errors
/// As [`export`].
pub fn export_keeping(rubrics: &[Rubric], kept: &[Kept], target: Target) -> Result<String, ExportError> {
    if rubrics.is_empty() {
        return Err(ExportError::Empty);
    }
    let mut refusals = Vec::new();
    for rubric in rubrics {
        rubric.validate()?;
        let refuse = |reason: String| Refusal { rubric: rubric.id.clone(), reason };
        refusals.extend(reasons(rubric, target).into_iter().map(refuse));
    }
    if !refusals.is_empty() {
        return Err(ExportError::Refused { target, refusals });
    }
    let rest = |rubric: &Rubric| -> Map<String, Value> {
        let of_it = |kept: &&Kept| kept.source == target && kept.rubric == rubric.id;
        kept.iter().find(of_it).map(|kept| kept.fields.clone()).unwrap_or_default()
    };
    let text = match target {
        Target::PrometheusText => {
            let blocks: Vec<String> = rubrics.iter().map(block).collect();
            blocks.join("\n\n")
        }
        Target::Prometheus => match rubrics {
            [rubric] => pretty(&levels(rubric, true, rest(rubric)))?,
            _ => pretty(&by_name(rubrics, |rubric| levels(rubric, true, rest(rubric))))?,
        },
        Target::Ragas => match rubrics {
            [rubric] if rest(rubric).is_empty() => {
                pretty(&Ordered(vec![("rubrics".to_owned(), levels(rubric, false, Map::new()))]))?
            }
            _ => pretty(&by_name(rubrics, |rubric| levels(rubric, false, rest(rubric))))?,
        },
        Target::EvalAssist => {
            let all = rubrics.iter().map(|rubric| Criterion::of(rubric, rest(rubric))).collect::<Vec<_>>();
            if let [one] = &all[..] { pretty(one)? } else { pretty(&all)? }
        }
        Target::Kiln => {
            let all = rubrics.iter().map(|rubric| Score::of(rubric, rest(rubric))).collect::<Vec<_>>();
            pretty(&Ordered(vec![("output_scores".to_owned(), all)]))?
        }
        Target::DeepEval => {
            let all = rubrics.iter().map(|rubric| GEval::of(rubric, rest(rubric))).collect::<Vec<_>>();
            if let [one] = &all[..] { pretty(one)? } else { pretty(&all)? }
        }
        Target::HealthBench => {
            let all = rubrics.iter().map(|rubric| Point::of(rubric, rest(rubric))).collect::<Vec<_>>();
            // A line of JSON Lines, as its tool reads.
            let line = serde_json::to_string(&Ordered(vec![("rubrics".to_owned(), all)]));
            line.map_err(|error| ExportError::Json(error.to_string()))?
        }
    };
    same(rubrics, &text, target)?;
    Ok(text + "\n")
}

fn pretty<T: Serialize>(value: &T) -> Result<String, ExportError> {
    serde_json::to_string_pretty(value).map_err(|error| ExportError::Json(error.to_string()))
}

/// Whether the text says what the rubrics say: whatever slipped through the reasons above is found by reading it.
fn same(rubrics: &[Rubric], text: &str, target: Target) -> Result<(), ExportError> {
    let refused = |rubric: &Rubric, reason: String| ExportError::Refused {
        target,
        refusals: vec![Refusal { rubric: rubric.id.clone(), reason }],
    };
    let read = import(text, "").map(|imported| imported.rubrics).unwrap_or_default();
    for (index, rubric) in rubrics.iter().enumerate() {
        let Some(back) = read.get(index) else {
            let reason = "it would not be read back; perhaps it says the same as one before it".to_owned();
            return Err(refused(rubric, reason));
        };
        let named = matches!(target, Target::EvalAssist | Target::Kiln | Target::DeepEval);
        let lost = [
            ("name", named && back.name != rubric.name),
            ("criterion", back.criterion != rubric.criterion),
            ("options", back.options != rubric.options),
            ("weight", back.weight != rubric.weight),
        ];
        if let Some((field, _)) = lost.iter().find(|(_, lost)| *lost) {
            return Err(refused(
                rubric,
                format!("its {field} would be read back as something else; reword it"),
            ));
        }
    }
    Ok(())
}

/// What a format cannot say of a rubric.
fn reasons(rubric: &Rubric, target: Target) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut refuse = |reason: &str| reasons.push(reason.to_owned());
    let options = &rubric.options;
    if rubric.weight != 1.0 && target != Target::HealthBench {
        refuse("it has a weight, for which there is no field");
    }
    if rubric.not_applicable.is_some() {
        refuse("it says when it does not apply, for which there is no field");
    }
    if options.iter().any(|option| !option.examples.is_empty()) {
        refuse("it has examples, for which there is no field");
    }
    let described = options.iter().filter(|option| option.description.is_some()).count();
    let is_scale = |values: &[f64]| {
        options.len() == values.len()
            && options
                .iter()
                .zip(values)
                .all(|(option, value)| option.value == *value && option.label == value.to_string())
    };
    match target {
        Target::Prometheus | Target::PrometheusText => {
            if !is_scale(&[1.0, 2.0, 3.0, 4.0, 5.0]) {
                refuse("its scale is not 1, 2, 3, 4, 5, the only one there is");
            } else if described < options.len() {
                refuse("a level is not described, and every one has to be");
            }
        }
        Target::Kiln => {
            if kiln_type(options).is_none() {
                refuse("its options are none of 1 to 5; fail 0 and pass 1; critical -1, fail 0 and pass 1");
            }
            if described > 0 && described < options.len() {
                refuse("only some levels are described, and they can be read back only together");
            }
            let fits = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-');
            if rubric.name.chars().count() > 32 || !rubric.name.chars().all(fits) {
                refuse(
                    "its name is longer than 32 characters, or has others than letters, digits, space, “_” and “-”",
                );
            }
        }
        Target::DeepEval => {
            let ranged = options.iter().all(|option| range(option).is_some());
            let tenths: Vec<f64> = (0..=10_u32).map(f64::from).collect();
            if described == 0 && !is_scale(&tenths) {
                refuse("its levels are not described, and without descriptions the scale is 0 to 10");
            } else if described > 0 && described < options.len() {
                refuse("a level is not described, and every one has to be");
            } else if !ranged {
                refuse(
                    "its options are not whole numbers or ranges of 0 to 10, such as “4” or “0-3”, each worth its middle",
                );
            }
        }
        Target::HealthBench => {
            let yes_no = matches!(&options[..], [no, yes]
                if no.label == "no" && no.value == 0.0 && yes.label == "yes" && yes.value == 1.0);
            if !yes_no {
                refuse("its options are not “no”, worth 0, and “yes”, worth 1");
            }
            if described > 0 {
                refuse("its options are described, for which there is no field");
            }
        }
        Target::Ragas => {
            let whole = |option: &RubricOption| {
                option.label.len() <= 3
                    && option.label.parse::<u32>().is_ok_and(|n| f64::from(n) == option.value)
            };
            if !options.iter().all(whole) || described < options.len() {
                refuse("its levels are not whole numbers from 0 up, each described");
            }
            if rubric.criterion != RAGAS_CRITERION {
                refuse("it has a criterion, for which there is no field");
            }
        }
        Target::EvalAssist => {}
    }
    reasons
}

fn kiln_type(options: &[RubricOption]) -> Option<&'static str> {
    let same = |made: &Vec<RubricOption>| {
        made.len() == options.len()
            && made
                .iter()
                .zip(options)
                .all(|(made, option)| made.label == option.label && made.value == option.value)
    };
    KILN_TYPES.into_iter().find(|kind| kiln_options(kind).as_ref().is_some_and(same))
}

/// The whole numbers that an option stands for, told from its label and checked by its value.
fn range(option: &RubricOption) -> Option<(u32, u32)> {
    let (start, end) = option.label.split_once('-').unwrap_or((&option.label, &option.label));
    let (start, end): (u32, u32) = (start.parse().ok()?, end.parse().ok()?);
    let middle = f64::midpoint(f64::from(start), f64::from(end));
    (start <= end && end <= 10 && option.value == middle).then_some((start, end))
}

/// Prometheus' rubric as a text.
fn block(rubric: &Rubric) -> String {
    let mut text = format!("[{}]", rubric.criterion);
    for option in &rubric.options {
        let description = option.description.as_deref().unwrap_or_default();
        text.push_str(&format!("\nScore {}: {description}", option.label));
    }
    text
}

/// `criteria` and `score1_description` to the last.
fn levels(rubric: &Rubric, criterion: bool, rest: Map<String, Value>) -> Ordered<Value> {
    let mut entries = Vec::new();
    if criterion {
        entries.push(("criteria".to_owned(), Value::from(rubric.criterion.as_str())));
    }
    for option in &rubric.options {
        let description = option.description.as_deref().unwrap_or_default();
        entries.push((format!("score{}_description", option.label), Value::from(description)));
    }
    entries.extend(rest);
    Ordered(entries)
}

/// An object by the rubrics' names, or ids where the names do not lead back to them.
fn by_name<T>(rubrics: &[Rubric], of: impl Fn(&Rubric) -> T) -> Ordered<T> {
    let mut used: HashSet<&str> = HashSet::new();
    let entries = rubrics.iter().map(|rubric| {
        let key = if slug(&rubric.name) == rubric.id { &rubric.name } else { &rubric.id };
        let key = if used.insert(key) { key } else { &rubric.id };
        (key.clone(), of(rubric))
    });
    Ordered(entries.collect())
}

/// A JSON object whose keys keep their order.
struct Ordered<T>(Vec<(String, T)>);

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// EvalAssist's criterion.
#[derive(Serialize)]
struct Criterion<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_evaluate_field: Option<&'static str>,
    options: Vec<CriterionOption<'a>>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Serialize)]
struct CriterionOption<'a> {
    name: &'a str,
    description: &'a str,
    score: Value,
}

impl<'a> Criterion<'a> {
    fn of(rubric: &'a Rubric, rest: Map<String, Value>) -> Self {
        let option = |option: &'a RubricOption| CriterionOption {
            name: &option.label,
            description: option.description.as_deref().unwrap_or_default(),
            score: number(option.value),
        };
        Self {
            name: &rubric.name,
            description: &rubric.criterion,
            // It is required there; the name is its own default.
            to_evaluate_field: (!rest.contains_key("to_evaluate_field")).then_some("response"),
            options: rubric.options.iter().map(option).collect(),
            rest,
        }
    }
}

/// Kiln's output score.
#[derive(Serialize)]
struct Score<'a> {
    name: &'a str,
    instruction: String,
    r#type: &'static str,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl<'a> Score<'a> {
    fn of(rubric: &'a Rubric, rest: Map<String, Value>) -> Self {
        let mut instruction = rubric.criterion.clone();
        for (index, option) in rubric.options.iter().enumerate() {
            if let Some(description) = &option.description {
                instruction.push_str(if index == 0 { "\n\n" } else { "\n" });
                instruction.push_str(&format!("{}: {description}", option.label));
            }
        }
        let r#type = kiln_type(&rubric.options).unwrap_or_default();
        Self { name: &rubric.name, instruction, r#type, rest }
    }
}

/// deepeval's metric.
#[derive(Serialize)]
struct GEval<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    criteria: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rubric: Option<Vec<Range<'a>>>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Serialize)]
struct Range<'a> {
    score_range: [u32; 2],
    expected_outcome: &'a str,
}

impl<'a> GEval<'a> {
    fn of(rubric: &'a Rubric, rest: Map<String, Value>) -> Self {
        let steps = rest.get("evaluation_steps").and_then(Value::as_array);
        let steps: Vec<&str> =
            steps.map(|steps| steps.iter().filter_map(Value::as_str).collect()).unwrap_or_default();
        // Only one of the two is to be given there.
        let from_steps = !steps.is_empty() && steps_criterion(&steps) == rubric.criterion;
        let ranges = rubric.options.iter().map(|option| {
            let (start, end) = range(option)?;
            Some(Range { score_range: [start, end], expected_outcome: option.description.as_deref()? })
        });
        Self {
            name: &rubric.name,
            criteria: (!from_steps).then_some(rubric.criterion.as_str()),
            rubric: ranges.collect(),
            rest,
        }
    }
}

/// HealthBench's rubric item.
#[derive(Serialize)]
struct Point<'a> {
    criterion: &'a str,
    points: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<[&'static str; 0]>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl<'a> Point<'a> {
    fn of(rubric: &'a Rubric, rest: Map<String, Value>) -> Self {
        Self {
            criterion: &rubric.criterion,
            points: number(rubric.weight),
            // They are required there.
            tags: (!rest.contains_key("tags")).then_some([]),
            rest,
        }
    }
}

/// A number, whole where it is.
fn number(value: f64) -> Value {
    // Every whole number of at most MAX_VALUE in size is an i64, exactly.
    if value.fract() == 0.0 && value.abs() < 1e15 { Value::from(value as i64) } else { Value::from(value) }
}
