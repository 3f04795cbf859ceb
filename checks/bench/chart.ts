/** A line of the picture: what the n-th request of a thread costs, the mean over all threads that have one. */
export interface Series {
  readonly name: string;
  readonly costs: readonly number[];
}

/** What is drawn: whose requests, and by which rules. */
export interface Drawn {
  readonly what: string;
  readonly rules: string;
  readonly series: readonly Series[];
}

const SIZE = { width: 960, height: 480 };
/** The plot's own edges inside the picture. */
const PLOT = { left: 84, right: 820, top: 56, bottom: 420 };
const POINTS = 400;

/** The optimum, then the layouts; told apart also where colours are not. */
const INK = ["#5f6b7a", "#c2410c", "#0f766e", "#7c3aed", "#b45309", "#be185d", "#1d4ed8"];

/** No script, nothing from elsewhere. */
const picture = (title: string, subtitle: string, inside: readonly string[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" font-family="system-ui, sans-serif" font-size="13">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${SIZE.width}" height="${SIZE.height}" fill="#ffffff"/>`,
    `<text x="${PLOT.left}" y="26" font-size="16" fill="#111827">${escaped(title)}</text>`,
    `<text x="${PLOT.left}" y="44" fill="#5f6b7a">${escaped(subtitle)}</text>`,
    ...inside,
    "</svg>\n",
  ].join("\n");

/** A value on each axis, from 0; 1 is the right edge, and the top. */
export interface Dot {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

/** Settings as dots, joined from left to right: what one gains is read against what it costs. */
export function scatter(
  { title, x: across, y: up }: { title: string; x: string; y: string },
  dots: readonly Dot[],
): string {
  const most = Math.max(1, ...dots.map((dot) => dot.x));
  const placed = dots.map((dot) => ({ ...dot, left: x(dot.x / most), top: y(dot.y) })).toSorted((a, b) => a.x - b.x);
  const path = placed.map(({ left, top }) => `${left},${top}`).join(" ");
  const ticks = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${y(share)}" y2="${y(share)}" stroke="#e5e7eb"/>`,
    `<text x="${PLOT.left - 8}" y="${y(share)}" dy="4" text-anchor="end" fill="#5f6b7a">${share.toFixed(2)}</text>`,
    `<text x="${x(share)}" y="${PLOT.bottom + 20}" text-anchor="middle" fill="#5f6b7a">${Math.round(100 * share * most)} %</text>`,
  ]);
  return picture(title, `up: ${up}; across: ${across}`, [
    ...ticks,
    `<polyline points="${path}" fill="none" stroke="#cbd5e1" stroke-width="1.5"/>`,
    ...placed.flatMap(({ name, left, top }) => [
      `<circle cx="${left}" cy="${top}" r="5" fill="${INK[1]}"/>`,
      `<text x="${left}" y="${top}" dx="9" dy="-7" fill="#111827">${escaped(name)}</text>`,
    ]),
  ]);
}

/** A picture of what each request costs under each layout. */
function svgChart({ what, rules, ...drawn }: Drawn): string {
  const series = drawn.series.map(({ name, costs }) => ({ name, costs: inSteps(costs, POINTS) }));
  const last = Math.max(...drawn.series.map(({ costs }) => costs.length));
  const top = rounded(Math.max(1, ...series.flatMap(({ costs }) => costs)));
  const title = `What each request of ${what} costs`;
  return picture(title, `in tokens of plain input, by the rules of ${rules}`, [
    ...grid(top, last),
    ...series.map((one, at) => line(one, INK[at % INK.length] ?? "", { top, dashed: at === 0 })),
    ...labels(series, top),
  ]);
}

/** The picture, or a page that holds it where the file's name ends so. */
export function chart(drawn: Drawn, file: string): string {
  if (!file.endsWith(".html")) return svgChart(drawn);
  return [
    "<!doctype html>",
    '<html lang="en">',
    `<head><meta charset="utf-8"><title>${escaped(drawn.what)}</title>`,
    "<style>body { margin: 2rem; } svg { max-width: 100%; height: auto; }</style></head>",
    `<body>${svgChart(drawn)}</body>`,
    "</html>\n",
  ].join("\n");
}

const number = (value: number): string => Math.round(value).toLocaleString("en");

/** The costs in so many steps at most: each the mean of the requests that fall into it. */
function inSteps(costs: readonly number[], most: number): readonly number[] {
  const steps = Math.min(most, costs.length);
  return Array.from({ length: steps }, (_, step) => {
    const from = Math.floor((step * costs.length) / steps);
    const to = Math.floor(((step + 1) * costs.length) / steps);
    return costs.slice(from, to).reduce((sum, cost) => sum + cost, 0) / (to - from);
  });
}

const x = (share: number): string => (PLOT.left + share * (PLOT.right - PLOT.left)).toFixed(1);
const y = (share: number): string => (PLOT.bottom - share * (PLOT.bottom - PLOT.top)).toFixed(1);

/** The next 1, 2 or 5 with noughts behind it. */
function rounded(value: number): number {
  const ten = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((step) => step * ten >= value) ?? 10) * ten;
}

function grid(top: number, last: number): readonly string[] {
  const rows = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${y(share)}" y2="${y(share)}" stroke="#e5e7eb"/>`,
    `<text x="${PLOT.left - 8}" y="${y(share)}" dy="4" text-anchor="end" fill="#5f6b7a">${number(top * share)}</text>`,
  ]);
  const ends = [
    `<text x="${x(0)}" y="${PLOT.bottom + 20}" fill="#5f6b7a">request 1</text>`,
    `<text x="${x(1)}" y="${PLOT.bottom + 20}" text-anchor="end" fill="#5f6b7a">request ${number(last)}</text>`,
  ];
  return [...rows, ...ends];
}

function line(
  { costs }: Series,
  ink: string,
  { top, dashed }: { readonly top: number; readonly dashed: boolean },
): string {
  const whole = costs.length === 1 ? [...costs, ...costs] : costs;
  const points = whole.map((cost, at) => `${x(at / (whole.length - 1))},${y(cost / top)}`);
  const dash = dashed ? ' stroke-dasharray="5 4"' : "";
  return `<polyline points="${points.join(" ")}" fill="none" stroke="${ink}" stroke-width="2"${dash}/>`;
}

const LABEL = 18;

/** Names at the ends of their lines, moved apart where they would cover each other. */
function labels(series: readonly Series[], top: number): readonly string[] {
  const wanted = series.map(({ name, costs }, at) => ({ name, at, y: Number(y((costs.at(-1) ?? 0) / top)) }));
  let below = Number.POSITIVE_INFINITY;
  return wanted
    .toSorted((a, b) => b.y - a.y)
    .map(({ name, at, y: end }) => {
      below = Math.min(end, below - LABEL);
      return `<text x="${PLOT.right + 8}" y="${below.toFixed(1)}" dy="4" fill="${INK[at % INK.length]}">${escaped(name)}</text>`;
    });
}

const SIGNS: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** A text that can mean nothing but itself; signs that XML does not allow are left out. */
function escaped(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replace(/[&<>"']/g, (sign) => SIGNS[sign] ?? "");
}
