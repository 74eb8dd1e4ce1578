//! What the built wasm files must be: small to download, and with the SIMD instructions that they are for and no
//! others.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use wasmparser::{Parser, Payload};

use crate::error::{Error, io};

/// The most that a visitor should have to download, in bytes, gzipped at level 9.
const MAX_GZIPPED_BYTES: usize = 1_500_000;
/// A build without SIMD has none; one with it has thousands. A few may come from hand-written code alone.
const MIN_SIMD_INSTRUCTIONS: usize = 300;
/// The first byte of every fixed-width SIMD instruction (WebAssembly core specification, section 5.4.9).
const SIMD_PREFIX: u8 = 0xfd;
/// The first number behind the prefix that is a relaxed instruction; fixed-width ones are below (section 5.4.9).
const FIRST_RELAXED: u32 = 0x100;

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) bytes: usize,
    pub(crate) gzipped_bytes: usize,
    /// All of them, relaxed ones too.
    pub(crate) simd_instructions: usize,
    pub(crate) relaxed_instructions: usize,
}

/// How many relaxed instructions a file must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relaxed {
    /// None: an engine that does not know them refuses the whole file.
    None,
    /// Some: without them the file is of no use.
    Some,
    /// Any number, since no kernel is written with them.
    Any,
}

impl Relaxed {
    /// What the file with relaxed SIMD must have, by what is written in the sources of the engine.
    pub(crate) fn by_sources(folder: &Path) -> Result<Self, Error> {
        Ok(if mentions(folder, "target_feature = \"relaxed-simd\"")? { Self::Some } else { Self::Any })
    }
}

/// Whether any Rust file below the folder holds this text.
fn mentions(folder: &Path, text: &str) -> Result<bool, Error> {
    for entry in std::fs::read_dir(folder).map_err(io("read the folder", folder))? {
        let path = entry.map_err(io("read the folder", folder))?.path();
        let found = if path.is_dir() {
            mentions(&path, text)?
        } else {
            path.extension().is_some_and(|end| end == "rs")
                && std::fs::read_to_string(&path).map_err(io("read", &path))?.contains(text)
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Measures a wasm file and refuses one that is too large or has not the SIMD that it must have.
pub(crate) fn check(path: &Path, relaxed: Relaxed) -> Result<Facts, Error> {
    let wasm = std::fs::read(path).map_err(io("read", path))?;
    let facts = measure(&wasm).map_err(|problem| Error::Message(format!("{}: {problem}", path.display())))?;
    judge(facts, relaxed).map_err(|problem| Error::Message(format!("{}: {problem}", path.display())))?;
    Ok(facts)
}

fn judge(facts: Facts, relaxed: Relaxed) -> Result<(), String> {
    if facts.gzipped_bytes > MAX_GZIPPED_BYTES {
        return Err(format!(
            "{} bytes gzipped, but at most {MAX_GZIPPED_BYTES} are allowed; look for a dependency or feature that grew",
            facts.gzipped_bytes
        ));
    }
    if facts.simd_instructions < MIN_SIMD_INSTRUCTIONS {
        return Err(format!(
            "{} SIMD instructions, but at least {MIN_SIMD_INSTRUCTIONS} are expected; build with \
             -C target-feature=+simd128 (.cargo/config.toml says so, a RUSTFLAGS variable overrides it)",
            facts.simd_instructions
        ));
    }
    match (relaxed, facts.relaxed_instructions) {
        (Relaxed::None, 1..) => Err(format!(
            "{} relaxed SIMD instructions, which not every browser knows; they belong behind \
             cfg(target_feature = \"relaxed-simd\")",
            facts.relaxed_instructions
        )),
        (Relaxed::Some, 0) => {
            Err("no relaxed SIMD instruction, though there are kernels with them; build with \
             -C target-feature=+relaxed-simd and look whether those kernels are called"
                .to_owned())
        }
        _ => Ok(()),
    }
}

fn measure(wasm: &[u8]) -> Result<Facts, String> {
    let (mut simd_instructions, mut relaxed_instructions) = (0, 0);
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::CodeSectionEntry(body) = payload.map_err(|error| error.to_string())? {
            let mut operators = body.get_operators_reader().map_err(|error| error.to_string())?;
            while !operators.eof() {
                let at = operators.original_position();
                if wasm.get(at) == Some(&SIMD_PREFIX) {
                    simd_instructions += 1;
                    relaxed_instructions += usize::from(leb128(&wasm[at + 1..]) >= FIRST_RELAXED);
                }
                operators.read().map_err(|error| error.to_string())?;
            }
        }
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::new(9));
    let gzipped = gzip.write_all(wasm).and_then(|()| gzip.finish()).map_err(|error| error.to_string())?;
    Ok(Facts { bytes: wasm.len(), gzipped_bytes: gzipped.len(), simd_instructions, relaxed_instructions })
}

/// The unsigned number in LEB128 with which the bytes begin; what follows the first three bytes is left out.
fn leb128(bytes: &[u8]) -> u32 {
    let mut number = 0;
    for (shift, byte) in [0, 7, 14].into_iter().zip(bytes) {
        number |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with one function of no parameters and results, whose instructions are `code` and `end`.
    /// Written by hand after the WebAssembly core specification, chapter 5.
    fn module(code: &[u8]) -> Vec<u8> {
        let body = u8::try_from(code.len() + 2).unwrap();
        let mut wasm = b"\0asm\x01\0\0\0".to_vec();
        wasm.extend([1, 4, 1, 0x60, 0, 0]); // type section: one function type
        wasm.extend([3, 2, 1, 0]); // function section: one function of that type
        wasm.extend([10, body + 2, 1, body, 0]); // code section: one body without locals
        wasm.extend(code);
        wasm.push(0x0b);
        wasm
    }

    #[test]
    fn simd_is_counted_where_it_is_an_instruction_and_nowhere_else() {
        // v128.const (16 bytes of 0xfd, which are data) and drop, twice.
        let mut code = vec![0xfd, 0x0c];
        code.extend([0xfd; 16]);
        code.push(0x1a);
        let code = [code.clone(), code].concat();
        assert_eq!(measure(&module(&code)).unwrap().simd_instructions, 2);
        // i32.const -3 is 0x41 0x7d; i32.const 0xfd is 0x41 0xfd 0x01: no SIMD.
        assert_eq!(measure(&module(&[0x41, 0xfd, 0x01, 0x1a])).unwrap().simd_instructions, 0);
    }

    #[test]
    fn relaxed_instructions_are_told_from_fixed_ones() {
        // i32.const 0 and i8x16.splat (0xfd 0x0f), three times.
        let splat = [0x41, 0, 0xfd, 0x0f];
        // i32x4.relaxed_dot_i8x16_i7x16_add_s: number 0x113, which is 0x93 0x02 in LEB128; and drop.
        let code = [&splat[..], &splat, &splat, &[0xfd, 0x93, 0x02, 0x1a]].concat();
        let facts = measure(&module(&code)).unwrap();
        assert_eq!((facts.simd_instructions, facts.relaxed_instructions), (4, 1));
        // f32x4.add of two splats: number 0xe4, which is 0xe4 0x01 in LEB128.
        let code = [&splat[..], &splat, &[0xfd, 0xe4, 0x01, 0x1a]].concat();
        let facts = measure(&module(&code)).unwrap();
        assert_eq!((facts.simd_instructions, facts.relaxed_instructions), (3, 0));
    }

    #[test]
    fn each_file_has_the_relaxed_instructions_that_it_is_for() {
        let facts = |relaxed_instructions| Facts {
            bytes: 3_000_000,
            gzipped_bytes: 1_000_000,
            simd_instructions: 3000,
            relaxed_instructions,
        };
        for (relaxed, without, with) in
            [(Relaxed::None, true, false), (Relaxed::Some, false, true), (Relaxed::Any, true, true)]
        {
            assert_eq!(judge(facts(0), relaxed).is_ok(), without, "{relaxed:?}");
            assert_eq!(judge(facts(5), relaxed).is_ok(), with, "{relaxed:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("cpu")).unwrap();
        let kernel = folder.path().join("cpu/kernel.rs");
        std::fs::write(&kernel, "#[cfg(target_feature = \"simd128\")]").unwrap();
        assert_eq!(Relaxed::by_sources(folder.path()).unwrap(), Relaxed::Any);
        std::fs::write(&kernel, "#[cfg(target_feature = \"relaxed-simd\")]").unwrap();
        assert_eq!(Relaxed::by_sources(folder.path()).unwrap(), Relaxed::Some);
    }

    #[test]
    fn a_fat_or_scalar_build_is_refused() {
        let good = Facts {
            bytes: 3_000_000,
            gzipped_bytes: 1_500_000,
            simd_instructions: 300,
            relaxed_instructions: 0,
        };
        let judge = |facts| judge(facts, Relaxed::None);
        assert_eq!(judge(good), Ok(()));
        let problem = judge(Facts { gzipped_bytes: 1_500_001, ..good }).unwrap_err();
        assert!(problem.contains("1500001 bytes gzipped"), "{problem}");
        let problem = judge(Facts { simd_instructions: 299, ..good }).unwrap_err();
        assert!(problem.contains("299 SIMD") && problem.contains("simd128"), "{problem}");
    }

    #[test]
    fn what_is_no_wasm_is_an_error() {
        assert!(measure(b"<html>").is_err());
        assert!(measure(b"\0asm\x01\0\0\0\x0a\x05").is_err());
    }
}
