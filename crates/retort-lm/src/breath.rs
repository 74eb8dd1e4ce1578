//! Letting the world go on during a long computation.

/// How long a computation in a browser may hold its worker, in milliseconds.
#[cfg(target_arch = "wasm32")]
const HOLD_MS: f64 = 40.0;

/// Gives control back to the event loop now and then, so that a worker can hear a cancel message.
#[derive(Debug)]
pub(crate) struct Breath {
    #[cfg(target_arch = "wasm32")]
    last: f64,
}

#[cfg(not(target_arch = "wasm32"))]
impl Breath {
    pub(crate) fn new() -> Self {
        Self {}
    }

    /// Natively nothing has to be let in: cancelling comes from another thread.
    #[expect(clippy::unused_async, reason = "the same call suspends in a browser")]
    pub(crate) async fn take(&mut self) {}
}

#[cfg(target_arch = "wasm32")]
impl Breath {
    pub(crate) fn new() -> Self {
        Self { last: js_sys::Date::now() }
    }

    /// Waits for one turn of the event loop if the worker has been held for long enough.
    pub(crate) async fn take(&mut self) {
        if js_sys::Date::now() - self.last < HOLD_MS {
            return;
        }
        macrotask().await;
        self.last = js_sys::Date::now();
    }
}

/// Messages are tasks of the event loop: resolving a promise alone would not let them in. A message to
/// oneself does, without the 4 ms that browsers add to nested timers.
#[cfg(target_arch = "wasm32")]
async fn macrotask() {
    let Ok(channel) = web_sys::MessageChannel::new() else { return };
    let (here, there) = (channel.port1(), channel.port2());
    let heard = js_sys::Promise::new(&mut |resolve, _| here.set_onmessage(Some(&resolve)));
    if there.post_message(&wasm_bindgen::JsValue::NULL).is_ok() {
        // The promise has no way to be rejected.
        let _ = wasm_bindgen_futures::JsFuture::from(heard).await;
    }
    here.close();
}
