/**
 * Recognises a conversation that was pasted as one text, and divides it into what is judged. Pure.
 *
 * Three kinds are read: labelled turns (“User: …”, “### Assistant”, “**Human:**”, “<|im_start|>user”), messages as JSON or JSONL
 * (`role` and `content`, `from` and `value`, `sender` and `text`), and a chat export's tree of messages. What is not clearly one
 * of them is no conversation: the person's text then stays one text.
 */

export type Role = "system" | "user" | "assistant";

export interface Turn {
  role: Role;
  text: string;
}

export interface Chat {
  /** What stood in front of the first turn; mostly nothing. */
  before: string;
  turns: Turn[];
  form: "labels" | "messages";
  /** Parts that hold no text, such as pictures and calls of tools: they are counted, since they cannot be judged. */
  left_out: number;
}

/** What a conversation comes to when one turn of it is judged. */
export interface Parts {
  system: string;
  prompt: string;
  /** Null where nothing that an assistant said is to be judged. */
  response: string | null;
  /** Turns that come after the judged one: no part of the prompt. */
  after: Turn[];
}

/** Longer texts are not looked at, so that looking takes no noticeable time. */
const LONGEST = 2_000_000;

const ROLES: Record<string, Role> = {
  system: "system", developer: "system", "system prompt": "system",
  user: "user", human: "user", me: "user", you: "user", "you said": "user", question: "user", instruction: "user", prompter: "user",
  assistant: "assistant", ai: "assistant", bot: "assistant", model: "assistant", gpt: "assistant", chatgpt: "assistant", "chatgpt said": "assistant",
  claude: "assistant", gemini: "assistant", response: "assistant", answer: "assistant", "ai assistant": "assistant",
};

const NAMES = Object.keys(ROLES).sort((a, b) => b.length - a.length).join("|");

/** Each way to mark a turn. A conversation keeps to the way that it began with, so that what a turn quotes does not split it. */
const MARKS: RegExp[] = [
  new RegExp(`^<\\|im_start\\|>(${NAMES})\\s*$`, "i"),
  new RegExp(`^<\\|(${NAMES})\\|>`, "i"),
  new RegExp(`^#{1,6}\\s*\\*{0,2}(${NAMES})\\*{0,2}\\s*:?\\*{0,2}\\s*$`, "i"),
  new RegExp(`^#{1,6}\\s*(${NAMES})\\s*:`, "i"),
  new RegExp(`^\\*\\*(${NAMES})\\s*(?::\\s*\\*\\*|\\*\\*\\s*:)`, "i"),
  new RegExp(`^\\[(${NAMES})\\]\\s*:?`, "i"),
  new RegExp(`^(${NAMES})\\s*[:：]`, "i"),
];

export function readChat(pasted: string): Chat | null {
  if (pasted.length > LONGEST) return null;
  const start = pasted.trimStart()[0];
  const chat = (start === "{" || start === "[" ? readMessages(pasted) : null) ?? readLabels(pasted);
  const has = (role: Role) => chat?.turns.some((turn) => turn.role === role && turn.text !== "");
  return chat && has("user") && has("assistant") ? chat : null;
}

function readLabels(pasted: string): Chat | null {
  const lines = pasted.split(/\r?\n/);
  const fenced = fencedLines(lines);
  let mark: RegExp | null = null;
  const before: string[] = [];
  const turns: { role: Role; lines: string[] }[] = [];
  for (const [i, line] of lines.entries()) {
    let found: RegExpExecArray | null = null;
    if (!fenced.has(i) && line.length > 0 && line.trim() !== "") {
      if (mark) found = mark.exec(line);
      else {
        for (const one of MARKS) {
          found = one.exec(line);
          if (!found) continue;
          mark = one;
          break;
        }
      }
    }
    if (found) turns.push({ role: ROLES[found[1]!.toLowerCase()]!, lines: [line.slice(found[0].length)] });
    else (turns.at(-1)?.lines ?? before).push(line);
  }
  if (turns.length === 0) return null;
  const ended = (text: string) => text.replaceAll(/<\|(?:im_end|end|eot_id)\|>\s*$/g, "").trim();
  return {
    before: before.join("\n").trim(),
    turns: turns.map(({ role, lines: said }) => ({ role, text: ended(said.join("\n")) })),
    form: "labels",
    left_out: 0,
  };
}

/** The lines within ``` fences: what stands in a program or a quoted transcript marks no turn. A fence that never closes fences nothing. */
function fencedLines(lines: string[]): Set<number> {
  const fenced = new Set<number>();
  let open: { at: number; fence: string } | null = null;
  for (const [i, line] of lines.entries()) {
    const fence = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (!fence) continue;
    if (!open) open = { at: i, fence };
    else if (fence.startsWith(open.fence) && line.trim() === fence) {
      for (let at = open.at; at <= i; at++) fenced.add(at);
      open = null;
    }
  }
  return fenced;
}

function readMessages(pasted: string): Chat | null {
  const data = parsed(pasted) ?? parsedLines(pasted);
  if (data === null) return null;
  const list = messagesIn(data);
  if (!list || list.length === 0) return null;
  const turns: Turn[] = [];
  let left_out = 0;
  for (const message of list) {
    const turn = turnOf(message);
    if (!turn) return null;
    left_out += turn.left_out;
    if (turn.role !== null && turn.text !== "") turns.push({ role: turn.role, text: turn.text });
  }
  return { before: "", turns, form: "messages", left_out };
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

function parsed(source: string): unknown {
  try {
    return JSON.parse(source.trim()) as unknown;
  } catch {
    return null;
  }
}

/** One message a line. */
function parsedLines(source: string): unknown[] | null {
  const found: unknown[] = [];
  for (const line of source.split("\n")) {
    if (line.trim() === "") continue;
    const one = parsed(line);
    if (!isFields(one)) return null;
    found.push(one);
  }
  return found;
}

function messagesIn(data: unknown): unknown[] | null {
  if (Array.isArray(data)) {
    const [only] = data as unknown[];
    // A file of exports with one conversation in it.
    return data.length === 1 && isFields(only) && !("role" in only || "from" in only || "sender" in only) ? messagesIn(only) : data;
  }
  if (!isFields(data)) return null;
  for (const name of ["messages", "conversations", "conversation", "chat_messages", "history"]) {
    const list = data[name];
    if (!Array.isArray(list)) continue;
    const system = data["system"];
    // What a model answered may stand beside what it was asked.
    const answered = [...(Array.isArray(data["choices"]) ? (data["choices"] as unknown[]).slice(0, 1) : [])].flatMap((choice) =>
      isFields(choice) && isFields(choice["message"]) ? [choice["message"]] : [],
    );
    return [...(typeof system === "string" && system !== "" ? [{ role: "system", content: system }] : []), ...(list as unknown[]), ...answered];
  }
  return isFields(data["mapping"]) ? branch(data["mapping"], data["current_node"]) : null;
}

/** A tree of messages, in which each edit made a branch: the one that was shown last. */
function branch(mapping: Fields, current: unknown): unknown[] | null {
  const messages: unknown[] = [];
  const seen = new Set<string>();
  let at: unknown = typeof current === "string" ? current : Object.keys(mapping).at(-1);
  while (typeof at === "string" && !seen.has(at)) {
    seen.add(at);
    const node = mapping[at];
    if (!isFields(node)) return null;
    if (isFields(node["message"])) messages.unshift(node["message"]);
    at = node["parent"];
  }
  return messages;
}

/** Null for what is no message at all; a role of null for what a tool said. */
function turnOf(message: unknown): { role: Role | null; text: string; left_out: number } | null {
  if (!isFields(message)) return null;
  const author = message["author"];
  const said = message["role"] ?? message["from"] ?? message["sender"] ?? (isFields(author) ? author["role"] : null);
  if (typeof said !== "string") return null;
  const role = ROLES[said.toLowerCase()] ?? null;
  const { text, left_out } = contentOf(message["content"] ?? message["value"] ?? message["text"]);
  return role === null ? { role, text: "", left_out: text === "" ? left_out : left_out + 1 } : { role, text, left_out };
}

function contentOf(content: unknown): { text: string; left_out: number } {
  if (typeof content === "string") return { text: content.trim(), left_out: 0 };
  if (content === null || content === undefined) return { text: "", left_out: 0 };
  const parts: unknown[] = Array.isArray(content) ? content : isFields(content) && Array.isArray(content["parts"]) ? content["parts"] : [content];
  const texts: string[] = [];
  let left_out = 0;
  for (const part of parts) {
    const text = typeof part === "string" ? part : isFields(part) && typeof part["text"] === "string" ? part["text"] : null;
    if (text === null) left_out += 1;
    else texts.push(text);
  }
  return { text: texts.join("\n").trim(), left_out };
}

/** Where the last turn of an assistant stands; null where there is none. */
export function lastAnswer({ turns }: Chat): number | null {
  const at = turns.findLastIndex(({ role, text }) => role === "assistant" && text !== "");
  return at === -1 ? null : at;
}

/** The conversation with the turn at `judged` as the response; with null, all of it is the prompt. */
export function partsOf(chat: Chat, judged: number | null): Parts {
  const upTo = judged === null ? chat.turns : chat.turns.slice(0, judged);
  const system = upTo.filter(({ role }) => role === "system").map(({ text }) => text).filter((text) => text !== "");
  const said = upTo.filter(({ role, text }) => role !== "system" && text !== "");
  const prompt = writeTurns(said);
  return {
    system: system.join("\n\n"),
    prompt: chat.before === "" ? prompt : `${chat.before}\n\n${prompt}`,
    response: judged === null ? null : chat.turns[judged]!.text,
    after: judged === null ? [] : chat.turns.slice(judged + 1).filter(({ text }) => text !== ""),
  };
}

const LABELS: Record<Role, string> = { system: "System", user: "User", assistant: "Assistant" };

/** What a single user says needs no label. */
function writeTurns(turns: Turn[]): string {
  const [first] = turns;
  if (turns.length === 1 && first?.role === "user") return first.text;
  return turns.map(({ role, text }) => `${LABELS[role]}: ${text}`).join("\n\n");
}

/**
 * The prompt as the model reads it. The engine has no place of its own for a system prompt, so that it stands in front:
 * `System: <system prompt>`, a blank line, then the turns under their labels, or `User: <prompt>` where the prompt is none.
 */
export function promptWith(system: string, prompt: string): string {
  if (system.trim() === "") return prompt;
  const turns = labelled(prompt);
  return `${LABELS.system}: ${system.trim()}\n\n${turns ? prompt.trimStart() : `${LABELS.user}: ${prompt}`}`;
}

/** What people ask in it: the system prompt and the user's turns. What an assistant said asks nothing. */
export function askedIn(system: string, prompt: string): string {
  const turns = labelled(prompt);
  const asked = turns === null ? [prompt] : turns.filter(({ role }) => role === "user").map(({ text }) => text);
  return [system.trim(), ...asked].filter((text) => text !== "").join("\n\n");
}

/** The turns of a prompt that is written as `writeTurns` does it. */
function labelled(prompt: string): Turn[] | null {
  if (prompt.length > LONGEST || !/^\s*(?:User|Assistant): /.test(prompt)) return null;
  const chat = readLabels(prompt);
  return chat && chat.before === "" && chat.turns.length > 1 ? chat.turns : null;
}
