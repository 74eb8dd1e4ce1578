//! Every architecture against transformers, on tiny models that the tests write for themselves.
//!
//! The numbers in `fixtures/architectures.json` were made by `fixtures/make_architectures.py`: transformers in f64
//! on the same files, dequantized by the Python package gguf; adapters added to the weights, heads written out there.
//! The fixture has each file's SHA-256, which the writer must still give.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests are tests too; clippy knows only the functions marked as such"
)]

use std::fmt::Write as _;
use std::path::PathBuf;

use retort_lm::backend::{Backend, Batch, Step};
use retort_lm::config::Config;
use retort_lm::cpu::CpuBackend;
use retort_lm::gguf::{Gguf, GgufWriter};
use retort_lm::tiny::{AdapterShape, Shape, adapter_gguf, gguf};
use retort_lm::{
    Adapter, Branch, Flow, LanguageModel, LmError, MemorySource, Model, NoWatch, Pool, PromptTree, Readout,
    Segments, StateRequest, reference,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// One tiny model of the fixture, its files written anew.
struct Case {
    name: String,
    expected: Value,
    bytes: Vec<u8>,
    adapter: Option<Vec<u8>>,
}

struct Fixture {
    text: String,
    rows: Vec<usize>,
    cases: Vec<Case>,
}

fn fixture() -> Fixture {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/architectures.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = file["cases"].as_array().unwrap().iter().map(|expected| {
        // What the example tiny-gguf begins with.
        let kind = Some(retort_lm::quant::TensorType::Q4_1);
        let mut shape = Shape { kind, context: 2048, ..Shape::default() };
        let mut adapter = AdapterShape::default();
        for option in expected["options"].as_array().unwrap() {
            let (name, value) = option.as_str().unwrap()[2..].split_once('=').unwrap();
            match name {
                "rank" => adapter.rank = value.parse().unwrap(),
                "alpha" => adapter.alpha = value.parse().unwrap(),
                _ => shape = shape.with(name, value).unwrap(),
            }
        }
        let seed = expected["seed"].as_u64().unwrap();
        let is_adapted = expected["adapter_sha256"].is_string();
        Case {
            name: expected["name"].as_str().unwrap().to_owned(),
            bytes: gguf(shape, seed),
            adapter: is_adapted.then(|| adapter_gguf(shape, adapter, seed)),
            expected: expected.clone(),
        }
    });
    Fixture {
        text: file["text"].as_str().unwrap().to_owned(),
        rows: file["rows"].as_array().unwrap().iter().map(|row| row.as_u64().unwrap() as usize).collect(),
        cases: cases.collect(),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// The reference as a backend: it computes everything that the cache should hold anew each time.
struct ReferenceBackend {
    bytes: Vec<u8>,
    adapter: Option<Adapter>,
    batches: Vec<Batch>,
}

impl Backend for ReferenceBackend {
    async fn forward(&mut self, batch: &Batch, _: &mut dyn FnMut(f32) -> Flow) -> Result<Step, LmError> {
        self.batches.push(batch.clone());
        let last = reference::run(&self.bytes, self.adapter.as_ref(), &self.batches)?.pop().unwrap();
        let narrow = |values: Vec<f64>| values.into_iter().map(|x| x as f32).collect();
        Ok(Step { logits: narrow(last.logits), states: narrow(last.states) })
    }

    async fn set_adapter(&mut self, adapter: Option<&Adapter>) -> Result<(), LmError> {
        self.adapter = adapter.cloned();
        self.batches.clear();
        Ok(())
    }

    async fn reserve(&mut self, _: usize, keep: usize) -> Result<(), LmError> {
        self.batches.retain(|batch| batch.end_slot() <= keep);
        Ok(())
    }

    /// Not a divisor of the text's length, and shorter than the windows.
    fn chunk(&self) -> usize {
        9
    }

    fn device(&self) -> String {
        "the reference".into()
    }
}

/// The largest difference, relative where the right value is above 1.
fn difference(found: &[f32], right: &[f64]) -> f64 {
    assert_eq!(found.len(), right.len());
    let apart = |(found, right): (&f32, &f64)| (f64::from(*found) - right).abs() / right.abs().max(1.0);
    found.iter().zip(right).map(apart).fold(0.0, f64::max)
}

/// The largest differences of logits, states and the head's outputs.
fn differences<B: Backend>(
    case: &Case,
    fixture: &Fixture,
    backend: impl FnOnce(&Gguf, &Config, &mut MemorySource) -> B,
) -> [f64; 3] {
    let mut source = MemorySource::new("tiny.gguf", case.bytes.clone());
    let gguf = Gguf::read(&mut source).unwrap();
    let config = Config::read(&gguf, &mut source).unwrap();
    let backend = backend(&gguf, &config, &mut source);
    let mut model = Model::new(&gguf, config, &mut source, backend).unwrap();
    if let Some(bytes) = &case.adapter {
        let mut source = MemorySource::new("adapter.gguf", bytes.clone());
        let adapter = Adapter::read(&mut source, model.config()).unwrap();
        pollster::block_on(model.set_adapter(Some(adapter))).unwrap();
    }
    let tokens: Vec<u32> = numbers(&case.expected["ids"]).into_iter().map(|id| id as u32).collect();
    assert_eq!(model.tokenizer().encode_user(&fixture.text).unwrap(), tokens);
    let logits = pollster::block_on(model.logits(&tokens)).unwrap();
    let logits: Vec<&[f32]> = logits.chunks_exact(model.config().vocabulary).collect();
    let rows = fixture.rows.iter().zip(case.expected["logits"].as_array().unwrap());
    let of_logits = rows.map(|(&row, right)| difference(logits[row], &numbers(right))).fold(0.0, f64::max);

    let wanted = case.expected["states"].as_array().unwrap();
    let layer = |state: &Value| state["layer"].as_u64().unwrap() as usize;
    let states = wanted
        .iter()
        .flat_map(|state| [Pool::Last, Pool::Branch].map(|pool| StateRequest { layer: layer(state), pool }));
    let readout =
        Readout { states: states.collect(), head: case.expected["head"].is_array(), ..Readout::default() };
    let text = Segments::new().user(fixture.text.as_str());
    let tree = PromptTree { prefix: Segments::new(), branches: vec![Branch { text, readout }] };
    let answer = pollster::block_on(model.answer(&tree, &mut NoWatch)).unwrap().remove(0);
    let right = wanted.iter().flat_map(|state| [numbers(&state["last"]), numbers(&state["mean"])]);
    let pairs = answer.states.iter().zip(right);
    let of_states = pairs.map(|(found, right)| difference(found, &right)).fold(0.0, f64::max);
    let of_head = match &case.expected["head"] {
        Value::Null => 0.0,
        right => difference(&answer.head, &numbers(right)),
    };
    [of_logits, of_states, of_head]
}

#[test]
fn the_writer_still_writes_the_files_that_the_numbers_belong_to() {
    let sum = |bytes: &[u8]| {
        Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").unwrap();
            text
        })
    };
    let fixture = fixture();
    assert!(fixture.cases.len() >= 24);
    for case in &fixture.cases {
        assert_eq!(sum(&case.bytes), case.expected["sha256"].as_str().unwrap(), "{}", case.name);
        if let Some(adapter) = &case.adapter {
            assert_eq!(sum(adapter), case.expected["adapter_sha256"].as_str().unwrap(), "{}", case.name);
            let change = case.expected["adapter_changes_logits_by"].as_f64().unwrap();
            assert!(change > 1.0, "{}: an adapter that changes nothing tests nothing", case.name);
        }
    }
}

/// Differences are those of the six digits that the fixture keeps, and of transformers' rotary tables in f32.
#[test]
fn the_reference_agrees_with_transformers() {
    let fixture = fixture();
    let mut wrong = String::new();
    for case in &fixture.cases {
        let found = differences(case, &fixture, |_, _, _| ReferenceBackend {
            bytes: case.bytes.clone(),
            adapter: None,
            batches: Vec::new(),
        });
        println!(
            "{}: logits, states, head off by {:.1e} {:.1e} {:.1e}",
            case.name, found[0], found[1], found[2]
        );
        if !found.iter().all(|off| *off < 2e-5) {
            writeln!(wrong, "{}: {found:?}", case.name).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A comparison that cannot fail proves nothing: each part of an architecture, changed a little, must show.
#[test]
fn a_fault_in_any_part_is_caught() {
    let fixture = fixture();
    let float = retort_lm::gguf::Value::Float;
    for (name, key, value) in [
        ("llama with factors", "llama.rope.freq_base", float(450_000.0)),
        ("llama with linear scaling", "llama.rope.scaling.factor", float(3.9)),
        ("llama", "llama.attention.layer_norm_rms_epsilon", float(1e-3)),
        ("qwen2", "qwen2.rope.freq_base", float(900_000.0)),
        ("gemma2", "gemma2.attention.sliding_window", retort_lm::gguf::Value::Unsigned(11)),
        ("gemma2", "gemma2.attn_logit_softcapping", float(3.1)),
        ("gemma2", "gemma2.final_logit_softcapping", float(6.1)),
        ("gemma3", "gemma3.attention.sliding_window", retort_lm::gguf::Value::Unsigned(13)),
        ("gemma3", "gemma3.rope.freq_base", float(900_000.0)),
        ("gemma3", "gemma3.rope.freq_base_swa", float(9_000.0)),
        ("gemma3", "gemma3.rope.scaling.factor", float(7.0)),
        ("phi3 extended", "phi3.rope.scaling.attn_factor", float(1.2)),
        ("phi3 with a window", "phi3.attention.sliding_window", retort_lm::gguf::Value::Unsigned(11)),
    ] {
        let right = fixture.cases.iter().find(|case| case.name == name).unwrap();
        let bytes = rewritten(&right.bytes, Some((key, &value)), &mut |_, _| {});
        off_by_more_than_tolerated(right, &fixture, bytes, key);
    }
    for (name, tensor) in [
        ("llama with factors", "rope_freqs.weight"),
        ("llama with biases", "blk.0.attn_q.bias"),
        ("phi3 extended", "rope_factors_short.weight"),
    ] {
        let right = fixture.cases.iter().find(|case| case.name == name).unwrap();
        let bytes = rewritten(&right.bytes, None, &mut |name, bytes| {
            if name == tensor {
                // The second of its components, in f32, doubled.
                let second = f32::from_le_bytes(bytes[4..8].try_into().unwrap());
                bytes[4..8].copy_from_slice(&(2.0 * second).to_le_bytes());
            }
        });
        off_by_more_than_tolerated(right, &fixture, bytes, tensor);
    }
}

/// The file with one metadata entry set, and its tensors as `change` leaves them.
fn rewritten(
    bytes: &[u8],
    entry: Option<(&str, &retort_lm::gguf::Value)>,
    change: &mut dyn FnMut(&str, &mut [u8]),
) -> Vec<u8> {
    let mut source = MemorySource::new("tiny.gguf", bytes.to_vec());
    let gguf = Gguf::read(&mut source).unwrap();
    let mut writer = GgufWriter::new();
    for (key, value) in gguf.entries().filter(|(key, _)| entry.is_none_or(|(other, _)| other != *key)) {
        writer.entry(key, value.clone());
    }
    if let Some((key, value)) = entry {
        writer.entry(key, value.clone());
    }
    for info in gguf.tensors() {
        let mut bytes = Vec::new();
        let kind = gguf.read_tensor(&mut source, &info.name, &info.shape, &mut bytes).unwrap();
        change(&info.name, &mut bytes);
        writer.tensor(&info.name, &info.shape, kind, bytes);
    }
    writer.finish()
}

fn off_by_more_than_tolerated(right: &Case, fixture: &Fixture, bytes: Vec<u8>, what: &str) {
    let (name, expected) = (right.name.clone(), right.expected.clone());
    let wrong = Case { name, expected, bytes, adapter: None };
    let found = differences(&wrong, fixture, |_, _, _| ReferenceBackend {
        bytes: wrong.bytes.clone(),
        adapter: None,
        batches: Vec::new(),
    });
    assert!(found[0] > 1e-4, "{what} changed in \"{}\", and logits are off by {} only", wrong.name, found[0]);
}

/// The processor computes with activations of 8 bits; its kernels are held against the reference elsewhere.
#[test]
fn the_cpu_agrees_with_transformers() {
    let fixture = fixture();
    let mut wrong = String::new();
    for case in &fixture.cases {
        let found = differences(case, &fixture, |gguf, config, source| {
            pollster::block_on(CpuBackend::load(gguf, config, source, &mut |_| Flow::Continue)).unwrap()
        });
        println!(
            "{}: logits, states, head off by {:.1e} {:.1e} {:.1e}",
            case.name, found[0], found[1], found[2]
        );
        let [logits, states, head] = found;
        if !(logits < 1e-2 && states < 4e-2 && head < 1e-2) {
            writeln!(wrong, "{}: {found:?}", case.name).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
