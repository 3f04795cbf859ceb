import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { openApp } from "../../src/app.ts";
import { APPROVAL_API } from "../../src/features/approvals/index.ts";
import { actorId, agentName, allow, contactId } from "../../src/protocol/index.ts";
import { defineTool } from "../../src/turn/tools/index.ts";
import { said } from "./home.ts";

const [SHOP, DESK] = [agentName("shop"), agentName("desk")];

/** A folder where the shop and the desk talked, each to two contacts; the shop is no longer declared. */
async function afterwards() {
  const folder = mkdtempSync(join(tmpdir(), "strata-listing-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const agent = {
    description: "It sells.",
    layers: [{ id: "rules", rank: 1, text: "Sell.", mutability: "versioned" as const }],
    tools: [{ name: "ring", approval: true as const }],
  };
  const ring = defineTool({
    name: "ring",
    description: "Rings.",
    input: z.object({}),
    effect: "none",
    trust: "operator",
    run: () => "rang",
  });
  const app = (...names: readonly string[]) =>
    openApp({
      folder,
      data: join(folder, "data"),
      env: {},
      tools: [ring],
      config: { organization: "home", agents: Object.fromEntries(names.map((name) => [name, agent])) },
    });
  const before = await app("shop", "desk");
  for (const [n, name] of [SHOP, DESK, SHOP, DESK].entries()) {
    before.setClock(1_000 * (n + 1));
    const contact = contactId(n < 2 ? "ann" : "bob");
    const thread = await before.runtime.open(before.operator, { agent: name, contact, channel: "test", key: "main" });
    await before.runtime.post(before.operator, thread, [{ ...said("Use ring {}"), at: 1_000 * (n + 1) }]);
    for await (const _ of before.runtime.run(before.operator, thread));
  }
  await before.close();
  const now = await app("desk");
  onTestFinished(() => now.close());
  return now;
}

const whose = (found: readonly { readonly scope: { readonly agent: string; readonly contact: string } }[]) =>
  found.map(({ scope }) => `${scope.agent} ${scope.contact}`);

describe("the newest threads and calls", () => {
  it("are those of every agent that has any, also of one that is no longer declared", async () => {
    const { runtime, operator } = await afterwards();
    const all = ["desk bob", "shop bob", "desk ann", "shop ann"];
    expect(whose(await runtime.newestThreads(operator, { limit: 9 }))).toEqual(all);
    expect(whose(await runtime.use(APPROVAL_API).newestApprovals(operator, { limit: 9 }))).toEqual(all);
    expect(whose(await runtime.newestThreads(operator, { limit: 3 }))).toEqual(all.slice(0, 3));
    expect(whose(await runtime.use(APPROVAL_API).newestApprovals(operator, { agent: SHOP, limit: 1 }))).toEqual([
      "shop bob",
    ]);
    const [, second] = await runtime.newestThreads(operator, { limit: 2 });
    const after = second && { at: second.lastActivity, id: second.id };
    expect(whose(await runtime.newestThreads(operator, { limit: 9, after }))).toEqual(all.slice(2));
    const [call] = await runtime.use(APPROVAL_API).newestApprovals(operator, { limit: 1 });
    const behind = call && { at: call.askedAt, id: call.id };
    expect(whose(await runtime.use(APPROVAL_API).newestApprovals(operator, { limit: 9, after: behind }))).toEqual(
      all.slice(1),
    );
    expect(whose(await runtime.newestThreads(operator, { agent: SHOP, contact: contactId("ann"), limit: 9 }))).toEqual([
      "shop ann",
    ]);
    expect(
      await runtime.use(APPROVAL_API).newestApprovals(operator, { statuses: ["denied", "done"], limit: 9 }),
    ).toEqual([]);
    expect(
      await runtime.use(APPROVAL_API).newestApprovals(operator, { statuses: ["waiting", "done"], limit: 9 }),
    ).toHaveLength(4);
  });

  it("of a name that nobody ever had are refused", async () => {
    const { runtime, operator } = await afterwards();
    const nobody = runtime.newestThreads(operator, { agent: agentName("shpo"), limit: 9 });
    await expect(nobody).rejects.toMatchObject({ code: "agent_not_found" });
  });

  it("law 5: are those within the actor's reach", async () => {
    const { runtime, operator } = await afterwards();
    const ann = allow({ ...operator, id: actorId("member:mia"), role: "member", contact: contactId("ann") }, "read");
    const atDesk = allow({ ...ann, agent: DESK }, "read");
    expect(whose(await runtime.newestThreads(ann, { limit: 9 }))).toEqual(["desk ann", "shop ann"]);
    expect(whose(await runtime.use(APPROVAL_API).newestApprovals(atDesk, { limit: 9 }))).toEqual(["desk ann"]);
    const others = runtime.newestThreads(ann, { contact: contactId("bob"), limit: 9 });
    await expect(others).rejects.toMatchObject({ code: "not_allowed" });
    const elsewhere = runtime.use(APPROVAL_API).newestApprovals(atDesk, { agent: SHOP, limit: 9 });
    await expect(elsewhere).rejects.toMatchObject({ code: "agent_not_found" });
  });
});
