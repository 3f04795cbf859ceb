import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  agentName,
  contactId,
  issueId,
  type MemoryId,
  memoryId,
  type NewMemory,
  orgId,
  type Scope,
  untrusted,
} from "../../../src/protocol/index.ts";
import { openSqlite } from "../../../src/stores/index.ts";
import type { Remembered } from "../conversations.ts";
import type { MemoryEngine } from "./engine.ts";

/** As many are written in one transaction. */
const BATCH = 5_000;

/** Strata's own store on disk, with what was said as it keeps it. */
export const strata: MemoryEngine = {
  name: "strata",
  open: async (scopes) => {
    const folder = mkdtempSync(join(tmpdir(), "bench-memory-"));
    const file = join(folder, "strata.db");
    const filling = await openSqlite(file);
    const names = new Map<MemoryId, string>();
    const issue = ({ id, at }: Remembered): MemoryId => {
      const issued = memoryId(issueId("memory", at, crypto.getRandomValues(new Uint8Array(10))));
      names.set(issued, id);
      return issued;
    };
    for (const [name, memories] of scopes) {
      const whose = scopeOf(name);
      for (let from = 0; from < memories.length; from += BATCH) {
        const batch = memories.slice(from, from + BATCH);
        await filling.saveMemories(
          whose,
          batch.map((one) => ({ id: issue(one), memory: message(one) })),
        );
      }
    }
    // Closed, the file holds all that its log held.
    await filling.close();
    const bytes = statSync(file).size;
    const store = await openSqlite(file);
    return {
      find: async (scope, text, limit) => {
        const hits = await store.searchMemories([scopeOf(scope)], { texts: [{ text, weight: 1 }], limit });
        return hits.map(({ id }) => names.get(id) ?? id);
      },
      bytes,
      close: async () => {
        await store.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
};

const scopeOf = (name: string): Scope => ({ org: orgId("bench"), agent: agentName("bench"), contact: contactId(name) });

const message = ({ at, speaker, session, text }: Remembered): NewMemory => ({
  kind: "message",
  content: untrusted(text),
  tags: [],
  trust: "contact",
  speaker,
  session: String(session),
  at,
});
