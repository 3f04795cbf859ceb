/** A server that answers nothing for so long is given up, in milliseconds; a turn waits far shorter. */
const PATIENCE = 10_000;

/** An answer is a number in quotes; what is longer is none. Bytes. */
const LONGEST_ANSWER = 64 * 1024;

/** Loaded where an account is read and not before: it takes a moment. */
const ethereum = () => import("viem/utils");

/**
 * The native balance of an address in wei, as the server's newest block has it.
 * @throws Error with a reason that names no address of a server: it may hold a key
 */
export async function readBalance(url: string, address: string, signal?: AbortSignal): Promise<bigint> {
  const { getHttpRpcClient, hexToBigInt, isHex } = await ethereum();
  const limits = { timeout: PATIENCE, maxResponseBodySize: LONGEST_ANSWER };
  const options = { ...limits, ...(signal && { fetchOptions: { signal } }) };
  const body = { method: "eth_getBalance", params: [address, "latest"] };
  const answer: { readonly result?: unknown; readonly error?: unknown } = await getHttpRpcClient(url, options)
    .request({ body })
    .catch((thrown: unknown) => {
      throw new Error(`its server did not answer (${kindOf(thrown)})`);
    });
  if (answer.error !== undefined) throw new Error("its server refused to tell the balance");
  const { result } = answer;
  if (!isHex(result) || result.length > LONGEST_NUMBER) throw new Error("its server's answer is not a balance");
  return hexToBigInt(result);
}

/** 0x and the 64 digits of 256 bits. */
const LONGEST_NUMBER = 66;

/** What went wrong, in the library's word for it: its messages show the server's address. */
const kindOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.name : typeof thrown);
