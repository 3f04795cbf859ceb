import { plain } from "../statement.ts";
import type { StorePart } from "../tx.ts";

/** All rows of all tables of a store at an address, as texts in the order of their keys. */
export async function plainRows(
  address: string,
  parts: readonly StorePart[],
): Promise<Readonly<Record<string, readonly string[]>>> {
  const side = address.includes("://")
    ? await (await import("../postgres/copy-side.ts")).postgresSide(address, parts)
    : (await import("../sqlite/copy-side.ts")).sqliteSide(address, parts);
  try {
    return await side.read(async (tx) => {
      const found: Record<string, readonly string[]> = {};
      for (const { name, columns, key } of await side.tables(tx)) {
        const [all, order] = [columns, key].map((names) => names.map((one) => `"${one}"`).join(", "));
        const rows = await tx.all(plain<object>(`select ${all} from "${name}" order by ${order}`));
        found[name] = rows.map((row) => JSON.stringify(row));
      }
      return found;
    });
  } finally {
    await side.close();
  }
}
