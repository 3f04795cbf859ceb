import { existsSync } from "node:fs";
import { relative } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { type LintReport, lint, type PlacedFinding, recordFile } from "../../../app.ts";
import { count, printable } from "../../../print/index.ts";
import { agentName, type ModelRef, StrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { readShared, wholeNumber } from "../shell/options.ts";
import { tellPlace } from "../shell/session.ts";

interface LintCommandOptions {
  readonly turns?: number;
  readonly model?: ModelRef;
}

/** `strata lint`: what would break a provider's cache, and what it costs. */
export function declareLint(program: Command, context: Context): void {
  program
    .command("lint")
    .description(
      "find what breaks the provider's cache or costs more than necessary, texts that the guard would refuse as an edit, and what is cut or hidden in the project's files and skills; nothing is sent or stored",
    )
    .argument("[agent]", "the agent's name (default: all agents)")
    .option(
      "--turns <n>",
      "how many turns a thread has (default: as in the record, otherwise 50)",
      wholeNumber(1, 1_000_000),
    )
    .option("--model <ref>", "the model whose cache is checked: `provider:name` (default: the agent's model)", modelRef)
    .addHelpText("after", "\nExample:\n  $ strata lint companion --turns 200 --model anthropic:claude-opus-5-5")
    .action(async (name: string | undefined, { turns, model }: LintCommandOptions, command: Command) => {
      const shared = readShared(command, context.terminal);
      const { folder, data, named, json } = shared;
      tellPlace(context, shared);
      const record = recordFile(data);
      const reports = await lint({
        folder,
        data,
        env: context.terminal.env,
        mustDeclare: named,
        ...(existsSync(record) && { record }),
        ...(name !== undefined && { agent: agentName(name) }),
        ...(turns !== undefined && { turns }),
        ...(model !== undefined && { model }),
      });
      const findings = reports.flatMap((report) => report.findings);
      const errors = findings.filter(({ severity }) => severity === "error").length;
      const texts = reports.reduce((sum, report) => sum + report.texts.length, 0);
      if (json) context.json({ errors, warnings: findings.length - errors + texts, agents: reports });
      else {
        context.say(...reports.flatMap((report) => forPeople(report, context)));
        for (const file of new Set(reports.map(({ lockMissing }) => lockMissing)))
          if (file !== undefined) context.note(unlocked(file));
      }
      if (errors > 0) throw lintFailed(errors);
    });
}

function modelRef(text: string): ModelRef {
  if (/^(?:rehearsal|[a-z0-9-]+:[^\s:]\S{0,199})$/.test(text)) return text;
  throw new InvalidArgumentError("It must be `provider:name`, as in `anthropic:claude-sonnet-5-5`.");
}

const unlocked = (file: string): string =>
  `${file} does not exist: Strata does not start until you have read the immutable layers and run \`strata lock\``;

function lintFailed(errors: number): StrataError {
  const message = `lint found ${count(errors, "error")}; each says what to do`;
  return new StrataError("lint_failed", message, { errors });
}

const SAID = { option: "as told", record: "the median of the record", default: "there is no record yet" } as const;

function forPeople(report: LintReport, context: Context): readonly string[] {
  const { agent, model, length, rates, priced, cacheKnown, prefix, findings, texts } = report;
  const prices = priced ? "" : ", no prices known: the usual ones";
  const name = context.style.bold(agent);
  if (model === "none") return [`${name} has no layers, so no model is asked, and there is no cache to break`];
  return [
    `${name} with ${printable(model)} · ${count(prefix, "token")} before the conversation · reads at ${rates.read}, writes at ${rates.write}${prices} · threads of ${count(length.turns, "turn")} (${SAID[length.from]})`,
    ...(cacheKnown
      ? []
      : [`  Nothing is known of a cache at ${printable(model)}: what is said of costs holds if it has one.`]),
    ...(findings.length === 0
      ? ["  Nothing that breaks the cache."]
      : findings.flatMap((one) => findingLines(one, context))),
    ...texts.map(
      ({ section, message: sentence }) => `  ${context.style.yellow("warning")} ${section}: ${printable(sentence)}`,
    ),
  ];
}

function findingLines(finding: PlacedFinding, { style, terminal: { cwd } }: Context): readonly string[] {
  const { rule, severity, section, part, spot, place, stands, because, cost, remedy } = finding;
  const paint = severity === "error" ? style.red : style.yellow;
  const where = place
    ? `${relative(cwd, place.file)}:${place.line}:${place.column}`
    : spot && `line ${spot.line}, column ${spot.column}`;
  const of = [section, part].filter((text) => text !== undefined).join(" · ");
  return [
    `  ${paint(severity)} ${style.bold(rule)} ${printable(of)}${where === undefined ? "" : ` (${printable(where)})`}: ${printable(stands)}`,
    `    why: ${because}`,
    ...(cost === undefined ? [] : [`    costs ${timesSaid(cost)}, ${cost.basis}: ${cost.message}`]),
    `    do: ${remedy}`,
  ];
}

/** Two digits are measured: below 1.01 no multiple can be given. */
const timesSaid = ({ times }: Pick<NonNullable<PlacedFinding["cost"]>, "times">): string =>
  times < 1.01 ? "next to nothing" : `up to ${times} times as much`;
