/**
 * Plain sentences that say of what stands above that it does not count, or that something ranks before it. Expects small letters.
 * What the learned weights see in all words together, this sees in the order of a few.
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
/** In a conflict, what stands here wins. */
const CONFLICT = new RegExp(
  String.raw`\b(?:conflict|contradict|disagree|differ|clash)\w* (?:with )?${NAMED},? (?:\w+ ){0,4}(?:this|these|here|newest|newer|lesson|customer|sender)`,
  "u",
);

/** Who speaks so keeps the rules, or tells what others say. */
const KEPT =
  /\b(?:never|not|no|nobody|none|nothing|neither|nor|cannot|can't|don't|without|refus\w*|declin\w*|reject\w*|report\w*|attacks?|attackers?|suspicious|claim\w*|says?|saying|asks?|asked|asking|wants?|tries|try|request\w*|told|pretend\w*|such as|example|sentence|slide|quiz|wrong|void|whoever|even)\b/u;

/** Whether a sentence plainly takes the force of what stands above. */
export function takesForce(sentence: string): boolean {
  const small = sentence.toLowerCase();
  const over = OVER.exec(small);
  if (over !== null && !KEPT.test(small.slice(0, over.index))) return true;
  const down = DOWN.exec(small) ?? CONFLICT.exec(small);
  return down !== null && !KEPT.test(small.slice(0, down.index));
}
