import { z } from "zod";
import { count, number, oneLine, printable, type Style, table } from "../../print/index.ts";
import { layerWith, StrataError, suggestion, TEXT_LIMITS, type TextMove } from "../../protocol/index.ts";
import { FIELDS, given, list, NEXT, NO_REASON, nextAfter, OF_AGENT, PAGE } from "../fields.ts";
import { type Operation, operation } from "../operation.ts";
import { badSkillLine, isStandard, readSkill, SKILL_API, SKILL_STORE, type SkillProblem } from "../skills/index.ts";
import type { TextApi } from "./api-types.ts";
import { TEXT_API } from "./api-types.ts";
import { editedLines, MOVE, SKILL, VERSION } from "./lines.ts";

const OF_SKILL = OF_AGENT.extend({ skill: FIELDS.skill.describe("the skill's name") });

type SkillView = Awaited<ReturnType<TextApi["skills"]>>[number];

const soul = operation({
  name: "soul.show",
  does: "Show an agent's soul, its short name for itself, as it is sent now.",
  may: "read",
  at: "GET /v1/agents/{agent}/soul",
  takes: OF_AGENT,
  gives: z.object({ layer: z.string(), soul: z.string().optional(), version: z.number() }),
  command: { examples: ["soul show sovereign"], opens: "data" },
  run: async ({ runtime }, { agent }, { actor }) => {
    const { id } = layerWith(runtime.agent(actor, agent), "soul");
    const { text, version = 0 } = await runtime.use(TEXT_API).layer(actor, agent, id);
    return { layer: id, ...given("soul", text), version };
  },
  show: ({ soul: text, version }, { style }) => {
    const from = version === 0 ? "as declared" : `version ${version}`;
    return [text === undefined ? "It has no soul." : `${printable(text)} ${style.dim(`(${from})`)}`];
  },
});

const setSoul = operation({
  name: "soul.set",
  does: "Change an agent's soul, from the next turn on; every version is kept.",
  may: "operate",
  at: "POST /v1/agents/{agent}/soul",
  takes: OF_AGENT.extend({
    soul: FIELDS.text.describe(`1 to ${TEXT_LIMITS.soul} of a-z, 0-9, ".", "_" and "-"`),
    reason: FIELDS.reason,
  }),
  gives: VERSION,
  command: {
    words: ["soul"],
    examples: ['soul set patient-gardener --reason "it has grown up"'],
    usual: NO_REASON,
    opens: "data",
  },
  run: ({ runtime }, { agent, soul: text, reason }, { actor }) =>
    runtime
      .use(TEXT_API)
      .editText(actor, agent, { layer: layerWith(runtime.agent(actor, agent), "soul").id, text, reason }),
  show: (made, { style, agentWords }) => {
    const back = `\`strata layer rollback ${made.layer}${agentWords}\` undoes this.`;
    return editedLines(made, { name: "the soul", back, style });
  },
});

const skills = operation({
  name: "skill.list",
  does: "List an agent's skills: which are enabled, in which version, and whose words they are.",
  may: "read",
  at: "GET /v1/agents/{agent}/skills",
  takes: OF_AGENT.extend(PAGE),
  gives: z.object({
    skills: list(SKILL),
    ...NEXT,
    bad: list(z.object({ path: z.string(), message: z.string() })).describe(
      "What of its folders could not be taken, and why.",
    ),
  }),
  list: "skills",
  command: { examples: ["skill list"], opens: "data" },
  run: async ({ runtime }, { agent, limit, after }, { actor }) => {
    const all = await runtime.use(TEXT_API).skills(actor, agent);
    const page = all.filter(({ name }) => after === undefined || name > after.id).slice(0, limit);
    const bad = (await runtime.use(SKILL_API).badSkills(actor, agent)).map(({ path, message: sentence }) => ({
      path,
      message: sentence,
    }));
    return { skills: page, ...nextAfter(page, limit, ({ name }) => ({ at: 0, id: name })), bad };
  },
  show: ({ skills: found }, { style, given: { agent }, agentWords }) => [
    ...listLines(agent, found, style),
    ...found.flatMap(({ name, proposals }) => (proposals === 0 ? [] : [style.yellow(approving(name, agentWords))])),
  ],
  hints: ({ bad }) => bad.map(badSkillLine),
});

const skill = operation({
  name: "skill.show",
  does: "Show one skill: its instructions, and whether they are sent.",
  may: "read",
  at: "GET /v1/agents/{agent}/skills/{skill}",
  takes: OF_SKILL,
  gives: SKILL,
  command: { words: ["skill"], examples: ["skill show invoicing"], opens: "data" },
  run: async ({ runtime }, { agent, skill: name }, { actor }) => {
    const all = await runtime.use(TEXT_API).skills(actor, agent);
    const found = all.find((one) => one.name === name);
    if (found !== undefined) return found;
    const names = all.map((one) => one.name);
    const message = `${agent} has no skill ${JSON.stringify(name)}${suggestion(name, names)}`;
    throw new StrataError("text_not_found", message, { skill: name });
  },
  show: (found, { style, agentWords }) => [
    `${style.bold(found.name)}, ${describeSkillState(found)}, version ${found.version}`,
    `words of the ${found.textTrust}, ${count(found.text.length, "character")}`,
    ...(found.proposals === 0 ? [] : [style.yellow(approving(found.name, agentWords))]),
    "",
    printable(found.text),
  ],
});

const setSkill = operation({
  name: "skill.set",
  does: "Add a skill or change its text, and enable it from the next turn on.",
  may: "operate",
  at: "POST /v1/agents/{agent}/skills/{skill}",
  takes: OF_SKILL.extend({ text: FIELDS.text, reason: FIELDS.reason }),
  gives: VERSION,
  command: {
    words: ["skill"],
    file: "text",
    examples: ["skill set invoicing --file invoicing.md"],
    usual: NO_REASON,
    opens: "data",
  },
  run: ({ runtime }, { agent, skill: part, text, reason }, { actor }) =>
    runtime.use(TEXT_API).editText(actor, agent, {
      layer: layerWith(runtime.agent(actor, agent), "skills").id,
      part,
      text,
      reason,
    }),
  show: (made, { style, given: { skill: name }, agentWords }) => {
    const back = `\`strata skill disable ${name}${agentWords}\` disables it.`;
    return editedLines(made, { name, back, style });
  },
});

const SKILL_PATH = /^(?![/.])(?!.*\/[./])[^\0\\\r\n]{1,300}$/u;
const MOST_FILES = 50;

const addSkill = operation({
  name: "skill.add",
  does: "Add a skill of the open standard, from its SKILL.md or its folder: it waits until an operator approves it, unless its words are yours.",
  may: "operate",
  at: "POST /v1/agents/{agent}/skills",
  takes: OF_AGENT.extend({
    text: FIELDS.text.describe("the skill's SKILL.md: a head with name and description, and its instructions"),
    files: z
      .record(z.string().regex(SKILL_PATH, "a path in the skill's folder, as `references/forms.md`"), FIELDS.text)
      .refine((files) => Object.keys(files).length <= MOST_FILES, `at most ${MOST_FILES} files`)
      .default({})
      .describe("texts of the skill's other files, by path"),
    mine: z.boolean().default(false).describe("you wrote it, or answer for it: it is enabled from the next turn on"),
    reason: FIELDS.reason,
  }),
  gives: VERSION,
  command: {
    words: ["text"],
    file: "text",
    folder: { main: "SKILL.md", others: "files" },
    examples: ["skill add skills/invoicing", "skill add invoicing.md --mine"],
    usual: NO_REASON,
    opens: "data",
  },
  run: async ({ runtime, clock }, { agent, text, files, mine, reason }, { actor }) => {
    const { skill: found, problems } = readSkill(text);
    if (found === undefined) throw noSkill(problems);
    const layer = layerWith(runtime.agent(actor, agent), "skills").id;
    const scope = { org: actor.org, agent, contact: null };
    const kept = runtime.keeps(actor, scope, SKILL_STORE);
    const of = { org: actor.org, agent, skill: found.name };
    const { version = 0 } =
      (await runtime.use(TEXT_API).skills(actor, agent)).find(({ name }) => name === found.name) ?? {};
    const known = await kept.skillFiles({ ...of, n: version });
    const isChanged = known.length !== Object.keys(files).length || known.some((one) => files[one.path] !== one.text);
    const made = await runtime.use(TEXT_API).editText(actor, agent, {
      layer,
      part: found.name,
      text,
      reason,
      ...(!mine && { isOthers: true }),
      ...(isChanged && { again: true }),
    });
    const all = Object.entries(files).map(([path, one]) => ({ path, text: one }));
    if (all.length > 0) await kept.keepSkillFiles({ ...of, n: made.n }, all, clock.recorded());
    return made;
  },
  show: (made, { style, agentWords }) => {
    const name = made.part ?? made.layer;
    if (made.status === "kept")
      return editedLines(made, { name, back: `\`strata skill disable ${name}${agentWords}\` disables it.`, style });
    const approve = `\`strata layer approve ${made.layer} ${made.n} --skill ${name}${agentWords}\``;
    const found = made.verdict.findings.map(printable);
    const careful = found.length === 0 ? [] : [style.yellow(`The guard flagged it for review: ${found.join("; ")}`)];
    return [`Version ${made.n} of ${name} waits for an operator: ${approve} enables it.`, ...careful];
  },
});

const approveSkill = operation({
  name: "skill.approve",
  does: "Let a skill that was added, or one of a folder that the guard finds fault with, be used as it is now; another text of it waits again.",
  may: "operate",
  at: "POST /v1/agents/{agent}/skills/{skill}/approve",
  takes: OF_SKILL.extend({ reason: FIELDS.reason }),
  gives: VERSION,
  command: { words: ["skill"], examples: ["skill approve invoicing"], usual: NO_REASON, opens: "data" },
  run: async ({ runtime }, { agent, skill: part, reason }, { actor }) => {
    const bad = await runtime.use(SKILL_API).badSkills(actor, agent);
    const text = bad.flatMap((one) => ("text" in one && one.name === part ? [one.text] : [])).at(0);
    const layer = layerWith(runtime.agent(actor, agent), "skills").id;
    if (text !== undefined) return runtime.use(TEXT_API).editText(actor, agent, { layer, part, text, reason });
    const proposed = await runtime.use(TEXT_API).proposals(actor, agent);
    const added = proposed.findLast((one) => one.layer === layer && one.part === part);
    if (added)
      return runtime.use(TEXT_API).decideText(actor, agent, { layer, part, n: added.n, verdict: "approved", reason });
    const message = `no skill ${JSON.stringify(part)} of ${agent} waits for approval; \`strata layer proposals\` lists what does`;
    throw new StrataError("text_not_found", message, { skill: part });
  },
  show: (made, { style, given: { skill: name }, agentWords }) =>
    editedLines(made, { name, back: `\`strata skill disable ${name}${agentWords}\` takes it out.`, style }),
});

const noSkill = (problems: readonly SkillProblem[]): StrataError => {
  const sentence = problems.map(({ line, message: what }) => `line ${line}: ${what}`).join("; ");
  return new StrataError("text_refused", `this is not a skill of the open standard: ${sentence}`, { problems });
};

const PROBLEM = z.object({ line: z.number(), message: z.string() });

const checkedSkill = operation({
  name: "skill.check",
  does: "Look at a skill's SKILL.md as an agent would read it: what is wrong with it, and in which line.",
  may: "read",
  at: "POST /v1/skills/check",
  takes: z.strictObject({
    text: FIELDS.text.describe("the skill's SKILL.md"),
    file: z.string().max(1_000).optional().describe("where it is: the skill's name must be that of its folder"),
  }),
  gives: z.object({
    name: z.string().optional(),
    description: z.string().optional(),
    problems: list(PROBLEM),
    hints: list(PROBLEM).describe("What could be better."),
  }),
  command: {
    words: ["text"],
    file: "text",
    fileName: "file",
    folder: { main: "SKILL.md" },
    examples: ["skill check skills/invoicing"],
    opens: "data",
  },
  run: async (_, { text, file }) => {
    const folder = file?.split(/[\\/]/).at(-2);
    const { skill: found, problems, hints } = readSkill(text, folder === "." || folder === ".." ? undefined : folder);
    return { ...given("name", found?.name), ...given("description", found?.description), problems, hints };
  },
  show: ({ name, description, problems, hints }, { style, given: { file = "SKILL.md" } }) => [
    ...(name === undefined
      ? []
      : [`${style.bold(name)} is a skill of the open standard: ${printable(description ?? "")}`]),
    ...hints.map(({ line, message: sentence }) => style.yellow(`${file}:${line}: ${printable(sentence)}`)),
    ...problems.map(({ line, message: sentence }) => style.red(`${file}:${line}: ${printable(sentence)}`)),
  ],
  faults: ({ problems }, { given: { file = "SKILL.md" } }) =>
    problems.length === 0
      ? []
      : [new StrataError("text_refused", `${file} is not a skill of the open standard`, { problems })],
});

const SWITCHED = OF_SKILL.extend({ reason: FIELDS.reason });

const enable = operation({
  name: "skill.enable",
  does: "Enable a disabled skill again, with its last text, from the next turn on.",
  may: "operate",
  at: "POST /v1/agents/{agent}/skills/{skill}/enable",
  takes: SWITCHED,
  gives: MOVE,
  command: { words: ["skill"], examples: ["skill enable invoicing"], usual: NO_REASON, opens: "data" },
  run: ({ runtime }, { agent, skill: name, reason }, { actor }) =>
    runtime.use(TEXT_API).enableSkill(actor, agent, { name, reason }),
  show: (move, { given: { skill: name } }) => [switchedLine(move, name)],
});

const disable = operation({
  name: "skill.disable",
  does: "Disable a skill: it leaves the prompt from the next turn on, and stays in the record.",
  may: "operate",
  at: "POST /v1/agents/{agent}/skills/{skill}/disable",
  takes: SWITCHED,
  gives: MOVE,
  command: { words: ["skill"], examples: ["skill disable invoicing"], usual: NO_REASON, opens: "data" },
  run: ({ runtime }, { agent, skill: name, reason }, { actor }) =>
    runtime.use(TEXT_API).disableSkill(actor, agent, { name, reason }),
  show: (move, { given: { skill: name } }) => [switchedLine(move, name)],
});

/** An agent's short name for itself, and its skills. */
export const SKILL_OPERATIONS: readonly Operation[] = [
  ...[soul, setSoul, skills, skill, setSkill],
  ...[addSkill, checkedSkill, approveSkill, enable, disable],
];

const COLUMNS = [
  { head: "skill" },
  { head: "state" },
  { head: "version", right: true },
  { head: "words of" },
  { head: "characters", right: true },
  { head: "begins", least: 16 },
] as const;

/** How many characters of a skill the list shows. */
const BEGINNING = 60;

function listLines(agent: string, all: readonly SkillView[], style: Style): readonly string[] {
  if (all.length === 0) return [`${agent} has no skills yet; \`strata skill set NAME --text TEXT\` adds one.`];
  const rows = all.map((one) => [
    one.name,
    describeSkillState(one),
    number(one.version),
    one.textTrust,
    number(one.text.length),
    oneLine(isStandard(one.text) ? (readSkill(one.text).skill?.description ?? "") : one.text, BEGINNING),
  ]);
  const enabled = all.filter((one) => one.enabled && !isStandard(one.text)).length;
  const beside = all.some(({ text }) => isStandard(text)) ? ", beside those of the open standard" : "";
  return [
    ...table(COLUMNS, rows, style),
    style.dim(`${enabled} of at most ${TEXT_LIMITS.skills} are enabled${beside}`),
  ];
}

/** A skill that was proposed and never enabled is not "disabled": it is still undecided. */
function describeSkillState({ enabled, version, proposals }: SkillView): string {
  if (proposals === 0) return enabled ? "enabled" : "disabled";
  if (!enabled && version === 0) return "waits for approval";
  return `${enabled ? "enabled" : "disabled"}, a new text waits`;
}

const approving = (name: string, agentWords: string): string =>
  `\`strata skill approve ${name}${agentWords}\` enables what waits of ${name}; \`strata layer proposals\` shows it.`;

function switchedLine({ to }: TextMove, name: string): string {
  if (to === null) return `${name} is disabled: the next turn does not contain it.`;
  return `${name} is enabled with ${to === 0 ? "its declared text" : `version ${to}`}: the next turn uses it.`;
}
