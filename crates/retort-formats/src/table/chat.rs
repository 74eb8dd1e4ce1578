//! Conversations as readable text, in columns beside those in which they stand as JSON.

use serde_json::{Map, Value};

use super::{Table, TableRow, shape};

/// A column that is made from another.
pub(super) struct Derived {
    pub(super) name: String,
    /// The column that it is made from.
    pub(super) of: usize,
    pub(super) part: Part,
    /// One per row.
    pub(super) values: Vec<Option<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Text,
    /// What stands before the last answer.
    Prompt,
    /// The last answer.
    Answer,
}

/// Columns that hold a prompt and an answer to it, whatever other columns there are.
const EXCHANGES: [&str; 5] = ["chosen", "rejected", "conversation_a", "conversation_b", "completion"];

/// Of these the prompt is the one of their first twin.
const SECONDS: [&str; 2] = ["rejected", "conversation_b"];

/// Columns in which a list of texts is what a user said turn by turn.
const TURNS: [&str; 1] = ["turns"];

/// Columns in which a list of texts is several ways to say the same, or an answer for each turn.
const ANSWERS: [&str; 6] =
    ["ideal", "target", "reference", "references", "expected_output", "reference_answer"];

/// One message.
struct Message {
    role: String,
    text: String,
}

/// What is said in one cell.
enum Said {
    Messages(Vec<Message>),
    /// One text, such as all answers of a model.
    Text(String),
}

/// Everything that can be derived from the table's conversations, whether or not the table has the columns already.
pub(super) fn derive(table: &Table) -> Vec<Derived> {
    let mut derived = Vec::new();
    for (of, name) in table.columns.iter().enumerate() {
        let key = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
        let cells = || table.rows.iter().filter_map(|row| row.get(of)).filter(|cell| cell.starts_with('['));
        // The first list speaks for all of them.
        if cells().next().and_then(|cell| said(&key, cell)).is_none() {
            continue;
        }
        let mut column = |part: Part, suffix: &str, values: Vec<Option<String>>| {
            derived.push(Derived { name: format!("{name}_{suffix}"), of, part, values });
        };
        let read: Vec<Option<Said>> = table.rows.iter().map(|row| of_row(row, of, &key)).collect();
        let conversations = || {
            read.iter().filter_map(|said| match said {
                Some(Said::Messages(messages)) => Some(messages),
                _ => None,
            })
        };
        let is_answered = conversations().next().is_some()
            && conversations().all(|messages| messages.last().is_some_and(|last| last.role == ASSISTANT));
        let is_exchange = EXCHANGES.contains(&key.as_str()) || !shape::has_response(table);
        if is_answered && is_exchange {
            if conversations().any(|messages| messages.len() > 1) && !SECONDS.contains(&key.as_str()) {
                let before = |messages: &[Message]| Some(text(messages.split_last()?.1));
                column(Part::Prompt, "prompt", values(&read, |_| None, before));
            }
            let last = |messages: &[Message]| Some(messages.last()?.text.clone());
            column(Part::Answer, "answer", values(&read, |text| Some(text.to_owned()), last));
        } else {
            let all = |messages: &[Message]| Some(text(messages));
            column(Part::Text, "as_text", values(&read, |text| Some(text.to_owned()), all));
        }
    }
    derived
}

/// What a column's cells say, as texts.
fn values(
    read: &[Option<Said>],
    of_text: impl Fn(&str) -> Option<String>,
    of_messages: impl Fn(&[Message]) -> Option<String>,
) -> Vec<Option<String>> {
    let value = |said: &Option<Said>| match said {
        Some(Said::Messages(messages)) => of_messages(messages),
        Some(Said::Text(text)) => of_text(text),
        None => None,
    };
    read.iter().map(|said| value(said).filter(|text| !text.is_empty())).collect()
}

fn of_row(row: &TableRow, of: usize, key: &str) -> Option<Said> {
    let cell = row.get(of)?;
    Some(said(key, cell).unwrap_or_else(|| Said::Text(cell.to_owned())))
}

/// What a cell says, if it is a list that says something.
fn said(key: &str, cell: &str) -> Option<Said> {
    if !cell.starts_with('[') {
        return None;
    }
    let Ok(Value::Array(items)) = serde_json::from_str(cell) else { return None };
    let texts =
        || items.iter().map(Value::as_str).collect::<Option<Vec<_>>>().filter(|texts| !texts.is_empty());
    if TURNS.contains(&key)
        && let Some(texts) = texts()
    {
        return Some(Said::Messages(of_role(&texts, USER)));
    }
    if ANSWERS.contains(&key)
        && let Some(texts) = texts()
    {
        return Some(Said::Text(texts.join("\n\n")));
    }
    if key == "choices" {
        return choice(items.first()?);
    }
    let messages: Option<Vec<Message>> = items.iter().map(message).collect();
    messages.filter(|messages| !messages.is_empty()).map(Said::Messages)
}

fn of_role(texts: &[&str], role: &str) -> Vec<Message> {
    texts.iter().map(|text| Message { role: role.to_owned(), text: (*text).to_owned() }).collect()
}

/// A model's answers: MT-Bench's `{turns: […]}`, or a chat server's `{message: {content}}`.
fn choice(choice: &Value) -> Option<Said> {
    if let Some(turns) = choice.get("turns").and_then(Value::as_array) {
        let texts: Vec<&str> = turns.iter().map(Value::as_str).collect::<Option<_>>()?;
        return Some(Said::Text(text(&of_role(&texts, ASSISTANT))));
    }
    choice.get("message").and_then(|message| content(message.get("content")?)).map(Said::Text)
}

const USER: &str = "User";
const ASSISTANT: &str = "Assistant";

fn message(value: &Value) -> Option<Message> {
    let object = value.as_object()?;
    let role = first(object, &["role", "from", "type", "speaker", "author"])?.as_str()?;
    let said = first(object, &["content", "value", "text", "message"])?;
    let role = match role.to_lowercase().as_str() {
        "user" | "human" | "prompter" => USER.to_owned(),
        "assistant" | "ai" | "gpt" | "bot" | "model" | "chatgpt" => ASSISTANT.to_owned(),
        "system" | "developer" => "System".to_owned(),
        other => {
            let mut characters = other.chars();
            characters
                .next()
                .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
        }
    };
    Some(Message { role, text: content(said)? })
}

fn first<'v>(object: &'v Map<String, Value>, keys: &[&str]) -> Option<&'v Value> {
    keys.iter().find_map(|key| object.get(*key))
}

/// A text, or the texts among a message's parts; what is no text (an image, a call of a tool) as JSON.
fn content(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => Some(String::new()),
        Value::Array(parts) => {
            let part = |part: &Value| match part {
                Value::String(text) => text.clone(),
                other => match other.get("text").and_then(Value::as_str) {
                    Some(text) => text.to_owned(),
                    None => other.to_string(),
                },
            };
            Some(parts.iter().map(part).collect::<Vec<_>>().join("\n"))
        }
        Value::Object(_) => Some(value.to_string()),
        Value::Bool(_) | Value::Number(_) => None,
    }
}

/// A single message as it is, several with who said each.
fn text(messages: &[Message]) -> String {
    match messages {
        [] => String::new(),
        [one] if one.role == USER || one.role == ASSISTANT => one.text.clone(),
        several => {
            let lines = several.iter().map(|message| format!("{}: {}", message.role, message.text));
            lines.collect::<Vec<_>>().join("\n\n")
        }
    }
}
