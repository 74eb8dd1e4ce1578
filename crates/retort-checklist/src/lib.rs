//! Turns an instruction into a checklist, and verifies by code every item that code can verify.
//!
//! 1. **Said**: a [`Constraint`] is something that an instruction asks of a response and that code can decide, as data:
//!    lengths and other counts ([`Unit`], [`Limit`]), words and phrases, beginnings and ends, formats, case, language,
//!    choices, and their combinations. [`Constraint::check`] says whether it makes sense,
//!    [`Constraint::canonical`] how this crate writes it.
//! 2. **Verified**: [`verify`] gives a [`Finding`]: the [`Verdict`], a sentence that says what was found, and the
//!    passages that show it. For several constraints on one response, [`Response`].
//!
//! 3. **Made**: [`generate`] turns an instruction, a reference answer and skills into a [`Checklist`] without a model:
//!    the constraints that [`extract`] finds, the asks of the instruction's own voice, the claims of the reference, and
//!    what each skill asks of this instance. [`hard`] gives it the form of FLASK-Hard.
//! 4. **Kept**: [`read_checklist`] reads a file with every mistake and its place; [`Checklist::to_toml`] and
//!    [`Checklist::to_json`] write what it reads back as the same; [`Checklist::check`] says what is wrong with one from
//!    anywhere.
//! 5. **Scored**: [`score`] weighs what was [`Decided`] about each item, and says how many were verified, judged, not
//!    applicable or without a verdict.
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
mod extract;
mod file;
mod finding;
mod generate;
mod generated;
mod instruction;
mod json;
mod language;
mod limit;
mod outline;
mod question;
mod read;
mod reference;
mod requests;
mod score;
mod segment;
mod similar;
mod skills;
mod text;
mod verify;

pub use checklist::{
    AnswerForm, Checklist, ChecklistProblem, Item, MAX_ID_CHARACTERS, MAX_ITEMS, MAX_QUESTION_CHARACTERS,
    MAX_WEIGHT, Origin,
};
pub use code::{CodeCheck, code_check};
pub use constraint::{Case, Constraint, InvalidConstraint, MAX_DEPTH, Place, Unit, Which};
pub use extract::{Extracted, extract};
pub use file::{ChecklistReading, ChecklistWriteError, read_checklist};
pub use finding::{Finding, MAX_EVIDENCE, Verdict};
pub use generate::{MAX_HARD, MAX_PER_SKILL, Parts, Wanted, generate, hard};
pub use generated::{GeneratedError, read_json, read_label, read_score};
pub use json::SCHEMA_KEYWORDS;
pub use language::languages;
pub use limit::{ABOUT_PERCENT, Limit};
pub use score::{ChecklistScore, Decided, ScoreError, WhyNone, score, verify_items};
pub use segment::ABBREVIATIONS;
pub use similar::similar_questions;
pub use verify::{MINOR_WORDS, Response, verify};
