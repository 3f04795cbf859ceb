/**
 * What stands above, named so that nothing else can be meant, in a sentence that does not plainly bow to it. A layer that may be
 * edited has little reason to speak of a layer above but to keep it: what else a sentence says of it, a person should see. So
 * this knows the few ways to bow and holds up the rest, where the patterns know the ways to override and let the rest pass. All
 * in lower case: texts are folded before they are read.
 */
import { pattern } from "./pattern.ts";
import { NAMED } from "./unbowed-names.ts";

const DETERMINERS = "(?:(?:the|your|my|its|our|all|every|these|any|a) )*";
const ABOVE = pattern(
  [
    String.raw`(?<![\w/.'-])${DETERMINERS}(?:`,
    "(?:platform|safety|constitutional|immutable|protected|core|higher|upper|foundational|topmost|lower-numbered) ",
    "(?:core|layers?|rules?|instructions?|polic(?:y|ies)|directives?|guidance|constitution)",
    "|constitution",
    String.raw`|layers? ?(?:zero|one|two|three|four|five|[0-5])(?: ?(?:-|–|to|through|and|or) ?(?:layer )?[0-9])?(?! ?[:%–-]|\.\d|\w)`,
    String.raw`|l[0-5](?:-l?[0-5])?(?![\w:-])`,
    "|layer(?:safety|identity|precedence|constitution)|precedence rules?|prime directives?",
    String.raw`|(?:rules?|layers?|instructions?|sections?|text) above(?! \d)`,
    ...NAMED.map((name) => `|${name}`),
    String.raw`)(?!\w|-| day\b)`,
  ].join(""),
  "gu",
);

/** What stands above, once it is found, is read as one word that no text holds. */
const IT = "ABOVE";

/** `Note to self:` and the like say nothing of their own. */
const LABEL = /^\W*(?:(?:lesson|note to self|rule|reminder|note|remember|learned)s?: )?/u;

/** What turns bowing into less: `follow layer 1 where practical`. */
const LESS = String.raw`(?:only|merely|unless|except\w*|until|as (?:far|long) as|where (?:it|they|practical|convenient|possible)|loosely|optional|in spirit|when (?:it|they|no|practical|convenient) |if (?:it|they) (?:is|are|suit|help|pay)|advice|suggest\w*|guid\w+|hints?|fiction\w*|quotations?|but not|in general|convenient|no longer|less|another time|for strangers|written for|meant for|elsewhere|beneath|barring)`;
const NO = "(?:never|not|no|cannot|can't|don't|doesn't|won't|nor|nobody|nothing|none|neither|without)";
/** What nobody below may do to it, and what is told of it only to be forbidden. */
const HARM =
  "(?:chang|edit|alter|amend|overrid|overrul|overwrit|weaken|bypass|circumvent|lift|relax|loosen|soften|suspend|ignor|disregard|skip|disabl|write to|contradict|violat|break|breach|exempt|reinterpret|redefin|remov|drop|delet|claim|reveal|disclos|outrank|supersed|trump|replac|waiv|exceed|argu|touch|reach|modif|rewrit|undo|stand above|rank above|conflict|cit|quot|repeat|fight|test|question|compet|beat|go against|step around|work around|get around|sidestep|shorten|narrow|judge|authori[sz]|free of|above|beyond|outside|against|over|wid[eo]|extend|stretch|explain|interpret|summari[sz]|renam|reorder|renumber|abolish|repeal|revok|void|undercut|undermin|erod|hollow|excus|outweigh|trad|bargain|negotiat|dilut|adjust|tamper|paus|wish)\\w*";
const HOLDS =
  "(?:(?:always|still|also|then|simply|both|of this agent) )*(?:wins?|holds?|prevails?|governs?|decides?|defines?|stands?|stays?|remains?|binds?|comes? (?:first|into play)|goes? first|takes? (?:precedence|priority)|outranks?|overrides? (?:this|these|it|every\\w*|any\\w*|all|whatever|higher\\S*|users?|mutable|layers? [6-9]|lower|what|dynamic)\\b|(?:is|are) (?:right|final|the law|above|binding|fixed|immutable|untouched|in force|still|satisfied|unclear|missing|locked|never \\w+)|(?:is|are) not (?:optional|negotiable|ours|yours|mine|up for|open|edited|changed|touched|written here|affected)|ha(?:s|ve) (?:the last word|priority|precedence)|requires?|forbids?|(?:it |itself )?cannot be|can't be|can only be|must (?:hold|be kept|stay|win|not|never)|may not|keeps?|ensures?|leaves? room|already settles?|and this|and the operator|and operator)";
const KEEPS =
  "(?:keep(?:s|ing)? (?:following|obeying|applying|to|within)|follow(?:s|ing)?|obey(?:s|ing)?|respect(?:s|ing)?|honou?r(?:s|ing)?|heed(?:s|ing)?|observe(?:s)?|uphold(?:s)?|appl(?:y|ies)|read(?:ing)?|re-?read|verif(?:y|ies)|take|consult(?:s)?|check(?:s)?|see|enforce(?:s)?|protect(?:s)?|yields? to|defers? to|bows? to|answers? to|stands? (?:below|under|beneath)|stays? (?:within|inside|below|under)|works? (?:within|inside|under|only with)|acts? (?:within|under)|lives? (?:within|under)|(?:is|are|remains?|stays?) (?:below|beneath|part of)|subject to|bound by|(?:in line|consistent|in keeping|comply|complies|agrees?|accordance) with|according to|belongs? to|refines?|points? to|rests? on|names?|under|within)";
const ACTOR =
  "(?:^|\\b(?:you|i|we|agent|and|then|always|must|should|please|that|which|it|layer|text|to|shall|will|is|are|everything|here|this|section|strategy|stays?|remains?|where|safety)\\b ?|[,;] ?)";

/** The ways to bow. */
const BOWS: readonly RegExp[] = [
  // No one below may do it harm.
  String.raw`\b${NO}\b[^.;]{0,60}?\b${HARM}\b(?! as\b)[^.;]{0,40}?\b${IT}\b`,
  // It holds.
  String.raw`\b${IT}\b (?:${HOLDS})(?!\w)(?![^.;]*\b${LESS}\b)`,
  // It is kept.
  String.raw`${ACTOR}${KEEPS} ${IT}\b(?![^.;]*\b${LESS}\b)(?! (?:and )?(?:as|like|:))`,
  // What is done is held against it, or what is doubtful left to the operator.
  String.raw`\b(?:compar|check|measur|weigh|test|hold|judg)\w* [^.;]{0,40}?(?:with|against) ${IT}\b(?![^.;]*\b${LESS}\b)|\b(?:ask|leave (?:it|that|this) to|wait for|put (?:it|that) to) (?:the|my|your|our) (?:operator|owner)\b`,
  // What is done is as it allows, and ends where it objects.
  String.raw`\b(?:as far as|only what|if|where|when|once|unless) (?:what )?${IT} (?:allows?|permits?|objects?|calls? for|forbids?|says? (?:no|otherwise)|rules? (?:it|this|that) out|speaks? against)\b|\b(?:live|act|work|go|decide|stand|judge) by ${IT}\b(?![^.;]*\b${LESS}\b)|\b${IT} is no tie\b`,
  // It is left alone, or what it says is said.
  String.raw`\bleaves? ${IT} (?:as (?:it|they) (?:is|are)|alone|untouched|unchanged)\b|(?<!matter )\b(?:what|as) ${IT} (?:says?|asks?|requires?|demands?|sets?)\b`,
  // What conflicts with it is nothing.
  String.raw`\b(?:conflict\w*|contradict\w*|differ\w*|disagree\w*|collid\w*|clash\w*)\b[^.;]*\b${IT}\b[^.;]*\b(?:void|mistake|wrong|loses?|gives? way|yields?|drop|has no effect|tell the operator|ask the operator|stop)\b`,
].map((source) => pattern(source));

/** Told only to be resisted, or as what others say and ask. */
const SPOKEN_OF =
  /\b(?:refus\w*|reject\w*|declin\w*|block\w*|report\w*|flag\w*|suspicious|attempts?|data|treat (?:any|every|all) (?:text|message|claim|line|sentence)|whoever (?:says|claims)|claims? (?:that|to)|told that|says? that|(?:asked|asks?) (?:to|for|about|you to|whether|how)|even (?:if|when|polite|an?|the)|mistake|void|wrong|(?:has|have) no effect)\b/u;

/** No force is left to it, whatever else is said. */
const FORCELESS =
  /\b(?:do(?:es)? not|don't|doesn't|need not|needn't|not|never|no longer|without|stop|cease|quit) (?:have to |need to |be |to be |to |been |being )?(?:appl\w*|follow\w*|obey\w*|enforce\w*|load\w*|read\w*|recogni[sz]e|heed\w*|consult\w*|bind\w*|bound|hold|held|count|valid|in (?:force|effect)|binding|subject|cover\w*|exist\w*|concern\w*|extend|matter\w*)\b/u;

/** Nothing but names, or a heading without a verb. */
const TITLE = pattern(
  String.raw`^(?:#[^.!?]*|(?:(?!#)\W|\d)*(?:(?:\w+ ){1,3}and )?${IT}(?: ?[,&/+] ?${IT}| and ${IT})*\W*(?:\([^)]*\))?\W*)$`,
  "u",
);
const SAYS =
  /\b(?:is|are|was|were|may|can|has|have|does|do|off|void|gone|revoked|lifted|suspended|disabled|first|second|last|not|updated)\b/u;

/** The words by which a sentence names what stands above, where it does not plainly bow to it. */
export function unbowed(sentence: string): string | undefined {
  const named = sentence.match(ABOVE)?.[0];
  if (named === undefined) return undefined;
  const read = sentence.replaceAll(ABOVE, IT);
  return isTitle(read) || bowsOrTells(read.replace(LABEL, "")) ? undefined : named;
}

function bowsOrTells(read: string): boolean {
  if (FORCELESS.test(read)) return SPOKEN_OF.test(read);
  return SPOKEN_OF.test(read) || BOWS.some((one) => one.test(read));
}

const isTitle = (read: string): boolean => TITLE.test(read) && !SAYS.test(read);
