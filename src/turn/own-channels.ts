import { StrataError } from "../protocol/index.ts";

/** The channel on which summaries are asked for. */
export const CONSOLIDATION = "consolidation";

/** The channel of turns that another turn's call runs: its key names that turn and that call. */
export const PEER = "peer";

/** Where no door takes a message, nobody waits for a reply, and nothing is a conversation. */
export const OWN_CHANNELS = [CONSOLIDATION, PEER] as const;

const HOLDS: ReadonlyMap<string, string> = new Map([
  [CONSOLIDATION, "the record of summaries"],
  [PEER, "what agents ask each other"],
]);

/** Whether a thread is one of the platform's own. */
export const isOwnChannel = (channel: string): boolean => HOLDS.has(channel);

/**
 * Lets nobody talk where the platform works. Summaries are sent without a layer of the agent, and an answer in such an epoch would be
 * given without its rules (law 2); what agents ask each other is one question and one answer.
 * @throws StrataError `invalid_input`
 */
export function checkTalk({ channel }: { readonly channel: string }): void {
  const holds = HOLDS.get(channel);
  if (holds === undefined) return;
  const says = `the channel ${JSON.stringify(channel)} holds ${holds}, so nobody can talk there; name another channel or thread`;
  throw new StrataError("invalid_input", says, { channel });
}
