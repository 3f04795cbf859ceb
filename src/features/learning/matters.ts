import type { ContactId } from "../../protocol/index.ts";
import type { AgentOwner } from "../../store/index.ts";
import type { Parts } from "../../turn/index.ts";
import { formsOf, judgeOf } from "./cases.ts";
import { meantBy } from "./evidence.ts";
import { casesOf, isHeir, lessonsIn } from "./lessons.ts";
import type { Matter } from "./rules.ts";
import { LEARNING_STORE } from "./store.ts";

/** How many edits and answers are searched for the subjects of an agent's rules. */
export const MOST_EVIDENCE = 1_000;
/** How many messages of a lesson show what it is about. */
const MOST_SITUATIONS = 10;

/** A message that is answered now, and whose it is. */
export interface Asked {
  readonly message: string;
  readonly contact: ContactId;
}

/** The content of lessons, with the messages that taught them, and whether they fit this one. */
export async function mattersOf(
  { store }: Pick<Parts, "store">,
  owner: AgentOwner,
  { message: asked, contact }: Asked,
): Promise<readonly Matter[]> {
  const all = await store.part(LEARNING_STORE).evidence(owner, MOST_EVIDENCE);
  const ended = new Set(await store.part(LEARNING_STORE).ended(owner));
  const cases = await casesOf({ store }, owner);
  const judge = judgeOf(cases);
  const lessons = lessonsIn(all);
  const gone = new Map([...lessons].map(([id, sources]) => [id, judge.overSince(formsOf(sources))]));
  return [...lessons].map(([id, sources]) => {
    const { wrong, instead } = meantBy(sources);
    const forms = formsOf(sources);
    // A replacement fits the messages of what it replaced.
    const before = [...lessons].filter(
      ([other]) => other !== id && isHeir(sources, { id: other, over: gone.get(other) }),
    );
    const known = { ...forms, instead: [...forms.instead, ...before.flatMap(([, old]) => formsOf(old).instead)] };
    const situations = [...new Set(sources.map(({ situation }) => situation))].slice(0, MOST_SITUATIONS);
    return {
      ...{ message: instead === "" ? wrong : instead, situations },
      general: judge.isGeneral(known),
      fit: judge.fit(known, { message: asked, contact }),
      isOver: ended.has(id) || gone.get(id) !== undefined,
    };
  });
}
