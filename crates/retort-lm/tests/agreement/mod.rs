//! What the tests against other implementations share: reading a fixture, and comparing a model with it.

use std::path::PathBuf;

use retort_lm::config::Config;
use retort_lm::cpu::CpuBackend;
use retort_lm::gguf::Gguf;
use retort_lm::{
    Answer, AnswerOption, Branch, FileSource, Flow, Model, PromptTree, Readout, Segment, Segments,
};
use serde_json::Value;

/// The model in this file, on the CPU.
pub(crate) fn load(mut source: FileSource) -> Model<CpuBackend> {
    let gguf = Gguf::read(&mut source).unwrap();
    let config = Config::read(&gguf, &mut source).unwrap();
    let mut go_on = |_| Flow::Continue;
    let backend = pollster::block_on(CpuBackend::load(&gguf, &config, &mut source, &mut go_on)).unwrap();
    Model::new(&gguf, config, &mut source, backend).unwrap()
}

pub(crate) fn fixture(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub(crate) fn ids(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect()
}

/// How a model's logits agree with a fixture's.
pub(crate) struct Agreement {
    /// Positions compared, and at how many of them the most probable token is the same.
    pub(crate) positions: usize,
    pub(crate) equal: usize,
    /// The largest difference of one of the last position's highest logits.
    pub(crate) worst: f64,
}

/// Compares over the fixture's texts, each of `length` tokens.
pub(crate) fn logits(model: &mut Model<CpuBackend>, fixture: &Value, length: usize) -> Agreement {
    let vocabulary = model.config().vocabulary;
    let mut agreement = Agreement { positions: 0, equal: 0, worst: 0.0 };
    for text in fixture["texts"].as_array().unwrap() {
        let tokens = ids(&text["ids"]);
        assert_eq!(tokens.len(), length);
        let logits = pollster::block_on(model.logits(&tokens)).unwrap();
        for (row, right) in logits.chunks_exact(vocabulary).zip(ids(&text["top1"])) {
            let best = (0u32..).zip(row).max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap().0;
            agreement.positions += 1;
            agreement.equal += usize::from(best == right);
        }
        let last = logits.chunks_exact(vocabulary).last().unwrap();
        for top in text["last_top"].as_array().unwrap() {
            let id = top["id"].as_u64().unwrap() as usize;
            let off = (f64::from(last[id]) - top["logit"].as_f64().unwrap()).abs();
            agreement.worst = agreement.worst.max(off);
        }
    }
    agreement
}

pub(crate) fn scores() -> Vec<AnswerOption> {
    (1..=5).map(|score| AnswerOption { spellings: vec![score.to_string()] }).collect()
}

/// The case's prompt: its last piece is the branch, the others are the prefix.
pub(crate) fn tree_of(case: &Value, options: &[AnswerOption]) -> PromptTree {
    let mut pieces: Vec<Segment> = case["segments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|segment| {
            let piece = segment["text"].as_str().unwrap().to_owned();
            if segment["special"].as_bool().unwrap() {
                Segment::Template(piece)
            } else {
                Segment::User(piece)
            }
        })
        .collect();
    let mut text = Segments::new();
    text.push(pieces.pop().unwrap());
    let mut prefix = Segments::new();
    pieces.into_iter().for_each(|piece| prefix.push(piece));
    PromptTree { prefix, branches: vec![Branch { text, readout: Readout::options(options.to_vec()) }] }
}

/// The largest difference between the answer's log-probabilities and the reference's.
pub(crate) fn difference(answer: &Answer, case: &Value) -> f64 {
    let right = case["option_log_probs"].as_array().unwrap();
    assert_eq!(answer.log_probabilities.len(), right.len());
    let pairs = answer.log_probabilities.iter().zip(right);
    pairs.map(|(found, right)| (found - right.as_f64().unwrap()).abs()).fold(0.0, f64::max)
}
