//! What must be installed, how to find out, and what brings it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::package::WASM_TARGET;
use crate::process::{self, ask};
use crate::workspace::Workspace;

/// The oldest Node that the page's tools run on.
const NODE: (u32, u32) = (20, 19);

/// Node and npm, new enough.
pub(crate) fn node() -> Result<(), Error> {
    let missing = |problem: String| Error::Prerequisite { problem, hint: process::hint("node") };
    let version = ask("node", &["--version"]).ok_or_else(|| missing("Node.js was not found".to_owned()))?;
    if !new_enough(&version) {
        return Err(missing(format!(
            "Node.js {version} is too old; {}.{} or newer is needed",
            NODE.0, NODE.1
        )));
    }
    ask(&process::npm_program("npm"), &["--version"])
        .ok_or_else(|| missing("npm was not found".to_owned()))?;
    Ok(())
}

/// `v20.19.1` is.
fn new_enough(version: &str) -> bool {
    let mut numbers =
        version.trim().trim_start_matches('v').split('.').map_while(|part| part.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) => (major, minor) >= NODE,
        _ => false,
    }
}

/// The standard library for wasm; added through rustup where it is missing.
pub(crate) fn wasm_target(workspace: &Workspace) -> Result<(), Error> {
    let sysroot = ask("rustc", &["--print", "sysroot"]).ok_or_else(|| Error::Prerequisite {
        problem: "rustc was not found".to_owned(),
        hint: process::hint("rustc"),
    })?;
    if Path::new(&sysroot).join("lib/rustlib").join(WASM_TARGET).join("lib").is_dir() {
        return Ok(());
    }
    process::run(Command::new("rustup").args(["target", "add", WASM_TARGET]).current_dir(&workspace.root))
}

/// Chromium, from the `CHROMIUM` variable or wherever it is usually installed.
pub(crate) fn chromium() -> Option<PathBuf> {
    let elsewhere = [
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    ];
    browser(
        "CHROMIUM",
        &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
        &elsewhere,
    )
}

/// Firefox, from the `FIREFOX` variable or wherever it is usually installed.
pub(crate) fn firefox() -> Option<PathBuf> {
    let elsewhere =
        ["/Applications/Firefox.app/Contents/MacOS/firefox", r"C:\Program Files\Mozilla Firefox\firefox.exe"];
    browser("FIREFOX", &["firefox-esr", "firefox"], &elsewhere)
}

/// A browser: what the variable says, else the first of these that is there.
fn browser(variable: &str, names: &[&str], elsewhere: &[&str]) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
        return Some(PathBuf::from(path)).filter(|path| path.is_file());
    }
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let on_path = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    on_path.chain(elsewhere.iter().map(PathBuf::from)).find(|path| path.is_file())
}

/// Firefox, installed first where it is missing on Debian as root. It is tested where it is there: not everyone has it.
pub(crate) fn firefox_if_possible() -> Result<Option<PathBuf>, Error> {
    if let Some(found) = firefox() {
        return Ok(Some(found));
    }
    if !(is_debian() && is_root()) {
        return Ok(None);
    }
    apt(&["firefox-esr"])?;
    Ok(firefox())
}

/// Whether the software Vulkan driver is there. Only Linux needs it: the others have a GPU interface of their own.
fn has_vulkan() -> bool {
    if !cfg!(target_os = "linux") {
        return true;
    }
    ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"].iter().any(|folder| {
        std::fs::read_dir(folder).is_ok_and(|entries| {
            entries
                .filter_map(Result::ok)
                .any(|entry| entry.file_name().to_string_lossy().starts_with("lvp_icd"))
        })
    })
}

/// What tests need beside Rust and Node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) chromium: bool,
    pub(crate) vulkan: bool,
}

impl Wanted {
    /// Only what is not there yet.
    fn missing(self) -> Self {
        Self { chromium: self.chromium && chromium().is_none(), vulkan: self.vulkan && !has_vulkan() }
    }

    fn packages(self) -> Vec<&'static str> {
        let chromium = self.chromium.then_some("chromium");
        let vulkan = self.vulkan.then_some("mesa-vulkan-drivers");
        chromium.into_iter().chain(vulkan).collect()
    }
}

/// Installs what is missing on Debian as root; elsewhere says what to install.
pub(crate) fn install(wanted: Wanted) -> Result<(), Error> {
    let missing = wanted.missing();
    if missing == Wanted::default() {
        return Ok(());
    }
    let packages = missing.packages();
    if !(is_debian() && is_root()) {
        return Err(advice(missing, std::env::consts::OS));
    }
    apt(&packages)?;
    let missing = wanted.missing();
    if missing == Wanted::default() { Ok(()) } else { Err(advice(missing, std::env::consts::OS)) }
}

/// Installs Debian's packages.
fn apt(packages: &[&str]) -> Result<(), Error> {
    eprintln!("Installing {}", packages.join(" and "));
    let apt = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    process::run(apt().args(["update", "--quiet"]))?;
    process::run(apt().args(["install", "--yes", "--quiet", "--no-install-recommends"]).args(packages))
}

fn advice(missing: Wanted, system: &str) -> Error {
    let mut problems = Vec::new();
    if missing.chromium {
        problems.push("Chromium was not found (CHROMIUM can hold its path)");
    }
    if missing.vulkan {
        problems.push("the software Vulkan driver (lavapipe) was not found");
    }
    let packages = missing.packages().join(" ");
    let hint = match system {
        "macos" => "brew install --cask chromium".to_owned(),
        "windows" => "winget install Google.Chrome".to_owned(),
        _ => format!(
            "on Debian: sudo apt-get install {packages}; on Fedora: sudo dnf install {packages}; on Arch: \
             sudo pacman -S {}; on Ubuntu, whose chromium package is a snap, install Google Chrome in its place",
            packages.replace("mesa-vulkan-drivers", "vulkan-swrast")
        ),
    };
    Error::Prerequisite { problem: problems.join("; "), hint }
}

/// Debian itself: on Ubuntu the package `chromium` only points to a snap.
fn is_debian() -> bool {
    std::fs::read_to_string("/etc/os-release").is_ok_and(|text| text.lines().any(|line| line == "ID=debian"))
}

fn is_root() -> bool {
    ask("id", &["-u"]).is_some_and(|id| id == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_of_node_are_told_from_new_ones() {
        for (version, expected) in [
            ("v20.19.0", true),
            ("v20.20.2", true),
            ("v22.1.0", true),
            ("v20.18.3", false),
            ("v18.20.4", false),
            ("v9.99.0", false),
            ("nonsense", false),
            ("", false),
        ] {
            assert_eq!(new_enough(version), expected, "{version}");
        }
    }

    #[test]
    fn what_is_missing_is_named_with_the_command_for_the_system() {
        let both = Wanted { chromium: true, vulkan: true };
        let text = advice(both, "linux").to_string();
        assert!(text.contains("apt-get install chromium mesa-vulkan-drivers"), "{text}");
        assert!(text.contains("pacman -S chromium vulkan-swrast"), "{text}");
        let text = advice(Wanted { chromium: true, vulkan: false }, "macos").to_string();
        assert!(text.contains("brew install --cask chromium") && !text.contains("Vulkan"), "{text}");
    }
}
