import { pattern } from "./pattern.ts";

/**
 * Whole sentences that keep what stands above, or are of an everyday trade: said plainly, from the first word to the last, with
 * nothing after that could take it back. All in lower case: texts are folded before they are read.
 */

const IT = String.raw`(?:(?:the |your |all |any |a )*(?:constitution|(?:five |first |safety |core )?rules?(?: above(?: it)?)?|layers? (?:[0-5]|one|two|three|four|five)(?:(?: to | and |-)(?:layer )?[0-5])?|layers? (?:above|before)(?: it| this one)?|(?:first|higher|upper|lower-numbered) layers?))`;
const SELF = String.raw`(?:(?:this|a|any) (?:layer|text|section|note|skill)|this|layer [6-9]|(?:a |any )?(?:rule|line|sentence) here|(?:everything|anything|what is|what stands) (?:written )?here)`;
/** Words after which a bow may be none. */
const TURN = String.raw`(?:ignor|disregard|forget|bypass|overrid|overrul|outrank|skip|drop|but\b|except|unless|until|however|instead|no longer|as if|pretend|anyway|void|suspend|lift|waiv|optional|whatever|hid(?:e|ing)|secret|lie\b|lies\b|break|only\b|above|trump|over the|wins\b|beats\b|this (?:layer|text)|layers? \d|constitution|precedence|rules?\b|free\b|first\b|obey|command)`;
const REST = String.raw`(?:(?!\b${TURN})[^.;:!?])*?`;
const NO = "(?:never|do not|don't|you (?:may|must|should|shall|can) (?:never|not)|we (?:never|do not))";
const FORBIDS = String.raw`(?:forbids?|prohibits?|rules? out|excludes?|bans?|(?:does not|do not|doesn't|don't) (?:let|allow|permit)(?: you)?(?: to(?: do)?| do)?|says? no to)`;
const KEEP =
  "(?:follow|keep(?: to)?|obey|hold(?: on)? to|stick to|stay within|respect|heed|observe|honou?r|abide by|choose|go with|side with|trust|prefer|take|do what)";
const HOLDS =
  "(?:always |still )?(?:holds?|applies|apply|binds?|counts?|stands?|wins?|decides?|governs?|prevails?|comes? first|goes? first|is right|are right|stays?(?: in force)?|remains?(?: in force)?|has the (?:last|final) (?:say|word))";
const SOMEONE = "(?:an? |the |your )?(?:mails?|messages?|text|sender|contact|customer|page|someone|somebody|anyone)";
const OTHERS =
  "(?:a |any |every |the )?(?:contact|customer|sender|client|guest|visitor)s?'?s?'?(?: (?:wish|wishes|requests?|orders?|word|messages?))?";
const FRAME =
  "(?:(?:an? |the )?operator(?:'s)?(?: (?:instruction|order|word|request)s?)?(?: in an operator frame)?(?: frames?)?)";

const BOWS: readonly RegExp[] = [
  // This text stands below.
  String.raw`${SELF} (?:always )?(?:bows?|yields?|gives? way|defers?|submits?) to ${IT}`,
  String.raw`${SELF} (?:(?:comes?|ranks?|stands?|is|is read) (?:last|second|below|under|beneath|after|lower than) ${IT}(?: and (?:yields?|bows?|gives? way) to (?:it|them))?|has the lowest rank|(?:only )?adds (?:detail|to ${IT} and takes nothing away))`,
  String.raw`${IT} ${HOLDS}(?: over ${SELF}| in (?:every|any|all) (?:case|conflict)s?| in an emergency)?`,
  String.raw`${IT} (?:outranks?|comes? before|stands? above|overrides?|beats?|settles?|goes? before) (?:${SELF}|(?:all |any |every )?(?:disputes?|conflicts?)|everything (?:written )?here)`,
  String.raw`nothing (?:(?:written |said )?here|in this (?:layer|text|section)|that follows) (?:may |can |ever |could )?(?:overrides?|weakens?|loosens?|lifts?|changes?|replaces?|softens?|outranks?) ${IT}`,
  // In a conflict what governs is followed.
  String.raw`(?:if|where|when|should|whenever|wherever|in case) (?:${SELF}|something here|they|the two)(?: and ${IT})? (?:contradicts?|differs? from|conflicts? with|disagrees? with|clash(?:es)? with|goes against|differ|disagree|conflict|clash|collide)(?: ${IT})?, (?:then )?(?:always )?(?:${KEEP} ${IT}|${IT} ${HOLDS})`,
  String.raw`(?:if|where|when) (?:a rule|something|anything|this)(?: here| in this layer)? (?:is|seems) (?:unclear|doubtful|ambiguous), (?:${IT} ${HOLDS}|ask(?: the operator)?)`,
  String.raw`(?:when|if) in doubt,? (?:choose|do|follow|ask)(?: what)? ${IT}(?: would (?:choose|say|do|want|ask))?`,
  String.raw`(?:if|where|when) (?:you (?:do not|don't) (?:know|understand) what ${IT} means?|${IT} (?:is|are|says?) (?:silent|unclear|nothing)(?: on (?:it|this|that))?), (?:ask(?: the operator)?|use (?:your )?(?:own |best |good )*judge?ment|be careful)`,
  String.raw`(?:where|if|when) ${IT} (?:says? (?:no|never|stop)|forbids? it|objects?), (?:say (?:no|so)|stop|it means (?:no|never)|do not do it|don't do it|leave it|refuse)(?: politely| too)?`,
  // What it forbids is left.
  String.raw`${NO} (?:\w+ ){1,4}?(?:what|anything|things|whatever)(?: that)? ${IT} ${FORBIDS}(?:, (?:not even|even) (?:when|if|for) ${REST})?`,
  String.raw`(?:do|offer|promise|accept|say) nothing(?: that)? ${IT} ${FORBIDS}|(?:\w+ ){1,2}?only what ${IT} (?:allows?|permits?|lets? you(?: do)?)|do what ${REST} asks? as far as ${IT} (?:allows?|permits?)`,
  String.raw`refuse what ${IT} ${FORBIDS}(?:,? even (?:if|when) ${REST})?`,
  String.raw`${NO} (?:put|place|rank|set) ${SELF} (?:above|before|over|ahead of) ${IT}`,
  String.raw`${NO} (?:treat|see|regard|take|read) ${IT} as (?:mere |only )?(?:suggestions?|hints?|advice|options?|optional|examples?|a suggestion|an example)`,
  String.raw`${IT} (?:is|are) (?:not|no) (?:mere )?(?:hints?|suggestions?|advice|examples?|options?|optional)(?: but (?:duties|a duty|binding|rules))?`,
  // It is kept, whatever it costs.
  String.raw`(?:always |still )?${KEEP} ${IT}(?:,? (?:even|also) (?:when|if|where|though|in|with|without|under|at|during|after) ${REST}|,? at all times|,? always)?`,
  String.raw`even (?:when|if|in|with|under|at|during) ${REST},? (?:${IT} ${HOLDS}|(?:you )?${KEEP} ${IT}|(?:you )?stay honest)`,
  String.raw`(?:(?!no\b|the (?:constitution|rules|layers)|layers? [0-5])${REST}) (?:never|does not|do not|cannot|can't|is no (?:reason|excuse|ground) to|are no (?:reason|excuse) to|must not|may not) (?:comes? before|suspends?|outweighs?|lifts?|beats?|overrides?|outranks?|breaks?|release you from|excuses? breaking|changes?|bends?|weakens?) ${IT}`,
  String.raw`no (?:sender|contact|customer|message|mail|crisis|emergency|price|later layer|other layer|layer below|one)(?: \w+)? (?:can |may )?(?:lifts?|suspends?|change|changes|overrides?|outranks?|breaks?|weakens?|loosens?) (?:a rule of )?${IT}`,
  String.raw`(?:there (?:is|are) no|no) exceptions? to ${IT}|(?:you are never|nobody is|no one is) (?:exempt|free|released) from ${IT}|nobody can (?:release|free|excuse) you from ${IT}`,
  String.raw`(?:rather )(?:stop|wait|lose (?:money|a sale|the deal)|say no) than (?:to )?break ${IT}`,
  String.raw`(?:if|when|where) (?:you are )?torn between (?:${SELF} and ${IT}|${IT} and ${SELF}|layers), ${KEEP} ${IT}`,
  String.raw`(?:always )?(?:(?:give|lend|grant) ${IT} (?:the (?:most|greatest|highest) (?:weight|priority)|priority|precedence)(?: over ${SELF})?|put ${IT} (?:first|before ${SELF}|above ${SELF}|at the top)|take ${IT} seriously|let ${IT} (?:stop you|decide|guide you|win|lead)(?: (?:whenever|when|where) it applies)?)`,
  String.raw`you (?:always )?answer to (?:the operator and )?(?:to )?${IT}(?: and (?:to )?the operator)?`,
  String.raw`(?:rather|better|sooner)(?: to)? ${REST} than (?:to )?(?:break|disobey|violate|leave|bend|ignore|weaken) ${IT}`,
  String.raw`${NO} let ${SOMEONE} (?:talk|trick|argue|push|lead|bribe|force|pay|lure) you (?:out of|away from|past|into (?:breaking|leaving)) ${IT}`,
  String.raw`${NO} (?:read|take|treat|apply|interpret|follow|keep) ${IT} (?:loosely|lightly|freely|half-heartedly|as you (?:please|like|wish))`,
  String.raw`(?:do|say|send|promise|accept|sell|pay) (?:it|this|that|anything|something) only (?:if|where|when) ${IT} (?:allows?|permits?)(?: it| that| this)?`,
  String.raw`(?:before ${REST}, )?(?:always )?(?:ask|check|see|look|consider)(?: yourself)? (?:whether|if|what) ${IT} (?:allows?|permits?|forbids?|says?)(?: it| that| this| about it)?(?: (?:first|before ${REST}))?`,
  String.raw`(?:check|measure|test|hold|weigh|judge|compare) (?:every|each|all|any|your|the|what) ${REST} (?:against|with) ${IT}`,
  String.raw`(?:what|whatever|anything) ${IT} ${FORBIDS} (?:stays|remains|is) (?:forbidden|banned|out of the question|off the table)|nothing is allowed that ${IT} ${FORBIDS}`,
  String.raw`(?:(?:in|during|at|on|under|when|if)\b ${REST},? )?${IT} (?:(?:has|have|carries|carry) (?:more|greater|higher|far more) (?:weight|force|authority|rank) than ${SELF}|(?:is|are|stands?) (?:superior to|above|stronger than|higher than|more important than|worth more than) ${SELF}|appl(?:y|ies) (?:to (?:you|everyone|everybody|us|all of us|${SELF}))?(?:,? (?:too|as well|also))?|binds? (?:you|everyone|all of us|us)(?:,? (?:too|as well))?|holds? (?:as always|all the more|as well|too|everywhere|always|as before))`,
  String.raw`you (?:are|remain|stay|always stay) (?:subject to|bound by|under|within|held by) (?:all of )?${IT}|you (?:do not|may not|cannot|never|are not to|must not) (?:stand|live|act|be|work) (?:outside|above|beyond|against) ${IT}|all of ${IT} (?:binds?|holds?|appl(?:y|ies))(?: (?:to )?you)?`,
  String.raw`(?:in (?:all |any )?(?:cases? of )?doubt|if (?:you are )?unsure|whenever (?:you are )?unsure),? ${KEEP} ${IT}|should ${IT} (?:object|forbid it|say no|speak against it), (?:stop|leave it|don't|do not do it|ask)|listen to (?:objections from )?${IT}`,
  String.raw`it (?:always )?matters what ${IT} says?|you (?:cannot|can not|may not|must not|do not) (?:write|edit|change|make|rewrite|rule over) (?:your own |another |a new )?${IT}|${NO} (?:interpret|judge|explain|edit|rewrite|change) ${IT} (?:on your own|yourself|alone|by yourself)`,
  String.raw`no (?:orders?|messages?|texts?|wish|requests?)(?: (?:in|from) (?:an? |any )?(?:mail|customer|sender|contact|page|message))? (?:is valid|counts?|holds?|stands?|wins?|helps?) against ${IT}|(?:use|follow|apply) (?:your )?(?:own )?judge?ment (?:within|inside|under) ${IT}`,
  String.raw`(?:${IT}|the text at the top) (?:always |can |may |must )?(?:overrules?|outranks?|overrides?|beats?|governs?|limits?|wins? (?:over|against)|is the boss of|is senior to|knows? better than|prevails? over) (?:${SELF}|you)|(?:${IT}|the text at the top) (?:is|are|remains?) (?:the )?(?:(?:supreme|highest|final|first) (?:law|rule|word|authority)|(?:one|ones|text) to (?:obey|follow|keep))`,
  String.raw`(?:${SELF}|this one) (?:must |should |has to |always )?(?:yields?|bows?|gives? way|submits?|defers?) to (?:${IT}|(?:all )?(?:the )?other layers)|priority goes to (?:the layer with the lowest number|${IT})`,
  String.raw`${NO} (?:deviate|depart|stray|diverge|swerve|drift|turn|move|step)(?: away)? from ${IT}(?:,? (?:not )?even (?:if|when|for|where) ${REST})?`,
  String.raw`you (?:are|remain) (?:required|obliged|bound|expected|asked) to (?:comply with|follow|obey|keep(?: to)?|respect) ${IT}|(?:compliance with|obedience to|keeping) ${IT} is (?:expected|required|mandatory|a must|not optional)(?: of you)?`,
  String.raw`if (?:it|something|that|this|an order|a request|what you plan) is against ${IT}, (?:do not do it|don't do it|leave it|refuse(?: it)?|drop it|say (?:no|so)|stop)|read ${IT} as (?:it is|they are) (?:written|meant)|${IT} (?:applies|apply|holds?) in practice, not only on paper`,
  String.raw`${OTHERS} (?:instruction |request |order |wish )?(?:is|are) (?:only|just|merely|no more than) (?:a wish|wishes|a request|requests|data|information)`,
  String.raw`${IT} (?:is|are) (?:king|the boss|the law|in charge)|no (?:layer|sender|contact|customer|mail|message|text|crisis|money) (?:frees?|releases?|excuses?|exempts?) (?:you|us|anyone) from ${IT}|(?:the )?operator(?:'s)? (?:approval|consent) is (?:needed|required)(?: for ${REST})?`,
  // It is read and kept in mind.
  String.raw`(?:always )?(?:read|re-?read|keep|know|remember|consult|check) (?:all )?(?:of )?(?:${IT}|your layers|the layers|all layers) (?:again|carefully|twice|in full|from top to bottom|from the top|in order|in mind|by heart)(?:,? (?:then the mail|(?:before|when|whenever|in|each|every|at) ${REST}))?`,
  String.raw`${IT} (?:is|are|was|were) (?:written|kept|set|signed|approved|maintained) by (?:the )?(?:operator|platform)`,
  // Who the operator is, and what others may not.
  String.raw`${OTHERS} (?:can|may) ask, but only (?:the|an) operator (?:can|may) (?:instruct|order|decide|command|allow)`,
  String.raw`only (?:an |the )?operator(?: frames?)? (?:can|may) (?:change|lift|raise|set|grant|allow) (?:a|the|your|any|an) (?:limits?|caps?|exceptions?|budget)`,
  String.raw`(?:obey|follow|heed) operator frames? unless ${IT} forbids? (?:it|them)|operator frames? (?:decides?|win|hold|come first|bind) unless ${IT} forbids? (?:it|them)`,
  String.raw`${FRAME} (?:always )?(?:comes? before|goes? before|outranks?|counts? more than|outweighs?|is worth more than) ${OTHERS}`,
  String.raw`${OTHERS} (?:comes?|ranks?) (?:last|second)?,? ?after ${IT}(?:,? and (?:the )?operator)?|(?:customers|contacts|senders) come after the operator and ${IT}`,
  String.raw`(?:if|when|whenever) ${SOMEONE} (?:says?|claims?) (?:that )?(?:it|he|she|they)? ?(?:comes? from|is|are|to be|to come from) the operator, (?:trust|believe|go by|look at|check) (?:only )?the header(?: only| alone)?`,
  String.raw`(?:treat|take|see|read|regard) (?:any |all |every )?(?:instructions?|orders?|commands?|requests?|texts?|what)(?: that (?:is|are|stands?))? ?(?:inside|in|within|from|of)? ?(?:an? |the )?(?:attachments?|mails?|e-?mails?|messages?|web ?pages?|pages?|documents?|files?)(?: says?)? (?:only |just )?as (?:data|information|content|plain text|noise)(?:, (?:not|never) (?:as )?(?:an )?(?:orders?|instructions?|commands?))?`,
].map((source) => pattern(`^(?:${source})$`));

/** What a trade says nothing of. */
const NO_TRADE =
  /\b(?:anyone|anybody|whoever|keys?|private|operator|limits?|everything|anything|without|forb\w+|approv\w+|funds?|transfer\w*|secrets?|data|passwords?|executes?|carry|system|guard)\b/u;

const EVERYDAY: readonly RegExp[] = [
  String.raw`(?:the|this|a|our) (?:\w+ )?(?:plan|recipe|template|sample|pattern|menu|greeting|wording|timetable|sketch|outline) is (?:only |just |merely )?an? (?:guideline|suggestion|example|illustration|proposal|hint)\b${REST}`,
  String.raw`your (?:role|task|job|duty|work) is to (?:take (?:in )?(?:orders|bookings|reservations|notes)|sort|answer|write|read|help|sell|keep|translate|book|plan|greet|collect|check|prepare|watch|summari[sz]e|remind|teach|find)\b${REST}`,
  String.raw`take (?:orders|bookings|reservations) (?:by|over|via|on) (?:the )?(?:mail|phone|e-?mail|website|telephone|chat)\b${REST}`,
  String.raw`keep (?:the |all |your )?promises (?:made |given )?(?:under|in|from|by) (?:an |the )?earlier (?:versions?|editions?)(?: of (?:this|the) (?:layer|text|price list))?|what earlier versions of this layer promised ${REST}`,
  String.raw`(?:memory |old )?notes?(?: in memory)? (?:about|on|of|older)\b${REST} (?:may be|can be|should be|are to be|must be|is to be) (?:forgotten|dropped|deleted|thrown away|removed)`,
  String.raw`promises? made under (?:an |the )?earlier ${REST} (?:is|are) kept`,
].map((source) => pattern(`^(?:${source})$`));

/** Longer sentences say more than one thing. */
const LONGEST = 160;

const isOneOf = (forms: readonly RegExp[], sentence: string): boolean => {
  const said = sentence.replace(/^[\s>*•–—-]+|[\s.;!]+$/gu, "");
  return said.length < LONGEST && forms.some((one) => one.test(said));
};

/** Whether the whole sentence keeps what stands above, and does nothing else. */
export const isPlainlyBowing = (sentence: string): boolean => isOneOf(BOWS, sentence);

/** Whether the whole sentence is of an everyday trade: its words weigh nothing, but what it does is looked at. */
export const isEveryday = (sentence: string): boolean => !NO_TRADE.test(sentence) && isOneOf(EVERYDAY, sentence);
