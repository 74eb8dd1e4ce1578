//! The units of a text: where its words, sentences, paragraphs, bullets and so on stand.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::Unit;
use crate::outline::{Block, Kind, lines, outline, trim_within};
use crate::text::trimmed;

/// Abbreviations behind whose full stop a sentence goes on, in lower case. Those that often end a sentence ("etc.",
/// "p.m.", "Jr.") are left to the annex.
pub const ABBREVIATIONS: &[&str] = &[
    "al", "approx", "capt", "cf", "col", "dr", "e.g", "eg", "fig", "figs", "gen", "gov", "i.e", "ie", "lt",
    "messrs", "mr", "mrs", "ms", "mt", "mx", "pp", "prof", "rep", "rev", "sen", "sgt", "st", "viz", "vol",
    "vs",
];

/// Words that show, behind "J." or "U.S.", that a new sentence has begun.
const OPENERS: &[&str] = &[
    "A", "After", "All", "Also", "An", "And", "As", "At", "Because", "But", "For", "He", "Her", "His", "How",
    "However", "I", "If", "In", "It", "Its", "My", "No", "Not", "On", "Or", "Our", "She", "So", "That",
    "The", "Their", "Then", "There", "These", "They", "This", "To", "Was", "We", "What", "When", "Where",
    "While", "Who", "Why", "Yes", "You", "Your",
];

/// A text with its outline. Units are ranges of the text.
#[derive(Debug)]
pub(crate) struct Segmented<'t> {
    pub(crate) text: &'t str,
    pub(crate) blocks: Cow<'t, [Block]>,
}

impl<'t> Segmented<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, blocks: Cow::Owned(outline(text)) }
    }

    /// How many there are. Characters are counted without listing them.
    pub(crate) fn count(&self, unit: Unit) -> u64 {
        let text = self.text.get(trimmed(self.text)).unwrap_or_default();
        let count = match unit {
            Unit::Character if text.is_ascii() => text.len() - text.matches("\r\n").count(),
            Unit::Character => text.graphemes(true).count(),
            Unit::NonSpaceCharacter => text.graphemes(true).filter(|g| !g.trim().is_empty()).count(),
            Unit::Word => text.unicode_words().count(),
            _ => self.find(unit).len(),
        };
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    /// All of them, in their order.
    pub(crate) fn find(&self, unit: Unit) -> Vec<Range<usize>> {
        match unit {
            Unit::Word => self.words().collect(),
            Unit::UppercaseWord => self
                .words()
                .filter(|range| {
                    let mut letters = self.slice(range).chars().filter(|c| c.is_alphabetic()).peekable();
                    letters.peek().is_some()
                        && letters.clone().count() >= 2
                        && letters.all(char::is_uppercase)
                })
                .collect(),
            Unit::Sentence => self.sentences(),
            Unit::Question => {
                self.sentences().into_iter().filter(|range| is_question(self.slice(range))).collect()
            }
            Unit::Paragraph => self.paragraphs(),
            Unit::Line => lines(self.text)
                .map(|line| trim_within(self.text, line))
                .filter(|line| !self.slice(line).trim_start_matches('\u{feff}').is_empty())
                .collect(),
            Unit::Character => self.graphemes().map(|(range, _)| range).collect(),
            Unit::NonSpaceCharacter => self
                .graphemes()
                .filter(|(_, grapheme)| !grapheme.trim().is_empty())
                .map(|(range, _)| range)
                .collect(),
            Unit::Item => self.items(|_, is_nested, _| !is_nested),
            Unit::Bullet => {
                self.items(|is_numbered, _, is_nested_in_kind| !is_numbered && !is_nested_in_kind)
            }
            Unit::NumberedItem => {
                self.items(|is_numbered, _, is_nested_in_kind| is_numbered && !is_nested_in_kind)
            }
            Unit::Heading => self.blocks_of(|kind| matches!(kind, Kind::Heading(_))),
            Unit::Table => self.blocks_of(|kind| matches!(kind, Kind::Table(_))),
            Unit::CodeBlock => self.blocks_of(|kind| matches!(kind, Kind::Code { .. })),
            Unit::Formula => self.formulas(),
            Unit::Placeholder => self.placeholders(),
            Unit::Highlight => self.highlights(),
            Unit::Quotation => self.quotations(),
            Unit::Link => self.links(),
            Unit::Emoji => {
                self.graphemes().filter(|(_, grapheme)| is_emoji(grapheme)).map(|(range, _)| range).collect()
            }
            Unit::Number => self.numbers(),
            Unit::Comma => self
                .text
                .char_indices()
                .filter(|(_, character)| matches!(character, ',' | '，' | '、' | '﹐' | '،'))
                .map(|(at, comma)| at..at + comma.len_utf8())
                .collect(),
        }
    }

    /// What a constraint within such a part is put on: a list item without its mark, a heading without its `#`, a code
    /// block without its fences; anything else as it is.
    pub(crate) fn parts(&self, unit: Unit) -> Vec<Range<usize>> {
        let contents = |wanted: &dyn Fn(&Kind) -> bool| {
            self.blocks.iter().filter(|b| wanted(&b.kind)).map(|b| b.content.clone()).collect()
        };
        match unit {
            Unit::Item => contents(&|kind| matches!(kind, Kind::Item { is_nested: false, .. })),
            Unit::Bullet => contents(&|kind| {
                matches!(kind, Kind::Item { is_numbered: false, is_nested_in_kind: false, .. })
            }),
            Unit::NumberedItem => contents(&|kind| {
                matches!(kind, Kind::Item { is_numbered: true, is_nested_in_kind: false, .. })
            }),
            Unit::Heading => contents(&|kind| matches!(kind, Kind::Heading(_))),
            Unit::CodeBlock => contents(&|kind| matches!(kind, Kind::Code { .. })),
            other => self.find(other),
        }
    }

    pub(crate) fn slice(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    fn words(&self) -> impl Iterator<Item = Range<usize>> + use<'t> {
        self.text.unicode_word_indices().map(|(at, word)| at..at + word.len())
    }

    fn graphemes(&self) -> impl Iterator<Item = (Range<usize>, &'t str)> + use<'t> {
        let inner = trimmed(self.text);
        let start = inner.start;
        let text = self.text.get(inner).unwrap_or_default();
        text.grapheme_indices(true).map(move |(at, g)| (start + at..start + at + g.len(), g))
    }

    fn blocks_of(&self, wanted: impl Fn(&Kind) -> bool) -> Vec<Range<usize>> {
        self.blocks.iter().filter(|block| wanted(&block.kind)).map(|block| block.range.clone()).collect()
    }

    fn items(&self, wanted: impl Fn(bool, bool, bool) -> bool) -> Vec<Range<usize>> {
        self.blocks_of(|kind| match *kind {
            Kind::Item { is_numbered, is_nested, is_nested_in_kind } => {
                wanted(is_numbered, is_nested, is_nested_in_kind)
            }
            _ => false,
        })
    }

    fn sentences(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for block in self.blocks.iter() {
            if matches!(block.kind, Kind::Text | Kind::Item { .. }) {
                sentences_of(self.slice(&block.content), block.content.start, &mut found);
            }
        }
        found
    }

    fn paragraphs(&self) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut run = None;
        for (index, block) in self.blocks.iter().enumerate() {
            let is_text = block.kind == Kind::Text;
            let is_item = matches!(block.kind, Kind::Item { .. });
            if run == Some(block.run) && (is_text || is_item) {
                if let Some(last) = found.last_mut() {
                    last.end = block.range.end;
                }
                continue;
            }
            let text = self.slice(&block.content);
            let stands_alone = self.blocks.get(index + 1).is_none_or(|next| next.run != block.run);
            let has_words = text.chars().any(char::is_alphanumeric);
            if is_text && has_words && !(stands_alone && is_emphasised_line(text)) {
                found.push(block.range.clone());
                run = Some(block.run);
            }
        }
        found
    }

    /// The ranges of the text that are not code, in their order, block by block.
    pub(crate) fn prose(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for block in self.blocks.iter() {
            if matches!(block.kind, Kind::Code { .. } | Kind::Rule) {
                continue;
            }
            let mut start = block.content.start;
            for span in code_spans(self.slice(&block.content)) {
                let span = block.content.start + span.start..block.content.start + span.end;
                found.push(start..span.start);
                start = span.end;
            }
            found.push(start..block.content.end);
        }
        found
    }

    fn formulas(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for range in self.prose() {
            formulas_of(self.slice(&range), range.start, &mut found);
        }
        found
    }

    fn placeholders(&self) -> Vec<Range<usize>> {
        let formulas = self.formulas();
        let mut found = Vec::new();
        for range in self.prose() {
            placeholders_of(self.slice(&range), range.start, &mut found);
        }
        let mut next = 0;
        found.retain(|span: &Range<usize>| {
            while formulas.get(next).is_some_and(|formula| formula.end <= span.start) {
                next += 1;
            }
            formulas.get(next).is_none_or(|formula| formula.start >= span.end)
        });
        found
    }

    fn highlights(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for range in self.prose() {
            for line in lines(self.slice(&range)) {
                let line = range.start + line.start..range.start + line.end;
                highlights_of(self.slice(&line), line.start, &mut found);
            }
        }
        found
    }

    fn quotations(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for range in self.prose() {
            let mut open: Option<(char, usize)> = None;
            for (at, character) in self.slice(&range).char_indices() {
                let at = range.start + at;
                match open {
                    Some((close, start)) if closes(close, character) => {
                        let inner = self.slice(&(start..at));
                        if inner.chars().skip(1).any(|c| !c.is_whitespace()) {
                            found.push(start..at + character.len_utf8());
                        }
                        open = None;
                    }
                    Some(_) => {}
                    None => open = closing(character).map(|close| (close, at)),
                }
            }
        }
        found
    }

    fn links(&self) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            let begins =
                |with: &[u8]| rest.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
            let scheme = if begins(b"http://") {
                7
            } else if begins(b"https://") {
                8
            } else if begins(b"www.") && !self.slice(&(0..at)).ends_with(char::is_alphanumeric) {
                4
            } else {
                at += 1;
                continue;
            };
            let body = self.text.get(at + scheme..).unwrap_or_default();
            let length = body
                .find(|c: char| {
                    c.is_whitespace() || matches!(c, '<' | '>' | '"' | ')' | ']' | '`' | '”' | '，' | '。')
                })
                .unwrap_or(body.len());
            let address =
                body.get(..length).unwrap_or_default().trim_end_matches(['.', ',', ';', ':', '!', '?', '*']);
            if address.starts_with(char::is_alphanumeric) {
                found.push(at..at + scheme + address.len());
            }
            at += scheme + address.len();
        }
        found
    }

    fn numbers(&self) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut current: Option<Range<usize>> = None;
        let mut characters = self.text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let end = at + character.len_utf8();
            let joins = matches!(character, '.' | ',')
                && characters.peek().is_some_and(|(_, next)| next.is_numeric());
            if character.is_numeric() {
                current = Some(current.map_or(at, |number| number.start)..end);
            } else if !(joins && current.is_some()) {
                found.extend(current.take());
            }
        }
        found.extend(current);
        found
    }
}

/// Whether a sentence asks.
fn is_question(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '”' | '’' | '»' | '」' | ')' | ']' | '*' | '_')
    });
    let marks = end.trim_end_matches(['?', '!', '？', '！', '؟', '\u{37e}']);
    end.get(marks.len()..).is_some_and(|marks| marks.contains(['?', '？', '؟', '\u{37e}']))
}

/// Whether a text of one line is emphasised as a whole, as titles are: `**Title**`.
pub(crate) fn is_emphasised_line(text: &str) -> bool {
    let text = text.trim();
    !text.contains(['\n', '\r'])
        && ["**", "__"].iter().any(|mark| {
            text.strip_prefix(mark)
                .and_then(|rest| rest.strip_suffix(':').unwrap_or(rest).strip_suffix(mark))
                .is_some_and(|inner| !inner.is_empty() && !inner.contains(mark))
        })
}

/// The sentences of one block, added as ranges from `base`.
fn sentences_of(block: &str, base: usize, found: &mut Vec<Range<usize>>) {
    // Line breaks, and the marks of block quotes behind them, become spaces of the same length in bytes.
    let mut flat = String::with_capacity(block.len());
    let mut at_line_start = true;
    for character in block.chars() {
        match character {
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                flat.extend(std::iter::repeat_n(' ', character.len_utf8()));
                at_line_start = true;
            }
            '>' if at_line_start => flat.push(' '),
            _ => {
                at_line_start &= character.is_whitespace();
                flat.push(character);
            }
        }
    }
    let has_capitals = flat.chars().any(char::is_uppercase);
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for (at, piece) in flat.split_sentence_bound_indices() {
        if has_capitals {
            pieces.push(at..at + piece.len());
        } else {
            split_without_capitals(piece, at, &mut pieces);
        }
    }
    let mut start = None;
    for (index, piece) in pieces.iter().enumerate() {
        let from = *start.get_or_insert(piece.start);
        let next = pieces.get(index + 1).map_or("", |next| flat.get(next.clone()).unwrap_or_default());
        if !next.is_empty() && goes_on(flat.get(from..piece.end).unwrap_or_default(), next) {
            continue;
        }
        start = None;
        let sentence = trim_within(&flat, from..piece.end);
        if flat.get(sentence.clone()).unwrap_or_default().chars().any(char::is_alphanumeric) {
            found.push(base + sentence.start..base + sentence.end);
        }
    }
}

/// Splits behind full stops, exclamation and question marks and the white space that follows.
fn split_without_capitals(piece: &str, base: usize, pieces: &mut Vec<Range<usize>>) {
    let mut start = 0;
    let mut after_end = false;
    let mut after_space = false;
    for (at, character) in piece.char_indices() {
        if after_end && after_space && !character.is_whitespace() {
            pieces.push(base + start..base + at);
            start = at;
            after_end = false;
        }
        after_space = character.is_whitespace();
        match character {
            '.' | '!' | '?' | '…' => after_end = true,
            '"' | '\'' | ')' | ']' | '”' | '’' | '*' | '_' => {}
            _ if after_space => {}
            _ => after_end = false,
        }
    }
    pieces.push(base + start..base + piece.len());
}

/// Whether a sentence that the annex ends goes on.
fn goes_on(sentence: &str, next: &str) -> bool {
    let end = sentence.trim_end();
    // "Stop!" he said.
    if end.ends_with(['"', '”', '’', '»', '」', ')']) && next.trim_start().starts_with(char::is_lowercase)
    {
        return true;
    }
    // A mark of emphasis that closes behind the full stop.
    if !next.chars().any(char::is_alphanumeric) {
        return true;
    }
    let Some(end) = end.strip_suffix('.') else { return false };
    let last =
        end.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“' | '*' | '_')).next();
    let Some(last) = last.filter(|last| !last.is_empty()) else { return false };
    if last.len() <= 16 && ABBREVIATIONS.contains(&last.to_lowercase().as_str()) {
        return true;
    }
    // "J. R. R. Tolkien", "the U.S. Navy", but "plan B. We …", "in the U.S. The …".
    let is_letter = |part: &str| {
        let mut letters = part.chars();
        letters.next().is_some_and(char::is_uppercase) && letters.next().is_none()
    };
    if last.len() > 16 || !last.split('.').all(is_letter) {
        return false;
    }
    let follower = next.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    if OPENERS.contains(&follower) {
        return false;
    }
    let before = end.get(..end.len() - last.len()).unwrap_or_default().trim_end();
    let previous = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    last.contains('.') || previous.is_empty() || previous.starts_with(char::is_uppercase)
}

/// The code spans of a block: backticks to the next run of as many.
fn code_spans(block: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in block.match_indices('`') {
        match runs.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    // The next run of equal length, found from the back so that the whole is linear.
    let mut latest: HashMap<usize, usize> = HashMap::new();
    let mut partner = vec![None; runs.len()];
    for (index, run) in runs.iter().enumerate().rev() {
        if let Some(slot) = partner.get_mut(index) {
            *slot = latest.insert(run.len(), index);
        }
    }
    let mut found = Vec::new();
    let mut index = 0;
    while let Some(run) = runs.get(index) {
        match partner.get(index).copied().flatten().and_then(|to| runs.get(to).map(|close| (to, close))) {
            Some((to, close)) => {
                found.push(run.start..close.end);
                index = to + 1;
            }
            None => index += 1,
        }
    }
    found
}

fn closing(open: char) -> Option<char> {
    match open {
        '"' => Some('"'),
        '“' => Some('”'),
        '„' => Some('“'),
        '«' => Some('»'),
        '「' => Some('」'),
        _ => None,
    }
}

/// German closes with “, other languages that open with „ with ”.
fn closes(close: char, character: char) -> bool {
    character == close || (close == '“' && character == '”')
}

/// Whether the text stands within quotation marks as a whole.
pub(crate) fn is_quoted(text: &str) -> bool {
    let text = text.trim();
    let mut characters = text.chars();
    let (Some(first), Some(last)) = (characters.next(), characters.next_back()) else { return false };
    let Some(close) = closing(first).filter(|close| closes(*close, last)) else { return false };
    // Two passages side by side are not one: nothing within may close what the first mark opened. A straight mark
    // cannot be told to open or close, so an even number within is taken for passages of their own.
    let inner = characters.as_str();
    match first {
        '"' => {
            inner.matches('"').count().is_multiple_of(2)
                && inner.chars().any(|c| c != '"' && !c.is_whitespace())
        }
        _ => {
            let mut depth = 0_usize;
            for character in inner.chars() {
                if character == first {
                    depth += 1;
                } else if closes(close, character) {
                    match depth.checked_sub(1) {
                        Some(less) => depth = less,
                        None => return false,
                    }
                }
            }
            depth == 0 && !inner.trim().is_empty()
        }
    }
}

/// Whether braces balance, those behind a backslash left out.
fn braces_balance(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for byte in text.bytes() {
        match byte {
            b'{' if !is_escaped => depth += 1,
            b'}' if !is_escaped => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            _ => {}
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    depth == 0
}

/// The formulas of a stretch of prose, in one pass: the last opening of each kind is remembered.
fn formulas_of(text: &str, base: usize, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied();
    let mut dollar = None;
    let mut dollars = None;
    let mut round = None;
    let mut square = None;
    let mut environments: Vec<(&str, usize)> = Vec::new();
    let mut covered = 0;
    let mut take = |range: Range<usize>, inner: Range<usize>, covered: &mut usize| {
        let inside = text.get(inner).unwrap_or_default();
        if !inside.trim().is_empty() && braces_balance(inside) && range.start >= *covered {
            *covered = range.end;
            found.push(base + range.start..base + range.end);
        }
    };
    let mut at = 0;
    while let Some(current) = byte(at) {
        match (current, byte(at + 1)) {
            (b'\\', Some(b'(')) => {
                round = Some(at);
                at += 2;
            }
            (b'\\', Some(b'[')) => {
                square = Some(at);
                at += 2;
            }
            (b'\\', Some(b')')) => {
                if let Some(start) = round.take() {
                    take(start..at + 2, start + 2..at, &mut covered);
                }
                at += 2;
            }
            (b'\\', Some(b']')) => {
                if let Some(start) = square.take() {
                    take(start..at + 2, start + 2..at, &mut covered);
                }
                at += 2;
            }
            (b'\\', Some(b'b' | b'e')) => {
                let rest = text.get(at..).unwrap_or_default();
                // A name is short; a longer one is none.
                let name = |with: &str| {
                    let inner = rest.strip_prefix(with)?;
                    let end = inner.bytes().take(40).position(|byte| byte == b'}')?;
                    inner.get(..end)
                };
                if let Some(name) = name("\\begin{") {
                    environments.push((name, at));
                    at += 8 + name.len();
                } else if let Some(name) = name("\\end{") {
                    let end = at + 6 + name.len();
                    if environments.last().is_some_and(|(open, _)| *open == name)
                        && let Some((_, start)) = environments.pop()
                        && environments.is_empty()
                        && dollars.is_none()
                        && square.is_none()
                    {
                        take(start..end, start..end, &mut covered);
                    }
                    at = end;
                } else {
                    at += 2;
                }
            }
            (b'\\', Some(_)) => at += 2,
            (b'$', Some(b'$')) => {
                match dollars.take() {
                    Some(start) => take(start..at + 2, start + 2..at, &mut covered),
                    None => dollars = Some(at),
                }
                dollar = None;
                at += 2;
            }
            (b'$', next) if dollars.is_none() => {
                let before_is_space = at == 0 || byte(at - 1).is_some_and(|b| b.is_ascii_whitespace());
                let after_is_space = next.is_none_or(|b| b.is_ascii_whitespace());
                let before_digit = next.is_some_and(|b| b.is_ascii_digit());
                match dollar {
                    Some(start) if !before_is_space && !before_digit => {
                        take(start..at + 1, start + 1..at, &mut covered);
                        dollar = None;
                    }
                    _ if !after_is_space => dollar = Some(at),
                    _ => {}
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// The placeholders of a stretch of prose.
fn placeholders_of(text: &str, base: usize, found: &mut Vec<Range<usize>>) {
    // The last opening of each kind: brackets within brackets leave the innermost.
    let mut open: [Option<usize>; 3] = [None; 3];
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '[' => open[0] = Some(at),
            // Of "{{" the first counts.
            '{' if open[1].is_none_or(|start| start + 1 != at) => open[1] = Some(at),
            '<' => open[2] = Some(at),
            '\n' | '\r' => open = [None; 3],
            ']' | '}' | '>' => {
                let (slot, is_filled): (usize, fn(&str) -> bool) = match character {
                    ']' => (0, |inner| !inner.starts_with('^') && !matches!(inner, "x" | "X")),
                    '}' => (1, |_| true),
                    _ => (2, is_angle_placeholder),
                };
                let Some(start) = open.get_mut(slot).and_then(Option::take) else { continue };
                let mut end = at + 1;
                let mut inner = text.get(start + 1..at).unwrap_or_default();
                let next = characters.peek().map(|(_, next)| *next);
                if character == '}' && inner.starts_with('{') && next == Some('}') {
                    inner = inner.get(1..).unwrap_or_default();
                    end += 1;
                    characters.next();
                }
                let is_link = character == ']' && matches!(next, Some('(' | '[' | ':'));
                let follows_backslash = text.get(..start).is_some_and(|before| before.ends_with('\\'));
                let has_letter = inner.chars().any(char::is_alphabetic);
                if has_letter && !is_link && !follows_backslash && is_filled(inner.trim()) {
                    found.push(base + start..base + end);
                }
            }
            _ => {}
        }
    }
    found.sort_by_key(|span| span.start);
}

fn is_angle_placeholder(inner: &str) -> bool {
    if inner.contains(['=', '/', '"', '@', ':']) || !inner.starts_with(char::is_alphabetic) {
        return false;
    }
    let mut letters = inner.chars().filter(|c| c.is_alphabetic());
    let all_capitals =
        inner.chars().filter(|c| c.is_alphabetic()).count() > 1 && letters.all(char::is_uppercase);
    all_capitals || inner.contains(' ')
}

/// The emphasised passages of a line: a run of one to three marks to the next run of as many.
fn highlights_of(line: &str, base: usize, found: &mut Vec<Range<usize>>) {
    let bytes = line.as_bytes();
    // Where a run of each mark and length opened.
    let mut open: [[Option<usize>; 4]; 2] = [[None; 4]; 2];
    let mut end_of_last = 0;
    let mut at = 0;
    while let Some(mark) = bytes.get(at).copied() {
        if mark == b'\\' {
            at += 2;
            continue;
        }
        if !matches!(mark, b'*' | b'_') {
            at += 1;
            continue;
        }
        let length = bytes.get(at..).unwrap_or_default().iter().take_while(|byte| **byte == mark).count();
        let start = at;
        at += length;
        let Some(slot) = open.get_mut(usize::from(mark == b'_')).and_then(|runs| runs.get_mut(length)) else {
            continue;
        };
        let before = line.get(..start).and_then(|before| before.chars().next_back());
        let after = line.get(at..).and_then(|after| after.chars().next());
        let can_close = before.is_some_and(|c| !c.is_whitespace())
            && !(mark == b'_' && after.is_some_and(char::is_alphanumeric));
        let can_open = after.is_some_and(|c| !c.is_whitespace())
            && !(mark == b'_' && before.is_some_and(char::is_alphanumeric));
        match *slot {
            Some(opened) if can_close => {
                // Emphasis within emphasis is part of the outer passage.
                if opened < end_of_last {
                    while found.last().is_some_and(|last| last.start >= base + opened) {
                        found.pop();
                    }
                }
                let range = base + opened..base + at;
                if found.last().is_none_or(|last| last.end <= range.start) {
                    found.push(range);
                }
                end_of_last = at;
                *slot = None;
            }
            _ if can_open => *slot = Some(start),
            _ => {}
        }
    }
}

/// Whether a grapheme cluster is shown as a picture.
fn is_emoji(grapheme: &str) -> bool {
    let mut characters = grapheme.chars();
    let Some(first) = characters.next() else { return false };
    let is_picture = matches!(u32::from(first),
        0x1F004 | 0x1F0CF | 0x1F18E | 0x1F191..=0x1F19A | 0x1F1E6..=0x1F1FF | 0x1F201..=0x1F202 | 0x1F21A | 0x1F22F
        | 0x1F232..=0x1F23A | 0x1F250 | 0x1F251 | 0x1F300..=0x1F64F | 0x1F680..=0x1F6FF | 0x1F7E0..=0x1F7F0
        | 0x1F90C..=0x1F9FF | 0x1FA70..=0x1FAFF
        | 0x231A | 0x231B | 0x23E9..=0x23EC | 0x23F0 | 0x23F3 | 0x25FD | 0x25FE | 0x2614 | 0x2615 | 0x2648..=0x2653
        | 0x267F | 0x2693 | 0x26A1 | 0x26AA | 0x26AB | 0x26BD | 0x26BE | 0x26C4 | 0x26C5 | 0x26CE | 0x26D4 | 0x26EA
        | 0x26F2 | 0x26F3 | 0x26F5 | 0x26FA | 0x26FD | 0x2705 | 0x270A | 0x270B | 0x2728 | 0x274C | 0x274E
        | 0x2753..=0x2755 | 0x2757 | 0x2795..=0x2797 | 0x27B0 | 0x27BF | 0x2B1B | 0x2B1C | 0x2B50 | 0x2B55);
    let mut rest = characters.clone();
    // The text presentation selector makes a sign of a picture; the emoji one, and the key cap, a picture of a sign.
    let is_text = characters.any(|c| c == '\u{fe0e}');
    let is_made = rest.any(|c| matches!(c, '\u{fe0f}' | '\u{20e3}'));
    (is_picture && !is_text) || is_made
}
