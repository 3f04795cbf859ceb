/**
 * Where the weight of a feature stands: a feature is known by a number made of its letters, so that thirteen thousand weights fit
 * into few bytes. Written are the places in their order, each as its distance from the one before and its weight. Two features of
 * one place share its weight; with a place for every hundredth number that is rare.
 */
export type Weights = ReadonlyMap<number, number>;

/** How many places there are. */
const PLACES = 2 ** 20;

/** The place of a feature. */
export function placeOf(feature: string): number {
  let mixed = 0x811c9dc5;
  for (let i = 0; i < feature.length; i++) mixed = Math.imul(mixed ^ feature.charCodeAt(i), 0x01000193);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return ((mixed ^ (mixed >>> 13)) >>> 0) % PLACES;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** Half of the digits end a distance, the others say that more follows. */
const HALF = DIGITS.length / 2;
/** So much of a weight is one step. */
const STEP = 1 / 8;

/** Weights as a text that `weightsIn` reads. Those next to nothing are left out. */
export function written(weights: Weights): string {
  let [text, last] = ["", 0];
  for (const [place, weight] of [...weights].sort(([a], [b]) => a - b)) {
    const steps = Math.max(-HALF, Math.min(HALF - 1, Math.round(weight / STEP)));
    if (steps === 0) continue;
    let far = place - last;
    for (; far >= HALF; far = Math.floor(far / HALF)) text += DIGITS[HALF + (far % HALF)];
    text += `${DIGITS[far]}${DIGITS[steps + HALF]}`;
    last = place;
  }
  return text;
}

export function weightsIn(text: string): Weights {
  const weights = new Map<number, number>();
  let [place, far, scale] = [0, 0, 1];
  let isWeight = false;
  for (const letter of text) {
    const digit = DIGITS.indexOf(letter);
    if (digit < 0) continue;
    if (isWeight) {
      weights.set(place, (digit - HALF) * STEP);
      [far, scale, isWeight] = [0, 1, false];
      continue;
    }
    far += (digit % HALF) * scale;
    scale *= HALF;
    if (digit >= HALF) continue;
    place += far;
    isWeight = true;
  }
  return weights;
}
