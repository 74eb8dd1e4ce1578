//! Reading constraints from data.
//!
//! By hand, because what serde derives for an enum with a tag inside buffers every value in a form of its own and reads
//! it again: several times the code, in a page where every kilobyte is downloaded.

use serde::Deserialize;
use serde_json::Value;

use crate::Limit;
use crate::constraint::{Case, Constraint, Place, Unit, Which};

/// Every field that some kind of constraint has.
macro_rules! fields {
    ($($field:ident: $type:ty,)*) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct Raw {
            kind: String,
            $(#[serde(default)] $field: Option<$type>,)*
        }

        impl Raw {
            /// A field that is given and that nobody took.
            fn left_over(&self) -> Option<&'static str> {
                $(if self.$field.is_some() { return Some(stringify!($field)); })*
                None
            }
        }
    };
}

fields! {
    what: Unit,
    limit: Limit,
    text: String,
    inside_words: bool,
    case_sensitive: bool,
    place: Place,
    keys: Vec<String>,
    schema: Value,
    separator: char,
    header: Vec<String>,
    columns: Limit,
    rows: Limit,
    language: String,
    level: u8,
    titles: Vec<String>,
    ordered: bool,
    marker: String,
    by: String,
    parts: Limit,
    case: Case,
    code: String,
    then_answer: bool,
    options: Vec<String>,
    which: Which,
    unit: Unit,
    constraint: Box<Constraint>,
    of: Vec<Constraint>,
    condition: Box<Constraint>,
    then: Box<Constraint>,
}

fn need<T>(field: &mut Option<T>, name: &str) -> Result<T, String> {
    field.take().ok_or_else(|| format!("the field {name} is missing"))
}

impl TryFrom<Raw> for Constraint {
    type Error = String;

    fn try_from(mut raw: Raw) -> Result<Self, String> {
        let kind = std::mem::take(&mut raw.kind);
        let constraint = take(&kind, &mut raw).map_err(|problem| format!("{kind}: {problem}"))?;
        match raw.left_over() {
            Some(field) => Err(format!("{kind}: this kind of constraint has no field {field}")),
            None => Ok(constraint),
        }
    }
}

fn take(kind: &str, raw: &mut Raw) -> Result<Constraint, String> {
    Ok(match kind {
        "count" => {
            Constraint::Count { what: need(&mut raw.what, "what")?, limit: need(&mut raw.limit, "limit")? }
        }
        "phrase" => Constraint::Phrase {
            text: need(&mut raw.text, "text")?,
            limit: raw.limit.take().unwrap_or(Limit::SOME),
            inside_words: raw.inside_words.take().unwrap_or(false),
            case_sensitive: raw.case_sensitive.take().unwrap_or(false),
        },
        "starts" => Constraint::Starts {
            text: need(&mut raw.text, "text")?,
            inside_words: raw.inside_words.take().unwrap_or(false),
            case_sensitive: raw.case_sensitive.take().unwrap_or(false),
        },
        "ends" => Constraint::Ends {
            text: need(&mut raw.text, "text")?,
            inside_words: raw.inside_words.take().unwrap_or(false),
            case_sensitive: raw.case_sensitive.take().unwrap_or(false),
        },
        "json" => Constraint::Json {
            place: raw.place.take().unwrap_or_default(),
            keys: raw.keys.take().unwrap_or_default(),
            schema: raw.schema.take(),
        },
        "csv" => Constraint::Csv {
            place: raw.place.take().unwrap_or_default(),
            separator: raw.separator.take().unwrap_or(','),
            header: raw.header.take().unwrap_or_default(),
            columns: raw.columns.take(),
            rows: raw.rows.take(),
        },
        "table" => Constraint::Table {
            header: raw.header.take().unwrap_or_default(),
            columns: raw.columns.take(),
            rows: raw.rows.take(),
        },
        "code" => Constraint::Code {
            language: need(&mut raw.language, "language")?,
            place: raw.place.take().unwrap_or(Place::Somewhere),
        },
        "heading" => Constraint::Heading {
            level: raw.level.take(),
            text: raw.text.take(),
            limit: raw.limit.take().unwrap_or(Limit::SOME),
        },
        "sections" => Constraint::Sections {
            titles: need(&mut raw.titles, "titles")?,
            ordered: raw.ordered.take().unwrap_or(false),
        },
        "numbered_sections" => Constraint::NumberedSections {
            marker: need(&mut raw.marker, "marker")?,
            limit: need(&mut raw.limit, "limit")?,
        },
        "divided" => {
            Constraint::Divided { by: need(&mut raw.by, "by")?, parts: need(&mut raw.parts, "parts")? }
        }
        "only" => Constraint::Only { what: need(&mut raw.what, "what")? },
        "case" => Constraint::Case { case: need(&mut raw.case, "case")? },
        "language" => Constraint::Language { code: need(&mut raw.code, "code")? },
        "quoted" => Constraint::Quoted {},
        "postscript" => {
            Constraint::Postscript { marker: raw.marker.take().unwrap_or_else(|| "P.S.".to_owned()) }
        }
        "repeats" => Constraint::Repeats {
            text: need(&mut raw.text, "text")?,
            then_answer: raw.then_answer.take().unwrap_or(true),
        },
        "choice" => Constraint::Choice {
            options: need(&mut raw.options, "options")?,
            place: raw.place.take().unwrap_or_default(),
        },
        "within" => Constraint::Within {
            which: need(&mut raw.which, "which")?,
            unit: need(&mut raw.unit, "unit")?,
            constraint: need(&mut raw.constraint, "constraint")?,
        },
        "all" => Constraint::All { of: need(&mut raw.of, "of")? },
        "any" => Constraint::Any { of: need(&mut raw.of, "of")? },
        "not" => Constraint::Not { constraint: need(&mut raw.constraint, "constraint")? },
        "if" => Constraint::If {
            condition: need(&mut raw.condition, "condition")?,
            then: need(&mut raw.then, "then")?,
        },
        _ => return Err("there is no such kind of constraint".to_owned()),
    })
}
