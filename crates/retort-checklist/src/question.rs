//! The plain question that a constraint asks.

use crate::constraint::{Case, Constraint, Place, Unit, Which};
use crate::{Limit, code, language};

/// The most characters of a text that a question repeats; what is verified is the whole.
const QUOTED_CHARACTERS: usize = 120;

impl Constraint {
    /// The constraint as one question on one line whose answer "yes" means that it is met: "Is the response at most
    /// 100 words long?". Long texts are cut short in it with an ellipsis. Where [`check`](Self::check) refuses the
    /// constraint, the question may not make sense.
    #[must_use]
    pub fn question(&self) -> String {
        ask(self, "the response", 0)
    }
}

/// What is said of a subject, so that it can be asked, negated and joined.
enum Clause {
    /// "is …".
    Is(String),
    /// A verb in its plain form, and what follows it.
    Does(&'static str, String),
}

impl Clause {
    fn question(&self, subject: &str) -> String {
        match self {
            Self::Is(rest) => format!("is {subject} {rest}"),
            Self::Does(verb, rest) => format!("does {subject} {verb}{}", spaced(rest)),
        }
    }

    fn statement(&self, subject: &str) -> String {
        match self {
            Self::Is(rest) => format!("{subject} is {rest}"),
            Self::Does(verb, rest) => format!("{subject} {}{}", third_person(verb), spaced(rest)),
        }
    }

    fn negated(self) -> Self {
        match self {
            Self::Is(rest) => Self::Does("avoid", format!("being {rest}")),
            Self::Does(verb, rest) => Self::Does("avoid", format!("{}{}", gerund(verb), spaced(&rest))),
        }
    }
}

fn spaced(rest: &str) -> String {
    if rest.is_empty() || rest.starts_with(',') { rest.to_owned() } else { format!(" {rest}") }
}

/// Of the verbs that clauses are made with.
fn third_person(verb: &str) -> String {
    match verb {
        "have" => "has".to_owned(),
        _ => format!("{verb}s"),
    }
}

fn gerund(verb: &str) -> String {
    match verb {
        "begin" => "beginning".to_owned(),
        _ => format!("{}ing", verb.strip_suffix('e').unwrap_or(verb)),
    }
}

fn ask(constraint: &Constraint, subject: &str, depth: usize) -> String {
    let mut question = interrogative(constraint, subject, depth);
    question.push('?');
    let first = question.chars().next().map_or(0, char::len_utf8);
    let rest = question.split_off(first);
    question.to_uppercase() + &rest
}

/// Without the capital and the question mark. Depth is bounded as [`Constraint::check`] bounds it, so that no data can
/// overflow the stack.
fn interrogative(constraint: &Constraint, subject: &str, depth: usize) -> String {
    if depth > crate::MAX_DEPTH {
        return format!("does {subject} meet further constraints");
    }
    let it = "it";
    match constraint {
        Constraint::Within { which, unit, constraint } => {
            interrogative(constraint, &part(*which, *unit, subject), depth + 1)
        }
        Constraint::All { of } => joined(of, "and", subject, it, depth),
        Constraint::Any { of } => joined(of, "or", subject, it, depth),
        Constraint::Not { constraint } => match &**constraint {
            Constraint::Within { which, unit, constraint } => {
                // "Not every" is "at least one … not".
                let part = match which {
                    Which::Each => part_of(format!("at least one {}", unit.name(1)), subject),
                    _ => part(*which, *unit, subject),
                };
                match clause(constraint) {
                    Some(clause) => clause.negated().question(&part),
                    None => format!("is it untrue that {}", statement(constraint, &part, depth + 1)),
                }
            }
            other => match clause(other) {
                Some(clause) => clause.negated().question(subject),
                None => format!("is it untrue that {}", statement(other, subject, depth + 1)),
            },
        },
        Constraint::If { condition, then } => {
            format!(
                "if {}, {}",
                statement(condition, subject, depth + 1),
                interrogative(then, it, depth + 1)
            )
        }
        other => clause(other).map_or_else(String::new, |clause| clause.question(subject)),
    }
}

fn statement(constraint: &Constraint, subject: &str, depth: usize) -> String {
    if depth > crate::MAX_DEPTH {
        return format!("{subject} meets further constraints");
    }
    match constraint {
        Constraint::Within { which, unit, constraint } => {
            statement(constraint, &part(*which, *unit, subject), depth + 1)
        }
        Constraint::All { of } => {
            let parts: Vec<String> = of.iter().map(|one| statement(one, subject, depth + 1)).collect();
            series(&parts, "and")
        }
        Constraint::Any { of } => {
            let parts: Vec<String> = of.iter().map(|one| statement(one, subject, depth + 1)).collect();
            series(&parts, "or")
        }
        Constraint::Not { constraint } => match clause(constraint) {
            Some(clause) => clause.negated().statement(subject),
            None => format!("it is untrue that {}", statement(constraint, subject, depth + 1)),
        },
        Constraint::If { condition, then } => format!(
            "{} where {}",
            statement(then, subject, depth + 1),
            statement(condition, subject, depth + 1)
        ),
        other => clause(other).map_or_else(String::new, |clause| clause.statement(subject)),
    }
}

fn joined(of: &[Constraint], word: &str, subject: &str, it: &str, depth: usize) -> String {
    // One verb for all of them where they share its form.
    let clauses: Option<Vec<Clause>> = of.iter().map(clause).collect();
    if let Some(clauses) = clauses {
        if clauses.iter().all(|clause| matches!(clause, Clause::Is(_))) {
            let rests: Vec<String> = clauses
                .into_iter()
                .map(|clause| match clause {
                    Clause::Is(rest) | Clause::Does(_, rest) => rest,
                })
                .collect();
            let either = if word == "or" { "either " } else { "" };
            return format!("is {subject} {either}{}", series(&rests, word));
        }
        if clauses.iter().all(|clause| matches!(clause, Clause::Does(..))) {
            let mut last = "";
            let rests: Vec<String> = clauses
                .into_iter()
                .map(|clause| match clause {
                    Clause::Is(rest) => rest,
                    // A verb that goes on is said once.
                    Clause::Does(verb, rest) if last == verb && !rest.is_empty() => rest,
                    Clause::Does(verb, rest) => {
                        last = verb;
                        format!("{verb}{}", spaced(&rest))
                    }
                })
                .collect();
            let either = if word == "or" { "either " } else { "" };
            return format!("does {subject} {either}{}", series(&rests, word));
        }
    }
    let parts: Vec<String> = of
        .iter()
        .enumerate()
        .map(|(index, one)| interrogative(one, if index == 0 { subject } else { it }, depth + 1))
        .collect();
    series(&parts, word)
}

/// "a", "a and b", "a, b and c".
pub(crate) fn series(parts: &[String], word: &str) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} {word} {last}", before.join(", ")),
    }
}

fn part(which: Which, unit: Unit, subject: &str) -> String {
    let name = unit.name(1);
    let part = match which {
        Which::Each => format!("every {name}"),
        Which::First => format!("the first {name}"),
        Which::Last => format!("the last {name}"),
        Which::Nth(number) => format!("the {} {name}", ordinal(number)),
    };
    part_of(part, subject)
}

fn part_of(part: String, subject: &str) -> String {
    if subject == "the response" || subject == "it" { part } else { part + " of " + subject }
}

fn ordinal(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    match number {
        1 => "first".to_owned(),
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        4 => "fourth".to_owned(),
        5 => "fifth".to_owned(),
        _ => format!("{number}{ending}"),
    }
}

/// A text within quotation marks, on one line.
pub(crate) fn quoted(text: &str) -> String {
    quoted_up_to(text, QUOTED_CHARACTERS)
}

/// The same with at most so many characters.
pub(crate) fn quoted_up_to(text: &str, most: usize) -> String {
    let mut words = String::new();
    for (count, character) in text.split_whitespace().flat_map(|word| [" ", word]).skip(1).flat_map(str::chars).enumerate() {
        if count == most {
            words.push('…');
            break;
        }
        words.push(character);
    }
    format!("“{words}”")
}

fn quoted_series(texts: &[String], word: &str) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| self::quoted(text)).collect();
    series(&quoted, word)
}

/// The noun that fits after a limit: "at least 1 word", "exactly 3 words".
fn named(limit: Limit, one: &str, many: &str) -> String {
    match limit {
        Limit::AtMost(0) => format!("no {many}"),
        Limit::AtLeast(1) | Limit::AtMost(1) | Limit::Exactly(1) => format!("{limit} {one}"),
        Limit::About(count) => {
            let (least, most) = limit.bounds();
            let bounds = most.map_or_else(String::new, |most| format!(" ({least} to {most})"));
            format!("about {count} {}{bounds}", if count == 1 { one } else { many })
        }
        _ => format!("{limit} {many}"),
    }
}

/// "at least 3 times", "exactly once".
fn times(limit: Limit) -> String {
    let bounds = |word: &str| match limit.canonical() {
        Limit::AtLeast(_) => format!("at least {word}"),
        Limit::AtMost(_) => format!("at most {word}"),
        _ => format!("exactly {word}"),
    };
    match limit.canonical() {
        Limit::AtLeast(1) | Limit::AtMost(1) | Limit::Exactly(1) => bounds("once"),
        Limit::AtLeast(2) | Limit::AtMost(2) | Limit::Exactly(2) => bounds("twice"),
        _ => named(limit, "time", "times"),
    }
}

fn count(unit: Unit, limit: Limit) -> Clause {
    let limit = limit.canonical();
    match unit {
        Unit::Word | Unit::Sentence | Unit::Paragraph | Unit::Line | Unit::Character if limit != Limit::NONE => {
            Clause::Is(length(limit, unit.name(1), unit.name(2)))
        }
        Unit::NonSpaceCharacter if limit != Limit::NONE => {
            Clause::Is(format!("{}, spaces not counted", length(limit, "character", "characters")))
        }
        _ if limit == Limit::NONE => Clause::Does("avoid", unit.name(2).to_owned()),
        _ => Clause::Does("have", named(limit, unit.name(1), unit.name(2))),
    }
}

/// "at most 3 words long", "about 200 words long (180 to 220)".
fn length(limit: Limit, one: &str, many: &str) -> String {
    let named = named(limit, one, many);
    match named.split_once(" (") {
        Some((count, bounds)) => format!("{count} long ({bounds}"),
        None => format!("{named} long"),
    }
}

fn phrase(text: &str, inside_words: bool) -> String {
    let text = text.trim();
    let kind = if !text.chars().any(char::is_alphanumeric) {
        "the sign"
    } else if inside_words && text.chars().count() == 1 && text.chars().all(char::is_alphabetic) {
        "the letter"
    } else if inside_words {
        "the text"
    } else if text.contains(char::is_whitespace) {
        "the phrase"
    } else if text.chars().any(char::is_alphabetic) {
        "the word"
    } else {
        "the text"
    };
    format!("{kind} {}", quoted(text))
}

fn capitals(case_sensitive: bool) -> &'static str {
    if case_sensitive { ", with capitals exactly so" } else { "" }
}

/// The columns and rows of a table or of CSV, as "with …", or nothing.
fn shape(header: &[String], columns: Option<Limit>, rows: Option<Limit>) -> String {
    let mut parts = Vec::new();
    if !header.is_empty() {
        let word = if header.len() == 1 { "column" } else { "columns" };
        parts.push(format!("the {word} {}", quoted_series(header, "and")));
    }
    if let Some(columns) = columns {
        parts.push(named(columns.canonical(), "column", "columns"));
    }
    if let Some(rows) = rows {
        parts.push(format!("{} below the header", named(rows.canonical(), "row", "rows")));
    }
    if parts.is_empty() { String::new() } else { format!(" with {}", series(&parts, "and")) }
}

fn code_name(name: &str) -> String {
    let canonical = code::canonical_name(name).unwrap_or(name);
    match canonical {
        "javascript" => "JavaScript".to_owned(),
        "typescript" => "TypeScript".to_owned(),
        "cpp" => "C++".to_owned(),
        "csharp" => "C#".to_owned(),
        "powershell" => "PowerShell".to_owned(),
        "latex" => "LaTeX".to_owned(),
        "json" | "toml" | "csv" | "php" | "sql" | "css" | "html" | "xml" | "yaml" => canonical.to_uppercase(),
        _ => {
            let mut characters = canonical.chars();
            let first = characters.next().map(char::to_uppercase);
            first.into_iter().flatten().chain(characters).collect()
        }
    }
}

/// Of constraints that are one clause.
fn clause(constraint: &Constraint) -> Option<Clause> {
    Some(match constraint {
        Constraint::Count { what, limit } => count(*what, *limit),
        Constraint::Phrase { text, limit, inside_words, case_sensitive } => {
            let (phrase, capitals) = (phrase(text, *inside_words), capitals(*case_sensitive));
            match limit.canonical() {
                Limit::AtLeast(1) => Clause::Does("contain", format!("{phrase}{capitals}")),
                Limit::AtMost(0) => Clause::Does("avoid", format!("{phrase}{capitals}")),
                limit => Clause::Does("contain", format!("{phrase} {}{capitals}", times(limit))),
            }
        }
        Constraint::Starts { text, case_sensitive, .. } => {
            Clause::Does("begin", format!("with {}{}", quoted(text), capitals(*case_sensitive)))
        }
        Constraint::Ends { text, case_sensitive, .. } => {
            Clause::Does("end", format!("with {}{}", quoted(text), capitals(*case_sensitive)))
        }
        Constraint::Json { place, keys, schema } => {
            let mut with = match keys.len() {
                0 => String::new(),
                1 => format!(" with the key {}", quoted_series(keys, "and")),
                _ => format!(" with the keys {}", quoted_series(keys, "and")),
            };
            if schema.is_some() {
                with.push_str(if with.is_empty() {
                    " of the given schema"
                } else {
                    " and of the given schema"
                });
            }
            match place {
                Place::Somewhere => Clause::Does("contain", format!("valid JSON{with}")),
                Place::Whole | Place::Start => Clause::Is(format!("nothing but valid JSON{with}")),
            }
        }
        Constraint::Csv { place, separator, header, columns, rows } => {
            let name = match separator {
                ';' => "CSV separated by semicolons",
                '|' => "CSV separated by bars",
                '\t' => "text separated by tabs",
                _ => "valid CSV",
            };
            let shape = shape(header, *columns, *rows);
            match place {
                Place::Somewhere => Clause::Does("contain", format!("a code block of {name}{shape}")),
                Place::Whole | Place::Start => Clause::Is(format!("nothing but {name}{shape}")),
            }
        }
        Constraint::Table { header, columns, rows } => {
            Clause::Does("contain", format!("a Markdown table{}", shape(header, *columns, *rows)))
        }
        Constraint::Code { language, place } => {
            let name = code_name(language);
            match place {
                Place::Somewhere => Clause::Does("contain", format!("a code block in {name}")),
                Place::Whole | Place::Start => Clause::Is(format!("nothing but code in {name}")),
            }
        }
        Constraint::Heading { level, text, limit } => {
            let mut of = level.map_or_else(String::new, |level| format!(" of level {level}"));
            if let Some(text) = text {
                of.push_str(&format!(" that reads {}", quoted(text)));
            }
            match limit.canonical() {
                Limit::AtMost(0) => Clause::Does("avoid", format!("headings{of}")),
                limit => Clause::Does("have", format!("{}{of}", named(limit, "heading", "headings"))),
            }
        }
        Constraint::Sections { titles, ordered } => {
            let word = if titles.len() == 1 { "a section" } else { "sections" };
            let order = if *ordered && titles.len() > 1 { ", in this order" } else { "" };
            Clause::Does("have", format!("{word} titled {}{order}", quoted_series(titles, "and")))
        }
        Constraint::NumberedSections { marker, limit } => {
            let (one, two) = (quoted(&format!("{} 1", marker.trim())), quoted(&format!("{} 2", marker.trim())));
            let count = named(limit.canonical(), "section", "sections");
            Clause::Does("have", format!("{count} marked {one}, {two} and so on"))
        }
        Constraint::Divided { by, parts } => {
            Clause::Does("have", format!("{} divided by {}", named(parts.canonical(), "part", "parts"), quoted(by)))
        }
        Constraint::Only { what } => {
            Clause::Does("consist", format!("of {} and nothing else", what.name(2)))
        }
        Constraint::Case { case } => Clause::Is(
            match case {
                Case::Lower => "written entirely in small letters",
                Case::Upper => "written entirely in capital letters",
                Case::Title => "written in title case",
            }
            .to_owned(),
        ),
        Constraint::Language { code } => {
            let name = language::languages().find(|(known, _)| known == code).map_or(code.as_str(), |(_, name)| name);
            Clause::Is(format!("written in {name}"))
        }
        Constraint::Quoted {} => Clause::Is("enclosed in quotation marks as a whole".to_owned()),
        Constraint::Postscript { marker } => {
            Clause::Does("end", format!("with a postscript that begins with {}", quoted(marker)))
        }
        Constraint::Repeats { text, then_answer } => {
            let then = if *then_answer { " and then go on" } else { "" };
            Clause::Does("begin", format!("by repeating {} word for word{then}", quoted(text)))
        }
        Constraint::Choice { options, place } => {
            let options = quoted_series(options, "or");
            match place {
                Place::Whole => Clause::Is(format!("just one of {options}")),
                Place::Start => Clause::Does("begin", format!("with one of {options}")),
                Place::Somewhere => Clause::Does("choose", format!("exactly one of {options}")),
            }
        }
        Constraint::Within { .. }
        | Constraint::All { .. }
        | Constraint::Any { .. }
        | Constraint::Not { .. }
        | Constraint::If { .. } => return None,
    })
}
