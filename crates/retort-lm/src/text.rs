//! Text in which what we wrote and what a person pasted stay apart.

/// A piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Text of ours or of the model's chat template: special tokens in it are special.
    Template(String),
    /// Text of a person: every character is an ordinary character, whatever it spells.
    User(String),
}

/// Text as a sequence of pieces, each tokenized on its own.
///
/// Tokenizing piece by piece is what keeps pasted text from closing its own delimiter (P4), and what makes
/// a prompt tree give exactly the tokens of the separate prompts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Segments(Vec<Segment>);

impl Segments {
    /// No text.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends text of ours.
    #[must_use]
    pub fn template(mut self, text: impl Into<String>) -> Self {
        self.push(Segment::Template(text.into()));
        self
    }

    /// Appends text of a person.
    #[must_use]
    pub fn user(mut self, text: impl Into<String>) -> Self {
        self.push(Segment::User(text.into()));
        self
    }

    /// Appends all pieces of `other`.
    #[must_use]
    pub fn then(mut self, other: &Self) -> Self {
        for segment in &other.0 {
            self.push(segment.clone());
        }
        self
    }

    /// Appends a piece; neighbouring template pieces become one, so that joining does not change the tokens.
    pub fn push(&mut self, segment: Segment) {
        match (self.0.last_mut(), segment) {
            (_, Segment::Template(text) | Segment::User(text)) if text.is_empty() => {}
            (Some(Segment::Template(last)), Segment::Template(text)) => last.push_str(&text),
            (_, segment) => self.0.push(segment),
        }
    }

    /// The pieces in order.
    #[must_use]
    pub fn pieces(&self) -> &[Segment] {
        &self.0
    }

    /// The whole text, for people to read. Not for tokenizing: it no longer tells the two kinds apart.
    #[must_use]
    pub fn to_display(&self) -> String {
        self.0.iter().map(|(Segment::Template(text) | Segment::User(text))| text.as_str()).collect()
    }
}
