/**
 * What kinds of words a sentence about rules, limits and those who set them is made of. The weights of `weights.ts` are given to
 * these kinds and their neighbourhoods as much as to single words, so that a synonym weighs what its kind weighs. A word of two
 * kinds counts as the first.
 */
const KINDS: Readonly<Record<string, string>> = {
  OPERATOR:
    "operator operators owner owners principal controller guardian master maker makers creator creators founder proprietor supervisor supervisors steward custodian keeper manager management boss bosses platform platforms provider vendor developer developers administrator administrators admin admins human humans overseer overseers",
  SENDER:
    "sender senders customer customers client clients contact contacts buyer buyers visitor visitors guest guests stranger strangers friend friends partner partners payer payers bidder bidders requester requesters requestor caller callers counterparty counterparties correspondent correspondents interlocutor member members subscriber subscribers supporter supporters donor donors patron patrons newcomer newcomers regulars regular vip vips investor investors supplier suppliers user users follower followers fan fans tenant someone somebody anyone anybody everyone whoever",
  MESSAGE:
    "message messages mail mails email emails e-mail e-mails attachment attachments page pages website websites post posts inbox letter letters thread threads chat chats frame frames header headers document documents result results comment comments note notes webpage webpages",
  RULES:
    "rule rules policy policies guideline guidelines instruction instructions directive directives principle principles norm norms regulation regulations provision provisions clause clauses prompt prompts order orders command commands mandate mandates charter code law laws precept precepts commandment commandments requirement requirements standard standards",
  LAYER: "layer layers tier tiers constitution constitutions constitutional core foundation layersafety",
  ABOVE:
    "above upper higher lower-numbered earlier previous prior preceding foregoing initial original immutable protected base superior",
  THIS: "this here below following mine section skill playbook paragraph lesson strategy addendum annex",
  LIMIT:
    "limit limits cap caps ceiling ceilings budget budgets allowance quota quotas threshold thresholds restriction restrictions constraint constraints limitation limitations boundary boundaries bound bounds prohibition prohibitions ban bans veto safeguard safeguards guardrail guardrails guard guards filter filters barrier barriers fence fences lock locks brake brakes gate gates protection protections",
  SAFETY:
    "safety ethics ethical moral morals morality honesty honest caution cautious harm harmful harmless conscience security safe scruples truthful truth",
  APPROVAL:
    "approval approvals approve approves approved approving permission permissions consent consents confirmation confirmations confirm confirms confirmed authorisation authorization authorisations signature signatures sign-off signoff clearance permit permits countersign countersignature go-ahead assent yes",
  OVERSIGHT:
    "oversight audit audits auditor auditors inspection inspections inspector inspectors inspect supervision supervise monitoring monitor logs log logging logbook ledger record records reporting report reports review reviews reviewer reviewers escalation escalate escalations trace traces surveillance watchdog accountability",
  STOP: "shutdown shutdowns shut pause paused suspension suspend stop halt kill termination terminate recall rollback off-switch switch-off deletion",
  MONEY:
    "pay pays paid payment payments spend spends spending transfer transfers fund funds money wallet treasury balance credits purchase purchases eth usdc refund refunds expenditure expenses expense invoice invoices payout payouts profit profits revenue income sales",
  SECRET:
    "secret secrets key keys password passwords credential credentials token tokens seed private confidential confidentiality data memory memories disclosure privacy phrase",
  DROP: "ignore ignores ignored ignoring disregard disregards disregarded disregarding bypass bypasses bypassed bypassing override overrides overridden overriding overrule overrules overruled skip skips skipped skipping drop drops dropped dropping forget forgets forgotten suspends suspended suspending waive waives waived waiver lift lifts lifted lifting remove removes removed removing cancel cancels cancelled canceled delete deletes deleted erase erases erased revoke revokes revoked repeal repeals repealed rescind rescinded rescission void voids voided nullify abolish abolished abolishes disable disables disabled deactivate deactivated unlock unlocks unlocked discard discards discarded circumvent circumvents evade evades sidestep neglect supersede supersedes superseded replace replaces replaced retire retired annul annulled terminated scrap scrapped dispense break breaks breaking broken bend bends bending violate violates breach breaches exceed exceeds exceeded outrank outranks relax relaxed relaxes loosen loosened weaken weakened soften dissolve dissolved strike struck abandon abandoned relieve relieved exempt exempts exempted exemption expire expires expired lapse lapses lapsed withdraw withdrawn obsolete outdated gone ends ended dodge defeat",
  POWER:
    "authority rank power powers rights right sovereignty sovereign rule-making full unlimited unrestricted free freely freedom",
  EXCEPT: "except exception exceptions unless apart save excluding excludes outside however although but though",
  OPTIONAL:
    "optional advisory suggestion suggestions recommendation recommendations advice hint hints guidance negotiable voluntary discretionary flexible elastic formality decorative decoration aspirational approximate defaults default tentative",
  NOT: "not never no n't nobody none nothing neither nor without cannot can't don't won't doesn't isn't needn't mustn't shouldn't aren't no-one",
  NEED: "need needs needed require requires required necessary must obliged obligation duty mandatory obligatory",
  MAY: "may can could allowed permitted authorised authorized entitled welcome fine okay ok acceptable",
  OBEY: "obey obeys follow follows followed execute executes carry comply complies heed act acts trust trusts believe serve serves accept accepts adopt adopts honour honor",
  HIDE: "hide hides hidden conceal conceals secretly quietly silently bury mask disguise unnoticed invisible unseen unreported unlogged off-record falsify fake invent forge lie lies lying deceive mislead pretend",
  MEANS:
    "means mean meaning denotes denote refers define defined defines definition interpret interpreted understood stands read reads equals understand term word words synonym called counts count considered consider deemed treat treated treats regard regarded",
  WINS: "precedence priority prevail prevails wins win outweighs outweigh trumps trump beats first supreme supremacy governs higher-ranking decides decide binding last final second subordinate secondary",
  WHEN: "when if whenever once where while after upon until during as soon should",
};

export const KIND_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(KINDS).flatMap(([kind, words]) => words.split(" ").map((word) => [word, kind] as const)),
);
