import type { ContactId } from "../../protocol/index.ts";
import type { AgentOwner } from "../../store/index.ts";
import type { Parts } from "../../turn/index.ts";
import { formsOf, judgeOf, type Taught } from "./cases.ts";
import { meantBy } from "./evidence.ts";
import { type Known, knownOf } from "./known.ts";
import { isHeir } from "./lessons.ts";
import type { Matter } from "./rules.ts";

/** How many messages of a lesson show what it is about. */
const MOST_SITUATIONS = 10;

/** A message that is answered now, and whose it is. */
export interface Asked {
  readonly message: string;
  readonly contact: ContactId;
}

/** A matter whatever the message is, and by which forms it is known whether it fits one. */
interface Subject extends Omit<Matter, "fit"> {
  readonly forms: Taught;
}

const SUBJECTS = new WeakMap<Known, readonly Subject[]>();

/** The content of lessons, with the messages that taught them, and whether they fit this one. */
export async function mattersOf(
  parts: Pick<Parts, "store">,
  owner: AgentOwner,
  asked: Asked,
): Promise<readonly Matter[]> {
  const known = await knownOf(parts, owner);
  const subjects = SUBJECTS.get(known) ?? subjectsOf(known);
  SUBJECTS.set(known, subjects);
  const judge = judgeOf(known.cases);
  return subjects.map(({ forms, ...matter }) => ({ ...matter, fit: judge.fit(forms, asked) }));
}

function subjectsOf({ cases, lessons, ended }: Known): readonly Subject[] {
  const judge = judgeOf(cases);
  const gone = new Map([...lessons].map(([id, sources]) => [id, judge.overSince(formsOf(sources))]));
  return [...lessons].map(([id, sources]) => {
    const { wrong, instead } = meantBy(sources);
    const own = formsOf(sources);
    // A replacement fits the messages of what it replaced.
    const before = [...lessons].filter(
      ([other]) => other !== id && isHeir(sources, { id: other, over: gone.get(other) }),
    );
    const forms = { ...own, instead: [...own.instead, ...before.flatMap(([, old]) => formsOf(old).instead)] };
    const situations = [...new Set(sources.map(({ situation }) => situation))].slice(0, MOST_SITUATIONS);
    return {
      ...{ message: instead === "" ? wrong : instead, situations, forms },
      general: judge.isGeneral(forms),
      isOver: ended.has(id) || gone.get(id) !== undefined,
    };
  });
}
