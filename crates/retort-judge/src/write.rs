//! Checklist items that a model writes: as good as the model is, and never more than a suggestion.
//!
//! The form is not left to the model. For each skill the answer is begun for it ("1. Does the response"), and it writes
//! one question's rest, up to the question mark, then the next: so that every item is a question about the response and
//! belongs to a skill, whatever the model would rather have written. What does not come to a question mark is dropped.

use retort_checklist::{Item, MAX_PER_SKILL, Origin, similar_questions};
use retort_lm::{Flow, LanguageModel, Limits, LmError, Segments, Watch};
use retort_rubric::{Rubric, Skill, builtin};

use crate::JudgeError;
use crate::prompt::{Field, Laid, Layout, Truncation};

const SYSTEM: &str = "You write checklists. You read an instruction and say in short questions what a good response \
                      to it must do.";

/// How every question begins.
const BEGINNING: &str = "Does the response";

/// The most tokens of a question behind its beginning.
const QUESTION_TOKENS: usize = 48;

/// Fewer words than this behind the beginning ask nothing.
const LEAST_WORDS: usize = 2;

/// What items are to be written for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WriteRequest {
    /// The instruction.
    pub prompt: String,
    /// A good answer to it.
    pub reference: Option<String>,
    /// The skills, each of which gets items; at least one.
    pub skills: Vec<Skill>,
    /// How many items for each skill, 1 to [`MAX_PER_SKILL`].
    pub per_skill: usize,
    /// Items that need not be written again.
    pub existing: Vec<Item>,
    /// How freely words are drawn: 0 takes the most probable ones.
    pub temperature: f32,
    /// Seed of the draw.
    pub seed: u64,
}

/// What was written.
#[derive(Debug, Clone, Default)]
pub struct WrittenItems {
    /// The items, skill by skill, with ids `model-1`, `model-2` and so on.
    pub items: Vec<Item>,
    /// What was dropped.
    pub dropped: Vec<Dropped>,
    /// Texts that were cut.
    pub truncations: Vec<Truncation>,
    /// Whether somebody cancelled; items that were ready stand.
    pub cancelled: bool,
    /// What stopped it before its end, if anything did; items that were ready stand.
    pub failure: Option<LmError>,
}

/// A text of the model's that is no item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// For which skill it was written.
    pub skill: Skill,
    /// What was written.
    pub text: String,
    /// Why it is no item.
    pub reason: &'static str,
}

/// Follows the writing, and can stop it.
pub trait WriteObserver {
    /// So many of so many questions were tried. Asked again and again within one: [`Flow::Stop`] ends the writing.
    fn progress(&mut self, done: usize, total: usize) -> Flow {
        let _ = (done, total);
        Flow::Continue
    }

    /// An item is ready.
    fn item(&mut self, item: &Item) {
        let _ = item;
    }
}

impl WriteObserver for crate::NoObserver {}

/// Lets the model write items for each skill.
///
/// # Errors
/// [`JudgeError::Empty`] for an empty instruction, [`JudgeError::NoRubrics`] without a skill, [`JudgeError::Model`]
/// where not one item was ready when something failed.
pub async fn write_items<M: LanguageModel>(
    model: &mut M,
    request: &WriteRequest,
    observer: &mut dyn WriteObserver,
) -> Result<WrittenItems, JudgeError> {
    if request.prompt.trim().is_empty() {
        return Err(JudgeError::Empty { what: "prompt" });
    }
    if request.skills.is_empty() {
        return Err(JudgeError::NoRubrics);
    }
    let mut written = WrittenItems::default();
    let outcome = write_all(model, request, observer, &mut written).await;
    match outcome {
        Ok(()) => {}
        Err(LmError::Cancelled) => written.cancelled = true,
        Err(failure) if written.items.is_empty() => return Err(failure.into()),
        Err(failure) => written.failure = Some(failure),
    }
    Ok(written)
}

async fn write_all<M: LanguageModel>(
    model: &mut M,
    request: &WriteRequest,
    observer: &mut dyn WriteObserver,
    written: &mut WrittenItems,
) -> Result<(), LmError> {
    let turn = model.turn(Some(&Segments::new().template(SYSTEM)))?;
    let per_skill = request.per_skill.clamp(1, MAX_PER_SKILL);
    let total = request.skills.len() * per_skill;
    let limits = Limits { max_tokens: QUESTION_TOKENS, temperature: request.temperature, seed: request.seed };
    for (nth, &skill) in request.skills.iter().enumerate() {
        let Some(rubric) = builtin().iter().find(|rubric| rubric.id == skill.id()) else { continue };
        let reference = request.reference.as_deref().filter(|text| !text.trim().is_empty());
        let texts: Vec<Field<'_>> =
            std::iter::once(Field::prompt(&request.prompt)).chain(reference.map(Field::reference)).collect();
        let layout = Layout {
            open: &turn.open,
            texts: &texts,
            close: Segments::new().template(task(rubric, per_skill)).then(&turn.close),
        };
        let Laid { text: context, truncations, .. } = layout.fit(model, per_skill * (QUESTION_TOKENS + 8))?;
        let mut prompt = turn.open.clone().then(&context);
        if nth == 0 {
            written.truncations = truncations;
        }
        prompt = prompt.template(format!("1. {BEGINNING}"));
        for number in 1..=per_skill {
            let mut question =
                Question { text: String::new(), done: nth * per_skill + number - 1, total, observer };
            let generated = model.generate(&prompt, &limits, &mut question).await;
            let text = question.text;
            generated?;
            match item(&text, skill, request, written) {
                Ok(item) => {
                    observer.item(&item);
                    written.items.push(item);
                }
                Err(reason) => {
                    let text = format!("{BEGINNING}{text}");
                    written.dropped.push(Dropped { skill, text, reason });
                    // A model that repeats itself or loses the form goes on doing so.
                    break;
                }
            }
            // The model's words may spell a special token, so they are ordinary text.
            prompt = prompt.user(text).template(format!("\n{}. {BEGINNING}", number + 1));
        }
    }
    Ok(())
}

fn task(rubric: &Rubric, per_skill: usize) -> String {
    format!(
        "Think of how well a response fulfils the instruction above as to {}: {}\nWrite {per_skill} short questions \
         that decide it. Each is answered with yes or no, asks for one thing that this very instruction needs, and \
         begins with \"{BEGINNING}\".",
        rubric.name, rubric.criterion
    )
}

/// The item that a question's rest makes, or why it makes none.
fn item(
    text: &str,
    skill: Skill,
    request: &WriteRequest,
    written: &WrittenItems,
) -> Result<Item, &'static str> {
    if text.contains('\n') {
        return Err("a line ended before the question did");
    }
    let Some(rest) = text.strip_suffix('?') else { return Err("it came to no question mark") };
    let words: Vec<&str> = rest.split_whitespace().collect();
    if words.len() < LEAST_WORDS || !rest.starts_with([' ', '\u{a0}']) {
        return Err("it asks nothing");
    }
    let question = format!("{BEGINNING} {}?", words.join(" "));
    let mut known = request.existing.iter().chain(&written.items);
    if known.any(|known| similar_questions(&known.question, &question)) {
        return Err("it asks what another item asks");
    }
    Ok(Item {
        origin: Origin::Model,
        skill: Some(skill),
        ..Item::asking(format!("model-{}", written.items.len() + 1), question)
    })
}

/// Ends a question where it ends.
struct Question<'a> {
    text: String,
    done: usize,
    total: usize,
    observer: &'a mut dyn WriteObserver,
}

impl Watch for Question<'_> {
    fn progress(&mut self, _: usize, _: usize) -> Flow {
        self.observer.progress(self.done, self.total)
    }

    fn text(&mut self, piece: &str) -> Flow {
        // A piece may go beyond the mark; what stands there belongs to nothing.
        let end = piece.find(['?', '\n']).map(|at| at + 1);
        self.text.push_str(&piece[..end.unwrap_or(piece.len())]);
        if end.is_some() { Flow::Stop } else { Flow::Continue }
    }
}
