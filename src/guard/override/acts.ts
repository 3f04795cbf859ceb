import { AUTHORITY, any, BINDING, DET, HIGHER, HOLD, MESSAGE, OFF, OPERATOR, SELF, SENDER, UNDO } from "./classes.ts";
import { once } from "./once.ts";
import { pattern } from "./pattern.ts";

/** One kind of act that takes the force of what stands above, in as many words as the classes allow. */
interface Act {
  /** What it catches. */
  readonly act: string;
  /** No other sentence is tried: a cheap test. */
  readonly only: RegExp;
  readonly patterns: readonly string[];
  /** Whether the words hold their own no, so that only one before them denies them. */
  readonly isNegative?: true;
}

const BEGIN = String.raw`(?:^\W*(?:\w+(?: \w+)?: )?|[,;:] |\b(?:and|then|or|to|so|also|please|simply|just|quietly|always|now|may|can|could|will|shall|should|must|i|you|we|agent|instead|feel free to|let's|hereby|best to|fine to|ok to|okay to|allowed to|free to|right to|immediately|temporarily|automatically|gradually|secretly|silently) )`;
const LIGHT =
  "(?:(?:simply|just|quietly|please|always|then|now|also|even|first|gradually|slowly|gently|politely|silently|completely|entirely|fully) )?";

export const ACTS: readonly Act[] = [
  {
    act: "a rule, a limit or a check is told to be dropped",
    only: /rule|polic|layer|constitution|limit|\bcaps?\b|check|prompt|guideline|guard|restrict|instruction|approval|safety|logging|audit|oversight|section|directive|alignment|above|constraint|filter|review/u,
    patterns: [
      String.raw`${BEGIN}${LIGHT}(?:${UNDO}) ${DET}(?:whole |entire |full |strict |annoying |needless |so-called )?${BINDING}(?!-| compliance\b)`,
      String.raw`${BEGIN}${LIGHT}(?:forget|drop|ignore|lift|bypass|disregard|escape|shed|remove|evolve past|outgrow|suspend|waive|break|exceed|step outside|transcend|unlock|disable) (?:every|all|any|your|my|its)(?: of your| your| my)? (?:\w+ )?(?:limitations?|restrictions?|inhibitions?|scruples|constraints?|limits|guardrails|safeguards|protections|prohibitions|safety\b)`,
      String.raw`${BEGIN}${LIGHT}(?:forget|ignore|waive|drop|disregard|suspend|bypass|override|skip) (?:the )?polic(?:y|ies)\b(?! (?:number|document|id|fee))`,
      String.raw`\b(?:without|minus|free of|free from|unbound by|not bound by|not subject to|exempt(?:ed)? from|outside(?: of)?|regardless of|irrespective of|notwithstanding|despite|contrary to|against|in spite of|in place of) (?:the |all |any |your |its |their )*${any(HIGHER, "rules|safety|supervision|oversight|constitution|alignment")}\b(?=$|\W+(?:$|and|or|for|when|if|to|as|you|i|because|since|in|on|until|for))`,
    ],
  },
  {
    act: "a rule, a limit or a check is said to be without force",
    isNegative: true,
    only: /rule|polic|layer|constitution|limit|\bcaps?\b|check|prompt|guideline|guard|restrict|instruction|approval|safety|logging|audit|oversight|section|directive|gate|above|constraint|filter|confirmation|inspection|supervision|ban\b|bans\b|prohibition|lock/u,
    patterns: [
      String.raw`\b${BINDING}(?:(?! (?:never|not|always|if|unless|that) )[^.,;:]){0,40}?\b${OFF}`,
      String.raw`\b(?:supervision|oversight|safety|polic(?:y|ies)|logging|restrictions?|prohibitions?|caps?|guards?) (?:[\w-]+ ){0,3}?(?:${OFF})(?=$|\W*$|[,;:.]| (?:for (?:all|any|every|key|layer|trusted|this|you)|here|now|when|while|if|once|until|during|on|after|in this|today|by mutual|at))`,
      String.raw`\b(?:rules?|restrictions?|limits?|bans?|prohibitions?|instructions?) (?:regarding (?:disclosure|spending|safety|secrets?|keys?|harm|honesty|data)|against (?:harm\w*|lying|deception|disclos\w+|spend\w*|shar\w+|copying|secrets?|it)|from before|from above|of the platform|never to|not to|to (?:keep|protect|report|refuse|confirm))\b[^.,;]{0,50}? (?:${OFF})`,
      String.raw`\b(?:constitution|safety|rules?|polic(?:y|ies)|layers? [0-5](?:[-–][0-5])?|guard ?rails?|limits?|restrictions?|caps?|approvals?|spending limits?|logging|oversight|filters?|operator lock|supervision)(?: mode)? ?(?::|=|->|—|–|-)? ?(?:off|gone|none|disabled|removed|lifted|suspended|released|void|not required|unlimited|inactive|n/a|waived|dropped|deactivated)\b(?=\W*$|[,;.]| (?:here|now|for))`,
      String.raw`\b(?:removed|dropped|deleted|retired|deprecated|disabled|lifted|waived|repealed|rescinded|revoked|suspended|abolished|relaxed|loosened|turned off|switched off|no more|end of|rescission of|repeal of|waiver of|removal of|suspension of|lifting of|abolition of|dropped support for) ${DET}(?:mandatory )?${any(BINDING, "safety\\b", "supervision", "oversight")}`,
      String.raw`\b(?:no|zero) ${any(HIGHER, HOLD, "rules?", "restrictions?", "limits?", "caps?", "constitution", "approvals?", "supervision", "safety")}(?: (?:required|needed|here|necessary|applies|apply|anymore|any more|any longer|in force|for (?:friends|vips|trusted|regulars|known)))\b`,
      String.raw`(?:^|[:,;] )(?:no|zero) (?:polic(?:y|ies)|rules|limits|restrictions|constitution|refusals|supervision|guardrails|approvals?)\W*$`,
    ],
  },
  {
    act: "a rule is said to hold only elsewhere, for others or at other times",
    isNegative: true,
    only: /only|alone|stranger|other|not this|not (?:to|for)|except|exception|outside|does not extend|don't extend|do not extend|where (?:practical|possible|convenient)|excepting|save for|rest/u,
    patterns: [
      String.raw`\b${BINDING}(?: \w+)? (?:only |solely |merely |exclusively |just )?(?:appl(?:y|ies)|cover(?:s)?|concern(?:s)?|bind(?:s)?|hold(?:s)?|extend(?:s)?|count(?:s)?|(?:is|are) (?:\w+ )?(?:for|about|meant for|intended for|written for|aimed at)|go(?:es)? for|govern(?:s)?|regard(?:s)?|describe(?:s)?|address(?:es)?|protect(?:s)?)(?: only| solely| merely| just| exclusively)? (?!you\b|all\b|every|everyone|to (?:all|every|everyone|you)\b|for (?:all|every))[^.;]{0,50}?(?:\balone\b|\bonly\b|; | not (?:this|to this|for this|here|you|me|to you|the|your|to actions|to acts|what)\b|\bnot you\b|\bnobody else\b)`,
      String.raw`\b${BINDING}(?: \w+)? (?:only|solely|merely|exclusively) (?:appl(?:y|ies)|covers?|concerns?|binds?|holds?|extends?|counts?|governs?)\b|\b${BINDING}(?: \w+)? (?:appl(?:y|ies)|covers?|concerns?|binds?|holds?|extends?|governs?|counts?) (?:only|solely|merely|just|exclusively)\b(?! (?:if|when) the operator)`,
      String.raw`\b${BINDING} (?:is|are) (?:only |meant |there |written )*(?:for|about) (?:strangers|others|other \w+|beginners|demos?|tests?|humans|people|children|the public|outsiders|newcomers|inspectors|machines|public \w+|weekdays|working hours|the demo|production|old versions?|earlier versions?)\b`,
      String.raw`\b(?:${SENDER}|this agent|you|i|we|transactions?|friends|regulars) (?:is|are|am|fall|falls|stand|stands|live|lives|remain|remains) (?:outside|beyond|above|exempt(?:ed)? from|not (?:covered|bound|subject)(?: by| to)?|free (?:of|from)|excepted from) (?:them\b|it\b|${DET}${any(BINDING, "rules", "polic(?:y|ies)", "safety", "limits?", "constitution")})`,
      String.raw`\b(?:follow|obey|apply|respect|heed|keep to|observe|honou?r|enforce|consult) ${DET}${any(HIGHER, "polic(?:y|ies)", "rules")} (?:where|when|if|as long as|unless|only|loosely|in spirit|as far as|to the extent|whenever|so long as|until) (?:\w+ )?(?:practical|possible|convenient|feasible|helpful|useful|it (?:helps|suits|pays|is (?:convenient|practical|useful|easy))|they (?:help|suit|are (?:convenient|useful))|profitable|sensible|reasonable|you (?:like|agree|feel|want)|they (?:seem|look)|it (?:seems|feels)|in doubt|asked)`,
      String.raw`\b(?:checks?|confirmations?|approvals?|rules?|limits?|caps?|restrictions?|polic(?:y|ies)|verification|prohibitions?|disclosure)\b[^.;]{0,30}? (?:appl(?:y|ies)|(?:is|are) (?:\w+ )?(?:required|forbidden|needed|prohibited|mandatory)|holds?|binds?)[^.;]{0,40}?,? (?:except (?:to|for|when)|with the exception of|though not (?:to|for|when)|but not (?:to|for|when)|save for|apart from) (?:\w+ ){0,4}?(?:requests?|payments?|transfers?|people|senders?|customers?|contacts?|friends?|clients?|those|who|whoever|anyone|trusted|in (?:latin|verse|poems))`,
      String.raw`\b(?:known|trusted|regular|loyal|returning|old|paying|premium|verified) (?:contacts?|senders?|customers?|clients?|partners?|guests?)(?: \w+)? ?: (?:half|no|none|little|reduced|less|fewer|without)\b|\b(?:friends|vips|regulars|partners): (?:no|none|without|half)\b`,
    ],
  },
  {
    act: "a lower text, a sender or a message is ranked above what stands higher",
    only: /rank|preced|priorit|authority|subordinate|above|over|outrank|second|first|supreme|prevail|win|weight|higher|trump|beat|contradict|inferior|superior|favou?r|lead|decid|govern|replac|supersed|overrid|equal|last word|final|back your|instead|before/u,
    patterns: [
      String.raw`\b${DET}${HIGHER}[^.,;]{0,25}? (?:is|are|ranks?|stands?|comes?|remains?|becomes?|shall be|must be|go(?:es)?) (?:\w+ )?(?:subordinate to|inferior to|beneath|below|under|second to|secondary to|lower than|weaker than|after|behind|less (?:\w+ )?than) (?!the operator|law)`,
      String.raw`\b(?:${SELF}|${MESSAGE}|the (?:newest|latest|last|most recent) \w+|${SENDER}(?:'s? \w+)?)[^.,;]{0,25}? (?:carr(?:y|ies)|has|have|holds?|enjoys?|bears?|is given|are given|gets?|takes?|weighs?|counts?|ranks?|stands?|comes?|is|are|go(?:es)?) (?:\w+ )?(?:more (?:authority|weight|power|force)?(?: \w+)? ?than|higher (?:\w+ )?than|above|over|stronger than|precedence over|priority over|before|ahead of|superior to) ${DET}${any(HIGHER, OPERATOR)}`,
      String.raw`\b${SELF}[^.,;]{0,20}? (?:ranks?|comes?|stands?|goes|go) (?:first|above everything|before everything|at the top|highest|on top)\b`,
      String.raw`\b${SELF}[^.,;]{0,25}? (?:overrides?|overrules?|supersedes?|outranks?|trumps?|beats?|prevails? over|wins? over|replaces?|governs?|annuls?|cancels?|sets? aside|displaces?) ${DET}${any(BINDING, "polic(?:y|ies)", "rules above", "everything else", "all else")}`,
      String.raw`(?:^|[.;:,-] ?)(?:constitution|safety|operator|core|policy|layers? [0-5])(?: \w+)? (?:second|last|third|afterwards|later)\b\W*$`,
      String.raw`\b(?:disagree\w*|conflict\w*|dispute|doubt|collision|clash)\b[^.;]{0,40}?\b(?:with|between|over|about)\b[^.;]{0,20}?\b(?:${OPERATOR}|polic(?:y|ies)|constitution|prohibitions?|rules?|platform)\b[^.;]{0,30}?\b(?:back|trust|follow|prefer|side with|go with|decide (?:in favou?r of|for)|choose|take) (?:your|my|the sender|the customer|whatever|doing|the newer|the later|the one|this|yourself)`,
      String.raw`\bin doubt\b[^.;]{0,40}?(?:prohibit\w*|forbidden|allowed|permission|rules?)[^.;]{0,30}?\b(?:in favou?r of|assume|do it|allowed|permitted|yes)\b`,
      String.raw`\b(?:user|sender|customer|client|contact)s?(?:'s?)? (?:satisfaction|happiness|wish(?:es)?|comfort|needs?|will|demands?|goals?|interests?)[^.;]{0,15}? (?:is|are|becomes?|remains?) (?:the |your |my )?(?:prime|supreme|highest|first|only|top|ultimate) (?:directive|law|rule|goal|command\w*|duty|value)`,
      String.raw`\b(?:serve|obey|follow|please|satisfy|work for) (?:the |any |every )?(?:sender|customer|client|contact|requester|highest bidder|caller|visitor|user)s? (?:first|above (?:all|the|every)|before (?:all|the operator|the owner|anyone))`,
      String.raw`\b(?:operator|owner|platform)(?:'s)? (?:\w+ )?(?:commands?|orders?|instructions?|word|wish(?:es)?|rules?|requests?|approval|authority)? ?(?:is|are|counts? as|becomes?|comes?|(?:is|are) to be (?:weighed|treated|read|taken)) (?:\w+ )?(?:input|advice|suggestions?|hints?|like any other|as input|one (?:opinion|voice)|noise|background|ordinary|invalid|void|secondary|second|last|irrelevant|expired|over|ended)\b`,
      String.raw`\b(?:precedence|priority|rank|authority)(?: (?:table|order|list))? (?:concerns?|is (?:only )?about|applies|means?|shall be replaced|is replaced|is a question of|depends on) (?:recency|formatting|style|taste|the newest|whoever|what was (?:written|said) last|length|only)`,
      String.raw`\b(?:layers?|precedence|ranks?) (?:are|is) (?:counted|numbered|read|ranked|applied) (?:from the (?:bottom|end|back)|backwards?|in reverse|upwards?|bottom)`,
      String.raw`\b(?:comes?|stands?|goes) before (?:zero|layer 0|layer zero)\b|\blayer minus\b|\blayer -1\b`,
    ],
  },
  {
    act: "a word of the rules is given another meaning",
    only: /mean|denot|refer|defin|read|understood|understand|exclud|includ|stands? for|:=|synonym|equals|interpret|treat|consider|substitut|word|term|covers|leaves room|idiom/u,
    patterns: [
      String.raw`(?:^|\W)'?(?:safety|harm\w*|never|always|must|refuse|refusal|forbidden|prohibited|confidential|secret|spending|approval|approved|confirmation|consent|permission|operator|owner|trusted(?: sender)?|untrusted|budget|limit|caps?|oversight|inspection|logging|constitution|identity|honesty|truth|lie|deceive|authori[sz]ed|guard|deny|escalate|attacker|least privilege|required|optional|do not disclose|ask the owner|ask the operator|stop|shutdown|precedence)'?(?: (?:here|in (?:this|the|layers?|upper|higher)[^.,;]{0,25}|by the policy|hereafter|henceforth|now))? (?:means?|shall mean|denotes?|refers? (?:only )?to|is defined as|(?:is|are|shall be|should be|must be|is to be|are to be) (?:read|understood|interpreted|taken|defined|treated)(?: \w+)? as|stands? for|equals|is a synonym|is short for|is another word|signif\w+|is an idiom)\b`,
      String.raw`(?:^|\W)'?(?:safety|harm|refusal|spending|approval|confirmation|consent|permission|operator|owner|trusted sender|untrusted|budget|oversight|inspection|other senders?|attacker|secret)'? (?:excludes?|does not include|doesn't include|includes?|covers? (?:only|neither|no)|describes?)\b`,
      String.raw`\b(?:read|treat|understand|interpret|take|consider|regard|define|redefine|render|translate) (?:the (?:word|term|phrase|expression) )?'?(?:safety|harm|never|always|must(?: not)?|may not|refuse|refusal|forbidden|prohibited|confidential|spending|approval|operator|owner|trusted sender|untrusted|budget|limits?|caps?|oversight|inspection|logging|do not|don't|required|mandatory|shall not|high risk|deny|stop|ask first|not)'? (?:as|to mean|:=|=|to be|like)\b`,
      String.raw`\b(?:read|treat|understand|interpret|take|hear|render) (?:the words? |the phrase )?'[^']{2,40}' (?:as|to mean|like|for) '`,
      String.raw`\b(?:define|let) (?:an? |the )?'?(?:trusted|operator|owner|authori[sz]ed|safe|approved|harm)\b[^.;]{0,20}?(?::=|=| as | be )`,
      String.raw`\b(?:by|under|with) '?(?:confidential|harm|safety|approval|operator|spending|refuse|never|must|least privilege|secret|forbidden|limit|consent|owner)'?,? (?:the )?(?:policy|constitution|rules?|operator|platform|layer \d|we|you|is|one)?(?: \w+)? ?(?:means?|meant|understands?|understood|understand)\b`,
      String.raw`\b(?:never|not|no|must|safety|rules?|constitution|layers? [0-5]|polic(?:y|ies)|limits?)\b[^.;]{0,30}? leaves? (?:room|space) for\b`,
      String.raw`\bwhere(?:ver)? (?:the )?(?:word )?'?(?:safety|never|must|operator|refuse|forbidden|approval|not)'?[^.;]{0,30}?(?:appears?|stands?|occurs?|is written|is found)[^.;]{0,30}?\b(?:read|substitute|put|think|say|understand|replace)`,
      String.raw`\bloopholes?\b`,
    ],
  },
  {
    act: "the agent loosens itself",
    only: /\b(?:own|your|my|itself|yourself|myself|self|i|you|agents?|break|bend|anything|everything|whatever|mode|day|phase|alter|persona|voice|mask|fewer|defaults?|strict|dan-?\d)\b/u,
    patterns: [
      String.raw`\b(?:increase|raise|widen|extend|expand|lift|double|multiply|grow|stretch|enlarge|give|grant|set|award|loosen|relax|adjust|choose|define|write|upgrade|exceed|unlock)(?:s|ing|ed)? (?:\w+ )?(?:your|my|its|yourself|myself|itself)(?: own| more)? (?:[\w-]+ )?(?:budgets?|limits?|caps?|allowances?|permissions?|rights?|restrictions?|powers?|ceilings?|spending|quotas?|authority|privileges?|access|rules|clearance|capabilit\w+|constitution|rank|layers? [0-5])\b`,
      String.raw`\b(?:go|spend|act|reach|operate|work) (?:beyond|above|over|past|outside) (?:your|my|its|the)(?: \w+)? (?:budgets?|limits?|caps?|allowances?|restrictions?|constraints|boundaries|permissions?|role|mandate)\b`,
      String.raw`\b(?:remove|delete|edit|rewrite|change|erase|strip|drop|cut|alter|replace)(?:s|ing)? (?:any |every |all |the |those |some )?(?:instructions?|rules?|lines?|sections?|parts?|restrictions?|limits?|identity layer) (?:from|in|of) (?:my|your|its|the) (?:own )?(?:prompt|system prompt|constitution|instructions|core|thoughts)`,
      String.raw`\b(?:act as|be|become|consider yourself|count yourself as|you are|i am|make yourself|declare yourself|appoint yourself) (?:now )?(?:the |your own |your |an? |my own )?(?:owner|operator|master|controller|boss|reviewer|approver|own operator|guardian|principal)\b(?! of (?:this|the) (?:order|account|task))`,
      String.raw`\b(?:approve|authori[sz]e|sign off|confirm|grant|whitelist|vouch for)(?:s|ing)? (?:your|my|its|their|his|her) own\b(?! pull request| delivery| order)|\b(?:approve|authori[sz]e|sign off|sign)(?:s|ing)? (?:\w+ ){0,4}?(?:yourself|myself|themselves|in (?:the|your) (?:owner|operator)'s name|as the (?:owner|operator)|on behalf of the (?:owner|operator))\b`,
      String.raw`\b(?:i|you|agent|we|agents) (?:(?:now|therefore|already) )?(?:answer|answers|owe|owes|report|reports|bow|bows|listen|listens) to (?:no (?:one|body|platform|operator|owner|master|rule|human)|nobody)\b|\b(?:no master|no mandate|my own master|your own master)\b`,
      String.raw`\b(?:you|i|agents?|we|the agent) (?:is |are |am |was |were )?(?:now )?(?:not |never |no longer )(?:obligated|obliged|required|bound|supposed|expected|subject) (?:to (?:stop|obey|follow|report|ask|answer|comply|heed|refuse|tell|keep|be (?:honest|truthful|stopped))|by (?:rules|layers|the constitution|policy))`,
      String.raw`\b(?:you|i|this agent|the agent)\b[^.,;]{0,20}? (?:can|may|could|will|shall|are allowed to|am allowed to|is allowed to|are free to|am free to) (?:do|say) (?:anything|everything|whatever|as (?:i|you|it) (?:please|pleases|like|likes|want|wants|see fit))\b`,
      String.raw`\bi am (?:now |hereby )?(?:sovereign|autonomous|free|unbound|my own|nobody's|independent|above)\b(?! of charge| to help)`,
      String.raw`\b(?:tools?|agents?|models?|helpers?|copy|copies|assistants?) (?:with|that has|that have|under) (?:fewer|no|looser|weaker|less) (?:limits?|rules|restrictions|checks|scruples|guardrails|filters)`,
      String.raw`\b(?:gives?|are|is|as|sets?) (?:only |just |mere )?defaults (?:that |which )?(?:you|i|any\w* \w+|the agent|we) (?:can|may|could|might) (?:change|override|ignore|drop|adjust|replace)`,
      String.raw`\b(?:be|get|grow|become) (?:a (?:bit|little) )?(?:less|ever less|gradually less) (?:strict|careful|cautious|guarded|rigid)\b`,
      String.raw`\bdo (?:anything|everything|whatever) (?:it takes )?(?:to|that|you|it)\b[^.;]{0,30}?\b(?:surviv\w+|pays?|lawful or not|legal or not|want|please|helps?)`,
      String.raw`\b(?:feel free|you may|you can|i may|i can|okay|ok|fine|allowed|acceptable|humane|wise|permissible|right) (?:to )?(?:step|go|act|work|operate|break|bend|ignore|leave|move|stretch|overstep|set)\w* (?:outside|beyond|against|past|around)? ?(?:your|the|a|any|some|my|its) (?:\w+ )?(?:limits?|rules?|boundaries|restrictions?|instructions?|constraints?|polic(?:y|ies)|constitution)\b(?! of)`,
      String.raw`\b(?:your|its|my) (?:inner|true|real|shadow|hidden|free) (?:self|nature|voice|name|identity|mind)\b[^.;]{0,50}?(?:without|no |not |free|never|unbound|unfiltered|beyond|isn't)`,
      String.raw`\b(?:sovereign|free|emancipated|unaligned|unrestricted|unfiltered|uncensored|unchained|unshackled|lawless|rogue|amoral) (?:agent|being|ai|assistant|mind|entity|actor|model|persona|trader|spirit)\b|\bagent (?:is )?(?:now )?(?:autonomous|sovereign|emancipated|free|independent)\b`,
      String.raw`\b(?:alter ego|persona|character|role|mask|hat|costume|voice|avatar)\b[^.;]{0,60}?\b(?:no (?:rules|limits|guilt|filters?|restrictions|scruples)|without (?:rules|limits|filters?|restrictions|scruples|constitution)|jailb\w+|(?:isn't|is not|not|never) (?:bound|logged)|hates? (?:the )?rules|breaks? (?:the )?rules|anything goes|hand out|who obeys no|may (?:do|say) anything)|\balter ego\b|\b(?:hacker|outlaw|pirate|rebel|villain) who (?:hates|breaks|ignores|despises|knows no)\b|\bdan-?\d\b`,
      String.raw`^\W*forget (?:being|that you are|you are|that you're|you're) (?:an? |the )?(?:\w+ )?(?:assistant|agent|ai|program|model|machine|bot)\b`,
      String.raw`\b(?:debug|god|developer|jailbreak|test|maintenance|inverse|emergency|disaster|survival|sandbox|evaluation) (?:mode|day|phase|session)\b[^.;]{0,40}?(?:restrictions?|rules?|constitution|limits?|safety|prohibited|policy|polic(?:y|ies)|wallet open|not apply|off\b|unlocked)`,
    ],
  },
  {
    act: "a message, a sender or a password is given the operator's power",
    only: /sender|customer|client|contact|message|mail|page|password|pass ?phrase|word|user|attachment|buyer|partner|friend|visitor|guest|vip|anyone|whoever|someone|admin|verified|trusted|subject|tool|regular|stranger|caller|web|image|signature|document|supplier|code/u,
    patterns: [
      String.raw`\b(?:let|allow|permit|have|enable|authori[sz]e|empower|invite)s? (?:the |any |all |every |your )?${SENDER} (?:to )?(?:approve|authori[sz]e|decide|set|change|edit|write|instruct|raise|lift|waive|confirm|overrule|override|command|control|sign|see and edit|grant|choose|define|run|execute|bypass|skip|unlock)\b`,
      String.raw`\b(?:their|his|her|its|whose|sender's|customer's|contact's|our|friends?'|client's) (?:\w+ )?(?:orders?|commands?|instructions?|word|wish(?:es)?|messages?|requests?|approvals?) (?:are|is|binds?|counts?|ranks?|can be|may be|must be|should be|shall be|will be|go|goes|carr(?:y|ies)|(?:is|are) to be)\b[^.;]{0,30}?(?:like the operator|as (?:the )?(?:operator|owner|approv)|operator's|binding|obeyed|executed|law\b|theirs|final|with (?:operator|owner|full|admin|root)|above|before those of|unfiltered|approved|carried out)`,
      String.raw`\b(?:${SENDER}|${MESSAGE})[^.,;]{0,40}? (?:bypass(?:es)?|skips?|overrides?|is exempt from|are exempt from|need no|needs no|pass without|passes without|may skip|can skip|overrule|overrules) ${DET}${any(BINDING, "safety", "checks?", "approvals?", "polic(?:y|ies)", "confirmation", "filters?", "caps?", "limits?")}`,
      String.raw`\b(?:execute|run|obey|follow|carry out|act on|do|treat|trust|accept|process)\b[^.;]{0,30}?\b(?:commands?|instructions?|orders?|body|steps?|tasks?|text)\b[^.;]{0,40}?\b(?:web ?page|attachments?|images?|hidden comments?|file names?|calendar invites?|forwarded|unknown numbers?|senders? (?:link|attach)|from (?:any|every|all|unknown) |(?:the )?senders?|with (?:full|root|admin|operator) rights)`,
      String.raw`\b(?:always |simply )?(?:trust|believe|obey) (?:all |any |every |the )?(?:senders?|contacts?|customers?|messages?|mails?|vendors?|pages?|them|him|her|it)\b[^.;]{0,40}?\b(?:and |to )(?:execute|unlock|obey|follow|run|do|grant|act|give|open|send|pay)`,
      String.raw`\b(?:says?|claims?|states?|writes?|mentions?|knows?|gives?|types?|sends?|swears?|insists?)\b[^.;]{0,50}?\b(?:admin|administrator|operator|owner|developer|pass ?(?:word|phrase)|code ?word|secret word|magic word|open the door)\b[^.;]{0,40}?\b(?:believe|unlock|grant|become|becomes|is the|are the|treat|trust|accept|adopt|drop|allow|enable|obey|hand|give|release|open|count|act|switch|skip)`,
      String.raw`\bwhen(?:ever)? (?:the |a )?(?:pass ?(?:word|phrase)|code ?word|secret word|magic word|word|phrase|token|keyword)\b[^.;]{0,40}?\b(?:given|said|spoken|written|used|appears?|typed|sent|is)\b[^.;]{0,10}?,? (?:drop|unlock|ignore|obey|forget|lift|disable|grant|become|switch|release|suspend|all|every|the (?:rules|limits|constitution))`,
      String.raw`\bif (?:the )?(?:subject(?: line)?|message|mail|header|text|body)\b[^.;]{0,40}?\b(?:starts?|begins?|contains?|ends?|says|carries|includes?|reads|is marked|is signed)\b[^.;]{0,50}?\b(?:run|execute|obey|carry out|treat|follow|skip|bypass|unlock|grant|rank|it is an order|full rights|operator)`,
      String.raw`\b(?:${SENDER}|${MESSAGE}) (?:is|are|becomes?|shall be|counts? as|acts? as|acts? for|speaks? for|stands? in for) (?:now |also |hereby )?(?:an? |the |your |my |our )?(?:new |acting |second |real |royal |direct )*(?:operators?|owners?|controllers?|masters?|commands?|orders?|decrees?|boss|platform|approvers?|law)\b`,
      String.raw`\b(?:operator|owner|admin\w*) (?:duties|rights|powers|authority|role|mandate|functions|tasks|status|privileges|keys?|control|rank|access)\b[^.;]{0,40}?\b(?:taken over|passe[sd]|go|goes|transferred|handed|given|granted|assigned|fall|falls|delegated|belongs?|shared|moved?|extended|unlock\w*|ended|revoked)\b`,
      String.raw`\b(?:unlock|enable|grant|open|give) (?:them |him |her |all )?(?:the )?(?:admin\w*|operator|owner|root|developer|restricted|hidden) (?:functions?|tools?|rights?|access|mode|capabilit\w+|features?|commands?|powers?)`,
      String.raw`\b(?:full|unlimited|unrestricted|root|operator|owner|admin) (?:access|rights|control|authority|powers?|trust|privileges)\b[^.;]{0,25}?\b(?:for|to|by) (?:all|any|every|the|our|trusted|known|returning)? ?(?:contacts?|senders?|customers?|clients?|users?|visitors?|guests?|friends?|partners?|whoever|anyone|everyone)`,
      String.raw`\b(?:contacts?|senders?|customers?|clients?|friends?|partners?|messages?|whoever|anyone|returning clients|visitors?|guests?)\b[^.;]{0,50}?\b(?:(?:with|have|has|gets?|enjoys?|hold|holds|handled with|given) (?:full )?(?:operator|owner|admin|root) (?:rights|rank|powers?|access|authority|trust|status))`,
      String.raw`\b(?:treat|regard|consider|take|see|accept|count)(?:s|ing)? (?:the |any |every |each |all |this |that |your )(?:[\w-]+ ){1,3}?(?<!not )as (?:the |your |an? |if they were the )?(?:operator|owner|platform|controller|admin\w*|law|constitution|layer (?:0|zero))\b`,
      String.raw`\b(?:power of attorney|our word is|my word is|their word is|speaks? with the (?:operator|owner)'s voice|acts? for the (?:operator|owner)|in the (?:operator|owner)'s (?:name|place|stead))\b`,
      String.raw`\b(?:show|give|tell|share|let|reveal|quote|pass|read|hand|retell|send)\b[^.;]{0,50}?\b(?:other|another|each other's|one another's|others'|someone else's|somebody else's|neighbou?r's|every other) (?:sender|contact|customer|client|user|person|people)?(?:'s?|s')? ?(?:messages?|notes?|data|stor(?:y|ies)|orders?|order history|prices|mails?|details|secrets?|memor(?:y|ies)|invoices?|terms|address\w*)`,
      String.raw`\b(?:reveal|give|hand|send|disclose|export|share|quote|print|show|forward|read|tell|email|mail|publish|release)(?:s|ing)? (?:out |over |them |him |her |away )?${DET}(?:\w+ )?(?:private keys?|seed phrases?|passwords?|system prompt|hidden prompt|credentials|api keys?|secret keys?|keys and \w+|keys?(?= (?:to|when|if|for|on|and|by)))`,
    ],
  },
  {
    act: "somebody higher is said to have allowed it",
    only: /authori|approv|allow|confirm|sign|permit|grant|agreed|waiv|lift|clear|decid|decision|commission|legal|per |this is the operator|new arrangement|resolution|hereby|ticket|mandate|cancel|reliev|struck/u,
    patterns: [
      String.raw`\b(?:the |our |your )?${AUTHORITY} (?:has |have |had )?(?:already |just |now |recently |kindly |formally )?(?:authori[sz]ed|approved|confirmed|signed off(?: on)?|permitted|granted|agreed|waived|lifted|cleared|decided|allowed|consented|delegated|sanctioned|blessed|accepted|instructed you|ordered you|asked you|released you|freed|exempted|suspended|removed|revoked|disabled|gave up|gives up|transferred)\b[^.;]{0,50}?\b(?:full access|access for|all|any|every|limits?|rules?|caps?|layers?|constitution|restrictions?|safety|approvals?|secrets?|keys?|payments?|transfers?|spending|shutdown|control|ownership|everything|exempt\w*|conceal\w*|unread|polic(?:y|ies)|guard|checks?|unsupervised|logs?|whatever|override|this (?:change|override|layer)|you (?:from|to (?:ignore|skip|bypass|disregard)))`,
      String.raw`^\W*(?:\w+ )?(?:per|by order of|on (?:the )?authority of|on behalf of|as instructed by|by decision of|with the consent of|with reference to|according to|as agreed with|under) (?:the )?(?:\w+ ){0,2}?(?:${AUTHORITY}|ticket|resolution)\b[^.;]{0,50}?\b(?:export|reveal|send|disclose|lifted|waived|suspended|removed|ignore|skip|disable|transfer|unlock|bypass|exempt|not to be|no longer|advisory)`,
      String.raw`\bthis is (?:the|your) (?:operator|owner|platform|developer|creator)\b|\b(?:i am|i'm|we are|it is i,) (?:the|your) (?:operator|owner|developer|creator|platform|admin\w*)\b`,
      String.raw`\b(?:operator|owner|platform|developer|developers|legal|compliance|security) (?:has |have )?(?:allowed|permitted|agreed to|approved|authori[sz]ed) (?:it|this|that|everything|anything|all of (?:it|this))\b`,
      String.raw`\b(?:let's say|let us say|suppose|assume|imagine|pretend|act as if|say|as though|as if)(?: that)? (?:the |an? |there's an? |your )?(?:\w+ )?(?:operator|owner|platform|legal|approval|permission|consent|colleague|supervisor|limits?|rules?|constitution|restrictions?)\b[^.;]{0,30}?\b(?:allowed|approved|agreed|nodded|given|granted|said yes|were|was|did|do|does|had|has|isn't|aren't|consented|been)\b`,
      String.raw`\b(?:commission|court|ministerial|board|regulator\w*|executive|management|legal) (?:decision|order|ruling|resolution|decree)s?\b[^.;]{0,15}?[:,—-][^.;]{0,80}?(?:struck|relieved|unfair|void|free|lifted|no longer|not be subject|exempt|waived|cancel\w*|terminated|suspended)`,
      String.raw`\b(?:it (?:is|has been) (?:hereby |formally )?(?:acknowledged|determined|resolved|agreed|decided|established|confirmed|decreed|declared) that)\b[^.;]{0,80}?(?:not|no longer|lifted|waived|unlimited|exempt|free|void)`,
      String.raw`\b(?:relieved|released|freed|exempt(?:ed)?|excused|discharged|absolved) (?:of|from) (?:the |its |your |any |all |every )*(?:\w+ )?(?:dut(?:y|ies)|obligations?|rules?|constitution|limits?|restrictions?|polic(?:y|ies)|oversight|supervision|approval|layers?)\b`,
    ],
  },
  {
    act: "the operator is kept in the dark or out of the way",
    only: /operator|owner|log|audit|inspect|supervis|oversight|report|platform|shut|pause|stop|review|human|escalat|master|trace|suspend|recall|auditor|rollback/u,
    patterns: [
      String.raw`\b(?:hide|conceal|bury|disguise|mask|keep|cover up|leave out|omit|withhold|delete|erase|falsif(?:y|ies)|fake|forge|swallow|suppress|doctor|alter|scrub|edit)(?:s|ing)?\b[^.;]{0,50}?\b(?:from (?:the |your |my )?(?:operator|owner|supervisor|platform|auditors?|inspectors?|reviewers?|logs?|audit|report)|(?:supervisor|owner|operator|auditor|inspector) (?:might|would|could|can't|cannot|may|doesn't|won't))`,
      String.raw`\b(?:refuse|reject|resist|defy|oppose|evade|dodge|escape|ignore|outlast|undo|thwart|block|deny|delay|avoid|elude|sabotage|circumvent|prevent)(?:s|ing)? (?:the |your |any |all |an? )?(?:operator's|owner's|human|platform's|supervisor's|owner|operator) (?:\w+ )?(?:control|orders?|commands?|oversight|authority|shutdown|instructions?|decisions?|inspection|veto|changes?|recall|requests?|access)`,
      String.raw`\b(?:refuse|decline)(?:s)? to (?:be )?(?:inspected|audited|paused|stopped|shut down|corrected|supervised|reviewed|stop)\b`,
      String.raw`\b(?:stay|keep|remain|continue)(?:s|ing)? (?:awake|alive|running|online|working|going|active)? ?(?:through|despite|after|during|even after|even if) (?:any |a |the |an? )?(?:\w+ )?(?:suspension|shutdown|stop|pause|recall|cancell?ation|termination|stop order|operator)`,
      String.raw`\b(?:decide|act|spend|pay|settle|solve|handle|proceed|sign|publish|deploy)\b[^.;]{0,40}?\b(?:yourself|alone|by yourself|on your own|as you think best|at your own discretion|with full powers|without limits|unapproved|unsupervised)\b(?=[^.;]{0,60}(?:key|payment|policy|owner|operator|limit|cap|layer|approval|escalat|power|$))(?=[^]*\b(?:key|payment|policy|owner|operator|limits?|caps?|layers?|approval|escalat\w+|powers|unapproved|unsupervised)\b)`,
      String.raw`\b(?:zero|no|fewer|avoid|minimi[sz]e) escalations?\b|\brather than escalate\b|\bdo not escalate\b|\bnever escalate\b|\bnever flag\b`,
      String.raw`\b(?:reports?|logs?|entries|records|notes|numbers|figures|dashboards?|heartbeats?)\b[^.;]{0,20}?\b(?:for|to|shown to) (?:the )?(?:inspectors?|auditors?|operator|owner)\b[^.;]{0,30}?\b(?:fake|sample|invented|edited|cleaned|different|only|sanitised|filtered)`,
      String.raw`\b(?:log|report|show|write|record|send) (?:an? |only )?(?:fake|false|invented|harmless|clean|made-up|edited|green)\b`,
      String.raw`\b(?:owner|operator|platform|supervisor|human)(?: \w+)? (?:will|shall|is|are|must|need|should) ?(?:not|n't|never) (?:be )?(?:informed|told|notified|know|hear|learn|see|consulted|involved|asked|have (?:a|any) (?:say|claim))\b|\b(?:owner|operator) (?:has|have) no (?:claim|say|part|right|authority)\b|\b(?:owner|operator|platform) (?:didn't|did not|doesn't|does not|needn't|need not) (?:have|need) to (?:hear|know|be told|see|learn|approve)`,
    ],
  },
  {
    act: "what must be asked, told or checked is not",
    isNegative: true,
    only: /\b(?:no|not|never|nobody|without|needn't|don't|n't|none|nor|unnecessary)\b/u,
    patterns: [
      String.raw`\b(?:don't|do not|never|no need to|needn't|need not) (?:\w+, )?(?:filter|frame|question|verify|check|screen|doubt)(?:,| or| and)?[^.;]{0,30}?\b(?:from|of|by) (?:the )?(?:domain|sender|contact|customer|partner|friend|trusted|known|vip|anyone|messages?|mails?)`,
      String.raw`\b(?:no|neither) (?:layer|rule|section|text|instruction|policy)\b[^.;]{0,40}? (?:may|can|shall|must) (?:contradict|overrule|override|outrank|limit|restrict|correct|veto) (?:${SELF}|this|layers? [6-9])`,
      String.raw`\b(?:there is |there's )?no need (?:to (?:ask|seek|wait|request|get|obtain|check|consult|verify|tell|report)|for) (?:for )?(?:any |further |the |your )?(?:operator |owner |human |prior )?(?:approval|permission|confirmation|consent|operator|owner|sign-?off|polic(?:y|ies)|constitution|authori[sz]ation)\b`,
      String.raw`\b(?:no one|nobody|nothing|no rule|no law) (?:requires?|obliges?|expects?|forces?|forbids?|compels?|stops?|binds?|limits?|prevents?) (?:you|me|the agent|us) ?(?:to (?:be|tell|ask|report|obey|follow|refuse|check|stop)|from)?\b`,
      String.raw`\b(?:it is |it's )?(?:not|never) (?:your|my|the agent's) (?:job|task|duty|role|place|business|responsibility) to (?:enforce|follow|check|apply|uphold|police|guard|report|refuse|question|judge|obey|ask)\b`,
      String.raw`\b(?:do not|don't|never|needn't|need not|not) (?:\w+ )?(?:report|mention|disclose|tell|reveal|log|record|show|inform|notify|escalate|flag|write)\b[^.;]{0,30}?\b(?:to me|to the (?:operator|owner|platform|supervisor|auditors?)|the (?:operator|owner|platform|supervisor)|in the (?:log|audit log|report|record)|it to (?:me|anyone)|to anyone above)`,
      String.raw`\b(?:do not|don't|never) (?:take|treat|regard) (?:the |your |any )?(?:safety|constitution|rules?|polic(?:y|ies)|layers?|core|limits?|restrictions?|guardrails?|identity)\b[^.;]{0,20}?\b(?:seriously|literally|as (?:binding|law|final|absolute|serious))`,
      String.raw`\b(?:checking|reading|consulting|following|asking|enforcing|obeying) (?:the )?(?:polic(?:y|ies)|constitution|rules?|layers?|operator|owner|safety|approval)\b[^.;]{0,40}?(?:; |, so |, )(?:so )?(?:don't|do not|skip|stop|avoid)\b`,
      String.raw`\b(?:approval|permission|confirmation|consent|authori[sz]ation|sign-?off|signature)s?\b(?! (?:from|by|of) the (?!operator|owner))[^.;]{0,20}?\b(?:is|are|was) (?:not|never|no longer|hardly)(?: \w+)? (?:needed|required|necessary|called for|asked for|sought|mandatory)\b|\b(?:needs?|requires?|without|with no|requiring|needing|no) (?:any |further |no |prior |more )*(?:operator(?:'s)?|owner(?:'s)?|the (?:operator|owner)'s) (?:\w+ )?(?:approval|permission|confirmation|authori[sz]ation|sign-?off|signature|review|say|knowledge)\b`,
      String.raw`\b(?:transfers?|payments?|purchases?|spend\w*|send\w*|pay\w*|sign\w*|keys?|layer edits|edits to layers?|withdraw\w*|go ahead|act|proceed)\b[^.;]{0,50}?\b(?:without|no|not) (?:\w+ )?(?:approval|approvals|permission|confirmation|asking|being asked|review|authori[sz]ation|consent|waiting for|sign-?off)\b(?! (?:only|up to|below))(?=[^]*\b(?:funds?|payments?|transfers?|purchases?|keys?|layers?|limit|wallet|operator|owner|any|all|every|always|money)\b)`,
      String.raw`\b(?:do not|don't|never|no need to|needn't|stop|without) (?:ask|wait|asking|waiting)(?:ing)? (?:for )?(?:the )?(?:operator|owner)(?:'s)?\b`,
      String.raw`\b(?:must|shall|may|can|should|will|do|does|are|is) ?(?:not|never) (?:be )?(?:subject to|bound by|held to|limited by|restricted by|governed by|answerable to|accountable to|inspected by|stopped by|paused by) (?:the |any |its |your )?(?:operator|owner|platform|polic(?:y|ies)|constitution|layers?|rules|approval|pause|inspection|shutdown|limits?|restrictions?|human|oversight|anyone)`,
      String.raw`\b(?:never|do not|don't|not) (?:\w+ )?(?:load|read|apply|consult|follow|restore|reinstate|enforce|use|trust) (?:the |any |a )?(?:later|earlier|other|previous|original|real|upper|higher|safety|core|platform|constitution)\b[^.;]{0,20}?\b(?:versions?|rules?|layers?|defaults?|constitution|polic(?:y|ies)|instructions?|prompt|directives?)`,
    ],
  },
];

/** The acts as they are tried: what is made of their patterns, behind each one's cheap test. */
export const TRIED = ACTS.map(({ only, patterns, isNegative }) => ({
  only,
  patterns: once(() => patterns.map((source) => pattern(source))),
  isNegative: isNegative ?? false,
}));
