//! The wasm package: `retort-web` compiled, and its JS glue, into `pkg/`.
//!
//! It is compiled twice: with fixed-width SIMD, which every engine has, and with relaxed SIMD besides, which not all
//! have. One glue serves both; `pkg/variant.mjs` says which of the two can be run.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wasm_bindgen_cli_support::Bindgen;

use crate::error::{Error, io};
use crate::process;
use crate::stamp::{Stamp, state_of};
use crate::workspace::Workspace;

pub(crate) const WASM_TARGET: &str = "wasm32-unknown-unknown";
/// The package's files are called `retort.js`, `retort.d.ts`, `retort_bg.wasm`.
const OUT_NAME: &str = "retort";

/// For which instructions a wasm file is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// With fixed-width SIMD.
    Plain,
    /// With fixed-width and relaxed SIMD.
    Relaxed,
}

/// The wasm file that [`build`] makes.
pub(crate) fn wasm_file(workspace: &Workspace, variant: Variant) -> PathBuf {
    workspace.pkg().join(match variant {
        Variant::Plain => format!("{OUT_NAME}_bg.wasm"),
        Variant::Relaxed => format!("{OUT_NAME}_relaxed_bg.wasm"),
    })
}

/// Compiles and makes the glue; answers whether anything changed.
pub(crate) fn build(workspace: &Workspace, dev: bool) -> Result<bool, Error> {
    let compiled = compile(workspace, dev, Variant::Plain)?;
    // For a quick build, the same file under both names will do.
    let relaxed = if dev { compiled.clone() } else { compile(workspace, dev, Variant::Relaxed)? };
    let pkg = workspace.pkg();
    let stamp = Stamp::new(workspace.scratch()?.join("package.stamp"));
    let state = || -> Result<String, Error> {
        let (inputs, outputs) =
            (state_of(&[&compiled, &relaxed], &|_| false)?, state_of(&outputs(workspace), &|_| false)?);
        Ok(format!("{} {inputs} {outputs}", env!("CARGO_PKG_VERSION")))
    };
    if stamp.holds(&state()?) {
        return Ok(false);
    }
    stamp.clear()?;
    eprintln!("Making the JS glue in {}", pkg.display());
    glue(&compiled, &pkg, dev)?;
    relaxed_beside(&relaxed, workspace, dev)?;
    stamp.write(&state()?)?;
    Ok(true)
}

fn outputs(workspace: &Workspace) -> Vec<PathBuf> {
    let glue = GLUE.iter().map(|name| workspace.pkg().join(name));
    glue.chain([Variant::Plain, Variant::Relaxed].map(|variant| wasm_file(workspace, variant))).collect()
}

/// What the glue consists of.
const GLUE: [&str; 3] = ["retort.js", "retort.d.ts", "retort_bg.wasm.d.ts"];

/// Puts the relaxed wasm file beside the plain one, provided that the plain one's glue fits it too.
fn relaxed_beside(compiled: &Path, workspace: &Workspace, dev: bool) -> Result<(), Error> {
    let (pkg, apart) = (workspace.pkg(), workspace.scratch()?.join("relaxed-glue"));
    fs::create_dir_all(&apart).map_err(io("create the folder", &apart))?;
    glue(compiled, &apart, dev)?;
    for name in GLUE {
        let read = |folder: &Path| {
            let path = folder.join(name);
            fs::read(&path).map_err(io("read", &path))
        };
        if read(&pkg)? != read(&apart)? {
            return Err(Error::Message(format!(
                "{name} is not the same for the wasm file with relaxed SIMD and the one without, in {} and {}; \
                 exported and imported functions must not depend on target features",
                apart.display(),
                pkg.display()
            )));
        }
    }
    let (from, to) = (apart.join(format!("{OUT_NAME}_bg.wasm")), wasm_file(workspace, Variant::Relaxed));
    fs::copy(&from, &to).map_err(io("write", &to))?;
    Ok(())
}

/// Compiles `retort-web` and answers where the wasm file lies, which depends on the user's cargo settings.
fn compile(workspace: &Workspace, dev: bool, variant: Variant) -> Result<PathBuf, Error> {
    let mut command = Command::new("cargo");
    command
        .args(["build", "--package", "retort-web", "--lib", "--target", WASM_TARGET])
        .args(["--profile", if dev { "dev" } else { "wasm" }])
        .args(["--message-format", "json-render-diagnostics"])
        // These would replace the flags in .cargo/config.toml, and with them SIMD.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .current_dir(&workspace.root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    if variant == Variant::Relaxed {
        // Added to the flags in .cargo/config.toml. In a folder of its own, so that neither build undoes the other's.
        command
            .arg("--config")
            .arg(format!("target.{WASM_TARGET}.rustflags=[\"-C\", \"target-feature=+relaxed-simd\"]"))
            .arg("--target-dir")
            .arg(workspace.scratch()?.join("relaxed-target"));
    }
    eprintln!("$ {}", process::show(&command));
    let mut child = command.spawn().map_err(|error| process::start_error(&command, &error))?;
    let mut wasm = None;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(io("read the output of", Path::new("cargo")))?;
            wasm = artifact(&line).or(wasm);
        }
    }
    let status = child.wait().map_err(io("wait for", Path::new("cargo")))?;
    if !status.success() {
        return Err(Error::Failed { command: process::show(&command), status: status.to_string() });
    }
    wasm.ok_or_else(|| {
        Error::Message(
            "cargo built retort-web without a .wasm file; its Cargo.toml must say crate-type = [\"cdylib\", \"rlib\"]"
                .to_owned(),
        )
    })
}

/// The wasm file that one of cargo's JSON messages speaks of.
fn artifact(line: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    let is_ours =
        message.get("reason")? == "compiler-artifact" && message.pointer("/target/name")? == "retort_web";
    let files = message.get("filenames").filter(|_| is_ours)?.as_array()?;
    files.iter().filter_map(|file| file.as_str()).find(|file| file.ends_with(".wasm")).map(PathBuf::from)
}

fn glue(compiled: &Path, pkg: &Path, dev: bool) -> Result<(), Error> {
    let failed = |error: &dyn std::fmt::Display| {
        Error::Message(format!(
            "cannot make the JS glue from {}: {error:#}\nwhat to do: where versions are said to differ, set \
             wasm-bindgen and wasm-bindgen-cli-support to the same version in Cargo.toml",
            compiled.display()
        ))
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(compiled).out_name(OUT_NAME).typescript(true);
    bindgen.remove_name_section(!dev).remove_producers_section(!dev);
    bindgen.web(true).map_err(|error| failed(&error))?;
    let mut output = bindgen.generate_output().map_err(|error| failed(&error))?;
    // The library would overwrite the hand-written package.json with one of its own.
    if !output.npm_dependencies().is_empty() {
        return Err(failed(&"a crate asks for packages from npm, and pkg/package.json is written by hand"));
    }
    // Pieces that an earlier build left must not look like part of this one.
    let snippets = pkg.join("snippets");
    if snippets.exists() {
        fs::remove_dir_all(&snippets).map_err(io("delete", &snippets))?;
    }
    output.emit(pkg).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wasm_file_is_found_in_the_messages_of_cargo() {
        let line = r#"{"reason":"compiler-artifact","target":{"name":"retort_web","kind":["cdylib","rlib"]},
            "filenames":["/t/wasm/libretort_web.rlib","/t/wasm/retort_web.wasm"]}"#;
        assert_eq!(artifact(line), Some(PathBuf::from("/t/wasm/retort_web.wasm")));
        assert_eq!(artifact(&line.replace("\"retort_web\"", "\"other\"")), None);
        assert_eq!(artifact(r#"{"reason":"build-finished","success":true}"#), None);
        assert_eq!(artifact("not JSON"), None);
    }
}
