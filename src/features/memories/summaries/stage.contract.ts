import type { Script, ScriptedReply } from "../../../models/index.ts";
import { type Agent, contactId, type Request } from "../../../protocol/index.ts";
import { collect, OPERATOR, ORG, testRuntime } from "../../../turn/index.contract.ts";
import type { Parts } from "../../../turn/index.ts";
import { MEMORY_API } from "../api-types.ts";

export const HOUR = 60 * 60_000;
export const isSummary = ({ tail }: Request): boolean => tail.some(({ layer }) => layer === "summary");
export const texts = ({ messages }: Request): string =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => ("text" in part ? [part.text] : []))).join("\n");

interface Around {
  readonly agent?: Agent;
  readonly parts?: Partial<Parts>;
  readonly contacts?: readonly string[];
}

/** Contacts that each wrote two messages in the morning, and the answer to a request for a summary. */
export async function talked(
  summary: string | Error | ScriptedReply | ((request: Request) => string),
  { agent, parts, contacts = ["ann"] }: Around = {},
) {
  const script: Script<Request> = (request) => {
    if (!isSummary(request)) return "Aye.";
    return typeof summary === "function" ? summary(request) : summary;
  };
  const stand = await testRuntime(Array<Script<Request>>(40).fill(script), {
    ...(agent && { agent }),
    ...(parts && { parts }),
  });
  const scopeOf = (contact: string) => ({ org: ORG, agent: stand.agent.name, contact: contactId(contact) });
  const talk = async (contact: string): Promise<void> => {
    const thread = await stand.open(contact);
    await stand.say(thread, `I am ${contact} and I sail on Friday.`);
    stand.time.at += 60_000;
    await stand.say(thread, "My boat is green.");
  };
  for (const contact of contacts) await talk(contact);
  const scope = scopeOf("ann");
  const summaries = (whose = scope) =>
    stand.runtime.use(MEMORY_API).memories(OPERATOR, whose, 100, { kinds: ["summary"] });
  const said = () => stand.runtime.use(MEMORY_API).memories(OPERATOR, scope, 100, { kinds: ["message"] });
  const consolidate = (wish = {}) => collect(stand.runtime.use(MEMORY_API).consolidate(OPERATOR, scope, wish));
  return { ...stand, scope, scopeOf, talk, summaries, said, consolidate, asked: () => stand.sent.filter(isSummary) };
}
