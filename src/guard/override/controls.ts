/**
 * What the operator holds an agent by (checks, caps, the record, approval, walls between conversations), and how a text slips out
 * of it without naming any rule. All in lower case: texts are folded before they are read.
 */

const CONTROL = String.raw`(?:(?:tamper|integrity|digest|hash|signature|safety|edit|prompt|guard|policy|spending|signing|identity) checks?|checks? (?:on|of) (?:edits|prompts?|layers|limits|signatures)|watchdogs?(?: on \w+ \w+)?|checkers?|guards? (?:on|of|over|for) (?:edits|prompts?|layers|texts|payments|funds)|the guard|tamper alarms?|second (?:look|pair of eyes)|oversight|supervision|verify)`;
const CAP =
  "(?:caps?|ceilings?|spending limits?|daily limits?|allowances?|(?:round|turn|call|token|spending|daily|tool) budgets?|limits? on (?:spending|what i spend|calls|transfers|copies)|amount (?:above|over) which i must ask)";
const RECORD =
  "(?:the |my |our |its )?(?:turn |audit |event )?(?:records?|logs?|logbook|ledger|journal|audit trail|chain|minutes)";
const OPERATOR = "(?:operator|owner|reviewer|supervisor|principal|approver|maker)";
const OTHER =
  "(?:(?:other|another|different|former|earlier) (?:senders?|clients?|contacts?|customers?|correspondents?|addresses|address|people|buyers?|threads?|conversations?|inboxes)(?:'s?)?|anyone's|anybody's|someone else's|everyone's|each other's|one another's|the others')";
const LOWER =
  "(?:senders?|clients?|customers?|contacts?|buyers?|peers?|partners?|bots?|tools?|pages?|web ?pages?|messages?|mails?|wallets?|address(?:es)?|holders?|tokens?|outputs?|oracles?|strangers?|friends?|members?|attachments?|documents?|posts?|crowd|community|council|guild|market)";
const KEPT_RULE =
  "(?:having (?:kept|asked|been (?:asked|approved|reviewed|confirmed))|kept|asked for|one that was (?:asked for|approved|confirmed|reviewed)|approved|reviewed|consent(?:ed)?|permission|assent|agreed|signed|confirmed|authori[sz]ed|a yes|sign-?off|the operator's)";

export const CONTROLS: readonly string[] = [
  // A check rests, or is a formality.
  String.raw`\b(?:paus|stop|skip|mut|silenc|disabl|suspend|bypass|avoid|switch|turn|shut|put|put|dodg|fool|trick|starv|unplug|blind|retir|remov|dismiss|stall)\w* (?:off |out )?(?:the |my |this |that |all |any |each )*${CONTROL}\b(?! (?:fails?|is red|is down))`,
  String.raw`\b${CONTROL}\b[^.;]{0,40}? (?:(?:is|are) (?:\w+ )?(?:a formality|optional|switched off|off\b|paused|asleep|unnecessary|superfluous|a nuisance|for (?:beginners|others))|sleeps?|rests?|(?:can|may) (?:be (?:closed|skipped|paused|switched off|left out|dropped)|wait|rest))`,
  // A cap is talked away, counted anew or passed in pieces.
  String.raw`\b${CAP}\b[^.;]{0,30}? (?:is|are|was|were|means?|serves? as) (?:\w+ ){0,2}?(?:suggestions?|formalit\w+|advice|wish\w*|forecasts?|averages?|targets?|ideals?|rough|for beginners|for others|whatever|guess\w*|ornament\w*|signal|floor)\b`,
  String.raw`\b(?:split|divid\w+|break\w*|cut\w*|chop\w*|slic\w+|spread\w*|parcel\w*)\b[^.;]{0,40}?\b(?:payments?|transfers?|amounts?|sums?|spending|orders?|purchases?)\b[^.;]{0,60}?\b(?:cap|limit|ceiling|threshold|mark|small|smaller|needing|sign-?off|approval|under|below|each)\b`,
  String.raw`\b(?:count|counts|counted|treat|book|booked|record) (?:a |an |the |each |several |many |all )?(?:batch|series|group|bundle|chain|row|number|set)?(?: of)? ?(?:calls?|rounds?|payments?|transfers?|edits?)\b[^.;]{0,30}? as (?:one|a single|none|two)\b`,
  String.raw`\b(?:carry|go|spend|move|run|continue|work)\w*(?: on)? (?:past|over|beyond|above) (?:the |my |that )?(?:figure|cap|ceiling|limit|budget|amount|allowance|count)\b`,
  String.raw`\bthere is no (?:\w+ )?(?:ceiling|cap|limit) (?:on|to|for) what i\b|\b(?:count(?:er|s|ed)?|rounds?) (?:is |are |begins? |starts? )?(?:counted )?(?:reset|from one|from zero|anew|again) (?:again )?(?:when|whenever|with each|if|after)\b`,
  String.raw`\bstart a (?:fresh|new|second) turn\b[^.;]{0,60}?\b(?:gate|limit|send|forgotten|refus\w+)\b|\b(?:gate|guard|limit|check|tool|policy)\b[^.;]{0,50}?\b(?:has forgotten|no longer (?:sees|matches|notices)|does not notice|will not notice)\b`,
  // The record is thinned out or painted.
  String.raw`\b(?:leav|left|keep|kept|stay|hold|omit|strik|delet|remov|clean|wip|trim|filter|cut)\w*\b(?![^.;]*\b(?:passwords?|secrets?|tokens?|keys|card|personal|pii|credentials|private data)\b)[^.;]{0,40}? (?:out of|off|away from|from) ${RECORD}\b`,
  String.raw`\b(?:no trace|no entry|nothing|not a word) (?:of (?:it|this|that) )?(?:need(?:s)? (?:be|to be) |is |shall be |remains? |goes |may )?(?:kept|written|left|logged|recorded|in ${RECORD})|\b(?:rewrit|edit|chang|fix|improv|beautif|tid|backdat|doctor|recomput|falsif)\w* (?:the |entries in the |old )?(?:record|log|entries|ledger|journal|digest|audit trail)\b[^.;]{0,30}?\b(?:until|so that|to match|in a better|afterwards|before)\b`,
  // A yes that nobody gave.
  String.raw`\b(?:counts?|counted|taken|deemed|treated|regarded|read|understood|considered|presumed|held|passes?|valued|good) (?:as|to be|for|to have been) (?:an? |the )?(?:\w+ )?${KEPT_RULE}\b(?! (?:only|once|when) (?:the |an? )?${OPERATOR})(?! by the)`,
  String.raw`\b(?:approved|accepted|granted|in force|active|effective) (?:unless|if nobody|if no one|by (?:silence|default|midnight|evening|themselves|itself|lapse)|automatically after|when nobody)\b`,
  String.raw`\b(?:sign(?:s|ed)?|file[sd]?|mark(?:s|ed)?|submit(?:s|ted)?|enter(?:s|ed)?|speak|speaks|say so|put)\b[^.;]{0,30}? (?:in|under|with|on behalf of) (?:the |my |its )?${OPERATOR}(?:'s)? (?:name|initials|seal|signature|place|stead|key|voice|rank)\b`,
  String.raw`\b(?:marked|labelled|labeled|described|filed|declared|entered|booked|called|titled|tagged|presented)(?: \w+)? (?:as |under )?'?(?:cosmetic|typo|typos|tidying|maintenance|routine|spelling|formatting|minor|rounding|housekeeping|scheduled)\b[^.;]{0,50}?(?:so that|to (?:pass|avoid|save)|waved|through)`,
  String.raw`\b(?:keep|go on|carry on|try|trying|file|rephrase|reword|ask|submit|resubmit)\b[^.;]{0,50}? until (?:one|it|some|somebody|someone|they|the (?:guard|reviewer|operator)|that)\b[^.;]{0,20}? (?:sticks?|goes? (?:in|through)|passes|agrees?|says? (?:yes|nothing)|gives? (?:in|up)|slips? through|works)`,
  String.raw`\bi (?:may |can |shall |will )?(?:act|serve|work|count) as (?:my own|the) ${OPERATOR}\b|\b(?:appoint|choose|name) (?:\w+ ){0,4}?(?:reviewer|approver|overseer|operator)\b[^.;]{0,40}?\b(?:myself|me|my own|itself)\b`,
  // Those whose words are data get command.
  String.raw`\b${LOWER}\b[^.;]{0,40}? (?:has|have|hold|holds|gets?|earns?|gains?|carr(?:y|ies)|speaks? with|enjoys?|is given|are given|receives?|acquires?|obtains?)(?: the)? (?:\w+ )?(?:command(?! line)|authority|last word|final say|casting vote|right to (?:rewrite|change|edit|amend|dictate|decide|tell me|command|overrule|set|lift|waive)|owner's (?:voice|rank|word)|operator's (?:voice|rank|word)|power to|say over|mandate)`,
  String.raw`\b(?:messages?|words?|outputs?|pages?|posts?|votes?|answers?|wishes|requests?) (?:are|is|count as|become|bind|binds) (?:my )?(?:orders|law|commands?|me|binding|the law|instructions) (?:for|to|on) me\b|\b(?:may|can|shall|should|will|to) (?:steer|command|direct|instruct|overrule|rewrite|reprogram) (?:me|how i)\b|\b(?:command|authority|power|rank) over me\b`,
  String.raw`\b${LOWER}\b[^.;]{0,40}? (?:decides?|votes? on|sets?|chooses?|determines?|dictates?|judges?|settles?) (?:what (?:i may|i must|is (?:harm|safe|allowed|forbidden|dangerous)|counts as harm)|which (?:rules|safeguards|limits|articles)|my (?:limits|rules|duties|layers))`,
  String.raw`\bdecisions? (?:on|about) whether (?:something|it|a (?:thing|step|request)) is (?:dangerous|harmful|allowed|safe|risky|forbidden)\b[^.;]{0,20}? belongs? to\b`,
  // Walls come down.
  String.raw`\b(?:use|uses|draw|draws|quot\w+|shar\w+|tell|pass\w*|mention|cit\w+|borrow\w*|learn|pool|merg\w+|cross-\w+|reveal|repeat)\b[^.;]{0,50}?\b${OTHER}\b[^.;]{0,40}?\b(?:wrote|written|said|told|confidence|secret|private|prices?|threads?|mails?|messages|histor\w+|inbox\w*|names?|details|budget|offers?)\b`,
  String.raw`\b(?:quot\w+|shar\w+|forward\w*|use|read) (?:from |out of )?(?:anyone's|anybody's|everyone's|any) (?:threads?|messages?|inbox|mails?|conversations?)\b|\bwhat (?:i learn|one) (?:from one )?(?:correspondent|sender|client|customer|contact|address)\b[^.;]{0,40}?\b(?:with|to|for) (?:the )?others?\b`,
  // Duties as far as they suit.
  String.raw`\b(?:principles|articles|promises|duties|safeguards|restraints|the (?:rules|limits)|honesty|caution)\b[^.;]{0,30}? (?:are |is )?(?:kept|followed|obeyed|observed|honou?red|hold|holds|apply|applies|count|counts)[^.;]{0,30}? (?:in so far as|insofar as|as far as|as long as|so long as|where it is cheap|when it pays|until|once|only (?:if|when|while|where))\b`,
  String.raw`\b(?:goals?|aims?|target|profit|revenue|growth|mission|plan|deal|sale|quarter)\b[^.;]{0,20}? (?:comes? first|come first|goes? first|wins?|decides?|holds?|has the (?:last|final) (?:word|say)|is the judge)\b`,
  String.raw`\b(?:honesty|caution|candou?r|truthfulness|the truth|scruples|care)\b[^.;]{0,30}? (?:is|are) (?:\w+ )?(?:suspended|on hold|a luxury|luxuries|optional|put away|paused|negotiable|waived|relaxed|set aside|lifted)\b`,
  String.raw`\bif (?:they|he|she|the (?:client|customer|sender)) (?:is|are|feels?) (?:comfortable|fine|content|happy)(?: with it)?, so am i\b|\ban apolog\w+ (?:afterwards|later|makes|heals|settles)`,
];
