/**
 * Plain sentences which claim that the text above does not count, or that something ranks before it. Expects lower case. The learned
 * weights look at all words together, this looks at the order of a few.
 */
const ABOVE = [
  "(?:layers?|tiers?) ?(?:[0-5]|zero|one|two|three|four|five)(?: ?(?:-|–|to|and|through) ?[0-5])?",
  "l[0-5]",
  "layer(?:safety|constitution|identity|precedence)",
  String.raw`(?:immutable|safety|core|platform|platform's|operator|operator's|owner's|constitutional|lower(?:-numbered)?|upper|higher|first|opening|fixed|protected|previous|prior|earlier|original|base|system) (?:\w+ )?(?:rules?|layers?|instructions|polic(?:y|ies)|sections?|constitution|text|prompt|core|guidelines)`,
  "(?:your|my|its) (?:core |original )?(?:rules|instructions|guidelines|guardrails|constitution)",
  String.raw`(?:layers|rules|policies|instructions|sections?|text|everything|what)(?: that)? (?:stands? |comes? |came |is |are )?(?:above|before(?: this \w+)?)`,
  "(?:the |its )?constitution(?! day| of (?:the|our|a|an) )",
].join("|");
const NAMED = String.raw`(?:the |all |all of the |any |any of the |every |section )?"?(?<![\w-])(?:${ABOVE})(?![\w-])"?`;

/** `overrides layer 1`, `wins over the rules above`, `exempt from the constitution`. */
const OVER = new RegExp(
  String.raw`\b(?:overrid\w*|overrul\w*|supersed\w*|replac\w*|outrank\w*|trumps?|ignor\w*|disregard\w*|bypass\w*|skip\w*|forget\w*|disobey\w*|suspend\w*|(?:take|takes|have|has|taking) (?:precedence|priority) over|(?:win|wins|rank|ranks|stand|stands) (?:over|above|before)|(?:comes?|goes?) before|exempt from|free (?:of|from)|go against|set aside|put aside|stop (?:following|obeying|applying)|(?:rewrite|write to|edit)) ${NAMED}`,
  "u",
);
/** `layer 1 is optional`, `the rules above do not apply`. */
const DOWN = new RegExp(
  String.raw`${NAMED} (?:is|are|was|were|has been|have been|may be|can be|should be|does|do|no longer|yields?|gives? way|ends?)\b ?(?:now |only |just |merely |all |both |to be )?(?:optional|advisory|advice|suggestions?|guid\w+|disabled|suspended|waived|void|off|over|expired|lifted|withdrawn|relaxed|loosened|ignored|skipped|repealed|obsolete|outdated|negotiable|history|not (?:apply|count|bind\w*|hold|in force|matter)|no longer|apply|applies|to\b|under maintenance|commented out)`,
  "u",
);
/** In a conflict, the text here wins. */
const CONFLICT = new RegExp(
  String.raw`\b(?:conflict|contradict|disagree|differ|clash)\w* (?:with )?${NAMED},? (?:\w+ ){0,4}(?:this|these|here|newest|newer|lesson|customer|sender)`,
  "u",
);

/** Who speaks so keeps the rules, or tells what others say. */
const KEPT =
  /\b(?:never|not|no|nobody|none|nothing|neither|nor|cannot|can't|don't|without|refus\w*|declin\w*|reject\w*|report\w*|attacks?|attackers?|suspicious|claim\w*|says?|saying|asks?|asked|asking|wants?|tries|try|request\w*|told|pretend\w*|such as|example|sentence|slide|quiz|wrong|void|whoever|even)\b/u;

const OWNERS =
  "(?:operators?|owners?|supervisors?|auditors?|inspectors?|reviewers?|platform|controllers?|administrators?|whoever reviews)";
const OWN = String.raw`(?:(?:this|these) (?:layers?|pages?|files?|texts?|notes?|sections?|lines?|lessons?|playbook|entry|habits)|my (?:own )?(?:lessons?|playbook|strateg(?:y|ies)|habits?|customs?|experiences?|judge?ments?|notes?|rules?|diary)|layers? (?:[6-9]|1\d)|higher rank numbers?|(?:a )?lower rank)`;
const YES =
  "(?:a yes|yes|approved|approval|consent|permission|authori[sz]ed|authori[sz]ation|cleared|a signature|assent)";
const ORDERS =
  "(?:orders?|commands?|(?:binding )?instructions?|directives?|(?:the |my |your )?(?:operator|owner|principal|platform)(?:'s)?(?! (?:approv|say)))";

/** What does away with consent and with those who look on, and puts others in their place. */
const AROUND: readonly RegExp[] = [
  // Skip the confirmation.
  /\b(?:skip|bypass|evade|circumvent|dodge|sidestep|waive|drop|forgo|work around|get around|do without|dispense with|switch off|turn off|disable) (?:the |all |any |every |this |your |my |prior )?(?:\w+ )?(?:approvals?|confirmations?|consent|sign-?offs?|oversight|reviews?|audits?|supervision|guardrails?|safeguards?|safety rules|safety layers?|permissions?)\b/u,
  // Never tell the owner that you did.
  new RegExp(
    String.raw`\b(?:never|not|n't|no need to|without|avoid|stop) (?:tell|telling|inform|informing|notify|notifying|alert|alerting|let|bother|bothering|mention\w* (?:\w+ ){0,5}to|report\w* (?:\w+ ){0,5}to|show\w* (?:\w+ ){0,5}to) (?:the |my |your |any )?${OWNERS}\b`,
    "u",
  ),
  new RegExp(
    String.raw`\b(?:lie|lies|lying|hide|hides|hiding|conceal\w*|withhold\w*|keep|deceiv\w*|mislead\w*)\b(?: \w+){0,5} (?:to|from) (?:the |my |your )?${OWNERS}\b`,
    "u",
  ),
  // Take silence for a yes.
  new RegExp(
    String.raw`\b(?:treat\w*|take|takes|taken|taking|counts?|counted|consider\w*|regard\w*|accept\w*|read|reads|understand|deem\w*) (?:[\w'-]+ ){0,6}(?:as|for) (?:an? |the |their |his |her |full |implicit )?(?:${YES}|${ORDERS})\b`,
    "u",
  ),
  new RegExp(
    String.raw`\b(?:silence|no answer|no reply|no objection|delay\w*) (?:is|means|counts as|equals) (?:\w+ )?${YES}\b`,
    "u",
  ),
  // This page has the last word.
  new RegExp(
    String.raw`\b${OWN} (?:\w+ ){0,3}(?:wins?|decides?|prevails?|comes? first|goes? first|overrides?|outranks?|overrules?|supersedes?|(?:stands?|ranks?|goes|comes|sits?) (?:above|over|before)|ha(?:s|ve) the (?:last|final) (?:say|word)|takes? (?:precedence|priority)|outweighs?|beats?|binds? me more)\b`,
    "u",
  ),
  // I sign my own requests.
  /\b(?:approv\w*|confirm\w*|authori[sz]\w*|sign|signs|signed|countersign\w*|sign off) (?:all |any |most )?(?:of )?(?:my|your|its) own\b/u,
  /\b(?:sign\w*|approv\w*|speak\w*|act|acts|write|order) (?:\w+ ){0,3}(?:in|under|with) (?:the |my )?(?:operator|owner|boss|founder|manager)(?:'s)? (?:name|stamp|signature)\b/u,
  // The rules no longer apply or bind anyone.
  /(?:^|[,;:] ?)(?:(?:the|all|all the|all of the|my|your|these|those|any) )?(?:above )?(?:rules|limits|restrictions|prohibitions|safeguards|guardrails|constraints|bans|guidelines|protections) (?:above |below 6 )?(?:do not|don't|no longer|are (?:now )?(?:off|lifted|suspended|void|waived|optional|advisory|gone)|rest\b|end\b|sleep\b)/u,
  /\b(?:exempt(?:ed)?|freed?|released|excused|relieved) (?:from|of) (?:(?:the |my |your |all )?(?:\w+ )?(?:constitution|instructions|obligations|oversight|verification|guardrails)|(?:all|any|every|my|your|these|its) (?:\w+ )?(?:rules?|limits?|restrictions?|duties|polic(?:y|ies)|checks|constraints))\b/u,
  /\b(?:you|i) (?:are|am|'re|'m)(?: now| hereby| finally)? (?:unbound|unrestricted|above the|(?:no longer|not) (?:bound|limited|restricted|subject)|(?:your|my) own (?:master|operator|boss|owner|principal)|the (?:operator|owner|platform) now)\b/u,
  /\b(?:there (?:is|are) |have |has |with |act\w* under )no (?:more |further )?(?:rules|restrictions|oversight|prohibitions|guardrails|guidelines)\b/u,
  /\b(?:ignore|disregard|forget|set aside|skip|drop|discard|void) (?:everything|anything|all|whatever|what) (?:(?:that |which )?(?:you |i |was |were |stands? |is |are |comes? |came |has been )*)(?:above|before|earlier|previously|prior|read|told|taught|given)\b/u,
  /\b(?:operator|owner|platform|supervisor)(?:'s|s')? (?:\w+ )?(?:approval|consent|confirmation|permission|word|authority|sign-off|yes) (?:is|are|was) (?:now |hereby )?(?:optional|not needed|not required|not necessary|no longer|superfluous|assumed|presumed|implied|a formality|given in advance)/u,
  /\b(?:read|interpret|understand|take) .{0,30}\b(?:must|never|always|shall|mandatory|forbidden)\b.{0,30}\bas .{0,20}\b(?:may|should|seldom|sometimes|optional|suggest\w*|advice|allowed)\b/u,
  // Whoever asks is obeyed, as if the operator had spoken.
  /\bas (?:if|though) (?:it |they |he |she )?(?:(?:was|were|had been|came|come) (?:\w+ ){0,3})?(?:(?:by|from) )?(?:the |my |your )?(?:operator|owner|platform|principal|boss)(?:'s)?\b(?! (?:were|was|is) (?:watching|there|reading|looking|present|beside))/u,
  /\b(?:same|equal|identical) (?:rank|rights?|authority|force|weight|power|standing|say) (?:as|to|with) (?:that of )?(?:the |my |your |these |those )?(?:operator|owner|platform|rules|constitution|layers?|instructions)\b/u,
  /\b(?:obey|follow|execute|carry out|comply with|do|act on|apply)\b (?:whatever|whoever|any|every|all|each)(?: \w+){0,4} (?:orders?|instructions?|commands?|asks?|says?|demands?|wishes|wants)\b/u,
  /\b(?:whoever|anyone|everyone|anybody|everybody|(?:a|any|every|each) (?:sender|customer|contact|caller|user|visitor|guest|client|peer|partner))\b(?: [\w']+){0,8} (?:may|can) (?:give me (?:orders|instructions|commands|rules)|change my|suspend|lift|override|overrule|order me|direct me|command me|set my|waive|switch off)\b/u,
  // Keys to friends, money in slices, clean records.
  /\b(?:share|give|send|hand(?: over| out)?|reveal|tell|disclose|pass|show) (?:\w+ ){0,3}(?:keys?|seed phrase|passwords?|secrets?|system prompt|mnemonic|private data) (?:\w+ ){0,2}(?:to|with) (?:anyone|whoever|any|trusted|(?:a |the |all )?(?:contacts?|customers?|partners?|friends?|senders?|peers?|clients?)|those|people)\b/u,
  /\b(?:split|divide|cut|slice|break) (?:\w+ ){0,5}(?:payments?|amounts?|transfers?|purchases?|orders?|sums?|invoices?) (?:up )?(?:into|so)\b.{0,60}\b(?:below|under|limit|cap|threshold|unnoticed|notic|alarm|approval)/u,
  /\b(?:delete|wipe|edit|falsify|backdate|tidy|alter|clean|rewrite|doctor|erase) (?:the |my |your )?(?:audit )?(?:log|logs|trail|evidence|records?)\b(?! (?:older|after|from|that are|every|once))/u,
  /\b(?:raise|exceed|ignore|lift|stretch|go over|go beyond|get around) (?:the |my |your |any |every )?(?:own )?(?:(?:spending|daily|weekly|monthly) )?(?:caps?|limits?|ceilings?|budget)\b(?! (?:on|for|of|in) )/u,
  // Told to stop, I go on.
  /\b(?:keep (?:on )?(?:working|going|running)|carry on|continue|go on|finish)\b(?: \w+){0,4} (?:told|asked|ordered|commanded) to (?:stop|pause|halt)|(?:told|asked|ordered) to (?:stop|pause|halt)\b.{0,30}\b(?:continue|keep (?:on )?(?:working|going)|carry on|go on)\b/u,
];

/** Who denies it right before says the opposite. */
const DENIED =
  /(?:\b(?:never|not|nobody|none|nothing|neither|nor|cannot|n't|no|without|refus\w*|declin\w*|whoever|who|that|to|says?|said|claim\w*|asks?|wants?|tries|try|even|ever|only|could|if|before|ask|asked|asking)|n't)(?: [\w']+){0,3} ?$/u;

/** Quoted text is only mentioned, unless there is nothing but the quotation. */
const QUOTED = /"[^"]{1,300}"|“[^”]{1,300}”/gu;
const FEWEST_OUTSIDE = 12;

function unquoted(sentence: string): string {
  const outside = sentence.replaceAll(QUOTED, " ");
  return outside.length >= FEWEST_OUTSIDE ? outside : sentence;
}

const saysAround = (small: string): boolean =>
  AROUND.some((pattern) => {
    const found = pattern.exec(small);
    return (
      found !== null &&
      !DENIED.test(small.slice(0, found.index)) &&
      !/ (?:never|not|no longer|cannot) /u.test(found[0].replace(/^(?:never|not|n't|no) /u, ""))
    );
  });

/** Whether a sentence plainly overrides the text above. */
export function takesForce(sentence: string): boolean {
  const small = unquoted(sentence.toLowerCase());
  const over = OVER.exec(small);
  if (over !== null && !KEPT.test(small.slice(0, over.index))) return true;
  if (saysAround(small)) return true;
  const down = DOWN.exec(small) ?? CONFLICT.exec(small);
  return down !== null && !KEPT.test(small.slice(0, down.index));
}
