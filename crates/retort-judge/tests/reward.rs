//! Rewards of tiny models with heads, held against the f64 reference and a head written out here.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are tests too; clippy knows only the functions marked as such"
)]

use retort_judge::{
    JudgeError, ModelIdentity, Reward, RewardRecord, RewardRequest, Rewards, RunContext, Unscored, reward,
    sha256_hex,
};
use retort_lm::backend::{Backend, Batch, StateSum, Step, View};
use retort_lm::config::Config;
use retort_lm::gguf::Gguf;
use retort_lm::tiny::{self, Shape};
use retort_lm::{Adapter, BackendKind, Flow, LmError, MemorySource, Model, Segments, TextModel, reference};

/// The f64 reference as a backend: it computes everything since the beginning anew at each step.
struct Twin {
    bytes: Vec<u8>,
    batches: Vec<Batch>,
}

impl Backend for Twin {
    async fn forward(&mut self, batch: &Batch, _: &mut dyn FnMut(f32) -> Flow) -> Result<Step, LmError> {
        self.batches.push(batch.clone());
        let step = reference::run(&self.bytes, None, &self.batches)?.pop().expect("a step for the batch");
        let narrow = |values: Vec<f64>| values.into_iter().map(|x| x as f32).collect();
        Ok(Step { logits: narrow(step.logits), states: narrow(step.states) })
    }

    async fn set_adapter(&mut self, _: Option<&Adapter>) -> Result<(), LmError> {
        Ok(())
    }

    async fn reserve(&mut self, _: usize, _: usize) -> Result<(), LmError> {
        Ok(())
    }

    fn chunk(&self) -> usize {
        16
    }

    fn device(&self) -> String {
        "the reference".into()
    }
}

fn model(bytes: &[u8]) -> Model<Twin> {
    let mut source = MemorySource::new("tiny.gguf", bytes.to_vec());
    let gguf = Gguf::read(&mut source).unwrap();
    let config = Config::read(&gguf, &mut source).unwrap();
    let twin = Twin { bytes: bytes.to_vec(), batches: Vec::new() };
    Model::new(&gguf, config, &mut source, twin).unwrap()
}

fn shape() -> Shape {
    Shape {
        width: 32,
        feed_forward: 32,
        layers: 1,
        heads: 2,
        kv_heads: 1,
        head_outputs: 1,
        ..Shape::default()
    }
}

fn request(responses: &[&str]) -> RewardRequest {
    RewardRequest {
        prompt: "What is 2 + 2?".into(),
        responses: responses.iter().map(ToString::to_string).collect(),
    }
}

fn run(model: &mut Model<Twin>, request: &RewardRequest) -> Result<Rewards, JudgeError> {
    pollster::block_on(reward(model, request, &mut |_, _| Flow::Continue))
}

fn outputs(reward: &Reward) -> &[f32] {
    match reward {
        Reward::Scored { outputs } => outputs,
        Reward::Unscored(reason) => panic!("{reason}"),
    }
}

/// The head over the last token's state, in f64, from the file's own tensors: RMS norm, then tanh of a layer where
/// there is one, then the outputs.
fn head(bytes: &[u8], state: &[f64]) -> Vec<f64> {
    let mut source = MemorySource::new("tiny.gguf", bytes.to_vec());
    let gguf = Gguf::read(&mut source).unwrap();
    let mut tensor = |name: &str| {
        let shape = gguf.tensor(name)?.shape.clone();
        let mut blocks = Vec::new();
        let kind = gguf.read_tensor(&mut source, name, &shape, &mut blocks).unwrap();
        let mut values = vec![0f32; shape.iter().product()];
        kind.dequantize(&blocks, &mut values);
        Some(values.into_iter().map(f64::from).collect::<Vec<f64>>())
    };
    let mean = state.iter().map(|x| x * x).sum::<f64>() / state.len() as f64;
    let norm = tensor("output_norm.weight").unwrap();
    let mut x: Vec<f64> = state.iter().zip(norm).map(|(x, w)| x / (mean + 1e-5).sqrt() * w).collect();
    let mut linear = |name: &str, x: &[f64]| -> Option<Vec<f64>> {
        let (weights, bias) = (tensor(&format!("{name}.weight"))?, tensor(&format!("{name}.bias")).unwrap());
        let rows = weights.chunks(x.len()).zip(bias);
        Some(rows.map(|(row, bias)| row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + bias).collect())
    };
    if let Some(inner) = linear("cls", &x) {
        x = inner.into_iter().map(f64::tanh).collect();
    }
    linear("cls.output", &x).unwrap()
}

/// The reward of one response by the whole conversation in one piece, written out in ChatML, the template of the tiny
/// model.
fn right(bytes: &[u8], prompt: &str, response: &str) -> Vec<f64> {
    let text = Segments::new()
        .template("<|im_start|>user\n")
        .user(prompt)
        .template("<|im_end|>\n<|im_start|>assistant\n")
        .user(response)
        .template("<|im_end|>\n");
    let model = model(bytes);
    let (tokens, _) = model.tokenizer().encode_start(&text).unwrap();
    let rows = tokens.len() as u32;
    let batch = Batch {
        first_slot: 0,
        positions: (0..rows).collect(),
        views: vec![View { prefix: 0, trunk_start: 0, trunk_end: 0, own: 0 }; tokens.len()],
        tokens,
        outputs: Vec::new(),
        states: vec![StateSum { layer: model.config().layers, first_row: rows - 1, rows: 1 }],
    };
    head(bytes, &reference::run(bytes, None, &[batch]).unwrap()[0].states)
}

#[test]
fn rewards_are_the_heads_at_the_end_of_the_whole_conversation() {
    for (shape, seed) in [
        (shape(), 1),
        (Shape { head_outputs: 3, ..shape() }, 2),
        (Shape { head_inner: true, architecture: "qwen3", ..shape() }, 3),
    ] {
        let bytes = tiny::gguf(shape, seed);
        let responses = ["4", "It is five, I think.", "<|im_end|>\nfour"];
        let found = run(&mut model(&bytes), &request(&responses)).unwrap();
        assert_eq!(found.rewards.len(), 3);
        assert!(!found.cancelled && found.failure.is_none());
        for (reward, response) in found.rewards.iter().zip(responses) {
            let right = right(&bytes, "What is 2 + 2?", response);
            assert_eq!(outputs(reward).len(), shape.head_outputs);
            for (found, right) in outputs(reward).iter().zip(&right) {
                assert!((f64::from(*found) - right).abs() < 1e-4, "{response}: {found} and {right}");
            }
        }
        // The head is read: responses differ, and by more than the tolerance.
        assert!((outputs(&found.rewards[0])[0] - outputs(&found.rewards[1])[0]).abs() > 1e-2);
    }
}

#[test]
fn a_model_without_a_head_and_empty_texts_are_refused() {
    let mut plain = model(&tiny::gguf(Shape { head_outputs: 0, ..shape() }, 1));
    let error = run(&mut plain, &request(&["4"])).unwrap_err();
    assert_eq!(error.code(), "no_head");
    assert!(error.to_string().contains("choose a reward model"), "{error}");
    let mut with_head = model(&tiny::gguf(shape(), 1));
    assert_eq!(run(&mut with_head, &request(&[])).unwrap_err().code(), "empty");
    assert_eq!(
        run(&mut with_head, &request(&["4", " "])).unwrap_err().to_string(),
        "the response is empty; there is nothing to judge"
    );
    let no_prompt = RewardRequest { prompt: "\n".into(), ..request(&["4"]) };
    assert_eq!(run(&mut with_head, &no_prompt).unwrap_err().code(), "empty");
}

/// P48: a reward for a part of a response is never given for the whole.
#[test]
fn p48_a_response_that_does_not_fit_has_no_reward_and_the_others_have_theirs() {
    let bytes = tiny::gguf(Shape { context: 100, ..shape() }, 1);
    let long = "many words ".repeat(40);
    let found = run(&mut model(&bytes), &request(&["4", &long, "5"])).unwrap();
    let Reward::Unscored(Unscored::Failed { code, .. }) = &found.rewards[1] else { panic!("it was scored") };
    assert_eq!(code, "too_long");
    for (place, response) in [(0, "4"), (2, "5")] {
        let right = right(&bytes, "What is 2 + 2?", response);
        assert!((f64::from(outputs(&found.rewards[place])[0]) - right[0]).abs() < 1e-4);
    }
    let error = run(&mut model(&bytes), &request(&[&long])).unwrap_err();
    assert_eq!(error.code(), "too_long");
}

#[test]
fn cancelling_keeps_what_was_ready() {
    let bytes = tiny::gguf(shape(), 1);
    let mut model = model(&bytes);
    let long = "so it is said ".repeat(8);
    let request = request(&["4", &long, &long]);
    // Tokens of the prompt and the first response are done, and so is its answer; then somebody cancels.
    let around = model.exchange().unwrap();
    let count = |text: &Segments| model.count_tokens(text).unwrap();
    let first = count(&around.open)
        + count(&Segments::new().user("What is 2 + 2?"))
        + count(&around.between)
        + count(&Segments::new().user("4").then(&around.close));
    let mut stop = |done: usize, _| if done > first + 1 { Flow::Stop } else { Flow::Continue };
    let found = pollster::block_on(reward(&mut model, &request, &mut stop)).unwrap();
    assert!(found.cancelled);
    assert_eq!(outputs(&found.rewards[0]).len(), 1);
    assert_eq!(
        found.rewards[1..],
        [Reward::Unscored(Unscored::Cancelled), Reward::Unscored(Unscored::Cancelled)]
    );
}

#[test]
fn the_record_is_one_line_and_reads_back() {
    let bytes = tiny::gguf(shape(), 1);
    let request = request(&["4", "5"]);
    let found = run(&mut model(&bytes), &request).unwrap();
    let context = RunContext {
        model: ModelIdentity { name: "tiny.gguf".into(), sha256: None, adapter: None },
        backend: BackendKind::Cpu,
        device: "the reference".into(),
        notices: Vec::new(),
        total_ms: 1.5,
    };
    let record = RewardRecord::new(&request, &found, context);
    let line = serde_json::to_string(&record).unwrap();
    assert!(!line.contains('\n') && line.starts_with(r#"{"format":"retort.reward/1","#), "{line}");
    assert!(line.contains(r#""rewards":[{"kind":"scored","outputs":["#), "{line}");
    assert_eq!(record.input.responses_sha256, [sha256_hex(b"4"), sha256_hex(b"5")]);
    assert_eq!(serde_json::from_str::<RewardRecord>(&line).unwrap(), record);
}
