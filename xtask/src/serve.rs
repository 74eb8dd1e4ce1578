//! `cargo xtask serve`: from a fresh checkout to a page in the browser.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::ValueEnum;
use retort_models::{Model, ModelError, Store, Verification, sha256_file};
use tokio::net::TcpListener;

use crate::error::{Error, io};
use crate::server::{self, Offered, OfferedAdapter};
use crate::workspace::Workspace;
use crate::{model, page};

#[derive(Debug, clap::Args)]
pub(crate) struct ServeOptions {
    /// The port to listen on; 0 takes any free one. The browser keeps a downloaded model per port.
    #[arg(long, default_value_t = 8137)]
    port: u16,
    /// Whether to open the page in the default browser.
    #[arg(long, value_enum, default_value_t = Open::Yes)]
    open: Open,
    /// Serve www/dist as it is.
    #[arg(long)]
    no_build: bool,
    /// Compile faster into a larger and slower package.
    #[arg(long, conflicts_with = "no_build")]
    dev: bool,
    /// Do not fetch the default model; models that are already in the cache are served.
    #[arg(long)]
    no_model: bool,
    /// Serve the models in this folder and fetch none: those of the registry given with --registry, else every
    /// .gguf file (the first by name is the default).
    #[arg(long, value_name = "DIR")]
    model_dir: Option<PathBuf>,
    /// Read the models from this registry in place of models/registry.toml.
    #[arg(long, value_name = "FILE")]
    registry: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Open {
    /// Open it, where there is a desktop.
    Yes,
    /// Only print the address.
    No,
}

/// Builds, fetches, and serves until Ctrl-C.
pub(crate) fn serve(workspace: &Workspace, options: &ServeOptions) -> Result<(), Error> {
    if !options.no_build {
        page::build(workspace, &page::BuildOptions { dev: options.dev })?;
    }
    let dist = workspace.dist();
    if !dist.join("index.html").is_file() {
        return Err(Error::Message(format!(
            "there is no page in {}; build it with: cargo xtask build",
            dist.display()
        )));
    }
    let models = models(options, workspace)?;

    let runtime = tokio::runtime::Runtime::new().map_err(io("start threads for", Path::new("the server")))?;
    let done = runtime.block_on(async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let listener = TcpListener::bind(address).await.map_err(|error| {
            Error::Message(format!(
                "cannot listen on {address}: {error}\nwhat to do: end the program that uses the port, or choose \
                 another one with --port (0 takes any free one)"
            ))
        })?;
        let port = listener.local_addr().map_err(io("listen on", Path::new("loopback")))?.port();
        let url = format!("http://127.0.0.1:{port}/");
        for model in &models {
            eprintln!("Model {} ({} bytes{})", model.name, model.bytes, if model.default { ", default" } else { "" });
            for adapter in &model.adapters {
                let default = if adapter.default { ", default" } else { "" };
                eprintln!("  with the adapter {} ({} bytes{default})", adapter.name, adapter.bytes);
            }
        }
        // On standard output, alone: a script can read it.
        println!("Retort is at {url}");
        eprintln!("Press Ctrl-C to stop.");
        if options.open == Open::Yes {
            open(&url);
        }
        tokio::select! {
            ended = server::serve(listener, server::router(&dist, &models)) => {
                ended.map_err(io("serve", Path::new(&url)))
            }
            _ = tokio::signal::ctrl_c() => Ok(()),
        }
    });
    // Open connections do not hold the end up.
    runtime.shutdown_background();
    done
}

/// What can be served.
fn models(options: &ServeOptions, workspace: &Workspace) -> Result<Vec<Offered>, Error> {
    if let (Some(folder), None) = (&options.model_dir, &options.registry) {
        return every_file(folder);
    }
    let registry = match &options.registry {
        Some(path) => path.clone(),
        None => workspace.models().join("registry.toml"),
    };
    let folder = match &options.model_dir {
        Some(folder) => folder.clone(),
        None => retort_models::cache_dir()?,
    };
    let store = Store::read(&registry, folder)?;
    let default = store.registry().default_model().name.clone();
    if options.model_dir.is_none() && !options.no_model {
        model::pull(&store, &default).map_err(|error| {
            Error::Message(format!("{error}\n  - or serve the page without it: cargo xtask serve --no-model"))
        })?;
    }
    let mut offered = Vec::new();
    for model in store.registry().models() {
        match store.verify(&model.name, &mut |_| {})? {
            Verification::Good => offered.push(Offered {
                name: model.name.clone(),
                title: model.title.clone(),
                description: model.description.clone(),
                licence: model.licence.clone(),
                file: model.file.clone(),
                path: store.path_of(model),
                bytes: model.bytes,
                sha256: model.sha256.clone(),
                default: model.name == default,
                adapters: adapters(&store, model)?,
            }),
            Verification::Missing => {}
            Verification::WrongSize { .. } | Verification::WrongHash { .. } => eprintln!(
                "{} is not the file that the registry calls {}; it is not served",
                store.path_of(model).display(),
                model.name
            ),
        }
    }
    Ok(offered)
}

/// The adapters of a model whose files are there; what is missing or damaged is said.
fn adapters(store: &Store, model: &Model) -> Result<Vec<OfferedAdapter>, Error> {
    let mut offered = Vec::new();
    for adapter in store.registry().adapters_for(model) {
        match store.adapter_file(adapter) {
            Ok(path) => offered.push(OfferedAdapter {
                name: adapter.name.clone(),
                title: adapter.title.clone(),
                description: adapter.description.clone(),
                licence: adapter.licence.clone(),
                file: adapter.file.clone(),
                path,
                bytes: adapter.bytes,
                sha256: adapter.sha256.clone(),
                default: model.adapter.as_ref() == Some(&adapter.name),
            }),
            Err(error @ (ModelError::NoAdapterFile { .. } | ModelError::DamagedAdapter { .. })) => {
                eprintln!("The adapter {} is not served: {error}", adapter.name);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(offered)
}

/// Every .gguf file of a folder, measured.
fn every_file(folder: &Path) -> Result<Vec<Offered>, Error> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io("read the folder", folder))? {
        let path = entry.map_err(io("read the folder", folder))?.path();
        if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gguf")) && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    let mut offered = Vec::new();
    for path in paths {
        let (Some(file), Some(name)) = (path.file_name(), path.file_stem()) else { continue };
        let (file, name) = (file.to_string_lossy().into_owned(), name.to_string_lossy().into_owned());
        offered.push(Offered {
            title: name.clone(),
            description: "A file from the folder given with --model-dir.".to_owned(),
            licence: "unknown".to_owned(),
            bytes: std::fs::metadata(&path).map_err(io("look at", &path))?.len(),
            sha256: sha256_file(&path, &mut |_| {}).map_err(io("read", &path))?,
            default: offered.is_empty(),
            adapters: Vec::new(),
            name,
            file,
            path,
        });
    }
    if offered.is_empty() {
        return Err(Error::Message(format!("there is no .gguf file in {}", folder.display())));
    }
    Ok(offered)
}

/// Opens the page where there is a desktop. That it fails is no reason to stop: the address was printed.
fn open(url: &str) {
    let mut command = match std::env::consts::OS {
        "macos" => Command::new("open"),
        "windows" => {
            let mut command = Command::new("cmd");
            command.args(["/c", "start", ""]);
            command
        }
        _ => {
            let desktop = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
            if !desktop {
                return;
            }
            Command::new("xdg-open")
        }
    };
    let _ = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(model_dir: Option<PathBuf>, registry: Option<PathBuf>) -> ServeOptions {
        ServeOptions {
            port: 0,
            open: Open::No,
            no_build: true,
            dev: false,
            no_model: true,
            model_dir,
            registry,
        }
    }

    fn offered(model_dir: Option<PathBuf>, registry: Option<PathBuf>) -> Result<Vec<Offered>, Error> {
        models(&options(model_dir, registry), &Workspace::find().unwrap())
    }

    // FIPS 180-4's own example for "abc".
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_folder_of_models_is_measured_and_the_first_is_the_default() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("b.gguf"), "").unwrap();
        std::fs::write(folder.path().join("a.GGUF"), "abc").unwrap();
        std::fs::write(folder.path().join("notes.txt"), "abc").unwrap();
        let models = offered(Some(folder.path().to_owned()), None).unwrap();
        let seen: Vec<_> =
            models.iter().map(|m| (m.name.as_str(), m.file.as_str(), m.bytes, m.default)).collect();
        assert_eq!(seen, [("a", "a.GGUF", 3, true), ("b", "b.gguf", 0, false)]);
        assert_eq!(models[0].sha256, ABC);
    }

    #[test]
    fn only_verified_files_of_a_registry_are_offered() {
        let folder = tempfile::tempdir().unwrap();
        let entry = |name: &str| {
            format!(
                "[[model]]\nname = \"{name}\"\ntitle = \"T\"\ndescription = \"D\"\nfile = \"{name}.gguf\"\nbytes = 3\n\
                 sha256 = \"{ABC}\"\nlicence = \"CC0-1.0\"\n"
            )
        };
        let registry = folder.path().join("registry.toml");
        let text = format!("default = \"good\"\n{}{}{}", entry("absent"), entry("good"), entry("wrong"));
        std::fs::write(&registry, text).unwrap();
        std::fs::write(folder.path().join("good.gguf"), "abc").unwrap();
        std::fs::write(folder.path().join("wrong.gguf"), "abd").unwrap();
        let models = offered(Some(folder.path().to_owned()), Some(registry)).unwrap();
        assert_eq!(models.len(), 1);
        assert_eq!((models[0].name.as_str(), models[0].default), ("good", true));
    }

    /// Beside the registry file is where they lie; one that is damaged is left out, and the model is served all the same.
    #[test]
    fn adapters_are_offered_with_their_model_where_they_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let adapter = |name: &str| {
            format!(
                "[[adapter]]\nname = \"{name}\"\ntitle = \"T\"\ndescription = \"D\"\nmodel = \"base\"\nfile = \"{name}.gguf\"\n\
                 bytes = 3\nsha256 = \"{ABC}\"\nlicence = \"CC0-1.0\"\ncard = \"{name}.md\"\n"
            )
        };
        let base = format!(
            "default = \"base\"\n[[model]]\nname = \"base\"\ntitle = \"T\"\ndescription = \"D\"\nfile = \"base.gguf\"\n\
             bytes = 3\nsha256 = \"{ABC}\"\nlicence = \"CC0-1.0\"\nadapter = \"good\"\n"
        );
        let text = [base, adapter("damaged"), adapter("good"), adapter("absent")].concat();
        let registry = folder.path().join("registry.toml");
        std::fs::write(&registry, text).unwrap();
        let models_folder = folder.path().join("models");
        std::fs::create_dir(&models_folder).unwrap();
        std::fs::write(models_folder.join("base.gguf"), "abc").unwrap();
        std::fs::write(folder.path().join("good.gguf"), "abc").unwrap();
        std::fs::write(folder.path().join("damaged.gguf"), "abd").unwrap();
        let models = offered(Some(models_folder), Some(registry)).unwrap();
        let seen: Vec<_> =
            models[0].adapters.iter().map(|one| (one.name.as_str(), one.default, &one.path)).collect();
        assert_eq!(seen, [("good", true, &folder.path().join("good.gguf"))]);
    }

    #[test]
    fn an_empty_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = offered(Some(folder.path().to_owned()), None).unwrap_err();
        assert!(error.to_string().contains("no .gguf file"), "{error}");
    }
}
