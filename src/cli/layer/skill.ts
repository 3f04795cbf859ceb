import type { Command } from "commander";
import type { App } from "../../app.ts";
import { type Agent, layerWith, StrataError, suggestion, TEXT_LIMITS, type TextMove } from "../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { agentWords, type OfAgent, ofAgent, onAgent } from "../shell/on-agent.ts";
import { count, number, oneLine, printable, type Style } from "../shell/style.ts";
import { table } from "../shell/table.ts";
import { type Given, type Reasoned, reasoned, texted, textOf, why } from "../shell/text-options.ts";
import { editedLine } from "../shell/text-view.ts";

type SkillView = Awaited<ReturnType<App["runtime"]["skills"]>>[number];

/** `strata skill …`: what an agent is taught beside its layers. */
export function declareSkill(program: Command, context: Context): void {
  const skill = program
    .command("skill")
    .description("list and show an agent's skills, write, enable and disable them")
    .addHelpText("after", "\nExample:\n  $ strata skill list");
  declareList(skill, context);
  declareShow(skill, context);
  declareSet(skill, context);
  declareSwitch(skill, context, "enable");
  declareSwitch(skill, context, "disable");
}

function declareList(parent: Command, context: Context): void {
  ofAgent(parent.command("list"))
    .description("list the skills: which are enabled, in which version, and whose words they are")
    .addHelpText("after", "\nExample:\n  $ strata skill list sovereign")
    .action((named: string | undefined, options: OfAgent, command: Command) =>
      onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const skills = await app.runtime.skills(app.operator, agent.name);
        return { json: skills, lines: listLines(agent, skills, context.style) };
      }),
    );
}

const COLUMNS = [
  { head: "skill" },
  { head: "state" },
  { head: "version", right: true },
  { head: "words of" },
  { head: "characters", right: true },
  { head: "begins", least: 16 },
] as const;

/** So much of a skill is shown in the list of them. */
const BEGINNING = 60;

function listLines({ name }: Agent, skills: readonly SkillView[], style: Style): readonly string[] {
  if (skills.length === 0) return [`${name} has no skills yet; \`strata skill set NAME --text TEXT\` writes one.`];
  const rows = skills.map((one) => [
    one.name,
    one.enabled ? "enabled" : "disabled",
    number(one.version),
    one.wordsOf,
    number(one.text.length),
    oneLine(one.text, BEGINNING),
  ]);
  const enabled = skills.filter((one) => one.enabled).length;
  return [...table(COLUMNS, rows, style), style.dim(`${enabled} of at most ${TEXT_LIMITS.skills} are enabled`)];
}

/** The argument that names a skill. */
const SKILL = ["<name>", "the skill"] as const;

function declareShow(parent: Command, context: Context): void {
  ofAgent(parent.command("show").argument(...SKILL))
    .description("show one skill: its instructions, and whether they are sent")
    .addHelpText("after", "\nExample:\n  $ strata skill show invoicing")
    .action((name: string, named: string | undefined, options: OfAgent, command: Command) =>
      onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const skills = await app.runtime.skills(app.operator, agent.name);
        const found = skills.find((one) => one.name === name);
        if (found === undefined) throw unknownSkill(agent, name, skills);
        return { json: found, lines: view(found, context.style) };
      }),
    );
}

function view({ name, enabled, version, wordsOf, text }: SkillView, style: Style): readonly string[] {
  return [
    `${style.bold(name)}, ${enabled ? "enabled" : "disabled"}, version ${version}`,
    `words of the ${wordsOf}, ${count(text.length, "character")}`,
    "",
    printable(text),
  ];
}

function unknownSkill(agent: Agent, name: string, skills: readonly SkillView[]): StrataError {
  const near = suggestion(
    name,
    skills.map((one) => one.name),
  );
  return new StrataError("text_not_found", `${agent.name} has no skill ${JSON.stringify(name)}${near}`, {
    skill: name,
  });
}

function declareSet(parent: Command, context: Context): void {
  texted(parent.command("set").argument(...SKILL))
    .description("write a skill, a new one or another text of one, and enable it from the next turn on")
    .addHelpText("after", "\nExample:\n  $ strata skill set invoicing --file invoicing.md")
    .action((name: string, named: string | undefined, options: Given, command: Command) => {
      const text = textOf(context, options);
      return onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const edit = { layer: layerWith(agent, "skills").id, part: name, text, reason: why(options) };
        const version = await app.runtime.editText(app.operator, agent.name, edit);
        const back = `\`strata skill disable ${name}${agentWords(app, agent)}\` takes it out.`;
        return { json: version, lines: editedLine(version, { name, back, style: context.style }) };
      });
    });
}

const SWITCHES = {
  enable: { does: "enableSkill", says: "put a disabled skill back, as it was last, from the next turn on" },
  disable: {
    does: "disableSkill",
    says: "take a skill out of the prompt, from the next turn on; it stays in the record",
  },
} as const;

function declareSwitch(parent: Command, context: Context, verb: keyof typeof SWITCHES): void {
  const { does, says } = SWITCHES[verb];
  reasoned(parent.command(verb).argument(...SKILL))
    .description(says)
    .addHelpText("after", `\nExample:\n  $ strata skill ${verb} invoicing`)
    .action((name: string, named: string | undefined, options: Reasoned, command: Command) =>
      onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const move = await app.runtime[does](app.operator, agent.name, { name, reason: why(options) });
        return { json: move, lines: [switchedLine(move, name)] };
      }),
    );
}

function switchedLine({ to }: TextMove, name: string): string {
  if (to === null) return `${name} is disabled: the next turn goes without it.`;
  return `${name} is enabled with ${to === 0 ? "its declared text" : `version ${to}`}: the next turn uses it.`;
}
