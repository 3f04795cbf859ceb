import {
  AGREES,
  type AttributedRequest,
  type AttributionTotals,
  CAUSE_SAYS,
  type Caused,
  type CauseTotal,
  isAvoidable,
  type Prewarming,
  type Taken,
} from "../../../app/entry/costs.ts";
import { diagnosisSays, resentSays } from "../../../features/turns/index.ts";
import { count, duration, number, printable, type Style, table } from "../../../print/index.ts";
import {
  type Diagnosis,
  isoSecond,
  type Ledger,
  type ModelRef,
  type TextVersion,
  type ThreadId,
  type TurnId,
} from "../../../protocol/index.ts";

/** A request of the thread, and what happened to it. */
export interface ExplainedRequest extends AttributedRequest {
  readonly turn: TurnId;
  /** Which turn of the thread, and which request of it, counted from 1. */
  readonly seq: number;
  readonly n: number;
  readonly model: ModelRef;
  /** What was changed if it was sent a second time because the provider refused the model's reasoning. */
  readonly refused?: Ledger["refused"];
  /** What the provider says about its cache, and whether the record shows the same; absent if one of them cannot tell. */
  readonly diagnosis?: Diagnosis;
  readonly confirmed?: boolean;
  /** Where its bytes first differ from those that it could have continued. */
  readonly change?: Change;
}

/** The first byte that is another. */
export interface Change {
  readonly section: string;
  /** In the section, counted from 0. */
  readonly byte: number;
  /** Of its layers that an edit changed, the version that is sent now and who wrote it. */
  readonly edits?: readonly (Pick<TextVersion, "layer" | "by" | "byId"> & { readonly version: number })[];
}

/** What `strata cache explain` found. */
export interface Explanation {
  readonly thread: ThreadId;
  readonly models: readonly ModelRef[];
  /** Which of them keep nothing, as far as their cards know. */
  readonly keepNothing: readonly ModelRef[];
  /** Which of them report nothing about their cache: whether it was read is not known. */
  readonly silent: readonly ModelRef[];
  /** Whether dollars are known. */
  readonly priced: boolean;
  readonly requests: readonly ExplainedRequest[];
  /** Requests without a complete answer: what they left in the cache, and what they cost, is unknown. */
  readonly unanswered: number;
  /** For older requests without a recorded prediction, it is computed now. */
  readonly predictedNow: number;
  readonly totals: AttributionTotals;
  /** What writing ahead would have cost, by model. */
  readonly prewarming: readonly (Prewarming & { readonly model: ModelRef })[];
}

/** What a thread's requests cost and why, for a person: the efficiency first, then each request, then each cause. */
export function attributionView(explanation: Explanation, style: Style): readonly string[] {
  const { thread, totals, models } = explanation;
  const what = totals.billed === 0 ? "optimum / prediction" : "optimum / billed";
  return [
    style.bold(`${thread}: efficiency ${totals.efficiency.toFixed(2)} (${what})`),
    `${percent(totals.readShare)} of ${count(totals.tokens, "token")} read from the cache, in ${count(totals.billed || totals.requests, "request")}`,
    style.dim(`by the rules of ${printable(models.join(", "))}; costs in tokens of plain input`),
    ...[...remarks(explanation), ...refusals(explanation)].map(style.yellow),
    "",
    ...requestTable(explanation, style),
    "",
    ...causeTable(explanation, style),
    "",
    ...diagnoses(explanation),
    savings(explanation),
    ...prewarmed(explanation),
  ];
}

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;

/** Notes for reading the figures correctly. */
function remarks({ totals, silent, keepNothing, unanswered, predictedNow }: Explanation): readonly string[] {
  const { billed, requests } = totals;
  const none = silent.length > 0 ? "reported nothing about its cache" : "reported no tokens of its own";
  return [
    ...silent.map(
      (model) =>
        `${printable(model)} does not report what it reads from a cache: whether it read anything, and what that saved, is not known.`,
    ),
    ...(billed === 0 ? [`The model ${none}: what is shown is the prediction only.`] : []),
    ...(billed > 0 && billed < requests
      ? [`For ${count(requests - billed, "request")} the model ${none}: the sums leave them out.`]
      : []),
    ...(unanswered > 0
      ? [`${count(unanswered, "request")} without a complete answer left out: what was billed for it is not known.`]
      : []),
    ...(predictedNow > 0
      ? [
          `For ${count(predictedNow, "request")} no prediction was recorded: what is shown is computed now, from the record.`,
        ]
      : []),
    ...keepNothing.map(
      (model) => `The card of ${printable(model)} knows of no cache; \`models\` in strata.yaml may say more.`,
    ),
  ];
}

const refusals = ({ requests }: Explanation): readonly string[] =>
  requests.flatMap(({ refused, seq, n }) =>
    refused === undefined ? [] : [`Request ${number(seq)}.${n}. ${resentSays(refused)}`],
  );

/** What the provider says about misses, beside what the record shows. */
function diagnoses({ requests }: Explanation): readonly string[] {
  const lines = requests.flatMap((request) => {
    const { diagnosis, confirmed, seq, n } = request;
    if (diagnosis === undefined || (diagnosis.found === "same" && confirmed)) return [];
    const shown = causeOf(request) || "nothing that it could not read";
    const record = confirmed === undefined ? "" : `; the record ${confirmed ? "agrees" : "does not"}: ${shown}`;
    return [`${number(seq)}.${n}: ${printable(diagnosisSays(diagnosis))}${record}`];
  });
  return lines.length === 0 ? [] : [...lines, ""];
}

const REQUEST_COLUMNS = [
  { head: "turn" },
  { head: "at" },
  { head: "read", right: true },
  { head: "write", right: true },
  { head: "input", right: true },
  { head: "billed read", right: true },
  { head: "write", right: true },
  { head: "input", right: true },
  { head: "efficiency", right: true },
  { head: "cost most", least: 20, wraps: true },
] as const;

function requestTable({ requests, totals }: Explanation, style: Style): readonly string[] {
  const rows = requests.map((request) => [
    `${number(request.seq)}.${request.n}`,
    isoSecond(request.at),
    ...tokenCells(request.predicted),
    ...(request.billed === undefined ? ["", "", ""] : tokenCells(request.billed)),
    request.efficiency.toFixed(2),
    causeOf(request),
  ]);
  return [
    style.dim(`predicted read, write and input${totals.billed === 0 ? "" : ", then billed"}`),
    ...table(REQUEST_COLUMNS, rows, style),
  ];
}

const tokenCells = ({ read, write, input }: Taken): readonly string[] => [number(read), number(write), number(input)];

/** The most expensive avoidable cause; if there is none, the largest share of the request. */
function causeOf(request: ExplainedRequest): string {
  const [cause] = request.causes;
  if (cause === undefined) return "";
  if (!isAvoidable(cause.cause)) return request.base === undefined ? "first" : "";
  // Providers count differently from Strata: such a remainder appears in the sums only.
  if (cause.cause === "unknown" && (request.agreement ?? 0) >= AGREES) return "";
  return `${cause.cause}, ${count(cause.tokens, "token")}${whereOf(cause, request)}`;
}

/** Causes for which the place where they begin is shown. */
const CHANGES: readonly Caused["cause"][] = ["trim", "forgotten", "refused", "prefix edit", "tools"];

function whereOf({ cause, begins }: Caused, { base, change }: ExplainedRequest): string {
  if (cause === "cold") return base === undefined ? "" : `: ${duration(base.gap)} after the request that it continues`;
  if (!CHANGES.includes(cause)) return "";
  const section = printable(change?.section ?? begins.section);
  const byte = change === undefined ? "" : `, byte ${number(change.byte)}`;
  const edits = change?.edits?.map(
    ({ layer, version, by, byId }) =>
      `${change.section === layer ? "" : `${layer}: `}version ${number(version)} by ${by}${byId === undefined ? "" : ` ${byId}`}`,
  );
  const who = edits === undefined || edits.length === 0 ? "" : ` (${printable(edits.join(", "))})`;
  return `: begins in ${section}, block ${number(begins.block + 1)}${byte}${who}`;
}

const CAUSE_COLUMNS = [
  { head: "cause" },
  { head: "from" },
  { head: "requests", right: true },
  { head: "tokens", right: true },
  { head: "cost", right: true },
  { head: "dollars", right: true },
  { head: "", least: 20, wraps: true },
] as const;

function causeTable({ totals, priced }: Explanation, style: Style): readonly string[] {
  const money = (dollars: number): string =>
    priced ? `${dollars < 0 ? "-" : ""}$${Math.abs(dollars).toFixed(4)}` : "";
  const row = ({ cause, section, requests, tokens, cost, dollars }: CauseTotal): readonly string[] => [
    cause,
    printable(section),
    number(requests),
    number(tokens),
    number(Math.round(cost)),
    money(dollars),
    CAUSE_SAYS[cause],
  ];
  const { tokens, cost, dollars } = totals.avoidable;
  const sum = ["avoidable", "", "", number(tokens), number(Math.round(cost)), money(dollars), "in all"];
  const [avoidable, rest] = [true, false].map((is) => totals.causes.filter(({ cause }) => isAvoidable(cause) === is));
  const rows = [...(avoidable ?? []).map(row), sum, ...(rest ?? []).map(row)];
  return [style.dim("what was paid above the optimum, and why"), ...table(CAUSE_COLUMNS, rows, style)];
}

/** Only what prediction and bill agree on is claimed. */
function savings({ totals, priced }: Explanation): string {
  const { saved, agreement, causes } = totals;
  if (agreement === undefined) return "Savings are not shown: there is no bill to compare the prediction with.";
  const agree = `prediction and bill agree to ${agreement.toFixed(2)}`;
  if (saved === undefined) {
    const most = causes.find(({ cause }) => isAvoidable(cause))?.cause;
    const because = most === undefined ? "" : ` Most of it: ${most}.`;
    return `Savings are not shown: ${agree}, and ${AGREES} is required.${because}`;
  }
  const dollars = priced ? ` ($${Math.abs(saved.dollars).toFixed(4)})` : "";
  const how = saved.cost < 0 ? "Dearer" : "Saved";
  return `${how} against no caching: ${percent(Math.abs(saved.share))}${dollars}; ${agree}.`;
}

/** Strata writes nothing ahead: the line says what that would have cost. */
const prewarmed = ({ prewarming }: Explanation): readonly string[] =>
  prewarming.map(({ starts, tokens, cost, unused }) => {
    const before = starts === 1 ? "the cold start" : `the ${number(starts)} cold starts`;
    return `Prewarming before ${before} (${count(tokens, "token")} written) would have saved time alone, and cost ${number(Math.round(cost))} more; ${number(Math.round(unused))} if no request had followed in time.`;
  });

/** The same for programs. */
export function attributionJson({ requests, ...rest }: Explanation) {
  return { ...rest, requests: requests.map((request) => ({ ...request, at: new Date(request.at).toISOString() })) };
}
