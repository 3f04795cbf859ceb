import type pg from "pg";
import { decodedText, StrataError } from "../../protocol/index.ts";
import { failure, type Where } from "./failure.ts";

const CONNECT_MS = 10_000;

/**
 * To the driver, the weaker modes of encryption mean `verify-full`, and it warns at each start that they will not for ever: here they do,
 * unless the address asks for PostgreSQL's own meaning of them.
 */
const encrypted = (url: string): string =>
  url.includes("uselibpqcompat=true")
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, "$1verify-full");

/** How the driver connects. */
export function configOf(url: string): pg.ClientConfig {
  return {
    connectionString: encrypted(url),
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: "strata",
  };
}

/** The parts of an address that may be shown: everything but the password. */
export function whereOf(url: string): Where {
  const parsed = URL.parse(url);
  const host = parsed?.searchParams.get("host") ?? decodedText(parsed?.hostname ?? "");
  if (parsed === null || host === "" || !/^postgres(?:ql)?:$/.test(parsed.protocol))
    throw new StrataError(
      "config_invalid",
      "the address of the store is not a URL with a host: write it as postgres://user:password@host:5432/database, with signs such as @, / and # in the password as %40, %2F and %23",
    );
  return {
    user: decodedText(parsed.username) || DEFAULT,
    host: parsed.port === "" ? host : `${host}:${parsed.port}`,
    database: decodedText(parsed.pathname.slice(1)) || DEFAULT,
  };
}

/** Chosen by the driver. */
const DEFAULT = "(default)";

/** The same with what the driver takes from the environment where the address does not say it. @throws StrataError also if a certificate cannot be read */
export function whereWith({ Client }: Pick<typeof pg, "Client">, url: string): Where {
  const where = whereOf(url);
  try {
    const { user = where.user, database = where.database } = new Client(configOf(url));
    return { ...where, user, database };
  } catch (thrown) {
    throw failure(thrown, where);
  }
}
