import { expect, it } from "vitest";
import { allParts } from "../../app/entry/features.ts";
import { EVERYTHING, onEachDatabase } from "../../store/index.contract.ts";
import { randomSteps, type Step, twins } from "./twin.contract.ts";

/** How many runs in each database; `checks/unlearn.ts` makes any number. PostgreSQL takes three times as long for one. */
const RUNS = { sqlite: 2, postgres: 1 };

onEachDatabase("unlearning", [...(await allParts()), EVERYTHING], (open, database) => {
  it("28.9 what is derived equals that of a twin that never saw the event, and no word of it is left in the record or the next requests", async () => {
    for (let seed = 1; seed <= RUNS[database]; seed++) {
      const steps = randomSteps(seed, 24);
      const said = steps.flatMap((step, i) => (step.do === "say" ? [i] : []));
      const retracted = said[seed % said.length] ?? 0;
      const { is, would, inRecord, inRequests, problems } = await twins(open, EVERYTHING, steps, retracted);
      expect(is, `seed ${seed}, step ${retracted}`).toEqual(would);
      expect([seed, inRecord, inRequests, problems]).toEqual([seed, false, false, []]);
    }
  });

  it("28.9 a lesson stays dismissed whose turn had only read what became of the retracted turn's draft", async () => {
    const edited = (step: number, pick: number): readonly Step[] => [
      { do: "say", contact: "bob", kind: "price", pick },
      { do: "decide", of: step, how: "edit", pick },
    ];
    const steps: readonly Step[] = [...edited(0, 1), ...edited(2, 7), { do: "dismiss", pick: 7 }];
    const { is, would, inRecord, problems } = await twins(open, EVERYTHING, steps, 0);
    expect(would.lessons).toMatchObject([{ state: "dismissed" }]);
    expect(is).toEqual(would);
    expect([inRecord, problems]).toEqual([false, []]);
  });
});
