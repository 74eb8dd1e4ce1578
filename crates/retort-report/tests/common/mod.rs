//! What several tests need.

use retort_report::{Reading, Source, read};

pub(crate) const BROOK: Source<'static> =
    Source { name: "reviews/brook.jsonl", bytes: include_bytes!("../fixtures/brook.jsonl") };
pub(crate) const HARBOUR: Source<'static> =
    Source { name: "reviews/harbour.jsonl", bytes: include_bytes!("../fixtures/harbour.jsonl") };
pub(crate) const LABELS: Source<'static> =
    Source { name: "labels.jsonl", bytes: include_bytes!("../fixtures/labels.jsonl") };
pub(crate) const RECORDS: Source<'static> =
    Source { name: "records.jsonl", bytes: include_bytes!("../fixtures/records.jsonl") };

/// Both models' reviews with their labels.
pub(crate) fn reviews() -> Reading {
    read(&[BROOK, HARBOUR], &[LABELS])
}
