//! How many rows of each task, which ones, and with what weight.

use std::collections::BinaryHeap;

/// Before weights are brought to a mean of 1, none is above this or below its inverse: a handful of rows must not steer
/// training.
const MOST_WEIGHT: f64 = 4.0;

/// An example that was picked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pick {
    /// Its place in the task's reading, counted from 0 over examples.
    pub(super) index: u32,
    /// By what it was picked; the same on a second reading, or the files have changed.
    pub(super) priority: u64,
    /// Its class.
    pub(super) class: usize,
    /// The weight of its rows; the mean over the task is 1.
    pub(super) weight: f64,
}

/// Keeps the examples with the smallest priorities of each class. Priorities are hashes, so this is a sample without
/// replacement that needs no number of examples beforehand and no more memory than the sample.
#[derive(Debug)]
pub(super) struct Sampler {
    limit: usize,
    /// The last class is for examples without one (ties); it is never balanced.
    classes: Vec<Smallest>,
}

#[derive(Debug, Default)]
struct Smallest {
    seen: usize,
    held: BinaryHeap<(u64, u32)>,
}

impl Sampler {
    /// For so many classes, and those without one; at most `limit` examples are asked for later.
    pub(super) fn new(classes: usize, limit: usize) -> Self {
        Self { limit, classes: std::iter::repeat_with(Smallest::default).take(classes + 1).collect() }
    }

    /// Offers an example; `None` is for one without a class.
    pub(super) fn offer(&mut self, class: Option<usize>, priority: u64, index: u32) {
        let last = self.classes.len() - 1;
        let class = &mut self.classes[class.unwrap_or(last).min(last)];
        class.seen += 1;
        class.held.push((priority, index));
        if class.held.len() > self.limit {
            class.held.pop();
        }
    }

    /// How many examples of each class were offered; those without one last.
    pub(super) fn seen(&self) -> Vec<usize> {
        self.classes.iter().map(|class| class.seen).collect()
    }

    /// Picks `n` examples (all, where there are fewer), in the order of reading.
    ///
    /// Balanced: first by choice, every class getting as near to the same number as there are examples; what choice
    /// cannot level, weights do. So nothing is thrown away as long as there is room, and weights stay near 1 where there
    /// is not. Examples without a class keep their share.
    pub(super) fn pick(self, n: usize, balanced: bool) -> Vec<Pick> {
        let seen = self.seen();
        let mut held: Vec<Vec<(u64, u32)>> =
            self.classes.into_iter().map(|class| class.held.into_sorted_vec()).collect();
        let counts = if balanced { balance(&seen, &held, n) } else { unbalanced(&held, n) };
        let weights = if balanced { weights(&counts) } else { vec![1.0; counts.len()] };
        let mut picks = Vec::new();
        for (class, (held, count)) in held.iter_mut().zip(&counts).enumerate() {
            let weight = weights[class];
            picks.extend(held.iter().take(*count).map(|&(priority, index)| Pick {
                index,
                priority,
                class,
                weight,
            }));
        }
        picks.sort_unstable_by_key(|pick| pick.index);
        picks
    }
}

/// How many of each class the `n` smallest of all are.
fn unbalanced(held: &[Vec<(u64, u32)>], n: usize) -> Vec<usize> {
    let mut all: Vec<((u64, u32), usize)> = held
        .iter()
        .enumerate()
        .flat_map(|(class, held)| held.iter().map(move |&candidate| (candidate, class)))
        .collect();
    all.sort_unstable();
    let mut counts = vec![0; held.len()];
    for (_, class) in all.into_iter().take(n) {
        counts[class] += 1;
    }
    counts
}

fn balance(seen: &[usize], held: &[Vec<(u64, u32)>], n: usize) -> Vec<usize> {
    let last = seen.len() - 1;
    let all: usize = seen.iter().sum();
    let n = n.min(held.iter().map(Vec::len).sum());
    // Rounded to the nearest.
    let share = if all == 0 { 0 } else { (2 * n * seen[last] + all) / (2 * all) };
    let without = share.min(held[last].len());
    let room: Vec<usize> = held[..last].iter().map(Vec::len).collect();
    let mut counts = level(&room, n - without);
    counts.push((n - counts.iter().sum::<usize>()).min(held[last].len()));
    counts
}

/// `n` shared as equally as the room of each allows; what is left of a division goes to the first.
fn level(room: &[usize], n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..room.len()).collect();
    order.sort_by_key(|&at| (room[at], std::cmp::Reverse(at)));
    let (mut counts, mut left) = (vec![0; room.len()], n);
    for (done, &at) in order.iter().enumerate() {
        counts[at] = room[at].min(left / (room.len() - done));
        left -= counts[at];
    }
    counts
}

/// The weight of each class, such that classes weigh the same (within [`MOST_WEIGHT`]) and the mean over all is 1.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn weights(counts: &[usize]) -> Vec<f64> {
    let proper = &counts[..counts.len() - 1];
    let used = proper.iter().filter(|&&count| count > 0).count();
    let sum: usize = proper.iter().sum();
    let raw = |count: usize| {
        if count == 0 {
            return 1.0;
        }
        (sum as f64 / (used as f64 * count as f64)).clamp(1.0 / MOST_WEIGHT, MOST_WEIGHT)
    };
    let mut weights: Vec<f64> = proper.iter().map(|&count| raw(count)).collect();
    weights.push(1.0);
    let all: usize = counts.iter().sum();
    let total: f64 = weights.iter().zip(counts).map(|(weight, &count)| weight * count as f64).sum();
    if all > 0 && total > 0.0 {
        for weight in &mut weights {
            *weight *= all as f64 / total;
        }
    }
    weights
}

/// How many rows each task gives: in proportion to `weights`, never more than its `sizes`; what a task cannot give goes
/// to the others in proportion. Without a total, all.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of rows are far below 2^52 and shares are not negative"
)]
pub(super) fn quotas(sizes: &[usize], weights: &[f64], total: Option<usize>) -> Vec<usize> {
    let open_size: usize =
        sizes.iter().zip(weights).filter(|(_, weight)| **weight > 0.0).map(|(size, _)| size).sum();
    let mut left = total.unwrap_or(usize::MAX).min(open_size);
    let mut quotas = vec![0; sizes.len()];
    let mut open: Vec<usize> = (0..sizes.len()).filter(|&at| weights[at] > 0.0 && sizes[at] > 0).collect();
    loop {
        let sum: f64 = open.iter().map(|&at| weights[at]).sum();
        let share = |at: usize| left as f64 * weights[at] / sum;
        let (full, rest): (Vec<usize>, Vec<usize>) =
            open.iter().partition(|&&at| share(at) >= sizes[at] as f64);
        if full.is_empty() {
            let mut parts: Vec<(f64, usize)> = Vec::new();
            for &at in &rest {
                quotas[at] = share(at) as usize;
                parts.push((share(at).fract(), at));
            }
            // The largest remainders get what rounding left; of equal ones the first.
            parts.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let given: usize = rest.iter().map(|&at| quotas[at]).sum();
            for (_, at) in parts.into_iter().take(left.saturating_sub(given)) {
                quotas[at] += 1;
            }
            return quotas;
        }
        for &at in &full {
            quotas[at] = sizes[at];
            left = left.saturating_sub(sizes[at]);
        }
        if rest.is_empty() || left == 0 {
            return quotas;
        }
        open = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampler(counts: &[usize]) -> Sampler {
        let mut sampler = Sampler::new(counts.len() - 1, 1_000);
        let mut index = 0;
        for (class, &count) in counts.iter().enumerate() {
            for _ in 0..count {
                let class = (class + 1 < counts.len()).then_some(class);
                sampler.offer(class, super::super::text::mix(u64::from(index)), index);
                index += 1;
            }
        }
        sampler
    }

    fn by_class(picks: &[Pick], classes: usize) -> Vec<usize> {
        (0..classes).map(|class| picks.iter().filter(|pick| pick.class == class).count()).collect()
    }

    #[test]
    fn classes_are_levelled_by_choice_then_by_weight() {
        // 100, 20 and 10 without a class of 130; 65 wanted. Without a class: 65 × 10/130 = 5. Of the other 60, 20 and 40.
        let picks = sampler(&[100, 20, 10]).pick(65, true);
        assert_eq!(by_class(&picks, 3), [40, 20, 5]);
        // 60 / (2 × 40) = 0.75 and 60 / (2 × 20) = 1.5: 40 × 0.75 = 20 × 1.5, and the mean is already 1.
        let weight = |class| picks.iter().find(|pick| pick.class == class).unwrap().weight;
        assert!((weight(0) - 0.75).abs() < 1e-12 && (weight(1) - 1.5).abs() < 1e-12);
        assert!((weight(2) - 1.0).abs() < 1e-12);
        // All are wanted: all come.
        assert_eq!(by_class(&sampler(&[100, 20, 10]).pick(500, true), 3), [100, 20, 10]);
    }

    #[test]
    fn a_rare_class_is_not_weighted_without_bound() {
        // 1,000 / (2 × 10) = 50, cut to 4; 1,000 / (2 × 990) = 0.505: the mean of both is then (40 + 500)/1,000 = 0.54.
        let picks = sampler(&[990, 10, 0]).pick(1_000, true);
        let weight = |class| picks.iter().find(|pick| pick.class == class).unwrap().weight;
        assert!((weight(1) - 4.0 / 0.54).abs() < 1e-9 && (weight(0) - 0.505_050_505 / 0.54).abs() < 1e-6);
        let mean: f64 = picks.iter().map(|pick| pick.weight).sum::<f64>() / 1_000.0;
        assert!((mean - 1.0).abs() < 1e-9);
    }

    #[test]
    fn unbalanced_is_a_plain_sample() {
        let picks = sampler(&[900, 100, 0]).pick(500, false);
        let counts = by_class(&picks, 3);
        // Hypergeometric: 50 with a standard deviation of 4.7.
        assert_eq!(counts.iter().sum::<usize>(), 500);
        assert!(counts[1].abs_diff(50) < 25, "{counts:?}");
        assert!(picks.iter().all(|pick| (pick.weight - 1.0).abs() < 1e-12));
        assert!(picks.windows(2).all(|pair| pair[0].index < pair[1].index));
    }

    #[test]
    fn a_sample_holds_no_more_than_its_limit() {
        let mut sampler = Sampler::new(1, 7);
        for index in 0..10_000 {
            sampler.offer(Some(0), super::super::text::mix(u64::from(index)), index);
            assert!(sampler.classes[0].held.len() <= 7);
        }
        // The seven smallest of all, found by sorting.
        let mut all: Vec<(u64, u32)> =
            (0..10_000).map(|n| (super::super::text::mix(u64::from(n)), n)).collect();
        all.sort_unstable();
        let mut expected: Vec<u32> = all[..7].iter().map(|pair| pair.1).collect();
        expected.sort_unstable();
        let picked: Vec<u32> = sampler.pick(7, true).iter().map(|pick| pick.index).collect();
        assert_eq!(picked, expected);
    }

    #[test]
    fn quotas_by_hand() {
        // In proportion: 100 of 1,000.
        assert_eq!(quotas(&[700, 200, 100], &[700.0, 200.0, 100.0], Some(100)), [70, 20, 10]);
        // 10 × 1/3 each: one gets the rest.
        assert_eq!(quotas(&[9, 9, 9], &[1.0, 1.0, 1.0], Some(10)), [4, 3, 3]);
        // The first has 5 only; 95 go 1 : 3 to the others, 23.75 and 71.25, the larger remainder up.
        assert_eq!(quotas(&[5, 500, 500], &[6.0, 1.0, 3.0], Some(100)), [5, 24, 71]);
        assert_eq!(quotas(&[5, 6], &[5.0, 6.0], None), [5, 6]);
        assert_eq!(quotas(&[5, 6], &[0.0, 1.0], Some(100)), [0, 6]);
        assert_eq!(quotas(&[], &[], Some(3)), Vec::<usize>::new());
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

        /// No more than asked for, no more than there are, and nothing left where something could be given.
        #[test]
        fn quotas_add_up(tasks in proptest::collection::vec((0_usize..1_000, 0_u32..9), 0..12), total in 0_usize..4_000) {
            let sizes: Vec<usize> = tasks.iter().map(|task| task.0).collect();
            let weights: Vec<f64> = tasks.iter().map(|task| f64::from(task.1)).collect();
            let quotas = quotas(&sizes, &weights, Some(total));
            let open: usize = tasks.iter().filter(|task| task.1 > 0).map(|task| task.0).sum();
            assert!(quotas.iter().zip(&sizes).all(|(quota, size)| quota <= size));
            assert_eq!(quotas.iter().sum::<usize>(), total.min(open));
        }

        #[test]
        fn picks_add_up(counts in proptest::collection::vec(0_usize..60, 2..5), n in 0_usize..300, balanced: bool) {
            let picks = sampler(&counts).pick(n, balanced);
            assert_eq!(picks.len(), n.min(counts.iter().sum()));
            assert!(picks.iter().all(|pick| pick.weight.is_finite() && pick.weight > 0.0));
        }
    }
}
