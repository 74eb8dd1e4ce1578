import { describe, expect, it } from "vitest";
import { askedIn, lastAnswer, partsOf, promptWith, readChat, type Chat } from "../src/chat";

const turns = (chat: Chat | null) => chat?.turns.map(({ role, text }) => `${role}: ${text}`);

describe("a pasted conversation", () => {
  const expected = ["user: Name a river.", "assistant: The Elbe.\n\nIt is long.", "user: Another?", "assistant: The Oder."];

  it.each([
    ["labels", "User: Name a river.\nAssistant: The Elbe.\n\nIt is long.\nUser: Another?\nAssistant: The Oder."],
    ["labels, Windows line ends", "Human: Name a river.\r\n\r\nAI: The Elbe.\r\n\r\nIt is long.\r\nHuman: Another?\r\nAI: The Oder.\r\n"],
    ["bold labels", "**User:** Name a river.\n\n**Assistant:** The Elbe.\n\nIt is long.\n\n**User**: Another?\n\n**Assistant:** The Oder."],
    ["headings", "### Human:\nName a river.\n\n### Assistant:\nThe Elbe.\n\nIt is long.\n\n### Human\nAnother?\n### Assistant\nThe Oder."],
    ["headings with the text beside them", "### Human: Name a river.\n### Assistant: The Elbe.\n\nIt is long.\n### Human: Another?\n### Assistant: The Oder."],
    ["what a chat page gives when all of it is copied", "You said:\nName a river.\nChatGPT said:\nThe Elbe.\n\nIt is long.\nYou said:\nAnother?\nChatGPT said:\nThe Oder."],
    ["template tokens", "<|im_start|>user\nName a river.<|im_end|>\n<|im_start|>assistant\nThe Elbe.\n\nIt is long.<|im_end|>\n<|im_start|>user\nAnother?<|im_end|>\n<|im_start|>assistant\nThe Oder.<|im_end|>"],
    ["messages", JSON.stringify([{ role: "user", content: "Name a river." }, { role: "assistant", content: "The Elbe.\n\nIt is long." }, { role: "user", content: [{ type: "text", text: "Another?" }] }, { role: "assistant", content: "The Oder." }])],
    ["messages a line each", ['{"role":"user","content":"Name a river."}', '{"role":"assistant","content":"The Elbe.\\n\\nIt is long."}', '{"role":"user","content":"Another?"}', '{"role":"assistant","content":"The Oder."}', ""].join("\n")],
    ["from and value", JSON.stringify({ id: "1", conversations: [{ from: "human", value: "Name a river." }, { from: "gpt", value: "The Elbe.\n\nIt is long." }, { from: "human", value: "Another?" }, { from: "gpt", value: "The Oder." }] })],
    ["sender and text", JSON.stringify({ name: "Rivers", chat_messages: [{ sender: "human", text: "Name a river." }, { sender: "assistant", text: "The Elbe.\n\nIt is long." }, { sender: "human", text: "Another?" }, { sender: "assistant", text: "The Oder." }] })],
    ["a request with its answer", JSON.stringify({ messages: [{ role: "user", content: "Name a river." }, { role: "assistant", content: "The Elbe.\n\nIt is long." }, { role: "user", content: "Another?" }], choices: [{ message: { role: "assistant", content: "The Oder." } }] })],
  ])("is read from %s", (_, pasted) => {
    expect(turns(readChat(pasted))).toEqual(expected);
  });

  it("is read from an export's tree, along the branch that was shown last", () => {
    const node = (parent: string | null, role: string, text: string) => ({ parent, message: { author: { role }, content: { content_type: "text", parts: [text] } } });
    const mapping = {
      root: { parent: null, message: null },
      a: node("root", "user", "Name a river."),
      b: node("a", "assistant", "The first try."),
      c: node("a", "assistant", "The second try."),
    };
    expect(turns(readChat(JSON.stringify([{ title: "Rivers", mapping, current_node: "c" }])))).toEqual(["user: Name a river.", "assistant: The second try."]);
    // A tree that bites its tail ends.
    expect(readChat(JSON.stringify({ mapping: { a: node("b", "user", "x"), b: node("a", "assistant", "y") }, current_node: "b" }))?.turns).toHaveLength(2);
  });

  it("counts what holds no text", () => {
    const chat = readChat(JSON.stringify([
      { role: "user", content: [{ type: "text", text: "What is it?" }, { type: "image_url", image_url: { url: "x" } }] },
      { role: "assistant", content: null, tool_calls: [] }, { role: "tool", content: "42" }, { role: "assistant", content: "A cat." },
    ]));
    expect(turns(chat)).toEqual(["user: What is it?", "assistant: A cat."]);
    expect(chat?.left_out).toBe(2);
  });

  it.each([
    ["a plain prompt", "Write a play in which the user: a baker, and the assistant: a cook, meet."],
    ["one side only", "User: What is the highest mountain?"],
    ["JSON that is something else", '[{"name":"Elbe"},{"name":"Oder"}]'],
    ["broken JSON", '{"messages": [{"role": "user"'],
    ["a list of numbers", "[1, 2, 3]"],
    ["nothing", ""],
  ])("is not made of %s", (_, pasted) => {
    expect(readChat(pasted)).toBeNull();
  });

  it("keeps to the marks that it began with, and to what is outside of fences", () => {
    const quoted = "User: Explain this log:\n```\nUser: hi\nAssistant: hello\n```\nAnd **User:** too.\n**User:** bold\nAssistant: It greets.";
    expect(turns(readChat(quoted))).toEqual(["user: Explain this log:\n```\nUser: hi\nAssistant: hello\n```\nAnd **User:** too.\n**User:** bold", "assistant: It greets."]);
    // A fence that never closes hides nothing.
    expect(turns(readChat("User: ```\nAssistant: Yes."))).toEqual(["user: ```", "assistant: Yes."]);
  });
});

describe("dividing a conversation", () => {
  const chat = readChat("Exported today\nSystem: Be brief.\nUser: Name a river.\nAssistant: The Elbe.\nUser: Another?\nAssistant: The Oder.\nUser: Thanks.")!;

  it("judges the last answer and keeps what came before it", () => {
    expect(lastAnswer(chat)).toBe(4);
    expect(partsOf(chat, 4)).toEqual({
      system: "Be brief.",
      prompt: "Exported today\n\nUser: Name a river.\n\nAssistant: The Elbe.\n\nUser: Another?",
      response: "The Oder.",
      after: [{ role: "user", text: "Thanks." }],
    });
    // The only question needs no label.
    expect(partsOf(chat, 2)).toMatchObject({ prompt: "Exported today\n\nName a river.", response: "The Elbe.", after: [{ text: "Another?" }, { text: "The Oder." }, { text: "Thanks." }] });
  });

  it("can take all of it as the prompt, which reads the same again", () => {
    const plain = readChat("User: Name a river.\nAssistant: The Elbe.\nUser: Another?")!;
    const { prompt, response } = partsOf(plain, null);
    expect(response).toBeNull();
    expect(readChat(prompt)?.turns).toEqual(plain.turns);
  });
});

describe("the system prompt", () => {
  it("stands in front of the prompt in one form", () => {
    expect(promptWith("  ", "Name a river.")).toBe("Name a river.");
    expect(promptWith("Be brief.\n", "Name a river.")).toBe("System: Be brief.\n\nUser: Name a river.");
    expect(promptWith("Be brief.", "User: A?\n\nAssistant: B.\n\nUser: C?")).toBe("System: Be brief.\n\nUser: A?\n\nAssistant: B.\n\nUser: C?");
    // What begins with a label but is one text is a prompt as any other.
    expect(promptWith("Be brief.", "User: and nothing more")).toBe("System: Be brief.\n\nUser: User: and nothing more");
  });

  it("asks together with the user, and not with the assistant", () => {
    expect(askedIn("Be brief.", "User: A?\n\nAssistant: Use 3 words.\n\nUser: C?")).toBe("Be brief.\n\nA?\n\nC?");
    expect(askedIn("", "Name a river.")).toBe("Name a river.");
  });
});
