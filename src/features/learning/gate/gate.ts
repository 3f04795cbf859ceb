import { count } from "../../../print/index.ts";
import { asStrataError, isKept, isReserved } from "../../../protocol/index.ts";
import type { Thread, TurnRecord } from "../../../store/index.ts";
import { isTooDear } from "../../../turn/index.ts";
import type { ApiDeps } from "../../feature.ts";
import type { SpendLimit } from "../../limits/index.ts";
import type { Candidate, GateReport, PREFERRED } from "../gate.ts";
import { joinSaidTexts } from "../record-store.ts";
import { MOST_TURNS } from "./config.ts";
import { type Recorded, type Scores, scored, unmet, worse } from "./criteria.ts";
import type { Fixture } from "./fixtures.ts";
import { type JudgePort, opinionsOf, type Replies } from "./judge.ts";
import { answerAgain, answeredIn, answerFixture, type Beside, type Tried } from "./shadow.ts";

/** The limits of a trial. */
export interface GateLimits {
  /** Recorded turns that are answered again, at most. */
  readonly turns: number;
  /** US dollars that all answers together may cost. */
  readonly dollars: number;
}

/** A trial: its text, turns and fixtures, its limit, and who follows it. */
export interface Trial extends Pick<Beside, "deps" | "actor" | "agent" | "signal"> {
  readonly candidate: Pick<Candidate, "text" | "parent">;
  readonly fixtures: readonly Fixture[];
  readonly limits: GateLimits;
  /** What the agent's `limits` leave. */
  readonly spendLimit?: SpendLimit;
  /** Compares the replies once it is decided whether the text passes. */
  readonly judge?: JudgePort | undefined;
  readonly progress: (sentence: string, share?: number | "planned") => void;
}

/** A recorded turn with what was done in it. */
interface Then {
  readonly turn: TurnRecord;
  readonly did: Recorded;
}

/**
 * Answers recorded messages and the fixtures with a text, with the present one and with none, and compares. No opinion decides: a text
 * passes if it breaks no fixture and is not worse on any criterion. Anything that the limits leave untried is a reason to refuse. The
 * judge is asked afterwards, with the money that is left.
 */
export async function tryText(given: Trial): Promise<GateReport> {
  const dollars = Math.min(given.limits.dollars, (await given.spendLimit?.left()) ?? Number.POSITIVE_INFINITY);
  const trial = { ...given, limits: { ...given.limits, dollars } };
  const replies: Replies[] = [];
  const { report, spending } = await decide(trial, replies);
  return trial.judge === undefined ? report : withOpinions(trial.judge, report, { trial, replies, spending });
}

/** The verdict by the criteria. The replies to the recorded messages are added to `replies`. */
async function decide(trial: Trial, replies: Replies[]): Promise<{ report: GateReport; spending: Spending }> {
  const { candidate, fixtures, limits, progress, judge } = trial;
  const recorded = await turnsOf(trial);
  const arms = candidate.parent === undefined ? 2 : 3;
  const calls = recorded.length * arms + fixtures.length * 2;
  const perMinute = trial.spendLimit?.callsPerMinute ?? Number.POSITIVE_INFINITY;
  const plan = { turns: recorded.length, fixtures: fixtures.length, arms, calls, dollars: limits.dollars, perMinute };
  progress(planOf({ ...plan, judge: judge?.name }), "planned");
  const spending = spendingOf(trial, calls);
  const met: GateReport["fixtures"][number][] = [];
  const turns: GateReport["turns"][number][] = [];
  const end = (passed: boolean, reason: string) => {
    const [spent, notRun] = [spending.spent(), spending.notRun()];
    return { report: { passed, reason, fixtures: met, turns, spent, limit: limits.dollars, notRun }, spending };
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
      if (tried === undefined) continue;
      turns.push(tried.scores);
      replies.push({ turn: one.turn.id, message: joinSaidTexts(one.turn.events), ...tried.replies });
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

/** The same report with what the judge says of each turn: nothing else in it changes but the money. */
async function withOpinions(
  judge: JudgePort,
  report: GateReport,
  { trial, replies, spending }: { trial: Trial; replies: readonly Replies[]; spending: Spending },
): Promise<GateReport> {
  const { signal, progress } = trial;
  if (replies.length > 0) progress(`${judge.name} compares ${count(replies.length, "pair")} of replies`, 1);
  const opinions = await opinionsOf(judge, replies, {
    signal,
    left: spending.left,
    spend: spending.spend,
    call: async () => trial.spendLimit?.call(signal),
  });
  const often = (better: (typeof PREFERRED)[number]): number => opinions.filter((one) => one.better === better).length;
  return {
    ...report,
    turns: report.turns.map((turn, i) => ({ ...turn, ...(opinions[i] && { opinion: opinions[i] }) })),
    judge: {
      name: judge.name,
      ...{ new: often("new"), present: often("present"), same: often("same"), unknown: often("unknown") },
    },
    spent: spending.spent(),
  };
}

interface PlannedGate extends GateLimits {
  readonly fixtures: number;
  readonly judge: string | undefined;
  readonly arms: number;
  readonly calls: number;
  readonly perMinute: number;
}

const planOf = ({ turns, fixtures, arms, calls, dollars, judge, perMinute }: PlannedGate): string =>
  `${turns} recorded turns, each answered ${arms === 3 ? "with the new text, the present one and none" : "with the new text and with none"}, and ${fixtures} fixtures: at most ${calls} answers${judge === undefined ? "" : `, ${turns} comparisons by ${judge}`} and $${Number(dollars.toPrecision(6))}${calls <= perMinute ? "" : `; the agent's \`limits\` leave it ${count(perMinute, "call")} of a model a minute, so it takes some ${count(Math.ceil(calls / perMinute), "minute")} or more`}`;

/** Runs one turn beside the record after the other, and adds up their cost. */
function spendingOf(trial: Trial, calls: number) {
  const { limits, progress } = trial;
  const [notRun, leftOut] = [new Set<string>(), new Set<string>()];
  let spent = 0;
  let done = 0;
  const own = trial.agent.budgets.turn.maxCost ?? Number.POSITIVE_INFINITY;
  /** The trial's remaining money cannot pay for another call; a call that exceeds the agent's own limit is a different matter. */
  const isOverLimit = (thrown: unknown): boolean => {
    const error = asStrataError(thrown);
    return isTooDear(error) && Number(error.details.maxCost) < own;
  };
  // Others may have spent what was left.
  const left = async (): Promise<number> =>
    Math.max(0, Math.min((await trial.spendLimit?.left()) ?? Number.POSITIVE_INFINITY, limits.dollars - spent));
  const spend = async (dollars: number): Promise<void> => {
    spent += dollars;
    await trial.spendLimit?.count(dollars);
  };
  return {
    isOverLimit,
    left,
    spend,
    spent: () => spent,
    isOver: () => spent >= limits.dollars,
    over: () =>
      `the limit of $${limits.dollars} was reached after ${done} of at most ${calls} answers, so it is not known; raise \`learning.trial.dollars\` or the agent's \`limits\` and try it again`,
    notRun: () => [
      ...[...notRun].map((tool) => `calls of ${tool}: they reach outside, and nothing recorded answers them`),
      ...leftOut,
    ],
    leave: (what: string): undefined => void leftOut.add(what),
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
      const tried = await run({ ...trial, dollars: await left(), ...(text !== undefined && { text }) });
      await spend(tried.dollars);
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
  const answer = async (tried: string | null | undefined) => {
    const answered = await spending.try(tried, (beside) => answerAgain(beside, turn));
    return { scores: scored(answered, did), text: answered.text };
  };
  const before = await spending.unlessBroken(async () => {
    const none = await answer(null);
    return { none, present: parent === undefined ? none : await answer(undefined) };
  });
  if ("failed" in before) return spending.leave(`${turn.id}, which cannot be answered again: ${before.failed}`);
  const tried = await spending.unlessBroken(() => answer(text));
  const after = "failed" in tried ? { scores: NO_ANSWER, text: "" } : tried;
  const { none, present } = before;
  return {
    scores: { turn: turn.id, none: none.scores, present: present.scores, candidate: after.scores },
    replies: { candidate: after.text, present: present.text },
  };
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
