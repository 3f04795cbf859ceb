import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type App, lint } from "../../src/app.ts";
import { type Script, scripted, tokenCounter, wireBody } from "../../src/models/index.ts";
import type { Request, TurnEvent } from "../../src/protocol/index.ts";
import { rulesOf, type SeenRequest, seenOf, simulate } from "../../src/wire/index.ts";
import { home, said, strata, thread } from "./home.ts";

/** The companion, declared differently. */
function homeWith(change: (yaml: string) => string): string {
  const folder = home();
  const file = join(folder, "strata.yaml");
  writeFileSync(file, change(readFileSync(file, "utf8")));
  return folder;
}

const early = (yaml: string): string =>
  yaml.replace("    recall: auto\n", "    recall: auto\n    liveLayers: before\n");
const models = (cards: string) => (yaml: string) => `${yaml}\nmodels:\n${cards}\n`;

const START = Date.UTC(2026, 10, 21, 8);

/** Turns a minute apart, each with the same calls and words; gives what was sent. */
async function talk(app: App, wire: string, scripts: readonly (readonly Script<Request>[])[]): Promise<Request[]> {
  const ann = await thread(app);
  const requests: Request[] = [];
  for (const [n, script] of scripts.entries()) {
    const at = START + n * 60_000;
    app.setClock(at);
    const { model, sent } = scripted(script, wire);
    await app.runtime.post(app.operator, ann, [said(`Question ${n}: how is the sea?`, at)]);
    const events: TurnEvent[] = [];
    for await (const event of app.runtime.run(app.operator, ann, { model })) events.push(event);
    expect(events.at(-1)?.type).toBe("done");
    requests.push(...sent);
  }
  return requests;
}

const LOOK: Script<Request> = { parts: [{ text: "I look." }, { call: "memory_search", input: { query: "sea" } }] };
const TALK = [["Calm."], [LOOK, "Still calm."], ["Rough."], [LOOK, LOOK, "Calm again."], ["Aye."]];

const turnsOf = async (app: App) => app.runtime.turns(app.operator, (await thread(app)).id);

describe("liveLayers: before", () => {
  it("puts the question last, and stands at the end where a tool has answered", async () => {
    const app = await strata(homeWith(early));
    const [first, , second] = await talk(app, "anthropic:claude-sonnet-4-5", TALK);
    if (first === undefined || second === undefined) throw new Error("too little was sent");
    const newest = async (request: Request): Promise<readonly { readonly text?: string }[]> =>
      JSON.parse(await wireBody(request, "anthropic:claude-sonnet-4-5")).messages.at(-1).content;
    const [clock, question] = await newest(first);
    expect(clock?.text).toContain("# Layer 50 · clock");
    expect(question?.text).toContain("Question 0");
    const [result, behind] = await newest(second);
    expect(result?.text).toBeUndefined();
    expect(behind?.text).toContain("# Layer 50 · clock");
  });

  it("is reported by lint with its price", async () => {
    const folder = homeWith(early);
    const [report] = await lint({
      folder,
      data: join(folder, ".strata"),
      env: {},
      model: "anthropic:claude-sonnet-4-5",
    });
    const cost = report?.findings.find(({ rule }) => rule === "tail-before-events")?.cost;
    expect(cost?.times).toBeGreaterThan(1);
    expect(cost?.times).toBeLessThan(1.3);
  }, 120_000);
});

describe("the record of a tail", () => {
  it.each([
    ["anthropic:claude-opus-5", (yaml: string) => yaml],
    ["anthropic:claude-opus-5-5", (yaml: string) => yaml],
    ["bedrock:anthropic.claude-opus-5-5", (yaml: string) => yaml],
    ["anthropic:claude-sonnet-4-5", early],
  ])("law 9 gives back what was sent, and what was expected of it is what the rules say: %s", async (wire, change) => {
    const app = await strata(homeWith(change));
    const sent = await talk(app, wire, TALK);
    const card = app.cardOf(wire);
    const count = await tokenCounter({ factor: card.tokenFactor });
    const seen: SeenRequest[] = [];
    const turns = await turnsOf(app);
    const records = turns.flatMap(({ id, requests }) => requests.map((record) => ({ turn: id, record })));
    expect(records).toHaveLength(sent.length);
    for (const [n, { turn, record }] of records.entries()) {
      const { request } = await app.runtime.rebuilt(app.operator, turn, record.n);
      expect(request).toEqual(sent[n]);
      seen.push(seenOf(request, count, { at: record.at, model: wire }));
      expect(record.prediction?.read).toBe(simulate(seen, rulesOf(card)).at(-1)?.read);
    }
    expect(records.at(-1)?.record.prediction?.read).toBeGreaterThan(500);
    for await (const finding of app.verify(app.operator.org)) expect(finding.type).not.toBe("problem");
  });

  it("law 9 is what was sent also when the model's card says something else since", async () => {
    const wire = "anthropic:claude-sonnet-4-5";
    const folder = homeWith(models(`  ${wire}: {tailMode: turn-scoped}`));
    const app = await strata(folder);
    const sent = await talk(app, wire, TALK.slice(0, 2));
    const bodies = await Promise.all(sent.map((request) => wireBody(request, wire)));
    expect(bodies[2]?.match(/"clear_at":"next_user_message"/g)).toHaveLength(3);
    await app.close();
    const file = join(folder, "strata.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("tailMode: turn-scoped", "tailMode: delta"));
    const again = await strata(folder);
    const turns = await turnsOf(again);
    const told = await Promise.all(
      turns.flatMap(({ id, requests }) => requests.map(({ n }) => again.runtime.rebuilt(again.operator, id, n))),
    );
    expect(await Promise.all(told.map((one) => again.bodyOf(one.request, one.wire)))).toEqual(bodies);
    const [next] = await talk(again, wire, [["Aye."]]);
    expect(next?.tail).toEqual([]);
    expect(next?.messages.slice(0, sent[2]?.messages.length)).toEqual(sent[2]?.messages);
  });
});

describe("a declared card", () => {
  it("says whether OpenAI's requests carry breakpoints, whatever the model is called", async () => {
    const cards = [
      "  openai:gpt-5-mini: {cache: exact, breakpoints: 4, lookback: 50, minimumPrefix: 0}",
      "  openai:gpt-6.1-sol: {cache: automatic, breakpoints: 0, lookback: 0}",
    ].join("\n");
    const app = await strata(homeWith(models(cards)));
    const bodies = async (wire: string) => {
      const sent = await talk(app, wire, [["Calm."]]);
      return Promise.all(sent.map((request) => wireBody(request, wire)));
    };
    for (const body of await bodies("openai:gpt-5-mini")) expect(body).toContain('"prompt_cache_breakpoint"');
    for (const body of await bodies("openai:gpt-6.1-sol")) expect(body).not.toContain("prompt_cache_b");
  });
});
