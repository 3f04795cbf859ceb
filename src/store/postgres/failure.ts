import { asStrataError, type CoreErrorCode, StrataError } from "../../protocol/index.ts";

/** The server, database and user that errors name. Never the password. */
export interface Where {
  readonly user: string;
  readonly host: string;
  readonly database: string;
}

/** The displayed form of the address, without the password. */
export const addressName = ({ user, host, database }: Where): string =>
  `PostgreSQL at ${host} (database ${database}, user ${user})`;

/**
 * Whatever the driver or the server threw, as a sentence with the next step; the cause is kept. Anything else is a bug and stays
 * `unexpected`. Only this file reads PostgreSQL's codes.
 */
export function failure(thrown: unknown, where: Where): StrataError {
  if (thrown instanceof StrataError) return thrown;
  const code = sqlState(thrown);
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const known = ROWS.find(({ codes, message: says }) => codes.test(code) || says?.test(said));
  if (known === undefined && !isDriver(thrown, code)) return asStrataError(thrown);
  const { error = "store_failed", sentence = unknown } = known ?? {};
  return new StrataError(error, sentence(where, said), { database: where.database, host: where.host, code }, thrown);
}

const unknown = (where: Where, said: string): string =>
  `${addressName(where)} failed (${said}); nothing was written: try again, and report it if this happens again`;

interface FailureRow {
  readonly codes: RegExp;
  /** The driver's own message, without a code. */
  readonly message?: RegExp;
  readonly error?: CoreErrorCode;
  readonly sentence: (where: Where, said: string) => string;
}

const NONE = /^(?!)/;

/** A name in SQL, quoted if it contains unusual characters. */
const quotedName = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;

/** How a superuser makes a database for Strata. */
const creation = (database: string, owner: string): string =>
  `create database ${quotedName(database)} owner ${quotedName(owner)} encoding 'UTF8' template template0`;

const ROWS: readonly FailureRow[] = [
  {
    codes: NONE,
    message: /password must be a (?:non-empty )?string/,
    sentence: ({ user, host }) =>
      `PostgreSQL at ${host} asks for a password of user ${user}, and there is none: put it into the address of the store, or into PGPASSWORD`,
  },
  {
    codes: /^28P01$/,
    message: /no pg_hba\.conf entry .*password/,
    sentence: ({ user, host }) =>
      `PostgreSQL at ${host} refused the password of user ${user}, or has no such user: put the right ones into the address of the store`,
  },
  {
    codes: /^28000$/,
    sentence: ({ user, host, database }, said) =>
      `PostgreSQL at ${host} does not let user ${user} into the database ${database} (${said}): create the user, or allow it in pg_hba.conf`,
  },
  {
    codes: /^3D000$/,
    sentence: ({ host, database, user }) =>
      `PostgreSQL at ${host} has no database ${database}: create it with \`${creation(database, user)}\`, or name another`,
  },
  {
    codes: NONE,
    message: /row-level security/,
    sentence: (where, said) =>
      `${addressName(where)} refused what is out of scope (${said}); nothing was written: this is a bug of Strata's, please report it`,
  },
  {
    codes: /^42501$/,
    sentence: ({ database, user }, said) =>
      /(?:for|of) (?:table|sequence|function)/.test(said)
        ? `user ${user} has no rights on tables of the database ${database} (${said}): connect as the user that owns them`
        : `user ${user} lacks rights on the database ${database} (${said}): make it the owner with \`alter database ${quotedName(database)} owner to ${quotedName(user)}\``,
  },
  {
    codes: /^(?:53300|53400)$/,
    message: /remaining connection slots/,
    error: "store_busy",
    sentence: ({ host }, said) =>
      `PostgreSQL at ${host} has no connection left (${said}); nothing was written: close other programs, or raise that limit, then try again`,
  },
  {
    codes: /^(?:55P03|57014)$/,
    message: /timeout exceeded when trying to connect/,
    error: "store_busy",
    sentence: (where) =>
      `${addressName(where)} took too long, because others used the same data; nothing was written: try again`,
  },
  {
    codes: /^(?:40001|40P01)$/,
    error: "store_busy",
    sentence: (where) =>
      `${addressName(where)} rolled back the change again and again, because others changed the same data; nothing was written: try again`,
  },
  {
    codes: /^25P0[34]$/,
    error: "store_busy",
    sentence: (where) =>
      `this program stopped in the middle of a change, and ${addressName(where)} ended it; nothing was written: try again`,
  },
  {
    codes: NONE,
    message: /, open '/,
    sentence: (_, said) =>
      `the address of the store names a certificate or key that cannot be read (${said}): put the file there, or name its right path`,
  },
  {
    codes: /^(?:ECONNREFUSED|ENOENT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EACCES)$/,
    message: /connection timeout/,
    sentence: ({ host }, said) =>
      `PostgreSQL at ${host} cannot be reached (${said || "connection refused"}): check that it runs there and that the address is right`,
  },
  {
    codes: /^(?:57P0[0-5]|08\d{3}|ECONNRESET|EPIPE)$/,
    message: /Connection terminated|Client has encountered a connection error/,
    error: "store_busy",
    sentence: (where) =>
      `the connection to ${addressName(where)} was lost, because it is stopping, starting or gone; nothing was written: try again when it runs`,
  },
  {
    codes: NONE,
    message: /does not support SSL|SSL connection|self-signed certificate|unable to verify|certificate/i,
    sentence: ({ host }, said) =>
      `PostgreSQL at ${host} cannot be reached encrypted (${said}): in the address of the store, name its authority's certificate as sslrootcert=FILE, or write sslmode=disable if it has none`,
  },
  {
    codes: /^25006$/,
    sentence: ({ host }) =>
      `PostgreSQL at ${host} is read-only: it is a standby or configured so; name the primary server in the address of the store`,
  },
  {
    codes: /^53100$/,
    sentence: ({ host }) =>
      `the disk of PostgreSQL at ${host} is full; nothing was written: free some space, then try again`,
  },
  {
    codes: /^23\d{3}$/,
    sentence: (where, said) =>
      `${addressName(where)} refused the change (${said}); nothing was written: an id is already in use or refers to something that does not exist, so read again and use new ids`,
  },
  {
    codes: /^(?:XX00[12]|58\d{3}|58P\d{2})$/,
    sentence: (where, said) => `${addressName(where)} is damaged (${said}): restore it from a backup`,
  },
  {
    codes: NONE,
    message: /after calling end on the pool/,
    sentence: (where) => `${addressName(where)} is closed: open the store again`,
  },
];

/** A database in which not every text can be kept. */
export function notUtf8({ user, host, database }: Where, encoding: string): StrataError {
  const other = creation(`${database}_utf8`, user);
  const message = `the database ${database} at ${host} keeps text as ${encoding}, and Strata needs UTF8: create another with \`${other}\` and name that in the address of the store`;
  return new StrataError("store_failed", message, { database, host, encoding });
}

/** The server stopped during a commit, and may have stored the change. */
export const inDoubt = (where: Where, thrown: unknown): StrataError =>
  new StrataError(
    "store_busy",
    `${addressName(where)} went down in the middle of a commit, and nobody knows whether it came through: look before you do it again`,
    { database: where.database, host: where.host },
    thrown,
  );

/** A conflict with another transaction: the change itself is not wrong, and another attempt may succeed. */
export const isConflict = (thrown: unknown): boolean => /^(?:40001|40P01)$/.test(sqlState(thrown));

/** The connection is lost, and with it everything that was not committed. */
export function isLost(thrown: unknown): boolean {
  const code = sqlState(thrown);
  const said = thrown instanceof Error ? thrown.message : "";
  return (
    /^(?:57P0[1-3]|25P0[34]|08\d{3}|ECONNRESET|EPIPE|ECONNREFUSED|ENOENT)$/.test(code) ||
    /Connection terminated|Client has encountered a connection error/.test(said)
  );
}

const sqlState = (thrown: unknown): string =>
  thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";

/** Whether the server (whose codes have five characters, by the standard) or the system reported it. */
const isDriver = (thrown: unknown, code: string): boolean =>
  thrown instanceof Error && (/^[0-9A-Z]{5}$/.test(code) || "syscall" in thrown);
