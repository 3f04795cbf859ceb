// `npm run -s in -- checks/power.ts [--runs 1000] [--seed 1] [--cuts 20]`: lives of conversations over a disk that loses power again and again, with whatever was
// written since its last sync there, gone or torn. The first life in which something is lost that had gone out, or whose record does not verify, ends it with
// its seed.
import { parseArgs } from "node:util";
import { surviveOutages } from "../src/turn/loop/power.contract.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    cuts: { type: "string", default: "20" },
  },
});
let [lives, cuts, told] = [0, 0, 0];
for (; lives < Number(values.runs); lives++) {
  const seed = Number(values.seed) + lives;
  const life = await surviveOutages(seed, { most: Number(values.cuts) }).catch((cause: unknown) => {
    throw new Error(`life ${seed} lost something (--seed ${seed} --runs 1)`, { cause });
  });
  cuts += life.cuts;
  told += life.told;
}
console.log(
  `${lives} lives, ${cuts} power cuts, ${told} things that had gone out: nothing lost, and every record verifies`,
);
