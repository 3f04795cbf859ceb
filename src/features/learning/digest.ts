import { z } from "zod";
import { truncateText } from "../../guard/index.ts";
import { fold } from "../../memory/index.ts";
import {
  type Agent,
  type AgentName,
  type Allowed,
  asStrataError,
  lowestTrust,
  type OwnChannel,
  ownKind,
  SELF,
  type StoredEvent,
  type StoreWrite,
  StrataError,
  type Trust,
  type TurnId,
} from "../../protocol/index.ts";
import {
  type Answer,
  agentNamed,
  checkSpend,
  parametersOf,
  setupOf,
  summaryTurn,
  type TurnParts,
  type TurnSetup,
} from "../../turn/index.ts";
import { CANDIDATE } from "./candidate-store.ts";
import { longestRun } from "./changes.ts";
import { DIGEST_CHANNEL } from "./config.ts";
import { type Material, materialFor, textKey } from "./material.ts";
import { anchorsOf, asText, LONGEST_RULE, MOST_RULES, ruleKey, rulesOf } from "./rules.ts";
import { LEARNING_STORE, type LessonSource } from "./store.ts";
import { materialEvent, readObject, taskRequest } from "./task.ts";
import { correctionText, digestTask, lessonText, ownLessonText } from "./wording.ts";

/** The channel on which digests are made. */
export const DIGEST = { name: DIGEST_CHANNEL, holds: "the record of learning digests" } as const satisfies OwnChannel;

/** How many corrections a digest reads (004.35). */
export const MOST_DIGESTED_CORRECTIONS = 50;
/** A rule may repeat at most this many of a contact's words in a row. */
export const MOST_QUOTED = 8;

/** The most tokens of the answer, and characters of each text of a lesson. */
const LONGEST_ANSWER = 4_096;
const SHOWN = 400;
/** How many sources are searched for contacts' words. */
const MOST_HEARD = 100;

export interface Digesting {
  readonly actor: Allowed<"operate">;
  readonly asked: "instruction" | "scheduled";
  readonly signal: AbortSignal;
  /** Told how far the trial goes and has come. */
  readonly progress?: (message: string, share?: number | "planned") => void;
}

/** The end of a digest: its turn, and why its text is not used. */
export type Digested = { readonly turn: TurnId; readonly because?: string };

/**
 * Lets the agent's model rewrite its rules, in a turn on a separate thread. The result is kept with the turn; nobody is asked about it yet.
 * `undefined` if no lesson is worth it.
 */
export async function digest(
  parts: TurnParts,
  name: AgentName,
  { actor, asked, signal }: Digesting,
): Promise<Digested | undefined> {
  const agent = agentNamed(parts, actor, name);
  const material = await materialFor(parts, agent);
  if (material === undefined || material.lessons.length === 0) return undefined;
  const scope = { org: agent.org, agent: agent.name, contact: SELF };
  const setup = await setupOf(parts, { scope, version: agent.version }, {});
  const { ref } = setup.model;
  if (NO_MODELS.includes(ref)) {
    const message = `${agent.name} is answered by ${ref}, which is not a model and cannot write rules: name a model in strata.yaml`;
    throw new StrataError("invalid_input", message, { agent: agent.name, model: ref });
  }
  await checkSpend({ parts, setup });
  const said = await readContactWords(parts, material);
  const maxTokens = Math.min(LONGEST_ANSWER, parametersOf(setup).maxTokens);
  const summed = await summaryTurn(
    {
      ...{ parts, setup, scope, channel: DIGEST.name, actor, asked, signal },
      key: `digest ${parts.clock.recorded()} ${Buffer.from(parts.random(4)).toString("hex")}`,
    },
    {
      message: `Digest ${material.lessons.length} lessons.`,
      maxTokens,
      compile: (turn) => requestFor(parts, setup, material, turn),
      keep: async (answer, { taint, turn }) => rulesToWrites(answer, { agent, material, said, inputs: taint, turn }),
    },
  );
  if (summed === undefined) return undefined;
  if ("failed" in summed) throw summed.failed;
  return { turn: summed.turn, ...("because" in summed && { because: summed.because }) };
}

/** Their answers do not depend on the question. */
export const NO_MODELS: readonly string[] = ["rehearsal", "recording", "none"];

/** Contacts' messages in the conversations that taught these lessons. */
async function readContactWords({ store }: TurnParts, { lessons, sources }: Material): Promise<readonly string[]> {
  const ids = new Set(lessons.map(({ id }) => id));
  const said: string[] = [];
  for (const one of sources.filter(({ lesson }) => ids.has(lesson)).slice(0, MOST_HEARD))
    said.push(one.situation, ...(await store.part(LEARNING_STORE).heard(one.scope, one)).said);
  return [...new Set(said)];
}

const KINDS = { rules: ownKind("rules"), lesson: ownKind("lesson"), correction: ownKind("correction") };

const shown = (text: string): string => truncateText(text.replace(/\s+/g, " "), SHOWN, "…");

/**
 * A digest's request, built by the compiler: the task is its only layer, and everything else is framed with its trust. In the mode `auto`
 * it holds no word of a contact, so that its turn stays untainted (law 6).
 */
function requestFor(parts: TurnParts, setup: TurnSetup, { mode, lessons, sources, rules }: Material, turn: TurnId) {
  const event = (kind: StoredEvent["kind"], trust: Trust, text: string): StoredEvent =>
    materialEvent(parts, DIGEST, { kind, trust, text });
  const told = lessons.map((one) =>
    mode === "auto"
      ? event(KINDS.lesson, one.trust, ownLessonText(one, shown))
      : event(KINDS.lesson, "contact", lessonText(one, shown)),
  );
  const ids = new Set(lessons.map(({ id }) => id));
  const edits = mode === "auto" ? [] : sources.filter(({ kind, lesson }) => kind === "edit" && ids.has(lesson));
  const events = [
    ...(rules.length === 0 ? [] : [event(KINDS.rules, "operator", asText(rules))]),
    ...told,
    ...chooseSources(edits, MOST_DIGESTED_CORRECTIONS).map((one) =>
      event(KINDS.correction, "contact", `${one.lesson}\n${correctionText(one, shown)}`),
    ),
  ];
  const task = { id: "digest", text: digestTask(MOST_RULES, LONGEST_RULE), turn };
  for (let taken = events.length; ; taken = Math.floor(taken / 2)) {
    try {
      return taskRequest(setup, { ...task, events: events.slice(0, taken) });
    } catch (thrown) {
      if (taken <= 1 || asStrataError(thrown).code !== "budget_too_small") throw thrown;
    }
  }
}

/**
 * Takes lessons in turn, newest first, so that none fills all the room, and each message once. Sources from one edit stay together, in the
 * order of its text.
 */
function chooseSources(sources: readonly LessonSource[], most: number): readonly LessonSource[] {
  const lessons = [...Map.groupBy(sources, ({ lesson }) => lesson).values()].map((same) => [
    ...new Map(same.toReversed().map((one) => [one.situation, one])).values(),
  ]);
  return lessons
    .flatMap((same) => same.toReversed().map((one, rank) => ({ one, rank })))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, most)
    .map(({ one }) => one)
    .sort((a, b) => b.at - a.at || a.origin.localeCompare(b.origin) || a.place - b.place);
}

const ANSWER = z.object({
  body_markdown: z.string().max(20_000),
  change_summary: z.string().max(2_000),
  folded_lesson_ids: z.array(z.string().max(64)).max(1_000),
});

interface Keeping {
  readonly agent: Agent;
  readonly material: Material;
  readonly said: readonly string[];
  readonly inputs: Trust;
  readonly turn: TurnId;
}

/** Such a rule was written from a lesson without its words: it puts nothing in quotation marks. */
const EMPTY = /^\P{L}*$|""|“”|„“|«»/u;

type Refused = { readonly because: string };

/** The write that an answer becomes, or why it becomes none: 004.37 to 39, and no words of contacts. */
function rulesToWrites({ parts, finish }: Answer, keeping: Keeping): readonly StoreWrite[] | Refused {
  const { agent, material, inputs, turn } = keeping;
  if (finish !== "stop") return { because: `the model did not finish it (${finish})` };
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const answer = readObject(text, ANSWER);
  if (answer === undefined) return { because: "it is not the JSON object that was asked for" };
  const offered = new Set(material.lessons.map(({ id }) => id));
  const folded = [...new Set(answer.folded_lesson_ids)].filter((id) => offered.has(id));
  if (folded.length === 0) return { because: "it names no lesson that was offered" };
  const unique = new Map(rulesOf(answer.body_markdown).map((rule) => [ruleKey(rule), rule]));
  const rules = [...unique]
    .filter(([key, rule]) => !material.rejected.has(key) && !EMPTY.test(rule))
    .map(([, rule]) => rule);
  const problem = whyRulesRejected(rules, { ...keeping, folded });
  if (problem !== undefined) return { because: problem };
  const trust = material.lessons.filter(({ id }) => folded.includes(id)).map((one) => one.trust);
  return [
    CANDIDATE.plan({
      candidate: {
        ...{ turn, layer: material.layer.id, body: asText(rules), lessons: folded },
        offered: material.lessons.map(({ id }) => id),
        summary: truncateText(answer.change_summary.trim(), LONGEST_RULE, "…"),
        anchors: Object.fromEntries(Object.entries(anchorsOf(rules, agent)).map(([key, facts]) => [key, [...facts]])),
        inputs: lowestTrust([inputs, ...trust]),
        parent: material.parent ?? null,
      },
    }),
  ];
}

/** Why these rules are not used, as the rest of a sentence. */
function whyRulesRejected(
  rules: readonly string[],
  { agent, material, said, folded }: Keeping & { readonly folded: readonly string[] },
): string | undefined {
  if (rules.length === 0) return "it has no rule, or only such as were rejected before";
  const known = new Set(material.rules.map(ruleKey));
  const fresh = rules.filter((rule) => !known.has(ruleKey(rule)));
  if (fresh.length === 0 && rules.length === known.size) return "it says what the active version says";
  if (material.refused.has(textKey(rules))) return "it is what a trial has refused before";
  if (rules.length > MOST_RULES) return `it has ${rules.length} rules, and ${MOST_RULES} are allowed`;
  const long = rules.find((rule) => rule.length > LONGEST_RULE);
  if (long !== undefined) return `a rule has ${long.length} characters, and ${LONGEST_RULE} are allowed`;
  if (fresh.some((rule) => longestRun(rule, said) > MOST_QUOTED))
    return `a rule repeats more than ${MOST_QUOTED} words of a contact`;
  const ours = fold(JSON.stringify(agent.business ?? {}));
  const contacts = material.lessons
    .filter(({ id }) => folded.includes(id))
    .flatMap((one) => one.contacts)
    .map(fold)
    .filter((contact) => contact.length > 2 && !ours.includes(contact));
  const named = fresh.some((rule) =>
    contacts.some((contact) => ` ${ruleKey(rule)} `.includes(` ${ruleKey(contact)} `)),
  );
  return named ? "a rule names a contact" : undefined;
}
