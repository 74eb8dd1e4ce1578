/** The data contract between page and engine, defined once beside the engine. */
export type {
  AdapterInfo,
  AdapterOptions,
  BackendChoice,
  ByteSource,
  EngineInfo,
  JudgeEvent,
  JudgeRecord,
  JudgeRequest,
  LoadOptions,
  LoadProgress,
  OptionProbability,
  Rubric,
  RubricOption,
  RubricVerdict,
  Truncation,
  Verdict,
} from "../../crates/retort-web/src/types";
