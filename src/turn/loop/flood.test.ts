import BetterSqlite3 from "better-sqlite3";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { allParts } from "../../app/entry/features.ts";
import { growsLinearly } from "../../protocol/index.contract.ts";
import { openSqlite, type Store } from "../../store/index.ts";
import { collect, endOf, message, OPERATOR, testRuntime } from "../index.contract.ts";

it("25.2 storing messages and a turn over them take processor time in proportion to their number", async () => {
  await growsLinearly(async (n) => {
    const { runtime, open, store } = await testRuntime(["Yes."]);
    const thread = await open();
    await runtime.post(
      OPERATOR,
      thread,
      Array.from({ length: n }, (_, i) => message(`Message ${i} says ${"this and that ".repeat(20)}`, i)),
    );
    expect(endOf(await collect(runtime.run(OPERATOR, thread))).type).toBe("done");
    await store.close();
  }, 200);
}, 60_000);

/** The steps of a turn whose work is counted. All work other than the claim and the commit gathers, frames and compiles. */
const STEPS = ["claim", "compile", "settle"] as const;
type Step = (typeof STEPS)[number];

/** The work of a step: database statements, rows returned, characters returned, cleaned or counted. */
interface Work {
  statements: number;
  rows: number;
  stored: number;
  cleaned: number;
  counted: number;
}

const KINDS_OF_WORK = ["statements", "rows", "stored", "cleaned", "counted"] as const;

type Counted = Readonly<Record<Step, Work>>;

const noWork = (): Work => ({ statements: 0, rows: 0, stored: 0, cleaned: 0, counted: 0 });

const lengthOf = (values: readonly unknown[]): number =>
  values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0);

interface Waiting {
  readonly messages: number;
  readonly total?: number;
}

/** The work of one turn over this many waiting messages, step by step. */
async function workOf({ messages, total }: Waiting): Promise<Counted> {
  const work: Counted = { claim: noWork(), compile: noWork(), settle: noWork() };
  let step: Step = "compile";
  const during =
    <Given extends readonly unknown[], R>(which: Step, run: (...given: Given) => Promise<R>) =>
    async (...given: Given): Promise<R> => {
      step = which;
      return run(...given).finally(() => {
        step = "compile";
      });
    };
  const inner = await openSqlite(":memory:", { parts: await allParts() });
  // The lease asks by timers whether it still holds: that is work of how long a turn takes, not of how much waits.
  const byTimers = { stopAsked: async () => false, renew: async () => true };
  const steps = { claim: during("claim", inner.claim), settle: during("settle", inner.settle) };
  const store: Store = { ...inner, ...byTimers, ...steps };
  const stand = await testRuntime(
    Array.from({ length: 20 }, () => "Yes."),
    {
      store,
      ...(total !== undefined && { budgets: { total, reply: 500 } }),
      parts: {
        counterOf: async () => (text) => {
          work[step].counted += text.length;
          return Math.ceil(text.length / 3);
        },
      },
    },
  );
  const thread = await stand.open();
  const texts = Array.from({ length: messages }, (_, i) => message(`Message ${i} says ${"this and ".repeat(20)}`, i));
  await stand.runtime.post(OPERATOR, thread, texts);
  const prototype: BetterSqlite3.Statement<unknown[]> = Object.getPrototypeOf(
    new BetterSqlite3(":memory:").prepare("select 1"),
  );
  // Tests before this one, in the same process, may have left leases that ask their own databases.
  const asked = new Map<unknown, (Pick<Work, "rows" | "stored"> & { readonly during: Step })[]>();
  for (const name of ["get", "all", "run"] as const) {
    const before = prototype[name];
    vi.spyOn(prototype, name).mockImplementation(function (
      this: BetterSqlite3.Statement<unknown[]>,
      ...values: unknown[]
    ) {
      const found = Reflect.apply(before, this, values);
      const rows = Array.isArray(found) && name === "all" ? found.length : 1;
      const all = asked.get(this.database) ?? [];
      asked.set(this.database, [...all, { during: step, rows, stored: lengthOf(values) }]);
      return found;
    });
  }
  const replace = String.prototype.replace;
  vi.spyOn(String.prototype, "replace").mockImplementation(function (this: string, ...values: unknown[]) {
    work[step].cleaned += this.length;
    return Reflect.apply(replace, this, values);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const events = await collect(stand.runtime.run(OPERATOR, thread));
  vi.restoreAllMocks();
  expect(endOf(events).type).toBe("done");
  await inner.close();
  const [own = []] = [...asked.values()].sort((one, other) => other.length - one.length);
  for (const { during: when, rows, stored } of own) {
    work[when].statements++;
    work[when].rows += rows;
    work[when].stored += stored;
  }
  return work;
}

/** No figure of any step is more than `most` makes of the smaller one. */
function expectNoMore(few: Counted, many: Counted, most: (before: number) => number): void {
  for (const step of STEPS)
    for (const what of KINDS_OF_WORK) {
      const [before, done] = [few[step][what], many[step][what]];
      expect(done, `${what} in ${step}: ${before}, then ${done}`).toBeLessThanOrEqual(most(before));
    }
}

describe("25.2 the work of each step of a turn", () => {
  // Halving what is too long for one message until it fits adds a little to four times as much.
  it.each([
    ["that one turn takes", {}],
    ["that are too long for one turn", { total: 2_500 }],
  ])("is in proportion to the messages %s", async (_, how) => {
    const [few, many] = [await workOf({ ...how, messages: 45 }), await workOf({ ...how, messages: 180 })];
    expectNoMore(few, many, (before) => 5 * before);
    expect(many.compile.counted).toBeGreaterThan(20_000);
    expect(many.settle.statements).toBeGreaterThan(20);
  });

  it("does not grow with the messages that wait beyond what one turn takes", async () => {
    const [few, many] = [await workOf({ messages: 225 }), await workOf({ messages: 900 })];
    expectNoMore(few, many, (before) => 1.1 * before + 10);
  });
});
