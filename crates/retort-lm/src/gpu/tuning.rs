//! Which variants of the kernels an adapter runs best, found by a short measurement and remembered as a text.

use super::check::{self, Case, Noise};
use super::device::{Buffer, Gpu, PARAMETER_STRIDE};
use super::layout::Layout;
use super::pace::Stopwatch;
use super::shader::{Kernel, Product, Role, Shape, Tile};
use crate::LmError;

/// Seconds after which no further variant is tried.
const BUDGET: f64 = 0.25;
/// Seconds that a variant should run for, so that the clock can tell it from others.
const SAMPLE: f64 = 0.015;
/// What another variant's time must be below, relative to the best so far: choosing among equals would be chance.
const GAIN: f64 = 0.92;
/// The first words of a remembered choice; to be changed with the kernels.
const HEADING: &str = "retort gpu tuning 2";

/// The choice of variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tuning {
    /// How the tiled product cuts its work.
    pub(super) tile: Tile,
    /// Whether the matrix-vector product uses subgroups.
    pub(super) subgroups: bool,
    /// Whether products of many rows go by packed dot products, where weights have scales.
    pub(super) dots: bool,
}

impl Tuning {
    /// As a line of text, for this adapter only.
    fn text(self, adapter: &str) -> String {
        let Tile { grid_rows, thread_rows, half, .. } = self.tile;
        let half = if half { "f16" } else { "f32" };
        let subgroups = if self.subgroups { "subgroups" } else { "workgroups" };
        let dots = if self.dots { "dots" } else { "floats" };
        format!("{HEADING}; {grid_rows}x{thread_rows} {half} {subgroups} {dots}; {adapter}")
    }

    /// Reads such a line, if it is for this adapter.
    fn parse(text: &str, adapter: &str) -> Option<Self> {
        let mut all = Vec::new();
        for tile in Tile::ALL {
            for half in [false, true] {
                for subgroups in [false, true] {
                    for dots in [false, true] {
                        all.push(Self { tile: tile.with_half(half), subgroups, dots });
                    }
                }
            }
        }
        all.into_iter().find(|tuning| tuning.text(adapter) == text)
    }

    /// The same without what a device may have and compute wrongly.
    pub(super) fn plain(self) -> Self {
        Self { tile: self.tile.with_half(false), subgroups: false, dots: false }
    }
}

impl Gpu {
    /// What was measured on this adapter, as a text that [`remember`](Self::remember) reads; absent before.
    #[must_use]
    pub fn tuning(&self) -> Option<String> {
        self.is_tuned.then(|| self.tuning.get().text(&self.described))
    }

    /// Takes over what was measured on the same adapter another time, so that it need not be measured again.
    /// Returns whether the text was of use.
    pub fn remember(&mut self, text: &str) -> bool {
        let usable = |tuning: &Tuning| {
            (!tuning.tile.half || self.has_half())
                && (!tuning.subgroups || self.has_subgroups())
                && (!tuning.dots || self.has_dots)
        };
        match Tuning::parse(text, &self.described).filter(usable) {
            Some(tuning) => {
                self.tuning.set(tuning);
                self.is_tuned = true;
                true
            }
            None => false,
        }
    }

    /// Measures which variants are fastest here, for about a quarter of a second, unless that is known.
    ///
    /// # Errors
    /// [`LmError::Gpu`] if the device is lost meanwhile.
    pub(super) async fn tune(&mut self) -> Result<(), LmError> {
        if self.is_tuned {
            return Ok(());
        }
        let watch = Stopwatch::start();
        let usual = self.tuning.get();
        let mut best = (usual.tile, self.time(Shape::Tile(usual.tile)).await?);
        let others = [Tile::HARDWARE, Tile::HIGH, Tile::LOW].into_iter().filter(|tile| *tile != usual.tile);
        for tile in others.take_while(|_| watch.seconds() < BUDGET) {
            let seconds = self.time(Shape::Tile(tile)).await?;
            if seconds < GAIN * best.1 {
                best = (tile, seconds);
            }
        }
        if self.has_half() && watch.seconds() < BUDGET {
            let tile = best.0.with_half(true);
            let seconds = self.time(Shape::Tile(tile)).await?;
            if seconds < GAIN * best.1 {
                best = (tile, seconds);
            }
        }
        // In the same tiles, so that batches are as long.
        let dots = self.has_dots
            && watch.seconds() < BUDGET
            && self.time(Shape::Dots(best.0.with_half(false))).await? < GAIN * best.1;
        let mut subgroups = false;
        if self.has_subgroups() && watch.seconds() < BUDGET {
            let plain = self.time(Shape::Vector { rows: 1, subgroups: false }).await?;
            subgroups = self.time(Shape::Vector { rows: 1, subgroups: true }).await? < GAIN * plain;
        }
        self.tuning.set(Tuning { tile: best.0, subgroups, dots });
        self.is_tuned = true;
        Ok(())
    }

    /// Seconds that a product of this shape takes, with the making of its whole numbers if it has them; infinite if
    /// it does not work here.
    pub(super) async fn time(&self, shape: Shape) -> Result<f64, LmError> {
        let product =
            Product { role: Role::Residual, layout: Layout::FourBits, shape, bias: false, adapter: false };
        match self.try_time(product).await {
            Ok(seconds) => Ok(seconds),
            Err(error) => {
                // A variant that does not work is not chosen; a device that does not work is an error.
                self.alive()?;
                match error {
                    LmError::Gpu { .. } | LmError::OutOfMemory { .. } => Ok(f64::INFINITY),
                    other => Err(other),
                }
            }
        }
    }

    async fn try_time(&self, product: Product) -> Result<f64, LmError> {
        let kernel = Kernel::Product(product);
        let quantize = Kernel::Quantize { norm: false, picked: false };
        let (rows, first) = match product.shape {
            Shape::Tile(_) => (256, None),
            Shape::Dots(_) => (256, Some(quantize)),
            Shape::Vector { rows, .. } => (rows, None),
        };
        let kernels: Vec<Kernel> = first.into_iter().chain([kernel]).collect();
        // Compiles them too, and warms them up.
        check::self_check(self, &kernels).await?;
        // A single row needs larger weights than a cache holds, or a larger cache than most.
        let size = if rows == 1 { [1, 4096, 2048] } else { [rows, 512, 1024] };
        let mut noise = Noise::new(1);
        let mut cases: Vec<Case> = Vec::new();
        if first.is_some() {
            cases.push(check::quantize_case([false, false], rows, 1024, &mut noise));
        }
        cases.push(check::product_case(product, size, &mut noise));
        let mut pipelines = Vec::new();
        for case in &cases {
            pipelines.push(self.pipeline(case.kernel)?);
        }
        let bound = self
            .scoped("measuring the device", || {
                let bound = cases.iter().map(|case| self.bind_case(case));
                bound.collect::<Vec<_>>()
            })
            .await?;
        self.settle().await?;
        let mut times = 1;
        loop {
            let watch = Stopwatch::start();
            let mut encoder = self.handle.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                for _ in 0..times {
                    for ((case, pipeline), (_, bind_group)) in cases.iter().zip(&pipelines).zip(&bound) {
                        pass.set_pipeline(pipeline);
                        pass.set_bind_group(0, bind_group, &[0]);
                        let [x, y, z] = case.workgroups;
                        pass.dispatch_workgroups(x, y, z);
                    }
                }
            }
            self.queue.submit([encoder.finish()]);
            self.settle().await?;
            let seconds = watch.seconds();
            if seconds >= SAMPLE || times >= 1024 {
                return Ok(seconds / f64::from(times));
            }
            times *= 4;
        }
    }

    /// A problem's buffers, to be kept, and its bind group.
    fn bind_case(&self, case: &Case) -> (Vec<Buffer>, wgpu::BindGroup) {
        use wgpu::BufferUsages as Usage;
        let parameters = self.buffer("parameters", PARAMETER_STRIDE as u64, Usage::UNIFORM | Usage::COPY_DST);
        self.queue.write_buffer(&parameters.0, 0, bytemuck::cast_slice(&case.parameters));
        let buffers: Vec<(u32, Buffer)> = case
            .bindings
            .iter()
            .map(|(&binding, words)| {
                let buffer = self.storage("measured", 4 * words.len() as u64);
                self.queue.write_buffer(&buffer.0, 0, bytemuck::cast_slice(words));
                (binding, buffer)
            })
            .collect();
        let bound: Vec<_> = buffers.iter().map(|(binding, buffer)| (*binding, buffer)).collect();
        let bind_group = self.bind(case.kernel, &parameters, &bound);
        (buffers.into_iter().map(|(_, buffer)| buffer).chain([parameters]).collect(), bind_group)
    }
}
