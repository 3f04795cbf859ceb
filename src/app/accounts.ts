import type { Project } from "../agents/index.ts";
import { senderAddress } from "../guard/index.ts";
import { asStrataError, StrataError } from "../protocol/index.ts";
import { type Accounts, openAccounts } from "../turn/sources/index.ts";

/**
 * Makes sure that agents' accounts have addresses: upper and lower case mixed are a checksum, and a mistyped one is found out now.
 * @throws StrataError `config_invalid` naming the file and the agent
 */
export async function checkAccounts({ file, agents }: Project): Promise<void> {
  for (const [name, { life }] of agents) {
    if (life?.account === undefined) continue;
    try {
      await senderAddress(life.account.address);
    } catch (thrown) {
      const message = `${file}: agents.${name}.life.account.address: ${asStrataError(thrown).message}`;
      throw new StrataError("config_invalid", message, { agent: name, address: life.account.address }, thrown);
    }
  }
}

/** The accounts of the agents that are declared at a time, read at their servers. */
export function accountsOf(projects: () => readonly Project[], clock: () => number): Accounts {
  return openAccounts({
    clock,
    urlOf: (rpc) => {
      if ("url" in rpc) return rpc.url;
      const named = projects().find(({ servers }) => servers.has(rpc.variable));
      return named?.servers.get(rpc.variable)?.reveal();
    },
  });
}
