import { z } from "zod";
import { number } from "../../print/index.ts";
import { threadColumn, turnColumn } from "../column.ts";
import { OUTBOX_STORE, STATUSES } from "./store.ts";

export const UNDELIVERED = threadColumn({
  name: "undelivered",
  schema: z.number().describe("how many of its replies wait to be delivered; absent: none"),
  read: async ({ runtime, actor }, scope) => {
    const found = await runtime.keeps(actor, scope, OUTBOX_STORE).waitingByThread(scope);
    return new Map(found.map(({ thread, waiting }) => [thread, waiting]));
  },
  show: number,
});

export const DELIVERY = turnColumn({
  name: "delivery",
  schema: z.enum(STATUSES).describe("how far its reply got; absent if it has none"),
  read: async ({ runtime, actor }, scope, turns) => {
    const { mail } = runtime.keeps(actor, scope, OUTBOX_STORE);
    const found = await Promise.all(
      turns.map(({ id, scope: { contact } }) => mail(scope, { contact, turn: id, limit: 1 })),
    );
    return new Map(found.flat().map(({ turn, status }) => [turn, status]));
  },
  show: (state) => state,
});
