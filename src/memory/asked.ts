import { type AskedDate, datesIn } from "./dates.ts";
import { foldedWords, foldName, type Word } from "./fold.ts";
import {
  AGENT_ROLES,
  FIRST_PERSON,
  FIRST_PERSON_SPACELESS,
  FUNCTION_SIGNS,
  PERSON_ROLES,
  SECOND_PERSON,
  SECOND_PERSON_SPACELESS,
  STOP_WORDS,
} from "./word-lists.ts";

/** Characters of a query that are read: no real query is longer. */
const LONGEST_TEXT = 20_000;
/** Different terms that are looked up: those that come first and have the greatest weight. */
const MOST_TERMS = 512;

/** A search's meaning, read from its texts alone. */
export interface ParsedQuery {
  /** The terms to look for, folded, each with the weight of the text it comes from. */
  readonly terms: ReadonlyMap<string, number>;
  readonly who: Who;
  readonly dates: readonly AskedDate[];
  /** When it is asked, if that is known. */
  readonly at: number | undefined;
  /** Whether it is a question, contains one beside a statement (`aside`), or only states something. */
  readonly asks: Asks;
  readonly asksWhen: boolean;
  /** It asks for help or advice, so what its writer once said about how they want things done may matter, whatever its words. */
  readonly asksHelp: boolean;
  /** It is about the present or the future, not about the past. */
  readonly asksNow: boolean;
  /** It asks about what was said or shown just now: "where did you take this?" */
  readonly points: boolean;
  /** It begins with a reaction to what was said just now, and then the question is mostly about that: "Wow, well done! How did it go?" */
  readonly reacts: boolean;
  /** It asks for a course of events over several conversations: their order, or a summary. */
  readonly asksCourse: boolean;
}

export type Asks = "question" | "aside" | "nothing";

/** Whose words are asked for. Names are folded; empty if no one is meant. */
export interface Who {
  /** The speaker who is named, if it is only one. */
  readonly named: string;
  /** Who asks, and whom they talk to. */
  readonly self: string;
  readonly other: string;
  /** If no one is named: the asker speaks of themselves (`saysMe`), or of the person they talk to (`saysYou`). */
  readonly saysMe: boolean;
  readonly saysYou: boolean;
}

/** Only as a question: in conversations, "when" mostly begins a clause. */
const ASKS_WHEN =
  /\bwhen(?:['’]s|\s+(?:did|does|do|is|was|were|are|will|would|has|have|had|can|could|should))\b|\b(?:what|which)\s+(?:date|day|month|year|time)\b|\bhow long ago\b|什么时候|何时|いつ|เมื่อไหร่|\b(?:wann|quand|cuándo)\b/i;
const ASKS_HELP =
  /\bhow (?:(?:do|can|should|would|could|might) (?:i|we|one)|to)\b|\b(?:can|could|would) you\b|\bwhat (?:would|should|steps|are (?:some|the)|is the best|do i need)\b|\bsuggest|\brecommend|\b(?:help|show) (?:me|us)\b|\bexplain\b|\bbest way\b|\b(?:i['’]m|i am|we['’]re|we are) (?:trying|working|planning|looking|thinking|about)\b|(?<!,\s)\bwhich\b|\btips\b|\badvice\b|\bwhere (?:do you think|should)\b|\b(?:kannst|könntest|würdest) du\b|\bwie (?:kann|soll|mache)\b|\bpourrais-tu\b|\bcomment (?:puis|faire)\b|\bpuedes\b|\bcómo (?:puedo|debo|hago)\b|怎么|怎麼|如何|建议|推荐|どう(?:すれば|やって)/iu;
/** A question about the past is answered by what was said, not by how the asker wants answers to be. */
const ASKS_PAST = /\b(?:did|have|has|had|was|were|summar\w*|throughout|across|order in which)\b/i;
/** A task that is given without a question. */
const TASK =
  /(?:^|[.!\n]\s*)(?:please |now |ok,? |and )*(?:translate|convert|calculate|compute|fix|create|make|generate|review|rewrite|rephrase|refactor|edit|implement|add|build|prepare|design|sort|format|draft|shorten|outline|estimate|solve|analy[sz]e)\b/i;
/** Whether it asks how things were before, and what replaced them. */
const ASKS_CHANGE =
  /\b(?:chang(?:e|ed|ing)|used to|before|previous(?:ly)?|earlier|still|any ?more|switch(?:ed)?|updated?|originally|at first|no longer|früher|vorher|noch immer|avant|antes)\b|以前|之前|原来|前は/iu;
const ASKS_COURSE =
  /\bin (?:what|which) order\b|\border in which\b|\b(?:list|in) (?:the )?order\b|\bchronolog|\btimeline\b|\bsummar|\bthroughout\b|\bover time\b|\bacross (?:my|our|all)\b|\b(?:evolved?|developed|progressed)\b|\bwalk me through the\b|\breihenfolge\b|\bzusammenfass|\bordre\b|\brésum|\ben qué orden\b|\bresum|顺序|总结|順番/i;
/** Polite phrases in which "you" and "me" refer to no one: "can you", "tell me". */
const COURTESY =
  /\b(?:can|could|would|will|do|if) you (?:please )?(?=(?:list|walk|tell|give|show|help|explain|suggest|recommend|summar\w*|remind|remember|recall|know|think|provide|describe|write|make|find|check|compare|create)\b)|\b(?:tell|show|give|help|remind|let|walk) (?:me|us)\b|\bthank you\b|\bkannst du\b|\bkönntest du\b/gi;

/** The agent, named by its role, as the speaker of something. */
const OF_AGENT =
  /\b(?:did|has|had|does) (?:the|my|our) (?:assistant|agent|ai|bot|chatbot)\b|\b(?:the|my|our) (?:assistant|agent|ai|bot|chatbot) (?:said|says|told|tells|suggested|recommended|mentioned|advised|explained|gave|wrote)\b/i;

export interface AskedText {
  readonly text: string;
  readonly weight: number;
}

/** The participants: the speakers in the index, and who asks whom, if that is known. */
export interface Talkers {
  readonly speakers: readonly string[];
  readonly asker?: string | undefined;
  readonly agent?: string | undefined;
  /** When it is asked: what "last week" means. */
  readonly at?: number | undefined;
}

/** Reads the texts of a search. */
export function readAsked(texts: readonly AskedText[], talkers: Talkers): ParsedQuery {
  const cut = texts.map(({ text, weight }) => ({ text: text.slice(0, LONGEST_TEXT), weight }));
  const newest = cut[0]?.text ?? "";
  const words = cut.map(({ text, weight }) => ({ words: foldedWords(text), weight }));
  const { speakers } = talkers;
  const asks = asksIn(newest);
  const asksNow = isOfNow(newest, asks);
  return {
    terms: termsOf(words, new Set(speakers.flatMap((name) => name.split(" ")))),
    who: whoOf(newest, words[0]?.words ?? [], talkers),
    dates: datesIn(newest, talkers.at),
    at: talkers.at,
    asks,
    asksWhen: ASKS_WHEN.test(newest),
    asksHelp: asksNow && ASKS_HELP.test(newest),
    asksNow,
    points: pointsIn(newest),
    reacts: reactsIn(newest),
    asksCourse: ASKS_COURSE.test(newest),
  };
}

/**
 * A question mark, a question's first word, or a request: also for languages whose questions often have no mark. After a comma, "who" and
 * "which" begin no question but a clause.
 */
const QUESTION =
  /[?？؟\u037e՞]|[吗嗎呢]|什么|什麼|怎么|怎麼|谁|哪|几|多少|(?:ですか|ますか|かな|何|誰|どこ|いつ)|(?:^|[.!\n]\s*|,\s*(?!who|whose|when|where|which))(?:and |so |but |ok,? |hey,? )?(?:who|whom|whose|what|when|where|which|why|how|did|does|do|is|are|was|were|can|could|have|has|wer|was|wann|wo|wie|warum|qui|que|quoi|quand|où|comment|quién|qué|cuándo|dónde|cómo)\b|\b(?:remember|remind|recall|tell me|look up|find out|erinner|rappelle|recuerd)|(?:^|[.!,\n]\s*)(?:please )?(?:help|show|explain|suggest|recommend|give|write|draft|plan|list|describe|summar\w*|compare)\b/iu;

const isOfNow = (text: string, asks: Asks): boolean => (asks !== "nothing" || TASK.test(text)) && !ASKS_PAST.test(text);

/** Whether help is asked for. */
export const asksHelp = (text: string): boolean => isOfNow(text, asksIn(text)) && ASKS_HELP.test(text);

/** Whether a text asks about a change: then facts that are no longer true belong to the answer. */
export const asksChange = (text: string): boolean => asksIn(text) !== "nothing" && ASKS_CHANGE.test(text);

const SENTENCES = /[^.!?。！？\n]+[.!?。！？]*/gu;
const POINTS =
  /\b(?:this|these|those|it|here)\b|\bthat(?=\s*(?:[?,]|$|one\b|like\b|too\b))|\b(?:about|of|like|to|for|with|on|in|is|was|did|after) that\b|\b(?:das|dies\w*|ça|cela|eso|esto)\b|这|那个|これ|それ/iu;

function pointsIn(text: string): boolean {
  return (text.match(SENTENCES) ?? []).some((sentence) => QUESTION.test(sentence) && POINTS.test(sentence));
}

function reactsIn(text: string): boolean {
  const at = text.search(/[!！]/u);
  return at >= 0 && /[?？؟]/u.test(text.slice(at));
}

/** Compares, sentence by sentence, how much of a text is a statement and how much a question. */
export function asksIn(text: string): Asks {
  if (!QUESTION.test(text)) return "nothing";
  const sentences = text.match(SENTENCES) ?? [];
  const told = sentences.filter((sentence) => !QUESTION.test(sentence)).reduce((sum, { length }) => sum + length, 0);
  return told > text.length / 2 ? "aside" : "question";
}

function whoOf(newest: string, words: readonly Word[], talkers: Talkers): Who {
  const { self, other } = pairOf(talkers);
  const said = new Set(words.map(({ word }) => word));
  const named = talkers.speakers.filter((name) => name !== "" && said.has(name.split(" ")[0] ?? ""));
  const [one = ""] = named;
  if (named.length > 0) return { named: named.length === 1 ? one : "", self, other, saysMe: false, saysYou: false };
  if (other !== "" && OF_AGENT.test(newest)) return { named: other, self, other, saysMe: false, saysYou: false };
  const plain = newest.replace(COURTESY, " ");
  const meant = plain === newest ? words : foldedWords(plain);
  return {
    named: "",
    self,
    other,
    saysMe: meant.some(({ word }) => FIRST_PERSON.has(word) || FIRST_PERSON_SPACELESS.test(word)),
    saysYou: meant.some(({ word }) => SECOND_PERSON.has(word) || SECOND_PERSON_SPACELESS.test(word)),
  };
}

/** Who asks whom: by name if that is known, otherwise by the names of roles, otherwise whoever is left of two. */
function pairOf({ speakers, asker, agent }: Talkers): Pick<Who, "self" | "other"> {
  const talking = speakers.filter((name) => name !== "");
  const known = (name: string | undefined): string =>
    name !== undefined && talking.includes(foldName(name)) ? foldName(name) : "";
  const only = (names: readonly string[]): string => (names.length === 1 ? (names[0] ?? "") : "");
  const self = known(asker) || only(talking.filter((name) => PERSON_ROLES.has(name)));
  const other = known(agent) || only(talking.filter((name) => AGENT_ROLES.has(name)));
  const left = (than: string): string =>
    than === "" || talking.length !== 2 ? "" : only(talking.filter((name) => name !== than));
  return { self: self || left(other), other: other || left(self) };
}

type Weighted = readonly { readonly words: readonly Word[]; readonly weight: number }[];

/** All words except stop words and speakers; if nothing else is left, all words. */
function termsOf(texts: Weighted, names: ReadonlySet<string>): ReadonlyMap<string, number> {
  const isMeant = (word: string) => !STOP_WORDS.has(word) && !names.has(word);
  const telling = collect(texts, isMeant, (term) => !FUNCTION_SIGNS.test(term));
  if (telling.size > 0) return telling;
  return new Map([...collect(texts, everything, everything)].map(([term, weight]) => [term, COMMON_ALONE * weight]));
}

/** The weight of stop words: they find something if there are no other words, but are hardly evidence of anything. */
const COMMON_ALONE = 0.1;

const everything = () => true;

type Test = (text: string) => boolean;

function collect(texts: Weighted, isMeant: Test, tells: Test): ReadonlyMap<string, number> {
  const terms = new Map<string, number>();
  for (const { words, weight } of texts) {
    for (const term of words.flatMap(({ word, terms: own }) => (isMeant(word) ? own.filter(tells) : []))) {
      const known = terms.get(term);
      if (known === undefined && terms.size >= MOST_TERMS) continue;
      terms.set(term, Math.max(known ?? 0, weight));
    }
  }
  return terms;
}
