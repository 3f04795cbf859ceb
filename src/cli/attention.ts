import type { App } from "../app.ts";
import { count } from "./style.ts";

type Attention = Awaited<ReturnType<App["runtime"]["attention"]>>[number];

/** Why no turn of an agent begins, and what wakes it. */
export const sleepsLine = (agent: string, asleep: string): string =>
  `${agent} sleeps, because ${asleep}: \`strata credits add DOLLARS --agent ${agent}\` wakes it`;

/** What of an agent waits for an operator, one line for each thing with the next step. */
export function attentionLines({
  agent,
  proposals,
  displaced,
  outdated,
  undeliverable,
  asleep,
}: Attention): readonly string[] {
  const one = `--agent ${agent}`;
  return [
    ...(proposals === 0
      ? []
      : [`${count(proposals, "proposal")} of ${agent} waiting: \`strata layer proposals ${one}\` shows what it is`]),
    ...(displaced === 0
      ? []
      : [
          `${count(displaced, "edited text")} of ${agent} not sent, for its layer was declared elsewhere or no more: \`strata layer list ${one}\` shows what is declared; write it anew, roll it back, or declare the layer again`,
        ]),
    ...(outdated === 0
      ? []
      : [
          `${count(outdated, "edited text")} of ${agent} sent though strata.yaml says another text since: \`strata layer diff LAYER 0 VERSION ${one}\` compares them`,
        ]),
    ...(asleep === undefined ? [] : [sleepsLine(agent, asleep)]),
    ...(undeliverable === 0
      ? []
      : [
          `${count(undeliverable, "message")} of ${agent} could not be delivered: \`strata outbox list --status undeliverable ${one}\` shows which`,
        ]),
  ];
}
