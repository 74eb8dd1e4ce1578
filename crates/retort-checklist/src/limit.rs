//! How many of something may be there.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What "about" allows on either side, in percent of the count asked for.
pub const ABOUT_PERCENT: u64 = 10;

/// How many of something are asked for.
///
/// In files: `{"at_least": 3}`, `{"at_most": 100}`, `{"exactly": 5}`, `{"about": 200}`, `{"between": [100, 150]}`.
/// "Fewer than 100" is at most 99, "more than 100" at least 101, "none" at most 0, and a tolerance that the
/// instruction states itself ("200 words, give or take 5") is a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// This many or more.
    AtLeast(u64),
    /// This many or fewer.
    AtMost(u64),
    /// This many.
    Exactly(u64),
    /// This many give or take a tenth: [`ABOUT_PERCENT`] percent rounded down, but at least one. "About 200" is 180
    /// to 220, "about 3" is 2 to 4, and "about 1" is 1 or 2: what is asked for is never allowed to be absent.
    About(u64),
    /// From the first to the second, both allowed.
    Between(u64, u64),
}

impl Limit {
    /// One or more: that the thing is there.
    pub const SOME: Self = Self::AtLeast(1);
    /// None at all: that the thing is absent.
    pub const NONE: Self = Self::AtMost(0);

    /// The smallest and the largest count that is allowed; no largest where any number is.
    #[must_use]
    pub const fn bounds(self) -> (u64, Option<u64>) {
        match self {
            Self::AtLeast(least) => (least, None),
            Self::AtMost(most) => (0, Some(most)),
            Self::Exactly(count) => (count, Some(count)),
            Self::About(count) => {
                let tenth = count / (100 / ABOUT_PERCENT);
                let tolerance = if tenth == 0 { 1 } else { tenth };
                let least = count.saturating_sub(tolerance);
                let least = if least == 0 && count > 0 { 1 } else { least };
                (least, Some(count.saturating_add(tolerance)))
            }
            Self::Between(least, most) => (least, Some(most)),
        }
    }

    /// Whether this count is allowed.
    #[must_use]
    pub const fn accepts(self, count: u64) -> bool {
        let (least, most) = self.bounds();
        count >= least
            && match most {
                Some(most) => count <= most,
                None => true,
            }
    }

    /// The same limit in its plainest form: a range of one is `Exactly`, a range from 0 is `AtMost`, and exactly none
    /// is `AtMost(0)`. The bounds stay.
    #[must_use]
    pub const fn canonical(self) -> Self {
        match self {
            Self::Exactly(0) | Self::About(0) | Self::Between(0, 0) => Self::NONE,
            Self::Between(0, most) => Self::AtMost(most),
            Self::Between(least, most) if least == most => Self::Exactly(least),
            other => other,
        }
    }

    /// The limit that accepts what this one refuses, where one limit can say so.
    #[must_use]
    pub const fn complement(self) -> Option<Self> {
        match self.bounds() {
            (0, Some(u64::MAX) | None) => None,
            (0, Some(most)) => Some(Self::AtLeast(most + 1)),
            (least, None) => Some(Self::AtMost(least - 1)),
            _ => None,
        }
    }
}

/// As people say it: `at most 100`, `about 200 (180 to 220)`.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::AtLeast(least) => write!(f, "at least {least}"),
            Self::AtMost(0) | Self::Exactly(0) => f.write_str("none"),
            Self::AtMost(most) => write!(f, "at most {most}"),
            Self::Exactly(count) => write!(f, "exactly {count}"),
            Self::About(count) => match self.bounds() {
                (least, Some(most)) => write!(f, "about {count} ({least} to {most})"),
                (least, None) => write!(f, "about {count} ({least} or more)"),
            },
            Self::Between(least, most) => write!(f, "{least} to {most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_is_a_tenth_but_at_least_one_and_never_none() {
        // A tenth of 200 is 20, of 45 is 4.5, of 3 is 0.3; the documented rule rounds down and then takes at least 1.
        assert_eq!(Limit::About(200).bounds(), (180, Some(220)));
        assert_eq!(Limit::About(45).bounds(), (41, Some(49)));
        assert_eq!(Limit::About(3).bounds(), (2, Some(4)));
        assert_eq!(Limit::About(1).bounds(), (1, Some(2)));
        assert_eq!(Limit::About(u64::MAX).bounds().1, Some(u64::MAX));
    }

    #[test]
    fn complements_accept_exactly_what_was_refused() {
        for limit in [Limit::AtLeast(3), Limit::AtMost(3), Limit::AtMost(0), Limit::AtLeast(1)] {
            let other = limit.complement().expect("a half-line has a complement");
            for count in 0..10 {
                assert_ne!(limit.accepts(count), other.accepts(count), "{limit} against {other} at {count}");
            }
        }
        assert_eq!(Limit::Exactly(3).complement(), None);
        assert_eq!(Limit::AtLeast(0).complement(), None);
    }

    #[test]
    fn canonical_forms_keep_the_bounds() {
        for limit in [Limit::Between(0, 4), Limit::Between(4, 4), Limit::Exactly(0), Limit::Between(0, 0)] {
            assert_eq!(limit.canonical().bounds(), limit.bounds());
        }
        assert_eq!(Limit::Between(4, 4).canonical(), Limit::Exactly(4));
        assert_eq!(Limit::Exactly(0).canonical(), Limit::AtMost(0));
    }
}
