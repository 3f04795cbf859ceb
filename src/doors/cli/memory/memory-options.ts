import { type Command, InvalidArgumentError, Option } from "commander";
import type { App } from "../../../app.ts";
import {
  MEMORY_KINDS,
  type Memory,
  type MemoryFilter,
  type MemoryKind,
  type Scope,
  StrataError,
  TRUSTS,
  type Trust,
} from "../../../protocol/index.ts";
import { contactNamed } from "../chat/conversation.ts";
import { ofAgent } from "../shell/on-agent.ts";
import { collect, wholeNumber } from "../shell/options.ts";
import { chosenAgent, type Session } from "../shell/session.ts";

type Runtime = App["runtime"];

/** A memory that was found, and why. */
export type MemoryHit = Awaited<ReturnType<Runtime["searchMemories"]>>[number];

/** Whose memories. */
export interface Whose {
  readonly agent?: string;
  readonly as?: string;
  readonly agentOwn?: true;
}

/** Which memories, and how many. */
export interface Filtered extends Whose {
  readonly kind?: readonly MemoryKind[];
  readonly tag?: readonly string[];
  readonly since?: number;
  readonly before?: number;
  readonly trust?: Trust;
}

/** As many tags as a memory has. */
const MOST_TAGS = 8;

/** Whose memories; the agent may be named behind the command's other arguments, which are declared before this. */
export const whose = (command: Command): Command => aboutWhom(ofAgent(command));

const aboutWhom = (command: Command): Command =>
  command
    .option("--as <contact>", "about which contact (default: you, as `strata chat` knows you)")
    .addOption(new Option("--agent-own", "the agent's own, which all its contacts may hear of").conflicts("as"));

export const limited = (command: Command, usual = 20): Command =>
  command.option("--limit <n>", "at most so many", wholeNumber(1, 1_000), usual);

export const filtered = (command: Command): Command => filters(whose(command));

/** Behind words, of which there may be many, no other name can stand: the agent is named by its option alone. */
export const searching = (command: Command, says: string): Command =>
  filters(
    aboutWhom(
      command.argument("<words...>", says).option("--agent <name>", "whose memories (default: the first agent)"),
    ),
  );

/** Options that leave memories out. */
const filters = (command: Command): Command =>
  command
    .addOption(kinds("only of this kind; may be given several times"))
    .option("--tag <word>", "only with this tag, or one of several", tags)
    .option("--since <date>", "only from this date or time on, such as 2026-11-21", instant)
    .option("--before <date>", "only before this date or time", instant)
    .addOption(new Option("--trust <trust>", "only the word of somebody at least as trusted").choices(TRUSTS));

export const kinds = (says: string): Option =>
  new Option("--kind <kind>", says).argParser((word: string, before?: readonly MemoryKind[]) => {
    const kind = MEMORY_KINDS.find((one) => one === word);
    if (kind === undefined) throw new InvalidArgumentError(`Allowed choices are ${MEMORY_KINDS.join(", ")}.`);
    return [...(before ?? []), kind];
  });

export function filterOf({ kind, tag, since, before, trust }: Filtered): MemoryFilter {
  return {
    ...(kind !== undefined && { kinds: kind }),
    ...(tag !== undefined && { tags: tag }),
    ...(since !== undefined && { since }),
    ...(before !== undefined && { before }),
    ...(trust !== undefined && { trust }),
  };
}

/** Reads a date, or a time with its offset, as milliseconds since 1970. */
export function instant(text: string): number {
  const form = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;
  const at = form.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw new InvalidArgumentError("It must be a date such as 2026-11-21, or a time such as 2026-11-21T09:30:00Z.");
}

export function tags(word: string, before?: readonly string[]): readonly string[] {
  if (!/^[\p{L}\p{N}][\p{L}\p{N} _-]{0,39}$/u.test(word))
    throw new InvalidArgumentError("A tag is 1 to 40 letters, digits, blanks, '-' and '_'.");
  const all = collect(word, before);
  if (all.length > MOST_TAGS) throw new InvalidArgumentError(`A memory has at most ${MOST_TAGS} tags.`);
  return all;
}

export function scopeOf({ app }: Session, { agent, as, agentOwn }: Whose): Scope {
  const chosen = chosenAgent(app, agent);
  return { org: chosen.org, agent: chosen.name, contact: agentOwn === true ? null : contactNamed(chosen, as) };
}

/** Whose memories, behind "memories" in a sentence. */
export const about = ({ contact, agent }: Scope): string =>
  contact === null ? `of ${agent}'s own` : `about ${contact}`;

export function unknownMemory(id: Memory["id"], scope: Scope): StrataError {
  const whom = scope.contact === null ? "of its own" : about(scope);
  const next = "`strata memory list` shows them; --agent, --as and --agent-own choose whose";
  return new StrataError("memory_not_found", `${scope.agent} has no memory ${id} ${whom}: ${next}`, {
    id,
  });
}
