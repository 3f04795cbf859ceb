import { type ActorId, canonicalJson, type DoneBy, type Role } from "../../protocol/index.ts";
import {
  type AgentOwner,
  append,
  linkedTable,
  newColumn,
  newTable,
  type StorePart,
  type Tx,
  tables,
  toDoneBy,
} from "../../store/index.ts";

/** A schedule was looked at for the first time, paused, or resumed. */
interface PauseTable extends AgentOwner {
  readonly schedule: string;
  readonly n: number;
  readonly paused: number;
  readonly by: Role;
  readonly by_id: ActorId | null;
  readonly at: number;
  readonly link: number;
}

const { query, insert } = tables<{ schedule_pause: PauseTable }>();

/** Whether a schedule is paused, since when and by whom. Of one that was never paused: when its runs began to count. */
export interface SchedulePause extends DoneBy {
  readonly schedule: string;
  readonly isPaused: boolean;
  readonly at: number;
}

/** Which schedules of an agent are paused: every change is kept, and linked. It contains no contact's words. */
export const SCHEDULE_STORE = {
  name: "schedules",
  tables: {
    schedule_pause: { linked: "agent schedule n paused by by_id at", derived: "org link", since: "by_id" },
  },
  migrations: [
    {
      number: 19,
      name: "schedule pauses",
      statements: [
        newTable("schedule_pause", {
          columns: `org text!, agent text!, schedule text!, n int!, paused int!, by text!, at int!, link int!`,
          key: "org, agent, schedule, n",
        }),
        `create index schedule_pause_link on schedule_pause (org, link)`,
      ],
    },
    { number: 24, name: "who paused schedules", statements: [newColumn("schedule_pause", "by_id", "text")] },
  ],
  functions: ({ reading, writing }) => ({
    /** The last change of each schedule. */
    schedulePauses: reading(schedulePauses),
    /** False if it already is in that state. */
    pauseSchedule: writing(pauseSchedule),
    /** From when on runs of a schedule count: the given time, or that of the last change if one is already known. */
    beginSchedule: writing(beginSchedule),
  }),
  changes: {
    pauseSchedule: ({ org, agent }: AgentOwner, { schedule }: SchedulePause) => ({
      kind: "schedule",
      scope: { org, agent, contact: null },
      ids: [schedule],
    }),
  },
  linked: {
    schedule: linkedTable<PauseTable>(
      "schedule_pause",
      ({ schedule, n }) => `change ${n} of schedule ${schedule}`,
      (_, row) => pauseLink(row),
    ),
  },
  erase: async () => undefined,
} satisfies StorePart;

function pauseLink({ agent, schedule, n, paused, by, by_id, at }: Omit<PauseTable, "link">): string {
  // Links of changes from before ids were kept do not have one.
  return canonicalJson({ schedule: { agent, schedule, n, paused, by, ...(by_id !== null && { by_id }), at } });
}

async function schedulePauses(tx: Tx, { org, agent }: AgentOwner): Promise<readonly SchedulePause[]> {
  const rows = await tx.all(
    query
      .selectFrom("schedule_pause")
      .selectAll()
      .where((eb) => eb.and({ org, agent }))
      .orderBy("n")
      .orderBy("schedule"),
  );
  const newest = new Map(rows.map((row) => [row.schedule, row]));
  return [...newest.values()].map(({ schedule, paused, at, ...who }) => ({
    schedule,
    isPaused: paused === 1,
    ...toDoneBy(who),
    at,
  }));
}

async function pauseSchedule(tx: Tx, owner: AgentOwner, change: SchedulePause): Promise<boolean> {
  const last = await lastChange(tx, owner, change.schedule);
  if ((last?.paused === 1) === change.isPaused) return false;
  await addChange(tx, owner, { ...change, n: (last?.n ?? 0) + 1 });
  return true;
}

async function beginSchedule(tx: Tx, owner: AgentOwner, begun: Omit<SchedulePause, "isPaused">): Promise<number> {
  const last = await lastChange(tx, owner, begun.schedule);
  if (last === undefined) await addChange(tx, owner, { ...begun, isPaused: false, n: 1 });
  return last?.at ?? begun.at;
}

const lastChange = (tx: Tx, { org, agent }: AgentOwner, schedule: string) =>
  tx.first(
    query
      .selectFrom("schedule_pause")
      .select(["n", "paused", "at"])
      .where((eb) => eb.and({ org, agent, schedule }))
      .orderBy("n", "desc")
      .limit(1),
  );

async function addChange(
  tx: Tx,
  { org, agent }: AgentOwner,
  { schedule, isPaused, by, byId, at, n }: SchedulePause & { readonly n: number },
): Promise<void> {
  const row = { org, agent, schedule, n, paused: isPaused ? 1 : 0, by, by_id: byId ?? null, at };
  const { seq: link } = await append(tx, org, pauseLink(row));
  await tx.run(insert("schedule_pause", { ...row, link }));
}
