//! Tests of the kernels and of whole models. Those that need an adapter fail where there is none, and say how
//! to get one.

use std::collections::BTreeMap;

use pollster::block_on;
use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, TestRunner};

use super::check::{self, Case, Noise, TOLERANCE};
use super::device::Gpu;
use super::layout::{GROUP, Layout, Packed, repack};
use super::run::parameters;
use super::shader::{Kernel, Role, Shape, Tile};
use super::*;
use crate::backend::{Backend, Batch, View};
use crate::config::Config;
use crate::gguf::{Gguf, GgufWriter, Value};
use crate::quant::{SUPPORTED, TensorType};
use crate::reference;
use crate::{Flow, LmError, MemorySource};

const ROLES: [Role; 4] = [Role::Project, Role::Residual, Role::GateUp, Role::Output];

fn gpu() -> Gpu {
    block_on(GpuBackend::open())
        .expect("these tests need a GPU adapter; without a GPU install Mesa's lavapipe (mesa-vulkan-drivers)")
}

fn differs(gpu: &Gpu, case: &Case, fault: &Case) -> Result<(), String> {
    let got = block_on(check::run(gpu, fault)).map_err(|error| error.to_string())?;
    check::compare(&got, &twin::run(case.kernel, &case.parameters, &case.bindings))
}

/// Gives random problems to the device and to the twin.
fn agree<S: Strategy>(strategy: S, case: impl Fn(S::Value, &mut Noise) -> Case) {
    let gpu = gpu();
    let mut runner = TestRunner::new(Runs { cases: 32, failure_persistence: None, ..Runs::default() });
    runner
        .run(&(strategy, any::<u64>()), |(shape, seed)| {
            let case = case(shape, &mut Noise::new(seed));
            differs(&gpu, &case, &case)
                .map_err(|problem| TestCaseError::fail(format!("{}: {problem}", case.kernel.name())))
        })
        .unwrap();
}

fn layouts() -> impl Strategy<Value = Layout> {
    prop::sample::select(Layout::ALL.to_vec())
}

/// Every kernel in every shape.
fn every_kernel() -> Vec<Kernel> {
    let mut kernels = vec![Kernel::Rotary(true), Kernel::Rotary(false)];
    // Heads of 4 to 512 components: one chunk, whole and broken; many chunks.
    kernels.extend([1, 5, 16, 17, 32, 64, 128].map(|head4| Kernel::Attention { head4 }));
    for layout in Layout::ALL {
        kernels.push(Kernel::Embed(layout));
        for role in ROLES {
            let tiles = [Shape::Tile(Tile::HARDWARE), Shape::Tile(Tile::SOFTWARE)];
            for shape in tiles.into_iter().chain([Shape::Vector(1), Shape::Vector(4)]) {
                kernels.push(Kernel::Product(role, layout, shape));
            }
        }
    }
    kernels
}

#[test]
fn every_shader_is_valid() {
    for kernel in every_kernel() {
        let wgsl = kernel.wgsl().unwrap();
        let module = naga::front::wgsl::parse_str(&wgsl)
            .unwrap_or_else(|error| panic!("{}: {}", kernel.name(), error.emit_to_string(&wgsl)));
        // No capability beyond WebGPU's core, which unpacks f16 from words: neither f16 nor subgroups (P37).
        let capabilities = naga::valid::Capabilities::SHADER_FLOAT16_IN_FLOAT32;
        let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities);
        let valid = validator.validate(&module);
        valid.unwrap_or_else(|error| panic!("{}: {}", kernel.name(), error.emit_to_string(&wgsl)));
        let workgroup_bytes: u32 = module
            .global_variables
            .iter()
            .filter(|(_, variable)| variable.space == naga::AddressSpace::WorkGroup)
            .map(|(_, variable)| module.types[variable.ty].inner.size(module.to_ctx()))
            .sum();
        // What Firefox gives.
        assert!(workgroup_bytes <= 16 * 1024, "{}: {workgroup_bytes} bytes", kernel.name());
        let storage = module
            .global_variables
            .iter()
            .filter(|(_, variable)| matches!(variable.space, naga::AddressSpace::Storage { .. }));
        let mut declared: Vec<u32> =
            storage.filter_map(|(_, variable)| variable.binding.map(|binding| binding.binding)).collect();
        let mut listed: Vec<u32> = kernel.bindings().into_iter().map(|(binding, _)| binding).collect();
        declared.sort_unstable();
        listed.sort_unstable();
        assert_eq!(declared, listed, "{}", kernel.name());
        assert!(declared.len() <= 8, "{}", kernel.name());
    }
}

#[test]
fn self_check_passes() {
    block_on(GpuBackend::self_check(&gpu())).unwrap();
}

#[test]
fn embedding_agrees_with_its_twin() {
    agree((layouts(), 1usize..80, 1usize..150), |(layout, rows, width), noise| {
        check::embed_case(layout, rows, width, noise)
    });
}

#[test]
fn products_agree_with_their_twins() {
    for role in ROLES {
        let shapes = (layouts(), 0usize..4, [1usize..150, 1usize..150, 1usize..200]);
        agree(shapes, |(layout, shape, [rows, columns, width]), noise| {
            let (shape, rows) = match shape {
                0 => (Shape::Vector(1), 1),
                1 => (Shape::Vector(4), 1 + rows % 4),
                2 => (Shape::Tile(Tile::HARDWARE), rows),
                _ => (Shape::Tile(Tile::SOFTWARE), rows),
            };
            check::product_case((role, layout, shape), [rows, columns, width], noise)
        });
    }
}

#[test]
fn rotary_agrees_with_its_twin() {
    let shapes = (any::<bool>(), [1usize..20, 1usize..4, 1usize..4, 1usize..70], any::<u8>());
    agree(shapes, |(neighbours, [rows, kv_heads, group, head_size], turned), noise| {
        let turned = usize::from(turned) % (head_size / 2 + 1) * 2;
        check::rotary_case(neighbours, [rows, kv_heads * group, kv_heads, head_size, turned], noise)
    });
}

#[test]
fn attention_agrees_with_its_twin() {
    // Few head sizes, since each is a shader of its own.
    let heads = prop::sample::select(vec![4, 15, 16, 64, 66, 128]);
    let shapes = (heads, [1usize..4, 1usize..5], [0usize..100, 0usize..40, 1usize..70, 1usize..40]);
    agree(shapes, |(head_size, [kv_heads, group], [prefix, trunk, rows, branch]), noise| {
        let batch = check::tree(prefix, trunk, rows, branch);
        check::attention_case([kv_heads, group, head_size], &batch, noise)
    });
}

/// A comparison that cannot fail proves nothing: each single wrong word must be seen.
#[test]
fn planted_faults_are_caught() {
    let gpu = gpu();
    let flip = |case: &Case, binding: u32, at: usize, bits: u32| {
        let mut fault = case.clone();
        fault.bindings.get_mut(&binding).unwrap()[at] ^= bits;
        fault
    };
    for kernel in check::all_kernels(&gpu) {
        let case = check::standard_case(kernel);
        assert_eq!(differs(&gpu, &case, &case), Ok(()), "{}", kernel.name());
        // A sign, an exponent, a nibble, the end of a prefix, a position in a list.
        let faults = match kernel {
            Kernel::Embed(Layout::FourBits | Layout::EightBits) => {
                vec![(1, 70, 0x50), (2, 10, 0x8000), (3, 5, 1)]
            }
            Kernel::Embed(_) => vec![(1, 70, 0x8000_0000), (3, 5, 1)],
            Kernel::Product(role, layout, _) => {
                let first_row = if role == Role::Output { case.bindings[&6][0] } else { 0 };
                let mut faults = vec![(3, (first_row * 4 * case.parameters[3]) as usize + 7, 0x8000_0000)];
                faults.push((1, 70, if layout.has_scales() { 0x50 } else { 0x8000_0000 }));
                if layout.has_scales() {
                    faults.push((2, 3, 0x8000_0000));
                }
                match role {
                    Role::Residual => faults.push((4, 3, 0x8000_0000)),
                    Role::Output => faults.extend([(5, 9, 0x8000_0000), (6, 0, 1)]),
                    Role::Project | Role::GateUp => faults.push((5, 9, 0x8000_0000)),
                }
                faults
            }
            Kernel::Rotary(_) => vec![(1, 40, 0x8000_0000), (2, 3, 0x8000_0000)],
            // View of row 3: one slot fewer of the prefix; a later start of its own branch.
            Kernel::Attention { .. } => vec![(4, 12, 1), (4, 15, 1), (6, 0, 1)],
        };
        for (binding, at, bits) in faults {
            let fault = flip(&case, binding, at, bits);
            assert!(differs(&gpu, &case, &fault).is_err(), "{}: binding {binding}, word {at}", kernel.name());
        }
    }
}

#[test]
fn values_that_are_no_numbers_are_no_answers() {
    let wanted = BTreeMap::from([(4, vec![0.0, 1.0])]);
    assert!(check::compare(&BTreeMap::from([(4, vec![0.0, f32::NAN])]), &wanted).is_err());
    assert!(check::compare(&BTreeMap::from([(4, vec![0.0, 1.0 + 3.0 * TOLERANCE])]), &wanted).is_err());
    assert!(check::compare(&BTreeMap::from([(4, vec![0.0])]), &wanted).is_err());
    assert!(check::compare(&BTreeMap::new(), &wanted).is_err());
    assert!(check::compare(&wanted.clone(), &wanted).is_ok());
}

/// What the kernels unpack equals, bit for bit, what the formats mean.
#[test]
fn repacking_loses_nothing() {
    let blocks = |kind: TensorType, count: usize, seed: u64| -> Vec<u8> {
        let mut noise = Noise::new(seed);
        let mut bytes = Vec::new();
        for _ in 0..count {
            let start = bytes.len();
            bytes.extend((0..kind.block_bytes()).map(|_| noise.word() as u8));
            // Finite scales, small enough that eight times them is an f16 too; F32 and BF16 likewise.
            let top = match kind {
                TensorType::F32 => vec![3],
                TensorType::Q4_1 => vec![1, 3],
                _ => vec![1],
            };
            for at in top {
                bytes[start + at] &= 0xbf;
            }
        }
        bytes
    };
    proptest!(Runs { failure_persistence: None, ..Runs::default() },
        |(kind in prop::sample::select(SUPPORTED.to_vec()), rows in 1usize..9, width in 1usize..100,
          also in layouts(), seed in any::<u64>())| {
        let width = width.next_multiple_of(kind.block_weights());
        let bytes = blocks(kind, rows * width / kind.block_weights(), seed);
        let mut meant = vec![0f32; rows * width];
        kind.dequantize(&bytes, &mut meant);
        // As it lies alone, and as it lies beside a tensor of another layout.
        for layout in [Layout::of(kind), Layout::of(kind).common(also)] {
            let mut packed = Packed::default();
            repack(kind, layout, width, &bytes, &mut packed).unwrap();
            let padded = width.next_multiple_of(GROUP);
            let bindings = BTreeMap::from([
                (1, packed.weights),
                (2, packed.scales),
                (3, (0..rows as u32).collect()),
                (4, vec![0; rows * padded]),
            ]);
            let unpacked = twin::run(Kernel::Embed(layout), &parameters([rows, padded / 8, 0, rows]), &bindings);
            for (unpacked, meant) in unpacked[&4].chunks(padded).zip(meant.chunks(width)) {
                prop_assert_eq!(&unpacked[..width], meant);
                prop_assert!(unpacked[width..].iter().all(|x| *x == 0.0));
            }
        }
    });
}

#[test]
fn a_q4_0_scale_without_a_minimum_is_an_error() {
    // 16384 × −8 is beyond f16.
    let mut block = half::f16::from_f32(16384.0).to_le_bytes().to_vec();
    block.extend([0; 16]);
    let result = repack(TensorType::Q4_0, Layout::FourBits, 32, &block, &mut Packed::default());
    assert_eq!(result, Err("a scale of 16384 in a Q4_0 block".to_owned()));
}

#[test]
fn tiles_cover_what_is_seen_and_nothing_else() {
    // A prefix of 40, then two branches of 3 from slot 100 on, one query head a row: one block of six lines.
    let view = |own| View { prefix: 40, trunk_start: 40, trunk_end: 40, own };
    let batch = Batch {
        first_slot: 100,
        tokens: vec![0; 6],
        positions: vec![0; 6],
        views: [100, 100, 100, 103, 103, 103].map(view).to_vec(),
        outputs: vec![],
    };
    // Slots 0 to 39 lie in tiles 0 and 1, slots 100 to 105 in tile 3.
    assert_eq!(super::run::attention_tiles(&batch, 1), (vec![[0, 3]], vec![0, 1, 3]));
    // Twelve heads a row: 72 lines, three blocks.
    let (blocks, _) = super::run::attention_tiles(&batch, 12);
    assert_eq!(blocks, [[0, 3], [3, 3], [6, 3]]);
}

#[test]
fn workgroups_spread_over_two_dimensions() {
    assert_eq!(super::run::spread(65_535), [65_535, 1, 1]);
    assert_eq!(super::run::spread(65_536), [32_768, 2, 1]);
}

fn load_on(gpu: Gpu, bytes: &[u8]) -> Result<GpuBackend, LmError> {
    let mut source = MemorySource::new("tiny.gguf", bytes.to_vec());
    let gguf = Gguf::read(&mut source)?;
    let config = Config::read(&gguf, &mut source)?;
    block_on(GpuBackend::load(gpu, &gguf, &config, &mut source, &mut |_| Flow::Continue))
}

fn load(bytes: &[u8]) -> GpuBackend {
    load_on(gpu(), bytes).unwrap()
}

fn forward(backend: &mut GpuBackend, batches: &[Batch]) -> Vec<Vec<f32>> {
    let slots = batches.iter().map(Batch::end_slot).max().unwrap();
    block_on(backend.reserve(slots, 0)).unwrap();
    batches.iter().map(|batch| block_on(backend.forward(batch, &mut |_| Flow::Continue)).unwrap()).collect()
}

/// Logits of these models are a few units large; f32 sums over a few layers stay within this of f64 sums.
fn assert_close(got: &[Vec<f32>], wanted: &[Vec<f64>]) {
    assert_eq!(got.len(), wanted.len());
    for (batch, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        assert_eq!(got.len(), wanted.len());
        let greatest = wanted.iter().fold(0f64, |greatest, x| greatest.max(x.abs()));
        assert!(
            wanted.is_empty() || greatest > 0.5,
            "logits this small would pass whatever they are: {greatest}"
        );
        for (at, (got, wanted)) in got.iter().zip(wanted).enumerate() {
            let difference = (f64::from(*got) - wanted).abs();
            assert!(difference < 1e-4, "batch {batch}, logit {at}: {got} where {wanted} is right");
        }
    }
}

fn tokens(count: usize, vocabulary: usize, seed: u64) -> Vec<u32> {
    let mut noise = Noise::new(seed);
    (0..count).map(|_| noise.below(vocabulary) as u32).collect()
}

/// A text of `count` tokens cut into batches of `chunk`; the last token's logits are wanted, and the first's.
fn text(count: usize, chunk: usize, vocabulary: usize) -> Vec<Batch> {
    let all = tokens(count, vocabulary, 7);
    let view = View { prefix: 0, trunk_start: 0, trunk_end: 0, own: 0 };
    let mut batches = Vec::new();
    for start in (0..count).step_by(chunk) {
        let end = (start + chunk).min(count);
        let mut outputs = Vec::new();
        if start == 0 {
            outputs.push(0);
        }
        if end == count && end > 1 {
            outputs.push((end - start - 1) as u32);
        }
        batches.push(Batch {
            first_slot: start as u32,
            tokens: all[start..end].to_vec(),
            positions: (start as u32..end as u32).collect(),
            views: vec![view; end - start],
            outputs,
        });
    }
    batches
}

/// A prefix of 40 tokens; two branches of 7 and 9; behind the first, two continuations of 2 tokens that see
/// the prefix, the branch as their trunk, and themselves.
fn branches(vocabulary: usize) -> Vec<Batch> {
    let mut batches = text(40, 40, vocabulary);
    let mut add = |first_slot: u32, parts: &[(u32, u32, View)]| {
        let mut batch = Batch { first_slot, ..Batch::default() };
        for &(len, position, view) in parts {
            let own = first_slot + batch.views.len() as u32;
            batch.positions.extend(position..position + len);
            batch.views.extend(std::iter::repeat_n(View { own, ..view }, len as usize));
            batch.outputs.push(batch.views.len() as u32 - 1);
        }
        batch.tokens = tokens(batch.views.len(), vocabulary, first_slot.into());
        batches.push(batch);
    };
    let alone = View { prefix: 40, trunk_start: 40, trunk_end: 40, own: 0 };
    let behind = View { prefix: 40, trunk_start: 40, trunk_end: 47, own: 0 };
    add(40, &[(7, 40, alone), (9, 40, alone)]);
    add(56, &[(2, 47, behind), (2, 47, behind)]);
    batches
}

#[test]
fn models_of_all_formats_agree_with_the_reference() {
    // Each seed's cycle of formats starts elsewhere, so that every format comes to every place.
    for start in 0..SUPPORTED.len() {
        let mut kinds = SUPPORTED.to_vec();
        kinds.rotate_left(start);
        let tied = start % 2 == 0;
        let model = TinyModel { seed: start as u64, kinds, tied, ..TinyModel::default() };
        let bytes = model.gguf();
        let batches = branches(model.vocabulary);
        assert_close(&forward(&mut load(&bytes), &batches), &reference::logits(&bytes, &batches));
    }
}

#[test]
fn odd_sizes_agree_with_the_reference() {
    // Heads of 6, three query heads to one key/value head; nothing a multiple of 32 (or of 8).
    let model = TinyModel {
        width: 36,
        feed_forward: 83,
        heads: 6,
        vocabulary: 77,
        kinds: vec![TensorType::F16, TensorType::F32, TensorType::Bf16],
        ..TinyModel::default()
    };
    let bytes = model.gguf();
    let batches = branches(model.vocabulary);
    assert_close(&forward(&mut load(&bytes), &batches), &reference::logits(&bytes, &batches));
}

#[test]
fn p49_chunked_is_unchunked() {
    let model = TinyModel::default();
    let bytes = model.gguf();
    let whole = text(150, 150, model.vocabulary);
    let wanted = reference::logits(&bytes, &whole).concat();
    let mut backend = load(&bytes);
    // One by one, in fours (the matrix-vector kernels), in chunks that no tile divides, at once.
    for chunk in [1, 4, 33, 150] {
        let got = forward(&mut backend, &text(150, chunk, model.vocabulary)).concat();
        assert_close(&[got], std::slice::from_ref(&wanted));
    }
}

#[test]
fn growing_the_cache_keeps_what_is_kept() {
    let model = TinyModel::default();
    let bytes = model.gguf();
    let batches = text(300, 200, model.vocabulary);
    let mut backend = load(&bytes);
    block_on(backend.reserve(200, 0)).unwrap();
    let first = block_on(backend.forward(&batches[0], &mut |_| Flow::Continue)).unwrap();
    let outside = block_on(backend.forward(&batches[1], &mut |_| Flow::Continue)).unwrap_err();
    assert_eq!(outside.code(), "compute");
    block_on(backend.reserve(300, 200)).unwrap();
    let second = block_on(backend.forward(&batches[1], &mut |_| Flow::Continue)).unwrap();
    assert_close(&[first, second], &reference::logits(&bytes, &batches));
}

#[test]
fn small_bindings_split_tables_and_logits() {
    let kinds = vec![TensorType::F32];
    let model = TinyModel { kinds, vocabulary: 301, ..TinyModel::default() };
    let bytes = model.gguf();
    let mut gpu = gpu();
    // 40 KiB: 128 of the table's 301 rows of 256 bytes, and 32 rows of logits.
    gpu.limits.max_storage_buffer_binding_size = 40 << 10;
    let mut backend = load_on(gpu, &bytes).unwrap();
    let mut batches = text(70, 70, model.vocabulary);
    batches[0].outputs = (0..70).collect();
    assert_close(&forward(&mut backend, &batches), &reference::logits(&bytes, &batches));
    // And a cache that would not fit a binding is refused.
    assert_eq!(block_on(backend.reserve(400, 0)).unwrap_err().code(), "out_of_memory");
}

#[test]
fn p16_p40_logits_that_are_no_numbers_are_an_error() {
    let model = TinyModel { kinds: vec![TensorType::F32], ..TinyModel::default() };
    let bytes = model.gguf();
    // The last tensor is the last norm.
    let mut broken = bytes.clone();
    let end = broken.len();
    broken[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    let mut backend = load(&broken);
    block_on(backend.reserve(8, 0)).unwrap();
    let error =
        block_on(backend.forward(&text(8, 8, model.vocabulary)[0], &mut |_| Flow::Continue)).unwrap_err();
    assert_eq!(error.code(), "not_finite");
}

#[test]
fn loading_reports_progress_and_can_be_cancelled() {
    let bytes = TinyModel::default().gguf();
    let mut source = MemorySource::new("tiny.gguf", bytes.clone());
    let gguf = Gguf::read(&mut source).unwrap();
    let config = Config::read(&gguf, &mut source).unwrap();
    let mut seen = Vec::new();
    let mut go = |done: u64| {
        seen.push(done);
        Flow::Continue
    };
    block_on(GpuBackend::load(gpu(), &gguf, &config, &mut source, &mut go)).unwrap();
    assert!(seen.is_sorted());
    assert_eq!(seen.last(), Some(&(bytes.len() as u64)));
    let mut calls = 0;
    let mut stop = |_| {
        calls += 1;
        if calls == 3 { Flow::Stop } else { Flow::Continue }
    };
    let result = block_on(GpuBackend::load(gpu(), &gguf, &config, &mut source, &mut stop));
    assert_eq!(result.unwrap_err().code(), "cancelled");
    assert_eq!(calls, 3);
}

#[test]
fn a_tensor_of_another_shape_is_an_error() {
    let mut writer = GgufWriter::new();
    for (key, n) in [("block_count", 1), ("embedding_length", 32), ("feed_forward_length", 32)] {
        writer.entry(&format!("llama.{key}"), Value::Unsigned(n));
    }
    writer
        .entry("general.architecture", Value::Text("llama".into()))
        .entry("llama.attention.head_count", Value::Unsigned(2))
        .entry("llama.context_length", Value::Unsigned(64))
        .entry("llama.attention.layer_norm_rms_epsilon", Value::Float(1e-5))
        .tensor("token_embd.weight", &[32, 8], TensorType::F32, vec![0; 4 * 32 * 8])
        .tensor("blk.0.attn_norm.weight", &[32], TensorType::F32, vec![0; 4 * 32])
        .tensor("blk.0.attn_q.weight", &[32, 31], TensorType::F32, vec![0; 4 * 32 * 31]);
    let error = load_on(gpu(), &writer.finish()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tiny.gguf: tensor \"blk.0.attn_q.weight\": its shape is [32, 31] where [32, 32] is needed; the file \
         does not hold a whole llama model",
    );
}

#[test]
fn p38_a_lost_device_is_an_error() {
    let model = TinyModel { layers: 1, ..TinyModel::default() };
    let mut backend = load(&model.gguf());
    block_on(backend.reserve(8, 0)).unwrap();
    let batch = &text(8, 8, model.vocabulary)[0];
    block_on(backend.forward(batch, &mut |_| Flow::Continue)).unwrap();
    backend.device_loser()();
    assert_eq!(block_on(backend.forward(batch, &mut |_| Flow::Continue)).unwrap_err().code(), "gpu_failed");
    assert_eq!(block_on(backend.reserve(800, 8)).unwrap_err().code(), "gpu_failed");
}

#[test]
fn p42_loading_twenty_times_is_no_trouble() {
    let model = TinyModel { layers: 1, ..TinyModel::default() };
    let bytes = model.gguf();
    let batches = text(20, 20, model.vocabulary);
    let wanted = reference::logits(&bytes, &batches);
    for _ in 0..20 {
        assert_close(&forward(&mut load(&bytes), &batches), &wanted);
    }
}

/// Not a check: writes every expanded shader into the folder named by `RETORT_SHADERS`, to be compiled by
/// other compilers than naga.
#[test]
#[ignore = "writes files for other tools"]
fn write_shaders() {
    let folder =
        std::path::PathBuf::from(std::env::var("RETORT_SHADERS").expect("RETORT_SHADERS names a folder"));
    for (at, kernel) in every_kernel().into_iter().enumerate() {
        let name = format!("{at:03} {}.wgsl", kernel.name());
        std::fs::write(folder.join(name), kernel.wgsl().unwrap()).unwrap();
    }
}

/// The same for a real model, on demand: `RETORT_MODEL` names its file. Needs ten bytes of memory a weight.
#[test]
#[ignore = "needs a model file"]
fn the_named_model_agrees_with_the_reference() {
    let bytes =
        std::fs::read(std::env::var("RETORT_MODEL").expect("RETORT_MODEL names a GGUF file")).unwrap();
    let batches = text(21, 17, 40_000);
    let got = forward(&mut load(&bytes), &batches);
    let wanted = reference::logits(&bytes, &batches);
    let differences = got.iter().flatten().zip(wanted.iter().flatten());
    let greatest = differences.map(|(got, wanted)| (f64::from(*got) - wanted).abs()).fold(0.0, f64::max);
    eprintln!("greatest difference of {} logits: {greatest}", got.concat().len());
    // Thirty layers of f32 sums, logits up to some 20.
    assert!(greatest < 2e-3);
}
