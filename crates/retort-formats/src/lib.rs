//! Reads and writes the files that people who judge already have.
//!
//! A file is recognised by the set of its keys, never by its name; a byte-order mark is skipped; what claims to be
//! JSON Lines may be one JSON value and the reverse; lines end at LF alone. What is wrong with one entry is reported
//! with its line, and the other entries are read.
//!
//! - [`rubrics`]: the rubrics of other tools.
//! - [`table`]: files of examples, row by row: prompts, responses, references, what people said of them.
#![deny(missing_docs)]

mod json;
pub mod rubrics;
pub mod table;
