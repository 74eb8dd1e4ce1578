//! Dialogues, stories, explanations and long answers.

use super::Reader;
use super::preference::{Table, Tally, Wrong as _, fields, files, one_of, table, text_at};
use crate::read::spec::files::Found;
use crate::read::spec::json::Json;
use crate::read::{Item, Reading};
use crate::{DataError, Example};

pub(super) const READERS: &[(&str, Reader)] = &[
    ("story_quality", story_quality),
    ("answer_utility", answer_utility),
    ("fed_reply_interesting", |reading, each| fed(reading, each, Level::Reply, "Interesting")),
    ("fed_reply_engaging", |reading, each| fed(reading, each, Level::Reply, "Engaging")),
    ("fed_reply_specific", |reading, each| fed(reading, each, Level::Reply, "Specific")),
    ("fed_reply_relevant", |reading, each| fed(reading, each, Level::Reply, "Relevant")),
    ("fed_reply_correct", |reading, each| fed(reading, each, Level::Reply, "Correct")),
    ("fed_reply_appropriate", |reading, each| fed(reading, each, Level::Reply, "Semantically appropriate")),
    ("fed_reply_fluent", |reading, each| fed(reading, each, Level::Reply, "Fluent")),
    ("fed_reply_overall", |reading, each| fed(reading, each, Level::Reply, "Overall")),
    ("fed_dialogue_coherent", |reading, each| fed(reading, each, Level::Dialogue, "Coherent")),
    ("fed_dialogue_consistent", |reading, each| fed(reading, each, Level::Dialogue, "Consistent")),
    ("fed_dialogue_depth", |reading, each| fed(reading, each, Level::Dialogue, "Depth")),
    ("fed_dialogue_recovery", |reading, each| fed(reading, each, Level::Dialogue, "Error recovery")),
    ("fed_dialogue_informative", |reading, each| fed(reading, each, Level::Dialogue, "Informative")),
    ("fed_dialogue_overall", |reading, each| fed(reading, each, Level::Dialogue, "Overall")),
    ("explanation_acceptable", explanation_acceptable),
    ("explanation_factual", |reading, each| {
        let classes = [("-9", None), ("-1", Some(0)), ("0", Some(1)), ("1", Some(2))];
        explanation(reading, each, "Answer.generality_factuality", &classes)
    }),
    ("explanation_general", |reading, each| {
        let classes = [("-9", Some(0)), ("-1", Some(1)), ("0", Some(1)), ("1", Some(1))];
        explanation(reading, each, "Answer.generality_factuality", &classes)
    }),
    ("explanation_grammatical", |reading, each| explanation(reading, each, "Answer.grammar", &NO_YES)),
    ("explanation_new", |reading, each| explanation(reading, each, "Answer.new_info", &NO_YES)),
    ("explanation_supporting", |reading, each| {
        let classes = [("", None), ("-1", Some(0)), ("1", Some(1))];
        explanation(reading, each, "Answer.supports_label", &classes)
    }),
    ("explanation_sufficient", |reading, each| {
        let classes = [("", None), ("-1", Some(0)), ("0", Some(1)), ("1", Some(0))];
        explanation(reading, each, "Answer.amount_info", &classes)
    }),
];

/// What a cell means: the option at this place, or a rater who said nothing.
type Classes<'a> = [(&'a str, Option<usize>)];
const NO_YES: [(&str, Option<usize>); 2] = [("-1", Some(0)), ("1", Some(1))];

/// How natural, coherent or interesting a story is: a rater's score from 1 to 5 a row.
fn story_quality(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let options = reading.task.options.len();
    let mut tally = Tally::default();
    let mut rows = 0;
    let columns = ["INPUT:story", "INPUT:system", "INPUT:content_plan_id", "OUTPUT:category"];
    for file in files(reading)? {
        rows +=
            table(&file, Table::Quoted(b'\t'), columns, each, &mut |line, [story, system, plan, score]| {
                let class = score_of(score, options).map_err(|problem| file.problem(line, &problem))?;
                let story = match python_bytes(story.trim()) {
                    None => story.trim().to_owned(),
                    Some(Some(text)) => text.trim().to_owned(),
                    Some(None) => {
                        return Err(file.problem(line, "the story is not a whole literal of bytes in UTF-8"));
                    }
                };
                if story.is_empty() {
                    return Err(file.problem(line, "the story is empty"));
                }
                tally.add(&[&story], &one_of(options, class), |id| Example {
                    id,
                    group: format!("content plan {}", plan.trim()),
                    subset: Some(system.trim().to_owned()),
                    fields: fields([("response", &story)]),
                    ..Example::default()
                });
                Ok(())
            })?;
    }
    tally.finish(each);
    Ok(rows)
}

/// The place of a score among options that are 1, 2, ….
fn score_of(score: &str, options: usize) -> Result<usize, String> {
    let class = score.trim().parse::<usize>().ok().and_then(|score| score.checked_sub(1));
    class
        .filter(|&class| class < options)
        .ok_or_else(|| format!("the score is {score:?}, which is not a whole number from 1 to {options}"))
}

/// The text of a literal of bytes as Python writes them, `b'…'` or `b"…"`: `None` where it is no such literal,
/// `Some(None)` where it is broken or not UTF-8.
fn python_bytes(text: &str) -> Option<Option<String>> {
    let quote = ['\'', '"'].into_iter().find(|quote| text.starts_with(&format!("b{quote}")))?;
    let Some(inside) = text[2..].strip_suffix(quote) else { return Some(None) };
    let mut bytes = Vec::with_capacity(inside.len());
    let mut rest = inside.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let [escape, after @ ..] = rest else { return Some(None) };
        rest = after;
        match escape {
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'\\' | b'\'' | b'"' => bytes.push(*escape),
            b'x' => {
                let byte = rest
                    .get(..2)
                    .and_then(|digits| std::str::from_utf8(digits).ok())
                    .and_then(|digits| u8::from_str_radix(digits, 16).ok());
                let Some(byte) = byte else { return Some(None) };
                bytes.push(byte);
                rest = &rest[2..];
            }
            _ => return Some(None),
        }
    }
    Some(String::from_utf8(bytes).ok())
}

/// What FED's raters judged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// The last reply of a dialogue.
    Reply,
    /// A whole dialogue.
    Dialogue,
}

/// One of FED's dimensions: numbers from 0 on, one a rater, or `N/A (why)`.
fn fed(
    reading: &Reading<'_>,
    each: &mut dyn FnMut(Item),
    level: Level,
    dimension: &str,
) -> Result<usize, DataError> {
    let options = reading.task.options.len();
    let mut rows = 0;
    for file in files(reading)? {
        let records = match document(&file)? {
            Json::List(records) => records,
            other => return Err(form(&file, &format!("it is {} where a list should be", other.what()))),
        };
        rows += records.len();
        let is_reply = |record: &Json| !record.find("response").is_empty();
        let dialogues: Vec<String> = records
            .iter()
            .filter(|record| !is_reply(record))
            .filter_map(|record| text_at(record, "context"))
            .collect();
        for (index, record) in records.iter().enumerate() {
            let number = index + 1;
            if is_reply(record) != (level == Level::Reply) {
                continue;
            }
            match fed_example(record, dimension, options, &dialogues) {
                Ok(Some(example)) => {
                    each(Ok(Example { id: format!("{}#{number}", file.name), ..example }));
                }
                Ok(None) => {}
                Err(problem) => each(Err(file.problem(number, &problem))),
            }
        }
    }
    Ok(rows)
}

/// The example of a record; `None` where no rater said anything.
fn fed_example(
    record: &Json,
    dimension: &str,
    options: usize,
    dialogues: &[String],
) -> Result<Option<Example>, String> {
    let Some(dialogue) = text_at(record, "context").filter(|text| !text.trim().is_empty()) else {
        return Err("there is no text in \"context\"".into());
    };
    let labels = match record.find(&format!("annotations.{dimension}"))[..] {
        [Json::List(labels)] => labels,
        _ => return Err(format!("there is no list of labels in annotations.{dimension:?}")),
    };
    let mut shares = vec![0.0; options];
    let mut raters = 0_u32;
    for label in labels {
        let label = label.scalar().unwrap_or_default();
        if label.trim_start().starts_with("N/A") {
            continue;
        }
        let share = label.trim().parse::<usize>().ok().and_then(|class| shares.get_mut(class));
        let Some(share) = share else {
            let most = options.saturating_sub(1);
            return Err(format!(
                "a label of {dimension:?} is {label:?}, not a whole number from 0 to {most} or N/A"
            ));
        };
        *share += 1.0;
        raters += 1;
    }
    if raters == 0 {
        return Ok(None);
    }
    shares.iter_mut().for_each(|share| *share /= f64::from(raters));
    // Replies were taken from within the dialogues that were judged as wholes: both must stay on one side of a split.
    let whole = dialogues.iter().find(|whole| whole.starts_with(dialogue.trim_end())).unwrap_or(&dialogue);
    let mut example = Example {
        group: whole.clone(),
        subset: text_at(record, "system"),
        fields: fields([("dialogue", dialogue.trim())]),
        target: crate::Target::Options(shares),
        raters,
        ..Example::default()
    };
    if let Some(response) = text_at(record, "response") {
        let response = response.trim();
        let response = response.strip_prefix("System:").unwrap_or(response).trim();
        if response.is_empty() {
            return Err("the text in \"response\" is empty".into());
        }
        example.fields.insert("response".into(), response.to_owned());
    }
    Ok(Some(example))
}

/// Whether explanations are acceptable. In one kind of file each row has five explanations of a problem and the numbers
/// of those that a rater accepted; in the other, one explanation and -1 or 1.
fn explanation_acceptable(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let mut tally = Tally::default();
    let mut rows = 0;
    for file in files(reading)? {
        if !file.name.contains("acceptability_annotations") {
            rows += explained(&file, each, "Answer.acceptable", &NO_YES, 2, &mut tally)?;
            continue;
        }
        let [one, two] = problem_columns(&file);
        let columns = [
            one,
            two,
            "Input.gold_label",
            "Input.explanation_1",
            "Input.explanation_2",
            "Input.explanation_3",
            "Input.explanation_4",
            "Input.explanation_5",
            "Answer.acceptable",
        ];
        rows += table(&file, Table::Quoted(b','), columns, each, &mut |line, cells| {
            let [one, two, label, texts @ .., accepted] = cells;
            let mut classes = [0; 5];
            for number in accepted.split('|').map(str::trim).filter(|number| !number.is_empty()) {
                let class =
                    number.parse::<usize>().ok().and_then(|number| classes.get_mut(number.wrapping_sub(1)));
                match class {
                    Some(class) => *class = 1,
                    None => {
                        let problem =
                            format!("Answer.acceptable has {number:?}, which is not a number from 1 to 5");
                        return Err(file.problem(line, &problem));
                    }
                }
            }
            let problem = Explained::new(&file, one, two, label);
            for (text, class) in texts.into_iter().zip(classes) {
                // Some problems have fewer than five explanations.
                if !text.trim().is_empty() {
                    problem.add(&mut tally, text, 2, class);
                }
            }
            Ok(())
        })?;
    }
    tally.finish(each);
    Ok(rows)
}

/// One of the questions on single explanations.
fn explanation(
    reading: &Reading<'_>,
    each: &mut dyn FnMut(Item),
    column: &str,
    classes: &Classes<'_>,
) -> Result<usize, DataError> {
    let mut tally = Tally::default();
    let mut rows = 0;
    for file in files(reading)? {
        rows += explained(&file, each, column, classes, reading.task.options.len(), &mut tally)?;
    }
    tally.finish(each);
    Ok(rows)
}

/// Reads a file with one explanation, judged by one rater, a row.
fn explained(
    file: &Found,
    each: &mut dyn FnMut(Item),
    column: &str,
    classes: &Classes<'_>,
    options: usize,
    tally: &mut Tally,
) -> Result<usize, DataError> {
    let [one, two] = problem_columns(file);
    let columns = [one, two, "Input.gold_label", "Input.explanation", column];
    table(file, Table::Quoted(b','), columns, each, &mut |line, [one, two, label, text, cell]| {
        let Some((_, class)) = classes.iter().find(|(known, _)| *known == cell.trim()) else {
            return Err(
                file.problem(line, &format!("column {column:?} holds {cell:?}, which is none of its values"))
            );
        };
        if text.trim().is_empty() {
            return Err(file.problem(line, "the explanation is empty"));
        }
        if let Some(class) = *class {
            Explained::new(file, one, two, label).add(tally, text, options, class);
        }
        Ok(())
    })
}

fn is_inference(file: &Found) -> bool {
    file.name.contains("snli")
}

/// The two columns that make up a problem.
fn problem_columns(file: &Found) -> [&'static str; 2] {
    if is_inference(file) {
        ["Input.premise", "Input.hypothesis"]
    } else {
        ["Input.question", "Input.answer_choices"]
    }
}

/// A problem whose answer is explained.
struct Explained {
    prompt: String,
    answer: String,
    group: String,
    subset: &'static str,
}

impl Explained {
    fn new(file: &Found, one: &str, two: &str, label: &str) -> Self {
        let (one, two, label) = (one.trim(), two.trim(), label.trim());
        let (prompt, answer, subset) = if is_inference(file) {
            let question = "Given the premise, is the statement true, false, or neither?";
            // Labels are TRUE, FALSE and neither.
            (format!("Premise: {one}\nStatement: {two}\n{question}"), label.to_lowercase(), "snli")
        } else {
            (format!("Question: {one}\nChoices: {two}"), label.to_owned(), "commonsenseqa")
        };
        Self { prompt, answer, group: one.to_owned(), subset }
    }

    fn add(&self, tally: &mut Tally, text: &str, options: usize, class: usize) {
        let text = text.trim();
        tally.add(&[&self.prompt, &self.answer, text], &one_of(options, class), |id| Example {
            id,
            group: self.group.clone(),
            subset: Some(self.subset.to_owned()),
            fields: fields([("prompt", &self.prompt), ("answer", &self.answer), ("response", text)]),
            ..Example::default()
        });
    }
}

/// How useful answers are: by set, by system, by the question's number.
fn answer_utility(reading: &Reading<'_>, each: &mut dyn FnMut(Item)) -> Result<usize, DataError> {
    let options = reading.task.options.len();
    let mut tally = Tally::default();
    let mut rows = 0;
    for file in files(reading)? {
        let Json::Table(sets) = document(&file)? else {
            return Err(form(&file, "it is not a table of sets"));
        };
        for (set, systems) in &sets {
            let Json::Table(systems) = systems else {
                return Err(form(&file, &format!("{set:?} is not a table of systems")));
            };
            for (system, answers) in systems {
                let Json::Table(answers) = answers else {
                    return Err(form(&file, &format!("{system:?} in {set:?} is not a table of answers")));
                };
                for (key, answer) in answers {
                    rows += 1;
                    // A system's average figures stand among its answers.
                    if answer.find("question").is_empty() && answer.find("output").is_empty() {
                        continue;
                    }
                    if let Err(problem) = rated(answer, set, options, &mut tally) {
                        each(Err(file.problem(rows, &format!("{set}, {system}, {key}: {problem}"))));
                    }
                }
            }
        }
    }
    tally.finish(each);
    Ok(rows)
}

/// Adds an answer and its score. Some systems gave an empty answer, which is left out: there is nothing to read.
fn rated(answer: &Json, set: &str, options: usize, tally: &mut Tally) -> Result<(), String> {
    let text = |name: &str| {
        let text = text_at(answer, name).map(|text| text.trim().to_owned());
        text.ok_or_else(|| format!("there is nothing in {name:?}"))
    };
    let (question, response, score) = (text("question")?, text("output")?, text("utility_score")?);
    let class = score_of(&score, options)?;
    if question.is_empty() {
        return Err("the question is empty".into());
    }
    if response.is_empty() {
        return Ok(());
    }
    tally.add(&[&question, &response], &one_of(options, class), |id| Example {
        id,
        group: question.clone(),
        subset: Some(set.to_owned()),
        fields: fields([("prompt", &question), ("response", &response)]),
        ..Example::default()
    });
    Ok(())
}

/// A file that is one JSON document.
fn document(file: &Found) -> Result<Json, DataError> {
    serde_json::from_slice(&file.bytes()?).map_err(|error| form(file, &format!("it is not JSON: {error}")))
}

fn form(file: &Found, problem: &str) -> DataError {
    DataError::Form { file: file.name.clone(), problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Right texts are what Python's ast.literal_eval(…).decode() gives.
    #[test]
    fn literals_of_bytes_are_decoded() {
        for (text, right) in [
            ("a plain story", None),
            ("b", None),
            ("b'caf\\xc3\\xa9 \\xe2\\x80\\xa6'", Some(Some("café …"))),
            ("b\"a mother 's\\n\\\"love\\\\\"", Some(Some("a mother 's\n\"love\\"))),
            ("b'cut off", Some(None)),
            ("b'half a character \\xc3'", Some(None)),
            ("b'bad \\xg0'", Some(None)),
            ("b'\\'", Some(None)),
        ] {
            assert_eq!(python_bytes(text), right.map(|text| text.map(str::to_owned)), "{text}");
        }
    }

    #[test]
    fn scores_are_whole_numbers_on_the_scale() {
        assert_eq!(score_of(" 5 ", 5), Ok(4));
        for score in ["0", "6", "2.5", "", "-1"] {
            assert!(score_of(score, 5).is_err(), "{score}");
        }
    }
}
