import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { project, strata } from "../../../tests/cli/strata.ts";
import { allParts } from "../../app/entry/features.ts";
import { at, eventsOf, type HttpFixture, httpFixture, TOKEN, to } from "../../doors/http/index.contract.ts";
import { allow, OUTSIDE_KINDS, orgId, type Role } from "../../protocol/index.ts";
import { onEachDatabase, problems } from "../../store/index.contract.ts";
import { openSqlite, type Store } from "../../store/index.ts";
import { OPERATOR, ORG, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { KEY_API } from "./api.ts";

/** How often secrets are hashed and compared. */
const { work } = vi.hoisted(() => ({ work: { hashes: 0, compares: 0 } }));
vi.mock("node:crypto", async (original) => {
  const crypto = await original<typeof import("node:crypto")>();
  return {
    ...crypto,
    createHash: (...given: Parameters<typeof crypto.createHash>) => {
      work.hashes++;
      return crypto.createHash(...given);
    },
    hash: (...given: Parameters<typeof crypto.hash>) => {
      work.hashes++;
      return crypto.hash(...given);
    },
    timingSafeEqual: (...given: Parameters<typeof crypto.timingSafeEqual>) => {
      work.compares++;
      return crypto.timingSafeEqual(...given);
    },
  };
});

const DAY = 86_400_000;
const BEARER = "GET /v1/threads";

/** A server over a runtime whose clock the test moves. */
async function clocked(store?: Store) {
  const stand = await testRuntime([], { agent: sampleAgent(), ...(store && { store }) });
  return { ...(await httpFixture([], { runtime: stand.runtime })), ...stand };
}

type Made = { readonly id: string; readonly secret: string; readonly prefix: string };

async function create({ json }: Pick<HttpFixture, "json">, body: object, token?: string): Promise<Made> {
  const made = await json("POST /v1/keys", { body: { name: "k", ...body }, ...(token !== undefined && { token }) });
  if (made.status !== 200) throw new Error(JSON.stringify(made.body));
  return {
    id: String(at(made.body, "id")),
    secret: String(at(made.body, "secret")),
    prefix: String(at(made.body, "prefix")),
  };
}

describe("26.1 a key", () => {
  it("is shown once, and neither listed nor stored", async () => {
    const folder = mkdtempSync(join(tmpdir(), "strata-keys-"));
    const store = await openSqlite(join(folder, "record.sqlite"), { parts: await allParts() });
    const stand = await clocked(store);
    const { secret, prefix, id } = await create(stand, { role: "member", name: "mia" });
    expect(secret).toMatch(/^sk-strata-[\w-]{43}$/);
    expect(secret.startsWith(prefix)).toBe(true);
    expect(prefix).toHaveLength("sk-strata-".length + 6);
    const listed = await stand.json("GET /v1/keys");
    expect(at(listed.body, "keys", 0)).toMatchObject({
      id,
      name: "mia",
      role: "member",
      prefix,
      byId: "token:operator",
    });
    expect(JSON.stringify(listed.body)).not.toContain(secret);
    await store.close();
    const bytes = Buffer.concat(readdirSync(folder).map((file) => readFileSync(join(folder, file))));
    expect([bytes.includes(prefix), bytes.includes(secret), bytes.includes(secret.slice(10))]).toEqual([
      true,
      false,
      false,
    ]);
    rmSync(folder, { recursive: true, force: true });
  });

  it("opens the server in either header, and in both where they are the same", async () => {
    const stand = await clocked();
    const { secret } = await create(stand, { role: "member" });
    const other = await stand.key("auditor");
    const status = async (headers: Record<string, string>) =>
      (await stand.ask(BEARER, { token: null, headers })).status;
    expect(await status({ "x-api-key": secret })).toBe(200);
    expect(await status({ authorization: `Bearer ${secret}` })).toBe(200);
    expect(await status({ authorization: `Bearer ${secret}`, "x-api-key": secret })).toBe(200);
    expect(await status({ authorization: `Bearer ${secret}`, "x-api-key": other })).toBe(401);
    expect(await status({ authorization: `Bearer ${TOKEN}`, "x-api-key": secret })).toBe(401);
    expect(await status({ authorization: `Basic ${secret}` })).toBe(401);
    expect(await status({ cookie: `key=${secret}` })).toBe(401);
  });

  it("that is missing, wrong, cut, expired, revoked or of another organization gets one answer for the same work", async () => {
    const stand = await clocked();
    const [short, revoked] = [
      await create(stand, { role: "operator", days: 1 }),
      await create(stand, { role: "operator" }),
    ];
    const foreign = await stand.runtime
      .use(KEY_API)
      .createKey(allow({ ...OPERATOR, org: orgId("away") }, "operate"), { name: "k", role: "operator" });
    expect((await stand.ask(BEARER, { token: short.secret })).status).toBe(200);
    await stand.ask(`DELETE /v1/keys/${revoked.id}`);
    stand.time.at += DAY;
    const wrong = `sk-strata-${"b".repeat(43)}`;
    const secrets = [
      null,
      "",
      wrong,
      short.prefix,
      short.secret.slice(0, -1),
      short.secret,
      revoked.secret,
      foreign.secret,
    ];
    const answers: unknown[] = [];
    for (const token of secrets) answers.push(await measured(() => stand.json(BEARER, { token })));
    expect(answers[0]).toMatchObject({ answer: { status: 401, body: { error: { code: "unauthenticated" } } } });
    expect(new Set(answers.map((one) => JSON.stringify(one))).size, JSON.stringify(answers)).toBe(1);
  });

  it("opens nothing from the moment it is revoked, in every process", async () => {
    const folder = mkdtempSync(join(tmpdir(), "strata-keys-"));
    const file = join(folder, "record.sqlite");
    const open = async () => clocked(await openSqlite(file, { parts: await allParts() }));
    const [one, other] = [await open(), await open()];
    const { secret, id } = await create(one, { role: "member" });
    expect((await other.ask(BEARER, { token: secret })).status).toBe(200);
    expect((await one.json(`DELETE /v1/keys/${id}`)).body).toEqual({ id, changed: true });
    expect((await other.ask(BEARER, { token: secret })).status).toBe(401);
    expect((await other.json(`DELETE /v1/keys/${id}`)).body).toEqual({ id, changed: false });
    for (const { store } of [one, other]) await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("names its use to the minute, and one use a minute costs a write", async () => {
    const stand = await clocked();
    const { secret } = await create(stand, { role: "member" });
    const used = async () => at(await stand.json("GET /v1/keys"), "body", "keys", 0);
    expect(await used()).not.toHaveProperty("usedAt");
    const first = stand.time.at;
    await stand.ask(BEARER, { token: secret });
    stand.time.at += 59_999;
    await stand.ask(BEARER, { token: secret });
    expect(await used()).toHaveProperty("usedAt", first);
    stand.time.at += 1;
    await stand.ask(BEARER, { token: secret });
    expect(await used()).toHaveProperty("usedAt", first + 60_000);
  });

  it("is named in each act that is done with it", async () => {
    const stand = await httpFixture();
    const { secret: token, id } = await create(stand, { role: "operator" });
    const memory = { agent: "companion", contact: "ann", content: "Ann has a cat" };
    const saved = await stand.json("POST /v1/memories", { token, body: memory });
    expect(saved).toMatchObject({ status: 200 });
    const { id: second } = await create(stand, { role: "member" }, token);
    const { body } = await stand.json("GET /v1/keys");
    const made = expect.objectContaining({ id: second, by: "operator", byId: `key:${id}` });
    expect(at(body, "keys")).toContainEqual(made);
    await stand.json("GET /v1/agents/companion/outbox", { token });
    const acts = await stand.json("GET /v1/agents/companion/acts");
    expect(JSON.stringify(acts.body)).toContain(`"byId":"key:${id}"`);
  });
});

describe("26.1 a key makes none that is stronger than itself", () => {
  it("by its role: none but an operator's makes any", async () => {
    const stand = await clocked();
    const scopes = { agent: { agent: "helper" }, contact: { agent: "helper", contact: "ann" } };
    for (const role of ["member", "agent", "contact", "auditor"] as const) {
      const token = await stand.key(role, role in scopes ? Reflect.get(scopes, role) : {});
      const made = await stand.json("POST /v1/keys", { token, body: { name: "x", role } });
      expect(made, role).toMatchObject({ status: 403, body: { error: { code: "not_allowed" } } });
    }
    expect((await stand.json("POST /v1/keys", { body: { name: "x", role: "platform" } })).status).toBe(400);
  });

  it("by its reach, which its keys stay within, and which limits what it lists and revokes", async () => {
    const stand = await clocked();
    const { secret: wide, id: top } = await create(stand, { role: "operator" });
    const { secret: token } = await create(stand, { role: "operator", agent: "helper", contact: "ann" }, wide);
    for (const reach of [{}, { agent: "helper" }, { agent: "helper", contact: "bob" }, { agent: "other" }]) {
      const made = await stand.json("POST /v1/keys", { token, body: { name: "x", role: "member", ...reach } });
      expect(made, JSON.stringify(reach)).toMatchObject({ status: 403, body: { error: { code: "not_allowed" } } });
    }
    const { secret: ofAgent } = await create(stand, { role: "operator", agent: "helper" }, wide);
    for (const reach of [{}, { agent: "other" }, { agent: "other", contact: "ann" }]) {
      const made = await stand.json("POST /v1/keys", { token: ofAgent, body: { name: "x", role: "member", ...reach } });
      expect(made, JSON.stringify(reach)).toMatchObject({ status: 403, body: { error: { code: "not_allowed" } } });
    }
    await create(stand, { role: "contact", agent: "helper", contact: "ann" }, token);
    expect(at((await stand.json("GET /v1/keys", { token })).body, "keys")).toHaveLength(2);
    expect((await stand.json(`DELETE /v1/keys/${top}`, { token })).status).toBe(404);
    expect((await stand.json("GET /v1/keys", { token: wide })).status).toBe(200);
  });

  it("by its end: what it makes ends with it, at the latest", async () => {
    const stand = await clocked();
    const { secret: token } = await create(stand, { role: "operator", days: 2 });
    await create(stand, { role: "member", days: 1 }, token);
    await create(stand, { role: "member" }, token);
    const { body } = await stand.json("GET /v1/keys");
    const ends = [0, 1, 2].map((n) => Number(at(body, "keys", n, "expiresAt")) - stand.time.at);
    expect(ends.toSorted((one, other) => one - other)).toEqual([DAY, 2 * DAY, 2 * DAY]);
    const longer = await stand.json("POST /v1/keys", { token, body: { name: "x", role: "member", days: 3 } });
    expect(longer).toMatchObject({ status: 403, body: { error: { message: expect.stringContaining("fewer days") } } });
  });

  it.each([
    [{ role: "contact" }, "name the `contact`"],
    [{ role: "contact", agent: "helper" }, "name the `contact`"],
    [{ role: "member", contact: "ann" }, "name the `agent` beside"],
    [{ role: "agent" }, "name the `agent`"],
    [{ role: "member", agent: "nobody" }, "there is no agent"],
    [{ role: "contact", agent: "helper", contact: "~self" }, "~self"],
    [{ role: "member", days: 0 }, "`days`"],
    [{ role: "queen" }, "`role`"],
  ])("%j is refused with a sentence that says %s", async (wish, message) => {
    const { json } = await clocked();
    const { status, body } = await json("POST /v1/keys", { body: { name: "x", ...wish } });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(at(body, "error", "message")).toContain(message);
  });
});

onEachDatabase("26.1 keys of a contact", await allParts(), (openStore) => {
  it("end with the contact's erasure, also where nothing was ever said, and the record verifies", async () => {
    const stand = await clocked(await openStore());
    const ann = { role: "contact", agent: "helper", contact: "ann", name: "Ann's phone" };
    const [key, other] = [await create(stand, ann), await create(stand, { ...ann, contact: "bob", name: "Bob" })];
    expect((await stand.ask(BEARER, { token: other.secret })).status).toBe(403);
    expect(await stand.json("DELETE /v1/contacts/ann")).toMatchObject({ body: { erased: ["helper"] } });
    expect((await stand.ask(BEARER, { token: key.secret })).status).toBe(401);
    expect((await stand.ask(BEARER, { token: other.secret })).status).toBe(403);
    const { body } = await stand.json("GET /v1/keys");
    expect(JSON.stringify(body)).not.toMatch(/ann/i);
    const erased = expect.objectContaining({ id: key.id, name: "", revokedAt: stand.time.at });
    expect(at(body, "keys")).toContainEqual(erased);
    expect(await problems(stand.store, ORG)).toEqual([]);
    await stand.store.close();
  });
});

describe("26.4 each role over HTTP, with a key of its own", () => {
  const KEYS: Readonly<Partial<Record<Role, object>>> = {
    operator: {},
    member: {},
    agent: { agent: "companion" },
    contact: { agent: "companion", contact: "ann" },
    auditor: {},
  };
  const SAYS: Readonly<Record<string, readonly Role[]>> = {
    message: ["operator", "member", "contact"],
    "call-ended": ["operator", "member", "contact"],
    instruction: ["operator"],
    scheduled: ["operator"],
    approval: [],
    warning: [],
    peer: [],
  };

  it("posts the kinds of events that it may, and no other", async () => {
    expect(Object.keys(SAYS).slice(0, 4)).toEqual([...OUTSIDE_KINDS]);
    const stand = await httpFixture();
    const thread = await stand.open();
    for (const [role, reach] of Object.entries(KEYS)) {
      const token = await stand.key(role, reach);
      for (const [kind, roles] of Object.entries(SAYS)) {
        const [line, { body }] = to(thread, { text: "Hi", kind, follow: "queue" });
        const { status } = await stand.json(line, { token, body });
        expect([role, kind, status < 300]).toEqual([role, kind, roles.some((one) => one === role)]);
      }
    }
  });

  it("follows a turn as a stream with what it may know of it", async () => {
    const whole = ["received", "turn-start", "compiled", "text-delta", "done", "answer"];
    const cut = ["received", "turn-start", "text-delta", "done", "answer"];
    const seen: Readonly<Record<string, readonly string[]>> = { operator: whole, member: cut, contact: cut };
    for (const [role, reach] of Object.entries(KEYS)) {
      const stand = await httpFixture([{ parts: [{ text: "Hello." }] }, "Hello."]);
      const token = await stand.key(role, reach);
      const thread = await stand.open();
      const [line, { body, headers = {} }] = to(thread, { text: "Hi" }, { stream: true });
      const response = await stand.ask(line, { token, body, headers });
      const text = await response.text();
      if (seen[role] === undefined) {
        expect([role, response.status]).toEqual([role, 403]);
        continue;
      }
      expect([role, eventsOf(text).map(({ type }) => type)]).toEqual([role, seen[role]]);
      expect([role, /ledger|"layers"|"tokens"/.test(text)]).toEqual([role, role === "operator"]);
      await stand.ask(line, { token: TOKEN, body: { thread, text: "More", follow: "queue" } });
      const run = await stand.ask(`POST /v1/threads/${thread}/run?mode=stream`, { token });
      const types = eventsOf(await run.text()).map(({ type }) => type);
      expect([role, types]).toEqual([role, seen[role].filter((type) => type !== "received" && type !== "answer")]);
    }
  });

  it("lets a contact write without naming itself, and as nobody else", async () => {
    const stand = await httpFixture(["Hello."]);
    const token = await stand.key("contact", KEYS.contact);
    const send = (body: object) => stand.json("POST /v1/agents/companion/messages", { token, body });
    const { body } = await send({ text: "Hi" });
    const scope = at((await stand.json(`GET /v1/threads/${at(body, "event", "thread")}`)).body, "scope");
    expect(scope).toMatchObject({ contact: "ann" });
    expect((await send({ text: "Hi", contact: "bob" })).status).toBe(403);
  });

  it("tells nobody but an operator of everything where the data is", async () => {
    const stand = await httpFixture();
    for (const [role, reach] of [...Object.entries(KEYS), ["operator", { agent: "companion" }] as const]) {
      const { body } = await stand.json("GET /health", { token: await stand.key(role, reach) });
      expect([role, reach, "data" in Object(body)]).toEqual([role, reach, reach === KEYS.operator]);
    }
  });
});

describe("26.1 strata key", () => {
  it("creates, lists and revokes; doctor says how many there are, and which expires soon", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "strata-cli-"));
    const made = await strata(["key", "create", "mia", "--role", "member", "--days", "3", "--json"], { cwd });
    const { id, secret } = JSON.parse(made.out);
    const shown = await strata(["key", "create", "Ann at home", "companion", "--role", "contact", "--as", "ann"], {
      cwd,
    });
    expect(shown.out).toMatch(/^sk-strata-[\w-]{43}\n/);
    const listed = await strata(["key", "list"], { cwd, columns: 200 });
    expect(listed.out).toMatch(/Ann at home +contact +ann at companion/);
    expect(listed.out).not.toContain(secret);
    expect((await strata(["doctor"], { cwd })).out).toMatch(/2 keys valid[\s\S]*mia \(key_\w{26}\) expires on/);
    expect((await strata(["key", "revoke", id], { cwd })).out).toContain(`${id} is revoked`);
    expect((await strata(["doctor"], { cwd })).out).toContain("1 key valid");
    expect(await strata(["key", "revoke", `key_${"0".repeat(26)}`], { cwd })).toMatchObject({ code: 3 });
  });
});

it("doctor names the keys of `limits.groups` that do not exist, and how to find those that do", async () => {
  const cwd = project();
  const made = await strata(["key", "create", "mia", "--role", "member", "--json"], { cwd });
  const { id } = JSON.parse(made.out);
  const yaml = readFileSync(join(cwd, "strata.yaml"), "utf8");
  const limited = (...keys: readonly string[]) => {
    writeFileSync(
      join(cwd, "strata.yaml"),
      `${yaml}\nlimits: {groups: {team: {calls: 9, keys: [${keys.join(", ")}]}}}\n`,
    );
    return strata(["doctor"], { cwd, columns: 300 });
  };
  expect((await limited(id, '"local:operator"')).out).not.toContain("limits.groups");
  const gone = `key_${"0".repeat(26)}`;
  const { out } = await limited(id, gone);
  expect(out.replaceAll(/\s+/g, " ")).toContain(
    `\`limits.groups.team\` names ${gone}, and no valid key has that id \`strata key list\` shows the ids of keys.`,
  );
});

/** The answer, and what it cost: database statements, digests and comparisons. */
async function measured<T>(ask: () => Promise<T>) {
  const prototype = Object.getPrototypeOf(new BetterSqlite3(":memory:").prepare("select 1"));
  const spies = (["get", "all", "run"] as const).map((name) => vi.spyOn(prototype, name));
  onTestFinished(() => void vi.restoreAllMocks());
  Object.assign(work, { hashes: 0, compares: 0 });
  const answer = await ask();
  const statements = spies.map((spy) => spy.mock.calls.length);
  for (const spy of spies) spy.mockRestore();
  return { answer, statements, ...work };
}
