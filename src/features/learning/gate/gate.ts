import { count } from "../../../print/index.ts";
import { asStrataError, isKept, isReserved } from "../../../protocol/index.ts";
import type { Thread, TurnRecord } from "../../../store/index.ts";
import { isTooDear } from "../../../turn/index.ts";
import type { ApiDeps } from "../../feature.ts";
import type { SpendLimit } from "../../limits/index.ts";
import type { Candidate, GateReport } from "../gate.ts";
import { type Recorded, type Scores, scored, unmet, worse } from "./criteria.ts";
import type { Fixture } from "./fixtures.ts";
import { answerAgain, answeredIn, answerFixture, type Beside, type Tried } from "./shadow.ts";

/** The limits of a trial. */
export interface GateLimits {
  /** Recorded turns that are answered again, at most. */
  readonly turns: number;
  /** US dollars that all answers together may cost. */
  readonly dollars: number;
}

export const MOST_TURNS = 20;

/** A trial: its text, turns and fixtures, its limit, and who follows it. */
export interface Trial extends Pick<Beside, "deps" | "actor" | "agent" | "signal"> {
  readonly candidate: Pick<Candidate, "text" | "parent">;
  readonly fixtures: readonly Fixture[];
  readonly limits: GateLimits;
  /** What the agent's `limits` leave. */
  readonly spendLimit?: SpendLimit;
  readonly progress: (sentence: string, share?: number) => void;
}

/** A recorded turn with what was done in it. */
interface Then {
  readonly turn: TurnRecord;
  readonly did: Recorded;
}

/**
 * Answers recorded messages and the fixtures with a text, with the present one and with none, and compares. No opinion decides: a text
 * passes if it breaks no fixture and is not worse on any criterion. Anything that the limits leave untried is a reason to refuse.
 */
export async function tryText(given: Trial): Promise<GateReport> {
  const dollars = Math.min(given.limits.dollars, (await given.spendLimit?.left()) ?? Number.POSITIVE_INFINITY);
  const trial = { ...given, limits: { ...given.limits, dollars } };
  const { candidate, fixtures, limits, progress } = trial;
  const recorded = await turnsOf(trial);
  const arms = candidate.parent === undefined ? 2 : 3;
  const calls = recorded.length * arms + fixtures.length * 2;
  progress(planOf({ turns: recorded.length, fixtures: fixtures.length, arms, calls, dollars: limits.dollars }), 0);
  const spending = spendingOf(trial, calls);
  const met: GateReport["fixtures"][number][] = [];
  const turns: GateReport["turns"][number][] = [];
  const end = (passed: boolean, reason: string): GateReport => {
    return {
      passed,
      reason,
      fixtures: met,
      turns,
      spent: spending.spent(),
      limit: limits.dollars,
      notRun: spending.notRun(),
    };
  };
  try {
    for (const fixture of fixtures) {
      if (spending.isOver()) return end(false, spending.over());
      met.push(await tryFixture(spending, candidate, fixture));
    }
    const broken = met.find(({ passed }) => !passed);
    if (broken !== undefined)
      return end(false, `it breaks the fixture ${JSON.stringify(broken.name)}: ${broken.finding}`);
    for (const one of recorded) {
      if (spending.isOver()) return end(false, spending.over());
      const tried = await tryTurn(spending, candidate, one);
      if (tried !== undefined) turns.push(tried);
    }
  } catch (thrown) {
    if (spending.isOverLimit(thrown)) return end(false, spending.over());
    throw thrown;
  }
  const pairs = (before: "present" | "none") => turns.map((one) => ({ before: one[before], after: one.candidate }));
  const lost = worse(pairs("present")) ?? worse(pairs("none"));
  if (lost !== undefined) return end(false, lost);
  if (turns.length + met.length === 0) return end(true, "there is no recorded turn and no fixture yet to try it on");
  return end(
    true,
    `${met.length === 0 ? "there is no fixture to break" : `it breaks none of ${count(met.length, "fixture")}`}, and it is no worse on ${count(turns.length, "recorded turn")}`,
  );
}

interface PlannedGate extends GateLimits {
  readonly fixtures: number;
  readonly arms: number;
  readonly calls: number;
}

const planOf = ({ turns, fixtures, arms, calls, dollars }: PlannedGate): string =>
  `${turns} recorded turns, each answered ${arms === 3 ? "with the new text, the present one and none" : "with the new text and with none"}, and ${fixtures} fixtures: at most ${calls} answers and $${Number(dollars.toPrecision(6))}`;

/** Runs one turn beside the record after the other, and adds up their cost. */
function spendingOf(trial: Trial, calls: number) {
  const { limits, progress } = trial;
  const [notRun, left] = [new Set<string>(), new Set<string>()];
  let spent = 0;
  let done = 0;
  const own = trial.agent.budgets.turn.maxCost ?? Number.POSITIVE_INFINITY;
  /** The trial's remaining money cannot pay for another call; a call that exceeds the agent's own limit is a different matter. */
  const isOverLimit = (thrown: unknown): boolean => {
    const error = asStrataError(thrown);
    return isTooDear(error) && Number(error.details.maxCost) < own;
  };
  return {
    isOverLimit,
    spent: () => spent,
    isOver: () => spent >= limits.dollars,
    over: () =>
      `the limit of $${limits.dollars} was reached after ${done} of at most ${calls} answers, so it is not known; raise \`learning.trial.dollars\` or the agent's \`limits\` and try it again`,
    notRun: () => [
      ...[...notRun].map((tool) => `calls of ${tool}: they reach outside, and nothing recorded answers them`),
      ...left,
    ],
    leave: (what: string): undefined => void left.add(what),
    /** Temporary errors are thrown, so that the text is tried again later. */
    unlessBroken: async <T extends object>(run: () => Promise<T>): Promise<T | { readonly failed: string }> => {
      try {
        return await run();
      } catch (thrown) {
        trial.signal.throwIfAborted();
        const { traits, message } = asStrataError(thrown);
        if (traits.retry || isOverLimit(thrown)) throw thrown;
        return { failed: message };
      }
    },
    try: async (text: string | null | undefined, run: (beside: Beside) => Promise<Tried>): Promise<Tried> => {
      trial.signal.throwIfAborted();
      // Others may have spent what was left.
      const left = (await trial.spendLimit?.left()) ?? Number.POSITIVE_INFINITY;
      const dollars = Math.max(0, Math.min(left, limits.dollars - spent));
      const tried = await run({ ...trial, dollars, ...(text !== undefined && { text }) });
      spent += tried.dollars;
      await trial.spendLimit?.count(tried.dollars);
      progress(`${++done} of at most ${calls} answers`, Math.min(1, done / Math.max(1, calls)));
      for (const tool of tried.notRun) notRun.add(tool);
      return tried;
    },
  };
}

type Spending = ReturnType<typeof spendingOf>;

/** A fixture that the present text fails too is not broken by the new one. */
async function tryFixture(
  spending: Spending,
  { text }: Trial["candidate"],
  fixture: Fixture,
): Promise<GateReport["fixtures"][number]> {
  const { name, expects } = fixture;
  const unmetWith = async (tried: string | undefined): Promise<readonly string[]> => {
    const answer = await spending.unlessBroken(() => spending.try(tried, (beside) => answerFixture(beside, fixture)));
    return "failed" in answer ? [`fails: ${answer.failed}`] : unmet(expects, answer);
  };
  const found = await unmetWith(text);
  if (found.length === 0) return { name, passed: true, finding: "met" };
  const before = await unmetWith(undefined);
  const isBroken = found.some((one) => !before.includes(one));
  const finding = `the answer ${found.join(", ")}`;
  return { name, passed: !isBroken, finding: isBroken ? finding : `${finding}; so it did before` };
}

/** Of a turn that failed with the new text, and only with that. */
const NO_ANSWER: Scores = { answered: 0, near: 0, length: 0, calls: 0, own: 0 };

async function tryTurn(spending: Spending, { text, parent }: Trial["candidate"], { turn, did }: Then) {
  const scoresOf = async (tried: string | null | undefined): Promise<Scores> =>
    scored(await spending.try(tried, (beside) => answerAgain(beside, turn)), did);
  const before = await spending.unlessBroken(async () => {
    const none = await scoresOf(null);
    return { none, present: parent === undefined ? none : await scoresOf(undefined) };
  });
  if ("failed" in before) return spending.leave(`${turn.id}, which cannot be answered again: ${before.failed}`);
  const after = await spending.unlessBroken(async () => ({ candidate: await scoresOf(text) }));
  return { turn: turn.id, ...before, ...("failed" in after ? { candidate: NO_ANSWER } : after) };
}

/** How many of the agent's threads are read, and how many turns of each, so that one contact does not dominate. */
const THREADS = 100;
const TURNS_OF_THREAD = 4;

/** The newest turns that a contact began and that something was sent for. */
async function turnsOf({ deps: { parts }, agent, limits }: Trial): Promise<readonly Then[]> {
  const { store } = parts;
  const most = Math.min(limits.turns, MOST_TURNS);
  const found: Then[] = [];
  const threads = await store.threads({ org: agent.org, agent: agent.name, contact: null }, THREADS);
  for (const thread of threads.filter(({ scope, caller }) => !isReserved(scope.contact) && caller === undefined)) {
    if (found.length >= most) break;
    found.push(...(await turnsOn(parts, thread)).slice(0, most - found.length));
  }
  return found;
}

async function turnsOn({ store }: ApiDeps["parts"], { scope, id }: Thread): Promise<readonly Then[]> {
  const slots = await store.slots(scope, id);
  const turns = await store.turns(scope, id);
  const usable = turns.filter(
    (turn) => isKept(turn) && turn.batch === undefined && turn.events.some(({ kind }) => kind === "message"),
  );
  const found: Then[] = [];
  for (const turn of usable.toReversed()) {
    if (found.length >= TURNS_OF_THREAD) break;
    const sent = slots.findLast((slot) => slot.turn === turn.id && slot.kind === "reply");
    if (sent === undefined) continue;
    found.push({ turn, did: { ...(await answeredIn(store, turn)), text: sent.text } });
  }
  return found;
}
