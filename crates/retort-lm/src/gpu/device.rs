//! The device: opening it, watching it, and moving bytes to and from it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

#[cfg(test)]
use super::faults::{self, Faults};
use super::shader::{Access, Kernel, Tile};
use super::tuning::Tuning;
use crate::LmError;

/// The workgroup memory that the kernels need, in bytes: within what every browser gives.
const WORKGROUP_BYTES: u32 = 16 * 1024;

/// Bytes between two sets of parameters in the parameter buffer: the greatest alignment that WebGPU asks for.
pub(super) const PARAMETER_STRIDE: usize = 256;
/// Bytes of one set of parameters.
pub(super) const PARAMETER_BYTES: u64 = 64;

/// A GPU that has been opened.
#[derive(Debug)]
pub struct Gpu {
    /// What it is, for people.
    pub device: String,
    pub(super) handle: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) limits: wgpu::Limits,
    /// Which variants of the kernels are used.
    pub(super) tuning: Cell<Tuning>,
    /// Whether that was measured, or remembered from a measurement.
    pub(super) is_tuned: bool,
    /// Whether shaders may use packed dot products: a part of the language that not every browser knows.
    pub(super) has_dots: bool,
    /// The adapter and its driver, so that a choice is remembered for the adapter that it was made for.
    pub(super) described: String,
    is_software: bool,
    /// Why the device was lost, once it was.
    lost: Arc<Mutex<Option<String>>>,
    pipelines: RefCell<BTreeMap<Kernel, wgpu::ComputePipeline>>,
    /// One for each set of bindings, so that kernels of different shapes share bind groups.
    bind_group_layouts: RefCell<BTreeMap<Vec<(u32, Access)>, wgpu::BindGroupLayout>>,
    #[cfg(test)]
    pub(super) faults: Faults,
}

impl Gpu {
    /// Finds an adapter, a fast one if there are several, and opens a device with the adapter's own limits, and
    /// with 16-bit floats and subgroups where it has them.
    ///
    /// # Errors
    /// [`LmError::NoGpu`] with the reason.
    pub(super) async fn open() -> Result<Self, LmError> {
        let none = |problem: String| LmError::NoGpu { problem };
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = instance.request_adapter(&options).await.map_err(|error| {
            // In a browser the library's own words list graphics systems that no page can reach.
            none(if cfg!(target_arch = "wasm32") {
                "this browser offers WebGPU no graphics adapter".to_owned()
            } else {
                error.to_string()
            })
        })?;
        let info = adapter.get_info();
        let limits = adapter.limits();
        let lacking = [
            ("storage buffers per stage", u64::from(limits.max_storage_buffers_per_shader_stage), 8),
            (
                "bytes of workgroup memory",
                limits.max_compute_workgroup_storage_size.into(),
                WORKGROUP_BYTES.into(),
            ),
            ("invocations per workgroup", limits.max_compute_invocations_per_workgroup.into(), 128),
            ("bytes per storage binding", limits.max_storage_buffer_binding_size, 128 << 20),
            ("workgroups per dimension", limits.max_compute_workgroups_per_dimension.into(), 65_535),
        ];
        for (what, has, needs) in lacking {
            if has < needs {
                return Err(none(format!("it allows {has} {what}, and {needs} are needed")));
            }
        }
        // On the web wgpu knows nothing of subgroups, and a shader that uses them would give zeros.
        let wanted = match cfg!(target_arch = "wasm32") {
            true => wgpu::Features::SHADER_F16,
            false => wgpu::Features::SHADER_F16 | wgpu::Features::SUBGROUP,
        };
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("retort"),
            required_features: adapter.features() & wanted,
            required_limits: limits.clone(),
            ..Default::default()
        };
        let (handle, queue) =
            adapter.request_device(&descriptor).await.map_err(|error| none(error.to_string()))?;

        let lost = Arc::new(Mutex::new(None));
        let watched = Arc::clone(&lost);
        handle.set_device_lost_callback(move |reason, message| {
            set_first(&watched, format!("the device was lost ({reason:?}): {message}"));
        });
        // Errors that no scope caught would panic natively; they mean that nothing can be trusted any more.
        let watched = Arc::clone(&lost);
        handle
            .on_uncaptured_error(Arc::new(move |error: wgpu::Error| set_first(&watched, error.to_string())));

        let described = format!("{} {} {} {:?}", info.name, info.driver, info.driver_info, info.backend);
        let lower = described.to_lowercase();
        let is_software = info.device_type == wgpu::DeviceType::Cpu
            || ["swiftshader", "llvmpipe", "lavapipe", "basic render"]
                .iter()
                .any(|name| lower.contains(name));
        let name = if info.name.is_empty() { "GPU" } else { info.name.as_str() };
        Ok(Self {
            device: format!("{name} ({:?})", info.backend),
            handle,
            queue,
            limits,
            tuning: Cell::new(Tuning {
                tile: if is_software { Tile::SOFTWARE } else { Tile::HARDWARE },
                subgroups: false,
                dots: false,
            }),
            is_tuned: false,
            has_dots: lists_language_features()
                && instance
                    .wgsl_language_features()
                    .contains(wgpu::WgslLanguageFeatures::Packed4x8IntegerDotProduct),
            described,
            is_software,
            lost,
            pipelines: RefCell::default(),
            bind_group_layouts: RefCell::default(),
            #[cfg(test)]
            faults: Faults::default(),
        })
    }

    /// Whether the adapter is a program that computes on the processor, such as SwiftShader or llvmpipe.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.is_software
    }

    /// Whether shaders may use 16-bit floats.
    pub(super) fn has_half(&self) -> bool {
        self.handle.features().contains(wgpu::Features::SHADER_F16)
    }

    /// Whether shaders may use subgroups.
    pub(super) fn has_subgroups(&self) -> bool {
        self.handle.features().contains(wgpu::Features::SUBGROUP)
    }

    /// The error to report if the device has been lost.
    pub(super) fn alive(&self) -> Result<(), LmError> {
        match self.lost.lock() {
            Ok(lost) => match &*lost {
                None => Ok(()),
                Some(problem) => Err(LmError::Gpu { problem: problem.clone() }),
            },
            Err(_) => Err(LmError::Gpu { problem: "its watcher panicked".into() }),
        }
    }

    /// Runs `work`, and gives what the device found wrong with it.
    ///
    /// On the web the answer comes from another process, so that waiting for it also lets the event loop run.
    pub(super) async fn scoped<T>(&self, what: &str, work: impl FnOnce() -> T) -> Result<T, LmError> {
        self.alive()?;
        #[cfg(test)]
        self.faults.at(what, &self.handle)?;
        let internal = self.handle.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = self.handle.push_error_scope(wgpu::ErrorFilter::Validation);
        let memory = self.handle.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let result = work();
        // All scopes are popped before the first answer is awaited: they are a stack.
        let (memory, validation, internal) = (memory.pop(), validation.pop(), internal.pop());
        if memory.await.is_some() {
            return Err(LmError::OutOfMemory { what: what.to_owned() });
        }
        if let Some(error) = validation.await {
            return Err(LmError::Gpu { problem: format!("{what}: {error}") });
        }
        if let Some(error) = internal.await {
            return Err(LmError::Gpu { problem: format!("{what}: {error}") });
        }
        self.alive()?;
        Ok(result)
    }

    /// Compiles a kernel, unless that has been done before.
    pub(super) async fn prepare(&self, kernel: Kernel) -> Result<(), LmError> {
        if self.pipelines.borrow().contains_key(&kernel) {
            return Ok(());
        }
        let name = kernel.name();
        let wgsl = kernel.wgsl().map_err(|problem| LmError::Gpu { problem })?;
        #[cfg(test)]
        let wgsl = if self.faults.zeroes(&name) { kernel.zeroing_wgsl() } else { wgsl };
        let compiled =
            self.scoped(&format!("compiling \"{name}\""), || self.compile(kernel, &name, wgsl)).await?;
        self.pipelines.borrow_mut().insert(kernel, compiled);
        Ok(())
    }

    /// A kernel that has been [prepared](Self::prepare).
    pub(super) fn pipeline(&self, kernel: Kernel) -> Result<wgpu::ComputePipeline, LmError> {
        let pipelines = self.pipelines.borrow();
        let unprepared = || LmError::Gpu { problem: format!("\"{}\" was not compiled", kernel.name()) };
        pipelines.get(&kernel).cloned().ok_or_else(unprepared)
    }

    fn compile(&self, kernel: Kernel, name: &str, wgsl: String) -> wgpu::ComputePipeline {
        let module = self.handle.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(name),
            source: wgpu::ShaderSource::Wgsl(wgsl.into()),
        });
        let layout = self.bind_group_layout(kernel);
        let pipeline_layout = self.handle.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(name),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        self.handle.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(name),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                // Every kernel writes its workgroup memory before it reads it.
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        })
    }

    fn bind_group_layout(&self, kernel: Kernel) -> wgpu::BindGroupLayout {
        let bindings = kernel.bindings();
        let entry = |binding: u32, ty: wgpu::BufferBindingType, has_dynamic_offset: bool| {
            wgpu::BindGroupLayoutEntry {
                binding,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
                count: None,
            }
        };
        let mut layouts = self.bind_group_layouts.borrow_mut();
        let made = layouts.entry(bindings).or_insert_with_key(|bindings| {
            let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform, true)];
            for &(binding, access) in bindings {
                let read_only = access == Access::Read;
                entries.push(entry(binding, wgpu::BufferBindingType::Storage { read_only }, false));
            }
            let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
            self.handle.create_bind_group_layout(&descriptor)
        });
        made.clone()
    }

    /// A buffer of this many bytes (rounded up to whole vectors), filled with zeros.
    ///
    /// To be called within [`scoped`](Self::scoped).
    pub(super) fn buffer(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> Buffer {
        #[cfg(test)]
        faults::count_buffer(1);
        Buffer(self.handle.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: bytes.max(16).next_multiple_of(16),
            usage,
            mapped_at_creation: false,
        }))
    }

    /// A storage buffer that can be written, copied from and copied to.
    pub(super) fn storage(&self, label: &str, bytes: u64) -> Buffer {
        use wgpu::BufferUsages as Usage;
        self.buffer(label, bytes, Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC)
    }

    /// A bind group for a kernel: the parameters, then `(binding, buffer)`.
    pub(super) fn bind(
        &self,
        kernel: Kernel,
        parameters: &Buffer,
        buffers: &[(u32, &Buffer)],
    ) -> wgpu::BindGroup {
        let mut entries = vec![wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &parameters.0,
                offset: 0,
                size: std::num::NonZeroU64::new(PARAMETER_BYTES),
            }),
        }];
        for &(binding, buffer) in buffers {
            entries.push(wgpu::BindGroupEntry { binding, resource: buffer.0.as_entire_binding() });
        }
        self.handle.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.bind_group_layout(kernel),
            entries: &entries,
        })
    }

    /// Waits until everything submitted is done. On the web it does nothing: awaiting lets it happen.
    #[expect(
        clippy::disallowed_methods,
        reason = "natively somebody has to; callers await the signal as well"
    )]
    fn poll(&self) -> Result<(), LmError> {
        match self.handle.poll(wgpu::PollType::wait_indefinitely()) {
            Ok(_) => self.alive(),
            Err(error) => Err(LmError::Gpu { problem: error.to_string() }),
        }
    }

    /// Waits until everything written and submitted so far has arrived.
    pub(super) async fn settle(&self) -> Result<(), LmError> {
        let (signal, done) = signal();
        self.queue.submit([]);
        self.queue.on_submitted_work_done(move || signal.send(()));
        self.poll()?;
        done.wait().await;
        self.alive()
    }

    /// The first `bytes` bytes of a buffer with `MAP_READ`, given to `read`.
    pub(super) async fn read<T>(
        &self,
        buffer: &Buffer,
        bytes: u64,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, LmError> {
        let (signal, mapped) = signal();
        buffer.0.map_async(wgpu::MapMode::Read, 0..bytes, move |result| signal.send(result));
        #[cfg(test)]
        self.faults.at("reading results", &self.handle)?;
        self.poll()?;
        let failed = |problem: String| LmError::Gpu { problem: format!("reading its results: {problem}") };
        let result = mapped.wait().await;
        self.alive()?;
        result.map_err(|error| failed(error.to_string()))?;
        let value = match buffer.0.get_mapped_range(0..bytes) {
            Ok(view) => Ok(read(&view)),
            Err(error) => Err(failed(error.to_string())),
        };
        buffer.0.unmap();
        value
    }
}

/// Whether the browser says which parts of the language it knows; early ones don't, and asking them through wgpu
/// would throw.
#[cfg(target_arch = "wasm32")]
fn lists_language_features() -> bool {
    let mut object = js_sys::global().into();
    for name in ["navigator", "gpu", "wgslLanguageFeatures"] {
        match js_sys::Reflect::get(&object, &name.into()) {
            Ok(value) => object = value,
            Err(_) => return false,
        }
    }
    object.is_object()
}

/// Natively the compiler is naga, which knows what it knows.
#[cfg(not(target_arch = "wasm32"))]
const fn lists_language_features() -> bool {
    true
}

fn set_first(slot: &Mutex<Option<String>>, problem: String) {
    if let Ok(mut slot) = slot.lock() {
        slot.get_or_insert(problem);
    }
}

/// A buffer whose memory is given back as soon as it is dropped, not when garbage is collected (P42).
#[derive(Debug)]
pub(super) struct Buffer(pub(super) wgpu::Buffer);

impl Drop for Buffer {
    fn drop(&mut self) {
        #[cfg(test)]
        faults::count_buffer(-1);
        self.0.destroy();
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        self.handle.destroy();
    }
}

/// One value, sent once from a callback to whoever awaits it.
fn signal<T>() -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Mutex::new((None, None)));
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

type Shared<T> = Arc<Mutex<(Option<T>, Option<Waker>)>>;

struct Sender<T>(Shared<T>);

struct Receiver<T>(Shared<T>);

impl<T> Sender<T> {
    fn send(self, value: T) {
        if let Ok(mut shared) = self.0.lock() {
            shared.0 = Some(value);
            if let Some(waker) = shared.1.take() {
                waker.wake();
            }
        }
    }
}

impl<T> Receiver<T> {
    async fn wait(self) -> T {
        std::future::poll_fn(|context| {
            // A lock is only ever held for the moments above; a panic within them is impossible.
            let mut shared = match self.0.lock() {
                Ok(shared) => shared,
                Err(poisoned) => poisoned.into_inner(),
            };
            if let Some(value) = shared.0.take() {
                return Poll::Ready(value);
            }
            shared.1 = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}
