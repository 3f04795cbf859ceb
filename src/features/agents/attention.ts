import { count } from "../../print/index.ts";
import { undeliverableLine } from "../deliveries/index.ts";
import { sleepsLine } from "../life/index.ts";
import { passedOverLines, proposalsLine } from "../texts/index.ts";
import type { Attention } from "./doors.ts";

/** What of an agent waits for an operator, one line for each thing with the next step. */
export function attentionLines(of: Attention): readonly string[] {
  const { agent, proposals, undeliverable, asleep } = of;
  return [
    ...(proposals === 0 ? [] : [proposalsLine(proposals, agent)]),
    ...passedOverLines(of),
    ...(asleep === undefined ? [] : [sleepsLine(agent, asleep)]),
    ...unansweredLines(of),
    ...(undeliverable === 0 ? [] : [undeliverableLine(undeliverable, agent)]),
  ];
}

/** That turns left somebody without a reply. */
export function unansweredLines({ agent, unanswered }: Pick<Attention, "agent" | "unanswered">): readonly string[] {
  const [newest] = unanswered;
  if (newest === undefined) return [];
  const turns = count(unanswered.length, "message of a contact was", "messages of contacts were");
  const shows = `\`strata explain ${newest}\` shows ${unanswered.length === 1 ? "it" : "the newest"}, \`strata turn regenerate ${newest}\` answers it once more`;
  return [`${turns} left unanswered by ${agent}: ${shows}`];
}
