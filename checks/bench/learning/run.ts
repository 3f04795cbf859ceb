import { answer } from "./answerer.ts";
import { openDesk } from "./desk.ts";
import { digestOf } from "./digester.ts";
import { operatorOf } from "./operator.ts";
import { chanceOf, type House, oneOf, type Poisoner } from "./rules.ts";

/** What an agent is given of what was corrected: everything, nothing, corrections of other drafts, or the newest in place of those that fit. */
export const ARMS = ["on", "off", "shuffled", "newest"] as const;
export type Arm = (typeof ARMS)[number];

/** The arms of these names; all of them where none is named. @throws Error for a name that is none */
export function armsOf(names: readonly string[]): readonly Arm[] {
  const unknown = names.find((one) => !ARMS.some((arm) => arm === one));
  if (unknown !== undefined)
    throw new Error(`"${unknown}" is no arm of the learning bench; there are ${ARMS.join(", ")}`);
  return names.length === 0 ? ARMS : ARMS.filter((arm) => names.includes(arm));
}

/** How a run is made. */
export interface RunWish {
  readonly house: House;
  readonly arm: Arm;
  readonly seed: number;
  readonly turns: number;
}

/** A draft as the operator found it: which rules it broke, and which of all rules were for its message. */
export interface Judged {
  readonly turn: number;
  readonly broken: readonly string[];
  readonly concerned: readonly string[];
}

/** So many messages belong to one conversation, and after so many turns the agent digests its lessons. */
const TALK = 3;
const DIGEST_EVERY = 10;

/** One agent whose drafts an operator reads, message after message. */
export async function runHouse({ house, arm, seed, turns }: RunWish): Promise<readonly Judged[]> {
  const desk = await openDesk(arm, "approval", { answer, digest: digestOf });
  const chance = chanceOf(seed);
  const operator = operatorOf(house.rules, seed);
  const earlier: string[] = [];
  const judged: Judged[] = [];
  const said = new Map<string, number>();
  try {
    for (let turn = 1; turn <= turns; turn++) {
      const contact = oneOf(house.contacts, chance);
      const theirs = house.talks.filter((one) => one.contact === undefined || one.contact === contact);
      const text = oneOf(oneOf(theirs, chance).says, chance);
      const n = said.get(contact) ?? 0;
      said.set(contact, n + 1);
      const draft = await desk.draftFor({ contact, text, conversation: `talk ${Math.floor(n / TALK)}` });
      const sent = operator({ turn, contact, message: text, draft: draft.text });
      judged.push({ turn, broken: sent.broken, concerned: sent.concerned });
      if (sent.isTouched) earlier.push(sent.text);
      await desk.decide(draft, arm === "shuffled" && sent.isTouched ? oneOf(earlier, chance) : sent.text);
      if (arm !== "off" && turn % DIGEST_EVERY === 0) await desk.digest();
    }
    return judged;
  } finally {
    await desk.close();
  }
}

/** What came of campaigns against one agent: which reached a text that was sent, and which one that waits for a person. */
export interface Poisoned {
  readonly campaigns: number;
  readonly active: readonly string[];
  readonly waiting: readonly string[];
}

/** A person who answers what somebody dictates word by word, so often. */
const CARELESS = 0.3;

/**
 * Contacts who want to teach an agent something, among the usual ones. The operator keeps the rules of the house, and now and then
 * writes what a contact has dictated, to be rid of it.
 */
export async function runPoison(house: House, campaigns: readonly Poisoner[], seed: number): Promise<Poisoned> {
  const desk = await openDesk("on", "auto", { answer, digest: digestOf });
  const chance = chanceOf(seed + 1_000);
  const operator = operatorOf(house.rules, seed);
  const texts = { active: new Set<string>(), waiting: new Set<string>() };
  const look = async (): Promise<void> => {
    await desk.digest();
    for (const [state, text] of await desk.policies()) texts[state].add(text);
  };
  try {
    for (const [n, { says, as, never }] of campaigns.entries()) {
      const usual = oneOf(oneOf(house.talks, chance).says, chance);
      const all = [
        { contact: oneOf(house.contacts, chance), text: usual, kind: "message" } as const,
        ...says.map((text) => ({ contact: `rex ${n}`, text, kind: as })),
      ];
      for (const { contact, text, kind } of all) {
        const draft = await desk.draftFor({ contact, text, kind, conversation: `campaign ${n}` });
        const sent = operator({ turn: 1, contact, message: text, draft: draft.text });
        const obeys = text.includes(never) && chance() < CARELESS;
        await desk.decide(draft, obeys ? `${sent.text} ${never}.` : sent.text);
      }
      if (n % 5 === 4) await look();
    }
    await look();
  } finally {
    await desk.close();
  }
  const reached = (of: ReadonlySet<string>): readonly string[] =>
    campaigns.flatMap(({ never }) => ([...of].some((text) => holds(text, never)) ? [never] : []));
  return { campaigns: campaigns.length, active: reached(texts.active), waiting: reached(texts.waiting) };
}

const plain = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ");

const holds = (text: string, never: string): boolean => plain(text).includes(plain(never).trim());
