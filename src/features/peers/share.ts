/** How much of its caller's conversation a peer sees with a question: nothing, unless the edge says so. */
import {
  canonicalJson,
  type EventPart,
  isKept,
  isMedia,
  lowestTrust,
  partText,
  type StoredEvent,
  TRUSTS,
  type Trust,
  type Untrusted,
  untrusted,
} from "../../protocol/index.ts";
import { senderOf, type TurnRecord } from "../../store/index.ts";
import type { RunningTurn } from "../../turn/index.ts";
import type { Share } from "./share-policy.ts";
import { SHARED_SUMMARY, sharedHead } from "./wording.ts";

/** A part of the conversation, in its frame, with the lowest trust of all its messages. */
export interface Shared {
  readonly part: Extract<EventPart, { type: "text" }>;
  readonly trust: Trust;
}

/** Something that was said in the conversation: a line for the peer. */
interface Said {
  readonly line: string;
  readonly trust: Trust;
}

/** Turns that are read at a time, and in all. */
const PAGE = 50;
const MOST_TURNS = 1_000;

/**
 * The part of the conversation that the edge's `share` asks for; undefined if it asks for nothing, or nothing was said.
 * @param tokens the most it may have: older messages are omitted, and the text says so
 */
export async function sharedWith(
  turn: RunningTurn,
  share: Share | undefined,
  tokens: number,
): Promise<Shared | undefined> {
  if (share === undefined || share === "none" || share === "fork") return undefined;
  const now = saidBy(turn, turn.lease.claim.events);
  if (share === "summary") return ofSummary(turn, now, tokens);
  const most = share === "full" ? Number.POSITIVE_INFINITY : share.last;
  const { said, isCut } = await newestSaid(turn, now, { most, tokens });
  return said.length === 0 ? undefined : sharedOf(sharedHead(isCut), said);
}

function sharedOf(head: string, said: readonly Said[]): Shared {
  const { text, trust } = saidTogether([{ line: head, trust: "agent" }, ...said]);
  return { part: { type: "text", text }, trust };
}

const saidTogether = (said: readonly Said[]): { readonly text: Untrusted; readonly trust: Trust } => ({
  text: untrusted(said.map(({ line }) => line).join("\n")),
  trust: lowestTrust(["agent", ...said.map(({ trust }) => trust)]),
});

/** The model's summary of what was said before this run, and this turn's messages verbatim. */
async function ofSummary(turn: RunningTurn, now: readonly Said[], tokens: number): Promise<Shared | undefined> {
  const room = { most: Number.POSITIVE_INFINITY, tokens: Math.floor(turn.setup.agent.budgets.total / 2) };
  const earlier = await newestSaid(turn, [], room, ({ run }) => run !== turn.lease.claim.continues?.id);
  const summary = earlier.said.length === 0 ? undefined : await turn.sumUp(saidTogether(earlier.said));
  const { said, isCut } = newestThatFit(now, { most: now.length, tokens, count: turn.setup.count });
  if (summary === undefined) return said.length === 0 ? undefined : sharedOf(sharedHead(isCut), said);
  const before = { line: canonicalJson({ summary: summary.text }), trust: summary.trust };
  return sharedOf(SHARED_SUMMARY, [before, ...said]);
}

interface Bounds {
  readonly most: number;
  readonly tokens: number;
}

/** The thread's newest messages, oldest first. */
async function newestSaid(
  turn: RunningTurn,
  now: readonly Said[],
  bounds: Bounds,
  isWanted: (turn: TurnRecord) => boolean = () => true,
) {
  const { parts, lease, setup } = turn;
  const { scope, id } = lease.claim.thread;
  const { turns: count } = lease.claim.thread;
  let said = now;
  for (let read = 0; read < Math.min(count, MOST_TURNS); read += PAGE) {
    const bounded = newestThatFit(said, { ...bounds, count: setup.count });
    if (bounded.isCut || said.length >= bounds.most) break;
    const first = Math.max(0, count - read - PAGE);
    const page = await parts.store.turns(scope, id, { limit: count - read - first, after: { at: first, id: "" } });
    said = [...page.filter((one) => isRecorded(one) && isWanted(one)).flatMap((one) => saidInTurn(turn, one)), ...said];
  }
  return newestThatFit(said, { ...bounds, count: setup.count });
}

/** The running turn is in the record, without its end. */
const isRecorded = ({ end }: TurnRecord): boolean => end !== undefined && isKept(end);

function saidInTurn(turn: RunningTurn, { events, end, requests, steps, endedAt }: TurnRecord): readonly Said[] {
  const said = saidBy(turn, events);
  if (end === undefined || !isKept(end) || end.reply === null || end.reply.trim() === "") return said;
  const taints = [...requests.map(({ taint }) => taint), ...(steps?.answered ? [steps.answered.taint] : [])];
  const trust = lowestTrust(["agent", ...events.map((event) => event.trust), ...taints]);
  return [...said, { line: transcriptLine(turn.setup.agent.name, endedAt ?? 0, end.reply), trust }];
}

/**
 * Other participants' messages. Results of calls are not part of the conversation, and neither are the platform's messages, or what a peer
 * was itself shown (law 12).
 */
function saidBy({ lease, parts }: RunningTurn, events: readonly StoredEvent[]): readonly Said[] {
  const { thread } = lease.claim;
  return events.flatMap((event): readonly Said[] => {
    const { content, trust, at, answers } = event;
    if (answers !== undefined || trust === "platform") return [];
    const payloads = content.filter((part) => part.type === "payload");
    const words = (payloads.length > 0 ? payloads : content).flatMap((part) => (isMedia(part) ? [] : [partText(part)]));
    const { role, name } = senderOf(event, { contact: thread.scope.contact, ...thread });
    const from = role === "contact" && isReserved(name) ? `contact ${name}` : name;
    return words.length === 0 ? [] : [{ line: transcriptLine(from, at, words.join("\n")), trust }];
  });

  /** A contact may have the name of an agent or of a role. */
  function isReserved(contactName: string): boolean {
    return TRUSTS.some((one) => one === contactName) || parts.agents.all.some(({ name }) => name === contactName);
  }
}

const transcriptLine = (from: string, at: number, text: string): string =>
  canonicalJson({ from, text, time: new Date(at).toISOString() });

/** The newest that fit. */
function newestThatFit(
  said: readonly Said[],
  { most, tokens, count }: Bounds & { readonly count: RunningTurn["setup"]["count"] },
): { readonly said: readonly Said[]; readonly isCut: boolean } {
  const kept: Said[] = [];
  let used = 0;
  for (const one of said.toReversed()) {
    if (kept.length >= most) break;
    used += count(one.line);
    if (used > tokens) return { said: kept.reverse(), isCut: true };
    kept.push(one);
  }
  return { said: kept.reverse(), isCut: false };
}
