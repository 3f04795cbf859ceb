import type { ContactScope } from "../../protocol/index.ts";
import { memoryScope } from "../memory/memory-scope.ts";
import { reindexScope } from "../memory/reindex.ts";
import { plain } from "../statement.ts";
import type { StorePart } from "../tx.ts";

/** Everything that a database holds, as text, with a rebuilt index of memories: to compare two databases, and to search for words. */
export const EVERYTHING = {
  name: "everything",
  tables: {},
  functions: ({ reading, writing }) => ({
    everything: reading(async (tx, _org: string): Promise<string> => {
      const names =
        tx.dialect === "sqlite"
          ? `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`
          : `select table_name::text from information_schema.tables where table_schema = current_schema and table_type = 'BASE TABLE'`;
      const cells: string[] = [];
      for (const name of await tx.column(plain<string>(names)))
        for (const row of await tx.all(plain<object>(`select * from "${name}"`)))
          for (const [column, one] of Object.entries(row))
            cells.push(`${name}.${column}: ${one instanceof Uint8Array ? Buffer.from(one).toString("latin1") : one}`);
      return cells.join("\n");
    }),
    /** In the order in which all was said, and not in that in which it was stored. */
    reindexed: writing(async (tx, scope: ContactScope): Promise<void> => {
      const own = await memoryScope(tx, scope);
      if (own !== undefined) await reindexScope(tx, own);
    }),
  }),
  erase: async () => undefined,
} satisfies StorePart;
