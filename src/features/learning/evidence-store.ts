import { type AgentOwner, atMost, plain, type Tx } from "../../store/index.ts";

/** The sources of lessons, as far as they show which messages a rule is for. */
export interface Evidence {
  readonly lesson: string;
  readonly origin: string;
  /** The lesson that this one ended. */
  readonly ends: string | null;
  readonly situation: string;
  readonly wrong: string;
  readonly instead: string;
  readonly at: number;
}

/** The newest of an agent's edits and answers that no contact dictated, in one step: each turn with many rules asks for them. Erased texts are empty. */
export const evidence = (tx: Tx, { org, agent }: AgentOwner, limit: number): Promise<readonly Evidence[]> =>
  tx.all(plain<Evidence>(EVIDENCE, org, agent, atMost(limit)));

const text = (column: string): string =>
  `coalesce((select text from piece where piece.org = lesson_source.org and piece.agent = lesson_source.agent and piece.contact = lesson_source.contact
    and piece.digest = lesson_source.${column}), '') as ${column}`;

const EVIDENCE = `select lesson, origin, ends, at, ${text("situation")}, ${text("wrong")}, ${text("instead")} from lesson_source
  where org = ? and agent = ? and stale is null and kind <> 'failure' and trust <> 'contact' order by link desc limit ?`;

/** Differs once further decisions were read, a lesson was derived, an event retracted or a contact of the agent erased. */
export async function revision(tx: Tx, { org, agent }: AgentOwner): Promise<string> {
  return JSON.stringify(await tx.first(plain(REVISION, org, agent, org, agent, org, org, agent)));
}

const REVISION = `select (select sum(upto) from lesson_cursor where org = ? and agent = ? and what <> 'turns') as upto,
  (select max(link) from lesson_source where org = ? and agent = ? and stale is null) as lesson,
  (select max(n) from retraction where org = ?) as retraction, (select max(number) from erasure where org = ? and agent = ?) as erasure`;

/** The agent's lessons that do not hold any more. */
export const ended = (tx: Tx, { org, agent }: AgentOwner): Promise<readonly string[]> =>
  tx.column(plain<string>(ENDED, org, agent));

const ENDED = `select distinct ends from lesson_source where org = ? and agent = ? and stale is null and ends is not null`;
