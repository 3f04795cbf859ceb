// Three agents that ask each other: a researcher, a critic that is code, and a writer, the only one that people can write to. The writer asks the researcher for a
// fact, asks itself for a draft (a fork, which continues its own conversation), and asks the critic to judge it. Its first payload does not match the critic's type:
// it is told why and tries again. Scripted answers replace the models, so no key is needed.
// In your own project, import from "strata".
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LanguageModelV4, LanguageModelV4Prompt, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { agentName, contactId, openApp } from "../../src/index.ts";

type Answer = string | { readonly ask: string; readonly payload: Readonly<Record<string, string>> };

const FACT = "The clipper Cutty Sark was built in 1869 at Dumbarton.";
const DRAFT = "Built in 1869 at Dumbarton, the Cutty Sark carried tea.";

/** The writer's next step, by the number of answers since the last message. */
const STEPS: readonly Answer[] = [
  { ask: "researcher", payload: { about: "the Cutty Sark" } },
  { ask: "writer", payload: { text: "Write a draft of at most twelve words." } },
  { ask: "critic", payload: { text: DRAFT, due: "next month" } },
  { ask: "critic", payload: { text: DRAFT, due: "2027-01" } },
  `Here it is: ${DRAFT}`,
];

/** The system text says which agent is asked, and the last user message what for. */
function answerTo(prompt: LanguageModelV4Prompt): Answer {
  const [system] = prompt;
  if (system?.role === "system" && system.content.includes("You are the researcher")) return FACT;
  const last = prompt.findLastIndex(({ role }) => role === "user");
  const asked = JSON.stringify(prompt[last]?.content);
  if (asked.includes("Write a draft")) return DRAFT;
  if (asked.includes("Hello")) return "Hello, Ada. What shall I write about?";
  return STEPS[prompt.slice(last).filter(({ role }) => role === "tool").length] ?? "Done.";
}

let calls = 0;
const NOTHING = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 };
const usage = { inputTokens: NOTHING, outputTokens: { total: 0, text: 0, reasoning: 0 } };

function* streamed(answer: Answer): Generator<LanguageModelV4StreamPart> {
  if (typeof answer === "string") {
    yield { type: "text-start", id: "1" };
    yield { type: "text-delta", id: "1", delta: answer };
    yield { type: "text-end", id: "1" };
    yield { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage };
    return;
  }
  calls += 1;
  const input = JSON.stringify(answer.payload);
  yield { type: "tool-call", toolCallId: `call-${calls}`, toolName: `ask_${answer.ask}`, input };
  yield { type: "finish", finishReason: { unified: "tool-calls", raw: "calls" }, usage };
}

const model: LanguageModelV4 = {
  specificationVersion: "v4",
  provider: "example",
  modelId: "three",
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error("it only streams")),
  doStream: async ({ prompt }) => ({ stream: ReadableStream.from(streamed(answerTo(prompt))) }),
};

const data = mkdtempSync(join(tmpdir(), "strata-example-"));
const app = await openApp({ folder: import.meta.dirname, data, env: process.env, model });
const { runtime, operator } = app;

/** A person writes to the only agent under `entry`. */
async function say(text: string): Promise<void> {
  console.log(`ada: ${text}`);
  for await (const event of app.ask({ agent: "writer", contact: "ada", text })) {
    if (event.type === "tool-end" && event.failed)
      console.log(`  → ${event.tool} was not sent: the payload did not match`);
    if (event.type === "waiting") console.log(`  → ${event.calls.map(({ tool }) => tool).join(", ")}`);
    if (event.type === "failed") throw event.error;
    if (event.type === "done") console.log(`writer: ${event.text}\n`);
  }
}

try {
  await say("Hello");
  await say("Write about the Cutty Sark.");

  console.log("Each question has a thread of its own:");
  for (const name of ["researcher", "writer", "critic"]) {
    const scope = { org: operator.org, agent: agentName(name), contact: contactId("ada") };
    for (const { id, caller, forkedFrom } of await runtime.threads(operator, scope, 10)) {
      if (caller === undefined) continue;
      const slots = await runtime.slots(operator, id);
      console.log(`${name}${forkedFrom === undefined ? "" : ", a fork of the conversation"}:`);
      for (const { from, to, text } of slots) console.log(`  ${from} to ${to}: ${text.replaceAll("\n", "\n    ")}`);
    }
  }
} finally {
  await app.close();
  rmSync(data, { recursive: true, force: true });
}
