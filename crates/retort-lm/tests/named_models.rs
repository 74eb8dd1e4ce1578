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

mod agreement;

use std::path::PathBuf;
use std::time::Instant;

use agreement::{Agreement, difference, fixture, ids, load, logits, scores, tree_of};
use retort_lm::gguf::Gguf;
use retort_lm::tokenizer::Tokenizer;
use retort_lm::{FileSource, LanguageModel, NoWatch, Segment, TextModel};
use serde_json::Value;

fn source(variable: &str) -> FileSource {
    let path = std::env::var_os(variable)
        .expect("set the variable that the test names to the model's file; fixtures/make_named_models.py says where it comes from");
    FileSource::open(&PathBuf::from(path)).unwrap()
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
    let shared = agreement::fixture("tokenizer_parity.json");
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

/// Top-1 over two texts of 150 tokens, the last position's highest logits, and the options' log-probabilities of
/// three prompts.
fn numbers_agree(variable: &str, fixture_name: &str) {
    let mut model = load(source(variable));
    let fixture = fixture(fixture_name);
    let Agreement { positions, equal, worst: worst_logit } = logits(&mut model, &fixture, 150);
    let mut worst_option = 0.0f64;
    let options = scores();
    for case in fixture["cases"].as_array().unwrap() {
        let tree = tree_of(case, &options);
        let pieces = tree.prefix.clone().then(&tree.branches[0].text);
        assert_eq!(model.tokenizer().encode_start(&pieces).unwrap().0, ids(&case["ids"]), "{}", case["name"]);
        // The file's own template, or its absence, as transformers renders it.
        let turn = model.turn(None).unwrap();
        let user = pieces.pieces().iter().find(|piece| matches!(piece, Segment::User(_))).unwrap();
        let mut rendered = turn.open;
        rendered.push(user.clone());
        let rendered = rendered.then(&turn.close).to_display();
        assert!(pieces.to_display().starts_with(&rendered), "{rendered:?}");
        let answer = pollster::block_on(model.answer(&tree, &mut NoWatch)).unwrap().remove(0);
        worst_option = worst_option.max(difference(&answer, case));
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
