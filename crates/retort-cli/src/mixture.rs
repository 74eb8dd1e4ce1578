//! `retort mixture`: a training file of public data.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use retort_bench::mixture::{self, BaseModel, MixtureError, Pairs, Phase, Settings, Sources};
use retort_bench::{Part, Purpose, tasks};

use crate::bench::data_dir;
use crate::error::CliError;
use crate::load::{Interrupt, text_parts};
use crate::progress;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of public data: one folder per repository, named owner+name, directly in it or in its "train" and
    /// "eval". By default what the variable RETORT_DATA says.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where mixture.jsonl and mixture.json are written; no file that exists is overwritten.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// A task to take, several times for several; all training tasks where neither tasks nor families are named.
    #[arg(long = "task", value_name = "NAME")]
    tasks: Vec<String>,
    /// A family of tasks to take, several times for several.
    #[arg(long = "family", value_name = "NAME")]
    families: Vec<String>,
    /// The model whose chat template and tokenizer the rows are made for: a name or the path of a GGUF file.
    #[arg(long, value_name = "NAME|PATH")]
    model: Option<String>,
    /// Seed of the sample, the order and the wordings.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// At most so many rows of one task.
    #[arg(long, value_name = "N", default_value_t = 1 << 16)]
    cap: usize,
    /// At most so many rows in all, of each task in proportion to what it has under the cap.
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// A TOML file of "task = weight": shares of --rows in place of that proportion. Other tasks give nothing.
    #[arg(long, value_name = "FILE", requires = "rows")]
    weights: Option<PathBuf>,
    /// How pairs are shown.
    #[arg(long, value_enum, default_value_t = PairsArg::Alone)]
    pairs: PairsArg,
    /// Which side of the split by prompt or document.
    #[arg(long, value_enum, default_value_t = PartArg::Train)]
    part: PartArg,
    /// How much of a question is read.
    #[arg(long, value_enum, default_value_t = WordingArg::Mixed)]
    wording: WordingArg,
    /// Of mixed wordings, the share of short ones.
    #[arg(long, value_name = "X", default_value_t = 0.5)]
    short_share: f64,
    /// Cut texts so that a prompt has at most so many tokens; the model's context, where nothing is given.
    #[arg(long, value_name = "N")]
    max_tokens: Option<usize>,
    /// Leave the classes of a task as they are, rather than making each weigh the same.
    #[arg(long)]
    no_balance: bool,
    /// Of each pairwise task, make pairs whose longer response is the better one weigh as much as the others.
    #[arg(long)]
    balance_length: bool,
    /// Of examples whose labels say something about a skill or the quality as a whole, the share that is asked by that
    /// rubric rather than by the task's question; one in five of so many by a skill that does not apply.
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    skill_share: f64,
    /// For this share of examples whose right answer is known, one more row of a variant: padded, repeated, broken off,
    /// an answer to something else, a mistake in a program, or words beside the point.
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    variants: f64,
    /// Leave out tasks whose licence or labels are not fit for training, rather than refusing them.
    #[arg(long)]
    skip_unfit: bool,
    /// Go on though evaluation sets are absent: nothing is then kept clear of them, and the manifest says so.
    #[arg(long)]
    allow_missing_evaluation: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PairsArg {
    /// Each response alone: a row has two prompts.
    Alone,
    /// Both together, in both orders: two rows.
    Together,
    /// Both ways: three rows.
    Both,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PartArg {
    /// 90%.
    Train,
    /// 5%.
    Validation,
    /// 5%, which "retort bench" examines.
    Test,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum WordingArg {
    /// The whole instructions.
    Full,
    /// The short question.
    Short,
    /// Each for a share of the examples.
    Mixed,
}

impl Args {
    fn settings(&self) -> Result<Settings, CliError> {
        let weights = match &self.weights {
            None => None,
            Some(path) => {
                let wrong = |problem: String| CliError::File {
                    option: "weights",
                    path: path.display().to_string(),
                    problem,
                };
                let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
                let weights: BTreeMap<String, f64> = toml::from_str(&text).map_err(|error| {
                    wrong(format!("{}; give one line \"task = weight\" for each task", error.message()))
                })?;
                Some(weights)
            }
        };
        Ok(Settings {
            seed: self.seed,
            cap: self.cap,
            rows: self.rows,
            weights,
            pairs: match self.pairs {
                PairsArg::Alone => Pairs::Alone,
                PairsArg::Together => Pairs::Together,
                PairsArg::Both => Pairs::Both,
            },
            part: match self.part {
                PartArg::Train => Part::Train,
                PartArg::Validation => Part::Validation,
                PartArg::Test => Part::Test,
            },
            short_share: match self.wording {
                WordingArg::Full => 0.0,
                WordingArg::Short => 1.0,
                WordingArg::Mixed => self.short_share,
            },
            skill_share: self.skill_share,
            variant_share: self.variants,
            max_tokens: self.max_tokens,
            balance: !self.no_balance,
            balance_length: self.balance_length,
            skip_unfit: self.skip_unfit,
            allow_missing: self.allow_missing_evaluation,
            ..Settings::default()
        })
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let settings = args.settings()?;
    let data = data_dir(args.data.as_deref())?;
    let all = tasks()?;
    let chosen = mixture::select(all, &args.tasks, &args.families)?;
    let (model, name, sha256) = text_parts(args.model.as_deref())?;
    let sources = Sources {
        tasks: chosen,
        evaluation: all.values().filter(|task| task.source.purpose == Purpose::Evaluation).collect(),
        further: mixture::SOURCES,
        data: &data,
        model: &model,
        base: BaseModel { name, sha256 },
    };

    let interrupt = Interrupt::listen();
    let bar = progress::items("", 0);
    let outcome = mixture::build(&sources, &settings, &args.out, &mut |step| {
        let what = match step.phase {
            Phase::Evaluation => "Reading what to keep clear of",
            Phase::Reading => "Reading",
            Phase::Writing => "Writing",
            Phase::Ordering => "Ordering",
        };
        bar.set_message(format!("{what}: {}", step.name));
        bar.set_length(step.total as u64);
        bar.set_position(step.done as u64);
        interrupt.flow()
    });
    bar.finish_and_clear();
    match outcome {
        Ok(manifest) => {
            print!("{}", manifest.summary());
            Ok(ExitCode::SUCCESS)
        }
        Err(MixtureError::Stopped) => Ok(Interrupt::status()),
        Err(error) => Err(error.into()),
    }
}
