import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allParts } from "../../src/app/entry/features.ts";
import { openApp, recordFile, serve } from "../../src/app.ts";
import { APPROVAL_STORE } from "../../src/features/approvals/store.ts";
import { agentName, approvalId, contactId, orgId, StrataError } from "../../src/protocol/index.ts";
import { openSqlite } from "../../src/store/index.ts";
import { atTerminal, jsonLines, project, strata } from "./strata.ts";

const ASKING = (yaml: string): string => yaml.replace("read, write]", "read, {name: write, approval: true}]");
const WISH = "Write notes.txt: buy bread\n";
const notes = (cwd: string): boolean =>
  readdirSync(join(cwd, ".strata"), { recursive: true }).some((file) => String(file).endsWith("notes.txt"));

interface Listed {
  readonly id: string;
  readonly tool: string;
  readonly status: string;
}

const listed = async (cwd: string, ...more: readonly string[]) =>
  jsonLines<readonly Listed[]>((await strata(["approval", "list", "--json", ...more], { cwd })).out)[0] ?? [];

/** As a program leaves it that ended while the tool ran. */
async function approveOnly(cwd: string, id: string): Promise<void> {
  const store = await openSqlite(recordFile(join(cwd, ".strata")), { parts: await allParts() });
  const scope = { org: orgId("home"), agent: agentName("companion"), contact: contactId("me") };
  await store
    .part(APPROVAL_STORE)
    .decideApproval(scope, approvalId(id), { verdict: "approved", by: "operator", at: Date.now() });
  await store.close();
}

describe("strata approval", () => {
  it("lists a call that waits, runs it when it is approved, and lets the agent tell", async () => {
    const cwd = project(ASKING);
    const chat = await strata(["chat", "companion"], { cwd, input: WISH });
    expect(chat.err).toMatch(/→ write \{.*"notes\.txt".*\} waits for a person: .*`strata approval approve apr_\w{26}`/);
    const [call] = await listed(cwd);
    expect(call).toMatchObject({ tool: "write", status: "waiting" });
    expect(notes(cwd)).toBe(false);
    const how = "`strata approval approve ID` runs one, `strata approval deny ID` refuses it.";
    expect((await strata(["approval", "list"], { cwd })).out).toContain(`1 call\n${how}\n`);
    const { out, code } = await strata(["approval", "approve", call?.id ?? ""], { cwd });
    expect((await strata(["approval", "list", "--status", "all"], { cwd })).out).not.toContain(how);
    expect(code).toBe(0);
    expect(out).toMatch(/ · done by the operator \(local:operator\)\n {2}write \{.*\n {2}answered: .*notes\.txt/);
    expect(out).toContain("I have read the approval of the contact");
    expect(await listed(cwd)).toEqual([]);
    expect(await listed(cwd, "--status", "done")).toMatchObject([{ id: call?.id }]);
    const again = await strata(["approval", "approve", call?.id ?? ""], { cwd });
    expect(again).toMatchObject({ code: 7, err: expect.stringContaining(call?.id ?? "") });
  });

  it("25.24 reaches the operator's attention while a call waits", async () => {
    const cwd = project(ASKING);
    await strata(["chat", "companion"], { cwd, input: WISH });
    const attention = async () => (await strata(["agent", "attention", "companion"], { cwd })).out;
    expect(await attention()).toContain(
      "1 call of companion waits for a person: `strata approval list companion` shows it\n",
    );
    const [call] = await listed(cwd);
    await strata(["approval", "deny", call?.id ?? ""], { cwd });
    expect(await attention()).toBe("Nothing needs an operator.\n");
  });

  it("denies a call; nothing runs and the agent is told", async () => {
    const cwd = project(ASKING);
    await strata(["chat", "companion"], { cwd, input: WISH });
    const [call] = await listed(cwd);
    const { out } = await strata(["approval", "deny", call?.id ?? "", "--note", "not today"], { cwd });
    expect(out).toContain("denied by the operator (local:operator)");
    expect(out).toContain("write was denied by the operator and not run: not today");
    expect(notes(cwd)).toBe(false);
  });

  it("is asked for in a chat, and answered there", async () => {
    const cwd = project(ASKING);
    const person = atTerminal(["chat", "companion"], { cwd });
    await person.sees("listens to");
    person.press(WISH.replace("\n", "\r"));
    await person.sees("/approve or /deny");
    person.press("/approve\r");
    await person.sees("is approved");
    await person.sees("I have read the approval");
    person.press("/approve\r");
    await person.sees("No call waits");
    person.press("/quit\r");
    await person.ended;
  });

  it("is decided over HTTP, too", async () => {
    const cwd = project(ASKING);
    await strata(["chat", "companion"], { cwd, input: WISH });
    const [call] = await listed(cwd);
    const app = await openApp({ folder: cwd, data: join(cwd, ".strata"), env: {} });
    const serving = await serve(app, 0);
    const authorization = `Bearer ${new URL(serving.link).hash.slice("#token=".length)}`;
    const ask = async (path: string, body?: object) => {
      const headers = { authorization, "content-type": "application/json" };
      const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
      const response = await fetch(`${serving.url}/v1/${path}`, init);
      return { status: response.status, body: await response.json() };
    };
    try {
      const waiting = { approvals: [{ id: call?.id, tool: "write", status: "waiting" }] };
      expect((await ask("approvals?status=waiting")).body).toMatchObject(waiting);
      expect((await ask(`approvals/${call?.id}`)).body).toMatchObject(waiting.approvals[0] ?? {});
      expect((await ask(`approvals/${call?.id}/approve`, { verdict: "maybe" })).status).toBe(400);
      expect((await ask(`approvals/${call?.id}/approve`, {})).body).toMatchObject({ status: "done" });
      const twice = await ask(`approvals/${call?.id}/deny`, {});
      expect(twice).toMatchObject({ status: 409, body: { error: { code: "approval_decided" } } });
      expect((await ask(`approvals/apr_${"0".repeat(26)}`)).status).toBe(404);
    } finally {
      await serving.close();
      await app.close();
    }
  });

  it("is listed while its end is not known, doctor tells of it, and a person resolves it", async () => {
    const cwd = project(ASKING);
    await strata(["chat", "companion"], { cwd, input: WISH });
    const [call] = await listed(cwd);
    await approveOnly(cwd, call?.id ?? "");
    const list = await strata(["approval", "list"], { cwd });
    expect(list.out).toContain("approved by the operator");
    expect(list.out).toContain(`\`strata approval resolve ${call?.id} --note TEXT\``);
    expect((await strata(["doctor"], { cwd })).out).toMatch(/^warn {2}approvals {1}write for me was approved/m);
    const silent = await strata(["approval", "resolve", call?.id ?? ""], { cwd });
    expect(silent).toMatchObject({ code: 2, err: expect.stringContaining("--note") });
    const resolved = await strata(["approval", "resolve", call?.id ?? "", "--note", "it is written"], { cwd });
    expect(resolved.code).toBe(0);
    expect(resolved.out).toMatch(/ · done by the operator\n {2}write .*\n {2}answered: it is written\n/);
    expect(resolved.out).toContain("The operator has checked and says: it is written");
    expect((await strata(["approval", "list"], { cwd })).out).toBe("No call waits.\n");
    expect((await strata(["doctor"], { cwd })).out).toMatch(/^ok {4}approvals {1}0 calls waiting for a decision/m);
  });

  it("is not approved by a program that ends", async () => {
    const cwd = project(ASKING);
    await strata(["chat", "companion"], { cwd, input: WISH });
    const [call] = await listed(cwd);
    const signal = AbortSignal.abort(new StrataError("turn_cancelled", "stopped"));
    const { code, err } = await strata(["approval", "approve", call?.id ?? ""], { cwd, signal });
    expect({ code, err }).toMatchObject({ code: 130, err: expect.stringContaining("nothing was decided") });
    expect(await listed(cwd)).toMatchObject([{ status: "waiting" }]);
    expect(notes(cwd)).toBe(false);
  });

  it.each([
    [["approval", "list", "--status", "wating"], 2, '"all", not "wating"; did you mean `waiting`?'],
    [["approval", "show", "apr_1"], 2, "is not an approval id"],
  ])("%j is refused with a sentence", async (argv, code, message) => {
    const cwd = project(ASKING);
    await strata(["chat", "companion"], { cwd, input: "Hello\n" });
    expect(await strata(argv, { cwd })).toMatchObject({ code, err: expect.stringContaining(message) });
  });
});
