import { z } from "zod";
import { cleanName } from "../../guard/index.ts";
import { type ContactId, REPLY_TOOL, spoken, type Tool, untrusted } from "../../protocol/index.ts";
import { defineTool, refused, refusedAs, replying } from "../../turn/tools/index.ts";
import { FINAL_TEXT, notSent, stillWaiting, willBeSent } from "./wording.ts";

/** Characters of one reply. */
const LONGEST = 20_000;

/** A sender as the frames show them, in whatever case. */
export const shownSender = (sender: string): string => cleanName(untrusted(sender)).toLowerCase();

/** Answers one of the senders whose messages a turn handles: other senders do not see the reply. */
export function replyTool(): Tool {
  return defineTool({
    name: REPLY_TOOL,
    description:
      "In a turn with messages from several senders: sends your reply to one of them, named as in the frame of the message. " +
      "Call it once for each sender you answer; your final text is then not sent. With one sender, your final text is the reply, unless you call it.",
    input: z.object({
      sender: z.string().describe("The sender, as named in the frames."),
      text: z.string().min(1).max(LONGEST).describe("The complete reply to this sender; nothing other senders wrote."),
    }),
    effect: "store",
    // Its answers are the sentences below; senders are named as their channels do.
    trust: "contact",
    run: ({ sender, text }, { unanswered: several, onlySender, answered = [] }) => {
      const alone = onlySender === undefined ? undefined : [onlySender].filter((one) => !answered.includes(one));
      const unanswered = several ?? alone;
      if (unanswered === undefined) return refusedAs("platform", FINAL_TEXT);
      // No two of a turn are shown alike.
      const isMeant = (one: ContactId): boolean => shownSender(one) === shownSender(sender);
      const to = unanswered.find(isMeant);
      if (to === undefined)
        return refused(
          notSent(JSON.stringify(sender), answered.some(isMeant) ? "answered" : "unknown", waitingSentence(unanswered)),
        );
      const left = unanswered.filter((one) => one !== to);
      // Without a name in it, it is the platform's word alone.
      const trust = left.length === 0 ? "platform" : "contact";
      return replying(willBeSent(waitingSentence(left)), { sender: to, text: spoken(text) }, trust);
    },
  });
}

const waitingSentence = (left: readonly ContactId[]): string =>
  stillWaiting(left.map((one) => JSON.stringify(cleanName(untrusted(one)))));
