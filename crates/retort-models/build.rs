//! Lists the adapters of `models/` for `src/embedded.rs`.
//!
//! Which ones there are is said in `models/registry.toml` alone. A file that it names and that is not there is no error
//! here: whoever works on something else must be able to build. The program then says that it lacks the adapter, and a
//! test fails.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// As in `src/registry.rs`: a model that somebody keeps in the folder must not get into the program.
const MAX_ADAPTER_BYTES: u64 = 12_000_000;

fn main() -> io::Result<()> {
    let variable = |name| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let folder = variable("CARGO_MANIFEST_DIR")?.join("../../models");
    println!("cargo::rerun-if-changed={}", folder.display());
    let registry = fs::read_to_string(folder.join("registry.toml"))?;
    let mut files: Vec<PathBuf> = Vec::new();
    if env::var_os("CARGO_FEATURE_ADAPTERS").is_some() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let named = name.ends_with(".gguf") && registry.contains(&format!("file = \"{name}\""));
            if named && entry.metadata()?.len() <= MAX_ADAPTER_BYTES {
                files.push(fs::canonicalize(entry.path())?);
            }
        }
    }
    files.sort();
    let mut list = String::from("&[\n");
    for path in &files {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path.file_name().map(Path::new).unwrap_or(path);
        // Writing to a String cannot fail.
        let _ = writeln!(list, "    ({:?}, include_bytes!({:?})),", name.display().to_string(), path);
    }
    list.push_str("]\n");
    fs::write(variable("OUT_DIR")?.join("adapters.rs"), list)
}
