import { allFeatures, allParts } from "../../../app/entry/features.ts";
import type { ScriptedReply } from "../../../models/index.ts";
import type { Request } from "../../../protocol/index.ts";
import { openStore, type Store } from "../../../store/index.ts";
import { OPERATOR, sampleAgent, testRuntime } from "../../../turn/index.contract.ts";
import { featureApi, type TurnSteps } from "../../../turn/index.ts";
import { cardOf } from "../../../wire/index.ts";
import type { ApiDeps, Feature } from "../../feature.ts";
import { TRIED } from "../gate.ts";
import type { Beside } from "./shadow.ts";

const DEPS = featureApi<ApiDeps>("test-only-deps");

/** A feature for tests only: it exposes what features' functions are made from. */
const giving: Feature = {
  name: "test-only-deps",
  operations: [],
  open: () => ({ api: (deps) => DEPS.open(deps) }),
};

/** The price of an answer that read 5,000 tokens: a cent and a half. */
const DEAR = { usage: { input: 5_000 } };

/** How the model answers: it rings and saves first, then reports that and the learning text of its store. */
export type Answering = (request: Request, tried: string) => string | ScriptedReply;

const ringsAndSaves: Answering = ({ messages }, tried) => {
  if (messages.at(-1)?.role === "tool") return { parts: [{ text: `Rang it.${tried}` }], ...DEAR };
  const ring = { call: "ring", input: { bell: "door" } };
  const save = { call: "memory_save", input: { content: `Ann likes bells${tried}`, tags: [] } };
  return { parts: [ring, save], ...DEAR };
};

/** An agent on credits with a memory and a bell, over a store that may be anywhere, and one answered message. */
export async function belled(store: Store, answers: Answering = ringsAndSaves) {
  let tried = "";
  const trying: TurnSteps = {
    onStart: async ({ parts }) => {
      const text = TRIED.get(parts.store);
      tried = text === undefined ? "" : ` (${text.text})`;
    },
  };
  const script = Array.from({ length: 2_000 }, () => (request: Request) => answers(request, tried));
  const on = await testRuntime(script, {
    store,
    agent: sampleAgent({ life: { credits: { low: 0.2, critical: 0.1, modelCalls: 2 } } }),
    parts: {
      cardOf: () => cardOf("anthropic:claude-sonnet-4-5"),
      features: [...(await allFeatures()), giving, { name: "test-only-trying", operations: [], steps: trying }],
    },
  });
  const beside: Beside = {
    deps: on.runtime.use(DEPS),
    actor: OPERATOR,
    agent: on.agent,
    signal: new AbortController().signal,
    dollars: 1,
  };
  return { ...on, beside, deps: on.runtime.use(DEPS) };
}

/** A separate program, for a test that kills it: `node shadow.contract.ts <address> <turn>` answers a turn again and never ends. */
const [address, turn] = process.argv.slice(2);
if (address !== undefined && turn !== undefined && process.argv[1] === import.meta.filename) {
  const { answerAgain } = await import("./shadow.ts");
  const { turnId } = await import("../../../protocol/index.ts");
  const store = await openStore(address, { parts: await allParts() });
  const on = await belled(store, (request, tried) => {
    if (request.messages.at(-1)?.role !== "tool") return ringsAndSaves(request, tried);
    console.log("asked");
    return { parts: [{ text: "Rang" }], end: "hang" };
  });
  await answerAgain(on.beside, await on.runtime.turn(OPERATOR, turnId(turn)));
}
