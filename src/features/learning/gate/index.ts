/**
 * Judges a learning text before an operator is asked about it: it is tried on the organization's fixtures and on recorded turns, beside the
 * record, which is only read.
 */

import { join } from "node:path";
import { count, number, type Style, setIn, table } from "../../../print/index.ts";
import { type Agent, type Allowed, type LayerId, StrataError } from "../../../protocol/index.ts";
import { accessTo, agentNamed, recordAct } from "../../../turn/index.ts";
import type { ApiDeps } from "../../feature.ts";
import { FIELDS, OF_AGENT } from "../../fields.ts";
import type { FilePorts } from "../../files/index.ts";
import { spendLimitOf } from "../../limits/index.ts";
import { type Operation, operation } from "../../operation.ts";
import { LEARNING_API } from "../api.ts";
import {
  type Candidate,
  GATE_REPORT,
  type GateReport,
  type PREFERRED,
  type TrialApi,
  type TrialFollowing,
} from "../gate.ts";
import { MOST_TURNS } from "./config.ts";
import { type Fixture, MOST_CHARACTERS, readFixtures } from "./fixtures.ts";
import { tryText } from "./gate.ts";
import { type JudgePorts, judgeFor } from "./judge.ts";

export type { Judge, JudgeAnswer, JudgedPair, JudgePorts } from "./judge.ts";

/** The default limits of a trial. */
const USUAL = { turns: MOST_TURNS, dollars: 1 };

/** The functions of trials. */
export function trialApi(deps: ApiDeps, { disk, judge }: FilePorts & JudgePorts): TrialApi {
  const run = async (
    actor: Allowed<"operate">,
    agent: Agent,
    candidate: Pick<Candidate, "text" | "parent">,
    following: TrialFollowing,
  ): Promise<GateReport> => {
    const trial = agent.learning?.trial ?? USUAL;
    const fixtures = await fixturesOf(agent, disk);
    return tryText({
      deps,
      actor,
      agent,
      candidate,
      fixtures,
      limits: trial,
      spendLimit: spendLimitOf(deps.parts, agent),
      judge: judgeFor(deps, agent, { judge }),
      ...following,
    });
  };
  return {
    gate: (candidate, { actor, signal, progress = () => undefined }) => {
      const agent = agentNamed(deps.parts, actor, candidate.agent);
      return run(actor, agent, candidate, { signal, progress });
    },
    tryLearning: async (actor, name, text, following) => {
      const agent = agentNamed(deps.parts, actor, name);
      const layer = learningLayer(agent);
      const active = await deps.parts.store.activeTexts({ org: agent.org, agent: name });
      const parent = active.find((one) => one.layer === layer)?.n;
      const report = await run(actor, agent, { text, ...(parent !== undefined && { parent }) }, following);
      await recordAct(
        accessTo(deps.parts, actor, name),
        "tried a learning text",
        report.passed ? "it passed" : "it did not pass",
      );
      return report;
    },
  };
}

function learningLayer({ name, layers }: Agent): LayerId {
  const layer = layers.find(({ source }) => source.kind === "learning");
  if (layer !== undefined) return layer.id;
  const message = `${name} has no layer with \`source: learning\`, so nothing that it learns is sent; add one in strata.yaml`;
  throw new StrataError("text_not_found", message, { agent: name });
}

/** @throws StrataError `config_invalid` if the file is missing or holds no fixtures */
async function fixturesOf(agent: Agent, disk: FilePorts["disk"]): Promise<readonly Fixture[]> {
  const file = agent.learning?.fixtures;
  if (file === undefined) return [];
  const folder = disk?.folderOf(agent);
  const found = folder === undefined ? undefined : await disk?.reader.read(join(folder, file), MOST_CHARACTERS);
  if (found === undefined)
    throw new StrataError(
      "config_invalid",
      `${file} is not there; \`learning.fixtures\` of ${agent.name} names it, relative to strata.yaml`,
      { file },
    );
  return readFixtures(file, found.text);
}

/** `tryLearning` for each door. */
export const tryOperation: Operation = operation({
  name: "learning.try",
  does: "Try a learning text on the agent's fixtures and on recorded turns, beside the present text and none. Nothing is sent or remembered. It costs what the answers cost, at most `learning.trial.dollars`.",
  may: "operate",
  at: "POST /v1/agents/{agent}/learning/try",
  takes: OF_AGENT.extend({ text: FIELDS.text }),
  gives: GATE_REPORT,
  command: { file: "text", examples: ["learning try --file rules.md"], opens: "everything" },
  run: ({ runtime }, { agent, text }, { actor, signal, progress }) =>
    runtime.use(LEARNING_API).tryLearning(actor, agent, text, { signal, progress }),
  show: (report, { style }) => reportLines(report, style),
  faults: ({ passed }) => (passed ? [] : [new StrataError("text_refused", "the trial refused this text")]),
});

/** What a judge preferred, over all turns. */
const judgeLine = ({ name, ...often }: NonNullable<GateReport["judge"]>): string =>
  `${name} found the new text better ${count(often.new, "time")}, the present one ${count(often.present, "time")}, neither ${count(often.same, "time")}, and said nothing ${count(often.unknown, "time")}; it decides nothing`;

const PREFERS: Readonly<Record<(typeof PREFERRED)[number], string>> = {
  new: "new text better",
  present: "present text better",
  same: "equally good",
  unknown: "no opinion",
};

const mean = (all: readonly Readonly<Record<string, number>>[], criterion: string): string =>
  all.length === 0 ? "" : `${number((100 * all.reduce((sum, one) => sum + (one[criterion] ?? 0), 0)) / all.length)} %`;

/** A report for people: the verdict, each fixture, the averages of each criterion, and what was not tried. */
export function reportLines(
  { passed, reason, fixtures, turns, judge, spent, limit, notRun }: GateReport,
  style: Style,
): readonly string[] {
  const criteria = [...new Set(turns.flatMap(({ candidate }) => Object.keys(candidate)))];
  return [
    ...setIn(`${passed ? "passed" : "refused"}: ${reason}`, { first: "", more: "  " }, style),
    ...fixtures.flatMap((one) =>
      setIn(
        `${one.passed ? "still right" : "broken"}: ${one.name}: ${one.finding}`,
        { first: "  ", more: "    " },
        style,
      ),
    ),
    ...table(
      [
        { head: `on ${count(turns.length, "recorded turn")}` },
        { head: "new text", right: true },
        { head: "present", right: true },
        { head: "none", right: true },
      ],
      criteria.map((one) => [
        one,
        mean(
          turns.map(({ candidate }) => candidate),
          one,
        ),
        mean(
          turns.map(({ present }) => present),
          one,
        ),
        mean(
          turns.map(({ none }) => none),
          one,
        ),
      ]),
      style,
    ),
    ...(judge === undefined ? [] : setIn(judgeLine(judge), { first: "", more: "  " }, style)),
    ...turns.flatMap(({ turn, opinion }) =>
      opinion === undefined
        ? []
        : setIn(`${turn}: ${PREFERS[opinion.better]}: ${opinion.sentence ?? ""}`, { first: "  ", more: "    " }, style),
    ),
    ...notRun.flatMap((one) => setIn(`not run: ${one}`, { first: "  ", more: "    " }, style)),
    style.dim(`$${spent.toFixed(4)} of $${limit}`),
  ];
}
