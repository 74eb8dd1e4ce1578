//! The benchmarks: each of them is an [`Exam`](crate::Exam).

pub mod aggrefact;
pub mod cobbler;
#[cfg(test)]
mod fake;
pub mod flask;
pub mod held_out;
pub mod pairs;
pub mod rerank;
pub mod rewardbench;
mod shared;
pub mod verbosity;

pub use shared::{Gathered, ProtocolError, gather};
