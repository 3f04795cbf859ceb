import { z } from "zod";

/** How much of the caller's conversation a peer is shown. */
export const SHARES = z.enum(["none", "summary", "full", "fork"]);
export const LAST = z.strictObject({ last: z.int().min(1).max(1_000).describe("How many of its newest messages.") });
export const STORED_SHARE = z.union([SHARES, z.strictObject({ last: z.number() }).readonly()]);
export type Share = z.output<typeof STORED_SHARE>;
