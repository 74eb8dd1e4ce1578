//! The CPU backend on tiny models with random weights: against a reference in plain f64 loops, and against
//! itself in other chunks, trees and orders.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests are tests too; clippy knows only the functions marked as such"
)]

use std::cell::Cell;
use std::rc::Rc;

use proptest::prelude::*;
use retort_lm::backend::{Backend, Batch, StateSum, Step, View};
use retort_lm::config::Config;
use retort_lm::cpu::CpuBackend;
use retort_lm::gguf::Gguf;
use retort_lm::quant::SUPPORTED;
use retort_lm::reference::{self, ReferenceStep};
use retort_lm::tiny::{AdapterShape, Shape, adapter_gguf, gguf};
use retort_lm::{
    Adapter, Answer, AnswerOption, Branch, Flow, LanguageModel, Limits, LmError, MemorySource, Model,
    NoWatch, PromptTree, Readout, Segments, TextModel, Watch,
};

fn open(shape: Shape, seed: u64) -> (MemorySource, Gguf, Config) {
    let mut source = MemorySource::new("tiny.gguf", gguf(shape, seed));
    let gguf = Gguf::read(&mut source).unwrap();
    let config = Config::read(&gguf, &mut source).unwrap();
    (source, gguf, config)
}

fn backend(source: &mut MemorySource, gguf: &Gguf, config: &Config) -> CpuBackend {
    pollster::block_on(CpuBackend::load(gguf, config, source, &mut |_| Flow::Continue)).unwrap()
}

fn model(shape: Shape) -> Model<CpuBackend> {
    let (mut source, gguf, config) = open(shape, 7);
    let backend = backend(&mut source, &gguf, &config);
    Model::new(&gguf, config, &mut source, backend).unwrap()
}

/// Two branches behind a prefix of five; the first goes on in two ways, of two tokens and of one.
///
/// ```text
/// slot      0 1 2 3 4   5 6 7   8 9   10   11 12
/// token     prefix      first   a b   c    second
/// position  0 1 2 3 4   5 6 7   8 9   8    5  6
/// ```
fn tree() -> Batch {
    let own = |own| View { prefix: 5, trunk_start: own, trunk_end: own, own };
    let on_first = |own| View { prefix: 5, trunk_start: 5, trunk_end: 8, own };
    let mut views = vec![View { prefix: 0, trunk_start: 0, trunk_end: 0, own: 0 }; 5];
    views.extend([own(5); 3]);
    views.extend([on_first(8); 2]);
    views.push(on_first(10));
    views.extend([own(11); 2]);
    Batch {
        first_slot: 0,
        tokens: vec![10, 200, 33, 33, 264, 97, 0, 98, 49, 48, 50, 97, 266],
        positions: vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 5, 6],
        views,
        outputs: (0..13).collect(),
        states: Vec::new(),
    }
}

fn worst(found: &[f32], right: &[f64]) -> f64 {
    assert_eq!(found.len(), right.len());
    found.iter().zip(right).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max)
}

/// What 16-bit operands with a scale per 64 may cost in the logits (of up to about 4) of these small models. The
/// largest difference seen is 0.0052 (0.014 with strong adapters); a wrong scale, norm or mask shows at 0.05 and above.
const TOLERANCE: f64 = 0.008;

/// The reference's numbers for [`tree`], with the states that [`with_states`] asks for.
fn right(shape: Shape, adapter: Option<&Adapter>, batch: &Batch) -> ReferenceStep {
    reference::run(&gguf(shape, 3), adapter, std::slice::from_ref(batch)).unwrap().remove(0)
}

/// Asks for sums of states of the embedding, a middle and the last layer, too.
fn with_states(mut batch: Batch, layers: usize) -> Batch {
    batch.states = vec![
        StateSum { layer: 0, first_row: 0, rows: 5 },
        StateSum { layer: layers, first_row: 12, rows: 1 },
        StateSum { layer: 1, first_row: 3, rows: 8 },
        StateSum { layer: 1, first_row: 0, rows: 0 },
    ];
    batch
}

/// Largest difference between the backend's logits and states and the reference's.
fn difference(shape: Shape, adapter: Option<(AdapterShape, f32)>) -> f64 {
    let (mut source, gguf, config) = open(shape, 3);
    let mut backend = backend(&mut source, &gguf, &config);
    let adapter = adapter.map(|(adapter, strength)| {
        let mut source = MemorySource::new("adapter.gguf", adapter_gguf(shape, adapter, 5));
        Adapter::read(&mut source, &config).unwrap().with_strength(strength).unwrap()
    });
    pollster::block_on(backend.set_adapter(adapter.as_ref())).unwrap();
    let batch = with_states(tree(), config.layers);
    pollster::block_on(backend.reserve(16, 0)).unwrap();
    let found = pollster::block_on(backend.forward(&batch, &mut |_| Flow::Continue)).unwrap();
    let right = right(shape, adapter.as_ref(), &batch);
    // The logits are far from all alike, so that agreement says something.
    let spread = right.logits.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    assert!(spread > 0.5, "the logits lie within {spread}");
    assert_eq!(found.states[3 * config.width..], vec![0.0; config.width]);
    // Sums over eight tokens are larger than a token's numbers.
    worst(&found.logits, &right.logits).max(worst(&found.states, &right.states) / 8.0)
}

#[test]
fn the_backend_agrees_with_plain_loops_for_every_format() {
    for kind in SUPPORTED.map(Some).into_iter().chain([None]) {
        for untied in [false, true] {
            // Rows of whole blocks of 256, so that the formats that have them are really used.
            let shape = Shape { kind, untied, width: 256, feed_forward: 256, ..Shape::default() };
            let difference = difference(shape, None);
            assert!(difference < TOLERANCE, "{kind:?}, untied {untied}: {difference}");
        }
    }
}

/// One shape of every architecture, with everything that it can have.
fn architectures() -> Vec<Shape> {
    let plain = Shape::default();
    vec![
        plain,
        Shape { heads: 4, kv_heads: 4, ..plain },
        Shape { heads: 4, kv_heads: 1, layers: 3, ..plain },
        Shape { width: 96, heads: 3, kv_heads: 3, feed_forward: 32, layers: 1, ..plain },
        Shape { head_size: Some(6), ..plain },
        Shape { head_size: Some(80), rotary_factors: true, ..plain },
        Shape { rotary_divisor: 4.0, biases: true, ..plain },
        Shape { architecture: "qwen2", biases: true, ..plain },
        Shape { architecture: "qwen3", head_size: Some(32), ..plain },
        Shape { architecture: "gemma2", window: 4, caps: (5.0, 3.0), head_size: Some(24), ..plain },
        Shape {
            architecture: "gemma3",
            window: 3,
            layers: 7,
            head_size: Some(24),
            rotary_divisor: 8.0,
            ..plain
        },
        Shape {
            architecture: "phi3",
            kv_heads: 4,
            rotary_factors: true,
            rotary_scale: 1.19,
            original_context: 4096,
            ..plain
        },
        Shape { architecture: "phi3", window: 3, head_size: Some(24), untied: true, ..plain },
    ]
}

#[test]
fn the_backend_agrees_with_plain_loops_for_every_architecture() {
    for shape in architectures() {
        let difference = difference(shape, None);
        assert!(difference < TOLERANCE, "{shape:?}: {difference}");
    }
}

#[test]
fn the_backend_agrees_with_plain_loops_under_adapters() {
    for shape in architectures() {
        let some = AdapterShape { rank: 3, alpha: 6.0, targets: &["attn_v", "ffn_down"] };
        // Alpha 0 stands for no scaling by the rank.
        let unscaled = AdapterShape { alpha: 0.0, ..AdapterShape::default() };
        let wide = AdapterShape { rank: 70, alpha: 35.0, ..AdapterShape::default() };
        for (adapter, strength) in [
            (AdapterShape::default(), 1.0),
            (AdapterShape::default(), -0.5),
            (some, 1.0),
            (unscaled, 0.3),
            (wide, 0.2),
        ] {
            let difference = difference(shape, Some((adapter, strength)));
            assert!(difference < 3.0 * TOLERANCE, "{shape:?}, {adapter:?}, {strength}: {difference}");
        }
    }
}

/// An adapter comes and goes without a trace, and one of strength 0 changes nothing.
#[test]
fn an_adapter_that_is_taken_away_leaves_nothing_behind() {
    let shape = Shape::default();
    let (mut source, gguf, config) = open(shape, 3);
    let mut backend = backend(&mut source, &gguf, &config);
    pollster::block_on(backend.reserve(16, 0)).unwrap();
    let mut run = |adapter: Option<Adapter>| {
        pollster::block_on(backend.set_adapter(adapter.as_ref())).unwrap();
        pollster::block_on(backend.forward(&tree(), &mut |_| Flow::Continue)).unwrap()
    };
    let mut adapter_source =
        MemorySource::new("adapter.gguf", adapter_gguf(shape, AdapterShape::default(), 5));
    let adapter = Adapter::read(&mut adapter_source, &config).unwrap();
    let plain = run(None);
    assert_ne!(run(Some(adapter.clone())), plain);
    assert_eq!(run(None), plain);
    assert_eq!(run(Some(adapter.with_strength(0.0).unwrap())).logits, plain.logits);
}

/// What a model of one layer at a time gives is what the whole model gives.
#[test]
fn a_probe_gives_the_last_logits() {
    for shape in architectures() {
        let (mut source, gguf, config) = open(shape, 3);
        let mut model =
            Model::new(&gguf, config.clone(), &mut source.clone(), backend(&mut source, &gguf, &config))
                .unwrap();
        let tokens = [10, 200, 33, 33, 264, 97, 0];
        let whole = pollster::block_on(model.logits(&tokens)).unwrap();
        let mut go_on = |_| Flow::Continue;
        let probed =
            pollster::block_on(CpuBackend::probe(&gguf, &config, &mut source, &tokens, &mut go_on)).unwrap();
        assert_eq!(probed, whole[whole.len() - config.vocabulary..], "{shape:?}");
    }
}

/// Makes a batch wrong.
type Plant = fn(&mut Batch);

/// The comparison above is worth something only if it notices a mistake.
#[test]
fn the_comparison_notices_planted_faults() {
    let (mut source, gguf, config) = open(Shape::default(), 3);
    let mut backend = backend(&mut source, &gguf, &config);
    pollster::block_on(backend.reserve(16, 0)).unwrap();
    let right = right(Shape::default(), None, &tree()).logits;
    let mut off = |plant: Plant| {
        let mut batch = tree();
        plant(&mut batch);
        let found = pollster::block_on(backend.forward(&batch, &mut |_| Flow::Continue)).unwrap();
        worst(&found.logits, &right)
    };
    let faults: [(&str, Plant); 5] = [
        ("the second branch sees the first", |batch| {
            for view in &mut batch.views[11..] {
                view.own = 5;
                view.trunk_start = 5;
                view.trunk_end = 5;
            }
        }),
        ("a continuation does not see its branch", |batch| batch.views[10].trunk_start = 8),
        ("a continuation sees the other one", |batch| batch.views[10].trunk_end = 10),
        ("a branch misses the prefix's last token", |batch| {
            batch.views[5..8].iter_mut().for_each(|view| view.prefix = 4);
        }),
        ("a position is the slot's number", |batch| batch.positions[11] = 11),
    ];
    for (name, plant) in faults {
        let difference = off(plant);
        assert!(difference > 2.0 * TOLERANCE, "not noticed ({difference}): {name}");
    }
    assert!(off(|_| {}) < TOLERANCE);
}

#[test]
fn batches_that_make_no_sense_are_refused() {
    let (mut source, gguf, config) = open(Shape::default(), 3);
    let mut backend = backend(&mut source, &gguf, &config);
    let mut run = |change: Plant| {
        let mut batch = tree();
        change(&mut batch);
        match pollster::block_on(backend.forward(&batch, &mut |_| Flow::Continue)) {
            Err(LmError::Compute { problem }) => problem,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(run(|_| {}), "a batch up to slot 13 in a cache of 0");
    pollster::block_on(backend.reserve(13, 0)).unwrap();
    let mut run = |change: Plant| {
        let mut batch = tree();
        change(&mut batch);
        match pollster::block_on(backend.forward(&batch, &mut |_| Flow::Continue)) {
            Err(LmError::Compute { problem }) => problem,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(run(|batch| *batch = Batch::default()), "a batch of 0 tokens with 0 positions and 0 views");
    assert_eq!(run(|batch| batch.tokens[1] = 267), "token 267 in row 1 of a vocabulary of 267");
    assert_eq!(run(|batch| batch.first_slot = 1), "a batch up to slot 14 in a cache of 13");
    assert!(run(|batch| batch.views[0].own = 1).starts_with("row 0 in slot 0 with the view"));
    assert!(run(|batch| batch.views[8].trunk_end = 9).starts_with("row 8 in slot 8 with the view"));
    assert!(run(|batch| batch.views[8].trunk_start = 4).starts_with("row 8 in slot 8 with the view"));
    assert!(run(|batch| batch.views[12].prefix = 12).starts_with("row 12 in slot 12 with the view"));
    assert_eq!(run(|batch| batch.outputs.push(13)), "an output row outside the batch");
}

/// The CPU backend in small chunks, or with a failure; counts what it is asked.
struct Changed {
    inner: CpuBackend,
    chunk: usize,
    /// Fails in this call of `forward`, counted from 1.
    fails: usize,
    recovers: bool,
    calls: Rc<Cell<usize>>,
}

impl Backend for Changed {
    async fn forward(&mut self, batch: &Batch, tick: &mut dyn FnMut(f32) -> Flow) -> Result<Step, LmError> {
        assert!(batch.tokens.len() <= self.chunk);
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() == self.fails {
            return Err(LmError::Gpu { problem: "the device was lost".into() });
        }
        self.inner.forward(batch, tick).await
    }

    async fn set_adapter(&mut self, adapter: Option<&Adapter>) -> Result<(), LmError> {
        self.inner.set_adapter(adapter).await
    }

    async fn reserve(&mut self, slots: usize, keep: usize) -> Result<(), LmError> {
        self.inner.reserve(slots, keep).await
    }

    fn chunk(&self) -> usize {
        self.chunk
    }

    fn device(&self) -> String {
        self.inner.device()
    }

    async fn recover(&mut self, failure: &LmError) -> Option<String> {
        self.recovers.then(|| format!("Went on: {failure}."))
    }
}

fn changed(chunk: usize, fails: usize, recovers: bool) -> (Model<Changed>, Rc<Cell<usize>>) {
    let (mut source, gguf, config) = open(Shape::default(), 7);
    let calls = Rc::new(Cell::new(0));
    let inner = backend(&mut source, &gguf, &config);
    let backend = Changed { inner, chunk, fails, recovers, calls: calls.clone() };
    (Model::new(&gguf, config, &mut source, backend).unwrap(), calls)
}

fn options(labels: &[&str]) -> Readout {
    Readout::options(labels.iter().map(|label| AnswerOption::new(label)).collect())
}

fn question(text: &str, labels: &[&str]) -> Branch {
    Branch { text: Segments::new().user(text), readout: options(labels) }
}

fn sample_tree() -> PromptTree {
    PromptTree {
        prefix: Segments::new().template("<|im_start|>user\n").user("The sky is blue in the morning."),
        branches: vec![
            question("Is it true?", &["1", "10", "100", "2"]),
            question("x", &["no", "yes"]),
            question(" On the whole, how is it written? Think.", &["a", "b", "in"]),
        ],
    }
}

fn answer<B: Backend>(model: &mut Model<B>, tree: &PromptTree) -> Vec<Answer> {
    pollster::block_on(model.answer(tree, &mut NoWatch)).unwrap()
}

/// Probabilities of both, to `tolerance`.
fn close(a: &[Answer], b: &[Answer], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert_eq!(a.log_probabilities.len(), b.log_probabilities.len());
        for (x, y) in a.log_probabilities.iter().zip(&b.log_probabilities) {
            assert!((x.exp() - y.exp()).abs() < tolerance, "{a:?}\n{b:?}");
            assert!((x - y).abs() < 20.0 * tolerance, "{a:?}\n{b:?}");
        }
        assert!((a.outside - b.outside).abs() < tolerance, "{a:?}\n{b:?}");
        let sum: f64 = a.log_probabilities.iter().map(|p| p.exp()).sum::<f64>() + a.outside;
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }
}

/// P49: in chunks of 1, 2, 3, … the same logits and answers come out as in one.
#[test]
fn p49_chunked_equals_unchunked() {
    let tokens: Vec<u32> = (0..40).map(|i| i * 37 % 264).collect();
    let mut whole = model(Shape::default());
    let right: Vec<f64> =
        pollster::block_on(whole.logits(&tokens)).unwrap().into_iter().map(f64::from).collect();
    let right_answers = answer(&mut whole, &sample_tree());
    for chunk in [1, 2, 3, 7, 16, 39, 40] {
        let (mut model, calls) = changed(chunk, 0, false);
        let found = pollster::block_on(model.logits(&tokens)).unwrap();
        assert_eq!(calls.get(), tokens.len().div_ceil(chunk));
        let difference = worst(&found, &right);
        assert!(difference == 0.0, "chunks of {chunk}: {difference}");
        close(&answer(&mut model, &sample_tree()), &right_answers, 1e-5);
    }
}

/// More rows than one matrix of attention scores takes (128) and more than one chunk (512).
#[test]
fn p49_long_texts_agree_with_plain_loops() {
    let shape = Shape { width: 32, feed_forward: 32, heads: 2, kv_heads: 1, layers: 1, ..Shape::default() };
    let (mut source, gguf, config) = open(shape, 3);
    let backend = backend(&mut source, &gguf, &config);
    let tokens: Vec<u32> = (0..600).map(|i| i * 101 % 264).collect();
    let mut model = Model::new(&gguf, config, &mut source, backend).unwrap();
    let found = pollster::block_on(model.logits(&tokens)).unwrap();
    let view = View { prefix: 0, trunk_start: 0, trunk_end: 0, own: 0 };
    let batch = Batch {
        positions: (0..600).collect(),
        views: vec![view; 600],
        outputs: (0..600).collect(),
        tokens,
        ..Batch::default()
    };
    let difference = worst(&found, &right(shape, None, &batch).logits);
    assert!(difference < TOLERANCE, "{difference}");
}

/// One prompt instead of a tree: the branch behind the prefix, alone.
fn alone(tree: &PromptTree, branch: &Branch) -> PromptTree {
    let text = tree.prefix.clone().then(&branch.text);
    PromptTree { prefix: Segments::new(), branches: vec![Branch { text, readout: branch.readout.clone() }] }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_equals_separate_prompts(
        prefix in "[a-e ]{0,30}",
        branches in prop::collection::vec(
            (
                "[ -~]{1,20}",
                prop::sample::subsequence(vec!["1", "10", "100", "2", "a", "ab", "no"], 2..=7),
            ),
            1..6,
        ),
        chunk in 1usize..50,
    ) {
        // A user piece and a user piece are tokenized apart, in the tree as in the prompts.
        let tree = PromptTree {
            prefix: Segments::new().user(prefix),
            branches: branches.iter().map(|(text, labels)| question(text, labels)).collect(),
        };
        let (mut tree_model, _) = changed(chunk, 0, false);
        let together = answer(&mut tree_model, &tree);
        let mut separate_model = model(Shape::default());
        for (branch, together) in tree.branches.iter().zip(&together) {
            let separate = answer(&mut separate_model, &alone(&tree, branch));
            close(std::slice::from_ref(together), &separate, 1e-4);
        }
    }
}

#[test]
fn a_prefix_that_was_computed_is_reused_and_changes_nothing() {
    let fresh = |tree: &PromptTree| answer(&mut model(Shape::default()), tree);
    let mut model = model(Shape::default());
    let first = sample_tree();
    let prefix = model.count_tokens(&first.prefix).unwrap();
    close(&answer(&mut model, &first), &fresh(&first), 1e-9);
    assert_eq!(model.usage().reused, 0);
    let computed = model.usage().computed;

    // The same again: the whole prefix is there, and only the branches are computed.
    close(&answer(&mut model, &first), &fresh(&first), 1e-5);
    assert_eq!((model.usage().reused, model.usage().computed), (prefix, computed - prefix));

    // A prefix that shares its beginning, which is <|im_start|>, u, s, er, a line break, the ten letters and spaces
    // of "The sky is" and one space more; a longer one (the cache has to grow), and a shorter one.
    let start = first.prefix.clone();
    let mut shared = first.clone();
    shared.prefix = Segments::new().template("<|im_start|>user\n").user("The sky is grey.");
    let mut longer = first.clone();
    longer.prefix = start.clone().user(" ".repeat(3) + &"And so on. ".repeat(40));
    for (tree, reused) in [(shared, 16), (first.clone(), 16), (longer, prefix)] {
        close(&answer(&mut model, &tree), &fresh(&tree), 1e-5);
        assert_eq!(model.usage().reused, reused);
    }
    close(&answer(&mut model, &first), &fresh(&first), 1e-5);
    assert_eq!(model.usage().reused, prefix);

    // Generating and asking share the cache and do not disturb each other.
    let limits = Limits { max_tokens: 6, ..Limits::default() };
    pollster::block_on(model.generate(&start, &limits, &mut NoWatch)).unwrap();
    assert_eq!(model.usage().reused, prefix - 1, "all but the last token, whose logits are wanted");
    close(&answer(&mut model, &first), &fresh(&first), 1e-5);
}

/// Greedy text through the cache is that of the logits of the whole text.
#[test]
fn generated_tokens_are_the_most_probable_ones() {
    let mut model = model(Shape::default());
    let prompt = Segments::new().user("Once upon a time");
    let mut tokens = model.tokenizer().encode_start(&prompt).unwrap().0;
    let limits = Limits { max_tokens: 12, ..Limits::default() };
    let generated = pollster::block_on(model.generate(&prompt, &limits, &mut NoWatch)).unwrap();
    assert!(!generated.tokens.is_empty());
    for token in generated.tokens {
        let logits = pollster::block_on(model.logits(&tokens)).unwrap();
        let last = logits.chunks_exact(model.config().vocabulary).last().unwrap();
        let best = (0u32..).zip(last).max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap().0;
        assert_eq!(token, best);
        tokens.push(token);
    }
}

/// Stops at the n-th report of progress.
struct StopAt {
    left: usize,
    answered: Vec<usize>,
    last: usize,
}

impl Watch for StopAt {
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        assert!(done <= total && done >= self.last, "{done} of {total} after {}", self.last);
        self.last = done;
        self.left = self.left.saturating_sub(1);
        if self.left == 0 { Flow::Stop } else { Flow::Continue }
    }

    fn answered(&mut self, branch: usize, _: &Answer) {
        self.answered.push(branch);
    }
}

#[test]
fn p50_cancelling_stops_anywhere_and_leaves_the_model_right() {
    let right = answer(&mut model(Shape::default()), &sample_tree());
    let (mut model, _) = changed(16, 0, false);
    let mut stopped = 0;
    let mut partly = 0;
    for left in 1.. {
        let mut watch = StopAt { left, answered: Vec::new(), last: 0 };
        // Another prefix in between, so that every run has to compute its own.
        answer(&mut model, &PromptTree { prefix: Segments::new().user("zzz"), ..sample_tree() });
        let outcome = pollster::block_on(model.answer(&sample_tree(), &mut watch));
        if left > 0 && watch.left > 0 {
            close(&outcome.unwrap(), &right, 1e-5);
            assert_eq!(watch.answered, [0, 1, 2]);
            break;
        }
        assert!(matches!(outcome, Err(LmError::Cancelled)));
        stopped += 1;
        partly += usize::from(!watch.answered.is_empty());
        close(&answer(&mut model, &sample_tree()), &right, 1e-5);
    }
    // Progress was reported many times, and some stops came between two answers.
    assert!(stopped > 10 && partly > 0, "{stopped} stops, {partly} after an answer");
}

/// Notes which branches were answered.
struct Answered(Vec<usize>);

impl Watch for Answered {
    fn answered(&mut self, branch: usize, _: &Answer) {
        self.0.push(branch);
    }
}

#[test]
fn p38_a_backend_that_recovers_goes_on_where_it_failed() {
    let right = answer(&mut model(Shape::default()), &sample_tree());
    let (mut whole, calls) = changed(16, 0, true);
    answer(&mut whole, &sample_tree());
    let forwards = calls.get();
    assert!(forwards >= 4);
    for fails in 1..=forwards {
        let (mut model, _) = changed(16, fails, true);
        let mut watch = Answered(Vec::new());
        let answers = pollster::block_on(model.answer(&sample_tree(), &mut watch)).unwrap();
        close(&answers, &right, 1e-5);
        assert_eq!(watch.0, [0, 1, 2], "every answer is reported once");
        assert_eq!(
            model.take_notices(),
            ["Went on: the GPU failed: the device was lost; run on the CPU instead."]
        );
        assert!(model.take_notices().is_empty());

        let (mut model, _) = changed(16, fails, false);
        let outcome = pollster::block_on(model.answer(&sample_tree(), &mut NoWatch));
        assert!(matches!(outcome, Err(LmError::Gpu { .. })));
        close(&answer(&mut model, &sample_tree()), &right, 1e-5);
    }
}

#[test]
fn p48_what_is_too_long_is_refused_before_anything_is_computed() {
    let shape = Shape { context: 24, ..Shape::default() };
    let (mut source, gguf, config) = open(shape, 7);
    let calls = Rc::new(Cell::new(0));
    let inner = backend(&mut source, &gguf, &config);
    let backend = Changed { inner, chunk: 512, fails: 0, recovers: false, calls: calls.clone() };
    let mut model = Model::new(&gguf, config, &mut source, backend).unwrap();
    assert_eq!(model.context_length(), 24);
    let tree = |prefix: usize, branch: usize| PromptTree {
        prefix: Segments::new().user("x".repeat(prefix)),
        branches: vec![question("x", &["a", "b"]), question(&"x".repeat(branch), &["a", "b"])],
    };
    let mut ask = |prefix, branch| pollster::block_on(model.answer(&tree(prefix, branch), &mut NoWatch));
    // The path of an option spelled " a" is " a" (one token) or a space and "b": 1 token is computed behind the
    // branch's text. 15 + 8 + 1 = 24.
    assert!(matches!(ask(16, 8), Err(LmError::TooLong { tokens: 25, context: 24 })));
    assert!(matches!(ask(30, 8), Err(LmError::TooLong { tokens: 39, context: 24 })));
    assert_eq!(calls.get(), 0);
    assert!(ask(15, 8).is_ok());
    assert!(calls.get() > 0);
    let outcome = pollster::block_on(model.logits(&[1; 25]));
    assert!(matches!(outcome, Err(LmError::TooLong { tokens: 25, context: 24 })));
}

#[test]
fn no_branches_is_no_answers() {
    let tree = PromptTree { prefix: Segments::new().user("x"), branches: Vec::new() };
    assert_eq!(answer(&mut model(Shape::default()), &tree), []);
    // What was read without a question is there when one is asked.
    let (asked, mut read) = (sample_tree(), model(Shape::default()));
    let prefix = read.count_tokens(&asked.prefix).unwrap();
    answer(&mut read, &PromptTree { branches: Vec::new(), ..asked.clone() });
    assert_eq!((read.usage().computed, read.usage().reused), (prefix, 0));
    close(&answer(&mut read, &asked), &answer(&mut model(Shape::default()), &asked), 1e-5);
    assert_eq!(read.usage().reused, prefix);
    let nothing = PromptTree { prefix: Segments::new(), branches: Vec::new() };
    assert_eq!(answer(&mut model(Shape::default()), &nothing), []);
}

#[test]
fn p40_a_cache_that_cannot_be_had_is_an_error_and_the_model_goes_on() {
    let (mut source, gguf, config) = open(Shape::default(), 3);
    let mut backend = backend(&mut source, &gguf, &config);
    let mut run = |slots: usize| -> Result<Step, LmError> {
        pollster::block_on(backend.reserve(slots, 0))?;
        pollster::block_on(backend.forward(&tree(), &mut |_| Flow::Continue))
    };
    let right = run(13).unwrap();
    // More than an address space, and a product of more than a machine word.
    for slots in [1 << 55, usize::MAX / 2] {
        let error = run(slots).unwrap_err();
        assert!(matches!(&error, LmError::OutOfMemory { .. }), "{error}");
        assert_eq!(run(13).unwrap(), right);
    }
}

#[test]
fn loading_reports_bytes_and_can_be_cancelled() {
    let (mut source, gguf, config) = open(Shape::default(), 3);
    let mut reports = Vec::new();
    let mut report = |bytes| {
        reports.push(bytes);
        Flow::Continue
    };
    pollster::block_on(CpuBackend::load(&gguf, &config, &mut source, &mut report)).unwrap();
    assert!(reports.is_sorted() && reports.len() == gguf.tensors().count());
    let all: u64 = gguf
        .tensors()
        .map(|info| info.byte_len(retort_lm::quant::TensorType::from_id(info.type_id).unwrap()).unwrap())
        .sum();
    assert_eq!(reports.last(), Some(&all));
    let mut count = 0;
    let mut stop = |_| {
        count += 1;
        if count == 3 { Flow::Stop } else { Flow::Continue }
    };
    let outcome = pollster::block_on(CpuBackend::load(&gguf, &config, &mut source, &mut stop));
    assert!(matches!(outcome.err(), Some(LmError::Cancelled)));
    assert_eq!(count, 3);
}
