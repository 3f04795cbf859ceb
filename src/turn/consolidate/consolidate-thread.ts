import { StrataError } from "../../protocol/index.ts";

/** The channel on which summaries are asked for. No door takes a message for it. */
export const CONSOLIDATION = "consolidation";

/**
 * Lets nobody talk where summaries are recorded: what stands there was sent without a layer of the agent, and an answer in such an
 * epoch would be given without its rules (law 2).
 * @throws StrataError `invalid_input`
 */
export function checkTalk({ channel }: { readonly channel: string }): void {
  if (channel !== CONSOLIDATION) return;
  const says = `the channel ${JSON.stringify(channel)} holds the record of summaries, and nobody talks there; name another channel or thread`;
  throw new StrataError("invalid_input", says, { channel });
}
