import { writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openApp } from "../../src/app.ts";
import { TEXT_API } from "../../src/features/texts/index.ts";
import { agentName, allow, contactId, layerId, type ThreadId, untrusted } from "../../src/protocol/index.ts";
import { anthropicRules, type SeenRequest, seenOfBody, simulate } from "../../src/wire/index.ts";
import { anthropicEvents, sendEvents, textEvents } from "../local-server.ts";
import { jsonLines, place, provider, strata } from "./strata.ts";

const MINUTE = 60_000;

interface Taken {
  readonly read: number;
  readonly write: number;
  readonly input: number;
}

interface Explained {
  readonly thread: string;
  readonly totals: {
    readonly requests: number;
    readonly billed: number;
    readonly efficiency: number;
    readonly agreement?: number;
    readonly saved?: { readonly share: number };
    readonly avoidable: { readonly tokens: number; readonly dollars: number };
    readonly causes: readonly { readonly cause: string; readonly section: string; readonly dollars: number }[];
  };
  readonly requests: readonly {
    readonly at: string;
    readonly tokens: number;
    readonly predicted: Taken;
    readonly billed?: Taken;
    readonly base?: { readonly gap: number };
    readonly change?: { readonly section: string; readonly byte: number; readonly edits?: readonly object[] };
    readonly causes: readonly { readonly cause: string; readonly tokens: number }[];
    readonly diagnosis?: { readonly found: string; readonly reason?: string };
    readonly confirmed?: boolean;
  }[];
}

/** What a conversation is like. */
interface Talk {
  /** Words of the agent's one layer. */
  readonly rules: number;
  /** The agent's budgets. */
  readonly budgets?: object;
  readonly turns: number;
  /** Milliseconds before each turn. */
  readonly gap?: (turn: number) => number;
  /** Whether the provider's cache works. */
  readonly caches?: boolean;
  /** Whether it says anything about its cache. */
  readonly tells?: boolean;
  readonly model?: string;
  /** The text that an operator gives its layer before a turn. */
  readonly edits?: (turn: number) => string | undefined;
  /** Which request the provider refuses. */
  readonly refuses?: number;
  /** What it says about its cache if it is asked. */
  readonly diagnoses?: (requests: readonly SeenRequest[]) => object | null;
  /** Whether it refuses a request with such a question. */
  readonly refusesQuestion?: boolean;
  /** Each question about its cache, as it was sent. */
  readonly questions?: unknown[];
}

/** What Anthropic streams for a short answer. */
const events = (input: number, read: number, write: number): readonly object[] =>
  anthropicEvents(textEvents("The train leaves at noon. ".repeat(4)), {
    usage: {
      input_tokens: input,
      cache_creation_input_tokens: write,
      cache_read_input_tokens: read,
      output_tokens: 1,
    },
    output: 4,
  });

/** A provider that bills as Anthropic documents, with a tokenizer of its own: so many signs are a token. */
function billing(
  clock: { readonly at: number },
  { caches = true, tells = true, refuses, refusesQuestion, diagnoses, questions }: Omit<Talk, "rules" | "turns">,
): RequestListener {
  const asked: SeenRequest[] = [];
  let requests = 0;
  return async (request, response) => {
    let body = "";
    for await (const section of request) body += section;
    requests++;
    const question: unknown = JSON.parse(body).diagnostics;
    if (requests === refuses || (refusesQuestion && question !== undefined)) {
      const message = requests === refuses ? "No." : "diagnostics: Extra inputs are not permitted";
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }));
      return;
    }
    asked.push(seenOfBody(JSON.parse(body), (text) => Math.ceil(text.length / 3), { at: clock.at }));
    const bill = simulate(asked, anthropicRules()).at(-1);
    if (bill === undefined) throw new Error("nothing was asked");
    const { input, read, write5m } = bill;
    const told = caches ? events(input, read, write5m) : events(input + read + write5m, 0, 0);
    questions?.push(question);
    if (diagnoses !== undefined && question !== undefined) {
      const [{ message }, ...others] = told as readonly [{ readonly message: object }, ...object[]];
      const start = { ...message, id: `msg_${asked.length}`, diagnostics: diagnoses(asked) };
      sendEvents(response, [{ type: "message_start", message: start }, ...others]);
    } else if (tells) sendEvents(response, told);
    else {
      const usage = { input_tokens: input + read + write5m, output_tokens: 1 };
      sendEvents(response, anthropicEvents(textEvents("The train leaves at noon."), { usage, output: 4 }));
    }
  };
}

/** Holds a conversation and gives the folder and the thread. */
async function talked({ rules, budgets, turns, gap = () => 45_000, model, edits, ...rest }: Talk) {
  const cwd = place();
  const clock = { at: Date.UTC(2026, 0, 5, 9) };
  const { edit, env } = await provider(billing(clock, rest));
  const shop = {
    description: "It sells.",
    layers: [
      { id: "rules", rank: 1, mutability: "versioned", text: "Sell well, and say so. ".repeat(rules / 5) },
      { id: "clock", rank: 50, source: "clock", timezone: "UTC" },
    ],
    ...(model && { model }),
    ...(budgets && { budgets }),
  };
  writeFileSync(join(cwd, "strata.yaml"), edit(`organization: home\nagents: ${JSON.stringify({ shop })}\n`));
  expect((await strata(["lock"], { cwd, env })).code).toBe(0);
  const app = await openApp({ folder: cwd, data: join(cwd, ".strata"), env });
  try {
    const { runtime, operator } = app;
    app.setClock(clock.at);
    const agent = agentName("shop");
    const to = await runtime.open(operator, { agent, contact: contactId("ann"), channel: "test", key: "main" });
    for (let turn = 1; turn <= turns; turn++) {
      if (turn > 1) clock.at += gap(turn);
      app.setClock(clock.at);
      const rewritten = edits?.(turn);
      if (rewritten !== undefined)
        await runtime.use(TEXT_API).editText(allow(operator, "operate"), agent, {
          layer: layerId("rules"),
          text: rewritten,
          reason: untrusted("The prices have changed."),
        });
      const text = untrusted(
        `Question number ${turn}: when does the train leave from Bern, and from where? `.repeat(5),
      );
      const message = { kind: "message", trust: "contact", channel: "test", at: clock.at } as const;
      await runtime.post(operator, to, [{ ...message, content: [{ type: "text", text }] }]);
      for await (const event of runtime.run(operator, to))
        if (event.type === "failed" && turn !== rest.refuses) throw event.error;
    }
    return { cwd, env, thread: to.id };
  } finally {
    await app.close();
  }
}

const recordOf = async ({ cwd, env, thread }: { cwd: string; env: Record<string, string>; thread: ThreadId }) => {
  const app = await openApp({ folder: cwd, data: join(cwd, ".strata"), env });
  try {
    return { turns: await app.runtime.turns(app.operator, thread) };
  } finally {
    await app.close();
  }
};

const explain = async ({ cwd, env, thread }: { cwd: string; env: Record<string, string>; thread: ThreadId }) => {
  const text = await strata(["cache", "explain", thread], { cwd, env });
  expect([text.code, text.err]).toEqual([0, ""]);
  const [json] = jsonLines<Explained>((await strata(["cache", "explain", thread, "--json"], { cwd, env })).out);
  if (json === undefined) throw new Error("no JSON");
  for (const { tokens, predicted, billed, causes } of json.requests)
    expect(causes.reduce((sum, one) => sum + one.tokens, (billed ?? predicted).read)).toBe(tokens);
  return { out: text.out, json, causes: json.totals.causes.map(({ cause }) => cause) };
};

describe("strata cache explain", () => {
  it("29.7 names the layer whose edit was written anew, its version and who edited it, beside its price", async () => {
    const talk = await talked({
      rules: 4_000,
      turns: 3,
      edits: (turn) => (turn === 2 ? "1 2 3 4 5 ".repeat(390) : undefined),
    });
    const { out, json } = await explain(talk);
    expect(out).toMatch(
      /^2\.1 .* prefix edit, [\d,]+ tokens: begins in rules, block 1, byte \d+ \(version 1 by operator local:operator\)$/m,
    );
    expect(json.requests[1]?.change).toMatchObject({
      section: "rules",
      edits: [{ layer: "rules", version: 1, by: "operator", byId: "local:operator" }],
    });
    const cost = json.totals.causes.find(({ cause }) => cause === "prefix edit");
    expect(cost).toMatchObject({ section: "rules" });
    expect(cost?.dollars).toBeGreaterThan(0);
  });

  it("shows prediction beside bill, the efficiency first, and what was saved where both agree", async () => {
    const talk = await talked({ rules: 4_000, turns: 8 });
    const { out, json, causes } = await explain(talk);
    expect(out.split("\n")[0]).toMatch(/^thr_\w+: efficiency (0\.9\d|1\.00) \(optimum \/ billed\)$/);
    expect(out.split("\n")[1]).toMatch(/^8\d\.\d% of [\d,]+ tokens read from the cache, in 8 requests$/);
    expect(out).toMatch(/^1\.1 +2026-01-05T09:00:00Z +0 +[\d,]+ +\d+ +0 +[\d,]+ +\d+ +\d\.\d\d +first$/m);
    expect(out).toMatch(/^2\.1 +2026-01-05T09:00:45Z +6,\d+ +\d+ +\d+ +6,\d+ +\d+ +\d+ +0\.\d\d$/m);
    expect(out).toMatch(
      /^Saved against no caching: 7\d\.\d% \(\$0\.\d{4}\); prediction and bill agree to (0\.99|1\.00)\.$/m,
    );
    expect(out).toMatch(
      /^Prewarming before the cold start \([\d,]+ tokens written\) would have saved time alone, and cost [\d,]+ more; [\d,]+ if no request had followed in time\.$/m,
    );
    expect(json.thread).toBe(talk.thread);
    expect(json.totals).toMatchObject({ requests: 8, billed: 8 });
    expect(json.totals.agreement).toBeGreaterThan(0.99);
    expect(json.requests[0]?.causes.map(({ cause }) => cause).toSorted()).toEqual(["first", "tail"]);
    expect(json.requests[0]?.billed).toMatchObject({ read: 0 });
    expect(json.requests[1]?.billed?.read).toBeGreaterThan(5_000);
    expect(causes.filter((cause) => !["unknown", "first", "tail"].includes(cause))).toEqual([]);
  });

  it("takes the prediction that was recorded before the call, which `turn show` tells beside the bill", async () => {
    const talk = await talked({ rules: 4_000, turns: 3 });
    const { json } = await explain(talk);
    const { turns } = await recordOf(talk);
    const stretched = turns.flatMap(({ requests }) =>
      requests.map(({ prediction, reply }) => {
        const { read = 0, write = 0, input = 0 } = prediction ?? {};
        return Math.round((read / (read + write + input)) * (reply?.usage.input ?? 0));
      }),
    );
    expect(json.requests.map(({ predicted }) => predicted.read)).toEqual(stretched);
    const shown = await strata(["turn", turns[1]?.id ?? ""], talk);
    expect(shown.out).toMatch(
      /^→ predicted: 6,\d+ read from the cache, \d+ written, \d+ neither; the bill agrees to (0\.99|1\.00)$/m,
    );
  });

  it("blames a gateway where nothing changed and nothing was read, and claims no savings", async () => {
    const { out, json, causes } = await explain(await talked({ rules: 4_000, turns: 3, caches: false }));
    expect(causes[0]).toBe("gateway");
    expect(json.totals.saved).toBeUndefined();
    expect(json.totals.avoidable.dollars).toBeGreaterThan(0.01);
    expect(out).toMatch(/^2\.1 .* gateway, [\d,]+ tokens$/m);
    expect(out).toMatch(/^gateway +.* \$0\.\d{4} +nothing was changed, and it was not read/m);
    expect(out).toMatch(
      /^Savings are not shown: prediction and bill agree to 0\.\d\d, and 0\.95 is required\. Most of it: gateway\.$/m,
    );
  });

  it("25.17 blames nobody where the provider reports nothing about a cache, and says that nothing is known", async () => {
    const talk = await talked({ rules: 4_000, turns: 3, tells: false });
    const { out, json, causes } = await explain(talk);
    expect(causes).not.toContain("gateway");
    expect(out).toContain("anthropic:claude-sonnet-4-5 does not report what it reads from a cache");
    expect(json.requests.map(({ billed }) => billed)).toEqual([undefined, undefined, undefined]);
    const { turns } = await recordOf(talk);
    const shown = await strata(["turn", turns[1]?.id ?? ""], talk);
    expect(shown.out).toContain("the provider reports nothing about its cache, so nothing is known of what it read");
    expect(shown.out).not.toContain("(0 from the cache");
  });

  it("tells of a pause after which the cache was cold", async () => {
    const gap = (turn: number) => (turn === 3 ? 10 * MINUTE : 45_000);
    const { out, json, causes } = await explain(await talked({ rules: 4_000, turns: 4, gap }));
    expect(causes[0]).toBe("cold");
    expect(out).toMatch(/^3\.1 .* cold, [\d,]+ tokens: 10 min 0 s after the request that it continues$/m);
    expect(json.requests[2]?.base).toMatchObject({ gap: 10 * MINUTE });
    expect(json.requests[2]?.causes[0]).toMatchObject({
      cause: "cold",
      tokens: json.requests[1]?.tokens && expect.any(Number),
    });
    expect(json.requests[3]?.billed?.read).toBeGreaterThan(5_000);
    expect(json.totals.agreement).toBeGreaterThan(0.99);
  });

  it("tells of a cut, and where what was sent begins to be another", async () => {
    const budgets = { total: 4_000, reply: 200 };
    const { out, json, causes } = await explain(await talked({ rules: 1_200, budgets, turns: 24 }));
    expect(causes[0]).toBe("trim");
    const cut = json.requests.find((request) => request.causes.some(({ cause }) => cause === "trim"));
    expect(cut?.change).toEqual({ section: "transcript", byte: expect.any(Number) });
    expect(out).toMatch(/ trim, [\d,]+ tokens: begins in transcript, block 2, byte \d+$/m);
    expect(out).toMatch(/^trim +transcript +\d+ +[\d,]+ +[\d,]+ +\$0\.\d{4} +the conversation was cut/m);
  });

  it("asks the provider where a read is predicted, and shows its answer beside the record", async () => {
    const questions: unknown[] = [];
    const missed = { cache_miss_reason: { type: "system_changed", cache_missed_input_tokens: 1_200 } };
    const diagnoses = (all: readonly SeenRequest[]) => (all.length === 2 ? missed : null);
    const talk = await talked({ rules: 4_000, turns: 3, diagnoses, questions });
    expect(questions.map((one) => JSON.stringify(one))).toEqual([
      '{"previous_message_id":null}',
      '{"previous_message_id":"msg_1"}',
      '{"previous_message_id":"msg_2"}',
    ]);
    const { out, json } = await explain(talk);
    const line = "2.1: the provider says: system_changed, 1,200 tokens not read; the record does not";
    expect(out).toContain(`\n${line}: nothing that it could not read\n`);
    expect(out).not.toContain("3.1: the provider");
    expect(json.requests.map(({ diagnosis, confirmed }) => [diagnosis, confirmed])).toEqual([
      [undefined, undefined],
      [{ found: "changed", reason: "system_changed", missed: 1_200 }, false],
      [{ found: "same" }, true],
    ]);
    const { turns } = await recordOf(talk);
    const shown = await strata(["turn", turns[1]?.id ?? ""], talk);
    expect(shown.out).toContain("\n→ the provider says: system_changed, 1,200 tokens not read\n");
    const [turn] = jsonLines<{ requests: { reply: object }[] }>(
      (await strata(["turn", turns[1]?.id ?? "", "--json"], talk)).out,
    );
    expect(turn?.requests[0]?.reply).toMatchObject({ id: "msg_2", diagnosis: { found: "changed" } });
  });

  it("says that the record agrees where the provider names the same change", async () => {
    const changed = { cache_miss_reason: { type: "messages_changed", cache_missed_input_tokens: 900 } };
    const isShorter = (all: readonly SeenRequest[]) =>
      (all.at(-1)?.blocks.length ?? 0) < (all.at(-2)?.blocks.length ?? 0);
    const budgets = { total: 4_000, reply: 200 };
    const diagnoses = (all: readonly SeenRequest[]) => (isShorter(all) ? changed : null);
    const { out, json } = await explain(await talked({ rules: 1_200, budgets, turns: 24, diagnoses }));
    expect(json.requests.filter(({ diagnosis }) => diagnosis?.found === "changed")).not.toEqual([]);
    for (const { diagnosis, confirmed } of json.requests) expect(confirmed).toBe(diagnosis && true);
    expect(out).toMatch(/messages_changed, 900 tokens not read; the record agrees: trim, [\d,]+ tokens: begins in/);
  });

  it("says that a provider refuses the question, which is then not asked again", async () => {
    const questions: unknown[] = [];
    const talk = await talked({ rules: 4_000, turns: 3, questions, refusesQuestion: true });
    expect(questions).toEqual([undefined, undefined, undefined]);
    const { out, json } = await explain(talk);
    expect(json.requests.map(({ billed }) => (billed?.read ?? 0) > 5_000)).toEqual([false, true, true]);
    expect(out).toContain("1.1: the provider refuses the question why its cache missed");
  });

  it("tells of a beginning that is too short for the model", async () => {
    const { json, causes } = await explain(await talked({ rules: 100, turns: 3 }));
    expect(causes[0]).toBe("below minimum");
    expect(json.requests.map(({ billed }) => billed?.read)).toEqual([0, 0, 0]);
  });

  it("shows a prediction only where the model reports nothing of its own", async () => {
    const { out, json } = await explain(await talked({ rules: 4_000, turns: 3, model: "rehearsal" }));
    expect(out).toMatch(/^thr_\w+: efficiency \d\.\d\d \(optimum \/ prediction\)$/m);
    expect(out).toContain("The model reported no tokens of its own: what is shown is the prediction only.\n");
    expect(out).toContain("Savings are not shown: there is no bill to compare the prediction with.\n");
    expect(out).not.toContain("billed read");
    expect(json.requests.map(({ billed }) => billed)).toEqual([undefined, undefined, undefined]);
    expect(json.requests[2]?.predicted.read).toBeGreaterThan(4_000);
  });

  it("leaves out what got no whole answer, and says so", async () => {
    const { out, json } = await explain(await talked({ rules: 4_000, turns: 3, refuses: 2 }));
    expect(out).toContain("1 request without a complete answer left out: what was billed for it is not known.\n");
    expect(out).toMatch(/^3\.1 +/m);
    expect(out).not.toMatch(/^2\.1 +/m);
    expect(json.totals).toMatchObject({ requests: 2, billed: 2 });
    expect(json.requests[1]?.billed?.read).toBeGreaterThan(5_000);
  });

  it("says what is wrong with a thread's name, and of a thread that sent nothing", async () => {
    const { cwd, env, thread } = await talked({ rules: 100, turns: 0 });
    const said = async (id: string) => {
      const { code, err } = await strata(["cache", "explain", id], { cwd, env });
      return [code, err];
    };
    expect(await said("companion")).toEqual([2, expect.stringContaining('"companion"')]);
    expect(await said("thr_01jd8k3v5x9m2q7r4t6w8y0zab")).toEqual([
      3,
      expect.stringContaining("thr_01jd8k3v5x9m2q7r4t6w8y0zab"),
    ]);
    expect(await said(thread)).toEqual([2, expect.stringContaining("has sent no request yet")]);
  });
});
