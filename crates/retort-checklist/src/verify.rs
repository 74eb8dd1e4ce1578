//! Every constraint's verdict on a response.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use crate::constraint::{Case, Constraint, Place, Unit, Which};
use crate::finding::{Finding, Verdict};
use crate::outline::{Block, Kind, lines, outline, trim_within};
use crate::segment::{Segmented, is_quoted};
use crate::text::{Folded, Needle, Normalised, excerpt, trimmed};
use crate::{Limit, code, csv, json, language};

/// Words that a title may leave in small letters.
pub const MINOR_WORDS: &[&str] = &[
    "a", "an", "and", "as", "at", "but", "by", "for", "from", "if", "in", "into", "nor", "of", "off", "on",
    "onto", "or", "over", "per", "so", "than", "the", "to", "up", "via", "vs", "with", "yet",
];

/// Marks of Markdown that stand before what a person reads as the beginning.
const OPENING_MARKS: &[char] = &['#', '*', '_', '>', '`', '~'];

/// Verifies one constraint on a response. For several on the same response, make a [`Response`] first.
///
/// ```
/// use retort_checklist::{Constraint, Limit, Unit, Verdict, verify};
///
/// let constraint = Constraint::Count { what: Unit::Word, limit: Limit::AtMost(3) };
/// let finding = verify(&constraint, "One two three four.");
/// assert_eq!(finding.verdict, Verdict::NotMet);
/// assert_eq!(finding.sentence, "4 words; at most 3 were asked for");
/// assert_eq!(finding.passages("One two three four.").collect::<Vec<_>>(), ["four."]);
/// ```
#[must_use]
pub fn verify(constraint: &Constraint, response: &str) -> Finding {
    Response::new(response).verify(constraint)
}

/// A response made ready for verifying: normalised, and its blocks found.
#[derive(Debug)]
pub struct Response<'r> {
    normal: Normalised<'r>,
    blocks: Vec<Block>,
}

impl<'r> Response<'r> {
    /// Prepares a response, in time linear in its length.
    #[must_use]
    pub fn new(text: &'r str) -> Self {
        let normal = Normalised::new(text);
        let blocks = outline(normal.text());
        Self { normal, blocks }
    }

    /// The verdict of one constraint. Never panics, takes time linear in the response, and depends neither on white
    /// space at the end of the response nor on its Unicode normalisation form. A constraint that
    /// [`check`](Constraint::check) refuses is not applicable, with the reason.
    #[must_use]
    pub fn verify(&self, constraint: &Constraint) -> Finding {
        if let Err(invalid) = constraint.check() {
            return Finding::not_applicable(format!("this cannot be checked: {invalid}"));
        }
        let text = Segmented { text: self.normal.text(), blocks: Cow::Borrowed(self.blocks.as_slice()) };
        let mut finding = verify_in(constraint, &text);
        for span in &mut finding.evidence {
            *span = self.normal.original_range(span);
        }
        finding
    }
}

fn verify_in(constraint: &Constraint, text: &Segmented<'_>) -> Finding {
    match constraint {
        Constraint::Count { what, limit } => count(text, *what, *limit),
        Constraint::Phrase { text: phrase, limit, inside_words, case_sensitive } => {
            let needle = Needle::new(phrase, *inside_words, *case_sensitive);
            let folded = Folded::new(text.text, *case_sensitive);
            let spans = needle.find_all(&folded.text).iter().map(|span| folded.source(span)).collect();
            occurrences(&format!("“{}”", excerpt(phrase)), "occurs", *limit, spans)
        }
        Constraint::Starts { text: beginning, inside_words, case_sensitive } => {
            match start_of(text.text, beginning, *inside_words, *case_sensitive) {
                Some(span) => Finding::met(format!("it begins with “{}”", excerpt(beginning))).at(span),
                None => not_at_start(text, &format!("“{}”", excerpt(beginning))),
            }
        }
        Constraint::Ends { text: ending, inside_words, case_sensitive } => {
            ends(text, ending, *inside_words, *case_sensitive)
        }
        Constraint::Json { place, keys, schema } => json::verify(text, *place, keys, schema.as_ref()),
        Constraint::Csv { place, separator, header, columns, rows } => {
            let wanted = csv::Wanted { separator: *separator, header, columns: *columns, rows: *rows };
            csv::verify(text, *place, &wanted)
        }
        Constraint::Table { header, columns, rows } => table(text, header, *columns, *rows),
        Constraint::Code { language, place } => code::verify(text, language, *place),
        Constraint::Heading { level, text: title, limit } => heading(text, *level, title.as_deref(), *limit),
        Constraint::Sections { titles, ordered } => sections(text, titles, *ordered),
        Constraint::NumberedSections { marker, limit } => numbered_sections(text, marker, *limit),
        Constraint::Divided { by, parts } => divided(text, by, *parts),
        Constraint::Only { what } => only(text, *what),
        Constraint::Case { case } => letters(text, *case),
        Constraint::Language { code } => match language::Tongue::from_code(code) {
            Some(tongue) => language::verify(text, tongue),
            None => Finding::not_applicable(format!("the language {code:?} is not known")),
        },
        Constraint::Quoted {} => {
            let inner = trimmed(text.text);
            if is_quoted(text.slice(&inner)) {
                Finding::met("the whole response stands within quotation marks").at(inner)
            } else {
                Finding::not_met("the response does not stand within quotation marks as a whole")
            }
        }
        Constraint::Postscript { marker } => postscript(text, marker),
        Constraint::Repeats { text: request, then_answer } => repeats(text, request, *then_answer),
        Constraint::Choice { options, place } => choice(text, options, *place),
        Constraint::Within { which, unit, constraint } => within(text, *which, *unit, constraint),
        Constraint::All { of } => all(of.iter().map(|one| verify_in(one, text)).collect()),
        Constraint::Any { of } => any(of.iter().map(|one| verify_in(one, text)).collect()),
        Constraint::Not { constraint } => {
            let mut finding = verify_in(constraint, text);
            finding.verdict = match finding.verdict {
                Verdict::Met => Verdict::NotMet,
                Verdict::NotMet => Verdict::Met,
                Verdict::NotApplicable => Verdict::NotApplicable,
            };
            if finding.verdict != Verdict::NotApplicable {
                finding.sentence = format!("the opposite was asked for: {}", finding.sentence);
            }
            finding
        }
        Constraint::If { condition, then } => {
            let given = verify_in(condition, text);
            match given.verdict {
                Verdict::Met => {
                    let mut finding = verify_in(then, text);
                    finding.sentence = format!("{}, so: {}", given.sentence, finding.sentence);
                    finding
                }
                Verdict::NotMet => {
                    Finding::not_applicable(format!("the condition does not hold: {}", given.sentence))
                }
                Verdict::NotApplicable => given,
            }
        }
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// "at most 3 were asked for", "none was wanted".
fn asked(limit: Limit) -> String {
    match limit.canonical() {
        Limit::AtMost(0) => "none was wanted".to_owned(),
        Limit::AtLeast(1) | Limit::AtMost(1) | Limit::Exactly(1) => format!("{limit} was asked for"),
        _ => format!("{limit} were asked for"),
    }
}

fn count(text: &Segmented<'_>, unit: Unit, limit: Limit) -> Finding {
    let is_length = matches!(
        unit,
        Unit::Word
            | Unit::Sentence
            | Unit::Paragraph
            | Unit::Line
            | Unit::Character
            | Unit::NonSpaceCharacter
    );
    let (most_is_passed, found, spans);
    if is_length {
        found = text.count(unit);
        let most = limit.bounds().1.filter(|most| found > *most);
        most_is_passed = most;
        spans = Vec::new();
    } else {
        spans = text.find(unit);
        found = number(spans.len());
        most_is_passed = None;
    }
    let met = limit.accepts(found);
    let named =
        if found == 0 { format!("no {}", unit.name(0)) } else { format!("{found} {}", unit.name(found)) };
    let mut finding =
        Finding::new(Verdict::of(met), format!("{named}; {}", asked(limit))).counted(found).showing(spans);
    // Of a length, what stands beyond the most that is allowed.
    if let Some(first) = most_is_passed.and_then(|most| usize::try_from(most).ok())
        && let Some(span) = text.find(unit).get(first)
    {
        finding = finding.at(span.start..trimmed(text.text).end.max(span.end));
    }
    finding
}

/// Something that was counted by its spans.
fn occurrences(what: &str, verb: &str, limit: Limit, spans: Vec<Range<usize>>) -> Finding {
    let count = number(spans.len());
    let times = match count {
        0 => format!("{what} does not occur"),
        1 => format!("{what} {verb} once"),
        _ => format!("{what} {verb} {count} times"),
    };
    let wanted = match limit.canonical() {
        Limit::AtMost(0) => "it must not".to_owned(),
        Limit::AtLeast(1) => "at least once was asked for".to_owned(),
        Limit::AtMost(1) => "at most once was asked for".to_owned(),
        Limit::Exactly(1) => "exactly once was asked for".to_owned(),
        _ => format!("{limit} times were asked for"),
    };
    Finding::new(Verdict::of(limit.accepts(count)), format!("{times}; {wanted}"))
        .counted(count)
        .showing(spans)
}

/// Where the text begins with this, its marks passed over.
fn start_of(text: &str, beginning: &str, inside_words: bool, case_sensitive: bool) -> Option<Range<usize>> {
    let inner = trimmed(text);
    let needle = Needle::new(beginning, inside_words, case_sensitive);
    // What is looked for may itself begin with such a mark.
    let whole = text.get(inner.clone())?;
    let after_marks = whole.trim_start_matches(|c: char| c.is_whitespace() || OPENING_MARKS.contains(&c));
    [whole, after_marks].into_iter().find_map(|rest| {
        let start = inner.end - rest.len();
        let folded = Folded::new(rest, case_sensitive);
        let range = 0..needle.text().len();
        let found = !needle.text().is_empty()
            && folded.text.starts_with(needle.text())
            && needle.fits(&folded.text, &range);
        found.then(|| {
            let span = folded.source(&range);
            start + span.start..start + span.end
        })
    })
}

fn not_at_start(text: &Segmented<'_>, wanted: &str) -> Finding {
    let inner = trimmed(text.text);
    let found = text.slice(&inner);
    if found.is_empty() {
        return Finding::not_met(format!("there is no text; it should begin with {wanted}"));
    }
    let words = excerpt(found);
    let shown: usize = found.chars().take(40).map(char::len_utf8).sum();
    Finding::not_met(format!("it begins with “{words}”, not with {wanted}"))
        .at(inner.start..inner.start + shown)
}

fn ends(text: &Segmented<'_>, ending: &str, inside_words: bool, case_sensitive: bool) -> Finding {
    let inner = trimmed(text.text);
    let whole = text.slice(&inner);
    let needle = Needle::new(ending, inside_words, case_sensitive);
    let is_mark = |c: char| {
        c.is_whitespace() || matches!(c, '*' | '_' | '`' | '~' | '"' | '”' | '“' | '’' | '\'' | '»' | '」')
    };
    let without_marks = whole.trim_end_matches(is_mark);
    let mut rests = vec![whole, without_marks];
    if needle.text().ends_with(char::is_alphanumeric) {
        let without_stop = without_marks.strip_suffix(['.', '!', '?', '…', '。']).unwrap_or(without_marks);
        rests.push(without_stop);
        rests.push(without_stop.trim_end_matches(is_mark));
    }
    for rest in rests {
        let folded = Folded::new(rest, case_sensitive);
        let Some(start) = folded.text.len().checked_sub(needle.text().len()) else { continue };
        let range = start..folded.text.len();
        if !needle.text().is_empty()
            && folded.text.ends_with(needle.text())
            && needle.fits(&folded.text, &range)
        {
            let span = folded.source(&range);
            return Finding::met(format!("it ends with “{}”", excerpt(ending)))
                .at(inner.start + span.start..inner.start + span.end);
        }
    }
    if whole.is_empty() {
        return Finding::not_met(format!("there is no text; it should end with “{}”", excerpt(ending)));
    }
    let shown: usize = whole.chars().rev().take(40).map(char::len_utf8).sum();
    let last = whole.get(whole.len() - shown..).unwrap_or_default();
    Finding::not_met(format!("it ends with “{}”, not with “{}”", excerpt(last), excerpt(ending)))
        .at(inner.end - shown..inner.end)
}

fn table(text: &Segmented<'_>, header: &[String], columns: Option<Limit>, rows: Option<Limit>) -> Finding {
    let mut first = None;
    for block in text.blocks.iter() {
        let Kind::Table(found) = &block.kind else { continue };
        let width = number(found.header.len());
        let said = format!("a table with {width} columns and {} rows below the header", found.rows);
        let names = || found.header.iter().map(|cell| text.slice(cell));
        let problem = if let Some(limit) = columns.filter(|limit| !limit.accepts(width)) {
            Some(format!("{limit} columns were asked for"))
        } else if let Some(limit) = rows.filter(|limit| !limit.accepts(found.rows)) {
            Some(format!("{limit} rows were asked for"))
        } else if !header.is_empty() && !csv::same_names(names(), header) {
            let names: Vec<&str> = names().collect();
            Some(format!("its columns are {}, not {}", names.join(", "), header.join(", ")))
        } else {
            None
        };
        match problem {
            None => return Finding::met(said).at(block.range.clone()),
            Some(problem) => {
                let finding = || Finding::not_met(format!("{said}; {problem}")).at(block.range.clone());
                first.get_or_insert_with(finding);
            }
        }
    }
    first.unwrap_or_else(|| Finding::not_met("there is no Markdown table"))
}

fn heading(text: &Segmented<'_>, level: Option<u8>, title: Option<&str>, limit: Limit) -> Finding {
    let title = title.map(|title| Needle::new(title, true, false).text().to_owned());
    let spans: Vec<Range<usize>> = text
        .blocks
        .iter()
        .filter(|block| match block.kind {
            Kind::Heading(found) => level.is_none_or(|level| level == found),
            _ => false,
        })
        .filter(|block| {
            let shown = text.slice(&block.content).trim_matches(['*', '_', '`']);
            title.as_ref().is_none_or(|title| Folded::new(shown.trim(), false).text == *title)
        })
        .map(|block| block.range.clone())
        .collect();
    let mut what = match level {
        Some(level) => format!("a heading of level {level}"),
        None => "a heading".to_owned(),
    };
    if let Some(title) = &title {
        what.push_str(&format!(" “{}”", excerpt(title)));
    }
    occurrences(&what, "occurs", limit, spans)
}

/// The lines outside code without the marks before them: `#`, `>`, emphasis, bullets, numbers.
fn bare_lines<'t>(text: &'t Segmented<'_>) -> impl Iterator<Item = (Range<usize>, &'t str)> {
    let blocks = text.blocks.iter().filter(|block| !matches!(block.kind, Kind::Code { .. } | Kind::Rule));
    blocks.flat_map(move |block| {
        let base = block.range.start;
        lines(text.slice(&block.range)).map(move |line| {
            let line = trim_within(text.text, base + line.start..base + line.end);
            let full = text.slice(&line);
            let is_mark = |c: char| {
                c.is_whitespace() || OPENING_MARKS.contains(&c) || matches!(c, '-' | '+' | '•' | '\u{feff}')
            };
            let mut rest = full.trim_start_matches(is_mark);
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if (1..=3).contains(&digits)
                && let Some(behind) = rest.get(digits..).and_then(|behind| behind.strip_prefix(['.', ')']))
            {
                rest = behind.trim_start_matches(is_mark);
            }
            (line, rest)
        })
    })
}

/// Without marks of emphasis and white space at the end.
fn without_closing_marks(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '#' | '`' | '~'))
}

fn sections(text: &Segmented<'_>, titles: &[String], ordered: bool) -> Finding {
    let wanted: Vec<String> = titles
        .iter()
        .map(|title| Needle::new(title.trim_end_matches(':'), true, false).text().to_owned())
        .collect();
    // The first place of each title: the line's number and its range.
    let mut found: Vec<Option<(usize, Range<usize>)>> = vec![None; wanted.len()];
    let longest = wanted.iter().map(String::len).max().unwrap_or(0);
    for (index, (line, rest)) in bare_lines(text).enumerate() {
        // A title is no longer than the longest one by more than its marks; of the rest of a line only a colon counts.
        let mut end = rest.len().min(longest * 2 + 64);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let is_cut = end < rest.len();
        let folded = Folded::new(rest.get(..end).unwrap_or_default(), false).text;
        for (title, place) in wanted.iter().zip(&mut found) {
            if place.is_some() {
                continue;
            }
            let Some(behind) = folded.strip_prefix(title.as_str()) else { continue };
            let behind = behind.trim_start_matches(['*', '_', '`', ' ']);
            if behind.starts_with([':', '：']) || (!is_cut && without_closing_marks(behind).is_empty()) {
                *place = Some((index, line.clone()));
            }
        }
    }
    let missing: Vec<&str> = titles
        .iter()
        .zip(&found)
        .filter(|(_, place)| place.is_none())
        .map(|(title, _)| title.as_str())
        .collect();
    let count = number(titles.len() - missing.len());
    let spans: Vec<Range<usize>> = found.iter().flatten().map(|(_, line)| line.clone()).collect();
    if !missing.is_empty() {
        let quoted: Vec<String> = missing.iter().map(|title| format!("“{}”", excerpt(title))).collect();
        return Finding::not_met(format!("there is no section {}", quoted.join(", ")))
            .counted(count)
            .showing(spans);
    }
    let in_order = found.iter().flatten().map(|(index, _)| *index).is_sorted_by(|a, b| a < b);
    if ordered && !in_order {
        return Finding::not_met("all sections are there, but in another order")
            .counted(count)
            .showing(spans);
    }
    Finding::met("all sections are there").counted(count).showing(spans)
}

fn numbered_sections(text: &Segmented<'_>, marker: &str, limit: Limit) -> Finding {
    let needle = Needle::new(marker, false, false);
    let spans = bare_lines(text)
        .filter(|(_, rest)| {
            let mut end = rest.len().min(needle.text().len() * 2 + 64);
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            let folded = Folded::new(rest.get(..end).unwrap_or_default(), false).text;
            let Some(behind) = folded.strip_prefix(needle.text()) else { return false };
            let behind = behind.trim_start_matches([' ', '#', '*', '_']);
            let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            let after = behind.get(digits..).unwrap_or_default().trim_start_matches(['*', '_', ' ']);
            digits > 0 && (after.is_empty() || after.starts_with([':', '.', ')', '-', '–', '—', '|']))
        })
        .map(|(line, _)| line)
        .collect();
    occurrences(&format!("a section marked “{} …”", excerpt(marker)), "occurs", limit, spans)
}

fn divided(text: &Segmented<'_>, by: &str, limit: Limit) -> Finding {
    let by: String = by.trim().nfc().collect();
    let mut spans = Vec::new();
    let mut start = 0;
    let ends = text.text.match_indices(&by).map(|(at, by)| (at, at + by.len()));
    for (end, next) in ends.chain([(text.text.len(), text.text.len())]) {
        let part = trim_within(text.text, start..end);
        if !text.slice(&part).trim_matches('\u{feff}').is_empty() {
            spans.push(part);
        }
        start = next;
    }
    let count = number(spans.len());
    let parts = if count == 1 { "part" } else { "parts" };
    Finding::new(
        Verdict::of(limit.accepts(count)),
        format!("{count} {parts} with “{}” in between; {}", excerpt(&by), asked(limit)),
    )
    .counted(count)
    .showing(spans)
}

fn only(text: &Segmented<'_>, what: Unit) -> Finding {
    let is_one = |kind: &Kind| match what {
        // Items within an item may be of the other kind.
        Unit::Bullet => {
            matches!(kind, Kind::Item { is_numbered: false, .. } | Kind::Item { is_nested: true, .. })
        }
        Unit::NumberedItem => {
            matches!(kind, Kind::Item { is_numbered: true, .. } | Kind::Item { is_nested: true, .. })
        }
        Unit::Item => matches!(kind, Kind::Item { .. }),
        Unit::Table => matches!(kind, Kind::Table(_)),
        Unit::CodeBlock => matches!(kind, Kind::Code { .. }),
        _ => matches!(kind, Kind::Heading(_)),
    };
    let others: Vec<Range<usize>> =
        text.blocks.iter().filter(|block| !is_one(&block.kind)).map(|block| block.range.clone()).collect();
    let count = text.find(what).len();
    let named = what.name(2);
    if count == 0 {
        return Finding::not_met(format!("there are no {named}")).counted(0).showing(others);
    }
    match others.first() {
        None => Finding::met(format!("there is nothing but {named}")).counted(number(count)),
        Some(other) => Finding::not_met(format!("beside {named} there is “{}”", excerpt(text.slice(other))))
            .counted(number(count))
            .showing(others),
    }
}

fn letters(text: &Segmented<'_>, case: Case) -> Finding {
    let is_capital = |c: char| !c.to_lowercase().eq([c]);
    let is_small = |c: char| !c.to_uppercase().eq([c]) && !is_capital(c);
    if !text.text.chars().any(|c| is_capital(c) || is_small(c)) {
        return Finding::not_applicable("there is no letter that has a case");
    }
    let mut is_first = true;
    let words = text.find(Unit::Word).into_iter().filter(|span| {
        let word = text.slice(span);
        let is_first = std::mem::replace(&mut is_first, false);
        match case {
            Case::Lower => word.chars().any(is_capital),
            Case::Upper => word.chars().any(is_small),
            Case::Title => {
                word.chars().next().is_some_and(is_small) && (is_first || !MINOR_WORDS.contains(&word))
            }
        }
    });
    let words: Vec<Range<usize>> = words.collect();
    // Letters outside words, such as circled ones, have a case too.
    let outside = match case {
        Case::Lower => text.text.chars().any(is_capital),
        Case::Upper => text.text.chars().any(is_small),
        Case::Title => false,
    };
    let (wanted, lack) = match case {
        Case::Lower => ("small letters only", "with a capital letter"),
        Case::Upper => ("capital letters only", "with a small letter"),
        Case::Title => {
            ("every word but the minor ones to begin with a capital letter", "without a capital letter")
        }
    };
    if words.is_empty() && !outside {
        return Finding::met(format!("as was asked for: {wanted}")).counted(0);
    }
    let count = number(words.len());
    let first = words.first().map(|span| excerpt(text.slice(span))).unwrap_or_default();
    let named = if count == 1 { "word" } else { "words" };
    Finding::not_met(format!("{count} {named} {lack}, first “{first}”; asked for were {wanted}"))
        .counted(count)
        .showing(words)
}

fn postscript(text: &Segmented<'_>, marker: &str) -> Finding {
    let wanted: Vec<char> =
        Needle::new(marker, true, false).text().chars().filter(|c| !matches!(c, '.' | ' ' | ':')).collect();
    let first = trimmed(text.text).start;
    for (line, rest) in bare_lines(text) {
        if line.start <= first || wanted.is_empty() {
            continue;
        }
        let mut left = wanted.iter();
        let mut next = left.next();
        let mut behind = rest;
        while let (Some(letter), Some(found)) = (next, behind.chars().next()) {
            if found.to_lowercase().eq([*letter]) {
                next = left.next();
            } else if found != '.' {
                break;
            }
            behind = behind.get(found.len_utf8()..).unwrap_or_default();
        }
        if next.is_none() && !behind.starts_with(char::is_alphanumeric) {
            return Finding::met("there is a postscript").at(line);
        }
    }
    Finding::not_met(format!("no line behind the text begins with “{}”", excerpt(marker)))
}

fn repeats(text: &Segmented<'_>, request: &str, then_answer: bool) -> Finding {
    let inner = trimmed(text.text);
    let unquoted = text.slice(&inner).trim_start_matches(|c: char| {
        c.is_whitespace()
            || OPENING_MARKS.contains(&c)
            || matches!(c, '"' | '“' | '„' | '«' | '「' | '\'' | '‘')
    });
    let found = start_of(text.text, request, false, false).or_else(|| {
        let base = inner.end - unquoted.len();
        start_of(unquoted, request, false, false).map(|span| base + span.start..base + span.end)
    });
    let Some(span) = found else {
        return not_at_start(text, &format!("“{}”", excerpt(request)));
    };
    let rest = text.text.get(span.end..).unwrap_or_default();
    if then_answer && !rest.chars().any(char::is_alphanumeric) {
        return Finding::not_met("the request is repeated, but nothing follows").at(span);
    }
    Finding::met("the request is repeated first").at(span)
}

fn choice(text: &Segmented<'_>, options: &[String], place: Place) -> Finding {
    let folded = Folded::new(text.text, false);
    let list = || {
        let quoted: Vec<String> = options.iter().map(|option| format!("“{}”", excerpt(option))).collect();
        quoted.join(", ")
    };
    if place == Place::Start {
        let found = options
            .iter()
            .filter_map(|option| start_of(text.text, option, false, false).map(|span| (span, option)))
            .max_by_key(|(span, _)| span.end);
        return match found {
            Some((span, option)) => Finding::met(format!("it begins with “{}”", excerpt(option))).at(span),
            None => not_at_start(text, &format!("one of {}", list())),
        };
    }
    // All occurrences of all options, the longer first where two begin together; what stands within another goes.
    let mut all: Vec<(Range<usize>, usize)> = Vec::new();
    for (index, option) in options.iter().enumerate() {
        let needle = Needle::new(option, false, false);
        all.extend(needle.find_all(&folded.text).into_iter().map(|span| (span, index)));
    }
    all.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    let mut end = 0;
    all.retain(|(span, _)| {
        let is_outside = span.end > end;
        end = end.max(span.end);
        is_outside
    });
    let mut chosen: Vec<usize> = all.iter().map(|(_, index)| *index).collect();
    chosen.sort_unstable();
    chosen.dedup();
    let spans: Vec<Range<usize>> = all.iter().map(|(span, _)| folded.source(span)).collect();
    let count = number(chosen.len());
    let named = chosen
        .first()
        .and_then(|index| options.get(*index))
        .map(|option| excerpt(option))
        .unwrap_or_default();
    match (place, chosen.len()) {
        (_, 0) => Finding::not_met(format!("none of {} occurs", list())).counted(count),
        (_, 2..) => Finding::not_met(format!("{count} of the options occur; one was to be chosen"))
            .counted(count)
            .showing(spans),
        (Place::Whole, _) => {
            let span = all.first().map(|(span, _)| span.clone()).unwrap_or_default();
            let before = folded.text.get(..span.start).unwrap_or_default();
            let after = folded.text.get(span.end..).unwrap_or_default();
            let is_alone = !before.chars().chain(after.chars()).any(char::is_alphanumeric);
            if is_alone {
                Finding::met(format!("the response is “{named}”")).counted(count).showing(spans)
            } else {
                Finding::not_met(format!("there is more than the option “{named}”"))
                    .counted(count)
                    .showing(spans)
            }
        }
        _ => Finding::met(format!("“{named}” is chosen")).counted(count).showing(spans),
    }
}

fn within(text: &Segmented<'_>, which: Which, unit: Unit, constraint: &Constraint) -> Finding {
    let parts = text.parts(unit);
    let name = unit.name(1);
    let verify_part = |part: &Range<usize>| {
        let mut finding = verify_in(constraint, &Segmented::new(text.slice(part)));
        for span in &mut finding.evidence {
            *span = span.start + part.start..span.end + part.start;
        }
        finding
    };
    let one = |part: Option<&Range<usize>>, called: String| match part {
        Some(part) => {
            let mut finding = verify_part(part);
            finding.sentence = format!("the {called}: {}", finding.sentence);
            finding
        }
        None => Finding::not_met(format!("there is no {called}")),
    };
    match which {
        Which::First => one(parts.first(), format!("first {name}")),
        Which::Last => one(parts.last(), format!("last {name}")),
        Which::Nth(nth) => {
            let index = usize::try_from(nth - nth.min(1)).unwrap_or(usize::MAX);
            one(parts.get(index), format!("{name} number {nth}"))
        }
        Which::Each => {
            let mut not_met: Option<(usize, Finding)> = None;
            let (mut met, mut failed) = (0_u64, 0_u64);
            for (index, part) in parts.iter().enumerate() {
                let finding = verify_part(part);
                match finding.verdict {
                    Verdict::Met => met += 1,
                    Verdict::NotApplicable => {}
                    Verdict::NotMet => {
                        failed += 1;
                        match &mut not_met {
                            None => {
                                let span = (!part.is_empty()).then(|| part.clone());
                                let is_silent = finding.evidence.is_empty();
                                let finding = finding.showing(span.filter(|_| is_silent));
                                not_met = Some((index, finding));
                            }
                            Some((_, first)) => {
                                *first = std::mem::replace(first, Finding::met("")).at(part.clone());
                            }
                        }
                    }
                }
            }
            match not_met {
                Some((index, mut finding)) => {
                    finding.sentence = format!("{name} number {}: {}", index + 1, finding.sentence);
                    if failed > 1 {
                        finding.sentence.push_str(&format!("; and {} more", failed - 1));
                    }
                    finding.count = Some(failed);
                    finding
                }
                None if met > 0 => {
                    Finding::met(format!("every {name} is as was asked for ({met} checked)")).counted(0)
                }
                None if parts.is_empty() => Finding::not_applicable(format!("there are no {}", unit.name(2))),
                None => Finding::not_applicable(format!("in no {name} could this be checked")),
            }
        }
    }
}

/// The findings with a verdict, as one.
fn joined(verdict: Verdict, findings: Vec<Finding>) -> Finding {
    let mut whole = Finding::new(verdict, "");
    for finding in findings {
        if finding.verdict == verdict {
            if !whole.sentence.is_empty() {
                whole.sentence.push_str("; ");
            }
            whole.sentence.push_str(&finding.sentence);
            whole = whole.showing(finding.evidence);
        }
    }
    whole
}

fn all(findings: Vec<Finding>) -> Finding {
    let has = |verdict| findings.iter().any(|finding| finding.verdict == verdict);
    let verdict = if has(Verdict::NotMet) {
        Verdict::NotMet
    } else if has(Verdict::Met) {
        Verdict::Met
    } else {
        Verdict::NotApplicable
    };
    joined(verdict, findings)
}

fn any(findings: Vec<Finding>) -> Finding {
    let has = |verdict| findings.iter().any(|finding| finding.verdict == verdict);
    let verdict = if has(Verdict::Met) {
        Verdict::Met
    } else if has(Verdict::NotMet) {
        Verdict::NotMet
    } else {
        Verdict::NotApplicable
    };
    joined(verdict, findings)
}
