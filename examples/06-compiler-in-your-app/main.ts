// Full control: an app that already has a model of the AI SDK's provider interface, its own tools and its own store, and uses
// only the compiler of Strata. `compile` creates a turn's first request, `extend` the one after a tool's answer; the next turn
// compiles on the epoch that the app kept. Each request begins with the bytes of the first, so a provider's cache reads them again.
// A server on this machine stands in for Anthropic, unless ANTHROPIC_API_KEY is set.
// In a project of your own, import from "strata".
import { createAnthropic } from "@ai-sdk/anthropic";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import {
  type Agent,
  bindModel,
  type Compilation,
  cardOf,
  chooseMode,
  compile,
  eventId,
  extend,
  frame,
  issueId,
  layerId,
  loadProject,
  type Message,
  planBreakpoints,
  type Request,
  requestOf,
  type StoredEvent,
  type Trust,
  threadId,
  tokenCounter,
  toolName,
  trusted,
  turnId,
  untrusted,
} from "../../src/index.ts";
import { localAnthropic } from "./local-anthropic.ts";

const key = process.env["ANTHROPIC_API_KEY"];
const local = await localAnthropic([
  { type: "tool_use", id: "toolu_1", name: "price", input: { repair: "tyre" } },
  { type: "text", text: "A tyre is 12 euros." },
  { type: "text", text: "Yes, until 18 o'clock." },
]);

// The app's own model: any provider package of the AI SDK. This one keeps what it sends, for the checks below.
const bodies: string[] = [];
const provider = createAnthropic({
  ...(key ? { apiKey: key } : { apiKey: "none", baseURL: local.url }),
  fetch: (address, init) => {
    bodies.push(String(init?.body));
    return fetch(address, init);
  },
});
const language: LanguageModelV4 = provider("claude-sonnet-5-5");

const REF = "anthropic:claude-sonnet-5-5";
const model = bindModel(language, { ref: REF, wire: REF });
const card = cardOf(REF);
const count = await tokenCounter({ factor: card.tokenFactor });

const project = loadProject(import.meta.dirname, { env: {} });
const [agent] = project.agents.values();
if (agent === undefined) throw new Error("strata.yaml declares no agent");

const tools = [
  {
    name: toolName("price"),
    description: "Tells what a repair costs, in euros.",
    input: { type: "object", properties: { repair: { type: "string" } }, required: ["repair"] },
  },
];

/** Ids sort by time; the app supplies their randomness, and the clock. */
const issue = (kind: "event" | "thread" | "turn"): string =>
  issueId(kind, Date.now(), crypto.getRandomValues(new Uint8Array(10)));
const thread = threadId(issue("thread"));
let seq = 0;

type AssistantPart = Extract<Message, { role: "assistant" }>["parts"][number];
type ResultPart = Extract<Message, { role: "tool" }>["parts"][number];

// Everything that the app keeps of the conversation between two turns: JSON, here in a variable, usually in the app's database.
let kept: string | undefined;

try {
  await turn(agent, "What does a new tyre cost?");
  await turn(agent, "And are you open now?");
  for (const [n, { length }] of bodies.entries()) console.log(`request ${n + 1}: ${length} characters${growth(n)}`);
} finally {
  local.close();
}

/** One turn: compile, send, and as long as the model calls tools, extend and send again. */
async function turn(agent: Agent, text: string): Promise<void> {
  console.log(`ada: ${text}`);
  const id = turnId(issue("turn"));
  let compilation = compile({
    agent,
    turn: id,
    mode: chooseMode({ agent, window: card.contextWindow, tools, count }),
    limit: agent.budgets.total - agent.budgets.reply,
    tools,
    epoch: kept === undefined ? undefined : JSON.parse(kept),
    events: [received(text)],
    // The app fills the live layers. They come after the conversation, so the clock does not break the cache.
    contents: new Map([[layerId("clock"), { kind: "text", text: trusted(`It is ${new Date().toISOString()}.`) }]]),
    count,
  });
  const add = (message: Message, trust: Trust): void => {
    const tokens = count(JSON.stringify(message.parts));
    compilation = extend(compilation, [{ message, trust, tokens, turn: id }], count);
  };
  for (let isAnswered = false; !isAnswered; ) {
    const parts = await send(compilation, agent.budgets.reply);
    add({ role: "assistant", parts }, compilation.taint);
    const results = parts.flatMap((part) => (part.type === "call" ? [look(part)] : []));
    if (results.length > 0) add({ role: "tool", parts: results }, "operator");
    isAnswered = results.length === 0;
  }
  const { epoch, own } = compilation;
  kept = JSON.stringify({ ...epoch, transcript: [...epoch.transcript, ...own] });
}

function received(text: string): StoredEvent {
  const content = [{ type: "text", text: untrusted(text) }] as const;
  const from = { kind: "message", trust: "contact", channel: "example" } as const;
  return { ...from, id: eventId(issue("event")), thread, seq: ++seq, status: "pending", content, at: Date.now() };
}

/** Sends the compiled request, and returns the model's reply. */
async function send(compilation: Compilation, maxTokens: number): Promise<readonly AssistantPart[]> {
  const bare = requestOf(compilation, { maxTokens });
  const request: Request = { ...bare, breakpoints: planBreakpoints(bare, { card, count }) };
  const { ledger, taint } = compilation;
  console.log(`  sends ${ledger.tokens} of ${ledger.limit} tokens; the least trusted of them: ${taint}`);
  let said = "";
  for await (const event of model.send(request, { signal: AbortSignal.timeout(60_000) })) {
    if (event.type === "call") console.log(`  → ${event.call.tool} ${JSON.stringify(event.call.input)}`);
    if (event.type === "text-delta") process.stdout.write(said === "" ? `clerk: ${event.text}` : event.text);
    if (event.type === "text-delta") said += event.text;
    if (event.type !== "reply") continue;
    if (said !== "") process.stdout.write("\n");
    return event.reply.parts;
  }
  throw new Error("the model ended without a reply");
}

/** The app runs its tools itself. Their answers are put into frames, like everything that the app did not write. */
function look({ id, tool, input }: Extract<AssistantPart, { type: "call" }>): ResultPart {
  const euros = JSON.stringify(input).includes("tyre") ? 12 : 30;
  const text = frame({ kind: "result", trust: "operator", at: Date.now() }, untrusted(`${euros} euros`));
  return { type: "result", id, tool, text, failed: false };
}

/** Whether a request begins with everything that the previous one sent, up to its tail: the clock's layer. */
function growth(n: number): string {
  const [before, now] = [bodies[n - 1], bodies[n]];
  if (before === undefined || now === undefined) return "";
  const [kept = ""] = unmarked(before).split(',{"type":"text","text":"# Layer 50');
  const begins = unmarked(now).startsWith(kept) ? "begins" : "does not begin";
  return `, ${begins} with the ${kept.length} that request ${n} sent before its tail`;
}

/** Breakpoints move on with the conversation; they are not part of the cached bytes. */
function unmarked(body: string): string {
  return body.replaceAll(',"cache_control":{"type":"ephemeral"}', "");
}
