import { isBatch } from "../../protocol/index.ts";
import { ALL, EVERYTHING, type Reach } from "./database.ts";

/** Functions that maintain the whole database and run as its owner. */
const OWNERS = new Set(["organizations", "unfinishedErasures", "backup", "trouble", "close"]);

/**
 * Functions about one contact that also read or write rows of the agent's other contacts: an erasure renames the contact there, a turn of
 * several senders contains all of theirs, a log keeps a limited number of senders, and a text belongs to the agent, whoever proposed it.
 */
const WIDE = new Set([
  ...["eraseContact", "finishErasure", "openThread", "claim", "withdraw", "settle", "beginCall", "endCall"],
  ...["editText", "decideText", "moveText"],
]);

/** Functions for which a scope without a contact means the agent's own memories, and not those of all its contacts. */
const OWN_MEMORIES = /Memor|^memor/;

/**
 * Whose rows a function of the store may see and write, derived from its arguments. Fails closed: arguments that name nobody reach nothing.
 * `wide`: functions of features that reach as far as `WIDE`.
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
  // The record of a turn of several senders names the turns of each sender.
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

/** The scope of an argument: a scope, an agent, a thread or a claim. A claim of several senders reaches all of them. */
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
