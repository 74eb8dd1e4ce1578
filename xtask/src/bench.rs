//! `cargo xtask bench`: how fast judging is.

use std::process::Command;

use retort_models::Store;

use crate::error::Error;
use crate::workspace::Workspace;
use crate::{model, process};

/// Runs the benchmarks of `retort-judge` on the default model.
pub(crate) fn bench(workspace: &Workspace) -> Result<(), Error> {
    let store = Store::open()?;
    let path = model::pull(&store, &store.registry().default_model().name)?;
    process::run(
        Command::new("cargo")
            .args(["bench", "--package", "retort-judge"])
            .env("RETORT_TEST_MODEL", path)
            .current_dir(&workspace.root),
    )
}
