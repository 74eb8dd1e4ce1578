//! Measures how fast the GPU backend reads a prompt: `gpu_prefill MODEL.gguf [TOKENS [OUTPUTS]]`.
//!
//! Computes that many tokens (512) in chunks, with logits for the last rows (1), three times, and prints for each
//! run tokens per second, the size of the last chunk, and the longest time in which nobody could have stopped it.

#[cfg(not(target_arch = "wasm32"))]
#[expect(clippy::disallowed_methods, reason = "it runs natively, and reads the clock")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::time::Instant;

    use retort_lm::backend::{Backend, Batch, View};
    use retort_lm::config::Config;
    use retort_lm::gguf::Gguf;
    use retort_lm::gpu::GpuBackend;
    use retort_lm::{FileSource, Flow};

    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: gpu_prefill MODEL.gguf [TOKENS [OUTPUTS]]")?;
    let count: usize = arguments.next().map_or(Ok(512), |text| text.parse())?;
    let outputs: usize = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let mut source = FileSource::open(path.as_ref())?;
    let gguf = Gguf::read(&mut source)?;
    let config = Config::read(&gguf, &mut source)?;

    let gpu = pollster::block_on(GpuBackend::open())?;
    println!("{}, {}", gpu.device, if gpu.is_software() { "software" } else { "hardware" });
    let start = Instant::now();
    pollster::block_on(GpuBackend::self_check(&gpu))?;
    println!("self-check: {:.2?}", start.elapsed());
    let start = Instant::now();
    let mut go_on = |_| Flow::Continue;
    let mut backend = pollster::block_on(GpuBackend::load(gpu, &gguf, &config, &mut source, &mut go_on))?;
    println!("load: {:.2?}", start.elapsed());
    pollster::block_on(backend.reserve(count, 0))?;
    for _ in 0..3 {
        let start = Instant::now();
        let (mut heard, mut longest) = (start, 0f64);
        let (mut first, mut chunk) = (0, 0);
        while first < count {
            // Asked anew each time: it is adapted to what was measured.
            chunk = backend.chunk().min(count - first);
            let end = first + chunk;
            let rows = chunk as u32;
            let wanted = if end == count { rows.min(outputs as u32) } else { 0 };
            let batch = Batch {
                first_slot: first as u32,
                tokens: (first..end).map(|i| (i * 31 % config.vocabulary) as u32).collect(),
                positions: (first as u32..end as u32).collect(),
                views: vec![View { prefix: 0, trunk_start: 0, trunk_end: 0, own: 0 }; chunk],
                outputs: (rows - wanted..rows).collect(),
                states: Vec::new(),
            };
            let mut tick = |_| {
                longest = longest.max(heard.elapsed().as_secs_f64());
                heard = Instant::now();
                Flow::Continue
            };
            pollster::block_on(backend.forward(&batch, &mut tick))?;
            first = end;
        }
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{count} tokens in {seconds:.2} s: {:.1} tokens/s; last chunk {chunk}, longest without a stop {longest:.2} s",
            count as f64 / seconds
        );
    }
    Ok(())
}

#[cfg(target_arch = "wasm32")]
fn main() {}
