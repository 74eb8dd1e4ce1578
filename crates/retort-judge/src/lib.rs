//! Plans the questions of one judgement as one prompt tree, and turns option probabilities into verdicts.
//!
//! The steps of [`judge`]:
//! 1. What code can verify of a checklist is verified, and never asked of the model ([`Decision::Code`]).
//! 2. [`Inquiry`]: the texts become a shared prefix and one branch per question (a rubric, or an item of the checklist);
//!    what is too long for the model's context is cut in its middle, and said so ([`Truncation`]).
//! 3. The model answers the tree with the probability of every option of every scale.
//! 4. `verdict`: probabilities, set right by what the adapter knows of itself ([`Calibration`]), become a [`Verdict`],
//!    scored or with the reason why not.
//! 5. [`Record`]: the judgement as one JSON line that says all that is needed to trust or repeat it.
//!
//! [`read_ahead`] does what of this needs no question, while nobody waits.
//!
//! Beside it, [`annotate()`] says what an instruction needs, [`write_items`] lets a model write items for a checklist,
//! [`reward()`] reads what a reward model's own head says of responses, [`compare()`] shows responses together in both orders,
//! and [`states()`] reads what the model has of a response inside it. [`WrittenForm`] asks and reads judges that write their
//! verdicts in a form of their own.

#![deny(missing_docs)]

mod annotate;
mod calibration;
mod compare;
mod inquiry;
mod item;
mod judge;
mod prompt;
mod question;
mod record;
mod reward;
mod states;
mod total;
mod verdict;
mod write;
mod writing;
mod written;

pub use annotate::{
    AnnotationRecord, AnnotationRequest, Chance, DEFAULT_ORDERS, Distribution, MAX_ORDERS, ModelAnnotation,
    ModelPart, SECOND_DOMAIN_SHARE, annotate,
};
pub use calibration::{Calibration, CalibrationError, CalibrationUse, ScaleFit, TemperatureFit};
pub use compare::{
    CompareInputs, CompareRecord, CompareRequest, Comparison, MAX_COMPARED, PairVerdict, Preference, Shown,
    TIE_MARGIN, compare, compared_number, which_is_better,
};
pub use inquiry::{Aim, Inquiry, InquiryPlan};
pub use item::{ChecklistSums, Decision, ItemVerdict};
pub use judge::{JudgeError, Judgement, NoObserver, Observer, Planned, Request, Wording, judge, read_ahead};
pub use prompt::{Field, TextRole, Truncation};
pub use question::{NOT_APPLICABLE, Question};
pub use record::{
    AdapterIdentity, ChecklistRecord, InputHashes, ModelIdentity, Record, RunContext, Timings, sha256_hex,
};
pub use reward::{Reward, RewardInputHashes, RewardRecord, RewardRequest, Rewards, reward};
pub use states::{States, StatesRequest, middle_layer, states};
pub use total::Total;
pub use verdict::{Method, OptionProbability, RubricVerdict, Unscored, Verdict};
pub use write::{Dropped, WriteObserver, WriteRequest, WrittenItems, write_items};
pub use written::WrittenForm;
