//! What the fuzz targets share: an allocator that counts, and the bound that every run must keep.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(feature = "lm")]
mod model;
#[cfg(feature = "lm")]
pub use model::*;

/// What a run may hold beyond a multiple of its input: tables of the tokenizer, the template engine's own.
const FREE_BYTES: usize = 64 << 20;
/// Bytes that a run may hold per byte of input. A weight of Q2_K takes a third of a byte and becomes four.
const BYTES_PER_BYTE: usize = 64;

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);

fn grow(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
    let most = MOST.load(Ordering::Relaxed);
    if held > most {
        // Once, since the message and the trace below allocate too.
        MOST.store(usize::MAX, Ordering::Relaxed);
        panic!("{held} bytes are held, and the input warrants at most {most}");
    }
}

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grow(size);
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs `read` over an input of so many bytes, and fails if it holds more memory at once than they warrant.
pub fn bounded<T>(input_bytes: usize, read: impl FnOnce() -> T) -> T {
    let most = HELD.load(Ordering::Relaxed) + FREE_BYTES + BYTES_PER_BYTE * input_bytes;
    MOST.store(most, Ordering::Relaxed);
    let found = read();
    MOST.store(usize::MAX, Ordering::Relaxed);
    found
}
