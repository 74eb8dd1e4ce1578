//! From rubrics to files that [`read`](crate::read) reads back as the equal rubrics.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::read::scale_options;
use crate::tree::toml_string;
use crate::{InvalidRubric, Rubric, RubricOption};

/// Why rubrics cannot be written to a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// There is no rubric to write.
    #[error("there is no rubric to write; give at least one")]
    Empty,
    /// A rubric would be refused when read.
    #[error(transparent)]
    Invalid(#[from] InvalidRubric),
    /// Two rubrics have one id.
    #[error("two rubrics have the id {0:?}; give one of them another id")]
    DoubledId(String),
    /// The JSON writer failed.
    #[error("the rubrics cannot be written as JSON: {0}")]
    Json(String),
}

fn check(rubrics: &[Rubric]) -> Result<(), WriteError> {
    if rubrics.is_empty() {
        return Err(WriteError::Empty);
    }
    let mut ids = HashSet::new();
    for rubric in rubrics {
        rubric.validate()?;
        if !ids.insert(rubric.id.as_str()) {
            return Err(WriteError::DoubledId(rubric.id.clone()));
        }
    }
    Ok(())
}

/// The rubrics as a JSON list of the page's `Rubric` objects, indented, with a newline at the end.
///
/// # Errors
/// No rubric, one that does not pass [`Rubric::check`], or two with one id.
pub fn to_json(rubrics: &[Rubric]) -> Result<String, WriteError> {
    check(rubrics)?;
    let mut text =
        serde_json::to_string_pretty(rubrics).map_err(|error| WriteError::Json(error.to_string()))?;
    text.push('\n');
    Ok(text)
}

/// The rubrics as TOML, as a person would write them: `scale` and `levels` where the options are the numbers of
/// an even scale, `[[rubric.option]]` otherwise.
///
/// # Errors
/// No rubric, one that does not pass [`Rubric::check`], or two with one id.
pub fn to_toml(rubrics: &[Rubric]) -> Result<String, WriteError> {
    check(rubrics)?;
    let mut out = String::new();
    for (index, rubric) in rubrics.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write_rubric(&mut out, rubric, index);
    }
    Ok(out)
}

fn write_rubric(out: &mut String, rubric: &Rubric, index: usize) -> std::fmt::Result {
    if index > 0 {
        out.push('\n');
    }
    writeln!(out, "[[rubric]]")?;
    writeln!(out, "id = {}", toml_string(&rubric.id))?;
    writeln!(out, "name = {}", toml_string(&rubric.name))?;
    if let Some(ability) = rubric.ability {
        writeln!(out, "ability = {}", toml_string(ability.id()))?;
    }
    writeln!(out, "criterion = {}", toml_string(&rubric.criterion))?;
    if let Some(question) = &rubric.question {
        writeln!(out, "question = {}", toml_string(question))?;
    }
    if rubric.weight != 1.0 {
        writeln!(out, "weight = {}", number(rubric.weight))?;
    }
    if let Some(condition) = &rubric.not_applicable {
        writeln!(out, "not_applicable = {}", toml_string(condition))?;
    }
    let Some(scale) = even_scale(&rubric.options) else {
        for option in &rubric.options {
            writeln!(out, "\n[[rubric.option]]")?;
            writeln!(out, "label = {}", toml_string(&option.label))?;
            writeln!(out, "value = {}", number(option.value))?;
            if let Some(description) = &option.description {
                writeln!(out, "description = {}", toml_string(description))?;
            }
            if !option.examples.is_empty() {
                writeln!(out, "examples = {}", list(&option.examples))?;
            }
        }
        return Ok(());
    };
    writeln!(out, "scale = {scale}")?;
    if rubric.options.iter().any(|option| option.description.is_some()) {
        writeln!(out, "\n[rubric.levels]")?;
    }
    for option in &rubric.options {
        if let Some(description) = &option.description {
            writeln!(out, "{} = {}", key(&option.label), toml_string(description))?;
        }
    }
    if rubric.options.iter().any(|option| !option.examples.is_empty()) {
        writeln!(out, "\n[rubric.examples]")?;
    }
    for option in rubric.options.iter().filter(|option| !option.examples.is_empty()) {
        writeln!(out, "{} = {}", key(&option.label), list(&option.examples))?;
    }
    Ok(())
}

/// A TOML key.
fn key(label: &str) -> String {
    let bare = label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if bare { label.to_owned() } else { toml_string(label) }
}

/// A TOML list of texts, each on a line of its own where there are several.
fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| toml_string(text)).collect();
    if texts.len() == 1 {
        format!("[{}]", texts.join(""))
    } else {
        format!("[\n    {},\n]", texts.join(",\n    "))
    }
}

/// The scale, as TOML, of which exactly these options would be made, descriptions aside.
fn even_scale(options: &[RubricOption]) -> Option<String> {
    let (first, second, last) = (options.first()?, options.get(1)?, options.last()?);
    // The difference of two values may be off by a rounding; the nine decimals that scales are made with hide it.
    let step: f64 = format!("{:.9}", second.value - first.value).parse().ok()?;
    let made = scale_options(first.value, last.value, step).ok()?;
    let same = made.len() == options.len()
        && made.iter().zip(options).all(|(made, option)| {
            // To the bit: -0 would come back as 0.
            made.label == option.label && made.value.to_bits() == option.value.to_bits()
        });
    let (min, max) = (number(first.value), number(last.value));
    same.then(|| {
        if step == 1.0 {
            format!("{{ min = {min}, max = {max} }}")
        } else {
            format!("{{ min = {min}, max = {max}, step = {} }}", number(step))
        }
    })
}

/// A finite number in TOML: an integer where it is one, else the shortest float that reads back the same.
fn number(value: f64) -> String {
    if value == 0.0 && value.is_sign_negative() { "-0.0".to_owned() } else { value.to_string() }
}
