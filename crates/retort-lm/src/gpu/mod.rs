//! stub
use crate::backend::{Backend, Batch};
use crate::config::Config;
use crate::gguf::Gguf;
use crate::{ByteSource, Flow, LmError};
/// stub
pub struct Gpu;
impl Gpu {
    /// stub
    pub fn is_software(&self) -> bool { false }
    /// stub
    pub fn device(&self) -> String { String::new() }
}
/// stub
pub struct GpuBackend;
impl GpuBackend {
    /// stub
    pub async fn open() -> Result<Gpu, LmError> { Err(LmError::NoGpu { problem: "not built yet".into() }) }
    /// stub
    pub async fn self_check(_: &Gpu) -> Result<(), LmError> { Ok(()) }
    /// stub
    pub async fn load(_: Gpu, _: &Gguf, _: &Config, _: &mut dyn ByteSource, _: &mut dyn FnMut(u64) -> Flow) -> Result<Self, LmError> { Err(LmError::NoGpu { problem: "not built yet".into() }) }
}
impl Backend for GpuBackend {
    async fn forward(&mut self, _: &Batch, _: &mut dyn FnMut(f32) -> Flow) -> Result<Vec<f32>, LmError> { Err(LmError::Cancelled) }
    async fn reserve(&mut self, _: usize, _: usize) -> Result<(), LmError> { Ok(()) }
    fn chunk(&self) -> usize { 1 }
    fn device(&self) -> String { String::new() }
}
