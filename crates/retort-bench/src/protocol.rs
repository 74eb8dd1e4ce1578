//! The exams themselves, one module for each protocol.

pub mod cobbler;
pub mod flask;
pub mod verbosity;

#[cfg(test)]
mod fake;
