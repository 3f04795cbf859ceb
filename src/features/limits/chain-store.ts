import {
  type ActorId,
  type AgentName,
  type ContactScope,
  type EventId,
  type OrgId,
  StrataError,
  type TurnId,
} from "../../protocol/index.ts";
import { type AlsoStored, plain, type Tx, tables } from "../../store/index.ts";

/** What determines a turn's payer: the events that began it, the run that it continues, the call that it answers. */
export interface PaidTurn {
  readonly events: readonly EventId[];
  readonly run?: TurnId;
  readonly call?: string;
}

/** Who posted an event. */
export interface PayerTable extends ContactScope {
  readonly event: EventId;
  readonly payer: string;
}

const { query, insert } = tables<{ limit_payer: PayerTable }>();

/** How many agents may call each other in a row before the search for the initiator stops. */
const LONGEST_CHAIN = 64;

/** Notes who posted the events. */
export const paidBy =
  (payer: ActorId): AlsoStored =>
  async (tx, { org, agent, contact }, _thread, events) => {
    for (const event of events) await tx.run(insert("limit_payer", { org, agent, contact, event, payer }, "if new"));
  };

/** The payers of a turn: whoever posted the start of its chain, and the agents that wait in it for their calls. */
export interface Chain {
  readonly payers: readonly ActorId[];
  readonly callers: readonly AgentName[];
}

export async function chainOf(tx: Tx, org: OrgId, turn: PaidTurn): Promise<Chain> {
  const found = new Set<string>();
  const callers = new Set<AgentName>();
  const note = async (events: readonly EventId[]): Promise<void> => {
    if (events.length === 0) return;
    const of = query.selectFrom("limit_payer").select("payer").where("org", "=", org).where("event", "in", events);
    for (const { payer } of await tx.all(of)) found.add(payer);
  };
  await note(turn.events);
  let { run, call } = turn;
  for (let calls = 0; run !== undefined || call !== undefined; calls++) {
    if (calls > LONGEST_CHAIN) throw tooLong(org);
    if (run !== undefined) await note(await eventsOfRun(tx, org, run));
    const above: CallingRun | undefined = call === undefined ? undefined : await callingRun(tx, org, call);
    if (above !== undefined) callers.add(above.agent);
    run = above?.run;
    call = above?.call ?? undefined;
  }
  return { payers: [...found] as ActorId[], callers: [...callers] };
}

const eventsOfRun = (tx: Tx, org: OrgId, run: TurnId): Promise<EventId[]> =>
  tx.column(
    plain<EventId>(
      "select event.id from turn join event on event.org = turn.org and event.agent = turn.agent and event.contact = turn.contact and event.turn = turn.id where turn.org = ? and turn.run = ?",
      org,
      run,
    ),
  );

/** The run that has made a call, whose it is, and the call that its thread answers. */
interface CallingRun {
  readonly run: TurnId;
  readonly agent: AgentName;
  readonly call: string | null;
}

const callingRun = (tx: Tx, org: OrgId, call: string): Promise<CallingRun | undefined> =>
  tx.first(
    plain<CallingRun>(
      `select turn.run as run, turn.agent as agent, thread.caller_call as call from open_call
        join turn on turn.org = open_call.org and turn.agent = open_call.agent and turn.contact = open_call.contact and turn.id = open_call.turn
        join thread on thread.org = turn.org and thread.agent = turn.agent and thread.contact = turn.contact and thread.id = turn.thread
        where open_call.org = ? and open_call.id = ?`,
      org,
      call,
    ),
  );

const tooLong = (org: OrgId): StrataError =>
  new StrataError("record_broken", `more than ${LONGEST_CHAIN} agents of ${org} call each other in a row`);
