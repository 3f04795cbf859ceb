/** What an agent learns: lessons from people's changes, corrections that fit a message. */

import { z } from "zod";
import { count, number, type Style, setIn } from "../../print/index.ts";
import { type AgentName, type Allowed, doneBy, isoSecond, StrataError, TRUSTS } from "../../protocol/index.ts";
import { inOrder } from "../../store/index.ts";
import { accessTo, recordAct } from "../../turn/index.ts";
import type { Job, Notice } from "../../work/index.ts";
import { turnColumn } from "../column.ts";
import type { ApiDeps, Feature } from "../feature.ts";
import { list, NEXT, nextAfter, OF_AGENT, PAGE, TIME } from "../fields.ts";
import type { FilePorts } from "../files/index.ts";
import { type Operation, operation } from "../operation.ts";
import { TEXT_API } from "../texts/index.ts";
import { LEARNING_API, type LearningApi } from "./api.ts";
import { KEYS } from "./config.ts";
import { contradictionsIn } from "./contradictions.ts";
import { DIGEST } from "./digest.ts";
import { type JudgePorts, trialApi, tryOperation } from "./gate/index.ts";
import type { Gate } from "./gate.ts";
import { type Lesson, learnFromRecord, lessonsOf } from "./lessons.ts";
import { VERSION_OPERATIONS } from "./operations.ts";
import { STEPS } from "./steps.ts";
import { LEARNING_STORE, LESSON_KINDS, LESSON_NOT_FOUND } from "./store.ts";
import { digestDue, digestNow, learningLayer, ratesOf, versionsOf } from "./versions.ts";

export { LEARNING_API, type LearningApi } from "./api.ts";
export { contradictingLessons } from "./contradictions.ts";
export type { Judge, JudgeAnswer, JudgedPair, JudgePorts } from "./gate/index.ts";

const STATES = ["open", "ended", "dismissed"] as const;

const LESSON = z
  .object({
    id: z.string(),
    kind: z
      .enum(LESSON_KINDS)
      .describe("what it was taken from: an edited draft, an answer of a person, a turn that died"),
    situation: z.string().describe("what the contact had written"),
    wrong: z.string().describe("what went wrong"),
    instead: z.string().describe("what a person did instead"),
    trust: z
      .enum(TRUSTS)
      .describe("whose words it is: the author's, or the contact's where they repeat what the contact said"),
    support: z.number().describe("by how many contacts it was taught"),
    times: z.number(),
    confidence: z.number().describe("from 0 to 1: how likely it holds for other contacts"),
    general: z.boolean().describe("taught whatever the message was about"),
    contacts: list(z.string()).describe("the newest of them"),
    threads: list(z.string()).describe("the newest conversations that taught it"),
    first: TIME,
    at: TIME,
    state: z.enum(STATES).describe("`ended`: a newer edit takes it back or says otherwise"),
    mayContradict: list(z.string())
      .optional()
      .describe("other lessons that may say otherwise of the same matter: words alone do not decide it"),
  })
  .meta({ id: "Lesson", description: "What edits, answers and failures taught an agent. No request shows it." });

function learningApi({ parts, turnParts, use }: ApiDeps, gate: Gate): Omit<LearningApi, "tryLearning"> {
  const read = async (actor: Allowed<"operate">, name: AgentName) => {
    const access = accessTo(parts, actor, name);
    await learnFromRecord(parts, access.owner);
    const lessons = await lessonsOf(parts, { ...access.owner, contact: null });
    const suspects = contradictionsIn(lessons);
    const withSuspects = (lesson: Lesson): Lesson => {
      const mayContradict = suspects.get(lesson.id);
      return mayContradict === undefined ? lesson : { ...lesson, mayContradict };
    };
    return { access, lessons: lessons.map(withSuspects) };
  };
  const one = async (actor: Allowed<"operate">, name: AgentName, id: string) => {
    const { access, lessons } = await read(actor, name);
    const lesson = lessons.find((known) => known.id === id);
    if (lesson !== undefined) return { access, lesson };
    const message = `${name} has no lesson ${JSON.stringify(id)}; \`strata lesson list ${name}\` shows those there are`;
    throw LESSON_NOT_FOUND.of(message, { agent: name, lesson: id });
  };
  return {
    lessons: async (actor, name) => {
      const { access, lessons } = await read(actor, name);
      await recordAct(access, "read lessons", `lessons: ${lessons.length}`);
      return lessons;
    },
    lesson: async (actor, name, id) => {
      const { access, lesson } = await one(actor, name, id);
      await recordAct(access, "read lessons", id);
      return lesson;
    },
    dismissLesson: async (actor, name, id) => {
      const { access, lesson } = await one(actor, name, id);
      const at = parts.clock.recorded();
      await parts.store.part(LEARNING_STORE).dismiss(access.owner, { lesson: id, ...doneBy(actor), at });
      return { ...lesson, state: lesson.state === "open" ? "dismissed" : lesson.state };
    },
    learnFromRecord: (actor, name) => learnFromRecord(parts, accessTo(parts, actor, name).owner),
    versions: async (actor, name) => versionsOf(turnParts(), actor, name),
    rates: async (actor, name) => ratesOf(turnParts(), actor, name),
    digest: async (actor, name, { asked = "instruction", signal = new AbortController().signal, ...how } = {}) =>
      digestNow({ parts: turnParts, use, gate }, name, { ...how, actor, asked, signal }),
    isDigestDue: async (actor, name) => digestDue(turnParts(), actor, name),
    decideVersion: async (actor, name, choice) => {
      const { id: layer } = learningLayer(accessTo(parts, actor, name).agent);
      await use(TEXT_API).decideText(actor, name, { layer, ...choice });
    },
    rollBack: async (actor, name, to, reason) => {
      const { id: layer } = learningLayer(accessTo(parts, actor, name).agent);
      if (to === undefined) return use(TEXT_API).rollbackText(actor, name, { layer, reason });
      const offered = (await versionsOf(turnParts(), actor, name)).map(({ n }) => n);
      if (offered.includes(to)) return use(TEXT_API).activateText(actor, name, { layer, n: to, reason });
      const message = `version ${to} of ${name}'s learning is not on offer; those that are: ${offered.join(", ") || "none"}`;
      throw new StrataError("text_not_found", message, { agent: name, n: to });
    },
  };
}

const ONE = OF_AGENT.extend({ lesson: z.string().min(1).max(64).describe("a lesson, lsn_…") });

const listLessons = operation({
  name: "lesson.list",
  does: "List what edited drafts, answers of people and failed turns taught an agent, the newest first; each access is recorded.",
  may: "operate",
  at: "GET /v1/agents/{agent}/lessons",
  takes: OF_AGENT.extend({
    state: z
      .enum([...STATES, "all"])
      .default("open")
      .describe("only in this state"),
    ...PAGE,
  }),
  gives: z.object({ lessons: list(LESSON), ...NEXT }),
  list: "lessons",
  command: { examples: ["lesson list", "lesson list companion --state all"], opens: "data" },
  run: async ({ runtime }, { agent, state, limit, after }, { actor }) => {
    const all = await runtime.use(LEARNING_API).lessons(actor, agent);
    const wanted = all
      .filter((one) => state === "all" || one.state === state)
      .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
      .filter(({ at, id }) => after === undefined || at < after.at || (at === after.at && id < after.id));
    const lessons = wanted.slice(0, limit);
    return { lessons, ...nextAfter(lessons, limit, ({ at, id }) => ({ at, id })) };
  },
  show: ({ lessons }, { style, given: { agent } }) =>
    lessons.length === 0
      ? [`${agent} has no such lesson.`]
      : [...lessons.flatMap((one) => lessonLines(one, style)), style.dim(count(lessons.length, "lesson"))],
});

const showLesson = operation({
  name: "lesson.show",
  does: "Show one lesson of an agent with the conversations that taught it; the access is recorded.",
  may: "operate",
  at: "GET /v1/agents/{agent}/lessons/{lesson}",
  takes: ONE,
  gives: LESSON,
  command: { words: ["lesson"], examples: ["lesson show lsn_0123456789ab"], opens: "data" },
  run: ({ runtime }, { agent, lesson }, { actor }) => runtime.use(LEARNING_API).lesson(actor, agent, lesson),
  show: (lesson, { style }) => [
    ...lessonLines(lesson, style),
    `  first taught ${isoSecond(lesson.first)}, in ${count(lesson.threads.length, "conversation")}: ${lesson.threads.join(", ")}`,
  ],
});

const dismissLesson = operation({
  name: "lesson.dismiss",
  does: "Mark a lesson as dismissed: it is offered to no digest any more, and its corrections are shown with no message.",
  may: "operate",
  at: "POST /v1/agents/{agent}/lessons/{lesson}/dismiss",
  takes: ONE,
  gives: LESSON,
  command: { words: ["lesson"], examples: ["lesson dismiss lsn_0123456789ab"], opens: "data" },
  run: ({ runtime }, { agent, lesson }, { actor }) => runtime.use(LEARNING_API).dismissLesson(actor, agent, lesson),
  show: ({ id, state }) => [`${id} is ${state}.`],
});

function lessonLines(
  { id, kind, situation, wrong, instead, state, mayContradict = [], ...rest }: Lesson,
  style: Style,
): readonly string[] {
  const { support, times, confidence, trust, at } = rest;
  const head = `${id} · ${kind} · ${count(support, "contact")}, ${count(times, "time")} · confidence ${confidence} · ${trust} · ${isoSecond(at)} · ${state}`;
  const part = (name: string, text: string): readonly string[] =>
    text === "" ? [] : setIn(text, { first: `  ${name}: `, more: "    " }, style);
  return [
    ...setIn(head, { first: "", more: "    " }, style).map(style.dim),
    ...part("when", situation),
    ...part("wrong", wrong),
    ...part("instead", instead),
    ...(mayContradict.length === 0
      ? []
      : part(
          "may contradict",
          `${mayContradict.join(", ")}: \`strata lesson dismiss ID\` ends the one that does not hold`,
        )),
  ];
}

const USE = z
  .object({
    version: z
      .number()
      .nullable()
      .describe("the learning version; 0: none was active; null: the agent has no layer for it"),
    rules: z.number().describe("how many of its rules were sent"),
    stale: z.number().describe("how many were left out because what they name has changed"),
    corrections: list(z.string()).describe("the drafts whose corrections were shown"),
  })
  .describe("what of all that was learned stood in its requests, by ids and counts");

const RETRIEVAL = turnColumn({
  name: "retrieval_context",
  schema: USE,
  read: async ({ runtime, actor }, { org, agent }, turns) =>
    runtime.keeps(actor, { org, agent, contact: null }, LEARNING_STORE).used(
      { org, agent },
      turns.map(({ id }) => id),
    ),
  show: ({ version, rules, stale, corrections }) =>
    [
      ...(version === null
        ? []
        : version === 0
          ? ["no learning version"]
          : [`learning version ${version}, ${count(rules, "rule")}`]),
      ...(stale === 0 ? [] : [`${number(stale)} stale`]),
      corrections.length === 0 ? "no corrections" : `corrections of ${corrections.join(", ")}`,
    ].join(" · "),
});

/** Reads what is new in each agent's record, whether or not it digests lessons. */
const reading: Job = {
  name: "learning.lessons",
  every: 60_000,
  due: async ({ runtime, operator }) => ({
    tasks: runtime.agents(operator).map(({ name }) => ({
      agent: name,
      key: `lessons of ${name}`,
      trouble: `Nothing could be learned from the record of ${name}`,
      async *run(): AsyncGenerator<Notice> {
        await runtime.use(LEARNING_API).learnFromRecord(operator, name);
        yield { about: `lessons of ${name}`, message: "", isOver: true };
      },
    })),
  }),
};

/** Runs a digest when it is due, or judges one that was left unjudged. */
const digesting: Job = {
  name: "learning.digests",
  every: 60_000,
  due: async ({ runtime, operator }) => {
    const { isDigestDue } = runtime.use(LEARNING_API);
    const enabled = runtime.agents(operator).filter(({ learning }) => learning !== undefined);
    const due = await inOrder(enabled, async ({ name }) => ((await isDigestDue(operator, name)) ? [name] : []));
    return {
      tasks: due.flat().map((name) => ({
        agent: name,
        key: `learning of ${name}`,
        trouble: `Nothing could be digested for ${name}`,
        async *run(signal): AsyncGenerator<Notice> {
          const { outcome, because, version } = await runtime
            .use(LEARNING_API)
            .digest(operator, name, { asked: "scheduled", signal });
          const which = version === undefined ? "" : ` (version ${version})`;
          if (outcome !== "nothing")
            yield { message: `A learning digest of ${name} is ${outcome}${which}: ${because}.` };
        },
      })),
    };
  },
};

const OPERATIONS: readonly Operation[] = [listLessons, showLesson, dismissLesson, ...VERSION_OPERATIONS, tryOperation];

export const FEATURE: Feature<FilePorts & JudgePorts> = {
  name: "learning",
  needs: ["approvals", "drafts", "texts", "files", "limits"],
  keys: KEYS,
  channels: [DIGEST],
  store: LEARNING_STORE,
  errors: [LESSON_NOT_FOUND],
  operations: OPERATIONS,
  columns: { turns: [RETRIEVAL] },
  jobs: [reading, digesting],
  steps: STEPS,
  open: (world) => ({
    api: (deps) => {
      const { gate, tryLearning } = trialApi(deps, world);
      return LEARNING_API.open({ ...learningApi(deps, gate), tryLearning });
    },
  }),
};
