import type { ContactScope, Scope } from "../protocol/index.ts";
import { NOBODY, type Row } from "./tables.ts";

/** A contact's scope as columns, which every row carries and every query filters by (law 5). */
export function owner(scope: ContactScope): Pick<Row<"piece">, "org" | "agent" | "contact"> {
  return { org: scope.org, agent: scope.agent, contact: scope.contact };
}

/** A scope as columns, if a row may also belong to the agent itself. */
export function ownerOrAgent(scope: Scope): Pick<Row<"memory_scope">, "org" | "agent" | "contact"> {
  return { org: scope.org, agent: scope.agent, contact: scope.contact ?? NOBODY };
}

/** A scope as a filter for lists: without a contact, it includes all contacts of the agent. */
export function within(scope: Scope): Partial<Pick<Row<"thread">, "org" | "agent" | "contact">> {
  const { org, agent, contact } = scope;
  return contact === null ? { org, agent } : { org, agent, contact };
}

/** Any number as a row limit. SQLite would read a negative one as "all". */
export function atMost(limit: number): number {
  return Math.min(Math.max(Math.trunc(limit) || 0, 0), Number.MAX_SAFE_INTEGER);
}
