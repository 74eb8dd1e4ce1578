//! The judges' exam and the mixture that trains them: unified tasks, readers of public data, protocols, tables.
//!
//! 1. [`Task`]: one small file says what is judged, what may be answered, and where examples come from.
//! 2. [`read()`]: public files become [`Example`]s, row by row.
//! 3. [`Exam`]: a benchmark makes inquiries ([`Ask`]) and later figures ([`Table`]) from their [`Answers`].
//!
//! No data are in this crate; they lie in a [`DataDir`].

#![deny(missing_docs)]

pub mod compare;
mod data;
mod draw;
mod exam;
mod example;
mod exams;
mod measure;
pub mod mixture;
pub mod pair;
pub mod protocol;
pub mod read;
pub mod report;
pub mod run;
mod split;
pub mod store;
mod table;
mod task;

pub use data::{DataDir, DataError, Problem};
pub use exam::{AnswerRecord, Answers, Ask, Exam};
pub use example::{Example, Target};
pub use exams::{EXAMS, Entry, ExamOptions, Headline, OpenError, Opened, exam};
pub use measure::{Chance, Measure, Seen};
pub use read::{Counts, Item, Reading, read};
pub use split::{Part, Split, split};
pub use table::{Figure, Row, Table, bootstrap};
pub use task::{
    Alone, Capability, ContextField, Kind, Labels, Metric, Purpose, Source, Task, TaskError, TaskOption,
    Variant, tasks,
};
