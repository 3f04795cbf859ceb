import { describe, expect, it } from "vitest";
import { allOperations } from "../../app/entry/features.ts";
import { MEMORY_API } from "../../features/memories/index.ts";
import { contactId, untrusted } from "../../protocol/index.ts";
import { at, eventsOf, type HttpFixture, httpFixture, type Json, NOW, to } from "./index.contract.ts";
import { routesOf } from "./routes.ts";

const ROUTES = routesOf(await allOperations());

const NOBODY = "0".repeat(26);
const CALLS = {
  parts: [{ text: "One moment." }, { call: "memory_save", input: { content: "ann has a cat called Miso" } }],
};

/** A stage where ann has had a turn of two requests. */
async function spoken(): Promise<HttpFixture & { readonly thread: string; readonly turn: string }> {
  const stand = await httpFixture([CALLS, "Noted: Miso."]);
  const thread = await stand.open();
  const { body } = await stand.json(...to(thread, { text: "My cat is called Miso." }));
  return { ...stand, thread, turn: String(at(body, "done", "turn")) };
}

/** The answer has exactly the shape in the OpenAPI document. */
function shaped({ body }: Json, method: string, url: string): void {
  const answer = ROUTES.find((one) => one.method === method && one.url === url)?.shapes.answer;
  expect(answer?.parse(body)).toEqual(body);
}

describe("agents", () => {
  it("are listed with who answers for them", async () => {
    const { json, runtime, operator } = await httpFixture();
    const answer = await json("GET /v1/agents");
    const [agent] = runtime.agents(operator);
    expect(answer).toMatchObject({
      status: 200,
      body: { agents: [{ name: "companion", version: agent?.version, model: "scripted" }] },
    });
    shaped(answer, "get", "/v1/agents");
  });
});

describe("threads", () => {
  it("are opened once for a conversation, and listed by the newest activity", async () => {
    const { json, open, thread } = await spoken();
    const bob = await open("bob");
    expect(await open()).toBe(thread);
    expect(await open("ann", "other")).not.toBe(thread);
    const one = await json(`GET /v1/threads/${thread}`);
    expect(one.body).toMatchObject({
      id: thread,
      scope: { org: "home", agent: "companion", contact: "ann" },
      channel: "http",
      key: "main",
      turns: 1,
    });
    shaped(one, "get", "/v1/threads/{id}");
    const all = await json("GET /v1/threads");
    shaped(all, "get", "/v1/threads");
    expect(at(all.body, "threads")).toHaveLength(3);
    expect((await json("GET /v1/threads?agent=companion&contact=bob")).body).toMatchObject({ threads: [{ id: bob }] });
    const first = (await json("GET /v1/threads?limit=1")).body;
    expect(at(first, "threads")).toHaveLength(1);
    const second = (await json(`GET /v1/threads?limit=1&after=${at(first, "next")}`)).body;
    expect(at(second, "threads")).toHaveLength(1);
    expect(at(second, "threads")).not.toEqual(at(first, "threads"));
    const rest = (await json(`GET /v1/threads?limit=2&after=${at(second, "next")}`)).body;
    expect(rest).toMatchObject({ threads: [{ id: expect.any(String) }] });
    expect(rest).not.toHaveProperty("next");
  });

  it("are explained: the newest, one with its turns, or a turn", async () => {
    const { json, thread, turn } = await spoken();
    const explained = async (query: string) => {
      const answer = await json(`GET /v1/explain${query}`);
      shaped(answer, "get", "/v1/explain");
      return answer.body;
    };
    expect(await explained("")).toEqual({ threads: [expect.objectContaining({ id: thread })] });
    expect(await explained(`?id=${thread}`)).toMatchObject({ thread: { id: thread }, turns: [{ id: turn }] });
    expect(await explained(`?id=${turn}`)).toMatchObject({ turn: { id: turn, thread } });
    expect(await json("GET /v1/explain?id=ann")).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_id" } },
    });
  });

  it("show what was said and every turn", async () => {
    const { json, thread, turn } = await spoken();
    const slots = await json(`GET /v1/threads/${thread}/slots`);
    shaped(slots, "get", "/v1/threads/{id}/slots");
    expect(slots.body).toMatchObject({ slots: expect.arrayContaining([expect.objectContaining({ from: "ann" })]) });
    const turns = await json(`GET /v1/threads/${thread}/turns`);
    shaped(turns, "get", "/v1/threads/{id}/turns");
    expect(turns.body).toMatchObject({ turns: [{ id: turn, status: "done" }] });
  });

  it.each([
    ["GET /v1/threads/thr_x", 400, "invalid_id"],
    [`GET /v1/threads/thr_${NOBODY}`, 404, "thread_not_found"],
    [`GET /v1/threads/thr_${NOBODY}/slots`, 404, "thread_not_found"],
    [`GET /v1/threads/thr_${NOBODY}/turns`, 404, "thread_not_found"],
    [`POST /v1/threads/thr_${NOBODY}/run`, 404, "thread_not_found"],
    [`POST /v1/threads/thr_${NOBODY}/cancel`, 404, "thread_not_found"],
    [`POST /v1/threads/thr_${NOBODY}/fork`, 404, "thread_not_found"],
    ["GET /v1/threads?agent=nobody", 404, "agent_not_found"],
    ["GET /v1/threads?agent=No%20slug", 400, "invalid_id"],
    ["GET /v1/threads?limit=0", 400, "invalid_input"],
    ["GET /v1/threads?limit=1001", 400, "invalid_input"],
    ["GET /v1/threads?limit=1e2", 400, "invalid_input"],
    ["GET /v1/threads?limit=1&limit=2", 400, "invalid_input"],
    ["GET /v1/threads?__proto__=1", 400, "invalid_input"],
    ["GET /v1/threads?contcat=ann", 400, "invalid_input"],
  ])("%s is answered with %d %s", async (line, status, code) => {
    const { json } = await httpFixture();
    expect(await json(line)).toMatchObject({ status, body: { error: { code, retry: false } } });
  });

  it("are forked after a turn: the fork continues, the thread stays", async () => {
    const { json, thread, turn } = await spoken();
    const made = await json(`POST /v1/threads/${thread}/fork`, { body: { turn, key: "other" } });
    shaped(made, "post", "/v1/threads/{id}/fork");
    expect(made).toMatchObject({ status: 200, body: { key: "other", forkedFrom: { thread, turn }, turns: 0 } });
    expect(await json(`POST /v1/threads/${thread}/fork`, { body: { key: "other" } })).toEqual(made);
    const elsewhere = await json(`POST /v1/threads/${thread}/fork`, { body: { channel: "mail" } });
    expect(elsewhere).toMatchObject({ status: 200, body: { channel: "mail", forkedFrom: { thread, turn } } });
    const own = await json(`POST /v1/threads/${thread}/fork`, { body: {} });
    expect(at(own.body, "id")).not.toBe(at(made.body, "id"));
    expect(await json(`POST /v1/threads/${thread}/fork`, { body: { key: "main" } })).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_input" } },
    });
    expect((await json(`GET /v1/threads/${thread}`)).body).toMatchObject({ turns: 1 });
  });

  it("are not opened for an agent that is not declared", async () => {
    const { json } = await httpFixture();
    expect(await json("POST /v1/threads", { body: { agent: "nobody", contact: "ann" } })).toMatchObject({
      status: 404,
      body: { error: { code: "agent_not_found", message: expect.stringContaining("companion") } },
    });
  });
});

describe("turns", () => {
  it("are shown as recorded, each request explained and as it was sent", async () => {
    const { ask, json, turn, sent } = await spoken();
    const record = await json(`GET /v1/turns/${turn}`);
    shaped(record, "get", "/v1/turns/{id}");
    expect(at(record.body, "requests")).toHaveLength(2);
    const explained = await json(`GET /v1/turns/${turn}/requests/2`);
    shaped(explained, "get", "/v1/turns/{id}/requests/{n}");
    expect(explained.body).toMatchObject({ turn, n: 2, taint: "contact", wire: "anthropic:claude-sonnet-4-5" });
    expect(at(explained.body, "request")).toEqual(JSON.parse(JSON.stringify(sent[1])));
    expect(at(explained.body, "ledger")).toEqual(at(record.body, "requests", 1, "ledger"));

    const wire = await ask(`GET /v1/turns/${turn}/requests/2/wire`);
    expect(wire.headers.get("content-type")).toBe("application/json");
    expect(await wire.text()).toContain('{"type":"text","text":"One moment."}');
  });

  it("are answered again on a fork from before them, awaited or streamed", async () => {
    const { ask, json, open } = await httpFixture(["one", "another one", "a third one"]);
    const thread = await open();
    const { body } = await json(...to(thread, { text: "Hi" }));
    const turn = String(at(body, "done", "turn"));
    const again = await json(`POST /v1/turns/${turn}/regenerate`);
    shaped(again, "post", "/v1/turns/{id}/regenerate");
    expect(again.body).toMatchObject({ done: { text: "another one" } });
    const { body: made } = await json(`GET /v1/turns/${at(again.body, "done", "turn")}`);
    expect(at(made, "thread")).not.toBe(thread);
    expect((await json(`GET /v1/threads/${at(made, "thread")}`)).body).toMatchObject({
      forkedFrom: { thread, turn: null },
    });
    const streamed = eventsOf(await (await ask(`POST /v1/turns/${turn}/regenerate?mode=stream`)).text());
    expect(streamed.at(0)).toMatchObject({ type: "turn-start" });
    expect(streamed.at(-1)).toMatchObject({ type: "done", data: { text: "a third one" } });
    expect((await json(`GET /v1/threads/${thread}`)).body).toMatchObject({ turns: 1 });
    expect(await json(`POST /v1/turns/trn_${NOBODY}/regenerate`)).toMatchObject({
      status: 404,
      body: { error: { code: "turn_not_found" } },
    });
  });

  it("are looked for in vain", async () => {
    const { json, turn } = await spoken();
    for (const [path, status, code] of [
      [`trn_${NOBODY}`, 404, "turn_not_found"],
      [`trn_${NOBODY}/requests/1`, 404, "turn_not_found"],
      ["thr_1", 400, "invalid_id"],
      [`${turn}/requests/3`, 404, "turn_not_found"],
      [`${turn}/requests/3/wire`, 404, "turn_not_found"],
      [`${turn}/requests/0`, 400, "invalid_input"],
      [`${turn}/requests/x/wire`, 400, "invalid_input"],
    ]) {
      expect(await json(`GET /v1/turns/${path}`), `${path}`).toMatchObject({ status, body: { error: { code } } });
    }
  });
});

describe("compose", () => {
  it("shows the request that would be sent, and sends and stores nothing", async () => {
    const { json, sent } = await httpFixture();
    const composed = await json("POST /v1/compose", { body: { agent: "companion", contact: "ann", text: "hello" } });
    shaped(composed, "post", "/v1/compose");
    expect(composed.body).toMatchObject({ agent: { name: "companion" }, model: "scripted", taint: "contact" });
    expect(JSON.stringify(at(composed.body, "request", "messages"))).toContain("| hello");
    expect(sent).toHaveLength(0);
    expect((await json("GET /v1/threads")).body).toEqual({ threads: [] });
  });

  it("refuses an agent that is not declared and a message that says nothing", async () => {
    const { json } = await httpFixture();
    const body = { agent: "companion", contact: "ann", text: " \n" };
    expect(await json("POST /v1/compose", { body })).toMatchObject({ status: 400 });
    expect(await json("POST /v1/compose", { body: { ...body, agent: "nobody", text: "x" } })).toMatchObject({
      status: 404,
    });
  });
});

describe("memories", () => {
  it("are saved, listed, searched and forgotten", async () => {
    const { json } = await httpFixture();
    const whose = { agent: "companion", contact: "ann" };
    const saved = await json("POST /v1/memories", { body: { ...whose, content: "Miso is a cat", tags: ["pets"] } });
    shaped(saved, "post", "/v1/memories");
    expect(saved.body).toMatchObject({ content: "Miso is a cat", tags: ["pets"], trust: "operator", at: NOW });
    await json("POST /v1/memories", { body: { ...whose, content: "ann lives in Oslo" } });

    const all = await json("GET /v1/memories?agent=companion&contact=ann");
    shaped(all, "get", "/v1/memories");
    expect(at(all.body, "memories")).toHaveLength(2);
    const found = await json("GET /v1/memories/search?agent=companion&contact=ann&query=cat%20%22OR&limit=5");
    shaped(found, "get", "/v1/memories/search");
    expect(found.body).toMatchObject({ memories: [{ content: "Miso is a cat", score: expect.any(Number) }] });
    const path0 = `/v1/memories/${at(saved.body, "id")}?agent=companion`;
    const shown = await json(`GET ${path0}&contact=ann`);
    shaped(shown, "get", "/v1/memories/{id}");
    expect(shown.body).toMatchObject({ content: "Miso is a cat", by: "operator", support: 1 });
    expect(await json(`GET ${path0}`)).toMatchObject({ status: 404, body: { error: { code: "memory_not_found" } } });

    const path = `/v1/memories/${at(saved.body, "id")}?agent=companion&contact=ann`;
    const forgotten = await json(`DELETE ${path}`);
    shaped(forgotten, "delete", "/v1/memories/{id}");
    expect(await json(`DELETE ${path}`)).toMatchObject({ status: 404, body: { error: { code: "memory_not_found" } } });
    expect(at((await json("GET /v1/memories?agent=companion&contact=ann")).body, "memories")).toHaveLength(1);
  });

  it("are filtered, superseded, explained and counted", async () => {
    const { json } = await httpFixture();
    const whose = { agent: "companion", contact: "ann" };
    const note = { ...whose, content: "ann lives in Oslo", tags: ["home"], validFrom: 5 };
    const { body: old } = await json("POST /v1/memories", { body: note });
    expect((await json("POST /v1/memories", { body: note })).body).toMatchObject({ merged: true, support: 2 });
    const moved = { ...whose, content: "ann lives in Rome", supersedes: at(old, "id"), kind: "block" };
    const saved = await json("POST /v1/memories", { body: moved });
    shaped(saved, "post", "/v1/memories");
    await json("POST /v1/memories", { body: { agent: "companion", content: "Everyone lives somewhere" } });

    const listed = async (query: string) => {
      const { body } = await json(`GET /v1/memories?agent=companion&contact=ann&${query}`);
      return JSON.stringify(at(body, "memories"));
    };
    expect(await listed("")).not.toContain("Oslo");
    expect(await listed("superseded=true&tag=home")).toContain('"supersededBy"');
    expect(await listed("kind=fact")).toBe("[]");
    expect(await listed("kind=fact&kind=block")).toContain("Rome");
    expect(await listed(`since=${NOW + 1}`)).toBe("[]");
    expect(await listed("before=2999-01-01&trust=operator")).toContain("Rome");

    const why = await json("GET /v1/memories/explain?agent=companion&contact=ann&query=who%20lives%20where");
    shaped(why, "get", "/v1/memories/explain");
    const contents = JSON.stringify(at(why.body, "hits"));
    expect(contents).toContain("Rome");
    expect(contents).toContain("Everyone");
    expect(contents).toContain('"features":{');

    const stats = await json("GET /v1/memories/stats?agent=companion&contact=ann");
    shaped(stats, "get", "/v1/memories/stats");
    expect(stats.body).toMatchObject({ stats: [{ kind: "block", memories: 1 }] });

    const body = { agent: "companion", contact: "ann", groupBy: "session" };
    const summed = await json("POST /v1/memories/consolidate", { body });
    shaped(summed, "post", "/v1/memories/consolidate");
    expect(summed.body).toEqual({ summaries: [] });

    for (const [method, url] of [
      ["get", "/v1/memories/vectors"],
      ["post", "/v1/memories/embed"],
    ] as const) {
      const told = await json(`${method.toUpperCase()} ${url}`, { ...(method === "post" && { body: {} }) });
      shaped(told, method, url);
      expect(told.body).toMatchObject({ agents: [{ agent: "companion", vectors: 0, waiting: 0 }] });
    }
  });

  it("go out as a file and come back for another contact, once", async () => {
    const { ask, json } = await httpFixture();
    await json("POST /v1/memories", {
      body: { agent: "companion", contact: "ann", content: "Likes tea", tags: ["tea"] },
    });
    const file = await ask("GET /v1/memories/export?agent=companion&contact=ann");
    expect(file.headers.get("content-type")).toBe("application/jsonl; charset=utf-8");
    const text = await file.text();
    expect(JSON.parse(text)).toMatchObject({ content: "Likes tea", at: new Date(NOW).toISOString() });
    const body = { agent: "companion", contact: "bob", text: `${text}nope\n`, name: "ann.jsonl" };
    const imported = await json("POST /v1/memories/import", { body });
    shaped(imported, "post", "/v1/memories/import");
    expect(imported.body).toMatchObject({ saved: 1, known: 0, refused: [{ where: "line 2", message: "is not JSON" }] });
    expect((await json("POST /v1/memories/import", { body })).body).toMatchObject({ saved: 0, known: 1 });
    const markdown = await ask("GET /v1/memories/export?agent=companion&contact=bob&format=markdown");
    expect(markdown.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(await markdown.text()).toContain("## tea\n\n- [2026-11-21T09:30:00Z] Likes tea\n");
  });

  it.each([
    ["GET /v1/memories/explain?agent=companion", undefined, 400],
    ["GET /v1/memories?agent=companion&kind=facts", undefined, 400],
    ["GET /v1/memories?agent=companion&limit=1&limit=2", undefined, 400],
    ["GET /v1/memories?agent=companion&since=yesterday", undefined, 400],
    ["GET /v1/memories?agent=companion&superseded=no", undefined, 400],
    ["GET /v1/memories/export?agent=companion&format=csv", undefined, 400],
    [`GET /v1/memories/mem_${NOBODY}?agent=companion`, undefined, 404],
    ["POST /v1/memories", { agent: "companion", content: "x", supersedes: `mem_${NOBODY}` }, 404],
    ["POST /v1/memories", { agent: "companion", content: "x", kind: "message" }, 400],
    ["POST /v1/memories", { agent: "companion", content: `The key is AKIA${"IOSFODNN7EXAMPLE"}` }, 400],
    ["POST /v1/memories/import", { agent: "companion", text: '{"hello": 1,\n"x": 2}', format: "json" }, 400],
    ["GET /v1/memories", undefined, 400],
    ["GET /v1/memories?agent=nobody", undefined, 404],
    ["GET /v1/memories/search?agent=companion&query=", undefined, 400],
    [`DELETE /v1/memories/mem_${NOBODY}`, undefined, 400],
    ["DELETE /v1/memories/x?agent=companion", undefined, 400],
    [`DELETE /v1/memories/mem_${NOBODY}?agent=nobody`, undefined, 404],
    ["POST /v1/memories", { agent: "nobody", content: "x" }, 404],
    ["POST /v1/memories", { agent: "companion", content: "" }, 400],
    ["POST /v1/memories", { agent: "companion", content: "x".repeat(4_001) }, 400],
    ["POST /v1/memories", { agent: "companion", content: "x", tags: ["a\nb"] }, 400],
    ["POST /v1/memories", { agent: "companion", content: "x", trust: "platform" }, 400],
  ])("%s %j is refused with %i", async (line, body, status) => {
    const { json } = await httpFixture();
    expect(await json(line, { body })).toMatchObject({ status });
  });
});

describe("a contact", () => {
  it("is erased of one agent or of all, and by no stranger", async () => {
    const { json, runtime, stranger } = await spoken();
    await json("POST /v1/memories", { body: { agent: "companion", contact: "bob", content: "Bob has a cat" } });
    await expect(runtime.erase(stranger, { contact: contactId("ann") })).resolves.toEqual([]);
    const erased = await json("DELETE /v1/contacts/ann?agent=companion");
    shaped(erased, "delete", "/v1/contacts/{contact}");
    expect(erased).toMatchObject({ status: 200, body: { erased: ["companion"] } });
    const searched = await json("GET /v1/memories/search?agent=companion&contact=ann&query=cat");
    expect(searched.body).toEqual({ memories: [] });
    expect((await json("DELETE /v1/contacts/ann")).body).toEqual({ contact: "ann", erased: [] });
    expect((await json("DELETE /v1/contacts/ann?agent=nobody")).status).toBe(404);
    const bobs = await json("GET /v1/memories/search?agent=companion&contact=bob&query=cat");
    expect(bobs.body).toMatchObject({ memories: [{ content: "Bob has a cat" }] });
  });
});

describe("usage", () => {
  it("is summed over an agent or one contact with it", async () => {
    const { json } = await spoken();
    const all = await json("GET /v1/usage?agent=companion");
    shaped(all, "get", "/v1/usage");
    expect(all.body).toMatchObject({ agents: [{ agent: "companion", turns: 1 }], total: { turns: 1, requests: 2 } });
    expect((await json("GET /v1/usage")).body).toEqual(all.body);
    expect((await json("GET /v1/usage?agent=companion&contact=bob")).body).toMatchObject({ total: { turns: 0 } });
    expect((await json("GET /v1/usage?agent=nobody")).status).toBe(404);
  });
});

describe("what was said", () => {
  it("goes out as a recording: of all threads, or of one", async () => {
    const { ask, json, thread, open } = await spoken();
    await open("bob");
    const whole = await ask("GET /v1/export");
    expect(whole.headers.get("content-type")).toBe("application/jsonl; charset=utf-8");
    const text = await whole.text();
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(lines).toMatchObject([
      { thread, from: "contact", name: "ann" },
      { thread, from: "agent", calls: [{ tool: "memory_save" }] },
      { thread, from: "tool", text: "Saved." },
      { thread, from: "agent" },
    ]);
    expect(await (await ask(`GET /v1/export?thread=${thread}`)).text()).toBe(text);
    expect((await json(`GET /v1/export?thread=thr_${NOBODY}`)).status).toBe(404);
  });
});

describe("another organization", () => {
  it("law 5: does not exist, whatever is asked with its ids", async () => {
    const { runtime, stranger, json } = await httpFixture(["a secret"]);
    const [agent] = runtime.agents(stranger);
    if (agent === undefined) throw new Error("the other organization has no agent");
    const contact = contactId("ann");
    const thread = await runtime.open(stranger, { agent: agent.name, contact, channel: "http", key: "main" });
    const { memory: content } = await runtime
      .use(MEMORY_API)
      .remember(stranger, { ...thread.scope }, { content: NOTE, tags: [] });
    const path = `/v1/threads/${thread.id}`;
    const lines = [
      [`GET ${path}`],
      [`GET ${path}/slots`],
      [`GET ${path}/turns`],
      ["POST /v1/agents/companion/messages", { thread: thread.id, text: "hi" }],
      [`POST ${path}/run`],
      [`POST ${path}/cancel`],
      [`DELETE /v1/memories/${content.id}?agent=companion&contact=ann`],
    ] as const;
    for (const [line, body] of lines) {
      const hidden = await json(line, { body });
      const nobody = { ...body, ...(body && "thread" in body && { thread: `thr_${NOBODY}` }) };
      const missing = await json(line.replace(/_[0-9a-z]{26}/, `_${NOBODY}`), { body: body && nobody });
      expect(hidden.status, line).toBe(404);
      // The same words for hidden things and for those that never existed.
      const id = /(thr|mem)_[0-9a-z]{26}/g;
      expect(JSON.stringify(hidden.body).replace(id, ""), line).toBe(JSON.stringify(missing.body).replace(id, ""));
    }
    expect(await runtime.slots(stranger, thread.id)).toEqual([]);
    expect((await json("GET /v1/threads")).body).toEqual({ threads: [] });
    expect((await json("GET /v1/memories?agent=companion&contact=ann")).body).toEqual({ memories: [] });
  });
});

const NOTE = untrusted("ann of the other organization");
