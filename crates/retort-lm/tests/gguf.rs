//! Model files that are hostile, damaged, incomplete or of another kind: an error that names the field, never
//! a panic, never more memory than the file warrants (P44, P45).

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are tests too; clippy knows only the functions marked as such"
)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{KEYS, Parts};
use proptest::prelude::*;
use retort_lm::config::Config;
use retort_lm::cpu::CpuBackend;
use retort_lm::gguf::{Gguf, Value};
use retort_lm::quant::{SUPPORTED, TensorType};
use retort_lm::template::ChatTemplate;
use retort_lm::tokenizer::Tokenizer;
use retort_lm::{ByteSource, FileSource, Flow, LmError, MemorySource, Model, Segments};

/// Counts what this thread has allocated and the most that it had at once.
struct Counting;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    // A thread that is ending has no counters any more; nothing is measured there.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + change);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now.get())));
    });
}

// SAFETY: every call is the system allocator's, with the same arguments; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc_zeroed(layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `work` returns, and the most bytes that it held at once beyond what there was before.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, isize) {
    let before = NOW.get();
    PEAK.set(before);
    let result = work();
    (result, PEAK.get() - before)
}

/// Reads the header, and holds it to its memory: four times the file and a mebibyte.
fn read(source: &mut MemorySource) -> Result<Gguf, LmError> {
    let (result, peak) = peak_of(|| Gguf::read(source));
    let most = 4 * source.size() as isize + (1 << 20);
    assert!(peak <= most, "{peak} bytes were allocated for a file of {}", source.size());
    result
}

fn failure(bytes: Vec<u8>) -> LmError {
    match read(&mut MemorySource::new("bad.gguf", bytes)) {
        Err(error) => error,
        Ok(_) => panic!("the file was read"),
    }
}

/// A file by hand.
#[derive(Clone)]
struct Raw(Vec<u8>);

impl Raw {
    fn new(tensors: u64, entries: u64) -> Self {
        Self(b"GGUF".to_vec()).u32(3).u64(tensors).u64(entries)
    }

    fn u32(mut self, n: u32) -> Self {
        self.0.extend(n.to_le_bytes());
        self
    }

    fn u64(mut self, n: u64) -> Self {
        self.0.extend(n.to_le_bytes());
        self
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    fn text(self, text: &str) -> Self {
        self.u64(text.len() as u64).bytes(text.as_bytes())
    }

    fn alignment(self, alignment: u32) -> Self {
        self.text("general.alignment").u32(4).u32(alignment)
    }

    fn tensor(mut self, name: &str, shape: &[u64], type_id: u32, offset: u64) -> Self {
        self = self.text(name).u32(shape.len() as u32);
        for size in shape {
            self = self.u64(*size);
        }
        self.u32(type_id).u64(offset)
    }

    fn zeros(mut self, count: usize) -> Self {
        self.0.resize(self.0.len() + count, 0);
        self
    }
}

#[test]
fn the_counter_counts() {
    let (bytes, peak) = peak_of(|| vec![1u8; 10_000_000]);
    assert_eq!(bytes.len(), 10_000_000);
    assert!((10_000_000..10_001_000).contains(&peak), "{peak}");
}

#[test]
fn p44_what_is_no_gguf_file_is_called_so() {
    for (bytes, found) in [
        (&b""[..], "nothing, it is empty"),
        (b"G", "\"G\" (47)"),
        (b"GG", "\"GG\" (47 47)"),
        (b"GGU", "\"GGU\" (47 47 55)"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "\".PNG\" (89 50 4e 47)"),
        (b"ggml\x01\0\0\0", "\"ggml\" (67 67 6d 6c)"),
        (b"FUGG\0\0\0\x03", "\"FUGG\" (46 55 47 47)"),
        (b"<!doctype html>", "\"<!do\" (3c 21 64 6f)"),
    ] {
        let error = failure(bytes.to_vec());
        assert_eq!(error.code(), "not_gguf", "{error}");
        let right = format!(
            "bad.gguf is not a GGUF file: it begins with {found}; choose a file whose name ends in .gguf"
        );
        assert_eq!(error.to_string(), right);
    }
}

/// Each: what is wrong, the file, the error's code, and what its message must hold.
#[test]
fn p44_impossible_headers_are_refused_by_name() {
    let big = 1u64 << 63;
    let head = |version: u32| Raw(b"GGUF".to_vec()).u32(version).u64(0).u64(0);
    let entry = |key: &str| Raw::new(0, 1).text(key);
    let array = |kind: u32, count: u64| entry("the.key").u32(9).u32(kind).u64(count);
    let one = |shape: &[u64], type_id, offset| Raw::new(1, 0).tensor("w", shape, type_id, offset).zeros(256);
    let cases: Vec<(Raw, &str, &[&str])> = vec![
        // Versions.
        (Raw(b"GGUF".to_vec()), "truncated_file", &["version"]),
        (head(0), "unsupported", &["version 0", "version 3"]),
        (head(1), "unsupported", &["version 1", "version 3"]),
        (head(4), "unsupported", &["version 4", "version 3"]),
        (head(3u32.swap_bytes()), "unsupported", &["big-endian", "llama.cpp"]),
        // Counts.
        (Raw::new(big, 0), "damaged_file", &["tensor count", "9223372036854775808"]),
        (Raw::new(0, big), "damaged_file", &["metadata count", "9223372036854775808"]),
        (Raw::new(u64::MAX, 0), "damaged_file", &["tensor count", "18446744073709551615"]),
        (Raw::new(1000, 0), "truncated_file", &["tensor count 1000"]),
        (Raw::new(0, 1000), "truncated_file", &["metadata count 1000"]),
        (Raw::new(20_000, 0).zeros(640_000), "damaged_file", &["tensor count", "20000"]),
        (Raw::new(0, 20_000).zeros(640_000), "damaged_file", &["metadata count", "20000"]),
        // Texts.
        (Raw::new(0, 1).u64(1 << 40).zeros(8), "truncated_file", &["key of metadata entry 0"]),
        (Raw::new(0, 1).u64(u64::MAX).zeros(8), "truncated_file", &["key of metadata entry 0"]),
        (Raw::new(0, 1).u64(2).bytes(b"\xff\xfe").zeros(8), "damaged_file", &["entry 0", "UTF-8"]),
        (entry("the.key").u32(8).u64(4000), "truncated_file", &["the.key"]),
        (entry("the.key").u32(8).u64(2).bytes(b"\xc3\x28"), "damaged_file", &["the.key", "UTF-8"]),
        // Values.
        (entry("the.key").u32(13).zeros(8), "damaged_file", &["the.key", "13"]),
        (entry("the.key").u32(7).bytes(&[2]), "damaged_file", &["the.key", "2 is not a truth value"]),
        (entry("the.key").u32(10).zeros(7), "truncated_file", &["the.key"]),
        // Arrays.
        (array(5, big), "damaged_file", &["the.key", "9223372036854775808"]),
        (array(0, big), "truncated_file", &["the.key"]),
        (array(8, 1 << 60), "truncated_file", &["the.key", "1152921504606846976"]),
        (array(4, 1 << 30).zeros(64), "truncated_file", &["the.key 1073741824"]),
        (array(9, 1).u32(4).u64(0), "damaged_file", &["the.key", "arrays within arrays"]),
        (array(99, 1).zeros(8), "damaged_file", &["the.key", "99"]),
        (array(7, 2).bytes(&[1, 3]), "damaged_file", &["the.key", "3 is not a truth value"]),
        // An array of arrays' worth of texts, of which the second claims too much.
        (array(8, 2).text("a").u64(1 << 50), "truncated_file", &["the.key"]),
        // The alignment.
        (Raw::new(0, 1).alignment(0), "damaged_file", &["general.alignment", "power of two"]),
        (Raw::new(0, 1).alignment(3), "damaged_file", &["general.alignment", "power of two"]),
        (Raw::new(0, 1).alignment(1 << 31), "damaged_file", &["general.alignment", "2^31"]),
        (Raw::new(0, 1).text("general.alignment").u32(8).text("32"), "damaged_file", &["general.alignment"]),
        // What occurs twice.
        (
            Raw::new(0, 2).text("the.key").u32(7).bytes(&[0]).text("the.key").u32(7).bytes(&[1]),
            "damaged_file",
            &["the.key", "twice"],
        ),
        (
            Raw::new(2, 0).tensor("w", &[4], 0, 0).tensor("w", &[4], 0, 32).zeros(256),
            "damaged_file",
            &["tensor \"w\"", "twice"],
        ),
        // Tensors.
        (one(&[], 0, 0), "damaged_file", &["tensor \"w\"", "0 dimensions"]),
        (one(&[1, 1, 1, 1, 1], 0, 0), "damaged_file", &["tensor \"w\"", "5 dimensions"]),
        (one(&[4, 0], 0, 0), "damaged_file", &["tensor \"w\"", "dimension of 0"]),
        (one(&[1 << 32, 1 << 32], 0, 0), "damaged_file", &["tensor \"w\"", "too large"]),
        (one(&[1 << 62], 0, 0), "damaged_file", &["tensor \"w\"", "too large"]),
        (one(&[u64::MAX, 1], 0, 0), "damaged_file", &["tensor \"w\"", "too large"]),
        (one(&[33, 2], 2, 0), "damaged_file", &["tensor \"w\"", "whole blocks of Q4_0"]),
        (one(&[4], 0, 7), "damaged_file", &["tensor \"w\"", "multiple of 32"]),
        (one(&[4], 0, u64::MAX - 31), "damaged_file", &["tensor \"w\"", "beyond any file"]),
        (one(&[4], 0, 1 << 40), "truncated_file", &["tensor \"w\""]),
        (one(&[1000], 0, 0), "truncated_file", &["tensor \"w\""]),
        // A format that is not known still has to begin inside the file.
        (one(&[4], 16, 1 << 40), "truncated_file", &["tensor \"w\""]),
        (
            Raw::new(2, 0).tensor("a", &[16], 0, 0).tensor("b", &[4], 0, 32).zeros(256),
            "damaged_file",
            &["tensor \"b\"", "shares bytes with tensor \"a\""],
        ),
    ];
    for (index, (raw, code, words)) in cases.into_iter().enumerate() {
        let error = failure(raw.0);
        assert_eq!(error.code(), code, "case {index}: {error}");
        let message = error.to_string();
        assert!(message.starts_with("bad.gguf"), "case {index}: {message}");
        for word in words {
            assert!(message.contains(word), "case {index}: \"{word}\" is not in: {message}");
        }
    }
}

#[test]
fn what_is_unusual_but_right_is_read() {
    let values = Raw::new(2, 14)
        .alignment(64)
        .text("u8")
        .u32(0)
        .bytes(&[200])
        .text("i8")
        .u32(1)
        .bytes(&[200])
        .text("u16")
        .u32(2)
        .bytes(&[0, 200])
        .text("i16")
        .u32(3)
        .bytes(&[0, 200])
        .text("i32")
        .u32(5)
        .u32(u32::MAX)
        .text("f32")
        .u32(6)
        .u32(1.5f32.to_bits())
        .text("bool")
        .u32(7)
        .bytes(&[1])
        .text("u64")
        .u32(10)
        .u64(1 << 40)
        .text("i64")
        .u32(11)
        .u64(u64::MAX)
        .text("f64")
        .u32(12)
        .u64(0.1f64.to_bits())
        .text("bytes")
        .u32(9)
        .u32(1)
        .u64(2)
        .bytes(&[255, 3])
        .text("floats")
        .u32(9)
        .u32(6)
        .u64(1)
        .u32(2.5f32.to_bits())
        .text("texts")
        .u32(9)
        .u32(8)
        .u64(2)
        .text("")
        .text("é")
        .tensor("a", &[4], 0, 0)
        .tensor("b", &[2, 1, 1, 1], 0, 64);
    // The data begins at the next multiple of 64.
    let start = values.0.len().next_multiple_of(64);
    let padding = start - values.0.len();
    let gguf = read(&mut MemorySource::new("odd.gguf", values.zeros(padding + 72).0)).unwrap();
    assert_eq!(gguf.get("u8"), Some(&Value::Unsigned(200)));
    // 200 as a signed byte is 200 − 256; as the high byte of a signed 16-bit number (200 − 256) × 256.
    assert_eq!(gguf.get("i8"), Some(&Value::Signed(-56)));
    assert_eq!(gguf.get("u16"), Some(&Value::Unsigned(51_200)));
    assert_eq!(gguf.get("i16"), Some(&Value::Signed(-14_336)));
    assert_eq!(gguf.get("i32"), Some(&Value::Signed(-1)));
    assert_eq!(gguf.number("f32").unwrap(), Some(1.5));
    assert_eq!(gguf.flag("bool").unwrap(), Some(true));
    assert_eq!(gguf.get("u64"), Some(&Value::Unsigned(1 << 40)));
    assert_eq!(gguf.get("i64"), Some(&Value::Signed(-1)));
    assert_eq!(gguf.number("f64").unwrap(), Some(0.1));
    assert_eq!(gguf.get("bytes"), Some(&Value::SmallNumbers(vec![-1, 3])));
    assert_eq!(gguf.numbers("floats").unwrap(), Some(&[2.5][..]));
    assert_eq!(gguf.texts("texts").unwrap(), Some(&[String::new(), "é".to_owned()][..]));
    assert_eq!(gguf.tensor("a").unwrap().offset, start as u64);
    assert_eq!(gguf.tensor("b").unwrap().offset, start as u64 + 64);
    assert_eq!(gguf.tensor("b").unwrap().shape, [2, 1, 1, 1]);
    // The wrong kind of value is an error that names the key and both kinds.
    let error = gguf.count("texts").unwrap_err().to_string();
    assert!(error.contains("texts") && error.contains("whole number") && error.contains("array of texts"));
    assert!(gguf.count("i64").is_err() && gguf.count("u64").is_err() && gguf.text("u8").is_err());
    assert_eq!(gguf.text("absent").unwrap(), None);
}

/// The costliest headers for their size: every one of them is right, and stays within the bound of `read`.
#[test]
fn p44_memory_stays_near_the_size_of_the_file() {
    let entry = || Raw::new(0, 1).text("the.key").u32(9);
    let million = 1_000_000;
    read(&mut MemorySource::new("bools", entry().u32(7).u64(million).zeros(million as usize).0)).unwrap();
    read(&mut MemorySource::new("bytes", entry().u32(0).u64(million).zeros(million as usize).0)).unwrap();
    read(&mut MemorySource::new("shorts", entry().u32(2).u64(million).zeros(2_000_000).0)).unwrap();
    read(&mut MemorySource::new("ints", entry().u32(5).u64(million).zeros(4_000_000).0)).unwrap();
    read(&mut MemorySource::new("empty texts", entry().u32(8).u64(million).zeros(8_000_000).0)).unwrap();
    let mut short_texts = entry().u32(8).u64(million);
    for _ in 0..million {
        short_texts = short_texts.text("a");
    }
    read(&mut MemorySource::new("short texts", short_texts.0)).unwrap();
    let mut entries = Raw::new(0, 4096);
    for index in 0..4096 {
        entries = entries.text(&format!("{index:x}")).u32(7).bytes(&[1]);
    }
    read(&mut MemorySource::new("entries", entries.0)).unwrap();
    let mut tensors = Raw::new(8192, 1).alignment(1);
    for index in 0..8192 {
        // A format whose size is not known takes no room in the file.
        tensors = tensors.tensor(&format!("{index:x}"), &[1], 16, 0);
    }
    read(&mut MemorySource::new("tensors", tensors.0)).unwrap();
}

/// Wherever a download breaks off, the error says that the file is cut short.
#[test]
fn p44_every_beginning_of_a_model_is_called_cut_short() {
    let whole = Parts::tiny().source();
    let size = whole.size() as usize;
    let mut bytes = vec![0; size];
    whole.clone().read_at(0, &mut bytes).unwrap();
    let gguf = read(&mut whole.clone()).unwrap();
    let data = gguf.tensors().map(|tensor| tensor.offset).min().unwrap() as usize;
    let places = (4..=data).chain([data + 1, (data + size) / 2, size - 100]);
    for len in places {
        let error = failure(bytes[..len].to_vec());
        assert_eq!(error.code(), "truncated_file", "{len} of {size} bytes: {error}");
        assert!(error.to_string().contains("download it again"), "{error}");
    }
    for len in 0..4 {
        assert_eq!(failure(bytes[..len].to_vec()).code(), "not_gguf", "{len} bytes");
    }
}

/// A whole model: read, and loaded, in no more memory than a header may take.
#[test]
fn the_tiny_model_loads_in_little_memory() {
    let mut source = Parts::tiny().source();
    let size = source.size() as isize;
    let (result, peak) = peak_of(|| load(&mut source));
    result.unwrap();
    assert!(peak < 4 * size + (4 << 20), "{peak} bytes for a file of {size}");
}

/// Everything that reads a file.
fn load(source: &mut MemorySource) -> Result<(), LmError> {
    let gguf = Gguf::read(source)?;
    let config = Config::read(&gguf, source)?;
    let tokenizer = Tokenizer::read(&gguf, config.vocabulary)?;
    let template = ChatTemplate::read(&gguf, &tokenizer)?;
    template.turn(Some(&Segments::new().template("Be brief.")))?;
    pollster::block_on(CpuBackend::load(&gguf, &config, source, &mut |_| Flow::Continue))?;
    Ok(())
}

fn refusal(parts: &Parts) -> LmError {
    load(&mut parts.source()).expect_err("the model was loaded")
}

#[test]
fn p45_a_missing_key_is_named_with_what_supplies_it() {
    load(&mut Parts::tiny().source()).unwrap();
    // What a model can do without: its name, equal numbers of heads, the usual rotary base, the oldest
    // pre-tokenizer, a begin or end token, a template (then it is a base model).
    let optional = [
        "general.name",
        "llama.rope.freq_base",
        "tokenizer.ggml.pre",
        "tokenizer.ggml.bos_token_id",
        "tokenizer.ggml.eos_token_id",
        "tokenizer.chat_template",
    ];
    let mut required = 0;
    for key in KEYS {
        let parts = Parts::tiny().without(key);
        if optional.contains(&key) {
            load(&mut parts.source()).unwrap();
        } else if key == "llama.attention.head_count_kv" {
            // Then there are as many as query heads, and this model's tensors are too small for that.
            let error = refusal(&parts).to_string();
            assert!(error.contains("blk.0.attn_k.weight") && error.contains("[32, 32]"), "{error}");
        } else {
            required += 1;
            let error = refusal(&parts);
            assert_eq!(error.code(), "missing_key", "{key}: {error}");
            let start = format!("tiny.gguf has no \"{key}\" in its metadata; convert the model anew");
            assert!(error.to_string().starts_with(&start), "{error}");
        }
    }
    assert_eq!(required, 11);
}

#[test]
fn what_is_not_supported_says_what_would_work() {
    let text = |text: &str| Value::Text(text.into());
    for (key, value, words) in [
        ("general.architecture", text("mamba"), ["\"mamba\"", "one of: llama"]),
        ("tokenizer.ggml.model", text("bert"), ["the tokenizer \"bert\"", "SmolLM2"]),
        (
            "tokenizer.ggml.pre",
            text("grok-2"),
            ["the pre-tokenizer \"grok-2\"", "gpt-2, smollm, qwen2, llama-bpe"],
        ),
        ("llama.rope.scaling.type", text("yarn"), ["rotary scaling \"yarn\"", "rope_freqs.weight"]),
        ("llama.expert_count", Value::Unsigned(8), ["mixture of experts", "dense"]),
        ("llama.attention.value_length", Value::Unsigned(8), ["value heads of 8", "one size"]),
    ] {
        let error = refusal(&Parts::tiny().with(key, value));
        assert_eq!(error.code(), "unsupported", "{error}");
        for word in words {
            assert!(error.to_string().contains(word), "\"{word}\" is not in: {error}");
        }
    }
    // IQ2_XXS, written over the type of one tensor.
    let mut bytes = bytes_of(&Parts::tiny());
    let name = b"blk.0.attn_q.weight";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    let type_at = at + name.len() + 4 + 2 * 8;
    bytes[type_at..type_at + 4].copy_from_slice(&16u32.to_le_bytes());
    let error = load(&mut MemorySource::new("k.gguf", bytes)).unwrap_err();
    assert_eq!(error.code(), "unsupported");
    assert_eq!(
        error.to_string(),
        "k.gguf: tensor \"blk.0.attn_q.weight\" in format IQ2_XXS is not supported; use a file quantized as one \
         of F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K"
    );
}

fn bytes_of(parts: &Parts) -> Vec<u8> {
    let mut source = parts.source();
    let mut bytes = vec![0; source.size() as usize];
    source.read_at(0, &mut bytes).unwrap();
    bytes
}

#[test]
fn numbers_that_do_not_fit_together_are_refused_by_name() {
    let count = Value::Unsigned;
    for (key, value, word) in [
        ("llama.block_count", count(0), "between 1 and 1024"),
        ("llama.block_count", count(4_000_000_000), "whole number"),
        ("llama.block_count", Value::Signed(-1), "whole number"),
        ("llama.block_count", Value::Text("1".into()), "it holds a text"),
        ("llama.embedding_length", count(1 << 20), "between 1 and 65536"),
        ("llama.attention.head_count_kv", count(0), "0 key/value heads"),
        ("llama.attention.head_count_kv", count(3), "3 key/value heads cannot serve 2"),
        ("llama.rope.dimension_count", count(17), "17 rotary components"),
        ("llama.rope.dimension_count", count(18), "18 rotary components"),
        ("llama.rope.freq_base", Value::Float(0.0), "not above 0"),
        ("llama.rope.freq_base", Value::Float(f64::NAN), "finite"),
        ("llama.attention.layer_norm_rms_epsilon", Value::Float(-1e-5), "not above 0"),
        ("llama.context_length", count(0), "between 1"),
        ("tokenizer.ggml.eos_token_id", count(100_000), "100000 is not in the vocabulary"),
        ("tokenizer.ggml.bos_token_id", count(267), "267 is not in the vocabulary"),
        ("tokenizer.ggml.tokens", Value::Texts(vec!["a".into()]), "1 tokens for an embedding table of 267"),
        ("tokenizer.ggml.tokens", Value::Texts(vec!["a".into(); 267]), "lacks the byte token"),
        ("tokenizer.ggml.token_type", Value::Numbers(vec![1.0]), "1 types for 267 tokens"),
        ("tokenizer.ggml.merges", Value::Texts(vec!["t h".into(), "q qq".into()]), "merge 1, \"q qq\""),
        ("tokenizer.ggml.merges", Value::Texts(vec!["th".into()]), "merge 0, \"th\""),
        ("tokenizer.chat_template", Value::Text("{% for %}".into()), "not a valid template"),
        ("tokenizer.chat_template", Value::Text("{{ messages".into()), "line 1 of the template"),
    ] {
        let error = refusal(&Parts::tiny().with(key, value));
        let message = error.to_string();
        assert_eq!(error.code(), "damaged_file", "{message}");
        assert!(message.contains(key) && message.contains(word), "{key}: \"{word}\" is not in: {message}");
    }
}

#[test]
fn a_missing_or_misshapen_tensor_is_named() {
    let count = Parts::tiny().tensors.len();
    // Nine for the block, the embedding, and the last norm.
    assert_eq!(count, 11);
    for index in 0..count {
        let mut parts = Parts::tiny();
        let (name, ..) = parts.tensors.remove(index);
        let error = refusal(&parts);
        assert_eq!(error.code(), "wrong_tensor", "{error}");
        let message =
            format!("tiny.gguf: tensor \"{name}\": it is absent; the file does not hold a whole llama model");
        assert_eq!(error.to_string(), message);

        let mut parts = Parts::tiny();
        let (_, shape, kind, bytes) = &mut parts.tensors[index];
        *kind = TensorType::F32;
        shape[0] += 32;
        *bytes = vec![0; 4 * shape.iter().product::<usize>()];
        let error = refusal(&parts);
        assert_eq!(error.code(), "wrong_tensor", "{error}");
        let message = error.to_string();
        assert!(message.contains(&format!("tensor \"{name}\": its shape is [64")), "{message}");
    }
}

/// Raw blocks and what the Python package gguf makes of them, to the last bit. The file says how it was made.
#[test]
fn dequantization_is_that_of_the_gguf_package() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dequant.json");
    let fixture: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut seen = Vec::new();
    for entry in fixture["types"].as_array().unwrap() {
        let id = entry["ggml_id"].as_u64().unwrap() as u32;
        let kind = TensorType::from_id(id).expect("every format of the fixture is read");
        seen.push(kind);
        assert_eq!(kind.name(), entry["type"].as_str().unwrap());
        assert_eq!(kind.block_weights() as u64, entry["block_values"].as_u64().unwrap());
        assert_eq!(kind.block_bytes() as u64, entry["block_bytes"].as_u64().unwrap());
        for sample in entry["samples"].as_array().unwrap() {
            let hex = sample["hex"].as_str().unwrap();
            let blocks: Vec<u8> = (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
                .collect();
            let right: Vec<f32> =
                sample["values"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect();
            let mut found = vec![f32::NAN; right.len()];
            kind.dequantize(&blocks, &mut found);
            assert!(right.len() >= 64);
            for (index, (found, right)) in found.iter().zip(&right).enumerate() {
                assert_eq!(
                    found.to_bits(),
                    right.to_bits(),
                    "{}, value {index}: {found} and {right}",
                    kind.name()
                );
            }
        }
    }
    assert_eq!(seen.len(), 13);
    for kind in SUPPORTED {
        assert!(seen.contains(&kind), "no fixture for {}", kind.name());
    }
}

#[test]
fn a_file_on_disk_reads_as_in_memory_and_a_folder_is_refused() {
    let path = std::env::temp_dir().join(format!("retort-lm-{}.gguf", std::process::id()));
    let bytes = bytes_of(&Parts::tiny());
    std::fs::write(&path, &bytes).unwrap();
    let mut source = FileSource::open(&path).unwrap();
    let gguf = Gguf::read(&mut source).unwrap();
    assert_eq!(gguf.size, bytes.len() as u64);
    let (mut from_file, mut right) = (Vec::new(), Vec::new());
    for info in gguf.tensors() {
        gguf.read_tensor(&mut source, &info.name, &info.shape, &mut from_file).unwrap();
        gguf.read_tensor(&mut Parts::tiny().source(), &info.name, &info.shape, &mut right).unwrap();
        assert_eq!(from_file, right);
    }
    std::fs::remove_file(&path).unwrap();
    let error = FileSource::open(&path).unwrap_err();
    assert_eq!(error.code(), "unreadable");
    let error = FileSource::open(&std::env::temp_dir()).unwrap_err();
    assert!(error.to_string().contains("it is a folder"), "{error}");
}

/// One change to a file.
#[derive(Debug, Clone)]
enum Change {
    Set(prop::sample::Index, u8),
    Flip(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Delete(prop::sample::Index, usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (any::<prop::sample::Index>(), 0u8..8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 1..9))
            .prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (any::<prop::sample::Index>(), 1usize..9).prop_map(|(at, count)| Change::Delete(at, count)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// P44: whatever happens to a file's bytes, reading it ends in a model or in an error.
    #[test]
    fn p44_no_change_to_a_file_makes_reading_it_panic(
        changes in prop::collection::vec(change(), 1..4),
        everywhere in any::<bool>(),
    ) {
        let mut bytes = bytes_of(&Parts::tiny());
        // Most changes go into the header, where they can do harm.
        let header = 9000.min(bytes.len());
        for change in changes {
            let len = if everywhere { bytes.len() } else { header.min(bytes.len()) };
            match change {
                Change::Set(at, byte) => bytes[at.index(len)] = byte,
                Change::Flip(at, bit) => bytes[at.index(len)] ^= 1 << bit,
                Change::Insert(at, new) => {
                    let at = at.index(len);
                    bytes.splice(at..at, new);
                }
                Change::Delete(at, count) => {
                    let at = at.index(len);
                    let end = (at + count).min(bytes.len());
                    bytes.drain(at..end);
                }
            }
        }
        let mut source = MemorySource::new("changed.gguf", bytes);
        let _ = read(&mut source);
        if let Err(error) = load(&mut source) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

/// P16: a weight that is no number never becomes a probability.
#[test]
fn p16_a_weight_that_is_not_a_number_is_an_error() {
    let mut parts = Parts::tiny();
    let (_, _, kind, bytes) =
        parts.tensors.iter_mut().find(|(name, ..)| name == "output_norm.weight").unwrap();
    assert_eq!(*kind, TensorType::F32);
    bytes[..4].copy_from_slice(&f32::NAN.to_le_bytes());
    let mut source = parts.source();
    let gguf = Gguf::read(&mut source).unwrap();
    let config = Config::read(&gguf, &mut source).unwrap();
    let backend =
        pollster::block_on(CpuBackend::load(&gguf, &config, &mut source, &mut |_| Flow::Continue)).unwrap();
    let mut model = Model::new(&gguf, config, &mut source, backend).unwrap();
    let error = pollster::block_on(model.logits(&[1, 2])).unwrap_err();
    assert_eq!(error.code(), "not_finite", "{error}");
}
