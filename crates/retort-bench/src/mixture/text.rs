//! Texts as words, and words as 64-bit hashes: what is compared when two texts may be the same.

use retort_stats::SplitMix64;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A mixing of 64 bits that can be undone, so that different numbers stay different.
pub(crate) fn mix(value: u64) -> u64 {
    SplitMix64::new(value).next_u64()
}

/// A hash of bytes: FNV-1a, mixed. The same on every machine and in every version.
pub(crate) fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ mix(seed);
    for &byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    mix(hash)
}

/// A hash of several texts that tells `ab`, `c` from `a`, `bc`.
pub(crate) fn key(seed: u64, parts: &[&str]) -> u64 {
    parts.iter().fold(mix(seed), |key, part| mix(key ^ hash(part.len() as u64, part.as_bytes())))
}

/// The words of a text, hashed: compatibility forms folded (NFKC), lower case, runs of letters and digits. Marks that
/// do not compose are left out; an ideograph and a kana is a word of its own, since nothing stands between them.
pub(crate) fn words(text: &str) -> Vec<u64> {
    let mut words = Words::default();
    if text.is_ascii() {
        for c in text.chars() {
            words.push(c.to_ascii_lowercase());
        }
    } else {
        for c in text.nfkc().flat_map(char::to_lowercase) {
            words.push(c);
        }
    }
    words.end();
    words.done
}

#[derive(Default)]
struct Words {
    done: Vec<u64>,
    word: String,
}

impl Words {
    fn push(&mut self, c: char) {
        if !c.is_ascii() && is_combining_mark(c) {
            return;
        }
        if !c.is_alphanumeric() {
            return self.end();
        }
        let alone =
            matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff);
        if alone {
            self.end();
        }
        self.word.push(c);
        if alone {
            self.end();
        }
    }

    fn end(&mut self) {
        if !self.word.is_empty() {
            self.done.push(hash(0, self.word.as_bytes()));
            self.word.clear();
        }
    }
}

/// A hash of a sequence of words.
pub(crate) fn sequence(words: &[u64]) -> u64 {
    words.iter().fold(mix(words.len() as u64), |hash, word| mix(hash ^ word))
}

/// Calls `each` with the hash of every `n` words that follow one another and the place of the first. `n` is not 0.
pub(crate) fn grams(words: &[u64], n: usize, mut each: impl FnMut(u64, usize)) {
    // A polynomial in an odd number, so that the next one costs three operations; mixed, since its low bits are weak.
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    if n == 0 || words.len() < n {
        return;
    }
    let highest = (1..n).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let mut hash = 0_u64;
    for (at, &word) in words.iter().enumerate() {
        if at >= n {
            hash = hash.wrapping_sub(words[at - n].wrapping_mul(highest));
        }
        hash = hash.wrapping_mul(BASE).wrapping_add(word);
        if at + 1 >= n {
            each(mix(hash), at + 1 - n);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(words: &[&str]) -> Vec<u64> {
        words.iter().map(|word| hash(0, word.as_bytes())).collect()
    }

    #[test]
    fn words_by_hand() {
        assert_eq!(words("Don't  STOP-it, 3.5!"), plain(&["don", "t", "stop", "it", "3", "5"]));
        // NFKC: the ligature is two letters, the full-width digit a digit; e and its accent compose.
        assert_eq!(words("\u{fb01}ne \u{ff11} cafe\u{301}"), plain(&["fine", "1", "caf\u{e9}"]));
        assert_eq!(words("\u{65e5}\u{672c}x"), plain(&["\u{65e5}", "\u{672c}", "x"]));
        assert!(words(" \n?!").is_empty());
    }

    #[test]
    fn keys_tell_where_a_text_ends() {
        assert_ne!(key(0, &["ab", "c"]), key(0, &["a", "bc"]));
        assert_ne!(key(0, &["a"]), key(1, &["a"]));
        assert_ne!(sequence(&[1, 2]), sequence(&[2, 1]));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

        /// The rolling hash of a window is the hash of that window read alone.
        #[test]
        fn grams_do_not_remember(words in proptest::collection::vec(0_u64..5, 0..40), n in 1_usize..9) {
            let mut count = 0;
            grams(&words, n, |hash, at| {
                let mut alone = None;
                grams(&words[at..at + n], n, |hash, _| alone = Some(hash));
                assert_eq!(Some(hash), alone);
                count += 1;
            });
            assert_eq!(count, (words.len() + 1).saturating_sub(n));
        }
    }
}
