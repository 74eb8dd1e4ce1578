//! A run on disk: what was asked of which model, every answer as it came, and the tables in the end.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use retort_judge::{Calibration, ModelIdentity};
use serde::{Deserialize, Serialize};

use crate::{AnswerRecord, Answers, Problem, Table};

/// The name and version of the files' shape.
const FORMAT: &str = "retort.bench/1";

const RUN: &str = "run.json";
const ANSWERS: &str = "answers.jsonl";
const PROBLEMS: &str = "problems.jsonl";
const TABLE: &str = "table.json";
const TABLE_TEXT: &str = "table.md";

/// What makes two runs the same run: where any of it differs, answers of the one say nothing of the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// Name and version of the files' shape.
    pub format: String,
    /// The exam.
    pub exam: String,
    /// The model; `None` where only rules judged.
    pub model: Option<ModelIdentity>,
    /// How it was asked: ways and wording, in words.
    pub asked: String,
    /// At most so many items.
    pub limit: Option<usize>,
    /// The seed of choices and of the coin.
    pub seed: u64,
    /// SHA-256 of all ids and texts that are asked, in order: other data are another run.
    pub asks_sha256: String,
    /// Whether probabilities were set right by what the adapter knows of itself; not written where they were not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub calibrated: bool,
}

impl RunIdentity {
    /// The identity of a run of these asks.
    #[must_use]
    pub fn new(
        exam: &str,
        model: Option<ModelIdentity>,
        asked: String,
        limit: Option<usize>,
        seed: u64,
        asks: &[crate::Ask<'_>],
    ) -> Self {
        let mut text = String::new();
        for ask in asks {
            text.push_str(&ask.id);
            text.push('\0');
            for field in &ask.inquiry.fields {
                text.push_str(&retort_judge::sha256_hex(field.text.as_bytes()));
            }
            for question in &ask.inquiry.questions {
                text.push_str(&question.rubric().sha256());
            }
        }
        let asks_sha256 = retort_judge::sha256_hex(text.as_bytes());
        Self {
            format: FORMAT.into(),
            exam: exam.into(),
            model,
            asked,
            limit,
            seed,
            asks_sha256,
            calibrated: false,
        }
    }
}

/// A finished (or cancelled) run, as `table.json` keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// What was run.
    pub run: RunIdentity,
    /// Version of Retort.
    pub version: String,
    /// The GPU or CPU, as far as it is known.
    pub device: String,
    /// Asks answered, of all.
    pub answered: usize,
    /// All asks.
    pub asks: usize,
    /// Rows of the data that could not be read.
    pub problems: usize,
    /// Seconds spent on asking, over all sessions of the run.
    pub seconds: f64,
    /// Tokens computed, over all sessions.
    pub tokens: usize,
    /// The figures.
    pub tables: Vec<Table>,
}

/// Why a run cannot be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder holds a run of something else.
    #[error(
        "{folder} holds another run ({difference}); choose another folder with --out, or delete it to begin anew"
    )]
    Other {
        /// The folder.
        folder: String,
        /// What differs.
        difference: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        problem: std::io::Error,
    },
    /// A file of an earlier run is not in the form expected.
    #[error("{path}: {problem}; delete the folder to begin anew")]
    Form {
        /// The file.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// A value cannot be written as JSON.
    #[error("the figures could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The folder of one exam's run.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    identity: RunIdentity,
    answers: Answers,
    file: File,
    earlier: (f64, usize),
}

fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> StoreError + '_ {
    move |problem| StoreError::File { path: path.display().to_string(), problem }
}

impl Store {
    /// Opens the folder for this run: empty, or with what an earlier session of the same run left there. A last line that
    /// was not finished is dropped, and its ask is asked again.
    ///
    /// # Errors
    /// [`StoreError::Other`] where the folder holds another run; what the file system says.
    pub fn open(folder: &Path, identity: RunIdentity) -> Result<Self, StoreError> {
        Self::open_read_by(None, folder, identity)
    }

    /// The same of a run whose answers are read by a calibration, if there is one: part of what the run is.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_read_by(
        calibration: Option<&Calibration>,
        folder: &Path,
        identity: RunIdentity,
    ) -> Result<Self, StoreError> {
        let identity = RunIdentity { calibrated: calibration.is_some(), ..identity };
        fs::create_dir_all(folder).map_err(file_error(folder))?;
        let path = folder.join(RUN);
        if path.exists() {
            let text = fs::read_to_string(&path).map_err(file_error(&path))?;
            let known: RunIdentity = serde_json::from_str(&text).map_err(|error| StoreError::Form {
                path: path.display().to_string(),
                problem: error.to_string(),
            })?;
            if let Some(difference) = difference(&known, &identity) {
                return Err(StoreError::Other { folder: folder.display().to_string(), difference });
            }
        } else {
            whole(&path, &serde_json::to_string_pretty(&identity)?)?;
        }
        let path = folder.join(ANSWERS);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(file_error(&path))?;
        let mut answers = Answers::read_by(calibration.cloned());
        let end = whole_lines(&mut answers, &mut file, &path)?;
        file.set_len(end).map_err(file_error(&path))?;
        file.seek(SeekFrom::End(0)).map_err(file_error(&path))?;
        let earlier = match read_report(folder) {
            Ok(report) => (report.seconds, report.tokens),
            Err(_) => (0.0, 0),
        };
        Ok(Self { folder: folder.to_owned(), identity, answers, file, earlier })
    }

    /// What is answered.
    #[must_use]
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// Keeps an answer: on disk before anything else is asked.
    ///
    /// # Errors
    /// What the file system says.
    pub fn keep(&mut self, record: AnswerRecord) -> Result<(), StoreError> {
        let mut line = serde_json::to_string(&record)?;
        line.push('\n');
        let path = self.folder.join(ANSWERS);
        self.file.write_all(line.as_bytes()).map_err(file_error(&path))?;
        self.answers.insert(record);
        Ok(())
    }

    /// Writes the tables and the problems of reading.
    ///
    /// # Errors
    /// What the file system says.
    pub fn finish(
        &self,
        tables: Vec<Table>,
        problems: &[Problem],
        device: String,
        asks: usize,
        seconds: f64,
        tokens: usize,
    ) -> Result<RunReport, StoreError> {
        let report = RunReport {
            run: self.identity.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            device,
            answered: self.answers.len(),
            asks,
            problems: problems.len(),
            seconds: self.earlier.0 + seconds,
            tokens: self.earlier.1 + tokens,
            tables,
        };
        whole(&self.folder.join(TABLE), &serde_json::to_string_pretty(&report)?)?;
        whole(&self.folder.join(TABLE_TEXT), &crate::report::markdown(std::slice::from_ref(&report)))?;
        let mut lines = String::new();
        for problem in problems {
            lines.push_str(&serde_json::to_string(problem)?);
            lines.push('\n');
        }
        whole(&self.folder.join(PROBLEMS), &lines)?;
        Ok(report)
    }
}

/// Reads what a run came to.
///
/// # Errors
/// Where there is no `table.json` in the folder, or it is in another form.
pub fn read_report(folder: &Path) -> Result<RunReport, StoreError> {
    let path = folder.join(TABLE);
    let text = fs::read_to_string(&path).map_err(file_error(&path))?;
    serde_json::from_str(&text)
        .map_err(|error| StoreError::Form { path: path.display().to_string(), problem: error.to_string() })
}

/// Reads the answers that a run keeps, as far as their lines are whole. Probabilities of options are as they were recorded,
/// calibrated or not; that of a preference between two responses judged alone is not spread by a calibration, which
/// changes no winner.
///
/// # Errors
/// Where there are none in the folder, or a line is in another form.
pub fn read_answers(folder: &Path) -> Result<Answers, StoreError> {
    let path = folder.join(ANSWERS);
    let mut file = File::open(&path).map_err(file_error(&path))?;
    let mut answers = Answers::default();
    whole_lines(&mut answers, &mut file, &path)?;
    Ok(answers)
}

fn calibrated(run: &RunIdentity) -> &'static str {
    if run.calibrated { "calibrated probabilities" } else { "probabilities as the model gives them" }
}

/// What of two identities differs, in words; `None` where nothing does.
fn difference(known: &RunIdentity, wanted: &RunIdentity) -> Option<String> {
    let name = |run: &RunIdentity| match &run.model {
        None => "no model".to_owned(),
        Some(model) => match &model.adapter {
            None => model.name.clone(),
            Some(adapter) => format!("{} with {} at {}", model.name, adapter.name, adapter.strength),
        },
    };
    let limit =
        |run: &RunIdentity| run.limit.map_or_else(|| "no limit".to_owned(), |n| format!("a limit of {n}"));
    if known == wanted {
        return None;
    }
    let pairs = [
        (known.format.clone(), wanted.format.clone()),
        (known.exam.clone(), wanted.exam.clone()),
        (name(known), name(wanted)),
        (known.asked.clone(), wanted.asked.clone()),
        (calibrated(known).to_owned(), calibrated(wanted).to_owned()),
        (limit(known), limit(wanted)),
        (format!("seed {}", known.seed), format!("seed {}", wanted.seed)),
    ];
    let found = pairs.into_iter().find(|(known, wanted)| known != wanted);
    Some(found.map_or_else(
        || "the model's file, the data or the questions have changed".to_owned(),
        |(known, wanted)| format!("{known} in place of {wanted}"),
    ))
}

/// Takes in all whole lines; gives where they end.
fn whole_lines(answers: &mut Answers, file: &mut File, path: &Path) -> Result<u64, StoreError> {
    let mut reader = BufReader::new(file);
    let (mut end, mut line, mut number) = (0, Vec::new(), 0);
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(file_error(path))?;
        if read == 0 || line.last() != Some(&b'\n') {
            return Ok(end);
        }
        number += 1;
        let record: AnswerRecord = serde_json::from_slice(&line).map_err(|error| StoreError::Form {
            path: format!("{}:{number}", path.display()),
            problem: error.to_string(),
        })?;
        answers.insert(record);
        end += read as u64;
    }
}

/// Writes a file so that it is whole or not there.
fn whole(path: &Path, text: &str) -> Result<(), StoreError> {
    let part = path.with_extension("part");
    fs::write(&part, text).map_err(file_error(&part))?;
    fs::rename(&part, path).map_err(file_error(path))
}
