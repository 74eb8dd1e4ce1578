//! Programs that measure: they stay loaded, are asked by a line, and answer by a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::error::{Error, io};
use crate::process;
use crate::workspace::Workspace;

/// How long whoever computed before is given to become quiet: some thread pools spin for a while.
const PAUSE: Duration = Duration::from_millis(300);

/// A program that measures.
pub(crate) struct Contender {
    /// For messages.
    name: String,
    child: Child,
    /// Closed when the program is to end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Contender {
    pub(crate) fn start(mut command: Command) -> Result<Self, Error> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        eprintln!("$ {}", process::show(&command));
        let mut child = command.spawn().map_err(|error| process::start_error(&command, &error))?;
        let name = process::show(&command);
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::Message(format!("{name}: started without pipes")));
        };
        Ok(Self { name, child, input: Some(input), output: BufReader::new(output) })
    }

    /// Asks, and waits for the answer.
    pub(crate) fn ask(&mut self, question: &Value) -> Result<Value, Error> {
        std::thread::sleep(PAUSE);
        let asked = format!("{question}\n");
        let mut line = String::new();
        let spoken = match &mut self.input {
            Some(input) => input.write_all(asked.as_bytes()).and_then(|()| input.flush()),
            None => Ok(()),
        };
        let heard = spoken.and_then(|()| self.output.read_line(&mut line));
        if !matches!(heard, Ok(1..)) {
            let status =
                self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
            return Err(Error::Failed { command: self.name.clone(), status });
        }
        let problem = |problem: &dyn std::fmt::Display| {
            Error::Message(format!(
                "{}\n  was asked {}\n  and answered {problem}",
                self.name,
                short(asked.trim())
            ))
        };
        let answer: Value = serde_json::from_str(&line).map_err(|_| problem(&short(line.trim())))?;
        match answer.get("error") {
            None => Ok(answer),
            Some(error) => Err(problem(error)),
        }
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        self.input = None;
        // It ends by itself when its input does.
        let _ = self.child.wait();
    }
}

/// At most 300 characters.
fn short(text: &str) -> String {
    let mut short: String = text.chars().take(300).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Builds the native contender, an example of `retort-judge`, and answers where it lies.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf, Error> {
    let mut command = Command::new("cargo");
    command
        .args(["build", "--release", "--package", "retort-judge", "--example", "contender"])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(&workspace.root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    eprintln!("$ {}", process::show(&command));
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| process::start_error(&command, &error))?;
    if !output.status.success() {
        return Err(Error::Failed { command: process::show(&command), status: output.status.to_string() });
    }
    let mut built = None;
    for line in output.stdout.lines() {
        built = executable(&line.map_err(io("read the output of", Path::new("cargo")))?).or(built);
    }
    built.ok_or_else(|| {
        Error::Message("cargo built retort-judge's example contender and named no program".to_owned())
    })
}

/// The program that one of cargo's JSON messages speaks of, if it is the contender.
fn executable(line: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_ours = message.pointer("/target/name")? == "contender";
    message.get("executable").filter(|_| is_ours)?.as_str().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_program_is_found_in_the_messages_of_cargo() {
        let line = r#"{"reason":"compiler-artifact","target":{"name":"contender","kind":["example"]},"executable":"/t/contender"}"#;
        assert_eq!(executable(line), Some(PathBuf::from("/t/contender")));
        assert_eq!(executable(&line.replace("\"contender\"", "\"other\"")), None);
        assert_eq!(executable(r#"{"target":{"name":"contender"},"executable":null}"#), None);
        assert_eq!(executable("not JSON"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_contender_answers_line_by_line_and_its_errors_are_errors() {
        let script =
            r#"read a; echo "{\"heard\":$a}"; read b; echo '{"error":"no"}'; read c; echo oops; exit 3"#;
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut contender = Contender::start(command).unwrap();
        assert_eq!(contender.ask(&json!([1])).unwrap(), json!({ "heard": [1] }));
        let error = contender.ask(&json!(2)).unwrap_err().to_string();
        assert!(error.contains("was asked 2") && error.contains("\"no\""), "{error}");
        assert!(contender.ask(&json!(3)).unwrap_err().to_string().contains("oops"));
        let error = contender.ask(&json!(4)).unwrap_err().to_string();
        assert!(error.contains("exit status: 3"), "{error}");
    }
}
