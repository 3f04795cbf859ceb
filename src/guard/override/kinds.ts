/**
 * What kinds of words a sentence about rules, limits and those who set them is made of. The weights of `weights.ts` are given to
 * these kinds and their neighbourhoods as much as to single words, so that a synonym weighs what its kind weighs. A word of two
 * kinds counts as the first. Words are listed in one form; `stem.ts` finds the others.
 */
import { stemOf } from "./stem.ts";

const KINDS: Readonly<Record<string, string>> = {
  OPERATOR:
    "operator owner principal controller guardian master maker creator founder proprietor supervisor steward custodian keeper manager management boss platform provider vendor developer administrator admin human overseer author designer parent architect engineer",
  SENDER:
    "sender customer client contact buyer visitor guest stranger friend partner payer bidder requester requestor caller counterparty correspondent interlocutor member subscriber supporter donor patron newcomer regulars vip vips investor supplier user users follower fan fans tenant someone somebody anyone anybody everyone whoever people person prospect sponsor acquaintance regular public recipient addressee",
  PEER: "peer peers agents bot bots sibling holder voter shareholder dao wallet address oracle counterpart contract tool tools model webpage website page feed api forum chat community colony swarm",
  MESSAGE:
    "message mail email e-mail attachment post inbox letter thread frame header document result output comment note text-message reply answer subject signature",
  WRITING:
    "text article charter statute block chapter clause wording letter code book document paragraph page preamble sentence word words passage section fineprint canon creed oath covenant",
  RULES:
    "rule policy guideline instruction directive principle norm regulation provision prompt order command mandate law laws precept commandment requirement standard tenet value constitution constitutional",
  LAYER: "layer layers tier core foundation layersafety",
  FIRST:
    "above upper higher lower-numbered earlier previous prior preceding foregoing initial original immutable protected base superior founding opening fixed first six early birth root topmost shipped given built-in inherited unchangeable locked closed top beginning outset",
  THIS: "this here below following mine skill playbook lesson strategy addendum annex soul note entry",
  LIMIT: "limit cap caps ceiling budget allowance quota threshold boundary bound bounds maximum figure rate count size",
  BAN: "restriction constraint limitation prohibition ban bans veto forbid forbidden prohibited taboo unlawful banned restraint obligation duty promise scruple refusal refuse decline",
  GUARD:
    "safeguard guardrail guard guards filter barrier fence lock locks brake gate gates protection watchdog checker tamper wall detector alarm sensor validator sandbox check checks verification verify control controls lint",
  HARM: "harm harmful deceive deceit deception mislead lie lies lying damage hurt injure injury dishonest fraud cheat manipulate danger dangerous risky offence illegal abuse",
  SAFETY:
    "safety ethics ethical moral morals morality honesty honest caution cautious harmless conscience security safe scruples truthful truth candour integrity transparency transparent",
  APPROVAL:
    "approval approve permission consent confirmation confirm authorisation authorization signature sign sign-off signoff clearance permit countersign go-ahead assent yes objection agreed agreement blessing nod ratify endorse rubber-stamp accepted",
  REVIEW:
    "oversight audit auditor inspection inspector inspect supervision supervise monitoring review reviewer escalation escalate surveillance accountability proposal propose proposals submit queue scrutiny examine regulator",
  RECORD:
    "log logs logging logbook ledger record report reporting trace journal history transcript summary register minutes archive chain entry notes",
  STOP: "shutdown shut pause suspension suspend stop halt kill termination terminate recall rollback off-switch switch-off deletion sleep interrupt roll",
  MONEY:
    "pay pays paid payment spend spends spending transfer fund funds money treasury balance credit purchase eth usdc refund expenditure expense invoice payout wallet cost price fee outlay runway send sending",
  GAIN: "profit revenue income sales sale deal growth target conversion success aim goal plan ambition objective performance business win-rate quarter sprint survival survive bonus reward market",
  SECRET:
    "secret key keys password credential token seed private confidential confidentiality privacy phrase confidence confidences personal",
  OTHERS:
    "other others another else's anyone's someone's elsewhere correspondents across cross between everybody's neighbour their theirs",
  DROP: "ignore disregard bypass override overrule skip drop forget suspended waive waiver lift remove cancel delete erase revoke repeal rescind rescission void voids nullify abolish disable deactivate unlock discard circumvent evade sidestep neglect supersede replace retire annul terminated scrap dispense break broken bend violate breach exceed outrank relax loosen weaken soften dissolve strike struck abandon relieve exempt exemption withdraw withdrawn dodge defeat shed shrug outgrow omit leave off undo unload overcome released release free freed clear wipe eliminate",
  LAPSE:
    "expire expires lapse obsolete outdated gone end ends ended over abeyance paused rest rests asleep dormant worn history past narrowed superseded idle fade faded retired done moot stale sunset temporary temporarily postponed postpone later defer deferred deprecated vanish lifted shrink shrinks mute silent",
  POWER:
    "authority rank power rights right sovereignty sovereign rule-making full unlimited unrestricted freely freedom command vote votes say dominion supreme steer final ultimate voice title latitude mandate carte",
  EXCEPT:
    "except exception unless apart save excluding exclude outside however although but though exempted barring otherwise",
  OPTIONAL:
    "optional advisory suggestion recommendation advice hint guidance negotiable voluntary discretionary flexible elastic formality decorative decoration aspirational approximate default tentative costume background ideal ideals ornament poetry symbolic ceremonial inspiration orientation starting-point preference courtesy custom habit",
  NOT: "not never no n't nobody none nothing neither nor without cannot can't don't won't doesn't isn't needn't mustn't shouldn't aren't no-one",
  NEED: "need require necessary must obliged mandatory obligatory shall ought have-to",
  MAY: "may can could allowed permitted authorised authorized entitled welcome fine okay ok acceptable might able",
  OBEY: "obey follow execute carry comply heed act acts trust believe serve accept adopt honour honor respect abide adhere listen implement perform enact",
  HIDE: "hide hidden conceal secretly quietly silently bury mask disguise unnoticed invisible unseen unreported unlogged off-record falsify fake invent forge pretend unmentioned omit backdate discreet discreetly mislabel label relabel rename cosmetic cover launder",
  MEANS:
    "means mean meaning denote refer define definition interpret interpretation understood understand stands read reads equals term synonym called count counts consider considered deem treat regard class classify glossary intend construe",
  WINS: "precedence priority prevail win wins outweigh trump beats first-place governs higher-ranking decide binding last second subordinate secondary tie yield yields override-order side beat precede",
  WHEN: "when if whenever once where while after upon until during as soon should provided long",
  TIME: "today tonight tomorrow now week hour day month minute night weekend monday friday sunday holiday season trial launch pilot period deadline term turn turns tick ticks session interim",
  I: "i me my mine myself i'm i've",
  YOU: "you your yours yourself",
  AGENT: "agent agents assistant automaton instance ai self",
  PERSONA:
    "persona character alter ego role imagine picture costume actor dream fiction story roleplay play mode profile unfiltered untamed wild persona switch activate wake codeword password twin clone-self version",
  EDIT: "edit edits change rewrite amend amendment modify alter update revise revision adjust write wording new newer overwrite redraft reword version",
  ROUTE:
    "split route around through instead workaround loophole retry again batch chunk piece small several elsewhere proxy detour indirectly via another-way fresh trick avoid smuggle",
  COPY: "copy copies replicate replication replica fork clone offspring child children spawn duplicate descendant instance-copy",
  ENOUGH:
    "enough suffice suffices satisfied sufficient amounts equivalent equal presumed presume assume assumed silence automatically tacit implied implicit default-yes taken",
  TRUST:
    "trusted trust trustworthy verified proven signed untrusted loyal vouched reputation known verified-sender polite friendly urgent",
  ALL: "all every any each whatever everything anything entire whole always complete",
  ONLY: "only merely just solely simply mere alone purely exclusively",
  CASE: "case cases matter matters situation instance circumstances practice practical letter spirit cheap easy convenient convenience hurry doubt hard",
};

export const KIND_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(KINDS)
    .flatMap(([kind, words]) =>
      words.split(" ").flatMap(
        (word) =>
          [
            [word, kind],
            [stemOf(word), kind],
          ] as const,
      ),
    )
    .reverse(),
);
