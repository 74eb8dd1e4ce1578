//! The adapters that are part of this program.

/// The name and the content of each; see `build.rs`.
#[cfg(feature = "adapters")]
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/adapters.rs"));
#[cfg(not(feature = "adapters"))]
static FILES: &[(&str, &[u8])] = &[];

/// The content of the adapter file of this name, unverified.
pub(crate) fn file(name: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|(file, _)| *file == name).map(|(_, bytes)| *bytes)
}
