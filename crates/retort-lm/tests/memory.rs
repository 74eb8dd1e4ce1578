//! What loading takes and gives back, by an allocator that counts. One test, so that nothing else allocates.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests are tests too; clippy knows only the functions marked as such"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use retort_lm::quant::TensorType;
use retort_lm::tiny::{self, AdapterShape, Shape};
use retort_lm::{
    Adapter, AnswerOption, BackendChoice, Branch, FileSource, Flow, LanguageModel, MemorySource, NoWatch,
    PromptTree, Readout, Segments,
};

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn held() -> usize {
    HELD.load(Ordering::Relaxed)
}

/// Loads the file, applies the adapter, asks one question, and drops everything. Gives the most that was held at once.
fn cycle(path: &std::path::Path, adapter: Option<&[u8]>) -> usize {
    let before = held();
    PEAK.store(before, Ordering::Relaxed);
    let source = FileSource::open(path).unwrap();
    let mut go_on = |_| Flow::Continue;
    let load = retort_lm::load(Box::new(source), BackendChoice::Cpu, &mut go_on);
    let mut model = pollster::block_on(load).unwrap();
    if let Some(bytes) = adapter {
        let mut source = MemorySource::new("adapter.gguf", bytes.to_vec());
        let adapter = Adapter::read(&mut source, model.config()).unwrap();
        pollster::block_on(model.set_adapter(Some(adapter))).unwrap();
    }
    let tree = PromptTree {
        prefix: Segments::new().user("A response."),
        branches: vec![Branch {
            text: Segments::new().template("Is it?"),
            readout: Readout::options(vec![AnswerOption::new("1"), AnswerOption::new("2")]),
        }],
    };
    pollster::block_on(model.answer(&tree, &mut NoWatch)).unwrap();
    PEAK.load(Ordering::Relaxed) - before
}

/// P42: what a model took is given back; and while it is there it is there once.
#[test]
fn p42_twenty_models_leave_nothing_behind_and_none_is_held_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.gguf");
    let shape = Shape::default();
    std::fs::write(&path, tiny::gguf(shape, 1)).unwrap();
    let adapter = tiny::adapter_gguf(shape, AdapterShape::default(), 1);
    let mut after = Vec::new();
    for _ in 0..20 {
        cycle(&path, Some(&adapter));
        after.push(held());
    }
    // The first cycles leave what is made once for the whole process and once for each of its threads, the first time that
    // one gets work: on a busy machine that may be some cycles later. What a model leaves would add up with each cycle.
    assert!(after[10..].iter().all(|held| held.abs_diff(after[10]) < 1024), "{after:?}");

    // A model of some 17 megabytes, most of it weights, as real ones are.
    let large = Shape {
        width: 512,
        feed_forward: 1536,
        heads: 8,
        kv_heads: 2,
        layers: 8,
        kind: Some(TensorType::Q4_1),
        ..Shape::default()
    };
    // One that keeps several matrices in one tensor takes no more.
    for shape in [large, Shape { architecture: "phi3", ..large }] {
        std::fs::write(&path, tiny::gguf(shape, 1)).unwrap();
        let size = std::fs::metadata(&path).unwrap().len() as usize;
        let peak = cycle(&path, None);
        assert!(peak * 10 <= size * 13, "{peak} bytes for a file of {size}");
        assert!(peak >= size, "{peak} bytes cannot hold a file of {size}: the count is wrong");
    }
}
