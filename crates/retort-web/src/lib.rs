//! The wasm-bindgen face of Retort: plain data in and out, no logic.
//!
//! Everything crosses as plain objects in the shapes of `types.d.ts`, which is part of the generated
//! TypeScript declarations. Errors are JavaScript `Error`s named `RetortError` with a stable `code`.

#![deny(missing_docs)]

mod source;
mod utf16;
mod vocabulary;

use std::cell::Cell;
use std::rc::Rc;

use js_sys::{Error, Float32Array, Function, Reflect};
use retort_checklist::{Checklist, Item, MAX_PER_SKILL, Wanted};
use retort_judge::{
    AdapterIdentity, AnnotationRecord, AnnotationRequest, Calibration, CompareRecord, CompareRequest,
    DEFAULT_ORDERS, ItemVerdict, JudgeError, ModelIdentity, Observer, Planned, Record, Request, RewardRecord,
    RewardRequest, RubricVerdict, RunContext, StatesRequest, Truncation, Wording, WriteObserver,
    WriteRequest, WrittenForm,
};
use retort_lm::config::Head;
use retort_lm::{
    Adapter, AnyBackend, BackendChoice, BackendKind, ByteSource, Flow, LmError, LoadProgress, Model,
};
use retort_rubric::{Annotation, Rubric, Skill};
use retort_stats::{DEFAULT_FOLDS, Readout, ReadoutError, ReadoutExample, ReadoutSettings};
use serde::{Deserialize, Serialize};
use sha2::Digest;
use wasm_bindgen::prelude::*;

use source::{JsByteSource, JsByteSources, JsSource};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");

#[wasm_bindgen]
extern "C" {
    /// `LoadOptions` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "LoadOptions")]
    pub type JsLoadOptions;
    /// `EngineInfo` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "EngineInfo")]
    pub type JsEngineInfo;
    /// `JudgeRequest` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "JudgeRequest")]
    pub type JsJudgeRequest;
    /// `JudgeRecord` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "JudgeRecord")]
    pub type JsJudgeRecord;
    /// `Vocabulary` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "Vocabulary")]
    pub type JsVocabulary;
    /// `Rubric[]` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "Rubric[]")]
    pub type JsRubrics;
    /// `AdapterOptions` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "AdapterOptions")]
    pub type JsAdapterOptions;
    /// `RewardRequest` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "RewardRequest")]
    pub type JsRewardRequest;
    /// `RewardRecord` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "RewardRecord")]
    pub type JsRewardRecord;
    /// `CompareRequest` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "CompareRequest")]
    pub type JsCompareRequest;
    /// `CompareRecord` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "CompareRecord")]
    pub type JsCompareRecord;
    /// `StateRequest` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "StateRequest")]
    pub type JsStateRequest;
    /// `StateRecord` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "StateRecord")]
    pub type JsStateRecord;
    /// `FitRequest` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "FitRequest")]
    pub type JsFitRequest;
    /// `Readout` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "Readout")]
    pub type JsReadout;
    /// A number, or null where there is none.
    #[wasm_bindgen(typescript_type = "number | null")]
    pub type JsMaybeNumber;
    /// `Annotated` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "Annotated")]
    pub type JsAnnotated;
    /// `AnnotateRequest` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "AnnotateRequest")]
    pub type JsAnnotateRequest;
    /// `AnnotationRecord` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "AnnotationRecord")]
    pub type JsAnnotationRecord;
    /// `ChecklistRequest` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "ChecklistRequest")]
    pub type JsChecklistRequest;
    /// `Checklist` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "Checklist")]
    pub type JsChecklist;
    /// `ChecklistReading` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "ChecklistReading")]
    pub type JsChecklistReading;
    /// `Rubric` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "Rubric")]
    pub type JsRubric;
    /// `WriteItemsRequest` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "WriteItemsRequest")]
    pub type JsWriteItemsRequest;
    /// `WrittenItems` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "WrittenItems")]
    pub type JsWrittenItems;
    /// A listener for `WriteEvent`.
    #[wasm_bindgen(typescript_type = "(event: WriteEvent) => void")]
    pub type OnWritten;
    /// A listener for `LoadProgress`.
    #[wasm_bindgen(typescript_type = "(progress: LoadProgress) => void")]
    pub type OnProgress;
    /// A listener for `JudgeEvent`.
    #[wasm_bindgen(typescript_type = "(event: JudgeEvent) => void")]
    pub type OnEvent;
    /// A listener for `TokenProgress`.
    #[wasm_bindgen(typescript_type = "(progress: TokenProgress) => void")]
    pub type OnTokens;
}

/// Prints a panic, which is a defect of ours, where a person can find and report it.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| {
        web_sys::console::error_1(&JsValue::from_str(&format!(
            "Retort stopped on a defect of its own: {info}"
        )));
    }));
}

/// Stops a computation between two of its steps.
#[wasm_bindgen]
#[derive(Debug, Default, Clone)]
pub struct Cancel {
    asked: Rc<Cell<bool>>,
}

#[wasm_bindgen]
impl Cancel {
    /// Nothing has been cancelled yet.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks whatever was given this to stop.
    pub fn cancel(&self) {
        self.asked.set(true);
    }

    fn flow(&self) -> Flow {
        if self.asked.get() { Flow::Stop } else { Flow::Continue }
    }
}

#[derive(Deserialize)]
struct LoadOptions {
    backend: BackendChoice,
    name: String,
    #[serde(default)]
    sha256: Option<String>,
    #[serde(default)]
    tuning: Option<String>,
}

#[derive(Deserialize)]
struct AdapterOptions {
    name: String,
    #[serde(default)]
    sha256: Option<String>,
    #[serde(default = "as_trained")]
    strength: f32,
}

fn as_trained() -> f32 {
    1.0
}

#[derive(Serialize)]
struct EngineInfo<'a> {
    backend: BackendKind,
    reason: &'a str,
    device: &'a str,
    tuning: Option<&'a str>,
    model: ModelInfo<'a>,
    adapter: Option<AdapterInfo<'a>>,
}

#[derive(Serialize)]
struct AdapterInfo<'a> {
    name: &'a str,
    sha256: Option<&'a str>,
    title: &'a str,
    rank: usize,
    strength: f32,
}

#[derive(Serialize)]
struct HeadInfo<'a> {
    outputs: usize,
    labels: &'a [String],
}

#[derive(Serialize)]
struct ModelInfo<'a> {
    name: &'a str,
    sha256: Option<&'a str>,
    architecture: &'a str,
    parameters: u64,
    context_length: usize,
    layers: usize,
    width: usize,
    quantization: &'a str,
    file_bytes: u64,
    head: Option<HeadInfo<'a>>,
}

#[derive(Deserialize)]
struct JudgeRequest {
    prompt: String,
    response: String,
    #[serde(default)]
    reference: Option<String>,
    rubrics: Vec<Rubric>,
    #[serde(default)]
    checklist: Option<Checklist>,
    #[serde(default)]
    annotation: Option<Annotation>,
    /// An option, since callers write `wording: undefined` for an absent one.
    #[serde(default)]
    wording: Option<Wording>,
    #[serde(default)]
    form: Option<WrittenForm>,
}

#[derive(Deserialize)]
struct Annotate {
    instruction: String,
    #[serde(default)]
    seed: Option<u64>,
    #[serde(default)]
    orders: Option<usize>,
    #[serde(default)]
    with_words: Option<bool>,
}

#[derive(Deserialize)]
struct MakeChecklist {
    instruction: String,
    #[serde(default)]
    reference: Option<String>,
    skills: Vec<Skill>,
    form: Form,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    Full,
    Hard,
}

#[derive(Serialize)]
struct ChecklistReading {
    checklist: Checklist,
    warnings: Vec<String>,
}

#[derive(Deserialize)]
struct WriteItems {
    instruction: String,
    #[serde(default)]
    reference: Option<String>,
    skills: Vec<Skill>,
    #[serde(default)]
    per_skill: Option<usize>,
    #[serde(default)]
    existing: Option<Vec<Item>>,
    #[serde(default)]
    temperature: Option<f32>,
    #[serde(default)]
    seed: Option<u64>,
}

#[derive(Serialize)]
struct WrittenItems<'a> {
    items: &'a [Item],
    dropped: Vec<String>,
    truncations: &'a [Truncation],
    cancelled: bool,
    failure: Option<String>,
    notices: Vec<String>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum WriteEvent<'a> {
    Progress { done: usize, total: usize },
    Item { item: &'a Item },
}

#[derive(Deserialize)]
struct RewardTexts {
    prompt: String,
    responses: Vec<String>,
}

#[derive(Deserialize)]
struct CompareTexts {
    prompt: String,
    #[serde(default)]
    reference: Option<String>,
    responses: Vec<String>,
}

#[derive(Deserialize)]
struct StateTexts {
    prompt: String,
    response: String,
    #[serde(default)]
    reference: Option<String>,
}

/// What of a `StateRecord` is no typed array.
#[derive(Serialize)]
struct StateFrame<'a> {
    model: &'a ModelIdentity,
    layer: usize,
    width: usize,
    truncations: &'a [Truncation],
}

#[derive(Deserialize)]
struct LabelledState {
    #[serde(with = "serde_wasm_bindgen::preserve")]
    state: Float32Array,
    #[serde(default)]
    own: Option<f64>,
    label: f64,
    group: String,
}

#[derive(Deserialize)]
struct Fit {
    examples: Vec<LabelledState>,
    layer: usize,
    #[serde(default)]
    model: Option<ModelIdentity>,
    min: f64,
    max: f64,
    seed: u64,
    #[serde(default)]
    folds: Option<usize>,
}

#[derive(Serialize)]
struct ReadoutOfModel<'a> {
    #[serde(flatten)]
    readout: &'a Readout,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<ModelIdentity>,
}

#[derive(Serialize)]
struct TokenProgress {
    done_tokens: usize,
    total_tokens: usize,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum JudgeEvent<'a> {
    Planned { questions: usize, truncations: &'a [Truncation] },
    Progress { done_tokens: usize, total_tokens: usize },
    Writing { question: usize, piece: &'a str },
    Verdict { index: usize, verdict: &'a RubricVerdict },
    Item { index: usize, verdict: &'a ItemVerdict },
}

/// A loaded model that judges.
#[wasm_bindgen]
pub struct Engine {
    model: Model<AnyBackend>,
    options: LoadOptions,
    file_bytes: u64,
    adapter: Option<AdapterIdentity>,
}

#[wasm_bindgen]
impl Engine {
    /// Reads a model from `source`, one file or the parts of a split one in their order, and puts it on a backend.
    ///
    /// # Errors
    /// A `RetortError` with the code of what is wrong with the file or the device.
    pub async fn load(
        source: JsByteSources,
        options: JsLoadOptions,
        on_progress: OnProgress,
        cancel: &Cancel,
    ) -> Result<Engine, Error> {
        let options: LoadOptions = from_js(options.into(), "options")?;
        let source = source::joined(source, &options.name)?;
        let file_bytes = source.size();
        let on_progress = Function::from(JsValue::from(on_progress));
        let mut report = |progress: LoadProgress| {
            emit(&on_progress, &progress);
            cancel.flow()
        };
        let chosen = retort_lm::LoadOptions { backend: options.backend, tuning: options.tuning.clone() };
        let model = retort_lm::load(Box::new(source), chosen, &mut report).await.map_err(lm_error)?;
        Ok(Self { model, options, file_bytes, adapter: None })
    }

    /// Applies an adapter from now on, in place of the one before; `null` takes it away. The base stays loaded.
    /// `options` may be left out where there is no source.
    ///
    /// # Errors
    /// A `RetortError` for a file that is no adapter or belongs to another base: what was applied before then
    /// still is. After one with the code `out_of_memory` or `gpu_failed` none is applied.
    pub async fn set_adapter(
        &mut self,
        source: Option<JsByteSource>,
        options: Option<JsAdapterOptions>,
    ) -> Result<(), Error> {
        let Some(source) = source else {
            self.adapter = None;
            return self.model.set_adapter(None).await.map_err(lm_error);
        };
        let options = options.map_or(JsValue::UNDEFINED, JsValue::from);
        let AdapterOptions { name, sha256, strength } = from_js(options, "options of the adapter")?;
        let mut source = JsSource::new(source, &name)?;
        let adapter = Adapter::read(&mut source, self.model.config()).map_err(lm_error)?;
        Calibration::of_adapter(&adapter).map_err(lm_error)?;
        let adapter = adapter.with_strength(strength).map_err(lm_error)?;
        self.adapter = None;
        self.model.set_adapter(Some(adapter)).await.map_err(lm_error)?;
        self.adapter = Some(AdapterIdentity { name, sha256, strength });
        Ok(())
    }

    /// Which model this is, and where and why it runs there.
    ///
    /// # Errors
    /// Never in practice: only if the browser refuses to make an object.
    pub fn info(&self) -> Result<JsEngineInfo, Error> {
        let config = self.model.config();
        let placement = self.model.backend().placement();
        to_js(&EngineInfo {
            backend: placement.backend,
            reason: &placement.reason,
            device: &placement.device,
            tuning: placement.tuning.as_deref(),
            model: ModelInfo {
                name: &self.options.name,
                sha256: self.options.sha256.as_deref(),
                architecture: &config.architecture,
                parameters: config.parameters,
                context_length: config.context,
                layers: config.layers,
                width: config.width,
                quantization: &config.quantization,
                file_bytes: self.file_bytes,
                head: config
                    .head
                    .as_ref()
                    .map(|Head { outputs, labels, .. }| HeadInfo { outputs: *outputs, labels }),
            },
            adapter: self.adapter.as_ref().zip(self.model.adapter()).map(|(identity, adapter)| AdapterInfo {
                name: &identity.name,
                sha256: identity.sha256.as_deref(),
                title: &adapter.title,
                rank: adapter.rank,
                strength: identity.strength,
            }),
        })
        .map(JsCast::unchecked_into)
    }

    /// Rates a response by every rubric. Verdicts are told to `on_event` as they come. A cancelled judgement
    /// is no error: its record says so and keeps the verdicts that were ready.
    ///
    /// # Errors
    /// A `RetortError` where nothing was judged at all.
    pub async fn judge(
        &mut self,
        request: JsJudgeRequest,
        on_event: OnEvent,
        cancel: &Cancel,
    ) -> Result<JsJudgeRecord, Error> {
        let request = self.request(request)?;
        let on_event = Function::from(JsValue::from(on_event));
        let mut listener = Listener { on_event, cancel, response: &request.response };
        let start = js_sys::Date::now();
        let judgement =
            retort_judge::judge(&mut self.model, &request, &mut listener).await.map_err(judge_error)?;
        let run = self.context(start);
        let mut record = Record::new(&request, &judgement, run);
        for item in record.checklist.iter_mut().flat_map(|checklist| &mut checklist.items) {
            utf16::item(item, &request.response);
        }
        to_js(&record).map(JsCast::unchecked_into)
    }

    /// Reads the texts of a request before it is asked, so that its scores come sooner. What was read until a cancel stays.
    ///
    /// # Errors
    /// A `RetortError`; with the code `cancelled` where it was cancelled.
    pub async fn read_ahead(&mut self, request: JsJudgeRequest, cancel: &Cancel) -> Result<(), Error> {
        let request = self.request(request)?;
        let mut follow = |_, _| cancel.flow();
        let read = retort_judge::read_ahead(&mut self.model, &request, &mut follow).await;
        read.map(|_| ()).map_err(judge_error)
    }

    /// What the page asks for, as the engine knows it.
    fn request(&self, request: JsJudgeRequest) -> Result<Request, Error> {
        let JudgeRequest { prompt, response, reference, rubrics, checklist, annotation, wording, form } =
            from_js(request.into(), "request")?;
        Ok(Request {
            prompt,
            response,
            reference,
            rubrics,
            checklist,
            annotation,
            wording: wording.unwrap_or_else(|| Wording::suiting(self.model.adapter())),
            form,
            ..Request::default()
        })
    }

    /// Lets the model say what an instruction needs. Progress is told to `on_progress`. A cancelled run is no error: its
    /// record says what was ready.
    ///
    /// # Errors
    /// A `RetortError` where nothing was found at all.
    pub async fn annotate(
        &mut self,
        request: JsAnnotateRequest,
        on_progress: OnTokens,
        cancel: &Cancel,
    ) -> Result<JsAnnotationRecord, Error> {
        let Annotate { instruction, seed, orders, with_words } = from_js(request.into(), "request")?;
        let words = with_words.unwrap_or(false).then(|| retort_annotate::explain(&instruction));
        let request = AnnotationRequest {
            seed: seed.unwrap_or_default(),
            orders: orders.unwrap_or(DEFAULT_ORDERS),
            words,
            ..AnnotationRequest::new(instruction)
        };
        let mut listener = TokenListener { on_progress: Function::from(JsValue::from(on_progress)), cancel };
        let start = js_sys::Date::now();
        let found =
            retort_judge::annotate(&mut self.model, &request, &mut listener).await.map_err(judge_error)?;
        let run = self.context(start);
        let mut record =
            AnnotationRecord::new(&request.instruction, request.words.clone(), Some((&found, run)));
        if let Some(words) = &mut record.words {
            utf16::evidence(words, &request.instruction);
        }
        to_js(&record).map(JsCast::unchecked_into)
    }

    /// Lets the model write items for a checklist, for each skill some. Items are told to `on_event` as they come. What
    /// was ready when it is cancelled or fails stands.
    ///
    /// # Errors
    /// A `RetortError` where nothing was written at all.
    pub async fn write_items(
        &mut self,
        request: JsWriteItemsRequest,
        on_event: OnWritten,
        cancel: &Cancel,
    ) -> Result<JsWrittenItems, Error> {
        let WriteItems { instruction, reference, skills, per_skill, existing, temperature, seed } =
            from_js(request.into(), "request")?;
        let request = WriteRequest {
            prompt: instruction,
            reference,
            skills,
            per_skill: per_skill.unwrap_or(MAX_PER_SKILL),
            existing: existing.unwrap_or_default(),
            temperature: temperature.unwrap_or_default(),
            seed: seed.unwrap_or_default(),
        };
        let mut listener = WriteListener { on_event: Function::from(JsValue::from(on_event)), cancel };
        // The base writes: an adapter that was trained to judge was not trained to write.
        let adapter = self.model.take_adapter().await.map_err(lm_error)?;
        let written = retort_judge::write_items(&mut self.model, &request, &mut listener).await;
        if adapter.is_some() {
            self.model.set_adapter(adapter).await.map_err(lm_error)?;
        }
        let written = written.map_err(judge_error)?;
        let dropped =
            written.dropped.iter().map(|dropped| format!("{} ({})", dropped.text, dropped.reason)).collect();
        to_js(&WrittenItems {
            items: &written.items,
            dropped,
            truncations: &written.truncations,
            cancelled: written.cancelled,
            failure: written.failure.as_ref().map(ToString::to_string),
            notices: self.model.take_notices(),
        })
        .map(JsCast::unchecked_into)
    }

    /// Reads the model's own head at the end of each response to the prompt: what a reward model or classifier is for.
    /// A cancelled run is no error: its record says so and keeps what was ready.
    ///
    /// # Errors
    /// A `RetortError` with the code `no_head` for a model that has none; others where nothing was scored at all.
    pub async fn reward(
        &mut self,
        request: JsRewardRequest,
        on_progress: OnTokens,
        cancel: &Cancel,
    ) -> Result<JsRewardRecord, Error> {
        let RewardTexts { prompt, responses } = from_js(request.into(), "request")?;
        let request = RewardRequest { prompt, responses };
        let on_progress = Function::from(JsValue::from(on_progress));
        let mut follow = |done_tokens, total_tokens| {
            emit(&on_progress, &TokenProgress { done_tokens, total_tokens });
            cancel.flow()
        };
        let start = js_sys::Date::now();
        let found =
            retort_judge::reward(&mut self.model, &request, &mut follow).await.map_err(judge_error)?;
        let run = self.context(start);
        to_js(&RewardRecord::new(&request, &found, run)).map(JsCast::unchecked_into)
    }

    /// Shows two to four responses together, in pairs, each in both orders, and asks which is better. Progress is told to
    /// `on_progress`. A cancelled comparison is no error: its record says so and keeps the pairs that were ready.
    ///
    /// # Errors
    /// A `RetortError` where nothing was compared at all.
    pub async fn compare(
        &mut self,
        request: JsCompareRequest,
        on_progress: OnTokens,
        cancel: &Cancel,
    ) -> Result<JsCompareRecord, Error> {
        let CompareTexts { prompt, reference, responses } = from_js(request.into(), "request")?;
        let request = CompareRequest { prompt, reference, responses, ..CompareRequest::default() };
        let mut listener = TokenListener { on_progress: Function::from(JsValue::from(on_progress)), cancel };
        let start = js_sys::Date::now();
        let found =
            retort_judge::compare(&mut self.model, &request, &mut listener).await.map_err(judge_error)?;
        let run = self.context(start);
        to_js(&CompareRecord::new(&request, &found, run)).map(JsCast::unchecked_into)
    }

    /// Reads what the model has of a response inside it, in its middle layer, as a judgement of the whole reads it.
    ///
    /// # Errors
    /// A `RetortError`; with the code `cancelled` where it was cancelled.
    pub async fn states(&mut self, request: JsStateRequest, cancel: &Cancel) -> Result<JsStateRecord, Error> {
        let StateTexts { prompt, response, reference } = from_js(request.into(), "request")?;
        let layer = retort_judge::middle_layer(self.model.config().layers);
        let request = StatesRequest { prompt, response, reference, layer };
        let start = js_sys::Date::now();
        let found = retort_judge::states(&mut self.model, &request, &mut |_, _| cancel.flow())
            .await
            .map_err(judge_error)?;
        let model = self.context(start).model;
        let (width, truncations) = (found.mean.len(), &found.truncations[..]);
        let record = to_js(&StateFrame { model: &model, layer, width, truncations })?;
        for (name, state) in [("mean", &found.mean), ("last", &found.last)] {
            // Setting a property on a fresh object cannot fail.
            let _ =
                Reflect::set(&record, &JsValue::from_str(name), &Float32Array::from(state.as_slice()).into());
        }
        Ok(record.unchecked_into())
    }
}

impl Engine {
    /// What the record says of a run that began at this time.
    fn context(&mut self, start: f64) -> RunContext {
        let notices = self.model.take_notices();
        let placement = self.model.backend().placement();
        RunContext {
            model: ModelIdentity {
                name: self.options.name.clone(),
                sha256: self.options.sha256.clone(),
                adapter: self.adapter.clone(),
            },
            backend: placement.backend,
            device: placement.device.clone(),
            notices,
            total_ms: js_sys::Date::now() - start,
        }
    }
}

struct Listener<'a> {
    on_event: Function,
    cancel: &'a Cancel,
    response: &'a str,
}

impl Observer for Listener<'_> {
    fn planned(&mut self, plan: &Planned) {
        emit(
            &self.on_event,
            &JudgeEvent::Planned { questions: plan.questions, truncations: &plan.truncations },
        );
    }

    fn progress(&mut self, done: usize, total: usize) -> Flow {
        emit(&self.on_event, &JudgeEvent::Progress { done_tokens: done, total_tokens: total });
        self.cancel.flow()
    }

    fn writing(&mut self, question: usize, piece: &str) {
        emit(&self.on_event, &JudgeEvent::Writing { question, piece });
    }

    fn verdict(&mut self, index: usize, verdict: &RubricVerdict) {
        emit(&self.on_event, &JudgeEvent::Verdict { index, verdict });
    }

    fn item(&mut self, index: usize, verdict: &ItemVerdict) {
        let mut verdict = verdict.clone();
        utf16::item(&mut verdict, self.response);
        emit(&self.on_event, &JudgeEvent::Item { index, verdict: &verdict });
    }
}

struct TokenListener<'a> {
    on_progress: Function,
    cancel: &'a Cancel,
}

impl Observer for TokenListener<'_> {
    fn progress(&mut self, done_tokens: usize, total_tokens: usize) -> Flow {
        emit(&self.on_progress, &TokenProgress { done_tokens, total_tokens });
        self.cancel.flow()
    }
}

struct WriteListener<'a> {
    on_event: Function,
    cancel: &'a Cancel,
}

impl WriteObserver for WriteListener<'_> {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        emit(&self.on_event, &WriteEvent::Progress { done, total });
        self.cancel.flow()
    }

    fn item(&mut self, item: &Item) {
        emit(&self.on_event, &WriteEvent::Item { item });
    }
}

/// A SHA-256 over bytes that come piece by piece.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Sha256 {
    hasher: sha2::Sha256,
}

#[wasm_bindgen]
impl Sha256 {
    /// Of nothing yet.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
    }

    /// The hash of all bytes so far, as 64 lower-case hex digits. Starts over.
    pub fn finish_hex(&mut self) -> String {
        self.hasher.finalize_reset().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The twelve skills of FLASK.
///
/// # Errors
/// Never in practice: only if the browser refuses to make an object.
#[wasm_bindgen]
pub fn builtin_rubrics() -> Result<JsRubrics, Error> {
    to_js(&retort_rubric::builtin()).map(JsCast::unchecked_into)
}

/// FLASK's skill-agnostic baseline: one rating of the whole response.
///
/// # Errors
/// Never in practice: only if the browser refuses to make an object.
#[wasm_bindgen]
pub fn overall_rubric() -> Result<JsRubric, Error> {
    to_js(retort_rubric::overall()).map(JsCast::unchecked_into)
}

/// What an instruction needs by its words alone, and which words say so.
///
/// # Errors
/// Never in practice: only if the browser refuses to make an object.
#[wasm_bindgen]
pub fn annotate(instruction: &str) -> Result<JsAnnotated, Error> {
    let mut found = retort_annotate::explain(instruction);
    utf16::evidence(&mut found, instruction);
    to_js(&found).map(JsCast::unchecked_into)
}

/// Makes a checklist for an instruction without a model. It has no items where nothing can be looked for.
///
/// # Errors
/// A `RetortError` with the code `data` for a request of another shape.
#[wasm_bindgen]
pub fn generate_checklist(request: JsChecklistRequest) -> Result<JsChecklist, Error> {
    let MakeChecklist { instruction, reference, skills, form } = from_js(request.into(), "request")?;
    let wanted = Wanted {
        reference: reference.as_deref().filter(|text| !text.trim().is_empty()),
        skills: &skills,
        ..Wanted::of(&instruction)
    };
    let checklist = match form {
        Form::Full => retort_checklist::generate(&wanted),
        Form::Hard => retort_checklist::hard(&wanted),
    };
    to_js(&checklist).map(JsCast::unchecked_into)
}

/// Reads a checklist from TOML or JSON. `name` is the file's name, for messages.
///
/// # Errors
/// A `RetortError` with the code `invalid_checklist`, whose message lists every mistake with its line and column.
#[wasm_bindgen]
pub fn read_checklist(text: &str, name: &str) -> Result<JsChecklistReading, Error> {
    let reading = retort_checklist::read_checklist(text, name)
        .map_err(|error| retort_error("invalid_checklist", &error.to_string()))?;
    let warnings = reading.warnings.iter().map(ToString::to_string).collect();
    to_js(&ChecklistReading { checklist: reading.checklist, warnings }).map(JsCast::unchecked_into)
}

/// A checklist as the text of a file, `toml` or `json`, that `read_checklist` reads back.
///
/// # Errors
/// A `RetortError` with the code `invalid_checklist`, whose message names every item and field that is wrong.
#[wasm_bindgen]
pub fn write_checklist(checklist: JsChecklist, format: &str) -> Result<String, Error> {
    let checklist: Checklist = from_js(checklist.into(), "checklist")?;
    let written = match format {
        "toml" => checklist.to_toml(),
        "json" => checklist.to_json(),
        other => return Err(unknown_format(other)),
    };
    written.map_err(|error| retort_error("invalid_checklist", &error.to_string()))
}

/// Reads rubrics from TOML, JSON or a file of another tool that is known by its keys. `name` is the file's name, for
/// messages.
///
/// # Errors
/// A `RetortError` whose message lists every mistake with its line, column, field and remedy.
#[wasm_bindgen]
pub fn read_rubrics(text: &str, name: &str) -> Result<JsRubrics, Error> {
    let invalid = |error: &dyn std::fmt::Display| retort_error("invalid_rubric", &error.to_string());
    let rubrics = if retort_formats::rubrics::recognise(text).is_some() {
        retort_formats::rubrics::import(text, name).map_err(|error| invalid(&error))?.rubrics
    } else {
        retort_rubric::read(text, name, retort_rubric::Format::Auto).map_err(|error| invalid(&error))?.rubrics
    };
    to_js(&rubrics).map(JsCast::unchecked_into)
}

/// Writes rubrics as "toml" or "json" that [`read_rubrics`] reads back as the equal ones.
///
/// # Errors
/// A `RetortError` for another format, and for rubrics that would be refused when read.
#[wasm_bindgen]
pub fn write_rubrics(rubrics: JsRubrics, format: &str) -> Result<String, Error> {
    let rubrics: Vec<Rubric> = from_js(rubrics.into(), "rubrics")?;
    let written = match format {
        "toml" => retort_rubric::to_toml(&rubrics),
        "json" => retort_rubric::to_json(&rubrics),
        other => return Err(unknown_format(other)),
    };
    written.map_err(|error| retort_error("invalid_rubric", &error.to_string()))
}

fn unknown_format(given: &str) -> Error {
    retort_error("data", &format!("the format {given:?} is not known; give toml or json"))
}

/// Skills, domains and levels of difficulty, with their names for people.
///
/// # Errors
/// Never in practice: only if the browser refuses to make an object.
#[wasm_bindgen]
pub fn vocabulary() -> Result<JsVocabulary, Error> {
    to_js(&vocabulary::all()).map(JsCast::unchecked_into)
}

/// Fits a readout to a person's own labels, with what it is worth on prompts that it had not seen.
///
/// # Errors
/// A `RetortError`: `too_few_examples`, `wrong_state` for states of different lengths, `label` for one outside the range,
/// `data` for a request of another shape and for numbers that are not finite.
#[wasm_bindgen]
pub fn fit_readout(request: JsFitRequest) -> Result<JsReadout, Error> {
    let Fit { examples, layer, model, min, max, seed, folds } = from_js(request.into(), "request")?;
    let examples = examples.into_iter().map(|LabelledState { state, own, label, group }| {
        Ok(ReadoutExample { state: numbers(&state)?, own, label, group })
    });
    let examples = examples.collect::<Result<Vec<_>, Error>>()?;
    let settings = ReadoutSettings { layer, min, max, seed, folds: folds.unwrap_or(DEFAULT_FOLDS) };
    let readout = retort_stats::fit_readout(&examples, &settings).map_err(readout_error)?;
    to_js(&ReadoutOfModel { readout: &readout, model }).map(JsCast::unchecked_into)
}

/// What a readout says of a response by its state (`mean` and `last` of a `StateRecord`, one after the other) and the model's
/// own score; null where it needs that score and there is none. `layer` is that of the `StateRecord`: where it is given, it
/// is compared with the readout's.
///
/// # Errors
/// A `RetortError`: `wrong_state` for a state of another length or layer, `wrong_readout` for a readout that does not hold
/// together, `data` for one of another shape and for numbers that are not finite.
#[wasm_bindgen]
pub fn apply_readout(
    readout: JsReadout,
    state: &Float32Array,
    own: Option<f64>,
    layer: Option<usize>,
) -> Result<JsMaybeNumber, Error> {
    let readout: Readout = from_js(readout.into(), "readout")?;
    if let Some(layer) = layer {
        readout.check_layer(layer).map_err(readout_error)?;
    }
    let said = readout.apply(&numbers(state)?, own).map_err(readout_error)?;
    Ok(said.map_or(JsValue::NULL, JsValue::from_f64).unchecked_into())
}

/// The version of Retort.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

// Tables of examples, and how two of their columns agree.

#[wasm_bindgen]
extern "C" {
    /// `Table` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "Table")]
    pub type JsTable;
    /// `Table["container"]` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "Table[\"container\"]")]
    pub type JsContainer;
    /// `Agreement` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "Agreement")]
    pub type JsAgreement;
    /// A column of numbers, some of them missing.
    #[wasm_bindgen(typescript_type = "(number | null)[]")]
    pub type JsNumbers;
    /// What rows belong to, or null where each stands alone.
    #[wasm_bindgen(typescript_type = "string[] | null")]
    pub type JsGroups;
}

/// Reads a file of examples: CSV, TSV, JSON or JSON Lines, in UTF-8, or in UTF-16 with a byte-order mark. `name` is the
/// file's name, for messages. A row that cannot be read is among the table's faults.
///
/// # Errors
/// A `RetortError` with the code `invalid_table`, whose message says what is wrong with the file as a whole.
#[wasm_bindgen]
pub fn read_table(bytes: &[u8], name: &str) -> Result<JsTable, Error> {
    let table = retort_formats::table::read(bytes, name)
        .map_err(|error| retort_error("invalid_table", &error.to_string()))?;
    to_js(&table).map(JsCast::unchecked_into)
}

/// A table as the text of a file that `read_table` reads back.
///
/// # Errors
/// A `RetortError` with the code `data` for a table or container of another shape.
#[wasm_bindgen]
pub fn write_table(table: JsTable, container: JsContainer) -> Result<String, Error> {
    let table: retort_formats::table::Table = from_js(table.into(), "table")?;
    let container = from_js(container.into(), "container")?;
    Ok(retort_formats::table::write(&table, container))
}

/// A table of two responses each as a file that the web viewer LLM Comparator shows. `scores` has one number per row:
/// above 0 where the first response is the better one, below 0 where the second is. `models` are the names of the two.
///
/// # Errors
/// A `RetortError` with the code `data` for values of another shape, or a table without columns for prompt and both
/// responses.
#[wasm_bindgen]
pub fn write_llm_comparator(
    table: JsTable,
    first_model: &str,
    second_model: &str,
    scores: JsNumbers,
) -> Result<String, Error> {
    let table: retort_formats::table::Table = from_js(table.into(), "table")?;
    let scores: Vec<Option<f64>> = from_js(scores.into(), "scores")?;
    retort_formats::table::llm_comparator(&table, [first_model, second_model], &scores)
        .map_err(|error| retort_error("data", &error.to_string()))
}

/// How two columns of numbers agree, row by row, with intervals from 1,000 resamples. Rows of one group are drawn
/// together. `seed` is a whole number from 0 to 2^53 - 1.
///
/// # Errors
/// A `RetortError` with the code `data` for values of another shape, columns and groups of different lengths, and numbers
/// that are not finite.
#[wasm_bindgen]
pub fn agreement(
    first: JsNumbers,
    second: JsNumbers,
    groups: JsGroups,
    seed: f64,
) -> Result<JsAgreement, Error> {
    let first: Vec<Option<f64>> = from_js(first.into(), "first column")?;
    let second: Vec<Option<f64>> = from_js(second.into(), "second column")?;
    let groups: Option<Vec<String>> = from_js(groups.into(), "groups")?;
    let seed: u64 = from_js(JsValue::from_f64(seed), "seed")?;
    let found = retort_stats::agreement_of(&first, &second, groups.as_deref(), seed)
        .map_err(|error| retort_error("data", &error.to_string()))?;
    to_js(&found).map(JsCast::unchecked_into)
}

fn to_js<T: Serialize>(value: &T) -> Result<JsValue, Error> {
    value
        .serialize(&serde_wasm_bindgen::Serializer::json_compatible())
        .map_err(|error| retort_error("data", &error.to_string()))
}

fn from_js<T: serde::de::DeserializeOwned>(value: JsValue, what: &str) -> Result<T, Error> {
    serde_wasm_bindgen::from_value(value)
        .map_err(|error| retort_error("data", &format!("the {what}: {error}")))
}

/// Tells a listener. One that throws has lost this event and does not stop the computation.
fn emit<T: Serialize>(listener: &Function, event: &T) {
    if let Ok(event) = to_js(event) {
        let _ = listener.call1(&JsValue::NULL, &event);
    }
}

/// The numbers of a typed array. What comes from JavaScript may be anything, whatever its type says.
fn numbers(array: &Float32Array) -> Result<Vec<f32>, Error> {
    if array.is_instance_of::<Float32Array>() {
        return Ok(array.to_vec());
    }
    Err(retort_error("data", "a state is no Float32Array; give `mean` and `last` of a StateRecord in one"))
}

fn readout_error(error: ReadoutError) -> Error {
    retort_error(error.code(), &error.to_string())
}

fn lm_error(error: LmError) -> Error {
    retort_error(error.code(), &error.to_string())
}

fn judge_error(error: JudgeError) -> Error {
    retort_error(error.code(), &error.to_string())
}

fn retort_error(code: &str, message: &str) -> Error {
    let error = Error::new(message);
    error.set_name("RetortError");
    // Setting a property on a fresh object cannot fail.
    let _ = Reflect::set(&error, &JsValue::from_str("code"), &JsValue::from_str(code));
    error
}
