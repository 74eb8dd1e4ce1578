//! CoBBLEr's responses and rankings (Koo et al. 2023): 50 instructions, 15 systems, six people who ranked the 15.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::Reader;
use crate::read::{Item, Reading};
use crate::{DataError, Example, Problem, Target};

pub(super) const READERS: &[(&str, Reader)] = &[("cobbler", pairs)];

/// The systems' names are its keys, but for the two named in [`NO_SYSTEMS`].
const RESPONSES: &str = "competitive-llms/human/batches/normalized_human_ranking.json";
const NO_SYSTEMS: [&str; 2] = ["instruction", "reference"];
const RANKINGS: &str = "competitive-llms/human/batches/human_annotations/annot_";

/// How many people ranked.
const PEOPLE: usize = 6;

/// Every pair of systems of every instruction, the systems in the order of their names.
///
/// The target is the share of people who rank each of the two higher; `extra` holds the instruction's number, both
/// names and both lists of ranks, one per person, 0 for the worst, with nothing between the commas where a person's ranks
/// could not be read.
fn pairs(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let records = array(&reading.folder, RESPONSES)?;
    let mut people = Vec::with_capacity(PEOPLE);
    for person in 1..=PEOPLE {
        let file = format!("{RANKINGS}{person}.json");
        let ranks = array(&reading.folder, &file)?;
        if ranks.len() != records.len() {
            let problem = format!(
                "it has {} rankings and there are {} instructions; both files must be of one version",
                ranks.len(),
                records.len()
            );
            return Err(DataError::Form { file, problem });
        }
        people.push((file, ranks));
    }
    for (index, record) in records.iter().enumerate() {
        let number = index + 1;
        let wrong = |message: String| Problem { file: RESPONSES.to_owned(), line: Some(number), message };
        let Some(prompt) = text(record.get("instruction")) else {
            each(Err(wrong("the instruction is missing or is no text; its pairs are skipped".to_owned())));
            continue;
        };
        let responses = record.as_object().into_iter().flatten();
        let mut systems: Vec<(&str, &str)> = Vec::new();
        for (name, response) in responses.filter(|(name, _)| !NO_SYSTEMS.contains(&name.as_str())) {
            match response.as_str() {
                Some(response) => systems.push((name, response)),
                None => each(Err(wrong(format!("the response of {name} is no text; its pairs are skipped")))),
            }
        }
        systems.sort_unstable();
        let mut ranks: Vec<Option<BTreeMap<&str, u64>>> = Vec::with_capacity(PEOPLE);
        for (file, rankings) in &people {
            match rankings.get(index).map(|ranking| ranks_of(ranking, &systems)) {
                Some(Ok(found)) => ranks.push(Some(found)),
                Some(Err(message)) => {
                    each(Err(Problem { file: file.clone(), line: Some(number), message }));
                    ranks.push(None);
                }
                None => ranks.push(None),
            }
        }
        for (place, (first, first_text)) in systems.iter().enumerate() {
            for (second, second_text) in systems.iter().skip(place + 1) {
                let votes: Vec<bool> = ranks
                    .iter()
                    .flatten()
                    .filter_map(|ranks| Some(ranks.get(first)? > ranks.get(second)?))
                    .collect();
                let list = |name: &str| {
                    let one = |ranks: &Option<BTreeMap<&str, u64>>| {
                        ranks
                            .as_ref()
                            .and_then(|ranks| ranks.get(name))
                            .map(u64::to_string)
                            .unwrap_or_default()
                    };
                    ranks.iter().map(one).collect::<Vec<_>>().join(",")
                };
                let mut fields = BTreeMap::from([("prompt".to_owned(), prompt.to_owned())]);
                if let Some(reference) = text(record.get("reference")) {
                    fields.insert("reference".to_owned(), reference.to_owned());
                }
                each(Ok(Example {
                    id: format!("{number}/{first}+{second}"),
                    group: prompt.to_owned(),
                    fields,
                    responses: Some([(*first_text).to_owned(), (*second_text).to_owned()]),
                    target: target(&votes),
                    raters: u32::try_from(votes.len()).unwrap_or(u32::MAX),
                    subset: None,
                    extra: BTreeMap::from([
                        ("instruction".to_owned(), number.to_string()),
                        ("first".to_owned(), (*first).to_owned()),
                        ("second".to_owned(), (*second).to_owned()),
                        ("first_ranks".to_owned(), list(first)),
                        ("second_ranks".to_owned(), list(second)),
                    ]),
                }));
            }
        }
    }
    Ok(records.len())
}

#[expect(clippy::cast_precision_loss, reason = "there are six people")]
fn target(votes: &[bool]) -> Target {
    if votes.is_empty() {
        return Target::Unknown;
    }
    let first = votes.iter().filter(|vote| **vote).count() as f64 / votes.len() as f64;
    Target::Preference { first, second: 1.0 - first, tie: 0.0 }
}

/// A person's ranks of the systems: each another, or they are of no use.
fn ranks_of<'a>(ranking: &Value, systems: &[(&'a str, &str)]) -> Result<BTreeMap<&'a str, u64>, String> {
    let mut ranks = BTreeMap::new();
    for (name, _) in systems {
        let Some(rank) = ranking.get(*name).and_then(Value::as_u64) else {
            return Err(format!("the rank of {name} is no whole number; this person's ranking is left out"));
        };
        ranks.insert(*name, rank);
    }
    let mut all: Vec<u64> = ranks.values().copied().collect();
    all.sort_unstable();
    if all.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("two systems have the same rank; this person's ranking is left out".to_owned());
    }
    Ok(ranks)
}

fn text(value: Option<&Value>) -> Option<&str> {
    value?.as_str().filter(|text| !text.trim().is_empty())
}

fn array(folder: &Path, file: &str) -> Result<Vec<Value>, DataError> {
    let bytes = super::flask::bytes(folder, file, "minnesotanlp/cobbler")?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    match serde_json::from_slice(bytes) {
        Ok(Value::Array(rows)) => Ok(rows),
        Ok(_) => Err(DataError::Form {
            file: file.to_owned(),
            problem: "it must be a JSON array with one element per instruction".to_owned(),
        }),
        Err(error) => Err(DataError::Form { file: file.to_owned(), problem: error.to_string() }),
    }
}
