import type { App } from "../../../app.ts";
import { sleepsLine } from "../../../features/life/index.ts";
import { proposalsLine } from "../../../features/texts/index.ts";
import { count } from "../shell/style.ts";

type Attention = Awaited<ReturnType<App["runtime"]["attention"]>>[number];

/** What of an agent waits for an operator, one line for each thing with the next step. */
export function attentionLines({
  agent,
  proposals,
  displaced,
  outdated,
  undeliverable,
  unanswered,
  asleep,
}: Attention): readonly string[] {
  const texts = (n: number): string => `${count(n, "edited text")} of ${agent} ${n === 1 ? "is" : "are"}`;
  return [
    ...(proposals === 0 ? [] : [proposalsLine(proposals, agent)]),
    ...(displaced === 0
      ? []
      : [
          `${texts(displaced)} not sent, for the layer was declared elsewhere or no more: \`strata layer list ${agent}\` shows what is declared; write it anew, roll it back, or declare the layer again`,
        ]),
    ...(outdated === 0
      ? []
      : [
          `${texts(outdated)} sent though strata.yaml says another text since: \`strata layer list ${agent}\` shows which`,
        ]),
    ...(asleep === undefined ? [] : [sleepsLine(agent, asleep)]),
    ...unansweredLines({ agent, unanswered }),
    ...(undeliverable === 0
      ? []
      : [
          `${count(undeliverable, "message")} of ${agent} could not be delivered: \`strata outbox list ${agent} --status undeliverable\` shows ${which(undeliverable)}`,
        ]),
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

const which = (n: number): string => (n === 1 ? "it" : "them");
