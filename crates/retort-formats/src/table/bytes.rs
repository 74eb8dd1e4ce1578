//! From a file's bytes to UTF-8, as far as they are text.

use std::borrow::Cow;

use super::TableError;

/// The file without its byte-order mark, UTF-16 turned into UTF-8. What is no text stays (or becomes) invalid UTF-8, so
/// that it costs only the row in which it stands.
pub(super) fn decode<'a>(bytes: &'a [u8], name: &str) -> Result<Cow<'a, [u8]>, TableError> {
    let refuse =
        |what: &str| Err(TableError::Refused { file: name.to_owned(), line: 1, what: what.to_owned() });
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => Ok(Cow::Borrowed(rest)),
        [0xff, 0xfe, rest @ ..] => Ok(Cow::Owned(of_utf16(rest, u16::from_le_bytes))),
        [0xfe, 0xff, rest @ ..] => Ok(Cow::Owned(of_utf16(rest, u16::from_be_bytes))),
        [b'P', b'K', 3 | 5, ..] => {
            refuse("this is a spreadsheet or an archive; save the sheet as CSV, or unpack the archive")
        }
        [b'P', b'A', b'R', b'1', ..] => refuse("this is a Parquet file; save it as JSON Lines or CSV"),
        [0x1f, 0x8b, ..] => refuse("this file is compressed; unpack it first"),
        // How UTF-16 begins where its first character is a Latin one.
        [0, _, ..] | [_, 0, ..] => {
            refuse("this is no text in UTF-8; save the file as UTF-8, or as UTF-16 with a byte-order mark")
        }
        _ => Ok(Cow::Borrowed(bytes)),
    }
}

fn of_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut out = Vec::with_capacity(bytes.len());
    let mut buffer = [0; 4];
    for character in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        match character {
            Ok(character) => out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes()),
            // Half of a pair: a byte that UTF-8 never has.
            Err(_) => out.push(0xff),
        }
    }
    if !rest.is_empty() {
        out.push(0xff);
    }
    out
}
