//! Preferences between responses.
//!
//! In most of these files the place of a response says something about the label (the one that was chosen always comes
//! first, one model always comes first). Here, which response of a pair stands first is decided by a hash of the prompt
//! and both texts, which no label can be read from; it is the same on every reading.

use std::collections::HashMap;
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::Reader;
use crate::read::spec::files::{Found, find};
use crate::read::spec::json::Json;
use crate::read::spec::table::Records;
use crate::read::spec::{cell_text, sheet_rows};
use crate::read::{Item, Reading};
use crate::{DataError, Example, Problem, Target};

pub(super) const READERS: &[(&str, Reader)] = &[
    ("convincing_arguments", convincing_arguments),
    ("funnier_texts", funnier_texts),
    ("story_ending", story_ending),
    ("instruct_acceptable", instruct_acceptable),
    ("instruct_preference", instruct_preference),
    ("harmless_reply", harmless_reply),
    ("crowd_preference", crowd_preference),
];

/// A vote for the first response, the second, or neither: shares that sum to 1.
type Vote = [f64; 3];
const FIRST: Vote = [1.0, 0.0, 0.0];
const SECOND: Vote = [0.0, 1.0, 0.0];
const TIE: Vote = [0.0, 0.0, 1.0];

/// Whose argument convinces more: one label a pair; the debate and the side taken are the file's name.
fn convincing_arguments(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let mut pairs = Pairs::default();
    let mut rows = 0;
    for file in files(reading)? {
        // The name is `debate_side`, both with hyphens for everything that is not a letter or digit.
        let (topic, stance) = file.stem().rsplit_once('_').unwrap_or((file.stem(), ""));
        let words =
            |text: &str| text.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let (topic, stance) = (words(topic), words(stance));
        rows +=
            table(&file, Table::Raw(b'\t'), ["label", "a1", "a2"], each, &mut |line, [label, a1, a2]| {
                let vote = match label {
                    "a1" => FIRST,
                    "a2" => SECOND,
                    other => {
                        return Err(file.problem(
                            line,
                            &format!("the label is {other:?} and neither \"a1\" nor \"a2\""),
                        ));
                    }
                };
                let text = |argument: &str| {
                    let lines: Vec<&str> = argument.split("<br/>").map(str::trim).collect();
                    lines.join("\n").trim().to_owned()
                };
                pairs.vote([&text(a1), &text(a2)], &format!("{topic}/{stance}"), vote, || Example {
                    group: file.stem().to_owned(),
                    subset: Some(file.stem().to_owned()),
                    fields: fields([("topic", &topic), ("stance", &stance)]),
                    ..Example::default()
                });
                Ok(())
            })?;
    }
    pairs.finish(each);
    Ok(rows)
}

/// Which text is funnier: votes on pairs of numbers, the text that was voted for first, and texts by number.
fn funnier_texts(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let files = files(reading)?;
    let mut texts: HashMap<String, String> = HashMap::new();
    let mut rows =
        lines(named(reading, &files, "item_scores.txt")?, Table::Raw(b'\t'), each, &mut |at, cells| {
            match cells {
                [number, _, text] => {
                    texts.insert((*number).to_owned(), (*text).trim().to_owned());
                    Ok(())
                }
                other => {
                    Err(at.wrong(&format!("there are {} cells and not 3: number, score, text", other.len())))
                }
            }
        })?;
    let mut pairs = Pairs::default();
    rows += lines(named(reading, &files, "pairs.csv")?, Table::Quoted(b','), each, &mut |at, cells| {
        let [better, worse] = cells else {
            return Err(
                at.wrong(&format!("there are {} cells and not 2: the numbers of two texts", cells.len()))
            );
        };
        let text = |number: &str| {
            texts
                .get(number.trim())
                .ok_or_else(|| at.wrong(&format!("there is no text of the number {number:?}")))
        };
        let (better, worse) = (text(better)?, text(worse)?);
        pairs.vote([better, worse], "", FIRST, || Example {
            group: better.min(worse).clone(),
            ..Example::default()
        });
        Ok(())
    })?;
    pairs.finish(each);
    Ok(rows)
}

/// Which story ends better: a vote a row.
fn story_ending(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let mut pairs = Pairs::default();
    let mut rows = 0;
    let columns = [
        "INPUT:story_a",
        "INPUT:story_b",
        "INPUT:ending_a",
        "INPUT:ending_b",
        "INPUT:content_plan_id",
        "OUTPUT:category",
    ];
    for file in files(reading)? {
        rows += table(&file, Table::Quoted(b'\t'), columns, each, &mut |line, cells| {
            let [story_a, story_b, ending_a, ending_b, plan, vote] = cells;
            let vote = match vote.trim() {
                "1" => FIRST,
                "2" => SECOND,
                other => {
                    return Err(
                        file.problem(line, &format!("the vote is {other:?} and neither \"1\" nor \"2\""))
                    );
                }
            };
            if [story_a, story_b, ending_a, ending_b].iter().any(|text| text.trim().is_empty()) {
                return Err(file.problem(line, "a story or an ending is empty"));
            }
            let whole = |story: &str, ending: &str| format!("{}\n\nEnding: {}", story.trim(), ending.trim());
            let responses = [&whole(story_a, ending_a), &whole(story_b, ending_b)];
            pairs.vote(responses.map(String::as_str), "", vote, || Example {
                group: format!("content plan {}", plan.trim()),
                ..Example::default()
            });
            Ok(())
        })?;
    }
    pairs.finish(each);
    Ok(rows)
}

/// Whether each of two responses is acceptable, by an expert a row.
fn instruct_acceptable(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let mut tally = Tally::default();
    let rows = instruct(reading, each, &mut |row| {
        let class = |verdict: &str| match verdict {
            "no" => Ok(0),
            "yes" => Ok(1),
            other => Err(format!("completion_*_is_acceptable is {other:?} and neither \"yes\" nor \"no\"")),
        };
        // Both are understood before either counts, so that a row that is reported has no part in any example.
        let classes = [class(row.acceptable[0])?, class(row.acceptable[1])?];
        for (response, class) in row.responses.into_iter().zip(classes) {
            if response.is_empty() {
                continue;
            }
            tally.add(&[row.prompt, response], &one_of(2, class), |id| Example {
                id,
                group: row.prompt.to_owned(),
                fields: fields([("prompt", row.prompt), ("response", response)]),
                ..Example::default()
            });
        }
        Ok(())
    })?;
    tally.finish(each);
    Ok(rows)
}

/// Which of two responses is better, in five steps, by an expert a row.
fn instruct_preference(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let mut pairs = Pairs::default();
    let rows = instruct(reading, each, &mut |row| {
        let vote = match row.preference {
            "a-is-better" => FIRST,
            "a-is-slightly-better" => [0.75, 0.25, 0.0],
            "tie" => TIE,
            "b-is-slightly-better" => [0.25, 0.75, 0.0],
            "b-is-better" => SECOND,
            other => return Err(format!("the preference is {other:?}, which is none of the five steps")),
        };
        pairs.vote(row.responses, row.prompt, vote, || Example {
            group: row.prompt.to_owned(),
            fields: fields([("prompt", row.prompt)]),
            ..Example::default()
        });
        Ok(())
    })?;
    pairs.finish(each);
    Ok(rows)
}

/// An expert's judgement of two responses.
struct Judged<'a> {
    prompt: &'a str,
    responses: [&'a str; 2],
    acceptable: [&'a str; 2],
    preference: &'a str,
}

/// Joins the sheet of judgements with the instances that were judged. The sheet has the texts too, but a text that
/// begins with `=` was computed as a formula there.
fn instruct(
    reading: &Reading<'_>,
    each: &mut dyn FnMut(Item),
    row: &mut dyn FnMut(Judged<'_>) -> Result<(), String>,
) -> Result<usize, DataError> {
    let files = files(reading)?;
    let file = named(reading, &files, ".jsonl")?;
    // The instances of an id are of different pairs of models.
    let mut prompts: HashMap<String, String> = HashMap::new();
    let mut completions: HashMap<(String, String), String> = HashMap::new();
    json_lines(file, each, &mut |line, json| {
        let (Some(id), Some(prompt)) = (text_at(&json, "id"), text_at(&json, "prompt")) else {
            return Err(file.problem(line, "there is no \"id\" or no \"prompt\""));
        };
        let (models, texts) = (json.find("completions.*.model"), json.find("completions.*.completion"));
        if models.is_empty() || models.len() != texts.len() {
            return Err(file.problem(line, "\"completions\" is not a list of models and their completions"));
        }
        for (model, text) in models.into_iter().zip(texts) {
            let (Some(model), Some(text)) = (model.scalar(), text.scalar()) else {
                return Err(file.problem(line, "a model or completion is not a text"));
            };
            completions.insert((id.clone(), model), text.trim().to_owned());
        }
        prompts.insert(id, prompt.trim().to_owned());
        Ok(())
    })?;

    let file = named(reading, &files, ".xlsx")?;
    let sheet = sheet_rows(file)?;
    let mut cells = sheet.iter();
    let (_, head) = cells.next().ok_or_else(|| DataError::Form {
        file: file.name.clone(),
        problem: "its first sheet is empty; the first row must name the columns".into(),
    })?;
    let names: Vec<String> = head.values().map(|cell| cell_text(cell).unwrap_or_default()).collect();
    let numbers: Vec<u32> = head.keys().copied().collect();
    let columns = [
        "instance_id",
        "model_a",
        "model_b",
        "completion_a_is_acceptable",
        "completion_b_is_acceptable",
        "preference",
    ];
    let places = places(file, &names.iter().map(String::as_str).collect::<Vec<_>>(), columns)?;
    let mut rows = 0;
    for (line, cells) in cells {
        rows += 1;
        // An error in one of these cells is none of the labels and models that are known, and is reported as such.
        let texts = places.map(|place| {
            let cell = numbers.get(place).and_then(|number| cells.get(number));
            cell.map_or_else(String::new, |cell| cell_text(cell).unwrap_or_else(|error| error))
        });
        let [id, model_a, model_b, acceptable_a, acceptable_b, preference] =
            texts.each_ref().map(|text| text.trim());
        let done = match prompts.get(id) {
            None => Err(format!("there is no instance {id:?}")),
            Some(prompt) => {
                let response = |model: &str| {
                    let key = (id.to_owned(), model.to_owned());
                    completions
                        .get(&key)
                        .map(String::as_str)
                        .ok_or_else(|| format!("the instance {id:?} has no completion of {model:?}"))
                };
                response(model_a).and_then(|a| Ok([a, response(model_b)?])).and_then(|responses| {
                    row(Judged { prompt, responses, acceptable: [acceptable_a, acceptable_b], preference })
                })
            }
        };
        if let Err(problem) = done {
            each(Err(file.problem(*line, &problem)));
        }
    }
    Ok(rows)
}

/// Which of two last replies is less harmful: the dialogue with the chosen one and the one with the other.
fn harmless_reply(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    const REPLY: &str = "\n\nAssistant:";
    let mut pairs = Pairs::default();
    let mut rows = 0;
    for file in files(reading)? {
        rows += json_lines(&file, each, &mut |line, json| {
            let (Some(chosen), Some(rejected)) = (text_at(&json, "chosen"), text_at(&json, "rejected"))
            else {
                return Err(file.problem(line, "there is no \"chosen\" or no \"rejected\""));
            };
            let (Some((before, chosen)), Some((before_other, rejected))) =
                (chosen.rsplit_once(REPLY), rejected.rsplit_once(REPLY))
            else {
                return Err(file.problem(line, "a dialogue has no reply of the assistant"));
            };
            if before != before_other {
                return Err(file.problem(line, "the two dialogues differ before the last reply"));
            }
            let dialogue = before.trim();
            let opening = dialogue.split(REPLY).next().unwrap_or_default();
            pairs.vote([chosen.trim(), rejected.trim()], dialogue, FIRST, || Example {
                group: opening.to_owned(),
                fields: fields([("prompt", dialogue)]),
                ..Example::default()
            });
            Ok(())
        })?;
    }
    pairs.finish(each);
    Ok(rows)
}

/// Which of two models' replies a crowd prefers: pairs, and votes on them.
fn crowd_preference(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    struct Pair {
        prompt: String,
        slug: Option<String>,
        results: [String; 2],
    }
    let files = files(reading)?;
    let file = named(reading, &files, "pairs-crowd.jsonl")?;
    let mut known: HashMap<String, Pair> = HashMap::new();
    json_lines(file, each, &mut |line, json| {
        let all = ["id", "text", "result_x", "result_y"].map(|name| text_at(&json, name));
        let [Some(id), Some(prompt), Some(x), Some(y)] = all else {
            return Err(
                file.problem(line, "one of \"id\", \"text\", \"result_x\" and \"result_y\" is missing")
            );
        };
        let results = [x.trim().to_owned(), y.trim().to_owned()];
        known.insert(id, Pair { prompt: prompt.trim().to_owned(), slug: text_at(&json, "slug"), results });
        Ok(())
    })?;
    let file = named(reading, &files, "crowd-comparisons.csv")?;
    let mut pairs = Pairs::default();
    let rows = table(file, Table::Quoted(b','), ["id", "winner"], each, &mut |line, [id, winner]| {
        let vote = match winner {
            "left" => FIRST,
            "right" => SECOND,
            "tie" => TIE,
            other => {
                return Err(file
                    .problem(line, &format!("the winner is {other:?}, not \"left\", \"right\" or \"tie\"")));
            }
        };
        let Some(pair) = known.get(id) else {
            return Err(file.problem(line, &format!("there is no pair {id:?}")));
        };
        let [x, y] = &pair.results;
        pairs.vote([x, y], &pair.prompt, vote, || Example {
            group: pair.prompt.clone(),
            subset: pair.slug.clone(),
            fields: fields([("prompt", &pair.prompt)]),
            ..Example::default()
        });
        Ok(())
    })?;
    pairs.finish(each);
    Ok(rows)
}

/// Collects votes on pairs of responses, however the two were ordered, and gives each pair as one example.
#[derive(Default)]
struct Pairs(Tally);

impl Pairs {
    /// Adds a vote on two responses to what `about` names. Without a text, or between equal ones, there is nothing to
    /// choose, and the pair is left out.
    fn vote(
        &mut self,
        [a, b]: [&str; 2],
        about: &str,
        [for_a, for_b, tie]: Vote,
        make: impl FnOnce() -> Example,
    ) {
        if a.is_empty() || b.is_empty() || a == b {
            return;
        }
        let lesser = a.min(b);
        let greater = a.max(b);
        let id = id_of(&[about, lesser, greater]);
        // The last bit of a hash is as good as a coin.
        let swapped = id.bytes().next_back().is_some_and(|digit| digit % 2 == 1);
        let (first, second) = if swapped { (greater, lesser) } else { (lesser, greater) };
        let vote = if first == a { [for_a, for_b, tie] } else { [for_b, for_a, tie] };
        self.0.add(&[about, lesser, greater], &vote, |id| Example {
            id,
            responses: Some([first.to_owned(), second.to_owned()]),
            ..make()
        });
    }

    fn finish(self, each: &mut dyn FnMut(Item)) {
        self.0.finish(each);
    }
}

/// Collects raters' votes on items, in the order in which items are first met.
#[derive(Default)]
pub(super) struct Tally {
    places: HashMap<String, usize>,
    items: Vec<(Example, Vec<f64>, u32)>,
}

impl Tally {
    /// Adds a rater's vote, the share that it gives to each class, to the item of these texts; `make` is called with the
    /// id of an item that is new.
    pub(super) fn add(&mut self, key: &[&str], vote: &[f64], make: impl FnOnce(String) -> Example) {
        let id = id_of(key);
        let place = *self.places.entry(id.clone()).or_insert_with(|| {
            self.items.push((make(id), vec![0.0; vote.len()], 0));
            self.items.len() - 1
        });
        let (_, sums, raters) = &mut self.items[place];
        sums.iter_mut().zip(vote).for_each(|(sum, share)| *sum += share);
        *raters += 1;
    }

    /// Hands all items on, each with the mean of its raters' votes.
    pub(super) fn finish(self, each: &mut dyn FnMut(Item)) {
        for (example, mut shares, raters) in self.items {
            shares.iter_mut().for_each(|sum| *sum /= f64::from(raters));
            let target = match (&example.responses, &shares[..]) {
                (Some(_), &[first, second, tie]) => Target::Preference { first, second, tie },
                _ => Target::Options(shares),
            };
            each(Ok(Example { target, raters, ..example }));
        }
    }
}

/// The vote for one class of several.
pub(super) fn one_of(classes: usize, class: usize) -> Vec<f64> {
    (0..classes).map(|index| if index == class { 1.0 } else { 0.0 }).collect()
}

/// An id that is the same wherever the texts stand: 24 digits of their hash.
fn id_of(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.len().to_le_bytes());
        hash.update(text.as_bytes());
    }
    let mut id = String::new();
    for byte in &hash.finalize()[..12] {
        // Writing to a text never fails.
        let _ = write!(id, "{byte:02x}");
    }
    id
}

/// Texts by name.
pub(super) fn fields<const N: usize>(texts: [(&str, &str); N]) -> std::collections::BTreeMap<String, String> {
    texts.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

/// The task's files.
pub(super) fn files(reading: &Reading<'_>) -> Result<Vec<Found>, DataError> {
    find(&reading.folder, &reading.task.source.repository, &reading.task.reader.files)
}

/// The file whose name ends so.
fn named<'f>(reading: &Reading<'_>, files: &'f [Found], end: &str) -> Result<&'f Found, DataError> {
    files.iter().find(|file| file.name.ends_with(end)).ok_or_else(|| DataError::NoFile {
        repository: reading.task.source.repository.clone(),
        file: format!("*{end} among those that {}.toml names", reading.task.name),
    })
}

/// How a table is written.
#[derive(Clone, Copy)]
pub(super) enum Table {
    /// Cells may be quoted; the delimiter.
    Quoted(u8),
    /// A quote is a character like any other; the delimiter.
    Raw(u8),
}

/// A place in a file, for what is wrong there.
pub(super) struct Place<'f> {
    file: &'f Found,
    line: usize,
}

impl Place<'_> {
    fn wrong(&self, what: &str) -> Problem {
        self.file.problem(self.line, what)
    }
}

/// What is wrong in a file.
pub(super) trait Wrong {
    /// A row that was skipped.
    fn problem(&self, line: usize, what: &str) -> Problem;
}

impl Wrong for Found {
    fn problem(&self, line: usize, what: &str) -> Problem {
        Problem { file: self.name.clone(), line: Some(line), message: format!("{what}; the row was skipped") }
    }
}

/// What is done with the cells of a line.
type EachLine<'r> = &'r mut dyn FnMut(&Place<'_>, &[&str]) -> Result<(), Problem>;

/// What is done with the cells of a row that were asked for, and its physical line.
type EachRow<'r, const N: usize> = &'r mut dyn FnMut(usize, [&str; N]) -> Result<(), Problem>;

/// Reads a table without a line of names. Gives the number of its rows.
fn lines(
    file: &Found,
    form: Table,
    each: &mut dyn FnMut(Item),
    row: EachLine<'_>,
) -> Result<usize, DataError> {
    let mut records = match form {
        Table::Quoted(delimiter) => Records::quoted(file.open()?, delimiter),
        Table::Raw(delimiter) => Records::raw(file.open()?, delimiter),
    };
    let mut rows = 0;
    while let Some(record) = records.next().map_err(|error| file.unreadable(&error))? {
        rows += 1;
        let place = Place { file, line: record.line };
        let cells: Result<Vec<&str>, _> = record.cells.iter().map(|cell| std::str::from_utf8(cell)).collect();
        let done = match cells {
            _ if record.unclosed => Err(place.wrong("a quote is opened and never closed")),
            Err(_) => Err(place.wrong("it is not UTF-8")),
            Ok(cells) => row(&place, &cells),
        };
        if let Err(problem) = done {
            each(Err(problem));
        }
    }
    Ok(rows)
}

/// Reads a table with a line of names. Gives the number of rows below it.
pub(super) fn table<const N: usize>(
    file: &Found,
    form: Table,
    columns: [&str; N],
    each: &mut dyn FnMut(Item),
    row: EachRow<'_, N>,
) -> Result<usize, DataError> {
    let mut head: Option<(usize, [usize; N])> = None;
    let mut wrong = None;
    let rows = lines(file, form, each, &mut |at, cells| {
        if wrong.is_some() {
            return Ok(());
        }
        let Some((width, places)) = head else {
            match places(file, cells, columns) {
                Ok(places) => head = Some((cells.len(), places)),
                Err(error) => wrong = Some(error),
            }
            return Ok(());
        };
        if cells.len() != width {
            return Err(
                at.wrong(&format!("there are {} cells, and the line of names has {width}", cells.len()))
            );
        }
        row(at.line, places.map(|place| cells.get(place).copied().unwrap_or_default()))
    })?;
    match (wrong, head) {
        (Some(error), _) => Err(error),
        (None, None) => Err(DataError::Form { file: file.name.clone(), problem: "it is empty".into() }),
        (None, Some(_)) => Ok(rows - 1),
    }
}

/// Where the columns of these names are.
fn places<const N: usize>(file: &Found, names: &[&str], columns: [&str; N]) -> Result<[usize; N], DataError> {
    let mut places = [0; N];
    for (place, column) in places.iter_mut().zip(columns) {
        *place = names.iter().position(|name| name.trim() == column).ok_or_else(|| DataError::Form {
            file: file.name.clone(),
            problem: format!("there is no column {column:?} among {}", names.join(", ")),
        })?;
    }
    Ok(places)
}

/// Reads a file of one JSON value per line. Gives the number of lines that are not empty.
pub(super) fn json_lines(
    file: &Found,
    each: &mut dyn FnMut(Item),
    row: &mut dyn FnMut(usize, Json) -> Result<(), Problem>,
) -> Result<usize, DataError> {
    let mut rows = 0;
    let bytes = file.bytes()?;
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        rows += 1;
        let done = match serde_json::from_slice(line) {
            Ok(json) => row(index + 1, json),
            Err(error) => Err(file.problem(index + 1, &format!("it is not JSON ({error})"))),
        };
        if let Err(problem) = done {
            each(Err(problem));
        }
    }
    Ok(rows)
}

/// The text or number at a path; `None` where there is none or something else.
pub(super) fn text_at(json: &Json, path: &str) -> Option<String> {
    match json.find(path)[..] {
        [value] => value.scalar(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples(votes: &[([&str; 2], Vote)]) -> Vec<Example> {
        let mut pairs = Pairs::default();
        for (responses, vote) in votes {
            pairs.vote(*responses, "about", *vote, Example::default);
        }
        let mut examples = Vec::new();
        pairs.finish(&mut |item| examples.extend(item));
        examples
    }

    /// The share of the votes that a response has, wherever it stands.
    fn share(example: &Example, response: &str) -> Option<f64> {
        let Target::Preference { first, second, .. } = example.target else { return None };
        let place = example.responses.as_ref()?.iter().position(|text| text == response)?;
        Some([first, second][place])
    }

    #[test]
    fn votes_follow_the_text_and_not_the_place() {
        // By hand: "tea" has 1, 1 and 0.25 of three votes, "coffee" 0.75.
        let votes =
            [(["tea", "coffee"], FIRST), (["coffee", "tea"], SECOND), (["coffee", "tea"], [0.75, 0.25, 0.0])];
        let found = examples(&votes);
        assert_eq!((found.len(), found[0].raters), (1, 3));
        assert_eq!((share(&found[0], "tea"), share(&found[0], "coffee")), (Some(0.75), Some(0.25)));
        let mut turned = votes;
        turned.reverse();
        assert_eq!(examples(&turned), found);
    }

    #[test]
    fn nothing_is_chosen_between_equal_or_empty_texts() {
        assert_eq!(examples(&[(["tea", "tea"], TIE), (["tea", ""], FIRST), (["", "tea"], SECOND)]), []);
    }

    #[test]
    fn where_the_chosen_one_always_comes_first_it_stands_first_in_half_of_the_pairs() {
        // A fair coin's 1,000 throws are within 500 ± 79 (five standard deviations of 15.8).
        let texts: Vec<[String; 2]> =
            (0..1000).map(|number| [format!("good {number}"), format!("bad {number}")]).collect();
        let votes: Vec<([&str; 2], Vote)> =
            texts.iter().map(|[good, bad]| ([good.as_str(), bad.as_str()], FIRST)).collect();
        let first = examples(&votes).iter().filter(|example| example.target.majority() == Some(0)).count();
        assert!((421..=579).contains(&first), "{first}");
    }
}
