//! What the built wasm must be: small to download, and with SIMD.

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

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) bytes: usize,
    pub(crate) gzipped_bytes: usize,
    pub(crate) simd_instructions: usize,
}

/// Measures a wasm file and refuses one that is too large or has no SIMD.
pub(crate) fn check(path: &Path) -> Result<Facts, Error> {
    let wasm = std::fs::read(path).map_err(io("read", path))?;
    let facts = measure(&wasm).map_err(|problem| Error::Message(format!("{}: {problem}", path.display())))?;
    judge(facts).map_err(|problem| Error::Message(format!("{}: {problem}", path.display())))?;
    Ok(facts)
}

fn judge(facts: Facts) -> Result<(), String> {
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
    Ok(())
}

fn measure(wasm: &[u8]) -> Result<Facts, String> {
    let mut simd_instructions = 0;
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::CodeSectionEntry(body) = payload.map_err(|error| error.to_string())? {
            let mut operators = body.get_operators_reader().map_err(|error| error.to_string())?;
            while !operators.eof() {
                if wasm.get(operators.original_position()) == Some(&SIMD_PREFIX) {
                    simd_instructions += 1;
                }
                operators.read().map_err(|error| error.to_string())?;
            }
        }
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::new(9));
    let gzipped = gzip.write_all(wasm).and_then(|()| gzip.finish()).map_err(|error| error.to_string())?;
    Ok(Facts { bytes: wasm.len(), gzipped_bytes: gzipped.len(), simd_instructions })
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
    fn a_fat_or_scalar_build_is_refused() {
        let good = Facts { bytes: 3_000_000, gzipped_bytes: 1_500_000, simd_instructions: 300 };
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
