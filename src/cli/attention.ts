import type { App } from "../app.ts";
import { count } from "./style.ts";

type Attention = Awaited<ReturnType<App["runtime"]["attention"]>>[number];

/** What of an agent waits for an operator, one line for each thing with the next step. */
export function attentionLines({ agent, proposals, undeliverable, asleep }: Attention): readonly string[] {
  const one = `--agent ${agent}`;
  return [
    ...(proposals === 0
      ? []
      : [`${count(proposals, "proposal")} of ${agent} waiting: \`strata layer proposals ${one}\` shows what it is`]),
    ...(asleep === undefined
      ? []
      : [`${agent} sleeps, because ${asleep}: \`strata credits add DOLLARS ${one}\` wakes it`]),
    ...(undeliverable === 0
      ? []
      : [
          `${count(undeliverable, "message")} of ${agent} could not be delivered: \`strata outbox list --status undeliverable ${one}\` shows which`,
        ]),
  ];
}
