//! Two public models against independent implementations: Qwen2.5-Coder-0.5B-Instruct (Q4_K_M) and the base model
//! Gemma 3 270M (Q4_K_M).
//!
//! They are too large to carry, so these tests run on demand only:
//! `RETORT_QWEN_MODEL=… RETORT_GEMMA_MODEL=… cargo test -p retort-lm --test named_models -- --ignored`. The numbers in
//! `fixtures/named_*.json` were made by `fixtures/make_named_models.py`, which says where the files come from, with
//! the Python packages tokenizers, sentencepiece and transformers (f32, weights dequantized).

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "helpers of tests are tests too; clippy knows only the functions marked as such"
)]

use std::path::PathBuf;
use std::time::Instant;

use retort_lm::config::Config;
use retort_lm::cpu::CpuBackend;
use retort_lm::gguf::Gguf;
use retort_lm::tokenizer::Tokenizer;
use retort_lm::{
    AnswerOption, Branch, FileSource, Flow, LanguageModel, Model, NoWatch, PromptTree, Readout, Segment,
    Segments,
};
use serde_json::Value;

fn source(variable: &str) -> FileSource {
    let path = std::env::var_os(variable)
        .expect("set the variable that the test names to the model's file; fixtures/make_named_models.py says where it comes from");
    FileSource::open(&PathBuf::from(path)).unwrap()
}

fn fixture(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect()
}

fn tokens_agree(variable: &str, fixture_name: &str) {
    let mut source = source(variable);
    let gguf = Gguf::read(&mut source).unwrap();
    let vocabulary = gguf.tensor("token_embd.weight").unwrap().shape[1];
    #[expect(clippy::disallowed_methods, reason = "this test never runs in a browser")]
    let start = Instant::now();
    let tokenizer = Tokenizer::read(&gguf, vocabulary).unwrap();
    println!("a tokenizer of {vocabulary} tokens read in {:?}", start.elapsed());
    let fixture = fixture(fixture_name);
    let shared = self::fixture("tokenizer_parity.json");
    let texts = shared["user_text"].as_array().unwrap().iter().map(|case| &case["text"]);
    let texts: Vec<&Value> = texts.chain(fixture["more_strings"].as_array().unwrap()).collect();
    let wanted = fixture["text_ids"].as_array().unwrap();
    assert!(texts.len() == wanted.len() && texts.len() >= 400);
    let mut wrong = 0;
    let mut compare = |text: &str, found: Vec<u32>, wanted: &Value| {
        if found != ids(wanted) {
            wrong += 1;
            println!("{text:?}: {found:?}, and the reference {:?}", ids(wanted));
        }
    };
    for (text, wanted) in texts.iter().zip(wanted) {
        let text = text.as_str().unwrap();
        compare(text, tokenizer.encode_user(text).unwrap(), wanted);
    }
    for case in fixture["template"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        compare(text, tokenizer.encode_template(text).unwrap(), &case["ids"]);
    }
    assert_eq!(wrong, 0);
    let long: String =
        texts.iter().map(|text| text.as_str().unwrap()).collect::<Vec<_>>().join(" ").repeat(20);
    #[expect(clippy::disallowed_methods, reason = "this test never runs in a browser")]
    let start = Instant::now();
    let count = tokenizer.encode_user(&long).unwrap().len();
    println!("{} bytes became {count} tokens in {:?}", long.len(), start.elapsed());
}

/// P46.
#[test]
#[ignore = "needs RETORT_QWEN_MODEL, a file of 491 MB"]
fn p46_tokens_of_qwen_agree_with_the_reference() {
    tokens_agree("RETORT_QWEN_MODEL", "named_qwen.json");
}

/// P46.
#[test]
#[ignore = "needs RETORT_GEMMA_MODEL, a file of 253 MB"]
fn p46_tokens_of_gemma_agree_with_the_reference() {
    tokens_agree("RETORT_GEMMA_MODEL", "named_gemma.json");
}

fn model(variable: &str) -> Model<CpuBackend> {
    let mut source = source(variable);
    let gguf = Gguf::read(&mut source).unwrap();
    let config = Config::read(&gguf, &mut source).unwrap();
    let mut go_on = |_| Flow::Continue;
    let backend = pollster::block_on(CpuBackend::load(&gguf, &config, &mut source, &mut go_on)).unwrap();
    Model::new(&gguf, config, &mut source, backend).unwrap()
}

/// Top-1 over two texts of 150 tokens, the last position's highest logits, and the options' log-probabilities of
/// three prompts.
fn numbers_agree(variable: &str, fixture_name: &str) {
    let mut model = model(variable);
    let fixture = fixture(fixture_name);
    let vocabulary = model.config().vocabulary;
    let (mut positions, mut equal, mut worst_logit) = (0, 0, 0.0f64);
    for text in fixture["texts"].as_array().unwrap() {
        let tokens = ids(&text["ids"]);
        assert_eq!(tokens.len(), 150);
        let logits = pollster::block_on(model.logits(&tokens)).unwrap();
        for (row, right) in logits.chunks_exact(vocabulary).zip(ids(&text["top1"])) {
            let best = (0u32..).zip(row).max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap().0;
            positions += 1;
            equal += usize::from(best == right);
        }
        let last = logits.chunks_exact(vocabulary).last().unwrap();
        for top in text["last_top"].as_array().unwrap() {
            let id = top["id"].as_u64().unwrap() as usize;
            worst_logit = worst_logit.max((f64::from(last[id]) - top["logit"].as_f64().unwrap()).abs());
        }
    }
    let mut worst_option = 0.0f64;
    let options: Vec<AnswerOption> =
        (1..=5).map(|score| AnswerOption { spellings: vec![score.to_string()] }).collect();
    for case in fixture["cases"].as_array().unwrap() {
        let mut pieces = Segments::new();
        for segment in case["segments"].as_array().unwrap() {
            let text = segment["text"].as_str().unwrap();
            pieces =
                if segment["special"].as_bool().unwrap() { pieces.template(text) } else { pieces.user(text) };
        }
        assert_eq!(model.tokenizer().encode_start(&pieces).unwrap().0, ids(&case["ids"]), "{}", case["name"]);
        // The file's own template, or its absence, as transformers renders it.
        let turn = model.turn(None).unwrap();
        let user = pieces.pieces().iter().find(|piece| matches!(piece, Segment::User(_))).unwrap();
        let mut rendered = turn.open;
        rendered.push(user.clone());
        let rendered = rendered.then(&turn.close).to_display();
        assert!(pieces.to_display().starts_with(&rendered), "{rendered:?}");
        let branch = Branch { text: Segments::new(), readout: Readout::options(options.clone()) };
        // The last piece is the branch, the others are the prefix.
        let (last, before) = pieces.pieces().split_last().unwrap();
        let (mut prefix, mut text) = (Segments::new(), Segments::new());
        before.iter().for_each(|piece| prefix.push(piece.clone()));
        text.push(last.clone());
        let tree = PromptTree { prefix, branches: vec![Branch { text, ..branch }] };
        let answer = pollster::block_on(model.answer(&tree, &mut NoWatch)).unwrap().remove(0);
        let right = case["option_log_probs"].as_array().unwrap();
        for (found, right) in answer.log_probabilities.iter().zip(right) {
            worst_option = worst_option.max((found - right.as_f64().unwrap()).abs());
        }
    }
    println!(
        "top-1 equal at {equal} of {positions}; largest difference of a top logit {worst_logit:.5}, of an option's \
         log-probability {worst_option:.5}"
    );
    assert_eq!(positions, 300);
    assert!(equal * 100 >= positions * 98, "top-1 equal at {equal} of {positions}");
    assert!(worst_option < 0.05, "an option's log-probability differs by {worst_option}");
    assert!(worst_logit < 0.1, "a logit differs by {worst_logit}");
}

#[test]
#[ignore = "needs RETORT_QWEN_MODEL, a file of 491 MB"]
fn numbers_of_qwen_agree_with_transformers() {
    numbers_agree("RETORT_QWEN_MODEL", "named_qwen.json");
}

#[test]
#[ignore = "needs RETORT_GEMMA_MODEL, a file of 253 MB"]
fn numbers_of_gemma_agree_with_transformers() {
    numbers_agree("RETORT_GEMMA_MODEL", "named_gemma.json");
}
