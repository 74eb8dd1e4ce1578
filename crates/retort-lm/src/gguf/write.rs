use super::Value;
use crate::quant::TensorType;

const ALIGNMENT: usize = 32;

/// Writes a GGUF file into memory: what tests and examples need to make small models.
#[derive(Debug, Default, Clone)]
pub struct GgufWriter {
    entries: Vec<(String, Value)>,
    tensors: Vec<(String, Vec<usize>, u32, Vec<u8>)>,
}

impl GgufWriter {
    /// An empty file.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a metadata entry. Integers are written as `u32` where they fit, floats as `f32`.
    pub fn entry(&mut self, key: &str, value: Value) -> &mut Self {
        self.entries.push((key.to_owned(), value));
        self
    }

    /// Adds a tensor from bytes that are already in its format. `shape` is innermost first.
    pub fn tensor(&mut self, name: &str, shape: &[usize], kind: TensorType, bytes: Vec<u8>) -> &mut Self {
        self.tensors.push((name.to_owned(), shape.to_vec(), kind.id(), bytes));
        self
    }

    /// The file's bytes.
    #[must_use]
    pub fn finish(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        put(&mut out, &3u32.to_le_bytes());
        put(&mut out, &(self.tensors.len() as u64).to_le_bytes());
        put(&mut out, &(self.entries.len() as u64).to_le_bytes());
        for (key, value) in &self.entries {
            put_text(&mut out, key);
            put_value(&mut out, value);
        }
        let mut offset = 0u64;
        for (name, shape, type_id, bytes) in &self.tensors {
            put_text(&mut out, name);
            put(&mut out, &(shape.len() as u32).to_le_bytes());
            for size in shape {
                put(&mut out, &(*size as u64).to_le_bytes());
            }
            put(&mut out, &type_id.to_le_bytes());
            put(&mut out, &offset.to_le_bytes());
            offset += bytes.len().next_multiple_of(ALIGNMENT) as u64;
        }
        out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
        for (_, _, _, bytes) in &self.tensors {
            put(&mut out, bytes);
            out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
        }
        out
    }
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, &(text.len() as u64).to_le_bytes());
    put(out, text.as_bytes());
}

fn put_value(out: &mut Vec<u8>, value: &Value) {
    let mut tagged = |tag: u32, bytes: &[u8]| {
        put(out, &tag.to_le_bytes());
        put(out, bytes);
    };
    match value {
        Value::Unsigned(n) => match u32::try_from(*n) {
            Ok(n) => tagged(4, &n.to_le_bytes()),
            Err(_) => tagged(10, &n.to_le_bytes()),
        },
        Value::Signed(n) => tagged(11, &n.to_le_bytes()),
        #[expect(clippy::cast_possible_truncation, reason = "documented: floats are written as f32")]
        Value::Float(x) => tagged(6, &(*x as f32).to_le_bytes()),
        Value::Bool(flag) => tagged(7, &[u8::from(*flag)]),
        Value::Text(text) => {
            tagged(8, &[]);
            put_text(out, text);
        }
        Value::Texts(texts) => {
            tagged(9, &8u32.to_le_bytes());
            put(out, &(texts.len() as u64).to_le_bytes());
            for text in texts {
                put_text(out, text);
            }
        }
        Value::SmallNumbers(numbers) => {
            tagged(9, &5u32.to_le_bytes());
            put(out, &(numbers.len() as u64).to_le_bytes());
            for number in numbers {
                put(out, &number.to_le_bytes());
            }
        }
        Value::Numbers(numbers) => {
            tagged(9, &12u32.to_le_bytes());
            put(out, &(numbers.len() as u64).to_le_bytes());
            for number in numbers {
                put(out, &number.to_le_bytes());
            }
        }
    }
}
