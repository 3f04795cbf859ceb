// `npm run -s in -- checks/lifecycle.ts [--runs 10000] [--seed 1] [--seconds 3600] [--on sqlite|postgres] [--buffers 10000]`: random lives of conversations between agents that ask each
// other: opened, written to, left alone, warned and closed, with calls whose time runs out, answers that come late, and programs that are
// killed after any number of statements. The first difference from the reference ends it with its seed. With `--buffers`, so many conversations with a chain are opened
// and closed one after the other on SQLite, and what is live before and after is printed, with the bytes of the record of each.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allParts } from "../src/app/entry/features.ts";
import { openAndPrune } from "../src/features/peers/buffers.contract.ts";
import { liveThrough, NO_LIVES } from "../src/features/peers/lives.contract.ts";
import { killingPostgres, killingSqlite } from "../src/store/contract/killing.contract.ts";
import { checkRecord } from "../src/store/contract/waits.contract.ts";
import { openSqlite } from "../src/store/index.ts";
import { ORG } from "../src/turn/index.contract.ts";
import { dropDatabase, makeDatabase, stopServer, testServer, WITHOUT_POSTGRES } from "./postgres.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    seconds: { type: "string", default: "3600" },
    on: { type: "string", default: "sqlite" },
    buffers: { type: "string" },
  },
});

/** Conversations that are opened and closed: what stays of them. */
async function buffers(chains: number): Promise<void> {
  const file = join(place, "strata.db");
  const store = await openSqlite(file, { parts: await allParts() });
  const { first, last } = await openAndPrune(store, chains);
  for await (const found of store.verify(ORG)) if (found.type === "problem") throw new Error(found.message);
  await store.close();
  const bytes = Math.round(statSync(file).size / chains);
  console.log(`${chains} conversations, ${bytes} bytes of record each: ${JSON.stringify({ first, last })}`);
  if (last.timers > first.timers || last.leases + last.turns > 0) throw new Error("something is still held");
  if (globalThis.gc && last.heap > 2 * first.heap) throw new Error("the heap grows with the conversations");
}

const PER_STORE = 25;
const place = mkdtempSync(join(tmpdir(), "strata-lifecycle-"));
const folder = join(place, "postgres");
const tally = { ...NO_LIVES };
const [runs, end] = [
  values.buffers === undefined ? Number(values.runs) : 0,
  Date.now() + Number(values.seconds) * 1_000,
];
let done = 0;
try {
  if (values.buffers !== undefined) await buffers(Number(values.buffers));
  const server = values.on === "sqlite" ? undefined : await testServer(folder);
  if (values.on !== "sqlite" && server === undefined) throw new Error(WITHOUT_POSTGRES);
  while (done < runs && Date.now() < end) {
    const name = server && (await makeDatabase(server));
    const parts = await allParts();
    const killing = server && name ? await killingPostgres(server.url(name), parts) : await killingSqlite(parts);
    try {
      for (let i = 0; i < PER_STORE && done < runs && Date.now() < end; i++, done++) {
        const seed = Number(values.seed) + done;
        await liveThrough(killing, seed, tally).catch((cause: unknown) => {
          throw new Error(`life ${seed} differs (--seed ${seed} --runs 1)`, { cause });
        });
      }
      await checkRecord(killing.store);
    } finally {
      await killing.store.close();
      if (server && name) await dropDatabase(server, name);
    }
  }
} finally {
  await stopServer(folder);
  rmSync(place, { recursive: true, force: true });
}
if (done > 0) console.log(`${done} lives on ${values.on}, nothing lost, doubled or crossed: ${JSON.stringify(tally)}`);
