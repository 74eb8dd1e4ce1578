//! Adapters by name: the default, another one, none, and what is refused; on tiny models in a registry of their own.

#![expect(clippy::unwrap_used, reason = "what a test needs and cannot have fails the test")]

use std::process::{Command, Output};

use retort_lm::tiny::{AdapterShape, Shape, adapter_gguf, gguf};
use serde_json::Value;

/// A registry of two models with the same shape: "tiny" has the adapters "tone", its default, and "mood"; "bare" has none.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("cache")).unwrap();
        let shape = Shape::default();
        let desk = Self { folder };
        let mut registry = "default = \"tiny\"\n".to_owned();
        let files = [
            ("model", "cache/tiny.gguf", gguf(shape, 7), "adapter = \"tone\""),
            ("model", "cache/bare.gguf", gguf(shape, 8), ""),
            ("adapter", "tone.gguf", knowing(shape, 3), "model = \"tiny\"\ncard = \"tone.md\""),
            (
                "adapter",
                "mood.gguf",
                adapter_gguf(shape, AdapterShape::default(), 4),
                "model = \"tiny\"\ncard = \"mood.md\"",
            ),
        ];
        for (table, path, bytes, more) in files {
            let file = path.trim_start_matches("cache/");
            let name = file.trim_end_matches(".gguf");
            registry += &format!(
                "[[{table}]]\nname = \"{name}\"\ntitle = \"{name} of the test\"\ndescription = \"D.\"\nfile = \"{file}\"\n\
                 bytes = {}\nsha256 = \"{}\"\nlicence = \"CC0-1.0\"\n{more}\n",
                bytes.len(),
                retort_judge::sha256_hex(&bytes),
            );
            std::fs::write(desk.folder.path().join(path), bytes).unwrap();
        }
        std::fs::write(desk.folder.path().join("registry.toml"), registry).unwrap();
        desk
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_retort"))
            .args(args)
            .current_dir(self.folder.path())
            .env("RETORT_CACHE", self.folder.path().join("cache"))
            .env("RETORT_REGISTRY", "registry.toml")
            .output()
            .unwrap()
    }

    /// The record of a judgement by two skills and a rubric of one's own.
    fn judge(&self, args: &[&str]) -> Value {
        let rubric = "name = \"Tone\"\ncriterion = \"The tone fits.\"\nscale = { min = 1, max = 5 }\n";
        std::fs::write(self.folder.path().join("mine.toml"), rubric).unwrap();
        let asked = ["--prompt", "p", "--response", "r", "--skills", "factuality,readability", "--rubric"];
        let output =
            self.run(&[&["judge", "--backend", "cpu", "--json"], &asked[..], &["mine.toml"], args].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// An adapter that says it was trained on a mixture: its entry stands in place of one that no reader looks at, of the same
/// length, so that the rest of the file stays where it is.
fn knowing(shape: Shape, seed: u64) -> Vec<u8> {
    let mut file = adapter_gguf(shape, AdapterShape::default(), seed);
    // A text entry of GGUF: length and bytes of the key, the type 8, length and bytes of the value.
    let entry = |key: &str, value: &str| {
        let mut bytes = (key.len() as u64).to_le_bytes().to_vec();
        bytes.extend(key.as_bytes());
        bytes.extend(8_u32.to_le_bytes());
        bytes.extend((value.len() as u64).to_le_bytes());
        bytes.extend(value.as_bytes());
        bytes
    };
    let title = entry("general.name", "Tiny random adapter");
    let value = "x".repeat(title.len() - entry("retort.mixture.sha256", "").len());
    let mixture = entry("retort.mixture.sha256", &value);
    let at = file.windows(title.len()).position(|window| window == title).unwrap();
    file.splice(at..at + title.len(), mixture);
    file
}

#[test]
fn the_default_adapter_judges_unless_another_or_none_is_named() {
    let desk = Desk::new();
    let default = desk.judge(&[]);
    let tone = std::fs::read(desk.folder.path().join("tone.gguf")).unwrap();
    assert_eq!(default["model"]["name"], "tiny");
    assert_eq!(default["model"]["adapter"]["name"], "tone");
    assert_eq!(default["model"]["adapter"]["sha256"], retort_judge::sha256_hex(&tone));
    assert_eq!(default["model"]["adapter"]["strength"], 1.0);
    let named = desk.judge(&["--adapter", "tone"]);
    assert_eq!(named["verdicts"], default["verdicts"]);
    // A file is known by its own name, and is the same adapter.
    let file = desk.judge(&["--adapter", "tone.gguf"]);
    assert_eq!(file["model"]["adapter"]["name"], "tone.gguf");
    assert_eq!(file["verdicts"], default["verdicts"]);

    let mood = desk.judge(&["--adapter", "mood"]);
    assert_eq!(mood["model"]["adapter"]["name"], "mood");
    assert_ne!(mood["verdicts"], default["verdicts"]);
    let none = desk.judge(&["--adapter", "none"]);
    assert!(none["model"]["adapter"].is_null());
    assert_ne!(none["verdicts"], default["verdicts"]);
    // A model that the registry gives no adapter has none, nor has a file, even the file of a model that has one.
    assert!(desk.judge(&["--model", "bare"])["model"]["adapter"].is_null());
    let path = desk.judge(&["--model", "cache/tiny.gguf"]);
    assert!(path["model"]["adapter"].is_null());
    assert_eq!(path["verdicts"], none["verdicts"]);
    // By its name it can be had for the file all the same.
    let both = desk.judge(&["--model", "cache/tiny.gguf", "--adapter", "tone"]);
    assert_eq!(both["verdicts"], default["verdicts"]);
}

/// An adapter that was trained on the skills' short questions is asked these, and a rubric of one's own in full.
#[test]
fn what_the_model_reads_of_a_rubric_suits_the_adapter() {
    let desk = Desk::new();
    let (default, full, short) =
        (desk.judge(&[]), desk.judge(&["--wording", "full"]), desk.judge(&["--wording", "short"]));
    assert_eq!(default["wording"], "short_skills");
    assert!(full.get("wording").is_none());
    assert_eq!(short["wording"], "short");
    for skill in [0, 1] {
        assert_same(&default["verdicts"][skill], &short["verdicts"][skill]);
        assert_ne!(default["verdicts"][skill], full["verdicts"][skill]);
    }
    assert_same(&default["verdicts"][2], &full["verdicts"][2]);
    assert_ne!(default["verdicts"][2], short["verdicts"][2]);
    // Whatever was not trained on a mixture reads everything.
    for args in [&["--adapter", "mood"][..], &["--adapter", "none"]] {
        assert!(desk.judge(args).get("wording").is_none(), "{args:?}");
    }
}

/// The same verdict, but for the order in which sums are made in batches of different sizes.
fn assert_same(one: &Value, other: &Value) {
    assert_eq!(one["rubric_id"], other["rubric_id"]);
    let chances = |verdict: &Value| -> Vec<f64> {
        let options = verdict["verdict"]["distribution"].as_array();
        options.into_iter().flatten().map(|option| option["probability"].as_f64().unwrap()).collect()
    };
    let (one, other) = (chances(one), chances(other));
    assert_eq!(one.len(), other.len());
    for (one, other) in one.iter().zip(&other) {
        assert!((one - other).abs() < 1e-3, "{one} and {other}");
    }
}

#[test]
fn names_that_are_not_known_and_adapters_of_other_models_are_refused() {
    let desk = Desk::new();
    let refused = |args: &[&str], says: &str| {
        let output = desk.run(&[&["judge", "--prompt", "p", "--response", "r"], args].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(text(&output.stderr).contains(says), "{args:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    };
    refused(&["--adapter", "tune"], "no adapter is called \"tune\"");
    refused(&["--adapter", "tune"], "known adapters: tone, mood");
    refused(
        &["--model", "bare", "--adapter", "mood"],
        "the adapter mood was made for the model tiny and cannot be applied to bare; there is none for it",
    );
    // A file in place of the registry's is not applied.
    let path = desk.folder.path().join("tone.gguf");
    std::fs::write(&path, knowing(Shape::default(), 5)).unwrap();
    refused(&[], "expected SHA-256");
    std::fs::remove_file(&path).unwrap();
    refused(&[], "go on without an adapter: --adapter none");
    assert!(desk.judge(&["--adapter", "none"])["model"]["adapter"].is_null());
}

#[test]
fn the_list_shows_the_adapters_of_each_model() {
    let desk = Desk::new();
    let list = text(&desk.run(&["models", "list"]).stdout);
    for line in [
        "tiny (default)  tiny of the test",
        "    --adapter tone (default)  tone of the test",
        "    --adapter mood  mood of the test",
        "bare  bare of the test",
    ] {
        assert!(list.lines().any(|found| found == line), "{line:?} in {list}");
    }
    std::fs::remove_file(desk.folder.path().join("mood.gguf")).unwrap();
    let list = text(&desk.run(&["models", "list"]).stdout);
    assert!(list.contains("not usable: the adapter mood is not part of this program"), "{list}");
}

/// The adapters that the command carries are for the model that the registry says: each is read, and the default one is
/// applied without being named.
#[test]
fn the_default_model_judges_with_each_of_its_adapters() {
    let Some(model) = std::env::var_os("RETORT_TEST_MODEL") else {
        eprintln!("skipped: RETORT_TEST_MODEL does not name the default model");
        return;
    };
    let registry = retort_models::Registry::built_in().unwrap();
    let base = registry.default_model();
    let cache = tempfile::tempdir().unwrap();
    let place = cache.path().join(&base.file);
    if std::fs::hard_link(&model, &place).is_err() {
        std::fs::copy(&model, &place).unwrap();
    }
    for (named, adapter) in std::iter::once((None, registry.default_adapter(base).unwrap()))
        .chain(registry.adapters_for(base).map(|adapter| (Some(adapter.name.as_str()), adapter)))
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retort"));
        let asked = ["--prompt", "Say hello.", "--response", "Hello!", "--skills", "readability", "--json"];
        command.arg("judge").args(asked).args(["--backend", "cpu"]).env("RETORT_CACHE", cache.path());
        command.env_remove("RETORT_REGISTRY");
        if let Some(name) = named {
            command.args(["--adapter", name]);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}: {}", adapter.name, text(&output.stderr));
        let record: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(record["model"]["adapter"]["name"], adapter.name.as_str());
        assert_eq!(record["model"]["adapter"]["sha256"], adapter.sha256.as_str());
        assert_eq!(record["wording"], "short_skills");
    }
}
