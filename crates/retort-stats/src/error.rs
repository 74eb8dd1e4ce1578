//! What is refused.

/// Why an input was refused. Counting starts at 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// Two inputs that belong together have different lengths.
    #[error("{first} has {first_len} values and {second} has {second_len}; give one for each")]
    Lengths {
        /// What the first is.
        first: &'static str,
        /// Its length.
        first_len: usize,
        /// What the second is.
        second: &'static str,
        /// Its length.
        second_len: usize,
    },
    /// A row has another length than the first row.
    #[error("row {row} of {input} has {found} values and row 0 has {expected}; give a missing value as None")]
    RowLength {
        /// What the table is.
        input: &'static str,
        /// Which row.
        row: usize,
        /// Its length.
        found: usize,
        /// The first row's length.
        expected: usize,
    },
    /// A value is NaN or infinite.
    #[error("{input} is {value} {place}; give a finite number, or leave it out as missing")]
    NotFinite {
        /// What the value is one of.
        input: &'static str,
        /// Where it stands.
        place: Place,
        /// What was given.
        value: f64,
    },
    /// A value is outside the range that it must lie in.
    #[error("{input} is {value} {place}; it must lie between {min} and {max}")]
    OutOfRange {
        /// What the value is one of.
        input: &'static str,
        /// Where it stands.
        place: Place,
        /// What was given.
        value: f64,
        /// The least that is allowed.
        min: f64,
        /// The most that is allowed.
        max: f64,
    },
    /// A row of probabilities does not sum to 1.
    #[error("the probabilities of row {row} sum to {sum}, not to 1; normalise them over the classes first")]
    BadSum {
        /// Which row.
        row: usize,
        /// The sum.
        sum: f64,
    },
    /// A class has no probability in its row.
    #[error("the class at index {index} is {class}, but there are {classes} classes, counted from 0")]
    NoSuchClass {
        /// Which case.
        index: usize,
        /// Its class.
        class: usize,
        /// How many classes there are.
        classes: usize,
    },
    /// Scores that are to be averaged as they are come from different scales.
    #[error(
        "the score at index {index} is on the scale {found}, the ones before it on {expected}; \
         average scores of one scale, or ask for normalised ones"
    )]
    MixedScales {
        /// The first score on another scale.
        index: usize,
        /// Its scale.
        found: crate::Scale,
        /// The scale before.
        expected: crate::Scale,
    },
    /// A scale whose ends are not two finite numbers in rising order, or further apart than a number can say.
    #[error("a scale cannot reach from {min} to {max}; give two finite ends, the lower one first")]
    BadScale {
        /// The lower end.
        min: f64,
        /// The upper end.
        max: f64,
    },
    /// An id occurs twice on one side, so that rows cannot be matched by it.
    #[error("the rows {earlier} and {later} of {input} have the same id; make the ids unique")]
    DuplicateId {
        /// Which side.
        input: &'static str,
        /// The first row with the id.
        earlier: usize,
        /// The second.
        later: usize,
    },
    /// A row was asked for that is not there.
    #[error("row {row} was asked for, but there are {rows} rows")]
    NoSuchRow {
        /// The row asked for.
        row: usize,
        /// How many there are.
        rows: usize,
    },
    /// A setting is outside what it may be.
    #[error("{setting} is {value}; it must be {must_be}")]
    Setting {
        /// Which setting.
        setting: &'static str,
        /// What was given.
        value: f64,
        /// What it must be.
        must_be: &'static str,
    },
}

/// Where a value stands, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a column.
    Index(usize),
    /// In a table.
    Cell {
        /// The row.
        row: usize,
        /// The place within the row.
        column: usize,
    },
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Index(index) => write!(f, "at index {index}"),
            Self::Cell { row, column } => write!(f, "in row {row}, column {column}"),
        }
    }
}
