import { defineTool, z } from "strata";

const ORDERS = new Map([
  ["A-1001", { what: "two tyres", euros: 24 }],
  ["A-1002", { what: "a child's bicycle", euros: 349 }],
]);

/** Changes nothing outside, so it may run as often as the model likes. Its results are trusted as the shop's own. */
export const order = defineTool({
  name: "order",
  description: "Looks an order up: what was bought, and for how much.",
  input: z.object({ number: z.string().describe("As printed on the bill, like A-1001.") }),
  effect: "none",
  trust: "operator",
  run: ({ number }) => {
    const found = ORDERS.get(number);
    // The model sees a failed call, so it asks for another number instead of making one up.
    if (found === undefined) throw new Error(`there is no order ${number}; ask for the number on the bill`);
    return `${number}: ${found.what}, ${found.euros} euros`;
  },
});

/** Acts outside of Strata, so each call is recorded before it runs, and a repeated turn does not pay twice. */
export const refund = defineTool({
  name: "refund",
  description: "Pays money back for an order.",
  input: z.object({ number: z.string(), euros: z.number().positive() }),
  effect: "external",
  trust: "operator",
  limits: { seconds: 10 },
  needsApproval: ({ euros }) => euros > 50,
  run: async ({ number, euros }, { signal }) => {
    const paid = await pay(number, euros, signal);
    return `${paid} euros were paid back for ${number}`;
  },
});

/** A stand-in for the bank. */
function pay(_number: string, euros: number, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  return Promise.resolve(euros);
}
