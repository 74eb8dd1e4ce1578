/**
 * One side of `cargo xtask bench`: a JSON object a line on standard input, and an answer a line on standard output.
 * Who asks can so let several programs take turns, and none pays for loading while another one is measured.
 */
import { createInterface } from "node:readline";

/** Answers every line with what `handlers[line.do](line)` gives, or with what went wrong; ends with the input. */
export async function answerLines(handlers) {
  for await (const line of createInterface({ input: process.stdin })) {
    let answer;
    try {
      const ask = JSON.parse(line);
      const handler = handlers[ask.do];
      if (!handler) throw new Error(`nothing is known of "${ask.do}"; one of ${Object.keys(handlers).join(", ")}`);
      answer = await handler(ask);
    } catch (error) {
      answer = { error: error instanceof Error ? error.message : String(error) };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}

/** The program's only argument. */
export function modelPath() {
  const path = process.argv[2];
  if (path === undefined || process.argv.length > 3) {
    console.error("usage: node PROGRAM.mjs MODEL.gguf; then one JSON object a line on standard input");
    process.exit(2);
  }
  return path;
}
