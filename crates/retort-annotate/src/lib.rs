//! Says what an instruction needs, without a model: skills, domains and difficulty, read from its words.
//!
//! 1. `words`: the instruction becomes words, and one pass finds the terms of the `lexicon` among them.
//! 2. [`explain`]: the terms speak for sub-domains and for kinds of task, these for skills (`weights`) and for a level
//!    of difficulty. What was seen stands beside the result as [`Evidence`]; [`annotate`] gives the result alone.
//! 3. [`flask`]: annotations that others made, from files of FLASK's evaluation set.
//!
//! The lexicon and the weights are written by hand from what the domains, skills and levels mean. Nothing is trained,
//! and how good it is stands in BENCHMARKS.md.
#![deny(missing_docs)]

mod annotate;
pub mod flask;
mod lexicon;
mod weights;
mod words;

pub use annotate::{Annotated, Evidence, ForWhat, MAX_EVIDENCE, annotate, explain};
