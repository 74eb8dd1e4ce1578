//! Retort's records and FLASK's reviews.

use retort_rubric::Skill;
use retort_stats::{Scale, words};
use serde_json::{Map, Value};

use super::labels::{Waiting, annotation, names};
use super::{Here, id_of, kind, plain};
use crate::{ChecklistCounts, Row, Score, SkillScore};

/// The record that is read here.
const RECORD: &str = "retort.judgement/1";

/// FLASK's scale.
const FLASK_SCALE: (f64, f64) = (1.0, 5.0);

/// A record of Retort's.
pub(super) fn judgement(
    object: &Map<String, Value>,
    model: Option<&String>,
    here: &mut Here<'_>,
) -> Option<Waiting> {
    if let Some(format) = object.get("format").and_then(Value::as_str)
        && format != RECORD
    {
        let instead = if format.starts_with("retort.reward/") {
            "rewards have no scale, and a profile is made of scores by rubrics"
        } else {
            "this version reads retort.judgement/1"
        };
        here.problem("format", format!("the record is {format:?}, and {instead}; skipped"));
        return None;
    }
    let Some(verdicts) = object.get("verdicts").and_then(Value::as_array) else {
        here.problem("verdicts", "the record has no list of verdicts; skipped");
        return None;
    };
    let prompt = object.get("input").and_then(|input| input.get("prompt_sha256")).and_then(Value::as_str);
    let prompt = prompt.map(str::to_ascii_lowercase);
    let number = id_of(object, &["idx", "question_id", "id"]);
    let Some(id) = prompt.clone().or_else(|| number.clone()) else {
        here.problem("input.prompt_sha256", "nothing says which prompt the record is about; skipped");
        return None;
    };
    let mut scores = Vec::with_capacity(verdicts.len());
    let mut truncated = false;
    for (index, verdict) in verdicts.iter().enumerate() {
        let field = format!("verdicts[{index}]");
        let Some(rubric_id) = verdict.get("rubric_id").and_then(Value::as_str).filter(|id| !id.is_empty())
        else {
            here.problem(
                format!("{field}.rubric_id"),
                "the verdict does not name its rubric; it is left out",
            );
            continue;
        };
        let text = |key: &str| verdict.get(key).and_then(Value::as_str).map(str::to_owned);
        let found = verdict.get("verdict").unwrap_or(&Value::Null);
        truncated |= found.get("truncated").and_then(Value::as_bool).unwrap_or(false);
        let score = outcome(found).unwrap_or_else(|(key, why)| {
            here.problem(format!("{field}.verdict{key}"), format!("{why}; counted as unscored"));
            Score::Unscored { why: "the verdict could not be read".to_owned() }
        });
        scores.push(SkillScore {
            rubric_id: rubric_id.to_owned(),
            rubric_name: text("rubric_name").filter(|name| !name.trim().is_empty()),
            rubric_sha256: text("rubric_sha256"),
            score,
        });
    }
    let judge = object.get("model").and_then(judge);
    let own = object.get("response_model").or_else(|| object.get("model_id")).and_then(Value::as_str);
    let mut row = Row::new(id, own.map(str::to_owned).or_else(|| model.cloned()), scores);
    row.annotation = annotation(object, here);
    row.checklist =
        object.get("checklist").filter(|value| !value.is_null()).and_then(|value| checklist(value, here));
    row.judge = judge;
    row.wording = object.get("wording").and_then(|wording| match wording {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    });
    row.truncated = truncated;
    let words = object.get("input").and_then(|input| input.get("response_words")).and_then(Value::as_u64);
    row.words = words.and_then(|words| usize::try_from(words).ok());
    Some(Waiting { row, number, prompt_sha256: prompt, all_skills: false })
}

/// A verdict of a record; or the key that is wrong, with a dot before it, and what is.
fn outcome(found: &Value) -> Result<Score, (&'static str, String)> {
    let number = |key: &'static str, name: &'static str| {
        found.get(name).and_then(Value::as_f64).ok_or((key, "a number is missing".to_owned()))
    };
    match found.get("kind").and_then(Value::as_str) {
        Some("scored") => {
            let (min, max) = (number(".min", "min")?, number(".max", "max")?);
            let value = number(".expected", "expected")?;
            let scale = Scale::new(min, max).map_err(|error| (".min", error.to_string()))?;
            if scale.normalise(value).is_none() {
                return Err((".expected", format!("{value} lies outside the scale of {scale}")));
            }
            Ok(Score::Value { value, scale })
        }
        Some("not_applicable") => Ok(Score::NotApplicable),
        Some("unscored") => {
            let text = |key: &str| found.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
            Ok(match text("code") {
                Some("not_applicable") => Score::NotApplicable,
                // The name and not the message, which may hold figures and would be another each time.
                code => {
                    Score::Unscored { why: code.or(text("message")).unwrap_or("no reason given").to_owned() }
                }
            })
        }
        Some(other) => Err((".kind", format!("there is no kind of verdict {other:?}"))),
        None => Err((".kind", "the kind of verdict is missing".to_owned())),
    }
}

/// The judge's name, with what makes it another judge.
fn judge(model: &Value) -> Option<String> {
    let mut judge = model.get("name")?.as_str()?.to_owned();
    if let Some(hash) = model.get("sha256").and_then(Value::as_str) {
        let short: String = hash.chars().take(12).collect();
        judge.push_str(&format!(" (SHA-256 {short}…)"));
    }
    if let Some(adapter) = model.get("adapter").filter(|adapter| !adapter.is_null()) {
        let name = adapter.get("name").and_then(Value::as_str).unwrap_or("without a name");
        judge.push_str(&format!(" with the adapter {name}"));
        if let Some(strength) = adapter.get("strength").and_then(Value::as_f64) {
            judge.push_str(&format!(" at strength {strength}"));
        }
    }
    Some(judge)
}

fn checklist(value: &Value, here: &mut Here<'_>) -> Option<ChecklistCounts> {
    let Some(counts) = value.get("score").filter(|score| score.is_object()) else {
        here.problem("checklist.score", "the checklist has no counts; it is left out");
        return None;
    };
    let mut count = |key: &'static str| match counts.get(key) {
        None | Some(Value::Null) => 0,
        Some(found) => found.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_else(|| {
            here.problem(format!("checklist.score.{key}"), format!("{found} is no count; taken as 0"));
            0
        }),
    };
    let (verified, judged, not_applicable) = (count("verified"), count("judged"), count("not_applicable"));
    let unscored = count("unscored");
    let met = count("met") + count("verified_met") + count("judged_met");
    // A plain number, or a figure that may be undefined.
    let score = counts.get("score").map(|score| score.get("value").unwrap_or(score));
    let score = score.filter(|score| !score.is_null()).and_then(|score| {
        let within = score.as_f64().filter(|score| (0.0..=1.0).contains(score));
        if within.is_none() {
            here.problem("checklist.score.score", format!("{score} is no score from 0 to 1; it is left out"));
        }
        within
    });
    Some(ChecklistCounts { score, verified, judged, not_applicable, unscored, met })
}

/// A review of FLASK's.
pub(super) fn review(
    object: &Map<String, Value>,
    model: Option<&String>,
    here: &mut Here<'_>,
) -> Option<Waiting> {
    let Some(number) = id_of(object, &["question_id", "idx"]) else {
        here.problem("question_id", "the review's number is neither a number nor a text; skipped");
        return None;
    };
    let given = match object.get("score") {
        Some(Value::Object(given)) => given,
        other => {
            let found = other.map_or("missing", kind);
            here.problem(
                "score",
                format!("the scores must be an object of skills and this is {found}; skipped"),
            );
            return None;
        }
    };
    let mut scores: Vec<SkillScore> = Vec::with_capacity(given.len());
    for (key, value) in given {
        let Some(skill) = skill(key) else {
            here.problem(format!("score.{key}"), format!("there is no skill {key:?}; its score is left out"));
            continue;
        };
        if scores.iter().any(|score| score.rubric_id == skill.id()) {
            here.problem(format!("score.{key}"), "the skill has a score already; the first is kept");
            continue;
        }
        let score = flask_score(value).unwrap_or_else(|why| {
            here.problem(format!("score.{key}"), format!("{why}; counted as unscored"));
            Score::Unscored { why: "no score from 1 to 5".to_owned() }
        });
        let (rubric_id, rubric_name) = names(skill);
        scores.push(SkillScore { rubric_id, rubric_name, rubric_sha256: None, score });
    }
    let own = object.get("model_id").and_then(Value::as_str).filter(|name| !name.trim().is_empty());
    let mut row = Row::new(number.clone(), own.map(str::to_owned).or_else(|| model.cloned()), scores);
    row.annotation = annotation(object, here);
    row.words = object.get("target_txt").and_then(Value::as_str).map(|text| words(text).len());
    Some(Waiting { row, number: Some(number), prompt_sha256: None, all_skills: true })
}

/// 1 to 5 as a number or a text, or "N/A". Nothing is guessed from other texts (P6).
fn flask_score(value: &Value) -> Result<Score, String> {
    let (min, max) = FLASK_SCALE;
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) if matches!(plain(text).as_str(), "na" | "notapplicable") => {
            return Ok(Score::NotApplicable);
        }
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let Some(value) = number.filter(|number| (min..=max).contains(number)) else {
        return Err(format!("{value} is neither a score from 1 to 5 nor \"N/A\""));
    };
    Scale::new(min, max).map(|scale| Score::Value { value, scale }).map_err(|error| error.to_string())
}

/// FLASK's skill of this name. Its files write the names in several ways, and some only the word that tells the skill
/// from the others ("commonsense", "robustness").
pub(crate) fn skill(name: &str) -> Option<Skill> {
    let wanted = plain(name);
    Skill::ALL.into_iter().find(|skill| {
        let id = skill.id();
        let short = id.strip_prefix("logical_").or_else(|| id.strip_suffix("_understanding")).unwrap_or(id);
        wanted == plain(id) || wanted == short
    })
}
