/** A question: what was measured of each row, and which of them answer it. */
export interface Sample {
  readonly rows: readonly Float64Array[];
  readonly isAnswer: readonly boolean[];
  /** How much it counts among all. */
  readonly weight: number;
}

/** How strongly a weight is held near nothing, for a feature that is 1 for every row. */
const RESTRAINT = 0.003;
const MOST_STEPS = 12;
/** Enough for weights of two digits. */
const CLOSE = 1e-3;

export function scoreOf(row: Float64Array, weights: readonly number[]): number {
  let score = 0;
  for (let feature = 0; feature < row.length; feature += 1) score += (row[feature] ?? 0) * (weights[feature] ?? 0);
  return score;
}

/**
 * The weights by which the answers are likeliest to be drawn, when a row is drawn by the exponential of its score: Newton's
 * method on a convex function, so the same samples give the same weights. `from` is where it begins.
 */
export function fitWeights(samples: readonly Sample[], from?: readonly number[]): readonly number[] {
  const usable = samples.filter(({ isAnswer }) => isAnswer.includes(true) && isAnswer.includes(false));
  const features = usable[0]?.rows[0]?.length ?? 0;
  const spread = spreadOf(usable, features);
  let weights: readonly number[] = from ?? Array.from({ length: features }, () => 0);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const { slope, curve } = derivatives(usable, weights, spread);
    const change = solve(curve, slope);
    const largest = Math.max(...change.map((value, feature) => Math.abs(value * (spread[feature] ?? 0))));
    const damp = largest > 4 ? 4 / largest : 1;
    weights = weights.map((weight, feature) => weight - damp * (change[feature] ?? 0));
    if (largest < CLOSE) break;
  }
  return weights;
}

/** The mean square of each feature. */
function spreadOf(samples: readonly Sample[], features: number): readonly number[] {
  const squares = new Float64Array(features);
  let rows = 0;
  for (const { rows: own } of samples) {
    rows += own.length;
    for (const [feature, value] of own.flatMap((row) => [...row.entries()])) add(squares, feature, value * value);
  }
  return [...squares].map((square) => square / Math.max(1, rows));
}

interface Derivatives {
  readonly slope: Float64Array;
  readonly curve: readonly Float64Array[];
}

function derivatives(samples: readonly Sample[], weights: readonly number[], spread: readonly number[]): Derivatives {
  const slope = new Float64Array(weights.length);
  const curve = weights.map(() => new Float64Array(weights.length));
  for (const sample of samples) addSample(sample, weights, { slope, curve });
  const total = samples.reduce((sum, { weight }) => sum + weight, 0);
  weights.forEach((weight, feature) => {
    const hold = 2 * RESTRAINT * total * Math.max(1e-6, spread[feature] ?? 0);
    add(slope, feature, hold * weight);
    const own = curve[feature];
    if (own !== undefined) add(own, feature, hold);
  });
  return { slope, curve };
}

function addSample(
  { rows, isAnswer, weight }: Sample,
  weights: readonly number[],
  { slope, curve }: Derivatives,
): void {
  const scores = rows.map((row) => scoreOf(row, weights));
  const highest = Math.max(...scores);
  const drawn = scores.map((score) => Math.exp(score - highest));
  const all = drawn.reduce((sum, one) => sum + one, 0);
  const answers = isAnswer.filter(Boolean).length;
  const mean = new Float64Array(weights.length);
  rows.forEach((row, at) => {
    const chance = (drawn[at] ?? 0) / all;
    addTimes(slope, row, weight * (chance - (isAnswer[at] === true ? 1 / answers : 0)));
    addTimes(mean, row, chance);
    if (chance < 1e-4) return;
    row.forEach((value, feature) => {
      const own = curve[feature];
      if (own !== undefined && value !== 0) addTimes(own, row, weight * chance * value);
    });
  });
  curve.forEach((own, feature) => {
    addTimes(own, mean, -weight * (mean[feature] ?? 0));
  });
}

function add(to: Float64Array, at: number, value: number): void {
  to[at] = (to[at] ?? 0) + value;
}

function addTimes(to: Float64Array, row: Float64Array, factor: number): void {
  for (let at = 0; at < row.length; at += 1) to[at] = (to[at] ?? 0) + (row[at] ?? 0) * factor;
}

/** Gauss's elimination with the largest pivot. */
export function solve(matrix: readonly Float64Array[], right: Float64Array): readonly number[] {
  const rows = matrix.map((row, at) => Float64Array.from([...row, right[at] ?? 0]));
  const size = rows.length;
  for (let column = 0; column < size; column += 1) {
    const pivot = rows.slice(column).reduce((best, row, at) => {
      return Math.abs(row[column] ?? 0) > Math.abs(rows[best]?.[column] ?? 0) ? column + at : best;
    }, column);
    const [own, other] = [rows[pivot], rows[column]];
    if (own === undefined || other === undefined || own[column] === 0) continue;
    [rows[column], rows[pivot]] = [own, other];
    for (const [at, row] of rows.entries()) {
      const factor = at === column ? 0 : (row[column] ?? 0) / (own[column] ?? 1);
      if (factor !== 0) addTimes(row, own, -factor);
    }
  }
  return rows.map((row, at) => (row[at] === 0 ? 0 : (row[size] ?? 0) / (row[at] ?? 1)));
}
