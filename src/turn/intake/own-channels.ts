import { StrataError } from "../../protocol/index.ts";

/** The channel on which summaries are asked for. */
export const CONSOLIDATION = "consolidation";

/** The channel of turns that another turn's call runs: its key names that turn and that call. */
export const PEER = "peer";

/** The platform's own channels: no door takes messages there, nobody waits for a reply, and nothing is a conversation. */
export const OWN_CHANNELS = [CONSOLIDATION, PEER] as const;

const CONTENTS: ReadonlyMap<string, string> = new Map([
  [CONSOLIDATION, "the record of summaries"],
  [PEER, "what agents ask each other"],
]);

/** Whether a thread is one of the platform's own. */
export const isOwnChannel = (channel: string): boolean => CONTENTS.has(channel);

/**
 * Lets nobody talk on the platform's own channels. Summaries are asked for without the agent's layers, so an answer there would be
 * given without its rules (law 2); a thread between agents holds one question and one answer.
 * @throws StrataError `invalid_input`
 */
export function checkTalk({ channel }: { readonly channel: string }): void {
  const holds = CONTENTS.get(channel);
  if (holds === undefined) return;
  const says = `the channel ${JSON.stringify(channel)} holds ${holds}, so nobody can talk there; name another channel or thread`;
  throw new StrataError("invalid_input", says, { channel });
}
