//! On which side of the split an example falls, by its group's text alone.

use serde::{Deserialize, Serialize};

use crate::mixture::text;

/// A side of the split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Trained on.
    Train,
    /// Looked at while training is tuned.
    Validation,
    /// Held out for the exam.
    Test,
}

impl Part {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Train, Self::Validation, Self::Test];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Validation => "validation",
            Self::Test => "test",
        }
    }
}

/// How groups are split.
///
/// The side depends on the seed and the words of the group's text (compatibility forms folded, lower case, letters and
/// digits only) and on nothing else: the same document in two tasks, or with other quotation marks, falls on the same
/// side, whatever else is read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// Which of the possible splits.
    pub seed: u64,
    /// The share of groups that are for validation, 0 to 1.
    pub validation: f64,
    /// The share of groups that are held out for the exam, 0 to 1.
    pub test: f64,
}

impl Default for Split {
    /// 90 : 5 : 5. The exam of held-out parts and the mixture must use the same one; this is it.
    fn default() -> Self {
        Self { seed: 0, validation: 0.05, test: 0.05 }
    }
}

impl Split {
    /// The side of a group.
    #[must_use]
    pub fn part(&self, group: &str) -> Part {
        self.part_of(group_hash(group))
    }

    pub(crate) fn part_of(&self, group: u64) -> Part {
        // The upper 53 bits as a number from 0 to 1.
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let place = (text::mix(self.seed ^ text::mix(group)) >> 11) as f64 / (1_u64 << 53) as f64;
        if place < self.test {
            Part::Test
        } else if place < self.test + self.validation {
            Part::Validation
        } else {
            Part::Train
        }
    }
}

/// The side of a group in the default [`Split`].
#[must_use]
pub fn split(group: &str) -> Part {
    Split::default().part(group)
}

/// A hash of the words of a group's text; of the text itself where it has no words.
pub(crate) fn group_hash(group: &str) -> u64 {
    let words = text::words(group);
    if words.is_empty() { text::hash(0, group.as_bytes()) } else { text::sequence(&words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_side_hangs_on_the_words_alone() {
        // Full-width letters, case, quotation marks and spaces are no words' business (NFKC of UAX #15).
        for other in ["  the CAT\n\u{201c}sat\u{201d}", "\u{ff34}he cat, sat!"] {
            assert_eq!(group_hash("The cat \"sat\"."), group_hash(other), "{other}");
        }
        assert_ne!(group_hash("The cat sat"), group_hash("The cats at"));
        assert_ne!(group_hash("!"), group_hash("?"));
    }

    #[test]
    fn shares_are_as_asked_for() {
        let mut counts = [0_usize; 3];
        for number in 0..20_000 {
            counts[split(&format!("document {number}")) as usize] += 1;
        }
        // Binomial: 20,000 × 0.05 = 1,000 with a standard deviation of 31; five of them are 154.
        assert!(counts[1].abs_diff(1_000) < 154 && counts[2].abs_diff(1_000) < 154, "{counts:?}");
        let other = Split { seed: 1, ..Split::default() };
        assert!((0..200).any(|n| other.part(&format!("document {n}")) != split(&format!("document {n}"))));
        let nothing = Split { validation: 0.0, test: 0.0, ..Split::default() };
        assert!((0..200).all(|n| nothing.part(&format!("document {n}")) == Part::Train));
    }

    #[test]
    fn the_split_never_moves() {
        // Computed once and kept: a split that moves would let training see what an earlier exam held out.
        let sides: String =
            (0..60).map(|n| ["t", "v", "x"][split(&format!("group number {n}")) as usize]).collect();
        insta::assert_snapshot!(sides);
    }
}
