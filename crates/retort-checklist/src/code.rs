//! Code blocks: which language they are in, and whether they hold together.
//!
//! JSON, TOML and CSV are parsed. The parsers of programming languages that exist in Rust either go down recursively
//! with the depth of the code, so that a hostile response could end the program, or are larger than all the rest of
//! this crate; so code in these languages is checked for balance only, and the finding says so.

use std::ops::Range;

use serde::de::IgnoredAny;

use crate::constraint::Place;
use crate::csv;
use crate::finding::{Finding, Verdict};
use crate::json::sole_code;
use crate::outline::Kind;
use crate::segment::Segmented;
use crate::text::trimmed;

/// How far code in a language is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodeCheck {
    /// A parser reads it: JSON (RFC 8259), TOML (1.1), CSV (RFC 4180).
    Parsed,
    /// Brackets close in the order in which they opened and quotation marks and comments are closed, by the language's
    /// own rules for strings and comments; of HTML and XML, tags. Where this fails the code does not parse (but for a
    /// rare regular expression or macro that the check misreads); where it succeeds nothing is said about the rest.
    Balanced,
    /// Nothing: the block is only marked with the language.
    Named,
}

/// How strings and comments are written.
struct Syntax {
    line_comments: &'static [&'static str],
    /// Openings and closings.
    block_comments: &'static [(&'static str, &'static str)],
    /// Delimiters of strings in which a backslash escapes; the longest first. Those of more than one character, and
    /// the backtick, may span lines.
    strings: &'static [&'static str],
    /// Delimiters of strings in which nothing escapes; they may span lines.
    raw_strings: &'static [&'static str],
    /// Whether `'` opens a character or names a lifetime, rather than a string.
    has_character_literals: bool,
    /// Whether block comments stand within each other.
    nests_comments: bool,
    /// Whether `/…/` can be a regular expression.
    has_regex_literals: bool,
}

const C_LIKE: Syntax = Syntax {
    line_comments: &["//"],
    block_comments: &[("/*", "*/")],
    strings: &["\""],
    raw_strings: &[],
    has_character_literals: true,
    nests_comments: false,
    has_regex_literals: false,
};
const PYTHON: Syntax = Syntax {
    line_comments: &["#"],
    block_comments: &[],
    strings: &["\"\"\"", "'''", "\"", "'"],
    raw_strings: &[],
    has_character_literals: false,
    ..C_LIKE
};
const JAVASCRIPT: Syntax =
    Syntax { strings: &["`", "\"", "'"], has_character_literals: false, has_regex_literals: true, ..C_LIKE };
const RUST: Syntax = Syntax { nests_comments: true, ..C_LIKE };
const KOTLIN: Syntax = Syntax { strings: &["\"\"\"", "\""], nests_comments: true, ..C_LIKE };
const GO: Syntax = Syntax { raw_strings: &["`"], ..C_LIKE };
const PHP: Syntax =
    Syntax { line_comments: &["//", "#"], strings: &["\"", "'"], has_character_literals: false, ..C_LIKE };
const R: Syntax = Syntax { strings: &["\"", "'", "`"], ..PYTHON };
const SQL: Syntax = Syntax {
    line_comments: &["--"],
    strings: &[],
    raw_strings: &["'", "\"", "`"],
    has_character_literals: false,
    ..C_LIKE
};
const CSS: Syntax =
    Syntax { line_comments: &[], strings: &["\"", "'"], has_character_literals: false, ..C_LIKE };
const LUA: Syntax = Syntax {
    line_comments: &["--"],
    block_comments: &[("--[[", "]]"), ("[[", "]]")],
    strings: &["\"", "'"],
    has_character_literals: false,
    ..C_LIKE
};

enum Check {
    Json,
    Toml,
    Csv,
    Balance(&'static Syntax),
    Tags { is_html: bool },
    Nothing,
}

/// The languages that are known, each with its names; the first one is canonical.
const LANGUAGES: &[(&[&str], Check)] = &[
    (&["json"], Check::Json),
    (&["toml"], Check::Toml),
    (&["csv"], Check::Csv),
    (&["python", "py", "python3", "python2", "py3"], Check::Balance(&PYTHON)),
    (&["javascript", "js", "jsx", "mjs", "node", "nodejs", "ecmascript"], Check::Balance(&JAVASCRIPT)),
    (&["typescript", "ts", "tsx"], Check::Balance(&JAVASCRIPT)),
    (&["rust", "rs"], Check::Balance(&RUST)),
    (&["java"], Check::Balance(&KOTLIN_WITHOUT_NESTING)),
    (&["kotlin", "kt"], Check::Balance(&KOTLIN)),
    (&["swift"], Check::Balance(&KOTLIN)),
    (&["scala"], Check::Balance(&KOTLIN)),
    (&["c", "h"], Check::Balance(&C_LIKE)),
    (&["cpp", "c++", "cxx", "cc", "hpp"], Check::Balance(&C_LIKE)),
    (&["csharp", "c#", "cs"], Check::Balance(&C_LIKE)),
    (&["go", "golang"], Check::Balance(&GO)),
    (&["dart"], Check::Balance(&JAVASCRIPT_WITHOUT_REGEX)),
    (&["php"], Check::Balance(&PHP)),
    (&["r"], Check::Balance(&R)),
    (&["sql", "mysql", "postgresql", "postgres", "sqlite", "tsql", "plsql"], Check::Balance(&SQL)),
    (&["css", "scss", "less"], Check::Balance(&CSS)),
    (&["lua"], Check::Balance(&LUA)),
    (&["html", "html5", "htm"], Check::Tags { is_html: true }),
    (&["xml", "svg", "xhtml"], Check::Tags { is_html: false }),
    (&["yaml", "yml"], Check::Nothing),
    (&["bash", "sh", "shell", "zsh", "console"], Check::Nothing),
    (&["powershell", "ps1", "pwsh"], Check::Nothing),
    (&["ruby", "rb"], Check::Nothing),
    (&["perl", "pl"], Check::Nothing),
    (&["haskell", "hs"], Check::Nothing),
    (&["latex", "tex"], Check::Nothing),
    (&["matlab", "octave"], Check::Nothing),
    (&["julia", "jl"], Check::Nothing),
    (&["markdown", "md"], Check::Nothing),
    (&["text", "txt", "plain", "plaintext"], Check::Nothing),
    (&["mermaid"], Check::Nothing),
];
const KOTLIN_WITHOUT_NESTING: Syntax = Syntax { nests_comments: false, ..KOTLIN };
const JAVASCRIPT_WITHOUT_REGEX: Syntax =
    Syntax { strings: &["\"\"\"", "'''", "\"", "'"], has_regex_literals: false, ..JAVASCRIPT };

fn entry(name: &str) -> Option<&'static (&'static [&'static str], Check)> {
    let name = name.trim().to_lowercase();
    LANGUAGES.iter().find(|(names, _)| names.contains(&name.as_str()))
}

/// The first name of a language that goes by this one, if it is known: `python` for `py`.
pub(crate) fn canonical_name(name: &str) -> Option<&'static str> {
    entry(name).and_then(|(names, _)| names.first().copied())
}

/// How far code in this language is checked; one that is not known is only named.
#[must_use]
pub fn code_check(language: &str) -> CodeCheck {
    match entry(language).map(|(_, check)| check) {
        Some(Check::Json | Check::Toml | Check::Csv) => CodeCheck::Parsed,
        Some(Check::Balance(_) | Check::Tags { .. }) => CodeCheck::Balanced,
        Some(Check::Nothing) | None => CodeCheck::Named,
    }
}

/// The language that a fence is marked with, in whatever way: `python`, `{.python}`, `python title="x"`.
pub(crate) fn tag(info: &str) -> &str {
    let info = info.trim().trim_start_matches(['{', '.']);
    info.split(|c: char| c.is_whitespace() || matches!(c, ',' | '}' | ':')).next().unwrap_or_default()
}

/// What the language's check says of some code.
enum Outcome {
    Sound,
    /// What is wrong, and at which byte.
    Broken(String, usize),
    /// Why it could not be checked.
    Unknown(&'static str),
}

/// More full stops in a line than any TOML key needs: the parser goes down one level for each part of a key.
const MAX_TOML_DOTS: usize = 100;

fn check(code: &str, how: &Check) -> Outcome {
    match how {
        Check::Json => match serde_json::from_str::<IgnoredAny>(code) {
            Ok(_) => Outcome::Sound,
            Err(error) => Outcome::Broken(error.to_string(), 0),
        },
        Check::Toml => {
            if code.lines().any(|line| line.bytes().filter(|byte| *byte == b'.').count() > MAX_TOML_DOTS) {
                return Outcome::Unknown("a line has too many full stops for the parser");
            }
            match code.parse::<toml::Table>() {
                Ok(_) => Outcome::Sound,
                Err(error) => {
                    Outcome::Broken(error.message().to_owned(), error.span().map_or(0, |span| span.start))
                }
            }
        }
        Check::Csv => match csv::read(code, ',') {
            Ok(_) => Outcome::Sound,
            Err(fault) => Outcome::Broken(fault.message, fault.at),
        },
        Check::Balance(syntax) => balance(code, syntax),
        Check::Tags { is_html } => tags(code, *is_html),
        Check::Nothing => Outcome::Sound,
    }
}

pub(crate) fn verify(text: &Segmented<'_>, language: &str, place: Place) -> Finding {
    let known = entry(language);
    let name = known.map_or_else(
        || language.trim().to_lowercase(),
        |(names, _)| names.first().copied().unwrap_or_default().to_owned(),
    );
    let how = known.map_or(&Check::Nothing, |(_, check)| check);
    let is_named = |found: &str| match canonical_name(found) {
        Some(found) => found == name,
        None => found.to_lowercase() == name,
    };
    let mut first: Option<Finding> = None;
    let mut other_tag = None;
    if place == Place::Whole && sole_code(text).is_none() {
        let has_code = text.blocks.iter().any(|block| matches!(block.kind, Kind::Code { .. }));
        if has_code {
            return Finding::not_met("there is text beside the code block");
        }
        return bare(text, &trimmed(text.text), &name, how);
    }
    for block in text.blocks.iter() {
        let Kind::Code { info, .. } = &block.kind else { continue };
        let found = tag(text.slice(info));
        let is_marked = !found.is_empty();
        if is_marked && !is_named(found) {
            other_tag.get_or_insert(found);
            continue;
        }
        let finding = judge(text, &block.content, &name, how, is_marked);
        if finding.verdict == Verdict::Met {
            return finding;
        }
        // A block that is marked says more than one that is not.
        if first.as_ref().is_none_or(|first| first.verdict == Verdict::NotApplicable && is_marked) {
            first = Some(finding);
        }
    }
    first.unwrap_or_else(|| {
        Finding::not_met(match other_tag {
            Some(tag) => format!("the code blocks are marked {tag}; {name} was asked for"),
            None => format!("there is no code block; {name} was asked for"),
        })
    })
}

/// A response that is nothing but code, without a fence.
fn bare(text: &Segmented<'_>, range: &Range<usize>, name: &str, how: &Check) -> Finding {
    if range.is_empty() {
        return Finding::not_met("there is no code");
    }
    judge(text, range, name, how, false)
}

fn judge(text: &Segmented<'_>, range: &Range<usize>, name: &str, how: &Check, is_marked: bool) -> Finding {
    // A block that nobody closed ends with the response, whose white space at the end is no code.
    let code = text.slice(range).trim_end();
    if code.trim().is_empty() {
        return Finding::not_met("the code block is empty").at(range.clone());
    }
    let is_parsed = matches!(how, Check::Json | Check::Toml | Check::Csv);
    match check(code, how) {
        Outcome::Broken(message, at) => {
            let at = (range.start + at).min(range.end);
            let end = text
                .text
                .get(at..range.end)
                .and_then(|rest| rest.chars().next())
                .map_or(at, |c| at + c.len_utf8());
            let what = if is_parsed { "does not parse as" } else { "does not hold together as" };
            // Of a block that nothing marks, this says only that it is not in the language.
            Finding::not_met(format!("the code {what} {name}: {message}")).at(at..end)
        }
        Outcome::Unknown(why) => Finding::not_applicable(format!("the code could not be checked: {why}")),
        Outcome::Sound if is_parsed => Finding::met(format!("the code parses as {name}")).at(range.clone()),
        Outcome::Sound if !is_marked => Finding::not_applicable(format!(
            "the code is not marked with a language, so that code cannot tell whether it is {name}"
        ))
        .at(range.clone()),
        Outcome::Sound if matches!(how, Check::Nothing) => {
            Finding::met(format!("a code block is marked {name} (what it holds was not checked)"))
                .at(range.clone())
        }
        Outcome::Sound => {
            Finding::met(format!("a code block is marked {name} and is balanced (it was not parsed)"))
                .at(range.clone())
        }
    }
}

/// Whether brackets, strings and comments close. One pass.
fn balance(code: &str, syntax: &Syntax) -> Outcome {
    let bytes = code.as_bytes();
    let begins = |at: usize, with: &str| bytes.get(at..at + with.len()) == Some(with.as_bytes());
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut at = 0;
    // The last byte of code that is neither white space nor comment, to tell division from a regular expression.
    let mut last = None;
    while let Some(byte) = bytes.get(at).copied() {
        if let Some((opening, closing)) =
            syntax.block_comments.iter().find(|(opening, _)| begins(at, opening))
        {
            let start = at;
            let mut depth = 1_usize;
            at += opening.len();
            while depth > 0 {
                if at >= bytes.len() {
                    return Outcome::Broken(
                        format!("a comment that begins with {opening} is never closed"),
                        start,
                    );
                }
                if begins(at, closing) {
                    depth -= 1;
                    at += closing.len();
                } else if syntax.nests_comments && begins(at, opening) {
                    depth += 1;
                    at += opening.len();
                } else {
                    at += 1;
                }
            }
            continue;
        }
        if syntax.line_comments.iter().any(|mark| begins(at, mark)) {
            while bytes.get(at).is_some_and(|byte| *byte != b'\n') {
                at += 1;
            }
            continue;
        }
        let string = syntax
            .strings
            .iter()
            .map(|mark| (mark, true))
            .chain(syntax.raw_strings.iter().map(|mark| (mark, false)))
            .find(|(mark, _)| begins(at, mark));
        if let Some((mark, escapes)) = string {
            let start = at;
            let spans_lines = mark.len() > 1 || *mark == "`" || !escapes;
            at += mark.len();
            loop {
                match bytes.get(at) {
                    None => {
                        return Outcome::Broken(
                            format!("a string that begins with {mark} is never closed"),
                            start,
                        );
                    }
                    Some(b'\n') if !spans_lines => {
                        return Outcome::Broken(
                            format!("a string that begins with {mark} is not closed on its line"),
                            start,
                        );
                    }
                    Some(b'\\') if escapes => at += 2,
                    Some(_) if begins(at, mark) => {
                        at += mark.len();
                        break;
                    }
                    Some(_) => at += 1,
                }
            }
            last = Some(b'"');
            continue;
        }
        if byte == b'\'' && syntax.has_character_literals {
            at += character_literal(bytes, at);
            last = Some(b'\'');
            continue;
        }
        if byte == b'/' && syntax.has_regex_literals && opens_regex(code, at, last) {
            match regex_literal(bytes, at) {
                Some(length) => {
                    at += length;
                    last = Some(b'/');
                    continue;
                }
                None => {
                    return Outcome::Broken("a regular expression is not closed on its line".to_owned(), at);
                }
            }
        }
        match byte {
            b'(' | b'[' | b'{' => open.push((byte, at)),
            b')' | b']' | b'}' => {
                let wanted = match byte {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                match open.pop() {
                    Some((opening, _)) if opening == wanted => {}
                    Some((opening, _)) => {
                        return Outcome::Broken(
                            format!("{} is closed by {}", char::from(opening), char::from(byte)),
                            at,
                        );
                    }
                    None => return Outcome::Broken(format!("{} closes nothing", char::from(byte)), at),
                }
            }
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            last = Some(byte);
        }
        at += 1;
    }
    match open.pop() {
        Some((opening, at)) => Outcome::Broken(format!("{} is never closed", char::from(opening)), at),
        None => Outcome::Sound,
    }
}

/// The length of `'x'` or `'\n'`; of anything else that begins with `'`, such as a lifetime or a digit separator, 1.
fn character_literal(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at + 1..).unwrap_or_default();
    if rest.first() == Some(&b'\\') {
        // An escape is short: '\u{10ffff}' is the longest.
        return rest.iter().skip(2).take(10).position(|byte| *byte == b'\'').map_or(1, |length| length + 4);
    }
    let width = match rest.first() {
        None | Some(b'\'') => return 1,
        Some(0..=0x7f) => 1,
        Some(0x80..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(_) => 4,
    };
    if rest.get(width) == Some(&b'\'') { width + 2 } else { 1 }
}

/// Whether a slash can only open a regular expression: nothing stands before it that could be divided.
fn opens_regex(code: &str, at: usize, last: Option<u8>) -> bool {
    match last {
        None => true,
        Some(byte) if b"(,=:[!&|?{};+-*%<>~^".contains(&byte) => true,
        Some(byte) if byte.is_ascii_lowercase() => {
            // The word is short, and so is what is looked at.
            let before = code.as_bytes().get(at.saturating_sub(16)..at).unwrap_or_default();
            let before = before.trim_ascii_end();
            ["return", "typeof", "case", "in", "of", "delete", "void"].iter().any(|word| {
                before.strip_suffix(word.as_bytes()).is_some_and(|rest| {
                    !rest.last().is_some_and(|byte| {
                        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
                    })
                })
            })
        }
        Some(_) => false,
    }
}

fn regex_literal(bytes: &[u8], at: usize) -> Option<usize> {
    let mut in_class = false;
    let mut end = at + 1;
    loop {
        match bytes.get(end)? {
            b'\n' => return None,
            b'\\' => end += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => return Some(end + 1 - at),
            _ => {}
        }
        end += 1;
    }
}

/// Elements of HTML that have no end tag.
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];
/// Elements of HTML whose end tag may be left out.
const OPTIONAL: &[&str] = &[
    "html", "head", "body", "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup",
    "option", "optgroup", "rt", "rp", "caption",
];

/// Whether tags close in the order in which they opened. One pass.
fn tags(code: &str, is_html: bool) -> Outcome {
    let mut open: Vec<(String, usize)> = Vec::new();
    let mut at = 0;
    let mut count = 0_usize;
    while let Some(found) = code.get(at..).and_then(|rest| rest.find('<')) {
        at += found;
        let rest = code.get(at..).unwrap_or_default();
        let skip = |opening: &str, closing: &str| {
            rest.starts_with(opening).then(|| rest.find(closing).map(|end| end + closing.len()))
        };
        let special = skip("<!--", "-->")
            .or_else(|| skip("<![CDATA[", "]]>"))
            .or_else(|| skip("<?", "?>"))
            .or_else(|| skip("<!", ">"));
        if let Some(end) = special {
            match end {
                Some(end) => at += end,
                None => return Outcome::Broken("a comment or declaration is never closed".to_owned(), at),
            }
            continue;
        }
        let is_end = rest.starts_with("</");
        let name_start = if is_end { 2 } else { 1 };
        let name_length = rest
            .get(name_start..)
            .and_then(|rest| {
                rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.')))
            })
            .unwrap_or(rest.len() - name_start);
        let name = rest.get(name_start..name_start + name_length).unwrap_or_default();
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            if is_html {
                at += 1;
                continue;
            }
            return Outcome::Broken("< opens no tag".to_owned(), at);
        }
        let name = if is_html { name.to_ascii_lowercase() } else { name.to_owned() };
        let Some(end) = tag_end(rest) else {
            return Outcome::Broken(format!("the tag {name} is never closed"), at);
        };
        let is_empty = rest.get(..end).is_some_and(|tag| tag.ends_with("/>"));
        count += 1;
        if is_end {
            loop {
                match open.pop() {
                    Some((opened, _)) if opened == name => break,
                    Some((opened, _)) if is_html && OPTIONAL.contains(&opened.as_str()) => {}
                    Some((opened, _)) => {
                        return Outcome::Broken(format!("<{opened}> is closed by </{name}>"), at);
                    }
                    None => return Outcome::Broken(format!("</{name}> closes nothing"), at),
                }
            }
            at += end;
        } else if is_empty || (is_html && VOID.contains(&name.as_str())) {
            at += end;
        } else {
            let is_raw = is_html && matches!(name.as_str(), "script" | "style");
            let start = at;
            at += end;
            if is_raw {
                let close = format!("</{name}");
                let body = code.as_bytes().get(at..).unwrap_or_default();
                let length = body
                    .windows(close.len())
                    .position(|window| window.eq_ignore_ascii_case(close.as_bytes()));
                match length {
                    Some(length) => at += length,
                    None => return Outcome::Broken(format!("<{name}> is never closed"), start),
                }
            }
            open.push((name, start));
        }
    }
    let left = open.into_iter().rev().find(|(name, _)| !(is_html && OPTIONAL.contains(&name.as_str())));
    match left {
        Some((name, at)) => Outcome::Broken(format!("<{name}> is never closed"), at),
        None if count == 0 => Outcome::Broken("there is no tag".to_owned(), 0),
        None => Outcome::Sound,
    }
}

/// The length of a tag: to the `>` that stands in no attribute.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}
