//! The registry of models: what each file is, where it comes from, and a local cache in which only verified files
//! lie.
//!
//! A [`Registry`] is read from TOML and names each model's file, size, SHA-256, licence and sources. A [`Store`]
//! joins a registry to a folder on this machine:
//!
//! 1. [`Store::pull`] looks in the folder, then asks each source in turn. Bytes go to a temporary name, their size
//!    and SHA-256 are checked, and only then does the file take its real name. An interruption at any point
//!    leaves either the whole file or something that the next pull resumes or clears away.
//! 2. [`Store::resolve`] turns what a person typed, a registry name or a path, into a file.
//! 3. [`Store::list`] and [`Store::verify`] say what is there.
//! 4. [`Store::adapter`] gives the bytes of an adapter. With the feature `adapters` they are part of the program, so that
//!    an installed command needs neither a network nor this repository; without it they are looked for in a folder.
//!
//! ```no_run
//! # fn main() -> Result<(), retort_models::ModelError> {
//! let store = retort_models::Store::open()?;
//! let name = store.registry().default_model().name.clone();
//! let path = store.pull(&name, &mut |_progress| {})?;
//! println!("{}", path.display());
//! # Ok(())
//! # }
//! ```

mod embedded;
mod error;
mod hash;
mod http;
mod lock;
mod pypi;
mod registry;
mod store;

pub use error::{ModelError, RegistryError, SourceError, Tried};
pub use hash::{sha256_bytes, sha256_file, sha256_files};
pub use registry::{Adapter, MAX_ADAPTER_BYTES, Model, Registry, Source};
pub use store::{
    AdapterChoice, FetchOptions, Listed, Presence, Progress, Resolved, Store, Verification, cache_dir,
};
