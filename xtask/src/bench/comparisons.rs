//! What is compared with what.

use std::path::Path;

use serde_json::{Value, json};

use crate::bench::Bench;
use crate::bench::contender::Contender;
use crate::bench::plot::{self, Line, Point, Words};
use crate::bench::report::{Case, Ratio, Report, Turn, Wanted, take_turns};
use crate::error::{Error, io};

/// Tokens of the prompt that engines are compared by.
const PROMPT: usize = 512;
/// Tokens of the response that is judged.
const RESPONSE: usize = 400;
/// Characters of the instruction that a checklist is made for.
const INSTRUCTION: usize = 2000;
/// The skills of FLASK.
const SKILLS: usize = 12;
/// Tokens that a short question may have.
const SHORT: f64 = 30.0;
const LENGTHS: [usize; 7] = [128, 256, 512, 1024, 2048, 3072, 4096];
const BRANCHES: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// An emulated GPU reads about twenty tokens a second.
const EMULATED_PROMPT: usize = 128;
/// Another engine splits the same text into the same tokens, but for what it puts around it.
const TOKENS_OFF: f64 = 2.0;

/// Against wllama in the same browser.
pub(crate) fn wllama(bench: &Bench<'_>) -> Result<Report, Error> {
    let (prefill, twelve) = {
        let mut native = bench.native(None, &[])?;
        let prefill = native.ask(&json!({ "do": "texts", "path_tokens": PROMPT, "rubrics": 1 }))?;
        (prefill, native.ask(&json!({ "do": "texts", "response_tokens": RESPONSE, "rubrics": SKILLS }))?)
    };
    let mut browser = bench.browser()?;
    let ours = browser.ask(&json!({ "do": "describe", "engine": "retort" }))?;
    let theirs = browser.ask(&json!({ "do": "describe", "engine": "wllama" }))?;
    warm_up(&mut browser)?;
    let turns = [
        Turn::new(format!("Retort, a prompt of {PROMPT} tokens"), 0, judgement(&prefill, 1)),
        Turn::new(format!("wllama, a prompt of {PROMPT} tokens"), 0, completions(&prefill)),
        Turn::new("Retort, twelve questions", 0, judgement(&twelve, SKILLS)),
        Turn::new("wllama, twelve questions", 0, completions(&twelve)),
    ];
    let cases = take_turns(bench.rounds, &mut [&mut browser], &turns)?;
    let [our_prefill, their_prefill, our_twelve, their_twelve] = &cases[..] else { return Err(lost()) };
    for (case, texts) in [(their_prefill, &prefill), (their_twelve, &twelve)] {
        same_tokens(case, texts)?;
    }
    let reused = their_twelve.median("cached").unwrap_or(0.0);
    let ratios = vec![
        Ratio {
            name: format!("a prompt of {PROMPT} tokens: Retort's tokens/s / wllama's"),
            value: rate_ratio(our_prefill, their_prefill)?,
            wanted: Wanted::AtLeast(5.0),
        },
        Ratio {
            name: "twelve questions: wllama's seconds / Retort's".to_owned(),
            value: their_twelve.seconds() / our_twelve.seconds(),
            wanted: Wanted::AtLeast(20.0),
        },
    ];
    let notes = vec![
        format!(
            "{}; the same file, one thread each, CPU only; {}",
            text(&ours, "browser"),
            text(&ours, "device")
        ),
        format!(
            "wllama {}: batches of {} and {}; one token after each prompt with its probabilities; its prompt cache \
             is on and spared it {reused:.0} tokens of the twelve prompts",
            text(&theirs, "version"),
            theirs["n_batch"],
            theirs["n_ubatch"]
        ),
        format!(
            "A response of {} tokens; full rubrics; nothing in any cache at first",
            twelve["response_tokens"]
        ),
    ];
    Ok(Report { title: "Against wllama in the same browser".to_owned(), notes, cases, ratios })
}

/// Against llama.cpp, natively.
pub(crate) fn llama_cpp(bench: &Bench<'_>) -> Result<Report, Error> {
    const THREADS: u32 = 2;
    let mut ours = bench.native(Some(THREADS), &[])?;
    let mut theirs = bench.llama_cpp(THREADS)?;
    let described = (ours.ask(&json!({ "do": "describe" }))?, theirs.ask(&json!({ "do": "describe" }))?);
    if described.1["threads"] != THREADS {
        return Err(Error::Message(format!(
            "llama.cpp runs {} threads in place of {THREADS}",
            described.1["threads"]
        )));
    }
    let question = json!({ "do": "prefill", "tokens": tokens(PROMPT) });
    ours.ask(&question)?;
    theirs.ask(&question)?;
    let turns = [Turn::new("Retort", 0, question.clone()), Turn::new("llama.cpp", 1, question)];
    let cases = take_turns(bench.rounds, &mut [&mut ours, &mut theirs], &turns)?;
    let [our, their] = &cases[..] else { return Err(lost()) };
    let mut notes = vec![
        format!("Retort on {}; {THREADS} threads each", text(&described.0, "device")),
        format!(
            "{}: {}; batches of {}, flash attention {}",
            text(&described.1, "engine"),
            text(&described.1, "features"),
            described.1["batch"],
            described.1["flash_attention"]
        ),
    ];
    for (name, case) in [("Retort", our), ("llama.cpp", their)] {
        let busy = case.median("busy").unwrap_or(f64::NAN);
        if (busy - f64::from(THREADS)).abs() > 0.3 {
            notes.push(format!(
                "{name} kept {busy:.1} processors at work and not {THREADS}: the machine was not quiet, or it does not \
                 use its threads"
            ));
        }
    }
    let ratios = vec![Ratio {
        name: format!("a prompt of {PROMPT} tokens: Retort's tokens/s / llama.cpp's"),
        value: rate_ratio(our, their)?,
        wanted: Wanted::AtLeast(0.5),
    }];
    Ok(Report { title: "Against llama.cpp, natively".to_owned(), notes, cases, ratios })
}

/// What sharing the prompt, and short questions, are worth.
pub(crate) fn skills(bench: &Bench<'_>) -> Result<Report, Error> {
    let mut native = bench.native(None, &[])?;
    let device = native.ask(&json!({ "do": "describe" }))?;
    let texts = native.ask(&json!({ "do": "texts", "response_tokens": RESPONSE, "rubrics": SKILLS }))?;
    let short = native
        .ask(&json!({ "do": "texts", "response_tokens": RESPONSE, "rubrics": SKILLS, "wording": "short" }))?;
    let longest = longest(&short, "branch_tokens");
    if longest > SHORT {
        return Err(Error::Message(format!(
            "a short question has {longest} tokens, and {SHORT} are allowed; shorten the question in flask.toml"
        )));
    }
    let with = |key: &str, value: Value, rubrics: usize| {
        let mut question = judgement(&texts, rubrics);
        question[key] = value;
        question
    };
    native.ask(&judgement(&texts, 1))?;
    let turns = [
        Turn::new("twelve skills, full rubrics, one tree", 0, judgement(&texts, SKILLS)),
        Turn::new("one skill, full rubric", 0, judgement(&texts, 1)),
        Turn::new("twelve skills, short questions", 0, with("wording", "short".into(), SKILLS)),
        Turn::new("one skill, short question", 0, with("wording", "short".into(), 1)),
        Turn::new("twelve skills, full rubrics, twelve prompts", 0, with("apart", true.into(), SKILLS)),
    ];
    let cases = take_turns(bench.rounds, &mut [&mut native], &turns)?;
    let [full, full_one, short, short_one, apart] = &cases[..] else { return Err(lost()) };
    let ratio = |name: &str, above: &Case, below: &Case, wanted| Ratio {
        name: name.to_owned(),
        value: above.seconds() / below.seconds(),
        wanted,
    };
    let ratios = vec![
        ratio("full rubrics: twelve skills / one", full, full_one, Wanted::AtMost(3.5)),
        ratio("short questions: twelve skills / one", short, short_one, Wanted::AtMost(1.6)),
        ratio("twelve prompts / one tree", apart, full, Wanted::AtLeast(3.0)),
    ];
    let notes = vec![
        format!("{}; a response of {} tokens", text(&device, "device"), texts["response_tokens"]),
        format!("The longest short question has {longest} tokens with the template around it"),
    ];
    Ok(Report { title: "Twelve skills against one".to_owned(), notes, cases, ratios })
}

/// What the virtual machine costs.
pub(crate) fn wasm_native(bench: &Bench<'_>) -> Result<Report, Error> {
    let mut native = bench.native(Some(1), &[("RETORT_KERNEL", "128")])?;
    let mut browser = bench.browser()?;
    let texts = native.ask(&json!({ "do": "texts", "path_tokens": PROMPT, "rubrics": 1 }))?;
    let described = (
        native.ask(&json!({ "do": "describe" }))?,
        browser.ask(&json!({ "do": "describe", "engine": "retort" }))?,
    );
    warm_up(&mut browser)?;
    native.ask(&judgement(&texts, 1))?;
    let turns = [
        Turn::new("WebAssembly", 1, judgement(&texts, 1)),
        Turn::new("native, 128-bit vectors", 0, judgement(&texts, 1)),
    ];
    let cases = take_turns(bench.rounds, &mut [&mut native, &mut browser], &turns)?;
    let [wasm, native] = &cases[..] else { return Err(lost()) };
    let mut notes = vec![format!(
        "{}: {}; native: {}",
        text(&described.1, "browser"),
        text(&described.1, "device"),
        text(&described.0, "device")
    )];
    if native.median("busy").is_some_and(|busy| busy > 1.2) {
        notes.push("The native build used more than one thread".to_owned());
    }
    let ratios = vec![Ratio {
        name: format!("a prompt of {PROMPT} tokens: WebAssembly's tokens/s / native with 128-bit vectors"),
        value: rate_ratio(wasm, native)?,
        wanted: Wanted::AtLeast(0.5),
    }];
    Ok(Report { title: "WebAssembly against the same kernels natively".to_owned(), notes, cases, ratios })
}

/// What a checklist costs before any model is asked.
pub(crate) fn checklist(bench: &Bench<'_>) -> Result<Report, Error> {
    const TIMES: usize = 20;
    let mut native = bench.native(Some(1), &[])?;
    let mut browser = bench.browser()?;
    let described = browser.ask(&json!({ "do": "describe", "engine": "retort" }))?;
    let question = json!({ "do": "checklist", "instruction": instruction(INSTRUCTION) });
    // The first calls build what is built once; of a browser, they also let it compile what is hot.
    let mut items = Value::Null;
    for _ in 0..TIMES {
        items = native.ask(&question)?["items"].clone();
        let theirs = browser.ask(&question)?["items"].clone();
        if theirs != items {
            return Err(Error::Message(format!("{theirs} items in WebAssembly and {items} natively")));
        }
    }
    let turns = [Turn::new("native", 0, question.clone()), Turn::new("WebAssembly", 1, question)];
    let cases = take_turns(bench.rounds, &mut [&mut native, &mut browser], &turns)?;
    let [ours, wasm] = &cases[..] else { return Err(lost()) };
    let milliseconds = |name: &str, case: &Case, most| Ratio {
        name: format!("milliseconds for {INSTRUCTION} characters: {name}"),
        value: case.seconds() * 1e3,
        wanted: Wanted::AtMost(most),
    };
    let ratios = vec![milliseconds("native", ours, 5.0), milliseconds("WebAssembly", wasm, 15.0)];
    let notes = vec![format!(
        "{}; the three skills, their items, requests and constraints: {items} items, warm",
        text(&described, "browser")
    )];
    Ok(Report { title: "A checklist without a model".to_owned(), notes, cases, ratios })
}

/// A long instruction of so many characters, with constraints and requests all along.
fn instruction(characters: usize) -> String {
    const ASKS: [&str; 8] = [
        "Write a report on the state of the town's bridges for readers who have never heard of it. ",
        "Use at most 400 words and at least three headings, and give every section a short title. ",
        "Name the five oldest bridges and say for each of them who built it and when. ",
        "If a date is not known, say so and don't guess. ",
        "Compare stone with steel in a Markdown table of two columns, and recommend one of them. ",
        "Do not use the word \"collapse\" and avoid exclamation marks. ",
        "Explain why the northern bridge was closed, what it would cost to open it again, and who should pay. ",
        "End with the sentence \"Inspect them before winter.\" ",
    ];
    ASKS.concat().chars().cycle().take(characters).collect()
}

/// Cost against length.
pub(crate) fn length(bench: &Bench<'_>) -> Result<Report, Error> {
    let mut native = bench.native(None, &[])?;
    let device = native.ask(&json!({ "do": "describe" }))?;
    native.ask(&json!({ "do": "prefill", "tokens": tokens(LENGTHS[0]) }))?;
    let turns: Vec<Turn> = LENGTHS
        .iter()
        .map(|&length| {
            Turn::new(format!("{length} tokens"), 0, json!({ "do": "prefill", "tokens": tokens(length) }))
        })
        .collect();
    let cases = take_turns(bench.rounds, &mut [&mut native], &turns)?;
    let points: Vec<Point> =
        LENGTHS.iter().zip(&cases).map(|(&length, case)| (length as f64, case.seconds())).collect();
    let words = Words {
        title: "Seconds to read a prompt, by its length",
        amount: "tokens",
        description: "Measured points and the straight line through them.",
    };
    let (line, mut ratios) = drawn(bench, "length", &words, &points)?;
    let each = |tokens: usize| {
        points.iter().find(|point| point.0 == tokens as f64).map_or(f64::NAN, |point| point.1 / point.0)
    };
    ratios.push(Ratio {
        name: "seconds per token at 4,096 tokens / at 512".to_owned(),
        value: each(4096) / each(512),
        wanted: Wanted::Nothing,
    });
    let notes = vec![
        format!("{}; the output layer at the last token alone", text(&device, "device")),
        format!("The line: {:.1} ms, and {:.3} ms for each token", 1e3 * line.start, 1e3 * line.each),
    ];
    Ok(Report { title: "Cost against the length of the prompt".to_owned(), notes, cases, ratios })
}

/// Cost against the number of questions.
pub(crate) fn branches(bench: &Bench<'_>) -> Result<Report, Error> {
    let mut native = bench.native(None, &[])?;
    let device = native.ask(&json!({ "do": "describe" }))?;
    let texts = native
        .ask(&json!({ "do": "texts", "response_tokens": RESPONSE, "rubrics": SKILLS, "wording": "short" }))?;
    let question = |branches: usize| {
        let mut question = judgement(&texts, branches);
        question["wording"] = json!("short");
        question
    };
    native.ask(&question(1))?;
    let turns: Vec<Turn> = BRANCHES
        .iter()
        .map(|&branches| Turn::new(format!("short questions: {branches}"), 0, question(branches)))
        .collect();
    let cases = take_turns(bench.rounds, &mut [&mut native], &turns)?;
    let points: Vec<Point> =
        BRANCHES.iter().zip(&cases).map(|(&branches, case)| (branches as f64, case.seconds())).collect();
    let words = Words {
        title: "Seconds of a judgement, by the number of its questions",
        amount: "questions",
        description: "Measured points and the straight line through them.",
    };
    let (line, ratios) = drawn(bench, "branches", &words, &points)?;
    let notes = vec![
        format!("{}; a response of {} tokens", text(&device, "device"), texts["response_tokens"]),
        format!("The line: {:.1} ms, and {:.1} ms for each question", 1e3 * line.start, 1e3 * line.each),
    ];
    Ok(Report { title: "Cost against the number of questions".to_owned(), notes, cases, ratios })
}

/// The GPU backend against its device.
pub(crate) fn gpu(bench: &Bench<'_>) -> Result<Report, Error> {
    let mut native = bench.native(None, &[])?;
    let device = native.ask(&json!({ "do": "describe_gpu" }))?;
    let is_emulated = device["emulated"] == true;
    let length = if is_emulated { EMULATED_PROMPT } else { PROMPT };
    let prefill = json!({ "do": "prefill", "tokens": tokens(length), "gpu": true });
    native.ask(&prefill)?;
    let turns = [
        Turn::new("a plain matrix product in f32", 0, json!({ "do": "gpu_rate" })),
        Turn::new(format!("a prompt of {length} tokens"), 0, prefill),
    ];
    let cases = take_turns(bench.rounds, &mut [&mut native], &turns)?;
    let [product, prompt] = &cases[..] else { return Err(lost()) };
    let (Some(rate), Some(flops)) = (product.median("flops_per_second"), prompt.median("flops")) else {
        return Err(lost());
    };
    let reached = flops / prompt.seconds();
    let detail = product.answers.last().unwrap_or(&Value::Null);
    let mut notes = vec![
        text(&device, "device"),
        format!(
            "Its rate at a matrix product: {:.1} GFLOP/s ({1} × {1}, {2}); reading a prompt: {3:.1} GFLOP/s",
            rate / 1e9,
            detail["size"],
            text(detail, "kernel"),
            reached / 1e9
        ),
    ];
    if is_emulated {
        notes.push("This GPU is emulated on the processor: the share says nothing of a real one".to_owned());
    }
    let ratios = vec![Ratio {
        name: "reading a prompt: share of the device's own rate".to_owned(),
        value: reached / rate,
        wanted: if is_emulated { Wanted::Nothing } else { Wanted::AtLeast(0.5) },
    }];
    Ok(Report { title: "The GPU backend against its device".to_owned(), notes, cases, ratios })
}

/// Fits a line, draws it into `docs/`, and says how far off the points are.
fn drawn(
    bench: &Bench<'_>,
    name: &str,
    words: &Words<'_>,
    points: &[Point],
) -> Result<(Line, Vec<Ratio>), Error> {
    let line = Line::through(points).ok_or_else(lost)?;
    let file = bench.workspace.root.join("docs").join(format!("bench-{name}.svg"));
    write(&file, &plot::svg(words, points, line))?;
    eprintln!("drawn in {}", file.display());
    let ratios = vec![Ratio {
        name: "the largest deviation from the straight line, as a share of it".to_owned(),
        value: line.deviation(points),
        wanted: Wanted::Nothing,
    }];
    Ok((line, ratios))
}

fn write(file: &Path, text: &str) -> Result<(), Error> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(io("create the folder", folder))?;
    }
    std::fs::write(file, text).map_err(io("write", file))
}

/// Compiles what is hot before it is measured.
fn warm_up(browser: &mut Contender) -> Result<(), Error> {
    let texts = json!({ "prompt": "Name a river.", "response": "The Rhine." });
    browser.ask(&judgement(&texts, 1)).map(drop)
}

/// To judge these texts by so many rubrics.
fn judgement(texts: &Value, rubrics: usize) -> Value {
    json!({ "do": "judge", "prompt": texts["prompt"], "response": texts["response"], "rubrics": rubrics })
}

/// The same as plain prompts.
fn completions(texts: &Value) -> Value {
    json!({ "do": "complete", "prompts": texts["paths"] })
}

/// Ordinary tokens, few enough kinds for every vocabulary.
fn tokens(count: usize) -> Vec<usize> {
    (0..count).map(|index| 100 + index * 31 % 1000).collect()
}

/// That a completion read the prompts that were meant, and that nothing but what it had just read was spared.
fn same_tokens(case: &Case, texts: &Value) -> Result<(), Error> {
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().map_or_else(Vec::new, |list| list.iter().filter_map(Value::as_f64).collect())
    };
    let wanted = numbers(&texts["tokens"]);
    for answer in &case.answers {
        let (computed, cached) = (numbers(&answer["computed"]), numbers(&answer["cached"]));
        let found: Vec<f64> = computed.iter().zip(&cached).map(|(a, b)| a + b).collect();
        let is_same = found.len() == wanted.len()
            && found.iter().zip(&wanted).all(|(found, wanted)| (found - wanted).abs() <= TOKENS_OFF);
        if !is_same {
            return Err(Error::Message(format!(
                "{}: prompts of {wanted:?} tokens were read as {found:?}",
                case.name
            )));
        }
        if cached.first().is_some_and(|&tokens| tokens > TOKENS_OFF) {
            return Err(Error::Message(format!(
                "{}: {} tokens were in its cache at first",
                case.name, cached[0]
            )));
        }
    }
    Ok(())
}

fn rate_ratio(ours: &Case, theirs: &Case) -> Result<f64, Error> {
    match (ours.rate(), theirs.rate()) {
        (Some(ours), Some(theirs)) => Ok(ours / theirs),
        _ => Err(lost()),
    }
}

fn longest(texts: &Value, field: &str) -> f64 {
    let list = texts[field].as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_f64).fold(0.0, f64::max)
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or("unknown").to_owned()
}

/// A contender whose answers lack what every such answer has: a defect of this tool.
fn lost() -> Error {
    Error::Message("a measurement came without its numbers".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_that_was_read_otherwise_is_no_measurement() {
        let texts = json!({ "tokens": [500, 510] });
        let check = |computed: Value, cached: Value| {
            let answers = vec![json!({ "seconds": 1.0, "computed": computed, "cached": cached })];
            same_tokens(&Case { name: "them".to_owned(), answers }, &texts).map_err(|error| error.to_string())
        };
        assert_eq!(check(json!([501, 110]), json!([1, 400])), Ok(()));
        assert!(check(json!([501, 100]), json!([0, 400])).unwrap_err().contains("[501.0, 500.0]"));
        assert!(check(json!([501]), json!([0])).is_err());
        assert!(
            check(json!([400, 110]), json!([100, 400])).unwrap_err().contains("100 tokens were in its cache")
        );
    }
}
