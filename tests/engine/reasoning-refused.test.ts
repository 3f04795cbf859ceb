import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { type App, openApp, type Thread } from "../../src/app.ts";
import { agentName, contactId, type TurnEvent } from "../../src/protocol/index.ts";
import { strata } from "../cli/strata.ts";
import { said } from "./home.ts";
import { type Answers, reasoningServer } from "./reasoning-server.ts";

const BOUND =
  'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';

async function opened(answers: Answers) {
  const server = await reasoningServer(answers);
  const folder = mkdtempSync(join(tmpdir(), "strata-refused-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env = { KEY: randomUUID() };
  const config = {
    organization: "acme",
    model: "anthropic:claude-opus-5-5",
    providers: { anthropic: { key: `\${KEY}`, url: server.url } },
    agents: {
      shop: {
        description: "It sells.",
        layers: [{ id: "rules", rank: 1, text: "Sell well, and say so." }],
        tools: ["memory_search"],
      },
    },
  };
  writeFileSync(join(folder, "strata.yaml"), JSON.stringify(config));
  const app = await openApp({ folder, data: join(folder, ".strata"), env, config });
  onTestFinished(() => app.close());
  return { app, server, folder, env };
}

const open = ({ runtime, operator }: App): Promise<Thread> =>
  runtime.open(operator, { agent: agentName("shop"), contact: contactId("ann"), channel: "test", key: "main" });

async function say(app: App, text: string): Promise<readonly TurnEvent[]> {
  const to = await open(app);
  await app.runtime.post(app.operator, to, [said(text)]);
  return collected(app.runtime.run(app.operator, to));
}

async function collected(events: AsyncIterable<TurnEvent>): Promise<readonly TurnEvent[]> {
  const all: TurnEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const turnsOf = async (app: App) => app.runtime.turns(app.operator, (await open(app)).id);

describe("a provider that rejects the model's reasoning", () => {
  it("is asked once more without it, in a new epoch, and the turn ends well", async () => {
    const { app, server } = await opened(["reasons", { refuses: BOUND }, "reasons", "reasons"]);
    await say(app, "Hello.");
    const events = await say(app, "And now?");
    expect(events.at(-1)).toMatchObject({ type: "done", text: "Yes." });
    expect(events).toContainEqual({ type: "refused", changed: null, because: `status 400: ${BOUND}` });
    const [, refused, again] = server.received;
    expect(refused).toContain('"signature":"c2lnbmVk"');
    expect(again).not.toContain("thinking");
    // What the model said stays.
    expect(again).toContain('"text":"Yes."');
    const [, turn] = await turnsOf(app);
    expect(turn?.requests.map(({ epoch, reply, ledger }) => [epoch, reply === null, ledger.refused])).toEqual([
      [1, true, undefined],
      [2, false, { changed: null }],
    ]);
    expect(turn?.requests[1]?.ledger.epoch).toMatchObject({ reason: "refused", opened: true });
  });

  it("law 1: gets the same bytes in every later request of the new epoch, and each is rebuilt as it was sent", async () => {
    const { app, server } = await opened(["reasons", { refuses: BOUND }, "calls", "reasons", "reasons"]);
    for (const text of ["Hello.", "And now?", "Go on."]) await say(app, text);
    const beginnings = server.received.slice(2).map((body) => messagesOf(body).slice(0, -1));
    for (const [n, messages] of beginnings.entries())
      expect(beginnings.at(-1)?.slice(0, messages.length), `request ${n + 3}`).toEqual(messages);
    expect(server.received.slice(2).join("")).not.toContain("thinking");
    const rebuilt = (await turnsOf(app)).flatMap(({ id, requests }) => requests.map(({ n }) => ({ id, n })));
    const bodies = rebuilt.map(async ({ id, n }) => {
      const { request, wire } = await app.runtime.rebuilt(app.operator, id, n);
      return app.bodyOf(request, wire);
    });
    expect(await Promise.all(bodies)).toEqual(server.received);
  });

  it("is asked without it in the middle of a tool loop too", async () => {
    const { app, server } = await opened(["calls", { refuses: BOUND }, "reasons"]);
    const events = await say(app, "Look it up.");
    expect(events.at(-1)).toMatchObject({ type: "done", text: "Yes." });
    expect(server.received[2]).toContain("tool_result");
    expect(server.received[2]).not.toContain("thinking");
  });

  it("ends the turn as reasoning_refused when it refuses a second time, and is not asked a third time", async () => {
    const { app, server } = await opened(["reasons", { refuses: BOUND }]);
    await say(app, "Hello.");
    const events = await say(app, "And now?");
    expect(server.received).toHaveLength(3);
    expect(events.filter(({ type }) => type === "refused")).toHaveLength(1);
    const end = events.at(-1);
    expect(end).toMatchObject({ type: "failed", error: { code: "reasoning_refused" } });
    expect(end?.type === "failed" && end.error.message).toContain("this is a bug in Strata: please report it");
    // The next turn has no reasoning left to leave out: it fails at once.
    expect((await say(app, "Still there?")).at(-1)).toMatchObject({ error: { code: "reasoning_refused" } });
    expect(server.received).toHaveLength(4);
  });

  it("is not asked again once a word has come, nor where no reasoning was sent", async () => {
    const late = await opened(["reasons", { refuses: BOUND, after: "Well" }]);
    await say(late.app, "Hello.");
    expect((await say(late.app, "And now?")).at(-1)).toMatchObject({ type: "failed" });
    expect(late.server.received).toHaveLength(2);
    const bare = await opened([{ refuses: BOUND }]);
    expect((await say(bare.app, "Hello.")).at(-1)).toMatchObject({ error: { code: "reasoning_refused" } });
    expect(bare.server.received).toHaveLength(1);
  });

  it("says that the record itself was changed, where a message of it is not as it came", async () => {
    const { app, folder } = await opened(["reasons", "reasons", { refuses: BOUND }, "reasons"]);
    for (const text of ["Hello.", "And now?"]) await say(app, text);
    changeReply(folder);
    const events = await say(app, "Go on.");
    expect(events.find(({ type }) => type === "refused")).toMatchObject({
      changed: "the record itself, as `strata verify` tells,",
    });
  });

  it("is reported in a chat in one line, next to the answer", async () => {
    const { app, folder, env } = await opened(["reasons", { refuses: BOUND }, "reasons"]);
    await app.close();
    const at = { cwd: folder, env };
    await strata(["lock"], at);
    const { code, out, err } = await strata(["chat", "shop"], { ...at, input: "Hello.\nAnd now?\n" });
    expect([code, out.match(/Yes\./g)?.length]).toEqual([0, 2]);
    expect(err).toMatch(/rejected the model's earlier reasoning \(status 400: .*a bug in Strata/);
  });

  it("stands as a bug in Strata in `turn show` and `cache explain`", async () => {
    const { app, folder, env } = await opened(["reasons", { refuses: BOUND }, "reasons"]);
    for (const text of ["Hello.", "And now?"]) await say(app, text);
    const [, turn] = await turnsOf(app);
    const at = { cwd: folder, env };
    await strata(["lock"], at);
    const shown = await strata(["turn", "show", turn?.id ?? ""], at);
    expect(shown.out).toMatch(/epoch 2, opened here \(refused\)[\s\S]*a bug in Strata[\s\S]*nothing is changed/);
    const explained = await strata(["cache", "explain", turn?.thread ?? ""], at);
    expect(explained.out).toMatch(/Request 2\.2\. Sent again without the model's earlier reasoning/);
    const { out } = await strata(["cache", "explain", turn?.thread ?? "", "--json"], at);
    expect(JSON.parse(out).requests[1]).toMatchObject({ refused: { changed: null } });
  });
});

/** The messages of a body as text, without the breakpoints, each by itself. */
function messagesOf(body: string | undefined): readonly string[] {
  const { messages }: { messages: readonly object[] } = JSON.parse(body ?? "{}");
  return messages.map((one) => JSON.stringify(one).replaceAll(/,"cache_control":\{[^}]*\}/g, ""));
}

/** As a bug would: the transcript has another text for the newest reply than the one that came. */
function changeReply(folder: string): void {
  const db = new DatabaseSync(join(folder, ".strata", "strata.db"));
  const { changes } = db
    .prepare("update message set piece = (select piece from message where position = 0) where position = 3")
    .run();
  db.close();
  expect(changes).toBe(1);
}
