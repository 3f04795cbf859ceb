import { z } from "zod";
import { threadColumn } from "../column.ts";
import { PEER_API } from "./api.ts";

/** Conversations that take no more messages. */
export const CLOSED = threadColumn({
  name: "closed",
  schema: z
    .literal(true)
    .describe("nothing happened on it after a warning: it takes no more messages; absent: it does"),
  read: async ({ runtime, actor }, _, threads) => {
    const found = await runtime.use(PEER_API).closed(actor, threads);
    return new Map(found.map((id) => [id, true as const]));
  },
  show: () => "yes",
});
