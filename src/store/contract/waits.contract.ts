import {
  ANSWER_KIND,
  type CallId,
  callId,
  isKept,
  type Message,
  spoken,
  type TranscriptMessage,
  toolName,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import type { NewOpenCall } from "../call-records.ts";
import type { ArrivingEvent, Claim, Start, Thread, TurnOutcome } from "../records.ts";
import type { Store } from "../store.ts";
import type { KillingStore } from "./killing.contract.ts";
import {
  claiming,
  epochOf,
  NOW,
  newEvent,
  nextCall,
  opening,
  problems,
  ran,
  SPEC,
  scopeOf,
  spoke,
  VERSION,
} from "./sample.contract.ts";
import * as model from "./waits-model.contract.ts";

/** One random life. The same seed gives the same life. */
export interface Life {
  readonly killing: KillingStore;
  readonly seed: number;
  readonly tally: Record<
    "operations" | "kills" | "waits" | "resumed" | "late" | "overdue" | "cancelled" | "forks",
    number
  >;
}

/** Messages that a turn takes at most: few, so that lives reach the bound. */
const MOST = 3;
const STEPS = 60;

/**
 * A random life of some waiting threads, in the store and in the reference side by side. Now and then a function of the store is stopped
 * between two statements, and then called again; workers die with their leases and others take over.
 * @throws Error if the store and the reference differ
 */
export async function life({ killing: { store, kill: stop }, seed, tally }: Life): Promise<void> {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  const chance = (most: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  const kill = async <T>(work: () => Promise<T>): Promise<T> => {
    const { value, killed } = await stop(chance(4) === 0 ? chance(24) : Number.POSITIVE_INFINITY, work);
    if (killed) tally.kills++;
    return value;
  };
  const threads = new Map<string, { thread: Thread; model: model.ModelThread }>();
  const calls: { readonly thread: string; readonly id: CallId; readonly isClients: boolean }[] = [];
  const held = new Map<string, { readonly claim: Claim; readonly holder: string }>();
  const runs = new Map<string, number>();
  const dead = new Set<string>();
  let [n, now] = [0, 0];
  const at = (id: string) => {
    const found = threads.get(id);
    if (found === undefined) throw new Error(`no thread ${id}`);
    return found;
  };
  const set = (id: string, next: model.ModelThread): void => void threads.set(id, { ...at(id), model: next });

  const callees = ["asked", "asked-too", "companion"];
  const open = async (id: string): Promise<void> => {
    const scope = scopeOf(`contact-${seed}-${id}`);
    threads.set(id, { thread: await store.openThread(scope, opening(id)), model: model.EMPTY });
  };
  const text = ({ content }: Pick<ArrivingEvent, "content">): string =>
    content.map((part) => (part.type === "text" ? part.text : "")).join("");
  const said = ({ key, text: words, answers }: { key: string; text: string; answers?: CallId }): ArrivingEvent => ({
    id: newEvent(),
    kind: answers === undefined ? "message" : ANSWER_KIND,
    trust: "contact",
    channel: "test",
    externalId: key,
    content: [{ type: "text", text: untrusted(words) }],
    at: NOW,
    ...(answers !== undefined && { answers }),
  });

  const say = async (id: string, one: { key: string; text: string; answers?: CallId }): Promise<void> => {
    const { thread } = at(id);
    const event = said(one);
    await kill(() => store.receive(thread.scope, thread.id, [event]));
    set(id, model.heard(at(id).model, one));
  };

  /** The replies to a call's answers and to the turn's other events, as the loop would put them into the transcript. */
  const messagesOf = (claim: Claim, end: TurnOutcome["end"], words: string): readonly TranscriptMessage[] => {
    const message = (made: Message): TranscriptMessage => ({
      message: made,
      trust: "contact",
      tokens: 1,
      turn: claim.turn,
    });
    const answers = claim.open.map(({ id, tool }) => {
      const answer = claim.events.find((event) => event.answers === id);
      return {
        type: "result",
        id,
        tool,
        text: trusted(answer === undefined ? "-" : text(answer)),
        failed: false,
      } as const;
    });
    const results = new Set(
      claim.open.flatMap(({ id }) => claim.events.find((event) => event.answers === id)?.id ?? []),
    );
    const others = claim.events.filter(({ id }) => !results.has(id));
    return [
      ...(answers.length === 0 ? [] : [message({ role: "tool", parts: answers })]),
      ...others.map((event) =>
        message({ role: "user", parts: [{ type: "text", text: trusted(`${event.answers ?? ""}|${text(event)}`) }] }),
      ),
      end.status === "waiting"
        ? message({
            role: "assistant",
            parts: end.calls.map(({ id, tool }) => ({ type: "call", id, tool, input: {} }) as const),
          })
        : spoke(words, claim.turn),
    ];
  };

  const newCalls = (
    id: string,
  ): {
    readonly made: readonly NewOpenCall[];
    readonly starts: readonly Start[];
    readonly asked: readonly string[];
  } => {
    const starts: Start[] = [];
    const asked: string[] = [];
    const made = Array.from({ length: 1 + chance(3) }, (): NewOpenCall => {
      const call = callId(nextCall());
      const asks = chance(2) === 0;
      calls.push({ thread: id, id: call, isClients: !asks });
      if (asks) starts.push(start(id, call, asked));
      const waitsFor = asks ? "agent" : "client";
      return { id: call, call, tool: toolName("ask"), waitsFor, keeps: chance(3) === 0, due: NOW + now + chance(20) };
    });
    return { made, starts, asked };
  };
  /** A thread of another agent that answers the call. */
  const start = (id: string, call: CallId, asked: string[]): Start => {
    const { thread } = at(id);
    const agent = callees[chance(callees.length)] ?? "asked";
    const scope = scopeOf(thread.scope.contact, agent);
    const key = `thread ${++n}`;
    asked.push(key);
    return {
      scope,
      opening: opening(key, { caller: { thread: thread.id, agent: thread.scope.agent, call } }),
      events: [said({ key: `question ${key}`, text: `question ${key}` })],
    };
  };
  const begun = async (
    id: string,
    { starts, asked }: ReturnType<typeof newCalls>,
    forward?: model.ModelThread["caller"],
  ): Promise<void> => {
    for (const [i, one] of starts.entries()) {
      const key = asked[i] ?? "";
      const thread = await store.openThread(one.scope, one.opening);
      const caller = forward ?? { thread: id, call: one.opening.caller?.call ?? "" };
      const question = `question ${key}`;
      threads.set(key, { thread, model: model.heard({ ...model.EMPTY, caller }, { key: question, text: question }) });
    }
  };

  const settle = async (id: string): Promise<void> => {
    const run = held.get(id);
    if (run === undefined) return;
    const { claim } = run;
    const was = at(id).model;
    const kind = chance(6);
    const words = `reply ${++n}`;
    const none = { made: [], starts: [], asked: [] };
    const isWaiting = kind >= 4 && calls.length < 10;
    const isFailed = kind === 0;
    const isFinal = isFailed && chance(2) === 0;
    const way = (["responds", "ends", "forwards"] as const)[chance(3)] ?? "responds";
    const calling = isWaiting ? newCalls(id) : none;
    const caller = at(id).thread.caller;
    const forwarded = !isWaiting && !isFailed && way === "forwards" && caller !== undefined;
    const forward = forwarded ? forwardOf(id) : none;
    const end: TurnOutcome["end"] = isFailed
      ? { status: "failed", code: "model_failed", message: words }
      : isWaiting
        ? { status: "waiting", reply: null, calls: calling.made }
        : { status: "done", stop: "answered", reply: spoken(words) };
    const answer = said({ key: "unused", text: words });
    const { externalId: _, ...unkeyed } = answer;
    const epoch = claim.epoch ?? epochOf(1);
    const messages = isFailed ? [] : messagesOf(claim, end, words);
    const starts = [...calling.starts, ...forward.starts];
    const { outcome } = ran(claim, {
      rounds: 0,
      epochs: claim.epoch === undefined ? [epoch] : [],
      more: {
        end,
        messages,
        ...(starts.length > 0 && { starts }),
        ...(isFinal && was.run !== undefined && { endsRun: true }),
        ...(caller !== undefined &&
          !isWaiting &&
          (!isFailed || isFinal) && {
            forCaller: forwarded
              ? { way: "forwards" }
              : {
                  way: isFailed ? "ends" : way === "forwards" ? "responds" : way,
                  answer: { ...unkeyed, kind: ANSWER_KIND },
                },
          }),
      },
    });
    await kill(() => store.settle(claim, outcome));
    held.delete(id);
    const runNow = runs.get(claim.turn) ?? 0;
    if (!isKept(end)) {
      const back = isFinal && was.caller !== undefined ? model.failedForGood(was) : model.failed(was);
      set(id, isFinal && was.run !== undefined ? model.cancelled(back) : back);
    } else {
      if (was.open.length > 0) tally.resumed++;
      tally.late += claim.events.filter(
        ({ answers }) => answers !== undefined && !claim.open.some((one) => one.id === answers),
      ).length;
      const ending =
        end.status === "waiting"
          ? { calls: end.calls.map(({ id: call, keeps, due = 0 }) => ({ call, keeps, due })) }
          : { text: words };
      set(id, model.kept(was, runNow, ending));
    }
    if (isWaiting) tally.waits++;
    const { caller: asker } = was;
    if (asker !== undefined && !isWaiting && (!isFailed || isFinal) && !forwarded)
      set(asker.thread, model.heard(at(asker.thread).model, { key: `from ${id}`, answers: asker.call, text: words }));
    await begun(id, calling);
    await begun(id, forward, asker);
  };
  const forwardOf = (id: string): ReturnType<typeof newCalls> => {
    const asked: string[] = [];
    const caller = at(id).thread.caller;
    const made = start(id, callId(nextCall()), asked);
    return { made: [], starts: [{ ...made, opening: { ...made.opening, ...(caller && { caller }) } }], asked };
  };

  /** With a message, that is stored in the commit of the claim. */
  const take = async (id: string, message?: { key: string; text: string }): Promise<void> => {
    const { thread, model: before } = at(id);
    const was = message === undefined ? before : model.heard(before, message);
    const run = held.get(id);
    const isFree = run === undefined || dead.has(run.holder);
    const holder = `worker ${++n}`;
    const asking = claiming({
      holder,
      most: MOST,
      now: NOW + now,
      until: NOW + now + 1_000_000,
      alive: (one) => !dead.has(one),
    });
    const events = message === undefined ? [] : [said(message)];
    const got = await kill(async () =>
      message === undefined
        ? store.claim(thread.scope, thread.id, asking)
        : (await store.receiveAndClaim(thread.scope, thread.id, events, asking)).claimed,
    );
    set(id, was);
    const isClaimed = got.state === "claimed";
    if (isClaimed !== (isFree && model.isDue(was)))
      throw new Error(`${id} was ${got.state}, free: ${isFree}, due: ${model.isDue(was)}`);
    if (!isClaimed) return;
    const { claim } = got;
    const next = model.claimed(was, MOST);
    const keys = claim.events.map(text);
    const wanted = next.taken.map((key) => was.waiting.find((one) => one.key === key)?.text);
    if (JSON.stringify(keys) !== JSON.stringify(wanted)) throw new Error(`${id} took ${keys} instead of ${wanted}`);
    if (run !== undefined) {
      if (claim.turn !== run.claim.turn) throw new Error(`${id}: another turn than the one that was interrupted`);
      const stale = await store
        .settle(
          run.claim,
          ran(run.claim, { rounds: 0, epochs: run.claim.epoch === undefined ? [epochOf(1)] : [] }).outcome,
        )
        .then(
          () => true,
          () => false,
        );
      if (stale) throw new Error(`${id}: a worker that lost its lease could commit`);
    }
    if (!runs.has(claim.turn)) runs.set(claim.turn, ++n);
    const record = await store.turn(thread.scope, claim.turn);
    const own = runs.get(record?.run ?? "");
    const expected = was.run ?? runs.get(claim.turn);
    if (own !== expected) throw new Error(`${id}: its run is ${own} instead of ${expected}`);
    held.set(id, { claim, holder });
    set(id, next);
  };

  const fork = async (id: string): Promise<void> => {
    const { thread, model: was } = at(id);
    const last = (await store.turns(thread.scope, thread.id)).findLast(isKept);
    if (last === undefined || threads.size > 12) return;
    const key = `fork ${++n}`;
    const made = await store.openThread(
      thread.scope,
      opening(key, { forkedFrom: { thread: thread.id, turn: last.id } }),
    );
    threads.set(key, { thread: made, model: model.forked(was) });
    tally.forks++;
    // Its first two turns: what its parent left open has a result in the first, and only there.
    for (let turns = chance(3); turns > 0; turns--) {
      await say(key, { key: `m${++n}`, text: `message ${n}` });
      if (model.isDue(at(key).model)) await take(key);
      await settle(key);
    }
  };

  const overdue = async (): Promise<void> => {
    now += chance(8);
    for (const agent of ["companion", "asked", "asked-too"]) {
      const { org, agent: of } = scopeOf("any", agent);
      await kill(() => store.answerOverdue({ org, agent: of }, { now: NOW + now, at: NOW }));
    }
    for (const [id, { model: one }] of threads)
      for (const call of model.overdueAt(one, NOW + now)) {
        tally.overdue++;
        set(id, model.heard(at(id).model, { key: `overdue ${call}`, answers: call, text: "No answer came in time." }));
      }
  };

  const compare = async (): Promise<void> => {
    for (const [id, { thread, model: one }] of threads) {
      const isDue = (await store.pending(thread.scope, thread.id)).length > 0;
      if (isDue !== model.isDue(one)) throw new Error(`${id} is due: ${isDue} instead of ${model.isDue(one)}`);
      const lines = ((await store.epoch(thread.scope, thread.id))?.transcript ?? []).flatMap(({ message }) =>
        linesOf(message),
      );
      if (JSON.stringify(lines) !== JSON.stringify(one.transcript))
        throw new Error(`${id} says\n${JSON.stringify(lines)} instead of\n${JSON.stringify(one.transcript)}`);
      if (!model.providerTakes(lines)) throw new Error(`no provider takes ${JSON.stringify(lines)}`);
    }
  };

  for (const agent of callees) {
    const { org, agent: name } = scopeOf("any", agent);
    await store.saveAgentVersion(org, name, VERSION, SPEC, NOW);
  }
  await open("root");
  await open("beside");
  for (let i = 0; i < STEPS; i++) {
    tally.operations++;
    const ids = [...threads.keys()];
    const one = (some: readonly string[]): string | undefined => some[chance(some.length)];
    const id = one(ids) ?? "root";
    const clients = calls.filter(({ isClients }) => isClients);
    const call = clients[chance(clients.length)];
    const what = chance(13);
    if (what < 3) {
      const message = { key: `m${++n}`, text: `message ${n}` };
      await (chance(2) === 0 ? take(id, message) : say(id, message));
    } else if (what < 5 && call !== undefined)
      await say(call.thread, { key: `answer ${call.id}`, answers: call.id, text: `answer ${call.id}` });
    else if (what < 8) await take(one(ids.filter((each) => model.isDue(at(each).model))) ?? id);
    else if (what < 10) await settle(one([...held.keys()]) ?? id);
    else if (what === 10) dead.add(held.get(one([...held.keys()]) ?? "")?.holder ?? "");
    else if (what === 11 && chance(3) === 0 && !held.has(id)) {
      const { thread } = at(id);
      await kill(() => store.cancelCalls(thread.scope, thread.id));
      if (thread.forkedFrom === undefined || at(id).model.run !== undefined) set(id, model.cancelled(at(id).model));
      tally.cancelled++;
    } else if (what === 11 && chance(3) === 0) await fork(id);
    else await overdue();
    if (i % 4 === 3) await compare();
  }
  await compare();
}

/** A message in the reference's transcript. */
function linesOf(message: Message): readonly string[] {
  if (message.role === "tool") return message.parts.map(({ id, text }) => `tool|${id}|${text}`);
  if (message.role === "user") return message.parts.map((part) => `user|${part.type === "text" ? part.text : ""}`);
  return message.parts.map((part) =>
    part.type === "call" ? `assistant|${part.id}|calls` : `assistant||${part.type === "text" ? part.text : ""}`,
  );
}

/** The record of all lives checks out. */
export async function checkRecord(store: Store): Promise<void> {
  const found = await problems(store, scopeOf().org);
  if (found.length > 0) throw new Error(`${found.length} problems:\n${found.slice(0, 9).join("\n")}`);
}
