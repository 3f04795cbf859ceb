import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { MEMORY_API } from "../../src/features/memories/index.ts";
import {
  agentName,
  type ImportReport,
  MEMORY_KINDS,
  type Memory,
  type MemoryHit,
  type MemoryListing,
  type MemoryWish,
  memoryId,
  openApp,
  type SavedMemory,
  type Scope,
  untrusted,
} from "../../src/index.ts";

it("a program keeps, finds, brings and forgets memories with what the package alone shows", async () => {
  const data = mkdtempSync(join(tmpdir(), "strata-"));
  const layers = [{ id: "shop", rank: 10, text: "You answer for a shop." }];
  const agents = { clerk: { description: "Answers customers.", layers } };
  const config = { organization: "corner-shop", agents };
  const { close, operator, runtime } = await openApp({ folder: data, data, env: {}, config });
  onTestFinished(async () => {
    await close();
    rmSync(data, { recursive: true, force: true });
  });
  const scope: Scope = { org: operator.org, agent: agentName("clerk"), contact: null };
  const note = { content: untrusted("The shop opens at nine"), tags: ["hours"] };
  const saved: SavedMemory = await runtime.use(MEMORY_API).remember(operator, scope, note);
  const listing: MemoryListing = { kinds: MEMORY_KINDS, trust: "operator" };
  const listed: readonly Memory[] = await runtime.use(MEMORY_API).memories(operator, scope, 9, listing);
  expect(listed).toEqual([saved.memory]);
  const wish: MemoryWish = { query: "When does the shop open?", limit: 3, tags: ["hours"] };
  const [hit]: readonly MemoryHit[] = await runtime.use(MEMORY_API).searchMemories(operator, scope, wish);
  expect(hit).toMatchObject({ id: saved.memory.id, content: note.content, scope });
  expect(await runtime.use(MEMORY_API).forget(operator, scope, memoryId(saved.memory.id))).toBe(true);
  const text = JSON.stringify({ content: "It closes at six" });
  const bringing = runtime.use(MEMORY_API).importMemories(operator, scope, { name: "memories.jsonl", text });
  let step = await bringing.next();
  while (step.done !== true) step = await bringing.next();
  const report: ImportReport = step.value;
  expect(report).toMatchObject({ saved: 1, refused: [] });
});
