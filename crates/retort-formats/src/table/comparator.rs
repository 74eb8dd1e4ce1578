//! What the web viewer LLM Comparator shows.

use std::fmt::Write as _;

use super::{Role, Table, write};

/// Why a table cannot be shown by LLM Comparator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComparatorError {
    /// A part has no column.
    #[error("no column is the {0}; LLM Comparator shows two responses to one prompt: say which column it is")]
    Missing(&'static str),
    /// There is not one score for each row.
    #[error("there are {scores} scores and {rows} rows; give one for each row")]
    Scores {
        /// Scores given.
        scores: usize,
        /// Rows of the table.
        rows: usize,
    },
}

/// Writes a table of two responses each as a file of LLM Comparator. `scores` has one per row: above 0 where the first
/// response is the better one, below 0 where the second is, `None` where nothing is known. `models` are the names of
/// whose responses they are. Columns without a part are written as `custom_fields`; rows without prompt or either
/// response are left out, since the viewer refuses them.
///
/// # Errors
/// A table without columns for prompt and both responses, or another number of scores than of rows.
pub fn llm_comparator(
    table: &Table,
    models: [&str; 2],
    scores: &[Option<f64>],
) -> Result<String, ComparatorError> {
    let place = |role, name| table.place(role).ok_or(ComparatorError::Missing(name));
    let prompt = place(Role::Prompt, "prompt")?;
    let first = place(Role::Response, "response")?;
    let second = place(Role::ResponseB, "second response")?;
    if scores.len() != table.rows.len() {
        return Err(ComparatorError::Scores { scores: scores.len(), rows: table.rows.len() });
    }
    let domain = table.place(Role::Domain);
    let mut out = String::from("{\"metadata\":{\"source_path\":\"\",\"custom_fields_schema\":[");
    let others: Vec<usize> = (0..table.columns.len())
        .filter(|&column| ![Some(prompt), Some(first), Some(second), domain].contains(&Some(column)))
        .collect();
    let names: Vec<String> = others
        .iter()
        .filter_map(|&column| {
            let mut field = String::from("{\"name\":");
            write::string(&mut field, table.columns.get(column)?);
            field.push_str(",\"type\":\"string\"}");
            Some(field)
        })
        .collect();
    out.push_str(&names.join(","));
    out.push_str("]},\"models\":[{\"name\":");
    write::string(&mut out, models[0]);
    out.push_str("},{\"name\":");
    write::string(&mut out, models[1]);
    out.push_str("}],\"examples\":[");
    let mut written = 0;
    for (row, score) in table.rows.iter().zip(scores) {
        let (Some(input), Some(a), Some(b)) = (row.get(prompt), row.get(first), row.get(second)) else {
            continue;
        };
        out.push_str(if written == 0 { "\n" } else { ",\n" });
        written += 1;
        out.push_str("{\"input_text\":");
        write::string(&mut out, input);
        out.push_str(",\"tags\":[");
        if let Some(tag) = domain.and_then(|column| row.get(column)) {
            write::string(&mut out, tag);
        }
        out.push_str("],\"output_text_a\":");
        write::string(&mut out, a);
        out.push_str(",\"output_text_b\":");
        write::string(&mut out, b);
        out.push_str(",\"score\":");
        match score.filter(|score| score.is_finite()) {
            // Writing to a String cannot fail.
            Some(score) => drop(write!(out, "{score}")),
            None => out.push_str("null"),
        }
        out.push_str(",\"individual_rater_scores\":[],\"custom_fields\":{");
        let mut is_first = true;
        for &column in &others {
            let (Some(name), Some(value)) = (table.columns.get(column), row.get(column)) else { continue };
            if !std::mem::take(&mut is_first) {
                out.push(',');
            }
            write::string(&mut out, name);
            out.push(':');
            write::string(&mut out, value);
        }
        out.push_str("}}");
    }
    out.push_str("\n]}\n");
    Ok(out)
}
