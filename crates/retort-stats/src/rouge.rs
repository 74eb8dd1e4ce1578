//! How much of a reference a text repeats.

use std::collections::HashMap;

use serde::Serialize;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use crate::{InputError, Side, Statistic, Undefined};

/// [`rouge_l`] and what it was computed from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RougeL {
    /// F_β, 0 to 1. Undefined when the reference has no words; 0 when only the candidate has none.
    pub f: Statistic,
    /// The share of the candidate's words that are in the common subsequence. Undefined without words.
    pub precision: Statistic,
    /// The share of the reference's words that are in it. Undefined without words.
    pub recall: Statistic,
    /// The β of F_β.
    pub beta: f64,
    /// Words in the longest common subsequence.
    pub common: usize,
    /// Words of the candidate.
    pub candidate_words: usize,
    /// Words of the reference.
    pub reference_words: usize,
}

/// ROUGE-L of two texts taken as one sentence each: the longest common subsequence of their [`words`], as a share of
/// the candidate's (P) and of the reference's (R), and F_β = (1+β²)PR/(R+β²P). β = 1 weighs both alike; a larger one
/// favours recall. Source: Lin, "ROUGE: A package for automatic evaluation of summaries" (2004).
///
/// F_β is computed as (1+β²)·common/(candidate + β²·reference), which is the same and has a value when nothing is
/// common: an empty response earns 0, and does not drop out of a mean. A β that is not above 0 and at most 1000 is
/// refused.
pub fn rouge_l(candidate: &str, reference: &str, beta: f64) -> Result<RougeL, InputError> {
    if !(beta > 0.0 && beta <= 1000.0) {
        return Err(InputError::Setting {
            setting: "beta of ROUGE-L",
            value: beta,
            must_be: "above 0 and at most 1000, such as 1",
        });
    }
    let (candidate, reference) = (words(candidate), words(reference));
    let common = longest_common_subsequence(&candidate, &reference);
    let (c, r) = (candidate.len() as f64, reference.len() as f64);
    let weight = beta * beta;
    let share = |of: usize, side: Side| match of {
        0 => Statistic::Undefined(Undefined::NoWords { side }),
        _ => Statistic::Value(common as f64 / of as f64),
    };
    Ok(RougeL {
        f: share(reference.len(), Side::Second)
            .map(|_| ((1.0 + weight) * common as f64 / (c + weight * r)).min(1.0)),
        precision: share(candidate.len(), Side::First),
        recall: share(reference.len(), Side::Second),
        beta,
        common,
        candidate_words: candidate.len(),
        reference_words: reference.len(),
    })
}

/// The words of a text as ROUGE-L compares them: those of Unicode's default word boundaries (UAX #29) that have a
/// letter or digit, in normalisation form C and lower case.
///
/// "Don't" is one word, and so is "3.5"; Chinese and Japanese kana are taken character by character.
pub fn words(text: &str) -> Vec<String> {
    let composed: String = text.nfc().collect();
    composed.unicode_words().map(|word| word.to_lowercase().nfc().collect()).collect()
}

/// The length of the longest common subsequence, 64 words of `a` at a time: bit i of the row is 0 where the table of
/// the usual algorithm rises by one from column i to the next. Source: Hyyrö, "Bit-parallel LCS-length computation
/// revisited" (2004).
pub(crate) fn longest_common_subsequence<T: Eq + std::hash::Hash>(a: &[T], b: &[T]) -> usize {
    let blocks = a.len().div_ceil(64);
    let mut places: HashMap<&T, Vec<u64>> = HashMap::new();
    for (i, word) in a.iter().enumerate() {
        places.entry(word).or_insert_with(|| vec![0; blocks])[i / 64] |= 1 << (i % 64);
    }
    let mut row = vec![u64::MAX; blocks];
    for word in b {
        let Some(places) = places.get(word) else { continue };
        let mut carry = false;
        for (row, places) in row.iter_mut().zip(places) {
            let matched = *row & places;
            let (sum, over) = row.overflowing_add(matched);
            let (sum, over_by_carry) = sum.overflowing_add(u64::from(carry));
            carry = over || over_by_carry;
            *row = sum | (*row & !places);
        }
    }
    (0..a.len()).filter(|i| row[i / 64] >> (i % 64) & 1 == 0).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The table as everyone writes it.
    fn by_table(a: &[u8], b: &[u8]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..a.len() {
            for j in 0..b.len() {
                table[i + 1][j + 1] =
                    if a[i] == b[j] { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        table[a.len()][b.len()]
    }

    proptest! {
        /// Lengths over 64 and 128, so that carries cross blocks.
        #[test]
        fn common_subsequences_are_those_of_the_table(
            a in prop::collection::vec(0_u8..4, 0..150),
            b in prop::collection::vec(0_u8..4, 0..150),
        ) {
            prop_assert_eq!(longest_common_subsequence(&a, &b), by_table(&a, &b));
        }
    }
}
