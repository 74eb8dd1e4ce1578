/** What a batch is, as it is kept. */
import type { Ticked } from "../../own-rubrics";
import type { Annotation, ColumnRole, EngineInfo, JudgeRecord, RewardRecord, Rubric, Table, TableRow } from "../../types";

/** Which column has which part; a part without a column is not there. */
export type Mapping = Partial<Record<ColumnRole, string>>;

/** Which skills a row is judged by: the twelve, those that its prompt asks for, or the ones that were ticked. */
export type SkillScope = "all" | "needed" | "own";

export interface Settings {
  mapping: Mapping;
  scope: SkillScope;
  /** Ids of the ticked rubrics; they count where the scope is "own". */
  own: string[];
  /** Whether one overall score is asked for besides. */
  overall: boolean;
  /** Whether each row is also checked by the list that its prompt asks for. */
  checklist: boolean;
  /** Ticked files of the library; batches of earlier versions have none. */
  ticked?: Ticked;
  /** Columns with a person's score of one skill, by the rubric's id: what a person chose, "" for none; the rest is guessed. */
  human_by_skill: Record<string, string>;
  /** Whether each judgement goes into the history too. */
  keep: boolean;
}

/** What results depend on: those of another model, adapter or rubric are never mixed with these (P31). */
export interface Identity {
  engine: string;
  model: string;
  adapter: string;
  /** How the model is asked: by options, by its own head, or in which form it writes. */
  asked: string;
  rubrics: string;
}

/** What is asked of every row. A model with a head of its own is asked nothing else, and then there are no rubrics. */
export interface Asks {
  /** As they were when the batch began, a person's own too: a batch that goes on asks the same, whatever became of the library. */
  rubrics: Rubric[];
  /** Batches of earlier versions have none. */
  head?: NonNullable<EngineInfo["model"]["head"]>;
}

export interface BatchHead extends Asks {
  id: string;
  at: number;
  /** The file's name. */
  name: string;
  table: Omit<Table, "rows">;
  rows: number;
  settings: Settings;
  /** Null until it begins. */
  identity: Identity | null;
  /** Rows that have a result. */
  done: number;
  /** How often the engine died on a row, by its place: one that does it again is not tried a third time. */
  crashes: Record<number, number>;
  bytes: number;
}

export interface BatchChunk {
  batch: string;
  chunk: number;
  rows: TableRow[];
}

/** How one row came out. */
export type Outcome =
  | { kind: "judged"; record: JudgeRecord }
  /** What the model's own head gives. */
  | { kind: "rewarded"; record: RewardRecord }
  /** It could not be judged at all; `message` says why. */
  | { kind: "failed"; code: string; message: string };

export interface BatchResult {
  batch: string;
  /** The row's place in the file, counted from 0. */
  index: number;
  outcome: Outcome;
  annotation: Annotation | null;
  /** How long it took; null where nothing was asked. */
  ms: number | null;
}
