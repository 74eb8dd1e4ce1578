/** The screens of the page. Each is fetched when it is first opened; those that were opened stay as they were left. */
import type { ComponentType } from "preact";
import type { EngineClient } from "../engine";

export interface ScreenProps {
  engine: EngineClient;
  /** Whether this screen is the one that is shown: others hear no keys and take no dropped files. */
  active: boolean;
}

export interface Screen {
  /** Its name in addresses, and in `text.screens`. */
  name: ScreenName;
  load: () => Promise<{ default: ComponentType<ScreenProps> }>;
}

export type ScreenName = "judge" | "compare" | "batch" | "calibrate" | "learn" | "rubrics" | "history" | "models";

export const SCREENS: Screen[] = [
  { name: "judge", load: () => import("./judge") },
  { name: "compare", load: () => import("./compare") },
  { name: "batch", load: () => import("./batch") },
  { name: "calibrate", load: () => import("./calibrate") },
  { name: "learn", load: () => import("./learn") },
  { name: "rubrics", load: () => import("./rubrics") },
  { name: "history", load: () => import("./history") },
  { name: "models", load: () => import("./models") },
];
