import { sql } from "kysely";
import { canonicalJson, type Digest, digestOf, isKept, type OrgId, type ThreadId } from "../../protocol/index.ts";
import { rolled } from "../digests.ts";
import type { Finding } from "../records.ts";
import { toJson, toManifest, toTools } from "../rows.ts";
import { ONE, owner, plain, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { agentVersion, findThread } from "../threads/threads.ts";
import { eventsOfTurn } from "../turns/handled-events.ts";
import { ledgerOf, ownMessages, requestRows, strayMessages } from "../turns/requests.ts";
import { inOrder, type Tx } from "../tx.ts";
import { BATCH, page, problem, type Step, sentence } from "./chain.ts";
import { ownText, sharedText } from "./pieces.ts";
import { turnLink } from "./turn-link.ts";

/** A link's turn: there, of this link, and with rows that give the link's body again. */
export async function checkTurn(tx: Tx, link: Row<"chain">, id: string): Promise<readonly Finding[]> {
  const where = `turn ${id}`;
  const found = query.selectFrom("turn").selectAll().where("org", "=", link.org).where("link", "=", link.seq);
  const turn = await tx.first(found);
  if (turn?.id !== id) return [problem(where, `link ${link.seq} records it, but no such turn is linked there`)];
  try {
    const read = await turnRows(tx, turn);
    const rows = await turnLink(tx, turn, read);
    const differs = rows === link.body ? [] : differences(link.body, rows);
    const texts = await ownTexts(tx, turn, read.requests);
    return [...differs, ...(await missing(tx, turn, read, texts)), ...(await blanked(tx, turn, read, texts))].map(
      (says) => problem(where, says),
    );
  } catch (thrown) {
    return [problem(where, sentence(thrown))];
  }
}

/** Where the rows differ from the link. */
function differences(linked: string, rows: string): readonly string[] {
  const [was, is] = [flat(toJson(linked)), flat(toJson(rows))];
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter((key) => was.get(key) !== is.get(key));
  return changed.map((key) =>
    key === "record"
      ? "its row, its events, slots, messages, epochs, approvals or outbox are not those that were recorded"
      : `its ${key} is not the recorded one`,
  );
}

/** A nested value as paths: `requests 1 prompt`. */
function flat(value: unknown, path = ""): Map<string, string> {
  if (typeof value !== "object" || value === null) return new Map([[path, JSON.stringify(value)]]);
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.map((item, i) => [String(i + 1), item])
    : Object.entries(value);
  return new Map(entries.flatMap(([key, member]) => [...flat(member, path === "" ? key : `${path} ${key}`)]));
}

/** What each of the checks below looks at, read once. */
type TurnRows = Awaited<ReturnType<typeof turnRows>>;

async function turnRows(tx: Tx, turn: Row<"turn">) {
  const [found, requests, events, messages] = await Promise.all([
    findThread(tx, turn, turn.thread),
    requestRows(tx, turn, turn.id),
    eventsOfTurn(tx, turn, turn.id),
    ownMessages(tx, turn),
  ]);
  return { ...(found && { thread: found }), requests, events, messages };
}

/** The contact's texts that the turn's requests, calls and end name; of one that is not there, why. */
type OwnTexts = Awaited<ReturnType<typeof ownTexts>>;

async function ownTexts(tx: Tx, turn: Row<"turn">, rows: TurnRows["requests"]) {
  const wanted = { ...owner(turn), turn: turn.id };
  const journal = query
    .selectFrom("journal")
    .select("outcome")
    .where((eb) => eb.and(wanted));
  const requests = rows.flatMap(({ tail, reply }) => [tail, reply]);
  const calls = (await tx.all(journal)).map(({ outcome }) => outcome);
  const others = (await inOrder(tx.parts, async ({ named }) => (await named?.(tx, wanted)) ?? [])).flat();
  const digests = new Set([...requests, ...calls, ...others, turn.words].filter((digest) => digest !== null));
  return Promise.all([...digests].map((digest) => ownTextOrWhy(tx, turn, digest)));
}

async function ownTextOrWhy(tx: Tx, turn: Row<"turn">, digest: Digest) {
  try {
    return { digest, text: await ownText(tx, turn, digest) };
  } catch (thrown) {
    return { digest, why: sentence(thrown) };
  }
}

/** Texts that are named and not there, and messages that are there and not recorded. */
async function missing(
  tx: Tx,
  turn: Row<"turn">,
  { requests, events, messages }: TurnRows,
  own: OwnTexts,
): Promise<readonly string[]> {
  const shared = new Set(requests.flatMap(({ marks, parameters }) => [marks, parameters]));
  // Read as none if it was erased, and if it is gone.
  const unread = [...events, ...messages].flatMap(({ piece, text }) => (text === null ? [piece] : []));
  return [
    ...((await agentVersion(tx, turn.org, turn.agent, turn.version)) === undefined
      ? [`the declaration of agent version ${turn.version}, with which it ran, is gone`]
      : []),
    ...(isKept(turn)
      ? events.filter((one) => one.turn !== turn.id).map(({ id }) => `it handled event ${id}, which does not say so`)
      : []),
    ...((await strayMessages(tx, turn)) > 0
      ? ["it has messages beside those of its transcript, which nobody recorded"]
      : []),
    ...(await inOrder(unread, (digest) => absent(() => ownText(tx, turn, digest)))).flat(),
    ...own.flatMap((one) => ("why" in one ? [one.why] : [])),
    ...(await inOrder([...shared], (digest) => absent(() => sharedText(tx, turn.org, digest)))).flat(),
    ...(await inOrder(requests, (row) => absent(() => ledgerOf(tx, row)))).flat(),
  ];
}

/** Texts that are gone though the thread's contact was not erased since, and that were not retracted. */
async function blanked(
  tx: Tx,
  turn: Row<"turn">,
  { thread, events, messages }: TurnRows,
  own: OwnTexts,
): Promise<readonly string[]> {
  if (thread?.erased_link !== null) return [];
  const rows = [...events, ...messages, ...own.map(({ digest, text }) => ({ piece: digest, text }))];
  const gone = rows.flatMap(({ text, piece }) => (text === null ? [piece] : []));
  if (gone.length === 0) return [];
  // Whether a retraction took them is checked with the texts themselves.
  const { org, agent, contact } = turn;
  const lost = await tx.column(plain<Digest>(LOST, org, agent, contact, JSON.stringify(gone)));
  return lost.length > 0 ? ["some of its texts are gone, but its contact was not erased since"] : [];
}

const LOST = `select digest from piece where org = ? and agent = ? and contact = ? and text is null and retracted is null
  and digest in (select value from json_each(?))`;

async function absent(read: () => Promise<unknown>): Promise<readonly string[]> {
  try {
    await read();
    return [];
  } catch (thrown) {
    return [sentence(thrown)];
  }
}

/** An erasure's link: each thread it names is closed by it. */
export async function checkErasure(
  tx: Tx,
  link: Row<"chain">,
  threads: readonly string[],
): Promise<readonly Finding[]> {
  const closed = query
    .selectFrom("thread")
    .select("id")
    .where("org", "=", link.org)
    .where("erased_link", "=", link.seq);
  const found = new Set<string>((await tx.all(closed)).map(({ id }) => id));
  return threads
    .filter((id) => !found.has(id))
    .map((id) => problem(`thread ${id}`, `link ${link.seq} records that it was erased, but it is not closed by it`));
}

/** Turns that ended and that no link records: added from outside, or left behind when the chain was cut. */
export async function checkUnlinkedTurns(tx: Tx, org: OrgId, after: string): Promise<Step<string>> {
  const loose = query
    .selectFrom("turn")
    .leftJoin("chain", (join) => join.onRef("chain.org", "=", "turn.org").onRef("chain.seq", "=", "turn.link"))
    .select(["turn.id", "turn.link"])
    .where("turn.org", "=", org)
    .where("turn.status", "!=", "running")
    .where("chain.seq", "is", null)
    .where(sql<boolean>`turn.id > ${after}`)
    .orderBy("turn.id")
    .limit(BATCH);
  const rows = await tx.all(loose);
  const problems = rows.map(({ id, link }) => problem(`turn ${id}`, `the record has no link ${link ?? "for it"}`));
  return { problems, checked: {}, ...page(rows.at(-1)?.id, rows.length) };
}

/** Threads that claim to be erased: an erasure must have closed them, otherwise their texts were blanked by hand. */
export async function checkErasedThreads(tx: Tx, org: OrgId, after: string): Promise<Step<string>> {
  const closed = query
    .selectFrom("thread")
    .leftJoin("chain", (join) =>
      join.onRef("chain.org", "=", "thread.org").onRef("chain.seq", "=", "thread.erased_link"),
    )
    .select(["thread.id", "chain.body"])
    .where("thread.org", "=", org)
    .where("thread.erased_link", "is not", null)
    .where(sql<boolean>`thread.id > ${after}`)
    .orderBy("thread.id")
    .limit(BATCH);
  const rows = await tx.all(closed);
  const problems = rows
    .filter(({ id, body }) => !body?.includes(JSON.stringify(id)) || !body.startsWith('{"erased"'))
    .map(({ id }) => problem(`thread ${id}`, "it is closed as erased, but no erasure is recorded for it"));
  return { problems, checked: {}, ...page(rows.at(-1)?.id, rows.length) };
}

/** The epoch that was checked last. */
interface EpochCursor {
  readonly agent: string;
  readonly contact: string;
  readonly thread: string;
  readonly n: number;
}

/** Checks the next epoch: its prefix is complete, and its transcript grows as its digests say. One per step, because it may be long. */
export async function checkEpochs(tx: Tx, org: OrgId, after: EpochCursor): Promise<Step<EpochCursor>> {
  const following = query
    .selectFrom("epoch")
    .selectAll()
    .where("org", "=", org)
    .where(sql<boolean>`(agent, contact, thread, n) > (${after.agent}, ${after.contact}, ${after.thread}, ${after.n})`)
    .orderBy("agent")
    .orderBy("contact")
    .orderBy("thread")
    .orderBy("n")
    .limit(ONE);
  const epoch = await tx.first(following);
  if (!epoch) return { problems: [], checked: after.n === 0 ? { epoch: 0 } : {} };
  const where = `epoch ${epoch.n} of thread ${epoch.thread}`;
  const says = [...(await checkPrefix(tx, epoch)), ...(await checkTranscript(tx, epoch))];
  const problems: readonly Finding[] = says.map((one) => problem(where, one));
  return { problems, checked: { epoch: 1 }, next: epoch };
}

async function checkPrefix(tx: Tx, epoch: Row<"epoch">): Promise<readonly string[]> {
  try {
    const manifest = toManifest(await sharedText(tx, epoch.org, epoch.prefix));
    const tools = toTools(await sharedText(tx, epoch.org, manifest.tools));
    for (const { text } of manifest.system) await sharedText(tx, epoch.org, text);
    await sharedText(tx, epoch.org, epoch.entries);
    const same = digestOf(canonicalJson(tools)) === manifest.schemas;
    return same ? [] : ["its tools are not those whose digest it names"];
  } catch (thrown) {
    return [sentence(thrown)];
  }
}

/** How many messages are read at once. */
const PAGE = 500;

async function checkTranscript(tx: Tx, epoch: Row<"epoch">): Promise<readonly string[]> {
  const erased = (await findThread(tx, epoch, epoch.thread))?.erased_link !== null;
  let rolling: Digest | null = null;
  let position = 0;
  for (;;) {
    const rows = await marksFrom(tx, epoch, position);
    for (const row of rows) {
      if (row.position !== position) return [`its message ${position} is gone`];
      if (row.text_of === null || (row.text === null && !erased))
        return [`the text of its message ${position} is gone`];
      rolling = rolled(rolling, row);
      if (rolling !== row.rolling) return [`its message ${position} is not the recorded one`];
      position++;
    }
    if (rows.length < PAGE) break;
  }
  const recorded = await recordedLength(tx, epoch);
  return position === recorded ? [] : [`its number of messages is ${position}, but the record says ${recorded}`];
}

/** Messages without their texts, which are checked as pieces. */
async function marksFrom(tx: Tx, epoch: Row<"epoch">, position: number) {
  const page = query
    .selectFrom("message")
    .leftJoin("piece", (join) =>
      join
        .onRef("piece.org", "=", "message.org")
        .onRef("piece.agent", "=", "message.agent")
        .onRef("piece.contact", "=", "message.contact")
        .onRef("piece.digest", "=", "message.piece"),
    )
    .selectAll("message")
    // Only whether there is a text: the texts are checked as pieces.
    .select([
      "piece.digest as text_of",
      sql<1 | null>`case when piece.text is null and piece.retracted is null then null else 1 end`.as("text"),
    ])
    .where("message.org", "=", epoch.org)
    .where("message.agent", "=", epoch.agent)
    .where("message.contact", "=", epoch.contact)
    .where("message.thread", "=", epoch.thread)
    .where("message.epoch", "=", epoch.n)
    .where("message.position", ">=", position)
    .orderBy("message.position")
    .limit(PAGE);
  return tx.all(page);
}

/** The length of the transcript when the epoch's last turn ended: anything beyond was not written by a turn. */
async function recordedLength(tx: Tx, epoch: Row<"epoch">): Promise<number> {
  const wanted: { readonly thread: ThreadId; readonly epoch: number } = { thread: epoch.thread, epoch: epoch.n };
  const last = query
    .selectFrom("turn")
    .select("length")
    .where((eb) => eb.and({ ...owner(epoch), ...wanted }))
    .orderBy("seq", "desc")
    .limit(ONE);
  return (await tx.first(last))?.length ?? epoch.start;
}
