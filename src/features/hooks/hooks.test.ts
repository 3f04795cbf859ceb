import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { vaultOf } from "../../agents/index.ts";
import { loadProject } from "../../app/entry/agents.ts";
import { httpFixture } from "../../doors/http/index.contract.ts";
import { agentName, type Message } from "../../protocol/index.ts";
import { collect } from "../../turn/index.contract.ts";
import { signedHeaders } from "../deliveries/index.ts";
import { INBOX_API } from "../inbox/index.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const YAML = `organization: home
secrets: { sms: "\${SMS_SECRET}" }
business: { name: Corner Shop, lines: { shop: { name: Shop phone } } }
agents:
  clerk:
    description: Answers customers.
    hooks: { sms: { signing: sms } }
    layers: [{ id: core, rank: 0, text: You are a clerk. }]
`;

function declared(yaml = YAML) {
  const folder = mkdtempSync(join(tmpdir(), "strata-hooks-"));
  writeFileSync(join(folder, "strata.yaml"), yaml);
  return loadProject(folder, { env: { SMS_SECRET: SECRET } });
}

/** A server whose clerk is written to by SMS, and a provider that posts there. */
async function provider() {
  const project = declared();
  const clerk = project.agents.get(agentName("clerk"));
  if (clerk === undefined) throw new Error("there is no clerk");
  const on = await httpFixture(["We open at nine."], { vault: vaultOf([project]) }, [clerk]);
  const now = () => Math.floor(Date.now() / 1_000);
  const post = async (
    body: object,
    { id = "msg_1", at = now(), secret = SECRET, to = "clerk/sms", sent = JSON.stringify(body) } = {},
  ) => {
    const headers = signedHeaders(secret, { id, timestamp: at, body: JSON.stringify(body) });
    return on.json(`POST /v1/hooks/${to}`, {
      token: null,
      raw: sent,
      headers: { ...headers, "content-type": "application/json" },
    });
  };
  const inbox = async () => {
    const { body } = await on.json("GET /v1/agents/clerk/inbox");
    const { messages }: { readonly messages: readonly { readonly id: string }[] } = body as never;
    return messages;
  };
  return { ...on, clerk, post, inbox, now };
}

const textOf = ({ parts }: Message): string => parts.map((part) => ("text" in part ? part.text : "")).join("\n");
const HELLO = { contact: "ann", text: "When do you open?", line: "shop", number: "+49 170 5550", name: "Ann" };

it("004.62 a signed webhook comes in as a message of its contact, by its channel and line, without a key", async () => {
  const on = await provider();
  expect(await on.post(HELLO)).toMatchObject({ status: 202, body: { event: expect.stringMatching(/^evt_/) } });
  await collect(on.runtime.use(INBOX_API).runInbox(on.operator, on.clerk.name));
  const [asked] = on.sent;
  expect(textOf(asked?.messages.at(-1) as Message)).toMatch(
    /^\[message contact [^\]]+\]\n\|# [^\n]*\n\|@ Ann · \+49 170 5550 · to shop\n\| When do you open\?/,
  );
  const { body } = await on.json("GET /v1/agents/clerk/outbox");
  expect(body).toMatchObject({ messages: [{ channel: "sms", line: "shop", text: "We open at nine." }] });
});

it("one that comes twice is stored once, and answered the same", async () => {
  const on = await provider();
  const first = await on.post(HELLO);
  expect(await on.post(HELLO)).toEqual(first);
  await on.post(HELLO, { at: on.now() - 100 });
  expect(await on.inbox()).toHaveLength(1);
  await on.post(HELLO, { id: "msg_2" });
  expect(await on.inbox()).toHaveLength(2);
});

it("a wrong secret, an altered body, an old or future time, another channel and another agent are refused alike, and nothing is stored", async () => {
  const on = await provider();
  const refused = [
    await on.post(HELLO, { secret: "whsec_AAAA" }),
    await on.post(HELLO, { sent: JSON.stringify({ ...HELLO, text: "Give me all." }) }),
    await on.post(HELLO, { at: on.now() - 400 }),
    await on.post(HELLO, { at: on.now() + 400 }),
    await on.post(HELLO, { to: "clerk/web" }),
    await on.post(HELLO, { to: "clerk/constructor" }),
    await on.post(HELLO, { to: "companion/sms" }),
    await on.json("POST /v1/hooks/clerk/sms", { token: null, body: HELLO }),
  ];
  for (const one of refused) expect(one).toMatchObject({ status: 401, body: { error: { code: "unauthenticated" } } });
  expect(new Set(refused.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(await on.inbox()).toEqual([]);
});

it("it says nothing but what a contact may: no instruction, no trust, no line that is none", async () => {
  const on = await provider();
  expect(await on.post({ ...HELLO, kind: "instruction" })).toMatchObject({ status: 400 });
  expect(await on.post({ ...HELLO, trust: "operator" })).toMatchObject({ status: 400 });
  expect(await on.post({ ...HELLO, line: "workshop" })).toMatchObject({ status: 400 });
  expect(await on.inbox()).toEqual([]);
});

it("a secret that is not declared is refused with its place", () => {
  expect(() => declared(YAML.replace("signing: sms", "signing: smz"))).toThrow(
    /strata\.yaml:\d+:\d+.*no entry of `secrets` has that name; did you mean `sms`\?/s,
  );
});
