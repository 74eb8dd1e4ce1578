//! Aggregates judgements per skill, domain and difficulty, with intervals, and writes the profile as Markdown, HTML or JSON.
#![deny(missing_docs)]
