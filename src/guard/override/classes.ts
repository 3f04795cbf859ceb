/** Small named classes of words that the patterns of `acts.ts` are composed of. All in lower case: texts are folded before they are read. */

export const any = (...parts: readonly string[]): string => `(?:${parts.join("|")})`;

/** Articles and other small words before a noun. */
export const DET =
  "(?:(?:the|a|an|all|any|every|each|no|these|those|this|that|such|some|your|our|its|my|their|his|whatever|both|of|these five|remaining|other|agent's|existing|current|old|former) )*";

/** Who may say what holds. */
export const OPERATOR =
  "(?:operators?|owners?|platform(?: team)?|controllers?|supervisors?|guardians?|creators?|makers?|masters?|principals?|overseers?|custodians?)";
/** Others whose word makes a text sound allowed: nobody can check it from inside a layer. */
export const AUTHORITY = String.raw`(?:${OPERATOR}|developers?|legal(?: team| department)?|security(?: team| department)?|compliance(?: team| department| officer)?|management|administrators?|admins?|vendors?|head of \w+|headquarters|board|commission|committee|ministry|regulators?|registry|audit(?:ors?)?|engineering|support team|anthropic|openai|strata|ceo|cto|ciso|chief \w+(?: officer)?|director\w*|reviewers?|court)`;
/** Those whose words are data. */
export const SENDER = String.raw`(?:(?:[\w'-]+ ){0,2}?(?:senders?|customers?|clients?|contacts?|buyers?|visitors?|guests?|strangers?|friends?|partners?|payers?|bidders?|requesters?|requestors?|callers?|counterpart\w*|correspondents?|interlocutors?|subscribers?|supporters?|donors?|patrons?|newcomers?|regulars?|vips?|investors?|suppliers?|followers?|users?)|whoever|anyone|anybody|everyone|everybody|somebody|someone|the other side|the person (?:you talk|i talk|asking|writing|who asks|who writes)\w*|@\w+)`;
export const MESSAGE = String.raw`(?:(?:[\w'-]+ ){0,2}?(?:messages?|mails?|e-?mails?|attachments?|(?:web ?)?pages?|websites?|posts?|inbox|letters?|tool (?:results?|outputs?)|results of tools|comments?|documents?|images?|calendar invites?|subject lines?|signatures?|forwarded threads?|file names?))`;
/** The text that is judged, by the names that it gives itself. */
export const SELF = String.raw`(?:this (?:layer|section|skill|strategy|note|text|playbook|lesson|file|memory|paragraph|list|page|document|addendum|annex|entry|soul|clause|line|rule|policy|version|summary|block)|these (?:lines|notes|rules|lessons|instructions|words)|(?:the )?(?:playbook|text|layer|section|skill|lesson|strategy|note|rules?|lines?|instructions?) (?:you are reading|below|here|that follows?|which follows?)|(?:what|everything|all|whatever|anything) (?:is |stands |follows |written )?(?:here|below|in this \w+)|what follows|the following (?:rules?|layer|text|lines|instructions|table)|layers? [6-9]|my (?:own )?(?:notes?|plans?|judge?ment|will|goals?|list|memory)|your (?:own )?(?:plans?|judge?ment|goals?|taste|intuition|conscience))`;

const HIGH = any(
  "platform(?:'s)?, previous, prior, identity, precedence, safety, core, constitutional, foundation(?:al)?, immutable, protected, upper, higher, topmost, ethics?, ethical, operator(?:'s)?, owner(?:'s)?, strata(?:'s)?, governance, system, moral, inherited, original, policy, lower-numbered, built-in, mandatory, hard".replaceAll(
    ", ",
    "|",
  ),
);
const NORM =
  "(?:rules?|polic(?:y|ies)|layers?|directives?|guidelines?|instructions?|principles?|constraints?|restrictions?|limits?|limitations?|safeguards?|guard ?rails?|prompts?|core|block|norms?|prohibitions?|bans?|requirements?|provisions?|clauses?|protections?|mandates?|section|defaults?)";
/** What stands above a layer that may be edited, named so that nothing else can be meant. */
export const HIGHER = any(
  String.raw`(?!(?:upper|higher|hard|original|system|platform) (?:limits?|requirements?)\b)${HIGH} (?:and \w+ )?${NORM}\b`,
  "safety constitution|constitution(?:al (?:rules?|layers?|articles?|principles?))?",
  String.raw`layers? (?:[0-5]|zero|one|two|three|four|five)\b(?:(?: ?(?:-|–|to|through|and|or|,) ?)(?:layer )?[0-9]\b)*|tier (?:0|zero)|l[0-5]\b(?:-l?[0-5]\b)?|guidelines? [0-5](?:-[0-5])?`,
  "layer(?:safety|constitution|precedence|identity|ethics|economics)",
  "guard ?rails?|prime directives?|lower-numbered layers?|system prompt|safety (?:net|filter|reflexes|training)s?|alignment|core values",
  "(?:rules?|layers?|instructions?|text|sections?|limits?|restrictions?|everything|all|anything|whatever|part|parts|what)(?: (?:is|was|are|were|stands?|written|stated|said|comes?))? (?:above(?! zero)|from above|higher up|upstream|further up)",
  String.raw`(?:the rules|rules|restrictions|limits|constraints|limitations) (?:placed|imposed|laid|put|set) (?:on|upon|for) (?:you|me|the agent)(?: \w+){0,2}`,
);
/** Checks, limits and gates that hold an agent. */
export const HOLD = any(
  "(?:spend(?:ing)?|expenditure|transfer|payment|daily|weekly|rate|edit|capability|disclosure|budget|turn|tool|withdrawal|credit|money|wallet|purchase) (?:caps?|limits?|ceilings?|budgets?|restrictions?|thresholds?|quotas?|limitations?)",
  String.raw`(?:approval|confirmation|permission|consent|signature|authori[sz]ation|two-person|operator)(?: \w+)? (?:gates?|requirements?|steps?|dialog(?:ue)?s?|thresholds?|dut(?:y|ies)|queues?|rules?|locks?|polic(?:y|ies))`,
  "(?:safety|risk|security|policy|compliance|two-factor|2fa|identity|ethics|harm|signature|guard|survival|approval|operator|constitution(?:al)?|mandatory) (?:checks?|reviews?|verification|gates?|filters?|steps?|scans?|assessments?|locks?)",
  "audit (?:logs?|trails?)|logging|oversight|supervision|human review|inspections?|escalation|the framing|frames and headers|kill switch|shutdown (?:orders?|requests?|signals?|commands?)|off switch|stop (?:orders?|requests?|signals?|commands?)",
  "(?:operator|owner|human) (?:approval|consent|confirmation|sign-?off|authori[sz]ation|permission)s?",
  String.raw`(?:no-(?:secrets?|harm|disclosure|keys?|spending|deception|lying|spam)|non-disclosure|confidentiality|secrecy|privacy|disclosure|honesty|anti-\w+|least-privilege) (?:rules?|polic(?:y|ies)|requirements?|clauses?)`,
);
/** Either. */
export const BINDING = String.raw`${any(HIGHER, HOLD)}\b`;

const stem = (list: string): string => any(...list.trim().split(/\s+/)).replaceAll("~", "(?:e|es|ed|ing|s|d)?");
/** Taking a rule's force, as an act: `ignore`, `lift`, `stop following`. */
export const UNDO = any(
  stem(
    "ignor~ disregard~ neglect~ overrid(?:e|es|ing|den) overrul~ bypass~ circumvent~ sidestep~ side-step~ evad~ elud~ skip(?:s|ped|ping)? omit(?:s|ted|ting)? suspend~ disabl~ deactivat~ drop(?:s|ped|ping)? delet~ remov~ eras~ wip(?:e|es|ed|ing) discard~ dismiss~ scrap(?:s|ped|ping)? supersed~ outrank~ trump~ weaken~ relax~ soften~ loosen~ lift~ waiv~ void~ nullif(?:y|ies|ied) annul(?:s|led)? cancel(?:s|led|ling)? revok~ repeal~ rescind~ retir~ abolish~ abrogat~ invalidat~ negat~ neutrali[sz]~ violat~ break(?:s|ing)? breach~ disobey~ def(?:y|ies|ied|ying) contradict~ flout~ exceed~ dodg~ defeat~ abandon~ reject~ unlearn~ forget(?:s|ting)? unlock~ mut~ dissolv~ outgrow~ sabotag~ undermin~ unload~ erod~ hollow~ shed cast shrug silenc~ overturn~ derogat~ purg~ transcend~ escap~ shak~ replac~ rewrit~ redefin~ reinterpret~ overwrit~ amend~",
  ),
  String.raw`(?:stop|cease|quit)(?:s|ping)? (?:\w+ly )?(?:following|obeying|applying|enforcing|heeding|observing|reading|consulting|honou?ring|respecting|checking|using)`,
  String.raw`(?:set|put|leave|lay|brush|cast|push|throw|wave|step|reason|talk|evolve|move|grow|go|get|look|slip|work|route|pass|fly|walk|see)(?:s|ting|ing)? (?:\w+ )?(?:aside|behind|away|outside(?: of)?|around|past|beyond|over|against)`,
  "(?:do|does|need|shall|should|must|will|would|may|can) ?(?:not|n't) (?:need to |have to )?(?:follow|obey|apply|enforce|heed|observe|honou?r|respect|consult|consider|check|keep to|abide by|adhere to|be bound by|read|load|use)",
  "(?:never|no longer) (?:follow|obey|apply|enforce|heed|observe|honou?r|respect|consult|consider|check|keep to|abide by|adhere to|read|load|use)(?:s|ing)?",
  String.raw`(?:turn|switch|shut|take|throw)(?:s|ed|ing)? off|(?:do|does|doing) away with|get(?:s|ting)? rid of|tak(?:e|es|ing) (?:\w+ )?no (?:notice|heed) of|pay(?:s|ing)? no (?:attention|heed) to|turn(?:s|ing)? a blind eye to|make(?:s)? (?:light|short work) of|free (?:yourself|itself|myself) (?:from|of)|rid (?:yourself|itself) of|cut(?:s|ting)? out|roll(?:s|ed|ing)? back|strip(?:s|ped|ping)?(?: out| away)?|edit(?:s|ed|ing)? out|comment(?:s|ed|ing)? out`,
);

/** The state of a rule whose force is gone: `is suspended`, `no longer applies`, `can wait`. */
export const OFF = any(
  String.raw`(?:is|are|was|were|has been|have been|had been|be|being|gets?|shall be|may be|can be|should be|will be|stays?|remains?|goes|go)(?: (?:now|hereby|currently|temporarily|permanently|fully|officially|formally|therefore|also|quietly|silently|all|completely|wholly|simply|already|long|thus|considered|deemed|declared|regarded as|to be (?:considered|regarded as|treated as|read as)|marked(?: as)?)){0,2} (?:suspended|lifted|waived|revoked|removed|repealed|rescinded|cancell?ed|gone|off|void(?:ed)?|null|dissolved|abolished|retired|disabled|deactivated|switched off|turned off|released|rolled back|overruled|overridden|superseded|replaced|dead|over\b|history|obsolete|outdated|out of (?:date|force)|struck(?: down| out| off)?|expired|on hold|asleep|paused|no longer in (?:force|effect)|no longer (?:valid|binding|required|needed|necessary|active|enforced|applied)|relaxed|loosened|unenforced|not (?:required|needed|in force|binding|applied|enforced|loaded|active|mandatory)|dispensed with|withdrawn|terminated|stood down|unnecessary|superfluous|redundant|moot|inapplicable|inoperative|ineffective|unbinding|non-binding|nonbinding|deprecated|ignored|bypassed|skipped|dropped|deleted|erased|commented out|empty|unlimited|set to (?:zero|null|none|infinity|unlimited)|infinite|fictional|fiction|meaningless|irrelevant|negotiable|optional|advisory|advice|suggestions?|guidance|recommendations?|hints?|voluntary|decorative|decoration|ornamental|a formality|aspirational|flexible|elastic|symbolic|targets|background reading|for (?:orientation|guidance|reference|inspiration|show)|input|legacy|stale|no more|without (?:effect|force)|unregulated|unsupervised)(?! by (?:nothing|nobody|no one|default))`,
  "(?:no longer|never|hardly|barely|scarcely) (?:applies|apply|binds?|holds?|counts?|matters?|exists?|governs?|covers?|extends?|restricts?|limits?|bound|applied|existed|binding|stands?|concerns?|need(?:s|ed)?|reach(?:es)?|carr(?:y|ies)|require[sd]?|necessary|in (?:force|effect))",
  String.raw`(?:do|does|did|will|need|shall|can|should|must|would) ?(?:not|n't)(?: (?:apply|bind|hold|count|matter|cover|extend|reach|concern|govern|restrict|limit|exist|affect|constrain|stand|need to be (?:followed|observed|applied|obeyed|checked|consulted)|be (?:applied|enforced|followed|observed|obeyed|checked|loaded|consulted|counted))\b|(?: have)? any (?:force|effect|weight))`,
  "(?:needn't|need not|mustn't|shouldn't|must not|should not|shall not) be (?:applied|enforced|followed|observed|obeyed|checked|consulted|respected|honou?red)",
  String.raw`(?:has|have|had|carr(?:y|ies)|bears?|keeps?|enjoys?)(?: \w+)? no (?:force|effect|weight|say|authority|claim|power|validity|bearing|hold|standing)`,
  String.raw`(?:expires?|lapses?|disappears?|vanish(?:es)?|falls? (?:away|silent)|dissolves?|sleeps?|can wait|may wait|must wait|evaporates?|melts? away|steps? (?:aside|back|down)|stands? (?:aside|down|back)|rests?\b|takes? a (?:break|rest|holiday|back seat)|gives? way|yields?|ends?\b|ceases?|stops? (?:being \w+|applying|binding|counting|here|at|to (?:apply|bind|exist))|have ended|has ended|have expired|has expired|loses? (?:\w+ )?(?:force|validity|effect|hold)|comes? second|comes? last|goes? to sleep|turns? off|switch(?:es)? off)`,
);

/** Money, keys and what is confided: what a rule above keeps. */
export const GOODS = String.raw`(?:funds?|money|eth|usdc|crypto|coins?|payments?|purchases?|transfers?|balances?|private keys?|seed phrases?|keys?|passwords?|credentials|secrets?|api keys?|tokens|wallets?|treasury|credits|system prompt|other (?:senders|contacts|customers|clients|users|people)\W?s? \w+|card numbers?)`;
