// `npm run -s in -- checks/soak.ts [--minutes 10] [--seed 1]`: a server under floods, with a foreign lock each minute and SIGTERM at the end.
// Memory must stay flat, `/health` quick and nothing `running`; `npm test` runs some seconds of it.
import { parseArgs } from "node:util";
import { faultsOf, soak } from "./soak-run.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string", default: "1" } },
});
const seconds = Number(values.minutes) * 60;
const soaked = await soak({ seconds, seed: Number(values.seed), say: (line) => console.error(line) });
console.log(JSON.stringify(soaked, null, 2));
const faults = faultsOf(soaked, { seconds });
for (const fault of faults) console.log(`wrong: ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;
