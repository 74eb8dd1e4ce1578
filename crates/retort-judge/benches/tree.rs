//! What sharing the prefix is worth: twelve skills in one tree against twelve separate prompts, and against
//! one skill, for a response of about 400 tokens with the full text of every rubric.
//!
//! `cargo xtask bench` runs it on the default model. The three cases take turns in every round, so that a
//! machine whose speed drifts does not favour one of them; medians of the rounds are printed.

#![expect(clippy::disallowed_methods, reason = "a bench runs natively, and reads the clock")]

use std::process::ExitCode;
use std::time::Instant;

use retort_judge::{NoObserver, Request, judge};
use retort_lm::{AnyBackend, BackendChoice, FileSource, Flow, LanguageModel, Model, Segments};
use retort_rubric::Rubric;

const ROUNDS: usize = 3;
const PROMPT: &str =
    "Explain to a new cook how to keep bread fresh for a week, and why each of your tips works.";
/// Repeated until it has about 400 tokens.
const SENTENCES: [&str; 6] = [
    "Let the loaf cool completely before you wrap it, since trapped steam makes the crust soft and invites mould. ",
    "Keep it cut side down on a board for the first day, which slows the drying of the crumb. ",
    "After that, a cotton bag inside a wooden box balances moisture: enough to stay soft, too little for mould. ",
    "Do not put it in the refrigerator, because starch turns back into crystals fastest just above freezing. ",
    "Freeze what you will not eat within three days, sliced, so that you can toast it straight from the ice. ",
    "A stale loaf comes back for an hour if you wet its crust and bake it for ten minutes at 180 degrees. ",
];

fn main() -> ExitCode {
    // `cargo bench` passes flags of its own that mean nothing here.
    let Some(path) = std::env::var_os("RETORT_TEST_MODEL") else {
        eprintln!("set RETORT_TEST_MODEL to a model's file, or run `cargo xtask bench`, which does");
        return ExitCode::FAILURE;
    };
    match run(std::path::Path::new(&path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(path: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
    let source = FileSource::open(path)?;
    let mut go_on = |_| Flow::Continue;
    let mut model = pollster::block_on(retort_lm::load(Box::new(source), BackendChoice::Cpu, &mut go_on))?;
    let mut response = String::new();
    for sentence in SENTENCES.iter().cycle() {
        if model.count_tokens(&Segments::new().user(format!("{response}{sentence}")))? > 400 {
            break;
        }
        response.push_str(sentence);
    }
    let rubrics = retort_rubric::builtin();
    let [mut tree, mut separate, mut single] = [const { Vec::new() }; 3];
    let mut tokens = (0, 0, 0);
    for round in 1..=ROUNDS {
        let (seconds, computed) = timed(&mut model, &response, rubrics)?;
        tree.push(seconds);
        tokens.0 = computed;
        let (mut sum, mut all) = (0.0, 0);
        for rubric in rubrics {
            let (seconds, computed) = timed(&mut model, &response, std::slice::from_ref(rubric))?;
            sum += seconds;
            all += computed;
            if rubric.id == rubrics[0].id {
                single.push(seconds);
                tokens.2 = computed;
            }
        }
        separate.push(sum);
        tokens.1 = all;
        eprintln!("round {round} of {ROUNDS} done");
    }
    let (tree, separate, single) = (median(tree), median(separate), median(single));
    println!("device: {}", model.backend().placement().device);
    println!(
        "twelve skills, one tree:          {tree:7.2} s  {:5} tokens  {:.0} tokens/s",
        tokens.0,
        tokens.0 as f64 / tree
    );
    println!("twelve skills, twelve prompts:    {separate:7.2} s  {:5} tokens", tokens.1);
    println!("one skill:                        {single:7.2} s  {:5} tokens", tokens.2);
    println!("twelve prompts / one tree:        {:7.2}", separate / tree);
    println!("twelve skills / one skill:        {:7.2}", tree / single);
    Ok(())
}

/// Seconds and tokens of one judgement with nothing in the cache.
fn timed(
    model: &mut Model<AnyBackend>,
    response: &str,
    rubrics: &[Rubric],
) -> Result<(f64, usize), Box<dyn std::error::Error>> {
    model.forget();
    let request = Request {
        prompt: PROMPT.to_owned(),
        response: response.to_owned(),
        reference: None,
        rubrics: rubrics.to_vec(),
    };
    let start = Instant::now();
    let judgement = pollster::block_on(judge(model, &request, &mut NoObserver))?;
    Ok((start.elapsed().as_secs_f64(), judgement.usage.computed))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
