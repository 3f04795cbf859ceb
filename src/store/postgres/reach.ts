import { isBatch } from "../../protocol/index.ts";
import { ALL, EVERYTHING, type Reach } from "./database.ts";

/** What looks after the whole database, and is asked by who owns it. */
const OWNERS = new Set(["organizations", "unfinishedErasures", "backup", "trouble", "close"]);

/**
 * What is about one contact and reads or writes rows of the agent's others as well: an erasure gives them a pseudonym, a turn of several
 * has all of theirs, a log keeps so many senders, and a text is the agent's whoever proposed it.
 */
const WIDE = new Set([
  ...["eraseContact", "finishErasure", "openThread", "claim", "withdraw", "settle", "beginCall", "endCall"],
  ...["editText", "decideText", "moveText"],
]);

/** Where a scope without a contact means the agent's own memories, and not those of all of its contacts. */
const OWN_MEMORIES = /Memor|^memor/;

/**
 * Whose rows a function of the store may see and write: as its arguments say. Fails closed: what names nobody reaches nothing. `wide`:
 * what of a feature's reaches as far as these.
 */
export function reachOf(name: string, given: readonly unknown[], wide: readonly string[] = []): Reach {
  if (OWNERS.has(name)) return EVERYTHING;
  const [first, second] = given;
  if (typeof first === "string") return { org: first, agent: typeof second === "string" ? second : ALL, contact: ALL };
  const scopes = (Array.isArray(first) ? first : [first]).map(scopeOf);
  const [scope = { org: "", agent: "", contact: "" }, ...others] = scopes;
  const contacts = new Set(scopes.map(({ contact }) => contact ?? (OWN_MEMORIES.test(name) ? "" : ALL)));
  contacts.delete("");
  const [contact = ""] = contacts;
  // The record of a turn of several senders names the turns of each.
  const isWide = WIDE.has(name) || wide.includes(name) || contacts.size > 1 || isBatch({ contact });
  return {
    org: others.every(({ org }) => org === scope.org) ? scope.org : ALL,
    agent: others.every(({ agent }) => agent === scope.agent) ? scope.agent : ALL,
    contact: isWide ? ALL : contact,
  };
}

interface Named {
  readonly org: string;
  readonly agent: string;
  readonly contact: string | null;
}

/** A scope, an agent, or a claim: then its thread's, and that of all senders whose threads it has. */
function scopeOf(given: unknown): Named {
  const thread = field(given, "thread");
  const scope = field(thread, "scope") ?? given;
  const [org, agent, contact] = ["org", "agent", "contact"].map((name) => field(scope, name));
  const isOfSeveral = field(given, "batchMembers") !== undefined;
  return {
    org: typeof org === "string" ? org : "",
    agent: typeof agent === "string" ? agent : "",
    contact: typeof contact === "string" && !isOfSeveral ? contact : null,
  };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
