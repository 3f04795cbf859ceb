/** The sentences about several senders that a model reads. `tests/house/golden/wording.txt` lists them all. */
import { REPLY_TOOL } from "../../protocol/index.ts";

export const FINAL_TEXT = "Not sent: no sender is waiting in this turn; your final text is its result.";
export const notSent = (sender: string, because: keyof typeof NOT_SENT, left: string): string =>
  `Not sent: ${sender} ${NOT_SENT[because]}. ${left}`;
const NOT_SENT = {
  answered: "already has a reply in this turn, and gets only one",
  unknown: "is not waiting for a reply in this turn",
} as const;
export const willBeSent = (left: string): string => `It will be sent when the turn ends. ${left}`;
export const stillWaiting = (senders: readonly string[]): string =>
  senders.length === 0 ? "Everyone has a reply." : `Still waiting for a reply: ${senders.join(", ")}.`;

/** Over the list of what the turn has to answer. */
export const NOTHING_WAITS = "No message is waiting for a reply.";
/** Where the turn's only message is the one that waits: it stands above. */
export const ONE_WAITS = "1 message is waiting for a reply in this turn: the one above.";
/** In a turn of the agent's own. */
export const waitElsewhere = (messages: number): string =>
  `${messages === 1 ? "1 message is" : `${messages} messages are`} waiting for a turn of ${messages === 1 ? "its" : "their"} own; this turn answers nobody.`;
export const messagesWait = (messages: number, senders: number, shown: number): string => {
  const count = messages === 1 ? "1 message is" : `${messages} messages are`;
  const several = senders > 1 ? ` ${fromSeveral(senders)}` : "";
  return `${count} waiting for a reply in this turn.${several} Sender and beginning${shown < messages ? ` of the first ${shown}` : ""}:`;
};
const fromSeveral = (senders: number): string =>
  `They are from ${senders} senders: answer each with \`${REPLY_TOOL}\`, and never tell one what another wrote. Your final text is not sent.`;
