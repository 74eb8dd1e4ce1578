//! Which rows belong together.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::numeric::{check_lengths, finite};
use crate::{InputError, Place};

/// Two columns in which every row has both values, and the rows that were left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Pairs<K> {
    /// The rows' ids, in the first column's order.
    pub ids: Vec<K>,
    /// The first value of each.
    pub first: Vec<f64>,
    /// The second value of each.
    pub second: Vec<f64>,
    /// The rows that have no pair of values: those of the first column in its order, then those only in the second.
    pub left_out: Vec<LeftOut<K>>,
}

/// A row without a pair of values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut<K> {
    /// Which.
    pub id: K,
    /// Why.
    pub why: Why,
}

/// Why a row has no pair of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The second column has no row with this id.
    OnlyInFirst,
    /// The first column has no row with this id.
    OnlyInSecond,
    /// The first column has the row without a value.
    MissingInFirst,
    /// The second column has the row without a value.
    MissingInSecond,
    /// Both have the row without a value.
    MissingInBoth,
}

impl<K> Pairs<K> {
    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    fn new() -> Self {
        Self { ids: Vec::new(), first: Vec::new(), second: Vec::new(), left_out: Vec::new() }
    }

    fn add(&mut self, id: K, first: Option<f64>, second: Option<f64>) {
        let why = match (first, second) {
            (Some(first), Some(second)) => {
                self.ids.push(id);
                self.first.push(first);
                self.second.push(second);
                return;
            }
            (None, Some(_)) => Why::MissingInFirst,
            (Some(_), None) => Why::MissingInSecond,
            (None, None) => Why::MissingInBoth,
        };
        self.left_out.push(LeftOut { id, why });
    }
}

impl Pairs<usize> {
    /// Pairs the rows of two columns by their places, which are their ids. Columns of different lengths and values that
    /// are not finite are refused.
    pub fn by_position(first: &[Option<f64>], second: &[Option<f64>]) -> Result<Self, InputError> {
        check_lengths((FIRST, first.len()), (SECOND, second.len()))?;
        check_values(A_FIRST, first.iter().copied())?;
        check_values(A_SECOND, second.iter().copied())?;
        let mut pairs = Self::new();
        for (id, (&first, &second)) in first.iter().zip(second).enumerate() {
            pairs.add(id, first, second);
        }
        Ok(pairs)
    }
}

impl<K: Ord + Clone> Pairs<K> {
    /// Pairs the rows of two columns by their ids, wherever they stand. An id that occurs twice in a column and values
    /// that are not finite are refused.
    pub fn by_id(first: &[(K, Option<f64>)], second: &[(K, Option<f64>)]) -> Result<Self, InputError> {
        check_values(A_FIRST, first.iter().map(|row| row.1))?;
        check_values(A_SECOND, second.iter().map(|row| row.1))?;
        let in_first = index(FIRST, first)?;
        let in_second = index(SECOND, second)?;
        let mut pairs = Self::new();
        for (id, value) in first {
            match in_second.get(id) {
                Some(&row) => pairs.add(id.clone(), *value, second[row].1),
                None => pairs.left_out.push(LeftOut { id: id.clone(), why: Why::OnlyInFirst }),
            }
        }
        let only = second.iter().filter(|(id, _)| !in_first.contains_key(id));
        pairs.left_out.extend(only.map(|(id, _)| LeftOut { id: id.clone(), why: Why::OnlyInSecond }));
        Ok(pairs)
    }
}

const FIRST: &str = "the first column";
const SECOND: &str = "the second column";
const A_FIRST: &str = "a value of the first column";
const A_SECOND: &str = "a value of the second column";

fn check_values(input: &'static str, values: impl Iterator<Item = Option<f64>>) -> Result<(), InputError> {
    for (index, value) in values.enumerate() {
        if let Some(value) = value {
            finite(input, Place::Index(index), value)?;
        }
    }
    Ok(())
}

fn index<'a, K: Ord>(
    input: &'static str,
    rows: &'a [(K, Option<f64>)],
) -> Result<BTreeMap<&'a K, usize>, InputError> {
    let mut index = BTreeMap::new();
    for (later, (id, _)) in rows.iter().enumerate() {
        if let Some(earlier) = index.insert(id, later) {
            return Err(InputError::DuplicateId { input, earlier, later });
        }
    }
    Ok(index)
}
