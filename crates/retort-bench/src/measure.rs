//! Figures before they are worked out: which items they rest on, and how they come from them.
//!
//! A [`Measure`] keeps every item that could count, also those without an answer, in an order that the data alone decide.
//! So two judges' measures of one exam can be drawn together, item by item ([`crate::compare`]).

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use retort_stats::{InputError, Statistic, Undefined};

use crate::{Figure, bootstrap};

/// What an item has for a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen<T> {
    /// What counts.
    Counts(T),
    /// It was answered, and the answer puts it beside what is counted (a pair without a winner, where winners are).
    Beside,
    /// There is no answer.
    Unanswered,
}

impl<T> From<Option<T>> for Seen<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Unanswered, Self::Counts)
    }
}

/// What guessing comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Chance {
    /// This value.
    Value(f64),
    /// The figure of the judge of this name, a rule that guesses.
    Judge(&'static str),
}

/// The figure of some of the items, given by their places.
type OfPlaces<'a> = dyn Fn(&[usize]) -> Result<Statistic, InputError> + 'a;

/// A figure before it is worked out.
pub struct Measure<'a> {
    /// The cluster of each item that could count: a hash of its key, which is compared and nothing else.
    clusters: Vec<u64>,
    seen: Vec<Seen<()>>,
    of: Box<OfPlaces<'a>>,
    withheld: Option<String>,
    when_empty: Option<String>,
    certain: Option<String>,
    incomplete: Vec<bool>,
    chance: Option<Chance>,
}

impl fmt::Debug for Measure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Measure").field("items", &self.seen.len()).finish_non_exhaustive()
    }
}

impl<'a> Measure<'a> {
    /// The mean of the values of all items that have one. Items of one cluster (a prompt, a document) are drawn together.
    #[must_use]
    pub fn mean<K: Hash>(items: &[(K, Option<f64>)]) -> Self {
        Self::mean_of(items.iter().map(|(cluster, value)| (cluster, Seen::from(*value))))
    }

    /// The mean of what counts.
    #[must_use]
    pub fn mean_of<K: Hash>(items: impl IntoIterator<Item = (K, Seen<f64>)>) -> Self {
        Self::of(items, |values| {
            if values.is_empty() {
                return Ok(Statistic::Undefined(Undefined::TooFew { needed: 1, found: 0 }));
            }
            #[expect(clippy::cast_precision_loss, reason = "counts of items are far below 2^52")]
            let count = values.len() as f64;
            Ok(Statistic::Value(values.iter().sum::<f64>() / count))
        })
    }

    /// Any figure of what counts. Every item that could count stands in `items`, whatever was answered, in an order that
    /// depends on the data alone.
    #[must_use]
    pub fn of<K: Hash, T: Clone + 'a>(
        items: impl IntoIterator<Item = (K, Seen<T>)>,
        figure: impl Fn(&[T]) -> Result<Statistic, InputError> + 'a,
    ) -> Self {
        let (mut clusters, mut seen, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (cluster, item) in items {
            let mut hasher = DefaultHasher::new();
            cluster.hash(&mut hasher);
            clusters.push(hasher.finish());
            let (state, value) = match item {
                Seen::Counts(value) => (Seen::Counts(()), Some(value)),
                Seen::Beside => (Seen::Beside, None),
                Seen::Unanswered => (Seen::Unanswered, None),
            };
            seen.push(state);
            values.push(value);
        }
        let of = move |places: &[usize]| {
            let drawn: Vec<T> =
                places.iter().filter_map(|&place| values.get(place).cloned().flatten()).collect();
            figure(&drawn)
        };
        Self {
            clusters,
            seen,
            of: Box::new(of),
            withheld: None,
            when_empty: None,
            certain: None,
            incomplete: Vec::new(),
            chance: None,
        }
    }

    /// There is no such figure, and why.
    #[must_use]
    pub fn absent(because: impl Into<String>) -> Self {
        Self::mean::<()>(&[]).withheld(because)
    }

    /// The figure is not given although there are items, and why.
    #[must_use]
    pub fn withheld(mut self, because: impl Into<String>) -> Self {
        self.withheld = Some(because.into());
        self
    }

    /// What to say where nothing was answered or counts.
    #[must_use]
    pub fn when_empty(mut self, because: impl Into<String>) -> Self {
        self.when_empty = Some(because.into());
        self
    }

    /// The figure is what it is by construction, so an interval would say nothing.
    #[must_use]
    pub fn certain(mut self, because: impl Into<String>) -> Self {
        self.certain = Some(because.into());
        self
    }

    /// Items of which only some questions were answered: they count here, but are left out where two judges are compared.
    #[must_use]
    pub fn incomplete(mut self, incomplete: Vec<bool>) -> Self {
        self.incomplete = incomplete;
        self
    }

    /// What guessing comes to, where the metric's name does not say it.
    #[must_use]
    pub fn with_chance(mut self, chance: Chance) -> Self {
        self.chance = Some(chance);
        self
    }

    /// What guessing comes to, if this was said.
    #[must_use]
    pub fn chance(&self) -> Option<Chance> {
        self.chance
    }

    /// Why the figure is not given, if it is not.
    #[must_use]
    pub fn why_withheld(&self) -> Option<&str> {
        self.withheld.as_deref()
    }

    /// The cluster of each item: equal numbers are the same prompt or document, also in another measure of the exam.
    #[must_use]
    pub fn clusters(&self) -> &[u64] {
        &self.clusters
    }

    /// Whether an item counts.
    #[must_use]
    pub fn counts(&self, place: usize) -> bool {
        self.seen.get(place) == Some(&Seen::Counts(()))
    }

    /// Whether an item was answered in full, so that it can be compared.
    #[must_use]
    pub fn answered(&self, place: usize) -> bool {
        self.seen.get(place).is_some_and(|seen| *seen != Seen::Unanswered)
            && self.incomplete.get(place) != Some(&true)
    }

    /// Whether anything was answered.
    #[must_use]
    pub fn has_any(&self) -> bool {
        (0..self.seen.len()).any(|place| self.answered(place))
    }

    /// The figure of these items, of which only those that count do; some may be there several times.
    ///
    /// # Errors
    /// As the figure has them.
    pub fn value(&self, places: &[usize]) -> Result<Statistic, InputError> {
        (self.of)(places)
    }

    /// The figure with its interval.
    #[must_use]
    pub fn figure(&self) -> Figure {
        let counted: Vec<usize> = (0..self.seen.len()).filter(|&place| self.counts(place)).collect();
        let left_out = self.seen.iter().filter(|seen| **seen == Seen::Unanswered).count();
        let mut found = Figure { n: counted.len(), left_out, ..Figure::default() };
        if let Some(because) = &self.withheld {
            found.because = Some(because.clone());
            return found;
        }
        if let Some(because) = self.when_empty.as_ref().filter(|_| counted.is_empty() && left_out == 0) {
            found.because = Some(because.clone());
            return found;
        }
        match self.value(&counted) {
            Ok(Statistic::Value(value)) => found.value = Some(value),
            Ok(Statistic::Undefined(reason)) => {
                found.because = Some(reason.to_string());
                return found;
            }
            Err(error) => {
                found.because = Some(error.to_string());
                return found;
            }
        }
        if let Some(because) = &self.certain {
            found.because = Some(because.clone());
            return found;
        }
        let clusters: Vec<u64> = counted.iter().map(|&place| self.clusters[place]).collect();
        let mut places = Vec::new();
        let interval = bootstrap().by_cluster(&clusters, |rows| {
            places.clear();
            places.extend(rows.iter().map(|&row| counted[row]));
            self.value(&places)
        });
        match interval {
            Ok(Statistic::Value(interval)) => {
                (found.low, found.high) = (Some(interval.low), Some(interval.high))
            }
            Ok(Statistic::Undefined(reason)) => found.because = Some(reason.to_string()),
            Err(error) => found.because = Some(error.to_string()),
        }
        found
    }
}
