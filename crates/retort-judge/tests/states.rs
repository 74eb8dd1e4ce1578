//! Hidden states of a response, held against the f64 reference run over the whole prompt written out here.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "helpers of tests are tests too")]

use retort_judge::{
    Aim, Field, Inquiry, JudgeError, Question, States, StatesRequest, TextRole, Wording, middle_layer, states,
};
use retort_lm::backend::{Backend, Batch, StateSum, Step, View};
use retort_lm::config::Config;
use retort_lm::gguf::Gguf;
use retort_lm::tiny::{self, Shape};
use retort_lm::{Adapter, Flow, LmError, MemorySource, Model, Segment, Segments, reference};

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
        4096
    }

    fn device(&self) -> String {
        "the reference".into()
    }
}

fn shape(context: usize) -> Shape {
    Shape { width: 32, feed_forward: 32, layers: 3, heads: 2, kv_heads: 1, context, ..Shape::default() }
}

fn model(bytes: &[u8]) -> Model<Twin> {
    let mut source = MemorySource::new("tiny.gguf", bytes.to_vec());
    let gguf = Gguf::read(&mut source).unwrap();
    let config = Config::read(&gguf, &mut source).unwrap();
    let twin = Twin { bytes: bytes.to_vec(), batches: Vec::new() };
    Model::new(&gguf, config, &mut source, twin).unwrap()
}

fn request(prompt: &str, response: &str) -> StatesRequest {
    StatesRequest {
        prompt: prompt.into(),
        response: response.into(),
        layer: middle_layer(3),
        ..StatesRequest::default()
    }
}

fn run(bytes: &[u8], request: &StatesRequest) -> Result<States, JudgeError> {
    pollster::block_on(states(&mut model(bytes), request, &mut |_, _| Flow::Continue))
}

/// Mean over the tokens of the pieces that are `wanted`, and the last token's state, of the prompt of a judgement by the
/// overall rubric.
fn right(bytes: &[u8], request: &StatesRequest, wanted: impl Fn(&str) -> bool) -> (Vec<f64>, Vec<f64>) {
    let model = model(bytes);
    let inquiry = Inquiry {
        aim: Aim::Rate,
        fields: vec![Field::prompt(request.prompt.as_str()), Field::response(request.response.as_str())],
        questions: vec![Question::of_rubric(retort_rubric::overall())],
        wording: Wording::ShortSkills,
    };
    let prompt = inquiry.plan(&model).unwrap().prompt(0).unwrap();
    let mut rows = Vec::new();
    let mut before = Segments::new();
    for piece in prompt.pieces() {
        let from = model.tokenizer().encode_start(&before).unwrap().0.len();
        before.push(piece.clone());
        let to = model.tokenizer().encode_start(&before).unwrap().0.len();
        if matches!(piece, Segment::User(text) if wanted(text)) {
            rows.extend(from..to);
        }
    }
    let (tokens, _) = model.tokenizer().encode_start(&prompt).unwrap();
    let count = tokens.len() as u32;
    let one = |first_row: u32| StateSum { layer: request.layer, first_row, rows: 1 };
    let batch = Batch {
        first_slot: 0,
        positions: (0..count).collect(),
        views: vec![View { prefix: 0, trunk_start: 0, trunk_end: 0, own: 0 }; tokens.len()],
        tokens,
        outputs: Vec::new(),
        states: rows.iter().map(|&row| one(row as u32)).chain([one(count - 1)]).collect(),
    };
    let step = reference::run(bytes, None, &[batch]).unwrap().pop().unwrap();
    let all: Vec<&[f64]> = step.states.chunks(32).collect();
    let (last, parts) = all.split_last().unwrap();
    let mean = (0..32).map(|at| parts.iter().map(|part| part[at]).sum::<f64>() / parts.len() as f64);
    (mean.collect(), last.to_vec())
}

#[track_caller]
fn close(found: &[f32], right: &[f64]) {
    assert_eq!(found.len(), right.len());
    for (found, right) in found.iter().zip(right) {
        assert!((f64::from(*found) - right).abs() < 1e-4, "{found} and {right}");
    }
}

#[test]
fn states_are_those_of_a_judgement_of_the_whole() {
    let bytes = tiny::gguf(shape(4096), 1);
    // The prompt is the same text as the response would be without its last word, and holds a fence of its own.
    let request = request("Say \"\"\"four", "Say \"\"\"four it is <|im_end|>");
    let found = run(&bytes, &request).unwrap();
    let (mean, last) = right(&bytes, &request, |text| text == request.response);
    close(&found.mean, &mean);
    close(&found.last, &last);
    assert_eq!((found.layer, found.mean.len(), found.last.len()), (2, 32, 32));
    assert!(found.truncations.is_empty() && found.usage.computed > 0);
    // The comparison can fail: the mean over the prompt's words is another one.
    let (other, _) = right(&bytes, &request, |text| text == request.prompt);
    assert!(found.mean.iter().zip(&other).any(|(found, other)| (f64::from(*found) - other).abs() > 1e-2));
}

#[test]
fn p48_of_a_response_that_was_cut_what_is_left_counts() {
    let bytes = tiny::gguf(shape(1200), 2);
    let request = request("Count.", &"one two three ".repeat(100));
    let found = run(&bytes, &request).unwrap();
    let [cut] = &found.truncations[..] else { unreachable!("{:?}", found.truncations) };
    assert_eq!(cut.text, TextRole::Response);
    // Head and tail, without the note between them.
    let (mean, last) =
        right(&bytes, &request, |text| text != request.prompt && request.response.contains(text));
    close(&found.mean, &mean);
    close(&found.last, &last);
}

#[test]
fn what_has_no_state_is_refused_by_name() {
    let bytes = tiny::gguf(shape(4096), 1);
    let error = run(&bytes, &request("Count.", " ")).unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("the response is empty")), ("empty", true));
    let error = run(&bytes, &StatesRequest { layer: 9, ..request("Count.", "One.") }).unwrap_err();
    assert!(error.to_string().contains('9'), "{error}");
    let cancelled =
        pollster::block_on(states(&mut model(&bytes), &request("Count.", "One."), &mut |_, _| Flow::Stop));
    assert_eq!(cancelled.unwrap_err().code(), "cancelled");
}
