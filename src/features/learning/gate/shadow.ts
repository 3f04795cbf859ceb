import {
  type Agent,
  type Allowed,
  type ContactScope,
  canonicalJson,
  eventId,
  issueId,
  type Json,
  memoryId,
  StrataError,
  type TurnEvent,
  type TurnId,
  untrusted,
} from "../../../protocol/index.ts";
import type { JournalKey, Store, TurnRecord } from "../../../store/index.ts";
import type { RegenerateOptions, Runtime } from "../../../turn/index.ts";
import { refused, type Toolset } from "../../../turn/tools/index.ts";
import { APPROVAL_STORE, ESCALATE } from "../../approvals/index.ts";
import type { ApiDeps } from "../../feature.ts";
import { COUNTED_BY, type SpendLimit } from "../../limits/index.ts";
import { TRIED } from "../gate.ts";
import type { Answered } from "./criteria.ts";
import type { Fixture } from "./fixtures.ts";
import { NOT_RUN } from "./wording.ts";

/** What a turn beside the record runs with. */
export interface Beside {
  readonly deps: Pick<ApiDeps, "parts" | "shadow">;
  readonly actor: Allowed<"operate">;
  readonly agent: Agent;
  /** The learning text of the turn: `null` for none. By default the active one. */
  readonly text?: string | null;
  readonly signal: AbortSignal;
  /** US dollars that it may cost. */
  readonly dollars: number;
  /** Where its calls count. */
  readonly spendLimit?: SpendLimit;
}

/** The result. */
export interface Tried extends Answered {
  readonly dollars: number;
  /** The tools whose calls were not run, because they reach outside. */
  readonly notRun: readonly string[];
}

/** Answers a recorded turn's messages again, at the time of the turn and with what was known then. The record is only read. */
export async function answerAgain(beside: Beside, turn: TurnRecord): Promise<Tried> {
  const { id, thread, scope, startedAt: at } = turn;
  const asked = { ordinals: new Map<string, number>(), notRun: new Set<string>() };
  const whole = await beside.deps.parts.store.shadow(scope, at);
  const known = async ({ tool, input }: JournalKey) => {
    const call = `${tool} ${canonicalJson(input)}`;
    const ordinal = (asked.ordinals.get(call) ?? 0) + 1;
    asked.ordinals.set(call, ordinal);
    const state = await whole.recordedCall(scope, { thread, turn: id, ordinal, tool, input });
    return state?.state === "done" ? state.outcome : undefined;
  };
  return inShadow(beside, { whole, at, known, notRun: asked.notRun }, (runtime, how) =>
    runtime.regenerate(beside.actor, id, how),
  );
}

/** Answers a fixture's message, as the first of a contact of whom nothing else is known. */
export async function answerFixture(beside: Beside, fixture: Fixture): Promise<Tried> {
  const { parts } = beside.deps;
  const { message, contact, channel, at = parts.clock.recorded(), facts, answers } = fixture;
  const { org, name } = beside.agent;
  const scope: ContactScope = { org, agent: name, contact };
  const whole = await parts.store.shadow(scope);
  const known = async ({ tool }: Pick<JournalKey, "tool">) => {
    const text = answers[tool];
    return text === undefined ? undefined : { text: untrusted(text), failed: false };
  };
  return inShadow(beside, { whole, at, known, notRun: new Set() }, async function* (runtime, how) {
    for (const fact of facts) {
      const id = memoryId(issueId("memory", parts.clock.real(), parts.random(10)));
      await whole.saveMemory(scope, id, { content: untrusted(fact), tags: [], trust: "operator", by: "operator", at });
    }
    const thread = await runtime.open(beside.actor, { agent: name, contact, channel, key: `fixture ${fixture.name}` });
    const id = eventId(issueId("event", parts.clock.real(), parts.random(10)));
    const content = [{ type: "text", text: untrusted(message) }] as const;
    await runtime.post(beside.actor, thread, [
      { kind: "message", trust: "contact", channel, content, at, externalId: id },
    ]);
    yield* runtime.run(beside.actor, thread, how);
  });
}

/** Seconds within which `limits` count calls. */
const MINUTE = 60;

interface Over {
  readonly whole: Store;
  readonly at: number;
  /** The recorded result of a call that reaches outside. */
  readonly known: (
    call: JournalKey,
  ) => Promise<{ readonly text: ReturnType<typeof untrusted>; readonly failed: boolean } | undefined>;
  readonly notRun: Set<string>;
}

async function inShadow(
  { deps: { parts, shadow }, actor, agent, text, signal, dollars, spendLimit }: Beside,
  { whole, at, known, notRun }: Over,
  turn: (runtime: Runtime, how: RegenerateOptions) => AsyncIterable<TurnEvent>,
): Promise<Tried> {
  // Whatever acts outside is journaled first: here the journal answers, and nothing acts.
  const store: Store = {
    ...whole,
    beginCall: async (_, key) => {
      const outcome = await known(key);
      if (outcome === undefined) notRun.add(key.tool);
      return { state: "done", outcome: outcome ?? refused(NOT_RUN) };
    },
  };
  if (spendLimit !== undefined) COUNTED_BY.set(store, spendLimit);
  if (text !== undefined) TRIED.set(store, { text: text ?? undefined });
  try {
    const clock = { recorded: () => at, real: parts.clock.real };
    const toolsOf = (made: Toolset): Toolset => insideOnly(made, notRun);
    const runtime = await shadow({ store, clock, toolsOf });
    const own = agent.budgets.turn;
    // Each of its calls may have to wait for the minute to pass.
    const pauses = Number.isFinite(spendLimit?.callsPerMinute ?? Number.POSITIVE_INFINITY) ? own.modelCalls : 0;
    const limits = {
      ...own,
      maxCost: Math.min(own.maxCost ?? dollars, dollars),
      seconds: own.seconds + MINUTE * pauses,
    };
    const how = { again: true, alone: true, replyTo: "outbox", limits, signal } as const;
    let id: TurnId | undefined;
    for await (const event of turn(runtime, how)) {
      if (event.type === "turn-start") id = event.turn;
      if (event.type === "failed") throw event.error;
    }
    if (id === undefined) throw new StrataError("unexpected", "the turn beside the record did not begin");
    const record = await runtime.turn(actor, id);
    return { ...(await answeredIn(store, record)), dollars: record.totals?.dollars ?? 0, notRun: [...notRun] };
  } finally {
    await store.close();
  }
}

/** What the agent itself said and called in a turn, regardless of what happened to its reply. */
export async function answeredIn(store: Store, { id, thread, scope, requests, end }: TurnRecord): Promise<Answered> {
  const calls = requests.flatMap(
    ({ reply }) => reply?.parts.flatMap((part) => (part.type === "call" ? [part.tool] : [])) ?? [],
  );
  const last = requests.at(-1)?.reply?.parts ?? [];
  const asked = await store.part(APPROVAL_STORE).approvals(scope, { thread }, 100);
  return {
    text: last.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"),
    calls,
    escalated:
      calls.some((tool) => tool === ESCALATE) || end?.status === "waiting" || asked.some(({ turn }) => turn === id),
  };
}

/** Only tools that work on the store run: even reading tools may reach outside. */
function insideOnly(made: Toolset, notRun: Set<string>): Toolset {
  return {
    schemas: made.schemas,
    get: (name) => {
      const tool = made.get(name);
      if (tool === undefined || tool.effect !== "none" || tool.returnsMemories || tool.listedIn !== undefined)
        return tool;
      const run = async (_: Json) => {
        notRun.add(name);
        return refused(NOT_RUN);
      };
      return { ...tool, run };
    },
  };
}
