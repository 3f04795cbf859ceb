// `npm run -s in -- checks/forks.ts [--runs 100000] [--seed 1] [--seconds 3600]`: agents that fork themselves, in conversations of several contacts side by side,
// each with canaries of its own, until there were so many forks. The first word that a fork should not have been sent, or the first byte that is not its
// caller's, ends it with its seed. At last, what eight forks over a caller of 100,000 tokens cost.
import { parseArgs } from "node:util";
import { FORKED_BY, forkCanaries, forkCost } from "../src/features/peers/forks.contract.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
    seconds: { type: "string", default: "3600" },
  },
});
const runs = Number(values.runs);
const began = Date.now();
let [seed, forks] = [Number(values.seed), 0];
while (forks < runs && Date.now() < began + Number(values.seconds) * 1_000) forks += await forkCanaries(seed++, 25);
console.log(`${forks} forks in ${Math.round((Date.now() - began) / 1_000)} s: 0 canaries where they should not be`);
const { forks: eight, warm, cold, ratio, tokens } = await forkCost({ forks: 8, tokens: 100_000 });
console.log(
  `${eight} forks over ${tokens} tokens cost ${Math.round(warm)} tokens of input, ${eight} cold starts ${Math.round(cold)}: ${ratio.toFixed(3)} (${FORKED_BY})`,
);
