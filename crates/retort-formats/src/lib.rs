//! Reads and writes the files that people who judge already have.
#![deny(missing_docs)]
