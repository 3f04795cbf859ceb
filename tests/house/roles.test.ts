import { beforeAll, describe, expect, it } from "vitest";
import { readFiles } from "../../checks/files.ts";
import { allOperations } from "../../src/app/entry/features.ts";
import { at, type HttpFixture, httpFixture } from "../../src/doors/http/index.contract.ts";
import { fieldsOf, mcpTools, type Operation, pathFields } from "../../src/features/index.ts";
import {
  type Actor,
  actorId,
  agentName,
  asStrataError,
  contactId,
  orgId,
  ROLES,
  type Role,
} from "../../src/protocol/index.ts";
import { sampleAgent } from "../../src/turn/index.contract.ts";

/** Who reaches what, as a person has reviewed it: a line for each operation, here or in its feature's folder. */
const ROWS = new Map(
  readFiles((path) => /^(tests\/house|src\/features\/[\w-]+)\/roles\.txt$/.test(path))
    .flatMap(({ text }) => text.split("\n"))
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [name = "", ...roles] = line.split(/\s+/);
      return [name, roles] as const;
    }),
);

const EXPECTED = new Map([...ROWS].filter(([name]) => !name.includes("+")));
/** Who may also set a field of it: `message.send+mode`. */
const FIELD_ROWS = new Map([...ROWS].filter(([name]) => name.includes("+")));

const OPERATIONS = await allOperations();
/** Fields that choose how a turn is sent, or whose words something is, each with a value. Those of a reader only filter. */
const FIELD_SAMPLES: Readonly<Record<string, unknown>> = {
  mode: "minimal",
  trust: "operator",
  parameters: { temperature: 0.5 },
  tools: [],
  answers: [{ call: `cal_${"0".repeat(26)}`, content: [{ type: "text", text: "12:00" }] }],
};
const GUARDED = OPERATIONS.filter(({ may }) => may !== "read" && may !== "explain").flatMap((operation) =>
  fieldsOf(operation.takes).flatMap(({ name }) =>
    name in FIELD_SAMPLES ? [[`${operation.name}+${name}`, operation, name] as const] : [],
  ),
);
const HOME = orgId("home");

const ACTORS: Readonly<Record<Role, Actor>> = {
  platform: { org: HOME, id: actorId("program:strata"), role: "platform" },
  operator: { org: HOME, id: actorId("token:operator"), role: "operator" },
  member: { org: HOME, id: actorId("member:mia"), role: "member" },
  agent: { org: HOME, id: actorId("agent:companion"), role: "agent", agent: agentName("companion") },
  contact: {
    org: HOME,
    id: actorId("contact:ann"),
    role: "contact",
    agent: agentName("companion"),
    contact: contactId("ann"),
  },
  auditor: { org: HOME, id: actorId("key:auditor"), role: "auditor" },
};

const isExpected = (name: string, role: Role): boolean => EXPECTED.get(name)?.includes(role) ?? false;

/** The reach of a key as `key.create` takes it, and the keys of each role. The platform asks with no key. */
const REACHES: Readonly<Partial<Record<Role, object>>> = {
  operator: {},
  member: {},
  agent: { agent: "companion" },
  contact: { agent: "companion", contact: "ann" },
  auditor: {},
};
const keys = new Map<Role, string>();

let fixture: HttpFixture;
const ids = new Map<string, string>();

beforeAll(async () => {
  fixture = await httpFixture(["Hello."], {}, [sampleAgent({}, "other")]);
  for (const role of ROLES) if (REACHES[role]) keys.set(role, await fixture.key(role, REACHES[role]));
  const { body } = await fixture.json("POST /v1/keys", { body: { name: "spare", role: "auditor" } });
  ids.set("key", String(at(body, "id")));
  const thread = await fixture.open("ann");
  const said = await fixture.json("POST /v1/agents/companion/messages", { body: { thread, text: "Hi" } });
  const saved = await fixture.json("POST /v1/memories", {
    body: { agent: "companion", contact: "ann", content: "Ann has a cat" },
  });
  ids.set("thr", thread);
  ids.set("trn", String(at(said.body, "done", "turn")));
  ids.set("mem", String(at(saved.body, "id")));
});

/** A value for each kind of field, whichever operation takes it. Erased is a contact of whom nothing else is asked. */
function sampleOf({ takes, name }: Operation): Record<string, unknown> {
  const contact = name === "contact.erase" ? "zoe" : "ann";
  const named: Readonly<Record<string, unknown>> = { agent: "companion", contact, sender: "ann" };
  const required = fieldsOf(takes).filter((field) => field.required || field.name === "agent");
  const message = name === "message.send" ? { thread: ids.get("thr"), text: "Hi", follow: "queue" } : {};
  const sent = name === "payload.send" ? { payload: "{}", follow: "queue" } : message;
  const each = required.map(({ name: field, message: sentence, choices, type }) => {
    const kind =
      /\b(thr|trn|evt|mem|apr|drf|out|key)_/.exec(sentence)?.[1] ?? (sentence === "another turn" ? "trn" : undefined);
    if (kind !== undefined) return [field, ids.get(kind) ?? `${kind}_${"0".repeat(26)}`];
    return [field, named[field] ?? choices?.[0] ?? (type === "number" ? 1 : "x")];
  });
  return { ...Object.fromEntries(each), ...sent };
}

/** What an operation answers over HTTP to the key of a role: the code of its error, or nothing, and the sentence. */
async function overHttp(operation: Operation, values: Readonly<Record<string, unknown>>, role: Role) {
  const token = keys.get(role);
  return operation.at === undefined || token === undefined
    ? undefined
    : refusalIn(await asked(operation, values, token));
}

async function asked({ at: place }: Operation, values: Readonly<Record<string, unknown>>, token: string) {
  if (place === undefined) throw new Error("it has no route");
  const { method, path } = place;
  const inPath = pathFields(place);
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name] ?? "garbage")));
  const rest = Object.entries(values).filter(([name]) => !inPath.includes(name));
  const query =
    method === "post"
      ? ""
      : `?${new URLSearchParams(rest.map(([name, value]): [string, string] => [name, String(value)]))}`;
  const body = method === "post" ? { body: Object.fromEntries(rest) } : {};
  return fixture.ask(`${method.toUpperCase()} ${url}${query}`, { token, ...body });
}

/** Keys that reach neither ann's thread nor what the companion keeps. */
const FOREIGN: readonly (readonly [Role, { readonly agent: string; readonly contact?: string }])[] = [
  ["operator", { agent: "other" }],
  ["member", { agent: "other" }],
  ["agent", { agent: "other" }],
  ["contact", { agent: "other", contact: "bob" }],
  ["auditor", { agent: "other" }],
  ...(["operator", "member", "contact", "auditor"] as const).map(
    (role) => [role, { agent: "companion", contact: "bob" }] as const,
  ),
];

/** The same question about what nobody has. Who talks with the companion knows that it is there. */
const elsewhere = (values: Readonly<Record<string, unknown>>, { agent: own }: { readonly agent: string }) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (name === "agent") return [name, own === value ? value : "nowhere"];
      if (name === "contact" || name === "sender") return [name, "nobody"];
      return [name, typeof value === "string" ? value.replace(/(?<=_)[0-9a-z]{26}$/, "0".repeat(26)) : value];
    }),
  );

/** An answer without the names that were in the question. */
const plainly = (text: string): string =>
  text
    .replace(/(?<=_)[0-9a-z]{26}/g, "ID")
    .replaceAll(/\b(companion|nowhere)\b/g, "AGENT")
    .replaceAll(/\b(ann|zoe|nobody)\b/g, "CONTACT");

async function refusalIn(response: Response) {
  const text = await response.text();
  if (response.ok) return { code: undefined, message: "" };
  const body: unknown = JSON.parse(text);
  return { code: at(body, "error", "code"), message: at(body, "error", "message") };
}

/** The same as the command line calls it. */
async function asCommand(operation: Operation, values: unknown, role: Role) {
  const naming = { whole: "the command", field: (name: string) => name };
  const call = { actor: ACTORS[role], signal: new AbortController().signal, progress: () => undefined };
  try {
    const ran = await operation.run(fixture.parts, { values, naming }, call);
    if (!("events" in ran)) return { code: undefined, message: "" };
    const events = typeof ran.events === "function" ? ran.events(call.signal) : ran.events;
    for await (const _ of events);
    return { code: undefined, message: "" };
  } catch (thrown) {
    const { code, message } = asStrataError(thrown);
    return { code, message };
  }
}

describe("who may do what", () => {
  it("has a row for each operation, and no row too many", () => {
    expect([...EXPECTED.keys()].sort()).toEqual(OPERATIONS.map(({ name }) => name).sort());
  });

  it.each(OPERATIONS.map((operation) => [operation.name, operation] as const))("%s", async (name, operation) => {
    const values = sampleOf(operation);
    expect(operation.takes.safeParse(values).error, "the sample is valid").toBeUndefined();
    for (const role of ROLES) {
      for (const door of [overHttp, asCommand]) {
        const sample = await door(operation, values, role);
        if (sample === undefined) continue;
        if (isExpected(name, role)) {
          expect(["not_allowed", "unexpected"], `${role} reaches it: ${sample.message}`).not.toContain(sample.code);
          continue;
        }
        expect(sample.code, `${role} is refused`).toBe("not_allowed");
        const garbage = await door(operation, { garbage: true }, role);
        expect(garbage, `${role} learns nothing of its form`).toEqual(sample);
      }
    }
  });

  it.each(FOREIGN)("gives a key of %s with %j nothing of another's data", async (role, reach) => {
    const token = await fixture.key(role, reach);
    const before = await fixture.store.head(HOME);
    for (const operation of OPERATIONS.filter(({ name, at: place }) => place !== undefined && isExpected(name, role))) {
      const values = sampleOf(operation);
      const text = await (await asked(operation, values, token)).text();
      const found = [...ids.values(), "Ann has a cat", '"ann"'].filter((one) => text.includes(one));
      const named = JSON.stringify(values);
      expect(
        found.filter((one) => !named.includes(one)),
        `${operation.name}: ${text}`,
      ).toEqual([]);
      const nowhere = await asked(operation, elsewhere(values, reach), token);
      expect(plainly(text), operation.name).toEqual(plainly(await nowhere.text()));
    }
    expect(await fixture.store.head(HOME), "nothing was done").toEqual(before);
  });

  it("has a row for each field by which a change chooses a mode or claims a trust", () => {
    expect([...FIELD_ROWS.keys()].sort()).toEqual(GUARDED.map(([row]) => row).sort());
  });

  it.each(GUARDED)("%s is set by nobody else", async (row, operation, field) => {
    const values = { ...sampleOf(operation), [field]: FIELD_SAMPLES[field] };
    // What is only left in the queue takes no mode.
    const sent = "follow" in values ? { ...values, follow: "turn" } : values;
    for (const role of ROLES) {
      for (const door of [overHttp, asCommand]) {
        const answer = await door(operation, sent, role);
        if (answer === undefined) continue;
        const isRefused = answer.code === "not_allowed";
        expect([role, isRefused], String(answer.message)).toEqual([role, !FIELD_ROWS.get(row)?.includes(role)]);
      }
    }
  });

  it.each(ROLES)("tells %s over MCP of the tools that it may use, and of no other", (role) => {
    const expected = OPERATIONS.filter(({ name }) => isExpected(name, role)).map(({ name }) => name.replace(".", "_"));
    expect(mcpTools(OPERATIONS, ACTORS[role]).map(({ name }) => name)).toEqual(expected);
  });

  it("lets a contact look its own thread up, and shows nothing of the inside", async () => {
    const token = keys.get("contact") ?? "";
    const { body } = await fixture.json(`GET /v1/threads/${ids.get("thr")}/slots`, { token });
    expect(at(body, "thread")).not.toHaveProperty("version");
    expect(body).toMatchObject({
      slots: [
        { from: "ann", text: "Hi" },
        { to: "ann", text: "Hello." },
      ],
    });
    const bob = await fixture.key("contact", { agent: "companion", contact: "bob" });
    expect((await fixture.json(`GET /v1/threads/${ids.get("thr")}`, { token: bob })).status).toBe(404);
  });

  it("answers a member who sends a message again with the end of the turn that answered it", async () => {
    const made = await httpFixture(["Once."]);
    const token = await made.key("member");
    const body = { thread: await made.open("ann"), text: "Hi", externalId: "m-1" };
    for (const _ of [1, 2]) {
      const answer = await made.json("POST /v1/agents/companion/messages", { token, body });
      expect(answer).toMatchObject({ status: 200, body: { done: { text: "Once." } } });
    }
  });
});
