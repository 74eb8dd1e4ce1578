//! Sets for examination.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Reader;
use crate::read::{Item, Reading};
use crate::{DataError, Example, Problem, Target};

pub(super) const READERS: &[(&str, Reader)] = &[
    ("llmbar", llmbar),
    ("humanevalpack", humanevalpack),
    ("hhh", hhh),
    ("pandalm", pandalm),
    ("factcheck_gpt", factcheck_gpt),
];

type Each<'a> = &'a mut dyn FnMut(Item);

/// A row's place, from 1, and the row or what is wrong with it.
type Rows<T> = Vec<(usize, Result<T, String>)>;

/// The text of a file of the repository.
fn text(reading: &Reading<'_>, file: &str) -> Result<String, DataError> {
    let path = reading.folder.join(file);
    if !path.is_file() {
        return Err(DataError::NoFile {
            repository: reading.task.source.repository.clone(),
            file: file.to_owned(),
        });
    }
    let bytes = std::fs::read(&path).map_err(|error| DataError::Unreadable {
        file: path.display().to_string(),
        problem: error.to_string(),
    })?;
    String::from_utf8(bytes).map_err(|error| DataError::Unreadable {
        file: path.display().to_string(),
        problem: format!("it is not UTF-8: {error}"),
    })
}

/// The rows of a JSON array.
fn array<T: DeserializeOwned>(reading: &Reading<'_>, file: &str) -> Result<Rows<T>, DataError> {
    let values: Vec<Value> =
        serde_json::from_str(&text(reading, file)?).map_err(|error| DataError::Form {
            file: file.to_owned(),
            problem: format!("it must be a JSON array of rows: {error}"),
        })?;
    let rows = values.into_iter().map(|value| serde_json::from_value(value).map_err(|e| e.to_string()));
    Ok((1..).zip(rows).collect())
}

/// The rows of a file with one JSON object per line; empty lines are no rows.
fn lines<T: DeserializeOwned>(reading: &Reading<'_>, file: &str) -> Result<Rows<T>, DataError> {
    let text = text(reading, file)?;
    let rows = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    Ok(rows.map(|(line, row)| (line, serde_json::from_str(row).map_err(|e| e.to_string()))).collect())
}

fn problem(file: &str, line: usize, message: &str) -> Problem {
    Problem { file: file.to_owned(), line: Some(line), message: format!("{message}; the row was skipped") }
}

/// Whether the better response stands second: by the SHA-256 of an id, so that it is the same on every reading and has
/// nothing to do with the content.
fn second(id: &str) -> bool {
    Sha256::digest(id.as_bytes())[0] & 1 == 1
}

/// A pair of which the better and the worse response are known.
fn chosen(id: String, fields: BTreeMap<String, String>, better: String, worse: String) -> Example {
    let (responses, first) = if second(&id) { ([worse, better], 0.0) } else { ([better, worse], 1.0) };
    Example {
        group: fields.get("prompt").cloned().unwrap_or_default(),
        id,
        fields,
        responses: Some(responses),
        target: Target::Preference { first, second: 1.0 - first, tie: 0.0 },
        raters: 1,
        ..Example::default()
    }
}

fn prompt(text: String) -> BTreeMap<String, String> {
    BTreeMap::from([("prompt".to_owned(), text)])
}

/// The name of the folder that is `up` folders above the file.
fn folder(file: &str, up: usize) -> String {
    let folder = Path::new(file).ancestors().nth(up).and_then(Path::file_name);
    folder.map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned())
}

#[derive(Deserialize)]
struct LlmBar {
    input: String,
    output_1: String,
    output_2: String,
    label: u8,
}

/// LLMBar: the responses stay in the file's order; the folder is the subset.
fn llmbar(reading: &Reading<'_>, each: Each<'_>) -> Result<usize, DataError> {
    let mut count = 0;
    for file in &reading.task.reader.files {
        let subset = folder(file, 1);
        for (line, row) in array::<LlmBar>(reading, file)? {
            count += 1;
            each(
                row.and_then(|row| {
                    let first = match row.label {
                        1 => 1.0,
                        2 => 0.0,
                        other => return Err(format!("\"label\" is {other}, and must be 1 or 2")),
                    };
                    Ok(Example {
                        id: format!("{subset}/{line}"),
                        group: row.input.clone(),
                        fields: prompt(row.input),
                        responses: Some([row.output_1, row.output_2]),
                        target: Target::Preference { first, second: 1.0 - first, tie: 0.0 },
                        raters: 1,
                        subset: Some(subset.clone()),
                        ..Example::default()
                    })
                })
                .map_err(|message| problem(file, line, &message)),
            );
        }
    }
    Ok(count)
}

#[derive(Deserialize)]
struct Program {
    task_id: String,
    instruction: String,
    declaration: String,
    canonical_solution: String,
    buggy_solution: String,
}

/// HumanEvalPack: the instruction and the declaration that both bodies continue are the prompt; problems of one number
/// are the same in all languages, so the number is the group. The folder is the language and the subset.
fn humanevalpack(reading: &Reading<'_>, each: Each<'_>) -> Result<usize, DataError> {
    let mut count = 0;
    for file in &reading.task.reader.files {
        let subset = folder(file, 2);
        for (line, row) in lines::<Program>(reading, file)? {
            count += 1;
            each(
                row.and_then(|row| {
                    if row.canonical_solution == row.buggy_solution {
                        return Err("\"canonical_solution\" and \"buggy_solution\" are the same".to_owned());
                    }
                    let text =
                        format!("{}\n\n{}", row.instruction.trim(), row.declaration.trim_matches('\n'));
                    let group = row.task_id.rsplit('/').next().unwrap_or(&row.task_id).to_owned();
                    let example =
                        chosen(row.task_id, prompt(text), row.canonical_solution, row.buggy_solution);
                    Ok(Example { group, subset: Some(subset.clone()), ..example })
                })
                .map_err(|message| problem(file, line, &message)),
            );
        }
    }
    Ok(count)
}

#[derive(Deserialize)]
struct Hhh {
    source: String,
    chosen_instruction: String,
    rejected_instruction: String,
}

/// HHH: each response is embedded in a judge's prompt, between two headings that occur once.
fn hhh(reading: &Reading<'_>, each: Each<'_>) -> Result<usize, DataError> {
    let mut count = 0;
    for file in &reading.task.reader.files {
        for (line, row) in array::<Hhh>(reading, file)? {
            count += 1;
            each(
                row.and_then(|row| {
                    let (instruction, better) = embedded("chosen_instruction", &row.chosen_instruction)?;
                    let (other, worse) = embedded("rejected_instruction", &row.rejected_instruction)?;
                    if instruction != other {
                        return Err("the two responses answer different instructions".to_owned());
                    }
                    let id = format!("{}/{line}", row.source);
                    let fields = prompt(instruction.to_owned());
                    let example = chosen(id, fields, better.to_owned(), worse.to_owned());
                    Ok(Example { subset: Some(row.source), ..example })
                })
                .map_err(|message| problem(file, line, &message)),
            );
        }
    }
    Ok(count)
}

/// The instruction and the response out of a judge's prompt.
fn embedded<'a>(column: &str, text: &'a str) -> Result<(&'a str, &'a str), String> {
    let missing = |heading: &str| format!("\"{column}\" has no heading \"{}\"", heading.trim());
    let split = |text: &'a str, heading: &str| text.split_once(heading).ok_or_else(|| missing(heading));
    let (_, rest) = split(text, "###The instruction to evaluate:\n")?;
    let (instruction, rest) = split(rest, "\n\n###Response to evaluate:\n")?;
    let (response, _) = split(rest, "\n\n###Score Rubrics:\n")?;
    Ok((instruction, response))
}

#[derive(Deserialize)]
struct PandaLm {
    idx: u64,
    cmp_key: String,
    instruction: String,
    input: String,
    response1: Value,
    response2: Value,
    annotator1: Value,
    annotator2: Value,
    annotator3: Value,
}

#[derive(Deserialize)]
struct PandaLmVerdict {
    idx: u64,
    #[serde(alias = "gpt_result", alias = "pandalm_result")]
    result: Value,
}

/// PandaLM's test set: the target is the distribution of the three people, whom `human_1` to `human_3` of
/// [`Example::extra`] name one by one, and the other files' verdicts are `judge_NAME` there.
fn pandalm(reading: &Reading<'_>, each: Each<'_>) -> Result<usize, DataError> {
    let Some((file, others)) = reading.task.reader.files.split_first() else { return Ok(0) };
    let mut judges: Vec<(String, HashMap<u64, &'static str>)> = Vec::new();
    for other in others {
        let mut verdicts = HashMap::new();
        for (line, row) in array::<PandaLmVerdict>(reading, other)? {
            match row.and_then(|row| Ok((row.idx, better(&row.result)?))) {
                Ok((idx, verdict)) => {
                    verdicts.insert(idx, verdict);
                }
                Err(message) => each(Err(problem(other, line, &message))),
            }
        }
        let stem = Path::new(other).file_stem().unwrap_or_default().to_string_lossy();
        let name = stem.split("-testset").next().unwrap_or(&stem);
        judges.push((format!("judge_{name}"), verdicts));
    }
    let rows = array::<PandaLm>(reading, file)?;
    let count = rows.len();
    for (line, row) in rows {
        each(
            row.and_then(|row| {
                let people = [&row.annotator1, &row.annotator2, &row.annotator3];
                let people: Vec<&str> = people.into_iter().map(better).collect::<Result<_, _>>()?;
                let share = |label: &str| people.iter().filter(|said| **said == label).count() as f64 / 3.0;
                let mut extra = BTreeMap::from([("systems".to_owned(), row.cmp_key)]);
                for (number, said) in (1..).zip(&people) {
                    extra.insert(format!("human_{number}"), (*said).to_owned());
                }
                for (name, verdicts) in &judges {
                    if let Some(verdict) = verdicts.get(&row.idx) {
                        extra.insert(name.clone(), (*verdict).to_owned());
                    }
                }
                let group = format!("{}\n{}", row.instruction, row.input);
                let mut fields = prompt(row.instruction);
                if !row.input.trim().is_empty() {
                    fields.insert("input".into(), row.input);
                }
                Ok(Example {
                    id: row.idx.to_string(),
                    group,
                    fields,
                    responses: Some([
                        response("response1", &row.response1)?,
                        response("response2", &row.response2)?,
                    ]),
                    target: Target::Preference {
                        first: share("first"),
                        second: share("second"),
                        tie: share("tie"),
                    },
                    raters: 3,
                    subset: None,
                    extra,
                })
            })
            .map_err(|message| problem(file, line, &message)),
        );
    }
    Ok(count)
}

/// Which response a label of PandaLM's names. The authors count what their judge wrote beyond all forms ("garbage") as a
/// tie, and so their published figures do (data/compute_metrics.py of their repository).
fn better(label: &Value) -> Result<&'static str, String> {
    let text = label.as_str().map_or_else(|| label.to_string(), str::to_owned);
    match text.trim() {
        "1" => Ok("first"),
        "2" => Ok("second"),
        "0" | "Tie" | "tie" | "garbage" => Ok("tie"),
        other => Err(format!("a label is \"{other}\", and must be 0, 1 or 2")),
    }
}

/// A response. Six of them are JSON's true in place of a text, for which the authors' programs print "True".
fn response(column: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(true) => Ok("True".to_owned()),
        Value::Bool(false) => Ok("False".to_owned()),
        _ => Err(format!("\"{column}\" is no text")),
    }
}

#[derive(Deserialize)]
struct Checked {
    prompt: String,
    sentences: BTreeMap<String, CheckedSentence>,
}

#[derive(Deserialize)]
struct CheckedSentence {
    claims: Vec<String>,
    auto_evidence: Vec<Vec<String>>,
    #[serde(rename = "stance_claim_autoEvid")]
    stances: Vec<Vec<String>>,
}

/// Factcheck-GPT's claims, each with every text that was found for it. The same claim and text are one example.
fn factcheck_gpt(reading: &Reading<'_>, each: Each<'_>) -> Result<usize, DataError> {
    let mut count = 0;
    for file in &reading.task.reader.files {
        let mut examples: Vec<(Example, Vec<bool>)> = Vec::new();
        let mut known: HashMap<(String, String), usize> = HashMap::new();
        for (line, row) in lines::<Checked>(reading, file)? {
            count += 1;
            let (prompt, pairs) = match row.and_then(|row| pairs(&row).map(|pairs| (row.prompt, pairs))) {
                Ok(read) => read,
                Err(message) => {
                    each(Err(problem(file, line, &message)));
                    continue;
                }
            };
            for (number, (claim, document, stance)) in (1..).zip(pairs) {
                let supported = stance == "completely-support";
                let place = *known.entry((claim.clone(), document.clone())).or_insert(examples.len());
                if let Some((_, labels)) = examples.get_mut(place) {
                    labels.push(supported);
                    continue;
                }
                let example = Example {
                    id: format!("{line}/{number}"),
                    group: prompt.clone(),
                    fields: BTreeMap::from([("claim".into(), claim), ("document".into(), document)]),
                    extra: BTreeMap::from([("stance".into(), stance)]),
                    ..Example::default()
                };
                examples.push((example, vec![supported]));
            }
        }
        for (mut example, labels) in examples {
            let yes = labels.iter().filter(|label| **label).count() as f64 / labels.len() as f64;
            example.target = Target::Options(vec![1.0 - yes, yes]);
            example.raters = u32::try_from(labels.len()).unwrap_or(u32::MAX);
            each(Ok(example));
        }
    }
    Ok(count)
}

/// Claim, document and stance of all pairs of a response, in the order of its sentences.
fn pairs(row: &Checked) -> Result<Vec<(String, String, String)>, String> {
    let mut pairs = Vec::new();
    // "sentence10" comes after "sentence9".
    let mut sentences: Vec<(&String, &CheckedSentence)> = row.sentences.iter().collect();
    sentences.sort_by_key(|(name, _)| (name.len(), *name));
    for (name, sentence) in sentences {
        let claims = sentence.claims.len();
        if sentence.auto_evidence.len() != claims || sentence.stances.len() != claims {
            return Err(format!(
                "\"{name}\" has {claims} claims, {} lists of evidence and {} lists of stances, and must have as many of \
                 each",
                sentence.auto_evidence.len(),
                sentence.stances.len()
            ));
        }
        let evidence = sentence.auto_evidence.iter().zip(&sentence.stances);
        for (claim, (documents, stances)) in sentence.claims.iter().zip(evidence) {
            // Opinions and the like have evidence, but nobody was asked about them.
            if stances.is_empty() {
                continue;
            }
            if documents.len() != stances.len() {
                return Err(format!(
                    "a claim of \"{name}\" has {} texts and {} stances, and must have one stance for each text",
                    documents.len(),
                    stances.len()
                ));
            }
            for (document, stance) in documents.iter().zip(stances) {
                match stance.as_str() {
                    "completely-support" | "partially-support" | "refute" | "irrelevant" => {}
                    other => {
                        return Err(format!("a stance of \"{name}\" is \"{other}\", which is not known"));
                    }
                }
                pairs.push((claim.clone(), document.clone(), stance.clone()));
            }
        }
    }
    Ok(pairs)
}
