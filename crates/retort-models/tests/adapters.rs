//! Adapters: those of the project as they lie in `models/`, and how a store finds and refuses them.

#![expect(clippy::unwrap_used, reason = "what a test needs and cannot have fails the test")]

use std::path::Path;

use retort_models::{
    AdapterChoice, MAX_ADAPTER_BYTES, ModelError, Registry, Store, sha256_bytes, sha256_file,
};

/// What the registry says of the adapters is so. This is what fails while a trained adapter or its card is missing.
#[test]
fn every_adapter_of_the_registry_lies_in_models_with_its_card() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let registry = Registry::read(&folder.join("registry.toml")).unwrap();
    assert!(!registry.adapters().is_empty());
    for adapter in registry.adapters() {
        let path = folder.join(&adapter.file);
        let bytes =
            std::fs::metadata(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).len();
        assert_eq!(bytes, adapter.bytes, "bytes of {}", adapter.name);
        assert!(bytes <= MAX_ADAPTER_BYTES, "{}", adapter.name);
        assert_eq!(sha256_file(&path, &mut |_| {}).unwrap(), adapter.sha256, "sha256 of {}", adapter.name);
        let card = std::fs::read_to_string(folder.join(&adapter.card))
            .unwrap_or_else(|error| panic!("{}, the card of {}: {error}", adapter.card, adapter.name));
        assert!(card.contains(&adapter.name), "{} does not name {}", adapter.card, adapter.name);
    }
}

/// A registry of two models and an adapter of each, the adapters' files beside it; "b" has no default.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let model = |name: &str, more: &str| {
        let sha256 = sha256_bytes(name.as_bytes());
        format!(
            "[[model]]\nname = \"{name}\"\ntitle = \"T\"\ndescription = \"D\"\nfile = \"{name}.gguf\"\nbytes = 1\n\
             sha256 = \"{sha256}\"\nlicence = \"CC0-1.0\"\n{more}\n"
        )
    };
    let adapter = |name: &str, base: &str| {
        let sha256 = sha256_bytes(name.as_bytes());
        std::fs::write(folder.path().join(format!("{name}.gguf")), name).unwrap();
        format!(
            "[[adapter]]\nname = \"{name}\"\ntitle = \"T\"\ndescription = \"D\"\nmodel = \"{base}\"\nfile = \"{name}.gguf\"\n\
             bytes = {}\nsha256 = \"{sha256}\"\nlicence = \"CC0-1.0\"\ncard = \"{name}.md\"\n",
            name.len()
        )
    };
    let parts = [
        "default = \"a\"\n".to_owned(),
        model("a", "adapter = \"tone\""),
        model("b", ""),
        model("c", ""),
        adapter("tone", "a"),
        adapter("mood", "b"),
    ];
    std::fs::write(folder.path().join("registry.toml"), parts.concat()).unwrap();
    folder
}

fn store(folder: &Path) -> Store {
    Store::read(&folder.join("registry.toml"), folder.join("cache")).unwrap()
}

#[test]
fn what_a_person_says_of_adapters_becomes_one() {
    let folder = folder();
    let store = store(folder.path());
    let registry = store.registry();
    let (a, b, c) = (registry.get("a"), registry.get("b"), registry.get("c"));
    let known = |name: &str| AdapterChoice::Known(registry.adapter(name).unwrap());
    assert_eq!(store.choose_adapter(None, a).unwrap(), known("tone"));
    assert_eq!(store.choose_adapter(None, b).unwrap(), AdapterChoice::None);
    // A model given by its path has no default, and whatever is named for it is tried.
    assert_eq!(store.choose_adapter(None, None).unwrap(), AdapterChoice::None);
    assert_eq!(store.choose_adapter(Some("mood"), None).unwrap(), known("mood"));
    assert_eq!(store.choose_adapter(Some("none"), a).unwrap(), AdapterChoice::None);
    assert_eq!(store.choose_adapter(Some("mood"), b).unwrap(), known("mood"));
    let path = folder.path().join("tone.gguf");
    assert_eq!(store.choose_adapter(path.to_str(), b).unwrap(), AdapterChoice::File(path));

    let error = store.choose_adapter(Some("tone"), b).unwrap_err();
    assert!(matches!(error, ModelError::OtherBase { .. }));
    assert_eq!(
        error.to_string(),
        "the adapter tone was made for the model a and cannot be applied to b; for it there is: mood"
    );
    let error = store.choose_adapter(Some("tone"), c).unwrap_err().to_string();
    assert!(error.ends_with("there is none for it: leave --adapter out"), "{error}");
    let error = store.choose_adapter(Some("tune"), a).unwrap_err().to_string();
    assert!(error.contains("no adapter is called \"tune\"") && error.contains("tone, mood"), "{error}");
}

#[test]
fn only_the_bytes_that_the_registry_names_are_given() {
    let folder = folder();
    let store = store(folder.path());
    let tone = store.registry().adapter("tone").unwrap();
    assert_eq!(store.adapter(tone).unwrap(), b"tone");
    let path = folder.path().join("tone.gguf");
    assert_eq!(store.adapter_file(tone).unwrap(), path);

    std::fs::write(&path, "tune").unwrap();
    let error = store.adapter(tone).unwrap_err().to_string();
    assert!(error.contains("expected SHA-256") && error.contains("--adapter none"), "{error}");
    std::fs::write(&path, "to").unwrap();
    let error = store.adapter(tone).unwrap_err().to_string();
    assert!(error.contains("expected 4 bytes, found 2"), "{error}");

    // The folder of models is the second place.
    std::fs::remove_file(&path).unwrap();
    let error = store.adapter(tone).unwrap_err();
    assert!(matches!(error, ModelError::NoAdapterFile { .. }), "{error}");
    std::fs::create_dir(folder.path().join("cache")).unwrap();
    std::fs::write(folder.path().join("cache/tone.gguf"), "tone").unwrap();
    assert_eq!(store.adapter(tone).unwrap(), b"tone");
}
