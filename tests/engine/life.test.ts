import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type App, type AppOptions, openApp } from "../../src/app.ts";
import { localChain } from "../../src/features/life/index.contract.ts";
import { LIFE_API } from "../../src/features/life/index.ts";
import { scripted } from "../../src/models/index.ts";
import { agentName, untrusted } from "../../src/protocol/index.ts";
import { localServer } from "../local-server.ts";

type Config = NonNullable<AppOptions["config"]>;
type AgentConfig = Config["agents"][string];

const AUTOMATON = agentName("automaton");
const WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const REFERENCE = "$" + "{CHAIN}";

/** Strata over one agent with that life, in a folder that is gone with the test. */
async function living(
  life: NonNullable<AgentConfig["life"]>,
  {
    env = {},
    model = "rehearsal",
    source = 20_000,
  }: { readonly env?: AppOptions["env"]; readonly model?: string; readonly source?: number } = {},
): Promise<App> {
  const folder = mkdtempSync(join(tmpdir(), "strata-life-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const layers: AgentConfig["layers"] = [
    { id: "rules", rank: 1, text: "Be kind." },
    { id: "state", rank: 10, source: "vitals" },
  ];
  const automaton = {
    description: "It lives by itself.",
    history: "log",
    life,
    layers,
    budgets: { source },
  } as const;
  const config: Config = { organization: "home", model, agents: { automaton } };
  const app = await openApp({ folder, config, data: join(folder, ".strata"), env });
  onTestFinished(() => app.close());
  return app;
}

describe("an agent with a life", () => {
  it("000.12 has the thresholds of the defaults: LowCycles at 5 dollars, Critical at 1, two model calls then", async () => {
    const { runtime, operator } = await living({ credits: {} });
    expect(runtime.agent(operator, AUTOMATON).life?.credits).toEqual({ low: 5, critical: 1, modelCalls: 2 });
  });

  it("is refused where the price of its model is not known: credits that are counted with no price would never run out", async () => {
    const model = "compatible:local";
    const env = { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" };
    await expect(living({ credits: {} }, { env, model })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringMatching(/agents\.automaton\.life\.credits: the price of compatible:local is not known/),
    });
  });

  it("is refused where an account is mistyped: upper and lower case are the address's checksum (EIP-55)", async () => {
    const address = WALLET.replace("dc79C8", "dc79c8");
    await expect(living({ account: { address, rpc: "https://chain.example" } })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringMatching(/agents\.automaton\.life\.account\.address: .*checksum/),
    });
    const lower = await living({ account: { address: WALLET.toLowerCase(), rpc: "http://127.0.0.1:9" } });
    expect(lower.runtime.agents(lower.operator)).toHaveLength(1);
  });

  it("shows what its account holds on a real chain whose address stands in the environment, and its record stays whole", async () => {
    const chain = await localChain();
    onTestFinished(chain.stop);
    await chain.send(WALLET, 7n);
    const life = { credits: {}, account: { address: WALLET, rpc: REFERENCE } };
    const { runtime, operator, verify } = await living(life, { env: { CHAIN: chain.url } });
    await runtime.use(LIFE_API).topUp(operator, AUTOMATON, { dollars: 3, note: untrusted("to begin with") });
    for await (const event of runtime.use(LIFE_API).tick(operator, AUTOMATON))
      if (event.type === "failed") throw event.error;
    const { vitals } = await runtime.use(LIFE_API).life(operator, AUTOMATON);
    expect(vitals).toMatchObject({
      balance: 3,
      tier: "LowCycles",
      wallet: WALLET,
      native: { wei: 7n },
      turn: 1,
      state: "sleeping",
    });
    for await (const { type } of verify(operator.org)) expect(type).not.toBe("problem");
  });

  it("shows in the first turn of a program what its account holds on a node that takes half a second, read from the start on", async () => {
    const heard = Promise.withResolvers<void>();
    const port = await localServer((_request, response) => {
      heard.resolve();
      response.setHeader("content-type", "application/json");
      setTimeout(() => response.end('{"jsonrpc":"2.0","id":1,"result":"0x14d1120d7b160000"}'), 500);
    });
    const account = { address: WALLET, rpc: `http://127.0.0.1:${port}` };
    const { runtime, operator } = await living({ account }, { source: 300 });
    await heard.promise;
    const { model, sent } = scripted(["Well."]);
    for await (const event of runtime.use(LIFE_API).tick(operator, AUTOMATON, { model }))
      if (event.type === "failed") throw event.error;
    expect(JSON.stringify(sent[0]?.tail)).toContain("native balance: 1.500000 in its native coin, read ");
  });
});
