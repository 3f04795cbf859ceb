import { createServer } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { type Agent, type Layer, layerId } from "../../protocol/index.ts";
import { endOf, OPERATOR, sampleAgent } from "../../turn/index.contract.ts";
import { type AccountParts, openAccounts } from "./accounts.ts";
import { LIFE_API } from "./api.ts";
import { type Living, livingAgent, livingRuntime, localChain, MINUTE } from "./index.contract.ts";

const WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const ETHER = 10n ** 18n;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Its clock layer shows vitals instead. */
function showingVitals(url: string, source: number): Agent {
  const layers = sampleAgent().layers.map((layer): Layer => {
    return layer.source.kind === "clock" ? { ...layer, id: layerId("vitals"), source: { kind: "vitals" } } : layer;
  });
  const account = { address: WALLET, rpc: { url }, cached: 60 };
  const agent = livingAgent({ account }, { layers });
  return { ...agent, budgets: { ...agent.budgets, source } };
}

async function withAccount(url: string, source = 20_000, more: Partial<AccountParts> = {}): Promise<Living> {
  const time = { now: (): number => 0 };
  const urlOf: AccountParts["urlOf"] = (rpc) => ("url" in rpc ? rpc.url : undefined);
  const accounts = openAccounts({ urlOf, clock: { recorded: () => time.now() }, ...more });
  const replies = Array<string>(9).fill("Well.");
  const on = await livingRuntime(replies, {}, { agent: showingVitals(url, source), parts: { accounts } });
  time.now = () => on.time.at;
  return on;
}

/** What the model reads about the account now: nothing if nothing is known. */
async function told(on: Living): Promise<string | undefined> {
  expect(endOf(await on.say(await on.open(), "Hi")).type).toBe("done");
  const last = JSON.stringify(on.sent.at(-1));
  expect(last).toContain(`wallet: ${WALLET}`);
  expect(last).toContain("state: loading context");
  expect(last).toContain(`turn: ${on.sent.length}`);
  return /native balance: ([^\\"]*)/.exec(last)?.[1];
}

describe("the account of an agent", () => {
  it("000.20 is shown with what a real chain says, and with the age of what was read", async () => {
    const chain = await localChain();
    ends.push(chain.stop);
    const on = await withAccount(chain.url);
    await chain.send(WALLET, 2n * ETHER);
    expect(await told(on)).toMatch(/^2\.000000 in its native coin, read .*minute/);
    await chain.send(WALLET, ETHER / 2n);
    on.time.at += MINUTE;
    expect(await told(on)).toMatch(/^2\.500000 in its native coin/);
    expect((await on.life()).vitals).toMatchObject({
      wallet: WALLET,
      native: { wei: (5n * ETHER) / 2n, at: on.time.at },
    });
  });

  it("whose server has gone leaves the turn alive: the last that was read is shown with its age", async () => {
    const chain = await localChain();
    const on = await withAccount(chain.url);
    await chain.send(WALLET, 2n * ETHER);
    await told(on);
    await chain.stop();
    on.time.at += 90 * MINUTE;
    const sentence = await told(on);
    expect(sentence).toContain("2.000000 in its native coin");
    expect(sentence).not.toBe("2.000000 in its native coin, read less than a minute ago");
    expect((await on.life()).vitals.native?.at).toBe(on.time.at - 90 * MINUTE);
  });

  it("whose server never answers leaves the turn and the other vitals alive", async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ends.push(
      () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    );
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const on = await withAccount(`http://127.0.0.1:${port}`, 300);
    expect(await told(on)).toBeUndefined();
  });

  /** A clock for waits: records how long was waited, and lets the test end a wait. */
  function patience() {
    const waits: { readonly milliseconds: number; readonly end: () => void }[] = [];
    const timer: AccountParts["timer"] = (milliseconds, end) => {
      waits.push({ milliseconds, end });
      return () => {};
    };
    return { waits, timer };
  }

  it("is waited for in the first turn of a program, longer than a source may take", async () => {
    const { waits, timer } = patience();
    const read = Promise.withResolvers<bigint>();
    const on = await withAccount("http://chain.example", 300, { timer, read: () => read.promise });
    const sentence = told(on);
    await expect.poll(() => waits.map(({ milliseconds }) => milliseconds)).toEqual([2_000]);
    read.resolve(3n * ETHER);
    expect(await sentence).toMatch(/^3\.000000 in its native coin/);
  });

  it("whose server never answers is waited for once, and no later turn waits longer than a source may take", async () => {
    const { waits, timer } = patience();
    const never = new Promise<bigint>(() => {});
    const on = await withAccount("http://chain.example", 300, {
      read: () => never,
      timer: (milliseconds, end) => {
        const cancel = timer(milliseconds, end);
        end();
        return cancel;
      },
    });
    expect(await told(on)).toBeUndefined();
    expect(await told(on)).toBeUndefined();
    expect(waits.map(({ milliseconds }) => milliseconds)).toEqual([2_000, 150, 150]);
  });

  it("is waited for as long as the caller of the agent's state says", async () => {
    const { waits, timer } = patience();
    const read = Promise.withResolvers<bigint>();
    const on = await withAccount("http://chain.example", 300, { timer, read: () => read.promise });
    const asked = on.runtime.use(LIFE_API).life(OPERATOR, on.owner.agent, { wait: 5_000 });
    await expect.poll(() => waits.map(({ milliseconds }) => milliseconds)).toEqual([5_000]);
    read.resolve(3n * ETHER);
    expect((await asked).vitals.native?.wei).toBe(3n * ETHER);
  });
});
