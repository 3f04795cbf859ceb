import { z } from "zod";
import { cleanName } from "../../guard/index.ts";
import { type ContactId, REPLY_TOOL, spoken, type Tool, untrusted } from "../../protocol/index.ts";
import { defineTool, refused, replying } from "../../turn/tools/index.ts";

/** Characters of one reply. */
const LONGEST = 20_000;

/** A sender as the frames show them, in whatever case. */
export const shownSender = (sender: string): string => cleanName(untrusted(sender)).toLowerCase();

/** Answers one of several senders whose messages a turn handles: what is for one is read by nobody else. */
export function replyTool(): Tool {
  return defineTool({
    name: REPLY_TOOL,
    description:
      "In a turn with messages of several senders: sends your reply to one of them, named as in the frame of the message, and to nobody else. " +
      "Call it once for each sender you answer; your final text then reaches nobody. With one sender, your final text is the reply.",
    input: z.object({
      sender: z.string().describe("The sender, as the frames name them."),
      text: z
        .string()
        .min(1)
        .max(LONGEST)
        .describe("The whole reply to this sender. Nothing in it of what others wrote."),
    }),
    effect: "store",
    // Its answers are the sentences below; senders are named as their channels do.
    trust: "contact",
    run: ({ sender, text }, { unanswered, answered = [] }) => {
      if (unanswered === undefined)
        return refused("Not sent: this turn has messages of one sender, and your final text is the reply.");
      // No two of a turn are shown alike.
      const isMeant = (one: ContactId): boolean => shownSender(one) === shownSender(sender);
      const to = unanswered.find(isMeant);
      if (to === undefined)
        return refused(`Not sent: ${whyNot(sender, answered.some(isMeant))} ${waiting(unanswered)}`);
      const left = unanswered.filter((one) => one !== to);
      return replying(`It is sent when the turn ends. ${waiting(left)}`, { sender: to, text: spoken(text) });
    },
  });
}

const whyNot = (sender: string, isAnswered: boolean): string =>
  `${JSON.stringify(sender)} ${isAnswered ? "has a reply already in this turn, and gets one only" : "is none of those who wait for a reply in this turn"}.`;

const waiting = (left: readonly ContactId[]): string =>
  left.length === 0
    ? "Nobody waits for a reply any more."
    : `No reply yet: ${left.map((one) => JSON.stringify(cleanName(untrusted(one)))).join(", ")}.`;
