//! The rate of a plain matrix product in f32 on the GPU: what the device can do with a textbook kernel, measured
//! rather than read from a data sheet.

use std::error::Error;
use std::time::Instant;

use serde_json::{Value, json};
use wgpu::util::DeviceExt as _;

/// Rows and columns of the product that one workgroup computes.
const TILE: usize = 64;
/// How much of the inner dimension is staged at a time.
const DEPTH: usize = 16;
/// The smallest and largest matrices that are tried: the largest fills half of a binding of 128 MiB.
const SIZES: std::ops::RangeInclusive<usize> = 256..=4096;
/// Seconds that one product must take, for its size to keep the device busy.
const BUSY: f64 = 0.02;
/// Seconds that products are repeated for.
const LONG_ENOUGH: f64 = 0.2;

/// A way to write the product.
#[derive(Clone, Copy)]
struct Kernel {
    /// Each invocation computes 4 `side` rows and columns.
    side: usize,
    /// Whether tiles go through workgroup memory.
    staged: bool,
}

const KERNELS: [Kernel; 4] = [
    Kernel { side: 1, staged: true },
    Kernel { side: 2, staged: true },
    Kernel { side: 1, staged: false },
    Kernel { side: 2, staged: false },
];

/// The best of several kernels, at a size that keeps the device busy.
pub(crate) fn measure() -> Result<Value, Box<dyn Error>> {
    let gpu = pollster::block_on(Gpu::open())?;
    let (mut best, mut best_rate, mut best_seconds) = (KERNELS[0], 0.0, 0.0);
    let mut size = *SIZES.start();
    while gpu.rate(KERNELS[0], size)?.0 < BUSY && 2 * size <= *SIZES.end() {
        size *= 2;
    }
    for kernel in KERNELS {
        let (seconds, rate) = gpu.rate(kernel, size)?;
        if rate > best_rate {
            (best, best_rate, best_seconds) = (kernel, rate, seconds);
        }
    }
    let kernel = format!(
        "{0} x {0} outputs an invocation, {1} workgroup memory",
        4 * best.side,
        if best.staged { "through" } else { "without" }
    );
    Ok(
        json!({ "device": gpu.name, "seconds": best_seconds, "flops_per_second": best_rate, "kernel": kernel, "size": size }),
    )
}

struct Gpu {
    name: String,
    device: wgpu::Device,
    queue: wgpu::Queue,
}

impl Gpu {
    /// The adapter that the engine would choose.
    async fn open() -> Result<Self, Box<dyn Error>> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = instance.request_adapter(&options).await?;
        let (device, queue) = adapter.request_device(&wgpu::DeviceDescriptor::default()).await?;
        Ok(Self { name: adapter.get_info().name, device, queue })
    }

    /// Seconds of one product of `size` × `size` matrices, and the rate in operations per second.
    fn rate(&self, kernel: Kernel, size: usize) -> Result<(f64, f64), Box<dyn Error>> {
        // Small whole numbers, so that every sum is exact and every entry can be checked.
        let a: Vec<f32> = (0..size * size).map(|i| (i * 7 % 5) as f32 - 2.0).collect();
        let b: Vec<f32> = (0..size * size).map(|i| (i * 11 % 7) as f32 - 3.0).collect();
        let usage = wgpu::BufferUsages::STORAGE;
        let upload = |numbers: &[f32]| {
            let contents = bytemuck::cast_slice(numbers);
            self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
        };
        let (left, right) = (upload(&a), upload(&b));
        let product = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: (4 * size * size) as u64,
            usage: usage | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(wgsl(kernel, size).into()),
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let bindings = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: left.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: right.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 2, resource: product.as_entire_binding() },
            ],
        });
        let tiles = u32::try_from(size / TILE)?;
        let timed = |repeats: usize| -> Result<f64, Box<dyn Error>> {
            let start = Instant::now();
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, &bindings, &[]);
                for _ in 0..repeats {
                    pass.dispatch_workgroups(tiles, tiles, 1);
                }
            }
            self.queue.submit([encoder.finish()]);
            self.device.poll(wgpu::PollType::wait_indefinitely())?;
            Ok(start.elapsed().as_secs_f64())
        };
        timed(1)?;
        self.check(&product, size, &a, &b)?;
        let once = timed(1)?;
        let repeats = ((LONG_ENOUGH / once).ceil().clamp(1.0, 256.0)) as usize;
        let seconds = timed(repeats)? / repeats as f64;
        Ok((seconds, 2.0 * (size as f64).powi(3) / seconds))
    }

    /// A rate of wrong answers is none: some entries against the processor's.
    fn check(&self, product: &wgpu::Buffer, size: usize, a: &[f32], b: &[f32]) -> Result<(), Box<dyn Error>> {
        let bytes = (4 * size * size) as u64;
        let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(product, 0, &copy, 0, bytes);
        self.queue.submit([encoder.finish()]);
        copy.map_async(wgpu::MapMode::Read, .., |_| {});
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let view = copy.get_mapped_range(..)?;
        let found: &[f32] = bytemuck::cast_slice(&view);
        for place in [0, size + 1, size * size / 2 + 77, size * size - 1] {
            let (row, column) = (place / size, place % size);
            // The left matrix is stored column after column.
            let right: f32 = (0..size).map(|k| a[k * size + row] * b[k * size + column]).sum();
            if found[place] != right {
                return Err(
                    format!("entry ({row}, {column}) is {} and should be {right}", found[place]).into()
                );
            }
        }
        Ok(())
    }
}

/// `c = aᵀ b`, all of them `size` × `size`, row after row.
fn wgsl(Kernel { side, staged }: Kernel, size: usize) -> String {
    let threads = TILE / 4 / side;
    let (quads, tile_quads) = (size / 4, TILE / 4);
    let mut code = String::new();
    let each = |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let cells =
        |line: &dyn Fn(usize, usize) -> String| each(4 * side, &|row| each(side, &|quad| line(row, quad)));
    code += "@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;\n\
             @group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;\n\
             @group(0) @binding(2) var<storage, read_write> c: array<vec4<f32>>;\n";
    if staged {
        code += &format!(
            "var<workgroup> sa: array<vec4<f32>, {0}>;\nvar<workgroup> sb: array<vec4<f32>, {0}>;\n",
            DEPTH * tile_quads
        );
    }
    code += &format!(
        "@compute @workgroup_size({threads}, {threads})\n\
         fn main(@builtin(workgroup_id) g: vec3<u32>, @builtin(local_invocation_id) l: vec3<u32>,\n\
         @builtin(local_invocation_index) i: u32) {{\n"
    );
    code += &cells(&|row, quad| format!("var c{row}_{quad} = vec4<f32>();\n"));
    code += &format!("for (var k0 = 0u; k0 < {size}u; k0 += {DEPTH}u) {{\n");
    if staged {
        code += &format!(
            "for (var t = i; t < {all}u; t += {step}u) {{\n\
             let at = (k0 + t / {tile_quads}u) * {quads}u + t % {tile_quads}u;\n\
             sa[t] = a[at + g.y * {tile_quads}u];\nsb[t] = b[at + g.x * {tile_quads}u];\n}}\nworkgroupBarrier();\n",
            all = DEPTH * tile_quads,
            step = threads * threads
        );
    }
    code += &format!("for (var k = 0u; k < {DEPTH}u; k++) {{\n");
    for (name, lane, group) in [("a", "l.y", "g.y"), ("b", "l.x", "g.x")] {
        code += &each(side, &|quad| {
            if staged {
                format!("let {name}{quad} = s{name}[k * {tile_quads}u + {lane} * {side}u + {quad}u];\n")
            } else {
                format!(
                    "let {name}{quad} = {name}[(k0 + k) * {quads}u + {group} * {tile_quads}u + {lane} * {side}u + {quad}u];\n"
                )
            }
        });
    }
    code += &cells(&|row, quad| {
        let component = ["x", "y", "z", "w"][row % 4];
        format!("c{row}_{quad} = fma(vec4<f32>(a{}.{component}), b{quad}, c{row}_{quad});\n", row / 4)
    });
    code += "}\n";
    if staged {
        code += "workgroupBarrier();\n";
    }
    code += "}\n";
    code += &cells(&|row, quad| {
        format!(
            "c[(g.y * {TILE}u + l.y * {}u + {row}u) * {quads}u + g.x * {tile_quads}u + l.x * {side}u + {quad}u] = c{row}_{quad};\n",
            4 * side
        )
    });
    code + "}\n"
}
