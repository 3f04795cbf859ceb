import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import BetterSqlite3 from "better-sqlite3";
import { z } from "zod";
import { allParts } from "../../app/entry/features.ts";
import { memoryTools } from "../../features/memories/index.ts";
import { MESSAGE_API } from "../../features/messages/index.ts";
import {
  type ContactScope,
  type NewEvent,
  type Request,
  type StoredEvent,
  type ThreadId,
  type TurnId,
  toolName,
  untrusted,
} from "../../protocol/index.ts";
import { chanceOf, newFolder, type Outage, problems, testDisk } from "../../store/index.contract.ts";
import { type ChainHead, openSqlite, type Thread } from "../../store/index.ts";
import { message, OPERATOR, ORG, sampleAgent, testRuntime } from "../index.contract.ts";
import { defineTool, toolset } from "../tools/index.ts";

/** Contacts of one life, and the messages of each. */
const CONTACTS = 4;
const MESSAGES = 10;

/** What an outside observer knows: it must still be there after any power cut. */
type Told =
  | { readonly what: "accepted"; readonly scope: ContactScope; readonly thread: ThreadId; readonly event: string }
  | { readonly what: "acted"; readonly turn: TurnId; readonly bell: string }
  | { readonly what: "replied"; readonly turn: TurnId; readonly text: string }
  | { readonly what: "read"; readonly head: ChainHead };

interface Cut {
  readonly outage: Outage;
  readonly told: readonly Told[];
}

/**
 * Concurrent conversations in one program, with calls that act outside, over a disk that repeatedly loses power. Returns how many power
 * cuts there were and how much was reported before them.
 * @throws Error if something that was sent is not there afterwards, or the record does not verify
 */
export async function surviveOutages(
  seed: number,
  { lies = false, most = 6 }: { readonly lies?: boolean; readonly most?: number } = {},
): Promise<{ readonly cuts: number; readonly told: number }> {
  const chance = chanceOf(seed);
  const folder = newFolder();
  const file = join(folder, "record.sqlite");
  const disk = testDisk(file, chance, lies);
  const parts = await allParts();
  const store = await openSqlite(file, { parts, sync: disk.sync });
  disk.begin();
  const told: Told[] = [];
  const cuts: Cut[] = [];
  const tell = (one: Told): void => {
    told.push(one);
    if (chance(20) === 0 && cuts.length < most) cuts.push({ outage: disk.cut(), told: [...told] });
  };
  const ring = defineTool({
    name: "ring",
    description: "Rings a bell.",
    input: z.strictObject({ bell: z.string() }),
    effect: "external",
    trust: "contact",
    run: async ({ bell }, { turn }) => {
      tell({ what: "acted", turn, bell });
      return { text: untrusted(`rang ${bell}`), failed: false };
    },
  });
  let bells = 0;
  const model = (request: Request) =>
    JSON.stringify(request.messages.slice(-2)).includes("rang bell")
      ? `Answer ${++bells} ${"and so on ".repeat(chance(400))}`
      : { parts: [{ call: "ring", input: { bell: `bell ${++bells}` } }] };
  const { runtime, open, time } = await testRuntime(
    Array.from({ length: CONTACTS * MESSAGES * 3 }, () => model),
    {
      store,
      agent: sampleAgent({ tools: [toolName("ring")] }),
      parts: { tools: toolset([...memoryTools(store), ring]), random: randomBytes },
    },
  );
  async function* posted(thread: Thread, said: NewEvent, accepted: (event: StoredEvent) => void) {
    for (const event of await runtime.post(OPERATOR, thread, [said])) accepted(event);
    yield* runtime.run(OPERATOR, thread);
  }
  // Its message and its claim are one commit.
  const sent = ({ id, scope: { agent } }: Thread, { content }: NewEvent) =>
    runtime
      .use(MESSAGE_API)
      .sendMessage(OPERATOR, { to: { thread: id, agent }, content, kind: "message", follow: "turn" });
  await Promise.all(
    Array.from({ length: CONTACTS }, async (_, n) => {
      const thread = await open(`contact-${n}`);
      for (let i = 0; i < MESSAGES; i++) {
        for (let turns = chance(5); turns > 0; turns--) await setImmediate();
        const said = message(`Message ${i} of ${n}`, time.at);
        const accepted = ({ id: event }: StoredEvent): void =>
          tell({ what: "accepted", scope: thread.scope, thread: thread.id, event });
        for await (const event of chance(2) === 0 ? posted(thread, said, accepted) : sent(thread, said)) {
          if (event.type === "received") accepted(event.event);
          if (event.type === "done") tell({ what: "replied", turn: event.turn, text: event.text });
          if (event.type === "failed") throw event.error;
        }
        const head = await store.head(ORG);
        await runtime.onDisk();
        tell({ what: "read", head });
      }
    }),
  );
  cuts.push({ outage: disk.cut(), told });
  await store.close();
  for (const [n, { outage, told: before }] of cuts.entries()) {
    const found = outage.into(join(folder, `after-${n}`));
    await checkAfter(found, before);
    rmSync(join(folder, `after-${n}`), { recursive: true });
  }
  rmSync(folder, { recursive: true, force: true });
  return { cuts: cuts.length, told: told.length };
}

async function checkAfter(file: string, told: readonly Told[]): Promise<void> {
  const store = await openSqlite(file, { parts: await allParts() });
  const db = new BetterSqlite3(file);
  try {
    const has = (sql: string, ...values: readonly unknown[]): boolean => db.prepare(sql).get(...values) !== undefined;
    const heads = told.flatMap((one) => (one.what === "read" ? [one.head] : []));
    const found = await problems(store, ORG, heads.at(-1));
    if (found.length > 0) throw new Error(`the record does not verify: ${found.join("; ")}`);
    for (const one of told) {
      const isThere =
        one.what === "accepted"
          ? has("select 1 from event where id = ?", one.event)
          : one.what === "acted"
            ? has("select 1 from journal where turn = ?", one.turn)
            : one.what === "replied"
              ? (await store.head(ORG)).seq > 0 && has("select 1 from turn where id = ? and status = 'done'", one.turn)
              : (await store.head(ORG)).seq >= one.head.seq;
      if (!isThere) throw new Error(`lost: ${JSON.stringify(one).slice(0, 200)}`);
    }
  } finally {
    db.close();
    await store.close();
  }
}
