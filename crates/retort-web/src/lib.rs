//! The wasm-bindgen face of Retort: plain data in and out, no logic.
