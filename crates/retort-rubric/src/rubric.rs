//! The rubric itself, its canonical form and its hash.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Ability, InvalidRubric};

/// One criterion and the scale on which a response is rated by it.
///
/// Its JSON through serde is the page's `Rubric`: the fields in this order, `null` where one is absent; `weight`,
/// `not_applicable` and an option's `examples` are left out where they are not used. Deserialising trims the texts,
/// checks the rubric as [`Rubric::check`] does, and refuses unknown fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Rubric {
    /// A short name for files and records: letters, digits, `_`, `-` and `.`.
    pub id: String,
    /// The name shown to people, on one line.
    pub name: String,
    /// The FLASK ability that it belongs to; `None` for most custom rubrics.
    pub ability: Option<Ability>,
    /// What is rated.
    pub criterion: String,
    /// The same criterion as a short question.
    pub question: Option<String>,
    /// How much it counts beside other rubrics, in [`aggregate`](crate::aggregate): 1 where nothing is said, finite,
    /// not 0. A negative weight counts points against a response: a criterion worth −5 has the weight −5, and its
    /// options are still ordered from the lowest value, `no` 0, to the highest, `yes` 1.
    #[serde(skip_serializing_if = "is_one")]
    pub weight: f64,
    /// When the rubric does not apply, in words. Where it is given, the judge may answer that it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_applicable: Option<String>,
    /// The scale, lowest value first; two to [`MAX_OPTIONS`](crate::MAX_OPTIONS) options.
    pub options: Vec<RubricOption>,
}

/// One answer on a rubric's scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RubricOption {
    /// What the model answers, such as `4` or `pass`.
    pub label: String,
    /// What the answer is worth.
    pub value: f64,
    /// When to give this answer.
    #[serde(default)]
    pub description: Option<String>,
    /// Responses, or parts of them, that deserve this answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

/// The weight where nothing is said.
const fn one() -> f64 {
    1.0
}

fn is_one(weight: &f64) -> bool {
    *weight == 1.0
}

/// A rubric as it comes out of a file or from the page, before it is trimmed and checked.
#[derive(Deserialize)]
#[serde(rename = "Rubric", deny_unknown_fields)]
struct Unchecked {
    id: String,
    name: String,
    #[serde(default)]
    ability: Option<Ability>,
    criterion: String,
    #[serde(default)]
    question: Option<String>,
    #[serde(default = "one")]
    weight: f64,
    #[serde(default)]
    not_applicable: Option<String>,
    options: Vec<RubricOption>,
}

impl TryFrom<Unchecked> for Rubric {
    type Error = InvalidRubric;

    fn try_from(raw: Unchecked) -> Result<Self, InvalidRubric> {
        let trimmed = |text: String| text.trim().to_owned();
        let rubric = Self {
            id: trimmed(raw.id),
            name: trimmed(raw.name),
            ability: raw.ability,
            criterion: trimmed(raw.criterion),
            question: raw.question.map(trimmed),
            weight: raw.weight,
            not_applicable: raw.not_applicable.map(trimmed),
            options: raw
                .options
                .into_iter()
                .map(|option| RubricOption {
                    label: trimmed(option.label),
                    value: option.value,
                    description: option.description.map(trimmed),
                    examples: option.examples.into_iter().map(trimmed).collect(),
                })
                .collect(),
        };
        rubric.validate()?;
        Ok(rubric)
    }
}

impl RubricOption {
    /// An answer with this label and value, not described.
    #[must_use]
    pub fn new(label: impl Into<String>, value: f64) -> Self {
        Self { label: label.into(), value, description: None, examples: Vec::new() }
    }

    /// The same answer with this description.
    #[must_use]
    pub fn described(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }
}

impl Rubric {
    /// A rubric with these parts, weight 1, and nothing else. It is not checked; [`validate`](Self::validate) does
    /// that.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        criterion: impl Into<String>,
        options: Vec<RubricOption>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            ability: None,
            criterion: criterion.into(),
            question: None,
            weight: 1.0,
            not_applicable: None,
            options,
        }
    }

    /// The option with this label, if there is one.
    #[must_use]
    pub fn option(&self, label: &str) -> Option<&RubricOption> {
        self.options.iter().find(|option| option.label == label)
    }

    /// The rubric as canonical JSON: one text for one content, whatever file it came from.
    ///
    /// It is the JSON of the page's `Rubric` in the form of RFC 8785 (JSON Canonicalization Scheme): no white
    /// space; the keys of every object sorted; the fields `ability`, `criterion`, `id`, `name`, `options` and
    /// `question` of a rubric and `description`, `label` and `value` of an option present, `null` where absent;
    /// texts with only the necessary escapes; numbers as ECMAScript prints them (`1`, `0.5`, `-3`). A number that is
    /// not finite, which no checked rubric holds, is written as `null`. The fields that came later, `weight`,
    /// `not_applicable` and `examples`, are left out where they are not used, so that hashes stay as they are.
    #[must_use]
    pub fn canonical_json(&self) -> String {
        let mut out = String::from("{\"ability\":");
        json_text(&mut out, self.ability.map(Ability::id));
        out.push_str(",\"criterion\":");
        json_text(&mut out, Some(&self.criterion));
        out.push_str(",\"id\":");
        json_text(&mut out, Some(&self.id));
        out.push_str(",\"name\":");
        json_text(&mut out, Some(&self.name));
        if let Some(condition) = &self.not_applicable {
            out.push_str(",\"not_applicable\":");
            json_text(&mut out, Some(condition));
        }
        out.push_str(",\"options\":[");
        for (index, option) in self.options.iter().enumerate() {
            out.push_str(if index == 0 { "{\"description\":" } else { ",{\"description\":" });
            json_text(&mut out, option.description.as_deref());
            for (index, example) in option.examples.iter().enumerate() {
                out.push_str(if index == 0 { ",\"examples\":[" } else { "," });
                json_text(&mut out, Some(example));
            }
            if !option.examples.is_empty() {
                out.push(']');
            }
            out.push_str(",\"label\":");
            json_text(&mut out, Some(&option.label));
            out.push_str(",\"value\":");
            out.push_str(&ecmascript_number(option.value));
            out.push('}');
        }
        out.push_str("],\"question\":");
        json_text(&mut out, self.question.as_deref());
        if self.weight != 1.0 {
            out.push_str(",\"weight\":");
            out.push_str(&ecmascript_number(self.weight));
        }
        out.push('}');
        out
    }

    /// The SHA-256 of [`canonical_json`](Self::canonical_json) in UTF-8, as 64 lower-case hex digits. Any
    /// change of content changes it; the file format, the order of fields and white space around texts do not.
    #[must_use]
    pub fn sha256(&self) -> String {
        let digest = Sha256::digest(self.canonical_json().as_bytes());
        let mut hex = String::with_capacity(64);
        for byte in digest {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        hex
    }
}

/// Appends a JSON string, or `null`. serde_json's escapes are those of RFC 8785.
fn json_text(out: &mut String, text: Option<&str>) {
    match text {
        Some(text) => {
            let _ = write!(out, "{}", serde_json::Value::from(text));
        }
        None => out.push_str("null"),
    }
}

/// A number as ECMAScript's `Number::toString` prints it: the shortest digits that read back as the same
/// number, without an exponent from 1e-6 up to, but not including, 1e21.
fn ecmascript_number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        "null".to_owned()
    } else if size == 0.0 {
        "0".to_owned()
    } else if (1e-6..1e21).contains(&size) {
        format!("{value}")
    } else {
        let text = format!("{value:e}");
        if size < 1.0 { text } else { text.replace('e', "e+") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Rubric {
        Rubric {
            ability: Some(Ability::UserAlignment),
            ..Rubric::new(
                "tone",
                "Tone “polite”",
                "Is the tone\nright?",
                vec![RubricOption::new("bad", -1.0), RubricOption::new("gut", 0.5).described("höflich")],
            )
        }
    }

    /// Every field in use.
    fn full() -> Rubric {
        let mut rubric = Rubric {
            question: Some("Polite?".to_owned()),
            weight: -2.5,
            not_applicable: Some("Nobody is “addressed”.".to_owned()),
            ..sample()
        };
        rubric.options[1].examples = vec!["Guten Tag!".to_owned(), "a\tb".to_owned()];
        rubric
    }

    /// The expected text and hash come from Python, whose `json` and `hashlib` are independent of ours:
    ///
    /// ```python
    /// import hashlib, json
    /// r = {"id": "tone", "name": "Tone “polite”", "ability": "user_alignment",
    ///      "criterion": "Is the tone\nright?", "question": None, "options": [
    ///        {"label": "bad", "value": -1, "description": None},
    ///        {"label": "gut", "value": 0.5, "description": "höflich"}]}
    /// text = json.dumps(r, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    /// print(text, hashlib.sha256(text.encode()).hexdigest())
    /// ```
    #[test]
    fn the_hash_is_that_of_python_over_the_canonical_form() {
        assert_eq!(
            sample().canonical_json(),
            r#"{"ability":"user_alignment","criterion":"Is the tone\nright?","id":"tone","name":"Tone “polite”","options":[{"description":null,"label":"bad","value":-1},{"description":"höflich","label":"gut","value":0.5}],"question":null}"#
        );
        assert_eq!(sample().sha256(), "ea6f816802230ae4555fe76fdec8eb65dea5b25fa02b168bbbe45e65444ba923");
    }

    /// As above, with `r["weight"] = -2.5`, `r["not_applicable"] = "Nobody is “addressed”."`,
    /// `r["question"] = "Polite?"` and `r["options"][1]["examples"] = ["Guten Tag!", "a\tb"]` before the dump.
    #[test]
    fn the_later_fields_are_in_the_canonical_form_where_they_are_used() {
        assert_eq!(
            full().canonical_json(),
            r#"{"ability":"user_alignment","criterion":"Is the tone\nright?","id":"tone","name":"Tone “polite”","not_applicable":"Nobody is “addressed”.","options":[{"description":null,"label":"bad","value":-1},{"description":"höflich","examples":["Guten Tag!","a\tb"],"label":"gut","value":0.5}],"question":"Polite?","weight":-2.5}"#
        );
        assert_eq!(full().sha256(), "30ffdc59519ec3c590b573d8932e83488bfb20ed172d9016156aaeae3a2627a0");
    }

    #[test]
    fn p31_any_change_of_content_changes_the_hash() {
        let original = sample().sha256();
        let changes: [fn(&mut Rubric); 11] = [
            |rubric| rubric.id.push('x'),
            |rubric| rubric.name.push('x'),
            |rubric| rubric.ability = None,
            |rubric| rubric.criterion.push('x'),
            |rubric| rubric.question = Some("x".to_owned()),
            |rubric| rubric.options[0].label.push('x'),
            |rubric| rubric.options[0].value = -2.0,
            |rubric| rubric.options[1].description = None,
            |rubric| rubric.weight = 2.0,
            |rubric| rubric.not_applicable = Some("x".to_owned()),
            |rubric| rubric.options[0].examples.push("x".to_owned()),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let mut rubric = sample();
            change(&mut rubric);
            assert_ne!(rubric.sha256(), original, "change {index}");
        }
    }

    #[test]
    fn numbers_are_printed_as_ecmascript_prints_them() {
        // Right-hand sides: `String(x)` in a JavaScript console.
        for (value, text) in [
            (1.0, "1"),
            (-0.0, "0"),
            (0.1, "0.1"),
            (1e-6, "0.000001"),
            (1.5e-7, "1.5e-7"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-2.5e30, "-2.5e+30"),
            (f64::NAN, "null"),
        ] {
            assert_eq!(ecmascript_number(value), text);
        }
    }

    #[test]
    fn the_json_is_the_pages_interface() {
        // Field by field as in retort-web's types.d.ts.
        assert_eq!(
            serde_json::to_string(&sample()).unwrap(),
            r#"{"id":"tone","name":"Tone “polite”","ability":"user_alignment","criterion":"Is the tone\nright?","question":null,"options":[{"label":"bad","value":-1.0,"description":null},{"label":"gut","value":0.5,"description":"höflich"}]}"#
        );
    }

    #[test]
    fn the_json_holds_the_later_fields_only_where_they_are_used() {
        assert_eq!(
            serde_json::to_string(&full()).unwrap(),
            r#"{"id":"tone","name":"Tone “polite”","ability":"user_alignment","criterion":"Is the tone\nright?","question":"Polite?","weight":-2.5,"not_applicable":"Nobody is “addressed”.","options":[{"label":"bad","value":-1.0,"description":null},{"label":"gut","value":0.5,"description":"höflich","examples":["Guten Tag!","a\tb"]}]}"#
        );
    }

    #[test]
    fn deserialising_checks_and_trims() {
        let good = r#"{"id":"a","name":" A ","criterion":"Is it so?\n","options":[{"label":"n","value":0},{"label":"y","value":1}]}"#;
        let rubric: Rubric = serde_json::from_str(good).unwrap();
        assert_eq!((rubric.name.as_str(), rubric.criterion.as_str()), ("A", "Is it so?"));
        let falling = good.replace("\"value\":1", "\"value\":-1");
        let error = serde_json::from_str::<Rubric>(&falling).unwrap_err().to_string();
        assert!(error.contains("options[1].value"), "{error}");
        let unknown = good.replace("\"id\"", "\"wieght\":2,\"id\"");
        assert!(serde_json::from_str::<Rubric>(&unknown).is_err());
        let weighted = good.replace("\"id\"", "\"weight\":-2,\"not_applicable\":\" Never. \",\"id\"");
        let rubric: Rubric = serde_json::from_str(&weighted).unwrap();
        assert_eq!((rubric.weight, rubric.not_applicable.as_deref()), (-2.0, Some("Never.")));
        let weightless = good.replace("\"id\"", "\"weight\":0,\"id\"");
        let error = serde_json::from_str::<Rubric>(&weightless).unwrap_err().to_string();
        assert!(error.contains("weight"), "{error}");
    }
}
