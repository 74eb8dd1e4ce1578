//! The GPU backend: WGSL kernels through wgpu, on WebGPU in a browser and on Vulkan, Metal or DX12 natively.
//!
//! 1. `device`: opening a device, watching it, moving bytes to and from it.
//! 2. `layout`: how weights lie on the GPU, and how GGUF blocks become that.
//! 3. `weights`: streaming the file's tensors into matrices.
//! 4. `shader`: the kernels, and the preprocessor that makes them from the templates in `shaders/`.
//! 5. `run`: the model and one step of the transformer, in one compute pass.
//! 6. `twin` and `check`: every kernel's twin in plain Rust, and the self-check that compares the two on the
//!    device before its numbers are believed.

mod check;
mod device;
mod layout;
mod run;
mod shader;
#[cfg(test)]
mod tests;
mod twin;
mod weights;

pub use device::Gpu;
pub use run::GpuBackend;
