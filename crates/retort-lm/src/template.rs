//! The chat template inside a GGUF file: what a conversation with this model looks like as text.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, ErrorKind, State, context};
use minijinja_contrib::pycompat;

use crate::gguf::Gguf;
use crate::tokenizer::Tokenizer;
use crate::{Exchange, LmError, Segments, Turn};

/// What a template may spend, one for a step and one for 64 bytes that it makes: far more than any real one needs, an
/// end for one that never ends, and some ten megabytes for one that wants all memory.
const FUEL: u64 = 200_000;
/// Spaces by which `tojson` may indent: it makes its text before it pays for it.
const MOST_INDENT: i64 = 16;

/// Stands for a message's text while the template runs, so that text of a person never passes through it.
/// Private-use characters, which no template writes.
fn placeholder(index: usize) -> String {
    format!("\u{F8F0}{index}\u{F8F1}")
}

/// A model's chat template.
pub struct ChatTemplate {
    environment: Environment<'static>,
    begin: String,
    end: String,
    /// Absent in base models, which know no conversation.
    source: Option<()>,
}

impl ChatTemplate {
    /// Reads it from the file's metadata. A file without one is a base model: turns are then plain text.
    ///
    /// # Errors
    /// [`LmError::Damaged`] if the template is not valid Jinja.
    pub fn read(gguf: &Gguf, tokenizer: &Tokenizer) -> Result<Self, LmError> {
        let key = "tokenizer.chat_template";
        let source = gguf.text(key)?;
        let mut environment = Environment::new();
        // What the converters' reference implementation sets for chat templates.
        environment.set_syntax(
            SyntaxConfig::builder()
                .trim_blocks(true)
                .lstrip_blocks(true)
                .build()
                .map_err(|error| LmError::Template { problem: describe(&error) })?,
        );
        environment.set_fuel(Some(FUEL));
        environment.set_unknown_method_callback(pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |message: String| -> Result<Value, minijinja::Error> {
            Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
        });
        environment.add_function("strftime_now", |format: String| date(&format));
        environment.add_filter("tojson", to_json);
        if let Some(source) = source {
            environment.add_template_owned("chat", source.to_owned()).map_err(|error| {
                gguf.damaged(key, format!("it is not a valid template: {}", describe(&error)))
            })?;
        }
        let spelling = |id: Option<u32>| id.map(|id| tokenizer.spelling(id)).unwrap_or_default();
        let end = gguf.count("tokenizer.ggml.eos_token_id")?.and_then(|id| u32::try_from(id).ok());
        Ok(Self {
            environment,
            begin: spelling(tokenizer.begin()),
            end: spelling(end),
            source: source.map(|_| ()),
        })
    }

    /// Renders a conversation of `(role, text)`. With `open_answer` it ends where the model's answer begins; for
    /// a model that thinks first, unless its template can't be told, that is after an empty thought.
    ///
    /// # Errors
    /// [`LmError::Template`] with what the template said.
    pub fn render(&self, messages: &[(&str, &str)], open_answer: bool) -> Result<String, LmError> {
        let failed = |error: minijinja::Error| LmError::Template { problem: describe(&error) };
        let messages: Vec<Value> =
            messages.iter().map(|&(role, content)| context! { role => role, content => content }).collect();
        self.environment
            .get_template("chat")
            .and_then(|template| {
                template.render(context! {
                    messages => messages,
                    add_generation_prompt => open_answer,
                    bos_token => self.begin.as_str(),
                    eos_token => self.end.as_str(),
                    // Answers are read from their first token on: a model that thinks must have done with it.
                    enable_thinking => false,
                })
            })
            .map_err(failed)
    }

    /// What stands before and after one message of a person.
    ///
    /// A template that refuses a system message gets its text at the head of the person's message (P47).
    ///
    /// # Errors
    /// [`LmError::Template`] if the template fails in both ways, or writes the message not exactly once.
    pub fn turn(&self, system: Option<&Segments>) -> Result<Turn, LmError> {
        if self.source.is_none() {
            let open = system.map_or_else(Segments::new, |system| system.clone().template("\n\n"));
            return Ok(Turn { open, close: Segments::new().template("\n\n") });
        }
        let (about, message) = (placeholder(0), placeholder(1));
        if let Some(system) = system {
            let rendered = self.render(&[("system", &about), ("user", &message)], true);
            if let Ok(rendered) = rendered
                && let Some((before, rest)) = part(&rendered, &about)
                && let Some((between, after)) = part(rest, &message)
            {
                let open = Segments::new().template(before).then(system).template(between);
                return Ok(Turn { open, close: Segments::new().template(after) });
            }
        }
        let rendered = self.render(&[("user", &message)], true)?;
        let (before, after) = part(&rendered, &message).ok_or_else(|| LmError::Template {
            problem: "it does not write a person's message exactly once and unchanged".into(),
        })?;
        let mut open = Segments::new().template(before);
        if let Some(system) = system {
            open = open.then(system).template("\n\n");
        }
        Ok(Turn { open, close: Segments::new().template(after) })
    }

    /// What stands around a person's message and the answer to it in a conversation that ends there, as reward models
    /// read it.
    ///
    /// # Errors
    /// [`LmError::Template`] if the template fails, or does not write both exactly once and in order.
    pub fn exchange(&self) -> Result<Exchange, LmError> {
        if self.source.is_none() {
            let between = Segments::new().template("\n\n");
            return Ok(Exchange { open: Segments::new(), between, close: Segments::new() });
        }
        let (message, answer) = (placeholder(0), placeholder(1));
        let rendered = self.render(&[("user", &message), ("assistant", &answer)], false)?;
        let pieces = part(&rendered, &message)
            .and_then(|(open, rest)| part(rest, &answer).map(|(between, close)| (open, between, close)));
        let (open, between, close) = pieces.ok_or_else(|| LmError::Template {
            problem: "it does not write a message and its answer exactly once and unchanged".into(),
        })?;
        let template = |text: &str| Segments::new().template(text);
        Ok(Exchange { open: template(open), between: template(between), close: template(close) })
    }
}

/// The first of January 2025, a Wednesday, in the form of C's `strftime`. Templates that print the date get a
/// fixed one: a judgement must not depend on the day.
fn date(format: &str) -> String {
    const FIELDS: [(&str, &str); 10] = [
        ("%Y", "2025"),
        ("%y", "25"),
        ("%m", "01"),
        ("%d", "01"),
        ("%B", "January"),
        ("%b", "Jan"),
        ("%A", "Wednesday"),
        ("%a", "Wed"),
        ("%H", "00"),
        ("%M", "00"),
    ];
    FIELDS.iter().fold(format.to_owned(), |text, (field, value)| text.replace(field, value))
}

/// The template engine's own `tojson`, but for what it may indent by.
fn to_json(
    state: &State<'_, '_>,
    value: Value,
    indent: Option<Value>,
    options: Kwargs,
) -> Result<Value, minijinja::Error> {
    let indent = match indent {
        None => options.get::<Option<Value>>("indent")?,
        some => some,
    };
    if indent.as_ref().and_then(Value::as_i64).is_some_and(|indent| indent > MOST_INDENT) {
        let problem = format!("tojson may indent by at most {MOST_INDENT}");
        return Err(minijinja::Error::new(ErrorKind::InvalidOperation, problem));
    }
    options.assert_all_used()?;
    let no_options = Kwargs::from_iter(std::iter::empty::<(String, Value)>());
    let text = minijinja::filters::tojson(&value, indent, no_options)?;
    state.consume_fuel(text.as_str().map_or(0, |text| text.len() as u64 / 64))?;
    Ok(text)
}

/// What stands before and after the only occurrence of `mark`.
fn part<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let (before, after) = text.split_once(mark)?;
    (!after.contains(mark)).then_some((before, after))
}

fn describe(error: &minijinja::Error) -> String {
    match (error.detail(), error.line()) {
        (Some(detail), Some(line)) => format!("{detail} (line {line} of the template)"),
        (Some(detail), None) => detail.to_owned(),
        (None, _) => error.to_string(),
    }
}
