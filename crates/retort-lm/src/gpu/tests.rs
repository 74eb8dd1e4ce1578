//! Tests of the kernels and of whole models. Those that need an adapter fail where there is none, and say how
//! to get one.

use std::collections::BTreeMap;

use pollster::block_on;
use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, TestRunner};

use super::check::{self, Case, Noise, TOLERANCE, tolerance};
use super::device::Gpu;
use super::faults::{Kind, live_buffers};
use super::layout::{GROUP, Layout, Packed, repack};
use super::run::{Sight, embed_parameters};
use super::shader::{Kernel, Product, Role, Shape, Tile};
use super::tuning::Tuning;
use super::*;
use crate::backend::{Backend, Batch, StateSum, Step, View};
use crate::config::Config;
use crate::gguf::{Gguf, GgufWriter, Value};
use crate::quant::{SUPPORTED, TensorType};
use crate::reference::{self, ReferenceStep};
use crate::tiny::{self, AdapterShape};
use crate::{Adapter, Flow, LmError, MemorySource};

/// Tokens of the tiny model's vocabulary: bytes, merges and special tokens.
const VOCABULARY: usize = 267;

fn gpu() -> Gpu {
    block_on(GpuBackend::open())
        .expect("these tests need a GPU adapter; without a GPU install Mesa's lavapipe (mesa-vulkan-drivers)")
}

fn differs(gpu: &Gpu, case: &Case, fault: &Case) -> Result<(), String> {
    let got = block_on(check::run(gpu, fault)).map_err(|error| error.to_string())?;
    check::compare(&got, &twin::run(case.kernel, &case.parameters, &case.bindings), tolerance(case.kernel))
}

/// Gives random problems to the device and to the twin.
fn agree<S: Strategy>(strategy: S, case: impl Fn(S::Value, &mut Noise) -> Case) {
    let gpu = gpu();
    // Few, since most are a shader of their own, which takes a tenth of a second to compile.
    let mut runner = TestRunner::new(Runs { cases: 16, failure_persistence: None, ..Runs::default() });
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

fn vector(rows: usize, subgroups: bool) -> Shape {
    Shape::Vector { rows, subgroups }
}

/// Every shape of product, or those that a device can run.
fn shapes(half: bool, subgroups: bool, dots: bool) -> Vec<Shape> {
    let mut all: Vec<Shape> = Tile::ALL.map(Shape::Tile).to_vec();
    all.extend([vector(1, false), vector(4, false)]);
    if half {
        all.extend(Tile::ALL.map(|tile| Shape::Tile(tile.with_half(true))));
    }
    if subgroups {
        all.extend([vector(1, true), vector(4, true)]);
    }
    if dots {
        all.extend(Tile::ALL.map(Shape::Dots));
    }
    all
}

/// Every kernel in every shape.
fn every_kernel() -> Vec<Kernel> {
    let mut kernels = check::other_kernels();
    // Heads of 4 to 512 components: one chunk, whole and broken; many chunks.
    kernels.extend([1, 5, 16, 17, 32, 64, 128].map(|head4| Kernel::Attention { head4 }));
    kernels.extend(check::all_products(&shapes(true, true, true)));
    kernels
}

#[test]
fn every_shader_is_valid() {
    for kernel in every_kernel() {
        let wgsl = kernel.wgsl().unwrap();
        let module = naga::front::wgsl::parse_str(&wgsl)
            .unwrap_or_else(|error| panic!("{}: {}", kernel.name(), error.emit_to_string(&wgsl)));
        // No capability beyond WebGPU's core, which unpacks f16 from words: f16 and subgroups only in the variants
        // that say so (P37).
        let mut capabilities = naga::valid::Capabilities::SHADER_FLOAT16_IN_FLOAT32;
        if kernel.needs_half() {
            capabilities |= naga::valid::Capabilities::SHADER_FLOAT16;
        }
        let subgroups =
            matches!(kernel, Kernel::Product(Product { shape: Shape::Vector { subgroups: true, .. }, .. }));
        if subgroups {
            capabilities |= naga::valid::Capabilities::SUBGROUP;
        }
        // And packed dot products, which not every browser's language has.
        let has_dots = matches!(kernel, Kernel::Product(Product { shape: Shape::Dots(_), .. }));
        assert_eq!(wgsl.contains("dot4I8Packed"), has_dots, "{}", kernel.name());
        let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities);
        validator
            .subgroup_stages(naga::valid::ShaderStages::COMPUTE)
            .subgroup_operations(naga::valid::SubgroupOperationSet::all());
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
    let gpu = gpu();
    let shapes = shapes(gpu.has_half(), gpu.has_subgroups(), gpu.has_dots);
    for role in Role::ALL {
        let shape = prop::sample::select(shapes.clone());
        let strategy = (layouts(), shape, any::<[bool; 2]>(), [1usize..150, 1usize..150, 1usize..200]);
        agree(strategy, |(layout, shape, [bias, adapter], [rows, columns, width]), noise| {
            let is_dots = matches!(shape, Shape::Dots(_));
            let layout = if is_dots && !layout.has_scales() { Layout::FourBits } else { layout };
            let rows = match shape {
                Shape::Vector { rows: most, .. } => 1 + rows % most,
                Shape::Tile(_) | Shape::Dots(_) => rows,
            };
            let bias = bias && role.may_have_bias();
            let adapter = adapter && role != Role::Output && !is_dots;
            let product = Product { role, layout, shape, bias, adapter };
            check::product_case(product, [rows, columns, width], noise)
        });
    }
}

#[test]
fn packed_dot_products_agree_with_their_twins() {
    let layout = prop::sample::select(vec![Layout::FourBits, Layout::EightBits, Layout::EightBitsBy16]);
    let tile = prop::sample::select(Tile::ALL.to_vec());
    let role = prop::sample::select(Role::ALL.to_vec());
    let strategy = (layout, tile, role, any::<bool>(), [1usize..150, 1usize..150, 1usize..400]);
    agree(strategy, |(layout, tile, role, bias, sizes), noise| {
        let bias = bias && role.may_have_bias();
        let product = Product { role, layout, shape: Shape::Dots(tile), bias, adapter: false };
        check::product_case(product, sizes, noise)
    });
}

#[test]
fn whole_numbers_agree_with_their_twins() {
    let variants = prop::sample::select(vec![[false, false], [true, false], [true, true]]);
    agree((variants, 1usize..20, 1usize..700), |(variant, rows, width), noise| {
        check::quantize_case(variant, rows, width, noise)
    });
}

/// Infinity among 32 numbers makes them all no numbers, so that the logits are none either; numbers whose inverse
/// would be infinite are zeros.
#[test]
fn whole_numbers_of_what_is_not_finite_or_tiny() {
    let gpu = gpu();
    let mut case = check::quantize_case([false, false], 2, 96, &mut Noise::new(5));
    let input = case.bindings.get_mut(&3).unwrap();
    input[40] = f32::NEG_INFINITY.to_bits();
    input[96 + 70] = f32::NAN.to_bits();
    input[96..128].fill(1e-38f32.to_bits());
    // Each group is 32 numbers and two zeros.
    let got = &block_on(check::run(&gpu, &case)).unwrap()[&4];
    for (group, numbers) in got.chunks_exact(34).enumerate() {
        match group {
            1 | 5 => assert!(numbers[..32].iter().all(|x| x.is_nan()), "{numbers:?}"),
            3 => assert_eq!(numbers, [0.0; 34]),
            _ => assert!(numbers.iter().all(|x| x.is_finite()) && numbers[0] != 0.0, "{numbers:?}"),
        }
    }
}

#[test]
fn rotary_agrees_with_its_twin() {
    let shapes = (any::<[bool; 2]>(), [1usize..20, 1usize..4, 1usize..4, 1usize..150], any::<u8>());
    agree(shapes, |(variant, [rows, kv_heads, group, head_size], turned), noise| {
        let turned = usize::from(turned) % (head_size / 2 + 1) * 2;
        check::rotary_case(variant, [rows, kv_heads * group, kv_heads, head_size, turned], noise)
    });
}

#[test]
fn attention_agrees_with_its_twin() {
    // Few head sizes, since each is a shader of its own.
    let heads = prop::sample::select(vec![4, 15, 16, 64, 66, 128]);
    let shapes = (
        heads,
        [1usize..4, 1usize..5],
        [0usize..100, 0usize..40, 1usize..70, 1usize..40],
        prop::sample::select(vec![1, 2, 5, 33, 64, 100, usize::MAX]),
        prop::sample::select(vec![0.0, 2.0, 50.0]),
    );
    agree(shapes, |(head_size, [kv_heads, group], [prefix, trunk, rows, branch], reach, cap), noise| {
        let batch = check::tree(prefix, trunk, rows, branch);
        check::attention_case([kv_heads, group, head_size], &batch, reach, cap, noise)
    });
}

#[test]
fn norms_and_sums_agree_with_their_twins() {
    agree([1usize..20, 1usize..400], |[rows, width], noise| check::add_normed_case(rows, width, noise));
    agree([1usize..80, 1usize..200, 1usize..9], |[rows, width, count], noise| {
        check::sum_case(rows, width, count, noise)
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
    let mut kernels = check::other_kernels();
    kernels.extend([5, 16, 32].map(|head4| Kernel::Attention { head4 }));
    // Not every pair of what may be added with every shape: each once.
    let floats = shapes(gpu.has_half(), gpu.has_subgroups(), false);
    let dots = if gpu.has_dots { Tile::ALL.map(Shape::Dots).to_vec() } else { Vec::new() };
    kernels.extend(check::all_products(&floats).into_iter().step_by(13));
    kernels.extend(check::all_products(&dots).into_iter().step_by(7));
    for kernel in kernels {
        let case = check::standard_case(kernel);
        assert_eq!(differs(&gpu, &case, &case), Ok(()), "{}", kernel.name());
        // A sign, an exponent, a nibble, the end of a range, a position in a list.
        const SIGN: u32 = 0x8000_0000;
        let faults = match kernel {
            Kernel::Embed(layout) if layout.has_scales() => vec![(1, 70, 0x50), (2, 10, 0x8000), (3, 5, 1)],
            Kernel::Embed(_) => vec![(1, 70, SIGN), (3, 5, 1)],
            Kernel::Product(Product { shape: Shape::Dots(_), role, bias, .. }) => {
                // The second highest bit of a high digit and the highest of a low one, a scale, sums of sixteen;
                // a nibble, and a scale of weights.
                let mut faults = vec![(3, 7, 0x2000_0000), (3, 15, 0x4040_4040), (3, 16, SIGN)];
                faults.extend([(3, 17, 0x8000), (3, 18, 0x8000), (1, 70, 0x50), (2, 3, SIGN)]);
                if role == Role::Residual {
                    faults.push((4, 3, SIGN));
                }
                if bias {
                    faults.push((7, 4, SIGN));
                }
                faults
            }
            Kernel::Quantize { norm, picked } => {
                let first_row = if picked { case.bindings[&6][0] } else { 0 };
                let mut faults = vec![(3, (first_row * 4 * case.parameters[1]) as usize + 7, SIGN)];
                if norm {
                    faults.push((5, 9, SIGN));
                }
                if picked {
                    faults.push((6, 0, 1));
                }
                faults
            }
            Kernel::Product(Product { role, layout, bias, adapter, .. }) => {
                let first_row = if role == Role::Output { case.bindings[&6][0] } else { 0 };
                let mut faults = vec![(3, (first_row * 4 * case.parameters[3]) as usize + 7, SIGN)];
                // A nibble; with operands in f16 the highest bits of a word's weights, since less may be rounding.
                let quant = if kernel.needs_half() { 0x8888_8888 } else { 0x50 };
                faults.push((1, 70, if layout.has_scales() { quant } else { SIGN }));
                if layout.has_scales() {
                    faults.push((2, 3, SIGN));
                }
                if role.has_norm() {
                    faults.push((5, 9, SIGN));
                }
                match role {
                    Role::Residual => faults.push((4, 3, SIGN)),
                    Role::Output => faults.push((6, 0, 1)),
                    _ => {}
                }
                if bias {
                    faults.push((7, 4, SIGN));
                }
                if adapter {
                    // Row 0 of the first half; weight row 1 (row 4 of the second).
                    faults.extend([(8, 5, SIGN), (9, 4 * 12 + 7, SIGN)]);
                }
                faults
            }
            Kernel::Rotary { norms, .. } => {
                let mut faults = vec![(1, 40, SIGN), (2, 3, SIGN)];
                if norms {
                    faults.extend([(6, 4, SIGN), (6, 20, SIGN)]);
                }
                faults
            }
            // View of row 3: where its window begins in the prefix; where its own branch does.
            Kernel::Attention { .. } => vec![(4, 24, 1), (4, 28, 1), (6, 0, 1)],
            Kernel::AddNormed => vec![(1, 40, SIGN), (2, 3, SIGN), (3, 8, SIGN)],
            Kernel::Sum => {
                // The first row of a wanted sum that has rows; how many it has; where it goes.
                let sums: Vec<&[u32]> = case.bindings[&2].chunks(4).collect();
                let at = (case.parameters[0] as usize..sums.len()).find(|&at| sums[at][1] > 0).unwrap();
                let row = sums[at][0] * case.parameters[2];
                vec![(1, row as usize + 20, SIGN), (2, 4 * at + 1, 1), (2, 4 * at + 2, 1)]
            }
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
    let compare = |got: &BTreeMap<u32, Vec<f32>>| check::compare(got, &wanted, TOLERANCE);
    assert!(compare(&BTreeMap::from([(4, vec![0.0, f32::NAN])])).is_err());
    assert!(compare(&BTreeMap::from([(4, vec![0.0, 1.0 + 3.0 * TOLERANCE])])).is_err());
    assert!(compare(&BTreeMap::from([(4, vec![0.0])])).is_err());
    assert!(compare(&BTreeMap::new()).is_err());
    assert!(compare(&wanted.clone()).is_ok());
}

/// Random blocks of a format, with finite scales small enough that eight times them is an f16 too.
fn blocks(kind: TensorType, count: usize, seed: u64) -> Vec<u8> {
    let mut noise = Noise::new(seed);
    let mut bytes = Vec::new();
    for _ in 0..count {
        let start = bytes.len();
        bytes.extend((0..kind.block_bytes()).map(|_| noise.word() as u8));
        // The high bytes of all f16 scales and minima; of F32 and BF16 themselves.
        let (places, mask) = match kind {
            TensorType::F32 => (vec![3], 0xbf),
            TensorType::Q4_1 | TensorType::Q5_1 => (vec![1, 3], 0xbf),
            // Below 2⁻³, since they are multiplied by up to 127.
            TensorType::Q4K | TensorType::Q5K => (vec![1, 3], 0xaf),
            TensorType::Q2K => (vec![81, 83], 0xaf),
            TensorType::Q3K => (vec![109], 0xaf),
            TensorType::Q6K => (vec![209], 0xaf),
            _ => (vec![1], 0xbf),
        };
        for at in places {
            bytes[start + at] &= mask;
        }
    }
    bytes
}

/// What the kernels unpack equals, bit for bit, what the formats mean; of K-quants, whose scales are products of
/// two numbers, within half a step of f16 (2⁻¹¹, or 2⁻²⁵ below its normal range) of scale and of minimum.
#[test]
fn repacking_loses_nothing_but_the_last_bits_of_products_of_scales() {
    proptest!(Runs { failure_persistence: None, ..Runs::default() },
        |(kind in prop::sample::select(SUPPORTED.to_vec()), rows in 1usize..9, width in 1usize..100,
          also in layouts(), seed in any::<u64>())| {
        let width = width.next_multiple_of(kind.block_weights());
        let bytes = blocks(kind, rows * width / kind.block_weights(), seed);
        let mut meant = vec![0f32; rows * width];
        kind.dequantize(&bytes, &mut meant);
        let mut allowed = vec![0f32; rows * width];
        if kind.block_weights() == 256 {
            for (block, allowed) in bytes.chunks_exact(kind.block_bytes()).zip(allowed.chunks_exact_mut(256)) {
                let (mut quants, mut scales) = ([0; 256], [(0.0, 0.0); 16]);
                let group = kind.group_weights();
                kind.unpack(block, &mut quants[..kind.block_weights()], &mut scales);
                for (at, allowed) in allowed.iter_mut().enumerate() {
                    let (scale, minimum) = scales[at / group];
                    let q = f32::from(if kind.is_symmetric() {
                        quants[at].cast_signed().unsigned_abs()
                    } else {
                        quants[at]
                    });
                    *allowed = (scale.abs() * q + minimum.abs()) / 2048.0 + (q + 1.0) * 0.5f32.powi(25);
                }
            }
        }
        // As it lies alone, and as it lies beside a tensor of another layout.
        for layout in [Layout::of(kind), Layout::of(kind).common(also)] {
            let mut packed = Packed::default();
            repack(kind, layout, width, &bytes, &mut packed).unwrap();
            let padded = width.next_multiple_of(GROUP);
            prop_assert_eq!(packed.weights.len(), rows * padded / GROUP * layout.group_words());
            prop_assert_eq!(packed.scales.len(), rows * padded / GROUP * layout.group_scales());
            let bindings = BTreeMap::from([
                (1, packed.weights),
                (2, packed.scales),
                (3, (0..rows as u32).collect()),
                (4, vec![0; rows * padded]),
            ]);
            let parameters = embed_parameters(rows, padded, 0, rows, 1.0);
            let unpacked = twin::run(Kernel::Embed(layout), &parameters, &bindings);
            let meant = meant.chunks(width).zip(allowed.chunks(width));
            for (unpacked, (meant, allowed)) in unpacked[&4].chunks(padded).zip(meant) {
                for ((unpacked, meant), allowed) in unpacked.iter().zip(meant).zip(allowed) {
                    // Floats lie as they are, and so does what is unpacked from exact scales.
                    let allowed = if layout.has_scales() { *allowed } else { 0.0 };
                    prop_assert!((unpacked - meant).abs() <= allowed, "{unpacked} {meant} {kind:?} {layout:?}");
                }
                prop_assert!(unpacked[width..].iter().all(|x| *x == 0.0));
            }
        }
    });
}

#[test]
fn layouts_are_as_narrow_as_they_can_be() {
    use TensorType::{Bf16, F16, F32, Q2K, Q3K, Q4_0, Q4_1, Q4K, Q5_0, Q5_1, Q5K, Q6K, Q8_0};
    for (kinds, layout) in [
        (vec![Q4_0, Q4_1, Q4K], Layout::FourBits),
        (vec![Q8_0, Q5_0, Q5_1, Q5K], Layout::EightBits),
        (vec![Q6K, Q3K, Q2K], Layout::EightBitsBy16),
        (vec![F16], Layout::Halves),
        (vec![F32, Bf16], Layout::Singles),
    ] {
        assert!(kinds.into_iter().all(|kind| Layout::of(kind) == layout));
    }
    // As in files of mixed quality: queries in 4 bits, values in 6.
    assert_eq!(Layout::FourBits.common(Layout::EightBitsBy16), Layout::EightBitsBy16);
    assert_eq!(Layout::EightBits.common(Layout::FourBits), Layout::EightBits);
    assert_eq!(Layout::Halves.common(Layout::FourBits), Layout::Singles);
}

#[test]
fn a_q4_0_scale_without_a_minimum_is_an_error() {
    // 16384 × −8 is beyond f16.
    let mut block = half::f16::from_f32(16384.0).to_le_bytes().to_vec();
    block.extend([0; 16]);
    let result = repack(TensorType::Q4_0, Layout::FourBits, 32, &block, &mut Packed::default());
    assert_eq!(result, Err("a scale of 16384 in a Q4_0 block".to_owned()));
    // Among 8-bit weights it needs no minimum.
    assert_eq!(repack(TensorType::Q4_0, Layout::EightBits, 32, &block, &mut Packed::default()), Ok(()));
    // 4096 × 63 is beyond f16 in a K-quant.
    let mut block = half::f16::from_f32(4096.0).to_le_bytes().to_vec();
    block.extend([255; 142]);
    let result = repack(TensorType::Q4K, Layout::FourBits, 256, &block, &mut Packed::default());
    assert_eq!(result, Err("a scale of 258048 in a Q4_K block".to_owned()));
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
        ..Batch::default()
    };
    // Slots 0 to 39 lie in tiles 0 and 1, slots 100 to 105 in tile 3.
    let sight = Sight::new(&batch, 1, usize::MAX);
    assert_eq!((sight.blocks, sight.tiles), (vec![[0, 3]], vec![0, 1, 3]));
    assert_eq!(sight.views[4], [0, 40, 40, 40, 103, 105, 0, 0]);
    // Twelve heads a row: 72 lines, three blocks.
    assert_eq!(Sight::new(&batch, 12, usize::MAX).blocks, [[0, 3], [3, 3], [6, 3]]);
    // Five tokens back, by place on the path: the last four of the prefix for a branch's first token.
    let near = Sight::new(&batch, 1, 5);
    assert_eq!(near.views[3], [36, 40, 40, 40, 103, 104, 0, 0]);
    assert_eq!(near.views[5], [38, 40, 40, 40, 103, 106, 0, 0]);
    assert_eq!((near.blocks, near.tiles), (vec![[0, 2]], vec![1, 3]));
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

fn load_error(gpu: Gpu, bytes: &[u8]) -> LmError {
    load_on(gpu, bytes).expect_err("loading fails")
}

fn load(bytes: &[u8]) -> GpuBackend {
    load_on(gpu(), bytes).unwrap()
}

fn forward(backend: &mut GpuBackend, batches: &[Batch]) -> Vec<Step> {
    let slots = batches.iter().map(Batch::end_slot).max().unwrap();
    block_on(backend.reserve(slots, 0)).unwrap();
    batches.iter().map(|batch| step(backend, batch).unwrap()).collect()
}

fn step(backend: &mut GpuBackend, batch: &Batch) -> Result<Step, LmError> {
    block_on(backend.forward(batch, &mut |_| Flow::Continue))
}

fn read_adapter(base: &[u8], adapter: Vec<u8>) -> Adapter {
    let mut source = MemorySource::new("tiny.gguf", base.to_vec());
    let gguf = Gguf::read(&mut source).unwrap();
    let config = Config::read(&gguf, &mut source).unwrap();
    Adapter::read(&mut MemorySource::new("adapter.gguf", adapter), &config).unwrap()
}

/// Logits of these models are a few units large; f32 sums over a few layers stay within this of f64 sums.
const CLOSE: f64 = 1e-4;
/// K-quants have scales rounded to f16: some 3e-4 of a weight, at random, so that sums of hundreds of products differ
/// by about as much of themselves, layer by layer. What the kernels make of the rounded weights is held to
/// [`CLOSE`] besides.
const CLOSE_K: f64 = 5e-2;

/// The same file with K-quants as the f32 numbers that the GPU makes of them.
fn as_held(bytes: &[u8]) -> Vec<u8> {
    let mut source = MemorySource::new("tiny.gguf", bytes.to_vec());
    let gguf = Gguf::read(&mut source).unwrap();
    let mut file = GgufWriter::new();
    for (key, value) in gguf.entries() {
        file.entry(key, value.clone());
    }
    for tensor in gguf.tensors() {
        let mut blocks = Vec::new();
        let kind = gguf.read_tensor(&mut source, &tensor.name, &tensor.shape, &mut blocks).unwrap();
        if kind.block_weights() != 256 {
            file.tensor(&tensor.name, &tensor.shape, kind, blocks);
            continue;
        }
        let [width, rows] = tensor.shape[..] else { panic!("a matrix") };
        // Tensors that make one matrix have one layout.
        let groups = [vec!["attn_q.", "attn_k.", "attn_v."], vec!["ffn_gate.", "ffn_up."]];
        let group = groups.iter().find_map(|group| {
            let part = group.iter().find(|part| tensor.name.contains(**part))?;
            Some(group.iter().map(|other| tensor.name.replace(part, other)).collect())
        });
        let group: Vec<String> = group.unwrap_or_else(|| vec![tensor.name.clone()]);
        let kinds = group.iter().map(|name| TensorType::from_id(gguf.tensor(name).unwrap().type_id).unwrap());
        let layout = kinds.map(Layout::of).reduce(Layout::common).unwrap();
        let mut packed = Packed::default();
        repack(kind, layout, width, &blocks, &mut packed).unwrap();
        let bindings = BTreeMap::from([
            (1, packed.weights),
            (2, packed.scales),
            (3, (0..rows as u32).collect()),
            (4, vec![0; rows * width]),
        ]);
        let parameters = embed_parameters(rows, width, 0, rows, 1.0);
        let values = &twin::run(Kernel::Embed(layout), &parameters, &bindings)[&4];
        let values = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        file.tensor(&tensor.name, &tensor.shape, TensorType::F32, values);
    }
    file.finish()
}

fn assert_close(got: &[Step], wanted: &[ReferenceStep], tolerance: f64) {
    assert_eq!(got.len(), wanted.len());
    for (batch, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        for (what, got, wanted) in
            [("logit", &got.logits, &wanted.logits), ("state", &got.states, &wanted.states)]
        {
            assert_eq!(got.len(), wanted.len());
            let greatest = wanted.iter().fold(0f64, |greatest, x| greatest.max(x.abs()));
            assert!(
                wanted.is_empty() || greatest > 0.5,
                "numbers this small would pass whatever they are: {greatest}"
            );
            // Sums of states grow with their rows.
            let tolerance = tolerance * f64::max(1.0, greatest / 10.0);
            for (at, (got, wanted)) in got.iter().zip(wanted).enumerate() {
                let difference = (f64::from(*got) - wanted).abs();
                assert!(
                    difference < tolerance,
                    "batch {batch}, {what} {at}: {got} where {wanted} is right (greatest {greatest})"
                );
            }
        }
    }
}

fn tokens(count: usize, vocabulary: usize, seed: u64) -> Vec<u32> {
    let mut noise = Noise::new(seed);
    (0..count).map(|_| noise.below(vocabulary) as u32).collect()
}

/// A text of `count` tokens cut into batches of `chunk`. Logits of the first token and of the last are wanted, and
/// sums of states over all tokens, over some, over one and over none.
fn text(count: usize, chunk: usize, layers: usize) -> Vec<Batch> {
    let mut all = Batch::linear(&tokens(count, VOCABULARY, 7), 0);
    let last = count as u32 - 1;
    all.outputs = if last == 0 { vec![0] } else { vec![0, last] };
    let sum = |layer, first_row, rows| StateSum { layer, first_row, rows };
    all.states = vec![
        sum(layers, last, 1),
        sum(0, 0, count as u32),
        sum(layers / 2, last / 3, last - last / 3),
        sum(layers, 0, count as u32),
        sum(0, 0, 0),
        sum(layers, last / 3, 1),
    ];
    (0..count).step_by(chunk).map(|start| all.part(start..(start + chunk).min(count))).collect()
}

/// A prefix of 40 tokens; two branches of 7 and 9; behind the first, two continuations of 2 tokens that see
/// the prefix, the branch as their trunk, and themselves.
fn branches(layers: usize) -> Vec<Batch> {
    let mut batches = text(40, 40, layers);
    let mut add = |first_slot: u32, parts: &[(u32, u32, View)]| {
        let mut batch = Batch { first_slot, ..Batch::default() };
        for &(len, position, view) in parts {
            let own = first_slot + batch.views.len() as u32;
            let first_row = batch.views.len() as u32;
            batch.states.push(StateSum { layer: layers, first_row, rows: len });
            batch.positions.extend(position..position + len);
            batch.views.extend(std::iter::repeat_n(View { own, ..view }, len as usize));
            batch.outputs.push(batch.views.len() as u32 - 1);
        }
        batch.tokens = tokens(batch.views.len(), VOCABULARY, first_slot.into());
        batches.push(batch);
    };
    let alone = View { prefix: 40, trunk_start: 40, trunk_end: 40, own: 0 };
    let behind = View { prefix: 40, trunk_start: 40, trunk_end: 47, own: 0 };
    add(40, &[(7, 40, alone), (9, 40, alone)]);
    add(56, &[(2, 47, behind), (2, 47, behind)]);
    batches
}

/// Every architecture in the shapes that are particular to it.
fn architectures() -> Vec<tiny::Shape> {
    let base = tiny::Shape { kind: Some(TensorType::Q8_0), layers: 3, ..tiny::Shape::default() };
    let gemma2 = tiny::Shape { architecture: "gemma2", caps: (2.0, 3.0), window: 5, layers: 4, ..base };
    // Two layers of each kind: layers 6 and 12 see everything.
    let gemma3 = tiny::Shape { architecture: "gemma3", window: 11, layers: 7, ..base };
    let phi3 = tiny::Shape {
        architecture: "phi3",
        rotary_factors: true,
        rotary_scale: 1.19,
        original_context: 4096,
        ..base
    };
    vec![
        base,
        tiny::Shape { biases: true, untied: true, ..base },
        tiny::Shape { rotary_factors: true, rotary_divisor: 4.0, ..base },
        tiny::Shape { heads: 3, kv_heads: 1, head_size: Some(20), ..base },
        tiny::Shape { architecture: "qwen2", biases: true, ..base },
        tiny::Shape { architecture: "qwen2", head_size: Some(64), ..base },
        tiny::Shape { architecture: "qwen3", ..base },
        tiny::Shape { architecture: "qwen3", head_size: Some(80), heads: 4, kv_heads: 4, ..base },
        gemma2,
        // A window of a few tokens, and of more than there are.
        tiny::Shape { window: 1, ..gemma2 },
        tiny::Shape { window: 1000, caps: (0.0, 0.0), ..gemma2 },
        tiny::Shape { window: 0, caps: (50.0, 0.0), ..gemma2 },
        gemma3,
        tiny::Shape { head_size: Some(48), heads: 4, kv_heads: 1, window: 40, ..gemma3 },
        phi3,
        // Heads as Phi-3.5's, each with its own keys and values, and a feed-forward block that is no whole tile.
        tiny::Shape { head_size: Some(96), heads: 2, kv_heads: 2, feed_forward: 160, ..phi3 },
        tiny::Shape { architecture: "phi3", window: 9, untied: true, ..base },
    ]
}

#[test]
fn every_architecture_agrees_with_the_reference() {
    for (seed, shape) in architectures().into_iter().enumerate() {
        let bytes = tiny::gguf(shape, seed as u64);
        let batches = branches(shape.layers);
        eprintln!("{shape:?}");
        let wanted = reference::run(&bytes, None, &batches).unwrap();
        assert_close(&forward(&mut load(&bytes), &batches), &wanted, CLOSE);
    }
}

#[test]
fn models_of_all_formats_agree_with_the_reference() {
    // The turn of formats starts elsewhere each time, so that every format comes to every place. Rows of 256, which
    // K-quants need.
    for first_kind in 0..SUPPORTED.len() {
        let shape = tiny::Shape {
            width: 256,
            feed_forward: 256,
            layers: 2,
            untied: first_kind % 2 == 1,
            first_kind,
            ..tiny::Shape::default()
        };
        let bytes = tiny::gguf(shape, first_kind as u64);
        let batches = branches(shape.layers);
        let got = forward(&mut load(&bytes), &batches);
        assert_close(&got, &reference::run(&as_held(&bytes), None, &batches).unwrap(), CLOSE);
        assert_close(&got, &reference::run(&bytes, None, &batches).unwrap(), CLOSE_K);
    }
}

#[test]
fn models_of_one_format_agree_with_the_reference() {
    for kind in SUPPORTED {
        let is_k_quant = kind.block_weights() == 256;
        let width = if is_k_quant { 256 } else { 64 };
        let shape = tiny::Shape { width, feed_forward: width, kind: Some(kind), ..tiny::Shape::default() };
        let bytes = tiny::gguf(shape, 5);
        let batches = branches(shape.layers);
        let got = forward(&mut load(&bytes), &batches);
        assert_close(&got, &reference::run(&as_held(&bytes), None, &batches).unwrap(), CLOSE);
        assert_close(&got, &reference::run(&bytes, None, &batches).unwrap(), CLOSE_K);
    }
}

#[test]
fn odd_sizes_agree_with_the_reference() {
    // Heads of 6, three query heads to one key/value head; nothing a multiple of 32 (or of 8).
    for kind in [TensorType::F16, TensorType::F32, TensorType::Bf16] {
        let shape =
            tiny::Shape { width: 36, feed_forward: 83, heads: 6, kind: Some(kind), ..tiny::Shape::default() };
        let bytes = tiny::gguf(shape, 3);
        let batches = branches(shape.layers);
        let wanted = reference::run(&bytes, None, &batches).unwrap();
        assert_close(&forward(&mut load(&bytes), &batches), &wanted, CLOSE);
    }
}

#[test]
fn adapters_agree_with_the_reference_and_leave_no_trace() {
    let targets: [&'static [&'static str]; 4] =
        [AdapterShape::default().targets, &["attn_q", "attn_v"], &["ffn_up"], &["attn_output", "ffn_down"]];
    let base = tiny::Shape { kind: Some(TensorType::Q4_1), ..tiny::Shape::default() };
    let shapes = [
        base,
        // Nothing a multiple of 8, and biases beside the adapter.
        tiny::Shape {
            width: 36,
            feed_forward: 83,
            heads: 6,
            kind: Some(TensorType::F16),
            biases: true,
            ..base
        },
        tiny::Shape { architecture: "gemma3", window: 9, ..base },
        tiny::Shape { architecture: "phi3", ..base },
    ];
    for shape in shapes {
        let bytes = tiny::gguf(shape, 1);
        let batches = branches(shape.layers);
        let mut backend = load(&bytes);
        let without = forward(&mut backend, &batches);
        let wanted_without = reference::run(&bytes, None, &batches).unwrap();
        for (seed, targets) in targets.into_iter().enumerate() {
            // Ranks that are no multiple of 4, too.
            let adapter = AdapterShape { rank: 3 + 2 * seed, targets, ..AdapterShape::default() };
            let adapter = read_adapter(&bytes, tiny::adapter_gguf(shape, adapter, 9 + seed as u64));
            let wanted = reference::run(&bytes, Some(&adapter), &batches).unwrap();
            let change = wanted[0].logits.iter().zip(&wanted_without[0].logits);
            let change = change.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(change > 0.1, "an adapter that changes nothing proves nothing: {change}");
            block_on(backend.set_adapter(Some(&adapter))).unwrap();
            assert_close(&forward(&mut backend, &batches), &wanted, CLOSE);
            // Weaker, in place of the one before.
            let adapter = adapter.with_strength(0.3).unwrap();
            block_on(backend.set_adapter(Some(&adapter))).unwrap();
            let wanted = reference::run(&bytes, Some(&adapter), &batches).unwrap();
            assert_close(&forward(&mut backend, &batches), &wanted, CLOSE);
        }
        let with_adapter = live_buffers();
        block_on(backend.set_adapter(None)).unwrap();
        assert!(live_buffers() < with_adapter);
        assert_eq!(forward(&mut backend, &batches), without);
    }
}

#[test]
fn small_batches_of_adapters_agree_with_the_reference() {
    // One row and a few: the matrix-vector kernels.
    let shape = tiny::Shape::default();
    let bytes = tiny::gguf(shape, 1);
    let adapter = read_adapter(&bytes, tiny::adapter_gguf(shape, AdapterShape::default(), 9));
    let mut backend = load(&bytes);
    block_on(backend.set_adapter(Some(&adapter))).unwrap();
    for chunk in [1, 3] {
        let batches = text(12, chunk, shape.layers);
        let wanted = reference::run(&bytes, Some(&adapter), &batches).unwrap();
        assert_close(&forward(&mut backend, &batches), &wanted, CLOSE);
    }
}

/// Sums the states of a text's parts, and puts its logits in a row.
fn whole(steps: &[Step]) -> Step {
    let mut all = steps[0].clone();
    for step in &steps[1..] {
        all.logits.extend(&step.logits);
        all.states.iter_mut().zip(&step.states).for_each(|(sum, more)| *sum += more);
    }
    all
}

#[test]
fn p49_chunked_is_unchunked() {
    let window =
        tiny::Shape { architecture: "gemma2", window: 17, caps: (2.0, 0.0), ..tiny::Shape::default() };
    for shape in [tiny::Shape::default(), window] {
        let bytes = tiny::gguf(shape, 0);
        let wanted = reference::run(&bytes, None, &text(150, 150, shape.layers)).unwrap();
        let mut backend = load(&bytes);
        // One by one, in fours (the matrix-vector kernels), in chunks that no tile divides, at once.
        for chunk in [1, 4, 33, 150] {
            let got = whole(&forward(&mut backend, &text(150, chunk, shape.layers)));
            assert_close(&[got], &wanted, CLOSE);
        }
    }
}

#[test]
fn growing_the_cache_keeps_what_is_kept() {
    let shape = tiny::Shape::default();
    let bytes = tiny::gguf(shape, 0);
    let batches = text(300, 200, shape.layers);
    let mut backend = load(&bytes);
    block_on(backend.reserve(200, 0)).unwrap();
    let first = step(&mut backend, &batches[0]).unwrap();
    let outside = step(&mut backend, &batches[1]).unwrap_err();
    assert_eq!(outside.code(), "compute");
    block_on(backend.reserve(300, 200)).unwrap();
    let second = step(&mut backend, &batches[1]).unwrap();
    assert_close(&[first, second], &reference::run(&bytes, None, &batches).unwrap(), CLOSE);
}

#[test]
fn small_bindings_split_tables_and_logits() {
    let shape = tiny::Shape { kind: Some(TensorType::F32), ..tiny::Shape::default() };
    let bytes = tiny::gguf(shape, 0);
    let mut gpu = gpu();
    // 40 KiB: 128 of the table's 267 rows of 256 bytes, and 32 rows of logits.
    gpu.limits.max_storage_buffer_binding_size = 40 << 10;
    let mut backend = load_on(gpu, &bytes).unwrap();
    let mut batches = text(70, 70, shape.layers);
    batches[0].outputs = (0..70).collect();
    assert_close(&forward(&mut backend, &batches), &reference::run(&bytes, None, &batches).unwrap(), CLOSE);
    // An adapter beside split matrices.
    let adapter = read_adapter(&bytes, tiny::adapter_gguf(shape, AdapterShape::default(), 9));
    block_on(backend.set_adapter(Some(&adapter))).unwrap();
    assert_close(
        &forward(&mut backend, &batches),
        &reference::run(&bytes, Some(&adapter), &batches).unwrap(),
        CLOSE,
    );
    // And a cache that would not fit a binding is refused.
    assert_eq!(block_on(backend.reserve(400, 0)).unwrap_err().code(), "out_of_memory");
}

#[test]
fn p16_p40_logits_that_are_no_numbers_are_an_error() {
    let shape = tiny::Shape { kind: Some(TensorType::F32), ..tiny::Shape::default() };
    // The last tensor is the last norm.
    let mut broken = tiny::gguf(shape, 0);
    let end = broken.len();
    broken[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    let mut backend = load(&broken);
    block_on(backend.reserve(8, 0)).unwrap();
    assert_eq!(step(&mut backend, &text(8, 8, 2)[0]).unwrap_err().code(), "not_finite");
}

#[test]
fn loading_reports_progress_and_can_be_cancelled() {
    let bytes = tiny::gguf(tiny::Shape::default(), 0);
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
    let error = load_error(gpu(), &writer.finish());
    assert_eq!(
        error.to_string(),
        "tiny.gguf: tensor \"blk.0.attn_q.weight\": its shape is [32, 31] where [32, 32] is needed; the file \
         does not hold a whole llama model",
    );
}

fn small() -> tiny::Shape {
    tiny::Shape { layers: 1, ..tiny::Shape::default() }
}

#[test]
fn p38_a_lost_device_is_an_error() {
    let mut backend = load(&tiny::gguf(small(), 0));
    block_on(backend.reserve(8, 0)).unwrap();
    let batch = &text(8, 8, 1)[0];
    step(&mut backend, batch).unwrap();
    backend.device_loser()();
    assert_eq!(step(&mut backend, batch).unwrap_err().code(), "gpu_failed");
    assert_eq!(block_on(backend.reserve(800, 8)).unwrap_err().code(), "gpu_failed");
    assert_eq!(block_on(backend.set_adapter(None)).unwrap_err().code(), "gpu_failed");
}

/// P38: the device goes while weights are read, between two submissions, and while results are read.
#[test]
fn p38_a_device_lost_at_any_time_is_an_error() {
    let bytes = tiny::gguf(tiny::Shape::default(), 0);
    for place in ["token_embd", "blk.1.ffn_gate", "output_norm", "compiling"] {
        let gpu = gpu();
        gpu.faults.plant(Kind::Lose, place, 0, 1);
        assert_eq!(load_error(gpu, &bytes).code(), "gpu_failed", "{place}");
    }
    // In the second submission of a prefill; while its logits are read.
    for (place, spared) in [("running the model", 1), ("writing a batch", 0), ("reading results", 0)] {
        let mut backend = load(&bytes);
        block_on(backend.reserve(70, 0)).unwrap();
        backend.gpu().faults.plant(Kind::Lose, place, spared, 1);
        assert_eq!(step(&mut backend, &text(70, 70, 2)[0]).unwrap_err().code(), "gpu_failed", "{place}");
    }
    assert_eq!(live_buffers(), 0);
}

#[test]
fn p40_a_refused_allocation_at_load_is_an_error_and_leaves_nothing() {
    let bytes = tiny::gguf(tiny::Shape::default(), 0);
    let gpu = gpu();
    gpu.faults.plant(Kind::Refuse, "blk.1.ffn_gate", 0, 1);
    let error = load_error(gpu, &bytes);
    assert_eq!(
        error.to_string(),
        "out of memory: memory for the weights of \"blk.1.ffn_gate.weight\"; close other pages or choose a \
         smaller model"
    );
    assert_eq!(live_buffers(), 0);
}

/// A refused allocation leads to a smaller plan with the same results, and to an error where there is none.
#[test]
fn p40_refused_allocations_lead_to_smaller_plans() {
    let bytes = tiny::gguf(tiny::Shape::default(), 0);
    let batches = text(70, 70, 2);
    let wanted = reference::run(&bytes, None, &batches).unwrap();
    let mut backend = load(&bytes);
    let faults = &backend.gpu().faults;
    // A cache with room to spare is refused, and one of just what is needed is not.
    faults.plant(Kind::Refuse, "keys and values of 256 tokens", 0, 1);
    // Memory for 70 rows is refused, with room to spare and without; then for 35 rows too; it goes on with 17.
    faults.plant(Kind::Refuse, "memory for a batch", 0, 4);
    let got = forward(&mut backend, &batches);
    assert_close(&got, &wanted, CLOSE);
    assert!(backend.chunk() <= 17, "{}", backend.chunk());
    // No plan is small enough.
    backend.gpu().faults.plant(Kind::Refuse, "keys and values", 0, usize::MAX);
    assert_eq!(block_on(backend.reserve(1000, 70)).unwrap_err().code(), "out_of_memory");
    let mut backend = load(&bytes);
    block_on(backend.reserve(70, 0)).unwrap();
    backend.gpu().faults.plant(Kind::Refuse, "memory for a batch", 0, usize::MAX);
    assert_eq!(step(&mut backend, &batches[0]).unwrap_err().code(), "out_of_memory");
    // An adapter that finds no memory is not applied, and the model goes on without.
    let mut backend = load(&bytes);
    let adapter =
        read_adapter(&bytes, tiny::adapter_gguf(tiny::Shape::default(), AdapterShape::default(), 1));
    backend.gpu().faults.plant(Kind::Refuse, "the adapter's change to block 1", 0, 1);
    assert_eq!(block_on(backend.set_adapter(Some(&adapter))).unwrap_err().code(), "out_of_memory");
    assert_close(&forward(&mut backend, &batches), &wanted, CLOSE);
}

fn as_single(logits: &[f64]) -> Vec<f32> {
    logits.iter().map(|logit| *logit as f32).collect()
}

/// P39: a kernel that gives zeros is seen by the kernels' check and by the model's.
#[test]
fn p39_a_kernel_that_gives_zeros_is_caught() {
    let shape = tiny::Shape { architecture: "gemma2", window: 5, ..tiny::Shape::default() };
    let bytes = tiny::gguf(shape, 0);
    let prompt = tokens(9, VOCABULARY, 3);
    let mut batch = Batch::linear(&prompt, 0);
    batch.outputs = vec![8];
    let right = as_single(&reference::run(&bytes, None, &[batch]).unwrap()[0].logits);
    let mut backend = load(&bytes);
    block_on(backend.self_check_for()).unwrap();
    block_on(backend.logit_check(&right, &prompt)).unwrap();
    for kernel in [
        "embedding",
        "norm and projection",
        "product,",
        "attention",
        "rotary",
        "GeGLU",
        "norm and residual",
        "output layer",
    ] {
        let gpu = gpu();
        gpu.faults.zero(kernel);
        let mut backend = load_on(gpu, &bytes).unwrap();
        let error = block_on(backend.self_check_for()).unwrap_err().to_string();
        assert!(error.contains("computes wrong numbers") && error.contains(kernel), "{kernel}: {error}");
        let error = block_on(backend.logit_check(&right, &prompt)).unwrap_err();
        assert_eq!(error.code(), "gpu_failed", "{kernel}: {error}");
    }
    // Sums of states are no part of the logits.
    let gpu = gpu();
    gpu.faults.zero("sums of states");
    let error = block_on(load_on(gpu, &bytes).unwrap().self_check_for()).unwrap_err().to_string();
    assert!(error.contains("sums of states"), "{error}");
}

#[test]
fn p39_the_logit_check_names_the_difference() {
    use super::run::compare_logits;
    let right: Vec<f32> = (0..50).map(|token| -0.1 * token as f32).collect();
    assert_eq!(compare_logits(&right, &right), Ok(()));
    // The same for all tokens is no difference in probability.
    let shifted: Vec<f32> = right.iter().map(|logit| logit + 3.0).collect();
    assert_eq!(compare_logits(&shifted, &right), Ok(()));
    let changed = |token: usize, by: f32| {
        let mut logits = right.clone();
        logits[token] += by;
        logits
    };
    assert_eq!(
        compare_logits(&changed(7, 1.0), &right).unwrap_err(),
        "its most probable token for a known prompt is token 7, and token 0 is right"
    );
    // By hand: 50 logits 0, -0.1, …; the sum of exponentials is (1 − e⁻⁵) / (1 − e⁻⁰·¹) = 10.438, its logarithm
    // 2.3455. Token 19 is the twentieth; 0.2 less for it changes that by 0.0026.
    assert_eq!(
        compare_logits(&changed(19, -0.2), &right).unwrap_err(),
        "its log-probability of token 19 after a known prompt is -4.443, and -4.245 is right"
    );
    assert_eq!(compare_logits(&changed(19, -0.04), &right), Ok(()));
    assert_eq!(compare_logits(&changed(20, -0.2), &right), Ok(()));
    // A near tie.
    let mut tied = right.clone();
    (tied[0], tied[1]) = (-0.03, 0.0);
    let mut other = tied.clone();
    other.swap(0, 1);
    assert_eq!(compare_logits(&other, &tied), Ok(()));
    assert!(compare_logits(&changed(3, f32::NAN), &right).is_err());
    assert!(compare_logits(&right[1..], &right).is_err());
    assert!(compare_logits(&[], &[]).is_err());
}

/// A step is told of its progress, and can be stopped between two submissions.
#[test]
fn p50_a_step_of_a_slow_device_can_be_stopped_within() {
    let shape = tiny::Shape { layers: 4, ..tiny::Shape::default() };
    let bytes = tiny::gguf(shape, 0);
    let batch = &text(70, 70, 4)[0];
    let mut backend = load(&bytes);
    block_on(backend.reserve(70, 0)).unwrap();
    // Nothing is known of the device yet: the first layer goes alone.
    let mut shares = Vec::new();
    let mut go = |share: f32| {
        shares.push(share);
        Flow::Continue
    };
    let whole = block_on(backend.forward(batch, &mut go)).unwrap();
    assert!(shares.len() >= 2 && shares[0] == 0.4 && shares.is_sorted(), "{shares:?}");
    assert_eq!(shares.last(), Some(&1.0));
    let mut backend = load(&bytes);
    block_on(backend.reserve(70, 0)).unwrap();
    let mut calls = 0;
    let mut stop = |_| {
        calls += 1;
        Flow::Stop
    };
    let error = block_on(backend.forward(batch, &mut stop)).unwrap_err();
    assert_eq!((error.code(), calls), ("cancelled", 1));
    // And it goes on afterwards.
    assert_close(
        &[step(&mut backend, batch).unwrap()],
        &reference::run(&bytes, None, std::slice::from_ref(batch)).unwrap(),
        CLOSE,
    );
    drop(whole);
}

/// P42: twenty times, and no buffer is left; without buffers being destroyed the count would grow.
#[test]
fn p42_loading_twenty_times_leaves_nothing_behind() {
    let bytes = tiny::gguf(small(), 0);
    let batches = text(20, 20, 1);
    let wanted = reference::run(&bytes, None, &batches).unwrap();
    let adapter = read_adapter(&bytes, tiny::adapter_gguf(small(), AdapterShape::default(), 1));
    let mut loaded = None;
    for _ in 0..20 {
        let mut backend = load(&bytes);
        assert!(live_buffers() > 10, "nothing is counted");
        assert_eq!(*loaded.get_or_insert(live_buffers()), live_buffers());
        assert_close(&forward(&mut backend, &batches), &wanted, CLOSE);
        block_on(backend.set_adapter(Some(&adapter))).unwrap();
        forward(&mut backend, &batches);
        block_on(backend.reserve(2000, 0)).unwrap();
        drop(backend);
        assert_eq!(live_buffers(), 0);
    }
}

#[test]
fn p37_half_operands_are_nearly_as_good() {
    let mut gpu = gpu();
    if !gpu.has_half() {
        return;
    }
    let bytes = tiny::gguf(tiny::Shape { width: 256, feed_forward: 256, ..tiny::Shape::default() }, 0);
    let batches = branches(2);
    let wanted = reference::run(&bytes, None, &batches).unwrap();
    gpu.tuning.set(Tuning {
        tile: gpu.tuning.get().tile.with_half(true),
        subgroups: gpu.has_subgroups(),
        dots: false,
    });
    gpu.is_tuned = true;
    let mut backend = load_on(gpu, &bytes).unwrap();
    block_on(backend.self_check_for()).unwrap();
    let got = forward(&mut backend, &batches);
    // Each operand is off by up to 2⁻¹² of itself in each product of each layer.
    assert_close(&got, &wanted, 3e-2);
    assert!(backend.gpu().tuning.get().tile.half);
    // But they are not the same, or the variant would not have run.
    let exact = forward(&mut load(&bytes), &batches);
    assert_ne!(got, exact);
}

/// A device that is made to use packed dot products wherever it can.
fn gpu_with_dots() -> Gpu {
    let mut gpu = gpu();
    assert!(gpu.has_dots, "natively shaders are compiled by naga, which knows them");
    gpu.tuning.set(Tuning { dots: true, ..gpu.tuning.get() });
    gpu.is_tuned = true;
    gpu
}

/// How far logits may be where activations are rounded to 1/8191 of the greatest of 32: as on the processor.
const CLOSE_WHOLE: f64 = 1e-2;

#[test]
fn p37_packed_dot_products_are_nearly_as_good() {
    for (seed, shape) in architectures().into_iter().enumerate() {
        let bytes = tiny::gguf(shape, seed as u64);
        let batches = branches(shape.layers);
        eprintln!("{shape:?}");
        let wanted = reference::run(&bytes, None, &batches).unwrap();
        let mut backend = load_on(gpu_with_dots(), &bytes).unwrap();
        let got = forward(&mut backend, &batches);
        assert_close(&got, &wanted, CLOSE_WHOLE);
        assert!(backend.gpu().tuning.get().dots);
        // But they are not the same, or the variant would not have run.
        assert_ne!(got, forward(&mut load(&bytes), &batches));
    }
    // Formats in 4 bits, in 8 by 32 and by 16, each in every place, beside floats.
    for kind in [TensorType::Q4_0, TensorType::Q4_1, TensorType::Q4K, TensorType::Q5_1, TensorType::Q6K] {
        let shape = tiny::Shape {
            width: 256,
            feed_forward: 256,
            layers: 2,
            kind: Some(kind),
            untied: true,
            ..tiny::Shape::default()
        };
        let bytes = tiny::gguf(shape, 3);
        let mut batches = branches(shape.layers);
        // More outputs than the matrix-vector product takes, in an order of their own.
        batches[0].outputs = vec![39, 3, 7, 0, 21, 20, 2];
        let wanted = reference::run(&as_held(&bytes), None, &batches).unwrap();
        let mut backend = load_on(gpu_with_dots(), &bytes).unwrap();
        block_on(backend.self_check_for()).unwrap();
        let got = forward(&mut backend, &batches);
        eprintln!("{kind:?}");
        assert_close(&got, &wanted, CLOSE_WHOLE);
        assert_ne!(got, forward(&mut load(&bytes), &batches));
    }
}

/// Products that an adapter changes stay in floats; the others do not.
#[test]
fn packed_dot_products_go_with_adapters() {
    let bytes = tiny::gguf(tiny::Shape::default(), 0);
    let file = tiny::adapter_gguf(tiny::Shape::default(), AdapterShape::default(), 1);
    let adapter = read_adapter(&bytes, file);
    let batches = branches(2);
    let wanted = reference::run(&bytes, Some(&adapter), &batches).unwrap();
    let plain = reference::run(&bytes, None, &batches).unwrap();
    let mut backend = load_on(gpu_with_dots(), &bytes).unwrap();
    block_on(backend.set_adapter(Some(&adapter))).unwrap();
    assert_close(&forward(&mut backend, &batches), &wanted, CLOSE_WHOLE);
    block_on(backend.set_adapter(None)).unwrap();
    assert_close(&forward(&mut backend, &batches), &plain, CLOSE_WHOLE);
}

/// P39: where packed dot products or their whole numbers are wrong, the plain product takes their place: when kernels
/// are checked, and when the model is.
#[test]
fn p39_wrong_packed_dot_products_are_given_up() {
    let bytes = tiny::gguf(tiny::Shape::default(), 0);
    let batches = branches(2);
    let wanted = reference::run(&bytes, None, &batches).unwrap();
    let prompt = tokens(9, VOCABULARY, 3);
    let mut batch = Batch::linear(&prompt, 0);
    batch.outputs = vec![8];
    let right = as_single(&reference::run(&bytes, None, &[batch]).unwrap()[0].logits);
    for kernel in ["packed dot products", "whole numbers"] {
        for by_logits in [false, true] {
            let gpu = gpu_with_dots();
            gpu.faults.zero(kernel);
            let mut backend = load_on(gpu, &bytes).unwrap();
            match by_logits {
                false => block_on(backend.self_check_for()).unwrap(),
                true => block_on(backend.logit_check(&right, &prompt)).unwrap(),
            }
            assert!(!backend.gpu().tuning.get().dots, "{kernel}");
            assert_close(&forward(&mut backend, &batches), &wanted, CLOSE);
        }
        // Such a variant is infinitely slow when it is measured.
        let gpu = gpu_with_dots();
        gpu.faults.zero(kernel);
        assert_eq!(block_on(gpu.time(Shape::Dots(Tile::SOFTWARE))).unwrap(), f64::INFINITY);
    }
    let seconds = block_on(gpu_with_dots().time(Shape::Dots(Tile::SOFTWARE))).unwrap();
    assert!(seconds > 0.0 && seconds.is_finite(), "{seconds}");
}

/// P39: where a variant that not every device has is wrong, the plain one takes its place.
#[test]
fn p39_wrong_variants_are_given_up() {
    let mut gpu = gpu();
    if !gpu.has_half() {
        return;
    }
    gpu.tuning.set(Tuning { tile: gpu.tuning.get().tile.with_half(true), subgroups: false, dots: false });
    gpu.is_tuned = true;
    gpu.faults.zero("in f16");
    let bytes = tiny::gguf(tiny::Shape::default(), 0);
    let batches = branches(2);
    let mut backend = load_on(gpu, &bytes).unwrap();
    block_on(backend.self_check_for()).unwrap();
    assert!(!backend.gpu().tuning.get().tile.half);
    let wanted = reference::run(&bytes, None, &batches).unwrap();
    assert_close(&forward(&mut backend, &batches), &wanted, CLOSE);
}

/// Activations beyond the range of f16 are computed again without it.
#[test]
fn activations_beyond_half_are_computed_in_single() {
    let mut gpu = gpu();
    if !gpu.has_half() {
        return;
    }
    let shape = tiny::Shape { kind: Some(TensorType::F32), ..tiny::Shape::default() };
    // The last tensor is the last norm: one of its weights a million.
    let mut bytes = tiny::gguf(shape, 0);
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&1e6f32.to_le_bytes());
    let mut batch = Batch::linear(&tokens(9, VOCABULARY, 7), 0);
    // More outputs than the matrix-vector product takes.
    batch.outputs = (0..9).collect();
    gpu.tuning.set(Tuning { tile: gpu.tuning.get().tile.with_half(true), subgroups: false, dots: false });
    gpu.is_tuned = true;
    let mut backend = load_on(gpu, &bytes).unwrap();
    let got = forward(&mut backend, std::slice::from_ref(&batch));
    assert!(!backend.gpu().tuning.get().tile.half);
    assert_close(&got, &reference::run(&bytes, None, &[batch]).unwrap(), CLOSE);
}

#[test]
fn a_measured_choice_is_remembered_for_its_adapter_only() {
    let mut first = gpu();
    let usual = first.tuning.get();
    assert_eq!(first.tuning(), None);
    assert!(!first.remember("retort gpu tuning 2; 8x4 f32 workgroups floats; another adapter"));
    assert!(!first.remember(""));
    assert_eq!((first.tuning(), first.tuning.get()), (None, usual));
    block_on(first.tune()).unwrap();
    let text = first.tuning().unwrap();
    assert!(text.starts_with("retort gpu tuning 2; "), "{text}");
    let mut second = gpu();
    assert!(second.remember(&text), "{text}");
    assert_eq!(second.tuning(), Some(text.clone()));
    assert_eq!(second.tuning.get(), first.tuning.get());
    // A choice of packed dot products is of use only where there are any.
    let chosen = text.replace(" floats;", " dots;");
    let mut other = gpu();
    other.has_dots = true;
    assert!(other.remember(&chosen) && other.tuning.get().dots);
    let mut other = gpu();
    other.has_dots = false;
    assert!(!other.remember(&chosen) && !other.tuning.get().dots);
    // A variant that does not work is infinitely slow, and no error.
    let third = gpu();
    third.faults.zero("tiled by 128");
    assert_eq!(block_on(third.time(Shape::Tile(Tile::HIGH))).unwrap(), f64::INFINITY);
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
    let mut batch = Batch::linear(&tokens(21, 40_000, 7), 0);
    batch.outputs = vec![0, 20];
    let batches = [batch.part(0..17), batch.part(17..21)];
    let wanted = reference::run(&bytes, None, &batches).unwrap();
    for gpu in [gpu(), gpu_with_dots()] {
        let dots = gpu.tuning.get().dots;
        let got = forward(&mut load_on(gpu, &bytes).unwrap(), &batches);
        let pairs = got.iter().zip(&wanted).flat_map(|(got, wanted)| got.logits.iter().zip(&wanted.logits));
        let greatest = pairs.map(|(got, wanted)| (f64::from(*got) - wanted).abs()).fold(0.0, f64::max);
        eprintln!("greatest difference of a logit, packed dot products {dots}: {greatest}");
        // Thirty layers of f32 sums, logits up to some 20; K-quants with rounded scales.
        assert!(greatest < 5e-2);
    }
}
