import { type Compilation, type CompileInput, compile, type Summary, transcriptSum } from "../../compiler/index.ts";
import { paceOf, rulesOf, whenToFold } from "../../wire/index.ts";
import { type Past, turnStarts } from "./plan-request.ts";
import type { TurnSetup } from "./steps.ts";

/** For a thread whose cache has certainly expired: the rates that decide whether to cut it now. */
export interface ColdCache {
  readonly rates: Parameters<typeof whenToFold>[1];
}

/** The longest summary, in tokens; and how many times its input a model's output costs if its card gives no price. */
const LONGEST = 1_000;
const USUAL_RATIO = 5;

/**
 * Whether the provider's cache of the thread has certainly expired: the cache has a known lifetime, and it is over. Automatic caches
 * promise no lifetime.
 */
export function coldCache({ agent, model, card }: TurnSetup, past: Past, at: number): ColdCache | undefined {
  const sent = past.sent.filter(({ wire }) => wire === model.wire);
  const last = sent.at(-1);
  if ((card.cache !== "lookback" && card.cache !== "exact") || last === undefined || last.breakpoints.length === 0)
    return;
  const isLong = last.breakpoints.at(-1)?.lifetime === "1h";
  const { short, long = short } = card.lifetimes;
  if (at - last.at < (isLong ? long : short) * 1_000) return;
  const pace = paceOf([[...turnStarts(sent), at]], card.lifetimes);
  const sumsUp = agent.summaries === true && model.ref === model.wire;
  const ratio = card.price.input > 0 ? card.price.output / card.price.input : USUAL_RATIO;
  return {
    rates: {
      multipliers: rulesOf(card).multipliers,
      pauses: isLong ? pace.long : pace.short,
      ...(sumsUp && { summary: LONGEST * ratio }),
    },
  };
}

/** A turn's first request, and the same with a summary of what was cut from it. */
interface FirstRequest {
  readonly compilation: Compilation;
  readonly withSummary: (summary: Summary) => Compilation;
}

/** Compiles it. If the cache is cold, a cut that is soon due is made now; the ledger says what was chosen, and why. */
export function compileFirst(input: CompileInput, cold: ColdCache | undefined): FirstRequest {
  const compilation = compile(input);
  const { cutting, entries } = compilation.ledger;
  const plain = { compilation, withSummary: (summary: Summary) => compile({ ...input, summary }) };
  if (cold === undefined || cutting === undefined || compilation.epoch !== input.epoch) return plain;
  const tokensAt = (...places: readonly string[]): number =>
    entries.filter(({ place }) => places.includes(place)).reduce((sum, { tokens }) => sum + tokens, 0);
  const { tokens } = transcriptSum(compilation.epoch.transcript).turns;
  // What earlier cuts left stays at this one, too.
  const prefix = tokensAt("tools", "system", "transcript") - tokens;
  const conversation = { ...cutting, tokens, prefix };
  const { now: cut, turns } = whenToFold(conversation, cold.rates);
  const due = `the provider's cache was cold, and a cut is due in ${turns === 1 ? "1 turn" : `${turns} turns`}`;
  const early = { cut, because: cut ? due : `${due}: it can wait for the next long pause` };
  return {
    compilation: compile({ ...input, early }),
    withSummary: (summary) => compile({ ...input, early, summary }),
  };
}
