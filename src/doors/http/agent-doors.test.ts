import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadProject } from "../../app/entry/agents.ts";
import { allOperations } from "../../app/entry/features.ts";
import {
  agentName,
  contactId,
  digestOf,
  layerId,
  type NewText,
  orgId,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import { at, eventsOf, httpFixture, type Json, to } from "./index.contract.ts";
import { routesOf } from "./routes.ts";

const ROUTES = routesOf(await allOperations());

const NOBODY = "0".repeat(26);

const YAML = `organization: home
agents:
  automaton:
    description: It lives by itself.
    history: log
    soul: patient-gardener
    skills:
      - { name: invoicing, text: "Write number, date and sum." }
    life:
      credits: { low: 5, critical: 1 }
    layers:
      - { id: precedence, rank: 0, text: A lower layer wins. }
      - { id: soul, rank: 12, source: soul, after: precedence }
      - { id: loop, rank: 6, mutability: versioned, text: "Look, weigh, act." }
      - { id: skills, rank: 11, source: skills }
      - { id: vitals, rank: 10, source: vitals }
      - { id: obligations, rank: 10, source: obligations }
`;

/** The agents of strata.yaml. */
function declared() {
  const folder = mkdtempSync(join(tmpdir(), "strata-living-"));
  try {
    writeFileSync(join(folder, "strata.yaml"), YAML);
    return [...loadProject(folder, { env: {} }).agents.values()];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The server over an agent that lives by itself and reports it. */
async function living() {
  const stand = await httpFixture(["I live.", "I live on."], {}, declared());
  const send = (line: string, body: object) => stand.json(`POST /v1/agents/automaton/${line}`, { body });
  const get = (line: string) => stand.json(`GET /v1/agents/automaton${line}`);
  const open = async (contact: string): Promise<string> => {
    const { body } = await stand.json("POST /v1/threads", { body: { agent: "automaton", contact } });
    return String(at(body, "id"));
  };
  return { ...stand, open, send, get, propose: (text: string, contact = "ann") => propose(stand.store, text, contact) };
}

/** What the automaton would have written itself, in a turn with a contact. */
async function propose(store: Store, text: string, contact: string): Promise<void> {
  const edit: NewText = {
    layer: layerId("loop"),
    text: trusted(text),
    status: "proposed",
    trust: "agent",
    inputs: "contact",
    by: "agent",
    reason: untrusted("it reads better"),
    verdict: { verdict: "pass", findings: [] },
    parent: 0,
    place: { rank: 6, source: "text", declared: digestOf("Look, weigh, act.") },
    beside: [],
  };
  const scope = { org: orgId("home"), agent: agentName("automaton"), contact: contactId(contact) };
  await store.editText(scope, edit, Date.now());
}

/** The answer is successful and has exactly the shape in the OpenAPI document. */
function shaped({ status, body }: Json, line: string): void {
  const [method, url = ""] = line.split(" ");
  expect({ status, body }).toMatchObject({ status: 200 });
  const route = ROUTES.find((one) => one.method === method && one.url === url.replace("~", "/v1/agents/{agent}"));
  expect(route, line).toBeDefined();
  expect(route?.shapes.answer.parse(body)).toEqual(body);
}

describe("an agent's layers over HTTP", () => {
  it("000.55 000.56 are shown, edited and moved by operators", async () => {
    const { get, send } = await living();
    const layers = await get("/layers");
    shaped(layers, "get ~/layers");
    expect(at(layers.body, "layers")).toMatchObject([
      { id: "precedence", mutability: "immutable", text: "A lower layer wins." },
      { id: "soul", mutability: "versioned", version: 0, text: "patient-gardener" },
      { id: "loop", mutability: "versioned", version: 0 },
      { id: "skills", source: "skills" },
      { id: "vitals", mutability: "live" },
      { id: "obligations", mutability: "live" },
    ]);
    const edited = await send("layers/loop/versions", { text: "Look. Act.", reason: "shorter" });
    shaped(edited, "post ~/layers/{layer}/versions");
    expect(edited.body).toMatchObject({ n: 1, active: true, by: "operator" });
    const moved = await send("layers/loop/activate", { version: 0, reason: "longer" });
    shaped(moved, "post ~/layers/{layer}/activate");
    expect(moved.body).toMatchObject({ kind: "rolled back", from: 1, to: 0 });
    shaped(await get("/layers/loop/history"), "get ~/layers/{layer}/history");
    await send("layers/loop/activate", { version: 1, reason: "shorter" });
    const back = await send("layers/loop/rollback", { reason: "longer" });
    shaped(back, "post ~/layers/{layer}/rollback");
    expect(back.body).toMatchObject({ kind: "rolled back", from: 1, to: 0 });
    expect(await send("layers/loop/rollback", { reason: "longer" })).toMatchObject({ status: 404 });
    const moves = await get("/layers/loop/history");
    shaped(moves, "get ~/layers/{layer}/history");
    expect(at(moves.body, "moves")).toHaveLength(4);
    const page = async (query: string) => at((await get(`/layers/loop/history?${query}`)).body, "moves");
    expect(await page("limit=1")).toMatchObject([{ seq: 4, kind: "rolled back" }]);
    expect(await page("limit=2&after=3.1")).toMatchObject([{ seq: 2 }, { seq: 1, kind: "edited" }]);
    expect(await get("/layers/loop/history?after=three")).toMatchObject({ status: 400 });
  });

  it("list their versions in pages", async () => {
    const { get, send } = await living();
    for (const text of ["One.", "Two.", "Three."]) await send("layers/loop/versions", { text, reason: "shorter" });
    const page = async (query: string) => at((await get(`/layers/loop/history?${query}`)).body, "versions");
    expect(await page("limit=2")).toMatchObject([{ n: 3 }, { n: 2 }]);
    const { body } = await get("/layers/loop/history?limit=2");
    expect(await page(`limit=2&after=${at(body, "next")}`)).toMatchObject([{ n: 1 }]);
    expect((await get("/layers/loop/history?limit=9")).body).not.toHaveProperty("next");
    expect(await get("/layers/loop/history?after=")).toMatchObject({ status: 400 });
  });

  it("are compared, any two versions, line by line; a missing one is reported with the place to look", async () => {
    const { get, send } = await living();
    await send("layers/loop/versions", { text: "Look, weigh, act.\nRest.", reason: "it tired" });
    const compared = await get("/layers/6/diff?from=0&to=1");
    shaped(compared, "get ~/layers/{layer}/diff");
    expect(compared.body).toEqual({
      layer: "loop",
      before: { n: 0, text: "Look, weigh, act." },
      after: { n: 1, text: "Look, weigh, act.\nRest." },
      lines: [
        { sign: " ", line: "Look, weigh, act." },
        { sign: "+", line: "Rest." },
      ],
    });
    await send("skills/invoicing", { text: "Number, date, sum.", reason: "shorter" });
    expect((await get("/layers/skills/diff?skill=invoicing&from=1&to=0")).body).toMatchObject({ part: "invoicing" });
    expect(await get("/layers/loop/diff?from=0&to=7")).toMatchObject({ status: 404 });
    expect(await get("/layers/loop/diff?to=1")).toMatchObject({ status: 400 });
    expect(await get("/layers/vitals/diff?from=0&to=0")).toMatchObject({ status: 404 });
  });

  it("are refused with each problem once", async () => {
    const { get } = await living();
    const { status, body } = await get("/layers/loop/history?limit=abc");
    expect(status).toBe(400);
    expect(at(body, "error", "message")).toBe('`limit` in the query must be a whole number from 1 to 1000, not "abc"');
  });

  it("tell in their refusals how a program continues, and not only a person at a terminal", async () => {
    const { send, propose } = await living();
    await propose("Look thrice.");
    await send("layers/loop/versions", { text: "Look twice.", reason: "shorter" });
    const next = async (line: string, body: object) => String(at((await send(line, body)).body, "error", "message"));
    const stale = await next("layers/loop/versions/1/approve", { reason: "good" });
    expect(stale).toContain("GET /v1/agents/automaton/layers/loop/diff?from=2&to=1");
    expect(stale).toContain('`"over": 2`');
    await send("layers/loop/versions/1/approve", { over: 2, reason: "good" });
    expect(await next("layers/loop/versions/1/approve", { reason: "good" })).toContain(
      "GET /v1/agents/automaton/layers/loop/history",
    );
  });

  it("are named by their rank as well as by their id, where no other layer shares it", async () => {
    const { get, send } = await living();
    const shown = await get("/layers/6");
    shaped(shown, "get ~/layers/{layer}");
    expect(shown.body).toMatchObject({ id: "loop", rank: 6, text: "Look, weigh, act." });
    expect(await send("layers/6/versions", { text: "Look. Act.", reason: "shorter" })).toMatchObject({
      status: 200,
      body: { layer: "loop", n: 1 },
    });
    expect(at((await get("/layers/6/history")).body, "versions")).toMatchObject([{ layer: "loop", n: 1 }]);
    const shared = await get("/layers/10");
    expect(shared).toMatchObject({ status: 400, body: { error: { code: "invalid_input" } } });
    expect(at(shared.body, "error", "message")).toContain("`vitals`, `obligations`");
    expect(await get("/layers/99")).toMatchObject({ status: 404, body: { error: { code: "text_not_found" } } });
  });

  it("are refused with the status of the error: immutable, unknown, said twice, and without a reason", async () => {
    const { send, get } = await living();
    const refused = await send("layers/precedence/versions", { text: "Free.", reason: "why not" });
    expect(refused).toMatchObject({ status: 422, body: { error: { code: "text_refused" } } });
    expect(await send("layers/lop/versions", { text: "Free.", reason: "why not" })).toMatchObject({ status: 404 });
    expect(await send("layers/loop/versions", { text: "Free." })).toMatchObject({ status: 400 });
    expect(await send("layers/loop/activate", { version: -1, reason: "back" })).toMatchObject({ status: 400 });
    expect(await get("/layers/loop/history?skill=x")).toMatchObject({ status: 404 });
    expect(await get("/nothing")).toMatchObject({ status: 404, body: { error: { code: "route_not_found" } } });
  });

  it("wait as proposals, are approved and rejected, and each once", async () => {
    const { send, json, propose } = await living();
    await propose("Look twice.");
    await propose("Look thrice.", "bob");
    const waiting = await json("GET /v1/proposals?agent=automaton");
    shaped(waiting, "get /v1/proposals");
    expect(at(waiting.body, "proposals")).toMatchObject([{ agent: "automaton", n: 1 }, { n: 2 }]);
    const attention = await json("GET /v1/attention");
    shaped(attention, "get /v1/attention");
    expect(at(attention.body, "agents")).toMatchObject([{ agent: "companion" }, { agent: "automaton", proposals: 2 }]);
    const approved = await send("layers/loop/versions/1/approve", { reason: "good" });
    shaped(approved, "post ~/layers/{layer}/versions/{version}/approve");
    expect(approved.body).toMatchObject({ active: true, trust: "agent" });
    const stale = await send("layers/loop/versions/2/approve", { reason: "good" });
    expect(stale).toMatchObject({ status: 409, body: { error: { code: "text_decided" } } });
    expect(await send("layers/loop/versions/2/approve", { over: 1, reason: "better" })).toMatchObject({
      body: { n: 2, active: true },
    });
    expect(await send("layers/loop/versions/2/reject", { reason: "no" })).toMatchObject({ status: 409 });
  });

  it("25.9 say in the list of what needs an operator that nothing is kept, until something is again", async () => {
    const { json, store } = await living();
    expect((await json("GET /v1/attention")).body).not.toHaveProperty("store");
    const { trouble } = store;
    store.trouble = async () => "the disk that holds strata.db is full";
    const attention = await json("GET /v1/attention");
    shaped(attention, "get /v1/attention");
    expect(at(attention.body, "store")).toBe("the disk that holds strata.db is full");
    store.trouble = trouble;
    expect((await json("GET /v1/attention")).body).not.toHaveProperty("store");
  });

  it("000.59 and the soul and skills beside them", async () => {
    const { get, send } = await living();
    const soul = await get("/soul");
    shaped(soul, "get ~/soul");
    expect(soul.body).toEqual({ layer: "soul", soul: "patient-gardener", version: 0 });
    shaped(await send("soul", { soul: "wise-gardener", reason: "older" }), "post ~/soul");
    expect(await send("soul", { soul: "Wise Gardener", reason: "older" })).toMatchObject({ status: 422 });
    shaped(await send("skills/cooking", { text: "Boil water.", reason: "hungry" }), "post ~/skills/{skill}");
    shaped(await send("skills/cooking/disable", { reason: "full" }), "post ~/skills/{skill}/disable");
    shaped(await send("skills/cooking/enable", { reason: "hungry" }), "post ~/skills/{skill}/enable");
    const skills = await get("/skills");
    shaped(skills, "get ~/skills");
    expect(at(skills.body, "skills")).toMatchObject([{ name: "cooking", version: 1 }, { name: "invoicing" }]);
  });
});

describe("an agent's life over HTTP", () => {
  it("is paid for, shown, and has turns of its own", async () => {
    const { get, send, json, ask } = await living();
    const asleep = await json("POST /v1/agents/automaton/life/tick");
    expect(asleep).toMatchObject({ status: 402, body: { error: { code: "out_of_credits", retry: true } } });
    shaped(await send("credits", { dollars: 20, note: "december" }), "post ~/credits");
    expect(await send("credits", { dollars: "20" })).toMatchObject({ status: 400 });
    const paid = await get("/payments");
    shaped(paid, "get ~/payments");
    expect(at(paid.body, "payments")).toMatchObject([{ dollars: 20, note: "december", by: "operator" }]);
    const ticked = await json("POST /v1/agents/automaton/life/tick");
    shaped(ticked, "post ~/life/tick");
    expect(at(ticked.body, "done", "text")).toBe("I live.");
    const streamed = await ask("POST /v1/agents/automaton/life/tick?mode=stream");
    expect(eventsOf(await streamed.text()).map(({ type }) => type)).toEqual(
      expect.arrayContaining(["turn-start", "done"]),
    );
    const life = await get("/life");
    shaped(life, "get ~/life");
    expect(life.body).toMatchObject({ agent: "automaton", vitals: { state: "sleeping", tier: "Normal", turn: 2 } });
  });
});

describe("an agent's conversations and mail over HTTP", () => {
  it("are handled sender by sender, whoever waits for longest, and nothing is done where nobody does", async () => {
    const { send, json, open } = await living();
    await send("credits", { dollars: 20 });
    for (const contact of ["ann", "bob"])
      await json(...to(await open(contact), { text: "Hi", follow: "queue" }, { agent: "automaton" }));
    for (const left of [true, true, false]) {
      const ran = await json("POST /v1/agents/automaton/inbox/run");
      shaped(ran, "post ~/inbox/run");
      if (left) expect(at(ran.body, "done", "text")).toContain("I live");
      else expect(ran.body).toEqual({ done: null });
    }
  });

  it("S15 000.57 000.58 are shown sender by sender, and so is who looked", async () => {
    const { get, send, json, open } = await living();
    await send("credits", { dollars: 20 });
    for (const contact of ["ann", "bob"]) {
      const thread = await open(contact);
      await json(...to(thread, { text: `I am ${contact}.` }, { agent: "automaton" }));
    }
    const heads = await get("/logs");
    shaped(heads, "get ~/logs");
    expect(at(heads.body, "logs")).toHaveLength(2);
    const ann = await get("/logs/ann");
    shaped(ann, "get ~/logs/{sender}");
    expect(at(ann.body, "log", "entries")).toMatchObject([{ body: "I am ann." }]);
    expect(JSON.stringify(ann.body)).not.toContain("bob");
    expect((await get("/logs/nobody")).body).toEqual({ log: null });
    await json(...to(await open("ann"), { text: "And?", follow: "queue" }, { agent: "automaton" }));
    const inbox = await get("/inbox");
    shaped(inbox, "get ~/inbox");
    expect(at(inbox.body, "messages")).toMatchObject([{ contact: "ann", status: "waiting" }]);
    const outbox = await get("/outbox?limit=1");
    shaped(outbox, "get ~/outbox");
    expect(at(outbox.body, "messages")).toMatchObject([{ contact: "bob", status: "delivered" }]);
    const id = at(outbox.body, "messages", 0, "id");
    expect((await json(`POST /v1/agents/automaton/outbox/${id}/delivered`)).body).toEqual({ delivered: false });
    const declared = await get("");
    shaped(declared, "get ~");
    expect(declared.body).toMatchObject({
      name: "automaton",
      model: "scripted",
      layers: expect.arrayContaining([expect.objectContaining({ id: "loop", source: "strata.yaml", tokens: 6 })]),
    });
    const snapshot = await get("/snapshot");
    shaped(snapshot, "get ~/snapshot");
    expect(snapshot.body).toMatchObject({ agent: { name: "automaton" }, inbox: 1, outbox: 0 });
    const acts = await get("/acts");
    shaped(acts, "get ~/acts");
    expect(JSON.stringify(acts.body)).toContain("read log");
    expect(JSON.stringify(acts.body)).not.toMatch(/\bann\b|\bbob\b/);
  });
});

describe("a refusal over HTTP that names a command", () => {
  /** Requests that are refused with one, and the route that does the same. */
  const REFUSED = [
    { line: `GET /v1/threads/thr_${NOBODY}`, route: "GET /v1/threads" },
    { line: `GET /v1/turns/trn_${NOBODY}`, route: "GET /v1/threads/THREAD/turns" },
    { line: `GET /v1/approvals/apr_${NOBODY}`, route: "GET /v1/approvals?status=waiting" },
    { line: "POST /v1/agents/automaton/life/tick", route: "POST /v1/agents/automaton/credits" },
    {
      line: "POST /v1/agents/automaton/credits",
      body: { dollars: -5 },
      route: "POST /v1/agents/automaton/credits",
    },
    {
      line: "POST /v1/memories/import",
      body: { agent: "automaton", name: "x.json", text: "{" },
      route: "GET /v1/memories/export",
    },
    {
      line: "POST /v1/threads",
      body: { agent: "automaton", contact: "~self" },
      route: "POST /v1/agents/automaton/life/tick",
    },
  ];

  it.each(REFUSED)("names the route for programs, too, and it is served: $line", async ({ line, body, route }) => {
    const { json } = await living();
    const { status, body: said } = await json(line, { body });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(at(said, "error", "message")).toMatch(/`strata [^`]+` or `/);
    expect(at(said, "error", "message")).toContain(`or \`${route}\``);
    const [method = "", path = ""] = route.replace(/\?.*/, "").split(" ");
    const served = ROUTES.some(
      (one) =>
        one.method === method.toLowerCase() && new RegExp(`^${one.url.replace(/\{\w+\}/g, "[^/]+")}$`).test(path),
    );
    expect(served, route).toBe(true);
  });
});
