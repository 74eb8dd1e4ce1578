/** One batch on its way: reads a file, judges row by row, keeps every result as it comes, goes on where it stopped. */
import { signal } from "@preact/signals";
import type { EngineClient } from "../../engine";
import { incognito, keep, newId } from "../../history";
import { chosenOf, isSkill } from "../../own-rubrics";
import { shelf } from "../../shelf";
import { StoreError, tell, troubleOf } from "../../store";
import { batchText as words } from "../../text/batch";
import type { Annotation, EngineInfo, JudgeRecord, JudgeRequest, RewardRecord, Rubric, Table, TableRow } from "../../types";
import type { Failure } from "../../worker/protocol";
import { timeLeft, type Load } from "./estimate";
import { profileOf } from "../../profile";
import { askedToday, differences, identityOf } from "./identity";
import { annotationIn, cell, columnsKey, mappingOf, merged } from "./mapping";
import { lineOf, outcomeOf, OVERALL, waitingLine, type Line } from "./rows";
import { changeHead, create, open, putHead, putResult, removeResults, resultOf, results } from "./store";
import type { Asks, BatchHead, BatchResult, Identity, Mapping, Outcome, Settings } from "./types";

/** A file that was read and not begun. */
export interface Draft {
  name: string;
  bytes: number;
  table: Table;
}

export type Phase = "idle" | "running" | "pausing" | "cancelling";

/** Why a batch stands still before its end. */
export type Stop =
  | { kind: "paused" | "cancelled" | "not_ready" | "elsewhere" }
  /** Another judge than the one that it began with. */
  | { kind: "differs"; parts: (keyof Identity)[] }
  | { kind: "engine"; index: number; message: string };

/** After these nothing more can be asked; the row was not at fault, or nobody knows. */
const ENGINE_GONE = ["worker_died", "engine_crashed", "out_of_memory"];
/** A row on which the engine died so often is not tried again. */
const MOST_CRASHES = 2;
/** The table is drawn no more often than this while rows come in. */
const SHOW_EVERY_MS = 300;
const MAPPING_KEY = "retort.batch-columns";
const MOST_REMEMBERED = 30;

function isFailure(thrown: unknown): thrown is Failure {
  return typeof thrown === "object" && thrown !== null && "code" in thrown && "message" in thrown;
}

/** Files of one kind, what their columns are for, and which of them hold a person's score of one rubric. */
type Remembered = [key: string, mapping: Mapping, human_by_skill?: Record<string, string>];

function recallMappings(): Remembered[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(MAPPING_KEY) ?? "[]");
    return Array.isArray(list) ? (list as Remembered[]).filter((one) => Array.isArray(one) && typeof one[0] === "string" && typeof one[1] === "object" && one[1] !== null) : [];
  } catch {
    return [];
  }
}

function rememberMapping(columns: string[], { mapping, human_by_skill }: Settings): void {
  if (incognito.value) return;
  const key = columnsKey(columns);
  try {
    localStorage.setItem(MAPPING_KEY, JSON.stringify([[key, mapping, human_by_skill], ...recallMappings().filter(([other]) => other !== key)].slice(0, MOST_REMEMBERED)));
  } catch {
    // The next file like this one begins with what its columns suggest.
  }
}

export class Batch {
  readonly draft = signal<Draft | null>(null);
  readonly settings = signal<Settings | null>(null);
  readonly head = signal<BatchHead | null>(null);
  readonly lines = signal<Line[]>([]);
  readonly phase = signal<Phase>("idle");
  readonly stop = signal<Stop | null>(null);
  /** Where results are only in memory: why. */
  readonly unkept = signal<StoreError | "incognito" | null>(null);
  /** What could not be read or done, in words. */
  readonly problem = signal<string | null>(null);
  readonly reading = signal(false);
  /** Milliseconds; null before it is known. */
  readonly left = signal<number | null>(null);
  /** The row that is being judged. */
  readonly at = signal<number | null>(null);
  rows: TableRow[] = [];
  #lines: Line[] = [];
  #memory = new Map<number, BatchResult>();
  #abort: AbortController | null = null;
  #measured: (Load & { ms: number })[] = [];
  #shown = 0;
  #later: ReturnType<typeof setTimeout> | null = null;
  #asked = 0;

  constructor(private readonly engine: EngineClient) {}

  get busy(): boolean {
    return this.phase.value !== "idle";
  }

  /** Reads a file; what was open before stays in the store. */
  async read(file: File): Promise<void> {
    if (this.busy || this.reading.value) return;
    const turn = ++this.#asked;
    this.problem.value = null;
    this.reading.value = true;
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const table = await this.engine.call("read_table", { bytes, name: file.name }).answer;
      if (turn !== this.#asked) return;
      this.close();
      this.draft.value = { name: file.name, bytes: file.size, table };
      const [, remembered = null, human_by_skill = {}] = recallMappings().find(([key]) => key === columnsKey(table.columns)) ?? [];
      this.settings.value = {
        mapping: mappingOf(table, remembered),
        scope: "all",
        own: this.engine.state.value.builtin.map(({ id }) => id),
        ticked: {},
        overall: false,
        checklist: false,
        human_by_skill,
        keep: true,
      };
    } catch (thrown) {
      this.problem.value = isFailure(thrown) ? thrown.message : String(thrown);
    } finally {
      this.reading.value = false;
    }
  }

  change(what: Partial<Settings>): void {
    if (this.settings.value) this.settings.value = { ...this.settings.value, ...what };
  }

  /** The rubrics that the settings ask for; of "needed" all that a row may need. */
  rubricsOf({ scope, own, overall, ticked = {} }: Settings): Rubric[] {
    const { builtin, overall: whole } = this.engine.state.value;
    const skills = scope === "own" ? builtin.filter(({ id }) => own.includes(id)) : builtin;
    return [...skills, ...chosenOf(shelf.value, ticked, [...builtin.map(({ id }) => id), OVERALL]), ...(overall && whole ? [whole] : [])];
  }

  /** What a batch with these settings would ask of each row: of a model with a head of its own that, and nothing else. */
  asksOf(settings: Settings): Asks {
    const { model } = this.engine.state.value;
    const head = model.phase === "ready" ? model.info.model.head : null;
    return head === null ? { rubrics: this.rubricsOf(settings) } : { rubrics: [], head };
  }

  #profile(): string {
    return profileOf(this.engine.state.value) ?? "options";
  }

  /** Begins with the file that was read. */
  async begin(): Promise<void> {
    const [draft, settings, info] = [this.draft.value, this.settings.value, this.#info()];
    if (!draft || !settings || this.busy) return;
    if (!info) return void (this.stop.value = { kind: "not_ready" });
    rememberMapping(draft.table.columns, settings);
    const at = Date.now();
    const asks = this.asksOf(settings);
    const { rows, ...table } = draft.table;
    const head: BatchHead = {
      id: newId(at), at, name: draft.name, table, rows: rows.length, settings: asks.head ? { ...settings, overall: false, checklist: false } : settings, ...asks,
      identity: identityOf(info, this.#profile(), this.engine.state.value.version ?? "", asks.rubrics), done: 0, crashes: {}, bytes: draft.bytes,
    };
    this.close();
    this.#take(head, rows);
    if (incognito.value) this.unkept.value = "incognito";
    else await create(head, rows).catch((thrown: unknown) => (this.unkept.value = troubleOf(thrown)));
    await this.run();
  }

  /** Opens a batch that is in the store. */
  async open(id: string): Promise<void> {
    if (this.busy) return;
    const turn = ++this.#asked;
    this.problem.value = null;
    try {
      const found = await open(id);
      if (turn !== this.#asked) return;
      if (!found) return void (this.problem.value = words.gone);
      const lines = found.rows.map((_, index) => waitingLine(index, found.head));
      let done = 0;
      for await (const piece of results(id)) {
        for (const result of piece) {
          if (lines[result.index] === undefined) continue;
          lines[result.index] = lineOf(result, found.head);
          done += 1;
        }
        if (turn !== this.#asked) return;
      }
      this.close();
      this.#take({ ...found.head, done }, found.rows, lines);
      this.#estimate();
    } catch (thrown) {
      const { trouble, message } = troubleOf(thrown);
      this.problem.value = words.trouble(trouble, message);
    }
  }

  /** The same file and settings again, with nothing judged. */
  again(): void {
    const head = this.head.value;
    if (!head || this.busy) return;
    const { rows } = this;
    this.close();
    this.draft.value = { name: head.name, bytes: head.bytes, table: { ...head.table, rows } };
    this.settings.value = head.settings;
  }

  close(): void {
    if (this.busy) return;
    this.#asked += 1;
    this.head.value = null;
    this.draft.value = null;
    this.settings.value = null;
    this.rows = [];
    this.#lines = [];
    this.lines.value = [];
    this.#memory.clear();
    this.#measured = [];
    this.stop.value = null;
    this.unkept.value = null;
    this.left.value = null;
  }

  /** Judges what has no result yet. */
  async run(): Promise<void> {
    const head = this.head.value;
    if (!head || this.busy) return;
    this.stop.value = null;
    this.phase.value = "running";
    const lock = `retort.batch.${head.id}`;
    try {
      // Two tabs would judge the same rows. Browsers without locks, and pages without them, go unguarded.
      if (navigator.locks) {
        await navigator.locks.request(lock, { ifAvailable: true }, async (got) => {
          if (got === null) this.stop.value = { kind: "elsewhere" };
          else await this.#rowsInTurn();
        });
      } else await this.#rowsInTurn();
    } finally {
      this.phase.value = "idle";
      this.at.value = null;
      this.#abort = null;
      this.#show(true);
      tell("batches");
    }
  }

  /** Stops after the row that is being judged. */
  pause(): void {
    if (this.phase.value === "running") this.phase.value = "pausing";
  }

  /** Stops at once; the row that is being judged is judged again when the batch goes on. */
  cancel(): void {
    if (!this.busy) return;
    this.phase.value = "cancelling";
    this.#abort?.abort();
  }

  /** Forgets what failed, so that it is tried again. */
  async retryFailed(): Promise<void> {
    const head = this.head.value;
    if (!head || this.busy) return;
    const failed = this.#lines.filter(({ state }) => state === "failed").map(({ index }) => index);
    const next = { ...head, done: head.done - failed.length, crashes: {} };
    if (this.unkept.value === null) {
      try {
        await removeResults(next, failed);
      } catch (thrown) {
        this.unkept.value = troubleOf(thrown);
      }
    }
    for (const index of failed) {
      this.#memory.delete(index);
      this.#lines[index] = waitingLine(index, head);
    }
    this.head.value = next;
    await this.run();
  }

  /** Says anew which columns hold a person's scores; nothing is judged again for it. */
  async mapHuman(human: string | undefined, human_by_skill: Record<string, string>): Promise<void> {
    const head = this.head.value;
    if (!head) return;
    const { human: _, ...others } = head.settings.mapping;
    this.head.value = { ...head, settings: { ...head.settings, mapping: { ...others, ...(human !== undefined && { human }) }, human_by_skill } };
    if (this.unkept.value === null && !incognito.value) await changeHead(this.head.value).catch((thrown: unknown) => (this.unkept.value = troubleOf(thrown)));
  }

  /** The record of one row, from memory or from the store. */
  async result(index: number): Promise<BatchResult | null> {
    const head = this.head.value;
    return this.#memory.get(index) ?? (head === null ? null : await resultOf(head.id, index).catch(() => null));
  }

  /** Every record that there is, in the file's order. */
  async *records(): AsyncGenerator<{ index: number; record: JudgeRecord | RewardRecord }> {
    const head = this.head.value;
    if (!head) return;
    const recordOf = ({ index, outcome }: BatchResult) => (outcome.kind === "failed" ? [] : [{ index, record: outcome.record }]);
    const rest = [...this.#memory.keys()].sort((a, b) => a - b);
    if (this.unkept.value !== "incognito" || rest.length < head.done) {
      for await (const piece of results(head.id)) {
        for (const result of piece) {
          while (rest[0] !== undefined && rest[0] < result.index) yield* recordOf(this.#memory.get(rest.shift()!)!);
          yield* recordOf(result);
        }
      }
    }
    for (const index of rest) yield* recordOf(this.#memory.get(index)!);
  }

  values(index: number): (string | null)[] {
    return this.rows[index]?.values ?? [];
  }

  cell(index: number, column: string | undefined): string | null {
    return cell(this.head.value?.table.columns ?? [], this.values(index), column);
  }

  #take(head: BatchHead, rows: TableRow[], lines = rows.map((_, index) => waitingLine(index, head))): void {
    this.rows = rows;
    this.#lines = lines;
    this.lines.value = [...lines];
    this.head.value = head;
  }

  #info(): EngineInfo | null {
    const { model } = this.engine.state.value;
    return model.phase === "ready" ? { ...model.info, adapter: this.engine.state.value.adapter.applied } : null;
  }

  #differs(head: BatchHead, info: EngineInfo): (keyof Identity)[] {
    const { builtin, overall } = this.engine.state.value;
    const today = askedToday(head.rubrics, [...builtin, ...(overall ? [overall] : [])]);
    return head.identity === null ? [] : differences(head.identity, identityOf(info, this.#profile(), this.engine.state.value.version ?? "", today));
  }

  async #rowsInTurn(): Promise<void> {
    for (let index = 0; index < this.#lines.length; index++) {
      if (this.#lines[index]!.state !== "waiting") continue;
      if (this.phase.value !== "running") {
        this.stop.value = { kind: this.phase.value === "cancelling" ? "cancelled" : "paused" };
        return;
      }
      const info = this.#info();
      if (!info) return void (this.stop.value = this.#absent(index));
      const parts = this.#differs(this.head.value!, info);
      if (parts.length > 0) return void (this.stop.value = { kind: "differs", parts });
      this.at.value = index;
      const stop = await this.#row(index, info);
      if (stop) return void (this.stop.value = stop);
    }
  }

  async #row(index: number, info: EngineInfo): Promise<Stop | null> {
    const started = performance.now();
    let asked: Asked | null = null;
    let outcome: Outcome;
    try {
      const ready = await this.#request(index);
      if ("missing" in ready) outcome = { kind: "failed", code: "no_text", message: words.missing[ready.missing] };
      else {
        asked = ready;
        this.#abort = new AbortController();
        if (this.phase.value === "cancelling") return { kind: "cancelled" };
        const record = await this.#ask(asked.request, this.#abort.signal);
        if (record.cancelled) return { kind: "cancelled" };
        // A model that was changed while the row waited its turn.
        if (record.model.name !== info.model.name || record.model.sha256 !== info.model.sha256) return { kind: "differs", parts: ["model"] };
        if ((record.model.adapter?.name ?? null) !== (info.adapter?.name ?? null)) return { kind: "differs", parts: ["adapter"] };
        outcome = outcomeOf(record);
      }
    } catch (thrown) {
      const failure = isFailure(thrown) ? thrown : { code: "failed", message: String(thrown) };
      if (failure.code === "cancelled") return { kind: "cancelled" };
      if (failure.code === "not_ready") return this.#absent(index);
      // As above, and the other one has a head where this one had none, or none.
      if (failure.code === "only_head" || failure.code === "no_head") return { kind: "differs", parts: ["model"] };
      if (ENGINE_GONE.includes(failure.code)) {
        const gone = await this.#crashed(index, failure);
        if (gone) return gone;
        outcome = { kind: "failed", code: failure.code, message: words.crashedTwice };
        await this.#finish({ batch: this.head.value!.id, index, outcome, annotation: null, ms: null });
        return { kind: "engine", index, message: failure.message };
      }
      outcome = { kind: "failed", code: failure.code, message: failure.message };
    }
    const ms = asked === null ? null : Math.round(performance.now() - started);
    await this.#finish({ batch: this.head.value!.id, index, outcome, annotation: asked?.annotation ?? null, ms });
    if (asked && outcome.kind !== "failed") {
      this.#measured.push({ ...this.#load(index), questions: this.#lines[index]!.questions, ms: ms ?? 0 });
      if (this.head.value!.settings.keep) {
        const { prompt, response, reference = null } = asked.request;
        void keep(outcome.kind === "judged"
          ? { kind: "judgement", prompt, response, reference, record: outcome.record }
          : { kind: "rewards", prompt, responses: [response], reference: null, record: outcome.record });
      }
    }
    this.#estimate();
    return null;
  }

  #ask(request: JudgeRequest, signal: AbortSignal): Promise<JudgeRecord | RewardRecord> {
    if (!this.head.value!.head) return this.engine.judgeApart(request, { signal });
    const { answer, cancel } = this.engine.call("reward", { prompt: request.prompt, responses: [request.response] });
    signal.addEventListener("abort", cancel);
    return answer;
  }

  /** Why there is no model: an engine that died between two rows is no row's fault, but the person is told what happened. */
  #absent(index: number): Stop {
    const { error } = this.engine.state.value;
    return error?.place === "engine" ? { kind: "engine", index, message: error.failure.message } : { kind: "not_ready" };
  }

  /** Counts it, so that a row that kills the engine again and again does not hold up the rest. */
  async #crashed(index: number, { message }: Failure): Promise<Stop | null> {
    const head = this.head.value!;
    const crashes = { ...head.crashes, [index]: (head.crashes[index] ?? 0) + 1 };
    this.head.value = { ...head, crashes };
    if (this.unkept.value === null) await putHead(this.head.value).catch((thrown: unknown) => (this.unkept.value = troubleOf(thrown)));
    return crashes[index]! >= MOST_CRASHES ? null : { kind: "engine", index, message };
  }

  async #request(index: number): Promise<Asked | { missing: "prompt" | "response" }> {
    const head = this.head.value!;
    const { mapping, scope, checklist: wanted } = head.settings;
    const text = (role: keyof Mapping) => this.cell(index, mapping[role]) ?? "";
    const [own, response, reference, system] = [text("prompt"), text("response"), text("reference"), text("system")];
    if (own.trim() === "") return { missing: "prompt" };
    if (response.trim() === "") return { missing: "response" };
    const prompt = system.trim() === "" ? own : `${system}\n\n${own}`;
    if (head.head) return { request: { prompt, response, rubrics: [] }, annotation: null };
    const { vocabulary } = this.engine.state.value;
    const file = vocabulary ? annotationIn(head.table.columns, this.values(index), mapping, vocabulary) : null;
    const annotation = merged(file, (await this.engine.call("annotate", { instruction: prompt }).answer).annotation);
    const needed = scope === "needed" ? head.rubrics.filter(({ id }) => !isSkill(id) || annotation?.skills.includes(id)) : head.rubrics;
    // A prompt that shows no skill is judged by all: better than by none.
    const rubrics = needed.some(({ id }) => isSkill(id)) ? needed : head.rubrics;
    const given = reference.trim() === "" ? {} : { reference };
    const checklist = wanted ? await this.engine.call("generate_checklist", { instruction: prompt, ...given, skills: [], form: "full" }).answer : null;
    const request: JudgeRequest = {
      prompt, response, ...given, rubrics, ...(checklist && checklist.items.length > 0 && { checklist }), ...(annotation && { annotation }),
    };
    return { request, annotation };
  }

  async #finish(result: BatchResult): Promise<void> {
    const head = { ...this.head.value!, done: this.head.value!.done + 1 };
    this.head.value = head;
    this.#lines[result.index] = lineOf(result, head);
    if (this.unkept.value === null && incognito.value) this.unkept.value = "incognito";
    if (this.unkept.value === null) {
      try {
        await putResult(head, result);
      } catch (thrown) {
        this.unkept.value = troubleOf(thrown);
      }
    }
    if (this.unkept.value !== null) this.#memory.set(result.index, result);
    this.#show(false);
  }

  #load(index: number): Load {
    const { mapping } = this.head.value!.settings;
    const characters = (["prompt", "response", "reference", "system"] as const).reduce((sum, role) => sum + (this.cell(index, mapping[role])?.length ?? 0), 0);
    return { characters, questions: 0 };
  }

  #estimate(): void {
    const head = this.head.value;
    if (!head) return;
    if (this.#measured.length === 0) {
      // After a reload what earlier rows took is still known.
      this.#measured = this.#lines.flatMap((line) => (line.ms === null || line.questions === 0 ? [] : [{ ...this.#load(line.index), questions: line.questions, ms: line.ms }])).slice(-50);
    }
    const latest = this.#measured.slice(-50);
    const questions = latest.reduce((sum, one) => sum + one.questions, 0) / Math.max(1, latest.length);
    const rest = this.#lines.flatMap((line) => (line.state === "waiting" ? [{ ...this.#load(line.index), questions }] : []));
    this.left.value = timeLeft(latest, rest);
  }

  #show(now: boolean): void {
    const due = this.#shown + SHOW_EVERY_MS - performance.now();
    if (this.#later !== null) {
      if (!now) return;
      clearTimeout(this.#later);
      this.#later = null;
    }
    const show = () => {
      this.#later = null;
      this.#shown = performance.now();
      this.lines.value = [...this.#lines];
    };
    if (now || due <= 0) show();
    else this.#later = setTimeout(show, due);
  }
}

interface Asked {
  request: JudgeRequest;
  annotation: Annotation | null;
}
