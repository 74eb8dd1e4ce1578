//! Answers prompts from a file: `answers MODEL.gguf ROWS.jsonl [ADAPTER.gguf] [--gpu]`.
//!
//! Each row has `options`, every option a list of spellings, and pieces of a prompt as a training mixture has them:
//! `segments`, or `first` and `second`; `["t", …]` is text of ours, `["u", …]` text of people. Prints for each row one line
//! of JSON: of each of its prompts the tokens, the options' natural log-probabilities, and the probability outside of them.
//! It is what other implementations of the same forward pass are held against.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::io::{BufRead, BufReader};

    use retort_lm::{
        Adapter, AnswerOption, BackendChoice, Branch, FileSource, Flow, LanguageModel, NoWatch, PromptTree,
        Readout, Segments,
    };
    use serde_json::{Value, json};

    fn prompt(pieces: &Value) -> Option<Segments> {
        let mut text = Segments::new();
        for piece in pieces.as_array()? {
            let words = piece.get(1)?.as_str()?;
            text = match piece.get(0)?.as_str()? {
                "t" => text.template(words),
                "u" => text.user(words),
                _ => return None,
            };
        }
        Some(text)
    }

    fn options(row: &Value) -> Option<Vec<AnswerOption>> {
        let spellings = |option: &Value| -> Option<Vec<String>> {
            option.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
        };
        row["options"]
            .as_array()?
            .iter()
            .map(|option| spellings(option).map(|spellings| AnswerOption { spellings }))
            .collect()
    }

    let (flags, places): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let [model_path, rows_path, adapter_path @ ..] = places.as_slice() else {
        return Err("usage: answers MODEL.gguf ROWS.jsonl [ADAPTER.gguf] [--gpu]".into());
    };
    let choice =
        if flags.iter().any(|flag| flag == "--gpu") { BackendChoice::Gpu } else { BackendChoice::Cpu };
    let source = FileSource::open(model_path.as_ref())?;
    let mut go_on = |_| Flow::Continue;
    let mut model = pollster::block_on(retort_lm::load(Box::new(source), choice, &mut go_on))?;
    if let Some(path) = adapter_path.first() {
        let adapter = Adapter::read(&mut FileSource::open(path.as_ref())?, model.config())?;
        pollster::block_on(model.set_adapter(Some(adapter)))?;
    }
    for (line, number) in BufReader::new(std::fs::File::open(rows_path)?).lines().zip(1..) {
        let row: Value = serde_json::from_str(&line?)?;
        let wrong = || format!("{rows_path}, line {number}: no row with prompts and options");
        let options = options(&row).ok_or_else(wrong)?;
        let mut answers = Vec::new();
        for key in ["segments", "first", "second"] {
            let Some(pieces) = row.get(key) else { continue };
            let text = prompt(pieces).ok_or_else(wrong)?;
            let (tokens, _) = model.tokenizer().encode_start(&text)?;
            // The engine wants something behind the shared beginning; pieces are tokenized apart, so the place does not
            // matter where two of them meet.
            let (mut prefix, mut last) = (Segments::new(), Segments::new());
            let cut = text.pieces().len().saturating_sub(1);
            for (index, piece) in text.pieces().iter().enumerate() {
                if index < cut { prefix.push(piece.clone()) } else { last.push(piece.clone()) }
            }
            let branches = vec![Branch { text: last, readout: Readout::options(options.clone()) }];
            let answer =
                pollster::block_on(model.answer(&PromptTree { prefix, branches }, &mut NoWatch))?.remove(0);
            answers.push(json!({
                "tokens": tokens.len(),
                "log_probabilities": answer.log_probabilities,
                "outside": answer.outside,
            }));
        }
        if answers.is_empty() {
            return Err(wrong().into());
        }
        println!("{}", json!({ "id": row["id"], "answers": answers }));
    }
    Ok(())
}

#[cfg(target_arch = "wasm32")]
fn main() {}
