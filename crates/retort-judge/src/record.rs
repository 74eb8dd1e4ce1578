//! A judgement as data: what was judged, by what, how, and what came out.

use retort_lm::BackendKind;
use retort_rubric::Annotation;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::total::total;
use crate::{
    CalibrationUse, ChecklistSums, ItemVerdict, Judgement, Request, RubricVerdict, Total, Truncation,
    Wording, WrittenForm,
};

/// The name and version of the record's shape.
const FORMAT: &str = "retort.judgement/1";

/// One judgement. Serialised, it is one JSON object on one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name and version of this shape.
    pub format: String,
    /// Version of Retort.
    pub version: String,
    /// What was asked.
    pub task: String,
    /// Hashes of the texts; the texts themselves are not kept.
    pub input: InputHashes,
    /// Whose response it is, where the caller said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_model: Option<String>,
    /// The model that judged.
    pub model: ModelIdentity,
    /// Where it ran at the end of the judgement.
    pub backend: BackendKind,
    /// The GPU or CPU.
    pub device: String,
    /// Seed of whatever was drawn; `None` where nothing was.
    pub seed: Option<u64>,
    /// In which orders several responses were shown; empty where there was one.
    pub orders: Vec<String>,
    /// How much of each rubric the model read; not written where it was all of it.
    #[serde(default, skip_serializing_if = "Wording::is_full")]
    pub wording: Wording,
    /// Whether probabilities were set right by what the adapter knows of itself; not written where there was nothing to
    /// do it by. Each verdict's method says how it was read.
    #[serde(default, skip_serializing_if = "CalibrationUse::is_none")]
    pub calibration: CalibrationUse,
    /// In which form the judge wrote its verdicts; not written where probabilities were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<WrittenForm>,
    /// What the instruction asks for, where somebody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotation: Option<Annotation>,
    /// One verdict per rubric.
    pub verdicts: Vec<RubricVerdict>,
    /// What the rubrics come to, where any of them is weighed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Total>,
    /// What the checklist found, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checklist: Option<ChecklistRecord>,
    /// Texts that were cut.
    pub truncations: Vec<Truncation>,
    /// What happened on the way that a person should know.
    pub notices: Vec<String>,
    /// How long it took.
    pub timings: Timings,
    /// Whether somebody cancelled it.
    pub cancelled: bool,
}

/// A checklist and what came out. Its questions may quote the instruction, its findings the response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChecklistRecord {
    /// Its name, if it has one.
    #[serde(default)]
    pub name: Option<String>,
    /// SHA-256 of the checklist as JSON: checklists that differ in any item are never compared unawares (P31).
    pub sha256: String,
    /// One per item.
    pub items: Vec<ItemVerdict>,
    /// What they come to.
    #[serde(flatten)]
    pub sums: ChecklistSums,
}

/// SHA-256 of the texts, in UTF-8, lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputHashes {
    /// Of the instruction.
    pub prompt_sha256: String,
    /// Of the response.
    pub response_sha256: String,
    /// Of the reference answer, if there was one.
    pub reference_sha256: Option<String>,
    /// Words of the response (Unicode Standard Annex 29), so that reports can tell whether length sways the judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_words: Option<usize>,
}

/// Which model it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelIdentity {
    /// File or preset name.
    pub name: String,
    /// SHA-256 of the file, where it is known; of a split model, of its parts one after the other.
    pub sha256: Option<String>,
    /// The adapter on top of it, if there was one.
    pub adapter: Option<AdapterIdentity>,
}

/// Which adapter it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdapterIdentity {
    /// File or preset name.
    pub name: String,
    /// SHA-256 of the file, where it is known.
    pub sha256: Option<String>,
    /// How strongly it was applied: 1 is as it was trained.
    pub strength: f32,
}

/// How long it took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Timings {
    /// Milliseconds from the request to the last verdict.
    pub total_ms: f64,
    /// Tokens computed.
    pub tokens: usize,
    /// Tokens found in the cache from an earlier judgement.
    pub tokens_reused: usize,
}

/// What only the caller knows about a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunContext {
    /// The model.
    pub model: ModelIdentity,
    /// Where it ran.
    pub backend: BackendKind,
    /// The GPU or CPU.
    pub device: String,
    /// What happened on the way.
    pub notices: Vec<String>,
    /// Milliseconds that it took.
    pub total_ms: f64,
}

impl Record {
    /// The record of a judgement.
    #[must_use]
    pub fn new(request: &Request, judgement: &Judgement, run: RunContext) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            task: "rubric_scores".to_owned(),
            input: InputHashes {
                prompt_sha256: sha256_hex(request.prompt.as_bytes()),
                response_sha256: sha256_hex(request.response.as_bytes()),
                reference_sha256: request.reference().map(|text| sha256_hex(text.as_bytes())),
                response_words: Some(retort_stats::words(&request.response).len()),
            },
            response_model: request.response_model.clone(),
            model: run.model,
            backend: run.backend,
            device: run.device,
            seed: None,
            orders: Vec::new(),
            // A judge that writes reads every rubric in full.
            wording: if request.form.is_some() { Wording::Full } else { request.wording },
            calibration: judgement.calibration,
            form: request.form,
            annotation: request.annotation.clone(),
            verdicts: judgement.verdicts.clone(),
            total: total(&request.rubrics, &judgement.verdicts),
            checklist: request.checklist.as_ref().zip(judgement.sums.as_ref()).map(|(checklist, sums)| {
                ChecklistRecord {
                    name: checklist.name.clone(),
                    sha256: crate::item::checklist_sha256(checklist),
                    items: judgement.items.clone(),
                    sums: sums.clone(),
                }
            }),
            truncations: judgement.truncations.clone(),
            notices: run.notices,
            timings: Timings {
                total_ms: run.total_ms,
                tokens: judgement.usage.computed,
                tokens_reused: judgement.usage.reused,
            },
            cancelled: judgement.cancelled,
        }
    }
}

/// SHA-256 as 64 lower-case hex digits.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
