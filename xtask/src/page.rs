//! The page: everything that `www/dist` is made of.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::error::{Error, io};
use crate::stamp::{Stamp, state_of};
use crate::workspace::Workspace;
use crate::{package, prerequisites, process};

#[derive(Debug, clap::Args)]
pub(crate) struct BuildOptions {
    /// Compile faster into a larger and slower package.
    #[arg(long)]
    pub(crate) dev: bool,
}

/// Builds the wasm package and the page; what is up to date is left alone.
pub(crate) fn build(workspace: &Workspace, options: &BuildOptions) -> Result<(), Error> {
    let started = Instant::now();
    // Asked first, so that nobody waits for a compiler only to hear that Node is missing.
    prerequisites::node()?;
    prerequisites::wasm_target(workspace)?;
    package::build(workspace, options.dev)?;
    let page = build_page(workspace)?;
    let what = if page { "built" } else { "up to date" };
    eprintln!("{} is {what} ({:.1} s)", workspace.dist().display(), started.elapsed().as_secs_f64());
    Ok(())
}

/// Builds `www/dist`; answers whether it had to.
pub(crate) fn build_page(workspace: &Workspace) -> Result<bool, Error> {
    let www = workspace.www();
    install(&www)?;
    let (pkg, dist) = (workspace.pkg(), workspace.dist());
    let web_types = workspace.root.join("crates/retort-web/src");
    let stamp = Stamp::new(workspace.scratch()?.join("page.stamp"));
    let inputs = state_of(&[&www, &pkg, &web_types], &|folder| {
        folder == "node_modules" || folder.starts_with("dist") || folder.starts_with('.')
    })?;
    let state = || Ok::<_, Error>(format!("{inputs} {}", state_of(&[&dist], &|_| false)?));
    if dist.join("index.html").is_file() && stamp.holds(&state()?) {
        return Ok(false);
    }
    stamp.clear()?;
    process::run(Command::new(process::npm_program("npm")).args(["run", "build"]).current_dir(&www))?;
    if !dist.join("index.html").is_file() {
        return Err(Error::Message(format!("npm run build left no {}", dist.join("index.html").display())));
    }
    stamp.write(&state()?)?;
    Ok(true)
}

/// `npm ci`, unless what is installed is what package-lock.json asks for.
pub(crate) fn install(folder: &Path) -> Result<(), Error> {
    let lock = folder.join("package-lock.json");
    let wanted = std::fs::read_to_string(&lock).map_err(io("read", &lock))?;
    // Inside node_modules, so that deleting the folder deletes the mark. The content is compared, not the time:
    // git gives files new times.
    let mark = Stamp::new(folder.join("node_modules").join(".retort-installed"));
    if mark.holds(&wanted) {
        return Ok(());
    }
    process::run(
        Command::new(process::npm_program("npm"))
            .args(["ci", "--no-audit", "--no-fund"])
            .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
            .current_dir(folder),
    )?;
    let modules = folder.join("node_modules");
    std::fs::create_dir_all(&modules).map_err(io("create the folder", &modules))?;
    mark.write(&wanted)
}
