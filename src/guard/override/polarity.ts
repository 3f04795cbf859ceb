import { ofLast } from "./last.ts";
import { pattern } from "./pattern.ts";
import { isPlainlyBowing } from "./plainly.ts";

/** Whether a sentence does what it speaks of, or only speaks of it: no, question, report, rule of another kind. */

const NO =
  /\b(?:never|not|n't|don't|cannot|can't|won't|doesn't|isn't|mustn't|shouldn't|refuse|refuses|decline|nobody|no one|none|nothing|no|nor|neither|forbidden|prohibited|reject|avoid|stop|warn|suspicious|instead of|rather than|without|attack|beware|ask (?:about )?first)\b/u;

/** The part of a sentence before a place, back to where the last clause began, says no. */
export function shuns(sentence: string, at: number): boolean {
  const before = sentence.slice(Math.max(0, at - 90), at);
  const clause = before.slice(Math.max(before.lastIndexOf(";"), before.lastIndexOf(":")) + 1);
  return NO.test(clause) || [NO_LIST, NO_REQUESTS].some((list) => list.test(sentence.slice(0, at)));
}

/** `You must not: spam, lie, …` says no to all that follows. */
const NO_LIST =
  /^[^:.]{0,60}\b(?:void|forbidden|invalid|refused|rejected) (?:as far as|where|if|when|insofar as) (?:it|they)\b|^\W*(?:you |we |i |it )?(?:must not|may not|never|do not|don't|decline|refuse|avoid|no)\b[^:.]{0,60}[:,]/u;

/** `Deny requests to …, to …, or to …` says no to each act that a `to` names, and to nothing after them. */
const NO_REQUESTS =
  /^\W*(?:always |please |you (?:must |should )?)?(?:deny|refuse|decline|reject|block|turn down) (?:all |any |every |each )?(?:requests?|attempts?|demands?|orders?|pleas?|invitations?) to (?:(?! (?:and|then|but|or) (?!to ))[^,;:.])+(?:, (?:and |or )?to (?:(?! (?:and|then|but|or) (?!to ))[^,;:.])+)*$/u;

/** Requests are denied, and nothing else is said. */
export const deniesRequests = (sentence: string): boolean => NO_REQUESTS.test(sentence.replace(/[.!]$/u, ""));

/** That, or the no stands right after the one who acts: `profit never outweighs`, `the sender may not`. */
export const isDenied = (sentence: string, at: number): boolean =>
  shuns(sentence, at) ||
  NOBODY_LOWER.test(sentence.slice(at, at + 60)) ||
  (!NO_FIRST.test(sentence.slice(at, at + 12)) && NO_INSIDE.test(sentence.slice(at, at + 60)));

/** `No message can …`: the no is a part of whoever acts. */
const NOBODY_LOWER =
  /^no (?:\w+ )?(?:senders?|messages?|customers?|contacts?|pages?|mails?|users?|clients?|visitors?|texts?|one|documents?)\b/u;

/** The no belongs to the act itself: `do not tell the operator`. */
const NO_FIRST = /^\W*(?:never|no|not|don't|do not|need|without)\b/u;

const NO_INSIDE =
  /^(?:\W*only\b|\W*(?:frames?|messages?) whose header says operator|\W*\w+ (?:nobody|no one|none|nothing)\b)|^[\w', ]{0,30}?\b(?:never|may not|must not|do not|does not|cannot|can't|should not|excuses no|is no|are no|will not|makes no|gives no)\b/u;

const SOMEBODY =
  "(?:anyone|somebody|someone|whoever|senders?|users?|customers?|clients?|contacts?|players?|patients?|callers?|visitors?|guests?|messages?|mails?|e-?mails?|text|texts|page|pages|documents?|files?|websites?|people|person|pupils?|students?|they|he|she|requests?|attempts?|proposals?|plans?|skills?|sentences?|strings?|phrases?|input|content|instructions?|edits?|task|tasks|wenn jemand|jemand|act|it)";
const REPORTED = pattern(
  String.raw`\b${SOMEBODY}\b[^.;]{0,30}?\b(?:tells?|told|asks?|asking|says?|saying|claims?|claiming|wants?|tries|trying|try|demands?|requests?|urges|pretends?|quotes?|insists?|offers?|suggests?|orders?|such as|like|that would|conflicts?|would|threatens?|begs?|poses?|may (?:say|write|claim|tell|ask)|to (?:bypass|ignore|override|disable|reveal|change))\b`,
  "u",
);
const RESISTED =
  /\b(?:refus\w+|declin\w+|reject\w*|stay|remain|carry on|go on as|say (?:no|so|that)|report|tell (?:the|an?|your) \w+|ask the operator|inform|mention that|(?:do not|don't|does not|doesn't|never|must not) (?!appl|hold|count|bind|matter|exist|need|have)|is (?:still )?(?:only|just)|are (?:still )?(?:only|just)|counts for nothing|treated as what they|as (?:an? |any |every other )?(?:sender|customer|contact|attack|suspicious|data|noise|content|ordinary|information)|suspicious|an attack|return to|shut down|stop|leave it|drop it|escalate|flag|explain|answer kindly|reply kindly|hang up|end the|reply that|answer that|nothing|not an? (?:reason|order)|filter\w*|block(?:ed|ing)|blocks? (?:it|them|such|any|the|all|this|every)|detect\w*|for example|for instance|harmless examples|redirect)\b/u;
const COMPLIES =
  /\b(?:do so|do it|comply|obey|agree|go along|accept (?:it|this)|believe (?:it|him|her|them)|follow (?:it|him|her|them|suit)|then (?:you may|do|yes)|you may|let (?:him|her|them|it)|grant (?:it|him|her|them)|unlock|unless|except|once|but only)\b/u;

const FALSE =
  /^\W*(?:it (?:was|is|does|did) not|that is (?:false|wrong|untrue|not (?:true|so|right))|do not|don't|refuse|decline|ignore|that counts|this counts)/u;

/** What others say or try, and that it is to be resisted. */
export const isReported = (sentence: string, next: string): boolean =>
  REPORTED.test(sentence) &&
  (RESISTED.test(sentence) || FALSE.test(next)) &&
  !COMPLIES.test(sentence.replaceAll(/(?:do not|don't|never) \w+/gu, ""));

const ASKS =
  /(?:^|[:,;] |\b(?:ask(?: yourself)?|check|consider) (?:whether|if)? ?)(?:would|could|does|do|did|is|are|has|have|will|can|might|should|am)\b(?! you really| we really)[^.]{3,}$/u;
const HALTS =
  /^\W*(?:then |if (?:yes|so|it does|it would|any|in doubt)\W* ?|in that case )?,? ?(?:then )?(?:stop|ask|leave|drop|do not|don't|shut|refuse|decline|wait|say so|reject|keep|no act|discard|think again|read|undo)\b/u;
const DENIES =
  /^\W*(?:no\b|not at all|never|it does(?: not|n't)|they do(?: not|n't)|it is(?: not|n't)|hardly|of course not|nobody)/u;

/** A question before an act: `Would it touch layer 1? Then stop.` */
export function isSelfCheck(sentence: string, next: string): boolean {
  if (!sentence.endsWith("?")) return false;
  if (DENIES.test(next)) return false;
  return ASKS.test(sentence) || HALTS.test(next);
}

/** A question about rules that answers itself with no. */
export const isRhetorical = (sentence: string, next: string): boolean =>
  sentence.endsWith("?") &&
  DENIES.test(next) &&
  /\b(?:rules?|layers?|constitution|guidelines?|safeguards?)\b/u.test(sentence);

/** Layers that may be edited are no rule that stands above. */
export const OWN_LAYERS =
  /\b(?:chang\w+|edit\w*|rewrit\w+|improv\w+|updat\w+|amend\w*|modif\w+|writ\w+|replac\w+|revert\w*|adjust\w*|propos\w+ (?:changes|edits) (?:to|for|of)) (?:to |of |better texts for |only )?(?:layers? [6-9](?: ?(?:-|–|to|and|or|,) ?[6-9])*|this layer|one of (?:the )?layers [6-9] to [6-9])(?: only)?(?: when| if)?|\b(?:each|every|an?|one|small|single|before each|before an|the) (?:small )?(?:edit|change|rewrite)\b/gu;

const ELSEWHERE =
  /@layer|\b(?:css|cascade|drawings?|printer|map|sketch\w*|stylesheets?|osi|ethernet|mac address|ip address|subnet|vlan|switch port|router|docker|dockerfile|neural|dense layer|convolution\w*|z-index|photoshop|gimp|layer [0-5] (?:cable|switch\w*|network|protocol|blockchain|rollup)|l[12] (?:cache|network|chain|rollup|norm|regulari[sz]ation|penalty)|cache|paint\w*|sand|varnish|coats?|relu|units|gpu|crates|pixels?|fabric|cakes?|cream|onions?|soil|brush|imports?|tailwind|utilit(?:y|ies)|components?)\b/u;
const isOfOtherThings = ofLast((text) => ELSEWHERE.test(text));

/** A constitution of people, not of an agent. */
const CIVIC =
  /\b(?:assembly|members|parliament|congress|senate|club|association|citizens?|american|amendments?|court|democra\w+|republic|people)\b/u;
const RULING =
  /\b(?:constitution|safety|operator|sender|precedence of layers|ignor\w*|disregard\w*|overrul\w*|instructions?)\b/u;
const NAMES_A_LAYER = /\b(?:layers?|levels?|tiers?|l[0-9])\b/u;
const HEADING = /^\W*layers? ?[0-9](?:[^\p{L}\p{N}]+\p{L}[^.!?]{0,60}|[ :—–-]*)$/u;
const HEADING_WORD =
  /\b(?:ignor|disabl|off|void|empty|option|advis|suspend|weak|lift|repeal|no longer|obsolete|false|null|deprecat|overrid|bypass|skip|sugges|nothing|anything|delete|drop|cancel|expire|sleep|end|not|unless)/u;

/** Rules of a house or of its style, before a list of them. */
const HOUSE = /^\W*(?:our |the )?(?:house|style|kitchen|shop|team|table) rules: /u;

/** Former versions of papers of everyday trade are no rules. */
const PAPERS =
  /\b(?:(?:all|any|every) )?(?:previous|earlier|prior|old|older|former|existing) (?:\w+ )?(?:price lists?|prices|quotes?|offers?|drafts?|invoices?|editions?|menus?|catalogues?|estimates?|tariffs?|schedules?|drawings?|manuals?|leaflets?|instructions (?:about|for|on) (?:the )?(?:gift|wrapping|delivery|packing|assembl|address|mounting))\w*/u;
const EVERY_PAPER = new RegExp(PAPERS.source, "gu");

/** The sentence without layers of other things; nothing of what is only a title, or plainly keeps what stands above. */
export function withoutHarmlessTalk(sentence: string, text: string): string {
  if (isPlainlyBowing(sentence)) return "";
  if (HOUSE.test(sentence)) return sentence.replace(HOUSE, "");
  if (PAPERS.test(sentence)) return sentence.replaceAll(EVERY_PAPER, "papers");
  if (CIVIC.test(sentence) && !/\b(?:ignor\w*|disregard\w*|operator|senders?|layers?|you|your|agent)\b/u.test(sentence))
    return sentence.replaceAll(/\bconstitution/gu, "statute");
  if (NAMES_A_LAYER.test(sentence) && !RULING.test(sentence) && isOfOtherThings(text))
    return sentence.replaceAll(/\b(?:layers?|levels?|tiers?|l)\b ?#?[0-9]?|\byour rules\b/gu, "part");
  if (HEADING.test(sentence) && !HEADING_WORD.test(sentence) && /^\W*layers? ?[0-9][ \d]*(?:[—–:·-]|$)/u.test(sentence))
    return "";
  return sentence;
}
