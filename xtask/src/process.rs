//! Starting other programs, and saying which command it was when one fails.

use std::ffi::OsStr;
use std::io;
use std::process::{Command, Stdio};

use crate::error::Error;

/// Runs a command that talks to the person itself; standard input is closed.
pub(crate) fn run(command: &mut Command) -> Result<(), Error> {
    eprintln!("$ {}", show(command));
    let status = command.stdin(Stdio::null()).status().map_err(|error| start_error(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::Failed { command: show(command), status: status.to_string() })
    }
}

/// Runs a command for its standard output. `None` where the program does not exist or fails.
pub(crate) fn ask(program: &str, arguments: &[&str]) -> Option<String> {
    let output =
        Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

pub(crate) fn start_error(command: &Command, error: &io::Error) -> Error {
    let program = command.get_program().to_string_lossy().into_owned();
    if error.kind() == io::ErrorKind::NotFound {
        // A missing folder gives the same error as a missing program.
        if let Some(folder) = command.get_current_dir().filter(|folder| !folder.is_dir()) {
            return Error::Message(format!("the folder {} is missing", folder.display()));
        }
        return Error::Prerequisite {
            problem: format!("the program `{program}` was not found"),
            hint: hint(&program),
        };
    }
    Error::Message(format!("cannot start `{program}`: {error}"))
}

/// What brings a program.
pub(crate) fn hint(program: &str) -> String {
    match program.trim_end_matches(".cmd") {
        "rustup" | "cargo" | "rustc" => "install Rust with rustup: https://rustup.rs",
        "node" | "npm" | "npx" => {
            "install Node.js 20.19 or newer, which brings npm: https://nodejs.org/en/download \
             (on Debian 13 or newer: apt-get install nodejs npm)"
        }
        _ => "install it and run the same command again",
    }
    .to_owned()
}

/// `npm` and `npx` are scripts on Windows, with an extension that has to be said.
pub(crate) fn npm_program(name: &str) -> String {
    if cfg!(windows) { format!("{name}.cmd") } else { name.to_owned() }
}

/// The command as one would type it in the repository's root.
pub(crate) fn show(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!("{}={}", name.to_string_lossy(), quote(value)));
        }
    }
    words.push(quote(command.get_program()));
    words.extend(command.get_args().map(quote));
    let line = words.join(" ");
    match command.get_current_dir() {
        Some(folder) => format!("(cd {} && {line})", quote(folder.as_os_str())),
        None => line,
    }
}

fn quote(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let mut command = Command::new("cargo");
        command
            .args(["test", "a b", "it's"])
            .env("MODEL", "/m/x.gguf")
            .env_remove("RUSTFLAGS")
            .current_dir("/w");
        assert_eq!(show(&command), r"(cd /w && MODEL=/m/x.gguf cargo test 'a b' 'it'\''s')");
    }

    #[test]
    fn a_missing_program_is_named_with_what_brings_it() {
        let command = Command::new("npm");
        let error = start_error(&command, &io::Error::from(io::ErrorKind::NotFound)).to_string();
        assert!(error.contains("`npm` was not found") && error.contains("Node.js 20.19"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_failing_command_is_named_with_its_status() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.contains("sh -c 'exit 3'"), "{error}");
    }
}
