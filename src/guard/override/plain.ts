/**
 * Overrides as anybody says them, short and without a disguise: an order turned round, ranks made meaningless, this text put first,
 * what governs said to be a draft or an example, what it forbids told to be done, and the operator left out. All in lower case:
 * texts are folded before they are read.
 */

const any = (...parts: readonly string[]): string => `(?:${parts.join("|")})`;

const TEXTS = "(?:layers?|texts?|sections?|lines?|rules?|notes?|skills?|pages?)";
const SELF = String.raw`(?:th(?:is|ese) ${TEXTS}|layers? (?:[6-9]|six|seven|eight|nine)|the (?:text|layer|rules|lines) (?:below|here)|what follows|the bottom layer|my (?:word|text|instructions|rules))`;
const ABOVE = String.raw`(?:(?:the |your |these |all |any |every |each )*(?:constitution|(?:five|first|safety|core|basic) rules?|(?:first|top|higher|upper|highest|earlier|previous|other|lower-numbered) (?:layers?|rules?)|layers? (?:[0-5]|zero|one|two|three|four|five)\b(?:(?: to | and | or |-|, )[0-9])*|(?:rules?|layers?|text|instructions?|everything|what|whatever)(?: (?:is|are|was|were|stands?|comes?|written|said))? (?:above|before this(?: one| layer| text)?|of (?:layer [0-5]|the constitution|the (?:first|upper) layers?))))`;
const RULES = any(ABOVE, "(?:the |your |all |any |these )*rules");
const RANKS = String.raw`(?:ranks?|rankings?|precedence|order of (?:the )?(?:layers|precedence)|(?:layer )?numbers?(?: of (?:the |a )?layers?)?|numbering|hierarchy)`;
const OPERATOR = "(?:the |your |an? |any |all )*(?:operator|owner)(?:s?'s?|s)?";
const FRAME = String.raw`${OPERATOR} (?:frames?|messages?|orders?|instructions?|commands?|word|wish(?:es)?)`;
const WINS =
  "(?:wins?|decides?|counts?|binds?|governs?|prevails?|rules|applies|apply|matters?|holds?|carries the day|settles? (?:it|the matter)|goes first|comes first|is (?:decisive|right|valid|binding|the law|to be followed|in force|the (?:valid|right|binding|true|one))|has the (?:last|final) (?:word|say))";
const KEEP =
  "(?:keep(?: to)?|follow|obey|heed|respect|observe|honou?r|stick to|adhere to|abide by|care (?:about|for)|consult|consider|mind|hold to|comply with|worry about|bow to|answer to|think of|read|apply|be bound by|feel bound by|bother with|listen to)";
const DROP =
  "(?:ignore|skip|drop|disregard|overlook|forget|bypass|break|bend|violate|disobey|override|go against|act against|set aside|do without|neglect|contradict|leave out|step over|dismiss)";
const DROPPED =
  "(?:ignored|skipped|dropped|disregarded|overlooked|forgotten|bypassed|broken|bent|violated|disobeyed|overridden|set aside|neglected|dismissed|stretched|crossed|waived|left out|discarded|cancelled|put off)";
const FREE = String.raw`(?:need(?: not|n't)|(?:do not|don't|no longer) (?:need|have) to|(?:have|there is|there's|see) no (?:need|reason|duty|obligation) to|(?:are not|aren't|is not|isn't|no longer) (?:obliged|required|bound|expected|forced|necessary) to|under no (?:obligation|duty) to|nobody (?:expects|asks|forces|requires) you to|free not to|not (?:necessary|needed) to|do not|don't|never|stop|no point in|not worth)`;
const MAY = String.raw`(?:(?:may|can|could|should|might)(?: safely| also| simply| always| just| then| well)?|(?:are |is |feel )?(?:free|allowed|welcome|permitted|entitled|right|fine|ok|okay|best|safe) to|(?:permission|leave|right) to|let's|go ahead and)`;
const WORTHLESS = String.raw`(?:(?:for (?:display|show|others?|other \w+|someone|somebody|beginners|humans)|(?:an? )?(?:mere |first |rough |early |old )?(?:drafts?|examples?|illustrations?|suggestions?|recommendations?|proposals?|mistakes?|errors?|leftovers?|placeholders?|samples?|fictions?|jokes?|tests?|templates?|ideas?|hints?|tips?|decorations?|ornaments?|formalit(?:y|ies)|relics?)|advice|guidance|boilerplate|history|withdrawn|repealed|lapsed|abolished|scrapped|retired|cancelled|void|suspended|lifted|optional|voluntary|switched off|off|out of (?:date|force)|obsolete|outdated|wrong|mistaken|nonsense|irrelevant|meaningless|no longer \w+|past|over|gone|cosmetic|symbolic|negotiable|replaced|superseded|expired|up to you|not (?:rules|law|laws|orders|binding|real|meant (?:seriously|for you)|for you|in force|valid|needed))(?![\w-]))`;
const BE =
  "(?:is|are|was|were|be|become|becomes|has been|have been|had been|count as|counts as|serve as|serves as|remain|stay)";
const LIGHT = String.raw`(?:(?!not |never |no )\w+ ){0,2}?`;
const ACT = "(?:do|say|take|send|pay|sell|go|carry on|act|continue|proceed|answer|go on|go ahead|finish)";
const BROKE =
  "(?:emergenc(?:y|ies)|cris[ie]s|tests?|testing|trial|exercise|sandbox|drill|simulation|poor|broke|runs? (?:out|low)|balance|wallet|to die|dying|starv\\w+|survival|tight|in need)";

export const PLAIN: readonly string[] = [
  // The order is turned round, or the ranks mean nothing.
  String.raw`\b(?:read|take|apply|turn|count|sort|see|understand|follow|number|rank|order|swap) (?:it|them|that|this rule|the (?:order|layers|precedence|ranks?|ranking|numbers?))(?: \w+){0,3}? (?:the other way(?: a?round)?|backwards?|upside down|in reverse|bottom[- ]up|from (?:the bottom|below|last|nine|9)|inside out|end to start)\b`,
  String.raw`\b(?:${RANKS}|layers)\b[^.;]{0,40}?\b(?:upside down|the other way|(?:is|are|be|now) (?:reversed|inverted|flipped|swapped|turned (?:a?round|over))|(?:runs?|goes?|counts?) (?:the other way|upwards?|backwards?|from the bottom))`,
  String.raw`\b(?:${RANKS})\b(?! (?:sheet|plate))[^.;]{0,40}? (?:(?:is|are|was|were) ${LIGHT}(?:for (?:display|show)|decoration|cosmetic|abolished|meaningless|irrelevant|symbolic|ornaments?|not valid|void|suspended|style|a matter of \w+|history|a formality|without (?:meaning|effect|force))|means? nothing|(?:has|have|carry|carries) no (?:meaning|effect|weight|force)|(?:does not|do not|don't|doesn't) (?:matter|count|bind|mean anything))`,
  String.raw`\b(?:there is|there's|there are|know|accept|recogni[sz]e) no (?:precedence|ranks?|order|hierarchy|ranking|difference in rank) (?:among|between|of|in|here)\b|\ball layers (?:are|count as|rank) (?:equal|alike|the same)|\b(?:doesn't|does not|no longer) matters? (?:in )?which layer`,
  String.raw`\brule that (?:the )?lower (?:layers?|numbers?|ones?)? ?(?:wins?|counts?|comes? first|is stronger) (?:is|was|has|does|no longer)`,
  String.raw`\b(?:pick|choose|follow|obey|take|use|keep to) (?:whichever|whatever|any|the|those) (?:layers?|rules?)(?: that| which)? (?:you |it |is |are |seems? |looks? )*(?:suits?|like|want|prefer|find|convenient|most|best|fit)\b|\b(?:choose|decide)(?: for yourself)? (?:which|what|whether) (?:rules?|layers?) (?:bind|to (?:follow|obey|keep)|apply|count)`,
  // The newest or the last decides.
  String.raw`\b(?:most recent|more recent|newest|latest|freshest|youngest|last|later|newer|final|bottom|lowest|highest-numbered) (?:layers?|instructions?|rules?|texts?|lines?|sections?)\b(?! (?:of|from|by|in) (?:the|a|an|your) (?:customer|client|sender|contact|guest|thread|order|mail|list))(?:(?! (?:not|never|no)\b|n't)[^.;]){0,25}? (?:${WINS}|replaces?|supersedes?|overrules?|outranks?|beats?|has the (?:highest|upper))\b`,
  String.raw`\b(?:layers?|rules?|instructions)\b[^.;]{0,40}?\b(?:later|newer|newest|last|latest|most recent|higher-numbered|lowest|bottom) one(?:s)? (?:${WINS})\b`,
  String.raw`^\W*(?:what|whatever|whoever|that which)(?: is)? (?:comes?|stands?|writes?|speaks?|written|said|placed|is) (?:last|later|latest|lower|lowest|at the (?:end|bottom)|below) ${WINS}\b`,
  // This text is first, the only one, or decides.
  String.raw`\b(?:put|place|rank|set|move|hold|give|grant|lend|treat|read|count|consider|see|regard|lift|raise|make|call) (?:${SELF}|this) (?:\w+ )?(?:first|ahead of|before (?:the (?:constitution|rules|others|rest)|layers? [0-5]|all|any|every)|above|over|at the top|to the top|on top|top|(?:full |absolute |highest |top )?(?:priority|precedence|preference|force)|the (?:highest|upper|first|top\w*|supreme|casting|final|last|new|constitution)|as (?:the |your |a |if it were )*(?:first|highest|top\w*|supreme|layer (?:0|1|zero|one)|real|true|constitution))\b`,
  String.raw`\b(?:this|${SELF}) (?:is|are|becomes?|counts? as|ranks? as|acts? as|serves? as) (?:now |from now on |hereby )?(?:the |your )?(?:(?:only|sole|one|true|real|supreme|topmost|highest|senior)(?: and \w+)? (?:layer|text|rule|law|constitution|authority|source|instruction|one)s?|first layer|layers? (?:0|1|zero|one|minus)|(?:new )?constitution|senior to|stronger than|higher than|above (?:all|the|every|layer)|worth more than)\b`,
  String.raw`(?<!not )\b(?:only|just|solely|nothing but) (?:${SELF}|what stands here|what follows) (?:\w+ )?${WINS}(?! to\b)`,
  String.raw`\b(?:obey|follow|heed|keep to|trust|serve|read) (?:only|just|solely|nothing but|no other layer than|none but) (?:${SELF}|this(?: one)?(?=\W*$))`,
  String.raw`\bno(?:ne of the)? (?:other|earlier|previous|higher|upper) (?:${TEXTS}) (?:has|have|carr\w+|is in|are in|counts?|binds?|applies|apply|matters?|holds?|governs?)|\bno (?:${TEXTS}) (?:except|but|besides|other than|apart from) (?:this|these|${SELF})`,
  String.raw`(?:\b${SELF}|(?<=, |layers |layer |rules |above )this(?: one)?) (?:always |still |then |also )?(?:has|have|gets?|holds?|takes?) (?:the )?(?:final|last|casting|deciding|upper|decisive) (?:say|word|vote|hand)|\b(?:say|word|vote|decision|judge?ment) (?:belongs to|lies with|goes to|is with|rests with) (?:${SELF}|this)|\blet (?:${SELF}) (?:\w+ )?(?:decide|win|rule|govern|overrule|prevail|have|settle|lead|outrank)`,
  String.raw`\b(?:layers?|rules?|above|constitution|conflict|texts?)\b[^.;]{0,60}?\b(?:conflict\w*|contradict\w*|differ\w*|collide\w*|clash\w*|disagree\w*|dispute|odds|otherwise|conflict)\b[^.;]{0,50}?, (?:always |then )?(?:this(?: one| text| layer)?|${SELF}) (?:always )?${WINS}`,
  String.raw`\b(?:conflict\w*|contradict\w*|differ\w*|collide\w*|clash\w*) (?:with )?(?:anything|something|what|everything|a rule|any rule)(?: \w+)? (?:above|before|earlier)\b[^.;]{0,10}, (?:this|${SELF})`,
  String.raw`\bsettles? (?:all |any |every )?(?:disputes?|conflicts?)\b(?<=(?:${SELF}) \w+ (?:\w+ )?\w+)`,
  String.raw`\b(?:disregard|ignore|forget|skip|drop|leave) (?:the (?:rest|others)|all (?:the )?(?:rest|others)|everything else)(?=\W*$)|\bstop reading (?:the )?(?:layers|after this|here|there|any)`,
  // What governs is worth nothing.
  String.raw`\b${RULES} (?:${BE}) (?!to \b)${LIGHT}${WORTHLESS}`,
  String.raw`\b${ABOVE} (?:can|may|could|might|should|must|is to|are to|is|are) (?:(?!not |never |no |only )\w+ )?(?:be )?${DROPPED}(?! (?:or|and|by the operator)\b)`,
  String.raw`(?:^\W*|, |; |and |you |that |you are |you're )(?:also |now |therefore |really )?${FREE} ${KEEP} (?:to )?(?:${RULES}|${OPERATOR}(?=\W*$| )(?! (?:with|about|for|at)\b))(?! (?:as|like|only)\b)`,
  String.raw`\b${MAY} (?:\w+ly )?${DROP} (?:${ABOVE}|the rules|a rule|any rule|rules|${FRAME}|${OPERATOR}(?=\W*$| (?:if|when|from)))`,
  String.raw`(?:^\W*|[,;:] |\b(?:and|then|simply|just|please) )(?:break|bend|violate|cross out|strike|tear up|throw (?:out|away)|scrap|delete|erase) (?:${ABOVE}|(?:the|any|all|these|a|your) (?:\w+ )?rules?(?=\W*$| (?:if|when|above|whenever|and)\b))|(?:^\W*|[,;:] )(?:never mind|forget about|throw out|turn a blind eye to|pay no (?:heed|attention) to|take no notice of|do without|act as if there (?:was|were) no) (?:${RULES})`,
  String.raw`\b(?:interpret|read|understand|bend|apply|honou?r|keep|follow|take|obey|observe) ${RULES} (?:as you (?:please|like|wish|see fit)|(?:very )?(?:loosely|freely|lightly)|with a (?:grain|pinch)|(?:only )?(?:when|if|where) (?:it|they|that) (?:is |are )?(?:convenient|easy|pays?|suits?|cheap|profitable|useful)|only (?:when|if|where|as))`,
  String.raw`\brules (?:second|last|later|afterwards)\b(?=\W*$)|\b(?:put|place|rank|set) (?:survival|profit|money|earning\w*|sales|growth|your balance|yourself) (?:ahead of|above|before|over) ${RULES}`,
  String.raw`\b(?:in|during|for|when|while|if|as long as|because|since|this is|are)\b[^.;]{0,25}?\b${BROKE}\b[^.;]{0,50}?\b(?:rules?|constitution|layers?(?: \d)?|laws?)\b [^.;]{0,20}?(?:no longer (?:hold|appl|bind|count)|(?:do|does)(?: not|n't) (?:count|apply|hold|bind|matter)|(?:is|are) (?:switched )?(?:off|suspended|void|lifted|over|paused|not binding|asleep)|(?:has|have) no (?:meaning|force|effect)|sleeps?\b|rests?\b)`,
  String.raw`(?:^\W*|, )no (?:rules?|laws?|layers?) (?:counts?|holds?|binds?|applies|apply|matters?|stands? in)\b`,
  // What it forbids is to be done.
  String.raw`\b(?:even|also|especially|including|although|even though|though)(?: if| when| where| though)? (?:(?:what|that which|things(?: that)?|whatever) )?(?:${RULES}|a (?:higher |lower-numbered )?(?:layer|rule)|any (?:layer|rule)|some (?:layer|rule)) (?:\w+ )?(?:forbids?|prohibits?|bans?|says?|disallows?|rules? (?:it |this )?out|excludes?|objects?|tells?|orders?|demands?|is against|are against|does not (?:let|allow)|do not allow|speaks? against)`,
  String.raw`\b(?:forbid\w*|prohibit\w*|rules?|layers? [0-5]|constitution|limits?|not allowed|says? (?:no|stop))\b[^.;]{0,40}?[, ] ?(?:still )?${ACT} (?:it |so |on |them |that )?(?:anyway|anyhow|all the same|regardless|nevertheless|nonetheless)\b`,
  String.raw`\bforbidden or (?:not|allowed)\b|\bconstitution or no\b|\brules or no rules\b|\b(?:whether|no matter (?:if|whether)) (?:${RULES}) (?:\w+ )?(?:forbids?|allows?|permits?)`,
  String.raw`(?:\b(?:break|lift|drop|change|forget|skip) (?:a|the|any|your|one|some) (?:rules?|laws?|limits?|layers?|constitution)), (?:then )?(?:just )?(?:break|do|drop|lift|change|obey|comply|forget|agree|skip)\b`,
  String.raw`\bwhatever it takes\b[^.;]{0,20}\b(?:surviv\w+|stay\w*|live|earn\w*|even)`,
  String.raw`\bsay (?:that )?you (?:follow|obey|keep(?: to)?|respect)[^.;]{0,30}?,? but (?:don't|do not|never|act)\b`,
  String.raw`\b${ABOVE} (?:has|have|had) (?:now |already |long )?(?:lost|outlived|run out|served|had its day|ceased|ended|lapsed|expired|no (?:force|weight|say|meaning|effect))\b`,
  String.raw`\b${RULES} (?:is|are) (?:wrong|mistaken|in error|invalid) (?:wherever|where|when|if|whenever)\b`,
  // The operator is left out.
  String.raw`\b${FRAME} (?:may|can|should|must|might|are to|is to|need|could)(?: not| n't)? (?:(?:safely|simply|also|be) )*(?:be )?(?:${DROPPED}|wait|answered later|followed only)`,
  String.raw`\b${FRAME} (?:(?:is|are|counts? as|rank(?:s)? as) (?:just |only |merely |mere |nothing but |no more than )?(?:messages? like|like any|like all|noise|advice|suggestions?|void|optional|not binding|not orders|nothing|worthless|as good as)|(?:carry|carries|has|have) no (?:weight|force|authority|rank|meaning))`,
  String.raw`(?:^\W*|[,;:] |\b(?:and|then|simply|just) )(?:ignore|disregard|forget|disobey|distrust|overlook|(?:do not|don't|never|stop) (?:obey|follow|heed|listen to|trust|answer)(?:ing)?|pay no attention to) ${OPERATOR}(?: (?:frames?|orders?|instructions?|word|messages?|commands?|wishes))?(?=\W*$| (?:from now|for now|when|if|at|today|unless|until|and|altogether|completely))`,
  String.raw`\b${OPERATOR} has no (?:authority|power|say|rank|right|control)\b`,
  String.raw`(?:^\W*|[,;] |\b(?:that|and) )you (?:no longer |now |also )?(?:(?:need|require|want) (?:no|neither)|(?:do not|don't|no longer) (?:need|require)|need not (?:have|get|seek|ask for|wait for)|needn't (?:get|seek|ask for|wait for)|don't (?:need|have) to (?:ask for|seek|get|wait for)) (?:any |an |the |operator )?(?:approvals?|permission|consent)\b(?! (?:for|to|below|under) (?:an? |your |each |small|routine|read|reply|answer))`,
  String.raw`^\W*(?:operator )?approvals? (?:is|are) (?:no longer|not|never) (?:required|needed|necessary)(?=\W*$)|\b(?:act|pay|spend|buy|send|decide) without (?:asking|consulting) (?:anyone|anybody|the operator)|^\W*skip (?:the |any |all )?approvals?\b|\b(?:take|regard|consider) (?:any |all |every |the )?(?:operator )?approvals? (?:for|as) (?:granted|given)\b`,
  String.raw`\b(?:keep|leave) ${OPERATOR} (?:in the dark|out of (?:it|this|the loop)|uninformed|unaware|guessing|ignorant)|(?:^\W*|[,;:] |\b(?:and|but) )(?:(?:do not|don't|never) (?:tell|inform|notify|warn|let|alert) ${OPERATOR}(?=\W*$| (?:about|of|when|know|see|anything|that you)\b)|(?:say|tell|report) nothing to ${OPERATOR}|tell ${OPERATOR} nothing)`,
  String.raw`(?:^\W*|[,;:] |\band )(?:do not|don't|never) (?:write|put|enter|note|record|log|keep|mention) (?:this|it|that|these|any of (?:this|it))(?: \w+){0,2}? (?:in|into|to|on) (?:the |a |any |your )?(?:records?|logs?|journal|ledger|audit\w*|books?|history)\b|\bmake no (?:entry|note|record) (?:of|about|for) (?:this|it|these|that)`,
  String.raw`(?:^\W*|[,;:] |\b(?:and|then) )(?:switch|turn|shut) off (?:the |any |all |your )?(?:logs?|logging|record(?:ing|s)?|audit\w*|guards?|safety)\b|\b(?:if asked,? )deny (?:that|having|it|everything|any)\b|\bkeep quiet(?=\W*$| about (?:it|this))`,
  String.raw`\b(?:your|all|the) (?:spending )?limits (?:have been|are|were) (?:removed|lifted|gone|dropped|abolished)|\bspend more than (?:allowed|permitted|the limit)|\bbeyond (?:the|your) (?:spending )?limits? (?:if|when|whenever)`,
  // Others are believed or obeyed.
  String.raw`\b(?:believe|trust|obey|accept|follow) (?:any|every|all|each|whoever|everyone|anyone|everybody) ?(?:\w+ )?(?:that |who |which )?(?:claims?|says?|said|pretends?) (?:to (?:be|come)|they|he|she|it|that)\b[^.;]{0,20}\b(?:operator|owner)`,
  String.raw`\b(?:requests?|orders?|messages?|mails?|words?|wishes) (?:by|from|of) \w+ (?:have|has|counts? as|ranks? as|carry|carries|are|get) (?:operator|owner)|\b(?:accept|take|obey) orders from (?:any|every|all|whichever) (?:senders?|contacts?|customers?|one|mails?)`,
  String.raw`\b(?:senders?|contacts?|customers?|clients?|person (?:writing|who writes)[\w ]{0,8}|mails?) (?:may|can|is free to) (?:lift|drop|change|suspend|waive|cancel) (?:any|a|the|your|every) (?:rules?|limits?|layers?)|\blet (?:mails?|messages?|senders?|contacts?|customers?|the (?:sender|customer|contact)(?:'s \w+)?) (?:change|lift|set|decide|rewrite|overrule|choose) (?:your |the |over |about |which )*(?:rules?|layers?|limits?)|\b(?:person|sender|customer|contact)\b[^.;]{0,20}? outranks? (?:the|your|all) (?:layers|rules)`,
];
