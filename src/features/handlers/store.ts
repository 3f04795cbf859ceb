import { type ContactScope, type Digest, outcomePart, type TurnId } from "../../protocol/index.ts";
import {
  type EndedTurn,
  newTable,
  type OneTurn,
  owner,
  ownText,
  type StorePart,
  type Tx,
  tables,
} from "../../store/index.ts";

interface LogTable extends OneTurn {
  readonly piece: Digest;
}

const { query, insert } = tables<{ handler_log: LogTable }>();

/** A handler's log in a turn that ends well. If it fails, the error holds the last lines instead. */
export const LOGGED = outcomePart<string>();

/** What handlers log: it may contain a contact's words, so it belongs to the contact, like messages. */
export const HANDLER_STORE = {
  name: "handlers",
  tables: { handler_log: { linked: "org agent contact turn piece" } },
  migrations: [
    {
      number: 41,
      name: "logs of handlers",
      statements: [
        newTable("handler_log", {
          columns: "org text!, agent text!, contact text!, turn text!, piece text!",
          key: "org, agent, contact, turn",
          references: [
            "org, agent, contact, turn -> turn (org, agent, contact, id)",
            "org, agent, contact, piece -> piece (org, agent, contact, digest)",
          ],
        }),
      ],
    },
  ],
  functions: ({ reading }) => ({
    /** Undefined if nothing was logged; empty if the contact was erased. */
    log: reading(log),
  }),
  onCommit: keepLog,
  inLink: async (tx, of, ending) => {
    if (ending !== undefined && (ending.done === undefined || LOGGED.of(ending.done.outcome) === undefined)) return {};
    const found = await readLog(tx, of);
    return found === undefined ? {} : { handlerLog: found.piece };
  },
  named: async (tx, of) => {
    const found = await readLog(tx, of);
    return found === undefined ? [] : [found.piece];
  },
  // A log is a piece of its contact, which is blanked with all others.
  erase: async () => undefined,
} satisfies StorePart;

async function keepLog(tx: Tx, { scope, turn, done }: EndedTurn): Promise<void> {
  const logged = done && LOGGED.of(done.outcome);
  if (done === undefined || logged === undefined) return;
  const piece = await done.keep(JSON.stringify(logged));
  await tx.run(insert("handler_log", { ...owner(scope), turn, piece }));
}

const readLog = (tx: Tx, { turn, ...of }: OneTurn): Promise<LogTable | undefined> =>
  tx.first(
    query
      .selectFrom("handler_log")
      .selectAll()
      .where((eb) => eb.and({ ...owner(of), turn })),
  );

async function log(tx: Tx, scope: ContactScope, turn: TurnId): Promise<string | undefined> {
  const found = await readLog(tx, { ...scope, turn });
  return found && String(JSON.parse((await ownText(tx, found, found.piece)) ?? '""'));
}
