//! Split models: parts joined, and every way in which they can fail to be one model.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests are tests too; clippy knows only the functions marked as such"
)]

use retort_lm::gguf::{Gguf, GgufWriter, Value};
use retort_lm::quant::TensorType;
use retort_lm::tiny::{self, Shape};
use retort_lm::{AnswerOption, Branch, PromptTree, Readout, Segments};
use retort_lm::{
    BackendChoice, ByteSource, FileSource, Flow, JoinedSource, LanguageModel, LmError, MemorySource, NoWatch,
};

/// Five tensors of one number each, under these names.
fn writer(name: &str, tensors: &[&str]) -> GgufWriter {
    let mut writer = GgufWriter::new();
    writer.entry("general.architecture", Value::Text("llama".into()));
    writer.entry("general.name", Value::Text(name.into()));
    for (value, tensor) in (0u8..).zip(tensors) {
        writer.tensor(tensor, &[1], TensorType::F32, f32::from(value).to_le_bytes().to_vec());
    }
    writer
}

const FIVE: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Parts under the names that split models have.
fn named(stem: &str, parts: &[Vec<u8>]) -> Vec<MemorySource> {
    let name = |index| format!("{stem}-{:05}-of-{:05}.gguf", index + 1, parts.len());
    parts.iter().enumerate().map(|(index, bytes)| MemorySource::new(name(index), bytes.clone())).collect()
}

fn read(parts: Vec<MemorySource>) -> Result<Gguf, LmError> {
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap();
    Gguf::read(&mut JoinedSource::new(first, parts))
}

fn refused(parts: Vec<MemorySource>) -> String {
    let error = read(parts).unwrap_err();
    assert_eq!(error.code(), "split_model", "{error}");
    error.to_string()
}

#[test]
fn parts_read_as_one_model() {
    let parts = named("m", &writer("M", &FIVE).finish_split(2));
    assert_eq!(parts.len(), 3);
    let mut source = JoinedSource::new(parts[0].clone(), parts[1..].iter().cloned());
    let sizes: Vec<u64> = parts.iter().map(ByteSource::size).collect();
    assert_eq!(source.parts(), [0, sizes[0], sizes[0] + sizes[1]]);
    let gguf = Gguf::read(&mut source).unwrap();
    assert_eq!(gguf.text("general.name").unwrap(), Some("M"));
    assert_eq!(gguf.size, sizes.iter().sum::<u64>());
    for (value, name) in (0u8..).zip(FIVE) {
        let mut bytes = Vec::new();
        gguf.read_tensor(&mut source, name, &[1], &mut bytes).unwrap();
        assert_eq!(bytes, f32::from(value).to_le_bytes(), "{name}");
    }
}

/// The bytes were written by the Python package `gguf` (`make_fixtures.py`, `make_split`): tensor n holds 3 + n
/// numbers, 100 n and so on, two tensors to a part.
#[test]
fn parts_that_the_python_package_wrote() {
    let fixture: serde_json::Value = serde_json::from_str(include_str!("fixtures/split.json")).unwrap();
    let parts: Vec<MemorySource> = fixture["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| {
            let hex = part["hex"].as_str().unwrap();
            let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            let bytes = (0..hex.len()).step_by(2).map(byte).collect();
            MemorySource::new(part["name"].as_str().unwrap(), bytes)
        })
        .collect();
    assert_eq!(parts.len(), 3);
    assert_eq!(parts[0].name(), "five-00001-of-00003.gguf");
    let mut source = JoinedSource::new(parts[0].clone(), parts[1..].iter().cloned());
    let gguf = Gguf::read(&mut source).unwrap();
    assert_eq!(gguf.text("general.name").unwrap(), Some("Five tensors"));
    for n in 0u8..5 {
        let mut bytes = Vec::new();
        gguf.read_tensor(&mut source, &format!("tensor.{n}"), &[3 + usize::from(n)], &mut bytes).unwrap();
        let right: Vec<u8> =
            (0..3 + n).flat_map(|i| (f32::from(i) + 100.0 * f32::from(n)).to_le_bytes()).collect();
        assert_eq!(bytes, right, "tensor.{n}");
    }
}

#[test]
fn a_missing_part_is_named() {
    let parts = named("m", &writer("M", &FIVE).finish_split(2));
    let message = refused(vec![parts[0].clone(), parts[2].clone()]);
    assert!(message.starts_with("m-00001-of-00003.gguf belongs to a split model"), "{message}");
    assert!(message.contains("this part is missing: m-00002-of-00003.gguf; choose all parts"), "{message}");
    let message = refused(vec![parts[1].clone()]);
    assert!(message.contains("missing: m-00001-of-00003.gguf, m-00003-of-00003.gguf"), "{message}");
    // Under a name of its own, the numbers still say it.
    let lone = MemorySource::new("lone.gguf", writer("M", &FIVE).finish_split(2)[1].clone());
    assert!(
        refused(vec![lone])
            .contains("of its 3 parts only 1 came, and these parts are missing: part 1, part 3")
    );
}

#[test]
fn parts_out_of_order_doubled_or_of_another_model_are_named() {
    let bytes = writer("M", &FIVE).finish_split(2);
    let parts = named("m", &bytes);
    let [a, b, c] = [0, 1, 2].map(|index: usize| parts[index].clone());

    let message = refused(vec![a.clone(), c.clone(), b.clone()]);
    assert!(message.contains("m-00003-of-00003.gguf"), "{message}");
    assert!(message.contains("is part 3 of 3 and was given as part 2"), "{message}");

    let message = refused(vec![a.clone(), b.clone(), b.clone()]);
    assert!(
        message.contains("it is part 2 of 3, and so is m-00002-of-00003.gguf; leave one out"),
        "{message}"
    );

    // Another number of parts, or of tensors.
    let other = named("n", &writer("N", &FIVE).finish_split(3));
    let message = refused(vec![a.clone(), other[1].clone(), c.clone()]);
    assert!(
        message.contains("it is one of 2 parts with 5 tensors, and m-00001-of-00003.gguf one of 3"),
        "{message}"
    );

    // As many parts and tensors, but other tensors: some come twice,
    let other = named("n", &writer("N", &["a", "b", "d", "e", "f"]).finish_split(2));
    let message = refused(vec![a.clone(), b.clone(), other[1].clone()]);
    assert!(message.contains("so is m-00002-of-00003.gguf"), "{message}");
    let message = refused(vec![a.clone(), other[1].clone(), c.clone()]);
    assert!(message.contains("its tensor \"e\" is also in n-00002-of-00003.gguf"), "{message}");
    // or there are not as many as promised.
    let short = named("n", &writer("N", &["a", "b", "c", "x"]).finish_split(2));
    let mut bytes = bytes.clone();
    // The last part's own count of tensors (of 8 bytes behind magic and version) becomes 0.
    bytes[2][8..16].fill(0);
    let emptied = MemorySource::new("m-00003-of-00003.gguf", bytes[2].clone());
    let message = refused(vec![a.clone(), b.clone(), emptied]);
    assert!(message.contains("5 tensors are promised, and all its parts hold 4"), "{message}");
    assert!(refused(vec![a.clone(), short[1].clone(), c.clone()]).contains("different models"));

    // A whole model beside parts, first or later.
    let whole = MemorySource::new("whole.gguf", writer("W", &FIVE).finish());
    assert!(refused(vec![whole.clone(), a.clone()]).contains("whole.gguf, which is a whole model"));
    assert!(
        refused(vec![a, whole, c])
            .contains("whole.gguf belongs to a split model that is not whole: it is a whole")
    );
}

#[test]
fn what_a_part_says_of_itself_is_checked() {
    for (entries, problem) in [
        (vec![("split.count", Value::Unsigned(2))], "split.no: it is absent"),
        (vec![("split.no", Value::Unsigned(2)), ("split.count", Value::Unsigned(2))], "2 is no part of 2"),
        (
            vec![("split.no", Value::Text("1".into())), ("split.count", Value::Unsigned(2))],
            "split.no: it holds a text",
        ),
    ] {
        let mut writer = writer("M", &FIVE);
        for (key, value) in entries {
            writer.entry(key, value);
        }
        let error = Gguf::read(&mut MemorySource::new("m.gguf", writer.finish())).unwrap_err();
        assert_eq!(error.code(), "damaged_file");
        assert!(error.to_string().contains(problem), "{error}");
    }
    // One part of one is a whole model.
    let one = writer("M", &FIVE).finish_split(5);
    assert_eq!(one.len(), 1);
    Gguf::read(&mut MemorySource::new("m.gguf", one[0].clone())).unwrap();
}

#[test]
fn any_part_on_disk_opens_all() {
    let folder = tempfile::tempdir().unwrap();
    let parts = named("m", &writer("M", &FIVE).finish_split(2));
    for (part, bytes) in parts.iter().zip(writer("M", &FIVE).finish_split(2)) {
        std::fs::write(folder.path().join(part.name()), bytes).unwrap();
    }
    for part in &parts {
        let mut source = FileSource::open(&folder.path().join(part.name())).unwrap();
        assert_eq!(source.name(), "m-00001-of-00003.gguf");
        assert_eq!(Gguf::read(&mut source).unwrap().tensors().count(), 5);
        let names: Vec<_> = source.paths().map(|path| path.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, parts.iter().map(ByteSource::name).collect::<Vec<_>>());
    }
    std::fs::remove_file(folder.path().join(parts[1].name())).unwrap();
    let error = FileSource::open(&folder.path().join(parts[2].name())).unwrap_err();
    assert_eq!(error.code(), "split_model");
    let message = error.to_string();
    assert!(
        message.contains("part 3 of 3, and beside it this one is missing: m-00002-of-00003.gguf"),
        "{message}"
    );
    // A name that only looks a little like a part's.
    for name in ["m-1-of-2.gguf", "m-00003-of-00002.gguf", "m-00000-of-00002.gguf", "m-00001-of-00001.gguf"] {
        let path = folder.path().join(name);
        std::fs::write(&path, writer("M", &FIVE).finish()).unwrap();
        assert_eq!(FileSource::open(&path).unwrap().parts(), [0], "{name}");
    }
}

/// Reads that reach over the seams give the bytes of the parts one after the other.
#[test]
fn joined_reads_cross_seams() {
    let bytes: Vec<u8> = (0..30).collect();
    let part = |range: std::ops::Range<usize>| MemorySource::new("p", bytes[range].to_vec());
    let mut source = JoinedSource::new(part(0..7), [part(7..7), part(7..8), part(8..30)]);
    for start in 0..30 {
        for end in start..=30 {
            let mut into = vec![99; end - start];
            source.read_at(start as u64, &mut into).unwrap();
            assert_eq!(into, bytes[start..end]);
        }
    }
    assert_eq!(source.read_at(29, &mut [0; 2]).unwrap_err().code(), "truncated_file");
    assert_eq!(source.read_at(u64::MAX, &mut [0; 2]).unwrap_err().code(), "truncated_file");
}

/// A split model answers as the whole one does, bit for bit.
#[test]
fn a_split_model_answers_as_the_whole() {
    let shape = Shape { kind: Some(TensorType::Q8_0), ..Shape::default() };
    let writer = tiny::writer(shape, 5);
    let parts = named("tiny", &writer.finish_split(4));
    assert!(parts.len() > 4);
    let mut parts = parts.into_iter();
    let joined = JoinedSource::new(parts.next().unwrap(), parts);
    let whole = MemorySource::new("tiny.gguf", writer.finish());
    let tree = PromptTree {
        prefix: Segments::new().user("A response."),
        branches: vec![Branch {
            text: Segments::new().template("Is it?"),
            readout: Readout::options(vec![AnswerOption::new("1"), AnswerOption::new("2")]),
        }],
    };
    let answer = |source: Box<dyn ByteSource>| {
        let mut go_on = |_| Flow::Continue;
        let mut model = pollster::block_on(retort_lm::load(source, BackendChoice::Cpu, &mut go_on)).unwrap();
        pollster::block_on(model.answer(&tree, &mut NoWatch)).unwrap()
    };
    assert_eq!(answer(Box::new(joined)), answer(Box::new(whole)));
}
