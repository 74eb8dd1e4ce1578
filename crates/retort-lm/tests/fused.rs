//! Models that keep several matrices of a block in one tensor (`phi3`), against the same weights kept apart.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests are tests too; clippy knows only the functions marked as such"
)]

#[expect(dead_code, reason = "what other tests take apart is not needed here")]
mod common;

use common::Parts;
use retort_lm::config::Config;
use retort_lm::cpu::CpuBackend;
use retort_lm::gguf::{Gguf, GgufWriter, Rows, Value};
use retort_lm::matrices::Target;
use retort_lm::quant::{SUPPORTED, TensorType};
use retort_lm::tiny::{AdapterShape, Shape, adapter_gguf, adapter_writer};
use retort_lm::{Adapter, Flow, LmError, MemorySource, Model};

/// Rows of whole blocks in every format; heads that are no power of two, and fewer for keys and values.
fn shape() -> Shape {
    Shape {
        architecture: "phi3",
        width: 256,
        feed_forward: 256,
        head_size: Some(24),
        untied: true,
        context: 2048,
        ..Shape::default()
    }
}

/// The tensors of a fused block by hand: name, and the names and rows of what it holds.
fn held(name: &str) -> Option<Vec<(&'static str, usize)>> {
    match name {
        "attn_qkv" => Some(vec![("attn_q", 96), ("attn_k", 48), ("attn_v", 48)]),
        "ffn_up" => Some(vec![("ffn_gate", 256), ("ffn_up", 256)]),
        _ => None,
    }
}

/// The same model as a `qwen2` file, which turns the same pairs and keeps every matrix apart.
fn apart(fused: &Parts) -> Parts {
    let mut parts = Parts { entries: Vec::new(), tensors: Vec::new() };
    for (key, value) in &fused.entries {
        let value = if key == "general.architecture" { Value::Text("qwen2".into()) } else { value.clone() };
        parts.entries.push((key.replace("phi3.", "qwen2."), value));
    }
    for (name, shape, kind, bytes) in &fused.tensors {
        let within = name.strip_prefix("blk.").and_then(|rest| rest.split_once('.'));
        let found = within.and_then(|(layer, rest)| Some((layer, held(rest.strip_suffix(".weight")?)?)));
        let Some((layer, held)) = found else {
            parts.tensors.push((name.clone(), shape.clone(), *kind, bytes.clone()));
            continue;
        };
        assert_eq!(held.iter().map(|(_, rows)| rows).sum::<usize>(), shape[1], "{name}");
        let mut rest = &bytes[..];
        for (part, rows) in held {
            let own;
            (own, rest) = rest.split_at(rows * bytes.len() / shape[1]);
            parts.tensors.push((
                format!("blk.{layer}.{part}.weight"),
                vec![shape[0], rows],
                *kind,
                own.to_vec(),
            ));
        }
    }
    parts
}

fn open(parts: &Parts) -> Result<(MemorySource, Gguf, Config), LmError> {
    let mut source = parts.source();
    let gguf = Gguf::read(&mut source)?;
    let config = Config::read(&gguf, &mut source)?;
    Ok((source, gguf, config))
}

fn model(parts: &Parts) -> Result<Model<CpuBackend>, LmError> {
    let (mut source, gguf, config) = open(parts)?;
    let mut go_on = |_| Flow::Continue;
    let backend = pollster::block_on(CpuBackend::load(&gguf, &config, &mut source, &mut go_on))?;
    Model::new(&gguf, config, &mut source, backend)
}

const TOKENS: [u32; 9] = [10, 200, 33, 33, 264, 97, 0, 98, 49];

fn logits(model: &mut Model<CpuBackend>) -> Vec<f32> {
    pollster::block_on(model.logits(&TOKENS)).unwrap()
}

#[test]
fn fused_tensors_give_the_bits_of_separate_ones() {
    for (first_kind, kind) in SUPPORTED.iter().enumerate() {
        let fused = Parts::of(Shape { first_kind, ..shape() });
        let apart = apart(&fused);
        assert!(fused.tensors.len() + 6 == apart.tensors.len());
        let right = logits(&mut model(&apart).unwrap());
        assert_eq!(logits(&mut model(&fused).unwrap()), right, "{}", kind.name());
        // Gate and up the wrong way round would be noticed.
        let mut wrong = apart;
        for (name, ..) in &mut wrong.tensors {
            *name =
                name.replace("ffn_gate", "ffn_").replace("ffn_up", "ffn_gate").replace("ffn_.", "ffn_up.");
        }
        assert_ne!(logits(&mut model(&wrong).unwrap()), right);
    }
}

/// An adapter's file with the tensors that `change` makes of each.
fn adapter(
    bytes: Vec<u8>,
    architecture: &str,
    change: &dyn Fn(&str) -> Vec<(String, usize)>,
) -> MemorySource {
    let mut source = MemorySource::new("adapter.gguf", bytes);
    let gguf = Gguf::read(&mut source).unwrap();
    let mut writer = GgufWriter::new();
    for (key, value) in gguf.entries() {
        writer.entry(key, value.clone());
    }
    writer.set("general.architecture", Value::Text(architecture.into()));
    for info in gguf.tensors() {
        let mut bytes = Vec::new();
        let kind = gguf.read_tensor(&mut source, &info.name, &info.shape, &mut bytes).unwrap();
        let mut rest = &bytes[..];
        for (name, rows) in change(&info.name) {
            // A stays whole for each of what shares it.
            let is_first = name.ends_with("lora_a");
            let rows = if is_first { info.shape[1] } else { rows };
            let own = &rest[..rows * bytes.len() / info.shape[1]];
            rest = if is_first { rest } else { &rest[own.len()..] };
            writer.tensor(&name, &[info.shape[0], rows], kind, own.to_vec());
        }
    }
    MemorySource::new("adapter.gguf", writer.finish())
}

#[test]
fn an_adapter_of_a_fused_tensor_changes_each_of_its_matrices() {
    let shape = Shape { kind: Some(TensorType::Q8_0), ..shape() };
    let fused = Parts::of(shape);
    let apart = apart(&fused);
    let bytes = adapter_gguf(shape, AdapterShape { rank: 3, ..AdapterShape::default() }, 5);
    let split = adapter(bytes.clone(), "qwen2", &|name| {
        let (layer, rest) = name["blk.".len()..].split_once('.').unwrap();
        let (stem, half) = rest.split_once(".weight.").unwrap();
        let held = held(stem)
            .unwrap_or_else(|| vec![(if stem == "ffn_down" { "ffn_down" } else { "attn_output" }, 256)]);
        held.into_iter().map(|(part, rows)| (format!("blk.{layer}.{part}.weight.{half}"), rows)).collect()
    });
    let with = |parts: &Parts, mut source: MemorySource| {
        let mut model = model(parts).unwrap();
        let plain = logits(&mut model);
        let adapter = Adapter::read(&mut source, model.config()).unwrap();
        pollster::block_on(model.set_adapter(Some(adapter))).unwrap();
        let changed = logits(&mut model);
        assert_ne!(changed, plain);
        changed
    };
    assert_eq!(with(&fused, MemorySource::new("adapter.gguf", bytes)), with(&apart, split));
}

#[test]
fn an_adapter_that_names_matrices_otherwise_than_the_model_is_refused() {
    let fused = Shape { kind: Some(TensorType::Q8_0), ..shape() };
    let apart = Shape { architecture: "qwen2", ..fused };
    let refused = |model: Shape, made_for: Shape, target: &'static [&'static str]| {
        let adapter = AdapterShape { targets: target, ..AdapterShape::default() };
        let mut writer = adapter_writer(made_for, adapter, 5);
        writer.set("general.architecture", Value::Text(model.architecture.into()));
        let (_, _, config) = open(&Parts::of(model)).unwrap();
        let mut source = MemorySource::new("adapter.gguf", writer.finish());
        Adapter::read(&mut source, &config).unwrap_err().to_string()
    };
    for (model, made_for, target, words) in [
        (
            fused,
            apart,
            &["ffn_gate"] as &[_],
            "ffn_gate.weight\", and only these matrices of a block can be changed: attn_qkv, attn_output, ffn_up",
        ),
        (
            apart,
            fused,
            &["attn_q"],
            "attn_qkv.weight\", and only these matrices of a block can be changed: attn_q, attn_k, attn_v",
        ),
        // The same name, and not the same matrix.
        (
            fused,
            apart,
            &["ffn_up"],
            "is 256 by 512 in the loaded model, and the adapter was made for 256 by 256",
        ),
    ] {
        let message = refused(model, made_for, target);
        assert!(message.contains(words), "\"{words}\" is not in: {message}");
    }
}

/// What loading says where something is wrong.
fn refusal(parts: &Parts) -> (&'static str, String) {
    let error = model(parts).err().unwrap();
    (error.code(), error.to_string())
}

#[test]
fn what_is_wrong_with_a_fused_file_is_named() {
    let shape = Shape { kind: Some(TensorType::F32), rotary_factors: true, layers: 1, ..shape() };
    model(&Parts::of(shape)).unwrap();
    for (name, rows) in [("blk.0.attn_qkv.weight", 192), ("blk.0.ffn_up.weight", 512)] {
        let mut parts = Parts::of(shape);
        parts.tensors.retain(|(other, ..)| other != name);
        let (code, message) = refusal(&parts);
        assert_eq!(code, "wrong_tensor", "{message}");
        assert!(message.contains(&format!("tensor \"{name}\": it is absent")), "{message}");
        // Half of it, as a file that keeps its matrices apart has it.
        let mut parts = Parts::of(shape);
        let (_, shape, _, bytes) = parts.tensors.iter_mut().find(|(other, ..)| other == name).unwrap();
        shape[1] /= 2;
        bytes.truncate(bytes.len() / 2);
        let (code, message) = refusal(&parts);
        assert_eq!(code, "wrong_tensor", "{message}");
        assert!(
            message.contains(&format!("its shape is [256, {}] where [256, {rows}] is needed", rows / 2)),
            "{message}"
        );
    }
    // A bias that nothing reads.
    for name in ["attn_qkv", "attn_q", "ffn_up", "attn_norm"] {
        let mut parts = Parts::of(shape);
        let bias = format!("blk.0.{name}.bias");
        parts.tensors.push((bias.clone(), vec![192], TensorType::F32, vec![0; 4 * 192]));
        let (code, message) = refusal(&parts);
        assert_eq!(code, "unsupported", "{message}");
        assert!(message.contains(&bias) && message.contains("attn_output"), "{message}");
    }
}

#[test]
fn tables_of_rotary_factors_must_be_whole() {
    let shape = Shape { rotary_factors: true, original_context: 64, layers: 1, ..shape() };
    let without = |name: &str| {
        let mut parts = Parts::of(shape);
        parts.tensors.retain(|(other, ..)| other != name);
        parts
    };
    let (code, message) = refusal(&without("rope_factors_short.weight"));
    assert_eq!(code, "wrong_tensor");
    assert!(
        message.contains("rope_factors_short.weight") && message.contains("it is absent beside"),
        "{message}"
    );
    // The long ones are never read.
    let whole = logits(&mut model(&Parts::of(shape)).unwrap());
    assert_eq!(logits(&mut model(&without("rope_factors_long.weight")).unwrap()), whole);
    let changed = |change: &dyn Fn(&mut Vec<usize>, &mut Vec<u8>)| {
        let mut parts = Parts::of(shape);
        let (_, shape, _, bytes) =
            parts.tensors.iter_mut().find(|(name, ..)| name == "rope_factors_short.weight").unwrap();
        change(shape, bytes);
        refusal(&parts)
    };
    let (code, message) = changed(&|shape, bytes| {
        shape[0] -= 1;
        bytes.truncate(44);
    });
    assert_eq!(code, "wrong_tensor");
    assert!(message.contains("its shape is [11] where [12] is needed"), "{message}");
    let (code, message) = changed(&|_, bytes| bytes[..4].copy_from_slice(&0f32.to_le_bytes()));
    assert_eq!(code, "damaged_file");
    assert!(message.contains("rope_factors_short.weight") && message.contains("a factor of 0"), "{message}");
    let key = "phi3.rope.scaling.original_context_length";
    let (code, message) = refusal(&Parts::of(shape).with(key, Value::Unsigned(0)));
    assert_eq!(code, "damaged_file");
    assert!(message.contains(key) && message.contains("0 tokens"), "{message}");
    // Where the file names its scaling, the tables are what is meant; without them it means nothing.
    let named = |parts: Parts| parts.with("phi3.rope.scaling.type", Value::Text("longrope".into()));
    assert_eq!(logits(&mut model(&named(Parts::of(shape))).unwrap()), whole);
    let (code, message) = refusal(&named(Parts::of(Shape { rotary_factors: false, ..shape })));
    assert_eq!(code, "unsupported");
    assert!(message.contains("\"longrope\"") && message.contains("rope_factors_short.weight"), "{message}");
}

#[test]
fn an_extended_model_holds_what_its_short_factors_are_meant_for() {
    let context = |shape: Shape| open(&Parts::of(shape)).unwrap().2.context;
    let extended = Shape { rotary_factors: true, original_context: 64, ..shape() };
    assert_eq!(context(extended), 64);
    // Not extended: without tables, or from more than there is.
    assert_eq!(context(Shape { rotary_factors: false, ..extended }), 2048);
    assert_eq!(context(Shape { original_context: 0, ..extended }), 2048);
    assert_eq!(context(Shape { original_context: 4096, ..extended }), 2048);
    let mut model = model(&Parts::of(extended)).unwrap();
    let error = pollster::block_on(model.logits(&[97; 65])).unwrap_err();
    assert!(matches!(error, LmError::TooLong { tokens: 65, context: 64 }), "{error}");
}

/// Phi-3 with 4k: every layer has the window. Phi-3.5: its window is longer than everything it can hold.
#[test]
fn every_layer_has_the_window_or_none() {
    let config = |window: usize| open(&Parts::of(Shape { window, ..shape() })).unwrap().2;
    let short = config(5);
    assert!((0..short.layers).all(|layer| short.is_local(layer) && short.reach(layer) == 5));
    for window in [0, 2048, 262_144] {
        let long = config(window);
        assert!(long.window.is_none() && (0..long.layers).all(|layer| long.reach(layer) == usize::MAX));
    }
    // One rotary embedding for all, whichever kind of layer asks.
    let table =
        open(&Parts::of(Shape { window: 5, rotary_factors: true, rotary_scale: 1.5, ..shape() })).unwrap().2;
    assert_eq!(table.window.as_ref().unwrap().rotary, table.rotary);
    assert_eq!(table.rotary.factors.len(), 12);
    // 1.5 × (cos 0, sin 0).
    assert!(table.angles(0, true).chain(table.angles(0, false)).all(|angle| angle == (1.5, 0.0)));
}

#[test]
fn rows_outside_a_tensor_are_refused() {
    let (mut source, gguf, config) = open(&Parts::of(shape())).unwrap();
    let rows = Target::Value.rows(&config, 1);
    assert_eq!(
        (rows.tensor.as_str(), rows.shape, rows.rows.clone()),
        ("blk.1.attn_qkv.weight", [256, 192], 144..192)
    );
    let mut bytes = Vec::new();
    gguf.read_rows(&mut source, &rows, &mut bytes).unwrap();
    for outside in [144..193, std::ops::Range { start: 5, end: 4 }] {
        let error =
            gguf.read_rows(&mut source, &Rows { rows: outside, ..rows.clone() }, &mut bytes).unwrap_err();
        assert_eq!(error.code(), "wrong_tensor", "{error}");
    }
}
