import { sql } from "kysely";
import { canonicalJson, type Digest, digestOf, type OrgId, type ThreadId } from "../../protocol/index.ts";
import { rolled } from "../digests.ts";
import type { Finding } from "../records.ts";
import { toManifest, toTools } from "../rows.ts";
import { owner } from "../scope.ts";
import { ONE, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { findThread } from "../threads/threads.ts";
import type { Tx } from "../tx.ts";
import { sharedText } from "./pieces.ts";
import { problem, type Step, sentence } from "./walk.ts";

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
    .select(["piece.digest as text_of", sql<1 | null>`case when piece.text is null then null else 1 end`.as("text")])
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
