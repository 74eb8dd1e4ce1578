use std::collections::BTreeMap;

use super::{Value, split};
use crate::quant::{SUPPORTED, TensorType};
use crate::{ByteSource, LmError};

/// Bytes read from the source at a time while reading the header.
const CHUNK: usize = 256 * 1024;
/// A tensor's smallest possible description: empty name, one dimension, type, offset.
const MIN_TENSOR_INFO: u64 = 8 + 4 + 8 + 4 + 8;
/// A metadata entry's smallest possible form: empty key, type, one byte.
const MIN_ENTRY: u64 = 8 + 4 + 1;
/// Far above what models have (some tens of entries; nine tensors per block): what a header costs in memory
/// beyond its own size stays below a mebibyte.
const MAX_ENTRIES: u64 = 4096;
const MAX_TENSORS: u64 = 8192;
const TOO_LARGE: &str = "it is too large for this machine";
/// GGML has no tensors of more dimensions.
const MAX_DIMENSIONS: u32 = 4;

/// What the header of one file says: a whole model, or a part of a split one.
pub(super) struct Part {
    pub(super) name: String,
    pub(super) metadata: BTreeMap<String, Value>,
    pub(super) tensors: BTreeMap<String, TensorInfo>,
}

/// Where a tensor lies and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// Its name.
    pub name: String,
    /// Sizes, innermost first: a weight matrix is `[inputs, outputs]`.
    pub shape: Vec<usize>,
    /// GGML's number of its format.
    pub type_id: u32,
    /// Byte offset in the file; in a split model, in the joined parts.
    pub offset: u64,
}

/// Some rows of a weight matrix in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// The tensor's name.
    pub tensor: String,
    /// Inputs and outputs of the whole tensor.
    pub shape: [usize; 2],
    /// Which of its rows.
    pub rows: std::ops::Range<usize>,
}

impl Rows {
    /// All rows of a tensor of this shape.
    #[must_use]
    pub fn all(tensor: &str, shape: [usize; 2]) -> Self {
        Self { tensor: tensor.to_owned(), shape, rows: 0..shape[1] }
    }
}

/// Where rows lie in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Their format.
    pub kind: TensorType,
    /// Byte offset of the first; in a split model, in the joined parts.
    pub offset: u64,
    /// Bytes of each.
    pub row_bytes: usize,
}

/// A GGUF file's header: metadata and the table of tensors.
#[derive(Debug, Clone)]
pub struct Gguf {
    /// The file's name, for messages; of a split model the first part's.
    pub name: String,
    /// The file's size in bytes; of a split model all parts'.
    pub size: u64,
    metadata: BTreeMap<String, Value>,
    tensors: BTreeMap<String, TensorInfo>,
}

impl Gguf {
    /// Reads the header and checks it against the size of the file. Of a split model every part's header is read:
    /// the metadata is the first part's, the tensors are those of all parts.
    ///
    /// # Errors
    /// [`LmError::NotGguf`], [`LmError::Truncated`], [`LmError::Damaged`] (which name the field), or
    /// [`LmError::Unsupported`] for a version of the format that is not 2 or 3; [`LmError::Split`] where the source
    /// is not all parts of one model in order.
    pub fn read(source: &mut dyn ByteSource) -> Result<Self, LmError> {
        let starts = source.parts();
        let (name, size) = (source.name().to_owned(), source.size());
        let ends = starts.iter().copied().skip(1).chain([size]);
        let mut parts = Vec::with_capacity(starts.len());
        let mut tensors = 0;
        for (index, (&start, end)) in starts.iter().zip(ends).enumerate() {
            let part_name = source.part_name(index).to_owned();
            let part = Part::read(source, part_name, start..end, &mut tensors)?;
            parts.push(part);
        }
        split::check(&parts)?;
        let mut parts = parts.into_iter();
        let Some(Part { metadata, mut tensors, .. }) = parts.next() else {
            return Err(LmError::NotGguf { name, found: "nothing, it has no parts".into() });
        };
        for part in parts {
            tensors.extend(part.tensors);
        }
        Ok(Self { name, size, metadata, tensors })
    }

    /// Lets go of the vocabulary, which a tokenizer has its own copy of: some megabytes in tens of thousands of texts.
    pub fn forget_vocabulary(&mut self) {
        self.metadata.retain(|key, _| !key.starts_with("tokenizer."));
    }

    /// The metadata value under this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.metadata.get(key)
    }

    /// All metadata, by key.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.metadata.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// All tensors, by name.
    pub fn tensors(&self) -> impl Iterator<Item = &TensorInfo> {
        self.tensors.values()
    }

    /// The tensor of this name.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.get(name)
    }

    /// A text.
    ///
    /// # Errors
    /// [`LmError::Damaged`] if the key holds another kind of value. An absent key is `None`.
    pub fn text(&self, key: &str) -> Result<Option<&str>, LmError> {
        self.typed(key, "a text", |value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// An array of texts.
    ///
    /// # Errors
    /// As for [`text`](Self::text).
    pub fn texts(&self, key: &str) -> Result<Option<&[String]>, LmError> {
        self.typed(key, "an array of texts", |value| match value {
            Value::Texts(texts) => Some(texts.as_slice()),
            Value::Numbers(numbers) if numbers.is_empty() => Some(&[][..]),
            _ => None,
        })
    }

    /// An array of numbers.
    ///
    /// # Errors
    /// As for [`text`](Self::text).
    pub fn numbers(&self, key: &str) -> Result<Option<&[f64]>, LmError> {
        self.typed(key, "an array of numbers", |value| match value {
            Value::Numbers(numbers) => Some(numbers.as_slice()),
            _ => None,
        })
    }

    /// A count: an integer that is not negative and fits.
    ///
    /// # Errors
    /// As for [`text`](Self::text).
    pub fn count(&self, key: &str) -> Result<Option<usize>, LmError> {
        self.typed(key, "a whole number from 0 to 2^31", |value| {
            match value {
                Value::Unsigned(n) => usize::try_from(*n).ok(),
                Value::Signed(n) => usize::try_from(*n).ok(),
                _ => None,
            }
            .filter(|n| *n <= 1 << 31)
        })
    }

    /// A finite number.
    ///
    /// # Errors
    /// As for [`text`](Self::text).
    pub fn number(&self, key: &str) -> Result<Option<f64>, LmError> {
        self.typed(key, "a finite number", |value| {
            match value {
                Value::Float(x) => Some(*x),
                #[expect(clippy::cast_precision_loss, reason = "metadata numbers are small")]
                Value::Unsigned(n) => Some(*n as f64),
                #[expect(clippy::cast_precision_loss, reason = "metadata numbers are small")]
                Value::Signed(n) => Some(*n as f64),
                _ => None,
            }
            .filter(|x: &f64| x.is_finite())
        })
    }

    /// A truth value.
    ///
    /// # Errors
    /// As for [`text`](Self::text).
    pub fn flag(&self, key: &str) -> Result<Option<bool>, LmError> {
        self.typed(key, "a truth value", |value| match value {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        })
    }

    /// The value, or an error that names the key and what would supply it.
    ///
    /// # Errors
    /// [`LmError::MissingKey`] if `value` is `None`.
    pub fn required<T>(&self, key: &str, value: Option<T>, supplied_by: &str) -> Result<T, LmError> {
        value.ok_or_else(|| LmError::MissingKey {
            name: self.name.clone(),
            key: key.to_owned(),
            supplied_by: supplied_by.to_owned(),
        })
    }

    /// A metadata key that holds something impossible.
    #[must_use]
    pub fn damaged(&self, field: &str, problem: impl Into<String>) -> LmError {
        LmError::Damaged { name: self.name.clone(), field: field.to_owned(), problem: problem.into() }
    }

    fn typed<'a, T>(
        &'a self,
        key: &str,
        expected: &str,
        convert: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, LmError> {
        match self.metadata.get(key) {
            None => Ok(None),
            Some(value) => convert(value).map(Some).ok_or_else(|| {
                self.damaged(key, format!("{expected} was expected here, and it holds {}", value.kind()))
            }),
        }
    }

    /// Where a tensor lies and what its format is.
    ///
    /// # Errors
    /// [`LmError::Tensor`] if there is no such tensor or its shape is not `shape` (innermost first);
    /// [`LmError::Unsupported`] for a format that this engine does not read.
    pub fn locate(&self, tensor: &str, shape: &[usize]) -> Result<(&TensorInfo, TensorType), LmError> {
        let info = self.tensor(tensor).ok_or_else(|| self.wrong_tensor(tensor, "it is absent".into()))?;
        if info.shape != shape {
            let problem = format!("its shape is {:?} where {shape:?} is needed", info.shape);
            return Err(self.wrong_tensor(tensor, problem));
        }
        let kind = TensorType::from_id(info.type_id).ok_or_else(|| LmError::Unsupported {
            name: self.name.clone(),
            what: format!("tensor \"{tensor}\" in format {}", type_name(info.type_id)),
            instead: format!("use a file quantized as one of {}", SUPPORTED.map(TensorType::name).join(", ")),
        })?;
        Ok((info, kind))
    }

    fn wrong_tensor(&self, tensor: &str, problem: String) -> LmError {
        LmError::Tensor {
            name: self.name.clone(),
            tensor: tensor.to_owned(),
            problem,
            architecture: self.text("general.architecture").ok().flatten().unwrap_or("language").to_owned(),
        }
    }

    /// The tensor's bytes, read into `bytes`, and its format.
    ///
    /// # Errors
    /// As for [`locate`](Self::locate), or a failure to read.
    pub fn read_tensor(
        &self,
        source: &mut dyn ByteSource,
        tensor: &str,
        shape: &[usize],
        bytes: &mut Vec<u8>,
    ) -> Result<TensorType, LmError> {
        let (info, kind) = self.locate(tensor, shape)?;
        let len = info.byte_len(kind).and_then(|len| usize::try_from(len).ok());
        let len = len.ok_or_else(|| self.wrong_tensor(tensor, TOO_LARGE.into()))?;
        bytes.clear();
        bytes.resize(len, 0);
        source.read_at(info.offset, bytes)?;
        Ok(kind)
    }

    /// Where some rows of a matrix lie and what their format is. Rows are whole blocks in every format.
    ///
    /// # Errors
    /// As for [`locate`](Self::locate); [`LmError::Tensor`] for rows that the tensor does not have.
    pub fn extent(&self, rows: &Rows) -> Result<Extent, LmError> {
        let (info, kind) = self.locate(&rows.tensor, &rows.shape)?;
        let wrong = |problem: String| self.wrong_tensor(&rows.tensor, problem);
        let [inputs, outputs] = rows.shape;
        if rows.rows.start > rows.rows.end || rows.rows.end > outputs {
            return Err(wrong(format!("it has {outputs} rows, and rows {:?} are needed", rows.rows)));
        }
        let row_bytes = (inputs / kind.block_weights()).checked_mul(kind.block_bytes());
        let row_bytes = row_bytes.ok_or_else(|| wrong(TOO_LARGE.into()))?;
        // Within the tensor, which the reader has found to lie within the file.
        let offset = info.offset + rows.rows.start as u64 * row_bytes as u64;
        Ok(Extent { kind, offset, row_bytes })
    }

    /// The rows' bytes, read into `bytes`, and their format.
    ///
    /// # Errors
    /// As for [`extent`](Self::extent), or a failure to read.
    pub fn read_rows(
        &self,
        source: &mut dyn ByteSource,
        rows: &Rows,
        bytes: &mut Vec<u8>,
    ) -> Result<TensorType, LmError> {
        let Extent { kind, offset, row_bytes } = self.extent(rows)?;
        let len = rows.rows.len().checked_mul(row_bytes);
        let len = len.ok_or_else(|| self.wrong_tensor(&rows.tensor, TOO_LARGE.into()))?;
        bytes.clear();
        bytes.resize(len, 0);
        source.read_at(offset, bytes)?;
        Ok(kind)
    }
}

impl Part {
    /// Reads the header of the file that lies in `range` of the source. `tensors_so_far` counts those of all parts.
    fn read(
        source: &mut dyn ByteSource,
        name: String,
        range: std::ops::Range<u64>,
        tensors_so_far: &mut u64,
    ) -> Result<Self, LmError> {
        let (start, size) = (range.start, range.end.saturating_sub(range.start));
        let mut header = Header { source, start, at: 0, buffer: Vec::new(), buffer_at: 0, name: &name, size };
        let mut magic = [0u8; 4];
        let head = size.min(4) as usize;
        header.bytes_into(&mut magic[..head], "the first four bytes")?;
        if &magic != b"GGUF" {
            let found = if size == 0 { "nothing, it is empty".to_owned() } else { readable(&magic[..head]) };
            return Err(LmError::NotGguf { name, found });
        }
        let version = header.u32("version")?;
        if !(2..=3).contains(&version) {
            // The version of a big-endian file, read as ours are, has its bytes the wrong way round.
            let big_endian = (1..=3).contains(&version.swap_bytes());
            return Err(LmError::Unsupported {
                what: match big_endian {
                    true => "a big-endian file (its version has its bytes the other way round)".into(),
                    false => format!("version {version} of the GGUF format"),
                },
                instead: "convert the model with a current llama.cpp, which writes version 3".into(),
                name,
            });
        }
        let tensor_count = header.count("tensor count", MIN_TENSOR_INFO)?;
        let entry_count = header.count("metadata count", MIN_ENTRY)?;
        *tensors_so_far = tensors_so_far.saturating_add(tensor_count);
        for (what, count, most) in
            [("tensor count", *tensors_so_far, MAX_TENSORS), ("metadata count", entry_count, MAX_ENTRIES)]
        {
            if count > most {
                return Err(header.damaged(what, &format!("{count} is more than any model has ({most})")));
            }
        }

        let mut metadata = BTreeMap::new();
        for index in 0..entry_count {
            let key = header.text(&format!("key of metadata entry {index}"))?;
            let kind = header.u32(&key)?;
            let value = header.value(kind, &key)?;
            if metadata.insert(key.clone(), value).is_some() {
                return Err(header.damaged(&key, "it occurs twice"));
            }
        }
        let alignment = match metadata.get("general.alignment") {
            None => 32,
            Some(Value::Unsigned(n)) if n.is_power_of_two() && *n < (1 << 31) => *n,
            Some(_) => {
                return Err(header.damaged("general.alignment", "it must be a power of two below 2^31"));
            }
        };

        let mut tensors = BTreeMap::new();
        for index in 0..tensor_count {
            let info = header.tensor_info(index)?;
            let tensor = format!("tensor \"{}\"", info.name);
            if tensors.insert(info.name.clone(), info).is_some() {
                return Err(header.damaged(&tensor, "it occurs twice"));
            }
        }
        let data_start = header.at.next_multiple_of(alignment);
        // Where each tensor lies, so that no two are found to share bytes.
        let mut extents = Vec::with_capacity(tensors.len());
        for info in tensors.values_mut() {
            let tensor = format!("tensor \"{}\"", info.name);
            if !info.offset.is_multiple_of(alignment) {
                return Err(header.damaged(&tensor, &format!("its offset is not a multiple of {alignment}")));
            }
            let offset = data_start
                .checked_add(info.offset)
                .ok_or_else(|| header.damaged(&tensor, "its offset is beyond any file"))?;
            let end = match TensorType::from_id(info.type_id) {
                Some(kind) => {
                    info.byte_len(kind).and_then(|len| offset.checked_add(len)).ok_or_else(|| {
                        header.damaged(
                            &tensor,
                            &format!(
                                "its shape {:?} is not whole blocks of {}, or too large",
                                info.shape,
                                kind.name()
                            ),
                        )
                    })?
                }
                // A format of unknown size can at least not begin behind the end of the file.
                None => offset,
            };
            if end > size {
                return Err(LmError::Truncated { name, what: tensor, needed: end, size });
            }
            // Inside this part, and so inside the source.
            info.offset = start + offset;
            extents.push((offset, end, &*info.name));
        }
        // Otherwise a small file could stand for any number of weights.
        extents.sort_unstable();
        for pair in extents.windows(2) {
            let ((_, end, before), (start, _, after)) = (pair[0], pair[1]);
            if start < end {
                let problem = format!("it shares bytes with tensor \"{before}\"");
                return Err(header.damaged(&format!("tensor \"{after}\""), &problem));
            }
        }
        Ok(Self { name, metadata, tensors })
    }
}

impl TensorInfo {
    /// Size in bytes, or `None` where rows are not whole blocks or the product overflows.
    #[must_use]
    pub fn byte_len(&self, kind: TensorType) -> Option<u64> {
        let weights = self.shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d as u64))?;
        let row = *self.shape.first()?;
        if !row.is_multiple_of(kind.block_weights()) {
            return None;
        }
        (weights / kind.block_weights() as u64).checked_mul(kind.block_bytes() as u64)
    }
}

/// GGML's names of formats that may occur, so that a message can name one that is not supported.
pub(crate) fn type_name(id: u32) -> String {
    let known = [
        (0, "F32"),
        (1, "F16"),
        (2, "Q4_0"),
        (3, "Q4_1"),
        (6, "Q5_0"),
        (7, "Q5_1"),
        (8, "Q8_0"),
        (9, "Q8_1"),
        (10, "Q2_K"),
        (11, "Q3_K"),
        (12, "Q4_K"),
        (13, "Q5_K"),
        (14, "Q6_K"),
        (15, "Q8_K"),
        (16, "IQ2_XXS"),
        (17, "IQ2_XS"),
        (18, "IQ3_XXS"),
        (19, "IQ1_S"),
        (20, "IQ4_NL"),
        (21, "IQ3_S"),
        (22, "IQ2_S"),
        (23, "IQ4_XS"),
        (29, "IQ1_M"),
        (30, "BF16"),
        (34, "TQ1_0"),
        (35, "TQ2_0"),
        (39, "MXFP4"),
    ];
    match known.iter().find(|(known, _)| *known == id) {
        Some((_, name)) => (*name).to_owned(),
        None => format!("number {id}"),
    }
}

fn readable(bytes: &[u8]) -> String {
    let text: String =
        bytes.iter().map(|&b| if b.is_ascii_graphic() { char::from(b) } else { '.' }).collect();
    let hex: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
    format!("\"{text}\" ({})", hex.join(" "))
}

struct Header<'a> {
    source: &'a mut dyn ByteSource,
    /// Where the file begins in the source.
    start: u64,
    /// Offset in the file of the next byte to be read.
    at: u64,
    buffer: Vec<u8>,
    /// Offset in the file of the buffer's first byte.
    buffer_at: u64,
    name: &'a str,
    size: u64,
}

impl Header<'_> {
    fn damaged(&self, field: &str, problem: &str) -> LmError {
        LmError::Damaged { name: self.name.to_owned(), field: field.to_owned(), problem: problem.to_owned() }
    }

    /// Fails unless `len` more bytes exist.
    fn need(&self, len: u64, what: &str) -> Result<(), LmError> {
        let needed = self.at.saturating_add(len);
        if needed <= self.size {
            return Ok(());
        }
        Err(LmError::Truncated { name: self.name.to_owned(), what: what.to_owned(), needed, size: self.size })
    }

    fn bytes_into(&mut self, mut into: &mut [u8], what: &str) -> Result<(), LmError> {
        self.need(into.len() as u64, what)?;
        while !into.is_empty() {
            let within = usize::try_from(self.at - self.buffer_at).unwrap_or(usize::MAX);
            if within >= self.buffer.len() {
                let len = (self.size - self.at).min(CHUNK as u64) as usize;
                self.buffer.resize(len, 0);
                self.buffer_at = self.at;
                self.source.read_at(self.start + self.at, &mut self.buffer)?;
                continue;
            }
            let available = &self.buffer[within..];
            let len = available.len().min(into.len());
            let (now, rest) = into.split_at_mut(len);
            now.copy_from_slice(&available[..len]);
            into = rest;
            self.at += len as u64;
        }
        Ok(())
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], LmError> {
        let mut bytes = [0; N];
        self.bytes_into(&mut bytes, what)?;
        Ok(bytes)
    }

    fn u32(&mut self, what: &str) -> Result<u32, LmError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    fn u64(&mut self, what: &str) -> Result<u64, LmError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// A number of things that each take at least `least` bytes, so that the file bounds it.
    fn count(&mut self, what: &str, least: u64) -> Result<u64, LmError> {
        let count = self.u64(what)?;
        let len =
            count.checked_mul(least).ok_or_else(|| self.damaged(what, &format!("{count} is absurd")))?;
        self.need(len, &format!("{what} {count}"))?;
        Ok(count)
    }

    fn text(&mut self, what: &str) -> Result<String, LmError> {
        let len = self.count(what, 1)?;
        let len = usize::try_from(len).map_err(|_| self.damaged(what, "its text is too long"))?;
        let mut bytes = vec![0; len];
        self.bytes_into(&mut bytes, what)?;
        String::from_utf8(bytes).map_err(|_| self.damaged(what, "its text is not UTF-8"))
    }

    fn value(&mut self, kind: u32, key: &str) -> Result<Value, LmError> {
        Ok(match kind {
            8 => Value::Text(self.text(key)?),
            9 => self.array_value(key)?,
            _ => self.scalar(kind, key)?,
        })
    }

    fn scalar(&mut self, kind: u32, key: &str) -> Result<Value, LmError> {
        Ok(match kind {
            0 => Value::Unsigned(u8::from_le_bytes(self.array(key)?).into()),
            1 => Value::Signed(i8::from_le_bytes(self.array(key)?).into()),
            2 => Value::Unsigned(u16::from_le_bytes(self.array(key)?).into()),
            3 => Value::Signed(i16::from_le_bytes(self.array(key)?).into()),
            4 => Value::Unsigned(self.u32(key)?.into()),
            5 => Value::Signed(i32::from_le_bytes(self.array(key)?).into()),
            6 => Value::Float(f32::from_le_bytes(self.array(key)?).into()),
            7 => match self.array::<1>(key)?[0] {
                0 => Value::Bool(false),
                1 => Value::Bool(true),
                other => return Err(self.damaged(key, &format!("{other} is not a truth value"))),
            },
            10 => Value::Unsigned(self.u64(key)?),
            11 => Value::Signed(i64::from_le_bytes(self.array(key)?)),
            12 => Value::Float(f64::from_le_bytes(self.array(key)?)),
            other => return Err(self.damaged(key, &format!("{other} is no value type of the format"))),
        })
    }

    fn array_value(&mut self, key: &str) -> Result<Value, LmError> {
        let kind = self.u32(key)?;
        let least = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            8 | 10..=12 => 8,
            9 => return Err(self.damaged(key, "arrays within arrays are not read")),
            other => return Err(self.damaged(key, &format!("{other} is no value type of the format"))),
        };
        let count = self.count(key, least)?;
        // The file bounds the count, and the exact size keeps memory near the file's own.
        let capacity = usize::try_from(count).map_err(|_| self.damaged(key, "its array is too long"))?;
        if kind == 8 {
            let mut texts = Vec::with_capacity(capacity);
            for _ in 0..count {
                texts.push(self.text(key)?);
            }
            return Ok(Value::Texts(texts));
        }
        if least < 4 {
            // As f64 these would take up to eight times the file's size.
            let mut numbers = Vec::with_capacity(capacity);
            for _ in 0..count {
                numbers.push(match self.scalar(kind, key)? {
                    Value::Unsigned(n) => n as i32,
                    Value::Signed(n) => n as i32,
                    other => i32::from(other == Value::Bool(true)),
                });
            }
            return Ok(Value::SmallNumbers(numbers));
        }
        let mut numbers = Vec::with_capacity(capacity);
        for _ in 0..count {
            #[expect(clippy::cast_precision_loss, reason = "token types, merge ranks and scores are small")]
            numbers.push(match self.scalar(kind, key)? {
                Value::Unsigned(n) => n as f64,
                Value::Signed(n) => n as f64,
                Value::Float(x) => x,
                Value::Bool(flag) => f64::from(u8::from(flag)),
                Value::Text(_) | Value::Texts(_) | Value::Numbers(_) | Value::SmallNumbers(_) => {
                    return Err(self.damaged(key, "a number was expected in this array"));
                }
            });
        }
        Ok(Value::Numbers(numbers))
    }

    fn tensor_info(&mut self, index: u64) -> Result<TensorInfo, LmError> {
        let name = self.text(&format!("name of tensor {index}"))?;
        let what = format!("tensor \"{name}\"");
        let dimensions = self.u32(&what)?;
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return Err(
                self.damaged(&what, &format!("it has {dimensions} dimensions; 1 to {MAX_DIMENSIONS} exist"))
            );
        }
        let mut shape = Vec::with_capacity(dimensions as usize);
        for _ in 0..dimensions {
            let size = self.u64(&what)?;
            match usize::try_from(size) {
                Ok(size) if size > 0 => shape.push(size),
                _ => return Err(self.damaged(&what, &format!("a dimension of {size}"))),
            }
        }
        let type_id = self.u32(&what)?;
        let offset = self.u64(&what)?;
        Ok(TensorInfo { name, shape, type_id, offset })
    }
}
