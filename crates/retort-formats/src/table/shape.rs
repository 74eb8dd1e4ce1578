//! What a table's columns say it is, and which column is what.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use super::chat::{Derived, Part};
use super::{Role, Table};

/// A kind of file that a known tool writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Shape {
    /// Retort's own records of judgements.
    RetortJudgement,
    /// FLASK's evaluation set.
    FlaskSet,
    /// FLASK's raw input.
    FlaskInput,
    /// Responses of a model for FLASK.
    FlaskOutput,
    /// FLASK's reviews.
    FlaskReview,
    /// Prometheus and the Feedback Collection.
    Prometheus,
    /// BiGGen Bench.
    Biggen,
    /// MT-Bench's questions.
    MtBenchQuestion,
    /// Answers to them.
    MtBenchAnswer,
    /// Votes for one of two answers; Chatbot Arena's too.
    MtBenchVote,
    /// AlpacaEval's outputs.
    AlpacaEval,
    /// AlpacaEval's annotations of pairs.
    AlpacaEvalAnnotation,
    /// RewardBench.
    RewardBench,
    /// Pairs as TRL takes them.
    TrlPreference,
    /// Single responses with a label as TRL takes them.
    TrlUnpaired,
    /// LLMBar.
    Llmbar,
    /// JudgeBench.
    JudgeBench,
    /// WildBench, also with RocketEval's checklists.
    WildBench,
    /// HealthBench.
    HealthBench,
    /// LLM Comparator's examples.
    LlmComparator,
    /// EvalAssist's test cases.
    EvalAssist,
    /// promptfoo's tests.
    Promptfoo,
    /// deepeval's goldens and test cases.
    Deepeval,
    /// inspect_ai's samples.
    InspectAi,
    /// ragas' samples.
    Ragas,
    /// OpenAI evals' samples.
    OpenaiEvals,
    /// Kiln's runs.
    Kiln,
}

impl Shape {
    /// All kinds.
    pub const ALL: [Self; 27] = [
        Self::RetortJudgement,
        Self::FlaskSet,
        Self::FlaskInput,
        Self::FlaskOutput,
        Self::FlaskReview,
        Self::Prometheus,
        Self::Biggen,
        Self::MtBenchQuestion,
        Self::MtBenchAnswer,
        Self::MtBenchVote,
        Self::AlpacaEval,
        Self::AlpacaEvalAnnotation,
        Self::RewardBench,
        Self::TrlPreference,
        Self::TrlUnpaired,
        Self::Llmbar,
        Self::JudgeBench,
        Self::WildBench,
        Self::HealthBench,
        Self::LlmComparator,
        Self::EvalAssist,
        Self::Promptfoo,
        Self::Deepeval,
        Self::InspectAi,
        Self::Ragas,
        Self::OpenaiEvals,
        Self::Kiln,
    ];
}

/// The kind of file that a table's columns are those of.
pub(super) fn recognise(table: &Table) -> Option<Shape> {
    of_keys(&table.columns.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Whether these are the keys of one row, rather than of an object that holds rows.
pub(super) fn are_of_a_row(keys: &[&str]) -> bool {
    let named = |names: &[&str]| keys.iter().any(|key| names.contains(&plain(key).as_str()));
    of_keys(keys).is_some() || named(PROMPTS) || named(RESPONSES)
}

/// Whether a table has a column for responses.
pub(super) fn has_response(table: &Table) -> bool {
    let is_response = |column: &String| RESPONSES.contains(&plain(column).as_str());
    table.columns.iter().any(is_response)
        || matches!(recognise(table), Some(Shape::FlaskOutput | Shape::FlaskReview))
}

fn of_keys(keys: &[&str]) -> Option<Shape> {
    // The fields of an object show that the object is there.
    let mut known: HashSet<&str> = keys.iter().copied().collect();
    for key in keys {
        known.extend(key.match_indices('.').filter_map(|(dot, _)| key.get(..dot)));
    }
    let has = |key: &str| known.contains(key);
    let all = |keys: &[&str]| keys.iter().all(|key| known.contains(key));
    let any = |keys: &[&str]| keys.iter().any(|key| known.contains(key));
    let levels = |key: &&str| {
        let key = key.rsplit('.').next().unwrap_or(key);
        let number = key.strip_prefix("orig_").unwrap_or(key).strip_prefix("score");
        number
            .and_then(|rest| rest.strip_suffix("_description"))
            .is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let has_levels = known.iter().any(levels);
    // What says more comes first: several of these keys stand in files of several kinds.
    Some(if all(&["verdicts", "input.prompt_sha256"]) {
        Shape::RetortJudgement
    } else if has("question_id") && any(&["review", "score"]) && any(&["target_txt", "review"]) {
        Shape::FlaskReview
    } else if all(&["idx", "instruction"]) && any(&["skill", "skills"]) {
        Shape::FlaskSet
    } else if has("conversation_input") {
        Shape::WildBench
    } else if all(&["model_a", "model_b", "winner"]) {
        Shape::MtBenchVote
    } else if all(&["question_id", "choices"]) {
        Shape::MtBenchAnswer
    } else if all(&["question_id", "turns"]) {
        Shape::MtBenchQuestion
    } else if all(&["question_id", "text", "answer"]) {
        Shape::FlaskInput
    } else if all(&["question_id", "text"]) {
        Shape::FlaskOutput
    } else if all(&["pair_id", "response_A", "response_B"]) {
        Shape::JudgeBench
    } else if all(&["instruction", "output_1", "output_2"]) {
        Shape::AlpacaEvalAnnotation
    } else if all(&["input", "output_1", "output_2"]) {
        Shape::Llmbar
    } else if all(&["input_text", "output_text_a", "output_text_b"]) {
        Shape::LlmComparator
    } else if has("score_rubric") && all(&["capability", "instance_idx"]) {
        Shape::Biggen
    } else if has("score_rubric") || any(&["orig_criteria", "orig_instruction"]) {
        Shape::Prometheus
    } else if has("user_input")
        && (has_levels || any(&["response", "reference", "retrieved_contexts", "rubrics"]))
    {
        Shape::Ragas
    } else if (has_levels && any(&["instruction", "input"]))
        || (all(&["instruction", "rubric"]) && any(&["response", "reference_answer"]))
    {
        Shape::Prometheus
    } else if all(&["prompt", "rubrics"]) {
        Shape::HealthBench
    } else if all(&["chosen", "rejected"]) && any(&["chosen_model", "rejected_model", "subset"]) {
        Shape::RewardBench
    } else if all(&["chosen", "rejected"]) {
        Shape::TrlPreference
    } else if all(&["prompt", "completion", "label"]) {
        Shape::TrlUnpaired
    } else if all(&["instruction", "output", "generator"]) {
        Shape::AlpacaEval
    } else if has("expected_result") {
        Shape::EvalAssist
    } else if all(&["vars", "assert"])
        || known.iter().any(|key| key.starts_with("__expected") || key.starts_with("__metric"))
    {
        Shape::Promptfoo
    } else if has("input") && any(&["actual_output", "expected_output", "retrieval_context"]) {
        Shape::Deepeval
    } else if all(&["input", "ideal"]) {
        Shape::OpenaiEvals
    } else if all(&["input", "target"]) {
        Shape::InspectAi
    } else if all(&["input", "output"]) && any(&["reasoning", "tags"]) {
        Shape::Kiln
    } else {
        return None;
    })
}

/// Where the parts stand in a kind of file, most likely first, as far as their names alone would not say so. A name
/// that ends in a dot is any field of that object.
fn known_roles(shape: Shape) -> &'static [(Role, &'static [&'static str])] {
    use Role::{
        Difficulty, Domain, Human, Id, Model, Prompt, Reference, Response, ResponseB, Skills, System,
    };
    match shape {
        Shape::RetortJudgement => &[
            (Id, &["input.prompt_sha256"]),
            (Model, &["response_model"]),
            (Domain, &["annotation.domains"]),
            (Difficulty, &["annotation.difficulty"]),
            (Skills, &["annotation.skills"]),
        ],
        Shape::FlaskSet => &[
            (Id, &["idx"]),
            (Prompt, &["instruction"]),
            (Reference, &["answer"]),
            (Response, &["response", "output"]),
        ],
        Shape::FlaskInput => &[(Id, &["question_id"]), (Prompt, &["text"]), (Reference, &["answer"])],
        Shape::FlaskOutput => &[(Id, &["question_id"]), (Response, &["text"]), (Model, &["model_id"])],
        Shape::FlaskReview => &[
            (Id, &["question_id"]),
            (Prompt, &["text", "instruction"]),
            (Response, &["target_txt"]),
            (Reference, &["answer"]),
        ],
        Shape::Prometheus | Shape::Biggen => &[
            (System, &["system_prompt"]),
            (Prompt, &["orig_instruction", "input", "instruction"]),
            (Response, &["orig_response", "response"]),
            (Reference, &["orig_reference_answer", "reference_answer"]),
            (Human, &["human_score", "orig_score", "score"]),
            (Domain, &["capability"]),
        ],
        Shape::MtBenchQuestion => {
            &[(Prompt, &["turns"]), (Domain, &["category"]), (Reference, &["reference"])]
        }
        Shape::MtBenchAnswer => &[(Response, &["choices"]), (Model, &["model_id"])],
        Shape::MtBenchVote => &[
            (Prompt, &["conversation_a"]),
            (Response, &["conversation_a"]),
            (ResponseB, &["conversation_b"]),
            (Human, &["winner"]),
            (Model, &["model_a"]),
        ],
        Shape::AlpacaEval => &[
            (Prompt, &["instruction"]),
            (Response, &["output"]),
            (Model, &["generator"]),
            (Domain, &["dataset"]),
        ],
        Shape::AlpacaEvalAnnotation => &[
            (Prompt, &["instruction"]),
            (Response, &["output_1"]),
            (ResponseB, &["output_2"]),
            (Human, &["preference"]),
            (Model, &["generator_1"]),
            (Domain, &["dataset"]),
        ],
        Shape::RewardBench | Shape::TrlPreference => &[
            (Prompt, &["prompt", "messages", "chosen"]),
            (Response, &["chosen"]),
            (ResponseB, &["rejected"]),
            (Model, &["chosen_model"]),
            (Domain, &["subset"]),
        ],
        Shape::TrlUnpaired => &[(Prompt, &["prompt"]), (Response, &["completion"]), (Human, &["label"])],
        Shape::Llmbar => &[
            (Prompt, &["input"]),
            (Response, &["output_1"]),
            (ResponseB, &["output_2"]),
            (Human, &["label"]),
        ],
        Shape::JudgeBench => &[
            (Id, &["pair_id"]),
            (Prompt, &["question"]),
            (Response, &["response_A"]),
            (ResponseB, &["response_B"]),
            (Human, &["label"]),
            (Domain, &["source"]),
            (Model, &["response_model"]),
        ],
        Shape::WildBench => &[
            (Id, &["session_id"]),
            (Prompt, &["conversation_input"]),
            (Reference, &["references", "references."]),
            (Domain, &["primary_tag"]),
        ],
        Shape::HealthBench => &[
            (Id, &["prompt_id"]),
            (Prompt, &["prompt"]),
            (Response, &["response", "completion"]),
            (Reference, &["ideal_completions_data.ideal_completion"]),
        ],
        Shape::LlmComparator => &[
            (Prompt, &["input_text"]),
            (Response, &["output_text_a"]),
            (ResponseB, &["output_text_b"]),
            (Human, &["score"]),
        ],
        Shape::EvalAssist => &[(Human, &["expected_result"])],
        Shape::Promptfoo => &[],
        Shape::Deepeval => {
            &[(Prompt, &["input"]), (Response, &["actual_output"]), (Reference, &["expected_output"])]
        }
        Shape::InspectAi => &[(Id, &["id"]), (Prompt, &["input"]), (Reference, &["target"])],
        Shape::Ragas => &[(Prompt, &["user_input"]), (Response, &["response"]), (Reference, &["reference"])],
        Shape::OpenaiEvals => &[(Prompt, &["input"]), (Reference, &["ideal"])],
        Shape::Kiln => &[(Prompt, &["input"]), (Response, &["output"])],
    }
}

const PROMPTS: &[&str] = &[
    "prompt",
    "instruction",
    "question",
    "input",
    "query",
    "user_input",
    "user_prompt",
    "user_message",
    "user_query",
    "prompt_text",
    "input_text",
    "problem",
    "request",
    "messages",
    "conversation",
    "conversations",
    "conversation_input",
    "dialogue",
    "dialog",
    "turns",
    "chat",
    "user",
    "task_prompt",
    "instructions",
];

const RESPONSES: &[&str] = &[
    "response",
    "output",
    "completion",
    "actual_output",
    "model_response",
    "model_output",
    "model_answer",
    "generation",
    "generated_text",
    "prediction",
    "candidate",
    "reply",
    "response_text",
    "output_text",
    "assistant_response",
    "assistant",
    "llm_response",
    "llm_output",
    "bot_response",
    "target_txt",
    "orig_response",
    "response_a",
    "response_1",
    "output_a",
    "output_1",
    "answer_a",
    "answer_1",
    "completion_a",
    "completion_1",
    "candidate_a",
    "candidate_1",
    "output_text_a",
    "chosen",
    "student_answer",
    "submission",
];

const SECOND_RESPONSES: &[&str] = &[
    "response_b",
    "response_2",
    "output_b",
    "output_2",
    "answer_b",
    "answer_2",
    "completion_b",
    "completion_2",
    "candidate_b",
    "candidate_2",
    "output_text_b",
    "rejected",
];

const REFERENCES: &[&str] = &[
    "reference",
    "reference_answer",
    "reference_response",
    "reference_output",
    "expected_output",
    "expected_answer",
    "expected_response",
    "expected",
    "ideal",
    "ideal_answer",
    "ideal_response",
    "target",
    "gold",
    "gold_answer",
    "gold_response",
    "golden",
    "golden_answer",
    "ground_truth",
    "correct_answer",
    "references",
    "solution",
    "best_answer",
];

const HUMANS: &[&str] = &[
    "human",
    "human_score",
    "human_rating",
    "human_label",
    "human_preference",
    "human_grade",
    "human_evaluation",
    "gold_score",
    "gold_label",
    "expected_result",
    "expected_score",
    "annotator_score",
    "annotation_score",
    "rating",
    "label",
    "preference",
    "winner",
    "grade",
    "score",
    "overall_rating",
    "overall_score",
    "mark",
    "points",
    "verdict",
    "vote",
    "stars",
];

/// What columns are called, by part: the first name of a list that a column has decides. Earlier parts choose first.
const NAMES: &[(Role, &[&str])] = &[
    (Role::Prompt, PROMPTS),
    (Role::Response, RESPONSES),
    (Role::ResponseB, SECOND_RESPONSES),
    (Role::Reference, REFERENCES),
    (Role::System, &["system", "system_prompt", "system_message", "system_instruction"]),
    (Role::Human, HUMANS),
    (
        Role::Model,
        &[
            "model",
            "model_name",
            "model_id",
            "generator",
            "response_model",
            "response_model_name",
            "model_a",
            "llm",
        ],
    ),
    (Role::Domain, &["domain", "category", "topic", "subject", "subset", "primary_tag"]),
    (Role::Difficulty, &["difficulty", "difficulty_level", "level"]),
    (Role::Skills, &["skills", "skill"]),
    (
        Role::Id,
        &[
            "id",
            "idx",
            "uid",
            "uuid",
            "question_id",
            "prompt_id",
            "example_id",
            "sample_id",
            "item_id",
            "pair_id",
            "session_id",
            "row_id",
            "instance_id",
            "custom_id",
            "qid",
            "key",
            "index",
        ],
    ),
];

/// The last part of a column's path in lower case, words joined by `_`: "vars.User Prompt" and "userPrompt" are
/// `user_prompt`.
fn plain(name: &str) -> String {
    let name = name.rsplit('.').next().unwrap_or(name).trim();
    let mut out = String::with_capacity(name.len());
    let mut after_small = false;
    for character in name.chars() {
        if character.is_alphanumeric() {
            if after_small && character.is_uppercase() {
                out.push('_');
            }
            after_small = character.is_lowercase() || character.is_numeric();
            out.extend(character.to_lowercase());
        } else {
            after_small = false;
            if !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
        }
    }
    out.truncate(out.trim_end_matches('_').len());
    out
}

/// Which column most likely is what: as the kind of file has it, and else by the columns' names.
pub(super) fn roles(table: &Table, derived: &[Derived]) -> BTreeMap<Role, String> {
    let mut roles = Roles { table, derived, found: BTreeMap::new(), taken: BTreeSet::new() };
    for (role, names) in table.shape.map_or(&[][..], known_roles) {
        let of = |name: &&str| match name.strip_suffix('.') {
            Some(_) => table.columns.iter().position(|column| column.starts_with(name)),
            None => table.column(name),
        };
        for column in names.iter().filter_map(of) {
            roles.take(*role, column);
        }
    }
    let names: Vec<String> = table.columns.iter().map(|column| plain(column)).collect();
    for (role, known) in NAMES {
        for known in *known {
            // Of two columns of one name, the less deep: "prompt" rather than "metadata.prompt".
            let mut places: Vec<usize> = (0..names.len()).filter(|&place| names[place] == *known).collect();
            places.sort_by_key(|&place| {
                table.columns.get(place).map_or(0, |column| column.matches('.').count())
            });
            for place in places {
                roles.take(*role, place);
            }
        }
    }
    // An "answer" is the response, or the reference where something else is the response.
    for name in ["answer", "text", "content"] {
        let Some(place) = names.iter().position(|plain| plain == name) else { continue };
        let first = if name == "answer" { Role::Response } else { Role::Prompt };
        let second = if name == "answer" { Role::Reference } else { Role::Response };
        // A set of questions with answers, beside which nothing is called a response, may be either; both are mapped by
        // whoever knows.
        if roles.found.contains_key(&first) { roles.take(second, place) } else { roles.take(first, place) }
    }
    let human = |name: &String| {
        let words: Vec<&str> = name.split('_').collect();
        let says = |known: &[&str]| words.iter().any(|word| known.contains(word));
        says(&["human", "annotator", "expert", "teacher", "gold", "person"])
            && says(&["score", "rating", "label", "grade", "preference", "mark", "points", "verdict"])
    };
    if let Some(place) = names.iter().position(human) {
        roles.take(Role::Human, place);
    }
    roles.found
}

struct Roles<'a> {
    table: &'a Table,
    derived: &'a [Derived],
    found: BTreeMap<Role, String>,
    taken: BTreeSet<String>,
}

impl Roles<'_> {
    /// Gives a part to a column, or to what was derived from it, unless part or column are taken.
    fn take(&mut self, role: Role, place: usize) {
        if self.found.contains_key(&role) {
            return;
        }
        let part =
            |wanted: Part| self.derived.iter().find(|column| column.of == place && column.part == wanted);
        let derived = match role {
            Role::Response | Role::ResponseB => part(Part::Answer).or_else(|| part(Part::Text)),
            Role::Prompt => part(Part::Prompt).or_else(|| part(Part::Text)),
            Role::System | Role::Reference => part(Part::Text).or_else(|| part(Part::Answer)),
            _ => None,
        };
        // A column that holds nothing but an answer is no prompt.
        if role == Role::Prompt && derived.is_none() && part(Part::Answer).is_some() {
            return;
        }
        let Some(name) = derived.map(|column| &column.name).or_else(|| self.table.columns.get(place)) else {
            return;
        };
        if self.taken.insert(name.clone()) {
            self.found.insert(role, name.clone());
        }
        // The answer that stands at the end of a conversation.
        if role == Role::Prompt
            && let Some(answer) = part(Part::Answer).filter(|_| part(Part::Prompt).is_some())
            && !self.found.contains_key(&Role::Response)
            && self.taken.insert(answer.name.clone())
        {
            self.found.insert(Role::Response, answer.name.clone());
        }
    }
}
