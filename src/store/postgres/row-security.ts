import { isBatch, StrataError } from "../../protocol/index.ts";
import { MOVES } from "../moved.ts";
import { plain } from "../statement.ts";
import type { Tx } from "../tx.ts";
import { ALL, EVERYTHING, type Reach } from "./database.ts";
import { FIRST_TABLES } from "./first-schema.ts";

/**
 * The second barrier behind law 5: each transaction names the owner of the rows it is for, and PostgreSQL shows and accepts no others,
 * whatever a query forgets to filter. It also applies to the tables' owner, but not to a superuser; `doctor` reports that.
 */

const ofOrg = matchesSetting("org");
/** A commit may begin something with other agents: the setting holds the names of all of them, separated by blanks. */
const ofAgent = `${ofOrg} and (agent = any (string_to_array(current_setting('strata.agent', true), ' ')) or current_setting('strata.agent', true) = '*')`;
/** The agent's own rows, whose contact is empty, are visible to all its contacts. */
const ofContact = `${ofAgent} and (${matchesSetting("contact")} or contact = '')`;

function matchesSetting(column: string): string {
  const wanted = `current_setting('strata.${column}', true)`;
  return `(${column} = ${wanted} or ${wanted} = '*')`;
}

/**
 * Rows of memories carry the number of their scope. The scopes of one contact are looked up once per query; only transactions about many
 * contacts look them up for each row.
 */
const ofScope = (number: string): string => throughTable(number, "memory_scope");
const ofModel = (number: string): string => throughTable(number, "vector_model");

const throughTable = (
  number: string,
  table: string,
): string => `(case when current_setting('strata.contact', true) = '*'
    then exists (select from ${table} where ${table}.number = ${number})
    else ${number} = any (coalesce((select strata_${table}s()), '{}')) end)`;

/** Parsed when they are created, so that they find their tables even if a backup has removed the search path. */
const NUMBERS = [
  `create function strata_memory_scopes() returns bigint[] language sql stable return (
    select array_agg(number) from memory_scope where org = current_setting('strata.org', true)
      and agent = any (string_to_array(current_setting('strata.agent', true), ' ')) and contact in (current_setting('strata.contact', true), ''))`,
  `create function strata_vector_models() returns bigint[] language sql stable return (
    select array_agg(number) from vector_model where scope = any (strata_memory_scopes()))`,
];

/** The ids of units and vectors begin with the number of their scope or model: 2^26 places each. */
const WIDTH = 26;

const POLICIES: Readonly<Record<string, string>> = {
  ...all(["shared_piece", "chain"], ofOrg),
  ...all(["agent_version", "text_move", "life", "top_up", "tally", "act", "erasure", "spent_signature"], ofAgent),
  ...all(
    ["contact_key", "piece", "thread", "event", "epoch", "message", "turn", "turn_event", "turn_message"],
    ofContact,
  ),
  ...all(["request", "slot", "outbox", "journal", "approval", "memory_scope", "exchange", "staged"], ofContact),
  ...all(["memory", "unit_term", "unit_speaker", "talk", "memory_count", "vector_model"], ofScope("scope")),
  unit: ofScope(`(id >> ${WIDTH})`),
  unit_word: ofScope(`(unit >> ${WIDTH})`),
  vector: ofModel(`(id >> ${WIDTH})`),
  // The version of the index, which has no owner.
  memory_index: "true",
  // The copies of the whole store.
  [MOVES]: "true",
};

function all(tables: readonly string[], condition: string): Readonly<Record<string, string>> {
  return Object.fromEntries(tables.map((table) => [table, condition]));
}

/** Adds the policies to the tables of the first schema. */
export const ROW_SECURITY: readonly string[] = [
  ...NUMBERS,
  ...FIRST_TABLES.flatMap((table) => {
    const condition = POLICIES[table];
    if (condition === undefined) throw new Error(`no policy says whose the rows of ${table} are`);
    return wall(table, condition);
  }),
];

function wall(table: string, condition: string): readonly string[] {
  return [
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create policy whose on ${table} using (${condition}) with check (${condition})`,
  ];
}

/**
 * The same policies for a database whose first step named one agent alone. Which of the two conditions a table has follows from its
 * columns, except for the two tables of the agent that name a contact as well.
 */
export const SEVERAL_AGENTS: readonly string[] = [
  ...NUMBERS.map((text) => text.replace("create function", "create or replace function")),
  `do $policies$ declare of record; begin
    for of in select t.relname as name, bool_or(a.attname = 'contact') and t.relname not in ('text_move', 'erasure') as contact
      from pg_policy p join pg_class t on t.oid = p.polrelid join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
      where p.polname = 'whose' and t.relnamespace = current_schema::regnamespace
      group by t.relname having bool_or(a.attname = 'org') and bool_or(a.attname = 'agent')
    loop
      execute format('alter policy whose on %I using (%s) with check (%s)', of.name,
        case when of.contact then $of$${ofContact}$of$ else $of$${ofAgent}$of$ end,
        case when of.contact then $of$${ofContact}$of$ else $of$${ofAgent}$of$ end);
    end loop;
  end $policies$`,
];

/** A table without a policy. */
interface OpenTable {
  readonly name: string;
  /** Its columns, separated by spaces. */
  readonly columns: string;
}

/** Reads the schema, so that no table is forgotten. A table that exists only during a copy has no owner. */
export function openTables(tx: Tx): Promise<readonly OpenTable[]> {
  const open = `select c.relname::text as name, string_agg(a.attname::text, ' ') as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relkind = 'r' and c.relnamespace = current_schema::regnamespace and not c.relrowsecurity
    and c.relname not in ('migration', 'store_copy') group by c.relname order by c.relname`;
  return tx.all(plain<OpenTable>(open));
}

/** The policy of a table that is added later: its columns name the owner of its rows, unless it is the database's own. */
export function secured(name: string, columns: string): readonly string[] {
  const own = POLICIES[name];
  if (own !== undefined) return wall(name, own);
  const has = columns.split(" ");
  if (has.includes("org") && has.includes("agent")) return wall(name, has.includes("contact") ? ofContact : ofAgent);
  const message = `the table ${name} does not say whose its rows are: give it the columns org and agent, and contact where they are about one`;
  throw new StrataError("unexpected", message, { table: name });
}

/** Functions that maintain the whole database and run as its owner. */
const OWNERS = new Set(["organizations", "unfinishedErasures", "backup", "trouble", "close"]);

/**
 * Functions about one contact that also read or write rows of the agent's other contacts: an erasure renames the contact there, a turn of
 * several senders contains all of theirs, a log keeps a limited number of senders, and a text belongs to the agent, whoever proposed it.
 */
const WIDE = new Set([
  ...[
    "eraseContact",
    "retractEvent",
    "renameAgent",
    "finishErasure",
    "openThread",
    "claim",
    "withdraw",
    "settle",
    "beginCall",
    "endCall",
  ],
  ...["editText", "decideText", "moveText", "answerOverdue", "nextOverdue", "dueRuns"],
]);

/** Functions that reach other agents than their arguments name: those that called one, or the new name of a renamed one. */
const FOLLOW_CALLS = new Set([
  "eraseContact",
  "retractEvent",
  "withdraw",
  "calledThreads",
  "calledFrom",
  "renameAgent",
  "wholeHistory",
]);

/** Functions for which a scope without a contact means the agent's own memories, and not those of all its contacts. */
const OWN_MEMORIES = /Memor|^memor/;

/**
 * Whose rows a function of the store may see and write, derived from its arguments. Fails closed: arguments without an owner reach nothing.
 * `wide`: functions of features that reach as far as `WIDE`.
 */
export function reachOf(name: string, given: readonly unknown[], wide: readonly string[] = []): Reach {
  if (OWNERS.has(name)) return EVERYTHING;
  const [first, second] = given;
  if (typeof first === "string") return { org: first, agent: typeof second === "string" ? second : ALL, contact: ALL };
  const starts: unknown = field(second, "starts");
  const begun = Array.isArray(starts) ? starts.map((one) => field(one, "scope")) : [];
  const scopes = [...(Array.isArray(first) ? first : [first]), ...begun].map(scopeOf);
  // A called thread's answer is written together with its caller.
  const caller = field(field(field(first, "thread"), "caller"), "agent");
  const [scope = { org: "", agent: "", contact: "" }, ...others] = scopes;
  const contacts = new Set(scopes.map(({ contact }) => contact ?? (OWN_MEMORIES.test(name) ? "" : ALL)));
  contacts.delete("");
  const [contact = ""] = contacts;
  // The record of a turn of several senders names the turns of each sender.
  const isWide = WIDE.has(name) || wide.includes(name) || contacts.size > 1 || isBatch({ contact });
  return {
    org: others.every(({ org }) => org === scope.org) ? scope.org : ALL,
    agent: FOLLOW_CALLS.has(name)
      ? ALL
      : [
          ...new Set([scope, ...others].map(({ agent }) => agent).concat(typeof caller === "string" ? caller : [])),
        ].join(" "),
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
