import type { Project } from "../../agents/index.ts";
import { textLimitsOf } from "../../features/texts/config.ts";
import { checkNewText, type GivenText, layerJudge } from "../../guard/index.ts";
import type { Agent, AgentName, Layer } from "../../protocol/index.ts";
import { isOwn } from "../projects.ts";

/** A warning about a declared text that would be refused, or need a review, as an edit. It is sent anyway. */
export interface TextWarning {
  readonly agent: AgentName;
  /** `layer loop`, `skill invoicing`, `soul`, `all texts`. */
  readonly section: string;
  readonly message: string;
  /** If the text is in a file of the project: its path from the root, and the position. */
  readonly file?: string;
  readonly line?: number;
}

type Warning = Omit<TextWarning, "agent">;

/** The warnings for all agents of these projects. Shipped agents are skipped. */
export async function warningsOf(projects: readonly Project[]): Promise<readonly TextWarning[]> {
  const agents = projects.filter(isOwn).flatMap((project) => [...project.agents.values()]);
  return (await Promise.all(agents.map(textWarnings))).flat();
}

/**
 * Checks editable texts: their size, and the guard's findings; the guard is loaded only if there is such a text. Texts that are not
 * editable are the operator's alone, whatever their content and length.
 */
export async function textWarnings(agent: Agent): Promise<readonly TextWarning[]> {
  const found = [...discloses(agent), ...sizes(agent), ...(await judged(agent))];
  return found.map((one) => ({ agent: agent.name, ...one }));
}

/** An operator who enables it learns its effect. */
const discloses = ({ disclosure }: Agent): readonly Warning[] =>
  disclosure === "never"
    ? [
        {
          section: "`disclosure: never`",
          message:
            "the agent never says that it is an AI; the law may require that people are told, so check it where you and your contacts are",
        },
      ]
    : [];

function sizes(agent: Agent): readonly Warning[] {
  const { layers } = agent;
  const most = textLimitsOf(agent);
  const edited = layers.filter(({ mutability }) => mutability === "versioned");
  const long = edited.filter((layer) => lengthOf(layer) > most.layer);
  const sum = layers.reduce((all, layer) => all + lengthOf(layer), 0);
  const warnings = long.map((layer) => ({
    section: `layer ${layer.id}`,
    message: `it has ${number(lengthOf(layer))} characters, but an edit may have at most ${number(most.layer)}`,
  }));
  if (sum <= most.total || !edited.some(({ source }) => source.kind === "text")) return warnings;
  const sentence = `the texts of the prefix have ${number(sum)} characters together, and the limit for edits is ${number(most.total)}: until they are below it, an edit may only keep a text's length or shorten it`;
  return [...warnings, { section: "all texts", message: sentence }];
}

const lengthOf = ({ source }: Layer): number => (source.kind === "text" ? source.text.length : 0);

const number = (value: number): string => value.toLocaleString("en-US");

async function judged(agent: Agent): Promise<readonly Warning[]> {
  const { layers, soul, skills = [] } = agent;
  const size = { beside: 0, now: 0, limits: textLimitsOf(agent) };
  const texts: readonly (GivenText & Pick<Warning, "section">)[] = [
    ...layers.flatMap(({ id, mutability, source, line }) =>
      mutability === "versioned" && source.kind === "text"
        ? [{ section: `layer ${id}`, kind: "layer", text: source.text, line, ...size } as const]
        : [],
    ),
    ...(soul === undefined ? [] : [{ section: "soul", kind: "soul", text: soul } as const]),
    ...skills.map(({ name, text }) => ({ section: `skill ${name}`, kind: "skill", text, enabled: 0 }) as const),
  ];
  const found: Warning[] = [];
  for (const { section, ...given } of texts) {
    const sentence = await warningFor(given);
    if (sentence !== undefined) found.push({ section, message: sentence });
  }
  return found;
}

async function warningFor(given: GivenText): Promise<string | undefined> {
  // Its length is already reported, and its content counts, too.
  if (given.kind === "layer" && given.text.length > given.limits.layer) return longWarning(given.text);
  const checked = await checkNewText(given);
  if (checked.problem !== undefined)
    return `it is sent as it is declared; as an edit, it would be refused: ${checked.problem}`;
  const { verdict, findings } = checked.verdict;
  return verdict === "pass" ? undefined : heldUp(findings);
}

async function longWarning(text: string): Promise<string | undefined> {
  const { verdict, findings } = (await layerJudge())(text);
  return verdict === "pass"
    ? undefined
    : heldUp(findings.map(({ message: sentence, words }) => `${sentence}: ${JSON.stringify(words)}`));
}

const heldUp = (findings: readonly string[]): string =>
  `it is sent as it is declared; as an edit, the guard would ask for a review: ${findings.join("; ")}`;
