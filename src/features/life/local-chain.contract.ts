import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import {
  ContractDecoder,
  EdrContext,
  L1_CHAIN_TYPE,
  l1GenesisState,
  l1HardforkLatest,
  l1HardforkToString,
  l1ProviderFactory,
  MineOrdering,
  type Provider,
  type ProviderConfig,
} from "@nomicfoundation/edr";
import { privateKeyToAddress } from "viem/accounts";

/** A real EVM in this process, served over HTTP as a node would be. */
export interface LocalChain {
  readonly url: string;
  /** An account that holds 1,000 ether at first. */
  readonly rich: string;
  /** The requests, oldest first. */
  readonly asked: readonly string[];
  /** Sends ether from the rich account; it is there when this has ended. */
  send(to: string, wei: bigint): Promise<void>;
  stop(): Promise<void>;
}

/** One for the whole process: a second one complains. */
const context = new EdrContext();

const KEY = `0x${"11".repeat(32)}` as const;
const WEALTH = 1_000n * 10n ** 18n;

/** Starts a chain with one rich account; each transfer is mined at once. */
export async function localChain(): Promise<LocalChain> {
  const rich = privateKeyToAddress(KEY);
  const provider = await providerWith(rich);
  const asked: string[] = [];
  const ask = async (request: string): Promise<{ readonly result?: unknown; readonly error?: unknown }> => {
    const { data } = await provider.handleRequest(request);
    return typeof data === "string" ? JSON.parse(data) : data;
  };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { id, method } = JSON.parse(body);
    asked.push(method);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(await ask(body)) }));
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    rich,
    asked,
    send: async (to, wei) => {
      const params = [{ from: rich, to, value: `0x${wei.toString(16)}` }];
      const { error } = await ask(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_sendTransaction", params }));
      if (error !== undefined) throw new Error(JSON.stringify(error));
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function providerWith(rich: string): Promise<Provider> {
  await context.registerProviderFactory(L1_CHAIN_TYPE, l1ProviderFactory());
  const hardfork = l1HardforkLatest();
  const config: ProviderConfig = {
    allowBlocksWithSameTimestamp: true,
    allowUnlimitedContractSize: false,
    bailOnCallFailure: true,
    bailOnTransactionFailure: true,
    chainId: 31_337n,
    networkId: 31_337n,
    coinbase: new Uint8Array(20),
    defaultTransactionGasLimit: 1_000_000n,
    genesisState: [...l1GenesisState(hardfork), { address: Buffer.from(rich.slice(2), "hex"), balance: WEALTH }],
    hardfork: l1HardforkToString(hardfork),
    initialBaseFeePerGas: 1_000_000_000n,
    initialParentBeaconBlockRoot: new Uint8Array(32),
    minGasPrice: 0n,
    mining: { autoMine: true, blockGasLimit: 30_000_000n, memPool: { order: MineOrdering.Fifo } },
    network: { genesisBlockGasLimit: 30_000_000n },
    observability: {},
    ownedAccounts: [KEY],
    precompileOverrides: [],
  };
  const silent = { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => undefined };
  const deaf = { subscriptionCallback: () => undefined };
  return context.createProvider(L1_CHAIN_TYPE, config, silent, deaf, new ContractDecoder());
}
