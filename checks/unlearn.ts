// `npm run -s in -- checks/unlearn.ts [--runs 1000] [--seed 1] [--seconds 3600] [--steps 30] [--on sqlite|postgres] [--show]`: one event is retracted after random steps of an office, and all that is derived is
// compared with that of a twin that never saw it. Tells each run that differs, has a word of the event left in the record or in the next requests, or a
// record that does not verify; `--show` prints what differs.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allParts } from "../src/app/entry/features.ts";
import { randomSteps, twins } from "../src/features/retractions/twin.contract.ts";
import { EVERYTHING } from "../src/store/contract/everything.contract.ts";
import { killingPostgres } from "../src/store/contract/killing.contract.ts";
import { openSqlite, type Store } from "../src/store/index.ts";
import { dropDatabase, makeDatabase, stopServer, testServer, WITHOUT_POSTGRES } from "./postgres.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    seconds: { type: "string", default: "3600" },
    steps: { type: "string", default: "30" },
    on: { type: "string", default: "sqlite" },
    show: { type: "boolean", default: false },
  },
});

const parts = [...(await allParts()), EVERYTHING];
const [runs, first, length] = [Number(values.runs), Number(values.seed), Number(values.steps)];
const began = Date.now();
const found = { differences: 0, record: 0, requests: 0, problems: 0 };
let events = 0;

/** The lines in which two values differ. */
function differing(is: unknown, would: unknown): readonly string[] {
  const lines = (value: unknown): readonly string[] => JSON.stringify(value, null, 1).split("\n");
  const [here, there] = [lines(is), lines(would)];
  return [
    ...here.filter((line) => !there.includes(line)).map((line) => `- ${line.trim()}`),
    ...there.filter((line) => !here.includes(line)).map((line) => `+ ${line.trim()}`),
  ];
}

/** One run: the event of a random step is retracted, and what is left is compared with the twin's. */
async function retractOne(seed: number, open: () => Promise<Store>): Promise<void> {
  const steps = randomSteps(seed, length);
  const said = steps.flatMap((step, i) => (step.do === "say" ? [i] : []));
  const retracted = said[seed % said.length];
  if (retracted === undefined) return;
  events++;
  const end = await twins(open, EVERYTHING, steps, retracted);
  if (!end.isSame) found.differences++;
  if (end.inRecord) found.record++;
  if (end.inRequests) found.requests++;
  if (end.problems.length > 0) found.problems++;
  if (end.isSame && !end.inRecord && !end.inRequests && end.problems.length === 0) return;
  const what = [
    end.isSame ? "" : "differs",
    end.inRecord ? "in the record" : "",
    end.inRequests ? "in a request" : "",
    end.problems.length > 0 ? `${end.problems.length} problems` : "",
  ];
  console.log(`seed ${seed}, step ${retracted}: ${what.filter((one) => one !== "").join(", ")}`);
  if (values.show) for (const line of differing(end.is, end.would)) console.log(`  ${line}`);
  if (values.show) for (const line of end.where) console.log(`  in ${line.slice(0, 300)}`);
  if (values.show) for (const one of end.problems) console.log(`  ! ${JSON.stringify(one)}`);
}

const place = mkdtempSync(join(tmpdir(), "strata-unlearn-"));
const folder = join(place, "postgres");
try {
  const server = values.on === "sqlite" ? undefined : await testServer(folder);
  if (values.on !== "sqlite" && server === undefined) throw new Error(WITHOUT_POSTGRES);
  const template = server && (await makeDatabase(server));
  const openNamed = async (name: string) => (await killingPostgres(server?.url(name) ?? "", parts)).store;
  if (template !== undefined) await (await openNamed(template)).close();
  for (let seed = first; seed < first + runs && Date.now() < began + Number(values.seconds) * 1_000; seed++) {
    const made: string[] = [];
    const open = async (): Promise<Store> => {
      if (server === undefined) return openSqlite(":memory:", { parts });
      const name = await makeDatabase(server, template);
      made.push(name);
      return openNamed(name);
    };
    await retractOne(seed, open);
    for (const name of made) if (server) await dropDatabase(server, name);
  }
} finally {
  await stopServer(folder);
  rmSync(place, { recursive: true, force: true });
}
const seconds = Math.round((Date.now() - began) / 1_000);
console.log(
  `${events} retracted events on ${values.on} in ${seconds} s: ${found.differences} differences, ${found.record} canaries in the record, ${found.requests} in the next requests, ${found.problems} records with problems`,
);
process.exitCode = Object.values(found).some((count) => count > 0) ? 1 : 0;
