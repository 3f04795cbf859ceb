import type { Prediction, Usage } from "../../protocol/index.ts";

/** Prediction and bill agree from here on: only then is anything claimed to have been saved. */
export const AGREES = 0.95;

/** How a request's tokens were taken; they add up to all of it. */
export interface Taken {
  readonly read: number;
  readonly write: number;
  readonly input: number;
}

/** A bill as it was reported. */
export function takenOf({ input, cacheRead, cacheWrite }: Usage): Taken {
  const read = Math.min(cacheRead, input);
  const write = Math.min(cacheWrite, input - read);
  return { read, write, input: input - read - write };
}

/** A prediction in the tokens of the bill: providers count otherwise than Strata. */
export function stretched(prediction: Prediction, tokens: number): Taken {
  const counted = prediction.read + prediction.write + prediction.input;
  const scaled = (part: number): number => (counted === 0 ? 0 : Math.round((part / counted) * tokens));
  const read = scaled(prediction.read);
  const write = scaled(prediction.read + prediction.write) - read;
  return { read, write, input: tokens - read - write };
}

/** 1 where as much was read as predicted, 0 where all of it is off: 1 less the tokens by which the reads differ, of all tokens. */
export function agreed(predicted: Taken, billed: Taken): number {
  const tokens = billed.read + billed.write + billed.input;
  return tokens === 0 ? 1 : 1 - Math.abs(predicted.read - billed.read) / tokens;
}

/** How far a bill agrees with the prediction; undefined if there is none, or if it lacks cache figures. */
export function agreementOf(prediction: Prediction, usage: Usage): number | undefined {
  if (usage.input === 0 || usage.cacheUnknown) return undefined;
  return agreed(stretched(prediction, usage.input), takenOf(usage));
}

/** Which share of what was written is kept for the long lifetime; as predicted where the report does not tell lifetimes apart. */
export function longShare(reported: Usage | undefined, prediction?: Prediction): number {
  if (reported?.cacheWriteLong !== undefined && reported.cacheWrite > 0)
    return Math.min(reported.cacheWriteLong / reported.cacheWrite, 1);
  return prediction === undefined || prediction.write === 0 ? 0 : prediction.writeLong / prediction.write;
}
