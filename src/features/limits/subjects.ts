import { type ActorId, type Agent, type ContactId, canonicalJson, isReserved, PROGRAM } from "../../protocol/index.ts";
import { periodOf, type TurnParts } from "../../turn/index.ts";
import type { Limit } from "./config.ts";
import type { Allowed, Counted, Subject } from "./store.ts";

/** Whose calls a turn makes. */
export interface Callers {
  readonly contacts: readonly ContactId[];
  /** As `keyName` calls them. */
  readonly keys: readonly string[];
}

/** The limits as the agent declares them now: raising one takes effect at once, even for threads of an older version. */
export const rulesFor = (parts: Pick<TurnParts, "agents">, agent: Agent): Agent["limits"] =>
  declaredAs(parts, agent).limits;

/** The agent as it is declared now. */
export const declaredAs = ({ agents }: Pick<TurnParts, "agents">, agent: Agent): Agent =>
  agents.all.find(({ org, name }) => org === agent.org && name === agent.name) ?? agent;

/** What such a limit allows now. */
export function allowedBy({ calls, dollars, per = "day" }: Limit, at: number): Allowed {
  return {
    ...(calls !== undefined && { calls }),
    ...(dollars !== undefined && { money: { dollars, per, ...periodOf(per, at) } }),
  };
}

/** An actor's name as a key: as in `strata key list`, or its id if there is no such key. */
export const keyName = (payer: ActorId): string => payer.replace(/^key:/, "");

/** Whether the actor's posts count for a key. The program's own do not, and a contact's name is not a key. */
export const isKey = (payer: ActorId): boolean => payer !== PROGRAM && !payer.startsWith("contact:");

/** All subjects to which a turn's calls are charged, with their remaining limits. */
export function subjectsOf(
  agent: Agent,
  rules: Agent["limits"],
  { contacts, keys }: Callers,
  at: number,
): readonly Subject[] {
  if (rules === undefined) return [];
  const of = (limit: Limit | undefined, counted: Partial<Counted> & Pick<Counted, "kind">): readonly Subject[] =>
    limit === undefined ? [] : [{ agent: "", contact: "", name: "", ...counted, allowed: allowedBy(limit, at) }];
  const groups = Object.entries(rules.groups ?? {});
  return [
    ...of(rules.organization, { kind: "organization" }),
    ...of(rules.agent, { kind: "agent", agent: agent.name }),
    ...contacts
      .filter((contact) => !isReserved(contact))
      .flatMap((contact) => of(rules.contact, { kind: "contact", agent: agent.name, contact })),
    ...keys.flatMap((name) => of(rules.key, { kind: "key", name })),
    ...groups
      .filter(([, group]) => group.keys.some((key) => keys.includes(key)))
      .flatMap(([name, group]) => of(group, { kind: "group", name })),
  ];
}

/** The name of an agent's `budgets.spend` among its limits. */
const SPEND = "budgets.spend";

/** What the agent itself may spend by its `budgets.spend`: its own calls alone, and also those before the limit was set. */
export function spendSubject(
  { name, budgets: { spend } }: { readonly name: Agent["name"]; readonly budgets: Pick<Agent["budgets"], "spend"> },
  at: number,
): readonly Subject[] {
  if (spend === undefined) return [];
  const { dollars, per } = spend;
  const money = { dollars, per, ...periodOf(per, at), countsBefore: true } as const;
  return [{ kind: "agent", agent: name, contact: "", name: SPEND, allowed: { money } }];
}

export const isSpend = ({ kind, name }: Counted): boolean => kind === "agent" && name === SPEND;

/**
 * The same for agents that call one another, each under its own rules. A subject that occurs more than once is counted once, with the
 * lowest of the agents' limits.
 */
export function subjectsOfChain(
  chain: readonly { readonly agent: Agent; readonly rules: Agent["limits"] }[],
  callers: Callers,
  at: number,
): readonly Subject[] {
  const found = new Map<string, Subject>();
  for (const { agent, rules } of chain) {
    for (const subject of subjectsOf(agent, rules, callers, at)) {
      const { allowed, ...counted } = subject;
      const key = canonicalJson({ ...counted });
      const known = found.get(key);
      found.set(key, known === undefined ? subject : { ...known, allowed: least(known.allowed, allowed) });
    }
  }
  return [...found.values()];
}

/** Of two sums for different periods, the smaller: a call's cost is charged to only one of them. */
function least(one: Allowed, other: Allowed): Allowed {
  const calls = Math.min(one.calls ?? Number.POSITIVE_INFINITY, other.calls ?? Number.POSITIVE_INFINITY);
  const [money] = [one.money, other.money].flatMap((sum) => sum ?? []).sort((a, b) => a.dollars - b.dollars);
  return { ...(Number.isFinite(calls) && { calls }), ...(money && { money }) };
}
