//! Byte-pair encoding as SentencePiece does it (Kudo and Richardson 2018): Llama 1 and 2, Mistral, Gemma.
//!
//! There are no merges: two neighbours become one wherever the vocabulary has what they spell together, the piece
//! with the highest score first. A character that no piece spells is written in tokens of its bytes.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::strings::{Index, Spellings, Strings};

/// What SentencePiece writes for a space inside its pieces.
pub(super) const SPACE: &str = "\u{2581}";

pub(super) struct SentencePiece {
    /// Ordinary pieces by what they spell, spaces as spaces.
    pub(super) pieces: Index,
    /// By id; the higher, the earlier it is made.
    pub(super) scores: Vec<f32>,
    /// Pieces that stand whole wherever they are spelled, and join no other.
    pub(super) fixed: Spellings,
    /// The token of each byte, where there is one.
    pub(super) bytes: [Option<u32>; 256],
    /// Stands for what neither pieces nor bytes can spell.
    pub(super) unknown: Option<u32>,
    /// Whether text that follows a special token, or begins everything, gets a space in front.
    pub(super) adds_space: bool,
}

/// A part of the text that is to be one token, in a chain of its neighbours.
struct Symbol {
    start: usize,
    /// 0 once it has gone into the one before it.
    len: usize,
    before: Option<usize>,
    after: Option<usize>,
}

/// Two neighbours that could become one: the best is the greatest.
struct Pair {
    score: f32,
    left: Reverse<usize>,
    /// What both were long when they met.
    len: usize,
}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.score.total_cmp(&other.score).then_with(|| self.left.cmp(&other.left))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pair {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Pair {}

impl SentencePiece {
    /// Appends the tokens of the text. With `at_start` it begins everything or follows a special token.
    pub(super) fn encode(&self, strings: &Strings, text: &str, at_start: bool, ids: &mut Vec<u32>) {
        if text.is_empty() {
            return;
        }
        // The letter that stands for a space is a space, in a person's text too.
        let mut text = match text.contains(SPACE) {
            true => Cow::Owned(text.replace(SPACE, " ")),
            false => Cow::Borrowed(text),
        };
        if at_start && self.adds_space {
            text.to_mut().insert(0, ' ');
        }
        let mut rest: &str = &text;
        while let Some((before, id, after)) = self.fixed.split(strings, rest) {
            self.encode_run(strings, before, ids);
            ids.push(id);
            rest = after;
        }
        self.encode_run(strings, rest, ids);
    }

    fn encode_run(&self, strings: &Strings, text: &str, ids: &mut Vec<u32>) {
        let piece = |start: usize, len: usize| &text.as_bytes()[start..start + len];
        let last = text.chars().count().saturating_sub(1);
        let mut symbols: Vec<Symbol> = text
            .char_indices()
            .enumerate()
            .map(|(index, (start, letter))| Symbol {
                start,
                len: letter.len_utf8(),
                before: index.checked_sub(1),
                after: (index < last).then_some(index + 1),
            })
            .collect();
        let mut pairs = BinaryHeap::new();
        let meet = |symbols: &[Symbol], pairs: &mut BinaryHeap<Pair>, left: usize| {
            let Some(right) = symbols[left].after else { return };
            let len = symbols[left].len + symbols[right].len;
            if let Some(id) = self.pieces.find(strings, piece(symbols[left].start, len)) {
                let score = self.scores.get(id as usize).copied().unwrap_or(f32::MIN);
                pairs.push(Pair { score, left: Reverse(left), len });
            }
        };
        for left in 0..symbols.len() {
            meet(&symbols, &mut pairs, left);
        }
        while let Some(Pair { left: Reverse(left), len, .. }) = pairs.pop() {
            let Some(right) = symbols[left].after else { continue };
            // One of the two may have joined another since; then they don't add up.
            if symbols[left].len == 0 || symbols[left].len + symbols[right].len != len {
                continue;
            }
            symbols[left].len = len;
            symbols[right].len = 0;
            symbols[left].after = symbols[right].after;
            if let Some(next) = symbols[right].after {
                symbols[next].before = Some(left);
            }
            meet(&symbols, &mut pairs, left);
            if let Some(before) = symbols[left].before {
                meet(&symbols, &mut pairs, before);
            }
        }
        for symbol in symbols.iter().filter(|symbol| symbol.len > 0) {
            let bytes = piece(symbol.start, symbol.len);
            match self.pieces.find(strings, bytes) {
                Some(id) => ids.push(id),
                None => {
                    let token = |byte: &u8| self.bytes[usize::from(*byte)].or(self.unknown);
                    ids.extend(bytes.iter().filter_map(token));
                }
            }
        }
    }
}
