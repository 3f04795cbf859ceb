// `npm run -s in -- checks/spending.ts [--runs 1000] [--seed 1] [--on sqlite|postgres]`: random lives of programs that reserve and settle calls of a model
// under one limit of money, and are killed between any two statements. The first life in which more is spent than allowed, a bill is lost or counted
// twice, or something stays reserved ends it with its seed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allParts } from "../src/app/entry/features.ts";
import { surviveLimitKills } from "../src/features/limits/kills.contract.ts";
import { killingPostgres, killingSqlite } from "../src/store/contract/killing.contract.ts";
import { makeDatabase, stopServer, testServer, WITHOUT_POSTGRES } from "./postgres.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    on: { type: "string", default: "sqlite" },
  },
});
const place = mkdtempSync(join(tmpdir(), "strata-spending-"));
const folder = join(place, "postgres");

async function postgres() {
  const server = await testServer(folder);
  if (server === undefined) throw new Error(WITHOUT_POSTGRES);
  return killingPostgres(server.url(await makeDatabase(server)), await allParts());
}

let [done, deaths] = [0, 0];
try {
  const killing = values.on === "sqlite" ? await killingSqlite(await allParts()) : await postgres();
  for (; done < Number(values.runs); done++) {
    const seed = Number(values.seed) + done;
    deaths += await surviveLimitKills(killing, seed).catch((cause: unknown) => {
      throw new Error(`life ${seed} differs (--seed ${seed} --runs 1)`, { cause });
    });
  }
  await killing.store.close();
} finally {
  await stopServer(folder);
  rmSync(place, { recursive: true, force: true });
}
console.log(
  `${done} lives on ${values.on}, ${deaths} programs killed: nothing overspent, lost, doubled or left reserved`,
);
