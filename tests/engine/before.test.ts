import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import BetterSqlite3 from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { reviveAgent } from "../../src/app/entry/agents.ts";
import { allParts, allTools } from "../../src/app/entry/features.ts";
import { agentName, allow, contactId, digestOf, orgId, turnId } from "../../src/protocol/index.ts";
import { openSqlite, type Store } from "../../src/store/index.ts";
import { collect, OPERATOR, testRuntime } from "../../src/turn/index.contract.ts";
import { toolset } from "../../src/turn/tools/index.ts";
import { cardOf } from "../../src/wire/index.ts";

/**
 * Records that commit cc27feeb wrote (schema 15, 2026-11-24), before turns could wait: the workbench with sub-agents, a call that waits
 * for a person, a turn that its limit ended, and a program that was killed inside a sub-agent's turn; the sovereign with turns of
 * several senders, edits and credits. Beside each: the SHA-256 of every past request, as that commit rebuilt it.
 */
const RECORDS = ["workbench", "sovereign"] as const;

interface Before {
  readonly org: string;
  readonly requests: Readonly<Record<string, string>>;
}

const beside = (name: string): string => join(import.meta.dirname, "before", name);

async function opened(
  name: string,
): Promise<{ readonly store: Store; readonly before: Before; readonly file: string }> {
  const folder = mkdtempSync(join(tmpdir(), "strata-before-"));
  const file = join(folder, "strata.db");
  const db = new BetterSqlite3(file);
  db.pragma("synchronous = off");
  db.exec(gunzipSync(readFileSync(beside(`${name}.sql.gz`))).toString("utf8"));
  // The index of words is derived, so it is not in the kept file.
  db.exec("insert into unit_words (unit_words, rank) values ('secure-delete', 1)");
  db.exec("insert into unit_words (unit_words) values ('rebuild')");
  db.close();
  const store = await openSqlite(file, { parts: await allParts() });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { store, before: JSON.parse(readFileSync(beside(`${name}.json`), "utf8")), file };
}

describe.each(RECORDS)("the %s's record of the version before", (name) => {
  it("opens, and verifies to its last link", async () => {
    const { store, before } = await opened(name);
    for await (const finding of store.verify(orgId(before.org))) expect(finding).not.toMatchObject({ type: "problem" });
  });

  it("law 9: rebuilds every past request byte for byte", async () => {
    const { store, before } = await opened(name);
    const [agent] = await store.agents(orgId(before.org));
    if (agent === undefined) throw new Error("the record has no agent");
    const scope = { org: orgId(before.org), agent, contact: null };
    const now: Record<string, string> = {};
    for (const key of Object.keys(before.requests)) {
      const [turn = "", n] = key.split(" ");
      const {
        prefix,
        messages,
        tail,
        breakpoints: marks,
        parameters,
      } = (await store.rebuild(scope, turnId(turn), Number(n))).request;
      // That commit said `marks` for the breakpoints.
      const request = JSON.stringify({ prefix, messages, tail, marks, parameters });
      now[key] = createHash("sha256").update(request).digest("hex");
    }
    expect(now).toEqual(before.requests);
  });

  it("names the section of each line of its ledgers in today's word", async () => {
    const { store, before } = await opened(name);
    const [agent] = await store.agents(orgId(before.org));
    const [turn = ""] = Object.keys(before.requests)[0]?.split(" ") ?? [];
    if (agent === undefined) throw new Error("the record has no agent");
    const past = await store.turn({ org: orgId(before.org), agent, contact: null }, turnId(turn));
    const entries = past?.requests[0]?.ledger.entries ?? [];
    expect(entries.map(({ section }) => section)).toContain("tools");
    expect(entries.filter((entry) => "piece" in entry || entry.section === undefined)).toEqual([]);
  });

  it("brings every agent version back, as it was declared", async () => {
    const { file } = await opened(name);
    const db = new BetterSqlite3(file, { readonly: true });
    const sql =
      "select version, text from agent_version join shared_piece on shared_piece.org = agent_version.org and digest = piece";
    const versions = db.prepare<[], { version: string; text: string }>(sql).all();
    db.close();
    expect(versions.length).toBeGreaterThan(0);
    for (const { version, text } of versions) {
      expect(digestOf(text)).toBe(version);
      expect(reviveAgent(text, digestOf(text)).version).toBe(version);
    }
  });
});

describe("what the version before has left open", () => {
  it("ends: the sub-agent's turn is over, and the call that its caller makes again is answered with a sentence", async () => {
    const { store, before } = await opened("workbench");
    const org = orgId(before.org);
    const scope = { org, agent: agentName("workbench"), contact: contactId("dan") };
    const threads = await store.threads(scope, 9);
    const [asks, asked] = ["test", "peer"].map((channel) => threads.find((one) => one.channel === channel));
    if (asks === undefined || asked === undefined) throw new Error("a thread is missing");
    const [left] = await store.turns(scope, asks.id);
    const pinned = reviveAgent((await store.agentVersion(org, scope.agent, asks.version)) ?? "", asks.version);
    const ask = { call: "call_subagent", id: "again", input: { name: "reviewer", task: "Look once more." } };
    const world = { store, agentOf: () => pinned, files: "" };
    const { runtime, sent } = await testRuntime([{ parts: [ask] }, "I go on without it."], {
      ...{ agent: pinned, store },
      parts: {
        cardOf: () => cardOf("anthropic:claude-sonnet-4-5"),
        tools: toolset(await allTools(world)),
        alive: () => false,
      },
    });
    const operator = allow({ ...OPERATOR, org }, "operate");
    const events = await collect(runtime.follow(operator, asks));
    expect(events.at(-1)).toMatchObject({ type: "done", turn: left?.id, text: "I go on without it." });
    expect(JSON.stringify(sent[1]?.messages.at(-1))).toContain("Interrupted: this call had started");
    expect(await store.turns(scope, asked.id)).toMatchObject([{ status: "failed", end: { code: "turn_cancelled" } }]);
    expect(await store.untaken(scope, asked.id)).toEqual([]);
    for await (const finding of store.verify(org)) expect(finding).not.toMatchObject({ type: "problem" });
  });
});
