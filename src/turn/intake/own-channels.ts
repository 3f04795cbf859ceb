import { StrataError } from "../../protocol/index.ts";
import type { Parts } from "../parts.ts";

type Channels = Pick<Parts, "channels">;

/** The platform's own channels: no door takes messages there, no caller waits for a reply, and nothing is a conversation. */
export const closedChannels = ({ channels }: Channels): readonly string[] =>
  channels.flatMap(({ name, holds }) => (holds === undefined ? [] : [name]));

/** Whether a thread is one of the platform's own. */
export const isClosedChannel = (parts: Channels, channel: string): boolean => closedChannels(parts).includes(channel);

/** Whether another turn's call runs the turns of a thread: its key names that turn and that call. */
export const answersCall = ({ channels }: Channels, { channel }: { readonly channel: string }): boolean =>
  channels.some(({ name, answersCalls }) => name === channel && answersCalls === true);

/**
 * Rejects messages on the platform's own channels. A feature may ask its model there without the agent's layers, so an answer would be
 * given without its rules (law 2), and a thread that answers a call holds one question and one answer.
 * @throws StrataError `invalid_input`
 */
export function checkTalk({ channels }: Channels, { channel }: { readonly channel: string }): void {
  const holds = channels.find(({ name }) => name === channel)?.holds;
  if (holds === undefined) return;
  const message = `the channel ${JSON.stringify(channel)} holds ${holds}, so nobody can talk there; name another channel or thread`;
  throw new StrataError("invalid_input", message, { channel });
}
