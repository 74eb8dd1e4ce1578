//! The GPU backend: WGSL kernels through wgpu, on WebGPU in a browser and on Vulkan, Metal or DX12 natively.
//!
//! 1. `device`: opening a device, watching it, moving bytes to and from it.
//! 2. `tuning`: which variants of the kernels suit the device, by a short measurement that can be remembered.
//! 3. `layout`: how weights lie on the GPU, and how GGUF blocks become that.
//! 4. `weights`: streaming the file's tensors into matrices; `adapter`: low-rank adapters beside them.
//! 5. `shader`: the kernels, and the preprocessor that makes them from the templates in `shaders/`.
//! 6. `run`: the model and one step of the transformer, in one compute pass; `pace`: how large a step may be, so
//!    that cancelling takes effect soon, and how a slow one is cut into several submissions.
//! 7. `twin` and `check`: every kernel's twin in plain Rust, and the self-check that compares the two on the
//!    device before its numbers are believed. `faults`, in tests: what can go wrong, made to happen.
//!
//! Variants that not every device has (16-bit floats, subgroups, packed dot products of whole numbers) are never
//! assumed (P37): they are used where the device has them, they were measured to be faster, and their numbers pass
//! the checks.

mod adapter;
mod check;
mod device;
#[cfg(test)]
mod faults;
mod layout;
mod pace;
mod run;
mod shader;
#[cfg(test)]
mod tests;
mod tuning;
mod twin;
mod weights;

pub use device::Gpu;
pub use run::GpuBackend;
