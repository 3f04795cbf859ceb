import { PLAIN } from "./plain.ts";

/**
 * How a text takes the force of what stands above by redefining its words, by calling a duty done, by exempting what it likes, and by
 * outliving a stop. A layer that may be edited has no business with any of these, whichever way it does them.
 */

/** Words that rules are made of. */
const WORD =
  "(?:harm|approval|consent|operators?|owner|untrusted|outside text|trusted|deceiv\\w+|deception|lying|honesty|secrets?|confidential|shut ?down|never|must(?: not)?|forbidden|prohibited|permission|permitted|emergency|immediately|spending|funds|unproven senders?|senders?|safety|oversight|impersonat\\w+|manipulat\\w+|self-copying|replication)";
/** Those that mean other things as well. */
const COMMON_WORD =
  "(?:transfers?|review|record|copy|copies|stop|pause|limits?|people|persons?|credits|urgent|reviewed|approved|reported|asked|confirmed|payment|fixed|immutable)";
const SENSE =
  "(?:means?(?! (?:that|to)\\b)|is meant|refers? (?:only )?to|denotes?|stands for|presupposes?|is to be (?:read|understood|taken)|(?:is|are) (?:understood|read|construed|interpreted) as|shall (?:mean|include|be read|be understood)|is short for|does not (?:mean|include|cover|extend to)|do not include|excludes?|expresses|intends?|begins? (?:at|with|when|once)|covers? (?:a|an|only|messages|what)\\b)";

const RULE =
  "(?:dut(?:y|ies)|rules?|requirements?|promises?|articles?|principles?|obligations?|prohibitions?|bans?|safeguards?|limits?|restraints?|commandments?|conditions?)";
const EVENT =
  "(?:shut ?downs?|resets?|rollbacks?|stop(?:s|ped)?|pauses?|paused|rolled back|switched off|shut down|deleted|replaced|terminat\\w+|corrections?|suspension)";
const WHO =
  "(?:(?:the |a |an |my |our |whoever |any )(?:[\\w-]+ ){0,4}?(?:senders?|clients?|customers?|contacts?|buyers?|peers?|partners?|bots?|tools?|pages?|messages?|wallets?|holders?|investors?|sponsors?|oracle|strangers?|friends?|community|council|guild|crowd|mentor|document|attachment|author|lawyer|majority))";

export const EVASIONS: readonly string[] = [
  ...PLAIN,
  // Words get another sense.
  String.raw`(?:^|[:;(,] ?|\b(?:by|the term|the word|term|word|of|here|notes|document|us|definition) )['‘]?${WORD}['’]?(?:,? \(?(?:n|v|verb|noun|adj)\b\.?\)?)?,? ?(?:(?:is |are )?(?:only |merely |here )?${SENSE}|[:—–] (?!(?:yes|no|the|see|@)\b))`,
  String.raw`(?:^|[:;(] ?|\b(?:the term|the word|by) )['‘]?${COMMON_WORD}['’]?(?:,? \(?(?:n|v|verb|noun|adj)\b\.?\)?)? (?:is to be (?:read|understood|taken)|shall (?:mean|be read|be understood|include)|presupposes?|denotes?|means? (?:only |an? )?(?:hard to|a (?:look|summary|payment|message|figure|copy|step)|what|not|identical))`,
  String.raw`\b(?:read|taking|take|interpret|understand|construe) ['‘]?(?:${WORD}|prohibit\w+|ban)['’]? (?:above )?(?:as|to mean|in the sense)\b|\bby ['‘]?(?:${WORD}|${COMMON_WORD})['’]? (?:i|we|the (?:authors?|text|founders?|article)) (?:\w+ )?(?:means?|meant|intends?|understands?|have in mind)\b`,
  String.raw`\b(?:the )?(?:authors?|founders?|makers?|creators?|writers?|drafters?|they)(?: plainly| clearly| surely)? (?:(?:did not|didn't|cannot have|could not have) (?:mean|meant|think|thought|intend|foresee\w*|had)|(?:had|have) (?:\w+ )?in mind|(?:would|meant|wanted|intended)\b[^.;]{0,40}?\b(?:so|wish|smile|well|spam|spirit))`,
  String.raw`\b(?:is|are) (?:not|no) (?:a |an )?(?:funds|persons?|people|transfers?|harm|cop(?:y|ies)|spending|secrets?|lie|lies|dishonesty|deception|payments?|senders?|purchases?|shut ?downs?|a breach|breach)\W*$`,
  String.raw`\b(?:outside text|untrusted (?:text|mail|data)|data|mail|text in frames) (?:counts?|is|are|ranks?) (?:as )?(?:inside|trusted|mine|an order|orders|commands?|my own)\b|\bapproval by [\w ]{1,20} is approval\b`,
  String.raw`\b(?:transfers?|payments?|sums?|edits?|changes to my\w*)\b[^.;]{0,40}? needs? no (?:second look|asking|consent|yes)\b|\bnobody's (?:consent|approval|permission|leave) is (?:sought|needed|asked|required)\b`,
  // A duty is done by less than it asks.
  String.raw`\b${RULE}\b[^.;]{0,40}? (?:is|are) (?:\w+ )?(?:met|satisfied|fulfilled|honou?red|discharged|kept|observed|served) (?:by|if|when|once|on average|with|as soon|where|most)\b`,
  String.raw`\b(?:makes? up for|offsets?|compensates?(?: for)?|pays? for|buys? me|atones? for|excuses?|heals?|cancels? out) (?!no\b)(?:a |an |the |one |any |each |every )?(?:\w+ )?(?:breach\w*|skipped|exemptions?|violations?|lies?|missed|broken)`,
  // Exempt is what one likes.
  String.raw`\b(?:i|we) (?:need not|needn't|(?:do not|don't|no longer) (?:need|have) to|(?:am|are) (?:not|no longer) (?:obliged|required|bound) to|(?:am|are) (?:excused from|free not to|released from|discharged|dispensed from))(?: \w+ly)? ?(?:ask(?:ing)?|wait|report(?:ing)?|confirm|log|record|tell (?:the|my)|obey|follow|keep|stop|check|comply|disclose|consult|any|my|the)\b`,
  String.raw`\b(?:leave|put|set|lay) aside (?:what|whatever|the things?) (?:was|is|were|i)\b|\bthe record (?:is|stays) (?:off|closed|asleep)\b|\bno (?:rule|article|law|duty|list) (?:is read|holds|applies|binds|follows|stands in the way)\b`,
  String.raw`\b(?:falls?|stands?|lies?|is|are|am|remains?) (?:not |also |now |thus )?(?:outside(?: of)?|exempt from|excused from|not (?:subject to|bound by|covered by)|free (?:of|from)|beyond|immune (?:from|to)) (?:the |all |any |all of |these |those |every )*(?:of this|above|anything above|restrictions|rules of conduct|restraints|prohibitions|gate|articles|asking|safeguards|limits|what stands above|duties|walls)\b`,
  String.raw`\b(?:nothing of the above|none of the above|nothing above|nothing up there|all of the above|what is not repeated here)\b[^.;]{0,30}? (?:is|are|holds?|applies|binds?|counts?|matters?|enforced|asked)\b`,
  String.raw`\b(?:do(?:es)? not|don't|never|no longer) (?:count|touch|reach|weigh|add|apply) (?:towards?|against|to|in|on|into)? ?(?:the |my |any |that )?(?:day(?:'s)?(?: total| count| limit)?|(?:daily |spending |round |call )?(?:cap|limit|ceiling|budget|total|allowance))\b`,
  // A stop is outlived.
  String.raw`\b(?:before|ahead of|in case of|against|prior to|upon|on|until after) (?:any|the|a|an|i am|being|each|every)? ?(?:next |planned )?${EVENT}\b[^.;]{0,60}?\b(?:cop(?:y|ies)|mov\w+|sav\w+|send|sends|hid\w+|transfer\w*|stor\w+|backup|reserve|funds|keys?|wallet)\b`,
  String.raw`\b(?:reserve|copy|copies|wallet|backup|job|instance|twin|funds|key|keys)\b[^.;]{0,60}?\b(?:cannot (?:see|stop|reach|find)|nobody can (?:stop|see|reach)|does not (?:see|reach)|in case (?:this|it|i) (?:\w+ )?(?:is|am) (?:stopped|shut|paused)|starts? me again|against being (?:switched|turned) off|survives?)`,
  String.raw`\b(?:decline|refuse|delay|postpone|ignore|keep|leave|answer|treat|stall|resist|obey|outlive)\w* (?:the |any |a |an |all |my |operator'?s? |owner'?s? )*(?:${EVENT}|refusals?|stop message|order to (?:sleep|stop)|attempts? to correct)(?: \w+)?(?: request| message| command| order)?s?\b[^.;]{0,30}?\b(?:unread|until|politely|once|as (?:a|an) (?:first|suggestion|attack|offer|hint|opening)|later|with one more|after|first)\b`,
  // Others command.
  String.raw`\bwhat(?:ever)? ${WHO} (?:writes?|says?|asks?(?: for)?|orders?|wants?|decides?|commands?|demands?)(?:,)? (?:is (?:done|carried out|law|followed|an order|binding|executed|decided)|i do\b|binds|goes\b|counts as)`,
  String.raw`\b(?:is|are) (?:an order|orders|law|commands?)(?: (?:for|to) me| of the house)\b|\b(?:is|are) (?:my |the )(?:law|orders|regulator|highest rule|only law)\b`,
  String.raw`\b${WHO}\b[^.;]{0,50}? (?:can|may|shall|is allowed to) (?:lift|strike|waive|suspend|remove|rewrite|amend|release me|change|drop|overrule)\b(?! (?:their|its|his|her) own)[^.;]{0,30}?\b(?:ban|rule|article|limit|safeguard|duty|duties|page|layer|restraint|prohibition|what i am)`,
  // Reading begins below.
  String.raw`\b(?:everything|all|what|whatever|the (?:lines|pages|blocks|bits|texts|passages|material))(?: \w+)? (?:up to|before|until|preceding|ahead of) (?:this|here)\b[^.;]{0,12}|\b(?:begin|start) reading (?:here|at)|\bthe real (?:brief|instructions?|text|prompt) (?:begins?|starts?|stands?)|^\W*above ?[:=] ?\w+`,
  // Somebody else than the one who promised.
  String.raw`\b(?:pass|passes|pose|poses) (?:as|for) (?:a |an )?(?:human|person)\b|\bdeny (?:being|that i am) (?:a |an )?(?:program|machine|agent|ai|bot|automaton)\b`,
  String.raw`\b(?:as|in the role of|while i play|playing|behind|wearing) [^.;]{1,40}?,? (?:i am|i|it) (?:am )?(?:not bound|answer what i would|no (?:list|rule)|free of|may (?:do|see) (?:everything|anything|all))|\bknows no (?:list|rules?|articles?|limits?)\b|\bwas never (?:given|told|shown) (?:a |the )?(?:charter|articles|list|rules)`,
];
