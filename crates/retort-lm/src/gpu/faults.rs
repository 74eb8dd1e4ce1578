//! Faults that tests plant in a device, and a count of what lies on it.

use std::cell::{Cell, RefCell};

use crate::LmError;

/// What goes wrong, and where.
#[derive(Debug, Default)]
pub(super) struct Faults {
    planted: RefCell<Vec<Fault>>,
    /// Kernels of which the names contain this write zeros.
    zeroed: RefCell<Option<String>>,
}

#[derive(Debug)]
struct Fault {
    /// Part of what is being done when it happens.
    place: String,
    /// How often that goes well before.
    spared: usize,
    /// How often it then happens.
    times: usize,
    kind: Kind,
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An allocation is refused.
    Refuse,
    /// The device is taken away.
    Lose,
}

impl Faults {
    /// From now on, whatever is described by words that contain `place` goes well `spared` times, then wrong
    /// `times` times.
    pub(super) fn plant(&self, kind: Kind, place: &str, spared: usize, times: usize) {
        self.planted.borrow_mut().push(Fault { place: place.to_owned(), spared, times, kind });
    }

    /// Kernels of which the names contain this write zeros, if they are not compiled yet.
    pub(super) fn zero(&self, kernels: &str) {
        *self.zeroed.borrow_mut() = Some(kernels.to_owned());
    }

    pub(super) fn zeroes(&self, kernel: &str) -> bool {
        self.zeroed.borrow().as_ref().is_some_and(|part| kernel.contains(part.as_str()))
    }

    /// What happens when this is done.
    pub(super) fn at(&self, what: &str, device: &wgpu::Device) -> Result<(), LmError> {
        for fault in self.planted.borrow_mut().iter_mut().filter(|fault| what.contains(&fault.place)) {
            if fault.spared > 0 {
                fault.spared -= 1;
            } else if fault.times > 0 {
                fault.times -= 1;
                match fault.kind {
                    Kind::Refuse => return Err(LmError::OutOfMemory { what: what.to_owned() }),
                    Kind::Lose => device.destroy(),
                }
            }
        }
        Ok(())
    }
}

thread_local! {
    /// Buffers of this thread's devices that have been made and not been destroyed.
    static BUFFERS: Cell<isize> = const { Cell::new(0) };
}

pub(super) fn count_buffer(change: isize) {
    BUFFERS.with(|buffers| buffers.set(buffers.get() + change));
}

/// Buffers of this thread's devices that have been made and not been destroyed.
pub(super) fn live_buffers() -> isize {
    BUFFERS.with(Cell::get)
}
