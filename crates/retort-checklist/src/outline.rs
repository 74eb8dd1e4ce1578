//! The blocks of a response that is written in Markdown: headings, list items, tables, code, running text.
//!
//! One pass over the lines. It reads what CommonMark and GitHub define in so far as counting needs it; what it leaves
//! out is said at [`Unit`](crate::Unit) or here: code by indentation is read as text, since models indent for other
//! reasons; block quotes are running text; lists need no blank line before them.

use std::ops::Range;

/// What a block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Running text.
    Text,
    /// With its level, 1 to 6.
    Heading(u8),
    /// An item of a list.
    Item {
        is_numbered: bool,
        /// Whether it stands within another item.
        is_nested: bool,
        /// Whether it stands within another item of its own kind.
        is_nested_in_kind: bool,
    },
    Table(Table),
    Code {
        /// What stands behind the opening fence.
        info: Range<usize>,
        is_closed: bool,
    },
    Rule,
}

/// The cells of a Markdown table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) header: Vec<Range<usize>>,
    pub(crate) rows: u64,
}

/// A block. Ranges are bytes of the text that the outline was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) kind: Kind,
    /// The block with its marks, without the last line's ending.
    pub(crate) range: Range<usize>,
    /// What it says, without marks.
    pub(crate) content: Range<usize>,
    /// Which run of lines without a blank line in between it stands in.
    pub(crate) run: usize,
}

/// The lines of a text without their endings: LF, CRLF or CR. What ends in a line ending has no empty line behind it.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= bytes.len() {
            return None;
        }
        let rest = bytes.get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let line = start..start + length;
        let ending = match (rest.get(length), rest.get(length + 1)) {
            (Some(b'\r'), Some(b'\n')) => 2,
            (Some(_), _) => 1,
            (None, _) => 0,
        };
        start += length + ending;
        Some(line)
    })
}

/// How far a line is indented, in columns with tab stops of four, and in bytes.
fn indentation(line: &str) -> (usize, usize) {
    let mut columns = 0;
    let mut bytes = 0;
    for character in line.chars() {
        match character {
            '\t' => columns += 4 - columns % 4,
            character if character.is_whitespace() => columns += 1,
            _ => break,
        }
        bytes += character.len_utf8();
    }
    (columns, bytes)
}

/// A mark that opens a list item: whether it is a number, the number, and the bytes to the item's content.
struct Marker {
    is_numbered: bool,
    number: u16,
    length: usize,
}

/// Signs that open a bullet and need no space behind them, beside `-`, `*` and `+`, which do.
const BULLET_SIGNS: &str = "•◦▪▫‣●○■□◆➢➤⁃∙";

fn marker(line: &str) -> Option<Marker> {
    let first = line.chars().next()?;
    let space_behind = |length: usize| {
        let rest = line.get(length..)?;
        let space = rest.len() - rest.trim_start().len();
        (space > 0 || rest.is_empty()).then_some(length + space)
    };
    if matches!(first, '-' | '*' | '+')
        && let Some(length) = space_behind(1)
    {
        return Some(Marker { is_numbered: false, number: 0, length });
    }
    if BULLET_SIGNS.contains(first) {
        let rest = line.get(first.len_utf8()..)?;
        let length = line.len() - rest.trim_start().len();
        return Some(Marker { is_numbered: false, number: 0, length });
    }
    let emphasis = if line.starts_with("**") || line.starts_with("__") { 2 } else { 0 };
    let inner = line.get(emphasis..)?;
    let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=3).contains(&digits) || !matches!(inner.as_bytes().get(digits), Some(b'.' | b')')) {
        return None;
    }
    let number = inner.get(..digits)?.parse().ok()?;
    // "**1.** text" closes the emphasis before the space.
    let mut length = emphasis + digits + 1;
    if emphasis > 0 && line.get(length..).is_some_and(|rest| rest.starts_with("**") || rest.starts_with("__"))
    {
        length += 2;
    }
    space_behind(length).map(|length| Marker { is_numbered: true, number, length })
}

/// `***`, `---`, `___` or more, with spaces or without.
fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|character| !character.is_whitespace());
    let Some(first) = marks.next().filter(|first| matches!(first, '-' | '*' | '_')) else { return false };
    let mut count = 1;
    marks.all(|mark| {
        count += 1;
        mark == first
    }) && count >= 3
}

/// The level and the text of `# text #`, as bytes of the line.
fn heading(line: &str) -> Option<(u8, Range<usize>)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = line.get(level..)?;
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with(char::is_whitespace)) {
        return None;
    }
    let start = line.len() - rest.trim_start().len();
    let mut text = rest.trim();
    let without = text.trim_end_matches('#');
    if without.is_empty() || without.ends_with(char::is_whitespace) {
        text = without.trim_end();
    }
    Some((u8::try_from(level).ok()?, start..start + text.len()))
}

/// The character and length of a fence, and where its info begins.
fn fence(line: &str) -> Option<(u8, usize)> {
    let mark = line.bytes().next().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let length = line.bytes().take_while(|byte| *byte == mark).count();
    let is_fence = length >= 3 && !(mark == b'`' && line.get(length..)?.contains('`'));
    is_fence.then_some((mark, length))
}

/// The cells of a line of a table, as bytes of the line. A bar behind a backslash does not separate.
fn cells(line: &str) -> Vec<Range<usize>> {
    let mut inner = line.len() - line.trim_start().len()..line.trim_end().len();
    if line.get(inner.clone()).is_some_and(|line| line.starts_with('|')) {
        inner.start += 1;
    }
    let mut found = Vec::new();
    let mut start = inner.start;
    let mut is_escaped = false;
    for (at, byte) in line.bytes().enumerate().take(inner.end).skip(inner.start) {
        if byte == b'|' && !is_escaped {
            found.push(trim_within(line, start..at));
            start = at + 1;
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    if start < inner.end {
        found.push(trim_within(line, start..inner.end));
    }
    found
}

/// The range without white space at its ends.
pub(crate) fn trim_within(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = text.get(range.clone()).unwrap_or_default();
    let start = range.start + (inner.len() - inner.trim_start().len());
    start..start + inner.trim().len()
}

/// How many columns the line under a table's header says there are.
fn delimiter_columns(line: &str) -> Option<usize> {
    if !line.contains('|') {
        return None;
    }
    let cells = cells(line);
    let is_delimiter = cells.iter().all(|cell| {
        let cell = line.get(cell.clone()).unwrap_or_default();
        let cell = cell.strip_prefix(':').unwrap_or(cell);
        let cell = cell.strip_suffix(':').unwrap_or(cell);
        !cell.is_empty() && cell.bytes().all(|byte| byte == b'-')
    });
    (is_delimiter && !cells.is_empty()).then_some(cells.len())
}

/// An open list item: the column of its mark, and whether it is numbered.
struct Open {
    column: usize,
    is_numbered: bool,
}

/// The blocks of a text, in their order.
pub(crate) fn outline(text: &str) -> Vec<Block> {
    let mut lines: Vec<Range<usize>> = lines(text).collect();
    if let Some(first) = lines.first_mut().filter(|_| text.starts_with('\u{feff}')) {
        first.start += '\u{feff}'.len_utf8();
    }
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut run = 0;
    // Whether the last line was blank, and whether it belongs to the last block, which can then go on.
    let mut after_blank = true;
    let mut index = 0;
    while let Some(range) = lines.get(index).cloned() {
        index += 1;
        let line = text.get(range.clone()).unwrap_or_default();
        let (column, indent) = indentation(line);
        let body = line.get(indent..).unwrap_or_default();
        let start = range.start + indent;
        if body.is_empty() {
            if !after_blank {
                run += 1;
            }
            after_blank = true;
            continue;
        }
        let end = start + body.trim_end().len();
        let body = body.trim_end();
        let was_blank = std::mem::replace(&mut after_blank, false);
        let at_margin = |open: &mut Vec<Open>| {
            if was_blank && column == 0 {
                open.clear();
            }
        };

        if let Some((mark, length)) = fence(body) {
            at_margin(&mut open);
            let info = trim_within(text, start + length..range.end);
            let first = lines.get(index).map_or(text.len(), |next| next.start);
            let mut content = first..first;
            let mut is_closed = false;
            let mut last = end;
            while let Some(inner) = lines.get(index).cloned() {
                index += 1;
                let candidate = text.get(inner.clone()).unwrap_or_default().trim();
                let marks = candidate.bytes().take_while(|byte| *byte == mark).count();
                last = inner.end;
                if marks >= length && marks == candidate.len() {
                    is_closed = true;
                    break;
                }
                content.end = inner.end;
            }
            blocks.push(Block { kind: Kind::Code { info, is_closed }, range: start..last, content, run });
            continue;
        }
        if let Some((level, inner)) = heading(body) {
            open.clear();
            let content = start + inner.start..start + inner.end;
            blocks.push(Block { kind: Kind::Heading(level), range: start..end, content, run });
            continue;
        }
        let continues = !was_blank && blocks.last().is_some_and(|last| last.run == run);
        let is_underline = continues
            && (body.bytes().all(|byte| byte == b'=') || body.bytes().all(|byte| byte == b'-'))
            && blocks.last().is_some_and(|last| last.kind == Kind::Text);
        if is_underline && let Some(last) = blocks.last_mut() {
            last.kind = Kind::Heading(if body.starts_with('=') { 1 } else { 2 });
            last.range.end = end;
            continue;
        }
        if is_rule(body) {
            open.clear();
            blocks.push(Block { kind: Kind::Rule, range: start..end, content: end..end, run });
            continue;
        }
        let header = cells(body);
        let columns = lines
            .get(index)
            .and_then(|next| delimiter_columns(text.get(next.clone()).unwrap_or_default().trim()));
        if body.contains('|') && columns == Some(header.len()) {
            at_margin(&mut open);
            let mut table = Table {
                header: header.iter().map(|cell| start + cell.start..start + cell.end).collect(),
                rows: 0,
            };
            let mut last = lines.get(index).map_or(end, |next| next.end);
            index += 1;
            while let Some(row) = lines.get(index).cloned() {
                let inner = text.get(row.clone()).unwrap_or_default().trim();
                if !inner.contains('|') || fence(inner).is_some() || heading(inner).is_some() {
                    break;
                }
                table.rows += 1;
                last = row.end;
                index += 1;
            }
            let range = trim_within(text, start..last);
            blocks.push(Block { kind: Kind::Table(table), content: range.clone(), range, run });
            continue;
        }
        if let Some(marker) = marker(body) {
            // A number within running text is no item, unless it can open a list.
            let follows_text = continues && blocks.last().is_some_and(|last| last.kind == Kind::Text);
            if !(follows_text && marker.is_numbered && marker.number > 1) {
                while open.last().is_some_and(|last| column < last.column + 2) {
                    open.pop();
                }
                let kind = Kind::Item {
                    is_numbered: marker.is_numbered,
                    is_nested: !open.is_empty(),
                    is_nested_in_kind: open.iter().any(|item| item.is_numbered == marker.is_numbered),
                };
                open.push(Open { column, is_numbered: marker.is_numbered });
                let content = start + marker.length.min(body.len())..end;
                blocks.push(Block { kind, range: start..end, content, run });
                continue;
            }
        }
        // Running text: of the block above, of the item that it is indented under, or a block of its own.
        let in_item = !open.is_empty() && (!was_blank || column >= 2);
        if !in_item {
            open.clear();
        }
        let goes_on = blocks.last_mut().filter(|last| match last.kind {
            Kind::Text => continues,
            Kind::Item { .. } => in_item,
            _ => false,
        });
        match goes_on {
            Some(last) => {
                last.range.end = end;
                last.content.end = end;
                last.run = run;
            }
            None => {
                blocks.push(Block { kind: Kind::Text, range: start..end, content: start..end, run });
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(&'static str, &str)> {
        outline(text)
            .into_iter()
            .map(|block| {
                let name = match block.kind {
                    Kind::Text => "text",
                    Kind::Heading(1) => "h1",
                    Kind::Heading(2) => "h2",
                    Kind::Heading(_) => "h3+",
                    Kind::Item { is_numbered: true, is_nested: false, .. } => "number",
                    Kind::Item { is_numbered: false, is_nested: false, .. } => "bullet",
                    Kind::Item { .. } => "nested",
                    Kind::Table(_) => "table",
                    Kind::Code { .. } => "code",
                    Kind::Rule => "rule",
                };
                (name, text.get(block.content).expect("on characters"))
            })
            .collect()
    }

    #[test]
    fn blocks_are_told_apart() {
        assert_eq!(
            kinds("# A #\n\nText\ngoes on.\n1. one\n   - in\n   more\n2. two\n\n---\n\nB\n---\n* x\n"),
            [
                ("h1", "A"),
                ("text", "Text\ngoes on."),
                ("number", "one"),
                ("nested", "in\n   more"),
                ("number", "two"),
                ("rule", ""),
                ("h2", "B"),
                ("bullet", "x"),
            ]
        );
    }

    #[test]
    fn lines_end_in_three_ways() {
        let text = "a\r\nb\rc\n\nd";
        let found: Vec<&str> = lines(text).map(|line| text.get(line).expect("on characters")).collect();
        assert_eq!(found, ["a", "b", "c", "", "d"]);
    }

    #[test]
    fn fences_hide_what_they_hold() {
        assert_eq!(kinds("```md\n- a\n# b\n````\nend"), [("code", "- a\n# b"), ("text", "end")]);
        assert_eq!(kinds("~~~\n```\n~~~"), [("code", "```")]);
        assert_eq!(kinds("```\nopen"), [("code", "open")]);
        assert_eq!(kinds("```a``` inline"), [("text", "```a``` inline")]);
    }

    #[test]
    fn tables_need_a_line_of_dashes_that_fits() {
        assert_eq!(
            kinds("| a | b |\n|---|:-:|\n| 1 | 2 |\nend"),
            [("table", "| a | b |\n|---|:-:|\n| 1 | 2 |"), ("text", "end")]
        );
        assert_eq!(kinds("a | b\n---\n"), [("h2", "a | b")]);
        assert_eq!(kinds("| a | b |\n|---|\n").first().map(|block| block.0), Some("text"));
    }
}
