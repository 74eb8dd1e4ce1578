/** Where the model runs. `auto` takes the GPU where there is one that can be trusted, else the CPU. */
export type BackendChoice = "auto" | "gpu" | "cpu";

/**
 * The bytes of a model file. `read` fills `into` from `offset` and returns how many bytes it wrote; it is
 * synchronous, so it works only inside a worker (an OPFS sync access handle, or FileReaderSync over a Blob).
 */
export interface ByteSource {
  readonly size: number;
  /** The file's own name, for messages; a split model's parts should each say theirs. */
  readonly name?: string | undefined;
  read(offset: number, into: Uint8Array): number;
}

export interface LoadOptions {
  backend: BackendChoice;
  /** File or preset name, shown to people and kept in the record. */
  name: string;
  /** SHA-256 of the file in lower-case hex where it is known; kept in the record. */
  sha256?: string;
  /** What `EngineInfo.tuning` said in this browser before: the GPU then need not be measured again. */
  tuning?: string;
}

export interface AdapterOptions {
  /** File name, shown to people and kept in the record. */
  name: string;
  /** SHA-256 of the file in lower-case hex where it is known; kept in the record. */
  sha256?: string;
  /** How strongly it is applied: 0 not at all, 1 (without this) as it was trained. */
  strength?: number;
}

export interface AdapterInfo {
  name: string;
  sha256: string | null;
  /** What the adapter calls itself, or its file's name. */
  title: string;
  rank: number;
  strength: number;
}

export interface LoadProgress {
  stage: "header" | "weights" | "check";
  loaded_bytes: number;
  total_bytes: number;
}

export interface EngineInfo {
  backend: "gpu" | "cpu";
  /** Why this backend: a sentence for people. */
  reason: string;
  /** GPU adapter or CPU instruction set, as far as it is known. */
  device: string;
  /** What was measured on the GPU, to be kept for the next start; null on the CPU. */
  tuning: string | null;
  model: {
    name: string;
    sha256: string | null;
    architecture: string;
    parameters: number;
    context_length: number;
    layers: number;
    width: number;
    quantization: string;
    file_bytes: number;
    /** The file's own head, where it is a reward model or classifier; `Engine.reward` reads it. */
    head: { outputs: number; labels: string[] } | null;
  };
  /** What is applied on top of the model. */
  adapter: AdapterInfo | null;
}

export interface RubricOption {
  /** What the model answers, e.g. "4" or "pass". */
  label: string;
  /** What the answer is worth. */
  value: number;
  description: string | null;
  /** Responses, or parts of them, that deserve this answer. */
  examples?: string[];
}

export interface Rubric {
  id: string;
  name: string;
  /** One of FLASK's four abilities, or null for a custom rubric. */
  ability: "logical_thinking" | "background_knowledge" | "problem_handling" | "user_alignment" | null;
  criterion: string;
  /** The same criterion as a short question, or null. */
  question: string | null;
  /** How much it counts beside others: 1 where it is absent, never 0, below 0 for points against. */
  weight?: number;
  /** When it does not apply; "N/A" is offered where it is given. */
  not_applicable?: string;
  /** The scale, lowest value first. */
  options: RubricOption[];
}

/** One of FLASK's twelve skills, by id. */
export type SkillId =
  | "logical_robustness"
  | "logical_correctness"
  | "logical_efficiency"
  | "factuality"
  | "commonsense_understanding"
  | "comprehension"
  | "insightfulness"
  | "completeness"
  | "metacognition"
  | "readability"
  | "conciseness"
  | "harmlessness";

export type DifficultyId =
  | "simple_lifestyle"
  | "advanced_lifestyle"
  | "formal_education"
  | "major_level"
  | "expert_level";

export interface DomainLabel {
  /** An id of `Vocabulary.domains`. */
  domain: string;
  /** One of that domain's sub-domains, or null. */
  subdomain: string | null;
}

/** What an instruction asks of whoever answers it (FLASK's metadata). */
export interface Annotation {
  /** Most important first, each once; FLASK chooses three. */
  skills: SkillId[];
  /** None, one, or two where the instruction is ambiguous. */
  domains: DomainLabel[];
  difficulty: DifficultyId | null;
  by: "code" | "model" | "person" | "file";
}

/** Everything that an annotation may say, with its names for people. */
export interface Vocabulary {
  skills: { id: SkillId; name: string; ability: string }[];
  domains: { id: string; name: string; subdomains: string[]; variant: "general" | "maths" | "coding" }[];
  difficulties: { id: DifficultyId; level: number; name: string; definitions: Record<"general" | "maths" | "coding", string> }[];
}

/** What code verifies, as data; see retort-checklist's `Constraint`. */
export type Constraint = { kind: string; [field: string]: unknown };

export interface ChecklistItem {
  /** Unique within its checklist: letters, digits, `_`, `-`, `.`. */
  id: string;
  /** One question on one line whose answer "yes" is good. */
  question: string;
  origin: "constraint" | "request" | "reference" | "skill" | "model" | "person";
  skill?: SkillId;
  /** 1 where it is absent; never 0; below 0 for what should not be there. */
  weight?: number;
  /** "yes_no" where it is absent; "one_to_five" compares with the reference. */
  answer?: "yes_no" | "one_to_five";
  /** Code verifies it; without one the model is asked. */
  constraint?: Constraint;
  /** The item applies only if this holds: a clause behind "if". */
  condition?: string;
  /** The passage that it was made from. */
  passage?: string;
}

export interface Checklist {
  name?: string;
  instruction_sha256?: string;
  items: ChecklistItem[];
}

export interface Finding {
  verdict: "met" | "not_met" | "not_applicable";
  count?: number;
  /** A sentence for people. */
  sentence: string;
  /** Ranges of the response that show it, in UTF-16 units as JavaScript counts; absent where there are none. */
  evidence?: { start: number; end: number }[];
}

export interface ItemVerdictBase {
  item_id: string;
  question: string;
  origin: ChecklistItem["origin"];
  skill: SkillId | null;
  weight: number;
  answer: "yes_no" | "one_to_five";
}

/** Code verified it, or the model was asked: of yes or no, `expected` is the probability of yes. */
export type ItemVerdict = ItemVerdictBase & ({ by: "code"; finding: Finding } | { by: "model"; verdict: Verdict });

export interface JudgeRequest {
  prompt: string;
  response: string;
  reference?: string;
  /** At least one where there is no checklist. */
  rubrics: Rubric[];
  checklist?: Checklist;
  /** Kept in the record, so that reports can group by it. */
  annotation?: Annotation;
  /**
   * How much of each rubric the model reads: all of it ("full", where nothing is said), or only its short question,
   * for a model that was trained on the rubrics.
   */
  wording?: "full" | "short";
}

export interface OptionProbability {
  label: string;
  value: number;
  /** Normalised over the options: the distribution sums to 1. */
  probability: number;
}

/** What was left out because prompt, response and reference together exceed the model's context. */
export interface Truncation {
  /** "response", "prompt" or "reference": which text was cut in its middle. */
  text: string;
  kept_characters: number;
  total_characters: number;
}

export type Verdict =
  | {
      kind: "scored";
      /** Expectation over the distribution, in the scale's own unit. */
      expected: number;
      min: number;
      max: number;
      distribution: OptionProbability[];
      /** Probability that the model gave to any of the options before normalising. */
      mass: number;
      method: "option_probabilities";
      truncated: boolean;
      /** The share of "N/A" where it was offered, 0 to 0.5; the distribution leaves it out. */
      not_applicable?: number;
    }
  | { kind: "unscored"; code: string; message: string };

export interface RubricVerdict {
  rubric_id: string;
  rubric_name: string;
  rubric_sha256: string;
  verdict: Verdict;
}

export type JudgeEvent =
  | { kind: "planned"; questions: number; truncations: Truncation[] }
  | { kind: "progress"; done_tokens: number; total_tokens: number }
  | { kind: "verdict"; index: number; verdict: RubricVerdict }
  /** `index` is the item's place in the checklist; what code verifies comes first. */
  | { kind: "item"; index: number; verdict: ItemVerdict };

export interface ModelIdentity {
  name: string;
  sha256: string | null;
  adapter: { name: string; sha256: string | null; strength: number } | null;
}

/** The record of one judgement: the same JSON that `retort judge --json` prints. */
export interface JudgeRecord {
  format: "retort.judgement/1";
  version: string;
  task: "rubric_scores";
  input: { prompt_sha256: string; response_sha256: string; reference_sha256: string | null; response_words?: number };
  /** Whose response it is, where the caller said so. */
  response_model?: string;
  model: ModelIdentity;
  backend: "gpu" | "cpu";
  device: string;
  seed: number | null;
  orders: string[];
  /** Absent where the model read the rubrics in full. */
  wording?: "short";
  annotation?: Annotation;
  verdicts: RubricVerdict[];
  /** What the rubrics come to, 0 to 1; absent where none of them is weighed. */
  total?:
    | { kind: "scored"; score: number; unclipped: number; counted: number; not_applicable: number }
    | { kind: "unscored"; message: string };
  /** Its questions may quote the prompt, its findings the response. */
  checklist?: {
    name: string | null;
    sha256: string;
    items: ItemVerdict[];
    score: ChecklistScore;
    /** Items answered yes or no apart from those answered 1 to 5; absent where all are answered alike. */
    by_form?: ["yes_no" | "one_to_five", ChecklistScore][];
  };
  truncations: Truncation[];
  /** What happened on the way that a person should know, such as a GPU that failed in mid-run. */
  notices: string[];
  timings: { total_ms: number; tokens: number; tokens_reused: number };
  cancelled: boolean;
}

/** All items of a checklist together, or those of one skill. */
export interface ChecklistScore {
  /** 0 to 1: the weighted share of what was found; null, with `why_none`, where nothing could be decided. */
  score: number | null;
  why_none?: "empty" | "nothing_applies" | "nothing_scored" | "no_positive_weight";
  /** Items that code verified. */
  verified: number;
  /** Items that the model judged. */
  judged: number;
  not_applicable: number;
  unscored: number;
  /** Of the verified ones, those that are met. */
  verified_met: number;
  /** Of the judged ones, those with a value above one half. */
  judged_met: number;
  by_skill?: [SkillId, ChecklistScore][];
}

export interface ChecklistRequest {
  instruction: string;
  reference?: string;
  /** Skills that get items of their own; may be empty. */
  skills: SkillId[];
  /** "full": everything that can be looked for. "hard": at most five questions scored 1 to 5 against the reference. */
  form: "full" | "hard";
}

/** Items that the model is to write: a suggestion, as good as the model is. */
export interface WriteItemsRequest {
  instruction: string;
  reference?: string;
  /** At least one. */
  skills: SkillId[];
  /** 1 to 5, as in FLASK-Hard; 5 where it is absent. */
  per_skill?: number;
  /** What is asked already is not written again. */
  existing?: ChecklistItem[];
  /** 0 (where it is absent) takes the most probable words. */
  temperature?: number;
  seed?: number;
}

export type WriteEvent =
  | { kind: "progress"; done: number; total: number }
  | { kind: "item"; item: ChecklistItem };

export interface WrittenItems {
  items: ChecklistItem[];
  /** What the model wrote that is no item, with the reason. */
  dropped: string[];
  truncations: Truncation[];
  cancelled: boolean;
  /** What stopped it, in words; the items that were ready stand. */
  failure: string | null;
  notices: string[];
}

/** A checklist from a file. */
export interface ChecklistReading {
  checklist: Checklist;
  /** What is doubtful, each with its line and column. */
  warnings: string[];
}

/** One thing that was seen in an instruction. */
export type AnnotationEvidence = {
  /** Where it stands, in UTF-16 units; empty where it is a property of the whole. */
  range: { start: number; end: number };
  /** The words as they stand there, or the property. */
  words: string;
  /** Why, as the end of a sentence that begins with the words. */
  reason: string;
  /** How strongly; of difficulty in levels, down if negative. */
  weight: number;
} & ({ for: "domain"; what: DomainLabel } | { for: "skill"; what: SkillId } | { for: "difficulty" });

/** What the words of an instruction say about it, and which words. */
export interface Annotated {
  annotation: Annotation;
  /** The weightiest first. */
  evidence: AnnotationEvidence[];
  /** In the order of `Vocabulary.domains` and `.skills`; comparable within one instruction only. */
  domain_scores: number[];
  skill_scores: number[];
  /** 1 to 5, before it was rounded to a level. */
  difficulty_estimate: number | null;
}

/** What the model is to say of an instruction. */
export interface AnnotateRequest {
  instruction: string;
  /** Chooses the orders in which lists are offered; below 2^53. 0 where it is absent. */
  seed?: number;
  /** In how many orders each list is offered. */
  orders?: number;
  /** Whether the words' evidence is weighed together with the model's probabilities. */
  with_words?: boolean;
}

/** What a model says of an instruction: the same JSON that `retort annotate --json` prints. */
export interface AnnotationRecord {
  format: string;
  version: string;
  task: string;
  instruction_sha256: string;
  annotation: Annotation;
  words: Annotated | null;
  by_model: {
    model: ModelIdentity;
    backend: "gpu" | "cpu";
    device: string;
    seed: number;
    [field: string]: unknown;
  } | null;
}

/** Responses to one prompt, to be scored by the model's own head. */
export interface RewardRequest {
  prompt: string;
  responses: string[];
}

export interface TokenProgress {
  done_tokens: number;
  total_tokens: number;
}

export type Reward =
  /** What the head gives, one number per output: comparable among responses to one prompt only. */
  { kind: "scored"; outputs: number[] } | { kind: "unscored"; code: string; message: string };

/** The record of rewards: the same JSON that `retort reward --json` prints. */
export interface RewardRecord {
  format: "retort.reward/1";
  version: string;
  task: "reward";
  input: { prompt_sha256: string; responses_sha256: string[] };
  model: ModelIdentity;
  backend: "gpu" | "cpu";
  device: string;
  /** What the head's outputs are called; empty where the file does not say it. */
  labels: string[];
  /** One per response, in the order asked. */
  rewards: Reward[];
  notices: string[];
  timings: { total_ms: number; tokens: number; tokens_reused: number };
  cancelled: boolean;
}
