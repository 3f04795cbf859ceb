import { z } from "zod";
import { requestOf } from "../../../compiler/index.ts";
import { truncateText } from "../../../guard/index.ts";
import {
  type Agent,
  type AgentName,
  asStrataError,
  billedUsage,
  ownKind,
  type Reply,
  SELF,
  StrataError,
  type TurnId,
} from "../../../protocol/index.ts";
import { parametersOf, setupOf, type TurnParts, type TurnSetup } from "../../../turn/index.ts";
import { dollars, mostDollars } from "../../../wire/index.ts";
import type { ApiDeps } from "../../feature.ts";
import { DIGEST_CHANNEL } from "../config.ts";
import type { GateReport } from "../gate.ts";
import { materialEvent, readObject, taskRequest } from "../task.ts";
import { JUDGE_TASK, NO_HOUSE_RULES, NO_REPLY } from "./wording.ts";

/** Two replies to one message, and what the house wants. All of it may hold words of contacts: none of it is an instruction. */
export interface JudgedPair {
  readonly agent: AgentName;
  /** The agent's own texts. */
  readonly rules: string;
  readonly message: string;
  readonly first: string;
  readonly second: string;
  readonly signal: AbortSignal;
}

const ANSWER = z.object({ better: z.enum(["first", "second", "same"]), sentence: z.string().max(20_000) });

/** What a program's judge answers. */
export type JudgeAnswer = z.output<typeof ANSWER>;

/** A program's own judge: it sees two replies, and not which of them the new text wrote. */
export type Judge = (pair: JudgedPair) => Promise<JudgeAnswer>;

export interface JudgePorts {
  /** For agents whose `learning` names no judge. */
  readonly judge?: Judge | undefined;
}

/** Who compares two replies: a model or a program. */
export interface JudgePort {
  readonly name: string;
  readonly callsModel?: boolean;
  /** @param most US dollars that it may cost. @throws StrataError where it does not answer */
  compare(
    pair: Omit<JudgedPair, "agent" | "rules">,
    within: { readonly turn: TurnId; readonly most: number },
  ): Promise<{ readonly answer: JudgeAnswer; readonly dollars: number }>;
}

/** A recorded message and both replies to it. */
export interface Replies {
  readonly turn: TurnId;
  readonly message: string;
  readonly candidate: string;
  readonly present: string;
}

type Opinion = NonNullable<GateReport["turns"][number]["opinion"]>;

/** Characters of each text that a judge reads. */
const SHOWN = 4_000;
/** Characters of the texts of the house, all together. */
const RULES_SHOWN = 8_000;
/** Tokens of an answer, with what the model thinks before it. */
const LONGEST_ANSWER = 1_024;
/** Characters that stay of a judge's sentence. */
const LONGEST_SENTENCE = 300;
/** Milliseconds after which an answer is not waited for any more. */
const PATIENCE = 60_000;
/** So often in a row it may give no opinion before it is not asked again. */
const MOST_FAILURES = 3;

/** The judge that an agent's `learning` names, otherwise that of the program; none without both. */
export function judgeFor(deps: Pick<ApiDeps, "turnParts">, agent: Agent, { judge }: JudgePorts): JudgePort | undefined {
  const rules = houseRules(agent);
  const ref = agent.learning?.judge;
  if (ref !== undefined) return modelJudge(deps.turnParts(), agent, { ref, rules });
  if (judge === undefined) return undefined;
  return {
    name: "the program's judge",
    compare: async (pair) => {
      const answer = ANSWER.safeParse(await judge({ ...pair, agent: agent.name, rules }));
      if (answer.success) return { answer: answer.data, dollars: 0 };
      throw new StrataError("model_failed", "its answer is not { better, sentence }");
    },
  };
}

const houseRules = ({ layers }: Agent): string => {
  const texts = layers.flatMap(({ source }) => (source.kind === "text" ? [source.text] : []));
  return truncateText(texts.join("\n\n"), RULES_SHOWN, "…") || NO_HOUSE_RULES;
};

interface Judging {
  readonly ref: string;
  readonly rules: string;
}

const KINDS = { rules: ownKind("house-rules"), first: ownKind("first-reply"), second: ownKind("second-reply") };

function modelJudge(parts: TurnParts, agent: Agent, { ref, rules }: Judging): JudgePort {
  let opened: Promise<TurnSetup> | undefined;
  const open = async (): Promise<TurnSetup> => {
    const scope = { org: agent.org, agent: agent.name, contact: SELF };
    return setupOf(parts, { scope, version: agent.version }, { model: await parts.modelOf({ ...agent, model: ref }) });
  };
  return {
    name: ref,
    callsModel: true,
    compare: async ({ message, first, second, signal }, { turn, most }) => {
      opened ??= open();
      const setup = await opened;
      const events = [
        { kind: KINDS.rules, trust: "operator", text: rules } as const,
        { kind: "message", trust: "contact", text: message } as const,
        { kind: KINDS.first, trust: "contact", text: first } as const,
        { kind: KINDS.second, trust: "contact", text: second } as const,
      ].map((one) => materialEvent(parts, { name: DIGEST_CHANNEL }, one));
      const compilation = taskRequest(setup, { id: "judge", text: JUDGE_TASK, events, turn });
      const maxTokens = Math.min(LONGEST_ANSWER, parametersOf(setup).maxTokens);
      const least = mostDollars({ input: compilation.ledger.tokens, output: maxTokens }, setup.prices, []);
      if (least > most) throw new StrataError("budget_too_small", "what is left of the trial's money cannot pay it");
      const request = { ...requestOf(compilation, { maxTokens }), breakpoints: [] };
      let reply: Reply | undefined;
      for await (const event of setup.model.send(request, { signal, count: setup.count }))
        if (event.type === "reply") reply = event.reply;
      const text = reply?.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n") ?? "";
      const cost = reply === undefined ? 0 : dollars(billedUsage(reply), setup.prices);
      const answer = readObject(text, ANSWER);
      if (answer !== undefined) return { answer, dollars: cost };
      throw new StrataError("model_failed", "its answer is not the JSON object that was asked for", { dollars: cost });
    },
  };
}

interface Asking {
  readonly signal: AbortSignal;
  /** US dollars that are left. @throws StrataError where nothing is */
  readonly left: () => Promise<number>;
  readonly spend: (dollars: number) => Promise<void>;
  /** Waits until a model may be called. */
  readonly call?: () => Promise<void>;
}

/**
 * What a judge says of these replies, in their order. Each reply is the first one as often as the other: a judge that always prefers the
 * first prefers nobody. Nothing that it does, and no failure of it, is thrown.
 */
export async function opinionsOf(
  judge: JudgePort,
  all: readonly Replies[],
  { signal, left, spend, call }: Asking,
): Promise<readonly Opinion[]> {
  const opinions: Opinion[] = [];
  let asked = 0;
  let failures = 0;
  for (const { turn, message, candidate, present } of all) {
    signal.throwIfAborted();
    if (candidate.trim() === present.trim()) {
      opinions.push({ better: "same", sentence: "Both replies are the same." });
      continue;
    }
    if (failures >= MOST_FAILURES) {
      opinions.push({ better: "unknown", sentence: `It was not asked: it had given no opinion ${failures} times.` });
      continue;
    }
    if (judge.callsModel) await call?.();
    const isNewFirst = asked++ % 2 === 0;
    const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]);
    const pair = {
      message: truncateText(message, SHOWN, "…"),
      first: shownReply(isNewFirst ? candidate : present),
      second: shownReply(isNewFirst ? present : candidate),
      signal: patience,
    };
    try {
      const comparing = judge.compare(pair, { turn, most: await left() });
      const { answer, dollars } = await orAborted(comparing, patience);
      await spend(dollars);
      const preferred = (answer.better === "first") === isNewFirst ? "new" : "present";
      opinions.push({
        better: answer.better === "same" ? "same" : preferred,
        sentence: truncateText(answer.sentence.replace(/\s+/g, " ").trim(), LONGEST_SENTENCE, "…"),
      });
      failures = 0;
    } catch (thrown) {
      signal.throwIfAborted();
      failures += 1;
      const { message: why, details } = asStrataError(thrown);
      if (typeof details.dollars === "number") await spend(details.dollars);
      opinions.push({ better: "unknown", sentence: truncateText(`It gave no opinion: ${why}`, LONGEST_SENTENCE, "…") });
    }
  }
  return opinions;
}

const shownReply = (text: string): string => truncateText(text, SHOWN, "…").trim() || NO_REPLY;

/** A program's judge may not listen to its signal. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, aborted]);
}
