//! Where things are.

use std::path::{Path, PathBuf};

use crate::error::{Error, io};

/// The checkout that this tool works on.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The folder of the top-level Cargo.toml.
    pub(crate) root: PathBuf,
    /// This program. Asked for at the start, because a test run may replace the file.
    pub(crate) xtask: PathBuf,
}

impl Workspace {
    pub(crate) fn find() -> Result<Self, Error> {
        // `cargo run` sets the variable; the built-in path serves when the program is started without cargo.
        let own = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root =
            own.parent().map(Path::to_owned).filter(|root| root.join("models/registry.toml").is_file());
        let root = root.ok_or_else(|| {
            Error::Message(format!(
                "{} is not inside a Retort checkout; run cargo xtask there",
                own.display()
            ))
        })?;
        let xtask = std::env::current_exe().map_err(io("find", Path::new("this program")))?;
        Ok(Self { root, xtask })
    }

    /// The folder for what this tool remembers between runs.
    pub(crate) fn scratch(&self) -> Result<PathBuf, Error> {
        let folder = self.root.join("target").join("xtask");
        std::fs::create_dir_all(&folder).map_err(io("create the folder", &folder))?;
        Ok(folder)
    }

    /// The registry and the adapters.
    pub(crate) fn models(&self) -> PathBuf {
        self.root.join("models")
    }

    pub(crate) fn pkg(&self) -> PathBuf {
        self.root.join("pkg")
    }

    pub(crate) fn www(&self) -> PathBuf {
        self.root.join("www")
    }

    pub(crate) fn dist(&self) -> PathBuf {
        self.www().join("dist")
    }

    pub(crate) fn browser_tests(&self) -> PathBuf {
        self.root.join("tests").join("browser")
    }

    /// The engines that this one is measured against.
    pub(crate) fn bench(&self) -> PathBuf {
        self.root.join("tests").join("bench")
    }

    pub(crate) fn wasm_tests(&self) -> PathBuf {
        self.root.join("tests").join("wasm")
    }
}
