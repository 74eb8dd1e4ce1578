//! A model file in the browser: an OPFS access handle or a `Blob`, read synchronously in a worker.

use js_sys::{Array, Error};
use retort_lm::{ByteSource, JoinedSource, LmError};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// `ByteSource` of `types.d.ts`.
    #[wasm_bindgen(typescript_type = "ByteSource")]
    pub type JsByteSource;

    /// One `ByteSource` or an array of them.
    #[wasm_bindgen(typescript_type = "ByteSource | ByteSource[]")]
    pub type JsByteSources;

    #[wasm_bindgen(method, getter, structural)]
    fn size(this: &JsByteSource) -> f64;

    /// The file's own name, where it differs from the model's.
    #[wasm_bindgen(method, getter, structural)]
    fn name(this: &JsByteSource) -> Option<String>;

    /// `into` is a view of this module's memory: the browser writes the file's bytes where they are needed.
    #[wasm_bindgen(method, structural, catch)]
    fn read(this: &JsByteSource, offset: f64, into: &mut [u8]) -> Result<f64, JsValue>;
}

pub(crate) struct JsSource {
    source: JsByteSource,
    name: String,
    size: u64,
}

impl JsSource {
    /// A file that goes by its own name, or else by `name`.
    pub(crate) fn new(source: JsByteSource, name: &str) -> Result<Self, Error> {
        let name = source.name().unwrap_or_else(|| name.to_owned());
        let size = source.size();
        if !(0.0..=js_sys::Number::MAX_SAFE_INTEGER).contains(&size) {
            return Err(crate::retort_error(
                "data",
                &format!("{name} has no size that makes sense ({size})"),
            ));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
        Ok(Self { source, name, size: size as u64 })
    }
}

/// One file, or the parts of a split model in their order.
pub(crate) fn joined(sources: JsByteSources, name: &str) -> Result<JoinedSource<JsSource>, Error> {
    let sources = JsValue::from(sources);
    let sources = if Array::is_array(&sources) { Array::from(&sources) } else { Array::of1(&sources) };
    let mut parts = sources
        .iter()
        .map(|source| JsSource::new(source.unchecked_into(), name))
        .collect::<Result<Vec<_>, _>>()?
        .into_iter();
    let first = parts.next().ok_or_else(|| {
        crate::retort_error("data", &format!("{name}: no file was given; give all parts of the model"))
    })?;
    Ok(JoinedSource::new(first, parts))
}

impl ByteSource for JsSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> Result<(), LmError> {
        let failed = |problem: String| LmError::Read { name: self.name.clone(), offset, problem };
        let wanted = into.len() as f64;
        let read = self.source.read(offset as f64, into).map_err(|error| {
            failed(
                error
                    .dyn_ref::<Error>()
                    .map_or_else(|| format!("{error:?}"), |error| String::from(error.message())),
            )
        })?;
        if read == wanted {
            return Ok(());
        }
        Err(failed(format!("{wanted} bytes were asked for and {read} came; choose the file again")))
    }
}
