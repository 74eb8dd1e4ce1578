//! How two columns of numbers agree, in the figures that a person first asks for.

use serde::{Deserialize, Serialize};

use crate::correlation::{PairCounts, check_variation, pairs_of, tau_b};
use crate::numeric::{self, check_lengths, order};
use crate::{
    Bootstrap, InputError, Level, Pairs, Statistic, Undefined, krippendorff_alpha, pearson, resample,
};

/// How many resamples the intervals of [`agreement_of`] are read from.
pub const AGREEMENT_RESAMPLES: usize = 1000;

/// A figure with its 95% bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure of all pairs.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// How two columns of numbers agree. A figure is `None` where it or its interval has no value: too few pairs, one group
/// only, a constant column, or more than a tenth of the resamples constant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Agreement {
    /// Rows with both numbers.
    pub n: usize,
    /// Rows left out because one number or both are missing.
    pub left_out: usize,
    /// [`pearson`]'s r.
    pub pearson: Option<Estimate>,
    /// [`spearman`](crate::spearman)'s ρ.
    pub spearman: Option<Estimate>,
    /// [`kendall_tau_b`](crate::kendall_tau_b).
    pub kendall: Option<Estimate>,
    /// The mean of |first − second|, in the columns' unit.
    pub mean_error: Option<Estimate>,
    /// Krippendorff's α at the [interval level](Level::Interval), of the two columns as raters.
    pub alpha: Option<Estimate>,
}

/// A figure of some rows, a row as often as it is drawn.
type Figure<'a> = dyn Fn(&[usize]) -> Result<Statistic, InputError> + 'a;

/// The [`Agreement`] of two columns, row by row, with percentile intervals from [`AGREEMENT_RESAMPLES`] resamples. Rows
/// of one group (responses to one prompt) are drawn together; without groups each row is drawn alone.
///
/// # Errors
/// Columns and groups of different lengths, and values that are not finite.
pub fn agreement_of<K: Ord + Clone>(
    first: &[Option<f64>],
    second: &[Option<f64>],
    groups: Option<&[K]>,
    seed: u64,
) -> Result<Agreement, InputError> {
    let pairs = Pairs::by_position(first, second)?;
    let groups = match groups {
        Some(groups) => {
            check_lengths(("the first column", first.len()), ("the list of groups", groups.len()))?;
            Some(resample(groups, &pairs.ids)?)
        }
        None => None,
    };
    let bootstrap = Bootstrap { seed, resamples: AGREEMENT_RESAMPLES, ..Bootstrap::default() };
    let estimate = |figure: &Figure| {
        let interval = match &groups {
            Some(groups) => bootstrap.by_cluster(groups, figure),
            None => bootstrap.by_row(pairs.len(), figure),
        };
        interval.map(|interval| {
            interval.value().map(|found| Estimate { value: found.estimate, low: found.low, high: found.high })
        })
    };
    let columns = |rows: &[usize]| Ok((resample(&pairs.first, rows)?, resample(&pairs.second, rows)?));
    let ranked = Ranked::new(&pairs.first, &pairs.second);
    Ok(Agreement {
        n: pairs.len(),
        left_out: pairs.left_out.len(),
        pearson: estimate(&|rows| {
            let (first, second) = columns(rows)?;
            pearson(&first, &second)
        })?,
        spearman: estimate(&|rows| ranked.spearman(rows))?,
        kendall: estimate(&|rows| ranked.kendall(rows))?,
        mean_error: estimate(&|rows| {
            let (first, second) = columns(rows)?;
            Ok(mean_error(&first, &second))
        })?,
        alpha: estimate(&|rows| {
            let (first, second) = columns(rows)?;
            let [first, second] =
                [first, second].map(|column| column.into_iter().map(Some).collect::<Vec<_>>());
            krippendorff_alpha(&[first, second], Level::Interval).map(|alpha| alpha.alpha)
        })?,
    })
}

fn mean_error(first: &[f64], second: &[f64]) -> Statistic {
    if first.is_empty() {
        return Statistic::Undefined(Undefined::TooFew { needed: 1, found: 0 });
    }
    // Halves, since a difference may be larger than the largest number. So may the mean, which [`Bootstrap`] refuses.
    let errors: Vec<f64> = first.iter().zip(second).map(|(a, b)| (a / 2.0 - b / 2.0).abs()).collect();
    Statistic::Value(numeric::mean(&errors) * 2.0)
}

/// Two columns sorted once, so that rank correlations of resamples need no sorting: a resample only says how often each
/// row counts. The figures are those of [`spearman`](crate::spearman) and [`kendall_tau_b`](crate::kendall_tau_b), bit by
/// bit.
struct Ranked {
    /// For each row the place of its value among the column's distinct values.
    first: Codes,
    second: Codes,
    /// The rows by first value, then by second.
    order: Vec<usize>,
}

struct Codes {
    of_row: Vec<usize>,
    distinct: usize,
}

impl Codes {
    fn new(column: &[f64]) -> Self {
        let mut rows: Vec<usize> = (0..column.len()).collect();
        rows.sort_by(|&a, &b| order(column[a], column[b]));
        let mut of_row = vec![0; column.len()];
        let mut distinct = 0;
        for equal in rows.chunk_by(|&a, &b| column[a] == column[b]) {
            for &row in equal {
                of_row[row] = distinct;
            }
            distinct += 1;
        }
        Self { of_row, distinct }
    }

    /// How often each distinct value is among the rows.
    fn counts(&self, rows: &[usize]) -> Vec<usize> {
        let mut counts = vec![0; self.distinct];
        for &row in rows {
            counts[self.of_row[row]] += 1;
        }
        counts
    }

    /// The midranks of the rows.
    fn ranks(&self, rows: &[usize]) -> Vec<f64> {
        let mut before = 0;
        let ranks: Vec<f64> = self
            .counts(rows)
            .into_iter()
            .map(|count| {
                let rank = before as f64 + (count as f64 + 1.0) / 2.0;
                before += count;
                rank
            })
            .collect();
        rows.iter().map(|&row| ranks[self.of_row[row]]).collect()
    }
}

impl Ranked {
    fn new(first: &[f64], second: &[f64]) -> Self {
        let (first, second) = (Codes::new(first), Codes::new(second));
        let mut order: Vec<usize> = (0..first.of_row.len()).collect();
        order.sort_by_key(|&row| (first.of_row[row], second.of_row[row]));
        Self { first, second, order }
    }

    fn spearman(&self, rows: &[usize]) -> Result<Statistic, InputError> {
        pearson(&self.first.ranks(rows), &self.second.ranks(rows))
    }

    fn kendall(&self, rows: &[usize]) -> Result<Statistic, InputError> {
        let (x, y) = (self.first.ranks(rows), self.second.ranks(rows));
        if let Err(why) = check_variation(&x, &y) {
            return Ok(Statistic::Undefined(why));
        }
        let mut times = vec![0; self.order.len()];
        for &row in rows {
            times[row] += 1;
        }
        let code = |row: usize| (self.first.of_row[row], self.second.of_row[row]);
        let drawn = |rows: &[usize]| rows.iter().map(|&row| times[row]).sum::<usize>();
        let tied = |counts: Vec<usize>| counts.into_iter().map(pairs_of).sum::<i128>();
        let equal = self.order.chunk_by(|&a, &b| code(a) == code(b));
        let mut smaller = Sums::new(self.second.distinct);
        let (mut discordant, mut before) = (0, 0);
        for same_first in self.order.chunk_by(|&a, &b| code(a).0 == code(b).0) {
            // Rows with a smaller first value and a larger second one.
            for &row in same_first.iter().filter(|&&row| times[row] > 0) {
                discordant += times[row] as i128 * (before - smaller.up_to(code(row).1)) as i128;
            }
            for &row in same_first.iter().filter(|&&row| times[row] > 0) {
                smaller.add(code(row).1, times[row]);
            }
            before += drawn(same_first);
        }
        Ok(Statistic::Value(tau_b(&PairCounts {
            all: pairs_of(rows.len()),
            tied_x: tied(self.first.counts(rows)),
            tied_y: tied(self.second.counts(rows)),
            tied_both: equal.map(|rows| pairs_of(drawn(rows))).sum(),
            discordant,
        })))
    }
}

/// Counts by place whose sums up to any place are found in logarithmic time (Fenwick, "A new data structure for cumulative
/// frequency tables", 1994).
struct Sums {
    nodes: Vec<usize>,
}

impl Sums {
    fn new(places: usize) -> Self {
        Self { nodes: vec![0; places + 1] }
    }

    fn add(&mut self, place: usize, count: usize) {
        let mut node = place + 1;
        while let Some(sum) = self.nodes.get_mut(node) {
            *sum += count;
            node += node & node.wrapping_neg();
        }
    }

    /// The sum of the counts at this place and before it.
    fn up_to(&self, place: usize) -> usize {
        let mut node = place + 1;
        let mut sum = 0;
        while node > 0 {
            sum += self.nodes[node];
            node &= node - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SplitMix64, kendall_tau_b, spearman};

    #[test]
    fn ranks_of_resamples_are_those_of_the_drawn_values() {
        let mut random = SplitMix64::new(5);
        let mut defined = 0;
        for case in 0..300 {
            let (n, kinds) = (1 + random.below(12), 1 + random.below(6));
            let mut column = || (0..n).map(|_| random.below(kinds) as f64 - 2.5).collect::<Vec<f64>>();
            let (x, y) = (column(), column());
            let rows: Vec<usize> = (0..n).map(|_| random.below(n)).collect();
            let ranked = Ranked::new(&x, &y);
            let (drawn_x, drawn_y) = (resample(&x, &rows).unwrap(), resample(&y, &rows).unwrap());
            assert_eq!(ranked.spearman(&rows), spearman(&drawn_x, &drawn_y), "{case}: {x:?} {y:?} {rows:?}");
            let kendall = kendall_tau_b(&drawn_x, &drawn_y);
            defined += usize::from(kendall.as_ref().is_ok_and(|tau| tau.undefined().is_none()));
            assert_eq!(ranked.kendall(&rows), kendall, "{case}: {x:?} {y:?} {rows:?}");
        }
        assert!(defined > 150, "{defined}");
    }
}
