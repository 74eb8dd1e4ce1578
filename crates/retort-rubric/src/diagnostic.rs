//! What is wrong in a file, where, and what to do about it.

use std::fmt;

use crate::Severity;

/// One finding in a file.
///
/// It prints as `my.toml:12:5: rubric[0].levels.7: level 7 lies outside the scale 1 to 5; remove it or widen
/// the scale`, a warning with `warning: ` before the field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Whether the file is refused for it.
    pub severity: Severity,
    /// The file's name as given to [`read`](crate::read).
    pub file: String,
    /// Physical line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Path of the field, such as `rubric[0].levels.7`; empty for the file as a whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A finding at a byte offset of a file's text, from which line and column are counted; an offset within a
    /// character is that character's, one beyond the text is its end.
    #[must_use]
    pub fn at(
        severity: Severity,
        (file, text, offset): (&str, &str, usize),
        path: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let (line, column) = line_and_column(text, offset);
        Self {
            severity,
            file: file.to_owned(),
            line,
            column,
            path: path.into(),
            message: message.into(),
            hint: Some(hint.into()),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        if self.severity == Severity::Warning {
            write!(f, "warning: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

/// A file that was refused, with everything that was found in it: at least one error, and warnings. It prints
/// one finding a line, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(.diagnostics))]
pub struct ReadError {
    /// All findings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

fn lines(diagnostics: &[Diagnostic]) -> String {
    let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// Line and column, both from 1, of a byte offset; the column in characters. Lines end at LF only.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = text.get(..end).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_are_physical() {
        // "é" is two bytes: offset 3 is the "b" in the third column of the first line.
        assert_eq!(line_and_column("aéb\nc", 3), (1, 3));
        assert_eq!(line_and_column("aéb\nc", 5), (2, 1));
        assert_eq!(line_and_column("aéb\nc", 99), (2, 2));
        // Within a character: the character's own column. U+2028 does not end a line.
        assert_eq!(line_and_column("aé", 2), (1, 2));
        assert_eq!(line_and_column("a\u{2028}b", 4), (1, 3));
    }
}
