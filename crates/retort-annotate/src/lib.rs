//! Says what an instruction needs, without a model: skills, domains and difficulty, read from its words.
#![deny(missing_docs)]
