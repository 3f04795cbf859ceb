import { rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { allParts } from "../../app/entry/features.ts";
import { scripted } from "../../models/index.ts";
import {
  actorId,
  agentName,
  allow,
  contactId,
  DEFAULT_SCHEDULING,
  type Model,
  type ModelEvent,
  threadId,
} from "../../protocol/index.ts";
import { newFolder, said } from "../../store/index.contract.ts";
import { openSqlite } from "../../store/index.ts";
import { ORG } from "../../turn/index.contract.ts";
import { at, httpFixture, to } from "./index.contract.ts";

/** A model that answers when it is let, and how many wait for that. */
function gatedModel() {
  const { model } = scripted(Array.from({ length: 50 }, () => "Yes."));
  const gate = Promise.withResolvers<void>();
  let asked = 0;
  const gated: Model = {
    ...model,
    async *send(request, options): AsyncGenerator<ModelEvent> {
      asked++;
      await gate.promise;
      yield* model.send(request, options);
    },
  };
  return { gated, open: gate.resolve, asked: () => asked };
}

it("27.9 29.5 a full queue answers 503 with Retry-After and stores nothing; who has less than their share still gets in", async () => {
  const { gated, open, asked } = gatedModel();
  const stand = await httpFixture(gated, { scheduling: { ...DEFAULT_SCHEDULING, atOnce: 1, waiting: 2 } });
  const say = (thread: string, text: string) => stand.json(...to(thread, { text }));
  const threads = await Promise.all(["1", "2", "3", "4"].map((key) => stand.open("ann", key)));
  const [first = "", second = "", third = "", fourth = ""] = threads;
  const running = say(first, "Hi!");
  await expect.poll(asked).toBe(1);
  const waiting = [say(second, "Hi!"), say(third, "Hi!")];
  await expect.poll(() => stand.runtime.load()).toEqual({ running: 1, waiting: 2 });
  const refused = await stand.ask(...to(fourth, { text: "Hi!" }));
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({
    error: {
      code: "queue_full",
      retry: true,
      message: expect.stringMatching(/is full \(2 waiting, .* ann .*again in \d+ seconds?/),
    },
  });
  // A contact reads when to come again, and no setting.
  const contact = allow({ org: ORG, id: actorId("key:ann"), role: "contact", contact: contactId("ann") }, "run");
  const scope = { org: ORG, agent: agentName("companion"), contact: contactId("ann") };
  const told = await stand.runtime.checkRoom(contact, scope).catch((error) => error);
  expect(told).toMatchObject({ code: "queue_full", details: { retryAfter: expect.any(Number) } });
  expect(told.message).toMatch(/was not stored: send it again in \d+ seconds?$/);
  const stored = await stand.json(`GET /v1/threads/${fourth}/slots`);
  expect(at(stored.body, "slots")).toEqual([]);
  expect((await stand.json(`POST /v1/threads/${fourth}/run`)).status).toBe(503);
  // A client that does not wait for the answer is not refused, and neither is another contact.
  expect(await stand.json(...to(fourth, { text: "Later.", follow: "queue" }))).toMatchObject({ status: 202 });
  const bob = say(await stand.open("bob"), "Hi!");
  await expect.poll(() => stand.runtime.load().waiting).toBe(3);
  open();
  const ends = await Promise.all([running, ...waiting, bob]);
  expect(ends.map(({ status, body }) => [status, at(body, "done", "text")])).toEqual(ends.map(() => [200, "Yes."]));
  expect((await stand.json(`POST /v1/threads/${fourth}/run`)).status).toBe(200);
});

it("29.5 /health and reads never wait behind turns, and a stream says how many turns wait before its own", async () => {
  const { gated, open, asked } = gatedModel();
  const stand = await httpFixture(gated, { scheduling: { ...DEFAULT_SCHEDULING, atOnce: 1 } });
  const all = [stand.json(...to(await stand.open("c0"), { text: "Hi!" }))];
  await expect.poll(asked).toBe(1);
  for (let i = 1; i <= 20; i++) all.push(stand.json(...to(await stand.open(`c${i}`), { text: "Hi!" })));
  await expect.poll(() => stand.runtime.load().waiting).toBe(20);
  const stream = await stand.ask(...to(await stand.open("ann"), { text: "Hi!" }, { stream: true }));
  expect([stream.status, stream.headers.get("queue-length")]).toEqual([200, "20"]);
  const health = await stand.json("GET /health");
  expect(health).toMatchObject({ status: 200, body: { turns: { running: 1 } } });
  expect((await stand.json("GET /v1/threads")).status).toBe(200);
  expect(asked()).toBe(1);
  open();
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual(all.map(() => 200));
  expect(await stream.text()).toContain("event: done");
});

it("29.5 a stream says its place in the queue, in which contacts take turns", async () => {
  const { gated, open, asked } = gatedModel();
  const stand = await httpFixture(gated, { scheduling: { ...DEFAULT_SCHEDULING, atOnce: 1 } });
  const stream = async (contact: string, key: string) =>
    stand.ask(...to(await stand.open(contact, key), { text: "Hi!" }, { stream: true }));
  const first = await stream("ann", "0");
  expect(first.headers.get("queue-place")).toBe(null);
  await expect.poll(asked).toBe(1);
  const flood: Response[] = [];
  for (let i = 1; i <= 8; i++) flood.push(await stream("ann", `${i}`));
  expect(flood.map(({ headers }) => headers.get("queue-place"))).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"]);
  const bob = await stream("bob", "main");
  expect(["queue-length", "queue-place"].map((name) => bob.headers.get(name))).toEqual(["8", "2"]);
  const cleo = await stream("cleo", "main");
  expect(cleo.headers.get("queue-place")).toBe("3");
  open();
  for (const one of [first, ...flood, bob, cleo]) expect(await one.text()).toContain("event: done");
});

it("29.3 an answer tells what was read only once it is on the disk", async () => {
  const folder = newFolder();
  let gate = Promise.resolve();
  const store = await openSqlite(join(folder, "record.sqlite"), { parts: await allParts(), sync: () => gate });
  const stand = await httpFixture([], { store });
  const thread = await stand.runtime.thread(stand.operator, threadId(await stand.open("ann")));
  const read = () => stand.ask(`GET /v1/threads/${thread.id}/slots`);
  await read();
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  const posting = store.receive(thread.scope, thread.id, [said("Hi!")]);
  let answered = false;
  const reading = read().then((answer) => {
    answered = true;
    return answer.status;
  });
  for (let i = 0; i < 500; i++) await setImmediate();
  expect(await stand.json("GET /health")).toMatchObject({ status: 200 });
  expect(answered).toBe(false);
  resolve();
  expect(await reading).toBe(200);
  await posting;
  await store.close();
  rmSync(folder, { recursive: true });
});
