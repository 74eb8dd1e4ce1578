//! Texts on the command line: as they are, from a file, or from standard input.

use std::io::Read;

use crate::error::CliError;

/// What a text argument names.
enum Place<'a> {
    Here(&'a str),
    File(&'a str),
    Stdin,
}

fn place(argument: &str) -> Place<'_> {
    match argument.strip_prefix('@') {
        // Two at signs are one that belongs to the text.
        Some(rest) if rest.starts_with('@') => Place::Here(rest),
        Some(path) => Place::File(path),
        None if argument == "-" => Place::Stdin,
        None => Place::Here(argument),
    }
}

/// Reads each `(option, argument)`. Standard input can be named once.
pub(crate) fn read_all(arguments: &[(&'static str, Option<&str>)]) -> Result<Vec<Option<String>>, CliError> {
    let mut taken: Option<&str> = None;
    arguments
        .iter()
        .map(|&(option, argument)| {
            let wrong = |problem: String| CliError::Text { option, problem };
            let Some(argument) = argument else { return Ok(None) };
            let bytes = match place(argument) {
                Place::Here(text) => return Ok(Some(text.to_owned())),
                Place::File(path) => std::fs::read(path).map_err(|error| {
                    wrong(format!("the file \"{path}\" could not be read: {error} (write @@ for a text that begins with @)"))
                })?,
                Place::Stdin => {
                    if let Some(other) = taken.replace(option) {
                        return Err(wrong(format!("standard input is already read for --{other}; give a file as @FILE")));
                    }
                    let mut bytes = Vec::new();
                    std::io::stdin().read_to_end(&mut bytes).map_err(|error| wrong(format!("standard input: {error}")))?;
                    bytes
                }
            };
            let text = String::from_utf8(bytes)
                .map_err(|error| wrong(format!("the text is not UTF-8 (byte {}); save it as UTF-8", error.utf8_error().valid_up_to())))?;
            // A byte order mark is no part of the text (P26).
            Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
        })
        .collect()
}

/// A stranger's text on the terminal: what would steer the terminal is shown, not sent.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_file_and_escape() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text.txt");
        std::fs::write(&path, "\u{feff}from a file\n").unwrap();
        let at = format!("@{}", path.display());
        let texts =
            read_all(&[("prompt", Some("plain")), ("response", Some(&at)), ("reference", Some("@@home"))]);
        let texts: Vec<String> = texts.unwrap().into_iter().flatten().collect();
        assert_eq!(texts, ["plain", "from a file\n", "@home"]);
    }

    #[test]
    fn a_missing_file_is_named_with_the_option() {
        let error = read_all(&[("response", Some("@no/such/file"))]).unwrap_err().to_string();
        assert!(error.starts_with("--response: the file \"no/such/file\" could not be read"), "{error}");
    }
}
