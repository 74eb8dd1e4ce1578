//! Turns an instruction into a checklist, and verifies by code every item that code can verify.
//!
//! 1. **Said**: a [`Constraint`] is something that an instruction asks of a response and that code can decide, as data:
//!    lengths and other counts ([`Unit`], [`Limit`]), words and phrases, beginnings and ends, formats, case, language,
//!    choices, and their combinations. [`Constraint::check`] says whether it makes sense,
//!    [`Constraint::canonical`] how this crate writes it.
//! 2. **Verified**: [`verify`] gives a [`Finding`]: the [`Verdict`], a sentence that says what was found, and the
//!    passages that show it. For several constraints on one response, [`Response`].
//!
//! A verdict is exact or it is [`Verdict::NotApplicable`]; what "word", "sentence" or "bullet point" means is fixed at
//! [`Unit`], what "about" allows at [`Limit`], how far code is checked at [`CodeCheck`]. Every verifier takes time
//! linear in the response (there are no backtracking patterns; texts are searched as Knuth, Morris and Pratt do),
//! panics on nothing, and cannot tell apart responses that differ only in their Unicode normalisation form or in the
//! white space at their end.
#![deny(missing_docs)]

mod checklist;
mod code;
mod constraint;
mod csv;
mod finding;
mod generated;
mod json;
mod language;
mod limit;
mod outline;
mod read;
mod segment;
mod text;
mod verify;

pub use checklist::{AnswerForm, Checklist, Item, Origin};
pub use code::{CodeCheck, code_check};
pub use constraint::{Case, Constraint, InvalidConstraint, MAX_DEPTH, Place, Unit, Which};
pub use finding::{Finding, MAX_EVIDENCE, Verdict};
pub use generated::{GeneratedError, read_json, read_label, read_score};
pub use json::SCHEMA_KEYWORDS;
pub use language::languages;
pub use limit::{ABOUT_PERCENT, Limit};
pub use segment::ABBREVIATIONS;
pub use verify::{MINOR_WORDS, Response, verify};
