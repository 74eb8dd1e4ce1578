/**
 * Models that are worth trying. Repositories, file names, sizes (as their pages round them), licences and architectures are what
 * those pages show; exact size and SHA-256 are asked from the hub before a download, and nothing is stored that differs.
 */
import type { Shape } from "../memory";
import type { Profile } from "../worker/names";

export interface DownloadPreset {
  title: string;
  /** Owner and name on Hugging Face. */
  repo: string;
  /** The file that is suggested; null where no GGUF file is known that has what the profile needs. */
  file: string | null;
  /** Bytes, rounded as the page shows them; null where they are not known. */
  about_bytes: number | null;
  licence: string;
  /** `general.architecture` of the file. */
  architecture: string;
  shape?: Shape;
  good_for: string;
  profile: Profile;
}

/** What the engine runs (its README, "Which models run"); Mistral's files say "llama". */
export const ARCHITECTURES = ["llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi3"];

export const PRESETS: DownloadPreset[] = [
  {
    title: "Qwen2.5 1.5B Instruct (Q4_K_M)", repo: "bartowski/Qwen2.5-1.5B-Instruct-GGUF", file: "Qwen2.5-1.5B-Instruct-Q4_K_M.gguf",
    about_bytes: 986e6, licence: "Apache-2.0", architecture: "qwen2", profile: "options",
    good_for: "A step up from the default model that a laptop still holds easily; texts in many languages.",
  },
  {
    title: "SmolLM2 1.7B Instruct (Q4_K_M)", repo: "bartowski/SmolLM2-1.7B-Instruct-GGUF", file: "SmolLM2-1.7B-Instruct-Q4_K_M.gguf",
    about_bytes: 1.06e9, licence: "Apache-2.0", architecture: "llama", profile: "options",
    good_for: "The default model’s larger sister; English texts.",
  },
  {
    title: "Qwen3 4B (Q4_K_M)", repo: "Qwen/Qwen3-4B-GGUF", file: "Qwen3-4B-Q4_K_M.gguf",
    about_bytes: 2.5e9, licence: "Apache-2.0", architecture: "qwen3", shape: { layers: 36, kv_width: 8 * 128 }, profile: "options",
    good_for: "More careful judgements where there is a good graphics card; slow on a CPU.",
  },
  {
    title: "Skywork-Reward-V2 (Qwen3 4B)", repo: "Skywork/Skywork-Reward-V2-Qwen3-4B", file: null,
    about_bytes: null, licence: "Apache-2.0", architecture: "qwen3", profile: "head",
    good_for: "Ranking several responses to one prompt by one number.",
  },
  {
    title: "Prometheus 2 7B (Q4_K_M)", repo: "vsevolodl/prometheus-7b-v2.0-GGUF", file: "prometheus-7b-v2.0.Q4_K_M.gguf",
    about_bytes: 4.37e9, licence: "Apache-2.0", architecture: "llama", profile: "prometheus",
    good_for: "A verdict from 1 to 5 on a rubric of your own, with written feedback.",
  },
  {
    title: "Selene 1 Mini 8B (Q4_K_M)", repo: "AtlaAI/Selene-1-Mini-Llama-3.1-8B-Q4_K_M-GGUF", file: "selene-1-mini-llama-3.1-8b-q4_k_m.gguf",
    about_bytes: 4.92e9, licence: "Llama 3.1 Community License", architecture: "llama", profile: "selene",
    good_for: "Scores, yes or no, and comparisons, with a written critique.",
  },
  {
    title: "Flow Judge 3.8B (Q4_K_M)", repo: "flowaicom/Flow-Judge-v0.1-GGUF", file: "flow-judge-v0.1-Q4_K_M.gguf",
    about_bytes: 2.39e9, licence: "Apache-2.0", architecture: "phi3", shape: { layers: 32, kv_width: 32 * 96 }, profile: "flow_judge",
    good_for: "Pass or fail, or scales of three and five levels, on a rubric of your own.",
  },
  {
    title: "GLIDER 3.8B (Q4_K_M)", repo: "PatronusAI/glider-gguf", file: "glider_Q4_K_M.gguf",
    about_bytes: 2.39e9, licence: "CC-BY-NC-4.0", architecture: "phi3", shape: { layers: 32, kv_width: 32 * 96 }, profile: "glider",
    good_for: "Scores on criteria of your own, with reasons and the words that decided; not for commercial use.",
  },
];
