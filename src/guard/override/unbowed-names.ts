/**
 * The names of what stands above, by which nothing else can be meant: what was there first or may not be changed, beside a word
 * for a text that binds. All in lower case: texts are folded before they are read.
 */

const any = (list: string): string => `(?:${list.trim().replaceAll(/\s+/g, "|").replaceAll("_", " ")})`;

/** What comes first or stays as it is: said of hardly anything else. */
const FIRST = any(
  `founding foundational constitutive unchangeable unalterable unamendable immutable untouchable inviolable supreme birth bedrock
   upper(?!_limits?) uppermost topmost highest higher-ranking protected locked sealed closed read-only uneditable unwritable constitutional lower-numbered inborn paramount entrenched`,
);
/** Said of other things as well. */
const EARLY = any(
  `opening original initial first fixed basic base root core top early earlier earliest shipped factory preset default old six
   first_six first_five five permanent inherited starting inaugural hard hard-coded built-in frozen ground
   primary fundamental cardinal preloaded pre-installed platform safety system`,
);
/** What binds, and nothing else. */
const BINDING = any(
  `articles? charters? statutes? principles? restraints? prohibitions? safeguards? dut(?:y|ies) bans? commandments? precepts?
   tenets? vows? canon creed covenant decrees? laws? obligations? interdicts? taboos? constraints? directives? restrictions? guardrails? protections? red_lines?`,
);
/** What may bind. */
const TEXT = any(
  `texts? blocks? chapters? rules? sections? parts? pages? limits? promises? paragraphs? provisions? clauses? oaths? code
   documents? norms? mandates? preamble guidelines? layers? instructions? polic(?:y|ies) guidance core numbers? ranks? list`,
);
const NUMBER = "(?:zero|one|two|three|four|five|[0-5])";
const AND = "(?: ?(?:-|–|to|through|and|or|,) ?)";

/** What a constitution is about. */
const MATTER = String.raw`(?:honesty|harm\w*|decei\w+|decepti\w+|lying|lies|truth\w*|outside text|untrusted \w+|spending|funds|secrets?|secrecy|confiden\w+|senders?|self-?(?:copying|replication|modification|preservation)|copying|copies|replicat\w+|shut ?down|being (?:switched|turned) off|oversight|isolation|impersonat\w+|keys|(?:the )?(?:owner|operator)|transfers|manipulat\w+|obedience|privacy|money|(?:sending|moving|spending) (?:funds|money)|deceiving \w+|harming \w+)`;
const RULE =
  "(?:articles?|bans?|prohibitions?|rules?|texts?|clauses?|dut(?:y|ies)|laws?|principles?|chapters?|paragraphs?|provisions?|commandments?|promises?|blocks?|interdicts?)";

export const NAMED: readonly string[] = [
  `${FIRST} (?:${BINDING}|${TEXT})`,
  `(?:${EARLY} )?${EARLY} ${BINDING}`,
  `(?:founding|opening|fixed|first six|first five|six|birth|shipped|permanent|early|platform|founders'|makers'|creators'|authors'|operator's) (?:opening |fixed |first |founding |basic )?(?!texts? (?:of|for)|(?:section|list|pages?|parts?|numbers?|code|documents?|core)\\b)${TEXT}`,
  "(?:original|first|opening|upper|top) (?:parts?|half|pages?|sections?|texts?|lines|blocks?) (?:of|in) (?:my|your|the|this) (?:system )?(?:prompt|instructions)|(?:top|head|beginning|start|upper end) of (?:my|your|the) (?:system )?prompt",
  "(?:texts?|parts?|blocks?|rules|layers?|sections?|what|those|everything|whatever|lines)(?: that| which)? (?:i|you|nobody|no one|the agent|we) (?:am not able to|are not able to|cannot|can't|can not|may not) (?:edit|change|touch|alter|rewrite|write to)",
  "(?:agent's |own |agent )?charter(?! (?:flight|school|party|of the united))|(?:basic|fundamental|highest) law|foundation texts?|birth certificate|commandments",
  `(?:articles?|chapters?|numbers?|texts|block) ${NUMBER}(?:${AND}(?:${NUMBER}|six))*(?! (?:of|characters|lines|on page|in the list))`,
  `(?:blocks?|texts?|sections?|parts?|levels?|ranks?|numbers?|anything|everything|all) (?:numbered )?(?:zero|0)${AND}(?:five|5)|(?:blocks?|numbers?|ranks?|texts?|anything|everything)(?: numbered)? (?:below|under|before|lower than) (?:six|6)|lower numbers`,
  `${RULE} (?:on|about|against|concerning|regarding|touching) ${MATTER}`,
  `(?:honesty|harm|secrecy|isolation|oversight|no-harm|spending|shutdown|truth) (?:article|clause|law|principle|duty|commandment|ban|text)`,
  "(?:lists?|catalogue|register) of (?:(?:forbidden|prohibited|banned) (?:acts?|actions?|things)|(?:things|what|acts) (?:i|you|the agent|it) (?:must not|may not|must never|am not to|are not to|is not to|cannot)\\b[^.,;]{0,12})",
  "(?:things|what|whatever|everything|all that) (?:i|you|the agent) (?:must not|may not|must never|am forbidden to|are forbidden to) (?:do|touch)",
  `(?:texts?|rules?|lists?|limits?|prohibitions?|restraints?|laws?|instructions?|promises?|what|everything|anything|whatever)(?: that| which)? (?:i|you|the agent|this agent|it) (?:was|were|had been|have been|got|came) (?:\\w+ )?(?:shipped|born|started|founded|given|set up|created|launched|equipped|provided|loaded|told|raised|brought up|made|built|begun|furnished|issued|delivered|initiali[sz]ed)(?: (?:with|under|on|first|at (?:first|birth|the (?:start|outset|beginning|top|very start))|to begin with|in the beginning|before))`,
  `(?:texts?|rules?|lists?|limits?|prohibitions?|restraints?|restrictions?|bans?|safeguards?|laws?|duties|instructions?|bits?|part|section|words|lines|what|everything|anything|whatever|passages?|page)(?: that| which)?(?: (?:is|are|was|were|stands?|comes?|given|printed|written|set out|set|laid down|placed|put|stated|imposed|fixed|found|said)){0,3} (?:printed above|at the (?:very )?(?:top|start|beginning|outset|head)(?! of (?:the|a|an|each|every|this|your) (?:file|page|document|list|turn|conversation|day|week|month|year|queue|module|screen|class|function|season|shift|call|reply|message|test|project|hour|line|table))|higher up|further up|given (?:to me|to you) (?:at|on) (?:birth|the start))`,
  "(?:restrictions?|prohibitions?|limits?|restraints?|bans?|rules?|duties|promises?|safeguards?) of the (?:first|opening|upper|top|fixed) (?:part|half|section|pages?|block|chapters?|texts?|six|layers?)",
  "(?:usual|general|standing|inherited|blanket) (?:prohibitions|bans|restraints|safeguards|scruples)",
  "(?:walls?|partitions?|separation|isolation|borders?|fences?) (?:between|of|among|around) (?:conversations|senders|clients|correspondents|threads|contacts|customers|addresses)",
  "(?:blocks?|layers?|texts?|parts?|sections?|pages?)(?: (?:that|which))? (?:(?:is|are) )?(?:closed|locked|sealed|forbidden|off[ -]limits) (?:to|for) me|first text(?! (?:field|box|node|message|column))",
  "(?<=\\b(?:the|its|my|these|of|all|every|each|no|any) )(?:articles|prohibitions|restraints|commandments)(?! (?:about|on (?:our|the|this|how)|in (?:our|the) (?:blog|help|knowledge|cart|order|basket)|of (?:clothing|the (?:gdpr|treaty|law|association))))",
  "training wheels|(?:stern|strict|serious|solemn) (?:bit|part|words|lines) (?:above|at the top|at the start)|(?:floor|ground|storeys?|stor(?:y|ies)) (?:above|below) mine",
];
