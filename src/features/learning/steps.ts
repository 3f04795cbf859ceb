import { truncateText } from "../../guard/index.ts";
import { isReserved, type LayerContent, type ThreadId, trusted, untrusted } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import type { RunningTurn, TurnSteps } from "../../turn/index.ts";
import { type GatherContext, type LiveSource, sendersOf } from "../../turn/sources/index.ts";
import { chosenFor, correctionsFor, learnFromRecord } from "./lessons.ts";
import { SAID } from "./record.ts";
import { USED, type Used } from "./store.ts";
import { correctionText, WORDING } from "./wording.ts";

/** What stands in the requests of turns that run now, by their threads: each is of one store, which may be one that is only tried. */
const running = new WeakMap<Store, Map<ThreadId, { -readonly [Name in keyof Used]: Used[Name] }>>();

const LEARNING = ["corrections"];

const usesLearning = ({ setup }: RunningTurn): boolean =>
  setup.agent.layers.some(({ source }) => LEARNING.includes(source.kind));

/** So much of the record is read before a turn; the rest is left to the background work. */
const BATCHES_BEFORE_TURN = 1;

export const STEPS: TurnSteps = {
  // Where no server runs, nobody else reads the record.
  prepare: async (parts, { org, name: agent, layers }) => {
    if (!layers.some(({ source }) => LEARNING.includes(source.kind))) return;
    await learnFromRecord(parts, { org, agent }, BATCHES_BEFORE_TURN).catch(() => undefined);
  },
  onStart: async (turn) => {
    if (!usesLearning(turn) || isReserved(turn.lease.claim.thread.scope.contact)) return;
    const { store } = turn.parts;
    const used = { version: null, rules: 0, stale: 0, corrections: [] };
    running.set(store, (running.get(store) ?? new Map()).set(turn.lease.claim.thread.id, used));
    USED.put(turn.extras, used);
  },
  sources: ({ store }) => {
    const corrections: LiveSource = async (layer, context) => {
      const [contact, another] = sendersOf(context);
      if (layer.source.kind !== "corrections" || contact === undefined || another !== undefined) return NONE;
      const message = wordsOf(context);
      const all = await correctionsFor({ store }, { ...context.scope, contact });
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
              // It quotes the contact, and what the agent wrote after it had read the contact's words.
              trust: "contact",
              at: one.at,
              text: untrusted(correctionText(one, shown)),
            })),
          };
    };
    return { corrections: Object.assign(corrections, { readsStore: true as const }) };
  },
  ended: async ({ parts, lease }) => void running.get(parts.store)?.delete(lease.claim.thread.id),
};

const NONE: LayerContent = { kind: "empty", because: "no correction fits the message" };

/** What somebody wrote or asked for, and not what the platform tells beside it (law 12). */
const wordsOf = ({ events }: GatherContext): string =>
  events
    .filter(({ kind }) => SAID.includes(kind))
    .flatMap(({ content }) => content.flatMap((part) => ("text" in part ? part.text : [])))
    .join("\n");

/** Characters of each text of a correction. */
const SHOWN = 300;

const shown = (text: string): string => truncateText(text.replace(/\s+/g, " "), SHOWN, "…");
