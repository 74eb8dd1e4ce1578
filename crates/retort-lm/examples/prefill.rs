//! Measures how fast the CPU backend reads a prompt: `prefill MODEL.gguf [TOKENS [ROUNDS]]`.
//!
//! Computes that many tokens (512) in the backend's own chunks, with logits for the last row only, and prints the
//! seconds of each round. `RETORT_THREADS` and `RETORT_KERNEL` (`128`, `256`, `512`, `portable`) choose how.

#[cfg(not(target_arch = "wasm32"))]
#[expect(clippy::disallowed_methods, reason = "it runs natively, and reads the clock")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::time::Instant;

    use retort_lm::backend::{Backend, Batch, View};
    use retort_lm::config::Config;
    use retort_lm::cpu::CpuBackend;
    use retort_lm::gguf::Gguf;
    use retort_lm::{FileSource, Flow};

    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: prefill MODEL.gguf [TOKENS [ROUNDS]]")?;
    let count: usize = arguments.next().map_or(Ok(512), |text| text.parse())?;
    let rounds: usize = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let mut source = FileSource::open(path.as_ref())?;
    let gguf = Gguf::read(&mut source)?;
    let config = Config::read(&gguf, &mut source)?;
    let start = Instant::now();
    let mut go_on = |_| Flow::Continue;
    let mut backend = pollster::block_on(CpuBackend::load(&gguf, &config, &mut source, &mut go_on))?;
    println!("{}; loaded in {:.2?}", backend.device(), start.elapsed());
    pollster::block_on(backend.reserve(count, 0))?;
    for _ in 0..rounds {
        let start = Instant::now();
        for first in (0..count).step_by(backend.chunk()) {
            let end = (first + backend.chunk()).min(count);
            let rows = end - first;
            let batch = Batch {
                first_slot: first as u32,
                tokens: (first..end).map(|i| (i * 7919 % config.vocabulary) as u32).collect(),
                positions: (first as u32..end as u32).collect(),
                views: vec![
                    View {
                        prefix: first as u32,
                        trunk_start: first as u32,
                        trunk_end: first as u32,
                        own: first as u32
                    };
                    rows
                ],
                outputs: if end == count { vec![rows as u32 - 1] } else { Vec::new() },
                states: Vec::new(),
            };
            pollster::block_on(backend.forward(&batch, &mut |_| Flow::Continue))?;
        }
        let seconds = start.elapsed().as_secs_f64();
        println!("{count} tokens in {seconds:.3} s: {:.0} tokens/s", count as f64 / seconds);
    }
    Ok(())
}

#[cfg(target_arch = "wasm32")]
fn main() {}
