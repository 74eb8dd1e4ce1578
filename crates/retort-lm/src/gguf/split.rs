//! Split models: whether the files at hand are all parts of one model, in order.
//!
//! llama.cpp and the Python package `gguf` write the same three keys into every part: `split.no` (from 0),
//! `split.count`, and `split.tensors.count` (of all parts together). The other metadata is in the first part only.

use std::collections::BTreeMap;

use super::Value;
use super::reader::Part;
use crate::LmError;
use crate::source::{PartName, some_of};

/// What a part says of itself.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// From 0.
    number: usize,
    count: usize,
    /// Tensors of all parts, where it is said.
    tensors: Option<usize>,
}

/// Refuses parts that are not one whole model in order; says which part is at fault and what would do.
pub(super) fn check(parts: &[Part]) -> Result<(), LmError> {
    let places = parts.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let (Some(first), Some(&first_place)) = (parts.first(), places.first()) else { return Ok(()) };
    let Some(first_place) = first_place else {
        // A whole model; what comes with it is too much.
        return match parts.get(1) {
            None => Ok(()),
            Some(other) => Err(wrong(
                other,
                format!(
                    "it was given together with {}, which is a whole model; choose one of them",
                    first.name
                ),
            )),
        };
    };
    let mut found: BTreeMap<usize, &Part> = BTreeMap::new();
    for (part, place) in parts.iter().zip(&places) {
        let Some(place) = place else {
            return Err(wrong(
                part,
                format!("it is a whole model, and {} is part of another; choose one of them", first.name),
            ));
        };
        if place.count != first_place.count || place.tensors != first_place.tensors {
            return Err(wrong(
                part,
                format!(
                    "it is one of {}, and {} one of {}: they are parts of different models; choose the parts of one",
                    described(*place),
                    first.name,
                    described(first_place)
                ),
            ));
        }
        if let Some(twin) = found.insert(place.number, part) {
            let problem = format!(
                "it is part {} of {}, and so is {}; leave one out",
                place.number + 1,
                place.count,
                twin.name
            );
            return Err(wrong(part, problem));
        }
    }
    let count = first_place.count;
    if found.len() < count {
        let absent: Vec<String> = (0..count)
            .filter(|number| !found.contains_key(number))
            .map(|number| match PartName::of(&first.name).filter(|name| name.count == count) {
                Some(name) => name.sibling(number + 1),
                None => format!("part {}", number + 1),
            })
            .collect();
        let what = if absent.len() == 1 { "this part is" } else { "these parts are" };
        let problem = format!(
            "of its {count} parts only {} came, and {what} missing: {}; choose all parts together",
            found.len(),
            some_of(&absent)
        );
        return Err(wrong(first, problem));
    }
    for (index, (part, place)) in parts.iter().zip(&places).enumerate() {
        if let Some(place) = place
            && place.number != index
        {
            let problem = format!(
                "it is part {} of {count} and was given as part {}; give the parts in the order of their numbers",
                place.number + 1,
                index + 1
            );
            return Err(wrong(part, problem));
        }
    }
    same_model(parts, first_place.tensors)
}

/// What can still tell parts of two models with equally many parts and tensors apart.
fn same_model(parts: &[Part], tensors: Option<usize>) -> Result<(), LmError> {
    let mut owners: BTreeMap<&str, &Part> = BTreeMap::new();
    for part in parts {
        for name in part.tensors.keys() {
            if let Some(other) = owners.insert(name, part) {
                let problem = format!(
                    "its tensor \"{name}\" is also in {}: they are parts of different models; choose the parts of one",
                    other.name
                );
                return Err(wrong(part, problem));
            }
        }
    }
    let Some((first, others)) = parts.split_first() else { return Ok(()) };
    for part in others {
        for key in ["general.architecture", "general.name", "general.type"] {
            let (here, there) = (part.metadata.get(key), first.metadata.get(key));
            if here.is_some() && here != there {
                let problem = format!(
                    "its \"{key}\" is not that of {}: they are parts of different models; choose the parts of one",
                    first.name
                );
                return Err(wrong(part, problem));
            }
        }
    }
    match tensors {
        Some(promised) if promised != owners.len() => Err(wrong(
            first,
            format!(
                "{promised} tensors are promised, and all its parts hold {}; choose the parts of one model or \
                 download them again",
                owners.len()
            ),
        )),
        _ => Ok(()),
    }
}

/// `None` for a whole model: one that says nothing of parts, or that it is the only one.
fn place(part: &Part) -> Result<Option<Place>, LmError> {
    let number = |key: &str| match part.metadata.get(key) {
        None => Ok(None),
        Some(value) => match value {
            Value::Unsigned(n) => usize::try_from(*n).ok(),
            Value::Signed(n) => usize::try_from(*n).ok(),
            _ => None,
        }
        .filter(|n| *n <= 1 << 31)
        .map(Some)
        .ok_or_else(|| damaged(part, key, format!("it holds {} and must be a count", value.kind()))),
    };
    let (no, count, tensors) = (number("split.no")?, number("split.count")?, number("split.tensors.count")?);
    match (no, count) {
        (_, None | Some(0 | 1)) => Ok(None),
        (None, Some(count)) => Err(damaged(part, "split.no", format!("it is absent from a part of {count}"))),
        (Some(number), Some(count)) if number >= count => Err(damaged(
            part,
            "split.no",
            format!("{number} is no part of {count}, which are counted from 0"),
        )),
        (Some(number), Some(count)) => Ok(Some(Place { number, count, tensors })),
    }
}

fn described(place: Place) -> String {
    match place.tensors {
        Some(tensors) => format!("{} parts with {tensors} tensors", place.count),
        None => format!("{} parts", place.count),
    }
}

fn wrong(part: &Part, problem: String) -> LmError {
    LmError::Split { name: part.name.clone(), problem }
}

fn damaged(part: &Part, field: &str, problem: String) -> LmError {
    LmError::Damaged { name: part.name.clone(), field: field.to_owned(), problem }
}
