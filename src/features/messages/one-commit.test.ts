import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { allParts } from "../../app/entry/features.ts";
import { contactId, DEFAULT_SCHEDULING, StrataError, untrusted } from "../../protocol/index.ts";
import { newFolder } from "../../store/index.contract.ts";
import { openSqlite, type SqliteOptions } from "../../store/index.ts";
import { collect, OPERATOR, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import type { TurnSteps } from "../../turn/index.ts";
import { MESSAGE_API } from "./api.ts";

const FUNCTIONS = ["receive", "openAndReceive", "receiveAndClaim", "claim"] as const;
const ANN = contactId("ann");
const REPLIES = ["One.", "Two.", "Three.", "Four."];

/** A runtime on a file, with what its store was asked to store and to claim since the last look. */
async function site(
  file: string,
  { sync, ...options }: Parameters<typeof testRuntime>[1] & Pick<SqliteOptions, "sync"> = {},
  replies = REPLIES,
) {
  const store = await openSqlite(file, { parts: await allParts(), ...(sync && { sync }) });
  const spies = FUNCTIONS.map((name) => vi.spyOn(store, name));
  const on = await testRuntime(replies, { store, ...options });
  const send = (text: string, more: { readonly externalId?: string; readonly contact?: string } = {}) => {
    const { contact = ANN, ...how } = more;
    const to = { agent: on.agent.name, contact: contactId(contact), channel: "test", key: "main" };
    const content = [{ type: "text", text: untrusted(text) }] as const;
    return on.runtime.use(MESSAGE_API).sendMessage(OPERATOR, { to, content, kind: "message", follow: "turn", ...how });
  };
  const replyTo = async (...given: Parameters<typeof send>): Promise<string | undefined> =>
    (await collect(send(...given))).flatMap((event) => (event.type === "done" ? event.text : [])).at(-1);
  const asked = (): string => {
    const counts = spies.flatMap(({ mock }, i) =>
      mock.calls.length === 0 ? [] : `${FUNCTIONS[i]} ${mock.calls.length}`,
    );
    for (const spy of spies) spy.mockClear();
    return counts.join(", ");
  };
  return { ...on, send, replyTo, asked };
}

const newFile = (): string => join(newFolder(), "strata.db");

it("a message whose sender waits is stored and claimed in one commit, and sent again it is answered from the record", async () => {
  const { replyTo, asked, sent } = await site(newFile());
  expect(await replyTo("a")).toBe("One.");
  expect(asked()).toBe("openAndReceive 1, claim 1");
  expect(await replyTo("b", { externalId: "m-2" })).toBe("Two.");
  expect(asked()).toBe("receiveAndClaim 1");
  expect(await replyTo("b", { externalId: "m-2" })).toBe("Two.");
  expect(asked()).toBe("receiveAndClaim 1");
  expect(sent).toHaveLength(2);
});

it("nothing is said of a message before it is on the disk, and its turn goes on meanwhile", async () => {
  let wait = Promise.resolve();
  let times = 0;
  const gathered: NonNullable<TurnSteps["gathered"]> = (_agent, _layers, found) => {
    times++;
    return found;
  };
  const { send, replyTo } = await site(newFile(), { sync: () => wait, steps: [{ gathered }] });
  await replyTo("a");
  const { promise, resolve } = Promise.withResolvers<void>();
  wait = promise;
  times = 0;
  const heard: string[] = [];
  const ended = (async () => {
    for await (const { type } of send("b")) heard.push(type);
  })();
  await expect.poll(() => times, { interval: 2 }).toBe(1);
  expect(heard).toEqual([]);
  resolve();
  await ended;
  expect([heard[0], heard.at(-1)]).toEqual(["received", "done"]);
});

it("a message of which the disk fails is not received", async () => {
  let wait = Promise.resolve();
  const { send, replyTo } = await site(newFile(), { sync: () => wait });
  await replyTo("a");
  wait = Promise.reject(new Error("EIO"));
  wait.catch(() => undefined);
  const heard: string[] = [];
  await expect(
    (async () => {
      for await (const { type } of send("b")) heard.push(type);
    })(),
  ).rejects.toMatchObject({ code: "store_failed" });
  expect(heard).toEqual([]);
});

it("a message that must wait for its place is stored at once", async () => {
  const [held, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const onStart = async ({
    lease,
  }: {
    readonly lease: { readonly claim: { readonly thread: { readonly scope: { readonly contact: string } } } };
  }) => {
    if (lease.claim.thread.scope.contact !== "bob") return;
    begun.resolve();
    await held.promise;
  };
  const scheduling = { ...DEFAULT_SCHEDULING, atOnce: 1 };
  const { send, replyTo, asked, runtime, open } = await site(newFile(), {
    steps: [{ onStart }],
    parts: { scheduling },
  });
  await replyTo("a");
  const bob = replyTo("b", { contact: "bob" });
  await begun.promise;
  asked();
  const sending = send("c");
  expect(await sending.next()).toMatchObject({ value: { type: "received", event: { status: "pending" } } });
  expect(asked()).toBe("receive 1");
  expect(await runtime.pending(OPERATOR, await open())).toHaveLength(1);
  held.resolve();
  expect((await collect(sending)).at(-1)).toMatchObject({ type: "done" });
  await bob;
});

it("a message is stored where its turn may not begin, and the sender learns why", async () => {
  let refused: StrataError | undefined;
  const checkStart = async () => refused;
  const { send, replyTo, runtime, open } = await site(newFile(), { steps: [{ checkStart }] });
  await replyTo("a");
  refused = new StrataError("not_allowed", "not on a Sunday");
  const sending = send("b", { externalId: "m-2" });
  expect(await sending.next()).toMatchObject({ value: { type: "received", event: { status: "pending" } } });
  await expect(collect(sending)).rejects.toThrow("not on a Sunday");
  expect(await runtime.pending(OPERATOR, await open())).toHaveLength(1);
  refused = undefined;
  expect(await replyTo("b", { externalId: "m-2" })).toBe("Two.");
});

it("a message follows what another program did on its thread, also where that erased the contact", async () => {
  const file = newFile();
  const [one, other] = [await site(file), await site(file, {}, ["Elsewhere."])];
  await one.replyTo("a");
  expect(await other.replyTo("b")).toBe("Elsewhere.");
  expect(await one.replyTo("c")).toBe("Two.");
  expect(JSON.stringify(one.sent.at(-1))).toContain("Elsewhere.");
  expect(one.asked()).toBe("openAndReceive 1, receiveAndClaim 1, claim 2");
  const before = await one.open();
  await other.runtime.erase(OPERATOR, { contact: ANN, agent: sampleAgent().name });
  expect(await one.replyTo("d")).toBe("Three.");
  expect(JSON.stringify(one.sent.at(-1))).not.toContain("Elsewhere.");
  expect((await one.open()).id).not.toBe(before.id);
});
