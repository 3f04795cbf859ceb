import { count, dollars, duration, number, oneLine, printable, type Style, shortVersion } from "../../print/index.ts";
import {
  asStrataError,
  type Diagnosis,
  isKept,
  isMedia,
  isoSecond,
  isReserved,
  never,
  partText,
  type Reply,
  type Request,
  readFrames,
  type StoredEvent,
  type TurnEdit,
  textName,
} from "../../protocol/index.ts";
import { COMPLETE } from "../../turn/index.ts";
import { agreementOf } from "../../wire/index.ts";
import { COLUMNS, type Columns, cellsOf } from "../column.ts";
import type { Call, OperationContext, TurnRecord } from "../operation.ts";
import { PEER } from "../subagents/index.ts";
import { ledgerTable } from "./ledger.ts";

/** Who looks, and where. */
type Looking = Pick<OperationContext, "runtime"> & Pick<Call<"explain">, "actor">;

/** A turn as lines for a person: how it ended, what came in, what each request sent, what was called and said. */
export async function turnView(looking: Looking, turn: TurnRecord, style: Style): Promise<readonly string[]> {
  const requests = await Promise.all(
    turn.requests.map((request) => requestView(looking, { turn, sent: request }, style)),
  );
  const parts = await Promise.all((turn.senders ?? []).map((one) => looking.runtime.turn(looking.actor, one.turn)));
  return [
    ...head(turn, style),
    ...columnLines(looking.runtime.use(COLUMNS).turns, turn),
    ...(await handledIn(looking, turn)),
    ...(await askedIn(looking, turn)),
    ...(await changedSince(looking, turn)),
    ...(turn.senders === undefined ? events(turn, style) : sendersEvents(parts, style)),
    ...requests.flat(),
    ...edits(turn, style),
    ...ending(turn, parts, style),
  ];
}

/** The fields that features add, if the answer has them. */
const columnLines = (columns: Columns["turns"], turn: TurnRecord): readonly string[] =>
  cellsOf(columns, turn).flatMap((cell, n) =>
    cell === "" ? [] : [`${columns[n]?.name.padEnd(8)} ${printable(cell)}`],
  );

/** Of one of several senders: the turn that handled its messages. */
async function handledIn({ runtime, actor }: Looking, { batch }: TurnRecord): Promise<readonly string[]> {
  if (batch === undefined) return [];
  // Erasing another sender takes that turn's texts, and not which it was.
  const [handling] = await runtime.turns(actor, batch).catch(() => []);
  return [`batch    handled with messages of other senders: \`strata explain ${handling?.id ?? batch}\``];
}

/** At most this many threads of a contact are searched for a turn's questions to other agents. */
const LOOKED_AT = 1_000;

/** Whose call ran the turn, and the turns that its own calls ran. */
async function askedIn(
  { runtime, actor }: Looking,
  { id, thread, scope, totals }: TurnRecord,
): Promise<readonly string[]> {
  const { channel, key } = await runtime.thread(actor, thread);
  const by =
    channel === PEER.name
      ? [`asked by a call of turn ${key.split(" ")[0]}: \`strata explain ${key.split(" ")[0]}\``]
      : [];
  if (totals === undefined || totals.toolCalls === 0) return by;
  const threads = await runtime.threads(actor, scope, LOOKED_AT);
  const asked = threads.filter((one) => one.channel === PEER.name && one.key.startsWith(`${id} `));
  const turns = await Promise.all(asked.reverse().map((one) => runtime.turns(actor, one.id)));
  return [...by, ...turns.flat().map((one) => `asked    turn ${one.id}, ${endOf(one)}: \`strata explain ${one.id}\``)];
}

/** Says that a handler was changed since, and its conversation keeps the old one: this is where its author looks after correcting it. */
async function changedSince(
  { runtime, actor }: Looking,
  { scope, version, thread }: TurnRecord,
): Promise<readonly string[]> {
  const declared = runtime.agents(actor).find(({ name }) => name === scope.agent);
  if (declared?.handler === undefined || declared.version === version) return [];
  const changes = await runtime.changes(actor, thread).catch(() => []);
  if (changes.length === 0) return [];
  return [
    `changed  since then, and this conversation keeps the old version: ${changes.join("; ")}; \`strata thread migrate ${thread}\` moves it, and a new conversation has the new one`,
  ];
}

/** What several senders wrote, each with what happened to it. */
function sendersEvents(parts: readonly TurnRecord[], style: Style): readonly string[] {
  const received = parts.reduce((sum, { events }) => sum + events.length, 0);
  return [
    "",
    style.bold(`received (${number(received)}, of ${count(parts.length, "sender")})`),
    ...parts.flatMap((part) => [
      `${printable(part.scope.contact)} · ${part.id} · ${answeredOf(part)}`,
      ...part.events.map((event) => `  ${eventLine(event)}`),
    ]),
  ];
}

/** Whether a sender got a reply. */
function answeredOf(turn: TurnRecord): string {
  const { end, status } = turn;
  if (end === undefined) return status;
  if (!isKept(end)) return `${endOf(turn)}, keeps waiting`;
  if (end.status === "waiting") return endOf(turn);
  return end.reply === null ? NOT_ANSWERED : "answered";
}

const NOT_ANSWERED = "unanswered";

function head(turn: TurnRecord, style: Style): readonly string[] {
  const { totals, link } = turn;
  const cost = totals === undefined || totals.dollars === 0 ? "" : `, ${dollars(totals.dollars)}`;
  return [
    `${style.bold(turn.id)} · turn ${number(turn.seq)} of ${turn.thread} · ${endOf(turn)}`,
    `agent    ${turn.scope.agent}, version ${shortVersion(turn.version)}, with ${printable(turn.scope.contact)}`,
    ...(turn.model === undefined || turn.model === "none"
      ? []
      : [`model    ${turn.model} (in the request format of ${turn.wire ?? turn.model}), mode ${turn.mode ?? "full"}`]),
    `began    ${isoSecond(turn.startedAt)}${turn.attempt > 1 ? `, attempt ${number(turn.attempt)}` : ""}`,
    ...(totals === undefined
      ? []
      : [
          `took     ${count(totals.modelCalls, "request")}, ${count(totals.toolCalls, "tool call")}, ${duration(totals.milliseconds)}${cost}`,
        ]),
    ...stepLines(turn.steps),
    ...(link?.hash == null ? [] : [`record   link ${number(link.seq)}, ${link.hash}`]),
  ];
}

/** What answered in place of the model, and what was done with the reply before it was sent. */
function stepLines({ answered, outgoing = [] }: NonNullable<TurnRecord["steps"]> = {}): readonly string[] {
  return [
    ...(answered === undefined
      ? []
      : [
          `${answered.failed ? "run by  " : "answered by"} ${answered.by.map((one) => `the ${one}`).join(" and ")}${answered.failed ? ", which failed" : ", in place of the model"}`,
        ]),
    ...(answered?.interrupted
      ? [
          `the ${answered.by.at(-1)} was interrupted in an earlier try, and its effect is unknown: it was not asked again`,
        ]
      : []),
    ...outgoing.map(
      ({ by, did, because }) =>
        `outgoing reply ${did} by ${by}${because === undefined ? "" : `: ${printable(because)}`}`,
    ),
  ];
}

/** Why the reply was not sent itself, as with a draft; absent where nothing withheld it. */
const withheldBecause = (steps: TurnRecord["steps"]): string | undefined =>
  steps?.outgoing?.find(({ did }) => did === "withheld")?.because;

/** How a turn ended, in a few words. */
export function endOf({ status, end, scope, steps }: Pick<TurnRecord, "status" | "end" | "scope" | "steps">): string {
  if (end === undefined) return status;
  if (!isKept(end)) return `failed: ${end.code}`;
  if (end.status === "waiting") return `waiting for ${end.calls.map(({ tool }) => tool).join(", ")}`;
  // An agent's own turn has no sender, and in a turn of several, each sender's part ends separately.
  const isLeft = end.reply === null && end.stop !== "recording ended" && !isReserved(scope.contact);
  if (!isLeft) return `done: ${end.stop}`;
  if (withheldBecause(steps) !== undefined) return "done: reply withheld";
  return end.stop === "answered" ? `done: ${NOT_ANSWERED}` : `done: ${end.stop}, ${NOT_ANSWERED}`;
}

function events({ events: received }: TurnRecord, style: Style): readonly string[] {
  return ["", style.bold(`received (${number(received.length)})`), ...received.map(eventLine)];
}

function eventLine({ id, kind, trust, at, name, content }: StoredEvent): string {
  const text = content.map((part) => (isMedia(part) ? `(${part.type} ${part.mediaType})` : partText(part))).join(" ");
  const who = name === undefined ? "" : ` ${oneLine(name, 40)}:`;
  return `${id} · ${kind} · ${trust} · ${isoSecond(at)} ·${who} ${oneLine(text, 200)}`;
}

type RecordedRequest = TurnRecord["requests"][number];

async function requestView(
  looking: Looking,
  { turn, sent }: { readonly turn: TurnRecord; readonly sent: RecordedRequest },
  style: Style,
): Promise<readonly string[]> {
  const { ledger, taint, milliseconds, n } = sent;
  const cut = ledger.epoch.cut === 0 ? "" : `, ${count(ledger.epoch.cut, "message")} of the thread not shown any more`;
  const opened = ledger.epoch.opened ? `, opened here (${ledger.epoch.reason})` : "";
  const title = `request ${number(n)} · epoch ${number(ledger.epoch.n)}${opened}${cut} · taint ${taint} · ${duration(milliseconds)}`;
  const rebuilt = await rebuild(looking, turn, n);
  return [
    "",
    style.bold(title),
    ...(ledger.refused === undefined ? [] : [style.yellow(resentSays(ledger.refused))]),
    ...ledgerTable(ledger, style, rebuilt.request),
    ...cuttingLines(ledger),
    ...parameterLines(sent),
    ...askedLines(rebuilt.request),
    ...(rebuilt.problem === undefined ? [] : [style.yellow(rebuilt.problem)]),
    ...answerLines(sent),
    ...predictionLines(sent, turn.model === turn.wire),
    ...diagnosisLines(sent),
  ];
}

/** The prediction before the call, and how far the bill agrees. A rehearsal or a recording makes its figures up. */
function predictionLines({ prediction, reply }: RecordedRequest, isBilled: boolean): readonly string[] {
  if (prediction === undefined) return [];
  const { read, write, input } = prediction;
  const predicted = `→ predicted: ${number(read)} read from the cache, ${number(write)} written, ${number(input)} neither`;
  if (!isBilled || reply === null || reply.estimated !== undefined) return [predicted];
  if (reply.usage.cacheUnknown)
    return [`${predicted}; the provider reports nothing about its cache, so nothing is known of what it read`];
  const agreement = agreementOf(prediction, reply.usage);
  return [agreement === undefined ? predicted : `${predicted}; the bill agrees to ${agreement.toFixed(2)}`];
}

/** What the provider found when it compared the request with the thread's newest answer. */
function diagnosisLines({ reply }: RecordedRequest): readonly string[] {
  return reply?.diagnosis === undefined ? [] : [`→ ${diagnosisSays(reply.diagnosis)}`];
}

/** A provider's report on its cache, as a sentence without its end. */
export function diagnosisSays({ found, reason = "", missed }: Diagnosis): string {
  switch (found) {
    case "same":
      return "the provider says: nothing that was sent before has changed";
    case "changed":
      return `the provider says: ${reason}${missed === undefined ? "" : `, ${count(missed, "token")} not read`}`;
    case "pending":
      return "the provider did not know yet why its cache missed";
    case "forgotten":
      return "the provider no longer knows the request before, so it cannot say why its cache missed";
    case "unavailable":
      return "the provider cannot say why its cache missed";
    case "refused":
      return "the provider refuses the question why its cache missed; the request was sent again without it";
    default:
      return never(found);
  }
}

/** Why the conversation was cut, or was not although that cost little just then. */
function cuttingLines({ cutting, epoch }: RecordedRequest["ledger"]): readonly string[] {
  if (epoch.opened && epoch.reason === "resized")
    return [
      "The layers were cut further, because they left too little room for the conversation; nothing of it was cut.",
    ];
  if (cutting?.because === undefined) return [];
  const { at, keep, each, because } = cutting;
  const figures = `it is cut at ${count(at, "token")}, so that ${number(keep)} stay, and a turn adds ${number(each)}`;
  return [`The conversation was ${epoch.opened ? "" : "not "}cut: ${because}; ${figures}.`];
}

/** What a handler asked by `complete`: the conversation does not hold it. */
const askedLines = ({ tail = [] }: Partial<Request> = {}): readonly string[] =>
  tail.flatMap(({ layer, text }) =>
    layer === COMPLETE ? readFrames(text).map((frame) => `← asked: ${oneLine(frame.text, 160)}`) : [],
  );

/** The sampling parameters, if the agent or the call set them. */
function parameterLines({ parameters: { temperature, topP, tools } }: RecordedRequest): readonly string[] {
  return [
    ...(tools === undefined ? [] : [`only these tools might be called: ${tools.join(", ") || "none"}`]),
    ...(temperature === undefined ? [] : [`sent with the temperature ${temperature}`]),
    ...(topP === undefined ? [] : [`sent with topP ${topP}`]),
  ];
}

/** Why a request was sent a second time. */
export const resentSays = ({ changed }: NonNullable<RecordedRequest["ledger"]["refused"]>): string =>
  `Sent again without the model's earlier reasoning, which the provider rejected. This is a bug in Strata, please report it: compared with the record, ${changed === null ? "nothing" : printable(changed)} is changed.`;

interface Rebuilt {
  readonly request?: Request;
  readonly problem?: string;
}

/** The request itself shows its breakpoints. If its texts were erased, the ledger is still shown. */
async function rebuild({ runtime, actor }: Looking, turn: TurnRecord, n: number): Promise<Rebuilt> {
  try {
    return { request: (await runtime.rebuilt(actor, turn.id, n)).request };
  } catch (thrown) {
    const { code, message } = asStrataError(thrown);
    if (code !== "record_broken") throw thrown;
    return { problem: `This request cannot be rebuilt: ${printable(message)}` };
  }
}

function answerLines({ reply }: RecordedRequest): readonly string[] {
  if (reply === null) return ["→ no complete answer came"];
  const { input, cacheRead, cacheWrite, cacheUnknown, output } = reply.usage;
  const cache = cacheUnknown ? "" : ` (${number(cacheRead)} from the cache, ${number(cacheWrite)} into it)`;
  const reported = input + output === 0 ? "" : ` · ${number(input)} in${cache}, ${number(output)} out, as reported`;
  const usage = `${reply.capped ? ", by Strata, for it went on past all that was asked for" : ""}${reported}${estimatedSays(reply)}`;
  const parts = reply.parts.flatMap((part) => {
    if (part.type === "call") return [`→ calls ${part.tool} ${oneLine(JSON.stringify(part.input), 160)}`];
    return part.type === "text" ? [`→ says ${oneLine(part.text, 160)}`] : [];
  });
  return [...parts, `→ ended: ${reply.finish}${usage}`];
}

/** That a reply is billed by another usage than was reported. */
function estimatedSays({ estimated, capped }: Reply): string {
  if (estimated === undefined) return "";
  const why = capped ? "nothing was reported" : "which cannot be";
  return `, ${why}: billed as ${number(estimated.input)} in, ${number(estimated.output)} out, as Strata counts them`;
}

function edits({ edits: written = [] }: TurnRecord, style: Style): readonly string[] {
  if (written.length === 0) return [];
  return [
    "",
    style.bold("edited"),
    ...written.map((one) => `version ${one.n} of ${textName(one)} ${BECAME[one.became]}`),
  ];
}

const BECAME: Readonly<Record<TurnEdit["became"], string>> = {
  kept: "became active",
  proposed: "was proposed to an operator",
  overtaken: "was proposed to an operator, because another text was changed before the turn ended",
};

function ending(
  { end, batch, scope, steps }: TurnRecord,
  parts: readonly TurnRecord[],
  style: Style,
): readonly string[] {
  if (end === undefined) return [];
  if (!isKept(end)) return ["", style.bold("failed"), `${end.code}: ${printable(end.message)}`];
  const isToNobody = parts.filter(({ events }) => events.length > 0).length > 1;
  const withheld = withheldBecause(steps);
  const unsaid = withheld === undefined ? NOT_ANSWERED : `(withheld: ${printable(withheld)})`;
  const nothing = batch === undefined && isReserved(scope.contact) ? "(nothing)" : unsaid;
  const head = isToNobody ? "said to none of the senders" : "reply";
  return ["", style.bold(head), end.reply === null ? nothing : printable(end.reply)];
}
