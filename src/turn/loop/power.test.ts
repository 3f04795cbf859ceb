import { expect, it } from "vitest";
import { surviveOutages } from "./power.contract.ts";

it("law 7 whatever went out is there after a power cut: messages taken, calls that acted, replies, and what was read", async () => {
  let [cuts, told] = [0, 0];
  for (let seed = 1; seed <= 2; seed++) {
    const life = await surviveOutages(seed).catch((cause: unknown) => {
      throw new Error(`life ${seed} lost something: \`checks/power.ts --seed ${seed} --runs 1\``, { cause });
    });
    cuts += life.cuts;
    told += life.told;
  }
  expect(cuts).toBeGreaterThan(8);
  expect(told).toBeGreaterThan(200);
}, 120_000);

it("the same shows a disk that answers before it has written", async () => {
  await expect(surviveOutages(1, { lies: true, most: 3 })).rejects.toThrow(/lost: |does not verify/);
}, 120_000);
