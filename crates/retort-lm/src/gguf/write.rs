use super::Value;
use crate::quant::TensorType;

const ALIGNMENT: usize = 32;

/// Writes a GGUF file into memory: what tests and examples need to make small models.
#[derive(Debug, Default, Clone)]
pub struct GgufWriter {
    entries: Vec<(String, Value)>,
    tensors: Vec<Tensor>,
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

    /// Sets a metadata entry in place of the one under the same key, or adds it.
    pub fn set(&mut self, key: &str, value: Value) -> &mut Self {
        match self.entries.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = value,
            None => self.entries.push((key.to_owned(), value)),
        }
        self
    }

    /// Adds a tensor from bytes that are already in its format. `shape` is innermost first.
    pub fn tensor(&mut self, name: &str, shape: &[usize], kind: TensorType, bytes: Vec<u8>) -> &mut Self {
        self.tensors.push((name.to_owned(), shape.to_vec(), kind.id(), bytes));
        self
    }

    /// How many tensors there are.
    #[must_use]
    pub fn tensors(&self) -> usize {
        self.tensors.len()
    }

    /// The file's bytes.
    #[must_use]
    pub fn finish(&self) -> Vec<u8> {
        file(&self.entries, &self.tensors, None)
    }

    /// The bytes of a split model's parts, each with at most so many tensors (at least 1): metadata in the first
    /// part, and in every part what llama.cpp writes there.
    #[must_use]
    pub fn finish_split(&self, most_tensors: usize) -> Vec<Vec<u8>> {
        let parts: Vec<_> = self.tensors.chunks(most_tensors.max(1)).collect();
        let split = |number| Some(Split { number, count: parts.len(), tensors: self.tensors.len() });
        let entries = |number| if number == 0 { &*self.entries } else { &[] };
        parts
            .iter()
            .enumerate()
            .map(|(number, tensors)| file(entries(number), tensors, split(number)))
            .collect()
    }
}

type Tensor = (String, Vec<usize>, u32, Vec<u8>);

/// What a part says of itself.
struct Split {
    number: usize,
    count: usize,
    tensors: usize,
}

fn file(entries: &[(String, Value)], tensors: &[Tensor], split: Option<Split>) -> Vec<u8> {
    let mut out = b"GGUF".to_vec();
    let entry_count = entries.len() + if split.is_some() { 3 } else { 0 };
    put(&mut out, &3u32.to_le_bytes());
    put(&mut out, &(tensors.len() as u64).to_le_bytes());
    put(&mut out, &(entry_count as u64).to_le_bytes());
    for (key, value) in entries {
        put_text(&mut out, key);
        put_value(&mut out, value);
    }
    if let Some(Split { number, count, tensors }) = split {
        // llama.cpp insists on these types: 16 bits without a sign, and 32 with one.
        for (key, value) in [("split.no", number), ("split.count", count)] {
            put_text(&mut out, key);
            put(&mut out, &2u32.to_le_bytes());
            put(&mut out, &(value as u16).to_le_bytes());
        }
        put_text(&mut out, "split.tensors.count");
        put(&mut out, &5u32.to_le_bytes());
        put(&mut out, &(tensors as i32).to_le_bytes());
    }
    let mut offset = 0u64;
    for (name, shape, type_id, bytes) in tensors {
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
    for (_, _, _, bytes) in tensors {
        put(&mut out, bytes);
        out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
    }
    out
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
