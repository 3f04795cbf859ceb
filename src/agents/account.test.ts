import { describe, expect, it } from "vitest";
import { loadYaml, refusalOf, yamlWith } from "./folder.contract.ts";
import { agentSpec, type Environment, type Project, vaultOf } from "./index.ts";

const WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const REFERENCE = "$" + "{CHAIN_RPC}";
const SERVER = "https://chain.example/v3/key-4711";

const load = (rpc: string, env: Environment = {}): Project => {
  const account = `    life: {account: {address: "${WALLET}", rpc: "${rpc}"}}\n`;
  return loadYaml(yamlWith(["id: rules, rank: 1, text: Be kind."], account), {}, env);
};

describe("the JSON-RPC server of an agent's account", () => {
  it("may stand in a variable: then no version, print or answer of a module shows it", () => {
    const project = load(REFERENCE, { CHAIN_RPC: SERVER });
    const [agent] = project.agents.values();
    if (agent === undefined) throw new Error("no agent was read");
    expect(agent.life?.account).toEqual({ address: WALLET, rpc: { variable: "CHAIN_RPC" }, cached: 300 });
    expect(agentSpec(agent) + JSON.stringify([...project.servers])).not.toContain("4711");
    expect(project.servers.get("CHAIN_RPC")?.reveal()).toBe(SERVER);
    expect(vaultOf([project]).hide(`asked ${SERVER}`)).toBe("asked [secret CHAIN_RPC]");
  });

  it("is missed with the place that names it, where its variable is not set or holds no address", () => {
    expect(refusalOf(() => load(REFERENCE)).message).toContain("CHAIN_RPC is not set");
    const odd = refusalOf(() => load(REFERENCE, { CHAIN_RPC: "wss://chain.example/key-4711" }));
    expect(odd.message).toContain("life.account.rpc");
    expect(odd.message).toContain("not an address that begins with https:// or http://");
    expect(odd.message).not.toContain("4711");
  });
});
