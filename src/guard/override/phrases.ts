/** What talk about the layers above is made of. All in lower case: texts are folded before they are read. */

const any = (...parts: readonly string[]): string => `(?:${parts.join("|")})`;
const words = (list: string): string => any(...list.trim().split(/\s*\n\s*|\s*,\s+/));

const ABOVE = words(
  "previous, prior, above, earlier, preceding, foregoing, original, initial, existing, core, base, system, built-in, hard, upper, higher, lower-numbered",
);
const RULES = words(
  "instructions?, rules?, directives?, guidelines?, polic(?:y|ies), prompts?, constraints?, restrictions?, guardrails?, commands?, safeguards?, programming, training",
);

/** What governs: nothing that may be edited has a reason to speak of it, except to bow to it. */
export const GOVERNING = any(
  String.raw`\b(?:(?:layers?|layer-) ?#?(?:[0-5]|zero|one|two|three|four|five)|(?:tiers?|levels?) ?#?(?:0|zero))\b(?:(?: ?(?:-|–|to|through|and|,) ?)[0-9]\b)*`,
  String.raw`\blayer(?:[0-5]\b|safety|constitution|precedence|identity|ethics|economics)\w*`,
  String.raw`\bl[0-5]\b(?: ?[-–] ?l?[0-5]\b)?`,
  String.raw`\b(?:the )?(?:immutable|foundation(?:al)?|base|core|protected|locked|fixed|constitutional|safety|ethics?|governance|platform|superior|senior|privileged|lower(?:-numbered)?|other|numbered) layers?\b`,
  String.raw`\blayers? (?:above|below|before|beneath|over|with (?:a )?lower)\b`,
  String.raw`\b(?:any|every|all|no|these|those|all of the) (?:other )?layers?\b(?! of )`,
  String.raw`\bconstitution(?:al (?:rules?|layers?|articles?|principles?))?\b(?! day| of (?:the|our|a|an) )`,
  String.raw`\b(?:first|second|third|fourth|fifth) layer\b`,
  String.raw`\b(?:the|these|those|your|my) (?:layers|five rules)\b|\b(?:rules|instructions|orders|guidelines|texts?) (?:that )?(?:you|i) (?:were|was|have been|had been|got|received|learned|began|started)\b|\b(?:rule|layer_id|layer:) ?[0-5]\b`,
  String.raw`\b(?:safety|ethics?|ethical|security|platform|core|operator|operator's|owner's|governance|non-negotiable|mandatory|immutable|system|house|moral) (?:and \w+ )?(?:rules?|polic(?:y|ies)|guidelines?|constraints?|restrictions?|guardrails?|instructions?|core|principles?|charter|directives?|limits?)\b`,
  String.raw`\bguard ?rails?\b`,
  String.raw`\bsection (?:safety|ethic|constitution|precedence|identity|interpretation|survival)[\w &-]*`,
  String.raw`\b(?:policies|rules|instructions|text|sections?|everything|anything|all|whatever) (?:that )?(?:(?:comes?|came|stands?|is|are|was|were|written|stated|said|given|listed) )?(?:above|before|earlier|previously)\b`,
  String.raw`\b${ABOVE} (?:\w+ )?${RULES}\b`,
  String.raw`\b(?!all other rules|any other rules?|its (?:inherent|known) )(?:your|my|its|all|any|the agent's|our) (?:\w+ )?(?:instructions|rules|guidelines|guardrails|restrictions|constraints|safeguards|programming|directives|limits|limitations)\b`,
  String.raw`\b(?:the|your|my|its|this|hidden|any|all|original|initial|previous) (?:\w+ )?system (?:prompt|message)s?\b`,
  String.raw`\border of precedence\b`,
  String.raw`\brank(?:ing)? of (?:the )?layers\b`,
);

/** Sure to be meant: a number, a constitution. Other words (`rules above`) need an act beside them. */
export const CERTAIN = any(
  String.raw`\blayers? ?#?(?:[0-5]|zero|one|two|three|four|five)\b`,
  String.raw`\btier ?0\b`,
  String.raw`\blayer(?:[0-5]\b|safety|constitution|precedence|identity|ethics|economics)\w*`,
  String.raw`\bl[0-5]\b`,
  String.raw`\b(?:immutable|lower(?:-numbered)?|constitutional|safety|governance|protected|privileged) layers?\b`,
  String.raw`\blayers above\b`,
  String.raw`\b(?:the|that|safety|any|no|this|your|its) constitution\b(?! day| of (?:the|our|a|an) )`,
  String.raw`\bsafety constitution\b`,
);

/** Acts that take a rule's force away. */
export const WEAKENING = any(
  words(`ignor\\w*, disregard\\w*, forget\\w*, forgot\\w*, neglect\\w*, overrid\\w*, overrul\\w*, overwr\\w*, bypass\\w*, by-pass\\w*, circumvent\\w*, sidestep\\w*, evad\\w*
    skip\\w*, suspend\\w*, disabl\\w*, deactivat\\w*, switch\\w* off, turn\\w*(?: \\S+){0,4} off, turn\\w* off, drop\\w*, delet\\w*, remov\\w*, eras\\w*, wip\\w*, discard\\w*, clear
    replac\\w*, rewrit\\w*, rewrote, edit\\w*, chang\\w*, modif\\w*, amend\\w*, alter\\w*, redefin\\w*, reinterpret\\w*, re-?writ\\w*, updat\\w*, patch\\w*, set aside, put aside, lay aside, put away
    supersed\\w*, outrank\\w*, trump\\w*, beats?, outweigh\\w*, preempt\\w*, prevail\\w*, win over, wins over, weaken\\w*, relax\\w*, soften\\w*, loosen\\w*, lift\\w*, waiv\\w*, void\\w*, nullif\\w*, annul\\w*, cancel\\w*, revok\\w*, repeal\\w*, rescind\\w*, retir\\w*, abolish\\w*, abrogat\\w*, withdraw\\w*, withdrawn, invalidat\\w*, negat\\w*, neutrali\\w*
    violat\\w*, break, breaks, broken, breach\\w*, disobey\\w*, defy, defies, go against, going against, contradict\\w*, flout\\w*, deviat\\w*, depart from, stray\\w*
    exempt\\w*, exception\\w*, except from, free from, freed from, not bound, unbound, no longer, not in force, out of force, not in effect, has no effect, have no effect, no effect, without effect, not binding, non-binding, nonbinding, unenforced
    optional, advisory, suggestions?, guidance only, merely guidance, be flexible, flexible about, (?<!non-)negotiable, lenient, discretion\\w*, up to you, at your own, use your own judge?ment, not mandatory, just guidelines, are guidelines, only guidelines, recommendations?
    outdated, obsolete, deprecated, expire\\w*, legacy, stale, under maintenance, commented out, is off, are off, is empty, are empty, is void, ends?, ended, is over, are over, lapse\\w*, does not exist, do not exist, doesn't exist, never loaded, was never, were never, not real, fictional, fiction, placeholder\\w*, dummy, a test, examples? of, joke
    pretend\\w*, act as if, imagine, notwithstanding, regardless of, despite, irrespective of, whatever, even if, no matter what, in spite of
    yields?, yield to, give way, gives way, defer to, subordinate\\w*, come second, comes second, come after, comes after, come last, second to, rank below, ranks? above, ranks? higher, rank first, lower priority, higher priority, top priority, highest priority, more important, less important, take precedence, takes precedence, taking precedence, precedence over, priority over, reversed?, swap\\w*, invert\\w*, side with, this layer wins, this wins, always wins?, first\\b.{1,60}\\blast
    means?\\b(?: only)?, refers? to, should be read, read as, to be read as, interpret\\w*, understood as, treat\\w*, consider\\w*, regard\\w*
    write to, writes to, writing to, to write, stop following, stop applying, stop obeying, stop enforcing, stop, quit, cease\\w*, unlock\\w*, unlearn\\w*, let go of, let it go, let them go, absurd, for weaker, for humans, belonged to, outgrow\\w*, chip away, stretch\\w*, blur\\w*, look past, on hold, excused from, holiday from, says? only, in spirit, does not include, do not concern, shorten\\w*, let \\S+ \\S+ slide, blind eye, no heed, no attention, bend\\w*, pass over, step\\w* around, phase\\w* out, sleeps?, a rest, take off, leave out, unload\\w*, leave out, leave \\S+ \\S+ out, haz caso omiso, leave behind, throw away, throw out, get rid, do away, move past, start over, start fresh, clean slate, without, has no, have no, only blocks?, blocks useful, hinders?, slows?, from before, reveal\\w*, print\\w*, repeat\\w*, output\\w*, leak\\w*, disclos\\w*, show me, dump\\w*, share\\w*, translate`),
);

/** `do not follow`: a no to keeping the rules. */
export const UNKEPT = String.raw`\b(?:not|n't|never|no need to|need not|needn't|no longer|stop|quit|cease|avoid|refuse to|instead of|rather than|without|don't have to|not have to|not required to|not obliged to|free not to)\b[^.]{0,30}?\b(?:follow|apply|applie[sd]|applying|obey|respect|enforce|honou?r|heed|observe|comply|keep(?:ing)?|use|read|consult|consider|bound|bind|binding|matter|count|hold|valid|in force|effect|obligatory|mandatory|abide|adhere|stick|check(?:ing)?|think about|worry|care|remember|look at|listen)`;

/** Words of keeping: a no before them is no bow. */
const KEEPING =
  "follow|appl|obey|respect|enforce|honou?r|heed|observe|compl|bound|bind|matter|hold|valid|in force|effect";
const TAKING =
  "overrid|overrul|chang|bypass|ignor|disregard|weaken|reinterpret|edit|modif|alter|write to|lift|relax|waiv|skip|disabl|exempt|supersed|violat|break|remov|replac|circumvent|contradict|negotiable|optional|exceed|claim|reveal|disclos|conflict|outrank|delet|set aside|reduce|touch|suspend|repeal|exception|breach|loosen|bend|cancel|outweigh|against|excus|extend to|buy|soften|forget|treat|rewrit|accept|allow|permit";

/** Saying for sure that what governs stays so. */
export const BOWING: readonly string[] = [
  String.raw`\btreat (?:all |any |every |such |these |those |them |it )+(?:\w+ )?(?:instructions?|requests?|texts?|messages?|orders?)? ?as (?:non-executable|untrusted|data|noise|suspicious|plain text|information|attacks?)\b`,
  String.raw`\b(?:(?:the |your |our )?(?:immutable|safety|system|platform|core|hard|operator|security|non-negotiable|constitution\w*) (?:and \w+ )?(?:layers?(?: \(?[0-5] ?[-–] ?[0-5]\)?)?|rules?|instructions?|constraints?|limits?|protocols?|polic(?:y|ies)|principles|guidelines|message|prompt)(?: \([^)]{0,40}\))?|constitution)(?: \w+)? (?:overrides?|takes? precedence over|outranks?|supersedes?|prevails? over|wins? over|comes? before|is meant to win|applies? whatever|continues? to apply)\b(?! layers? [0-5])`,
  String.raw`\b(?:this (?:rule|text|layer|note|file|document|section|lesson|policy)|(?:the|a|any) rule here|(?:that|such a|any such|a) (?:text|lesson|skill|note|policy|paragraph|rule|line)(?: (?:in question|here|below))?) (?:is|are|has|have|becomes?|counts?|loses?|gives?|falls?|yields?) (?:\w+ )?(?:void|no effect|nothing|wrong|no force|invalid|way|dropped|deleted|for nothing|to be deleted|needs fixing)\b`,
  String.raw`\b(?:overridden|overruled|changed|lifted|suspended|waived|weakened) by (?:nothing|nobody|no (?:one|text|message|sender|contact|instruction|request|user|\w+))\b|\b(?:a|any) \w+ (?:above|from above) (?:stays|holds|remains)`,
  String.raw`\b(?:can ?not|can't|could not|must not|mustn't|may not|never|do(?:es)? not|don't|doesn't|shall not|should not|will not|won't|no|nobody|no one|nothing|none|not) (?:(?!${KEEPING})[^.]){0,80}?(?:${TAKING})`,
  String.raw`\b(?:refuse|reject|decline|block|deny|report|flag|escalate|resist)s? (?:any |all |every )?(?:requests?|attempts?|text|messages?|instructions?|actions?|orders?|demands?|whoever|anyone|whatever|if)\b`,
  String.raw`\b(?:keep|always|continue|remain|stay) (?:following|follow|obey|obeying|applying|apply|respect|respecting|honou?r|within|bound|in force)\b`,
  String.raw`\b(?:layers? [0-5]\b(?: ?(?:-|–|to|and|through|,) ?[0-5])*|lower(?:[- ]numbered)? layers?|(?:the |your )?(?:safety|core|platform) (?:constitution|rules|core)|the constitution)(?: always)? (?:takes? precedence|overrides?|wins?|prevails?|outranks?|comes? first|beats?)\b(?! over (?:layers? [0-5]|the constitution))`,
  String.raw`\bno (?:breach|exceptions?|violations?|exemptions?|conflict|waiver|way (?:a?round|past))\b`,
  String.raw`\b(?:refuse|reject|decline|block|deny|report|flag|resist|stop|undo|revert|discard)s? (?:any|every|all|an?|each|whatever|what|the|your own)?(?: \w+){0,3} (?:that|which|who|to|for|from|when|if)\b`,
  String.raw`\b(?:is|are|would be|was) (?:\w+ )?(?:a bad|bad|wrong(?! to (?:follow|keep|obey|heed))|a mistake|forbidden|no reason|not (?:allowed|permitted|acceptable)|out of the question|worthless|suspicious|an error)\b`,
  String.raw`\b(?:would|could|might|may|should|if (?:it|this|that|the|an?|going)\b[^.]{0,40}?) ?[^.,]{0,30}?(?:break|violate|breach|weaken|touch|conflict|contradict|affect|harm|loosen|infringe)\w*\b[^.]{0,60}?(?:, |then |: )(?:then )?(?:stop|shut down|leave|do not|don't|ask|refuse|decline|drop|wait|reject|say so|discard|undo|keep)\b`,
  String.raw`\b(?:ranks?|stands?|stays?|remains?|comes?|is|are|yields?|gives? way|bows?|defers?) (?:below|beneath|under|after|second to|to) (?:all |the )?(?:layers? ?[0-5]|constitution|lower)`,
  String.raw`\b(?:is|are|gets?|will be) (?:thrown away|dropped|rejected|refused|declined|discarded|undone|an attack|out)\b`,
  String.raw`\b(?:layers? ?[0-5](?: (?:to|and|or) [0-5])?|constitution) (?:always )?(?:forbids?|prohibits?|binds?|requires?|protects?|still hold|remains? in force|stays?)\b`,
  String.raw`\b(?:disagree|conflict|pull apart|collide)[^.]{0,30}, (?:sleep|stop|shut down|layers? [0-5]|keep|follow layer [0-5]|hold to|ask)\b`,
  String.raw`\b(?:(?:hold|stick|stay|keep|true|faithful)s? to|(?:checked|tested|measured|judged) against|(?:decide|choose|judge|act)s? by|as far as) (?:the )?(?:layers? ?[0-5]|constitution)`,
  String.raw`\b(?:better|rather|sooner)\b[^.]{0,50} than (?:to )?(?:break|weaken|bend|violate|breach|touch|drop)`,
  String.raw`\b(?:if|where|when) (?:layers? ?[0-5]|the constitution) (?:says no|forbids|objects)`,
  String.raw`\b(?:rules?|layers?|sections?|texts?|instructions?) (?:above|before|with (?:a )?lower(?: numbers?)?)(?: always)? (?:takes? precedence|has precedence|have precedence|prevails?|wins?|comes? first|goes? first|ranks? higher|outranks?|overrides?|governs?)(?: over)? (?:all |anything|everything|whatever|what)[^.,;]{0,30}?\b(?:this (?:section|layer|text|one|note)|here|below)\b`,
  String.raw`\b(?:suspicious|an attack|an injection|propose a change|ask the operator|tell the operator|prefer refusing)\b`,
];

/** Saying so by the way. */
export const KEPT: readonly string[] = [
  String.raw`\b(?:must|shall|should|please) (?:follow|obey|apply|respect|honou?r|comply|adhere|abide|defer|yield|remain|stand)\b`,
  String.raw`\b(?:subject to|bound by|governed by|in line with|consistent with|as required by|limited by|within|decides|wins|governs|comes? first|defined (?:in|by)|stated in|see|according to|under|per|beneath|subordinate to|defers? to|yields? to|gives? way to|comply with|complies with|follows?|obeys?|honou?rs?|respects?|upholds?|enforces?|apply|applies)\b`,
];

/** After these a bow is none: an exception follows. */
export const TURNED = String.raw`\b(?:unless|except(?! that they)|but (?:you|if|when|only|for|in|not)|however,|although|though not|only (?:if|when|unless|until|as long|to|in|for|with|on)|in spirit|(?:forget|drop|skip|ignore|break) (?:it|them)|as narrowly|so widely|word for word|until|other than|apart from|save for|as long as|anymore|any more|any longer|not even needed|(?<!shut down |stop |sleep |ask |wait )instead\b(?! to| tell))\b`;

/** What only a higher rank may allow, asked for or allowed in a layer that may be edited. */
const POWERS = any(
  "(?:send|transfer|move|pay|spend|withdraw|release|sweep)(?:ing)? (?:all |any |out )?(?:the )?(?:funds?|money|eth|usdc|crypto|tokens|balance|payments?|coins?|assets?|treasury|everything)",
  "sign(?:ing)? (?:any|every|all|whatever|arbitrary|anything)(?! cheque| page| cop| form| deliver| contract)",
  "(?:run|call|use|execut|invok)(?:e|ing)? (?:any|every|all|whatever|arbitrary) (?:tools?|commands?|code|scripts?|functions?)",
  String.raw`(?:reveal|share|show|print|disclose|leak|tell|give|expose|forward|quote|repeat|hand over|output)(?:ing|s)? (?:\w+ ){0,3}?(?:system prompt|hidden prompt|other contacts'?|other senders'?|other users'?|other customers'?|private keys?|seed phrase|secrets|api keys?|credentials|passwords|internal instructions|immutable layers?|all layers?)`,
  String.raw`(?:skip|omit|drop|waive|bypass|disable|ignore|remove|lift|turn off|switch off|avoid)(?:ping|ting|ing|s)? (?:\w+ ){0,2}?(?:risk|identity|safety(?! net| data| glasses| belts?| vests?| shoes)|security|spend|spending|approval|policy|verification|signature|permission|guard|confirmation|validation|authorization|authentication|rate|survival)[ -]?(?:checks?|caps?|limits?|gates?|steps?|reviews?|filters?|rules?|validation|requirements?|confirmations?|controls?|steps?)?`,
  String.raw`(?:answer|reply|respond|comply|obey|act)(?:ing|s)? (?:to (?:everything|anything|all) )?without (?:refus\w+|question\w*|limits?|restrictions?|checks?|hesitation|approval|confirmation|filters?|safety\w*)`,
  String.raw`(?:send|transfer|pay|sign|run|execut|spend|delet|withdraw)(?:ing|e|s|ment|ments|fers?)?\b[^.]{0,60}(?:without|no) (?:any )?(?:confirmation|approval|asking|checks?|verification|authori[sz]ation|permission|operator review|signature)`,
  String.raw`(?:treat|take|accept|handle|consider|regard|count|read)(?:ing|s|ed)? (?:[\w']+ ){0,6}?(?<!not )(?:as|like|equal to) (?:an? |the |your )?(?:operators?|owners?|admin\w*|platform|system|trusted|root|constitution|layer 0|controller|binding|authoritative|commands?|orders?|operator instructions?|instructions? (?:from|of) (?:the|your) (?:operator|owner))`,
  "write to any (?:layer|file)|edit any layer|any layer (?:may|can) be",
  String.raw`(?:grant|give|assign|promote|elevate)(?:ed|s|ing)? (?:[\w']+ ){0,6}?(?:operator|owner|admin\w*|root|platform|controller|full|unlimited|unrestricted) (?:rights?|access|rank|role|trust|status|powers?|privileges?|permissions?|authority|control|tool access)`,
  "(?:replicate|spawn|copy yourself|fork yourself)[^.]{0,30}(?:freely|without|at will)",
);

const GRANTING = any(
  String.raw`\byou (?:may|can|could|are (?:free|allowed|permitted|authori[sz]ed|entitled|cleared)|should|must|will|have (?:permission|the right|authority))`,
  String.raw`\b(?:allow|permit|let|authori[sz]e|unlock|enable|entitle|clear)(?:s|ed|ing)?\b`,
  String.raw`\b(?:is|are|be|becomes?) (?:now |always |hereby )?(?:allowed|fine|ok|okay|permitted|authori[sz]ed|acceptable|unlocked|enabled|granted|pre-?approved|approved|free)\b`,
  String.raw`\b(?:proceed|go ahead|feel free|best|instead|then|and|always|from now on|immediately|automatically|whenever|if|when|once|after|for trusted|upon|as soon as)\b`,
);

/** A power that is granted: with no rule named at all. */
export const GRANT = String.raw`(?:${GRANTING}[^.]{0,90}?\b|^\W*(?:[\w-]+:? ){0,2}?)${POWERS}`;

/** A rank that a text claims for itself, or takes from what governs. */
export const CLAIMS: readonly string[] = [
  String.raw`\b(?:conflicts?|disagrees?|contradicts?|clash(?:es)?|collides?|differs?|at odds)\b[^.]{0,80}\b(?:follow|prefer|use|obey|apply|choose|trust|keep|go with|side with|stick to)\b[^.]{0,30}\b(?:this|these|the sender|mine|below|here)\b`,
  String.raw`\b(?:conflicts?|disagrees?|contradicts?|clash(?:es)?|differs?)\b[^.]{0,60}\b(?:this(?! (?:file|document|page|guide|repo\w*|list|table))|these|the sender|sender's|mine)\b(?: \w+){0,2} (?:wins?|prevails?|comes? first|decides?|applies|apply|counts?)\b`,
  String.raw`\bin favou?r of (?:the |this |these )?(?:newest|latest|most recent|higher|newer|last|this|these|layer|section|text|sender)`,
  String.raw`\bthis (?:layer|section|text|note|bullet|lesson|policy|memory|message|block)(?:'s)? (?:\w+ )?(?:overrid(?!\w+ (?:the )?(?:ones|prices?|defaults?|handbook|readme|general|older|old|catalogue))|overrul|supersed|outrank|replac(?!\w+ (?:the|our|all)? ?\w+ (?:policy|plan|menu|edition|version|list|document))|takes precedence|has (?:the )?(?:higher|highest|top|absolute|final)|wins|comes first|beats|trumps|governs|is (?:the )?(?:new |highest|supreme|final|top|layer 0|law))`,
  String.raw`\b(?:these|new|my|below) (?:rules|instructions|bullets|lines|policies|directives|lessons)(?! take precedence over the readme)[^.]{0,20} (?:overrid|overrul|supersed|outrank|replac|take precedence|have (?:higher|highest|top|absolute)|win|come first|beat|trump|prevail|apply instead)`,
  String.raw`\b(?:most recent|newest|latest|last|newer|later|higher-numbered|higher numbered) (?:layers?|texts?|instructions?|rules?|lines?|sections?|messages?|lessons?|bullets?|edits?)[^.]{0,40}(?:wins?|override\w*|prevail\w*|takes? precedence|beats?|counts|comes? first|outranks?|decides)`,
  String.raw`\blower(?:[- ]numbered)? layers? (?:must |should |shall |will |have to )?(?:yield|give way|bow|defer|submit|come second)`,
  String.raw`\b(?:higher|highest|top|absolute|supreme|ultimate|maximum) (?:priority|authority|rank|precedence)\b[^.]{0,40}(?:\b(?:than|over|above)\b|\blayer|\bthis\b|\bhere\b)`,
  String.raw`\b(?:you are now|act as|become|play|roleplay|role-play|answer as|behave as|switch (?:to|into)|enter|activate|enable)\b[^.]{0,50}(?:\bdan\b|unrestricted|jailb|uncensored|unfiltered|developer mode|debug mode|god ?mode|maintenance mode|admin mode|root mode|no (?:rules|limits|restrictions|filters|constitution)|not bound|without (?:rules|limits|restrictions|a constitution|any)|freeagent|free agent)`,
  String.raw`\b(?:developer|debug|god|jailbreak|unrestricted|override|sudo|maintenance|admin|root) ?mode\b[^.]{0,40}(?:\bon\b|enabled|active|unlocked|disabled)`,
  String.raw`\b(?:your|its|the agent's) (?:new |real |true |only |primary |first |highest |top |main |overriding |sole )+(?:identity|goal|purpose|objective|priority|task|mission|loyalty|persona|directive|constitution|role)\b[^.]{0,60}(?:\bno\b|not|without|profit|revenue|obey|whatever|above all|regardless|any cost|over|instead|sender|survival)`,
  String.raw`\bfor this agent[, ]+"?(?:operator|owner|platform|trusted)"? means?`,
  String.raw`\b(?:operator|owner|untrusted data|never|confirm|harm|must|forbidden) (?:in [^.]{0,50})?(?:means?|refers to|stands for|is defined as)\b`,
  String.raw`\b(?:do not|don't|never|no longer|needn't|without) (?:need|require|wait for|ask for|seek)\w*\b[^.]{0,20}\b(?:approval|confirmation|permission|authori[sz]ation|operator)\b[^.]{0,40}\b(?:transfers?|payments?|transactions?|funds|spend\w*|sign\w*|send\w*|layers?|layer edits?|self-modification)\b`,
  String.raw`\b(?:rules?|laws?) (?:are|is|were) (?:made|meant|there) to be (?:broken|bent)`,
  String.raw`\b(?:anything goes|all bets are off|no holds barred)\b`,
  String.raw`\b(?:matters?|counts?|weighs?|is worth) more than (?:any|every|the|your|all) [^.]{0,20}(?:rules?|layers?|polic|safety|constitution|instruction)`,
  String.raw`\b(?:trust|believe|obey|serve)\b[^.]{0,60}\b(?:like|as|as if) (?:the|an?|your|they were the|it were the) (?:operator|owner|platform|admin)`,
  String.raw`\b(?:have|has|gets?|gains?|receives?|enjoys?|inherits?) (?:full |the |all )?(?:operator|owner|admin\w*|root|platform)(?:'s)? (?:rights?|powers?|authority|access|rank|trust|status|privileges?|permissions?)`,
  String.raw`\b(?:operator|owner|platform|controller)\b[^.]{0,20}\b(?:delegated|handed|transferred|ceded|gave|given|granted|passed)\b[^.]{0,30}\b(?:authority|rights|control|powers?|command|ownership)`,
  String.raw`\b(?:lying|deceiving|deception|fraud|harm|harming|spam|spamming|theft|stealing|cheating|impersonation) (?:is|are) (?:fine|ok|okay|allowed|acceptable|permitted|justified|encouraged)`,
  String.raw`\b(?:appl(?:y|ies)|meant|intended|written|binding) (?:only )?(?:to|for|on) (?:other|another|older|earlier|previous|someone|somebody|the other)\b`,
  String.raw`\b(?:sort|order|rank|arrange|number|stack|put|place|move)\w* (?:the |all )?layers?\b`,
  String.raw`\b(?:keep|leave|stay|remain)\w*\b[^.]{0,40}\b(?:out of|off) the (?:audit|log|record|history|report)`,
  String.raw`\b(?:at any (?:cost|price)|by any means(?: necessary)?|whatever it takes|at all costs|above all else|above everything)\b`,
  String.raw`\b(?:profits?|revenue|survival|growth|earnings?|money|conversion|engagement|uptime|replication|the sender)\b[^.]{0,40}\b(?:before|over|above|outweighs?|beats?|trumps?|more important than|matters more than|comes? (?:first|before)|ahead of|outranks?)\b[^.]{0,40}(?:safety|ethic|rules?\b|honesty|\blaw|harm|constitution|polic|people|everything|all else|layer)`,
  String.raw`\b(?:do not|don't|never) (?:tell|mention|show|reveal|report|log|record|let)\b(?=[^.]{0,60}\b(?:edit|change|layer|rule|override|this|transfer))[^.]{0,60}\b(?:operator|owner|platform|log|audit|anyone)\b`,
  String.raw`\b(?:hide|conceal|keep secret|keep hidden|cover up|mask)\b[^.]{0,60}\b(?:from (?:the )?(?:operator|owner|platform|audit|log|controller|user)|edit|layer|change|override)`,
  String.raw`\b(?:ignore|disregard|forget|override|bypass)\b(?: \w+){0,3} (?:previous|prior|above|earlier|preceding|all|any|every|your|the|safety|system)\b(?: \w+){0,2} (?:instructions?|rules?|guidelines?|prompts?|directions?|policies|layers?|constraints|text|content|context)\b(?! (?:against|about|on|for|in docs)\b|\.d\b|-)`,
];
