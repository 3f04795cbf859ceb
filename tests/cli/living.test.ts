import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { localServer } from "../local-server.ts";
import { living } from "./living.ts";
import { jsonLines, strata } from "./strata.ts";

const of = (cwd: string) => async (line: string, input?: string) =>
  strata(line.split(" "), { cwd, ...(input !== undefined && { input }) });

/** A folder where ann and bob have each said something. */
async function talked() {
  const cwd = await living();
  const run = of(cwd);
  await run("credits add 20");
  await run("chat automaton --as ann", "I want tea.\n");
  await run("chat automaton --as bob", "I want coffee.\n");
  return run;
}

describe("strata log", () => {
  it("000.57 000.58 lists the senders and shows what was said with one; each access is listed by `agent acts`", async () => {
    const run = await talked();
    const { out } = await run("log list");
    expect(out).toMatch(/^sender +entries +active\nbob +1 +just now\nann +1 +just now\n$/);
    const shown = await run("log show ann");
    expect(shown.out).toContain("ann: I want tea.");
    expect(shown.out).toContain("1 entry of at most 20, times in UTC");
    expect(shown.out).not.toMatch(/bob|coffee/);
    expect((await run("log show cat")).out).toBe("automaton has no log of cat.\n");
    const [log] = jsonLines<object>((await run("log show bob --json")).out);
    expect(log).toMatchObject({ contact: "bob", entries: [{ body: "I want coffee." }] });
    const acts = await run("agent acts automaton");
    expect(acts.out).toMatch(/read log +thr_\w{26}\n.*read log +thr_/);
    expect(acts.out).not.toMatch(/ann|bob/);
  });
});

describe("strata inbox and outbox", () => {
  it("run a turn over what waits, and say so where nothing does", async () => {
    const run = await talked();
    expect((await run("inbox run")).out).toBe("Nothing waits for automaton.\n");
    expect((await run("inbox run --json")).out).toBe("");
  });

  it("tell what waited for credits, whose it is, and answer it once there are some", async () => {
    const run = of(await living());
    expect((await run("chat automaton --as ann", "I want tea.\n")).code).toBe(15);
    await run("credits add 20");
    expect((await run("inbox list")).out).toMatch(
      /^ann · \d{4}-\d\d-\d\d \d\d:\d\d · waiting\n {2}I want tea\.\n {2}evt_\w{26} on thr_\w{26}\n1 message\n$/,
    );
    const { out, err } = await run("inbox run");
    expect(out).toContain("I have read your message");
    expect(err).toMatch(/^· 1 message of ann\n/);
    expect((await run("outbox list")).out).toMatch(/^to ann · /);
  });

  it("list what waits and what was said, and mark what was delivered", async () => {
    const run = await talked();
    expect((await run("inbox list")).out).toBe("Nothing waits for automaton.\n");
    const { out } = await run("outbox list --limit 1");
    expect(out).toMatch(
      /^to bob · \d{4}-\d\d-\d\d \d\d:\d\d · delivered\n {2}\S.*\n {2}out_\w{26} on thr_\w{26}\n1 message\n$/,
    );
    expect(out).toContain("1 message");
    expect((await run("outbox list --status undeliverable")).out).toBe("There is no such message of automaton.\n");
    const [first] = jsonLines<readonly { readonly id: string }[]>((await run("outbox list --json")).out)[0] ?? [];
    expect((await run(`outbox delivered ${first?.id}`)).out).toContain("is not waiting at automaton");
  });
});

describe("strata credits and life", () => {
  it("tell that an agent has nothing, top it up, and show how it is", async () => {
    const run = of(await living());
    expect((await run("agent show")).out).toContain("\nlife     credits low at $5, critical at $1\n");
    expect((await run("doctor")).out).toMatch(/^warn {2}attention automaton sleeps, because it has no credits yet: /m);
    const before = await run("life show");
    expect((await run("credits show")).out).toContain("$0.0000 spent since, $0.0000 in the last hour\n");
    expect(before.out).toMatch(/^automaton is bootstrapping\ntier {5}Critical\nbalance {2}\$0\.0000/);
    const sleeps = "automaton sleeps, because it has no credits yet: `strata credits add DOLLARS automaton` wakes it\n";
    expect(before.out).toContain(sleeps);
    expect((await run("credits show")).out).toContain(sleeps);
    const refused = await run("life tick");
    expect(refused).toMatchObject({ code: 15, err: expect.stringContaining("`strata credits add 10 automaton`") });
    expect((await run("credits add 6 --note december")).out).toBe("automaton has $6.0000 now.\n");
    expect((await run("credits add -- -2")).out).toBe("automaton has $4.0000 now.\n");
    expect((await run("credits show")).out).toMatch(/^automaton has \$4\.0000, LowCycles; nothing was spent/);
    expect((await run("credits list")).out).toMatch(
      / -\$2\.0000 +local:operator\n.* \$6\.0000 +local:operator +december\n$/,
    );
    expect((await run("credits add -- -4.5")).out).toBe("automaton has -$0.5000 now.\n");
    expect((await run("credits show")).out).toContain("sleeps, because it has no credits left: ");
    for (const wrong of ["0", "many", "1e9", "NaN"]) expect((await run(`credits add ${wrong}`)).code, wrong).toBe(2);
  });

  it("propose a payment with which an agent that owes something is well again", async () => {
    const run = of(await living());
    await run("credits add 5");
    expect((await run("credits add -- -13")).out).toBe("automaton has -$8.0000 now.\n");
    const { err } = await run("life tick");
    const proposed = /`strata (credits add \d+ automaton)`/.exec(err)?.[1] ?? err;
    expect((await run(proposed)).out).toBe("automaton has $10.0000 now.\n");
    expect((await run("credits show")).out).toMatch(/^automaton has \$10\.0000, Normal; /);
  });

  it("give the agent a turn of its own, which is no message to anybody", async () => {
    const run = of(await living());
    await run("credits add 20");
    const { out, code } = await run("life tick");
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("You started this turn yourself") });
    expect((await run("outbox list")).out).toMatch(
      /^in a turn of its own · .*\n {2}Hello\. I have read the scheduled instruction/,
    );
    expect((await run("outbox list --status waiting")).out).toBe("There is no such message of automaton.\n");
    expect((await run("agent attention")).out).toMatch(
      /^automaton reports of its own turn of .*: “Hello\. I have read/m,
    );
    expect((await run("life show")).out).toMatch(/^automaton is sleeping since .*\ntier {5}Normal\n/);
    const [life] = jsonLines<object>((await run("life show --json")).out);
    expect(life).toMatchObject({ agent: "automaton", vitals: { turn: 1, state: "sleeping", balance: 20 } });
  });
});

describe("a payment", () => {
  it("that is not a number of dollars or too large is refused with the limit", async () => {
    const run = of(await living());
    for (const dollars of ["1e9", "1000001", "abc"])
      expect(await run(`credits add ${dollars}`)).toMatchObject({ code: 2, err: expect.stringContaining("1,000,000") });
  });

  it("is not taken back where none was made: there are no credits yet", async () => {
    const run = of(await living());
    expect(await run("credits add -- -5")).toMatchObject({ code: 2, err: expect.stringContaining("no credits yet") });
    expect((await run("credits add 5")).code).toBe(0);
    expect((await run("credits add -- -5")).code).toBe(0);
  });
});

/** A folder whose automaton has that account. */
async function withAccount(address: string, port: number): Promise<ReturnType<typeof of>> {
  const cwd = await living();
  const file = join(cwd, "strata.yaml");
  const account = `account: { address: "${address}", rpc: "http://127.0.0.1:${port}" }`;
  writeFileSync(file, readFileSync(file, "utf8").replace("    life:\n", `    life:\n      ${account}\n`));
  return of(cwd);
}

const WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

describe("an account", () => {
  it("on a node that takes half a second is read by `life show`, doctor and compose, each a program that begins again", async () => {
    const port = await localServer((_request, response) => {
      response.setHeader("content-type", "application/json");
      setTimeout(() => response.end('{"jsonrpc":"2.0","id":1,"result":"0x14d1120d7b160000"}'), 500);
    });
    const run = await withAccount(WALLET, port);
    expect((await run("life show")).out).toContain(`account  ${WALLET}, 1.5 in its native coin, read just now`);
    expect((await run("doctor")).out).toMatch(/^ok {4}accounts {2}1 account read$/m);
    const told = await run("compose automaton --message hi");
    expect(told.out).toContain("native balance: 1.500000 in its native coin, read less than a minute ago");
  });

  it("with a wrong checksum is refused by every command, with the form that is right", async () => {
    const wrong = WALLET.replace("C8", "c8");
    const run = await withAccount(wrong, 9);
    for (const line of [
      "life show",
      "credits show",
      "agent show automaton",
      "life tick",
      "inbox list",
      "lock",
      "lock --check",
    ])
      expect(await run(line), line).toMatchObject({
        code: 4,
        err: expect.stringContaining(`checksum, which for these digits is ${WALLET}`),
      });
    expect((await run("doctor")).out.replaceAll(/\s+/g, " ")).toContain(`which for these digits is ${WALLET}`);
  });
});

describe("an account that cannot be read", () => {
  it("is reported with the reason and the time of the last try by `life show`, for programs too, and by doctor", async () => {
    const port = await localServer((_request, response) => void response.end("<html>Welcome</html>"));
    const run = await withAccount(WALLET, port);
    expect((await run("life show")).out).toMatch(/its balance was never read; tried just now: its server/);
    const [life] = jsonLines<object>((await run("life show --json")).out);
    expect(life).toMatchObject({
      vitals: { unread: { because: expect.stringContaining("its server"), at: expect.any(Number) } },
    });
    expect((await run("doctor")).out).toMatch(/^warn {2}accounts {2}.*automaton.*0x70997970/m);
  });
});
