// `npm run -s in -- checks/lifecycle.ts [--runs 10000] [--seed 1] [--seconds 3600] [--on sqlite|postgres]`: random lives of conversations between agents that ask each
// other: opened, written to, left alone, warned and closed, with calls whose time runs out, answers that come late, and programs that are
// killed after any number of statements. The first difference from the reference ends it with its seed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allParts } from "../src/app/entry/features.ts";
import { liveThrough, NO_LIVES } from "../src/features/peers/lives.contract.ts";
import { killingPostgres, killingSqlite } from "../src/store/contract/killing.contract.ts";
import { checkRecord } from "../src/store/contract/waits.contract.ts";
import { dropDatabase, makeDatabase, stopServer, testServer, WITHOUT_POSTGRES } from "./postgres.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    seconds: { type: "string", default: "3600" },
    on: { type: "string", default: "sqlite" },
  },
});

const PER_STORE = 25;
const place = mkdtempSync(join(tmpdir(), "strata-lifecycle-"));
const folder = join(place, "postgres");
const tally = { ...NO_LIVES };
const [runs, end] = [Number(values.runs), Date.now() + Number(values.seconds) * 1_000];
let done = 0;
try {
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
console.log(`${done} lives on ${values.on}, nothing lost, doubled or crossed: ${JSON.stringify(tally)}`);
