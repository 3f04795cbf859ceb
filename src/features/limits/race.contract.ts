import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { allParts } from "../../app/entry/features.ts";
import { open, said, scopeOf, take } from "../../store/index.contract.ts";
import { openStore } from "../../store/index.ts";
import { retryWhileBusy } from "../../turn/index.ts";
import { ofOrganization, ofSpend } from "./kills.contract.ts";
import { asking } from "./store.contract.ts";
import { LIMITS_STORE } from "./store.ts";

/**
 * A separate program, for tests in which several spend the same money: `node race.contract.ts <address> <count> <limit>`.
 * It makes all its calls at once, and reports each result.
 */
const [address = "", count = "0", limit = ""] = process.argv.slice(2);
const subject = limit === "spend" ? ofSpend() : ofOrganization(limit);
const store = await openStore(address, { parts: await allParts() });
const limits = store.part(LIMITS_STORE);
const holder = `program ${process.pid}`;
const scope = scopeOf(`spender-${process.pid}`);
const thread = await open(store, scope);
await store.receive(scope, thread.id, [said("hi")]);
await take(store, thread, { holder });
console.log("ready");

async function call(n: number): Promise<void> {
  const most = 0.01 * (1 + (n % 7));
  const asked = asking({ scope, thread: thread.id, holder }, most, { call: randomBytes(16).toString("hex") });
  const refused = await retryWhileBusy(() => limits.take(scope.org, [subject], asked));
  if (refused !== undefined) return console.log("refused");
  await setTimeout(n % 5);
  const bill = most / (1 + (n % 3));
  await retryWhileBusy(() => limits.settle(scope.org, { call: asked.call, dollars: bill }));
  console.log(bill);
}

await Promise.all(Array.from({ length: Number(count) }, (_, n) => call(n)));
await store.close();
