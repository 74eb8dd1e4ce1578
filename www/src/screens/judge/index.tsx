import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { keep } from "../../history";
import { announcement } from "../../live";
import { library, wanted } from "../../library";
import { chosenOf, isSkill, withOwn, withTick, type Ticked } from "../../own-rubrics";
import { Reading } from "../../reading";
import { profileOf } from "../../profile";
import { Rewards } from "../../rewards";
import { shelf } from "../../shelf";
import { ownFiles } from "../../state";
import { text } from "../../text";
import { rewardsText } from "../../text/rewards";
import { rubricsText } from "../../text/rubrics";
import type { JudgeRequest, Rubric } from "../../types";
import { AsksPanel } from "../../ui/asks";
import { useDrop } from "../../ui/drop";
import { Inputs, type InputsHandle } from "../../ui/inputs";
import { ModelPanel } from "../../ui/model";
import { RewardsCard } from "../../ui/rewards";
import { Results } from "../../ui/results";
import { SkillsPanel, type Scope } from "../../ui/skills";
import type { ScreenProps } from "..";
import { Applied } from "../calibrate/applied";
import { formatOf } from "../rubrics/draft";
import "./style.css";

/** Typing has paused. */
const READ_AHEAD_AFTER_MS = 1000;

/** One prompt, one response: what is good and bad about it. */
export default function Judge({ engine, active }: ScreenProps) {
  const state = engine.state;
  const reading = useMemo(() => new Reading(engine), []);
  const rewards = useMemo(() => new Rewards(engine), []);
  /** The loaded model has a head of its own, which reads no rubrics. */
  const byHead = useComputed(() => profileOf(state.value) === "head");
  const custom = useSignal<Rubric[]>([]);
  /** Ids that were switched off, so that rubrics which arrive later are on. */
  const off = useSignal<ReadonlySet<string>>(new Set());
  const scope = useSignal<Scope>("all");
  const ticked = useSignal<Ticked>({});
  const inputs = useRef<InputsHandle>(null);
  /** What was asked for last, and of which run it became known to be the question. */
  const sent = useRef<JudgeRequest | null>(null);
  const asked = useSignal<{ run_id: number; request: JudgeRequest } | null>(null);
  const kept = useRef<number | null>(null);
  const builtin = useComputed(() => state.value.builtin);
  const overall = useComputed(() => state.value.overall);
  const chosen = useComputed(() => {
    const needed = reading.asks.value.annotation?.skills ?? [];
    const isOn = ({ id }: Rubric) => scope.value === "all" || (scope.value === "needed" && isSkill(id) ? needed.includes(id) : !off.value.has(id));
    const all = [...builtin.value, ...custom.value];
    return [...all.filter(isOn), ...chosenOf(shelf.value, ticked.value, [...all, ...(overall.value ? [overall.value] : [])].map(({ id }) => id))];
  });
  const dragging = useDrop(active, (files) => {
    const [list] = files;
    if (files.length === 1 && list && /\.(toml|json)$/i.test(list.name)) return void reading.open(list);
    const source = ownFiles(files);
    if (source) engine.load(source, state.value.backend);
  });

  /** What would be asked of these texts; null where nothing is chosen. */
  const requestOf = (texts: Pick<JudgeRequest, "prompt" | "response" | "reference">): JudgeRequest | null => {
    const { skills, overall } = reading.modes.value;
    const rubrics = [...(skills ? chosen.value : []), ...(overall && state.value.overall ? [state.value.overall] : [])];
    const checklist = reading.sent();
    if (rubrics.length === 0 && checklist === null) return null;
    const { annotation } = reading.asks.value;
    return { ...texts, rubrics, ...(checklist && { checklist }), ...(annotation && { annotation }) };
  };
  const start = (texts: Pick<JudgeRequest, "prompt" | "response" | "reference">) => {
    const request = requestOf(texts);
    if (request === null) {
      announcement.value = text.judge.nothing;
      return;
    }
    sent.current = request;
    engine.judge(request);
  };
  /** While nobody types, the model reads what stands there, so that scores come as soon as they are asked for. */
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  const readAhead = () => {
    clearTimeout(pause.current);
    engine.stopReading();
    pause.current = setTimeout(() => {
      void reading.settled().then(() => {
        const texts = inputs.current?.peek();
        const request = texts && requestOf(texts);
        if (request) engine.readAhead(request);
      });
    }, READ_AHEAD_AFTER_MS);
  };
  useEffect(() => {
    if (active) return;
    clearTimeout(pause.current);
    engine.stopReading();
  }, [active]);
  useSignalEffect(() => {
    const { run } = state.value;
    if (!run) return;
    if (asked.peek()?.run_id !== run.run_id && sent.current) asked.value = { run_id: run.run_id, request: sent.current };
    const request = asked.peek()?.request;
    if (!run.record || !request || kept.current === run.run_id) return;
    kept.current = run.run_id;
    // A run that was cancelled before its first answer says nothing.
    if (run.record.verdicts.length === 0 && (run.record.checklist?.items.length ?? 0) === 0) return;
    void keep({ kind: "judgement", prompt: request.prompt, response: request.response, reference: request.reference ?? null, record: run.record });
  });
  /** Of the run that is shown. It is told apart from the state, which changes many times a second while judging. */
  const question = useComputed(() => (asked.value?.run_id === state.value.run?.run_id ? (asked.value?.request ?? null) : null));
  const ended = useComputed(() => state.value.run?.record != null);
  const judge = () => {
    if (state.value.run?.phase === "running" || state.value.queued) return;
    const texts = inputs.current?.read();
    if (!texts || state.value.model.phase === "none") return;
    if (byHead.value) {
      void rewards.ask({ prompt: texts.prompt, responses: [{ id: rewardsText.alone, text: texts.response }] });
      return;
    }
    // The annotation goes into the record, and the list is made of the prompt: both must be of these texts.
    void reading.settled().then(() => {
      if (state.value.run?.phase !== "running" && !state.value.queued) start(texts);
    });
  };

  // What the library sends is taken once, when this screen is shown.
  useEffect(() => {
    const given = wanted.value;
    if (!active || given === null) return;
    wanted.value = null;
    if (given.kind === "checklist") {
      void reading.open(new File([given.source], `${given.title}.${formatOf(given.source)}`)).then(() => reading.setModes({ checklist: true }));
      return;
    }
    // What is kept as it stands is ticked where it is listed.
    const kept = library.value.find(({ kind, title, versions }) => kind === given.kind && title === given.title && versions[0]!.source === given.source);
    if (kept) {
      ticked.value = withTick(ticked.value, kept, true);
      announcement.value = rubricsText.judge.added(kept.title);
      return;
    }
    engine.call("read_rubrics", { text: given.source, name: given.title }).answer.then(
      (read) => {
        const { overall } = state.value;
        const { own, fresh } = withOwn(custom.value, read, overall ? [...builtin.value, overall] : builtin.value);
        custom.value = own;
        announcement.value = rubricsText.judge.added(fresh.map(({ name }) => name).join(", "));
      },
      (thrown: unknown) => (announcement.value = rubricsText.judge.failed((thrown as { message: string }).message)),
    );
  }, [active, wanted.value]);

  useEffect(() => {
    if (!active) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
      event.preventDefault();
      judge();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [active]);

  return (
    <>
      <div class="bench" onInput={readAhead} data-ahead={engine.ahead.value}>
        <div class="front">
          <Inputs engine={engine} reading={reading} handle={inputs} chosen={chosen} onJudge={judge} />
          {!byHead.value && <AsksPanel engine={engine} reading={reading} />}
        </div>
        <div class="side">
          <ModelPanel engine={engine} />
          {!byHead.value && <SkillsPanel engine={engine} reading={reading} custom={custom} off={off} scope={scope} ticked={ticked} chosen={chosen} />}
        </div>
      </div>
      {byHead.value ? <RewardsCard rewards={rewards} id="judge-rewards" /> : <Results engine={engine} asked={question} />}
      {ended.value && !byHead.value && (
        <section class="card" aria-label={text.results.applied}>
          <Applied engine={engine} texts={question.value} />
        </section>
      )}
      {dragging.value && <div class="drop" aria-hidden="true">{text.model.drop}</div>}
    </>
  );
}
