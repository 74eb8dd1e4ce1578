//! Judges that write their verdicts: asked one question after another, each in the form that its model was trained on.
//!
//! What such a model was trained on is a sequence of sections under certain headings, and an answer in a certain form. The
//! headings and the form are kept, since the model knows its task by them; the sentences between them are our own, and so
//! is the fence around every text, which no text can close (P4).

use std::borrow::Cow;

use retort_lm::{Flow, LanguageModel, Limits, LmError, Segments, TextModel, Usage, Watch};
use retort_rubric::Rubric;

use crate::WrittenForm;
use crate::prompt::{Field, Laid, Layout, TextRole, Truncation};
use crate::question::{NOT_APPLICABLE, Question};
use crate::verdict::Verdict;

/// The most tokens of one verdict with its reasons. Reasons of the four models are mostly below 300.
const VERDICT_TOKENS: usize = 512;

/// One question as a judge reads it.
pub(crate) struct WrittenPlan {
    pub(crate) prompt: Segments,
    pub(crate) truncations: Vec<Truncation>,
    /// At most so many tokens are written.
    room: usize,
}

/// What the sections of a judge's prompt are called.
struct Sections {
    /// What stands before the texts, heading and all.
    opening: &'static str,
    prompt: &'static str,
    response: &'static str,
    reference: &'static str,
    criterion: &'static str,
    /// Between the criterion and its levels.
    levels: &'static str,
    /// What stands before each level's label.
    level: &'static str,
    /// Between the levels and how the answer is to look.
    answer: &'static str,
    /// The last line.
    cue: &'static str,
}

const WHAT_TO_DO: &str = "Below are an instruction, a response to it, and a rubric with its levels. First say in a few \
                          sentences how well the response fulfils this rubric and nothing else, with what in it shows \
                          that. Then give the one level whose description fits best.";

impl WrittenForm {
    /// Headings as they are in the models' public cards and papers; see [`WrittenForm`] for which.
    fn sections(self) -> Sections {
        match self {
            Self::Prometheus => Sections {
                opening: "###Task Description:",
                prompt: "###The instruction to evaluate",
                response: "###Response to evaluate",
                reference: "###Reference Answer (Score 5)",
                criterion: "###Score Rubrics:",
                levels: "",
                level: "Score ",
                answer: "",
                cue: "###Feedback: ",
            },
            Self::FlowJudge => Sections {
                opening: "# GOAL",
                prompt: "# INPUT",
                response: "# OUTPUT",
                reference: "# EXPECTED OUTPUT",
                criterion: "# EVALUATION CRITERIA AND SCORING RUBRIC\n## EVALUATION CRITERIA",
                levels: "## SCORING RUBRIC\n",
                level: "- Score ",
                answer: "# OUTPUT FORMAT\n",
                cue: "",
            },
            Self::Selene => Sections {
                opening: "# Task",
                prompt: "Instruction",
                response: "Response",
                reference: "Reference answer",
                criterion: "Score rubric:",
                levels: "",
                level: "Score ",
                answer: "",
                cue: "",
            },
            Self::Glider => Sections {
                opening: "Data to evaluate:",
                prompt: "<USER INPUT>",
                response: "<MODEL OUTPUT>",
                reference: "<GOLD ANSWER>",
                criterion: "Pass Criteria:",
                levels: "Rubric:\n",
                level: "",
                answer: "",
                cue: "",
            },
        }
    }

    /// One question about the texts of a request, as a judge that writes in this form reads it.
    ///
    /// # Errors
    /// [`LmError::TooLong`] where too little of a text would be left; what the model's template or tokenizer refuses.
    pub(crate) fn plan<M: TextModel>(
        self,
        model: &M,
        texts: &[Field<'_>],
        question: &Question<'_>,
    ) -> Result<WrittenPlan, LmError> {
        let turn = model.turn(None)?;
        let sections = self.sections();
        let open = turn.open.clone().template(match self {
            // The levels are what it begins with, and the texts are data that belong to them.
            Self::Glider => format!("{WHAT_TO_DO}\n\n{}\n\n", sections.opening),
            _ => format!("{}\n{WHAT_TO_DO}\n\n", sections.opening),
        });
        let headed: Vec<Field<'_>> = texts
            .iter()
            .map(|field| {
                let heading = match field.role {
                    TextRole::Prompt => Cow::Borrowed(sections.prompt),
                    TextRole::Response => Cow::Borrowed(sections.response),
                    TextRole::Reference => Cow::Borrowed(sections.reference),
                    TextRole::Named(_) => field.heading.clone(),
                };
                Field { heading, ..field.clone() }
            })
            .collect();
        let room = VERDICT_TOKENS.min(model.context_length() / 4);
        let close = self.asking(&sections, question.rubric()).then(&turn.close);
        let layout = Layout { open: &open, texts: &headed, close };
        let Laid { text, truncations, .. } = layout.fit(model, room)?;
        Ok(WrittenPlan { prompt: open.then(&text), truncations, room })
    }

    /// The rubric, and how the answer is to look. A rubric may come from a stranger, so its words are ordinary text.
    fn asking(self, sections: &Sections, rubric: &Rubric) -> Segments {
        let mut text = Segments::new()
            .template(format!("{}\n", sections.criterion))
            .user(format!("{}: {}\n", rubric.name.trim_end_matches(['.', ':']), rubric.criterion))
            .template(sections.levels);
        for option in &rubric.options {
            text = text.template(sections.level).user(match &option.description {
                Some(description) => format!("{}: {description}\n", option.label),
                None => format!("{}\n", option.label),
            });
            for example in &option.examples {
                text = text.user(format!("An example of {}: {example}\n", option.label));
            }
        }
        if let Some(when) = &rubric.not_applicable {
            text = text.template(sections.level).user(format!("{NOT_APPLICABLE}: {when}\n"));
        }
        let labels: Vec<&str> = rubric.options.iter().map(|option| option.label.as_str()).collect();
        let na = rubric.not_applicable.as_ref().map(|_| NOT_APPLICABLE);
        let offered: Vec<&str> = labels.into_iter().chain(na).collect();
        let shape = self.write("(your reasons)", &format!("(one of {})", offered.join(", ")));
        text.template(format!("\n{}Answer in exactly this form:\n", sections.answer))
            .user(shape)
            .template(format!("\n\n{}", sections.cue))
    }
}

/// Who hears of what is written.
pub(crate) trait Reader {
    /// So many tokens of all are done; those that were not needed count as done.
    fn progress(&mut self, done: usize, total: usize) -> Flow;

    /// A piece of the answer to a question.
    fn piece(&mut self, question: usize, piece: &str);

    /// The answer to a question, and what it comes to.
    fn verdict(&mut self, question: usize, verdict: Verdict, written: String);
}

/// Asks one question after another. What was answered when it fails or is cancelled has been told, and what was spent is in
/// `usage`.
pub(crate) async fn ask<M: LanguageModel>(
    model: &mut M,
    form: WrittenForm,
    questions: &[Question<'_>],
    plans: &[WrittenPlan],
    reader: &mut dyn Reader,
    usage: &mut Usage,
) -> Result<(), LmError> {
    let mut sizes = Vec::new();
    for plan in plans {
        sizes.push(model.count_tokens(&plan.prompt)? + plan.room);
    }
    let total = sizes.iter().sum();
    let mut before = 0;
    for (at, ((question, plan), size)) in questions.iter().zip(plans).zip(sizes).enumerate() {
        let limits = Limits { max_tokens: plan.room, temperature: 0.0, seed: 0 };
        let mut follower = Follower { at, before, size, total, reader: &mut *reader };
        let generated = model.generate(&plan.prompt, &limits, &mut follower).await;
        let spent = model.usage();
        usage.computed += spent.computed;
        usage.reused += spent.reused;
        let generated = generated?;
        before += size;
        let verdict = form.read(&generated, question.rubric(), !plan.truncations.is_empty());
        reader.verdict(at, verdict, generated.text);
        if reader.progress(before, total) == Flow::Stop && at + 1 < plans.len() {
            return Err(LmError::Cancelled);
        }
    }
    Ok(())
}

/// What any of these plans has cut, each text by the least that any of them keeps of it.
pub(crate) fn cut(plans: &[WrittenPlan]) -> Vec<Truncation> {
    let mut all: Vec<Truncation> = Vec::new();
    for one in plans.iter().flat_map(|plan| &plan.truncations) {
        match all.iter_mut().find(|known| known.text == one.text) {
            Some(known) => known.kept_characters = known.kept_characters.min(one.kept_characters),
            None => all.push(one.clone()),
        }
    }
    all
}

/// Counts one question's tokens among those of all.
struct Follower<'a> {
    at: usize,
    before: usize,
    size: usize,
    total: usize,
    reader: &'a mut dyn Reader,
}

impl Watch for Follower<'_> {
    fn progress(&mut self, done: usize, _: usize) -> Flow {
        self.reader.progress(self.before + done.min(self.size), self.total)
    }

    fn text(&mut self, piece: &str) -> Flow {
        self.reader.piece(self.at, piece);
        Flow::Continue
    }
}
