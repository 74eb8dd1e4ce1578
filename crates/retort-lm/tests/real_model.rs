//! The real 135M model against an independent implementation.
//!
//! The numbers in `fixtures/` were made by `fixtures/make_fixtures.py` with the Python packages transformers,
//! gguf and tokenizers on the same GGUF file, dequantized to f32. The tests need that file: its path is read
//! from `RETORT_TEST_MODEL`, which `cargo xtask test` sets.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "helpers of tests are tests too; clippy knows only the functions marked as such"
)]

mod agreement;

use std::path::PathBuf;

use agreement::{Agreement, difference, fixture, ids, load, logits, scores, tree_of};
use retort_lm::{
    AnswerOption, BackendChoice, BackendKind, Branch, FileSource, Flow, LanguageModel, Limits, NoWatch,
    PromptTree, Readout, Segments, Watch,
};
use serde_json::Value;

fn model_file() -> PathBuf {
    let path = std::env::var_os("RETORT_TEST_MODEL")
        .expect("set RETORT_TEST_MODEL to the default model's file, or run `cargo xtask test`, which does");
    PathBuf::from(path)
}

/// Top-1 equal at 99% or more of the positions of five 300-token texts.
#[test]
fn logits_agree_with_transformers() {
    let mut model = load(FileSource::open(&model_file()).unwrap());
    let fixture = fixture("logits.json");
    for text in fixture["texts"].as_array().unwrap() {
        let encoded = model.tokenizer().encode_user(text["text"].as_str().unwrap()).unwrap();
        assert_eq!(encoded, ids(&text["ids"]));
    }
    let Agreement { positions, equal, worst } = logits(&mut model, &fixture, 300);
    println!("top-1 equal at {equal} of {positions} positions; largest difference of a top logit {worst:.5}");
    assert_eq!(positions, 1500);
    assert!(equal * 100 >= positions * 99, "top-1 equal at {equal} of {positions}");
    assert!(worst < 0.02, "a logit differs by {worst}");
}

/// Option log-probabilities within 0.02 of transformers' f32.
#[test]
fn option_probabilities_agree_with_transformers() {
    let mut model = load(FileSource::open(&model_file()).unwrap());
    let options = scores();
    let fixture = fixture("options.json");
    let mut worst = 0.0f64;
    for case in fixture["cases"].as_array().unwrap() {
        let tree = tree_of(case, &options);
        let whole = tree.prefix.clone().then(&tree.branches[0].text);
        assert_eq!(model.tokenizer().encode(&whole).unwrap(), ids(&case["ids"]), "{}", case["name"]);
        let answer = pollster::block_on(model.answer(&tree, &mut NoWatch)).unwrap().remove(0);
        worst = worst.max(difference(&answer, case));
    }
    println!("largest difference of an option's log-probability: {worst:.5}");
    assert!(worst < 0.02, "an option's log-probability differs by {worst}");
}

/// The same through the GPU backend: WGSL on whatever adapter this machine has (lavapipe where it has none).
#[test]
fn the_gpu_agrees_with_transformers() {
    let load = |choice| {
        let source = Box::new(FileSource::open(&model_file()).unwrap());
        pollster::block_on(retort_lm::load(source, choice, &mut |_| Flow::Continue)).unwrap()
    };
    let mut model = load(BackendChoice::Gpu);
    assert_eq!(model.backend().placement().backend, BackendKind::Gpu);
    let options = scores();
    let fixture = fixture("options.json");
    // Emulated GPUs read about twenty tokens a second: the shortest prompts are enough.
    let mut cases: Vec<&Value> = fixture["cases"].as_array().unwrap().iter().collect();
    cases.sort_by_key(|case| case["tokens"].as_u64().unwrap());
    let mut worst = 0.0f64;
    for case in &cases[..3] {
        let tree = tree_of(case, &options);
        let answer = pollster::block_on(model.answer(&tree, &mut NoWatch)).unwrap().remove(0);
        worst = worst.max(difference(&answer, case));
    }
    println!("largest difference of an option's log-probability on the GPU: {worst:.5}");
    assert!(worst < 0.02, "an option's log-probability differs by {worst}");
    assert!(model.take_notices().is_empty(), "the GPU did not last");
}

/// P46: the tokenizer inside the file against the reference, on 456 strings, special spellings included.
#[test]
fn p46_tokens_agree_with_the_reference() {
    let model = load(FileSource::open(&model_file()).unwrap());
    let fixture = fixture("tokenizer_parity.json");
    let cases = fixture["user_text"].as_array().unwrap();
    assert!(cases.len() >= 200);
    for case in cases {
        let text = case["text"].as_str().unwrap();
        assert_eq!(model.tokenizer().encode_user(text).unwrap(), ids(&case["ids"]), "{text:?}");
    }
    for case in fixture["template_text"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        assert_eq!(model.tokenizer().encode_template(text).unwrap(), ids(&case["ids"]), "{text:?}");
    }
}

/// The file's own Jinja template against transformers' rendering of it.
#[test]
fn conversations_render_as_in_transformers() {
    let model = load(FileSource::open(&model_file()).unwrap());
    let fixture = fixture("chat_template.json");
    let cases = fixture["cases"].as_array().unwrap();
    assert!(cases.len() >= 10);
    for case in cases {
        let messages: Vec<(&str, &str)> = case["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| (message["role"].as_str().unwrap(), message["content"].as_str().unwrap()))
            .collect();
        let open = case["add_generation_prompt"].as_bool().unwrap();
        assert_eq!(
            model.template().render(&messages, open).unwrap(),
            case["expected"].as_str().unwrap(),
            "{}",
            case["name"]
        );
    }
}

/// Keeps what is generated.
#[derive(Default)]
struct Streamed(String);

impl Watch for Streamed {
    fn text(&mut self, piece: &str) -> Flow {
        self.0.push_str(piece);
        Flow::Continue
    }
}

/// Greedy continuations token by token, through the key/value cache.
#[test]
fn greedy_text_agrees_with_transformers() {
    let mut model = load(FileSource::open(&model_file()).unwrap());
    for case in fixture("greedy.json")["cases"].as_array().unwrap() {
        let prompt = Segments::new().template(case["prompt"].as_str().unwrap());
        let right = ids(&case["ids"]);
        let limits = Limits { max_tokens: right.len(), ..Limits::default() };
        let mut streamed = Streamed::default();
        let generated = pollster::block_on(model.generate(&prompt, &limits, &mut streamed)).unwrap();
        // The reference goes on after the end token; ours stops there.
        assert_eq!(generated.tokens, right[..generated.tokens.len()], "{}", case["name"]);
        assert!(generated.tokens.len() >= 5);
        assert_eq!(streamed.0, generated.text);
    }
}

/// Twelve branches in one tree and twelve separate prompts give the same probabilities (1e-3).
#[test]
fn a_tree_equals_separate_prompts() {
    let mut model = load(FileSource::open(&model_file()).unwrap());
    let prefix = Segments::new()
        .template("<|im_start|>user\nInstruction:\n")
        .user("Name three rivers of Europe and say where each of them ends.")
        .template("\n\nResponse:\n")
        .user("The Danube flows into the Black Sea, the Rhine into the North Sea, and the Seine into the Channel.")
        .template("\n\n");
    let branches: Vec<Branch> = (0..12)
        .map(|index| Branch {
            text: Segments::new()
                .user(format!(
                    "Question {index}: how {} is the response?",
                    ["clear", "right", "short"][index % 3]
                ))
                .template("<|im_end|>\n<|im_start|>assistant\nScore:"),
            // Two spellings, one of them two tokens long, and options of which one begins another.
            readout: Readout::options(
                [1, 2, 5, 10, 100].iter().map(|n| AnswerOption::new(&n.to_string())).collect(),
            ),
        })
        .collect();
    let tree = PromptTree { prefix: prefix.clone(), branches: branches.clone() };
    let together = pollster::block_on(model.answer(&tree, &mut NoWatch)).unwrap();
    for (branch, together) in branches.into_iter().zip(together) {
        let alone = PromptTree {
            prefix: Segments::new(),
            branches: vec![Branch { text: prefix.clone().then(&branch.text), ..branch }],
        };
        let alone = pollster::block_on(model.answer(&alone, &mut NoWatch)).unwrap().remove(0);
        for (a, b) in together.log_probabilities.iter().zip(&alone.log_probabilities) {
            assert!((a.exp() - b.exp()).abs() < 1e-3, "{a} and {b}");
            assert!((a - b).abs() < 1e-2, "{a} and {b}");
        }
    }
}
