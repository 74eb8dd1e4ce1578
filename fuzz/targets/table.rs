//! A file of examples as CSV, TSV, JSON or JSON Lines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use retort_formats::table::{Container, read, write};

fuzz_target!(|data: &[u8]| {
    retort_fuzz::bounded(data.len(), || {
        let Ok(table) = read(data, "fuzz.csv") else { return };
        for row in &table.rows {
            assert_eq!(row.values.len(), table.columns.len());
        }
        if table.columns.is_empty() {
            return;
        }
        for container in [Container::Csv, Container::Tsv, Container::Json, Container::Jsonl] {
            let written = write(&table, container);
            // What was read once can be carried on; whether it is read as the same is what the crate's own tests hold.
            let again = read(written.as_bytes(), "fuzz.csv");
            assert!(table.rows.is_empty() || again.is_ok(), "{container:?}: {again:?}");
        }
    });
});
