import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, it, vi } from "vitest";
import { blueprintFolder } from "../../src/agents/index.ts";
import { openApp } from "../../src/index.ts";
import { scriptedModel } from "../../src/models/index.ts";
import { databases, server, title } from "../postgres.ts";

const { make, url } = databases();

/**
 * How often a turn waits for the server: a statement that is sent while another is under way on the same connection waits with it. For the
 * end of a transaction that only reads nobody waits.
 */
function countTrips() {
  const under = new Map<object, number>();
  const reading = new Set<object>();
  const seen = { trips: 0, statements: 0 };
  const { query } = pg.Client.prototype;
  vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...given: unknown[]) {
    const [first] = given;
    const text = String(typeof first === "object" && first !== null ? Reflect.get(first, "text") : first);
    if (text.startsWith("begin")) reading[text.includes("read only") ? "add" : "delete"](this);
    const count = under.get(this) ?? 0;
    const answer: unknown = Reflect.apply(query, this, given);
    if (!(answer instanceof Promise)) return answer;
    seen.statements++;
    if (count === 0 && !(text === "commit" && reading.has(this))) seen.trips++;
    under.set(this, count + 1);
    const end = (): void => void under.set(this, (under.get(this) ?? 1) - 1);
    answer.then(end, end);
    return answer;
  });
  return seen;
}

it.skipIf(server === undefined)(
  title("27.9 a turn on PostgreSQL waits for the server at most twenty times"),
  async () => {
    const data = mkdtempSync(join(tmpdir(), "strata-trips-"));
    const seen = countTrips();
    const app = await openApp({
      folder: blueprintFolder("companion"),
      data,
      env: { STRATA_STORE: url(await make()) },
      model: scriptedModel(Array.from({ length: 8 }, (_, n) => `That is nice, ${n} of them is a lot.`)),
    });
    const turn = async (n: number): Promise<typeof seen> => {
      const before = { ...seen };
      await app.ask({ agent: "companion", contact: "ann", text: `I bought ${n} red bicycles in Lisbon.` }).reply();
      return { trips: seen.trips - before.trips, statements: seen.statements - before.statements };
    };
    for (let n = 0; n < 6; n++) await turn(n);
    const { trips, statements } = await turn(6);
    expect(trips).toBeLessThanOrEqual(20);
    // Whoever counts wrong counts nothing.
    expect(trips).toBeGreaterThan(5);
    expect(statements).toBeGreaterThan(2 * trips);
    await app.close();
    rmSync(data, { recursive: true, force: true });
  },
  120_000,
);
