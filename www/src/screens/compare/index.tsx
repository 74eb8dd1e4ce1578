import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { profileOf } from "../../profile";
import { Rewards } from "../../rewards";
import { RewardsCard } from "../../ui/rewards";
import type { ScreenProps } from "..";
import { Inputs } from "./inputs";
import { Results } from "./results";
import "./style.css";
import { Work, keyOf, type Texts } from "./work";

/** Two to four responses to one prompt: each by itself, and two at a time. */
export default function Compare({ engine, active }: ScreenProps) {
  const work = useMemo(() => new Work(engine), []);
  const rewards = useMemo(() => new Rewards(engine), []);
  const byHead = profileOf(engine.state.value) === "head";
  /** Whether the fields hold other texts than those of the results. */
  const stale = useSignal(false);
  const edited = (read: () => Texts) => {
    const key = work.outcome.value?.key;
    if (key !== undefined) stale.value = keyOf(read()) !== key;
  };
  useEffect(() => {
    stale.value = false;
  }, [work.outcome.value?.key]);
  return (
    <>
      <Inputs engine={engine} work={work} rewards={byHead ? rewards : null} active={active} onEdit={edited} />
      {byHead && <RewardsCard rewards={rewards} id="cmp-rewards" />}
      {(!byHead || work.outcome.value) && <Results engine={engine} work={work} stale={stale.value} />}
    </>
  );
}
