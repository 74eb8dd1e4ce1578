//! Sharing out work: over a pool of threads natively, one item after the other in a browser, where the module has
//! one thread.

use super::kernel::COLUMNS;

/// Work below which threads cost more than they bring, in numbers touched.
#[cfg(not(target_arch = "wasm32"))]
const LEAST: usize = 16 * 1024;

#[cfg(not(target_arch = "wasm32"))]
mod pool {
    use std::sync::OnceLock;

    /// A pool of `RETORT_THREADS` threads, or `None` for the one that the process shares, of as many as there are
    /// processors.
    pub(super) fn own() -> Option<&'static rayon::ThreadPool> {
        static POOL: OnceLock<Option<rayon::ThreadPool>> = OnceLock::new();
        POOL.get_or_init(|| {
            let threads = std::env::var("RETORT_THREADS").ok()?.parse().ok().filter(|n| *n > 0)?;
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()
        })
        .as_ref()
    }
}

/// How many threads compute.
pub(super) fn count() -> usize {
    #[cfg(not(target_arch = "wasm32"))]
    {
        pool::own().map_or_else(rayon::current_num_threads, rayon::ThreadPool::current_num_threads)
    }
    #[cfg(target_arch = "wasm32")]
    {
        1
    }
}

/// Does `work` for every item. `size` says how many numbers all of it touches.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn each<T: Send>(
    size: usize,
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T) + Sync + Send,
) {
    use rayon::prelude::*;
    if size < LEAST || count() == 1 {
        items.for_each(work);
        return;
    }
    let items: Vec<T> = items.collect();
    let parallel = || items.into_par_iter().for_each(&work);
    match pool::own() {
        Some(pool) => pool.install(parallel),
        None => parallel(),
    }
}

/// Does `work` for every item.
#[cfg(target_arch = "wasm32")]
pub(super) fn each<T>(_size: usize, items: impl Iterator<Item = T>, work: impl Fn(T)) {
    items.for_each(work);
}

/// Numbers that several threads write at once, each at places of its own.
pub(super) struct Shared<'a> {
    start: *mut f32,
    len: usize,
    borrowed: std::marker::PhantomData<&'a mut [f32]>,
}

// SAFETY: a place is written by one thread only (see `write`), and nothing is read before all are done.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    pub(super) fn new(numbers: &'a mut [f32]) -> Self {
        Self { start: numbers.as_mut_ptr(), len: numbers.len(), borrowed: std::marker::PhantomData }
    }

    /// Writes numbers from this place on. What would lie beyond the end is an error of the caller's and is not
    /// written.
    ///
    /// # Safety
    /// No two threads may write the same place.
    pub(super) unsafe fn write(&self, at: usize, numbers: &[f32]) {
        debug_assert!(at + numbers.len() <= self.len);
        if at.checked_add(numbers.len()).is_none_or(|end| end > self.len) {
            return;
        }
        // SAFETY: within the slice, which is borrowed for as long as this lives; the caller sees to it that nobody
        // else writes there.
        unsafe {
            let to = self.start.add(at);
            // A whole panel's width is the usual case, and a copy of known size takes no call.
            match numbers.first_chunk::<COLUMNS>().filter(|_| numbers.len() == COLUMNS) {
                Some(panel) => to.cast::<[f32; COLUMNS]>().write_unaligned(*panel),
                None => std::ptr::copy_nonoverlapping(numbers.as_ptr(), to, numbers.len()),
            }
        }
    }
}
