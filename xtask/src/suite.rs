//! `cargo xtask test`: everything that has to hold, in the order in which it fails soonest.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use retort_models::Store;

use crate::error::{Error, io};
use crate::guard::Relaxed;
use crate::package::Variant;
use crate::prerequisites::{self, Wanted};
use crate::workspace::Workspace;
use crate::{guard, model, package, page, process};

#[derive(Debug, clap::Args)]
pub(crate) struct TestOptions {
    /// Run one group of tests, with what it needs.
    #[arg(long, value_enum)]
    only: Option<Group>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Group {
    /// Format and lints.
    Lint,
    /// The Rust tests, on this machine's CPU and Vulkan driver.
    Native,
    /// The wasm package: its size, its SIMD, and its tests under Node.
    Wasm,
    /// The page, in a real browser.
    Browser,
}

impl Group {
    fn name(self) -> &'static str {
        match self {
            Self::Lint => "lint",
            Self::Native => "native",
            Self::Wasm => "wasm",
            Self::Browser => "browser",
        }
    }
}

/// What the steps share.
struct Run<'a> {
    workspace: &'a Workspace,
    /// `None` runs all.
    only: Option<Group>,
    default_model: Option<PathBuf>,
    tiny_model: PathBuf,
    /// The `retort` command, once it has been built.
    command_line: Option<PathBuf>,
    runtime_dir: Option<PathBuf>,
}

enum Outcome {
    Passed,
    Skipped(String),
}

struct Step {
    name: &'static str,
    /// The groups that need this step; the first one names it in `--only`.
    groups: &'static [Group],
    run: fn(&mut Run<'_>) -> Result<Outcome, Error>,
}

use Group::{Browser, Lint, Native, Wasm};

const STEPS: &[Step] = &[
    Step { name: "prerequisites", groups: &[Lint, Native, Wasm, Browser], run: check_prerequisites },
    Step { name: "format", groups: &[Lint], run: format },
    Step { name: "default model", groups: &[Native, Wasm, Browser], run: pull_default_model },
    Step { name: "lints", groups: &[Lint], run: clippy },
    Step { name: "lints for wasm", groups: &[Lint], run: clippy_wasm },
    Step { name: "native programs", groups: &[Native, Wasm, Browser], run: native_programs },
    Step { name: "native tests", groups: &[Native], run: native_tests },
    Step { name: "public data", groups: &[Native], run: public_data },
    Step { name: "wasm package", groups: &[Wasm, Browser], run: wasm_package },
    Step { name: "wasm size and SIMD", groups: &[Wasm], run: wasm_guard },
    Step { name: "tiny model", groups: &[Wasm, Browser], run: tiny_model },
    Step { name: "wasm tests under Node", groups: &[Wasm], run: wasm_tests },
    Step { name: "page", groups: &[Browser], run: build_page },
    Step { name: "page unit tests", groups: &[Browser], run: page_tests },
    Step { name: "browser tests", groups: &[Browser], run: browser_tests },
    Step { name: "the page in Firefox", groups: &[Browser], run: firefox },
];

/// Runs the steps until one fails, then sums up.
pub(crate) fn test(workspace: &Workspace, options: &TestOptions) -> Result<(), Error> {
    let mut run = Run {
        workspace,
        only: options.only,
        default_model: None,
        tiny_model: workspace.scratch()?.join("tiny").join("tiny.gguf"),
        command_line: None,
        runtime_dir: runtime_dir(workspace)?,
    };
    let started = Instant::now();
    let mut lines = Vec::new();
    let mut failure = None;
    let steps: Vec<&Step> = STEPS.iter().filter(|step| run.wants(step.groups)).collect();
    for step in steps {
        eprintln!("\n=== {} ===", step.name);
        let start = Instant::now();
        let result = (step.run)(&mut run);
        let took = start.elapsed();
        let said = match &result {
            Ok(Outcome::Passed) => "passed".to_owned(),
            Ok(Outcome::Skipped(why)) => format!("skipped: {why}"),
            Err(_) => "FAILED".to_owned(),
        };
        eprintln!("=== {}: {said} ({:.1} s) ===", step.name, took.as_secs_f64());
        lines.push(line(step.name, took, &said));
        if let Err(error) = result {
            failure = Some((step, error));
            break;
        }
    }
    lines.push(line("in all", started.elapsed(), if failure.is_some() { "FAILED" } else { "passed" }));
    eprintln!("\n{}", lines.join("\n"));
    match failure {
        None => Ok(()),
        Some((step, error)) => {
            let group = run.only.or(step.groups.first().copied()).map_or("", Group::name);
            Err(Error::Message(format!(
                "{} failed: {error}\nto repeat it: cargo xtask test --only {group}",
                step.name
            )))
        }
    }
}

fn line(name: &str, took: Duration, said: &str) -> String {
    format!("  {name:<22} {:>7.1} s  {said}", took.as_secs_f64())
}

/// Vulkan's software driver wants a folder of the user's own; containers seldom have one.
pub(crate) fn runtime_dir(workspace: &Workspace) -> Result<Option<PathBuf>, Error> {
    if std::env::var_os("XDG_RUNTIME_DIR").is_some() || !cfg!(target_os = "linux") {
        return Ok(None);
    }
    let folder = workspace.scratch()?.join("runtime");
    std::fs::create_dir_all(&folder).map_err(io("create the folder", &folder))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700))
            .map_err(io("set the permissions of", &folder))?;
    }
    Ok(Some(folder))
}

impl Run<'_> {
    fn wants(&self, groups: &[Group]) -> bool {
        self.only.is_none_or(|only| groups.contains(&only))
    }

    /// A command in a folder, with what the tests may ask the environment for.
    fn command(&self, program: &str, folder: PathBuf) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder);
        if let Some(path) = &self.default_model {
            command.env("RETORT_TEST_MODEL", path);
        }
        if let Some(path) = &self.runtime_dir {
            command.env("XDG_RUNTIME_DIR", path);
        }
        if let Some(path) = &self.command_line {
            command.env("RETORT_CLI", path);
        }
        command
    }

    /// A program that [`native_programs`] built. It lies beside this one: both are built in the same profile.
    fn program(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.workspace.xtask.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        if path.is_file() {
            Ok(path)
        } else {
            Err(Error::Message(format!("the build left no {}", path.display())))
        }
    }

    fn cargo(&self) -> Command {
        self.command("cargo", self.workspace.root.clone())
    }
}

fn check_prerequisites(run: &mut Run<'_>) -> Result<Outcome, Error> {
    if run.wants(&[Wasm, Browser]) {
        prerequisites::node()?;
    }
    if run.wants(&[Lint, Wasm, Browser]) {
        prerequisites::wasm_target(run.workspace)?;
    }
    prerequisites::install(Wanted { chromium: run.wants(&[Browser]), vulkan: run.wants(&[Native]) })?;
    Ok(Outcome::Passed)
}

fn pull_default_model(run: &mut Run<'_>) -> Result<Outcome, Error> {
    let store = Store::open()?;
    let path = model::pull(&store, &store.registry().default_model().name)?;
    eprintln!("{}", path.display());
    run.default_model = Some(path);
    Ok(Outcome::Passed)
}

fn format(run: &mut Run<'_>) -> Result<Outcome, Error> {
    process::run(run.cargo().args(["fmt", "--all", "--check"]))?;
    Ok(Outcome::Passed)
}

fn clippy(run: &mut Run<'_>) -> Result<Outcome, Error> {
    process::run(run.cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    Ok(Outcome::Passed)
}

fn clippy_wasm(run: &mut Run<'_>) -> Result<Outcome, Error> {
    let target = package::WASM_TARGET;
    process::run(run.cargo().args([
        "clippy",
        "--package",
        "retort-web",
        // On their way into the page, and already bound to what runs there.
        "--package",
        "retort-stats",
        "--package",
        "retort-checklist",
        "--target",
        target,
        "--",
        "-D",
        "warnings",
    ]))?;
    Ok(Outcome::Passed)
}

fn native_tests(run: &mut Run<'_>) -> Result<Outcome, Error> {
    process::run(run.cargo().args(["test", "--workspace"]))?;
    // Whole models through the products that this machine would not choose: the twin of relaxed SIMD's, the one in
    // plain Rust, and the one that a browser's 128-bit vectors compute.
    for kernel in ["narrow", "portable", "128"] {
        process::run(
            run.cargo()
                .args(["test", "--package", "retort-lm", "--test", "cpu"])
                .env("RETORT_KERNEL", kernel),
        )?;
    }
    Ok(Outcome::Passed)
}

/// The readers against the public files' counts, and the protocols against published figures: where the files are.
fn public_data(run: &mut Run<'_>) -> Result<Outcome, Error> {
    if std::env::var_os("RETORT_DATA").is_none() {
        return Ok(Outcome::Skipped("RETORT_DATA names no folder of public data".to_owned()));
    }
    process::run(run.cargo().args(["test", "--package", "retort-bench", "--tests", "--", "--ignored"]))?;
    Ok(Outcome::Passed)
}

fn wasm_package(run: &mut Run<'_>) -> Result<Outcome, Error> {
    package::build(run.workspace, false)?;
    Ok(Outcome::Passed)
}

fn wasm_guard(run: &mut Run<'_>) -> Result<Outcome, Error> {
    let engine = run.workspace.root.join("crates/retort-lm/src");
    for (variant, relaxed) in
        [(Variant::Plain, Relaxed::None), (Variant::Relaxed, Relaxed::by_sources(&engine)?)]
    {
        let facts = guard::check(&package::wasm_file(run.workspace, variant), relaxed)?;
        eprintln!(
            "{variant:?}: {} bytes, {} gzipped, {} SIMD instructions, {} of them relaxed",
            facts.bytes, facts.gzipped_bytes, facts.simd_instructions, facts.relaxed_instructions
        );
    }
    Ok(Outcome::Passed)
}

/// Builds what the native tests run and what the other tests compare the wasm package and the page with: one
/// build for all, since cargo would choose other features for each part alone and build everything again.
fn native_programs(run: &mut Run<'_>) -> Result<Outcome, Error> {
    process::run(run.cargo().args(["test", "--workspace", "--no-run"]))?;
    run.command_line = Some(run.program("retort")?);
    Ok(Outcome::Passed)
}

fn tiny_model(run: &mut Run<'_>) -> Result<Outcome, Error> {
    if let Some(folder) = run.tiny_model.parent() {
        std::fs::create_dir_all(folder).map_err(io("create the folder", folder))?;
    }
    let writer = run.program("examples/tiny-gguf")?;
    process::run(Command::new(writer).arg(&run.tiny_model).arg("--family"))?;
    if run.tiny_model.is_file() {
        Ok(Outcome::Passed)
    } else {
        Err(Error::Message(format!("the example tiny-gguf left no {}", run.tiny_model.display())))
    }
}

fn wasm_tests(run: &mut Run<'_>) -> Result<Outcome, Error> {
    let folder = run.workspace.wasm_tests();
    if !folder.is_dir() {
        return Ok(Outcome::Skipped("there is no tests/wasm".to_owned()));
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(io("read the folder", &folder))? {
        let name = entry.map_err(io("read the folder", &folder))?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".test.mjs") {
            files.push(name);
        }
    }
    if files.is_empty() {
        return Err(Error::Message(format!("{} holds no .test.mjs file", folder.display())));
    }
    files.sort();
    if folder.join("package-lock.json").is_file() {
        page::install(&folder)?;
    }
    process::run(
        run.command("node", folder).arg("--test").args(&files).env("RETORT_TINY_MODEL", &run.tiny_model),
    )?;
    Ok(Outcome::Passed)
}

fn build_page(run: &mut Run<'_>) -> Result<Outcome, Error> {
    page::build_page(run.workspace)?;
    Ok(Outcome::Passed)
}

fn page_tests(run: &mut Run<'_>) -> Result<Outcome, Error> {
    let npm = process::npm_program("npm");
    process::run(run.command(&npm, run.workspace.www()).args(["test", "--if-present"]))?;
    Ok(Outcome::Passed)
}

fn browser_tests(run: &mut Run<'_>) -> Result<Outcome, Error> {
    let folder = run.workspace.browser_tests();
    page::install(&folder)?;
    let chromium = prerequisites::chromium().ok_or_else(|| Error::Message("Chromium is gone".to_owned()))?;
    let npx = process::npm_program("npx");
    process::run(
        run.command(&npx, folder)
            .args(["playwright", "test"])
            .env("CHROMIUM", chromium)
            .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
            .env("RETORT_TINY_MODEL", &run.tiny_model)
            // So that the tests can start `serve --no-build` without waiting for cargo.
            .env("RETORT_XTASK", &run.workspace.xtask),
    )?;
    Ok(Outcome::Passed)
}

/// Playwright does not drive a Firefox as it is installed, so that this is a script of its own.
fn firefox(run: &mut Run<'_>) -> Result<Outcome, Error> {
    let Some(firefox) = prerequisites::firefox_if_possible()? else {
        return Ok(Outcome::Skipped("Firefox was not found (FIREFOX can hold its path)".to_owned()));
    };
    let folder = run.workspace.browser_tests();
    process::run(
        run.command("node", folder)
            .arg("firefox.mjs")
            .env("FIREFOX", firefox)
            .env("RETORT_XTASK", &run.workspace.xtask),
    )?;
    Ok(Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(only: Option<Group>) -> Vec<&'static str> {
        let workspace = Workspace { root: PathBuf::new(), xtask: PathBuf::new() };
        let run = Run {
            workspace: &workspace,
            only,
            default_model: None,
            tiny_model: PathBuf::new(),
            command_line: None,
            runtime_dir: None,
        };
        STEPS.iter().filter(|step| run.wants(step.groups)).map(|step| step.name).collect()
    }

    #[test]
    fn each_group_brings_what_it_needs_and_all_together_is_everything() {
        assert_eq!(steps(Some(Lint)), ["prerequisites", "format", "lints", "lints for wasm"]);
        assert_eq!(
            steps(Some(Native)),
            ["prerequisites", "default model", "native programs", "native tests", "public data"]
        );
        let wasm = [
            "default model",
            "native programs",
            "wasm package",
            "wasm size and SIMD",
            "tiny model",
            "wasm tests under Node",
        ];
        assert_eq!(steps(Some(Wasm))[1..], wasm);
        let browser = [
            "default model",
            "native programs",
            "wasm package",
            "tiny model",
            "page",
            "page unit tests",
            "browser tests",
            "the page in Firefox",
        ];
        assert_eq!(steps(Some(Browser))[1..], browser);
        assert_eq!(steps(None).len(), STEPS.len());
    }
}
