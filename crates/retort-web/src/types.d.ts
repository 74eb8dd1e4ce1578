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
   * How much of each rubric the model reads: all of it ("full"); only its short question ("short"), for a model that was
   * trained on the rubrics; or the short question of the twelve skills as they are built in and all of any other
   * ("short_skills"). Where nothing is said, what suits the adapter: "short_skills" for one that was trained on them,
   * else "full".
   */
  wording?: "full" | "short" | "short_skills";
  /**
   * Lets the model write each verdict with its reasons in this form, for a judge that was trained to; such a judge reads
   * every rubric in full. Without it, the probabilities of the options are read.
   */
  form?: WrittenForm;
}

/** The forms of public judges that write: Prometheus 2, Flow Judge, Selene 1 Mini, GLIDER. */
export type WrittenForm = "prometheus" | "flow_judge" | "selene" | "glider";

export interface OptionProbability {
  label: string;
  value: number;
  /** Normalised over the options: the distribution sums to 1. */
  probability: number;
}

/** What was left out because prompt, response and reference together exceed the model's context. */
export interface Truncation {
  /** "response", "prompt" or "reference" (of a comparison "response_1" to "response_4"): which text was cut in its middle. */
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
      /**
       * Calibrated: set right by what the adapter knows of its own probabilities. Written: the judge wrote it, and of what
       * else it might have written nothing is known, so that the distribution is all on one option.
       */
      method: "option_probabilities" | "calibrated_option_probabilities" | "written";
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
  /** What a judge that writes wrote, reasons and all: it may quote the texts. */
  written?: string;
}

export type JudgeEvent =
  | { kind: "planned"; questions: number; truncations: Truncation[] }
  | { kind: "progress"; done_tokens: number; total_tokens: number }
  /** A piece of what a judge that writes is writing; questions are counted over the rubrics and then the items that the model is asked. */
  | { kind: "writing"; question: number; piece: string }
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
  wording?: "short" | "short_skills";
  /** Whether probabilities were set right as the adapter says; absent where there was nothing to do it by. */
  calibration?: "applied" | "off";
  /** In which form the judge wrote its verdicts; absent where probabilities were read. */
  form?: WrittenForm;
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

/** What a column of a table is for. */
export type ColumnRole =
  | "id"
  | "prompt"
  | "system"
  | "response"
  /** A second response to the same prompt. */
  | "response_b"
  | "reference"
  /** What a person said of the response: a score, or which of two is better. */
  | "human"
  | "model"
  | "domain"
  | "difficulty"
  | "skills";

/** A file of examples, row by row, every column kept. */
export interface Table {
  container: "csv" | "tsv" | "json" | "jsonl";
  /** The known kind of file that its keys show ("llmbar", "alpaca_eval", "flask_review"…); null: columns to be mapped. */
  shape: string | null;
  /** In the order of their first appearance. Nested fields of JSON are flattened with dots: "score.readability". */
  columns: string[];
  rows: TableRow[];
  /** Rows that could not be read: they are left out, and nothing else is. */
  faults: { line: number; message: string }[];
  /** Which column most likely has which part; only parts that were found. */
  roles: Partial<Record<ColumnRole, string>>;
}

export interface TableRow {
  /** The physical line that it begins on, counted from 1. */
  line: number;
  /** One per column; null where the row has none. Lists and objects as JSON text. */
  values: (string | null)[];
}

/** A number with its 95% bootstrap interval; null where it is undefined (a constant, too few rows). */
export type Estimate = { value: number; low: number; high: number } | null;

/** How two columns of numbers agree. */
export interface Agreement {
  /** Pairs with both numbers. */
  n: number;
  /** Pairs left out because one of the two is missing or no number. */
  left_out: number;
  pearson: Estimate;
  spearman: Estimate;
  kendall: Estimate;
  /** Mean absolute difference. */
  mean_error: Estimate;
  /** Krippendorff's alpha for interval data. */
  alpha: Estimate;
}

export interface CompareRequest {
  prompt: string;
  reference?: string;
  /** Two to four. */
  responses: string[];
}

/** Two responses shown together in both orders. */
export interface PairVerdict {
  /** Places in `responses`, counted from 0; `first` is the smaller one. */
  first: number;
  second: number;
  /**
   * One per order that was answered: the place in `responses` of the one that was shown first; the probability that `first`
   * and `second` is the better one, wherever they were shown; and what the model gave to either answer before normalising.
   */
  shown: { shown_first: number; first: number; second: number; mass: number }[];
  /**
   * The mean of both orders decides. `preferred` is a place in `responses`, and null for a tie: a mean within 0.01 of a half.
   * `flipped` where each of the two won in one order; a winner in one and a tie in the other is no flip. Unscored where an
   * order has no answer, such as one whose offered mass is too small.
   */
  verdict: { kind: "scored"; preferred: number | null; probability_first: number; flipped: boolean } | { kind: "unscored"; code: string; message: string };
}

export interface CompareRecord {
  format: "retort.comparison/1";
  version: string;
  task: "pairwise";
  input: { prompt_sha256: string; responses_sha256: string[]; reference_sha256: string | null; responses_words: number[] };
  model: ModelIdentity;
  backend: "gpu" | "cpu";
  device: string;
  /** As in `JudgeRecord`. */
  calibration?: "applied" | "off";
  /** 0 with 1, 0 with 2, …, 1 with 2, …. */
  pairs: PairVerdict[];
  /** The responses are called "response_1" to "response_4", whatever place they were shown in. */
  truncations: Truncation[];
  notices: string[];
  timings: { total_ms: number; tokens: number; tokens_reused: number };
  cancelled: boolean;
}

export interface StateRequest {
  prompt: string;
  response: string;
  reference?: string;
}

/** What the model has of one response inside it: a vector per named reading. */
export interface StateRecord {
  /** States of one model say nothing to a readout of another. */
  model: ModelIdentity;
  /** The layer whose output it is, counted from 1: the middle one of the model. */
  layer: number;
  width: number;
  /** Its mean over the response's tokens, as a judgement by the overall rubric reads them; `width` numbers. */
  mean: Float32Array;
  /** That of the last token of the whole prompt; `width` numbers. */
  last: Float32Array;
  /** Where the response was cut, the mean is over what is left of it. */
  truncations: Truncation[];
}

export interface ReadoutExample {
  /** `mean` and `last` of a `StateRecord`, one after the other. */
  state: Float32Array;
  /** The model's own score of the response, in the unit of the labels; null where it has none. */
  own: number | null;
  label: number;
  /** Examples of one group are never on both sides of a fold: the prompt. */
  group: string;
}

export interface FitRequest {
  /** At least 4; a warning says so below 12. */
  examples: ReadoutExample[];
  /** That of the `StateRecord`s. */
  layer: number;
  /** Whose states they are: kept in the readout. */
  model?: ModelIdentity;
  /** Range of the labels. */
  min: number;
  max: number;
  seed: number;
  /** 5 where it is absent; fewer where there are fewer groups. */
  folds?: number;
}

/** A fitted readout: plain JSON, so that it can be saved and carried elsewhere. */
export interface Readout {
  format: "retort.readout/1";
  version: string;
  /** Whose states it reads; those of another model say nothing to it. */
  model?: ModelIdentity;
  layer: number;
  /** That of a `StateRecord`: a state has 2 × `width` numbers. */
  width: number;
  min: number;
  max: number;
  /** Of the standardized state, 1 + 2 × `width` numbers; the intercept comes first. */
  weights: number[];
  /** By which a state is standardized, 2 × `width` numbers each. */
  mean: number[];
  deviation: number[];
  /** Penalty that cross-validation chose. */
  lambda: number;
  /** Share of the readout in the blend with the model's own (linearly fitted) score: 0 own alone, 1 readout alone. */
  blend: number;
  own: { slope: number; intercept: number } | null;
  /** What the blend is put through, since a mean of two cautious predictions is too cautious. */
  stretch: { slope: number; intercept: number };
  seed: number;
  n: number;
  groups: number;
  /** How the own score agrees with the labels, fitted by a straight line to other groups; null where no example has one. */
  before: Agreement | null;
  /** How the readout agrees with them, fitted with penalty and blend to other groups. */
  after: Agreement;
  /**
   * Whether what the model alone reaches is clearly exceeded: the interval of `gain` is above 0 (without own scores that of
   * `after.spearman`). Never with fewer than 12 examples or 3 groups.
   */
  helps: boolean;
  /** Spearman's rho, after less before, with its interval; a rho of `before` below 0 counts as 0. */
  gain: Estimate;
  /** Sentences for people: too few examples or prompts, no gain, labels that are all alike, scores that are missing. */
  warnings: string[];
}
