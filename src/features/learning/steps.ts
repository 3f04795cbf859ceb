import { truncateText } from "../../guard/index.ts";
import {
  type Agent,
  type ContactScope,
  isInPlace,
  isReserved,
  type Layer,
  type LayerContent,
  type ThreadId,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import type { RunningTurn, TurnParts, TurnSteps } from "../../turn/index.ts";
import { type LiveSource, sendersOf } from "../../turn/sources/index.ts";
import type { Anchors } from "./candidate-store.ts";
import { isGreeting } from "./changes.ts";
import { chosenFor, correctionsFor } from "./corrections.ts";
import { TRIED } from "./gate.ts";
import { learnFromRecord } from "./lessons.ts";
import { mattersOf } from "./matters.ts";
import { joinSaidTexts } from "./record-store.ts";
import { asText, isOver, isStale, rulesOf, rulesSent } from "./rules.ts";
import { LEARNING_STORE, USED, type Used } from "./store.ts";
import { correctionText, WORDING } from "./wording.ts";

/** What is in the requests of turns that run now, by thread. The store may be a trial's. */
const running = new WeakMap<Store, Map<ThreadId, { -readonly [Name in keyof Used]: Used[Name] }>>();

const LEARNING = ["corrections", "learning"];

const usesLearning = ({ setup }: RunningTurn): boolean =>
  setup.agent.layers.some(({ source }) => LEARNING.includes(source.kind));

/** How much of the record is read before a turn; the rest is left to the background work. */
const BATCHES_BEFORE_TURN = 1;

export const STEPS: TurnSteps = {
  // Without a server, nothing else reads the record.
  prepare: async (parts, { org, name: agent, layers }) => {
    if (!layers.some(({ source }) => LEARNING.includes(source.kind))) return;
    await learnFromRecord(parts, { org, agent }, BATCHES_BEFORE_TURN).catch(() => undefined);
  },
  onStart: async (turn) => {
    if (!usesLearning(turn) || isReserved(turn.lease.claim.thread.scope.contact)) return;
    const { store } = turn.parts;
    const hasLayer = turn.setup.agent.layers.some(({ source }) => source.kind === "learning");
    const used = { version: hasLayer ? 0 : null, rules: 0, stale: 0, corrections: [] };
    running.set(store, (running.get(store) ?? new Map()).set(turn.lease.claim.thread.id, used));
    USED.put(turn.extras, used);
  },
  sources: (parts, agent) => {
    const { store } = parts;
    const learning: LiveSource = async (layer, context) => {
      const thread = context.events.at(-1)?.thread;
      const { version, text, anchors, missing } = await versionFor(parts, {
        agent,
        layer,
        scope: context.scope,
        thread,
      });
      const declared = parts.agents.all.find(({ org, name }) => org === agent.org && name === agent.name) ?? agent;
      const owner = { org: agent.org, agent: agent.name };
      const message = joinSaidTexts(context.events);
      const matters = text === "" ? [] : await mattersOf(parts, owner, { message, contact: context.scope.contact });
      const holding = rulesOf(text).filter((rule) => !isStale(rule, anchors, declared) && !isOver(rule, matters));
      const { others, fitting } = rulesSent(message, holding, matters);
      const rules = [...others, ...fitting];
      const used = thread && running.get(store)?.get(thread);
      if (used !== undefined)
        Object.assign(used, { version, rules: rules.length, stale: rulesOf(text).length - holding.length });
      if (rules.length === 0) return { kind: "empty", because: missing ?? "no rule of it holds" };
      // It passed the guard, and an operator or the mode `auto` accepted it.
      const lists = [
        others.length > 0 && asText(others),
        fitting.length > 0 && `${WORDING.fitting}\n${asText(fitting)}`,
      ];
      const said = trusted([WORDING.rules, ...lists.filter((one) => one !== false)].join("\n"));
      return { kind: "text", text: said, trust: "agent", ...(version > 0 && { version }) };
    };
    const corrections: LiveSource = async (layer, context) => {
      const [contact, another] = sendersOf(context);
      if (layer.source.kind !== "corrections" || contact === undefined || another !== undefined) return NONE;
      const message = joinSaidTexts(context.events);
      const all = await correctionsFor({ store }, { ...context.scope, contact }, message);
      const chosen = chosenFor(message, all, layer.source.limit);
      const thread = context.events.at(-1)?.thread;
      const used = thread && running.get(store)?.get(thread);
      if (used !== undefined) used.corrections = chosen.map(({ origin }) => origin);
      return chosen.length === 0
        ? NONE
        : {
            kind: "items",
            intro: trusted(WORDING.corrections),
            items: chosen.map((one) => ({
              kind: "data",
              id: one.origin,
              // It quotes the contact, and the agent after it had read the contact's words.
              trust: "contact",
              at: one.at,
              text: untrusted(correctionText({ ...one, isFirst: isGreeting(one.instead) }, shown)),
            })),
          };
    };
    const reads = { readsStore: true } as const;
    return { corrections: Object.assign(corrections, reads), learning: Object.assign(learning, reads) };
  },
  ended: async ({ parts, lease }) => void running.get(parts.store)?.delete(lease.claim.thread.id),
};

interface Where {
  readonly agent: Agent;
  readonly layer: Layer;
  readonly scope: ContactScope;
  readonly thread: ThreadId | undefined;
}

/** The version that the thread began with, or on its first turn the active one. */
async function versionFor(
  { store }: Pick<TurnParts, "store">,
  { agent, layer, scope, thread }: Where,
): Promise<Chosen> {
  const tried = TRIED.get(store);
  if (tried !== undefined)
    return {
      ...NO_VERSION,
      text: tried.text ?? "",
      missing: tried.text === undefined ? NO_VERSION.missing : undefined,
    };
  const owner = { org: agent.org, agent: agent.name };
  const kept = store.part(LEARNING_STORE);
  const pinned = thread && (await kept.pinned(scope, thread));
  const active = async (): Promise<number | undefined> =>
    (await store.activeTexts(owner)).find((one) => one.layer === layer.id && isInPlace(layer, one))?.n;
  const n = pinned ?? (await active());
  if (pinned === 0 && (await active()) !== undefined)
    return { ...NO_VERSION, missing: "the conversation began before this version was active, and keeps none" };
  if (n === undefined || n === 0) return NO_VERSION;
  const [version] = await store.textVersions(owner, { key: { layer: layer.id }, before: n + 1, limit: 1 });
  if (version?.n !== n) return NO_VERSION;
  const made = await kept.candidates(owner, MOST_ANCHORED);
  const anchors = made.find(({ verdict }) => verdict?.version === n)?.anchors ?? {};
  return { version: n, text: version.text, anchors, missing: undefined };
}

/** The version of a turn. `missing`: why there is none. */
interface Chosen {
  readonly version: number;
  readonly text: string;
  readonly anchors: Anchors;
  readonly missing: string | undefined;
}

const NO_VERSION: Chosen = { version: 0, text: "", anchors: {}, missing: "no version is active" };

/** How many digests are searched for what a version's rules name. */
const MOST_ANCHORED = 100;

const NONE: LayerContent = { kind: "empty", because: "no correction fits the message" };

/** Characters of each text of a correction. */
const SHOWN = 300;

const shown = (text: string): string => truncateText(text.replace(/\s+/g, " "), SHOWN, "…");
