// `npm run -s in -- checks/waits.ts [--runs 10000] [--seed 1] [--seconds 600] [--on sqlite|postgres] [--loop|--batch|--peers]`: random lives of threads that wait, in the store
// and in a reference side by side. They are killed inside transactions, and two workers share the database. With `--loop`, runs that wait for a client
// and for an agent go through the turn loop, in programs that are killed after any number of statements; with `--batch`, turns over the messages of
// several senders, while others come; with `--peers`, chains of agents that ask each other, in two conversations at once. The first difference ends it with its seed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allParts } from "../src/app/entry/features.ts";
import { surviveBatchKills } from "../src/features/inbox/kills.contract.ts";
import { surviveChains } from "../src/features/peers/chains.contract.ts";
import { type KillingStore, killingPostgres, killingSqlite } from "../src/store/contract/killing.contract.ts";
import { checkRecord, life } from "../src/store/contract/waits.contract.ts";
import { surviveKills } from "../src/turn/loop/waits.contract.ts";
import { dropDatabase, makeDatabase, stopServer, testServer, WITHOUT_POSTGRES } from "./postgres.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    seconds: { type: "string", default: "600" },
    on: { type: "string", default: "sqlite" },
    loop: { type: "boolean", default: false },
    batch: { type: "boolean", default: false },
    peers: { type: "boolean", default: false },
  },
});

const place = mkdtempSync(join(tmpdir(), "strata-waits-"));
const folder = join(place, "postgres");

/** What goes through the turn loop instead of the store alone, and the option that asks for it. */
const LOOPS = { batch: surviveBatchKills, loop: surviveKills, peers: surviveChains };
const asked = (["batch", "loop", "peers"] as const).find((name) => values[name]);
const inLoop = asked && LOOPS[asked];
const option = asked === undefined ? "" : ` --${asked}`;
const parts = inLoop === undefined ? [] : [await allParts()];

async function opened(): Promise<{ readonly killing: KillingStore; readonly close: () => Promise<void> }> {
  if (values.on === "sqlite") {
    const killing = await killingSqlite(...parts);
    return { killing, close: () => killing.store.close() };
  }
  const server = await testServer(folder);
  if (server === undefined) throw new Error(WITHOUT_POSTGRES);
  const name = await makeDatabase(server);
  const killing = await killingPostgres(server.url(name), ...parts);
  return {
    killing,
    close: async () => {
      await killing.store.close();
      await dropDatabase(server, name);
    },
  };
}

const PER_STORE = 50;
const tally = { operations: 0, kills: 0, waits: 0, resumed: 0, late: 0, overdue: 0, cancelled: 0, forks: 0 };
const end = Date.now() + Number(values.seconds) * 1_000;
const runs = Number(values.runs);
let done = 0;
try {
  while (done < runs && Date.now() < end) {
    const { killing, close } = await opened();
    try {
      for (let i = 0; i < PER_STORE && done < runs && Date.now() < end; i++, done++) {
        const seed = Number(values.seed) + done;
        const lived =
          inLoop?.(killing, seed).then((deaths) => {
            tally.kills += deaths;
          }) ?? life({ killing, seed, tally });
        await lived.catch((cause: unknown) => {
          throw new Error(`life ${seed} differs (--seed ${seed} --runs 1${option})`, { cause });
        });
      }
      await checkRecord(killing.store);
    } finally {
      await close();
    }
  }
} finally {
  await stopServer(folder);
  rmSync(place, { recursive: true, force: true });
}
console.log(
  `${done} lives on ${values.on}, nothing lost, doubled or refused: ${JSON.stringify(inLoop === undefined ? tally : { kills: tally.kills })}`,
);
