/** Keeps the annotation and the checklist in step with the texts: asks the engine a moment after typing has stopped. */
import { effect, signal, type Signal } from "@preact/signals";
import { NOTHING_ASKED, reduceAsks, sentItems, type AskAction, type Asks, type Texts } from "./asks";
import type { Asked, EngineClient } from "./engine";
import { announcement } from "./live";
import { saveText } from "./save";
import { text } from "./text";
import type { Annotation, Checklist, ChecklistItem, SkillId } from "./types";
import type { Failure, ModelCall } from "./worker/protocol";

/** How long typing must have stopped. */
const PAUSE_MS = 400;

export interface Modes {
  skills: boolean;
  checklist: boolean;
  hard: boolean;
  overall: boolean;
}

/** What is being asked of the model, with how much of it is done. */
export interface AskingModel {
  name: ModelCall["name"];
  done: number;
  total: number;
}

export class Reading {
  readonly asks: Signal<Asks> = signal(NOTHING_ASKED);
  readonly modes: Signal<Modes> = signal({ skills: true, checklist: false, hard: false, overall: false });
  /** Known at once, where `asks.texts` comes after the pause. */
  readonly has: Signal<{ prompt: boolean; reference: boolean }> = signal({ prompt: false, reference: false });
  /** What went wrong last, a line each; and of which file or question. */
  readonly problem: Signal<{ about: "read" | "open" | "save" | "model"; messages: string[] } | null> = signal(null);
  /** What should be known about the last file, though it was read. */
  readonly warnings: Signal<string[]> = signal([]);
  readonly asking: Signal<AskingModel | null> = signal(null);

  #read: (() => Texts) | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** A later read makes an earlier one's answer worthless; so does a later list. */
  #reads = 0;
  #lists = 0;
  #now: Promise<void> = Promise.resolve();
  #model_call: Asked<ModelCall["name"]> | null = null;

  constructor(private readonly engine: EngineClient) {
    let seen: unknown = null;
    effect(() => {
      const { vocabulary } = engine.state.value;
      // A worker that has just started, perhaps in place of one that died before it answered.
      if (vocabulary === seen) return;
      seen = vocabulary;
      this.#schedule(0);
    });
  }

  /** The texts changed. They are read after the pause, and not on every key: they may be very long. */
  touched(read: () => Texts): void {
    this.#read = read;
    this.#schedule(PAUSE_MS);
  }

  /** Once the annotation and the list belong to the texts as they are now. */
  async settled(): Promise<void> {
    await this.#started();
    if (this.#timer !== null) this.#run(false);
    await this.#now;
  }

  dispatch(action: AskAction): void {
    this.asks.value = reduceAsks(this.asks.value, action);
  }

  /** A person's choice; the list depends on the skills. */
  annotate(annotation: Annotation): void {
    const skills = this.asks.value.annotation?.skills.join();
    this.dispatch({ type: "annotated", annotation: { ...annotation, by: "person" } });
    if (annotation.skills.join() !== skills) this.#generateSoon(false);
  }

  setModes(change: Partial<Modes>): void {
    const before = this.modes.value;
    this.modes.value = { ...before, ...change };
    if (before.hard !== this.modes.value.hard) this.#generateSoon(false);
  }

  readAgain(): void {
    this.#run(true);
  }

  generateAnew(): void {
    this.#generateSoon(true);
  }

  /** What a judgement is to look for now; null for nothing. */
  sent(): Checklist | null {
    const { checklist, hard } = this.modes.value;
    const { items, name } = this.asks.value;
    const sent = sentItems(items, { checklist, hard: hard && this.has.value.reference });
    return sent.length === 0 ? null : named(name, sent);
  }

  addOwn(): string {
    const taken = new Set(this.asks.value.items.map(({ item }) => item.id));
    let n = 1;
    while (taken.has(`own-${n}`)) n += 1;
    this.dispatch({ type: "items_added", items: [{ id: `own-${n}`, question: "", origin: "person" }] });
    return `own-${n}`;
  }

  async open(file: File): Promise<void> {
    this.warnings.value = [];
    try {
      const { checklist, warnings } = await this.engine.call("read_checklist", { text: await file.text(), name: file.name }).answer;
      this.dispatch({ type: "opened", checklist, name: file.name });
      this.setModes({
        checklist: this.modes.value.checklist || checklist.items.some((item) => item.answer !== "one_to_five"),
        hard: this.modes.value.hard || checklist.items.some((item) => item.answer === "one_to_five"),
      });
      this.warnings.value = warnings;
      this.problem.value = null;
      announcement.value = text.checklist.opened(checklist.items.length, file.name);
    } catch (thrown) {
      this.#failed("open", thrown);
    }
  }

  /** Saves what is on, and only that: whoever opens the file gets what was judged. */
  async save(): Promise<void> {
    const { name } = this.asks.value;
    const items = this.asks.value.items.filter(({ on, item }) => on && item.question.trim() !== "").map(({ item }) => item);
    const checklist = named(name, items);
    try {
      const source = await this.engine.call("write_checklist", { checklist, format: "toml" }).answer;
      saveText(text.checklist.fileName, source, "application/toml");
      this.problem.value = null;
      announcement.value = text.results.downloaded(text.checklist.fileName);
    } catch (thrown) {
      this.#failed("save", thrown);
    }
  }

  async askAnnotation(): Promise<void> {
    const instruction = this.#read?.().prompt ?? "";
    const record = await this.#ask("ask_annotation", { instruction, with_words: true });
    // Half an answer, or the answer to another prompt, is none.
    if (!record || record.by_model?.["cancelled"] === true || this.#read?.().prompt !== instruction) return;
    this.dispatch({ type: "annotated", annotation: record.annotation });
    announcement.value = text.asks.modelAnnotated;
    this.#generateSoon(false);
  }

  async askItems(): Promise<void> {
    const texts = this.#read?.() ?? { prompt: "", reference: "" };
    const { annotation, items } = this.asks.value;
    const written = await this.#ask("ask_items", {
      instruction: texts.prompt,
      ...(texts.reference.trim() !== "" && { reference: texts.reference }),
      // The writer writes for skills; every prompt wants to be understood.
      skills: annotation?.skills.length ? annotation.skills : ["comprehension"],
      existing: items.map(({ item }) => item),
    });
    if (!written) return;
    if (written.items.length > 0) this.dispatch({ type: "items_added", items: written.items });
    const messages = [
      ...(written.failure === null ? [] : [written.failure]),
      ...written.notices,
      ...written.dropped.map(text.checklist.dropped),
    ];
    this.problem.value = messages.length === 0 ? null : { about: "model", messages };
    announcement.value = text.checklist.written(written.items.length);
  }

  cancelAsking(): void {
    this.#model_call?.cancel();
  }

  async #ask<Name extends ModelCall["name"]>(name: Name, give: Extract<ModelCall, { name: Name }>["give"]) {
    if (this.asking.value) return null;
    this.asking.value = { name, done: 0, total: 0 };
    this.problem.value = null;
    const asked = this.engine.call(name, give as never, (done, total) => (this.asking.value = { name, done, total }));
    this.#model_call = asked as unknown as Asked<ModelCall["name"]>;
    try {
      return await asked.answer;
    } catch (thrown) {
      if ((thrown as Failure).code !== "cancelled") this.#failed("model", thrown);
      return null;
    } finally {
      this.asking.value = null;
      this.#model_call = null;
    }
  }

  /** Once the engine can be asked, or it is known that it cannot. */
  #started(): Promise<void> {
    return new Promise((resolve) => {
      const stop = effect(() => {
        const { vocabulary, model } = this.engine.state.value;
        if (vocabulary === null && model.phase !== "none") return;
        resolve();
        queueMicrotask(() => stop());
      });
    });
  }

  #schedule(milliseconds: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#run(false), milliseconds);
  }

  #run(again: boolean): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const texts = this.#read?.();
    if (!texts || this.engine.state.value.vocabulary === null) return;
    const turn = ++this.#reads;
    this.#now = (async () => {
      try {
        const annotated = await this.engine.call("annotate", { instruction: texts.prompt }).answer;
        if (turn !== this.#reads) return;
        this.dispatch({ type: "read", texts, annotated, again });
        await this.#generate(false);
      } catch (thrown) {
        if (turn === this.#reads) this.#failed("read", thrown);
      }
    })();
  }

  #generateSoon(anew: boolean): void {
    if (this.#timer !== null) {
      // The pause is not over: the texts are read first, and the list is made of them.
      this.#run(false);
      if (!anew) return;
    }
    const before = this.#now;
    this.#now = (async () => {
      await before;
      try {
        await this.#generate(anew);
      } catch (thrown) {
        this.#failed("read", thrown);
      }
    })();
  }

  async #generate(anew: boolean): Promise<void> {
    const turn = ++this.#lists;
    const { texts, annotation } = this.asks.value;
    if (texts === null) return;
    const skills = annotation?.skills ?? [];
    const forms = this.modes.value.hard && texts.reference.trim() !== "" ? (["full", "hard"] as const) : (["full"] as const);
    // Nothing is asked by no words.
    const lists = texts.prompt.trim() === ""
      ? []
      : await Promise.all(forms.map((form) => this.engine.call("generate_checklist", requestOf(texts, skills, form)).answer));
    if (turn !== this.#lists) return;
    const were = this.asks.value.items.length;
    this.dispatch({ type: "generated", items: lists.flatMap((list) => list.items), anew });
    const are = this.asks.value.items.length;
    // Told when a list appears, and not with every word that is typed.
    if (anew || (were === 0 && are > 0)) announcement.value = text.checklist.generated(are);
    if (this.problem.value?.about === "read") this.problem.value = null;
  }

  #failed(about: "read" | "open" | "save" | "model", thrown: unknown): void {
    const failure = thrown as Failure;
    // The page says already that the worker died, and a new one reads again.
    if (about === "read" && ["worker_died", "engine_missing"].includes(failure.code)) return;
    this.problem.value = { about, messages: failure.message.split("\n").filter((line) => line.trim() !== "") };
  }
}

function named(name: string | null, items: ChecklistItem[]): Checklist {
  return { ...(name !== null && { name }), items };
}

function requestOf({ prompt, reference }: Texts, skills: SkillId[], form: "full" | "hard") {
  return { instruction: prompt, ...(reference.trim() !== "" && { reference }), skills, form };
}
